//! What a plan answers: pools, what is known of each, and what is not known.

use crate::input::problem::{Group, Problem};
use crate::search::hardest_step::hardest;
use crate::search::runs::PROBES_OF_EDGE;
use crate::search::size::{Sized, over_the_day};
use crate::search::too_few::TooFew;
use crate::search::trial::{Bench, Check, Edge};
use crate::search::variants::{Tried, steps};
use orrery_run::SpecError;
use orrery_run::search::Seen;
use orrery_scenario::search::alone;
use orrery_sim::stats::{Interval, paired};
use orrery_solvers::{Price, headroom};

/// Above this the kind that is busiest is said to be what breaks first; below it is the waiting.
pub const BUSY: f64 = 0.9;
/// By how much the edge is overshot to see what breaks.
const ABOVE: f64 = 1.05;
/// An interval of the edge that is wider than this share of it is said to be wide.
const WIDE: f64 = 0.1;
/// Two requests that take less than so many times as long as one are worth a batch.
const WORTH_BATCHING: f64 = 1.6;

/// A pool that was simulated with all seeds.
#[derive(Clone, Debug)]
pub struct Choice {
    /// How many of each type.
    pub counts: Vec<u32>,
    /// The policy, as it can be given to `--policy`.
    pub policy: String,
    /// What it costs.
    pub cost: Price,
    /// At the load.
    pub at_load: Check,
    /// The highest rate that it carries.
    pub edge: Edge,
    /// 5 % above that.
    pub above: Seen,
    /// With a size for each level of load: that of each, the peak's first.
    pub sizes: Vec<Sized>,
    /// The level that needs all of the machines, where the edge is; the peak, but where another step of a trace has worse
    /// bursts.
    pub hardest: usize,
    /// What it does in each variant of the scenario that was looked at for it alone.
    pub tried: Vec<Tried>,
    /// The mean load relative to the one that is carried.
    pub mean_load: f64,
}

impl Choice {
    /// About how many simulations one takes: a verdict and an edge with each seed, and a look.
    pub fn runs(problem: &Problem) -> u64 {
        problem.seeds().len() as u64 * (PROBES_OF_EDGE + 1) + 1
    }

    /// Simulates a pool at the load, looks for its edge, and goes beyond it.
    ///
    /// # Errors
    /// When the pool cannot be simulated.
    pub fn of(
        bench: &Bench<'_>,
        counts: &[u32],
        at_load: Option<Check>,
    ) -> Result<Choice, SpecError> {
        let edge = bench.edge(counts)?;
        let load = bench.group.load_per_s;
        let at_load = match at_load {
            Some(check) => check,
            // Far above its edge a pool need not be simulated to be known as too small.
            None if load > edge.rate_per_s * 2.0 => Check { bad_rate: 1.0, ..Check::default() },
            None => bench.check(counts, load)?,
        };
        let above = if edge.rate_per_s > 0.0 { edge.rate_per_s * ABOVE } else { load };
        Ok(Choice {
            counts: counts.to_vec(),
            policy: bench.policy.text().to_string(),
            cost: bench.problem.cost(counts),
            at_load,
            above: bench.seen(counts, above)?.0,
            edge,
            sizes: Vec::new(),
            hardest: bench.level(),
            tried: Vec::new(),
            mean_load: bench.problem.day.mean,
        })
    }

    /// A pool with its verified sizes, of which this level's is the largest: judged in the hardest of the levels that have it.
    ///
    /// # Errors
    /// When it cannot be simulated.
    pub fn over_day(
        bench: &Bench<'_>,
        largest: usize,
        sizes: Vec<Sized>,
    ) -> Result<Choice, SpecError> {
        let (problem, most) = (bench.problem, &sizes[largest].counts);
        // Of one size for the whole day every step has it.
        let has = |level: &usize| !problem.day.follows() || sizes[*level].counts == *most;
        let hardest = hardest(bench, most, largest, (0..sizes.len()).filter(has))?;
        let check = Some(sizes[hardest].check.clone());
        let choice = Choice::of(&bench.at(hardest), most, check)?;
        let (cost, tried) = (over_the_day(problem, &sizes), steps(bench.group, &sizes));
        Ok(Choice { cost, tried, sizes, ..choice })
    }

    /// How much more than the load it carries: 0.25 is a quarter more; none of no load.
    pub fn headroom(&self, load_per_s: f64) -> Option<f64> {
        headroom(self.edge.rate_per_s, load_per_s)
    }

    /// Why it is not trusted to sustain the load that its runs sustained: its capacity is lower, by more than the
    /// search's precision.
    pub fn not_trusted(&self, problem: &Problem, load_per_s: f64) -> Option<String> {
        let is_below = self.edge.rate_per_s < load_per_s * (1.0 - problem.plan.precision);
        (problem.budget.is_none() && is_below).then(|| {
            let [capacity, load] = [self.edge.rate_per_s, load_per_s].map(significant);
            format!("its capacity, {capacity} requests/s, is below the load of {load}")
        })
    }

    /// Dollars for a million good requests at the load; none where it is not carried.
    pub fn usd_per_million_at_load(&self, load_per_s: f64) -> Option<f64> {
        (self.edge.rate_per_s >= load_per_s * 0.98).then(|| {
            self.cost.usd_per_million(load_per_s * self.mean_load * self.at_load.good_share)
        })?
    }

    /// Dollars for a million good requests at the edge, where it is used best; none over a day, on which it is
    /// not used so.
    pub fn usd_per_million_at_edge(&self, target: f64) -> Option<f64> {
        if self.mean_load < 1.0 {
            return None;
        }
        self.cost.usd_per_million(self.edge.rate_per_s * (1.0 - target))
    }

    /// The busiest type beyond the edge and how busy it is.
    pub fn busiest(&self) -> Option<(usize, f64)> {
        let some = self.above.busy.iter().copied().enumerate().filter(|b| b.1.is_finite());
        some.reduce(|a, b| if b.1 > a.1 { b } else { a })
    }

    /// What breaks first, in words.
    pub fn breaks(&self, problem: &Problem, group: &Group) -> String {
        let model = group.models.get(self.above.worst_model).cloned().unwrap_or_default();
        let bad = self.above.bad_rate * 100.0;
        let who = match group.models.len() {
            1 => format!("{bad:.1} % SLO violations at 5 % above capacity"),
            _ => format!("{model}, {bad:.1} % SLO violations at 5 % above capacity"),
        };
        match self.busiest() {
            Some((kind, busy)) if busy >= BUSY => {
                format!("{who}; {} is saturated ({:.0} % busy)", problem.kind(kind), busy * 100.0)
            }
            Some((kind, busy)) => {
                let kind = problem.kind(kind);
                format!(
                    "{who}; limited by bursts, not capacity: the busiest type, {kind}, is {:.0} % busy",
                    busy * 100.0
                )
            }
            None => who,
        }
    }
}

/// A price at which a type becomes the answer, or stops being it, when all other prices stay.
#[derive(Clone, Debug, PartialEq)]
pub struct Turn {
    /// The type.
    pub kind: usize,
    /// What one of it costs now, of the cluster that carries the load.
    pub now_usd_per_hour: f64,
    /// What one of it costs where the answer changes.
    pub at_usd_per_hour: f64,
    /// Whether it is the answer now.
    pub is_answer: bool,
}

/// How far a search went.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Searched {
    /// Pools that there are.
    pub pools: usize,
    /// Pools left out because of their upper bound.
    pub skipped_by_bound: usize,
    /// Pools that were simulated.
    pub simulated: usize,
    /// Pools that were not looked at because enough was found.
    pub left: usize,
    /// Runs of all kinds.
    pub runs: u64,
}

/// A point of the frontier of cost against throughput.
#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    /// The pool.
    pub counts: Vec<u32>,
    /// Its policy.
    pub policy: String,
    /// What it costs.
    pub cost: Price,
    /// What it carries with the first seed.
    pub rate_per_s: f64,
}

impl Point {
    /// Whether it is the pool of a choice.
    pub fn is_of(&self, choice: &Choice) -> bool {
        self.counts == choice.counts && self.policy == choice.policy
    }
}

/// The answer for a group of models.
#[derive(Clone, Debug, Default)]
pub struct Answer {
    /// Whose it is.
    pub group: String,
    /// The load that was asked about.
    pub load_per_s: f64,
    /// The best first, then the runners-up.
    pub choices: Vec<Choice>,
    /// The best pool of base instances alone, for comparison.
    pub homogeneous: Option<Choice>,
    /// Cheaper pools whose mean is within the target, but not their interval.
    pub close: Vec<(Vec<u32>, Price, Check)>,
    /// How far the search went.
    pub searched: Searched,
    /// The largest upper bound, in requests/s, where there are bounds.
    pub bound_max_per_s: Option<f64>,
    /// At which prices another type is the answer; empty where that was not looked for.
    pub turns: Vec<Turn>,
    /// By type, what no scheduler can do with; empty where that was not asked.
    pub too_few: Vec<TooFew>,
    /// What is not known, in sentences.
    pub unknown: Vec<String>,
    /// Cost against throughput, by rising cost.
    pub frontier: Vec<Point>,
}

impl Answer {
    /// An answer to which nothing has been found yet.
    pub fn of(group: &Group) -> Answer {
        Answer { group: group.name.clone(), load_per_s: group.load_per_s, ..Answer::default() }
    }

    /// Gives the answer's point on the frontier the answer's rate, which is that of all seeds.
    pub fn agree(&mut self) {
        let Some(best) = self.choices.first() else { return };
        for point in self.frontier.iter_mut().filter(|point| point.is_of(best)) {
            point.rate_per_s = best.edge.rate_per_s;
        }
    }

    /// The best pool.
    pub fn best(&self) -> Option<&Choice> {
        self.choices.first()
    }

    /// Adds what is to be known of the choices before they are believed.
    pub fn add_doubts(&mut self, problem: &Problem, group: &Group) {
        let Some(best) = self.choices.first().cloned() else { return };
        self.unknown.extend(problem.on_spot(&best.counts));
        let below = best.not_trusted(problem, self.load_per_s);
        self.unknown.extend(below.map(|why| format!("whether it sustains the load: {why}")));
        let edge = &best.edge;
        if edge.unbounded {
            self.unknown.push(format!(
                "the capacity was not found: {} requests/s, the highest rate tried, were sustained",
                significant(edge.rate_per_s)
            ));
        }
        if edge.not_monotone {
            let remedy = if group.is_trace {
                "plan with a longer part of the trace"
            } else {
                "raise `requests_per_model`"
            };
            self.unknown.push(format!(
                "not monotone: a rate below the capacity was not sustained, so the capacity may be too high; \
                 {remedy}"
            ));
        }
        if let Some(requests) = edge.undecided {
            self.unknown.push(format!(
                "the capacity is undecided: its probes were too short for the tolerance; about {} requests for each \
                 model (`requests_per_model`) would decide it",
                significant(requests as f64)
            ));
        }
        if edge.metastable {
            self.unknown.push(
                "metastable: at 1.5 % below capacity it does not recover from a burst (twice the load for one \
                 SLO, at most 5 s), so how long a run near capacity holds is a matter of luck"
                    .to_string(),
            );
        }
        if let Some(i) = edge.interval
            && i.width() > WIDE * edge.rate_per_s
        {
            self.unknown.push(format!(
                "the capacity is uncertain: {} to {} requests/s over {} seeds; raise `seeds` or simulate \
                 more",
                significant(i.low),
                significant(i.high),
                edge.by_seed_per_s.len()
            ));
        }
        for (kind, idle) in best.at_load.seen.idle.iter().enumerate().filter(|(_, n)| **n > 0) {
            self.unknown.push(format!(
                "{idle} of {} {} never computed anything at the load with {}",
                best.counts[kind],
                problem.kind(kind),
                best.policy
            ));
        }
        self.add_extrapolation(problem, group, &best);
        self.add_unbatched(problem, group, &best);
    }

    /// Models that would gain from batches, under a policy that made none.
    fn add_unbatched(&mut self, problem: &Problem, group: &Group, best: &Choice) {
        let Ok(scenario) = group.scenario(problem, &best.counts, group.load_per_s) else { return };
        let Ok(setup) = scenario.setup(problem.plan.seed) else { return };
        let file = &scenario.file;
        if setup.apps.iter().any(|a| a.size != 1) || file.app.iter().any(|a| a.sizes.is_some()) {
            // A query of many items is a batch already.
            return;
        }
        for (number, device) in file.device.iter().enumerate() {
            let kind = problem.plan.instance.iter().position(|i| i.kind == device.kind);
            let Some(kind) = kind.filter(|k| best.counts[*k] > 0) else { continue };
            for (m, model) in group.models.iter().enumerate() {
                let largest = |s: &Seen| s.largest.get(kind).map_or(0, |l| l[m]);
                let law = &setup.world.latency[number][m];
                let Some(alone) = alone(&setup, m) else { continue };
                let times = law.batch(2, alone).ns() as f64 / law.batch(1, alone).ns() as f64;
                let made_none = largest(&best.at_load.seen).max(largest(&best.above)) == 1;
                if made_none && times < WORTH_BATCHING {
                    self.unknown.push(format!(
                        "what {model} would cost with batches: {} ran every request alone, and on {} two \
                         together take {times:.2} times as long as one; plan with a policy that batches \
                         (`pools = \"homogeneous\"`, for example under `symphony`)",
                        best.policy, device.kind
                    ));
                }
            }
        }
    }

    /// Batches that are larger than what was measured.
    fn add_extrapolation(&mut self, problem: &Problem, group: &Group, best: &Choice) {
        for (kind, by_model) in group.measured_to.iter().enumerate() {
            for (m, measured) in by_model.iter().enumerate() {
                let seen = |s: &Seen| s.largest.get(kind).map_or(0, |l| l[m]);
                let largest = seen(&best.at_load.seen).max(seen(&best.above));
                if let Some(measured) = measured.filter(|measured| largest > *measured) {
                    self.unknown.push(format!(
                        "the profile of {} on {} is extrapolated: batches of {largest} ran, \
                         measured were sizes up to {measured}",
                        group.models[m],
                        problem.kind(kind)
                    ));
                }
            }
        }
    }

    /// The choices that cannot be told from the best by what they carry, with common seeds.
    pub fn tied(&self) -> Vec<&Choice> {
        let Some(best) = self.best() else { return Vec::new() };
        let same = |c: &&Choice| {
            paired(&best.edge.by_seed_per_s, &c.edge.by_seed_per_s)
                .is_some_and(|i: Interval| i.contains(0.0))
        };
        self.choices.iter().skip(1).filter(same).collect()
    }
}

/// Dollars with two digits behind the point, or as many as it has.
pub fn money(price: Price) -> String {
    let text = price.to_string();
    match text.split_once('.') {
        None => format!("{text}.00"),
        Some((_, digits)) if digits.len() == 1 => format!("{text}0"),
        _ => text,
    }
}

/// A share in percent, as short as it can be.
pub fn percent(share: f64) -> String {
    format!("{}", (share * 1e4).round() / 100.0)
}

/// A number with three significant digits, or all of its whole part.
pub fn significant(x: f64) -> String {
    let x = if x == 0.0 { 0.0 } else { x };
    match x.abs() {
        a if a >= 100.0 || a == 0.0 => format!("{x:.0}"),
        a if a >= 10.0 => format!("{x:.1}"),
        a if a >= 1.0 => format!("{x:.2}"),
        _ => format!("{x:.3}"),
    }
}
