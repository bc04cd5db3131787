//! Orloj's parameters. What they do is in the policy.

use crate::policy::parameters::{
    About, Assumption, Parameter, Preset, Settings, Words, count, ms, number, seconds, word, words,
};
use crate::time::Span;

/// As many measurements are needed for a law.
pub(super) const WINDOW_MIN: u32 = 64;
const WINDOW_MAX: u32 = 1_000_000;
const BINS_MAX: u32 = 4_096;

/// EstimateBatchLatency of Algorithm 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Estimate {
    /// The expectation of the batch's latency (Eq. 5).
    Mean,
    /// A quantile of the batch's latency (of the law of Eq. 9).
    Quantile(f64),
}

impl Words for Estimate {
    const WORDS: &'static [(&'static str, Estimate, &'static str)] = &[
        ("mean", Estimate::Mean, "the expectation of the latency of the batch (Eq. 5)"),
        ("quantile", Estimate::Quantile(0.999), "a quantile of its distribution (Eq. 9)"),
    ];
}

words! {
    /// Whose law a batch's latency has, from which its estimate or its score is computed.
    pub enum BatchLaw {
        /// §4.3.
        Common = "common": "one distribution for each batch size: the longest of all applications",
        Own = "own": "one draw of the request's own application, the others of all",
    }
}

words! {
    /// How the applications of a model are weighed where their distributions are combined.
    pub enum Shares {
        /// Dissertation, §5.1.
        Equal = "equal": "all applications of the model alike",
        Counts = "counts": "by their requests in the profile, or relearned",
    }
}

words! {
    /// What the feedback loop remembers.
    pub enum Memory {
        Sliding = "sliding": "the latest measurements",
        /// §3.2.
        Reset = "reset": "all since it was emptied; a full one is emptied",
    }
}

words! {
    /// Which deadlines of a request it sees whose cost has several steps.
    pub enum Deadlines {
        All = "all": "the score is the sum over the steps (Appendix B)",
        First = "first": "the first alone, as if a late answer cost 1",
    }
}

words! {
    /// The order in which batch sizes are tried.
    pub enum SizeOrder {
        /// Algorithm 1.
        Descending = "descending": "by (earliest deadline, size), descending",
        /// The text of §3.2.
        Ascending = "ascending": "earliest deadline first, then the larger size",
    }
}

words! {
    /// How the pending requests are kept.
    pub enum QueueForm {
        Auto = "auto": "as scan while few requests wait, else as hull",
        Scan = "scan": "one list; every score is computed at every decision",
        Hull = "hull": "a dynamic convex hull for each batch size (§4.4)",
    }
}

/// Orloj's parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Config {
    /// EstimateBatchLatency.
    pub estimate: Estimate,
    /// The law that the estimate is of.
    pub estimate_law: BatchLaw,
    /// The law that the score is of.
    pub score_law: BatchLaw,
    /// The weights of the applications in these laws.
    pub shares: Shares,
    /// The order in which batch sizes are tried.
    pub order: SizeOrder,
    /// Parameter of the anticipated delay's law, per millisecond. Paper, §4.4: 1e-4.
    pub b_per_ms: f64,
    /// The largest batch size.
    pub max_batch: u32,
    /// Sizes whose seed profile exceeds this are not served; zero serves all.
    pub max_exec: Span,
    /// The profile is renewed after this many measurements; zero: not by their number.
    pub relearn_every: u32,
    /// The profile is renewed after this time; zero: not by time.
    pub relearn_every_s: Span,
    /// What is remembered of measurements.
    pub memory: Memory,
    /// The most measurements of an application that are remembered; of arrivals five times as many.
    pub window: u32,
    /// The bins of an application's histogram; zero keeps those of the profile.
    pub bins: u32,
    /// Which deadlines it sees where a cost has several steps.
    pub deadlines: Deadlines,
    /// How the pending requests are kept. Decisions are the same.
    pub queue: QueueForm,
}

impl Settings for Config {
    const ABOUT: About = About {
        name: "orloj",
        what: "distribution-based batching; execution times are random variables",
        paper: "Orloj (Yu et al.), Algorithm 1 and §4",
    };
    const ASSUMES: &'static [Assumption] = &[Assumption::OneKind];
    const PRESETS: &'static [Preset<Config>] = &[Preset {
        name: "paper",
        what: "what the paper says; nothing was released",
        make: || Config {
            estimate: Estimate::Mean,
            estimate_law: BatchLaw::Common,
            score_law: BatchLaw::Common,
            shares: Shares::Equal,
            order: SizeOrder::Descending,
            b_per_ms: 1e-4,
            max_batch: 16,
            max_exec: Span::ZERO,
            relearn_every: 0,
            relearn_every_s: Span::ZERO,
            memory: Memory::Sliding,
            window: 2_000,
            bins: 0,
            deadlines: Deadlines::All,
            queue: QueueForm::Auto,
        },
    }];
    const PARAMETERS: &'static [Parameter<Config>] = &[
        word("estimate", |c: &mut Self| &mut c.estimate, "EstimateBatchLatency of Algorithm 1")
            .from("not defined in the paper"),
        number(
            "quantile",
            0.0..=1.0,
            |c: &mut Self| match &mut c.estimate {
                Estimate::Quantile(quantile) => Some(quantile),
                Estimate::Mean => None,
            },
            "which quantile",
        )
        .needs("estimate", "quantile")
        .from("ours"),
        word("estimate_law", |c: &mut Self| &mut c.estimate_law, "the distribution that the estimate is of")
            .from("§4.3; dissertation, §5.1"),
        word("score_law", |c: &mut Self| &mut c.score_law, "the distribution that the score is of")
            .from("§4.3; dissertation, §5.1"),
        word(
            "shares",
            |c: &mut Self| &mut c.shares,
            "weights of the applications where their distributions are combined",
        )
        .from("dissertation, §5.1"),
        word("order", |c: &mut Self| &mut c.order, "order in which batch sizes are tried")
            .from("Algorithm 1: descending; the text of §3.2: ascending"),
        number(
            "b_per_ms",
            1e-12..=1e3,
            |c: &mut Self| Some(&mut c.b_per_ms),
            "parameter of the anticipated delay's distribution, per millisecond",
        )
        .from("§4.4"),
        count("max_batch", |c: &mut Self| Some(&mut c.max_batch), "maximum number of requests in a batch"),
        ms(
            "max_exec_ms",
            |c: &mut Self| &mut c.max_exec,
            "a batch size is not used if its seed profile exceeds this; 0: all sizes are used",
        )
        .from("Clockwork's rule"),
        count(
            "relearn_every",
            |c: &mut Self| Some(&mut c.relearn_every),
            "number of measurements after which an application's distribution is relearned; 0: never",
        )
        .within(0, u32::MAX)
        .from("§3.2, whose window is not given"),
        seconds(
            "relearn_every_s",
            |c: &mut Self| &mut c.relearn_every_s,
            "time after which the distributions are relearned, at the next measurement; 0: never",
        )
        .quiet()
        .from("§3.2: \"periodically\""),
        word(
            "memory",
            |c: &mut Self| &mut c.memory,
            "what relearning remembers, by `relearn_every` or `relearn_every_s`",
        )
        .needs("relearn_every", "500")
        .quiet()
        .from("§3.2: \"resets\"; sliding is ours"),
        count(
            "window",
            |c: &mut Self| Some(&mut c.window),
            "measurements of an application that relearning remembers; of arrivals, 5 times as many",
        )
        .within(WINDOW_MIN, WINDOW_MAX)
        .needs("relearn_every", "500")
        .quiet()
        .from("§3.2: \"configurable\""),
        count(
            "bins",
            |c: &mut Self| Some(&mut c.bins),
            "bins of an application's histogram, at most those of the profile; 0: as profiled",
        )
        .within(0, BINS_MAX)
        .quiet()
        .from("ours"),
        word(
            "deadlines",
            |c: &mut Self| &mut c.deadlines,
            "which deadlines it sees of a request whose `penalties` have several steps",
        )
        .quiet()
        .from("Appendix B"),
        word(
            "queue",
            |c: &mut Self| &mut c.queue,
            "how the pending requests are kept; decisions are the same",
        )
        .quiet()
        .from("§4.4: a dynamic convex hull; which is faster: docs/performance.md"),
    ];

    fn needs_profiler(&self) -> bool {
        self.relearn_every > 0 || self.relearn_every_s > Span::ZERO
    }

    fn is_idle(&self, name: &str) -> bool {
        ["memory", "window"].contains(&name) && !self.needs_profiler()
    }
}
