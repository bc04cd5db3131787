//! The tables behind figures: distributions, time series and batches.

use crate::row::{COLUMNS, ColumnType, Row};
use ColumnType::{Count, Number, Text};
use serde::{Deserialize, Serialize};

/// A row of a table, whose columns are known.
pub trait Record: Serialize {
    /// The columns in their order, with their types.
    const COLUMNS: &'static [(&'static str, ColumnType)];
}

impl Record for Row {
    const COLUMNS: &'static [(&'static str, ColumnType)] = &COLUMNS;
}

/// A point of a cumulative distribution.
#[derive(Clone, Debug, Default, Deserialize, Serialize, PartialEq)]
pub struct DistributionRow {
    /// The table's id, or the name of the scenario or of the sweep.
    pub experiment: String,
    /// The table's row; empty outside tables.
    pub case: String,
    /// As in [`crate::Row::axes`].
    pub axes: String,
    /// The policy with its parameters; empty where no policy takes part (execution times).
    pub policy: String,
    /// `all`, `model NAME` or `app NAME`.
    pub scope: String,
    /// `latency_ns`, `queueing_ns`, `alone_ns` (execution time alone), `batch_size`, or `slo_ns` (what
    /// the requests ask for).
    pub quantity: String,
    /// A value of the quantity, in its unit.
    pub x: f64,
    /// The share of all `requests` (of a batch size: of all batches) whose value is at most `x`. A
    /// request that was never answered has no value: a curve ends at the share that was answered.
    pub share: f64,
    /// Those that have a value: samples behind the whole distribution.
    pub samples: u64,
    /// What the shares are of: all requests that count, or all batches; 0 for a law.
    pub requests: u64,
}

impl Record for DistributionRow {
    const COLUMNS: &'static [(&'static str, ColumnType)] = &[
        ("experiment", Text),
        ("case", Text),
        ("axes", Text),
        ("policy", Text),
        ("scope", Text),
        ("quantity", Text),
        ("x", Number),
        ("share", Number),
        ("samples", Count),
        ("requests", Count),
    ];
}

/// A bin of a time series.
#[derive(Clone, Debug, Default, Deserialize, Serialize, PartialEq)]
pub struct SeriesRow {
    /// The table's id, or the name of the scenario or of the sweep.
    pub experiment: String,
    /// The policy with its parameters.
    pub policy: String,
    /// The bin's beginning.
    pub from_ns: u64,
    /// Its end.
    pub to_ns: u64,
    /// `offered_per_s`, `goodput_per_s`, `utilisation` or `in_system` (mean number of requests). With
    /// more than one device also `bad_rate`, `ended_per_s`, `devices_up`, `devices_busy` (mean numbers),
    /// `advice_devices` (Symphony, section 3.5), and where devices come and go `asked_devices` and
    /// `released_devices` (counts).
    pub quantity: String,
    /// The mean over the bin.
    pub value: f64,
}

impl Record for SeriesRow {
    const COLUMNS: &'static [(&'static str, ColumnType)] = &[
        ("experiment", Text),
        ("policy", Text),
        ("from_ns", Count),
        ("to_ns", Count),
        ("quantity", Text),
        ("value", Number),
    ];
}

/// A batch that a device ran, or a request that was dropped.
#[derive(Clone, Debug, Default, Deserialize, Serialize, PartialEq)]
pub struct BatchRow {
    /// The policy with its parameters; empty when the log does not say.
    pub policy: String,
    /// The device's number; empty for a dropped request.
    pub device: Option<u32>,
    /// The kind or name of the device.
    pub device_name: String,
    /// The device's lane.
    pub lane: u32,
    /// The model's name, or its number.
    pub model: String,
    /// The action's number; of a dropped request, the request's.
    pub action: u64,
    /// Requests in it.
    pub size: u32,
    /// When it began; of a dropped request, when it arrived.
    pub start_ns: u64,
    /// When it ended or was dropped.
    pub end_ns: u64,
    /// The earliest deadline of its requests; empty where there is none.
    #[serde(default)]
    pub deadline_ns: Option<u64>,
    /// `done`, `preempted` or `running` (at the end of the log); of a dropped request why, such as
    /// `dropped_expired`.
    pub outcome: String,
}

impl Record for BatchRow {
    const COLUMNS: &'static [(&'static str, ColumnType)] = &[
        ("policy", Text),
        ("device", Count),
        ("device_name", Text),
        ("lane", Count),
        ("model", Text),
        ("action", Count),
        ("size", Count),
        ("start_ns", Count),
        ("end_ns", Count),
        ("deadline_ns", Count),
        ("outcome", Text),
    ];
}

impl BatchRow {
    /// Whether it is a dropped request, and no batch.
    pub fn is_drop(&self) -> bool {
        self.device.is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{header, to_csv};

    #[test]
    fn the_columns_are_those_of_the_csv() {
        fn same<R: Record + Default>() {
            let names: Vec<&str> = R::COLUMNS.iter().map(|c| c.0).collect();
            assert_eq!(header(&to_csv(&[R::default()])), names);
        }
        same::<Row>();
        same::<DistributionRow>();
        same::<SeriesRow>();
        same::<BatchRow>();
    }
}
