//! `orrery log explain`: what happened to one request, or which requests fared worst.

use orrery_explain::explain::{Failure, explain, tokens, worst};
use orrery_report::Answer;
use orrery_report::log_file;
use orrery_run::SpecError;
use orrery_sim::request::RequestId;
use std::path::PathBuf;

/// `orrery log explain`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  orrery run scenarios/one-gpu-bert.toml --policy orloj --log bert.log --why
  orrery log explain bert.log --worst 5
  orrery log explain bert.log --request 117")]
#[group(skip)]
#[command(group(clap::ArgGroup::new("of").required(true).args(["request", "worst"])))]
pub struct Explain {
    /// A log written by `orrery run --log`, of requests or of tokens; `--why` adds the policy's reasons to it.
    log: PathBuf,
    /// The number of the request to explain.
    #[arg(long, value_name = "ID")]
    request: Option<u64>,
    /// List the N worst requests instead, one line each.
    #[arg(long, value_name = "N")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    worst: Option<u32>,
}

/// Runs `orrery log explain`.
///
/// # Errors
/// When the log cannot be read or does not have the request.
pub fn command(args: &Explain) -> Result<Answer, SpecError> {
    let count = args.worst.unwrap_or(1) as usize;
    if let Some(read) = log_file::of_tokens(&args.log)? {
        let Some(id) = args.request else {
            return Ok(Answer::text(&tokens::worst(&read, count)));
        };
        let told = tokens::explain(&read, id);
        let unknown = |requests| log_file::unknown_request(&args.log, id, requests);
        return told.map(|text| Answer::text(&text)).map_err(unknown);
    }
    let mut log = log_file::open(&args.log)?;
    let names = log.names()?.clone();
    let Some(id) = args.request else {
        return Ok(Answer::text(&worst(&names, log, count)?));
    };
    match explain(&names, log, RequestId(id)) {
        Ok(text) => Ok(Answer::text(&text)),
        Err(Failure::Log(error)) => Err(error.into()),
        Err(Failure::Unknown { requests }) => {
            Err(log_file::unknown_request(&args.log, id, requests))
        }
    }
}
