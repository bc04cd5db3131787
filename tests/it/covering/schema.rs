//! The keys that a JSON Schema knows: what `orrery self schema` prints is made from the types that read files, so a new
//! key is here without anybody having to think of it.
//!
//! A key of the file itself has its own name; any other that of its type before it: `seed`, `Model.slo_ms`,
//! `LatencyLaw.affine.alpha_ms`. A variant or a word of an enumeration is a key as well.

use super::table::Key;
use serde_json::Value;
use std::collections::BTreeSet;

/// Fails where a key has neither a row nor an excuse, or a row or an excuse has no key. An excuse that ends in `.`
/// is one for everything below it.
pub fn all_drawn_or_excused(keys: &BTreeSet<String>, rows: &[Key], excused: &[(&str, &str)]) {
    let drawn: BTreeSet<&str> = rows.iter().map(|row| row.name).collect();
    let is = |name: &str, key: &str| key == name || name.ends_with('.') && key.starts_with(name);
    let excuse = |key: &str| excused.iter().any(|(name, _)| is(name, key));
    let missing: Vec<&String> =
        keys.iter().filter(|k| !drawn.contains(k.as_str()) && !excuse(k)).collect();
    assert!(
        missing.is_empty(),
        "no row in the table of keys, and no excuse (tests/it/covering/table/, or files/*/table.rs for \
         jobs, tokens, sweeps and plans): {missing:#?}"
    );
    let unknown: Vec<&&str> = drawn.iter().filter(|k| !keys.contains(**k)).collect();
    assert!(unknown.is_empty(), "rows of keys that the schema does not have: {unknown:#?}");
    for (name, _) in excused {
        assert!(keys.iter().any(|k| is(name, k)), "an excuse for `{name}`, which is no key");
        assert!(!drawn.contains(name), "`{name}` is excused and drawn");
    }
}

/// The keys of a schema.
pub fn keys(schema: &Value) -> BTreeSet<String> {
    let mut keys = BTreeSet::new();
    walk("", schema, &mut keys);
    let types = schema["definitions"].as_object().into_iter().flatten();
    types.for_each(|(name, of)| walk(name, of, &mut keys));
    keys
}

fn walk(place: &str, schema: &Value, keys: &mut BTreeSet<String>) {
    let join = |key: &str| if place.is_empty() { key.into() } else { format!("{place}.{key}") };
    for (key, of) in schema["properties"].as_object().into_iter().flatten() {
        keys.insert(join(key));
        walk(&join(key), of, keys);
    }
    let words = schema["enum"].as_array().into_iter().flatten().chain(schema.get("const"));
    keys.extend(words.filter_map(Value::as_str).map(join));
    for several in ["oneOf", "anyOf", "allOf"] {
        let all = schema[several].as_array().into_iter().flatten();
        all.for_each(|of| walk(place, of, keys));
    }
    for inner in ["items", "additionalProperties"] {
        schema.get(inner).into_iter().for_each(|of| walk(place, of, keys));
    }
}
