//! `--set KEY=VALUE`: keys of a file, set on the command line.

use clap::Args;
use orrery_results::Row;
use orrery_run::SpecError;
use toml::Value;

/// Keys that are set.
#[derive(Clone, Debug, Default, Args)]
pub struct Set {
    /// Set a key of the file, such as `arrivals.poisson.rate_per_s=90`, `model.bert.slo_ms=80` or
    /// `policy.fifo.max_batch=8`; a list or a table as in TOML. May be repeated.
    #[arg(long = "set", value_name = "KEY=VALUE", value_parser = pair)]
    set: Vec<(String, Value)>,
}

/// A key and its value; what is nothing of TOML's is a word.
fn pair(text: &str) -> Result<(String, Value), String> {
    let (key, value) = text.split_once('=').ok_or("allowed: KEY=VALUE")?;
    let parsed = format!("x = {value}").parse::<toml::Table>().ok();
    let parsed = parsed.and_then(|mut table| table.remove("x"));
    let value = parsed.unwrap_or_else(|| Value::String(value.trim().to_string()));
    Ok((key.trim().to_string(), value))
}

impl Set {
    /// The keys with their values.
    ///
    /// # Errors
    /// When a key is given twice, or has an option of its own.
    pub fn changes(&self) -> Result<&[(String, Value)], SpecError> {
        for (i, (key, _)) in self.set.iter().enumerate() {
            let (found, allowed, remedy) = match key.as_str() {
                "policies" => (
                    "the list of policies",
                    "another key; `policy.NAME.PARAMETER` for a parameter",
                    "name the policies with `--policy POLICY`, once for each",
                ),
                _ if self.set[..i].iter().any(|other| other.0 == *key) => {
                    ("given twice", "each key once", "remove one")
                }
                _ => continue,
            };
            return Err(SpecError::value(format!("--set {key}"), found, allowed, remedy));
        }
        Ok(&self.set)
    }

    /// Whether no key is set.
    pub fn is_empty(&self) -> bool {
        self.set.is_empty()
    }

    /// What was set, as the column `axes` of a sweep has it.
    pub fn axes(&self) -> String {
        let word = |value: &Value| match value {
            Value::String(word) => word.clone(),
            other => other.to_string(),
        };
        let each = self.set.iter().map(|(key, value)| format!("{key}={}", word(value)));
        each.collect::<Vec<_>>().join(";")
    }

    /// Says it in every row, behind its own axes.
    pub fn tell(&self, rows: &mut [Row]) {
        if !self.set.is_empty() {
            for row in rows {
                let own = std::mem::take(&mut row.axes);
                let all = [own, self.axes()].into_iter().filter(|axes| !axes.is_empty());
                row.axes = all.collect::<Vec<_>>().join(";");
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_one_of_toml_or_a_word() {
        let value = |text: &str| pair(text).unwrap().1;
        assert_eq!(value("a.b=2"), Value::Integer(2));
        assert_eq!(value("a.b = 2.5"), Value::Float(2.5));
        assert_eq!(value("a=[1, 2]").as_array().unwrap().len(), 2);
        assert_eq!(value("a=released"), Value::String("released".to_string()));
        assert_eq!(value("a=x=y"), Value::String("x=y".to_string()));
        assert!(pair("a").is_err());
        let set = Set { set: vec![pair("a=1").unwrap(), pair("b=w").unwrap()] };
        assert_eq!(set.axes(), "a=1;b=w");
        for wrong in [["a=1", "a=2"], ["a=1", "policies=[]"]] {
            let set = Set { set: wrong.map(|text| pair(text).unwrap()).to_vec() };
            assert!(set.changes().is_err(), "{wrong:?}");
        }
    }
}
