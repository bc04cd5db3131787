//! What a load of 1 is: the most requests a second that the devices carry at best. And which batches a device
//! cannot take.

use orrery_run::{PolicySpec, Setup};
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

/// The unit of a campaign's loads: requests a second that all devices carry when each batch has the size that costs least for each
/// request, of the sizes k with `2 L(k) <= SLO`: a request may just miss a batch and then waits for
/// it. `L(k)` is the mean latency of a batch of k requests drawn from the workload, on the first kind
/// of device. Models share the devices by the weights of their applications. No bound: the most that can be answered in
/// time is `orrery_scenario::search::capacity_per_s`, of the sizes with `l(k) <= SLO`.
pub fn load_of_one_per_s(setup: &Setup) -> f64 {
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

/// The least batch of a model that a device cannot take and a policy may make, with its mean time: its own largest
/// batch is larger, and the batch ends within the model's longest SLO. `limits` has the most items of each model's
/// batches.
pub fn beyond(setup: &Setup, policy: &PolicySpec, limits: &[Option<u32>]) -> Option<Beyond> {
    let most = policy.batch_max()?;
    let model = |(model, limit): (usize, &Option<u32>)| {
        let (apps, limit) = (apps_of(setup, model), (*limit)?);
        let requests = limit / apps.iter().map(|a| a.size).max().unwrap_or(1) + 1;
        let time = mean_batch(&setup.world.latency[0][model], &apps, requests);
        let slo = apps.iter().map(|a| a.slo).max()?;
        (requests <= most && time <= slo).then_some(Beyond { model, requests, limit, time, slo })
    };
    limits.iter().enumerate().find_map(model)
}

/// A batch that a device cannot take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Beyond {
    /// Of which model.
    pub model: usize,
    /// Its requests.
    pub requests: u32,
    /// The most items that the device takes.
    pub limit: u32,
    /// Its mean time by the law.
    pub time: Span,
    /// The longest SLO of the model.
    pub slo: Span,
}

impl Beyond {
    /// What was found, what is allowed, and the remedy.
    pub fn told(&self, policy: &PolicySpec, models: &[String]) -> [String; 3] {
        let Beyond { model, requests, limit, time, slo } = self;
        let (ms, slo_ms) = (time.as_ms_f64(), slo.as_ms_f64());
        let name = models.get(*model).map_or("", String::as_str);
        [
            format!(
                "`{policy}`, which may run {requests} requests of `{name}` together: {ms:.2} ms of an SLO of {slo_ms:.2}"
            ),
            format!("batches of at most {limit}: `max_batch` of `{name}` on the device"),
            format!(
                "raise `max_batch` in the device's configuration, or give the policy `max_batch={limit}`"
            ),
        ]
    }
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

    fn setup(slo_ms: f64) -> Setup {
        let text = format!(
            "policies = [\"fifo\"]\narrivals = {{ poisson = {{ rate_per_s = 1.0 }}, requests = 1 }}\n\
             profile = {{ sizes = [1, 2, 4, 8] }}\n\
             [[model]]\nname = \"m\"\nslo_ms = {slo_ms:?}\n\
             latency = {{ affine = {{ alpha_ms = 1.0, beta_ms = 4.0 }} }}\n\
             [[device]]\ncount = 2\n\
             [[app]]\nname = \"a\"\nmodel = \"m\"\ntime = {{ constant = {{ ms = 5.0 }} }}\n"
        );
        Scenario::from_text("s.toml", &text).unwrap().setup(1).unwrap()
    }

    fn capacity(slo_ms: f64) -> f64 {
        load_of_one_per_s(&setup(slo_ms))
    }

    #[test]
    fn a_batch_beyond_the_device_is_one_that_the_policy_and_the_slo_allow() {
        let found = |policy: &str, slo_ms: f64, limit: Option<u32>| {
            beyond(&setup(slo_ms), &PolicySpec::parse(policy).unwrap(), &[limit])
        };
        // Five take 9 ms.
        let five = found("symphony", 20.0, Some(4)).expect("it may make 499");
        let ms = Span::from_ms;
        let whole = Beyond { model: 0, requests: 5, limit: 4, time: ms(9), slo: ms(20) };
        assert_eq!(five, whole);
        assert_eq!(found("symphony", 9.0, Some(4)).map(|b| b.requests), Some(5));
        assert_eq!(found("symphony", 8.9, Some(4)), None, "five are never in time");
        assert_eq!(found("symphony[max_batch=4]", 20.0, Some(4)), None, "it makes none");
        assert_eq!(found("symphony", 20.0, None), None, "the device takes any");
        let policy = PolicySpec::parse("symphony").unwrap();
        let told = five.told(&policy, &["m".to_string()]).join("; ");
        for words in
            ["5 requests of `m` together: 9.00 ms of an SLO of 20.00", "at most 4", "max_batch=4"]
        {
            assert!(told.contains(words), "{told}");
        }
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
