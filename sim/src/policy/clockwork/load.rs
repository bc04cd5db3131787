//! Clockwork's LOAD and UNLOAD (§5.3 "Scheduling LOAD"): which models are in which device's memory.
//!
//! ```text
//! while a device's load executor has less than `ahead` of outstanding work:
//!     take the model of the highest priority that is not there, if it is positive
//!     make room: unload the least recently used, those without requests first
//!     load it, with the window [now, expected start + width]
//! ```
//!
//! The least occupied executor comes first, then the device with the least to do and the most room.
//! It knows no batch queue; a model whose load has ended gets its strategies from the policy.

use super::super::Actions;
use super::config::{Config, LoadRule};
use super::demand::Demands;
use super::durations::Durations;
use super::gpus::Outstanding;
use super::memory::Memory;
use super::sorted::Sorted;
use crate::cluster::Footprint;
use crate::request::{ActionId, DeviceId, ModelId, RequestId};
use crate::time::{Span, Time};

/// A load helps no request that is older. Released: `max_loadweights_slo`, 25 ms.
const HELPS_AT_MOST: Span = Span::from_ms(25);
/// INFER4: loads outstanding on a device, and the time between two decisions.
const OUTSTANDING_AT_MOST: usize = 2;
const BETWEEN: Span = Span::from_us(100);

/// Where a load executor stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    /// It does not ask.
    Nowhere,
    Asking,
    /// It will ask then.
    Later(Time),
}

/// The memories of all devices. See the module's text.
pub(super) struct Loads {
    rule: LoadRule,
    footprints: Vec<Footprint>,
    /// By model: how long its loads took. Empty where the profile is believed in.
    durations: Vec<Durations>,
    /// By device; `None` where every model is always resident.
    memories: Vec<Option<Memory>>,
    demands: Demands,
    place: Vec<Place>,
    asking: Vec<usize>,
    later: Sorted,
    /// By device: the last decision.
    decided: Vec<Time>,
    /// Models that were unloaded by the last call of [`Loads::schedule`], with their devices.
    pub unloaded: Vec<(usize, usize)>,
    /// Whether that call gave an executor a load.
    served: bool,
    victims: Vec<usize>,
    order: Vec<(Time, u64, u32, usize)>,
}

impl Loads {
    /// No device yet, and models that need so much.
    pub fn new(rule: LoadRule, footprints: Vec<Footprint>) -> Loads {
        let models = footprints.len();
        let durations = match rule {
            LoadRule::Paper => Vec::new(),
            _ => footprints.iter().map(|f| Durations::new(f.load)).collect(),
        };
        Loads {
            rule,
            footprints,
            durations,
            memories: Vec::new(),
            demands: Demands::new(models, rule != LoadRule::Infer5),
            place: Vec::new(),
            asking: Vec::new(),
            later: Sorted::default(),
            decided: Vec::new(),
            unloaded: Vec::new(),
            served: false,
            victims: Vec::new(),
            order: Vec::new(),
        }
    }

    /// Whether another call of [`Loads::schedule`] may issue a load although nothing happens: a load of the last
    /// one changes what others ask for, and most rules forget demands as time passes.
    pub fn may_load_later(&self) -> bool {
        self.served || self.forgets()
    }

    /// Whether demands are forgotten as time passes.
    pub fn forgets(&self) -> bool {
        self.rule != LoadRule::Infer5
    }

    /// A device is there, with that many pages free.
    pub fn came(&mut self, device: DeviceId, pages: Option<u32>, config: &Config) {
        let (g, models) = (device.index(), self.footprints.len());
        if self.memories.len() <= g {
            self.memories.resize_with(g + 1, || None);
            self.place.resize(g + 1, Place::Nowhere);
            self.decided.resize(g + 1, Time::ZERO);
        }
        self.demands.set_place(g, true);
        self.memories[g] = pages.map(|pages| Memory::new(pages, models));
        if pages.is_none() {
            (0..models).for_each(|m| self.demands.gains(m, g));
        }
        self.set_place(g, config);
    }

    /// A device takes no more work.
    pub fn left(&mut self, device: DeviceId, config: &Config) {
        let g = device.index();
        match &mut self.memories[g] {
            None => (0..self.footprints.len()).for_each(|m| self.demands.loses(m, g)),
            Some(memory) => {
                memory.up = false;
                for m in memory.clear() {
                    self.demands.loses(m, g);
                }
            }
        }
        self.demands.set_place(g, false);
        self.set_place(g, config);
    }

    /// Since which count of makings a device has a model; `None` when it has not.
    pub fn since(&self, gpu: usize, model: usize) -> Option<u64> {
        match &self.memories[gpu] {
            None => Some(0),
            Some(memory) => memory.since(model),
        }
    }

    /// Whether every device that takes work has a model.
    pub fn is_everywhere(&self, model: usize) -> bool {
        let lacks = |memory: &Memory| memory.up && memory.since(model).is_none();
        !self.memories.iter().flatten().any(lacks)
    }

    /// The devices that have a model.
    pub fn holders(&self, model: usize) -> impl Iterator<Item = usize> {
        self.demands.holders(model).filter(move |&g| self.since(g, model).is_some())
    }

    /// A request arrived; `one` is a batch of one, `allowed` ends at its internal deadline.
    pub fn arrived(
        &mut self,
        now: Time,
        id: RequestId,
        model: usize,
        (one, slo, allowed): (Span, Span, Span),
        config: &Config,
    ) {
        let reserve = self.estimate(model) + one + config.buffer + config.ahead;
        let helps = slo.minus(reserve).min(HELPS_AT_MOST).max(config.ahead + config.buffer);
        self.demands.arrived(now, id, model, one, (allowed, helps));
    }

    /// How long a load of a model is believed to take.
    fn estimate(&self, model: usize) -> Span {
        self.durations.get(model).map_or(self.footprints[model].load, |d| d.estimate)
    }

    /// A batch was sent.
    pub fn sent(&mut self, gpu: usize, model: usize, batch: &[RequestId]) {
        self.demands.beyond_help(batch);
        if let Some(memory) = &mut self.memories[gpu] {
            memory.sent(model, self.footprints[model].pages);
        }
    }

    /// A batch was reported.
    pub fn reported(&mut self, gpu: usize, model: usize, batch: &[RequestId]) {
        self.demands.ended(batch);
        if let Some(memory) = &mut self.memories[gpu] {
            memory.reported(model, self.footprints[model].pages);
        }
    }

    /// Requests of one model were dropped before they were sent.
    pub fn dropped(&mut self, ids: &[RequestId]) {
        self.demands.ended(ids);
    }

    /// A load has ended: its model, if there was one of that name. `took` is how long it took and
    /// `since` the count of makings since which the device has the model; `None` when it failed.
    pub fn ended(
        &mut self,
        now: Time,
        action: ActionId,
        device: DeviceId,
        free: Time,
        took: Option<(Span, u64)>,
        config: &Config,
    ) -> Option<usize> {
        let g = device.index();
        let memory = self.memories[g].as_mut()?;
        if !memory.executor.has(action) {
            return None;
        }
        let model = memory.executor.ended(action, free).model;
        if memory.is_loading(model) {
            let pages = self.footprints[model].pages;
            if let Some((_, since)) = took {
                memory.loaded(model, pages, since);
            } else {
                memory.gave_up(model, pages);
                self.demands.loses(model, g);
            }
        }
        if let (Some((duration, _)), Some(durations)) = (took, self.durations.get_mut(model)) {
            durations.learn(now, duration, config.estimator);
        }
        self.set_place(g, config);
        Some(model)
    }

    /// Issues loads; when the next executor asks for one.
    pub fn schedule(&mut self, now: Time, config: &Config, out: &mut Actions) -> Time {
        self.unloaded.clear();
        self.served = false;
        if self.forgets() {
            self.demands.advance(now);
        }
        if !self.demands.any_wants() {
            return Time::NEVER;
        }
        self.ask(now);
        if !self.asking.is_empty() && self.demands.look(self.any_sign()) {
            self.serve(now, config, out);
            self.ask(now);
        }
        self.later.first().map_or(Time::NEVER, |first| first.0)
    }

    /// The executors whose time has come ask for a load.
    fn ask(&mut self, now: Time) {
        while let Some((at, gpu)) = self.later.first()
            && at <= now
        {
            self.later.pop_first();
            self.place[gpu] = Place::Asking;
            self.asking.push(gpu);
        }
    }

    /// Released: a slip compares a pointer, so that any demand is enough.
    fn any_sign(&self) -> bool {
        self.rule != LoadRule::Paper
    }

    /// Gives loads to the executors that ask for some.
    fn serve(&mut self, now: Time, config: &Config, out: &mut Actions) {
        // Mostly nobody can be helped, and then their order need not be known.
        if !self.asking.iter().any(|&g| self.choose(g).is_some()) {
            return;
        }
        self.served = true;
        let mut order = std::mem::take(&mut self.order);
        order.clear();
        order.extend(self.asking.iter().filter_map(|&g| {
            let memory = self.memories[g].as_ref()?;
            let available = memory.executor.available(now, config);
            Some((available, self.demands.of_device(g), u32::MAX - memory.free, g))
        }));
        order.sort_unstable();
        for &(_, _, _, gpu) in &order {
            while self.asks_at(gpu, config) <= now
                && let Some(model) = self.choose(gpu)
            {
                self.load(now, gpu, model, config, out);
                self.demands.look(self.any_sign());
            }
            self.set_place(gpu, config);
        }
        self.order = order;
    }

    fn asks_at(&self, gpu: usize, config: &Config) -> Time {
        let Some(memory) = self.memories[gpu].as_ref().filter(|m| m.up) else { return Time::NEVER };
        let at = memory.executor.asks_at(config);
        if self.rule != LoadRule::Infer4 {
            return at;
        }
        if memory.executor.count() >= OUTSTANDING_AT_MOST {
            return Time::NEVER;
        }
        at.max(self.decided[gpu])
    }

    /// Puts a load executor where it belongs. It asks at the next call of [`Loads::schedule`] at the
    /// earliest.
    fn set_place(&mut self, gpu: usize, config: &Config) {
        let place = match self.asks_at(gpu, config) {
            Time::NEVER => Place::Nowhere,
            at => Place::Later(at),
        };
        match std::mem::replace(&mut self.place[gpu], place) {
            Place::Nowhere => {}
            Place::Asking => self.asking.retain(|&g| g != gpu),
            Place::Later(at) => self.later.remove((at, gpu)),
        }
        if let Place::Later(at) = place {
            self.later.insert((at, gpu));
        }
    }

    /// The model of the highest priority that a device lacks and can ever hold, if there is or could be
    /// room for it.
    fn choose(&self, gpu: usize) -> Option<usize> {
        let memory = self.memories[gpu].as_ref()?;
        let pages = |m: usize| self.footprints[m].pages;
        let may = |m: usize| memory.is_absent(m) && pages(m) <= memory.pages;
        let model = self.demands.best(gpu, self.any_sign(), may)?;
        memory.can_take(pages(model)).then_some(model)
    }

    /// Makes room for a model and loads it.
    fn load(&mut self, now: Time, gpu: usize, model: usize, config: &Config, out: &mut Actions) {
        let device = DeviceId(gpu as u32);
        let pages = self.footprints[model].pages;
        let load = self.estimate(model);
        let memory = self.memories[gpu].as_mut().expect("it asks");
        self.victims.clear();
        let wanted = |m: usize| self.demands.has_any(m);
        memory.victims(pages, |m| self.footprints[m].pages, wanted, &mut self.victims);
        for &victim in &self.victims {
            out.unload(device, ModelId(victim as u32));
            memory.unload(victim, self.footprints[victim].pages);
            self.demands.loses(victim, gpu);
            self.unloaded.push((gpu, victim));
        }
        memory.begin_load(model, pages);
        let available = memory.executor.available(now, config);
        let latest = (now + config.lead + config.width).max(available + config.width);
        let action = out.load(device, ModelId(model as u32), now, latest);
        out.expect(action, available, load);
        memory.executor.send(now, Outstanding { action, model, size: 0, estimate: load });
        self.decided[gpu] = now + BETWEEN;
        self.demands.gains(model, gpu);
    }
}
