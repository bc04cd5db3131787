//! The measuring itself: one worker of the device, one batch at a time.

use super::fit::Point;
use super::{Clocks, ROUNDS_MIN, Settings};
use crate::clock::{CONTROLLER, Clock};
use crate::device::{Device, DeviceError, Job, Place, Primitive, Stop, Work, Worker};
use crate::quantiles::{median, quantile};
use crate::threads::{Placement, Unpinned};
use orrery_sim::request::{ActionId, DeviceId, ModelId, RequestId};
use orrery_sim::rng::Stream;
use orrery_sim::time::{Span, Time};

/// A point to measure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Planned {
    /// Items in the batch.
    pub units: u32,
    /// The longest of its requests alone.
    pub longest: Span,
    /// The fit is not to see it.
    pub held_out: bool,
}

/// A point that was measured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Timed {
    /// What was asked for.
    pub planned: Planned,
    /// Time on the device, sorted.
    pub device: Vec<Span>,
    /// From the worker's start to its having the result, sorted.
    pub around: Vec<Span>,
}

impl Timed {
    /// The median time on the device.
    pub fn median(&self) -> Span {
        quantile(&self.device, 0.5)
    }

    /// As a point to fit. An even number of runs has two middle ones.
    pub fn point(&self) -> Point {
        let Planned { units, longest, held_out } = self.planned;
        let mut ns: Vec<f64> = self.device.iter().map(|d| d.ns() as f64).collect();
        let median_ns = median(&mut ns).max(1.0);
        Point { units, longest, median_ns, held_out }
    }
}

/// Ids of what is profiled: far from those of any run, so that noise keyed by a request is other
/// noise.
const FIRST_ID: u64 = 1 << 40;

/// How often each model is loaded.
const LOADS: u64 = 7;

/// What was measured of every model.
#[derive(Clone, Debug, Default)]
pub struct Measured {
    /// Its points.
    pub timed: Vec<Vec<Timed>>,
    /// More batches of its smallest points, after the rounds: a list for each.
    pub more: Vec<Vec<Vec<Span>>>,
    /// Its loads, sorted.
    pub loads: Vec<Vec<Span>>,
}

/// Measures the points of every model. In every round each point is measured once, in an order of
/// the round's own. `loads` has the time of a load as the scenario says it, of models that are loaded.
///
/// # Errors
/// When the device fails.
pub fn measure(
    device: &mut dyn Device,
    clock: &dyn Clock,
    plans: &[Vec<Planned>],
    loads: &[Option<Span>],
    settings: &Settings,
) -> Result<Measured, DeviceError> {
    // A device may pin this thread.
    let _unpinned = Unpinned::later();
    let mut workers = device.workers(1)?;
    clock.enter(CONTROLLER);
    let place = Place { clock, me: CONTROLLER };
    let mut run = || {
        let worker = workers[0].as_mut();
        worker.start()?;
        clock.begin();
        let mut id = FIRST_ID;
        let timed = rounds(worker, &place, plans, settings, &mut id)?;
        let more = more(worker, &place, &timed, settings, &mut id)?;
        let loader = workers[1].as_mut();
        let wanted = loads.iter().any(Option::is_some);
        if wanted {
            loader.start()?;
        }
        let loads = loads.iter().enumerate().map(|(m, l)| times(loader, &place, m, *l, &mut id));
        Ok(Measured { timed, more, loads: loads.collect::<Result<_, DeviceError>>()? })
    };
    let measured = run();
    clock.leave(CONTROLLER);
    measured
}

fn rounds(
    worker: &mut dyn Worker,
    place: &Place<'_>,
    plans: &[Vec<Planned>],
    settings: &Settings,
    id: &mut u64,
) -> Result<Vec<Vec<Timed>>, DeviceError> {
    let clock = place.clock;
    let empty = |p: &Planned| Timed { planned: *p, device: Vec::new(), around: Vec::new() };
    let mut timed: Vec<Vec<Timed>> =
        plans.iter().map(|plan| plan.iter().map(empty).collect()).collect();
    let mut order: Vec<(usize, usize)> =
        plans.iter().enumerate().flat_map(|(m, p)| (0..p.len()).map(move |i| (m, i))).collect();
    let limit = Span::from_secs_f64(settings.max_s);
    let mut began = clock.now();
    for round in 0..settings.warm_up + settings.rounds {
        let counted = round.saturating_sub(settings.warm_up);
        if round == settings.warm_up {
            began = clock.now();
        }
        if counted >= ROUNDS_MIN && clock.now().since(began) > limit {
            break;
        }
        shuffle(&mut order, settings.seed, round);
        for &(m, i) in &order {
            let at = &mut timed[m][i];
            let job = job(*id, m, &at.planned, clock.now());
            *id += 1;
            let ran = worker.run(&job, place, &Stop::default())?;
            if round >= settings.warm_up {
                at.device.push(ran.device);
                at.around.push(ran.end.since(ran.start));
            }
        }
    }
    for at in timed.iter_mut().flatten() {
        at.device.sort_unstable();
        at.around.sort_unstable();
    }
    Ok(timed)
}

/// Batches of each model's smallest size, until there are enough for its noise or the time is over.
fn more(
    worker: &mut dyn Worker,
    place: &Place<'_>,
    timed: &[Vec<Timed>],
    settings: &Settings,
    id: &mut u64,
) -> Result<Vec<Vec<Vec<Span>>>, DeviceError> {
    let limit = Span::from_secs_f64(settings.noise_s / timed.len().max(1) as f64);
    let mut all = Vec::new();
    for (m, points) in timed.iter().enumerate() {
        let began = place.clock.now();
        let done: usize = points.iter().map(|p| p.device.len()).sum();
        let missing = (settings.noise_batches as usize).saturating_sub(done);
        let smallest = points.iter().map(|p| p.planned.units).min().unwrap_or(1);
        let chosen: Vec<Planned> =
            points.iter().map(|p| p.planned).filter(|p| p.units == smallest).collect();
        let mut more = vec![Vec::new(); chosen.len()];
        for i in 0..missing {
            if place.clock.now().since(began) > limit {
                break;
            }
            let at = i % chosen.len();
            let job = job(*id, m, &chosen[at], place.clock.now());
            *id += 1;
            more[at].push(worker.run(&job, place, &Stop::default())?.device);
        }
        all.push(more);
    }
    Ok(all)
}

/// The times of a model's loads, sorted; the first does not count.
fn times(
    loader: &mut dyn Worker,
    place: &Place<'_>,
    model: usize,
    time: Option<Span>,
    id: &mut u64,
) -> Result<Vec<Span>, DeviceError> {
    let Some(time) = time else { return Ok(Vec::new()) };
    let mut all = Vec::new();
    for _ in 0..=LOADS {
        let (model, action) = (ModelId(model as u32), ActionId(*id));
        *id += 1;
        let ran = loader.run(
            &Job {
                action,
                device: DeviceId(0),
                kind: 0,
                executor: 1,
                began: place.clock.now(),
                fetch: Span::ZERO,
                work: Work::Load { model, time },
            },
            place,
            &Stop::default(),
        )?;
        all.push(ran.device);
    }
    all.remove(0);
    all.sort_unstable();
    Ok(all)
}

fn job(id: u64, model: usize, planned: &Planned, began: Time) -> Job {
    let Planned { units, longest, .. } = *planned;
    let (model, first) = (ModelId(model as u32), RequestId(id));
    Job {
        action: ActionId(id),
        device: DeviceId(0),
        kind: 0,
        executor: 0,
        began,
        fetch: Span::ZERO,
        work: Work::Batch { model, units, longest, total: longest * u64::from(units), first },
    }
}

/// Fisher and Yates.
fn shuffle<T>(list: &mut [T], seed: u64, round: u32) {
    let mut stream = Stream::named(seed, "profile order", u64::from(round));
    for i in (1..list.len()).rev() {
        list.swap(i, stream.below(i as u64 + 1) as usize);
    }
}

/// The steps in which the host's clock moves, as far as a program sees them.
pub(super) fn timer_resolution(clocks: Clocks) -> Option<Primitive> {
    if clocks == Clocks::Virtual {
        return None;
    }
    let clock = clocks.start(Placement::default());
    clock.begin();
    let mut steps = Vec::with_capacity(2_000);
    let mut last = clock.now();
    while steps.len() < 2_000 {
        let now = clock.now();
        if now > last {
            steps.push(now.since(last).ns() as f64);
            last = now;
        }
    }
    Some(Primitive::of("host timer step", "ns", steps))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::VirtualClock;
    use crate::device::emulated::{Durations, Emulated};
    use std::sync::{Arc, Mutex};

    #[derive(Default)]
    struct Watched(Mutex<Vec<(u32, u64)>>);

    impl Durations for Watched {
        fn duration(&self, job: &Job) -> Span {
            let Work::Batch { units, longest, .. } = job.work else { return Span::ZERO };
            let mut seen = self.0.lock().unwrap();
            seen.push((units, longest.ns()));
            // The first two rounds of two points are slow.
            let slow = if seen.len() <= 4 { 50 } else { 0 };
            Span::from_ms(u64::from(units) + slow)
        }
        fn describe(&self) -> String {
            "watched".to_string()
        }
    }

    #[test]
    fn warm_up_does_not_count_and_every_round_has_every_point() {
        let watched = Arc::new(Watched::default());
        let mut device = Emulated::new(Arc::clone(&watched) as Arc<dyn Durations>, false);
        let planned = |units| Planned { units, longest: Span::from_ms(3), held_out: false };
        let plan = vec![planned(1), planned(4)];
        let settings = Settings { rounds: 20, ..Settings::default() };
        let settings = Settings { noise_batches: 0, ..settings };
        let clock = VirtualClock::new();
        let timed = measure(&mut device, &clock, &[plan], &[None], &settings).unwrap().timed;
        let spans = |n, ms| vec![Span::from_ms(ms); n];
        assert_eq!((&timed[0][0].device, &timed[0][1].device), (&spans(20, 1), &spans(20, 4)));
        let seen = watched.0.lock().unwrap();
        let firsts: Vec<u32> = seen.chunks(2).map(|round| round[0].0).collect();
        assert!(seen.chunks(2).all(|r| r[0].0 != r[1].0), "{seen:?}");
        assert!(firsts.contains(&1) && firsts.contains(&4), "the order varies: {firsts:?}");
    }

    #[test]
    fn no_round_begins_after_the_limit() {
        let watched = Arc::new(Watched::default());
        let mut device = Emulated::new(watched, false);
        let plan = vec![Planned { units: 100, longest: Span::ZERO, held_out: false }];
        let settings = Settings { rounds: 1_000, max_s: 1.0, ..Settings::default() };
        let settings = Settings { noise_batches: 0, ..settings };
        let clock = VirtualClock::new();
        let timed = measure(&mut device, &clock, &[plan], &[None], &settings).unwrap().timed;
        assert_eq!(timed[0][0].device.len(), 10);
    }
}
