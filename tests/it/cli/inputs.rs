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

/// Writes each fault into its file, runs its command, and wants it refused with all that is said. A line of the table:
/// file, text, what takes its place (`\\n` ends a line), command, what is said, between bars.
fn all_refused(table: &str) {
    let place = place();
    for line in table.trim().lines() {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        let &[file, from, to, command, ref says @ ..] = &cells[..] else { panic!("{line}") };
        let sound = place.read(file);
        let [from, to] = [from, to].map(|text| text.replace("\\n", "\n"));
        assert!(sound.contains(&from), "{file}: {from}");
        place.write(file, sound.replacen(&from, &to, 1));
        let words: Vec<&str> = command.split(' ').chain([file]).collect();
        place.run(&words).refused(says);
        place.write(file, sound);
    }
}

#[test]
fn a_count_beyond_reason_is_refused_with_file_line_and_range() {
    let table = r#"
pools.toml | 2-0-1-0 | 2147483648-0-1-0 | reproduce | pools.toml:12: key `system[0].pool` | RANGE
pools.toml | 2-0-1-0 | 4000-0-1-96 | reproduce | pools.toml:12: key `system[0].pool` | RANGE
pools.toml | seeds = 1 | seeds = 4294967295 | reproduce | pools.toml:4: key `seeds` | RANGE
pools.toml | runs = 1 | runs = 4294967295 | reproduce | pools.toml:17: key `system[1].search.runs` | RANGE
plan.toml | = 8 | = 2147483648 | plan | plan.toml:7: key `instance[0].count_max` | RANGE
s.toml | seeds = 1 | seeds = 1000001 | sweep | s.toml:2: key `seeds` | RANGE
s.toml | seeds = 1 | seeds = 1\nmax_seeds = 4294967295 | sweep | s.toml:3: key `max_seeds` | RANGE
baseline.toml | seeds = 1 | seeds = 1000001 | regress | baseline.toml:4: key `rerun.seeds` | RANGE
baseline.toml | seeds = 1 | seeds = 0 | regress | baseline.toml:4: key `rerun.seeds` | RANGE
table.toml | seeds = 2 | seeds = 4294967295 | reproduce | table.toml:3: key `seeds` | RANGE
study.toml | seeds = 1 | seeds = 4294967295 | reproduce | study.toml:5: key `seeds` | RANGE
a.toml | [[app]] | [[device]]\ncount = 2147483648\n[[app]] | run | key `device[0].count` | RANGE
a.toml | = 100.0 | = 100.0\ncopies = 4294967295 | run | a.toml:7: key `model[0].copies` | a number from 1 to 16384"#;
    all_refused(&table.replace("RANGE", "a whole number from"));
}

#[test]
fn a_message_names_the_file_at_fault_and_its_line() {
    all_refused(
        r#"
study.toml | slo_ms = 100.0 | slo_ms = -1.0 | reproduce | study.toml:10: key `model[0].slo_ms`
study.toml | poisson = { | poison = { | reproduce | study.toml:17:
study.toml | requests = 100 | request = 100 | reproduce | study.toml:18:
study.toml | = "fifo"\n[[axis]] | = "fif"\n[[axis]] | reproduce | study.toml:23: key `system[0].policy`
study.toml | of = "fifo" | of = "lifo" | reproduce | study.toml:29: key `claim[0].of`
study.toml | poisson.rate_per_s | poisson.rate | reproduce | study.toml:26: key `arrivals.poisson.rate`
study.toml | [10.0, 20.0] | [] | reproduce | study.toml:26: key `axis[0].values`
s.toml | model.bert.slo_ms | model.brt.slo_ms | sweep | s.toml:6: key `model.brt.slo_ms`
s.toml | [60.0 | [-60.0 | sweep | s.toml:6: key `model[0].slo_ms`
s.toml | [60.0 | [0.001 | sweep | s.toml, at slo_ms=0.001: a.toml:6: key `model[0].slo_ms`
s.toml | values | valus | sweep | s.toml:6:
pools.toml | "upper-bound"\npool | "bound"\npool | reproduce | pools.toml:11: key `system[0].policy`
pools.toml | 2-0-1-0 | 2-0-1 | reproduce | pools.toml:12: key `system[0].pool`
table.toml | [2.0] | [-2.0] | reproduce | table.toml:1: key `slo_x_p99`
"#,
    );
}

#[test]
fn a_row_of_a_workload_that_does_not_fit_is_named_with_its_line() {
    let place = Place::with("a.toml", small_scenario("workload = { file = \"w.csv\" }"));
    let header = "arrival_ns,app,model,size,slo_ns,alone_ns";
    let good = "10,0,0,1,,5000\n";
    for (row, says) in [
        (
            "20,7,0,1,,5",
            "line 3: column `app`: found `7`; allowed: an application of the scenario, 0 to 1",
        ),
        (
            "20,1,4,1,,5",
            "line 3: column `model`: found `4`; allowed: 0, the model of application 1",
        ),
        ("20,0,0,x,,5", "line 3: column `size`: found `x`"),
    ] {
        place.write("w.csv", format!("{header}\n{good}{row}\n"));
        place.run(&["run", "a.toml", "--policy", "fifo"]).refused(&["w.csv", says]);
        place.write("w.csv", format!("{header}\n{row}\n{good}"));
        let says = says.replace("line 3", "line 2");
        place.run(&["run", "a.toml"]).refused(&[
            "a.toml:22: key `arrivals.workload`",
            "w.csv",
            &says,
        ]);
    }
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

#[test]
fn a_file_of_another_kind_says_which_command_it_is_for() {
    let place = place();
    place.write("shipped.toml", "extends = \"symphony-table-2\"\nid = \"x\"\n");
    let run = ["run", "a.toml", "--policy", "fifo", "--log", "a.log", "--details", "--out", "t"];
    place.run(&run).ok();
    place.run(&["trace", "record", "a.toml", "--out", "w.csv"]).ok();
    place.run(&["-q", "sweep", "s.toml", "--out", "r"]).ok();
    for (args, says) in [
        (&["run", "s.toml"][..], "orrery sweep s.toml"),
        (&["goodput", "plan.toml"], "orrery plan plan.toml"),
        (&["run", "study.toml"], "orrery reproduce study.toml"),
        (&["run", "shipped.toml"], "orrery reproduce shipped.toml"),
        (&["run", "pools.toml"], "orrery reproduce pools.toml"),
        (&["run", "baseline.toml"], "orrery regress baseline.toml"),
        (&["run", "a.log"], "orrery log explain a.log"),
        (&["run", "w.csv"], "orrery trace inspect w.csv"),
        (&["run", "t/small.csv"], "orrery plot t/small.csv"),
        (&["run", "r/manifest.jsonl"], "orrery sweep merge DIR"),
        (&["sweep", "plan.toml"], "orrery plan plan.toml"),
        (&["sweep", "a.toml"], "orrery run a.toml"),
        (&["plan", "a.toml"], "orrery run a.toml"),
        (&["plan", "s.toml"], "orrery sweep s.toml"),
        (&["reproduce", "a.toml"], "orrery run a.toml"),
        (&["reproduce", "s.toml"], "orrery sweep s.toml"),
        (&["regress", "s.toml"], "orrery sweep s.toml"),
        (&["plot", "a.log", "--out", "x.svg"], "orrery log explain a.log"),
        (&["plot", "a.toml", "--out", "x.svg"], "orrery run a.toml"),
        (&["log", "audit", "a.toml"], "orrery run a.toml"),
        (&["log", "explain", "t/small.csv", "--worst", "1"], "orrery plot t/small.csv"),
        (&["log", "timeline", "w.csv"], "orrery trace inspect w.csv"),
    ] {
        let file = args.iter().find(|arg| arg.contains('.')).expect("a file");
        place.run(args).refused(&[file, "key `FILE`: found ", says]);
    }
}

#[test]
fn shepherd_wants_devices_that_can_stop_a_batch() {
    let place = place();
    let says = ["shepherd", "a device that cannot", "can_preempt = true"];
    for args in [
        &["run", "a.toml", "--policy", "shepherd"][..],
        &["run", "a.toml", "--policy", "shepherd[preset=paper]", "--log", "x.log"],
    ] {
        place.run(args).refused(&says);
    }
    let scenario = place.read("a.toml").replace("\"fifo\"]", "\"shepherd\"]");
    place.write("a.toml", &scenario);
    place.run(&["run", "a.toml"]).refused(&[&says[..], &["a.toml:2: key `policies[2]`"]].concat());
    place.run(&["goodput", "a.toml"]).refused(&says);
    place.run(&["plan", "plan.toml"]).refused(&says);
    place.write("plan.toml", format!("{PLAN}can_preempt = true\n"));
    let device = "[[device]]\ncan_preempt = true\n\n[[app]]";
    place.write("a.toml", scenario.replacen("[[app]]", device, 1));
    place.run(&["run", "a.toml"]).ok();
    place.run(&["run", "a.toml", "--policy", "shepherd"]).ok();
}
