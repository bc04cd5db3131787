//! The workers' threads, and what passes between them and the controller.

use crate::clock::{CONTROLLER, Clock, Participant};
use crate::device::{DeviceError, Job, Place, Ran, Stop, Worker};
use crate::threads::{self, Placement};
use orrery_sim::request::{ActionId, DeviceId};
use orrery_sim::time::Time;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};
use std::thread::Scope;

/// A job on its way to a worker.
struct Order {
    job: Job,
    stop: Arc<Stop>,
}

/// What a worker says of a job.
pub struct Report {
    pub action: ActionId,
    pub device: DeviceId,
    pub executor: u8,
    pub result: Result<Ran, DeviceError>,
}

/// A worker as the controller knows it.
struct Seat {
    who: Participant,
    orders: Sender<Order>,
}

/// All workers.
pub struct Crew<'scope, 'env> {
    scope: &'scope Scope<'scope, 'env>,
    clock: &'env dyn Clock,
    placement: Placement,
    /// By device, then executor.
    seats: Vec<Vec<Seat>>,
    reports: Receiver<Report>,
    reporter: Sender<Report>,
    ready: Receiver<Ready>,
    says_ready: Sender<Ready>,
}

/// What a worker says once it is ready: what the system did not grant it, or why it is not.
type Ready = Result<Vec<String>, DeviceError>;

impl<'scope, 'env> Crew<'scope, 'env> {
    pub fn new(
        scope: &'scope Scope<'scope, 'env>,
        clock: &'env dyn Clock,
        placement: Placement,
    ) -> Crew<'scope, 'env> {
        let (reporter, reports) = channel();
        let (says_ready, ready) = channel();
        let seats = Vec::new();
        Crew { scope, clock, placement, seats, reports, reporter, ready, says_ready }
    }

    /// Gives a device's workers their threads.
    pub fn hire(&mut self, device: DeviceId, workers: Vec<Box<dyn Worker>>) {
        if self.seats.len() <= device.index() {
            self.seats.resize_with(device.index() + 1, Vec::new);
        }
        for (executor, worker) in workers.into_iter().enumerate() {
            let (orders, inbox) = channel();
            let who = self.clock.add();
            let post = Post {
                place: Place { clock: self.clock, me: who },
                device,
                executor: executor as u8,
                inbox,
                outbox: self.reporter.clone(),
                says_ready: self.says_ready.clone(),
            };
            let placement = self.placement;
            self.scope.spawn(move || post.work(worker, threads::settle(placement, who.0)));
            self.seats[device.index()].push(Seat { who, orders });
        }
    }

    /// Waits until every worker is ready for its first job, and tells what they were not granted.
    pub fn wait_until_ready(&self) -> Result<Vec<String>, DeviceError> {
        let workers = self.seats.iter().map(Vec::len).sum::<usize>();
        // The channel stays open: the crew has a sender of its own.
        let ready: Vec<_> = self.ready.iter().take(workers).collect();
        let mut notes = ready.into_iter().collect::<Result<Vec<_>, _>>()?.concat();
        notes.sort_unstable();
        Ok(notes)
    }

    /// Sends a job; the returned flag stops it.
    pub fn send(&self, job: Job) -> Arc<Stop> {
        let stop = Arc::new(Stop::default());
        let seat = &self.seats[job.device.index()][usize::from(job.executor)];
        // A worker that is gone has reported why.
        let _ = seat.orders.send(Order { job, stop: Arc::clone(&stop) });
        self.clock.notify(seat.who);
        stop
    }

    pub fn stop(&self, device: DeviceId, executor: u8, stop: &Stop) {
        stop.set();
        self.clock.notify(self.seats[device.index()][usize::from(executor)].who);
    }

    pub fn report(&self) -> Option<Report> {
        self.reports.try_recv().ok()
    }
}

/// Sends everybody home, after what they are doing: also when the controller panics, because its
/// threads are waited for.
impl Drop for Crew<'_, '_> {
    fn drop(&mut self) {
        for seat in std::mem::take(&mut self.seats).into_iter().flatten() {
            drop(seat.orders);
            self.clock.notify(seat.who);
        }
        self.clock.leave(CONTROLLER);
    }
}

/// A worker's thread.
struct Post<'env> {
    place: Place<'env>,
    device: DeviceId,
    executor: u8,
    inbox: Receiver<Order>,
    outbox: Sender<Report>,
    says_ready: Sender<Ready>,
}

impl Post<'_> {
    fn work(self, mut worker: Box<dyn Worker>, notes: Vec<String>) {
        let Place { clock, me } = self.place;
        let started = self.guarded("getting ready", || worker.start());
        // A controller that is gone does not care.
        let _ = self.says_ready.send(started.clone().map(|()| notes));
        clock.enter(me);
        if let Err(e) = &started {
            self.report(ActionId(u64::MAX), Err(e.clone()));
        }
        while started.is_ok() {
            match self.inbox.try_recv() {
                Ok(Order { job, stop }) => {
                    let doing = format!("running action {}", job.action.0);
                    let result = self.guarded(&doing, || worker.run(&job, &self.place, &stop));
                    let failed = result.is_err();
                    self.report(job.action, result);
                    if failed {
                        break;
                    }
                }
                Err(TryRecvError::Empty) => clock.wait(me, Time::NEVER),
                Err(TryRecvError::Disconnected) => break,
            }
        }
        clock.leave(me);
    }

    /// A worker that panics has failed like any other: the controller waits for its report.
    fn guarded<T>(
        &self,
        doing: &str,
        work: impl FnOnce() -> Result<T, DeviceError>,
    ) -> Result<T, DeviceError> {
        // It is not asked again.
        catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| {
            let text = panic.downcast_ref::<&str>().map(ToString::to_string);
            let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
            let device = format!("{}, executor {}", self.device, self.executor);
            let said = format!("its worker panicked: {}", text.unwrap_or_default());
            let remedy = "this is a fault of the device's code: report it";
            Err(DeviceError::new(&device, doing, said, remedy))
        })
    }

    fn report(&self, action: ActionId, result: Result<Ran, DeviceError>) {
        let Post { device, executor, .. } = *self;
        // A controller that is gone does not care.
        let _ = self.outbox.send(Report { action, device, executor, result });
        self.place.clock.notify(CONTROLLER);
    }
}
