//! Columns by what they are called in many places: `batch_size`, `Batch`, `mean latency (ms)`, `p99_us`.
//!
//! Case, blanks and signs do not matter, nor does the order of words; a unit at the end of a time's name is
//! understood. What is near but not equal is offered, never taken.

use crate::error::{TraceError, shorten};
use crate::table::Table;
use orrery_sim::ordered::sort_by;

/// The units of times, by what they are called.
const UNITS: [(&[&str], f64); 4] = [
    (&["ns", "nsec", "nanoseconds"], 1.0),
    (&["us", "usec", "µs", "microseconds"], 1e3),
    (&["ms", "msec", "milliseconds"], 1e6),
    (&["s", "sec", "secs", "seconds"], 1e9),
];

/// A column that a reader asks for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Wanted {
    /// Its names, the published one first. The unit of a time is left out.
    pub names: &'static [&'static str],
    /// What it becomes, in a few words.
    pub becomes: &'static str,
    /// Whether the file is of no use without it.
    pub needed: bool,
    /// Of a time: the nanoseconds of its unit where its name says none; 0 where it must say one.
    pub time_ns: Option<f64>,
}

impl Wanted {
    /// A column of words or plain numbers.
    pub const fn new(names: &'static [&'static str], becomes: &'static str) -> Wanted {
        Wanted { names, becomes, needed: false, time_ns: None }
    }

    /// A time, in a unit of so many nanoseconds where its name says none.
    pub const fn time(
        names: &'static [&'static str],
        unit_ns: f64,
        becomes: &'static str,
    ) -> Wanted {
        Wanted { time_ns: Some(unit_ns), ..Wanted::new(names, becomes) }
    }

    /// The same, needed.
    pub const fn needed(self) -> Wanted {
        Wanted { needed: true, ..self }
    }

    /// Whether a header's name is this column's, and the nanoseconds of its unit.
    fn is(&self, header: &str) -> Option<f64> {
        // A percentage is no time.
        if self.time_ns.is_some() && header.contains('%') {
            return None;
        }
        let mut words = words(header);
        let mut unit_ns = self.time_ns.unwrap_or(1.0);
        if self.time_ns.is_some()
            && words.len() > 1
            && let Some(said) = unit(&words[words.len() - 1])
        {
            unit_ns = said;
            words.pop();
        }
        sort_by(&mut words, Ord::cmp);
        let same = |name: &str| {
            let mut own = self::words(name);
            sort_by(&mut own, Ord::cmp);
            own == words
        };
        (unit_ns > 0.0 && self.names.iter().any(|name| same(name))).then_some(unit_ns)
    }
}

/// A column that was found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Found {
    /// Where it is.
    pub at: usize,
    /// The nanoseconds of its unit; 1 of what is no time.
    pub unit_ns: f64,
}

/// The words of a name in small letters: `Latency(ms)` and `latencyMs` are `latency` and `ms`.
fn words(name: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut before = ' ';
    for c in name.chars() {
        let begins = !before.is_alphanumeric() || (before.is_lowercase() && c.is_uppercase());
        if c.is_alphanumeric() {
            if begins {
                words.push(String::new());
            }
            words.last_mut().expect("one that was begun").extend(c.to_lowercase());
        }
        before = c;
    }
    words
}

/// The nanoseconds of a unit's name.
pub fn unit(word: &str) -> Option<f64> {
    UNITS.iter().find(|(names, _)| names.contains(&word)).map(|(_, ns)| *ns)
}

/// The nanoseconds of the unit that a column's name ends in.
pub fn unit_of(name: &str) -> Option<f64> {
    let words = words(name);
    if words.len() > 1 { unit(words.last()?) } else { None }
}

/// The column of a header, where it has it.
pub fn find(header: &[String], wanted: &Wanted) -> Option<Found> {
    let found = header.iter().enumerate();
    let mut found = found.filter_map(|(at, name)| Some(Found { at, unit_ns: wanted.is(name)? }));
    found.next()
}

/// The columns of a table, each where it is there.
///
/// # Errors
/// When a needed one is missing: the nearest of the header's is named.
pub fn found(table: &Table, wanted: &[Wanted]) -> Result<Vec<Option<Found>>, TraceError> {
    let each = |w: &Wanted| match find(table.header(), w) {
        None if w.needed => Err(missing(table, w)),
        found => Ok(found),
    };
    wanted.iter().map(each).collect()
}

/// The error of a column that is not there.
pub fn missing(table: &Table, wanted: &Wanted) -> TraceError {
    let unit = match wanted.time_ns {
        Some(0.0) => "; its name ends in its unit: ns, us, ms or s",
        _ => "",
    };
    let joined = |name: &str| words(name).concat();
    let distance = |name: &String| {
        let each = wanted.names.iter().map(|own| strsim::levenshtein(&joined(own), &joined(name)));
        (each.min().unwrap_or(usize::MAX), name.clone())
    };
    let near = table.header().iter().map(distance).min();
    let limit = wanted.names[0].len().div_ceil(3).max(2);
    let near = near.filter(|(d, name)| *d <= limit && !name.is_empty());
    let near = near
        .map_or(String::new(), |(_, name)| format!(" (is `{}` meant? rename it)", shorten(&name)));
    TraceError::MissingColumn {
        file: table.file().into(),
        line: table.header_line(),
        column: wanted.names.join("` or `"),
        found: format!("`{}`{near}{unit}", shorten(&table.header().join(","))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Input;

    const LATENCY: Wanted = Wanted::time(&["latency", "mean latency"], 1e3, "the latency").needed();
    const BATCH: Wanted = Wanted::new(&["batch", "batch size"], "the batch's size");

    fn header(text: &str) -> Vec<String> {
        text.split(',').map(str::to_string).collect()
    }

    #[test]
    fn spelling_and_order_do_not_matter_and_units_are_read() {
        let at = |name: &str, wanted: &Wanted| find(&header(name), wanted).map(|f| f.unit_ns);
        for (name, unit_ns) in [
            ("latency", 1e3),
            ("latencyMs", 1e6),
            ("Mean Latency (ms)", 1e6),
            ("latency_mean_s", 1e9),
            ("mean-latency [us]", 1e3),
            ("latency_µs", 1e3),
        ] {
            assert_eq!(at(name, &LATENCY), Some(unit_ns), "{name}");
        }
        for name in ["latencies", "p99 latency", "ms", "latency (mins)", "latency (%)", ""] {
            assert_eq!(at(name, &LATENCY), None, "{name}");
        }
        for name in ["batch_size", "Batch", "batchSize", "size batch"] {
            assert!(at(name, &BATCH).is_some(), "{name}");
        }
    }

    #[test]
    fn a_missing_column_is_named_with_what_is_near() {
        let table = |text: &str| {
            Table::open(Input::from_bytes("t.csv", text.as_bytes().to_vec()).unwrap()).unwrap()
        };
        let error = found(&table("a,latenci\n"), &[LATENCY]).unwrap_err().to_string();
        assert!(error.contains("t.csv: line 1: column `latency"), "{error}");
        assert!(error.contains("is `latenci` meant?"), "{error}");
        let error = found(&table("a,b\n"), &[LATENCY]).unwrap_err().to_string();
        assert!(!error.contains("meant?"), "{error}");
        assert_eq!(found(&table("a,latency\n"), &[BATCH, LATENCY]).unwrap()[0], None);
    }
}
