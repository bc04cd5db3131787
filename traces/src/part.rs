//! A part of a list of arrivals, by time or by rows, moved to the start of the run.

use crate::error::TraceError;
use orrery_sim::request::{Arrival, Source};
use orrery_sim::time::{Span, Time};

/// Which part of a list to read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Slice {
    /// All of it.
    #[default]
    All,
    /// Arrivals from `from` to before `to`.
    Time {
        /// The first instant read.
        from: Time,
        /// The first instant no longer read.
        to: Time,
    },
    /// Arrivals numbered from `from` to before `to`, counted from 0.
    Rows {
        /// The first arrival read.
        from: u64,
        /// The first arrival no longer read.
        to: u64,
    },
}

impl Slice {
    /// Whether the arrival of this number, at this time, is before, in or after the part.
    fn place(self, row: u64, at: Time) -> std::cmp::Ordering {
        use std::cmp::Ordering::{Equal, Greater, Less};
        let (before, after) = match self {
            Slice::All => (false, false),
            Slice::Time { from, to } => (at < from, at >= to),
            Slice::Rows { from, to } => (row < from, row >= to),
        };
        if before {
            Less
        } else if after {
            Greater
        } else {
            Equal
        }
    }

    /// Whether the arrival of this number, at this time, is of the part.
    pub fn has(self, row: u64, at: Time) -> bool {
        self.place(row, at).is_eq()
    }

    /// What becomes time zero: the first instant of a part by time, the first arrival of one by rows.
    pub fn origin(self, first: Time) -> Time {
        match self {
            Slice::All => Time::ZERO,
            Slice::Time { from, .. } => from,
            Slice::Rows { .. } => first,
        }
    }

    /// The error of a part without arrivals, of so many.
    pub fn nothing(self, file: &str, rows: u64, last: Time) -> TraceError {
        TraceError::Selection {
            file: file.into(),
            key: "slice",
            found: self.to_string(),
            allowed: format!("a part that has arrivals; {rows} were read, the last at {last}"),
            remedy: "choose another part",
        }
    }
}

impl std::fmt::Display for Slice {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Slice::All => f.write_str("all"),
            Slice::Time { from, to: Time::NEVER } => write!(f, "from {from}"),
            Slice::Time { from, to } => write!(f, "from {from} to {to}"),
            Slice::Rows { from, to: u64::MAX } => write!(f, "from row {from}"),
            Slice::Rows { from, to } => write!(f, "rows {from} to {to}"),
        }
    }
}

/// A part of a list as a source.
#[derive(Debug)]
pub struct Part<S> {
    inner: S,
    slice: Slice,
    /// Arrivals of the list that were read.
    rows: u64,
    origin: Span,
    next: Option<Arrival>,
    /// Whether the part has ended before its list: what is wrong with the rest is of no concern.
    is_over: bool,
}

impl<S: Source> Part<S> {
    /// Reads a list up to the first arrival of the part.
    ///
    /// # Errors
    /// When the part has no arrival. A list that is damaged before it fails as a source does.
    pub fn of(inner: S, slice: Slice, file: &str) -> Result<Part<S>, TraceError> {
        let (next, is_over) = (None, false);
        let mut part = Part { inner, slice, rows: 0, origin: Span::ZERO, next, is_over };
        let last = part.fill();
        if part.next.is_none() && part.failure().is_none() {
            return Err(slice.nothing(file, part.rows, last));
        }
        part.origin = part.next.map_or(Span::ZERO, |first| slice.origin(first.at) - Time::ZERO);
        Ok(part)
    }

    /// Takes the next arrival of the part; the time of the last arrival that was read.
    fn fill(&mut self) -> Time {
        let mut last = Time::ZERO;
        self.next = None;
        while !self.is_over && self.next.is_none() {
            let Some(arrival) = self.inner.pop() else { break };
            last = arrival.at;
            let place = self.slice.place(self.rows, last);
            self.rows += 1;
            self.next = Some(arrival).filter(|_| place.is_eq());
            self.is_over = place.is_gt();
        }
        last
    }
}

impl<S: Source> Source for Part<S> {
    fn peek(&mut self) -> Option<Time> {
        self.next.map(|a| a.at.minus(self.origin))
    }

    fn pop(&mut self) -> Option<Arrival> {
        let arrival = self.next.take()?;
        self.fill();
        Some(Arrival { at: arrival.at.minus(self.origin), ..arrival })
    }

    fn failure(&mut self) -> Option<String> {
        if self.is_over { None } else { self.inner.failure() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::tests::{all, app, open};

    fn list() -> impl Source {
        open(1, vec![app(0, 1.0, 10.0), app(3, 2.0, 50.0)], 500)
    }

    #[test]
    fn a_part_is_the_arrivals_of_its_instants_or_its_rows() {
        let part = |slice| Part::of(list(), slice, "w.csv");
        let whole = all(&mut list());
        assert_eq!(all(&mut part(Slice::All).unwrap()), whole);
        let (from, to) = (whole[10].at, whole[20].at);
        for slice in [Slice::Rows { from: 10, to: 20 }, Slice::Time { from, to }] {
            let moved = all(&mut part(slice).unwrap());
            assert_eq!(moved.len(), 10);
            let is_same = |(m, w): (&Arrival, &Arrival)| {
                Arrival { at: w.at.minus(from - Time::ZERO), ..*w } == *m
            };
            assert!(moved.iter().zip(&whole[10..]).all(is_same), "{slice:?}");
        }
        let before = Time::from_ns(from.ns() - 1);
        let early = all(&mut part(Slice::Time { from: before, to }).unwrap());
        assert_eq!(early[0].at, Time::from_ns(1));
        let far = Slice::Time { from: Time::from_ns(u64::MAX - 1), to: Time::NEVER };
        assert!(part(far).err().unwrap().to_string().contains("500 were read"));
    }
}
