//! `latency = { profile = { file = "..." } }`: laws that were measured on a device.
//!
//! `orrery-replay profile` writes the file; or it is a CSV of batch sizes and latencies, one's own or published.
//! Its law takes the place of the reference before anything is checked, so that the rest of the crate, and
//! whatever identifies a scenario, sees the numbers.

use super::file::{LatencyLaw, ScenarioFile};
use super::laws::Files;
use super::value::at_key;
use orrery_run::error::{SpecError, known};
use orrery_sim::time::Span;
use orrery_traces::MeasuredLatencies;
use serde::Deserialize;

/// What a scenario reads of a profile; what else is in it is for people.
#[derive(Debug, Deserialize)]
struct ProfileFile {
    orrery_profile: u32,
    /// Why nothing should be predicted with it.
    #[serde(default)]
    verdict: Vec<String>,
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

/// The file with the law of its profile in place of every reference to one, and whether a profile says of itself
/// that nothing should be predicted with it.
pub(super) fn resolve(
    file: &ScenarioFile,
    files: &Files,
) -> Result<(ScenarioFile, bool), SpecError> {
    let mut file = file.clone();
    let mut unfit = false;
    for (i, model) in file.model.iter_mut().enumerate() {
        let key = |part: &str| format!("model[{i}].{part}");
        let own = (key("latency"), &mut model.latency);
        let believed = model.believed.iter_mut().map(|law| (key("believed"), law));
        let kinds = model.latency_on.iter_mut();
        let kinds = kinds.map(|(kind, law)| (key(&format!("latency_on.{kind}")), law));
        for (key, law) in std::iter::once(own).chain(believed).chain(kinds) {
            if let LatencyLaw::Profile { file, model: wanted, gpu } = law {
                let wanted = wanted.as_deref().unwrap_or(&model.name);
                let key = format!("{key}.profile");
                *law = match files.profile(&key, file, wanted)? {
                    Some(law) => law,
                    None if is_table(file) => {
                        read_table(&key, file, wanted, gpu.as_deref(), files)?
                    }
                    None => {
                        let (law, is_fit) = read(&key, file, wanted, gpu.as_deref(), files)?;
                        unfit |= !is_fit;
                        law
                    }
                };
            }
        }
    }
    Ok((file, unfit))
}

/// Whether a profile is a table of measurements, by its name.
fn is_table(name: &str) -> bool {
    name.ends_with(".csv") || name.ends_with(".csv.gz")
}

/// A table where each size was measured once, latencies to draw from otherwise.
fn read_table(
    key: &str,
    name: &str,
    wanted: &str,
    gpu: Option<&str>,
    files: &Files,
) -> Result<LatencyLaw, SpecError> {
    let at = format!("{key}.file");
    let input = files.open(&at, name)?;
    let read = MeasuredLatencies::read(input, wanted, gpu).map_err(|e| at_key(&at, e))?;
    let ms = |all: &[Span]| -> Vec<f64> { all.iter().map(|s| s.as_ms_f64()).collect() };
    Ok(match read.is_curve() {
        true => LatencyLaw::Table(read.rows().map(|(size, all)| (size, ms(all)[0])).collect()),
        false => LatencyLaw::Measured(read.rows().map(|(size, all)| (size, ms(all))).collect()),
    })
}

/// A law of a profile, and whether that is fit to predict with.
fn read(
    key: &str,
    name: &str,
    wanted: &str,
    gpu: Option<&str>,
    files: &Files,
) -> Result<(LatencyLaw, bool), SpecError> {
    let at = format!("{key}.file");
    if let Some(gpu) = gpu {
        let allowed = "only with a CSV: a profile is of one device";
        let key = format!("{key}.gpu");
        return Err(SpecError::value(key, format!("`{gpu}`"), allowed, "remove it"));
    }
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
        law => Ok((law.clone(), profile.verdict.is_empty())),
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
        // One that says that nothing should be predicted with it is used all the same, and says so.
        let unfit = scenario(&format!("orrery_profile = 1\nverdict = [\"busy\"]\n{law}")).unwrap();
        let rate = ("arrivals.poisson.rate_per_s".to_string(), 20.0.into());
        let changed = unfit.with(&[rate]).unwrap();
        let caveats = [&measured, &unfit, &changed].map(|s| s.caveats(&s.policies().unwrap()[0]));
        assert_eq!(caveats, [vec![], vec!["unfit-profile"], vec!["unfit-profile"]]);
    }

    #[test]
    fn a_csv_is_a_table_where_each_size_was_measured_once_and_samples_otherwise() {
        let folder = tempfile::tempdir().unwrap();
        let name = folder.path().join("s.toml").display().to_string();
        let of = |csv: &str, more: &str| {
            std::fs::write(folder.path().join("m.csv"), csv).unwrap();
            let text = SCENARIO.replace("\"FILE\"", &format!("\"m.csv\"{more}"));
            Scenario::from_text(&name, &text).map_err(|e| e.to_string())
        };
        let by_hand = |law: &str| {
            let text = SCENARIO.replace("{ profile = { file = \"FILE\" } }", law);
            Scenario::from_text("s.toml", &text).unwrap().canonical()
        };
        let two = "model,gpu,batch,latency_ms\nbert,t4,1,5.0\nbert,t4,4,9.5\nbert,a10,1,2.0\n";
        let table = of(two, ", gpu = \"t4\"").unwrap();
        assert_eq!(table.canonical(), by_hand("{ table = [[1, 5.0], [4, 9.5]] }"));
        let samples = of("batch,latency_us\n1,5000\n1,5200\n4,9500\n", "").unwrap();
        assert_eq!(samples.canonical(), by_hand("{ measured = [[1, [5.0, 5.2]], [4, [9.5]]] }"));
        let drawn = samples.setup(1).unwrap().world.latency[0][0].clone();
        assert!(matches!(drawn, orrery_sim::latency::Latency::Samples(_)));
        let message = of(two, "").unwrap_err();
        assert!(message.contains("model[0].latency.profile.file"), "{message}");
        assert!(message.contains("`t4`, `a10`") && message.contains("s.toml:7"), "{message}");
        let message = of(two, ", gpu = \"h100\"").unwrap_err();
        assert!(message.contains("`h100`"), "{message}");
        let text = SCENARIO.replace(
            "{ profile = { file = \"FILE\" } }",
            "{ measured = [[2, [1.0]], [1, [1.0]]] }",
        );
        let message = Scenario::from_text("s.toml", &text).unwrap_err().to_string();
        assert!(message.contains("model[0].latency.measured"), "{message}");
    }

    #[test]
    fn a_kind_of_which_there_are_none_is_not_there_and_its_laws_are_not_used() {
        let with = |more: &str, law: &str| {
            let law = format!("{{ affine = {{ alpha_ms = 1.0, beta_ms = 1.0 }} }}{law}");
            let text = SCENARIO.replace("{ profile = { file = \"FILE\" } }", &law);
            Scenario::from_text("s.toml", &text.replace("[[app]]", &format!("{more}[[app]]")))
        };
        let on = |kind: &str| format!("\nlatency_on = {{ {kind} = {{ table = [[1, 9.0]] }} }}");
        let a10 = "[[device]]\nkind = \"a10\"\ncount = 2\n";
        let none = "[[device]]\nkind = \"t4\"\ncount = 0\n";
        let alone = with(a10, "").unwrap();
        let beside = with(&format!("{none}{a10}"), &on("t4")).unwrap();
        assert_eq!(beside.canonical(), alone.canonical());
        assert_eq!(beside.device_key(0), "device[1]");
        assert_eq!(beside.notes(), [""; 0]);
        let absent = with(a10, &on("h200")).unwrap();
        assert_eq!(absent.canonical(), alone.canonical());
        assert!(
            absent.notes()[0].contains("latency_on` changes nothing: no device is of that kind")
        );
        let slip = with(a10, &on("a1O")).unwrap_err().to_string();
        assert!(slip.contains("did you mean `a10`?"), "{slip}");
        let wrong = format!("{none}{}", a10.replace("count = 2", "count = 2\nspeed = -1.0"));
        let message = with(&wrong, "").unwrap_err().to_string();
        assert!(message.contains("`device[1].speed`"), "{message}");
        let message = with(none, "").unwrap_err().to_string();
        assert!(message.contains("device"), "{message}");
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
