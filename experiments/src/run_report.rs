//! The metrics of a scenario's policies as text, CSV and JSON.

use orrery_scenario::scenario::Scenario;
use orrery_sim::metrics::{Figures, Metrics};
use orrery_sim::request::End;
use serde_json::{Value, json};
use std::fmt::Write;

/// A policy and its metrics.
pub struct PolicyResult {
    /// The policy's name with its parameters.
    pub name: String,
    /// Its metrics.
    pub metrics: Metrics,
}

/// All of a scenario's policies.
pub struct RunReport<'a> {
    scenario: &'a Scenario,
    seed: u64,
    results: &'a [PolicyResult],
}

/// The quantiles of latency that are printed.
const QUANTILES: [(f64, &str); 4] = [(0.5, "p50"), (0.9, "p90"), (0.99, "p99"), (0.999, "p99.9")];

impl<'a> RunReport<'a> {
    /// A report of these results.
    pub fn new(scenario: &'a Scenario, seed: u64, results: &'a [PolicyResult]) -> RunReport<'a> {
        RunReport { scenario, seed, results }
    }

    /// Scope by scope: everything, then each model, then each application.
    fn scopes(&self, m: &Metrics) -> Vec<(String, Figures)> {
        let mut scopes = vec![("all".to_string(), m.total())];
        let models = self.scenario.model_names();
        let apps = self.scenario.app_names();
        let named =
            |prefix: &str, names: &[String], figures: &[Figures]| -> Vec<(String, Figures)> {
                let name = |i: usize| names.get(i).cloned().unwrap_or_else(|| i.to_string());
                let all = figures.iter().enumerate().filter(|(_, f)| f.offered > 0);
                all.map(|(i, f)| (format!("{prefix} {}", name(i)), f.clone())).collect()
            };
        scopes.extend(named("model", &models, &m.models()));
        if m.apps().len() > 1 {
            scopes.extend(named("app", &apps, &m.apps()));
        }
        scopes
    }

    /// For reading.
    pub fn text(&self) -> String {
        let mut out = format!("scenario {}, seed {}\n", self.scenario.name, self.seed);
        for result in self.results {
            let m = &result.metrics;
            let _ = writeln!(out, "\n{}", result.name);
            let _ = writeln!(
                out,
                "  {:24} {:>9} {:>7} {:>9}  {:>9} {:>9} {:>9} {:>9}  {:>9}",
                "",
                "requests",
                "finish",
                "good/s",
                "p50 ms",
                "p90 ms",
                "p99 ms",
                "p99.9 ms",
                "queue ms"
            );
            for (name, f) in self.scopes(m) {
                let good = f.ended(End::InTime) as f64 / m.measured().as_secs_f64().max(1e-9);
                let _ = write!(
                    out,
                    "  {name:24} {:>9} {:>7.4} {good:>9.2} ",
                    f.offered,
                    f.finish_rate()
                );
                for (q, _) in QUANTILES {
                    let _ = write!(out, " {:>9.3}", f.latency.quantile(q).as_ms_f64());
                }
                let _ = writeln!(out, "  {:>9.3}", f.queueing.mean().as_ms_f64());
            }
            let total = m.total();
            let ends: Vec<String> = End::ALL
                .iter()
                .filter(|e| total.ended(**e) > 0)
                .map(|e| format!("{} {}", e.word(), total.ended(*e)))
                .collect();
            let _ = writeln!(out, "  ends: {}", ends.join(", "));
            let devices: Vec<String> =
                m.devices().iter().map(|d| format!("{:.3}", d.utilisation())).collect();
            let _ = writeln!(
                out,
                "  mean batch {:.2}; device utilisation {}; run of {:.3} s",
                m.mean_batch_size(),
                devices.join(" "),
                m.end().as_secs_f64()
            );
        }
        out
    }

    /// One row for each policy, scope and metric.
    pub fn csv(&self) -> String {
        let mut out = String::from("scenario,seed,policy,scope,metric,value\n");
        for result in self.results {
            for (scope, name, value) in self.values(&result.metrics) {
                let (scenario, policy) = (&self.scenario.name, &result.name);
                let _ = writeln!(
                    out,
                    "{scenario},{},\"{policy}\",\"{scope}\",{name},{value}",
                    self.seed
                );
            }
        }
        out
    }

    fn values(&self, m: &Metrics) -> Vec<(String, String, String)> {
        let mut values = Vec::new();
        for (scope, f) in self.scopes(m) {
            let mut add =
                |name: &str, value: String| values.push((scope.clone(), name.to_string(), value));
            add("requests", f.offered.to_string());
            add("finish_rate", format!("{:.6}", f.finish_rate()));
            for (q, name) in QUANTILES {
                add(&format!("latency_{name}_ns"), f.latency.quantile(q).ns().to_string());
            }
            add("latency_mean_ns", f.latency.mean().ns().to_string());
            add("queueing_mean_ns", f.queueing.mean().ns().to_string());
            for end in End::ALL {
                add(end.word(), f.ended(end).to_string());
            }
        }
        let mut add =
            |name: &str, value: String| values.push(("all".into(), name.to_string(), value));
        add("goodput_per_s", format!("{:.6}", m.goodput_per_s()));
        add("mean_batch_size", format!("{:.6}", m.mean_batch_size()));
        for (i, d) in m.devices().iter().enumerate() {
            add(&format!("device_{i}_utilisation"), format!("{:.6}", d.utilisation()));
        }
        values
    }

    /// The same values, nested.
    pub fn json(&self) -> String {
        let result = |r: &PolicyResult| {
            let rows: Vec<Value> = self
                .values(&r.metrics)
                .into_iter()
                .map(|(scope, metric, value)| {
                    let value: Value = serde_json::from_str(&value).unwrap_or(Value::String(value));
                    json!({"scope": scope, "metric": metric, "value": value})
                })
                .collect();
            json!({"policy": r.name, "metrics": rows, "batch_sizes": r.metrics.batch_sizes()})
        };
        let results: Vec<Value> = self.results.iter().map(result).collect();
        let value = json!({"scenario": self.scenario.name, "seed": self.seed, "results": results});
        let mut text = serde_json::to_string_pretty(&value).unwrap_or_default();
        text.push('\n');
        text
    }
}
