//! Kairos's throughput upper bound (Li et al., HPDC 2023), §5.2, Eq. 9 to 15.
//!
//! All queries are at hand from the start, the small ones go to auxiliary instances and the large
//! ones to base instances, and either kind is the bottleneck:
//!
//! ```text
//! f' = max f_i over the auxiliary types of the pool, s = max s_i
//! A  = sum v_i Q_a_i                each at the limit s
//! C  = A (1 - f') / f'                                                     (14)
//! u Qb(s+) <= C:   QPS_max = u Qb(s+) / (1 - f')                           (15)
//! otherwise:       QPS_max = A / f' + (u Qb(s+) - C) / (u Qb(s+)) * u Qb
//! ```
//!
//! # Differences from the paper
//! - Where an auxiliary type serves every size, f' is 1, no query is larger than s and Qb(s+) is
//!   0/0. The base is then all slack: QPS_max = A + u Qb.
//! - A pool of base instances alone has no f'; its bound is u Qb.
//! - The paper leaves Qb(s+) to be measured. Here it is Qb (1 - f') / (1 - t'), where t' is the
//!   share of the base's time that queries up to s take: as in the released code, and the same
//!   thing when both are of one type. f' and t' are the largest of the types in the pool, each for
//!   itself.
//! - It is called an upper bound but is none in the strict sense: base instances with slack are
//!   credited with the average mix, and types of a smaller s with queries that they cannot serve in
//!   time.

use crate::ingredients::Auxiliary;
use crate::{Ingredients, PlannerError, Pool};

/// Eq. 12 and, for `u` of 1, Eq. 9: the base is the bottleneck.
pub fn base_bound_per_s(u: f64, base_large_per_s: f64, f: f64) -> f64 {
    u * base_large_per_s / (1.0 - f)
}

/// Eq. 13 and, for one instance of each, Eq. 11: the auxiliary instances, of `auxiliary_per_s`
/// together, are the bottleneck, and the base has slack.
pub fn auxiliary_bound_per_s(
    auxiliary_per_s: f64,
    f: f64,
    u: f64,
    base_per_s: f64,
    base_large_per_s: f64,
) -> f64 {
    let offloaded = auxiliary_per_s * (1.0 - f) / f;
    let slack = (u * base_large_per_s - offloaded) / (u * base_large_per_s);
    auxiliary_per_s / f + slack * (u * base_per_s)
}

/// Eq. 14 and 15: the throughput that the pool is said not to exceed, in queries/s.
///
/// # Errors
/// When the pool has not as many counts as there are types.
pub fn upper_bound_per_s(ingredients: &Ingredients, pool: &Pool) -> Result<f64, PlannerError> {
    let types = ingredients.auxiliaries();
    let (found, expected) = (pool.0.len(), types.len());
    if found != expected {
        let (what, of) = ("counts", "instance types");
        return Err(PlannerError::Length { what, found, expected, of });
    }
    let mut u = 0.0;
    let mut present: Vec<(f64, &Auxiliary)> = Vec::new();
    for (count, auxiliary) in pool.0.iter().zip(types) {
        match auxiliary {
            None => u = f64::from(*count),
            Some(a) if *count > 0 => present.push((f64::from(*count), a)),
            Some(_) => (),
        }
    }
    let base_per_s = ingredients.base_per_s();
    let most =
        |value: fn(&Auxiliary) -> f64| present.iter().map(|(_, a)| value(a)).fold(0.0, f64::max);
    let Some(s) = present.iter().map(|(_, a)| a.size_limit).max() else {
        return Ok(u * base_per_s);
    };
    let (f, t) = (most(|a| a.fraction), most(|a| a.time_fraction));
    let auxiliary_per_s: f64 = present.iter().map(|(v, a)| v * a.rate_per_s[&s]).sum();
    if f == 1.0 {
        return Ok(auxiliary_per_s + u * base_per_s);
    }
    let base_large_per_s = base_per_s * (1.0 - f) / (1.0 - t);
    let offloaded = auxiliary_per_s * (1.0 - f) / f;
    Ok(if u * base_large_per_s <= offloaded {
        base_bound_per_s(u, base_large_per_s, f)
    } else {
        auxiliary_bound_per_s(auxiliary_per_s, f, u, base_per_s, base_large_per_s)
    })
}

/// How much more load is carried than is asked for: 0.25 is a quarter more, below 0 is too little.
/// None when nothing is asked for.
pub fn headroom(allowable_per_s: f64, load_per_s: f64) -> Option<f64> {
    (load_per_s > 0.0).then(|| allowable_per_s / load_per_s - 1.0)
}
