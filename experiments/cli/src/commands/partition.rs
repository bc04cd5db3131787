//! `orrery plan partition`: models to sub-clusters, by the solvers of `orrery-partition`.
//!
//! The problem and the answer are here; how it is solved is not.

use clap::Args;
use orrery_report::Answer;
use orrery_report::tables::Text;
use orrery_reproduce::kinds::partition::file::PartitionFile;
use orrery_reproduce::kinds::partition::problem::{Method, Named};
use orrery_scenario::SpecError;
use orrery_solvers::partition::{Answer as Solved, Assignment};
use std::fmt::Write;
use std::path::PathBuf;

/// `orrery plan partition`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  orrery plan partition scenarios/partitions/rebalance.toml
  orrery plan partition scenarios/partitions/rebalance.toml --method random")]
pub struct Partition {
    /// The partition file (docs/partition.md).
    pub file: PathBuf,
    /// The solver, instead of the file's.
    #[arg(long, value_enum)]
    pub method: Option<Method>,
    /// The seed of generated models and of the search, instead of the file's.
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
}

/// `orrery plan partition`.
///
/// # Errors
/// When the file is wrong, or no assignment that keeps its limits exists or was found.
pub fn command(args: &Partition) -> Result<Answer, SpecError> {
    let file = PartitionFile::load(&args.file)?;
    let seed = args.seed.unwrap_or(file.seed);
    let method = args.method.unwrap_or(file.method);
    let named = file.problem(seed).map_err(|e| file.source.placed(e))?;
    let solved = file.solve(&named, method, seed).map_err(|e| file.source.placed(e))?;
    Ok(Answer::text(&text(&file, &named, method, &solved)))
}

fn text(file: &PartitionFile, named: &Named, method: Method, solved: &Solved) -> String {
    let (p, a) = (&named.problem, &solved.assignment);
    let how = file.in_words(method);
    let mut out = format!("{} models, {} sub-clusters, {how}\n", p.models.len(), p.clusters);
    let imbalance = p.imbalance(a);
    let _ = writeln!(
        out,
        "objective {:.6} requests/s (Eq. 3), w = {:.6} requests/s for a MB",
        p.objective(a),
        p.memory_weight
    );
    let _ = writeln!(
        out,
        "imbalance, (max - min) / mean: {:.6} of rates, {:.6} of static memory",
        imbalance.rate, imbalance.memory
    );
    if p.models.iter().any(|m| m.current.is_some()) {
        let limit =
            if p.cost_max.is_finite() { format!("{}", p.cost_max) } else { "any".to_string() };
        let _ = writeln!(out, "moves {}, cost {} (allowed: {limit})", p.moves(a), p.cost(a));
    }
    let mut table = Text::new(&["sub-cluster", "rate, 1/s", "static, MB", "models"]);
    for j in 0..p.clusters {
        table.line(clusters_line(named, a, j));
    }
    out.push('\n');
    out + &table.left(&["models"]).text()
}

fn clusters_line(named: &Named, a: &Assignment, j: usize) -> Vec<String> {
    let (mut rate, mut memory, mut names) = (0.0, 0.0, Vec::new());
    for (i, model) in named.problem.models.iter().enumerate() {
        if a.cluster_of[i] == j {
            rate += model.rate;
            memory += model.static_mem;
            let moved = model.current.is_some_and(|c| c != j);
            names.push(format!("{}{}", named.names[i], if moved { "*" } else { "" }));
        }
    }
    vec![j.to_string(), format!("{rate:.3}"), format!("{memory:.1}"), names.join(" ")]
}
