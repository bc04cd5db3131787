//! Keys of plans; `covering/table.rs` says what a row is. The keys of its scenario are in that table.

use crate::covering::table::{Key, key};

/// Two types of machines for one model.
pub const BASE: &str = r#"
name = "plan"
robust = []
pools = "homogeneous"
goal = "carry-load"
bad_rate = 0.05
seeds = 2
requests_per_model = 300
precision = 0.1
runners_up = 1

[[instance]]
kind = "slow"
price_usd_per_hour = 0.5
count_max = 5

[[instance]]
kind = "fast"
price_usd_per_hour = 0.9
count_max = 5
speed = 2.0

[scenario]
arrivals = { poisson = { rate_per_s = 500.0 } }

[[scenario.model]]
name = "m"
slo_ms = 40.0
latency = { affine = { alpha_ms = 2.0, beta_ms = 5.0 } }

[[scenario.app]]
name = "a"
model = "m"
time = { constant = { ms = 7.0 } }
"#;

/// Several types in one pool.
const MIXED: &str = "pools = \"heterogeneous\"; instance[0].count_max = 2; \
                     instance[1].count_max = 3; scenario.app[0].sizes = { normal = { mean = 4.0, sd = 3.0, max = 10 } }";
const FLEET: &str = "pools = \"fleet\"";
const BUDGET: &str = "goal = none; budget_usd_per_hour = 1.5";
const DAY: &str = "day = { scale = \"follow\", profile = [[0, 1.0], [12, 0.3]] }";
const LIST: &str = "prices = \"prices.toml\"; instance[0].price_usd_per_hour = none; \
                    instance[0].count_max = 8";
const ZOO: &str = "instance[0].zoo = \"nvidia\"; instance[0].gpu = \"V100-16GB\"; \
                   scenario.model[0].name = \"resnet50v1.5-mixed\"; scenario.app[0].model = \"resnet50v1.5-mixed\"";
const REPLAYED: &str =
    "scenario.arrivals = { queries = { file = \"queries.csv\" }, replay = { times = 2 } }";
const TRACE: &str = "scenario.arrivals = { trace = { file = \"minutes.csv\", rate_per_s = 400.0 } }; \
                     day = { scale = \"peak\", trace_steps = 2 }";

pub const KEYS: &[Key] = &[
    key("name", &["name = \"other\""]),
    key("pools", &[FLEET]),
    key("Pools.fleet", &[FLEET]),
    key("Pools.heterogeneous", &["pools = \"heterogeneous\""]).needs(MIXED_BUT_ITS_POOLS),
    key("budget_usd_per_hour", &[BUDGET]),
    key("growth", &["growth = 2.0"]),
    key("Growth.copies", &["growth = { copies = 2.0 }"]).needs(REPLAYED),
    key("Growth.speed", &["growth = { speed = 2.0 }"]).needs(REPLAYED),
    key("rates_per_s", &["rates_per_s = { m = 900.0 }"]).needs(FLEET),
    key("bad_rate", &["bad_rate = 0.3"]),
    key("finish_rate", &["bad_rate = none; finish_rate = 0.6"]),
    key("percentile", &["bad_rate = none; percentile = 0.6"]),
    key("seed", &["seed = 9"]),
    key("seeds", &["seeds = 3"]),
    key("requests_per_model", &["requests_per_model = 900"]),
    key("precision", &["precision = 0.02"]),
    key("bound_slack", &["bound_slack = 2.0"]).needs(MIXED),
    key("evaluations_max", &["evaluations_max = 1"]).needs(MIXED),
    key("runners_up", &["runners_up = 0"]),
    key("survive", &["survive = 1", "survive = \"slow\""]),
    key("robust", &["robust = [\"load=3\"]"]),
    key("what_if", &["what_if = [\"load=1.5\"]"]),
    key("day", &[DAY]),
    key("Scale.follow", &["day.scale = \"follow\""]).needs("day = { scale = \"peak\", profile = [[0, 1.0], [12, 0.3]] }"),
    key("Scale.peak", &["day.scale = \"peak\""]).needs(DAY),
    key("DayKeys.scale", &["day.scale = \"peak\""]).needs(DAY),
    key("DayKeys.profile", &["day.profile = [[0, 1.0], [4, 0.3]]"]).needs(DAY),
    key("DayKeys.hours", &["day.hours = 168"]).needs(DAY),
    key("DayKeys.start_up_s", &["day.start_up_s = 3600.0"]).needs(DAY),
    key("DayKeys.trace_steps", &["day.trace_steps = 1"]).needs(TRACE),
    key("prices", &[LIST]),
    key("buy", &["buy = \"spot\""]).needs(LIST),
    key("Buy.spot", &["buy = \"spot\""]).needs(LIST),
    key("Buy.reserved", &["buy = \"reserved\""]).needs(LIST),
    key("Buy.on-demand", &["instance[0].buy = \"on-demand\""]).needs(LIST_AND_SPOT),
    key("Instance.buy", &["instance[0].buy = \"spot\""]).needs(LIST),
    key("Instance.offers_of", &["instance[0].offers_of = \"dear\""]).needs(LIST),
    key("Instance.kind", &["instance[0].kind = \"other\""]),
    key("Instance.price_usd_per_hour", &["instance[0].price_usd_per_hour = 0.6"]),
    key("Instance.sold_in", &["instance[0].sold_in = [4]; instance[0].count_max = 8"]),
    key("Instance.count_max", &["instance[0].count_max = 1"]),
    key("Instance.base", &["instance[0].base = true"]).needs(MIXED),
    key("Instance.speed", &["instance[0].speed = 3.0"]),
    key("Instance.zoo", &["instance[0].zoo = \"nvidia\"; instance[0].gpu = \"V100-16GB\""]).needs(
        "scenario.model[0].name = \"resnet50v1.5-mixed\"; scenario.app[0].model = \"resnet50v1.5-mixed\"",
    ),
    key("Instance.gpu", &["instance[0].gpu = \"T4\""]).needs(ZOO),
    key("Instance.latency_on", &["instance[0].latency_on = { m = { affine = { alpha_ms = 1.0, beta_ms = 1.0 } } }"]),
    key("Instance.memory_pages", &["instance[0].memory_pages = 4; instance[1].memory_pages = 4"]).needs(MEMORY),
    key("Instance.can_preempt", &["instance[0].can_preempt = true"])
        .silent("neither of its policies stops a batch"),
    key("scenario_file", &["scenario = none; scenario_file = \"asked.toml\""]),
];

pub const MIXED_WITH_KAIROS: &str = "pools = \"heterogeneous\"; policies = [\"kairos\"]; \
    instance[0].count_max = 2; instance[1].count_max = 3; scenario.arrivals.poisson.rate_per_s = 150.0; \
    scenario.app[0].sizes = { normal = { mean = 4.0, sd = 3.0, max = 10 } }";
const MIXED_BUT_ITS_POOLS: &str = "instance[0].count_max = 2; instance[1].count_max = 3; \
    scenario.app[0].sizes = { normal = { mean = 4.0, sd = 3.0, max = 10 } }";
const LIST_AND_SPOT: &str = "prices = \"prices.toml\"; instance[0].price_usd_per_hour = none; \
                             instance[0].count_max = 8; buy = \"spot\"";
const MEMORY: &str = "scenario.model[0].pages = 2; scenario.model[0].load_ms = 50.0";

/// Keys that are not drawn, with the reason.
pub const EXCUSED: &[(&str, &str)] = &[
    ("policies", "every plan has some: they are drawn beside the keys"),
    ("goal", "in the base plan"),
    ("Goal.carry-load", "in the base plan"),
    ("Pools.homogeneous", "in the base plan"),
    ("instance", "in the base plan"),
    ("scenario", "in the base plan"),
];
