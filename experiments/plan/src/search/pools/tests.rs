//! A pool is not left out because of one seed that is not sure.

use super::*;
use crate::input::file::PlanFile;

/// Two types that are much alike, on few requests.
const FEW: &str = r#"
pools = "heterogeneous"
budget_usd_per_hour = 1.0
seeds = 5
requests_per_model = 300
policies = ["kairos"]

[[instance]]
kind = "big"
price_usd_per_hour = 0.4

[[instance]]
kind = "small"
price_usd_per_hour = 0.3

[scenario]
arrivals = { poisson = { rate_per_s = 90.0 } }

[[scenario.model]]
name = "m"
slo_ms = 60.0
latency = { affine = { alpha_ms = 1.0, beta_ms = 2.0 } }
latency_on = { small = { affine = { alpha_ms = 1.2, beta_ms = 4.0 } } }

[[scenario.app]]
name = "a"
model = "m"
time = { constant = { ms = 1.0 } }
sizes = { normal = { mean = 12.0, sd = 8.0, max = 40 } }
"#;

/// A rate near a pool's edge of which the first seed says no, sure or not, and all seeds say `carried`.
fn said_no(bench: &Bench<'_>, counts: &[u32], is_sure: bool, carried: bool) -> Option<f64> {
    let edge = bench.edge(counts).expect("a pool").rate_per_s;
    let rates = (0..40).map(|k| edge * (0.9 + 0.01 * f64::from(k)));
    rates.into_iter().find(|&rate| {
        let probe = bench.probe(counts, rate).expect("a run");
        !probe.good
            && probe.is_sure() == is_sure
            && bench.check(counts, rate).expect("runs").meets(bench.target()) == carried
    })
}

#[test]
fn one_seed_leaves_a_pool_out_only_where_it_is_sure() {
    let mut seen = [0, 0];
    for seed in 1..=4 {
        let text = FEW.replace("seeds = 5", &format!("seeds = 5\nseed = {seed}"));
        let (plan, source) = PlanFile::from_text("plan.toml", &text).expect("a plan");
        let problem = Problem::new(&plan, &source).expect("a problem");
        let (runs, group) = (Runs::new(None), &problem.groups[0]);
        let bench = Bench::new(&problem, group, &problem.policies[0], &runs);
        let candidates = Candidates::new(&problem, group).expect("pools");
        let candidates = &candidates;
        let one = OfPolicy { bench: &bench, candidates, runs: &runs, is_base_alone: false };
        let counts = [1, 2];
        let of = |i: &usize| candidates.counts(*i) == counts;
        let i = (0..candidates.space.pools().len()).find(of).expect("a pool");
        // The other pool carries just less than the challenge, so that this one has to carry it.
        let is_kept = |rate: f64| {
            let least = rate / (1.0 + problem.plan.precision);
            let mut top = vec![(least, i + 1), (least * 0.9, i)];
            one.keep_the_best(&mut top, 1).expect("runs");
            top.len() == 2
        };
        if let Some(rate) = said_no(&bench, &counts, false, true) {
            seen[0] += 1;
            assert!(one.rate_above(i, rate).expect("runs").0 >= rate, "{seed}: {rate}");
            assert!(is_kept(rate), "{seed}: {rate}");
        }
        if let Some(rate) = said_no(&bench, &counts, true, false) {
            seen[1] += 1;
            let before = runs.done();
            assert_eq!(one.rate_above(i, rate).expect("runs").0, 0.0, "{seed}: {rate}");
            assert_eq!(runs.done(), before + 1, "a sure seed is enough");
            assert!(!is_kept(rate), "{seed}: {rate}");
        }
    }
    assert!(seen[0] > 0 && seen[1] > 0, "{seen:?}");
}

/// A pool that carries the load with any one machine less, and does not come back from the loss of one in mid-run, is
/// no answer; each type that it has is asked.
#[test]
fn a_pool_of_several_types_is_asked_whether_it_survives_a_loss_in_mid_run() {
    let text = FEW.replace("budget_usd_per_hour = 1.0", "goal = \"carry-load\"\nsurvive = 1");
    let text = text.replace("_hour = 0.4", "_hour = 0.4\ncount_max = 4");
    let text = text.replace("_hour = 0.3", "_hour = 0.3\ncount_max = 4");
    let (plan, source) = PlanFile::from_text("plan.toml", &text).expect("a plan");
    let problem = Problem::new(&plan, &source).expect("a problem");
    let left = |counts: &[u32]| after_loss::left(&problem, counts).collect::<Vec<_>>();
    assert_eq!(left(&[2, 3]), [(0, vec![1, 3]), (1, vec![2, 2])]);
    assert_eq!(left(&[2, 0]), [(0, vec![1, 0])], "what it has none of is not lost");
    // And the search asks by simulations: of what is left with each seed and after a burst, of each loss once.
    let (runs, group) = (Runs::new(None), &problem.groups[0]);
    let bench = Bench::new(&problem, group, &problem.policies[0], &runs);
    let asked = Asked { steps: vec![bench], levels: vec![0], load_per_s: 30.0 };
    assert!(asked.survives(&problem, &[4, 4]).expect("runs"));
    let of_checks = 2 * (u64::from(plan.seeds) + 1);
    assert_eq!(runs.done(), of_checks + 2);
}
