//! Systems that differ in more than their policy: keys of their own, and another reading of the text.

use super::{forms, forms_of};
use crate::experiment::Preset;
use crate::registry::{find, from_text};
use crate::reproduce::{Asked, How, rows_of, run};

/// One scenario under two systems of the same policy, of which one has keys of its own.
const OWN_KEYS: &str = r#"
id = "own-keys"
title = "t"
source = "s"
seeds = 2
show = ["finish_rate", "offered_per_s"]
scenario = '''
[[model]]
name = "m"
slo_ms = 50.0
latency = { affine = { alpha_ms = 1.0, beta_ms = 4.0 } }
[[app]]
name = "a"
model = "m"
[arrivals]
poisson = { rate_per_s = 150.0 }
requests = 500
'''
[[axis]]
key = "model.m.slo_ms"
values = [40.0, 50.0]
[[system]]
name = "plain"
policy = "fifo"
[[system]]
name = "slow"
policy = "eager"
[[system]]
name = "other"
policy = "eager"
set = { "delays.dispatch_ms" = 30.0 }
"#;

#[test]
fn a_system_s_own_keys_are_its_alone() {
    let own = forms(OWN_KEYS, 1).rows;
    let without = OWN_KEYS.replace("set = { \"delays.dispatch_ms\" = 30.0 }\n", "");
    let without = forms(&without, 2).rows;
    let of = |rows: &[orrery_results::Row], system: &str| -> Vec<(String, Option<f64>, String)> {
        let is = |r: &&orrery_results::Row| r.system == system && r.metric == "finish_rate";
        rows.iter().filter(is).map(|r| (r.axes.clone(), r.value, r.spec_sha256.clone())).collect()
    };
    for system in ["plain", "slow"] {
        assert_eq!(of(&own, system), of(&without, system), "{system}");
    }
    let rate = |rows: &[_]| of(rows, "other").into_iter().map(|r| r.1).collect::<Vec<_>>();
    let longer_way = rate(&own).into_iter().zip(rate(&without)).all(|(own, without)| own < without);
    assert!(longer_way, "{:?}, {:?}", rate(&own), rate(&without));
    let hashes = |rows: &[_]| of(rows, "other").into_iter().map(|r| r.2).collect::<Vec<_>>();
    assert_ne!(hashes(&own), hashes(&without), "and another specification");
}

#[test]
fn what_is_set_by_hand_is_in_every_row() {
    let mut e = from_text("own.toml", OWN_KEYS).expect("an experiment");
    e.change(&[("arrivals.requests".to_string(), 60.into())], "requests=60")
        .expect("a key that is free");
    let rows = rows_of(&e, &Asked { seeds: Some(1), ..Asked::default() }).expect("rows");
    let own = format!("{} with requests=60", e.id);
    assert!(!rows.is_empty() && rows.iter().all(|r| r.experiment == own), "{:?}", rows[0]);
}

#[test]
fn keys_of_a_system_that_are_wrong_are_errors_that_name_it() {
    let says = |text: &str, words: &[&str]| {
        let ran =
            from_text("own.toml", text).and_then(|e| run(&e, &Asked::default(), &How::default()));
        let error = ran.err().map(|e| e.to_string()).unwrap_or_default();
        assert!(words.iter().all(|word| error.contains(word)), "{error}");
    };
    let key = OWN_KEYS.replace("delays.dispatch_ms", "delays.dispach_ms");
    says(&key, &["own.toml", "`set` of the system `other`", "dispach_ms"]);
    let value = OWN_KEYS.replace("30.0 }", "-1.0 }");
    says(&value, &["`set` of the system `other`", "delays.dispatch_ms"]);
    let kind = "extends = \"orloj-table-3\"\nid = \"x\"\n[[system]]\nname = \"a\"\npolicy = \"fifo\"\n\
                set = { \"seed\" = 2 }\n";
    says(kind, &["system[0].set", "only with `scenario` or `cases`; here is `applications`"]);
}

/// The reading stands in a group of its own, so the calibrated scores are what they were.
#[test]
fn another_reading_has_a_group_that_says_what_it_changes() {
    let mut e = find("orloj-table-3").expect("a shipped table");
    e.keep_cases(&["two-modal".to_string()]).expect("a case");
    e.set.insert("load.requests".to_string(), 500.into());
    e.seeds = 1;
    let text = forms_of(&e).table;
    let title = "As calibrated, by another reading of the paper (orloj: estimate_law=common, \
                 score_law=common, shares=equal)";
    assert!(text.contains(title), "{text}");
    let calibrated = |s: &&crate::experiment::System| s.preset == Preset::Calibrated;
    let line = |text: &str| {
        let text = text.split("Against the paper's numbers\n").nth(1).unwrap_or_default();
        let text = text.split("\n\n").next().unwrap_or_default();
        let own = text
            .lines()
            .filter(|l| l.contains(" calibrated ") || l.contains("Calibrated for these"));
        own.map(|l| l.split_whitespace().collect::<Vec<_>>().join(" ")).collect::<Vec<_>>()
    };
    assert_eq!(e.system.iter().filter(calibrated).count(), 4);
    let with = line(&text);
    e.system.retain(|s| s.preset != Preset::Reading);
    assert_eq!(with, line(&forms_of(&e).table));
    assert!(with.iter().any(|l| l.contains("order of two systems")), "{with:?}");
    // One system alone is in no order, and no other is above it.
    assert!(!text.contains("shares=equal): order of two systems"), "{text}");
}
