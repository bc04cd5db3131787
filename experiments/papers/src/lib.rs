//! What the `orrery` command line is made of, below its commands. Arrows run down only:
//!
//! | floor | what is on it |
//! |---|---|
//! | [`papers`] | the registry of experiments, their one shape, claims, report |
//! | [`cells`] | one specification and one policy with its seeds; grids, store, the search for a rate |
//! | [`output`] | how an answer leaves |

pub mod cells;
pub mod output;
pub mod papers;
