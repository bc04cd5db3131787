//! A campaign, judged: how far apart both sides are, and whether that is within its targets.

use super::Standing;
use super::campaign::Campaign;
use super::outcome::PointResult;

/// Differences of some points, in percentage points of the finish rate.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[allow(missing_docs)]
pub struct Differences {
    pub points: usize,
    pub mean: f64,
    pub max: f64,
    /// The mean over points of largest less smallest of their repeated runs.
    pub spread_mean: f64,
    pub spread_max: f64,
}

/// A campaign, judged.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Verdict {
    /// Points with a valid run, all together.
    pub all: Differences,
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
    /// Mean and maximum are within the campaign's targets.
    pub within_targets: bool,
}

/// Judges what is finished.
pub fn verdict(campaign: &Campaign, standing: &Standing) -> Verdict {
    let finished: Vec<&PointResult> = standing.points.iter().filter_map(|p| p.1.as_ref()).collect();
    let all = differences(finished.iter().copied());
    let targets = campaign.file.targets;
    let runs = || finished.iter().flat_map(|r| &r.runs);
    Verdict {
        all,
        planned: standing.points.len(),
        finished: finished.len(),
        invalid_runs: runs().filter(|r| r.invalid.is_some()).count(),
        valid_runs: runs().filter(|r| r.invalid.is_none()).count(),
        on_a_gpu: runs().any(|r| is_gpu(&r.device.device, &r.device.name)),
        within_targets: all.points > 0
            && all.mean <= targets.mean_points
            && all.max <= targets.max_points,
    }
}

/// The differences of some results.
pub(super) fn differences<'a>(results: impl Iterator<Item = &'a PointResult>) -> Differences {
    let (mut d, mut spreads) = (Differences::default(), Vec::new());
    for r in results {
        let Some(difference) = r.difference_points().map(f64::abs) else { continue };
        d.points += 1;
        d.mean += difference;
        d.max = d.max.max(difference);
        spreads.extend(r.spread_points());
    }
    d.mean /= d.points.max(1) as f64;
    d.spread_mean = spreads.iter().sum::<f64>() / spreads.len().max(1) as f64;
    d.spread_max = spreads.iter().copied().fold(0.0, f64::max);
    d
}

/// Whether a device, by what it is and what it calls itself, is a GPU.
pub(super) fn is_gpu(device: &str, name: &str) -> bool {
    device.starts_with("cuda") && !name.contains("stand-in")
}
