//! A trace's day where pools have some of the models: fleets, and pools of several types.

use super::days::{answered, best, of_minutes, transitions};
use super::{all_pools, printed};
use crate::input::file::{PlanFile, Source};
use crate::input::problem::{Group, Problem};
use crate::input::trace_step::{Load, between};
use crate::search::runs::Runs;
use crate::search::size::Sized;
use crate::search::trial::Bench;
use orrery_sim::request::Arrival;
use orrery_sim::time::{Span, Time};
use std::fmt::Write;

/// Two models, of which one has three times the requests.
const TWO: &str = r#"
pools = "fleet"
goal = "carry-load"
bad_rate = 0.02
requests_per_model = 1000
seeds = 2
policies = ["symphony"]
runners_up = 0

[[instance]]
kind = "k"
price_usd_per_hour = 1.0
count_max = 30

[day]
scale = "follow"
trace_steps = 6

[scenario]
[[scenario.model]]
name = "small"
slo_ms = 60.0
latency = { affine = { alpha_ms = 1.0, beta_ms = 5.0 } }

[[scenario.model]]
name = "large"
slo_ms = 80.0
latency = { affine = { alpha_ms = 2.0, beta_ms = 8.0 } }

[[scenario.app]]
name = "a"
model = "small"
weight = 3.0
time = { constant = { ms = 6.0 } }

[[scenario.app]]
name = "b"
model = "large"
time = { constant = { ms = 10.0 } }

[scenario.arrivals]
trace = { file = "NAME.csv", rate_per_s = 800.0, compress = 60.0 }
"#;

const TRACE: &str = "trace = { file = \"NAME.csv\", rate_per_s = 800.0, compress = 60.0 }";
const LIST: &str = "workload = { file = \"NAME.csv\", scenario_slos = true }\nreplay = {}";

/// A list of 24 s in which `small` comes all the time and `large` in the last third only, and a plan over it.
fn of_list(name: &str, plan: &str) -> (PlanFile, Source) {
    let (plan, source) = of_minutes(name, &|_| 1, &plan.replace(TRACE, LIST));
    let mut rows: Vec<(u64, u32, u64)> = (0..6_000).map(|i| (i * 4, 0, 6_000_000)).collect();
    rows.extend((0..2_000).map(|i| (16_001 + i * 4, 1, 10_000_000)));
    rows.sort_unstable();
    let mut text = "arrival_ns,app,model,size,slo_ns,alone_ns\n".to_string();
    for (ms, app, alone_ns) in rows {
        let _ = writeln!(text, "{},{app},{app},1,60000000,{alone_ns}", ms * 1_000_000);
    }
    let folder = std::path::Path::new(&source.path).parent().unwrap();
    std::fs::write(folder.join(format!("{name}.csv")), text).unwrap();
    (plan, source)
}

fn problem((plan, source): &(PlanFile, Source)) -> Problem {
    Problem::new(plan, source).unwrap_or_else(|e| panic!("{e}"))
}

/// What all pools would call an arrival.
fn known(group: &Group, a: &Arrival) -> (Time, String, u32, Span, Span) {
    (a.at, group.models[a.model.index()].clone(), a.size, a.slo, a.alone)
}

/// Without a day a list cannot be dealt out, and is not called damaged.
#[test]
fn a_list_of_several_models_is_a_day_where_pools_have_some_of_them() {
    let (day, end) = (TWO.find("[day]").unwrap(), TWO.find("[scenario]").unwrap());
    let without = TWO.replace(&TWO[day..end], "");
    for pools in ["fleet", "heterogeneous", "homogeneous"] {
        let policy = if pools == "heterogeneous" { "kairos" } else { "symphony" };
        let text = without.replace("\"fleet\"", &format!("{pools:?}")).replace("symphony", policy);
        let (plan, source) = of_list(&format!("undivided-{pools}"), &text);
        let found = Problem::new(&plan, &source).map(|_| ());
        if pools == "homogeneous" {
            assert!(found.is_ok(), "{found:?}");
            continue;
        }
        let error = found.unwrap_err().to_string();
        assert!(
            error.contains("arrivals.workload") && error.contains("trace_steps = 1"),
            "{error}"
        );
        // Of queries as well, which are dealt out by chance; the counts of a trace are for any models, which is said.
        let queries = LIST.replace("workload", "queries").replace(", scenario_slos = true", "");
        let name = format!("of-queries-{pools}");
        let (plan, source) = of_minutes(&name, &|_| 1, &text.replace(TRACE, &queries));
        let folder = std::path::Path::new(&source.path).parent().unwrap();
        std::fs::write(folder.join(format!("{name}.csv")), "arrival_ms,size\n1,1\n2,1\n").unwrap();
        let error = Problem::new(&plan, &source).map(|_| ()).unwrap_err().to_string();
        assert!(error.contains("arrivals.queries") && error.contains("trace_steps"), "{error}");
        let of_counts = problem(&of_minutes(&format!("of-a-trace-{pools}"), &|_| 60, &text));
        let said = crate::document::facts::not_modelled(&of_counts);
        assert!(said.contains("at its models' share of the load"), "{said}");
        let text =
            without.replace("[scenario]", "[day]\nscale = \"peak\"\ntrace_steps = 1\n\n[scenario]");
        let text = text.replace("\"fleet\"", &format!("{pools:?}")).replace("symphony", policy);
        let (plan, source) = of_list(&format!("one-step-{pools}"), &text);
        Problem::new(&plan, &source).unwrap_or_else(|e| panic!("{e}"));
    }
}

#[test]
fn what_pools_get_together_is_the_whole_trace() {
    let busy = |m: usize| 60 + 20 * (m as u32 % 5);
    for (name, is_list) in [("of-counts", false), ("of-rows", true)] {
        for pools in ["fleet", "heterogeneous"] {
            let of = |pools: &str| {
                let text = TWO.replace("pools = \"fleet\"", &format!("pools = {pools:?}"));
                let text = match pools {
                    "heterogeneous" => text.replace("follow", "peak").replace("symphony", "kairos"),
                    _ => text,
                };
                let name = format!("{name}-{pools}");
                problem(&if is_list {
                    of_list(&name, &text)
                } else {
                    of_minutes(&name, &busy, &text)
                })
            };
            let (whole, parts) = (of("homogeneous"), of(pools));
            let (own, trace) = (parts.day.own.as_ref().unwrap(), parts.trace.as_ref().unwrap());
            assert_eq!(parts.day.levels, whole.day.levels);
            let groups: Vec<Group> = match pools {
                "fleet" => ["small", "large"]
                    .map(|model| parts.groups[0].of_some(model, &[model]).unwrap())
                    .to_vec(),
                _ => parts.groups.clone(),
            };
            assert!(groups.len() == 2 && groups.iter().all(|group| group.is_trace));
            for times in [1.0, 1.5] {
                let all = &whole.groups[0];
                let rate = all.load_per_s * times;
                let setup = all.scenario(&whole, &[1], rate).unwrap().setup(3).unwrap();
                let mut seen = [0, 0];
                for step in 0..own.steps {
                    let window = own.window(step, whole.day.mean_per_s(rate));
                    assert_eq!(window, own.window(step, trace.mean_per_s(times)));
                    let expected = between(&[Load::whole(&setup)], 3, window).unwrap();
                    let mut expected: Vec<_> = expected.iter().map(|a| known(all, a)).collect();
                    let mut found = Vec::new();
                    for (group, seen) in groups.iter().zip(&mut seen) {
                        let theirs = between(&group.loads(trace, times, 3).unwrap(), 3, window);
                        let theirs = theirs.unwrap();
                        *seen += theirs.len();
                        found.extend(theirs.iter().map(|a| known(group, a)));
                    }
                    expected.sort();
                    found.sort();
                    assert_eq!(found, expected, "{name}, {pools}, {times} times, step {step}");
                }
                assert!(seen.iter().all(|n| *n > 1_000), "{seen:?}");
            }
        }
    }
}

/// All of the models on one kind are a cluster, whichever road it comes.
#[test]
fn a_fleet_of_one_kind_has_the_sizes_of_the_cluster() {
    // The fourth step has half the requests of the others, and all of them in one of its minutes.
    let calls = |m: usize| match m {
        12..16 if m == 13 => 120,
        12..16 => 0,
        _ => 60,
    };
    for scale in ["follow", "peak"] {
        let of = |pools: &str| {
            let text = TWO.replace("pools = \"fleet\"", &format!("pools = {pools:?}"));
            let text = text.replace("follow", scale);
            answered(&of_minutes(&format!("one-{pools}-{scale}"), &calls, &text))
        };
        let (cluster, fleet) = (of("homogeneous"), of("fleet"));
        let (a, b) = (best(&cluster), best(&fleet));
        assert!(a.hardest > 0, "{:?}", a.sizes);
        assert_eq!((&a.counts, a.cost, a.hardest), (&b.counts, b.cost, b.hardest));
        let sizes = |choice: &crate::search::answer::Choice| -> Vec<u32> {
            choice.sizes.iter().map(Sized::n).collect()
        };
        assert_eq!(sizes(a), sizes(b));
        assert_eq!(a.at_load.bad_by_seed, b.at_load.bad_by_seed);
        let [of_a, of_b] = [a, b].map(|choice| {
            let tried = transitions(&choice.tried).map(|t| (t.0, t.1, t.2.check.clone().unwrap()));
            tried.map(|(at, from, check)| (at, from, check.bad_rate)).collect::<Vec<_>>()
        });
        assert_eq!((&a.edge, &of_a), (&b.edge, &of_b));
        assert!(scale == "peak" || !of_a.is_empty());
        let said = printed(&fleet);
        for part in ["each step of the trace", "bursts beside the trace's own"] {
            assert!(said.contains(part), "no `{part}` in:\n{said}");
        }
    }
}

/// `small` and `large` have kinds of their own, and `large` has no request for most of the day.
#[test]
fn a_step_without_a_request_of_a_cluster_is_carried_by_one_machine() {
    let kinds = "kind = \"s\"\nprice_usd_per_hour = 1.0\ncount_max = 30\n\
                 latency_on = { small = { affine = { alpha_ms = 1.0, beta_ms = 5.0 } } }\n\n\
                 [[instance]]\nkind = \"l\"\nprice_usd_per_hour = 1.0\ncount_max = 30\n\
                 latency_on = { large = { affine = { alpha_ms = 6.0, beta_ms = 8.0 } } }\n";
    let text = TWO.replace("kind = \"k\"\nprice_usd_per_hour = 1.0\ncount_max = 30\n", kinds);
    let found = answered(&of_list("late", &text));
    let p = &found.problem;
    let large = p.groups.iter().position(|group| group.models == ["large"]).unwrap();
    let choice = found.answers[large].best().unwrap();
    for (level, size) in choice.sizes.iter().enumerate() {
        let begins = p.day.begins(level);
        match begins.as_str() {
            "16:00" | "20:00" => assert!(size.n() > 1 && size.check.is_sure(0.02), "{begins}"),
            _ => assert_eq!((size.n(), size.check.bad_rate), (1, 0.0), "{begins}"),
        }
    }
    let small = found.answers[1 - large].best().unwrap();
    assert!(small.sizes.iter().all(|size| size.n().abs_diff(small.sizes[0].n()) <= 1));
}

/// A model with a rate of its own comes as much more often; the others come as in the trace.
#[test]
fn a_rate_of_its_own_multiplies_a_model_s_counts() {
    let rates = |more: &str| TWO.replace("[[instance]]", &format!("{more}\n[[instance]]"));
    let problem_of = |name: &str, text: &str| problem(&of_minutes(name, &|_| 60, text));
    let plain = problem_of("plain", &rates(""));
    let own = problem_of("own", &rates("[rates_per_s]\nlarge = 400.0\n"));
    let arrivals = |p: &Problem, model: &str| {
        let group = p.groups[0].of_some(model, &[model]).unwrap();
        let trace = p.trace.as_ref().unwrap();
        let window = p.day.own.as_ref().unwrap().window(2, trace.mean_per_s(1.0));
        between(&group.loads(trace, 1.0, 5).unwrap(), 5, window).unwrap()
    };
    assert_eq!(arrivals(&plain, "small"), arrivals(&own, "small"));
    let [few, many] = [&plain, &own].map(|p| arrivals(p, "large").len() as f64);
    assert!((many / few - 2.0).abs() < 0.3, "{few} {many}");
    // Both together in one cluster, in order of time.
    let trace = own.trace.as_ref().unwrap();
    let window = own.day.own.as_ref().unwrap().window(2, trace.mean_per_s(1.0));
    let both = between(&own.groups[0].loads(trace, 1.0, 5).unwrap(), 5, window).unwrap();
    assert!(both.is_sorted_by_key(|a| a.at));
    assert_eq!(both.len(), arrivals(&own, "small").len() + arrivals(&own, "large").len());
    // A list says itself what its models have.
    let (plan, source) = of_list("rated", &rates("[rates_per_s]\nlarge = 400.0\n"));
    let error = Problem::new(&plan, &source).map(|_| ()).unwrap_err().to_string();
    for part in ["rates_per_s.large", "trace_steps", "remove it"] {
        assert!(error.contains(part), "no `{part}` in:\n{error}");
    }
}

/// The cheapest pool of several types that carries every step is the one that brute force finds, and bursts cost money.
#[test]
fn a_pool_of_several_types_carries_every_step_of_the_trace() {
    let text = super::POOLS
        .replace(
            "arrivals = { poisson = { rate_per_s = 90.0 } }",
            "arrivals = { trace = { file = \"NAME.csv\", rate_per_s = 60.0, compress = 60.0 } }",
        )
        .replace("[scenario]", "[day]\nscale = \"peak\"\ntrace_steps = 2\n\n[scenario]")
        .replace("seeds = 3", "seeds = 2")
        .replace("requests_per_model = 1500", "requests_per_model = 1000")
        .replace("[[scenario.app]]", OTHER);
    let even = |_: usize| 60_u32;
    // The second step has fewer requests, and all of them in three of its twelve minutes.
    let burst = |m: usize| match m {
        0..12 => 60_u32,
        _ if m.is_multiple_of(4) => 180,
        _ => 0,
    };
    let [even, burst] = [("even-pools", &even as &dyn Fn(usize) -> u32), ("burst-pools", &burst)]
        .map(|(name, calls)| answered(&of_minutes(name, calls, &text)));
    let mut burst_decides = false;
    for (found, is_even) in [(&even, true), (&burst, false)] {
        let (p, runs) = (&found.problem, Runs::new(None));
        assert!(p.trace.is_some());
        for (group, answer) in p.groups.iter().zip(&found.answers) {
            let bench = Bench::new(p, group, &p.policies[0], &runs);
            let load = group.load_per_s;
            let enough = |counts: &Vec<u32>| {
                let sure =
                    |step: &Bench<'_>| step.check(counts, load).unwrap().is_sure(p.plan.target());
                bench.steps().iter().all(sure)
            };
            let cheapest = all_pools(p).into_iter().filter(enough).map(|c| p.cost(&c)).min();
            assert!(cheapest.is_some(), "{}", group.name);
            assert_eq!(answer.best().map(|best| best.cost), cheapest, "{}", group.name);
            let best = answer.best().unwrap();
            let again = bench.at(best.hardest).check(&best.counts, load).unwrap();
            assert_eq!(again.bad_by_seed, best.at_load.bad_by_seed);
            burst_decides |= !is_even && p.day.begins(best.hardest) == "12:00";
        }
    }
    assert!(burst_decides);
    let costs = |found: &crate::Solved| -> Vec<_> {
        found.answers.iter().map(|a| a.best().unwrap().cost).collect()
    };
    let dearer = costs(&even).into_iter().zip(costs(&burst));
    assert!(dearer.clone().all(|(even, burst)| even <= burst));
    assert!(dearer.clone().any(|(even, burst)| even < burst), "{:?}", costs(&burst));
    let said = printed(&burst);
    assert!(said.contains("its worst step is the one from 12:00"), "{said}");
}

/// A second model beside that of `POOLS`.
const OTHER: &str = r#"[[scenario.model]]
name = "n"
slo_ms = 80.0
latency = { affine = { alpha_ms = 1.0, beta_ms = 2.0 } }
latency_on = { small = { affine = { alpha_ms = 4.0, beta_ms = 4.0 } } }

[[scenario.app]]
name = "b"
model = "n"
time = { constant = { ms = 1.0 } }
sizes = { normal = { mean = 10.0, sd = 5.0, max = 30 } }

[[scenario.app]]"#;
