//! The naive engine's laws: latencies, noise and delays, written a second time from their definitions.
//!
//! It shares with the simulator the numbers drawn for a name (seed, purpose, index), and nothing that is
//! made of them. Time is in nanoseconds as floats, and becomes whole at the end of each formula.

use orrery_sim::core::Delays;
use orrery_sim::delay::DelayLaw;
use orrery_sim::latency::{BatchNoise, Grid, Latency, Noise};
use orrery_sim::request::{ActionId, RequestId};
use orrery_sim::rng::{fnv1a, keyed_uniform};
use orrery_sim::time::Span;

/// What a message is.
#[derive(Clone, Copy)]
pub enum Message {
    Dispatch,
    Cancellation,
    Preemption,
    Result,
    Reply,
}

/// How long a message of an action takes.
pub fn delay(delays: &Delays, message: Message, action: ActionId) -> Span {
    let (law, name) = match message {
        Message::Dispatch => (delays.dispatch, "delay of dispatch"),
        Message::Cancellation => (delays.dispatch, "delay of cancellation"),
        Message::Preemption => (delays.dispatch, "delay of preemption"),
        Message::Result => (delays.result, "delay of result"),
        Message::Reply => (delays.reply, "delay of reply"),
    };
    let share = keyed_uniform(delays.seed, fnv1a(name), action.0);
    match law {
        DelayLaw::Constant(always) => always,
        DelayLaw::Uniform { low, high } => {
            Span::from_ns(low.ns() + whole((high.ns() - low.ns()) as f64 * share))
        }
        DelayLaw::Lognormal { median, sigma } => {
            Span::from_ns(whole(median.ns() as f64 * libm::exp(sigma * standard_normal(share))))
        }
    }
}

/// How long a batch computes.
pub fn computes(law: &Latency, noise: &Noise, units: u32, longest: Span, first: RequestId) -> Span {
    let (k, l) = (f64::from(units), longest.ns() as f64);
    let ns = match law {
        Latency::Affine { alpha, beta } => beta.ns() + alpha.ns() * u64::from(units),
        Latency::Eq3 { c0, c1 } => c0.ns() + whole(l * (c1 * k)),
        Latency::Proportional { c1 } => whole(l * (1.0 - c1 + c1 * k)),
        Latency::Poly { c0, c1, c2_per_s } => {
            c0.ns() + whole(l * (k * (c1 + c2_per_s * (l / 1e9))))
        }
        Latency::Grid(grid) => padded(grid, units, longest),
        Latency::Table(rows) => {
            let sizes: Vec<u32> = rows.iter().map(|r| r.0).collect();
            beyond(&sizes, units, |i| rows[i].1.ns())
        }
        Latency::Samples(replay) => beyond(replay.table.sizes(), units, |i| {
            let measured = replay.table.samples(replay.table.sizes()[i]);
            let share = keyed_uniform(replay.seed, fnv1a("replayed sample"), first.0);
            measured[(share * measured.len() as f64).floor() as usize].ns()
        }),
    };
    Span::from_ns(disturbed(ns, noise, first))
}

/// The latency of the least size and the least length that are enough; in proportion above the largest.
fn padded(grid: &Grid, units: u32, longest: Span) -> u64 {
    let (mut best, mut factor) = (None, 1.0);
    for (size, latencies) in grid.rows.iter().rev() {
        if *size >= units || best.is_none() {
            best = Some((*size, latencies));
        }
    }
    let (size, latencies) = best.expect("a grid has a row");
    let mut ns = latencies[latencies.len() - 1].ns();
    for (length, latency) in grid.lengths.iter().zip(latencies).rev() {
        if *length >= longest {
            ns = latency.ns();
        }
    }
    let last = grid.lengths[grid.lengths.len() - 1];
    if units > size {
        factor *= f64::from(units) / f64::from(size);
    }
    if longest > last {
        factor *= longest.ns() as f64 / last.ns() as f64;
    }
    if factor > 1.0 { whole(ns as f64 * factor) } else { ns }
}

/// The latency of the least size that is enough; in proportion above the largest.
fn beyond(sizes: &[u32], units: u32, latency_ns: impl Fn(usize) -> u64) -> u64 {
    if let Some(enough) = (0..sizes.len()).find(|&i| units <= sizes[i]) {
        return latency_ns(enough);
    }
    let last = sizes.len() - 1;
    whole(latency_ns(last) as f64 * (f64::from(units) / f64::from(sizes[last])))
}

fn disturbed(ns: u64, noise: &Noise, first: RequestId) -> u64 {
    let share = |seed, name| keyed_uniform(seed, fnv1a(name), first.0);
    match *noise {
        Noise::None => ns,
        Noise::Uniform { spread, seed } => {
            whole(ns as f64 * (1.0 + spread * (2.0 * share(seed, "noise") - 1.0)))
        }
        // Box and Muller's normal variate.
        Noise::Lognormal { sigma, seed } => {
            let radius = (-2.0 * libm::log(share(seed, "noise"))).sqrt();
            let angle = std::f64::consts::TAU * share(seed, "noise, second");
            whole(ns as f64 * libm::exp(sigma * (radius * libm::cos(angle))))
        }
    }
}

/// What the noise of a model makes of its batch, by the first request.
pub fn of_model(time: Span, noise: Option<&BatchNoise>, first: RequestId) -> Span {
    noise.map_or(time, |noise| measured(time, noise, "profile noise", first.0))
}

/// What the noise of loads makes of a load.
pub fn of_load(time: Span, noise: &BatchNoise, action: ActionId) -> Span {
    measured(time, noise, "load noise", action.0)
}

/// Outliers first: a share of all, each factor as likely as another. The others have a lognormal factor.
fn measured(time: Span, noise: &BatchNoise, name: &str, key: u64) -> Span {
    let share = |purpose: &str| keyed_uniform(noise.seed, fnv1a(purpose), key);
    let outlier = share(&format!("{name}, outlier")) / noise.outlier_share;
    if outlier < 1.0 {
        let which = (outlier * noise.outlier_factors.len() as f64).floor() as usize;
        return Span::from_ns(whole(time.ns() as f64 * noise.outlier_factors[which]));
    }
    let radius = (-2.0 * libm::log(share(name))).sqrt();
    let angle = std::f64::consts::TAU * share(&format!("{name}, second"));
    Span::from_ns(whole(time.ns() as f64 * libm::exp(noise.sigma * (radius * libm::cos(angle)))))
}

/// To the nearest nanosecond.
fn whole(ns: f64) -> u64 {
    (ns + 0.5).floor() as u64
}

/// The value that a standard normal variate is below with this probability, by halving an interval.
fn standard_normal(share: f64) -> f64 {
    if share > 0.5 {
        return -standard_normal(1.0 - share);
    }
    let (mut low, mut high) = (-40.0, 0.0);
    loop {
        let middle = 0.5 * (low + high);
        if middle <= low || middle >= high {
            return middle;
        }
        let below = 0.5 * libm::erfc(-middle / std::f64::consts::SQRT_2);
        if below < share {
            low = middle;
        } else {
            high = middle;
        }
    }
}

/// The laws by hand: so that both engines are not wrong alike.
#[test]
fn the_naive_laws_are_those_of_the_definitions() {
    let (ms, r0) = (Span::from_ms, RequestId(0));
    let plain = |law: &Latency, k| computes(law, &Noise::None, k, ms(10), r0);
    assert_eq!(plain(&Latency::Affine { alpha: ms(1), beta: ms(5) }, 16), ms(21));
    assert_eq!(plain(&Latency::Eq3 { c0: ms(2), c1: 0.5 }, 4), ms(22));
    assert_eq!(plain(&Latency::Proportional { c1: 0.1 }, 11), ms(20));
    let table = Latency::Table(vec![(1, ms(4)), (4, ms(10))]);
    assert_eq!([1, 2, 4, 8].map(|k| plain(&table, k)), [ms(4), ms(10), ms(10), ms(20)]);
    for (share, z) in [(0.5, 0.0), (0.975, 1.959_963_984_540_054), (1e-4, -3.719_016_485_455_709)] {
        assert!((standard_normal(share) - z).abs() < 1e-12, "{share}");
    }
}
