//! `orrery import --scenario`: a scenario, and a plan, from what files say. What no file says is assumed, in a comment.

use super::{Import, last};
use orrery_calibrate::named_from;
use orrery_import::{Content, Profile, Reading, Workload};
use orrery_report::say;
use orrery_report::whole_file::write_atomically;
use orrery_run::SpecError;
use orrery_scenario::scenario::Scenario;
use orrery_scenario::scenario::file::LatencyLaw;
use std::path::Path;
use toml::Value;

/// Writes what was asked for; `files` are the profiles, and `load` is the workload with its file.
///
/// # Errors
/// When there is no profile, or a file cannot be written.
pub fn write(
    args: &Import,
    content: &Content,
    files: &[&Reading],
    load: Option<(&Path, &Workload)>,
) -> Result<(), SpecError> {
    let Some(path) = &args.scenario else { return Ok(()) };
    let Content::Profile(profile) = content else {
        let found =
            format!("{} of {}", content.kind().word(), last(&args.files[0].display().to_string()));
        let remedy =
            "name a file of latencies by batch size as well, or the form with `--as profile`";
        return Err(SpecError::value("--scenario", found, "a profile", remedy));
    };
    let notes = files.iter().flat_map(|r| r.assumed.iter().chain(&r.notes));
    let notes: String =
        notes.map(|note| format!("# {}\n", note.replace(['\n', '\r'], " "))).collect();
    let text = scenario((args, &notes), profile, load, path)?;
    Scenario::from_text(&path.display().to_string(), &text)?;
    written(path, &text)?;
    let Some(plan) = &args.plan else { return Ok(()) };
    let name = named_from(path, plan.parent().unwrap_or(Path::new("")));
    let text = format!(
        "# Written by `orrery import`.\npools = \"homogeneous\"\ngoal = \"carry-load\"\nscenario_file = {name:?}\n\
         # Assumed: at most 1 % of the requests miss their SLO.\nbad_rate = 0.01\n\n\
         [[instance]]\nkind = \"measured\"\n# Assumed: a price of 1 $/h; replace it.\nprice_usd_per_hour = 1.0\ncount_max = 64\n"
    );
    written(plan, &text)
}

/// Writes a file, and says what it assumes.
fn written(path: &Path, text: &str) -> Result<(), SpecError> {
    write_atomically(path, text.as_bytes())?;
    let assumed: Vec<&str> = text
        .lines()
        .filter_map(|line| line.strip_prefix("# Assumed: "))
        .map(|words| words.trim_end_matches('.'))
        .collect();
    say(&format!("{}: written; assumed: {}", path.display(), assumed.join("; ")));
    Ok(())
}

fn scenario(
    (args, notes): (&Import, &str),
    profile: &Profile,
    load: Option<(&Path, &Workload)>,
    path: &Path,
) -> Result<String, SpecError> {
    let models = profile.models();
    let mean = |ms: &[f64]| ms.iter().sum::<f64>() / ms.len() as f64;
    let most = profile.rows.iter().map(|row| row.1).max().unwrap_or(1);
    let mut text = format!(
        "# Written by `orrery import`. Change what you know better.\n{notes}# Assumed: a free device takes all that waits, up to the largest measured batch.\n\
         policies = [\"fifo[max_batch={most}]\"]\n\n[[device]]\nkind = \"measured\"\n\n\
         # Assumed: a server adds nothing to a batch. `orrery calibrate` finds what it does.\n[delays]\nreply_ms = 0.0\n"
    );
    let mut busy_s = 0.0;
    for name in &models {
        let rows = profile.of(name);
        let means: Vec<(u32, f64)> = rows.iter().map(|(size, ms)| (*size, mean(ms))).collect();
        let least =
            means.iter().map(|(size, ms)| ms / f64::from(*size)).fold(f64::INFINITY, f64::min);
        busy_s += least / 1e3 / models.len() as f64;
        let slo_ms = 2.0 * means.iter().map(|row| row.1).fold(0.0, f64::max);
        let law = match rows.iter().all(|row| row.1.len() == 1) {
            true => LatencyLaw::Table(means),
            false => LatencyLaw::Measured(rows),
        };
        let law = Value::try_from(law).map_err(|e| {
            SpecError::value("--scenario", e, "latencies that can be written down", "report it")
        })?;
        text += &format!(
            "\n[[model]]\nname = {name:?}\n# Assumed: an SLO of twice the longest batch.\nslo_ms = {slo_ms:.3}\nlatency = {law}\n"
        );
    }
    let Some((file, workload)) = load else {
        for name in &models {
            text += &format!("\n[[app]]\nname = {name:?}\nmodel = {name:?}\n");
        }
        let rate = 0.5 / busy_s;
        return Ok(text
            + &format!(
                "\n# Assumed: half of what one device can compute, the same of each model.\n\
             [arrivals]\npoisson = {{ rate_per_s = {rate:.3} }}\nrequests = 20000\n"
            ));
    };
    for name in &workload.names {
        let own = models.iter().find(|model| *model == name);
        let said = if own.is_some() { "" } else { "# Assumed: its model.\n" };
        let model = own.or(models.first()).copied().unwrap_or_default();
        text += &format!("\n[[app]]\nname = {name:?}\n{said}model = {model:?}\n");
    }
    let folder = path.parent().unwrap_or(Path::new(""));
    let times = Value::try_from(args.times.timestamps()?).ok();
    let times = times.filter(|times| times.as_table().is_some_and(|table| !table.is_empty()));
    let times = times.map_or(String::new(), |times| format!(", timestamps = {times}"));
    Ok(text
        + &format!(
            "\n# The requests of the file, by the clock of its first; `copies` and `speed` of `replay` make more of them.\n\
         [arrivals]\nworkload = {{ file = {:?}, scenario_slos = true{times} }}\nreplay = {{}}\n",
            named_from(file, folder)
        ))
}
