//! Workload files: arrivals written down once, to be replayed to every policy.
//!
//! It is no log of a run: it holds what arrives, not what became of it. One line an arrival, in
//! order of time: `arrival_ns,app,model,size,slo_ns,alone_ns`; an empty `slo_ns` is no SLO. A file that
//! is read may have its times in `_us`, `_ms` or `_s`.

use crate::ahead::{Ahead, Reads};
use crate::error::{TraceError, parameter};
use crate::open::Input;
use crate::part::{Part, Slice};
use crate::query_list::{ns_of, timed};
use crate::quirks::Met;
use crate::samples::Unit;
use crate::table::Table;
use orrery_sim::request::{AppId, Arrival, ModelId, Source};
use orrery_sim::time::{Span, Time};
use std::io::Write;

/// The columns, in the order they are written.
pub const COLUMNS: [&str; 6] = ["arrival_ns", "app", "model", "size", "slo_ns", "alone_ns"];

/// Writes a workload file.
#[derive(Debug)]
pub struct WorkloadWriter<W> {
    out: W,
    name: String,
    rows: u64,
    last: Time,
}

impl<W: Write> WorkloadWriter<W> {
    /// Writes the header. `name` is the file's name in messages.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn new(out: W, name: &str) -> Result<WorkloadWriter<W>, TraceError> {
        let mut writer = WorkloadWriter { out, name: name.into(), rows: 0, last: Time::ZERO };
        writer.line(format_args!("{}\n", COLUMNS.join(",")))?;
        Ok(writer)
    }

    /// Writes one arrival.
    ///
    /// # Errors
    /// When it cannot be written.
    ///
    /// # Panics
    /// When it comes before the last one: a source gives arrivals in order.
    pub fn write(&mut self, a: &Arrival) -> Result<(), TraceError> {
        assert!(a.at >= self.last, "arrivals must be in order of time");
        self.last = a.at;
        self.rows += 1;
        let (at, app, model, size) = (a.at.ns(), a.app.0, a.model.0, a.size);
        let alone = a.alone.ns();
        match a.slo {
            Span::MAX => self.line(format_args!("{at},{app},{model},{size},,{alone}\n")),
            slo => self.line(format_args!("{at},{app},{model},{size},{},{alone}\n", slo.ns())),
        }
    }

    /// Flushes; how many arrivals were written.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn finish(mut self) -> Result<u64, TraceError> {
        self.out.flush().map_err(|e| self.failed(&e))?;
        Ok(self.rows)
    }

    fn line(&mut self, text: std::fmt::Arguments<'_>) -> Result<(), TraceError> {
        self.out.write_fmt(text).map_err(|e| self.failed(&e))
    }

    fn failed(&self, error: &std::io::Error) -> TraceError {
        TraceError::Output { file: self.name.clone(), reason: error.to_string() }
    }
}

/// Writes all arrivals of an open-loop source; how many there were.
///
/// # Errors
/// When the source is a closed loop, ends with a failure, or the file cannot be written.
pub fn record(source: &mut dyn Source, out: impl Write, name: &str) -> Result<u64, TraceError> {
    if source.is_closed_loop() {
        let allowed = "an open-loop source";
        let remedy = "run the closed loop itself: its arrivals depend on the replies";
        return Err(parameter("source", "a closed loop", allowed, remedy));
    }
    let mut writer = WorkloadWriter::new(out, name)?;
    while let Some(arrival) = source.pop() {
        if arrival.at == Time::NEVER {
            return Err(after_the_end(writer.rows));
        }
        writer.write(&arrival)?;
    }
    match source.failure() {
        Some(why) => Err(TraceError::Output {
            file: name.into(),
            reason: format!("its source failed: {why}"),
        }),
        None => writer.finish(),
    }
}

/// The error of a source that has an arrival after the end of time.
pub fn after_the_end(requests: u64) -> TraceError {
    let found = format!("request {} after the end of simulated time", requests + 1);
    let allowed = "arrivals within 2^64 ns, some 584 years";
    parameter("arrivals", found, allowed, "raise the rate, or limit `requests` or `duration_s`")
}

/// The latest first arrival of a whole file: one that is later counts from another origin, such as 1970.
const LATEST_START: Span = Span::from_ms(366 * 86_400_000);

/// What reads a workload file.
#[derive(Debug)]
pub struct Rows {
    table: Table,
    columns: [(usize, Unit); 6],
    last: Time,
    /// The model of each application, where these are known.
    models: Option<Vec<ModelId>>,
}

/// A workload file as a source, read as it is consumed.
pub type CsvSource = Ahead<Rows>;

impl CsvSource {
    /// Opens a file and reads its first arrival.
    ///
    /// # Errors
    /// When a column is missing, the first line is damaged or missing, or times count from another origin than a run's.
    pub fn open(input: Input) -> Result<CsvSource, TraceError> {
        CsvSource::whole(Table::open(input)?, None)
    }

    /// Opens a part of a file, moved to the start of the run; a line must name one of these applications, and its
    /// model.
    ///
    /// # Errors
    /// As [`CsvSource::open`], or when the part holds no arrival.
    pub fn open_for(
        input: Input,
        slice: Slice,
        models: Vec<ModelId>,
    ) -> Result<Box<dyn Source>, TraceError> {
        let table = Table::open(input)?;
        if slice == Slice::All {
            return Ok(Box::new(CsvSource::whole(table, Some(models))?));
        }
        let source = CsvSource::of(table, Some(models))?;
        let file = source.reader.table.file().to_string();
        Ok(Box::new(Part::of(source, slice, &file)?))
    }

    /// All of a file, whose times count from the start of the run.
    pub(crate) fn whole(
        table: Table,
        models: Option<Vec<ModelId>>,
    ) -> Result<CsvSource, TraceError> {
        let source = CsvSource::of(table, models)?;
        if source.next.is_some_and(|first| first.at > Time::ZERO + LATEST_START) {
            let allowed = "at most a year: times count from the start of the run. Subtract the first one from all, or \
                           read the rows as a slice (`from_row = 0`), which begins at its first arrival";
            return Err(source.reader.table.bad_field(source.reader.columns[0].0, allowed));
        }
        Ok(source)
    }

    fn of(table: Table, models: Option<Vec<ModelId>>) -> Result<CsvSource, TraceError> {
        let table = table.alone();
        let mut columns = [(0, Unit::Ns); 6];
        for (column, name) in columns.iter_mut().zip(COLUMNS) {
            let time = name.strip_suffix("_ns").map(|what| timed(&table, what)).transpose()?;
            *column = match time.flatten() {
                Some(found) => found,
                None => (table.column(name)?, Unit::Ns),
            };
        }
        let source = Ahead::new(Rows { table, columns, last: Time::ZERO, models })?;
        match source.next {
            None => Err(source.reader.table.ended("an arrival", "write the workload again")),
            Some(_) => Ok(source),
        }
    }

    /// What was odd about the file so far.
    pub fn met(&self) -> Met {
        self.reader.table.met()
    }
}

impl Reads for Rows {
    fn read(&mut self) -> Result<Option<Arrival>, TraceError> {
        if !self.table.advance()? {
            return Ok(None);
        }
        let arrival = self.parse()?;
        if arrival.at < self.last {
            let allowed = format!("{} or later, as on the line before", self.last.ns());
            return Err(self.table.bad_field(self.columns[0].0, allowed));
        }
        self.last = arrival.at;
        self.check_names(&arrival)?;
        Ok(Some(arrival))
    }
}

impl Rows {
    /// The application is one of the scenario's, and asks for its model.
    fn check_names(&self, arrival: &Arrival) -> Result<(), TraceError> {
        let Some(models) = &self.models else { return Ok(()) };
        let [_, (app, _), (model, _), ..] = self.columns;
        match models.get(arrival.app.index()) {
            Some(own) if *own == arrival.model => Ok(()),
            Some(own) => {
                let of = arrival.app.0;
                let allowed = format!("{}, the model of application {of} in the scenario", own.0);
                Err(self.table.bad_field(model, allowed))
            }
            None => {
                let last = models.len().saturating_sub(1);
                Err(self
                    .table
                    .bad_field(app, format!("an application of the scenario, 0 to {last}")))
            }
        }
    }

    fn parse(&self) -> Result<Arrival, TraceError> {
        let [at, app, model, size, slo, alone] = self.columns;
        let u32_at = |(column, _)| Ok(self.table.whole(column, u64::from(u32::MAX))? as u32);
        let ns = |time: (usize, Unit)| match time.1 {
            // Of any size, to the nanosecond.
            Unit::Ns => self.table.whole(time.0, u64::MAX - 1),
            _ => ns_of(&self.table, time),
        };
        let positive = |n: u64| match n {
            0 => Err(self.table.bad_field(alone.0, "1 ns or more")),
            n => Ok(n),
        };
        Ok(Arrival {
            at: Time::from_ns(ns(at)?),
            app: AppId(u32_at(app)?),
            model: ModelId(u32_at(model)?),
            size: self.table.size(size.0)?,
            slo: match self.table.text(slo.0).trim() {
                "" => Span::MAX,
                _ => Span::from_ns(ns(slo)?),
            },
            alone: Span::from_ns(positive(ns(alone)?)?),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arrivals::ArrivalLaw;
    use crate::closed_loop::{Clients, ClosedLoop, Think};
    use crate::workload::OpenWorkload;
    use crate::workload::tests::{all, app, open};

    fn recorded(seed: u64) -> Vec<u8> {
        let mut apps = vec![app(0, 1.0, 10.0), app(3, 2.0, 50.0)];
        apps[1].slo = Span::MAX;
        let mut bytes = vec![];
        assert_eq!(record(&mut open(seed, apps, 500), &mut bytes, "w.csv").unwrap(), 500);
        bytes
    }

    fn source(bytes: &[u8]) -> Result<CsvSource, TraceError> {
        CsvSource::open(Input::from_bytes("w.csv", bytes.to_vec())?)
    }

    #[test]
    fn what_is_written_is_what_is_read_and_a_seed_gives_the_same_bytes() {
        let bytes = recorded(1);
        assert_eq!(bytes, recorded(1));
        assert_ne!(bytes, recorded(2));
        assert!(bytes.starts_with(b"arrival_ns,app,model,size,slo_ns,alone_ns\n"));
        let mut back = vec![];
        record(&mut source(&bytes).unwrap(), &mut back, "w.csv").unwrap();
        assert_eq!(bytes, back);
    }

    #[test]
    fn a_source_that_runs_over_the_end_of_time_is_not_recorded() {
        let slow = ArrivalLaw::Poisson { rate_per_s: 1e-9 }.start(1, 0).unwrap();
        let mut source = OpenWorkload::new(slow, vec![app(0, 1.0, 10.0)], 1).unwrap();
        let error = record(&mut source, &mut vec![], "w.csv").unwrap_err().to_string();
        assert!(error.contains("after the end of simulated time"), "{error}");
    }

    #[test]
    fn a_size_has_a_limit() {
        let row = |size: &str| format!("{}\n1,0,0,{size},,1\n", COLUMNS.join(","));
        for size in ["1", "4096"] {
            assert!(source(row(size).as_bytes()).is_ok());
        }
        for size in ["0", "4097", "4294967295", "4294967296", "-1"] {
            let error = source(row(size).as_bytes()).unwrap_err().to_string();
            let says = ["line 2: column `size`", size, "from 1 to 4096"];
            assert!(says.iter().all(|s| error.contains(s)), "{error}");
        }
    }

    #[test]
    fn times_may_be_in_any_unit_and_one_of_them_each() {
        let ns = b"arrival_ns,app,model,size,slo_ns,alone_ns\n500000,1,0,8,1500000,50\n900000,0,0,8,,9\n";
        let ms =
            b"arrival_ms,app,model,size,slo_us,alone_s\n0.5,1,0,8,1500,5e-8\n0.9,0,0,8,,9e-9\n";
        assert_eq!(all(&mut source(ns).unwrap()), all(&mut source(ms).unwrap()));
        let none = source(b"arrival_ms,app,model,size,slo_ms\n").unwrap_err().to_string();
        assert!(none.contains("`alone_ns`"), "{none}");
        let two = source(b"arrival_ms,arrival_s,app,model,size,slo_ms,alone_ms\n").unwrap_err();
        assert!(two.to_string().contains("`arrival` in several units"), "{two}");
    }

    /// A clock that began in 1970 would make a run of decades with all requests at its end.
    #[test]
    fn times_since_1970_are_refused_and_rows_of_them_begin_at_zero() {
        let at = 1_700_000_000_000_000_000_u64;
        let text = format!(
            "arrival_ns,app,model,size,slo_ns,alone_ns\n{at},0,0,1,,5\n{},0,0,1,,5\n",
            at + 7
        );
        let why = source(text.as_bytes()).unwrap_err().to_string();
        assert!(
            why.contains("line 2: column `arrival_ns`") && why.contains("`from_row = 0`"),
            "{why}"
        );
        let input = Input::from_bytes("w.csv", text.into_bytes()).unwrap();
        let slice = Slice::Rows { from: 0, to: u64::MAX };
        let mut rows = CsvSource::open_for(input, slice, vec![ModelId(0)]).unwrap();
        let times: Vec<u64> = all(&mut *rows).iter().map(|a| a.at.ns()).collect();
        assert_eq!(times, [0, 7]);
    }

    #[test]
    fn a_damaged_line_ends_the_source_and_is_named() {
        let head = "arrival_ns,app,model,size,slo_ns,alone_ns\n10,0,0,1,,5\n";
        for (line, place) in [
            ("9,0,0,1,,5", "line 3: column `arrival_ns`: found `9`; allowed: 10 or later"),
            ("11,0,0,0,,5", "line 3: column `size`"),
            ("11,0,0,1,,0", "line 3: column `alone_ns`"),
            ("11,0,0,1,-1,5", "line 3: column `slo_ns`: found `-1`"),
            ("11,4294967296,0,1,,5", "line 3: column `app`"),
            ("11,0,0,1,,", "line 3: column `alone_ns`"),
            ("11,0,0,1", "line 3: found 4 fields"),
        ] {
            let mut source = source(format!("{head}{line}\n").as_bytes()).unwrap();
            assert_eq!(all(&mut source).len(), 1);
            let why = source.failure().unwrap();
            assert!(why.contains("w.csv") && why.contains(place), "{why}");
        }
        assert!(source(b"arrival_ns,app,model,size,slo_ns,alone_ns\n").is_err());
        assert!(source(b"arrival_ns,app,model,size,alone_ns\n1,1,1,1,1\n").is_err());
    }

    #[test]
    fn a_closed_loop_or_a_failed_source_is_not_recorded() {
        let clients = Clients::new(1, Think::Constant(Span::ZERO));
        let mut closed = ClosedLoop::new(clients, vec![app(0, 1.0, 1.0)], 1).unwrap();
        assert!(record(&mut closed, vec![], "w.csv").unwrap_err().to_string().contains("closed"));
        let text = b"arrival_ns,app,model,size,slo_ns,alone_ns\n10,0,0,1,,5\n9,0,0,1,,5\n";
        let mut failed = source(text).unwrap();
        let why = record(&mut failed, vec![], "out.csv").unwrap_err().to_string();
        assert!(why.contains("out.csv") && why.contains("w.csv: line 3"), "{why}");
    }
}
