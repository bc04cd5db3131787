//! `orrery reproduce`: an experiment by its id or file, or all of them. What is run is not here.

mod all;
mod args;
mod one;

pub use args::Reproduce;
pub use one::command;
