//! `orrery serve`: a page on this machine that asks a scenario what would be if.
//!
//! ```text
//!  FILE.toml ── controls.rs ──> what can be changed, with units and bounds
//!                  │
//!  the page ── address ── question.rs ──> a scenario, policies, seeds     (a question is an address)
//!                  │                          │
//!              http.rs  <── events ────── answers.rs: runs, the shortest first, until told to stop
//! ```
//!
//! It listens on the loopback only. A request needs the token of the printed address, and a `Host` of this
//! machine: a page from elsewhere can do nothing. It runs the scenario that was named and no other, and
//! writes no file.

mod answers;
mod controls;
mod http;
mod question;

use answers::Answers;
use clap::Args;
use controls::Controls;
use orrery_papers::output::{Answer, say};
use orrery_scenario::SpecError;
use orrery_scenario::scenario::Scenario;
use std::collections::BTreeMap;
use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::io::Write;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};

/// `orrery serve`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  orrery serve scenarios/one-gpu-bert.toml
  orrery serve scenarios/resnet50-8gpu.toml --port 8080

Open the printed address in a browser; Ctrl-C ends it.")]
pub struct Serve {
    /// The scenario file.
    pub scenario: PathBuf,
    /// The port on the loopback; by default any that is free.
    #[arg(long, value_name = "PORT")]
    pub port: Option<u16>,
    /// Number of parallel simulations; by default one per core. Results do not depend on it.
    #[arg(long, value_name = "J", value_parser = clap::value_parser!(u16).range(1..=4096))]
    pub jobs: Option<u16>,
}

/// What all requests share.
struct Shared {
    file: PathBuf,
    token: String,
    port: u16,
    answers: Answers,
    /// What is under way, by the page that asked.
    under_way: Mutex<BTreeMap<String, Arc<AtomicBool>>>,
}

impl Shared {
    /// The scenario as the file has it now.
    fn scenario(&self) -> Result<Scenario, SpecError> {
        Scenario::load(&self.file)
    }
}

/// A word that nobody can guess. The standard library's hash keys are the system's random numbers.
fn token() -> String {
    let word = || RandomState::new().hash_one(std::process::id());
    format!("{:016x}{:016x}", word(), word())
}

/// `orrery serve`: until Ctrl-C.
///
/// # Errors
/// When the scenario is wrong, or the port is in use.
pub fn command(args: &Serve) -> Result<Answer, SpecError> {
    Controls::of(&Scenario::load(&args.scenario)?)?;
    let unusable = |e: &dyn std::fmt::Display| {
        let port = args.port.unwrap_or_default();
        let remedy = "choose another with `--port`, or leave it out: then any free one is taken";
        SpecError::value("--port", format!("{port} ({e})"), "a port that is free", remedy)
    };
    let server = tiny_http::Server::http(("127.0.0.1", args.port.unwrap_or(0)));
    let server = server.map_err(|e| unusable(&e))?;
    let port = server.server_addr().to_ip().map_or(0, |address| address.port());
    let answers = Answers::new(args.jobs.unwrap_or(0).into())?;
    let (file, token, under_way) = (args.scenario.clone(), token(), Mutex::default());
    let shared = Arc::new(Shared { file, token, port, answers, under_way });
    // A reader of the address may go away: the page is there all the same.
    let mut stdout = std::io::stdout().lock();
    let _ = writeln!(stdout, "http://127.0.0.1:{port}/?token={}", shared.token);
    let _ = stdout.flush();
    drop(stdout);
    say("open this address in a browser; Ctrl-C ends it");
    for request in server.incoming_requests() {
        let shared = shared.clone();
        std::thread::spawn(move || http::reply(request, &shared));
    }
    Ok(Answer::default())
}
