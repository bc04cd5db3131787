//! The cells of a league: every scenario with every policy, on the same streams, kept as a sweep's cells are.
//!
//! A policy that cannot run a scenario has no runs there, and the reason.

use crate::suite::Suite;
use orrery_results::metric;
use orrery_run::{PolicySpec, SpecError};
use orrery_scenario::scenario::caveats::{CAVEATS, ONE_MODEL};
use orrery_sweep::goodput::Search;
use orrery_sweep::hash::spec_sha256;
use orrery_sweep::kept::Kept;
use orrery_sweep::parts::{Ran, is_stopped, run_parts};
use orrery_sweep::replication::{Measure, Replication};
use orrery_sweep::scenario_cell::{Inputs, ScenarioCell};
use orrery_sweep::seeds::Seeds;
use orrery_sweep::shard::Shard;
use std::cmp::Reverse;
use std::path::PathBuf;

/// The policy that knows every execution time: clairvoyant and greedy, no bound, and no competitor.
pub(crate) const ORACLE: &str = "oracle";

/// What is kept of a run beside its score.
const KEPT: [&str; 6] = [
    metric::FINISH_RATE,
    metric::MEAN_COST,
    metric::GOODPUT,
    metric::LATENCY_P99,
    metric::MEAN_BATCH_SIZE,
    metric::UTILISATION,
];

/// What is asked.
#[derive(Clone, Debug)]
pub struct Asked {
    /// The scenarios.
    pub suite: Suite,
    /// The policies.
    pub policies: Vec<PolicySpec>,
    /// Seeds of each cell.
    pub seeds: u32,
    /// The highest rate is searched for, in place of a run at the scenario's.
    pub search: Option<Search>,
}

impl Asked {
    /// Runs at the scenarios' rates.
    pub fn of(suite: Suite, policies: Vec<PolicySpec>, seeds: u32) -> Asked {
        Asked { suite, policies, seeds, search: None }
    }

    /// The shipped policies, but for a run of those that are `given` `alone`, and these; which are given.
    ///
    /// # Errors
    /// When there is no such policy.
    pub fn with(
        suite: Suite,
        given: &[String],
        alone: bool,
        seeds: u32,
    ) -> Result<(Asked, Vec<usize>), SpecError> {
        let shipped = orrery_run::policies::all().map(|table| table.about.name.to_string());
        let mut policies: Vec<PolicySpec> = Vec::new();
        for name in shipped.filter(|_| !alone).chain(given.iter().cloned()) {
            let policy = PolicySpec::parse(&name)?;
            if !policies.contains(&policy) {
                policies.push(policy);
            }
        }
        let is_given = |i: &usize| given.iter().any(|g| g == policies[*i].text());
        let own = (0..policies.len()).filter(is_given).collect();
        Ok((Asked::of(suite, policies, seeds), own))
    }
}

/// How it is run; no number depends on it.
#[derive(Clone, Debug, Default)]
pub struct How {
    /// Threads; one for each core when 0.
    pub jobs: usize,
    /// Where finished cells are kept.
    pub out: Option<PathBuf>,
    /// Only a part of the cells.
    pub shard: Option<Shard>,
}

/// A scenario with a policy.
#[derive(Clone, Debug)]
pub struct Fought {
    /// What its rows have in common.
    pub place: orrery_results::Row,
    /// A run for each seed; none where the policy cannot run the scenario.
    pub runs: Vec<Replication>,
    /// Why there are none.
    pub reason: String,
}

impl Fought {
    /// A value of each seed.
    pub fn values(&self, metric: &str) -> Option<Vec<f64>> {
        let values: Option<Vec<f64>> = self.runs.iter().map(|r| r.value("all", metric)).collect();
        values.filter(|v| !v.is_empty())
    }
}

/// What came of it.
pub enum Outcome {
    /// By scenario, then by policy.
    Whole(Vec<Vec<Fought>>),
    /// A part was run: so many cells.
    Part(usize),
    /// Ctrl-C stopped it.
    Interrupted,
}

struct Cells<'a> {
    cells: Vec<ScenarioCell>,
    kept: &'a Kept,
}

/// Runs all cells.
///
/// # Errors
/// When a scenario cannot be set up, or the folder cannot be written.
pub fn fight(asked: &Asked, how: &How) -> Result<Outcome, SpecError> {
    let kept = Kept::at(how.out.as_deref())?;
    let cells = Cells { cells: cells(asked)?, kept: &kept };
    // The longest first: none of them is waited for at the end.
    let mut order: Vec<usize> = match how.shard {
        Some(shard) => {
            let names: Vec<String> = cells.cells.iter().map(entry).collect();
            shard.of(names.iter().map(String::as_str))
        }
        None => (0..cells.cells.len()).collect(),
    };
    order.sort_by_key(|&i| Reverse(cells.cells[i].requests_expected()));
    let Ran::All(fought) = run_parts(&order, how.jobs, |i| cells.one(i))? else {
        return Ok(Outcome::Interrupted);
    };
    if how.shard.is_some() {
        return Ok(Outcome::Part(fought.len()));
    }
    let mut placed: Vec<(usize, Fought)> = order.into_iter().zip(fought).collect();
    placed.sort_by_key(|(i, _)| *i);
    let mut rest = placed.into_iter().map(|(_, fought)| fought);
    let row = |_| rest.by_ref().take(asked.policies.len()).collect();
    let mut cells: Vec<Vec<Fought>> = (0..asked.suite.scenarios.len()).map(row).collect();
    score_loops(&asked.suite, &mut cells);
    Ok(Outcome::Whole(cells))
}

fn cells(asked: &Asked) -> Result<Vec<ScenarioCell>, SpecError> {
    let (inputs, mut out) = (Inputs::default(), Vec::new());
    for one in &asked.suite.scenarios {
        let seeds = Seeds { first: one.scenario.seed, count: asked.seeds, until_ci: None };
        let inputs_sha256 = inputs.sha256(&one.scenario)?;
        out.extend(asked.policies.iter().map(|policy| ScenarioCell {
            scenario: one.scenario.clone(),
            axes: one.axes.clone(),
            policy: policy.clone(),
            seeds,
            inputs_sha256: inputs_sha256.clone(),
            search: asked.search.clone(),
        }));
    }
    Ok(out)
}

/// The name of its entry: less is kept than of a sweep's cell.
fn entry(cell: &ScenarioCell) -> String {
    spec_sha256(&["arena", &cell.hashes().0])
}

impl Cells<'_> {
    fn one(&self, i: usize) -> Result<Fought, SpecError> {
        let cell = &self.cells[i];
        let place = cell.place("");
        // A scenario that is wrong is no policy's refusal.
        let setup = cell.scenario.setup(cell.seeds.first)?;
        if let Some(reason) = beside_its_paper(cell) {
            return Ok(Fought { place, runs: Vec::new(), reason });
        }
        if let Err(refusal) = setup.check_policy(&cell.policy) {
            return Ok(Fought { place, runs: Vec::new(), reason: first_line(&refusal) });
        }
        drop(setup);
        let mut failed = None;
        let one = |seed| match cell.one(seed) {
            Ok(run) if cell.search.is_some() => Ok(searched(run)),
            Ok(run) => Ok(scored(run)),
            Err(e) => {
                failed = Some(first_line(&e));
                Err(e)
            }
        };
        let what = format!("{} {}", cell.scenario.name, cell.policy);
        let runs = self.kept.seeds(&entry(cell), &what, &cell.seeds, one);
        match (runs, failed) {
            (Ok(runs), _) => Ok(Fought { place, runs, reason: String::new() }),
            (Err(_), Some(reason)) if !is_stopped() => {
                Ok(Fought { place, runs: Vec::new(), reason })
            }
            (Err(e), _) => Err(e),
        }
    }
}

/// Several models where its paper serves one: no result would be of that system.
fn beside_its_paper(cell: &ScenarioCell) -> Option<String> {
    let flags = cell.scenario.caveats(&cell.policy);
    let found = CAVEATS.iter().find(|c| c.0 == ONE_MODEL && flags.contains(&c.0));
    found.map(|c| c.1.to_string())
}

/// An error without its remedy, which is for those who can change the scenario.
fn first_line(error: &SpecError) -> String {
    error.to_string().lines().next().unwrap_or_default().to_string()
}

/// What was searched for, and how sure it is.
fn searched(mut run: Replication) -> Replication {
    let kept = [metric::PEAK, metric::CLEARLY_GOOD, metric::CLEARLY_BAD];
    run.measures.retain(|m| m.scope == "all" && kept.contains(&m.metric.as_str()));
    (run.offered, run.in_time) = (Vec::new(), Vec::new());
    run
}

fn score_of(score: Option<f64>, samples: u64) -> Measure {
    let nothing = || "no request counts: there is no finish rate".to_string();
    match score {
        Some(score) => Measure::of("all", metric::ARENA_SCORE, score, samples),
        None => Measure::unanswered("all", metric::ARENA_SCORE, nothing(), samples),
    }
}

/// Scores closed loops: there a slow policy is asked less, and a finish rate rewards it. The score is the answers in
/// time per second over those of the best policy of the league, seed by seed.
pub(crate) fn score_loops(suite: &Suite, cells: &mut [Vec<Fought>]) {
    let is_loop = |asked: &&crate::suite::Asked| asked.scenario.file.closed_loop.is_some();
    let loops = suite.scenarios.iter().zip(cells).filter(|(asked, _)| is_loop(asked));
    for (_, row) in loops {
        for seed in 0..row.iter().map(|c| c.runs.len()).max().unwrap_or(0) {
            let rate = |c: &Fought| c.runs.get(seed).and_then(|r| r.value("all", metric::GOODPUT));
            let league = row.iter().filter(|c| c.place.system != ORACLE);
            let best = league.filter_map(rate).fold(0.0, f64::max);
            for cell in row.iter_mut() {
                let score = (best > 0.0).then(|| rate(cell).unwrap_or(0.0) / best);
                let measures = cell.runs.get_mut(seed).into_iter().flat_map(|r| &mut r.measures);
                for m in measures.filter(|m| m.metric == metric::ARENA_SCORE) {
                    *m = score_of(score, m.samples);
                }
            }
        }
    }
}

/// A run with its score, and little else.
pub(crate) fn scored(mut run: Replication) -> Replication {
    let cost = run.value("all", metric::MEAN_COST);
    let score = cost.map(|cost| 1.0 - cost).or_else(|| run.value("all", metric::FINISH_RATE));
    let of_app = |m: &&Measure| m.scope.starts_with("app ") && m.metric == metric::FINISH_RATE;
    let worst = run.measures.iter().filter(of_app).filter_map(|m| m.value).reduce(f64::min);
    let samples = run.measures.first().map_or(0, |m| m.samples);
    run.measures.retain(|m| m.scope == "all" && KEPT.contains(&m.metric.as_str()));
    run.measures.insert(0, score_of(score, samples));
    if let Some(worst) = worst {
        run.push("all", metric::WORST_APP, worst, samples);
    }
    (run.offered, run.in_time) = (Vec::new(), Vec::new());
    run
}
