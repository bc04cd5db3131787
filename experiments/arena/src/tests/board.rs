use crate::board::{Board, Standing};

/// A score for each seed around a mean, the same luck for all policies.
fn scores(mean: f64) -> Option<Vec<f64>> {
    Some([-0.02, 0.01, 0.0, 0.02, -0.01].iter().map(|luck| mean + luck).collect())
}

fn board(rows: &[&[Option<f64>]]) -> Board {
    let policies = rows[0].len();
    Board {
        names: (0..policies).map(|p| format!("p{p}")).collect(),
        beside: vec![false; policies],
        scores: rows.iter().map(|row| row.iter().map(|m| m.and_then(scores)).collect()).collect(),
    }
}

#[test]
fn luck_that_all_share_hides_no_lead() {
    let board = board(&[&[Some(0.80), Some(0.79), Some(0.3)]]);
    let best = board.best(&[0]).expect("a best");
    assert_eq!((best.best, best.tied.as_slice()), (0, &[][..]));
    let (next, behind) = best.next.expect("a next one");
    assert!(next == 1 && (behind - 0.01).abs() < 1e-12);
    let standing = |p| board.standing(0, p, &best).expect("a standing").0;
    assert_eq!(
        [standing(0), standing(1), standing(2)],
        [Standing::Leads, Standing::Behind, Standing::Collapses]
    );
}

#[test]
fn what_seeds_cannot_tell_apart_is_tied() {
    let mut board = board(&[&[Some(0.8), Some(0.79)]]);
    board.scores[0][1] = Some(vec![0.83, 0.75, 0.82, 0.76, 0.79]);
    let best = board.best(&[0]).expect("a best");
    assert_eq!(best.tied, [1]);
    assert_eq!(board.standing(0, 0, &best).expect("one").0, Standing::Tied);
    // A difference below a thousandth is no lead, however sure.
    let board = self::board(&[&[Some(0.8), Some(0.7995)]]);
    assert_eq!(board.best(&[0]).expect("a best").tied, [1]);
}

#[test]
fn a_policy_beside_the_league_is_never_the_best() {
    let mut board = board(&[&[Some(0.5), Some(0.9)]]);
    board.beside[1] = true;
    assert_eq!(board.best(&[0]).expect("a best").best, 0);
    let league = board.league();
    assert_eq!((league[0].policy, league[0].place.map(|p| p.place)), (0, Some(1)));
    assert_eq!(league[1].place, None);
    assert!((league[1].behind + 0.4).abs() < 1e-12, "ahead of the best");
}

#[test]
fn only_who_ran_everything_has_a_place() {
    let rows: [&[Option<f64>]; 3] = [
        &[Some(0.9), Some(0.8), None],
        &[Some(0.7), Some(0.8), None],
        &[Some(0.5), Some(0.4), Some(0.6)],
    ];
    let league = board(&rows).league();
    let of = |p: usize| league.iter().find(|l| l.policy == p).expect("a line");
    assert_eq!((of(2).ran, of(2).place, of(2).leads), (1, None, 1));
    // Distances: 0, .1, .1 and .1, 0, .2.
    assert!((of(0).behind - 0.2 / 3.0).abs() < 1e-12 && (of(1).behind - 0.1).abs() < 1e-12);
    let places = [of(0).place.expect("a place"), of(1).place.expect("a place")];
    assert_eq!([places[0].by_seeds, places[1].by_seeds], [(1, 1), (2, 2)]);
    // Three scenarios with the lead going to and fro say nothing of others.
    assert_eq!([places[0].by_scenarios, places[1].by_scenarios], [(1, 2), (1, 2)]);
}

#[test]
fn places_do_not_depend_on_the_order_of_policies() {
    let means = [0.9, 0.2, 0.6, 0.6, 0.4];
    let row = |order: &[usize]| order.iter().map(|p| Some(means[*p])).collect::<Vec<_>>();
    let orders = [vec![0, 1, 2, 3, 4], vec![4, 3, 2, 1, 0]];
    let behind = |order: &Vec<usize>| {
        let board = board(&[&row(order)]);
        let mut all: Vec<(usize, String)> = board
            .league()
            .iter()
            .map(|l| {
                (order[l.policy], format!("{:.9} {:?}", l.behind, l.place.map(|p| p.by_seeds)))
            })
            .collect();
        all.sort();
        all
    };
    assert_eq!(behind(&orders[0]), behind(&orders[1]));
}
