//! Kairos's published measurements: five models on four types of EC2 instances.
//!
//! They travel in the program; `data/ATTRIBUTION.md` says whose they are. A service time is the
//! inference and the loading of the input, as the released server replays them.

use orrery_sim::latency::SampleTable;
use orrery_sim::time::Span;
use orrery_traces::Input;
use std::io::Read;
use std::sync::{Arc, OnceLock};

/// How many types of instances there are.
pub const TYPES: usize = 4;

/// A type of instance (Table 4).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct InstanceType {
    /// As the paper writes it (Tables 3 and 4).
    pub name: &'static str,
    /// Its price.
    pub price_usd_per_hour: f64,
    /// Whether it is the paper's base type.
    pub is_base: bool,
    /// The most of it in the authors' search.
    pub count_max: u32,
}

/// A model (Table 3), with its service times.
#[derive(Debug)]
pub struct Measured {
    /// As the paper writes it (Tables 3 and 4).
    pub name: &'static str,
    /// The target of the 99th percentile.
    pub qos: Span,
    /// Service times by size, by type in the order of [`instance_types`].
    pub samples: [Arc<SampleTable>; TYPES],
}

static INSTANCES_CSV: &str = include_str!("../data/kairos_instances.csv");
pub(crate) static MODELS_CSV: &str = include_str!("../data/kairos_models.csv");

/// The models' names and measurements, in the order of the paper's Table 3.
pub(crate) const SAMPLES: [(&str, &[u8]); 5] = [
    ("ncf", include_bytes!("../data/kairos_samples_us_ncf.csv.gz")),
    ("rm2", include_bytes!("../data/kairos_samples_us_rm2.csv.gz")),
    ("wnd", include_bytes!("../data/kairos_samples_us_wnd.csv.gz")),
    ("mtwnd", include_bytes!("../data/kairos_samples_us_mtwnd.csv.gz")),
    ("dien", include_bytes!("../data/kairos_samples_us_dien.csv.gz")),
];

/// The types of instances, base type first, as the authors order them.
pub fn instance_types() -> [InstanceType; TYPES] {
    let mut rows = INSTANCES_CSV.lines().skip(1);
    std::array::from_fn(|_| {
        let fields: Vec<&str> = rows.next().expect("four embedded rows").split(',').collect();
        InstanceType {
            name: fields[0],
            price_usd_per_hour: fields[2].parse().expect("an embedded price"),
            is_base: fields[3] == "1",
            count_max: fields[4].parse().expect("an embedded count"),
        }
    })
}

/// The names of the models.
pub fn model_names() -> impl Iterator<Item = &'static str> {
    SAMPLES.iter().map(|s| s.0)
}

/// A model's QoS target and measurements; read once. `None` when there is no such model.
pub fn measured(model: &str) -> Option<&'static Measured> {
    static ALL: [OnceLock<Measured>; SAMPLES.len()] = [const { OnceLock::new() }; SAMPLES.len()];
    let at = SAMPLES.iter().position(|s| s.0 == model)?;
    // What is embedded is known to be whole; a test reads all of it.
    Some(ALL[at].get_or_init(|| read(SAMPLES[at]).expect("embedded measurements")))
}

/// The measurements of a model on a type, by `MODEL@TYPE`.
pub fn samples(name: &str) -> Option<Arc<SampleTable>> {
    let (model, on) = name.split_once('@')?;
    let at = instance_types().iter().position(|t| t.name == on)?;
    Some(Arc::clone(&measured(model)?.samples[at]))
}

fn read((name, bytes): (&'static str, &'static [u8])) -> Option<Measured> {
    let qos = MODELS_CSV.lines().find_map(|line| {
        let (model, rest) = line.split_once(',')?;
        (model == name).then(|| rest.split(',').next()?.parse().ok())?
    })?;
    let mut text = String::new();
    Input::from_bytes(name, bytes).ok()?.into_reader().read_to_string(&mut text).ok()?;
    let types = instance_types();
    let mut rows: [Vec<(u32, Vec<Span>)>; TYPES] = Default::default();
    for line in text.lines().skip(1) {
        let fields: Vec<&str> = line.split(',').collect();
        let &[on, _, size, least, offsets] = fields.as_slice() else { return None };
        let least: u64 = least.parse().ok()?;
        let sample = |offset: &str| Some(Span::from_us(least + offset.parse::<u64>().ok()?));
        let samples: Option<Vec<Span>> = offsets.split(' ').map(sample).collect();
        let at = types.iter().position(|t| t.name == on)?;
        rows[at].push((size.parse().ok()?, samples?));
    }
    let tables: Option<Vec<SampleTable>> = rows.iter().map(|r| SampleTable::new(r)).collect();
    let mut tables = tables?.into_iter().map(Arc::new);
    let samples = [tables.next()?, tables.next()?, tables.next()?, tables.next()?];
    Some(Measured { name, qos: Span::from_ms_f64(qos), samples })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_measurements_are_whole() {
        let types = instance_types();
        assert_eq!(types.iter().filter(|t| t.is_base).count(), 1);
        assert_eq!((types[0].name, types[0].price_usd_per_hour), ("g4dn.xlarge", 0.526));
        for name in model_names() {
            let model = measured(name).unwrap();
            for table in &model.samples {
                let sizes: Vec<u32> = (1..=100).map(|step| 10 * step).collect();
                assert_eq!(table.sizes(), sizes, "{name}");
                assert!(sizes.iter().all(|&size| table.samples(size).len() == 99), "{name}");
            }
        }
        let ms = |model: &str| measured(model).unwrap().qos.as_ms_f64();
        assert_eq!(["ncf", "rm2", "wnd", "mtwnd", "dien"].map(ms), [5.0, 350.0, 25.0, 25.0, 35.0]);
        assert!(measured("bert").is_none() && samples("rm2@p3.2xlarge").is_none());
        assert_eq!(
            samples("rm2@t3.xlarge"),
            Some(Arc::clone(&measured("rm2").unwrap().samples[3]))
        );
    }

    /// The heterogeneity coefficients that follow from the means of the largest size.
    #[test]
    fn the_coefficients_are_those_of_the_released_code() {
        let coefficients = |model: &str| {
            let mean = |at: usize| measured(model).unwrap().samples[at].mean(1_000).as_ms_f64();
            [1, 2, 3].map(|at| (100.0 * mean(0) / mean(at)).round())
        };
        assert_eq!(coefficients("ncf"), [38.0, 36.0, 19.0]);
        assert_eq!(coefficients("rm2"), [67.0, 65.0, 29.0]);
        assert_eq!(coefficients("wnd"), [29.0, 26.0, 15.0]);
        assert_eq!(coefficients("mtwnd"), [31.0, 27.0, 17.0]);
        assert_eq!(coefficients("dien"), [24.0, 22.0, 15.0]);
    }

    /// Only the base type meets the QoS at every size (§7 "Computing hardware").
    #[test]
    fn only_the_base_type_meets_the_qos_at_every_size() {
        for name in model_names() {
            let model = measured(name).unwrap();
            let meets = |table: &Arc<SampleTable>| {
                table.sizes().iter().all(|&size| {
                    let mut samples = table.samples(size).to_vec();
                    samples.sort_unstable();
                    samples[98] <= model.qos // the 99th of 99
                })
            };
            let meets: Vec<bool> = model.samples.iter().map(meets).collect();
            assert_eq!(meets, [true, false, false, false], "{name}");
        }
    }
}
