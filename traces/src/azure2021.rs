//! Azure Functions 2021: single invocations with their end and duration (Zhang et al., SOSP 2021).
//!
//! The file is not a list of arrivals: an arrival is `end_timestamp - duration`, and neither is
//! sorted. [`Trace2021::read`] therefore holds the whole trace, 24 bytes an invocation.

use crate::azure_llm::ALONE_MIN;
use crate::error::TraceError;
use crate::open::Input;
use crate::quirks::{Met, Quirk};
use crate::table::Table;
use orrery_sim::request::{AppId, Arrival, ModelId};
use orrery_sim::time::{Span, Time};
use std::collections::BTreeMap;

/// What it has.
const COLUMNS: [&str; 4] = ["app", "func", "end_timestamp", "duration"];
/// The latest instant and the longest duration accepted, in seconds: some 31 years.
const SECONDS_MAX: f64 = 1e9;
/// How far a duration may exceed its end before it is an error: rounding in the file.
const SLACK: Span = Span::from_us(1);

/// One invocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record2021 {
    /// When it arrived, from the start of the trace.
    pub arrival: Time,
    /// How long it ran; zero occurs.
    pub duration: Span,
    /// Its application: an index into [`Trace2021::apps`].
    pub app: u32,
    /// Its function: an index into [`Trace2021::functions`].
    pub function: u32,
}

/// A whole trace, in order of arrival.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Trace2021 {
    /// The invocations by arrival; equal arrivals in the order of the file.
    pub records: Vec<Record2021>,
    /// The names of the applications, in order of first appearance in the file.
    pub apps: Vec<String>,
    /// The names of the functions, in order of first appearance in the file.
    pub functions: Vec<String>,
    /// The columns that are not read.
    pub unused: Vec<String>,
    /// What was odd about the file.
    pub met: Met,
}

impl Trace2021 {
    /// Reads a file with the columns `app`, `func`, `end_timestamp` and `duration` (seconds).
    ///
    /// # Errors
    /// When the file is damaged, has no record, or an invocation began before the trace.
    pub fn read(input: Input) -> Result<Trace2021, TraceError> {
        Self::from_table(Table::with(input, &COLUMNS)?)
    }

    pub(crate) fn from_table(mut table: Table) -> Result<Trace2021, TraceError> {
        let (app, function) = (table.column("app")?, table.column("func")?);
        let (end, duration) = (table.column("end_timestamp")?, table.column("duration")?);
        let (mut apps, mut functions, mut records) = (Names::default(), Names::default(), vec![]);
        while table.advance()? {
            let ended = Span::from_secs_f64(table.number(end, SECONDS_MAX)?);
            let ran = Span::from_secs_f64(table.number(duration, SECONDS_MAX)?);
            if ran.minus(ended) > SLACK {
                return Err(table.bad_field(duration, "at most its end_timestamp"));
            }
            // A function's name is unique only within its application.
            let app = apps.index(&table, 0, app)?;
            records.push(Record2021 {
                arrival: Time::ZERO + ended.minus(ran),
                duration: ran,
                app,
                function: functions.index(&table, app, function)?,
            });
        }
        let mut names = functions.list.clone();
        names.sort_unstable();
        for pair in names.windows(2).filter(|pair| pair[0] == pair[1]) {
            table.meet(Quirk::FunctionName, || format!("`{}`", pair[0]));
        }
        if records.is_empty() {
            return Err(table.ended("an invocation", "check that the file is whole"));
        }
        records.sort_by_key(|r| r.arrival); // stable
        let (unused, met) = (table.others(&COLUMNS), table.met());
        Ok(Trace2021 { records, apps: apps.list, functions: functions.list, unused, met })
    }

    /// The invocations as arrivals of size 1, with the trace's application and duration (at least
    /// 1 µs). `assign` gives each its model and its SLO.
    pub fn arrivals(&self, assign: impl Fn(&Record2021) -> (ModelId, Span)) -> Vec<Arrival> {
        let arrival = |r: &Record2021| {
            let (model, slo) = assign(r);
            let alone = r.duration.max(ALONE_MIN);
            Arrival { at: r.arrival, app: AppId(r.app), model, size: 1, slo, alone }
        };
        self.records.iter().map(arrival).collect()
    }
}

/// Names numbered in order of first appearance.
#[derive(Default)]
struct Names {
    list: Vec<String>,
    index: BTreeMap<(u32, String), u32>,
}

impl Names {
    /// The number of a name, which is `owner`'s.
    fn index(&mut self, table: &Table, owner: u32, column: usize) -> Result<u32, TraceError> {
        let name = table.text(column).trim();
        if name.is_empty() {
            return Err(table.bad_field(column, "a name"));
        }
        let key = (owner, name.to_string());
        if let Some(&index) = self.index.get(&key) {
            return Ok(index);
        }
        let index = u32::try_from(self.list.len())
            .map_err(|_| table.bad_field(column, "at most 2^32 names"))?;
        self.list.push(name.to_string());
        self.index.insert(key, index);
        Ok(index)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Trace2021, TraceError> {
        Trace2021::read(Input::from_bytes("2021.csv", text.as_bytes().to_vec())?)
    }

    #[test]
    fn arrival_is_end_less_duration_and_the_sort_is_stable() {
        let trace =
            read("app,func,end_timestamp,duration\na,f,5.5,0.5\nb,g,1.25,1\nb,f,7,2\na,g,3,0")
                .unwrap();
        let got: Vec<_> = trace
            .records
            .iter()
            .map(|r| (r.arrival.ns() / 1_000_000, r.duration.ns() / 1_000_000, r.app, r.function))
            .collect();
        assert_eq!(
            got,
            [(250, 1000, 1, 1), (3000, 0, 0, 3), (5000, 500, 0, 0), (5000, 2000, 1, 2)]
        );
        assert_eq!(
            (trace.apps, trace.functions),
            (vec!["a".into(), "b".into()], ["f", "g", "f", "g"].map(String::from).to_vec())
        );
        assert_eq!(trace.met.count(Quirk::FunctionName), 2);
    }

    #[test]
    fn the_shipped_records_are_199_of_13_applications_and_31_functions() {
        let trace = Trace2021::read(crate::shipped::shipped("azure2021-head199").unwrap()).unwrap();
        assert_eq!((trace.records.len(), trace.apps.len(), trace.functions.len()), (199, 13, 31));
        assert_eq!(trace.records[0].arrival, Time::from_ns(1_490_900));
        assert_eq!(trace.records.iter().filter(|r| r.duration == Span::ZERO).count(), 8);
        let arrivals = trace.arrivals(|r| (ModelId(r.function), Span::from_secs(1)));
        assert!(
            arrivals.is_sorted_by_key(|a| a.at) && arrivals.iter().all(|a| a.alone.ns() >= 1000)
        );
    }

    #[test]
    fn damage_and_a_start_before_the_trace_are_errors_with_their_place() {
        let fail = |text: &str| read(text).unwrap_err().to_string();
        let head = "app,func,end_timestamp,duration\n";
        assert!(
            fail(&format!("{head}a,f,1,2\n")).starts_with("2021.csv: line 2: column `duration`")
        );
        assert!(fail(&format!("{head}a,f,-1,0\n")).contains("column `end_timestamp`: found `-1`"));
        assert!(fail(&format!("{head}a,f,1e30,0\n")).contains("line 2"));
        assert!(fail(&format!("{head},f,1,0\n")).contains("column `app`"));
        assert!(fail(head).contains("line 2: the file ends here"));
        assert!(fail("app,func,duration\n").contains("`end_timestamp` is missing"));
    }
}
