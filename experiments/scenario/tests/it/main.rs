//! Scenario files from outside: their errors, their defaults, and the shipped examples.

mod autoscale;
mod base;
mod caveats;
mod changes;
mod closed_loop;
mod dealt;
mod delays;
mod errors;
mod examples;
mod imported;
mod loads;
mod many_models;
mod penalties;
mod policies;
mod pools;
mod properties;
mod rates;
mod reference;
mod scheduler;
mod slo_steps;
mod speeds;
mod vary;
mod zoo;
