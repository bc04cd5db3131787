//! The forms of the answer of each command that has several: text, Markdown, page, JSON, the wide form and CSV.

use super::process::Place;
use super::{POISSON, small_scenario};
use crate::forms::{self, Compared};
use orrery_results::read_rows;

/// What a command writes, in short runs; `OUT` is its folder of results.
const TYPED: &[(&str, usize)] = &[
    ("run a.toml --seeds 2", 100),
    ("run a.toml", 100),
    ("goodput a.toml --policy fifo --policy nexus --seeds 2 --requests-per-model 1000", 20),
    ("sweep s.toml", 100),
    ("arena --suite s --alone --policy eager --policy nexus --policy fifo --seeds 3", 100),
    ("plan pools.toml --plot f.svg --markdown c.md --what-if load=1.5", 100),
    ("plan fleet.toml --plot f.svg --markdown c.md", 100),
    ("calibrate server.toml perf_analyzer.csv --markdown c.md", 50),
];

#[test]
fn the_forms_of_every_command_s_answer_agree() {
    let place = Place::with("a.toml", small_scenario(POISSON));
    place.write("s.toml", super::sweep::SWEEP);
    super::arena::write_suite(&place);
    place.write("pools.toml", super::plan::SMALL);
    place.write("fleet.toml", super::plan::FLEET);
    for name in ["server.toml", "perf_analyzer.csv"] {
        let file = format!("{}/../scenarios/triton/{name}", env!("CARGO_MANIFEST_DIR"));
        std::fs::copy(file, place.path(name)).expect("a file that is there");
    }
    for (i, (words, least)) in TYPED.iter().enumerate() {
        let folder = format!("o{i}");
        let words: Vec<&str> = words.split(' ').collect();
        let more = ["--wide", "-q", "--html", "p.html", "--out", &folder];
        let text = place.run(&[&words[..], &more].concat()).ok();
        let entries = std::fs::read_dir(place.path(&folder)).expect("a folder");
        let names = entries.map(|e| e.expect("a file").file_name().to_string_lossy().into_owned());
        let mut stems: Vec<String> = names
            .filter_map(|name| Some(name.strip_suffix(".csv")?.to_string()))
            .filter(|stem| !stem.contains('.'))
            .collect();
        stems.sort();
        let read = |ending: &str| place.read(&format!("{folder}/{}.{ending}", stems[0]));
        assert_eq!(stems.len(), 1, "{stems:?}");
        let (csv, json, html) = (read("csv"), read("json"), place.read("p.html"));
        let rows = read_rows("csv", &csv).expect("rows");
        let mut out = Compared::default();
        forms::same_rows(&rows, &csv, &json, &mut out);
        forms::wide(&rows, &read("wide.csv"), &mut out);
        forms::on_page(&rows, &json, &html, &mut out);
        forms::text_of_page(&html, &text, &mut out);
        if words.contains(&"--markdown") {
            forms::markdown_of_page(&html, &place.read("c.md"), &mut out);
        }
        out.agree(&words.join(" "), *least);
    }
}

#[test]
fn text_names_the_seeds_that_were_run_and_counts_in_words() {
    let place = Place::with("a.toml", small_scenario(POISSON));
    let run = |args: &[&str]| place.run(args).ok();
    assert_eq!(run(&["run", "a.toml"]).lines().nth(1), Some("seed 1"));
    let three = run(&["run", "a.toml", "--seeds", "3"]);
    assert_eq!(three.lines().nth(1), Some("seeds 1-3"));
    assert!(!three.contains("Missed deadlines\n"), "{three}");
    let goodput = ["goodput", "a.toml", "--policy", "fifo", "--requests-per-model", "1000"];
    let found = run(&goodput);
    let found = found.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(found.contains("on 1 device: 1 model, with at most"), "{found}");
}
