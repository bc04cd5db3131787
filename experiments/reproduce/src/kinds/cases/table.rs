//! The rows of a CSV file, and what expressions make of a row. It runs nothing.
//!
//! A cell that is a number is one; an empty cell and the word `withheld` are no value, and so is every expression
//! in which they stand.

use crate::numbers::WITHHELD;
use minijinja::{Environment, ErrorKind, UndefinedBehavior, Value};
use orrery_run::SpecError;
use orrery_run::error::hint;
use std::collections::BTreeMap;

/// The largest batch.
const SIZE_MAX: u32 = 4096;
/// More steps than any expression over one row needs.
const STEPS_MAX: u64 = 10_000;

/// The rows of a file, in order.
pub struct Table<'a> {
    file: String,
    columns: Vec<String>,
    rows: Vec<BTreeMap<String, Value>>,
    /// By row: the columns whose number was kept from this project.
    withheld: Vec<Vec<String>>,
    environment: Environment<'a>,
}

impl Table<'_> {
    /// Reads a file's text.
    ///
    /// # Errors
    /// When it is no CSV, or has no rows.
    pub fn read(file: &str, text: &str) -> Result<Table<'static>, SpecError> {
        let wrong = |message: String| SpecError::Parse { file: file.to_string(), message };
        let mut reader = csv::Reader::from_reader(text.as_bytes());
        let head = reader.headers().map_err(|e| wrong(e.to_string()))?.clone();
        let columns: Vec<String> = head.iter().map(str::to_string).collect();
        let (mut rows, mut withheld) = (Vec::new(), Vec::new());
        for (number, record) in (1i64..).zip(reader.records()) {
            let record = record.map_err(|e| wrong(e.to_string()))?;
            let mut row: BTreeMap<String, Value> =
                columns.iter().cloned().zip(record.iter().map(value)).collect();
            row.entry("row".to_string()).or_insert_with(|| Value::from(number));
            rows.push(row);
            let own = columns.iter().zip(record.iter()).filter(|(_, cell)| cell.trim() == WITHHELD);
            withheld.push(own.map(|(column, _)| column.clone()).collect());
        }
        if rows.is_empty() {
            return Err(wrong("no rows: give one row for each measured case".to_string()));
        }
        let mut environment = Environment::new();
        environment.set_undefined_behavior(UndefinedBehavior::Strict);
        environment.set_fuel(Some(STEPS_MAX));
        environment.add_filter("every_size", every_size);
        Ok(Table { file: file.to_string(), columns, rows, withheld, environment })
    }

    /// The numbers of its rows, from 0.
    pub fn rows(&self) -> std::ops::Range<usize> {
        0..self.rows.len()
    }

    /// The value of an expression in a row; none where a part of it is not known.
    ///
    /// # Errors
    /// When it cannot be computed; `key` says where it stands.
    pub fn eval(&self, row: usize, key: &str, text: &str) -> Result<Option<Value>, SpecError> {
        let wrong = |e: &minijinja::Error| self.wrong(row, key, text, e);
        let expression = self.environment.compile_expression(text).map_err(|e| wrong(&e))?;
        if let Some(name) = expression.undeclared_variables(false).iter().find(|n| !self.has(n)) {
            return Err(self.no_column(key, text, name));
        }
        match expression.eval(&self.rows[row]) {
            Ok(value) if value.is_none() || value.is_undefined() => Ok(None),
            Ok(value) => Ok(Some(value)),
            Err(_) if self.lacks_a_part(row, &expression.undeclared_variables(false)) => Ok(None),
            Err(e) => Err(wrong(&e)),
        }
    }

    /// The number that an expression is.
    ///
    /// # Errors
    /// When it cannot be computed, or is no finite number.
    pub fn number(&self, row: usize, key: &str, text: &str) -> Result<Option<f64>, SpecError> {
        let Some(value) = self.eval(row, key, text)? else { return Ok(None) };
        match f64::try_from(value.clone()) {
            Ok(x) if x.is_finite() => Ok(Some(x)),
            _ => {
                let found = format!("{value} in row {}", row + 1);
                let remedy = format!("correct `{text}`, or the row of {}", self.file);
                Err(SpecError::value(key, found, "a finite number", remedy))
            }
        }
    }

    /// A text with `{{ expressions }}` in it, as it is for a row.
    ///
    /// # Errors
    /// When one of them cannot be computed or is not known.
    pub fn text(&self, row: usize, key: &str, text: &str) -> Result<String, SpecError> {
        let wrong = |e: &minijinja::Error| self.wrong(row, key, text, e);
        let template = self.environment.template_from_str(text).map_err(|e| wrong(&e))?;
        if let Some(name) = template.undeclared_variables(false).iter().find(|n| !self.has(n)) {
            return Err(self.no_column(key, text, name));
        }
        template.render(&self.rows[row]).map_err(|e| wrong(&e))
    }

    /// Whether an expression is over a number that was kept from this project.
    pub fn withholds(&self, row: usize, text: &str) -> bool {
        let expression = self.environment.compile_expression(text);
        let names = expression.map(|e| e.undeclared_variables(false)).unwrap_or_default();
        self.withheld[row].iter().any(|column| names.contains(column))
    }

    fn has(&self, name: &str) -> bool {
        name == "row" || self.columns.iter().any(|c| c == name)
    }

    fn lacks_a_part(&self, row: usize, names: &std::collections::HashSet<String>) -> bool {
        names.iter().any(|name| self.rows[row].get(name).is_some_and(Value::is_none))
    }

    fn no_column(&self, key: &str, text: &str, name: &str) -> SpecError {
        let hint = hint(name, self.columns.iter().map(String::as_str));
        let remedy = format!("{hint}correct `{text}`");
        let allowed =
            format!("the columns of {}: {}, and `row`", self.file, self.columns.join(", "));
        SpecError::value(key, format!("`{name}`"), allowed, remedy)
    }

    fn wrong(&self, row: usize, key: &str, text: &str, e: &minijinja::Error) -> SpecError {
        let what = e.detail().map_or_else(|| e.kind().to_string(), str::to_string);
        let place = match e.kind() {
            ErrorKind::SyntaxError => String::new(),
            _ => format!(" in row {} of {}", row + 1, self.file),
        };
        let allowed = "an expression over the columns, such as `1000 / rate_per_s`";
        SpecError::value(key, format!("`{text}`{place}"), allowed, format!("correct it: {what}"))
    }
}

/// The filter `every_size`: the text of a TOML list of sizes and times, with a row for each size on the lines between
/// its rows.
fn every_size(text: String) -> Result<String, minijinja::Error> {
    let wrong = |why: &str| minijinja::Error::new(ErrorKind::InvalidOperation, why.to_string());
    let parsed: Result<BTreeMap<String, Vec<(u32, f64)>>, _> =
        toml::from_str(&format!("rows = {text}"));
    let rows = parsed.ok().and_then(|mut table| table.remove("rows"));
    let rows =
        rows.ok_or_else(|| wrong("`every_size` is for a list such as [[1, 5.0], [4, 9.5]]"))?;
    if rows.windows(2).any(|two| two[0].0 >= two[1].0)
        || rows.last().is_some_and(|r| r.0 > SIZE_MAX)
    {
        return Err(wrong("`every_size` is for sizes that grow, up to 4096"));
    }
    let mut all: Vec<String> =
        rows.first().map(|(size, ms)| format!("[{size}, {ms:?}]")).into_iter().collect();
    for two in rows.windows(2) {
        let ((from, low), (to, high)) = (two[0], two[1]);
        let at = |size: u32| low + (high - low) * f64::from(size - from) / f64::from(to - from);
        all.extend((from + 1..=to).map(|size| format!("[{size}, {:?}]", at(size))));
    }
    Ok(format!("[{}]", all.join(", ")))
}

/// A cell's value.
fn value(cell: &str) -> Value {
    let cell = cell.trim();
    match cell {
        "" | WITHHELD => Value::from(()),
        _ => match (cell.parse::<i64>(), cell.parse::<f64>()) {
            (Ok(whole), _) => Value::from(whole),
            (_, Ok(number)) if number.is_finite() => Value::from(number),
            _ => Value::from(cell),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table<'static> {
        Table::read("t.csv", "name,rate,ms\na,100,2.5\nb,withheld,\n").unwrap()
    }

    #[test]
    fn expressions_are_over_the_columns_of_a_row() {
        let t = table();
        let number = |row, text| t.number(row, "k", text).unwrap();
        assert_eq!(number(0, "1000 / rate + ms"), Some(12.5));
        assert_eq!(number(0, "row"), Some(1.0));
        assert_eq!(number(1, "1000 / rate"), None, "it is withheld");
        assert_eq!(number(1, "ms * 2"), None, "it is empty");
        assert_eq!(number(1, "3 if name == 'b' else rate"), Some(3.0));
        assert_eq!(t.text(0, "k", "p[n={{ rate }}]").unwrap(), "p[n=100]");
        assert_eq!(t.text(0, "k", "{{ ms }}").unwrap(), "2.5");
    }

    #[test]
    fn sizes_between_rows_are_on_a_line() {
        let t = Table::read("t.csv", "rows\n\"[[1, 4.0], [3, 6.0], [4, 10.0]]\"\n").unwrap();
        let filled = t.text(0, "k", "{{ rows | every_size }}").unwrap();
        assert_eq!(filled, "[[1, 4.0], [2, 5.0], [3, 6.0], [4, 10.0]]");
        for (text, part) in
            [("'no' | every_size", "for a list"), ("'[[2, 1.0], [1, 2.0]]' | every_size", "grow")]
        {
            let error = t.eval(0, "k", text).unwrap_err().to_string();
            assert!(error.contains(part), "{error}");
        }
    }

    #[test]
    fn what_is_wrong_names_the_key_and_the_remedy() {
        let t = table();
        let error = |text: &str| t.number(0, "cases.set.k", text).unwrap_err().to_string();
        for (text, parts) in [
            (
                "rat * 2",
                &["cases.set.k", "`rat`", "did you mean `rate`?", "t.csv: name, rate, ms"][..],
            ),
            ("rate *", &["cases.set.k", "`rate *`", "correct it"]),
            ("name", &["found a in row 1", "a finite number", "t.csv"]),
            ("1 / 0", &["row 1"]),
        ] {
            let error = error(text);
            parts.iter().for_each(|part| assert!(error.contains(part), "{part}: {error}"));
        }
        let empty = Table::read("e.csv", "a,b\n").err().unwrap().to_string();
        assert!(empty.contains("e.csv") && empty.contains("no rows"), "{empty}");
    }
}
