//! A user's own list of requests at other loads: `replay` beside `workload`, with every command that sets a rate.

use super::process::Place;
use orrery_results::{Row, read_csv};

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

/// The rows of a metric of the wholes.
fn rows(csv: &str, metric: &str) -> Vec<Row> {
    let rows: Vec<Row> = read_csv("values", csv).expect("rows");
    rows.into_iter().filter(|r| r.metric == metric && r.scope == "all").collect()
}

fn with(place: &Place, replay: &str) {
    place.write("s.toml", SCENARIO.replace("replay = {}", &format!("replay = {{ {replay} }}")));
}

#[test]
fn a_list_runs_faster_again_and_in_blocks() {
    let place = place();
    let of = |replay: &str| {
        with(&place, replay);
        let csv = place.run(&["-q", "run", "s.toml", "--format", "csv"]).ok();
        let row = &rows(&csv, "finish_rate")[0];
        (row.value.expect("a value"), row.samples)
    };
    assert_eq!(of(""), (1.0, 5_000));
    assert_eq!(of("times = 3"), (1.0, 15_000));
    assert_eq!(of("speed = 1.9"), (1.0, 5_000));
    assert!(of("speed = 2.2").0 < 0.5);
    assert_eq!(of("rate_per_s = 95, rate_by = \"speed\""), (1.0, 5_000));
    // Copies of evenly spaced requests: two of them wait for one another at most.
    assert_eq!(of("copies = 2"), (1.0, 10_000));
    assert_eq!(of("rate_per_s = 100"), (1.0, 10_000));
    assert!((2_300..2_700).contains(&of("copies = 0.5").1));
    // Gaps of 20 ms at whole multiples: a block of 100 ms has five requests wherever it is drawn.
    assert_eq!(of("block_s = 0.1").1, 5_000);
    let text = place.run(&["run", "s.toml"]).ok();
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("a recorded list that `replay` changes"), "{text}");
    assert!(!words.contains("as much denser"), "{text}");
    // What a much faster list does to bursts is said.
    with(&place, "speed = 1.9");
    let text = place.run(&["run", "s.toml"]).ok();
    assert!(
        text.split_whitespace().collect::<Vec<_>>().join(" ").contains("its bursts are denser"),
        "{text}"
    );
}

#[test]
fn searches_and_plans_ask_how_much_of_the_list_there_may_be() {
    let place = place();
    with(&place, "rate_by = \"speed\"");
    let search =
        ["-q", "goodput", "s.toml", "--seeds", "1", "--tolerance", "0.02", "--format", "csv"];
    let peak = rows(&place.run(&search).ok(), "peak_goodput_per_s")[0].value.expect("a rate");
    assert!((97.0..=103.0).contains(&peak), "{peak}");
    // Of copies two are in time wherever the seed puts the second, and three are not.
    with(&place, "");
    let peak = rows(&place.run(&search).ok(), "peak_goodput_per_s")[0].value.expect("a rate");
    assert!((97.0..=151.0).contains(&peak), "{peak}");
    // A sweep of its rate.
    with(&place, "rate_by = \"speed\"");
    place.write("w.toml", "scenario = \"s.toml\"\nseeds = 1\n[[axis]]\nkey = \"arrivals.replay.speed\"\nvalues = [1.5, 2.5]\n");
    let csv = place.run(&["-q", "sweep", "w.toml", "--out", "w", "--format", "csv"]).ok();
    let rates: Vec<f64> = rows(&csv, "finish_rate").iter().filter_map(|r| r.value).collect();
    assert!(rates.len() == 2 && rates[0] == 1.0 && rates[1] < 0.5, "{rates:?}");
    let plan = "pools = \"homogeneous\"\ngoal = \"carry-load\"\nscenario_file = \"s.toml\"\ngrowth = GROWTH\n\
                [[instance]]\nkind = \"gpu\"\nprice_usd_per_hour = 1.0\ncount_max = 8\n";
    for (growth, gpus) in [("1.0", "1 gpu"), ("3.5", "2 gpu")] {
        place.write("p.toml", plan.replace("GROWTH", growth));
        let text = place.run(&["-q", "plan", "p.toml", "--exact"]).ok();
        assert!(text.contains(gpus), "{growth}: {text}");
    }
}

#[test]
fn what_cannot_be_replayed_is_refused_with_the_remedy() {
    let place = place();
    let set = |replay: &str| {
        with(&place, replay);
        place.run(&["run", "s.toml"])
    };
    set("times = 0").refused(&["times", "1"]);
    set("block_s = 101").refused(&["block_s", "at most the list's 100000", "remedy: "]);
    set("speed = 0").refused(&["replay.speed"]);
    set("copies = 2.0, rate_per_s = 9.0").refused(&["not both", "remedy: "]);
    place.write("s.toml", SCENARIO.replace("replay = {}", ""));
    place.run(&["goodput", "s.toml"]).refused(&["arrivals.workload", "add `replay = {}`"]);
    // Where all of it lies within the warm-up nothing was seen, and nothing is called good.
    let part = SCENARIO.replace("\"mine.csv\"", "\"mine.csv\", to_row = 200");
    place.write("s.toml", format!("warm_up_s = 1000.0\n{part}"));
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
