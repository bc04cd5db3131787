//! The scores of all shipped policies on a sixth of the suite: a change of one is a diff to review.

use crate::fight::{Asked, How, Outcome, fight};
use crate::league::League;
use crate::possible;
use crate::suite::Suite;
use orrery_results::metric;
use orrery_run::{PolicySpec, policies};
use std::fmt::Write as _;
use std::path::Path;

#[test]
fn the_scores_of_the_shipped_policies_are_those_that_were_looked_at() {
    let parse = |name: &str| PolicySpec::parse(name).expect("a policy");
    let policies: Vec<PolicySpec> = policies::all().map(|t| parse(t.about.name)).collect();
    let asked = Asked::of(Suite::find("2026.1").expect("the suite").quick(), policies, 2);
    let Outcome::Whole(mut cells) = fight(&asked, &How::default()).expect("a fight") else {
        panic!("not whole")
    };
    let mut text = String::from("scenario,policy,score,reason\n");
    for (asked, row) in asked.suite.scenarios.iter().zip(&cells) {
        for cell in row {
            let (name, policy) = (&asked.name, &cell.place.policy);
            let score = cell.values(metric::ARENA_SCORE).map(|v| (v[0] + v[1]) / 2.0);
            let score = score.map_or(String::new(), |s| format!("{s:.9}"));
            let _ = writeln!(text, "{name},{policy},{score},{}", cell.reason);
        }
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/tests/quick.csv");
    if std::env::var_os("ORRERY_UPDATE").is_some() {
        std::fs::write(&path, &text).expect("a file");
    }
    let found = std::fs::read_to_string(&path).unwrap_or_default();
    for (now, before) in text.lines().zip(found.lines()) {
        assert_eq!(
            now, before,
            "ORRERY_UPDATE=1 cargo test --release -p orrery-arena -- looked_at"
        );
    }
    assert_eq!(text.lines().count(), found.lines().count());
    // Nobody finishes more than any scheduler can, in any run.
    assert!(possible::add(&asked, &mut cells, &How::default()).expect("bounds"));
    for (s, row) in cells.iter().enumerate() {
        for cell in row {
            let Some(rates) = cell.values(metric::FINISH_RATE) else { continue };
            let bounds = cell.values(metric::FINISH_RATE_BOUND).expect("a bound of each seed");
            let is_below = rates.iter().zip(&bounds).all(|(rate, bound)| rate <= bound);
            assert!(is_below, "{}: {rates:?} {bounds:?}", asked.suite.scenarios[s].name);
        }
    }
    // Nobody beats the one that knows every execution time where one GPU's requests vary much.
    let league = League::of(asked, vec![], cells);
    assert!(
        (0..league.names.len()).all(|p| league.of_the_possible(p).is_some_and(|of| of.0 <= 1.0))
    );
    let oracle = league.names.iter().position(|n| n == "oracle").expect("the oracle");
    assert!(
        league.lines.iter().all(|l| l.policy != oracle || (l.behind < 0.0 && l.place.is_none()))
    );
}
