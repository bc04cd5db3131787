//! The answer as rows of a result table: ours with theirs in the column `paper`, of the scenario as it is and with
//! each assumption.

use crate::Calibration;
use crate::errors::{Part, error};
use crate::evidence::{Found, Noise};
use crate::value::{MIDDLE, TAIL, Values, WHAT};
use orrery_results::{RESULT_VERSION, Row};
use orrery_run::SpecError;
use orrery_sweep::hash::spec_sha256;
use orrery_sweep::scenario_cell::inputs_sha256;
use serde_json::{Value, json};

/// The rows.
pub fn rows(c: &Calibration) -> Result<Vec<Row>, SpecError> {
    let mut rows = Vec::new();
    let mut add = |words: &str, value: Option<f64>, changes: &[_], all: &[Values], flag: &str| {
        for (case, ours) in c.cases.iter().zip(all) {
            let scenario = case.scenario.with(changes)?;
            let inputs = inputs_sha256(&scenario)?;
            let spec = ["calibrate", &scenario.canonical(), c.policy.text(), &inputs];
            let value = value.map_or(String::new(), |v| format!(" {v}"));
            let part = if case.is_fitted { "fitted" } else { "held out" };
            let base = Row {
                experiment: c.scenario.name.clone(),
                axes: format!(
                    "model={};load={};rows={part};assumption={words}{value}",
                    case.model, case.name
                ),
                system: c.policy.system().to_string(),
                policy: c.policy.text().to_string(),
                scope: "all".to_string(),
                samples: ours.samples,
                seeds: format!("{0}-{0}", c.asked.seed),
                warm_up: match scenario.file.warm_up_s {
                    0.0 => "none".to_string(),
                    s => format!("arrivals before {s} s are not counted"),
                },
                spec_sha256: spec_sha256(&spec),
                inputs_sha256: inputs,
                result_version: RESULT_VERSION,
                flags: flag.to_string(),
                ..Row::default()
            };
            for (what, _, metric, units) in WHAT {
                let theirs = case.theirs.of(what).map(|x| x * units);
                let Some(ours) = ours.of(what).map(|x| x * units) else { continue };
                rows.push(Row {
                    paper: theirs,
                    paper_source: theirs.map_or(String::new(), |_| c.measured.clone()),
                    abs_error: theirs.map(|theirs| (ours - theirs).abs()),
                    ..base.of_all(metric, ours)
                });
            }
        }
        Ok::<(), SpecError>(())
    };
    let is_noise = c.evidence.found == Found::Nothing;
    add("none", None, &[], &c.ours, if is_noise { "within-noise" } else { "" })?;
    for (i, t) in c.tried.iter().enumerate() {
        if let Ok(f) = &t.fitted {
            let flag = if c.best == Some(i) { "recommended" } else { "" };
            add(t.name, Some(f.value), &f.changes, &f.ours, flag)?;
        }
    }
    Ok(rows)
}

/// What was tried, for JSON.
pub fn in_json(c: &Calibration) -> Value {
    let errors = |ours: &[Values]| {
        let mean = |rows, of| Some(error(&c.cases, ours, rows, of)?.mean);
        let each = |of| {
            let others = mean(Part::HeldOut, of);
            json!({"all": mean(Part::All, of), "fitted": mean(Part::Fitted, of), "held_out": others})
        };
        json!({"middle": each(MIDDLE), "tail": each(TAIL)})
    };
    let tried = c.tried.iter().map(|t| match &t.fitted {
        Ok(f) => json!({
            "name": t.name, "key": t.key, "unit": t.unit, "value": f.value,
            "low": f.interval.0, "high": f.interval.1, "mean_error": errors(&f.ours),
        }),
        Err(why) => json!({"name": t.name, "key": t.key, "not_tried": why}),
    });
    let noise = |n: Option<Noise>| {
        n.map(
            |n| json!({"mean": n.mean, "deviation": n.spread, "limit": n.limit, "error": n.error}),
        )
    };
    json!({
        "measured": c.measured,
        "as_it_is": {"mean_error": errors(&c.ours)},
        "assumptions": tried.collect::<Vec<_>>(),
        "notes": c.notes,
        "noise": {"middle": noise(c.evidence.middle), "tail": noise(c.evidence.tail)},
        "evidence": match &c.evidence.found {
            Found::Nothing => "none: the error is within the noise",
            Found::Unexplained => "beyond noise, explained by no assumption",
            Found::Several(_) => "beyond noise, explained by several assumptions alike",
            Found::One(_) => "beyond noise, explained by one assumption",
        },
        "not_told_apart": match &c.evidence.found {
            Found::Several(all) => all.iter().map(|i| c.tried[*i].name).collect(),
            _ => Vec::new(),
        },
        "explains_most": c.best.map(|i| c.tried[i].name),
    })
}
