//! What can be wrong with a table that should become a figure.

pub(crate) use orrery_results::distinct;
use thiserror::Error;

/// Why a table gives no figure: each names what is needed, what was found, and the remedy.
#[derive(Clone, Debug, Error, PartialEq)]
#[allow(missing_docs)]
pub enum PlotError {
    #[error("{figure}: no row has {needed}; found: {found}\n  remedy: {remedy}")]
    Missing { figure: &'static str, needed: String, found: String, remedy: String },

    #[error(
        "{figure}: axis `{axis}` has the value `{value}`; allowed: numbers\n  remedy: choose a \
         numeric axis; here: {axes}"
    )]
    NotNumeric { figure: &'static str, axis: String, value: String, axes: String },

    #[error("{figure}: {found} {what}; allowed: at most {limit}\n  remedy: {remedy}")]
    TooMany { figure: &'static str, what: &'static str, found: usize, limit: usize, remedy: String },

    #[error(
        "{figure}: two rows for the same point: {point}\n  remedy: give each table once, or choose \
         among the rows"
    )]
    Twice { figure: &'static str, point: String },

    #[error(
        "{figure}: a point at {x} with the share {share}; allowed: finite numbers\n  remedy: make the table \
         again; requests that were never answered are the share that a distribution does not reach"
    )]
    NotFinite { figure: &'static str, x: f64, share: f64 },

    #[error(
        "{figure}: the window from {from_ns} ns to {to_ns} ns is empty; the batches run from \
         {first_ns} ns to {last_ns} ns\n  remedy: choose a window that ends after it begins and \
         meets the batches"
    )]
    Window { figure: &'static str, from_ns: u64, to_ns: u64, first_ns: u64, last_ns: u64 },
}

/// An error in the parts of which every message consists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parts {
    /// What was found.
    pub found: String,
    /// What is allowed or needed.
    pub allowed: String,
    /// How the caller can mend it.
    pub remedy: String,
}

impl PlotError {
    /// The error in parts, for a message of another form.
    pub fn parts(&self) -> Parts {
        let text = self.to_string();
        let (message, remedy) = text.split_once("\n  remedy: ").unwrap_or((&text, ""));
        let message = message.strip_prefix(self.figure()).unwrap_or(message);
        let message = message.trim_start_matches(": ");
        let (found, allowed) = match self {
            PlotError::Missing { needed, found, .. } => {
                (found.clone(), format!("rows with {needed}"))
            }
            PlotError::Twice { .. } => (message.to_string(), "one row for each point".to_string()),
            PlotError::Window { .. } => (message.to_string(), "a window with batches".to_string()),
            _ => match message.split_once("; allowed: ") {
                Some((found, allowed)) => (found.to_string(), allowed.to_string()),
                None => (message.to_string(), String::new()),
            },
        };
        Parts { found, allowed, remedy: remedy.to_string() }
    }

    /// The figure that was asked for, as `--kind` names it.
    pub fn figure(&self) -> &'static str {
        match self {
            PlotError::Missing { figure, .. }
            | PlotError::NotNumeric { figure, .. }
            | PlotError::TooMany { figure, .. }
            | PlotError::Twice { figure, .. }
            | PlotError::NotFinite { figure, .. }
            | PlotError::Window { figure, .. } => figure,
        }
    }

    /// An error about rows that are needed and not there.
    pub(crate) fn missing(
        figure: &'static str,
        needed: impl Into<String>,
        found: &[&str],
        remedy: impl Into<String>,
    ) -> PlotError {
        PlotError::Missing {
            figure,
            needed: needed.into(),
            found: listed(found),
            remedy: remedy.into(),
        }
    }

    /// Passes when there are not too many of something.
    pub(crate) fn limit(
        figure: &'static str,
        what: &'static str,
        found: usize,
        limit: usize,
        remedy: &str,
    ) -> Result<(), PlotError> {
        if found <= limit {
            return Ok(());
        }
        Err(PlotError::TooMany { figure, what, found, limit, remedy: remedy.into() })
    }
}

/// Distinct words in the order of their first appearance; `nothing` for none.
pub(crate) fn listed(words: &[&str]) -> String {
    const SHOWN: usize = 20;
    let mut out = distinct(words.iter().copied());
    let more = out.len().saturating_sub(SHOWN);
    out.truncate(SHOWN);
    let names: Vec<String> = out
        .iter()
        .map(|w| if w.is_empty() { "(empty)".into() } else { format!("`{w}`") })
        .collect();
    match (names.is_empty(), more) {
        (true, _) => "nothing".into(),
        (_, 0) => names.join(", "),
        _ => format!("{} and {more} more", names.join(", ")),
    }
}
