//! What every measured table is asked, whichever tool wrote it: how its requests arrived where it does not say it,
//! whether its quantiles rise, whether its generator kept up. Latencies are checked where they are read.

use crate::File;
use crate::content::{Content, Offered, Point};
use crate::error::ImportError;
use crate::format::{NS_MAX, Options, Reading};
use crate::load::Arriving;
use orrery_traces::error::shorten;

/// A latency in milliseconds from a key of a file that is no table.
pub fn latency_ms(
    file: &File<'_>,
    key: &str,
    value: Option<f64>,
    unit_ns: f64,
) -> Result<Option<f64>, ImportError> {
    let Some(value) = value else { return Ok(None) };
    if value > 0.0 && value <= NS_MAX / unit_ns {
        return Ok(Some(value * unit_ns / 1e6));
    }
    let place = format!("{}: key `{}`", file.name(), shorten(key));
    let remedy = "remove it, or measure again: a latency of zero is no measurement";
    let allowed = format!("a time above 0, up to {:e}", NS_MAX / unit_ns);
    Err(ImportError::value(place, format!("`{value}`"), allowed, remedy))
}

/// Sets the arrivals that the file does not say, and notes what is odd.
pub fn settle(reading: &mut Reading, options: &Options) -> Result<(), ImportError> {
    measured(reading)?;
    let (mut assumed, mut falling, mut lagging) = (Vec::new(), Vec::new(), Vec::new());
    let mut given = options.arrivals;
    let tables = reading.contents.iter_mut();
    for (row, point) in tables.flat_map(points).enumerate() {
        if let (Some(_), Some(how)) = (point.assumed, options.arrivals) {
            point.load = load(&reading.file, point, how)?;
            (point.assumed, given) = (None, None);
        }
        if let Some(why) = point.assumed {
            let load = match &point.load {
                Offered::Rate { spacing, .. } => format!("`{spacing}`"),
                other => format!("`{other}`"),
            };
            let words = format!(
                "the file does not say how its requests arrived: {load} is assumed, {why}; `--arrivals HOW` says it"
            );
            assumed.extend((!assumed.contains(&words)).then_some(words));
        }
        let quantiles = point.quantiles();
        if quantiles.windows(2).any(|pair| pair[0].1 > pair[1].1) {
            let all: Vec<String> = quantiles.iter().map(|(q, ms)| format!("{q} {ms}")).collect();
            falling.push(format!("{} ms in row {}", all.join(", "), row + 1));
        }
        lagging.extend(point.lags().then(|| point.load.to_string()));
    }
    if let Some(how) = given {
        let found = format!("`{how}`, but no row whose arrivals are unknown");
        let remedy = "leave it out: the file says how its requests arrived";
        return Err(ImportError::value("--arrivals", found, "a file that does not say it", remedy));
    }
    reading.assumed.splice(0..0, assumed);
    note(reading, falling, "quantiles out of order");
    note(
        reading,
        lagging,
        "the generator did not keep up, or requests failed; calibrate leaves it out",
    );
    Ok(())
}

/// Leaves out a measured table in which nothing was measured: a load alone is no measurement.
///
/// # Errors
/// When the file becomes nothing else.
fn measured(reading: &mut Reading) -> Result<(), ImportError> {
    let rows = reading.contents.iter_mut().map(|c| points(c).len()).sum::<usize>();
    let is_measured = |c: &mut Content| {
        let points = points(c);
        points.is_empty() || points.iter().any(Point::is_measured)
    };
    let before = reading.contents.len();
    reading.contents.retain_mut(is_measured);
    if reading.contents.len() == before {
        return Ok(());
    }
    let ignored = match &reading.ignored[..] {
        [] => String::new(),
        names => format!("; not known: `{}`", names.join("`, `")),
    };
    let found = format!("nothing measured in {rows} rows{ignored}");
    if reading.contents.is_empty() {
        let allowed = "a rate or a latency in one of them";
        let remedy = "rename the columns that have them, for example to `rate_per_s` and `p50_ms`";
        return Err(ImportError::value(&reading.file, found, allowed, remedy));
    }
    reading.note(format!("no measured: {found}"));
    Ok(())
}

fn points(content: &mut Content) -> &mut [Point] {
    match content {
        Content::Measured(table) => &mut table.points,
        _ => &mut [],
    }
}

/// One note of many rows: the first three are named.
fn note(reading: &mut Reading, rows: Vec<String>, words: &str) {
    let more = rows.len().saturating_sub(3);
    let more = if more > 0 { format!("; and {more} more") } else { String::new() };
    if !rows.is_empty() {
        reading.note(format!("{words}: {}{more}", rows[..rows.len().min(3)].join("; ")));
    }
}

/// The load of a row whose arrivals are given.
fn load(file: &str, point: &Point, how: Arriving) -> Result<Offered, ImportError> {
    let lacks = |what: &str| {
        let found = format!("`{how}` for a row without {what} ({file})");
        let remedy = "write the table by hand, with that column (docs/formats.md)";
        ImportError::value("--arrivals", found, format!("a file with {what}"), remedy)
    };
    match (how, &point.load) {
        (Arriving::Clients(n), _) => Ok(Offered::Clients(n)),
        (Arriving::AtOnce, _) => {
            let n = point.requests.and_then(|n| u32::try_from(n).ok());
            Ok(Offered::AtOnce(n.ok_or_else(|| lacks("the number of its requests"))?))
        }
        (Arriving::Spaced(spacing), Offered::Rate { per_s, in_flight_max, .. }) => {
            let (per_s, in_flight_max) = (*per_s, *in_flight_max);
            Ok(Offered::Rate { per_s, spacing, in_flight_max })
        }
        // What a server answers in the long run is what it was offered.
        (Arriving::Spaced(spacing), _) => {
            Ok(Offered::at(point.rate_per_s.ok_or_else(|| lacks("a rate"))?, spacing))
        }
    }
}
