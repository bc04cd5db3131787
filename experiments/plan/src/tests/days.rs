//! Days that a cluster follows: of a trace with its own arrivals, and what happens scaling transitions.

use super::losses::first_sentence;
use super::{CLUSTERS, error, printed};
use crate::input::file::{PlanFile, Source};
use crate::input::problem::Problem;
use crate::input::trace_step::{Load, between};
use crate::search::answer::{Choice, money};
use crate::search::change_over::change_over;
use crate::search::runs::Runs;
use crate::search::size::Sized;
use crate::search::trial::Bench;
use crate::{Solved, Tried, Variant, solve};
use orrery_sim::request::Arrival;
use orrery_sim::time::Time;
use std::fmt::Write;
use std::path::PathBuf;

/// The days of a trace are counted from its own arrivals, and a cluster follows them.
#[test]
fn a_trace_is_followed_as_a_day() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/plans");
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
    let shown = printed(&found);
    assert!(shown.contains("each step of the trace") && shown.contains("over the day"), "{shown}");
    let wrong =
        CLUSTERS.replace("[scenario]", "[day]\nscale = \"peak\"\ntrace_steps = 6\n\n[scenario]");
    assert!(error(&wrong).contains("day.trace_steps"), "{}", error(&wrong));
}

/// Half a day at 2,000 requests/s and half without any, as a trace whose quiet minutes lie at its end, in its
/// middle or at its start: the same plan, but for when the machines are needed.
#[test]
fn quiet_minutes_of_a_trace_are_a_part_of_the_day_wherever_they_are() {
    let folder = std::env::temp_dir().join(format!("orrery-quiet-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let of = |name: &str, busy: &dyn Fn(usize) -> bool| {
        let labels: Vec<String> = (1..=24).map(|m| m.to_string()).collect();
        let calls = |m| if busy(m) { "240" } else { "0" };
        let counts: Vec<&str> = (0..24).map(calls).collect();
        let head = "HashOwner,HashApp,HashFunction,Trigger";
        let text = format!("{head},{}\na,b,c,http,{}\n", labels.join(","), counts.join(","));
        std::fs::write(folder.join(format!("{name}.csv")), text).unwrap();
        let plan = QUIET.replace("NAME", name);
        let path = folder.join(format!("{name}.toml")).display().to_string();
        let (plan, source) = PlanFile::from_text(&path, &plan).unwrap_or_else(|e| panic!("{e}"));
        let found = solve(&plan, &source, None, false).unwrap_or_else(|e| panic!("{e}"));
        let best = found.answers[0].best().unwrap();
        let mut sizes: Vec<u32> = best.sizes.iter().map(Sized::n).collect();
        sizes.dedup();
        let peak_per_s = found.answers[0].load_per_s;
        (sizes, peak_per_s, best.cost, found.problem.day.mean)
    };
    let at_the_end = of("end", &|m| m < 12);
    let in_the_middle = of("middle", &|m| !(6..18).contains(&m));
    let at_the_start = of("start", &|m| m >= 12);
    std::fs::remove_dir_all(&folder).unwrap();
    assert!((at_the_end.1 - 2_000.0).abs() < 1.0, "{at_the_end:?}");
    assert_eq!((at_the_end.0.as_slice(), at_the_end.3), ([3, 0].as_slice(), 0.5));
    assert_eq!((&at_the_end, &at_the_end), (&in_the_middle, &at_the_start));
}

/// A part of a trace has its own rate.
#[test]
fn a_part_of_a_trace_as_the_day_has_the_rate_of_that_part() {
    let folder = std::env::temp_dir().join(format!("orrery-part-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let head = "HashOwner,HashApp,HashFunction,Trigger,1,2,3,4";
    std::fs::write(folder.join("part.csv"), format!("{head}\na,b,c,http,480,240,0,0\n")).unwrap();
    let load = |limit: &str| {
        // 360 and 180 in each of 4 s at the trace's mean of 1,000 requests/s.
        let text = QUIET.replace("NAME", "part").replace("trace_steps = 24", "trace_steps = 2");
        let path = folder.join("part.toml").display().to_string();
        let (plan, source) = PlanFile::from_text(&path, &format!("{text}{limit}")).unwrap();
        Problem::new(&plan, &source).unwrap_or_else(|e| panic!("{e}")).groups[0].load_per_s
    };
    let near = |load: f64, expected: f64| assert!((load / expected - 1.0).abs() < 0.01, "{load}");
    near(load(""), 2_000.0);
    near(load("duration_s = 2.0"), 8_000.0 / 3.0);
    near(load("requests = 2666"), 8_000.0 / 3.0);
    std::fs::remove_dir_all(&folder).unwrap();
}

pub(super) const QUIET: &str = r#"
pools = "homogeneous"
goal = "carry-load"
bad_rate = 0.02
requests_per_model = 3000
seeds = 2
policies = ["symphony"]

[[instance]]
kind = "a"
price_usd_per_hour = 1.0
count_max = 40

[day]
scale = "follow"
start_up_s = 1800
trace_steps = 24

[scenario]
[[scenario.model]]
name = "m"
slo_ms = 60.0
latency = { affine = { alpha_ms = 1.0, beta_ms = 5.0 } }

[[scenario.app]]
name = "x"
model = "m"

[scenario.arrivals]
trace = { file = "NAME.csv", rate_per_s = 1000.0, inside = "even", compress = 60.0 }
"#;

/// A trace of 24 minutes of a second each, with these calls in each, and a plan over it.
pub(super) fn of_minutes(
    name: &str,
    calls: &dyn Fn(usize) -> u32,
    plan: &str,
) -> (PlanFile, Source) {
    let folder: PathBuf =
        std::env::temp_dir().join(format!("orrery-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let labels: Vec<String> = (1..=24).map(|m| m.to_string()).collect();
    let counts: Vec<String> = (0..24).map(|m| calls(m).to_string()).collect();
    let head = "HashOwner,HashApp,HashFunction,Trigger";
    let text = format!("{head},{}\na,b,c,http,{}\n", labels.join(","), counts.join(","));
    std::fs::write(folder.join(format!("{name}.csv")), text).unwrap();
    let path = folder.join(format!("{name}.toml")).display().to_string();
    PlanFile::from_text(&path, &plan.replace("NAME", name)).unwrap_or_else(|e| panic!("{e}"))
}

pub(super) fn answered((plan, source): &(PlanFile, Source)) -> Solved {
    solve(plan, source, None, false).unwrap_or_else(|e| panic!("{e}"))
}

pub(super) fn best(found: &Solved) -> &Choice {
    found.answers[0].best().unwrap_or_else(|| panic!("no answer: {:?}", found.answers[0].unknown))
}

/// Steps of four minutes with as many requests, evenly or all in one of the minutes: those take more machines, for one
/// size as for sizes that follow the load.
#[test]
fn a_burst_within_a_step_of_a_trace_takes_machines() {
    let steps = QUIET.replace("trace_steps = 24", "trace_steps = 6");
    let peak = steps.replace("scale = \"follow\"\nstart_up_s = 1800", "scale = \"peak\"");
    // The second half of the day has half the load.
    let half = |m: usize| if m < 12 { 2 } else { 1 };
    let even = |m: usize| 60 * half(m);
    let burst = |m: usize| if m % 4 == 1 { 240 * half(m) } else { 0 };
    for plan in [&steps, &peak] {
        let [even, burst] = [("even", &even as &dyn Fn(usize) -> u32), ("burst", &burst)]
            .map(|(name, calls)| answered(&of_minutes(name, calls, plan)));
        let days = [&even, &burst].map(|s| s.problem.day.levels.clone());
        assert_eq!(days[0], days[1], "the same loads");
        let n = [&even, &burst].map(|s| best(s).counts[0]);
        assert!(n[1] >= 2 * n[0], "{n:?} machines");
        let (p, group) = (&burst.problem, &burst.problem.groups[0]);
        let runs = Runs::new(None);
        let bench = Bench::new(p, group, &p.policies[0], &runs);
        // Each step with its own machines; the even ones are too few for any.
        for (level, size) in best(&burst).sizes.iter().enumerate() {
            let bad = |n: u32| bench.at(level).check(&[n], group.load_per_s).unwrap().bad_rate;
            assert!(bad(best(&burst).counts[0]) <= 0.02, "step of level {level}");
            assert!(bad(best(&even).sizes[level].n()) > 0.02, "step of level {level}");
            assert!(size.check.is_sure(0.02));
        }
    }
}

/// The step with the most requests comes evenly, another with fewer in bursts: that one decides.
#[test]
fn a_step_with_worse_bursts_than_the_peak_decides() {
    let plan = QUIET.replace("trace_steps = 24", "trace_steps = 6");
    let calls = |m: usize| match m {
        0..4 => 60,
        4..8 if m == 5 => 200,
        4..8 => 0,
        _ => 30,
    };
    let found = answered(&of_minutes("worse", &calls, &plan));
    let best = best(&found);
    assert_eq!((found.problem.day.begins(best.hardest), best.hardest), ("4:00".to_string(), 1));
    assert_eq!(best.counts[0], best.sizes[1].n());
    assert!(best.sizes[1].n() > best.sizes[0].n(), "{:?}", best.sizes);
    let said = printed(&found);
    assert!(said.contains("the one from 4:00, with 83.35 % of the peak's requests"), "{said}");
    // So does the headroom: what the peak's step alone would carry is more.
    let (p, runs) = (&found.problem, Runs::new(None));
    let peak = Bench::new(p, &p.groups[0], &p.policies[0], &runs).at(0);
    assert!(peak.edge(&best.counts).unwrap().rate_per_s > best.edge.rate_per_s * 1.2);
}

/// Where one size is for the whole day, a step may need many machines more than those before it.
#[test]
fn one_size_is_found_however_much_more_a_later_step_needs() {
    let plan = QUIET.replace("trace_steps = 24", "trace_steps = 6");
    let plan = plan.replace("rate_per_s = 1000.0", "rate_per_s = 6000.0");
    let peak = plan.replace("scale = \"follow\"\nstart_up_s = 1800", "scale = \"peak\"");
    let calls = |m: usize| match m {
        0..4 => 60,
        5 => 200,
        4..8 => 0,
        _ => 30,
    };
    let [follow, peak] = [plan, peak].map(|plan| answered(&of_minutes("more", &calls, &plan)));
    let sizes = &best(&follow).sizes;
    assert!(sizes[1].n() > sizes[0].n() + 9, "{} {}", sizes[0].n(), sizes[1].n());
    assert_eq!(best(&peak).counts, best(&follow).counts);
}

/// The steps one after the other are the whole trace, at its own load and at another, whether its counts grow or there are
/// more copies of the list or it is faster; copies keep the requests of each step.
#[test]
fn the_steps_together_are_the_whole_trace() {
    let list: String = (0..900_u64).map(|i| format!("{},1\n", i * i % 7 + 10 * i)).collect();
    for (name, replay) in [("counts", ""), ("list", "{}"), ("fast", "{ rate_by = \"speed\" }")] {
        let replayed = !replay.is_empty();
        let mut plan = QUIET.replace("trace_steps = 24", "trace_steps = 7");
        if replayed {
            let from = plan.find("trace = {").unwrap();
            plan.truncate(from);
            let _ = write!(plan, "queries = {{ file = \"list.csv\" }}\nreplay = {replay}\n");
        }
        let of = of_minutes(name, &|m| 60 + m as u32, &plan);
        if replayed {
            let head = "arrival_ms,size\n";
            let folder = std::path::Path::new(&of.1.path).parent().unwrap();
            std::fs::write(folder.join("list.csv"), format!("{head}{list}")).unwrap();
        }
        let problem = Problem::new(&of.0, &of.1).unwrap_or_else(|e| panic!("{e}"));
        let (day, group) = (&problem.day, &problem.groups[0]);
        let own = day.own.as_ref().unwrap();
        let mut counts = Vec::new();
        for more in [1.0, 2.0] {
            let rate = group.load_per_s * more;
            let setup = group.scenario(&problem, &[1], rate).unwrap().setup(3).unwrap();
            let mean = day.mean_per_s(rate);
            let loads = [Load::whole(&setup)];
            let whole = between(&loads, 3, (Time::ZERO, Time::NEVER)).unwrap();
            let count =
                |step| own.arrivals(&loads, step, (mean, 0), 3).unwrap().len() as f64 / more;
            counts.push((0..own.steps).map(count).collect::<Vec<f64>>());
            let steps: Vec<Arrival> = (0..own.steps)
                .flat_map(|step| {
                    let from = own.window(step, mean).0.since(Time::ZERO);
                    let all = own.arrivals(&loads, step, (mean, 0), 3).unwrap();
                    crate::input::trace_step::later(all, from).collect::<Vec<Arrival>>()
                })
                .collect();
            assert!(whole.len() > 500);
            assert_eq!(steps, whole, "{name} at {more}");
        }
        if name == "list" {
            assert_eq!(counts[0], counts[1]);
        }
        // Repeated: the list is the same again, a step's length later.
        let mean = day.mean_per_s(group.load_per_s);
        let setup = group.scenario(&problem, &[1], group.load_per_s).unwrap().setup(3).unwrap();
        let loads = [Load::whole(&setup)];
        let once = own.arrivals(&loads, 2, (mean, 0), 3).unwrap();
        let least = 2 * once.len() as u64;
        let twice = own.arrivals(&loads, 2, (mean, least), 3).unwrap();
        assert!(twice.len() as u64 >= least, "{} {least}", twice.len());
        assert_eq!(twice[..once.len()], once);
        let (from, to) = own.window(2, mean);
        if replayed {
            let again: Vec<Arrival> =
                crate::input::trace_step::later(once.clone(), to.since(from)).collect();
            assert_eq!(twice[once.len()..], again);
        }
    }
}

/// When the machines change, how many of the first type there were before, and what came of it.
pub(super) fn transitions(all: &[Tried]) -> impl Iterator<Item = (u64, u32, &Tried)> {
    all.iter().filter_map(|tried| match &tried.variant {
        Variant::Transition { at_ms, from } => Some((*at_ms, from[0], tried)),
        _ => None,
    })
}

/// Where the size changes new machines are used from then on, and those that go are missed where they are needed.
#[test]
fn a_change_over_is_simulated_with_the_machines_that_come_and_go() {
    let of_profile = QUIET
        .replace("trace_steps = 24", "profile = [[0, 0.25], [8, 1.0], [20, 0.25]]")
        .replace("trace = { file = \"NAME.csv\", rate_per_s = 1000.0, inside = \"even\", compress = 60.0 }",
            "poisson = { rate_per_s = 2000.0 }");
    let of_trace = QUIET.replace("trace_steps = 24", "trace_steps = 3");
    let trace = of_minutes("change", &|m| if (8..20).contains(&m) { 120 } else { 30 }, &of_trace);
    for (name, plan) in [("profile", super::plan(&of_profile)), ("trace", trace)] {
        let found = answered(&plan);
        let (p, best) = (&found.problem, best(&found));
        let (few, many) = (best.sizes.last().unwrap().n(), best.counts[0]);
        assert!(few < many, "{name}: {:?}", best.sizes);
        let ways: Vec<(u32, u32)> =
            transitions(&best.tried).map(|c| (c.1, c.2.counts[0])).collect();
        assert!(ways.contains(&(few, many)), "{name}: {ways:?}");
        for (_, _, change) in transitions(&best.tried) {
            let check = change.check.as_ref().unwrap();
            assert!(check.bad_rate <= 0.05 && check.seen.requests > 100, "{name}: {change:?}");
        }
        let said = printed(&found);
        let is_said =
            |way: &(u32, u32)| said.contains(&format!("from {} a to {} a at ", way.0, way.1));
        assert!(ways.iter().any(is_said), "{name}: {said}");
        let rows = crate::document::rows::rows(std::slice::from_ref(&found)).unwrap();
        assert!(rows.iter().any(|r| r.metric == "worst_bad_rate_at_change"));
        // One machine for the peak is too few, and a fault of its step, not of the one before.
        let runs = Runs::new(None);
        let bench = Bench::new(p, &p.groups[0], &p.policies[0], &runs);
        let mut wrong = best.clone();
        wrong.sizes[0].counts = vec![1];
        wrong.sizes.iter_mut().skip(1).for_each(|size| size.counts = vec![many]);
        let changes = change_over(&bench, &wrong.sizes).unwrap();
        let at_the_peak =
            transitions(&changes).find(|c| (c.1, c.2.counts[0]) == (many, 1)).unwrap();
        assert!(at_the_peak.2.bad_rate(0.3).is_some(), "{name}: {at_the_peak:?}");
    }
}

/// What the peak's machines cost is said beside what the day costs.
#[test]
fn the_mean_price_of_a_day_is_not_said_to_be_that_of_the_peak_s_machines() {
    let steady = "poisson = { rate_per_s = 2000.0 }";
    let from = QUIET.find("trace = {").unwrap();
    let follow = format!("{}{steady}\n", &QUIET[..from])
        .replace("trace_steps = 24", "profile = [[0, 0.25], [8, 1.0], [20, 0.25]]");
    let peak = follow.replace("scale = \"follow\"\nstart_up_s = 1800", "scale = \"peak\"");
    let follow_text = follow.clone();
    let [follow, peak] = [&follow, &peak].map(|text| super::solved(text));
    let (p, best) = (&follow.problem, best(&follow));
    let [at_peak, mean] = [p.cost(&best.counts), best.cost].map(money);
    assert_ne!(at_peak, mean);
    let (words, policy) = (p.words(&best.counts), &best.policy);
    let said = first_sentence(&printed(&follow));
    let day = format!(
        "{words} under {policy} at the peak for {at_peak} $/h; the day costs {mean} $/h on average"
    );
    assert!(said.contains(&day), "{day}: {said}");
    assert!(said.contains(" a at the peak, "), "what the loss of a machine takes: {said}");
    let said = first_sentence(&printed(&peak));
    assert!(
        said.contains(&format!("{words} under {policy} for the whole day at {at_peak} $/h")),
        "{said}"
    );
    // In a week without a quiet day but the last the mean is higher.
    let week =
        follow_text.replace("profile = ", "hours = 168\nprofile = ").replace("[20, ", "[144, ");
    let week = super::solved(&week);
    let (said, cost) = (printed(&week), week.answers[0].best().unwrap().cost);
    assert!(cost > best.cost && cost < p.cost(&best.counts));
    for part in
        [&format!("the week costs {} $/h on average", money(cost)), "day 7 0:00", "over the week: "]
    {
        assert!(said.contains(part), "no `{part}` in:\n{said}");
    }
}

/// A warm-up of a whole step would leave nothing of it.
#[test]
fn a_warm_up_as_long_as_a_step_is_refused() {
    let text = QUIET.replace("[[scenario.model]]", "warm_up_s = 1.0\n[[scenario.model]]");
    let (plan, source) = of_minutes("warm", &|_| 60, &text);
    let error = Problem::new(&plan, &source).map(|_| ()).unwrap_err().to_string();
    for part in ["warm_up_s", "a step of the trace is 1 s", "trace_steps"] {
        assert!(error.contains(part), "no `{part}` in:\n{error}");
    }
}
