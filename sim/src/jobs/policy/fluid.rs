//! Fluid (Yu's dissertation, chapter 3; Yu, Liu and Chowdhury, MLSys 2021): the trials of a tuning job share
//! workers.
//!
//! A group of trials is to finish as soon as possible. A trial gets a share of the workers as large as its
//! share of the work: several whole workers, or a part `1/c` of one.
//!
//! ```text
//! c = the most trials p on a worker with 1 - (p-1)/p T(p)/T(p-1) > threshold    # Eq. 3.1, section 3.4.2.2
//! d = the most workers of a trial with beta < 1 + 1/d                         # Eq. 3.2
//!
//! static(group, n):                                            # Algorithm 3.1, rule=static
//!     S = sum of h(1); w* = h(1) n / S
//!     w = min(floor(w*), d) if w* >= 1 else 1/c
//!     place trials widest first, then longest, each on the most idle workers; what does not fit waits
//!
//! dynamic, when a trial has ended and nothing waits:           # Algorithm 3.2, rule=dynamic
//!     S, w* over what is left of each trial; w' as above; longest first
//!     w' > w: take w' if h(w') + epsilon < h(w)
//!     w' < w: take w' if w' (h(w') + epsilon) < w h(w)
//!     a trial changes its width at the end of its running iteration
//! ```
//!
//! `rule=one` is the default of tuners: one worker per trial, first come, first served. A trial is a job,
//! a group a stage of jobs; `h(1)` is the job's work, which the policy is told. Whole numbers decide: `h n
//! / S` is exactly 3 for the longest trial of Fig. 3.5. Ties go to the lowest number.
//!
//! # Differences from the paper
//! - `epsilon` is what the rule reckons with; a change of width itself takes no time here.
//! - A trial that may grow waits until the workers are there, and goes on with its old width till then.
//! - `c` is found by Eq. 3.1 from the run's `alpha`, not from measured iterations. Its threshold is not
//!   printed; here it is 0. Where work is conserved nothing is gained by packing, and `c` is 1.
//! - `d` is the largest for which Eq. 3.2 allows the run's `beta` (below `1 + 1/d`), in place of Paleo's model
//!   of communication. It is one less than the width of the shortest run where that is not all workers.
//!
//! # Differences from the released code
//! `as=released` has its rule for widths: `h` is the time of an iteration, since budgets are not known
//! there; the number of trials stands for that of workers; widths from 2 (its `c` is 1/2) to 4, then all
//! scaled to fill the cluster; with `rule=dynamic` anew at every event, without a test of worth.
//! - Scaled widths are fractions there (1.25 on the toy). Here they are rounded down: to whole workers, or
//!   below one to the next part `1/c`.
//! - There, trials without a measured iteration first run alone while the group stands still; here
//!   iteration times are known from the start.

use super::interface::{Action, Configured, Event, JobPolicy, Known, about, preset};
use super::workers::Workers;
use crate::jobs::job::{JobId, PARTS_MAX, WHOLE, Width};
use crate::jobs::record::On;
use crate::ordered::{SortedMap, sort_by_key};
use crate::policy::parameters::{
    About, Parameter, Preset, Settings, count_or, ms, number, word, words,
};
use crate::time::{Span, Time};
use std::cmp::Reverse;
use std::collections::BTreeSet;

words! {
    /// When widths are chosen.
    pub enum Rule {
        One = "one": "one worker for each trial, first come, first served",
        Static = "static": "widths when a group comes: Algorithm 3.1",
        Dynamic = "dynamic": "also when a trial ends and nothing waits: Algorithm 3.2",
    }
}

words! {
    /// Whose rule for widths.
    pub enum As {
        Printed = "printed": "work left, workers, `c`, `d` and `epsilon_ms`",
        Released = "released": "iteration times, trials, 2 to 4, scaled to fill the cluster",
    }
}

/// Fluid's parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Config {
    /// When widths are chosen.
    pub rule: Rule,
    /// Whose rule for widths.
    pub whose: As,
    /// A trial below one worker gets a part `1/c`; by Eq. 3.1 where there is none.
    pub c: Option<u32>,
    /// The marginal benefit of a trial that shares a worker is above this.
    pub threshold: f64,
    /// The widest trial, in workers; by Eq. 3.2 where there is none.
    pub d: Option<u32>,
    /// What the rule reckons for a change of width.
    pub epsilon: Span,
}

impl Default for Config {
    fn default() -> Config {
        let (rule, whose) = (Rule::Dynamic, As::Printed);
        Config { rule, whose, c: None, threshold: 0.0, d: None, epsilon: Span::ZERO }
    }
}

impl Settings for Config {
    const ABOUT: About = about(
        "fluid",
        "trials of a tuning job share workers, each as wide as its share of the work",
        "Fluid (Yu, Liu and Chowdhury, MLSys 2021), as Yu's dissertation, chapter 3 has it",
    );
    const PRESETS: &'static [Preset<Config>] =
        &[preset(Config::default, "as printed: the released code hands out fractions")];
    const PARAMETERS: &'static [Parameter<Config>] = &[
        word("rule", |c: &mut Self| &mut c.rule, "when widths are chosen")
            .from("Algorithms 3.1 and 3.2"),
        word("as", |c: &mut Self| &mut c.whose, "whose rule for widths")
            .from("§3.3; released code: `fluid_executor.py`"),
        count_or(
            "c",
            "found",
            |c: &mut Self| &mut c.c,
            "trials that share a worker, when they share; `found`: by Eq. 3.1",
        )
        .within(1, PARTS_MAX)
        .from("§3.4.2.2, Eq. 3.1"),
        number(
            "threshold",
            0.0..=1.0,
            |c: &mut Self| Some(&mut c.threshold),
            "a further trial on a worker has a marginal benefit above this",
        )
        .from("assumed: O_th of Eq. 3.1 is not printed"),
        count_or(
            "d",
            "found",
            |c: &mut Self| &mut c.d,
            "the widest trial, in workers; `found`: the most for which Eq. 3.2 allows `beta`",
        )
        .from("§3.4.2.2, Eq. 3.2; Paleo's model is not modelled"),
        ms(
            "epsilon_ms",
            |c: &mut Self| &mut c.epsilon,
            "what a change of width is reckoned to cost",
        )
        .from("assumed: not printed"),
    ];
}

impl Configured for Config {
    fn build(&self) -> Box<dyn JobPolicy> {
        Box::new(Fluid::new(*self))
    }

    fn has_lanes(&self) -> bool {
        false
    }
}

/// A trial that runs.
#[derive(Debug)]
struct Trial {
    on: On,
    /// The width that it should have.
    want: Width,
    /// Its run ends with the running iteration, so that it can change.
    asked: bool,
}

/// The policy. See the module's text.
#[derive(Debug)]
pub struct Fluid {
    config: Config,
    workers: Option<Workers>,
    new: Vec<JobId>,
    /// Trials that wait, by width; within that longest first, or in the order of arrival.
    waiting: SortedMap<Reverse<Width>, BTreeSet<(u64, JobId)>>,
    arrived: u64,
    trials: SortedMap<JobId, Trial>,
    /// Trials whose iteration has ended.
    stepped: Vec<JobId>,
    /// Whether a trial ended since the last decision.
    ended: bool,
}

impl Fluid {
    /// Fluid before its start.
    pub fn new(config: Config) -> Fluid {
        Fluid {
            config,
            workers: None,
            new: Vec::new(),
            waiting: SortedMap::default(),
            arrived: 0,
            trials: SortedMap::default(),
            stepped: Vec::new(),
            ended: false,
        }
    }

    /// The width of each of these trials, which share all workers.
    fn widths(&self, trials: &[JobId], known: &Known<'_>) -> Vec<Width> {
        let n = u128::from(known.cluster.workers);
        match (self.config.rule, self.config.whose) {
            (Rule::One, _) => vec![Width::Workers(1); trials.len()],
            (_, As::Printed) => {
                let h = |job: &JobId| u128::from(known.left(*job).ns());
                let sum: u128 = trials.iter().map(h).sum();
                let curve = &known.cluster.curve;
                let threshold = (self.config.threshold * f64::from(WHOLE) + 0.5) as u32;
                let c = self.config.c.unwrap_or_else(|| curve.packed(threshold));
                let d = self.config.d.unwrap_or_else(|| curve.widest());
                let width = |job| match h(job) * n / sum {
                    0 => Width::part(c),
                    floor => Width::Workers(floor.min(u128::from(d)) as u32),
                };
                trials.iter().map(width).collect()
            }
            (_, As::Released) => {
                let h = |job: &JobId| u128::from(known.job(*job).iteration.ns());
                let sum: u128 = trials.iter().map(h).sum();
                let least = |job| (h(job) * trials.len() as u128 / sum).clamp(2, 4);
                let widths: Vec<u128> = trials.iter().map(least).collect();
                let all: u128 = widths.iter().sum();
                let scaled = |w: &u128| match w * n / all {
                    0 => Width::part(all.div_ceil(w * n).min(u128::from(PARTS_MAX)) as u32),
                    floor => Width::Workers(floor as u32),
                };
                widths.iter().map(scaled).collect()
            }
        }
    }

    /// A group's trials wait for their first place.
    fn admit(&mut self, known: &Known<'_>) {
        let group = std::mem::take(&mut self.new);
        for (job, width) in group.iter().zip(self.widths(&group, known)) {
            self.arrived += 1;
            let place = match (self.config.rule, self.config.whose) {
                (Rule::One, _) => self.arrived,
                // The released code sorts by reversed index.
                (_, As::Released) => u64::MAX - u64::from(job.0),
                (_, As::Printed) => u64::MAX - known.left(*job).ns(),
            };
            self.waiting.get_or_default(Reverse(width)).insert((place, *job));
        }
    }

    /// Starts what fits, widest first.
    fn start(&mut self, workers: &mut Workers, known: &Known<'_>, out: &mut Vec<Action>) {
        for (Reverse(width), queue) in self.waiting.iter_mut() {
            while let Some((_, job)) = queue.first().copied() {
                let Some(on) = workers.take(*width) else { break };
                queue.pop_first();
                out.push(Action::Run(job, known.job(job).iterations, on.clone()));
                self.trials.insert(job, Trial { on, want: *width, asked: false });
            }
        }
        self.waiting.retain(|_, queue| !queue.is_empty());
    }

    /// Algorithm 3.2: the widths that trials should have from now on.
    fn rescale(&mut self, known: &Known<'_>) {
        let mut longest_first: Vec<JobId> = self.trials.iter().map(|trial| trial.0).collect();
        sort_by_key(&mut longest_first, |job| (Reverse(known.left(*job)), *job));
        let widths = self.widths(&longest_first, known);
        for (job, new) in longest_first.iter().zip(widths) {
            let trial = self.trials.get_mut(job).expect("a trial that runs");
            let old = trial.on.width().expect("trials have widths");
            let pays = self.config.whose == As::Released
                || pays(known.left(*job), old, new, self.config.epsilon, known);
            trial.want = if pays { new } else { old };
        }
    }

    /// Trials whose iteration has ended go on: narrower ones first, so that there is room for wider ones,
    /// then the longest first. Whether something became free.
    fn go_on(&mut self, workers: &mut Workers, known: &Known<'_>, out: &mut Vec<Action>) -> bool {
        let mut stepped = std::mem::take(&mut self.stepped);
        let old = |trials: &SortedMap<JobId, Trial>, job: &JobId| trials[job].on.width();
        sort_by_key(&mut stepped, |job| {
            let grows = Some(self.trials[job].want) >= old(&self.trials, job);
            (grows, Reverse(known.left(*job)), *job)
        });
        let mut freed = false;
        for job in stepped {
            let trial = self.trials.get_mut(&job).expect("a trial that runs");
            if trial.on.width() != Some(trial.want) {
                let before = trial.on.width();
                trial.on = workers.change(trial.on.clone(), trial.want);
                let shrank = |(before, now)| is_wider(before, now);
                freed |= before.zip(trial.on.width()).is_some_and(shrank);
            }
            trial.asked = false;
            out.push(Action::Run(job, known.job(job).iterations, trial.on.clone()));
        }
        freed
    }
}

/// Whether a new width is worth its change, for a trial with this much work left.
fn pays(left: Span, old: Width, new: Width, epsilon: Span, known: &Known<'_>) -> bool {
    let h = |width: Width| known.cluster.curve.at(width).time_of(left);
    // As fractions: workers above the line, parts below it.
    let area = |width: Width, time: Span| match width {
        Width::Part(parts) => (u128::from(time.ns()), u128::from(parts)),
        Width::Workers(count) => (u128::from(time.ns()) * u128::from(count), 1),
    };
    if is_wider(new, old) {
        return h(new) + epsilon < h(old);
    }
    let (new, old) = (area(new, h(new) + epsilon), area(old, h(old)));
    new.0 * old.1 < old.0 * new.1
}

fn is_wider(a: Width, b: Width) -> bool {
    match (a, b) {
        (Width::Part(a), Width::Part(b)) => a < b,
        (a, b) => a > b,
    }
}

impl JobPolicy for Fluid {
    fn name(&self) -> String {
        self.config.name()
    }

    fn on(&mut self, _: Time, event: Event, known: &Known<'_>) {
        let workers = self.workers.get_or_insert_with(|| Workers::new(known.cluster.workers));
        match event {
            Event::Submit(job) => self.new.push(job),
            Event::Step(job) => self.stepped.push(job),
            Event::Done(job) => {
                let trial = self.trials.remove(&job).expect("a trial that ran");
                workers.give(&trial.on);
                self.ended = true;
            }
        }
    }

    fn decide(&mut self, _: Time, known: &Known<'_>, out: &mut Vec<Action>) {
        let Some(mut workers) = self.workers.take() else { return };
        let came = !self.new.is_empty();
        let mut freed = std::mem::take(&mut self.ended);
        if came {
            self.admit(known);
        }
        if came || freed {
            self.start(&mut workers, known, out);
        }
        // The released code has one rule for every event.
        let again = freed || (came && self.config.whose == As::Released);
        if self.config.rule == Rule::Dynamic && again && self.waiting.is_empty() {
            self.rescale(known);
        }
        freed |= self.go_on(&mut workers, known, out);
        if freed || again {
            if !self.waiting.is_empty() {
                self.start(&mut workers, known, out);
            }
            for (job, trial) in self.trials.iter_mut() {
                if !trial.asked && trial.on.width() != Some(trial.want) {
                    trial.asked = true;
                    out.push(Action::Interrupt(*job));
                }
            }
        }
        self.workers = Some(workers);
    }
}
