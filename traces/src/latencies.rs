//! Measured latencies by batch size: a CSV with a row for each measurement.
//!
//! Columns, by name: `batch`, `batch_size` or `units`; `latency`, `duration` or `device` with a unit, such as
//! `latency_us` or `mean latency (ms)`; `model` and `gpu`, where a file has several. So the `actions.csv` of a
//! replay is such a file, and so is a published curve. Other columns are not read.

use crate::columns::{Wanted, found};
use crate::error::TraceError;
use crate::open::Input;
use crate::table::Table;
use orrery_sim::time::Span;
use std::collections::BTreeMap;

/// What is asked of a file.
pub const COLUMNS: [Wanted; 4] = [
    Wanted::new(&["batch", "batch size", "units"], "the size of a batch").needed(),
    Wanted::time(
        &["latency", "mean latency", "avg latency", "average latency", "duration", "device"],
        0.0,
        "how long a batch takes",
    )
    .needed(),
    Wanted::new(&["model"], "the model, where a file has several"),
    Wanted::new(&["gpu"], "the GPU, where a file has several"),
];

/// The longest that one batch takes: eleven days.
const NS_MAX: f64 = 1e15;
/// The largest batch.
const SIZE_MAX: u64 = 1 << 20;

/// The measurements of one model: by batch size, in the file's order.
///
/// ```
/// use orrery_traces::{Input, MeasuredLatencies};
///
/// let text = "model,gpu,batch,latency_ms\nbert,t4,1,5.0\nbert,a100,1,2.0\nbert,a100,4,3.5\nvit,a100,1,1.0\n";
/// let input = || Input::from_bytes("m.csv", text.as_bytes()).unwrap();
/// let read = MeasuredLatencies::read(input(), "bert", Some("a100")).unwrap();
/// let ms: Vec<(u32, f64)> = read.rows().map(|(size, all)| (size, all[0].as_ms_f64())).collect();
/// assert_eq!(ms, [(1, 2.0), (4, 3.5)]);
/// let error = MeasuredLatencies::read(input(), "bert", None).unwrap_err();
/// assert!(error.to_string().contains("`t4`, `a100`"), "{error}");
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MeasuredLatencies {
    by_size: BTreeMap<u32, Vec<Span>>,
}

impl MeasuredLatencies {
    /// Reads the rows of a model, on a GPU where the file has a column `gpu`. A file without a column
    /// `model` has one model, whatever its name.
    ///
    /// # Errors
    /// When a column is missing, a field is no number, or no row is of the model and the GPU.
    pub fn read(
        input: Input,
        model: &str,
        gpu: Option<&str>,
    ) -> Result<MeasuredLatencies, TraceError> {
        let mut table = Table::open(input)?.alone();
        let columns = found(&table, &COLUMNS)?;
        let [Some(size), Some(time), model_at, gpu_at] = columns[..] else {
            unreachable!("needed columns were found")
        };
        let (size_at, time_at, unit) = (size.at, time.at, time.unit_ns);
        let (model_at, gpu_at) = (model_at.map(|f| f.at), gpu_at.map(|f| f.at));
        let mut read = MeasuredLatencies::default();
        let (mut models, mut gpus): (Vec<String>, Vec<String>) = (Vec::new(), Vec::new());
        while table.advance()? {
            if let Some(at) = model_at
                && table.text(at) != model
            {
                note(&mut models, table.text(at));
                continue;
            }
            if let Some(at) = gpu_at {
                note(&mut gpus, table.text(at));
                if gpu.is_some_and(|gpu| table.text(at) != gpu) {
                    continue;
                }
            }
            let size = table.whole(size_at, SIZE_MAX)? as u32;
            if size == 0 {
                return Err(table.bad_field(size_at, format!("a size from 1 to {SIZE_MAX}")));
            }
            let ns = table.number(time_at, NS_MAX / unit)? * unit;
            read.by_size.entry(size).or_default().push(Span::from_ns((ns + 0.5) as u64));
        }
        // Rows of two GPUs are not one profile.
        if gpu.is_none() && gpus.len() > 1 {
            let expected = format!("rows of one GPU; `{model}` has those of {}", listed(&gpus));
            return Err(table.ended(expected, "name one with `gpu`"));
        }
        if read.by_size.is_empty() {
            let (what, all) = if gpus.is_empty() { ("model", &models) } else { ("gpu", &gpus) };
            let wanted = if gpus.is_empty() { model } else { gpu.unwrap_or_default() };
            let expected = format!("a row whose {what} is `{wanted}`; there are {}", listed(all));
            return Err(table.ended(expected, "name one of these"));
        }
        Ok(read)
    }

    /// The models that a file names, in its order, and whether it tells GPUs apart.
    ///
    /// # Errors
    /// When a column is missing, or the file is damaged.
    pub fn names(input: Input) -> Result<(Vec<String>, bool), TraceError> {
        let mut table = Table::open(input)?.alone();
        let [_, _, model, gpu] = found(&table, &COLUMNS)?[..] else {
            unreachable!("a place for each column")
        };
        let mut models = Vec::new();
        while table.advance()? {
            model.iter().for_each(|column| note(&mut models, table.text(column.at)));
        }
        Ok((models, gpu.is_some()))
    }

    /// Measurements that are known from elsewhere, by size.
    pub fn of_rows(rows: impl IntoIterator<Item = (u32, Vec<Span>)>) -> MeasuredLatencies {
        MeasuredLatencies { by_size: rows.into_iter().collect() }
    }

    /// Each size with its measurements, in increasing size.
    pub fn rows(&self) -> impl Iterator<Item = (u32, &[Span])> {
        self.by_size.iter().map(|(size, all)| (*size, all.as_slice()))
    }

    /// Whether each size was measured once: a curve, and not a distribution.
    pub fn is_curve(&self) -> bool {
        self.by_size.values().all(|all| all.len() == 1)
    }

    /// What stands for a size: the measurements of it, or of the next larger size; beyond the largest,
    /// those of the largest. None where nothing was measured.
    pub fn of_size(&self, size: u32) -> Option<(u32, &[Span])> {
        let larger = self.by_size.range(size..).next();
        let row = larger.or_else(|| self.by_size.last_key_value())?;
        Some((*row.0, row.1.as_slice()))
    }
}

fn note(names: &mut Vec<String>, name: &str) {
    if !names.iter().any(|n| n == name) {
        names.push(name.to_string());
    }
}

fn listed(names: &[String]) -> String {
    let quoted: Vec<String> = names.iter().map(|n| format!("`{n}`")).collect();
    if quoted.is_empty() { "none".to_string() } else { quoted.join(", ") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, model: &str, gpu: Option<&str>) -> Result<MeasuredLatencies, String> {
        let input = Input::from_bytes("m.csv", text.as_bytes().to_vec()).unwrap();
        MeasuredLatencies::read(input, model, gpu).map_err(|e| e.to_string())
    }

    #[test]
    fn units_and_repeated_sizes() {
        let us = read("# by hand\nbatch,duration_us\n1,10\n4,30.5\n", "any", None).unwrap();
        let ns: Vec<(u32, u64)> = us.rows().map(|(n, all)| (n, all[0].ns())).collect();
        assert_eq!(ns, [(1, 10_000), (4, 30_500)]);
        assert!(us.is_curve());
        assert_eq!(us.of_size(2).unwrap().0, 4);
        assert_eq!(us.of_size(9).unwrap().0, 4);
        let named = read("Batch Size,mean latency (ms)\n1,10\n", "any", None).unwrap();
        assert_eq!(named.of_size(1).unwrap().1[0].ns(), 10_000_000);
        let many = read("batch,latency_ms\n1,1\n1,2\n", "any", None).unwrap();
        assert!(!many.is_curve());
    }

    #[test]
    fn what_is_wrong_is_said_with_its_line() {
        let wrong = |text, model, gpu| read(text, model, gpu).unwrap_err();
        let text = wrong("model,batch\na,1\n", "a", None);
        assert!(text.contains("latency") && text.contains("m.csv"), "{text}");
        let text = wrong("batch,latency\na,1\n", "a", None);
        assert!(text.contains("ends in its unit"), "{text}");
        let text = wrong("model,batch,duration_us\na,1,5\na,0,5\n", "a", None);
        assert!(text.contains("line 3") && text.contains('0'), "{text}");
        let text = wrong("model,batch,duration_us\na,1,5\n", "c", None);
        assert!(text.contains("`c`") && text.contains("`a`"), "{text}");
        let text = wrong("gpu,batch,duration_us\nt4,1,5\n", "c", Some("a100"));
        assert!(text.contains("`a100`") && text.contains("`t4`"), "{text}");
        assert!(wrong("batch,duration_us\n1,-5\n", "a", None).contains("line 2"));
        assert!(wrong("batch,duration_us\n1\n", "a", None).contains("line 2"));
    }
}
