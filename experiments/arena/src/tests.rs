//! Tests of the arena.

mod board;
mod claims;
mod fight;
mod quick;
mod rates;
mod suite;
mod tuned;
