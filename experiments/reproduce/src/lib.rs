//! Papers' experiments, and a user's own: one registry, one shape, one report.

pub mod atlas;
pub mod claims;
pub mod derived;
pub mod describe;
mod errors;
pub mod experiment;
mod extends;
pub mod figure;
pub mod file;
pub mod groups;
pub mod numbers;
pub mod options;
pub mod page;
pub mod registry;
pub mod report;
pub mod reproduce;
pub mod runner;
mod runners;
pub mod scores;
mod shipped;
pub mod wide;

#[cfg(test)]
mod tests;
