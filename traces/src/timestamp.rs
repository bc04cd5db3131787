//! Dates and times as text, to whole nanoseconds since 1970, by hand.
//!
//! It is not a calendar library: the Gregorian rule for leap years, no leap seconds, no zone names.

/// Nanoseconds in a second.
const NS: i128 = 1_000_000_000;

/// Parses `2023-11-16 18:17:03.9799600`: a date, a blank or `T`, a time, up to nine digits of a
/// fraction, and optionally `Z` or an offset such as `+00:00`. Nanoseconds since 1970, or `None`.
pub fn parse_timestamp_ns(text: &str) -> Option<i128> {
    let (head, rest) = (text.get(..19)?, text.get(19..)?);
    let shape = head.bytes().enumerate().all(|(i, b)| match i {
        4 | 7 => b == b'-',
        10 => b == b' ' || b == b'T',
        13 | 16 => b == b':',
        _ => b.is_ascii_digit(),
    });
    if !shape {
        return None;
    }
    let part = |from: usize, to: usize| head[from..to].parse::<i64>().ok();
    let days = days_from_civil(part(0, 4)?, part(5, 7)?, part(8, 10)?)?;
    let (h, m, s) = (part(11, 13)?, part(14, 16)?, part(17, 19)?);
    if h > 23 || m > 59 || s > 59 {
        return None;
    }
    let (fraction_ns, zone) = fraction(rest)?;
    let seconds = i128::from(days * 86_400 + h * 3_600 + m * 60 + s - zone_s(zone)?);
    Some(seconds * NS + i128::from(fraction_ns))
}

/// Days from 1970-01-01 to a date, or `None` when there is no such date.
fn days_from_civil(year: i64, month: i64, day: i64) -> Option<i64> {
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let february = if leap { 29 } else { 28 };
    let lengths = [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let index = usize::try_from(month.checked_sub(1)?).ok()?;
    if day < 1 || day > *lengths.get(index)? {
        return None;
    }
    let before: i64 = lengths[..index].iter().sum();
    let y = year - 1; // whole years before this one, since year 1
    let since_year_1 = y * 365 + y.div_euclid(4) - y.div_euclid(100) + y.div_euclid(400);
    Some(since_year_1 - 719_162 + before + day - 1)
}

/// A fraction of a second at the start of `text`, in nanoseconds, and what follows it.
fn fraction(text: &str) -> Option<(u64, &str)> {
    let Some(rest) = text.strip_prefix('.') else { return Some((0, text)) };
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    if digits == 0 || digits > 9 {
        return None;
    }
    let value: u64 = rest[..digits].parse().ok()?;
    Some((value * 10u64.pow(9 - digits as u32), &rest[digits..]))
}

/// The seconds that an offset such as `+01:30` is ahead of UTC.
fn zone_s(text: &str) -> Option<i64> {
    if text.is_empty() || text == "Z" {
        return Some(0);
    }
    let bytes = text.as_bytes();
    if bytes.len() != 6 || bytes[3] != b':' {
        return None;
    }
    let two = |at: usize| -> Option<i64> {
        let pair = &bytes[at..at + 2];
        let digits = pair.iter().all(u8::is_ascii_digit);
        digits.then(|| i64::from(pair[0] - b'0') * 10 + i64::from(pair[1] - b'0'))
    };
    let (h, m) = (two(1)?, two(4)?);
    match bytes[0] {
        _ if h > 23 || m > 59 => None,
        b'+' => Some(h * 3_600 + m * 60),
        b'-' => Some(-(h * 3_600 + m * 60)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::parse_timestamp_ns as parse;

    #[test]
    fn known_instants() {
        assert_eq!(parse("1970-01-01 00:00:00"), Some(0));
        assert_eq!(parse("2000-02-29T12:00:00Z"), Some(951_825_600_000_000_000));
        assert_eq!(parse("2023-11-16 18:17:03.9799600"), Some(1_700_158_623_979_960_000));
        assert_eq!(parse("2024-05-10 00:00:00.009930+00:00"), Some(1_715_299_200_009_930_000));
        assert_eq!(parse("1970-01-01 01:30:00+01:30"), Some(0));
        assert_eq!(parse("1969-12-31 23:59:59.999999999"), Some(-1));
    }

    #[test]
    fn what_is_no_date_or_time_is_refused() {
        for bad in [
            "",
            "2023-11-16",
            "2023-13-01 00:00:00",
            "2023-02-29 00:00:00",
            "1900-02-29 00:00:00",
            "2023-00-01 00:00:00",
            "2023-11-31 00:00:00",
            "2023-11-16 24:00:00",
            "2023-11-16 18:17:60",
            "2023-11-16 18:17:03.",
            "2023-11-16 18:17:03.1234567890",
            "2023-11-16 18:17:03x",
            "2023/11/16 18:17:03",
            "2023-11-16 18:17:03+1:00",
            "2023-11-16 18:17:03+é0:0",
            "-023-11-16 18:17:03",
            "2023-11-16é8:17:03.1",
        ] {
            assert_eq!(parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn each_day_follows_the_last_over_four_centuries() {
        let mut last = super::days_from_civil(1899, 12, 31).unwrap();
        for year in 1900..2300 {
            for month in 1..=12 {
                for day in 1..=31 {
                    if let Some(days) = super::days_from_civil(year, month, day) {
                        assert_eq!(days, last + 1);
                        last = days;
                    }
                }
            }
        }
    }
}
