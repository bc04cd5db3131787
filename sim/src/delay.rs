//! [`DelayLaw`]: how long a message takes, as a law.
//!
//! A delay depends on (seed, what the message is, its action) alone: not on the order in which
//! messages are sent, so every policy meets the same network on the same action. It is not for a
//! device's work: [`latency`](crate::latency) is.

use crate::rng::keyed_uniform;
use crate::time::Span;

/// How long a message takes.
///
/// ```
/// use orrery_sim::delay::DelayLaw;
/// use orrery_sim::time::Span;
///
/// let network = DelayLaw::lognormal(Span::from_us(33), Span::from_us(300));
/// assert_eq!(network.quantile(0.5), Span::from_us(33));
/// // The same message takes as long under every policy.
/// let (seed, dispatch, action) = (1, 0, 42);
/// assert_eq!(network.draw(seed, dispatch, action), network.draw(seed, dispatch, action));
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum DelayLaw {
    /// Always so long.
    Constant(Span),
    /// Uniform between two lengths.
    Uniform {
        /// The shortest.
        low: Span,
        /// The longest, not below `low`.
        high: Span,
    },
    /// Lognormal: `median * exp(sigma * Z)`, Z standard normal.
    Lognormal {
        /// The median.
        median: Span,
        /// The deviation of the logarithm.
        sigma: f64,
    },
}

impl Default for DelayLaw {
    /// No delay.
    fn default() -> DelayLaw {
        DelayLaw::Constant(Span::ZERO)
    }
}

impl From<Span> for DelayLaw {
    fn from(span: Span) -> DelayLaw {
        DelayLaw::Constant(span)
    }
}

impl DelayLaw {
    /// The lognormal law with this median and this 99.99th percentile: what benchmarks of networks
    /// tell (Symphony, Appendix B).
    ///
    /// # Panics
    /// When the median is zero or the percentile is below it.
    pub fn lognormal(median: Span, p9999: Span) -> DelayLaw {
        assert!(Span::ZERO < median && median <= p9999, "a percentile above a median above 0");
        let ratio = p9999.ns() as f64 / median.ns() as f64;
        DelayLaw::Lognormal { median, sigma: libm::log(ratio) / normal_quantile(0.9999) }
    }

    /// The delay that a share `q` of all messages do not exceed; 0 gives the shortest. Policies
    /// that keep a reserve for the network plan with a high one.
    ///
    /// # Panics
    /// When `q` is not from 0 to below 1.
    pub fn quantile(&self, q: f64) -> Span {
        assert!((0.0..1.0).contains(&q), "a quantile from 0 to below 1, not {q}");
        match *self {
            DelayLaw::Constant(span) => span,
            DelayLaw::Uniform { low, high } => low + (high.minus(low)).scale(q),
            DelayLaw::Lognormal { .. } if q == 0.0 => Span::ZERO,
            DelayLaw::Lognormal { median, sigma } => {
                median.scale(libm::exp(sigma * normal_quantile(q)))
            }
        }
    }

    /// The delay of one message.
    #[inline]
    pub fn draw(&self, seed: u64, purpose: u64, key: u64) -> Span {
        match *self {
            DelayLaw::Constant(span) => span,
            _ => self.quantile(keyed_uniform(seed, purpose, key)),
        }
    }
}

/// The inverse of the standard normal CDF, to 16 digits: Wichura's AS 241 (1988), PPND16.
///
/// `p` is above 0 and below 1.
pub fn normal_quantile(p: f64) -> f64 {
    let q = p - 0.5;
    if q.abs() <= 0.425 {
        let r = 0.180625 - q * q;
        return q * polynomial(&CENTRE.0, r) / polynomial(&CENTRE.1, r);
    }
    let tail = if q < 0.0 { p } else { 1.0 - p };
    let r = (-libm::log(tail)).sqrt();
    let x = if r <= 5.0 {
        polynomial(&MIDDLE.0, r - 1.6) / polynomial(&MIDDLE.1, r - 1.6)
    } else {
        polynomial(&FAR.0, r - 5.0) / polynomial(&FAR.1, r - 5.0)
    };
    if q < 0.0 { -x } else { x }
}

/// Coefficients from the lowest power up.
fn polynomial(coefficients: &[f64; 8], x: f64) -> f64 {
    coefficients.iter().rev().fold(0.0, |sum, c| sum * x + c)
}

type Ratio = ([f64; 8], [f64; 8]);

const CENTRE: Ratio = (
    [
        3.387_132_872_796_366_5,
        1.331_416_678_917_843_8e2,
        1.971_590_950_306_551_3e3,
        1.373_169_376_550_946e4,
        4.592_195_393_154_987e4,
        6.726_577_092_700_87e4,
        3.343_057_558_358_813e4,
        2.509_080_928_730_122_7e3,
    ],
    [
        1.0,
        4.231_333_070_160_091e1,
        6.871_870_074_920_579e2,
        5.394_196_021_424_751e3,
        2.121_379_430_158_659_7e4,
        3.930_789_580_009_271e4,
        2.872_908_573_572_194_3e4,
        5.226_495_278_852_854e3,
    ],
);

const MIDDLE: Ratio = (
    [
        1.423_437_110_749_683_5,
        4.630_337_846_156_546,
        5.769_497_221_460_691,
        3.647_848_324_763_204_5,
        1.270_458_252_452_368_4,
        2.417_807_251_774_506e-1,
        2.272_384_498_926_918_4e-2,
        7.745_450_142_783_414e-4,
    ],
    [
        1.0,
        2.053_191_626_637_759,
        1.676_384_830_183_803_8,
        6.897_673_349_851e-1,
        1.481_039_764_274_800_8e-1,
        1.519_866_656_361_645_7e-2,
        5.475_938_084_995_345e-4,
        1.050_750_071_644_416_9e-9,
    ],
);

const FAR: Ratio = (
    [
        6.657_904_643_501_103,
        5.463_784_911_164_114,
        1.784_826_539_917_291_3,
        2.965_605_718_285_048_7e-1,
        2.653_218_952_657_612_4e-2,
        1.242_660_947_388_078_4e-3,
        2.711_555_568_743_487_6e-5,
        2.010_334_399_292_288_1e-7,
    ],
    [
        1.0,
        5.998_322_065_558_88e-1,
        1.369_298_809_227_358e-1,
        1.487_536_129_085_061_5e-2,
        7.868_691_311_456_133e-4,
        1.846_318_317_510_054_8e-5,
        1.421_511_758_316_446e-7,
        2.044_263_103_389_939_8e-15,
    ],
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_normal_quantile_is_the_inverse_of_the_cdf() {
        for i in 1..2_000 {
            let z = f64::from(i) * 0.004;
            for z in [z, -z] {
                // Of the tail that is small, so that no digit is lost.
                let tail = 0.5 * libm::erfc(z.abs() / std::f64::consts::SQRT_2);
                let found = normal_quantile(tail);
                assert!((found + z.abs()).abs() < 1e-12 * z.abs().max(1.0), "{z}: {found}");
            }
        }
        assert_eq!(normal_quantile(0.5), 0.0);
        assert!((normal_quantile(0.9999) - 3.719_016_485_455_708_4).abs() < 1e-12);
    }

    #[test]
    fn quantiles_are_those_of_the_draws() {
        let ms = Span::from_ms;
        let laws = [
            DelayLaw::Constant(ms(2)),
            DelayLaw::Uniform { low: ms(1), high: ms(5) },
            DelayLaw::lognormal(ms(3), ms(36)),
        ];
        for law in laws {
            let mut drawn: Vec<Span> = (0..100_000).map(|key| law.draw(7, 1, key)).collect();
            drawn.sort();
            for q in [0.1, 0.5, 0.9, 0.99] {
                let (seen, said) = (drawn[(q * 1e5) as usize].ns(), law.quantile(q).ns());
                assert!((seen as f64 / said as f64 - 1.0).abs() < 0.03, "{law:?} {q}: {seen}");
            }
            assert!(law.quantile(0.0) <= drawn[0]);
        }
        assert_eq!(laws[2].quantile(0.5), ms(3));
        assert!(laws[2].quantile(0.9999).ns().abs_diff(ms(36).ns()) < 10);
    }

    #[test]
    fn a_draw_depends_on_its_name_alone() {
        let law = DelayLaw::Uniform { low: Span::ZERO, high: Span::from_ms(5) };
        assert_eq!(law.draw(1, 2, 3), law.draw(1, 2, 3));
        let others = [law.draw(2, 2, 3), law.draw(1, 3, 3), law.draw(1, 2, 4)];
        assert!(others.iter().all(|d| *d != law.draw(1, 2, 3)));
    }
}
