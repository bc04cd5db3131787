//! A set of small numbers, a bit for each: devices, groups of models.

/// The set.
#[derive(Default)]
pub(crate) struct Numbers(Vec<u64>);

impl Numbers {
    /// Adds a number that is not there, or takes out one that is.
    pub fn flip(&mut self, number: usize) {
        if self.0.len() <= number / 64 {
            self.0.resize(number / 64 + 1, 0);
        }
        self.0[number / 64] ^= 1 << (number % 64);
    }

    /// Those from `from` on, growing.
    pub fn from(&self, from: usize) -> impl Iterator<Item = usize> {
        let words = self.0.iter().enumerate().skip(from / 64);
        words.flat_map(move |(at, &word)| {
            let before = if at == from / 64 { (1 << (from % 64)) - 1 } else { 0 };
            let rest = |word: &u64| Some(word & (word - 1)).filter(|rest| *rest != 0);
            let all = std::iter::successors(Some(word & !before).filter(|w| *w != 0), rest);
            all.map(move |word| 64 * at + word.trailing_zeros() as usize)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_from_a_place_on_whatever_word_it_is_in() {
        let mut numbers = Numbers::default();
        let all = [0, 5, 63, 64, 65, 127, 200, 256];
        all.iter().for_each(|&n| numbers.flip(n));
        for from in 0..300 {
            let wanted: Vec<usize> = all.into_iter().filter(|&n| n >= from).collect();
            assert_eq!(numbers.from(from).collect::<Vec<_>>(), wanted);
        }
        numbers.flip(64);
        assert_eq!(numbers.from(64).next(), Some(65));
    }
}
