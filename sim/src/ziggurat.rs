//! The ziggurat of Marsaglia and Tsang (2000) for the exponential and the normal law.
//!
//! `rand_distr` has one, but its rare branches call the platform's `exp` and `ln` (see `det`), and
//! its tables are private. Ours are computed with `libm` once, and so are the rare branches.

use rand::Rng;
use rand_distr::{Distribution, Open01};
use std::sync::LazyLock;

const LAYERS: usize = 256;

/// Layers of equal area under a falling density.
pub(crate) struct Ziggurat {
    /// Right ends of the layers, falling; the first belongs to the base with its tail.
    x: [f64; LAYERS + 1],
    /// The density there.
    f: [f64; LAYERS + 1],
    density: fn(f64) -> f64,
    /// Draws beyond the base's right end `r`.
    tail: fn(&mut dyn FnMut() -> f64, f64) -> f64,
    symmetric: bool,
}

/// The exponential law with mean 1.
pub(crate) static EXPONENTIAL: LazyLock<Ziggurat> = LazyLock::new(|| {
    let density = |x: f64| libm::exp(-x);
    let inverse = |y: f64| -libm::log(y);
    let tail = |uniform: &mut dyn FnMut() -> f64, r: f64| r - libm::log(uniform());
    // Right end of the base and area of a layer for 256 layers.
    Ziggurat::new(7.697_117_470_131_05, 3.949_659_822_581_557e-3, density, inverse, tail, false)
});

/// The normal law with mean 0 and variance 1.
pub(crate) static NORMAL: LazyLock<Ziggurat> = LazyLock::new(|| {
    let density = |x: f64| libm::exp(-x * x / 2.0);
    let inverse = |y: f64| (-2.0 * libm::log(y)).sqrt();
    let tail = |uniform: &mut dyn FnMut() -> f64, r: f64| loop {
        let x = libm::log(uniform()) / r;
        let y = libm::log(uniform());
        if -2.0 * y >= x * x {
            return r - x;
        }
    };
    Ziggurat::new(3.654_152_885_361_009, 4.928_673_233_974_655e-3, density, inverse, tail, true)
});

impl Ziggurat {
    fn new(
        r: f64,
        area: f64,
        density: fn(f64) -> f64,
        inverse: fn(f64) -> f64,
        tail: fn(&mut dyn FnMut() -> f64, f64) -> f64,
        symmetric: bool,
    ) -> Ziggurat {
        let mut x = [0.0; LAYERS + 1];
        x[0] = area / density(r);
        x[1] = r;
        for i in 2..LAYERS {
            x[i] = inverse(area / x[i - 1] + density(x[i - 1]));
        }
        Ziggurat { f: x.map(density), x, density, tail, symmetric }
    }

    #[inline]
    pub fn sample<R: Rng + ?Sized>(&self, rng: &mut R) -> f64 {
        loop {
            // 8 bits choose the layer, 53 others the place in it.
            let bits = rng.next_u64();
            let layer = (bits & 0xff) as usize;
            let unit = (bits >> 11) as f64 * (1.0 / (1u64 << 53) as f64);
            let u = if self.symmetric { 2.0 * unit - 1.0 } else { unit };
            let x = u * self.x[layer];
            if x.abs() < self.x[layer + 1] {
                return x;
            }
            if let Some(x) = self.rare(rng, layer, x) {
                return x;
            }
        }
    }

    /// About one draw in a hundred: the tail, or the wedge between a layer and the curve.
    #[cold]
    fn rare<R: Rng + ?Sized>(&self, rng: &mut R, layer: usize, x: f64) -> Option<f64> {
        let mut uniform = || Distribution::<f64>::sample(&Open01, rng);
        if layer == 0 {
            let beyond = (self.tail)(&mut uniform, self.x[1]);
            return Some(if x < 0.0 { -beyond } else { beyond });
        }
        let height = self.f[layer] + (self.f[layer + 1] - self.f[layer]) * uniform();
        (height < (self.density)(x)).then_some(x)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Stream;

    /// The largest distance between the empirical CDF and the law's, times the root of n: above
    /// 1.95 with probability 0.001 (Kolmogorov and Smirnov).
    fn distance(ziggurat: &Ziggurat, cdf: impl Fn(f64) -> f64) -> f64 {
        let mut rng = Stream::named(3, "ziggurat", 0);
        let n = 1_000_000;
        let mut drawn: Vec<f64> = (0..n).map(|_| ziggurat.sample(&mut rng)).collect();
        drawn.sort_by(f64::total_cmp);
        let far = |(i, x): (usize, &f64)| {
            let below = i as f64 / n as f64;
            (cdf(*x) - below).abs().max((cdf(*x) - below - 1.0 / n as f64).abs())
        };
        drawn.iter().enumerate().map(far).fold(0.0, f64::max) * (n as f64).sqrt()
    }

    #[test]
    fn the_exponential_law_passes_kolmogorov_smirnov() {
        let d = distance(&EXPONENTIAL, |x| -libm::expm1(-x));
        assert!(d < 1.95, "{d}");
    }

    #[test]
    fn the_normal_law_passes_kolmogorov_smirnov() {
        let d = distance(&NORMAL, |x| 0.5 * libm::erfc(-x / std::f64::consts::SQRT_2));
        assert!(d < 1.95, "{d}");
    }

    #[test]
    fn layers_have_equal_areas_and_meet_at_the_top() {
        for z in [&*EXPONENTIAL, &*NORMAL] {
            let area = z.x[0] * z.f[1];
            for i in 1..LAYERS {
                let layer = z.x[i] * (z.f[i + 1] - z.f[i]);
                assert!((layer / area - 1.0).abs() < 1e-6, "layer {i}: {layer}, not {area}");
            }
        }
    }
}
