//! Samples from a file's column: measured times, or token lengths, as laws draw from them.
//!
//! It fits nothing: a sample is drawn with the frequency it has in the file.

use crate::error::TraceError;
use crate::open::Input;
use crate::table::Table;
use orrery_sim::rng::Stream;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The unit of a column of times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Nanoseconds.
    Ns,
    /// Microseconds.
    Us,
    /// Milliseconds.
    Ms,
    /// Seconds.
    S,
}

impl Unit {
    /// Nanoseconds in one of the unit.
    pub fn ns(self) -> f64 {
        match self {
            Unit::Ns => 1.0,
            Unit::Us => 1e3,
            Unit::Ms => 1e6,
            Unit::S => 1e9,
        }
    }
}

/// A set of whole numbers with how often each occurs, in rising order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Histogram {
    values: Arc<[u64]>,
    /// How many samples are at most the value beside it.
    up_to: Arc<[u64]>,
}

impl Histogram {
    /// From values, each with its count; `None` when all counts are zero or overflow.
    pub fn new(counts: &BTreeMap<u64, u64>) -> Option<Histogram> {
        let (mut values, mut up_to, mut sum) = (Vec::new(), Vec::new(), 0u64);
        for (&value, &count) in counts.iter().filter(|(_, count)| **count > 0) {
            sum = sum.checked_add(count)?;
            values.push(value);
            up_to.push(sum);
        }
        (sum > 0).then(|| Histogram { values: values.into(), up_to: up_to.into() })
    }

    /// Reads whole numbers from `column`; with `count_column`, each line counts that often.
    ///
    /// # Errors
    /// When a column is missing, a field is no whole number, or there is no sample.
    pub fn read(
        input: Input,
        column: &str,
        count_column: Option<&str>,
    ) -> Result<Histogram, TraceError> {
        let mut table = Table::open(input)?.alone();
        let value = table.column(column)?;
        let count = count_column.map(|name| table.column(name)).transpose()?;
        Self::collect(&mut table, count, |table| table.whole(value, u64::from(u32::MAX)))
    }

    /// Reads times from `column` in `unit`, rounded to nanoseconds.
    ///
    /// # Errors
    /// When the column is missing, a field is no number from 0 to a year, or there is no sample.
    pub fn read_times(input: Input, column: &str, unit: Unit) -> Result<Histogram, TraceError> {
        const YEAR_NS: f64 = 366.0 * 86_400e9;
        let mut table = Table::open(input)?.alone();
        let value = table.column(column)?;
        Self::collect(&mut table, None, |table| {
            Ok((table.number(value, YEAR_NS / unit.ns())? * unit.ns() + 0.5) as u64)
        })
    }

    fn collect(
        table: &mut Table,
        count: Option<usize>,
        value: impl Fn(&Table) -> Result<u64, TraceError>,
    ) -> Result<Histogram, TraceError> {
        let mut counts = BTreeMap::new();
        while table.advance()? {
            let times = match count {
                Some(column) => table.whole(column, u64::from(u32::MAX))?,
                None => 1,
            };
            *counts.entry(value(table)?).or_insert(0u64) += times;
        }
        Histogram::new(&counts)
            .ok_or_else(|| table.ended("at least one sample", "check that the file is whole"))
    }

    /// How many samples there are: at least 1.
    pub fn count(&self) -> u64 {
        *self.up_to.last().expect("a histogram has a sample")
    }

    /// A sample drawn at random.
    pub fn draw(&self, stream: &mut Stream) -> u64 {
        self.at(stream.below(self.count()))
    }

    /// The smallest value that at least the share `q` of the samples does not exceed.
    pub fn quantile(&self, q: f64) -> u64 {
        let n = self.count();
        let rank = (q * n as f64 - 1e-9).ceil().clamp(1.0, n as f64) as u64;
        self.at(rank - 1)
    }

    /// The mean of `f` over the samples.
    pub fn mean_of(&self, f: impl Fn(u64) -> f64) -> f64 {
        let mut before = 0;
        let mut sum = 0.0;
        for (&value, &up_to) in self.values.iter().zip(self.up_to.iter()) {
            sum += f(value) * (up_to - before) as f64;
            before = up_to;
        }
        sum / self.count() as f64
    }

    /// The share of the samples whose value satisfies `test`.
    pub fn share_of(&self, test: impl Fn(u64) -> bool) -> f64 {
        self.mean_of(|value| if test(value) { 1.0 } else { 0.0 })
    }

    /// The sample of that rank, counted from 0.
    fn at(&self, rank: u64) -> u64 {
        self.values[self.up_to.partition_point(|&up_to| up_to <= rank)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn input(text: &str) -> Input {
        Input::from_bytes("s.csv", text.as_bytes().to_vec()).unwrap()
    }

    #[test]
    fn a_histogram_file_and_a_list_of_the_same_samples_are_equal() {
        let list = Histogram::read(input("n\n3\n1\n3\n"), "n", None).unwrap();
        let counted = Histogram::read(input("n,c\n1,1\n2,0\n3,2\n"), "n", Some("c")).unwrap();
        assert_eq!(list, counted);
        assert_eq!((list.count(), list.quantile(0.0), list.quantile(1.0)), (3, 1, 3));
        assert_eq!((list.quantile(1.0 / 3.0), list.quantile(0.34)), (1, 3));
        assert_eq!(list.mean_of(|x| x as f64), 7.0 / 3.0);
    }

    #[test]
    fn samples_are_drawn_with_their_frequency() {
        let h = Histogram::read(input("n,c\n1,1\n3,3\n"), "n", Some("c")).unwrap();
        let mut stream = Stream::named(1, "test", 0);
        let threes = (0..40_000).filter(|_| h.draw(&mut stream) == 3).count();
        assert!((29_600..30_400).contains(&threes), "{threes}");
    }

    #[test]
    fn times_are_scaled_to_nanoseconds() {
        let h = Histogram::read_times(input("ms\n1.5\n0.0000004\n"), "ms", Unit::Ms).unwrap();
        assert_eq!((h.quantile(0.0), h.quantile(1.0)), (0, 1_500_000));
    }

    #[test]
    fn files_without_samples_or_with_other_text_are_errors() {
        assert!(
            Histogram::read(input("n\n"), "n", None).unwrap_err().to_string().contains("s.csv")
        );
        assert!(Histogram::read(input("n,c\n1,0\n"), "n", Some("c")).is_err());
        assert!(Histogram::read(input("n\n-1\n"), "n", None).is_err());
        assert!(Histogram::read(input("n\n1\n"), "m", None).is_err());
        assert!(Histogram::read_times(input("n\ninf\n"), "n", Unit::S).is_err());
    }
}
