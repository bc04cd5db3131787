//! The most requests whose device time fits, where requests may be cut into pieces, and pieces into parts of all
//! devices.
//!
//! Pieces fit where in no interval more device time is due than passes. Which sets fit is a polymatroid, so taking
//! requests by their device time, the least first, each as far as it fits, is best (Edmonds, 1970).

use orrery_sim::cluster::DeviceSpec;
use orrery_sim::core::DeviceChange;
use orrery_sim::driver::World;
use orrery_sim::latency::Latency;
use orrery_sim::request::Arrival;
use orrery_sim::time::Time;

/// The most requests that end in time, of those that count.
pub fn most(
    world: &World,
    arrivals: &[Arrival],
    work: &[Option<f64>],
    counts: impl Fn(&Arrival) -> bool,
) -> u64 {
    let delays = &world.core.delays;
    let (there, back) = (delays.dispatch.quantile(0.0), delays.reply.quantile(0.0));
    let is_due = |i: &usize| arrivals[*i].at + arrivals[*i].slo < Time::NEVER;
    let possible = || (0..arrivals.len()).filter(|i| work[*i].is_some() && counts(&arrivals[*i]));
    // Without a deadline it costs nothing.
    let free = possible().filter(|i| !is_due(i)).count();
    let own: Vec<usize> = possible().filter(is_due).collect();
    let Some(first) = own.first() else { return free as u64 };
    let origin = arrivals[*first].at;
    // Deadlines in the order of arrival: a later one is no less.
    let mut last = Time::ZERO;
    let window = |i: &usize| {
        let a = &arrivals[*i];
        last = last.max((a.at + a.slo).minus(back));
        ((a.at + there).since(origin).ns() as f64, last.since(origin).ns() as f64)
    };
    let windows: Vec<(f64, f64)> = own.iter().map(window).collect();
    let mut slack = Slack::new(capacity(world), &windows);
    let work = |place: usize| work[own[place]].unwrap_or(0.0);
    let mut order: Vec<usize> = (0..own.len()).collect();
    order.sort_by(|a, b| work(*a).total_cmp(&work(*b)).then(a.cmp(b)));
    let taken: f64 = order.iter().map(|place| slack.take(*place, work(*place))).sum();
    // Rounding errors are far below a thousandth of a request.
    free as u64 + (taken + 1e-3) as u64
}

/// How much device time passes in a second: lanes, each counted as the part of its speed that it has of the
/// fastest kind's. Devices that come later count as if they were there from the start.
fn capacity(world: &World) -> f64 {
    let added = world.changes.iter().filter_map(|(_, change)| match change {
        DeviceChange::Added(spec) => Some(spec),
        _ => None,
    });
    let devices = world.core.devices.iter().chain(added);
    let of =
        |d: &DeviceSpec| f64::from(d.sharing.devices(d.lanes)) / slowness(world, d.kind as usize);
    devices.map(of).sum()
}

/// A batch on a device of this kind takes at least so many times what it takes on the fastest kind.
fn slowness(world: &World, kind: usize) -> f64 {
    if world.core.delays.fetch_per_request.ns() > 0 {
        return 1.0;
    }
    let models = 0..world.latency[kind].len();
    let of = |model: usize| {
        let others = world.latency.iter().map(|laws| &laws[model]);
        others.map(|other| least_ratio(&world.latency[kind][model], other)).fold(1.0, f64::max)
    };
    models.map(of).reduce(f64::min).unwrap_or(1.0)
}

/// At least how many times what the other law says one says, of any batch: the smaller ratio of their parts.
fn least_ratio(law: &Latency, other: &Latency) -> f64 {
    let (parts, others) = match (law, other) {
        (Latency::Affine { alpha: a, beta: b }, Latency::Affine { alpha: c, beta: d }) => {
            ([a.ns() as f64, b.ns() as f64], [c.ns() as f64, d.ns() as f64])
        }
        (Latency::Eq3 { c0: a, c1: b }, Latency::Eq3 { c0: c, c1: d }) => {
            ([a.ns() as f64, *b], [c.ns() as f64, *d])
        }
        _ => return 1.0,
    };
    let ratios = parts.iter().zip(others).filter(|(_, o)| *o > 0.0).map(|(p, o)| p / o);
    // A nanosecond of rounding.
    ratios.reduce(f64::min).map_or(1.0, |ratio| ratio * (1.0 - 1e-6))
}

/// The device time that is left in intervals from an arrival to a deadline. Of the interval of `p` and `q` it is
/// `ends[q] + starts[p]`: `ends[q]` is the time until the deadline less what was taken of requests up to `q`,
/// `starts[p]` what was taken of requests before `p` less the time until the arrival.
struct Slack {
    ends: Least,
    starts: Least,
}

impl Slack {
    fn new(capacity: f64, windows: &[(f64, f64)]) -> Slack {
        Slack {
            ends: Least::new(windows.iter().map(|w| capacity * w.1)),
            starts: Least::new(windows.iter().map(|w| -capacity * w.0)),
        }
    }

    /// Takes as much of a request as fits; which part of it that is.
    fn take(&mut self, place: usize, work: f64) -> f64 {
        let n = self.ends.len;
        let left = self.ends.least(place, n) + self.starts.least(0, place + 1);
        if work <= 0.0 {
            return 1.0;
        }
        let taken = work.min(left.max(0.0));
        self.ends.add(place, n, -taken);
        self.starts.add(place + 1, n, taken);
        taken / work
    }
}

/// Numbers that are changed by ranges, and the least of a range: a segment tree.
struct Least {
    len: usize,
    leaves: usize,
    /// The least below each node, with all that was added at it and below.
    least: Vec<f64>,
    added: Vec<f64>,
}

impl Least {
    fn new(values: impl ExactSizeIterator<Item = f64>) -> Least {
        let len = values.len();
        let leaves = len.next_power_of_two();
        let mut least = vec![f64::INFINITY; 2 * leaves];
        least.iter_mut().skip(leaves).zip(values).for_each(|(leaf, value)| *leaf = value);
        (1..leaves).rev().for_each(|i| least[i] = least[2 * i].min(least[2 * i + 1]));
        Least { len, leaves, least, added: vec![0.0; 2 * leaves] }
    }

    fn add(&mut self, from: usize, to: usize, value: f64) {
        self.add_at(1, (0, self.leaves), (from, to), value);
    }

    fn least(&self, from: usize, to: usize) -> f64 {
        self.least_at(1, (0, self.leaves), (from, to))
    }

    fn add_at(&mut self, node: usize, own: (usize, usize), range: (usize, usize), value: f64) {
        if range.1 <= own.0 || own.1 <= range.0 {
            return;
        }
        if range.0 <= own.0 && own.1 <= range.1 {
            self.least[node] += value;
            self.added[node] += value;
            return;
        }
        let middle = usize::midpoint(own.0, own.1);
        self.add_at(2 * node, (own.0, middle), range, value);
        self.add_at(2 * node + 1, (middle, own.1), range, value);
        let below = self.least[2 * node].min(self.least[2 * node + 1]);
        self.least[node] = below + self.added[node];
    }

    fn least_at(&self, node: usize, own: (usize, usize), range: (usize, usize)) -> f64 {
        if range.1 <= own.0 || own.1 <= range.0 {
            return f64::INFINITY;
        }
        if range.0 <= own.0 && own.1 <= range.1 {
            return self.least[node];
        }
        let middle = usize::midpoint(own.0, own.1);
        let left = self.least_at(2 * node, (own.0, middle), range);
        let right = self.least_at(2 * node + 1, (middle, own.1), range);
        left.min(right) + self.added[node]
    }
}
