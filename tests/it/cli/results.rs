//! `orrery results`. The command itself is in builds with polars only: `scripts/parquet-test` tests it there.

use super::process::Place;
use super::{POISSON, small_scenario};

#[test]
fn a_build_without_polars_says_how_rows_are_selected() {
    let place = Place::new();
    let says = ["without polars", "--features orrery/polars", "pandas", "orrery results page"];
    place.run(&["results", "out"]).refused(&says);
    place.run(&["results", "out", "--where", "metric"]).refused(&["metric=finish_rate"]);
}

#[test]
fn a_header_with_quotes_is_read_by_plot() {
    let place = Place::with("a.toml", small_scenario(POISSON));
    place.run(&["run", "a.toml", "--out", "out", "--details"]).ok();
    let text = place.read("out/small.series.csv");
    let (head, rest) = text.split_once('\n').unwrap();
    let quoted: Vec<String> = head.split(',').map(|n| format!("\"{n}\"")).collect();
    place.write("quoted.csv", format!("{}\n{rest}", quoted.join(",")));
    place.run(&["plot", "quoted.csv", "--bin", "1", "--out", "s.svg"]).ok();
    place.run(&["plot", "out/small.series.csv", "--bin", "1", "--out", "t.svg"]).ok();
    assert_eq!(place.read("s.svg"), place.read("t.svg"));
}
