//! All forms of the queues make the same decisions: the same log, record by record.

use super::Hulls;
use crate::core::{CoreSpec, Profiler};
use crate::driver::{World, simulate};
use crate::latency::Latency;
use crate::log::{MemoryLog, Record};
use crate::penalty::{MILLION, Penalty, Step};
use crate::policy::orloj::auto::Auto;
use crate::policy::orloj::entry::{Entry, EntryCost};
use crate::policy::orloj::pending::Pending;
use crate::policy::orloj::scan::Scan;
use crate::policy::orloj::tables::{self, Tables};
use crate::policy::orloj::{Config, Estimate, Orloj, QueueForm, SizeOrder};
use crate::policy::parameters::Settings;
use crate::profile::ModelProfile;
use crate::request::{AppId, Arrival, End, ModelId, RequestId, VecSource};
use crate::rng::Stream;
use crate::time::{NS_PER_MS, Span, Time};

/// A small world with its requests and Orloj's parameters.
struct Case {
    world: World,
    profiles: Vec<ModelProfile>,
    arrivals: Vec<Arrival>,
    config: Config,
}

/// The execution time of one request of an application.
fn alone(app: u64, draws: &mut Stream) -> Span {
    let us = match app % 4 {
        // One value: bins of a few nanoseconds.
        0 => 5_000,
        1 => 5_000 + draws.below(20_000),
        // Two modes with a gap.
        2 => 4_000 + 40_000 * draws.below(2) + draws.below(3_000),
        _ => 30_000 + draws.below(4) * draws.below(30_000),
    };
    Span::from_us(us)
}

/// A cost function of some steps.
fn penalty(draws: &mut Stream) -> Penalty {
    let (mut deadline, mut cost) = (MILLION, 0);
    let steps = (0..1 + draws.below(4)).map(|_| {
        cost += [1, 300_000, MILLION, 20 * MILLION][draws.below(4) as usize];
        let step = Step { deadline, cost };
        deadline += [1, 100_000, MILLION, 3 * MILLION][draws.below(4) as usize];
        step
    });
    Penalty::new(steps.collect()).unwrap()
}

/// One that changes its form all the time.
fn restless(sizes: usize, b_per_ms: f64) -> Auto {
    let mut auto = Auto::new(sizes, b_per_ms);
    (auto.few, auto.many) = (4, 10);
    auto
}

impl Case {
    fn new(seed: u64) -> Case {
        let draws = &mut Stream::named(seed, "orloj cases", 0);
        let below = |draws: &mut Stream, n: u64| draws.below(n);
        let (models, apps) = (1 + below(draws, 3), 1 + below(draws, 4));
        let first_app = below(draws, 4);
        let law = Latency::Proportional { c1: [0.1, 0.25][below(draws, 2) as usize] };
        let sizes: &[u32] =
            [&[1, 2, 4, 8, 16][..], &[1, 3], &[4], &[1, 2, 32]][below(draws, 4) as usize];
        let slo_ms = [60, 150, 400, 3_000][below(draws, 4) as usize];
        let profiles = (0..models).map(|m| {
            let drawn = &mut Stream::named(seed, "profile", m);
            let draw = || {
                let app = drawn.below(apps);
                (app as usize, alone(first_app + app, drawn))
            };
            let bins = [1, 8, 64][(seed % 3) as usize];
            let slo = Span::from_ms(slo_ms);
            let mut profile = ModelProfile::measure(&law, slo, sizes, 200, draw, bins);
            // Every other case has costs, some of applications that the profile lacks.
            let costs = &mut Stream::named(seed, "penalties", m);
            if seed % 2 == 1 {
                let drawn = (0..5).filter(|_| costs.below(3) > 0).collect::<Vec<_>>();
                profile.penalties = drawn.into_iter().map(|a| (a, penalty(costs))).collect();
            }
            profile
        });
        let profiles = profiles.collect();
        let gap_us = [200, 2_000, 8_000, 30_000][below(draws, 4) as usize];
        let burst = [1, 1, 5, 60][below(draws, 4) as usize];
        let mut at = Time::from_ns(below(draws, 10_000_000_000));
        let arrivals = (0..400).map(|i| {
            if i % burst == 0 {
                at += Span::from_us(draws.below(2 * gap_us * burst));
            }
            let app = draws.below(apps);
            Arrival {
                at,
                app: AppId(app as u32),
                model: ModelId(draws.below(models) as u32),
                size: 1,
                slo: Span::from_ms(slo_ms * [1, 1, 2][draws.below(3) as usize]),
                alone: alone(first_app + app, draws),
            }
        });
        let arrivals = arrivals.collect();
        let mut world = World::single(law.clone());
        world.latency = vec![vec![law; models as usize]];
        world.core = CoreSpec {
            models: vec![Default::default(); models as usize],
            devices: vec![Default::default(); 1 + below(draws, 2) as usize],
            profiler: Some(Profiler { every: 1, delay: Span::from_ms(below(draws, 30)) }),
            ..CoreSpec::default()
        };
        let config = Config {
            estimate: match below(draws, 4) {
                0 => Estimate::Quantile(0.9),
                // All but the lowest edge: scores of zero.
                1 => Estimate::Quantile(0.0),
                _ => Estimate::Mean,
            },
            order: [SizeOrder::Descending, SizeOrder::Ascending][below(draws, 2) as usize],
            b_per_ms: [1e-9, 1e-6, 1e-4, 1e-4, 1e-2, 0.1, 10.0][below(draws, 7) as usize],
            max_batch: [1, 16, 64][below(draws, 3) as usize],
            relearn_every: [0, 0, 70][below(draws, 3) as usize],
            ..(Config::PRESETS[0].make)()
        };
        Case { world, profiles, arrivals, config }
    }

    fn log(&self, queue: QueueForm, reach: Option<f64>) -> Vec<Record> {
        let mut policy = Orloj::new(Config { queue, ..self.config }, &self.profiles);
        if let Some(reach) = reach {
            for m in &mut policy.models {
                let hulls = Hulls::new(m.sizes.len(), self.config.b_per_ms);
                m.pending = Box::new(Hulls { reach, ..hulls });
            }
        }
        if queue == QueueForm::Auto {
            for m in &mut policy.models {
                m.pending = Box::new(restless(m.sizes.len(), self.config.b_per_ms));
            }
        }
        let source = Box::new(VecSource::new(self.arrivals.clone()));
        let run = simulate(&self.world, vec![source], policy, MemoryLog::default());
        // The first says the policy's name.
        run.observer.records.into_iter().skip(1).collect()
    }
}

fn cases() -> u64 {
    if cfg!(debug_assertions) { 40 } else { 400 }
}

#[test]
fn all_forms_write_the_same_log() {
    let (mut batched, mut dropped) = (0, 0);
    for seed in 0..cases() {
        let case = Case::new(seed);
        let scan = case.log(QueueForm::Scan, None);
        for form in [QueueForm::Hull, QueueForm::Auto] {
            let other = case.log(form, None);
            if let Some(at) = scan.iter().zip(&other).position(|(a, b)| a != b) {
                let (config, a, b) = (case.config, &scan[at], &other[at]);
                panic!("seed {seed}, {form:?}, {config:?}: {a:?} {b:?}");
            }
            assert_eq!(scan.len(), other.len());
        }
        let sizes = |r: &Record| match r {
            Record::Issue { batch, .. } => batch.requests.len(),
            _ => 0,
        };
        batched += scan.iter().filter(|r| sizes(r) > 1).count();
        dropped +=
            scan.iter().filter(|r| matches!(r, Record::End { end: End::Dropped(_), .. })).count();
    }
    eprintln!("{batched} batches of more than one, {dropped} dropped");
    assert!(batched > 1_000 && dropped > 1_000, "the cases say something");
}

#[test]
fn a_reset_of_the_base_changes_no_decision() {
    for seed in 0..cases() {
        let case = Case::new(seed);
        // Every 100 ms or more often, whatever b is.
        let reach = (case.config.b_per_ms / 1e6 * (100 * NS_PER_MS) as f64).min(super::REACH);
        assert_eq!(
            case.log(QueueForm::Scan, None),
            case.log(QueueForm::Hull, Some(reach)),
            "{seed}"
        );
    }
}

/// All forms side by side, without a simulation: deadlines such that slacks are on the edges of a law and
/// one nanosecond beside them, with scores of zero and many equal ones.
#[test]
fn all_forms_agree_on_every_edge() {
    let ms = Span::from_ms;
    let law = Latency::Proportional { c1: 0.5 };
    let draws = &mut Stream::named(1, "edges", 0);
    for round in 0..200 {
        let apps = 1 + draws.below(3);
        let mut drawn = 0;
        let draw = || {
            drawn += 1;
            let app = drawn % apps;
            (app as usize, ms(10 * (app + 1)))
        };
        let bins = 1 + round % 3;
        let mut profile = ModelProfile::measure(&law, ms(100), &[1, 2, 4], 30, draw, bins);
        let costs = &mut Stream::named(round as u64, "penalties", 0);
        // Two different ones beside the default, where there are any.
        let functions = [0, 3][round % 2];
        profile.penalties.extend((0..functions).map(|app| {
            let steps = [(MILLION, MILLION + app as u64), (1_250_000, 9 * MILLION)];
            let steps = steps.map(|(deadline, cost)| Step { deadline, cost });
            (app, if app == 0 { penalty(costs) } else { Penalty::new(steps.into()).unwrap() })
        }));
        let estimate = [Estimate::Quantile(0.0), Estimate::Mean][round % 2];
        let b_per_ms = [1e-6, 1e-4, 1e-2, 1.0][draws.below(4) as usize];
        let config = Config { estimate, b_per_ms, ..(Config::PRESETS[0].make)() };
        let sizes = tables::sizes(&config, &profile);
        let tables = Tables::new(&config, &profile, &sizes);
        let mut forms: [Box<dyn Pending>; 3] = [
            Box::new(Scan::default()),
            Box::new(Hulls::new(sizes.len(), b_per_ms)),
            Box::new(restless(sizes.len(), b_per_ms)),
        ];
        let mut now = Time::from_ns(1_000_000_000);
        let mut id = 0;
        for _ in 0..60 {
            now += Span::from_ns([0, 1, 1, 2_500_000][draws.below(4) as usize]);
            for _ in 0..draws.below(8) {
                let slack = match draws.below(3) {
                    // An edge of some law, or near it.
                    0 => ms([5, 10, 15, 20, 25, 30, 45, 75][draws.below(8) as usize]),
                    1 => tables.apps[0].estimates[draws.below(sizes.len() as u64) as usize],
                    _ => ms(80),
                };
                let beside = Span::from_ns(draws.below(4));
                let app = draws.below(apps + 1) as usize;
                let viable = (1 << sizes.len()) - 1;
                let deadline = (now + slack + beside).minus(Span::from_ns(1));
                let function = if functions == 0 { 0 } else { draws.below(3) as u32 };
                let slo = ms([0, 20, 80][function.min(1) as usize * (1 + draws.below(2) as usize)]);
                let cost = EntryCost { function, slo, step: 0 };
                let entry = Entry { id: RequestId(id), app, deadline, cost, viable };
                forms.iter_mut().for_each(|form| form.insert(entry));
                id += 1;
            }
            let [scan, hull, auto] = forms.each_mut().map(|form| {
                let mut out = Vec::new();
                form.expire(now, &tables, &mut out);
                let mut census = vec![(0, Time::NEVER); sizes.len()];
                form.census(&mut census);
                let mut left = Vec::new();
                form.left_out(1, &mut |id, there| left.push((id, there)));
                (out, census, left)
            });
            assert_eq!(scan, hull, "round {round}");
            assert_eq!(scan, auto, "round {round}");
            let size = draws.below(sizes.len() as u64) as usize;
            if scan.1[size].0 < sizes[size] {
                continue;
            }
            let [scan, hull, auto] = forms.each_mut().map(|form| {
                let mut out = Vec::new();
                form.pop_batch(now, size, sizes[size] as usize, &tables, &mut out);
                out
            });
            assert_eq!(scan, hull, "round {round}");
            assert_eq!(scan, auto, "round {round}");
        }
    }
}
