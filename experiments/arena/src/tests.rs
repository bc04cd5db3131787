//! Tests of the arena.

mod board;
mod fight;
mod quick;
mod suite;
mod tuned;
