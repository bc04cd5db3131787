//! What the search of a fleet knows and says on its way.

use super::super::known::{Knowledge, Under};
use super::super::not_sure;
use super::super::placement::Homes;
use super::*;
use orrery_solvers::fleet::{Assigned, Clusters};

/// Both models of [`FLEET`], as bits.
const BOTH: u64 = 0b11;
/// Its kinds by number.
const OLD: usize = 0;
const NEW: usize = 1;

fn with_knowledge(text: &str, look: impl FnOnce(&mut Knowledge<'_>)) {
    let (plan, source) = PlanFile::from_text("fleet.toml", text).expect("a plan");
    let problem = Problem::new(&plan, &source).expect("a problem");
    let (runs, whole) = (Runs::new(None), &problem.groups[0]);
    let homes = Homes::of(&problem, whole).expect("homes");
    look(&mut Knowledge::new(&problem, whole, &homes, &runs));
}

#[test]
fn a_cluster_needs_at_least_what_its_models_need_together() {
    with_knowledge(FLEET, |known| {
        let of_both: f64 = known.homes.needs.iter().filter_map(|model| model[NEW]).sum();
        assert!(of_both > 1.5, "{of_both}: one machine is no test");
        let least = known.problem.cost_of_kind(NEW, of_both.ceil() as u32);
        assert_eq!(known.least(NEW, BOTH), Some(least));
        assert_eq!(known.least(OLD, BOTH), None, "the large model is not at home there");
    });
}

#[test]
fn at_a_level_below_the_peak_a_cluster_is_smaller_before_it_is_verified() {
    let day = "[day]\nscale = \"follow\"\nprofile = [[0, 0.2], [8, 1.0], [20, 0.2]]\n\n[scenario]";
    with_knowledge(&FLEET.replace("[scenario]", day), |known| {
        known.ask(&[(NEW, BOTH)]).expect("simulations");
        let Some((_, Under::Sizes { sizes, .. })) = known.best((NEW, BOTH)) else {
            panic!("twelve are enough");
        };
        assert!(sizes[0] >= 2 * sizes[1], "{sizes:?}, at a fifth of the load");
    });
}

#[test]
fn a_cluster_that_may_be_smaller_is_said_unless_it_is_in_the_answer() {
    with_knowledge(FLEET, |known| {
        known.prepare(&[(NEW, BOTH)]).expect("a group");
        let group = known.group(BOTH).expect("it is prepared").clone();
        let runs = Runs::new(None);
        let bench = Bench::new(known.problem, &group, &known.problem.policies[0], &runs);
        let sizes = counts(known.problem, NEW, 12);
        let check = bench.check(&sizes, group.load_per_s).expect("a check");
        known.close.insert((NEW, BOTH), (7, check.clone()));
        known.close.insert((OLD, 0b01), (5, check));
        let best = Assigned { kind_of: vec![OLD, NEW], cost: Price::ZERO, proven: true };
        let lines = not_sure(known, &best);
        assert_eq!(lines.len(), 1, "{lines:?}");
        assert!(lines[0].starts_with("whether 7 new sustain small, large: "), "{lines:?}");
    });
}

/// However early it is cut off: where all models may be on one kind, there is an answer.
#[test]
fn a_search_that_is_cut_off_costs_no_more_than_all_models_on_one_kind() {
    let mut cut = 0;
    for seed in 0..8 {
        let short = "runners_up = 0\nevaluations_max = 1";
        let text = random(seed).replace("runners_up = 0", short);
        let found = solved(&text);
        let fleet = found.fleet.as_ref().expect("a fleet");
        cut += u32::from(!fleet.proven && fleet.cost.is_some());
        let (plan, _) = PlanFile::from_text("fleet.toml", &text).expect("a plan");
        for instance in &plan.instance {
            let kinds = random(seed);
            let (head, rest) = kinds.split_once("[[instance]]").expect("kinds");
            let (kinds, scenario) = rest.split_once("[scenario]").expect("a scenario");
            let is_it = |kind: &&str| kind.contains(&format!("kind = \"{}\"", instance.kind));
            let one = kinds.split("[[instance]]").find(is_it).expect("the kind");
            let alone = format!("{head}[[instance]]{one}[scenario]{scenario}");
            let read = PlanFile::from_text("fleet.toml", &alone).expect("a plan");
            // Not every kind is a home of all.
            let Ok(alone) = solve(&read.0, &read.1, None, false) else { continue };
            let Some(cost) = alone.fleet.as_ref().and_then(|fleet| fleet.cost) else { continue };
            assert!(fleet.cost.is_some_and(|own| own <= cost), "{seed}: {:?}", fleet.cost);
        }
    }
    assert!(cut > 1, "{cut} searches were cut off");
}

/// How far the answers of twelve models on four kinds are from their bounds, and how long they take; `ORRERY_FLEETS` of
/// them.
#[test]
#[ignore = "a minute each; it prints what docs/fleets.md says of twelve models"]
fn the_gap_of_twelve_models_on_four_kinds() {
    let most = std::env::var("ORRERY_FLEETS").ok().and_then(|n| n.parse().ok()).unwrap_or(5);
    for seed in 0..most {
        let mut stream = Stream::named(seed, "twelve models", 0);
        let text = drawn(&mut stream, (4, 12), 60);
        let text = text.replace("requests_per_model = 200", "requests_per_model = 2000");
        let text = text.replace("bad_rate = 0.05\nprecision = 0.1", "bad_rate = 0.01");
        let began = std::time::Instant::now();
        let found = solved(&text);
        let fleet = found.fleet.as_ref().expect("a fleet");
        let cost = fleet.cost.map(|cost| cost.as_usd_per_hour());
        println!(
            "fleet {seed}: {cost:?} $/h, at least {:.2?}; gap {:.1?} %; {} clusters, {} runs, {:.0?}",
            fleet.split_usd,
            fleet.gap().map(|gap| 100.0 * gap),
            fleet.asked,
            fleet.runs,
            began.elapsed()
        );
        println!("proven: {}; {}", fleet.proven, fleet.unknown.first().map_or("", |u| u.as_str()));
        assert!(cost.is_none_or(|cost| fleet.split_usd.is_none_or(|bound| bound <= cost)));
    }
}
