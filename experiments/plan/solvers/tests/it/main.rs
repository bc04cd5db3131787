//! The planner from outside: what it answers, its bounds, its searches.

mod answers;
mod bounds;
mod common;
mod fleets;
mod measured;
mod partition;
mod pools;
mod released;
mod search_laws;
mod searches;
