//! Days that a cluster follows, and machines that may be lost.

use super::{CLUSTERS, POOLS, all_pools, cost, error, solved};
use crate::commands::plan::file::PlanFile;
use crate::commands::plan::runs::Runs;
use crate::commands::plan::trial::Bench;
use crate::commands::plan::{report, solve};

/// The days of a trace are counted from its own arrivals, and a cluster follows them.
#[test]
fn a_trace_is_followed_as_a_day() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../scenarios/plans");
    let text = std::fs::read_to_string(folder.join("growth-of-a-trace.toml")).unwrap();
    let day = "[day]\nscale = \"follow\"\ntrace_steps = 6\n\n[[instance]]\nkind = \"usual\"";
    let text = text
        .replace("[[instance]]\nkind = \"usual\"", day)
        .replace("what_if = [", "seeds = 2\nrequests_per_model = 300\nwhat_if = [");
    let path = folder.join("trace.toml").display().to_string();
    let (plan, source) = PlanFile::from_text(&path, &text).unwrap_or_else(|e| panic!("{e}"));
    let found = solve(&plan, &source, None, false).unwrap_or_else(|e| panic!("{e}"));
    let day = &found.problem.day;
    assert_eq!(day.steps.len(), 6);
    assert!(day.peak > 1.0 && (day.peak * day.mean - 1.0).abs() < 1e-9, "mean 1: {day:?}");
    let best = found.answers[0].best().unwrap();
    assert!(best.sizes.len() == day.levels.len() && best.cost <= found.problem.cost(&best.counts));
    let shown = report::text(&found, &[]);
    assert!(
        shown.contains("the whole trace is one day") && shown.contains("over the day"),
        "{shown}"
    );
    let wrong =
        CLUSTERS.replace("[scenario]", "[day]\nscale = \"peak\"\ntrace_steps = 6\n\n[scenario]");
    assert!(error(&wrong).contains("day.trace_steps"), "{}", error(&wrong));
}

/// A machine may be lost: one more of a cluster, and of a pool of several types what brute force finds.
#[test]
fn a_pool_survives_the_loss_of_any_one_machine_at_the_least_cost() {
    let lost = |text: &str| solved(&text.replace("seeds = 3", "seeds = 3\nsurvive = 1"));
    let (now, one) = (solved(CLUSTERS), lost(CLUSTERS));
    let best = one.answers[0].best().unwrap();
    assert!(best.less[0].bad_rate() <= 0.01 && cost(&one) > cost(&now));
    let small = POOLS.replace("90.0", "60.0");
    let found = lost(&small);
    let (p, runs) = (&found.problem, Runs::new(None));
    let bench = Bench::new(p, &p.groups[0], &p.policies[0], &runs);
    let sure = |c: &[u32]| c[0] > 0 && bench.check(c, 60.0).unwrap().is_sure(p.plan.target());
    let survives =
        |c: &Vec<u32>| sure(c) && sure(&[c[0] - 1, c[1]]) && (c[1] == 0 || sure(&[c[0], c[1] - 1]));
    let cheapest = all_pools(p).into_iter().filter(survives).map(|c| p.cost(&c)).min();
    assert!(cheapest.is_some());
    assert_eq!(cost(&found), cheapest);
    let budget = POOLS.replace("goal = \"carry-load\"", "budget_usd_per_hour = 2.0\nsurvive = 1");
    assert!(error(&budget).contains("survive"), "{}", error(&budget));
    let day = "[day]\nscale = \"follow\"\nprofile = [[0, 1.0]]\n\n[scenario]";
    let follow = error(&POOLS.replace("[scenario]", day));
    assert!(follow.contains("day.scale") && follow.contains("peak"), "{follow}");
}
