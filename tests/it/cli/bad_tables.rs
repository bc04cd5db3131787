//! Table files that are wrong: exit code 2, no result, and a message that names key or file.

use super::process::Place;
use super::small_table;

/// Runs a table file and wants it refused with all of these.
#[track_caller]
fn refused(text: &str, says: &[&str]) {
    let place = Place::with("mine.toml", text);
    place.run(&["reproduce", "mine.toml", "--jobs", "1"]).refused(says);
    assert_eq!(place.files(), ["mine.toml"]);
}

#[test]
fn a_text_that_is_no_toml_is_told_the_line() {
    refused(
        &small_table("this is no toml\n"),
        &["mine.toml", "line 6", "remedy: correct the file"],
    );
    refused("", &["mine.toml", "`scenario`", "found none of them", "remedy"]);
    let place = Place::with("mine.toml", [0xff, 0xfe, 0x00, 0x80]);
    place.run(&["reproduce", "mine.toml"]).refused(&["mine.toml", "UTF-8", "remedy"]);
}

#[test]
fn a_base_that_is_unknown_is_told_what_bases_there_are() {
    let text = small_table("").replace("orloj-table-3", "orloj-table-33");
    refused(&text, &["mine.toml", "`extends`", "did you mean `orloj-table-3`?", "name one of"]);
}

#[test]
fn a_key_that_is_unknown_is_told_the_keys_there_are() {
    let system = "[[system]]\nname = \"a\"\npreset = \"paper\"\npolicy = \"fifo\"\nc1 = 1\n";
    for (more, key, known) in [
        ("sedes = 3\n", "`sedes`", "`seeds`"),
        ("applications.load.warmup = 0.1\n", "`warmup`", "`warm_up`"),
        ("applications.cases.units_ms = 3.0\n", "`units_ms`", "`unit_ms`"),
        (system, "`c1`", "c1_of"),
    ] {
        refused(&small_table(more), &["mine.toml:", key, known, "remedy"]);
    }
}

/// Before hours of runs, not as a column of dashes after them.
#[test]
fn a_metric_that_no_row_has_is_told_the_nearest() {
    let claim = |metric: &str| {
        format!("[[claim]]\ntext = \"t\"\nof = \"fifo\"\nmetric = \"{metric}\"\nat_least = 0.5\n")
    };
    let figure = |key: &str| format!("[figure]\nkind = \"bars\"\n{key}\n");
    let paper = "[[paper]]\nat = \"\"\nsystem = \"fifo\"\nmetric = \"finsh_rate\"\nvalue = 1.0\n\
                 source = \"s\"\n";
    for (more, key, near) in [
        ("show = [\"finish_rate\", \"latency_p98_ns\"]\n", "show[1]", "`latency_p9"),
        (&claim("finsh_rate"), "claim[0].metric", "did you mean `finish_rate`?"),
        (&claim("goodput_per_s_diference"), "claim[0].metric", "remedy"),
        (paper, "paper[0].metric", "did you mean `finish_rate`?"),
        (&figure("metric = \"utilization\""), "figure.metric", "did you mean `utilisation`?"),
        (&figure("metrics = [\"jct_p41_ns\"]"), "figure.metrics[0]", "did you mean `jct_p"),
        (
            &figure("interval = [\"batch_size_p10\", \"batch_size_p91\"]"),
            "figure.interval[1]",
            "did you mean `batch_size_p90`?",
        ),
    ] {
        refused(&small_table(more), &["mine.toml:", key, near]);
    }
}

#[test]
fn a_value_of_a_wrong_type_is_told_the_right_one() {
    for (key, value, says) in [
        ("applications.load.offered", "\"much\"", "expected f64"),
        ("applications.load.of", "\"median\"", "one of mean, p99, modes"),
        ("applications.load.p99", "0.99", "p99"),
        ("applications.arrivals.inside", "\"evenly\"", "one of poisson, even"),
        ("applications.latency.law", "\"linear\"", "one of proportional, eq3"),
        ("applications.profile.sizes", "4", "expected a sequence"),
        ("applications.profile.batches", "-5", "expected u32"),
        ("title", "3", "expected a string"),
    ] {
        let last = key.split('.').next_back().expect("a key");
        refused(&small_table(&format!("{key} = {value}\n")), &["mine.toml", last, says, "remedy"]);
    }
    let text = small_table("").replace("[2.0]", "[\"2\"]");
    refused(&text, &["mine.toml", "slo_x_p99", "remedy"]);
}

#[test]
fn a_value_out_of_range_is_told_the_range() {
    for (key, value, says) in [
        ("applications.load.offered", "-1.0", "found -1; allowed: a number from 0.000001"),
        ("applications.load.offered", "0.0", "found 0;"),
        ("applications.load.offered", "nan", "found NaN;"),
        ("applications.load.offered", "inf", "found inf;"),
        ("applications.load.warm_up", "1.0", "from 0 to 0.9"),
        ("applications.latency.c1", "0.0", "allowed: a number from"),
        ("applications.latency.c0_share_of_mean", "-0.1", "allowed: a number from 0"),
        ("applications.profile.batches", "0", "from 1"),
        ("applications.profile.bins", "0", "from 1"),
        ("applications.profile.sizes", "[]", "at least one"),
        ("applications.profile.sizes", "[2, 1]", "increasing sizes"),
        ("applications.profile.sizes", "[1, 1]", "increasing sizes"),
        ("applications.profile.sizes", "[0, 1]", "increasing sizes"),
        ("applications.arrivals.minutes", "0", "from 1"),
    ] {
        let says = ["mine.toml", &format!("key `{key}`"), says, "remedy:"];
        refused(&small_table(&format!("{key} = {value}\n")), &says);
    }
    for (from, to, key) in [
        ("[2.0]", "[]", "axis[1].values"),
        ("[2.0]", "[-2.0]", "slo_x_p99"),
        ("[\"one-modal\"]", "[]", "axis[0].values"),
        ("seeds = 2", "seeds = 0", "seeds"),
        ("= 300", "= 0", "applications.load.requests"),
    ] {
        let key = format!("key `{key}`");
        refused(&small_table("").replace(from, to), &["mine.toml", &key, "allowed:", "remedy:"]);
    }
}

#[test]
fn a_policy_that_is_unknown_is_told_the_nearest_one() {
    let system = |policy: &str| {
        small_table(&format!(
            "[[system]]\nname = \"a\"\npreset = \"calibrated\"\npolicy = {policy}\n"
        ))
    };
    refused(&system("\"clokwork\""), &["`clokwork`", "did you mean `clockwork`?", "remedy:"]);
    refused(&system("\"fifo[max_bach=3]\""), &["max_bach", "remedy:"]);
    refused(&system("\"fifo[max_batch=0]\""), &["max_batch", "1 to 4096", "remedy:"]);
    refused(&system("\"fifo[max_batch=3\""), &["bracket", "remedy:"]);
    refused(&system("\"\""), &["there is no policy", "name one of", "remedy:"]);
}

#[test]
fn a_trace_that_is_unknown_is_told_what_traces_there_are() {
    for trace in ["azure2019", "poisson:x", ""] {
        let more = format!("applications.arrivals.trace = \"{trace}\"\n");
        refused(&small_table(&more), &[&format!("`{trace}`"), "azure2019-f500", "choose one"]);
    }
    let more = "applications.arrivals.trace = \"azure-llm2023-conv\"\n";
    refused(&small_table(more), &["azure_llm2023_conv", "HashFunction", "the right file"]);
    let more = "applications.arrivals.trace = \"gamma:0\"\n";
    refused(&small_table(more), &["`shape`", "found `0`", "change the parameter"]);
}

#[test]
fn functions_that_the_trace_does_not_have_are_told_what_it_has() {
    for (functions, says) in [
        ("some", "all, without-top:N, ranks:A-B or trigger:NAME"),
        ("without-top:x", "without-top:N"),
        ("without-top:500", "azure2019_f500"),
        ("ranks:3", "ranks:A-B"),
        ("ranks:9-2", "azure2019_f500"),
        ("ranks:0-5", "azure2019_f500"),
        ("ranks:400-900", "ranks from 1 to 500"),
        ("trigger:none", "http"),
    ] {
        refused(
            &small_table(&format!("applications.arrivals.functions = \"{functions}\"\n")),
            &[says],
        );
    }
}

#[test]
fn minutes_that_the_trace_does_not_have_are_told_which_it_has() {
    for (first, minutes) in [(0, 480), (479, 1), (900, 480), (960, 1), (2000, 480)] {
        let more = format!(
            "applications.arrivals.first_minute = {first}\napplications.arrivals.minutes = {minutes}\n"
        );
        refused(&small_table(&more), &["azure2019_f500", "480 to 959", "choose minutes"]);
    }
}

#[test]
fn a_change_of_a_key_that_is_not_there_is_refused() {
    for (set, says) in [
        ("{ \"load.offerd\" = 1.0 }", "load.offerd"),
        ("{ \"load.offered\" = -1.0 }", "key `applications.load.offered`"),
        ("{ \"system.vllm.policy\" = \"fifo\" }", "system.vllm.policy"),
        ("{ \"system.orloj.nokey\" = 1 }", "nokey"),
        ("{ \"system.orloj.policy\" = \"orlo\" }", "did you mean `orloj`?"),
    ] {
        refused(
            &small_table(&format!("[[point]]\nname = \"a\"\nset = {set}\n")),
            &[says, "remedy"],
        );
    }
}

#[test]
fn a_value_that_means_nothing_is_refused() {
    refused(&small_table("applications.arrivals.first_minute = 4294967295\n"), &["first_minute"]);
    refused(&small_table("applications.cases.unit_ms = 0.0\n"), &["unit_ms"]);
    let system = |more: &str| {
        let system =
            "[[system]]\nname = \"clipper\"\npreset = \"calibrated\"\npolicy = \"clipper\"\n";
        small_table(&format!("{system}{more}\n"))
    };
    refused(&system("host_ms_per_request = -1.0"), &["host_ms_per_request"]);
    refused(&system("host_ms_per_request = nan"), &["host_ms_per_request"]);
    refused(&system("c1_of = { bart = -3.0 }"), &["c1_of"]);
    refused(&system("").replace("calibrated", "calibratd"), &["preset", "calibrated"]);
    refused(&small_table("").replace("\"small\"", "\"../evil\""), &["id"]);
}
