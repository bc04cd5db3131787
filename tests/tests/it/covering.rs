//! Every key beside every other: a covering array over the schema of scenarios.
//!
//! Worlds of some 150 requests in which every pair of keys, and every key with every policy, is off its default
//! ([`table`] has the keys, [`array`] draws the worlds). No golden says what is right; laws do:
//!
//! - a file is refused with key and remedy, or runs; nothing panics;
//! - the auditor finds nothing in the log;
//! - the result's numbers are those of the log, counted again, and are possible ([`judge`], [`recount`]);
//! - a key off its default changes the result of some policy, or the table says why not.
//!
//! A failure is shrunk to the smallest world and printed as a file for `orrery run`. Those that were found so are in
//! `worlds/`, and run again. `ORRERY_WORLDS_SEED` draws other worlds; `docs/testing.md` says more.

mod array;
mod beside;
mod edit;
mod faults;
mod judge;
mod naively;
mod recount;
mod run;
mod schema;
mod table;
mod world;

use array::{Array, Pair};
use judge::{Fault, fault};
use orrery_scenario::reference;
use orrery_scenario::scenario::file::ScenarioFile;
use rayon::prelude::*;
use run::{Ended, run};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use world::{Choices, World, shrink};

/// Worlds that are drawn before any of them is judged: what one teaches, the next of them do not know.
const BATCH: usize = 64;

/// What is wrong with a world.
fn faults(text: &str) -> Vec<Fault> {
    match run(text) {
        Ended::Ran(ran) => judge::faults(&ran),
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
    let drawn: BTreeSet<&str> = table::all().iter().map(|row| row.name).collect();
    let excuse = |key: &str| {
        let is = |name: &str| key == name || name.ends_with('.') && key.starts_with(name);
        table::EXCUSED.iter().find(|(name, _)| is(name))
    };
    let missing: Vec<&String> =
        keys.iter().filter(|k| !drawn.contains(k.as_str()) && excuse(k).is_none()).collect();
    assert!(
        missing.is_empty(),
        "no row in tests/tests/it/covering/table/, and no excuse: {missing:#?}"
    );
    let unknown: Vec<&&str> = drawn.iter().filter(|k| !keys.contains(**k)).collect();
    assert!(unknown.is_empty(), "rows of keys that the schema does not have: {unknown:#?}");
    for (name, _) in table::EXCUSED {
        let is = |key: &&String| *key == name || name.ends_with('.') && key.starts_with(name);
        assert!(
            keys.iter().any(|k| is(&k)),
            "an excuse for `{name}`, which the schema does not have"
        );
        assert!(!drawn.contains(name), "`{name}` is excused and drawn");
    }
}

#[test]
fn a_key_off_its_default_changes_the_result_of_some_policy_or_says_why_not() {
    let choices = Choices::new();
    let check = |value: usize| -> Option<String> {
        let choice = &choices.all[value];
        let row = choice.key.expect("a value of a key");
        let shown = |text: &str| match run(text) {
            Ended::Ran(ran) => Ok(ran.shown()),
            Ended::Refused(message) | Ended::Panicked(message) => Err(message),
        };
        let mut refused = None;
        let changes = choices.policies().any(|policy| {
            let world = [value, policy];
            let (with, without) = (choices.text(&world), choices.written(&world, &[policy]));
            match (shown(&with), shown(&without)) {
                (Ok(with), Ok(without)) => with != without,
                (Err(message), _) => {
                    refused = Some(format!("is refused: {message}"));
                    false
                }
                (_, Err(message)) => {
                    refused = Some(format!("without it, its needs are refused: {message}"));
                    false
                }
            }
        });
        match (changes, row.silent, refused) {
            (true, None, _) | (false, Some(_), None) => None,
            (true, Some(why), _) => {
                Some(format!("{}: changes a result, against: {why}", choice.name))
            }
            (false, _, Some(message)) => Some(format!("{}: {message}", choice.name)),
            (false, None, None) => Some(format!("{}: changes no policy's result", choice.name)),
        }
    };
    let wrong: Vec<String> = (0..choices.values).into_par_iter().filter_map(check).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// What one world taught.
enum Taught {
    Runs(Vec<Fault>),
    Refused(World),
}

fn judge_world(choices: &Choices, world: &World) -> Taught {
    let text = choices.text(world);
    if !is_refused(&text) {
        return Taught::Runs(faults(&text));
    }
    let mut part = shrink(choices, world, |less| is_refused(&choices.text(less)));
    part.retain(|&i| choices.all[i].name != "fifo");
    Taught::Refused(part)
}

#[test]
fn every_pair_of_keys_and_policies_runs_by_the_laws() {
    let seed =
        std::env::var("ORRERY_WORLDS_SEED").map_or(1, |s| s.parse().expect("a whole number"));
    let choices = Choices::new();
    let mut array = Array::new(&choices, seed);
    let mut broken: BTreeMap<String, Broken> = BTreeMap::new();
    let (mut runs, mut refusals) = (0, 0);
    let mut ran = Vec::new();
    loop {
        let worlds: Vec<World> = (0..BATCH).map_while(|_| array.draw()).collect();
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
                    runs += 1;
                    ran.push(world.clone());
                    array.cover(world);
                    faults.retain(|fault| !faults::is_known(&choices, world, fault));
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
    print!("{}", report(&choices, &array, runs, refusals));
    let mut text = String::new();
    for (law, Broken { world, found, worlds }) in &broken {
        let breaks = |less: &[usize]| faults(&choices.text(less)).iter().any(|f| f.law == *law);
        let least = shrink(&choices, world, breaks);
        let name = choices.name(&least);
        let _ = writeln!(
            text,
            "## {law}: {found} (in {worlds} worlds)\n# {name}\n{}",
            choices.text(&least)
        );
    }
    assert!(broken.is_empty(), "{text}");
}

/// A law that does not hold.
struct Broken {
    world: World,
    found: String,
    worlds: usize,
}

/// What was covered, and what was not.
fn report(choices: &Choices, array: &Array, runs: usize, refusals: usize) -> String {
    let mut counts = [0usize; 3];
    let mut text = String::new();
    for (a, b, pair) in array.all() {
        let (place, word) = match pair {
            Pair::Covered | Pair::Exclusive => (0, None),
            Pair::Refused => (1, Some("refused")),
            Pair::Open(_) => (2, Some("not covered")),
        };
        counts[place] += 1;
        if let Some(word) = word {
            let _ = writeln!(text, "{word}: {} + {}", choices.all[a].name, choices.all[b].name);
        }
    }
    for part in &array.refused {
        let _ = writeln!(text, "refused together: {}", choices.name(part));
    }
    for (name, why) in table::EXCUSED {
        let _ = writeln!(text, "not drawn: {name}: {why}");
    }
    let [covered, refused, open] = counts;
    format!(
        "{text}{runs} worlds ran, {refusals} were refused; {covered} pairs covered, {refused} refused, {open} not covered\n"
    )
}
