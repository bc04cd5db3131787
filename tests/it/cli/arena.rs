//! `orrery arena`: a small suite in a folder, every form, what is refused.

use super::process::Place;

const SCENARIO: &str = "
policies = [\"fifo\"]

[[model]]
name = \"m\"
slo_ms = 30.0
latency = { affine = { alpha_ms = 1.0, beta_ms = 5.0 } }

[[app]]
name = \"a\"
model = \"m\"
time = { constant = { ms = 6.0 } }

[arrivals]
poisson = { rate_per_s = RATE }
requests = 500
";

/// A suite of four scenarios in the folder `s`.
pub fn write_suite(place: &Place) {
    let mut index = "maps = [[\"load\", \"slo\"]]\n".to_string();
    std::fs::create_dir(place.path("s")).expect("a folder");
    for (load, rate) in [("low", "100.0"), ("high", "900.0")] {
        for slo in ["20.0", "40.0"] {
            index += &format!(
                "\n[[scenario]]\nname = \"{load}-{slo}\"\naxes = \"load={load};slo={slo}\"\nasks = \"?\"\n"
            );
            let text = SCENARIO.replace("RATE", rate).replace("30.0", slo);
            place.write(&format!("s/{load}-{slo}.toml"), text);
        }
    }
    place.write("s/suite.toml", index);
}

fn place() -> Place {
    let place = Place::new();
    write_suite(&place);
    place
}

const ARGS: [&str; 10] =
    ["arena", "--suite", "s", "--alone", "--policy", "eager", "--policy", "nexus", "--seeds", "3"];

#[test]
fn a_league_has_the_same_bytes_whatever_the_threads_and_goes_on_in_its_folder() {
    let place = place();
    let alone = place.run(&[&ARGS[..], &["--jobs", "1"]].concat()).ok();
    assert!(alone.contains("4 scenarios, 2 policies") && alone.contains("load"), "{alone}");
    assert!(alone.lines().all(|l| l.chars().count() <= 80), "{alone}");
    assert_eq!(place.run(&[&ARGS[..], &["--jobs", "3"]].concat()).ok(), alone);
    let out = ["--out", "o", "--html", "a.html", "--plot", "a.svg"];
    assert_eq!(place.run(&[&ARGS[..], &out].concat()).ok(), alone);
    assert_eq!(place.run(&[&ARGS[..], &out].concat()).ok(), alone, "from the cells that are there");
    let (page, map) = (place.read("a.html"), place.read("a.svg"));
    assert!(page.contains("<svg") && map.starts_with("<?xml") && map.contains("eager"), "{map}");
    for form in ["csv", "json", "wide"] {
        let text = place.run(&[&ARGS[..], &["--format", form]].concat()).ok();
        let file =
            if form == "wide" { "o/arena-s.wide.csv".into() } else { format!("o/arena-s.{form}") };
        assert_eq!(text, place.read(&file));
    }
    // Shards only fill a folder.
    let said = place.run(&[&ARGS[..], &["--out", "p", "--shard", "1/1"]].concat()).ok();
    assert!(said.contains("8 cells are done in p"), "{said}");
    assert_eq!(place.run(&[&ARGS[..], &["--out", "p"]].concat()).ok(), alone);
}

#[test]
fn settings_are_tuned_on_one_half_and_judged_on_the_other() {
    let place = place();
    let args = ["arena", "--suite", "s", "--league", "tuned", "--budget", "3", "--seeds", "2"];
    let text = place.run(&args).ok();
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let halves = "on 2 scenarios with 2 seeds (draw 0); judged here on the other 2";
    assert!(words.contains(halves), "{text}");
    assert!(text.contains("shepherd, 2 scenarios: policy `shepherd`: it stops"), "{text}");
    assert!(text.contains("What was found") && text.contains("clipper"), "{text}");
    assert_eq!(place.run(&args).ok(), text);
    assert_ne!(place.run(&[&args[..], &["--draw", "3"]].concat()).ok(), text);
}

#[test]
fn rates_are_searched_for_in_every_form_and_by_parts() {
    let place = place();
    let args = [&ARGS[..], &["--goodput"]].concat();
    let alone = place.run(&[&args[..], &["--jobs", "1"]].concat()).ok();
    assert!(
        alone.contains("\nRates\n") && alone.lines().all(|l| l.chars().count() <= 80),
        "{alone}"
    );
    assert_eq!(place.run(&[&args[..], &["--jobs", "3"]].concat()).ok(), alone);
    for shard in ["1/2", "2/2"] {
        place.run(&[&args[..], &["--out", "p", "--shard", shard]].concat()).ok();
    }
    assert_eq!(place.run(&[&args[..], &["--out", "p", "--html", "a.html"]].concat()).ok(), alone);
    let csv = place.run(&[&args[..], &["--format", "csv"]].concat()).ok();
    assert_eq!(csv, place.read("p/arena-s.csv"));
    assert!(csv.lines().filter(|l| l.contains(",peak_goodput_per_s,")).count() == 8, "{csv}");
    // What was searched for is beside the scores, which are the same without it; a suite of one's own has no headlines.
    let few = place.run(&[&ARGS[..], &["--format", "csv"]].concat()).ok();
    let scores = |text: &str| -> Vec<String> {
        text.lines().filter(|l| l.contains(",arena_score,")).map(str::to_string).collect()
    };
    assert_eq!(scores(&few), scores(&csv));
    assert!(!csv.contains("claimed_value") && !alone.contains("papers claim"), "{csv}");
}

#[test]
fn a_slow_setting_is_told_of_before_it_runs() {
    let place = place();
    let args = ["arena", "--suite", "s", "--alone", "--policy", "kairos[rows=all]", "--seeds", "2"];
    let said = place.run(&args).ok_but(&["slow: kairos[rows=all]: every query that waits"]);
    assert_eq!(place.run(&[&["-q"], &args[..]].concat()).ok(), said);
}
