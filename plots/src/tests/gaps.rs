//! Numbers that are none: NaN and infinities in a table are gaps with a note, or refused; nothing is drawn through.

use super::samples::{self, Tables};
use super::{figures, figures_of};
use crate::panel::Mark;
use crate::*;

/// Changes a row's number.
type Break = fn(&mut orrery_results::Row, f64);

#[test]
fn a_value_that_is_no_number_is_a_gap_with_a_note_in_every_figure_of_rows() {
    const BREAKS: [Break; 4] = [
        |r, x| r.value = Some(x),
        |r, x| r.ci95_low = Some(x),
        |r, x| r.ci95_high = Some(x),
        |r, x| r.paper = Some(x),
    ];
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        for (i, change) in BREAKS.iter().enumerate() {
            let mut tables = Tables::default();
            tables.of_rows().into_iter().for_each(|(_, rows)| change(&mut rows[1], bad));
            let drawn = tables.of_rows().map(|(name, _)| name);
            for (name, figure) in figures_of(&tables) {
                let is_whole = !drawn.contains(&name) && name != "heat map";
                let noted = figure.to_svg().contains("not-finite");
                assert_eq!(noted, !is_whole, "{name}: {bad} in number {i}");
                assert!(!figure.to_svg().contains("NaN,"), "{name}");
            }
        }
    }
}

#[test]
fn a_ratio_to_what_is_no_number_is_a_gap_with_a_note() {
    let mut tables = Tables::default();
    assert_eq!(tables.grid[0].system, "base");
    tables.grid[0].value = Some(f64::NAN);
    for (name, figure) in figures_of(&tables) {
        let is_of_grid = ["bars", "heat map"].contains(&name);
        assert_eq!(figure.to_svg().contains("not-finite"), is_of_grid, "{name}");
    }
}

#[test]
fn no_line_is_drawn_across_a_gap() {
    let mut rows = samples::sweep();
    rows.retain(|r| r.axes.ends_with("devices=1") && r.policy.starts_with("nexus"));
    rows[2].value = Some(f64::NAN);
    let figure = metric_by_axis(&rows, "rate_per_s", "latency_p99_ns", &RowFilter::default());
    let figure = figure.expect("a figure");
    let lines = figure.sheet.panels[0].marks.iter().filter_map(|mark| match mark {
        Mark::Line { points, .. } => Some(points.len()),
        _ => None,
    });
    assert_eq!(lines.collect::<Vec<_>>(), [2, 2], "five points, the third of which is none");
}

#[test]
fn a_bin_without_a_number_is_a_gap_with_a_note() {
    let mut rows = samples::series();
    let view = SeriesView { bin_ns: None, quantity: Some("in_system".into()) };
    let svg =
        |rows: &[_]| time_series(rows, &RowFilter::default(), &view).expect("a figure").to_svg();
    let whole = svg(&rows);
    let bin = rows.iter_mut().filter(|r| r.quantity == "in_system").nth(20).expect("a bin");
    bin.value = f64::INFINITY;
    let with_gap = svg(&rows);
    let lines = |svg: &str| svg.matches("<polyline").count();
    assert_eq!(lines(&with_gap), lines(&whole) + 1, "one line is two");
    assert!(with_gap.contains("1 bins are NaN or infinite") && !whole.contains("infinite"));
}

#[test]
fn a_distribution_with_a_point_that_is_no_number_is_refused() {
    for (x, share) in [(f64::NAN, 0.5), (f64::INFINITY, 1.0), (5e6, f64::NAN)] {
        let mut rows = samples::distributions();
        (rows[3].x, rows[3].share) = (x, share);
        let error = latency_cdf(&rows, "latency_ns", &RowFilter::default()).expect_err("refused");
        assert!(error.to_string().contains("finite numbers\n  remedy: "), "{error}");
    }
}

#[test]
fn whole_tables_have_no_such_note() {
    for (name, figure) in figures() {
        assert!(!figure.to_svg().contains("not-finite"), "{name}");
    }
}
