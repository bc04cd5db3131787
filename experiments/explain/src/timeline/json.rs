//! Trace events as bytes. Instants are microseconds with three decimals, exact from nanoseconds.

use orrery_sim::log::push_decimal;
use orrery_sim::time::{Span, Time};

/// JSON on its way out.
#[derive(Default)]
pub struct Json(pub Vec<u8>);

impl Json {
    /// Bytes as they are.
    #[inline]
    pub fn raw(&mut self, text: &str) -> &mut Json {
        self.0.extend_from_slice(text.as_bytes());
        self
    }

    /// A whole number.
    #[inline]
    pub fn number(&mut self, n: u64) -> &mut Json {
        push_decimal(&mut self.0, n);
        self
    }

    /// Nanoseconds as microseconds.
    #[inline]
    pub fn us(&mut self, ns: u64) -> &mut Json {
        push_decimal(&mut self.0, ns / 1_000);
        let rest = ns % 1_000;
        let digit = |n: u64| b'0' + (n % 10) as u8;
        let decimals = [b'.', digit(rest / 100), digit(rest / 10), digit(rest)];
        self.0.extend_from_slice(&decimals);
        self
    }

    /// An instant.
    pub fn at(&mut self, time: Time) -> &mut Json {
        self.us(time.ns())
    }

    /// A length of time.
    pub fn span(&mut self, span: Span) -> &mut Json {
        self.us(span.ns())
    }
}

/// A text inside quotation marks, without them.
pub fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            c if u32::from(c) < 0x20 => out.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn microseconds_are_exact() {
        let text = |ns| String::from_utf8(std::mem::take(&mut Json::default().us(ns).0)).unwrap();
        assert_eq!(
            (text(0), text(1), text(1_050)),
            ("0.000".into(), "0.001".into(), "1.050".into())
        );
        assert_eq!(text(u64::MAX), "18446744073709551.615");
    }

    #[test]
    fn what_would_end_a_text_is_escaped() {
        assert_eq!(escaped("a\"b\\c\u{1}é"), "a\\\"b\\\\c\\u0001é");
    }
}
