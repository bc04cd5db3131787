//! The device on a real GPU.

use super::reference::off_by;
use orrery_replay::clock::{CONTROLLER, Clock, DEFAULT_SPIN, WallClock};
use orrery_replay::device::cuda::{self, CudaConfig, Curve, Graphs, ModelConfig, Workload};
use orrery_replay::device::encoder::EncoderConfig;
use orrery_replay::device::{Device, Job, Place, Stop, Work};
use orrery_sim::request::{ActionId, DeviceId, ModelId, RequestId};
use orrery_sim::time::Span;

/// One that runs these models, with nothing special.
fn running(models: Vec<ModelConfig>) -> CudaConfig {
    CudaConfig { models, ..toml::from_str("models = []").unwrap() }
}

/// How far a batch was from the time asked for is printed; it is judged by `validate`, not here.
pub fn a_timed_batch_never_ends_before_its_time() {
    let curve = Curve::Affine { alpha_us: 1.0, beta_us: 0.0 };
    let model = |workload| ModelConfig { pages: 0, workload };
    let models = vec![model(Workload::Timed(curve)), model(Workload::Compute(curve))];
    let mut device = cuda::open(0, running(models)).unwrap();
    let mut workers = device.workers(1).unwrap();
    eprintln!("{:?}", device.describe());
    let clock = WallClock::start(1, DEFAULT_SPIN, false);
    let place = Place { clock: &clock, me: CONTROLLER };
    clock.enter(place.me);
    workers[0].start().unwrap();
    let calibration = device.calibration();
    let slack = Span::from_ns(calibration.empty_ns + 2 * calibration.timer_step_ns);
    for (model, us) in
        [0, 1].into_iter().flat_map(|m| [5, 50, 500, 2_000, 20_000].map(|us| (m, us)))
    {
        let (longest, first) = (Span::ZERO, RequestId(0));
        let work = Work::Batch { model: ModelId(model), units: us, longest, total: longest, first };
        let (action, device, fetch) = (ActionId(0), DeviceId(0), Span::ZERO);
        let wanted = Span::from_us(u64::from(us));
        let run = |_| {
            let job = Job { action, device, kind: 0, executor: 0, began: clock.now(), fetch, work };
            let ran = workers[0].run(&job, &place, &Stop::default()).unwrap();
            // Short ones count cycles, and `compute` arithmetic: their clock may have changed.
            let timed = model == 0 && us >= 500;
            assert!(!timed || ran.device + slack >= wanted, "{us} us: {ran:?}");
            (ran.device.ns(), (ran.end - ran.start).ns())
        };
        let mut ran: Vec<(u64, u64)> = (0..100).map(run).collect();
        ran.sort_unstable();
        let name = ["timed", "compute"][model as usize];
        let [least, middle, most] = [0, 50, 99].map(|i| ran[i].0);
        eprintln!("{name} {us} us: device ns min {least}, median {middle}, max {most}");
    }
}

pub fn the_encoder_gives_what_plain_loops_give() {
    let encoder = EncoderConfig {
        layers: 4,
        heads: 6,
        hidden: 192,
        max_len: 100,
        max_batch: 5,
        pad_to: 8,
        lengths: EncoderConfig::one_us_a_token(100),
    };
    let model = ModelConfig { pages: 1, workload: Workload::Encoder(encoder.clone()) };
    for without_cublas in [true, false] {
        let config = CudaConfig { without_cublas, ..running(vec![model.clone()]) };
        let mut device = cuda::open(0, config).unwrap();
        let _workers = device.workers(1).unwrap();
        for lengths in [&[1][..], &[17, 100, 3], &[64; 5]] {
            let got = device.encoder_output(ModelId(0), lengths).unwrap();
            let off = off_by(&encoder, 0, lengths, &got);
            let description = device.describe();
            eprintln!("{lengths:?}: off by {off:.2e} ({:?})", description.facts.last());
            assert!(off <= 1e-3, "{lengths:?}: off by {off}; {description:?}");
            // One launch gives what launches one by one give, to the last bit.
            let of = |graphs| {
                let config = CudaConfig { without_cublas, graphs, ..running(vec![model.clone()]) };
                cuda::open(0, config).unwrap().encoder_output(ModelId(0), lengths).unwrap()
            };
            let bits = |all: Vec<f32>| all.into_iter().map(f32::to_bits).collect::<Vec<_>>();
            assert!(bits(of(Graphs::Required)) == bits(of(Graphs::Off)), "{lengths:?}");
        }
    }
}
