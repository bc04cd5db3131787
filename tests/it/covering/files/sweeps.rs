//! Sweeps: every key alone and beside every other, with one law: a cell is what `run` makes of its scenario with its
//! seeds, whatever else is in the file. The scenarios are written here by edits of the base's text.

mod table;

use crate::covering::array::{Array, Pair};
use crate::covering::edit::Edits;
use crate::covering::run::{Ended, run};
use crate::covering::table::{BASE, Key};
use crate::covering::world::{Choices, shrink};
use crate::covering::{alone, schema};
use orrery_report::{Answer, Format, Output};
use orrery_results::{Row, read_csv};
use orrery_run::SpecError;
use orrery_scenario::{Scenario, reference};
use orrery_sweep::join::join;
use orrery_sweep::manifest::Lister;
use orrery_sweep::parts::run_parts;
use orrery_sweep::scenario_cell::Subject;
use orrery_sweep::store::Store;
use orrery_sweep::sweep_file::SweepFile;
use orrery_sweep::work::Work;
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use tempfile::TempDir;
use toml::{Table, Value};

/// The base scenario, and the other one.
const WORLD: &str = "arrivals.requests = 60";
const OTHER: &str =
    "arrivals.requests = 60; model[0].slo_ms = 45.0; model[1].slo_ms = 20.0; seed = 8";

fn rows(text: &str) -> Result<Vec<Row>, String> {
    let folder = TempDir::new().expect("a temporary folder");
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).expect("a temporary file");
        path
    };
    write("world.toml", &Edits::read(WORLD).apply(BASE));
    write("other.toml", &Edits::read(OTHER).apply(BASE));
    let sweep = write("sweep.toml", text);
    let answer =
        swept::<Scenario>(&sweep, &folder.path().join("out")).map_err(|e| e.to_string())?;
    let csv = match answer.file {
        Some(file) => std::fs::read_to_string(file).expect("the result"),
        None => answer.stdout,
    };
    Ok(read_csv("the result", &csv).unwrap_or_else(|e| panic!("{e}: {csv}")))
}

/// What `orrery sweep` does.
pub fn swept<S: Subject>(file: &Path, folder: &Path) -> Result<Answer, SpecError> {
    let file = SweepFile::load(file)?;
    let base = file.base_path();
    let text = std::fs::read_to_string(&base).expect("a file that was just written");
    let lister = Lister::new(&file, S::from_text(&base.display().to_string(), &text)?)?;
    lister.first()?;
    let store = Store::open(folder)?;
    let work = Work::of(&store, store.manifest_of(&lister, 1)?)?;
    let all: Vec<usize> = (0..work.parts().len()).collect();
    run_parts(&all, 1, |i| work.run(i))?;
    join(&store, &Output { format: Format::Csv, out: None, html: None })
}

fn shown(text: &str) -> alone::Shown {
    let plain = |row| Row { spec_sha256: String::new(), inputs_sha256: String::new(), ..row };
    Ok(format!("{:?}", rows(text)?.into_iter().map(plain).collect::<Vec<_>>()))
}

fn choices(keys: Vec<Key>) -> Choices {
    let policies = [("two", "\"fifo\", \"eager\""), ("one", "\"fifo\"")];
    let policies = policies.map(|(name, list)| (name.to_string(), list.to_string()));
    Choices::in_file(table::BASE, keys, policies)
}

#[test]
fn every_key_of_sweeps_is_drawn_or_excused() {
    let keys = schema::keys(reference::schema::<SweepFile>().as_value());
    schema::all_drawn_or_excused(&keys, table::KEYS, table::EXCUSED);
}

#[test]
fn a_key_of_sweeps_off_its_default_changes_the_result() {
    alone::check(&choices(table::KEYS.to_vec()), shown);
}

/// What a table sets, as edits.
fn edits(set: Option<&Value>) -> String {
    let set = set.and_then(Value::as_table).into_iter().flatten();
    set.map(|(key, value)| format!("{key} = {value}; ")).collect()
}

fn list<'a>(table: &'a Table, key: &str) -> Vec<&'a Value> {
    table.get(key).and_then(Value::as_array).into_iter().flatten().collect()
}

/// The cells of a sweep without a sample, as edits of its scenario, in order.
fn cells(sweep: &Table) -> Vec<String> {
    let mut cells = vec![edits(sweep.get("set"))];
    let mut times = |ways: Vec<String>| {
        if !ways.is_empty() {
            let with = |cell: &String| ways.iter().map(|way| format!("{cell}{way}")).collect();
            cells = cells.iter().flat_map(|cell| -> Vec<String> { with(cell) }).collect();
        }
    };
    times(list(sweep, "point").into_iter().map(|point| edits(point.get("set"))).collect());
    for axis in list(sweep, "axis") {
        let axis = axis.as_table().expect("a table");
        times(list(axis, "point").into_iter().map(|point| edits(point.get("set"))).collect());
        let keys: Vec<&str> = match axis.get("key") {
            Some(key) => vec![key.as_str().expect("a key")],
            None => list(axis, "keys").into_iter().filter_map(Value::as_str).collect(),
        };
        let set = |value: &Value| keys.iter().map(|key| format!("{key} = {value}; ")).collect();
        times(list(axis, "values").into_iter().map(set).collect());
    }
    cells
}

/// Whether a cell's rows have the means over its seeds of what `run` makes of its scenario.
fn agrees(scenario: &str, cell: &str, policy: &str, rows: &[Row]) -> bool {
    let mut all: BTreeMap<(String, String), Vec<f64>> = BTreeMap::new();
    let (first, last) = rows[0].seeds.split_once('-').expect("seeds in a row");
    let number = |text: &str| text.parse::<u64>().expect("a seed");
    for seed in number(first)..=number(last) {
        let mut edits = Edits::default();
        // One by one: of two edits of a key the later one counts.
        let own = format!("policies = [{policy:?}]; seed = {seed}");
        cell.split("; ").chain(own.split("; ")).for_each(|edit| edits.add(&Edits::read(edit)));
        let Ended::Ran(ran) = run(&edits.apply(scenario)) else { panic!("{cell} does not run") };
        for row in ran.rows {
            all.entry((row.scope, row.metric)).or_default().extend(row.value);
        }
    }
    let mut is_near = |row: &Row| {
        let of_run = all.remove(&(row.scope.clone(), row.metric.clone())).unwrap_or_default();
        let mean = of_run.iter().sum::<f64>() / of_run.len() as f64;
        row.value.is_none_or(|value| (value - mean).abs() <= 1e-9 * mean.abs())
    };
    rows.iter().all(&mut is_near) && all.is_empty()
}

/// What is wrong with the cells of a sweep; `None` where it is refused.
fn wrong(text: &str) -> Option<Vec<String>> {
    let mut rows = match rows(text) {
        Ok(rows) => rows,
        Err(message) if message.contains("remedy: ") => return None,
        Err(message) => return Some(vec![format!("a refusal without a remedy: {message}")]),
    };
    let sweep: Table = text.parse().expect("a file");
    let scenario = match sweep["scenario"].as_str() {
        Some("world.toml") => Edits::read(WORLD).apply(BASE),
        _ => Edits::read(OTHER).apply(BASE),
    };
    rows.retain(|row| row.versus.is_empty());
    let of_cells: Vec<&[Row]> =
        rows.chunk_by(|a, b| (&a.axes, &a.policy) == (&b.axes, &b.policy)).collect();
    let policies = list(&sweep, "policies").into_iter().filter_map(Value::as_str);
    let policies: Vec<&str> = policies.collect();
    let cells = cells(&sweep);
    let sample = sweep.get("sample").and_then(|sample| sample["count"].as_integer());
    let count = sample.map_or(cells.len(), |n| cells.len().min(n as usize));
    let mut found = Vec::new();
    if of_cells.len() != count * policies.len() {
        found.push(format!("{} cells, and not {count} of each policy", of_cells.len()));
    }
    // In this order; where a sample is drawn, without some.
    let mut left = cells.iter();
    for rows in of_cells.chunks(policies.len()) {
        let is_it = |cell: &&String| {
            let pairs = policies.iter().zip(rows);
            pairs.into_iter().all(|(policy, rows)| agrees(&scenario, cell, policy, rows))
        };
        let cell = if sample.is_some() { left.find(is_it) } else { left.next().filter(is_it) };
        if cell.is_none() {
            found.push(format!("{} is not what `run` prints", rows[0][0].axes));
        }
    }
    Some(found)
}

#[test]
fn a_cell_is_a_run_of_its_scenario_beside_every_pair_of_keys() {
    // A search for goodput takes as long as a hundred runs: its keys are tried alone.
    let mut keys = table::KEYS.to_vec();
    keys.retain(|key| !key.name.starts_with("Search.") && !key.off[0].contains("goodput"));
    let choices = choices(keys);
    let mut array = Array::new(&choices, 1);
    let judged = |world: &[usize]| {
        let wrong = AssertUnwindSafe(|| wrong(&choices.text(world)));
        catch_unwind(wrong).unwrap_or_else(|_| Some(vec!["a panic: see above".to_string()]))
    };
    let (mut ran, mut refused) = (0, 0);
    loop {
        let worlds = array.batch(32);
        if worlds.is_empty() {
            break;
        }
        let all: Vec<Option<Vec<String>>> = worlds.par_iter().map(|w| judged(w)).collect();
        for (world, wrong) in worlds.iter().zip(all) {
            match wrong {
                Some(wrong) => {
                    assert!(wrong.is_empty(), "{wrong:?}\n{}", choices.text(world));
                    ran += 1;
                    array.cover(world);
                }
                None => {
                    refused += 1;
                    let mut part = shrink(&choices, world, |less| judged(less).is_none());
                    part.retain(|&i| i != choices.plain());
                    array.refuse(part);
                }
            }
        }
    }
    for (a, b, pair) in array.all().filter(|pair| pair.2 != Pair::Covered) {
        println!("{pair:?}: {} with {}", choices.all[a].name, choices.all[b].name);
    }
    println!("{ran} sweeps ran, {refused} were refused");
    assert!(ran > 5, "{ran} ran");
}
