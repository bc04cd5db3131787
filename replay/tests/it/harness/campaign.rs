//! Campaigns under a virtual clock: a device that obeys what was predicted differs by nothing, and
//! one that is 5 % slower is seen to be 5 % slower.

use orrery_replay::Error;
use orrery_replay::compare::read_log_file;
use orrery_replay::validate::{
    Campaign, Effort, PointResult, Standing, Store, run, to_csv, verdict,
};
use std::path::{Path, PathBuf};
use std::time::Duration;

pub fn campaigns() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("campaigns")
}

struct Ran {
    standing: Standing,
    campaign: Campaign,
    said: Vec<String>,
}

fn go(file: &Path, out: &Path, part: (usize, usize), limit: Option<Duration>) -> Ran {
    go_on(file, out, part, limit, |_| ()).expect("a campaign that runs")
}

fn go_on(
    file: &Path,
    out: &Path,
    part: (usize, usize),
    limit: Option<Duration>,
    change: impl FnOnce(&mut Effort<'_>),
) -> Result<Ran, Error> {
    let campaign = Campaign::load(file, None, false).expect("a campaign");
    let mut said = Vec::new();
    let mut say = |line: &str| said.push(line.to_string());
    let (date, command) = ("2000-01-01".to_string(), "a test".to_string());
    let mut effort = Effort {
        part,
        limit,
        keep_logs: true,
        predict_again: false,
        measure_only: false,
        any_profile: false,
        when_quiet: false,
        limits: Vec::new(),
        stop: &|| false,
        date,
        command,
        say: &mut say,
    };
    change(&mut effort);
    let standing = run(&campaign, &Store::new(out), &mut effort)?;
    Ok(Ran { standing, campaign, said })
}

/// A campaign in a folder of its own, beside its scenario.
fn campaign(folder: &Path, name: &str, change: impl Fn(String) -> String) -> PathBuf {
    let text = std::fs::read_to_string(campaigns().join("smoke.toml")).unwrap();
    let file = folder.join(name);
    std::fs::copy(campaigns().join("one-model.toml"), folder.join("one-model.toml")).unwrap();
    std::fs::write(&file, change(text)).unwrap();
    file
}

/// A law that looks at no request, and one time alone: every number is exact.
fn exact(text: String) -> String {
    text.replace(
        "eq3 = { c0_us = 1500.0, c1 = 0.3 }",
        "affine = { alpha_us = 900.0, beta_us = 1700.0 }",
    )
    .replace("form = \"eq3\"", "form = \"affine\"")
    .replace("exec_cv = 0.3", "exec_cv = 0.0")
}

#[test]
fn a_device_that_obeys_the_prediction_differs_by_nothing() {
    let home = tempfile::tempdir().unwrap();
    let ran = go(&campaigns().join("smoke.toml"), home.path(), (1, 1), None);
    let v = verdict(&ran.campaign, &ran.standing);
    assert_eq!((v.planned, v.finished, v.valid_runs, v.invalid_runs), (14, 14, 28, 0));
    assert_eq!((v.all.mean, v.all.max, v.all.spread_max), (Some(0.0), Some(0.0), Some(0.0)));
    assert!(v.within_targets);
    // It is no empty equality: the points differ from each other, and some requests are late.
    let rates: Vec<f64> =
        ran.standing.points.iter().map(|p| p.1.as_ref().unwrap().simulated.finish_rate).collect();
    assert!(rates.contains(&1.0) && rates.iter().any(|r| *r < 0.8), "{rates:?}");
}

#[test]
fn with_exact_numbers_the_logs_are_the_same_record_by_record() {
    let home = tempfile::tempdir().unwrap();
    let file = campaign(home.path(), "exact.toml", exact);
    let ran = go(&file, home.path(), (1, 1), None);
    for (point, _) in &ran.standing.points {
        for number in 1..=2 {
            let folder = home.path().join("points").join(&point.name).join(format!("run-{number}"));
            let predicted = read_log_file(&folder.join("predicted.log")).unwrap();
            let measured = read_log_file(&folder.join("schedule.log")).unwrap();
            assert!(measured.1.len() > 500, "{}", measured.1.len());
            assert_eq!(predicted, measured, "{}", point.name);
        }
    }
}

#[test]
fn a_bias_of_five_percent_is_seen_as_five_percent() {
    let home = tempfile::tempdir().unwrap();
    let file = campaign(home.path(), "exact.toml", exact);
    let unbiased = go(&file, home.path(), (1, 1), None);
    let name = unbiased.standing.profiles.keys().next().unwrap();
    let profile = format!("profile = \"{name}.toml\"\n\n[profiling]");
    let biased = campaign(home.path(), "biased.toml", |text| {
        let noise = "beta_us = 1700.0 } }\nnoise = { bias = 0.05 }";
        exact(text)
            .replace("beta_us = 1700.0 } }", noise)
            .replace("[profiling]", &profile)
            .replace("name = \"smoke\"", "name = \"biased\"")
    });
    let ran = go(&biased, &home.path().join("biased"), (1, 1), None);
    let mut differences = Vec::new();
    for (point, result) in &ran.standing.points {
        for run in &result.as_ref().unwrap().runs {
            let ppm = run.duration_under_ppm;
            assert_eq!((ppm.p50_ns, ppm.p99_ns, ppm.max_ns), (50_000, 50_000, 50_000));
            assert_eq!(run.duration_over.count, 0, "{}", point.name);
        }
    }
    // It is measured again at the end: such a device is not the one that was profiled.
    let v = verdict(&ran.campaign, &ran.standing);
    assert_eq!((v.valid_runs, v.within_targets), (0, false), "{v:?}");
    for (_, result) in &ran.standing.points {
        let result = result.as_ref().unwrap();
        let drift = result.drift_percent.unwrap();
        assert!((drift - 5.0).abs() < 0.01, "{drift}");
        let why = result.invalid(&result.runs[0]).unwrap();
        assert!(why.contains("changed by +5.00 %"), "{why}");
        let mean = result.runs.iter().map(|r| 100.0 * r.measured.finish_rate).sum::<f64>() / 2.0;
        differences.push(mean - result.predicted_percent());
    }
    assert!(differences.iter().any(|d| *d < -1.0), "{differences:?}");
}

/// One batch in a thousand takes six times as long: both sides draw from the same law, and the runs lie
/// among the draws.
#[test]
fn noise_that_was_profiled_is_in_the_prediction() {
    let home = tempfile::tempdir().unwrap();
    let file = campaign(home.path(), "noisy.toml", |text| {
        let noise =
            "c1 = 0.3 } }\nnoise = { sigma = 0.02, outlier_share = 0.001, outlier_factor = 6.0 }";
        text.replace("c1 = 0.3 } }", noise)
            .replace("form = \"eq3\"", "form = \"eq3\"\nnoise_batches = 8000")
            .replace("rounds = 3", "rounds = 25")
            .replace("repetitions = 2", "repetitions = 4\ndraws = 20")
    });
    let ran = go(&file, &home.path().join("noisy"), (1, 1), None);
    let results = || ran.standing.points.iter().map(|p| p.1.as_ref().unwrap());
    assert!(results().all(|r| r.draws.len() == 20));
    assert!(results().any(|r| r.draws_sd_points() > 0.1), "the draws differ");
    let (inside, runs) =
        results().map(|r| r.inside()).fold((0, 0), |(a, b), (c, d)| (a + c, b + d));
    assert!(runs == 56 && inside * 10 >= runs * 8, "{inside} of {runs}");
    let worst = results().filter(|r| !r.is_sensitive()).filter_map(|r| r.difference_points());
    let worst = worst.map(f64::abs).fold(0.0, f64::max);
    assert!(worst < 2.0, "{worst}");
}

#[test]
fn finished_points_are_not_run_again_and_parts_make_the_whole() {
    let home = tempfile::tempdir().unwrap();
    let file = campaigns().join("smoke.toml");
    let (whole, parts) = (home.path().join("whole"), home.path().join("parts"));
    let first = go(&file, &whole, (1, 1), None);
    assert_eq!(first.said.iter().filter(|l| l.starts_with('[')).count(), 14);
    let again = go(&file, &whole, (1, 1), None);
    assert_eq!(again.said, Vec::<String>::new());
    let one = go(&file, &parts, (1, 2), None);
    assert_eq!(verdict(&one.campaign, &one.standing).finished, 7);
    let two = go(&file, &parts, (2, 2), None);
    assert_eq!(verdict(&two.campaign, &two.standing).finished, 14);
    let strip = |ran: &Ran| {
        // What the machine did meanwhile may differ.
        let csv = to_csv(&ran.campaign, &ran.standing);
        let mut reader = csv::Reader::from_reader(csv.as_bytes());
        let at = reader.headers().unwrap().iter().position(|h| h == "load_average").unwrap();
        let rows = reader.records().map(|r| {
            let r = r.unwrap();
            r.iter().enumerate().filter(|(i, _)| *i != at).map(|(_, f)| f.to_string()).collect()
        });
        rows.collect::<Vec<Vec<String>>>()
    };
    assert_eq!(strip(&two), strip(&again));
    // A damaged result is told, and one of something else is run again.
    let victim = whole.join("points").join(&again.standing.points[3].0.name).join("result.json");
    let text = std::fs::read_to_string(&victim).unwrap();
    std::fs::write(&victim, text.replacen("\"hash\": \"", "\"hash\": \"0", 1)).unwrap();
    let said = go(&file, &whole, (1, 1), None).said;
    assert_eq!(said.iter().filter(|l| l.starts_with('[')).count(), 1, "{said:?}");
    std::fs::write(&victim, "{").unwrap();
    let campaign = Campaign::load(&file, None, false).unwrap();
    let error = Store::new(&whole).read(&again.standing.points[3].0).unwrap_err().to_string();
    assert!(error.contains("result.json") && error.contains("remove"), "{error}");
    drop(campaign);
}

#[test]
fn runs_that_were_kept_are_predicted_again() {
    let home = tempfile::tempdir().unwrap();
    let (file, out) = (campaigns().join("smoke.toml"), home.path());
    let ran = go(&file, out, (1, 1), None);
    let result = |standing: &Standing| standing.points[3].1.clone().unwrap();
    let (point, first) = (&ran.standing.points[3].0, result(&ran.standing));
    let mut spoilt = first.clone();
    spoilt.draws = vec![0.5];
    spoilt.simulated.finish_rate = 0.5;
    spoilt.runs[1].twin = None;
    Store::new(out).write(point, &spoilt).unwrap();
    assert_eq!(
        result(&go(&file, out, (1, 1), None).standing),
        spoilt,
        "not unless it is asked for"
    );
    let again = go_on(&file, out, (1, 1), None, |e| e.predict_again = true).unwrap();
    assert_eq!(result(&again.standing), first);
    assert_eq!(Store::new(out).read(point).unwrap(), Some(first));
    std::fs::remove_dir_all(out.join("points").join(&point.name).join("run-2")).unwrap();
    let error =
        go_on(&file, out, (1, 1), None, |e| e.predict_again = true).err().unwrap().to_string();
    assert!(error.contains("run-2") && error.contains("--keep-logs"), "{error}");
}

/// The simulator's plan, rerun batch for batch: a device that obeys starts each when it was planned.
#[test]
fn a_campaign_reruns_plans() {
    let home = tempfile::tempdir().unwrap();
    let planned = |text: String| {
        let text = exact(text).replace("repetitions = 2", "repetitions = 2\nmode = \"schedule\"");
        text.replace("seconds = 3.0", "seconds = 1.5\nrequests = 300")
    };
    let file = campaign(home.path(), "planned.toml", planned);
    let out = home.path().join("planned");
    let ran = go(&file, &out, (1, 1), None);
    let v = verdict(&ran.campaign, &ran.standing);
    assert_eq!((v.all.max, v.twin.all.max, v.valid_runs), (Some(0.0), Some(0.0), 28), "{v:?}");
    for (point, result) in &ran.standing.points {
        let result = result.as_ref().unwrap();
        // What arrives is random; the warm-up is no part of it.
        let requests = result.simulated.requests;
        assert!(requests > 240, "{}: {requests}", point.name);
        assert!(result.runs.iter().all(|r| r.on_time_percent == Some(100.0)), "{}", point.name);
        assert!(result.naive.as_ref().is_some_and(|n| n.law.requests == requests));
        let record = out.join("points").join(&point.name).join("run-1/run.json");
        let record = std::fs::read_to_string(record).unwrap();
        assert!(record.contains("\"mode\": \"schedule\""), "{record}");
    }
    let again = go_on(&file, &out, (1, 1), None, |e| e.predict_again = true).unwrap();
    for (again, first) in again.standing.points.iter().zip(&ran.standing.points) {
        assert_eq!(again.1, first.1);
    }
}

/// The minutes of a GPU are for measuring: what is kept is predicted at home, without the device, to the same results.
#[test]
fn what_was_only_measured_is_predicted_later() {
    let home = tempfile::tempdir().unwrap();
    let (file, out) = (campaigns().join("smoke.toml"), home.path());
    let whole = go(&file, &out.join("whole"), (1, 1), None);
    let there = out.join("there");
    let measured = go_on(&file, &there, (1, 1), None, |e| {
        (e.measure_only, e.keep_logs) = (true, false);
    });
    let measured = measured.unwrap();
    let results = |ran: &Ran| -> Vec<_> {
        ran.standing.points.iter().map(|p| p.1.clone().unwrap()).collect()
    };
    for result in results(&measured) {
        assert!(result.draws.is_empty() && result.drift_percent.is_some());
        assert!(result.runs.iter().all(|r| r.twin.is_none()));
    }
    let is_predicted = |line: &String| line.starts_with('[') && line.contains("predicted");
    assert!(!measured.said.iter().any(is_predicted), "{:?}", measured.said);
    let later = go(&file, &there, (1, 1), Some(Duration::ZERO));
    assert_eq!(later.said.iter().filter(|line| is_predicted(line)).count(), 14);
    // The machine's load average is in a run, and by its profile in a point's hash.
    let comparable = |mut result: PointResult| {
        result.hash.clear();
        result.runs.iter_mut().for_each(|r| r.load_average.clear());
        result
    };
    for (later, whole) in results(&later).into_iter().zip(results(&whole)) {
        assert_eq!(comparable(later), comparable(whole));
    }
    assert_eq!(go(&file, &there, (1, 1), Some(Duration::ZERO)).said, Vec::<String>::new());
}

#[test]
fn no_point_begins_that_would_end_after_the_limit() {
    let home = tempfile::tempdir().unwrap();
    let first = go(&campaign(home.path(), "a.toml", |t| t), home.path(), (1, 1), None);
    let name = first.standing.profiles.keys().next().unwrap();
    let file = campaign(home.path(), "b.toml", |text| {
        text.replace("virtual_clock = true", &format!("profile = \"{name}.toml\""))
    });
    // Two runs of three seconds each.
    // The profile is by a virtual clock.
    let limit = Some(Duration::from_secs(6));
    let out = home.path().join("b");
    let refused = go_on(&file, &out, (1, 1), limit, |_| ()).err().unwrap().to_string();
    assert!(refused.contains("measured by a virtual clock") && refused.contains("clock"));
    let ran = go_on(&file, &out, (1, 1), limit, |e| e.any_profile = true).unwrap();
    let v = verdict(&ran.campaign, &ran.standing);
    assert_eq!((v.planned, v.finished, v.within_targets), (14, 0, false));
}

#[test]
fn what_is_wrong_with_a_campaign_is_said_with_its_key() {
    let home = tempfile::tempdir().unwrap();
    let wrong = |from: &str, to: &str| {
        let file = campaign(home.path(), "wrong.toml", |text| {
            assert!(text.contains(from), "{from}");
            text.replace(from, to)
        });
        Campaign::load(&file, None, false).map(|_| ()).unwrap_err().to_string()
    };
    assert!(wrong("repetitions = 2", "repetitions = 0").contains("repetitions"));
    assert!(wrong("loads = [0.5, 1.2]", "loads = []").contains("grid[0].loads"));
    assert!(wrong("\"orloj\"", "\"orlol\"").contains("orloj"));
    assert!(wrong("seconds", "secnds").contains("secnds"));
    assert!(wrong("device = \"emulated\"", "device = \"tpu\"").contains("cuda:N"));
    assert!(wrong("one-model.toml", "none.toml").contains("none.toml"));
}
