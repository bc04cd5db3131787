//! Models on two kinds: against all splits, and what an answer says of them.

use super::{drawn, error, solved};
use crate::file::PlanFile;
use crate::problem::Problem;
use crate::robust::Held;
use crate::runs::Runs;
use crate::size::counts;
use crate::tests::printed;
use crate::trial::Bench;
use crate::{Solved, answers, rows};
use orrery_planner::Price;
use orrery_scenario::Scenario;
use orrery_sim::rng::Stream;
use std::collections::BTreeMap;

/// One large machine carries three quarters of the load, and two cost more than small ones for all of it.
const LARGE: &str = r#"
pools = "fleet"
goal = "carry-load"
seeds = 3
requests_per_model = 2000
policies = ["symphony"]
runners_up = 1
copies = 2

[[instance]]
kind = "large"
price_usd_per_hour = 10.0
count_max = 4
latency_on = { m = { affine = { alpha_ms = 0.2, beta_ms = 5.0 } } }

[[instance]]
kind = "small"
price_usd_per_hour = 1.4
count_max = 40
latency_on = { m = { affine = { alpha_ms = 2.0, beta_ms = 5.0 } } }

[scenario]
arrivals = { poisson = { rate_per_s = 4600.0 }, per_app = true }

[[scenario.model]]
name = "m"
slo_ms = 60.0
latency = { affine = { alpha_ms = 1.0, beta_ms = 5.0 } }

[[scenario.app]]
name = "a"
model = "m"
"#;

fn cost(found: &Solved) -> Option<Price> {
    found.fleet.as_ref().unwrap().cost
}

#[test]
fn a_split_that_saves_is_found_and_every_form_says_so() {
    let found = solved(LARGE);
    let whole = solved(&LARGE.replace("copies = 2\n", ""));
    let fleet = found.fleet.as_ref().unwrap();
    assert!(cost(&found) < cost(&whole), "{:?} {:?}", cost(&found), cost(&whole));
    assert_eq!(fleet.copies.len(), 1);
    assert_eq!(fleet.split.unwrap().whole, cost(&whole).unwrap());
    assert_eq!(fleet.others[0].1, cost(&whole).unwrap());
    // The whole load is there, and each cluster carries its part as a scenario of its own.
    let p = &found.problem;
    let load: f64 = p.groups.iter().map(|group| group.load_per_s).sum();
    assert!((load / 4600.0 - 1.0).abs() < 1e-9 && p.groups.len() == 2, "{load}");
    for (group, answer) in p.groups.iter().zip(&found.answers) {
        let best = answer.best().unwrap();
        assert!(best.at_load.is_sure(0.01) && best.less.len() == 1);
        let text =
            group.scenario_text(p, &best.counts, &best.policy, best.at_load.seen.requests).unwrap();
        let scenario = Scenario::from_text("chosen.toml", &text).unwrap();
        assert!((scenario.rate().unwrap() / group.load_per_s - 1.0).abs() < 1e-9);
        let metrics = scenario.setup(9).unwrap().run(&scenario.policies().unwrap()[0], 9).unwrap();
        let total = metrics.total();
        assert!(total.ends[0] as f64 >= 0.98 * total.offered as f64, "{}", group.name);
    }
    let said = printed(&found);
    for part in [
        "m (3/4) on large; m (1/4) on small",
        "each model on one kind or two",
        "with each model on one kind it costs",
        "runner-up (one seed)",
        "models: m within 60 ms",
    ] {
        assert!(said.contains(part), "no `{part}` in:\n{said}");
    }
    let csv = orrery_results::to_csv(&rows::rows(&[found]).unwrap());
    assert!(csv.contains("large:m(3/4),small:m(1/4)"), "{csv}");
    // Where no split saves, that is said.
    let said =
        printed(&solved(&LARGE.replace("price_usd_per_hour = 10.0", "price_usd_per_hour = 90.0")));
    assert!(said.contains("of a model's load on a second kind saves money"), "{said}");
    let without = printed(&whole);
    assert!(!without.contains("second kind") && !without.contains("(1/4)"), "{without}");
}

/// Each cluster is tried with its own part of the model's load.
#[test]
fn a_change_of_nothing_gives_the_copies_the_verdicts_of_the_answer() {
    let text = LARGE.replace("runners_up = 1", "runners_up = 0\nrobust = [\"load=1\"]");
    let (plan, source) = PlanFile::from_text("fleet.toml", &text).unwrap();
    let found = answers(&plan, &source, &[], true).unwrap_or_else(|e| panic!("{e}"));
    let all = &found.robust.as_ref().unwrap().all;
    assert_eq!(all.len(), 2);
    for (strained, answer) in all.iter().zip(&found.plan.answers) {
        let Held::Tried(check) = &strained.held else { panic!("{strained:?}") };
        assert_eq!(check.bad_by_seed, answer.best().unwrap().at_load.bad_by_seed);
        assert!(!answer.frontier.is_empty());
    }
}

#[test]
fn a_machine_of_a_split_fleet_may_be_lost() {
    let found = solved(&LARGE.replace("copies = 2", "copies = 2\nsurvive = \"small\""));
    for answer in &found.answers {
        let best = answer.best().unwrap();
        assert!(best.counts[0] > 0 || best.less[0].bad_rate() <= 0.01, "{:?}", best.less);
    }
    let one = solved(&LARGE.replace("copies = 2", "survive = \"small\""));
    assert!(cost(&found) <= cost(&one));
}

/// The cheapest of all ways to put quarters of the loads on two kinds, with every cluster of every size simulated with
/// all seeds.
fn exhaustive(text: &str) -> Option<Price> {
    let (plan, source) = PlanFile::from_text("fleet.toml", text).unwrap();
    let problem = Problem::new(&plan, &source).unwrap();
    let (runs, whole) = (Runs::new(None), &problem.groups[0]);
    let models = &whole.models;
    let mut known: BTreeMap<(usize, Vec<u32>), Option<Price>> = BTreeMap::new();
    let mut of = |kind: usize, quarters: &[u32]| {
        let key = (kind, quarters.to_vec());
        let here = models.iter().zip(quarters).filter(|(_, q)| **q > 0);
        let parts: BTreeMap<&str, f64> =
            here.map(|(model, q)| (model.as_str(), f64::from(*q) / 4.0)).collect();
        if parts.is_empty() {
            return Some(Price::ZERO);
        }
        *known.entry(key).or_insert_with(|| {
            let lacks = |m: usize| quarters[m] > 0 && plan.instance[kind].lacks(whole.model(m));
            if (0..models.len()).any(lacks) {
                return None;
            }
            let group = problem.finished(whole.of_parts("some", &parts).unwrap(), kind).unwrap();
            let bench = Bench::new(&problem, &group, &problem.policies[0], &runs);
            let enough = |n: &u32| {
                let check = bench.check(&counts(&problem, kind, *n), group.load_per_s);
                check.is_ok_and(|c| c.is_sure(plan.target()))
            };
            let n = (1..=problem.counts_max[kind]).find(enough);
            n.map(|n| problem.cost_of_kind(kind, n))
        })
    };
    let all = 5_u32.pow(models.len() as u32);
    let mut best = None;
    for i in 0..all {
        let first: Vec<u32> = (0..models.len()).map(|m| i / 5_u32.pow(m as u32) % 5).collect();
        let second: Vec<u32> = first.iter().map(|q| 4 - q).collect();
        let cost = of(0, &first).and_then(|a| Some(a + of(1, &second)?));
        best = match (best, cost) {
            (Some(a), Some(b)) => Some(std::cmp::min::<Price>(a, b)),
            (a, b) => a.or(b),
        };
    }
    best
}

/// Of drawn fleets with two kinds: never dearer than with each model on one kind, never cheaper than the cheapest of all
/// splits; with one model it is that one.
#[test]
#[cfg_attr(debug_assertions, ignore = "minutes in a debug build")]
fn an_answer_with_copies_is_between_whole_models_and_all_splits() {
    let (mut saved, mut equal, mut of_two) = (0, 0, 0);
    for seed in 0..10_u64 {
        let mut stream = Stream::named(seed, "random copies", 0);
        let models = 1 + seed % 2;
        let text = drawn(&mut stream, (2, models), 3);
        let two = solved(&text.replace("runners_up = 0", "runners_up = 0\ncopies = 2"));
        let (one, best) = (solved(&text), exhaustive(&text));
        let (Some(two), Some(one), Some(best)) = (cost(&two), cost(&one), best) else { continue };
        assert!(best <= two && two <= one, "seed {seed}: {best} {two} {one}");
        assert!(models == 2 || two == best, "seed {seed}: {best} {two} {one}");
        saved += u32::from(two < one);
        equal += u32::from(two == best);
        of_two += u32::from(models == 2);
    }
    println!("{saved} saved, {equal} are the cheapest of all splits; {of_two} with two models");
    assert!(saved > 0 && equal >= 8 - of_two);
}

#[test]
fn copies_of_what_has_none_are_refused_with_the_remedy() {
    let day = "[day]\nscale = \"peak\"\nprofile = [[0, 1.0]]\n\n[scenario]";
    for (from, to, says) in [
        ("copies = 2", "copies = 3", vec!["copies", "1 or 2"]),
        ("pools = \"fleet\"", "pools = \"homogeneous\"", vec!["copies", "remove `copies`"]),
        ("goal = \"carry-load\"", "budget_usd_per_hour = 20.0", vec!["copies", "goal"]),
        ("[scenario]", day, vec!["copies", "[day]", "peak"]),
    ] {
        assert!(LARGE.contains(from), "{from}");
        let message = error(&LARGE.replacen(from, to, 1));
        for part in says {
            assert!(message.contains(part), "no `{part}` for `{to}` in:\n{message}");
        }
    }
}
