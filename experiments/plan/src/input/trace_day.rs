//! A trace as a day: how many requests it has in each of so many equal steps, and the steady load of each application that
//! stands for it in the scenarios of pools of some models, whose arrivals are taken from the trace of all (`own_step.rs`).

use orrery_run::SpecError;
use orrery_scenario::Scenario;
use orrery_scenario::scenario::file::{Arrivals, ScenarioFile, SteadyArrivals};
use orrery_sim::time::Span;

const KEY: &str = "day.trace_steps";

/// A trace as a day.
pub(crate) struct OfTrace {
    /// The hour and the load of each step relative to the trace's mean.
    pub profile: Vec<(f64, f64)>,
    /// How long the day is in the trace.
    pub length: Span,
    /// Of all of the trace, at its own rate.
    pub rate_per_s: f64,
    by_app: Vec<u64>,
}

/// Counts the arrivals of a trace, all of it taken as one day. The day is as long as the trace, whose quiet minutes are a
/// part of it, or as what `requests` leaves of it.
///
/// # Errors
/// When the arrivals are no trace, or it cannot be read.
pub(crate) fn of_trace(
    trace: &Scenario,
    (steps, hours, seed): (u32, u32, u64),
) -> Result<OfTrace, SpecError> {
    if !trace.file.arrivals.as_ref().is_some_and(Arrivals::is_finite) {
        let allowed = "a scenario with `arrivals.trace`, or a list with `replay`";
        let is_list = trace
            .file
            .arrivals
            .as_ref()
            .is_some_and(|a| a.workload.is_some() || a.queries.is_some() || a.llm.is_some());
        let (found, remedy) = match is_list {
            true => ("a list without `replay`", "add `replay = { times = 1 }` to its `arrivals`"),
            false => ("arrivals without a trace", "write the steps in `profile`"),
        };
        return Err(SpecError::value(KEY, found, allowed, remedy));
    }
    let mut trace = trace.clone();
    // Which device fits is not asked here.
    trace.file.allow_hopeless_slo = true;
    let setup = trace.setup(seed)?;
    let whole_ns = trace.trace_length()?.ns();
    let arrivals = trace.file.arrivals.as_ref();
    let limits = [arrivals.and_then(|a| a.duration_s), trace.file.until_s].into_iter().flatten();
    let length_ns = limits.map(|s| Span::from_secs_f64(s).ns()).fold(whole_ns, u64::min);
    let mut times = Vec::new();
    let mut by_app = vec![0_u64; trace.file.app.len()];
    for mut source in setup.sources(seed)? {
        while source.peek().is_some() {
            let Some(arrival) = source.pop() else { break };
            if arrival.at.ns() >= length_ns {
                break;
            }
            times.push(arrival.at.ns());
            if let Some(count) = by_app.get_mut(arrival.app.index()) {
                *count += 1;
            }
        }
    }
    if times.is_empty() {
        let remedy = "take a longer part of the trace";
        return Err(SpecError::value(KEY, "a part of a trace without calls", "a call", remedy));
    }
    let limit = arrivals.and_then(|a| a.requests);
    let last = times.iter().max().filter(|_| limit.is_some_and(|most| times.len() as u64 >= most));
    let end = last.map_or(length_ns, |last| last + 1).max(1);
    let mut counts = vec![0_u64; steps as usize];
    for at in &times {
        counts[(u128::from(*at) * u128::from(steps) / u128::from(end)) as usize] += 1;
    }
    let rate_per_s = trace.rate()?;
    // The plan's load is the rate of the whole trace: of a part that is taken as the day, the own rate counts.
    let own = match end < whole_ns {
        true => times.len() as f64 / Span::from_ns(end).as_secs_f64() / rate_per_s,
        false => 1.0,
    };
    let mean = times.len() as f64 / f64::from(steps) / own;
    let step = |(i, count): (usize, &u64)| {
        (i as f64 * f64::from(hours) / f64::from(steps), *count as f64 / mean)
    };
    let profile = counts.iter().enumerate().map(step).collect();
    let length = Span::from_ns(end);
    Ok(OfTrace { profile, length, by_app, rate_per_s })
}

impl OfTrace {
    /// Replaces the trace in the file by Poisson arrivals with the same shares.
    pub fn as_poisson(&self, file: &mut ScenarioFile) {
        let mut of_app = self.by_app.iter().map(|count| *count as f64);
        file.app.iter_mut().for_each(|app| app.weight = of_app.next().unwrap_or(0.0));
        let models_of: Vec<String> =
            file.app.iter().filter(|a| a.weight > 0.0).map(|a| a.model.clone()).collect();
        file.app.retain(|app| app.weight > 0.0);
        file.model.retain(|model| models_of.contains(&model.name));
        file.arrivals = Some(Arrivals {
            // Each simulation sets its own.
            requests: Some(self.by_app.iter().sum()),
            per_app: true,
            poisson: Some(SteadyArrivals { rate_per_s: self.rate_per_s }),
            ..Arrivals::default()
        });
    }
}
