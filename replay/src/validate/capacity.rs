//! What a load of 1 is: the most requests a second that the devices carry at best.

use orrery_scenario::Setup;
use orrery_sim::latency::Latency;
use orrery_sim::rng::Stream;
use orrery_sim::time::Span;
use orrery_traces::workload::Application;

/// Draws behind a mean.
const DRAWS: u64 = 400;

/// The mean time of a batch of one of a model, over its applications by weight.
pub fn time_of_one(setup: &Setup, model: usize) -> Span {
    mean_batch(&setup.world.latency[0][model], &apps_of(setup, model), 1)
}

/// Requests a second that all devices carry when each batch has the size that costs least for each
/// request, of the sizes k with `2 L(k) <= SLO`: a request may just miss a batch and then waits for
/// it. `L(k)` is the mean latency of a batch of k requests drawn from the workload, on the first kind
/// of device. Models share the devices by the weights of their applications.
pub fn capacity_per_s(setup: &Setup) -> f64 {
    let total: f64 = setup.apps.iter().map(|a| a.weight).sum();
    let mut seconds_per_request = 0.0;
    for (m, law) in setup.world.latency[0].iter().enumerate() {
        let apps = apps_of(setup, m);
        let weight: f64 = apps.iter().map(|a| a.weight).sum();
        if weight == 0.0 {
            continue;
        }
        let slo = apps.iter().map(|a| a.slo).min().unwrap_or(Span::MAX);
        let each = |k: &u32| {
            let batch = mean_batch(law, &apps, *k);
            (*k == 1 || batch * 2 <= slo).then(|| batch.as_secs_f64() / f64::from(*k))
        };
        let least = setup.profile.sizes.iter().filter_map(each).fold(f64::INFINITY, f64::min);
        let one = mean_batch(law, &apps, 1).as_secs_f64();
        seconds_per_request += weight / total * least.min(one);
    }
    let devices = setup.world.core.devices.iter();
    let lanes: u32 = devices.map(|d| u32::from(d.sharing.devices(d.lanes))).sum();
    f64::from(lanes) / seconds_per_request
}

fn apps_of(setup: &Setup, model: usize) -> Vec<&Application> {
    setup.apps.iter().filter(|a| a.model.index() == model).collect()
}

fn mean_batch(law: &Latency, apps: &[&Application], k: u32) -> Span {
    let mut stream = Stream::named(1, "campaign capacity", u64::from(k));
    let total: f64 = apps.iter().map(|a| a.weight).sum();
    let mut draw = || {
        let mut u = stream.uniform() * total;
        let chosen = apps.iter().find(|a| {
            u -= a.weight;
            u < 0.0
        });
        let app = chosen.or(apps.last());
        app.map_or(Span::ZERO, |a| a.law.sample(&mut stream))
    };
    let units: u32 = k.saturating_mul(apps.first().map_or(1, |a| a.size));
    let batch = |_| {
        let longest = (0..k).map(|_| draw()).max().unwrap_or(Span::ZERO);
        law.batch(units, longest).ns() as f64
    };
    Span::from_ns_f64((0..DRAWS).map(batch).sum::<f64>() / DRAWS as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use orrery_scenario::Scenario;

    fn capacity(slo_ms: f64) -> f64 {
        let text = format!(
            "policies = [\"fifo\"]\narrivals = {{ poisson = {{ rate_per_s = 1.0 }}, requests = 1 }}\n\
             profile = {{ sizes = [1, 2, 4, 8] }}\n\
             [[model]]\nname = \"m\"\nslo_ms = {slo_ms:?}\n\
             latency = {{ affine = {{ alpha_ms = 1.0, beta_ms = 4.0 }} }}\n\
             [[device]]\ncount = 2\n\
             [[app]]\nname = \"a\"\nmodel = \"m\"\ntime = {{ constant = {{ ms = 5.0 }} }}\n"
        );
        let scenario = Scenario::from_text("s.toml", &text).unwrap();
        capacity_per_s(&scenario.setup(1).unwrap())
    }

    #[test]
    fn capacity_by_hand() {
        // Two devices; a batch of 8 takes 12 ms, of 4 takes 8 ms, of 1 takes 5 ms.
        let near = |a: f64, b: f64| (a / b - 1.0).abs() < 1e-9;
        assert!(near(capacity(24.0), 2.0 * 8.0 / 0.012));
        assert!(near(capacity(23.0), 2.0 * 4.0 / 0.008));
        assert!(near(capacity(6.0), 2.0 / 0.005), "one alone always counts");
    }
}
