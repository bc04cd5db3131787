//! Where numbers end: the sizes of requests and simulated time. Beyond is an error, never a result.

use super::process::Place;
use super::small_scenario;

/// A pool on which one query in four carries a size; `rows` are those of its list.
fn queries(rows: &str) -> Place {
    let place = Place::with("a.toml", small_scenario("queries = { file = \"q.csv\" }"));
    place.write("q.csv", format!("arrival_ms,size\n{rows}"));
    place
}

#[test]
fn a_size_beyond_the_limit_is_refused_by_every_reader() {
    let place = Place::with("a.toml", small_scenario("workload = { file = \"w.csv\" }"));
    let head = "arrival_ns,app,model,size,slo_ns,alone_ns\n";
    let row = |size: u64| format!("5,0,0,{size},100000000,5000000\n");
    // Together they are 2^32, which a sum of 32 bits takes for nothing.
    for size in [4097, 1 << 31, (1 << 32) - 1, 1 << 32] {
        place.write("w.csv", format!("{head}{}{}", row(1), row(size)));
        let found = size.to_string();
        let says = ["w.csv", "line 3", "column `size`", &found, "a whole number from 1 to 4096"];
        place.run(&["run", "a.toml"]).refused(&says);
        queries(&format!("1,{size}\n")).run(&["run", "a.toml"]).refused(&[
            "q.csv",
            "line 2",
            "column `size`",
            &found,
            "a whole number from 1 to 4096",
        ]);
    }
    place.write("w.csv", format!("{head}{}", row(4096)));
    place.run(&["run", "a.toml"]).ok();
    let sized = small_scenario("poisson = { rate_per_s = 9.0 }\nrequests = 9")
        .replace("weight = 2.0", "size = 4097");
    Place::with("a.toml", sized).run(&["run", "a.toml"]).refused(&[
        "a.toml:",
        "key `app[1].size`",
        "4097",
        "4096",
    ]);
}

#[test]
fn arrivals_that_run_over_the_end_of_time_are_refused() {
    let end = "comes after the end of simulated time";
    for (arrivals, key, rate) in [
        ("poisson = { rate_per_s = 1e-9 }", "`arrivals.poisson`", "0.000000001 requests/s"),
        ("constant = { rate_per_s = 1e-9 }", "`arrivals.constant`", "0.000000001 requests/s"),
        ("gamma = { rate_per_s = 1e-8, shape = 0.1 }", "`arrivals.gamma`", "requests/s"),
        ("per_app = true\npoisson = { rate_per_s = 1e-8 }", "`arrivals.poisson`", "requests/s"),
    ] {
        let slow = small_scenario(&format!("{arrivals}\nrequests = 400"));
        let place = Place::with("a.toml", slow.clone());
        for more in [&[][..], &["--log", "a.log", "--policy", "fifo"]] {
            let ran = place.run(&[&["run", "a.toml"], more].concat());
            ran.refused(&["a.toml:", key, rate, end, "remedy: raise the rate", "`duration_s`"]);
        }
        let record = ["trace", "record", "a.toml", "--out", "w.csv"];
        place.run(&record).refused(&["after the end of simulated time", "raise the rate"]);
        assert!(!place.files().contains(&"w.csv".to_string()), "{:?}", place.files());
        // Stopped before, it is a run like any other.
        place.write("b.toml", format!("until_s = 1e9\n{slow}"));
        place.run(&["run", "b.toml"]).ok();
        place.write("c.toml", slow.replace("requests = 400", "duration_s = 1e9"));
        place.run(&["run", "c.toml"]).ok();
    }
}

#[test]
fn thought_that_runs_over_the_end_of_time_is_refused() {
    let daily = small_scenario("").replace(
        "[arrivals]",
        "[closed_loop]\nclients = 1\nthink = { constant_ms = 86400e3 }\nrequests = 300000",
    );
    let place = Place::with("a.toml", daily);
    place.run(&["run", "a.toml", "--policy", "fifo"]).refused(&[
        "a.toml:",
        "key `closed_loop.think`",
        "after the end of simulated time",
        "remedy:",
    ]);
}

#[test]
fn a_batch_or_a_message_that_ends_after_the_end_of_time_is_refused() {
    let place = Place::new();
    let head = "arrival_ns,app,model,size,slo_ns,alone_ns\n";
    place.write("w.csv", format!("{head}10,0,0,1,100000000,18446744073709551000\n"));
    let late = small_scenario("workload = { file = \"w.csv\" }");
    place.write("a.toml", &late);
    let ran = place.run(&["run", "a.toml", "--policy", "fifo"]);
    ran.refused(&["a.toml", "the end of a0 on d0 comes after the end", "remedy: shorten"]);
    place.write("w.csv", format!("{head}10,0,0,1,100000000,18446744073709000000\n"));
    place.write("b.toml", format!("{late}\n[delays]\nreply_ms = 1.0\n"));
    let ran = place.run(&["run", "b.toml", "--policy", "fifo"]);
    ran.refused(&["b.toml", "the reply to the requests of a0 comes after the end", "`until_s`"]);
}

/// The texts of every kind of file, each read by its command: a `group` of 2,000 letters took a second, and one of
/// 100,000 half an hour.
#[test]
fn a_name_has_a_limit_in_every_kind_of_file() {
    const KINDS: [(&str, &str); 8] = [
        ("one-gpu-bert.toml", "run FILE"),
        ("jobs-on-workers.toml", "run FILE"),
        ("tokens.toml", "run FILE"),
        ("one-gpu-bert.toml", "goodput FILE"),
        ("plans/kairos-five.toml", "plan FILE"),
        ("sweeps/bert-slo.toml", "sweep FILE"),
        ("experiments/my-scheduler.toml", "reproduce FILE"),
        ("", "arena --suite s"),
    ];
    let scenarios = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../scenarios");
    for (file, words) in KINDS {
        let path = scenarios.join(file);
        let text = match file {
            "" => "[[scenario]]\nname = \"a\"\nasks = \"?\"\n".to_string(),
            _ if path.is_dir() => {
                let first = std::fs::read_dir(&path).expect("files").next().expect("a file");
                std::fs::read_to_string(first.expect("a file").path()).expect("text")
            }
            _ => std::fs::read_to_string(&path).expect("text"),
        };
        let place = Place::new();
        std::fs::create_dir(place.path("s")).expect("a folder");
        for (key, letters, allowed) in
            [("group", 100_000, "at most 200"), ("note", 2_001, "at most 2000")]
        {
            let text = format!("{key} = \"{}\"\n{text}", "a".repeat(letters));
            let name = if file.is_empty() { "s/suite.toml" } else { "f.toml" };
            place.write(name, text);
            let words: Vec<&str> =
                words.split(' ').map(|w| if w == "FILE" { name } else { w }).collect();
            let line = format!("{name}:1: key `{key}`: found a");
            place.run(&words).refused(&[
                &line,
                &letters.to_string(),
                allowed,
                "remedy: shorten it",
            ]);
        }
    }
    for (from, to) in [("weight = 2.0", "group = \"a<b\""), ("weight = 2.0", "group = \"a b\"")] {
        let text = small_scenario(super::POISSON).replace(from, to);
        Place::with("a.toml", text)
            .run(&["run", "a.toml"])
            .refused(&["a.toml:", "key `app[1].group`"]);
    }
}
