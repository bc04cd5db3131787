//! Clockwork's parameters. What they do is in the policy.

use crate::policy::parameters::{
    About, Assumption, Parameter, Preset, Settings, count, ms, seconds, word, words,
};
use crate::profile::ModelProfile;
use crate::time::Span;

words! {
    /// How the duration of a batch is estimated.
    pub enum Estimator {
        /// Released.
        P99Of10 = "p99-of-10": "the 0.99 quantile of the last ten, interpolated between the two largest",
        WindowMean = "window-mean": "the mean of the last ten",
        StaticMean = "static-mean": "the profile's mean, never corrected",
    }
}

words! {
    /// Which batch sizes a model has.
    pub enum Sizes {
        /// Released: 1, 2, 4, 8, 16.
        Profile = "profile": "those of its profile, as compiled",
        /// What was not measured follows the profile's law.
        All = "all": "every size, as Symphony's authors gave it (its §5.1)",
    }
}

words! {
    /// Which models are loaded, and what a load is believed to take.
    pub enum LoadRule {
        Paper = "paper":
            "models of positive priority, for requests that a load can still help; a load takes what the \
             profile says",
        /// INFER5 is the released scheduler.
        Infer5 = "infer5":
            "models with any demand, for requests until they are sent or dropped; a load takes the 0.99 \
             quantile of the last ten",
        /// INFER4 is the scheduler before it.
        Infer4 = "infer4":
            "models with any demand, for requests that a load can still help; at most two loads outstanding \
             on a device and one decision in 0.1 ms",
    }
}

words! {
    /// When a request that cannot be in time is answered.
    pub enum Answer {
        AtOnce = "at-once": "as soon as that is known",
        AtDeadline = "at-deadline": "at its internal deadline, as released",
    }
}

/// Clockwork's parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    /// How durations are estimated.
    pub estimator: Estimator,
    /// Work is issued while less than this is outstanding. Released: 10 ms; paper, §5.3: 5 ms.
    pub ahead: Span,
    /// A batch may start this long after its expected start. Released: 10 ms.
    pub width: Span,
    /// Taken off the SLO. Released: 5 ms.
    pub buffer: Span,
    /// A new action leads by this. Released: 1 ms.
    pub lead: Span,
    /// An action overdue by more than this is believed to end now. Released: 10 ms.
    pub lag: Span,
    /// The largest batch size. Released (INFER5): 8.
    pub max_batch: u32,
    /// Sizes whose seed profile exceeds this are not served. Released: 250 ms.
    pub max_exec: Span,
    /// Which sizes there are, up to `max_batch`.
    pub sizes: Sizes,
    /// A size that was not measured for so long is believed to take its seed again; zero: never.
    /// Neither paper nor code has it.
    pub probe: Span,
    /// Which models are loaded.
    pub loads: LoadRule,
    /// When a request that cannot be in time is answered.
    pub answer: Answer,
}

impl Config {
    /// What the authors' code does with its defaults.
    pub fn released() -> Config {
        let ms = Span::from_ms;
        Config {
            estimator: Estimator::P99Of10,
            ahead: ms(10),
            width: ms(10),
            buffer: ms(5),
            lead: ms(1),
            lag: ms(10),
            max_batch: 8,
            max_exec: ms(250),
            sizes: Sizes::Profile,
            probe: Span::ZERO,
            loads: LoadRule::Infer5,
            answer: Answer::AtOnce,
        }
    }

    /// What the paper says and the code does not.
    pub fn paper() -> Config {
        Config {
            ahead: Span::from_ms(5),
            max_batch: 16,
            loads: LoadRule::Paper,
            ..Config::released()
        }
    }

    /// INFER5 in what `released` leaves out: when it answers.
    pub fn infer5() -> Config {
        Config { answer: Answer::AtDeadline, ..Config::released() }
    }

    /// INFER4, the released scheduler before INFER5.
    pub fn infer4() -> Config {
        Config { loads: LoadRule::Infer4, max_batch: 16, ..Config::infer5() }
    }

    /// The batch sizes of a model, growing; the smallest always stays.
    pub(super) fn sizes_of(&self, profile: &ModelProfile) -> Vec<u32> {
        match self.sizes {
            Sizes::Profile => profile.sizes_within(self.max_exec, self.max_batch),
            Sizes::All => profile.every_size_within(self.max_exec, self.max_batch),
        }
    }
}

impl Settings for Config {
    const ABOUT: About = About {
        name: "clockwork",
        what: "strategies by model and batch size, actions with a window in which they may start",
        paper: "Clockwork (Gujarati et al., OSDI 2020), §4.5 and §5.3",
    };
    const ASSUMES: &'static [Assumption] = &[Assumption::KnownTimes, Assumption::OneKind];
    const LOADS: bool = true;
    const PRESETS: &'static [Preset<Config>] = &[
        Preset {
            name: "released",
            what: "what the authors' code (INFER5) does with its defaults",
            make: Config::released,
        },
        Preset {
            name: "paper",
            what: "5 ms of work ahead, batches of up to 16, and its text's loads; the rest as released",
            make: Config::paper,
        },
        Preset {
            name: "infer5",
            what: "released, with answers at the internal deadline",
            make: Config::infer5,
        },
        Preset {
            name: "infer4",
            what: "the same of INFER4: batches of up to 16, its own limits on loads",
            make: Config::infer4,
        },
    ];
    const PARAMETERS: &'static [Parameter<Config>] = &[
        word(
            "estimator",
            |c: &mut Self| &mut c.estimator,
            "how the duration of a batch is estimated",
        )
        .from("released: sliding_window.h"),
        ms(
            "ahead_ms",
            |c: &mut Self| &mut c.ahead,
            "work is issued while less than this is outstanding",
        )
        .from("§5.3: 5 ms; released: controller.cpp, schedule_ahead"),
        ms(
            "width_ms",
            |c: &mut Self| &mut c.width,
            "a batch may start this long after its expected start",
        )
        .from("released: controller.cpp, latest_delta"),
        ms("buffer_ms", |c: &mut Self| &mut c.buffer, "safety margin subtracted from the SLO")
            .from("released: infer5_scheduler.h"),
        ms("lead_ms", |c: &mut Self| &mut c.lead, "lead time of a new action")
            .from("released: infer5_scheduler.h, future"),
        ms(
            "lag_ms",
            |c: &mut Self| &mut c.lag,
            "an action that is overdue by more than this is assumed to end now",
        )
        .from("released: infer5_scheduler.h"),
        count("max_batch", |c: &mut Self| Some(&mut c.max_batch), "maximum number of requests in a batch")
            .from("§5.1: 16; released (INFER5): controller.cpp"),
        ms(
            "max_exec_ms",
            |c: &mut Self| &mut c.max_exec,
            "a batch size is not used if its seed profile exceeds this, except the smallest size",
        )
        .from("released: controller.cpp"),
        word("sizes", |c: &mut Self| &mut c.sizes, "the available batch sizes, up to max_batch"),
        seconds(
            "probe_s",
            |c: &mut Self| &mut c.probe,
            "after this time without a measurement, a size's estimate returns to its seed profile; 0: never, so that a size whose estimate has exceeded what an SLO leaves is not tried again, nor are larger ones",
        )
        .quiet()
        .from("ours: neither paper nor code has it"),
        word("loads", |c: &mut Self| &mut c.loads, "which models are loaded where memory is counted")
            .quiet()
            .from("§5.3; released: load_tracker.cpp, infer4_scheduler.cpp, infer5_scheduler.cpp"),
        word(
            "answer",
            |c: &mut Self| &mut c.answer,
            "when a request that cannot be in time is answered",
        )
        .quiet()
        .from("released: at its internal deadline"),
    ];
}
