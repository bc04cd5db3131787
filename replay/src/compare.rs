//! A prediction and what happened: two logs of one workload, compared.
//!
//! ```text
//!  predicted log ─┬─> Summary ─┬─> differences of a run
//!  measured log  ─┤─> Summary ─┘
//!                 ├─> first difference, with what each side knew
//!  actions.csv ───┴─> Errors: duration, start, completion ──> figure as Clockwork's Fig. 10
//! ```

mod difference;
mod errors;
mod figure;
mod logs;
mod report;
mod summary;

pub use difference::{decisions, first_difference};
pub use errors::{Errors, Signed};
pub use figure::figure;
pub use logs::{ActionRow, Side, read_actions, read_log_file, rows_csv, same_workload};
pub use report::{Comparison, report};
pub use summary::{Naive, Summary};
