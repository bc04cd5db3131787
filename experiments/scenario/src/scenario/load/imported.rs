//! Files of other tools that a scenario names directly: what `orrery_import` makes of them, as laws and sources.
//!
//! A file that does not say everything, such as the size of its batches, is not read here: `orrery import` asks.

use crate::scenario::expand::plain_alone_ms;
use crate::scenario::file::{LatencyLaw, LlmArrivals, ScenarioFile, Timestamps, WorkloadArrivals};
use crate::scenario::laws::Files;
use orrery_import::{Content, File, Format, ImportError, Kind, Options, Request, Workload};
use orrery_run::error::{SpecError, known};
use orrery_sim::request::{Arrival, Source, VecSource};
use orrery_sim::rng::Stream;
use orrery_sim::time::{Span, Time};
use orrery_traces::TraceError;
use orrery_traces::azure_llm::LlmRecord;
use orrery_traces::part::Slice;
use orrery_traces::workload::Application;
use std::collections::BTreeMap;
use std::sync::Arc;

/// An error of a file at the key that names it.
fn at(key: &str, error: ImportError) -> SpecError {
    match error {
        ImportError::Trace(source) => crate::scenario::value::at_key(key, source),
        ImportError::Value { place, found, allowed, remedy } => {
            SpecError::value(key, format!("{found} ({place})"), allowed, remedy)
        }
    }
}

impl Files {
    /// Whose format a file has, where it is another tool's.
    pub(crate) fn foreign(
        &self,
        key: &str,
        name: &str,
    ) -> Result<Option<&'static Format>, SpecError> {
        self.formats.all(name.to_string(), || {
            let open = self.again(key, name)?;
            orrery_import::recognise(&File::new(name, &open)).map_err(|e| at(key, e))
        })
    }

    /// The error of a file of another tool that is no load, where it is such a file.
    pub(crate) fn refusal(&self, key: &str, name: &str) -> Option<SpecError> {
        let open = self.again(key, name).ok()?;
        orrery_import::refusal(&File::new(name, &open)).map(|error| at(key, error))
    }

    /// How a file is opened, once it was.
    fn again<'a>(
        &'a self,
        key: &'a str,
        name: &'a str,
    ) -> Result<impl Fn() -> Result<orrery_traces::Input, TraceError> + 'a, SpecError> {
        self.open(key, name)?;
        Ok(move || {
            self.open(key, name)
                .map_err(|e| TraceError::Io { file: name.to_string(), reason: e.to_string() })
        })
    }

    /// What a file of another tool has, if it is such a file and this kind of thing reads it; `None` for orrery's own.
    fn imported(
        &self,
        key: &str,
        name: &str,
        kind: Kind,
        own: &[&str],
        timestamps: Option<&Timestamps>,
    ) -> Result<Option<Arc<Content>>, SpecError> {
        let options = timestamps.map_or_else(Options::default, |t| t.options(Options::default()));
        self.imports.all(format!("{name}\n{kind:?}{options:?}"), || {
            let format = self.foreign(key, name)?;
            let format = format.filter(|f| f.becomes.contains(&kind) && !own.contains(&f.name));
            let Some(format) = format else { return Ok(None) };
            let open = self.again(key, name)?;
            let file = File::new(name, &open);
            let read = orrery_import::read_as(&file, format, &options).map_err(|e| at(key, e))?;
            let content = read.content(Some(kind)).map_err(|e| at(key, e))?.clone();
            let left =
                (!read.ignored.is_empty()).then(|| format!("ignored: {}", read.ignored.join(", ")));
            self.say(name, read.assumed.into_iter().chain(left).collect());
            Ok(Some(Arc::new(content)))
        })
    }

    /// The prompts of another tool's file.
    pub(crate) fn prompts(
        &self,
        key: &str,
        llm: &LlmArrivals,
    ) -> Result<Option<Vec<LlmRecord>>, SpecError> {
        let (own, timestamps) = (["azure-llm"], llm.timestamps.as_ref());
        let content = self.imported(key, &llm.file, Kind::Prompts, &own, timestamps)?;
        let Some(Content::Prompts(prompts)) = content.as_deref() else { return Ok(None) };
        let record = |&(at, context_tokens, generated_tokens): &(Time, u32, u32)| LlmRecord {
            at,
            context_tokens,
            generated_tokens,
        };
        Ok(Some(prompts.rows.iter().map(record).collect()))
    }

    /// The requests of another tool's file.
    pub(crate) fn workload(
        &self,
        key: &str,
        w: &WorkloadArrivals,
    ) -> Result<Option<Workload>, SpecError> {
        let timestamps = w.timestamps.as_ref();
        match self.imported(key, &w.file, Kind::Workload, &[], timestamps)?.as_deref() {
            Some(Content::Workload(workload)) => Ok(Some(workload.clone())),
            _ => Ok(None),
        }
    }

    /// The law of a model in another tool's file. One without a name for its model is of any.
    pub(crate) fn profile(
        &self,
        key: &str,
        name: &str,
        wanted: &str,
    ) -> Result<Option<LatencyLaw>, SpecError> {
        // A profile of orrery's own is TOML.
        if name.ends_with(".toml") {
            return Ok(None);
        }
        let at = format!("{key}.file");
        let content = self.imported(&at, name, Kind::Profile, &["latencies"], None)?;
        let Some(Content::Profile(profile)) = content.as_deref() else {
            let format = self.foreign(&at, name)?.filter(|f| !f.becomes.contains(&Kind::Profile));
            let Some(format) = format else { return Ok(None) };
            let found = format!("`{name}`, of the format {}", format.title);
            let allowed = "latencies by batch size";
            let remedy = "`orrery import --help` says what a file of each format becomes";
            return Err(SpecError::value(at, found, allowed, remedy));
        };
        let models = profile.models();
        let model = match models[..] {
            [UNNAMED] => UNNAMED,
            _ => models[known(&format!("{key}.model"), wanted, &models)?],
        };
        let rows = profile.of(model);
        Ok(Some(match rows.iter().all(|(_, ms)| ms.len() == 1) {
            true => LatencyLaw::Table(rows.into_iter().map(|(size, ms)| (size, ms[0])).collect()),
            false => LatencyLaw::Measured(rows),
        }))
    }
}

/// The execution time of a request that brings none.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Alone {
    /// Drawn from the application's law.
    Drawn,
    /// A batch of one, where the model's laws do not look at it.
    Plain(Span),
    /// The application must say it.
    Missing,
}

impl Alone {
    /// That of an application.
    pub(crate) fn of(file: &ScenarioFile, app: usize) -> Alone {
        let app = &file.app[app];
        if app.time.is_some() {
            return Alone::Drawn;
        }
        let model = file.model.iter().find(|m| m.name == app.model);
        let ms = model.and_then(|model| plain_alone_ms(model, &file.device));
        ms.map_or(Alone::Missing, |ms| Alone::Plain(Span::from_ms_f64(ms)))
    }
}

/// What a model is called whose file does not name it.
const UNNAMED: &str = "model";

/// The applications of a file's names, as indices into `apps`: those of these names, or else, where every name is one,
/// of these numbers, which `chosen` has.
fn known_apps(names: &[String], apps: &[String], chosen: &[usize]) -> Vec<Option<usize>> {
    let named: Vec<_> =
        names.iter().map(|name| apps.iter().position(|app| is_named(app, name))).collect();
    if named.iter().any(Option::is_some) {
        return named;
    }
    let numbered = names.iter().map(|name| {
        let number: usize = name.parse().ok()?;
        chosen.iter().position(|app| *app == number).map(Some)
    });
    numbered.collect::<Option<_>>().unwrap_or(named)
}

/// The application of each name of a file, as an index into `apps`: a known one, or in turn where none is known.
pub(crate) fn whose(
    w: &WorkloadArrivals,
    names: &[String],
    apps: &[String],
    chosen: &[usize],
) -> Result<Vec<usize>, SpecError> {
    let by_name = known_apps(names, apps, chosen);
    if by_name.iter().all(Option::is_none) {
        return Ok((0..names.len()).map(|i| i % apps.len()).collect());
    }
    let of = |(name, known): (&String, &Option<usize>)| {
        known.ok_or_else(|| {
            let found = format!("`{name}` in `{}`", w.file);
            let allowed =
                format!("names of applications ({}), or none of them", apps.join(", "));
            let remedy = format!(
                "add an `[[app]]` with the name `{}`, or rename all applications to deal the file's names out to them \
                 in turn",
                word(name)
            );
            SpecError::value("arrivals.workload.file", found, allowed, remedy)
        })
    };
    names.iter().zip(&by_name).map(of).collect()
}

/// A name as one that an application may have: `/v1/classify` is `v1-classify`.
fn word(name: &str) -> String {
    let usual = |c: char| if c.is_ascii_alphanumeric() || "-_+.".contains(c) { c } else { '-' };
    let word: String = name.chars().map(usual).collect();
    word.trim_matches(['-', '.']).chars().take(80).collect()
}

/// Whether an application is that of a name.
fn is_named(app: &str, name: &str) -> bool {
    app == name || app == word(name)
}

/// What a reader of the results should know of names that were dealt out.
pub(crate) fn note(
    w: &WorkloadArrivals,
    names: &[String],
    apps: &[String],
    chosen: &[usize],
) -> Option<String> {
    let (of, n) = (names.len(), apps.len());
    let first = names.first()?;
    match known_apps(names, apps, chosen)[..] {
        [Some(at), ..] if !is_named(&apps[at], first) => {
            return Some(format!(
                "{}: names are numbers of applications: `{first}` is `{}`",
                w.file, apps[at]
            ));
        }
        ref known if known.iter().any(Option::is_some) => return None,
        _ => {}
    }
    Some(format!(
        "{}: {of} names, none of them an application's, go round the {n} applications in order of appearance: `{first}` \
         is `{}`",
        w.file,
        apps.first()?
    ))
}

/// The requests as a source: `senders` are the applications of each name, and what their requests take.
pub(crate) fn source(
    w: &WorkloadArrivals,
    workload: &Workload,
    slice: Slice,
    senders: Vec<(Application, Alone)>,
    seed: u64,
) -> Result<Box<dyn Source>, SpecError> {
    let all = workload.requests.iter().enumerate();
    let kept = |(row, r): &(usize, &Request)| slice.has(*row as u64, r.at);
    let kept: Vec<&Request> = all.filter(kept).map(|(_, r)| r).collect();
    let Some(first) = kept.first() else {
        let found = format!("no request of the {} in `{}`", workload.requests.len(), w.file);
        let (allowed, remedy) = ("a part that has arrivals", "choose another part");
        return Err(SpecError::value("arrivals.workload", found, allowed, remedy));
    };
    let begin = slice.origin(first.at);
    let mut streams: BTreeMap<u32, Stream> = BTreeMap::new();
    let mut arrivals = Vec::with_capacity(kept.len());
    for r in kept {
        let (app, own) = &senders[r.name as usize];
        let number = app.app.0;
        let mut drawn = || {
            let stream = streams.entry(number);
            app.law.sample(stream.or_insert_with(|| Stream::named(seed, "exec", number.into())))
        };
        let alone = match (r.alone, own) {
            (Some(alone), _) => alone,
            (None, Alone::Plain(alone)) => *alone,
            (None, Alone::Drawn) => drawn(),
            (None, Alone::Missing) => {
                let key = format!("app[{number}].time");
                let found = format!("nothing, and `{}` has no execution times", w.file);
                let allowed =
                    "a distribution of execution times, such as `{ constant = { ms = 5.0 } }`";
                return Err(SpecError::value(key, found, allowed, "add `time`"));
            }
        };
        let (app, model, size, slo) = (app.app, app.model, app.size, app.slo);
        let at = Time::ZERO + (r.at - begin);
        arrivals.push(Arrival { at, app, model, size, slo, alone });
    }
    Ok(Box::new(VecSource::new(arrivals)))
}
