//! Model zoos: published models with their latencies by batch size, by name.
//!
//! They travel in the program: every byte is in `data/`, whose `ATTRIBUTION.md` says whose it is. A
//! zoo is a list of models; applications and arrivals are the scenario's.

use super::file::{Between, LatencyLaw, Model};
use crate::kairos;

/// A zoo.
///
/// ```
/// use orrery_scenario::zoo::Zoo;
///
/// let zoo = Zoo::find("symphony-1080ti").unwrap();
/// let models = zoo.models(None);
/// let resnet50 = models.iter().find(|m| m.name == "ResNet50").unwrap();
/// // Symphony, Table 3: l(b) = 2.050 b + 5.378 ms, and the SLO that follows from it.
/// assert_eq!(resnet50.latency.ms(1), 2.050 + 5.378);
/// assert_eq!(resnet50.slo_ms, 27.0);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Zoo {
    /// The name it is asked for by.
    pub name: &'static str,
    /// What it holds, and from where.
    pub what: &'static str,
    form: Form,
    csv: &'static str,
}

/// How a zoo's file says what a model is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// alpha, beta, SLO.
    Affine,
    /// Weights, transfer time, latencies of sizes 1 to 16.
    Clockwork,
    /// The same with fewer columns, and whether it is in the paper's list; Table 1's rows go before.
    ClockworkList,
    /// GPU, latencies by size.
    Curves,
    /// QoS; measured samples by size on several types of instances.
    Samples,
}

/// Every zoo.
pub static ZOOS: &[Zoo] = &[
    Zoo {
        name: "symphony-1080ti",
        what: "Symphony, Table 3: affine latency models and SLOs on a GeForce 1080 Ti",
        form: Form::Affine,
        csv: include_str!("../../data/symphony_models_1080ti.csv"),
    },
    Zoo {
        name: "symphony-a100",
        what: "Symphony, Table 4: affine latency models and SLOs on an A100",
        form: Form::Affine,
        csv: include_str!("../../data/symphony_models_a100.csv"),
    },
    Zoo {
        name: "clockwork-v100",
        what: "Clockwork, Table 1: measured latencies, weights and loading times on a V100",
        form: Form::Clockwork,
        csv: include_str!("../../data/clockwork_models_v100.csv"),
    },
    Zoo {
        name: "clockwork-zoo-v100",
        what: "Clockwork, Table 2: the 61 models of its evaluation on a V100, with weights and loading times",
        form: Form::ClockworkList,
        csv: include_str!("../../data/clockwork_zoo_v100.csv"),
    },
    Zoo {
        name: "nvidia",
        what: "NVIDIA's published latencies by batch size; choose a GPU with `gpu`",
        form: Form::Curves,
        csv: include_str!("../../data/nvidia_profiles.csv"),
    },
    Zoo {
        name: "mlperf",
        what: "MLPerf's edge results by batch size, derived (not verified by MLCommons Association); choose a GPU with `gpu`",
        form: Form::Curves,
        csv: include_str!("../../data/mlperf_gpus.csv"),
    },
    Zoo {
        name: "h100-torch",
        what: "13 models in PyTorch, fp16, with a CUDA graph for each size on an H100: measured by this project",
        form: Form::Curves,
        csv: include_str!("../../data/h100_torch.csv"),
    },
    Zoo {
        name: "kairos",
        what: "Kairos, Tables 3 and 4: QoS and replayed samples on g4dn.xlarge, c5n.2xlarge, r5n.large, t3.xlarge",
        form: Form::Samples,
        csv: kairos::MODELS_CSV,
    },
];

/// The batch sizes of Clockwork's table.
const CLOCKWORK_SIZES: [u32; 5] = [1, 2, 4, 8, 16];
/// Clockwork, "PageCache": a page of device memory, 16 MiB.
const CLOCKWORK_PAGE_BYTES: f64 = 16_777_216.0;
/// Table 1 of the paper, whose numbers have more digits than the list's.
const CLOCKWORK_TABLE_1: &str = include_str!("../../data/clockwork_models_v100.csv");

impl Zoo {
    /// The zoo of that name.
    pub fn find(name: &str) -> Option<&'static Zoo> {
        ZOOS.iter().find(|z| z.name == name)
    }

    /// The GPUs that a model must be chosen for, in order; none where the zoo is of one GPU.
    pub fn gpus(&self) -> Vec<&'static str> {
        let mut gpus = Vec::new();
        if self.form == Form::Curves {
            gpus.extend(self.rows().map(|fields| fields[0]));
            gpus.dedup();
        }
        gpus
    }

    /// The models, in the order of the publication; those of a GPU where there are several.
    pub fn models(&self, gpu: Option<&str>) -> Vec<Model> {
        let is_meant = |f: &Vec<&str>| match self.form {
            Form::Curves => Some(f[0]) == gpu,
            Form::ClockworkList => f[8] == "1",
            _ => true,
        };
        self.rows().filter(is_meant).map(|fields| self.model(&fields)).collect()
    }

    /// Where the latencies on a GPU are from and of when, where each has a source of its own.
    pub fn sources(&self, gpu: &str) -> Vec<String> {
        let own = self.rows().filter(|f| self.form == Form::Curves && f[0] == gpu);
        // `gpu,model,batch_ms,source,date,...`
        let mut all: Vec<String> =
            own.filter(|f| f.len() > 5).map(|f| format!("{} of {}", f[3], f[4])).collect();
        all.dedup();
        all
    }

    /// Whether its models have the pages and loading times that devices with memory need.
    pub fn has_loads(&self) -> bool {
        matches!(self.form, Form::Clockwork | Form::ClockworkList)
    }

    fn rows(&self) -> impl Iterator<Item = Vec<&'static str>> {
        rows(self.csv)
    }

    /// The model of a row. What is embedded is known to be whole; a test reads all of it.
    fn model(&self, fields: &[&str]) -> Model {
        let number = |i: usize| fields[i].parse::<f64>().expect("an embedded number");
        match self.form {
            Form::Affine => {
                let law = LatencyLaw::Affine { alpha_ms: number(1), beta_ms: number(2) };
                Model { slo_ms: number(3), ..Model::new(fields[0], law) }
            }
            Form::Clockwork => clockwork(fields[0], &fields[4..]),
            Form::ClockworkList => {
                // The list's `resnet50_v1` is the table's `resnet50`.
                let short = fields[0].strip_suffix("_v1").unwrap_or(fields[0]);
                let of_table = rows(CLOCKWORK_TABLE_1).find(|f| f[0] == fields[0] || f[0] == short);
                match of_table {
                    Some(table) => clockwork(fields[0], &table[4..]),
                    None => clockwork(fields[0], &fields[1..8]),
                }
            }
            Form::Curves => {
                let row = |text: &str| {
                    let (size, ms) = text.split_once(':')?;
                    Some((size.parse().ok()?, ms.parse().ok()?))
                };
                let rows: Option<Vec<(u32, f64)>> = fields[2].split(' ').map(row).collect();
                Model::new(fields[1], LatencyLaw::Table(rows.expect("embedded rows")))
            }
            Form::Samples => {
                let on = |t: &kairos::InstanceType| {
                    (t.name.to_string(), LatencyLaw::Samples(format!("{}@{}", fields[0], t.name)))
                };
                let types = kairos::instance_types();
                let base = types.iter().find(|t| t.is_base).expect("an embedded base type");
                let model = Model::new(fields[0], on(base).1);
                let latency_on = types.iter().map(on).collect();
                Model { slo_ms: number(1), latency_on, ..model }
            }
        }
    }
}

fn rows(csv: &'static str) -> impl Iterator<Item = Vec<&'static str>> {
    csv.lines().skip(1).map(|line| line.split(',').collect())
}

/// A model of Clockwork's, from its weights in MB, its transfer time and its latencies in ms. It is compiled for the
/// sizes of the table, and no batch runs with another (§5.1).
fn clockwork(name: &str, fields: &[&str]) -> Model {
    let number = |i: usize| fields[i].parse::<f64>().expect("an embedded number");
    let row = |(i, size): (usize, u32)| (size, number(2 + i));
    let latencies = CLOCKWORK_SIZES.into_iter().enumerate().map(row).collect();
    let pages = (number(0) * 1e6 / CLOCKWORK_PAGE_BYTES).ceil() as u32;
    let model = Model::new(name, LatencyLaw::Table(latencies));
    Model { pages, load_ms: number(1), between: Some(Between::Next), ..model }
}

impl Model {
    /// A model of that law whose SLO is Symphony's rule (Appendix C): twice the latency of a batch
    /// of 4, in whole milliseconds, and at least 20.
    pub fn new(name: &str, latency: LatencyLaw) -> Model {
        let slo_ms = (2.0 * latency.filled().ms(4)).floor().max(20.0);
        Model {
            name: name.to_string(),
            copies: 1,
            slo_ms,
            slo_scale: 1.0,
            slo_steps: None,
            penalties: None,
            pages: 0,
            load_ms: 0.0,
            latency,
            believed: None,
            latency_on: Default::default(),
            between: None,
            noise: None,
        }
    }
}

impl LatencyLaw {
    /// Milliseconds of a batch of `k`; of a law that looks at its requests, the part that does not.
    pub fn ms(&self, k: u32) -> f64 {
        match self {
            LatencyLaw::Affine { alpha_ms, beta_ms } => alpha_ms * f64::from(k) + beta_ms,
            LatencyLaw::Eq3 { c0_ms, .. } | LatencyLaw::Poly { c0_ms, .. } => *c0_ms,
            LatencyLaw::Proportional { .. } | LatencyLaw::Profile { .. } => 0.0,
            // The least that any request makes of it.
            LatencyLaw::Grid { rows, .. } => {
                let row = rows.iter().find(|r| r.0 >= k).or(rows.last());
                row.and_then(|r| r.1.first()).copied().unwrap_or(0.0)
            }
            LatencyLaw::Samples(name) => {
                kairos::samples(name).map_or(0.0, |table| table.mean(k).as_ms_f64())
            }
            LatencyLaw::Measured(rows) => {
                let row = rows.iter().find(|r| r.0 >= k).or(rows.last());
                row.and_then(|r| orrery_sim::stats::mean(&r.1)).unwrap_or(0.0)
            }
            LatencyLaw::Table(rows) => match (rows.iter().find(|r| r.0 >= k), rows.last()) {
                (Some(row), _) => row.1,
                (None, Some(last)) => last.1 * f64::from(k) / f64::from(last.0),
                (None, None) => 0.0,
            },
        }
    }

    /// How strong the batching effect is: beta over alpha; `None` where the law has neither.
    pub fn batching_effect(&self) -> Option<f64> {
        match self {
            LatencyLaw::Affine { alpha_ms, beta_ms } => Some(beta_ms / alpha_ms),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn zoo(name: &str) -> Vec<Model> {
        Zoo::find(name).unwrap().models(None)
    }

    #[test]
    fn the_papers_zoos_are_whole() {
        assert_eq!((zoo("symphony-1080ti").len(), zoo("symphony-a100").len()), (35, 37));
        let resnet = zoo("symphony-1080ti").into_iter().find(|m| m.name == "ResNet50").unwrap();
        assert_eq!((resnet.slo_ms, resnet.latency.ms(4)), (27.0, 2.050 * 4.0 + 5.378));
        let resnet = zoo("clockwork-v100").into_iter().find(|m| m.name == "resnet50").unwrap();
        assert_eq!((resnet.pages, resnet.load_ms, resnet.latency.ms(8)), (7, 8.33, 9.13));
    }

    /// Clockwork, §6.5 and Appendix A: 61 models, 66 copies each, some 500 GB of weights.
    #[test]
    fn clockwork_s_list_is_that_of_its_evaluation() {
        let list = zoo("clockwork-zoo-v100");
        assert_eq!((list.len(), list.iter().map(|m| m.pages).sum::<u32>() * 66), (61, 32_076));
        let of = |name: &str| list.iter().find(|m| m.name == name).unwrap();
        let r = of("resnet50_v2");
        assert_eq!((r.pages, r.load_ms), (7, 8.32));
        let ms: Vec<f64> = CLOCKWORK_SIZES.iter().map(|&k| r.latency.ms(k)).collect();
        assert_eq!(ms, [2.73, 4.05, 5.87, 9.93, 17.30]);
        // Table 1 goes before the rounded rows.
        let table = zoo("clockwork-v100");
        for (name, of_table) in [("resnet18_v1", "resnet18"), ("densenet169", "densenet169")] {
            let row = table.iter().find(|m| m.name == of_table).unwrap();
            assert_eq!(Model { name: of_table.into(), ..of(name).clone() }, *row);
        }
        assert!(list.iter().all(|m| m.pages > 0 && m.load_ms > 0.0));
        for m in &list {
            let ms: Vec<f64> = CLOCKWORK_SIZES.iter().map(|&k| m.latency.ms(k)).collect();
            assert!(ms.is_sorted_by(|a, b| a <= b), "{} {ms:?}", m.name);
        }
        assert!(list.iter().all(|m| m.name != "winograd_resnet152_v2"));
    }

    #[test]
    fn kairos_s_models_are_measured_on_four_types() {
        let rm2 = zoo("kairos").into_iter().find(|m| m.name == "rm2").unwrap();
        assert_eq!((rm2.slo_ms, rm2.latency_on.len()), (350.0, 4));
        assert_eq!(rm2.latency, rm2.latency_on["g4dn.xlarge"]);
        let samples = kairos::samples("rm2@g4dn.xlarge").unwrap();
        assert_eq!(rm2.latency.ms(995), samples.mean(1_000).as_ms_f64());
    }

    /// The rule explains every published SLO, so it may stand where none is published.
    #[test]
    fn the_slo_rule_is_the_papers_own() {
        for model in zoo("symphony-1080ti").into_iter().chain(zoo("symphony-a100")) {
            let ruled = Model::new(&model.name, model.latency.clone());
            assert_eq!(model.slo_ms, ruled.slo_ms, "{}", model.name);
        }
    }

    /// Symphony, §5.1: strong is a beta of more than 2 alpha.
    #[test]
    fn the_batching_effects_are_those_of_the_paper() {
        let effects: Vec<f64> =
            zoo("symphony-1080ti").iter().filter_map(|m| m.latency.batching_effect()).collect();
        assert_eq!(effects.iter().filter(|e| **e > 2.0).count(), 23);
        assert!(effects.iter().all(|e| (0.02..26.0).contains(e)), "{effects:?}");
    }

    #[test]
    fn nvidias_models_have_names_of_their_own_and_curves_that_grow() {
        let nvidia = Zoo::find("nvidia").unwrap();
        assert!(nvidia.gpus().contains(&"T4") && nvidia.models(None).is_empty());
        let mut sum = 0;
        for gpu in nvidia.gpus() {
            let models = nvidia.models(Some(gpu));
            sum += models.len();
            for (i, m) in models.iter().enumerate() {
                assert!(models[..i].iter().all(|o| o.name != m.name), "{gpu} {}", m.name);
                let LatencyLaw::Table(rows) = &m.latency else { panic!("{m:?}") };
                assert!(rows.len() >= 3 && rows[0].0 == 1);
                assert!(rows.windows(2).all(|r| r[0].0 < r[1].0 && r[0].1 <= r[1].1), "{m:?}");
            }
        }
        assert_eq!(sum, 271);
    }

    #[test]
    fn every_file_is_the_one_attributed() {
        use sha2::{Digest, Sha256};
        let attribution = include_str!("../../data/ATTRIBUTION.md");
        for zoo in ZOOS {
            let sum = Sha256::digest(zoo.csv);
            let sum: String = sum.iter().map(|b| format!("{b:02x}")).collect();
            assert!(attribution.contains(&sum), "{}: {sum}", zoo.name);
        }
        for (name, bytes) in kairos::SAMPLES {
            let sum = Sha256::digest(bytes);
            let sum: String = sum.iter().map(|b| format!("{b:02x}")).collect();
            assert!(attribution.contains(&sum), "{name}: {sum}");
        }
    }
}
