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

/// What is listed and inspected is no load for that; a scenario that names it is told what to do.
#[test]
fn a_trace_that_an_arrival_process_does_not_read_is_told_what_does() {
    let facts = run(&["trace", "inspect", "azure2021-head199"]).ok();
    assert!(facts.contains("arrivals") && facts.contains("  workload"), "{facts}");
    assert!(run(&["trace", "inspect", "azure2019-f500"]).ok().contains("\narrivals  "));
    let llm = "base_ms = 1.0, per_context_ms = 0.1, per_generated_ms = 0.1";
    for (arrivals, says) in [
        ("trace = { file = 'azure2021-head199' }", "use `workload` in place of `trace`"),
        (&format!("llm = {{ file = 'azure2021-head199', {llm} }}"), "use `workload` in place of"),
        ("trace = { file = 'azure-llm2023-code' }", "use `llm` in place of `trace`"),
        ("workload = { file = 'azure2019-f500' }", "use `trace` in place of `workload`"),
        (&format!("llm = {{ file = 'alpaserve-v100', {llm} }}"), "use `workload` in place of"),
    ] {
        let place = Place::with("a.toml", small_scenario(arrivals));
        place.run(&["run", "a.toml"]).refused(&["a.toml:", "arrivals.", ".file", says]);
    }
}

#[test]
fn a_recorded_workload_is_inspected_as_one() {
    let place = Place::with("a.toml", small_scenario(POISSON));
    place.run(&["trace", "record", "a.toml", "--out", "w.csv"]).ok();
    let facts = place.run(&["trace", "inspect", "w.csv"]).ok();
    assert!(facts.contains("orrery workload") && facts.contains(" 400\n"), "{facts}");
}

#[test]
fn a_file_that_is_missing_is_named_with_a_remedy() {
    run(&["trace", "inspect", "nowhere.csv"]).refused(&["nowhere.csv", "check that the path"]);
    run(&["trace", "inspect", "azure2019-f50"]).refused(&["azure2019-f50", "check that the path"]);
}

#[test]
fn a_file_that_is_empty_is_named_with_a_remedy() {
    let place = Place::with("empty.csv", "");
    place.run(&["trace", "inspect", "empty.csv"]).refused(&["empty.csv: line 1", "ends here"]);
    place.write("empty.csv.gz", "");
    place.run(&["trace", "inspect", "empty.csv.gz"]).refused(&["empty.csv.gz"]);
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

#[test]
fn a_line_that_is_damaged_is_named_with_its_column() {
    let head = "TIMESTAMP,ContextTokens,GeneratedTokens\n";
    let row = "2023-11-16 18:15:46.6805900,374,44\n";
    let place = Place::with("llm.csv", format!("{head}{row}2023-11-16 18:15:50.0,-3,1\n"));
    place.run(&["trace", "inspect", "llm.csv"]).refused(&[
        "llm.csv: line 3",
        "ContextTokens",
        "-3",
    ]);
    place.write("llm.csv", format!("{head}{row}yesterday,3,1\n"));
    place.run(&["trace", "inspect", "llm.csv"]).refused(&["llm.csv: line 3", "TIMESTAMP"]);
}
