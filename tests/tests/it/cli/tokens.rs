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
    let report = place.run(&["audit", "a.log"]).ok();
    assert!(report.starts_with("audit: clean") && report.contains("60 requests, 60 done"));
    let text = place.read("a.log");
    assert!(text.contains("\nevict,"), "there are too few blocks");
    let done = text.lines().rfind(|l| l.starts_with("done,")).expect("a request that ends");
    place.write("b.log", text.replacen(&format!("{done}\n"), "", 1));
    let report = place.run(&["audit", "b.log"]).failed_a_check();
    assert!(report.contains("LeftWithoutEnd: request"), "{report}");
    place.write("c.log", text.replacen("\nevict,", "\ngone,", 1));
    place.run(&["audit", "c.log"]).refused(&["c.log, line", "the kind of record is \"gone\""]);
    place.run(&["run", "chat.toml", "--log", "d.log"]).refused(&["--log", "found 2 policies"]);
    for args in [&["explain", "a.log", "--worst", "5"][..], &["timeline", "a.log"]] {
        place.run(args).refused(&["a log of tokens", "orrery audit"]);
    }
}

#[test]
fn each_key_off_its_default_changes_the_result() {
    let place = Place::with("chat.toml", FILE);
    let run = |text: &str| {
        place.write("other.toml", text);
        place.run(&["-q", "run", "other.toml", "--format", "wide"]).ok()
    };
    let own = run(FILE);
    let own_times = FILE.replace("rate_per_s = 3.0\n", "");
    let none = "[tokens]\n";
    for (text, than) in [
        (FILE.replace("rtx4090-llama-3.1-8b\"\nkv", "rtxpro6000-llama-3.1-8b\"\nkv"), &own),
        (FILE.replace("kv_blocks = 700", "kv_blocks = 5000"), &own),
        (FILE.replace(none, "[tokens]\nblock_tokens = 20\n"), &own),
        (
            FILE.replace(
                none,
                "[tokens]\nall_reduce = { times = 64, us = 20, token_bytes = 8192, bandwidth = 16 }\n",
            ),
            &own,
        ),
        (FILE.replace("-llama-3.1-8b\"\ncount", "-llama-3.1-8b\"\nstretch = 1.0\ncount"), &own),
        (FILE.replace("count = 60", "count = 61"), &own),
        (FILE.replace("requests = \"vllm-rtx4090-llama-3.1-8b\"", "requests = \"azure-llm2023-code\""), &own),
        (FILE.replace("rate_per_s = 3.0", "rate_per_s = 2.9"), &own),
        (own_times.clone(), &own),
        (own_times.replace(none, "[tokens]\nstretch = 2.0\n"), &run(&own_times)),
        (FILE.replace("ttft_ms = 1000", "ttft_ms = 4000"), &own),
        (FILE.replace("tpot_ms = 100\n[[", "tpot_ms = 20\n[["), &own),
        (FILE.replace("ttft_ms = 1000", "share = 3.0\nttft_ms = 1000"), &own),
        (FILE.replace("name = \"chat\"", "name = \"chat\"\nseed = 2"), &own),
    ] {
        let other = run(&text);
        // A factor of 1 is none, and is the only one here that changes nothing.
        assert_eq!(other == **than, text.contains("stretch = 1.0"), "{text}\n{other}");
    }
}

#[test]
fn a_wrong_file_of_tokens_names_the_line_the_key_and_the_remedy() {
    let with = |from: &str, to: &str| FILE.replacen(from, to, 1);
    for (text, says) in [
        (with("kv_blocks = 700", "kv_blocks = 3"), "vLLM would refuse it"),
        (with("kv_blocks = 700", "kv_blocks = 0"), "tokens.kv_blocks"),
        (with("kv_blocks", "block_tokns"), "did you mean `block_tokens`?"),
        (with("rate_per_s = 3.0", "rate_per_s = 0"), "tokens.rate_per_s"),
        (with("rate_per_s = 3.0", "rate_per_s = 3.0\nstretch = 2.0"), "one of `stretch` and"),
        (with("count = 60", "count = 0"), "tokens.count"),
        (with("ttft_ms = 1000", "ttft_ms = 0"), "tokens.slo[0].ttft_ms"),
        (with("step-rtx4090-llama-3.1-8b", "step-a100"), "step-a100"),
        (with("\"continuous\"", "\"continuous[budget=4096]\""), "at most 2048"),
        (with("\"continuous\"", "\"continuous[sequences=300]\""), "at most 256"),
        (with("\"continuous\"", "\"continuous[order=sjf]\""), "fcfs, edf, orloj"),
        (with("\"continuous\"", "\"fifo\""), "`fifo` works on requests, and here are tokens"),
        (with("[\"continuous\",", "[\"continuos\","), "did you mean `continuous`?"),
        (
            with(
                "[tokens]",
                "[tokens]\nall_reduce = { times = 0, us = 1, token_bytes = 1, bandwidth = 1 }",
            ),
            "all_reduce.times",
        ),
    ] {
        let place = Place::with("chat.toml", &text);
        place.run(&["run", "chat.toml"]).refused(&["chat.toml", says]);
    }
    let mine = FILE.replace("\"step-rtx4090-llama-3.1-8b\"", "\"mine.csv\"");
    let place = Place::with("chat.toml", &mine);
    let head = "kernel,count,tokens,sequences,prompt,before,decodes,kv,time_us\n";
    place.write("mine.csv", format!("{head}mlp,32,1,,,,,,10\nattention,32,,,0,0,1,16,x\n"));
    place.run(&["run", "chat.toml"]).refused(&["mine.csv", "line 3: column `time_us`"]);
    place.write("mine.csv", format!("{head}mlp,32,1,,,,,,10\nattention,32,,,0,0,1,16,30\n"));
    place.run(&["run", "chat.toml"]).refused(&["tokens.profile", "do not determine the law"]);
}

#[test]
fn who_does_not_take_tokens_says_which_command_does() {
    let place = Place::with("chat.toml", FILE);
    for option in [&["--until-ci", "0.1"][..], &["--details", "--out", "x"]] {
        place
            .run(&[&["run", "chat.toml"], option].concat())
            .refused(&[option[0], "a file of tokens"]);
    }
    for command in ["goodput", "plan", "sweep", "serve", "partition"] {
        let says = ["a file of tokens", "orrery run chat.toml"];
        place.run(&[command, "chat.toml"]).refused(&says);
    }
    let scenario =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../scenarios/md1.toml"));
    place.write("md1.toml", scenario.expect("an example"));
    let with = ["run", "md1.toml", "--policy", "continuous"];
    place.run(&with).refused(&["answers token by token", "docs/tokens.md"]);
    let list = place.run(&["list", "policies"]).ok();
    assert!(list.contains("of tokens") && list.contains("continuous"), "{list}");
}
