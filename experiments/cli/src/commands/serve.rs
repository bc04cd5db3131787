//! `orrery serve`: a page on this machine that asks a scenario or a plan what would be if.
//!
//! ```text
//!  FILE.toml ── controls.rs ──> what can be changed, with units and bounds
//!                  │
//!  the page ── address ── question.rs ──> a scenario, policies, seeds     (a question is an address)
//!                  │                          │
//!              door.rs: limits on what comes in
//!                  │                          │
//!              http.rs  <── events ────── answers.rs: runs, the shortest first, until told to stop
//!                                         plans.rs: the same of a plan, whose questions are what-ifs
//! ```
//!
//! It listens on the loopback only. A request needs the token of the printed address, and a `Host` of this
//! machine: a page from elsewhere can do nothing. It runs the file that was named and no other, and writes
//! none but the token's, where that is asked for.

mod answers;
mod controls;
mod door;
mod http;
mod plans;
mod question;
mod shared;
mod token;

use answers::Answers;
use clap::Args;
use controls::Controls;
use orrery_output::{Answer, say};
use orrery_scenario::scenario::Scenario;
use orrery_scenario::{SpecError, kind, read_text};
use plans::{Plan, Plans};
use shared::Shared;
use std::io::Write;
use std::net::TcpListener;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

/// `orrery serve`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  orrery serve scenarios/one-gpu-bert.toml
  orrery serve scenarios/resnet50-8gpu.toml --port 8080 --token-file ~/.orrery-token
  orrery serve scenarios/plans/gpus-for-symphony.toml

Open the printed address in a browser; Ctrl-C ends it.")]
pub struct Serve {
    /// The scenario file, or the plan file.
    pub file: PathBuf,
    /// The port on the loopback; by default any that is free.
    #[arg(long, value_name = "PORT")]
    pub port: Option<u16>,
    /// Keep the token in this file, readable by you alone: with `--port`, the address works after a restart.
    #[arg(long, value_name = "FILE")]
    pub token_file: Option<PathBuf>,
    /// Number of parallel simulations; by default one per core. Results do not depend on it.
    #[arg(long, value_name = "J", value_parser = clap::value_parser!(u16).range(1..=4096))]
    pub jobs: Option<u16>,
}

/// `orrery serve`: until Ctrl-C.
///
/// # Errors
/// When the file is wrong, or the port is in use.
pub fn command(args: &Serve) -> Result<Answer, SpecError> {
    let text = read_text(&args.file)?;
    let is_plan = kind::of(&text).is_some_and(|kind| kind.name == kind::PLAN.name);
    match is_plan {
        true => drop(Plan::load(&args.file)?),
        false => drop(Controls::of(&Scenario::load(&args.file)?)?),
    }
    let unusable = |e: &dyn std::fmt::Display| {
        let port = args.port.unwrap_or_default();
        let remedy = "choose another with `--port`, or leave it out: then any free one is taken";
        SpecError::value("--port", format!("{port} ({e})"), "a port that is free", remedy)
    };
    let listener = TcpListener::bind(("127.0.0.1", args.port.unwrap_or(0)));
    let listener = listener.map_err(|e| unusable(&e))?;
    let port = listener.local_addr().map_err(|e| unusable(&e))?.port();
    let token = token::of(args.token_file.as_deref())?;
    let answers = Answers::new(args.jobs.unwrap_or(0).into())?;
    let (file, token, under_way) = (args.file.clone(), token, Mutex::default());
    let plans = Plans::default();
    let shared = Shared { file, is_plan, token, port, answers, plans, under_way };
    let shared = Arc::new(shared);
    // A reader of the address may go away: the page is there all the same.
    let mut stdout = std::io::stdout().lock();
    let _ = writeln!(stdout, "http://127.0.0.1:{port}/?token={}", shared.token);
    let _ = stdout.flush();
    drop(stdout);
    say("open this address in a browser; Ctrl-C ends it");
    door::serve(&listener, move |request| http::reply(request, &shared))
}
