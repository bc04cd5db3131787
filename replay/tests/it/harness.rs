//! The harness itself: campaigns, comparisons, the command line. No device is timed here.

mod campaign;
mod cli;
mod compare;
mod documents;
mod panics;
mod retrace;
mod worker;
