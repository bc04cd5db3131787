//! The one integration-test binary of the workspace: what crosses modules and crates.
//!
//! Unit tests are not here; they stand beside the code that they test.

mod differential;
mod naive;
mod regressions;
