//! Which pools a budget pays for, and in which order they come.

use super::common::{authors_space, catalogue, pool, usd};
use orrery_solvers::{Catalogue, InstanceType, PlannerError, Price, Role, Space, released};

#[test]
fn the_authors_enumeration_has_331_pools() {
    let space = authors_space();
    assert_eq!(space.pools().len(), 331);
    // Every combination of counts, the slow way, in thousandths of a cent.
    let mut naive = Vec::new();
    for g in 0..=5 {
        for c in 0..=6 {
            for r in 0..=17 {
                for t in 0..=15 {
                    if g >= 1 && g * 52_600 + c * 43_200 + r * 14_900 + t * 16_640 <= 250_000 {
                        naive.push(pool([g, c, r, t]));
                    }
                }
            }
        }
    }
    assert_eq!(space.pools(), naive);
    assert!((0..331).all(|i| space.position(&space.pools()[i]) == Some(i)));
    assert_eq!(space.position(&pool([5, 0, 0, 0])), None);
    assert_eq!(space.pools()[space.homogeneous().unwrap()], pool([4, 0, 0, 0]));
    let scaled = space.scaled_to_budget(100.0, usd(2.104));
    assert!((scaled - 118.821_292_775_665_4).abs() < 1e-9, "{scaled}");
}

#[test]
fn the_base_need_not_be_the_first_type() {
    let one = |name: &str, price, role| InstanceType {
        name: name.into(),
        price: usd(price),
        max_count: 2,
        role,
    };
    let types = vec![one("cheap", 0.5, Role::Auxiliary), one("base", 1.0, Role::Base)];
    let space = Space::within(&Catalogue::new(types).unwrap(), usd(2.0)).unwrap();
    let pools = [pool([0, 1]), pool([0, 2]), pool([1, 1]), pool([2, 1])];
    assert_eq!(space.pools(), pools);
    assert_eq!(space.homogeneous(), Some(1));
}

#[test]
fn wrong_budgets_are_errors() {
    let types = released::catalogue();
    assert_eq!(Space::within(&types, Price::ZERO), Err(PlannerError::ZeroBudget));
    let low = Space::within(&types, usd(0.5)).unwrap_err().to_string();
    assert!(
        low.contains("the budget of 0.5 $/h") && low.contains("`g4dn.xlarge` costs 0.526"),
        "{low}"
    );
    let many = catalogue(&[(0.0, 2_000), (0.0, 2_000)]);
    assert!(matches!(Space::within(&many, usd(1.0)), Err(PlannerError::TooManyPools { .. })));
    assert_eq!(authors_space().filtered(|_| false), Err(PlannerError::NoPools));
}
