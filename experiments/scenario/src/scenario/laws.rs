//! Laws: from a scenario's keys to the simulator's latencies and execution times.
//!
//! Every number is checked here; files are opened through [`Files`].

use super::file::{LatencyLaw, SizesLaw, TimeLaw, Unit};
use super::value::{MS_MAX, at_key, span_ms, within};
use crate::kairos;
use orrery_import::{Content, Format};
use orrery_run::error::{SpecError, hint};
use orrery_sim::latency::{Grid, Latency, Replay, SampleTable};
use orrery_sim::time::Span;
use orrery_traces::azure2019::Counted;
use orrery_traces::blocks::Blocks;
use orrery_traces::exec_time::{ExecLaw, Mode};
use orrery_traces::gaps::Gaps;
use orrery_traces::inspect::format_of;
use orrery_traces::query_sizes::SizeLaw;
use orrery_traces::replayed::List;
use orrery_traces::samples::Histogram;
use orrery_traces::shipped::{shipped, shipped_names};
use orrery_traces::two_group::SdRule;
use orrery_traces::workload::Application;
use orrery_traces::{Input, TraceError};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

/// The largest batch.
pub(super) const BATCH_MAX: u32 = 4096;

/// Where a scenario's files are looked for.
#[derive(Clone, Debug, Default)]
pub(super) struct Files {
    /// The folder of the scenario's file.
    pub folder: PathBuf,
    /// The calls of the trace that was dealt out last: reading 14 published days takes minutes.
    pub dealt: Kept<Arc<Blocks>>,
    /// The functions of the trace that was read last.
    pub counted: Kept<Arc<Counted>>,
    /// The samples that were read.
    samples: Kept<Histogram>,
    /// The formats of files; `None` for one that is no other tool's.
    pub formats: Kept<Option<&'static Format>>,
    /// What was read of other tools' files; `None` for a file that is read as it is.
    pub imports: Kept<Option<Arc<Content>>>,
    /// What was odd about a file or assumed of it, by its name.
    said: Said,
    /// The lists that are replayed.
    pub lists: Kept<List>,
    /// The times that requests bring, by application.
    pub carried: Kept<BTreeMap<usize, ExecLaw>>,
    /// Gaps that are kept, where a search asks for the same ones at many rates.
    pub gaps: Gaps,
}

/// What a reader of the results should know of each file that was read.
type Said = Arc<Mutex<BTreeMap<String, Vec<String>>>>;

/// What was made of files, by its name and by the applications that it is for: each setup of a scenario, and of those made
/// from it, asks for the same.
#[derive(Clone, Debug)]
pub(super) struct Kept<T>(Arc<Mutex<Vec<Made<T>>>>);

/// A name, applications, and what was made for them.
type Made<T> = (String, Vec<Application>, T);

impl<T> Default for Kept<T> {
    fn default() -> Kept<T> {
        Kept(Arc::default())
    }
}

impl<T: Clone> Kept<T> {
    /// What has this name, made if nobody has.
    pub(super) fn all(
        &self,
        name: String,
        make: impl FnOnce() -> Result<T, SpecError>,
    ) -> Result<T, SpecError> {
        self.last((name, &[]), (|_| 0, 0), make)
    }

    /// The same of the last ones alone, which together weigh at most so much. Setups on other threads wait meanwhile.
    pub(super) fn last(
        &self,
        (name, apps): (String, &[Application]),
        (weigh, most): (fn(&T) -> usize, usize),
        make: impl FnOnce() -> Result<T, SpecError>,
    ) -> Result<T, SpecError> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = kept.iter().find(|known| known.0 == name && known.1 == apps) {
            return Ok(known.2.clone());
        }
        let made = make()?;
        kept.push((name, apps.to_vec(), made.clone()));
        while kept.iter().map(|known| weigh(&known.2)).sum::<usize>() > most {
            kept.remove(0);
        }
        Ok(made)
    }
}

impl Files {
    /// Files in a folder, none read yet.
    pub(super) fn new(folder: PathBuf) -> Files {
        Files { folder, ..Files::default() }
    }

    /// Keeps what a reader of the results should know of a file.
    pub(super) fn say(&self, name: &str, lines: Vec<String>) {
        let mut said = self.said.lock().unwrap_or_else(PoisonError::into_inner);
        said.insert(name.to_string(), lines);
    }

    /// What was said of a file, a line each.
    pub(super) fn said(&self, name: &str) -> Vec<String> {
        let said = self.said.lock().unwrap_or_else(PoisonError::into_inner);
        said.get(name).into_iter().flatten().map(|line| format!("{name}: {line}")).collect()
    }

    /// Whether a name is that of a folder.
    pub(super) fn is_folder(&self, name: &str) -> bool {
        !shipped_names().any(|n| n == name) && self.folder.join(name).is_dir()
    }

    /// The samples in a column of a file.
    fn samples(
        &self,
        key: &str,
        file: &str,
        column: &str,
        count_column: Option<&str>,
    ) -> Result<Histogram, SpecError> {
        self.samples.all(format!("{file}\n{column}\n{count_column:?}"), || {
            let input = self.open(&format!("{key}.file"), file)?;
            Histogram::read(input, column, count_column).map_err(|e| at_key(key, e))
        })
    }

    /// The times in a column of a file.
    fn times(
        &self,
        key: &str,
        file: &str,
        column: &str,
        unit: Unit,
    ) -> Result<Histogram, SpecError> {
        self.samples.all(format!("{file}\n{column}\n{unit:?}"), || {
            let input = self.open(&format!("{key}.file"), file)?;
            Histogram::read_times(input, column, unit.into()).map_err(|e| at_key(key, e))
        })
    }

    /// An error of a reader of arrivals: where the file is of another kind, what reads that.
    pub(super) fn unread(
        &self,
        process: &str,
        name: &str,
    ) -> impl Fn(TraceError) -> SpecError + use<'_> {
        let (process, name) = (process.to_string(), name.to_string());
        move |error| {
            let key = format!("arrivals.{process}.file");
            let format = self.open(&key, &name).ok().and_then(|input| format_of(input).ok());
            let own = format.map(|f| (f.name(), f.arrivals()));
            let known = own.or_else(|| {
                let format = self.foreign(&key, &name).ok()??;
                Some((format.title, format.direct))
            });
            let Some((title, direct)) = known.filter(|f| f.1 != Some(process.as_str())) else {
                let refusal = if known.is_none() { self.refusal(&key, &name) } else { None };
                return refusal.unwrap_or_else(|| at_key(&format!("arrivals.{process}"), error));
            };
            let found = format!("`{name}`, of the format {title}");
            let remedy = match direct {
                Some(other) => format!("use `{other}` in place of `{process}`"),
                None => "no arrival process reads this format: write its arrivals as a `workload` \
                         file (docs/formats.md)"
                    .to_string(),
            };
            SpecError::value(key, found, format!("a file that `{process}` reads"), remedy)
        }
    }

    /// Opens a shipped file by its name, or a file by its path from the scenario's folder.
    pub(super) fn open(&self, key: &str, name: &str) -> Result<Input, SpecError> {
        if shipped_names().any(|n| n == name) {
            return shipped(name).map_err(|e| at_key(key, e));
        }
        let path = self.folder.join(name);
        match Input::open(&path) {
            Ok(input) => Ok(input),
            Err(TraceError::Io { reason, .. }) => {
                let found = format!("`{name}` ({}: {reason})", path.display());
                let names: Vec<&str> = shipped_names().collect();
                let allowed = format!(
                    "a file that can be read, by its path from the scenario's folder, or one of {}",
                    names.join(", ")
                );
                let hint = hint(name, names);
                Err(SpecError::value(key, found, allowed, format!("{hint}correct the path")))
            }
            Err(other) => Err(at_key(key, other)),
        }
    }
}

impl LatencyLaw {
    /// The law in the simulator's terms. `key` is where it stands, for messages.
    ///
    /// # Errors
    /// When a number is out of range.
    pub fn law(&self, key: &str) -> Result<Latency, SpecError> {
        let part = |name: &str| format!("{key}.{name}");
        match self {
            LatencyLaw::Affine { alpha_ms, beta_ms } => {
                let alpha = span_ms(&part("affine.alpha_ms"), *alpha_ms)?;
                let beta = span_ms(&part("affine.beta_ms"), *beta_ms)?;
                if alpha + beta == Span::ZERO {
                    let allowed = "alpha_ms or beta_ms of at least a nanosecond";
                    return Err(SpecError::value(part("affine"), "0 ms", allowed, "raise one"));
                }
                Ok(Latency::Affine { alpha, beta })
            }
            LatencyLaw::Eq3 { c0_ms, c1 } => {
                let c0 = span_ms(&part("eq3.c0_ms"), *c0_ms)?;
                Ok(Latency::Eq3 { c0, c1: within(&part("eq3.c1"), *c1, 1e-9, 1e3)? })
            }
            LatencyLaw::Proportional { c1 } => {
                let c1 = within(&part("proportional.c1"), *c1, 0.0, 1e3)?;
                Ok(Latency::Proportional { c1 })
            }
            LatencyLaw::Poly { c0_ms, c1, c2_per_ms } => {
                let c0 = span_ms(&part("poly.c0_ms"), *c0_ms)?;
                let c1 = within(&part("poly.c1"), *c1, 0.0, 1e3)?;
                let c2 = within(&part("poly.c2_per_ms"), *c2_per_ms, 0.0, 1e6)?;
                if c1 + c2 == 0.0 {
                    let (found, allowed) = ("0 for each item", "c1 or c2_per_ms above 0");
                    return Err(SpecError::value(part("poly"), found, allowed, "raise one"));
                }
                Ok(Latency::Poly { c0, c1, c2_per_s: c2 * 1e3 })
            }
            LatencyLaw::Grid { lengths_ms, rows } => grid(&part("grid"), lengths_ms, rows),
            LatencyLaw::Table(rows) => measured(&part("table"), rows),
            LatencyLaw::Measured(rows) => {
                let key = part("measured");
                let of = |(size, all): &(u32, Vec<f64>)| {
                    let spans: Result<Vec<Span>, _> =
                        all.iter().map(|ms| span_ms(&key, *ms)).collect();
                    spans.map(|spans| (*size, spans))
                };
                let rows: Vec<(u32, Vec<Span>)> =
                    rows.iter().map(of).collect::<Result<_, SpecError>>()?;
                let table = SampleTable::new(&rows).ok_or_else(|| {
                    let allowed = "rows of increasing sizes from 1, each with a latency or more";
                    SpecError::value(&key, "other rows", allowed, "sort or complete the rows")
                })?;
                Ok(Latency::Samples(Replay { table: Arc::new(table), seed: 0 }))
            }
            // `measured.rs` has put the profile's law in its place, but for one in a zoo.
            LatencyLaw::Profile { file, .. } => {
                let found = format!("a profile, `{file}`");
                let remedy = "write the latency model itself, or name the profile in `[[model]]`";
                Err(SpecError::value(key, found, "a latency model with its numbers", remedy))
            }
            LatencyLaw::Samples(name) => {
                // The seed is the run's: see `Scenario::world`.
                let replay = |table| Latency::Samples(Replay { table, seed: 0 });
                kairos::samples(name).map(replay).ok_or_else(|| no_samples(&part("samples"), name))
            }
        }
    }
}

/// Whether a latency depends on the requests of the batch.
pub(super) fn is_of_request(law: &LatencyLaw) -> bool {
    match law {
        LatencyLaw::Eq3 { .. }
        | LatencyLaw::Proportional { .. }
        | LatencyLaw::Poly { .. }
        | LatencyLaw::Grid { .. } => true,
        LatencyLaw::Affine { .. }
        | LatencyLaw::Table(_)
        | LatencyLaw::Samples(_)
        | LatencyLaw::Measured(_)
        | LatencyLaw::Profile { .. } => false,
    }
}

fn no_samples(key: &str, name: &str) -> SpecError {
    let models: Vec<&str> = kairos::model_names().collect();
    let types = kairos::instance_types().map(|t| t.name);
    let all = models.iter().flat_map(|m| types.iter().map(move |t| format!("{m}@{t}")));
    let all: Vec<String> = all.collect();
    let hint = hint(name, all.iter().map(String::as_str));
    let allowed = format!("MODEL@TYPE: {} @ {}", models.join(", "), types.join(", "));
    let remedy = format!("{hint}correct the name, or give a `table`");
    SpecError::value(key, format!("`{name}`"), allowed, remedy)
}

impl SizesLaw {
    /// The law; files are read.
    pub(super) fn law(&self, key: &str, files: &Files) -> Result<SizeLaw, SpecError> {
        if let Some(law) = self.parametric(key)? {
            return Ok(law);
        }
        let SizesLaw::Samples { file, column, count_column } = self else {
            return Err(SpecError::value(
                key,
                "no distribution",
                "a distribution of sizes",
                "give one",
            ));
        };
        let key = format!("{key}.samples");
        let sizes = files.samples(&key, file, column, count_column.as_deref())?;
        SizeLaw::empirical(sizes).map_err(|e| at_key(&key, e))
    }

    /// The law, if no file is needed; its numbers are checked in any case.
    pub(super) fn parametric(&self, key: &str) -> Result<Option<SizeLaw>, SpecError> {
        let (name, law) = match self {
            SizesLaw::Kairos => ("kairos", Ok(SizeLaw::Kairos)),
            SizesLaw::Lognormal { mu, sigma, max } => {
                ("lognormal", SizeLaw::log_normal(*mu, *sigma, *max))
            }
            SizesLaw::Normal { mean, sd, max } => ("normal", SizeLaw::normal(*mean, *sd, *max)),
            SizesLaw::Samples { .. } => return Ok(None),
        };
        law.map(Some).map_err(|e| at_key(&format!("{key}.{name}"), e))
    }
}

/// A measured table: at least one row, sizes in increasing order.
fn measured(key: &str, rows: &[(u32, f64)]) -> Result<Latency, SpecError> {
    let mut law: Vec<(u32, Span)> = Vec::with_capacity(rows.len());
    for (i, &(size, ms)) in rows.iter().enumerate() {
        let least = law.last().map_or(1, |last| last.0.saturating_add(1));
        if size < least || size > BATCH_MAX {
            let found = format!("batch size {size}");
            let allowed = format!("sizes that grow from row to row; here {least} to {BATCH_MAX}");
            let key = format!("{key}[{i}]");
            return Err(SpecError::value(key, found, allowed, "sort the rows; each size once"));
        }
        within(&format!("{key}[{i}]"), ms, 1e-6, MS_MAX)?;
        law.push((size, Span::from_ms_f64(ms)));
    }
    if law.is_empty() {
        let allowed = "at least one row such as [1, 5.0]";
        return Err(SpecError::value(key, "no row", allowed, "add a row"));
    }
    Ok(Latency::Table(law))
}

/// A measured grid: lengths and sizes in increasing order, and a latency for each pair.
fn grid(key: &str, lengths_ms: &[f64], rows: &[(u32, Vec<f64>)]) -> Result<Latency, SpecError> {
    let mut lengths: Vec<Span> = Vec::with_capacity(lengths_ms.len());
    for (i, ms) in lengths_ms.iter().enumerate() {
        let key = format!("{key}.lengths_ms[{i}]");
        within(&key, *ms, 1e-6, MS_MAX)?;
        let length = Span::from_ms_f64(*ms);
        if let Some(last) = lengths.last().filter(|last| **last >= length) {
            let (found, allowed) = (format!("{ms} ms after {last}"), "lengths that grow");
            return Err(SpecError::value(key, found, allowed, "sort them; each length once"));
        }
        lengths.push(length);
    }
    let key = format!("{key}.rows");
    let first: Vec<(u32, f64)> = rows.iter().map(|r| (r.0, 1.0)).collect();
    // The sizes have the rules of a table's.
    measured(&key, &first)?;
    if lengths.is_empty() {
        let key = key.replace("rows", "lengths_ms");
        return Err(SpecError::value(key, "none", "at least one length", "add one"));
    }
    let mut law = Vec::with_capacity(rows.len());
    for (i, (size, row)) in rows.iter().enumerate() {
        let key = format!("{key}[{i}]");
        if row.len() != lengths.len() {
            let found = format!("{} latencies for batches of {size}", row.len());
            let allowed = format!("one for each of the {} lengths", lengths.len());
            return Err(SpecError::value(key, found, allowed, "add or remove some"));
        }
        row.iter().try_for_each(|ms| within(&key, *ms, 1e-6, MS_MAX).map(|_| ()))?;
        law.push((*size, row.iter().map(|ms| Span::from_ms_f64(*ms)).collect()));
    }
    Ok(Latency::Grid(Grid { lengths, rows: law }))
}

impl TimeLaw {
    /// The law, if no file is needed; its numbers are checked in any case.
    pub(super) fn parametric(&self, key: &str) -> Result<Option<ExecLaw>, SpecError> {
        let at = |name: &str| format!("{key}.{name}");
        let done = |name: &str, law: Result<ExecLaw, TraceError>| {
            law.map(Some).map_err(|e| at_key(&at(name), e))
        };
        match self {
            TimeLaw::Constant { ms } => done("constant", ExecLaw::constant(*ms)),
            TimeLaw::Normal { mean_ms, sd_ms } => done("normal", ExecLaw::normal(*mean_ms, *sd_ms)),
            TimeLaw::Lognormal { mean_ms, sd_ms } => {
                done("lognormal", ExecLaw::log_normal(*mean_ms, *sd_ms))
            }
            TimeLaw::Exponential { mean_ms } => done("exponential", ExecLaw::exponential(*mean_ms)),
            TimeLaw::Modes(modes) => {
                let mode = |&(weight, mean_ms, sd_ms)| Mode { weight, mean_ms, sd_ms };
                done("modes", ExecLaw::mixture(modes.iter().map(mode).collect()))
            }
            TimeLaw::TwoGroup { mean_ms, p99_ms, short_share } => {
                let law = ExecLaw::two_group(*mean_ms, *p99_ms, *short_share, SdRule::default());
                done("two_group", law)
            }
            TimeLaw::Lengths { base_ms, per_token_ms, .. } => {
                within(&at("lengths.base_ms"), *base_ms, 0.0, MS_MAX)?;
                within(&at("lengths.per_token_ms"), *per_token_ms, 0.0, MS_MAX)?;
                Ok(None)
            }
            TimeLaw::Samples { .. } => Ok(None),
        }
    }

    /// The law; files are read.
    pub(super) fn law(&self, key: &str, files: &Files) -> Result<ExecLaw, SpecError> {
        if let Some(law) = self.parametric(key)? {
            return Ok(law);
        }
        match self {
            TimeLaw::Lengths { file, column, count_column, base_ms, per_token_ms } => {
                let key = format!("{key}.lengths");
                let tokens = files.samples(&key, file, column, count_column.as_deref())?;
                ExecLaw::lengths(tokens, *base_ms, *per_token_ms).map_err(|e| at_key(&key, e))
            }
            TimeLaw::Samples { file, column, unit } => {
                let times = files.times(&format!("{key}.samples"), file, column, *unit)?;
                Ok(ExecLaw::empirical(times))
            }
            _ => Err(SpecError::value(
                key,
                "no distribution",
                "a distribution of execution times",
                "give one",
            )),
        }
    }
}
