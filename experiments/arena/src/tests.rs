//! Tests of the arena.

mod suite;
