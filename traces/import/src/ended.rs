//! How a request ended, as load generators, proxies and logs write it: one table for every reader.
//!
//! A request that failed has no answer, however fast its error came, and a word that nobody knows is none either.

use crate::format::Field;

/// How a request ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// With an answer.
    Answered,
    /// Without one.
    Failed,
    /// Its word is not in the table.
    Unknown,
}

/// A column that says it, with the words for an answer and for none. Words are compared without case, blanks and
/// signs.
pub struct Column {
    pub field: Field,
    answered: &'static str,
    failed: Failing,
}

/// The words for a request without an answer.
enum Failing {
    /// These; a number is a status of HTTP.
    Words(&'static str),
    /// Every other text: it is an error.
    Text,
}

/// `ok` is Gatling's, gRPC's and orrery's, `ko` Gatling's; the names of failures are those of gRPC, of clients and of
/// proxies.
const STATUS: Column = Column {
    field: Field::new(
        &["status", "status code", "code", "response code"],
        "measured: a status of HTTP from 100 to 399 or a word such as `OK` is an answer; 0 and below, 400 to 599 or a \
         word such as `KO` is none",
    ),
    answered: "ok success succeeded successful answered complete completed done finished pass passed true",
    failed: Failing::Words(
        "ko error err fail failed failure false exception timeout timedout cancelled canceled aborted abort rejected \
         refused reset dropped drop killed lost overloaded connectionrefused connectionreset deadlineexceeded \
         unavailable resourceexhausted internal unknown unimplemented unauthenticated permissiondenied \
         invalidargument notfound alreadyexists failedprecondition outofrange dataloss",
    ),
};

/// JMeter's `success`, k6's `expected_response`.
const SUCCESS: Column = Column {
    field: Field::new(
        &["success", "successful", "succeeded", "expected response"],
        "measured: `false` is a request without an answer",
    ),
    answered: "true yes 1 ok",
    failed: Failing::Words("false no 0 ko"),
};

/// vegeta's, k6's and oha's `error`, Locust's `exception`, JMeter's `failureMessage`.
const ERROR: Column = Column {
    field: Field::new(
        &["error", "error message", "error code", "exception", "failure message", "failed"],
        "measured: a request with a text here has no answer",
    ),
    answered: "none null nil nan na 0 false no noerror ok",
    failed: Failing::Text,
};

/// Every column that says how a request ended.
pub const COLUMNS: [Column; 3] = [STATUS, SUCCESS, ERROR];

impl Column {
    /// What a text in it says; nothing where it is empty or a dash.
    pub fn says(&self, text: &str) -> Option<Ended> {
        let word: String = text.to_lowercase().chars().filter(|c| c.is_alphanumeric()).collect();
        if word.is_empty() {
            return None;
        }
        let is = |words: &str| words.split_whitespace().any(|own| own == word);
        let Failing::Words(failed) = self.failed else {
            return Some(if is(self.answered) { Ended::Answered } else { Ended::Failed });
        };
        if is(self.answered) {
            return Some(Ended::Answered);
        }
        // JMeter writes `Non HTTP response code: java.net.ConnectException`.
        if is(failed) || word.starts_with("nonhttpresponse") {
            return Some(Ended::Failed);
        }
        let code = text.split(' ').next().and_then(|code| code.parse::<f64>().ok());
        Some(match code {
            Some(code) if (100.0..400.0).contains(&code) => Ended::Answered,
            Some(code) if code <= 0.0 || (400.0..600.0).contains(&code) => Ended::Failed,
            _ => Ended::Unknown,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_tools_write_of_a_failure_is_no_answer() {
        for (column, answered, failed, unknown) in [
            (
                &STATUS,
                &["200", "200 OK", "204.0", "302", "OK", "Success", "COMPLETED"][..],
                &[
                    "0",
                    "000",
                    "-1",
                    "404",
                    "408",
                    "429",
                    "499",
                    "500",
                    "503 Service Unavailable",
                    "599",
                    "KO",
                    "error",
                    "FAILED",
                    "cancelled",
                    "Canceled",
                    "aborted",
                    "timed-out",
                    "timeout",
                    "DeadlineExceeded",
                    "DEADLINE_EXCEEDED",
                    "Unavailable",
                    "Non HTTP response code: java.net.SocketTimeoutException",
                ][..],
                &["7", "600", "weird", "HIT"][..],
            ),
            (&SUCCESS, &["true", "True", "1"], &["false", "FALSE", "0"], &["perhaps", "2"]),
            (&ERROR, &["None", "null", "0", "false"], &["connection refused", "1050", "true"], &[]),
        ] {
            for (words, says) in
                [(answered, Ended::Answered), (failed, Ended::Failed), (unknown, Ended::Unknown)]
            {
                for word in words {
                    assert_eq!(column.says(word), Some(says), "{word}");
                }
            }
            assert_eq!(["", " ", "-"].map(|none| column.says(none)), [None; 3]);
        }
    }
}
