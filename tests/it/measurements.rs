//! Measurements that stand in two places say the same.

use orrery_scenario::kairos;
use orrery_sim::time::Span;
use std::fs;
use std::path::Path;

/// The planner is tested with sums and medians of Kairos's samples, scenarios replay the samples.
#[test]
fn the_planner_s_sums_are_those_of_the_samples() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../experiments/plan/solvers/tests/data/kairos_latency_sums_us.csv");
    let text = fs::read_to_string(&file).expect("the planner's fixture");
    let numbers = |list: &str| -> Vec<u64> {
        list.split(' ').map(|n| n.parse().expect("whole microseconds")).collect()
    };
    let mut rows = 0;
    for line in text.lines().skip(1) {
        let fields: Vec<&str> = line.split(',').collect();
        let name = format!("{}@{}", fields[0], fields[1]);
        let table = kairos::samples(&name).unwrap_or_else(|| panic!("samples of {name}"));
        let (sums, medians) = (numbers(fields[2]), numbers(fields[3]));
        assert_eq!(sums.len(), table.sizes().len(), "{name}");
        for ((size, sum), median) in table.sizes().iter().zip(sums).zip(medians) {
            let mut samples = table.samples(*size).to_vec();
            samples.sort();
            let all: Span = samples.iter().fold(Span::ZERO, |a, s| a + *s);
            assert_eq!(all, Span::from_us(sum), "{name}, {size} items");
            assert_eq!(samples[samples.len() / 2], Span::from_us(median), "{name}, {size} items");
        }
        rows += 1;
    }
    assert_eq!(rows, 20, "five models on four types");
}

/// What `kairos-samples` judges section 5.1 of Kairos by, computed again from the samples.
#[test]
fn correlations_and_deviations_are_those_of_the_samples() {
    let text = orrery_reproduce::registry::numbers("kairos_samples.csv").expect("a shipped file");
    let mut rows = 0;
    for line in text.lines().skip(1) {
        let fields: Vec<&str> = line.split(',').collect();
        let name = format!("{}@{}", fields[0], fields[1]);
        let table = kairos::samples(&name).unwrap_or_else(|| panic!("samples of {name}"));
        let us = |s: &Span| s.ns() as f64 / 1e3;
        let of = |size: &u32| table.samples(*size).iter().map(us).collect::<Vec<f64>>();
        let all: Vec<(f64, Vec<f64>)> =
            table.sizes().iter().map(|size| (f64::from(*size), of(size))).collect();
        let every = all.iter().flat_map(|(size, s)| s.iter().map(|x| (*size, *x)));
        let means: Vec<(f64, f64)> = all.iter().map(|(size, s)| (*size, mean(s))).collect();
        let deviation = |s: &Vec<f64>| {
            let (m, n) = (mean(s), s.len() as f64);
            (s.iter().map(|x| (x - m) * (x - m)).sum::<f64>() / n).sqrt() / m
        };
        let mut deviations: Vec<f64> = all.iter().map(|(_, s)| deviation(s)).collect();
        deviations.sort_by(f64::total_cmp);
        let n = deviations.len();
        let median = f64::midpoint(deviations[(n - 1) / 2], deviations[n / 2]);
        let small = deviations.iter().filter(|d| **d < 0.005).count() as f64 / n as f64;
        let samples: usize = all.iter().map(|(_, s)| s.len()).sum();
        let made = [
            n.to_string(),
            samples.to_string(),
            format!("{:.4}", pearson(&every.collect::<Vec<_>>())),
            format!("{:.4}", pearson(&means)),
            format!("{median:.4}"),
            format!("{:.4}", deviations[n - 1]),
            format!("{small:.2}"),
        ];
        assert_eq!(fields[2..], made, "{name}");
        rows += 1;
    }
    assert_eq!(rows, 20, "five models on four types");
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

fn pearson(pairs: &[(f64, f64)]) -> f64 {
    let side = |of: fn(&(f64, f64)) -> f64| {
        let values: Vec<f64> = pairs.iter().map(of).collect();
        let m = mean(&values);
        values.into_iter().map(|v| v - m).collect::<Vec<f64>>()
    };
    let (x, y) = (side(|p| p.0), side(|p| p.1));
    let product = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    product(&x, &y) / (product(&x, &x) * product(&y, &y)).sqrt()
}

/// In README's words: how many of [`records`] are not validated, and how far off the others' finish rates are.
pub fn records_in_words() -> String {
    let table = records();
    let rows: Vec<Vec<&str>> =
        table.lines().skip(2).map(|row| row.split(" | ").collect()).collect();
    let not =
        rows.iter().filter(|row| row.last().is_some_and(|cell| cell.contains("**not"))).count();
    let with_points: Vec<_> = rows.iter().filter(|row| row[2].contains(',')).collect();
    let mean = |row: &&Vec<&str>| -> f64 {
        let mean = row[2].trim_matches('*').split(',').next().expect("a mean");
        mean.parse().expect("a number")
    };
    let ends =
        with_points.iter().map(mean).fold((f64::MAX, 0f64), |(a, b), x| (a.min(x), b.max(x)));
    let furthest = rows.iter().filter_map(|row| row[4].split(", ").nth(1)?.split(' ').next());
    let furthest = furthest.map(|most| most.parse::<f64>().expect("a share")).fold(0.0, f64::max);
    let naive = with_points.iter().filter(|row| row[3].contains("**")).count();
    format!(
        "Our own runs on H100s and H200s: **{not} of {} campaigns are not validated**. In {} with finish rates between\n\
         1 and 99 % the mean error is {:.2} to {:.2} points; in {naive} of these the latency model alone (naive) is nearer\n\
         ([table](replay/validated/README.md)). Goodput and latencies are up to {furthest:.0} % off.\n",
        rows.len(),
        with_points.len(),
        ends.0,
        ends.1,
    )
}

/// The table of `replay/validated`: each record of a GPU with its finish rate and the quantity that is furthest off, beside the
/// latency model alone, which is the naive baseline; and its verdict.
pub fn records() -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../replay/validated");
    let folders = fs::read_dir(&root).expect("the records").flatten();
    let names = folders.map(|f| f.file_name().to_string_lossy().into_owned());
    let mut names: Vec<String> = names.filter(|name| name.starts_with("gpu-")).collect();
    names.sort();
    let mut out = String::from(
        "| our own runs | points | finish rate, points: mean, max | naive | furthest off: mean, max | naive | |\n\
         |---|---|---|---|---|---|---|\n",
    );
    for name in names {
        let record = fs::read_to_string(root.join(&name).join("validation.md")).expect("a record");
        let finish = errors(&record, "finish rate, between 1 and 99 %");
        let others = ["goodput", "latency p50", "latency p90", "latency p99"];
        let others = others.iter().filter_map(|of| Some((*of, errors(&record, of)?)));
        let worst = others.max_by(|a, b| a.1[2].total_cmp(&b.1[2]));
        let pair = |mean: f64, most: f64, by: f64, unit: &str| {
            let pair = format!("{mean:.2}, {most:.2}{unit}");
            if mean < by { format!("**{pair}**") } else { pair }
        };
        let (points, ours, naive) = finish.map_or_else(Default::default, |[n, a, b, c, d]| {
            (n.to_string(), pair(a, b, c, ""), pair(c, d, a, ""))
        });
        let (of, its_naive) = worst.map_or_else(Default::default, |(of, [_, a, b, c, d])| {
            let of = of.trim_start_matches("latency ");
            (format!("{of} {}", pair(a, b, c, " %")), pair(c, d, a, " %"))
        });
        let lacks = record.split("**Not validated a priori: ").nth(1);
        let before = |what: &str| record.split(what).next()?.rsplit(' ').next();
        let runs = before(" runs count").expect("runs that count");
        let invalid = before(" are invalid").expect("runs that do not");
        let verdict = if lacks.is_some() { "**not validated**, " } else { "" };
        out.push_str(&format!(
            "| `{name}` | {points} | {ours} | {naive} | {of} | {its_naive} | {verdict}{runs} runs valid, {invalid} not |\n"
        ));
    }
    out
}

/// Points, mean and largest error, and both of the latency model alone.
fn errors(record: &str, of: &str) -> Option<[f64; 5]> {
    let line = record.lines().find(|l| l.starts_with(&format!("| {of} |")))?;
    let cells: Vec<f64> = line.split('|').filter_map(|cell| cell.trim().parse().ok()).collect();
    Some([cells[0], cells[1], cells[2], cells[3], cells[4]])
}

/// The table of real servers is what its script makes of the kept results, where there is a Python.
#[test]
fn the_table_of_servers_is_that_of_the_kept_results() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut command = std::process::Command::new("python3");
    let command = command.current_dir(&root).args(["-B", "scripts/server-validate"]);
    let kept = ["servers", "servers-2026-11-29"].map(|f| format!("scenarios/triton/{f}.csv"));
    let Ok(done) = command.arg("--table").args(kept).output() else {
        return eprintln!("there is no python3");
    };
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let table = String::from_utf8(done.stdout).expect("text");
    let page = fs::read_to_string(root.join("docs/measured.md")).expect("the page");
    assert!(page.contains(&table), "docs/measured.md lacks this table:\n{table}");
}
