//! Tests of the inspection: the shipped files against facts computed by other means.
//! Not here: damage, which `tests/it/readers.rs` does for every reader.

use super::*;
use crate::shipped::shipped;

fn shipped_facts(name: &str) -> Inspection {
    inspect_with(|| shipped(name)).unwrap()
}

fn check(found: &Inspection, facts: &[(&str, f64)]) {
    for &(name, expected) in facts {
        let number = found.number(name).unwrap_or_else(|| panic!("no fact `{name}`"));
        assert!((number / expected - 1.0).abs() < 0.006, "{name}: {number}, not {expected}");
    }
}

#[test]
fn the_500_functions_are_as_characterised() {
    let found = shipped_facts("azure2019-f500");
    assert_eq!(found.format, Format::Azure2019Invocations);
    let facts = [
        ("functions", 500.0),
        ("first minute label", 480.0),
        ("last minute label", 959.0),
        ("minutes", 480.0),
        ("calls", 3_037_902.0),
        ("share of the top 1 % of functions", 0.836),
        ("share of the top 10 % of functions", 0.984),
        ("calls per min, mean", 6329.0),
        ("calls per min, CoV", 0.100),
        ("calls per min, peak/mean", 1.20),
        ("without the top 1 %: calls per min, mean", 1040.8),
        ("without the top 1 %: calls per min, CoV", 0.160),
        ("without the top 1 %: calls per min, peak/mean", 2.12),
    ];
    check(&found, &facts);
    assert_eq!(found.number("functions without a call"), Some(0.0));
    let text = found.to_string();
    assert!(text.contains("timer 247") && text.contains("http 139"), "{text}");
}

#[test]
fn the_llm_traces_are_as_characterised() {
    let code = shipped_facts("azure-llm2023-code");
    check(
        &code,
        &[
            ("prompts", 8819.0),
            ("span s", 3436.0),
            ("rate per s, mean", 2.57),
            ("gap between arrivals, CV", 13.15),
            ("tokens in, mean", 2048.0),
            ("tokens in, most", 7437.0),
            ("tokens out, most", 1899.0),
        ],
    );
    let conv = shipped_facts("azure-llm2023-conv");
    let conv_facts =
        [("prompts", 19_366.0), ("rate per s, mean", 5.53), ("gap between arrivals, CV", 1.09)];
    check(&conv, &conv_facts);
}

#[test]
fn the_2021_records_are_as_characterised() {
    let found = shipped_facts("azure2021-head199");
    let facts = [("invocations", 199.0), ("applications", 13.0), ("functions", 31.0)];
    check(&found, &facts);
    assert_eq!(found.number("durations of zero"), Some(8.0));
}

fn of(text: &'static str) -> Result<Inspection, TraceError> {
    inspect_with(|| Input::from_bytes("some.csv", text.as_bytes()))
}

#[test]
fn durations_and_workloads_are_known_by_their_header() {
    let durations =
        of("HashFunction,Average,Count,Minimum,Maximum\nf,10,3,1,20\ng,20,1,1,30\n").unwrap();
    check(&durations, &[("executions", 4.0), ("average of an execution ms", 12.5)]);
    let workload = of("arrival_ns,app,model,size,slo_ns,alone_ns\n\
        0,0,0,1,,1000000000\n2000000000,1,0,1,5,3000000000\n")
    .unwrap();
    assert_eq!(workload.format, Format::Workload);
    check(&workload, &[("applications", 2.0), ("offered load (rate x mean alone)", 2.0)]);
    let at_once = of("arrival_s,app,model,size,slo_ms,alone_ms\n0,0,0,1,,1\n0,0,0,1,,1\n").unwrap();
    assert_eq!(at_once.format, Format::Workload);
    assert!(at_once.to_string().contains("-, all at once"), "{at_once}");
}

#[test]
fn a_function_given_twice_is_one_with_the_calls_of_both() {
    let found = of("HashFunction,Trigger,1\nf,http,1\ng,timer,5\nf,http,2.0\n").unwrap();
    check(&found, &[("functions", 2.0), ("calls", 8.0)]);
    let text = found.to_string();
    assert!(text.contains("http 1, timer 1") && text.contains("given twice: 1"), "{text}");
    assert!(text.contains("written as `57.0`: 1, first `2.0` on line 4"), "{text}");
}

#[test]
fn other_files_and_late_damage_are_errors_that_name_the_file() {
    for (text, place) in [
        ("a,b\n1,2\n", "unknown format"),
        ("", "line 1"),
        ("HashFunction,Trigger,1\nf,http,1\nf,http,x\n", "line 3"),
        ("arrival_ns,app,model,size,slo_ns,alone_ns\n5,0,0,1,,1\n4,0,0,1,,1\n", "line 3"),
    ] {
        let message = of(text).unwrap_err().to_string();
        assert!(message.starts_with("some.csv") && message.contains(place), "{message}");
    }
}
