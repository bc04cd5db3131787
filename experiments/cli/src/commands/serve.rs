//! `orrery serve`: a page on this machine that asks a scenario or a plan what would be if.
//!
//! ```text
//!  the page ── address ──> door.rs: limits on what comes in
//!      ▲                      │
//!      └────── events ── http.rs ──> orrery_serve: what can be asked, and the answers
//! ```
//!
//! It listens on the loopback only. A request needs the token of the printed address, and a `Host` of this
//! machine: a page from elsewhere can do nothing. It runs the file that was named and no other, and writes
//! none but the token's, where that is asked for.

mod door;
mod http;
mod shared;
mod token;

use super::set::Set;
use clap::Args;
use orrery_report::threads::pool;
use orrery_report::{Answer, say};
use orrery_run::SpecError;
use orrery_serve::Desk;
use shared::{Shared, file_now};
use std::io::Write;
use std::net::TcpListener;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

/// `orrery serve`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  orrery serve scenarios/one-gpu-bert.toml
  orrery serve scenarios/resnet50-8gpu.toml --port 8080
  orrery serve scenarios/plans/gpus-for-symphony.toml

Open the printed address in a browser; Ctrl-C ends it.")]
pub struct Serve {
    /// The scenario file, or the plan file.
    pub file: PathBuf,
    // No doc comment: clap would print it.
    #[command(flatten)]
    pub set: Set,
    /// The port on the loopback; by default any that is free.
    #[arg(long, value_name = "PORT")]
    pub port: Option<u16>,
    /// Number of parallel simulations; by default one per core. Results do not depend on it.
    #[arg(long, value_name = "J", value_parser = clap::value_parser!(u16).range(1..=4096))]
    pub jobs: Option<u16>,
}

/// `orrery serve`: until Ctrl-C.
///
/// # Errors
/// When the file is wrong, or the port is in use.
pub fn command(args: &Serve) -> Result<Answer, SpecError> {
    let desk = Desk::new(Some(pool(args.jobs.unwrap_or(0).into())?));
    desk.check(&file_now(&args.file, args.set.changes()?)?)?;
    let unusable = |e: &dyn std::fmt::Display| {
        let port = args.port.unwrap_or_default();
        let remedy = "choose another with `--port`, or leave it out: then any free one is taken";
        SpecError::value("--port", format!("{port} ({e})"), "a port that is free", remedy)
    };
    let listener = TcpListener::bind(("127.0.0.1", args.port.unwrap_or(0)));
    let listener = listener.map_err(|e| unusable(&e))?;
    let port = listener.local_addr().map_err(|e| unusable(&e))?.port();
    let token = token::fresh();
    let (file, set) = (args.file.clone(), args.set.changes()?.to_vec());
    let shared = Shared { file, set, token, port, desk, under_way: Mutex::default() };
    let shared = Arc::new(shared);
    // A reader of the address may go away: the page is there all the same.
    let mut stdout = std::io::stdout().lock();
    let _ = writeln!(stdout, "http://127.0.0.1:{port}/?token={}", shared.token);
    let _ = stdout.flush();
    drop(stdout);
    say("open this address in a browser; Ctrl-C ends it");
    door::serve(&listener, move |request| http::reply(request, &shared))
}
