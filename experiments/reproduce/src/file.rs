//! An experiment's file: its keys are those of the frame and of one kind. What is wrong with a key is said
//! with its line, and with the nearest of the keys that the file may have.

use super::experiment::{Experiment, Frame, KindEntry};
use super::kinds::KINDS;
use orrery_results::distinct;
use orrery_run::SpecError;
use orrery_run::error::known;
use orrery_scenario::reference::{Reference, Table, names};
use orrery_scenario::scenario::place::{Source, parse_error};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Deserialize;
use serde_json::Value as Json;
use std::borrow::Cow;
use toml::de::{DeTable, DeValue, ValueDeserializer};
use toml::{Spanned, Value};

/// The experiment of a file's keys. Those of a file that it extends have the place of `extends`.
///
/// # Errors
/// When a key is unknown, missing or of another kind, or a value is wrong.
pub fn read(
    origin: Source,
    scenario_in: Source,
    keys: Spanned<DeTable<'_>>,
) -> Result<Experiment, SpecError> {
    let kind = kind_of(keys.get_ref()).map_err(|e| origin.placed(e))?;
    // Its place in a list says nothing of what it is.
    let mut resolved = keys.clone();
    resolved.get_mut().remove("order");
    let resolved = typed(&origin, resolved, Value::deserialize)?;
    let (span, names) = (keys.span(), (kind.names)());
    let (mut own, mut rest) = (DeTable::new(), DeTable::new());
    for (key, value) in keys.into_inner() {
        let is_own = names.contains(&key.get_ref().as_ref());
        if is_own { &mut own } else { &mut rest }.insert(key, value);
    }
    let frame = typed(&origin, Spanned::new(span.clone(), rest), Frame::deserialize)?;
    let kind = typed(&origin, Spanned::new(span, own), kind.read)?;
    let (cases_from, details, changed) = (None, false, String::new());
    let mut experiment =
        Experiment { frame, kind, resolved, origin, scenario_in, cases_from, details, changed };
    experiment.take_rows(None)?;
    experiment.complete();
    experiment.check().map_err(|e| experiment.origin.placed(e))?;
    Ok(experiment)
}

/// Reads keys, with the line of what is wrong.
fn typed<'a, T>(
    origin: &Source,
    keys: Spanned<DeTable<'a>>,
    read: impl FnOnce(ValueDeserializer<'a>) -> Result<T, toml::de::Error>,
) -> Result<T, SpecError> {
    let keys = Spanned::new(keys.span(), DeValue::Table(keys.into_inner()));
    read(ValueDeserializer::from(keys)).map_err(|mut e| {
        e.set_input(Some(&origin.text));
        parse_error(&origin.path, &origin.text, &e)
    })
}

/// The kind that a file's keys name; every key is of the frame or of this kind.
fn kind_of(keys: &DeTable<'_>) -> Result<&'static KindEntry, SpecError> {
    let of_frame = names::<Frame>(&[]);
    let of_kinds = KINDS.iter().flat_map(|kind| (kind.names)());
    // Two kinds may have a key of one name.
    let all = distinct(of_frame.iter().copied().chain(of_kinds));
    let given = || keys.keys().map(|key| key.get_ref().as_ref());
    given().try_for_each(|key| known(key, key, &all).map(drop))?;
    let kind = one_kind(keys)?;
    let of_kind = (kind.names)();
    let is_foreign = |key: &&str| !of_frame.contains(key) && !of_kind.contains(key);
    if let Some(key) = given().find(is_foreign) {
        return Err(foreign(key, kind, |k| (k.names)().contains(&key)));
    }
    let systems = keys.get("system").and_then(|all| all.get_ref().as_array());
    for (i, system) in systems.into_iter().flatten().enumerate() {
        let keys = system.get_ref().as_table().into_iter().flat_map(|system| system.keys());
        for key in keys.map(|key| key.get_ref().as_ref()) {
            let is_of = |k: &KindEntry| k.of_system.contains(&key);
            if !is_of(kind) && KINDS.iter().any(is_of) {
                return Err(foreign(&format!("system[{i}].{key}"), kind, is_of));
            }
        }
    }
    Ok(kind)
}

/// One thing is run.
fn one_kind(keys: &DeTable<'_>) -> Result<&'static KindEntry, SpecError> {
    let given: Vec<&KindEntry> = KINDS.iter().filter(|k| keys.contains_key(k.key)).collect();
    let (key, found) = match given[..] {
        [one] => return Ok(one),
        [] => ("scenario", "none of them".to_string()),
        [_, second, ..] => (second.key, quoted(given, ", ")),
    };
    let allowed = format!("one of {}", quoted(&KINDS, ", "));
    Err(SpecError::value(key, found, allowed, "give one of these keys"))
}

/// The error about a key that other kinds have.
fn foreign(key: &str, kind: &KindEntry, is_of: impl Fn(&KindEntry) -> bool) -> SpecError {
    let owners = quoted(KINDS.iter().filter(|k| is_of(k)), " or ");
    let allowed = format!("only with {owners}; here is `{}`", kind.key);
    SpecError::value(key, "a key of another kind", allowed, "remove it")
}

fn quoted<'a>(kinds: impl IntoIterator<Item = &'a KindEntry>, between: &str) -> String {
    let keys = kinds.into_iter().map(|kind| format!("`{}`", kind.key));
    keys.collect::<Vec<_>>().join(between)
}

/// All keys of a file, those of every kind, for the JSON Schema.
pub struct AllKeys;

impl JsonSchema for AllKeys {
    fn schema_name() -> Cow<'static, str> {
        "Experiment".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut all = Frame::json_schema(generator);
        for kind in &KINDS {
            let own = (kind.schema)(generator);
            let own = own.get("properties").and_then(Json::as_object).cloned();
            let Some(Json::Object(all)) = all.get_mut("properties") else { continue };
            for (key, mut value) in own.into_iter().flatten() {
                let text = value.get_mut("description").map(Json::take);
                let text = text.as_ref().and_then(Json::as_str).unwrap_or_default();
                let mut text = match key == kind.key {
                    true => text.to_string(),
                    false => format!("With `{}`: {text}", kind.key),
                };
                // Two kinds may have a key of one name.
                if let Some(Json::String(other)) = all.get(&key).and_then(|o| o.get("description"))
                {
                    text = format!("{other} {text}");
                }
                value["description"] = text.into();
                all.insert(key, value);
            }
        }
        all
    }
}

/// The tables of `docs/experiments.md`.
pub fn reference() -> Vec<Table> {
    let frame = Reference::of::<Frame>();
    let kind = |key: &str| {
        let entry = KINDS.iter().find(|k| k.key == key);
        (entry.expect("a kind of this key").reference)()
    };
    let (scenario, applications) = (kind("scenario"), kind("applications"));
    let pool = kind("pool");
    vec![
        ("file", frame.keys(&[], &[])),
        ("system", frame.keys(&["system"], &[])),
        ("search", frame.keys(&["system", "search"], &[])),
        ("paper", frame.keys(&["paper"], &[])),
        ("paper_csv", frame.keys(&["paper_csv"], &[])),
        ("errors", frame.keys(&["errors"], &[])),
        ("claim", frame.keys(&["claim"], &[])),
        ("figure", frame.keys(&["figure"], &[])),
        ("scenario", scenario.keys(&[], &[])),
        ("applications", applications.keys(&[], &[])),
        ("laws", applications.keys(&["laws"], &[])),
        ("leave_one_out", applications.keys(&["leave_one_out"], &[])),
        ("pool", pool.keys(&["pool"], &[])),
        ("jobs", kind("jobs").keys(&[], &[])),
        ("measured cases", kind("cases").keys(&["cases"], &[])),
    ]
}
