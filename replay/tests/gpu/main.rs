//! Tests that need a GPU or CUDA's compilers: where they are missing a test is reported as ignored,
//! with what is missing, and not as passed. Where they are there, the same command runs it.
//!
//! Rust's own harness decides when it compiles whether a test is ignored; this one when it runs.

mod device;
#[path = "../it/cuda/reference.rs"]
mod reference;
mod toolkit;

use libtest_mimic::{Arguments, Completion, Failed, Trial, run};
use orrery_replay::device::cuda;
use orrery_replay::device::encoder::plan::{Part, Shape};
use orrery_replay::device::encoder::{EncoderConfig, random};

/// A test of the first GPU.
fn on_a_gpu(name: &str, test: fn()) -> Trial {
    Trial::ignorable_test(format!("gpu::{name}"), move || {
        if let Some(problem) = cuda::look().problem {
            return Ok(Completion::ignored_with(problem));
        }
        test();
        Ok(Completion::Completed)
    })
}

/// A test of what a compiler says.
fn with_a_compiler(name: &str, test: fn() -> Result<Completion, Failed>) -> Trial {
    Trial::ignorable_test(format!("toolkit::{name}"), test)
}

fn main() {
    let mut arguments = Arguments::from_args();
    // One at a time: they measure.
    arguments.test_threads = Some(1);
    let tests = vec![
        on_a_gpu(
            "a_timed_batch_never_ends_before_its_time",
            device::a_timed_batch_never_ends_before_its_time,
        ),
        on_a_gpu(
            "the_encoder_gives_what_plain_loops_give",
            device::the_encoder_gives_what_plain_loops_give,
        ),
        with_a_compiler("the_source_recompiles_to_the_same_ptx", toolkit::recompiles),
        with_a_compiler("the_ptx_assembles_without_spills", toolkit::assembles),
    ];
    run(&arguments, tests).exit();
}
