//! A run that is ready but for its policy and its seed: what scenario files and table files both
//! come down to.
//!
//! The truth (arrivals, applications, execution times) and the policies' profile are drawn from
//! streams of different names, so neither can leak into the other.

use crate::error::SpecError;
use crate::policies;
use crate::policy_spec::PolicySpec;
use orrery_sim::cluster::DeviceSpec;
use orrery_sim::core::Delays;
use orrery_sim::driver::ready::{Simulate, watched};
use orrery_sim::driver::{Failure, World, simulate};
use orrery_sim::latency::Latency;
use orrery_sim::log::{AppTerms, DeviceTerms, Terms};
use orrery_sim::metrics::{Metrics, Scopes, Window};
use orrery_sim::observer::Observer;
use orrery_sim::penalty::Penalty;
use orrery_sim::policy::Policy;
use orrery_sim::policy::autoscale::{self, Autoscale};
use orrery_sim::policy::parameters::Lanes;
use orrery_sim::policy::served::{Cost, Served};
use orrery_sim::profile::{KindsProfile, ModelProfile, profile_stream};
use orrery_sim::request::{AppId, ModelId, Source};
use orrery_sim::time::{Span, Time};
use orrery_traces::arrivals::{ArrivalLaw, Limited};
use orrery_traces::exec_time::{ExecLaw, FLOOR};
use orrery_traces::phases::Factors;
use orrery_traces::slo_steps::Steps;
use orrery_traces::workload::{Application, OpenWorkload};
use std::collections::BTreeMap;
use std::rc::Rc;

/// How the policies' profile is measured.
#[derive(Clone, Debug, PartialEq)]
pub struct ProfileSetup {
    /// The batch sizes that exist.
    pub sizes: Vec<u32>,
    /// Batches measured for each size.
    pub batches: u32,
    /// Bins of each application's histogram.
    pub bins: usize,
    /// The seed of its stream; `None` takes the run's.
    pub seed: Option<u64>,
    /// What the applications are multiplied by, by their numbers; as they are where it is empty.
    pub as_of: Vec<Factors>,
}

/// The sources of a run.
pub type Sources = Vec<Box<dyn Source>>;

/// Makes the sources of a seed.
pub type MakeSources = dyn Fn(u64) -> Result<Sources, SpecError>;

pub use orrery_sim::driver::ready::Run;

/// Where the requests come from.
#[derive(Clone)]
pub enum Workload {
    /// One arrival process shared by the applications, by weight.
    Open {
        /// The process.
        arrivals: ArrivalLaw,
        /// Stop after this many requests.
        requests: u64,
        /// Stop at this instant.
        until: Time,
    },
    /// Anything else: sources made for a seed.
    Sources(Rc<MakeSources>),
}

/// A run but for its policy and its seed.
#[derive(Clone)]
pub struct Setup {
    /// Devices, true latencies, delays.
    pub world: World,
    /// What policies that know one kind of device believe of each model's latency: it is that on the base kind.
    pub believed: Vec<Latency>,
    /// Who sends what.
    pub apps: Vec<Application>,
    /// When requests arrive, of which application and size.
    pub workload: Workload,
    /// The SLO that plans are made for, by model.
    pub slo: Vec<Span>,
    /// What policies believe of each kind of device, by model; empty where they are told of one kind.
    pub kinds: Vec<KindsProfile>,
    /// How the policies' profile is measured.
    pub profile: ProfileSetup,
    /// Which requests count.
    pub window: Window,
    /// Which figures are kept beside the total.
    pub scopes: Scopes,
    /// Keep every latency, for exact quantiles.
    pub exact: bool,
    /// Devices come and go with the load.
    pub autoscale: Option<autoscale::Config>,
    /// The key of each source of the workload, and its mean rate where it has one; empty where nothing is known.
    pub places: Vec<(String, Option<f64>)>,
    /// The file that it is made from, with the line of a key, for errors.
    pub place_of: Rc<dyn Fn(&str) -> String>,
    /// Whether requests carry SLOs of their own, in place of their application's.
    pub own_slos: bool,
    /// The steps of each application's SLO, by number; empty or `None` where it does not change.
    pub slo_steps: Vec<Option<Steps>>,
    /// What late answers cost, by application; empty where each costs one after the SLO, and costs are not counted.
    pub penalties: Vec<Penalty>,
    /// What the scheduler's own time costs.
    pub scheduler: Cost,
}

impl Setup {
    /// The sources of a seed.
    ///
    /// # Errors
    /// When a parameter of the workload is out of range or its file is damaged.
    pub fn sources(&self, seed: u64) -> Result<Sources, SpecError> {
        match &self.workload {
            Workload::Open { arrivals, requests, until } => {
                let process = Limited::new(arrivals.start(seed, 0)?, *until, *requests);
                let open = OpenWorkload::new(Box::new(process), self.apps.clone(), seed)?;
                Ok(vec![Box::new(open)])
            }
            Workload::Sources(make) => make(seed),
        }
    }

    /// Tells policies these laws of a model, by kind of device.
    ///
    /// # Panics
    /// When there is no such model, or not a latency model for each GPU type.
    pub fn tell(&mut self, model: usize, laws: Vec<Latency>) {
        let kinds = &mut self.kinds[model];
        assert_eq!(laws.len(), kinds.laws.len(), "a latency model for each GPU type");
        self.believed[model] = laws[kinds.base as usize].clone();
        kinds.laws = laws;
    }

    /// What the policies are told, by model.
    pub fn profiles(&self, seed: u64) -> Vec<ModelProfile> {
        let seed = self.profile.seed.unwrap_or(seed);
        let mut apps: Vec<Vec<&Application>> = vec![Vec::new(); self.believed.len()];
        for app in &self.apps {
            if let Some(of_model) = apps.get_mut(app.model.index()) {
                of_model.push(app);
            }
        }
        let models = self.believed.iter().zip(&self.slo).enumerate();
        let of = |(m, (law, slo)): (usize, (&Latency, &Span))| ModelProfile {
            kinds: self.kinds.get(m).cloned(),
            penalties: self.penalties_of(&apps[m]),
            ..self.profile_of(ModelId(m as u32), &apps[m], law, *slo, seed)
        };
        models.map(of).collect()
    }

    /// What late answers of these applications cost, where costs are counted.
    fn penalties_of(&self, apps: &[&Application]) -> BTreeMap<usize, Penalty> {
        let of = |a: &&Application| {
            let app = a.app.index();
            Some((app, self.penalties.get(app)?.clone()))
        };
        apps.iter().filter_map(of).collect()
    }

    fn profile_of(
        &self,
        model: ModelId,
        apps: &[&Application],
        law: &Latency,
        slo: Span,
        seed: u64,
    ) -> ModelProfile {
        let ProfileSetup { sizes, batches, bins, .. } = &self.profile;
        let as_of =
            |a: &Application| self.profile.as_of.get(a.app.index()).copied().unwrap_or_default();
        if let [a @ Application { app, law: ExecLaw::Constant(alone), .. }] = apps
            && as_of(a).time == 1.0
        {
            let app = (app.index(), *alone);
            return ModelProfile::of_constant(law, slo, sizes, *batches, app, *bins);
        }
        let weight = |a: &Application| a.weight * as_of(a).weight;
        let total: f64 = apps.iter().map(|a| weight(a)).sum();
        let mut stream = profile_stream(seed, u64::from(model.0));
        let draw = || {
            let Some((last, others)) = apps.split_last() else { return (0, Span::from_ms(1)) };
            let mut u = stream.uniform() * total;
            let chosen = others.iter().find(|a| {
                u -= weight(a);
                u < 0.0
            });
            let app = chosen.unwrap_or(last);
            let alone = app.law.sample(&mut stream);
            (app.app.index(), alone.scale(as_of(app).time).max(FLOOR))
        };
        ModelProfile::measure(law, slo, sizes, *batches, draw, *bins)
    }

    /// A policy before its start.
    pub fn policy(&self, policy: &PolicySpec, seed: u64) -> Box<dyn Policy> {
        let built = policy.build(&self.profiles(seed), seed);
        let scaled: Box<dyn Policy> = match self.autoscale {
            None => built,
            Some(config) => Box::new(Autoscale::new(config, built)),
        };
        if self.scheduler == Cost::default() {
            return scaled;
        }
        Box::new(Served::new(self.scheduler, scaled))
    }

    /// Passes when the run has what the policy needs.
    ///
    /// # Errors
    /// When the policy stops batches and a device cannot, it learns from a profiler and there is
    /// none, it wants more bins than are profiled, or it leaves lanes of a device empty.
    pub fn check_policy(&self, policy: &PolicySpec) -> Result<(), SpecError> {
        if policy.needs_profiler() && self.world.core.profiler.is_none() {
            return Err(policy.without_profiler());
        }
        policy.check_bins(self.profile.bins)?;
        self.check_lanes(policy)?;
        policy.check_devices(self.world.core.devices.iter().all(|d| d.can_preempt))
    }

    /// Passes when no device has lanes that the policy leaves empty: they would change nothing.
    fn check_lanes(&self, policy: &PolicySpec) -> Result<(), SpecError> {
        let fills = |lanes| matches!(lanes, Lanes::Parallel | Lanes::All);
        let more = |d: &&DeviceSpec| d.lanes > d.stages;
        let device = self.world.core.devices.iter().find(more);
        let Some(device) = device.filter(|_| !fills(policy.lanes())) else { return Ok(()) };
        let key = format!("device[{}].lanes", device.kind);
        let allowed = format!("1: `{policy}` runs one batch at a time on a device");
        let users: Vec<String> = policies::all()
            .filter_map(|table| PolicySpec::parse(table.about.name).ok())
            .filter(|policy| fills(policy.lanes()))
            .map(|policy| format!("`{policy}`"))
            .collect();
        let remedy = format!(
            "remove `lanes`: add devices in place of lanes, or use `stages` with `alpaserve`; {} and policies in \
             Python use more than one lane",
            users.join(", ")
        );
        Err(self.in_file(SpecError::value(key, device.lanes, allowed, remedy)))
    }

    /// An error of the scenario's file, where it is known.
    fn in_file(&self, error: SpecError) -> SpecError {
        error.in_file(&(self.place_of)(""))
    }

    /// Runs a policy and shows the run to one more observer.
    ///
    /// # Errors
    /// When the run lacks what the policy needs, the workload cannot be made, or a source
    /// fails in mid-stream.
    pub fn run_with<O: Observer>(
        &self,
        policy: &PolicySpec,
        seed: u64,
        observer: O,
    ) -> Result<Run<O>, SpecError> {
        self.run_by(policy, seed, observer, simulate)
    }

    /// The same by one of the loops of [`orrery_sim::driver::ready`], for long runs.
    ///
    /// # Errors
    /// As [`Setup::run_with`].
    pub fn run_by<O: Observer>(
        &self,
        policy: &PolicySpec,
        seed: u64,
        observer: O,
        simulate: Simulate<O>,
    ) -> Result<Run<O>, SpecError> {
        self.check_policy(policy)?;
        let metrics = Metrics::new(self.window, self.exact)
            .with_scopes(self.scopes.clone())
            .with_penalties(self.penalties.clone());
        let built = self.policy(policy, seed);
        let mut finished = simulate(&self.world, self.sources(seed)?, built, (metrics, observer));
        match finished.failure.take() {
            Some(failure) => Err(self.failed(&failure)),
            None => Ok(finished),
        }
    }

    /// The error of a run that is not whole.
    pub fn failed(&self, failure: &Failure) -> SpecError {
        match failure {
            Failure::ArrivalAfterEnd { source, .. } => {
                self.after_the_end(failure, self.places.get(source.index()))
            }
            Failure::Stuck { .. } => {
                let allowed = "requests that end, or an instant at which the run stops";
                let remedy = "give the requests an SLO, correct what keeps them from running (`explain` tells of one), or set `until_s`";
                self.in_file(SpecError::value("until_s", failure, allowed, remedy))
            }
            Failure::EventAfterEnd { .. } => {
                let remedy = "shorten the times that end too late, raise the rate of the arrivals, or stop the run earlier with `until_s`";
                self.in_file(SpecError::value("until_s", failure, TIME, remedy))
            }
            Failure::Source(why) => {
                let remedy = "repair the file, or choose a slice that leaves the damaged part out";
                SpecError::value("workload", why, "a stream without errors", remedy)
            }
        }
    }

    /// The error of a source whose arrivals run over the end of time.
    fn after_the_end(&self, failure: &Failure, place: Option<&(String, Option<f64>)>) -> SpecError {
        let (key, rate) = place.map_or(("workload", None), |(key, rate)| (key, *rate));
        let rate = rate.map(|rate| format!("{rate} requests/s, where "));
        let found = format!("{}{failure}", rate.unwrap_or_default());
        let remedy = "raise the rate (or shorten the thought of the clients), lower `requests`, or set \
                      `duration_s` or `until_s`";
        SpecError::value(key, found, TIME, remedy).in_file(&(self.place_of)(key))
    }

    /// Runs a policy.
    ///
    /// # Errors
    /// As [`Setup::run_with`].
    pub fn run(&self, policy: &PolicySpec, seed: u64) -> Result<Metrics, SpecError> {
        Ok(self.run_by(policy, seed, (), watched)?.observer.0)
    }

    /// One model on one GPU.
    pub fn single(law: Latency, apps: Vec<Application>, slo: Span, workload: Workload) -> Setup {
        Setup {
            world: World::single(law.clone()),
            believed: vec![law],
            apps,
            workload,
            slo: vec![slo],
            kinds: Vec::new(),
            profile: ProfileSetup {
                sizes: vec![1, 2, 4, 8, 16],
                batches: 500,
                bins: 64,
                seed: None,
                as_of: Vec::new(),
            },
            window: Window::default(),
            scopes: Scopes::Each,
            exact: false,
            autoscale: None,
            places: Vec::new(),
            place_of: Rc::new(|_| String::new()),
            own_slos: false,
            slo_steps: Vec::new(),
            penalties: Vec::new(),
            scheduler: Cost::default(),
        }
    }

    /// What a schedule log says of the world, for its auditor.
    pub fn terms(&self) -> Terms {
        let devices: Vec<_> = self.world.core.devices.iter().map(DeviceTerms::from).collect();
        // Only the autoscaler adds devices, and all of one kind.
        let added = self.autoscale.and_then(|a| self.world.provision.get(a.kind as usize));
        let later_devices = added.map(|(spec, _)| DeviceTerms::from(spec));
        let stepped =
            |a: &Application| self.slo_steps.get(a.app.index()).is_some_and(Option::is_some);
        let app = |a: &Application| AppTerms {
            model: a.model,
            slo: (!self.own_slos && !stepped(a)).then_some(a.slo),
        };
        let counts = |d: &DeviceTerms| d.memory.as_ref().is_some_and(|m| m.pages.is_some());
        let counted = devices.iter().any(counts) || later_devices.iter().any(counts);
        let pages = self.world.core.models.iter().map(|m| m.pages);
        Terms {
            pages: pages.filter(|_| counted).collect(),
            devices,
            later_devices,
            apps: self.apps.iter().map(app).collect(),
            penalties: self.penalties.clone(),
            stalls: !self.world.stalls.is_none(),
        }
    }

    /// Sets the message delays.
    pub fn set_delays(&mut self, delays: Delays) {
        self.world.core.delays = delays;
    }
}

/// What a run may last.
const TIME: &str = "a run within 2^64 ns, some 584 years";

/// The applications of a workload, numbered from 0, from (weight, law) pairs for one model.
pub fn applications(
    parts: Vec<(f64, orrery_traces::exec_time::ExecLaw)>,
    slo: Span,
) -> Vec<Application> {
    let number = |(i, (weight, law))| Application {
        app: AppId(i as u32),
        model: ModelId(0),
        weight,
        law,
        slo,
        size: 1,
    };
    parts.into_iter().enumerate().map(number).collect()
}
