//! A recorded list of queries: arrival, size and, where it was measured, service time, one query a
//! line. So a run can be compared with another system's query by query.
//!
//! Columns: `arrival_ns`, `arrival_us`, `arrival_ms` or `arrival_s`, not falling; `size`; and, if given,
//! `service_` with one of the same units, which becomes the execution time alone. Other columns are
//! left alone. It is not a workload file, which names applications, models and SLOs.

use crate::ahead::{Ahead, Reads};
use crate::error::TraceError;
use crate::open::Input;
use crate::quirks::Met;
use crate::samples::Unit;
use crate::table::Table;
use orrery_sim::request::{AppId, Arrival, ModelId};
use orrery_sim::time::{Span, Time};

/// The units that a column's name may end in.
const UNITS: [(&str, Unit); 4] =
    [("ns", Unit::Ns), ("us", Unit::Us), ("ms", Unit::Ms), ("s", Unit::S)];
/// Times go to a year.
const YEAR_NS: f64 = 366.0 * 86_400e9;

/// Whose the queries are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Asked {
    /// The application that sends them.
    pub app: AppId,
    /// The model that they ask for.
    pub model: ModelId,
    /// Time allowed from arrival to reply; [`Span::MAX`] for none.
    pub slo: Span,
    /// The execution time alone of a query without a service time.
    pub alone: Span,
}

/// What reads a query list.
#[derive(Debug)]
pub struct Queries {
    table: Table,
    arrival: (usize, Unit),
    size: usize,
    service: Option<(usize, Unit)>,
    asked: Asked,
    last: Time,
}

/// A query list as a source, read as it is consumed.
pub type QueryList = Ahead<Queries>;

impl QueryList {
    /// Opens a list and reads its first query.
    ///
    /// # Errors
    /// When a column is missing or there twice in two units, or the first line is damaged or missing.
    pub fn open(input: Input, asked: Asked) -> Result<QueryList, TraceError> {
        let table = Table::open(input)?.alone();
        let arrival = match timed(&table, "arrival")? {
            Some(found) => found,
            None => (table.column("arrival_ms")?, Unit::Ms), // never there: the error that says so
        };
        let (size, service) = (table.column("size")?, timed(&table, "service")?);
        let last = Time::ZERO;
        let list = Ahead::new(Queries { table, arrival, size, service, asked, last })?;
        if list.next.is_none() {
            return Err(list.reader.table.ended("a query", "write the list again"));
        }
        Ok(list)
    }

    /// Whether the list says how long each query took.
    pub fn has_service_times(&self) -> bool {
        self.reader.service.is_some()
    }

    /// What was odd about the file so far.
    pub fn met(&self) -> Met {
        self.reader.table.met()
    }
}

impl Reads for Queries {
    fn read(&mut self) -> Result<Option<Arrival>, TraceError> {
        if !self.table.advance()? {
            return Ok(None);
        }
        let at = Time::from_ns(ns_of(&self.table, self.arrival)?);
        if at < self.last {
            let allowed = "the arrival of the line before, or later";
            return Err(self.table.bad_field(self.arrival.0, allowed));
        }
        self.last = at;
        let size = self.table.size(self.size)?;
        let Asked { app, model, slo, mut alone } = self.asked;
        if let Some(service) = self.service {
            alone = Span::from_ns(ns_of(&self.table, service)?);
            if alone == Span::ZERO {
                return Err(self.table.bad_field(service.0, "at least a nanosecond"));
            }
        }
        Ok(Some(Arrival { at, app, model, size, slo, alone }))
    }
}

/// A time of the current row in nanoseconds.
pub(crate) fn ns_of(table: &Table, (column, unit): (usize, Unit)) -> Result<u64, TraceError> {
    let number = table.number(column, YEAR_NS / unit.ns())?;
    Ok((number * unit.ns() + 0.5) as u64)
}

/// The column `WHAT_UNIT` and its unit, where there is one.
///
/// # Errors
/// When there are two.
pub(crate) fn timed(table: &Table, what: &str) -> Result<Option<(usize, Unit)>, TraceError> {
    let of = |(word, unit)| Some((table.find(&format!("{what}_{word}"))?, unit));
    let mut found = UNITS.into_iter().filter_map(of);
    match (found.next(), found.next()) {
        (one, None) => Ok(one),
        _ => {
            let found = format!("`{what}` in several units");
            Err(table.bad_header(found, "one column of each time", "remove one"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::tests::all;
    use orrery_sim::request::Source;

    fn open(text: &str) -> Result<QueryList, TraceError> {
        let input = Input::from_bytes("q.csv", text.as_bytes().to_vec())?;
        let (app, model) = (AppId(2), ModelId(1));
        let (slo, alone) = (Span::from_ms(350), Span::from_us(1));
        QueryList::open(input, Asked { app, model, slo, alone })
    }

    #[test]
    fn a_list_is_read_in_its_units() {
        let mut list = open("size,arrival_ms,service_us,note\n10,0.5,1500,a\n999,2,7,b\n").unwrap();
        assert!(list.has_service_times());
        let queries = all(&mut list);
        assert_eq!((queries[0].at, queries[0].size), (Time::from_ns(500_000), 10));
        assert_eq!((queries[0].alone, queries[1].alone), (Span::from_us(1_500), Span::from_us(7)));
        assert_eq!((queries[1].app, queries[1].model), (AppId(2), ModelId(1)));
        let mut plain = open("arrival_s,size\n1,3\n1,4\n").unwrap();
        assert!(!plain.has_service_times());
        assert_eq!(all(&mut plain)[1].alone, Span::from_us(1));
    }

    #[test]
    fn damage_is_named() {
        for (text, place) in [
            ("size\n1\n", "arrival_ms"),
            ("arrival_ms\n1\n", "size"),
            ("arrival_ms,arrival_s,size\n1,1,1\n", "several units"),
            ("arrival_ms,size\n", "a query"),
            ("arrival_ms,size\n1,0\n", "line 2: column `size`"),
            ("arrival_ms,size\n-1,1\n", "line 2: column `arrival_ms`"),
            ("arrival_ms,size,service_ms\n1,1,0\n", "line 2: column `service_ms`"),
        ] {
            let error = open(text).err().unwrap_or_else(|| panic!("{text}")).to_string();
            assert!(error.contains("q.csv") && error.contains(place), "{error}");
        }
        let mut list = open("arrival_ms,size\n5,1\n4,1\n").unwrap();
        assert_eq!(all(&mut list).len(), 1);
        assert!(list.failure().unwrap().contains("line 3: column `arrival_ms`"));
    }
}
