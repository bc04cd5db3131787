//! Parts of a run that are run apart.

use super::hash::sha256;

/// The K-th of N parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    k: usize,
    n: usize,
}

impl Shard {
    /// The numbers of the cells that belong to it, in order. They are dealt by the hashes of their names,
    /// which no axis and no policy follows: in the order of results, one shard could have all cells of the
    /// slowest policy.
    pub fn of<'a>(self, names: impl Iterator<Item = &'a str>) -> Vec<usize> {
        let hashed = names.enumerate().map(|(i, name)| (sha256(name.as_bytes()), i));
        let mut all: Vec<(String, usize)> = hashed.collect();
        all.sort();
        let mut own: Vec<usize> =
            all.iter().skip(self.k - 1).step_by(self.n).map(|(_, i)| *i).collect();
        own.sort_unstable();
        own
    }
}

impl std::fmt::Display for Shard {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}", self.k, self.n)
    }
}

impl std::str::FromStr for Shard {
    type Err = String;
    fn from_str(text: &str) -> Result<Shard, String> {
        let parts =
            text.split_once('/').and_then(|(k, n)| Some((k.parse().ok()?, n.parse().ok()?)));
        match parts {
            Some((k, n)) if 1 <= k && k <= n => Ok(Shard { k, n }),
            _ => Err("K/N with K from 1 to N, such as 2/8".to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_cell_is_in_one_shard_and_policies_are_spread_over_all() {
        let names: Vec<String> = (0..400).map(|i| format!("{} {}", i / 2, i % 2)).collect();
        let of = |k| Shard { k, n: 4 }.of(names.iter().map(String::as_str));
        let all: Vec<Vec<usize>> = (1..=4).map(of).collect();
        let mut joined = all.concat();
        joined.sort_unstable();
        assert_eq!(joined, (0..400).collect::<Vec<_>>());
        for own in all {
            assert_eq!(own.len(), 100);
            let first = own.iter().filter(|i| *i % 2 == 0).count();
            assert!((30..=70).contains(&first), "{first} of 100 are of the first policy");
        }
    }
}
