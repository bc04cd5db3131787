//! The CUDA device against the stand-in driver: that it works, and that whatever fails is said.
//!
//! A scene is played by this very program in another process, whose LD_LIBRARY_PATH names a folder with
//! the stand-in under the driver's name. Cargo builds the stand-in as a dependency of these tests, next
//! to them.
#![cfg(target_os = "linux")]

use orrery_replay::device::cuda::{FUNCTIONS, OPTIONAL};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

fn stand_in() -> PathBuf {
    let tests = std::env::current_exe().expect("this program");
    let library = tests.parent().expect("a folder").join("liborrery_stand_in_driver.so");
    assert!(library.is_file(), "cargo builds {} for these tests", library.display());
    library
}

/// A folder with `library` under the driver's names.
fn with_driver(library: Option<&Path>) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    if let Some(library) = library {
        let soname = folder.path().join("libcuda.so.1");
        if library == stand_in() {
            std::fs::copy(library, &soname).unwrap();
        } else {
            std::os::unix::fs::symlink(library, &soname).unwrap();
        }
        std::os::unix::fs::symlink(&soname, folder.path().join("libcuda.so")).unwrap();
    }
    folder
}

/// What a program printed, which is killed after a minute: behind a kernel that hangs whoever waits, waits for ever.
fn output(command: &mut Command) -> Output {
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let until = Instant::now() + Duration::from_secs(60);
    while child.try_wait().unwrap().is_none() {
        if Instant::now() > until {
            child.kill().unwrap();
            panic!("it did not end: {:?}", child.wait_with_output().unwrap());
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    child.wait_with_output().unwrap()
}

/// Plays a scene with `library` as the driver, and gives what it printed.
fn played(scene: &str, library: Option<&Path>, with: &[(&str, &str)]) -> String {
    let folder = with_driver(library);
    let done = output(
        Command::new(std::env::current_exe().unwrap())
            .args([
                "--exact",
                "cuda::scenes::scene",
                "--ignored",
                "--nocapture",
                "--test-threads=1",
            ])
            .env("LD_LIBRARY_PATH", folder.path())
            .env("ORRERY_CUDA_SCENE", scene)
            .envs(with.iter().copied()),
    );
    let text = String::from_utf8_lossy(&done.stdout).into_owned();
    let said = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "{scene} {with:?}: {}\n{text}\n{said}", done.status);
    assert!(!said.contains("panicked"), "{scene} {with:?}: {said}");
    text
}

fn contains(text: &str, wanted: &[&str]) {
    for wanted in wanted {
        assert!(text.contains(wanted), "no {wanted:?} in\n{text}");
    }
}

/// A function that were called and not looked for would be a panic with an old driver.
#[test]
fn the_stand_in_has_exactly_the_functions_that_are_looked_for() {
    let source = include_str!("../../stand-in-driver/src/lib.rs");
    let mut exported: Vec<&str> = source
        .lines()
        .filter_map(|line| line.trim().strip_prefix("fn cu"))
        .map(|rest| rest.split('(').next().unwrap())
        .collect();
    exported.sort_unstable();
    exported.retain(|name| !OPTIONAL.contains(&format!("cu{name}").as_str()));
    let mut looked_for = FUNCTIONS.map(|name| name.strip_prefix("cu").expect("CUDA's"));
    looked_for.sort_unstable();
    assert_eq!(exported, looked_for);
}

#[test]
fn batches_of_every_workload_and_loads_run_and_nothing_is_held_afterwards() {
    let text = played("work", Some(&stand_in()), &[]);
    contains(
        &text,
        &[
            "ended well",
            "held: 0",
            "orrery stand-in (no GPU)",
            "CUDA 11.4",
            "GPU-6f727265-7279-2073-7461-6e642d696e2e",
            "(\"compute capability\", \"7.0\")",
            "refused: cuda:0: preparing a batch of model 3: the device's configuration has 3 models",
            "refused: cuda:0: preparing a batch of 5 sequences: the configuration's `max_batch` is 4",
            "refused: cuda:0: loading a model (action 5): model 9 has no entry",
        ],
    );
    // It computes nothing, and the check of the encoder says so.
    let off = text.lines().find_map(|l| l.strip_prefix("encoder off by ")).expect("a line");
    assert!(off.parse::<f64>().unwrap() > 1e-3, "{off}");
}

#[test]
fn a_chunked_batch_can_be_stopped() {
    contains(&played("stop", Some(&stand_in()), &[]), &["ended well", "held: 0"]);
}

#[test]
fn two_lanes_and_loads_run_beside_each_other_on_threads_of_their_own() {
    contains(&played("lanes", Some(&stand_in()), &[]), &["ended well", "held: 0"]);
}

#[test]
fn the_device_s_own_figures_are_measured() {
    contains(&played("measure", Some(&stand_in()), &[]), &["ended well", "held: 0"]);
}

#[test]
fn looking_finds_the_driver_and_its_devices() {
    let text = played("look", Some(&stand_in()), &[("ORRERY_STAND_IN_DEVICES", "2")]);
    let second = "cuda:1: orrery stand-in (no GPU), compute capability 7.0, 8192 MiB";
    contains(&text, &["driver: CUDA 11.4", "CUDA driver: /", "/libcuda.so.1", second]);
}

#[test]
#[cfg_attr(has_driver, ignore = "a CUDA driver was there when the tests were compiled")]
fn without_a_driver_it_is_said_what_was_looked_for() {
    for scene in ["look", "work"] {
        let text = played(scene, None, &[]);
        contains(
            &text,
            &[
                "no library was found; looked for libcuda.so, ",
                "libcuda.so.1",
                "`--device emulated`",
            ],
        );
        contains(&text, &["held: no driver"]);
    }
}

#[test]
fn a_library_that_is_no_driver_is_named_with_what_it_lacks() {
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    let libc = maps.lines().filter_map(|line| line.find('/').map(|at| &line[at..]));
    let libc = libc.into_iter().find(|path| path.contains("libc.so") || path.contains("libc-"));
    let libc = libc.expect("a shared C library, which these tests are linked to");
    let text = played("work", Some(Path::new(libc)), &[]);
    contains(&text, &["error: cuda:0: looking into the CUDA driver", "cuInit", "cuLaunchKernel"]);
}

#[test]
fn whatever_fails_is_said_with_what_was_being_done_and_a_remedy() {
    let cases: [(&str, &str, &str, &[&str]); 9] = [
        ("VERSION", "11020", "work", &["it is CUDA 11.2", "11.4 is the least", "470 or newer"]),
        (
            "DEVICES",
            "0",
            "work",
            &["starting the CUDA driver: CUDA_ERROR_NO_DEVICE (100)", "CUDA_VISIBLE_DEVICES"],
        ),
        (
            "DEVICES",
            "1",
            "second",
            &["cuda:1: opening the device: CUDA_ERROR_INVALID_DEVICE (101)"],
        ),
        (
            "MEMORY_MIB",
            "90",
            "work",
            &[
                "taking 96 MiB of device memory for the page cache: CUDA_ERROR_OUT_OF_MEMORY (2)",
                "`cache_pages`",
            ],
        ),
        (
            "LAUNCH_FAILS",
            "1",
            "many",
            &["launching orr_fma: CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES (701)"],
        ),
        (
            "LAUNCH_FAILS",
            "63",
            "many",
            &[
                "launching orr_timed_ns: CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES",
                "batches that ended: 2",
            ],
        ),
        (
            "LOST",
            "63",
            "many",
            &[
                "running a batch: CUDA_ERROR_LAUNCH_FAILED (719)",
                "the device is lost",
                "batches that ended: 2",
            ],
        ),
        ("LOST", "5", "work", &["CUDA_ERROR_LAUNCH_FAILED (719)", "the device is lost"]),
        (
            "HANGS",
            "63",
            "many",
            &["running a batch: no end after 1", "`patience_s`", "batches that ended: 2"],
        ),
    ];
    for (variable, value, scene, wanted) in cases {
        let with = [(format!("ORRERY_STAND_IN_{variable}"), value)];
        let with: Vec<(&str, &str)> = with.iter().map(|(k, v)| (k.as_str(), *v)).collect();
        let text = played(scene, Some(&stand_in()), &with);
        contains(&text, &["error: cuda:"]);
        contains(&text, wanted);
        // A device that is lost takes nothing back, and behind one that hangs whoever gives back waits for ever.
        let held = text.lines().find_map(|line| line.strip_prefix("held: ")).expect("a line");
        let kept = ["LOST", "HANGS"].contains(&variable);
        assert!(["0", "no driver"].contains(&held) || kept, "{held}");
    }
}

/// A scenario of one model, on a stand-in that runs its batches by `workload`.
fn replayed(workload: &str, with: &[(&str, &str)], more: &[&str]) -> (TempDir, Output) {
    let home = one_model(workload);
    let done = run_in(&home, with, &[&["run", "s.toml", "--out", "out"], more].concat());
    (home, done)
}

/// Runs the program on the stand-in, in the folder of a scenario.
fn run_in(home: &TempDir, with: &[(&str, &str)], args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_orrery-replay"));
    command.args(args).args(["--device", "cuda:0", "--device-config", "gpu.toml"]);
    command.current_dir(home.path()).env("LD_LIBRARY_PATH", home.path());
    output(command.envs(with.iter().copied()))
}

fn one_model(workload: &str) -> TempDir {
    let home = with_driver(Some(&stand_in()));
    let scenario = "policies = [\"fifo\"]\narrivals = { poisson = { rate_per_s = 200.0 }, requests = 100 }\n\
                    [[model]]\nname = \"m\"\nslo_ms = 50.0\nlatency = { eq3 = { c0_ms = 0.5, c1 = 0.3 } }\n\
                    [[app]]\nname = \"a\"\nmodel = \"m\"\ntime = { constant = { ms = 0.2 } }\n";
    std::fs::write(home.path().join("s.toml"), scenario).unwrap();
    let device =
        format!("[cuda]\npatience_s = 1\n[[cuda.models]]\npages = 1\nworkload = {workload}\n");
    std::fs::write(home.path().join("gpu.toml"), device).unwrap();
    home
}

const TIMED: &str = "{ timed = { eq3 = { c0_us = 500.0, c1 = 0.3 } } }";
const ENCODER: &str = "{ encoder = { layers = 1, heads = 2, hidden = 32, max_len = 64, max_batch = 4, pad_to = 16, \
                       lengths = [[16, 50.0], [64, 100.0]] } }";

#[test]
fn a_kernel_that_hangs_ends_the_run_and_what_was_measured_is_kept() {
    let hangs = [("ORRERY_STAND_IN_HANGS", "180")];
    let (home, done) = replayed(TIMED, &hangs, &["--policy", "fifo"]);
    let (said, heard) =
        (String::from_utf8_lossy(&done.stdout), String::from_utf8_lossy(&done.stderr));
    assert_eq!(done.status.code(), Some(1), "{said}{heard}");
    contains(&said, &["INVALID: cuda:0: running a batch: no end after 1"]);
    for name in ["schedule.log", "actions.csv", "run.json"] {
        assert!(home.path().join("out").join(name).is_file(), "{name}");
    }
    // What was cut off is not compared as if it were the whole.
    let mut compare = Command::new(env!("CARGO_BIN_EXE_orrery-replay"));
    let compare =
        compare.args(["compare", "out", "out"]).current_dir(home.path()).output().unwrap();
    assert_eq!(compare.status.code(), Some(1));
    contains(&String::from_utf8_lossy(&compare.stdout), &["INVALID: the run was cut off: cuda:0"]);
}

/// The script of a GPU's minutes on the stand-in: it measures and packs; what comes home is predicted where no GPU is.
#[test]
fn the_minutes_of_a_gpu_come_home_in_one_archive() {
    let home = one_model(TIMED);
    let at = |name: &str| home.path().join(name);
    let campaign = "name = \"small\"\nscenario = \"s.toml\"\ndevice = \"cuda:0\"\nseconds = 1.0\nrepetitions = 1\n\
                    draws = 3\n[profiling]\nsizes = [1, 2]\nrounds = 3\nmax_s = 1.0\nnoise_batches = 0\nstall_s = 0.0\n\
                    [[grid]]\npolicies = [\"fifo\"]\nloads = [0.5]\n[cuda]\n[[cuda.models]]\nworkload = ";
    std::fs::write(at("small.toml"), format!("{campaign}{TIMED}\n")).unwrap();
    let scenario = std::fs::read_to_string(at("s.toml")).unwrap();
    let open = scenario.replace("requests = 100", "duration_s = 1.0");
    std::fs::write(at("s.toml"), open).unwrap();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../scripts/gpu-validate");
    let mut there = Command::new("bash");
    there.arg(&script).args(["1".as_ref(), at("there").as_os_str(), at("packed").as_os_str()]);
    there.env("ORRERY_REPLAY", env!("CARGO_BIN_EXE_orrery-replay")).env("GPU_TESTS", "/bin/true");
    there.env("CAMPAIGNS", at("small.toml")).env("LD_LIBRARY_PATH", home.path());
    let done = output(&mut there);
    let said = String::from_utf8_lossy(&done.stderr).into_owned();
    assert_eq!(done.status.code(), Some(0), "{said}");
    contains(
        &String::from_utf8_lossy(&done.stdout),
        &["1 of 1 points are measured", "not predicted"],
    );
    std::fs::create_dir(at("home")).unwrap();
    let mut unpack = Command::new("bash");
    unpack.args([script.as_os_str(), "unpack".as_ref(), at("packed").as_os_str()]);
    assert!(unpack.arg(at("home")).status().unwrap().success());
    let mut again = Command::new(env!("CARGO_BIN_EXE_orrery-replay"));
    again.args([
        "validate",
        "small.toml",
        "--any-profile",
        "--max-minutes",
        "0",
        "--out",
        "home/small",
    ]);
    let done = output(again.current_dir(home.path()).env_remove("LD_LIBRARY_PATH"));
    let report = String::from_utf8_lossy(&done.stdout).into_owned();
    contains(
        &report,
        &["# Validation: small", "1 of 1 points are finished", "the same decisions in 1 of 1"],
    );
    contains(&String::from_utf8_lossy(&done.stderr), &["predicted", "measured"]);
}

/// In place of PyTorch: it sleeps.
const SLEEPER: &str = r#"import orrery_worker
import argparse
import time


class Worker:
    def __init__(self, options):
        pass

    def hello(self, role, device):
        return {"name": "sleeper", "gpu": "that sleeps", "can_load": True}

    def prepare(self, models):
        pass

    def run(self, model, size, length):
        time.sleep(0.002 + 0.0002 * size)

    def load(self, model):
        time.sleep(0.003)


def parser():
    parser = argparse.ArgumentParser()
    parser.add_argument("--dtype", default="fp32")
    parser.add_argument("--sizes", nargs="+")
    return parser


if __name__ == "__main__":
    orrery_worker.serve(Worker(parser().parse_args()))
"#;

/// Small networks, short runs, little load.
const SMALLER: [(&str, &str); 14] = [
    ("layers = 12", "layers = 1"),
    ("layers = 4", "layers = 1"),
    ("heads = 12", "heads = 2"),
    ("heads = 4", "heads = 2"),
    ("hidden = 768", "hidden = 32"),
    ("hidden = 256", "hidden = 32"),
    ("pages = 27", "pages = 1"),
    ("_pages = 81", "_pages = 3"),
    ("warm_up_s = 1.0", "warm_up_s = 0.2"),
    ("warm_up_s = 2.0", "warm_up_s = 0.2"),
    ("loads = [0.8", "loads = [0.01"),
    ("max_s = 3.0", "max_s = 0.2"),
    ("max_s = 5.0", "max_s = 0.2"),
    ("stall_s = 0.5", "stall_s = 0.1"),
];

/// The script and all that it runs, with a sleeper in place of PyTorch and a card that never changes.
fn copy_smaller(home: &Path) {
    let at = |name: &str| home.join(name);
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    for folder in ["scripts", "replay/campaigns", "replay/workers", "bin"] {
        std::fs::create_dir_all(at(folder)).unwrap();
        let Ok(files) = std::fs::read_dir(root.join(folder)) else { continue };
        for file in files.map(|f| f.unwrap().path()).filter(|f| f.is_file()) {
            let Ok(mut text) = std::fs::read_to_string(&file) else { continue };
            if folder == "replay/campaigns" {
                // What sleeps has little load.
                let sleeps = file.to_string_lossy().contains("torch");
                let smaller =
                    SMALLER.iter().filter(|(from, _)| !(sleeps && from.starts_with("loads")));
                text = smaller.fold(text, |text, (from, to)| text.replace(from, to));
                let short = |line: &str| {
                    if line.starts_with("seconds = ") { "seconds = 0.6" } else { line }.to_string()
                };
                text = text.lines().map(short).collect::<Vec<_>>().join("\n");
            }
            std::fs::write(at(folder).join(file.file_name().unwrap()), text).unwrap();
        }
    }
    std::fs::write(at("replay/workers/run_torch.py"), SLEEPER).unwrap();
    let card = "1980 MHz, 2619 MHz, 120.50 W, 700.00 W, 41, 0x0000000000000000, Enabled, 0, Disabled, Default, Enabled";
    write_program(&at("bin/nvidia-smi"), &format!("#!/bin/sh\necho '{card}'\n"));
}

/// Everything that a GPU is asked for, in its short form: every campaign's file, every step, and again from the
/// archive.
#[test]
#[ignore = "takes 40 s; `scripts/slow-tests replay` runs it"]
fn the_script_of_a_gpu_runs_through_on_a_stand_in_and_a_sleeper() {
    let home = with_driver(Some(&stand_in()));
    let at = |name: &str| home.path().join(name);
    copy_smaller(home.path());
    let path = format!("{}:{}", at("bin").display(), std::env::var("PATH").unwrap());
    let run = |only: &str| {
        let mut script = Command::new("bash");
        script.arg(at("scripts/gpu-validate")).args([
            "9".as_ref(),
            at("out").as_os_str(),
            at("packed").as_os_str(),
        ]);
        script
            .env("ORRERY_REPLAY", env!("CARGO_BIN_EXE_orrery-replay"))
            .env("GPU_TESTS", "/bin/true");
        script
            .env("LD_LIBRARY_PATH", home.path())
            .env("PATH", &path)
            .env("QUICK", "1")
            .env("MOST_FILES", "99")
            .env("ONLY", only);
        let done = output(&mut script);
        let said = String::from_utf8_lossy(&done.stderr).into_owned();
        assert_eq!(done.status.code(), Some(0), "{said}");
        said
    };
    contains(&run(""), &["above the median (paper: within 0.03 %)"]);
    let steps = std::fs::read_to_string(at("out/steps.txt")).unwrap();
    let campaigns =
        ["graphs-64", "unequal", "cold", "two", "schedule-64", "torch-resnet-20", "torch-bert-20"];
    let names: Vec<String> = campaigns.iter().map(|name| format!("gpu-{name}")).collect();
    let begins: Vec<&str> = steps.lines().map(|line| line.split(':').next().unwrap()).collect();
    let wanted = [
        &["tests"][..],
        &names.iter().map(String::as_str).collect::<Vec<_>>(),
        &["clockwork-fig-2", "zoo"],
    ]
    .concat();
    assert_eq!(begins, wanted, "{steps}");
    for name in &names {
        let point = std::fs::read_dir(at("out").join(name).join("points"))
            .unwrap()
            .next()
            .unwrap()
            .unwrap();
        let result = std::fs::read_to_string(point.path().join("result.json")).unwrap();
        contains(&result, &["\"clocks.sm\": \"1980 MHz\"", "\"persistence_mode\": \"Enabled\""]);
    }
    let zoo = std::fs::read_to_string(at("out/gpu-torch/zoo.csv")).unwrap();
    contains(
        &zoo,
        &["gpu,model,batch_ms,source,measured,load_ms", "resnet50-fp16,1:", "bert-base-fp16,1:"],
    );
    // On another machine with the same card: from the archive, and nothing is measured twice.
    std::fs::remove_dir_all(at("out")).unwrap();
    assert!(!run("gpu-cold zoo").contains("profiling"));
}

fn write_program(path: &Path, text: &str) {
    use std::os::unix::fs::PermissionsExt;
    std::fs::write(path, text).unwrap();
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn requests_that_are_longer_than_the_encoder_are_refused() {
    let (home, done) = replayed(ENCODER, &[], &["--policy", "fifo"]);
    let said = String::from_utf8_lossy(&done.stderr);
    assert_eq!(done.status.code(), Some(2), "{said}");
    contains(
        &said,
        &[
            "cuda.models[0].workload.encoder.lengths",
            "up to 100 us",
            "up to 200 us",
            "cut in silence",
        ],
    );
    assert!(!home.path().join("out").exists());
}

#[test]
fn the_record_says_what_multiplied_the_matrices() {
    let longer = ENCODER.replace("100.0", "200.0");
    let (home, done) = replayed(&longer, &[], &["--policy", "fifo[max_batch=4]"]);
    assert!(home.path().join("out").is_dir(), "{}", String::from_utf8_lossy(&done.stderr));
    let record = std::fs::read_to_string(home.path().join("out/run.json")).unwrap();
    contains(&record, &["\"matrix product\"", "orrery's own kernel; cuBLAS: "]);
}

/// GPU machines with CUDA 13 have the library under this name alone.
#[test]
fn cublas_is_looked_for_under_the_name_of_cuda_13() {
    let home = one_model(&ENCODER.replace("100.0", "200.0"));
    std::fs::copy(stand_in(), home.path().join("libcublas.so.13")).unwrap();
    let args = ["run", "s.toml", "--out", "out", "--policy", "fifo[max_batch=4]"];
    let done = run_in(&home, &[], &args);
    assert!(home.path().join("out").is_dir(), "{}", String::from_utf8_lossy(&done.stderr));
    let record = std::fs::read_to_string(home.path().join("out/run.json")).unwrap();
    // It was found, and is none.
    contains(&record, &["cuBLAS: the library has no cublasCreate_v2"]);
}

#[test]
fn a_plan_with_larger_batches_than_the_device_takes_is_refused_before_it_runs() {
    let longer = ENCODER.replace("100.0", "200.0").replace("max_batch = 4", "max_batch = 16");
    let (home, _) = replayed(&longer, &[], &["--policy", "fifo[max_batch=16]", "--force"]);
    let log = std::fs::read_to_string(home.path().join("out/predicted.log")).unwrap();
    assert!(log.contains("issue"), "{log}");
    // A plan of batches of up to 16 for a device that takes one.
    let device = home.path().join("gpu.toml");
    let text = std::fs::read_to_string(&device).unwrap().replace("max_batch = 16", "max_batch = 1");
    std::fs::write(&device, text).unwrap();
    let schedule = ["run", "s.toml", "--mode", "schedule", "--schedule", "out/predicted.log"];
    let done = run_in(&home, &[], &[&schedule[..], &["--out", "again"]].concat());
    let said = String::from_utf8_lossy(&done.stderr);
    assert_eq!(done.status.code(), Some(2), "{said}");
    contains(&said, &["of the plan, with ", "items of `m`", "at most 1"]);
}

#[test]
fn a_signal_ends_a_run_and_what_was_measured_is_kept() {
    let home = with_driver(None);
    let scenario = "policies = [\"fifo\"]\narrivals = { poisson = { rate_per_s = 50.0 }, requests = 100_000 }\n\
                    [[model]]\nname = \"m\"\nslo_ms = 50.0\nlatency = { eq3 = { c0_ms = 0.5, c1 = 0.3 } }\n\
                    [[app]]\nname = \"a\"\nmodel = \"m\"\ntime = { constant = { ms = 0.2 } }\n";
    std::fs::write(home.path().join("s.toml"), scenario).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_orrery-replay"));
    command.args(["run", "s.toml", "--policy", "fifo", "--out", "out"]).current_dir(home.path());
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    std::thread::sleep(Duration::from_secs(2));
    let pid = child.id().to_string();
    assert!(Command::new("kill").args(["-TERM", &pid]).status().unwrap().success());
    let done = child.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&done.stdout);
    assert_eq!(done.status.code(), Some(1), "{said}{}", String::from_utf8_lossy(&done.stderr));
    contains(&said, &["INVALID: the run: ", "stopped by a signal"]);
    let names: Vec<_> =
        std::fs::read_dir(home.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert!(home.path().join("out/actions.csv").is_file() && names.len() == 2, "{names:?}");
}

/// A GPU that computes at two thirds of the rate of its profile takes half as long again: the work is the profile's.
#[test]
fn a_device_that_is_slower_than_its_profile_is_seen_to_be() {
    let home = one_model("{ compute = { eq3 = { c0_us = 500.0, c1 = 0.3 } } }");
    let few = ["--sizes", "1,2,4", "--held-out", "3", "--rounds", "3", "--noise-batches", "30"];
    let few = [&few[..], &["--noise-s", "0.3", "--stall-s", "0", "--out", "p.toml"]].concat();
    let fast = [("ORRERY_STAND_IN_FMA_NS", "10")];
    run_in(&home, &fast, &[&["profile", "s.toml"], &few[..]].concat());
    let ratio = |fma_ns: &str, out: &str| {
        let run = [
            "run",
            "s.toml",
            "--policy",
            "fifo[max_batch=1]",
            "--profile",
            "p.toml",
            "--any-profile",
        ];
        let with = [("ORRERY_STAND_IN_FMA_NS", fma_ns)];
        let done = run_in(&home, &with, &[&run[..], &["--out", out]].concat());
        let actions = home.path().join(out).join("actions.csv");
        let text = std::fs::read_to_string(actions)
            .unwrap_or_else(|e| panic!("{e}: {}", String::from_utf8_lossy(&done.stderr)));
        let mut reader = csv::Reader::from_reader(text.as_bytes());
        let header = reader.headers().unwrap().clone();
        let at = |name: &str| header.iter().position(|h| h == name).unwrap();
        let (device, predicted) = (at("device_ns"), at("predicted_ns"));
        let mut all: Vec<f64> = reader
            .records()
            .map(|row| row.unwrap())
            .map(|row| row[device].parse::<f64>().unwrap() / row[predicted].parse::<f64>().unwrap())
            .collect();
        all.sort_by(f64::total_cmp);
        all[all.len() / 2]
    };
    let (same, slower) = (ratio("10", "same"), ratio("15", "slower"));
    assert!((same - 1.0).abs() < 0.05 && (slower / same - 1.5).abs() < 0.05, "{same} {slower}");
}

#[test]
fn pages_that_are_not_the_scenario_s_are_refused() {
    let home = one_model(TIMED);
    let file = home.path().join("s.toml");
    let text = std::fs::read_to_string(&file).unwrap();
    let loads = text.replace("slo_ms = 50.0", "slo_ms = 50.0\npages = 3\nload_ms = 1.0");
    std::fs::write(&file, loads + "[[device]]\ncount = 1\nmemory_pages = 3\n").unwrap();
    let run = ["run", "s.toml", "--policy", "clockwork", "--out", "out"];
    let done = run_in(&home, &[], &run);
    let said = String::from_utf8_lossy(&done.stderr);
    assert_eq!(done.status.code(), Some(2), "{said}");
    contains(&said, &["key `cuda.models[0].pages`: found 1; allowed: 3: `pages` of `m`"]);
    let device = home.path().join("gpu.toml");
    let text = std::fs::read_to_string(&device).unwrap().replace("pages = 1", "pages = 3");
    std::fs::write(&device, text.replace("[cuda]", "[cuda]\ncache_pages = 4")).unwrap();
    let said = run_in(&home, &[], &run).stderr;
    contains(&String::from_utf8_lossy(&said), &["key `cuda.cache_pages`: found 4; allowed: 3"]);
}

#[test]
fn a_batch_of_an_encoder_is_one_launch_of_a_graph() {
    let text = played("graphs", Some(&stand_in()), &[]);
    // Four sizes by four lengths; three layers of twelve launches, and the copy of the lengths.
    contains(
        &text,
        &["16 of up to 37 nodes, 2 MiB\"", "4: 1 graphs, 0 kernels", "1: 1 graphs, 0 kernels"],
    );
    contains(&text, &["nodes in order: true", "ended well", "held: 0"]);
    let text = played("graphs off", Some(&stand_in()), &[]);
    contains(&text, &["none: the configuration says so", "4: 0 graphs, 36 kernels", "held: 0"]);
}

#[test]
fn what_cannot_be_captured_is_launched_and_said_or_refused() {
    // The last of sixteen: of four items.
    let fails = [("ORRERY_STAND_IN_CAPTURE_FAILS", "16")];
    let text = played("graphs", Some(&stand_in()), &fails);
    contains(&text, &["15 of up to 37 nodes, 1 MiB; the others are launched kernel by kernel: "]);
    contains(&text, &["CUDA_ERROR_STREAM_CAPTURE_INVALIDATED", "4: 0 graphs, 36 kernels"]);
    contains(&text, &["1: 1 graphs, 0 kernels", "ended well", "held: 0"]);
    let text = played("graphs required", Some(&stand_in()), &fails);
    contains(&text, &["error: cuda:0: capturing a batch: ", "`graphs = \"auto\"`", "held: 0"]);
}
