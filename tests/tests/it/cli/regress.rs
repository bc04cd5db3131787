//! `orrery regress`: same, moved, could not run.

use super::process::Place;
use super::{POISSON, small_scenario};

pub(super) const BASELINE: &str = "# a comment that stays\nresult_version = 8\n\n[rerun]\nscenario = \"a.toml\"\n\
    policies = [\"fifo\", \"nexus\"]\nmetrics = [\"finish_rate\", \"latency_p99_ns\"]\n";

fn blessed() -> Place {
    let place = Place::with("a.toml", small_scenario(POISSON));
    place.write("b.toml", BASELINE);
    place.run(&["regress", "b.toml", "--bless"]).ok();
    place
}

#[test]
fn what_did_not_change_is_the_same_and_blessing_it_changes_nothing() {
    let place = blessed();
    let text = place.read("b.toml");
    assert!(
        text.starts_with("# a comment that stays\n") && text.contains(",fifo,all,finish_rate,")
    );
    let said = place.run(&["regress", "b.toml"]).ok();
    assert!(
        said.starts_with("regress b.toml\nNothing changed: all 12 values are the same.\n"),
        "{said}"
    );
    place.run(&["regress", "b.toml", "--bless"]).ok();
    assert_eq!(place.read("b.toml"), text);
}

#[test]
fn a_result_that_moved_is_told_by_how_much_in_every_report() {
    let place = blessed();
    let text = place.read("b.toml");
    place.write("a.toml", small_scenario(POISSON).replace("c1 = 0.4", "c1 = 0.41"));
    let args = ["regress", "b.toml", "--junit", "j.xml", "--markdown", "m.md", "--html", "r.html"];
    let said = place.run(&args).failed_a_check();
    // First what differs in the input, then what moved.
    let input = said.lines().nth(1).expect("a line on the input");
    assert_eq!(input, "The input differs in what is run (scenario, policies or their settings).");
    let verdict = said.lines().nth(2).expect("a verdict").to_string();
    assert!(verdict.contains(" of 12 values moved, in 1 of 1 baseline: "), "{said}");
    assert!(said.lines().any(|l| l.contains("fifo all") && l.contains("worse")), "{said}");
    // Text, Markdown and page are one document.
    let start = verdict.split(';').next().expect("a part");
    assert!(place.read("m.md").contains(start) && place.read("m.md").contains(input));
    assert!(place.read("r.html").contains(start) && place.read("r.html").contains(input));
    assert!(said.contains("To accept them: the same command with `--bless`."), "{said}");
    let shares = shares(&said);
    assert!(shares.len() > 1 && shares.is_sorted_by(|a, b| a >= b), "the largest first: {said}");
    let xml = place.read("j.xml");
    // A suite for the baseline and a case for each group of values: 2 policies, all and 2 applications.
    assert!(xml.contains("<testsuite name=\"b.toml\" tests=\"6\""), "{xml}");
    assert!(xml.contains("<testcase name=\"fifo all\" classname=\"b\" time=\""), "{xml}");
    assert!(xml.contains("<failure message=\"1 value moved\">fifo all latency_p99_ns: "), "{xml}");
    let html = place.read("r.html");
    assert!(html.contains("values moved, in 1 of 1 baseline:") && html.contains("for the worse"));
    place.run(&args).failed_a_check();
    assert_eq!((untimed(&place.read("j.xml")), place.read("r.html")), (untimed(&xml), html));
    place.run(&["regress", "b.toml", "--tolerance", "1"]).ok();
    let said = place.run(&["regress", "b.toml", "--bless"]).ok();
    assert!(said.contains("The baselines are rewritten") && place.read("b.toml") != text, "{said}");
    place.run(&["regress", "b.toml"]).ok();
}

/// The changes of the table in percent, without their signs.
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

/// A value that moved within our interval of it is said to be within noise; one far beyond it is not.
#[test]
fn what_moved_within_its_interval_is_within_noise() {
    let place = Place::with("a.toml", small_scenario(POISSON));
    place.write("b.toml", BASELINE.replace("policies =", "seeds = 3\npolicies ="));
    place.run(&["regress", "b.toml", "--bless"]).ok();
    let text = place.read("b.toml");
    let moved = |by: f64| {
        let line = |line: &str| match line.split_once(",fifo,all,latency_p99_ns,") {
            Some((head, rest)) => {
                let (value, rest) = rest.split_once(',').map_or((rest, ""), |(v, r)| (v, r));
                let value: f64 = value.parse().expect("a number");
                let comma = if rest.is_empty() && !line.ends_with(',') { "" } else { "," };
                format!("{head},fifo,all,latency_p99_ns,{}{comma}{rest}\n", value * by)
            }
            None => format!("{line}\n"),
        };
        place.write("b.toml", text.lines().map(line).collect::<String>());
        place.run(&["regress", "b.toml"]).failed_a_check()
    };
    let little = moved(1.000_001);
    assert!(little.contains("The input is the same."), "{little}");
    assert!(little.contains("within noise: the old value is within our 95 % interval"), "{little}");
    let much = moved(10.0);
    assert!(!much.contains("within noise") && much.contains("-90 %"), "{much}");
}

/// A baseline of before has no record of its input: that is said, and `--bless` writes one.
#[test]
fn a_baseline_without_a_record_says_so_until_it_is_blessed() {
    let place = blessed();
    let text = place.read("b.toml");
    let is_record = |line: &&str| line.starts_with("made_from = ");
    assert_eq!(text.lines().filter(is_record).count(), 1, "{text}");
    let old: String = text.lines().filter(|l| !is_record(l)).map(|l| format!("{l}\n")).collect();
    place.write("b.toml", &old);
    place.run(&["regress", "b.toml"]).ok();
    place.write("a.toml", small_scenario(POISSON).replace("c1 = 0.4", "c1 = 0.41"));
    let said = place.run(&["regress", "b.toml"]).failed_a_check();
    assert!(said.contains("blessed without a record"), "{said}");
    place.write("a.toml", small_scenario(POISSON));
    place.run(&["regress", "b.toml", "--bless"]).ok();
    assert_ne!(place.read("b.toml"), old);
    assert!(place.read("b.toml").lines().any(|l| is_record(&l)), "{}", place.read("b.toml"));
}

#[test]
fn a_metric_that_no_row_has_is_refused_before_the_run() {
    let place = blessed();
    place.write("c.toml", BASELINE.replace("latency_p99_ns", "latency_p98_ns"));
    let says = ["c.toml:7", "rerun.metrics[1]", "`latency_p98_ns`", "did you mean `latency_p9"];
    place.run(&["regress", "c.toml"]).refused(&says);
    place.run(&["regress", "c.toml", "--bless"]).refused(&says);
}

#[test]
fn what_cannot_be_run_is_an_error_and_the_others_are_compared() {
    let place = blessed();
    place.write("c.toml", BASELINE.replace("a.toml", "nowhere.toml"));
    let output = place.command(&["regress", "c.toml", "b.toml", "--markdown", "m.md"]).output();
    assert_eq!(output.expect("a process").status.code(), Some(2));
    assert!(place.read("m.md").contains("| b.toml | \u{2713} same | 12 | "));
    for (from, to, says) in [
        ("result_version = 8", "result_version = 99", "--bless"),
        ("scenario =", "scenari =", "scenari"),
        ("scenario = \"a.toml\"\n", "", "one thing to rerun"),
        ("\"fifo\"", "\"fifi\"", "did you mean `fifo`"),
        ("[\"finish_rate\", \"latency_p99_ns\"]", "[\"finish\"]", "rerun.metrics"),
    ] {
        place.write("c.toml", BASELINE.replace(from, to));
        let output = place.command(&["regress", "c.toml"]).output().expect("a process");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains(says), "no `{says}` in {said}");
    }
    place.run(&["regress", "nowhere.toml"]).refused(&["nowhere.toml"]);
}

#[test]
fn two_versions_are_compared_on_the_same_baselines() {
    let place = blessed();
    let other = super::process::program().display().to_string();
    // The rows of the file are not looked at: it may have none.
    place.write("new.toml", BASELINE);
    let files = place.files();
    let args = ["regress", "new.toml", "--against", &other, "--html", "r.html"];
    assert!(place.run(&args).ok().contains("Nothing changed: all 12 values are the same."));
    assert!(place.read("r.html").contains("this version with orrery "));
    assert_eq!(place.read("new.toml"), BASELINE);
    assert_eq!(place.files().len(), files.len() + 1, "nothing but the page is left");
    place.run(&["regress", "b.toml", "--against", "no-such"]).refused(&["--against", "no-such"]);
    place.run(&["regress", "b.toml", "--against", "/bin/sh"]).refused(&["--against", "no orrery"]);
    place.run(&["regress", "b.toml", "--against", &other, "--bless"]).refused(&["--bless"]);
}

#[cfg(unix)]
#[test]
fn another_version_that_finds_other_values_or_fails_is_told() {
    let place = blessed();
    let other = super::process::program().display();
    let script = |change: &str| {
        format!("#!/bin/sh\n\"{other}\" \"$@\" || exit\n[ \"$1\" = --version ] || {change}\n")
    };
    for (name, change) in [
        ("less", "sed -i s/finish_rate,0/finish_rate,-0/ \"$2\""),
        ("bad", "{ echo broken >&2; exit 2; }"),
    ] {
        place.write(name, script(change));
        let mut rights = std::fs::metadata(place.path(name)).expect("a file").permissions();
        std::os::unix::fs::PermissionsExt::set_mode(&mut rights, 0o755);
        std::fs::set_permissions(place.path(name), rights).expect("a file");
    }
    let said = place.run(&["regress", "b.toml", "--against", "less"]).failed_a_check();
    assert!(said.contains(" -0.") && said.contains("better"), "{said}");
    place.run(&["regress", "b.toml", "--against", "bad"]).refused(&["broken", "b.toml"]);
}
