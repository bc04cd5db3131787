//! Named random streams: portable, value-stable, and independent of each other.
//!
//! A stream is named by (seed, purpose, index). Asking for it twice gives the same numbers; two
//! names never share numbers, so one more draw for one purpose moves no other. The generator is
//! ChaCha with 8 rounds, keyed by the name.

use chacha20::ChaCha8Rng;
use rand::SeedableRng;
use rand::rand_core::TryRng;
use std::convert::Infallible;

/// A random stream. See the module's text.
#[derive(Debug)]
pub struct Stream(ChaCha8Rng);

impl Clone for Stream {
    fn clone(&self) -> Stream {
        Stream(ChaCha8Rng::deserialize_state(&self.0.serialize_state()))
    }
}

impl Stream {
    /// The stream of that name. `purpose` is a word such as `"arrivals"`.
    pub fn named(seed: u64, purpose: &str, index: u64) -> Stream {
        let mut key = [0u8; 32];
        key[0..8].copy_from_slice(&seed.to_le_bytes());
        key[8..16].copy_from_slice(&fnv1a(purpose).to_le_bytes());
        key[16..24].copy_from_slice(&index.to_le_bytes());
        key[24..32].copy_from_slice(b"orrery 1");
        Stream(ChaCha8Rng::from_seed(key))
    }

    /// A float uniform on [0, 1), of 53 bits.
    #[inline]
    pub fn uniform(&mut self) -> f64 {
        use rand::Rng;
        (self.next_u64() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// A whole number uniform on [0, n). `n` is at least 1.
    pub fn below(&mut self, n: u64) -> u64 {
        use rand::Rng;
        // Lemire's multiplication, with rejection: no value is favoured.
        let threshold = n.wrapping_neg() % n;
        loop {
            let wide = u128::from(self.next_u64()) * u128::from(n);
            if wide as u64 >= threshold {
                return (wide >> 64) as u64;
            }
        }
    }
}

impl TryRng for Stream {
    type Error = Infallible;
    // Not inlined: packages that are built without optimisation would have a generator of their own, and the linker
    // may take it for everybody's.
    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        self.0.try_next_u32()
    }
    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        self.0.try_next_u64()
    }
    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
        self.0.try_fill_bytes(bytes)
    }
}

/// The 64-bit FNV-1a hash: names of purposes to numbers.
pub const fn fnv1a(text: &str) -> u64 {
    let bytes = text.as_bytes();
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    let mut i = 0;
    while i < bytes.len() {
        hash = (hash ^ bytes[i] as u64).wrapping_mul(0x100_0000_01b3);
        i += 1;
    }
    hash
}

/// A uniform number on (0, 1) that depends on (seed, purpose, index) alone and costs no generator:
/// for noise keyed by a request's id, where every policy must meet the same truth.
pub fn keyed_uniform(seed: u64, purpose: u64, index: u64) -> f64 {
    let mut x = seed ^ purpose.rotate_left(17) ^ index.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    for _ in 0..2 {
        x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^= x >> 31;
        x = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
    }
    ((x >> 12) as f64 + 0.5) * (1.0 / (1u64 << 52) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::Rng;

    #[test]
    fn a_name_gives_the_same_numbers_and_another_name_others() {
        let first = |seed, purpose, index| Stream::named(seed, purpose, index).next_u64();
        assert_eq!(first(1, "arrivals", 0), first(1, "arrivals", 0));
        let all = [
            first(1, "arrivals", 0),
            first(2, "arrivals", 0),
            first(1, "profile", 0),
            first(1, "arrivals", 1),
        ];
        for (i, a) in all.iter().enumerate() {
            assert!(!all[i + 1..].contains(a));
        }
    }

    #[test]
    fn a_copy_goes_on_with_the_same_numbers() {
        let mut stream = Stream::named(1, "arrivals", 0);
        for drawn in 0..200 {
            let mut copy = stream.clone();
            assert_eq!([(); 3].map(|()| copy.next_u64()), {
                let mut again = Stream::named(1, "arrivals", 0);
                (0..drawn).for_each(|_| _ = again.next_u32());
                [(); 3].map(|()| again.next_u64())
            });
            stream.next_u32();
        }
    }

    /// Recordings are kept for years: another generator would be another world.
    #[test]
    fn the_numbers_are_those_of_chacha_with_eight_rounds() {
        let mut stream = Stream::named(1, "arrivals", 0);
        let first = [0x34a8_ac9b_e9ac_03e5, 0x4ced_691e_4547_212f, 0xb382_8198_daa0_65fa];
        assert_eq!([(); 3].map(|()| stream.next_u64()), first);
    }

    #[test]
    fn keyed_uniform_is_uniform() {
        let n = 100_000;
        let purpose = fnv1a("noise");
        let mean = (0..n).map(|i| keyed_uniform(3, purpose, i)).sum::<f64>() / n as f64;
        assert!((mean - 0.5).abs() < 4.0 * (1.0 / 12.0f64 / n as f64).sqrt());
        let low = (0..n).filter(|&i| keyed_uniform(3, purpose, i) < 0.1).count() as f64;
        assert!((low / n as f64 - 0.1).abs() < 4.0 * (0.09 / n as f64).sqrt());
    }

    #[test]
    fn below_reaches_each_value_equally_often() {
        let mut stream = Stream::named(1, "below", 0);
        let mut counts = [0u32; 6];
        for _ in 0..60_000 {
            counts[stream.below(6) as usize] += 1;
        }
        assert!(counts.iter().all(|&c| (9_600..10_400).contains(&c)), "{counts:?}");
    }
}
