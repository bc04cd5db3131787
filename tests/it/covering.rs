//! Every key beside every other: a covering array over the schema of scenarios.
//!
//! Worlds of some 150 requests in which every pair of keys, and every key with every policy, is off its default
//! ([`table`] has the keys, [`array`] draws the worlds). No golden says what is right; laws do:
//!
//! - a file is refused with key and remedy, or runs; nothing panics;
//! - the auditor finds nothing in the log;
//! - the result's numbers are those of the log, counted again, and are possible ([`judge`], `recount`);
//! - a key off its default changes the result of some policy, or the table says why not.
//!
//! A failure is shrunk to the smallest world and printed as a file for `orrery run`. Those that were found so are in
//! `worlds/`, and run again. `ORRERY_WORLDS_SEED` draws other worlds; `docs/testing.md` says more.

mod alone;
mod array;
mod beside;
mod edit;
mod faults;
mod files;
mod judge;
mod naively;
mod order;
mod parameters;
mod run;
mod scaled;
mod schema;
mod table;
mod twins;
mod world;

use array::{Array, Pair};
use judge::{Fault, fault};
use orrery_scenario::reference;
use orrery_scenario::scenario::file::ScenarioFile;
use rayon::prelude::*;
use run::{Ended, run};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use twins::{TWINS, Twin};
use world::{Choices, World, shrink};

/// Worlds that are drawn before any of them is judged: what one teaches, the next of them do not know.
const BATCH: usize = 64;

/// Some worlds of the array that run: their policies and files.
pub fn samples(count: usize) -> Vec<(String, String)> {
    let choices = Choices::new();
    let mut array = Array::new(&choices, 2);
    let worlds = std::iter::from_fn(|| array.draw());
    let texts = worlds.map(|world| choices.text(&world)).filter(|text| !is_refused(text));
    // What a sweep's axis sets is not in the file.
    let texts = texts.filter(|text| !text.contains("bins = "));
    let policy = |text: String| {
        let file: ScenarioFile = toml::from_str(&text).expect("it has run");
        (file.policies[0].clone(), text)
    };
    texts.map(policy).take(count).collect()
}

/// The files that worlds name, with what is in them.
pub fn files() -> Vec<(String, Vec<u8>)> {
    let files = std::fs::read_dir(run::folder()).expect("a folder of files");
    let read = |path: std::path::PathBuf| {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
        (name.expect("a name"), std::fs::read(&path).expect("a file"))
    };
    files.map(|file| read(file.expect("a file").path())).collect()
}

/// What is wrong with a world.
fn faults(text: &str, twin: &Twin) -> Vec<Fault> {
    judged(run(text), text, twin)
}

fn judged(ended: Ended, text: &str, twin: &Twin) -> Vec<Fault> {
    match ended {
        Ended::Ran(ran) => {
            let judge = AssertUnwindSafe(|| {
                let mut faults = judge::faults(&ran);
                faults.extend(twin.differs(&ran, text).1);
                faults.extend(twin.naive.then(|| naively::differs(&ran)).flatten());
                faults
            });
            let panicked = |_| vec![fault("nothing panics: a law itself", "see above")];
            catch_unwind(judge).unwrap_or_else(panicked)
        }
        Ended::Panicked(message) => {
            // The numbers in it differ from world to world.
            let words = message.split(|c: char| c.is_ascii_digit()).next().unwrap_or_default();
            vec![fault(format!("nothing panics: {words}"), message.clone())]
        }
        Ended::Refused(message) if !message.contains("remedy: ") => {
            vec![fault("a refusal has a remedy", message)]
        }
        Ended::Refused(_) => Vec::new(),
    }
}

fn is_refused(text: &str) -> bool {
    matches!(run(text), Ended::Refused(_))
}

#[test]
fn every_key_of_the_schema_is_drawn_or_excused() {
    let keys = schema::keys(reference::schema::<ScenarioFile>().as_value());
    schema::all_drawn_or_excused(&keys, &table::all(), table::EXCUSED);
}

/// What a file prints and logs, or why it does not run.
fn shown(text: &str) -> Result<String, String> {
    match run(text) {
        Ended::Ran(ran) => Ok(ran.shown()),
        Ended::Refused(message) | Ended::Panicked(message) => Err(message),
    }
}

#[test]
fn a_key_off_its_default_changes_the_result_of_some_policy_or_says_why_not() {
    alone::check(&Choices::of(table::all()), shown);
}

/// Each was the smallest world of a fault.
#[test]
fn worlds_that_were_wrong_once_run_by_the_laws() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/it/covering/worlds");
    let files = std::fs::read_dir(folder).expect("a folder of worlds");
    let mut paths: Vec<_> = files.map(|file| file.expect("a file").path()).collect();
    paths.sort();
    assert!(paths.len() > 5, "{paths:?}");
    let mut wrong = String::new();
    for path in &paths {
        let text = std::fs::read_to_string(path).expect("a world");
        let found = TWINS.iter().flat_map(|twin| faults(&text, twin));
        for fault in found.filter(|fault| faults::known(&[], fault).is_none()) {
            let _ = writeln!(wrong, "{}: {}: {}", path.display(), fault.law, fault.found);
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

/// What one world taught.
enum Taught {
    Runs(Vec<Fault>),
    Refused(World),
}

/// The law about two worlds that is put to a world.
fn twin_of(world: &World) -> &'static Twin {
    &TWINS[world.iter().sum::<usize>() % TWINS.len()]
}

fn judge_world(choices: &Choices, world: &World) -> Taught {
    let text = choices.text(world);
    let ended = run(&text);
    if !matches!(ended, Ended::Refused(_)) {
        return Taught::Runs(judged(ended, &text, twin_of(world)));
    }
    let mut part = shrink(choices, world, |less| is_refused(&choices.text(less)));
    part.retain(|&i| i != choices.plain());
    Taught::Refused(part)
}

#[test]
fn every_pair_of_keys_and_policies_runs_by_the_laws() {
    let seed =
        std::env::var("ORRERY_WORLDS_SEED").map_or(1, |s| s.parse().expect("a whole number"));
    let choices = Choices::new();
    let mut array = Array::new(&choices, seed);
    let mut broken: BTreeMap<String, Broken> = BTreeMap::new();
    let mut refusals = 0;
    let mut known = BTreeSet::new();
    let mut ran = Vec::new();
    loop {
        let worlds = array.batch(BATCH);
        if worlds.is_empty() {
            break;
        }
        let taught: Vec<Taught> =
            worlds.par_iter().map(|world| judge_world(&choices, world)).collect();
        for (world, taught) in worlds.iter().zip(taught) {
            match taught {
                Taught::Refused(part) => {
                    refusals += 1;
                    array.refuse(part);
                }
                Taught::Runs(mut faults) => {
                    ran.push(world.clone());
                    array.cover(world);
                    let names: Vec<&str> = world.iter().map(|&i| choices.short(i)).collect();
                    faults.retain(|fault| match faults::known(&names, fault) {
                        Some(number) => {
                            known.insert(number);
                            false
                        }
                        None => true,
                    });
                    faults.sort_by(|a, b| a.law.cmp(&b.law));
                    faults.dedup_by(|a, b| a.law == b.law);
                    for Fault { law, found } in faults {
                        let first = || Broken { world: world.clone(), found, worlds: 0 };
                        broken.entry(law).or_insert_with(first).worlds += 1;
                    }
                }
            }
        }
    }
    if std::env::var("ORRERY_BESIDE").is_ok() {
        for (a, b) in beside::silent_pairs(&choices, &array, &ran) {
            println!("silent: {} beside {}", choices.all[a].name, choices.all[b].name);
        }
    }
    print!("{}", report(&choices, &array, ran.len(), refusals));
    let mut text = String::new();
    for (law, Broken { world, found, worlds }) in &broken {
        let twin = twin_of(world);
        let breaks =
            |less: &[usize]| faults(&choices.text(less), twin).iter().any(|f| f.law == *law);
        let least = shrink(&choices, world, breaks);
        let name = choices.name(&least);
        let _ = writeln!(
            text,
            "## {law}: {found} (in {worlds} worlds)\n# {name}\n{}",
            choices.text(&least)
        );
    }
    assert!(broken.is_empty(), "{text}");
    let names = |world: &World| world.iter().map(|&i| choices.short(i)).collect();
    let mended = faults::mended(&known, &ran.iter().map(names).collect::<Vec<_>>());
    assert!(mended.is_empty(), "mended: remove from covering/faults.rs: {mended:?}");
}

/// A law that does not hold.
struct Broken {
    world: World,
    found: String,
    worlds: usize,
}

/// What was covered, and what was not.
fn report(choices: &Choices, array: &Array, ran: usize, refusals: usize) -> String {
    let (mut covered, mut refused, mut open) = (0, 0, 0);
    let mut with: BTreeMap<(&str, &str), BTreeSet<&str>> = BTreeMap::new();
    for (a, b, pair) in array.all() {
        let (count, word) = match pair {
            Pair::Covered | Pair::Exclusive => (&mut covered, None),
            Pair::Refused => (&mut refused, Some("refused")),
            Pair::Open(_) => (&mut open, Some("not covered")),
        };
        *count += 1;
        if let Some(word) = word {
            with.entry((choices.short(a), word)).or_default().insert(choices.short(b));
        }
    }
    let mut text = String::new();
    for ((key, word), others) in with {
        let others: Vec<&str> = others.into_iter().collect();
        let _ = writeln!(text, "{key} is {word} with {}", others.join(", "));
    }
    for part in &array.refused {
        let _ = writeln!(text, "refused together: {}", choices.name(part));
    }
    for (name, why) in table::EXCUSED {
        let _ = writeln!(text, "not tested: {name}: {why}");
    }
    let _ = writeln!(
        text,
        "{ran} worlds ran, {refusals} were refused; {covered} pairs of keys and policies occurred, \
         {refused} are refused, {open} did not occur"
    );
    text
}
