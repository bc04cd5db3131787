//! `orrery list`: what can be reproduced, model zoos, policies; and what is in one of them.

use crate::commands::names::{self, LISTED};
use clap::Args;
use orrery_report::Answer;
use orrery_report::tables::Text;
use orrery_reproduce::{describe, registry, reproduce};
use orrery_run::error::{hint, one_of};
use orrery_run::{SpecError, policies};
use orrery_scenario::scenario::file::{LatencyLaw, Model};
use orrery_scenario::zoo::{ZOOS, Zoo};
use orrery_sim::policy::parameters::Table;
use std::fmt::Write;

/// `orrery list`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  orrery list
  orrery list kairos-fig-9
  orrery list kairos-fig-9 --bibtex
  orrery list symphony-a100
  orrery list policies
  orrery list policy clockwork")]
pub struct List {
    /// An experiment's id or file, a zoo, `policies`, or `policy` followed by a name.
    #[arg(value_parser = LISTED, hide_possible_values = true)]
    pub name: Option<String>,
    /// The policy's name, after `policy`.
    #[arg(value_parser = names::POLICIES, hide_possible_values = true)]
    pub policy: Option<String>,
    /// How to cite orrery and, with an id, the paper that it is of.
    #[arg(long)]
    pub bibtex: bool,
}

/// How orrery is cited, as in `CITATION.cff`.
const OWN: &str = "@software{orrery,
  title = {orrery: a deterministic discrete-event simulator of schedulers for {DNN} inference},
  author = {{The orrery authors}},
  version = {VERSION},
  year = {2026},
}
";

/// Where policies are listed.
const POLICIES: &str =
    "`orrery list policies` lists the policies, `orrery list policy NAME` its parameters\n";

/// Lists all, or describes one.
///
/// # Errors
/// When there is no such name, with the nearest of all; or a shipped file is damaged.
pub fn command(args: &List) -> Result<Answer, SpecError> {
    if args.bibtex {
        return citations(args.name.as_deref()).map(|text| Answer::text(&text));
    }
    match (args.name.as_deref(), args.policy.as_deref()) {
        (Some("policies"), None) => Ok(Answer::text(&all_policies())),
        (Some("policy"), Some(name)) => Ok(Answer::text(&policies::policy_text(name)?)),
        (Some("policy"), None) => {
            let remedy = "name one: `orrery list policy NAME`; `orrery list policies` has them";
            Err(SpecError::value("policy", "no name", "a policy's name", remedy))
        }
        (Some(name), Some(more)) => {
            let remedy = "list one thing; only `policy` takes a second name";
            Err(SpecError::value("NAME", format!("`{name} {more}`"), "one name", remedy))
        }
        (name, None) => named(name),
        (None, Some(_)) => Ok(Answer::default()),
    }
}

/// Entries for orrery and for the paper of an id.
fn citations(id: Option<&str>) -> Result<String, SpecError> {
    let own = OWN.replace("VERSION", env!("CARGO_PKG_VERSION"));
    let Some(id) = id else { return Ok(own) };
    if !(id.ends_with(".toml") || registry::ids().any(|known| known == id)) {
        return Err(unknown(id));
    }
    let paper = registry::citation(id).ok_or_else(|| {
        let remedy = format!("`orrery list {id}` has the source of its numbers");
        SpecError::value(
            "--bibtex",
            format!("`{id}`"),
            "the id of an experiment of a paper",
            remedy,
        )
    })?;
    Ok(format!("{own}\n{paper}"))
}

fn named(name: Option<&str>) -> Result<Answer, SpecError> {
    match name {
        None => Ok(Answer::text(&[describe::all(), "\n", &all(), POLICIES].concat())),
        Some(name) if Zoo::find(name).is_some() => models(name),
        Some(id) if id.ends_with(".toml") || registry::ids().any(|known| known == id) => {
            // With the numbers of its file: some may be withheld.
            let e = reproduce::with(&registry::find(id)?, &reproduce::Asked::default())?;
            Ok(Answer::text(&describe::one(&e)))
        }
        Some(name) => Err(unknown(name)),
    }
}

fn unknown(name: &str) -> SpecError {
    let names = || registry::ids().chain(ZOOS.iter().map(|z| z.name)).chain(["policies"]);
    let hint = hint(name, names());
    let allowed = one_of(name, names());
    SpecError::value("NAME", format!("`{name}`"), allowed, format!("{hint}name one of them"))
}

/// The policies of requests, of jobs and of tokens: what each does, and its paper.
fn all_policies() -> String {
    let table = |heading: &str, tables: &mut dyn Iterator<Item = Table>| {
        let head = [heading, "what it does", "paper"];
        let mut text = Text::new(&head);
        for Table { about, .. } in tables {
            text.line([about.name, about.what, about.paper].map(String::from).to_vec());
        }
        text.left(&head).text()
    };
    let of_requests = table("policy", &mut policies::all());
    let of_jobs = table("of jobs", &mut policies::of_jobs());
    format!("{of_requests}\n{of_jobs}\n{}", table("of tokens", &mut policies::of_tokens()))
}

/// One line for each zoo.
fn all() -> String {
    let mut table = Text::new(&["zoo", "models", "what, and from where"]);
    for zoo in ZOOS {
        let models: usize = gpus(zoo).into_iter().map(|gpu| zoo.models(gpu).len()).sum();
        table.line(vec![zoo.name.to_string(), models.to_string(), zoo.what.to_string()]);
    }
    table.left(&["zoo", "what, and from where"]).text()
        + "\n`orrery list ZOO` lists a zoo's models; a scenario has them with `[[zoo]]`\n"
}

/// The models of a zoo.
///
/// # Errors
/// When there is no such zoo.
fn models(name: &str) -> Result<Answer, SpecError> {
    let Some(zoo) = Zoo::find(name) else { return Err(unknown(name)) };
    let mut out = format!("{}: {}\n", zoo.name, zoo.what);
    for gpu in gpus(zoo) {
        if let Some(gpu) = gpu {
            let _ = write!(out, "\ngpu = \"{gpu}\"\n");
            zoo.sources(gpu).iter().for_each(|source| out += &format!("# {source}\n"));
        }
        let mut table = Text::new(&["model", "SLO, ms", "latency of a batch, ms"]);
        for model in zoo.models(gpu) {
            table.line(vec![model.name.clone(), model.slo_ms.to_string(), law(&model)]);
        }
        out += &table.left(&["model", "latency of a batch, ms"]).text();
    }
    Ok(Answer::text(&out))
}

/// What to ask a zoo for: each of its GPUs, or the only one.
fn gpus(zoo: &Zoo) -> Vec<Option<&'static str>> {
    let gpus = zoo.gpus();
    if gpus.is_empty() { vec![None] } else { gpus.into_iter().map(Some).collect() }
}

fn law(model: &Model) -> String {
    match &model.latency {
        LatencyLaw::Affine { alpha_ms, beta_ms } => format!("{alpha_ms:.3} k + {beta_ms:.3}"),
        LatencyLaw::Table(rows) => {
            let rows: Vec<String> = rows.iter().map(|(size, ms)| format!("{size}:{ms}")).collect();
            rows.join(" ")
        }
        other => format!("{other:?}"),
    }
}
