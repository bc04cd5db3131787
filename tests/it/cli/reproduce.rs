//! `orrery list` and `orrery reproduce`: forms, streams, files, cases, jobs.

use super::process::{Place, Ran, run};
use super::small_table;
use orrery_reproduce::registry;
use orrery_results::{Row, read_csv};
use serde_json::Value;

/// The values of a column.
fn column(csv: &str, name: &str) -> Vec<String> {
    let mut table = csv::Reader::from_reader(csv.as_bytes());
    let head = table.headers().expect("a header");
    let at = head.iter().position(|n| n == name).expect("a column of that name");
    table.records().map(|line| line.expect("a full row")[at].to_string()).collect()
}

/// The finish rates, which must be rates.
fn finish_rates(csv: &str) -> Vec<f64> {
    let rates: Vec<f64> =
        column(csv, "finish_rate").iter().map(|r| r.parse().expect("a number")).collect();
    assert!(rates.iter().all(|r| (0.0..=1.0).contains(r)), "{rates:?}");
    assert!(rates.iter().any(|r| *r > 0.5), "{rates:?}");
    rates
}

#[test]
fn list_names_every_table_with_its_source() {
    let listed = run(&["list"]).ok();
    for id in registry::ids() {
        assert!(listed.lines().any(|l| l.starts_with(&format!("  {id} "))), "{id} in:\n{listed}");
    }
    assert!(registry::ids().count() >= 37);
    assert!(listed.contains("Appendix A, Table 3"), "{listed}");
}

/// Every experiment of a paper has its paper's entry, and none has another's.
#[test]
fn an_experiment_is_cited_with_its_paper() {
    let own = run(&["list", "--bibtex"]).ok();
    assert!(
        own.starts_with("@software{orrery,") && own.contains(env!("CARGO_PKG_VERSION")),
        "{own}"
    );
    let cff = include_str!("../../../CITATION.cff");
    assert!(cff.contains(&format!("\nversion: {}\n", env!("CARGO_PKG_VERSION"))), "{cff}");
    for (paper, ids) in registry::by_paper() {
        for id in ids {
            let said = run(&["list", id, "--bibtex"]);
            // Tables of measurements are several people's, and name their sources themselves.
            if ["measured", "tokens"].contains(&paper) {
                said.refused(&["--bibtex", id, "remedy"]);
                continue;
            }
            let text = said.ok();
            let author = match paper {
                "orloj" | "salus" | "fluid" => "Yu, Peifeng",
                "clockwork" => "Gujarati, Arpan",
                "symphony" => "Chen, Lequn",
                "kairos" => "Li, Baolin",
                "alpaserve" => "Li, Zhuohan",
                other => {
                    panic!("add the first author of {other}, as in its cite.bib, to this list")
                }
            };
            assert!(text.starts_with(&own) && text.contains(author), "{id}: {text}");
            assert_eq!(text.matches('{').count(), text.matches('}').count(), "{id}: {text}");
        }
    }
    run(&["list", "own.toml", "--bibtex"]).refused(&["the id of an experiment", "remedy"]);
    run(&["list", "orloj-tabel-3", "--bibtex"]).refused(&["orloj-table-3"]);
}

#[test]
fn a_shipped_table_runs_by_its_id_and_prints_nothing_but_itself() {
    let args = ["reproduce", "orloj-table-3", "--seeds", "1", "--case", "one-modal"];
    let short = run(&args).ok();
    assert!(short.lines().count() < 60 && short.contains("ours/paper"), "{short}");
    let out = run(&[&args[..], &["--details"]].concat()).ok();
    let first =
        "experiment orloj-table-3: Finish rate as the modality of execution times grows\nOrloj (Yu";
    assert!(out.starts_with(first), "{out}");
    let heads = "case       slo_x_p99       orloj     clipper";
    for part in [heads, "one-modal  ", "mean absolute error", "mean over 1 seed", "\nArrivals\n"] {
        assert!(out.contains(part), "no `{part}` in:\n{out}");
    }
}

#[test]
fn the_wide_form_has_its_header_and_a_row_for_each_slo_and_system() {
    let place = Place::with("small.toml", small_table(""));
    let csv = place.run(&["reproduce", "small.toml", "--format", "wide"]).ok();
    assert!(csv.starts_with("experiment,case,slo_x_p99,system,preset,policy,scope,"), "{csv}");
    assert_eq!(csv.lines().count(), 1 + 11, "{csv}");
    finish_rates(&csv);
    let systems = column(&csv, "system");
    for (name, rows) in [("clipper", 2), ("orloj", 3), ("fifo", 1), ("oracle", 1)] {
        assert_eq!(systems.iter().filter(|s| **s == name).count(), rows, "{csv}");
    }
    for (system, paper) in systems.iter().zip(column(&csv, "finish_rate_paper")) {
        assert_eq!(paper.is_empty(), ["fifo", "oracle"].contains(&system.as_str()), "{csv}");
    }
    assert!(
        column(&csv, "finish_rate_ci95_low").iter().all(|c| !c.is_empty()),
        "two seeds:\n{csv}"
    );
    let one = place.run(&["reproduce", "small.toml", "--format", "wide", "--seeds", "1"]).ok();
    // Of batches, as the CSV has it.
    assert!(column(&one, "finish_rate_ci95_low").iter().all(|c| !c.is_empty()), "one seed:\n{one}");
}

#[test]
fn json_says_the_same_as_csv_and_what_was_assumed() {
    let place = Place::with("small.toml", small_table(""));
    let json = place.run(&["reproduce", "small.toml", "--format", "json"]).ok();
    let csv = place.run(&["reproduce", "small.toml", "--format", "wide"]).ok();
    let value: Value = serde_json::from_str(&json).expect("JSON");
    let rows = value["rows"].as_array().expect("rows");
    let is_rate = |r: &&Value| r["metric"] == "finish_rate" && r["versus"] == "";
    let rate = |r: &Value| r["value"].as_f64().expect("a rate");
    let rates: Vec<f64> = rows.iter().filter(is_rate).map(rate).collect();
    assert_eq!(rates, finish_rates(&csv));
    assert_eq!(value["experiment"], "small");
    let specification = &value["specification"];
    assert_eq!(specification["applications"]["load"]["requests"], 300);
    assert_eq!(specification["system"].as_array().map(Vec::len), Some(11));
    assert_eq!(value["scores"].as_array().map(Vec::len), Some(9));
}

#[test]
fn csv_has_a_row_for_each_cell_and_metric_with_its_provenance() {
    let place = Place::with("small.toml", small_table(""));
    let csv = place.run(&["reproduce", "small.toml", "--format", "csv"]).ok();
    let rows: Vec<Row> = read_csv("small.csv", &csv).expect("the schema");
    let rates: Vec<&Row> =
        rows.iter().filter(|r| r.metric == "finish_rate" && r.versus.is_empty()).collect();
    assert_eq!(rates.len(), 11);
    for row in &rows {
        assert_eq!((row.spec_sha256.len(), row.seeds.as_str()), (64, "0-1"));
        assert!(row.inputs_sha256.starts_with("azure2019-f500="), "{row:?}");
        assert_eq!(row.axis("slo_x_p99"), Some("2"));
    }
    for row in rates {
        assert!(row.ci95().is_some() && row.ci_method == "replications", "{row:?}");
        assert_eq!(row.paper.is_some(), row.paper_source.contains("Table 3"), "{row:?}");
    }
    assert!(rows.iter().any(|r| r.ci_method == "paired-replications"));
    let p99 = rows.iter().find(|r| r.metric == "latency_p99_ns").expect("a quantile");
    assert!(p99.has_flag("few-samples"), "300 requests are below 662: {p99:?}");
}

#[test]
fn out_holds_every_form_and_the_same_bytes_as_stdout() {
    let place = Place::with("small.toml", small_table(""));
    for (format, ending) in
        [("table", "txt"), ("csv", "csv"), ("wide", "wide.csv"), ("json", "json")]
    {
        let args = ["reproduce", "small.toml", "--format", format, "--out", "new/folder"];
        let out = place.run(&args).ok();
        assert!(place.read(&format!("new/folder/small.{ending}")) == out, "{format}");
    }
    let left = std::fs::read_dir(place.path("new/folder")).expect("a folder");
    assert!(
        left.map(|e| e.expect("an entry").path()).all(|p| p.extension() != Some("tmp".as_ref()))
    );
    assert_eq!(place.files(), ["new", "small.toml"]);
}

#[test]
fn cases_without_a_figure_of_the_paper_run_and_leave_its_column_empty() {
    for (table, case) in [
        ("orloj-table-2", "std-0.7/1.3"),
        ("orloj-table-3", "six-modal"),
        ("orloj-table-5", "gpt-convAI"),
    ] {
        let text = small_table("").replace("orloj-table-3", table).replace("one-modal", case);
        let place = Place::with("small.toml", text);
        let csv = place.run(&["reproduce", "small.toml", "--format", "wide"]).ok();
        assert!(column(&csv, "case").iter().all(|c| *c == case), "{csv}");
        assert!(!csv.contains("_paper"), "{csv}");
        finish_rates(&csv);
        let text = place.run(&["reproduce", "small.toml"]).ok();
        let says = ["The paper has no numbers for what was run.", "no number stands beside ours."];
        assert!(says.iter().any(|said| text.contains(said)), "{text}");
        assert!(text.contains(case), "{text}");
    }
}

#[test]
fn cases_that_are_asked_for_run_in_the_order_asked() {
    let place = Place::with("small.toml", small_table(""));
    let args = ["reproduce", "small.toml", "--format", "wide"];
    let cases = ["--case", "six-modal", "--case", "two-modal"];
    let csv = place.run(&[&args[..], &cases[..]].concat()).ok();
    let mut found = column(&csv, "case");
    found.dedup();
    assert_eq!(found, ["six-modal", "two-modal"]);
}

#[test]
fn our_figures_are_the_same_without_the_paper_s() {
    let place = Place::with("small.toml", small_table(""));
    let args = ["reproduce", "small.toml", "--format", "wide"];
    let with = place.run(&args).ok();
    let mut command = place.command(&args);
    let output = command.env("ORRERY_WITHOUT_PAPER", "1").output().expect("a process");
    let without = Ran::of(&args, output).ok();
    assert!(!without.contains("_paper"), "{without}");
    assert_eq!(finish_rates(&with), finish_rates(&without));
    let mut command = place.command(&["reproduce", "small.toml"]);
    let output = command.env("ORRERY_WITHOUT_PAPER", "1").output().expect("a process");
    let text = Ran::of(&args, output).ok();
    assert!(text.contains("one-modal"), "{text}");
}

/// Kept cells serve fewer seeds as they are, and more seeds run only what is short.
#[test]
fn kept_cells_serve_other_numbers_of_seeds() {
    let place = Place::with("table.toml", small_table(""));
    let csv = |seeds: &str, more: &[&str]| {
        let args = ["reproduce", "table.toml", "--format", "csv", "-q", "--seeds", seeds];
        place.run(&[&args[..], more].concat()).ok()
    };
    let cells = || {
        let folders = std::fs::read_dir(place.path("r/cells")).expect("a folder").flatten();
        let files = folders.flat_map(|f| std::fs::read_dir(f.path()).expect("a folder").flatten());
        let bytes =
            |e: std::fs::DirEntry| (e.file_name(), std::fs::read(e.path()).expect("a cell"));
        files.map(bytes).collect::<std::collections::BTreeMap<_, _>>()
    };
    csv("3", &["--out", "r"]);
    let three = cells();
    assert_eq!(csv("2", &["--out", "r"]), csv("2", &[]));
    assert_eq!(cells(), three, "nothing was run");
    assert_eq!(csv("5", &["--out", "r"]), csv("5", &[]));
    let five = cells();
    assert!(five.keys().eq(three.keys()) && five != three, "the same cells, with more in them");
    assert_eq!(csv("3", &["--out", "r"]), csv("3", &[]));
}

#[test]
fn a_sensitivity_table_prints_one_row_for_each_change() {
    let vary = "mean_over = [\"case\", \"slo_x_p99\"]\npoint_axis = \"changed\"\n\
                show = [\"mean_abs_error\", \"mean_finish_rate\"]\npresets = [\"calibrated\"]\n\
                [[point]]\nname = \"less load\"\nset = { \"load.offered\" = 1.0 }\n\
                [[point]]\nname = \"no host\"\nset = { \"system.clipper.host_ms_per_request\" = 0.0 }\n";
    let place = Place::with("small.toml", small_table(vary));
    let text = place.run(&["reproduce", "small.toml"]).ok();
    assert!(text.contains("less load") && text.contains("no host"), "{text}");
    let json = place.run(&["reproduce", "small.toml", "--format", "json"]).ok();
    serde_json::from_str::<Value>(&json).expect("JSON");
    let csv = place.run(&["reproduce", "small.toml", "--format", "wide"]).ok();
    assert!(csv.contains("less load"), "{csv}");
}

/// The example of the documents: a user's own experiment, with numbers and sentences of a paper.
#[test]
fn an_experiment_of_one_s_own_has_numbers_and_sentences_beside_it() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../scenarios");
    let place = Place::new();
    std::fs::create_dir_all(place.path("experiments")).expect("a folder");
    for name in
        ["one-gpu-bert.toml", "experiments/my-scheduler.toml", "experiments/my-scheduler.csv"]
    {
        std::fs::copy(format!("{folder}/{name}"), place.path(name)).expect("a file that is there");
    }
    let args = ["-q", "reproduce", "experiments/my-scheduler.toml", "--details", "--seeds", "2"];
    let text = place.run(&args).ok();
    let line = |says: &str| {
        let line = text.lines().find(|l| l.contains(says));
        line.unwrap_or_else(|| panic!("no `{says}` in:\n{text}")).to_string()
    };
    assert!(line("slo_ms  orloj").contains("clockwork"), "{text}");
    let mut of_120 = text.lines().filter(|l| l.starts_with("  120 "));
    assert!(of_120.any(|l| l.contains("/0.9 ")), "the paper's number:\n{text}");
    let in_a_line = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let says = "a longer SLO is never worse for ours [";
    assert!(in_a_line(&text).contains(&format!("not judged (2 of 3 seeds): {says}")), "{text}");
    let whole = place.run(&args[..4]).ok();
    assert!(in_a_line(&whole).contains(&format!("holds: {says}")), "{whole}");
    assert!(text.contains("\nAssumptions, where the paper says nothing\n"), "{text}");
    let picture = [&args[..], &["--plot", "a.svg", "--out", "r"]].concat();
    assert_eq!(place.run(&picture).ok(), text);
    assert!(place.read("a.svg").contains("<svg"));
    // What is kept is found again, and shards of it are joined.
    assert_eq!(place.run(&[&args[..], &["--out", "r"]].concat()).ok(), text);
    for shard in ["1/2", "2/2"] {
        let args = [&args[..], &["--out", "s", "--shard", shard]].concat();
        assert!(place.run(&args).ok().contains("orrery sweep merge s"), "{shard}");
    }
    assert_eq!(place.run(&["sweep", "merge", "s"]).ok(), text);
    let other = ["reproduce", "orloj-table-4", "--out", "s", "--shard", "1/2"];
    place.run(&other).refused(&["experiment.json", "my-scheduler", "remedy: "]);
}

/// Pools and partitions are kept, sharded and joined as all else is.
#[test]
fn shards_of_every_kind_are_joined() {
    for (id, more) in [
        ("kairos-fig-1", &["--seeds", "1"][..]),
        ("symphony-fig-16", &["--seeds", "1", "--case", "random"]),
        ("orloj-table-4", &["--seeds", "1", "--case", "inception-imagenet"]),
    ] {
        let place = Place::new();
        let whole = place.run(&[&["-q", "reproduce", id], more].concat()).ok();
        for shard in ["1/2", "2/2"] {
            let shard = ["--out", "s", "--shard", shard];
            place.run(&[&["-q", "reproduce", id], more, &shard].concat()).ok();
            if shard.contains(&"1/2") && id.starts_with("orloj") {
                let says = ["key `cells`", "not there", "remedy: "];
                place.run(&["sweep", "merge", "s"]).failed_a_check_saying(&says);
            }
        }
        assert_eq!(place.run(&["sweep", "merge", "s"]).ok(), whole, "{id}");
    }
}

#[test]
fn numbers_of_one_s_own_stand_beside_ours_and_their_cases_are_run() {
    let numbers =
        "table,case,slo_x_p99,system,value\n3,six-modal,2,orloj,0.75\n2,std-1,2,orloj,0.1\n";
    let place = Place::with("small.toml", small_table(""));
    place.write("own.csv", numbers);
    let csv =
        place.run(&["reproduce", "small.toml", "--paper", "own.csv", "--format", "wide"]).ok();
    assert!(
        column(&csv, "case").iter().all(|case| *case == "six-modal"),
        "of table 3 alone: {csv}"
    );
    let mut papers = column(&csv, "finish_rate_paper");
    papers.retain(|p| !p.is_empty());
    assert!(!papers.is_empty() && papers.iter().all(|p| *p == "0.75"), "{csv}");
    place
        .run(&["reproduce", "small.toml", "--paper", "none.csv"])
        .refused(&["none.csv", "cannot be read"]);
    // One number would stand beside the cells of all SLOs.
    place.write("flat.csv", "table,case,system,value\n3,six-modal,orloj,0.75\n");
    place.run(&["reproduce", "small.toml", "--paper", "flat.csv"]).refused(&[
        "flat.csv",
        "no column `slo_x_p99`",
        "table,case,slo_x_p99,system,value",
    ]);
    run(&["reproduce", "symphony-fig-1", "--paper", "own.csv"])
        .refused(&["--paper", "`paper_csv`"]);
}

/// The atlas of a few ids: their files are those of the ids alone, another run gives the same, and what is left out
/// is named.
#[test]
fn all_of_a_paper_is_what_each_id_is_alone() {
    let place = Place::new();
    let all = ["-q", "reproduce", "--all", "--of", "salus", "--under", "2s", "--out", "all"];
    let table = place.run(&[&all[..], &["--html", "a.html"]].concat()).ok();
    for id in ["salus-fig-2-9", "salus-fig-2-10"] {
        assert!(table.lines().any(|l| l.trim_start().starts_with(&format!("{id} "))), "{table}");
        let alone = place.run(&["reproduce", id, "--format", "csv"]).ok();
        assert!(place.read(&format!("all/{id}.csv")) == alone, "{id}");
    }
    for left_out in ["4 more take longer", "salus-fig-2-11", "Fig. 2.12, 2.13"] {
        assert!(table.contains(left_out), "{left_out} in:\n{table}");
    }
    // No plate had its claims: they were looked for under another title.
    let atlas = place.read("a.html");
    assert!(atlas.contains("The paper's claims") && atlas.contains("<a href=\"#salus-fig-2-10\">"));
    assert!(atlas.contains("<div class=\"card\" id=\"salus-fig-2-10\">"));
    place.run(&[&all[..], &["--html", "all/atlas.html"]].concat()).ok();
    assert!(place.read("all/atlas.html").contains("<a href=\"salus-fig-2-10.html\">"));
    assert!(place.read("all/salus-fig-2-10.html").contains("orrery reproduce salus-fig-2-10"));
    assert!(place.read("all/costs.csv").starts_with("id,wall_s,peak_mib\nsalus-fig-2-10,"));
    let again = place.run(&[&all[..], &["--html", "b.html"]].concat()).ok();
    assert!(again == table && place.read("a.html") == place.read("b.html"));
}
