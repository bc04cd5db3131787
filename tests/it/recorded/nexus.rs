//! Nexus against a recording: what the Nexus program of Symphony's authors did with 40,000 arrivals
//! of ResNet50 on eight GPUs, each with batches of at most 6 (`ATTRIBUTION.md`).
//!
//! 200 ns pass between two batches there, and an idle GPU looks for requests every 50 us and a few
//! steps. Its drops are not in the recording: they are what arrived in the window and is in no batch.
//! It says nothing of the planner, which had nothing to do.

use super::{Batch, Case, RESNET50, Ran, STEP, mean, same, served, utilisation, variation};
use orrery_sim::request::End;
use orrery_sim::time::Span;

const CASE: Case = Case {
    arrivals: "nexus_resnet50_8gpu_4000rps_static6.arrivals",
    batches: "nexus_resnet50_8gpu_4000rps_static6.batches",
    gpus: 8,
    models: &[RESNET50],
    mirrored: false,
};

/// A run in which `step` passes between two batches, in nobody's profile.
fn ours(policy: &str, step: Span) -> Ran {
    CASE.run_on(policy, CASE.arrivals(1), Span::ZERO, step)
}

/// How far a policy's window is from the recorded one.
fn compare(policy: &str, step: Span) -> usize {
    let theirs = CASE.recorded();
    let ran = ours(policy, step);
    let batches = ran.in_window();
    let same = same(&theirs, &batches, 20_000);
    println!(
        "{policy}, {step} between batches: {same} of {} identical, {:?}",
        theirs.len(),
        ran.ends
    );
    let near = |what: fn(&[Batch]) -> f64| (what(&batches) / what(&theirs) - 1.0).abs() < 0.001;
    assert!(batches.len().abs_diff(theirs.len()) <= 4);
    assert!(near(|b| served(b) as f64) && near(mean));
    assert!((utilisation(&batches, 8) - utilisation(&theirs, 8)).abs() < 0.001);
    assert!(variation(&batches, &theirs) < 0.02);
    // Nothing is late. Some 0.4 % are dropped; the recording, whose batches are within 0.1 % of
    // ours, leaves no room for more than that much beside it.
    assert_eq!(ran.ended(End::Late), 0);
    assert!((35..=55).contains(&ran.dropped()), "{:?}", ran.ends);
    same
}

#[test]
fn the_recording_is_what_its_description_says() {
    let theirs = CASE.recorded();
    let in_window = ours("nexus-cluster[plan=full,batch=6]", Span::ZERO).offered();
    assert_eq!((theirs.len(), served(&theirs), in_window), (2252, 11_837, 11_932));
    let other = |b: &&Batch| b.finish - b.start != 1_053_000 * b.size as u64 + 5_072_000;
    assert_eq!(theirs.iter().filter(other).count(), 0);
}

#[test]
fn nexus_on_eight_gpus_serves_what_the_authors_program_serves() {
    compare("nexus-cluster[plan=full,batch=6]", Span::ZERO);
    let of = |policy| {
        let ran = ours(policy, Span::ZERO);
        (ran.in_window(), ran.ends)
    };
    assert_eq!(
        of("nexus-cluster[plan=static]"),
        of("nexus-cluster[plan=full,batch=6]"),
        "the planner finds the batch of 6"
    );
}

/// The round robin begins with the first GPU. What is left are two GPUs that looked a moment before
/// or after an arrival, and have kept another rhythm since.
#[test]
fn with_the_program_s_idle_loop_most_batches_are_identical() {
    let step = Span::from_ns(STEP);
    assert!(compare("nexus-cluster[plan=full,batch=6]", step) > 750);
    assert!(compare("nexus-cluster[plan=full,batch=6,poll_us=50.6]", step) > 1_600);
}
