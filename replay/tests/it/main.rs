//! The replay harness from outside, without a GPU.

mod cuda;
mod harness;
