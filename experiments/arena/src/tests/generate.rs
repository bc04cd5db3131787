//! Where the suite 2026.1 came from: a few axes at values of papers and traces, written out as scenarios.
//!
//! A suite never changes once it is named, so this is a test of its files, and the record of how they were made:
//! `ORRERY_UPDATE=1 cargo test --release -p orrery-arena -- suite_is_what` writes them.
//!
//! Loads are parts of the closed-form capacity in batches of up to 16: of a *twin* with Poisson arrivals, equal
//! popularity, and neither noise nor delays; on one GPU, whose times vary, of batches of random requests.

use orrery_scenario::search::capacity_per_s;
use orrery_scenario::{PolicySpec, Scenario};
use std::f64::consts::LN_2;
use std::fmt::Write as _;

/// A scenario, as files have it.
pub struct Made {
    pub name: String,
    pub asks: String,
    /// As in result rows.
    pub axes: String,
    pub text: String,
}

/// Seconds that are not counted: Nexus on a cluster makes its first plan after 30.
const WARM_UP_S: f64 = 35.0;

/// The fewest requests that are counted on one GPU.
const COUNTED: f64 = 6_000.0;

/// A scenario before it is written.
#[derive(Clone)]
struct Draft {
    name: String,
    asks: String,
    axes: Vec<(&'static str, String)>,
    /// Models, applications, devices; of the twin where it differs.
    body: String,
    twin: Option<String>,
    /// Keys that the twin has not: popularity at the top, delays and noise below.
    top: String,
    rest: String,
    arrivals: Arrivals,
    load: Load,
    duration_s: f64,
}

#[derive(Clone, Copy, PartialEq)]
enum Arrivals {
    Poisson,
    /// Of shape 0.2: the burstier one of Symphony, section 5.
    Gamma,
    /// Azure 2019, minutes as seconds, each function a process of its own.
    Azure,
}

#[derive(Clone, Copy)]
enum Load {
    /// A part of the twin's capacity.
    Of(f64),
    /// A part of a capacity that is known.
    OfKnown(f64, f64),
    /// Requests per second, where there is no closed form.
    Rate(f64),
}

impl Arrivals {
    fn word(self) -> &'static str {
        match self {
            Arrivals::Poisson => "poisson",
            Arrivals::Gamma => "gamma",
            Arrivals::Azure => "azure",
        }
    }

    fn table(self, rate: f64) -> String {
        match self {
            Arrivals::Poisson => format!("poisson = {{ rate_per_s = {rate:?} }}\n"),
            Arrivals::Gamma => format!("gamma = {{ rate_per_s = {rate:?}, shape = 0.2 }}\n"),
            Arrivals::Azure => format!(
                "trace = {{ file = \"azure2019-f500\", first_minute = 600, minutes = 100, compress = 60.0, \
                 per_function = true, rate_per_s = {rate:?} }}\n"
            ),
        }
    }
}

impl Draft {
    fn of(name: String, asks: String, axes: Vec<(&'static str, String)>, body: String) -> Draft {
        Draft {
            name,
            asks,
            axes,
            body,
            twin: None,
            top: String::new(),
            rest: String::new(),
            arrivals: Arrivals::Poisson,
            load: Load::Of(0.9),
            duration_s: 80.0,
        }
    }

    fn written(&self, rate: f64) -> String {
        let mut text =
            format!("# {}\n# Of the arena's suite 2026.1, which never changes.\n", self.asks);
        let _ = writeln!(text, "name = {:?}", self.name);
        text += "seed = 1\n";
        text += "policies = [\"clockwork\", \"nexus-cluster\", \"orloj\", \"symphony\"]\n";
        let _ = writeln!(text, "warm_up_s = {WARM_UP_S:?}");
        text += &self.top;
        text += &self.body;
        let _ = write!(text, "\n[arrivals]\n{}", self.arrivals.table(rate));
        let _ = writeln!(text, "duration_s = {:?}", self.duration_s);
        text + &self.rest
    }

    /// Of the twin in batches of up to 16.
    fn capacity_per_s(&self) -> f64 {
        let body = self.twin.clone().unwrap_or_else(|| self.body.clone());
        let twin = Draft {
            body,
            top: String::new(),
            rest: String::new(),
            arrivals: Arrivals::Poisson,
            ..self.clone()
        };
        let scenario = Scenario::from_text(&self.name, &twin.written(1.0)).expect("a twin");
        let setup = scenario.setup(1).expect("a twin's setup");
        let batches = PolicySpec::parse("fifo[max_batch=16]").expect("a policy");
        capacity_per_s(&scenario, &setup, Some(&batches), None).expect("a closed form")
    }

    fn made(mut self) -> Made {
        let rate = match self.load {
            Load::Rate(rate) => rate,
            Load::Of(part) => {
                self.axes.push(("load", part.to_string()));
                three_digits(part * self.capacity_per_s())
            }
            Load::OfKnown(part, capacity_per_s) => {
                self.axes.push(("load", part.to_string()));
                let rate = three_digits(part * capacity_per_s);
                self.duration_s = WARM_UP_S + (COUNTED / rate).max(45.0).ceil();
                rate
            }
        };
        self.axes.push(("arrivals", self.arrivals.word().to_string()));
        let axes: Vec<String> = self.axes.iter().map(|(n, v)| format!("{n}={v}")).collect();
        let text = self.written(rate);
        Made { name: self.name, asks: self.asks, axes: axes.join(";"), text }
    }
}

fn three_digits(x: f64) -> f64 {
    format!("{x:.2e}").parse().unwrap_or(x)
}

/// The suite.
pub fn all() -> Vec<Made> {
    let families = [one_gpu(), clusters(), disturbed(), pools(), late()];
    families.into_iter().flatten().map(Draft::made).collect()
}

/// Times alone of a mean of 20 ms.
struct Times {
    word: &'static str,
    words: &'static str,
    /// Weight and law of each application.
    apps: &'static [(&'static str, &'static str)],
    p99_ms: f64,
    /// The share of requests that take at most so many ms.
    below: fn(f64) -> f64,
}

const TIMES: [Times; 4] = [
    Times {
        word: "constant",
        words: "all requests take 20 ms alone",
        apps: &[("1.0", "{ constant = { ms = 20.0 } }")],
        p99_ms: 20.0,
        below: |ms| f64::from(u8::from(ms >= 20.0)),
    },
    Times {
        word: "known",
        words: "a fifth of the requests take six times as long, and come from an application of their own",
        apps: &[
            ("0.8", "{ modes = [[1.0, 10.0, 1.0]] }"),
            ("0.2", "{ modes = [[1.0, 60.0, 6.0]] }"),
        ],
        p99_ms: 70.0,
        below: two_modes,
    },
    Times {
        word: "hidden",
        words: "a fifth of the requests take six times as long, and nothing tells which",
        apps: &[("1.0", "{ modes = [[0.8, 10.0, 1.0], [0.2, 60.0, 6.0]] }")],
        p99_ms: 70.0,
        below: two_modes,
    },
    Times {
        word: "tail",
        words: "times are lognormal with a deviation as large as the mean, and nothing tells which are long",
        apps: &[("1.0", "{ lognormal = { mean_ms = 20.0, sd_ms = 20.0 } }")],
        // 20 / sqrt(2) exp(2.3263 sqrt(ln 2))
        p99_ms: 98.0,
        below: |ms| normal((libm::log(ms.max(1e-9) / 20.0) + 0.5 * LN_2) / LN_2.sqrt()),
    },
];

fn two_modes(ms: f64) -> f64 {
    0.8 * normal(ms - 10.0) + 0.2 * normal((ms - 60.0) / 6.0)
}

/// The share of a standard normal law below `z`.
fn normal(z: f64) -> f64 {
    libm::erfc(-z / std::f64::consts::SQRT_2) / 2.0
}

impl Times {
    /// What one GPU carries in batches of random requests: the largest k over the mean latency of a batch of k, for
    /// k up to 16 whose mean latency is within the SLO.
    fn capacity_per_s(&self, cost: f64, slo_ms: f64) -> f64 {
        const STEP_MS: f64 = 0.05;
        let batch_ms = |k: i32| {
            let above =
                |i: u32| 1.0 - libm::pow((self.below)((f64::from(i) + 0.5) * STEP_MS), k.into());
            let longest: f64 = (0..20_000).map(above).sum::<f64>() * STEP_MS;
            (1.0 - cost + cost * f64::from(k)) * longest
        };
        let sizes = (1..=16).map(|k| (k, batch_ms(k))).filter(|b| b.1 <= slo_ms);
        sizes.map(|(k, ms)| 1e3 * f64::from(k) / ms).fold(0.0, f64::max)
    }
}

/// From Table 2 of Orloj's costs to a GPU on which batching gains next to nothing.
const COSTS: [f64; 4] = [0.05, 0.2, 0.4, 0.8];
const SLOS: [f64; 3] = [1.5, 3.0, 10.0];
const LOADS: [f64; 3] = [0.5, 0.9, 1.2];

fn gpu(cost: f64, slo_ms: f64, apps: &[(&str, &str)], more: &str) -> String {
    let mut text = format!(
        "\n[[model]]\nname = \"model\"\nslo_ms = {slo_ms:?}\nlatency = {{ proportional = {{ c1 = {cost:?} }} }}\n{more}\
         \n[[device]]\ncount = 1\ncan_preempt = true\n"
    );
    for (i, (weight, time)) in apps.iter().enumerate() {
        let name = ["short", "long"][i];
        let name = if apps.len() == 1 { "all" } else { name };
        let _ = write!(
            text,
            "\n[[app]]\nname = \"{name}\"\nmodel = \"model\"\nweight = {weight}\ntime = {time}\n"
        );
    }
    text
}

/// One model on one GPU: three quarters of costs x times x SLOs, loads and arrivals dealt in turn.
fn one_gpu() -> Vec<Draft> {
    let mut out = Vec::new();
    for (i, cost) in COSTS.into_iter().enumerate() {
        for (j, times) in TIMES.iter().enumerate() {
            let Times { word, words, apps, p99_ms, .. } = times;
            for (k, slo) in SLOS.into_iter().enumerate() {
                if (i + j + k) % 4 == 3 {
                    continue;
                }
                let load = LOADS[(i + 2 * j + k) % 3];
                let arrivals =
                    if (i + j / 2 + k) % 2 == 0 { Arrivals::Poisson } else { Arrivals::Gamma };
                let asks = format!(
                    "One GPU at {load} of its capacity, a marginal batch cost of {cost}, SLOs of {slo} times the P99 \
                     alone: {words}."
                );
                let axes = vec![
                    ("cluster", "1-on-1".to_string()),
                    ("batch_cost", cost.to_string()),
                    ("times", word.to_string()),
                    ("slo_x_p99", slo.to_string()),
                    ("late", "nothing".to_string()),
                ];
                let name = format!("gpu-cost{cost}-{word}-slo{slo}");
                let slo_ms = three_digits(slo * p99_ms);
                out.push(Draft {
                    arrivals,
                    load: Load::OfKnown(load, times.capacity_per_s(cost, slo_ms)),
                    ..Draft::of(name, asks, axes, gpu(cost, slo_ms, apps, ""))
                });
            }
        }
    }
    out
}

/// Five of Symphony's models on its 1080 Ti, from weak to strong batching.
const FIVE: &str =
    "models = [\"ResNet152\", \"NASNetLarge\", \"EfficientNetV2M\", \"BERT\", \"DenseNet201\"]\n";

fn cluster(zoo: &str, gpus: u32) -> String {
    format!("\n[[zoo]]\n{zoo}\n[[device]]\ncount = {gpus}\ncan_preempt = true\n")
}

fn clusters() -> Vec<Draft> {
    use Arrivals::{Azure, Gamma, Poisson};
    let small = [
        ("equal", Poisson),
        ("equal", Gamma),
        ("zipf", Poisson),
        ("zipf", Gamma),
        ("azure", Azure),
    ];
    let middle = [("equal", Poisson), ("zipf", Poisson), ("zipf", Gamma), ("azure", Azure)];
    let large = [("zipf", Poisson), ("azure", Azure)];
    let of = |copies: u32| format!("name = \"symphony-1080ti\"\n{FIVE}copies = {copies}\n");
    let sizes = [
        ("5-on-4", "Five models on 4 GPUs", of(1), 4, &small[..], 80.0),
        ("20-on-8", "Twenty models on 8 GPUs", of(4), 8, &middle[..], 80.0),
        ("100-on-64", "A hundred models on 64 GPUs", of(20), 64, &large[..], 45.0),
        (
            "4026-on-12",
            "Clockwork's 4,026 models on 12 GPUs, all weights resident",
            "name = \"clockwork-zoo-v100\"\ncopies = 66\nslo_ms = 100.0\n".to_string(),
            12,
            &large[..1],
            45.0,
        ),
    ];
    let mut out = Vec::new();
    for (word, words, zoo, gpus, loads, duration_s) in sizes {
        for (popularity, arrivals) in loads.iter().copied() {
            let how = match (popularity, arrivals) {
                (_, Azure) => "by the minutes of Azure's functions of 2019, as seconds",
                ("equal", Gamma) => "in bursts, all models alike",
                ("equal", _) => "as a Poisson process, all models alike",
                (_, Gamma) => "in bursts, popularity as 1 / rank^0.9",
                _ => "as a Poisson process, popularity as 1 / rank^0.9",
            };
            let asks = format!("{words} at 0.9 of their capacity; requests come {how}.");
            let axes = vec![("cluster", word.to_string()), ("popularity", popularity.to_string())];
            let name = format!("cluster-{word}-{popularity}-{}", arrivals.word());
            let top = if popularity == "zipf" { "popularity = { zipf = 0.9 }\n" } else { "" };
            let name = name.replace("azure-azure", "azure");
            out.push(Draft {
                top: top.to_string(),
                arrivals,
                duration_s,
                ..Draft::of(name, asks, axes, cluster(&zoo, gpus))
            });
        }
    }
    out
}

/// Latencies that are not as profiled, and messages that take time.
fn disturbed() -> Vec<Draft> {
    let delays = [
        ("none", "messages take no time", ""),
        (
            "tcp",
            "messages to devices take what Symphony measured for TCP (median 3 ms)",
            "\n[delays]\ndispatch = { lognormal = { median_ms = 3.034, p9999_ms = 36.4 } }\n",
        ),
    ];
    let zoo = "name = \"symphony-1080ti\"\nmodels = [\"ResNet152\"]\n";
    let mut out = Vec::new();
    for noise in [0.0, 0.02, 0.05] {
        for (word, words, table) in delays {
            let percent = 100.0 * noise;
            let asks = format!(
                "ResNet152 on 4 GPUs at 0.8 of their capacity: latencies vary by {percent} %, and {words}."
            );
            let axes = vec![
                ("cluster", "1-on-4".to_string()),
                ("noise", noise.to_string()),
                ("delays", word.to_string()),
            ];
            let noise_table = format!("\n[noise]\nlognormal = {noise:?}\n");
            let rest = format!("{table}{}", if noise > 0.0 { &noise_table } else { "" });
            let name = format!("noise{noise}-delays-{word}");
            out.push(Draft {
                rest,
                load: Load::Of(0.8),
                ..Draft::of(name, asks, axes, cluster(zoo, 4))
            });
        }
    }
    out
}

/// Devices that differ.
fn pools() -> Vec<Draft> {
    let kairos = "\n[[zoo]]\nname = \"kairos\"\nmodels = [\"rm2\"]\n\
                  \n[[device]]\nkind = \"g4dn.xlarge\"\ncount = 2\nprice_usd_per_hour = 0.526\ncan_preempt = true\n\
                  \n[[device]]\nkind = \"r5n.large\"\ncount = 9\nprice_usd_per_hour = 0.149\ncan_preempt = true\n";
    let queries = |rate: f64, word: &str| Draft {
        load: Load::Rate(rate),
        ..Draft::of(
            format!("pool-kairos-rm2-{word}"),
            format!(
                "Kairos's pool of 2 GPUs and 9 CPUs, {rate} queries of RM2 a second: a query is a batch of its own size."
            ),
            vec![("cluster", "1-on-11".to_string()), ("pool", "kairos".to_string())],
            kairos.to_string(),
        )
    };
    let two = "\n[[zoo]]\nname = \"symphony-1080ti\"\nmodels = [\"ResNet152\"]\nslo_ms = 120.0\n\
               \n[[device]]\nkind = \"fast\"\ncount = 2\ncan_preempt = true\n\
               \n[[device]]\nkind = \"slow\"\ncount = 2\nspeed = 0.5\ncan_preempt = true\n";
    let mixed = Draft {
        load: Load::Of(0.8),
        // Two slow ones carry what a fast one does.
        twin: Some(cluster(
            "name = \"symphony-1080ti\"\nmodels = [\"ResNet152\"]\nslo_ms = 120.0\n",
            3,
        )),
        ..Draft::of(
            "pool-two-speeds".to_string(),
            "ResNet152 on two GPUs and two of half their speed, at 0.8 of their capacity."
                .to_string(),
            vec![("cluster", "1-on-4".to_string()), ("pool", "two-speeds".to_string())],
            two.to_string(),
        )
    };
    vec![queries(40.0, "low"), queries(60.0, "high"), mixed]
}

/// Late answers that are worth half until four times the SLO.
fn late() -> Vec<Draft> {
    let steps =
        "penalties = [{ deadline_x_slo = 1, cost = 0.5 }, { deadline_x_slo = 4, cost = 1 }]\n";
    let cases = [(0.2, 1, 0.9), (0.2, 2, 1.2), (0.4, 3, 1.2)];
    let draft = |(cost, times, load): (f64, usize, f64)| {
        let times = &TIMES[times];
        let Times { word, words, apps, p99_ms, .. } = times;
        let slo_ms = three_digits(3.0 * p99_ms);
        let asks = format!(
            "A late answer is worth half until four times the SLO; one GPU at {load} of its capacity, a marginal batch \
             cost of {cost}: {words}."
        );
        let axes = vec![
            ("cluster", "1-on-1".to_string()),
            ("batch_cost", cost.to_string()),
            ("times", word.to_string()),
            ("slo_x_p99", "3".to_string()),
            ("late", "half".to_string()),
        ];
        Draft {
            load: Load::OfKnown(load, times.capacity_per_s(cost, slo_ms)),
            ..Draft::of(
                format!("late-half-cost{cost}-{word}"),
                asks,
                axes,
                gpu(cost, slo_ms, apps, steps),
            )
        }
    };
    cases.into_iter().map(draft).collect()
}

/// What the axes are, in the order of pages.
const AXES: [(&str, &str); 11] = [
    ("cluster", "models on GPUs"),
    ("batch_cost", "marginal cost of a request in a batch, as part of a batch of one"),
    ("times", "execution times alone: constant; of two kinds, known or hidden; with a heavy tail"),
    ("slo_x_p99", "SLO as a multiple of the P99 alone"),
    ("late", "what a late answer is worth: nothing, or half until four times the SLO"),
    ("load", "load as part of the closed-form capacity in batches of up to 16 random requests"),
    ("arrivals", "how requests come"),
    ("popularity", "popularity of the models"),
    ("noise", "deviation of the logarithm of latencies around what is profiled"),
    ("delays", "message delays"),
    ("pool", "devices of several kinds"),
];

const MAPS: [(&str, &str); 7] = [
    ("batch_cost", "times"),
    ("slo_x_p99", "times"),
    ("batch_cost", "slo_x_p99"),
    ("load", "times"),
    ("load", "slo_x_p99"),
    ("cluster", "arrivals"),
    ("noise", "delays"),
];

/// The list of a suite's scenarios.
pub fn index(all: &[Made]) -> String {
    let mut text = String::from(
        "# The suite 2026.1 of `orrery arena`. It never changes: a new draw has a new name.\n\
         # Made by experiments/arena/src/generate.rs.\n\nmaps = [\n",
    );
    for (x, y) in MAPS {
        let _ = writeln!(text, "    [{x:?}, {y:?}],");
    }
    text += "]\n";
    for (name, means) in AXES {
        let _ = write!(text, "\n[[axis]]\nname = {name:?}\nmeans = {means:?}\n");
    }
    for made in all {
        let Made { name, asks, axes, .. } = made;
        let _ = write!(text, "\n[[scenario]]\nname = {name:?}\naxes = {axes:?}\nasks = {asks:?}\n");
    }
    text
}
