//! Limits on the texts of a TOML file, whatever it is about: a text is printed in tables, on pages and in figures, and
//! nobody reads a name of a hundred thousand letters.
//!
//! It knows a key by its last word alone; what a scenario's names may consist of is said in `value`.

use super::place::{line_at, parse_error};
use orrery_run::SpecError;
use serde::de::DeserializeOwned;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// The most characters of a name: it stands in each row of a table.
const NAME_MAX: usize = 200;
/// The most characters of a line of any other text.
const LINE_MAX: usize = 2_000;
/// The most bytes of a text: a scenario or a table within a file is one.
const TEXT_MAX: usize = 4 << 20;

/// Keys whose texts are names, in every kind of file.
const NAMES: [&str; 7] = ["name", "group", "kind", "id", "prefix", "preset", "case"];

/// Reads a file's text, whose texts have limits.
///
/// # Errors
/// When a text is too long, or the keys are not those of `T`; with the line.
pub fn read<T: DeserializeOwned>(name: &str, text: &str) -> Result<T, SpecError> {
    check(name, text)?;
    toml::from_str(text).map_err(|e| parse_error(name, text, &e))
}

/// Passes when no text and no key of a file is too long, and none has control characters. A text that is no TOML is
/// for its reader to refuse.
///
/// # Errors
/// The first text that is not so, with its line.
pub fn check(file: &str, text: &str) -> Result<(), SpecError> {
    let Ok(table) = DeTable::parse(text) else { return Ok(()) };
    Texts { file, text }.table(table.get_ref(), "")
}

struct Texts<'a> {
    file: &'a str,
    text: &'a str,
}

impl Texts<'_> {
    fn table(&self, table: &DeTable<'_>, at: &str) -> Result<(), SpecError> {
        for (key, value) in table {
            let name = key.get_ref().as_ref();
            let inner = if at.is_empty() { name.to_string() } else { format!("{at}.{name}") };
            self.fits(&inner, name, key.span().start, true)?;
            self.value(value, &inner, name)?;
        }
        Ok(())
    }

    fn value(&self, value: &Spanned<DeValue<'_>>, at: &str, last: &str) -> Result<(), SpecError> {
        match value.get_ref() {
            DeValue::String(text) => self.fits(at, text, value.span().start, NAMES.contains(&last)),
            DeValue::Array(items) => {
                let each = |(i, item)| self.value(item, &format!("{at}[{i}]"), last);
                items.iter().enumerate().try_for_each(each)
            }
            DeValue::Table(table) => self.table(table, at),
            _ => Ok(()),
        }
    }

    fn fits(&self, key: &str, text: &str, byte: usize, is_name: bool) -> Result<(), SpecError> {
        let error = |found: String, allowed: String, remedy: &str| {
            let file = format!("{}:{}", self.file, line_at(self.text, byte));
            Err(SpecError::value(key, found, allowed, remedy).in_file(&file))
        };
        let is_control = |c: char| c.is_control() && (is_name || !"\n\r\t".contains(c));
        if let Some(c) = text.chars().find(|c| is_control(*c)) {
            let allowed = match is_name {
                true => "letters, digits and signs in one line",
                false => "letters, digits, signs, spaces and new lines",
            };
            let found = format!("the control character {}", c.escape_unicode());
            return error(found, allowed.to_string(), "remove it");
        }
        if is_name && text.contains(['<', '>']) {
            let allowed = "a name without `<` and `>`".to_string();
            return error(format!("{text:?}"), allowed, "choose another name");
        }
        let (what, most) = if is_name { ("name", NAME_MAX) } else { ("line", LINE_MAX) };
        let longest = text.lines().map(|line| line.chars().count()).max().unwrap_or(0);
        if longest > most {
            let found = format!("a {what} of {longest} characters");
            return error(found, format!("at most {most}"), "shorten it");
        }
        if text.len() > TEXT_MAX {
            let found = format!("a text of {} bytes", text.len());
            return error(found, format!("at most {TEXT_MAX}"), "shorten it");
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(text: &str) -> String {
        check("f.toml", text).err().map_or(String::new(), |e| e.to_string())
    }

    #[test]
    fn a_text_that_is_too_long_is_refused_at_its_line_wherever_it_stands() {
        let long = "a".repeat(100_000);
        for (text, says) in [
            (format!("a = 1\nname = \"{long}\"\n"), "f.toml:2: key `name`: found a name of 100000"),
            (format!("[[app]]\n[[app]]\ngroup = '{long}'\n"), "f.toml:3: key `app[1].group`"),
            (format!("a = 1\n\"{long}\" = 2\n"), "f.toml:2: key `aaa"),
            (
                format!("x = [\n\"b\",\n\"{long}\"]\n"),
                "f.toml:3: key `x[1]`: found a line of 100000",
            ),
            (format!("p = {{ source = '{long}' }}\n"), "key `p.source`"),
            (format!("t = \"\"\"\n{long}\n\"\"\"\n"), "key `t`: found a line of 100000"),
            ("name = \"a<b\"\n".to_string(), "without `<` and `>`"),
            ("note = \"\\u001b[31m\"\n".to_string(), "control character \\u{1b}"),
            ("name = \"a\\nb\"\n".to_string(), "in one line"),
        ] {
            let found = refused(&text);
            assert!(found.contains(says) && found.contains("remedy: "), "{says}: {found}");
            assert!(found.len() < 1_000, "{found}");
        }
    }

    #[test]
    fn usual_texts_pass() {
        let lines = "a line of a table\n".repeat(20_000);
        for text in [
            format!("rows = '''\n{lines}'''\n"),
            "note = \"1 < 2\\tand 3 > 2\"\nname = \"own law, 8 bins\"\n".to_string(),
            format!("name = \"{}\"\nsource = \"{}\"\n", "a".repeat(200), "b".repeat(2_000)),
            "= no toml".to_string(),
        ] {
            assert_eq!(refused(&text), "");
        }
    }
}
