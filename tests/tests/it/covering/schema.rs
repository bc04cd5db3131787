//! The keys that a JSON Schema knows: what `orrery schema` prints is made from the types that read files, so a new
//! key is here without anybody having to think of it.
//!
//! A key of the file itself has its own name; any other that of its type before it: `seed`, `Model.slo_ms`,
//! `LatencyLaw.affine.alpha_ms`. A variant or a word of an enumeration is a key as well.

use serde_json::Value;
use std::collections::BTreeSet;

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
