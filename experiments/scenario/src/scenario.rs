//! Scenario files: one declarative TOML file for a run of any policies.
//!
//! It is not a paper's table, which is a file of its own kind. `docs/scenarios.md` lists the keys.
//!
//! ```text
//!  text ── file.rs ──> ScenarioFile ── expand.rs, check.rs ──> Scenario ── setup(seed) ──> Setup
//!                      (keys, types)   (zoos; values)          (files are read here)
//! ```
//!
//! Every error is a [`SpecError`] that names the file, the line, the key, what was found, what is
//! allowed, and the remedy. The line is found from the key, so no check needs to carry it along.

pub mod caveats;
mod check;
mod delays;
pub mod disturbance;
pub(crate) mod effect;
mod expand;
pub mod file;
mod laws;
mod load;
mod measured;
mod on_kinds;
pub mod penalties;
pub mod place;
mod pools;
mod process;
mod rate;
pub mod scheduler;
pub mod slo_steps;
pub mod texts;
mod value;
mod vary;
pub mod zoo;

use crate::kind;
use crate::whole::read_text;
pub use load::check::selection;
pub use measured::PROFILE_VERSION;
pub use on_kinds::LatencyPart;
use orrery_run::PolicySpec;
use orrery_run::SpecError;
pub use vary::{InputFile, changed, with_keys};

use expand::Origins;
use file::{Noise, ScenarioFile};
use laws::Files;
use load::clients::ClosedLoad;
use load::{OpenLoad, changes, sent};
use on_kinds::latency_on;
use orrery_run::replication::{MeasuredSizes, ScopeNames};
use orrery_run::setup::{ProfileSetup, Setup, Workload};
use orrery_sim::cluster::{DeviceSpec, Footprint};
use orrery_sim::core::{CoreSpec, Profiler};
use orrery_sim::driver::World;
use orrery_sim::latency::{self, Latency};
use orrery_sim::metrics::{Scopes, Window};
use orrery_sim::request::{AppId, ModelId, Source};
use orrery_sim::time::{Span, Time};
use orrery_traces::exec_time::ExecLaw;
use orrery_traces::query_sizes::{SizeLaw, with_sizes};
use orrery_traces::slo_steps::{Steps, stepped_slos};
use orrery_traces::workload::Application;
use process::Process;
use std::collections::BTreeMap;
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;
use value::time_s;

/// With more models or applications than this, figures of each are kept only when asked for.
const EACH_MAX: usize = 100;

/// A scenario whose file has been read and checked.
///
/// Errors name file, line and key, and the remedy:
///
/// ```
/// use orrery_scenario::Scenario;
///
/// let error = Scenario::from_text("a.toml", "policies = [\"fifo\"]\nsed = 3\n").unwrap_err();
/// let text = error.to_string();
/// assert!(text.starts_with("a.toml:2"), "{text}");
/// assert!(text.contains("did you mean `seed`?"), "{text}");
/// ```
#[derive(Clone, Debug)]
pub struct Scenario {
    /// Its name in results.
    pub name: String,
    /// The seed of a run that is not told another.
    pub seed: u64,
    /// What the file says, defaults filled in, zoos and copies written out.
    pub file: ScenarioFile,
    /// Whether a profile that it names says that nothing should be predicted with it.
    pub unfit_profile: bool,
    /// The file as it is on disk, and what it is now.
    source: place::Source,
    files: Files,
    /// Where in the file each model and application came from.
    origins: Origins,
}

impl Scenario {
    /// Reads and checks a file. The files that it names are opened by [`Scenario::setup`].
    ///
    /// # Errors
    /// When the file cannot be read, a key is unknown or missing, or a value is out of range.
    pub fn load(path: impl AsRef<Path>) -> Result<Scenario, SpecError> {
        let name = path.as_ref().display().to_string();
        let text = read_text(path)?;
        Scenario::from_text(&name, &text)
    }

    /// Checks a file's text. `name` is its path: messages begin with it, and the files that the
    /// scenario names are looked for in its folder.
    ///
    /// # Errors
    /// As [`Scenario::load`].
    pub fn from_text(name: &str, text: &str) -> Result<Scenario, SpecError> {
        let folder = Path::new(name).parent().unwrap_or(Path::new("")).to_path_buf();
        Scenario::among(name, text, Files::new(folder))
    }

    /// Another text in the place of this one: a file that both name is read once.
    ///
    /// # Errors
    /// As [`Scenario::from_text`].
    pub fn instead(&self, text: &str) -> Result<Scenario, SpecError> {
        Scenario::among(&self.source.path, text, self.files.clone())
    }

    fn among(name: &str, text: &str, files: Files) -> Result<Scenario, SpecError> {
        let file: ScenarioFile =
            texts::read(name, text).map_err(|e| kind::instead(kind::SCENARIO, name, text, e))?;
        let path = Path::new(name);
        let scenario = Scenario {
            name: file.name.clone().unwrap_or_else(|| stem(path)),
            seed: file.seed,
            file: file.clone(),
            source: place::Source::new(name, text),
            files,
            origins: Origins::default(),
            unfit_profile: false,
        };
        let expanded = expanded(&file, &scenario.files).map_err(|e| scenario.placed(e))?;
        let (file, origins, unfit_profile) = expanded;
        Ok(Scenario { file, origins, unfit_profile, ..scenario })
    }

    /// Its text, changes made: a file that gives the same scenario, in the folder of the one it came from.
    pub fn text(&self) -> String {
        let changed = self.source.changed.as_ref().and_then(|table| toml::to_string(&**table).ok());
        changed.unwrap_or_else(|| self.source.text.clone())
    }

    /// The path of its file, and the text that was read there: what [`Scenario::from_text`] takes.
    pub fn origin(&self) -> (&str, &str) {
        (&self.source.path, &self.source.text)
    }

    /// The key of a kind of device in the file; kinds of which there are none are not among [`Self::file`]'s.
    pub fn device_key(&self, i: usize) -> &str {
        self.origins.device(i).unwrap_or("device")
    }

    /// What a reader of the results should know: of the files that it names, and of its keys that change nothing in a run.
    pub fn notes(&self) -> Vec<String> {
        let arrivals = self.file.arrivals.as_ref();
        let open = arrivals.and_then(|a| OpenLoad::read(&self.file, a, &self.files).ok());
        let of_load = open.map_or(Vec::new(), |load| load.notes(&self.file));
        let unused = self.without_effect("no run looks at it", 1, |s, _| Ok(s.file.clone()));
        of_load.into_iter().chain(unused).collect()
    }

    /// The policies to run.
    ///
    /// # Errors
    /// When a name or a parameter is wrong.
    pub fn policies(&self) -> Result<Vec<PolicySpec>, SpecError> {
        check::policies(&self.file).map_err(|e| self.placed(e))
    }

    /// The names of the models, by number.
    pub fn model_names(&self) -> Vec<String> {
        self.file.model.iter().map(|m| m.name.clone()).collect()
    }

    /// The batch sizes that latencies were measured at, by model.
    pub fn measured_sizes(&self) -> Vec<Vec<MeasuredSizes>> {
        self.file.model.iter().map(|m| m.measured_sizes(&self.file.device)).collect()
    }

    /// The names that the scopes of its results go by.
    pub fn scope_names(&self) -> ScopeNames {
        ScopeNames {
            models: self.model_names(),
            apps: self.app_names(),
            groups: self.group_names(),
            measured: self.measured_sizes(),
            scales: self.file.autoscale.is_some(),
        }
    }

    /// The names of the applications, by number.
    pub fn app_names(&self) -> Vec<String> {
        self.file.app.iter().map(|a| a.name.clone()).collect()
    }

    /// The names of the groups of applications, in the order in which they are first named; those
    /// without a group are `others`. Empty where every model and application has figures of its own.
    pub fn group_names(&self) -> Vec<String> {
        match self.grouping() {
            Some((names, _)) => names,
            None => Vec::new(),
        }
    }

    /// The group of each application, by its number: that of [`Scenario::group_names`], or all in one.
    pub fn groups_of_apps(&self) -> Vec<u32> {
        self.grouping().map_or_else(|| vec![0; self.file.app.len()], |(_, groups)| groups)
    }

    /// The groups, and that of each application; `None` where each has figures of its own.
    fn grouping(&self) -> Option<(Vec<String>, Vec<u32>)> {
        let named = self.file.app.iter().any(|a| a.group.is_some());
        let many = self.file.app.len().max(self.file.model.len()) > EACH_MAX;
        match self.file.scopes {
            Some(file::Scopes::Each) => return None,
            None if !named && !many => return None,
            _ => {}
        }
        let mut names: Vec<String> = Vec::new();
        let mut numbers = BTreeMap::new();
        let mut number = |app: &file::App| {
            let name = app.group.as_deref().unwrap_or(if named { "others" } else { "all" });
            *numbers.entry(name.to_string()).or_insert_with(|| {
                names.push(name.to_string());
                names.len() as u32 - 1
            })
        };
        let groups = self.file.app.iter().map(&mut number).collect();
        Some((names, groups))
    }

    /// The name of each device's kind, by number of the device.
    pub fn device_names(&self) -> Vec<String> {
        let kinds = self.file.device.iter();
        kinds.flat_map(|d| (0..d.count).map(|_| d.kind.clone())).collect()
    }

    /// The run of a seed, but for its policy. Files are opened here.
    ///
    /// # Errors
    /// When a file is missing or damaged, a selection has nothing, or an SLO cannot be met.
    pub fn setup(&self, seed: u64) -> Result<Setup, SpecError> {
        self.make(seed).map_err(|e| self.placed(e))
    }

    /// An error with the file's name, and the line of its key.
    pub fn placed(&self, error: SpecError) -> SpecError {
        let error = self.origins.translate(&self.file, error);
        self.source.placed(error)
    }

    fn make(&self, seed: u64) -> Result<Setup, SpecError> {
        let file = &self.file;
        let world = self.world(seed)?;
        let open = match &file.arrivals {
            Some(arrivals) => Some(OpenLoad::read(file, arrivals, &self.files)?),
            None => None,
        };
        let (places, source) = (self.load_places(open.as_ref()), self.source.clone());
        let steps = self.steps()?;
        let apps = self.apps(open.as_ref(), &steps)?;
        self.check_slo(&world, &apps, &steps)?;
        let p = &file.profile;
        let from = time_s("warm_up_s", file.warm_up_s)?;
        let sizes = self.sizes()?;
        let closed = match &file.closed_loop {
            Some(c) => Some(ClosedLoad::read(file, c, &apps)?),
            None => None,
        };
        let clients = closed.as_ref().map_or_else(Vec::new, ClosedLoad::senders);
        let sent = sent::sent(file, open.as_ref(), &clients, &apps, &sizes)?;
        let kinds = pools::kinds(file, &world, &sent)?;
        Ok(Setup {
            believed: kinds.iter().map(|told| told.laws[told.base as usize].clone()).collect(),
            kinds,
            workload: self.workload(open, closed, &apps, sizes, &steps)?,
            slo_steps: steps,
            penalties: check::penalties(file)?,
            scheduler: file.scheduler.unwrap_or_default().cost()?,
            world,
            apps,
            slo: file.model.iter().map(|m| Span::from_ms_f64(m.slo_ms)).collect(),
            profile: ProfileSetup {
                sizes: p.sizes.clone(),
                batches: p.batches,
                bins: p.bins,
                seed: p.seed,
                as_of: match p.at_s {
                    0.0 => Vec::new(),
                    at_s => file.app.iter().map(|a| changes::at(a, at_s)).collect(),
                },
            },
            window: Window { from, to: Time::NEVER },
            exact: file.exact_quantiles,
            scopes: match self.grouping() {
                None => Scopes::Each,
                Some((_, groups)) => Scopes::Groups(groups),
            },
            autoscale: file.autoscale.as_ref().map(|a| a.config(file)).transpose()?,
            places,
            place_of: Rc::new(move |key| source.place(key)),
            own_slos: file
                .arrivals
                .as_ref()
                .is_some_and(|a| a.workload.as_ref().is_some_and(|w| !w.scenario_slos)),
        })
    }

    /// Where the sources are described: open load, then the closed loop.
    fn load_places(&self, open: Option<&OpenLoad>) -> Vec<(String, Option<f64>)> {
        let arrivals = self.file.arrivals.as_ref().and_then(process::steady_law);
        let open = open.map(|load| {
            let rate = load.law().and_then(|law| law.mean_rate_per_s().ok());
            match arrivals {
                Some((_, name)) => (format!("arrivals.{name}"), rate),
                None => ("arrivals".to_string(), rate),
            }
        });
        let closed =
            self.file.closed_loop.as_ref().map(|_| ("closed_loop.think".to_string(), None));
        open.into_iter().chain(closed).collect()
    }

    /// Devices, true latencies, delays.
    fn world(&self, seed: u64) -> Result<World, SpecError> {
        let file = &self.file;
        let (mut devices, mut latency) = (Vec::new(), Vec::new());
        let mut provision = Vec::new();
        let startup_s = file.autoscale.as_ref().map_or(0.0, |a| a.startup_s);
        for (kind, d) in file.device.iter().enumerate() {
            let spec = DeviceSpec {
                kind: kind as u32,
                lanes: d.lanes.max(d.stages),
                sharing: d.sharing.into(),
                can_preempt: d.can_preempt,
                memory_pages: d.memory_pages,
                holds: None,
                stages: d.stages,
            };
            provision.push((spec.clone(), Span::from_secs_f64(startup_s)));
            let held = |device: u32| Some(self.numbers_of(&d.holds.as_ref()?[device as usize]));
            devices.extend((0..d.count).map(|i| DeviceSpec { holds: held(i), ..spec.clone() }));
            let models = file.model.iter().enumerate();
            let laws = models.map(|(m, model)| latency_on(m, model, d));
            let mut laws = laws.collect::<Result<Vec<Latency>, _>>()?;
            for law in &mut laws {
                if let Latency::Samples(replay) = law {
                    replay.seed = seed;
                }
            }
            latency.push(laws);
        }
        let load =
            |m: &file::Model| Footprint { pages: m.pages, load: Span::from_ms_f64(m.load_ms) };
        Ok(World {
            core: CoreSpec {
                devices,
                models: file.model.iter().map(load).collect(),
                delays: delays::delays(&file.delays, seed)?,
                profiler: file
                    .profiler
                    .as_ref()
                    .map(|p| Profiler { every: p.every, delay: Span::from_ms_f64(p.delay_ms) }),
            },
            latency,
            noise: match file.noise {
                None => latency::Noise::None,
                Some(Noise::Uniform(spread)) => latency::Noise::Uniform { spread, seed },
                Some(Noise::Lognormal(sigma)) => latency::Noise::Lognormal { sigma, seed },
            },
            batch_noise: self.batch_noise(seed)?,
            load_noise: match &file.load_noise {
                None => Default::default(),
                Some(noise) => noise.law("load_noise", seed)?,
            },
            stalls: match &file.stalls {
                None => Default::default(),
                Some(stalls) => stalls.law("stalls", seed)?,
            },
            provision,
            until: file.until_s.map(|s| time_s("until_s", s)).transpose()?,
            ..World::default()
        })
    }

    /// The noise of each model; empty where none has any.
    fn batch_noise(&self, seed: u64) -> Result<Vec<latency::BatchNoise>, SpecError> {
        let models = self.file.model.iter().enumerate();
        if self.file.model.iter().all(|m| m.noise.is_none()) {
            return Ok(Vec::new());
        }
        let of = |(i, m): (usize, &file::Model)| {
            m.noise.clone().unwrap_or_default().law(&format!("model[{i}].noise"), seed)
        };
        models.map(of).collect()
    }

    /// The numbers of models by their names, which were checked.
    fn numbers_of(&self, names: &[String]) -> Vec<ModelId> {
        let models = self.file.model.iter().enumerate();
        let numbers = models.filter(|(_, m)| names.contains(&m.name));
        numbers.map(|(number, _)| ModelId(number as u32)).collect()
    }

    /// The applications; those whose times come with the arrivals have the law of these.
    fn apps(
        &self,
        open: Option<&OpenLoad>,
        steps: &[Option<Steps>],
    ) -> Result<Vec<Application>, SpecError> {
        let file = &self.file;
        let mut apps = Vec::with_capacity(file.app.len());
        let numbers = check::model_numbers(file);
        for (i, a) in file.app.iter().enumerate() {
            let model = numbers.get(a.model.as_str()).copied().unwrap_or(0);
            let law = match &a.time {
                Some(time) => time.law(&format!("app[{i}].time"), &self.files)?,
                None => ExecLaw::Constant(Span::from_us(1)),
            };
            let slo_ms = a.slo_ms.unwrap_or(file.model[model].slo_ms);
            let longest = steps[i].as_ref().and_then(|s| s.slos().iter().max().copied());
            apps.push(Application {
                app: AppId(i as u32),
                model: ModelId(model as u32),
                weight: a.weight,
                law,
                // `inf` is `Span::MAX`
                slo: longest.unwrap_or_else(|| Span::from_ms_f64(slo_ms)),
                size: a.size,
            });
        }
        if let (Some(open), Some(arrivals)) = (open, &file.arrivals) {
            for (i, law) in open.carried_laws(file, arrivals, &apps)? {
                apps[i].law = law;
            }
        }
        Ok(apps)
    }

    /// The steps of each application's SLO: its own, or its model's if it has no SLO of its own.
    fn steps(&self) -> Result<Vec<Option<Steps>>, SpecError> {
        let models = check::model_numbers(&self.file);
        let of = |(i, a): (usize, &file::App)| {
            if let Some(own) = &a.slo_steps {
                return own.steps(&format!("app[{i}].slo_steps")).map(Some);
            }
            let m = models.get(a.model.as_str()).copied().unwrap_or(0);
            let of_model = self.file.model[m].slo_steps.filter(|_| a.slo_ms.is_none());
            of_model.map(|s| s.steps(&format!("model[{m}].slo_steps"))).transpose()
        };
        self.file.app.iter().enumerate().map(of).collect()
    }

    /// No SLO is below the fastest batch of one, unless the file says that this is meant.
    fn check_slo(
        &self,
        world: &World,
        apps: &[Application],
        steps: &[Option<Steps>],
    ) -> Result<(), SpecError> {
        let shortest = match self.file.noise {
            None => 1.0,
            Some(Noise::Uniform(spread)) => 1.0 - spread,
            Some(Noise::Lognormal(_)) => return Ok(()),
        };
        if !world.batch_noise.is_empty() {
            return Ok(());
        }
        let d = &world.core.delays;
        let around = d.dispatch.quantile(0.0) + d.fetch_per_request + d.reply.quantile(0.0);
        for (i, a) in apps.iter().enumerate().filter(|_| !self.file.allow_hopeless_slo) {
            let alone = Span::from_ns_f64(a.law.quantile_ns(1e-9));
            let alone = alone.scale(changes::longest(&self.file.app[i]));
            let batch = |kind: &Vec<Latency>| kind[a.model.index()].batch(a.size, alone);
            let Some(fastest) = world.latency.iter().map(batch).min() else { continue };
            let fastest = fastest.scale(shortest) + around;
            let of_steps = steps[i].as_ref().map_or(&[][..], Steps::slos);
            let short = of_steps.iter().position(|slo| *slo < fastest);
            let slo = short.map_or(a.slo, |step| of_steps[step]);
            if slo < fastest {
                let app = &self.file.app[i];
                let part = if short.is_some() { "slo_steps" } else { "slo_ms" };
                let own = app.slo_ms.is_some() || app.slo_steps.is_some();
                let model = format!("model[{}].{part}", a.model.index());
                let key = if own { format!("app[{i}].{part}") } else { model };
                let name = &app.name;
                let step = short.map_or(String::new(), |step| format!(" in step {step}"));
                let found = format!("{slo} for `{name}`{step}");
                let allowed = format!(
                    "at least {fastest}: the fastest batch of one request of `{name}` takes this long, including delays, so no request could meet its SLO"
                );
                let remedy = format!("raise {part}, or set `allow_hopeless_slo = true` at the top");
                return Err(SpecError::value(key, found, allowed, remedy));
            }
        }
        Ok(())
    }

    /// The laws of the applications' sizes; `None` for those whose size is always the same.
    fn sizes(&self) -> Result<Vec<Option<SizeLaw>>, SpecError> {
        let law = |(i, a): (usize, &file::App)| {
            a.sizes.as_ref().map(|s| s.law(&format!("app[{i}].sizes"), &self.files)).transpose()
        };
        self.file.app.iter().enumerate().map(law).collect()
    }

    fn workload(
        &self,
        open: Option<OpenLoad>,
        closed: Option<ClosedLoad>,
        apps: &[Application],
        sizes: Vec<Option<SizeLaw>>,
        steps: &[Option<Steps>],
    ) -> Result<Workload, SpecError> {
        let sized = sizes.iter().any(Option::is_some);
        let stepped = steps.iter().any(Option::is_some);
        if let (Some(load), None) = (&open, &closed)
            && let Process::Law(law) = &load.process
            && load.senders(apps).len() == apps.len()
            && !sized
            && !stepped
            && load.phases.is_empty()
        {
            let (requests, until) = (load.requests, load.until);
            return Ok(Workload::Open { arrivals: law.clone(), requests, until });
        }
        let (scenario, apps) = (self.clone(), apps.to_vec());
        let steps: Arc<[Option<Steps>]> = steps.into();
        let make = move |seed: u64| {
            let mut sources: Vec<Box<dyn Source>> = Vec::new();
            if let Some(load) = &open {
                let source = load.source(&apps, seed)?;
                // A recorded list has sizes of its own.
                sources.push(if sized && !matches!(load.process, Process::Queries(_)) {
                    with_sizes(source, sizes.clone(), seed)
                } else {
                    source
                });
            }
            if let Some(clients) = &closed {
                sources.push(with_sizes(Box::new(clients.source(seed)?), sizes.clone(), seed));
            }
            if stepped {
                let with = |s| Box::new(stepped_slos(s, steps.clone())) as Box<dyn Source>;
                sources = sources.into_iter().map(with).collect();
            }
            Ok(sources)
        };
        let placed = move |seed| make(seed).map_err(|e| scenario.placed(e));
        placed(self.seed)?;
        Ok(Workload::Sources(Rc::new(placed)))
    }
}

/// A file with all written out and checked, where its parts came from, and whether a profile that it names is unfit.
fn expanded(
    file: &ScenarioFile,
    files: &Files,
) -> Result<(ScenarioFile, Origins, bool), SpecError> {
    let (resolved, unfit) = measured::resolve(file, files)?;
    let (file, origins) = expand::expand(&resolved)?;
    check::check(&file).map_err(|e| origins.translate(&file, e))?;
    Ok((file, origins, unfit))
}

/// A file's name without its ending, as a word.
fn stem(path: &Path) -> String {
    let stem = path.file_stem().map_or_else(String::new, |s| s.to_string_lossy().into_owned());
    let usual = |c: char| if c.is_ascii_alphanumeric() || "-_+".contains(c) { c } else { '-' };
    let word: String = stem.chars().take(80).map(usual).collect();
    if word.is_empty() { "scenario".to_string() } else { word }
}
