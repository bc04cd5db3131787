//! A trace dealt out in blocks to thousands of applications: the rule, the orders, a user's own files.

use super::base::{NAME, line, refused};
use orrery_scenario::Scenario;
use orrery_scenario::scenario::InputFile;
use orrery_sim::time::{Span, Time};
use std::collections::BTreeMap;

fn text(copies: u32, trace: &str) -> String {
    format!(
        "policies = [\"fifo\"]\n[[zoo]]\nname = \"clockwork-zoo-v100\"\ncopies = {copies}\n\
         [[device]]\ncount = 12\n[arrivals]\ntrace = {{ {trace} }}\nduration_s = 2.0\n"
    )
}

const RULE: &str =
    "file = \"azure2019-f500\", rule = \"azure-46000\", first_minute = 480, minutes = 360";

fn scenario(text: &str) -> Scenario {
    Scenario::from_text(NAME, text).unwrap_or_else(|e| panic!("{e}"))
}

/// Requests of the first two seconds by application's name.
fn requests(text: &str, seed: u64) -> BTreeMap<String, u64> {
    let scenario = scenario(text);
    let names = scenario.app_names();
    let mut source = scenario.setup(seed).unwrap().sources(seed).unwrap().remove(0);
    let mut counts = BTreeMap::new();
    while let Some(arrival) = source.pop() {
        assert!(arrival.at < Time::ZERO + Span::from_secs(2));
        *counts.entry(names[arrival.app.index()].clone()).or_insert(0) += 1;
    }
    counts
}

#[test]
fn the_released_order_puts_the_head_on_the_first_model_by_name() {
    let counts = requests(&text(66, RULE), 1);
    let all: u64 = counts.values().sum();
    assert!((15_000..24_000).contains(&all), "two seconds at some 9,638 requests/s: {all}");
    let head: u64 =
        counts.iter().filter(|(n, _)| n.starts_with("cifar_wideresnet16_10#")).map(|c| c.1).sum();
    assert!(head as f64 > 0.85 * all as f64, "{head} of {all}");
    let busiest = counts.iter().max_by_key(|c| c.1).unwrap();
    assert_eq!(busiest.0, "cifar_wideresnet16_10#1");
}

#[test]
fn a_shuffled_order_spreads_the_head_by_seed() {
    let shuffled = format!("{RULE}, order = \"shuffled\"");
    let busiest = |trace: &str, seed| {
        let counts = requests(&text(66, trace), seed);
        counts.into_iter().max_by_key(|c| c.1).unwrap().0
    };
    let (one, two) = (busiest(&shuffled, 1), busiest(&shuffled, 2));
    assert_ne!(one, two);
    let fixed = format!("{shuffled}, order_seed = 1");
    assert_eq!((busiest(&fixed, 2), busiest(&fixed, 3)), (one.clone(), one));
}

#[test]
fn the_shares_are_told_and_do_not_depend_on_the_order() {
    let note = |trace: &str| scenario(&text(66, trace)).notes().remove(0);
    let released = note(RULE);
    for word in
        ["rule azure-46000 with sigma 1", "46000 functions", "4026 applications", "first 66"]
    {
        assert!(released.contains(word), "{released}");
    }
    let shuffled = note(&format!("{RULE}, order = \"shuffled\""));
    assert_eq!(shuffled.replace("shuffled", "released"), released);
    assert_ne!(note(&format!("{RULE}, sigma = 2.0")), released);
    assert!(note(&format!("{RULE}, rate_per_s = 500")).contains(" 500.0 requests/s"));
    assert!(scenario(&text(1, "file = \"azure2019-f500\"")).notes().is_empty());
}

/// A day's file as published, with each function's calls in every minute.
fn day(calls: &[(&str, u32)]) -> String {
    let labels: Vec<String> = (1..=1440).map(|m: u32| m.to_string()).collect();
    let mut text = format!("HashOwner,HashApp,HashFunction,Trigger,{}\n", labels.join(","));
    for (name, n) in calls {
        text += &format!("o,a,{name},http,{}\n", vec![n.to_string(); 1440].join(","));
    }
    text
}

#[test]
fn a_folder_of_the_published_trace_takes_the_place_of_the_sample() {
    let folder = tempfile::tempdir().unwrap();
    let name = |d: u32| format!("invocations_per_function_md.anon.d{d:02}.csv");
    let all: Vec<(String, u32)> = (0..70).map(|i| (format!("f{i:02}"), 6_000 - 60 * i)).collect();
    let all: Vec<(&str, u32)> = all.iter().map(|(n, c)| (n.as_str(), *c)).collect();
    std::fs::write(folder.path().join(name(1)), day(&all)).unwrap();
    std::fs::write(folder.path().join(name(2)), day(&[("f69", 600_000)])).unwrap();
    let path = folder.path().display();
    let counts =
        requests(&text(1, &format!("file = \"{path}\", first_minute = 1441, minutes = 9")), 1);
    assert_eq!(
        counts.keys().collect::<Vec<_>>(),
        ["cifar_wideresnet16_10"],
        "the busiest of both days"
    );
    assert!((19_000..21_000).contains(&counts["cifar_wideresnet16_10"]), "{counts:?}");
    let scenario = scenario(&text(1, &format!("file = \"{path}\"")));
    let days: Vec<String> = (1..3).map(|d| format!("{path}/{}", name(d))).collect();
    let inputs = scenario.inputs().into_iter().map(|i| match i {
        InputFile::Path(name, path) if path.is_file() => name,
        other => panic!("{other:?}"),
    });
    assert_eq!(inputs.collect::<Vec<_>>(), days);
    // 70 functions are too few for 61 models twice.
    let text = text(2, &format!("file = \"{path}\""));
    refused(
        &text,
        line(&text, "trace"),
        &["70 functions for 122 applications", "one function for each"],
    );
}

/// `orrery run` makes several setups of a scenario, a sweep hundreds.
#[test]
fn the_days_of_a_folder_are_read_once() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("invocations_per_function_md.anon.d01.csv");
    let all: Vec<(String, u32)> = (0..70).map(|i| (format!("f{i:02}"), 60)).collect();
    let all: Vec<(&str, u32)> = all.iter().map(|(n, c)| (n.as_str(), *c)).collect();
    std::fs::write(&file, day(&all)).unwrap();
    let path = folder.path().display();
    let scenario = scenario(&text(1, &format!("file = \"{path}\"")));
    let first = scenario.notes();
    std::fs::write(&file, "damaged\n").unwrap();
    scenario.setup(2).unwrap();
    assert_eq!(scenario.clone().notes(), first);
    let faster = scenario.with_rate(9.0).unwrap();
    let rate = |notes: &[String]| notes.iter().any(|note| note.contains(" 9.0 requests/s"));
    assert!(rate(&faster.notes()) && !rate(&first), "{first:?}");
    let minutes = |first: i64| [("arrivals.trace.first_minute".to_string(), first.into())];
    // Another part of it is read anew.
    assert!(scenario.with(&minutes(7)).unwrap().setup(1).is_err());
}

#[test]
fn wrong_rules_orders_and_files_are_errors() {
    let wrong = |copies: u32, trace: &str, words: &[&str]| {
        let text = text(copies, trace);
        refused(&text, line(&text, "trace"), words);
    };
    let file = "file = \"azure2019-f500\"";
    let dealt = format!("{file}, order = \"released\"");
    wrong(66, &dealt, &["500 functions for 4026 applications", "rule = \"azure-46000\""]);
    wrong(1, &format!("{file}, sigma = 2.0"), &["arrivals.trace.sigma", "add `rule"]);
    wrong(1, &format!("{RULE}, sigma = 9.0"), &["arrivals.trace.sigma", "0 to 5"]);
    wrong(1, &format!("{RULE}, per_function = true"), &["per_function"]);
    wrong(1, &format!("{dealt}, inside = \"even\""), &["arrivals.trace.inside", "poisson"]);
    wrong(1, &format!("{dealt}, first_minute = 9000"), &["first_minute", "480 to 959"]);
    let folder = tempfile::tempdir().unwrap();
    let path = format!("file = \"{}\"", folder.path().display());
    wrong(1, &path, &["no file of a day", "d01.csv"]);
    let name = folder.path().join("invocations_per_function_md.anon.d01.csv");
    std::fs::write(name, "HashFunction,Trigger,1,2\nf,http,1,1\n").unwrap();
    wrong(1, &path, &["the minutes 1 to 2", "1 to 1440", "as they are published"]);
    wrong(1, &format!("{path}, rule = \"azure-46000\""), &["`rule`, where `file` is a folder"]);
    let zoo = text(1, RULE).replace("clockwork-zoo-v100", "symphony-a100");
    let zoo = zoo.replace("count = 12", "count = 12\nmemory_pages = 1376");
    refused(
        &zoo,
        line(&zoo, "name = \"sym"),
        &["no load times", "clockwork-zoo-v100", "memory_pages"],
    );
}
