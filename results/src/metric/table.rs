//! The table of metrics: a row for each, in the order in which tables show them.
//!
//! A row's comment is its line in `docs/formats.md`, and its constant is the name that code uses. A new metric
//! is a row here and the code that computes it; another quantile of latency is a row and nothing else.

use super::{Family, Metric, amount, devices, number, plain, rate, seconds, share, size, time};

macro_rules! table {
    ($($(#[doc = $help:literal])+ $constant:ident = $row:expr;)+) => {
        $($(#[doc = $help])+ pub const $constant: &str = $row.name;)+
        pub(super) const ROWS: &[Metric] = &[$($row.help(concat!($($help),+))),+];
    };
}

macro_rules! families {
    ($($(#[doc = $help:literal])+ $constant:ident = $row:expr, $parts:expr;)+) => {
        $($(#[doc = $help])+ pub const $constant: Family =
            Family { row: $row.help(concat!($($help),+)), parts: $parts };)+
        pub(super) const FAMILIES: &[&Family] = &[$(&$constant),+];
    };
}

table! {
    // What tables show first, in their order.

    /// search: the highest offered rate within the target (`docs/clusters.md`)
    PEAK = rate("peak_goodput_per_s").higher().page("peak goodput, 1/s");
    /// search: the fewest devices within the target
    DEVICES = devices("devices_needed").lower().page("devices needed");
    /// finished in time / all requests (Orloj, §5.2)
    FINISH_RATE =
        share("finish_rate").higher().of_requests().tokens("finish rate", 3).page("finish rate");
    /// `run --bound`, arena, plan: no scheduler finishes a larger part in time (docs/bound.md)
    FINISH_RATE_BOUND = share("finish_rate_bound").page("bound");
    /// where the scenario has `penalties`: mean cost of a request by its cost function; one without an answer costs all
    MEAN_COST = plain("mean_cost").at_least(0.0).lower().page("mean cost");
    /// requests finished in time, per second of the measured part
    GOODPUT = rate("goodput_per_s").higher().run("good/s", 1).page("goodput, 1/s");
    /// arena: the finish rate, or 1 less the mean cost where the scenario has `penalties`
    ARENA_SCORE = share("arena_score").higher().page("score");
    /// arena: the lowest finish rate of a model, where there are from 2 to 100
    WORST_APP = share("worst_app_finish_rate").higher().page("worst application's finish rate");
    /// arena: what a paper's headline says of a part of the suite, a ratio of two policies or a value; `paper` is its bound,
    /// `flags` the verdict
    CLAIMED = plain("claimed_value").page("claimed");
    /// search with the flag *bisected*, or for devices: the worst model's SLO violations at the answer
    WORST_BAD_RATE = share("worst_bad_rate").lower().page("worst model's SLO violations");
    /// arrival to answer, of answered requests: quantiles, at most 0.1 % too large
    LATENCY_P50 = time("latency_p50_ns").lower().quantile(0.5).run("p50 ms", 2).page("p50, ms");
    /// the 90 % quantile of it
    LATENCY_P90 = time("latency_p90_ns").lower().quantile(0.9).run("p90 ms", 2);
    /// the 99 % quantile of it
    LATENCY_P99 = time("latency_p99_ns").lower().quantile(0.99).run("p99 ms", 2).page("p99, ms");
    /// the 99.9 % quantile of it
    LATENCY_P99_9 =
        time("latency_p99.9_ns").lower().quantile(0.999).run("p99.9 ms", 2).page("p99.9, ms");
    /// arrival to answer, of answered requests: the mean
    LATENCY_MEAN = time("latency_mean_ns").lower().tokens("mean latency ms", 1);
    /// arrival to the start of the batch, of answered requests
    QUEUEING_MEAN =
        time("queueing_mean_ns").lower().run("queue ms", 2).page("mean queueing, ms");
    /// mean size of the batches that ran to their end, over all devices
    MEAN_BATCH_SIZE = size("mean_batch_size").run("batch", 2).page("mean batch");
    /// search, run at the answer: median over batches
    BATCH_SIZE_P50 = size("batch_size_p50").page("batch p50");
    /// where requests have sizes: the most items of a batch that ran to its end, padding included
    LARGEST_BATCH = amount("largest_batch_items", "items");
    /// the share of batches whose size was not measured and lies between two that were: on a line between them
    INTERPOLATED = share("interpolated_batches");
    /// the same with `between = "next"`: they take as long as the next larger one
    ROUNDED_UP = share("rounded_up_batches");
    /// the share of batches larger than all that were measured: in proportion to the largest
    EXTRAPOLATED = share("extrapolated_batches");
    /// busy time / time up; for all devices together and for each
    UTILISATION = share("utilisation").run("busy", 3).page("utilisation");
    /// number of requests that arrived after the warm-up
    REQUESTS = amount("requests", "requests").count().page("requests");

    // A run.

    /// requests answered by the deadline
    IN_TIME = amount("in_time", "requests").count().higher();
    /// requests answered after it
    LATE = amount("late", "requests").count().lower();
    /// requests not answered yet
    PENDING = amount("pending", "requests").count().lower();
    /// dropped: the deadline passed while the request waited
    DROPPED_EXPIRED = amount("dropped_expired", "requests").count().lower();
    /// dropped: the policy expected no answer by the deadline
    DROPPED_INFEASIBLE = amount("dropped_infeasible", "requests").count().lower();
    /// dropped: the device refused the batch, whose window had passed
    DROPPED_REFUSED = amount("dropped_refused", "requests").count().lower();
    /// dropped: a default reply went out at the deadline while the batch was still running
    DROPPED_DEFAULT_REPLY = amount("dropped_default_reply", "requests").count().lower();
    /// dropped: the policy would not take the request at all
    DROPPED_SHED = amount("dropped_shed", "requests").count().lower();
    /// requests whose model was not on the device that answered them when they arrived
    COLD_STARTS = amount("cold_starts", "requests").count();
    /// number of times that a model was loaded
    LOADS = amount("loads", "loads");
    /// time of loading / time up, over all devices
    LOAD_UTILISATION = share("load_utilisation");
    /// `orloj-bins`: the most that a request has in the queues of all sizes (Orloj, §4.4), mean over applications and seeds
    MILESTONES = amount("milestones", "milestones");

    // What follows from a run.

    /// 1 less the finish rate
    BAD_RATE = share("bad_rate").lower().of_requests();
    /// 1 less the utilisation
    IDLE_FRACTION = share("idle_fraction");
    /// devices to add, or to give back where it is below 0 (Symphony, §3.5)
    ADVICE_DEVICES = devices("advice_devices");
    /// the bad rate of a cluster that keeps its peak whatever is offered: (offered - peak) / offered
    FLAT_TOP_BAD_RATE = share("flat_top_bad_rate");

    // A search.

    /// search for a rate: the highest rate that was clearly good, with each seed
    CLEARLY_GOOD = rate("clearly_good_per_s");
    /// search for a rate: the lowest rate above the answer that was clearly bad, with each seed
    CLEARLY_BAD = rate("clearly_bad_per_s");
    /// search for devices: the fewest that were clearly enough, with each seed
    CLEARLY_ENOUGH = devices("devices_clearly_enough");
    /// search for devices: the most below the answer that were clearly too few, with each seed
    CLEARLY_TOO_FEW = devices("devices_clearly_too_few");
    /// search with the flag *undecided*: about how many requests of each model would decide it
    REQUESTS_TO_DECIDE = plain("requests_to_decide");
    /// search: a higher peak that a longer probe refuted
    REFUTED = rate("refuted_per_s");
    /// search: a lower rate that was bad
    BAD_BELOW = rate("bad_below_per_s");
    /// search: the share of bad requests at 5 % more load, if that is a collapse
    BAD_RATE_ABOVE = share("bad_rate_above");
    /// search: the share of bad requests after a burst, if the system does not recover from one
    BAD_RATE_AFTER_BURST = share("bad_rate_after_burst");
    /// search with the flag *bisected*, or for devices: the counted length of the probe at the answer
    PROBE = seconds("probe_s");
    /// search: number of runs; `samples` counts all their requests
    PROBES = plain("probes");
    /// search, run at the answer: quantiles over batches
    BATCH_SIZE_P10 = size("batch_size_p10");
    /// the 90 % quantile of it
    BATCH_SIZE_P90 = size("batch_size_p90");
    /// search, run at the answer: arrival to the start of the batch, quantiles
    QUEUEING_P50 = time("queueing_p50_ns").lower();
    /// the 90 % quantile of it
    QUEUEING_P90 = time("queueing_p90_ns").lower();
    /// the 99 % quantile of it
    QUEUEING_P99 = time("queueing_p99_ns").lower();

    // Beside measurements.

    /// calibrate: requests answered per second of the run
    ANSWERED = rate("answered_per_s");
    /// calibrate, tokens: dropped requests / all requests
    DROP_SHARE = share("drop_share").lower().tokens("dropped", 3);
    /// `kairos-samples`: Pearson's correlation of measured latencies with their batch size
    CORRELATION = plain("correlation");
    /// `kairos-samples`: standard deviation / mean of the measured latencies of the median batch size
    RELATIVE_DEVIATION = plain("relative_deviation").at_least(0.0);

    // A run over time.

    /// where a part of the time begins: an axis
    FROM = seconds("from_s").not_in_rows();
    /// requests offered per second of a part of the time
    OFFERED = rate("offered_per_s");
    /// requests that ended per second, however they did: in tables over time
    ENDED = rate("ended_per_s").not_in_rows();
    /// requests dropped per second
    DROPPED = rate("dropped_per_s").lower();
    /// cold starts answered in time per second
    COLD = rate("cold_per_s");
    /// their share of the requests answered in time
    COLD_SHARE = share("cold_share");
    /// models loaded per second
    LOADS_PER_S = rate("loads_per_s");
    /// models unloaded per second
    UNLOADS_PER_S = rate("unloads_per_s");
    /// models of which a cold start was answered in time, in a part of the time
    COLD_MODELS = amount("cold_models", "models");
    /// models of which another request was answered in time
    WARM_MODELS = amount("warm_models", "models");
    /// mean batch size of a request: each batch counts as often as it has requests
    WEIGHTED_BATCH_SIZE = size("weighted_batch_size");
    /// when the first model was unloaded
    FIRST_UNLOAD = seconds("first_unload_s");
    /// the longest latency of an answer
    LATENCY_MAX = time("latency_max_ns").lower();
    /// the longest time from an arrival to its end, however it ended
    END_MAX = time("end_max_ns");
    /// mean number of devices that were up
    DEVICES_UP = devices("devices_up");
    /// where devices come and go: the most that were up at once
    DEVICES_UP_MAX = devices("devices_up_max");
    /// mean number of devices that were busy
    DEVICES_BUSY = devices("devices_busy");
    /// devices that were asked for
    ASKED_DEVICES = devices("asked_devices");
    /// devices that were given back
    RELEASED_DEVICES = devices("released_devices");
    /// `symphony-fig-15`: the share of the time with less than 90 % of the devices busy
    NOT_OVERLOADED = share("not_overloaded_time_share");
    /// `symphony-fig-15`: the share of that time with a bad rate of at most 1 %
    LOW_BAD_RATE = share("low_bad_rate_time_share");

    // Jobs.

    /// number of jobs (docs/jobs.md)
    JOBS = amount("jobs", "jobs").jobs("jobs", 0);
    /// the first arrival to the last end
    MAKESPAN = time("makespan_ns").lower().in_s().jobs("makespan s", 3);
    /// submission to end of a job, and its 95 % quantile
    JCT_MEAN = time("jct_mean_ns").lower().in_s().jobs("mean JCT s", 3);
    /// the 95 % quantile of it
    JCT_P95 = time("jct_p95_ns").lower().in_s().jobs("p95 JCT s", 3);
    /// submission to admission
    JOB_QUEUEING_MEAN = time("job_queueing_mean_ns").lower().in_s().jobs("queueing s", 3);
    /// submission to the first iteration
    FIRST_SERVICE_MEAN = time("first_service_mean_ns").lower().in_s().jobs("first run s", 3);
    /// busy time of GPUs or workers / their time
    GPU_BUSY = share("gpu_busy_fraction").jobs("busy", 3);
    /// mean number of jobs in memory
    JOBS_RESIDENT = amount("jobs_resident_mean", "jobs").jobs("resident", 2);
    /// number of times that another job ran next
    SWITCHES = amount("switches", "switches").jobs("switches", 0);
    /// GPUs or workers of a job, in a part of the time
    GPUS_HELD = plain("gpus_held");

    // Requests that are answered token by token.

    /// arrival to the first token, of answered requests: mean (docs/tokens.md)
    TTFT_MEAN = time("ttft_mean_ns").lower().tokens("mean TTFT ms", 1);
    /// first to last token / the tokens after the first, of answered requests: mean
    TPOT_MEAN = time("tpot_mean_ns").lower().tokens("mean TPOT ms", 2);
    /// number of times that a request lost its blocks and computed all anew
    EVICTIONS = amount("evictions", "evictions").lower().tokens("evictions", 0);
    /// number of steps
    STEPS = amount("steps", "steps").tokens("steps", 0);
    /// tokens of answered requests, per second from the first arrival to the last end
    TOKENS_OUT = number("tokens_out_per_s", "1/s").at_least(0.0).higher().tokens("tokens/s", 0);

    // Pools.

    /// the highest rate at which a pool meets its goal (docs/kairos.md)
    ALLOWABLE_THROUGHPUT = rate("allowable_throughput_per_s");
    /// search for a pool: the best rate up to this evaluation
    BEST_SO_FAR = rate("best_so_far_per_s");
    /// Kairos's upper bound of a pool
    UPPER_BOUND = rate("upper_bound_per_s");
    /// the place of a pool by its upper bound, from 1
    BOUND_RANK = plain("bound_rank");
    /// whether Kairos picks the pool: 1 or 0
    PICKED = plain("picked");
    /// the batch size from which DRS uses the larger kind
    DRS_THRESHOLD = plain("drs_threshold");
    /// number of pools within the budget
    POOLS = plain("pools");
    /// search for a pool: number of pools that were measured
    EVALUATIONS = plain("evaluations");
    /// their share of all pools
    EVALUATIONS_SHARE = share("evaluations_share");
    /// number of evaluations until the search had the best pool that it found
    EVALUATIONS_TO_BEST = plain("evaluations_to_best");
    /// their share of all pools
    EVALUATIONS_TO_BEST_SHARE = share("evaluations_to_best_share");
    /// number of evaluations until the search had the rate that it was to reach
    EVALUATIONS_UNTIL_REACHED = plain("evaluations_until_reached");
    /// whether it reached that rate; over runs, their share
    REACHED_SHARE = share("reached_share");
    /// the rate of the search's best pool / that of the best pool
    BEST_OVER_OPTIMUM = plain("best_over_optimum");
    /// share of the evaluations that were worse than the pool of one kind
    BELOW_UNSCALED_HOMOGENEOUS = share("below_unscaled_homogeneous_share");
    /// the same, with that rate scaled to the whole budget
    BELOW_HOMOGENEOUS = share("below_homogeneous_share");

    // Applications.

    /// over all cells
    MEAN_FINISH_RATE = share("mean_finish_rate");
    /// over all cells, against the paper
    MEAN_ABS_ERROR = plain("mean_abs_error");
    /// the same, of the cells that were left out when a setting was chosen by the others
    LEFT_OUT_ABS_ERROR = plain("left_out_abs_error");
    /// median over cells, against the paper
    MEDIAN_ABS_ERROR = plain("median_abs_error");
    /// mean finish rate over cases, less that of the best other system; each by its best setting
    LEAD = plain("lead");
    /// a system's `mean_abs_error`, by its best setting
    COLUMN_ABS_ERROR = plain("column_abs_error");
    /// the largest of several systems' `column_abs_error`
    WORST_ABS_ERROR = plain("worst_abs_error");

    // Laws and scores.

    /// distributions and scores: the share of the requests in a bin of a histogram
    SHARE = plain("share");
    /// score of a toy example (`[score]`): what a batch costs
    COST = plain("cost");
    /// its score by Orloj's Eq. 2
    SCORE = number("score_per_ms", "1/ms").at_least(0.0);
    /// the time at which it changes, by its number
    MILESTONE = plain("milestone");
    /// mean of a distribution of execution times
    MEAN = time("mean_ns");
    /// 99 % quantile of a distribution of execution times
    P99 = time("p99_ns");

    // Plans.

    /// price of a pool (docs/plan.md)
    COST_PER_HOUR = number("cost_usd_per_hour", "usd/h");
    /// price of a pool
    COST_PER_MONTH = number("cost_usd_per_month", "usd/month");
    /// plan over a day: price at the peak
    COST_AT_PEAK = number("cost_at_peak_usd_per_hour", "usd/h");
    /// plan of a fleet: no fleet is cheaper
    LOWER_BOUND = number("lower_bound_usd_per_hour", "usd/h");
    /// plan: the price of one device at which another kind becomes the answer
    PRICE_TURN = number("price_turn_usd_per_hour", "usd/h");
    /// plan: the load to sustain
    LOAD = rate("load_per_s");
    /// plan over a day: mean load / load at the peak
    MEAN_LOAD = share("mean_load_share");
    /// plan: the pool's capacity over the load, minus 1
    HEADROOM = plain("headroom").at_least(-1.0);
    /// plan: the pool's capacity, the highest rate that it sustains
    ALLOWABLE = rate("allowable_per_s");
    /// plan: the same with one device of a kind less
    ALLOWABLE_WITH_ONE_LESS = rate("allowable_per_s_with_one_less");
    /// plan with `--plot`: the capacity of a pool on the frontier, with one seed; with all where that one is inconclusive
    FRONTIER = rate("frontier_per_s");
    /// plan: the worst model's share of bad requests at the load
    BAD_AT_LOAD = share("worst_bad_rate_at_load");
    /// plan over a day: the same at one of its levels
    BAD_AT_LEVEL = share("worst_bad_rate_at_level");
    /// plan over a day: the same in the first seconds after its size has changed
    BAD_AT_CHANGE = share("worst_bad_rate_at_change");
    /// plan: the same 5 % above capacity
    BAD_ABOVE_EDGE = share("worst_bad_rate_above_edge");
    /// plan: the same at the load with one device of a kind less
    BAD_WITH_ONE_LESS = share("worst_bad_rate_with_one_less");
    /// plan: price of a million requests in time, at the load
    USD_PER_MILLION_AT_LOAD = number("usd_per_million_good_at_load", "usd");
    /// plan: the same at capacity
    USD_PER_MILLION_AT_EDGE = number("usd_per_million_good_at_edge", "usd");
    /// plan: utilisation of each type, 5 % above capacity
    UTILISATION_ABOVE_EDGE = share("utilisation_above_edge");
}

families! {
    /// `symphony-fig-16`: (max - min) / mean over sub-clusters, quantiles over configurations
    IMBALANCE = plain("{}_imbalance_{}"),
        &[&["rate", "memory"], &["p10", "p50", "p90", "max"]];
    /// jobs: quantiles of submission to end
    JCT = time("jct_{}_ns").lower().in_s(),
        &[&["min", "p10", "p20", "p30", "p40", "p50", "p60", "p70", "p80", "p90", "max"]];
    /// tokens: quantiles of arrival to first token, of answered requests
    TTFT = time("ttft_{}_ns").lower(), &[&["p50", "p90", "p99"]];
    /// tokens: quantiles of the time for each token after the first
    TPOT = time("tpot_{}_ns").lower(), &[&["p50", "p90", "p99"]];
    /// search for a pool: number of evaluations until it found the optimum, or a pool within 1 % of it
    EVALUATIONS_TO = plain("evaluations_to_{}"), &[&["optimum", "near_optimum"]];
    /// their share of all pools
    EVALUATIONS_TO_SHARE = share("evaluations_to_{}_share"), &[&["optimum", "near_optimum"]];
    /// whether it found one; over runs, their share
    REACHED = share("reached_{}_share"), &[&["optimum", "near_optimum"]];
    /// how far a policy's own predictions were off, of batches and loads, too long (`over`) and too short
    PREDICTION_ERROR = time("{}_{}_{}_{}_ns").in_us(), &[
        &["infer", "load"],
        &["duration", "completion"],
        &["over", "under"],
        &["p50", "p99", "p99.9", "p99.99", "max"],
    ];
}
