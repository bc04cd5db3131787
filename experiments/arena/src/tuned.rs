//! The tuned league: a fixed budget of seeded random search over the parameters in each policy's table, on the
//! training half of the suite.
//!
//! ```text
//!  presets, then draws ──> training half, a score each ──> the best by its mean, the earliest of equal ones
//!  draw: each parameter is left alone with probability 1/2; else a word or a flag is any allowed one, and a number is
//!        its default times 4^u, u uniform from -1 to 1 (a default of 0: from 0 to 10), within what is allowed
//! ```

use crate::board::mean_over;
use crate::fight::{Asked, Fought, How, Outcome, fight};
use crate::suite::{Half, Suite};
use orrery_results::metric;
use orrery_run::{PolicySpec, SpecError, policies};
use orrery_sim::policy::parameters::{Allowed, Row, Table};
use orrery_sim::rng::Stream;

/// Seeds of each cell while it is searched.
const SEEDS: u32 = 2;
/// A number whose default is 0 is drawn up to this.
const FROM_ZERO: f64 = 10.0;
/// A count whose default is a word is drawn around this.
const FOR_A_WORD: f64 = 8.0;
/// A draw that no policy takes is drawn again so often.
const TRIES: usize = 50;

/// A policy and what is tried of it.
#[derive(Clone, Debug)]
pub struct Space {
    /// The policy, without its settings.
    pub policy: String,
    /// What is tried, the released one first.
    pub tried: Vec<PolicySpec>,
}

/// What was found for a policy.
#[derive(Clone, Debug)]
pub struct Found {
    /// The policy, without its settings.
    pub policy: String,
    /// How many settings were tried.
    pub tried: usize,
    /// The best one on the training half.
    pub best: PolicySpec,
    /// The mean score as released and of the best, on the training half.
    pub training: (f64, f64),
    /// The same on the judging half.
    pub judging: Option<(f64, f64)>,
}

/// How it is searched.
#[derive(Clone, Copy, Debug)]
pub struct Tuning {
    /// Settings of each policy.
    pub budget: usize,
    /// Which draw of the training half; the draws of settings follow it.
    pub draw: u32,
}

/// A search, and what was found.
#[derive(Clone, Debug)]
pub struct Tuned {
    /// How it was searched.
    pub tuning: Tuning,
    /// Scenarios of both halves.
    pub halves: (usize, usize),
    /// What was found, by policy.
    pub found: Vec<Found>,
}

impl Tuned {
    /// How it was searched, in words.
    pub fn words(&self) -> String {
        let (Tuning { budget, draw }, (training, judging)) = (self.tuning, self.halves);
        format!(
            "up to {budget} settings of each policy, drawn at random, on {training} scenarios with {SEEDS} seeds (draw \
             {draw}); judged here on the other {judging}"
        )
    }
}

/// Tunes every shipped policy. `None` where Ctrl-C stopped it.
///
/// # Errors
/// As [`fight`].
pub fn tune(suite: &Suite, tuning: Tuning, how: &How) -> Result<Option<Tuned>, SpecError> {
    let spaces = spaces(tuning.budget, tuning.draw.into());
    let training = suite.clone().half(Half::Training, tuning.draw);
    let judging = suite.clone().half(Half::Judging, tuning.draw);
    let halves = (training.scenarios.len(), judging.scenarios.len());
    let all = |of: &dyn Fn(&Space) -> Vec<PolicySpec>| spaces.iter().flat_map(of).collect();
    let policies: Vec<PolicySpec> = all(&|space| space.tried.clone());
    let asked = Asked::of(training, policies, SEEDS);
    let Outcome::Whole(cells) = fight(&asked, how)? else { return Ok(None) };
    let found = best_of(&spaces, &asked, &cells);
    Ok(Some(Tuned { tuning, halves, found }))
}

/// Sets what the released settings and those found are worth on the judging half.
pub fn judge(tuned: &mut Tuned, asked: &Asked, cells: &[Vec<Fought>]) {
    for found in &mut tuned.found {
        let before = PolicySpec::parse(&found.policy).ok().and_then(|p| worth(asked, cells, &p));
        found.judging = before.zip(worth(asked, cells, &found.best));
    }
}

/// The mean score of a policy over the scenarios that it ran.
fn worth(asked: &Asked, cells: &[Vec<Fought>], policy: &PolicySpec) -> Option<f64> {
    let p = asked.policies.iter().position(|a| a == policy)?;
    mean_over(cells, p, metric::ARENA_SCORE)
}

/// What is tried of each shipped policy: its presets, and draws until there are `budget`. `seed` names the draws.
pub fn spaces(budget: usize, seed: u64) -> Vec<Space> {
    policies::all().map(|table| space(&table, budget, seed)).collect()
}

fn space(table: &Table, budget: usize, seed: u64) -> Space {
    let name = table.about.name;
    let mut tried: Vec<PolicySpec> = Vec::new();
    let mut add = |text: &str| {
        let Ok(policy) = PolicySpec::parse(text) else { return false };
        let own = policy.name();
        // What is slow is left out of the space.
        let is_new = policy.why_slow().is_none()
            && tried.len() < budget
            && tried.iter().all(|t| t.name() != own);
        if is_new {
            tried.push(policy);
        }
        is_new
    };
    add(name);
    for (preset, _) in table.presets.iter().skip(1) {
        add(&format!("{name}[preset={preset}]"));
    }
    let mut stream = Stream::named(seed, &format!("tuning {name}"), 0);
    for _ in 0..budget {
        // One that has few settings has few draws.
        let _ = (0..TRIES).any(|_| add(&draw(table, &mut stream)));
    }
    Space { policy: name.to_string(), tried }
}

fn draw(table: &Table, stream: &mut Stream) -> String {
    let mut parts = Vec::new();
    for row in &table.rows {
        let is_left = stream.uniform() < 0.5;
        if let Some(value) = value(row, stream).filter(|_| !is_left) {
            parts.push(format!("{}={value}", row.name));
        }
    }
    match parts.is_empty() {
        true => table.about.name.to_string(),
        false => format!("{}[{}]", table.about.name, parts.join(",")),
    }
}

/// A value of a parameter; the stream is used alike whatever is allowed.
fn value(row: &Row, stream: &mut Stream) -> Option<String> {
    let u = stream.uniform();
    let of = |n: usize| ((u * n as f64) as usize).min(n.saturating_sub(1));
    let default = || row.defaults.first().and_then(|d| d.parse::<f64>().ok());
    let near = |default: f64| match default {
        0.0 => u * FROM_ZERO,
        default => default * libm::pow(4.0, 2.0 * u - 1.0),
    };
    match &row.allowed {
        Allowed::Flag => Some(["true", "false"][of(2)].to_string()),
        Allowed::Words(words) => words.get(of(words.len())).map(|w| w.0.to_string()),
        Allowed::Count { least, most, .. } => {
            let drawn = near(default().unwrap_or(FOR_A_WORD)).round();
            Some(drawn.clamp((*least).into(), (*most).into()).to_string())
        }
        Allowed::Number { least, most } | Allowed::Time { least, most } => {
            let drawn = near(default()?).clamp(*least, *most);
            format!("{drawn:.2e}").parse::<f64>().ok().map(|x| x.clamp(*least, *most).to_string())
        }
    }
}

/// The best of each space, from the cells of the training half.
fn best_of(spaces: &[Space], asked: &Asked, cells: &[Vec<Fought>]) -> Vec<Found> {
    let of = |space: &Space| {
        let first = worth(asked, cells, &space.tried[0])?;
        let mut best = (&space.tried[0], first);
        for policy in &space.tried[1..] {
            if let Some(score) = worth(asked, cells, policy).filter(|score| *score > best.1) {
                best = (policy, score);
            }
        }
        let (policy, tried) = (space.policy.clone(), space.tried.len());
        let training = (first, best.1);
        Some(Found { policy, tried, best: best.0.clone(), training, judging: None })
    };
    spaces.iter().filter_map(of).collect()
}
