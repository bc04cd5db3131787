//! Symphony's parameters, its presets and its name.

use crate::time::Span;

/// Which requests make the batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gather {
    /// Heads are passed over that would make the batch smaller than the target (released default).
    WindowDrop,
    /// The largest batch from the head of the queue (paper; released as `kDropTimeout`).
    Head,
    /// As the window, but nothing is dropped: late requests are served first.
    Fcfs,
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

/// Which GPU a due candidate takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    /// The one that has been free for longest; of equals, the last to become so (released).
    EarliestFree,
    /// The free one with the smallest id (paper, Algorithm 1).
    SmallestId,
}

/// Symphony's parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Config {
    /// Which requests make the batch.
    pub gather: Gather,
    /// When it becomes due.
    pub dispatch: Dispatch,
    /// Which GPU it takes.
    pub gpu: Choice,
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
            gpu: Choice::EarliestFree,
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
            gpu: Choice::SmallestId,
            jitter: Span::ZERO,
            ..Config::released().without_reserves()
        }
    }

    /// The same on a network that takes no time.
    pub fn without_reserves(self) -> Config {
        Config { ctrl: Span::ZERO, data: Span::ZERO, resp: Span::ZERO, ..self }
    }

    /// The policy's name with all of them.
    pub(super) fn name(&self) -> String {
        let c = self;
        let gather = match c.gather {
            Gather::WindowDrop => "window-drop",
            Gather::Head => "head",
            Gather::Fcfs => "fcfs",
        };
        let dispatch = match c.dispatch {
            Dispatch::Frontrun => "frontrun".to_string(),
            Dispatch::Eager => "eager".to_string(),
            Dispatch::Latest => "latest".to_string(),
            Dispatch::Timeout(percent) => format!("timeout,timeout_pct={percent}"),
        };
        let gpu = match c.gpu {
            Choice::EarliestFree => "earliest-free",
            Choice::SmallestId => "smallest-id",
        };
        let stale = if c.stale_gpu_timer { ",stale_gpu_timer=true" } else { "" };
        format!(
            "symphony[gather={gather},dispatch={dispatch},gpu={gpu},ctrl_ms={},data_ms={},\
             resp_ms={},jitter_ms={},margin_ms={},sample_ms={},window={},max_batch={}{stale}]",
            c.ctrl.as_ms_f64(),
            c.data.as_ms_f64(),
            c.resp.as_ms_f64(),
            c.jitter.as_ms_f64(),
            c.margin.as_ms_f64(),
            c.sample.as_ms_f64(),
            c.window,
            c.max_batch
        )
    }
}
