//! Loads that end by themselves: a run that stops as soon as its verdict is sure has that of the whole run.

use crate::input::file::PlanFile;
use crate::input::problem::Problem;
use crate::search::runs::Runs;
use crate::search::trial::Bench;
use std::fmt::Write;
use std::path::Path;

const PLAN: &str = r#"
pools = "homogeneous"
goal = "carry-load"
bad_rate = 0.01
seeds = 2
policies = ["clockwork"]

[[instance]]
kind = "a"
price_usd_per_hour = 1.0
count_max = 4

[scenario]
[[scenario.model]]
name = "m"
slo_ms = 40.0
latency = { affine = { alpha_ms = 1.0, beta_ms = 4.0 } }

[[scenario.app]]
name = "x"
model = "m"
time = { constant = { ms = 5.0 } }

[scenario.arrivals]
"#;

/// Requests that are far apart, and after the first of them so many at once.
fn list(requests: usize, at_once: usize) -> String {
    let mut text = "arrival_ms,size\n".to_string();
    for i in 0..requests {
        let _ = writeln!(text, "{},1", 500 + 50 * i.saturating_sub(at_once));
    }
    text
}

/// The verdict of a run that may stop early, and what the whole run shows, at a share of the load.
fn verdicts(folder: &Path, arrivals: &str, share: f64) -> (bool, f64) {
    let path = folder.join("plan.toml").display().to_string();
    let (plan, source) = PlanFile::from_text(&path, &format!("{PLAN}{arrivals}\n"))
        .unwrap_or_else(|e| panic!("{e}"));
    let problem = Problem::new(&plan, &source).unwrap_or_else(|e| panic!("{e}"));
    let (runs, group) = (Runs::new(None), &problem.groups[0]);
    let bench = Bench::new(&problem, group, &problem.policies[0], &runs);
    let rate = group.load_per_s * share;
    let bad = bench.seen(&[1], rate).unwrap_or_else(|e| panic!("{e}")).0.bad_rate;
    (bench.holds(&[1], rate).unwrap_or_else(|e| panic!("{e}")), bad)
}

/// A day of a list as it was written down is one with `replay`.
#[test]
fn a_day_of_a_list_that_is_not_replayed_is_told_to_replay_it() {
    let folder = std::env::temp_dir().join(format!("orrery-list-of-day-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("list.csv"), list(1_000, 5)).unwrap();
    let path = folder.join("plan.toml").display().to_string();
    let of = |replay: &str| {
        let day = "[day]\nscale = \"follow\"\ntrace_steps = 2\n\n[scenario]";
        let text = PLAN.replace("[scenario]", day);
        let text = format!("{text}queries = {{ file = \"list.csv\" }}\n{replay}\n");
        let (plan, source) = PlanFile::from_text(&path, &text).unwrap();
        Problem::new(&plan, &source).map(|_| ()).map_err(|e| e.to_string())
    };
    let error = of("").unwrap_err();
    let remedy = "replay = { times = 1 }";
    assert!(error.contains("a list without `replay`") && error.contains(remedy), "{error}");
    of(remedy).unwrap();
    std::fs::remove_dir_all(&folder).unwrap();
}

/// A faster list has as many requests at any rate, of copies there are as many more, one that is cut has more or fewer, and a trace of so many requests has as many
/// at any rate at which it has enough: nowhere does a run end as bad of which the whole is within the target.
#[test]
fn a_run_that_stops_early_has_the_verdict_of_the_whole_run() {
    let folder = std::env::temp_dir().join(format!("orrery-lists-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    // Of those at once 18 are in time: 8 of 1,000 and 16 of 1,000 are not, at whatever rate.
    for (name, at_once) in [("few", 25), ("many", 33)] {
        std::fs::write(folder.join(format!("{name}.csv")), list(1_000, at_once)).unwrap();
    }
    let head = "HashOwner,HashApp,HashFunction,Trigger,1,2";
    std::fs::write(folder.join("counts.csv"), format!("{head}\na,b,c,http,3000,3000\n")).unwrap();
    let faster = |file: &str, more: &str| {
        format!("queries = {{ file = \"{file}.csv\" }}\nreplay = {{ rate_by = \"speed\" }}\n{more}")
    };
    let trace = |more: &str| {
        format!(
            "trace = {{ file = \"counts.csv\", rate_per_s = 300.0, compress = 1.0 }}\nrequests = 1000\n{more}"
        )
    };
    let loads = [
        faster("few", ""),
        faster("many", ""),
        faster("few", "duration_s = 20.0"),
        faster("few", "").replace("rate_by = \"speed\"", ""),
        faster("many", "duration_s = 20.0").replace("rate_by = \"speed\"", ""),
        trace(""),
    ];
    let (mut near, mut seen) = (0, [0, 0]);
    for load in &loads {
        for share in [0.2, 0.4, 0.6, 0.8, 1.0, 1.5, 3.0] {
            let (good, bad) = verdicts(&folder, load, share);
            assert_eq!(good, bad <= 0.01, "{load}, {share} of the load: {bad} bad");
            seen[usize::from(good)] += 1;
            near += usize::from(good && share < 0.8 && bad > 0.01 * (share * 1.25 + 0.02));
        }
    }
    std::fs::remove_dir_all(&folder).unwrap();
    assert!(seen[0] >= 3 && seen[1] >= 3, "{seen:?}");
    // What was called bad when the count was taken to grow with the rate.
    assert!(near >= 2, "{near}");
}
