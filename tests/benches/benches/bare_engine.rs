//! The bare event queue against `simcore`, on the same variates: no policy, no books, no metrics.
//!
//! - `mm1`: a queue with one server as two events and a counter, one million customers. Items are
//!   events.
//! - `hold`: the classic model of a future-event list. With n events pending, take the next and put
//!   another in, a random time later. Items are holds (one pop and one schedule).
//!
//! `simcore` gets what it is fastest with: event types without data, whose boxes cost no
//! allocation; logging off; one component.

use divan::Bencher;
use divan::counter::ItemsCount;
use orrery_benches::Exponential;
use orrery_sim::event_queue::EventQueue;
use orrery_sim::time::{NS_PER_MS, Span, Time};
use std::sync::LazyLock;

const CUSTOMERS: usize = 1_000_000;
const HOLDS: usize = 200_000;
const PENDING: [usize; 3] = [10, 1_000, 100_000];

fn main() {
    divan::main();
}

/// The variates of a queue at 70 % load, drawn once.
struct Variates {
    gap: Vec<Span>,
    service: Vec<Span>,
    gap_ms: Vec<f64>,
    service_ms: Vec<f64>,
}

static VARIATES: LazyLock<Variates> = LazyLock::new(|| {
    let draw = |purpose, mean_ns| {
        let mut law = Exponential::new(purpose, mean_ns);
        (0..CUSTOMERS).map(|_| law.draw()).collect::<Vec<Span>>()
    };
    let in_ms = |spans: &[Span]| spans.iter().map(|s| s.as_ms_f64()).collect();
    let gap = draw("gaps", NS_PER_MS as f64 / 0.7);
    let service = draw("service", NS_PER_MS as f64);
    Variates { gap_ms: in_ms(&gap), service_ms: in_ms(&service), gap, service }
});

/// Interval by number, over and over.
fn interval<T: Copy>(of: &[T], i: usize) -> T {
    of[i % CUSTOMERS]
}

mod orrery {
    use super::*;

    #[derive(Clone, Copy)]
    enum Happens {
        Arrival,
        Departure,
    }

    #[divan::bench]
    fn mm1(bencher: Bencher) {
        let v = &*VARIATES;
        bencher.counter(ItemsCount::new(2 * CUSTOMERS)).bench_local(|| {
            let mut events = EventQueue::new();
            let (mut arrived, mut served, mut waiting) = (0, 0, 0u64);
            events.schedule(Time::ZERO + v.gap[0], 1, Happens::Arrival);
            while let Some((now, event)) = events.pop() {
                match event {
                    Happens::Arrival => {
                        arrived += 1;
                        if arrived < CUSTOMERS {
                            events.schedule(now + v.gap[arrived], 1, Happens::Arrival);
                        }
                        waiting += 1;
                        if waiting == 1 {
                            events.schedule(now + v.service[served], 0, Happens::Departure);
                        }
                    }
                    Happens::Departure => {
                        waiting -= 1;
                        served += 1;
                        if waiting > 0 {
                            events.schedule(now + v.service[served], 0, Happens::Departure);
                        }
                    }
                }
            }
            assert_eq!(served, CUSTOMERS);
            events.now()
        });
    }

    #[divan::bench(args = PENDING)]
    fn hold(bencher: Bencher, pending: usize) {
        let v = &*VARIATES;
        let full = || {
            let mut events = EventQueue::new();
            for i in 0..pending {
                events.schedule(Time::ZERO + interval(&v.gap, i), i as u64, i as u64);
            }
            events
        };
        bencher.counter(ItemsCount::new(HOLDS)).with_inputs(full).bench_local_refs(|events| {
            for i in 0..HOLDS {
                let (now, event) = events.pop().expect("as many as before");
                events.schedule(now + interval(&v.gap, pending + i), event, event);
            }
            events.now()
        });
    }
}

mod simcore_0_1 {
    use super::*;
    use serde::Serialize;
    use simcore::{Event, EventHandler, Simulation, SimulationContext};
    use std::cell::RefCell;
    use std::rc::Rc;

    #[derive(Clone, Serialize)]
    struct Arrival;
    #[derive(Clone, Serialize)]
    struct Departure;

    struct Queue {
        context: SimulationContext,
        variates: &'static Variates,
        arrived: usize,
        served: usize,
        waiting: u64,
    }

    impl EventHandler for Queue {
        fn on(&mut self, event: Event) {
            if event.data.is::<Arrival>() {
                self.arrived += 1;
                if self.arrived < CUSTOMERS {
                    self.context.emit_self(Arrival, self.variates.gap_ms[self.arrived]);
                }
                self.waiting += 1;
                if self.waiting == 1 {
                    self.context.emit_self(Departure, self.variates.service_ms[self.served]);
                }
            } else {
                self.waiting -= 1;
                self.served += 1;
                if self.waiting > 0 {
                    self.context.emit_self(Departure, self.variates.service_ms[self.served]);
                }
            }
        }
    }

    #[divan::bench]
    fn mm1(bencher: Bencher) {
        let variates = &*VARIATES;
        bencher.counter(ItemsCount::new(2 * CUSTOMERS)).bench_local(|| {
            let mut simulation = Simulation::new(1);
            let context = simulation.create_context("queue");
            context.emit_self(Arrival, variates.gap_ms[0]);
            let queue = Queue { context, variates, arrived: 0, served: 0, waiting: 0 };
            let queue = Rc::new(RefCell::new(queue));
            simulation.add_handler("queue", queue.clone());
            simulation.step_until_no_events();
            assert_eq!(queue.borrow().served, CUSTOMERS);
            simulation.time()
        });
    }

    struct Hold {
        context: SimulationContext,
        variates: &'static Variates,
        drawn: usize,
    }

    impl EventHandler for Hold {
        fn on(&mut self, _: Event) {
            self.context.emit_self(Arrival, interval(&self.variates.gap_ms, self.drawn));
            self.drawn += 1;
        }
    }

    #[divan::bench(args = PENDING)]
    fn hold(bencher: Bencher, pending: usize) {
        let variates = &*VARIATES;
        let full = || {
            let mut simulation = Simulation::new(1);
            let context = simulation.create_context("hold");
            for i in 0..pending {
                context.emit_self(Arrival, interval(&variates.gap_ms, i));
            }
            let hold = Hold { context, variates, drawn: pending };
            simulation.add_handler("hold", Rc::new(RefCell::new(hold)));
            simulation
        };
        bencher.counter(ItemsCount::new(HOLDS)).with_inputs(full).bench_local_refs(|simulation| {
            simulation.steps(HOLDS as u64);
            simulation.time()
        });
    }
}
