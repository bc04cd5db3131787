//! A policy that does anything that is legal, at random: it exercises the engine.
//!
//! It schedules nothing well, and ends before it has spent a fixed number of actions.

use super::cases::{Case, ticks};
use orrery_sim::policy::{Actions, Event, Exec, Known, Outcome, Policy, TimerKey};
use orrery_sim::request::{ActionId, DeviceId, Drop, ModelId, RequestId};
use orrery_sim::rng::Stream;
use orrery_sim::time::{Span, Time};

/// Keys of timers, to both sides of where the driver keeps them otherwise, and the largest.
const KEYS: [u64; 7] = [0, 1, 2, 4095, 4096, 1 << 40, (1 << 56) - 1];

/// The policy. See the module's text.
pub struct Chaotic {
    rng: Stream,
    models: u64,
    sees_truth: bool,
    has_memory: bool,
    /// Actions that it may still ask for, so that every run ends.
    left: u32,
    waiting: Vec<RequestId>,
    flights: Vec<(ActionId, Vec<RequestId>)>,
    ended_in_flight: Vec<RequestId>,
    /// What it loads (with the action) or has loaded.
    loads: Vec<(DeviceId, ModelId, Option<ActionId>)>,
}

impl Chaotic {
    /// The policy with the dice of that case.
    pub fn new(case: &Case) -> Chaotic {
        Chaotic {
            rng: Stream::named(case.seed, "chaotic", 0),
            models: case.world.core.models.len() as u64,
            sees_truth: case.seed.is_multiple_of(3),
            has_memory: case.world.core.devices[0].memory_pages.is_some(),
            left: 150,
            waiting: Vec::new(),
            flights: Vec::new(),
            ended_in_flight: Vec::new(),
            loads: Vec::new(),
        }
    }

    fn pick<T: Copy>(&mut self, list: &[T]) -> Option<T> {
        (!list.is_empty()).then(|| list[self.rng.below(list.len() as u64) as usize])
    }

    fn result(&mut self, action: ActionId, outcome: Outcome, requests: &[RequestId]) {
        let done = matches!(outcome, Outcome::Done { .. });
        if let Some(load) = self.loads.iter().position(|l| l.2 == Some(action)) {
            self.loads[load].2 = None;
            if !done {
                self.loads.remove(load);
            }
            return;
        }
        let flight = self.flights.iter().position(|f| f.0 == action).expect("it was in flight");
        assert_eq!(self.flights.remove(flight).1, requests);
        if !done {
            let mine = requests.iter().filter(|r| !self.ended_in_flight.contains(r));
            self.waiting.extend(mine);
        }
    }

    fn act(&mut self, now: Time, known: &Known<'_>, out: &mut Actions) {
        match self.rng.below(20) {
            0..=6 => self.exec(now, known, out),
            7 | 8 => {
                let key = self.timer();
                // At times an instant that is past.
                out.set_timer(key, now.minus(ticks(1)) + ticks(self.rng.below(6)));
            }
            9 => {
                let key = self.timer();
                out.clear_timer(key);
            }
            10 | 11 => {
                let action = self.some_action();
                out.cancel(action);
            }
            12 | 13 => {
                let action = self.some_action();
                out.preempt(action);
            }
            14 => self.shed(out),
            15 => self.reply_by_default(out),
            16 | 17 => self.load(now, known, out),
            18 => self.unload(out),
            _ => self.resize(known, out),
        }
    }

    fn timer(&mut self) -> TimerKey {
        TimerKey(self.pick(&KEYS).expect("seven"))
    }

    /// Usually one that is in flight; sometimes one that is over, or is none at all.
    fn some_action(&mut self) -> ActionId {
        let mut live: Vec<_> = self.flights.iter().map(|f| f.0).collect();
        live.extend(self.loads.iter().filter_map(|l| l.2));
        let any = ActionId(self.rng.below(40));
        if self.rng.below(5) == 0 { any } else { self.pick(&live).unwrap_or(any) }
    }

    fn window(&mut self, now: Time) -> (Time, Time) {
        let ahead = ticks(self.rng.below(4));
        let earliest = self.pick(&[Time::ZERO, now, now + ahead]).expect("three");
        let width = ticks(self.rng.below(6));
        let past = now.minus(Span::from_ns(1));
        let ends = [Time::NEVER, Time::NEVER, now + width, earliest + width, past];
        (earliest, self.pick(&ends).expect("five"))
    }

    fn exec(&mut self, now: Time, known: &Known<'_>, out: &mut Actions) {
        let Some(first) = self.pick(&self.waiting.clone()) else { return };
        let model = known.request(first).expect("it has not ended").model;
        let mut requests = vec![first];
        for _ in 0..self.rng.below(4) {
            let next = self.pick(&self.waiting.clone()).expect("not empty");
            let fits = known.request(next).is_some_and(|r| r.model == model);
            if fits && !requests.contains(&next) {
                requests.push(next);
            }
        }
        self.waiting.retain(|r| !requests.contains(r));
        let device = self.pick(&known.devices()).expect("there is a device");
        let lane = self.rng.below(u64::from(device.lanes)) as u8;
        let billed = if self.rng.below(3) == 0 { self.rng.below(9) as u32 } else { 0 };
        let (earliest, latest) = self.window(now);
        let exec = Exec { device: device.id, lane, model, billed, earliest, latest };
        out.why_all(&requests, || format!("a batch for {} on lane {lane}", device.id));
        self.flights.push((out.exec(exec, &requests), requests));
    }

    fn shed(&mut self, out: &mut Actions) {
        if let Some(request) = self.pick(&self.waiting.clone()) {
            self.waiting.retain(|r| *r != request);
            out.end(request, Drop::Shed);
        }
    }

    fn reply_by_default(&mut self, out: &mut Actions) {
        let in_flight: Vec<_> = self.flights.iter().flat_map(|f| f.1.clone()).collect();
        if let Some(request) = self.pick(&in_flight)
            && !self.ended_in_flight.contains(&request)
        {
            self.ended_in_flight.push(request);
            out.end(request, Drop::DefaultReply);
        }
    }

    fn load(&mut self, now: Time, known: &Known<'_>, out: &mut Actions) {
        let device = self.pick(&known.devices()).expect("there is a device").id;
        let model = ModelId(self.rng.below(self.models) as u32);
        // What a second load of a resident model means is no part of the interface.
        let is_there = self.loads.iter().any(|l| (l.0, l.1) == (device, model));
        if !is_there && (self.has_memory || self.rng.below(5) == 0) {
            let (earliest, latest) = self.window(now);
            let action = out.load(device, model, earliest, latest);
            self.loads.push((device, model, Some(action)));
        }
    }

    fn unload(&mut self, out: &mut Actions) {
        let loaded: Vec<_> = self.loads.iter().filter(|l| l.2.is_none()).copied().collect();
        if let Some(load) = self.pick(&loaded) {
            self.loads.retain(|l| *l != load);
            out.unload(load.0, load.1);
        } else if self.rng.below(2) == 0 {
            out.unload(DeviceId(0), ModelId(0));
        }
    }

    fn resize(&mut self, known: &Known<'_>, out: &mut Actions) {
        let device = self.pick(&known.devices()).expect("there is a device").id;
        match self.rng.below(4) {
            0 => out.release(device),
            1 => out.provision(self.rng.below(3) as u32, 1 + self.rng.below(2) as u32),
            _ => {}
        }
    }
}

impl Policy for Chaotic {
    fn name(&self) -> String {
        if self.sees_truth { "oracle-chaotic".to_owned() } else { "chaotic".to_owned() }
    }

    fn sees_truth(&self) -> bool {
        self.sees_truth
    }

    fn wants_profiles(&self) -> bool {
        true
    }

    fn on(&mut self, now: Time, event: Event<'_>, known: &Known<'_>, out: &mut Actions) {
        match event {
            Event::Arrive(request) => self.waiting.push(request.id),
            Event::Result { action, outcome, requests, .. } => {
                self.result(action, outcome, requests);
            }
            _ => {}
        }
        for _ in 0..self.rng.below(4) {
            if self.left > 0 {
                self.left -= 1;
                self.act(now, known, out);
            }
        }
    }
}
