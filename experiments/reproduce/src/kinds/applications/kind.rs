//! The kind of experiment that runs applications of one model, or computes their laws.

use super::Cases;
use super::keys::{CASE, OfApplications};
use crate::experiment::{CasesOf, Experiment, Keys, Kind, Made, UntilCi, placed};
use crate::kinds::applications::laws::{LAW, Laws};
use crate::kinds::applications::means::SLO;
use crate::kinds::computed::COMPUTED;
use crate::kinds::scenario::policies;
use crate::options::{CliOption, Refused};
use orrery_plots::PictureKind;
use orrery_report::page::counted;
use orrery_results::metric;
use orrery_run::SpecError;

impl Keys for OfApplications {
    const KEY: &'static str = "applications";
    const OF_SYSTEM: &'static [&'static str] = &["host_ms_per_request", "message_ms", "c1_of"];
}

impl OfApplications {
    fn is_means(&self) -> bool {
        self.laws.is_none() && !self.mean_over.is_empty()
    }
}

impl Kind for OfApplications {
    fn in_words(&self, seeds: u32) -> String {
        let what = match (&self.laws, self.is_means()) {
            (Some(_), _) => return "no run: distributions of execution times".to_string(),
            (None, true) => "applications of one model on one GPU, as means over the other axes",
            (None, false) => "applications of one model on one GPU",
        };
        format!("{what}, {}", counted(seeds, "seed"))
    }

    fn runner<'a>(&'a self, e: &'a Experiment, until_ci: UntilCi) -> Made<'a> {
        match self.laws {
            Some(laws) => placed(e, Laws::new(e, &self.applications, laws)),
            None => placed(e, Cases::new(e, self, until_ci)),
        }
    }

    fn check(&self, e: &Experiment) -> Result<(), SpecError> {
        self.check_means(e)?;
        policies(e)
    }

    fn refused(&self, option: CliOption) -> Option<Refused> {
        let compared =
            "a fixed number of seeds: every change is compared with the base seed by seed";
        match (self.laws, option) {
            (Some(_), option) => Refused::computed(option, COMPUTED),
            (None, CliOption::UntilCi) if self.is_means() => Refused::for_seeds(compared),
            _ => None,
        }
    }

    fn cases(&self) -> CasesOf {
        CasesOf::Axis { name: CASE, open: true }
    }

    fn curves(&self) -> Vec<&str> {
        if self.laws.is_some() { vec![LAW] } else { Vec::new() }
    }

    fn drops_systems(&self) -> bool {
        self.laws.is_some()
    }

    fn metrics(&self) -> &'static [&'static str] {
        if self.is_means() { &[metric::MEAN_FINISH_RATE, metric::MEAN_ABS_ERROR] } else { &[] }
    }

    fn figure_kind(&self) -> Option<PictureKind> {
        self.is_means().then_some(PictureKind::Sensitivity)
    }

    fn figure_x(&self) -> Option<&'static str> {
        (self.laws.is_none() && self.mean_over.is_empty()).then_some(SLO)
    }
}
