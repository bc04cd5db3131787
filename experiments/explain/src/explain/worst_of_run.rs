//! The requests that fared worst in a run of its own, each with its story: the run is made once more, with reasons.
//!
//! Its log stays in memory while it is short, and in a temporary file without a name when it is not.

use super::{Failure, Fared, story, worst};
use orrery_report::log_file;
use orrery_run::{PolicySpec, SpecError};
use orrery_scenario::scenario::Scenario;
use orrery_sim::log::{LogReader, LogWriter, read_log};
use orrery_sweep::logged::{names, run_with_log};
use std::cell::RefCell;
use std::io::{self, Read, Seek, Write};
use std::path::Path;
use std::rc::Rc;
use tempfile::SpooledTempFile;

/// A log with more bytes goes to a file. In a browser there are none.
const IN_MEMORY_MAX: usize = if cfg!(target_family = "wasm") { usize::MAX } else { 64 << 20 };
/// What messages call it.
const NAME: &str = "the run's log";

/// A log that is written, then read as often as there are stories.
#[derive(Clone)]
struct Log(Rc<RefCell<SpooledTempFile>>);

impl Log {
    fn rewound(&self) -> Result<LogReader<Log>, SpecError> {
        let done = self.0.borrow_mut().rewind();
        done.map_err(|source| SpecError::Read { file: NAME.to_string(), source })?;
        Ok(read_log(self.clone(), NAME))
    }
}

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.borrow_mut().flush()
    }
}

impl Read for Log {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        self.0.borrow_mut().read(into)
    }
}

/// Runs a policy once more, and tells of so many requests: those that fared worst, the worst first.
///
/// # Errors
/// When the run cannot be made, or there is no room for its log.
pub fn worst_of_run(
    scenario: &Scenario,
    policy: &PolicySpec,
    seed: u64,
    count: usize,
) -> Result<Vec<(Fared, String)>, SpecError> {
    told(scenario, policy, seed, (count, IN_MEMORY_MAX))
}

fn told(
    scenario: &Scenario,
    policy: &PolicySpec,
    seed: u64,
    (count, in_memory_max): (usize, usize),
) -> Result<Vec<(Fared, String)>, SpecError> {
    let log = Log(Rc::new(RefCell::new(SpooledTempFile::new(in_memory_max))));
    let names = names(scenario, policy.text().to_string());
    let writer = LogWriter::with_names(Box::new(log.clone()) as Box<dyn Write>, &names);
    let setup = scenario.setup(seed)?;
    let (_, written) = run_with_log(&setup, policy, seed, writer.ask_for_reasons(true))?;
    written.map_err(|e| {
        let (allowed, remedy) =
            ("a temporary file for a log", "make room, or set TMPDIR to another folder");
        SpecError::value("a log of a run", format!("temporary files: {e}"), allowed, remedy)
    })?;
    let mut out = Vec::new();
    for fared in worst::find(&names, log.rewound()?, count)? {
        let told = story::tell(&names, log.rewound()?, fared.id);
        let story = told.map_err(|failure| match failure {
            Failure::Log(error) => error.into(),
            Failure::Unknown { requests } => {
                log_file::unknown_request(Path::new(NAME), fared.id.0, requests)
            }
        })?;
        out.push((fared, story));
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_in_memory_and_one_in_a_file_tell_the_same() {
        let text = "policies = ['clockwork']\n[[model]]\nname = 'm'\nslo_ms = 20.0\n\
            latency = { affine = { alpha_ms = 1.0, beta_ms = 5.0 } }\n[[app]]\nname = 'a'\nmodel = 'm'\n\
            [arrivals]\npoisson = { rate_per_s = 200.0 }\nrequests = 500\n";
        let scenario = Scenario::from_text("t.toml", text).unwrap();
        let policy = scenario.policies().unwrap().remove(0);
        let told = |in_memory_max| {
            let told = told(&scenario, &policy, 1, (4, in_memory_max)).unwrap();
            told.into_iter().map(|(fared, story)| (fared.id, story)).collect::<Vec<_>>()
        };
        let of_memory = told(usize::MAX);
        assert_eq!(of_memory.len(), 4);
        assert!(of_memory.iter().all(|(_, story)| story.contains("deadline")), "{of_memory:?}");
        assert_eq!(told(0), of_memory);
    }
}
