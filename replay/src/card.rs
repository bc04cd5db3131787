//! A GPU as `nvidia-smi` tells of it before and after a run, and never meanwhile: clocks, power, throttling, ECC, MIG.

use crate::device::Description;
use crate::device::worker::ON_GPU;
use std::collections::BTreeMap;
use std::process::Command;

/// What is asked for.
const KEYS: [&str; 11] = [
    "clocks.sm",
    "clocks.mem",
    "power.draw",
    "power.limit",
    "temperature.gpu",
    "clocks_throttle_reasons.active",
    "ecc.mode.current",
    "ecc.errors.uncorrected.volatile.total",
    "mig.mode.current",
    "compute_mode",
    "persistence_mode",
];

/// What it said, by what was asked; nothing of a device that is no GPU.
pub type Card = BTreeMap<String, String>;

/// Whether nothing is known of a run's GPU, of one without a GPU say.
pub fn is_unknown(both: &[Card; 2]) -> bool {
    both.iter().all(Card::is_empty)
}

/// Asks for the GPU of a device; where nobody answers that is what is known.
pub fn ask(device: &Description) -> Card {
    let kind_and_number = device.device.split_once(':').filter(|_| is_gpu(device));
    let Some((_, number)) = kind_and_number else { return Card::new() };
    let uuid = device.facts.iter().find(|(fact, _)| fact == "uuid").map(|(_, uuid)| uuid.as_str());
    // The parent is asked for an instance of MIG.
    let id = uuid.filter(|uuid| uuid.starts_with("GPU-")).unwrap_or(number);
    let query = format!("--query-gpu={}", KEYS.join(","));
    let asked =
        Command::new("nvidia-smi").args([&query, "--format=csv,noheader", "-i", id]).output();
    let unknown = |why: String| Card::from([("nvidia-smi".to_string(), why)]);
    match asked {
        Ok(said) if said.status.success() => {
            let line = String::from_utf8_lossy(&said.stdout);
            let values = line.trim().split(',').map(|value| value.trim().to_string());
            KEYS.map(str::to_string).into_iter().zip(values).collect()
        }
        Ok(said) => unknown(String::from_utf8_lossy(&said.stdout).trim().to_string()),
        Err(e) => unknown(format!("not run ({e}): clocks, power and throttling are unknown")),
    }
}

fn is_gpu(device: &Description) -> bool {
    device.device.starts_with("cuda:") || device.name.contains(ON_GPU)
}
