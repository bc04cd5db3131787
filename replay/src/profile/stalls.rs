//! How the host takes cores away: measured by threads that do nothing but read the clock.

use crate::threads::{cores, cpu_time, pin_to};
use orrery_scenario::scenario::disturbance::Stalls;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Barrier;
use std::time::{Duration, Instant};

/// A gap between two readings of the clock that is longer than this is a stall.
const STALL: Duration = Duration::from_micros(50);
/// Lengths kept of a law: its quantiles.
const LENGTHS: usize = 100;
/// Gaps between stalls with a larger coefficient of variation than this come in bursts (Poisson: 1).
const BURSTY: f64 = 1.3;

/// The stalls of a host as they were measured.
#[derive(Clone, Debug, Deserialize, Serialize, PartialEq, JsonSchema)]
pub struct HostStalls {
    /// How long each core was watched.
    pub watched_s: f64,
    /// The cores that were watched.
    pub cores: u32,
    /// Stalls of all cores.
    pub stalls: u64,
    /// The longest.
    pub longest_ms: f64,
    /// The share of the time that a core was away.
    pub share_away: f64,
    /// Of the time away, the share in which the kernel had switched the thread out; in the rest the
    /// machine itself stood still.
    pub switched_out: f64,
    /// The law.
    pub law: Stalls,
}

/// A stall, seconds from the start of watching.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stall {
    /// When it began.
    pub begin_s: f64,
    /// How long it lasted.
    pub length_s: f64,
}

/// What was seen on one core, and the time in which its thread ran.
struct Seen {
    stalls: Vec<Stall>,
    ran_s: f64,
    watched_s: f64,
}

/// Watches so many cores at the same time, from the first on.
pub fn watch(count: usize, time: Duration) -> Option<HostStalls> {
    let count = count.clamp(1, cores().len());
    let barrier = Barrier::new(count);
    let together = &barrier;
    let seen: Vec<Seen> = std::thread::scope(|scope| {
        let threads: Vec<_> =
            (0..count).map(|core| scope.spawn(move || watch_one(core, together, time))).collect();
        threads.into_iter().filter_map(|t| t.join().ok()).collect()
    });
    let watched_s = seen.first()?.watched_s;
    let all: Vec<Vec<Stall>> = seen.iter().map(|s| s.stalls.clone()).collect();
    let stalls = || all.iter().flatten();
    let away_s: f64 = stalls().map(|s| s.length_s).sum();
    let total_s: f64 = seen.iter().map(|s| s.watched_s).sum();
    let switched_s: f64 = seen.iter().map(|s| (s.watched_s - s.ran_s).max(0.0)).sum();
    Some(HostStalls {
        watched_s,
        cores: count as u32,
        stalls: stalls().count() as u64,
        longest_ms: 1e3 * stalls().map(|s| s.length_s).fold(0.0, f64::max),
        share_away: away_s / total_s,
        switched_out: if away_s > 0.0 { (switched_s / away_s).min(1.0) } else { 0.0 },
        law: law(&all, watched_s),
    })
}

fn watch_one(core: usize, together: &Barrier, time: Duration) -> Seen {
    // A thread that cannot be pinned still sees what the host takes away.
    let _ = pin_to(core);
    let mut stalls = Vec::with_capacity(4_096);
    together.wait();
    let (began, ran) = (Instant::now(), cpu_time());
    let mut last = began;
    loop {
        let now = Instant::now();
        let gap = now - last;
        if gap > STALL {
            let (begin_s, length_s) = ((last - began).as_secs_f64(), gap.as_secs_f64());
            stalls.push(Stall { begin_s, length_s });
        }
        last = now;
        if now - began >= time {
            break;
        }
    }
    let ran_s = cpu_time().minus(ran).as_secs_f64();
    Seen { stalls, ran_s, watched_s: (last - began).as_secs_f64() }
}

/// The law of what was seen on some cores, each for so long: the lengths, rates in quiet times and in
/// bursts, and the share that hit all cores at once. A burst is a row of stalls, three or more, between
/// which less than a third of the mean gap passes.
pub fn law(cores: &[Vec<Stall>], watched_s: f64) -> Stalls {
    let mut lengths: Vec<f64> = cores.iter().flatten().map(|s| 1e3 * s.length_s).collect();
    if lengths.is_empty() || watched_s <= 0.0 {
        return Stalls::default();
    }
    lengths.sort_by(f64::total_cmp);
    let n = lengths.len();
    let quantile = |i: usize| lengths[((i as f64 + 0.5) / LENGTHS as f64 * n as f64) as usize];
    // The mean is kept: quantiles alone would lose the longest.
    let lengths_ms = if n <= LENGTHS {
        lengths.clone()
    } else {
        let kept: Vec<f64> = (0..LENGTHS).map(quantile).collect();
        let (kept_mean, mean) =
            (kept.iter().sum::<f64>() / LENGTHS as f64, lengths.iter().sum::<f64>() / n as f64);
        kept.into_iter().map(|l| l * mean / kept_mean).collect()
    };
    let away_s: f64 = cores.iter().flatten().map(|s| s.length_s).sum();
    let free_s = (watched_s * cores.len() as f64 - away_s).max(1e-9);
    let one_rate = Stalls {
        lengths_ms,
        quiet_per_s: n as f64 / free_s,
        shared: shared(cores),
        ..Stalls::default()
    };
    bursts(cores, watched_s).map_or(one_rate.clone(), |b| Stalls {
        quiet_per_s: b.quiet_per_s,
        burst_per_s: b.burst_per_s,
        quiet_s: b.quiet_s,
        burst_s: b.burst_s,
        ..one_rate
    })
}

/// The two states, where one rate does not do.
fn bursts(cores: &[Vec<Stall>], watched_s: f64) -> Option<Stalls> {
    let gap = |w: &[Stall]| (w[1].begin_s - w[0].begin_s - w[0].length_s).max(0.0);
    let gaps: Vec<f64> = cores.iter().flat_map(|c| c.windows(2).map(gap)).collect();
    let n = gaps.len() as f64;
    let mean = orrery_sim::stats::mean(&gaps).filter(|_| gaps.len() >= 10)?;
    let variance = gaps.iter().map(|g| (g - mean) * (g - mean)).sum::<f64>() / n;
    if variance.sqrt() / mean < BURSTY {
        return None;
    }
    let (mut rows, mut in_rows, mut row_s, mut row_free_s) = (0u64, 0u64, 0.0, 0.0);
    let mut outside = 0u64;
    for core in cores {
        let mut from = 0;
        while from < core.len() {
            let near = core[from..].windows(2).take_while(|w| gap(w) < mean / 3.0).count();
            if near >= 2 {
                let row = &core[from..=from + near];
                let last = row[near];
                rows += 1;
                in_rows += near as u64;
                row_s += last.begin_s + last.length_s - row[0].begin_s;
                row_free_s += row.windows(2).map(gap).sum::<f64>();
                outside += 1;
            } else {
                outside += near as u64 + 1;
            }
            from += near + 1;
        }
    }
    if rows == 0 || row_free_s <= 0.0 {
        return None;
    }
    let quiet_s = (watched_s * cores.len() as f64 - row_s).max(1e-3);
    let stalls = Stalls {
        quiet_per_s: outside as f64 / quiet_s,
        burst_per_s: in_rows as f64 / row_free_s,
        quiet_s: quiet_s / rows as f64,
        burst_s: row_s / rows as f64,
        ..Stalls::default()
    };
    Some(stalls)
}

/// The share of the first core's stalls that overlap one of every other core.
fn shared(cores: &[Vec<Stall>]) -> f64 {
    let Some((first, others)) = cores.split_first() else { return 0.0 };
    if others.is_empty() || first.is_empty() {
        return 0.0;
    }
    let meets = |a: &Stall, b: &Stall| {
        a.begin_s < b.begin_s + b.length_s && b.begin_s < a.begin_s + a.length_s
    };
    let by_all = |a: &&Stall| others.iter().all(|core| core.iter().any(|b| meets(a, b)));
    first.iter().filter(by_all).count() as f64 / first.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use orrery_sim::stalls::{Calendar, CoreOf};
    use orrery_sim::time::{Span, Time};

    /// What a watcher sees of a law: it works all the time, in steps of 20 us.
    fn seen(law: &Stalls, seconds: u64) -> Vec<Vec<Stall>> {
        let law = law.law("stalls", 7).unwrap();
        let watch = |core: u32| {
            let mut calendar = Calendar::new(law.clone());
            let (mut at, mut all) = (Time::ZERO, Vec::new());
            while at < Time::ZERO + Span::from_secs(seconds) {
                let step = Span::from_us(20);
                let end = calendar.advance(CoreOf::executor(core, 0), at, step);
                let away = end.since(at).minus(step);
                if away > Span::from_us(50) {
                    let (begin_s, length_s) = (at.as_secs_f64(), away.as_secs_f64());
                    all.push(Stall { begin_s, length_s });
                }
                at = end;
            }
            all
        };
        vec![watch(0), watch(1)]
    }

    #[test]
    fn a_law_that_is_watched_is_found_again() {
        let poisson = Stalls {
            lengths_ms: vec![0.5, 1.0, 3.0],
            quiet_per_s: 8.0,
            shared: 0.4,
            ..Stalls::default()
        };
        let found = law(&seen(&poisson, 300), 300.0);
        assert!((found.quiet_per_s / 8.0 - 1.0).abs() < 0.08, "{found:?}");
        assert!((found.shared - 0.4).abs() < 0.08 && found.burst_per_s == 0.0, "{found:?}");
        let mean = found.lengths_ms.iter().sum::<f64>() / found.lengths_ms.len() as f64;
        assert!((mean / 1.5 - 1.0).abs() < 0.08, "{mean}");
        let bursty = Stalls {
            quiet_per_s: 0.5,
            burst_per_s: 60.0,
            quiet_s: 5.0,
            burst_s: 0.4,
            shared: 0.0,
            ..poisson
        };
        let found = law(&seen(&bursty, 600), 600.0);
        let near = |a: f64, b: f64, by: f64| libm::log(a / b).abs() < by;
        let away = |s: &Stalls| s.law("s", 1).unwrap().share_away();
        assert!(near(away(&found), away(&bursty), 0.15), "{found:?}");
        assert!(near(found.burst_per_s, 60.0, 0.3), "{found:?}");
        assert!(near(found.burst_s, 0.4, 0.5) && near(found.quiet_s, 5.0, 0.5), "{found:?}");
    }

    #[test]
    fn a_quiet_host_has_no_law() {
        assert_eq!(law(&[vec![], vec![]], 10.0), Stalls::default());
    }
}
