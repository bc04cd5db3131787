//! A mean, share or error of nothing is none, and no 0: `orrery_sim::stats::mean` says so in its type.

use super::manifests::files;
use std::path::Path;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");
const FOLDERS: [&str; 7] =
    ["sim/src", "traces", "results/src", "plots/src", "experiments", "replay/src", "python/src"];

/// Sums that are no mean of measurements, with the reason.
const NO_MEANS: [(&str, &str); 5] = [
    ("sim/src/policy/orloj/tables.rs", "a policy's own estimate"),
    ("sim/src/tokens/metrics.rs", "asked only where something was counted"),
    ("plots/src/series/bins.rs", "a running sum"),
    ("experiments/plan/src/search/fleet/known.rs", "a floor that a search begins at"),
    ("experiments/calibrate/src/fit.rs", "a distance to fit, to which nothing adds nothing"),
];

/// Whether a line divides a sum by at least one, or takes 0 for the sum of nothing.
fn hides_nothing_measured(line: &str) -> bool {
    let is_sum = line.contains("sum");
    let by_one = ["len().max(1)", "n.max(1)", "count().max(1)", "points.max(1)"];
    let divides = line.contains('/') && by_one.iter().any(|one| line.contains(one));
    let or_0 = ["is_empty() { 0.0 }", "== 0 { 0.0 }", "else { 0.0 }"];
    (is_sum || line.contains("/=")) && (divides || or_0.iter().any(|zero| line.contains(zero)))
}

#[test]
fn no_source_makes_a_mean_of_nothing_0() {
    for line in [
        "Errors { mean: if n == 0 { 0.0 } else { sum / n }, largest }",
        "if all > 0.0 { sum / all } else { 0.0 }",
        "let mean = all.iter().sum::<f64>() / all.len().max(1) as f64;",
        "d.mean /= d.points.max(1) as f64;",
    ] {
        assert!(hides_nothing_measured(line), "{line}");
    }
    let mut paths = Vec::new();
    for folder in FOLDERS {
        files(&Path::new(ROOT).join(folder), "rs", &mut paths);
    }
    assert!(paths.len() > 500, "{}", paths.len());
    let mut found = Vec::new();
    for path in paths {
        let name = path.strip_prefix(ROOT).expect("below the root").to_str().expect("a name");
        if name.contains("tests") || NO_MEANS.iter().any(|(file, _)| name == *file) {
            continue;
        }
        let text = std::fs::read_to_string(&path).expect("a source");
        let own = text.split("#[cfg(test)]").next().unwrap_or_default();
        let lines = (1..).zip(own.lines()).filter(|(_, line)| hides_nothing_measured(line));
        found.extend(lines.map(|(number, line)| format!("{name}:{number}: {}", line.trim())));
    }
    assert!(found.is_empty(), "use `orrery_sim::stats::mean`:\n{}", found.join("\n"));
}
