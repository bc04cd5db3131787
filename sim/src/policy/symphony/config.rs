//! Symphony's parameters, its presets and its name.

use crate::policy::parameters::{
    About, Assumption, Parameter, Preset, Settings, Words, count, flag, ms, number, word, words,
};
use crate::time::Span;

words! {
    /// Which requests make the batch.
    pub enum Gather {
        /// Released default.
        WindowDrop = "window-drop": "skips heads that would make the batch smaller than the target",
        /// Paper; released as `kDropTimeout`.
        Head = "head": "the largest batch from the head of the queue",
        Fcfs = "fcfs": "like window-drop, but drops nothing: late requests go first",
    }
}

/// When a candidate becomes due.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Dispatch {
    /// When one more request would no longer fit.
    Frontrun,
    /// At once.
    Eager,
    /// When it must start.
    Latest,
    /// So many percent of the SLO after the arrival of its first request.
    Timeout(f64),
}

impl Words for Dispatch {
    const WORDS: &'static [(&'static str, Dispatch, &'static str)] = &[
        ("frontrun", Dispatch::Frontrun, "when one more request would no longer fit"),
        ("eager", Dispatch::Eager, "at once"),
        ("latest", Dispatch::Latest, "when it must start"),
        ("timeout", Dispatch::Timeout(0.0), "a share of the SLO after its first request came"),
    ];
}

words! {
    /// Which GPU a due candidate takes.
    pub enum GpuChoice {
        /// Of equals, the last to become so (released).
        EarliestFree = "earliest-free": "the one that has been free for longest",
        /// Paper, Algorithm 1.
        SmallestId = "smallest-id": "the free one with the smallest id",
    }
}

/// Symphony's parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Config {
    /// Which requests make the batch.
    pub gather: Gather,
    /// When it becomes due.
    pub dispatch: Dispatch,
    /// Which GPU it takes.
    pub gpu: GpuChoice,
    /// A batch is sent this long before its start. Released: 100 us.
    pub ctrl: Span,
    /// And this much longer for each request. Released: 50 us.
    pub data: Span,
    /// Taken off the SLO for the answer's way back. Released: 2 ms.
    pub resp: Span,
    /// A candidate is due this much before its moment, for timers that are late. Released: 20 us.
    pub jitter: Span,
    /// Taken off half the SLO for the first target. Released: 2 ms (model_db.h).
    pub margin: Span,
    /// The length of a sample of the rate. Released: 50 ms.
    pub sample: Span,
    /// The samples that the rate is a mean of. Released: 100.
    pub window: u32,
    /// The largest batch. Released: 499 (sleep_profile.h).
    pub max_batch: u32,
    /// Whether a GPU that is taken by a candidate that became due keeps the timer it was armed with.
    /// Released: yes; off here.
    pub stale_gpu_timer: bool,
}

impl Config {
    /// What the authors' code does with its defaults, but for the timer that it forgets.
    pub fn released() -> Config {
        Config {
            gather: Gather::WindowDrop,
            dispatch: Dispatch::Frontrun,
            gpu: GpuChoice::EarliestFree,
            ctrl: Span::from_us(100),
            data: Span::from_us(50),
            resp: Span::from_ms(2),
            jitter: Span::from_us(20),
            margin: Span::from_ms(2),
            sample: Span::from_ms(50),
            window: 100,
            max_batch: 499,
            stale_gpu_timer: false,
        }
    }

    /// What the paper's text says (Algorithm 1), on a network that takes no time.
    pub fn paper() -> Config {
        Config {
            gather: Gather::Head,
            gpu: GpuChoice::SmallestId,
            jitter: Span::ZERO,
            ..Config::released().without_reserves()
        }
    }

    /// The same on a network that takes no time.
    pub fn without_reserves(self) -> Config {
        Config { ctrl: Span::ZERO, data: Span::ZERO, resp: Span::ZERO, ..self }
    }
}

impl Settings for Config {
    const ABOUT: About = About {
        name: "symphony",
        what: "deferred batches; models and GPUs find each other at the last useful moment",
        paper: "Symphony (Chen et al., arXiv 2308.07470v2, 2024), §3.2 and App. D",
    };
    const ASSUMES: &'static [Assumption] = &[Assumption::KnownTimes, Assumption::OneKind];
    const PRESETS: &'static [Preset<Config>] = &[
        Preset {
            name: "released",
            what: "branch `priority` with its defaults, but for the timer that it forgets",
            make: Config::released,
        },
        Preset {
            name: "paper",
            what: "Algorithm 1, on a network that takes no time",
            make: Config::paper,
        },
    ];
    const PARAMETERS: &'static [Parameter<Config>] = &[
        word("gather", |c: &mut Self| &mut c.gather, "which requests form the batch")
            .from("Algorithm 1: head; released: batch_policy.cpp"),
        word("dispatch", |c: &mut Self| &mut c.dispatch, "when a candidate is dispatched")
            .from("§3.2; released: model_thread.cpp"),
        number(
            "timeout_pct",
            0.0..=100.0,
            |c: &mut Self| match &mut c.dispatch {
                Dispatch::Timeout(percent) => Some(percent),
                _ => None,
            },
            "percent of the SLO that a batch waits from the arrival of its first request",
        )
        .needs("dispatch", "timeout")
        .from("Fig. 6b"),
        word("gpu", |c: &mut Self| &mut c.gpu, "which GPU a due candidate takes")
            .from("Algorithm 1: smallest-id; Fig. 18 and released: earliest-free"),
        ms("ctrl_ms", |c: &mut Self| &mut c.ctrl, "a batch is sent this long before it starts")
            .from("App. D, d_ctrl; released: 100 us"),
        ms("data_ms", |c: &mut Self| &mut c.data, "plus this time for each request")
            .from("App. D, d_data; released: 50 us"),
        ms(
            "resp_ms",
            |c: &mut Self| &mut c.resp,
            "subtracted from the SLO for the answer's way back",
        )
        .from("released: d_resp, model_thread.cpp"),
        ms(
            "jitter_ms",
            |c: &mut Self| &mut c.jitter,
            "a candidate is due this much earlier, to allow for late timers",
        )
        .from("released: model_thread.cpp"),
        ms(
            "margin_ms",
            |c: &mut Self| &mut c.margin,
            "subtracted from half the SLO for the first target",
        )
        .from("released: model_db.h"),
        ms("sample_ms", |c: &mut Self| &mut c.sample, "the length of a sample of the rate")
            .positive()
            .from("released: rps_meter.cpp"),
        count(
            "window",
            |c: &mut Self| Some(&mut c.window),
            "number of samples that the rate is averaged over",
        )
        .from("released: rps_meter.cpp"),
        count(
            "max_batch",
            |c: &mut Self| Some(&mut c.max_batch),
            "maximum number of requests in a batch",
        )
        .from("released: sleep_profile.h"),
        flag(
            "stale_gpu_timer",
            |c: &mut Self| &mut c.stale_gpu_timer,
            "whether a GPU keeps its timer when a candidate takes it",
        )
        .quiet()
        .from("released: true, rank_thread.cpp"),
    ];
}
