//! Decision by decision, in real time: fed with what was measured of a run, the simulator takes the same decisions,
//! on a machine that may be as busy as it likes.

use super::campaign::campaigns;
use super::cli::replay;
use orrery_replay::driver::Options;
use orrery_replay::prediction::{OverheadAs, Prediction};
use orrery_replay::profile::Clocks;
use orrery_replay::runner::{Mode, Ran, Run, run};
use orrery_replay::target::{Choice, DeviceConfig};
use orrery_run::PolicySpec;
use orrery_scenario::Scenario;
use std::path::{Path, PathBuf};

const POLICIES: [&str; 9] =
    ["fifo", "timeout", "orloj", "clockwork", "nexus", "symphony", "shepherd", "clipper", "eager"];

fn scenario(file: &str, changes: &[(&str, toml::Value)]) -> Scenario {
    let changes: Vec<_> = changes.iter().map(|(key, v)| (key.to_string(), v.clone())).collect();
    Scenario::load(campaigns().join(file)).unwrap().with(&changes).unwrap()
}

fn on(device: &str, config: &str, scenario: &Scenario, policy: &str) -> Ran {
    let config: DeviceConfig = toml::from_str(config).unwrap();
    let (target, file) = (device.parse().unwrap(), PathBuf::from("test"));
    let device = Choice { target, number: 0, config, file };
    let prediction = Prediction::of(scenario, 1, &[], OverheadAs::Busy).unwrap();
    let (noise, clocks, options) = (0, Clocks::Wall(1), Options::default());
    let this =
        Run { scenario, prediction: &prediction, seed: 1, noise, device: &device, clocks, options };
    run(&this, Mode::Live(&PolicySpec::parse(policy).unwrap())).unwrap()
}

/// Decisions of a run, all of which the simulator takes at the same instants.
fn same(ran: &Ran, policy: &str) -> u64 {
    assert_eq!(ran.retraced.difference, None, "{policy}");
    assert!(ran.inputs.iter().any(|i| i.at > i.due), "{policy}: nothing is late on a real clock");
    ran.retraced.decisions
}

/// Near saturation, so that batches form, requests are dropped and windows are missed.
#[test]
fn on_an_emulated_device_the_simulator_takes_the_same_decisions() {
    let scenario = scenario(
        "one-model.toml",
        &[
            ("arrivals.duration_s", 0.5.into()),
            ("arrivals.poisson.rate_per_s", 600.0.into()),
            ("model.0.slo_ms", 40.0.into()),
            ("warm_up_s", 0.0.into()),
        ],
    );
    // In overload Shepherd, as released, stands still behind its first expired request.
    let total: u64 = POLICIES.map(|p| same(&on("emulated", "", &scenario, p), p)).iter().sum();
    assert!(total > 500, "{total}");
}

#[test]
fn on_a_core_the_simulator_takes_the_same_decisions() {
    if std::thread::available_parallelism().map_or(1, usize::from) < 2 {
        // The device takes two cores, and says so (`cli.rs`).
        return;
    }
    let encoder = "[[cpu.models]]\nworkload = { encoder = { layers = 1, heads = 2, hidden = 64, \
                   max_len = 64, max_batch = 128, lengths = [[1, 1.0], [64, 64.0]] } }\n";
    let scenario = scenario(
        "sentences.toml",
        &[
            ("arrivals.duration_s", 0.5.into()),
            ("arrivals.poisson.rate_per_s", 900.0.into()),
            ("model.0.slo_ms", 12.0.into()),
            ("warm_up_s", 0.0.into()),
        ],
    );
    let total: u64 = POLICIES.map(|p| same(&on("cpu:1", encoder, &scenario, p), p)).iter().sum();
    assert!(total > 500, "{total}");
}

/// A line's field is replaced.
fn edit(file: &Path, line: usize, column: usize, to: &str) {
    let text = std::fs::read_to_string(file).unwrap();
    let mut lines: Vec<String> = text.lines().map(str::to_string).collect();
    let mut fields: Vec<&str> = lines[line].split(',').collect();
    fields[column] = to;
    lines[line] = fields.join(",");
    std::fs::write(file, lines.join("\n") + "\n").unwrap();
}

#[test]
fn a_run_s_folder_is_retraced_and_the_first_difference_is_told() {
    let home = tempfile::tempdir().unwrap();
    let at = home.path();
    let short = std::fs::read_to_string(campaigns().join("one-model.toml")).unwrap();
    let short = short.replace("duration_s = 20.0", "duration_s = 1.5");
    std::fs::write(at.join("short.toml"), &short).unwrap();
    let output = replay(at, &["run", "short.toml", "--max-lateness-ms", "10000", "--out", "r"]);
    let told = String::from_utf8_lossy(&output.stdout);
    assert!(told.contains("the simulator takes the same"), "{told}");
    let go = |scenario: &str| {
        let output = replay(at, &["retrace", scenario, "r"]);
        let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
        (output.status.code(), text(&output.stdout), text(&output.stderr))
    };
    let (code, told, _) = go("short.toml");
    assert!(code == Some(0) && told.contains("the same"), "{told}");
    let keep = |name: &str| std::fs::read_to_string(at.join("r").join(name)).unwrap();
    let put = |name: &str, text: &str| std::fs::write(at.join("r").join(name), text).unwrap();
    // A batch that took longer.
    let actions = keep("actions.csv");
    edit(&at.join("r/actions.csv"), 3, 11, "9000000000");
    let (code, told, _) = go("short.toml");
    assert!(code == Some(1) && told.contains("the simulator has arrival"), "{told}");
    put("actions.csv", &actions);
    // Another policy takes other decisions.
    let record = keep("run.json");
    put("run.json", &record.replacen("\"policy\": \"orloj\"", "\"policy\": \"fifo\"", 1));
    let (code, told, _) = go("short.toml");
    assert!(code == Some(1) && told.contains("is the first that differed"), "{told}");
    assert!(told.contains("waiting:"), "{told}");
    for (from, to, words) in [
        ("orrery-run,2", "orrery-run,1", "orrery-run,2"),
        ("\"mode\": \"live\"", "\"mode\": \"schedule\"", "`live`"),
    ] {
        put("run.json", &record.replacen(from, to, 1));
        let (code, _, said) = go("short.toml");
        assert!(code == Some(2) && said.contains(words), "{said}");
    }
    put("run.json", &record);
    std::fs::write(at.join("other.toml"), short.replace("duration_s = 1.5", "duration_s = 1.6"))
        .unwrap();
    let (code, _, said) = go("other.toml");
    assert!(code == Some(2) && said.contains("scenario_sha256"), "{said}");
    edit(&at.join("r/inputs.csv"), 2, 2, "tea");
    let (code, _, said) = go("short.toml");
    assert!(code == Some(2) && said.contains("line 3") && said.contains("`tea`"), "{said}");
}
