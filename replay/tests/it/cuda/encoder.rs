//! The encoder's kernels and its list of launches, compiled for the CPU and run there: the same as plain
//! loops within 1e-3.

use super::reference;
use orrery_replay::device::encoder::plan::{self, Arg, Buffer, Launch, Shape, Spot, Step};
use orrery_replay::device::encoder::random;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Compiles the kernels for the CPU.
fn compiled(into: &Path) -> PathBuf {
    let here = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let program = into.join("run");
    let compilers =
        std::env::var("CXX").into_iter().chain(["c++", "g++", "clang++"].map(String::from));
    for compiler in compilers {
        let done = Command::new(&compiler)
            .args(["-std=c++17", "-O2", "-x", "c++", "-w", "-I"])
            .arg(here.join("kernels"))
            .arg(here.join("tests/cpu_shim/run.cpp"))
            .arg("-o")
            .arg(&program)
            .output();
        match done {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => panic!("{compiler}: {error}"),
            Ok(done) => {
                assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
                return program;
            }
        }
    }
    panic!("no C++ compiler (CXX, c++, g++, clang++)");
}

/// The file that `run.cpp` reads.
#[derive(Default)]
struct Words(Vec<u8>);

impl Words {
    fn word(&mut self, value: u32) {
        self.0.extend(value.to_le_bytes());
    }

    fn number(&mut self, value: u64) {
        self.0.extend(value.to_le_bytes());
    }

    fn text(&mut self, text: &str) {
        self.word(text.len() as u32);
        self.0.extend(text.bytes());
    }

    fn buffer(&mut self, buffer: Buffer, floats: u64, content: &[u32]) {
        self.text(&format!("{buffer:?}"));
        self.number(floats);
        self.number(content.len() as u64);
        content.iter().for_each(|v| self.word(*v));
    }

    fn launch(&mut self, launch: &Launch<Spot>) {
        self.text(launch.kernel.name());
        let (x, y, z) = launch.grid;
        [x, y, z, launch.block, launch.args.len() as u32].into_iter().for_each(|v| self.word(v));
        for arg in &launch.args {
            match *arg {
                Arg::At((buffer, floats)) => {
                    self.word(0);
                    self.text(&format!("{buffer:?}"));
                    self.number(floats);
                }
                Arg::U32(value) => [1, value].into_iter().for_each(|v| self.word(v)),
                Arg::U64(value) => {
                    self.word(2);
                    self.number(value);
                }
                Arg::F32(value) => [3, value.to_bits()].into_iter().for_each(|v| self.word(v)),
            }
        }
    }
}

fn bits(values: &[f32]) -> Vec<u32> {
    values.iter().map(|v| v.to_bits()).collect()
}

/// The largest difference between the kernels' output and the reference's.
fn worst(program: &Path, shape: Shape, lengths: &[u32], length: u32, seed: u64) -> f64 {
    let items = lengths.len() as u32;
    let weights = random::weights(&shape, seed);
    let input = random::input(&shape, items, length, seed);
    let mut words = Words::default();
    words.word(Buffer::WORK.len() as u32 + 3);
    words.buffer(Buffer::Weights, weights.len() as u64, &bits(&weights));
    words.buffer(Buffer::Input, input.len() as u64, &bits(&input));
    words.buffer(Buffer::Lengths, u64::from(items), lengths);
    for buffer in Buffer::WORK {
        words.buffer(buffer, shape.floats(buffer, items, length), &[]);
    }
    let steps: Vec<Step> = plan::forward(&shape, items, length).into_iter().flatten().collect();
    words.word(steps.len() as u32);
    for step in steps {
        match step {
            Step::Gemm(gemm) => words.launch(&gemm.launch()),
            Step::Launch(launch) => words.launch(&launch),
        }
    }
    let folder = tempfile::tempdir().unwrap();
    let (from, to) = (folder.path().join("in"), folder.path().join("out"));
    std::fs::write(&from, words.0).unwrap();
    let done = Command::new(program).args([&from, &to]).output().unwrap();
    let said = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "{shape:?} {lengths:?} {length}: {} {said}", done.status);
    let out = std::fs::read(to).unwrap();
    let got = out.chunks_exact(4).map(|b| f64::from(f32::from_le_bytes(b.try_into().unwrap())));
    let wanted = reference::forward(&shape, &weights, &input, lengths, length);
    assert_eq!(out.len(), wanted.len() * 4);
    // Not `max`: that would hide NaN.
    got.zip(&wanted).fold(0.0, |worst, (got, wanted)| {
        let off = (got - wanted).abs();
        if off <= worst { worst } else { off }
    })
}

#[test]
#[cfg_attr(
    not(has_compiler),
    ignore = "no C++ compiler was on the path when the tests were compiled"
)]
fn the_kernels_give_what_plain_loops_give() {
    let folder = tempfile::tempdir().unwrap();
    let program = compiled(folder.path());
    let cases: [(u32, u32, u32, &[u32], u32); 8] = [
        // Layers, heads, hidden, lengths, padded length.
        (1, 1, 8, &[1], 1),
        (1, 2, 64, &[16, 3], 16),
        (2, 4, 64, &[5, 16, 1], 16),
        // More than a tile, and sizes that no tile divides.
        (2, 3, 99, &[70, 2], 72),
        (1, 2, 130, &[65], 80),
        // More keys, and a wider row, than a block has threads.
        (1, 4, 160, &[144, 130], 144),
        (12, 2, 32, &[8, 7, 6], 8),
        (2, 12, 96, &[24, 24, 1, 9, 17], 24),
    ];
    for (seed, (layers, heads, hidden, lengths, length)) in (1..).zip(cases) {
        let worst = worst(&program, Shape { layers, heads, hidden }, lengths, length, seed);
        assert!(worst <= 1e-3, "case {seed}: off by {worst}");
        eprintln!("case {seed}: off by {worst:.2e}");
    }
}

#[test]
fn padding_changes_no_sequence() {
    let shape = Shape { layers: 2, heads: 2, hidden: 32 };
    let weights = random::weights(&shape, 9);
    let input = random::input(&shape, 1, 16, 9);
    let real = 5 * 32;
    let padded = reference::forward(&shape, &weights, &input, &[5], 16);
    let alone = reference::forward(&shape, &weights, &input[..real], &[5], 5);
    for (a, b) in padded[..real].iter().zip(&alone) {
        assert!((a - b).abs() < 1e-12, "{a} {b}");
    }
}

#[test]
fn every_weight_is_used() {
    let shape = Shape { layers: 2, heads: 2, hidden: 4 };
    let weights = random::weights(&shape, 3);
    assert_eq!(weights.len() as u64, shape.weight_floats());
    let input = random::input(&shape, 1, 3, 3);
    let output = |weights: &[f32]| reference::forward(&shape, weights, &input, &[3], 3);
    let before = output(&weights);
    let unused = (0..weights.len()).filter(|&i| {
        let mut changed = weights.clone();
        changed[i] += 0.5;
        let off = output(&changed).iter().zip(&before).map(|(a, b)| (a - b).abs()).sum::<f64>();
        off < 1e-9
    });
    // The keys' bias moves all scores of a row by as much, which a softmax does not see.
    let of_keys = (0..2).flat_map(|layer| {
        let from = shape.part(layer, plan::Part::QkvBias).0 as usize;
        from + 4..from + 8
    });
    assert_eq!(unused.collect::<Vec<_>>(), of_keys.collect::<Vec<_>>());
}
