//! The command line: exit codes, messages, files that are whole or absent.

use super::campaign::campaigns;
use orrery_replay::device::Description;
use orrery_replay::profile::{Clocks, ProfileFile};
use orrery_replay::validate::Campaign;
use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output};

pub fn replay(folder: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_orrery-replay"))
        .args(args)
        .current_dir(folder)
        // A driver of the machine must not make a difference here.
        .env("LD_LIBRARY_PATH", folder)
        .output()
        .expect("it starts")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Runs it; it must refuse with exit code 2 and these words, print nothing, and write nothing.
fn refused(folder: &Path, args: &[&str], words: &[&str]) {
    let before = listing(folder);
    let output = replay(folder, args);
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{args:?}: {said}");
    assert_eq!(text(&output.stdout), "", "{args:?}");
    for word in words {
        assert!(said.contains(word), "{args:?}: no {word:?} in {said}");
    }
    assert_eq!(listing(folder), before, "{args:?}");
}

fn listing(folder: &Path) -> Vec<(String, u64)> {
    let entries = std::fs::read_dir(folder).unwrap().map(|e| {
        let e = e.unwrap();
        (e.file_name().to_string_lossy().into_owned(), e.metadata().unwrap().len())
    });
    let mut all: Vec<_> = entries.collect();
    all.sort();
    all
}

fn home() -> tempfile::TempDir {
    let home = tempfile::tempdir().unwrap();
    for name in ["one-model.toml", "smoke.toml", "gpu-timed.toml", "one-gpu.toml"] {
        std::fs::copy(campaigns().join(name), home.path().join(name)).unwrap();
    }
    let short = std::fs::read_to_string(home.path().join("one-model.toml")).unwrap();
    let short = short.replace("duration_s = 20.0", "duration_s = 2.0");
    std::fs::write(home.path().join("short.toml"), short).unwrap();
    home
}

fn done(folder: &Path, args: &[&str]) -> String {
    let output = replay(folder, args);
    assert_eq!(output.status.code(), Some(0), "{args:?}: {}", text(&output.stderr));
    text(&output.stdout)
}

#[test]
fn profile_run_schedule_and_compare_go_together() {
    let home = home();
    let at = home.path();
    let profile = done(at, &["profile", "short.toml", "--virtual-clock", "--out", "p.toml"]);
    assert!(profile.contains("points not seen: median"), "{profile}");
    let named = std::fs::read_to_string(at.join("short.toml")).unwrap();
    let law = "{ eq3 = { c0_ms = 1.5, c1 = 0.3 } }";
    assert!(named.contains(law));
    let named = named.replace(law, "{ profile = { file = \"p.toml\" } }");
    std::fs::write(at.join("named.toml"), named).unwrap();
    let virtual_run = |scenario: &str, more: &[&str]| {
        let args = [&["run", scenario, "--virtual-clock"], more].concat();
        done(at, &args)
    };
    virtual_run("named.toml", &["--policy", "orloj", "--out", "named"]);
    virtual_run("short.toml", &["--policy", "orloj", "--profile", "p.toml", "--out", "live"]);
    for name in ["predicted.log", "schedule.log", "actions.csv", "run.json"] {
        assert!(at.join("live").join(name).is_file(), "{name}");
    }
    let compare = ["compare", "live/predicted.log", "live"];
    let told = done(at, &[&compare[..], &["--plot", "e.svg"]].concat());
    assert!(told.contains("\nnote: the clock was virtual: no device was timed\n"), "{told}");
    let record = std::fs::read_to_string(at.join("live/run.json")).unwrap();
    let long = [&compare[..], &["--warm-up-s", "100"]].concat();
    refused(at, &long, &["`--warm-up-s`: found 100", "no request counts"]);
    let late = record.replace("\"verdict\": \"valid\"", "\"verdict\": { \"invalid\": \"late\" }");
    std::fs::write(at.join("live/run.json"), late).unwrap();
    let output = replay(at, &compare);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stdout).ends_with("\nINVALID: late\n"), "{}", text(&output.stdout));
    std::fs::write(at.join("live/run.json"), record).unwrap();
    assert!(told.contains("each with the prediction of that very batch"), "{told}");
    let figure = std::fs::read_to_string(at.join("e.svg")).unwrap();
    assert!(figure.contains("underprediction") && figure.contains("completion"));
    let plan = ["--mode", "schedule", "--schedule", "live/predicted.log", "--out", "plan"];
    let own = "note: no `--profile`: the plan is by the scenario's own latency models";
    let told = virtual_run("short.toml", &plan);
    assert!(told.contains(own), "{told}");
    let profiled = [&plan[..], &["--force", "--profile", "p.toml"]].concat();
    let told = virtual_run("short.toml", &profiled);
    assert!(!told.contains(own), "{told}");
    let told = done(at, &["compare", "live/predicted.log", "plan", "--first-difference"]);
    assert!(told.contains("decision"), "{told}");
    // What is there is not written over, unless it is asked for.
    refused(at, &["run", "short.toml", "--virtual-clock", "--out", "live"], &["--force"]);
    refused(at, &["profile", "short.toml", "--virtual-clock", "--out", "p.toml"], &["--force"]);
    virtual_run("short.toml", &["--policy", "fifo", "--out", "live", "--force"]);
    let json = std::fs::read_to_string(at.join("live/run.json")).unwrap();
    assert!(json.contains("\"policy\": \"fifo\""), "{json}");
}

#[test]
fn logs_that_cannot_be_compared_are_refused() {
    let home = home();
    let at = home.path();
    let run = |seed: &str, out: &str| {
        done(at, &["run", "short.toml", "--virtual-clock", "--seed", seed, "--out", out])
    };
    run("1", "one");
    run("2", "two");
    refused(at, &["compare", "one/predicted.log", "two"], &["request 0", "the same as in"]);
    let log = std::fs::read_to_string(at.join("one/schedule.log")).unwrap();
    let write = |name: &str, text: &str| std::fs::write(at.join(name), text).unwrap();
    write("newer.log", &log.replacen("orrery-log,4", "orrery-log,5", 1));
    refused(at, &["compare", "one/predicted.log", "newer.log"], &["orrery-log,5", "version"]);
    write("cut.log", &log[..log.len() / 2]);
    refused(at, &["compare", "one/predicted.log", "cut.log"], &["cut"]);
    let whole_lines: Vec<&str> = log.lines().collect();
    let half = whole_lines[..whole_lines.len() / 2].join("\n") + "\n";
    write("half.log", &half);
    refused(at, &["compare", "one/predicted.log", "half.log"], &["`finish`", "cut off"]);
    refused(at, &["compare", "one/predicted.log", "none.log"], &["none.log"]);
    let other = ["run", "short.toml", "--mode", "schedule", "--schedule", "two/predicted.log"];
    refused(at, &[&other[..], &["--out", "x"]].concat(), &["request 0"]);
    refused(at, &[&other[..], &["--policy", "fifo", "--out", "x"]].concat(), &["--policy", "live"]);
    let live = ["run", "short.toml", "--schedule", "two/predicted.log", "--out", "x"];
    refused(at, &live, &["--schedule", "--mode schedule"]);
    write("mine.svg", "mine");
    let plot = ["compare", "one/predicted.log", "one", "--plot", "mine.svg"];
    refused(at, &plot, &["--plot", "mine.svg", "--force"]);
    done(at, &[&plot[..], &["--force"]].concat());
    refused(
        at,
        &["compare", "one/predicted.log", "one", "--plot", "e.gif"],
        &[".svg, .png or .pdf"],
    );
}

/// Found by a stranger: a plan that ended in a panic, and actions that were not the run's.
#[test]
fn logs_and_actions_that_make_no_sense_are_refused() {
    let home = home();
    let at = home.path();
    let write = |name: &str, text: &str| std::fs::write(at.join(name), text).unwrap();
    let text = std::fs::read_to_string(at.join("short.toml")).unwrap();
    write("wide.toml", &text.replacen("[[device]]", "[[device]]\ncount = 2", 1));
    for (scenario, seed, out) in
        [("short.toml", "1", "one"), ("short.toml", "2", "two"), ("wide.toml", "1", "wide")]
    {
        done(at, &["run", scenario, "--virtual-clock", "--seed", seed, "--out", out]);
    }
    let log = std::fs::read_to_string(at.join("one/schedule.log")).unwrap();
    let whole_lines: Vec<&str> = log.lines().collect();
    let end = log.lines().position(|l| l.starts_with("end,")).unwrap();
    let without = [&whole_lines[..end], &whole_lines[end + 1..]].concat().join("\n") + "\n";
    write("endless.log", &without);
    refused(at, &["compare", "one/predicted.log", "endless.log"], &["line", "has no end"]);
    let issue = log.lines().position(|l| l.starts_with("issue,")).unwrap();
    let lane = whole_lines[issue].replacen(",0,0,0,0,", ",0,0,3,0,", 1);
    write("lane.log", &log.replacen(whole_lines[issue], &lane, 1));
    let line = format!("line {}", issue + 1);
    for (plan, words) in [("lane.log", ["lane 3", &line]), ("wide/schedule.log", ["d1", "batch"])] {
        let args = ["run", "short.toml", "--seed", "1", "--mode", "schedule", "--schedule", plan];
        refused(at, &[&args[..], &["--virtual-clock", "--out", "x"]].concat(), &words);
    }
    let rows = std::fs::read_to_string(at.join("one/actions.csv")).unwrap();
    let (second, _) = rows[1 + rows.find('\n').unwrap()..].split_once('\n').unwrap();
    let second = format!("{second}\n");
    for (rows, words) in [
        (rows.replacen(&second, "", 1), "no row of action 0"),
        (rows.replacen(&second, &second.repeat(2), 1), "line 3"),
        (std::fs::read_to_string(at.join("two/actions.csv")).unwrap(), "line 2"),
    ] {
        write("one/actions.csv", &rows);
        refused(at, &["compare", "one/predicted.log", "one"], &["actions.csv", words]);
    }
}

#[test]
fn devices_that_are_not_there_are_told_before_anything_is_written() {
    let home = home();
    let at = home.path();
    let looked = ["cuda:0", "looked for", "libcuda.so.1"];
    refused(at, &["validate", "gpu-timed.toml", "--out", "gpu"], &looked);
    refused(at, &["validate", "smoke.toml", "--device", "tpu", "--out", "x"], &["tpu", "cuda:N"]);
    refused(at, &["run", "short.toml", "--device", "cuda:0", "--out", "x"], &["cuda"]);
    refused(at, &["validate", "smoke.toml", "--part", "3/2", "--out", "x"], &["--part"]);
    let listed = done(at, &["devices"]);
    assert!(listed.contains("emulated") && listed.contains("libcuda"), "{listed}");
}

#[test]
fn a_campaign_answers_on_stdout_and_by_its_exit_code() {
    let home = home();
    let at = home.path();
    let args = ["validate", "smoke.toml", "--out", "v", "--quiet"];
    let told = done(at, &args);
    let written = std::fs::read_to_string(at.join("v/validation.md")).unwrap();
    assert_eq!(told, written);
    assert!(told.contains("no device was timed"), "{told}");
    let summed = done(at, &["validated", "v"]);
    let row = summed.lines().last().unwrap();
    assert!(row.starts_with("| v | waits | 14 | 28 | 28 of 28 | 28 | "), "{summed}");
    assert!(row.ends_with("| no device was timed |"), "{summed}");
    refused(at, &["validated", ".", "v"], &["FOLDER", "v twice", "remove one"]);
    let rows = std::fs::read_to_string(at.join("v/validation.csv")).unwrap();
    assert!(rows.contains(",emulated (virtual clock),"), "{rows}");
    // What others report, beside what predicts less well.
    assert!(told.contains("| latency p90 | % | 13 | 0.00 | 0.00 |"), "{told}");
    assert!(told.contains("| finish rate, at most 1 or at least 99 % | points | "), "{told}");
    // A device that is slower than its profile misses the target of nothing at all.
    let profile = std::fs::read_dir(at.join("v")).unwrap().find_map(|e| {
        let name = e.unwrap().file_name().to_string_lossy().into_owned();
        name.starts_with("profile-").then_some(name)
    });
    let text_of = std::fs::read_to_string(at.join("smoke.toml")).unwrap();
    let biased = text_of
        .replace("c1 = 0.3 } }", "c1 = 0.3 } }\nnoise = { bias = 0.1 }")
        .replace("[profiling]", &format!("profile = \"v/{}\"\n[profiling]", profile.unwrap()))
        .replace("virtual_clock = true", "virtual_clock = true\nnote = \"A slow device.\"");
    std::fs::write(at.join("biased.toml"), biased).unwrap();
    let output = replay(at, &["validate", "biased.toml", "--out", "b"]);
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
    let told = text(&output.stdout);
    assert!(told.contains("**Not validated a priori: 0 of 28 runs are valid"), "{told}");
    assert!(told.contains("the device changed by +10.00 % since it was profiled"), "{told}");
    assert!(told.contains("If every run had counted, 14 stable points"), "{told}");
    assert!(told.contains("run 2 (measured "), "{told}");
    let figure = std::fs::read_to_string(at.join("b/finish-rate.svg")).unwrap();
    assert!(figure.contains("no run is valid"), "the figure says so too");
    let summed = done(at, &["validated", "."]);
    let rows: Vec<&str> = summed.lines().filter(|l| l.ends_with('|')).skip(2).collect();
    assert!(
        rows[0].starts_with("| b | waits | 14 | 28 | 28 of 28 | 0 | 0 | - | - | - | 0 |"),
        "{summed}"
    );
    assert!(
        rows[1].starts_with("| v |") && rows[2].starts_with("| all | waits | 28 | 56 | "),
        "{summed}"
    );
    refused(
        at,
        &["validated", "v", "v/points"],
        &["FOLDER", "v/points", "where no campaign has results"],
    );
    std::fs::write(at.join("v/points/damaged.json"), "").unwrap();
    std::fs::create_dir(at.join("v/points/odd")).unwrap();
    std::fs::write(at.join("v/points/odd/result.json"), "{").unwrap();
    refused(at, &["validated", "v"], &["odd/result.json", "line 1", "remove the file"]);
}

/// A report needs no device: what was measured elsewhere is read here, and the kept reports are what the program
/// writes.
#[test]
fn the_kept_reports_are_written_again_where_there_is_no_such_device() {
    let place = tempfile::tempdir().unwrap();
    let at = place.path();
    for (name, status) in [
        ("gpu-timed", 1),
        ("gpu-compute", 1),
        ("gpu-encoder", 1),
        ("gpu-graphs", 1),
        ("gpu-schedule", 1),
        ("gpu-cold", 0),
        ("gpu-torch-resnet", 1),
        ("gpu-torch-bert", 1),
        ("gpu-two", 1),
        ("gpu-unequal", 1),
        ("cpu-small", 1),
        ("cpu-medium", 1),
        ("cpu-large", 1),
        ("emulated-busy", 1),
    ] {
        let shipped = campaigns().join("../../replay/validated").join(name);
        copy(&shipped, &at.join(name));
        let campaign = format!("{}.toml", name.trim_end_matches("-busy"));
        let campaign = campaigns().join(campaign).display().to_string();
        let args = ["validate", &campaign, "--any-profile", "--max-minutes", "0", "--out", name];
        let output = replay(at, &args);
        assert_eq!(output.status.code(), Some(status), "{}", text(&output.stderr));
        for file in ["validation.md", "validation.csv", "finish-rate.svg"] {
            let read = |folder: &Path| std::fs::read_to_string(folder.join(file)).unwrap();
            let fresh = read(&at.join(name)) == read(&shipped);
            assert!(fresh, "{name}/{file} is not what `{}` writes", args.join(" "));
        }
    }
}

pub fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let to = to.join(entry.file_name());
        match entry.path().is_dir() {
            true => copy(&entry.path(), &to),
            false => std::fs::copy(entry.path(), to).map(drop).unwrap(),
        }
    }
}

#[test]
fn it_names_its_commit_and_has_pages_and_completions_for_every_command() {
    let home = tempfile::tempdir().unwrap();
    let at = home.path();
    let said = done(at, &["--version"]);
    let begin = format!("orrery-replay {} (commit ", env!("CARGO_PKG_VERSION"));
    let end = format!(", results {})\n", orrery_results::RESULT_VERSION);
    assert!(said.starts_with(&begin) && said.ends_with(&end), "{said}");
    let commands = [
        "devices",
        "profile",
        "run",
        "compare",
        "retrace",
        "validate",
        "validated",
        "schema",
        "completions",
        "man",
    ];
    let pages = done(at, &["man", "--out", "pages"]);
    assert_eq!(pages.lines().count(), commands.len() + 1, "{pages}");
    let bash = done(at, &["completions", "bash"]);
    for command in commands {
        assert!(at.join(format!("pages/orrery-replay-{command}.1")).is_file(), "{command}");
        assert!(bash.contains(command), "{command}");
    }
    std::fs::write(at.join("file"), "").unwrap();
    refused(at, &["man", "--out", "file"], &["file", "remedy:"]);
}

#[test]
fn the_program_has_no_polars() {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_string());
    let args = ["tree", "--offline", "-p", "orrery-replay", "-e", "normal", "--prefix", "none"];
    let output = Command::new(cargo)
        .args(args)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("cargo runs");
    let tree = text(&output.stdout);
    assert!(tree.contains("cudarc") && tree.contains("orrery-sim"), "{}", text(&output.stderr));
    assert!(!tree.contains("polars"), "{tree}");
}

#[test]
fn a_file_of_another_kind_says_which_command_it_is_for() {
    let home = home();
    let at = home.path();
    for (args, words) in [
        (&["validate", "one-model.toml"][..], ["found a scenario", "orrery run one-model.toml"]),
        (
            &["run", "smoke.toml", "--policy", "fifo", "--out", "x"],
            ["found a campaign", "orrery-replay validate smoke.toml"],
        ),
    ] {
        refused(at, args, &words);
    }
}

/// Found by a stranger: the loads were dropped, and 0 % was validated against 0 %.
#[test]
fn a_scenario_whose_plan_is_more_than_batches_is_not_rerun() {
    let home = home();
    let at = home.path();
    let read = |name: &str| std::fs::read_to_string(campaigns().join(name)).unwrap();
    let write = |name: &str, text: String| std::fs::write(at.join(name), text).unwrap();
    let scales = "\n[autoscale]\nevery_s = 0.2\n";
    write("cold.toml", read("cold-starts.toml"));
    write("scales.toml", read("one-model.toml") + scales);
    let plan =
        read("smoke.toml").replace("\nvirtual_clock", "\nmode = \"schedule\"\nvirtual_clock");
    for (scenario, key) in [("cold", "`memory_pages`"), ("scales", "`autoscale`")] {
        write("plan.toml", plan.replace("one-model.toml", &format!("{scenario}.toml")));
        let words = ["mode", key, "use mode `live`"];
        refused(at, &["validate", "plan.toml", "--out", "v"], &words);
        let scenario = format!("{scenario}.toml");
        let run = ["run", &scenario, "--mode", "schedule", "--schedule", "x.log", "--out", "r"];
        refused(at, &run, &words);
    }
}

#[test]
#[cfg(target_os = "linux")]
fn a_stdout_that_is_closed_is_an_error() {
    let mut command = Command::new("sh");
    command.args(["-c", "exec \"$0\" devices >&-", env!("CARGO_BIN_EXE_orrery-replay")]);
    let output = command.output().expect("a shell");
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).starts_with("error: stdout: it is closed"));
}

/// Panics where a file has a key that its schema does not know: an editor would mark it.
fn known_keys(value: &toml::Value, schema: &Value, root: &Value, at: &str) {
    let target = [&schema["$ref"], &schema["allOf"][0]["$ref"], &schema["anyOf"][0]["$ref"]];
    if let Some(name) = target.iter().find_map(|t| t.as_str()) {
        let name = name.trim_start_matches("#/definitions/");
        return known_keys(value, &root["definitions"][name], root, at);
    }
    match value {
        toml::Value::Array(items) => {
            items.iter().for_each(|item| known_keys(item, &schema["items"], root, at));
        }
        toml::Value::Table(table) if schema["properties"].is_object() => {
            for (key, value) in table {
                let known = &schema["properties"][key];
                assert!(!known.is_null(), "{at}: `{key}` is not in the schema");
                known_keys(value, known, root, &format!("{at}.{key}"));
            }
        }
        _ => {}
    }
}

#[test]
fn schemas_know_every_key_of_the_shipped_files() {
    let home = home();
    let profiles = campaigns().join("../../replay/validated/emulated");
    for (kind, folder, mark) in
        [("campaign", campaigns(), "[[grid]]"), ("profile", profiles, "orrery_profile = ")]
    {
        let schema: Value =
            serde_json::from_str(&done(home.path(), &["schema", kind])).expect("JSON");
        let mut seen = 0;
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_none_or(|e| e != "toml") {
                continue;
            }
            let text = std::fs::read_to_string(&path).unwrap();
            if text.contains(mark) {
                let file: toml::Value = toml::from_str(&text).expect("TOML");
                known_keys(&file, &schema, &schema, &path.display().to_string());
                if kind == "campaign" {
                    Campaign::load(&path, None, false)
                        .unwrap_or_else(|e| panic!("{}: {e}", path.display()));
                }
                seen += 1;
            }
        }
        assert!(seen >= 3, "{kind}: only {seen} files were looked at");
    }
}

/// A profile that is 8 % off at points that it did not see, and what may be done with it.
#[test]
fn a_profile_that_is_not_fit_is_refused_unless_it_is_asked_for() {
    let home = home();
    let at = home.path();
    // A curve with a step that no law has.
    let rows = "[[1, 1000.0], [2, 1900.0], [3, 4000.0], [4, 4100.0], [8, 8000.0], [16, 16000.0]]";
    let device = format!("[[emulated.model]]\nname = \"*\"\ncurve = {{ table = {rows} }}\n");
    std::fs::write(at.join("device.toml"), device).unwrap();
    let args = ["profile", "short.toml", "--device-config", "device.toml", "--sizes", "1,2,4,8,16"];
    let args = [&args[..], &["--held-out", "3", "--virtual-clock", "--out", "p.toml"]].concat();
    let output = replay(at, &args);
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
    let told = text(&output.stdout);
    assert!(
        told.contains("verdict: NOT FIT") && told.contains("points that it did not see"),
        "{told}"
    );
    let run = ["run", "short.toml", "--policy", "orloj", "--profile", "p.toml", "--virtual-clock"];
    let run = [&run[..], &["--device-config", "device.toml", "--out", "r"]].concat();
    refused(at, &run, &["p.toml", "verdict", "--any-profile"]);
    let told = done(at, &[&run[..], &["--any-profile"]].concat());
    assert!(told.contains("note: p.toml is not fit to predict with: the latency model"), "{told}");
    let told = done(at, &["compare", "r/predicted.log", "r"]);
    assert!(told.contains("note: p.toml is not fit to predict with: the latency model"), "{told}");
    // One of another device.
    let other = std::fs::read_to_string(at.join("p.toml")).unwrap();
    let from = other.find("verdict = [").unwrap();
    let to = from + other[from..].find(']').unwrap() + 1;
    let other = other.replace(&other[from..to], "verdict = []");
    let run = [&run[..run.len() - 1], &["r2"]].concat();
    let edited = |from: &str, to: &str, words: &[&str]| {
        assert!(other.contains(from), "{from}");
        std::fs::write(at.join("p.toml"), other.replacen(from, to, 1)).unwrap();
        refused(at, &run, &[&["p.toml"], words].concat());
    };
    edited(
        "device = \"emulated\"",
        "device = \"cuda:0\"",
        &["cuda:0", "emulated", "--any-profile"],
    );
    let launch = "[overhead.launch]\nmedian_us = 0.0";
    for us in ["nan", "-500.0", "1e30"] {
        let to = format!("[overhead.launch]\nmedian_us = {us}");
        edited(launch, &to, &["key `overhead.launch.median_us`", "from 0 to an hour"]);
    }
    edited("\nsigma = ", "\nsigma = 9", &["key `model.m.noise.sigma`"]);
    std::fs::write(at.join("p.toml"), &other).unwrap();
    // By a clock that times no device, and twice.
    let wall: Vec<&str> = run.iter().copied().filter(|arg| *arg != "--virtual-clock").collect();
    refused(at, &wall, &["p.toml", "key `clock`", "a virtual clock", "the run's: the wall clock"]);
    refused(
        at,
        &[&run[..], &["--profile", "p.toml"]].concat(),
        &["p.toml, one more of kind `gpu`"],
    );
}

/// A core's profile is of the networks that it ran.
#[test]
fn a_profile_is_of_a_device_a_clock_and_what_runs_there() {
    let folder = campaigns().join("../validated/cpu-large");
    let profile = ProfileFile::read(&folder.join("profile-b3da7edf.toml")).unwrap();
    let against = |clocks, change: fn(&mut Description)| {
        let mut device = profile.device.clone();
        change(&mut device);
        let all = profile.against(clocks, Some(&device)).into_iter();
        all.map(|(key, found, _)| format!("{key}: {found}")).collect::<Vec<_>>().join("; ")
    };
    let wall = Clocks::Wall(1);
    assert_eq!(against(wall, |_| ()), "");
    assert_eq!(against(Clocks::Wall(20), |_| ()), "clock: measured by the wall clock");
    assert_eq!(against(Clocks::Virtual, |_| ()), "");
    let name = against(wall, |d| d.name = "another".to_string());
    assert!(name.starts_with("device: measured on cpu:1, "), "{name}");
    let runs = |d: &mut Description| {
        let fact = d.facts.iter_mut().find(|(fact, _)| fact == "networks").unwrap();
        fact.1 = "another".to_string();
    };
    assert!(against(wall, runs).starts_with("device: measured on "), "{}", against(wall, runs));
    // Older ones of a worker do not say.
    assert_eq!(against(wall, |d| d.facts.clear()), "");
}

#[test]
fn a_core_that_is_not_there_and_a_clock_that_it_cannot_have_are_refused() {
    let home = home();
    let at = home.path();
    std::fs::copy(campaigns().join("sentences.toml"), at.join("sentences.toml")).unwrap();
    let encoder = "layers = 1, heads = 2, hidden = 16, max_len = 64, max_batch = 16";
    let config = |lengths: &str| {
        let workload = format!("{{ encoder = {{ {encoder}, lengths = {lengths} }} }}");
        std::fs::write(at.join("cpu.toml"), format!("[[cpu.models]]\nworkload = {workload}\n"))
            .unwrap();
    };
    let on = |device| {
        ["run", "sentences.toml", "--out", "r", "--device-config", "cpu.toml", "--device", device]
    };
    config("[[1, 1.0], [64, 64.0]]");
    refused(at, &on("cpu:999"), &["cpu:999", "was given"]);
    refused(at, &on("cpu:0"), &["controller"]);
    refused(at, &on("gpu"), &["`cpu:N`"]);
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    if cores < 2 {
        return;
    }
    refused(at, &[&on("cpu")[..], &["--virtual-clock"]].concat(), &["--virtual-clock", "cpu:1"]);
    refused(at, &[&on("cpu")[..], &["--time-scale", "3"]].concat(), &["--time-scale 3"]);
    // Sentences have up to 50 tokens.
    config("[[1, 1.0], [32, 32.0]]");
    refused(at, &on("cpu"), &["lengths", "cut in silence"]);
    config("[]");
    refused(at, &on("cpu"), &["`lengths` is empty"]);
    std::fs::write(at.join("cpu.toml"), "[emulated]\n").unwrap();
    refused(at, &on("cpu"), &["cpu.models", "encoder"]);
}

/// A run of seconds on a core: the whole way with real computation. Its figures are not looked at.
#[test]
#[cfg_attr(not(has_two_cores), ignore = "one core when the tests were compiled")]
fn a_core_runs_a_scenario() {
    let home = home();
    let at = home.path();
    let sentences = std::fs::read_to_string(campaigns().join("sentences.toml")).unwrap();
    let short = sentences.replace("duration_s = 30.0", "duration_s = 3.0");
    std::fs::write(at.join("sentences.toml"), short).unwrap();
    let encoder = "layers = 2, heads = 2, hidden = 32, max_len = 64, max_batch = 16, lengths = [[1, 1.0], [64, 64.0]]";
    let workload = format!("workload = {{ encoder = {{ {encoder} }} }}");
    std::fs::write(at.join("cpu.toml"), format!("[[cpu.models]]\n{workload}\n")).unwrap();
    let device = ["--device", "cpu", "--device-config", "cpu.toml"];
    let profile =
        ["profile", "sentences.toml", "--rounds", "3", "--noise-s", "0.2", "--stall-s", "0.2"];
    let output = replay(at, &[&profile[..], &device, &["--out", "p.toml"]].concat());
    // A busy machine may not be fit to predict with.
    assert!(output.status.code().is_some_and(|c| c < 2), "{}", text(&output.stderr));
    let told = text(&output.stdout);
    assert!(told.contains("cpu:1") && told.contains("sigma") && told.contains("drift"), "{told}");
    let run =
        ["run", "sentences.toml", "--policy", "orloj", "--profile", "p.toml", "--any-profile"];
    let output = replay(at, &[&run[..], &device, &["--out", "r"]].concat());
    assert!(output.status.code().is_some_and(|c| c < 2), "{}", text(&output.stderr));
    let actions = std::fs::read_to_string(at.join("r/actions.csv")).unwrap();
    let mut reader = csv::Reader::from_reader(actions.as_bytes());
    let head = reader.headers().unwrap().clone();
    let column = |name: &str| head.iter().position(|h| h == name).unwrap();
    let (on_device, away) = (column("device_ns"), column("away_ns"));
    let (start, end) = (column("start_ns"), column("end_ns"));
    let (mut rows, mut torn, mut still) = (0, 0, 0);
    for row in reader.records() {
        let row = row.unwrap();
        let ns = |i: usize| row[i].parse::<u64>().unwrap();
        // The clock of a stolen core may stand still for a short batch.
        still += u32::from(ns(on_device) == 0);
        // Two clocks, one read after the other; a busy machine may stop the thread between them.
        let apart = (ns(on_device) + ns(away)).abs_diff(ns(end) - ns(start));
        torn += u32::from(apart >= 1_000_000);
        rows += 1;
    }
    // A busy machine runs fewer.
    assert!(rows > 5 && 10 * torn <= rows, "{torn} of {rows}");
    assert!(2 * still < rows, "it computes: {still} of {rows} took no time");
    // Found on a GPU: a batch of 17 ended a run in its middle.
    let run = ["run", "sentences.toml", "--policy", "symphony", "--out", "s"];
    let words = ["--policy", "17 requests of `encoder`", "at most 16", "max_batch=16"];
    refused(at, &[&run[..], &device].concat(), &words);
    assert!(!at.join("s").exists());
}

#[test]
fn a_folder_of_something_else_is_not_written_into() {
    let home = home();
    let at = home.path();
    std::fs::create_dir(at.join("mine")).unwrap();
    std::fs::write(at.join("mine/thesis.txt"), "text").unwrap();
    let args = ["validate", "smoke.toml", "--out", "mine", "--quiet"];
    refused(at, &args, &["mine", "something else", "--force"]);
    done(at, &[&args[..], &["--force"]].concat());
    // The same campaign goes on there; another does not.
    done(at, &args);
    let other = std::fs::read_to_string(at.join("smoke.toml")).unwrap();
    std::fs::write(at.join("other.toml"), other.replace("\"smoke\"", "\"other\"")).unwrap();
    let output = replay(at, &["validate", "other.toml", "--out", "mine", "--quiet"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("# Validation: smoke"), "{}", text(&output.stderr));
}

#[test]
fn a_quick_campaign_takes_what_its_table_says_and_validates_nothing() {
    let home = home();
    let at = home.path();
    refused(at, &["validate", "smoke.toml", "--quick", "--out", "v"], &["quick", "`[quick]`"]);
    let whole = std::fs::read_to_string(at.join("smoke.toml")).unwrap();
    let quick = "[quick]\nseconds = 2.0\nrepetitions = 1\npolicies = [\"nexus\"]\nloads = [1.2]\n\n[emulated]";
    std::fs::write(at.join("q.toml"), whole.replace("[emulated]", &quick.replace("1.2", "9.9")))
        .unwrap();
    refused(at, &["validate", "q.toml", "--quick", "--out", "v"], &["quick", "no point"]);
    std::fs::write(at.join("q.toml"), whole.replace("[emulated]", quick)).unwrap();
    let told = done(at, &["validate", "q.toml", "--quick", "--out", "v", "--quiet"]);
    assert!(told.contains("\n# Validation: smoke (quick)\n"), "{told}");
    assert!(told.contains("1 of 1 points are finished; 1 runs count"), "{told}");
    assert!(told.contains("**Not validated a priori: this is a quick run"), "{told}");
    assert!(at.join("v/finish-rate.svg").is_file());
}

#[cfg(unix)]
#[test]
fn a_signal_ends_a_campaign_with_a_report() {
    let home = home();
    let at = home.path();
    // In real time, so that it is still going on.
    let text_of = std::fs::read_to_string(at.join("smoke.toml")).unwrap();
    let slow = text_of
        .replace("virtual_clock = true\n", "")
        .replace("seconds = 3.0", "seconds = 1.5")
        .replace("rounds = 3", "rounds = 3\nmax_s = 1.0\nnoise_batches = 0\nstall_s = 0.0")
        .replace("[emulated]", "[quick]\nseconds = 1.5\n\n[emulated]");
    std::fs::write(at.join("slow.toml"), slow).unwrap();
    let mut child = Command::new(env!("CARGO_BIN_EXE_orrery-replay"))
        .args(["validate", "slow.toml", "--quick", "--out", "v"])
        .current_dir(at)
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let begun = || std::fs::read_dir(at.join("v/points")).is_ok_and(|mut all| all.next().is_some());
    while !begun() && child.try_wait().unwrap().is_none() {
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    let pid = nix::unistd::Pid::from_raw(child.id() as i32);
    nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGTERM).unwrap();
    let output = child.wait_with_output().unwrap();
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("stopping after this run") && said.contains("points are left"), "{said}");
    let report = std::fs::read_to_string(at.join("v/validation.md")).unwrap();
    assert!(!report.contains("12 of 12 points are finished"), "{report}");
}
