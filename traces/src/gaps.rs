//! Gaps between arrivals that are drawn once and stretched: a search asks for the same arrivals at many rates,
//! and a rate only scales gamma-distributed gaps.
//!
//! ```text
//!  Gaps ── the first process of a stream takes what is kept (nothing yet) ──> GammaGaps: draws, keeps
//!   ▲                                                                            │
//!   └──────────────────── gives it back when it ends, for the next one ◀─────────┘
//! ```
//!
//! A gap is the same to the last bit whether it was kept or drawn anew. What is kept of all streams together is
//! bounded; what comes after that is drawn anew each time.

use orrery_sim::det::Det;
use orrery_sim::rng::Stream;
use rand_distr::{Distribution, Gamma};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Gaps of all streams that are kept: 16 MiB.
const KEPT_MAX: usize = 1 << 21;

/// A stream claims room for so many more of them at a time.
const ROOM: usize = 1 << 12;

/// Which gaps: seed and index of their stream, and the shape's bits.
type Name = (u64, u64, u64);

/// The gaps that are kept. By default none are.
#[derive(Clone, Debug, Default)]
pub struct Gaps(Option<Arc<Mutex<Store>>>);

#[derive(Debug)]
struct Store {
    kept: BTreeMap<Name, Kept>,
    room: usize,
}

/// The first gaps of a stream with a scale of one, and the stream behind them.
#[derive(Debug)]
struct Kept {
    gaps: Vec<f64>,
    then: Stream,
}

impl Gaps {
    /// Keeps what is drawn by processes that are started with it, one after the other.
    pub fn kept() -> Gaps {
        Gaps::within(KEPT_MAX)
    }

    fn within(room: usize) -> Gaps {
        Gaps(Some(Arc::new(Mutex::new(Store { kept: BTreeMap::new(), room }))))
    }
}

fn locked(store: &Mutex<Store>) -> MutexGuard<'_, Store> {
    store.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Gamma-distributed gaps, in nanoseconds.
#[derive(Debug)]
pub(crate) struct GammaGaps {
    law: Gamma<Det>,
    /// What a value of `law` is multiplied by.
    factor: f64,
    next: usize,
    /// Gaps up to this one may be kept.
    room: usize,
    from: Option<(Arc<Mutex<Store>>, Name, Kept)>,
    /// The stream of what is not kept.
    beyond: Option<Stream>,
}

impl GammaGaps {
    /// Of the stream `"arrivals"` of this seed and index. Both parameters are positive.
    pub(crate) fn new(shape: f64, scale_ns: f64, seed: u64, index: u64, gaps: &Gaps) -> GammaGaps {
        let stream = Stream::named(seed, "arrivals", index);
        let law = |scale: f64| Gamma::new(Det(shape), Det(scale)).expect("both are positive");
        // Above a shape of one the law does not multiply by its scale last: the last bits would differ.
        let Some(store) = gaps.0.as_ref().filter(|_| shape <= 1.0) else {
            let (law, beyond) = (law(scale_ns), Some(stream));
            return GammaGaps { law, factor: 1.0, next: 0, room: 0, from: None, beyond };
        };
        let name = (seed, index, shape.to_bits());
        let kept = locked(store).kept.remove(&name);
        let kept = kept.unwrap_or(Kept { gaps: Vec::new(), then: stream });
        // As `rand_distr` computes it: a shape of one is an exponential law of the rate 1 / scale.
        let factor = if shape == 1.0 { 1.0 / (1.0 / scale_ns) } else { scale_ns };
        let room = kept.gaps.len();
        let from = Some((store.clone(), name, kept));
        GammaGaps { law: law(1.0), factor, next: 0, room, from, beyond: None }
    }

    /// The next gap.
    #[inline]
    pub(crate) fn next_ns(&mut self) -> f64 {
        if let Some((_, _, kept)) = &self.from
            && let Some(gap) = kept.gaps.get(self.next)
        {
            self.next += 1;
            return gap * self.factor;
        }
        self.draw() * self.factor
    }

    fn draw(&mut self) -> f64 {
        if let Some(stream) = &mut self.beyond {
            return self.law.sample(stream).0;
        }
        let (store, _, kept) = self.from.as_mut().expect("what is not kept is drawn beyond it");
        if self.next == self.room {
            let mut store = locked(store);
            let more = store.room.min(ROOM);
            (store.room, self.room) = (store.room - more, self.room + more);
        }
        if self.next == self.room {
            let mut stream = kept.then.clone();
            let gap = self.law.sample(&mut stream).0;
            self.beyond = Some(stream);
            return gap;
        }
        let gap = self.law.sample(&mut kept.then).0;
        kept.gaps.push(gap);
        self.next += 1;
        gap
    }
}

impl Drop for GammaGaps {
    fn drop(&mut self) {
        if let Some((store, name, kept)) = self.from.take() {
            let mut store = locked(&store);
            store.room += self.room - kept.gaps.len();
            // Of two that ran at the same time the last one stays, and the other's room is free again.
            if let Some(other) = store.kept.insert(name, kept) {
                store.room += other.gaps.len();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHAPES: [f64; 6] = [0.1, 0.35, 0.999, 1.0, 1.5, 40.0];

    /// As `rand_distr` draws them.
    fn anew(shape: f64, scale: f64, n: usize) -> Vec<u64> {
        let law = Gamma::new(Det(shape), Det(scale)).unwrap();
        let mut stream = Stream::named(7, "arrivals", 3);
        (0..n).map(|_| law.sample(&mut stream).0.to_bits()).collect()
    }

    fn drawn(shape: f64, scale: f64, n: usize, gaps: &Gaps) -> Vec<u64> {
        let mut process = GammaGaps::new(shape, scale, 7, 3, gaps);
        (0..n).map(|_| process.next_ns().to_bits()).collect()
    }

    #[test]
    fn a_kept_gap_is_the_drawn_one_to_the_last_bit() {
        for shape in SHAPES {
            for gaps in [Gaps::default(), Gaps::within(100), Gaps::within(5_000), Gaps::kept()] {
                // Shorter, longer, and beyond what is kept.
                for (scale, n) in [(1e9 / 3.0, 500), (1.1e5, 9_000), (12_345.678, 70), (1e7, 9_001)]
                {
                    assert_eq!(drawn(shape, scale, n, &gaps), anew(shape, scale, n), "{shape}");
                }
            }
        }
    }

    #[test]
    fn what_is_kept_is_bounded_and_is_read_again() {
        let gaps = Gaps::within(5_000);
        let held = || {
            let store = locked(gaps.0.as_ref().unwrap());
            let lengths: Vec<usize> = store.kept.values().map(|k| k.gaps.len()).collect();
            (lengths, store.room)
        };
        drawn(0.5, 1.0, 300, &gaps);
        assert_eq!(held(), (vec![300], 4_700));
        drawn(0.5, 2.0, 100, &gaps);
        assert_eq!(held(), (vec![300], 4_700), "nothing was drawn");
        let mut first = GammaGaps::new(0.5, 1.0, 7, 3, &gaps);
        let mut second = GammaGaps::new(0.5, 1.0, 7, 3, &gaps);
        (0..900).for_each(|_| assert_eq!(first.next_ns().to_bits(), second.next_ns().to_bits()));
        drop((first, second));
        assert_eq!(held(), (vec![900], 4_100), "two at a time share one name");
        drawn(0.7, 1.0, 9_000, &gaps);
        assert_eq!(held(), (vec![900, 4_100], 0));
        drawn(2.0, 1.0, 10, &gaps);
        assert_eq!(held().0.len(), 2, "not kept");
    }
}
