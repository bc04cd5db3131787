//! The device against references in doubles, and its workers.

#[path = "../../../tests/it/cuda/reference.rs"]
mod reference;

use super::*;
use crate::clock::{CONTROLLER, Clock, DEFAULT_SPIN, WallClock};
use crate::device::encoder::EncoderConfig;
use crate::device::encoder::plan::{Part, Shape};
use crate::device::{Job, Place, Stop, Work};
use orrery_sim::request::{ActionId, DeviceId, RequestId};
use orrery_sim::time::Time;

fn encoder(layers: u32, hidden: u32) -> EncoderConfig {
    EncoderConfig {
        layers,
        heads: 4,
        hidden,
        max_len: 64,
        max_batch: 5,
        pad_to: 16,
        lengths: EncoderConfig::one_us_a_token(64),
    }
}

fn forward(config: &EncoderConfig, lengths: &[u32]) -> (Vec<f32>, Vec<f32>, Vec<f32>) {
    let weights = random::weights(&config.shape(), 3);
    let largest = (config.max_batch, config.padded(config.max_len));
    let input = random::input(&config.shape(), largest.0, largest.1, 3);
    let mut work = config.work();
    let length = config.padded(lengths.iter().copied().max().unwrap_or(1));
    work.buffers.take(&input, lengths.iter().copied());
    work.current = (lengths.len() as u32, length);
    (0..work.layers()).for_each(|layer| work.run(layer, &weights));
    (work.output(config).to_vec(), weights, input)
}

#[test]
fn the_encoder_computes_what_the_reference_does() {
    for (layers, hidden, lengths) in
        [(2, 32, vec![20, 3, 31]), (1, 64, vec![64, 64, 1, 17, 40]), (3, 48, vec![7])]
    {
        let config = encoder(layers, hidden);
        let (output, ..) = forward(&config, &lengths);
        let worst = reference::off_by(&config, 3, &lengths, &output);
        assert!(worst < 1e-4, "{layers} layers of width {hidden}: {worst}");
    }
}

#[test]
fn padding_changes_no_real_token() {
    let config = encoder(2, 32);
    // Of one sequence the tokens lie in front, however far it is padded.
    let (output, weights, input) = forward(&config, &[5]);
    let real = 5 * 32;
    let alone = reference::forward(&config.shape(), &weights, &input[..real], &[5], 5);
    assert!(output.iter().zip(&alone).all(|(g, w)| (f64::from(*g) - w).abs() < 1e-4));
}

fn config(preempt: Preempt) -> CpuConfig {
    let large = EncoderConfig { layers: 40, hidden: 64, ..encoder(1, 64) };
    let model = |workload| CpuModel { workload, copy: Copied::default(), weights_mib: 0 };
    CpuConfig {
        seed: 1,
        preempt,
        models: vec![
            model(Workload { encoder: large }),
            model(Workload { encoder: encoder(1, 32) }),
        ],
    }
}

fn job(units: u32, longest: Span) -> Job {
    let (model, first) = (ModelId(0), RequestId(7));
    Job {
        action: ActionId(1),
        device: DeviceId(0),
        kind: 0,
        executor: 0,
        began: Time::ZERO,
        fetch: Span::ZERO,
        work: Work::Batch { model, units, longest, total: longest, first },
    }
}

/// Only where there is a core besides the controller's.
fn opened(preempt: Preempt) -> Option<CpuDevice> {
    (cores().len() > 1).then(|| open(1, &config(preempt)).unwrap())
}

#[test]
fn a_batch_takes_time_by_the_thread_s_own_clock_and_a_stop_ends_it_between_layers() {
    let Some(mut device) = opened(Preempt::Layer) else { return };
    let _unpinned = crate::threads::Unpinned::later();
    let mut workers = device.workers(1).unwrap();
    let clock = WallClock::start(1, DEFAULT_SPIN, false);
    clock.enter(CONTROLLER);
    let place = Place { clock: &clock, me: CONTROLLER };
    let lane = workers[0].as_mut();
    lane.start().unwrap();
    let ran = lane.run(&job(5, Span::from_us(64)), &place, &Stop::default()).unwrap();
    assert!(!ran.stopped && ran.device > Span::ZERO);
    // Two clocks are read one after the other.
    assert!(ran.device <= ran.end.since(ran.start) + Span::from_us(50), "{ran:?}");
    let stop = Stop::default();
    stop.set();
    let stopped = lane.run(&job(5, Span::from_us(64)), &place, &stop).unwrap();
    assert!(stopped.stopped && stopped.device < ran.device, "{stopped:?} {ran:?}");
    let large = lane.run(&job(6, Span::from_us(64)), &place, &Stop::default());
    assert!(large.unwrap_err().to_string().contains("max_batch"));
    let load = Job {
        work: Work::Load { model: ModelId(0), time: Span::from_ms(1) },
        executor: 1,
        ..job(1, Span::ZERO)
    };
    let loaded = workers[1].run(&load, &place, &Stop::default()).unwrap();
    assert!(loaded.device > Span::ZERO);
}

#[test]
fn a_load_writes_what_layers_read() {
    let Some(mut device) = opened(Preempt::None) else { return };
    device.models[1].weights.write().unwrap().fill(0.0);
    let _unpinned = crate::threads::Unpinned::later();
    let clock = WallClock::start(1, DEFAULT_SPIN, false);
    clock.enter(CONTROLLER);
    let place = Place { clock: &clock, me: CONTROLLER };
    let mut workers = device.workers(1).unwrap();
    let work = Work::Load { model: ModelId(1), time: Span::ZERO };
    let load = Job { work, ..job(1, Span::ZERO) };
    workers[1].run(&load, &place, &Stop::default()).unwrap();
    let model = &device.models[1];
    assert_eq!(*model.weights.read().unwrap(), model.master);
    assert!(model.master.iter().any(|w| *w != 0.0));
}

#[test]
fn steps_are_the_padded_lengths() {
    let us = |n| Span::from_us(n);
    let e = encoder(1, 32);
    assert_eq!(e.steps(), [16, 32, 48, 64].map(us));
    // What lies between two steps is computed as the longer one.
    assert_eq!([16, 17, 32].map(|l| e.padded(e.length(us(l)))), [16, 32, 32]);
}

#[test]
fn what_is_wrong_is_said() {
    let many = cores().len() + 3;
    let error = |core, config: &CpuConfig| open(core, config).err().map(|e| e.to_string());
    let fine = config(Preempt::None);
    assert!(error(many, &fine).unwrap().contains("was given"));
    assert!(error(0, &fine).unwrap().contains("controller"));
    if cores().len() < 2 {
        return;
    }
    let changed = |change: &dyn Fn(&mut CpuConfig)| {
        let mut config = config(Preempt::None);
        change(&mut config);
        error(1, &config).unwrap_or_default()
    };
    assert!(changed(&|c| c.models.clear()).contains("`models` is empty"));
    assert!(changed(&|c| c.models[0].weights_mib = 9_999).contains("weights_mib"));
    assert!(changed(&|c| c.models[0].copy.in_bytes = u32::MAX).contains("copy"));
    let bad =
        |e: EncoderConfig| changed(&|c| c.models[0].workload = Workload { encoder: e.clone() });
    assert!(
        bad(EncoderConfig { lengths: vec![], ..encoder(1, 32) }).contains("`lengths` is empty")
    );
    assert!(bad(EncoderConfig { heads: 5, ..encoder(1, 32) }).contains("heads"));
    assert!(bad(EncoderConfig { max_len: 32, ..encoder(1, 32) }).contains("max_len"));
    let mut device = open(1, &fine).unwrap();
    let lanes = device.workers(200).err().unwrap().to_string();
    assert!(lanes.contains("lanes need cores"), "{lanes}");
}
