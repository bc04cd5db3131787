//! The source itself: what the compiler does not hold.

mod architecture;
mod arrows;
mod dependencies;
mod filters;
mod manifests;
mod site;
mod words;
