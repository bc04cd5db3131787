//! Inputs that hurt: files without end, counts beyond reason, values without end, files of another
//! kind; and messages that name the file at fault and its line.

use super::process::Place;
use super::{POISSON, small_scenario, small_table};

const SWEEP: &str = "scenario = \"a.toml\"\nseeds = 1\npolicies = [\"fifo\"]\n\
    [[axis]]\nkey = \"model.bert.slo_ms\"\nvalues = [60.0, 200.0]\n";
const PLAN: &str = "pools = \"homogeneous\"\ngoal = \"carry-load\"\nscenario_file = \"a.toml\"\n\
    [[instance]]\nkind = \"gpu\"\nprice_usd_per_hour = 1.0\ncount_max = 8\n";
const POOLS: &str = "id = \"mine\"\ntitle = \"t\"\nsource = \"s\"\nseeds = 1\n\
    show = [\"allowable_throughput_per_s\"]\npool = {}\n\
    axis = [{ key = \"model\", values = [\"rm2\"] }]\n\n\
    [[system]]\nname = \"c\"\npolicy = \"upper-bound\"\npool = \"2-0-1-0\"\n\n\
    [[system]]\nname = \"s\"\npolicy = \"upper-bound\"\n\
    search = { algorithm = \"random\", runs = 1 }\n";
const BASELINE: &str = "result_version = 7\n[rerun]\nscenario = \"a.toml\"\nseeds = 1\n\
    policies = [\"fifo\"]\nmetrics = [\"finish_rate\"]\n";
const STUDY: &str = "id = \"mine\"\ntitle = \"t\"\nsource = \"s\"\nexpected_s = 1\nseeds = 1\n\
    show = [\"finish_rate\"]\nscenario = '''\n[[model]]\nname = \"m\"\nslo_ms = 100.0\n\
    latency = { affine = { alpha_ms = 1.0, beta_ms = 4.0 } }\n[[app]]\nname = \"a\"\nmodel = \"m\"\n\
    time = { constant = { ms = 5.0 } }\n[arrivals]\npoisson = { rate_per_s = 50.0 }\n\
    requests = 100\n'''\n[[system]]\nname = \"fifo\"\npreset = \"reference\"\npolicy = \"fifo\"\n\
    [[axis]]\nkey = \"arrivals.poisson.rate_per_s\"\nvalues = [10.0, 20.0]\n\
    [[claim]]\ntext = \"c\"\nof = \"fifo\"\nat_least = 0.5\n";

/// A file of each kind that users write.
fn place() -> Place {
    let place = Place::with("a.toml", small_scenario(POISSON));
    let table = small_table("").replace("= 300", "= 50");
    for (name, text) in [
        ("s.toml", SWEEP),
        ("plan.toml", PLAN),
        ("pools.toml", POOLS),
        ("baseline.toml", BASELINE),
        ("study.toml", STUDY),
        ("table.toml", &table),
    ] {
        place.write(name, text);
    }
    place
}

#[test]
fn every_file_of_these_tests_is_sound() {
    let place = place();
    place.run(&["reproduce", "pools.toml"]).ok();
    place.run(&["reproduce", "study.toml"]).ok();
    place.run(&["reproduce", "table.toml"]).ok();
    place.run(&["-q", "sweep", "s.toml", "--out", "r"]).ok();
    place.run(&["regress", "baseline.toml", "--bless"]).ok();
    place.run(&["plan", "plan.toml"]).ok();
}

#[test]
#[cfg(target_os = "linux")]
fn a_file_without_end_is_an_error_at_once() {
    let place = place();
    std::os::unix::fs::symlink("/dev/zero", place.path("zero.toml")).expect("a link");
    place.write("plan.toml", PLAN.replace("a.toml", "zero.toml"));
    for args in [
        &["run", "zero.toml"][..],
        &["goodput", "zero.toml"],
        &["sweep", "zero.toml"],
        &["plan", "zero.toml"],
        &["plan", "plan.toml"],
        &["reproduce", "zero.toml"],
        &["regress", "zero.toml"],
        &["plot", "zero.toml", "--out", "x.svg"],
        &["trace", "record", "zero.toml", "--out", "x.csv"],
    ] {
        place.run(args).refused(&["zero.toml", "more than 64 MiB", "remedy:"]);
    }
    for args in [&["log", "audit", "zero.toml"][..], &["trace", "inspect", "zero.toml"]] {
        place.run(args).refused(&["zero.toml"]);
    }
    place.write("s.toml", SWEEP.replace("a.toml", "zero.toml"));
    place.run(&["sweep", "s.toml"]).refused(&["zero.toml", "more than 64 MiB"]);
}

#[test]
fn a_plan_and_an_entry_of_a_sweep_have_the_same_limit() {
    let place = place();
    place.run(&["-q", "sweep", "s.toml", "--out", "r"]).ok();
    let swell = |path: &std::path::Path| {
        let file = std::fs::File::options().write(true).open(path).expect("a file");
        file.set_len(65 << 20).expect("a file with a hole");
    };
    for folder in std::fs::read_dir(place.path("r/cells")).expect("folders") {
        let cells = std::fs::read_dir(folder.expect("a folder").path()).expect("cells");
        cells.for_each(|cell| swell(&cell.expect("an entry").path()));
    }
    place.run(&["sweep", "merge", "r"]).failed_a_check_saying(&["2 of 2 cells missing", "64 MiB"]);
    swell(&place.path("r/manifest.jsonl"));
    place.run(&["sweep", "merge", "r"]).refused(&["r/manifest.jsonl", "64 MiB"]);
}

#[test]
fn a_long_value_is_cut_in_the_message() {
    let place = place();
    let long = "x".repeat(20_000);
    for (file, from, args) in [
        ("a.toml", "name = \"bert\"", &["run", "a.toml"][..]),
        ("a.toml", "warm", &["run", "a.toml"]),
        ("a.toml", "orloj", &["run", "a.toml"]),
        ("s.toml", "model.bert.slo_ms", &["sweep", "s.toml"]),
        ("plan.toml", "homogeneous", &["plan", "plan.toml"]),
        ("pools.toml", "2-0-1-0", &["reproduce", "pools.toml"]),
        ("study.toml", "of = \"fifo\"", &["reproduce", "study.toml"]),
        ("table.toml", "one-modal", &["reproduce", "table.toml"]),
    ] {
        let sound = place.read(file);
        let to = match from {
            "name = \"bert\"" | "of = \"fifo\"" => from.replace(['t', 'o'], &long),
            _ => long.clone(),
        };
        let text = if sound.contains(from) {
            sound.replacen(from, &to, 1)
        } else {
            format!("{to} = 1\n{sound}")
        };
        place.write(file, text);
        let output = place.command(args).output().expect("a process");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{file}: {said}");
        let is_cut = said.contains("xxx...") || said.contains(" characters; allowed: at most");
        assert!(said.len() < 3_000 && is_cut, "{file}: {} bytes: {said:.500}", said.len());
        place.write(file, sound);
    }
    let output = place.command(&["run", "a.toml", "--policy", &long]).output().expect("a process");
    assert!(output.stderr.len() < 1_000);
}
