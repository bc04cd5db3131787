//! Tables that give no figure: each error says what is needed, what was found, and what to do.

use super::samples;
use crate::*;
use orrery_results::{DistributionRow, Row};

fn says(error: Result<Figure, PlotError>, words: &[&str]) {
    let error = error.expect_err("no figure");
    let text = error.to_string();
    for word in words.iter().chain(&["remedy: "]) {
        assert!(text.contains(word), "{word}: {text}");
    }
    assert!(text.starts_with(error.figure()), "{text}");
    let parts = error.parts();
    assert!(!parts.found.is_empty() && !parts.allowed.is_empty(), "{text}");
    assert!(text.ends_with(&parts.remedy) && !parts.remedy.is_empty(), "{text}");
}

fn all() -> RowFilter {
    RowFilter::default()
}

#[test]
fn an_empty_table_is_named() {
    says(finish_rate_by_slo(&[], &all()), &["an empty table"]);
    says(latency_cdf(&[], "latency_ns", &all()), &["quantity `latency_ns`", "found: nothing"]);
    says(time_series(&[], &all(), &SeriesView::default()), &["an empty table"]);
    says(device_timeline(&[], Window::default()), &["an empty table"]);
    says(sensitivity(&[], "mean_abs_error", &all()), &["an empty table"]);
}

#[test]
fn a_missing_metric_axis_or_quantity_is_named_with_those_that_are_there() {
    let rows = samples::finish_rates(1);
    says(
        metric_by_axis(&rows, "slo_x_p99", "goodput", &all()),
        &["metric `goodput`", "`finish_rate`"],
    );
    says(metric_by_axis(&rows, "load", "finish_rate", &all()), &["axis `load`", "`slo_x_p99`"]);
    says(sensitivity(&rows, "finish_rate", &all()), &["axis `changed`", "`slo_x_p99`"]);
    let mut rows = samples::distributions();
    rows.retain(|r: &DistributionRow| r.quantity == "batch_size");
    says(latency_cdf(&rows, "latency_ns", &all()), &["quantity `latency_ns`", "`batch_size`"]);
}

#[test]
fn an_axis_of_words_cannot_be_drawn_along_x() {
    let rows = [samples::row("a", "estimator=mean;slo_ms=5", "orloj", "", 0.5)];
    let error = finish_rate_by(&rows, "estimator", &all());
    says(error, &["axis `estimator` has the value `mean`", "`slo_ms`"]);
}

#[test]
fn a_choice_that_the_table_has_not_is_an_error_and_not_a_curve_less() {
    let rows = samples::finish_rates(1);
    let choice = RowFilter { presets: vec!["calibratd".into()], ..all() };
    says(finish_rate_by_slo(&rows, &choice), &["preset `calibratd`", "`calibrated`"]);
    let choice = RowFilter { cases: vec!["case-0".into(), "case-9".into()], ..all() };
    says(finish_rate_by_slo(&rows, &choice), &["case `case-9`", "`case-0`"]);
    let choice = RowFilter { systems: vec!["orlo".into()], ..all() };
    says(
        time_series(&samples::series(), &choice, &SeriesView::default()),
        &["policy `orlo`", "`orloj`"],
    );
}

#[test]
fn limits_are_stated() {
    let rows = samples::finish_rates(17);
    says(finish_rate_by_slo(&rows, &all()), &["17 panels", "at most 16", "--case"]);
    let many: Vec<Row> = (0..25)
        .map(|i| samples::row("a", "slo_x_p99=2", &format!("system-{i}"), "", 0.5))
        .collect();
    says(finish_rate_by_slo(&many, &all()), &["25 systems or policies", "at most 24"]);
    let presets = ["a", "b", "c", "d"].map(|p| samples::row("a", "slo_x_p99=2", "orloj", p, 0.5));
    says(finish_rate_by_slo(&presets, &all()), &["4 presets of one system", "at most 3"]);
    let mut batches = samples::batches();
    while batches.len() <= 5_000 {
        batches.extend(batches.clone());
    }
    let window = Window::default();
    assert!(device_timeline(&batches, window).is_ok(), "they are summed up");
}

#[test]
fn a_table_that_is_given_twice_is_found_out() {
    let rows = [samples::finish_rates(1), samples::finish_rates(1)].concat();
    says(
        finish_rate_by_slo(&rows, &all()),
        &["two rows for the same point", "clipper, calibrated, 1.5"],
    );
    let rows = [samples::distributions(), samples::distributions()].concat();
    says(batch_size_cdf(&rows, &all()), &["two rows for the same point", "clockwork"]);
    let rows = [samples::series(), samples::series()].concat();
    says(time_series(&rows, &all(), &SeriesView::default()), &["two rows for the same point"]);
    let rows = [samples::variations(), samples::variations()].concat();
    says(sensitivity(&rows, "mean_abs_error", &all()), &["two rows for the same point", "clipper"]);
}

#[test]
fn a_window_without_batches_says_where_they_are() {
    let batches = samples::batches();
    let window = Window { from_ns: 5_000_000_000, to_ns: Some(6_000_000_000) };
    says(device_timeline(&batches, window), &["5000000000", "the batches run from 0 ns"]);
    let window = Window { from_ns: 50, to_ns: Some(50) };
    says(device_timeline(&batches, window), &["from 50 ns to 50 ns is empty"]);
}

#[test]
fn systems_that_differ_by_policy_only_are_told_apart_by_it() {
    let mut rows = Vec::new();
    for policy in ["nexus[batch=1]", "nexus[batch=2]"] {
        let mut row = samples::row("a", "slo_x_p99=2", "nexus", "", 0.5);
        row.policy = policy.into();
        rows.push(row);
    }
    let svg = finish_rate_by_slo(&rows, &all()).expect("two series").to_svg();
    assert!(svg.contains("nexus[batch=1]") && svg.contains("nexus[batch=2]"));
}

#[test]
fn the_figure_of_a_table_is_guessed() {
    let title = |rows: &[Row]| {
        let svg = figure_of(rows, &all()).expect("a figure").to_svg();
        svg.split("<title>")
            .nth(1)
            .and_then(|t| t.split("</title>").next())
            .unwrap_or("")
            .to_string()
    };
    assert_eq!(title(&samples::finish_rates(1)), "orloj-table-3: finish rate by SLO");
    assert!(title(&samples::variations()).contains("one assumption changed"));
    let one: Vec<Row> =
        samples::sweep().into_iter().filter(|r| r.axis("devices") == Some("1")).collect();
    assert!(title(&one).ends_with("latency P99 by rate"), "{}", title(&one));
    says(figure_of(&samples::sweep(), &all()), &["exactly one axis", "`rate_per_s`, `devices`"]);
}
