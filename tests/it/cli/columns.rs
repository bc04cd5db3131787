//! Text fits 80 columns where stdout is no terminal: what is wider is folded, and `--wide` leaves it as it is.

use super::process::Place;
use super::{POISSON, small_scenario, small_table};
use std::collections::BTreeSet;

/// Lines that may be longer, and why: how they begin.
const LONGER: [(&str, &str); 2] = [
    ("  orloj[estimate=mean,", "a policy's whole name has no space, and is copied as it is"),
    ("    orloj[estimate=quantile,", "the same"),
];

fn too_long(text: &str) -> Option<&str> {
    let may = |line: &&str| !LONGER.iter().any(|(begin, _)| line.starts_with(begin));
    text.lines().filter(may).find(|line| line.chars().count() > 80)
}

#[test]
fn the_text_of_every_command_fits_80_columns() {
    let place = Place::with("a.toml", small_scenario(POISSON));
    place.write("table.toml", small_table(""));
    place.write("s.toml", super::sweep::SWEEP);
    place.write("p.toml", super::plan::SMALL);
    place.write("b.toml", super::regress::BASELINE);
    place.run(&["run", "a.toml", "--out", "o", "--policy", "orloj", "--log", "l", "--why"]).ok();
    place.run(&["regress", "b.toml", "--bless"]).ok();
    for words in [
        "list",
        "list policies",
        "list policy orloj",
        "list orloj-table-3",
        "list symphony-fig-6a",
        "list clockwork-zoo-v100",
        "run a.toml --details --out o2",
        "goodput a.toml --seeds 1 --policy fifo --requests-per-model 1000",
        "reproduce table.toml",
        "reproduce orloj-laws",
        "reproduce kairos-upper-bounds",
        "-q sweep s.toml --out sw",
        "plan p.toml --what-if load=1.5",
        "trace list",
        "trace inspect azure2019-f500",
        "regress b.toml",
        "log audit l",
        "log explain l --worst 5",
        "log explain l --request 7",
    ] {
        let text = place.run(&words.split(' ').collect::<Vec<_>>()).ok();
        assert_eq!(too_long(&text), None, "orrery {words}");
    }
}

#[test]
fn wide_text_has_a_line_for_each_policy_and_the_same_numbers() {
    let place = Place::with("a.toml", small_scenario(POISSON));
    let (folded, wide) =
        (place.run(&["run", "a.toml"]).ok(), place.run(&["run", "a.toml", "--wide"]).ok());
    assert!(too_long(&folded).is_none() && too_long(&wide).is_some(), "{wide}");
    let words = |text: &str| -> BTreeSet<String> {
        let bare = |word: &str| word.trim_matches([',', '.', ':', '(', ')']).to_string();
        text.split_whitespace().map(bare).collect()
    };
    // What does not fit is named, and an interval may be half of it.
    let cut = |text: &str| text.contains("with --wide: ");
    assert!(cut(&folded) && !cut(&wide), "{folded}");
    let mut only_folded = words(&folded);
    let hint = words("with --wide");
    only_folded.retain(|w| !words(&wide).contains(w) && !hint.contains(w) && !w.starts_with('±'));
    assert!(only_folded.is_empty(), "{only_folded:?}\n{folded}\n{wide}");
    let results = wide.split("\n\n").find(|part| part.starts_with("Results\n"));
    let results = results.unwrap_or_else(|| panic!("{wide}"));
    let lines = results.lines().filter(|line| line.starts_with("  fifo")).count();
    assert_eq!(lines, 1, "{wide}");
}
