//! `orrery goodput`: searches for each policy of a scenario, and says what was found.

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use orrery_papers::cells;
use orrery_papers::cells::answers::answers;
use orrery_papers::cells::goodput::{Criterion, FLAGS, Find, Search, flags};
use orrery_papers::cells::run_report::notes_of;
use orrery_papers::cells::scenario_cell::ScenarioCell;
use orrery_papers::cells::seeds::Seeds;
use orrery_papers::output::Forms;
use orrery_papers::output::page::{Page, Part, WITHOUT_EFFECT};
use orrery_papers::output::tables::Text;
use orrery_papers::output::{Answer, Output};
use orrery_results::{Row, metric, to_json, wide};
use orrery_scenario::scenario::Scenario;
use orrery_scenario::scenario::caveats::CAVEATS;
use orrery_scenario::{PolicySpec, SpecError};
use std::fmt::Write;
use std::path::PathBuf;

/// `orrery goodput`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  orrery goodput scenarios/resnet50-8gpu.toml
  orrery goodput scenarios/resnet50-8gpu.toml --policy symphony --requests-per-model 200000 --seeds 5
  orrery goodput scenarios/resnet50-8gpu.toml --criterion p99
  orrery goodput scenarios/cluster-1080ti.toml --find devices --rate 5000")]
pub struct Goodput {
    /// The scenario file. The search starts at its rate, or its number of devices.
    pub scenario: PathBuf,
    // No doc comment: clap would print it.
    #[allow(missing_docs)]
    #[command(flatten)]
    pub output: Output,
    /// Search with this policy instead of the file's; may be repeated.
    #[arg(long = "policy", value_name = "POLICY")]
    pub policies: Vec<String>,
    /// The quantity to search for.
    #[arg(long, value_enum, default_value_t = Find::Rate)]
    pub find: Find,
    /// The criterion that every model must meet.
    #[arg(long, default_value = Criterion::NAMES[0])]
    #[arg(value_parser = PossibleValuesParser::new(Criterion::NAMES)
        .map(|name| Criterion::named(&name).unwrap_or_default()))]
    pub criterion: Criterion,
    /// Maximum share of bad requests of the worst model [default: 0.01].
    #[arg(long, value_name = "SHARE")]
    pub target: Option<f64>,
    /// The offered rate in requests/s, instead of the file's.
    #[arg(long, value_name = "RATE")]
    pub rate: Option<f64>,
    /// A probe without a clear verdict after this many requests per model is decided by its estimate
    /// [default: 20000].
    #[arg(long, value_name = "N")]
    pub requests_per_model: Option<u64>,
    /// Fixed length of a probe after its warm-up. By default a probe is as long as its verdict needs: the
    /// longest delay divided by the tolerance. If this is shorter, the answer says so.
    #[arg(long, value_name = "SECONDS")]
    pub probe_s: Option<f64>,
    /// Relative width of the final bracket [default: 0.005].
    #[arg(long, value_name = "SHARE")]
    pub tolerance: Option<f64>,
    /// The first seed, instead of the file's.
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Number of searches, each with its own seed; their spread is printed.
    #[arg(long, value_name = "N", default_value_t = 3)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub seeds: u32,
    /// Number of parallel searches; by default one per core. Results do not depend on it.
    #[arg(long, value_name = "J", value_parser = clap::value_parser!(u16).range(1..=4096))]
    #[arg(help_heading = WITHOUT_EFFECT)]
    pub jobs: Option<u16>,
}

impl Goodput {
    fn search(&self) -> Result<Search, SpecError> {
        let default = Search::default();
        let search = Search {
            find: self.find,
            criterion: self.criterion,
            target: self.target.unwrap_or(default.target),
            requests_per_model: self.requests_per_model.unwrap_or(default.requests_per_model),
            tolerance: self.tolerance.unwrap_or(default.tolerance),
            probe_s: self.probe_s,
            ..default
        };
        search.check()?;
        Ok(search)
    }
}

/// `orrery goodput`.
///
/// # Errors
/// When the scenario is wrong, has no rate that can be changed, or a run cannot be made.
pub fn command(args: &Goodput) -> Result<Answer, SpecError> {
    let search = args.search()?;
    let mut scenario = Scenario::load(&args.scenario)?;
    if let Some(rate) = args.rate {
        scenario = scenario.with_rate(rate)?;
    }
    let policies: Vec<PolicySpec> = if args.policies.is_empty() {
        scenario.policies()?
    } else {
        args.policies.iter().map(|p| PolicySpec::parse(p)).collect::<Result<_, _>>()?
    };
    args.output.check()?;
    let first = args.seed.unwrap_or(scenario.seed);
    scenario.setup(first)?;
    let seeds = Seeds { first, count: args.seeds, until_ci: None };
    let pool = orrery_papers::output::threads::pool(args.jobs.unwrap_or(0).into())?;
    let cells = ScenarioCell::of_policies(&scenario, &policies, seeds, Some(&search))?;
    let answers = pool.install(|| answers(&scenario.name, &cells))?;
    let out = answers.rows;
    let forms = Forms {
        table: text(&scenario, &search, &out, &policies, &answers.each)?,
        wide: wide(&out),
        json: to_json(
            &out,
            &[("scenario", scenario.name.clone().into()), ("notes", notes_of(&out).into())],
        ),
        page: args.output.html.as_ref().map(|_| page(&scenario, &search, &out)),
        rows: out,
    };
    forms.answer(&scenario.name, &args.output)
}

/// The page: what is searched for is said as in the text.
fn page(scenario: &Scenario, search: &Search, rows: &[Row]) -> Page {
    let mut page = cells::page::of_cells("goodput", &scenario.name, rows);
    page.subtitle = asked(scenario, search).unwrap_or_default();
    let mut notes = String::new();
    self::notes(rows, search, &mut notes);
    // Flags are explained above.
    let known = notes_of(rows);
    let is_new = |l: &String| !l.is_empty() && !known.contains(l);
    let notes = notes.lines().map(str::to_string).filter(is_new).collect();
    page.section("How it was found", [Part::List(notes)]);
    page
}

/// What is looked for, in a line.
fn asked(scenario: &Scenario, search: &Search) -> Result<String, SpecError> {
    let kind = match search.criterion {
        Criterion::BadRate => "dropped or late",
        Criterion::P99 => "late among the answered",
    };
    let devices: u32 = scenario.file.device.iter().map(|d| d.count).sum();
    let models = scenario.model_names();
    let what = match search.find {
        Find::Rate => format!("the highest offered rate on {devices} device(s)"),
        Find::Devices => format!("the fewest devices for {:.1} requests/s", scenario.rate()?),
    };
    let (models, target) = (models.len(), search.target * 100.0);
    Ok(format!("{what}: {models} model(s), each with at most {target} % {kind}"))
}

/// The table for people; `each` has the answers by policy and seed.
///
/// # Errors
/// When the scenario has no rate.
pub fn text(
    scenario: &Scenario,
    search: &Search,
    rows: &[Row],
    policies: &[PolicySpec],
    each: &[Vec<f64>],
) -> Result<String, SpecError> {
    let mut out = format!("goodput of {}\n", scenario.name);
    let _ = writeln!(out, "{}\n", asked(scenario, search)?);
    let heading = if search.find == Find::Devices { "devices" } else { "rate/s" };
    let mut table = Text::new(&[
        "policy",
        heading,
        "95 % interval",
        "least to most",
        "batch p50",
        "util",
        "bad %",
        "flags",
    ]);
    let digits = if search.find == Find::Devices { 1 } else { 0 };
    for (policy, values) in policies.iter().zip(each) {
        let find = |metric: &str| {
            rows.iter()
                .find(|r| r.policy == policy.text() && r.scope == "all" && r.metric == metric)
        };
        let Some(answer) = find(search.metric()) else { continue };
        let interval =
            answer.ci95().map_or("-".into(), |(a, b)| format!("{a:.digits$} to {b:.digits$}"));
        let least = values.iter().copied().reduce(f64::min);
        let most = values.iter().copied().reduce(f64::max);
        let range = least.zip(most).filter(|_| answer.value.is_some());
        let range = range.map_or("-".to_string(), |(a, b)| format!("{a:.digits$} to {b:.digits$}"));
        let number = |metric: &str, unit: f64, digits: usize| {
            let value = find(metric).and_then(|r| r.value);
            value.map_or("-".to_string(), |x| format!("{:.digits$}", x * unit))
        };
        table.line(vec![
            policy.text().to_string(),
            number(search.metric(), 1.0, digits),
            interval,
            range,
            number(metric::BATCH_SIZE_P50, 1.0, 1),
            number(metric::UTILISATION, 1.0, 2),
            number(metric::WORST_BAD_RATE, 100.0, 2),
            flags(answer).join(", "),
        ]);
    }
    out.push_str(&table.left(&["policy", "flags"]).text());
    notes(rows, search, &mut out);
    Ok(out)
}

fn notes(rows: &[Row], search: &Search, out: &mut String) {
    out.push('\n');
    let _ = writeln!(
        out,
        "A probe ends when its interval is clear of the target, or undecided after {} requests a model; \
         it lasts at least {:.0} times its longest delay, so that an overload by the bracket's {} % \
         would show; {}.",
        search.requests_per_model,
        1.0 / search.tolerance,
        search.tolerance * 100.0,
        search.warm_up()
    );
    if let Some(row) = rows.first() {
        let _ = writeln!(
            out,
            "Intervals by replications of the whole search. Seeds: {}.",
            row.seeds_in_words()
        );
    }
    let answers = || rows.iter().filter(|r| r.metric == search.metric());
    for row in answers().filter(|r| r.value.is_none()) {
        let _ = writeln!(out, "no answer: {}. ({})", row.reason, row.policy);
    }
    for (flag, says) in FLAGS.into_iter().chain(CAVEATS) {
        let who: Vec<&str> = answers()
            .filter(|r| r.has_flag(flag) && (flag != "never-good" || r.value.is_some()))
            .map(|r| r.policy.as_str())
            .collect();
        if !who.is_empty() {
            let _ = writeln!(out, "{flag}: {says} ({})", who.join(", "));
        }
    }
}
