//! Workers that share a folder: each takes the next part that nobody has leased, the dearest first,
//! until all parts are done.
//!
//! ```text
//!  todo ──> done? ──> leased by somebody else? ──> run, and give the lease back
//!                              │
//!                              └──> later: asked again when nothing else is left
//! ```
//!
//! A worker ends when every part is done, by whomever: so one that lives is enough. The order of the work
//! changes no result.

use super::costs::Rates;
use super::leases::Leases;
use super::parts::{Ran, is_stopped, listen};
use orrery_report::threads::pool;
use orrery_report::{Progress, say};
use orrery_scenario::SpecError;
use std::collections::VecDeque;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Between two looks at what others have leased: at first, and at most. A look makes files.
const LOOKS_EVERY: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(2));

/// A part of the work.
#[derive(Clone, Debug)]
pub struct Part {
    /// The name of its lease.
    pub name: String,
    /// What its time depends on, such as its policy.
    pub kind: String,
    /// Its size within a kind, such as a number of requests.
    pub size: f64,
}

/// What workers do with parts.
pub trait Worked: Sync {
    /// Whether a part is done, by whomever.
    fn is_done(&self, part: usize) -> bool;

    /// Runs one.
    ///
    /// # Errors
    /// When it cannot be run.
    fn run(&self, part: usize) -> Result<(), SpecError>;
}

/// The parts that are not done, as far as this worker knows.
struct Queue {
    todo: VecDeque<usize>,
    later: Vec<usize>,
    rates: Rates,
    /// How many this worker has run.
    ran: usize,
    failed: Option<SpecError>,
}

struct Worker<'a> {
    parts: &'a [Part],
    leases: &'a Leases,
    work: &'a dyn Worked,
    queue: Mutex<Queue>,
    progress: Progress,
    /// Of parts that cost the same, each worker begins with others.
    salt: u64,
}

/// Works until all parts are done, on so many threads (one for each core when 0). How many this worker
/// has run. `rates` is what is known of the costs.
///
/// # Errors
/// The first error of a part that this worker ran.
pub fn share(
    parts: &[Part],
    rates: Rates,
    jobs: usize,
    leases: &Leases,
    work: &dyn Worked,
) -> Result<Ran<usize>, SpecError> {
    listen();
    let todo = (0..parts.len()).collect();
    let queue = Queue { todo, later: Vec::new(), rates, ran: 0, failed: None };
    let progress = Progress::new(parts.len() as u64, "cells");
    let salt = RandomState::new().build_hasher().finish();
    let worker = Worker { parts, leases, work, queue: Mutex::new(queue), progress, salt };
    worker.sort(&mut worker.queue());
    pool(jobs)?.broadcast(|_| worker.run());
    drop(worker.progress);
    let queue = worker.queue.into_inner().unwrap_or_else(PoisonError::into_inner);
    match queue.failed {
        Some(error) => Err(error),
        None if queue.todo.is_empty() && queue.later.is_empty() => Ok(Ran::All(vec![queue.ran])),
        None => Ok(Ran::Stopped),
    }
}

impl Worker<'_> {
    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn run(&self) {
        let (mut told, mut pause) = (false, LOOKS_EVERY.0);
        while !is_stopped() {
            let next = {
                let mut queue = self.queue();
                if queue.failed.is_some() {
                    return;
                }
                queue.todo.pop_front()
            };
            if let Some(part) = next {
                if let Err(error) = self.part(part) {
                    self.queue().failed.get_or_insert(error);
                    return;
                }
                continue;
            }
            // What others have leased: they may have died.
            let others = {
                let mut queue = self.queue();
                let later = std::mem::take(&mut queue.later);
                queue.todo.extend(&later);
                later.len()
            };
            if others == 0 {
                return;
            }
            if !told {
                say(&format!("waiting for {others} cells that other workers have leased"));
                told = true;
            }
            std::thread::sleep(pause);
            pause = (2 * pause).min(LOOKS_EVERY.1);
        }
    }

    fn part(&self, part: usize) -> Result<(), SpecError> {
        let Part { name, kind, size } = &self.parts[part];
        if self.work.is_done(part) {
            self.progress.step();
            return Ok(());
        }
        let Some(lease) = self.leases.take(name)? else {
            self.queue().later.push(part);
            return Ok(());
        };
        // Whoever had the lease until now may have finished it.
        if !self.work.is_done(part) {
            let begun = Instant::now();
            let ran = self.work.run(part);
            // A part that is stopped or fails is somebody's work still.
            if ran.is_err() {
                self.queue().todo.push_back(part);
            }
            ran?;
            let mut queue = self.queue();
            queue.rates.learn(kind, *size, begun.elapsed().as_secs_f64());
            queue.ran += 1;
            if queue.ran.is_power_of_two() {
                self.sort(&mut queue);
            }
        }
        drop(lease);
        self.progress.step();
        Ok(())
    }

    /// The dearest first, by what is known of the costs.
    fn sort(&self, queue: &mut Queue) {
        let Queue { todo, rates, .. } = queue;
        let key = |part: usize| {
            let Part { name, kind, size } = &self.parts[part];
            let digits = name.get(..16).unwrap_or_default();
            let place = u64::from_str_radix(digits, 16).unwrap_or_default() ^ self.salt;
            (rates.seconds(kind, *size).unwrap_or(*size), place)
        };
        let mut keyed: Vec<((f64, u64), usize)> = todo.iter().map(|&i| (key(i), i)).collect();
        keyed.sort_by(|(a, _), (b, _)| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        *todo = keyed.into_iter().map(|(_, i)| i).collect();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[derive(Default)]
    struct Counted {
        done: Mutex<Vec<usize>>,
        runs: AtomicUsize,
    }

    impl Worked for Counted {
        fn is_done(&self, part: usize) -> bool {
            self.done.lock().is_ok_and(|done| done.contains(&part))
        }

        fn run(&self, part: usize) -> Result<(), SpecError> {
            self.runs.fetch_add(1, Ordering::SeqCst);
            self.done.lock().expect("the parts").push(part);
            Ok(())
        }
    }

    fn parts(n: usize) -> Vec<Part> {
        let part = |i: usize| {
            let (name, kind) = (format!("{:016x}", i * 77), ["a", "b"][i % 2].to_string());
            Part { name, kind, size: (i / 10) as f64 }
        };
        (0..n).map(part).collect()
    }

    #[test]
    fn workers_run_each_part_once_and_all_end_when_all_are_done() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let (parts, work) = (parts(100), Counted::default());
        let ran = std::thread::scope(|s| {
            let one = || {
                let leases = Leases::begin(folder.path()).unwrap_or_else(|e| panic!("{e}"));
                match share(&parts, Rates::default(), 2, &leases, &work) {
                    Ok(Ran::All(ran)) => ran[0],
                    _ => panic!("it was not stopped"),
                }
            };
            let workers: Vec<_> = (0..3).map(|_| s.spawn(one)).collect();
            workers.into_iter().map(|w| w.join().expect("a thread")).sum::<usize>()
        });
        assert_eq!((ran, work.runs.load(Ordering::SeqCst)), (100, 100));
    }

    #[test]
    fn the_dearest_are_first_by_what_was_measured() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let leases = Leases::begin(folder.path()).unwrap_or_else(|e| panic!("{e}"));
        let (parts, work) = (parts(100), Counted::default());
        let mut rates = Rates::default();
        rates.learn("a", 1.0, 1.0);
        rates.learn("b", 1.0, 100.0);
        assert!(matches!(share(&parts, rates, 1, &leases, &work), Ok(Ran::All(_))));
        let done = work.done.lock().expect("the parts").clone();
        // Those of `b` take a hundred times as long; what this worker measures itself comes on top.
        assert!(done[..2].iter().all(|i| i % 2 == 1 && *i >= 90), "{done:?}");
    }
}
