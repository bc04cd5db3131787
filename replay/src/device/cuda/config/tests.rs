use super::*;

fn encoder() -> EncoderConfig {
    EncoderConfig {
        layers: 2,
        heads: 4,
        hidden: 64,
        max_len: 128,
        max_batch: 8,
        pad_to: 16,
        lengths: vec![(16, 100.0), (64, 300.0), (128, 1000.0)],
    }
}

/// One that runs these models, with nothing special.
fn running(models: Vec<ModelConfig>) -> CudaConfig {
    CudaConfig { models, ..toml::from_str("models = []").unwrap() }
}

#[test]
fn curves_are_the_papers() {
    let ms = Span::from_ms;
    let eq3 = Curve::Eq3 { c0_us: 500.0, c1: 0.25 };
    assert_eq!(eq3.duration(1, ms(10)), ms(3));
    assert_eq!(eq3.duration(4, ms(10)).ns(), 10_500_000);
    let affine = Curve::Affine { alpha_us: 1000.0, beta_us: 5000.0 };
    assert_eq!(affine.duration(3, ms(77)), ms(8));
}

#[test]
fn a_time_alone_becomes_a_length_and_back() {
    let encoder = encoder();
    let us = |n| encoder.length(Span::from_us(n));
    assert_eq!([us(1), us(100), us(300), us(1000), us(9_999)], [16, 16, 64, 128, 128]);
    assert_eq!(us(200), 40);
    assert!((100..1000).all(|n| us(n) <= us(n + 1)), "longer times give longer sequences");
    assert_eq!([1, 16, 17, 128].map(|n| encoder.padded(n)), [16, 16, 32, 128]);
    let plain = EncoderConfig { lengths: EncoderConfig::one_us_a_token(128), ..encoder };
    assert!((1..=128).all(|n| plain.length(Span::from_us(u64::from(n))) == n));
}

#[test]
fn a_campaign_s_words_are_read_and_written() {
    let text = "chunk_us = 500.0\n\
        [[models]]\npages = 7\nworkload = { timed = { eq3 = { c0_us = 100.0, c1 = 0.3 } } }\n\
        [[models]]\nworkload = { encoder = { layers = 2, heads = 4, hidden = 64, max_len = 128, \
        max_batch = 8, lengths = [[16, 100.0], [64, 300.0], [128, 1000.0]] } }\n";
    let config: CudaConfig = toml::from_str(text).unwrap();
    config.check("cuda:0").unwrap();
    assert_eq!(config.models[1].workload, Workload::Encoder(encoder()));
    assert_eq!(config.pages(), 7);
    assert_eq!(toml::from_str::<CudaConfig>(&toml::to_string(&config).unwrap()).unwrap(), config);
    assert!(toml::from_str::<CudaConfig>(&text.replace("pages", "page")).is_err());
}

#[test]
fn what_cannot_run_is_refused_with_its_key() {
    let with = |workload| running(vec![ModelConfig { pages: 3, workload }]);
    let good = with(Workload::Encoder(encoder()));
    let changed = |change: &dyn Fn(&mut EncoderConfig)| {
        let mut encoder = encoder();
        change(&mut encoder);
        with(Workload::Encoder(encoder))
    };
    good.check("cuda:0").unwrap();
    let refused = [
        (CudaConfig { models: Vec::new(), ..good.clone() }, "`models` is empty"),
        (CudaConfig { chunk_us: Some(f64::NAN), ..good.clone() }, "`chunk_us`"),
        (CudaConfig { cache_pages: Some(2), ..good.clone() }, "`cache_pages` is 2"),
        (changed(&|e| e.heads = 3), "`heads` is 3"),
        (changed(&|e| e.layers = 0), "`layers` is 0"),
        (changed(&|e| e.max_batch = 4_097), "`max_batch` is 4097"),
        (
            changed(&|e| (e.max_batch, e.max_len, e.heads) = (4_096, 1_040, 1)),
            "`max_batch` times the padded `max_len` is 4259840",
        ),
        (changed(&|e| e.lengths.clear()), "`lengths` is empty"),
        (changed(&|e| e.lengths[1].1 = 100.0), "both must grow"),
        (changed(&|e| e.lengths[2].0 = 129), "`max_len` (128)"),
        (with(Workload::Timed(Curve::Eq3 { c0_us: -1.0, c1: 0.0 })), "models[0].workload.c0_us"),
    ];
    for (config, key) in refused {
        let error = config.check("cuda:0").expect_err(key).to_string();
        assert!(error.starts_with("cuda:0: ") && error.contains(key), "{error}");
    }
}
