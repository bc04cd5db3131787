//! Orloj's tables: cases under SLOs, for systems; with `mean_over`, means over them as one assumption
//! changes at a time.

pub mod cases;
pub mod keys;
mod kind;
pub mod laws;
mod lead;
pub(super) mod left_out;
pub(super) mod means;
pub mod run;
pub mod table;
mod tasks;

use crate::experiment::{Experiment, Preset, System, UntilCi};
use crate::kinds::applications::cases::Case;
use crate::kinds::applications::run::{CaseArrivals, OneCell, Tested, World};
use crate::kinds::applications::table::{Applications, SLO_X_P99};
use crate::runner::{Cell, KindDocument, Runner};
use crate::scores;
use keys::{CASE, OF_SYSTEM, OfApplications, check_systems};
use left_out::LeaveOneOut;
use means::SLO;
use orrery_report::page::{Field, Part, Table};
use orrery_results::Row;
use orrery_results::metric::LEAD;
use orrery_run::limits::within;
use orrery_run::{PolicySpec, SpecError};
use orrery_scenario::scenario::with_keys;
use orrery_sim::stats::mean;
use orrery_sweep::grid::{combinations, word};
use orrery_sweep::kept::Kept;
use orrery_sweep::replication::Replication;
use orrery_sweep::seeds::Seeds;
use orrery_traces::stats::BinStats;
use toml::Value as Toml;

/// All cells of an experiment about applications.
pub struct Cases<'a> {
    experiment: &'a Experiment,
    keys: &'a OfApplications,
    seeds: Seeds,
    worlds: Vec<Changed>,
    cells: Vec<One<'a>>,
}

/// A world under the changes of a point, with its cases.
struct Changed {
    changes: Vec<(String, Toml)>,
    world: World,
    cases: Vec<(Case, CaseArrivals)>,
}

/// A cell: places in the list of worlds, and of that world's cases.
struct One<'a> {
    world: usize,
    case: usize,
    slo_x_p99: f64,
    axes: String,
    system: &'a System,
    tested: Tested,
}

impl<'a> Cases<'a> {
    /// Makes every case and checks every system.
    ///
    /// # Errors
    /// When a key, a case or a policy is wrong.
    pub fn new(
        experiment: &'a Experiment,
        keys: &'a OfApplications,
        until_ci: UntilCi,
    ) -> Result<Cases<'a>, SpecError> {
        let seeds = Seeds { first: 0, count: experiment.seeds, until_ci };
        let mut all = Cases { experiment, keys, seeds, worlds: Vec::new(), cells: Vec::new() };
        check_systems(experiment)?;
        for combination in combinations(&experiment.point, &experiment.axis, experiment.sample) {
            let (mut case, mut slo_x_p99, mut changes) = (None, None, Vec::new());
            let fixed = experiment.set.iter().map(|(k, v)| (k.clone(), v.clone()));
            for (key, value) in fixed.chain(combination.changes) {
                match key.as_str() {
                    CASE => case = Some(word(&value)),
                    SLO => slo_x_p99 = Some(number(&value)?),
                    _ => changes.push((key, value)),
                }
            }
            let missing = |axis: &str| {
                let remedy = format!("add an `[[axis]]` with `key = \"{axis}\"` and `values`");
                SpecError::value("axis", format!("no `{axis}`"), "an axis for it", remedy)
            };
            let case = case.ok_or_else(|| missing(CASE))?;
            let slo_x_p99 = slo_x_p99.ok_or_else(|| missing(SLO))?;
            let (world, case) = all.place_of(&changes, &case)?;
            let mut axes = combination.axes;
            axes.retain(|a| !a.starts_with("case="));
            all.add(world, case, slo_x_p99, &axes.join(";"), &changes)?;
        }
        Ok(all)
    }

    /// The numbers of a world under these changes and of one of its cases, which are made once.
    fn place_of(
        &mut self,
        changes: &[(String, Toml)],
        case: &str,
    ) -> Result<(usize, usize), SpecError> {
        // Keys of systems make no other world.
        let own = changes.iter().filter(|(key, _)| !key.starts_with(OF_SYSTEM));
        let changes: Vec<(String, Toml)> = own.cloned().collect();
        let world = match self.worlds.iter().position(|w| w.changes == changes) {
            Some(at) => at,
            None => {
                let cases = Vec::new();
                let world = World::new(changed(&self.keys.applications, &changes)?)?;
                self.worlds.push(Changed { changes, world, cases });
                self.worlds.len() - 1
            }
        };
        let Changed { world: made, cases, .. } = &mut self.worlds[world];
        if let Some(at) = cases.iter().position(|(c, _)| c.name == case) {
            return Ok((world, at));
        }
        cases.push(made.case(case)?);
        Ok((world, cases.len() - 1))
    }

    /// Adds a cell for each system.
    fn add(
        &mut self,
        world: usize,
        case: usize,
        slo_x_p99: f64,
        axes: &str,
        changes: &[(String, Toml)],
    ) -> Result<(), SpecError> {
        for (i, system) in self.experiment.system.iter().enumerate() {
            let row = Row { axes: axes.to_string(), ..Row::default() };
            if !system.is_run_at(&row) {
                continue;
            }
            let tested = tested(system, i, changes)?;
            let axes = axes.to_string();
            self.cells.push(One { world, case, slo_x_p99, axes, system, tested });
        }
        Ok(())
    }

    /// What is shown of a system that follows from its parameters and profiles, without a run: means over seeds.
    fn facts(
        &self,
        cell: &OneCell<'_>,
        place: &Row,
        runs: &[Replication],
    ) -> Result<Vec<Row>, SpecError> {
        let policy = PolicySpec::parse(&cell.tested.policy)?;
        let is_shown = |metric: &str| self.experiment.show.iter().any(|m| m == metric);
        // Profiles are not measured where nothing of them is shown.
        if policy.facts(&[]).iter().all(|(metric, _)| !is_shown(metric)) {
            return Ok(Vec::new());
        }
        let seeds: Vec<u64> = runs.iter().map(|r| r.seed).collect();
        let of = |&seed: &u64| Ok(policy.facts(&cell.setup(seed)?.profiles(seed)));
        let all = seeds.iter().map(of).collect::<Result<Vec<_>, SpecError>>()?;
        let facts = all.first().into_iter().flatten().enumerate().filter_map(|(i, (metric, _))| {
            let values: Vec<f64> = all.iter().map(|facts| facts[i].1).collect();
            Some((*metric, mean(&values)?))
        });
        let row = |(metric, value): (&str, f64)| Row {
            samples: seeds.len() as u64,
            seeds: orrery_results::seed_list(&seeds),
            ..place.of_all(metric, value)
        };
        Ok(facts.filter(|(metric, _)| is_shown(metric)).map(row).collect())
    }

    fn leave(&self) -> LeaveOneOut {
        self.keys.leave_one_out.clone().unwrap_or_default()
    }

    fn has_leads(&self) -> bool {
        self.experiment.show.iter().any(|m| m == LEAD)
    }

    fn place(&self, one: &One<'_>, spec_sha256: String) -> Row {
        let world = &self.worlds[one.world];
        let warm_up = world.world.applications.load.warm_up;
        Row {
            case: world.cases[one.case].0.name.clone(),
            axes: one.axes.clone(),
            policy: one.tested.policy.clone(),
            warm_up: format!("the first {} % of the run", 100.0 * warm_up),
            spec_sha256,
            inputs_sha256: world.world.inputs_sha256(),
            ..one.system.row(&self.experiment.place())
        }
    }

    /// What every table must say of its arrivals.
    /// The arrivals of each case.
    fn loads(&self) -> Option<(String, Vec<Part>)> {
        let world = self.worlds.first()?;
        let load = &world.world.applications.load;
        let caption = format!(
            "offered load = rate x {} execution time in isolation = {}; statistics of the first seed, by bins",
            load.of.word(),
            load.offered
        );
        let columns = [
            "case",
            "mean ms",
            "P99 ms",
            "rate/s",
            "1 s CoV",
            "peak/mean",
            "60 s CoV",
            "peak/mean",
            "origin",
        ];
        let mut table = Table { keys: 1, ..Table::new(caption, &columns) };
        let bins = |bins: Option<BinStats>| match bins {
            None => ["-".to_string(), "-".to_string()],
            Some(b) => [b.cov, b.peak_to_mean()].map(|x| format!("{x:.2}")),
        };
        for (case, load) in &world.cases {
            let numbers = [load.mean_ms, load.p99_ms, load.rate_per_s].map(|x| format!("{x:.2}"));
            let bins = [bins(load.stats.second), bins(load.stats.minute)].into_iter().flatten();
            let line = [case.name.clone()].into_iter().chain(numbers).chain(bins);
            let line = line.chain([load.origin.clone()]);
            table.rows.push(line.map(Field::text).collect());
        }
        Some(("Arrivals".to_string(), vec![table.part()?]))
    }
}

impl Runner for Cases<'_> {
    fn parts(&self) -> Vec<String> {
        let words = |c: &One<'_>| {
            let case = &self.worlds[c.world].cases[c.case].0.name;
            format!("{case} {} {}", c.axes, c.system.name)
        };
        self.cells.iter().map(words).collect()
    }

    fn places(&self) -> Vec<Row> {
        // A row of means has no case.
        let cells = self.cells.iter().filter(|_| self.keys.mean_over.is_empty());
        cells.map(|one| self.place(one, String::new())).collect()
    }

    fn drawn(&self, metrics: &[String]) -> Vec<Row> {
        let places: Vec<Row> =
            self.cells.iter().map(|one| self.place(one, String::new())).collect();
        if self.keys.mean_over.is_empty() {
            return places;
        }
        if metrics.iter().any(|m| m == LEAD) {
            return lead::drawn(self.experiment, &self.leave(), &places);
        }
        let changes = means::changes(&places);
        let is_left_out = |metric: &String| left_out::METRICS.contains(&metric.as_str());
        if !metrics.iter().any(is_left_out) {
            return changes;
        }
        // What is told of cases that were left out: each with each system once.
        let first = changes.first().map_or("", |r| r.axes.as_str());
        let of_first = || changes.iter().filter(|r| r.axes == first);
        let at = |case: String, r: &Row| Row { case, axes: String::new(), ..r.clone() };
        let cases = self.experiment.cases().into_iter();
        cases.flat_map(|case| of_first().map(move |r| at(case.clone(), r))).collect()
    }

    fn rows(&self, cells: &[Cell]) -> Option<Vec<Row>> {
        let e = self.experiment;
        let left = self.keys.leave_one_out.as_ref();
        let left = || left.map_or(Vec::new(), |leave| left_out::rows(e, leave, cells));
        let lead = || match self.has_leads() {
            true => lead::rows(e, &self.leave(), cells),
            false => Vec::new(),
        };
        (!self.keys.mean_over.is_empty()).then(|| [means::rows(e, cells), lead(), left()].concat())
    }

    fn run(&self, part: usize, kept: &Kept) -> Result<Vec<Cell>, SpecError> {
        let one = &self.cells[part];
        let Changed { world, cases, .. } = &self.worlds[one.world];
        let (case, load) = &cases[one.case];
        let (slo_x_p99, tested) = (one.slo_x_p99, &one.tested);
        let cell = OneCell { world, case, load, slo_x_p99, tested };
        let hash = cell.spec_sha256(&self.seeds);
        let what = format!("cell {} ({} {})", part + 1, case.name, one.axes);
        let entry = cell.spec_sha256(&self.seeds.entry());
        let runs = kept.seeds(&entry, &what, &self.seeds, |seed| cell.one(seed))?;
        let (place, seeds) = (self.place(one, hash), Some(self.seeds));
        let more = self.facts(&cell, &place, &runs)?;
        Ok(vec![Cell { place, seeds, runs, more }])
    }

    fn document(&self, cells: &[Cell], rows: &[Row]) -> KindDocument {
        let requests = self.worlds.first().map_or(0, |w| w.world.applications.load.requests);
        let measure = format!(
            "finish rate = answered in time / all requests; mean over {}; {requests} requests a run",
            self.seeds.in_words()
        );
        let asked = vec![("measure", measure)];
        let base = self.experiment.compare_to.as_deref().unwrap_or_default();
        if !self.keys.mean_over.is_empty() {
            let sections = left_out::section(rows).into_iter().collect();
            let results = lead::parts(base, rows);
            return KindDocument { asked, results, sections };
        }
        let compared = scores::paired(self.experiment, cells).into_iter();
        let claim = &self.keys.improvement_claim;
        let compared = compared.chain(scores::improvements(self.experiment, claim, rows));
        let compared = (format!("Compared with {base}"), compared.collect());
        let sections = [compared].into_iter().chain(self.loads()).collect();
        KindDocument { asked, sections, ..KindDocument::default() }
    }
}

fn number(value: &Toml) -> Result<f64, SpecError> {
    let found = match value {
        Toml::Integer(i) => *i as f64,
        Toml::Float(x) => *x,
        _ => f64::NAN,
    };
    within(SLO, found, SLO_X_P99.0, SLO_X_P99.1)?;
    Ok(found)
}

/// The applications with dotted keys set; `system.NAME.KEY` is not of them.
fn changed(base: &Applications, changes: &[(String, Toml)]) -> Result<Applications, SpecError> {
    let of =
        "`[applications]`, such as `load.offered`, `case`, `slo_x_p99` or `system.NAME.policy`";
    let changed = with_keys(base, changes, of)?;
    changed.check().map_err(|e| e.in_table("applications"))?;
    Ok(changed)
}

/// A system with `system.NAME.KEY` set: that of the preset `calibrated`, where there are several.
fn tested(s: &System, number: usize, changes: &[(String, Toml)]) -> Result<Tested, SpecError> {
    let mut tested = Tested {
        policy: s.policy.clone(),
        host_ms_per_request: s.host_ms_per_request,
        message_ms: s.message_ms,
        c1_of: s.c1_of.clone(),
    };
    for (key, value) in changes {
        let Some((name, part)) = key.strip_prefix(OF_SYSTEM).and_then(|r| r.split_once('.')) else {
            continue;
        };
        if name != s.name || s.preset != Preset::Calibrated {
            continue;
        }
        let wrong = || {
            let allowed = "`policy`, `host_ms_per_request`, `message_ms` or `c1_of`, with a value of its kind";
            SpecError::value(key, value, allowed, "correct the dotted key")
        };
        match (part, value) {
            ("policy", Toml::String(text)) => tested.policy.clone_from(text),
            ("host_ms_per_request", Toml::Float(ms)) => tested.host_ms_per_request = *ms,
            ("message_ms", Toml::Float(ms)) => tested.message_ms = *ms,
            ("c1_of", table) => {
                tested.c1_of = table.clone().try_into().map_err(|_| wrong())?;
            }
            _ => return Err(wrong()),
        }
    }
    let key = |part: &str| format!("system[{number}].{part}");
    within(&key("host_ms_per_request"), tested.host_ms_per_request, 0.0, 1e6)?;
    within(&key("message_ms"), tested.message_ms, 0.0, 1e6)?;
    for (model, c1) in &tested.c1_of {
        within(&key(&format!("c1_of.{model}")), *c1, 1e-9, 10.0)?;
    }
    PolicySpec::parse(&tested.policy).map_err(|e| {
        SpecError::value(key("policy"), &tested.policy, "a policy that exists", e.to_string())
    })?;
    Ok(tested)
}
