//! Each thing that can be wrong with arrivals, closed loops and the files they name, as a claim.

use super::base::{NAME, VALID, changed, message, refused, refused_change, with_arrivals};
use orrery_scenario::Scenario;

/// The line of `[arrivals]` in the base.
const ARRIVALS: usize = 39;

fn refused_arrivals(arrivals: &str, words: &[&str]) {
    refused(&with_arrivals(arrivals), ARRIVALS + 1, words);
}

#[test]
fn a_rate_is_positive_and_finite() {
    for wrong in ["0.0", "-5.0", "nan", "inf"] {
        let to = format!("poisson = {{ rate_per_s = {wrong} }}");
        refused_change("poisson = { rate_per_s = 200.0 }", &to, &["arrivals.poisson.rate_per_s"]);
        let gamma = format!("gamma = {{ rate_per_s = 1, shape = {wrong} }}\nrequests = 9");
        refused_arrivals(&gamma, &["arrivals.gamma.shape"]);
    }
    let mmpp = "mmpp = { rates_per_s = [1.0, -2.0], mean_sojourns_s = [1.0, 1.0] }\nrequests = 9";
    refused_arrivals(mmpp, &["arrivals.mmpp.rates_per_s"]);
    let mmpp = "mmpp = { rates_per_s = [1.0, 2.0], mean_sojourns_s = [1.0] }\nrequests = 9";
    refused_arrivals(mmpp, &["2 rates, 1 sojourns"]);
}

#[test]
fn exactly_one_process_is_given() {
    let text = with_arrivals("requests = 10");
    refused(&text, ARRIVALS, &["no process", "exactly one of constant, poisson"]);
    let two = "poisson = { rate_per_s = 1 }\nconstant = { rate_per_s = 1 }\nrequests = 10";
    refused(&with_arrivals(two), ARRIVALS, &["constant, poisson", "keep one"]);
    let (before, _) = VALID.split_once("[arrivals]").unwrap();
    assert!(message(before).contains("no load at all"));
}

#[test]
fn a_load_without_end_needs_a_limit() {
    let endless = "poisson = { rate_per_s = 1 }";
    let words = ["neither requests nor duration_s", "add `requests = 10000` or `duration_s = 60`"];
    refused(&with_arrivals(endless), ARRIVALS, &words);
    let stopped = format!("until_s = 5.0\n{}", with_arrivals(endless));
    Scenario::from_text(NAME, &stopped).unwrap();
    refused_change("requests = 400", "requests = 0", &["arrivals.requests"]);
    refused_change("duration_s = 60.0", "duration_s = 0.0", &["arrivals.duration_s"]);
}

#[test]
fn a_finite_source_needs_no_limit() {
    let trace = "trace = { file = \"azure2019-f500\", first_minute = 480, minutes = 2 }";
    Scenario::from_text(NAME, &with_arrivals(trace)).unwrap().setup(1).unwrap();
}

#[test]
fn a_closed_loop_needs_clients_a_limit_and_thought() {
    refused_change("clients = 3", "clients = 0", &["closed_loop.clients"]);
    let text = changed("clients = 3\nrequests = 50", "clients = 3");
    refused(&text, 44, &["never ends by itself", "[closed_loop]"]);
    refused_change("exponential_ms = 20.0", "exponential_ms = -1.0", &["closed_loop.think"]);
    let no_thought = "duration_s = 5.0\nthink = { constant_ms = 0.0 }";
    let text = changed("requests = 50\nthink = { exponential_ms = 20.0 }", no_thought);
    Scenario::from_text(NAME, &text).unwrap();
    let no_pause = format!("{no_thought}\npause_ms = 0.0");
    let text = changed("requests = 50\nthink = { exponential_ms = 20.0 }", &no_pause);
    refused(&text, 48, &["closed_loop.pause_ms"]);
    let text = changed("exponential_ms = 20.0", "constant_ms = 0.0");
    Scenario::from_text(NAME, &text).unwrap();
}

#[test]
fn apps_of_a_load_must_exist() {
    refused_change("requests = 400", "apps = [\"chta\"]", &["arrivals.apps[0]", "mean `chat`"]);
    refused_change("requests = 400", "apps = []", &["arrivals.apps", "at least one"]);
    refused_change("requests = 50", "apps = [\"chat\", \"chat\"]", &["closed_loop.apps[1]"]);
}

#[test]
fn minutes_must_be_in_the_trace() {
    let trace = |rest: &str| format!("trace = {{ file = \"azure2019-f500\", {rest} }}");
    let words = ["arrivals.trace.first_minute", "found 1", "480 to 959"];
    refused_arrivals(&trace("first_minute = 1"), &words);
    let words = ["arrivals.trace.minutes", "1 to 10", "ends with minute 959"];
    refused_arrivals(&trace("first_minute = 950, minutes = 11"), &words);
    refused_arrivals(&trace("minutes = 0"), &["arrivals.trace.minutes"]);
}

#[test]
fn functions_must_be_in_the_trace() {
    let trace = |rest: &str| {
        format!("trace = {{ file = \"azure2019-f500\", minutes = 2, functions = \"{rest}\" }}")
    };
    for wrong in ["some", "ranks:5", "without-top:x", "trigger:"] {
        refused_arrivals(&trace(wrong), &["arrivals.trace.functions", "without-top:N"]);
    }
    refused_arrivals(&trace("without-top:500"), &["ranks from 1 to 500"]);
    refused_arrivals(&trace("ranks:3-2"), &["ranks from 1 to 500"]);
    refused_arrivals(&trace("trigger:telepathy"), &["http", "choose a trigger"]);
}

#[test]
fn a_trace_is_scaled_once() {
    let both = "trace = { file = \"azure2019-f500\", rate_per_s = 5, rate_factor = 2 }";
    refused_arrivals(both, &["rate_per_s or rate_factor, not both"]);
    let none = "trace = { file = \"azure2019-f500\", minutes = 2, rate_per_s = 0 }";
    refused_arrivals(none, &["arrivals.trace.rate_per_s"]);
    let squeezed = "trace = { file = \"azure2019-f500\", minutes = 2, compress = 0 }";
    refused_arrivals(squeezed, &["arrivals.trace.compress"]);
}

#[test]
fn a_file_that_is_missing_is_named_with_its_path() {
    let words = ["arrivals.trace.file", "folder/azure2019-f50:", "mean `azure2019-f500`"];
    refused_arrivals("trace = { file = \"azure2019-f50\" }", &words);
    let words = ["arrivals.workload.file", "folder/none.csv", "from the scenario's folder"];
    refused_arrivals("workload = { file = \"none.csv\" }", &words);
    let time = "{ normal = { mean_ms = 5.0, sd_ms = 1.0 } }";
    let samples = "{ samples = { file = \"none.csv\", column = \"ms\" } }";
    refused_change(time, samples, &["app[0].time.samples.file", "folder/none.csv"]);
}

#[test]
fn a_file_of_another_kind_or_without_the_column_is_refused() {
    let wrong = "trace = { file = \"len-translation-ende\" }";
    refused_arrivals(wrong, &["arrivals.trace", "column `HashFunction` is missing"]);
    let time = "{ normal = { mean_ms = 5.0, sd_ms = 1.0 } }";
    let lengths = "{ lengths = { file = \"len-translation-ende\", column = \"tokens\", \
                   base_ms = 1.0, per_token_ms = 0.1 } }";
    refused_change(time, lengths, &["app[0].time.lengths", "`tokens` is missing", "src_tokens"]);
    refused_change(time, &lengths.replace("base_ms = 1.0", "base_ms = -1"), &["base_ms"]);
}

#[test]
fn a_part_of_a_workload_is_by_rows_or_by_time() {
    let part = |rest: &str| format!("workload = {{ file = \"w.csv\", {rest} }}");
    refused_arrivals(&part("from_row = 1, from_s = 2"), &["by rows or by time"]);
    refused_arrivals(&part("from_row = 5, to_row = 5"), &["more than from_row"]);
    refused_arrivals(&part("from_s = 5, to_s = 4"), &["more than from_s"]);
    refused_arrivals(&part("from_s = -1"), &["arrivals.workload.from_s"]);
}

#[test]
fn a_shared_rate_has_somebody_to_send_each_part() {
    let spread = |rest: &str| format!("spread = {{ {rest} }}\nrequests = 9");
    let good = "rate_per_s = 10, every_s = 1, others = [\"chat\"], others_per_s = 2";
    Scenario::from_text(NAME, &with_arrivals(&spread(good))).unwrap();
    for (wrong, words) in [
        ("rate_per_s = 0, every_s = 1", ["arrivals.spread.rate_per_s", "0"]),
        ("rate_per_s = nan, every_s = 1", ["arrivals.spread.rate_per_s", "NaN"]),
        ("rate_per_s = 10, every_s = 0", ["arrivals.spread.every_s", "0"]),
        ("rate_per_s = 10, every_s = 1, from_s = -1", ["arrivals.spread.from_s", "-1"]),
        ("rate_per_s = 10, every_s = 1, others_per_s = 2", ["others_per_s", "give both"]),
        ("rate_per_s = 10, every_s = 1, others = [\"chat\"]", ["others_per_s", "give both"]),
        ("rate_per_s = 10, every_s = 1, others = [\"chit\"]", ["arrivals.spread.others", "chit"]),
        (
            "rate_per_s = 10, every_s = 1, others = [\"chat\", \"photos\"], others_per_s = 2",
            ["arrivals.spread.rate_per_s", "name fewer `others`"],
        ),
    ] {
        refused_arrivals(&spread(wrong), &words);
    }
    let endless = "spread = { rate_per_s = 10, every_s = 1 }";
    refused(&with_arrivals(endless), ARRIVALS, &["neither requests nor duration_s"]);
}
