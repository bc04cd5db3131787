//! `orrery regress`: what is the same, what moved and why, what is required, what could not run.

use super::process::Place;
use super::small_scenario;
use crate::forms::{self, Compared};
use orrery_results::RESULT_VERSION;
use std::collections::{BTreeMap, BTreeSet};

pub(super) const BASELINE: &str = "# a comment that stays\n\n[rerun]\nscenario = \"a.toml\"\n\
    policies = [\"fifo\", \"nexus\"]\nmetrics = [\"finish_rate\", \"latency_p99_ns\"]\n";

/// A scenario that is far from saturation: its intervals are narrow enough to tell something.
pub(super) fn scenario() -> String {
    small_scenario("poisson = { rate_per_s = 60.0 }\nrequests = 2000")
}

/// A scenario whose key is another.
pub(super) fn slower() -> String {
    scenario().replace("c1 = 0.4", "c1 = 0.6")
}

pub(super) fn blessed() -> Place {
    let place = Place::with("a.toml", scenario());
    place.write("b.toml", BASELINE);
    place.run(&["regress", "b.toml", "--bless"]).ok();
    place
}

/// The file as programs before this one wrote it: version and rows in front of the tables, no keys.
fn old_layout(text: &str) -> String {
    let rows = text.split("\"\"\"").nth(1).expect("rows").trim_start();
    let lines = rows.lines().map(|l| {
        let cells: Vec<&str> = l.split(',').collect();
        cells[..cells.len() - 2].join(",") + "\n"
    });
    let hash = text.lines().find_map(|l| l.strip_prefix("specifications = ")).expect("a hash");
    let made = format!(
        "made_from = {{ program = \"0.0.9\", specifications = {hash}, data = \"\", seeds = \"1-1\" }}"
    );
    let rerun = BASELINE.split_once("[rerun]").expect("a table").1;
    let rows: String = lines.collect();
    format!("result_version = 7\n{made}\nrows = '''\n{rows}'''\n\n[rerun]{rerun}")
}

/// The counts of a verdict: `3 of 12 values are worse, 1 better, 8 the same`, and how many there are in all.
fn counts(text: &str) -> (BTreeMap<String, usize>, usize) {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let of = text.find(" values").or_else(|| text.find(" value ")).expect("values");
    let begin = text[..of].rfind(['.', ':', ';']).map_or(0, |at| at + 1);
    let end = of + text[of..].find(". ").unwrap_or(text.len() - of);
    let sentence = text[begin..end].split(['.', '*', '<', '\n']).next().expect("a sentence").trim();
    if let Some(rest) = sentence.strip_prefix("all ") {
        let n = rest.split(' ').next().and_then(|n| n.parse().ok()).expect("a number");
        return (BTreeMap::from([("the same".to_string(), n)]), n);
    }
    let (n, rest) = sentence.split_once(" of ").expect("a count");
    let (all, rest) = rest.split_once(' ').expect("a total");
    let rest = rest.split_once(" are ").or_else(|| rest.split_once(" is ")).expect("a word").1;
    let parts = format!("{n} {rest}");
    let part = |part: &str| {
        let (n, word) = part.split_once(' ').expect("a number and a word");
        (word.to_string(), n.parse().expect("a number"))
    };
    (parts.split(", ").map(part).collect(), all.parse().expect("a number"))
}

/// The counts of the lines of JUnit's failures.
fn of_junit(xml: &str) -> BTreeMap<String, usize> {
    let mut all = BTreeMap::new();
    for part in xml.split("<failure message=\"").skip(1) {
        let (message, rest) = part.split_once("\">").expect("a message");
        let lines = rest.split_once("</failure>").expect("an end").0;
        let mut own: BTreeMap<String, usize> = BTreeMap::new();
        for line in lines.lines() {
            let kind = line.split(':').next().expect("a word").to_string();
            *own.entry(kind).or_default() += 1;
        }
        let (n, kinds) = message.split_once(" moved: ").expect("a count");
        assert_eq!(n.split(' ').next(), Some(own.values().sum::<usize>().to_string().as_str()));
        assert_eq!(kinds.split(", ").count(), own.len(), "{message}");
        own.into_iter().for_each(|(kind, n)| *all.entry(kind).or_default() += n);
    }
    all
}

/// Every form of an answer.
pub(super) const FORMS: [&str; 6] = ["--junit", "j.xml", "--markdown", "m.md", "--html", "r.html"];

#[test]
fn what_did_not_change_is_the_same_and_blessing_it_changes_nothing() {
    let place = blessed();
    let text = place.read("b.toml");
    assert!(text.starts_with(BASELINE.trim_end()) && text.contains(",fifo,all,finish_rate,"));
    assert!(text.contains("\n\"model.bert.latency.proportional.c1\" = 0.4\n"), "{text}");
    assert!(text.contains(&format!("\nresult_version = {}\n", orrery_results::RESULT_VERSION)));
    let said = place.run(&["regress", "b.toml"]).ok();
    assert_eq!(said, "Passed: all 12 values are the same.\n");
    place.run(&["regress", "b.toml", "--bless"]).ok();
    assert_eq!(place.read("b.toml"), text);
}

/// Edits of a scenario and its baseline, and what is said of each: the keys, and how the verdict begins.
const EDITS: &[(&str, &str, &str, &[&str], &str)] = &[
    (
        "a.toml",
        "c1 = 0.4",
        "c1 = 0.6",
        &["Changed: model.bert.latency.proportional.c1: 0.4 -> 0.6."],
        "Failed: ",
    ),
    (
        "a.toml",
        "requests = 2000",
        "requests = 2500",
        &["Changed: arrivals.requests: 2000 -> 2500."],
        "",
    ),
    (
        "a.toml",
        "weight = 2.0\nslo_ms = 60.0",
        "slo_ms = 61.0",
        &[
            "Changed: app.search.slo_ms: 60.0 -> 61.0.",
            "Changed: app.search.weight: 2.0 is removed.",
        ],
        "",
    ),
    (
        "a.toml",
        "name = \"small\"\n",
        "name = \"small\"\nseed = 7\n",
        &["Changed: seeds: 1-3 -> 7-9.", "Only the seeds changed"],
        "Other seeds: ",
    ),
    ("b.toml", "seeds = 3", "seeds = 5", &["Changed: seeds: 1-3 -> 1-5."], "Other seeds: "),
    (
        "b.toml",
        "[\"fifo\", \"nexus\"]\nmetrics",
        "[\"fifo\", \"eager\"]\nmetrics",
        &[
            "Changed: rerun.policies: \"nexus\" is removed.",
            "Changed: rerun.policies: \"eager\" is added.",
            "gone: 6 values of nexus",
            "new: 6 values of eager",
        ],
        "Failed: ",
    ),
    (
        "b.toml",
        "[\"fifo\", \"nexus\"]\nmetrics",
        "[\"fifo\", \"nexus\", \"eager\"]\nmetrics",
        &["Changed: rerun.policies: \"eager\" is added."],
        "Moved: ",
    ),
    (
        "b.toml",
        "metrics = [\"finish_rate\", \"latency_p99_ns\"]\n\n#",
        "metrics = [\"requests\"]\n\n#",
        &["Changed: rerun.metrics: \"requests\" is added."],
        "Failed: ",
    ),
    (
        "a.toml",
        "time = { normal = { mean_ms = 5.0, sd_ms = 1.0 } }",
        "time = { samples = { file = \"ms.csv\", column = \"ms\" } }",
        &[
            "Changed: app.search.time.samples.file: \"ms.csv\" is added.",
            "Changed: file ms.csv was not read.",
        ],
        "",
    ),
];

/// A law over edits: the first line is the verdict, the second the first thing that changed, and every form has the
/// same counts, of which none is more than the whole.
#[test]
fn every_form_names_what_changed_and_counts_each_value_once() {
    for (file, from, to, says, begin) in EDITS {
        let place = Place::with("a.toml", scenario());
        place.write("ms.csv", "ms\n3.0\n5.0\n9.0\n");
        place.write("b.toml", BASELINE.replace("policies =", "seeds = 3\npolicies ="));
        place.run(&["regress", "b.toml", "--bless"]).ok();
        let text = place.read(file);
        assert!(text.contains(from), "{file} has no `{from}`");
        place.write(file, text.replacen(from, to, 1));
        let said = place.run(&[&["regress", "b.toml"], &FORMS[..]].concat()).failed_a_check();
        assert!(said.starts_with(begin), "{said}");
        let flat = said.split_whitespace().collect::<Vec<_>>().join(" ");
        for says in *says {
            assert!(flat.contains(says), "no `{says}` in\n{said}");
        }
        let first = flat[..flat.find("Changed: ").expect("what changed")].trim_end();
        assert!(first.ends_with('.') && first.matches(". ").count() == 0, "{said}");
        let (own, all) = counts(&said);
        assert_eq!(own.values().sum::<usize>(), all, "{said}");
        let (moved, page) = (place.read("j.xml"), place.read("r.html"));
        let mut junit = of_junit(&moved);
        junit.extend(own.get("the same").map(|n| ("the same".to_string(), *n)));
        assert_eq!(junit, own, "JUnit and text, {to}");
        assert_eq!(counts(&place.read("m.md")), (own.clone(), all), "Markdown and text, {to}");
        let verdict = page.split("<p class=\"").nth(2).expect("a verdict");
        let verdict = verdict.replace("<b class=\"number\">", "").replace("</b>", "");
        assert_eq!(
            counts(verdict.split_once('>').expect("a text").1),
            (own.clone(), all),
            "page, {to}"
        );
        let github = place.run(&["regress", "b.toml", "--format", "github"]).failed_a_check();
        let last = github.lines().last().expect("a verdict").replace("::", ": ");
        assert_eq!(counts(&last), (own, all), "GitHub and text, {to}");
        let github = github.replace("%0A", "\n").replace("%25", "%");
        let (of_junit, of_github) = (values(&moved), values(&github));
        assert!(of_github.is_subset(&of_junit), "{to}: {of_github:?} and {of_junit:?}");
        let mut out = Compared::default();
        forms::text_of_page(&page, &said, &mut out);
        forms::markdown_of_page(&page, &place.read("m.md"), &mut out);
        out.agree(to, if of_github.is_empty() { 0 } else { 2 });
    }
}

/// What a report for programs says of each value that moved: `p99, ms of fifo: 1 -> 2 (+100 %)`.
fn values(text: &str) -> BTreeSet<String> {
    let kinds = ["worse: ", "better: ", "changed: "];
    let parts = kinds.iter().flat_map(|kind| text.split(kind).skip(1));
    let of = |part: &str| part.split(['<', '\n']).next().unwrap_or("").replace("-&gt;", "->");
    parts.map(of).filter(|value| value.contains(" -> ")).collect()
}

#[test]
fn what_changed_is_named_though_no_value_moved() {
    let place = blessed();
    place.write("a.toml", format!("until_s = 100_000.0\n{}", scenario()));
    let said = place.run(&["regress", "b.toml", "--markdown", "m.md"]).ok();
    let line = "Changed, and no value moved: until_s: 100000.0 is added.";
    assert!(
        said.starts_with("Passed: all 12 values are the same") && said.contains(line),
        "{said}"
    );
    assert!(place.read("m.md").contains("Changed, and no value moved: "), "{}", place.read("m.md"));
    place.run(&["regress", "b.toml", "--bless"]).ok();
    assert!(!place.run(&["regress", "b.toml"]).ok().contains("Changed"));
}

/// The first `--bless` records: nothing moved, in no form of the answer.
#[test]
fn a_first_bless_says_that_values_are_recorded() {
    let place = Place::with("a.toml", scenario());
    place.write("b.toml", BASELINE);
    place.write("c.toml", BASELINE);
    let files = ["regress", "b.toml", "c.toml"];
    let before = place.run(&files).failed_a_check();
    assert!(before.contains("Not recorded yet") && !before.contains("moved"), "{before}");
    assert_eq!(before.matches("not recorded yet").count(), 2, "{before}");
    let said = place.run(&[&files[..], &["--bless", "--junit", "j.xml"]].concat()).ok();
    assert!(said.starts_with("Recorded: 24 of 24 values are new."), "{said}");
    assert_eq!(said.matches("\u{2713} recorded").count(), 2, "{said}");
    assert!(!said.contains("moved") && !place.read("j.xml").contains("<failure"), "{said}");
    place.write("a.toml", slower());
    let said = place.run(&[&files[..], &["--bless"]].concat()).ok();
    assert!(said.starts_with("Accepted: ") && said.contains("\u{2713} accepted"), "{said}");
}

#[test]
fn a_result_that_moved_is_told_by_how_much_in_every_report() {
    let place = blessed();
    let text = place.read("b.toml");
    place.write("a.toml", slower());
    let args = [&["regress", "b.toml"], &FORMS[..]].concat();
    let said = place.run(&args).failed_a_check();
    assert!(said.lines().count() < 30, "read in thirty seconds:\n{said}");
    let line = said.lines().find(|l| l.contains("p99, ms") && l.ends_with("fifo"));
    assert!(line.is_some_and(|l| l.trim_start().starts_with('+')), "{said}");
    assert!(said.contains("To accept the values: the same command with `--bless`."), "{said}");
    let worse = said.split("Worse, beyond").nth(1).expect("what is worse");
    let shares = shares(worse.split("\n\n").next().expect("a table"));
    assert!(shares.len() > 1 && shares.is_sorted_by(|a, b| a >= b), "the worst first: {said}");
    let xml = place.read("j.xml");
    // A suite for the baseline and a case for each group of values: 2 policies, all and 2 applications.
    assert!(xml.contains("<testsuite name=\"b.toml\" tests=\"6\""), "{xml}");
    assert!(xml.contains("<testcase name=\"fifo all\" classname=\"b\" time=\""), "{xml}");
    assert!(xml.contains("worse: p99, ms of fifo: "), "{xml}");
    // On the page the verdict is the largest, and what moved is open.
    let html = place.read("r.html");
    let verdict = html.find("<p class=\"bad\">Failed: <b class=\"number\">").expect("a verdict");
    let moved =
        html.find("<section><h2>What moved, the worst first</h2>").expect("an open section");
    assert!(verdict < moved && html.matches("class=\"number\"").count() == 1);
    place.run(&args).failed_a_check();
    assert_eq!((untimed(&place.read("j.xml")), place.read("r.html")), (untimed(&xml), html));
    place.run(&["regress", "b.toml", "--tolerance", "1"]).ok();
    let said = place.run(&["regress", "b.toml", "--bless"]).ok();
    assert!(said.starts_with("Accepted: ") && said.contains("have these values now"), "{said}");
    assert_ne!(place.read("b.toml"), text);
    place.run(&["regress", "b.toml"]).ok();
}

/// The changes of a table in percent, without their signs.
fn shares(said: &str) -> Vec<f64> {
    let of = |line: &str| {
        let (before, _) = line.split_once(" %")?;
        let number = before.split_whitespace().last()?;
        number.strip_prefix(['+', '-'])?.parse().ok()
    };
    said.lines().filter_map(of).collect()
}

/// JUnit without its times, which are those of a clock.
fn untimed(xml: &str) -> String {
    let parts: Vec<&str> = xml.split(" time=\"").collect();
    let rest = parts[1..].iter().map(|part| part.split_once('"').map_or("", |(_, rest)| rest));
    std::iter::once(parts[0]).chain(rest).collect()
}

/// The times are real, and a suite's is the sum of its cases'.
#[test]
fn junit_has_the_time_that_a_baseline_took() {
    let place = blessed();
    place.run(&["regress", "b.toml", "--junit", "j.xml"]).ok();
    let xml = place.read("j.xml");
    let times = |tag: &str| -> Vec<f64> {
        let of = |part: &str| part.split_once(" time=\"")?.1.split('"').next()?.parse().ok();
        xml.split(tag).skip(1).filter_map(of).collect()
    };
    let (suite, cases) = (times("<testsuite "), times("<testcase "));
    assert_eq!((suite.len(), cases.len()), (1, 6), "{xml}");
    assert!(suite[0] > 0.0 && (suite[0] - cases.iter().sum::<f64>()).abs() < 0.007, "{xml}");
}

/// Other seeds are no loss: other words, no red, and how many would tell.
#[test]
fn other_seeds_are_said_in_other_words_than_a_loss() {
    let place = blessed();
    place.write("a.toml", scenario().replace("name = \"small\"\n", "name = \"small\"\nseed = 9\n"));
    let said = place.run(&[&["regress", "b.toml"], &FORMS[..]].concat()).failed_a_check();
    let lines: Vec<&str> = said.lines().collect();
    assert!(lines[0].starts_with("Other seeds: ") && lines[0].contains("within noise"), "{said}");
    assert_eq!(lines[1], "Changed: seeds: 1 -> 9.");
    let flat = said.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(flat.contains("show no regression"), "{said}");
    let told = flat.split("About ").nth(1).expect("a number of seeds");
    let n: u64 = told.split(' ').next().and_then(|n| n.parse().ok()).expect("a number");
    assert!(
        n > 1 && told.contains("seeds would distinguish the largest change within noise"),
        "{said}"
    );
    let html = place.read("r.html");
    assert!(!html.contains("class=\"bad\"") && html.contains("<p class=\"mixed\">Other seeds"));
    let github = place.run(&["regress", "b.toml", "--format", "github"]).failed_a_check();
    assert!(github.starts_with("::warning ") && !github.contains("::error"), "{github}");
    // With something else beside the seeds it is no longer their luck alone.
    place.write("a.toml", slower().replace("name = \"small\"\n", "name = \"small\"\nseed = 9\n"));
    let said = place.run(&["regress", "b.toml"]).failed_a_check();
    assert!(said.starts_with("Failed: ") && !said.contains("show no regression"), "{said}");
}

/// A value that moved within our interval of it is said to be within noise; one far beyond it is not.
#[test]
fn what_moved_within_its_interval_is_only_counted() {
    let place = Place::with("a.toml", scenario());
    place.write("b.toml", BASELINE.replace("policies =", "seeds = 3\npolicies ="));
    place.run(&["regress", "b.toml", "--bless"]).ok();
    let text = place.read("b.toml");
    let moved = |by: f64| {
        let line = |line: &str| match line.split_once(",fifo,all,latency_p99_ns,") {
            Some((head, rest)) => {
                let (value, rest) = rest.split_once(',').expect("more cells");
                let value: f64 = value.parse().expect("a number");
                format!("{head},fifo,all,latency_p99_ns,{},{rest}\n", value * by)
            }
            None => format!("{line}\n"),
        };
        place.write("b.toml", text.lines().map(line).collect::<String>());
        place.run(&["regress", "b.toml"]).failed_a_check()
    };
    let little = moved(1.000_001);
    assert!(
        little.starts_with("Undecided: 1 of 12 values is within noise, 11 the same."),
        "{little}"
    );
    assert!(little.contains("The input is the same."), "{little}");
    // Its name, and as many digits as tell both values apart.
    let row = little.lines().find(|l| l.contains("-0.0001 %")).expect("the value");
    let numbers: Vec<&str> = row.split_whitespace().filter(|w| w.contains('.')).skip(1).collect();
    assert!(row.contains("p99, ms") && row.ends_with("fifo"), "{row}");
    assert!(numbers.len() == 2 && numbers[0] != numbers[1], "{row}");
    let github = place.run(&["regress", "b.toml", "--format", "github"]).failed_a_check();
    assert!(github.contains("within noise: p99, ms of fifo: "), "{github}");
    let much = moved(10.0);
    assert!(
        much.starts_with("Moved: 1 of 12 values is better") && much.contains("-90 %"),
        "{much}"
    );
    let worse = moved(0.1);
    assert!(worse.starts_with("Failed: 1 of 12 values is worse"), "{worse}");
}

/// What was recorded and cannot be compared is named with its line in the file.
#[test]
fn a_recorded_part_that_was_edited_is_refused() {
    let place = blessed();
    let text = place.read("b.toml");
    let (head, row) = (",metric,value,", ",fifo,all,finish_rate,");
    let line_of = |part: &str| text.lines().position(|l| l.contains(part)).expect("a line") + 1;
    let (whole, at) = (text.lines().nth(line_of(row) - 1).expect("a row"), line_of(row));
    for (from, to, says) in [
        (head, ",metric,worth,", format!("line {}: missing field `value`", line_of(head) + 1)),
        (row, &format!("{row}x"), format!("line {at}: field")),
        (
            row,
            &format!("{row}inf,,,\n,,,,fifo,all,late,"),
            format!("line {at}: `inf`, which is no"),
        ),
        (whole, &format!("{whole}\n{whole}"), "two values of finish_rate of fifo all".to_string()),
    ] {
        place.write("b.toml", text.replacen(from, to, 1));
        let recorded = format!("b.toml:{}: key `recorded.rows`", line_of("rows = "));
        place.run(&["regress", "b.toml"]).refused(&[&recorded, &says, "`--bless` again"]);
    }
}

/// What programs before this one wrote is read; what it has no record of is said, and `--bless` writes one.
#[test]
fn a_baseline_of_an_older_program_is_compared_until_it_is_blessed() {
    let place = blessed();
    let new = place.read("b.toml");
    let old = old_layout(&new);
    place.write("b.toml", &old);
    assert!(place.run(&["regress", "b.toml"]).ok().starts_with("Passed: all 12 values"));
    place.write("a.toml", slower());
    let said = place.run(&["regress", "b.toml"]).failed_a_check();
    let flat = said.split_whitespace().collect::<Vec<_>>().join(" ");
    let versions = format!("Changed: version of the results: 7 -> {RESULT_VERSION} (CHANGELOG.md,");
    assert!(flat.contains(&versions), "{said}");
    assert!(flat.contains("perhaps: the baseline keeps no keys"), "{said}");
    assert!(!flat.contains("The input is the same"), "{said}");
    assert!(flat.contains("Changed: program: 0.0.9 -> 0.1.0"), "{said}");
    place.write("b.toml", old.replace("result_version = 7\n", ""));
    let said = place.run(&["regress", "b.toml"]).failed_a_check();
    assert!(said.contains("keeps no keys"), "{said}");
    let line = old.lines().find(|l| l.starts_with("made_from")).expect("a record");
    place.write("b.toml", old.replace(&format!("{line}\n"), ""));
    let said = place.run(&["regress", "b.toml"]).failed_a_check();
    assert!(said.contains("keeps no record of its input"), "{said}");
    place.write("a.toml", scenario());
    place.run(&["regress", "b.toml", "--bless"]).ok();
    let again = place.read("b.toml");
    let recorded = |text: &str| text.split_once("\n# Recorded by").expect("a mark").1.to_string();
    assert_eq!(recorded(&again), recorded(&new));
    assert!(!again.starts_with("result_version"), "{again}");
}

/// Whatever somebody wrote stays, wherever it stands.
#[test]
fn what_was_written_by_hand_is_kept() {
    let place = blessed();
    let after =
        "\n# why we require this\n[[require]]\npolicy = \"fifo\"\nmetric = \"requests\"\nmin = 1\n";
    place.write("b.toml", place.read("b.toml") + after);
    place.write("a.toml", slower());
    place.run(&["regress", "b.toml", "--bless"]).ok();
    let text = place.read("b.toml");
    assert!(text.starts_with("# a comment that stays\n\n[rerun]\n"), "{text}");
    assert_eq!(text.matches("# why we require this\n[[require]]\n").count(), 1, "{text}");
    assert_eq!(text.matches("[recorded]").count(), 1, "{text}");
    let said = place.run(&["regress", "b.toml"]).ok();
    assert_eq!(said, "Passed: the requirement is met; all 12 values are the same.\n");
}

/// Whatever can be rerun: a scenario, a file of tokens, a sweep, an experiment.
#[test]
fn a_sweep_tokens_and_an_experiment_are_guarded_as_a_scenario_is() {
    let place = Place::with("a.toml", scenario());
    let tokens = format!("{}/../scenarios/tokens.toml", env!("CARGO_MANIFEST_DIR"));
    let tokens = std::fs::read_to_string(tokens).expect("a file that is there");
    place.write("t.toml", tokens);
    place.write("s.toml", super::sweep::SWEEP);
    place.write("e.toml", super::small_table("").replace("= 300", "= 100"));
    for (rerun, file, from, to, says) in [
        (
            "scenario = \"t.toml\"",
            "t.toml",
            "rate_per_s = 2.1",
            "rate_per_s = 2.5",
            "tokens.rate_per_s: 2.1 -> 2.5",
        ),
        (
            "sweep = \"s.toml\"",
            "a.toml",
            "c1 = 0.4",
            "c1 = 0.6",
            "latency.proportional.c1: 0.4 -> 0.6",
        ),
        (
            "sweep = \"s.toml\"",
            "s.toml",
            "[[axis]]",
            "[set]\n\"app.chat.weight\" = 9.0\n[[axis]]",
            "sweep.set.app.chat.weight: 9.0 is added",
        ),
        ("reproduce = \"e.toml\"", "e.toml", "[2.0]", "[3.0]", "axis[1].values[0]: 2.0 -> 3.0"),
    ] {
        place.write("a.toml", scenario());
        place.write("s.toml", super::sweep::SWEEP);
        place.write("b.toml", format!("[rerun]\n{rerun}\nmetrics = [\"finish_rate\"]\n"));
        place.run(&["regress", "b.toml", "--bless"]).ok();
        place.run(&["regress", "b.toml"]).ok();
        let text = place.read(file);
        assert!(!from.is_empty() && text.contains(from), "{file} has no `{from}`");
        place.write(file, text.replacen(from, to, 1));
        let said = place.run(&["regress", "b.toml"]).failed_a_check();
        let flat = said.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(flat.contains(says), "no `{says}` in\n{said}");
    }
}

/// A scenario has its bound where it is asked for, of each policy the same, and a gate may keep it.
#[test]
fn the_bound_of_a_scenario_is_recorded_where_it_is_named() {
    let place = blessed();
    let of_bound = BASELINE.replace("\"latency_p99_ns\"", "\"finish_rate_bound\"");
    place.write("c.toml", of_bound);
    place.run(&["regress", "c.toml", "--bless"]).ok();
    let text = place.read("c.toml");
    let bounds = text.lines().filter(|line| line.contains(",finish_rate_bound,"));
    let values = |line: &str| line.split(",finish_rate_bound,").nth(1).map(str::to_string);
    let bounds: Vec<Option<String>> = bounds.map(values).collect();
    assert!(bounds.len() >= 2 && bounds.iter().all(|b| *b == bounds[0]), "{text}");
    place.run(&["regress", "c.toml"]).ok();
}

#[test]
fn what_cannot_be_run_is_an_error_and_the_others_are_compared() {
    let place = blessed();
    place.write("c.toml", BASELINE.replace("a.toml", "nowhere.toml"));
    let args = ["regress", "c.toml", "b.toml", "--markdown", "m.md"];
    let ran = |more: &[&str]| {
        let output = place.command(&[&args[..], more].concat()).output().expect("a process");
        assert_eq!(output.status.code(), Some(2));
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    let text = ran(&[]);
    assert!(text.starts_with("Failed: 1 of 2 baselines could not be run; all 12 values"), "{text}");
    assert!(place.read("m.md").contains("| b | \u{2713} passed | 12 | "));
    let github = ran(&["--format", "github"]);
    let begins = "::error file=c.toml,line=4,title=orrery regress%3A could not run::c.toml:4: key ";
    assert!(github.starts_with(begins), "{github}");
    assert!(
        github.ends_with(&format!("::{}\n", text.lines().next().expect("a verdict"))),
        "{github}"
    );
    place.run(&["regress", "nowhere.toml"]).refused(&["nowhere.toml"]);
}

/// An annotation stands at the line of the value that moved most, in a file whose name would end it.
#[test]
fn annotations_name_the_line_and_are_escaped() {
    let place = blessed();
    let name = "a,b:c %.toml";
    place.write(name, place.read("b.toml"));
    place.write("a.toml", slower());
    let said = place.run(&["regress", name, "--format", "github"]).failed_a_check();
    let lines: Vec<&str> = said.lines().collect();
    assert_eq!(lines.len(), 2, "{said}");
    let rest = lines[0].strip_prefix("::error file=a%2Cb%3Ac %25.toml,line=").expect(&said);
    let line: usize = rest.split(',').next().and_then(|n| n.parse().ok()).expect("a line");
    let row = place.read(name).lines().nth(line - 1).expect("a line").to_string();
    let worst = rest.split("%0Aworse: ").nth(1).expect("a value that is worse");
    let (metric, of) = worst.split_once(" of ").expect("what it is of");
    let of = of.split([' ', ':']).next().expect("a policy");
    assert!(metric == "p99, ms" && row.contains("latency_p99_ns") && row.contains(of), "{row}");
    assert!(rest.contains("c1: 0.4 -> 0.6.%0A"), "{rest}");
    assert!(lines[1].starts_with("::error title=orrery regress::Failed: "), "{said}");
    place.run(&["regress", name, "--format", "github", "--bless"]).ok();
    let said = place.run(&["regress", name, "--format", "github"]).ok();
    assert_eq!(said, "::notice title=orrery regress::Passed: all 12 values are the same.\n");
}
