//! The `orrery-replay` command line.

fn main() -> std::process::ExitCode {
    orrery_replay::cli::main(orrery_version::commit!())
}
