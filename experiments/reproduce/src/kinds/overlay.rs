//! Keys over keys: what a point or `set` changes in a table.

use toml::Value;

/// Lays one table's keys over another's; tables are merged, all else replaced.
pub fn overlay(base: &mut Value, over: Value) {
    match (base, over) {
        (Value::Table(base), Value::Table(over)) => {
            for (key, value) in over {
                match base.get_mut(&key) {
                    Some(old) => overlay(old, value),
                    None => {
                        base.insert(key, value);
                    }
                }
            }
        }
        (base, over) => *base = over,
    }
}
