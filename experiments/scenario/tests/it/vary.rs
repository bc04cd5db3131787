//! A scenario with keys changed.

use orrery_scenario::scenario::{InputFile, Scenario};
use toml::Value;

const BASE: &str = "policies = [\"clockwork[max_batch=4]\", \"fifo\"]\n[[model]]\nname = \"bert\"\nslo_ms = 100.0\n\
    latency = { affine = { alpha_ms = 1.0, beta_ms = 4.0 } }\n[[app]]\nname = \"chat\"\nmodel = \"bert\"\n\
    time = { constant = { ms = 5.0 } }\n[arrivals]\npoisson = { rate_per_s = 50.0 }\nrequests = 100\n";

fn base() -> Scenario {
    Scenario::from_text("base.toml", BASE).expect("a scenario")
}

fn with(key: &str, value: impl Into<Value>) -> Result<Scenario, orrery_run::SpecError> {
    base().with(&[(key.to_string(), value.into())])
}

#[test]
fn a_key_is_set_by_name_by_number_and_where_it_was_left_out() {
    assert_eq!(with("model.bert.slo_ms", 50.0).unwrap().file.model[0].slo_ms, 50.0);
    assert_eq!(with("model[0].slo_ms", 51.0).unwrap().file.model[0].slo_ms, 51.0);
    assert_eq!(with("delays.reply_ms", 0.5).unwrap().file.delays.reply_ms, 0.5);
    assert_eq!(with("warm_up_s", 0.25).unwrap().file.warm_up_s, 0.25);
    let changed = with("policy.clockwork.max_batch", 8).unwrap();
    assert_eq!(changed.file.policies, ["clockwork[max_batch=8]", "fifo"]);
}

#[test]
fn a_wrong_key_or_value_is_named_with_the_nearest() {
    for (key, value, says) in [
        ("model.brt.slo_ms", Value::Float(1.0), "did you mean `bert`"),
        ("warm_up", Value::Float(1.0), "did you mean `warm_up_s`"),
        ("model.bert.slo_m", Value::Float(1.0), "did you mean `slo_ms`"),
        ("model.bert.slo_ms", Value::String("x".into()), "slo_ms"),
        ("policy.clockwerk.max_batch", Value::Integer(1), "a policy that is run: clockwork, fifo"),
        ("policy.clockwork.max_bath", Value::Integer(1), "max_batch"),
        ("model.slo_ms", Value::Integer(60), "remedy: set `model.bert.slo_ms`"),
        ("device.count", Value::Integer(2), "remedy: set `device[0].count`"),
        ("zoo.slo_ms", Value::Integer(2), "remedy: add `[[zoo]]` to the file"),
    ] {
        let error = with(key, value.clone()).unwrap_err().to_string();
        assert!(error.contains(says), "{key}: {error}");
        // Beside others it is named alone.
        let right = ("warm_up_s".to_string(), Value::Float(0.25));
        let both = base().with(&[right, (key.to_string(), value)]).unwrap_err().to_string();
        assert_eq!(both, error);
    }
}

/// What a remedy names is not refused in turn.
#[test]
fn the_slo_of_a_zoo_s_models_is_the_zoo_s() {
    let text = "policies = [\"fifo\"]\n[[zoo]]\nname = \"symphony-1080ti\"\nmodels = [\"ResNet50\"]\n\
        [arrivals]\npoisson = { rate_per_s = 50.0 }\nrequests = 100\n";
    let scenario = Scenario::from_text("zoo.toml", text).expect("a scenario");
    let with = |key: &str| scenario.with(&[(key.to_string(), Value::Integer(60))]);
    for key in ["model.slo_ms", "model.ResNet50.slo_ms", "model[0].slo_ms"] {
        let error = with(key).unwrap_err().to_string();
        assert!(error.contains("remedy: set `zoo.symphony-1080ti.slo_ms`"), "{key}: {error}");
    }
    assert_eq!(with("zoo.symphony-1080ti.slo_ms").unwrap().file.model[0].slo_ms, 60.0);
}

#[test]
fn the_canonical_text_depends_on_values_alone() {
    let comment = Scenario::from_text("other.toml", &format!("# a comment\nseed = 9\n{BASE}"));
    assert_eq!(base().canonical(), comment.unwrap().canonical());
    assert_ne!(base().canonical(), with("warm_up_s", 0.25).unwrap().canonical());
}

#[test]
fn the_files_of_a_run_are_found_once_each() {
    let text = BASE.replace(
        "poisson = { rate_per_s = 50.0 }",
        "trace = { file = \"azure2019-f500\", rate_per_s = 50.0 }",
    );
    let scenario = Scenario::from_text("base.toml", &text).expect("a scenario");
    assert!(matches!(scenario.inputs()[..], [InputFile::Shipped("azure2019-f500", _)]));
    assert!(base().inputs().is_empty());
}
