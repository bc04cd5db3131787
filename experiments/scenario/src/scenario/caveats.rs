//! What a reader must know of a run's world before the figures are believed: as flags of result rows, with a
//! sentence for each.
//!
//! A policy's file says what its paper takes for granted; here is whether the scenario is so.

use super::Scenario;
use super::file::{App, LatencyLaw, Model, ReplayArrivals, SPEED_NOTED, TimeLaw};
use super::laws::is_of_request;
use super::process::steady_law;
use orrery_run::PolicySpec;
use orrery_run::replication::MeasuredSizes;
use orrery_sim::policy::parameters::{Assumption, Lanes};

/// The flag of a scenario with `llm` arrivals.
const PADDED: &str = "padded-batches";
/// Of a scenario whose list `replay` changes.
const REPLAYED: &str = "replayed-list";
/// Of a scenario whose list runs much faster than it was written down.
const SQUEEZED: &str = "squeezed-bursts";
/// Of a policy whose paper assumes [`Assumption::KnownTimes`].
const KNOWN_TIMES: &str = "assumes-known-times";
/// Of a policy whose paper assumes [`Assumption::OneModel`].
pub const ONE_MODEL: &str = "assumes-one-model";
/// Of a policy that assumes [`Assumption::OneKind`].
const ONE_KIND: &str = "assumes-one-kind";
/// Of a policy that does not fill the stages of a pipeline.
const ONE_STAGE: &str = "one-stage";

/// Of a scenario with a profile whose verdict is not empty.
const UNFIT: &str = "unfit-profile";

/// Of a policy whose plan is for other shares of the load than the models have.
const PLANNED: &str = "planned-for-other-shares";

/// Of a policy that loads no weights, where memory is counted.
const LOADS_NOTHING: &str = "loads-nothing";

/// Of a scenario with a distribution of execution times that is cut off where times cannot be shorter.
const CLAMPED: &str = "clamped-times";

/// Of a plan whose policies may run batches of sizes that were not measured.
const UNMEASURED: &str = "unmeasured-sizes";

/// The share of a distribution that may be cut off without a word.
const CLAMPED_MAX: f64 = 0.001;

/// Shares that differ by less are the same.
const SHARES_DIFFER: f64 = 0.01;

/// Every flag, with what it says.
pub const CAVEATS: [(&str, &str); 12] = [
    (
        PADDED,
        "`llm` arrivals run as padded batches: each takes as long as its longest answer, without KV-cache memory or \
         iteration-level batching. An LLM server behaves differently.",
    ),
    (
        REPLAYED,
        "arrivals are a recorded list that `replay` changes: in several copies, at another speed, several times over, or \
         in blocks that the seed draws from it. The result is no recording.",
    ),
    (
        SQUEEZED,
        "the list runs more than 1.5 times as fast as it was recorded: its bursts are denser and shorter by that factor, as \
         if each user were faster. For more users use `copies` instead of `speed`.",
    ),
    (
        KNOWN_TIMES,
        "the policy assumes one latency for each model and batch size, as its paper does; here latencies vary, so a \
         low score does not reflect the published system.",
    ),
    (ONE_MODEL, "the policy's paper serves one model on these devices; here there are several."),
    (
        ONE_KIND,
        "the policy assumes that all devices have the same latencies; here GPU types differ, and it is given those of \
         the base type: the one with `base`, or else the cheapest for its work (without prices the fastest) that \
         meets the SLO.",
    ),
    (
        ONE_STAGE,
        "the policy lets one batch at a time into a device: `stages` change nothing. `alpaserve` fills them.",
    ),
    (
        CLAMPED,
        "a distribution of execution times goes below 1 us, where times are cut off: their mean is longer than the file \
         says. Give a smaller `sd_ms` or a longer mean, or use `lognormal`.",
    ),
    (
        UNFIT,
        "a profile that the scenario names is marked as not fit to predict with (`verdict` in its file says why): \
         measure it again before the figures are used.",
    ),
    (
        PLANNED,
        "the policy plans beforehand for rates that fall as 1 / rank^skew (0: equal rates), and the models' shares of \
         this load are others: set `skew`, or let it plan from measured rates.",
    ),
    (
        LOADS_NOTHING,
        "the policy never loads weights, and a device with `memory_pages` begins without any: it refuses every batch. \
         Remove `memory_pages` to compare this policy; `clockwork` loads.",
    ),
    (
        UNMEASURED,
        "some batch sizes that the policy may use were not measured: between two that were they take what `between` of the \
         model says, beyond the last in proportion. `orrery run` counts such batches.",
    ),
];

impl Scenario {
    /// The flags of a policy's results, of [`CAVEATS`].
    pub fn caveats(&self, policy: &PolicySpec) -> Vec<&'static str> {
        let arrivals = self.file.arrivals.as_ref();
        let is_llm = arrivals.is_some_and(|a| a.llm.is_some());
        let replay = arrivals.and_then(|a| a.replay.as_ref());
        let is_replayed = replay.is_some_and(ReplayArrivals::changes);
        let broken = policy.assumes().iter().filter_map(|assumption| match assumption {
            Assumption::KnownTimes => self.times_vary().then_some(KNOWN_TIMES),
            Assumption::OneModel => (self.file.model.len() > 1).then_some(ONE_MODEL),
            Assumption::OneKind => self.kinds_differ().then_some(ONE_KIND),
        });
        let has_stages = self.file.device.iter().any(|d| d.stages > 1);
        let is_one = matches!(policy.lanes(), Lanes::First | Lanes::Parallel);
        let one_stage = (has_stages && is_one).then_some(ONE_STAGE);
        let counts = self.file.device.iter().any(|d| d.memory_pages.is_some());
        let loads_nothing = (counts && !policy.loads()).then_some(LOADS_NOTHING);
        let is_clamped = self.file.app.iter().zip(0..).any(|(a, i)| self.clamps(a, i));
        let pace = if is_replayed { self.pace().ok().flatten() } else { None };
        let is_squeezed = pace.is_some_and(|pace| pace.speed > SPEED_NOTED);
        let of_load = [
            is_llm.then_some(PADDED),
            is_replayed.then_some(REPLAYED),
            is_squeezed.then_some(SQUEEZED),
            is_clamped.then_some(CLAMPED),
            self.unfit_profile.then_some(UNFIT),
            self.is_planned_otherwise(policy).then_some(PLANNED),
        ];
        of_load.into_iter().flatten().chain(broken).chain(one_stage).chain(loads_nothing).collect()
    }

    /// The same of a policy's answers of which nothing counts the batches by size.
    pub fn caveats_uncounted(&self, policy: &PolicySpec) -> Vec<&'static str> {
        let most = policy.batch_max().unwrap_or(u32::MAX);
        let has_gap = |m: &MeasuredSizes| {
            let is_whole = m.sizes.windows(2).all(|two| two[1] == two[0] + 1 || two[0] >= most);
            m.between.is_some() && !(is_whole && m.sizes.last().is_none_or(|last| *last >= most))
        };
        let gaps = self.measured_sizes().iter().flatten().any(has_gap).then_some(UNMEASURED);
        self.caveats(policy).into_iter().chain(gaps).collect()
    }

    /// Whether a model takes other times on one kind of device than on another, and policies are told so.
    fn kinds_differ(&self) -> bool {
        let laws = |model: &Model| -> Vec<Option<LatencyLaw>> {
            self.file.device.iter().map(|device| model.law_on(device)).collect()
        };
        let differs = |model: &Model| laws(model).windows(2).any(|two| two[0] != two[1]);
        self.file.model.iter().any(|model| model.believed.is_none() && differs(model))
    }

    /// Whether a policy plans for other shares of the load than the models' applications have by their weights; a list
    /// says by itself who sends what.
    fn is_planned_otherwise(&self, policy: &PolicySpec) -> bool {
        let by_weight = self.file.arrivals.as_ref().is_some_and(|a| steady_law(a).is_some());
        let Some(skew) = policy.planned_skew().filter(|_| by_weight) else { return false };
        let weight = |model: &Model| -> f64 {
            self.file.app.iter().filter(|app| app.model == model.name).map(|app| app.weight).sum()
        };
        let weights: Vec<f64> = self.file.model.iter().map(weight).collect();
        let planned: Vec<f64> = (1..=weights.len()).map(|r| libm::pow(r as f64, -skew)).collect();
        let sums: [f64; 2] = [weights.iter().sum(), planned.iter().sum()];
        let mut both = weights.iter().zip(&planned);
        both.any(|(w, p)| (w / sums[0] - p / sums[1]).abs() > SHARES_DIFFER * p / sums[1])
    }

    /// Whether an application's execution times are cut off, and matter.
    fn clamps(&self, app: &App, index: usize) -> bool {
        let key = format!("app[{index}].time");
        let law = app.time.as_ref().and_then(|time| time.parametric(&key).ok().flatten());
        let matters = |m: &Model| m.name == app.model && self.laws(m).iter().any(is_of_request);
        law.is_some_and(|law| law.clamped_share() > CLAMPED_MAX)
            && self.file.model.iter().any(matters)
    }

    /// The latency models of a model, on the devices that are there.
    fn laws(&self, model: &Model) -> Vec<LatencyLaw> {
        let present = |kind: &str| self.file.device.iter().any(|d| d.kind == kind && d.count > 0);
        let on = model.latency_on.iter().filter(|(kind, _)| present(kind));
        std::iter::once(&model.latency).chain(on.map(|(_, law)| law)).cloned().collect()
    }

    /// Whether two batches of one model and size, on one kind of device, may take different times.
    fn times_vary(&self) -> bool {
        let file = &self.file;
        let varies = |model: &Model| {
            let noise = model.noise.as_ref();
            noise.is_some_and(|n| n.sigma > 0.0 || n.outlier_share > 0.0)
                || self.laws(model).iter().any(is_drawn)
                || (self.laws(model).iter().any(is_of_request) && self.requests_vary(model))
        };
        let stalls = file.stalls.as_ref().is_some_and(|stalls| !stalls.is_none());
        file.noise.is_some() || stalls || file.model.iter().any(varies)
    }

    /// Whether the requests of a model have different execution times alone.
    fn requests_vary(&self, model: &Model) -> bool {
        let carried = self.file.arrivals.as_ref();
        if carried.is_some_and(|a| a.llm.is_some() || a.workload.is_some()) {
            return true;
        }
        let apps: Vec<&App> = self.file.app.iter().filter(|a| a.model == model.name).collect();
        let is_constant = |app: &&App| match &app.time {
            Some(law) => is_constant(law) && app.changes.iter().all(|c| c.time_factor.is_none()),
            None => true,
        };
        !apps.iter().all(is_constant) || apps.windows(2).any(|two| two[0].time != two[1].time)
    }
}

/// Whether a latency is drawn for each batch.
fn is_drawn(law: &LatencyLaw) -> bool {
    match law {
        LatencyLaw::Samples(_) => true,
        LatencyLaw::Measured(rows) => rows.iter().any(|(_, ms)| ms.iter().any(|x| *x != ms[0])),
        _ => false,
    }
}

fn is_constant(law: &TimeLaw) -> bool {
    match law {
        TimeLaw::Constant { .. } => true,
        TimeLaw::Normal { sd_ms, .. } | TimeLaw::Lognormal { sd_ms, .. } => *sd_ms == 0.0,
        TimeLaw::Modes(modes) => modes.len() == 1 && modes[0].2 == 0.0,
        TimeLaw::Lengths { per_token_ms, .. } => *per_token_ms == 0.0,
        TimeLaw::Samples { .. } | TimeLaw::TwoGroup { .. } | TimeLaw::Exponential { .. } => false,
    }
}
