//! `docs/scenarios.md`: its examples are valid, and it names every key.

use super::properties::texts;
use orrery_scenario::Scenario;
use orrery_scenario::scenario::file::ScenarioFile;
use std::collections::BTreeSet;

const REFERENCE: &str = include_str!("../../../../docs/scenarios.md");

/// The examples in the reference.
fn blocks() -> Vec<String> {
    let after = REFERENCE.split("```toml\n").skip(1);
    after.filter_map(|text| text.split("```").next()).map(str::to_string).collect()
}

#[test]
fn every_example_of_the_reference_can_be_run() {
    assert_eq!(blocks().len(), 1);
    for text in blocks() {
        let scenario =
            Scenario::from_text("docs/example.toml", &text).unwrap_or_else(|e| panic!("{e}"));
        let mut setup = scenario.setup(1).unwrap_or_else(|e| panic!("{e}"));
        setup.profile.batches = 20;
        let total = setup.run(&scenario.policies().unwrap()[0], 1).unwrap().total();
        assert!(total.offered > 1_000);
        assert_eq!(total.offered, total.ends.iter().sum::<u64>());
    }
}

fn collect(value: &toml::Value, keys: &mut BTreeSet<String>) {
    match value {
        toml::Value::Table(table) => {
            for (key, value) in table {
                keys.insert(key.clone());
                collect(value, keys);
            }
        }
        toml::Value::Array(items) => items.iter().for_each(|item| collect(item, keys)),
        _ => {}
    }
}

#[test]
fn the_reference_names_every_key_that_files_have() {
    let mut keys = BTreeSet::new();
    for text in texts().into_iter().chain(blocks()) {
        let file: ScenarioFile = toml::from_str(&text).unwrap();
        collect(&toml::Value::try_from(&file).unwrap(), &mut keys);
    }
    assert!(keys.len() > 60, "{} keys", keys.len());
    for key in keys {
        assert!(REFERENCE.contains(&key), "`{key}` is not in docs/scenarios.md");
    }
}
