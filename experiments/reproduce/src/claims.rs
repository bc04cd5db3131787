//! A paper's sentences, checked against rows: each holds or does not, with our figures beside it.

mod cells;
mod claim;
mod estimate;
mod judge;
mod ranges;
mod region;
mod table;
#[cfg(test)]
mod tests;
mod words;

pub use cells::{Differences, compared, versus};
pub use claim::{CellValue, Checked, Claim, LeftOut, Take, Verdict};
pub use judge::{cells_of, check, judged};
pub use ranges::ranges;
pub use region::{Within, region_in_words, region_part, values_with, within};
pub use table::{part, table};
pub use words::{asked, came_out};
