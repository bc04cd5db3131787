//! Keys of laws: latencies, execution times, sizes.

use super::{Key, key};

const EQ3: &str = "model[1].latency = { eq3 = { c0_ms = 2.0, c1 = 0.5 } }";
const AFFINE: &str = "model[0].latency = { affine = { alpha_ms = 1.0, beta_ms = 4.0 } }";
const PROPORTIONAL: &str = "model[1].latency = { proportional = { c1 = 0.5 } }";
const POLY: &str = "model[1].latency = { poly = { c0_ms = 2.0, c1 = 0.3, c2_per_ms = 0.02 } }";
const GRID: &str = "model[1].latency = { grid = { lengths_ms = [4.0, 9.0], rows = [[1, [4.0, 8.0]], [4, [9.0, 20.0]]] } }";
const PROFILE: &str = "model[0].latency = { profile = { file = \"profile.toml\" } }";
const CSV: &str = "model[0].latency = { profile = { file = \"latencies.csv\", gpu = \"T4\" } }";
const NORMAL: &str = "app[1].time = { normal = { mean_ms = 8.0, sd_ms = 2.0 } }";
const LOGNORMAL: &str = "app[1].time = { lognormal = { mean_ms = 8.0, sd_ms = 4.0 } }";
const SAMPLES: &str = "app[1].time = { samples = { file = \"times.csv\", column = \"took\" } }";
const LENGTHS: &str = "app[1].time = { lengths = { file = \"lengths.csv\", column = \"len\", base_ms = 3.0, per_token_ms = 0.3 } }";
const EXPONENTIAL: &str = "app[1].time = { exponential = { mean_ms = 6.0 } }";
const TWO_GROUP: &str = "app[1].time = { two_group = { mean_ms = 7.0, p99_ms = 20.0 } }";
const SIZES_LOGNORMAL: &str = "app[0].sizes = { lognormal = { mu = 0.5, sigma = 0.7 } }";
const SIZES_NORMAL: &str = "app[0].sizes = { normal = { mean = 3.0, sd = 1.0 } }";
const SIZES_SAMPLES: &str =
    "app[0].sizes = { samples = { file = \"lengths.csv\", column = \"n\" } }";

pub const KEYS: &[Key] = &[
    key("LatencyLaw.affine.alpha_ms", &["model[0].latency.affine.alpha_ms = 3.0"]).needs(AFFINE),
    key("LatencyLaw.affine.beta_ms", &["model[0].latency.affine.beta_ms = 1.0"]).needs(AFFINE),
    key("LatencyLaw.eq3.c0_ms", &["model[1].latency.eq3.c0_ms = 5.0"]).needs(EQ3),
    key("LatencyLaw.eq3.c1", &["model[1].latency.eq3.c1 = 0.2"]).needs(EQ3),
    key("LatencyLaw.proportional", &["model[1].latency = { proportional = { c1 = 0.4 } }"]),
    key("LatencyLaw.proportional.c1", &["model[1].latency.proportional.c1 = 0.1"]).needs(PROPORTIONAL),
    key("LatencyLaw.poly", &[POLY]),
    key("LatencyLaw.poly.c0_ms", &["model[1].latency.poly.c0_ms = 4.0"]).needs(POLY),
    key("LatencyLaw.poly.c1", &["model[1].latency.poly.c1 = 0.6"]).needs(POLY),
    key("LatencyLaw.poly.c2_per_ms", &["model[1].latency.poly.c2_per_ms = 0.0"]).needs(POLY),
    key("LatencyLaw.grid", &[GRID]),
    key("LatencyLaw.grid.lengths_ms", &["model[1].latency.grid.lengths_ms = [6.5, 12.0]"]).needs(GRID),
    key("LatencyLaw.grid.rows", &["model[1].latency.grid.rows = [[1, [2.0, 5.0]], [3, [4.0, 6.0]]]"]).needs(GRID),
    key("LatencyLaw.table", &["model[0].latency = { table = [[1, 4.0], [3, 6.0], [8, 15.0]] }"]),
    key("Model.between", &["model[0].between = \"next\""])
        .needs("model[0].latency = { table = [[1, 4.0], [8, 15.0]] }"),
    key("Between.linear", &["model[0].between = \"linear\""]).silent("the default"),
    key("Between.next", &["model[0].between = \"next\""])
        .needs("model[0].latency = { table = [[1, 4.0], [8, 15.0]] }"),
    key("LatencyLaw.samples", &["device[0].kind = \"g4dn.xlarge\"; model[0].latency = { samples = \"rm2@g4dn.xlarge\" }"]),
    key("LatencyLaw.measured", &["model[0].latency = { measured = [[1, [4.0, 6.0]], [4, [8.0, 9.0, 10.0]]] }"]),
    key("LatencyLaw.profile", &[PROFILE]),
    key("LatencyLaw.profile.file", &["model[0].latency.profile.file = \"latencies.csv\""]).needs(CSV_OF_TWO),
    key("LatencyLaw.profile.model", &["model[0].latency.profile.model = \"other\""]).needs(PROFILE),
    key("LatencyLaw.profile.gpu", &["model[0].latency.profile.gpu = \"A10\""]).needs(CSV),
    key("TimeLaw.constant.ms", &["app[2].time.constant.ms = 11.0"]).needs("app[2].time = { constant = { ms = 6.0 } }"),
    key("TimeLaw.normal.mean_ms", &["app[1].time.normal.mean_ms = 5.0"]).needs(NORMAL),
    key("TimeLaw.normal.sd_ms", &["app[1].time.normal.sd_ms = 0.0", "app[1].time.normal.sd_ms = 4.0"]).needs(NORMAL),
    key("TimeLaw.lognormal", &[LOGNORMAL]),
    key("TimeLaw.lognormal.mean_ms", &["app[1].time.lognormal.mean_ms = 5.0"]).needs(LOGNORMAL),
    key("TimeLaw.lognormal.sd_ms", &["app[1].time.lognormal.sd_ms = 9.0"]).needs(LOGNORMAL),
    key("TimeLaw.exponential", &[EXPONENTIAL]),
    key("TimeLaw.exponential.mean_ms", &["app[1].time.exponential.mean_ms = 9.0"]).needs(EXPONENTIAL),
    key("TimeLaw.modes", &["app[1].time = { modes = [[0.7, 5.0, 1.0], [0.3, 15.0, 2.0]] }"]),
    key("TimeLaw.samples", &[SAMPLES]),
    key("TimeLaw.samples.file", &["app[1].time.samples.file = \"lengths.csv\""])
        .needs("app[1].time = { samples = { file = \"times.csv\", column = \"n\" } }"),
    key("TimeLaw.samples.column", &["app[1].time.samples.column = \"n\""]).needs(SAMPLES),
    key("TimeLaw.samples.unit", &["app[1].time.samples.unit = \"us\""]).needs(SAMPLES),
    key("Unit.ns", &["app[1].time.samples.unit = \"ns\""]).needs(SAMPLES),
    key("Unit.us", &["app[1].time.samples.unit = \"us\""]).needs(SAMPLES),
    key("Unit.s", &["app[1].time.samples.unit = \"s\""]).needs("app[1].time = { samples = { file = \"times.csv\", column = \"took\" } }; allow_hopeless_slo = true"),
    key("TimeLaw.lengths", &[LENGTHS]),
    key("TimeLaw.lengths.file", &["app[1].time.lengths.file = \"times.csv\""])
        .needs("app[1].time = { lengths = { file = \"lengths.csv\", column = \"n\", base_ms = 3.0, per_token_ms = 0.3 } }"),
    key("TimeLaw.lengths.column", &["app[1].time.lengths.column = \"n\""]).needs(LENGTHS),
    key("TimeLaw.lengths.count_column", &["app[1].time.lengths.count_column = \"often\""]).needs(LENGTHS),
    key("TimeLaw.lengths.base_ms", &["app[1].time.lengths.base_ms = 6.0"]).needs(LENGTHS),
    key("TimeLaw.lengths.per_token_ms", &["app[1].time.lengths.per_token_ms = 0.6"]).needs(LENGTHS),
    key("TimeLaw.two_group", &[TWO_GROUP]),
    key("TimeLaw.two_group.mean_ms", &["app[1].time.two_group.mean_ms = 9.0"]).needs(TWO_GROUP),
    key("TimeLaw.two_group.p99_ms", &["app[1].time.two_group.p99_ms = 15.0"]).needs(TWO_GROUP),
    key("TimeLaw.two_group.short_share", &["app[1].time.two_group.short_share = 0.6"]).needs(TWO_GROUP),
    key("SizesLaw.kairos", &["app[0].sizes = \"kairos\""]),
    key("SizesLaw.lognormal", &[SIZES_LOGNORMAL]),
    key("SizesLaw.lognormal.mu", &["app[0].sizes.lognormal.mu = 0.0"]).needs(SIZES_LOGNORMAL),
    key("SizesLaw.lognormal.sigma", &["app[0].sizes.lognormal.sigma = 1.2"]).needs(SIZES_LOGNORMAL),
    key("SizesLaw.lognormal.max", &["app[0].sizes.lognormal.max = 2"]).needs(SIZES_LOGNORMAL),
    key("SizesLaw.normal", &[SIZES_NORMAL]),
    key("SizesLaw.normal.mean", &["app[0].sizes.normal.mean = 2.0"]).needs(SIZES_NORMAL),
    key("SizesLaw.normal.sd", &["app[0].sizes.normal.sd = 3.0"]).needs(SIZES_NORMAL),
    key("SizesLaw.normal.max", &["app[0].sizes.normal.max = 3"]).needs(SIZES_NORMAL),
    key("SizesLaw.samples", &[SIZES_SAMPLES]),
    key("SizesLaw.samples.file", &["app[0].sizes.samples.file = \"times.csv\""]).needs(SIZES_SAMPLES),
    key("SizesLaw.samples.column", &["app[0].sizes.samples.column = \"len\""]).needs(SIZES_SAMPLES),
    key("SizesLaw.samples.count_column", &["app[0].sizes.samples.count_column = \"often\""]).needs(SIZES_SAMPLES),
];

const CSV_OF_TWO: &str = "model[0].latency = { profile = { file = \"other.csv\", gpu = \"T4\" } }";
