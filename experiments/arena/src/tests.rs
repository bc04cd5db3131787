//! Tests of the arena.

mod board;
mod fight;
mod suite;
