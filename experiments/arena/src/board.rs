//! Who leads where: pure arithmetic on scores.
//!
//! A score is that of a scenario, a policy and a seed. Differences are taken seed by seed, on the same arrivals,
//! execution times and noise. What a 95 % interval cannot tell from zero, or is below a thousandth, is *tied*.

use crate::fight::{Fought, ORACLE};
use orrery_results::metric;
use orrery_sim::stats::{self, Interval, mean};

/// Differences below this are no lead, however sure.
pub const LEAST_LEAD: f64 = 0.001;
/// A policy collapses where its score is below this part of the best one's.
pub const COLLAPSE: f64 = 0.5;

/// Scores by scenario, policy and seed; none where a policy cannot run a scenario.
#[derive(Clone, Debug)]
pub struct Board {
    /// The policies.
    pub names: Vec<String>,
    /// Policies that are beside the league: they know what no policy may.
    pub beside: Vec<bool>,
    /// By scenario, then by policy: a score for each seed.
    pub scores: Vec<Vec<Option<Vec<f64>>>>,
}

/// How a policy stands in a scenario.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Standing {
    /// The best, and nobody is tied with it.
    Leads,
    /// The best, or not told apart from it.
    Tied,
    /// Behind the best.
    Behind,
    /// Below half of the best.
    Collapses,
}

impl Standing {
    /// In a word.
    pub fn word(self) -> &'static str {
        match self {
            Standing::Leads => "leads",
            Standing::Tied => "tied",
            Standing::Behind => "behind",
            Standing::Collapses => "collapses",
        }
    }
}

/// The best policies of some scenarios.
#[derive(Clone, Debug, PartialEq)]
pub struct Best {
    /// The one with the highest mean.
    pub best: usize,
    /// Its mean.
    pub mean: f64,
    /// The next one, and how far behind it is.
    pub next: Option<(usize, f64)>,
    /// Those that are not told apart from the best.
    pub tied: Vec<usize>,
}

/// A line of the league.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// The policy.
    pub policy: usize,
    /// In how many scenarios it ran.
    pub ran: usize,
    /// The mean distance to the best policy of each scenario that it ran.
    pub behind: f64,
    /// Half of its interval over seeds.
    pub half: f64,
    /// In how many scenarios it leads.
    pub leads: usize,
    /// In how many it is the best or tied with it, and does not lead.
    pub tied: usize,
    /// In how many it collapses.
    pub collapses: usize,
    /// Its place, if it ran every scenario: distances over other scenarios cannot be compared.
    pub place: Option<Place>,
}

/// A place in the league.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Place {
    /// By the mean distance.
    pub place: usize,
    /// First and last place by paired differences over seeds.
    pub by_seeds: (usize, usize),
    /// The same with the scenarios as a sample of others.
    pub by_scenarios: (usize, usize),
}

/// The mean of a policy's values of a metric, over the scenarios that have them.
pub(crate) fn mean_over(cells: &[Vec<Fought>], policy: usize, metric: &str) -> Option<f64> {
    let of = |row: &Vec<Fought>| row[policy].values(metric).as_deref().and_then(mean);
    let all: Vec<f64> = cells.iter().filter_map(of).collect();
    mean(&all)
}

/// Whether the first of two policies is better for sure.
fn is_sure(interval: Option<Interval>) -> bool {
    interval.is_some_and(|i| i.low > 0.0 && i.mean >= LEAST_LEAD)
}

impl Board {
    /// The scores of cells that were run.
    pub fn of(cells: &[Vec<Fought>]) -> Board {
        let places = || cells.iter().take(1).flatten().map(|c| &c.place);
        let score = |c: &Fought| c.values(metric::ARENA_SCORE);
        Board {
            names: places().map(|p| p.policy.clone()).collect(),
            beside: places().map(|p| p.system == ORACLE).collect(),
            scores: cells.iter().map(|row| row.iter().map(score).collect()).collect(),
        }
    }

    /// The policies of the league.
    fn league_of(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.names.len()).filter(|&p| !self.beside[p])
    }

    /// The mean over some scenarios for each seed, where the policy ran them all.
    pub fn over(&self, scenarios: &[usize], policy: usize) -> Option<Vec<f64>> {
        let of = |&s: &usize| self.scores[s][policy].as_ref();
        let all: Vec<&Vec<f64>> = scenarios.iter().map(of).collect::<Option<_>>()?;
        let seeds = all.iter().map(|v| v.len()).min()?;
        (0..seeds).map(|i| mean(&all.iter().map(|v| v[i]).collect::<Vec<_>>())).collect()
    }

    /// Who is best over some scenarios, of the policies that ran them all.
    pub fn best(&self, scenarios: &[usize]) -> Option<Best> {
        let of = |p| {
            let values = self.over(scenarios, p)?;
            Some((p, values.clone(), mean(&values)?))
        };
        let mut own: Vec<(usize, Vec<f64>, f64)> = self.league_of().filter_map(of).collect();
        own.sort_by(|a, b| b.2.total_cmp(&a.2).then(a.0.cmp(&b.0)));
        let ((best, values, first), others) = own.split_first()?;
        let is_tied = |o: &&(usize, Vec<f64>, f64)| !is_sure(stats::paired(values, &o.1));
        Some(Best {
            best: *best,
            mean: *first,
            next: others.first().map(|o| (o.0, first - o.2)),
            tied: others.iter().filter(is_tied).map(|o| o.0).collect(),
        })
    }

    /// How a policy stands in a scenario, and how far behind the best it is with the interval over seeds.
    pub fn standing(
        &self,
        scenario: usize,
        policy: usize,
        best: &Best,
    ) -> Option<(Standing, f64, Option<Interval>)> {
        let own = self.scores[scenario][policy].as_ref()?;
        let first = self.scores[scenario][best.best].as_ref()?;
        let interval = stats::paired(first, own);
        let (best_mean, own_mean) = (mean(first)?, mean(own)?);
        let behind = best_mean - own_mean;
        let standing = if best.best == policy {
            if best.tied.is_empty() { Standing::Leads } else { Standing::Tied }
        } else if !is_sure(interval) {
            Standing::Tied
        } else if own_mean < COLLAPSE * best_mean {
            Standing::Collapses
        } else {
            Standing::Behind
        };
        Some((standing, behind, interval))
    }

    /// The league, the best first; those without a place last.
    pub fn league(&self) -> Vec<Line> {
        let bests: Vec<Option<Best>> = (0..self.scores.len()).map(|s| self.best(&[s])).collect();
        let mut lines: Vec<Line> =
            (0..self.names.len()).filter_map(|p| self.line(p, &bests)).collect();
        let has_place = |l: &Line| !self.beside[l.policy] && l.ran == self.scores.len();
        let behind =
            |a: &Line, b: &Line| a.behind.total_cmp(&b.behind).then(a.policy.cmp(&b.policy));
        lines.sort_by(|a, b| has_place(b).cmp(&has_place(a)).then_with(|| behind(a, b)));
        let placed: Vec<usize> = lines.iter().filter(|l| has_place(l)).map(|l| l.policy).collect();
        for (i, policy) in placed.iter().enumerate() {
            let (by_seeds, by_scenarios) = self.places(*policy, &placed);
            lines[i].place = Some(Place { place: i + 1, by_seeds, by_scenarios });
        }
        lines
    }

    fn line(&self, policy: usize, bests: &[Option<Best>]) -> Option<Line> {
        let of = |s: usize| Some((s, self.standing(s, policy, bests[s].as_ref()?)?));
        let own: Vec<_> = (0..self.scores.len()).filter_map(of).collect();
        let count = |what: Standing| own.iter().filter(|o| o.1.0 == what).count();
        let seeds =
            own.iter().filter_map(|o| self.scores[o.0][policy].as_ref().map(Vec::len)).min()?;
        let at = |i: usize| {
            let behind = |s: usize| {
                let best = self.scores[s][bests[s].as_ref()?.best].as_ref()?;
                Some(best[i] - self.scores[s][policy].as_ref()?[i])
            };
            mean(&own.iter().filter_map(|o| behind(o.0)).collect::<Vec<_>>())
        };
        let each: Vec<f64> = (0..seeds).map(at).collect::<Option<_>>()?;
        Some(Line {
            policy,
            ran: own.len(),
            behind: mean(&each)?,
            half: stats::replications(&each).map_or(0.0, |i| i.width() / 2.0),
            leads: count(Standing::Leads),
            tied: count(Standing::Tied),
            collapses: count(Standing::Collapses),
            place: None,
        })
    }

    /// First and last place of a policy among others: by differences over seeds, and over scenarios.
    fn places(&self, policy: usize, others: &[usize]) -> ((usize, usize), (usize, usize)) {
        let all: Vec<usize> = (0..self.scores.len()).collect();
        let rivals = || others.iter().copied().filter(move |o| *o != policy);
        let place = |is_better: &dyn Fn(usize, usize) -> bool| {
            let above = rivals().filter(|&o| is_better(o, policy)).count();
            let below = rivals().filter(|&o| is_better(policy, o)).count();
            (1 + above, others.len() - below)
        };
        let by_seeds = |a: usize, b: usize| {
            let pair = self.over(&all, a).zip(self.over(&all, b));
            is_sure(pair.and_then(|(a, b)| stats::paired(&a, &b)))
        };
        let by_scenarios = |a: usize, b: usize| {
            let each = |p: usize| -> Vec<f64> {
                self.scores.iter().filter_map(|s| s[p].as_deref().and_then(mean)).collect()
            };
            is_sure(stats::paired(&each(a), &each(b)))
        };
        (place(&by_seeds), place(&by_scenarios))
    }
}
