//! Small tables of every kind, without chance: what the claims are tried on.

use crate::{Picture, Winner, WinnersGrid};
use orrery_results::{BatchRow, DistributionRow, Flags, Row, SeriesRow};

/// A table for each kind of figure.
pub(super) struct Tables {
    pub finish_rates_1: Vec<Row>,
    pub finish_rates_7: Vec<Row>,
    pub sweep: Vec<Row>,
    pub variations: Vec<Row>,
    pub grid: Vec<Row>,
    pub quantiles: Vec<Row>,
    pub distributions: Vec<DistributionRow>,
    pub drops_most: Vec<DistributionRow>,
    pub series: Vec<SeriesRow>,
    pub batches: Vec<BatchRow>,
    pub leads: Vec<WinnersGrid>,
    /// The title of pictures.
    pub title: String,
}

impl Default for Tables {
    fn default() -> Tables {
        Tables {
            finish_rates_1: finish_rates(1),
            finish_rates_7: finish_rates(7),
            sweep: sweep(),
            variations: variations(),
            grid: grid(),
            quantiles: quantiles(),
            distributions: distributions(),
            drops_most: drops_most(),
            series: series(),
            batches: batches(),
            leads: leads(),
            title: "Goodput of two schedulers".into(),
        }
    }
}

impl Tables {
    /// The tables of result rows, with the metric that the figure shows.
    pub fn of_rows(&mut self) -> [(&'static str, &mut Vec<Row>); 6] {
        [
            ("finish rate, one panel", &mut self.finish_rates_1),
            ("finish rate, seven panels", &mut self.finish_rates_7),
            ("sweep", &mut self.sweep),
            ("sensitivity", &mut self.variations),
            ("bars", &mut self.grid),
            ("shares", &mut self.quantiles),
        ]
    }

    /// A picture with the title.
    pub fn titled(&self, picture: Picture) -> Picture {
        Picture { title: self.title.clone(), ..picture }
    }

    /// All words that come from a table's file, changed.
    pub fn with_words(mut self, change: impl Fn(&str) -> String) -> Tables {
        let change = |word: &mut String| {
            if !word.is_empty() {
                *word = change(word);
            }
        };
        for (_, rows) in self.of_rows() {
            for r in rows {
                // The systems that `bars` and `heat_map` name stay.
                let is_named = ["base", "a", "b"].contains(&r.system.as_str());
                change(&mut r.experiment);
                change(&mut r.case);
                change(&mut r.policy);
                if !is_named {
                    change(&mut r.system);
                }
            }
        }
        change(&mut self.title);
        for r in self.distributions.iter_mut().chain(&mut self.drops_most) {
            change(&mut r.experiment);
            change(&mut r.policy);
        }
        for r in &mut self.series {
            change(&mut r.experiment);
            change(&mut r.policy);
        }
        for r in &mut self.batches {
            change(&mut r.policy);
            change(&mut r.model);
            change(&mut r.device_name);
        }
        for cell in self.leads.iter_mut().flat_map(|grid| &mut grid.cells) {
            change(&mut cell.system);
        }
        self
    }
}

/// A number between 0 and 1 that looks drawn by chance.
fn wobble(i: usize) -> f64 {
    ((i * 7919 + 13) % 997) as f64 / 997.0
}

pub(super) fn row(case: &str, axes: &str, system: &str, preset: &str, value: f64) -> Row {
    Row {
        experiment: "orloj-table-3".into(),
        case: case.into(),
        axes: axes.into(),
        system: system.into(),
        preset: preset.into(),
        policy: system.into(),
        scope: "all".into(),
        metric: "finish_rate".into(),
        unit: "unitless".into(),
        value: Some(value),
        ci95_low: Some(value - 0.02),
        ci95_high: Some(value + 0.02),
        ci_method: "replications".into(),
        seeds: "1-5".into(),
        ..Row::default()
    }
}

/// Seven systems with two presets each, in so many cases; some have a figure of the paper.
pub(super) fn finish_rates(cases: usize) -> Vec<Row> {
    let systems = ["clipper", "clockwork", "nexus", "orloj", "symphony", "shepherd", "kairos"];
    let mut rows = Vec::new();
    for case in 0..cases {
        for (s, system) in systems.iter().enumerate() {
            for preset in ["released", "calibrated"] {
                for (i, slo) in ["1.5", "2", "3", "4", "5"].iter().enumerate() {
                    let value = 0.1 * (s + i) as f64 * (0.8 + 0.2 * wobble(rows.len()));
                    let case = format!("case-{case}");
                    let axes = format!("slo_x_p99={slo}");
                    let mut row = row(&case, &axes, system, preset, value.min(1.0));
                    row.paper = (s < 4).then_some((value * 1.1).min(1.0));
                    rows.push(row);
                }
            }
        }
    }
    rows[3].flag(Flags::FEW_SAMPLES);
    rows[9].flag(Flags::DIVERGING);
    rows
}

/// A sweep of policies with long names over two axes, latencies over three decades.
pub(super) fn sweep() -> Vec<Row> {
    let policies = [
        "clockwork[estimator=static-mean,ahead_ms=5,strategies=all,window_ms=10,drop=late,seed=1]",
        "nexus[drop=none,batch=2]",
    ];
    let mut rows = Vec::new();
    for policy in policies {
        for devices in ["1", "2", "4"] {
            for rate in ["1", "10", "100", "1000", "10000"] {
                let value = 1e6 * (1.0 + rate.parse::<f64>().unwrap_or(0.0) / 10.0);
                rows.push(Row {
                    experiment: "a-sweep-with-quite-a-long-name".into(),
                    axes: format!("rate_per_s={rate};devices={devices}"),
                    policy: policy.into(),
                    scope: "all".into(),
                    metric: "latency_p99_ns".into(),
                    unit: "ns".into(),
                    value: Some(value),
                    ..Row::default()
                });
            }
        }
    }
    rows
}

fn distribution(
    policy: &str,
    scope: &str,
    quantity: &str,
    points: &[(f64, f64)],
) -> Vec<DistributionRow> {
    let row = |&(x, share): &(f64, f64)| DistributionRow {
        experiment: "azure-burst".into(),
        policy: policy.into(),
        scope: scope.into(),
        quantity: quantity.into(),
        x,
        share,
        samples: 50_000,
        requests: 50_000,
        ..DistributionRow::default()
    };
    points.iter().map(row).collect()
}

/// Two policies under an SLO of 50 ms: one answers all, some late; one only the first 30 %, soon.
pub(super) fn drops_most() -> Vec<DistributionRow> {
    let all: Vec<(f64, f64)> =
        (1..=10).map(|i| (8e6 * f64::from(i), f64::from(i) / 10.0)).collect();
    let few: Vec<(f64, f64)> = (1..=3).map(|i| (5e6 * f64::from(i), f64::from(i) / 10.0)).collect();
    let mut rows = distribution("keeps", "all", "latency_ns", &all);
    rows.extend(distribution("drops", "all", "latency_ns", &few));
    rows.extend(distribution("", "all", "slo_ns", &[(50e6, 1.0)]));
    rows
}

pub(super) fn distributions() -> Vec<DistributionRow> {
    let mut rows = Vec::new();
    for (p, policy) in ["clockwork", "orloj[b=0.0001]", "nexus"].iter().enumerate() {
        let latency = |i: usize| {
            let rest = 1.0 / (1 << i) as f64;
            ((5.0 + i as f64 * (2.0 + p as f64)) * 1e6, if i == 16 { 1.0 } else { 1.0 - rest })
        };
        let points: Vec<(f64, f64)> = (0..=16).map(latency).collect();
        rows.extend(distribution(policy, "all", "latency_ns", &points));
        let sizes: Vec<(f64, f64)> =
            (1..=8).map(|i| (f64::from(i * (p as u32 + 1)), f64::from(i) / 8.0)).collect();
        rows.extend(distribution(policy, "all", "batch_size", &sizes));
    }
    for app in ["app bert", "app gpt2"] {
        let points: Vec<(f64, f64)> = (1..=400)
            .map(|i| (1e6 * (10.0 + wobble(i) + i as f64 / 50.0), i as f64 / 400.0))
            .collect();
        rows.extend(distribution("", app, "alone_ns", &points));
    }
    rows
}

pub(super) fn series() -> Vec<SeriesRow> {
    let mut rows = Vec::new();
    for (p, policy) in ["clockwork", "orloj"].iter().enumerate() {
        for bin in 0..40u64 {
            let offered = 500.0 + 400.0 * wobble(bin as usize);
            let values = [
                ("offered_per_s", offered),
                ("goodput_per_s", offered.min(700.0 - 50.0 * p as f64)),
                ("utilisation", (offered / 900.0).min(1.0)),
                ("in_system", offered / (20.0 + 10.0 * p as f64)),
            ];
            rows.extend(values.map(|(quantity, value)| SeriesRow {
                experiment: "azure-burst".into(),
                policy: (*policy).into(),
                from_ns: bin * 1_000_000_000,
                to_ns: (bin + 1) * 1_000_000_000,
                quantity: quantity.into(),
                value,
            }));
        }
    }
    rows
}

pub(super) fn batches() -> Vec<BatchRow> {
    let models = ["bert", "gpt2", "resnet152", "yolo"];
    let mut rows = Vec::new();
    for device in 0..3u32 {
        let mut now = 0u64;
        while now < 100_000_000 {
            let i = rows.len();
            let length = 1_000_000 + (wobble(i) * 9e6) as u64;
            rows.push(BatchRow {
                policy: "clockwork".into(),
                device: Some(device),
                device_name: "v100".into(),
                model: models[(wobble(3 * i) * models.len() as f64) as usize].into(),
                action: i as u64,
                size: 1 << (i % 5),
                start_ns: now,
                end_ns: now + length,
                deadline_ns: (i % 3 != 0).then_some(now + 6_000_000),
                outcome: if i % 9 == 4 { "preempted" } else { "done" }.into(),
                ..BatchRow::default()
            });
            now += length + if i % 4 == 0 { 2_000_000 } else { 0 };
        }
    }
    rows.extend((0..9).map(|i| BatchRow {
        policy: "clockwork".into(),
        model: models[i % 4].into(),
        size: 1,
        end_ns: 11_000_000 * i as u64,
        outcome: "dropped_expired".into(),
        ..BatchRow::default()
    }));
    rows
}

pub(super) fn variations() -> Vec<Row> {
    let names =
        ["as in the table's file", "load 1.5", "arrivals: gamma gaps, shape 0.1", "b = 0.1"];
    let mut rows = Vec::new();
    for name in names {
        for system in ["clipper", "nexus", "orloj"] {
            let value = 0.05 + 0.1 * wobble(rows.len());
            let mut row = row("", &format!("changed={name}"), system, "calibrated", value);
            row.metric = "mean_abs_error".into();
            (row.ci95_low, row.ci95_high) = (None, None);
            rows.push(row);
        }
    }
    rows
}

/// Goodput of two systems and a base over a grid, with the paper's numbers.
pub fn grid() -> Vec<Row> {
    let mut rows = Vec::new();
    for (i, slo) in ["20", "50", "100"].iter().enumerate() {
        for (j, shape) in ["0.1", "1"].iter().enumerate() {
            for (k, system) in ["base", "a", "b"].iter().enumerate() {
                let value = 100.0 * (1 + i + k) as f64 + 30.0 * j as f64;
                let axes = format!("slo_ms={slo};shape={shape}");
                let mut row = row("", &axes, system, "", value);
                (row.metric, row.unit) = ("goodput_per_s".into(), "1/s".into());
                (row.ci95_low, row.ci95_high) = (Some(value - 20.0), Some(value + 20.0));
                row.paper = (k < 2).then_some(value * 1.1);
                rows.push(row);
            }
        }
    }
    rows
}

/// Three quantiles of two systems' latencies.
pub fn quantiles() -> Vec<Row> {
    let mut rows = Vec::new();
    for (k, system) in ["a", "b"].iter().enumerate() {
        for (i, metric) in ["latency_p50_ns", "latency_p90_ns", "latency_p99_ns"].iter().enumerate()
        {
            let mut row = row("", "", system, "", 1e7 * (1 + i + 2 * k) as f64);
            (row.metric, row.unit) = (metric.to_string(), "ns".into());
            rows.push(row);
        }
    }
    rows
}

/// Grids of three sizes with many systems, some tied.
pub(super) fn leads() -> Vec<WinnersGrid> {
    let systems = ["nexus-cluster", "orloj", "clockwork", "symphony", "python:EarliestDeadline"];
    let values = |n: usize| (0..n).map(|i| format!("value-{i}")).collect::<Vec<_>>();
    let grid = |(columns, rows): (usize, usize)| {
        let winner = |i: usize| Winner {
            at: (i % columns, i / columns),
            system: systems[i % systems.len()].into(),
            lead: 0.15 * wobble(i),
            tied: i % 3 == 1,
        };
        let (x, y) = (("batch_cost".into(), values(columns)), ("slo_x_p99".into(), values(rows)));
        WinnersGrid { x, y, cells: (0..columns * rows - 1).map(winner).collect() }
    };
    [(4, 4), (3, 2), (6, 3)].into_iter().map(grid).collect()
}
