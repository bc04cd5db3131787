//! The forms of one answer say the same: every number of the wide form, of JSON, of a table in text or on a page is a
//! number of the CSV, of the same cell, after its own rounding.
//!
//! Experiments are compared where `verdicts` runs them; commands in `cli/forms.rs`.

use crate::golden;
use orrery_report::Forms;
use orrery_reproduce::document;
use orrery_reproduce::experiment::Experiment;
use orrery_results::{Row, is_metric, metric, read_rows, to_csv};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// What does not agree, and how many numbers were compared.
#[derive(Default)]
pub struct Compared {
    pub numbers: usize,
    pub faults: Vec<String>,
}

impl Compared {
    /// Counts a number that has to be `found`.
    fn expect(&mut self, found: bool, what: impl FnOnce() -> String) {
        self.numbers += 1;
        if !found {
            self.faults.push(what());
        }
    }

    /// Fails with the first faults, and where fewer numbers were compared.
    pub fn agree(&self, of: &str, least: usize) {
        let first = &self.faults[..self.faults.len().min(12)];
        let (bad, all) = (self.faults.len(), self.numbers);
        assert!(first.is_empty(), "{of}: {bad} of {all} numbers differ:\n{}", first.join("\n"));
        assert!(all >= least, "{of}: {all} numbers were compared, and not {least}");
    }
}

/// A number as it is printed: what it is, and half a unit of its last digit.
fn printed(word: &str) -> Option<(f64, f64)> {
    let plain = word.trim_start_matches(['?', '+']).replace(',', "");
    let number: f64 = plain.parse().ok()?;
    let digits = plain.split(['e', 'E']).next()?.split_once('.').map_or(0, |(_, d)| d.len());
    let exponent = plain.split(['e', 'E']).nth(1).map_or(Some(0), |e| e.parse().ok())?;
    Some((number, 0.5 * libm::exp10(f64::from(exponent - digits as i32))))
}

/// Whether two numbers are one but for the rounding of sums.
fn is_same(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * a.abs().max(b.abs())
}

/// Whether a number is printed so in one of these units.
fn is_printed(x: f64, word: &str, divisors: &[f64]) -> bool {
    let Some((number, half)) = printed(word) else { return false };
    divisors.iter().any(|by| (x / by - number).abs() <= half * (1.0 + 1e-6) + 1e-12 * number.abs())
}

/// The units that a metric may be printed in: its own, and that for readers.
fn units(row: &Row) -> [f64; 2] {
    [1.0, metric::reading(&row.metric).divisor]
}

/// What a row may be shown as beside the paper: its error.
fn errors(row: &Row) -> Vec<f64> {
    let of = |(ours, paper): (f64, f64)| [ours - paper, 100.0 * (ours / paper - 1.0)];
    row.value.zip(row.paper).map_or(Vec::new(), |both| of(both).to_vec())
}

/// The values of all metrics are possible ones, and their intervals too.
fn possible(rows: &[Row], out: &mut Compared) {
    for row in rows {
        let (least, most) = metric::range(&row.metric);
        for x in [row.ci95_low, row.ci95_high].into_iter().flatten() {
            let is_at_value = row.value.is_some_and(|v| !(least..=most).contains(&v));
            let is_possible = (least..=most).contains(&x) || is_at_value;
            out.expect(is_possible, || format!("{:?} {}: interval to {x}", row.key(), row.metric));
        }
    }
}

/// JSON and CSV have the same rows.
pub fn same_rows(rows: &[Row], csv: &str, json: &str, out: &mut Compared) {
    possible(rows, out);
    let read = read_rows("csv", csv).expect("rows");
    let value: Value = serde_json::from_str(json).expect("JSON");
    let of_json: Vec<Row> = serde_json::from_value(value["rows"].clone()).expect("rows");
    for (i, row) in rows.iter().enumerate() {
        out.expect(read.get(i) == Some(row), || format!("CSV: {row:?}"));
        out.expect(of_json.get(i) == Some(row), || format!("JSON: {row:?}"));
    }
    out.expect((read.len(), of_json.len()) == (rows.len(), rows.len()), || "more rows".into());
}

/// Whether a row is that of a table's line: what the columns say of it.
fn is_of<'a>(row: &Row, mut line: impl Iterator<Item = (&'a str, &'a str)>) -> bool {
    line.all(|(column, cell)| match column {
        "experiment" | "table" => row.experiment == cell,
        "case" => row.case == cell,
        "system" => row.system == cell || row.policy == cell,
        "policy" => row.policy == cell,
        "preset" => row.preset == cell,
        "scope" | "of" => row.scope == cell,
        // A change that has no name is its axes.
        "changed" if row.axis(column).is_none() => !cell.contains('=') || row.axes == cell,
        axis => row.axis(axis).is_none_or(|value| {
            let number = |text: &str| text.parse::<f64>().ok();
            value == cell || number(value).is_some() && number(value) == number(cell)
        }),
    })
}

/// The names of all axes.
fn axes_of(rows: &[Row]) -> BTreeSet<&str> {
    rows.iter().flat_map(|r| r.axis_list().map(|a| a.0)).collect()
}

/// The rows by policy and by system: a table's line is compared with those of one.
fn by_name(rows: &[Row]) -> BTreeMap<&str, Vec<&Row>> {
    let mut out: BTreeMap<&str, Vec<&Row>> = BTreeMap::new();
    for row in rows {
        out.entry(&row.policy).or_default().push(row);
        if row.system != row.policy {
            out.entry(&row.system).or_default().push(row);
        }
    }
    out
}

/// The rows of a table's line.
fn rows_of<'a>(whose: &BTreeMap<&str, Vec<&'a Row>>, keys: &[(&str, &str)]) -> Vec<&'a Row> {
    let name = |column: &str| keys.iter().find(|k| k.0 == column && !k.1.is_empty()).map(|k| k.1);
    let name = name("policy").or_else(|| name("system")).unwrap_or_default();
    let all = whose.get(name).into_iter().flatten().copied();
    all.filter(|row| is_of(row, keys.iter().copied())).collect()
}

/// Every number of the wide form is the CSV's.
pub fn wide(rows: &[Row], wide: &str, out: &mut Compared) {
    let mut reader = csv::Reader::from_reader(wide.as_bytes());
    let header: Vec<String> =
        reader.headers().expect("a header").iter().map(String::from).collect();
    let once: BTreeSet<&String> = header.iter().collect();
    out.expect(once.len() == header.len(), || format!("wide: a column is there twice: {header:?}"));
    let axes = axes_of(rows);
    let is_key = |c: &str| {
        let named =
            ["experiment", "table", "case", "changed", "system", "policy", "preset", "scope"];
        named.contains(&c) || axes.contains(c)
    };
    let (of_whom, mut seen) = (by_name(rows), BTreeSet::new());
    for line in reader.records() {
        let line = line.expect("a line");
        let cells = || header.iter().map(String::as_str).zip(&line);
        let keys: Vec<(&str, &str)> = cells().filter(|c| is_key(c.0)).collect();
        let own = rows_of(&of_whom, &keys);
        out.expect(seen.insert(format!("{keys:?}")), || format!("wide: two lines of {keys:?}"));
        for (column, cell) in cells().filter(|c| !is_key(c.0) && !c.1.is_empty()) {
            if printed(cell).is_none() || column == "cells" || column == "keys" {
                continue;
            }
            let stem =
                ["_ci95_low", "_ci95_high", "_paper"].iter().find_map(|e| column.strip_suffix(e));
            let stem = stem.unwrap_or(column);
            let fits = |r: &&&Row| !is_metric(stem) || r.metric == stem;
            let part = |r: &Row| match column {
                c if c.ends_with("ci95_low") => r.ci95_low,
                c if c.ends_with("ci95_high") => r.ci95_high,
                c if c.contains("paper") => r.paper,
                "abs_error" => r.abs_error,
                _ => r.value,
            };
            let is = |r: &&Row| part(r).is_some_and(|x| is_printed(x, cell, &[1.0]));
            let found = own.iter().filter(fits).any(is);
            out.expect(found, || format!("wide: {column} is {cell} in {line:?}"));
        }
    }
}

/// A table of a page: its columns, and its lines of cells with number, text and small print.
struct Shown {
    columns: Vec<String>,
    lines: Vec<Vec<[String; 3]>>,
    is_open: bool,
}

/// Text without tags and escapes.
fn plain(html: &str) -> String {
    let mut out = String::new();
    for (i, part) in html.split('<').enumerate() {
        out.push_str(if i == 0 { part } else { part.split_once('>').map_or("", |p| p.1) });
    }
    [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&amp;", "&")]
        .iter()
        .fold(out, |t, (from, to)| t.replace(from, to))
}

/// The tables of a page.
fn tables(html: &str) -> Vec<Shown> {
    let mut out = Vec::new();
    let mut rest = html;
    let mut depth = 0i32;
    while let Some(at) = rest.find("<table") {
        let before = &rest[..at];
        depth +=
            before.matches("<details").count() as i32 - before.matches("</details").count() as i32;
        let (table, after) = rest[at..].split_once("</table>").expect("a table's end");
        let (head, body) = table.split_once("<tbody>").unwrap_or((table, ""));
        let columns = head
            .split("<th ")
            .skip(1)
            .map(|th| plain(&format!("<th {}", th.split("</th>").next().unwrap_or(""))));
        let cell = |td: &str| {
            let (tag, inner) = td.split_once('>').unwrap_or((td, ""));
            let inner = inner.split("</td>").next().unwrap_or("");
            let (text, small) = inner.split_once("<small>").unwrap_or((inner, ""));
            let key = tag.split_once("data-k=\"").and_then(|k| k.1.split('"').next());
            let text = plain(text);
            [key.map_or(text.clone(), str::to_string), text, plain(small)]
        };
        let lines =
            body.split("<tr>").skip(1).map(|tr| tr.split("<td").skip(1).map(cell).collect());
        out.push(Shown { columns: columns.collect(), lines: lines.collect(), is_open: depth == 0 });
        rest = after;
    }
    out
}

/// Every number of a page's tables of policies or systems is the CSV's, exactly, and is printed as it is; what is
/// computed from several rows is JSON's.
pub fn on_page(rows: &[Row], json: &str, html: &str, out: &mut Compared) {
    let value: Value = serde_json::from_str(json).expect("JSON");
    let mut others = Vec::new();
    let besides = value.as_object().expect("an object").iter().filter(|(key, _)| *key != "rows");
    besides.for_each(|(_, value)| numbers_of(value, &mut others));
    let (axes, whose) = (axes_of(rows), by_name(rows));
    for table in tables(html) {
        let has = |names: &[&str]| table.columns.iter().any(|c| names.contains(&c.as_str()));
        let is_plan = has(&["pool"]) && !has(&["policy", "system"]);
        if !is_plan && !has(&["policy", "system"]) {
            continue;
        }
        let is_key = |c: &str| {
            ["case", "system", "policy", "preset", "scope", "of"].contains(&c) || axes.contains(c)
        };
        for line in &table.lines {
            let cells = table.columns.iter().zip(line).filter(|(c, _)| is_key(c));
            let keys: Vec<(&str, &str)> =
                cells.map(|(c, cell)| (c.as_str(), cell[1].as_str())).collect();
            // A plan names its pools in words.
            let own = if is_plan { rows.iter().collect() } else { rows_of(&whose, &keys) };
            for (column, [key, text, small]) in table.columns.iter().zip(line) {
                let Ok(k) = key.parse::<f64>() else { continue };
                // A difference of two lines of the table is in no row.
                let is_difference = is_plan && column.ends_with("vs. now");
                if is_key(column) || column == "seeds" || column == "samples" || is_difference {
                    continue;
                }
                // `0.204 ±0.046`, and the first of the places `1-3`.
                let word = text.split(' ').next().unwrap_or("");
                let is_range = word
                    .split_once('-')
                    .is_some_and(|(a, b)| [a, b].iter().all(|n| n.parse::<u32>().is_ok()));
                let word = if is_range { word.split('-').next().unwrap_or("") } else { word };
                let shown = |x: f64, row: &Row| {
                    let units = [&units(row)[..], &[0.01]].concat();
                    is_same(x, k) && is_printed(x, word, &units)
                };
                let is = |r: &&&Row| {
                    let numbers = [r.value, r.paper, r.ci95_low, r.ci95_high].into_iter().flatten();
                    numbers.chain(errors(r)).any(|x| shown(x, r))
                };
                let fitting: Vec<&&Row> = own.iter().filter(is).collect();
                if fitting.is_empty()
                    && others.iter().any(|x| is_same(*x, k))
                    && is_printed(k, word, &[1.0, 0.01, 1e3, 1e6, 1e9])
                {
                    out.numbers += 1;
                    continue;
                }
                out.expect(!fitting.is_empty(), || {
                    format!("page: {column} is {text} ({k}): {line:?}")
                });
                if fitting.is_empty() {
                    continue;
                }
                let ends: Vec<&str> =
                    small.split([' ', ',']).filter(|w| printed(w).is_some()).collect();
                let [low, high] = ends[..] else { continue };
                let is_interval = |r: &&&Row| {
                    r.ci95().is_some_and(|(a, b)| {
                        is_printed(a, low, &units(r)) && is_printed(b, high, &units(r))
                    })
                };
                let found = fitting.iter().any(is_interval);
                out.expect(found, || format!("page: {column} is {text} ({small}): {line:?}"));
            }
        }
    }
}

/// All numbers within a value.
fn numbers_of(value: &Value, out: &mut Vec<f64>) {
    match value {
        Value::Number(x) => out.extend(x.as_f64()),
        Value::Array(all) => all.iter().for_each(|v| numbers_of(v, out)),
        Value::Object(all) => all.values().for_each(|v| numbers_of(v, out)),
        _ => {}
    }
}

/// Text with one space in place of several.
fn collapsed(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The text has every line of the page's tables that are open.
pub fn text_of_page(html: &str, text: &str, out: &mut Compared) {
    let lines: Vec<String> = text.lines().map(collapsed).collect();
    for table in tables(html).into_iter().filter(|t| t.is_open) {
        for line in &table.lines {
            let cell = |[_, text, small]: &[String; 3]| match small.is_empty() {
                true => text.clone(),
                false => format!("{text} ({small})"),
            };
            let words = collapsed(&line.iter().map(cell).collect::<Vec<_>>().join(" "));
            let found = lines.contains(&words);
            out.expect(found, || format!("text: no line `{words}`"));
        }
    }
}

/// The Markdown has every line of the page's tables that are open.
pub fn markdown_of_page(html: &str, markdown: &str, out: &mut Compared) {
    // What is escaped is a letter of the text, and a bar the end of a cell.
    let bare = |line: &str| {
        let cells = line.replace("\\|", "").replace('|', " ").replace('\\', "");
        collapsed(&cells.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&"))
    };
    text_of_page(html, &markdown.lines().map(bare).collect::<Vec<_>>().join("\n"), out);
}

/// A word of a line of text, and the columns of its first and behind its last letter.
type Word = (usize, usize, String);

/// The words of a line between two spaces or more; a bar is none.
fn words(line: &str) -> Vec<Word> {
    let letters: Vec<char> = line.chars().collect();
    let mut out: Vec<Word> = Vec::new();
    let mut at = 0;
    while at < letters.len() {
        if letters[at] == ' ' || letters[at] == '|' {
            at += 1;
            continue;
        }
        let is_gap = |i: usize| {
            i >= letters.len()
                || (letters[i] == ' ' && letters.get(i + 1).is_none_or(|c| *c == ' '))
        };
        let end = (at..).find(|i| is_gap(*i)).unwrap_or(letters.len());
        out.push((at, end, letters[at..end].iter().collect()));
        at = end;
    }
    out
}

/// Every number of an experiment's text, in its tables of metrics, is the CSV's.
fn in_text(rows: &[Row], text: &str, out: &mut Compared) {
    let mut shown: Option<(Vec<&Row>, Vec<Word>)> = None;
    let mut labels: Vec<String> = Vec::new();
    for line in text.lines() {
        let of_metric =
            line.split_once(", ").map(|m| m.0).filter(|m| is_metric(m) && !line.starts_with(' '));
        if let Some(metric) = of_metric {
            let is_shown = |r: &&Row| r.metric == metric && r.scope == "all" && r.versus.is_empty();
            shown = Some((rows.iter().filter(is_shown).collect(), Vec::new()));
            continue;
        }
        let Some((own, header)) = &mut shown else { continue };
        if line.is_empty() {
            shown = None;
        } else if line.ends_with(':') {
            header.clear();
        } else if header.is_empty() {
            *header = words(line);
            labels.clear();
        } else {
            line_of_text(own, header, line, &mut labels, out);
        }
    }
}

/// A line of such a table; `labels` are what the line above says of its place.
fn line_of_text(
    own: &[&Row],
    header: &[Word],
    line: &str,
    labels: &mut Vec<String>,
    out: &mut Compared,
) {
    let systems: BTreeSet<&str> = own.iter().map(|r| r.system.as_str()).collect();
    let is_system = |name: &str| systems.contains(name);
    let first = header.iter().position(|h| is_system(&h.2)).unwrap_or(header.len());
    let cells = words(line);
    let label = |(begin, ..): &Word| cells.iter().find(|w| w.0 == *begin).map(|w| w.2.clone());
    let given: Vec<Option<String>> = header[..first].iter().map(label).collect();
    labels.resize(first, String::new());
    // What a line has in common with the one above it is not said again, but for its last label.
    let mut is_same = true;
    for (i, given) in given.into_iter().enumerate() {
        is_same &= given.is_none() && i + 1 < first;
        if !is_same {
            labels[i] = given.unwrap_or_default();
        }
    }
    for (i, column) in header.iter().enumerate().skip(first) {
        let Some((.., cell)) = cells.iter().find(|w| w.1 == column.1) else { continue };
        if printed(cell.split(' ').next().unwrap_or("")).is_none() {
            continue;
        }
        let of = header[first..=i].iter().rev().find(|h| is_system(&h.2)).map_or("", |h| &h.2);
        let place = header.iter().zip(labels.iter()).map(|(h, l)| (h.2.as_str(), l.as_str()));
        let is_here = |r: &&&Row| r.system == *of && is_of(r, place.clone());
        let is = |r: &Row| {
            let by = &units(r)[1..];
            let word = cell.split(' ').next().unwrap_or("");
            match i - header.iter().position(|h| h.2 == of).unwrap_or(i) {
                0 => r.value.is_some_and(|x| is_printed(x, word, by)),
                1 => r.paper.is_some_and(|x| is_printed(x, word, by)),
                _ => errors(r).iter().any(|x| is_printed(*x, word, &[1.0, 0.01])),
            }
        };
        out.expect(own.iter().filter(is_here).any(|r| is(r)), || {
            format!("text: {of}: {cell} in `{line}`")
        });
    }
}

/// The forms of an experiment's answer.
pub fn of_experiment(e: &Experiment, forms: &Forms) {
    let mut out = Compared::default();
    same_rows(&forms.rows, &to_csv(&forms.rows), &forms.json(), &mut out);
    wide(&forms.rows, &forms.wide(), &mut out);
    in_text(&forms.rows, &forms.table, &mut out);
    on_page(&forms.rows, &forms.json(), &document::of(e, &forms.rows).to_html(), &mut out);
    out.agree(&e.id, 2 * forms.rows.len());
}

/// Two seeds give wide intervals: those of the wide form were outside the possible.
#[test]
fn the_forms_of_a_table_of_two_seeds_agree() {
    golden::unfold();
    let table = golden::small("orloj-table-3", &["one-modal", "five-modal"], 2);
    of_experiment(&table, &golden::forms(&table, 0));
}

#[test]
fn a_number_that_no_row_has_is_found_in_every_form() {
    let row = |policy: &str, value: f64| Row {
        experiment: "e".into(),
        axes: "slo_ms=5".into(),
        system: policy.into(),
        policy: policy.into(),
        scope: "all".into(),
        metric: "finish_rate".into(),
        value: Some(value),
        ci95_low: Some(0.25),
        ci95_high: Some(0.75),
        ..Row::default()
    };
    let rows = [row("a", 0.5), row("b", 0.625)];
    let faults = |compare: &dyn Fn(&mut Compared)| {
        let mut out = Compared::default();
        compare(&mut out);
        (out.numbers, out.faults.len())
    };
    let text = "finish_rate, share\nslo_ms      a  b\n5       0.500  0.625\n";
    let html = "<table><thead><th scope=\"col\">policy</th><th scope=\"col\">finish rate</th></thead><tbody>\
                <tr><td>a</td><td data-k=\"0.5\">0.5000<small>0.2500 to 0.7500</small></td></tr></tbody></table>";
    let csv = "slo_ms,policy,finish_rate,ci95_low,ci95_high\n5.0,a,0.5,0.250000,0.75\n";
    assert_eq!(faults(&|out| in_text(&rows, text, out)), (1, 0));
    assert_eq!(faults(&|out| in_text(&rows, &text.replace("0.500", "0.625"), out)), (1, 1));
    assert_eq!(faults(&|out| on_page(&rows, "{}", html, out)), (2, 0));
    for (from, to) in
        [("\"0.5\"", "\"0.625\""), (">0.5000", ">0.6250"), ("0.2500 to", "-0.2500 to")]
    {
        assert_eq!(
            faults(&|out| on_page(&rows, "{}", &html.replace(from, to), out)).1,
            1,
            "{from}"
        );
    }
    // Three numbers, the line's place, and that no column is there twice.
    assert_eq!(faults(&|out| wide(&rows, csv, out)), (5, 0));
    for (from, to) in [("0.5,", "0.625,"), ("0.250000", "-0.083000"), ("0.75\n", "1.003\n")] {
        assert_eq!(faults(&|out| wide(&rows, &csv.replace(from, to), out)).1, 1, "{from}");
    }
    let line = "a 0.5000 (0.2500 to 0.7500)";
    assert_eq!(faults(&|out| text_of_page(html, line, out)), (1, 0));
    assert_eq!(faults(&|out| text_of_page(html, "a 0.5000", out)), (1, 1));
    let impossible = [Row { ci95_low: Some(-0.083), ..row("a", 0.5) }];
    assert_eq!(faults(&|out| possible(&impossible, out)), (2, 1));
}
