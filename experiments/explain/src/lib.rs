//! What schedule logs tell: the story of a request, and timelines.

pub mod explain;
pub mod timeline;
