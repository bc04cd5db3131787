//! The paper's own numbers. They stand beside ours and never enter a run.

use orrery_results::{Row, distinct, pairs};
use orrery_run::SpecError;
use schemars::JsonSchema;
use serde::de::Error;
use serde::{Deserialize, Deserializer};
use std::collections::BTreeMap;

/// `[[paper]]`: a number that the paper prints.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Number {
    /// Selects cells by some or all axes, as `name=value;name=value`.
    #[serde(default)]
    #[schemars(extend("x-default" = "all"))]
    pub at: String,
    /// The system; `NAME/PRESET` if several systems share the name.
    pub system: String,
    /// The metric.
    #[serde(default)]
    #[schemars(extend("x-default" = "the first of `show`"))]
    pub metric: String,
    /// The number, in the metric's unit; `"withheld"` where the paper prints one that was kept from this project.
    #[serde(deserialize_with = "number_or_withheld")]
    #[schemars(with = "NumberOrWord")]
    pub value: f64,
    /// Its table, figure or sentence.
    pub source: String,
}

/// What stands in place of a number that this project is not shown.
pub const WITHHELD: &str = "withheld";

/// What tables of text say below a `withheld`.
pub const WITHHELD_MEANS: &str = "withheld: no paper value, the number was kept from this project";

/// A number, or the word.
#[derive(Deserialize, JsonSchema)]
#[serde(untagged)]
#[allow(dead_code)]
enum NumberOrWord {
    Number(f64),
    Word(String),
}

/// No number stands for the word until it is set apart ([`Number::is_withheld`]).
fn number_or_withheld<'de, D: Deserializer<'de>>(value: D) -> Result<f64, D::Error> {
    match NumberOrWord::deserialize(value)? {
        NumberOrWord::Number(x) if x.is_finite() => Ok(x),
        NumberOrWord::Word(word) if word == WITHHELD => Ok(f64::NAN),
        NumberOrWord::Number(x) => Err(wrong_number(&x.to_string())),
        NumberOrWord::Word(word) => Err(wrong_number(&word)),
    }
}

fn wrong_number<E: Error>(found: &str) -> E {
    E::custom(format!("`{found}`, no finite number and not \"{WITHHELD}\": give one of them"))
}

impl Number {
    /// Whether the paper prints it, and this project was not shown it.
    pub fn is_withheld(&self) -> bool {
        self.value.is_nan()
    }

    /// Whether a row may exist that both are of: no preset, axis or part of a cell tells them apart.
    fn may_be_beside_what(&self, other: &Number) -> bool {
        let presets = [self, other].map(|n| n.system.split_once('/').map(|s| s.1));
        let same = |name: &str, value: &str| {
            let there = pairs(&other.at).find(|(n, _)| *n == name);
            match there {
                Some((_, v)) => v == "*" || value == "*" || v == value,
                None => !WITHIN.contains(&name),
            }
        };
        let parts = |n: &Number| WITHIN.map(|w| pairs(&n.at).any(|(name, _)| name == w));
        matches!(presets, [None, _] | [_, None]) | (presets[0] == presets[1])
            && parts(self) == parts(other)
            && pairs(&self.at).all(|(name, value)| same(name, value))
    }

    /// Whether it is of a row's value.
    fn is_beside(&self, row: &Row) -> bool {
        self.metric == row.metric
            && row.scope == "all"
            && row.versus.is_empty()
            && is_of(row, &self.system)
            && is_at(row, &self.at)
            && is_named_part(row, &self.at)
    }
}

/// `paper_csv`: a CSV file of the paper's numbers, with the columns `system` and `value`, and `metric` if
/// lines are of several; every other column is an axis. A value may be `withheld`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NumbersFile {
    /// Its path relative to the experiment's folder, or the name of a shipped file.
    pub file: String,
    /// Use only rows with these values, as `column=value;column=value`; `*` is any. A column that is named
    /// here is no axis.
    #[serde(default, rename = "where")]
    #[schemars(extend("x-default" = "all rows"))]
    pub only: String,
    /// The metric, where no column says it.
    #[serde(default)]
    #[schemars(extend("x-default" = "the first of `show`"))]
    pub metric: String,
    /// Axes that must be columns: those of the file whose place this one takes.
    #[serde(skip)]
    pub axes: Vec<String>,
}

impl NumbersFile {
    /// The columns of the text that are axes.
    fn axes_of(&self, head: &csv::StringRecord) -> Vec<String> {
        let is_axis = |name: &&str| {
            let is_named = pairs(&self.only).any(|(column, _)| column == *name);
            !["system", "value", "metric"].contains(name) && !is_named
        };
        head.iter().filter(is_axis).map(str::to_string).collect()
    }

    /// Takes another file in place of this one: without one of its axes, a number would stand beside several cells.
    pub fn replace(&mut self, text: &str, file: String) {
        let head = csv::Reader::from_reader(text.as_bytes()).headers().cloned();
        self.axes = head.map(|head| self.axes_of(&head)).unwrap_or_default();
        self.file = file;
    }

    /// The numbers of the text.
    ///
    /// # Errors
    /// When it is no CSV, or a column is missing, or a value is no number.
    pub fn read(&self, text: &str, source: &str) -> Result<Vec<Number>, SpecError> {
        let parse = |message: String| SpecError::Parse { file: self.file.clone(), message };
        let mut reader = csv::Reader::from_reader(text.as_bytes());
        let head = reader.headers().map_err(|e| parse(e.to_string()))?.clone();
        let column = |name: &str| {
            head.iter().position(|h| h == name).ok_or_else(|| {
                let found = head.iter().collect::<Vec<_>>().join(",");
                let named = pairs(&self.only).map(|(key, _)| key);
                let own: Vec<&str> = self.axes.iter().map(String::as_str).collect();
                let axes = if own.is_empty() { vec!["case"] } else { own };
                let example: Vec<&str> = named.chain(axes).chain(["system", "value"]).collect();
                let example = example.join(",");
                parse(format!("no column `{name}`; the header is `{found}`\n  allowed: one such as `{example}`"))
            })
        };
        let (system, value) = (column("system")?, column("value")?);
        let wanted: Vec<(usize, &str)> = pairs(&self.only)
            .map(|(k, v)| Ok((column(k)?, v)))
            .collect::<Result<_, SpecError>>()?;
        self.axes.iter().try_for_each(|axis| column(axis).map(drop))?;
        let metric = head.iter().position(|h| h == "metric");
        let axes = self.axes_of(&head);
        let mut out = Vec::new();
        for (row, record) in (2..).zip(reader.records()) {
            let record = record.map_err(|e| parse(e.to_string()))?;
            if wanted.iter().any(|(i, v)| *v != "*" && record.get(*i) != Some(v)) {
                continue;
            }
            let at: Vec<String> = (0..head.len())
                .filter(|i| axes.iter().any(|axis| *axis == head[*i]))
                .map(|i| format!("{}={}", &head[i], &record[i]))
                .collect();
            let number = match &record[value] {
                WITHHELD => f64::NAN,
                number => number.parse().ok().filter(|x: &f64| x.is_finite()).ok_or_else(|| {
                    let allowed = format!("no finite number and not `{WITHHELD}`");
                    parse(format!("line {row}: `{number}` in column `value`, {allowed}"))
                })?,
            };
            out.push(Number {
                at: at.join(";"),
                system: record[system].to_string(),
                metric: metric.map_or(self.metric.as_str(), |column| &record[column]).to_string(),
                value: number,
                source: source.to_string(),
            });
        }
        Ok(out)
    }
}

/// The case that a number is of.
pub fn case_of(number: &Number) -> Option<&str> {
    pairs(&number.at).find(|(name, _)| *name == "case").map(|(_, case)| case)
}

/// The cases that numbers are of, each once.
pub fn cases(numbers: &[Number]) -> Vec<String> {
    distinct(numbers.iter().filter_map(case_of)).into_iter().map(str::to_string).collect()
}

/// Whether a row is of a system that is called `NAME` or `NAME/PRESET`.
pub fn is_of(row: &Row, system: &str) -> bool {
    match system.split_once('/') {
        Some((name, preset)) => row.system == name && row.preset == preset,
        None => row.system == system,
    }
}

/// Whether a row's case and axes contain all of `at`, written as `name=value;name=value`.
pub fn is_at(row: &Row, at: &str) -> bool {
    pairs(at).all(|(name, value)| axis(row, name).is_some_and(|x| value == "*" || x == value))
}

/// The value of an axis; the case is one.
pub fn axis<'a>(row: &'a Row, name: &str) -> Option<&'a str> {
    match name {
        "case" if !row.case.is_empty() => Some(&row.case),
        _ => row.axis(name),
    }
}

/// All axes, the case first.
pub fn axes(row: &Row) -> impl Iterator<Item = (&str, &str)> {
    let case = (!row.case.is_empty()).then_some(("case", row.case.as_str()));
    case.into_iter().chain(row.axis_list())
}

/// Axes that divide a cell further: what names none of them is about the whole.
pub const WITHIN: [&str; 3] = ["evaluation", orrery_results::metric::FROM, "group"];

/// Whether a row is about the whole cell, or about a part of it that `at` names.
pub fn is_named_part(row: &Row, at: &str) -> bool {
    let names = |within: &str| pairs(at).any(|(name, _)| name == within);
    WITHIN.iter().all(|within| names(within) || row.axis(within).is_none())
}

/// Two different numbers for one value, by their places in the list: which of them stands beside a row would depend on
/// their order alone.
pub fn contradiction(numbers: &[Number]) -> Option<(usize, usize)> {
    let mut of_value: BTreeMap<(&str, &str), Vec<usize>> = BTreeMap::new();
    for (i, n) in numbers.iter().enumerate() {
        let system = n.system.split('/').next().unwrap_or_default();
        let others = of_value.entry((&n.metric, system)).or_default();
        let differs = |k: &&usize| {
            let other = &numbers[**k];
            other.value != n.value && other.may_be_beside_what(n)
        };
        if let Some(k) = others.iter().find(differs) {
            return Some((*k, i));
        }
        others.push(i);
    }
    None
}

/// Puts the paper's numbers beside the rows.
pub fn beside(rows: &mut [Row], numbers: &[Number]) {
    for row in rows {
        if let Some(paper) = numbers.iter().find(|p| p.is_beside(row)) {
            row.paper = Some(paper.value);
            row.paper_source.clone_from(&paper.source);
            row.abs_error = row.value.map(|ours| (ours - paper.value).abs());
        }
    }
}

/// The paper's numbers that stand beside no cell, in words. A metric that a system does not have has none anywhere.
pub fn beside_none(numbers: &[Number], rows: &[Row]) -> Option<String> {
    let is_alone = |n: &&Number| {
        let mut own = rows.iter().filter(|r| is_of(r, &n.system)).peekable();
        let is_measured = own.peek().is_none() || own.any(|r| r.metric == n.metric);
        is_measured && !rows.iter().any(|row| n.is_beside(row))
    };
    let alone: Vec<&Number> = numbers.iter().filter(is_alone).collect();
    let first = alone.first()?;
    let place = [first.system.as_str(), &first.at, &first.metric].join(" ");
    Some(format!(
        "{} of the paper's {} numbers are of no cell that was run, the first of {place}.",
        alone.len(),
        numbers.len()
    ))
}

/// Whether the paper's number of a row's value is among those that were kept from this project.
pub fn is_withheld(row: &Row, withheld: &[Number]) -> bool {
    row.paper.is_none() && withheld.iter().any(|p| p.is_beside(row))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(case: &str, axes: &str) -> Row {
        Row { case: case.into(), axes: axes.into(), ..Row::default() }
    }

    #[test]
    fn a_part_of_the_axes_is_enough() {
        let row = row("a", "model=m;gpus=8");
        assert!(is_at(&row, "gpus=8") && is_at(&row, "") && is_at(&row, "case=a;model=m"));
        assert!(!is_at(&row, "gpus=80") && !is_at(&row, "case=b"));
    }

    #[test]
    fn two_numbers_for_one_value_contradict_each_other() {
        let number = |at: &str, system: &str, value: f64| Number {
            at: at.into(),
            system: system.into(),
            metric: "finish_rate".into(),
            value,
            source: String::new(),
        };
        let first = number("case=a;slo=2", "orloj", 0.5);
        for (at, system, value, contradicts) in [
            ("case=a;slo=2", "orloj", 0.6, true),
            ("slo=2;case=a", "orloj", 0.6, true),
            ("slo=2", "orloj", 0.6, true),
            ("case=*", "orloj/paper", 0.6, true),
            ("case=a;slo=2", "orloj", 0.5, false),
            ("case=a;slo=3", "orloj", 0.6, false),
            ("case=a;slo=2", "nexus", 0.6, false),
            ("case=a;slo=2;evaluation=1", "orloj", 0.6, false),
        ] {
            let found = contradiction(&[first.clone(), number(at, system, value)]);
            assert_eq!(found, contradicts.then_some((0, 1)), "{at} {system} {value}");
        }
        let presets = [number("", "orloj/paper", 0.5), number("", "orloj/released", 0.6)];
        assert_eq!(contradiction(&presets), None);
    }

    #[test]
    fn numbers_of_no_cell_are_counted() {
        let number = |at: &str, system: &str, metric: &str| Number {
            at: at.into(),
            system: system.into(),
            metric: metric.into(),
            value: 0.5,
            source: String::new(),
        };
        let (system, metric, scope) = ("orloj".into(), "finish_rate".into(), "all".into());
        let rows = [Row { system, metric, scope, ..row("", "slo=2") }];
        let beside = number("slo=2", "orloj", "finish_rate");
        let not_measured = number("slo=2", "orloj", "latency_p99_ns");
        assert_eq!(beside_none(&[beside.clone(), not_measured], &rows), None);
        for (at, system) in [("slo=3", "orloj"), ("slo=2", "orlj")] {
            let numbers = [beside.clone(), number(at, system, "finish_rate")];
            let told = beside_none(&numbers, &rows).expect("a number of no cell");
            assert!(told.starts_with("1 of the paper's 2 numbers") && told.contains(at), "{told}");
        }
    }

    #[test]
    fn numbers_are_read_from_columns() {
        let file = |only: &str| NumbersFile {
            file: "f.csv".into(),
            only: only.into(),
            metric: "finish_rate".into(),
            axes: Vec::new(),
        };
        let text = "table,case,slo,system,value\n3,a,2,orloj,0.5\n4,a,2,orloj,0.7\n";
        let read = file("table=3").read(text, "Table 3").unwrap();
        assert_eq!((read.len(), read[0].value, read[0].at.as_str()), (1, 0.5, "case=a;slo=2"));
        let text = "run,metric,system,value\na,ttft_mean_ns,orloj,0.5\n";
        let read = file("").read(text, "measured").unwrap();
        assert_eq!((read[0].metric.as_str(), read[0].at.as_str()), ("ttft_mean_ns", "run=a"));
        for (text, says) in [
            (
                "case,value\na,1\n",
                "no column `system`; the header is `case,value`\n  allowed: one such as `case,system,value`",
            ),
            ("system,value\na,x\n", "line 2"),
            ("system,value\na,NaN\n", "not `withheld`"),
            ("system,value\na,1,2\n", "record"),
        ] {
            let error = file("").read(text, "").unwrap_err().to_string();
            assert!(error.contains(says) && error.contains("f.csv"), "{error}");
        }
        let read = file("").read("system,value\norloj,withheld\n", "").unwrap();
        assert!(read[0].is_withheld());
        assert!(file("tab=3").read(text, "").unwrap_err().to_string().contains("`tab`"));
    }
}
