//! Keys of the run: seeds, what is measured and printed, message delays, what policies are told.

use super::{Key, key};

const SCHEDULER: &str = "scheduler = { request_us = 100.0, action_us = 100.0, result_us = 100.0 }";
const CHANGED: &str = "app[1].changes = [{ at_s = 0.1, weight_factor = 4.0, time_factor = 1.5 }]";

pub const KEYS: &[Key] = &[
    key("name", &["name = \"other\""]),
    key("seed", &["seed = 8"]),
    key("exact_quantiles", &["exact_quantiles = true"]),
    key("scopes", &["scopes = \"groups\""]).needs("scopes = \"each\"; app[0].group = \"g\""),
    key("Scopes.groups", &["scopes = \"groups\""]),
    key("warm_up_s", &["warm_up_s = 0.1"]),
    key("until_s", &["until_s = 0.25"]),
    key("allow_hopeless_slo", &["allow_hopeless_slo = true"])
        .silent("it lets a world through that is refused without it"),
    key("popularity", &["popularity = { zipf = 1.5 }"]),
    key("Popularity.zipf", &["popularity = { zipf = 0.5 }"]).needs("popularity = { zipf = 1.5 }"),
    key("popularity_seed", &["popularity_seed = 5"]).needs("popularity = { zipf = 1.5 }"),
    key("delays", &["delays = { dispatch_ms = 1.0, result_ms = 1.0 }"]),
    key("Delays.dispatch_ms", &["delays.dispatch_ms = 2.0"]),
    key("Delays.fetch_per_request_ms", &["delays.fetch_per_request_ms = 0.5"]),
    key("Delays.result_ms", &["delays.result_ms = 2.0"]),
    key("Delays.reply_ms", &["delays.reply_ms = 2.0"]),
    key("Delays.dispatch", &["delays.dispatch = { uniform = { low_ms = 0.5, high_ms = 3.0 } }"]),
    key("Delays.result", &["delays.result = { uniform = { low_ms = 0.5, high_ms = 3.0 } }"]),
    key("Delays.reply", &["delays.reply = { uniform = { low_ms = 0.5, high_ms = 3.0 } }"]),
    key("DelayLaw.constant", &["delays.reply = { constant = { ms = 2.0 } }"]),
    key("DelayLaw.constant.ms", &["delays.reply.constant.ms = 3.0"])
        .needs("delays.reply = { constant = { ms = 2.0 } }"),
    key("DelayLaw.uniform", &["delays.reply = { uniform = { low_ms = 1.0, high_ms = 4.0 } }"]),
    key("DelayLaw.uniform.low_ms", &["delays.dispatch.uniform.low_ms = 0.0"])
        .needs("delays.dispatch = { uniform = { low_ms = 1.0, high_ms = 2.0 } }"),
    key("DelayLaw.uniform.high_ms", &["delays.dispatch.uniform.high_ms = 4.0"])
        .needs("delays.dispatch = { uniform = { low_ms = 1.0, high_ms = 2.0 } }"),
    key(
        "DelayLaw.lognormal",
        &["delays.result = { lognormal = { median_ms = 1.0, p9999_ms = 9.0 } }"],
    ),
    key("DelayLaw.lognormal.median_ms", &["delays.dispatch.lognormal.median_ms = 2.0"])
        .needs("delays.dispatch = { lognormal = { median_ms = 1.0, p9999_ms = 9.0 } }"),
    key("DelayLaw.lognormal.p9999_ms", &["delays.dispatch.lognormal.p9999_ms = 20.0"])
        .needs("delays.dispatch = { lognormal = { median_ms = 1.0, p9999_ms = 9.0 } }"),
    key("scheduler", &["scheduler = { request_us = 300.0, action_us = 300.0, result_us = 300.0 }"]),
    key("Scheduler.request_us", &["scheduler.request_us = 800.0"]).needs(SCHEDULER),
    key("Scheduler.action_us", &["scheduler.action_us = 800.0"]).needs(SCHEDULER),
    key("Scheduler.result_us", &["scheduler.result_us = 800.0"]).needs(SCHEDULER),
    key("noise", &["noise = { uniform = 0.4 }"]),
    key("Noise.uniform", &["noise.uniform = 0.5"]).needs("noise = { uniform = 0.1 }"),
    key("Noise.lognormal", &["noise = { lognormal = 0.3 }"]),
    key("load_noise", &["load_noise = { sigma = 0.4 }"]).needs(super::cluster::MEMORY),
    key("stalls", &["stalls = { lengths_ms = [4.0], quiet_per_s = 40.0 }"]),
    key("Stalls.lengths_ms", &["stalls.lengths_ms = [1.0, 6.0]"]).needs(STALLS),
    key("Stalls.quiet_per_s", &["stalls.quiet_per_s = 5.0"]).needs(STALLS),
    key("Stalls.burst_per_s", &["stalls.burst_per_s = 90.0"]).needs(STALLS),
    key("Stalls.quiet_s", &["stalls.quiet_s = 0.02"]).needs(STALLS),
    key("Stalls.burst_s", &["stalls.burst_s = 0.3"]).needs(STALLS),
    key("Stalls.shared", &["stalls.shared = 0.5", "stalls.shared = 1.0"]).needs(STALLS),
    key("profile", &["profile = { sizes = [1, 3, 9], batches = 50 }"]),
    key("Profile.sizes", &["profile.sizes = [1, 2]"]),
    key("Profile.batches", &["profile.batches = 7"]),
    key("Profile.bins", &["profile.bins = 5"]),
    key("Profile.seed", &["profile.seed = 99"]).needs("profile.batches = 7"),
    key("Profile.at_s", &["profile.at_s = 0.2"]).needs(CHANGED),
    key("profiler", &["profiler = { every = 1 }"])
        .silent("policies that learn from it need a parameter, such as `orloj[relearn_every=20]`"),
    key("Profiler.every", &["profiler.every = 3"])
        .needs("profiler = { every = 1 }")
        .silent("as `profiler`"),
    key("Profiler.delay_ms", &["profiler.delay_ms = 20.0"])
        .needs("profiler = { every = 1 }")
        .silent("as `profiler`"),
];

const STALLS: &str = "stalls = { lengths_ms = [3.0], quiet_per_s = 20.0, burst_per_s = 60.0, \
                      quiet_s = 0.1, burst_s = 0.1 }";
