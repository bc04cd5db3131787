//! `[errors]`: how the errors of shares against the numbers beside them are printed.

use schemars::JsonSchema;
use serde::Deserialize;

/// `[errors]`: errors in percentage points, with their mean and the largest.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ErrorsFile {
    /// The axes whose values make the groups that have a mean and a largest error.
    #[serde(default)]
    #[schemars(extend("x-default" = "all cells in one group"))]
    pub by: Vec<String>,
    /// The heading of the numbers that ours are compared with.
    #[serde(default = "paper")]
    #[schemars(extend("x-default" = "`\"paper\"`"))]
    pub beside: String,
    /// Print only the errors of the groups, and no table of all cells.
    #[serde(default)]
    pub groups_only: bool,
}

fn paper() -> String {
    "paper".to_string()
}
