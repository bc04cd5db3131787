//! [`Blocks`]: the functions of a trace dealt out in blocks onto instances of models, busiest first
//! (Clockwork's released code; OSDI 2020, §6.5).
//!
//! It makes no arrivals: [`crate::dealt`] does. A sum of Poisson processes is one, so the functions of an
//! instance are added up before the run: what is kept is a number for each minute and instance, not one
//! for each function.
//!
//! ```text
//! rank   0 1 2 3 | 4 5 6 7 | 8 9 10     F = 11 functions by falling calls in the whole file
//! instance   0   |    1    |    2       N = 3: function i goes to instance floor(N i / F)
//! ```

use crate::azure2019::{FunctionRow, Invocations, MinuteRange};
use crate::error::{TraceError, within};
use crate::quirks::Met;
use orrery_sim::delay::normal_quantile;
use orrery_sim::ordered::{sort_by, sort_by_key};

/// Copies of each function in the rule `azure-46000`: 92 of the sample's 500 are 46,000.
const COPIES: usize = 92;
/// Hours that copies are rotated by: 0 to 7.
const ROTATIONS: usize = 8;
/// Minutes of a rotation by one: spikes each 5, 15 and 60 minutes keep their phase.
const HOUR: usize = 60;
/// The paper's mean rate over that of 92 copies of the sample: 9638 / 9704 requests/s.
const TO_THE_PAPER: f64 = 9_638.0 / 9_704.0;

/// Calls by minute and instance.
#[derive(Clone, Debug, PartialEq)]
pub struct Blocks {
    instances: usize,
    functions: usize,
    /// Of minute `m` and instance `i` at `m * instances + i`. Not whole: copies are scaled.
    calls: Vec<f64>,
    /// What was odd about the file.
    pub met: Met,
}

impl Blocks {
    /// No calls yet of `functions` functions. Memory is 8 bytes for each minute and instance.
    pub(crate) fn new(
        file: &str,
        functions: usize,
        instances: usize,
        minutes: usize,
    ) -> Result<Blocks, TraceError> {
        if instances == 0 || functions < instances {
            return Err(TraceError::Selection {
                file: file.to_string(),
                key: "functions",
                found: format!("{functions} functions for {instances} applications"),
                allowed: "at least one function for each application".to_string(),
                remedy: "extend the sample with `rule = \"azure-46000\"`, or let fewer applications send",
            });
        }
        let calls = vec![0.0; instances * minutes];
        Ok(Blocks { instances, functions, calls, met: Met::default() })
    }

    /// The instance of the function of that rank, from 0.
    pub(crate) fn instance(&self, rank: usize) -> usize {
        rank * self.instances / self.functions
    }

    /// Adds calls of an instance, minute by minute.
    pub(crate) fn add(&mut self, instance: usize, calls: impl Iterator<Item = f64>) {
        let own = self.calls[instance..].iter_mut().step_by(self.instances);
        own.zip(calls).for_each(|(sum, calls)| *sum += calls);
    }

    /// The functions of a file: ranked by their calls in all of it, dealt out with those of `range`.
    ///
    /// # Errors
    /// When there are fewer functions than instances.
    pub fn of_file(
        whole: &Invocations,
        range: MinuteRange,
        instances: usize,
    ) -> Result<Blocks, TraceError> {
        let rows = &whole.functions;
        let (first, minutes) = part(whole, range);
        let mut blocks = Blocks::new(&whole.file, rows.len(), instances, minutes)?;
        blocks.met = whole.met.clone();
        let mut order: Vec<&FunctionRow> = rows.iter().collect();
        sort_by_key(&mut order, |row| (std::cmp::Reverse(row.total), row.key()));
        for (rank, row) in order.into_iter().enumerate() {
            let calls = row.counts[first..].iter().map(|&c| f64::from(c));
            blocks.add(blocks.instance(rank), calls);
        }
        Ok(blocks)
    }

    /// The rule `azure-46000`: 92 copies of each function of the shipped sample of 8 hours.
    ///
    /// Copy c has its function's minutes rotated by 60 (c mod 8) minutes, so that label l has the
    /// counts of label l + 60 (c mod 8), and times s_c = exp(sigma z_c) over the mean of the 92, where
    /// z_c is the standard normal quantile of (c + 1/2) / 92. Everything is then multiplied by
    /// 9638 / 9704, which gives the paper's mean rate over the 8 hours. There is no seed in it.
    ///
    /// # Errors
    /// When `sigma` is not from 0 to 5, the file does not have 480 minutes, or the functions are fewer
    /// than the instances.
    pub fn azure_46000(
        sample: &Invocations,
        range: MinuteRange,
        sigma: f64,
        instances: usize,
    ) -> Result<Blocks, TraceError> {
        let whole = sample.functions.first().map_or(0, |f| f.counts.len());
        if whole != ROTATIONS * HOUR {
            return Err(TraceError::Selection {
                file: sample.file.clone(),
                key: "minutes",
                found: format!("{whole} minutes"),
                allowed: "480 minutes, which the rule `azure-46000` rotates".to_string(),
                remedy: "use it with the shipped sample `azure2019-f500`, or remove `rule`",
            });
        }
        let scales = scales(within("sigma", sigma, 0.0, 5.0)?);
        let (first, minutes) = part(sample, range);
        let rows = &sample.functions;
        let mut blocks = Blocks::new(&sample.file, rows.len() * COPIES, instances, minutes)?;
        let mut names: Vec<(String, &FunctionRow)> = rows.iter().map(|r| (r.key(), r)).collect();
        sort_by(&mut names, |a, b| a.0.cmp(&b.0));
        let mut order: Vec<(f64, usize, usize)> = Vec::with_capacity(blocks.functions);
        for (name, (_, row)) in names.iter().enumerate() {
            let copy = |(copy, scale): (usize, &f64)| (row.total as f64 * scale, name, copy);
            order.extend(scales.iter().enumerate().map(copy));
        }
        // Equal totals go by name, then by copy.
        sort_by(&mut order, |a, b| b.0.total_cmp(&a.0));
        for (rank, (_, name, copy)) in order.into_iter().enumerate() {
            let counts = &names[name].1.counts;
            let from = first + HOUR * (copy % ROTATIONS);
            let scale = scales[copy] * TO_THE_PAPER;
            let calls = (0..minutes).map(|m| f64::from(counts[(from + m) % whole]) * scale);
            blocks.add(blocks.instance(rank), calls);
        }
        Ok(blocks)
    }

    /// Minutes.
    pub fn minutes(&self) -> usize {
        self.calls.len() / self.instances
    }

    /// Instances.
    pub fn instances(&self) -> usize {
        self.instances
    }

    /// Functions that were dealt out.
    pub fn functions(&self) -> usize {
        self.functions
    }

    /// The calls of each instance in a minute.
    pub fn minute(&self, minute: usize) -> &[f64] {
        &self.calls[minute * self.instances..(minute + 1) * self.instances]
    }

    /// All calls.
    pub fn total(&self) -> f64 {
        self.calls.iter().sum()
    }

    /// The share of all calls that go to each instance.
    pub fn shares(&self) -> Vec<f64> {
        let mut sums = vec![0.0; self.instances];
        for minute in self.calls.chunks_exact(self.instances) {
            sums.iter_mut().zip(minute).for_each(|(sum, calls)| *sum += calls);
        }
        let total = self.total();
        sums.iter().map(|sum| sum / total).collect()
    }
}

/// Where a range of labels begins in the counts of a file, and its length.
fn part(whole: &Invocations, range: MinuteRange) -> (usize, usize) {
    ((range.first_label - whole.first_label) as usize, range.minutes())
}

/// s_c of the rule.
fn scales(sigma: f64) -> Vec<f64> {
    let quantile = |c: usize| normal_quantile((c as f64 + 0.5) / COPIES as f64);
    let all: Vec<f64> = (0..COPIES).map(|c| libm::exp(sigma * quantile(c))).collect();
    let mean = all.iter().sum::<f64>() / COPIES as f64;
    all.iter().map(|s| s / mean).collect()
}

#[cfg(test)]
mod tests;
