//! The keys of a message's delay, as `serde` reads and writes them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How long a message takes.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema, PartialEq)]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
pub enum DelayLaw {
    /// A constant.
    Constant {
        /// The delay.
        ms: f64,
    },
    /// Uniform.
    Uniform {
        /// The shortest.
        low_ms: f64,
        /// The longest.
        high_ms: f64,
    },
    /// Lognormal.
    Lognormal {
        /// The median.
        median_ms: f64,
        /// The 99.99th percentile.
        p9999_ms: f64,
    },
}
