//! What watches a run beside its metrics: exceptions and Ctrl-C, the auditor's records, requests one by one.

use crate::policy::Failed;
use crate::table::{Column, Table};
use orrery_sim::observer::Observer;
use orrery_sim::request::{End, Request};
use orrery_sim::time::Time;
use pyo3::prelude::*;
use std::cell::Cell;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Inputs between two looks at the clock, and the time between two looks for Ctrl-C.
const LOOK_EVERY: u32 = 1024;
const SIGNALS_EVERY: Duration = Duration::from_millis(100);

/// Stops a run whose policy has raised, or that Ctrl-C interrupts. It changes nothing of a run that goes on.
pub struct Stopper {
    failed: Arc<Failed>,
    left: Cell<u32>,
    looked: Cell<Instant>,
}

impl Stopper {
    pub fn new(failed: Arc<Failed>) -> Stopper {
        Stopper { failed, left: Cell::new(LOOK_EVERY), looked: Cell::new(Instant::now()) }
    }
}

impl Observer for Stopper {
    fn stop(&self) -> bool {
        if self.failed.is() {
            return true;
        }
        self.left.set(self.left.get() - 1);
        if self.left.get() == 0 {
            self.left.set(LOOK_EVERY);
            if self.looked.get().elapsed() >= SIGNALS_EVERY {
                self.looked.set(Instant::now());
                if let Err(error) = Python::attach(|py| py.check_signals()) {
                    self.failed.keep(error);
                    return true;
                }
            }
        }
        false
    }
}

/// A row for each request, where they are asked for.
#[derive(Default)]
pub struct Requests {
    asked: bool,
    id: Vec<Option<u64>>,
    app: Vec<Option<u64>>,
    model: Vec<Option<u64>>,
    size: Vec<Option<u64>>,
    arrival: Vec<Option<u64>>,
    deadline: Vec<Option<u64>>,
    start: Vec<Option<u64>>,
    end: Vec<Option<u64>>,
    how: Vec<&'static str>,
}

impl Requests {
    pub fn new(asked: bool) -> Requests {
        Requests { asked, ..Requests::default() }
    }

    /// The columns, after those that say whose run it is.
    pub fn table(parts: Vec<(String, u64, Requests)>) -> PyResult<Table> {
        let (mut policy, mut seed) = (Vec::new(), Vec::new());
        let mut all = Requests::default();
        for (name, of, mut part) in parts {
            policy.extend(std::iter::repeat_n(name, part.id.len()));
            seed.extend(std::iter::repeat_n(Some(of), part.id.len()));
            all.id.append(&mut part.id);
            all.app.append(&mut part.app);
            all.model.append(&mut part.model);
            all.size.append(&mut part.size);
            all.arrival.append(&mut part.arrival);
            all.deadline.append(&mut part.deadline);
            all.start.append(&mut part.start);
            all.end.append(&mut part.end);
            all.how.append(&mut part.how);
        }
        Table::new(vec![
            ("policy", Column::Text(policy)),
            ("seed", Column::Count(seed)),
            ("request", Column::Count(all.id)),
            ("app", Column::Count(all.app)),
            ("model", Column::Count(all.model)),
            ("size", Column::Count(all.size)),
            ("arrival_ns", Column::Count(all.arrival)),
            ("deadline_ns", Column::Count(all.deadline)),
            ("start_ns", Column::Count(all.start)),
            ("end_ns", Column::Count(all.end)),
            ("end", Column::Text(all.how.into_iter().map(str::to_string).collect())),
        ])
    }
}

impl Observer for Requests {
    fn ended(&mut self, now: Time, r: &Request, end: End, start: Option<Time>) {
        if !self.asked {
            return;
        }
        self.id.push(Some(r.id.0));
        self.app.push(Some(r.app.0.into()));
        self.model.push(Some(r.model.0.into()));
        self.size.push(Some(r.size.into()));
        self.arrival.push(Some(r.arrival.ns()));
        self.deadline.push((r.deadline != Time::NEVER).then(|| r.deadline.ns()));
        self.start.push(start.map(Time::ns));
        self.end.push((end != End::Pending).then(|| now.ns()));
        self.how.push(end.word());
    }
}
