//! Keys of models, devices, applications, zoos and the autoscaler.

use super::{Key, key};

/// Models that do not all fit: they are loaded and unloaded.
pub const MEMORY: &str = "device[0].memory_pages = 4; model[0].pages = 3; model[0].load_ms = 5.0; \
                          model[1].pages = 2; model[1].load_ms = 3.0";
const SECOND: &str = "device[1] = { kind = \"slow\", count = 1, can_preempt = true }";
const PRICED: &str = "device[1] = { kind = \"slow\", count = 1, can_preempt = true, price_usd_per_hour = 0.5 }; \
                      model[0].latency_on = { slow = { affine = { alpha_ms = 3.0, beta_ms = 9.0 } } }; \
                      model[1].latency_on = { slow = { affine = { alpha_ms = 3.0, beta_ms = 9.0 } } }; \
                      device[0].price_usd_per_hour = 2.0";
const STEPS: &str =
    "model[0].slo_steps = { first_ms = 20.0, factor = 1.5, every_s = 0.1, count = 3 }";
const PENALTIES: &str = "app[0].penalties = [{ deadline_x_slo = 1.0, cost = 1.0 }, { deadline_x_slo = 2.0, cost = 4.0 }]";
const CHANGES: &str = "app[0].changes = [{ at_s = 0.1, weight_factor = 3.0 }]";
const ZOO: &str =
    "zoo = [{ name = \"symphony-1080ti\", models = [\"ResNet50\", \"NASNetMobile\"] }]";
const NVIDIA: &str =
    "zoo = [{ name = \"nvidia\", gpu = \"V100-16GB\", models = [\"resnet50v1.5-mixed\"] }]";
const AUTOSCALE: &str = "autoscale = { every_s = 0.05, startup_s = 0.05, most = 6 }";

pub const KEYS: &[Key] = &[
    key("Model.name", &["model[0].name = \"renamed\"; app[0].model = \"renamed\""]),
    key("Model.copies", &["model[0].copies = 2"]),
    key("Model.slo_ms", &["model[0].slo_ms = 25.0"]),
    key("Model.slo_scale", &["model[1].slo_scale = 0.5"]),
    key("Model.slo_steps", &["model[0].slo_steps = { first_ms = 10.0, factor = 2.0, every_s = 0.1, count = 3 }"]),
    key("SloSteps.first_ms", &["model[0].slo_steps.first_ms = 12.0"]).needs(STEPS),
    key("SloSteps.factor", &["model[0].slo_steps.factor = 0.8"]).needs(STEPS),
    key("SloSteps.every_s", &["model[0].slo_steps.every_s = 0.05"]).needs(STEPS),
    key("SloSteps.count", &["model[0].slo_steps.count = 2"]).needs(STEPS),
    key("Model.penalties", &["model[1].penalties = [{ deadline_x_slo = 1.0, cost = 2.0 }]"]),
    key("PenaltyStep.deadline_x_slo", &["app[0].penalties[1].deadline_x_slo = 1.2"]).needs(PENALTIES),
    key("PenaltyStep.cost", &["app[0].penalties[1].cost = 9.0"]).needs(PENALTIES),
    key("Model.pages", &["model[0].pages = 1"]).needs(MEMORY),
    key("Model.load_ms", &["model[0].load_ms = 11.0"]).needs(MEMORY),
    key("Model.believed", &["model[0].believed = { affine = { alpha_ms = 3.0, beta_ms = 6.0 } }"]),
    key("Model.latency_on", &["model[1].latency_on = { slow = { affine = { alpha_ms = 3.0, beta_ms = 8.0 } } }"])
        .needs(SECOND),
    key("Model.noise", &["model[1].noise = { sigma = 0.4 }"]),
    key("BatchNoise.sigma", &["model[0].noise.sigma = 0.3"]),
    key("BatchNoise.outlier_share", &["model[0].noise.outlier_share = 0.3"])
        .needs("model[0].noise.outlier_factors = [3.0]"),
    key("BatchNoise.outlier_factors", &["model[0].noise.outlier_factors = [2.0, 5.0]"])
        .needs("model[0].noise = { outlier_share = 0.2, outlier_factors = [3.0] }"),
    key("Device.kind", &["device[0].kind = \"other\""])
        .silent("a name, where nothing is told of kinds by name"),
    key("Device.count", &["device[0].count = 1", "device[0].count = 3"]),
    key("Device.per_model", &["device[0].per_model = 0.5"]),
    key("Device.lanes", &["device[0].lanes = 2", "device[0].lanes = 5"]),
    key("Device.sharing", &["device[0].sharing = \"processor\""]).needs("device[0].lanes = 3"),
    key("Sharing.none", &["device[0].sharing = \"none\""]).silent("the default"),
    key("Sharing.processor", &["device[0].sharing = \"processor\""])
        .needs("device[0].lanes = 2; device[0].can_preempt = true"),
    key("Device.can_preempt", &["device[0].can_preempt = true"]),
    key("Device.holds", &["device[0].holds = [[\"m0\"], [\"m0\", \"m1\"]]"]).needs("device[0].count = 2"),
    key("Device.stages", &["device[0].stages = 2"]),
    key("Device.memory_pages", &["device[0].memory_pages = 6"]).needs(MEMORY_BUT_ITS_SIZE),
    key("Device.speed", &["device[0].speed = 0.5", "device[0].speed = 2.0"]),
    key("Device.price_usd_per_hour", &["device[1].price_usd_per_hour = 5.0"]).needs(PRICED),
    key("Device.base", &["device[1].base = true"]).needs(PRICED),
    key("App.group", &["app[1].group = \"g\""]),
    key("App.weight", &["app[0].weight = 3.0"]),
    key("App.size", &["app[0].size = 3"]),
    key("App.sizes", &["app[0].sizes = { normal = { mean = 2.0, sd = 1.0 } }"]),
    key("App.slo_ms", &["app[1].slo_ms = 30.0", "app[2].slo_ms = inf"]),
    key("App.slo_steps", &["app[1].slo_steps = { first_ms = 20.0, factor = 1.5, every_s = 0.1, count = 3 }"]),
    key("App.penalties", &["app[1].penalties = [{ deadline_x_slo = 1.0, cost = 3.0 }, { deadline_x_slo = 1.5, cost = 4.0 }]"]),
    key("App.changes", &["app[1].changes = [{ at_s = 0.15, weight_factor = 5.0 }]"]),
    key("Change.at_s", &["app[0].changes[0].at_s = 0.2"]).needs(CHANGES),
    key("Change.weight_factor", &["app[0].changes[0].weight_factor = 0.2"]).needs(CHANGES),
    key("Change.time_factor", &["app[1].changes = [{ at_s = 0.1, time_factor = 2.0 }]"]),
    key("App.time", &["app[1].time = none; arrivals = { workload = { file = \"workload.csv\" } }; app[0].time = none; app[2].time = none"])
        .needs("arrivals = { workload = { file = \"workload.csv\" } }"),
    key("zoo", &[ZOO]),
    key("Zoo.name", &["zoo[0].name = \"symphony-a100\""]).needs(ZOO),
    key("Zoo.gpu", &["zoo[0].gpu = \"T4\""]).needs(NVIDIA),
    key("Zoo.models", &["zoo[0].models = [\"ResNet50\"]"]).needs(ZOO),
    key("Zoo.select", &["zoo[0].select = \"weak\""]).needs("zoo = [{ name = \"symphony-1080ti\" }]"),
    key("Select.strong", &["zoo[0].select = \"strong\""]).needs("zoo = [{ name = \"symphony-1080ti\" }]"),
    key("Select.weak", &["zoo[0].select = \"weak\""]).needs("zoo = [{ name = \"symphony-a100\" }]"),
    key("Zoo.copies", &["zoo[0].copies = 2"]).needs(ZOO),
    key("Zoo.prefix", &["zoo[0].prefix = \"z-\""]).needs(ZOO),
    key("Zoo.group", &["zoo[0].group = \"z\""]).needs(ZOO),
    key("Zoo.between", &["zoo[0].between = \"next\""]).needs(NVIDIA),
    key("Zoo.slo_ms", &["zoo[0].slo_ms = 90.0"]).needs(ZOO),
    key("Zoo.slo_steps", &["zoo[0].slo_steps = { first_ms = 70.0, factor = 1.5, every_s = 0.1, count = 3 }"]).needs(ZOO),
    key("Zoo.sizes", &["zoo[0].sizes = { normal = { mean = 2.0, sd = 1.0 } }"]).needs(ZOO),
    // Without `most` it comes to 1,000 devices, and the naive engine to seconds.
    key("autoscale", &["autoscale = { every_s = 0.04, startup_s = 0.02, most = 40 }"]),
    key("Autoscale.kind", &["autoscale.kind = \"slow\""]).needs(SLOW_AND_AUTOSCALE),
    key("Autoscale.every_s", &["autoscale.every_s = 0.02"]).needs(AUTOSCALE),
    key("Autoscale.threshold", &["autoscale.threshold = 0.9"]).needs(AUTOSCALE),
    key("Autoscale.spare", &["autoscale.spare = 0.6"]).needs(AUTOSCALE),
    key("Autoscale.least", &["autoscale.least = 4"]).needs(AUTOSCALE),
    key("Autoscale.most", &["autoscale.most = 2"]).needs(AUTOSCALE),
    key("Autoscale.startup_s", &["autoscale.startup_s = 0.0"]).needs(AUTOSCALE),
];

const MEMORY_BUT_ITS_SIZE: &str = "device[0].count = 1; model[0].pages = 3; model[0].load_ms = 5.0; \
                                   model[1].pages = 2; model[1].load_ms = 3.0";
const SLOW_AND_AUTOSCALE: &str = "device[1] = { kind = \"slow\", count = 1, can_preempt = true }; \
                                  model[0].latency_on = { slow = { affine = { alpha_ms = 3.0, beta_ms = 9.0 } } }; \
                                  model[1].latency_on = { slow = { affine = { alpha_ms = 3.0, beta_ms = 9.0 } } }; \
                                  autoscale = { every_s = 0.05, startup_s = 0.05, most = 6 }";
