//! Baseline files: what is rerun, and what came out.

use orrery_cells::metrics::known_metric;
use orrery_cells::scenario_rows::rows_of_scenario;
use orrery_cells::seeds::Seeds;
use orrery_papers::registry;
use orrery_papers::reproduce::{Asked, rows_of};

use super::input::Made;
use orrery_results::{RESULT_VERSION, Row, metric, read_csv, to_csv};
use orrery_scenario::kind;
use orrery_scenario::limits::{SEEDS_MAX, count};
use orrery_scenario::scenario::Scenario;
use orrery_scenario::scenario::place::Source;
use orrery_scenario::{PolicySpec, SpecError, read_text};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// A baseline.
#[derive(Clone, Debug)]
pub struct Baseline {
    /// The version of the results that its rows are of.
    pub result_version: u32,
    /// Its rows.
    pub rows: Vec<BaselineRow>,
    /// What they were made from, where that was kept.
    pub made_from: Option<Made>,
    rerun: Rerun,
    path: PathBuf,
    /// The file's text before the rows, comments included.
    head: String,
}

/// A value that is guarded.
#[derive(Clone, Debug, Deserialize, Serialize, PartialEq)]
pub struct BaselineRow {
    /// As in [`Row::case`].
    pub case: String,
    /// As in [`Row::axes`].
    pub axes: String,
    /// As in [`Row::preset`].
    pub preset: String,
    /// As in [`Row::policy`].
    pub policy: String,
    /// As in [`Row::scope`].
    pub scope: String,
    /// As in [`Row::metric`].
    pub metric: String,
    /// As in [`Row::value`].
    pub value: Option<f64>,
    /// As in [`Row::reason`].
    #[serde(default)]
    pub reason: String,
    /// Of a value that was found now: its 95 % interval.
    #[serde(skip)]
    pub interval: Option<Box<(f64, f64)>>,
}

/// What was found now.
pub struct Found {
    /// The values that are guarded.
    pub rows: Vec<BaselineRow>,
    /// What they were made from.
    pub made_from: Made,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    result_version: u32,
    made_from: Option<Made>,
    rerun: Rerun,
    #[serde(default)]
    rows: String,
}

#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Rerun {
    /// An experiment's id or file, or
    reproduce: Option<String>,
    /// a scenario, by its path from the baseline's folder.
    scenario: Option<PathBuf>,
    /// The experiment's cases; all when it is empty.
    #[serde(default)]
    cases: Vec<String>,
    /// Requests of a run, where it is about applications.
    requests: Option<u64>,
    /// The scenario's policies; its own when it is empty.
    #[serde(default)]
    policies: Vec<String>,
    seeds: Option<u32>,
    /// The metrics that are guarded.
    #[serde(default = "metrics")]
    metrics: Vec<String>,
}

fn metrics() -> Vec<String> {
    [metric::REQUESTS, metric::FINISH_RATE, metric::LATENCY_P99, metric::MEAN_BATCH_SIZE]
        .map(String::from)
        .to_vec()
}

impl Baseline {
    /// Reads a baseline.
    ///
    /// # Errors
    /// When it cannot be read, or names nothing to rerun.
    pub fn load(path: &Path) -> Result<Baseline, SpecError> {
        let name = path.display().to_string();
        let text = read_text(path)?;
        let parse = |message: String| SpecError::Parse { file: name.clone(), message };
        let source = Source::new(&name, &text);
        let file: File = toml::from_str(&text).map_err(|e| {
            let error = parse(e.to_string().trim_end().to_string());
            kind::instead(kind::BASELINE, &name, &text, error)
        })?;
        if file.rerun.reproduce.is_some() == file.rerun.scenario.is_some() {
            let remedy = "add `reproduce = \"ID\"` or `scenario = \"FILE\"` under `[rerun]`";
            let error = SpecError::value("rerun", "neither or both", "one thing to rerun", remedy);
            return Err(source.placed(error));
        }
        for (i, metric) in file.rerun.metrics.iter().enumerate() {
            let key = format!("rerun.metrics[{i}]");
            known_metric(&key, metric).map_err(|e| source.placed(e))?;
        }
        if let Some(seeds) = file.rerun.seeds {
            count("rerun.seeds", seeds.into(), 1, SEEDS_MAX).map_err(|e| source.placed(e))?;
        }
        let rows = if file.rows.trim().is_empty() {
            Vec::new()
        } else {
            read_csv(&format!("{name}: rows"), &file.rows).map_err(|e| parse(e.to_string()))?
        };
        let head = without_rows(&text);
        let File { result_version, made_from, rerun, .. } = file;
        Ok(Baseline { result_version, rows, made_from, rerun, path: path.to_path_buf(), head })
    }

    /// Reruns what it names.
    ///
    /// # Errors
    /// When that does not exist or cannot be run.
    pub fn run(&self) -> Result<Found, SpecError> {
        let rows = match (&self.rerun.reproduce, &self.rerun.scenario) {
            (Some(id), _) => self.run_experiment(id)?,
            (_, Some(scenario)) => self.run_scenario(scenario)?,
            _ => Vec::new(),
        };
        let guarded = |r: &Row| r.versus.is_empty() && self.rerun.metrics.contains(&r.metric);
        let rows: Vec<Row> = rows.into_iter().filter(guarded).collect();
        if rows.is_empty() {
            let (found, allowed) = (self.rerun.metrics.join(", "), "metrics of docs/formats.md");
            let error = SpecError::value("rerun.metrics", found, allowed, "correct the list");
            return Err(error.in_file(&self.path.display().to_string()));
        }
        let made_from = Made::of(&rows);
        Ok(Found { rows: rows.into_iter().map(row).collect(), made_from })
    }

    fn run_experiment(&self, id: &str) -> Result<Vec<Row>, SpecError> {
        let requests = self.rerun.requests.map(|n| {
            let n = i64::try_from(n).unwrap_or(i64::MAX);
            ("load.requests".to_string(), toml::Value::Integer(n))
        });
        let asked = Asked {
            cases: self.rerun.cases.clone(),
            seeds: self.rerun.seeds,
            set: requests.into_iter().collect(),
            details: self.rows.iter().any(|r| r.scope != "all"),
            ..Asked::default()
        };
        let file = self.path.display().to_string();
        rows_of(&registry::find(id)?, &asked).map_err(|e| e.in_file(&file))
    }

    fn run_scenario(&self, scenario: &Path) -> Result<Vec<Row>, SpecError> {
        let folder = self.path.parent().unwrap_or(Path::new(""));
        let scenario = Scenario::load(folder.join(scenario))?;
        let policies = if self.rerun.policies.is_empty() {
            scenario.policies()?
        } else {
            let parse = |p: &String| PolicySpec::parse(p);
            self.rerun.policies.iter().map(parse).collect::<Result<_, _>>()?
        };
        let count = self.rerun.seeds.unwrap_or(1);
        rows_of_scenario(
            &scenario,
            &policies,
            Seeds { first: scenario.seed, count, until_ci: None },
            None,
        )
    }

    /// A copy without rows that can stand in another folder.
    ///
    /// # Errors
    /// When its folder is gone.
    pub fn copy(&self) -> Result<String, SpecError> {
        let mut rerun = self.rerun.clone();
        if let Some(scenario) = &mut rerun.scenario {
            let folder = self.path.parent().unwrap_or(Path::new(""));
            let path = folder.join(&scenario);
            *scenario = std::path::absolute(&path)
                .map_err(|source| SpecError::Read { file: path.display().to_string(), source })?;
        }
        let parse = |e: toml::ser::Error| SpecError::Parse {
            file: self.path.display().to_string(),
            message: e.to_string(),
        };
        let rerun = toml::to_string(&rerun).map_err(parse)?;
        Ok(format!("result_version = {RESULT_VERSION}\n\n[rerun]\n{rerun}"))
    }

    /// The file's text with other rows, what they were made from, and this version of the results.
    pub fn with(&self, found: &Found) -> String {
        let is_key = |l: &str, key: &str| l.split('=').next().is_some_and(|k| k.trim() == key);
        let made_from = found.made_from.line();
        let line = |l: &str| {
            if is_key(l, "result_version") {
                format!("result_version = {RESULT_VERSION}\n{made_from}")
            } else {
                format!("{l}\n")
            }
        };
        let lines = self.head.trim_end().lines().filter(|l| !is_key(l, "made_from"));
        let head: String = lines.map(line).collect();
        // In TOML a key after `[rerun]` would belong to it: the rows come before.
        let (top, rest) = head.split_once("[rerun]").unwrap_or((&head, ""));
        let rows = to_csv(&found.rows);
        format!("{}\nrows = '''\n{rows}'''\n\n[rerun]{rest}", top.trim_end())
    }
}

/// The text without `rows = '''...'''`.
fn without_rows(text: &str) -> String {
    const OPEN: &str = "rows = '''";
    let Some(at) = text.find(OPEN).filter(|at| *at == 0 || text.as_bytes()[at - 1] == b'\n') else {
        return text.to_string();
    };
    let body = &text[at + OPEN.len()..];
    let rest = body.find("'''").map_or("", |end| &body[end + 3..]);
    format!("{}{}", &text[..at], rest.trim_start_matches('\n'))
}

fn row(r: Row) -> BaselineRow {
    let interval = r.ci95().map(Box::new);
    let Row { case, axes, preset, policy, scope, metric, value, reason, .. } = r;
    BaselineRow { case, axes, preset, policy, scope, metric, value, reason, interval }
}
