//! The `orrery` command line.

fn main() -> std::process::ExitCode {
    orrery::cli::main(orrery_version::commit!())
}
