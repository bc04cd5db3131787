//! `orrery trace list` and `orrery trace inspect`: shipped names, files, and damaged files.

use super::process::{Place, run};
use super::{POISSON, small_scenario};
use std::path::{Path, PathBuf};

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../traces/data").join(name)
}

#[test]
fn every_listed_trace_of_arrivals_can_be_inspected_by_name_from_any_folder() {
    let listed = run(&["trace", "list"]).ok();
    let names: Vec<&str> = listed.lines().filter_map(|l| l.split("  ").next()).collect();
    assert!(listed.contains("azure2019-f500\n"), "{listed}");
    assert!(listed.contains("azure2021-head199\n"), "a scenario's `workload` reads it: {listed}");
    let step =
        |l: &str| l.starts_with("step-") && !l.ends_with("(kernels of a step, for `[tokens]`)");
    assert!(listed.contains("step-") && !listed.lines().any(step), "{listed}");
    for (name, format) in [
        ("azure2019-f500", "Azure Functions 2019, invocations"),
        ("azure2021-head199", "Azure Functions 2021"),
        ("azure-llm2023-code", "Azure LLM inference"),
        ("azure-llm2023-conv", "Azure LLM inference"),
    ] {
        assert!(names.contains(&name), "{name} in:\n{listed}");
        let facts = run(&["trace", "inspect", name]).ok();
        assert!(facts.lines().any(|l| l.starts_with("format ") && l.ends_with(format)), "{facts}");
        let rates = ["rate per s, mean", "calls per min, mean"];
        assert!(rates.iter().any(|r| facts.contains(r)), "{facts}");
    }
}

#[test]
fn a_file_is_inspected_as_the_shipped_name_is_but_for_its_name() {
    let path = data("azure2021_head199.csv");
    let file = run(&["--wide", "trace", "inspect", path.to_str().expect("a path in UTF-8")]).ok();
    let name = run(&["--wide", "trace", "inspect", "azure2021-head199"]).ok();
    let facts = |text: &str| -> Vec<String> {
        text.lines().filter(|l| !l.starts_with("file ")).map(str::to_string).collect()
    };
    assert_eq!(facts(&file), facts(&name));
}

#[test]
fn a_recorded_workload_is_inspected_as_one() {
    let place = Place::with("a.toml", small_scenario(POISSON));
    place.run(&["trace", "record", "a.toml", "--out", "w.csv"]).ok();
    let facts = place.run(&["trace", "inspect", "w.csv"]).ok();
    assert!(facts.contains("orrery workload") && facts.contains(" 400\n"), "{facts}");
}

#[test]
fn a_gzip_that_is_cut_or_damaged_is_named_with_its_line_and_a_remedy() {
    let bytes = std::fs::read(data("azure_llm2023_code.csv.gz")).expect("a shipped file");
    let place = Place::new();
    let remedy = "fetch the file again";
    for cut in [bytes.len() - 1, bytes.len() / 2, 30] {
        place.write("cut.csv.gz", &bytes[..cut]);
        place.run(&["trace", "inspect", "cut.csv.gz"]).refused(&["cut.csv.gz: line ", remedy]);
    }
    let mut damaged = bytes.clone();
    damaged[bytes.len() / 2] ^= 0xff;
    place.write("damaged.csv.gz", damaged);
    place.run(&["trace", "inspect", "damaged.csv.gz"]).refused(&["damaged.csv.gz: line "]);
}

#[test]
fn garbage_is_named_with_what_is_allowed() {
    let place = Place::new();
    let noise: Vec<u8> =
        (0..4_096u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    for (name, bytes) in [
        ("noise.csv", noise.as_slice()),
        ("noise.csv.gz", &noise),
        ("words.csv", b"these,are,words\n1,2,3\n"),
        ("newlines.csv", b"\n\n\n"),
        ("zeros.csv", &[0; 100]),
    ] {
        place.write(name, bytes);
        place.run(&["trace", "inspect", name]).refused(&[name]);
    }
    place
        .run(&["trace", "inspect", "words.csv"])
        .refused(&["words.csv", "the nearest: `access-log`"]);
}
