//! The closed loop of a scenario: from `[closed_loop]` to a source, made anew for each seed.
//!
//! `check.rs` has checked its values.

use super::check::{chosen, clients_of};
use crate::scenario::file::{ClosedLoop, ScenarioFile, Think};
use crate::scenario::value::{at_key, duration_s, requests, span_ms};
use orrery_run::SpecError;
use orrery_sim::time::Span;
use orrery_traces::closed_loop::{self, Clients};
use orrery_traces::workload::Application;

/// The clients and who they send for.
#[derive(Clone)]
pub(crate) struct ClosedLoad {
    clients: Clients,
    /// With the number of clients, where each application has its own.
    apps: Vec<(Application, u32)>,
    per_app: bool,
}

impl ClosedLoad {
    /// From the keys.
    pub(crate) fn read(
        file: &ScenarioFile,
        c: &ClosedLoop,
        apps: &[Application],
    ) -> Result<ClosedLoad, SpecError> {
        let think = match c.think {
            Think::ConstantMs(ms) => closed_loop::Think::Constant(Span::from_ms_f64(ms)),
            Think::ExponentialMs(ms) => closed_loop::Think::Exponential(Span::from_ms_f64(ms)),
        };
        let clients = Clients {
            pause: span_ms("closed_loop.pause_ms", c.pause_ms)?,
            ramp: span_ms("closed_loop.ramp_ms", c.ramp_ms)?,
            horizon: duration_s("closed_loop.duration_s", c.duration_s)?,
            max_requests: requests("closed_loop.requests", c.requests)?,
            ..Clients::new(c.clients, think)
        };
        let chosen = chosen(file, "closed_loop.apps", c.apps.as_deref())?;
        let counts = clients_of(file, c, &chosen)?;
        let with = |(i, n): (usize, u32)| Some((apps.get(i)?.clone(), n));
        let apps = chosen.into_iter().zip(counts).filter_map(with).collect();
        Ok(ClosedLoad { clients, apps, per_app: c.per_app })
    }

    /// The applications that it sends for; with clients of their own, weighted by how many.
    pub(crate) fn senders(&self) -> Vec<Application> {
        let sender = |(app, n): &(Application, u32)| {
            let weight = if self.per_app { f64::from(*n) } else { app.weight };
            Application { weight, ..app.clone() }
        };
        self.apps.iter().map(sender).collect()
    }

    /// The source of a seed.
    pub(crate) fn source(&self, seed: u64) -> Result<closed_loop::ClosedLoop, SpecError> {
        let source = if self.per_app {
            closed_loop::ClosedLoop::per_app(self.clients, self.apps.clone(), seed)
        } else {
            let apps = self.apps.iter().map(|(app, _)| app.clone()).collect();
            closed_loop::ClosedLoop::new(self.clients, apps, seed)
        };
        source.map_err(|e| at_key("closed_loop", e))
    }
}
