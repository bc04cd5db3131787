//! The one schema of results: a row for each cell and metric.

use crate::metric::{difference_in, difference_of, find, range, unit};
use crate::text::{pair, pairs};
use serde::{Deserialize, Serialize};

/// A width below this share of the value is what rounding leaves of none.
const ROUNDING: f64 = 1e-12;

/// A metric of a cell.
#[derive(Clone, Debug, Default, Deserialize, Serialize, PartialEq)]
pub struct Row {
    /// The table's id, or the name of the scenario or of the sweep.
    pub experiment: String,
    /// The table's row; empty outside tables.
    pub case: String,
    /// What distinguishes the cell, as `name=value` with `;` between; empty where nothing does.
    pub axes: String,
    /// The system's name.
    pub system: String,
    /// Whose settings these are: `released`, `paper`, `calibrated`, `reference`, or empty.
    pub preset: String,
    /// The policy with its parameters, as it can be given to `--policy`.
    pub policy: String,
    /// `all`, `model NAME`, `app NAME` or `device N`.
    pub scope: String,
    /// What was measured, for example `finish_rate`; of a difference `finish_rate_difference`.
    pub metric: String,
    /// `unitless`, `ns`, `1/s`, `requests`, `batches`.
    pub unit: String,
    /// For a difference: the policy whose value was subtracted.
    pub versus: String,
    /// The mean over seeds, or the value of the one run; empty where there is no answer.
    pub value: Option<f64>,
    /// Why there is no value, or why one within its target does not hold; otherwise empty.
    #[serde(default)]
    pub reason: String,
    /// 95 % confidence interval; empty where there is none.
    pub ci95_low: Option<f64>,
    /// 95 % confidence interval; empty where there is none.
    pub ci95_high: Option<f64>,
    /// How the interval was found: `replications`, `batch-means`, `paired-replications`,
    /// `paired-batch-means`, `rule-of-three`; empty without one.
    pub ci_method: String,
    /// Samples behind the value, over all seeds.
    pub samples: u64,
    /// What must be known before the value is believed, as words with spaces between.
    pub flags: String,
    /// The seeds, as `1-5 7-7`.
    pub seeds: String,
    /// The rule by which the warm-up was cut.
    pub warm_up: String,
    /// The paper's figure.
    #[serde(default)]
    pub paper: Option<f64>,
    /// Where the paper says so: table, figure or sentence.
    #[serde(default)]
    pub paper_source: String,
    /// |ours - paper|.
    #[serde(default)]
    pub abs_error: Option<f64>,
    /// SHA-256 of the cell's complete specification.
    pub spec_sha256: String,
    /// The version of the results (see [`crate::RESULT_VERSION`]).
    pub result_version: u32,
    /// SHA-256 of each trace or data file that was read, as `name=sha256` with `;` between.
    pub inputs_sha256: String,
}

/// What the cells of a column are, in every table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnType {
    /// Words, never a bare number; empty where there are none.
    Text,
    /// A number with a point or an exponent; empty where there is none.
    Number,
    /// A whole number.
    Count,
}

/// The columns of a table of rows, in their order, with their types.
pub const COLUMNS: [(&str, ColumnType); 25] = {
    use ColumnType::{Count, Number, Text};
    [
        ("experiment", Text),
        ("case", Text),
        ("axes", Text),
        ("system", Text),
        ("preset", Text),
        ("policy", Text),
        ("scope", Text),
        ("metric", Text),
        ("unit", Text),
        ("versus", Text),
        ("value", Number),
        ("reason", Text),
        ("ci95_low", Number),
        ("ci95_high", Number),
        ("ci_method", Text),
        ("samples", Count),
        ("flags", Text),
        ("seeds", Text),
        ("warm_up", Text),
        ("paper", Number),
        ("paper_source", Text),
        ("abs_error", Number),
        ("spec_sha256", Text),
        ("result_version", Count),
        ("inputs_sha256", Text),
    ]
};

/// The paper's figure for a row.
#[derive(Clone, Debug, PartialEq)]
pub struct PaperFigure {
    /// Its value.
    pub value: f64,
    /// Table, figure or sentence.
    pub source: String,
}

/// The flags of rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flags;

impl Flags {
    /// A quantile with too few samples behind it.
    pub const FEW_SAMPLES: &'static str = "few-samples";
    /// The run was still diverging at its end.
    pub const DIVERGING: &'static str = "diverging";
    /// Batch means still correlated: the interval may be too narrow.
    pub const CORRELATED: &'static str = "correlated";
    /// `--until-ci` hit its limit before the interval was narrow enough.
    pub const WIDE: &'static str = "wide";
    /// Requests were still in the system at the end.
    pub const PENDING: &'static str = "pending";
    /// Nothing arrived in the first part of the measured time, over which rates are averaged as well.
    pub const LATE_START: &'static str = "late-start";
    /// Nothing arrived in the last part of the measured time, over which rates are averaged as well.
    pub const DRAIN: &'static str = "drain";
    /// For a long time requests came while every device was idle, and nothing was run.
    pub const STUCK: &'static str = "stuck";
    /// There is no value: the column `reason` says why.
    pub const NO_ANSWER: &'static str = "no-answer";
}

impl Row {
    /// The row of a metric of all requests, at the place that this row is.
    #[must_use]
    pub fn of_all(&self, metric: &str, value: f64) -> Row {
        Row {
            scope: "all".to_string(),
            metric: metric.to_string(),
            unit: unit(metric).to_string(),
            value: Some(value),
            ..self.clone()
        }
    }

    /// The value at an axis, if the cell has it.
    pub fn axis(&self, name: &str) -> Option<&str> {
        pair(&self.axes, name)
    }

    /// All axes, in order.
    pub fn axis_list(&self) -> impl Iterator<Item = (&str, &str)> {
        pairs(&self.axes)
    }

    /// Whether the row has a flag.
    pub fn has_flag(&self, flag: &str) -> bool {
        self.flags.split(' ').any(|f| f == flag)
    }

    /// Adds a flag, once.
    pub fn flag(&mut self, flag: &str) {
        if self.has_flag(flag) {
            return;
        }
        if !self.flags.is_empty() {
            self.flags.push(' ');
        }
        self.flags.push_str(flag);
    }

    /// The seeds for reading: `1-5 7`.
    pub fn seeds_in_words(&self) -> String {
        let word = |part: &str| match part.split_once('-') {
            Some((a, b)) if a == b => a.to_string(),
            _ => part.to_string(),
        };
        self.seeds.split(' ').map(word).collect::<Vec<_>>().join(" ")
    }

    /// Whether its parts fit together.
    ///
    /// # Errors
    /// What was found, what is allowed, and the remedy.
    pub fn check(&self) -> Result<(), String> {
        match (self.versus.is_empty(), difference_in(&self.metric)) {
            (false, None) => {
                return Err(format!(
                    "a difference (`versus` is `{}`) has the metric `{}`; allowed: `{}`, so that \
                     differences are not averaged with values\n  remedy: make the table again",
                    self.versus,
                    self.metric,
                    difference_of(&self.metric)
                ));
            }
            (true, Some(of)) => {
                return Err(format!(
                    "the metric `{}` with an empty `versus`; allowed: the policy whose `{of}` was \
                     subtracted\n  remedy: make the table again",
                    self.metric
                ));
            }
            _ => {}
        }
        if self.value.is_none() && self.reason.is_empty() {
            let metric = &self.metric;
            return Err(format!(
                "no `value` of `{metric}` and no `reason`; allowed: one of both\n  remedy: make the \
                 table again"
            ));
        }
        Ok(())
    }

    /// Gives it a 95 % interval, which ends where the metric's possible values do ([`range`]).
    ///
    /// An interval of no width says nothing: seeds or batches that are all alike do not show how far they may
    /// be off. Of `n` requests that are all good, or all bad, up to 3 in `n` may still be of the other sort; of
    /// anything else there is no interval then.
    pub fn set_interval(&mut self, low: f64, high: f64, method: &str) {
        let value = self.value.unwrap_or(low);
        let (least, most) = range(&self.metric);
        // A mean over no batch at all is 0.
        let (mut low, mut high) = (low.max(least.min(value)), high.min(most.max(value)));
        let mut method = method;
        if high - low <= ROUNDING * value.abs() {
            if !find(&self.metric).is_some_and(|m| m.is_share_of_requests)
                || ![0.0, 1.0].contains(&value)
                || self.samples == 0
            {
                (self.ci95_low, self.ci95_high) = (None, None);
                self.ci_method.clear();
                return;
            }
            // P(none of n) = (1 - p)^n is 0.05 for about p = 3 / n.
            let other = (3.0 / self.samples as f64).min(1.0);
            (low, high) = if value == 0.0 { (0.0, other) } else { (1.0 - other, 1.0) };
            method = "rule-of-three";
        }
        (self.ci95_low, self.ci95_high) = (Some(low), Some(high));
        self.ci_method = method.to_string();
    }

    /// Takes the value and its interval away: there is no answer, for this reason.
    pub fn without_answer(&mut self, reason: impl Into<String>) {
        self.value = None;
        (self.ci95_low, self.ci95_high) = (None, None);
        self.ci_method.clear();
        self.abs_error = None;
        self.reason = reason.into();
        self.flag(Flags::NO_ANSWER);
    }

    /// The value, where it is a number that can be drawn.
    pub fn finite(&self) -> Option<f64> {
        self.value.filter(|x| x.is_finite())
    }

    /// What a row is about, without its value: equal in two results of the same cell and metric.
    pub fn key(&self) -> [&str; 9] {
        [
            &self.experiment,
            &self.case,
            &self.axes,
            &self.system,
            &self.preset,
            &self.policy,
            &self.scope,
            &self.metric,
            &self.versus,
        ]
    }

    /// The interval, where there is one.
    pub fn ci95(&self) -> Option<(f64, f64)> {
        self.ci95_low.zip(self.ci95_high)
    }
}

/// Seeds as `1-5 7-7`: a range even of one seed, so that the column is text in every table.
pub fn seed_list(seeds: &[u64]) -> String {
    let mut parts: Vec<(u64, u64)> = Vec::new();
    for &seed in seeds {
        match parts.last_mut() {
            Some((_, last)) if last.checked_add(1) == Some(seed) => *last = seed,
            _ => parts.push((seed, seed)),
        }
    }
    let word = |&(a, b): &(u64, u64)| format!("{a}-{b}");
    parts.iter().map(word).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_stays_within_the_possible_and_has_a_width() {
        let of = |metric: &str, value: f64, (low, high): (f64, f64)| {
            let mut row = Row {
                metric: metric.into(),
                value: Some(value),
                samples: 12_000,
                ..Row::default()
            };
            row.set_interval(low, high, "replications");
            (row.ci95(), row.ci_method)
        };
        let within = |metric: &str, value: f64, ends: (f64, f64)| of(metric, value, ends).0;
        assert_eq!(within("peak_goodput_per_s", 90.0, (-25.2, 205.2)), Some((0.0, 205.2)));
        assert_eq!(within("mean_batch_size", 1.01, (0.994, 1.026)), Some((1.0, 1.026)));
        assert_eq!(within("worst_bad_rate", 0.5, (-0.2, 1.2)), Some((0.0, 1.0)));
        assert_eq!(within("finish_rate_difference", -0.9, (-1.3, -0.5)), Some((-1.0, -0.5)));
        assert_eq!(within("headroom", 0.1, (-1.5, 1.7)), Some((-1.0, 1.7)));
        // Nothing was bad, or everything: 3 of 12,000 might be otherwise.
        let rule = "rule-of-three".to_string();
        assert_eq!(of("finish_rate", 1.0, (1.0, 1.0)), (Some((1.0 - 0.00025, 1.0)), rule.clone()));
        assert_eq!(of("bad_rate", 0.0, (0.0, 0.0)), (Some((0.0, 0.00025)), rule));
        // Of a difference no request is a sample.
        assert_eq!(within("finish_rate_difference", 0.0, (0.0, 0.0)), None);
        // Two equal seeds do not say how far both are off.
        assert_eq!(of("peak_goodput_per_s", 4915.0, (4915.0, 4915.0)), (None, String::new()));
        assert_eq!(within("finish_rate", 0.5, (0.5, 0.5 + 1e-16)), None);
        assert_eq!(
            within("mean_batch_size", 0.0, (-0.1, 0.1)),
            Some((0.0, 0.1)),
            "no batch at all"
        );
    }

    #[test]
    fn seeds_in_a_row_are_a_range() {
        assert_eq!(seed_list(&[0, 1, 2, 5, 7, 8]), "0-2 5-5 7-8");
        assert_eq!(seed_list(&[u64::MAX]), format!("{0}-{0}", u64::MAX));
        assert_eq!(seed_list(&[]), "");
        let row = Row { seeds: seed_list(&[0, 1, 2, 5, 7, 8]), ..Row::default() };
        assert_eq!(row.seeds_in_words(), "0-2 5 7-8");
    }

    #[test]
    fn an_axis_is_found_by_its_whole_name() {
        let row = Row { axes: "slo_x_p99=1.5;load=0.9".into(), ..Row::default() };
        assert_eq!((row.axis("load"), row.axis("slo"), row.axis("oad")), (Some("0.9"), None, None));
        assert_eq!(row.axis_list().count(), 2);
    }

    #[test]
    fn no_answer_leaves_no_number_behind() {
        let mut row = Row {
            value: Some(3.0),
            ci95_low: Some(2.0),
            ci95_high: Some(4.0),
            ci_method: "replications".into(),
            paper: Some(3.5),
            abs_error: Some(0.5),
            ..Row::default()
        };
        row.without_answer("not even 4096 devices are enough");
        assert_eq!((row.value, row.ci95(), row.abs_error), (None, None, None));
        assert_eq!((row.flags.as_str(), row.paper), (Flags::NO_ANSWER, Some(3.5)));
        assert!(row.ci_method.is_empty() && row.reason.contains("4096"));
    }

    #[test]
    fn a_flag_is_added_once() {
        let mut row = Row::default();
        row.flag(Flags::FEW_SAMPLES);
        row.flag(Flags::DIVERGING);
        row.flag(Flags::FEW_SAMPLES);
        assert_eq!(row.flags, "few-samples diverging");
    }
}
