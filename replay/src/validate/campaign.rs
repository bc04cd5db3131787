//! A campaign's file: which points, on which device, how often.

use super::capacity::beyond;
use super::remarks::QUICK;
use crate::device::{Device, one};
use crate::error::{Error, read_toml};
use crate::prediction::{ModeName, OverheadAs, check_mode};
use crate::profile::{Clocks, Settings};
use crate::runner::check_clock;
use crate::target::{Choice, DeviceConfig, Target};
use crate::threads::Placement;
use orrery_run::{PolicySpec, Setup};
use orrery_scenario::{Scenario, kind};
use orrery_sim::request::ModelId;
use orrery_sim::time::Time;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use toml::Value;

/// The keys of a campaign.
#[derive(Clone, Debug, Deserialize, Serialize, PartialEq, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CampaignFile {
    /// Its name in reports.
    pub name: String,
    /// What it is for, and what has become of it: a sentence for its report.
    #[serde(default)]
    pub note: String,
    /// The scenario, by its path from this file. One model or several; open-loop arrivals with a
    /// rate.
    pub scenario: String,
    /// `emulated`, `cpu:N`, `cuda:N` or `worker:N`.
    pub device: String,
    /// Length of a run.
    pub seconds: f64,
    /// A run is longer than that where fewer requests than these would count.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub requests: u32,
    /// `live`, or `schedule`: the simulator's plan is rerun batch for batch.
    #[serde(default)]
    pub mode: ModeName,
    /// Runs of each point; each meets other noise on an emulated device.
    pub repetitions: u32,
    /// Simulations of each point, with other noise and other stalls on the same arrivals.
    #[serde(default = "forty")]
    pub draws: u32,
    /// Seed of the workload.
    #[serde(default = "one::<u64>")]
    pub seed: u64,
    /// What becomes of the measured overheads in the simulation.
    #[serde(default)]
    pub overhead: OverheadAs,
    /// A profile, by its path from this file; measured at the beginning if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<String>,
    /// How to measure it.
    #[serde(default)]
    pub profiling: Settings,
    /// A run of which more than one in a hundred arrivals, decisions or launches is later than this, or
    /// than 2 % of the SLO, is invalid.
    #[serde(default = "one::<f64>")]
    pub max_lateness_ms: f64,
    /// Every second takes so many; for slow machines, and for the emulated device only.
    #[serde(default = "one::<u32>")]
    pub time_scale: u32,
    /// Pin threads to cores.
    #[serde(default)]
    pub pin: bool,
    /// Ask for real-time priority.
    #[serde(default)]
    pub real_time: bool,
    /// Time that jumps: tests the harness, times no device.
    #[serde(default)]
    pub virtual_clock: bool,
    /// What it is to reach.
    #[serde(default)]
    pub targets: Targets,
    /// What `--quick` changes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quick: Option<Quick>,
    /// The points.
    pub grid: Vec<Grid>,
    /// What an emulated device does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub emulated: Option<crate::device::emulated::Config>,
    /// What a core runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu: Option<crate::device::cpu::CpuConfig>,
    /// What a GPU runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<crate::device::cuda::CudaConfig>")]
    pub cuda: Option<toml::Table>,
    /// What a program runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worker: Option<crate::device::worker::WorkerConfig>,
}

/// `[quick]`: a campaign of minutes, which shows that everything works. Its figures are no validation.
#[derive(Clone, Debug, Default, Deserialize, Serialize, PartialEq, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Quick {
    /// Length of a run, however few requests count.
    pub seconds: Option<f64>,
    /// Runs of each point.
    pub repetitions: Option<u32>,
    /// Only these policies of the grids.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub policies: Vec<String>,
    /// Only these loads.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub loads: Vec<f64>,
    /// Only these SLOs.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub slo_ms: Vec<f64>,
    /// Only these factors.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub slo_factors: Vec<f64>,
    /// How to profile.
    pub profiling: Option<Settings>,
}

/// What a campaign is to reach, in percentage points of the finish rate.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, PartialEq, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Targets {
    /// The mean absolute difference over all points, at most.
    pub mean_points: f64,
    /// That of any point, at most.
    pub max_points: f64,
}

impl Default for Targets {
    fn default() -> Targets {
        Targets { mean_points: 1.0, max_points: 2.0 }
    }
}

/// `[[grid]]`: every combination of its lists.
#[derive(Clone, Debug, Deserialize, Serialize, PartialEq, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Grid {
    /// Policies.
    pub policies: Vec<String>,
    /// Loads; 1 is what the devices can carry at best within the SLO.
    pub loads: Vec<f64>,
    /// Mean execution times alone, of all applications; the scenario's own if left out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub exec_ms: Vec<f64>,
    /// Their standard deviation over their mean; lognormal.
    #[serde(default)]
    pub exec_cv: f64,
    /// SLOs, in times of a batch of one typical request; the scenario's own if left out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub slo_factors: Vec<f64>,
    /// SLOs in milliseconds, the same for all models, besides the factors.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub slo_ms: Vec<f64>,
}

/// The SLO of a point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Slo {
    /// As the scenario says.
    OfScenario,
    /// So many times a batch of one typical request.
    Factor(f64),
    /// Milliseconds.
    Ms(f64),
}

impl Grid {
    /// Its SLOs, in the order of the file.
    pub(super) fn slos(&self) -> Vec<Slo> {
        let factors = self.slo_factors.iter().copied().map(Slo::Factor);
        let all: Vec<Slo> = factors.chain(self.slo_ms.iter().copied().map(Slo::Ms)).collect();
        if all.is_empty() { vec![Slo::OfScenario] } else { all }
    }
}

fn forty() -> u32 {
    40
}
fn is_zero(n: &u32) -> bool {
    *n == 0
}

/// A campaign whose file has been read and checked.
#[derive(Clone, Debug)]
pub struct Campaign {
    /// The file.
    pub file: CampaignFile,
    /// Where it is.
    pub path: PathBuf,
    /// Its device.
    pub device: Choice,
    /// It was shortened: its figures are no validation.
    pub quick: bool,
    base: Scenario,
}

impl Campaign {
    /// Reads and checks a campaign; `device` is used in place of the file's, and `quick` shortens it.
    ///
    /// # Errors
    /// When it cannot be read, a key is unknown, or a value is out of range.
    pub fn load(path: &Path, device: Option<&str>, quick: bool) -> Result<Campaign, Error> {
        let mut file: CampaignFile = read_toml(path, kind::CAMPAIGN)?;
        if let Some(device) = device {
            file.device = device.to_string();
        }
        if quick {
            shorten(path, &mut file)?;
        }
        let target: Target = file.device.parse()?;
        let folder = path.parent().unwrap_or(Path::new(""));
        let base = Scenario::load(folder.join(&file.scenario))?;
        let config = DeviceConfig {
            emulated: file.emulated.clone(),
            cpu: file.cpu.clone(),
            cuda: file.cuda.clone(),
            worker: file.worker.clone(),
        };
        let device = Choice { target, number: 0, config, file: path.to_path_buf() };
        let campaign = Campaign { file, path: path.to_path_buf(), device, quick, base };
        campaign.check()?;
        Ok(campaign)
    }

    fn check(&self) -> Result<(), Error> {
        let f = &self.file;
        let within = |key: &str, x: f64, low: f64, high: f64| {
            if x >= low && x <= high {
                return Ok(());
            }
            let allowed = format!("a number from {low} to {high}");
            Err(Error::in_file(&self.path, key, x, allowed, "change it"))
        };
        within("seconds", f.seconds, 1e-3, 3_600.0)?;
        within("requests", f64::from(f.requests), 0.0, 1e6)?;
        within("repetitions", f64::from(f.repetitions), 1.0, 1_000.0)?;
        within("draws", f64::from(f.draws), 1.0, 10_000.0)?;
        within("max_lateness_ms", f.max_lateness_ms, 1e-3, 1e4)?;
        within("time_scale", f64::from(f.time_scale), 1.0, 1_000.0)?;
        within("targets.mean_points", f.targets.mean_points, 0.0, 100.0)?;
        within("targets.max_points", f.targets.max_points, 0.0, 100.0)?;
        f.profiling.check()?;
        if f.grid.is_empty() {
            let remedy = "add `[[grid]]` with policies and loads";
            return Err(Error::in_file(&self.path, "grid", "none", "at least one", remedy));
        }
        for (i, g) in f.grid.iter().enumerate() {
            let key = |part: &str| format!("grid[{i}].{part}");
            for (part, empty) in
                [("policies", g.policies.is_empty()), ("loads", g.loads.is_empty())]
            {
                if empty {
                    let allowed = "at least one value";
                    return Err(Error::in_file(&self.path, key(part), "none", allowed, "add one"));
                }
            }
            for policy in &g.policies {
                PolicySpec::parse(policy).map_err(|e| {
                    Error::in_file(&self.path, key("policies"), e, "policies", "correct it")
                })?;
            }
            g.loads.iter().try_for_each(|x| within(&key("loads"), *x, 0.01, 10.0))?;
            g.exec_ms.iter().try_for_each(|x| within(&key("exec_ms"), *x, 0.01, 1e4))?;
            g.slo_factors.iter().try_for_each(|x| within(&key("slo_factors"), *x, 0.1, 1e4))?;
            g.slo_ms.iter().try_for_each(|x| within(&key("slo_ms"), *x, 1e-3, 1e7))?;
            within(&key("exec_cv"), g.exec_cv, 0.0, 10.0)?;
        }
        self.rate_key()?;
        check_mode(f.mode, &self.base)
            .map_err(|e| Error::Spec(e.in_file(&self.path.display().to_string())))?;
        for (exec_ms, cv) in self.executions() {
            self.base_at(exec_ms, cv)?;
        }
        check_clock(&self.device, self.clocks())
    }

    /// The key of the scenario that a load sets.
    pub(super) fn rate_key(&self) -> Result<&'static str, Error> {
        let arrivals = self.base.file.arrivals.as_ref();
        let open = arrivals.filter(|_| self.base.file.closed_loop.is_none());
        let key = open.and_then(|a| {
            let constant = a.constant.as_ref().map(|_| "arrivals.constant.rate_per_s");
            let poisson = a.poisson.as_ref().map(|_| "arrivals.poisson.rate_per_s");
            let gamma = a.gamma.as_ref().map(|_| "arrivals.gamma.rate_per_s");
            constant.or(poisson).or(gamma)
        });
        key.ok_or_else(|| {
            let allowed = "a scenario with `constant`, `poisson` or `gamma` arrivals only";
            let (found, remedy) = (format!("`{}`", self.file.scenario), "choose another scenario");
            Error::in_file(&self.path, "scenario", found, allowed, remedy)
        })
    }

    /// The clock.
    pub fn clocks(&self) -> Clocks {
        match self.file.virtual_clock {
            true => Clocks::Virtual,
            false => Clocks::Wall(self.file.time_scale),
        }
    }

    /// Opens the device once, to see that it is there and fits the scenario; how large its batches may be.
    ///
    /// # Errors
    /// When it is not, or does not.
    pub fn probe(&self) -> Result<Limits, Error> {
        let (exec, cv) = self.executions()[0];
        let device = self.device.open(&self.base_at(exec, cv)?, 0)?;
        Ok(limits(device.as_ref(), &self.base))
    }

    /// Refuses a policy that may make a batch which the device cannot take: it would end the run.
    ///
    /// # Errors
    /// When there is one.
    pub(super) fn check_batches(
        &self,
        setup: &Setup,
        policy: &PolicySpec,
        limits: &[Option<u32>],
    ) -> Result<(), Error> {
        let Some(beyond) = beyond(setup, policy, limits) else { return Ok(()) };
        let [found, allowed, remedy] = beyond.told(policy, &self.base.model_names());
        Err(Error::in_file(&self.path, "grid.policies", found, allowed, remedy))
    }

    /// How long a run is at so many arrivals a second.
    pub(super) fn seconds_of(&self, setup: &Setup, rate_per_s: f64) -> f64 {
        let warm_up = setup.window.from.since(Time::ZERO).as_secs_f64();
        let counted = |requests: u32| warm_up + f64::from(requests) / rate_per_s;
        let requests = Some(self.file.requests).filter(|n| *n > 0);
        self.file.seconds.max(requests.map_or(0.0, counted))
    }

    /// Its name in reports.
    pub fn title(&self) -> String {
        match self.quick {
            true => format!("{} {QUICK}", self.file.name),
            false => self.file.name.clone(),
        }
    }

    /// Where threads run.
    pub fn placement(&self) -> Placement {
        Placement { pin: self.file.pin, real_time: self.file.real_time }
    }

    /// The scenario at an execution time.
    pub(super) fn base_at(&self, exec_ms: Option<f64>, cv: f64) -> Result<Scenario, Error> {
        let mut changes = vec![("arrivals.duration_s".to_string(), Value::from(self.file.seconds))];
        if let Some(mean) = exec_ms {
            let mut law = toml::Table::new();
            let constant = cv == 0.0;
            if constant {
                law.insert("ms".into(), mean.into());
            } else {
                law.insert("mean_ms".into(), mean.into());
                law.insert("sd_ms".into(), (mean * cv).into());
            }
            let name = if constant { "constant" } else { "lognormal" };
            let law = toml::Table::from_iter([(name.to_string(), Value::Table(law))]);
            for app in 0..self.base.file.app.len() {
                changes.push((format!("app.{app}.time"), Value::Table(law.clone())));
            }
        }
        Ok(self.base.with(&changes)?)
    }

    /// The execution times that its points need, with their relative deviation.
    pub(super) fn executions(&self) -> Vec<(Option<f64>, f64)> {
        let mut all = Vec::new();
        for g in &self.file.grid {
            for exec in options(&g.exec_ms) {
                if !all.contains(&(exec, g.exec_cv)) {
                    all.push((exec, g.exec_cv));
                }
            }
        }
        all
    }

    /// The profile that the file names.
    pub(super) fn named_profile(&self) -> Option<PathBuf> {
        let folder = self.path.parent().unwrap_or(Path::new(""));
        self.file.profile.as_ref().map(|p| folder.join(p))
    }

    /// The name of the file of a scenario's profile: another device or scenario has another one.
    pub(super) fn profile_name(&self, scenario: &Scenario, exec_ms: Option<f64>) -> String {
        let settings = toml::to_string(&self.file.profiling).unwrap_or_default();
        let clocks = self.clocks();
        let all = format!("{}{}{settings}{clocks:?}", scenario.canonical(), self.device.identity());
        let exec = exec_ms.map_or(String::new(), |ms| format!("exec{ms}ms-"));
        format!("profile-{exec}{}", &crate::folder::sha256(all)[..8])
    }
}

/// The most items of each model's batches; none where there is no limit.
pub type Limits = Vec<Option<u32>>;

/// What a device says of the models of a scenario.
pub fn limits(device: &dyn Device, scenario: &Scenario) -> Limits {
    let models = 0..scenario.file.model.len() as u32;
    models.map(|m| device.batch_max(ModelId(m))).collect()
}

/// Takes what `[quick]` says.
fn shorten(path: &Path, file: &mut CampaignFile) -> Result<(), Error> {
    let Some(quick) = file.quick.take() else {
        let (found, allowed) = ("none", "a `[quick]` table, to run with `--quick`");
        return Err(Error::in_file(path, "quick", found, allowed, "add it, or run the whole"));
    };
    if let Some(seconds) = quick.seconds {
        (file.seconds, file.requests) = (seconds, 0);
    }
    file.repetitions = quick.repetitions.unwrap_or(file.repetitions);
    file.profiling = quick.profiling.unwrap_or(file.profiling.clone());
    fn only<T: PartialEq>(list: &mut Vec<T>, chosen: &[T]) {
        list.retain(|x| chosen.is_empty() || chosen.contains(x));
    }
    for grid in &mut file.grid {
        let slos = !grid.slo_ms.is_empty() || !grid.slo_factors.is_empty();
        only(&mut grid.policies, &quick.policies);
        only(&mut grid.loads, &quick.loads);
        only(&mut grid.slo_ms, &quick.slo_ms);
        only(&mut grid.slo_factors, &quick.slo_factors);
        if slos && grid.slo_ms.is_empty() && grid.slo_factors.is_empty() {
            grid.policies.clear();
        }
    }
    let had_points = !file.grid.is_empty();
    file.grid.retain(|g| !g.policies.is_empty() && !g.loads.is_empty());
    if had_points && file.grid.is_empty() {
        let (found, allowed) =
            ("values that leave no point of the grid", "values of one `[[grid]]`");
        return Err(Error::in_file(path, "quick", found, allowed, "choose such"));
    }
    Ok(())
}

/// A list's values, or nothing once.
pub(super) fn options(list: &[f64]) -> Vec<Option<f64>> {
    if list.is_empty() { vec![None] } else { list.iter().copied().map(Some).collect() }
}
