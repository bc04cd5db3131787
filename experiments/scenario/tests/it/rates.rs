//! A process for each application, and the offered rate as one number.

use super::base::{NAME, refused};
use orrery_scenario::Scenario;
use orrery_sim::request::Arrival;

fn text(arrivals: &str) -> String {
    format!(
        "policies = [\"fifo\"]\npopularity = {{ zipf = 0.9 }}\n[[device]]\ncount = 4\n\
         [[zoo]]\nname = \"symphony-1080ti\"\nmodels = [\"ResNet50\"]\ncopies = 5\n\
         [arrivals]\n{arrivals}\n"
    )
}

fn scenario(arrivals: &str) -> Scenario {
    Scenario::from_text(NAME, &text(arrivals)).unwrap_or_else(|e| panic!("{e}"))
}

fn arrivals(scenario: &Scenario) -> Vec<Arrival> {
    let mut sources = scenario.setup(1).unwrap().sources(1).unwrap();
    assert_eq!(sources.len(), 1, "they are merged");
    std::iter::from_fn(|| sources[0].pop()).collect()
}

const PROCESSES: [&str; 5] = [
    "constant = { rate_per_s = 500 }",
    "poisson = { rate_per_s = 500 }",
    "gamma = { rate_per_s = 500, shape = 0.3 }",
    "mmpp = { rates_per_s = [250, 1000], mean_sojourns_s = [0.2, 0.1] }",
    "trace = { file = \"azure2019-f500\", minutes = 2, rate_per_s = 500, compress = 6 }",
];

#[test]
fn every_process_can_run_for_each_application_at_its_share() {
    for process in &PROCESSES[..4] {
        let all = arrivals(&scenario(&format!("{process}\nper_app = true\nduration_s = 20")));
        assert!((9_000..11_000).contains(&all.len()), "{process}: {}", all.len());
        let shares: Vec<f64> = (1..=5).map(|r| libm::pow(f64::from(r), -0.9)).collect();
        let sum: f64 = shares.iter().sum();
        for (app, share) in shares.iter().enumerate() {
            let count = all.iter().filter(|a| a.app.index() == app).count() as f64;
            let expected = all.len() as f64 * share / sum;
            assert!((count / expected - 1.0).abs() < 0.15, "{process} {app}: {count} {expected}");
        }
    }
}

#[test]
fn requests_and_chosen_applications_limit_processes_for_each() {
    let text = "poisson = { rate_per_s = 500 }\nper_app = true\nrequests = 77\n\
                apps = [\"ResNet50#2\", \"ResNet50#4\"]";
    let all = arrivals(&scenario(text));
    assert_eq!(all.len(), 77);
    assert!(all.iter().all(|a| [1, 3].contains(&a.app.index()) && a.app.0 == a.model.0));
}

#[test]
fn the_rate_is_read_and_set_whatever_the_process() {
    for process in PROCESSES {
        for per_app in ["", "per_app = true\n"] {
            if process.starts_with("trace") && !per_app.is_empty() {
                continue;
            }
            let base = scenario(&format!("{process}\n{per_app}requests = 100_000"));
            let rate = base.rate().unwrap();
            assert!((rate - 500.0).abs() < 1e-9, "{process}: {rate}");
            let other = base.with_rate(1234.5).unwrap();
            assert!((other.rate().unwrap() - 1234.5).abs() < 1e-9, "{process}");
            assert_ne!(base.canonical(), other.canonical());
        }
    }
    // Dealt in blocks, the trace has the same rate.
    let plain = "trace = { file = \"azure2019-f500\", minutes = 2, compress = 6 }";
    let dealt = plain.replace(" }", ", order = \"released\" }");
    let (plain, dealt) = (scenario(plain).rate().unwrap(), scenario(&dealt).rate().unwrap());
    assert!((plain - dealt).abs() < 1e-9 * plain, "{plain} {dealt}");
    let factor = "trace = { file = \"azure2019-f500\", minutes = 2, rate_factor = 0.5 }";
    let base = scenario(factor);
    let other = base.with_rate(base.rate().unwrap() * 3.0).unwrap();
    let trace = other.file.arrivals.as_ref().unwrap().trace.as_ref().unwrap();
    assert!((trace.rate_factor.unwrap() - 1.5).abs() < 1e-9);
}

#[test]
fn at_twice_the_rate_the_same_arrivals_come_in_half_the_time() {
    for process in &PROCESSES[..3] {
        for per_app in ["", "per_app = true\n"] {
            let base = scenario(&format!("{process}\n{per_app}requests = 2_000"));
            let twice = arrivals(&base.with_rate(1_000.0).unwrap());
            for (slow, fast) in arrivals(&base).iter().zip(&twice) {
                assert!(slow.at.ns().abs_diff(2 * fast.at.ns()) <= 2, "{process}");
                assert_eq!(slow.app, fast.app, "{process}");
            }
        }
    }
}

#[test]
fn a_load_without_a_rate_says_so() {
    let closed = text("").replace(
        "[arrivals]",
        "[closed_loop]\nclients = 3\nrequests = 9\nthink = { constant_ms = 1 }",
    );
    let closed = Scenario::from_text(NAME, &closed).unwrap();
    let error = closed.with_rate(5.0).unwrap_err().to_string();
    for word in [NAME, "closed_loop", "poisson", "remedy"] {
        assert!(error.contains(word), "{error}");
    }
    assert!(closed.rate().is_err());
    let written = scenario("workload = { file = \"w.csv\" }");
    assert!(written.rate().unwrap_err().to_string().contains("`workload`"));
    assert!(written.with_rate(5.0).is_err());
    assert!(scenario(PROCESSES[4]).with_rate(f64::NAN).is_err());
}

#[test]
fn a_process_for_each_application_needs_a_process() {
    let text = text("trace = { file = \"azure2019-f500\", minutes = 2 }\nper_app = true");
    let line = super::base::line(&text, "per_app");
    refused(&text, line, &["arrivals.per_app", "per_function", "poisson"]);
}

/// Of a list another rate is another number of copies, or another speed where the file says so.
#[test]
fn a_list_has_another_rate_by_copies_or_by_speed() {
    let path = std::env::temp_dir().join(format!("orrery-rates-{}.csv", std::process::id()));
    let rows: String = (0..200).map(|i| format!("{},1\n", 50 * i + i % 7)).collect();
    std::fs::write(&path, format!("arrival_ms,size\n{rows}")).unwrap();
    let list = |replay: &str| {
        scenario(&format!("queries = {{ file = {path:?} }}\nreplay = {{ {replay} }}"))
    };
    let once = arrivals(&list(""));
    let end =
        |all: &[Arrival]| all.last().unwrap().at.ns() as f64 / once.last().unwrap().at.ns() as f64;
    for (replay, n, length) in [
        ("", 600, 1.0),
        ("copies = 2", 1_200, 1.0),
        ("rate_per_s = 40.0", 1_200, 1.0),
        ("speed = 2.0", 600, 0.5),
        ("rate_by = \"speed\"", 200, 1.0 / 3.0),
        ("rate_by = \"speed\", copies = 2.0", 400, 1.0 / 3.0),
        ("rate_by = \"speed\", speed = 2.0", 200, 1.0 / 6.0),
    ] {
        let base = list(replay);
        let rate = base.rate().unwrap();
        let other = base.with_rate(rate * 3.0).unwrap();
        assert!((other.rate().unwrap() / rate - 3.0).abs() < 1e-9, "{replay}");
        let all = arrivals(&other);
        assert!((n as f64 / all.len() as f64 - 1.0).abs() < 0.02, "{replay}: {}", all.len());
        assert!((end(&all) - length).abs() < 0.01, "{replay}: {}", end(&all));
        let same = arrivals(&base.with_rate(rate).unwrap());
        assert_eq!(same, arrivals(&base), "{replay}: at its own rate it is itself");
    }
    assert_eq!(arrivals(&list("")), arrivals(&list("copies = 1, shift_s = 2.0")));
    for (replay, words) in [
        ("copies = 2, rate_per_s = 9", "copies or rate_per_s, not both"),
        ("rate_by = \"speed\", speed = 2, rate_per_s = 9", "speed or rate_per_s, not both"),
        ("copies = 0", "arrivals.replay.copies"),
        ("speed = 0", "arrivals.replay.speed"),
        ("shift_s = 0", "arrivals.replay.shift_s"),
        ("rate_by = \"gaps\"", "one of copies, speed"),
    ] {
        let text = text(&format!("queries = {{ file = {path:?} }}\nreplay = {{ {replay} }}"));
        let error = Scenario::from_text(NAME, &text).map(|_| ()).unwrap_err().to_string();
        assert!(error.contains(words), "{replay}: {error}");
    }
    std::fs::remove_file(&path).unwrap();
}
