//! What is said of an answer that was found.

use super::{CLUSTERS, POOLS, printed, solved};
use crate::document::answers::Answers;
use crate::input::file::{PlanFile, Source};
use crate::search::solve::solve;
use crate::search::solved::Fleet;
use orrery_results::{Row, metric};
use orrery_scenario::scenario::file::LatencyLaw;
use orrery_solvers::Price;

/// What the searches found out about the edge is in the answer, with what to do.
#[test]
fn what_is_not_sure_of_an_edge_is_told() {
    let found = solved(POOLS);
    let told = |change: &dyn Fn(&mut crate::search::trial::Edge)| {
        let mut answer = found.answers[0].clone();
        answer.unknown.clear();
        change(&mut answer.choices[0].edge);
        answer.add_doubts(&found.problem, &found.problem.groups[0]);
        answer.unknown.join("\n")
    };
    let sure = told(&|_| ());
    for (word, change) in [
        (
            "raise `requests_per_model`",
            (|e| e.not_monotone = true) as fn(&mut crate::search::trial::Edge),
        ),
        ("metastable", |e| e.metastable = true),
        ("its capacity, 3.00 requests/s, is below the load", |e| e.rate_per_s = 3.0),
        ("the capacity was not found", |e| e.unbounded = true),
    ] {
        let text = told(&change);
        assert!(text.contains(word) && !sure.contains(word), "{word}: {sure} / {text}");
    }
}

/// A pool that carries nothing is no answer, and choices that carry the same by seed are tied.
#[test]
fn nothing_carried_is_no_answer_and_equals_are_tied() {
    let mut found = solved(POOLS);
    assert!(found.is_answered());
    let answer = &mut found.answers[0];
    let mut second = answer.choices[0].clone();
    answer.choices.truncate(1);
    assert_eq!(answer.tied().len(), 0);
    for (x, shift) in second.edge.by_seed_per_s.iter_mut().zip([-0.1, 0.1, 0.02]) {
        *x += shift;
    }
    answer.choices.push(second);
    assert_eq!(answer.tied().len(), 1, "within the difference of its seeds");
    for x in &mut answer.choices[1].edge.by_seed_per_s {
        *x += 10.0;
    }
    assert_eq!(answer.tied().len(), 0, "10 requests/s more with every seed");
    let best = &mut answer.choices[0];
    (best.edge.rate_per_s, best.mean_load) = (100.0, 1.0);
    let good = best.cost.usd_per_million(90.0);
    assert_eq!(best.usd_per_million_at_edge(0.1), good, "90 of 100 are good");
    (best.mean_load, best.at_load.good_share) = (0.5, 0.9);
    let paid = best.cost.usd_per_million(80.0 * 0.5 * 0.9);
    assert_eq!(best.usd_per_million_at_load(80.0), paid, "half of 80 on average, 9 of 10 good");
    assert_eq!(best.usd_per_million_at_edge(0.1), None, "over a day it is not used at its edge");
    for (rate, words) in
        [(0.0, ""), (60.0, "not trusted: its capacity, 60.0 requests/s, is below the load of 90.0")]
    {
        found.answers[0].choices[0].edge.rate_per_s = rate;
        assert!(!found.is_answered());
        let told = Answers::of(found.clone(), vec![]).unwrap();
        let text = told.document().to_text().replace("\n  ", " ");
        assert!(text.contains(words), "{text}");
        let bad = |r: &&Row| r.metric == metric::BAD_AT_LOAD && r.reason.contains("below the load");
        assert!(told.rows.iter().any(|r| bad(&r)), "a reason in each form");
    }
}

/// A batch of 32 takes little more than one of 8: a scheduler that stops there is said to.
#[test]
fn a_scheduler_whose_batches_end_early_is_said_to() {
    let text = CLUSTERS
        .replace("alpha_ms = 2.0, beta_ms = 5.0", "alpha_ms = 0.2, beta_ms = 12.0")
        .replace("rate_per_s = 700.0", "rate_per_s = 600.0")
        .replace("time = { constant = { ms = 7.0 } }", "time = { constant = { ms = 12.2 } }");
    let of = |text: &str| printed(&solved(text));
    let [few, many] =
        [of(&text), of(&text.replace("\"clockwork\"", "\"clockwork[max_batch=64,sizes=all]\""))];
    let says = ": its batches end at 8 (`max_batch`), those of symphony had up to ";
    assert!(few.contains("clockwork sustains ") && few.contains(says), "{few}");
    assert!(!many.contains("its batches end at "), "{many}");
}

/// The remedy for a key that a plan does not have is one that it has.
#[test]
fn a_key_of_the_scenario_is_named_in_full() {
    let (_, source) = super::plan(CLUSTERS);
    let with = |source: &Source, key: &str| {
        PlanFile::with(source, &[(key.to_string(), toml::Value::Integer(60))])
            .map_err(|e| e.to_string())
    };
    for key in ["model.slo_ms", "model.m.slo_ms", "model[0].slo_ms", "scenario.model.slo_ms"] {
        let error = with(&source, key).unwrap_err();
        assert!(error.contains("remedy: set `scenario.model.m.slo_ms`"), "{error}");
    }
    assert!(with(&source, "scenario.model.m.slo_ms").is_ok());
    let from = CLUSTERS.find("[scenario]").unwrap();
    let text = format!("scenario_file = \"other.toml\"\n{}", &CLUSTERS[..from]);
    let error = with(&super::plan(&text).1, "model.m.slo_ms").unwrap_err();
    assert!(error.contains("write it in \"other.toml\""), "{error}");
}

/// Where no fleet costs less than 2 $/h, one of 3 is at most a half above the cheapest.
#[test]
fn a_fleet_is_as_far_above_the_cheapest_as_its_bound_says() {
    let three = Some(Price::usd_per_hour("a fleet", 3.0).unwrap());
    let gap = |bound: f64| Fleet { cost: three, split_usd: Some(bound), ..Fleet::default() }.gap();
    assert_eq!((gap(2.0), gap(3.0), gap(4.0), gap(0.0)), (Some(0.5), Some(0.0), Some(0.0), None));
}

/// With `latency` 2 times as long, each batch of each law takes twice as long.
#[test]
fn every_law_s_batches_get_longer_alike() {
    let law = |text: &str| -> LatencyLaw { toml::from_str(text).unwrap() };
    for (before, after) in [
        (
            "affine = { alpha_ms = 1.0, beta_ms = 3.0 }",
            "affine = { alpha_ms = 2.0, beta_ms = 6.0 }",
        ),
        ("eq3 = { c0_ms = 2.0, c1 = 0.7 }", "eq3 = { c0_ms = 4.0, c1 = 1.4 }"),
        (
            "poly = { c0_ms = 2.0, c1 = 0.7, c2_per_ms = 0.3 }",
            "poly = { c0_ms = 4.0, c1 = 1.4, c2_per_ms = 0.6 }",
        ),
        ("table = [[1, 3.0], [4, 5.0]]", "table = [[1, 6.0], [4, 10.0]]"),
        ("measured = [[1, [3.0, 4.0]], [2, [5.0]]]", "measured = [[1, [6.0, 8.0]], [2, [10.0]]]"),
    ] {
        assert_eq!(
            crate::input::perturbation::longer(&law(before), 2.0, "m").unwrap(),
            law(after),
            "{before}"
        );
    }
}

/// A target is refused by the number that stands in the file.
#[test]
fn a_wrong_target_is_named_as_it_is_written() {
    for (key, found) in
        [("percentile", "98"), ("finish_rate", "1.5"), ("percentile", "0.2"), ("bad_rate", "0.7")]
    {
        let text = super::CLUSTERS.replace("seeds = 3", &format!("{key} = {found}\nseeds = 3"));
        let error = super::error(&text);
        for word in [&format!("`{key}`"), &format!("found {found};"), &"such as 0.".to_string()] {
            assert!(error.contains(word.as_str()), "{word}: {error}");
        }
    }
}

/// A profile that is not fit to predict with is used all the same: the answer says so, and its rows.
#[test]
fn an_answer_by_an_unfit_profile_says_so() {
    let folder = std::env::temp_dir().join(format!("orrery-unfit-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let law = "{ affine = { alpha_ms = 2.0, beta_ms = 5.0 } }";
    let said = |verdict: &str| {
        let profile = format!(
            "orrery_profile = 1\nverdict = {verdict}\n[[model]]\nname = \"m\"\nlaw = {law}\n"
        );
        std::fs::write(folder.join("m.toml"), profile).unwrap();
        let text = CLUSTERS.replace(law, "{ profile = { file = \"m.toml\" } }");
        let path = folder.join("plan.toml").display().to_string();
        let (plan, source) = PlanFile::from_text(&path, &text).unwrap();
        let answers = Answers::of(solve(&plan, &source, None, false).unwrap(), vec![]).unwrap();
        let flagged = answers.rows.iter().any(|row| row.has_flag("unfit-profile"));
        let text = answers.document().to_text();
        assert_eq!(text.contains("unfit-profile: "), flagged, "{text}");
        flagged
    };
    assert_eq!([said("[]"), said("[\"busy\"]")], [false, true]);
}
