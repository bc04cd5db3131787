//! How it is answered: tables, sentences, figures and rows of what was found.
//!
//! Nothing is searched or simulated here.

pub(crate) mod answers;
pub(crate) mod asked;
pub(crate) mod cells;
pub(crate) mod facts;
pub(crate) mod figure;
pub(crate) mod fleet;
pub(crate) mod head;
pub(crate) mod money;
pub(crate) mod page;
pub(crate) mod rows;
pub(crate) mod sentences;
pub(crate) mod variants;
