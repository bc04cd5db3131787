//! Several files as one: profiles of batch sizes, measured tables of loads.

use crate::content::{Content, Measured, Offered, Profile, rate_of};
use crate::error::ImportError;
use crate::load::Spacing;

/// Contents of one kind as one.
///
/// # Errors
/// When they are of several kinds, or of a kind that cannot be joined.
pub fn join(parts: Vec<(String, Content)>) -> Result<Content, ImportError> {
    let unnamed = parts.iter().find(|(_, part)| part.lacks_model());
    if let Some((file, _)) = unnamed.filter(|_| parts.len() > 1) {
        let found = format!("no name of a model, in one of {} files", parts.len());
        let remedy = "say whose each file is: `--model NAME` once if all are of one model, or once for each file";
        return Err(ImportError::value(file, found, "files that name their models", remedy));
    }
    let mut parts = parts.into_iter();
    let Some((_, mut all)) = parts.next() else {
        let remedy = "name a file";
        return Err(ImportError::value("FILE", "no file", "one or more", remedy));
    };
    for (file, part) in parts {
        all = match (all, part) {
            (Content::Profile(mut a), Content::Profile(b)) => {
                a.rows.extend(b.rows);
                Content::Profile(Profile { rows: a.rows })
            }
            (Content::Measured(mut a), Content::Measured(b)) => {
                a.points.extend(b.points);
                Content::Measured(Measured { points: a.points })
            }
            (a, b) => {
                let found = format!("a {} beside a {}", b.kind().word(), a.kind().word());
                let allowed = "profiles, or measured tables; a workload or prompts alone";
                let remedy =
                    "import them one by one, or choose one: `orrery import FILE --as KIND`";
                return Err(ImportError::value(file, found, allowed, remedy));
            }
        };
    }
    Ok(all)
}

impl std::fmt::Display for Offered {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Offered::AtOnce(n) => write!(f, "{n} at once"),
            Offered::Clients(1) => write!(f, "1 client"),
            Offered::Clients(n) => write!(f, "{n} clients"),
            Offered::Rate { per_s, spacing, in_flight_max } => {
                match spacing {
                    Spacing::Even => write!(f, "{per_s}/s evenly")?,
                    Spacing::Poisson => write!(f, "{per_s}/s at random")?,
                    Spacing::Gamma(shape) => write!(f, "{per_s}/s in gamma gaps of shape {shape}")?,
                }
                in_flight_max.map_or(Ok(()), |n| write!(f, " and at most {n} in flight"))
            }
            Offered::Arrivals(w) => {
                write!(f, "{} recorded arrivals, {:.1}/s", w.requests.len(), rate_of(w))
            }
        }
    }
}
