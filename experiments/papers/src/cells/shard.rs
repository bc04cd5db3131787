//! Parts of a run that are run apart.

/// The K-th of N parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    k: usize,
    n: usize,
}

impl Shard {
    /// Whether a cell belongs to it.
    pub fn has(self, cell: usize) -> bool {
        cell % self.n == self.k - 1
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
