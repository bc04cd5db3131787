//! The kinds of experiments: the keys of each, and how a point of it is run. A kind owns what only it has;
//! the rest of the crate asks [`Kind`](super::experiment::Kind) and [`Runner`](super::runner::Runner).

pub mod applications;
mod bins;
mod cases;
mod computed;
mod jobs;
mod own;
pub mod partition;
pub mod pool;
mod scenario;
mod score;
mod times;
mod tokens;

use super::experiment::KindEntry;

/// All kinds, in the order of messages: exactly one of these keys says which a file is.
pub static KINDS: [KindEntry; 8] = [
    KindEntry::of::<scenario::OfScenario>(),
    KindEntry::of::<applications::keys::OfApplications>(),
    KindEntry::of::<pool::kind::OfPool>(),
    KindEntry::of::<partition::OfPartition>(),
    KindEntry::of::<score::OfScore>(),
    KindEntry::of::<jobs::OfJobs>(),
    KindEntry::of::<tokens::OfTokens>(),
    KindEntry::of::<cases::keys::OfCases>(),
];
