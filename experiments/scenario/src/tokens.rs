//! Files of requests that are answered token by token: what comes, the executor, and the policies.
//!
//! It is not a scenario, whose batches end as a whole. `docs/tokens.md` lists the keys.

mod file;
mod input;
mod load;
mod machine;
mod policy;
mod table;

pub use file::{TokensFile, reference};
pub use load::{Coming, Offered};
pub use policy::TokenPolicySpec;
pub use table::{AllReduce, MadeTokens, SloShare, Tokens};
