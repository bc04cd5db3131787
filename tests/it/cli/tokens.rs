//! Files of tokens: `orrery run`, logs and their audit, what is said of wrong ones, and who does not take them.

use super::process::Place;

const FILE: &str = r#"
name = "chat"
policies = ["continuous", "continuous[order=edf,drop=infeasible]"]
[tokens]
profile = "step-rtx4090-llama-3.1-8b"
kv_blocks = 700
requests = "vllm-rtx4090-llama-3.1-8b"
count = 60
rate_per_s = 3.0
[[tokens.slo]]
ttft_ms = 1000
tpot_ms = 100
[[tokens.slo]]
ttft_ms = 9000
tpot_ms = 100
"#;

#[test]
fn tokens_are_the_same_bytes_on_any_number_of_threads_and_seeds_have_intervals() {
    let place = Place::with("chat.toml", FILE);
    let run = |jobs: &str| {
        let csv = ["-q", "run", "chat.toml", "--seeds", "4", "--format", "csv", "--jobs", jobs];
        place.run(&csv).ok()
    };
    let csv = run("1");
    assert_eq!(run("2"), csv);
    assert!(csv.contains("ttft_mean_ns,ns") && csv.contains("replications"), "{csv}");
    let text = place.run(&["-q", "--wide", "run", "chat.toml"]).ok();
    assert!(text.contains("mean TTFT ms") && text.contains("continuous[order=edf,"), "{text}");
    let page = ["-q", "run", "chat.toml", "--html", "chat.html"];
    place.run(&page).ok();
    assert!(place.read("chat.html").contains("mean TPOT ms"));
}

#[test]
fn a_log_of_tokens_is_audited_and_a_damaged_one_is_found_out() {
    let place = Place::with("chat.toml", FILE);
    place.run(&["-q", "run", "chat.toml", "--policy", "continuous", "--log", "a.log"]).ok();
    let report = place.run(&["log", "audit", "a.log"]).ok();
    assert!(report.starts_with("audit: clean") && report.contains("60 requests, 60 done"));
    let text = place.read("a.log");
    assert!(text.contains("\nevict,"), "there are too few blocks");
    let done = text.lines().rfind(|l| l.starts_with("done,")).expect("a request that ends");
    place.write("b.log", text.replacen(&format!("{done}\n"), "", 1));
    let report = place.run(&["log", "audit", "b.log"]).failed_a_check();
    assert!(report.contains("LeftWithoutEnd: request"), "{report}");
    place.write("c.log", text.replacen("\nevict,", "\ngone,", 1));
    place
        .run(&["log", "audit", "c.log"])
        .refused(&["c.log, line", "the kind of record is \"gone\""]);
    place.run(&["run", "chat.toml", "--log", "d.log"]).refused(&["--log", "found 2 policies"]);
    place.run(&["log", "timeline", "a.log"]).refused(&["a log of tokens", "orrery log audit"]);
}

#[test]
fn a_request_of_a_log_of_tokens_is_explained_from_the_log_alone() {
    let place = Place::with("chat.toml", FILE);
    let policy = |policy: &str, log: &str| {
        place.run(&["-q", "run", "chat.toml", "--policy", policy, "--log", log]).ok();
        place.read(log)
    };
    let id = |line: &str| line.split(',').nth(2).expect("a request").to_string();
    let text = policy("continuous", "a.log");
    let evicted = id(text.lines().find(|l| l.starts_with("evict,")).expect("too few blocks"));
    let told = place.run(&["--wide", "log", "explain", "a.log", "--request", &evicted]).ok();
    let arrived =
        format!("r{evicted} under continuous[order=fcfs,drop=none,budget=2048,sequences=128]\n");
    assert!(told.starts_with(&arrived), "{told}");
    for says in
        ["tokens in; wants the first token within", "blocks are free", "is evicted: it loses"]
    {
        assert!(told.contains(says), "{told}");
    }
    assert!(told.contains("is admitted again, with") && told.contains("its last token, number "));
    // As many evictions as the log has of it, and its own last instant.
    let own = |kind: &str| {
        let is = |l: &&str| l.starts_with(kind) && id(l) == evicted;
        text.lines().filter(is).map(str::to_string).collect::<Vec<_>>()
    };
    assert_eq!(told.matches("is evicted").count(), own("evict,").len(), "{told}");
    let ns =
        |line: &String| line.split(',').nth(1).and_then(|t| t.parse::<u64>().ok()).expect("a time");
    let spent = ns(&own("done,")[0]) - ns(&own("arrive,")[0]);
    let us = spent / 1_000 + u64::from(spent % 1_000 >= 500);
    assert!(told.contains(&format!(" after {}.{:03} ms;", us / 1_000, us % 1_000)), "{told}");
    let worst = place.run(&["--wide", "log", "explain", "a.log", "--worst", "3"]).ok();
    assert_eq!(worst.lines().count(), 3, "{worst}");
    assert!(
        worst.lines().all(|l| l.contains(" late ") && l.contains("first token after")),
        "{worst}"
    );
    place
        .run(&["log", "explain", "a.log", "--request", "60"])
        .refused(&["--request", "from 0 to 59"]);
    // Who is given up, and why, by the clock of the log.
    for (drop, why) in [("expired", "its first token was due "), ("infeasible", "even alone")] {
        let text = policy(&format!("continuous[drop={drop}]"), "b.log");
        let dropped =
            id(text.lines().find(|l| l.starts_with("drop,")).expect("one that is dropped"));
        let told = place.run(&["--wide", "log", "explain", "b.log", "--request", &dropped]).ok();
        assert!(told.contains("is dropped: ") && told.contains(why), "{told}");
        assert!(
            told.contains("verdict: dropped after") && told.contains("it waited to be admitted")
        );
        let worst = place.run(&["--wide", "log", "explain", "b.log", "--worst", "1"]).ok();
        assert!(worst.contains(" dropped ") && worst.contains("no token after"), "{worst}");
    }
    // A log that ends early, and one without requests.
    let cut: String =
        text.lines().take_while(|l| !l.starts_with("evict,")).map(|l| format!("{l}\n")).collect();
    place.write("c.log", &cut);
    let told = place.run(&["log", "explain", "c.log", "--request", &evicted]).ok();
    assert!(told.contains("the log ends before it did"), "{told}");
    place.write("d.log", "orrery-tokens-log,1\npolicy,x\n");
    assert_eq!(
        place.run(&["log", "explain", "d.log", "--worst", "1"]).ok(),
        "the log has no request\n"
    );
    place.run(&["log", "explain", "d.log", "--request", "0"]).refused(&["the log has no requests"]);
}

#[test]
fn the_goodput_of_tokens_is_the_same_bytes_in_every_form_on_any_number_of_threads() {
    let place = Place::with("chat.toml", FILE);
    let quick = "--requests-per-model 1000 --tolerance 0.05 --target 0.05 --seeds 2";
    let run = |more: &str| {
        let words = format!("-q --wide goodput chat.toml {quick} {more}");
        place.run(&words.split_whitespace().collect::<Vec<_>>()).ok()
    };
    let csv = run("--format csv --jobs 1");
    assert_eq!(run("--format csv --jobs 2"), csv);
    for says in ["peak_goodput_per_s", "ttft_mean_ns", "clearly_bad_per_s"] {
        assert!(csv.contains(says), "{says}: {csv}");
    }
    let text = run("--html chat.html --policy continuous");
    assert!(text.contains("all requests together, with at most 5 % dropped or late"), "{text}");
    assert!(text.contains("mean TTFT ms") && text.contains("95 % interval"), "{text}");
    assert!(place.read("chat.html").contains("mean TTFT ms"));
    assert!(run("--format json --policy continuous").contains("\"tokens\": \"chat\""));
    assert!(run("--format wide --policy continuous").contains("peak_goodput_per_s"));
    // The rate is where the search begins: it changes the probes, hardly the answer.
    let peak = |csv: &str| -> f64 {
        let line = csv.lines().find(|l| l.contains("peak_goodput_per_s")).expect("an answer");
        let value = line.split("peak_goodput_per_s,1/s,,").nth(1).expect("a value");
        value.split(',').next().and_then(|x| x.parse().ok()).expect("a number")
    };
    let from = run("--format csv --rate 0.5 --policy continuous");
    let (one, other) = (peak(&from), peak(&csv));
    assert!(!csv.starts_with(&from) && (one / other - 1.0).abs() < 0.15, "{one}, {other}");
    // Azure's own arrivals are judged as a whole.
    place.write(
        "own.toml",
        FILE.replace("rate_per_s = 3.0\n", "").replace("count = 60", "count = 20"),
    );
    place.run(&["goodput", "own.toml"]).refused(&["ends within the warm-up", "set `rate_per_s`"]);
    place.run(&["goodput", "chat.toml", "--find", "devices"]).refused(&["there is one executor"]);
    place.write("none.toml", &FILE[..FILE.find("[[tokens.slo]]").expect("SLOs")]);
    place.run(&["goodput", "none.toml"]).refused(&[
        "none.toml",
        "tokens.slo",
        "no request is late",
    ]);
    place.run(&["goodput", "chat.toml", "--policy", "fifo"]).refused(&["here are tokens"]);
}

#[test]
fn a_sweep_of_tokens_is_stored_and_merged_as_one_of_a_scenario() {
    let place = Place::with("chat.toml", FILE);
    let sweep = "scenario = \"chat.toml\"\nseeds = 2\ncompare_to = \"continuous\"\n\
                 [[axis]]\nkey = \"tokens.rate_per_s\"\nvalues = [1.0, 4.0]\n\
                 [[axis]]\nkey = \"policy.continuous.budget\"\nvalues = [256, 2048]\n";
    place.write("s.toml", sweep);
    let csv = place.run(&["-q", "sweep", "s.toml", "--out", "a", "--format", "csv"]).ok();
    assert!(
        csv.contains("finish_rate_difference") && csv.contains("rate_per_s=1;budget=256"),
        "{csv}"
    );
    for shard in ["1/2", "2/2"] {
        place.run(&["-q", "sweep", "s.toml", "--out", "c", "--shard", shard]).ok();
    }
    assert_eq!(place.run(&["-q", "sweep", "merge", "c", "--format", "csv"]).ok(), csv);
    assert!(place.run(&["sweep", "cells", "a"]).ok().contains("done"));
    let search = "[goodput]\ntarget = 0.1\nrequests_per_model = 1000\ntolerance = 0.1\n";
    place.write(
        "g.toml",
        format!(
            "{}{search}",
            sweep.replace("[[axis]]\nkey = \"tokens.rate_per_s\"\nvalues = [1.0, 4.0]\n", "")
        ),
    );
    let found = place.run(&["-q", "sweep", "g.toml", "--out", "g", "--format", "csv"]).ok();
    assert!(
        found.contains("peak_goodput_per_s") && found.contains("peak_goodput_per_s_difference"),
        "{found}"
    );
    let wrong = |text: String, says: &[&str]| {
        place.write("w.toml", text);
        place.run(&["sweep", "w.toml", "--out", "w"]).refused(says);
    };
    wrong(
        sweep.replace("rate_per_s\"", "rate_per\""),
        &["w.toml", "tokens.rate_per", "did you mean `rate_per_s`?"],
    );
    wrong(sweep.replace("4.0]", "0.0]"), &["rate_per_s=0", "tokens.rate_per_s"]);
    wrong(sweep.replace("2048]", "4096]"), &["budget=4096", "at most 2048"]);
    wrong(
        sweep.replace("\"continuous\"\n[", "\"continuous[budget=3]\"\n["),
        &["compare_to", "one of"],
    );
    wrong(format!("{sweep}{search}find = \"devices\"\n"), &["there is one executor"]);
    let until =
        sweep.replace("seeds = 2", "seeds = 2\nuntil_ci = 0.1\nset = { \"tokens.slo\" = [] }");
    wrong(until, &["until_ci", "there is no finish rate"]);
    let none = sweep.replace("seeds = 2", "seeds = 2\nset = { \"tokens.slo\" = [] }");
    place.write("n.toml", none);
    let none = place.run(&["-q", "sweep", "n.toml", "--out", "n", "--format", "csv"]).ok();
    assert!(
        none.contains("ttft_mean_ns") && !none.contains("finish_rate"),
        "no SLO, no finish rate: {none}"
    );
}

#[test]
fn who_does_not_take_tokens_says_which_command_does() {
    let place = Place::with("chat.toml", FILE);
    for option in [&["--until-ci", "0.1"][..], &["--details", "--out", "x"]] {
        place
            .run(&[&["run", "chat.toml"], option].concat())
            .refused(&[option[0], "a file of tokens"]);
    }
    for command in ["sweep", "serve"] {
        let says = ["a file of tokens", "orrery run chat.toml"];
        place.run(&[command, "chat.toml"]).refused(&says);
    }
    // Not a planner, whichever way it is asked: the remedy is the rate that the executor carries.
    place.write(
        "plan.toml",
        "pools = \"homogeneous\"\nbudget_usd_per_hour = 9.0\nscenario_file = \"chat.toml\"\n[[instance]]\nkind = \"a\"\nprice_usd_per_hour = 1.0\n",
    );
    for file in ["chat.toml", "plan.toml"] {
        let says = ["no capacity is planned", "token by token", "orrery goodput", "chat.toml`"];
        place.run(&["plan", file]).refused(&says);
    }
    let scenario =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../scenarios/md1.toml"));
    place.write("md1.toml", scenario.expect("an example"));
    let with = ["run", "md1.toml", "--policy", "continuous"];
    place.run(&with).refused(&["answers token by token", "docs/tokens.md"]);
    let list = place.run(&["list", "policies"]).ok();
    assert!(list.contains("of tokens") && list.contains("continuous"), "{list}");
}
