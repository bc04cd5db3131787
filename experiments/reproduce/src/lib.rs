//! Papers' experiments, and a user's own: one registry, one shape, one report.

pub mod atlas;
pub mod claims;
pub mod derived;
pub mod describe;
pub mod document;
mod errors;
pub mod experiment;
mod extends;
pub mod figure;
pub mod file;
pub mod groups;
pub mod kinds;
pub mod numbers;
pub mod options;
pub mod registry;
pub mod reproduce;
mod results;
pub mod runner;
pub mod scores;
mod searching;
mod shipped;

#[cfg(test)]
mod tests;
