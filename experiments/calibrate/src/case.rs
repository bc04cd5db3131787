//! A measured row, and the scenario that replays its load: the same arrivals, rate, or number of clients.

use crate::Asked;
use crate::value::{Values, What};
use orrery_import::{Content, File, Kind, Measured, Offered, Options, Point, Spacing, read};
use orrery_results::metric;
use orrery_run::replication::Unmeasured;
use orrery_run::{PolicySpec, SpecError};
use orrery_scenario::Scenario;
use orrery_scenario::scenario::file::Timestamps;
use orrery_sim::metrics::Metrics;
use orrery_sweep::notes::unmeasured_in_words;
use orrery_traces::Input;
use std::path::{Path, PathBuf};
use toml::{Table, Value};

/// What a row is of that names no model of several.
pub const ALL: &str = "all";
/// Formats whose rows may be of several models at once.
const OF_MANY: [&str; 2] = ["measured-table", "access-log"];
/// Fewer recorded arrivals make no halves.
const HALVES: usize = 40;

/// What was measured, and where.
#[derive(Clone, Debug)]
pub struct Measurements {
    /// Its name in the answer.
    pub name: String,
    /// The path of the file, from where the program runs: recorded arrivals are read from it.
    pub path: PathBuf,
    /// Its rows.
    pub table: Measured,
    /// What was assumed of it, the arrivals first, and what else is known.
    pub notes: Vec<String>,
    /// Whether a tool wrote it that measures one model at a time.
    pub is_of_one: bool,
    /// What it does not say of its times.
    pub timestamps: Timestamps,
}

impl Measurements {
    /// Reads a file. `options` and `timestamps`: what it does not say.
    ///
    /// # Errors
    /// When it is of no known format, is damaged, or nobody measured a load in it.
    pub fn load(
        path: &Path,
        options: Options,
        timestamps: Timestamps,
    ) -> Result<Measurements, SpecError> {
        let name = path.display().to_string();
        let open = || Input::open(path);
        let reading = read(&File::new(&name, &open), &timestamps.options(options))?;
        let Content::Measured(table) = reading.content(Some(Kind::Measured))?.clone() else {
            unreachable!("a measured table was asked for")
        };
        let name = path.file_name().map_or(name.clone(), |n| n.to_string_lossy().into_owned());
        let mut notes = reading.notes;
        // A profile is another thing that the file becomes.
        notes.retain(|note| !note.starts_with("profile: ") && !note.starts_with("no profile"));
        let notes = [reading.assumed, notes].concat();
        let is_of_one = reading.format.is_some_and(|f| !OF_MANY.contains(&f.name));
        let path = path.to_path_buf();
        Ok(Measurements { name, path, table, notes, is_of_one, timestamps })
    }
}

/// A measured row.
#[derive(Clone, Debug)]
pub struct Case {
    /// Its load in words.
    pub name: String,
    /// The model that was measured; of a scenario with several, `all` where the file names none.
    pub model: String,
    /// What was measured.
    pub theirs: Values,
    /// Whether assumptions are fitted on it.
    pub is_fitted: bool,
    /// The scenario with its load, and the policy alone.
    pub scenario: Scenario,
    /// The key of its number of requests and how many were measured, where they are fewer than ours.
    measured: Option<(&'static str, u64)>,
    /// Whether all its requests come at once: then only its rate is seen, and many assumptions explain it.
    pub is_at_once: bool,
}

impl Case {
    /// A run of the case that is as long as the measurement: as if another had been made.
    ///
    /// # Errors
    /// As [`Case::run`].
    pub fn repeated(&self, changes: &[(String, Value)], seed: u64) -> Result<Values, SpecError> {
        let mut all = changes.to_vec();
        all.extend(self.measured.map(|(key, n)| (key.to_string(), Value::Integer(n as i64))));
        // One that ends in the warm-up is as long as ours.
        self.run(&all, seed).or_else(|_| self.run(changes, seed))
    }

    /// Ours: one run of the case with these keys changed.
    ///
    /// # Errors
    /// When the scenario is wrong with them, or nothing was answered.
    pub fn run(&self, changes: &[(String, Value)], seed: u64) -> Result<Values, SpecError> {
        values(&self.scenario.with(changes).and_then(|s| metrics(&s, seed))?).ok_or_else(|| {
            let found = format!("no request was answered after the warm-up, of {}", self.name);
            let remedy = "lower `warm_up_s`, or raise `--requests`";
            SpecError::value("warm_up_s", found, "a run with answers", remedy)
        })
    }
}

/// One run of a case's scenario.
fn metrics(scenario: &Scenario, seed: u64) -> Result<Metrics, SpecError> {
    let policy = scenario.policies()?.remove(0);
    let mut setup = scenario.setup(seed)?;
    setup.exact = true;
    setup.run(&policy, seed)
}

/// What is to be known of the batches of some cases, whose sizes were not measured.
///
/// # Errors
/// When a run cannot be made.
pub fn unmeasured(cases: &[Case], seed: u64) -> Result<Vec<String>, SpecError> {
    let of = |case: &Case| {
        let run = metrics(&case.scenario, seed)?;
        Ok(Unmeasured::of(&run, &case.scenario.measured_sizes()))
    };
    let all: Vec<Vec<Unmeasured>> = cases.iter().map(of).collect::<Result<_, SpecError>>()?;
    let words = |metric: &&'static str| {
        let own = || all.iter().flatten().filter(|u| u.metric == *metric);
        let sizes = own().filter_map(|u| u.sizes).reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)))?;
        let shares = own().map(|u| (u.share, u.share));
        let share = shares.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)))?;
        Some(format!("sizes: {}", unmeasured_in_words(metric, share, sizes)))
    };
    Ok(metric::UNMEASURED.iter().filter_map(words).collect())
}

/// The values of a run; `None` where nothing was answered.
fn values(metrics: &Metrics) -> Option<Values> {
    let total = metrics.total();
    let answered = total.latency.count();
    let seconds = metrics.measured().as_secs_f64();
    if answered == 0 || seconds <= 0.0 {
        return None;
    }
    let ms = |q: f64| Some(total.latency.quantile(q).as_ms_f64());
    let mut values = Values { samples: answered, ..Values::default() };
    let mut set = |what: What, value: Option<f64>| values.all[what as usize] = value;
    set(What::Rate, Some(answered as f64 / seconds));
    set(What::Mean, Some(total.latency.mean().as_ms_f64()));
    set(What::P50, ms(0.5));
    set(What::P90, ms(0.9));
    set(What::P99, ms(0.99));
    set(What::Batch, Some(metrics.mean_batch_size()));
    set(What::Drops, Some(total.dropped() as f64 / total.offered.max(1) as f64));
    Some(values)
}

fn theirs(p: &Point) -> Values {
    let all = [p.rate_per_s, p.mean_ms, p.p50_ms, p.p90_ms, p.p99_ms, p.batch, p.drop_share];
    Values { all, samples: p.requests.unwrap_or(0) }
}

/// How long a run is where the file does not say it: three windows of perf_analyzer.
const RUN_S: f64 = 15.0;

/// The key of the number of requests and how many were measured, where they are fewer than ours.
fn measured(point: &Point, asked: &Asked) -> Option<(&'static str, u64)> {
    let (key, per_s) = match &point.load {
        Offered::Clients(_) => ("closed_loop.requests", point.rate_per_s?),
        Offered::Rate { per_s, .. } => ("arrivals.requests", *per_s),
        Offered::AtOnce(_) | Offered::Arrivals(_) => return None,
    };
    let n = point.requests.unwrap_or((per_s * RUN_S) as u64);
    (n > 0 && n < asked.requests).then_some((key, n))
}

/// The rows that can be replayed, and what is to be known of them and of the others.
///
/// # Errors
/// When there is none.
pub fn replayable(
    scenario: &Scenario,
    measured: &Measurements,
) -> Result<(Measurements, Vec<String>), SpecError> {
    let (mut notes, mut kept) = (measured.notes.clone(), Vec::new());
    let rows = measured.table.points.len();
    let mut points = measured.table.points.clone();
    notes.extend(name_model(scenario, measured, &mut points)?);
    for point in &points {
        if !matches!(point.load, Offered::Arrivals(_)) && !theirs(point).is_measured() {
            notes.push(format!("left out: {}, nothing that is compared was measured", point.load));
            continue;
        }
        match modelled(point) {
            Ok((point, note)) => {
                kept.push(point);
                notes.extend(note);
            }
            Err(why) => notes.push(format!("left out: {}, {why}", point.load)),
        }
    }
    if kept.is_empty() {
        let found = format!("{rows} rows, none of which can be replayed: {}", notes.join("; "));
        let remedy = "measure with a generator that keeps up, or without a limit in flight";
        let allowed = "a row whose load was what it says, with a rate or a latency";
        return Err(SpecError::value("MEASURED", found, allowed, remedy));
    }
    Ok((Measurements { table: Measured { points: kept }, ..measured.clone() }, notes))
}

/// The model of rows that name none, where the scenario has several and the rows are of one: the file's own name.
fn name_model(
    scenario: &Scenario,
    measured: &Measurements,
    points: &mut [Point],
) -> Result<Option<String>, SpecError> {
    let names = scenario.model_names();
    let is_named =
        points.iter().all(|p| p.model.is_some() || matches!(p.load, Offered::Arrivals(_)));
    if names.len() < 2 || is_named || !measured.is_of_one {
        return Ok(None);
    }
    let stem = measured.path.file_stem().map(|s| s.to_string_lossy().into_owned());
    let Some(stem) = stem.filter(|stem| names.contains(stem)) else {
        let found = format!("rows of no model in {}", measured.name);
        let remedy = "say whose they are: `--model NAME`";
        return Err(SpecError::value(
            "MEASURED",
            found,
            format!("rows of {}", names.join(", ")),
            remedy,
        ));
    };
    for point in points {
        point.model.get_or_insert_with(|| stem.clone());
    }
    Ok(Some(format!(
        "rows that name no model are of `{stem}`, as the file's name says; `--model NAME` says another"
    )))
}

/// A row with a load that a scenario has, and what was taken for it; why there is none. A limit in flight that is
/// hardly reached is left out, and one that is always reached is that many clients.
fn modelled(point: &Point) -> Result<(Point, Option<String>), String> {
    if point.lags() {
        return Err("much less was answered than offered while no latency grew".to_string());
    }
    let Offered::Rate { per_s, spacing, in_flight_max: Some(most) } = point.load else {
        return Ok((point.clone(), None));
    };
    let ms = point.mean_ms.or(point.p50_ms);
    let (Some(rate), Some(ms)) = (point.rate_per_s, ms) else {
        return Err("without a rate and a latency nobody knows whether it was reached".to_string());
    };
    // By Little's law.
    let in_flight = rate * ms / 1e3;
    let load = match in_flight / f64::from(most) {
        share if share <= 0.5 => Offered::Rate { per_s, spacing, in_flight_max: None },
        share if share >= 0.9 => Offered::Clients(most),
        _ => {
            return Err(format!(
                "of which {in_flight:.1} were in flight on average: a limit that is reached at times is not modelled"
            ));
        }
    };
    let note =
        format!("{}, of which {in_flight:.1} were in flight on average: as {load}", point.load);
    Ok((Point { load, ..point.clone() }, Some(note)))
}

/// How much is asked, to sort by.
fn asked_of(load: &Offered) -> f64 {
    match load {
        Offered::AtOnce(n) | Offered::Clients(n) => f64::from(*n),
        Offered::Rate { per_s, .. } => *per_s,
        Offered::Arrivals(w) => w.requests.len() as f64,
    }
}

/// The cases of a measured table, by load.
///
/// # Errors
/// When the scenario cannot have a row's load.
pub fn cases(
    scenario: &Scenario,
    measured: &Measurements,
    policy: &PolicySpec,
    asked: &Asked,
) -> Result<Vec<Case>, SpecError> {
    let mut parts: Vec<Part> = measured.table.points.iter().flat_map(parts_of).collect();
    parts.sort_by(|a, b| match (a.rows, b.rows) {
        (None, None) => asked_of(&a.point.load).total_cmp(&asked_of(&b.point.load)),
        (a, b) => a.cmp(&b),
    });
    let of = |(i, part): (usize, &Part)| {
        let is_fitted = i.is_multiple_of(2);
        let scenario = loaded(scenario, measured, part, policy, asked)?;
        let name = match part.rows {
            Some((from, to)) => format!("recorded arrivals {} to {to}", from + 1),
            None => part.point.load.to_string(),
        };
        let model = model_of(&scenario, &part.point);
        let (theirs, measured) = (theirs(&part.point), self::measured(&part.point, asked));
        let is_at_once = matches!(part.point.load, Offered::AtOnce(_));
        Ok(Case { name, model, theirs, is_fitted, scenario, measured, is_at_once })
    };
    parts.iter().enumerate().map(of).collect()
}

/// Keys of the scenario that change nothing in any case; one row of each way of loading stands for the others.
pub fn without_effect(
    scenario: &Scenario,
    measured: &Measurements,
    policy: &PolicySpec,
    asked: &Asked,
) -> Vec<String> {
    let (mut few, mut seen) = (measured.clone(), Vec::new());
    few.table.points.retain(|point| {
        let way = (std::mem::discriminant(&point.load), point.size > 1, point.model.clone());
        let is_new = !seen.contains(&way);
        seen.push(way);
        is_new
    });
    let parts: Vec<Part> = few.table.points.iter().flat_map(parts_of).collect();
    let run =
        |scenario: &Scenario, i: usize| Ok(loaded(scenario, &few, &parts[i], policy, asked)?.file);
    scenario.without_effect("the measured load takes its place", parts.len(), run)
}

/// The model of a row: the one that it names, or the only one.
fn model_of(scenario: &Scenario, point: &Point) -> String {
    let names = scenario.model_names();
    match (&point.model, &names[..]) {
        (_, [one]) => one.clone(),
        (Some(named), _) => named.clone(),
        (None, _) => ALL.to_string(),
    }
}

/// A measured row, and which of its recorded arrivals it is about.
struct Part {
    point: Point,
    rows: Option<(usize, usize)>,
}

/// The scenario with the load of a row, and the policy alone.
fn loaded(
    scenario: &Scenario,
    measured: &Measurements,
    part: &Part,
    policy: &PolicySpec,
    asked: &Asked,
) -> Result<Scenario, SpecError> {
    let path = scenario.origin().0;
    let wrong = |message: String| SpecError::Parse { file: path.to_string(), message };
    let mut file: Table = toml::from_str(&scenario.text()).map_err(|e| wrong(e.to_string()))?;
    set_load(&mut file, scenario, measured, part, asked)?;
    let policies = vec![Value::String(policy.text().to_string())];
    file.insert("policies".to_string(), Value::Array(policies));
    // Measured systems answer late, too.
    file.insert("allow_hopeless_slo".to_string(), Value::Boolean(true));
    let text = toml::to_string(&file).map_err(|e| wrong(e.to_string()))?;
    Scenario::from_text(path, &text)
}

/// A point; recorded arrivals in two halves of the time's order, each with what was measured in it.
fn parts_of(point: &Point) -> Vec<Part> {
    let Offered::Arrivals(all) = &point.load else {
        return vec![Part { point: point.clone(), rows: None }];
    };
    let n = all.requests.len();
    let cuts = if n < HALVES { vec![0, n] } else { vec![0, n / 2, n] };
    let half = |cut: &[usize]| {
        let mut ms: Vec<f64> = all.requests[cut[0]..cut[1]]
            .iter()
            .filter_map(|r| Some(r.latency?.as_ms_f64()))
            .collect();
        ms.sort_by(f64::total_cmp);
        let answered = ms.len();
        let quantile = |q: f64| {
            let rank = libm::ceil(q * answered as f64) as usize;
            ms.get(rank.max(1) - 1).copied()
        };
        let mean = (answered > 0).then(|| ms.iter().sum::<f64>() / answered as f64);
        let size = cut[1] - cut[0];
        let point = Point {
            // A recorded rate is that of the arrivals, which are the same here.
            rate_per_s: None,
            mean_ms: mean,
            p50_ms: quantile(0.5),
            p90_ms: quantile(0.9),
            p95_ms: quantile(0.95),
            p99_ms: quantile(0.99),
            drop_share: Some(1.0 - answered as f64 / size.max(1) as f64),
            ..point.clone()
        };
        Part { point, rows: Some((cut[0], cut[1])) }
    };
    cuts.windows(2).map(half).collect()
}

/// Puts a row's load in place of the scenario's.
fn set_load(
    file: &mut Table,
    scenario: &Scenario,
    measured: &Measurements,
    part: &Part,
    asked: &Asked,
) -> Result<(), SpecError> {
    let Part { point, rows } = part;
    let own = |file: &mut Table, key: &str| match file.remove(key) {
        Some(Value::Table(table)) => table,
        _ => Table::new(),
    };
    let (arrivals, closed) = (own(file, "arrivals"), own(file, "closed_loop"));
    let apps = apps_of(scenario, measured, point)?;
    let apps = apps.or_else(|| arrivals.get("apps").or(closed.get("apps")).cloned());
    let requests = match point.load {
        Offered::AtOnce(n) => Value::Integer(n.into()),
        _ => Value::Integer(asked.requests.min(1 << 40) as i64),
    };
    let mut table = Table::new();
    let key = match &point.load {
        Offered::AtOnce(n) | Offered::Clients(n) => {
            // Those of requests at once send one each, all at the start.
            let is_at_once = matches!(point.load, Offered::AtOnce(_));
            let own = if is_at_once { Table::new() } else { closed };
            table = clients(*n, requests, own);
            if is_at_once {
                file.remove("warm_up_s");
            }
            "closed_loop"
        }
        Offered::Rate { per_s, spacing, .. } => {
            let (law, rate) = process(*per_s, *spacing);
            table.insert(law.to_string(), Value::Table(rate));
            table.insert("requests".to_string(), requests);
            "arrivals"
        }
        Offered::Arrivals(_) => {
            let path = std::path::absolute(&measured.path).unwrap_or(measured.path.clone());
            let mut workload = Table::new();
            workload.insert("file".to_string(), Value::String(path.display().to_string()));
            if !measured.timestamps.is_empty() {
                let timestamps = Value::try_from(&measured.timestamps).map_err(|e| {
                    let allowed = "words of TOML";
                    SpecError::value("timestamps", e, allowed, "correct `--time-format`")
                })?;
                workload.insert("timestamps".to_string(), timestamps);
            }
            if let Some((from, to)) = *rows {
                workload.insert("from_row".to_string(), Value::Integer(from as i64));
                workload.insert("to_row".to_string(), Value::Integer(to as i64));
            }
            table.insert("workload".to_string(), Value::Table(workload));
            "arrivals"
        }
    };
    table.extend(apps.map(|apps| ("apps".to_string(), apps)));
    file.insert(key.to_string(), Value::Table(table));
    if point.size > 1 {
        for app in file.get_mut("app").and_then(Value::as_array_mut).into_iter().flatten() {
            let Value::Table(app) = app else { continue };
            app.remove("sizes");
            app.insert("size".to_string(), Value::Integer(point.size.into()));
        }
    }
    Ok(())
}

/// So many clients: all that the scenario says of its own, but for how many they are and when they end.
fn clients(n: u32, requests: Value, own: Table) -> Table {
    let think = Table::from_iter([("constant_ms".to_string(), Value::Float(0.0))]);
    let mut table = Table::from_iter([("think".to_string(), Value::Table(think))]);
    table.extend(own);
    for replaced in ["clients", "per_app", "clients_of", "apps", "requests", "duration_s"] {
        table.remove(replaced);
    }
    table.insert("clients".to_string(), Value::Integer(n.into()));
    table.insert("requests".to_string(), requests);
    table
}

/// The process of arrivals and its parameters.
fn process(per_s: f64, spacing: Spacing) -> (&'static str, Table) {
    let mut rate = Table::from_iter([("rate_per_s".to_string(), Value::Float(per_s))]);
    let law = match spacing {
        Spacing::Even => "constant",
        Spacing::Poisson => "poisson",
        Spacing::Gamma(shape) => {
            rate.insert("shape".to_string(), Value::Float(shape));
            "gamma"
        }
    };
    (law, rate)
}

/// The applications of the model that a row names, where the scenario has several models.
///
/// # Errors
/// When the scenario has no such model.
fn apps_of(
    scenario: &Scenario,
    measured: &Measurements,
    point: &Point,
) -> Result<Option<Value>, SpecError> {
    let names = scenario.model_names();
    let Some(model) = &point.model else { return Ok(None) };
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let place = format!("{}: model", measured.name);
    orrery_run::error::known(&place, model, &names)?;
    if names.len() == 1 {
        return Ok(None);
    }
    let apps = scenario.file.app.iter().filter(|a| a.model == *model);
    let apps: Vec<Value> = apps.map(|a| Value::String(a.name.clone())).collect();
    Ok(Some(Value::Array(apps)))
}
