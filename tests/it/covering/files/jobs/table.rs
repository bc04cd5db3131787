//! Keys of files of jobs; `covering/table.rs` says what a row is.

use crate::covering::table::{Key, key};

/// Jobs that lanes and workers are too few for.
pub const BASE: &str = r#"
seed = 3

[jobs]
memory_mb = 16000.0
workers = 3

[[jobs.job]]
count = 2
iterations = 6
iteration_ms = 10.0
persistent_mb = 1000.0
ephemeral_mb = 5000.0
busy = 0.7

[[jobs.job]]
at_s = 0.02
iterations = 9
iteration_ms = 7.0
persistent_mb = 500.0
ephemeral_mb = 3500.0
busy = 0.7

[[jobs.job]]
at_s = 0.05
iterations = 4
iteration_ms = 20.0
persistent_mb = 300.0
ephemeral_mb = 9000.0
"#;

// One way to say what the jobs are removes the others, so that no file has two.
const FILE: &str =
    "jobs.job = none; jobs.generate = none; jobs.halving = none; jobs.file = \"jobs.csv\"";
const GENERATE: &str = "jobs.job = none; jobs.file = none; jobs.halving = none; jobs.generate = { count = 6, \
                        work_min = 0.5, sigma = 1.0, gap_mean_s = 3.0, busy = 0.8 }";
const HALVING: &str = "jobs.job = none; jobs.file = none; jobs.generate = none; jobs.halving = { trials = 6, \
                       rungs = 2, rung_s = 0.5, iterations = 10 }";

pub const KEYS: &[Key] = &[
    key("name", &["name = \"other\""]),
    key("seed", &["seed = 4"]).needs(GENERATE),
    key("Jobs.memory_mb", &["jobs.memory_mb = 14000.0"]),
    key("Jobs.workers", &["jobs.workers = 2", "jobs.workers = 5"]),
    key("Jobs.alpha", &["jobs.alpha = 3.0"]),
    key("Jobs.beta", &["jobs.beta = 1.5"]).needs("jobs.alpha = 2.0"),
    key("Jobs.file", &[FILE]),
    key("Jobs.generate", &[GENERATE]),
    key("Jobs.halving", &[HALVING]),
    key("JobEntry.count", &["jobs.job[0].count = 3"]),
    key("JobEntry.at_s", &["jobs.job[1].at_s = 0.04"]),
    key("JobEntry.iterations", &["jobs.job[0].iterations = 11"]),
    key("JobEntry.iteration_ms", &["jobs.job[0].iteration_ms = 13.0"]),
    key("JobEntry.persistent_mb", &["jobs.job[0].persistent_mb = 2500.0"]),
    key("JobEntry.ephemeral_mb", &["jobs.job[1].ephemeral_mb = 8000.0"]),
    key("JobEntry.busy", &["jobs.job[0].busy = 0.2"]),
    key("JobEntry.stage", &["jobs.job[1].stage = 1"]),
    key("Generate.count", &["jobs.generate.count = 9"]).needs(GENERATE),
    key("Generate.work_min", &["jobs.generate.work_min = 0.8"]).needs(GENERATE),
    key("Generate.sigma", &["jobs.generate.sigma = 0.3"]).needs(GENERATE),
    key("Generate.order_exponent", &["jobs.generate.order_exponent = 3.0"]).needs(GENERATE),
    key("Generate.gap_mean_s", &["jobs.generate.gap_mean_s = 1.0"]).needs(GENERATE),
    key("Generate.busy", &["jobs.generate.busy = 0.3"]).needs(GENERATE),
    key("Generate.persistent_scale", &["jobs.generate.persistent_scale = 2.0"]).needs(GENERATE),
    key("Halving.trials", &["jobs.halving.trials = 9"]).needs(HALVING),
    key("Halving.factor", &["jobs.halving.factor = 3"]).needs(HALVING),
    key("Halving.rungs", &["jobs.halving.rungs = 3"]).needs(HALVING),
    key("Halving.rung_s", &["jobs.halving.rung_s = 0.7"]).needs(HALVING),
    key("Halving.iterations", &["jobs.halving.iterations = 7"]).needs(HALVING),
];

/// Keys that are not drawn, with the reason.
pub const EXCUSED: &[(&str, &str)] = &[
    ("policies", "every file has one: it is drawn beside the keys"),
    ("jobs", "every file has it"),
    ("Jobs.job", "in the base file"),
];
