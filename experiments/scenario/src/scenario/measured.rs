//! `latency = { profile = { file = "..." } }`: laws that were measured on a device.
//!
//! `orrery-replay profile` writes the file. Its law takes the place of the reference before anything
//! is checked, so that the rest of the crate, and whatever identifies a scenario, sees the numbers.

use super::file::{LatencyLaw, ScenarioFile};
use super::laws::Files;
use crate::error::{SpecError, known};
use serde::Deserialize;

/// What a scenario reads of a profile; what else is in it is for people.
#[derive(Debug, Deserialize)]
struct ProfileFile {
    orrery_profile: u32,
    #[serde(default)]
    model: Vec<Measured>,
}

#[derive(Debug, Deserialize)]
struct Measured {
    name: String,
    law: LatencyLaw,
}

/// The version of profile files that is read.
pub const PROFILE_VERSION: u32 = 1;

/// The file with the law of its profile in place of every reference to one.
pub(super) fn resolve(file: &ScenarioFile, files: &Files) -> Result<ScenarioFile, SpecError> {
    let mut file = file.clone();
    for (i, model) in file.model.iter_mut().enumerate() {
        let key = |part: &str| format!("model[{i}].{part}");
        let own = (key("latency"), &mut model.latency);
        let believed = model.believed.iter_mut().map(|law| (key("believed"), law));
        let kinds = model.latency_on.iter_mut();
        let kinds = kinds.map(|(kind, law)| (key(&format!("latency_on.{kind}")), law));
        for (key, law) in std::iter::once(own).chain(believed).chain(kinds) {
            if let LatencyLaw::Profile { file, model: wanted } = law {
                let wanted = wanted.as_deref().unwrap_or(&model.name);
                *law = read(&format!("{key}.profile"), file, wanted, files)?;
            }
        }
    }
    Ok(file)
}

fn read(key: &str, name: &str, wanted: &str, files: &Files) -> Result<LatencyLaw, SpecError> {
    let at = format!("{key}.file");
    let path = files.folder.join(name);
    let remedy = "correct the path, or measure one: `orrery-replay profile`";
    let unreadable = |why: String| {
        let found = format!("`{name}` ({}: {why})", path.display());
        let allowed = "a profile that `orrery-replay profile` wrote, by its path from the \
                       scenario's folder";
        SpecError::value(&at, found, allowed, remedy)
    };
    let text = crate::whole::read(&path).map_err(|e| unreadable(e.to_string()))?;
    let profile: ProfileFile = toml::from_str(&text)
        .map_err(|e| unreadable(e.to_string().lines().collect::<Vec<_>>().join(" ")))?;
    if profile.orrery_profile != PROFILE_VERSION {
        let (found, allowed) = (profile.orrery_profile, PROFILE_VERSION.to_string());
        let found = format!("version {found} of profiles in {}", path.display());
        return Err(SpecError::value(at, found, allowed, "measure again with this version"));
    }
    let names: Vec<&str> = profile.model.iter().map(|m| m.name.as_str()).collect();
    let law = &profile.model[known(&format!("{key}.model"), wanted, &names)?].law;
    match law {
        LatencyLaw::Profile { .. } => Err(unreadable("it names another profile".to_string())),
        law => Ok(law.clone()),
    }
}

#[cfg(test)]
mod tests {
    use crate::Scenario;
    use std::path::PathBuf;

    const SCENARIO: &str = r#"
policies = ["fifo"]
arrivals = { poisson = { rate_per_s = 10.0 }, requests = 10 }
[[model]]
name = "bert"
slo_ms = 100.0
latency = { profile = { file = "FILE" } }
[[app]]
name = "a"
model = "bert"
time = { constant = { ms = 1.0 } }
"#;

    fn scenario(profile: &str) -> Result<Scenario, String> {
        let folder = std::env::temp_dir().join(format!("orrery-measured-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let number = profile.len();
        let file: PathBuf = folder.join(format!("{number}.toml"));
        std::fs::write(&file, profile).unwrap();
        let text = SCENARIO.replace("FILE", &format!("{number}.toml"));
        let name = folder.join("s.toml").display().to_string();
        Scenario::from_text(&name, &text).map_err(|e| e.to_string())
    }

    #[test]
    fn a_profile_s_law_is_the_scenario_s() {
        let law =
            "[[model]]\nname = \"bert\"\nlaw = { affine = { alpha_ms = 2.0, beta_ms = 1.0 } }\n";
        let measured = scenario(&format!("orrery_profile = 1\n{law}points = 3\n")).unwrap();
        let by_hand = SCENARIO.replace(
            "{ profile = { file = \"FILE\" } }",
            "{ affine = { alpha_ms = 2.0, beta_ms = 1.0 } }",
        );
        let by_hand = Scenario::from_text("s.toml", &by_hand).unwrap();
        assert_eq!(measured.canonical(), by_hand.canonical());
    }

    #[test]
    fn what_is_wrong_with_a_profile_is_said_with_its_key() {
        let message = scenario("orrery_profile = 2\n").unwrap_err();
        assert!(message.contains("model[0].latency.profile.file"), "{message}");
        assert!(message.contains("version 2") && message.contains("s.toml:7"), "{message}");
        let other = "[[model]]\nname = \"bart\"\nlaw = { proportional = { c1 = 0.5 } }\n";
        let message = scenario(&format!("orrery_profile = 1\n{other}")).unwrap_err();
        assert!(message.contains("did you mean `bart`"), "{message}");
        assert!(scenario("not a profile").unwrap_err().contains("orrery-replay profile"));
        let missing = SCENARIO.replace("FILE", "nowhere.toml");
        let message = Scenario::from_text("s.toml", &missing).unwrap_err().to_string();
        assert!(message.contains("nowhere.toml") && message.contains("remedy"), "{message}");
    }
}
