//! Azure Functions 2019, durations: how long each function's executions took over a whole day.
//!
//! It is not a law to draw from, and `Count` need not equal the calls in the invocations file:
//! the two were sampled apart. All times are in milliseconds.

use crate::azure2019::{KeyColumns, Seen};
use crate::error::TraceError;
use crate::open::Input;
use crate::quirks::{Met, Quirk};
use crate::table::Table;

/// The longest duration accepted, in milliseconds: a year.
const MS_MAX: f64 = 366.0 * 86_400e3;
/// What precedes the percentage in a percentile column's name.
const PERCENTILE: &str = "percentile_Average_";

/// One function's durations.
#[derive(Clone, Debug, PartialEq)]
pub struct DurationRow {
    /// `HashOwner`; empty where the file has no such column.
    pub owner: String,
    /// `HashApp`; empty where the file has no such column.
    pub app: String,
    /// `HashFunction`.
    pub function: String,
    /// The mean, in milliseconds.
    pub average_ms: f64,
    /// How many executions there were.
    pub count: u64,
    /// The shortest, in milliseconds.
    pub minimum_ms: f64,
    /// The longest, in milliseconds.
    pub maximum_ms: f64,
    /// (percentage, milliseconds) in the order of the header, such as `(99.0, 27.0)`.
    pub percentiles_ms: Vec<(f64, f64)>,
}

impl DurationRow {
    /// A percentile that the file has, in milliseconds.
    pub fn percentile_ms(&self, percentage: f64) -> Option<f64> {
        self.percentiles_ms.iter().find(|(p, _)| *p == percentage).map(|&(_, ms)| ms)
    }

    /// Adds another line of the same function: means and percentiles are weighted by their counts.
    fn add(&mut self, other: &DurationRow) {
        let count = self.count.saturating_add(other.count);
        let share = if count == 0 { 0.5 } else { other.count as f64 / count as f64 };
        let weighted = |a: &mut f64, b: f64| *a += (b - *a) * share;
        weighted(&mut self.average_ms, other.average_ms);
        for (own, other) in self.percentiles_ms.iter_mut().zip(&other.percentiles_ms) {
            weighted(&mut own.1, other.1);
        }
        self.minimum_ms = self.minimum_ms.min(other.minimum_ms);
        self.maximum_ms = self.maximum_ms.max(other.maximum_ms);
        self.count = count;
    }
}

/// Reads a durations file one function at a time.
#[derive(Debug)]
pub struct DurationsReader {
    table: Table,
    key: KeyColumns,
    average: usize,
    count: usize,
    minimum: usize,
    maximum: usize,
    percentiles: Vec<(f64, usize)>,
}

impl DurationsReader {
    /// Reads the header.
    ///
    /// # Errors
    /// When columns are missing or a percentile column has no percentage.
    pub fn open(input: Input) -> Result<DurationsReader, TraceError> {
        Self::from_table(Table::open(input)?)
    }

    pub(crate) fn from_table(table: Table) -> Result<DurationsReader, TraceError> {
        Ok(DurationsReader {
            key: KeyColumns::of(&table)?,
            average: table.column("Average")?,
            count: table.column("Count")?,
            minimum: table.column("Minimum")?,
            maximum: table.column("Maximum")?,
            percentiles: percentile_columns(&table)?,
            table,
        })
    }

    /// What was odd about the file so far.
    pub fn met(&self) -> Met {
        self.table.met()
    }

    /// The next line that has durations; `None` at the end. The published day 1 has lines with negative ones.
    ///
    /// # Errors
    /// When the line is damaged.
    pub fn next_row(&mut self) -> Result<Option<DurationRow>, TraceError> {
        let mut quirk = Some(Quirk::NoDuration);
        while quirk.is_some() {
            if !self.table.advance()? {
                return Ok(None);
            }
            let times = self.percentiles.iter().map(|p| p.1);
            let mut times = times.chain([self.average, self.minimum, self.maximum]);
            let text = |column| self.table.text(column).trim();
            let is_negative =
                |column| text(column).parse::<f64>().is_ok_and(|ms| (-MS_MAX..0.0).contains(&ms));
            quirk = match text(self.average) {
                "" | "nan" | "NaN" => Some(Quirk::NoDuration),
                _ => times.any(is_negative).then_some(Quirk::NegativeDuration),
            };
            if let Some(quirk) = quirk {
                self.table.meet(quirk, || format!("on line {}", self.table.line()));
            }
        }
        let [owner, app, function] = self.key.read(&self.table)?;
        let ms = |column| self.table.number(column, MS_MAX);
        let percentiles = self.percentiles.iter().map(|&(p, column)| Ok((p, ms(column)?)));
        Ok(Some(DurationRow {
            average_ms: ms(self.average)?,
            count: self.table.whole(self.count, u64::MAX)?,
            minimum_ms: ms(self.minimum)?,
            maximum_ms: ms(self.maximum)?,
            percentiles_ms: percentiles.collect::<Result<_, TraceError>>()?,
            owner,
            app,
            function,
        }))
    }

    /// All functions of the file, each once.
    ///
    /// # Errors
    /// When a line is damaged.
    pub fn read_all(mut self) -> Result<(Vec<DurationRow>, Met), TraceError> {
        let (mut rows, mut seen) = (Vec::<DurationRow>::new(), Seen::default());
        while let Some(row) = self.next_row()? {
            let key = [row.owner.clone(), row.app.clone(), row.function.clone()];
            match rows.get_mut(seen.number(key)) {
                None => rows.push(row),
                Some(first) => {
                    let line = self.table.line();
                    let name = || format!("`{}` on line {line}", row.function);
                    self.table.meet(Quirk::FunctionTwice, name);
                    first.add(&row);
                }
            }
        }
        Ok((rows, self.met()))
    }
}

/// The percentile columns: (percentage, column).
fn percentile_columns(table: &Table) -> Result<Vec<(f64, usize)>, TraceError> {
    let mut found = Vec::new();
    for (column, name) in table.header().iter().enumerate() {
        let Some(digits) = name.strip_prefix(PERCENTILE) else { continue };
        match digits.parse::<f64>() {
            Ok(p) if (0.0..=100.0).contains(&p) => found.push((p, column)),
            _ => {
                let allowed = "percentile_Average_P with P from 0 to 100";
                return Err(table.bad_header(format!("`{name}`"), allowed, "correct the name"));
            }
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "HashFunction,HashOwner,HashApp,Average,Count,Minimum,Maximum,\
        percentile_Average_0,percentile_Average_99\nf,o,a,3,137430,0.0,6664.0,0,27\n";

    fn read(text: &str) -> Result<Vec<DurationRow>, TraceError> {
        DurationsReader::open(Input::from_bytes("dur.csv", text.as_bytes().to_vec())?)?
            .read_all()
            .map(|read| read.0)
    }

    #[test]
    fn records_are_read_by_name() {
        let rows = read(FILE).unwrap();
        let row = &rows[0];
        assert_eq!((row.owner.as_str(), row.function.as_str()), ("o", "f"));
        assert_eq!((row.average_ms, row.count, row.maximum_ms), (3.0, 137_430, 6664.0));
        assert_eq!((row.percentile_ms(99.0), row.percentile_ms(50.0)), (Some(27.0), None));
    }

    #[test]
    fn damage_is_an_error_with_its_place() {
        for bad in ["-inf", "NaN", "inf", "", "1e300"] {
            let text =
                read(&FILE.replace(",6664.0,", &format!(",{bad},"))).unwrap_err().to_string();
            assert!(text.starts_with("dur.csv: line 2: column `Maximum`"), "{text}");
        }
        assert!(read(&FILE.replace("Average_99", "Average_x")).is_err());
        assert!(read(&FILE.replace("Count", "count")).unwrap_err().to_string().contains("`Count`"));
    }

    #[test]
    fn published_damage_is_left_out_or_added_and_counted() {
        let odd =
            "g,o,a,-41692,30,0,900,-80000,900\nh,o,a,,30,0,900,0,900\nf,o,a,12,137430.0,2,1,1,1\n";
        let input = Input::from_bytes("dur.csv", format!("{FILE}{odd}").into_bytes()).unwrap();
        let (rows, met) = DurationsReader::open(input).unwrap().read_all().unwrap();
        assert_eq!(rows.len(), 1);
        assert_eq!((rows[0].average_ms, rows[0].count), (7.5, 274_860));
        assert_eq!((rows[0].minimum_ms, rows[0].maximum_ms), (0.0, 6664.0));
        assert_eq!(rows[0].percentile_ms(99.0), Some(14.0));
        for quirk in
            [Quirk::FunctionTwice, Quirk::NegativeDuration, Quirk::NoDuration, Quirk::Whole]
        {
            assert_eq!(met.count(quirk), 1, "{quirk:?}");
        }
    }
}
