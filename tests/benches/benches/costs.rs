//! What a request costs under each policy, drawing its arrival and all metrics of `orrery run` included.
//!
//! ```text
//! PROGRAM FILE POLICY REQUESTS         one run, to count its instructions
//! PROGRAM FILE POLICY REQUESTS log     the log of that run, on stdout
//! ```
//!
//! `cargo bench -p orrery-benches --features run --bench costs --no-run` names the program; without arguments it does nothing.

use orrery_run::PolicySpec;
use orrery_scenario::Scenario;
use orrery_sim::driver::ready;
use orrery_sim::log::LogWriter;
use std::io::Write;

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [file, policy, requests, log @ ..] = &args[..] else { return };
    let requests: u64 = requests.parse().expect("a number");
    let text = std::fs::read_to_string(file).expect("a file");
    let is_count = |line: &str| line.starts_with("requests =") || line.starts_with("duration_s =");
    let line = |line: &str| match is_count(line) {
        true => format!("requests = {requests}\n"),
        false => format!("{line}\n"),
    };
    let text: String = text.lines().map(line).collect();
    let scenario = Scenario::from_text(file, &text).expect("a case");
    let setup = scenario.setup(1).expect("the case can be set up");
    let policy = PolicySpec::parse(policy).expect("a policy");
    if log.is_empty() {
        let run = setup.run_by(&policy, 1, (), ready::watched).expect("a run");
        println!("{:?} {}", run.observer.0.total().ends, run.events);
    } else {
        let out: Box<dyn Write> = Box::new(std::io::BufWriter::new(std::io::stdout()));
        let writer = LogWriter::new(out);
        let run = setup.run_by(&policy, 1, writer, ready::logged).expect("a run");
        run.observer.1.finish().expect("stdout");
    }
}
