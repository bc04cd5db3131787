//! Eq. 9 to 15, the ranking and the pick, from the released ingredients.

use super::common::{authors_space, catalogue, pool, usd};
use orrery_solvers::{
    Auxiliary, Ingredients, PickedBy, PlannerError, Pool, Ranking, Space, auxiliary_bound_per_s,
    base_bound_per_s, released, upper_bound_per_s,
};
use std::collections::BTreeMap;

fn close(ours: f64, by_hand: f64) {
    assert!((ours - by_hand).abs() <= 1e-9 * by_hand, "{ours} is not {by_hand}");
}

fn bound(model: &str, counts: [u32; 4]) -> f64 {
    upper_bound_per_s(&released::ingredients(model).unwrap(), &pool(counts)).unwrap()
}

#[test]
fn eq_9_and_11_by_hand() {
    // Q_b = 30, Q_b(s+) = 10, Q_a = 20, f = 0.8: the base is offered 0.2 / 0.8 x 20 = 5, half of
    // what it can do. 20 / 0.8 = 25 and half of 30.
    close(auxiliary_bound_per_s(20.0, 0.8, 1.0, 30.0, 10.0), 40.0);
    // With Q_a = 40 the base is offered 10, all that it can do, and both formulae agree:
    close(auxiliary_bound_per_s(40.0, 0.8, 1.0, 30.0, 10.0), 50.0);
    close(base_bound_per_s(1.0, 10.0, 0.8), 50.0);
    // Eq. 12 and 13: u = 2, v = 3. 60 x 0.25 = 15 of 20; a quarter of 60 is left.
    close(auxiliary_bound_per_s(3.0 * 20.0, 0.8, 2.0, 30.0, 10.0), 75.0 + 15.0);
    close(base_bound_per_s(2.0, 10.0, 0.8), 100.0);
}

#[test]
fn eq_12_to_15_on_pools_computed_by_hand() {
    // Base instances alone: u Q_b.
    close(bound("rm2", [4, 0, 0, 0]), 60.16);

    // RM2, one g4dn and one r5n. f' = 0.984, t' = 0.941, s = 870.
    //   Qb(s+) = 15.04 x 0.016 / 0.059 = 4.0786440677966101695
    //   C      = 10.39 x 0.016 / 0.984 = 0.16894308943089430894        below u Qb(s+)
    //   slack  = 1 - C / Qb(s+)        = 0.95857861421034423110
    //   bound  = 10.39 / 0.984 + slack x 15.04
    //          = 10.558943089430894309 + 14.417022357723577236
    close(bound("rm2", [1, 0, 1, 0]), 24.975965447154);

    // RM2, (2, 0, 9, 0). u Qb(s+) = 8.1572881355932203390, A = 9 x 10.39 = 93.51,
    //   C      = 93.51 x 0.016 / 0.984 = 1.5204878048780487805
    //   slack  = 0.81360376394654903996
    //   bound  = 95.030487804878048780 + slack x 30.08
    close(bound("rm2", [2, 0, 9, 0]), 119.50368902439);

    // RM2, three auxiliary types: f' = 0.989, t' = 0.959, s = 910, all of the c5n.
    //   Qb(s+) = 15.04 x 0.011 / 0.041 = 4.0351219512195121951
    //   A      = 10.73 + 4 x 10.27 + 5 x 4.74 = 75.51                  (Q_a of each up to 910)
    //   C      = 75.51 x 0.011 / 0.989 = 0.83984833164812942366
    //   slack  = 0.79186544005335283867
    //   bound  = 76.349848331648129424 + slack x 15.04
    close(bound("rm2", [1, 1, 4, 5]), 88.25950455005);

    // MT-WND, (3, 0, 2, 1): the r5n is the larger, f' = 0.877, t' = 0.792, s = 470.
    //   Qb(s+) = 167.36 x 0.123 / 0.208 = 98.967692307692307692
    //   A      = 2 x 89.4 + 45.39 = 224.19
    //   C      = 224.19 x 0.123 / 0.877 = 31.442839224629418472
    //   slack  = 0.89409729413893618738, of 3 x 98.967692307692307692
    //   bound  = 255.63283922462941847 + slack x 502.08
    close(bound("mtwnd", [3, 0, 2, 1]), 704.5412086659);

    // DIEN, one g4dn and six or seven r5n: where the base becomes the bottleneck.
    //   Qb(s+) = 105.56 x 0.143 / 0.212 = 71.203207547169811321
    //   six:   C = 63.133582263710618436, slack = 0.11333232815548833736,
    //          bound = 378.36 / 0.857 + slack x 105.56
    //   seven: C = 73.655845974329054842, above Qb(s+): bound = Qb(s+) / 0.143 = 105.56 / 0.212
    close(bound("dien", [1, 0, 6, 0]), 453.4569428238);
    close(bound("dien", [1, 0, 7, 0]), 497.92452830188);
    assert_eq!(bound("dien", [1, 0, 7, 0]), bound("dien", [1, 0, 13, 0]), "more help no more");

    // DIEN, three auxiliary types and the base the bottleneck: 105.56 / (1 - 0.808).
    close(bound("dien", [1, 1, 9, 1]), 549.79166666666);
}

/// Eq. 14 and 15 once more, from the text of the table and in another order of operations.
fn plain(table: &BTreeMap<(String, String), Vec<String>>, model: &str, pool: &Pool) -> f64 {
    let names = ["g4dn.xlarge", "c5n.2xlarge", "r5n.large", "t3.xlarge"];
    let cells = |i: usize| &table[&(model.to_owned(), names[i].to_owned())];
    let number = |i: usize, column: usize| cells(i)[column].parse::<f64>().unwrap();
    let (u, base) = (f64::from(pool.0[0]), number(0, 3));
    let present: Vec<usize> = (1..4).filter(|i| pool.0[*i] > 0).collect();
    if present.is_empty() {
        return u * base;
    }
    let most = |column: usize| present.iter().map(|i| number(*i, column)).fold(0.0, f64::max);
    let (s, f, t) = (most(4), most(5), most(6));
    let rate = |i: usize| {
        let key = format!("{s}:");
        let at = cells(i)[7].split(' ').find_map(|pair| pair.strip_prefix(&key));
        at.expect("the limit is listed").parse::<f64>().unwrap()
    };
    let all: f64 = present.iter().map(|i| f64::from(pool.0[*i]) * rate(*i)).sum();
    // What arrives in total when the auxiliary instances are all busy, and what of it is large.
    let total = all / f;
    let large = total - all;
    let base_large = u * base * (1.0 - f) / (1.0 - t);
    if large >= base_large {
        u * base / (1.0 - t)
    } else {
        total + u * base * (1.0 - large / base_large)
    }
}

#[test]
fn all_331_pools_of_each_model_agree_with_a_plain_calculation() {
    let text = include_str!("../../data/kairos_allocator_profile.csv");
    let row = |line: &str| {
        let cells: Vec<String> = line.split(',').map(str::to_owned).collect();
        ((cells[0].clone(), cells[1].clone()), cells)
    };
    let table = text.lines().skip(1).map(row).collect();
    let space = authors_space();
    for model in released::MODELS {
        let ranking = Ranking::new(&space, &released::ingredients(model).unwrap()).unwrap();
        for (pool, ours) in space.pools().iter().zip(ranking.bounds_per_s()) {
            close(*ours, plain(&table, model, pool));
        }
        let mut order: Vec<f64> =
            ranking.order().iter().map(|i| ranking.bounds_per_s()[*i]).collect();
        assert!(order.is_sorted_by(|a, b| a >= b));
        // No two bounds differ by rounding alone, so the order does not hang on it.
        order.dedup();
        assert!(order.windows(2).all(|w| w[0] - w[1] > 1e-9 * w[0]), "{model}");
    }
}

/// Not so by construction: a type of a larger limit slows the others down. But it is what makes the
/// two prunings of Algorithm 1 agree.
#[test]
fn no_pool_has_a_higher_bound_than_one_that_it_is_a_sub_configuration_of() {
    let space = authors_space();
    let pools = space.pools();
    for model in released::MODELS {
        let ranking = Ranking::new(&space, &released::ingredients(model).unwrap()).unwrap();
        let bounds = ranking.bounds_per_s();
        let mut pairs = 0;
        for (i, pool) in pools.iter().enumerate() {
            for j in (0..pools.len()).filter(|j| pool.is_sub_of(&pools[*j])) {
                assert!(bounds[i] <= bounds[j] * (1.0 + 1e-12), "{model}: {pool} and {}", pools[j]);
                pairs += 1;
            }
        }
        assert!(pairs > 1_000);
    }
}

#[test]
fn pools_of_the_same_bound_stay_in_the_order_of_the_space() {
    let space = authors_space();
    let ranking = Ranking::new(&space, &released::ingredients("dien").unwrap()).unwrap();
    let bounds = ranking.bounds_per_s();
    let tied = |w: &[usize]| bounds[w[0]] == bounds[w[1]];
    let ties = ranking.order().windows(2).filter(|w| tied(w)).count();
    assert!(ties > 0, "there is nothing to see");
    assert!(ranking.order().windows(2).all(|w| !tied(w) || w[0] < w[1]));
}

#[test]
fn the_pool_picked_for_each_model() {
    let space = authors_space();
    let picks = [
        ("ncf", [1, 0, 13, 0], PickedBy::Agreement),
        ("rm2", [1, 0, 13, 0], PickedBy::Agreement),
        ("wnd", [1, 0, 13, 0], PickedBy::Agreement),
        ("mtwnd", [2, 0, 8, 1], PickedBy::Centre),
        ("dien", [2, 0, 9, 0], PickedBy::Agreement),
    ];
    for (model, counts, by) in picks {
        let ranking = Ranking::new(&space, &released::ingredients(model).unwrap()).unwrap();
        let (picked, why) = ranking.pick(&space);
        assert_eq!((&space.pools()[picked], why), (&pool(counts), by), "{model}");
    }
    // MT-WND by hand: the ten highest, and the squared distances of (2, 0, 8, 1) to the others:
    // (2,0,9,0) 2, (1,1,10,0) 7, (1,1,9,1) 3, (3,0,6,0) 6, (2,0,7,2) 2, (2,0,8,0) 1, (1,1,8,2) 3,
    // (1,1,9,0) 4, (3,0,5,1) 10; together 38.
    let ranking = Ranking::new(&space, &released::ingredients("mtwnd").unwrap()).unwrap();
    let top: Vec<&Pool> = ranking.order()[..10].iter().map(|i| &space.pools()[*i]).collect();
    let apart = |p: &Pool| top.iter().map(|q| p.squared_distance(q)).sum::<u64>();
    assert_eq!(apart(&pool([2, 0, 8, 1])), 38);
    assert_eq!(top.iter().filter(|p| apart(p) <= 38).count(), 1);
}

#[test]
fn three_pools_must_agree_and_ten_are_the_cluster() {
    // (1,0) (1,1) (1,2) (2,0) (2,1): three with one base instance first, then another number.
    let space = Space::within(&catalogue(&[(1.0, 2), (0.4, 2)]), usd(2.5)).unwrap();
    assert_eq!(space.pools().len(), 5);
    let agreeing = Ranking::of_bounds(&space, vec![3.0, 4.0, 5.0, 2.0, 1.0]).unwrap();
    assert_eq!(agreeing.pick(&space), (2, PickedBy::Agreement));
    let third_differs = Ranking::of_bounds(&space, vec![2.0, 4.0, 5.0, 3.0, 1.0]).unwrap();
    assert_eq!(third_differs.pick(&space), (1, PickedBy::Centre));

    // On a line the centre is the count nearest to the mean. By rank 1 to 9, 29, 60, others: of
    // nine the mean is 5, of ten 7.4, of eleven 12.2.
    let space = Space::within(&catalogue(&[(1.0, 60)]), usd(60.0)).unwrap();
    let by_rank = [1, 2, 3, 4, 5, 6, 7, 8, 9, 29, 60];
    let bound =
        |p: &Pool| by_rank.iter().position(|n| *n == p.0[0]).map_or(1.0, |i| 90.0 - i as f64);
    let bounds = space.pools().iter().map(bound).collect();
    let (picked, by) = Ranking::of_bounds(&space, bounds).unwrap().pick(&space);
    assert_eq!((&space.pools()[picked], by), (&pool([7]), PickedBy::Centre));
}

#[test]
fn with_fewer_than_ten_pools_all_are_the_cluster() {
    let types = catalogue(&[(1.0, 3), (0.5, 2)]);
    let space = Space::within(&types, usd(2.0)).unwrap();
    assert_eq!(space.pools(), [pool([1, 0]), pool([1, 1]), pool([1, 2]), pool([2, 0])]);
    let ranking = Ranking::of_bounds(&space, vec![1.0, 3.0, 2.0, 4.0]).unwrap();
    // (2,0), (1,1), (1,2): other numbers of base instances. Sums: (1,0) 6, (1,1) 4, (1,2) 10, (2,0)
    // 8.
    assert_eq!(ranking.pick(&space), (1, PickedBy::Centre));
}

/// A catalogue of a base and two auxiliary types, the second of which serves every size.
fn all_served() -> (Space, Ingredients) {
    let types = catalogue(&[(1.0, 3), (0.5, 2), (0.5, 2)]);
    let some = Auxiliary {
        size_limit: 100,
        fraction: 0.5,
        time_fraction: 0.25,
        rate_per_s: BTreeMap::from([(100, 8.0), (200, 5.0)]),
    };
    let all = Auxiliary {
        size_limit: 200,
        fraction: 1.0,
        time_fraction: 1.0,
        rate_per_s: BTreeMap::from([(200, 4.0)]),
    };
    let ingredients = Ingredients::new(&types, 10.0, vec![None, Some(some), Some(all)]).unwrap();
    (Space::within(&types, usd(3.0)).unwrap(), ingredients)
}

#[test]
fn a_type_that_serves_every_size_adds_its_throughput() {
    let (space, ingredients) = all_served();
    let bound = |counts| upper_bound_per_s(&ingredients, &pool(counts)).unwrap();
    close(bound([1, 0, 2]), 18.);
    close(bound([1, 1, 1]), 19.);
    // Without it f' = 0.5: Qb(s+) = 10 x 0.5 / 0.75, C = 8, above it: Qb / 0.75.
    close(bound([1, 1, 0]), 10.0 / 0.75);
    let ranking = Ranking::new(&space, &ingredients).unwrap();
    assert!(ranking.bounds_per_s().iter().all(|b| b.is_finite()));
}

#[test]
fn wrong_ingredients_are_errors() {
    let types = catalogue(&[(1.0, 3), (0.5, 2), (0.5, 2)]);
    let (_, right) = all_served();
    let error = |base_per_s, change: &dyn Fn(&mut Auxiliary)| {
        let mut auxiliaries = right.auxiliaries().to_vec();
        change(auxiliaries[1].as_mut().unwrap());
        Ingredients::new(&types, base_per_s, auxiliaries).unwrap_err().to_string()
    };
    assert!(error(0.0, &|_| ()).contains("`queries/s` of `type0.large` is 0"));
    assert!(
        error(1.0, &|a| a.fraction = 0.0).contains("`fraction of queries` of `type1.large` is 0")
    );
    assert!(error(1.0, &|a| a.fraction = 1.0).contains("and 1 only with all queries"));
    assert!(error(1.0, &|a| a.time_fraction = f64::NAN).contains("NaN"));
    let hole = error(1.0, &|a| _ = a.rate_per_s.remove(&200));
    assert!(hole.contains("no throughput at the size limit 200 of `type2.large`"), "{hole}");
    let short = Ingredients::new(&types, 1.0, vec![None]).unwrap_err();
    assert!(short.to_string().contains("1 ingredients for 3 instance types"));
    let error = |auxiliaries| Ingredients::new(&types, 1.0, auxiliaries).unwrap_err().to_string();
    let two_bases = error(vec![None; 3]);
    assert!(
        two_bases.starts_with("`type1.large` is an auxiliary type and has none"),
        "{two_bases}"
    );
    let no_base = error(vec![right.auxiliaries()[1].clone(); 3]);
    assert!(no_base.starts_with("`type0.large` is the base type and has ingred"), "{no_base}");
    assert!(matches!(upper_bound_per_s(&right, &pool([1])), Err(PlannerError::Length { .. })));
}

#[test]
fn wrong_tables_are_errors_that_name_the_place() {
    let head = "instance,price_usd_per_hour,is_base,max_num_in_authors_search\n";
    let error = |rows: &str| {
        released::read_catalogue(&format!("{head}{rows}"), "types.csv").unwrap_err().to_string()
    };
    let wrong = error("a,0.5,1,3\nb,much,0,3\n");
    assert!(wrong.contains("types.csv, line 3: `price_usd_per_hour` is `much`"), "{wrong}");
    let negative = error("a,-0.5,1,3\n");
    assert!(negative.contains("`price:a` is -0.5"), "{negative}");
    assert!(error("a,0.5,yes,3\n").contains("line 2: `is_base` is `yes`; it must be 0 or 1"));
    assert!(error("a,0.5\n").contains("types.csv"));
    let column = released::read_catalogue("instance\n", "types.csv").unwrap_err().to_string();
    assert!(column.contains("no column `price_usd_per_hour`"), "{column}");
    let no_row = released::read_ingredients(
        "model,instance,qps_all_or_own_region,vio_batch,small_ratio,time_ratio,\
         qps_at_batch_limit_json\n",
        "profile.csv",
        "rm2",
        &released::catalogue(),
    );
    assert!(no_row.unwrap_err().to_string().contains("no row for `rm2` on `g4dn.xlarge`"));
    assert_eq!(released::ingredients("bert"), None);
}

#[test]
fn the_order_of_upper_bounds_and_the_pick() {
    let space = authors_space();
    let of = |model| {
        let ranking = Ranking::new(&space, &released::ingredients(model).unwrap()).unwrap();
        let at = |place: usize| {
            let i = ranking.order()[place];
            (space.pools()[i].clone(), ranking.bounds_per_s()[i])
        };
        let (picked, _) = ranking.pick(&space);
        let rank = ranking.order().iter().position(|i| *i == picked).unwrap() + 1;
        (at(0), at(330), space.pools()[picked].clone(), rank)
    };
    let (first, last, picked, rank) = of("rm2");
    assert_eq!(first, (pool([1, 0, 13, 0]), 144.207_550_813_008_1));
    assert_eq!(last, (pool([1, 0, 0, 0]), 15.04));
    assert_eq!((picked, rank), (pool([1, 0, 13, 0]), 1));
    let (_, _, picked, rank) = of("mtwnd");
    assert_eq!((picked, rank), (pool([2, 0, 8, 1]), 3));
}
