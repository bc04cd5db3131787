//! The readers from outside.

mod readers;
