//! x
#![allow(missing_docs)]
pub mod cases;
pub mod paper;
pub mod runs;
pub mod table_file;
