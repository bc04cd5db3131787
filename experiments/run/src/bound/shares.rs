//! The least device time of each request: its part of the cheapest batch that it can be in.
//!
//! A batch lies in the window of each request that it finishes in time. So these arrive within the model's longest SLO
//! less the batch's latency, which limits their units, `u`. The batch costs at least `l(u)`, the least latency of any
//! batch of at least `u` units whose longest request is at least this one: `l(u) / u` for each of these units.

use orrery_sim::driver::World;
use orrery_sim::latency::Latency;
use orrery_sim::request::Arrival;
use orrery_sim::time::Span;

/// With more requests in reach before it, a request may be with all of those in reach.
const MANY: usize = 256;

/// The least device time of each request in ns; `None` for one that cannot end in time at all.
pub fn of(world: &World, arrivals: &[Arrival]) -> Vec<Option<f64>> {
    let mut by_model: Vec<Vec<usize>> = vec![Vec::new(); world.core.models.len()];
    arrivals.iter().enumerate().for_each(|(i, a)| by_model[a.model.index()].push(i));
    let mut out = vec![None; arrivals.len()];
    for (model, own) in by_model.iter().enumerate().filter(|(_, own)| !own.is_empty()) {
        let mates = Mates::new(world, model, arrivals, own);
        for (place, &i) in own.iter().enumerate() {
            out[i] = mates.share(place, &arrivals[i]);
        }
    }
    out
}

/// The least latencies of a model's batches, whatever the kind of device.
pub struct Least {
    laws: Vec<Latency>,
    /// The least factor of the noise on any request of the model; `None` without noise.
    factor: Option<f64>,
    fetch: u64,
}

impl Least {
    pub fn new(world: &World, model: usize, numbers: &[usize]) -> Least {
        let own = world.batch_noise.get(model);
        let second = Span::from_secs(1);
        // What is drawn depends on the first request of a batch, which may be any that has arrived.
        let factor = |i: &usize| {
            let noisy = world.noise.apply(second, *i as u64);
            own.map_or(noisy, |own| own.apply(noisy, *i as u64)).as_secs_f64()
        };
        let is_noisy = world.noise != orrery_sim::latency::Noise::None || own.is_some();
        Least {
            laws: world.latency.iter().map(|kind| growing(&kind[model])).collect(),
            factor: is_noisy.then(|| numbers.iter().map(factor).fold(f64::INFINITY, f64::min)),
            fetch: world.core.delays.fetch_per_request.ns(),
        }
    }

    /// Of a batch of at least so many units with a request of at least this time, in ns.
    pub fn at(&self, units: u64, alone: Span) -> u64 {
        let units = u32::try_from(units).unwrap_or(u32::MAX);
        let least = self.laws.iter().map(|law| law.batch(units, alone).ns()).min().unwrap_or(0);
        // Rounding of the factor and of the latency.
        let noisy = |f: f64| (least as f64 * (f - 1e-9) - 1.0).max(0.0) as u64;
        self.factor.map_or(least, noisy).saturating_add(self.fetch)
    }

    /// The sizes at which a measured law may have its least part by unit.
    fn steps(&self) -> impl Iterator<Item = u64> {
        let of = |law: &Latency| -> Vec<u32> {
            match law {
                Latency::Table(rows) => rows.iter().map(|r| r.0).collect(),
                Latency::Grid(grid) => grid.rows.iter().map(|r| r.0).collect(),
                _ => Vec::new(),
            }
        };
        self.laws.iter().flat_map(of).map(u64::from)
    }
}

/// The law whose batches are the cheapest of at least their units and time: measured rows need not grow.
fn growing(law: &Latency) -> Latency {
    let down = |rows: &mut Vec<(u32, Span)>| {
        (1..rows.len()).rev().for_each(|i| rows[i - 1].1 = rows[i - 1].1.min(rows[i].1));
    };
    match law {
        Latency::Table(rows) => {
            let mut rows = rows.clone();
            down(&mut rows);
            Latency::Table(rows)
        }
        Latency::Samples(replay) => {
            let of = |k: &u32| Some((*k, replay.table.samples(*k).iter().min().copied()?));
            let mut rows = replay.table.sizes().iter().filter_map(of).collect();
            down(&mut rows);
            Latency::Table(rows)
        }
        Latency::Grid(grid) => {
            let mut grid = grid.clone();
            let mut above: Vec<Span> = vec![Span::MAX; grid.lengths.len()];
            for (_, row) in grid.rows.iter_mut().rev() {
                let mut longer = Span::MAX;
                for (cell, above) in row.iter_mut().zip(&mut above).rev() {
                    longer = longer.min(*cell).min(*above);
                    (*cell, *above) = (longer, longer);
                }
            }
            Latency::Grid(grid)
        }
        other => other.clone(),
    }
}

/// The requests of a model.
struct Mates {
    least: Least,
    steps: Vec<u64>,
    arrivals: Vec<u64>,
    /// Units of those before each, and of all.
    before: Vec<u64>,
    /// Whether each has one unit.
    are_single: bool,
    /// The longest SLO, less what messages take.
    slo: u64,
    delays: u64,
}

impl Mates {
    fn new(world: &World, model: usize, all: &[Arrival], own: &[usize]) -> Mates {
        let d = &world.core.delays;
        let delays = d.dispatch.quantile(0.0).ns() + d.reply.quantile(0.0).ns();
        let mut before = vec![0];
        own.iter().for_each(|i| before.push(before[before.len() - 1] + u64::from(all[*i].size)));
        let least = Least::new(world, model, own);
        let slo = own.iter().map(|i| all[*i].slo.ns()).max().unwrap_or(0).saturating_sub(delays);
        let arrivals = own.iter().map(|i| all[*i].at.ns()).collect();
        let are_single = own.iter().all(|i| all[*i].size == 1);
        Mates { steps: least.steps().collect(), least, arrivals, before, are_single, slo, delays }
    }

    fn share(&self, place: usize, request: &Arrival) -> Option<f64> {
        let size = u64::from(request.size);
        let alone = self.least.at(size, request.alone);
        if alone > request.slo.ns().saturating_sub(self.delays) {
            return None;
        }
        let most = self.most_units(place, size, request.alone);
        let between = self.steps.iter().copied().filter(|u| size < *u && *u < most);
        let of = |units: u64| self.least.at(units, request.alone) as f64 / units.max(1) as f64;
        Some(between.chain([size, most]).map(of).fold(f64::INFINITY, f64::min) * size as f64)
    }

    /// The most units of a batch with this request.
    fn most_units(&self, place: usize, size: u64, alone: Span) -> u64 {
        let at = self.arrivals[place];
        let span = |units: u64| self.slo.checked_sub(self.least.at(units, alone));
        let within = |span: u64| self.arrivals.partition_point(|a| *a <= at.saturating_add(span));
        let last = span(size).map_or(place + 1, within);
        let reach = self.slo.saturating_sub(self.least.at(size, alone));
        let first = self.arrivals.partition_point(|a| *a < at.saturating_sub(reach));
        if place - first > MANY {
            return self.before[last] - self.before[first];
        }
        // The least end of a batch of so many units that has both requests.
        let end = |from: usize, units: u64| match self.are_single {
            true => from.saturating_add(units as usize).max(place + 1),
            false => {
                let too_few = |before: &u64| before - self.before[from] < units;
                place + 1 + self.before[place + 1..=last].partition_point(too_few)
            }
        };
        let fits = |from: usize, units: u64, span: Option<u64>| {
            let end = end(from, units);
            let latest = span.map(|span| self.arrivals[from].saturating_add(span));
            end <= last && latest.is_some_and(|latest| self.arrivals[end - 1] <= latest)
        };
        // A batch with more units takes longer, so its requests are closer: what fits does so up to some number.
        let (mut most, mut more) = (size, span(size + 1));
        for from in first..=place {
            if !fits(from, most + 1, more) {
                continue;
            }
            let mut step = 1;
            while fits(from, most + step, span(most + step)) {
                most += step;
                step *= 2;
            }
            while step > 1 {
                step /= 2;
                most += if fits(from, most + step, span(most + step)) { step } else { 0 };
            }
            more = span(most + 1);
        }
        most
    }
}
