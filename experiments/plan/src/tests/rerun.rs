//! Plans' answers are rerun as scenarios of their own, by the road of `orrery run`, at the load that was asked for.

use super::{Solved, solved_afresh};
use orrery_scenario::Scenario;
use orrery_sim::request::End;
use orrery_sim::rng::Stream;
use rayon::prelude::*;
use std::fmt::Write;

const POLICIES: [&str; 4] =
    ["symphony", "clockwork", "nexus", "timeout[max_batch=16,max_wait_ms=2]"];

/// One or two models on one kind, at a load that a few machines carry; `pools` is `homogeneous` or `fleet`.
fn random(number: u64, pools: &str) -> String {
    let mut stream = Stream::named(number, "random plans", 0);
    let models = 1 + stream.below(2);
    let policy = POLICIES[(number % POLICIES.len() as u64) as usize];
    let speed = [0.5, 1.0, 2.0][stream.below(3) as usize];
    let mut text = format!(
        "pools = {pools:?}\ngoal = \"carry-load\"\nbad_rate = 0.02\nseeds = 3\nprecision = 0.02\n\
         requests_per_model = 2000\nrunners_up = 0\npolicies = [{policy:?}]\n\
         [[instance]]\nkind = \"k\"\nprice_usd_per_hour = 1.0\ncount_max = 12\nspeed = {speed:?}\n\
         [scenario]\nwarm_up_s = 2.0\narrivals = {{ poisson = {{ rate_per_s = {:.1} }}, per_app = true }}\n",
        speed * (100.0 + 500.0 * stream.uniform())
    );
    for m in 0..models {
        let (alpha, beta) = (1.0 + 3.0 * stream.uniform(), 1.0 + 6.0 * stream.uniform());
        let slo = (alpha + beta) / speed * (3.0 + 7.0 * stream.uniform());
        let _ = writeln!(
            text,
            "[[scenario.model]]\nname = \"m{m}\"\nslo_ms = {slo:.2}\n\
             latency = {{ affine = {{ alpha_ms = {alpha:.2}, beta_ms = {beta:.2} }} }}\n\
             [[scenario.app]]\nname = \"a{m}\"\nmodel = \"m{m}\"\nweight = {}.0",
            1 + stream.below(3)
        );
    }
    text
}

/// The worst model's share of bad requests with so many machines of a plan's first group.
fn bad_rate(found: &Solved, machines: u32, requests: u64) -> f64 {
    let (group, best) = (&found.problem.groups[0], found.answers[0].best().unwrap());
    let text = group
        .scenario_text(&found.problem, &[machines], &best.policy, best.at_load.seen.requests)
        .unwrap();
    let mut scenario = Scenario::from_text("chosen.toml", &text).unwrap();
    scenario.file.arrivals.as_mut().unwrap().requests = Some(requests);
    let policy = &scenario.policies().unwrap()[0];
    // A seed that the plan did not see.
    let metrics = scenario.setup(77).unwrap().run(policy, 77).unwrap();
    let bad = |m: &orrery_sim::metrics::Figures| {
        1.0 - m.ended(End::InTime) as f64 / m.offered.max(1) as f64
    };
    metrics.models().iter().map(bad).fold(0.0, f64::max)
}

/// What is wrong with the answer of a plan.
fn wrong(number: u64, pools: &str) -> Option<String> {
    let found = solved_afresh(&random(number, pools));
    let (answer, target) = (&found.answers[0], found.problem.plan.target());
    let best = answer.best()?;
    let n = best.counts[0];
    let what = format!("plan {number}, {pools}, {}: {n} machines", best.policy);
    let bad = bad_rate(&found, n, 30_000);
    let flagged = answer.unknown.iter().any(|line| line.starts_with("metastable"));
    if bad > target && !flagged {
        return Some(format!("{what}, {:.2} % bad", bad * 100.0));
    }
    if n > 1 && answer.close.is_empty() {
        let fewer = bad_rate(&found, n - 1, 30_000);
        if fewer <= target {
            return Some(format!("{what}, and with one fewer {:.2} % bad", fewer * 100.0));
        }
    }
    None
}

#[test]
fn an_answer_meets_its_target_and_one_machine_fewer_misses_it_or_is_said_to_be_unsure() {
    let most = std::env::var("ORRERY_PLANS").ok().and_then(|n| n.parse().ok()).unwrap_or(8);
    let all: Vec<(u64, &str)> =
        (0..most).flat_map(|n| [(n, "homogeneous"), (n, "fleet")]).collect();
    let wrong: Vec<String> = all.into_par_iter().filter_map(|(n, pools)| wrong(n, pools)).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The file of an answer, run as it is, has the share of bad requests that the plan says, under every policy: its warm-up,
/// its requests and its seed are those of the run that was judged.
#[test]
fn the_file_of_an_answer_gives_it_back_under_every_policy() {
    let text = |policy: &str, pools: &str| {
        format!(
            "pools = {pools:?}\ngoal = \"carry-load\"\nbad_rate = 0.02\nseeds = 2\nseed = 35\nprecision = 0.05\n\
             requests_per_model = 1500\nrunners_up = 0\npolicies = [{policy:?}]\ngrowth = 2.0\n\
             [[instance]]\nkind = \"k\"\nprice_usd_per_hour = 1.0\ncount_max = 12\n\
             [scenario]\n[[scenario.model]]\nname = \"m\"\nslo_ms = 97.8\n\
             latency = {{ affine = {{ alpha_ms = 0.644, beta_ms = 5.753 }} }}\n\
             [[scenario.app]]\nname = \"a\"\nmodel = \"m\"\n\
             [scenario.arrivals]\npoisson = {{ rate_per_s = 156.5 }}\n"
        )
    };
    let names: Vec<&'static str> =
        orrery_run::policies::all().map(|table| table.about.name).collect();
    let of = |(name, pools): (&'static str, &str)| {
        let (plan, source) = super::plan(&text(name, pools));
        // A policy that these machines are not for has no answer, and no file.
        let found = crate::solve(&plan, &source, None, false).ok()?;
        let best = found.answers[0].best()?.clone();
        let group = &found.problem.groups[0];
        let file = group
            .scenario_text(&found.problem, &best.counts, name, best.at_load.seen.requests)
            .unwrap();
        let scenario = Scenario::from_text("chosen.toml", &file).unwrap();
        let policy = &scenario.policies().unwrap()[0];
        let metrics = scenario.setup(35).unwrap().run(policy, 35).unwrap();
        let total = metrics.total();
        let bad = 1.0 - total.ended(End::InTime) as f64 / total.offered.max(1) as f64;
        Some((name, bad, best.at_load.bad_by_seed[0]))
    };
    let all: Vec<(&'static str, &str)> =
        names.iter().flat_map(|name| [(*name, "homogeneous"), (*name, "fleet")]).collect();
    let found: Vec<_> = all.into_par_iter().filter_map(of).collect();
    let wrong: Vec<_> = found.iter().filter(|(_, run, plan)| (run - plan).abs() > 0.002).collect();
    assert!(wrong.is_empty(), "policy, of its file's run, of the plan: {wrong:?}");
    let with_epochs = found.iter().filter(|(name, ..)| *name == "nexus-cluster").count();
    assert!(found.len() >= 20 && with_epochs > 0, "{}", found.len());
}
