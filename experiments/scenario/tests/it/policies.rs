//! What readers are shown of policies: the command line's text, and `docs/policies.md`.

use orrery_run::PolicySpec;
use orrery_run::policies::{all, of_jobs, policy_text, reference};
use orrery_scenario::jobs::JobPolicySpec;
use orrery_scenario::reference::schema;
use orrery_scenario::scenario::file::ScenarioFile;

const DOCUMENT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/policies.md");

#[test]
fn the_document_is_what_the_tables_say() {
    let (made, text) = (reference(), std::fs::read_to_string(DOCUMENT).unwrap_or_default());
    if made == text {
        return;
    }
    if std::env::var_os("ORRERY_UPDATE").is_some() {
        return std::fs::write(DOCUMENT, made).expect("a document that can be written");
    }
    let differs = made.lines().zip(text.lines()).find(|(new, old)| new != old);
    let (new, old) = differs.unwrap_or_default();
    panic!(
        "docs/policies.md is not what the code says; the first line that differs:\n- {old}\n+ {new}\n\
         ORRERY_UPDATE=1 cargo test -p orrery-scenario policies"
    );
}

#[test]
fn a_policy_s_text_names_every_parameter_with_default_and_range() {
    for table in all().chain(of_jobs()) {
        let text = policy_text(table.about.name).unwrap();
        for row in &table.rows {
            let has = |line: &str| line.starts_with(row.name) && line.contains(&row.defaults[0]);
            assert!(text.lines().any(has), "{}: {text}", row.name);
        }
        for (preset, _) in &table.presets {
            assert!(text.contains(&format!("\n{preset}  ")), "{text}");
        }
        let example = text.split("--policy '").nth(1).and_then(|t| t.split('\'').next());
        let example = example.expect("an example");
        match of_jobs().any(|t| t.about.name == table.about.name) {
            true => drop(JobPolicySpec::parse(example).unwrap_or_else(|e| panic!("{e}"))),
            false => drop(PolicySpec::parse(example).unwrap_or_else(|e| panic!("{e}"))),
        }
        assert!(text.is_ascii() || text.contains('§'), "{text}");
    }
}

#[test]
fn an_unknown_policy_gets_the_nearest() {
    let error = policy_text("clockwrok").unwrap_err().to_string();
    assert!(error.contains("did you mean `clockwork`?"), "{error}");
}

#[test]
fn the_schema_for_editors_knows_the_policies() {
    let schema = schema::<ScenarioFile>().to_value();
    let policies = &schema["properties"]["policies"];
    assert!(policies["description"].as_str().is_some_and(|d| d.contains("policies to compare")));
    let pattern = policies["items"]["pattern"].as_str().expect("a pattern");
    assert!(pattern.contains("clipper|") && pattern.contains("|nexus-cluster|"), "{pattern}");
}
