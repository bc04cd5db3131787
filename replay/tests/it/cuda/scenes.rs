//! What is played in a process of its own, with the stand-in as its driver. See `stand_in.rs`.

use super::reference::off_by;
use orrery_replay::clock::{CONTROLLER, Clock, DEFAULT_SPIN, Participant, WallClock};
use orrery_replay::device::cuda::{
    self, CudaConfig, CudaDevice, Curve, Graphs, ModelConfig, Workload,
};
use orrery_replay::device::encoder::EncoderConfig;
use orrery_replay::device::encoder::plan::{self, Shape, Step};
use orrery_replay::device::{Device, DeviceError, Job, Place, Ran, Stop, Work, Worker};
use orrery_replay::target::open_cuda;
use orrery_scenario::Scenario;
use orrery_sim::request::{ActionId, DeviceId, ModelId, RequestId};
use orrery_sim::time::{Span, Time};
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};

const TIMED: ModelId = ModelId(0);
const COMPUTE: ModelId = ModelId(1);
const ENCODER: ModelId = ModelId(2);

/// One that runs these models, with nothing special.
fn running(models: Vec<ModelConfig>) -> CudaConfig {
    CudaConfig { models, ..toml::from_str("models = []").unwrap() }
}

fn encoder() -> EncoderConfig {
    EncoderConfig {
        layers: 3,
        heads: 2,
        hidden: 32,
        max_len: 64,
        max_batch: 4,
        pad_to: 16,
        lengths: EncoderConfig::one_us_a_token(64),
    }
}

fn config() -> CudaConfig {
    let curve = Curve::Eq3 { c0_us: 500.0, c1: 0.5 };
    let model = |pages, workload| ModelConfig { pages, workload };
    running(vec![
        model(2, Workload::Timed(curve)),
        model(3, Workload::Compute(curve)),
        model(1, Workload::Encoder(encoder())),
    ])
}

fn batch(model: ModelId, units: u32, longest: Span) -> Work {
    Work::Batch { model, units, longest, total: longest, first: RequestId(7) }
}

fn job(work: Work, fetch: Span, began: Time) -> Job {
    let executor = u8::from(matches!(work, Work::Load { .. }));
    Job { action: ActionId(5), device: DeviceId(0), kind: 0, executor, began, fetch, work }
}

struct Stage {
    device: CudaDevice,
    workers: Vec<Box<dyn Worker>>,
    clock: WallClock,
}

const ME: Participant = CONTROLLER;

impl Stage {
    fn open(config: CudaConfig) -> Result<Stage, DeviceError> {
        let mut device = cuda::open(0, config)?;
        let mut workers = device.workers(1)?;
        workers.iter_mut().try_for_each(|w| w.start())?;
        let clock = WallClock::start(1, DEFAULT_SPIN, false);
        clock.enter(ME);
        Ok(Stage { device, workers, clock })
    }

    fn run(&mut self, work: Work, fetch: Span, stop: &Stop) -> Result<Ran, DeviceError> {
        let began = self.clock.now();
        let job = job(work, fetch, began);
        let place = Place { clock: &self.clock, me: ME };
        let ran = self.workers[usize::from(job.executor)].run(&job, &place, stop)?;
        assert!(began <= ran.start && ran.end <= self.clock.now());
        // The device's time is a float of milliseconds.
        let slack = Span::from_us(1);
        let fetched = if ran.stopped { Span::ZERO } else { fetch };
        assert!(ran.start + fetched + ran.device <= ran.end + slack, "{ran:?}");
        Ok(ran)
    }
}

#[test]
#[ignore = "played by stand_in.rs in processes of its own"]
fn scene() {
    let Ok(name) = std::env::var("ORRERY_CUDA_SCENE") else { return };
    let played = match name.as_str() {
        "look" => {
            println!("{}", cuda::look());
            Ok(())
        }
        "second" => cuda::open(1, config()).map(drop),
        "work" => work(),
        "stop" => stop(),
        "lanes" => lanes(),
        "graphs" => graphs(Graphs::Auto),
        "graphs off" => graphs(Graphs::Off),
        "graphs required" => graphs(Graphs::Required),
        "measure" => measure(),
        "many" => many(),
        other => panic!("no scene {other}"),
    };
    match played {
        Ok(()) => println!("ended well"),
        Err(error) => println!("error: {error}"),
    }
    println!("held: {}", held());
}

/// What the stand-in gave and did not get back, if it is the driver.
fn held() -> String {
    if cuda::look().driver.is_empty() {
        return "no driver".to_string();
    }
    // SAFETY: the library is loaded, and the function has this type if it is there.
    #[allow(unsafe_code)]
    let held = unsafe {
        cudarc::driver::sys::culib()
            .get::<extern "C" fn() -> usize>(b"orrery_stand_in_held")
            .map(|count| count().to_string())
    };
    held.unwrap_or_else(|_| "another driver".to_string())
}

/// Launches of graphs and of kernels so far, and the nodes of the last graph.
fn launches() -> ([u64; 2], String) {
    let (mut counts, mut nodes) = ([0; 2], [0u8; 4096]);
    // SAFETY: the library is loaded, the function has this type, and both are places of their sizes.
    #[allow(unsafe_code)]
    unsafe {
        cudarc::driver::sys::culib()
            .get::<unsafe extern "C" fn(*mut [u64; 2], *mut u8, usize)>(b"orrery_stand_in_graphs")
            .expect("the stand-in")(&mut counts, nodes.as_mut_ptr(), nodes.len());
    }
    (counts, String::from_utf8_lossy(&nodes).trim_end_matches('\0').to_string())
}

/// Batches of an encoder, and what was launched for each.
fn graphs(graphs: Graphs) -> Result<(), DeviceError> {
    let mut stage = Stage::open(CudaConfig { graphs, ..config() })?;
    let facts = stage.device.describe().facts;
    println!("{:?}", facts.iter().find(|(fact, _)| fact == "graphs"));
    let nodes = launches().1;
    for units in [4, 1] {
        let before = launches().0;
        stage.run(batch(ENCODER, units, Span::from_us(64)), Span::ZERO, &Stop::default())?;
        let after = launches().0;
        println!("{units}: {} graphs, {} kernels", after[0] - before[0], after[1] - before[1]);
    }
    // The last one that was captured is the largest: the copy of the lengths, then the plan's launches in their order.
    let shape = Shape { layers: 3, heads: 2, hidden: 32 };
    let steps = plan::forward(&shape, 4, 64).into_iter().flatten().map(|step| match step {
        Step::Gemm(gemm) => gemm.launch().kernel.name(),
        Step::Launch(launch) => launch.kernel.name(),
    });
    let wanted: Vec<&str> = std::iter::once("copy").chain(steps).collect();
    println!("nodes in order: {}", nodes == wanted.join(" "));
    Ok(())
}

/// Every workload, and a load; twice, since the second time more is known.
fn work() -> Result<(), DeviceError> {
    let mut stage = Stage::open(config())?;
    let never = Stop::default();
    let empty = Span::from_ns(stage.device.calibration().empty_ns);
    let description = stage.device.describe();
    assert_eq!((description.device.as_str(), description.can_preempt), ("cuda:0", false));
    println!("{description:?}");
    for _ in 0..2 {
        // 500 us + 0.5 * 2 * 2 ms.
        let ran = stage.run(batch(TIMED, 2, Span::from_ms(2)), Span::ZERO, &never)?;
        assert!(ran.device + empty >= Span::from_us(2_500) && !ran.stopped, "{ran:?}");
        let ran = stage.run(batch(TIMED, 1, Span::ZERO), Span::from_ms(1), &never)?;
        assert!(ran.device + empty >= Span::from_us(500), "{ran:?}");
        let ran = stage.run(batch(COMPUTE, 1, Span::from_ms(1)), Span::ZERO, &never)?;
        assert!(ran.device > Span::ZERO, "{ran:?}");
        let ran = stage.run(batch(ENCODER, 4, Span::from_us(33)), Span::ZERO, &never)?;
        // A graph of 3 layers of 12 launches and a copy, which the stand-in gives 2 us, and half a us for each node.
        assert!(ran.device >= Span::from_us(20), "{ran:?}");
        let load = Work::Load { model: COMPUTE, time: Span::ZERO };
        let ran = stage.run(load, Span::ZERO, &never)?;
        // 48 MiB at 10 bytes a nanosecond.
        assert!(ran.device >= Span::from_ns((48 << 20) / 10), "{ran:?}");
    }
    let refused = |stage: &mut Stage, work| {
        let error = stage.run(work, Span::ZERO, &never).expect_err("it cannot be");
        println!("refused: {error}");
    };
    refused(&mut stage, batch(ModelId(3), 1, Span::ZERO));
    refused(&mut stage, batch(ENCODER, 5, Span::from_us(16)));
    refused(&mut stage, Work::Load { model: ModelId(9), time: Span::ZERO });
    let got = stage.device.encoder_output(ENCODER, &[20, 64])?;
    println!("encoder off by {}", off_by(&encoder(), 0, &[20, 64], &got));
    Ok(())
}

/// A clock that asks for a stop when it is waited on for the third time.
struct StopAtThirdWait<'a> {
    clock: &'a WallClock,
    stop: &'a Stop,
    waits: AtomicU32,
}

impl Clock for StopAtThirdWait<'_> {
    fn now(&self) -> Time {
        self.clock.now()
    }
    fn add(&self) -> Participant {
        self.clock.add()
    }
    fn enter(&self, me: Participant) {
        self.clock.enter(me);
    }
    fn wait(&self, me: Participant, until: Time) {
        if self.waits.fetch_add(1, Ordering::Relaxed) == 2 {
            self.stop.set();
        }
        self.clock.wait(me, until);
    }
    fn notify(&self, whom: Participant) {
        self.clock.notify(whom);
    }
    fn leave(&self, me: Participant) {
        self.clock.leave(me);
    }
}

/// A batch of ten seconds that is stopped, one that is stopped before it begins, one that is not.
fn stop() -> Result<(), DeviceError> {
    let mut stage = Stage::open(CudaConfig { chunk_us: Some(2_000.0), ..config() })?;
    assert!(stage.device.describe().can_preempt);
    let ten_seconds = Span::from_secs(20);
    // The stop comes in the third chunk, when the fourth has been launched.
    for (model, least) in [(TIMED, Span::from_us(7_900)), (COMPUTE, Span::from_us(1))] {
        let stop = Stop::default();
        let clock = StopAtThirdWait { clock: &stage.clock, stop: &stop, waits: AtomicU32::new(0) };
        let job = job(batch(model, 1, ten_seconds), Span::ZERO, stage.clock.now());
        let ran = stage.workers[0].run(&job, &Place { clock: &clock, me: ME }, &stop)?;
        assert!(ran.stopped && ran.device < Span::from_secs(9) && ran.device >= least, "{ran:?}");
        let ran = stage.run(batch(model, 1, ten_seconds), Span::ZERO, &stop)?;
        assert!(ran.stopped && ran.device == Span::ZERO, "{ran:?}");
        let ran = stage.run(batch(model, 1, ten_seconds), Span::from_secs(1_000), &stop);
        assert!(ran.is_ok_and(|ran| ran.stopped && ran.end < Time::ZERO + Span::from_secs(900)));
    }
    let empty = Span::from_ns(stage.device.calibration().empty_ns);
    let never = Stop::default();
    let ran = stage.run(batch(TIMED, 1, Span::from_ms(40)), Span::ZERO, &never)?;
    assert!(!ran.stopped && ran.device + empty >= Span::from_us(20_500), "{ran:?}");
    let ran = stage.run(batch(ENCODER, 1, Span::from_us(64)), Span::ZERO, &never)?;
    assert!(!ran.stopped, "{ran:?}");
    Ok(())
}

/// Two lanes and the loader, each on its own thread.
fn lanes() -> Result<(), DeviceError> {
    let mut device = cuda::open(0, config())?;
    let clock = WallClock::start(1, DEFAULT_SPIN, false);
    let work = |me: u32, model: ModelId| match me {
        2 => Work::Load { model, time: Span::ZERO },
        _ => batch(model, 2, Span::from_us(20)),
    };
    let run = |me: u32, worker: &mut Box<dyn Worker>| {
        let place = Place { clock: &clock, me: clock.add() };
        clock.enter(place.me);
        worker.start()?;
        for action in 0..30 {
            let model = [TIMED, COMPUTE, ENCODER][action as usize % 3];
            let (device, began) = (DeviceId(0), clock.now());
            let (action, work) = (ActionId(action), work(me, model));
            let fetch = Span::ZERO;
            let job = Job { action, device, kind: 0, executor: me as u8, began, fetch, work };
            worker.run(&job, &place, &Stop::default())?;
        }
        Ok(())
    };
    let mut workers = device.workers(2)?;
    assert_eq!(workers.len(), 3);
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..)
            .zip(&mut workers)
            .map(|(me, worker)| scope.spawn(move || run(me, worker)))
            .collect();
        threads.into_iter().try_for_each(|t| t.join().expect("no thread panics"))
    })
}

fn measure() -> Result<(), DeviceError> {
    let stage = Stage::open(config())?;
    let calibration = stage.device.calibration();
    assert_eq!(calibration.timer_step_ns, 32);
    assert_eq!(calibration.cycles_per_us, 1_000.0);
    let copies = stage.device.host_to_device(4 << 20, 3)?;
    assert_eq!(copies.len(), 3);
    for copy in copies {
        assert!(copy.device.ns() + 1 >= copy.bytes / 10 && copy.host >= copy.device, "{copy:?}");
    }
    let launches = stage.device.launch_overhead(5)?;
    assert!(launches.iter().all(|l| l.device >= Span::from_us(2) && l.host >= l.call));
    assert_eq!(stage.device.timer_steps(4)?, [Span::from_ns(32); 4]);
    drop(stage);
    // As commands open it: found on a GPU, where a profile did not know to which lengths a batch is padded.
    let table = toml::Table::try_from(config()).expect("plain data");
    let models = ["timed", "compute", "encoder"].map(|name| {
        format!(
            "[[model]]\nname = \"{name}\"\nslo_ms = 50.0\nlatency = {{ affine = {{ alpha_ms = 1.0, beta_ms = 1.0 }} }}\n\
             [[app]]\nname = \"{name}\"\nmodel = \"{name}\"\ntime = {{ constant = {{ ms = 0.02 }} }}\n"
        )
    });
    let head =
        "policies = [\"fifo\"]\narrivals = { poisson = { rate_per_s = 1.0 }, requests = 1 }\n";
    let scenario = Scenario::from_text("s.toml", &(head.to_string() + &models.concat())).unwrap();
    let mut device =
        open_cuda(0, &table, Path::new("device.toml"), &scenario).expect("it is there");
    let us = [16, 32, 48, 64].map(Span::from_us);
    assert_eq!((device.steps(TIMED), device.steps(ENCODER)), (Vec::new(), us.to_vec()));
    assert_eq!([COMPUTE, ENCODER].map(|m| device.batch_max(m)), [None, Some(4)]);
    assert_eq!(device.primitives()?.len(), 6);
    Ok(())
}

/// Batches until one fails.
fn many() -> Result<(), DeviceError> {
    let models = config().models[..1].to_vec();
    let mut stage = Stage::open(CudaConfig { patience_s: 1, ..running(models) })?;
    for ran in 0..100 {
        let run = stage.run(batch(TIMED, 1, Span::ZERO), Span::ZERO, &Stop::default());
        if run.is_err() {
            println!("batches that ended: {ran}");
        }
        run?;
    }
    Ok(())
}
