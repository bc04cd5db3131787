//! Every command of README and `docs/`, run as it stands there.
//!
//! The commands of a document run in their order in a folder of their own, which has copies of the files
//! that they name. The tables below list every command that is not run as it stands; a line of a table that
//! fits no command fails the test. Commands of `orrery-replay` run in `replay/tests/it/harness/documents.rs`.
//! Commands in sentences, and in the heads of shipped files, are not run: their ids and options must exist.

mod commands;

use super::process::Place;
use commands::{Command, documents, in_sentences, of_blocks, read, root};
use orrery_scenario::zoo::Zoo;
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Commands that would take long, and what is added to each here.
const THINNED: &[(&str, &str)] = &[
    ("orrery reproduce orloj-table-3", "--case one-modal --seeds 1"),
    ("orrery arena --quick --html arena.html --plot map.svg", "--seeds 2"),
    ("orrery arena --quick --policy 'clockwork[preset=paper]'", "--seeds 2 --alone"),
    (
        "orrery arena --suite 2026.2 --wide --policy 'clockwork[preset=paper]' --policy 'shepherd[preset=paper]' \
         --policy 'symphony[preset=paper]'",
        "--seeds 2 --quick",
    ),
    (
        "orrery arena --suite 2026.2 --wide --out r --policy 'clockwork[preset=paper]' \
         --policy 'shepherd[preset=paper]' --policy 'symphony[preset=paper]'",
        "--seeds 2 --quick --alone",
    ),
    ("orrery goodput scenarios/resnet50-8gpu.toml", "--seeds 1"),
    ("orrery goodput scenarios/resnet50-8gpu.toml --policy symphony --seeds 5", "--tolerance 0.02"),
    (
        "orrery goodput scenarios/cluster-1080ti.toml --find devices --rate 5000",
        "--seeds 1 --requests-per-model 1000 --tolerance 0.1 --policy symphony",
    ),
    ("orrery reproduce kairos-fig-8", "--case wnd --seeds 1"),
    ("orrery reproduce mlperf-single", "--case '34 A30 retinanet v3.0'"),
    ("orrery reproduce mlperf-server", "--case '1 Cisco T4x6_TRT resnet50 v0.7'"),
    ("orrery reproduce triton-others", "--case '513 FastPitch A40 PyTorch FP16 1 clients'"),
    (
        "orrery goodput scenarios/tokens.toml --target 0.05 --seeds 2",
        "--requests-per-model 1000 --tolerance 0.1 --policy continuous",
    ),
    ("orrery reproduce tokens-deadlines --plot tokens-deadlines.svg", "--seeds 1"),
    ("orrery reproduce orloj-order", "--case one-modal --seeds 1"),
    ("orrery plan scenarios/plans/growth-of-a-trace.toml", "--seeds 2"),
    ("orrery plan --model resnet50 --rate 4000 --slo 100ms --kinds v100,a100", "--seeds 2 --exact"),
    (
        "orrery plan --model resnet50 --rate 4000 --slo 100ms --kinds t4,a100 --price t4=0.526 --survive 1 \
         --write t4.toml",
        "--seeds 2 --exact",
    ),
    (
        "orrery plan scenarios/plans/gpus-for-symphony.toml --what-if load=1.5 --markdown summary.md \
         --plot frontier.png",
        "--seeds 2",
    ),
];

/// Commands of which another number is run, because an option can be given once only.
const REPLACED: &[(&str, &str, &str)] = &[
    (
        "orrery reproduce symphony-fig-9 --seeds 3 --out results/",
        "--seeds 3",
        "--seeds 1 --shard 15/36",
    ),
    ("orrery reproduce symphony-fig-9 --out shared/ --shard 1/4", "1/4", "4/36"),
    (
        "orrery goodput scenarios/cluster-1080ti.toml --seeds 1 --requests-per-model 10000 --tolerance 0.01 \
         --policy 'symphony[ctrl_ms=0,data_ms=0,resp_ms=0]' \
         --policy 'symphony[ctrl_ms=0,data_ms=0,resp_ms=0,dispatch=eager]'",
        "10000 --tolerance 0.01",
        "1000 --tolerance 0.1",
    ),
];

/// Files that are made smaller: what stands in them, and what stands there here.
const SMALLER: &[(&str, &str, &str)] = &[
    (
        "scenarios/plans/kairos-five.toml",
        "budget_usd_per_hour = 2.5",
        "budget_usd_per_hour = 0.7\nrequests_per_model = 300\nseeds = 2",
    ),
    ("scenarios/plans/growth-of-a-trace.toml", "count_max = 16", "count_max = 4"),
    ("scenarios/plans/growth-of-a-trace.toml", "[\"load=1.5\", \"price:fast=1.0\"]", "[]"),
];

/// Commands that take many seconds in any size. They are refused for the name of a figure, after their id, their
/// case and their options were checked.
const CHECKED: &[&str] = &[
    "orrery plan scenarios/plans/two-generations.toml",
    "orrery reproduce orloj-generality",
    "orrery reproduce orloj-needed",
    "orrery reproduce kairos-fig-11 --case rm2",
    "orrery reproduce kairos-fig-9 --out results/kairos",
];

/// Plans of many seconds, whose arguments are checked; `scripts/slow-tests documents` runs them as they stand.
const SLOW: &[&str] = &[
    "orrery plan scenarios/plans/rented-gpus.toml --exact | sed -n '/^The answer/,/^$/p'",
    "orrery plan scenarios/plans/triton-three.toml --what-if load=1.2 --html plan.html | sed -n \
     '1,5p;/^The answer/,/^$/p'",
    "orrery plan scenarios/plans/two-generations.toml | sed -n '1,5p;/^The answer/,/judged by one/p'",
];

/// Commands that do not end with 0, and why.
const EXIT_CODES: &[(&str, i32, &str)] = &[(
    "orrery sweep merge shared/",
    1,
    "the document runs one shard of four: the others are missing",
)];

/// How commands begin that are not run, and why.
const NOT_RUN: &[(&str, &str)] = &[
    ("cargo build --release", "what it builds runs these commands"),
    ("cargo test --release", "it is what runs this test"),
    ("ORRERY_CASES=20000 cargo test", "minutes; the test itself runs with 1,000 cases"),
    ("ORRERY_SEED=292 cargo test", "one case of a test that runs with 1,000"),
    ("ORRERY_WORLDS_SEED=7 cargo test", "it is a test; the test itself runs with another seed"),
    ("ORRERY_BESIDE=1 cargo test", "hours"),
    ("ORRERY_WORLDS=200 cargo test", "minutes; the test itself runs with 12 worlds"),
    (
        "ORRERY_WORLDS=60 ORRERY_REQUESTS=400000 cargo test",
        "minutes; the test itself makes fewer searches",
    ),
    (
        "ORRERY_FROM=100000 ORRERY_SEARCHES=100 cargo test",
        "minutes; the test itself makes fewer searches",
    ),
    ("ORRERY_PLANS=100 cargo test", "minutes; the test itself runs with 8 problems"),
    ("ORRERY_WHOLE=1 cargo test", "minutes; the test itself runs with fewer requests"),
    ("orrery serve", "it goes on until Ctrl-C; `serve.rs` asks it"),
    ("orrery results 'results/", "only builds with polars have it; `scripts/parquet-test` asks it"),
    ("scripts/web-page", "minutes; `web.rs` asks what it made"),
    ("chrt -f 10 orrery-replay validate", "minutes on a core, at real-time priority"),
    ("python3 -m http.server", "it goes on until Ctrl-C"),
    ("scripts/arena-lead", "it needs Python, and the whole result"),
    ("scripts/server-validate", "19 minutes on a quiet machine, and servers from a package index"),
    ("scripts/slow-tests", "minutes to hours; it runs these tests"),
    ("cargo bench", "benchmarks are run by hand"),
    ("CARGO_PROFILE_BENCH_LTO=fat", "benchmarks are run by hand"),
    ("cargo run --release -p orrery-benches", "benchmarks are run by hand"),
    ("cargo install cargo-mutants", "it installs a program"),
    ("cargo mutants", "hours"),
];

/// A command of the built program, where the document has cargo run it.
fn direct(command: &str) -> String {
    command.replace("cargo run --release -- ", "orrery ")
}

/// What is done with a command.
enum Plan {
    /// It is run in this form, and must end with this code.
    Run(String, i32),
    /// It must be refused for the name of a figure, and for nothing else.
    Check(String),
    /// It is not run.
    Leave,
}

/// The lines of the tables that fit a command.
#[derive(Default)]
struct Used(BTreeSet<String>);

impl Used {
    fn plan(&mut self, command: &str) -> Plan {
        let mut uses = |entry: &str| self.0.insert(entry.to_string());
        if let Some((begin, _)) = NOT_RUN.iter().find(|(begin, _)| command.starts_with(begin)) {
            uses(begin);
            return Plan::Leave;
        }
        let text = direct(command);
        if CHECKED.contains(&text.as_str()) {
            uses(&text);
            return Plan::Check(format!("{text} --plot figure.txt"));
        }
        if SLOW.contains(&text.as_str()) {
            uses(&text);
            if std::env::var_os("ORRERY_WHOLE").is_none() {
                let (command, _) = text.split_once(" | ").expect("a part of the output is shown");
                return Plan::Check(format!("{command} --plot figure.txt"));
            }
        }
        let thinned = THINNED.iter().find(|(of, _)| *of == text).map(|(of, more)| {
            uses(of);
            format!("{text} {more}")
        });
        let replaced = REPLACED.iter().find(|(of, ..)| *of == text).map(|(of, old, new)| {
            uses(of);
            text.replace(old, new)
        });
        let code = EXIT_CODES.iter().find(|(of, ..)| *of == text).map(|(of, code, _)| {
            uses(of);
            *code
        });
        Plan::Run(thinned.or(replaced).unwrap_or(text), code.unwrap_or(0))
    }

    /// Every line of the tables must fit a command.
    fn check(&self) {
        let thinned = THINNED.iter().map(|t| t.0).chain(REPLACED.iter().map(|t| t.0));
        let others = EXIT_CODES.iter().map(|t| t.0).chain(NOT_RUN.iter().map(|t| t.0));
        for entry in thinned.chain(others).chain(CHECKED.iter().chain(SLOW).copied()) {
            assert!(self.0.contains(entry), "no document has the command `{entry}`");
        }
    }
}

/// A folder with the program and copies of the files that documents name.
fn clone_of_the_repository() -> Place {
    let place = Place::new();
    for folder in ["scenarios", "tests/baselines"] {
        copy(&root().join(folder), &place.path(folder));
    }
    // The data behind the experiments: baselines and scenarios name files by their paths.
    for folder in ["traces", "experiments"] {
        std::os::unix::fs::symlink(root().join(folder), place.path(folder)).expect("a link");
    }
    for (file, old, new) in SMALLER {
        let text = place.read(file);
        assert!(text.contains(old), "{file} has no `{old}`");
        place.write(file, text.replace(old, new));
    }
    place
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).expect("a folder");
    for entry in std::fs::read_dir(from).expect("a folder").flatten() {
        let to = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &to);
        } else {
            std::fs::copy(entry.path(), to).expect("a copy");
        }
    }
}

/// A command to run: where it stands, its form, the code that it must end with, and its output if one is shown.
struct Run {
    at: String,
    command: String,
    code: i32,
    shown: Option<String>,
}

/// What is run of a document, in its order.
fn runs_of(document: &str, used: &mut Used, done: &mut BTreeSet<String>) -> Vec<Run> {
    let mut runs = Vec::new();
    let is_replay = |c: &Command| c.text.starts_with("orrery-replay ");
    for Command { line, text, output, .. } in
        of_blocks(document).into_iter().filter(|c| !is_replay(c))
    {
        let (command, code) = match used.plan(&text) {
            Plan::Leave => continue,
            Plan::Run(command, code) => (command, code),
            Plan::Check(command) => (command, 2),
        };
        let is_smaller = SMALLER.iter().any(|(file, ..)| text.contains(file));
        let is_thinned = code == 0 && (is_smaller || command != direct(&text));
        if is_thinned && !done.insert(command.clone()) {
            continue;
        }
        let at = format!("{document}:{line}: {text}");
        runs.push(Run { at, command, code, shown: output.filter(|_| !is_thinned && code != 2) });
    }
    runs
}

/// Runs them one after the other in a folder of their own.
fn run_all(runs: &[Run]) {
    let place = clone_of_the_repository();
    for Run { at, command, code, shown } in runs {
        let (ended, stdout, stderr) = place.shell(command);
        assert_eq!(ended, Some(*code), "{at}\n{stderr}");
        if *code == 2 {
            assert!(stderr.contains("figure.txt"), "{at}\n{stderr}");
        }
        if let Some(shown) = shown {
            assert_eq!(stdout.trim_end(), shown.trim_end(), "{at}: another output");
        }
    }
}

#[test]
fn every_command_of_a_document_s_blocks_runs() {
    let mut used = Used::default();
    // Thinned ones stand in several documents, and read nothing that was written before.
    let mut done = BTreeSet::new();
    let of_documents: Vec<Vec<Run>> = documents()
        .iter()
        .map(|d| runs_of(d, &mut used, &mut done))
        .filter(|r| !r.is_empty())
        .collect();
    used.check();
    // One document does not read what another one writes.
    of_documents.par_iter().with_max_len(1).for_each(|runs| run_all(runs));
}

/// The commands in the heads of shipped files, with their places.
fn in_heads() -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut folders = vec!["scenarios".to_string(), "experiments/reproduce/files".to_string()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(root().join(&folder)).expect("a folder").flatten() {
            let name = format!("{folder}/{}", entry.file_name().to_string_lossy());
            if entry.path().is_dir() {
                folders.push(name);
            } else if name.ends_with(".toml") {
                let text = read(&name);
                let heads = text.lines().filter_map(|l| l.strip_prefix('#')).map(str::trim);
                found.extend(heads.map(|l| (name.clone(), l.to_string())));
            }
        }
    }
    found
}

/// The words of a command of `orrery`, if the text is one: in capitals are what a reader fills in.
fn words_of(text: &str) -> Option<Vec<String>> {
    let text = direct(text);
    let words = text.strip_prefix("orrery ")?.split_whitespace().map(str::to_string);
    Some(words.take_while(|w| !w.starts_with('#')).collect())
}

#[test]
fn every_command_of_a_document_s_sentences_has_a_known_name_id_and_options() {
    let mut found: Vec<(String, String)> = in_heads();
    for document in documents().into_iter().chain(["ARCHITECTURE.md".to_string()]) {
        let spans = in_sentences(&document);
        found.extend(spans.into_iter().map(|(line, text)| (format!("{document}:{line}"), text)));
    }
    let place = Place::new();
    let mut helps: BTreeMap<String, String> = BTreeMap::new();
    let mut seen = 0;
    for (at, text) in found {
        let Some(words) = words_of(&text) else { continue };
        let Some(name) = words.first().filter(|w| !w.starts_with('-')) else { continue };
        seen += 1;
        let is_word = |w: &&String| w.chars().all(|c| c.is_ascii_lowercase());
        let has_more = ["log", "results", "self", "sweep"].contains(&name.as_str());
        let below = words.get(1).filter(is_word).filter(|_| has_more);
        let asked: Vec<&str> = [name].into_iter().chain(below).map(String::as_str).collect();
        let help = helps.entry(asked.join(" "));
        let help = help.or_insert_with(|| place.run(&[&asked[..], &["--help"]].concat()).ok());
        for option in words.iter().filter(|w| w.starts_with("--")) {
            let option = option.split('=').next().unwrap_or_default();
            assert!(help.contains(option), "{at}: `{text}`: `orrery {name}` has no {option}");
        }
        let id = words.get(1).filter(|w| w.contains('-') && !w.starts_with('-'));
        if let (true, Some(id)) = (["reproduce", "list"].contains(&name.as_str()), id) {
            let is_id = orrery_reproduce::registry::ids().any(|known| known == id);
            let is_known = is_id || Zoo::find(id).is_some();
            assert!(is_known || root().join(id).is_file(), "{at}: `{text}`: no experiment `{id}`");
        }
    }
    assert!(seen > 50, "{seen} commands in sentences");
}
