//! Lists of the model zoos that scenarios may name: `orrery list` and `orrery list ZOO`.

use crate::cli::Answer;
use orrery_scenario::SpecError;
use orrery_scenario::error::nearest;
use orrery_scenario::scenario::file::{LatencyLaw, Model};
use orrery_scenario::zoo::{ZOOS, Zoo};
use std::fmt::Write;

/// One line for each zoo.
pub fn all() -> String {
    let mut out = format!("{:28} {:>7}  what, and from where\n", "zoo", "models");
    for zoo in ZOOS {
        let models: usize = gpus(zoo).into_iter().map(|gpu| zoo.models(gpu).len()).sum();
        let _ = writeln!(out, "{:28} {models:>7}  {}", zoo.name, zoo.what);
    }
    out + "\n`orrery list ZOO` lists a zoo's models; a scenario has them with `[[zoo]]`\n"
}

/// The models of a zoo.
///
/// # Errors
/// When there is no such zoo.
pub fn models(name: &str) -> Result<Answer, SpecError> {
    let Some(zoo) = Zoo::find(name) else {
        let names = || ZOOS.iter().map(|z| z.name);
        let near = nearest(name, names());
        let hint = near.map_or(String::new(), |n| format!("did you mean `{n}`? "));
        let (allowed, remedy) = (names().collect::<Vec<_>>().join(", "), format!("{hint}list one"));
        return Err(SpecError::value("ZOO", format!("`{name}`"), allowed, remedy));
    };
    let mut out = format!("{}: {}\n", zoo.name, zoo.what);
    for gpu in gpus(zoo) {
        if let Some(gpu) = gpu {
            let _ = write!(out, "\ngpu = \"{gpu}\"\n");
        }
        let _ = writeln!(out, "{:32} {:>8}  latency of a batch, ms", "model", "SLO, ms");
        for model in zoo.models(gpu) {
            let _ = writeln!(out, "{:32} {:>8}  {}", model.name, model.slo_ms, law(&model));
        }
    }
    Ok(Answer::of(out))
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
