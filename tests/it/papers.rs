//! The papers' figures: how near the calibrated systems come to Orloj's Tables 3 to 5, with the
//! seeds of the shipped files.
//!
//! The bounds are this project's acceptance criteria, not what was seen. A debug build would take
//! minutes, so that only release builds run them:
//!
//! ```text
//! cargo test --release -p orrery-tests -- papers
//! ```

use crate::golden;
use orrery_reproduce::experiment::Preset;
use orrery_reproduce::groups;
use orrery_reproduce::registry::find;
use orrery_reproduce::reproduce::{Asked, rows_of, with};
use orrery_reproduce::scores::{Scores, score};
use orrery_results::Row;
use std::sync::OnceLock;

/// A table's calibrated systems, scored.
struct Scored {
    scores: Scores,
}

impl Scored {
    fn run(id: &str) -> Scored {
        let mut e = find(id).expect("a shipped table");
        e.system.retain(|s| s.preset == Preset::Calibrated);
        let is_own = |r: &&Row| r.preset == "calibrated";
        let rows: Vec<Row> = golden::whole(id).rows.iter().filter(is_own).cloned().collect();
        let e = with(&e, &Asked::default()).expect("the paper's numbers");
        let group = groups::of(&e).remove(0);
        Scored { scores: score(&e, &group, &rows) }
    }

    fn mae_of(&self, name: &str) -> f64 {
        let is = |s: &&orrery_reproduce::scores::SystemScore| s.system == name;
        self.scores.systems.iter().find(is).expect("a calibrated system of that name").mae
    }

    /// Over all cells that the paper has.
    fn mae(&self) -> f64 {
        let all = self.scores.systems.iter().map(|s| (s.mae * s.cells as f64, s.cells as f64));
        let (sum, cells) = all.fold((0.0, 0.0), |(a, b), (sum, cells)| (a + sum, b + cells));
        assert!(cells > 0.0, "no number of the paper");
        sum / cells
    }
}

/// Each table is run once for all tests.
fn scored(table: usize) -> &'static Scored {
    static TABLES: [OnceLock<Scored>; 3] = [const { OnceLock::new() }; 3];
    TABLES[table - 3].get_or_init(|| Scored::run(&format!("orloj-table-{table}")))
}

fn at_most(what: &str, found: f64, bound: f64) {
    assert!(found <= bound, "{what}: mean absolute error {found:.4}, allowed {bound}");
}

#[test]
#[cfg_attr(debug_assertions, ignore = "takes minutes in a debug build")]
fn table_3_of_orloj_comes_out_for_every_system() {
    let table = scored(3);
    for (system, bound) in
        [("clipper", 0.045), ("nexus", 0.05), ("clockwork", 0.055), ("orloj", 0.025)]
    {
        at_most(system, table.mae_of(system), bound);
    }
}

#[test]
#[cfg_attr(debug_assertions, ignore = "takes minutes in a debug build")]
fn table_3_of_orloj_puts_pairs_of_systems_in_the_paper_s_order() {
    let order = scored(3).scores.order;
    assert!(order.of > 100, "{} pairs are too few", order.of);
    assert!(100 * order.hits >= 95 * order.of, "right in {} of {}", order.hits, order.of);
}

#[test]
#[cfg_attr(debug_assertions, ignore = "takes minutes in a debug build")]
fn table_5_of_orloj_comes_out() {
    at_most("all cells", scored(5).mae(), 0.08);
}

#[test]
#[cfg_attr(debug_assertions, ignore = "takes minutes in a debug build")]
fn orloj_loses_to_another_system_where_the_paper_says_so() {
    let places = [3, 4, 5].map(|t| scored(t).scores.beats_base);
    let (hits, of): (usize, usize) =
        (places.iter().map(|p| p.hits).sum(), places.iter().map(|p| p.of).sum());
    assert_eq!(of, 17, "places where the paper has another system above Orloj");
    assert!(hits >= 12, "{hits} of 17 places come out so: {places:?}");
}

/// The acceptance criteria of the study, by parallelism: how many settings have a measured value here,
/// and the mean and the largest error in percentage points.
#[test]
fn the_goodput_measured_on_16_v100s_comes_out() {
    let forms = golden::whole("alpaserve-v100");
    let rows: Vec<_> =
        forms.rows.iter().filter(|r| r.metric == "finish_rate" && r.scope == "all").collect();
    assert_eq!(rows.len(), 20);
    assert!(rows.iter().all(|r| r.value.is_some()), "ours stands where theirs is withheld");
    for (parallelism, measured, mean_max, largest_max) in
        [("none", 6, 0.35, 0.8), ("intra-op 4", 2, 0.6, 1.5), ("pipeline 8", 5, 0.6, 1.5)]
    {
        let own = rows.iter().filter(|r| r.axis("parallelism") == Some(parallelism));
        let errors: Vec<f64> = own.filter_map(|r| Some(100.0 * r.abs_error?)).collect();
        let mean = errors.iter().sum::<f64>() / errors.len() as f64;
        let largest = errors.iter().copied().fold(0.0, f64::max);
        assert_eq!(errors.len(), measured, "{parallelism}");
        assert!(mean <= mean_max, "{parallelism}: mean {mean:.2} points, allowed {mean_max}");
        assert!(largest <= largest_max, "{parallelism}: {largest:.2}, allowed {largest_max}");
    }
}

/// The errors of a shipped study's system against what was measured, in percent, from the smallest; infinite for a
/// queue without end. Cases that are not counted are left out.
fn errors_of(rows: &[Row], system: &str, metric: &str, keep: impl Fn(&Row) -> bool) -> Vec<f64> {
    let own = rows.iter().filter(|r| r.system == system && r.metric == metric && r.scope == "all");
    let own = own.filter(|r| r.paper.is_some() && r.axis("not_counted").is_none() && keep(r));
    let error = |r: &Row| {
        let endless = r.has_flag("diverging") && metric.starts_with("latency");
        let ratio = r.value.zip(r.paper).map(|(ours, theirs)| 100.0 * (ours / theirs - 1.0).abs());
        ratio.filter(|_| !endless).unwrap_or(f64::INFINITY)
    };
    let mut errors: Vec<f64> = own.map(error).collect();
    errors.sort_by(f64::total_cmp);
    errors
}

fn measured(id: &str) -> Vec<Row> {
    let e = find(id).expect("a shipped study");
    rows_of(&e, &Asked::default()).expect("a study that runs")
}

#[test]
fn nnu_nets_online_latencies_follow_from_its_offline_table() {
    let rows = measured("triton-nnunet");
    let errors = errors_of(&rows, "orrery", "latency_mean_ns", |_| true);
    assert_eq!(errors.len(), 40, "eight clients each on five tables that are shown and whole");
    let mean = errors.iter().sum::<f64>() / 40.0;
    assert!(mean < 0.6 && errors[39] < 3.0, "mean {mean:.2} %, largest {:.2} %", errors[39]);
    let bounds = errors_of(&rows, "bounds", "latency_mean_ns", |_| true);
    assert!(bounds.iter().sum::<f64>() / 40.0 > 5.0, "operational bounds are not enough");
}

#[test]
fn a_batch_of_8_is_on_the_line_for_gpus_of_nvidia() {
    let rows = measured("latency-law");
    let is_nvidia = |r: &Row| r.axis("accelerators") == Some("one of NVIDIA");
    let errors = errors_of(&rows, "line", "latency_p50_ns", is_nvidia);
    assert_eq!(errors.len(), 180);
    assert!(errors[90] < 8.0, "median {:.2} %", errors[90]);
}

#[test]
#[ignore = "17 s of processor time: scripts/slow-tests papers"]
fn the_server_results_of_one_accelerator_follow_from_its_other_results() {
    let rows = measured("mlperf-single");
    let of = |system: &str, metric: &str, streams: &str| {
        let own = |r: &Row| {
            r.axis("harness") == Some("nvidia")
                && (streams.is_empty() || r.axis("streams") == Some(streams))
        };
        errors_of(&rows, system, metric, own)
    };
    let rates = of("serial", "peak_goodput_per_s", "");
    assert_eq!(rates.len(), 24);
    assert!((rates[11] + rates[12]) / 2.0 < 8.0 && rates[23] < 20.0, "{rates:.1?}");
    let shared = of("processor", "peak_goodput_per_s", "");
    assert!((shared[11] + shared[12]) / 2.0 < 6.5, "{shared:.1?}");
    for (metric, most) in
        [("latency_p50_ns", 4.0), ("latency_p90_ns", 5.0), ("latency_p99_ns", 6.0)]
    {
        let errors = of("serial", metric, "1");
        assert_eq!(errors.len(), 10, "one of them is a queue without end");
        assert!((errors[4] + errors[5]) / 2.0 < most, "{metric}: {errors:.1?}");
    }
}
