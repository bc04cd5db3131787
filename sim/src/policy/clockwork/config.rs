//! Clockwork's parameters. What they do is in the policy.

use crate::profile::ModelProfile;
use crate::time::Span;

/// How the duration of a batch is estimated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Estimator {
    /// The 0.99 quantile of the last ten, interpolated between the two largest (released).
    P99Of10,
    /// The mean of the last ten.
    WindowMean,
    /// The profile's mean, never corrected.
    StaticMean,
}

/// Which batch sizes a model has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sizes {
    /// Those of its profile, as compiled (released: 1, 2, 4, 8, 16).
    Profile,
    /// Every size, as Symphony's authors gave it; what was not measured follows the profile's law.
    All,
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
        }
    }

    /// The policy's name with these parameters.
    pub(super) fn name(&self) -> String {
        let estimator = match self.estimator {
            Estimator::P99Of10 => "p99-of-10",
            Estimator::WindowMean => "window-mean",
            Estimator::StaticMean => "static-mean",
        };
        let sizes = match self.sizes {
            Sizes::Profile => "profile",
            Sizes::All => "all",
        };
        let probe = match self.probe {
            Span::ZERO => String::new(),
            probe => format!(",probe_s={}", probe.as_secs_f64()),
        };
        format!(
            "clockwork[estimator={estimator},ahead_ms={},width_ms={},buffer_ms={},lead_ms={},\
             lag_ms={},max_batch={},max_exec_ms={},sizes={sizes}{probe}]",
            self.ahead.as_ms_f64(),
            self.width.as_ms_f64(),
            self.buffer.as_ms_f64(),
            self.lead.as_ms_f64(),
            self.lag.as_ms_f64(),
            self.max_batch,
            self.max_exec.as_ms_f64()
        )
    }

    /// The batch sizes of a model, growing; the smallest always stays.
    pub(super) fn sizes_of(&self, profile: &ModelProfile) -> Vec<u32> {
        match self.sizes {
            Sizes::Profile => profile.sizes_within(self.max_exec, self.max_batch),
            Sizes::All => profile.every_size_within(self.max_exec, self.max_batch),
        }
    }
}
