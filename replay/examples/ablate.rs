//! Throw-away: which ingredient of a twin explains what is left? Needs the runs of `validate --keep-logs`.
use orrery_replay::compare::{ActionRow, Side, Summary};
use orrery_replay::driver::Handled;
use orrery_replay::prediction::Prediction;
use orrery_replay::profile::ProfileFile;
use orrery_replay::retrace::read_inputs;
use orrery_replay::twin::Twin;
use orrery_replay::validate::{Campaign, points};
use orrery_sim::core::{Begin, BeginWork, kind_of_rank};
use orrery_sim::driver::{Machine, Next, Took};
use orrery_sim::latency::{BatchNoise, Latency};
use orrery_sim::log::MemoryLog;
use orrery_sim::time::{Span, Time};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex};

type Steps = Vec<(Time, f64)>;

fn median(v: &mut [f64]) -> f64 {
    v.sort_by(f64::total_cmp);
    match v.len() {
        0 => 1.0,
        n if n % 2 == 1 => v[n / 2],
        n => 0.5 * (v[n / 2 - 1] + v[n / 2]),
    }
}

fn mix(mut x: u64) -> u64 {
    x = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

fn union(mut away: Vec<(Time, Time)>) -> Vec<(Time, Time)> {
    away.retain(|(a, b)| a < b);
    away.sort_unstable();
    let mut all: Vec<(Time, Time)> = Vec::new();
    for (a, b) in away {
        match all.last_mut() {
            Some(last) if a <= last.1 => last.1 = last.1.max(b),
            _ => all.push((a, b)),
        }
    }
    all
}

fn after(c: &[(Time, Time)], at: Time) -> Option<(Time, Time)> {
    c.get(c.partition_point(|a| a.1 <= at)).copied()
}
fn there(c: &[(Time, Time)], at: Time) -> Time {
    after(c, at).filter(|a| a.0 <= at).map_or(at, |a| a.1)
}

/// Window median, step function.
fn speed(samples: &[(Time, f64)], near: Span) -> Steps {
    let mut steps = Vec::new();
    for (i, (at, f)) in samples.iter().enumerate() {
        let first = samples.partition_point(|s| s.0 + near <= *at);
        let end = samples.partition_point(|s| s.0 < *at + near);
        let mut around: Vec<f64> = samples[first..end].iter().map(|s| s.1).collect();
        let m = if around.is_empty() { *f } else { median(&mut around) };
        let from = match i.checked_sub(1).map(|b| samples[b].0) {
            Some(b) => b + at.since(b).scale(0.5),
            None => Time::ZERO,
        };
        steps.push((from, m));
    }
    steps
}
fn at(s: &Steps, t: Time) -> (f64, Time) {
    let next = s.partition_point(|x| x.0 <= t);
    let until = s.get(next).map_or(Time::NEVER, |x| x.0);
    (next.checked_sub(1).map_or(1.0, |i| s[i].1), until)
}
fn nearest<T: Copy>(s: &[(Time, T)], t: Time) -> Option<T> {
    let n = s.partition_point(|x| x.0 < t);
    let b = n.checked_sub(1).map(|i| s[i]);
    let a = s.get(n).copied();
    match (b, a) {
        (Some(b), Some(a)) => Some(if t.since(b.0) <= a.0.since(t) { b.1 } else { a.1 }),
        (b, a) => b.or(a).map(|x| x.1),
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Res {
    Profile,
    None,
    Iid,
    /// The real batch nearest in time.
    Nearest,
    /// One of the hundred whose law is nearest, over their median.
    Size,
    /// Not over their median.
    SizeLevel,
    /// Lognormal with the run's residual sigma.
    Sigma,
    /// The profile's, beside the speed.
    Beside,
}
#[derive(Clone, Copy, Debug, PartialEq)]
enum Del {
    /// Median of the profile and calendars, in the law as the twin has it today.
    Today,
    /// The same, beside the law.
    Beside,
    /// Medians of the run, calendars of what is above them.
    RunMedian,
    Nearest,
    Random,
    /// Usual ones (up to 50 us above the run's median) nearest, the others as calendars
    Split,
}
#[derive(Clone, Copy, Debug)]
struct V {
    name: &'static str,
    res: Res,
    del: Del,
    near_ms: u64,
    sizes: bool,
    /// The duration of the real batch of the same size and length nearest in time, whole.
    same: bool,
}

#[derive(Debug, Default)]
struct Abl {
    laws: Vec<Latency>,
    controller: Vec<(Time, Time)>,
    lane: Vec<(Time, Time)>,
    host: Steps,
    speed: Steps,
    sizes: BTreeMap<u64, f64>,
    res: Option<Res>,
    iid: Vec<f64>,
    /// Sorted by law.
    by_law: Vec<(u64, f64)>,
    near: Steps,
    same: BTreeMap<u64, Vec<(Time, f64)>>,
    launch: Vec<(Time, Span)>,
    result: Vec<(Time, Span)>,
    wake: Vec<(Time, Span)>,
    random: bool,
    usual: Option<(Span, Span)>,
    seed: u64,
    last: Mutex<Time>,
}

impl Abl {
    fn delay(&self, list: &[(Time, Span)], t: Time, key: u64) -> Span {
        if list.is_empty() {
            return Span::ZERO;
        }
        if self.random {
            return list[(mix(self.seed ^ mix(key)) % list.len() as u64) as usize].1;
        }
        nearest(list, t).unwrap_or(Span::ZERO)
    }
}

impl Machine for Abl {
    fn handles(&self, next: Next) -> Option<Time> {
        let mut due = there(&self.controller, next.due);
        if !self.wake.is_empty() && matches!(kind_of_rank(next.rank).0, "timer" | "window") {
            due = due.max(next.due + self.delay(&self.wake, next.due, 3 ^ (next.number << 2)));
        }
        let mut last = self.last.lock().unwrap();
        if next.number == 0 {
            *last = Time::ZERO;
        }
        *last = (*last).max(due);
        Some(*last)
    }

    fn takes(&self, now: Time, begin: &Begin, busy: Span) -> Option<Took> {
        let BeginWork::Batch { model, units, longest, first, .. } = begin.work else {
            return Some(Took { end: now + busy, device: busy, learned: None });
        };
        let key = self.laws[model.index()].batch(units, longest).ns();
        let (launch, result) = match self.usual {
            Some((l, r)) => (l, r),
            None => (
                self.delay(&self.launch, now, 1 ^ (first.0 << 2)),
                self.delay(&self.result, now + busy, 2 ^ (first.0 << 2)),
            ),
        };
        let mut t = there(&self.lane, now + launch);
        let r = match self.res {
            Some(Res::Iid) => {
                self.iid
                    [(mix(self.seed ^ mix(77 ^ (first.0 << 7))) % self.iid.len() as u64) as usize]
            }
            Some(Res::Size | Res::SizeLevel) => {
                let n = self.by_law.len();
                let w = n.min(100);
                let i = self.by_law.partition_point(|x| x.0 < key);
                let j = self.by_law.partition_point(|x| x.0 <= key);
                let from = ((i + j) / 2).saturating_sub(w / 2).min(n - w);
                let near = &self.by_law[from..from + w];
                let drawn = near[(mix(self.seed ^ mix(77 ^ (first.0 << 7))) % w as u64) as usize].1;
                if self.res == Some(Res::Size) {
                    let mut all: Vec<f64> = near.iter().map(|x| x.1).collect();
                    drawn / median(&mut all)
                } else {
                    drawn
                }
            }
            Some(Res::Nearest) => nearest(&self.near, t).unwrap_or(1.0),
            _ => 1.0,
        };
        let size = self.sizes.get(&key).copied().unwrap_or(1.0);
        let mut left = busy.ns() as f64 * r * size;
        let mut whole = false;
        if let Some(list) = self.same.get(&key) {
            if let Some(d) = nearest(list, t) {
                left = d;
                whole = true;
            }
        }
        let mut ran = 0.0;
        let end = loop {
            t = there(&self.lane, t);
            let ((slow, c), (stretch, o)) = (at(&self.speed, t), at(&self.host, t));
            let slow = if whole { 1.0 } else { slow };
            let until = after(&self.lane, t).map_or(Time::NEVER, |a| a.0).min(c).min(o);
            let takes = Span::from_ns_f64(left * slow * stretch);
            if until == Time::NEVER || t + takes <= until {
                ran += left * slow;
                break t + takes;
            }
            let piece = until.since(t).ns() as f64;
            ran += piece / stretch;
            left = (left - piece / (slow * stretch)).max(0.0);
            t = until;
        };
        Some(Took { end: end + result, device: Span::from_ns_f64(ran), learned: None })
    }
}

struct Data {
    factors: Steps,
    keyed: Vec<(Time, u64, f64, f64)>,
    host: Steps,
    launch: Vec<(Time, Span)>,
    result: Vec<(Time, Span)>,
    wake: Vec<(Time, Span)>,
}

fn data(actions: &[ActionRow], inputs: &[Handled]) -> Data {
    let ns = Time::from_ns;
    let mut rows: Vec<&ActionRow> = actions.iter().filter(|a| !a.load).collect();
    rows.sort_by_key(|a| a.start_ns);
    let whole: Vec<&&ActionRow> =
        rows.iter().filter(|a| !a.stopped && a.predicted_ns > 0).collect();
    let f = |a: &ActionRow| a.device_ns as f64 / a.predicted_ns as f64;
    let factors = whole.iter().map(|a| (ns(a.start_ns), f(a))).collect();
    let keyed =
        whole.iter().map(|a| (ns(a.start_ns), a.predicted_ns, f(a), a.device_ns as f64)).collect();
    let mut host = Vec::new();
    for (i, a) in rows.iter().enumerate() {
        let from = match i.checked_sub(1) {
            Some(b) => {
                let b = ns(rows[b].end_ns);
                b + ns(a.start_ns).since(b).scale(0.5)
            }
            None => Time::ZERO,
        };
        let ran = a.device_ns.max(1) as f64;
        host.push((from, (ran + a.away_ns as f64) / ran));
    }
    let mut launch: Vec<(Time, Span)> =
        rows.iter().map(|a| (ns(a.began_ns), ns(a.start_ns).since(ns(a.began_ns)))).collect();
    launch.sort_unstable();
    let of = |what: &[&str]| {
        let mut l: Vec<(Time, Span)> = inputs
            .iter()
            .filter(|h| what.contains(&kind_of_rank(h.rank).0))
            .map(|h| (h.due, h.at.since(h.due)))
            .collect();
        l.sort_unstable();
        l
    };
    Data { factors, keyed, host, launch, result: of(&["result"]), wake: of(&["timer", "window"]) }
}

fn mid(list: &[(Time, Span)]) -> Span {
    let mut v: Vec<f64> = list.iter().map(|x| x.1.ns() as f64).collect();
    Span::from_ns_f64(if v.is_empty() { 0.0 } else { median(&mut v) })
}
fn mean_us(list: &[(Time, Span)]) -> f64 {
    list.iter().map(|x| x.1.ns() as f64 / 1e3).sum::<f64>() / list.len().max(1) as f64
}

fn sigma(r: &mut [f64]) -> f64 {
    r.sort_by(f64::total_cmp);
    let q = |q: f64| r[((q * r.len() as f64) as usize).min(r.len() - 1)];
    0.5 * (q(0.841_345).ln() - q(0.158_655).ln())
}

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let (file, out) = (Path::new(&args[1]), Path::new(&args[2]));
    let draws: u32 = args.get(3).map_or(8, |d| d.parse().unwrap());
    let only: Vec<&str> = args.get(4).map_or(Vec::new(), |s| s.split('|').collect());
    let campaign = Campaign::load(file, None, false).unwrap();
    let mut profiles = BTreeMap::new();
    for e in std::fs::read_dir(out).unwrap().flatten() {
        let name = e.file_name().to_string_lossy().into_owned();
        if name.starts_with("profile-") && name.ends_with(".toml") {
            profiles.insert(
                name.trim_end_matches(".toml").to_string(),
                ProfileFile::read(&e.path()).unwrap(),
            );
        }
    }
    let v = |name, res, del, near_ms, sizes, same| V { name, res, del, near_ms, sizes, same };
    use Del::*;
    let all = [
        v("a priori", Res::Profile, Today, 500, false, false),
        v("a priori, as before", Res::Profile, Today, 500, false, false),
        v("library", Res::Beside, Del::Nearest, 500, false, false),
        v("today", Res::Profile, Today, 500, false, false),
        v("overhead beside law", Res::Profile, Beside, 500, false, false),
        v("today, noise beside speed", Res::Beside, Today, 500, false, false),
        v("today, run's sigma", Res::Sigma, Today, 500, false, false),
        v("run's sigma, beside", Res::Sigma, Beside, 500, false, false),
        v("profile beside, beside", Res::Beside, Beside, 500, false, false),
        v("iid residuals, beside", Res::Iid, Beside, 500, false, false),
        v("iid, run medians", Res::Iid, RunMedian, 500, false, false),
        v("iid, delays nearest", Res::Iid, Del::Nearest, 500, false, false),
        v("iid, delays random", Res::Iid, Random, 500, false, false),
        v("iid, delays split", Res::Iid, Split, 500, false, false),
        v("sigma, delays nearest", Res::Sigma, Del::Nearest, 500, false, false),
        v("beside, delays nearest", Res::Beside, Del::Nearest, 500, false, false),
        v("noise by size, today's delays", Res::Size, Today, 500, false, false),
        v("noise by size, nearest", Res::Size, Del::Nearest, 500, false, false),
        v("noise by size, random", Res::Size, Random, 500, false, false),
        v("noise by size, 100 ms, nearest", Res::Size, Del::Nearest, 100, false, false),
        v("noise by size, 20 ms, nearest", Res::Size, Del::Nearest, 20, false, false),
        v("noise and level by size, nearest", Res::SizeLevel, Del::Nearest, 500, false, false),
        v("iid 100ms, nearest", Res::Iid, Del::Nearest, 100, false, false),
        v("iid 20ms, nearest", Res::Iid, Del::Nearest, 20, false, false),
        v("iid sizes, nearest", Res::Iid, Del::Nearest, 500, true, false),
        v("iid sizes 100ms, nearest", Res::Iid, Del::Nearest, 100, true, false),
        v("residual nearest in time", Res::Nearest, Del::Nearest, 500, false, false),
        v("res nearest, sizes", Res::Nearest, Del::Nearest, 500, true, false),
        v("res nearest, sizes, today's delays", Res::Nearest, Today, 500, true, false),
        v("measured, same size", Res::None, Del::Nearest, 500, false, true),
    ];
    let all: Vec<V> =
        all.into_iter().filter(|v| only.is_empty() || only.contains(&v.name)).collect();
    let mut sums: Vec<BTreeMap<String, Vec<f64>>> = vec![BTreeMap::new(); all.len()];
    let mut by_point: Vec<Vec<(String, f64)>> = vec![Vec::new(); all.len()];
    println!("run: sigma of residuals, mean residual; launch, result, wake: median/mean us");
    for point in points(&campaign, &profiles).unwrap() {
        if std::env::var("HASHES").is_ok() {
            println!("{} {}", point.name, point.hash);
            continue;
        }
        let policy = point.policy.to_string();
        let profile = &profiles[&point.profile];
        let seed = campaign.file.seed;
        let base = || {
            Prediction::of(
                &point.scenario,
                seed,
                std::slice::from_ref(profile),
                campaign.file.overhead,
            )
            .unwrap()
        };
        let mut here: Vec<Vec<f64>> = vec![Vec::new(); all.len()];
        for rep in 1..=campaign.file.repetitions {
            let folder = out.join("points").join(&point.name).join(format!("run-{rep}"));
            if !folder.is_dir() {
                continue;
            }
            let side = Side::read(&folder).unwrap();
            let inputs = read_inputs(&folder.join("inputs.csv")).unwrap();
            let end = inputs.last().map_or(Time::ZERO, |h| h.at);
            let actions = side.actions.clone().unwrap();
            let measured = Summary::of(&side.records, side.warm_up_ns).finish_rate;
            let d = data(&actions, &inputs);
            if d.factors.len() < 50 {
                continue;
            }
            let timed = campaign.device.computes();
            let residuals = |near: u64, sizes: bool| {
                let sp = speed(&d.factors, Span::from_ms(near));
                let mut res: Vec<(Time, u64, f64)> =
                    d.keyed.iter().map(|(t, k, f, _)| (*t, *k, f / at(&sp, *t).0)).collect();
                let mut by: BTreeMap<u64, Vec<f64>> = BTreeMap::new();
                res.iter().for_each(|(_, k, r)| by.entry(*k).or_default().push(*r));
                let by: BTreeMap<u64, f64> = by
                    .into_iter()
                    .filter(|(_, v)| sizes && v.len() >= 5)
                    .map(|(k, mut v)| (k, median(&mut v)))
                    .collect();
                res.iter_mut().for_each(|(_, k, r)| *r /= by.get(k).copied().unwrap_or(1.0));
                (sp, by, res)
            };
            let (_, _, r0) = residuals(500, false);
            let mut only: Vec<f64> = r0.iter().map(|x| x.2).collect();
            let mean = only.iter().sum::<f64>() / only.len() as f64;
            let own_sigma = sigma(&mut only);
            let mut lag = 0.0;
            let mut var = 0.0;
            for w in r0.windows(2) {
                lag += (w[0].2 - 1.0) * (w[1].2 - 1.0);
                var += (w[0].2 - 1.0).powi(2);
            }
            println!(
                "{:34} {rep} sigma {:.3} mean {:+.3} lag-1 {:+.2}  launch {:.0}/{:.0} result {:.0}/{:.0} wake {:.0}/{:.0} of {}",
                point.name,
                own_sigma,
                mean - 1.0,
                lag / var,
                mid(&d.launch).ns() as f64 / 1e3,
                mean_us(&d.launch),
                mid(&d.result).ns() as f64 / 1e3,
                mean_us(&d.result),
                mid(&d.wake).ns() as f64 / 1e3,
                mean_us(&d.wake),
                d.wake.len(),
            );
            let library = Twin::of(&side, &inputs, timed, end).0;
            let mut cache = BTreeMap::new();
            for v in &all {
                cache.entry((v.near_ms, v.sizes)).or_insert_with(|| residuals(v.near_ms, v.sizes));
            }
            for (i, v) in all.iter().enumerate() {
                let mut p = base();
                let us = |us: f64| Span::from_ns_f64(1e3 * us);
                let usual =
                    (us(profile.overhead.launch.median_us), us(profile.overhead.result.median_us));
                if v.del != Del::Today {
                    p.setup.world.latency = p.world.latency.clone();
                    p.setup.world.core.delays = p.world.core.delays.clone();
                }
                let profile_noise = |n: &BatchNoise| n.clone();
                p.setup.world.batch_noise = p
                    .setup
                    .world
                    .batch_noise
                    .iter()
                    .zip(&profile.model)
                    .map(|(n, m)| match v.res {
                        Res::Profile => profile_noise(n),
                        Res::Sigma => {
                            BatchNoise { sigma: own_sigma, seed: n.seed, ..BatchNoise::default() }
                        }
                        Res::Beside => {
                            let _ = m;
                            n.clone()
                        }
                        _ => BatchNoise::default(),
                    })
                    .collect();
                let mut total = 0.0;
                for draw in 0..draws {
                    if v.name.starts_with("a priori") {
                        let mut setup = base().draw(draw);
                        if v.name == "a priori, as before" {
                            setup.world.latency = base().setup.world.latency.clone();
                            let more = u64::from(draw) << 32;
                            let stalls = base().setup.world.stalls.clone();
                            setup.world.stalls = stalls;
                            setup.world.stalls.seed = setup.world.stalls.seed.wrapping_add(more);
                            setup.world.machine = None;
                        }
                        let records = setup
                            .run_with(&point.policy, seed, MemoryLog::default())
                            .unwrap()
                            .observer
                            .1
                            .records;
                        total += Summary::of(&records, side.warm_up_ns).finish_rate;
                        continue;
                    }
                    if v.name == "library" {
                        let records =
                            base().simulate_on(&library, &point.policy, seed, draw).unwrap();
                        total += Summary::of(&records, side.warm_up_ns).finish_rate;
                        continue;
                    }
                    let machine: Arc<dyn Machine> = {
                        let mut m = Abl {
                            laws: p.world.latency[0].clone(),
                            seed: mix(u64::from(draw)),
                            ..Abl::default()
                        };
                        m.host = d.host.clone();
                        if timed {
                            let (sp, by, res) = cache[&(v.near_ms, v.sizes)].clone();
                            m.speed = sp;
                            m.sizes = by;
                            m.iid = res.iter().map(|r| r.2).collect();
                            m.by_law = res.iter().map(|r| (r.1, r.2)).collect();
                            m.by_law.sort_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
                            m.near = res.iter().map(|r| (r.0, r.2)).collect();
                            m.res = Some(v.res);
                            if v.same {
                                d.keyed.iter().for_each(|(t, k, _, dev)| {
                                    m.same.entry(*k).or_default().push((*t, *dev))
                                });
                            }
                        }
                        let (l, r) = match v.del {
                            Del::RunMedian | Del::Split => (mid(&d.launch), mid(&d.result)),
                            _ => usual,
                        };
                        let stall =
                            if v.del == Del::Split { Span::from_us(50) } else { Span::ZERO };
                        let inputs_away = |with_results: bool, with_wakes: bool| {
                            union(
                                inputs
                                    .iter()
                                    .filter(|h| match kind_of_rank(h.rank).0 {
                                        "result" => with_results,
                                        "timer" | "window" => with_wakes,
                                        _ => true,
                                    })
                                    .map(|h| match kind_of_rank(h.rank).0 {
                                        "result" => (h.due + r, h.at),
                                        _ => (h.due, h.at),
                                    })
                                    .filter(|(a, b)| b.ns() > a.ns() + stall.ns())
                                    .collect(),
                            )
                        };
                        match v.del {
                            Del::Today | Del::Beside | Del::RunMedian => {
                                m.controller = inputs_away(true, true);
                                m.lane = union(
                                    d.launch.iter().map(|(t, s)| (*t + l, *t + *s)).collect(),
                                );
                                m.usual = Some(if v.del == Del::Today {
                                    (Span::ZERO, Span::ZERO)
                                } else {
                                    (l, r)
                                });
                            }
                            Del::Nearest | Del::Random => {
                                m.controller = inputs_away(false, false);
                                m.launch = d.launch.clone();
                                m.result = d.result.clone();
                                m.wake = d.wake.clone();
                                m.random = v.del == Del::Random;
                            }
                            Del::Split => {
                                m.controller = inputs_away(true, true);
                                m.lane = union(
                                    d.launch
                                        .iter()
                                        .filter(|(_, s)| *s > l + stall)
                                        .map(|(t, s)| (*t + l, *t + *s))
                                        .collect(),
                                );
                                let usual = |list: &[(Time, Span)], most: Span| {
                                    list.iter()
                                        .filter(|x| x.1 <= most + stall)
                                        .copied()
                                        .collect::<Vec<_>>()
                                };
                                m.launch = usual(&d.launch, l);
                                m.result = usual(&d.result, r);
                                m.wake = usual(&d.wake, mid(&d.wake));
                            }
                        }
                        Arc::new(m)
                    };
                    let mut setup = p.draw(draw);
                    if v.del == Del::Today {
                        setup.world.latency = p.setup.world.latency.clone();
                    }
                    setup.world.stalls = Default::default();
                    setup.world.machine = Some(machine);
                    let records = setup
                        .run_with(&point.policy, seed, MemoryLog::default())
                        .unwrap()
                        .observer
                        .1
                        .records;
                    total += Summary::of(&records, side.warm_up_ns).finish_rate;
                }
                here[i].push(100.0 * (measured - total / f64::from(draws)));
            }
        }
        for (i, list) in here.iter().enumerate() {
            if list.is_empty() {
                continue;
            }
            let mean = list.iter().sum::<f64>() / list.len() as f64;
            sums[i].entry(policy.clone()).or_default().push(mean);
            by_point[i].push((format!("{policy} {:.1}", point.load), mean));
        }
    }
    println!("\nmeasured less twin, points");
    for (i, v) in all.iter().enumerate() {
        let flat: Vec<f64> = sums[i].values().flatten().copied().collect();
        let n = flat.len().max(1) as f64;
        let abs = flat.iter().map(|x| x.abs()).sum::<f64>() / n;
        let max = flat.iter().map(|x| x.abs()).fold(0.0, f64::max);
        let signed = flat.iter().sum::<f64>() / n;
        print!("{:38} mean {abs:.2} max {max:.2} signed {signed:+.2} |", v.name);
        for (p, list) in &sums[i] {
            let m = list.iter().sum::<f64>() / list.len() as f64;
            print!(" {p} {m:+.2}");
        }
        println!();
    }
    println!();
    for (i, v) in all.iter().enumerate() {
        print!("{:38}", v.name);
        for (p, m) in &by_point[i] {
            print!(" {p} {m:+.2};");
        }
        println!();
    }
}
