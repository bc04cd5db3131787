//! Time of day: the load of a plan in steps, the sizes that follow it, and what they cost.
//!
//! ```text
//!  load     ▁▁▁▂▂▅▅████▅▅▂▂       a size for each level of load; a machine is started `start_up_s` before
//!  machines ▁▁▁▂▅▅█████▅▅▂▂       its step and paid from then on; the cost is the integral over the day
//! ```
//!
//! Times are whole milliseconds and prices whole millionths of a dollar, so that the integral is exact.

use orrery_run::SpecError;
use orrery_sim::time::Span;
use orrery_solvers::Price;
use schemars::JsonSchema;
use serde::Deserialize;

const HOUR_MS: u64 = 3_600_000;
const DAY_H: u32 = 24;
const WEEK_H: u32 = 7 * DAY_H;
/// What a mean cost is rounded up to.
const UNIT_MICRO_USD: u64 = 1_000;
/// Steps of a day: each level is searched and verified.
const STEPS_MAX: usize = WEEK_H as usize;

/// How a plan answers a load that changes.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum Scale {
    /// One size for the whole day: that of the peak.
    Peak,
    /// A size for each level of load.
    Follow,
}

/// `[day]`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DayKeys {
    /// The hour at which each step begins, and its load relative to the plan's.
    #[serde(default)]
    pub profile: Vec<(f64, f64)>,
    /// Or the scenario's trace, all of it taken as one day, counted in so many steps.
    pub trace_steps: Option<u32>,
    /// After how many hours it begins again: 24, or up to the 168 of a week.
    #[serde(default = "day_h")]
    pub hours: u32,
    /// For the peak, or a size for each step.
    pub scale: Scale,
    /// How long before its step a machine is started.
    #[serde(default)]
    pub start_up_s: f64,
}

fn day_h() -> u32 {
    DAY_H
}

impl DayKeys {
    /// Whether its values make sense.
    ///
    /// # Errors
    /// Names the key, what was found and what is allowed.
    pub fn check(&self) -> Result<(), SpecError> {
        if !(DAY_H..=WEEK_H).contains(&self.hours) {
            return Err(wrong("day.hours", self.hours, "whole hours from 24 to 168, a week"));
        }
        if let Some(steps) = self.trace_steps {
            if !self.profile.is_empty() {
                let found = "`profile` and `trace_steps`";
                return Err(wrong("day.trace_steps", found, "one of the two"));
            }
            if !(1..=STEPS_MAX as u32).contains(&steps) {
                let allowed = format!("1 to {STEPS_MAX} steps");
                return Err(wrong("day.trace_steps", steps, &allowed));
            }
            return self.check_start_up();
        }
        let steps = self.profile.len();
        if !(1..=STEPS_MAX).contains(&steps) {
            let allowed = format!("1 to {STEPS_MAX} steps, each `[hour, factor]`");
            return Err(wrong("day.profile", format!("{steps} steps"), &allowed));
        }
        let (mut before, mut most) = (-1.0, 0.0_f64);
        for (i, (hour, factor)) in self.profile.iter().enumerate() {
            let key = format!("day.profile[{i}]");
            if i == 0 && *hour != 0.0 {
                return Err(wrong(
                    &key,
                    format!("hour {hour}"),
                    "hour 0: the day begins with a step",
                ));
            }
            if !(*hour > before && *hour < f64::from(self.hours)) {
                let allowed =
                    format!("rising hours from 0 to below {}, as `hours` says", self.hours);
                return Err(wrong(&key, format!("hour {hour}"), &allowed));
            }
            if !(0.0..=1e6).contains(factor) {
                let found = format!("factor {factor}");
                return Err(wrong(&key, found, "a factor from 0 to 1000000 of the plan's load"));
            }
            (before, most) = (*hour, most.max(*factor));
        }
        if most == 0.0 {
            return Err(wrong("day.profile", "factors of 0", "at least one factor above 0"));
        }
        self.check_start_up()
    }

    fn check_start_up(&self) -> Result<(), SpecError> {
        if !(0.0..=86_400.0).contains(&self.start_up_s) {
            let found = format!("{}", self.start_up_s);
            return Err(wrong("day.start_up_s", found, "seconds from 0 to 86400"));
        }
        if self.scale == Scale::Peak && self.start_up_s > 0.0 {
            let found = format!("{} with `scale = \"peak\"`", self.start_up_s);
            let allowed = "a start-up only if the size follows the load (`scale = \"follow\"`)";
            return Err(wrong("day.start_up_s", found, allowed));
        }
        Ok(())
    }
}

/// Machines that are paid at some time: so many of one kind, or of each.
pub trait Machines: Clone + Default + PartialEq {
    /// What is there while both are needed, of which none is needed twice.
    fn together(&self, other: &Self) -> Self;
}

impl Machines for u32 {
    fn together(&self, other: &u32) -> u32 {
        *self.max(other)
    }
}

impl Machines for Vec<u32> {
    fn together(&self, other: &Vec<u32>) -> Vec<u32> {
        let of = |kind: usize| {
            let n = |all: &[u32]| all.get(kind).copied().unwrap_or(0);
            n(self).max(n(other))
        };
        (0..self.len().max(other.len())).map(of).collect()
    }
}

fn wrong(key: &str, found: impl ToString, allowed: &str) -> SpecError {
    SpecError::value(key, found.to_string(), allowed, "correct or remove it")
}

/// A step of the day.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// When it begins.
    pub from_ms: u64,
    /// Its level.
    pub level: usize,
}

/// The day of a plan.
#[derive(Clone, Debug, PartialEq)]
pub struct Day {
    /// The loads that a size is looked for at, relative to the peak, falling from 1.
    pub levels: Vec<f64>,
    /// The steps, from midnight on.
    pub steps: Vec<Step>,
    /// The peak relative to the plan's load.
    pub peak: f64,
    /// The mean load relative to the peak.
    pub mean: f64,
    /// Of a trace whose own arrivals are simulated: where they are.
    pub own: Option<OwnSteps>,
    follows: bool,
    start_up_ms: u64,
    hours: u32,
}

/// The steps of a trace whose own arrivals are simulated.
#[derive(Clone, Debug, PartialEq)]
pub struct OwnSteps {
    /// The step of each level of the day, counted from 0; of a level without arrivals any.
    pub of_level: Vec<u32>,
    /// The steps.
    pub steps: u32,
    /// How long all of them are, at the trace's own rate.
    pub length: Span,
    /// The rate of a list that is faster at another one: then it is as much shorter.
    pub list_per_s: Option<f64>,
}

impl Day {
    /// The day that the keys describe; without any, a load that is always the same.
    pub fn of(keys: Option<&DayKeys>) -> Day {
        let always = [(0.0, 1.0)];
        let profile = keys.map_or(always.as_slice(), |keys| &keys.profile);
        let peak = profile.iter().map(|(_, factor)| *factor).fold(0.0, f64::max);
        let ms = |hour: f64| (hour * 3_600_000.0).round() as u64;
        let hours = keys.map_or(DAY_H, |keys| keys.hours);
        let all_ms = u64::from(hours) * HOUR_MS;
        let ends = profile.iter().skip(1).map(|(hour, _)| ms(*hour)).chain([all_ms]);
        let lasts = profile.iter().zip(ends).map(|((hour, f), end)| (end - ms(*hour)) as f64 * f);
        let mean = lasts.sum::<f64>() / (all_ms as f64 * peak);
        let follows = keys.is_some_and(|keys| keys.scale == Scale::Follow);
        let mut levels: Vec<f64> = match follows {
            true => profile.iter().map(|(_, factor)| factor / peak).collect(),
            false => vec![1.0],
        };
        levels.sort_by(|a, b| b.total_cmp(a));
        levels.dedup();
        let level = |factor: f64| levels.iter().position(|l| *l == factor / peak).unwrap_or(0);
        let step = |(hour, factor): &(f64, f64)| Step { from_ms: ms(*hour), level: level(*factor) };
        let steps = match follows {
            true => profile.iter().map(step).collect(),
            false => vec![Step { from_ms: 0, level: 0 }],
        };
        let start_up_ms = keys.map_or(0, |keys| (keys.start_up_s * 1e3).round() as u64);
        Day { levels, steps, peak, mean, own: None, follows, start_up_ms, hours }
    }

    /// The same with a level for each step of a trace, since steps of one load need not have the same bursts; those
    /// without arrivals share one. `length` is that of the day in the trace, `list_per_s` the rate of a list
    /// that is faster at another one.
    pub fn with_own_arrivals(self, keys: &DayKeys, length: Span, list_per_s: Option<f64>) -> Day {
        let factors: Vec<f64> = keys.profile.iter().map(|(_, factor)| *factor).collect();
        let mut order: Vec<usize> = (0..factors.len()).filter(|i| factors[*i] > 0.0).collect();
        order.sort_by(|a, b| factors[*b].total_cmp(&factors[*a]));
        let quiet = factors.iter().position(|factor| *factor == 0.0);
        let of_level: Vec<usize> = order.into_iter().chain(quiet).collect();
        let last = of_level.len() - 1;
        let level = |i: usize| of_level.iter().position(|step| *step == i).unwrap_or(last);
        let from_ms = |i: usize| (keys.profile[i].0 * 3_600_000.0).round() as u64;
        let step = |i: usize| Step { from_ms: from_ms(i), level: level(i) };
        Day {
            levels: of_level.iter().map(|i| factors[*i] / self.peak).collect(),
            steps: (0..factors.len()).map(step).collect(),
            own: Some(OwnSteps {
                of_level: of_level.iter().map(|i| *i as u32).collect(),
                steps: factors.len() as u32,
                length,
                list_per_s,
            }),
            ..self
        }
    }

    /// After how long it begins again.
    fn all_ms(&self) -> u64 {
        u64::from(self.hours) * HOUR_MS
    }

    /// What it is called.
    pub fn name(&self) -> &'static str {
        match self.hours {
            DAY_H => "day",
            WEEK_H => "week",
            _ => "period",
        }
    }

    /// A time of it, as `9:00`; of more than a day as `day 2 9:00`.
    pub fn clock(&self, ms: u64) -> String {
        let (hour, minute) = (ms / HOUR_MS, ms / 60_000 % 60);
        match self.hours {
            DAY_H => format!("{hour}:{minute:02}"),
            _ => format!("day {} {}:{minute:02}", hour / 24 + 1, hour % 24),
        }
    }

    /// Whether there is more than one size.
    pub fn follows(&self) -> bool {
        self.follows && self.levels.len() > 1
    }

    /// The rate that a scenario is given so that its peak has this one: of a trace that is its mean.
    pub fn mean_per_s(&self, peak_per_s: f64) -> f64 {
        if self.own.is_some() { peak_per_s / self.peak } else { peak_per_s }
    }

    /// When the first step of a level begins, as `9:00`.
    pub fn begins(&self, level: usize) -> String {
        self.clock(
            self.steps.iter().find(|step| step.level == level).map_or(0, |step| step.from_ms),
        )
    }

    /// The mean of the levels over the day: what is paid is at least this share of the peak's.
    pub fn mean_level(&self) -> f64 {
        if self.follows() { self.mean } else { 1.0 }
    }

    /// Which machines are paid from when on, with those of each level; from midnight on.
    pub fn paid<M: Machines>(&self, sizes: &[M]) -> Vec<(u64, M)> {
        let all = |some: &mut dyn Iterator<Item = &M>| {
            some.fold(M::default(), |all, more| all.together(more))
        };
        if !self.follows {
            return vec![(0, all(&mut sizes.iter()))];
        }
        let all_ms = self.all_ms();
        let early = |step: &Step| (step.from_ms + all_ms - self.start_up_ms % all_ms) % all_ms;
        let mut times: Vec<u64> =
            self.steps.iter().flat_map(|step| [step.from_ms, early(step)]).collect();
        times.sort_unstable();
        times.dedup();
        let n = self.steps.len();
        let at = |t: u64| {
            let needed = (0..n).filter(|&i| {
                let from = self.steps[i].from_ms;
                let end = self.steps.get(i + 1).map_or(all_ms, |next| next.from_ms);
                let before = (from + all_ms - t) % all_ms;
                (from..end).contains(&t) || (1..=self.start_up_ms).contains(&before)
            });
            all(&mut needed.filter_map(|i| sizes.get(self.steps[i].level)))
        };
        let mut paid: Vec<(u64, M)> = times.into_iter().map(|t| (t, at(t))).collect();
        paid.dedup_by(|later, earlier| later.1 == earlier.1);
        paid
    }

    /// The mean cost over the day with the machines of each level, rounded up to a tenth of a cent where they change.
    pub fn cost<M: Machines>(&self, sizes: &[M], of: impl Fn(&M) -> Price) -> Price {
        let paid = self.paid(sizes);
        let ends = paid.iter().skip(1).map(|p| p.0).chain([self.all_ms()]);
        let part = |((from, n), end): (&(u64, M), u64)| {
            u128::from(of(n).as_micro_usd_per_hour()) * u128::from(end - from)
        };
        if let [(_, n)] = paid.as_slice() {
            return of(n);
        }
        let all: u128 = paid.iter().zip(ends).map(part).sum();
        let unit = u128::from(UNIT_MICRO_USD);
        let mean = all.div_ceil(u128::from(self.all_ms()) * unit) * unit;
        Price::micro_usd_per_hour(u64::try_from(mean).unwrap_or(u64::MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(profile: &[(f64, f64)], scale: Scale, start_up_s: f64) -> DayKeys {
        DayKeys { profile: profile.to_vec(), trace_steps: None, hours: DAY_H, scale, start_up_s }
    }

    fn dollars(n: &u32) -> Price {
        Price::micro_usd_per_hour(1_000_000) * *n
    }

    #[test]
    fn without_a_day_the_cost_is_that_of_the_size() {
        let day = Day::of(None);
        assert_eq!((day.peak, day.mean, day.levels.as_slice()), (1.0, 1.0, [1.0].as_slice()));
        assert_eq!(day.cost(&[7], dollars), dollars(&7));
    }

    #[test]
    fn a_machine_is_paid_from_its_start_on() {
        // 2 machines for 12 hours, 5 from 8 to 20 o'clock, started half an hour before.
        let profile = [(0.0, 0.4), (8.0, 1.0), (20.0, 0.4)];
        let day = Day::of(Some(&keys(&profile, Scale::Follow, 1800.0)));
        assert_eq!(day.levels, [1.0, 0.4]);
        assert!((day.mean - 0.7).abs() < 1e-12);
        let hour = 3_600_000;
        assert_eq!(day.paid(&[5, 2]), [(0, 2), (15 * hour / 2, 5), (20 * hour, 2)]);
        // (2 * 11.5 + 5 * 12.5) / 24 is 3.5625.
        assert_eq!(day.cost(&[5, 2], dollars), Price::micro_usd_per_hour(3_563_000));
        assert_eq!(day.cost(&[5, 5], dollars), dollars(&5));
        let peak = Day::of(Some(&keys(&profile, Scale::Peak, 0.0)));
        assert_eq!(peak.cost(&[5], dollars), dollars(&5));
        assert_eq!(peak.mean, day.mean);
    }

    /// Of several kinds each is paid while it is needed: a machine of one that is started early for the next step
    /// does not end that of another.
    #[test]
    fn machines_of_each_kind_are_paid_while_they_are_needed() {
        let day = Day::of(Some(&keys(&[(0.0, 0.4), (12.0, 1.0)], Scale::Follow, 3600.0)));
        let (hour, sizes) = (3_600_000, [vec![3, 1], vec![0, 2]]);
        let paid = day.paid(&sizes);
        let both = [(0, vec![0, 2]), (11 * hour, vec![3, 2]), (12 * hour, vec![3, 1])];
        assert_eq!(paid[..3], both);
        // Before midnight those of the first step.
        assert_eq!(paid[3..], [(23 * hour, vec![3, 2])]);
        let price = |counts: &Vec<u32>| dollars(&counts[0]) + dollars(&counts[1]) * 10;
        // (11 * 20 + 2 * 23 + 11 * 13) / 24 is 17.041...
        assert_eq!(day.cost(&sizes, price), Price::micro_usd_per_hour(17_042_000));
    }

    /// Five days at the peak and a quiet weekend: 4 machines for 120 hours, 1 for 48, started an hour before.
    #[test]
    fn a_week_is_a_day_of_168_hours() {
        let week =
            DayKeys { hours: 168, ..keys(&[(0.0, 1.0), (120.0, 0.25)], Scale::Follow, 3600.0) };
        week.check().unwrap();
        let day = Day::of(Some(&week));
        assert!((day.mean - (120.0 + 48.0 * 0.25) / 168.0).abs() < 1e-12);
        assert_eq!(day.paid(&[4, 1]), [(0, 4), (120 * HOUR_MS, 1), (167 * HOUR_MS, 4)]);
        // (121 * 4 + 47) / 168 is 3.1607.
        assert_eq!(day.cost(&[4, 1], dollars), Price::micro_usd_per_hour(3_161_000));
        assert_eq!(
            [day.name(), &day.begins(1), &day.clock(167 * HOUR_MS)],
            ["week", "day 6 0:00", "day 7 23:00"]
        );
        for (wrong, says) in [
            (DayKeys { hours: 169, ..week.clone() }, "24 to 168"),
            (DayKeys { hours: 23, ..week.clone() }, "24 to 168"),
            (DayKeys { hours: 120, ..week }, "below 120, as `hours` says"),
        ] {
            let error = wrong.check().unwrap_err().to_string();
            assert!(error.contains(says), "{error}");
        }
    }

    /// The steps after midnight are started on the day before, and a start-up may be longer than a step.
    #[test]
    fn a_start_up_reaches_over_midnight_and_over_steps() {
        let day =
            Day::of(Some(&keys(&[(0.0, 1.0), (1.0, 0.5), (23.5, 0.2)], Scale::Follow, 3600.0)));
        let hour = 3_600_000;
        assert_eq!(day.paid(&[4, 2, 1]), [(0, 4), (hour, 2), (23 * hour, 4)]);
    }

    #[test]
    fn a_wrong_day_names_the_key() {
        for (profile, start_up_s, says) in [
            (vec![], 0.0, "day.profile"),
            (vec![(1.0, 1.0)], 0.0, "hour 0"),
            (vec![(0.0, 1.0), (0.0, 2.0)], 0.0, "rising hours"),
            (vec![(0.0, 1.0), (24.0, 2.0)], 0.0, "below 24"),
            (vec![(0.0, -1.0)], 0.0, "a factor"),
            (vec![(0.0, 0.0)], 0.0, "above 0"),
            (vec![(0.0, 1.0)], -1.0, "day.start_up_s"),
        ] {
            let error = keys(&profile, Scale::Follow, start_up_s).check().unwrap_err().to_string();
            assert!(error.contains(says), "{profile:?}: {error}");
        }
        let error = keys(&[(0.0, 1.0)], Scale::Peak, 60.0).check().unwrap_err().to_string();
        assert!(error.contains("follow"), "{error}");
    }
}
