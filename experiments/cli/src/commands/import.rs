//! `orrery import`: what other tools wrote, as a profile, a workload or a measured table, and as a scenario.

mod scenario;

use clap::{Args, ValueEnum};
use orrery_import::{
    ARRIVALS, Arriving, Content, FORMATS, File, Kind, Options, Reading, Workload, help, join, read,
};
use orrery_report::page::{self, Field, Page, Part, Table, Tone, WITHOUT_EFFECT, counted};
use orrery_report::whole_file::{check_place, write_atomically};
use orrery_report::{Answer, whole_page};
use orrery_run::SpecError;
use orrery_run::error::hint;
use orrery_scenario::scenario::file::Timestamps;
use orrery_sim::time::Span;
use orrery_traces::Input;
use orrery_traces::shipped::{shipped, shipped_names};
use serde_json::json;
use std::path::{Path, PathBuf};

/// Rows that the report shows, and in brief.
const SHOWN: usize = 8;
const SHOWN_IN_BRIEF: usize = 2;

/// `orrery import`.
#[derive(Debug, Args)]
#[command(after_help = examples())]
pub struct Import {
    /// The files; several profiles or several measured tables become one.
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// What to make of them (profile, workload, prompts, measured), or the name of their format.
    #[arg(long = "as", value_name = "KIND")]
    pub kind: Vec<String>,
    /// The size of the batches that were measured, where the file does not say it; once, or once for each file.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub batch: Vec<u32>,
    /// The name of the model, where the file does not say it; once, or once for each file.
    #[arg(long, value_name = "NAME")]
    pub model: Vec<String>,
    /// A workload without execution times: how long each request takes alone, in milliseconds.
    #[arg(long, value_name = "MS", default_value_t = 1.0)]
    pub alone_ms: f64,
    /// How the measured requests arrived, where the file does not say it: even, poisson, gamma:SHAPE, at-once or
    /// clients:N.
    #[arg(long, value_name = "HOW", value_parser = arriving)]
    pub arrivals: Option<Arriving>,
    // No doc comment: clap would print it.
    #[command(flatten)]
    pub times: Times,
    /// The form of the answer on stdout.
    #[arg(long, value_enum, default_value_t = Form::Table, help_heading = WITHOUT_EFFECT)]
    pub format: Form,
    /// Write the table that a scenario or `orrery calibrate` reads to this file.
    #[arg(long, value_name = "FILE", help_heading = WITHOUT_EFFECT)]
    pub out: Option<PathBuf>,
    /// Also write a scenario of the profiles among the files, with a workload among them as its load. What no file
    /// says is assumed, in a comment.
    #[arg(long, value_name = "FILE", help_heading = WITHOUT_EFFECT)]
    pub scenario: Option<PathBuf>,
    /// Also write a plan for that scenario.
    #[arg(long, value_name = "FILE", requires = "scenario", help_heading = WITHOUT_EFFECT)]
    pub plan: Option<PathBuf>,
    /// Also write the report as Markdown.
    #[arg(long, value_name = "FILE", help_heading = WITHOUT_EFFECT)]
    pub markdown: Option<PathBuf>,
    /// Also write the report as one HTML page.
    #[arg(long, value_name = "FILE", help_heading = WITHOUT_EFFECT)]
    pub html: Option<PathBuf>,
}

/// How requests arrived, from its words.
pub fn arriving(words: &str) -> Result<Arriving, String> {
    Arriving::parse(words).ok_or_else(|| format!("allowed: {ARRIVALS}"))
}

/// What a file does not say of its times.
#[derive(Debug, Args)]
pub struct Times {
    /// The form of the times of an access log, as strftime has it.
    #[arg(long, value_name = "FORM")]
    pub time_format: Option<String>,
    /// The unit of times that are plain numbers, where the file does not say it.
    #[arg(long, value_name = "UNIT", value_parser = ["ns", "us", "ms", "s"])]
    pub time_unit: Option<String>,
    /// Whether the time of a request in an access log is that of its start or its end, where the file does not say it.
    #[arg(long, value_name = "WHICH", value_parser = ["start", "end"])]
    pub time_is: Option<String>,
}

impl Times {
    /// As a scenario has it.
    pub fn timestamps(&self) -> Result<Timestamps, SpecError> {
        let (is, unit) = (self.time_is.as_deref(), self.time_unit.as_deref());
        Timestamps::of_words(is, unit, self.time_format.clone())
    }
}

/// The forms of the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Form {
    /// A report for people.
    Table,
    /// The table that `--out` writes.
    Csv,
    /// The report and the table.
    Json,
}

fn examples() -> String {
    format!(
        "Formats, and what they become:\n{}\n\
         Examples:\n  \
         orrery import scenarios/triton/perf_analyzer.csv\n  \
         orrery import scenarios/triton/perf_analyzer.csv --as profile --out profile.csv\n  \
         orrery import latencies.csv access.csv --model bert --scenario bert.toml --plan plan.toml\n  \
         orrery import b1.json b8.json --batch 1 --batch 8 --model bert --out bert.csv\n  \
         orrery import access.csv --time-format '%d.%m.%Y %H:%M:%S' --as measured",
        help()
    )
}

/// `orrery import`.
///
/// # Errors
/// When a file is of no known format or damaged, or does not say enough.
pub fn command(args: &Import) -> Result<Answer, SpecError> {
    check(args)?;
    let (mut kind, mut format) = (None, None);
    for word in &args.kind {
        match Kind::ALL.iter().find(|k| k.word() == word) {
            Some(found) => kind = Some(*found),
            None => format = Some(named(word)?),
        }
    }
    let mut readings = Vec::new();
    for (i, path) in args.files.iter().enumerate() {
        let options = Options {
            batch: args.batch.get(i).or(args.batch.first()).copied(),
            model: args.model.get(i).or(args.model.first()).cloned(),
            arrivals: args.arrivals,
            format,
            kind,
            ..args.times.timestamps()?.options(Options::default())
        };
        let name = path.display().to_string();
        let is_shipped = shipped_names().any(|n| n == name) && !path.exists();
        let open = || if is_shipped { shipped(&name) } else { Input::open(path) };
        readings.push(read(&File::new(&name, &open), &options)?);
    }
    // Of several files, what all can become; a scenario has its load from one of them.
    let of_kind = |r: &Reading, kind| r.contents.iter().any(|c| c.kind() == kind);
    let is_load = |r: &&Reading| {
        args.scenario.is_some() && !of_kind(r, Kind::Profile) && of_kind(r, Kind::Workload)
    };
    let (loads, others): (Vec<&Reading>, Vec<&Reading>) = readings.iter().partition(is_load);
    let parts = if others.is_empty() { &loads } else { &others };
    let parts = parts.iter().map(|r| Ok((r.file.clone(), r.content(kind)?.clone())));
    let content = join(parts.collect::<Result<_, SpecError>>()?)?;
    let workload = loads.first().map(|r| r.content(Some(Kind::Workload))).transpose()?;
    let load = match workload {
        Some(Content::Workload(workload)) => Some((Path::new(&loads[0].file), workload)),
        _ => None,
    };
    scenario::write(args, &content, &others, load)?;
    if let Content::Workload(workload) = &content {
        readings[0].notes.push(unsaid(workload, args.alone_ms));
    }
    let csv = csv(&readings, &content, Span::from_ms_f64(args.alone_ms));
    if let Some(out) = &args.out {
        write_atomically(out, csv.as_bytes())?;
    }
    let page = report(args, &readings, &content, &csv, false);
    let text = report(args, &readings, &content, &csv, true).to_text();
    if let Some(path) = &args.markdown {
        write_atomically(path, page.to_markdown().as_bytes())?;
    }
    let stdout = match args.format {
        Form::Table => text,
        Form::Csv => csv,
        Form::Json => in_json(&readings, &content, &csv),
    };
    if let Some(path) = &args.html {
        page::write(&whole_page(page, &[], page::command_line()), path)?;
    }
    Ok(Answer::of(stdout))
}

/// Whether everything that is written will find its place, and numbers are possible.
fn check(args: &Import) -> Result<(), SpecError> {
    args.html.as_deref().map_or(Ok(()), page::check)?;
    for (option, path) in [
        ("--out", &args.out),
        ("--scenario", &args.scenario),
        ("--plan", &args.plan),
        ("--markdown", &args.markdown),
    ] {
        path.as_deref().map_or(Ok(()), |path| check_place(option, path))?;
    }
    let given = [("--batch", "sizes", args.batch.len()), ("--model", "names", args.model.len())];
    let files = args.files.len();
    if let Some((option, what, n)) = given.into_iter().find(|g| g.2 > 1 && g.2 != files) {
        let found = format!("{n} {what} for {files} files");
        let remedy = format!("give `{option}` once, or once for each file in their order");
        return Err(SpecError::value(option, found, "one, or one for each file", remedy));
    }
    if !(args.alone_ms > 0.0 && args.alone_ms <= 1e9) {
        let remedy = "give the mean execution time of a request alone";
        let allowed = "a time above 0 ms, up to 1e9";
        return Err(SpecError::value("--alone-ms", args.alone_ms, allowed, remedy));
    }
    Ok(())
}

/// The format of a name.
fn named(word: &str) -> Result<&'static orrery_import::Format, SpecError> {
    FORMATS.iter().find(|f| f.name == word).ok_or_else(|| {
        let names = || Kind::ALL.iter().map(|k| k.word()).chain(FORMATS.iter().map(|f| f.name));
        let hint = hint(word, names());
        let allowed = format!("one of {}", names().collect::<Vec<_>>().join(", "));
        SpecError::value("--as", format!("`{word}`"), allowed, format!("{hint}name one of them"))
    })
}

/// The last part of a path: where a file lay is of no interest to who reads the answer.
fn last(name: &str) -> &str {
    Path::new(name).file_name().and_then(|n| n.to_str()).unwrap_or(name)
}

/// What a workload file has and the imported one does not say.
fn unsaid(workload: &Workload, alone_ms: f64) -> String {
    let slos = "none has an SLO: `scenario_slos = true` takes the applications'";
    match workload.requests.iter().filter(|r| r.alone.is_none()).count() {
        0 => format!("of the requests {slos}"),
        n => {
            format!(
                "{n} requests have no execution time: {alone_ms} ms each (`--alone-ms`); {slos}"
            )
        }
    }
}

/// The table, with a line that says where it is from.
fn csv(readings: &[Reading], content: &Content, alone: Span) -> String {
    let from = |r: &Reading| format!("{} ({})", last(&r.file), r.format.map_or("", |f| f.name));
    let from: Vec<String> = readings.iter().map(from).collect();
    let from = from.join(", ").replace(['\n', '\r'], " ");
    format!("# orrery import, from {from}\n{}", content.csv(alone))
}

/// The report: in full, or in brief for a terminal.
fn report(
    args: &Import,
    readings: &[Reading],
    content: &Content,
    csv: &str,
    is_brief: bool,
) -> Page {
    let names: Vec<&str> = readings.iter().map(|r| last(&r.file)).collect();
    let mut page = Page::new("import", names.join(", "));
    let rows = content.rows();
    let what = match content.kind() {
        Kind::Measured => "measured table",
        Kind::Prompts => "list of prompts",
        Kind::Profile => "profile",
        Kind::Workload => "workload",
    };
    let mut formats: Vec<&str> = readings.iter().filter_map(|r| Some(r.format?.title)).collect();
    formats.dedup();
    let verdict =
        format!("A {what} with {}, for {}.", counted(rows as u64, "row"), content.kind().read_by());
    if is_brief {
        let short = |title: &&str| title.split(',').next().unwrap_or_default().to_string();
        let formats: Vec<String> = formats.iter().map(short).collect();
        page.say(Tone::Good, format!("{verdict} From {}.", formats.join(", ")));
    } else {
        page.say(Tone::Good, verdict);
        page.ask("format", formats.join("\n"));
    }
    if let Some(out) = &args.out {
        page.ask("written to", out.display().to_string());
    }
    let notes = readings.iter().flat_map(|r| &r.assumed);
    let notes = notes.chain(readings.iter().flat_map(|r| &r.notes)).cloned();
    let mut notes = once(notes.collect());
    for r in readings {
        let others = r.contents.iter().map(Content::kind).filter(|k| *k != content.kind());
        for other in others.map(Kind::word) {
            let how = format!("{other} (`--as {other}`): ");
            match notes.iter_mut().find(|note| note.starts_with(&format!("{other}: "))) {
                Some(note) => *note = note.replacen(&format!("{other}: "), &how, 1),
                None => notes.push(format!("it can also become {other}: `--as {other}`")),
            }
        }
    }
    let ignored = once(readings.iter().flat_map(|r| r.ignored.clone()).collect()).join(", ");
    if is_brief {
        notes.push(format!("taken: {}", taken_in_brief(readings)));
        notes.extend((!ignored.is_empty()).then(|| format!("ignored: {ignored}")));
    }
    page.section("What was assumed, and what else", Part::list(once(notes)));
    if !is_brief {
        page.section("What was taken", taken(readings).part());
        page.section("What was ignored", (!ignored.is_empty()).then_some(Part::Text(ignored)));
    }
    let body: Vec<&str> = csv.lines().filter(|l| !l.starts_with('#')).collect();
    let shown = if is_brief { 1 + SHOWN_IN_BRIEF } else { 1 + SHOWN };
    let more = body.len().saturating_sub(shown);
    let mut shown = body[..body.len().min(shown)].join("\n");
    if more > 0 && !is_brief {
        shown.push_str(&format!("\n... and {more} more"));
    }
    page.section("Its first rows", [Part::Plain(shown)]);
    page
}

/// A row for each column or key.
fn taken(readings: &[Reading]) -> Table {
    let mut taken = Table::new("", &["file", "column or key", "becomes"]);
    for r in readings {
        let file = if readings.len() > 1 { last(&r.file) } else { "" };
        for t in &r.taken {
            taken.rows.push([file, &t.from, &t.becomes].map(Field::text).to_vec());
        }
    }
    taken
}

/// The columns of each use, once: what a use is beside its first words is in the full report.
fn taken_in_brief(readings: &[Reading]) -> String {
    let mut uses: Vec<(&str, Vec<String>)> = Vec::new();
    for t in readings.iter().flat_map(|r| &r.taken) {
        let from = format!("`{}`", t.from);
        let is_quantile = t.becomes == "the median" || t.becomes.ends_with("% quantile");
        let brief = t.becomes.split(';').next().unwrap_or_default();
        let becomes = if is_quantile { "quantiles" } else { brief };
        match uses.iter_mut().find(|u| u.0 == becomes) {
            Some((_, names)) if names.contains(&from) => {}
            Some((_, names)) => names.push(from),
            None => uses.push((becomes, vec![from])),
        }
    }
    let each = |(becomes, names): &(&str, Vec<String>)| match names.len() {
        0..=3 => format!("{} ({becomes})", names.join(", ")),
        n => format!("{}, {} and {} others ({becomes})", names[0], names[1], n - 2),
    };
    uses.iter().map(each).collect::<Vec<_>>().join("; ")
}

/// Each once, in order.
fn once(all: Vec<String>) -> Vec<String> {
    let mut seen = Vec::new();
    all.into_iter().for_each(|x| {
        if !seen.contains(&x) {
            seen.push(x);
        }
    });
    seen
}

fn in_json(readings: &[Reading], content: &Content, csv: &str) -> String {
    let file = |r: &Reading| {
        let taken = r.taken.iter().map(|t| json!({"from": t.from, "becomes": t.becomes}));
        json!({
            "file": last(&r.file),
            "format": r.format.map_or("", |f| f.name),
            "taken": taken.collect::<Vec<_>>(),
            "ignored": r.ignored,
            "notes": r.assumed.iter().chain(&r.notes).collect::<Vec<_>>(),
        })
    };
    let files: Vec<_> = readings.iter().map(file).collect();
    let all = json!({
        "schema": "orrery-import",
        "schema_version": 1,
        "kind": content.kind().word(),
        "rows": content.rows(),
        "files": files,
        "csv": csv,
    });
    format!("{all:#}\n")
}
