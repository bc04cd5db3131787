//! Times as logs write them: ISO 8601 and its relatives, web servers' forms, seconds since 1970 or since a
//! start in any unit, or a form that the user gives.

use chrono::{DateTime, NaiveDateTime};
use orrery_traces::timestamp::parse_timestamp_ns;

const NS: i128 = 1_000_000_000;

/// How a column writes its times: what reads the first reads all.
#[derive(Clone, Debug, PartialEq)]
pub enum When {
    /// `2026-11-01T12:00:00.120Z`, also with `/`, a comma, `+0000` or ` UTC`.
    Iso,
    /// `01/Nov/2026:12:00:00 +0000`, in brackets or not.
    Web,
    /// `Sun, 01 Nov 2026 12:00:00 GMT`.
    Mail,
    /// A number in a unit of so many nanoseconds.
    Number(i128),
    /// As `strftime` has it.
    Given(String),
}

/// What is allowed, for messages.
pub const ALLOWED: &str = "a time such as 2026-11-01T12:00:00.120Z, 01/Nov/2026:12:00:00 +0000 or seconds \
                           since 1970, or `--time-format` (in a scenario `timestamps = { format = ... }`) with the form \
                           as strftime has it";

/// What says another unit of times that are plain numbers, in a command and in a scenario.
pub fn unit_says(unit: &str) -> String {
    format!(
        "`orrery import --time-unit {unit}`, or in a scenario `timestamps = {{ unit = \"{unit}\" }}`, says otherwise"
    )
}

impl When {
    /// The form of a time. `unit_ns`: the unit that the column's name says.
    pub fn of(first: &str, unit_ns: Option<f64>, given: Option<&str>) -> Option<When> {
        if let Some(given) = given {
            let when = When::Given(given.to_string());
            return when.ns(first).map(|_| when);
        }
        let number = decimal(first).map(|(whole, _)| match unit_ns {
            Some(unit) => When::Number(unit as i128),
            // Seconds since 1970 were 1e9 in 2001 and are 1e10 in 2286.
            None => {
                let digits = whole.to_string().len();
                let units = [(11, NS), (14, 1_000_000), (17, 1_000)];
                let unit = units.iter().find(|(most, _)| digits <= *most);
                When::Number(unit.map_or(1, |u| u.1))
            }
        });
        let forms = number.into_iter().chain([When::Iso, When::Web, When::Mail]);
        forms.into_iter().find(|when| when.ns(first).is_some())
    }

    /// What it is called in a report.
    pub fn name(&self) -> String {
        match self {
            When::Iso => "dates of ISO 8601".to_string(),
            When::Web => "dates of web servers".to_string(),
            When::Mail => "dates of RFC 2822".to_string(),
            When::Number(NS) => "seconds".to_string(),
            When::Number(1_000_000) => "milliseconds".to_string(),
            When::Number(1_000) => "microseconds".to_string(),
            When::Number(_) => "nanoseconds".to_string(),
            When::Given(form) => format!("dates of the form `{form}`"),
        }
    }

    /// A time in nanoseconds since 1970 or the start.
    pub fn ns(&self, text: &str) -> Option<i128> {
        let text = text.trim().trim_start_matches('[').trim_end_matches(']');
        match self {
            When::Iso => iso(text),
            When::Web => dated(text, "%d/%b/%Y:%H:%M:%S%.f %z"),
            When::Mail => DateTime::parse_from_rfc2822(text).ok().map(|t| of_date(&t)),
            When::Number(unit) => {
                let (whole, fraction) = decimal(text)?;
                whole.checked_mul(*unit)?.checked_add(fraction * unit / NS)
            }
            When::Given(form) => dated(text, form),
        }
    }
}

fn of_date<Z: chrono::TimeZone>(t: &DateTime<Z>) -> i128 {
    i128::from(t.timestamp()) * NS + i128::from(t.timestamp_subsec_nanos())
}

/// A date of a form, with a zone or of UTC.
fn dated(text: &str, form: &str) -> Option<i128> {
    let zoned = DateTime::parse_from_str(text, form).ok().map(|t| of_date(&t));
    zoned.or_else(|| Some(of_date(&NaiveDateTime::parse_from_str(text, form).ok()?.and_utc())))
}

fn iso(text: &str) -> Option<i128> {
    if let Some(ns) = parse_timestamp_ns(text) {
        return Some(ns);
    }
    let text = text.trim_end_matches(" UTC").trim_end_matches(" GMT");
    let (date, time) = text.split_at_checked(10)?;
    let mut time = time.replace(',', ".").replace(" +", "+").replace(" -", "-");
    if let Some(sign) = time.rfind(['+', '-'])
        && time.len() - sign == 5
        && time.is_char_boundary(sign + 3)
    {
        time.insert(sign + 3, ':');
    }
    parse_timestamp_ns(&(date.replace('/', "-") + &time))
}

/// A decimal number: its whole part, and its fraction in billionths.
fn decimal(text: &str) -> Option<(i128, i128)> {
    let text = text.trim();
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let digits = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
    if whole.is_empty() || whole.len() > 20 || !digits(whole) || !digits(fraction) {
        return None;
    }
    let nine: String = fraction.chars().chain("000000000".chars()).take(9).collect();
    Some((whole.parse().ok()?, nine.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_instant_in_many_forms() {
        let noon = 1_793_534_400 * NS + 120_000_000;
        for (text, ns) in [
            ("2026-11-01T12:00:00.120Z", noon),
            ("2026-11-01 12:00:00.12", noon),
            ("2026-11-01 12:00:00,120", noon),
            ("2026/11/01 12:00:00.120", noon),
            ("2026-11-01 13:00:00.120 +0100", noon),
            ("2026-11-01T13:00:00.120+01:00", noon),
            ("2026-11-01 12:00:00.120 UTC", noon),
            ("[01/Nov/2026:12:00:00 +0000]", noon - 120_000_000),
            ("01/Nov/2026:07:00:00.12 -0500", noon),
            ("Sun, 01 Nov 2026 12:00:00 +0000", noon - 120_000_000),
            ("1793534400.12", noon),
            ("1793534400120", noon),
            ("1793534400120000", noon),
            ("1793534400120000000", noon),
            ("12.5", 12_500_000_000),
        ] {
            let when = When::of(text, None, None).unwrap_or_else(|| panic!("{text}"));
            assert_eq!(when.ns(text), Some(ns), "{text}: {when:?}");
        }
        assert_eq!(When::of("7", Some(1e6), None), Some(When::Number(1_000_000)));
        let given = When::of("1.11.2026 12h00", None, Some("%d.%m.%Y %Hh%M")).unwrap();
        assert_eq!(given.ns("1.11.2026 12h00"), Some(noon - 120_000_000));
    }

    #[test]
    fn what_is_no_time_is_refused() {
        for text in [
            "",
            "yesterday",
            "2026-13-01 00:00:00",
            "-5",
            "1e9",
            "1.2.3",
            "é",
            "+",
            "999999999999999999999999",
        ] {
            assert_eq!(When::of(text, None, None), None, "{text}");
        }
        assert_eq!(When::of("12", None, Some("%Y")), None);
        assert_eq!(When::of("12", None, Some("%Q%")), None);
    }
}
