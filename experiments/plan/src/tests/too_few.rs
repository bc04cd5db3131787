//! What no scheduler can do with too few machines: by hand, and against what is simulated in small worlds.

use super::{CLUSTERS, POOLS, solved, solved_afresh};
use crate::Answers;
use crate::search::runs::Runs;
use crate::search::size::counts;
use crate::search::too_few::bounds;
use crate::search::trial::Bench;
use orrery_results::metric;
use orrery_sim::rng::Stream;

/// A machine serves a request in 10 ms, and so many in so many times as long: 450 requests/s need 4.46 of them for 99 %.
const BY_HAND: &str = r#"
pools = "homogeneous"
goal = "carry-load"
seeds = 3
requests_per_model = 3000
robust = []
policies = ["fifo[max_batch=1]"]

[[instance]]
kind = "g"
price_usd_per_hour = 1.0
count_max = 9

[scenario]
arrivals = { poisson = { rate_per_s = 450.0 } }

[[scenario.model]]
name = "m"
slo_ms = 40.0
latency = { table = [[1, 10.0]] }

[[scenario.app]]
name = "a"
model = "m"
time = { constant = { ms = 10.0 } }
"#;

fn words(all: &Answers) -> String {
    all.document().to_text().split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn four_machines_of_100_requests_per_second_are_too_few_for_450() {
    for (limit, is_answered) in [("9", true), ("4", false)] {
        let found = solved(&BY_HAND.replace("count_max = 9", &format!("count_max = {limit}")));
        let answer = &found.answers[0];
        assert_eq!(found.is_answered(), is_answered);
        assert!(answer.best().is_none_or(|best| best.counts[0] > 4));
        let [few] = answer.too_few.as_slice() else { panic!("{:?}", answer.too_few) };
        assert_eq!((few.n, few.bounds.len()), (4, 3), "{few:?}");
        for bound in &few.bounds {
            // 400/s of what arrives at 450/s for some 6.7 s, give or take chance, and what waits at the end.
            let rate = bound.finish_rate();
            assert!(bound.offered == 3000 && (0.85..0.93).contains(&rate), "{bound:?}");
        }
        let rates: f64 = few.bounds.iter().map(|bound| bound.finish_rate()).sum();
        let all = Answers::of(found.clone(), Vec::new()).unwrap();
        let row = all.rows.iter().find(|row| row.metric == metric::FINISH_RATE_BOUND).unwrap();
        assert_eq!((row.axis("place"), row.axis("pool")), (Some("too-few"), Some("4xg")));
        assert!((row.value.unwrap() - rates / 3.0).abs() < 1e-12 && row.samples == 9000);
        let text = words(&all);
        let says = "no scheduler sustains the load with 4 g: in none of 3 runs can more than ";
        assert!(
            text.contains(says) && text.contains("% be in time, and the goal is 99 %"),
            "{text}"
        );
    }
}

/// What cannot be said is said so, in text and rows; with one machine more than is proven the gap is closed; one machine
/// has none below it.
#[test]
fn without_a_proof_there_is_no_number() {
    let mut found = solved(BY_HAND);
    let few = &mut found.answers[0].too_few[0];
    (few.n, few.refused) = (0, Some("a closed loop".to_string()));
    few.bounds.clear();
    let all = Answers::of(found, Vec::new()).unwrap();
    let row = all.rows.iter().find(|row| row.metric == metric::FINISH_RATE_BOUND).unwrap();
    assert_eq!((row.value, row.reason.as_str()), (None, "a closed loop"));
    let text = words(&all);
    assert!(text.contains("whether another scheduler needs fewer g is not known: a closed loop"));
    let patient = BY_HAND.replace("450.0", "380.0").replace("slo_ms = 40.0", "slo_ms = 400.0");
    let text = words(&Answers::of(solved(&patient), Vec::new()).unwrap());
    assert!(text.contains("; so 4 g are the fewest for any scheduler."), "{text}");
    let one = solved(&BY_HAND.replace("450.0", "20.0"));
    assert_eq!(one.answers[0].best().unwrap().counts, [1]);
    assert!(one.answers[0].too_few.is_empty());
}

#[test]
fn other_forms_of_a_plan_are_not_about_a_number_of_machines() {
    let budget = CLUSTERS.replace("goal = \"carry-load\"", "budget_usd_per_hour = 1.8");
    let fleet = BY_HAND.replace("homogeneous", "fleet");
    let day = format!("{BY_HAND}\n[day]\nscale = \"peak\"\nprofile = [[0, 0.5], [8, 1.0]]\n");
    for text in [POOLS, &budget, &fleet, &day] {
        let found = solved(text);
        assert!(found.answers.iter().all(|answer| answer.too_few.is_empty()), "{text}");
    }
}

/// A small world and its plan.
fn world(stream: &mut Stream) -> String {
    let mut of = |some: &[&str]| some[stream.below(some.len() as u64) as usize].to_string();
    let text = CLUSTERS
        .replace("seeds = 3", &format!("seeds = {}\nrobust = []", of(&["2", "3"])))
        .replace("2000", &of(&["500", "1500", "3000"]))
        .replace("\"symphony\", \"clockwork\"", &of(&["\"nexus\"", "\"eager\"", "\"symphony\""]))
        .replace("700.0", &of(&["400.0", "900.0", "1300.0", "1800.0"]))
        .replace("40.0", &of(&["15.0", "25.0", "60.0"]))
        .replace("alpha_ms = 2.0", &of(&["alpha_ms = 0.5", "alpha_ms = 2.0", "alpha_ms = 5.0"]))
        .replace("count_max = 6", &of(&["count_max = 5", "count_max = 12"]));
    let second = "[[scenario.model]]\nname = \"n\"\nslo_ms = 80.0\n\
                  latency = { affine = { alpha_ms = 4.0, beta_ms = 1.0 } }\n\
                  [[scenario.app]]\nname = \"b\"\nmodel = \"n\"\ntime = { constant = { ms = 5.0 } }\n";
    let noise = "[scenario]\nnoise = { lognormal = 0.05 }\n";
    match stream.below(4) {
        0 => format!("{text}\n{second}"),
        1 => text.replace("[scenario]\n", noise),
        _ => text,
    }
}

/// With a number of machines that is proven too few, no simulation meets the goal; and it is the largest such number.
#[test]
fn what_is_too_few_for_any_scheduler_is_too_few_for_the_plan_s() {
    let (mut proven, mut open) = (0, 0);
    for case in 0..12 {
        let text = world(&mut Stream::named(case, "too few", 0));
        let found = solved_afresh(&text);
        let (p, answer, runs) = (&found.problem, &found.answers[0], Runs::new(None));
        let (group, target) = (&p.groups[0], p.plan.target());
        for few in &answer.too_few {
            let own = answer.choices.iter().map(|choice| choice.counts[few.kind]);
            let least = own.filter(|n| *n > 0).min();
            assert!(least.is_none_or(|least| few.n < least), "{few:?}\n{text}");
            let is_proven = |n: u32| {
                let all = bounds(p, group, &counts(p, few.kind, n), &p.seeds()).unwrap();
                all.iter().all(|bound| bound.finish_rate() < 1.0 - target)
            };
            // Nor does the bound contradict what was simulated.
            assert!(least.is_none_or(|least| !is_proven(least)), "{few:?}\n{text}");
            if few.n < p.counts_max[few.kind] {
                assert!(!is_proven(few.n + 1), "{few:?}\n{text}");
                open += 1;
            }
            if few.n == 0 {
                continue;
            }
            proven += 1;
            let bench = Bench::new(p, group, &p.policies[0], &runs);
            let check = bench.check(&counts(p, few.kind, few.n), group.load_per_s).unwrap();
            assert!(is_proven(few.n) && !check.meets(target), "{few:?}\n{check:?}\n{text}");
        }
    }
    assert!(proven >= 8 && open >= 8, "{proven} {open}");
}
