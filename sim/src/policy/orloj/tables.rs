//! What Orloj computes before it is asked: the law of a batch's latency (§4.2, §4.3), its estimate and
//! the scores that follow from it, for each application and batch size.

use super::config::{BatchLaw, Config, Deadlines, Estimate, Shares};
use super::entry::{Entry, EntryCost};
use crate::distribution::Histogram;
use crate::latency::Latency;
use crate::ordered::SortedMap;
use crate::penalty::{Penalty, Step, in_units};
use crate::policy::score::{Line, ScoreTable};
use crate::profile::ModelProfile;
use crate::request::Request;
use crate::time::{Span, Time};
use std::sync::Arc;

/// What Orloj precomputes for one application: by batch size.
#[derive(Clone, Debug)]
pub(super) struct AppTables {
    pub estimates: Arc<[Span]>,
    /// Those of a common law are there once.
    pub scores: Arc<[ScoreTable]>,
}

/// What Orloj precomputes for a model.
#[derive(Clone, Debug)]
pub(super) struct Tables {
    /// Of the applications that the profile has, in its order, and the mixture's as the last.
    pub apps: Vec<AppTables>,
    /// The single steps of the cost functions, with their costs (Appendix B); the first is one after the SLO.
    functions: Vec<Vec<(Step, f64)>>,
    /// Which of them an application has that has not the first.
    function_of: SortedMap<usize, u32>,
}

impl Tables {
    pub fn new(config: &Config, profile: &ModelProfile, sizes: &[u32]) -> Tables {
        let mut all = vec![Penalty::default()];
        let mut function_of = SortedMap::default();
        let seen = profile.penalties.iter().filter(|_| config.deadlines == Deadlines::All);
        for (&app, penalty) in seen {
            let known = all.iter().position(|p| p == penalty);
            let number = known.unwrap_or_else(|| {
                all.push(penalty.clone());
                all.len() - 1
            });
            function_of.insert(app, number as u32);
        }
        let parts = |p: &Penalty| p.singles().map(|s| (s, in_units(s.cost))).collect();
        let functions = all.iter().map(parts).collect();
        Tables { apps: app_tables(config, profile, sizes), functions, function_of }
    }

    /// The first deadline of a request, and what it costs to be late.
    pub fn cost_of(&self, r: &Request) -> (Time, EntryCost) {
        match self.function_of.get(&r.app.index()).copied().unwrap_or(0) {
            0 => (r.deadline, EntryCost::default()),
            function => (r.deadline, EntryCost { function, slo: r.slo(), step: 0 }),
        }
    }

    /// The last deadline of a request.
    pub fn last_deadline(&self, r: &Request) -> Time {
        let (deadline, cost) = self.cost_of(r);
        let steps = &self.functions[cost.function as usize];
        if cost.function == 0 {
            return deadline;
        }
        r.arrival + steps.last().map_or(cost.slo, |(step, _)| step.after(cost.slo))
    }

    /// Goes on to the next deadline of a request that cannot meet its own any more; whether there is one.
    pub fn next_deadline(&self, e: &mut Entry) -> bool {
        let steps = &self.functions[e.cost.function as usize];
        let own = e.cost.step as usize;
        let Some((next, _)) = steps.get(own + 1) else { return false };
        let slo = e.cost.slo;
        e.deadline += next.after(slo).minus(steps[own].0.after(slo));
        e.cost.step += 1;
        true
    }

    /// The deadlines of the single steps, and their costs.
    fn singles(&self, e: &Entry) -> impl Iterator<Item = (Time, f64)> {
        let steps = &self.functions[e.cost.function as usize];
        let after = |step: &Step| step.after(e.cost.slo);
        let own = after(&steps[e.cost.step as usize].0);
        let deadline = move |step: &Step| match after(step) {
            later if later > own => e.deadline + later.minus(own),
            sooner => e.deadline.minus(own.minus(sooner)),
        };
        steps.iter().map(move |(step, cost)| (deadline(step), *cost))
    }

    /// Eq. 2 for a request in the queue of a size: the sum over the single steps of its cost (Appendix B).
    #[inline]
    pub fn score(&self, e: &Entry, size: usize, now: Time) -> f64 {
        let table = &self.apps[e.app].scores[size];
        match e.cost.function {
            0 => table.at(e.deadline.since(now)),
            _ => self.singles(e).map(|(d, cost)| cost * table.at(d.since(now))).sum(),
        }
    }

    /// The same as a line over u = exp(b (t - T0)), and Milestone(r): the first of all steps'. None if the score
    /// is zero from now on.
    pub fn line(
        &self,
        e: &Entry,
        size: usize,
        (now, base): (Time, Time),
        reach: f64,
    ) -> Option<(Line, Time)> {
        let table = &self.apps[e.app].scores[size];
        let single = |deadline: Time| {
            let line = table.line(deadline.since(now), deadline.since(base), reach)?;
            // The slack is a whole number of nanoseconds.
            Some((line, deadline.minus(Span::from_ns(line.until_ns as u64))))
        };
        if e.cost.function == 0 {
            return single(e.deadline);
        }
        let mut sum: Option<(Line, Time)> = None;
        let steps = self.functions[e.cost.function as usize].len() as f64;
        for (deadline, cost) in self.singles(e) {
            let Some((line, milestone)) = single(deadline) else { continue };
            let (all, first) = sum.get_or_insert((Line::default(), Time::NEVER));
            all.alpha += cost * line.alpha;
            all.beta += cost * line.beta;
            // A single doubt is at least four units of the largest part; each addition costs one more.
            all.doubt += steps * cost * line.doubt;
            *first = (*first).min(milestone);
        }
        sum
    }
}

/// The batch sizes of a model.
pub(super) fn sizes(config: &Config, profile: &ModelProfile) -> Vec<u32> {
    let all = profile.sizes_within(Span::MAX, config.max_batch);
    let seed = profile.law.batch(1, profile.shortest_mean());
    if config.max_exec == Span::ZERO || seed > config.max_exec {
        return all;
    }
    profile.sizes_within(config.max_exec, config.max_batch)
}

/// Tables of the applications that the profile has, in its order, and the mixture's as the last.
fn app_tables(config: &Config, profile: &ModelProfile, sizes: &[u32]) -> Vec<AppTables> {
    let laws: Vec<Histogram> = profile.apps.iter().map(|a| binned(&a.law, config.bins)).collect();
    let weights = profile.apps.iter().map(|a| match config.shares {
        Shares::Equal => 1.0,
        Shares::Counts => a.weight,
    });
    let mixture = Histogram::mixture(&weights.zip(&laws).collect::<Vec<_>>());
    let by_size = |own: &Histogram| -> Vec<Histogram> {
        sizes.iter().map(|&k| batch_law(&profile.law, own, &mixture, k)).collect()
    };
    let estimates = |laws: &[Histogram]| -> Arc<[Span]> {
        laws.iter().map(|b| estimate(b, config.estimate)).collect()
    };
    let scores = |laws: &[Histogram]| -> Arc<[ScoreTable]> {
        laws.iter().map(|b| ScoreTable::new(b, config.b_per_ms)).collect()
    };
    let common = by_size(&mixture);
    let common = AppTables { estimates: estimates(&common), scores: scores(&common) };
    let both_common = [config.estimate_law, config.score_law] == [BatchLaw::Common; 2];
    let tables = |law: &Histogram| {
        let own = if both_common { Vec::new() } else { by_size(law) };
        let mut tables = common.clone();
        if config.estimate_law == BatchLaw::Own {
            tables.estimates = estimates(&own);
        }
        if config.score_law == BatchLaw::Own {
            tables.scores = scores(&own);
        }
        tables
    };
    laws.iter().chain([&mixture]).map(tables).collect()
}

/// How many milestones a request has at most in the queues of all sizes (§4.4): the edges of the laws of
/// its batches below its model's SLO. The mean over applications, by weight.
pub(super) fn milestones(config: &Config, profiles: &[ModelProfile]) -> f64 {
    let (mut sum, mut weights) = (0.0, 0.0);
    for profile in profiles {
        let tables = app_tables(config, profile, &sizes(config, profile));
        for (app, tables) in profile.apps.iter().zip(tables) {
            let edges: usize = tables.scores.iter().map(|s| s.edges_below(profile.slo)).sum();
            sum += app.weight * edges as f64;
            weights += app.weight;
        }
    }
    if weights > 0.0 { sum / weights } else { 0.0 }
}

/// An application's histogram in the policy's own bins.
fn binned(law: &Histogram, bins: u32) -> Histogram {
    match bins {
        0 => law.clone(),
        bins => law.in_bins(bins as usize),
    }
}

/// The law of a batch of k: one request of `own`, the others of the mixture (Eq. 7 to 9); Eq. 6 where
/// `own` is the mixture.
fn batch_law(latency: &Latency, own: &Histogram, mixture: &Histogram, k: u32) -> Histogram {
    match latency.depends_on_longest() {
        true => latency.distribution(k, &own.max_with(&[(mixture, k - 1)])),
        false => Histogram::constant(latency.batch(k, Span::ZERO)),
    }
}

fn estimate(law: &Histogram, by: Estimate) -> Span {
    Span::from_ns_f64(match by {
        Estimate::Mean => law.mean_ns(),
        Estimate::Quantile(q) => law.quantile_ns(q),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::penalty::MILLION;
    use crate::policy::parameters::Settings;
    use crate::request::RequestId;

    #[test]
    fn tables_are_made_of_the_applications_of_a_model_alone() {
        let (law, ms) = (Latency::Proportional { c1: 0.1 }, Span::from_ms);
        let config = (Config::PRESETS[0].make)();
        let profile = ModelProfile::of_constant(&law, ms(100), &[1, 2], 1, (9_999, ms(1)), 1);
        assert_eq!(app_tables(&config, &profile, &[1, 2]).len(), 2, "its own, the mixture's");
    }

    /// Two applications, nine requests of the short one to one of the long.
    fn nine_to_one() -> ModelProfile {
        let mut drawn = 0;
        let draw = || {
            drawn += 1;
            let long = drawn % 10 == 0;
            (usize::from(long), Span::from_us(if long { 50_000 } else { 5_000 } + drawn % 977))
        };
        let law = Latency::Proportional { c1: 0.1 };
        ModelProfile::measure(&law, Span::from_ms(100), &[1, 4], 1_000, draw, 64)
    }

    fn mean_ms(config: Config) -> Vec<Vec<f64>> {
        let ms = |t: &AppTables| t.estimates.iter().map(|e| e.as_ms_f64()).collect();
        app_tables(&config, &nine_to_one(), &[1, 4]).iter().map(ms).collect()
    }

    #[test]
    fn a_common_law_is_one_for_all_applications_and_an_own_one_is_not() {
        let paper = (Config::PRESETS[0].make)();
        let [short, long, mixture] = &mean_ms(paper)[..] else { panic!("two, and the mixture") };
        assert!(short == long && long == mixture);
        let own = Config { estimate_law: BatchLaw::Own, ..paper };
        let [short, long, of_others] = &mean_ms(own)[..] else { panic!("two, and the mixture") };
        assert!(short[0] < 6.0 && long[0] > 50.0, "alone each takes its own time");
        assert_eq!(of_others, mixture, "one that was not profiled is taken for any");
        // The two keys do not touch one another.
        let (own_score, slack) = (Config { score_law: BatchLaw::Own, ..paper }, Span::from_ms(200));
        let scores = |c: &Config| {
            let score = |t: &AppTables| t.scores[0].at(slack);
            app_tables(c, &nine_to_one(), &[1, 4]).iter().map(score).collect::<Vec<f64>>()
        };
        assert_eq!(mean_ms(own_score), mean_ms(paper));
        assert_eq!(scores(&own), scores(&paper));
        let [short, long, any] = scores(&own_score)[..] else { panic!("two, and the mixture") };
        assert!(short > any && any > long, "the smaller E[L] goes first");
        assert!(scores(&paper).iter().all(|s| *s == any));
    }

    /// k draws of the mixture, by hand: the longest of k is short where all are.
    #[test]
    fn shares_are_equal_or_counted() {
        let paper = (Config::PRESETS[0].make)();
        for (shares, of_short) in [(Shares::Equal, 0.5f64), (Shares::Counts, 0.9)] {
            let means = &mean_ms(Config { shares, ..paper })[0];
            for (mean, k) in means.iter().zip([1, 4]) {
                let all_short: f64 = (0..k).map(|_| of_short).product();
                let longest = all_short * 5.5 + (1.0 - all_short) * 50.5;
                let hand = (1.0 - 0.1 + 0.1 * f64::from(k)) * longest;
                assert!((mean - hand).abs() < 1.0, "{shares:?}, {k}: {mean} for {hand}");
            }
        }
    }

    /// What a request crosses as its slack shrinks, in the queue of one size: bins are what milestones
    /// cost.
    #[test]
    fn the_bins_of_each_application_add_to_the_edges_of_a_law() {
        let law = |bins| {
            let profile = nine_to_one();
            let laws: Vec<Histogram> = profile.apps.iter().map(|a| binned(&a.law, bins)).collect();
            let parts: Vec<(f64, &Histogram)> = laws.iter().map(|l| (1.0, l)).collect();
            let mixture = Histogram::mixture(&parts);
            batch_law(&profile.law, &mixture, &mixture, 4)
        };
        // The two laws do not overlap, so the bins between them are empty and give no edge.
        assert_eq!([4, 16, 0].map(|bins| law(bins).bins().count()), [2 * 4, 2 * 16, 2 * 64]);
        let mean = |bins| law(bins).mean_ns() / 1e6;
        assert!((mean(16) - mean(0)).abs() < (mean(1) - mean(0)).abs());
    }

    /// Two applications and three deadlines, and what each single step says of the same request.
    #[test]
    fn a_cost_of_steps_is_the_sum_of_single_ones() {
        let step = |deadline, cost| Step { deadline, cost };
        let m = MILLION;
        let steps = [step(m, 250_000), step(1_500_000, 2 * m), step(4 * m, 7 * m)];
        let mut profile = nine_to_one();
        profile.penalties.insert(1, Penalty::new(steps.to_vec()).unwrap());
        let tables = Tables::new(&(Config::PRESETS[0].make)(), &profile, &[1, 4]);
        let (slo, now, base) = (Span::from_ms(40), Time::from_ns(5_000_000_000), Time::from_ns(1));
        for us in 0..170_000u64 {
            // Its last deadline, 160 ms after its arrival, is up to 170 ms away; it is on its second.
            let last = now + Span::from_us(us);
            let deadline = last.minus(Span::from_ms(100));
            let cost = EntryCost { function: 1, slo, step: 1 };
            let e = Entry { id: RequestId(0), app: 0, deadline, cost, viable: 3 };
            let singles = [(40, 0.25), (60, 1.75), (160, 5.0)].map(|(after, cost)| {
                let single = Entry {
                    deadline: last.minus(Span::from_ms(160 - after)),
                    cost: EntryCost::default(),
                    ..e
                };
                (single, cost)
            });
            let sum: f64 = singles.iter().map(|(s, cost)| cost * tables.score(s, 1, now)).sum();
            assert_eq!(tables.score(&e, 1, now), sum, "{us} us before the last deadline");
            let lines = singles.map(|(s, cost)| (tables.line(&s, 1, (now, base), 100.0), cost));
            let of = |part: fn(&Line) -> f64| -> f64 {
                lines.iter().filter_map(|(l, cost)| Some(cost * part(&l.as_ref()?.0))).sum()
            };
            let line = tables.line(&e, 1, (now, base), 100.0);
            let Some((line, milestone)) = line else {
                assert!(lines.iter().all(|l| l.0.is_none()) && sum == 0.0);
                continue;
            };
            assert_eq!((line.alpha, line.beta), (of(|l| l.alpha), of(|l| l.beta)));
            assert_eq!(Some(milestone), lines.iter().filter_map(|l| Some(l.0?.1)).min());
            let value = line.alpha * libm::exp(1e-10 * now.since(base).ns() as f64) + line.beta;
            assert!((value - sum).abs() <= line.doubt + 1e-12 * sum, "{us}: {value} {sum}");
        }
    }

    /// Eq. 1 itself, by sums over the law of L and over the delay: no decomposition into steps.
    #[test]
    fn the_score_of_steps_is_the_cost_that_running_now_saves() {
        let step = |deadline, cost| Step { deadline, cost };
        let steps = [step(MILLION, 250_000), step(2 * MILLION, 2 * MILLION)];
        let penalty = Penalty::new(steps.to_vec()).unwrap();
        let mut profile = nine_to_one();
        profile.penalties.insert(1, penalty.clone());
        let config = Config { b_per_ms: 0.05, ..(Config::PRESETS[0].make)() };
        let tables = Tables::new(&config, &profile, &[1, 4]);
        let mixture = {
            let laws: Vec<Histogram> = profile.apps.iter().map(|a| a.law.clone()).collect();
            Histogram::mixture(&[(1.0, &laws[0]), (1.0, &laws[1])])
        };
        let law = batch_law(&profile.law, &mixture, &mixture, 4);
        let (slo, arrival) = (Span::from_ms(50), Time::from_ns(1_000_000_000));
        let cost = |after_ms: f64| in_units(penalty.cost(slo, Span::from_ms_f64(after_ms)));
        // The middles of 4,000 parts of equal chance of the exponential delay.
        let delays: Vec<f64> =
            (0..4_000).map(|i| -libm::log((f64::from(i) + 0.5) / 4_000.0) / 0.05).collect();
        for waited_ms in [0.0, 20.0, 40.0, 60.0, 80.0, 95.0] {
            let mut saved = 0.0;
            for bin in law.bins() {
                for part in 0..8 {
                    let width = (bin.high_ns - bin.low_ns) / 8e6;
                    let end = waited_ms + bin.low_ns / 1e6 + (f64::from(part) + 0.5) * width;
                    let late: f64 = delays.iter().map(|d| cost(end + d)).sum::<f64>() / 4_000.0;
                    saved += bin.mass / 8.0 * (late - cost(end));
                }
            }
            let cost = EntryCost { function: 1, slo, step: 1 };
            let deadline = arrival + slo * 2;
            let e = Entry { id: RequestId(0), app: 0, deadline, cost, viable: 3 };
            let score = tables.score(&e, 1, arrival + Span::from_ms_f64(waited_ms));
            let expected = saved / law.mean_ns();
            assert!((score - expected).abs() <= 0.01 * expected, "{waited_ms}: {score} {expected}");
        }
    }
}
