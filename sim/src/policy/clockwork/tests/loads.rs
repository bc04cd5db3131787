//! The load path against the naive one, on random sequences of events.

use super::super::config::{Config, LoadRule};
use super::super::load::Loads;
use super::naive::Naive;
use crate::cluster::Footprint;
use crate::policy::{Action, Actions};
use crate::request::{ActionId, DeviceId, RequestId};
use crate::rng::Stream;
use crate::time::{Span, Time};

/// Both load paths, and what is under way in them.
struct Pair {
    config: Config,
    grid: u64,
    models: u64,
    loads: Loads,
    naive: Naive,
    ours: Actions,
    theirs: Actions,
    up: Vec<usize>,
    devices: u32,
    next: u64,
    makings: u64,
    /// Requests that wait, by model.
    waiting: Vec<Vec<RequestId>>,
    running: Vec<(usize, usize, Vec<RequestId>)>,
    loading: Vec<(ActionId, DeviceId, Span)>,
    footprints: Vec<Footprint>,
}

impl Pair {
    fn new(rule: LoadRule, rng: &mut Stream) -> Pair {
        let grid = [1, 500_000][rng.below(2) as usize];
        let models = 1 + rng.below(30);
        let footprints: Vec<Footprint> = (0..models)
            .map(|_| Footprint {
                pages: 1 + rng.below(4) as u32,
                load: Span::from_ns((1 + rng.below(10_000_000)).next_multiple_of(grid)),
            })
            .collect();
        let mut pair = Pair {
            config: Config { loads: rule, ..Config::released() },
            grid,
            models,
            loads: Loads::new(rule, footprints.clone()),
            naive: Naive::new(rule, footprints.clone()),
            footprints,
            ours: Actions::default(),
            theirs: Actions::default(),
            up: Vec::new(),
            devices: 0,
            next: rng.below(5_000),
            makings: 0,
            waiting: vec![Vec::new(); models as usize],
            running: Vec::new(),
            loading: Vec::new(),
        };
        (0..1 + rng.below(5)).for_each(|_| pair.comes(rng));
        pair
    }

    fn comes(&mut self, rng: &mut Stream) {
        let pages = (rng.below(8) > 0).then(|| 2 + rng.below(30) as u32);
        let device = DeviceId(self.devices);
        self.devices += 1;
        self.up.push(device.index());
        self.loads.came(device, pages, &self.config);
        self.naive.came(device, pages);
    }

    fn leaves(&mut self, at: usize) {
        let g = self.up.swap_remove(at);
        let device = DeviceId(g as u32);
        self.running.retain(|r| r.0 != g);
        self.loading.retain(|l| l.1 != device);
        self.loads.left(device, &self.config);
        self.naive.left(device);
    }

    fn arrives(&mut self, now: Time, rng: &mut Stream) {
        let most = 1 + rng.below(self.models);
        let model = rng.below(most) as usize;
        let one = Span::from_ns((1 + rng.below(12_000_000)).next_multiple_of(self.grid));
        let slo = Span::from_ms(10 + rng.below(100));
        let times = (one, slo, slo.minus(Span::from_ms(5)));
        // Some ids belong to requests that nobody told of.
        self.next += 1 + u64::from(rng.below(50) == 0);
        let id = RequestId(self.next);
        self.loads.arrived(now, id, model, times, &self.config);
        self.naive.arrived(now, id, model, times, &self.config);
        self.waiting[model].push(id);
    }

    /// A batch of a model is sent to a device that has it, if one has.
    fn sends(&mut self, rng: &mut Stream) {
        let model = rng.below(self.models) as usize;
        let has = |g: &&usize| self.loads.since(**g, model).is_some();
        let there: Vec<usize> = self.up.iter().filter(has).copied().collect();
        if there.is_empty() || self.waiting[model].is_empty() {
            return;
        }
        let gpu = there[rng.below(there.len() as u64) as usize];
        let size = 1 + rng.below(self.waiting[model].len() as u64) as usize;
        let batch: Vec<RequestId> = self.waiting[model].drain(..size).collect();
        self.loads.sent(gpu, model, &batch);
        self.naive.sent(gpu, model, &batch);
        self.running.push((gpu, model, batch));
    }

    fn happens(&mut self, now: Time, rng: &mut Stream, crowded: bool) {
        match rng.below(100) {
            0 => self.comes(rng),
            1 if self.up.len() > 1 => self.leaves(rng.below(self.up.len() as u64) as usize),
            2..50 => self.arrives(now, rng),
            50..65 => self.sends(rng),
            65..80 if !self.running.is_empty() && !crowded => {
                let at = rng.below(self.running.len() as u64) as usize;
                let (gpu, model, batch) = self.running.swap_remove(at);
                self.loads.reported(gpu, model, &batch);
                self.naive.reported(gpu, model, &batch);
            }
            80..90 if !self.loading.is_empty() => {
                let at = rng.below(self.loading.len() as u64) as usize;
                let (action, device, time) = self.loading.swap_remove(at);
                let done = rng.below(10) > 0;
                self.makings += 1;
                let took = done.then_some((time, self.makings));
                self.loads.ended(now, action, device, now, took, &self.config);
                self.naive.ended(action, device, now, done);
            }
            90..93 => {
                let model = rng.below(self.models) as usize;
                let ids = std::mem::take(&mut self.waiting[model]);
                self.loads.dropped(&ids);
                self.naive.dropped(&ids);
            }
            _ => {}
        }
    }

    /// Both decide; their answers must be one.
    fn decide(&mut self, now: Time, what: &str) {
        let ours = self.loads.schedule(now, &self.config, &mut self.ours);
        let theirs = self.naive.schedule(now, &self.config, &mut self.theirs);
        assert_eq!(self.ours.list(), self.theirs.list(), "{what}");
        assert_eq!(ours, theirs, "{what}: when the next one asks");
        let issued = self.ours.list().iter().filter_map(|action| match action {
            Action::Load { device, model, .. } => {
                Some((*device, self.footprints[model.index()].load))
            }
            _ => None,
        });
        let first = self.naive.loads.iter().sum::<u64>() - issued.clone().count() as u64;
        self.loading.extend((first..).map(ActionId).zip(issued).map(|(a, (d, t))| (a, d, t)));
        self.ours.clear();
        self.theirs.clear();
        for &gpu in &self.up {
            for model in 0..self.models as usize {
                let has = self.loads.since(gpu, model).is_some();
                assert_eq!(has, self.naive.has(gpu, model), "{what}: model {model} on {gpu}");
            }
        }
    }
}

/// How many loads there were, by how many devices had the model before, and how many unloads.
fn compare(rule: LoadRule) -> ([u64; 3], u64) {
    let (mut loads, mut unloads) = ([0; 3], 0);
    for seed in 0..150 {
        let mut rng = Stream::named(seed, "clockwork load path", 0);
        let mut pair = Pair::new(rule, &mut rng);
        // Where little is reported, devices come to have more to do than they can.
        let crowded = rng.below(2) == 0;
        let mut now = Time::ZERO;
        for step in 0..400 {
            let crowded = crowded && rng.below(4) > 0;
            pair.happens(now, &mut rng, crowded);
            pair.decide(now, &format!("seed {seed}, step {step}"));
            now += Span::from_ns(rng.below(1_500_000) / pair.grid * pair.grid);
        }
        (0..3).for_each(|i| loads[i] += pair.naive.loads[i]);
        unloads += pair.naive.unloads;
    }
    (loads, unloads)
}

#[test]
fn loads_and_victims_are_those_of_sorting_all_models() {
    let ([cold, second, more], unloads) = compare(LoadRule::Paper);
    let all = format!("{cold} {second} {more} loads, {unloads} unloads");
    assert!(cold > 1_000 && second > 300 && more > 100 && unloads > 1_000, "{all}");
}

#[test]
fn so_are_those_of_the_released_schedulers() {
    for rule in [LoadRule::Infer5, LoadRule::Infer4] {
        let ([cold, second, more], unloads) = compare(rule);
        let all = format!("{rule:?}: {cold} {second} {more} loads, {unloads} unloads");
        assert!(cold > 1_000 && second > 300 && more > 100 && unloads > 1_000, "{all}");
    }
}
