//! Plan files: a load, models, a catalogue of instance types, and what is asked.
//!
//! The load and the models are a scenario's: written in `[scenario]`, or in a file of their own. What a
//! plan file says wrong is an error that names its line.

use crate::input::day::DayKeys;
use crate::input::growth::Growth;
use crate::input::loss::Survive;
use crate::input::perturbation::Strain;
use crate::input::prices::{Buy, PriceList, Sale, usd_per_hour};
use crate::input::simulation_cache::SimulationCache;
use crate::input::watcher::Watcher;
use orrery_run::SpecError;
use orrery_run::limits::{COUNT_MAX, count};
use orrery_scenario::defaults::one;
use orrery_scenario::kind;
use orrery_scenario::read_text;
use orrery_scenario::scenario::changed;
use orrery_scenario::scenario::file::{LatencyLaw, Model, ScenarioFile};
use orrery_scenario::scenario::place;
pub use orrery_scenario::scenario::place::Source;
use orrery_scenario::scenario::texts;
use orrery_solvers::Price;
use schemars::JsonSchema;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::Path;
use toml::Value;

/// What a pool is made of.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum Pools {
    /// Instances of several types in one pool; a pool for each model (Kairos).
    Heterogeneous,
    /// Instances of one type, shared by all models (Symphony, Clockwork, ...).
    Homogeneous,
    /// Clusters of several types, one of each at most; every model is on one of them.
    Fleet,
}

/// A goal in place of a budget.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum Goal {
    /// The cheapest pool that carries the load.
    CarryLoad,
}

/// A plan file.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PlanFile {
    /// Name in results; the file's name when it is left out.
    pub name: Option<String>,
    /// What a pool is made of.
    pub pools: Pools,
    /// The most that a pool may cost; of heterogeneous pools each model's.
    pub budget_usd_per_hour: Option<f64>,
    /// Or a goal.
    pub goal: Option<Goal>,
    /// Multiplies the load; of a list also `{ copies = N }`, as without a word, or `{ speed = X }`.
    #[serde(default)]
    pub growth: Growth,
    /// Heterogeneous pools and fleets: the load of a model, in place of its share of the arrivals.
    #[serde(default)]
    pub rates_per_s: BTreeMap<String, f64>,
    /// The largest share of bad requests of the worst model; 0.01 when nothing is said.
    pub bad_rate: Option<f64>,
    /// The same as a finish rate.
    pub finish_rate: Option<f64>,
    /// The same as a percentile of the latencies that is within the SLO.
    pub percentile: Option<f64>,
    /// In place of the scenario's policies.
    #[serde(default)]
    pub policies: Vec<String>,
    /// The first seed.
    #[serde(default = "one::<u64>")]
    pub seed: u64,
    /// Seeds of each verification.
    #[serde(default = "seeds")]
    pub seeds: u32,
    /// Requests of a simulation, for each model; of a trace all are.
    #[serde(default = "requests")]
    pub requests_per_model: u64,
    /// The rate that a pool carries and the one that it does not differ by this share at most.
    #[serde(default = "precision")]
    pub precision: f64,
    /// Heterogeneous pools: by how much a pool may be better than its upper bound; 0.05 when nothing is said.
    pub bound_slack: Option<f64>,
    /// How many runners-up are looked for.
    #[serde(default = "runners_up")]
    pub runners_up: usize,
    /// 1: any one machine of each type may be lost, one at a time, and the others still carry the load; or the type of
    /// which one may be.
    pub survive: Option<Survive>,
    /// The load over the day.
    pub day: Option<DayKeys>,
    /// Heterogeneous pools: the most that are simulated for a model; of a fleet, about the most simulations. 2000 when
    /// nothing is said.
    pub evaluations_max: Option<usize>,
    /// What-ifs under each of which the answer's machines are tried, in place of the usual ones; none if empty.
    pub robust: Option<Vec<String>>,
    /// What to change, as in `--what-if`.
    #[serde(default)]
    pub what_if: Vec<String>,
    /// A price list: the name of a shipped one, or a path from this file's folder.
    pub prices: Option<String>,
    /// How devices are paid for, where the list has several prices.
    #[serde(default)]
    pub buy: Buy,
    /// The catalogue.
    #[serde(default)]
    pub instance: Vec<Instance>,
    /// A scenario's keys; its devices are not used.
    pub scenario: Option<Box<ScenarioFile>>,
    /// Or the path of a scenario file, from this file's folder.
    pub scenario_file: Option<String>,
    /// SLOs in place of the scenario's; what-ifs set them.
    #[serde(skip)]
    pub slo: Slo,
    /// What the scenario is put under; what-ifs set it.
    #[serde(skip)]
    pub strain: Strain,
    /// Whether the next answer is also looked for where that takes a whole search; `--next` sets it.
    #[serde(skip)]
    pub next: bool,
    /// The price list that was read.
    #[serde(skip)]
    pub list: Option<PriceList>,
    /// Who waits for the answer.
    #[serde(skip)]
    pub watcher: Option<Watcher>,
    /// The simulations that were made or found.
    #[serde(skip)]
    pub cache: SimulationCache,
}

/// SLOs in place of the scenario's.
#[derive(Clone, Debug, Default)]
pub struct Slo {
    /// Of every model.
    pub all_ms: Option<f64>,
    /// Of one.
    pub by_model_ms: BTreeMap<String, f64>,
}

/// `[[instance]]`: a type that can be rented.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Instance {
    /// Its name.
    pub kind: String,
    /// Of one, in place of the price list's.
    pub price_usd_per_hour: Option<f64>,
    /// It is sold in packs of so many, at the price of one for each; one by one without it.
    #[serde(default)]
    pub sold_in: Vec<u32>,
    /// What it is called in the price list, if not by its name.
    pub offers_of: Option<String>,
    /// How it is paid for, in place of the plan's `buy`.
    pub buy: Option<Buy>,
    /// The most of a pool; what the budget pays for when it is left out.
    pub count_max: Option<u32>,
    /// Whether it is the base type of heterogeneous pools.
    #[serde(default)]
    pub base: bool,
    /// The models' latencies on it are those of this zoo.
    pub zoo: Option<String>,
    /// Which GPU of the zoo.
    pub gpu: Option<String>,
    /// Laws by model, in place of all others.
    #[serde(default)]
    pub latency_on: BTreeMap<String, LatencyLaw>,
    /// Divides the scenario's own latencies.
    #[serde(default = "one::<f64>")]
    pub speed: f64,
    /// Memory for weights.
    pub memory_pages: Option<u32>,
    /// Whether a running batch can be stopped.
    #[serde(default)]
    pub can_preempt: bool,
}

impl Instance {
    /// Whether a model's latencies on it are not known: it has laws of its own, and none is the model's. The
    /// scenario's own latency would be a guess.
    pub fn lacks(&self, model: &Model) -> bool {
        let own_laws = self.zoo.is_some() || !self.latency_on.is_empty();
        own_laws && !model.latency_on.contains_key(&self.kind)
    }
}

fn seeds() -> u32 {
    5
}
fn requests() -> u64 {
    10_000
}
fn precision() -> f64 {
    0.01
}
fn runners_up() -> usize {
    3
}

impl PlanFile {
    /// Reads and checks a file.
    ///
    /// # Errors
    /// When it cannot be read, or a key is unknown, missing or wrong.
    pub fn load(path: &Path) -> Result<(PlanFile, Source), SpecError> {
        let name = path.display().to_string();
        let text = read_text(path)?;
        PlanFile::from_text(&name, &text)
    }

    /// Checks a file's text; `name` is its path.
    ///
    /// # Errors
    /// As [`PlanFile::load`].
    pub fn from_text(name: &str, text: &str) -> Result<(PlanFile, Source), SpecError> {
        texts::check(name, text)?;
        let file: PlanFile = toml::from_str(text).map_err(|e| match e.span() {
            _ if e.message().contains("unknown variant") && e.message().contains("homogeneous") => {
                let remedy = "a mixed problem (several models that share a pool of several types) \
                              is out of scope: plan a pool for each model, one type for all, or a \
                              fleet";
                let allowed = "`heterogeneous` (a pool of several types for each model), \
                               `homogeneous` (one type, shared by all models) or `fleet` (each model \
                               on one of several types)";
                let source = Source::new(name, text);
                source.placed(SpecError::value("pools", e.message(), allowed, remedy))
            }
            _ => {
                let error = match place::parse_error(name, text, &e) {
                    SpecError::Parse { file, message } => {
                        let message = format!("{message}\n  allowed: the keys of docs/plan.md");
                        SpecError::Parse { file, message }
                    }
                    other => other,
                };
                kind::instead(kind::PLAN, name, text, error)
            }
        })?;
        file.checked(Source::new(name, text))
    }

    /// A file with keys set by hand.
    ///
    /// # Errors
    /// As [`PlanFile::load`], or when a key is none of a plan's.
    pub fn with(
        source: &Source,
        changes: &[(String, Value)],
    ) -> Result<(PlanFile, Source), SpecError> {
        let (file, source) = changed::<PlanFile>(source, changes, "the plan")?;
        file.checked(source)
    }

    fn checked(mut self, source: Source) -> Result<(PlanFile, Source), SpecError> {
        let path = Path::new(&source.path);
        if let Some(list) = &self.prices {
            let folder = path.parent().unwrap_or(Path::new(""));
            self.list = Some(PriceList::find(list, folder).map_err(|e| source.placed(e))?);
        }
        self.check().map_err(|e| source.placed(e))?;
        if self.name.is_none() {
            let stem = path.file_stem().map(|s| s.to_string_lossy().into_owned());
            self.name = Some(stem.unwrap_or_else(|| "plan".to_string()));
        }
        Ok((self, source))
    }

    /// The name in results.
    pub fn name(&self) -> &str {
        self.name.as_deref().unwrap_or("plan")
    }

    /// The largest share of bad requests.
    pub fn target(&self) -> f64 {
        let good = self.finish_rate.or(self.percentile).map(|good| 1.0 - good);
        self.bad_rate.or(good).unwrap_or(0.01)
    }

    /// By how much a pool may be better than its upper bound.
    pub fn bound_slack(&self) -> f64 {
        self.bound_slack.unwrap_or(0.05)
    }

    /// The most pools of a model, or about the most simulations of a fleet.
    pub fn evaluations_max(&self) -> usize {
        self.evaluations_max.unwrap_or(2_000)
    }

    /// The budget, where there is one.
    ///
    /// # Errors
    /// When it is no price.
    pub fn budget(&self) -> Result<Option<Price>, SpecError> {
        let key = "budget_usd_per_hour";
        self.budget_usd_per_hour.map(|usd| usd_per_hour(key, usd, true)).transpose()
    }

    /// What a type is sold as.
    ///
    /// # Errors
    /// When it has no price, or its packs make no sense.
    pub fn sale(&self, i: usize) -> Result<Sale, SpecError> {
        let t = &self.instance[i];
        let key = |part: &str| format!("instance[{i}].{part}");
        let most = t.count_max.unwrap_or(COUNT_MAX).min(COUNT_MAX);
        match (t.price_usd_per_hour, &self.list) {
            (Some(usd), _) => {
                let each = usd_per_hour(&key("price_usd_per_hour"), usd, false)?;
                Sale::of_price(&key("sold_in"), &t.kind, each, &t.sold_in, most)
            }
            (None, Some(list)) => {
                let kind = t.offers_of.as_deref().unwrap_or(&t.kind);
                Sale::of_list(list, &key("kind"), kind, t.buy.unwrap_or(self.buy), most)
            }
            (None, None) => {
                let remedy = "give the price of one, or name a price list: `prices = \"lambda\"`";
                let key = key("price_usd_per_hour");
                Err(SpecError::value(key, "nothing", "dollars per hour", remedy))
            }
        }
    }

    /// The same for this plan: where a machine may be lost, in its smallest packs.
    ///
    /// # Errors
    /// As [`PlanFile::sale`].
    pub fn sold(&self, i: usize) -> Result<Sale, SpecError> {
        let (sale, t) = (self.sale(i)?, &self.instance[i]);
        if !self.may_lose(i) || t.count_max == Some(0) {
            return Ok(sale);
        }
        let most = t.count_max.unwrap_or(COUNT_MAX).min(COUNT_MAX);
        sale.smallest(&format!("instance[{i}].sold_in"), &t.kind, most)
    }

    /// Whether its values make sense; those of the scenario are checked elsewhere.
    ///
    /// # Errors
    /// Names the key, what was found and what is allowed.
    pub fn check(&self) -> Result<(), SpecError> {
        let budget = self.budget()?;
        if budget.is_some() == self.goal.is_some() {
            let both = budget.is_some();
            let key = if both { "goal" } else { "budget_usd_per_hour" };
            let found = if both { "a budget and a goal" } else { "neither a budget nor a goal" };
            let remedy = "write `budget_usd_per_hour` for the best pool under it, or \
                          `goal = \"carry-load\"` for the cheapest pool that sustains the load";
            return Err(SpecError::value(key, found, "one of the two", remedy));
        }
        if self.scenario.is_some() == self.scenario_file.is_some() {
            let found = if self.scenario.is_some() { "both" } else { "neither" };
            let remedy = "write the load and the models in `[scenario]`, or name a scenario file \
                          in `scenario_file`";
            let allowed = "one of `[scenario]` and `scenario_file`";
            return Err(SpecError::value("scenario", found, allowed, remedy));
        }
        let said = [self.bad_rate, self.finish_rate, self.percentile];
        if said.iter().flatten().count() > 1 {
            let allowed = "one of bad_rate, finish_rate and percentile: they say the same";
            return Err(SpecError::value("bad_rate", "several targets", allowed, "keep one"));
        }
        let good = [("percentile", self.percentile), ("finish_rate", self.finish_rate)];
        for (key, share) in good.into_iter().filter_map(|(key, share)| Some((key, share?))) {
            number(key, share, 0.5, 0.9999 + 1e-12, "a share from 0.5 to 0.9999, such as 0.99")?;
        }
        let allowed = "a share from 0.0001 to 0.5, such as 0.01";
        number("bad_rate", self.target(), 1e-4 - 1e-12, 0.5, allowed)?;
        let growth = self.growth;
        number(growth.key(), growth.factor(), 1e-6, 1e6, "a factor from 0.000001 to 1000000")?;
        for (model, rate) in &self.rates_per_s {
            let key = format!("rates_per_s.{model}");
            number(&key, *rate, 1e-6, 1e9, "requests/s from 0.000001 to 1e9")?;
        }
        number(
            "seeds",
            f64::from(self.seeds),
            2.0,
            1e3,
            "2 to 1000: one seed says nothing about chance",
        )?;
        let allowed = "requests from 200 to 10000000";
        number("requests_per_model", self.requests_per_model as f64, 200.0, 1e7, allowed)?;
        number("precision", self.precision, 1e-3, 0.2, "a share from 0.001 to 0.2")?;
        number("bound_slack", self.bound_slack(), 0.0, 10.0, "a share from 0 to 10")?;
        number("evaluations_max", self.evaluations_max() as f64, 1.0, 1e9, "1 or more")?;
        number("runners_up", self.runners_up as f64, 0.0, 50.0, "0 to 50")?;
        self.check_forms()?;
        self.check_instances()
    }

    fn check_instances(&self) -> Result<(), SpecError> {
        if self.instance.is_empty() {
            let remedy = "add `[[instance]]` with kind and price_usd_per_hour";
            return Err(SpecError::value("instance", "none", "at least one type", remedy));
        }
        for (i, t) in self.instance.iter().enumerate() {
            let key = |part: &str| format!("instance[{i}].{part}");
            let sale = self.sale(i)?;
            self.check_packs(i, &sale)?;
            self.check_offers(i)?;
            number(&key("speed"), t.speed, 1e-3, 1e3, "a factor from 0.001 to 1000")?;
            if self.instance[..i].iter().any(|other| other.kind == t.kind) {
                let found = format!("`{}` again", t.kind);
                let allowed = "each type once";
                return Err(SpecError::value(key("kind"), found, allowed, "remove one of them"));
            }
            if t.base && self.instance[..i].iter().any(|other| other.base) {
                let (found, allowed) = (format!("`{}` as well", t.kind), "one base type");
                return Err(SpecError::value(key("base"), found, allowed, "keep one"));
            }
            let is_free = sale.tariff.least_of_one() == Price::ZERO;
            if t.count_max.is_none() && (self.goal.is_some() || is_free) {
                let allowed = "how many of it there may be: no budget limits them";
                let remedy = "add `count_max`";
                return Err(SpecError::value(key("count_max"), "nothing", allowed, remedy));
            }
            count(&key("count_max"), t.count_max.unwrap_or(1).into(), 0, COUNT_MAX)?;
        }
        if self.instance.iter().all(|t| t.count_max == Some(0)) {
            let (allowed, remedy) = ("at least one instance of some type", "raise a `count_max`");
            return Err(SpecError::value("instance[0].count_max", "0 of all", allowed, remedy));
        }
        Ok(())
    }

    /// What is said of packs makes sense.
    fn check_packs(&self, i: usize, sale: &Sale) -> Result<(), SpecError> {
        let t = &self.instance[i];
        let key = |part: &str| format!("instance[{i}].{part}");
        for n in &t.sold_in {
            count(&key("sold_in"), u64::from(*n), 1, COUNT_MAX)?;
        }
        if !t.sold_in.is_empty() && t.price_usd_per_hour.is_none() {
            let (found, allowed) = ("packs without a price", "with `price_usd_per_hour`");
            let remedy = "give the price of one; the packs of a price list are in the list";
            return Err(SpecError::value(key("sold_in"), found, allowed, remedy));
        }
        if self.pools == Pools::Heterogeneous && !sale.tariff.is_single() {
            let found = format!("packs of several `{}`", t.kind);
            let allowed = "instances that are sold one by one: a pool of several types counts each";
            let remedy = "give `price_usd_per_hour` of one, or plan `pools = \"homogeneous\"`";
            return Err(SpecError::value(key("kind"), found, allowed, remedy));
        }
        Ok(())
    }

    /// The most of each type that a pool may have.
    ///
    /// # Errors
    /// When a price is none.
    pub fn counts_max(&self) -> Result<Vec<u32>, SpecError> {
        let budget = self.budget()?;
        let most = |i: usize| {
            let limit = self.instance[i].count_max.unwrap_or(COUNT_MAX);
            let tariff = self.sale(i)?.tariff;
            // What the packs come to, where they do not come to the limit.
            let of_packs = (0..=limit).rev().find(|n| tariff.at_least(*n).is_some()).unwrap_or(0);
            Ok(budget.map_or(of_packs, |budget| tariff.within(budget)).min(of_packs))
        };
        (0..self.instance.len()).map(most).collect()
    }
}

pub(crate) fn number(
    key: &str,
    x: f64,
    low: f64,
    high: f64,
    allowed: &str,
) -> Result<(), SpecError> {
    if x >= low && x <= high {
        return Ok(());
    }
    Err(SpecError::value(key, x, allowed, "correct or remove it"))
}
