//! What the devices of a scenario can compute at most, in closed form.

use crate::scenario::Scenario;
use orrery_run::PolicySpec;
use orrery_run::Setup;
use orrery_sim::latency::{Latency, Noise};
use orrery_sim::time::{NS_PER_S, Span};
use orrery_traces::exec_time::ExecLaw;

/// The largest batch of the simulator.
const BATCH_MAX: u32 = 4096;

/// The most requests that all devices together can answer in time in a second, each always busy with
/// batches of the size that takes least time for each request:
///
/// ```text
/// devices / sum over models of (share · min over k of l(k) / k)
/// ```
///
/// with `l(k)` within the model's longest SLO and `k` at most the policy's largest batch. `shares` are
/// the models' shares of the requests; without them the applications' weights say so. `None` where the
/// form does not hold: noise, samples, varying sizes or execution times, loads with processes of their own,
/// clusters that grow. 0 when some model's batch of one does not fit its SLO.
pub fn capacity_per_s(
    scenario: &Scenario,
    setup: &Setup,
    policy: Option<&PolicySpec>,
    shares: Option<&[f64]>,
) -> Option<f64> {
    let file = &scenario.file;
    let plain =
        setup.apps.iter().all(|a| a.size == 1) && file.app.iter().all(|a| a.sizes.is_none());
    let steady = setup.world.noise == Noise::None
        && setup.world.batch_noise.is_empty()
        && setup.world.stalls.is_none()
        && setup.world.changes.is_empty()
        && setup.autoscale.is_none()
        && file.closed_loop.is_none();
    if !plain || !steady {
        return None;
    }
    let models = setup.slo.len();
    let weights = match shares {
        Some(shares) => shares.to_vec(),
        None if models == 1 => vec![1.0],
        None if has_own_processes(scenario) => return None,
        None => weights(setup),
    };
    let total: f64 = weights.iter().sum();
    let most = policy.and_then(PolicySpec::batch_max).unwrap_or(BATCH_MAX).min(BATCH_MAX);
    let devices = setup.world.core.devices.iter();
    let lanes: u64 = devices.map(|d| u64::from(d.sharing.devices(d.lanes))).sum();
    let mut ns_per_request = 0.0;
    for (model, weight) in weights.iter().enumerate().filter(|(_, w)| **w > 0.0) {
        let alone = alone(setup, model)?;
        let slo = longest_slo(setup, model);
        let kinds = setup.world.core.devices.iter().map(|d| d.kind as usize);
        let mut best = f64::INFINITY;
        for kind in kinds.collect::<std::collections::BTreeSet<usize>>() {
            let law = &setup.world.latency[kind][model];
            if matches!(law, Latency::Samples(_)) {
                return None;
            }
            let sizes = (1..=most).map(|k| (k, law.batch(k, alone)));
            let of = sizes.filter(|(_, l)| *l <= slo).map(|(k, l)| l.ns() as f64 / f64::from(k));
            best = of.fold(best, f64::min);
        }
        if best.is_infinite() {
            return Some(0.0);
        }
        ns_per_request += weight / total * best;
    }
    Some(lanes as f64 * NS_PER_S as f64 / ns_per_request)
}

fn has_own_processes(scenario: &Scenario) -> bool {
    let shared = |a: &crate::scenario::file::Arrivals| {
        a.apps.is_none() && !a.trace.as_ref().is_some_and(|t| t.per_function)
    };
    !scenario.file.arrivals.as_ref().is_some_and(shared)
}

fn weights(setup: &Setup) -> Vec<f64> {
    let mut weights = vec![0.0; setup.slo.len()];
    setup.apps.iter().for_each(|app| weights[app.model.index()] += app.weight);
    weights
}

/// The execution time alone of a model's requests, of several the shortest; zero where the model's laws ignore
/// it, `None` where it varies.
pub fn alone(setup: &Setup, model: usize) -> Option<Span> {
    let depends = setup.world.latency.iter().any(|kind| kind[model].depends_on_longest());
    if !depends {
        return Some(Span::ZERO);
    }
    let mut shortest = None;
    for app in setup.apps.iter().filter(|a| a.model.index() == model) {
        let ExecLaw::Constant(alone) = app.law else { return None };
        shortest = Some(shortest.map_or(alone, |s: Span| s.min(alone)));
    }
    shortest
}

fn longest_slo(setup: &Setup, model: usize) -> Span {
    let own = setup.apps.iter().filter(|a| a.model.index() == model).map(|a| a.slo);
    own.fold(setup.slo[model], Span::max)
}
