//! One world, several ways: `run`, `sweep` and `reproduce` print the same numbers.

use super::process::Place;
use crate::covering;
use orrery_results::{Row, read_csv};

/// A number by where it stands.
type Number = (String, String, Option<f64>, Option<f64>, Option<f64>);

/// The numbers of a table, and the difference of policies left out.
fn numbers(way: &str, csv: &str) -> Vec<Number> {
    let rows: Vec<Row> = read_csv(way, csv).unwrap_or_else(|e| panic!("{way}: {e}"));
    assert!(!rows.is_empty(), "{way} printed no rows");
    let number = |r: Row| (r.scope, r.metric, r.value, r.ci95_low, r.ci95_high);
    rows.into_iter().map(number).collect()
}

#[test]
fn run_sweep_and_reproduce_print_the_same_numbers_of_a_world() {
    for (policy, text) in covering::samples(6) {
        let place = Place::with("w.toml", &text);
        for (name, bytes) in covering::files() {
            place.write(&name, bytes);
        }
        let of_run = place.run(&["-q", "run", "w.toml", "--format", "csv"]).ok();
        let of_run = numbers("run", &of_run);
        let load = "scenario = \"w.toml\"\nseeds = 1\n";
        let axis = "[[axis]]\nname = \"bins\"\nkey = \"profile.bins\"\nvalues = [64]\n";
        place.write("s.toml", format!("{load}policies = [{policy:?}]\n{axis}"));
        let of_sweep = place.run(&["-q", "sweep", "s.toml", "--format", "csv"]).ok();
        assert_eq!(of_run, numbers("sweep", &of_sweep), "{text}");
        let id = "id = \"e\"\ntitle = \"t\"\nsource = \"s\"\nshow = [\"finish_rate\"]\n";
        let system =
            format!("[[system]]\nname = \"it\"\npreset = \"reference\"\npolicy = {policy:?}\n");
        place.write("e.toml", format!("{id}{load}{axis}{system}"));
        let of_reproduce = place.run(&["-q", "reproduce", "e.toml", "--format", "csv"]).ok();
        assert_eq!(of_run, numbers("reproduce", &of_reproduce), "{text}");
    }
}
