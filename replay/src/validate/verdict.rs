//! A campaign, judged: how far apart both sides are, and whether that is within its targets.

use super::Standing;
use super::campaign::Campaign;
use super::outcome::{Differences, PointResult, Sensitive, VALID_SHARE};
use super::twins::{Judgement, QUICK, judge, uncovered};
use crate::device::worker::ON_GPU;
use crate::table::largest;
use orrery_sim::stats::mean;

/// A campaign, judged.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Verdict {
    /// Stable points with a valid run, all together.
    pub all: Differences,
    /// The others.
    pub sensitive: Sensitive,
    /// Points of the plan.
    pub planned: usize,
    /// Points that are finished.
    pub finished: usize,
    /// Runs that do not count.
    pub invalid_runs: usize,
    /// Runs that do.
    pub valid_runs: usize,
    /// A GPU ran them: no emulated device, and no stand-in for a driver.
    pub on_a_gpu: bool,
    /// Why nothing is validated, whatever the figures are; empty when the rules are kept.
    pub not_validated: Vec<String>,
    /// The same runs as twins.
    pub twin: Judgement,
    /// Of the twins: the rules are kept, mean and maximum are within the campaign's targets, and 19 of 20 runs of
    /// sensitive points are inside.
    pub within_targets: bool,
}

/// Judges what is finished.
pub fn verdict(campaign: &Campaign, standing: &Standing) -> Verdict {
    let finished: Vec<&PointResult> = standing.finished().collect();
    let all = differences(finished.iter().copied());
    let sensitive = sensitive(finished.iter().copied());
    let twin = judge(campaign, standing);
    let targets = campaign.file.targets;
    let runs = || finished.iter().flat_map(|r| &r.runs);
    let valid_runs = finished.iter().map(|r| r.valid().count()).sum::<usize>();
    let total = runs().count();
    let mut not_validated = Vec::new();
    if (valid_runs as f64) < VALID_SHARE * total as f64 {
        not_validated.push(format!(
            "{valid_runs} of {total} runs are valid, fewer than {:.0} %",
            100.0 * VALID_SHARE
        ));
    }
    let bare = uncovered(standing, |r| r.valid().next().is_some());
    not_validated.extend(bare.map(|where_| format!("no valid run of {where_}")));
    for (name, profile) in &standing.profiles {
        let against = profile.against(campaign.clocks(), None).into_iter().map(|(_, why, _)| why);
        let against = against.collect::<Vec<_>>().join("; ");
        not_validated.extend((!against.is_empty()).then(|| format!("{name}: {against}")));
    }
    if campaign.quick {
        not_validated.push(QUICK.into());
    }
    Verdict {
        all,
        sensitive,
        planned: standing.points.len(),
        finished: finished.len(),
        invalid_runs: total - valid_runs,
        valid_runs,
        on_a_gpu: runs().any(|r| is_gpu(&r.device.device, &r.device.name)),
        within_targets: twin.not_validated.is_empty()
            && twin.all.points + twin.sensitive.points > 0
            && twin.all.are_within(targets)
            && twin.sensitive.is_fine(),
        twin,
        not_validated,
    }
}

/// The runs of sensitive points.
pub(super) fn sensitive<'a>(results: impl Iterator<Item = &'a PointResult>) -> Sensitive {
    let mut s = Sensitive::default();
    for r in results.filter(|r| r.is_sensitive()) {
        let (inside, runs) = r.inside();
        s.points += usize::from(runs > 0);
        s.runs += runs;
        s.inside += inside;
    }
    s
}

/// The differences of some results, sensitive points left out.
pub(super) fn differences<'a>(results: impl Iterator<Item = &'a PointResult>) -> Differences {
    let (mut each, mut spreads) = (Vec::new(), Vec::new());
    for r in results.filter(|r| !r.is_sensitive()) {
        let Some(difference) = r.difference_points().map(f64::abs) else { continue };
        each.push(difference);
        spreads.extend(r.spread_points());
    }
    Differences {
        spread_mean: mean(&spreads),
        spread_max: largest(&spreads),
        ..Differences::of(&each)
    }
}

/// Whether a device, by what it is and what it calls itself, is a GPU.
pub(super) fn is_gpu(device: &str, name: &str) -> bool {
    let worker = device.starts_with("worker") && name.contains(ON_GPU);
    worker || device.starts_with("cuda") && !name.contains("stand-in")
}
