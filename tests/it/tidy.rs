//! The source itself: what the compiler does not hold.

mod architecture;
mod arrows;
mod dependencies;
mod filters;
mod manifests;
mod means;
mod site;
mod words;
