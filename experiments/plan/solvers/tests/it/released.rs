//! Against what Kairos's authors published: the upper bound of every pool of every model, and the
//! pools that are picked by them. Everything must match: 1,655 bounds and five picks.

use super::common::{authors_space, pool};
use orrery_solvers::{PickedBy, Pool, Ranking, released};

const BOUNDS: &str = include_str!("../data/kairos_upper_bounds.csv");
const PICKS: &str = include_str!("../data/kairos_picks.csv");

/// What the authors print and ours agree to this share; they add in another order.
const ROUNDING: f64 = 1e-12;

fn rows(text: &'static str) -> Vec<Vec<&'static str>> {
    text.lines().skip(1).map(|line| line.split(',').collect()).collect()
}

fn counts(fields: &[&str]) -> Pool {
    let of = |i: usize| fields[i].parse().expect("a count");
    pool([0, 1, 2, 3].map(of))
}

fn number(field: &str) -> f64 {
    field.parse().expect("a number")
}

fn close(ours: f64, theirs: f64, what: &str) {
    assert!((ours - theirs).abs() <= ROUNDING * theirs, "{what}: {ours} is not {theirs}");
}

#[test]
fn all_1655_upper_bounds_and_their_order_are_the_authors() {
    let (space, rows) = (authors_space(), rows(BOUNDS));
    assert_eq!(rows.len(), 5 * 331);
    let mut compared = 0;
    for model in released::MODELS {
        let ranking = Ranking::new(&space, &released::ingredients(model).unwrap()).unwrap();
        let theirs: Vec<_> = rows.iter().filter(|r| r[0] == model).collect();
        assert_eq!(theirs.len(), ranking.order().len(), "{model}");
        for ((place, &i), row) in ranking.order().iter().enumerate().zip(theirs) {
            let what = format!("{model}, rank {}", row[1]);
            assert_eq!(row[1].parse(), Ok(place + 1), "{what}");
            assert_eq!(space.pools()[i], counts(&row[2..6]), "{what}");
            let cost = (space.costs()[i].as_usd_per_hour() * 1e3).round() / 1e3;
            assert_eq!(cost, number(row[6]), "{what}");
            close(ranking.bounds_per_s()[i], number(row[7]), &what);
            compared += 1;
        }
    }
    assert_eq!(compared, 1_655);
}

#[test]
fn the_five_picks_are_those_published() {
    let (space, rows) = (authors_space(), rows(PICKS));
    assert_eq!(rows.iter().map(|r| r[0]).collect::<Vec<_>>(), released::MODELS);
    for row in rows {
        let model = row[0];
        let ranking = Ranking::new(&space, &released::ingredients(model).unwrap()).unwrap();
        let (picked, by) = ranking.pick(&space);
        assert_eq!(space.pools()[picked], counts(&row[1..5]), "{model}");
        let place = ranking.order().iter().position(|i| *i == picked).unwrap();
        assert_eq!(row[5].parse(), Ok(place + 1), "{model}");
        let bound = ranking.bounds_per_s()[picked];
        close(bound, number(row[6]), model);
        let rule = match by {
            PickedBy::Agreement => "top3-same-base",
            PickedBy::Centre => "top10-min-sq-distance",
        };
        assert_eq!(rule, row[7], "{model}");
        // Beside it the homogeneous pool of four base instances, as it is and scaled to the budget, in
        // the digits that are printed.
        let four = pool([4, 0, 0, 0]);
        let at = space.position(&four).unwrap();
        let own = ranking.bounds_per_s()[at];
        let scaled = space.scaled_to_budget(own, space.costs()[at]);
        close(own, number(row[8]), model);
        assert_eq!(format!("{scaled:.3}"), row[9], "{model}");
        let ratio = (bound / scaled * 1e4).round() / 1e4;
        assert_eq!(ratio, number(row[10]), "{model}");
    }
}
