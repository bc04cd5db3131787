//! Keys of the load: arrival processes and closed loops.

use super::{Key, key};

const POISSON: &str = "arrivals = { poisson = { rate_per_s = 450.0 }, requests = 150 }";
const INTEGER: &str = "arrivals = { integer_poisson = { rate_per_s = 450.0 }, requests = 150 }";
const GAMMA: &str = "arrivals = { gamma = { rate_per_s = 450.0, shape = 2.0 }, requests = 150 }";
const MMPP: &str = "arrivals = { mmpp = { rates_per_s = [200.0, 900.0, 400.0], mean_sojourns_s = [0.05, 0.03, 0.04] }, requests = 150 }";
const SPREAD: &str = "arrivals = { spread = { rate_per_s = 450.0, every_s = 0.05, others = [\"a2\"], others_per_s = 100.0 }, requests = 150 }";
const TRACE: &str = "arrivals = { trace = { file = \"minutes.csv\", compress = 600.0 } }";
const DEALT: &str = "arrivals = { trace = { file = \"minutes.csv\", compress = 600.0, order = \"shuffled\", order_seed = 4 } }";
const LLM: &str = "arrivals = { llm = { file = \"llm.csv\", base_ms = 2.0, per_context_ms = 0.02, per_generated_ms = 0.4 }, apps = [\"a1\"] }";
const PROMPTS: &str = "arrivals = { llm = { file = \"prompts.jsonl\", base_ms = 2.0, per_context_ms = 0.02, per_generated_ms = 0.4 }, apps = [\"a1\"] }";
const LOG: &str = "arrivals = { workload = { file = \"log.csv\" } }";
const WORKLOAD: &str = "arrivals = { workload = { file = \"workload.csv\" } }";
const REPLAY: &str =
    "arrivals = { workload = { file = \"workload.csv\" }, replay = { speed = 1.0 } }";
const QUERIES: &str = "arrivals = { queries = { file = \"queries.csv\" }, apps = [\"a1\"] }";
const CLOSED: &str =
    "closed_loop = { clients = 4, think = { exponential_ms = 8.0 }, requests = 80 }";
const BY_APP: &str = "closed_loop = { clients = 2, per_app = true, think = { exponential_ms = 8.0 }, requests = 80 }";

pub const KEYS: &[Key] = &[
    key("arrivals", &["arrivals = none"]).needs(CLOSED),
    key("Arrivals.requests", &["arrivals.requests = 60"]),
    key("Arrivals.duration_s", &["arrivals.duration_s = 0.2"]),
    key("Arrivals.apps", &["arrivals.apps = [\"a0\", \"a1\"]"]),
    key("Arrivals.per_app", &["arrivals.per_app = true"]),
    key("Arrivals.constant", &["arrivals = { constant = { rate_per_s = 450.0 }, requests = 150 }"]),
    key("SteadyArrivals.rate_per_s", &["arrivals.poisson.rate_per_s = 200.0", "arrivals.poisson.rate_per_s = 1200.0"])
        .needs(POISSON),
    key("Arrivals.integer_poisson", &[INTEGER]),
    key("IntegerPoissonArrivals.rate_per_s", &["arrivals.integer_poisson.rate_per_s = 300.0"]).needs(INTEGER),
    key("IntegerPoissonArrivals.unit_ms", &["arrivals.integer_poisson.unit_ms = 0.1"]).needs(INTEGER),
    key("Arrivals.gamma", &["arrivals = { gamma = { rate_per_s = 450.0, shape = 0.3 }, requests = 150 }"]),
    key("GammaArrivals.rate_per_s", &["arrivals.gamma.rate_per_s = 300.0"]).needs(GAMMA),
    key("GammaArrivals.shape", &["arrivals.gamma.shape = 0.2"]).needs(GAMMA),
    key("Arrivals.mmpp", &[MMPP]),
    key("MmppArrivals.rates_per_s", &["arrivals.mmpp.rates_per_s = [0.0, 1200.0, 600.0]"]).needs(MMPP),
    key("MmppArrivals.mean_sojourns_s", &["arrivals.mmpp.mean_sojourns_s = [0.02, 0.02, 0.02]"]).needs(MMPP),
    key("MmppArrivals.next", &["arrivals.mmpp.next = \"uniform\""]).needs(MMPP),
    key("Next.uniform", &["arrivals.mmpp.next = \"uniform\""]).needs(MMPP),
    key("Arrivals.spread", &[SPREAD]),
    key("SpreadArrivals.rate_per_s", &["arrivals.spread.rate_per_s = 250.0"]).needs(SPREAD),
    key("SpreadArrivals.from_s", &["arrivals.spread.from_s = 0.04"]).needs(SPREAD),
    key("SpreadArrivals.every_s", &["arrivals.spread.every_s = 0.1"]).needs(SPREAD),
    key("SpreadArrivals.others", &["arrivals.spread.others = [\"a1\"]"]).needs(SPREAD),
    key("SpreadArrivals.others_per_s", &["arrivals.spread.others_per_s = 20.0"]).needs(SPREAD),
    key("Arrivals.trace", &[TRACE]),
    key("TraceArrivals.file", &["arrivals.trace.file = \"azure2019-f500\"; arrivals.trace.minutes = 2; arrivals.trace.rate_per_s = 300.0"]).needs(TRACE),
    key("TraceArrivals.first_minute", &["arrivals.trace.first_minute = 2"]).needs(TRACE),
    key("TraceArrivals.minutes", &["arrivals.trace.minutes = 2"]).needs(TRACE),
    key("TraceArrivals.functions", &["arrivals.trace.functions = \"without-top:1\"", "arrivals.trace.functions = \"trigger:http\""]).needs(TRACE),
    key("TraceArrivals.inside", &["arrivals.trace.inside = \"even\""]).needs(TRACE),
    key("Inside.even", &["arrivals.trace.inside = \"even\""]).needs(TRACE),
    key("TraceArrivals.rate_per_s", &["arrivals.trace.rate_per_s = 300.0"]).needs(TRACE),
    key("TraceArrivals.rate_factor", &["arrivals.trace.rate_factor = 0.5"]).needs(TRACE),
    key("TraceArrivals.compress", &["arrivals.trace.compress = 300.0"]).needs(TRACE),
    key("TraceArrivals.per_function", &["arrivals.trace.per_function = true"]).needs(TRACE),
    key("TraceArrivals.order", &["arrivals.trace.order = \"released\""]).needs(TRACE),
    key("Order.released", &["arrivals.trace.order = \"released\""]).needs(DEALT),
    key("Order.shuffled", &["arrivals.trace.order = \"shuffled\""]).needs(TRACE),
    key("TraceArrivals.order_seed", &["arrivals.trace.order_seed = 5"]).needs(DEALT),
    key("Arrivals.llm", &[LLM]),
    key("LlmArrivals.file", &["arrivals.llm.file = \"azure-llm2023-code\"; arrivals.requests = 60"]).needs(LLM),
    key("LlmArrivals.base_ms", &["arrivals.llm.base_ms = 5.0"]).needs(LLM),
    key("LlmArrivals.per_context_ms", &["arrivals.llm.per_context_ms = 0.1"]).needs(LLM),
    key("LlmArrivals.per_generated_ms", &["arrivals.llm.per_generated_ms = 0.9"]).needs(LLM),
    key("LlmArrivals.from_s", &["arrivals.llm.from_s = 0.1"]).needs(LLM),
    key("LlmArrivals.to_s", &["arrivals.llm.to_s = 0.2"]).needs(LLM),
    key("LlmArrivals.timestamps", &["arrivals.llm.timestamps = { unit = \"us\" }"]).needs(PROMPTS),
    key("Timestamps.unit", &["arrivals.llm.timestamps = { unit = \"s\" }"]).needs(PROMPTS),
    key("Arrivals.workload", &[WORKLOAD]),
    key("WorkloadArrivals.file", &["arrivals.workload.file = \"workload2.csv\""]).needs(WORKLOAD),
    key("WorkloadArrivals.from_row", &["arrivals.workload.from_row = 30"]).needs(WORKLOAD),
    key("WorkloadArrivals.to_row", &["arrivals.workload.to_row = 70"]).needs(WORKLOAD),
    key("WorkloadArrivals.from_s", &["arrivals.workload.from_s = 0.1"]).needs(WORKLOAD),
    key("WorkloadArrivals.to_s", &["arrivals.workload.to_s = 0.2"]).needs(WORKLOAD),
    key("WorkloadArrivals.scenario_slos", &["arrivals.workload.scenario_slos = true"]).needs(WORKLOAD),
    key("WorkloadArrivals.timestamps", &["arrivals.workload.timestamps = { is = \"end\" }"]).needs(LOG),
    key("Timestamps.is", &["arrivals.workload.timestamps = { is = \"end\" }"]).needs(LOG),
    key("TimeIs.start", &["arrivals.workload.timestamps = { is = \"start\" }"])
        .needs("arrivals = { workload = { file = \"log.csv\", timestamps = { is = \"end\" } } }"),
    key("TimeIs.end", &["arrivals.workload.timestamps = { is = \"end\" }"]).needs(LOG),
    key("Timestamps.format", &["arrivals.workload.timestamps = { format = \"%Y-%m-%d %M:%H:%S%.f\" }"]).needs(LOG),
    key("Arrivals.replay", &["arrivals.replay = { times = 2 }"]).needs(WORKLOAD),
    key("ReplayArrivals.speed", &["arrivals.replay.speed = 1.7"]).needs(REPLAY),
    key("ReplayArrivals.copies", &["arrivals.replay.copies = 1.7"]).needs(REPLAY),
    key("ReplayArrivals.shift_s", &["arrivals.replay = { copies = 3.0, shift_s = 0.03 }"]).needs(REPLAY),
    key("ReplayArrivals.rate_by", &["arrivals.replay = { rate_per_s = 300.0, rate_by = \"speed\" }"]).needs(WORKLOAD),
    key("RateBy.copies", &["arrivals.replay = { rate_per_s = 300.0, rate_by = \"copies\" }"]).needs(WORKLOAD),
    key("RateBy.speed", &["arrivals.replay = { rate_per_s = 300.0, rate_by = \"speed\" }"]).needs(WORKLOAD),
    key("ReplayArrivals.rate_per_s", &["arrivals.replay = { rate_per_s = 300.0 }"]).needs(REPLAY),
    key("ReplayArrivals.times", &["arrivals.replay.times = 2"]).needs(REPLAY),
    key("ReplayArrivals.block_s", &["arrivals.replay.block_s = 0.03"]).needs(REPLAY),
    key("Arrivals.queries", &[QUERIES]),
    key("QueryArrivals.file", &["arrivals.queries.file = \"queries2.csv\""]).needs(QUERIES),
    key("QueryArrivals.from_s", &["arrivals.queries.from_s = 0.02"]).needs(QUERIES),
    key("QueryArrivals.to_s", &["arrivals.queries.to_s = 0.1"]).needs(QUERIES),
    key("closed_loop", &["closed_loop = { clients = 3, think = { constant_ms = 5.0 }, requests = 60 }"]),
    key("ClosedLoop.clients", &["closed_loop.clients = 9"]).needs(CLOSED),
    key("ClosedLoop.per_app", &["closed_loop.per_app = true"]).needs(CLOSED),
    key("ClosedLoop.clients_of", &["closed_loop.clients_of = { a1 = 5 }"]).needs(BY_APP),
    key("ClosedLoop.pause_ms", &["closed_loop.pause_ms = 7.0"])
        .needs("closed_loop = { clients = 4, think = { constant_ms = 0.0 }, requests = 80, apps = [\"a0\"] }; \
                model[0].slo_ms = 1.0; allow_hopeless_slo = true"),
    key("ClosedLoop.requests", &["closed_loop.requests = 30"]).needs(CLOSED),
    key("ClosedLoop.duration_s", &["closed_loop.duration_s = 0.1"]).needs(CLOSED),
    key("ClosedLoop.ramp_ms", &["closed_loop.ramp_ms = 60.0"]).needs(CLOSED),
    key("ClosedLoop.apps", &["closed_loop.apps = [\"a2\"]"]).needs(CLOSED),
    key("ClosedLoop.think", &["closed_loop.think = { constant_ms = 2.0 }"]).needs(CLOSED),
    key("Think.constant_ms", &["closed_loop.think.constant_ms = 9.0"])
        .needs("closed_loop = { clients = 4, think = { constant_ms = 3.0 }, requests = 80 }"),
    key("Think.exponential_ms", &["closed_loop.think.exponential_ms = 20.0"]).needs(CLOSED),
];
