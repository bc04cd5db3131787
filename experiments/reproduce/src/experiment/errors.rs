//! `[errors]`: how the errors against the numbers beside ours are printed.

use schemars::JsonSchema;
use serde::Deserialize;

/// `[errors]`: errors of shares in percentage points and of all else in percent: median, mean and largest.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ErrorsFile {
    /// The axes whose values make the groups.
    #[serde(default)]
    #[schemars(extend("x-default" = "all cells in one group"))]
    pub by: Vec<String>,
    /// Also print a line for all values of the last of these axes, of the last two, and so on.
    #[serde(default)]
    pub totals: bool,
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
