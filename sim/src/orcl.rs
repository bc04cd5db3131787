//! ORCL: the oracle that Kairos (Li et al., HPDC 2023, §7) compares itself with.
//!
//! It is no policy: all queries are known and none has to wait for its arrival. Sorted by size, a free
//! base instance takes the largest that is left, a free auxiliary one the smallest, if it meets the QoS
//! there by its service time alone. The throughput is that of the whole sequence.
//!
//! ```text
//! while queries are left:
//!     the instance that is free first takes
//!         base:      the largest left
//!         auxiliary: the smallest left, if it takes no longer than T_qos there; else no more at all
//! throughput <- queries / when the last of them ends
//! ```
//!
//! # Differences from the paper
//! - Of instances that are free at once, the order of the list decides (base kind first); the paper
//!   does not say.
//! - A pool without a base instance leaves what no auxiliary one may take; its throughput is zero then.
//!   The paper has no such pool.

use crate::ordered::sort_by_key;
use crate::time::{Span, Time};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// What the oracle makes of a pool.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Orcl {
    /// Queries served.
    pub served: u64,
    /// When the last of them ended.
    pub makespan: Span,
    /// Queries per second; zero when some were left.
    pub throughput_per_s: f64,
}

/// A query in the oracle's hands: its size, and its number among the caller's queries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Sized {
    /// Items.
    pub size: u32,
    /// Its number.
    pub number: usize,
}

/// Serves queries of these sizes by these instances, given by whether they are base and by their kind.
/// `takes` is the service time of a query on a kind.
pub fn orcl(
    sizes: &[u32],
    instances: &[(bool, usize)],
    qos: Span,
    takes: impl Fn(Sized, usize) -> Span,
) -> Orcl {
    let mut queries: Vec<Sized> =
        sizes.iter().enumerate().map(|(number, &size)| Sized { size, number }).collect();
    queries.sort_unstable();
    let mut order: Vec<usize> = (0..instances.len()).collect();
    sort_by_key(&mut order, |&i| (!instances[i].0, instances[i].1, i));
    let mut free: BinaryHeap<Reverse<(Time, usize)>> =
        (0..order.len()).map(|place| Reverse((Time::ZERO, place))).collect();
    let (mut smallest, mut left) = (0, queries.len());
    let mut end = Time::ZERO;
    while smallest < left {
        let Some(Reverse((now, place))) = free.pop() else { break };
        let (is_base, kind) = instances[order[place]];
        let query = queries[if is_base { left - 1 } else { smallest }];
        let time = takes(query, kind);
        if !is_base && time > qos {
            continue; // The smallest left only grows: it is of no more use.
        }
        if is_base {
            left -= 1;
        } else {
            smallest += 1;
        }
        free.push(Reverse((now + time, place)));
        end = end.max(now + time);
    }
    let (all, makespan) = (smallest == left, end - Time::ZERO);
    let served = (queries.len() - (left - smallest)) as u64;
    let throughput_per_s =
        if all && served > 0 { served as f64 / makespan.as_secs_f64() } else { 0.0 };
    Orcl { served, makespan, throughput_per_s }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Small queries of 500 take 10 ms on either kind, large ones of 1000 take 20 ms on the base kind
    /// and miss the QoS on the other.
    fn takes(query: Sized, kind: usize) -> Span {
        Span::from_ms(match (query.size, kind) {
            (500, _) => 10,
            (_, 0) => 20,
            _ => 100,
        })
    }

    fn served(small: usize, large: usize) -> Orcl {
        let mut sizes = vec![1_000; large];
        sizes.extend(vec![500; small]);
        orcl(&sizes, &[(true, 0), (false, 1)], Span::from_ms(50), takes)
    }

    /// Fig. 7, Scenario 1: the auxiliary instance serves up to 500 only and the base instance spends
    /// all its time on larger queries. Eq. 9: Q_b^s+ / (1 - f), here 50 / 0.5. The oracle reaches it.
    #[test]
    fn figure_7_scenario_1_the_base_instance_is_the_bottleneck() {
        let (f, q_a, q_b_large) = (0.5, 100.0, 50.0);
        assert!(q_b_large <= (1.0 - f) / f * q_a);
        let result = served(100, 100);
        assert_eq!(result.throughput_per_s, q_b_large / (1.0 - f));
        assert_eq!((result.served, result.makespan), (200, Span::from_secs(2)));
    }

    /// Fig. 7, Scenario 2: the base instance has slack. Eq. 11, with Q_b of the whole mix.
    #[test]
    fn figure_7_scenario_2_the_auxiliary_instance_is_the_bottleneck() {
        let (f, q_a, q_b_large, q_b) = (0.75, 100.0, 50.0, 80.0);
        let offered = (1.0 - f) / f * q_a;
        assert!(q_b_large > offered);
        let bound = q_a / f + (q_b_large - offered) / q_b_large * q_b;
        let result = served(300, 100);
        assert!((result.throughput_per_s - bound).abs() < 1e-9, "{bound}");
        assert_eq!(result.makespan, Span::from_us(2_500_000));
    }

    #[test]
    fn what_no_instance_may_serve_is_left() {
        let alone = orcl(&[500, 1_000], &[(false, 1)], Span::from_ms(50), takes);
        assert_eq!((alone.served, alone.throughput_per_s), (1, 0.0));
        let none = orcl(&[500], &[], Span::from_ms(50), takes);
        assert_eq!((none.served, none.throughput_per_s), (0, 0.0));
        assert_eq!(orcl(&[], &[(true, 0)], Span::from_ms(50), takes).throughput_per_s, 0.0);
    }

    /// The oracle as the paper tells it, step by step, with a list.
    #[test]
    fn the_oracle_is_the_plain_one() {
        let mut draws = crate::rng::Stream::named(1, "orcl", 0);
        for _ in 0..1_000 {
            let mut below = |n: u64| draws.below(n);
            let sizes: Vec<u32> = (0..below(30)).map(|_| 1 + below(100) as u32).collect();
            let instances: Vec<(bool, usize)> =
                (0..1 + below(4)).map(|_| (below(2) == 0, below(3) as usize)).collect();
            let qos = Span::from_ms(100 + below(200));
            let takes = |q: Sized, kind: usize| {
                Span::from_ms(u64::from(q.size) * (1 + kind as u64) + q.number as u64 % 3)
            };
            let ours = orcl(&sizes, &instances, qos, takes);
            let mut left: Vec<Sized> =
                sizes.iter().enumerate().map(|(number, &size)| Sized { size, number }).collect();
            left.sort_by_key(|q| (q.size, q.number));
            // Whether an instance takes more, and when it is free.
            let mut state: Vec<(bool, Span)> = vec![(true, Span::ZERO); instances.len()];
            let mut end = Span::ZERO;
            while !left.is_empty() && state.iter().any(|s| s.0) {
                let usable = (0..state.len()).filter(|&i| state[i].0);
                let key = |&i: &usize| (state[i].1, !instances[i].0, instances[i].1, i);
                let i = usable.min_by_key(key).unwrap();
                let (is_base, kind) = instances[i];
                let at = if is_base { left.len() - 1 } else { 0 };
                let time = takes(left[at], kind);
                if is_base || time <= qos {
                    left.remove(at);
                    state[i].1 += time;
                    end = end.max(state[i].1);
                } else {
                    state[i].0 = false;
                }
            }
            assert_eq!((ours.served as usize, ours.makespan), (sizes.len() - left.len(), end));
        }
    }
}
