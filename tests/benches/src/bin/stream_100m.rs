//! A streamed run of 100 million requests: its speed, and that its memory does not grow.
//!
//! ```text
//! cargo run --release -p orrery-benches --bin stream_100m [REQUESTS]
//! ```

use orrery_benches::{MAX_BATCH, Poisson, one_gpu};
use orrery_sim::driver::simulate;
use orrery_sim::metrics::Metrics;
use orrery_sim::policy::fifo::{Config, Fifo};
use std::time::Instant;

const REQUESTS: u64 = 100_000_000;
/// Requests a millisecond: a mean batch of 1.9.
const LOAD: f64 = 1.0;

fn main() {
    let requests = match std::env::args().nth(1) {
        Some(text) => text.parse().expect("a number of requests"),
        None => REQUESTS,
    };
    let world = one_gpu();
    let fifo = Fifo::new(Config { max_batch: MAX_BATCH, drop_expired: false });
    let before = Instant::now();
    let source = Box::new(Poisson::new(requests, LOAD));
    let finished = simulate(&world, vec![source], fifo, Metrics::default());
    let seconds = before.elapsed().as_secs_f64();

    let total = finished.observer.total();
    assert_eq!(total.latency.count(), requests);
    println!("requests         {requests}");
    println!("simulated        {}", finished.end);
    println!("finish rate      {:.6}", total.finish_rate());
    println!("mean batch       {:.3}", finished.observer.mean_batch_size());
    println!("wall clock       {seconds:.2} s");
    println!("requests/s       {:.2} M", requests as f64 / seconds / 1e6);
    println!("events/s         {:.2} M", finished.events as f64 / seconds / 1e6);
    println!("peak memory      {}", peak_memory().unwrap_or_else(|| "unknown".into()));
}

/// The peak resident set of this process, where Linux tells it.
fn peak_memory() -> Option<String> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|l| l.strip_prefix("VmHWM:"))?;
    let kib: f64 = line.trim().strip_suffix(" kB")?.parse().ok()?;
    Some(format!("{:.1} MiB", kib / 1024.0))
}
