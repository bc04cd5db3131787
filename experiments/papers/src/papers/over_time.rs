//! `orrery reproduce symphony-fig-15`: one workload over time, on a cluster that follows the advice of
//! Symphony's section 3.5 and on one that has always all devices.
//!
//! A study has a number for each cell; this figure has one for each bin of time, so it is not one.

use crate::cells::advice;
use crate::cells::cell::{Replication, Seeds, rows};
use crate::cli::Reproduce;
use crate::details::over_time;
use crate::output::Forms;
use crate::plot::{save, unsuitable};
use crate::cells::scenario_cell::{ScenarioCell, inputs_sha256, run_one, scope_names};
use orrery_plots::Choice;
use orrery_results::{Row, to_json};
use orrery_scenario::SpecError;
use orrery_scenario::scenario::Scenario;
use orrery_sim::metrics::TimeBin;
use orrery_sim::time::{Span, Time};
use rayon::prelude::*;
use serde::Deserialize;
use std::fmt::Write;
use toml::Value;

const FIGURE: &str = include_str!("../studies/symphony-fig-15.toml");

/// Below this share of busy devices a cluster is not overloaded.
const NOT_FULL: f64 = 0.9;
/// A bad rate is low up to this.
const LOW: f64 = 0.01;

/// The figure's file.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OverTime {
    /// Its id on the command line.
    pub id: String,
    /// One line on what it shows.
    pub title: String,
    /// Paper and figure.
    pub source: String,
    /// Seconds that a run takes on 2 cores.
    pub expected_s: u32,
    /// Lines of the table over time, at most.
    pub rows: usize,
    /// The scenario with `[autoscale]`, as a scenario file's text.
    pub scenario: String,
    /// What the paper leaves open, and what was chosen.
    pub assumption: Vec<String>,
}

/// A cluster's run.
struct Ran {
    name: &'static str,
    heading: String,
    /// Of the whole run, then of each line of the table.
    rows: Vec<Row>,
    /// As fine as they were kept.
    bins: Vec<TimeBin>,
    series: Vec<orrery_results::SeriesRow>,
}

impl OverTime {
    /// The id of the shipped figure.
    pub const ID: &str = "symphony-fig-15";

    /// The shipped figure.
    ///
    /// # Errors
    /// When it is damaged.
    pub fn shipped() -> Result<OverTime, SpecError> {
        let wrong = |e: toml::de::Error| SpecError::Parse {
            file: "a shipped figure".to_string(),
            message: e.to_string(),
        };
        toml::from_str(FIGURE).map_err(wrong)
    }

    /// Runs it.
    ///
    /// # Errors
    /// When a run cannot be made.
    pub fn reproduce(&self, args: &Reproduce) -> Result<Forms, SpecError> {
        let scenario = Scenario::from_text(&self.id, &self.scenario)?;
        let most = scenario.file.autoscale.as_ref().map_or(1, |a| a.most);
        let least = scenario.file.autoscale.as_ref().map_or(1, |a| a.least);
        let all = Value::Integer(most.into());
        let mut fixed = scenario.with(&[("device[0].count".to_string(), all)])?;
        fixed.file.autoscale = None;
        let clusters = [
            ("autoscaled", format!("autoscaled, {least} to {most} GPUs"), scenario),
            ("fixed", format!("fixed cluster of {most} GPUs"), fixed),
        ];
        let run = |(name, heading, scenario)| self.run(name, heading, &scenario);
        let ran: Vec<Ran> = clusters.into_par_iter().map(run).collect::<Result<_, _>>()?;
        if let Some(path) = &args.plot {
            let series: Vec<_> = ran.iter().flat_map(|r| r.series.iter().cloned()).collect();
            let figure = orrery_plots::time_series(&series, &Choice::default());
            save(&figure.map_err(|e| unsuitable(&self.id, &e))?, path)?;
        }
        let rows: Vec<Row> = ran.iter().flat_map(|r| r.rows.iter().cloned()).collect();
        Ok(Forms {
            table: self.text(&ran),
            wide: orrery_results::wide(&rows),
            json: to_json(&rows, &[("figure", self.id.clone().into())]),
            rows,
        })
    }

    fn run(
        &self,
        name: &'static str,
        heading: String,
        scenario: &Scenario,
    ) -> Result<Ran, SpecError> {
        let policy = scenario.policies()?.remove(0);
        let seeds = Seeds { first: scenario.seed, count: 1, until_ci: None };
        let cell = ScenarioCell {
            scenario: scenario.clone(),
            axes: format!("cluster={name}"),
            policy: policy.clone(),
            seeds,
            inputs_sha256: inputs_sha256(scenario)?,
            search: None,
        };
        let (metrics, watch) = run_one(&scenario.setup(seeds.first)?, &policy, seeds.first)?;
        let bins: Vec<TimeBin> = watch.1.bins().collect();
        let series = over_time(&self.id, name, &watch.1);
        let place = Row { preset: "released".to_string(), ..cell.place(&self.id) };
        let mut one = Replication::of(seeds.first, &metrics, &watch, &scope_names(scenario));
        // Every start makes a device of its own; what each of them did is no result.
        one.measures.retain(|m| !m.scope.starts_with("device "));
        let whole = sum(&bins);
        one.push("all", "bad_rate", whole.bad_rate(), whole.offered);
        one.push("all", "devices_up", whole.devices_up(), whole.offered);
        one.push("all", "devices_busy", whole.devices_busy(), whole.offered);
        let room = Room::of(&bins);
        one.push("all", "not_overloaded_time_share", room.share(), whole.offered);
        if let Some(low) = room.low_share() {
            one.push("all", "low_bad_rate_time_share", low, whole.offered);
        }
        let mut all = rows(&place, &seeds, &[one]);
        for bin in self.lines(&bins) {
            let mut one = Replication { seed: seeds.first, ..Replication::default() };
            for (metric, value) in of_line(&bin) {
                one.push("all", metric, value, bin.offered);
            }
            let axes = format!("{};from_s={:.0}", place.axes, seconds(bin.from.since(Time::ZERO)));
            all.extend(rows(&Row { axes, ..place.clone() }, &seeds, &[one]));
        }
        Ok(Ran { name, heading, rows: all, bins, series })
    }

    /// The lines of the table: neighbouring bins together.
    fn lines(&self, bins: &[TimeBin]) -> Vec<TimeBin> {
        let each = bins.len().div_ceil(self.rows.max(1)).max(1);
        bins.chunks(each).map(sum).collect()
    }

    fn text(&self, ran: &[Ran]) -> String {
        let mut out = format!("{}: {}\nsource: {}\n", self.id, self.title, self.source);
        for r in ran {
            let _ = writeln!(out, "\n{}", r.heading);
            let _ = writeln!(
                out,
                "{:>6} {:>6} {:>10} {:>10} {:>7} {:>8} {:>8} {:>8} {:>6} {:>8}",
                "from s",
                "to s",
                "offered/s",
                "goodput/s",
                "bad %",
                "GPUs up",
                "busy",
                "advice",
                "asked",
                "released"
            );
            for bin in self.lines(&r.bins) {
                let _ = writeln!(
                    out,
                    "{:>6.0} {:>6.0} {:>10.0} {:>10.0} {:>7.2} {:>8.1} {:>8.1} {:>8} {:>6} {:>8}",
                    seconds(bin.from.since(Time::ZERO)),
                    seconds(bin.to.since(Time::ZERO)),
                    bin.per_s(bin.offered),
                    bin.per_s(bin.in_time),
                    100.0 * bin.bad_rate(),
                    bin.devices_up(),
                    bin.devices_busy(),
                    advice::of_bin(&bin).map_or("-".to_string(), |n| format!("{n:+.0}")),
                    bin.asked,
                    bin.released
                );
            }
        }
        out.push_str("\nin all:\n");
        for r in ran {
            let whole = sum(&r.bins);
            let _ = writeln!(
                out,
                "{:10} {} requests, {:.2} % bad; {:.0} GPU-seconds up ({:.1} GPUs on average), \
                 {:.0} busy",
                r.name,
                whole.offered,
                100.0 * whole.bad_rate(),
                seconds(whole.up),
                whole.devices_up(),
                seconds(whole.busy)
            );
        }
        out.push_str("\nthe paper's sentence, and what came out:\n");
        let _ = writeln!(
            out,
            "- a bad rate of at most {:.0} % while the cluster is not overloaded: less than {:.0} % \
             of its GPUs busy (section 5.7)",
            100.0 * LOW,
            100.0 * NOT_FULL
        );
        for r in ran {
            let _ = writeln!(out, "    {}", Room::of(&r.bins).text(r.name));
        }
        out.push_str("\nassumed, where the paper is silent:\n");
        for assumption in &self.assumption {
            let _ = writeln!(out, "- {assumption}");
        }
        out
    }
}

/// How long a cluster was not overloaded, and how long of that its bad rate was low: what the paper's
/// sentence is about. Of a bin without requests nothing is bad.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Room {
    whole_s: f64,
    not_overloaded_s: f64,
    low_s: f64,
}

impl Room {
    fn of(bins: &[TimeBin]) -> Room {
        let mut room = Room::default();
        for bin in bins {
            let s = seconds(bin.span());
            room.whole_s += s;
            if bin.utilisation() < NOT_FULL {
                room.not_overloaded_s += s;
                room.low_s += if bin.bad_rate() <= LOW { s } else { 0.0 };
            }
        }
        room
    }

    /// The share of the time in which the cluster was not overloaded.
    fn share(&self) -> f64 {
        self.not_overloaded_s / self.whole_s
    }

    /// The share of that time in which the bad rate was low; none where there is no such time.
    fn low_share(&self) -> Option<f64> {
        (self.not_overloaded_s > 0.0).then(|| self.low_s / self.not_overloaded_s)
    }

    fn text(&self, name: &str) -> String {
        let verdict = match self.low_share() {
            None => "not run: it was always overloaded".to_string(),
            Some(1.0) => "holds".to_string(),
            Some(0.0) => "DOES NOT HOLD".to_string(),
            Some(low) => format!("holds in {:.1} % of that time", 100.0 * low),
        };
        format!(
            "{name} -> {verdict}: {:.1} of {:.1} s; overloaded in the other {:.1} of {:.1} s",
            self.low_s,
            self.not_overloaded_s,
            self.whole_s - self.not_overloaded_s,
            self.whole_s
        )
    }
}

/// What a line of the table says.
fn of_line(bin: &TimeBin) -> Vec<(&'static str, f64)> {
    let mut out = vec![
        ("offered_per_s", bin.per_s(bin.offered)),
        ("goodput_per_s", bin.per_s(bin.in_time)),
        ("bad_rate", bin.bad_rate()),
        ("utilisation", bin.utilisation()),
        ("devices_up", bin.devices_up()),
        ("devices_busy", bin.devices_busy()),
    ];
    out.extend(advice::of_bin(bin).map(|n| ("advice_devices", n)));
    out.push(("asked_devices", bin.asked as f64));
    out.push(("released_devices", bin.released as f64));
    out
}

/// Neighbouring bins as one.
fn sum(bins: &[TimeBin]) -> TimeBin {
    let Some((first, others)) = bins.split_first() else { return TimeBin::default() };
    others.iter().fold(*first, |a, b| TimeBin {
        from: a.from,
        to: b.to,
        offered: a.offered + b.offered,
        in_time: a.in_time + b.in_time,
        late: a.late + b.late,
        dropped: a.dropped + b.dropped,
        batches: a.batches + b.batches,
        batched: a.batched + b.batched,
        busy: a.busy + b.busy,
        up: a.up + b.up,
        in_system_ns: a.in_system_ns + b.in_system_ns,
        asked: a.asked + b.asked,
        released: a.released + b.released,
    })
}

fn seconds(span: Span) -> f64 {
    span.as_secs_f64()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 10 s in all, of which 2 s with all devices busy and a bad rate of a half, which the sentence is
    /// not about; of the other 8 s, 2 s are bad as well.
    #[test]
    fn the_sentence_is_judged_by_the_time_that_is_not_overloaded() {
        let bin = |i: u64, busy: u64, late: u64| TimeBin {
            from: Time::ZERO + Span::from_secs(2 * i),
            to: Time::ZERO + Span::from_secs(2 * i + 2),
            offered: 100,
            in_time: 100 - late,
            late,
            busy: Span::from_secs(busy),
            up: Span::from_secs(200),
            ..TimeBin::default()
        };
        let bins = [bin(0, 20, 0), bin(1, 200, 50), bin(2, 179, 1), bin(3, 100, 2), bin(4, 0, 0)];
        let room = Room::of(&bins);
        assert_eq!((room.share(), room.low_share()), (0.8, Some(0.75)));
        assert_eq!(
            room.text("fixed"),
            "fixed -> holds in 75.0 % of that time: 6.0 of 8.0 s; overloaded in the other 2.0 of 10.0 s"
        );
        assert!(Room::of(&bins[..1]).text("x").starts_with("x -> holds: 2.0 of 2.0 s"));
        assert!(Room::of(&bins[3..4]).text("x").contains("DOES NOT HOLD"));
        assert_eq!(Room::of(&bins[1..2]).low_share(), None);
    }

    #[test]
    fn the_shipped_figure_is_sound_and_its_lines_are_the_whole() {
        let figure = OverTime::shipped().unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(figure.id, OverTime::ID);
        let scenario = Scenario::from_text(&figure.id, &figure.scenario);
        assert!(scenario.is_ok_and(|s| s.file.autoscale.is_some() && s.app_names().len() == 24));
        let bins: Vec<TimeBin> =
            (0..100).map(|i| TimeBin { offered: i, ..TimeBin::default() }).collect();
        let lines = figure.lines(&bins);
        assert!(lines.len() <= figure.rows, "{}", lines.len());
        assert_eq!(lines.iter().map(|b| b.offered).sum::<u64>(), sum(&bins).offered);
    }
}
