//! Timeout batching on a device that is never in its way: batches are at least a window apart, and take less.

use super::harness::*;
use orrery_sim::driver::{World, simulate};
use orrery_sim::latency::Latency;
use orrery_sim::log::LogWriter;
use orrery_sim::metrics::Metrics;
use orrery_sim::policy::Policy;
use orrery_sim::policy::parameters::Build;
use orrery_sim::policy::timeout::{Config, Window};
use orrery_sim::time::Span;

const RATE: f64 = 2.5;
const WAIT_MS: f64 = 2.0;

fn config(window: Window) -> Config {
    let max_wait = Span::from_ns_f64(1e6 * WAIT_MS);
    Config { max_batch: 1_000, max_wait, drop_expired: false, window }
}

fn sojourns(policy: impl Policy) -> (Estimate, f64) {
    let world = World::single(Latency::Affine { alpha: Span::ZERO, beta: Span::from_ms(1) });
    let figures = PerRequest::new(|r| [r.sojourn_ms]);
    let source = Renewal::poisson("windows", RATE, Law::Constant);
    let (figures, metrics) = run(&world, source, policy, (figures, Metrics::default()));
    let batches: u64 = metrics.batch_sizes().iter().sum();
    (figures.estimates()[0], REQUESTS as f64 / batches as f64)
}

#[test]
fn a_window_from_the_first_request_costs_it_all_and_the_others_half() {
    let (sojourn, batch) = sojourns(config(Window::First).build(&[], 1));
    let others = RATE * WAIT_MS;
    let wait = WAIT_MS * (1.0 + others / 2.0) / (1.0 + others);
    sojourn.agrees_with(1.0 + wait, "timeout, window=first: mean sojourn");
    assert!((batch / (1.0 + others) - 1.0).abs() < 0.01, "{batch}");
}

#[test]
fn windows_that_follow_one_another_cost_half_of_one() {
    let (sojourn, batch) = sojourns(config(Window::Acquire { ahead: 4 }).build(&[], 1));
    sojourn.agrees_with(1.0 + WAIT_MS / 2.0, "timeout, window=acquire: mean sojourn");
    let per_window = RATE * WAIT_MS;
    let mean = per_window / (1.0 - libm::exp(-per_window));
    assert!((batch / mean - 1.0).abs() < 0.01, "{batch} against {mean}");
}

#[test]
fn without_a_wait_and_with_one_batch_at_a_time_the_windows_are_the_same() {
    let world =
        World::single(Latency::Affine { alpha: Span::from_us(300), beta: Span::from_us(150) });
    let log = |policy: &mut dyn FnMut() -> Box<dyn Policy>| {
        let source = Box::new(Renewal::poisson("same windows", 3.0, Law::Constant));
        let run = simulate(&world, vec![source], policy(), LogWriter::new(Vec::new()));
        run.observer.finish().unwrap()
    };
    let without = |window| Config { max_batch: 8, max_wait: Span::ZERO, ..config(window) };
    let first = log(&mut || without(Window::First).build(&[], 1));
    let acquire = log(&mut || without(Window::Acquire { ahead: 1 }).build(&[], 1));
    let triton = log(&mut || without(Window::Triton { preferred: 4096 }).build(&[], 1));
    assert!(first == acquire && first == triton, "the logs differ");
}
