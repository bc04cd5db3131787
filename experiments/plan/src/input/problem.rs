//! From a plan file to what is searched: groups of models that share a pool, and a scenario for each
//! pool that is tried.
//!
//! ```text
//!  PlanFile ──> Problem ──> Group (a model, or the whole cluster) ── scenario(counts, rate) ──> Scenario
//! ```
//!
//! Every pool is simulated as a scenario of its own: the one that is chosen can be written down and run.

use crate::input::day::Day;
use crate::input::devices::devices;
use crate::input::file::{Instance, PlanFile, Pools, Source};
use crate::input::model_parts::{of_all_models, of_each_model, part};
use crate::input::origin::{Origin, knows_kinds, policies, set_laws, set_slo, written};
use crate::input::prices::{Buy, Sale};
use crate::input::request_list::{OfList, settled};
use crate::input::trace_day::of_trace;
use crate::input::trace_step::{self, KeptSteps, Trace};
use orrery_run::search::warm_up;
use orrery_run::{PolicySpec, SpecError};
use orrery_scenario::Scenario;
use orrery_scenario::scenario::file::{
    App, Arrivals, LatencyLaw, Model, Noise, RateBy, ScenarioFile,
};
use orrery_scenario::search::capacity_per_s;
use orrery_scenario::search::longest_slo;
use orrery_sim::request::{AppId, ModelId};
use orrery_sim::time::Span;
use orrery_solvers::{Pack, Price};

/// The day of a plan. Of a trace each step has its own arrivals. Where pools have some of the models, the trace of all is
/// what they take theirs from, and in their scenarios Poisson arrivals stand for it.
fn day(
    plan: &PlanFile,
    base: &Scenario,
    file: &mut ScenarioFile,
) -> Result<(Day, Option<Trace>), SpecError> {
    let trace = plan.day.as_ref().and_then(|keys| Some((keys.clone(), keys.trace_steps?)));
    let Some((mut keys, steps)) = trace else { return Ok((Day::of(plan.day.as_ref()), None)) };
    let counted = of_trace(base, (steps, keys.hours, plan.seed))?;
    keys.profile.clone_from(&counted.profile);
    let step_s = counted.length.as_secs_f64() / f64::from(steps);
    if file.warm_up_s >= step_s {
        let found = format!("{} s, and a step of the trace is {step_s} s long", file.warm_up_s);
        let remedy = "remove it, or lower `trace_steps`";
        return Err(SpecError::value("warm_up_s", found, "less than a step", remedy));
    }
    let replay = file.arrivals.as_ref().and_then(|a| a.replay.as_ref());
    let is_list = replay.is_some();
    let is_faster = replay.is_some_and(|replay| replay.rate_by == RateBy::Speed);
    let list_per_s = is_faster.then_some(counted.rate_per_s);
    let day = Day::of(Some(&keys)).with_own_arrivals(&keys, counted.length, list_per_s);
    if plan.pools == Pools::Homogeneous || file.model.len() == 1 {
        return Ok((day, None));
    }
    if let Some(model) = plan.rates_per_s.keys().next().filter(|_| is_list) {
        let key = format!("rates_per_s.{model}");
        let found = "a rate, and a list of requests as the day (`trace_steps`)";
        let remedy = "remove it: the list says how many requests each model has";
        return Err(SpecError::value(key, found, "a trace of counts with rates", remedy));
    }
    let whole = file.clone();
    counted.as_poisson(file);
    let own = |(model, own_per_s): (&String, &f64)| {
        let share = part(file, &[model.as_str()])?.1;
        Some((model.clone(), own_per_s / (counted.rate_per_s * share)))
    };
    let own = plan.rates_per_s.iter().filter_map(own).collect();
    let mean_per_s = counted.rate_per_s * plan.growth.factor();
    Ok((day, Some(Trace::new(&whole, base, mean_per_s, own))))
}

/// What is searched.
#[derive(Clone, Debug)]
pub struct Problem {
    /// What the file says.
    pub plan: PlanFile,
    /// Its text, for the lines of messages.
    pub source: Source,
    /// What each type is sold as.
    pub sales: Vec<Sale>,
    /// The most of each type.
    pub counts_max: Vec<u32>,
    /// The budget; none where the load is the goal.
    pub budget: Option<Price>,
    /// The policies compared.
    pub policies: Vec<PolicySpec>,
    /// The load over the day.
    pub day: Day,
    /// The trace of all models, where its own arrivals are simulated and pools have some of them.
    pub trace: Option<Trace>,
    /// How the load is replayed, where it is a list.
    pub list: Option<OfList>,
    /// Models that share a pool; of a fleet that is not answered yet, all.
    pub groups: Vec<Group>,
}

/// Models that share a pool, and their load.
#[derive(Clone, Debug)]
pub struct Group {
    /// The model, or `cluster`.
    pub name: String,
    /// The load that is asked about.
    pub load_per_s: f64,
    /// The models.
    pub models: Vec<String>,
    /// The latency of a batch is known from a table up to this size, by type and model.
    pub measured_to: Vec<Vec<Option<u32>>>,
    /// Requests of a simulation at the load, by model, behind the warm-up.
    pub expected: Vec<f64>,
    /// Whether the load comes from a trace, all of which is simulated, or all of each of its steps.
    pub is_trace: bool,
    /// The number of the base type of a heterogeneous pool, once it is known.
    pub base: Option<usize>,
    /// The arrivals of the steps of its day that were asked for.
    pub steps: KeptSteps,
    file: ScenarioFile,
    /// The plan's scenario: files that it has read are not read again.
    read: Scenario,
}

impl Problem {
    /// Reads what the plan names and checks it.
    ///
    /// # Errors
    /// When the scenario, a policy, a zoo or a type is wrong, or the load has no rate.
    pub fn new(plan: &PlanFile, source: &Source) -> Result<Problem, SpecError> {
        let of = Origin::of(plan, source)?;
        let base = of.scenario(plan)?;
        let (base, list) = settled(plan, base).map_err(|e| of.replaced(e))?;
        let mut file = base.file.clone();
        set_laws(plan, &mut file).map_err(|e| source.placed(e))?;
        set_slo(plan, &mut file);
        plan.strain.put(&mut file).map_err(|e| of.replaced(e))?;
        if file.autoscale.is_some() {
            let remedy = "remove `autoscale`: a plan is for a pool of a fixed size";
            let error = SpecError::value("autoscale", "autoscaling", "none", remedy);
            return Err(of.replaced(error));
        }
        file.searchable().map_err(|e| of.replaced(e))?;
        let policies = policies(plan, &base).map_err(|e| of.replaced(e))?;
        let (day, trace) = day(plan, &base, &mut file).map_err(|e| of.replaced(e))?;
        // Of a day it is the peak that is searched first.
        let growth = plan.growth.factor() * day.peak;
        let rate = base.rate().map_err(|e| of.replaced(e))? * growth;
        let mut problem = Problem {
            sales: (0..plan.instance.len()).map(|i| plan.sold(i)).collect::<Result<_, _>>()?,
            counts_max: plan.counts_max()?,
            budget: plan.budget()?,
            plan: plan.clone(),
            source: source.clone(),
            policies,
            day,
            trace,
            list,
            groups: Vec::new(),
        };
        problem.affordable().map_err(|e| source.placed(e))?;
        problem.groups = match plan.pools {
            Pools::Homogeneous => {
                if let Some(model) = plan.rates_per_s.keys().next() {
                    let key = format!("rates_per_s.{model}");
                    let allowed = "rates of models only if each has its own pool (`heterogeneous`)";
                    let remedy = "set the applications' weights in the scenario";
                    let error = SpecError::value(key, "a homogeneous plan", allowed, remedy);
                    return Err(source.placed(error));
                }
                vec![Group::new("cluster".to_string(), file, &base, rate)]
            }
            Pools::Fleet => {
                let whole = of_all_models(plan, &file, rate, growth);
                let (file, load) = whole.map_err(|e| of.replaced(e))?;
                vec![Group::new("fleet".to_string(), file, &base, load)]
            }
            Pools::Heterogeneous => {
                let parts = of_each_model(plan, &file, rate, growth);
                let group = |(name, file, load)| Group::new(name, file, &base, load);
                parts.map_err(|e| of.replaced(e))?.into_iter().map(group).collect()
            }
        };
        if plan.pools == Pools::Heterogeneous {
            problem.knows_all_latencies().map_err(|e| source.placed(e))?;
        }
        let mut groups = std::mem::take(&mut problem.groups);
        groups.iter_mut().for_each(|group| group.is_trace |= problem.trace.is_some());
        let usable = problem.counts_max.iter().position(|n| *n > 0).unwrap_or(0);
        // The models of a fleet may not all run on any one type: they are finished cluster by cluster.
        let finished = groups.into_iter().map(|group| match plan.pools {
            Pools::Fleet => Ok(group),
            _ => problem.finished(group, usable),
        });
        let groups: Result<Vec<Group>, SpecError> = finished.collect();
        problem.groups = groups.map_err(|e| of.replaced(e))?;
        Ok(problem)
    }

    /// Keys of the scenario that change nothing, in sentences.
    pub fn without_effect(&self) -> Vec<String> {
        Origin::of(&self.plan, &self.source).map_or(Vec::new(), |of| of.without_effect(&self.plan))
    }

    /// # Errors
    /// When a type has laws of its own, and none for some model: a pool of several types needs them all.
    fn knows_all_latencies(&self) -> Result<(), SpecError> {
        for (i, t) in self.plan.instance.iter().enumerate().filter(|(i, _)| self.counts_max[*i] > 0)
        {
            if let Some(model) = self.groups.iter().flat_map(|g| g.lacking(t)).next() {
                let found = format!("no latency of `{model}` on `{}`", t.kind);
                let allowed = "the latency of each model, on a type that has any of its own";
                let remedy = "add it to `latency_on`, or leave the type out with `count_max = 0`";
                let key = format!("instance[{i}].latency_on");
                return Err(SpecError::value(key, found, allowed, remedy));
            }
        }
        Ok(())
    }

    /// The names of all models.
    pub fn models(&self) -> Vec<String> {
        self.groups.iter().flat_map(|g| g.models.clone()).collect()
    }

    /// The models with their SLOs.
    pub fn slos_ms(&self) -> Vec<(String, f64)> {
        let models = self.groups.iter().flat_map(|g| &g.file.model);
        models.map(|model| (model.name.clone(), model.slo_ms)).collect()
    }

    /// What the name of a group is: a column's head.
    pub fn group_head(&self) -> &'static str {
        match self.plan.pools {
            Pools::Heterogeneous => "model",
            Pools::Homogeneous => "cluster",
            Pools::Fleet => "instance type",
        }
    }

    /// The name of a type.
    pub fn kind(&self, i: usize) -> &str {
        &self.plan.instance[i].kind
    }

    /// What a pool costs: the packs that hold at least so many of each type.
    pub fn cost(&self, counts: &[u32]) -> Price {
        counts.iter().enumerate().map(|(kind, n)| self.cost_of_kind(kind, *n)).sum()
    }

    /// The least that one machine of a type costs in dollars per hour, however many there are.
    pub fn least_usd(&self, kind: usize) -> f64 {
        let most = self.counts_max[kind].max(1);
        let one = |n: u32| self.cost_of_kind(kind, n).as_usd_per_hour() / f64::from(n);
        (1..=most).map(one).fold(f64::INFINITY, f64::min)
    }

    /// What so many of a type cost: the cheapest packs that hold them.
    pub fn cost_of_kind(&self, kind: usize, n: u32) -> Price {
        let tariff = &self.sales[kind].tariff;
        // More than may be bought has a price all the same: that of packs of one sort.
        let beyond = || {
            let of = |p: &Pack| p.price * n.div_ceil(p.devices);
            tariff.packs().iter().map(of).min().unwrap_or(Price::ZERO)
        };
        tariff.at_least(n).map_or_else(beyond, |p| p.price)
    }

    /// How many devices of a type there are when at least so many are bought: packs may hold more.
    pub fn bought(&self, kind: usize, n: u32) -> u32 {
        self.sales[kind].tariff.at_least(n).map_or(n, |p| p.devices)
    }

    /// How many devices of a type are lost with a machine that may be.
    pub fn lost(&self, kind: usize) -> u32 {
        if self.plan.may_lose(kind) { self.sales[kind].largest(1).0 } else { 0 }
    }

    /// The largest machine of so many of a type: how many devices it has, and what it is called.
    pub fn machine(&self, kind: usize, n: u32) -> (u32, String) {
        match self.sales[kind].largest(n) {
            (devices, Some(name)) => {
                (devices.min(n), format!("{name} ({devices} {})", self.kind(kind)))
            }
            (_, None) => (1, self.kind(kind).to_string()),
        }
    }

    /// What is to be known of a pool whose devices can be taken back.
    pub fn on_spot(&self, counts: &[u32]) -> Option<String> {
        let is_spot = |(kind, n): (usize, &u32)| {
            (*n > 0 && self.sales[kind].buy == Some(Buy::Spot)).then(|| self.kind(kind))
        };
        let kinds: Vec<&str> = counts.iter().enumerate().filter_map(is_spot).collect();
        (!kinds.is_empty()).then(|| {
            format!(
                "what happens when {} is taken back: it is bought on the spot market, and the \
                 simulated pool keeps all of it",
                kinds.join(" and ")
            )
        })
    }

    /// A pool in words: `2 g4dn.xlarge + 9 r5n.large`.
    pub fn words(&self, counts: &[u32]) -> String {
        let some = counts.iter().enumerate().filter(|(_, n)| **n > 0);
        let parts: Vec<String> = some.map(|(i, n)| format!("{n} {}", self.kind(i))).collect();
        if parts.is_empty() { "nothing".to_string() } else { parts.join(" + ") }
    }

    /// The same as a value of an axis: `2xg4dn.xlarge+9xr5n.large`.
    pub fn pool(&self, counts: &[u32]) -> String {
        let some = counts.iter().enumerate().filter(|(_, n)| **n > 0);
        some.map(|(i, n)| format!("{n}x{}", self.kind(i))).collect::<Vec<_>>().join("+")
    }

    /// Whether a policy fits the plan's pools.
    pub fn fits(&self, policy: &PolicySpec) -> bool {
        self.plan.pools != Pools::Heterogeneous || knows_kinds(policy)
    }

    /// The seeds of a verification.
    pub fn seeds(&self) -> Vec<u64> {
        (0..u64::from(self.plan.seeds)).map(|i| self.plan.seed.wrapping_add(i)).collect()
    }

    /// Some type can be paid for.
    fn affordable(&self) -> Result<(), SpecError> {
        if self.counts_max.iter().any(|n| *n > 0) {
            return Ok(());
        }
        let cheapest = (0..self.sales.len()).map(|kind| self.cost_of_kind(kind, 1)).min();
        let cheapest = cheapest.map(|p| p.to_string()).unwrap_or_default();
        let found = self.budget.map(|b| b.to_string()).unwrap_or_default();
        let allowed = format!("at least {cheapest}, the cheapest instance");
        let remedy = "raise the budget, or add a cheaper type";
        Err(SpecError::value("budget_usd_per_hour", found, allowed, remedy))
    }

    /// The group with its base type and how many requests a simulation has, on a type that all its models run
    /// on.
    ///
    /// # Errors
    /// When no request counts, or there is no base type.
    pub fn finished(&self, group: Group, usable: usize) -> Result<Group, SpecError> {
        let types = self.plan.instance.len();
        let all: Vec<u32> = vec![1; types];
        let heterogeneous = self.plan.pools == Pools::Heterogeneous;
        let one: Vec<u32> = (0..types).map(|t| u32::from(t == usable)).collect();
        let counts = if heterogeneous { all } else { one };
        let mut scenario = group.scenario(self, &counts, group.load_per_s)?;
        scenario.file.allow_hopeless_slo |= !heterogeneous;
        let setup = scenario.setup(self.plan.seed)?;
        let base = setup.kinds.first().map(|k| k.base as usize).filter(|_| heterogeneous);
        if let Some(base) = base
            && self.counts_max[base] == 0
        {
            let found = format!("no instance of `{}`, the base type", self.kind(base));
            let allowed = "at least one, within the budget and its count_max";
            let remedy = "raise the budget or `count_max`, or mark another type as `base`";
            let key = if self.budget.is_some() { "budget_usd_per_hour" } else { "instance" };
            return Err(SpecError::value(key, found, allowed, remedy));
        }
        let all = trace_step::each(&setup, self.plan.seed)?;
        let expected = trace_step::counted(all, setup.window.from, group.models.len());
        if expected.iter().sum::<f64>() == 0.0 {
            let allowed = "a load with at least one request after the warm-up";
            let remedy = "shorten `warm_up_s`, or simulate more";
            return Err(SpecError::value("warm_up_s", "no request that counts", allowed, remedy));
        }
        let mut group = group;
        (group.base, group.expected) = (base, expected);
        let known = |t: &Instance, m: &Model| match m.latency_on.get(&t.kind).unwrap_or(&m.latency)
        {
            LatencyLaw::Table(rows) => rows.last().map(|r| r.0),
            _ => None,
        };
        let of = |t: &Instance| group.file.model.iter().map(|m| known(t, m)).collect();
        let measured_to = self.plan.instance.iter().map(of).collect();
        group.measured_to = measured_to;
        Ok(group)
    }
}

impl Group {
    /// The models whose latencies on a type are not known.
    pub fn lacking(&self, instance: &Instance) -> Vec<&str> {
        let lacking = self.file.model.iter().filter(|model| instance.lacks(model));
        lacking.map(|model| model.name.as_str()).collect()
    }

    fn new(name: String, file: ScenarioFile, read: &Scenario, load_per_s: f64) -> Group {
        let models = file.model.iter().map(|m| m.name.clone()).collect();
        let is_trace = file.arrivals.as_ref().is_some_and(Arrivals::is_finite);
        let (measured_to, expected) = (Vec::new(), Vec::new());
        let (base, steps, read) = (None, KeptSteps::default(), read.clone());
        Group { name, load_per_s, models, measured_to, expected, is_trace, base, steps, file, read }
    }

    /// The longest SLO of its requests, where they come as a Poisson process, one at a time, and no batch varies.
    pub fn slo_ms_max(&self) -> Option<f64> {
        let file = &self.file;
        let is_poisson = file.arrivals.as_ref().is_some_and(|a| a.poisson.is_some());
        let varies =
            file.noise.is_some() || self.has_measured_noise() || file.closed_loop.is_some();
        let is_plain = |app: &App| app.size == 1 && app.sizes.is_none() && app.changes.is_empty();
        if !is_poisson || varies || !file.app.iter().all(is_plain) {
            return None;
        }
        let has_steps = file.model.iter().any(|m| m.slo_steps.is_some() || m.slo_scale != 1.0);
        if has_steps || file.app.iter().any(|app| app.slo_steps.is_some()) {
            return None;
        }
        let of_models = file.model.iter().map(|model| model.slo_ms);
        of_models.chain(file.app.iter().filter_map(|app| app.slo_ms)).reduce(f64::max)
    }

    /// Some of its models with their part of the load, as a group of its own that is not finished.
    pub fn of_some(&self, name: &str, models: &[&str]) -> Option<Group> {
        let (file, share) = part(&self.file, models)?;
        let load_per_s = self.load_per_s * share;
        let group = Group::new(name.to_string(), file, &self.read, load_per_s);
        Some(Group { is_trace: self.is_trace, ..group })
    }

    /// What it gets of the trace of all models, with so many times its load.
    ///
    /// # Errors
    /// As [`Trace::loads`].
    pub fn loads(
        &self,
        trace: &Trace,
        times: f64,
        seed: u64,
    ) -> Result<Vec<trace_step::Load<'static>>, SpecError> {
        trace.loads((&self.models, |name: &str| self.app(name)), times, seed)
    }

    /// The numbers of an application and of its model, where it is one of the group's.
    pub fn app(&self, name: &str) -> Option<(AppId, ModelId)> {
        let app = self.file.app.iter().position(|app| app.name == name)?;
        let model = self.models.iter().position(|model| *model == self.file.app[app].model)?;
        Some((AppId(app as u32), ModelId(model as u32)))
    }

    /// The noise of the scenario.
    pub fn noise(&self) -> Option<Noise> {
        self.file.noise.clone()
    }

    /// Whether the execution times of some model vary as was measured.
    pub fn has_measured_noise(&self) -> bool {
        self.file.model.iter().any(|model| model.noise.is_some())
    }

    /// Whether some latencies are samples.
    pub fn is_sampled(&self) -> bool {
        let sampled =
            |law: &LatencyLaw| matches!(law, LatencyLaw::Samples(_) | LatencyLaw::Measured(_));
        let laws = |m: &Model| m.latency_on.values().chain([&m.latency]).any(sampled);
        self.file.model.iter().any(laws)
    }

    /// A model, as it is simulated.
    pub fn model(&self, number: usize) -> &Model {
        &self.file.model[number]
    }

    /// This group's models on a pool, at a rate; of a trace that is a day it is the rate of the peak's step.
    ///
    /// # Errors
    /// When the pool makes no sense for the models, or the rate is out of range.
    pub fn scenario(
        &self,
        problem: &Problem,
        counts: &[u32],
        rate_per_s: f64,
    ) -> Result<Scenario, SpecError> {
        let mut file = self.file.clone();
        let pool = problem.plan.pools == Pools::Heterogeneous;
        file.device = devices(&problem.plan, counts, pool, self.base);
        for model in &mut file.model {
            model.latency_on.retain(|kind, _| file.device.iter().any(|d| d.kind == *kind));
        }
        let base = self.read.instead(&written(&file)?)?;
        let is_finite = self.file.arrivals.as_ref().is_some_and(Arrivals::is_finite);
        let rate_per_s = if is_finite { problem.day.mean_per_s(rate_per_s) } else { rate_per_s };
        let mut scenario = base.with_rate(rate_per_s)?;
        // The laws of profiles are written out by now.
        scenario.unfit_profile |= self.read.unfit_profile;
        scenario.file.until_s = None;
        if let (Some(arrivals), false) = (&mut scenario.file.arrivals, is_finite) {
            let models = self.models.len() as u64;
            let counted = problem.plan.requests_per_model.saturating_mul(models);
            let before = (scenario.file.warm_up_s * rate_per_s).ceil() as u64;
            arrivals.requests = Some(counted.saturating_add(before));
            arrivals.duration_s = None;
        }
        Ok(scenario)
    }

    /// The same as a file, to be run with `orrery run`: with the requests that were simulated with the first seed at the
    /// load, and that run's warm-up.
    ///
    /// # Errors
    /// As [`Group::scenario`].
    pub fn scenario_text(
        &self,
        problem: &Problem,
        counts: &[u32],
        policy: &str,
        simulated: u64,
    ) -> Result<String, SpecError> {
        let scenario = self.scenario(problem, counts, self.load_per_s)?;
        let setup = scenario.setup(problem.plan.seed)?;
        let mut file = scenario.file;
        file.name = Some(format!("{}-{}", problem.plan.name(), self.name.replace('#', "-")));
        file.policies = vec![policy.to_string()];
        file.seed = problem.plan.seed;
        if !self.is_trace {
            let own = Span::from_secs_f64(file.warm_up_s);
            let epoch = PolicySpec::parse(policy)?.epoch();
            let warm_up_s = warm_up(own, longest_slo(&setup), epoch).as_secs_f64();
            let before = ((warm_up_s - file.warm_up_s) * self.load_per_s).ceil() as u64;
            file.warm_up_s = warm_up_s;
            if let Some(arrivals) = &mut file.arrivals {
                let least = arrivals.requests.map(|requests| requests.saturating_add(before));
                arrivals.requests = least.max(Some(simulated));
            }
        }
        let stands = match problem.trace.is_some() {
            true => format!(
                "# Poisson arrivals at the load of the {}'s peak: the plan simulated the trace's own in each step.\n",
                problem.day.name()
            ),
            false => String::new(),
        };
        let plan = &problem.plan;
        let (target, requests, precision) =
            (plan.target(), plan.requests_per_model, plan.precision);
        Ok(format!(
            "# The pool that `orrery plan` chose, at the load that was asked for. Its capacity, to the digit:\n\
             #   orrery goodput THIS --seeds {} --target {target} --requests-per-model {requests} --tolerance {precision}\n\
             {stands}{}",
            plan.seeds,
            written(&file)?
        ))
    }

    /// The most requests/s that one instance of a type serves in batches that fit the SLO; none where
    /// no such bound is known, 0 where no batch of some model fits.
    ///
    /// # Errors
    /// When one instance cannot be set up.
    pub fn bound_of_one_per_s(
        &self,
        problem: &Problem,
        kind: usize,
        policy: &PolicySpec,
    ) -> Result<Option<f64>, SpecError> {
        let one: Vec<u32> = (0..problem.sales.len()).map(|k| u32::from(k == kind)).collect();
        let mut scenario = self.scenario(problem, &one, self.load_per_s)?;
        scenario.file.allow_hopeless_slo = true;
        let setup = scenario.setup(problem.plan.seed)?;
        Ok(capacity_per_s(&scenario, &setup, Some(policy), Some(&self.expected)))
    }

    /// The same as if execution times did not vary: no bound, but a place to begin.
    ///
    /// # Errors
    /// As [`Group::bound_of_one_per_s`].
    pub fn likely_of_one_per_s(
        &self,
        problem: &Problem,
        kind: usize,
        policy: &PolicySpec,
    ) -> Result<Option<f64>, SpecError> {
        let mut quiet = self.clone();
        quiet.file.noise = None;
        quiet.file.model.iter_mut().for_each(|model| model.noise = None);
        let one = quiet.bound_of_one_per_s(problem, kind, policy)?;
        Ok(one.filter(|one| *one > 0.0))
    }
}
