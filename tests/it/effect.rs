//! Keys beside commands: each key that a file gives changes the answer, is refused, or is named as one without effect.
//!
//! Each key of a file is taken away, or doubled where it must be there, and the command asked again. Its answer may be the
//! same if, and only if, the command names the key.

use orrery_calibrate::{Asked, Measurements, Options, calibrate};
use orrery_plan::PlanFile;
use orrery_results::{Row, metric};
use orrery_scenario::jobs::JobsFile;
use orrery_scenario::own::WorldFile;
use orrery_scenario::scenario::Scenario;
use orrery_scenario::scenario::file::Timestamps;
use orrery_scenario::tokens::TokensFile;
use orrery_sweep::answers::answers;
use orrery_sweep::goodput::Search;
use orrery_sweep::own::{OwnWorld, rows_of_file};
use orrery_sweep::scenario_cell::{Cell, Subject};
use orrery_sweep::scenario_rows::rows_of_scenario;
use orrery_sweep::seeds::Seeds;
use std::collections::BTreeSet;
use std::error::Error;
use toml::{Table, Value};

const SEEDS: Seeds = Seeds { first: 1, count: 1, until_ci: None };

const FILE: &str = r#"
policies = ["timeout[max_batch=4,max_wait_ms=3]"]
warm_up_s = 0.5
END
popularity = { zipf = 0.9 }
noise = { lognormal = 0.05 }
profiler = { every = 10 }
STALLS

[[device]]
kind = "gpu"
count = 2
SHARING

[[device]]
kind = "old"
count = 0
speed = 0.5

[[model]]
name = "m"
slo_ms = 13.0
pages = 2
load_ms = 3.0
between = "next"
latency = { table = [[1, 5.0], [2, 6.0], [3, 7.0], [4, 8.0]] }
latency_on = { h200 = { table = [[1, 1.0]] }, old = { table = [[1, 9.0]] } }
noise = { sigma = 0.1, outlier_factors = [2.0] }

[[app]]
name = "a"
model = "m"
weight = 3.0

[delays]
reply_ms = 0.2

[arrivals]
poisson = { rate_per_s = 500.0 }
LENGTH
"#;

const TOKENS: &str = r#"
policies = ["continuous"]

[tokens]
profile = "step-rtx4090-llama-3.1-8b"
kv_blocks = 300
block_tokens = 32
requests = "vllm-rtx4090-llama-3.1-8b"
from_s = 1.0
to_s = 15.0
count = 200
rate_per_s = 0.6
all_reduce = { times = 64, us = 5.0, token_bytes = 8192, bandwidth = 20.0 }
slo = [{ share = 3.0, ttft_ms = 2000.0, tpot_ms = 23.0 }]
"#;

const JOBS: &str = r#"
policies = ["salus"]

[jobs]
memory_mb = 600.0
workers = 3
alpha = 1.5
beta = 1.2

[[jobs.job]]
count = 4
at_s = 1.0
iterations = 30
iteration_ms = 100.0
persistent_mb = 100.0
ephemeral_mb = 100.0
busy = 0.7

[[jobs.job]]
at_s = 2.5
iterations = 20
iteration_ms = 150.0
persistent_mb = 100.0
ephemeral_mb = 100.0
busy = 0.7

[[jobs.job]]
iterations = 9
iteration_ms = 200.0
persistent_mb = 100.0
ephemeral_mb = 100.0
busy = 0.7
stage = 1
"#;

/// How a file says when it ends, until when and how much arrives; and one of two keys that exclude each other.
const WAYS: [(&str, &str, bool); 3] =
    [("", "requests = 1500", true), ("", "duration_s = 3.0", false), ("until_s = 3.0", "", true)];

/// An answer, and what it says of keys.
type Told = Result<(Vec<Row>, Vec<String>), Box<dyn Error>>;

/// Rows without what only says what was asked: a count of no batches is named after `between`.
fn bare(rows: Vec<Row>) -> Vec<Row> {
    let is_none = |row: &Row| metric::UNMEASURED.contains(&&*row.metric) && row.value == Some(0.0);
    let bare = |row: Row| Row { spec_sha256: String::new(), warm_up: String::new(), ..row };
    rows.into_iter().filter(|row| !is_none(row)).map(bare).collect()
}

fn run(text: &str) -> Told {
    let scenario = Scenario::from_text("s.toml", text)?;
    let rows = rows_of_scenario(&scenario, &scenario.policies()?, SEEDS, None, false)?;
    Ok((bare(rows), scenario.notes()))
}

fn goodput(text: &str) -> Told {
    let scenario = Scenario::from_text("s.toml", text)?;
    let search = Search { requests_per_model: 1_000, tolerance: 0.1, ..Search::default() };
    let policies = scenario.policies()?;
    scenario.check(1, &policies, Some(&search))?;
    let cells = Cell::of_policies(&scenario, &policies, SEEDS, Some(&search))?;
    let named = Subject::without_effect(&scenario, &policies, Some(&search), &[Vec::new()]);
    Ok((bare(answers("s", &cells)?.rows), named))
}

fn calibration(text: &str) -> Told {
    let scenario = Scenario::from_text("s.toml", text)?;
    let place = tempfile::tempdir()?;
    let path = place.path().join("measured.csv");
    std::fs::write(&path, "clients,p50_ms\n1,5.3\n4,8.4\n")?;
    let measured = Measurements::load(&path, Options::default(), Timestamps::default())?;
    let found = calibrate(&scenario, &measured, Asked { policy: None, requests: 400, seed: 1 })?;
    Ok((bare(found.rows()?), found.notes))
}

fn plan(text: &str) -> Told {
    let mut scenario: Table = text.parse()?;
    let policies = scenario.remove("policies").ok_or("no policies")?;
    let head = "pools = \"homogeneous\"\ngoal = \"carry-load\"\nseeds = 2\nrequests_per_model = 1000\n\
                runners_up = 0\nrobust = []\n[[instance]]\nkind = \"gpu\"\nprice_usd_per_hour = 1.0\ncount_max = 4\n";
    let mut plan: Table = head.parse()?;
    plan.insert("policies".into(), policies);
    plan.insert("scenario".into(), Value::Table(scenario));
    let (plan, source) = PlanFile::from_text("p.toml", &toml::to_string(&plan)?)?;
    let all = orrery_plan::answers(&plan, &source, &[], false)?;
    Ok((bare(all.rows), all.plan.problem.without_effect()))
}

fn own<F: WorldFile<World: OwnWorld>>(text: &str) -> Told {
    let file = F::from_text("f.toml", text)?;
    let policies = file.policies()?;
    let rows = rows_of_file(&file, &policies, SEEDS, None)?;
    Ok((bare(rows), file.without_effect(&policies, 1, |file, _| Ok(file))))
}

fn goodput_of_tokens(text: &str) -> Told {
    let file = <TokensFile as WorldFile>::from_text("f.toml", text)?;
    let search = Search { requests_per_model: 150, tolerance: 0.1, ..Search::default() };
    let policies = WorldFile::policies(&file)?;
    let cells = Cell::of_policies(&file, &policies, SEEDS, Some(&search))?;
    let named = Subject::without_effect(&file, &policies, Some(&search), &[Vec::new()]);
    Ok((bare(answers("f", &cells)?.rows), named))
}

/// The paths of all keys, lists of tables as one table.
fn paths(value: &Value, at: &str, all: &mut BTreeSet<String>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| paths(item, at, all)),
        Value::Table(table) => table.iter().for_each(|(key, value)| {
            let path = if at.is_empty() { key.clone() } else { format!("{at}.{key}") };
            paths(value, &path, all);
            all.insert(path);
        }),
        _ => {}
    }
}

/// Takes a key away, or doubles it.
fn edit(value: &mut Value, path: &str, doubles: bool) {
    if let Value::Array(items) = value {
        return items.iter_mut().for_each(|item| edit(item, path, doubles));
    }
    let Value::Table(table) = value else { return };
    match path.split_once('.') {
        Some((first, rest)) => {
            table.get_mut(first).into_iter().for_each(|value| edit(value, rest, doubles));
        }
        None if doubles => match table.get_mut(path) {
            Some(Value::Integer(n)) => *n *= 2,
            Some(Value::Float(x)) => *x *= 2.0,
            _ => {}
        },
        None => drop(table.remove(path)),
    }
}

/// What may make no difference without being named, and why.
fn is_excused(command: &str, path: &str) -> bool {
    // The default, which says nothing; of a type of which there are none, so that one file serves many mixes.
    let is_default = ["device.kind", "device.speed", "device.count"].contains(&path);
    // A scenario that a plan writes has it also for an application alone.
    let is_share = path == "app.weight";
    let is_absent = path.starts_with("model.latency_on.old");
    // A search begins at the rate, and finds the same from elsewhere; this policy does not look at SLOs, and nobody
    // measured how many were met.
    let is_start = command == "goodput" && path.starts_with("arrivals.poisson")
        || command == "goodput of tokens" && path == "tokens.rate_per_s";
    let is_slo = command == "calibrate" && path == "model.slo_ms";
    // The runs that check a plan have it, where it is longer than their own: below.
    let is_short = command == "plan" && path == "warm_up_s";
    is_default || is_share || is_absent || is_start || is_slo || is_short
}

fn check(
    (command, ask): (&str, fn(&str) -> Told),
    text: &str,
    faults: &mut Vec<String>,
) -> BTreeSet<String> {
    let whole: Value = Value::Table(text.parse().expect("a file"));
    let (rows, notes) = ask(text).unwrap_or_else(|e| panic!("{command}: {e}\n{text}"));
    let notes: Vec<&String> = notes.iter().filter(|note| note.contains(" nothing: ")).collect();
    let named = |path: &str| notes.iter().any(|note| note.contains(&format!("`{path}`")));
    let mut all = BTreeSet::new();
    paths(&whole, "", &mut all);
    let mut without = BTreeSet::new();
    for path in all.iter().filter(|path| *path != "policies") {
        let edited = [false, true].into_iter().find_map(|doubles| {
            let mut other = whole.clone();
            edit(&mut other, path, doubles);
            let is_other = other != whole;
            is_other.then(|| ask(&toml::to_string(&other).expect("a file")).ok()).flatten()
        });
        let Some((others, _)) = edited else { continue };
        let parts: Vec<&str> = path.split('.').collect();
        let is_named = (1..=parts.len()).any(|n| named(&parts[..n].join(".")));
        let is_same = others == rows;
        if is_named != is_same && !(is_same && is_excused(command, path)) {
            let does = if is_same { "does not change" } else { "changes" };
            let says = if is_named { "" } else { "not " };
            faults.push(format!("{command}: `{path}` {does} the answer, and is {says}named"));
        }
        without.extend(is_named.then(|| path.clone()));
    }
    without
}

#[test]
fn a_key_of_tokens_or_jobs_changes_the_answer_or_is_named() {
    let fluid = JOBS.replace("salus", "fluid[rule=dynamic]");
    let both = JOBS.replace("salus\"", "salus\", \"fluid[rule=dynamic]\"");
    let memory =
        ["jobs.memory_mb", "jobs.job.persistent_mb", "jobs.job.ephemeral_mb", "jobs.job.busy"];
    let mut faults = Vec::new();
    for (command, ask, text, expected) in [
        ("run of tokens", own::<TokensFile> as fn(&str) -> Told, TOKENS, &["tokens.slo.share"][..]),
        ("goodput of tokens", goodput_of_tokens, TOKENS, &["tokens.count", "tokens.slo.share"]),
        ("run of jobs", own::<JobsFile>, JOBS, &["jobs.alpha", "jobs.beta", "jobs.workers"]),
        ("run of jobs", own::<JobsFile>, &fluid, &memory),
        ("run of jobs", own::<JobsFile>, &both, &[]),
    ] {
        let named = check((command, ask), text, &mut faults);
        let expected: BTreeSet<String> = expected.iter().map(|path| path.to_string()).collect();
        if named != expected {
            faults.push(format!("{command}: named {named:?}, expected {expected:?}"));
        }
    }
    assert!(faults.is_empty(), "{faults:#?}");
}

#[test]
#[cfg_attr(debug_assertions, ignore = "takes minutes in a debug build")]
fn a_key_changes_the_answer_of_a_command_or_is_named() {
    let mut faults = Vec::new();
    for (way, (until, length, stalls)) in WAYS.into_iter().enumerate() {
        let text = FILE.replace("END", until).replace("LENGTH", length);
        let text = text.replace("SHARING", if stalls { "" } else { "sharing = \"processor\"" });
        let text = text.replace(
            "STALLS",
            if stalls { "stalls = { lengths_ms = [1.0], shared = 0.5 }" } else { "" },
        );
        let either = if stalls { "stalls" } else { "device.sharing" };
        for (command, ask) in [
            ("run", run as fn(&str) -> Told),
            ("goodput", goodput),
            ("plan", plan),
            ("calibrate", calibration),
        ]
        .into_iter()
        .take(if way == 0 { 4 } else { 2 })
        {
            let without = check((command, ask), &text, &mut faults);
            if command == "plan" {
                let long = text.replace("warm_up_s = 0.5", "warm_up_s = 9.0");
                let [short, long] = [&text, &long].map(|text| plan(text).expect("a plan"));
                let named = long.1.iter().any(|note| note.contains("warm_up_s"));
                assert!(short.0 != long.0 && !named, "{:?}", long.1);
            }
            let mut expects = |path: &str, is_named: bool| {
                if without.contains(path) != is_named {
                    faults.push(format!("{command}: `{path}`: named: {}", !is_named));
                }
            };
            for path in ["model.pages", "model.load_ms", "model.between", "popularity", "profiler"]
            {
                expects(path, true);
            }
            expects(either, true);
            for path in ["until_s", "arrivals.requests", "arrivals.duration_s"] {
                let key = path.rsplit('.').next().unwrap_or(path);
                expects(path, command != "run" && text.contains(key));
            }
        }
    }
    assert!(faults.is_empty(), "{faults:#?}");
}
