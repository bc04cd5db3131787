//! `--what-if`: a plan file with some values changed, as `KEY=VALUE` with commas between.
//!
//! | key | what it sets |
//! |---|---|
//! | `load` | multiplies the load; of a list as `growth` does: its copies, or its speed |
//! | `slo`, `slo:MODEL` | the SLO of all models or of one: `50ms`, `0.2s`; of all also `90%` of what it is |
//! | `noise` | execution times vary by this share (the sigma of a lognormal factor), or as MLPerf's repeated runs did (`mlperf`); policies are not told |
//! | `delay` | messages between scheduler and device take so much longer, each way: `1ms` |
//! | `latency` | multiplies the models' latencies; policies are told |
//! | `price:TYPE`, `limit:TYPE` | the price of one of a type in dollars per hour; the most of it |
//! | `buy`, `buy:TYPE` | how all types or one are paid for: `on-demand`, `reserved`, `spot` |
//! | `budget` | the budget in dollars per hour |
//! | `bad_rate` | the target |
//! | `survive` | the machines that may be lost: 0, 1 of each type, or a type |

use crate::input::file::PlanFile;
use crate::input::loss::Survive;
use crate::input::prices::Buy;
use crate::input::repeated;
use orrery_run::SpecError;
use orrery_run::error::{hint, known};
use orrery_run::limits::COUNT_MAX;
use std::collections::BTreeSet;

const KEYS: [&str; 13] = [
    "load",
    "noise",
    "delay",
    "latency",
    "slo",
    "slo:MODEL",
    "price:TYPE",
    "limit:TYPE",
    "buy",
    "buy:TYPE",
    "budget",
    "bad_rate",
    "survive",
];

/// The plan with the changes of a `--what-if` made; `models` are those that there are.
///
/// # Errors
/// When a key is unknown, names nothing that the plan has, or a value is wrong.
pub fn changed(plan: &PlanFile, text: &str, models: &[String]) -> Result<PlanFile, SpecError> {
    let mut new = plan.clone();
    let mut keys = BTreeSet::new();
    for part in text.split(',').map(str::trim) {
        let (key, value) = part.split_once('=').unwrap_or((part, ""));
        if !keys.insert(key) {
            let remedy = "remove one, or ask both with a `--what-if` each";
            let error = SpecError::value(key, value, "each key once", remedy);
            return Err(about(text, error));
        }
        change(&mut new, part, models).map_err(|e| about(text, e))?;
    }
    new.check().map_err(|e| about(text, e))?;
    Ok(new)
}

/// The what-ifs of `KEY=VALUE,VALUE`: one for each value; of two keys, one for each pair.
///
/// # Errors
/// When a value is missing, or there are more keys.
pub fn over(axes: &[String]) -> Result<Vec<String>, SpecError> {
    let mut all = vec![String::new()];
    for axis in axes {
        let Some((key, values)) = axis.split_once('=').filter(|_| axes.len() < 3) else {
            let allowed = "KEY=VALUE,VALUE, at most twice";
            let remedy = "write for example `--over slo=50ms,80ms,120ms`";
            return Err(SpecError::value("--over", axis, allowed, remedy));
        };
        let with = |before: &String| {
            let before = if before.is_empty() { String::new() } else { format!("{before},") };
            values.split(',').map(move |value| format!("{before}{key}={}", value.trim()))
        };
        all = all.iter().flat_map(with).collect();
    }
    all.retain(|text| !text.is_empty());
    Ok(all)
}

/// The error with the option that it is of.
pub fn about(text: &str, error: SpecError) -> SpecError {
    match error {
        SpecError::Value { file, key, found, allowed, remedy } => {
            let key = format!("--what-if \"{text}\": {key}");
            SpecError::Value { file, key, found, allowed, remedy }
        }
        other => other,
    }
}

fn change(plan: &mut PlanFile, part: &str, models: &[String]) -> Result<(), SpecError> {
    let Some((key, value)) = part.split_once('=') else {
        let remedy = "write for example `load=1.5`";
        return Err(SpecError::value(part, "no `=`", "KEY=VALUE", remedy));
    };
    let (name, of) = key.split_once(':').map_or((key, None), |(name, of)| (name, Some(of)));
    let kinds: Vec<&str> = plan.instance.iter().map(|t| t.kind.as_str()).collect();
    match (name, of) {
        ("load", None) => plan.growth = plan.growth.scaled(number(key, value)?),
        ("noise", None) => {
            plan.strain.measured = value == repeated::NAME;
            let allowed = || format!("a number from 0.000001 to 1, or `{}`", repeated::NAME);
            let wrong = |_| SpecError::value(key, value, allowed(), "correct the value");
            plan.strain.noise = match plan.strain.measured {
                true => 0.0,
                false => factor(key, value, 1e-6, 1.0).map_err(wrong)?,
            };
        }
        ("delay", None) => plan.strain.delay_ms = milliseconds(key, value)?,
        ("latency", None) => plan.strain.latency = factor(key, value, 1e-3, 1e3)?,
        ("slo", None) if value.ends_with('%') => {
            let percent = value.trim_end_matches('%').trim();
            plan.strain.slo = factor(key, percent, 0.1, 1e4)? / 100.0;
        }
        ("slo", None) => {
            plan.slo.all_ms = Some(milliseconds(key, value)?);
            plan.slo.by_model_ms.clear();
        }
        ("slo", Some(model)) => {
            let names: Vec<&str> = models.iter().map(String::as_str).collect();
            known(key, model, &names)?;
            plan.slo.by_model_ms.insert(model.to_string(), milliseconds(key, value)?);
        }
        ("price", Some(kind)) => {
            let at = known(key, kind, &kinds)?;
            let usd = number(key, value)?;
            // Its packs stay.
            let packs: Vec<u32> = plan.sale(at)?.tariff.packs().iter().map(|p| p.devices).collect();
            let t = &mut plan.instance[at];
            t.price_usd_per_hour = Some(usd);
            (t.offers_of, t.buy) = (None, None);
            t.sold_in = if packs == [1] { Vec::new() } else { packs };
        }
        ("limit", Some(kind)) => {
            let at = known(key, kind, &kinds)?;
            let most = value.parse().ok().filter(|n: &u32| *n <= COUNT_MAX);
            let allowed = format!("a whole number from 0 to {COUNT_MAX}");
            let wrong = || SpecError::value(key, value, allowed, "correct it");
            plan.instance[at].count_max = Some(most.ok_or_else(wrong)?);
        }
        ("buy", None) => {
            plan.buy = term(key, value)?;
            plan.instance.iter_mut().for_each(|t| t.buy = None);
        }
        ("buy", Some(kind)) => {
            let at = known(key, kind, &kinds)?;
            plan.instance[at].buy = Some(term(key, value)?);
        }
        // What is wrong with it is said with the checks of the whole plan.
        ("survive", None) => plan.survive = Some(Survive::of_word(value)),
        ("budget", None) => plan.budget_usd_per_hour = Some(number(key, value)?),
        ("bad_rate", None) => {
            (plan.finish_rate, plan.percentile) = (None, None);
            plan.bad_rate = Some(number(key, value)?);
        }
        _ => {
            let hint = hint(key, KEYS);
            let remedy = format!("{hint}correct the key");
            return Err(SpecError::value(key, "an unknown key", KEYS.join(", "), remedy));
        }
    }
    Ok(())
}

fn term(key: &str, text: &str) -> Result<Buy, SpecError> {
    let names = Buy::ALL.map(Buy::name);
    Ok(Buy::ALL[known(key, text, &names)?])
}

fn number(key: &str, text: &str) -> Result<f64, SpecError> {
    let wrong = || SpecError::value(key, text, "a number, such as 1.5", "correct the value");
    text.parse().ok().filter(|x: &f64| x.is_finite()).ok_or_else(wrong)
}

fn factor(key: &str, text: &str, least: f64, most: f64) -> Result<f64, SpecError> {
    let wrong = || {
        let allowed = format!("a number from {least} to {most}");
        SpecError::value(key, text, allowed, "correct the value")
    };
    number(key, text).ok().filter(|x| (least..=most).contains(x)).ok_or_else(wrong)
}

/// A time with its unit.
pub fn milliseconds(key: &str, text: &str) -> Result<f64, SpecError> {
    let (digits, factor) = if let Some(digits) = text.strip_suffix("ms") {
        (digits, 1.0)
    } else if let Some(digits) = text.strip_suffix('s') {
        (digits, 1e3)
    } else {
        (text, f64::NAN)
    };
    let ms = digits.trim().parse::<f64>().map_or(f64::NAN, |x| x * factor);
    if ms > 0.0 && ms < 1e9 {
        return Ok(ms);
    }
    Err(SpecError::value(key, text, "a time above 0 with its unit: `50ms`, `0.2s`", "correct it"))
}
