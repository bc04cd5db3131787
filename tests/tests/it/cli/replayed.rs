//! A user's own list of requests at other loads: `replay` beside `workload`, with every command that sets a rate.

use super::process::Place;

const SCENARIO: &str = r#"
policies = ["fifo[max_batch=1]"]
[[model]]
name = "m"
slo_ms = 25.0
latency = { affine = { alpha_ms = 0.0, beta_ms = 10.0 } }
[[app]]
name = "a"
model = "m"
[arrivals]
workload = { file = "mine.csv" }
replay = {}
"#;

/// 5,000 requests, 20 ms apart: 50 a second. On one device that takes 10 ms for each the list may run twice as fast.
fn place() -> Place {
    let place = Place::with("s.toml", SCENARIO);
    let line = |i: u64| format!("{},0,0,1,25000000,10000000\n", i * 20_000_000);
    let lines: String = (0..5_000).map(line).collect();
    place.write("mine.csv", format!("arrival_ns,app,model,size,slo_ns,alone_ns\n{lines}"));
    place
}

/// The values of a metric of the wholes.
fn values(csv: &str, metric: &str) -> Vec<f64> {
    let rows = orrery_results::read_csv::<orrery_results::Row>("values", csv).expect("rows");
    let these = rows.iter().filter(|r| r.metric == metric && r.scope == "all");
    these.map(|r| r.value).collect()
}

#[test]
fn a_list_runs_faster_again_and_in_blocks() {
    let place = place();
    let of = |set: &[&str], metric: &str| {
        let sets: Vec<&str> = set.iter().flat_map(|s| ["--set", s]).collect();
        let args = [&["-q", "run", "s.toml", "--format", "csv"], &sets[..]].concat();
        values(&place.run(&args).ok(), metric)[0]
    };
    assert_eq!(of(&[], "offered"), 5_000.0);
    assert_eq!(of(&["arrivals.replay.times=3"], "offered"), 15_000.0);
    assert_eq!(of(&["arrivals.replay.rate_factor=1.9"], "finish_rate"), 1.0);
    assert!(of(&["arrivals.replay.rate_factor=2.2"], "finish_rate") < 0.5);
    assert_eq!(of(&["arrivals.replay.rate_per_s=95"], "finish_rate"), 1.0);
    // Gaps of 20 ms at whole multiples: a block of 100 ms has five requests wherever it is drawn.
    assert_eq!(of(&["arrivals.replay.block_s=0.1"], "offered"), 5_000.0);
    let text = place.run(&["run", "s.toml", "--set", "arrivals.replay.block_s=0.1"]).ok();
    assert!(text.contains("in blocks of 0.1 s that the seed draws from it"), "{text}");
}

#[test]
fn searches_and_plans_ask_how_fast_the_list_may_run() {
    let place = place();
    let search =
        ["-q", "goodput", "s.toml", "--seeds", "1", "--tolerance", "0.02", "--format", "csv"];
    let peak = values(&place.run(&search).ok(), "peak_goodput_per_s");
    assert!(peak.len() == 1 && (97.0..=103.0).contains(&peak[0]), "{peak:?}");
    let plan = "pools = \"homogeneous\"\ngoal = \"carry-load\"\nscenario_file = \"s.toml\"\ngrowth = GROWTH\n\
                [[instance]]\nkind = \"gpu\"\nprice_usd_per_hour = 1.0\ncount_max = 8\n";
    for (growth, gpus) in [("1.0", "1 gpu"), ("3.5", "2 gpu")] {
        place.write("p.toml", plan.replace("GROWTH", growth));
        let text = place.run(&["-q", "plan", "p.toml", "--exact"]).answered_but(&[]);
        assert!(text.contains(gpus), "{growth}: {text}");
    }
}

#[test]
fn what_cannot_be_replayed_is_refused_with_the_remedy() {
    let place = place();
    let set = |set: &str| place.run(&["run", "s.toml", "--set", set]);
    set("arrivals.replay.times=0").refused(&["arrivals.replay.times", "1"]);
    set("arrivals.replay.block_s=101").refused(&[
        "block_s",
        "at most the list's 100000",
        "remedy: ",
    ]);
    set("arrivals.replay.rate_factor=0").refused(&["arrivals.replay.rate_factor"]);
    set("arrivals.replay={ rate_factor = 2.0, rate_per_s = 9.0 }")
        .refused(&["not both", "remedy: "]);
    place.write("s.toml", SCENARIO.replace("replay = {}", ""));
    place.run(&["goodput", "s.toml"]).refused(&["arrivals.workload", "add `replay = {}`"]);
    // Where all of it lies within the warm-up nothing was seen, and nothing is called good.
    let part = SCENARIO.replace("\"mine.csv\"", "\"mine.csv\", to_row = 200");
    place.write("s.toml", part);
    let short = ["goodput", "s.toml", "--seeds", "1"];
    place.run(&short).refused(&["ends within the warm-up", "`replay.times`"]);
    let other = SCENARIO.replace(
        "workload = { file = \"mine.csv\" }",
        "poisson = { rate_per_s = 9 }\nrequests = 9",
    );
    place.write(
        "s.toml",
        other.replace(
            "model = \"m\"\n[arr",
            "model = \"m\"\ntime = { constant = { ms = 10.0 } }\n[arr",
        ),
    );
    place.run(&["run", "s.toml"]).refused(&[
        "arrivals.replay",
        "workload, queries or llm",
        "remedy: ",
    ]);
}
