//! Which machines may be lost: any one of each type, or one of a type that is named.

use schemars::JsonSchema;
use serde::Deserialize;

/// `survive`.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Eq)]
#[serde(untagged, expecting = "0, 1 (any one machine of each type), or the name of a type")]
pub enum Survive {
    /// So many machines of each type, one type at a time.
    Any(u32),
    /// One machine of this type.
    Kind(String),
}

impl Survive {
    /// As a what-if or an option says it: `0`, `1`, or a type.
    pub fn of_word(word: &str) -> Survive {
        word.parse().map_or_else(|_| Survive::Kind(word.to_string()), Survive::Any)
    }
}
