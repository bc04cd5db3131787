//! The readers and sources from outside.

mod readers;

use orrery_traces::azure_llm::LlmSource;
use orrery_traces::closed_loop::ClosedLoop;
use orrery_traces::workload::{MergedFunctions, OpenWorkload};
use orrery_traces::workload_file::CsvSource;

#[test]
fn every_source_can_move_to_another_thread() {
    fn check<T: Send>() {}
    check::<OpenWorkload>();
    check::<MergedFunctions>();
    check::<ClosedLoop>();
    check::<CsvSource>();
    check::<LlmSource>();
}
