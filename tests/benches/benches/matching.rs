//! Min-cost matching on matrices such as Kairos makes: four types of instances, what each has left,
//! latencies that grow with the size, penalties. Items are matrices.
//!
//! `cargo bench -p orrery-benches --features run --bench matching -- --write FILE` also writes the matrices to a file,
//! one a line (`rows columns cost cost ...`), so that another solver can be timed on the same ones:
//! `tests/benches/scipy_matching.py FILE`.

use divan::Bencher;
use divan::counter::ItemsCount;
use orrery_sim::matching::Matcher;
use orrery_sim::rng::Stream;
use std::fmt::Write;

const MATRICES: usize = 64;
/// Instances' weights in millionths, and a latency as base and per item in ns: the five models' range.
const TYPES: [(i64, i64, i64); 4] = [
    (1_000_000, 12_000_000, 150_000),
    (670_000, 4_000_000, 235_000),
    (650_000, 5_000_000, 240_000),
    (290_000, 6_000_000, 560_000),
];
const QOS_NS: i64 = 350_000_000;
const SHAPES: [(usize, usize); 5] = [(3, 12), (12, 12), (20, 20), (40, 20), (200, 200)];

fn main() {
    let args: Vec<String> = std::env::args().collect();
    if let Some(at) = args.iter().position(|a| a == "--write") {
        let file = args.get(at + 1).expect("--write needs a file");
        let mut text = String::new();
        for (rows, columns) in SHAPES {
            for costs in matrices(rows, columns) {
                write!(text, "{rows} {columns}").expect("a string takes it");
                costs.iter().for_each(|c| write!(text, " {c}").expect("a string takes it"));
                text.push('\n');
            }
        }
        std::fs::write(file, text).expect("the file can be written");
        return by_hand();
    }
    divan::main();
}

/// Mean microseconds a matrix, the best of several rounds: what the script prints of the other solver.
fn by_hand() {
    let mut matcher = Matcher::default();
    println!("rows columns us_per_matrix");
    for (rows, columns) in SHAPES {
        let all = matrices(rows, columns);
        let mut best = f64::INFINITY;
        for _ in 0..20 {
            let start = std::time::Instant::now();
            for costs in &all {
                divan::black_box(matcher.solve(rows, columns, costs));
            }
            best = best.min(start.elapsed().as_secs_f64() * 1e6 / all.len() as f64);
        }
        println!("{rows} {columns} {best:.2}");
    }
}

fn matrices(rows: usize, columns: usize) -> Vec<Vec<i64>> {
    (0..MATRICES).map(|i| matrix(rows, columns, i as u64)).collect()
}

fn matrix(rows: usize, columns: usize, seed: u64) -> Vec<i64> {
    let mut draws = Stream::named(seed, "like Kairos", 0);
    let mut below = |n: i64| draws.below(n as u64) as i64;
    let mut instance = |i: usize| {
        // Few of the first type, most of the last; a third is idle.
        let kind = TYPES[[0, 0, 1, 2, 3, 3][i % 6]];
        let left = if below(3) == 0 { 0 } else { below(QOS_NS / 2) };
        (kind, left)
    };
    let instances: Vec<((i64, i64, i64), i64)> = (0..columns).map(&mut instance).collect();
    let mut costs = Vec::with_capacity(rows * columns);
    for _ in 0..rows {
        let (tens, waited) = (1 + below(100), below(QOS_NS));
        for &((weight, base, each), left) in &instances {
            let time = left + base + each * 10 * tens;
            let penalised = waited + time > QOS_NS - QOS_NS / 50;
            costs.push(weight * if penalised { 10 * QOS_NS } else { time });
        }
    }
    costs
}

#[divan::bench(args = SHAPES)]
fn kairos_like(bencher: Bencher, (rows, columns): (usize, usize)) {
    let all = matrices(rows, columns);
    let mut matcher = Matcher::default();
    bencher.counter(ItemsCount::new(MATRICES)).bench_local(|| {
        for costs in &all {
            divan::black_box(matcher.solve(rows, columns, costs));
        }
    });
}
