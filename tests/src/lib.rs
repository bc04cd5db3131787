//! The package of the tests that cross modules and crates; they are in `tests/it/`.
//!
//! There is nothing in this library: it is there because a package needs one.
