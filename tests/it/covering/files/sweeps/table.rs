//! Keys of sweeps; `covering/table.rs` says what a row is.

use crate::covering::table::{Key, key};

/// Three deadlines of the base scenario of `covering/table.rs`.
pub const BASE: &str = r#"
name = "sweep"
scenario = "world.toml"
seeds = 1

[[axis]]
key = "model[0].slo_ms"
values = [30.0, 40.0, 55.0]
"#;

const UNTIL: &str = "until_ci = 0.0001; max_seeds = 4";
const GOODPUT: &str = "goodput = { requests_per_model = 1000, tolerance = 0.2, target = 0.1, warm_up_s = 0.0, \
                       least_s = 0.2 }; axis[0].values = [40.0]";
const POINT: &str =
    "point = [{ name = \"p\", set = { \"model[1].slo_ms\" = 30.0 } }, { name = \"q\" }]";
const SAMPLE: &str = "sample = { count = 1, seed = 1 }";

pub const KEYS: &[Key] = &[
    key("name", &["name = \"other\""]),
    key("scenario", &["scenario = \"other.toml\""]),
    key("seeds", &["seeds = 3"]),
    key("first_seed", &["first_seed = 12"]),
    key("until_ci", &["until_ci = 0.01"]).needs("max_seeds = 5; until_ci = 1.0"),
    key("max_seeds", &["max_seeds = 3"]).needs(UNTIL),
    key("compare_to", &["compare_to = \"eager\""]),
    key("set", &["set = { \"arrivals.requests\" = 90 }"]),
    key("point", &[POINT]),
    key("Point.name", &["point[0].name = \"r\""]).needs(POINT),
    key("Point.axes", &["point[0].axes = \"of=r\""]).needs(POINT),
    key("Point.set", &["point[1].set = { \"model[1].slo_ms\" = 50.0 }"]).needs(POINT),
    key("sample", &["sample = { count = 2, seed = 3 }"]),
    key("Sample.count", &["sample.count = 2"]).needs(SAMPLE),
    key("Sample.seed", &["sample.seed = 5"]).needs(SAMPLE),
    key("Axis.name", &["axis[0].name = \"renamed\""]),
    key("Axis.key", &["axis[0].key = \"model[1].slo_ms\""]),
    key(
        "Axis.keys",
        &["axis[0].key = none; axis[0].keys = [\"model[0].slo_ms\", \"model[1].slo_ms\"]"],
    ),
    key("Axis.values", &["axis[0].values = [35.0]"]),
    key(
        "Axis.point",
        &["axis[0].key = none; axis[0].values = none; axis[0].name = \"which\"; axis[0].point = \
                         [{ name = \"s\", set = { \"model[0].slo_ms\" = 70.0 } }, { name = \"t\" }]"],
    ),
    key("axis", &["axis[1] = { key = \"arrivals.requests\", values = [80, 90] }"]),
    key("goodput", &[GOODPUT]),
    key("Search.find", &["goodput.find = \"devices\""]).needs(GOODPUT),
    key("Find.devices", &["goodput.find = \"devices\""]).needs(GOODPUT),
    key("Search.criterion", &["goodput.criterion = \"p99\""]).needs(GOODPUT),
    key("Criterion.p99", &["goodput.criterion = \"p99\""]).needs(GOODPUT),
    key("Search.target", &["goodput.target = 0.3"]).needs(GOODPUT),
    key("Search.requests_per_model", &["goodput.requests_per_model = 3000"]).needs(GOODPUT),
    key("Search.tolerance", &["goodput.tolerance = 0.02"]).needs(GOODPUT),
    key("Search.warm_up_s", &["goodput.warm_up_s = 0.3"]).needs(GOODPUT),
    key("Search.least_s", &["goodput.least_s = 100.0"]).needs(GOODPUT),
    key("Search.probe_s", &["goodput.probe_s = 1.0"]).needs(GOODPUT),
];

/// Keys that are not drawn, with the reason.
pub const EXCUSED: &[(&str, &str)] = &[
    ("policies", "every sweep has some: they are drawn beside the keys"),
    ("Find.rate", "the default"),
    ("Criterion.bad-rate", "the default"),
];
