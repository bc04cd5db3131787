//! One world, several ways: `run`, `sweep`, `reproduce` and `serve` print the same numbers; Python as well, in
//! `python/tests/test_worlds.py`, which reads what `ORRERY_WORLDS_KEPT` keeps of this test.

use super::process::Place;
use super::serve::Server;
use crate::covering;
use orrery_results::{Row, read_csv};
use rayon::prelude::*;
use serde_json::json;
use std::path::Path;

/// Worlds that are drawn; `ORRERY_WAYS` asks for more.
const WORLDS: usize = 12;

/// What the page shows of a policy, of what the run has.
const SERVED: [&str; 6] = [
    "finish_rate",
    "goodput_per_s",
    "latency_p50_ns",
    "latency_p99_ns",
    "mean_batch_size",
    "utilisation",
];

/// A number by where it stands.
type Number = (String, String, Option<f64>, Option<f64>, Option<f64>);

/// The numbers of a table, and the difference of policies left out.
fn numbers(way: &str, csv: &str) -> Vec<Number> {
    let rows: Vec<Row> = read_csv(way, csv).unwrap_or_else(|e| panic!("{way}: {e}"));
    assert!(!rows.is_empty(), "{way} printed no rows");
    let number = |r: Row| (r.scope, r.metric, r.value, r.ci95_low, r.ci95_high);
    rows.into_iter().map(number).collect()
}

/// A folder for a world: one that stays, where it is asked for.
fn place() -> Place {
    match std::env::var_os("ORRERY_WORLDS_KEPT") {
        Some(folder) => Place::kept_in(Path::new(&folder)),
        None => Place::new(),
    }
}

/// What a command prints of a file, written beside it.
fn csv_of(place: &Place, command: &str, file: &str) -> String {
    let mut args = vec!["-q", command, file, "--format", "csv"];
    // The others have rows of models and applications as they are.
    args.extend((command == "reproduce").then_some("--details"));
    let csv = place.run(&args).ok();
    place.write(&format!("{command}.csv"), &csv);
    csv
}

/// What the page shows of a policy, as `run` prints it.
fn check_served(place: Place, of_run: &[Number], text: &str) {
    let server = Server::at(place, "w.toml");
    let events = server.events("seeds=1");
    assert_eq!(events.last().map(|e| e.0.as_str()), Some("done"), "{text}");
    let last = events.iter().rfind(|(name, _)| name == "policy").expect("an answer");
    let shown = last.1["metrics"].as_object().expect("metrics");
    assert!(shown.contains_key("finish_rate"), "{text}: {shown:?}");
    for metric in SERVED {
        let of_run = of_run.iter().find(|n| n.0 == "all" && n.1 == metric);
        let of_run = of_run.map(|(_, _, value, low, high)| json!([value, low, high]));
        let own = shown.get(metric).map(|own| json!([own["value"], own["low"], own["high"]]));
        assert_eq!(own, of_run, "{metric}: {text}");
    }
}

fn check(policy: &str, text: &str) {
    let place = place();
    place.write("w.toml", text);
    for (name, bytes) in covering::files() {
        place.write(&name, bytes);
    }
    let of_run = numbers("run", &csv_of(&place, "run", "w.toml"));
    let load = "scenario = \"w.toml\"\nseeds = 1\n";
    let axis = "[[axis]]\nname = \"bins\"\nkey = \"profile.bins\"\nvalues = [64]\n";
    place.write("s.toml", format!("{load}policies = [{policy:?}]\n{axis}"));
    assert_eq!(of_run, numbers("sweep", &csv_of(&place, "sweep", "s.toml")), "{text}");
    let id = "id = \"e\"\ntitle = \"t\"\nsource = \"s\"\nshow = [\"finish_rate\"]\n";
    let system =
        format!("[[system]]\nname = \"it\"\npreset = \"reference\"\npolicy = {policy:?}\n");
    place.write("e.toml", format!("{id}{load}{axis}{system}"));
    assert_eq!(of_run, numbers("reproduce", &csv_of(&place, "reproduce", "e.toml")), "{text}");
    check_served(place, &of_run, text);
}

#[test]
fn run_sweep_reproduce_and_serve_print_the_same_numbers_of_a_world() {
    let count = std::env::var("ORRERY_WAYS").map_or(WORLDS, |n| n.parse().expect("a number"));
    let worlds = covering::samples(count);
    assert_eq!(worlds.len(), count);
    worlds.par_iter().for_each(|(policy, text)| check(policy, text));
}
