//! Durations drawn from measured ones: a CSV with a row for each sample.
//!
//! Columns, by name: `model`; `batch` or `units`; and `duration_ns`, `duration_us`, `duration_ms` or
//! `device_ns`. So the `actions.csv` of an earlier run is such a file. Other columns are not read.

use crate::device::Job;
use crate::error::Error;
use orrery_sim::rng::Stream;
use std::collections::BTreeMap;
use std::path::Path;

/// Measured durations of one model: by batch size, in nanoseconds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Samples {
    by_size: BTreeMap<u32, Vec<u64>>,
}

const SIZES: [&str; 2] = ["batch", "units"];
const DURATIONS: [(&str, f64); 4] =
    [("duration_ns", 1.0), ("duration_us", 1e3), ("duration_ms", 1e6), ("device_ns", 1.0)];

impl Samples {
    /// Reads the samples of a model.
    ///
    /// # Errors
    /// When the file cannot be read, a column is missing, a field is no number, or the model has no
    /// row.
    pub fn read(file: &Path, model: &str) -> Result<Samples, Error> {
        let text = crate::error::read_text(file)?;
        let mut reader = csv::ReaderBuilder::new().comment(Some(b'#')).from_reader(text.as_bytes());
        let wrong = |line: u64, found: String, allowed: &str| {
            let key = format!("line {line}");
            Error::in_file(file, key, found, allowed, "correct the file, or name another")
        };
        let head = reader.headers().map_err(|e| wrong(1, e.to_string(), "a CSV file"))?.clone();
        let at = |name: &str| head.iter().position(|h| h == name);
        let columns = || head.iter().collect::<Vec<_>>().join(", ");
        let model_at = at("model").ok_or_else(|| wrong(1, columns(), "a column `model`"))?;
        let size_at = SIZES.iter().find_map(|n| at(n));
        let size_at = size_at.ok_or_else(|| wrong(1, columns(), "a column `batch` or `units`"))?;
        let time = DURATIONS.iter().find_map(|(n, unit)| Some((at(n)?, *unit)));
        let allowed = "a column `duration_ns`, `duration_us`, `duration_ms` or `device_ns`";
        let (time_at, unit) = time.ok_or_else(|| wrong(1, columns(), allowed))?;
        let (mut samples, mut models) = (Samples::default(), Vec::new());
        for record in reader.records() {
            let record = record.map_err(|e| {
                let line = e.position().map_or(0, csv::Position::line);
                wrong(line, e.to_string(), "as many fields as the first line has")
            })?;
            let line = record.position().map_or(0, csv::Position::line);
            let field = |at: usize| record.get(at).unwrap_or_default();
            if field(model_at) != model {
                if !models.iter().any(|m| m == field(model_at)) {
                    models.push(field(model_at).to_string());
                }
                continue;
            }
            let size = field(size_at).parse::<u32>().ok().filter(|n| *n > 0);
            let found = || format!("`{}` as a batch size", field(size_at));
            let size = size.ok_or_else(|| wrong(line, found(), "a whole number from 1"))?;
            let time = field(time_at).parse::<f64>().ok().map(|t| t * unit);
            let time = time.filter(|t| (0.0..1e15).contains(t));
            let found = || format!("`{}` as a duration", field(time_at));
            let time = time.ok_or_else(|| wrong(line, found(), "a number from 0"))?;
            samples.by_size.entry(size).or_default().push((time + 0.5) as u64);
        }
        if samples.by_size.is_empty() {
            let allowed = format!("one of {}", models.join(", "));
            let found = format!("no row of model `{model}`");
            return Err(Error::in_file(file, "model", found, allowed, "name a model of the file"));
        }
        Ok(samples)
    }

    /// Samples that travel with the program, by `MODEL@TYPE`.
    pub fn shipped(name: &str) -> Option<Samples> {
        let table = orrery_scenario::kairos::samples(name)?;
        let of = |size: &u32| (*size, table.samples(*size).iter().map(|s| s.ns()).collect());
        Some(Samples { by_size: table.sizes().iter().map(of).collect() })
    }

    /// A sample of the size, or of the next larger that was measured; beyond the largest it grows in
    /// proportion. Which one depends on (seed, the action's first request, its model).
    pub fn ns(&self, seed: u64, job: &Job, units: u32, first: u64, model: u32) -> f64 {
        let larger = self.by_size.range(units..).next();
        let Some((size, times)) = larger.or_else(|| self.by_size.last_key_value()) else {
            return 0.0;
        };
        let key = first ^ u64::from(model).rotate_left(48) ^ u64::from(job.kind).rotate_left(56);
        let mut stream = Stream::named(seed, "emulated device, samples", key);
        let ns = times[stream.below(times.len() as u64) as usize] as f64;
        if units > *size { ns * f64::from(units) / f64::from(*size) } else { ns }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use orrery_sim::request::{ActionId, DeviceId, ModelId, RequestId};
    use orrery_sim::time::{Span, Time};

    fn read(text: &str, model: &str) -> Result<Samples, String> {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("samples.csv");
        std::fs::write(&file, text).unwrap();
        Samples::read(&file, model).map_err(|e| e.to_string())
    }

    fn draw(samples: &Samples, units: u32, first: u64) -> f64 {
        let (model, longest) = (ModelId(0), Span::ZERO);
        let work = crate::device::Work::Batch {
            model,
            units,
            longest,
            total: longest,
            first: RequestId(first),
        };
        let (began, fetch) = (Time::ZERO, Span::ZERO);
        let (action, device) = (ActionId(0), DeviceId(0));
        let job = Job { action, device, kind: 0, executor: 0, began, fetch, work };
        samples.ns(3, &job, units, first, 0)
    }

    #[test]
    fn every_sample_of_the_size_is_drawn_and_no_other() {
        let text = "model,batch,duration_us,x\na,1,10,0\na,1,12,0\na,4,30,0\nb,1,99,0\n";
        let samples = read(text, "a").unwrap();
        let mut ones: Vec<u64> = (0..200).map(|i| draw(&samples, 1, i) as u64).collect();
        ones.sort_unstable();
        ones.dedup();
        assert_eq!(ones, [10_000, 12_000]);
        assert_eq!(draw(&samples, 3, 0), 30e3);
        assert_eq!(draw(&samples, 8, 0), 60e3);
    }

    #[test]
    fn samples_that_travel_with_the_program_are_found_by_name() {
        let samples = Samples::shipped("rm2@g4dn.xlarge").unwrap();
        assert!(draw(&samples, 10, 1) > 0.0);
        assert_eq!(Samples::shipped("rm2@nowhere"), None);
    }

    #[test]
    fn what_is_wrong_is_said_with_its_line() {
        let wrong = |text, model| read(text, model).unwrap_err();
        assert!(wrong("model,batch\na,1\n", "a").contains("duration_us"));
        let text = wrong("model,batch,duration_us\na,1,5\na,0,5\n", "a");
        assert!(text.contains("line 3") && text.contains("`0`"), "{text}");
        let text = wrong("model,batch,duration_us\na,1,5\n", "c");
        assert!(text.contains("`c`") && text.contains("one of a"), "{text}");
        assert!(wrong("model,batch,duration_us\na,1\n", "a").contains("line 2"));
    }
}
