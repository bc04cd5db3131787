//! The points of a campaign.

use super::campaign::{Campaign, Slo, options};
use super::capacity::{load_of_one_per_s, time_of_one};
use super::prediction_of;
use crate::error::Error;
use crate::folder::sha256;
use crate::prediction::ModeName;
use crate::profile::ProfileFile;
use orrery_run::PolicySpec;
use orrery_scenario::Scenario;
use std::collections::BTreeMap;
use std::time::Duration;
use toml::Value;

/// A point.
#[derive(Clone, Debug)]
pub struct Point {
    /// Its name, and that of its folder.
    pub name: String,
    /// The scenario there.
    pub scenario: Scenario,
    /// The policy.
    pub policy: PolicySpec,
    /// The load.
    pub load: f64,
    /// The mean execution time, where the grid has some.
    pub exec_ms: Option<f64>,
    /// The SLO of the first model.
    pub slo_ms: f64,
    /// Arrivals a second.
    pub rate_per_s: f64,
    /// The length of a run.
    pub seconds: f64,
    /// The profile of its prediction.
    pub profile: String,
    /// Of everything that its result depends on.
    pub hash: String,
}

/// All points, in the order of the file: grid, execution time, SLO, load, policy.
///
/// # Errors
/// When a scenario at a point is wrong.
pub fn points(
    campaign: &Campaign,
    profiles: &BTreeMap<String, ProfileFile>,
) -> Result<Vec<Point>, Error> {
    let mut points: Vec<Point> = Vec::new();
    for grid in &campaign.file.grid {
        for exec in options(&grid.exec_ms) {
            let base = campaign.base_at(exec, grid.exec_cv)?;
            let profile = campaign.profile_name(&base, exec);
            let law = &profiles[&profile];
            for slo in grid.slos() {
                let scenario = with_slo(campaign, &base, law, slo)?;
                let prediction = prediction_of(campaign, &scenario, law)?;
                let capacity = load_of_one_per_s(&prediction.setup);
                for load in &grid.loads {
                    let rate = capacity * load;
                    let seconds = campaign.seconds_of(&prediction.setup, rate);
                    let at = scenario.with(&[
                        (campaign.rate_key()?.to_string(), Value::from(rate)),
                        ("arrivals.duration_s".to_string(), Value::from(seconds)),
                    ])?;
                    for policy in &grid.policies {
                        let policy = PolicySpec::parse(policy)?;
                        let slo_ms = at.file.model[0].slo_ms;
                        let mut point = Point {
                            name: String::new(),
                            scenario: at.clone(),
                            policy,
                            load: *load,
                            exec_ms: exec,
                            slo_ms,
                            rate_per_s: rate,
                            seconds,
                            profile: profile.clone(),
                            hash: String::new(),
                        };
                        point.name = name(&point, slo);
                        point.hash = hash(campaign, &point, law);
                        points.push(point);
                    }
                }
            }
        }
    }
    check_names(campaign, &points)?;
    Ok(points)
}

/// The scenario with the SLOs of a point.
fn with_slo(
    campaign: &Campaign,
    base: &Scenario,
    law: &ProfileFile,
    slo: Slo,
) -> Result<Scenario, Error> {
    if slo == Slo::OfScenario {
        return Ok(base.clone());
    }
    let prediction = prediction_of(campaign, base, law)?;
    let slo = |m: usize| {
        let ms = match slo {
            Slo::Ms(ms) => ms,
            Slo::Factor(factor) => time_of_one(&prediction.setup, m).as_ms_f64() * factor,
            Slo::OfScenario => base.file.model[m].slo_ms,
        };
        (format!("model.{m}.slo_ms"), Value::from(ms))
    };
    let changes: Vec<_> = (0..base.file.model.len()).map(slo).collect();
    Ok(base.with(&changes)?)
}

fn name(p: &Point, slo: Slo) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || "-.".contains(c) { c } else { '_' };
    let policy: String = p.policy.to_string().chars().map(plain).collect();
    let policy = policy.trim_end_matches('_');
    let exec = p.exec_ms.map_or(String::new(), |ms| format!("-exec{ms}ms"));
    let slo = match slo {
        Slo::OfScenario => String::new(),
        Slo::Factor(factor) => format!("-slo{factor}x"),
        Slo::Ms(ms) => format!("-slo{ms}ms"),
    };
    format!("{policy}{exec}{slo}-load{:.2}", p.load)
}

fn hash(campaign: &Campaign, p: &Point, law: &ProfileFile) -> String {
    let f = &campaign.file;
    let (clocks, device) = (campaign.clocks(), campaign.device.identity());
    let rest = (f.seed, f.repetitions, f.draws, f.overhead, f.pin, f.real_time, f.max_lateness_ms);
    // What is live was hashed before there was another mode.
    let mode = if f.mode == ModeName::Live { "" } else { "schedule\n" };
    // Another machine's profile is another prediction, even at the same numbers.
    sha256(format!(
        "orrery-point,4\n{}\n{}\n{clocks:?}\n{device}\n{rest:?}\n{mode}{}",
        p.scenario.canonical(),
        p.policy,
        law.to_toml()
    ))
}

fn check_names(campaign: &Campaign, points: &[Point]) -> Result<(), Error> {
    let mut names: Vec<&str> = points.iter().map(|p| p.name.as_str()).collect();
    names.sort_unstable();
    let Some(twice) = names.windows(2).find(|w| w[0] == w[1]) else { return Ok(()) };
    let (found, remedy) = (format!("`{}` twice", twice[0]), "remove it from one grid");
    Err(Error::in_file(&campaign.path, "grid", found, "each point once", remedy))
}

impl Point {
    /// How long its runs take, in real time.
    pub fn takes(&self, campaign: &Campaign) -> Duration {
        if campaign.file.virtual_clock {
            return Duration::ZERO;
        }
        let f = &campaign.file;
        let seconds = self.seconds * f64::from(f.repetitions) * f64::from(f.time_scale);
        Duration::from_secs_f64(seconds * 1.02 + 1.0)
    }
}
