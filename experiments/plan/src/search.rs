//! How it is searched: simulations of machines, and which machines are tried, for one pool, for clusters of one type and
//! for fleets; what a lost device, another load or another price changes.
//!
//! No sentence of an answer is written here.

pub(crate) mod after_loss;
pub(crate) mod answer;
pub(crate) mod break_even;
pub(crate) mod candidates;
pub(crate) mod change_over;
pub(crate) mod clusters;
pub(crate) mod finish;
pub(crate) mod fleet;
pub(crate) mod hardest_step;
pub(crate) mod levels;
pub(crate) mod pools;
pub(crate) mod replan;
pub(crate) mod robust;
pub(crate) mod runners_up;
pub(crate) mod runs;
pub(crate) mod size;
pub(crate) mod solve;
pub(crate) mod solved;
pub(crate) mod too_few;
pub(crate) mod trial;
pub(crate) mod variants;
