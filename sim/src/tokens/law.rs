//! How long a step takes: a law of what is in it, in whole picoseconds, so that no platform rounds it
//! otherwise.
//!
//! ```text
//! step = dense(tokens) + head(sequences) + attention + all_reduce(tokens)
//! attention = at least `floor`:
//!     decode:  base + per_sequence * decodes + per_kv * kv              if no prompt is read
//!     prompt:  base + per_token * tokens + per_pair * pairs             if only prompts are
//!     mixed:   base + per_sequence * decodes + per_kv * kv
//!                   + per_token * prompt tokens + per_pair * pairs      if both are
//! ```
//!
//! `kv` are the tokens that all decodes read, `pairs` the pairs of a prompt's token with one before it.
//! `dense` and `head` are curves through measured points. Who fits a law does it from kernels alone.

use crate::time::Span;

/// A curve through points, straight between them and on beyond the last; level before the first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Curve(Vec<(u32, u64)>);

impl Default for Curve {
    /// Nothing, however much there is.
    fn default() -> Curve {
        Curve(vec![(1, 0)])
    }
}

impl Curve {
    /// A curve through points (count, picoseconds); `None` if there are none or counts do not rise.
    pub fn new(points: Vec<(u32, u64)>) -> Option<Curve> {
        let rising = points.windows(2).all(|pair| pair[0].0 < pair[1].0);
        (rising && !points.is_empty()).then_some(Curve(points))
    }

    /// Its points.
    pub fn points(&self) -> &[(u32, u64)] {
        &self.0
    }

    /// The largest count that was measured.
    pub fn last(&self) -> u32 {
        self.0.last().expect("a curve has a point").0
    }

    fn at(&self, count: u32) -> i128 {
        let above = self.0.partition_point(|p| p.0 < count);
        let (low, high) = match above {
            0 => return i128::from(self.0[0].1),
            _ if self.0.len() == 1 => return i128::from(self.0[0].1),
            n if n == self.0.len() => (self.0[n - 2], self.0[n - 1]),
            n => (self.0[n - 1], self.0[n]),
        };
        let (y0, y1) = (i128::from(low.1), i128::from(high.1));
        y0 + (y1 - y0) * i128::from(count - low.0) / i128::from(high.0 - low.0)
    }
}

/// Attention's time of all layers, in picoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Attention {
    /// No less than this.
    pub floor: i64,
    /// Only decodes: once, for each of them, for each token of KV read.
    pub decode: [i64; 3],
    /// Only prompts: once, for each token, for each pair.
    pub prompt: [i64; 3],
    /// Both: once, for each decode, token of KV read, token of a prompt, pair.
    pub mixed: [i64; 5],
}

/// The law of a step.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct StepLaw {
    /// By tokens: all that is done for each token alone, of all layers.
    pub dense: Curve,
    /// By sequences: the head, and the choice of a token.
    pub head: Curve,
    /// Attention.
    pub attention: Attention,
    /// Adding up the parts of several devices, of all layers: once, and for each token.
    pub all_reduce: [i64; 2],
}

/// What is in a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Sums {
    /// Tokens that are computed.
    pub tokens: u32,
    /// Requests that they are of.
    pub sequences: u32,
    /// Requests that compute the one token after their prompt.
    pub decodes: u32,
    /// Tokens of KV that these read.
    pub kv: u64,
    /// Twice the pairs in what the others compute: `n (2 before + n)` for `n` tokens after `before`.
    pub pairs_twice: u64,
}

impl Sums {
    /// One more request, that computes `tokens` after `before`, with a prompt of `tokens_in`.
    pub fn add(&mut self, tokens: u32, before: u32, tokens_in: u32) {
        self.tokens += tokens;
        self.sequences += 1;
        if tokens == 1 && before >= tokens_in {
            self.decodes += 1;
            self.kv += u64::from(before) + 1;
        } else {
            let (n, before) = (u64::from(tokens), u64::from(before));
            self.pairs_twice += n * (2 * before + n);
        }
    }
}

impl StepLaw {
    /// The time of a step: rounded to whole nanoseconds, at least one.
    pub fn time(&self, sums: &Sums) -> Span {
        let of = |c: i64, x: u64| i128::from(c) * i128::from(x);
        let decodes = u64::from(sums.decodes);
        let in_prompts = u64::from(sums.tokens - sums.decodes);
        let pairs = |c: i64| of(c, sums.pairs_twice) / 2;
        let a = &self.attention;
        let attention = match (decodes > 0, in_prompts > 0) {
            (true, true) => {
                let [base, each, kv, token, pair] = a.mixed;
                let decode = of(each, decodes) + of(kv, sums.kv);
                i128::from(base) + decode + of(token, in_prompts) + pairs(pair)
            }
            (true, false) => {
                let [base, each, kv] = a.decode;
                i128::from(base) + of(each, decodes) + of(kv, sums.kv)
            }
            (false, _) => {
                let [base, token, pair] = a.prompt;
                i128::from(base) + of(token, in_prompts) + pairs(pair)
            }
        };
        let [base, token] = self.all_reduce;
        let reduce = i128::from(base) + of(token, u64::from(sums.tokens));
        let ps = self.dense.at(sums.tokens)
            + self.head.at(sums.sequences)
            + attention.max(i128::from(a.floor))
            + reduce;
        let ns = u64::try_from((ps + 500).div_euclid(1_000)).unwrap_or(0);
        Span::from_ns(ns.max(1))
    }

    /// The time that a prompt takes alone, read in steps of at most `budget` tokens.
    pub fn prompt_alone(&self, tokens_in: u32, budget: u32) -> Span {
        let (mut time, mut before) = (Span::ZERO, 0);
        while before < tokens_in {
            let mut sums = Sums::default();
            let tokens = budget.min(tokens_in - before);
            sums.add(tokens, before, tokens_in);
            time += self.time(&sums);
            before += tokens;
        }
        time
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn law() -> StepLaw {
        StepLaw {
            dense: Curve::new(vec![(1, 1_000_000), (10, 10_000_000), (20, 30_000_000)]).unwrap(),
            head: Curve::new(vec![(2, 500_000), (4, 700_000)]).unwrap(),
            attention: Attention {
                floor: 40_000,
                decode: [10_000, 2_000, 100],
                prompt: [20_000, 3_000, 50],
                mixed: [30_000, 4_000, 200, 5_000, 60],
            },
            all_reduce: [7_000, 1_000],
        }
    }

    #[test]
    fn a_curve_is_straight_between_its_points_and_beyond_the_last() {
        let curve = law().dense;
        assert_eq!((curve.at(1), curve.at(4), curve.at(10)), (1_000_000, 4_000_000, 10_000_000));
        assert_eq!((curve.at(15), curve.at(21)), (20_000_000, 32_000_000));
        assert_eq!((law().head.at(1), law().head.at(3)), (500_000, 600_000));
        assert_eq!(Curve::new(vec![(2, 1), (2, 3)]), None);
        assert_eq!(Curve::new(vec![]), None);
    }

    #[test]
    fn the_three_forms_of_attention_by_hand() {
        // Two decodes that read 31 and 41 tokens: 1000 + 2000/9 x 1; head 0.5; floor or more.
        let mut sums = Sums::default();
        sums.add(1, 30, 20);
        sums.add(1, 40, 40);
        assert_eq!((sums.decodes, sums.kv, sums.pairs_twice), (2, 72, 0));
        // dense(2) 2.0 us, head 0.5 us, attention 10 + 4 + 7.2 ns below the floor of 40, reduce 9 ns.
        assert_eq!(law().time(&sums), Span::from_ns(2_000 + 500 + 40 + 9));
        // And a chunk of 8 tokens after 4 of a prompt of 12: 8 x (2 x 4 + 8) / 2 = 64 pairs.
        sums.add(8, 4, 12);
        assert_eq!((sums.tokens, sums.pairs_twice), (10, 128));
        // 30 + 8 + 14.4 + 40 + 3.84 = 96.24 ns.
        assert_eq!(law().time(&sums), Span::from_ns(10_000 + 600 + 96 + 17));
        // A prompt alone in two chunks: dense(8) + .5 + (20 + 24 + 1.6) + 15, dense(4) + ...
        let (eight, four) = (8_000 + 500 + 46 + 15, 4_000 + 500 + 40 + 11);
        assert_eq!(law().prompt_alone(12, 8), Span::from_ns(eight + four));
    }

    #[test]
    fn a_single_token_of_a_prompt_is_no_decode() {
        let mut sums = Sums::default();
        sums.add(1, 0, 1);
        assert_eq!((sums.decodes, sums.pairs_twice), (0, 1));
    }

    #[test]
    fn a_step_is_never_shorter_than_a_nanosecond() {
        let law = StepLaw { all_reduce: [-1_000_000, 0], ..StepLaw::default() };
        let mut sums = Sums::default();
        sums.add(3, 0, 3);
        assert_eq!(law.time(&sums), Span::from_ns(1));
    }
}
