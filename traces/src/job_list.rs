//! A list of jobs: one job a line, with its unit in each column's name.
//!
//! Columns: `iterations` and `iteration_ms`, and if given `at_s` (0), `persistent_mb` (0), `ephemeral_mb`
//! (0), `busy` (1, the part of a GPU that an iteration keeps busy) and `stage` (0). Other columns are
//! left alone. Lines need not be in the order of submission.

use crate::error::TraceError;
use crate::open::Input;
use crate::table::Table;
use orrery_sim::jobs::job::{Job, MB, WHOLE};
use orrery_sim::time::{Span, Time};

/// The latest submission, in seconds: a year and a day.
pub const AT_S_MAX: f64 = 366.0 * 86_400.0;
/// The longest iteration, in milliseconds: a day.
pub const ITERATION_MS_MAX: f64 = 86_400e3;
/// The most iterations of a job.
pub const ITERATIONS_MAX: u64 = 1_000_000_000_000;
/// The most memory, in MB.
pub const MEMORY_MB_MAX: f64 = 1e9;
/// The last stage.
pub const STAGE_MAX: u32 = 100_000;
/// The most jobs.
pub const JOBS_MAX: usize = 10_000_000;

/// Reads a list to its end.
///
/// # Errors
/// When a column is missing, a field is not what its column allows, or there is no job.
pub fn read(input: Input) -> Result<Vec<Job>, TraceError> {
    let mut table = Table::open(input)?.alone();
    let (iterations, iteration) = (table.column("iterations")?, table.column("iteration_ms")?);
    let [at, persistent, ephemeral, busy, stage] =
        ["at_s", "persistent_mb", "ephemeral_mb", "busy", "stage"].map(|name| table.find(name));
    let mut jobs = Vec::new();
    while table.advance()? {
        let number = |column: Option<usize>, none: f64, most: f64| match column {
            Some(column) => table.number(column, most),
            None => Ok(none),
        };
        let bytes = |mb: f64| (mb * MB as f64 + 0.5) as u64;
        let what = Job {
            submitted: Time::ZERO + Span::from_secs_f64(number(at, 0.0, AT_S_MAX)?),
            stage: stage.map_or(Ok(0), |c| table.whole(c, STAGE_MAX.into()))? as u32,
            iterations: table.whole(iterations, ITERATIONS_MAX)?,
            iteration: Span::from_ms_f64(table.number(iteration, ITERATION_MS_MAX)?),
            persistent: bytes(number(persistent, 0.0, MEMORY_MB_MAX)?),
            ephemeral: bytes(number(ephemeral, 0.0, MEMORY_MB_MAX)?),
            busy: (number(busy, 1.0, 1.0)? * f64::from(WHOLE) + 0.5) as u32,
        };
        if what.iterations == 0 {
            return Err(table.bad_field(iterations, "at least 1: a job without iterations is none"));
        }
        if what.iteration == Span::ZERO {
            return Err(table.bad_field(iteration, "at least a nanosecond"));
        }
        if let (Some(busy), 0) = (busy, what.busy) {
            return Err(table.bad_field(busy, "a part above 0"));
        }
        if jobs.len() == JOBS_MAX {
            let found = format!("more than {JOBS_MAX} jobs");
            return Err(table.bad_row(found, "fewer".to_string(), "split the list"));
        }
        jobs.push(what);
    }
    if jobs.is_empty() {
        return Err(table.ended("a job", "write the list again"));
    }
    Ok(jobs)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open(text: &str) -> Result<Vec<Job>, TraceError> {
        read(Input::from_bytes("jobs.csv", text.as_bytes().to_vec())?)
    }

    #[test]
    fn a_list_is_read_in_its_units() {
        let jobs =
            open("name,iterations,iteration_ms,at_s,persistent_mb,busy\na,5,2.5,0.5,100,0.25\n");
        let expected = Job {
            submitted: Time::from_ns(500_000_000),
            iterations: 5,
            iteration: Span::from_us(2_500),
            persistent: 100 * MB,
            busy: WHOLE / 4,
            ..Job::default()
        };
        assert_eq!(jobs.unwrap(), [expected]);
    }

    #[test]
    fn damage_is_named_with_line_and_column() {
        for (text, place) in [
            ("iterations\n1\n", "iteration_ms"),
            ("iterations,iteration_ms\n", "a job"),
            ("iterations,iteration_ms\n0,1\n", "line 2: column `iterations`"),
            ("iterations,iteration_ms\n1,0\n", "line 2: column `iteration_ms`"),
            ("iterations,iteration_ms\n1,1\n2,x\n", "line 3: column `iteration_ms`"),
            ("iterations,iteration_ms,persistent_mb\n1,1,-4\n", "line 2: column `persistent_mb`"),
            ("iterations,iteration_ms,busy\n1,1,0\n", "line 2: column `busy`"),
            ("iterations,iteration_ms,busy\n1,1,1.5\n", "line 2: column `busy`"),
        ] {
            let error = open(text).err().unwrap_or_else(|| panic!("{text}")).to_string();
            assert!(error.contains("jobs.csv") && error.contains(place), "{error}");
        }
    }
}
