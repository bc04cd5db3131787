//! An experiment from its file to its forms, the same for all kinds.
//!
//! ```text
//!  registry ──> Experiment ──> options, a picture of no data ──> Runner: parts ──> cells, kept
//!                                                                                  │
//!  forms <── report, claims, figure <── the paper's numbers beside <── rows <──────┘
//! ```
//!
//! What can be refused is refused before hours of runs. A part that is finished is never lost.

use super::claims::LeftOut;
use super::experiment::{Experiment, UntilCi};
use super::numbers::NumbersFile;
use super::options::{CliOption, Refused};
use super::runner::{Cell, Runner};
use super::{claims, derived, document, figure, groups, numbers, registry, scores};
use orrery_report::{Forms, say};
use orrery_results::Row;
use orrery_run::SpecError;
use orrery_scenario::read_text;
use orrery_sweep::kept::Kept;
use orrery_sweep::parts::{Ran, run_parts};
use orrery_sweep::rows::{difference, difference_in, rows};
use orrery_sweep::shard::Shard;
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// What is asked of an experiment.
#[derive(Clone, Debug, Default, Deserialize, Serialize, PartialEq)]
pub struct Asked {
    /// Only these cases; all when it is empty.
    pub cases: Vec<String>,
    /// A file of the paper's numbers in place of that of `paper_csv`; without `cases`, its cases are run.
    #[serde(default)]
    pub paper: Option<PathBuf>,
    /// Replications in place of the file's.
    pub seeds: Option<u32>,
    /// When to stop adding seeds.
    pub until_ci: UntilCi,
    /// Rows of each model, application and device, too.
    #[serde(default)]
    pub details: bool,
    /// Keys that are set in every cell besides the file's, for baselines.
    #[serde(default)]
    pub set: Vec<(String, toml::Value)>,
}

/// Where an experiment is run, and how much of it.
#[derive(Clone, Debug, Default)]
pub struct How {
    /// Threads; one for each core when 0.
    pub jobs: usize,
    /// Where finished cells are kept.
    pub out: Option<PathBuf>,
    /// Only a part of it.
    pub shard: Option<Shard>,
    /// Other experiments are in `out`, too: there is nothing to join there.
    pub is_one_of_several: bool,
    /// Nothing is run: everything must be in `out`.
    pub only_kept: bool,
    /// The file that the figure will be drawn into: checked here before the first run, and drawn by
    /// whoever asks, once the result has left.
    pub plot: Option<PathBuf>,
    /// Whether a page is made.
    pub html: bool,
}

/// What came of it.
pub enum Outcome {
    /// The result.
    Whole(Box<Forms>),
    /// A part was run; how many of its cells.
    Shard(usize),
    /// Ctrl-C stopped it.
    Interrupted,
}

/// The file of a folder that shards are run into: what is asked of which experiment.
const ASKED_FILE: &str = "experiment.json";

#[derive(Deserialize, Serialize, PartialEq)]
struct AskedFile {
    experiment: String,
    asked: Asked,
    result_version: u32,
    /// The path of a user's own file, with its text.
    path: String,
    text: String,
}

/// When an option does not apply to a kind: the reason and the remedy.
///
/// # Errors
/// Names the option; `value` is what was given.
pub fn check_option(e: &Experiment, option: CliOption, value: &str) -> Result<(), SpecError> {
    match e.refused(option) {
        Some(Refused { allowed, remedy, but }) if but != Some(value) => {
            let found = format!("{value} for `{}`", e.id);
            Err(SpecError::value(option.name(), found, allowed, remedy))
        }
        _ => Ok(()),
    }
}

/// Passes when the paper has one number for each value, in the file's `[[paper]]` and its `paper_csv` together.
fn agree(e: &Experiment) -> Result<(), SpecError> {
    let Some((i, k)) = numbers::contradiction(&e.paper) else { return Ok(()) };
    let [a, b] = [i, k].map(|n| &e.paper[n]);
    let cell = |n: &numbers::Number| match n.at.is_empty() {
        true => n.system.clone(),
        false => format!("{} at `{}`", n.system, n.at),
    };
    let found =
        format!("{} of {} and {} of {}, for {}", a.value, cell(a), b.value, cell(b), a.metric);
    let allowed = "one number for each cell and metric, in `[[paper]]` and `paper_csv` together";
    // Those of `[[paper]]` come first, without those that are withheld.
    let given = e.resolved.get("paper").and_then(toml::Value::as_array).into_iter().flatten();
    let is_number = |(_, n): &(usize, &toml::Value)| {
        n.get("value").and_then(toml::Value::as_str) != Some(numbers::WITHHELD)
    };
    let place = given.enumerate().filter(is_number).nth(i);
    let key = place.map_or("paper_csv".to_string(), |(i, _)| format!("paper[{i}]"));
    let error = SpecError::value(key, found, allowed, "remove the one that is wrong");
    Err(e.origin.placed(error))
}

/// The experiment with what is asked of it.
///
/// # Errors
/// When there is no such case, or a file of the paper's numbers is wrong.
pub fn with(e: &Experiment, asked: &Asked) -> Result<Experiment, SpecError> {
    let all = e;
    let mut e = e.clone();
    e.seeds = asked.seeds.unwrap_or(e.seeds);
    e.details |= asked.details;
    e.set.extend(asked.set.iter().cloned());
    let folder = e.folder().to_path_buf();
    let text_of = |csv: &NumbersFile| match registry::numbers(&csv.file) {
        Some(text) => Ok(text.to_string()),
        None => read_text(folder.join(&csv.file)),
    };
    let takes_rows = asked.paper.is_some() && e.take_rows(asked.paper.as_deref())?;
    if let Some(file) = asked.paper.as_ref().filter(|_| !takes_rows) {
        let found = file.display().to_string();
        let Some(csv) = &mut e.paper_csv else {
            let allowed =
                "an experiment whose file has `paper_csv` or `cases`, such as orloj-table-3";
            return Err(SpecError::value("--paper", found, allowed, "remove `--paper`"));
        };
        csv.replace(&text_of(csv)?, found);
    }
    if std::env::var_os("ORRERY_WITHOUT_PAPER").is_some() {
        // Ours must print without them.
        (e.paper, e.paper_csv) = (Vec::new(), None);
    }
    if let Some(csv) = &e.paper_csv {
        let mut own = csv.read(&text_of(csv)?, &e.source)?;
        for n in own.iter_mut().filter(|n| n.metric.is_empty()) {
            n.metric = e.main().to_string();
        }
        // Where the cases are an axis, numbers of others are of another experiment.
        let axis = e.axis.iter().find(|a| a.name == "case" && asked.paper.is_none());
        if let Some(axis) = axis {
            let known: Vec<String> = axis.values.iter().map(orrery_sweep::grid::word).collect();
            own.retain(|n| numbers::case_of(n).is_none_or(|case| known.iter().any(|k| k == case)));
        }
        e.withheld.extend(own.extract_if(.., |n| n.is_withheld()));
        if asked.paper.is_some() && asked.cases.is_empty() {
            e.keep_cases(&numbers::cases(&own))?;
        }
        e.paper.extend(own);
    }
    agree(&e)?;
    e.keep_cases(&asked.cases)?;
    e.left_out = left_out(all, &e)?;
    Ok(e)
}

/// What is not run of that of which the experiment's claims speak.
fn left_out(all: &Experiment, e: &Experiment) -> Result<LeftOut, SpecError> {
    let kept = e.cases();
    let is_kept = all.cases().iter().all(|case| kept.contains(case));
    let cells = if is_kept || all.claim.is_empty() {
        None
    } else {
        let runner = all.kind.runner(all, None)?;
        let rows = figure::rows_of_no_data(all, &*runner);
        Some(claims::cells_of(&all.claim, &rows, all.main()))
    };
    Ok(LeftOut { seeds: (e.seeds < all.seeds).then_some((e.seeds, all.seeds)), cells })
}

/// Runs an experiment.
///
/// # Errors
/// When a part of it is wrong, a run cannot be made, or `out` cannot be written.
pub fn run(e: &Experiment, asked: &Asked, how: &How) -> Result<Outcome, SpecError> {
    let e = with(e, asked)?;
    registry::causes()?;
    let runner = e.kind.runner(&e, asked.until_ci)?;
    if let Some(path) = &how.plot {
        figure::check(&e, &*runner, path)?;
    }
    let kept = match &how.out {
        Some(folder) if how.only_kept => Kept::only_from(folder)?,
        folder => Kept::at(folder.as_deref())?,
    };
    let names = runner.parts();
    let parts: Vec<usize> = match how.shard {
        Some(shard) => shard.of(names.iter().map(String::as_str)),
        None => (0..names.len()).collect(),
    };
    let is_joined = how.shard.is_some() && !how.is_one_of_several;
    if let (true, Some(folder)) = (is_joined, &how.out) {
        write_asked(&e, asked, folder)?;
    }
    let stopped = || {
        if let Some(folder) = &how.out {
            let folder = folder.display();
            say(&format!("finished cells are kept in {folder}: the same command continues"));
        }
        Ok(Outcome::Interrupted)
    };
    let cells = match run_parts(&parts, how.jobs, |i| runner.run(i, &kept))? {
        Ran::All(cells) => cells.into_iter().flatten().collect::<Vec<Cell>>(),
        Ran::Stopped => return stopped(),
    };
    if how.shard.is_some() {
        return Ok(Outcome::Shard(parts.len()));
    }
    let mut forms = forms(&e, &*runner, &cells);
    match &mut forms.page {
        Some(page) if how.html => document::draw(page, &e, &forms.rows),
        page => *page = None,
    }
    Ok(Outcome::Whole(Box::new(forms)))
}

/// The rows of cells: each cell's own, what follows from them, and the paper's numbers beside.
fn all_rows(e: &Experiment, cells: &[Cell]) -> Vec<Row> {
    let mut all = Vec::new();
    let places = places(cells);
    for cell in cells {
        if let Some(seeds) = &cell.seeds {
            all.extend(rows(&cell.place, seeds, &cell.runs));
        }
        all.extend(cell.more.iter().cloned());
        let base = groups::base(e, &cell.place.system, &cell.place.preset).and_then(|s| {
            places.get(&[&*s.name, s.preset.word(), &*cell.place.case, &*cell.place.axes])
        });
        let than = |b: &Cell| difference(&cell.place, &b.place.policy, &cell.runs, &b.runs);
        all.extend(base.and_then(|i| than(&cells[*i])));
    }
    let differences = compared(e, cells, &places, &all);
    all.extend(differences);
    derived::add(e, &mut all);
    numbers::beside(&mut all, &e.paper);
    all
}

/// The number of the first cell of each system and place.
fn places(cells: &[Cell]) -> BTreeMap<[&str; 4], usize> {
    let mut all = BTreeMap::new();
    for (i, cell) in cells.iter().enumerate() {
        all.entry(place_of(&cell.place)).or_insert(i);
    }
    all
}

fn place_of(row: &Row) -> [&str; 4] {
    [&row.system, &row.preset, &row.case, &row.axes]
}

/// The differences, seed by seed, of what the claims compare and no other row has.
fn compared(
    e: &Experiment,
    cells: &[Cell],
    places: &BTreeMap<[&str; 4], usize>,
    rows: &[Row],
) -> Vec<Row> {
    let known = claims::Differences::among(rows);
    let mut seen = BTreeSet::new();
    let mut out: Vec<Row> = Vec::new();
    for (a, b) in e.claim.iter().flat_map(|claim| claims::compared(claim, rows)) {
        let at = [&a, &b].map(|row| places.get(&place_of(row)).copied());
        let [Some(i), Some(j)] = at else { continue };
        let (own, base) = (&cells[i], &cells[j]);
        let seeds = |c: &Cell| c.runs.iter().map(|r| r.seed).collect::<Vec<_>>();
        let is_known = known.of(&a, &b).or_else(|| known.of(&b, &a)).is_some();
        let is_new = seen.insert((a.metric.clone(), i.min(j), i.max(j)));
        if seeds(own) != seeds(base) || is_known || !is_new {
            continue;
        }
        let versus = claims::versus(&a, &b);
        let row = difference_in(&a.metric, &own.place, &versus, &own.runs, &base.runs);
        // One run without an interval says nothing of chance.
        out.extend(row.filter(|r| r.value.is_some() && (own.runs.len() > 1 || r.ci95().is_some())));
    }
    out
}

fn forms(e: &Experiment, runner: &dyn Runner, cells: &[Cell]) -> Forms {
    let rows = runner.rows(cells).unwrap_or_else(|| all_rows(e, cells));
    let came_out: Vec<serde_json::Value> = match e.region.is_empty() {
        true => claims::judged(&e.claim, &e.left_out, &rows).iter().map(|c| json!(c)).collect(),
        false => {
            let regions = claims::within(&e.claim, &e.region, &e.left_out, &rows);
            regions.iter().map(|r| json!(r)).collect()
        }
    };
    let claim = |(c, out): (&claims::Claim, _)| json!({"text": c.text, "own": c.own, "fitted": c.fitted, "came_out": out});
    let claims: Vec<serde_json::Value> = e.claim.iter().zip(came_out).map(claim).collect();
    let extra = [
        ("experiment", json!(e.id)),
        ("title", json!(e.title)),
        ("source", json!(e.source)),
        ("claims", json!(claims)),
        ("assumptions", json!(e.assumption)),
        ("specification", json!(e.resolved)),
        ("scores", json!(scores::of(e, &rows))),
    ];
    let given: Vec<_> = extra
        .into_iter()
        .filter(|(_, v)| !v.is_null() && v.as_array().is_none_or(|a| !a.is_empty()))
        .collect();
    let page = document::with(e, &rows, runner.document(cells, &rows));
    Forms { table: page.to_text(), more: given, rows, page: Some(page) }
}

/// The rows of an experiment, for baselines and tests.
///
/// # Errors
/// As [`run`].
pub fn rows_of(e: &Experiment, asked: &Asked) -> Result<Vec<Row>, SpecError> {
    Ok(forms_of(e, asked)?.rows)
}

/// The forms of an experiment, run on the threads of whoever calls.
///
/// # Errors
/// As [`run`].
pub fn forms_of(e: &Experiment, asked: &Asked) -> Result<Forms, SpecError> {
    match run(e, asked, &How::default())? {
        Outcome::Whole(forms) => Ok(*forms),
        _ => Err(SpecError::value("run", "Ctrl-C", "a run to its end", "run it again")),
    }
}

/// Writes what is asked into a folder that shards are run into, or finds it there.
fn write_asked(e: &Experiment, asked: &Asked, folder: &Path) -> Result<(), SpecError> {
    use orrery_report::whole_file::write_if_absent;
    let file = AskedFile {
        experiment: e.id.clone(),
        asked: asked.clone(),
        result_version: orrery_results::RESULT_VERSION,
        path: e.origin.path.clone(),
        text: e.origin.text.clone(),
    };
    let path = folder.join(ASKED_FILE);
    let text = serde_json::to_string_pretty(&file).unwrap_or_default() + "\n";
    if write_if_absent(&path, text.as_bytes())? {
        return Ok(());
    }
    let found = read_asked(&path)?;
    if found == file {
        return Ok(());
    }
    let what =
        if found.experiment == file.experiment { "other options, or another file" } else { "" };
    let error = SpecError::value(
        "experiment",
        format!(
            "the shards of `{}`{}{what}",
            found.experiment,
            if what.is_empty() { "" } else { ", with " }
        ),
        format!("those of `{}` as it is asked for", file.experiment),
        format!(
            "choose another folder with `--out`, or remove `{ASKED_FILE}`: finished cells are kept"
        ),
    );
    Err(error.in_file(&path.display().to_string()))
}

fn read_asked(path: &Path) -> Result<AskedFile, SpecError> {
    let name = path.display().to_string();
    let text = read_text(path)?;
    let file: AskedFile = serde_json::from_str(&text).map_err(|e| SpecError::Parse {
        file: name.clone(),
        message: format!("not what `orrery reproduce --shard` wrote: {e}"),
    })?;
    if file.result_version != orrery_results::RESULT_VERSION {
        let remedy = "run the shards again with this version, into another folder";
        let allowed = orrery_results::RESULT_VERSION.to_string();
        let error = SpecError::value("result_version", file.result_version, allowed, remedy);
        return Err(error.in_file(&name));
    }
    Ok(file)
}

/// Whether shards of an experiment were run into a folder.
pub fn is_sharded(folder: &Path) -> bool {
    folder.join(ASKED_FILE).is_file()
}

/// Joins the shards in a folder: the experiment with all its cells found there.
///
/// # Errors
/// When the file is damaged or of another version, or a cell is missing.
pub fn merge(folder: &Path, html: bool) -> Result<(Experiment, Outcome), SpecError> {
    let file = read_asked(&folder.join(ASKED_FILE))?;
    let e = registry::from_text(&file.path, &file.text)?;
    let how = How { out: Some(folder.to_path_buf()), only_kept: true, html, ..How::default() };
    let outcome = run(&e, &file.asked, &how)?;
    Ok((e, outcome))
}
