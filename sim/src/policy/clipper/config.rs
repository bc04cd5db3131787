//! Clipper's parameters. What they do is in the policy.

use crate::policy::parameters::{
    About, Parameter, Preset, Settings, Words, count, flag, number, word,
};

/// How the batch's size is found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Sizing {
    /// As the released commit does.
    Adaptive,
    /// As the paper says: additive increase, multiplicative decrease.
    Aimd {
        /// Added after a batch within the SLO.
        step: u32,
        /// Factor after a batch beyond it. Paper: 0.9.
        backoff: f64,
    },
    /// Up to a fixed size.
    Fixed(u32),
}

impl Words for Sizing {
    const WORDS: &'static [(&'static str, Sizing, &'static str)] = &[
        ("adaptive", Sizing::Adaptive, "by exploration first, then by a regression on latencies"),
        (
            "aimd",
            Sizing::Aimd { step: 1, backoff: 0.9 },
            "additive increase, multiplicative decrease",
        ),
        ("fixed", Sizing::Fixed(16), "up to a fixed size"),
    ];
}

/// Clipper's parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Config {
    /// How the batch's size is found.
    pub sizing: Sizing,
    /// Whether a default reply goes out at the deadline.
    pub default_reply: bool,
    /// Hard limit on a batch's size.
    pub max_batch: u32,
}

impl Config {
    /// What the released commit does with its defaults.
    pub fn released() -> Config {
        Config { sizing: Sizing::Adaptive, default_reply: true, max_batch: 64 }
    }

    /// What the paper's text says.
    pub fn paper() -> Config {
        Config { sizing: Sizing::Aimd { step: 1, backoff: 0.9 }, ..Config::released() }
    }
}

impl Settings for Config {
    const ABOUT: About = About {
        name: "clipper",
        what: "adaptive batching: finds the batch size that keeps the latency within the SLO",
        paper: "Clipper (Crankshaw et al., NSDI 2017), §4.3",
    };
    const PRESETS: &'static [Preset<Config>] = &[
        Preset {
            name: "released",
            what: "commit 9f25e3f: exploration and regression",
            make: Config::released,
        },
        Preset {
            name: "paper",
            what: "additive increase, multiplicative decrease",
            make: Config::paper,
        },
    ];
    const PARAMETERS: &'static [Parameter<Config>] = &[
        word("sizing", |c: &mut Self| &mut c.sizing, "how the batch size is chosen")
            .from("§4.3.1; released: src/containers.cpp"),
        count(
            "step",
            |c: &mut Self| match &mut c.sizing {
                Sizing::Aimd { step, .. } => Some(step),
                _ => None,
            },
            "increase of the limit after a full batch within the SLO",
        )
        .needs("sizing", "aimd")
        .from("§4.3.1"),
        number(
            "backoff",
            0.01..=0.99,
            |c: &mut Self| match &mut c.sizing {
                Sizing::Aimd { backoff, .. } => Some(backoff),
                _ => None,
            },
            "factor on the limit after a batch that exceeds the SLO",
        )
        .needs("sizing", "aimd")
        .from("§4.3.1: 10 % less"),
        count(
            "size",
            |c: &mut Self| match &mut c.sizing {
                Sizing::Fixed(size) => Some(size),
                _ => None,
            },
            "maximum number of requests in a batch",
        )
        .needs("sizing", "fixed")
        .from("released: a size given at deployment"),
        flag(
            "default_reply",
            |c: &mut Self| &mut c.default_reply,
            "whether a default reply is sent at the deadline",
        )
        .from("released: src/query_processor.cpp"),
        count(
            "max_batch",
            |c: &mut Self| Some(&mut c.max_batch),
            "maximum number of requests in a batch",
        ),
    ];
}
