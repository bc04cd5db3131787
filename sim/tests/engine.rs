//! The differential test of the workspace's `tests/`, without what it does not need: for mutants of the
//! engine, which rebuild this and nothing else (`docs/testing.md`).

#[path = "../../tests/it"]
mod it {
    pub mod differential;
    pub mod example_policy;
    pub mod naive;
}

use it::{example_policy, naive};
