//! Each thing that can be wrong with models, devices, applications and the rest, as a claim.

use super::base::{NAME, VALID, changed, message, refused};
use orrery_run::{PolicySpec, SpecError};
use orrery_scenario::Scenario;

#[test]
fn the_base_is_valid_and_balances() {
    let scenario = Scenario::from_text(NAME, VALID).unwrap();
    assert_eq!(scenario.model_names(), ["bert", "resnet"]);
    assert_eq!(scenario.app_names(), ["chat", "photos"]);
    assert_eq!(scenario.device_names(), ["v100", "v100", "t4"]);
    let setup = scenario.setup(1).unwrap();
    for policy in scenario.policies().unwrap() {
        let total = setup.run(&policy, 1).unwrap().total();
        assert_eq!(total.offered, total.ends.iter().sum::<u64>());
        assert!(total.offered > 0);
    }
}

#[test]
fn a_missing_file_is_named() {
    let error = Scenario::load("no/such/scenario.toml").unwrap_err();
    assert!(matches!(error, SpecError::Read { .. }));
    assert!(error.to_string().contains("no/such/scenario.toml"), "{error}");
}

#[test]
fn relearning_without_a_profiler_is_refused() {
    let learns = changed("\"fifo\"", "\"orloj[relearn_every=500]\"");
    assert!(Scenario::from_text(NAME, &learns).is_ok(), "the base has a profiler");
    let (without, _) = learns.split_once("[profiler]").unwrap();
    let words = ["policies[0]", "relearn_every needs a profiler", "add `[profiler]`"];
    refused(without, 2, &words);
    // A policy that the file does not name is refused when it is to run.
    let (quiet, _) = VALID.split_once("[profiler]").unwrap();
    let setup = Scenario::from_text(NAME, quiet).unwrap().setup(1).unwrap();
    let policy = PolicySpec::parse("orloj[relearn_every=500]").unwrap();
    let error = setup.run(&policy, 1).err().map(|e| e.to_string());
    assert!(error.is_some_and(|e| e.contains("relearn_every needs a profiler")));
    let by_time = changed("\"fifo\"", "\"orloj[relearn_every_s=60]\"");
    let (without, _) = by_time.split_once("[profiler]").unwrap();
    refused(without, 2, &["relearn_every_s needs a profiler", "remove `relearn_every_s`"]);
}

#[test]
fn more_bins_than_are_profiled_are_refused() {
    let setup = Scenario::from_text(NAME, VALID).unwrap().setup(1).unwrap();
    let run = |policy: &str| {
        let policy = PolicySpec::parse(policy).unwrap();
        setup.run(&policy, 1).err().map(|e| e.to_string())
    };
    assert_eq!(run("orloj[bins=64]"), None);
    let error = run("orloj[bins=65]").unwrap_or_default();
    for words in ["wants 65 bins", "profiled with 64", "set `profile.bins` to 65"] {
        assert!(error.contains(words), "{error}");
    }
}

#[test]
fn no_model_no_app_and_no_device_are_errors() {
    let (head, rest) = VALID.split_once("[[model]]").unwrap();
    let after_models = rest.split_once("[[device]]").unwrap().1;
    let text = format!("{head}[[device]]{after_models}");
    assert!(message(&text).contains("key `model`: found none"));
    let (head, rest) = VALID.split_once("[[app]]").unwrap();
    let text = format!("{head}[arrivals]{}", rest.split_once("[arrivals]").unwrap().1);
    assert!(message(&text).contains("key `app`: found none"));
    let (head, rest) = VALID.split_once("[[device]]").unwrap();
    let rest = rest.split_once("[[app]]").unwrap().1;
    refused(&format!("device = []\n{head}[[app]]{rest}"), 1, &["the default is one GPU"]);
}

/// A law that does not look at the time alone needs none; it is a batch of one's then.
#[test]
fn an_app_of_an_affine_model_needs_no_time() {
    let text = |time: &str| {
        format!(
            "policies = [\"fifo\"]\n[[model]]\nname = \"m\"\nslo_ms = 50.0\n\
             latency = {{ affine = {{ alpha_ms = 2.0, beta_ms = 5.0 }} }}\n[[app]]\nname = \"a\"\n\
             model = \"m\"\n{time}[arrivals]\npoisson = {{ rate_per_s = 50.0 }}\nrequests = 100\n"
        )
    };
    let scenario = |time: &str| Scenario::from_text("s.toml", &text(time)).expect("a scenario");
    let with = scenario("time = { constant = { ms = 7.0 } }\n");
    assert_eq!(scenario("").canonical(), with.canonical());
}

#[test]
fn an_app_may_have_no_slo() {
    let text = changed("slo_ms = 60.0", "slo_ms = inf");
    let setup = Scenario::from_text(NAME, &text).unwrap().setup(1).unwrap();
    assert_eq!(setup.apps[1].slo, orrery_sim::time::Span::MAX);
}
