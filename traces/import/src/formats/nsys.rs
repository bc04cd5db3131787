//! `nsys stats --report cuda_gpu_kern_sum --format csv`: how long each kernel took in all.

use crate::File;
use crate::content::{Content, Kind, Profile};
use crate::error::ImportError;
use crate::format::{Field, Format, Options, Reading, Sheet};

const NS: f64 = 1.0;
const FIELDS: &[Field] = &[
    Field::time(&["Total Time"], NS, "added up: the latency of a batch times their number")
        .needed(),
    Field::new(&["Instances", "Calls"], "the number of batches: their greatest common divisor")
        .needed(),
    Field::new(&["Name"], "").needed(),
];

pub const FORMAT: Format = Format {
    name: "nsys",
    title: "Nsight Systems, `nsys stats --report cuda_gpu_kern_sum --format csv`",
    how: "columns `Total Time (ns)`, `Instances` and `Name`",
    becomes: &[Kind::Profile],
    fields: FIELDS,
    options: &["batch", "model", "runs"],
    direct: None,
    is: |head| head.has(FIELDS),
    read,
};

fn read(file: &File<'_>, options: &Options) -> Result<Reading, ImportError> {
    let mut reading = Reading::default();
    let mut sheet = Sheet::open(file, FIELDS, &mut reading)?;
    reading.taken.retain(|t| !t.becomes.is_empty());
    let mut kernels: Vec<(f64, u64)> = Vec::new();
    while sheet.next()? {
        let instances = sheet.whole(1, 1 << 53)?.filter(|n| *n > 0);
        let instances = instances.ok_or_else(|| sheet.bad(1, "1 or more"))?;
        kernels.push((sheet.ms(0)?.unwrap_or(0.0), instances));
    }
    let total: f64 = kernels.iter().map(|k| k.0).sum();
    if total <= 0.0 {
        return Err(sheet.table.ended("kernels that took some time", "profile again").into());
    }
    let size = options.needs_batch(file)?;
    // Warm-up and one-off kernels take little.
    let main = kernels.iter().filter(|k| k.0 >= 0.01 * total);
    let runs = match options.runs {
        Some(runs) => runs.max(1),
        None => main.map(|k| k.1).fold(0, gcd),
    };
    if options.runs.is_none() {
        reading.note(format!(
            "{runs} batches: the greatest number that divides the instances of every kernel with 1 % of the time; \
             `--runs N` says it"
        ));
    }
    reading.note("time of kernels alone: copies, launches and gaps between kernels are not in it");
    let model = options.name();
    let rows = vec![(model, size, total / runs as f64)];
    reading.contents.push(Content::Profile(Profile { rows }));
    Ok(reading)
}

fn gcd(a: u64, b: u64) -> u64 {
    if a == 0 { b } else { gcd(b % a, a) }
}
