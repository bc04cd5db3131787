//! Orloj's parameters. What they do is in the policy.

use crate::policy::parameters::{
    About, Parameter, Preset, Settings, Words, count, ms, number, word,
};
use crate::time::Span;

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
        ("quantile", Estimate::Quantile(0.999), "a quantile of its law (Eq. 9)"),
    ];
}

/// The order in which batch sizes are tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SizeOrder {
    /// By (earliest deadline, size), descending: Algorithm 1.
    Descending,
    /// By (earliest deadline ascending, size descending): the text of §3.2.
    Ascending,
}

impl Words for SizeOrder {
    const WORDS: &'static [(&'static str, SizeOrder, &'static str)] = &[
        ("descending", SizeOrder::Descending, "by (earliest deadline, size), descending"),
        ("ascending", SizeOrder::Ascending, "earliest deadline first, then the larger size"),
    ];
}

/// How the pending requests are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueueForm {
    /// One list; every score is computed at every decision.
    Scan,
    /// A dynamic convex hull for each batch size: §4.4.
    Hull,
}

impl Words for QueueForm {
    const WORDS: &'static [(&'static str, QueueForm, &'static str)] = &[
        ("scan", QueueForm::Scan, "one list; every score is computed at every decision"),
        ("hull", QueueForm::Hull, "a dynamic convex hull for each batch size (§4.4)"),
    ];
}

/// Orloj's parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Config {
    /// EstimateBatchLatency.
    pub estimate: Estimate,
    /// The order in which batch sizes are tried.
    pub order: SizeOrder,
    /// Parameter of the anticipated delay's law, per millisecond. Paper, §4.4: 1e-4.
    pub b_per_ms: f64,
    /// The largest batch size.
    pub max_batch: u32,
    /// Sizes whose seed profile exceeds this are not served; zero serves all.
    pub max_exec: Span,
    /// The profile is renewed after this many measurements; zero never renews it.
    pub relearn_every: u32,
    /// How the pending requests are kept. Decisions are the same.
    pub queue: QueueForm,
}

impl Settings for Config {
    const ABOUT: About = About {
        name: "orloj",
        what: "distribution-based batching; execution times are random variables",
        paper: "Orloj (Yu et al.), Algorithm 1 and §4",
    };
    const PRESETS: &'static [Preset<Config>] = &[Preset {
        name: "paper",
        what: "what the paper says; nothing was released",
        make: || Config {
            estimate: Estimate::Mean,
            order: SizeOrder::Descending,
            b_per_ms: 1e-4,
            max_batch: 16,
            max_exec: Span::ZERO,
            relearn_every: 0,
            queue: QueueForm::Scan,
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
        word("order", |c: &mut Self| &mut c.order, "order in which batch sizes are tried")
            .from("Algorithm 1: descending; the text of §3.2: ascending"),
        number(
            "b_per_ms",
            1e-12..=1e3,
            |c: &mut Self| Some(&mut c.b_per_ms),
            "parameter of the anticipated delay's law, per millisecond",
        )
        .from("§4.4"),
        count("max_batch", |c: &mut Self| Some(&mut c.max_batch), "the largest batch"),
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
        word(
            "queue",
            |c: &mut Self| &mut c.queue,
            "how the pending requests are kept; decisions are the same",
        )
        .from("§4.4: a dynamic convex hull; which is faster: docs/performance.md"),
    ];

    fn needs_profiler(&self) -> bool {
        self.relearn_every > 0
    }
}
