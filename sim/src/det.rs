//! [`Det`]: a 64-bit float whose functions give the same bits on every machine and in every build.
//!
//! `rand_distr` samples through `num_traits::Float`, which is pure Rust (`libm`) until any crate of
//! the build turns on `num-traits/std`, and the platform's C library from then on: the values drawn
//! then depend on what else was compiled. Sampling `rand_distr`'s laws over `Det` instead of `f64`
//! takes `libm` always. It is not a general numeric type: it exists to be sampled.

use crate::ziggurat;
use num_traits::{Float, FloatConst, Num, NumCast, One, ToPrimitive, Zero};
use rand::Rng;
use rand_distr::{Distribution, Exp1, Open01, OpenClosed01, StandardNormal, StandardUniform};
use std::num::FpCategory;
use std::ops::{
    Add, AddAssign, Div, DivAssign, Mul, MulAssign, Neg, Rem, RemAssign, Sub, SubAssign,
};

/// A float with portable functions. See the module's text.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub struct Det(pub f64);

macro_rules! arithmetic {
    ($($trait:ident $method:ident $assign:ident $assign_method:ident $op:tt;)*) => {$(
        impl $trait for Det {
            type Output = Det;
            #[inline]
            fn $method(self, other: Det) -> Det { Det(self.0 $op other.0) }
        }
        impl $assign for Det {
            #[inline]
            fn $assign_method(&mut self, other: Det) { self.0 = self.0 $op other.0; }
        }
    )*};
}

arithmetic! {
    Add add AddAssign add_assign +;
    Sub sub SubAssign sub_assign -;
    Mul mul MulAssign mul_assign *;
    Div div DivAssign div_assign /;
    Rem rem RemAssign rem_assign %;
}

impl Neg for Det {
    type Output = Det;
    fn neg(self) -> Det {
        Det(-self.0)
    }
}

impl Zero for Det {
    fn zero() -> Det {
        Det(0.0)
    }
    fn is_zero(&self) -> bool {
        self.0 == 0.0
    }
}

impl One for Det {
    fn one() -> Det {
        Det(1.0)
    }
}

impl Num for Det {
    type FromStrRadixErr = num_traits::ParseFloatError;
    fn from_str_radix(text: &str, radix: u32) -> Result<Det, Self::FromStrRadixErr> {
        f64::from_str_radix(text, radix).map(Det)
    }
}

impl ToPrimitive for Det {
    fn to_i64(&self) -> Option<i64> {
        self.0.to_i64()
    }
    fn to_u64(&self) -> Option<u64> {
        self.0.to_u64()
    }
    fn to_f64(&self) -> Option<f64> {
        Some(self.0)
    }
}

impl NumCast for Det {
    fn from<T: ToPrimitive>(n: T) -> Option<Det> {
        n.to_f64().map(Det)
    }
}

macro_rules! constants {
    ($($name:ident)*) => {
        impl FloatConst for Det {
            $(fn $name() -> Det { Det(std::f64::consts::$name) })*
        }
    };
}

#[allow(non_snake_case)]
mod constants {
    use super::*;
    constants! {
        E FRAC_1_PI FRAC_1_SQRT_2 FRAC_2_PI FRAC_2_SQRT_PI FRAC_PI_2 FRAC_PI_3 FRAC_PI_4 FRAC_PI_6
        FRAC_PI_8 LN_10 LN_2 LOG10_E LOG2_E PI SQRT_2
    }
}

/// Methods that are exact in IEEE arithmetic: the standard library's are portable.
macro_rules! exact {
    ($($name:ident($($arg:ident),*);)*) => {
        $(#[inline] fn $name(self $(, $arg: Det)*) -> Det { Det(self.0.$name($($arg.0),*)) })*
    };
}

/// Methods that round: through `libm`.
macro_rules! through_libm {
    ($($name:ident($($arg:ident),*) = $function:ident;)*) => {
        $(#[inline] fn $name(self $(, $arg: Det)*) -> Det { Det(libm::$function(self.0 $(, $arg.0)*)) })*
    };
}

impl Float for Det {
    exact! {
        floor(); ceil(); round(); trunc(); fract(); abs(); signum(); recip(); sqrt();
        max(other); min(other); to_degrees(); to_radians();
    }
    through_libm! {
        exp() = exp; exp2() = exp2; exp_m1() = expm1; ln() = log; ln_1p() = log1p; log2() = log2;
        log10() = log10; cbrt() = cbrt; sin() = sin; cos() = cos; tan() = tan; asin() = asin;
        acos() = acos; atan() = atan; sinh() = sinh; cosh() = cosh; tanh() = tanh;
        asinh() = asinh; acosh() = acosh; atanh() = atanh;
        powf(n) = pow; hypot(other) = hypot; atan2(other) = atan2; abs_sub(other) = fdim;
        mul_add(a, b) = fma;
    }
    fn nan() -> Det {
        Det(f64::NAN)
    }
    fn infinity() -> Det {
        Det(f64::INFINITY)
    }
    fn neg_infinity() -> Det {
        Det(f64::NEG_INFINITY)
    }
    fn neg_zero() -> Det {
        Det(-0.0)
    }
    fn min_value() -> Det {
        Det(f64::MIN)
    }
    fn min_positive_value() -> Det {
        Det(f64::MIN_POSITIVE)
    }
    fn max_value() -> Det {
        Det(f64::MAX)
    }
    fn is_nan(self) -> bool {
        self.0.is_nan()
    }
    fn is_infinite(self) -> bool {
        self.0.is_infinite()
    }
    fn is_finite(self) -> bool {
        self.0.is_finite()
    }
    fn is_normal(self) -> bool {
        self.0.is_normal()
    }
    fn classify(self) -> FpCategory {
        self.0.classify()
    }
    fn is_sign_positive(self) -> bool {
        self.0.is_sign_positive()
    }
    fn is_sign_negative(self) -> bool {
        self.0.is_sign_negative()
    }
    fn powi(self, n: i32) -> Det {
        Det(libm::pow(self.0, n as f64))
    }
    fn log(self, base: Det) -> Det {
        self.ln() / base.ln()
    }
    fn sin_cos(self) -> (Det, Det) {
        (self.sin(), self.cos())
    }
    fn integer_decode(self) -> (u64, i16, i8) {
        Float::integer_decode(self.0)
    }
}

impl Distribution<Det> for StandardUniform {
    fn sample<R: Rng + ?Sized>(&self, rng: &mut R) -> Det {
        Det(Distribution::<f64>::sample(self, rng))
    }
}

impl Distribution<Det> for Open01 {
    fn sample<R: Rng + ?Sized>(&self, rng: &mut R) -> Det {
        Det(Distribution::<f64>::sample(self, rng))
    }
}

impl Distribution<Det> for OpenClosed01 {
    #[inline]
    fn sample<R: Rng + ?Sized>(&self, rng: &mut R) -> Det {
        Det(Distribution::<f64>::sample(self, rng))
    }
}

impl Distribution<Det> for Exp1 {
    #[inline]
    fn sample<R: Rng + ?Sized>(&self, rng: &mut R) -> Det {
        Det(ziggurat::EXPONENTIAL.sample(rng))
    }
}

impl Distribution<Det> for StandardNormal {
    #[inline]
    fn sample<R: Rng + ?Sized>(&self, rng: &mut R) -> Det {
        Det(ziggurat::NORMAL.sample(rng))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Stream;
    use rand_distr::{Exp, Gamma, LogNormal, Normal, Poisson};

    /// A law's mean and variance over a million draws, and a hash of the bits drawn.
    fn draw(law: impl Distribution<Det>, name: &str) -> (f64, f64, u64) {
        let mut rng = Stream::named(7, name, 0);
        let (mut sum, mut squares, mut hash) = (0.0, 0.0, 0xcbf2_9ce4_8422_2325_u64);
        for _ in 0..1_000_000 {
            let x = law.sample(&mut rng).0;
            sum += x;
            squares += x * x;
            hash = (hash ^ x.to_bits()).wrapping_mul(0x100_0000_01b3);
        }
        let mean = sum / 1e6;
        (mean, squares / 1e6 - mean * mean, hash)
    }

    #[test]
    fn moments_are_right_and_values_are_those_committed() {
        let check =
            |name: &str, (mean, variance, hash): (f64, f64, u64), m: f64, v: f64, h: u64| {
                assert!((mean - m).abs() < 4.0 * (v / 1e6).sqrt(), "{name}: mean {mean}, not {m}");
                assert!((variance / v - 1.0).abs() < 0.03, "{name}: variance {variance}, not {v}");
                assert_eq!(hash, h, "{name}: the values drawn have changed");
            };
        let det = Det;
        check("exp", draw(Exp::new(det(0.5)).unwrap(), "exp"), 2.0, 4.0, HASHES[0]);
        check(
            "normal",
            draw(Normal::new(det(3.0), det(2.0)).unwrap(), "normal"),
            3.0,
            4.0,
            HASHES[1],
        );
        check(
            "gamma",
            draw(Gamma::new(det(0.25), det(4.0)).unwrap(), "gamma"),
            1.0,
            4.0,
            HASHES[2],
        );
        check("poisson", draw(Poisson::new(det(40.0)).unwrap(), "poisson"), 40.0, 40.0, HASHES[3]);
        let variance = (libm::exp(0.25) - 1.0) * libm::exp(0.25);
        let lognormal = draw(LogNormal::new(det(0.0), det(0.5)).unwrap(), "lognormal");
        check("lognormal", lognormal, libm::exp(0.125), variance, HASHES[4]);
    }

    /// Taken from the first run; they must be equal in debug and release, with and without
    /// `num-traits/std`, on every machine.
    const HASHES: [u64; 5] = [
        2528444140855551071,
        10486848960824851496,
        12318423451052934097,
        16150004126247890981,
        8707102198682287360,
    ];
}
