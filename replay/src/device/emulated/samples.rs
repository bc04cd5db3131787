//! Durations drawn from measured ones: a CSV with a row for each sample.
//!
//! Columns, by name: `model`; `batch` or `units`; and `duration_ns`, `duration_us`, `duration_ms` or
//! `device_ns`. So the `actions.csv` of an earlier run is such a file. Other columns are not read.

use crate::device::Job;
use crate::error::Error;
use orrery_sim::rng::Stream;
use orrery_sim::time::Span;
use orrery_traces::{Input, MeasuredLatencies};
use std::path::Path;

/// Measured durations of one model, by batch size.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Samples(MeasuredLatencies);

impl Samples {
    /// Reads the samples of a model.
    ///
    /// # Errors
    /// When the file cannot be read, a column is missing, a field is no number, or the model has no
    /// row.
    pub fn read(file: &Path, model: &str) -> Result<Samples, Error> {
        let read = Input::open(file).and_then(|input| MeasuredLatencies::read(input, model, None));
        let wrong = |e| {
            let allowed = "rows of this model with its batch sizes and durations";
            Error::in_file(file, "samples", e, allowed, "correct the file, or name another")
        };
        read.map(Samples).map_err(wrong)
    }

    /// Rows of size and latencies in ms.
    pub fn of_rows(rows: &[(u32, Vec<f64>)]) -> Samples {
        let spans = |all: &Vec<f64>| all.iter().map(|ms| Span::from_ms_f64(*ms)).collect();
        Samples(MeasuredLatencies::of_rows(rows.iter().map(|(size, all)| (*size, spans(all)))))
    }

    /// Samples that travel with the program, by `MODEL@TYPE`.
    pub fn shipped(name: &str) -> Option<Samples> {
        let table = orrery_scenario::kairos::samples(name)?;
        let of = |size: &u32| (*size, table.samples(*size).to_vec());
        Some(Samples(MeasuredLatencies::of_rows(table.sizes().iter().map(of))))
    }

    /// A sample of the size, or of the next larger that was measured; beyond the largest it grows in
    /// proportion. Which one depends on (seed, the action's first request, its model).
    pub fn ns(&self, seed: u64, job: &Job, units: u32, first: u64, model: u32) -> f64 {
        let Some((size, times)) = self.0.of_size(units) else { return 0.0 };
        let key = first ^ u64::from(model).rotate_left(48) ^ u64::from(job.kind).rotate_left(56);
        let mut stream = Stream::named(seed, "emulated device, samples", key);
        let ns = times[stream.below(times.len() as u64) as usize].ns() as f64;
        if units > size { ns * f64::from(units) / f64::from(size) } else { ns }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use orrery_sim::request::{ActionId, DeviceId, ModelId, RequestId};
    use orrery_sim::time::Time;

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
        let text = wrong("model,batch\na,1\n", "a");
        assert!(text.contains("line 1") && text.contains("duration"), "{text}");
        let text = wrong("model,batch,duration_us\na,1,5\na,0,5\n", "a");
        assert!(text.contains("line 3") && text.contains("`0`"), "{text}");
        let text = wrong("model,batch,duration_us\na,1,5\n", "c");
        assert!(text.contains("`c`") && text.contains("`a`"), "{text}");
        assert!(wrong("model,batch,duration_us\na,1\n", "a").contains("line 2"));
    }
}
