//! Looks for what some tests need when they are compiled: a test that lacks it is reported as ignored, with the reason,
//! and not as passed.

use std::env;
use std::path::{Path, PathBuf};

const COMPILERS: [&str; 3] = ["c++", "g++", "clang++"];
const LIBRARIES: [&str; 5] = [
    "/usr/lib/x86_64-linux-gnu",
    "/usr/lib/aarch64-linux-gnu",
    "/usr/lib64",
    "/usr/lib",
    "/usr/lib/wsl/lib",
];

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=PATH");
    println!("cargo::rerun-if-env-changed=CXX");
    println!("cargo::rerun-if-env-changed=LD_LIBRARY_PATH");
    let folders = |name: &str| -> Vec<PathBuf> {
        env::split_paths(&env::var_os(name).unwrap_or_default()).collect()
    };
    let path = folders("PATH");
    let is_program = |name: &str| path.iter().any(|folder| folder.join(name).is_file());
    let compiler = env::var_os("CXX").is_some() || COMPILERS.iter().any(|name| is_program(name));
    let driver =
        |folder: &Path| folder.join("libcuda.so.1").exists() || folder.join("libcuda.so").exists();
    let driver = folders("LD_LIBRARY_PATH").iter().any(|f| driver(f))
        || LIBRARIES.iter().any(|f| driver(Path::new(f)));
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    for (name, is_there) in [
        ("has_compiler", compiler),
        ("has_driver", driver),
        ("has_python", is_program("python3")),
        ("has_two_cores", cores > 1),
    ] {
        println!("cargo::rustc-check-cfg=cfg({name})");
        if is_there {
            println!("cargo::rustc-cfg={name}");
        }
    }
}
