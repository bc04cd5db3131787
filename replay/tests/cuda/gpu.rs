//! What needs a GPU; skipped, and said, where there is none.

use orrery_replay::device::Device;
use orrery_replay::device::cuda::{self, CudaConfig, EncoderConfig, ModelConfig, Workload};
use orrery_sim::request::ModelId;

#[test]
fn the_encoder_on_a_gpu_gives_what_plain_loops_give() {
    if let Some(problem) = cuda::look().problem {
        eprintln!("skipped: {problem}");
        return;
    }
    let encoder = EncoderConfig {
        layers: 4,
        heads: 6,
        hidden: 192,
        max_len: 100,
        max_batch: 5,
        pad_to: 8,
        lengths: EncoderConfig::one_us_a_token(100),
    };
    let model = ModelConfig { pages: 1, workload: Workload::Encoder(encoder) };
    for without_cublas in [true, false] {
        let config = CudaConfig { without_cublas, ..CudaConfig::of(vec![model.clone()]) };
        let mut device = cuda::open(0, config).unwrap();
        let _workers = device.workers(1).unwrap();
        for lengths in [&[1][..], &[17, 100, 3], &[64; 5]] {
            let off = device.encoder_error(ModelId(0), lengths).unwrap();
            let description = device.describe();
            eprintln!("{lengths:?}: off by {off:.2e} ({:?})", description.facts.last());
            assert!(off <= 1e-3, "{lengths:?}: off by {off}; {description:?}");
        }
    }
}
