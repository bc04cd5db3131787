//! Every Python line of the documents, run as it stands there on tables of this program.
//!
//! It has a `main` of its own because whether a library is installed is known only when it runs: where
//! python3 or the library is missing, its test is reported as ignored, with the reason in its name. What
//! the lines compute is checked without Python in `it/cli/readers.rs`.

#[allow(dead_code)]
#[path = "it/cli/process.rs"]
mod process;

use libtest_mimic::{Arguments, Failed, Trial};
use orrery_results::{Row, read_rows};
use process::Place;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The table that the lines read.
const TABLE: &str = "bert-slo.csv";

/// Prints what a block found, whatever its library calls a table: the types of the columns, then a line
/// for each policy.
const PRINT: &str = r#"
types = getattr(rows, "dtypes", None)
print("types", " ".join(str(t) for t in types))
pairs = rates.items() if hasattr(rates, "items") else getattr(rates, "rows", getattr(rates, "fetchall", None))()
for policy, rate in sorted(pairs):
    print("rate", policy, repr(float(rate)))
"#;

const SCENARIO: &str = r#"
name = "small"
policies = ["fifo", "clockwork"]
[[model]]
name = "bert"
slo_ms = 40.0
latency = { proportional = { c1 = 0.4 } }
[[app]]
name = "chat"
model = "bert"
time = { lognormal = { mean_ms = 8.0, sd_ms = 5.0 } }
[[app]]
name = "search"
model = "bert"
time = { constant = { ms = 4.0 } }
[arrivals]
poisson = { rate_per_s = 110.0 }
requests = 2000
"#;

const SWEEP: &str = r#"
name = "bert-slo"
scenario = "small.toml"
seeds = 2
[[axis]]
name = "slo_ms"
key = "model.bert.slo_ms"
values = [30.0, 60.0]
"#;

/// A Python block of a document.
struct Block {
    document: String,
    line: usize,
    text: String,
}

impl Block {
    /// The library that it imports.
    fn library(&self) -> &str {
        let line = self.text.lines().find_map(|l| l.strip_prefix("import "));
        line.unwrap_or("no library").trim()
    }
}

fn documents() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let docs = std::fs::read_dir(root.join("docs")).expect("a folder of documents");
    let mut all: Vec<PathBuf> = docs.flatten().map(|e| e.path()).collect();
    all.retain(|p| p.extension().is_some_and(|e| e == "md"));
    all.push(root.join("README.md"));
    all.sort();
    all
}

fn blocks() -> Vec<Block> {
    let mut out: Vec<Block> = Vec::new();
    for path in documents() {
        let text = std::fs::read_to_string(&path).expect("a document");
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let mut open = false;
        for (i, line) in text.lines().enumerate() {
            match (open, line.trim()) {
                (false, "```python") => {
                    open = true;
                    out.push(Block { document: name.clone(), line: i + 1, text: String::new() });
                }
                (true, "```") => open = false,
                (true, _) => {
                    let block = out.last_mut().expect("a block that was opened");
                    block.text.push_str(&format!("{line}\n"));
                }
                _ => {}
            }
        }
    }
    out
}

/// Why a block cannot run here, if so.
fn missing(library: &str) -> Option<String> {
    let found = Command::new("python3").args(["-c", &format!("import {library}")]).output();
    match found {
        Err(_) => Some("python3 is not installed".to_string()),
        Ok(out) if !out.status.success() => Some(format!("python3 has no {library}")),
        Ok(_) => None,
    }
}

/// Runs a block on a table; the types that it found, and what it says of each policy.
fn found(block: &Block, csv: &str) -> Result<(String, Vec<(String, f64)>), Failed> {
    let place = Place::with(TABLE, csv);
    place.write("block.py", format!("{}{PRINT}", block.text));
    let out = Command::new("python3").arg("block.py").current_dir(place.path(".")).output()?;
    if !out.status.success() {
        return Err(String::from_utf8_lossy(&out.stderr).into_owned().into());
    }
    let text = String::from_utf8_lossy(&out.stdout).into_owned();
    let types = text.lines().find_map(|l| l.strip_prefix("types ")).unwrap_or_default();
    let rate = |line: &str| {
        let (policy, rate) = line.strip_prefix("rate ")?.rsplit_once(' ')?;
        Some((policy.to_string(), rate.parse().ok()?))
    };
    Ok((types.to_string(), text.lines().filter_map(rate).collect()))
}

/// The mean finish rate of each policy, from rows that are values.
fn true_rates(csv: &str) -> Vec<(String, f64)> {
    let rows: Vec<Row> = read_rows(TABLE, csv).expect("a table");
    let is_rate =
        |r: &&Row| r.metric.starts_with("finish_rate") && r.versus.is_empty() && r.scope == "all";
    let mut policies: Vec<String> = rows.iter().filter(is_rate).map(|r| r.policy.clone()).collect();
    policies.sort();
    policies.dedup();
    let mean = |policy: String| {
        let own = rows.iter().filter(is_rate).filter(|r| r.policy == policy);
        let values: Vec<f64> = own.filter_map(|r| r.value).collect();
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        (policy, mean)
    };
    policies.into_iter().map(mean).collect()
}

fn check(block: &Block) -> Result<(), Failed> {
    let place = Place::with("small.toml", SCENARIO);
    place.write("bert-slo.toml", SWEEP);
    let run = |args: &[&str]| place.run(&[&["-q"], args].concat()).ok();
    let tables = [
        run(&["sweep", "bert-slo.toml", "--format", "csv"]),
        // One policy and one seed: no difference, no axis, and other columns that are empty.
        run(&["run", "small.toml", "--policy", "fifo", "--format", "csv"]),
    ];
    let mut all_types = Vec::new();
    for csv in &tables {
        let (types, rates) = found(block, csv)?;
        let expected = true_rates(csv);
        let same = |a: &(String, f64), b: &(String, f64)| a.0 == b.0 && (a.1 - b.1).abs() < 1e-12;
        if rates.len() != expected.len() || !rates.iter().zip(&expected).all(|(a, b)| same(a, b)) {
            return Err(format!("found {rates:?}; the table says {expected:?}").into());
        }
        all_types.push(types);
    }
    if all_types[0] != all_types[1] {
        return Err(format!("types differ:\n{}\n{}", all_types[0], all_types[1]).into());
    }
    Ok(())
}

fn main() {
    let trial = |block: Block| {
        let why = missing(block.library());
        let name = format!("{}:{} {}", block.document, block.line, block.library());
        let name = match &why {
            Some(why) => format!("{name} ({why})"),
            None => name,
        };
        Trial::test(name, move || check(&block)).with_ignored_flag(why.is_some())
    };
    // The package's own examples run with its wheel (`scripts/python-test`), the recipe for many machines with its
    // library (`scripts/scale-out-test`).
    let elsewhere = ["import orrery", "from dask"];
    let reads_a_table = |block: &Block| !elsewhere.iter().any(|line| block.text.contains(line));
    let blocks = blocks().into_iter().filter(reads_a_table);
    let mut trials: Vec<Trial> = blocks.map(trial).collect();
    let documented = trials.len();
    trials.push(Trial::test("each_reader_is_documented", move || match documented {
        0..3 => Err(format!("{documented} blocks of Python in the documents").into()),
        _ => Ok(()),
    }));
    libtest_mimic::run(&Arguments::from_args(), trials).exit();
}
