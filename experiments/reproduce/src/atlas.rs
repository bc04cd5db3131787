//! The atlas: every shipped table and figure, or some of them, run one after another, and one page of what came out.
//!
//! ```text
//!  Chosen ──> reproduce::run, an id at a time ──> its files in the folder, its plate (page::of) ──> the page
//!     └── what is not run: as its time says, or as a paper's absent.csv says why
//! ```
//!
//! An id's rows are dropped when its plate is made: memory is that of the largest id.

mod chosen;
mod costs;
mod plate;

pub use chosen::Chosen;
pub use costs::{Costs, Running};
pub use plate::{Plate, page};
