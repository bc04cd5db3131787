//! Documents that show what the code says: tables of keys, and an example that is compiled.
//!
//! Between `<!-- generated: NAME -->` and `<!-- end -->` stands what the code makes under that name.
//! After a change, rewrite it with
//!
//! ```text
//! ORRERY_UPDATE=1 cargo test -p orrery-tests reference
//! ```

use crate::verdicts::Line;
use orrery_reproduce::registry::{self, Cause};
use orrery_scenario::scenario::file::ScenarioFile;
use serde_json::json;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

const BEGIN: &str = "<!-- generated: ";
const END: &str = "<!-- end -->";

fn document(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs").join(name)
}

/// The text with every marked part made again. Each part must be asked for once.
fn filled(text: &str, parts: &[(&str, String)]) -> String {
    let mut pieces = text.split(BEGIN);
    let mut out = pieces.next().unwrap_or_default().to_string();
    let mut left: Vec<&str> = parts.iter().map(|p| p.0).collect();
    for piece in pieces {
        let (name, rest) = piece.split_once(" -->\n").expect("a mark that ends its line");
        let (_, after) = rest.split_once(END).expect("an end for every mark");
        let place = left.iter().position(|n| *n == name);
        left.remove(place.unwrap_or_else(|| panic!("`{name}` is not made, or asked for twice")));
        let made = &parts.iter().find(|p| p.0 == name).expect("a part of this name").1;
        out.push_str(&format!("{BEGIN}{name} -->\n{made}{END}{after}"));
    }
    assert!(left.is_empty(), "the document has no place for {left:?}");
    out
}

/// Compares a document with what the code says, or rewrites it when `ORRERY_UPDATE` is set.
fn check(name: &str, parts: &[(&str, String)]) {
    let path = document(name);
    let text = std::fs::read_to_string(&path).expect("a document");
    let made = filled(&text, parts);
    if made == text {
        return;
    }
    if std::env::var_os("ORRERY_UPDATE").is_some() {
        std::fs::write(&path, made).expect("a document that can be written");
        return;
    }
    let differs = made.lines().zip(text.lines()).find(|(new, old)| new != old);
    let (new, old) = differs.unwrap_or_default();
    panic!(
        "docs/{name} is not what the code says; the first line that differs:\n- {old}\n+ {new}\n\
         ORRERY_UPDATE=1 cargo test -p orrery-tests reference"
    );
}

#[test]
fn the_tables_of_scenario_files_are_those_of_the_code() {
    check("scenarios.md", &orrery_scenario::reference::scenario());
}

#[test]
fn the_tables_of_sweep_files_are_those_of_the_code() {
    check("sweeps.md", &orrery_sweep::sweep_file::reference());
}

#[test]
fn the_tables_of_experiment_files_are_those_of_the_code() {
    let path = document("../scenarios/experiments/my-scheduler.toml");
    let example = std::fs::read_to_string(path).expect("the example");
    let mut parts = orrery_reproduce::file::reference();
    parts.push(("example", format!("```toml\n{example}```\n")));
    check("experiments.md", &parts);
}

#[test]
fn the_tables_of_job_files_are_those_of_the_code() {
    check("jobs.md", &orrery_scenario::jobs::reference());
}

#[test]
fn the_tables_of_token_files_are_those_of_the_code() {
    check("tokens.md", &orrery_scenario::tokens::reference());
}

#[test]
fn the_table_of_metrics_is_that_of_the_code() {
    let metrics = ("metrics", orrery_results::metric::reference());
    check("formats.md", &[metrics, ("import", orrery_import::reference())]);
}

/// `ARTIFACT.md`: what can be checked, how long that takes, and what came out when it was.
#[test]
fn the_artifact_lists_every_experiment() {
    let fitted = crate::verdicts::fitted();
    let is_fitted = |l: &Line| fitted.contains(&(l.id.clone(), l.sentence));
    let (apart, kept): (Vec<_>, Vec<_>) = crate::verdicts::kept().into_iter().partition(is_fitted);
    let count = |id: &str, verdict: &str| {
        kept.iter().filter(|l| l.id == id && l.verdict == verdict).count()
    };
    let mut papers: Vec<(&str, Vec<String>)> = Vec::new();
    for id in registry::ids() {
        let e = registry::find(id).unwrap_or_else(|e| panic!("{e}"));
        let minutes = match e.expected_s {
            s if s < 60 => String::new(),
            s => format!(" ({} min)", s.div_ceil(60)),
        };
        let of = ["holds", "does not hold", "undecided", "no answer"].map(|v| count(id, v));
        let apart = apart.iter().filter(|l| l.id == id).count();
        let more = if apart > 0 { format!("+{apart}") } else { String::new() };
        let claims = match of.iter().sum::<usize>() + apart {
            0 => String::new(),
            _ => format!(" {}{more}", of.map(|n| n.to_string()).join("/")),
        };
        let entry = format!("`{id}`{minutes}{claims}");
        let paper = id.split('-').next().expect("a paper");
        match papers.iter_mut().find(|(name, _)| *name == paper) {
            Some((_, entries)) => entries.push(entry),
            None => papers.push((paper, vec![entry])),
        }
    }
    let row =
        |(name, entries): &(&str, Vec<String>)| format!("| {name} | {} |\n", entries.join(", "));
    let rows: String = papers.iter().map(row).collect();
    let out = format!(
        "| | id (minutes) claims: hold/do not/undecided/no answer+fitted |\n|---|---|\n{rows}"
    );
    check("../ARTIFACT.md", &[("experiments", out)]);
}

/// The table of our own runs, from their records, and what README says of it.
#[test]
fn the_pages_tell_our_runs_as_their_records_do() {
    check("../README.md", &[("records", crate::measurements::records_in_words())]);
    check("../replay/validated/README.md", &[("records", crate::measurements::records())]);
}

/// README and `orloj.md` have the errors of the other systems as released that `reproduce` prints: one number, one name.
#[test]
#[cfg_attr(debug_assertions, ignore = "takes minutes in a debug build")]
fn the_errors_as_released_are_those_that_reproduce_prints() {
    let printed: Vec<(u32, String)> = [2, 3, 4, 5]
        .map(|table| {
            let text = crate::golden::text(&format!("orloj-table-{table}"));
            let (_, rest) = text.split_once("others: ").expect("other settings");
            let (_, rest) = rest.split_once("released ").expect("as released");
            (table, rest.split(' ').next().expect("a number").to_string())
        })
        .to_vec();
    let of_readme = printed.iter().map(|p| p.1.as_str()).collect::<Vec<_>>().join(", ");
    let readme = std::fs::read_to_string(document("../README.md")).expect("a document");
    let line = format!("the others as released | 300 cells | **{of_readme}** |");
    assert!(readme.contains(&line), "README.md has no `{line}`");
    let orloj = std::fs::read_to_string(document("orloj.md")).expect("a document");
    for (table, error) in printed {
        let (_, own) = orloj.split_once(&format!("\n| {table}, ")).expect("a table's row");
        let row = own.lines().find(|l| l.starts_with("| | released |")).expect("released");
        assert!(row.ends_with(&format!("| {error} |")), "orloj.md, Table {table}: {error}: {row}");
    }
}

/// `causes.md`: why claims do not hold, or only by what was fitted.
#[test]
fn every_claim_that_fails_has_a_cause() {
    let causes = registry::causes().expect("causes");
    let of = |id: &str| id.split('-').next().expect("a paper").to_string();
    let own = crate::verdicts::own();
    let (ours, kept): (Vec<_>, Vec<_>) = crate::verdicts::kept()
        .into_iter()
        .partition(|l| own.contains(&(l.id.clone(), l.sentence)));
    let papers: BTreeSet<String> = kept.iter().map(|l| of(&l.id)).collect();
    let mut counts = String::from("| |");
    papers.iter().for_each(|paper| counts.push_str(&format!(" {paper} |")));
    counts.push_str(&format!(" all |\n|---|{}\n", "---:|".repeat(papers.len() + 1)));
    let mut row = |name: &str, count: &dyn Fn(&str) -> usize| {
        let all: Vec<usize> = papers.iter().map(|paper| count(paper)).collect();
        let cells: String = all.iter().map(|n| format!(" {n} |")).collect();
        counts.push_str(&format!("| {name} |{cells} {} |\n", all.iter().sum::<usize>()));
    };
    let fitted = crate::verdicts::fitted();
    let is_fitted = |l: &Line| fitted.contains(&(l.id.clone(), l.sentence));
    for verdict in ["holds", "undecided", "no answer", "does not hold"] {
        row(verdict, &|paper| {
            let own = kept.iter().filter(|l| l.verdict == verdict && of(&l.id) == paper);
            own.filter(|l| !is_fitted(l)).count()
        });
    }
    let of_fitted = |paper: &str, verdict: &str| {
        let own = kept.iter().filter(|l| is_fitted(l) && of(&l.id) == paper);
        own.filter(|l| verdict.is_empty() || l.verdict == verdict).count()
    };
    row("counted apart: fitted", &|paper| of_fitted(paper, ""));
    row("of these hold", &|paper| of_fitted(paper, "holds"));
    for cause in CAUSES {
        row(&format!("*{cause}*"), &|paper| {
            let named = causes.iter().filter(|c| c.cause == cause && of(&c.id) == paper);
            let is_a_papers = |c: &Cause, n: &usize| !own.contains(&(c.id.clone(), *n));
            named.map(|c| c.numbers().iter().filter(|n| is_a_papers(c, n)).count()).sum()
        });
    }
    let hold = ours.iter().filter(|l| l.verdict == "holds").count();
    let of_ours = format!("\n{} claims more are our own, and {hold} of them hold.\n", ours.len());
    counts.push_str(&of_ours);
    for c in &causes {
        let of = format!("{} {}", c.id, c.sentences);
        assert!(CAUSES.contains(&&*c.cause), "{of}: `{}` is no cause", c.cause);
        assert!((1..=2).contains(&c.read_by), "{of}: read by {}", c.read_by);
        let sures: &[&str] =
            if c.cause == "none found" { &[""] } else { &["sure", "likely", "guess"] };
        assert!(sures.contains(&&*c.sure) && !c.why.is_empty(), "{of}: `{}`", c.sure);
        for shown in c.shown_by.split("; ").filter(|shown| !shown.is_empty()) {
            let id = shown.split(' ').next().expect("an id");
            registry::find(id).unwrap_or_else(|e| panic!("{of}: {e}"));
        }
    }
    let readings = ("readings", crate::readings::table());
    check("causes.md", &[("counts", counts), ("regions", crate::regions::table()), readings]);
}

/// Of what a claim can fail.
const CAUSES: [&str; 6] = [
    "paper contradicts itself",
    "unstated cost",
    "not given",
    "released program",
    "our reading",
    "none found",
];

#[test]
fn the_example_policy_is_shown_as_it_is_compiled() {
    let whole = include_str!("example_policy.rs");
    let from = whole.find("impl FullOrTimeout").expect("its methods");
    let policy = format!("```rust\n{}```\n", &whole[from..]);
    check("adding-a-policy.md", &[("policy", policy)]);
}

#[test]
fn the_example_of_a_sweep_file_is_one() {
    let text = std::fs::read_to_string(document("sweeps.md")).expect("a document");
    let block = text.split("```toml\n").nth(1).and_then(|t| t.split("```").next()).expect("TOML");
    let place = tempfile::tempdir().expect("a folder");
    let path = place.path().join("example.toml");
    std::fs::write(&path, block).expect("a file");
    let sweep = orrery_sweep::sweep_file::SweepFile::load(&path).unwrap_or_else(|e| panic!("{e}"));
    let combinations = orrery_sweep::grid::combinations(&sweep.point, &sweep.axis, None);
    assert_eq!(combinations.count(), 6);
}

#[test]
fn the_schema_for_editors_asks_for_what_a_file_needs_and_refuses_what_none_has() {
    let schema = orrery_scenario::reference::schema::<ScenarioFile>().to_value();
    assert_eq!(schema["required"], json!(["policies", "model", "app"]));
    assert_eq!(schema["additionalProperties"], json!(false));
    let arrivals = &schema["definitions"]["Arrivals"]["properties"];
    assert!(arrivals["trace"]["description"].is_string() && arrivals["rate"].is_null());
}

#[test]
fn marked_parts_are_replaced_and_nothing_else() {
    let text = format!("a\n{BEGIN}x -->\nold\n{END}\nb\n{BEGIN}y -->\n{END}\n");
    let made = filled(&text, &[("y", "2\n".into()), ("x", "1\n".into())]);
    assert_eq!(made, format!("a\n{BEGIN}x -->\n1\n{END}\nb\n{BEGIN}y -->\n2\n{END}\n"));
}

#[test]
#[should_panic(expected = "no place for [\"y\"]")]
fn a_part_that_no_document_shows_is_an_error() {
    filled(&format!("{BEGIN}x -->\n{END}"), &[("x", String::new()), ("y", String::new())]);
}
