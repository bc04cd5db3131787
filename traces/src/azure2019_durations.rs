//! Azure Functions 2019, durations: how long each function's executions took over a whole day.
//!
//! It is not a law to draw from, and `Count` need not equal the calls in the invocations file:
//! the two were sampled apart. All times are in milliseconds.

use crate::azure2019::{KeyColumns, Seen};
use crate::error::TraceError;
use crate::open::Input;
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

    /// The line last read, counted from 1.
    pub fn line(&self) -> u64 {
        self.table.line()
    }

    /// The next function; `None` at the end.
    ///
    /// # Errors
    /// When the line is damaged.
    pub fn next_row(&mut self) -> Result<Option<DurationRow>, TraceError> {
        if !self.table.advance()? {
            return Ok(None);
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

    /// All functions of the file.
    ///
    /// # Errors
    /// When a line is damaged or a function is there twice.
    pub fn read_all(mut self) -> Result<Vec<DurationRow>, TraceError> {
        let (mut rows, mut seen) = (Vec::new(), Seen::default());
        while let Some(row) = self.next_row()? {
            let key = [row.owner.clone(), row.app.clone(), row.function.clone()];
            seen.add(key, self.table.file(), self.table.line())?;
            rows.push(row);
        }
        Ok(rows)
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
        DurationsReader::open(Input::from_bytes("dur.csv", text.as_bytes().to_vec())?)?.read_all()
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
        for bad in ["-1", "NaN", "inf", "", "1e300"] {
            let text =
                read(&FILE.replace(",6664.0,", &format!(",{bad},"))).unwrap_err().to_string();
            assert!(text.starts_with("dur.csv: line 2: column `Maximum`"), "{text}");
        }
        assert!(read(&FILE.replace("Average_99", "Average_x")).is_err());
        assert!(read(&FILE.replace("Count", "count")).unwrap_err().to_string().contains("`Count`"));
        let twice = format!("{FILE}f,o,a,3,1,0,1,0,1\n");
        assert!(read(&twice).unwrap_err().to_string().contains("already given on line 2"));
    }
}
