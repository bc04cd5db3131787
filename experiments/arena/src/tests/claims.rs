use crate::claims::{Headlines, Judged, judge, rows};
use crate::fight::{Asked, Fought};
use crate::league::League;
use crate::suite::Suite;
use orrery_reproduce::claims::Verdict;
use orrery_reproduce::numbers::is_at;
use orrery_results::{Row, is_metric, metric, system_of};
use orrery_run::{PolicySpec, policies};
use orrery_sweep::replication::{Measure, Replication};

fn headlines() -> Headlines {
    Headlines::of("2026.1").expect("a file").expect("headlines")
}

#[test]
fn every_headline_names_regimes_policies_and_metrics_that_there_are() {
    let (all, suite) = (headlines(), Suite::find("2026.1").expect("the suite"));
    assert_eq!(all.suite, suite.name);
    assert!(Headlines::of("my-suite").expect("no file").is_none());
    let scenarios = |at: &str| {
        let row = |axes: &str| Row { axes: axes.to_string(), ..Row::default() };
        suite.scenarios.iter().filter(|a| is_at(&row(&a.axes), at)).count()
    };
    for regime in &all.regime {
        assert!(scenarios(&regime.at) > 0, "{regime:?}");
    }
    let is_policy = |name: &str| policies::all().any(|t| t.about.name == name);
    let mut ids: Vec<&str> = all.headline.iter().map(|h| h.id.as_str()).collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), all.headline.len());
    for h in &all.headline {
        assert!(is_policy(&h.claim.of), "{h:?}");
        assert!(h.claim.over.is_empty() || is_policy(&h.claim.over), "{h:?}");
        assert!(
            is_metric(&h.claim.metric) && !h.source.is_empty() && h.claim.at.is_empty(),
            "{h:?}"
        );
        assert!(h.own.is_empty() != h.not_asked.is_empty(), "{h:?}");
        for own in &h.own {
            let regime = all.regime.iter().find(|r| r.name == *own).expect("a regime");
            assert!(scenarios(&format!("{};{}", regime.at, h.own_at)) > 0, "{h:?} {own}");
        }
    }
}

/// A league of made-up finish rates, with a little luck that all share.
fn league(suite: Suite, seeds: u32, made: &[(&str, f64)]) -> (League, Vec<Judged>) {
    let policies = made.iter().map(|m| PolicySpec::parse(m.0).expect("a policy")).collect();
    let cell = |axes: &str, (name, rate): (&str, f64)| {
        let run = |i: u32| {
            let value = rate * (1.0 - 0.01 * f64::from(i));
            let of = |metric: &str| Measure::of("all", metric, value, 100);
            let measures = [metric::ARENA_SCORE, metric::FINISH_RATE, metric::GOODPUT].map(of);
            Replication {
                seed: 1 + u64::from(i),
                measures: measures.into(),
                ..Replication::default()
            }
        };
        let place = Row {
            system: system_of(name).into(),
            policy: name.into(),
            axes: axes.into(),
            ..Row::default()
        };
        Fought { place, runs: (0..seeds).map(run).collect(), reason: String::new() }
    };
    let row = |a: &crate::suite::Asked| made.iter().map(|m| cell(&a.axes, *m)).collect();
    let cells = suite.scenarios.iter().map(row).collect();
    let league = League::of(Asked::of(suite, policies, seeds), vec![], cells);
    let verdicts = judge(&league, &crate::rows::of(&league)).expect("verdicts");
    (league, verdicts)
}

fn of<'a>(verdicts: &'a [Judged], headline: &str, regime: &str) -> &'a Judged {
    let is = |j: &&Judged| j.headline.id == headline && j.regime.name == regime;
    verdicts.iter().find(is).expect("one")
}

#[test]
fn a_headline_holds_where_the_numbers_say_so_and_nowhere_else() {
    let suite = Suite::find("2026.1").expect("the suite");
    let made =
        [("orloj", 0.9), ("clockwork", 0.3), ("clipper", 0.3), ("clipper[max_batch=4]", 0.9)];
    let (league, judged) = self::league(suite.clone(), 5, &made);
    let hidden = of(&judged, "orloj-clockwork", "hidden");
    assert!(hidden.is_own && hidden.checked.verdict == Verdict::Holds, "{hidden:?}");
    assert!((hidden.value().expect("a ratio") - 3.0).abs() < 1e-9);
    // Only the tight ones there; elsewhere all of the regime.
    assert_eq!(hidden.checked.cells.len(), 3);
    let clusters = of(&judged, "orloj-clockwork", "clusters");
    assert!(!clusters.is_own && clusters.checked.cells.len() == 12, "{clusters:?}");
    // A value, not a ratio; a setting of one's own is not what a paper speaks of.
    assert_eq!(of(&judged, "clockwork-target", "thousands").checked.verdict, Verdict::DoesNotHold);
    let clipper = of(&judged, "clockwork-clipper", "constant");
    assert!(
        clipper.checked.verdict == Verdict::Holds && clipper.value() == Some(1.0),
        "{clipper:?}"
    );
    // Nexus did not run; rates were not searched for; what the suite cannot ask says why.
    assert_eq!(of(&judged, "orloj-nexus", "hidden").checked.verdict, Verdict::NotRun);
    let rate = &of(&judged, "nexus-clipper", "clusters").checked;
    assert!(rate.verdict == Verdict::NotJudged && rate.why.contains("--goodput"), "{rate:?}");
    let never = &of(&judged, "alpaserve", "clusters").checked;
    assert!(never.verdict == Verdict::NotJudged && never.why.contains("divided"), "{never:?}");
    let json = crate::rows::json(&league, None, crate::claims::json(&judged));
    assert_eq!(json["claims"][0]["came_out"]["verdict"], "holds", "{json:#}");
    // As rows: one for each, with the verdict.
    let rows = rows(&league, &judged);
    assert_eq!(rows.len(), headlines().headline.len() * headlines().regime.len());
    let read = orrery_results::read_rows("a", &orrery_results::to_csv(&rows)).expect("rows");
    let row = |r: &&Row| r.case == "orloj-clockwork" && r.axis("regime") == Some("hidden");
    let row = read.iter().find(row).expect("a row");
    assert_eq!(
        (row.flags.as_str(), row.paper, row.axis("regime_is")),
        ("holds", Some(1.51), Some("own"))
    );
    assert!(read.iter().all(|r| r.value.is_some() == r.reason.is_empty()));
}

#[test]
fn what_was_left_out_is_not_judged_and_says_what_was() {
    let suite = Suite::find("2026.1").expect("the suite");
    let made = [("orloj", 0.9), ("clockwork", 0.3)];
    let verdict = |suite: Suite, seeds| {
        let (_, judged) = league(suite, seeds, &made);
        let own = of(&judged, "orloj-clockwork", "hidden").checked.clone();
        (own.verdict, own.why)
    };
    assert_eq!(verdict(suite.clone(), 4), (Verdict::NotJudged, "4 of 5 seeds".to_string()));
    let (quick, why) = verdict(suite.clone().quick(), 5);
    assert!(quick == Verdict::NotRun || why.contains("of its 3 cells were run"), "{quick:?} {why}");
    let (league, judged) = league(suite.quick(), 5, &made);
    let text = crate::document::document(&league, None, &judged).to_text();
    assert!(text.contains("headlines are not judged anywhere"), "{text}");
}

#[test]
fn where_the_other_finishes_nothing_the_ratio_is_infinite() {
    let suite = Suite::find("2026.1").expect("the suite");
    let (league, judged) = league(suite, 5, &[("orloj", 0.9), ("clockwork", 0.0)]);
    let hidden = of(&judged, "orloj-clockwork", "hidden");
    assert_eq!((hidden.checked.verdict, hidden.value()), (Verdict::Holds, Some(f64::INFINITY)));
    let rows = rows(&league, &judged);
    let row =
        rows.iter().find(|r| r.case == "orloj-clockwork" && r.axis("regime") == Some("hidden"));
    assert!(row.is_some_and(|r| r.value.is_none() && r.reason.contains("finite")), "{row:?}");
    let text = crate::document::document(&league, None, &judged).to_text();
    assert!(text.contains("infinite: the other finishes nothing"), "{text}");
}
