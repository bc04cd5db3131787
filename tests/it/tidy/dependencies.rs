//! What the workspace depends on is as `deny.toml` allows: licences, one version of each crate, one registry.
//!
//! `cargo deny` says the same and more; this runs where it is not installed.

use serde_json::Value;
use spdx::{Expression, ParseMode};
use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;
use toml::Table;

const DENY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../deny.toml");

/// A crate of the workspace's tree.
struct Crate {
    name: String,
    version: String,
    license: String,
    /// Where it is from; a folder of this repository has none.
    source: Option<String>,
}

fn crates(target: &str) -> Vec<Crate> {
    let args = ["metadata", "--locked", "--format-version", "1", "--filter-platform", target];
    let with_benches = ["--features", "orrery-benches/run"];
    let mut command = Command::new(env!("CARGO"));
    let output =
        command.args(args).args(with_benches).current_dir(env!("CARGO_MANIFEST_DIR")).output();
    let output = output.expect("cargo can be started");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "cargo metadata: {errors}");
    let metadata: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let text = |package: &Value, key: &str| package[key].as_str().map(str::to_string);
    let packages = metadata["packages"].as_array().expect("packages");
    packages
        .iter()
        .map(|package| Crate {
            name: text(package, "name").expect("a name"),
            version: text(package, "version").expect("a version"),
            license: text(package, "license").unwrap_or_default(),
            source: text(package, "source"),
        })
        .collect()
}

/// What `deny.toml` allows.
struct Allowed {
    target: String,
    licenses: BTreeSet<String>,
    exceptions: BTreeMap<String, BTreeSet<String>>,
    twice: BTreeSet<String>,
}

impl Allowed {
    fn read() -> Allowed {
        let text = std::fs::read_to_string(DENY).expect("deny.toml");
        let file: Table = text.parse().expect("TOML");
        let words = |value: &toml::Value| -> BTreeSet<String> {
            let list = value.as_array().into_iter().flatten();
            list.filter_map(|v| v.as_str().map(str::to_string)).collect()
        };
        let name = |value: &toml::Value| value["crate"].as_str().expect("a crate").to_string();
        let list = |value: &toml::Value| value.as_array().expect("a list").clone();
        Allowed {
            target: words(&file["graph"]["targets"]).pop_first().expect("a target"),
            licenses: words(&file["licenses"]["allow"]),
            exceptions: list(&file["licenses"]["exceptions"])
                .iter()
                .map(|e| (name(e), words(&e["allow"])))
                .collect(),
            twice: list(&file["bans"]["skip"]).iter().map(name).collect(),
        }
    }

    fn is_licensed(&self, it: &Crate) -> bool {
        let own = self.exceptions.get(&it.name);
        let is_allowed = |req: &spdx::LicenseReq| {
            let name = req.to_string();
            self.licenses.contains(&name) || own.is_some_and(|own| own.contains(&name))
        };
        Expression::parse_mode(&it.license, ParseMode::LAX).is_ok_and(|e| e.evaluate(is_allowed))
    }
}

/// What is not allowed, or allowed and not there.
fn faults(crates: &[Crate], allowed: &Allowed) -> Vec<String> {
    let mut faults = Vec::new();
    let mut versions: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    let mut sources: BTreeSet<&str> = BTreeSet::new();
    for it in crates {
        let Crate { name, version, license, source } = it;
        if !allowed.is_licensed(it) {
            faults.push(format!("{name} {version}: licence `{license}`"));
        }
        versions.entry(name).or_default().insert(version);
        sources.extend(source.as_deref());
    }
    for (name, versions) in &versions {
        match (versions.len() > 1, allowed.twice.contains(*name)) {
            (true, false) => faults.push(format!("{name} is there in versions {versions:?}")),
            (false, true) => faults.push(format!("{name} is skipped, and there only once")),
            _ => {}
        }
    }
    let gone = |name: &&String| !versions.contains_key(name.as_str());
    let named = allowed.twice.iter().chain(allowed.exceptions.keys());
    faults.extend(named.filter(gone).map(|name| format!("{name} is named, and not there")));
    if sources.len() != 1 || !sources.iter().all(|s| s.starts_with("registry+")) {
        faults.push(format!("crates come from {sources:?}"));
    }
    faults
}

#[test]
fn dependencies_are_as_deny_toml_allows() {
    let allowed = Allowed::read();
    let faults = faults(&crates(&allowed.target), &allowed);
    assert!(faults.is_empty(), "change deny.toml or the tree:\n{}", faults.join("\n"));
}

#[test]
fn what_deny_toml_does_not_allow_is_found() {
    let allowed =
        Allowed { twice: BTreeSet::new(), exceptions: BTreeMap::new(), ..Allowed::read() };
    let it = |name: &str, version: &str, license: &str, source: &str| Crate {
        name: name.into(),
        version: version.into(),
        license: license.into(),
        source: Some(source.into()),
    };
    let crates = [
        it("a", "1.0.0", "MIT/Apache-2.0", "registry+here"),
        it("a", "2.0.0", "GPL-3.0-only OR MIT", "registry+here"),
        it("b", "1.0.0", "GPL-3.0-only", "registry+here"),
        it("c", "1.0.0", "MIT AND AGPL-3.0-only", "git+there"),
        it("d", "1.0.0", "", "registry+here"),
    ];
    let found = faults(&crates, &allowed).join("\n");
    for word in
        ["b 1.0.0: licence", "c 1.0.0: licence", "d 1.0.0: licence", "a is there", "git+there"]
    {
        assert!(found.contains(word), "{word} in {found}");
    }
    assert!(!found.contains("a 1.0.0: ") && !found.contains("a 2.0.0: "), "{found}");
}
