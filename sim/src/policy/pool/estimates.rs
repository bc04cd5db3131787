//! How long a query takes on a kind of instance, as a policy believes: a table made before the run, or
//! learnt from the queries served.
//!
//! It is never the truth; that is the driver's.

use crate::policy::parameters::words;
use crate::profile::{KindsProfile, ModelProfile};
use crate::request::SIZE_MAX;
use crate::time::Span;

/// Sizes are told apart in steps of so many items when they are learnt: those of the measurements.
const STEP: u32 = 10;

words! {
    /// Where estimates come from.
    pub enum Learn {
        /// Released code.
        Offline = "offline": "the profile's mean of each size, before the run",
        /// Paper, §5.1. The line through one size is flat; before any query the estimate is zero.
        Online = "online": "the queries served: a size's mean, else a line through all",
    }
}

/// Estimates by model, kind and size.
#[derive(Debug)]
pub struct Estimates {
    kinds: usize,
    models: Vec<OfModel>,
    learnt: bool,
}

#[derive(Debug)]
struct OfModel {
    base: usize,
    largest: u32,
    /// `table[size * kinds + kind]`, up to the largest size; empty when they are learnt.
    table: Vec<Span>,
    profile: KindsProfile,
    /// By kind.
    learnt: Vec<Learnt>,
}

impl Estimates {
    /// Before the run. `round` is applied to the profile's means.
    pub fn new(profiles: &[ModelProfile], learn: Learn, round: impl Fn(Span) -> Span) -> Estimates {
        let of = |p: &ModelProfile| match &p.kinds {
            Some(kinds) => kinds.clone(),
            None => {
                let largest = p.sizes.last().map_or(1, |s| s.size);
                KindsProfile { laws: vec![p.law.clone()], base: 0, largest }
            }
        };
        let profiles_by_kind: Vec<KindsProfile> = profiles.iter().map(of).collect();
        let kinds = profiles_by_kind.iter().map(|p| p.laws.len()).max().unwrap_or(1);
        let model = |(profile, all): (KindsProfile, &ModelProfile)| {
            let alone = all.typical(1);
            let on = |kind: usize| &profile.laws[kind.min(profile.laws.len() - 1)];
            let size = |size: u32| (0..kinds).map(move |kind| (kind, size));
            let table = match learn {
                Learn::Online => Vec::new(),
                Learn::Offline => {
                    let all = (0..=profile.largest.min(SIZE_MAX)).flat_map(size);
                    all.map(|(kind, size)| round(on(kind).batch(size, alone))).collect()
                }
            };
            let learnt = (0..kinds).map(|_| Learnt::default()).collect();
            let (base, largest) = (profile.base as usize, profile.largest.min(SIZE_MAX));
            OfModel { base, largest, table, profile, learnt }
        };
        let models = profiles_by_kind.into_iter().zip(profiles).map(model).collect();
        Estimates { kinds, models, learnt: learn == Learn::Online }
    }

    /// How many kinds there are.
    pub fn kinds(&self) -> usize {
        self.kinds
    }

    /// The latency of a query.
    #[inline]
    pub fn of(&self, model: usize, kind: usize, size: u32) -> Span {
        let m = &self.models[model];
        let kind = kind.min(self.kinds - 1);
        let size = size.min(m.largest);
        match self.learnt {
            true => m.learnt[kind].estimate(size),
            false => m.table[size as usize * self.kinds + kind],
        }
    }

    /// A query was served.
    pub fn learn(&mut self, model: usize, kind: usize, size: u32, took: Span) {
        if self.learnt {
            self.models[model].learnt[kind.min(self.kinds - 1)].add(size.min(SIZE_MAX), took);
        }
    }

    /// The heterogeneity coefficient C_j of a kind (paper, Definition 1): the base kind's latency of
    /// the largest query over this kind's, both as believed; 1 where either is not known yet. `None`
    /// when it cannot have changed since it was last asked for.
    pub fn coefficient(&self, model: usize, kind: usize) -> f64 {
        let m = &self.models[model];
        let latency = |kind: usize| match self.learnt {
            true => m.learnt[kind].estimate(m.largest),
            // Not rounded: the released code takes the measured means.
            false => {
                m.profile.laws[kind.min(m.profile.laws.len() - 1)].batch(m.largest, Span::ZERO)
            }
        };
        let (base, own) = (latency(m.base), latency(kind));
        if base == Span::ZERO || own == Span::ZERO {
            return 1.0;
        }
        base.ns() as f64 / own.ns() as f64
    }
}

/// What was learnt of one model on one kind.
#[derive(Debug, Default)]
struct Learnt {
    /// By size in steps: how many, and the sum of their latencies in ns.
    served: Vec<(u64, u64)>,
    n: f64,
    /// Sums of sizes, of latencies, of squares and of products, for the line.
    x: f64,
    y: f64,
    xx: f64,
    xy: f64,
}

impl Learnt {
    fn add(&mut self, size: u32, took: Span) {
        let step = size.div_ceil(STEP) as usize;
        if self.served.len() <= step {
            self.served.resize(step + 1, (0, 0));
        }
        self.served[step].0 += 1;
        self.served[step].1 += took.ns();
        let (x, y) = (f64::from(size), took.ns() as f64);
        self.n += 1.0;
        self.x += x;
        self.y += y;
        self.xx += x * x;
        self.xy += x * y;
    }

    fn estimate(&self, size: u32) -> Span {
        match self.served.get(size.div_ceil(STEP) as usize) {
            Some(&(n, sum)) if n > 0 => return Span::from_ns(sum / n),
            _ if self.n == 0.0 => return Span::ZERO,
            _ => {}
        }
        let spread = self.n * self.xx - self.x * self.x;
        // Sizes are whole numbers, so the spread of two different ones is at least 1.
        let slope = if spread >= 1.0 { (self.n * self.xy - self.x * self.y) / spread } else { 0.0 };
        let at_zero = (self.y - slope * self.x) / self.n;
        Span::from_ns_f64((at_zero + slope * f64::from(size)).max(0.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::latency::Latency;

    fn profile() -> ModelProfile {
        let law = |alpha, beta| Latency::Affine {
            alpha: Span::from_us(alpha),
            beta: Span::from_us(beta),
        };
        let laws = vec![law(100, 2_000), law(400, 1_000)];
        ModelProfile::of_kinds(KindsProfile { laws, base: 0, largest: 1_000 }, Span::from_ms(350))
    }

    #[test]
    fn the_offline_table_is_the_profile() {
        let e = Estimates::new(&[profile()], Learn::Offline, |s| s);
        assert_eq!(e.of(0, 0, 100), Span::from_ms(12));
        assert_eq!(e.of(0, 1, 1_000), Span::from_ms(401));
        assert!((e.coefficient(0, 1) - 102.0 / 401.0).abs() < 1e-12);
        let rounded = Estimates::new(&[profile()], Learn::Offline, |_| Span::from_ms(7));
        assert_eq!(rounded.of(0, 1, 3), Span::from_ms(7));
        assert!((rounded.coefficient(0, 1) - 102.0 / 401.0).abs() < 1e-12);
    }

    #[test]
    fn a_line_is_learnt_first_and_the_table_takes_over() {
        let mut e = Estimates::new(&[profile()], Learn::Online, |s| s);
        assert_eq!((e.of(0, 0, 500), e.coefficient(0, 1)), (Span::ZERO, 1.0));
        e.learn(0, 0, 100, Span::from_ms(12));
        assert_eq!(e.of(0, 0, 500), Span::from_ms(12), "one size is a flat line");
        e.learn(0, 0, 300, Span::from_ms(32));
        assert_eq!(e.of(0, 0, 500), Span::from_ms(52), "two are a line");
        assert_eq!(e.of(0, 0, 299), Span::from_ms(32), "291 to 300 are one step of the table");
        e.learn(0, 0, 500, Span::from_ms(60));
        e.learn(0, 0, 495, Span::from_ms(50));
        assert_eq!(e.of(0, 0, 500), Span::from_ms(55), "the mean of what was served");
        assert_eq!(e.of(0, 1, 500), Span::ZERO, "another kind knows nothing yet");
    }
}
