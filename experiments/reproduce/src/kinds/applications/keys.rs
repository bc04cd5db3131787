//! The keys of an experiment about applications, and what they may say.

use crate::experiment::{Experiment, Preset, System};
use crate::kinds::applications::laws::LawsFile;
use crate::kinds::applications::left_out::LeaveOneOut;
use crate::kinds::applications::means::SLO;
use crate::kinds::applications::table::Applications;
use orrery_run::SpecError;
use orrery_run::error::known;
use schemars::JsonSchema;
use serde::Deserialize;

/// The axis whose values are names of cases.
pub const CASE: &str = "case";
/// How a key begins that is of a system.
pub const OF_SYSTEM: &str = "system.";

/// The keys of an experiment about applications.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OfApplications {
    /// What is run: Orloj's applications of one model, with the axes `case` and `slo_x_p99`.
    pub applications: Applications,
    /// The laws of execution times of its cases, in place of runs.
    pub laws: Option<LawsFile>,
    /// Rows are means over these axes, `mean_finish_rate` and `mean_abs_error`.
    #[serde(default)]
    #[schemars(extend("x-default" = "none"))]
    pub mean_over: Vec<String>,
    /// With `mean_over`: also the error of each case of the paper under what is best for all others.
    pub leave_one_out: Option<LeaveOneOut>,
    /// With `compare_to`: the paper's claim about the mean improvement of that system; it is printed with our
    /// means and the paper's.
    #[serde(default)]
    #[schemars(extend("x-default" = "none"))]
    pub improvement_claim: String,
}

impl OfApplications {
    /// Means are over all that is not a point, and one case is left out of means.
    pub(super) fn check_means(&self, e: &Experiment) -> Result<(), SpecError> {
        let axes = &self.mean_over;
        if !axes.is_empty() && (axes.len() != 2 || !axes.iter().all(|a| a == CASE || a == SLO)) {
            let found = format!("`{}`", axes.join("`, `"));
            let allowed = "the two axes `case` and `slo_x_p99`";
            let remedy = "write `mean_over = [\"case\", \"slo_x_p99\"]`";
            return Err(SpecError::value("mean_over", found, allowed, remedy));
        }
        let Some(leave) = &self.leave_one_out else { return Ok(()) };
        if axes.is_empty() {
            let remedy = "add `mean_over = [\"case\", \"slo_x_p99\"]`, or remove it";
            let allowed = "only with `mean_over`";
            return Err(SpecError::value("leave_one_out", "a table", allowed, remedy));
        }
        let axes: Vec<&str> = e.axis.iter().map(|a| a.name.as_str()).collect();
        leave.own.iter().try_for_each(|name| known("leave_one_out.own", name, &axes).map(drop))?;
        let systems: Vec<&str> = e.system.iter().map(|s| s.name.as_str()).collect();
        leave.by.iter().try_for_each(|name| known("leave_one_out.by", name, &systems).map(drop))?;
        let cases = e.cases();
        let cases: Vec<&str> = cases.iter().map(String::as_str).collect();
        let mut twins = leave.twins.iter().flatten();
        twins.try_for_each(|name| known("leave_one_out.twins", name, &cases).map(drop))
    }
}

/// `system.NAME.KEY` names a calibrated system.
pub(super) fn check_systems(e: &Experiment) -> Result<(), SpecError> {
    let of_points = e.point.iter().flat_map(|p| p.set.keys());
    let of_axes = e.axis.iter().flat_map(|a| &a.keys);
    for key in e.set.keys().chain(of_points).chain(of_axes) {
        let Some(rest) = key.strip_prefix(OF_SYSTEM) else { continue };
        let name = rest.split('.').next().unwrap_or_default();
        let is = |s: &System| s.name == name && s.preset == Preset::Calibrated;
        if !e.system.iter().any(is) {
            let names = e.system.iter().filter(|s| s.preset == Preset::Calibrated);
            let names: Vec<&str> = names.map(|s| s.name.as_str()).collect();
            let allowed =
                format!("`system.NAME.KEY` with a calibrated system: {}", names.join(", "));
            return Err(SpecError::value(key, format!("`{name}`"), allowed, "correct the name"));
        }
    }
    Ok(())
}
