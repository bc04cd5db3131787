//! Recordings: what the programs of Symphony's authors did with given arrivals, batch for batch
//! (`tests/data/symphony/`). This runs a policy on the same arrivals and compares.
//!
//! The programs ran under a virtual clock that moves in steps of 200 ns, and met arrivals before
//! completions of one step. On a grid of that step ours rounds arrivals up, and results are told 1 ns
//! late. A batch is the same when it has the same GPU, model and size, and begins within a tolerance:
//! in the programs a message between two threads costs a step.

mod nexus;
mod shepherd;
mod symphony;

use flate2::read::GzDecoder;
use orrery_run::PolicySpec;
use orrery_sim::audit::audit;
use orrery_sim::cluster::DeviceSpec;
use orrery_sim::driver::{World, simulate};
use orrery_sim::latency::Latency;
use orrery_sim::log::{Closed, MemoryLog, Record};
use orrery_sim::profile::ModelProfile;
use orrery_sim::request::{AppId, Arrival, Drop, End, ModelId, VecSource};
use orrery_sim::time::{NS_PER_S, Span, Time};
use std::collections::BTreeMap;
use std::io::Read;
use std::path::Path;

/// The recorded batches lie in this window, requests are counted that arrive in it.
const WINDOW: std::ops::Range<u64> = 6 * NS_PER_S..9 * NS_PER_S;
/// The programs' clock.
const STEP: u64 = 200;

/// A model: its name in the recording, l(b) = alpha b + beta in us, and its SLO in ms.
struct Model {
    name: &'static str,
    alpha_us: u64,
    beta_us: u64,
    slo_ms: u64,
}

const RESNET50: Model = Model { name: "resnet50", alpha_us: 1_053, beta_us: 5_072, slo_ms: 25 };

impl Model {
    /// Its law, with so much more for each batch.
    fn law(&self, more: Span) -> Latency {
        let (alpha, beta) = (Span::from_us(self.alpha_us), Span::from_us(self.beta_us));
        Latency::Affine { alpha, beta: beta + more }
    }

    fn slo(&self) -> Span {
        Span::from_ms(self.slo_ms)
    }

    fn alone(&self) -> Span {
        Span::from_us(self.alpha_us + self.beta_us)
    }

    fn request(&self, model: usize, at: Time) -> Arrival {
        let (app, model) = (AppId(model as u32), ModelId(model as u32));
        Arrival { at, app, model, size: 1, slo: self.slo(), alone: self.alone() }
    }
}

/// A recording, and what it was made with.
struct Case {
    arrivals: &'static str,
    batches: &'static str,
    gpus: usize,
    /// In our order: a program that looks at models in the order of a hash table has the reverse.
    models: &'static [Model],
    /// Whether the program looks at its GPUs from the last to the first.
    mirrored: bool,
}

/// A batch that ran to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Batch {
    start: u64,
    gpu: usize,
    model: usize,
    size: usize,
    finish: u64,
}

fn number(cell: &str) -> u64 {
    cell.parse().expect("a whole number")
}

/// The rows of a recorded file, without its header.
fn rows(name: &str) -> Vec<Vec<String>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/symphony");
    let file = std::fs::File::open(folder.join(format!("{name}.csv.gz"))).expect("a recording");
    let mut text = String::new();
    GzDecoder::new(file).read_to_string(&mut text).expect("a whole recording");
    text.lines().skip(1).map(|l| l.split(',').map(str::to_string).collect()).collect()
}

impl Case {
    fn model(&self, name: &str) -> usize {
        self.models.iter().position(|m| m.name == name).expect("a model of the case")
    }

    /// What the program did, by start. GPUs are told by our ids.
    fn recorded(&self) -> Vec<Batch> {
        let gpu = |id: usize| if self.mirrored { self.gpus - 1 - id } else { id };
        let batch = |row: &Vec<String>| Batch {
            start: number(&row[0]),
            gpu: gpu(number(&row[1]) as usize),
            model: self.model(&row[2]),
            size: number(&row[3]) as usize,
            finish: number(&row[4]),
        };
        let mut batches: Vec<Batch> = rows(self.batches).iter().map(batch).collect();
        batches.sort();
        batches
    }

    /// The arrivals, as a clock of that step sees them; in one step they stay in order.
    fn arrivals(&self, step: u64) -> Vec<Arrival> {
        let arrival = |row: &Vec<String>| {
            let model = self.model(&row[1]);
            let at = Time::from_ns(number(&row[0]).next_multiple_of(step));
            self.models[model].request(model, at)
        };
        let mut arrivals: Vec<Arrival> = rows(self.arrivals).iter().map(arrival).collect();
        arrivals.sort_by_key(|a| a.at);
        arrivals
    }

    /// Runs a policy on the recorded arrivals, on a clock of that step (1 is our own).
    fn run(&self, policy: &str, step: u64) -> Ran {
        let result = Span::from_ns(u64::from(step > 1));
        self.run_on(policy, self.arrivals(step), result, Span::ZERO)
    }

    /// Runs a policy. Results are told `result` late, and each batch keeps its GPU for `more` than
    /// the policy believes and the recording counts.
    fn run_on(&self, policy: &str, arrivals: Vec<Arrival>, result: Span, more: Span) -> Ran {
        let mut world = World::single(RESNET50.law(Span::ZERO));
        world.core.devices =
            vec![DeviceSpec { can_preempt: true, ..Default::default() }; self.gpus];
        world.core.models = vec![Default::default(); self.models.len()];
        world.core.delays.result = result.into();
        world.latency = vec![self.models.iter().map(|m| m.law(more)).collect()];
        let sizes: Vec<u32> = (1..=64).collect();
        let profile = |(app, m): (usize, &Model)| {
            ModelProfile::measure(&m.law(Span::ZERO), m.slo(), &sizes, 1, || (app, m.alone()), 1)
        };
        let profiles: Vec<ModelProfile> = self.models.iter().enumerate().map(profile).collect();
        let policy = PolicySpec::parse(policy).expect("a policy").build(&profiles, 1);
        let source = Box::new(VecSource::new(arrivals));
        let log = simulate(&world, vec![source], policy, MemoryLog::default()).observer;
        let report = audit(log.records.iter().cloned());
        assert!(report.is_clean(), "{report}");
        Ran::new(&log.records, more)
    }

    /// How many batches of the recording are the policy's too, on the recording's clock and within a
    /// step or two, of how many; and how many batches the policy has in the window.
    fn same_on_its_clock(&self, policy: &str) -> (usize, usize, usize) {
        let (theirs, ours) = (self.recorded(), self.run(policy, STEP));
        (same(&theirs, &ours.in_window(), 1_000), theirs.len(), ours.in_window().len())
    }
}

/// What a run did.
struct Ran {
    /// All batches that ran to their end, by start.
    batches: Vec<Batch>,
    /// What became of the requests that arrived in the window.
    ends: BTreeMap<End, usize>,
    /// Batches that were stopped in the window.
    stopped: usize,
}

impl Ran {
    fn new(records: &[Record], more: Span) -> Ran {
        let mut ran = Ran { batches: Vec::new(), ends: BTreeMap::new(), stopped: 0 };
        let (mut issued, mut counted) = (BTreeMap::new(), Vec::new());
        for record in records {
            match record {
                Record::Arrive { time, .. } => counted.push(WINDOW.contains(&time.ns())),
                Record::Issue { batch, .. } => {
                    let (gpu, model) = (batch.device.index(), batch.model.index());
                    let action = batch.action.0;
                    let size = batch.requests.len();
                    let batch = Batch { start: 0, gpu, model, size, finish: 0 };
                    issued.insert(action, batch);
                }
                Record::Begin { time, action } => {
                    issued.get_mut(&action.0).expect("issued").start = time.ns();
                }
                Record::Close { time, action, outcome: Closed::Done(_) } => {
                    let finish = time.minus(more).ns();
                    ran.batches.push(Batch { finish, ..issued[&action.0] });
                }
                Record::Close { time, .. } => {
                    ran.stopped += usize::from(WINDOW.contains(&time.ns()));
                }
                Record::End { request, end, .. } if counted[request.index()] => {
                    *ran.ends.entry(*end).or_default() += 1;
                }
                _ => {}
            }
        }
        ran.batches.sort();
        ran
    }

    /// The batches that lie in the window with their whole length.
    fn in_window(&self) -> Vec<Batch> {
        let inside = |b: &&Batch| b.start >= WINDOW.start && b.finish <= WINDOW.end;
        self.batches.iter().filter(inside).copied().collect()
    }

    fn offered(&self) -> usize {
        self.ends.values().sum()
    }

    fn ended(&self, end: End) -> usize {
        self.ends.get(&end).copied().unwrap_or(0)
    }

    fn dropped(&self) -> usize {
        self.ended(End::Dropped(Drop::Infeasible))
    }
}

/// How many of theirs have a batch of ours to themselves that is the same: GPU, model and size, and a
/// start within `tolerance_ns`.
fn same(theirs: &[Batch], ours: &[Batch], tolerance_ns: u64) -> usize {
    let key = |b: &Batch| (b.gpu, b.model, b.size);
    let mut left: BTreeMap<_, Vec<u64>> = BTreeMap::new();
    ours.iter().for_each(|b| left.entry(key(b)).or_default().push(b.start));
    let meets = |b: &&Batch| {
        let Some(starts) = left.get_mut(&key(b)) else { return false };
        let at = starts.iter().position(|s| s.abs_diff(b.start) <= tolerance_ns);
        at.map(|at| starts.swap_remove(at)).is_some()
    };
    theirs.iter().filter(meets).count()
}

fn served(batches: &[Batch]) -> usize {
    batches.iter().map(|b| b.size).sum()
}

fn mean(batches: &[Batch]) -> f64 {
    served(batches) as f64 / batches.len() as f64
}

/// Busy time of the batches over the time of all GPUs.
fn utilisation(batches: &[Batch], gpus: usize) -> f64 {
    let busy: u64 = batches.iter().map(|b| b.finish - b.start).sum();
    busy as f64 / ((WINDOW.end - WINDOW.start) as f64 * gpus as f64)
}

/// Half the sum of the differences between the shares of batch sizes.
fn variation(a: &[Batch], b: &[Batch]) -> f64 {
    let share = |batches: &[Batch], size| {
        batches.iter().filter(|b| b.size == size).count() as f64 / batches.len() as f64
    };
    (1..=64).map(|size| (share(a, size) - share(b, size)).abs()).sum::<f64>() / 2.0
}
