//! `orrery plan`: what leaves, in which form, with which exit code.

use super::process::Place;
use super::sweep::tree;
use orrery_results::{Row, read_csv};

pub(super) const SMALL: &str = r#"pools = "heterogeneous"
goal = "carry-load"
seeds = 2
requests_per_model = 1000
policies = ["ribbon"]

[[instance]]
kind = "g4dn.xlarge"
price_usd_per_hour = 0.526
count_max = 3

[[instance]]
kind = "r5n.large"
price_usd_per_hour = 0.149
count_max = 4

[scenario]
arrivals = { poisson = { rate_per_s = 20.0 } }

[[scenario.zoo]]
name = "kairos"
models = ["rm2"]
"#;

#[test]
fn an_answer_leaves_as_table_summary_figure_rows_and_scenario() {
    let place = Place::with("p.toml", SMALL);
    let args = ["plan", "p.toml", "--out", "o", "--plot", "f.svg", "--markdown", "s.md"];
    let out = place.run(&[&args[..], &["--what-if", "load=1.5"]].concat()).ok();
    for part in ["plan p\n", "rm2", "g4dn.xlarge", "What breaks first", "confidence", "load=1.5"] {
        assert!(out.contains(part), "no `{part}` in:\n{out}");
    }
    assert!(place.read("f.svg").contains("</svg>"));
    let summary = place.read("s.md");
    for part in ["# Plan: p", "## What breaks first", "## The answer", "## How sure this is"] {
        assert!(summary.contains(part), "no `{part}` in:\n{summary}");
    }
    assert_eq!(summary, place.read("o/p.md"));
    let rows: Vec<Row> = read_csv("p.csv", &place.read("o/p.csv")).unwrap();
    let cost =
        rows.iter().find(|r| r.metric == "cost_usd_per_hour" && r.axis("place") == Some("1"));
    assert!(cost.is_some_and(|r| r.value > Some(0.5)), "{rows:?}");
    assert!(rows.iter().any(|r| r.axis("what_if") == Some("load=1.5")));
    // The chosen pool, as a scenario, is within the target.
    let run = place.run(&["run", "o/p.rm2.scenario.toml", "--format", "csv"]).ok();
    let rows: Vec<Row> = read_csv("run", &run).unwrap();
    let finish = rows.iter().find(|r| r.metric == "finish_rate" && r.scope == "all").unwrap();
    assert!(finish.value >= Some(0.99), "{finish:?}");
}

/// Two kinds; `large` runs on one of them only.
pub(super) const FLEET: &str = r#"pools = "fleet"
goal = "carry-load"
seeds = 2
requests_per_model = 300
precision = 0.1
bad_rate = 0.05
policies = ["symphony"]

[[instance]]
kind = "old"
price_usd_per_hour = 0.25
count_max = 20
latency_on = { small = { affine = { alpha_ms = 1.0, beta_ms = 4.0 } } }

[[instance]]
kind = "new"
price_usd_per_hour = 2.0
count_max = 12

[day]
scale = "follow"
start_up_s = 600
profile = [[0, 0.5], [8, 1.0], [20, 0.5]]

[scenario]
arrivals = { poisson = { rate_per_s = 4000.0 }, per_app = true }

[[scenario.model]]
name = "small"
slo_ms = 30.0
latency = { affine = { alpha_ms = 0.4, beta_ms = 2.0 } }

[[scenario.model]]
name = "large"
slo_ms = 60.0
latency = { affine = { alpha_ms = 2.0, beta_ms = 6.0 } }

[[scenario.app]]
name = "a"
model = "small"
weight = 3.0

[[scenario.app]]
name = "b"
model = "large"
"#;

/// A fleet leaves in every form: with its homes and its bound, over the day, and with one machine less; its
/// clusters are scenarios that carry their loads.
#[test]
fn a_fleet_leaves_in_every_form() {
    let place = Place::with("f.toml", FLEET);
    let args = ["plan", "f.toml", "--out", "o", "--plot", "f.svg", "--html", "f.html"];
    let ran = place.run(&[&args[..], &["--what-if", "survive=1"]].concat());
    let out = ran.ok_but(&["first answer (one seed, not yet verified): "]);
    let parts = [
        "small on old; large on new",
        "above the optimum: no fleet",
        "without one old",
        "from 7:50",
    ];
    for part in parts {
        assert!(out.contains(part), "no `{part}` in:\n{out}");
        assert!(place.read("o/f.md").contains(part), "no `{part}` in the summary");
        assert!(place.read("f.html").contains(part), "no `{part}` in the page");
    }
    let markdown = place.read("o/f.md");
    assert!(markdown.contains("| survive=1 |  | 5 old + 4 new |"), "{markdown}");
    assert!(place.read("f.svg").contains("old"));
    let rows: Vec<Row> = read_csv("f.csv", &place.read("o/f.csv")).unwrap();
    let value = |case: &str, metric: &str| {
        let one =
            |r: &&Row| r.case == case && r.metric == metric && r.axis("what_if") == Some("none");
        rows.iter().find(one).and_then(|r| r.value).unwrap_or_else(|| panic!("{case} {metric}"))
    };
    let (cost, bound) =
        (value("fleet", "cost_usd_per_hour"), value("fleet", "lower_bound_usd_per_hour"));
    assert!(bound > 0.0 && bound <= cost, "{bound} {cost}");
    assert!(
        cost < value("old", "cost_at_peak_usd_per_hour")
            + value("new", "cost_at_peak_usd_per_hour")
    );
    for kind in ["old", "new"] {
        assert!(value(kind, "worst_bad_rate_with_one_less") >= 0.0);
        let file = format!("o/f.{kind}.scenario.toml");
        let run = place.run(&["run", &file, "--format", "csv"]).ok();
        let rows: Vec<Row> = read_csv("run", &run).unwrap();
        let finish = rows.iter().find(|r| r.metric == "finish_rate" && r.scope == "all").unwrap();
        assert!(finish.value >= Some(0.95), "{finish:?}");
    }
    place.write("f.toml", FLEET.replace("count_max = 12", "count_max = 1"));
    let out = place.run(&["plan", "f.toml"]).failed_a_check();
    assert!(out.contains("large needs at least"), "{out}");
    place.write("f.toml", FLEET.replace("goal = \"carry-load\"", "budget_usd_per_hour = 9.0"));
    place.run(&["plan", "f.toml"]).refused(&["f.toml", "key `pools`", "budget", "goal"]);
}

/// Numbers of machines that are too few for any scheduler leave in every form, also where no pool is the answer.
#[test]
fn what_no_scheduler_can_do_leaves_in_every_form() {
    let one = FLEET.replace("\"fleet\"", "\"homogeneous\"");
    let (head, tail) = one.split_once("[day]").expect("a day");
    let (_, tail) = tail.split_once("[scenario]").expect("a scenario");
    let text = format!("robust = []\n{head}\n[scenario]{tail}").replace("= 12", "= 2");
    let place = Place::with("p.toml", text);
    let args = ["plan", "p.toml", "--out", "o", "--html", "p.html"];
    let out = place.run(&[&args[..], &["-q"]].concat()).failed_a_check();
    let says = "no scheduler sustains the load with 2 new: ";
    for (form, text) in
        [("text", out), ("summary", place.read("o/p.md")), ("page", place.read("p.html"))]
    {
        assert!(text.contains(says), "no `{says}` in the {form}:\n{text}");
    }
    let rows: Vec<Row> = read_csv("p.csv", &place.read("o/p.csv")).unwrap();
    let few = |r: &&Row| r.metric == "finish_rate_bound" && r.axis("pool") == Some("2xnew");
    let bound = rows.iter().find(few).expect("a row of the bound");
    assert!(bound.axis("place") == Some("too-few") && bound.value < Some(0.95), "{bound:?}");
    assert!(place.read("o/p.json").contains("place=too-few;pool=2xnew"));
}

#[test]
fn without_a_pool_that_meets_the_goal_the_exit_code_is_1() {
    let place = Place::with("p.toml", SMALL.replace("= 20.0", "= 20000.0"));
    let out = place.run(&["plan", "p.toml"]).failed_a_check();
    assert!(out.contains("outside what was simulated"), "{out}");
}

#[test]
fn a_wrong_plan_is_a_matter_of_usage() {
    let place = Place::with("p.toml", SMALL.replace("0.149", "-0.149"));
    place.run(&["plan", "p.toml"]).refused(&[
        "p.toml:14",
        "price_usd_per_hour",
        "-0.149",
        "from 0",
    ]);
    let place = Place::with("p.toml", SMALL);
    let what_if = ["plan", "p.toml", "--what-if", "sloo=1ms"];
    place.run(&what_if).refused(&["sloo", "did you mean `slo`", "remedy"]);
}

/// A plan asked in one line writes its file, whose answer is the same; a file that says something else is left alone.
#[test]
fn a_plan_in_one_line_writes_the_file_that_it_answers() {
    let place = Place::new();
    let asked = ["plan", "--model", "resnet50v1.5-mixed", "--rate", "2000", "--slo", "100ms"];
    let more = ["--kinds", "v100,a100", "--policy", "clockwork", "--exact", "--seeds", "2"];
    let line = [&asked[..], &more[..]].concat();
    let name = "resnet50v1.5-mixed-2000.toml";
    let said = place.run(&line).ok_but(&["the plan file is resnet50v1.5-mixed-2000.toml"]);
    let text = place.read(name);
    assert!(
        text.contains("kind = \"V100-16GB\"") && text.contains("offers_of = \"A100\""),
        "{text}"
    );
    assert_eq!(place.run(&["plan", name, "--exact", "--seeds", "2"]).ok(), said);
    assert_eq!(place.run(&[&line[..], &["-q"]].concat()).ok(), said, "the same file again");
    place.write(name, "# mine\n");
    place.run(&line).refused(&["--write", "another plan", "remedy"]);
    assert_eq!(place.read(name), "# mine\n");
    place
        .run(&["plan", name, "--model", "resnet50", "--rate", "1", "--slo", "1s"])
        .refused(&["--model"]);
    place.run(&["plan", "--model", "resnet50"]).refused(&["--rate"]);
    place.run(&["plan", "--rate", "3"]).refused(&["--model"]);
    place.run(&["plan"]).refused(&["<FILE>"]);
    let l4 = [&asked[..], &["--kinds", "h200"]].concat();
    place.run(&l4).refused(&["--kinds", "`h200`", "no measured latencies are shipped"]);
}

/// A measured profile is asked as a zoo's model is; of a table of several GPUs each is one of the types.
#[test]
fn a_plan_in_one_line_takes_a_measured_profile() {
    let place = Place::with("l.csv", "batch,latency_ms\n1,5.0\n4,8.0\n");
    let rows = "m,t4,1,9.0\nm,t4,4,12.0\nm,v100,1,4.0\nm,v100,4,6.0\n";
    place.write("two.csv", format!("model,gpu,batch,latency_ms\n{rows}"));
    // The second model is named late in the file.
    let many = "m,1,5.0\n".repeat(10_000);
    place.write("several.csv", format!("model,batch,latency_ms\n{many}n,1,6.0\n"));
    let ask = |more: &[&str]| {
        let asked = ["-q", "plan", "--rate", "300", "--slo", "50ms", "--exact", "--seeds", "2"];
        place.run(&[&asked[..], more].concat())
    };
    let prices = ["--price", "t4=0.5", "--price", "v100=0.9"];
    let text = ask(&["--profile", "l.csv", "--kinds", "t4", "--price", "t4=0.5"]).ok();
    assert!(text.contains(" t4 under "), "{text}");
    assert_eq!(place.run(&["-q", "plan", "l-300.toml", "--exact", "--seeds", "2"]).ok(), text);
    let two = ["--profile", "two.csv", "--model", "m", "--kinds", "t4,v100", "--write", "two.toml"];
    ask(&[&two[..], &prices].concat()).ok();
    assert!(place.read("two.toml").contains("gpu = \"v100\""));
    ask(&["--profile", "l.csv", "--kinds", "t4"]).refused(&["no price of t4", "--price t4="]);
    ask(&["--profile", "l.csv"]).refused(&["--kinds"]);
    let own = ["--profile", "two.csv", "--kinds", "t4,v100", "--write", "own.toml"];
    ask(&[&own[..], &prices].concat()).ok();
    assert!(place.read("own.toml").contains("name = \"m\""));
    let several = ["--profile", "several.csv", "--kinds", "t4", "--price", "t4=0.5"];
    ask(&several).refused(&["`--model`", "m, n", "`--model m`"]);
    let other = ["--profile", "two.csv", "--model", "x", "--kinds", "t4", "--price", "t4=0.5"];
    ask(&other).refused(&["two.csv", "`x`"]);
}

/// What is set by hand is what the file would say, and every row and the text say so.
#[test]
fn a_key_of_a_plan_that_is_set_is_that_of_the_file() {
    let place = Place::with("p.toml", SMALL);
    let args = ["-q", "plan", "p.toml", "--exact"];
    let set = place.run(&[&args[..], &["--set", "growth=1.5", "--format", "csv"]].concat()).ok();
    place.write("p.toml", format!("growth = 1.5\n{SMALL}"));
    let own = place.run(&[&args[..], &["--format", "csv"]].concat()).ok();
    let rows = |csv: &str| -> Vec<Row> { read_csv("p", csv).expect("rows") };
    let strip = |mut row: Row| {
        row.axes = row.axes.replace("growth=1.5", "").trim_end_matches(';').to_string();
        (row.axes, row.metric, row.value)
    };
    assert!(rows(&set).iter().all(|row| row.axis("growth") == Some("1.5")), "{set}");
    let [set, own] = [set, own].map(|csv| rows(&csv).into_iter().map(strip).collect::<Vec<_>>());
    assert_eq!(set, own);
    place.run(&["plan", "p.toml", "--set", "grwth=2"]).refused(&["grwth", "did you mean `growth`"]);
    place.run(&["serve", "p.toml", "--set", "grwth=2"]).refused(&["grwth", "remedy"]);
}

/// `--over` is a list of what-ifs: the same bytes.
#[test]
fn values_over_which_a_plan_is_asked_are_what_ifs() {
    let place = Place::with("p.toml", SMALL);
    let ask = |more: &[&str]| place.run(&[&["-q", "plan", "p.toml", "--exact"], more].concat());
    let over = ask(&["--over", "load=0.5,0.8", "--over", "bad_rate=0.02, 0.05"]).ok();
    let pairs = [("0.5", "0.02"), ("0.5", "0.05"), ("0.8", "0.02"), ("0.8", "0.05")];
    let what_ifs = pairs.map(|(load, rate)| format!("load={load},bad_rate={rate}"));
    let each: Vec<&str> = what_ifs.iter().flat_map(|text| ["--what-if", text]).collect();
    assert_eq!(over, ask(&each).ok());
    ask(&["--over", "load"]).refused(&["--over", "at most twice", "remedy"]);
    ask(&["--over", "load=x"]).refused(&["load=x"]);
}

/// Simulations that are in the folder of `--out` are not made again, whatever asked for them; and no other question takes
/// them for its own: each answer is that of a plan without a folder.
#[test]
fn an_answer_with_the_simulations_of_others_is_its_own() {
    let place = Place::with("small.toml", SMALL);
    place.write("fleet.toml", FLEET);
    let ask = |more: &[&str]| {
        let fresh = place.run(&[&["plan", "-q", "--format", "csv"], more].concat());
        let args = [&["plan", "--format", "csv", "--out", "o", "--force"], more].concat();
        let kept = place.run(&args);
        assert_eq!((kept.code, &kept.stdout), (fresh.code, &fresh.stdout), "{more:?}");
        kept.stderr
    };
    let none = "simulations are those of the folder of `--out`, 0 were made";
    for file in ["small.toml", "fleet.toml"] {
        ask(&[file]);
        assert!(ask(&[file]).contains(none), "{file}");
    }
    for what in ["load=1.3", "slo=80%", "survive=1", "price:g4dn.xlarge=0.4"] {
        ask(&["small.toml", "--exact", "--what-if", what]);
    }
    ask(&["fleet.toml", "--exact", "--what-if", "latency=1.1"]);
    for key in ["precision=0.2", "requests_per_model=700", "seeds=3", "bad_rate=0.02"] {
        ask(&["small.toml", "--exact", "--set", key]);
    }
    ask(&["fleet.toml", "--exact", "--set", "day.start_up_s=60"]);
    // A plan that was stopped, and one whose folder was damaged, go on.
    for (n, cell) in tree(&place.path("o/cells")).into_keys().enumerate() {
        let cell = place.path("o/cells").join(cell);
        match n % 3 {
            0 => std::fs::remove_file(cell).unwrap(),
            1 => std::fs::write(cell, "no cell").unwrap(),
            _ => {}
        }
    }
    let again = ask(&["small.toml"]);
    assert!(again.contains("were made") && !again.contains(none), "{again}");
    assert!(ask(&["small.toml"]).contains(none));
}
