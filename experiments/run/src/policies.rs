//! What there is to know of each policy: its presets and parameters, as text for the command line and as a
//! JSON Schema; and `docs/policies.md`, which lists the policies.
//!
//! It says nothing of its own: every word comes from the tables in `sim/src/policy/`.

use crate::error::SpecError;
use crate::policy_spec::{PolicySpec, Registry, of, registered};
use orrery_results::grouped;
use orrery_sim::jobs;
use orrery_sim::policy::ALL;
use orrery_sim::policy::parameters::{Allowed, Configured, Row, Table};
use orrery_sim::tokens;
use schemars::{Schema, SchemaGenerator, json_schema};

/// The table of every policy, by name.
///
/// ```
/// let names: Vec<&str> = orrery_scenario::policies::all().map(|t| t.about.name).collect();
/// assert!(names.contains(&"clockwork") && names.is_sorted());
/// ```
pub fn all() -> impl Iterator<Item = Table> {
    ALL.iter().map(|policy| policy.table())
}

/// The table of every policy that works on jobs in place of requests, by name.
pub fn of_jobs() -> impl Iterator<Item = Table> {
    jobs::policy::ALL.iter().map(|policy| policy.table())
}

/// The table of every policy that answers requests token by token, by name.
pub fn of_tokens() -> impl Iterator<Item = Table> {
    tokens::policy::ALL.iter().map(|policy| policy.table())
}

/// A policy's presets and parameters, for reading.
///
/// ```
/// let text = orrery_scenario::policies::policy_text("drs").unwrap();
/// assert!(text.contains("threshold") && text.contains("1 to 4096"));
/// ```
///
/// # Errors
/// When there is no such policy; the nearest is offered.
pub fn policy_text(name: &str) -> Result<String, SpecError> {
    let mut of_others = of_jobs().chain(of_tokens());
    let table = match of_others.find(|t| t.about.name == name) {
        Some(table) => table,
        None => registered::<dyn Configured>(name).map_err(|e| of(name, e))?.table(),
    };
    let about = table.about;
    let mut text = format!("{}: {}\npaper: {}\n", about.name, about.what, about.paper);
    for assumption in table.assumes {
        text += &format!("assumes: {}\n", assumption.what());
    }
    let presets = table.presets.iter().enumerate();
    let presets = presets.map(|(i, (name, what))| {
        let bare = if i == 0 { " (the meaning of a bare name)" } else { "" };
        [name.to_string(), format!("{what}{bare}")]
    });
    text += &format!("\n{}", padded(["preset", "what it is"], presets.collect()));
    if !table.rows.is_empty() {
        let rows = table.rows.iter().map(|row| {
            [row.name.to_string(), kind(row), defaults(&table, row), range(&row.allowed)]
        });
        let rows = padded(["parameter", "type", "default", "allowed"], rows.collect());
        let mut lines = rows.lines();
        text += &format!("\n{}\n", lines.next().unwrap_or_default());
        for (row, line) in table.rows.iter().zip(lines) {
            text += &format!("{line}\n{}", notes(row));
        }
    }
    let example = example(&table);
    text += &format!("\nname in results: {}\n", table.name);
    let file = match name {
        "fluid" => "jobs-on-workers",
        "salus" => "jobs-on-a-gpu",
        "continuous" => "tokens",
        _ => "one-gpu-bert",
    };
    Ok(text + &format!("example: orrery run scenarios/{file}.toml --policy '{example}'\n"))
}

/// The whole of `docs/policies.md`.
pub fn reference() -> String {
    let mut text = String::from(INTRODUCTION);
    text += &index(all());
    text += &assumptions();
    text += "\nThese work on jobs in place of requests ([`jobs.md`](jobs.md)):\n\n";
    text += &index(of_jobs());
    text += "\nThis one answers requests token by token ([`tokens.md`](tokens.md)):\n\n";
    text + &index(of_tokens())
}

/// Policies with what they do, their papers and presets, a line each.
fn index(tables: impl Iterator<Item = Table>) -> String {
    let mut text = String::from("| policy | what it does | after | presets |\n|---|---|---|---|\n");
    for table in tables {
        let about = table.about;
        let presets: Vec<String> = table.presets.iter().map(|p| format!("`{}`", p.0)).collect();
        let presets = presets.join(", ");
        text += &format!("| `{}` | {} | {} | {presets} |\n", about.name, about.what, about.paper);
    }
    text
}

/// What papers take for granted, and which policies with them.
fn assumptions() -> String {
    let of = |table: Table| {
        let name = format!("`{}`", table.about.name);
        table.assumes.iter().map(move |assumption| (assumption.what(), name.clone()))
    };
    let groups = grouped(all().flat_map(of));
    let line =
        |(what, names): &(&str, Vec<String>)| format!("- that {what}: {}\n", names.join(", "));
    format!("\nAs their papers do, some assume\n\n{}", groups.iter().map(line).collect::<String>())
}

const INTRODUCTION: &str = "\
# Policies and their parameters

<!-- Generated from the tables in sim/src/policy/ by `ORRERY_UPDATE=1 cargo test -p orrery-scenario policies`. -->

Write a policy as `NAME` or `NAME[key=value,...]`, in `policies` of a scenario or after `--policy`:

```sh
cargo run --release -- run scenarios/one-gpu-bert.toml --policy 'clockwork[preset=paper,width_ms=5]'
cargo run --release -- list policy clockwork
```

`orrery list policy NAME` prints a policy's presets and parameters: type, default, what is allowed, meaning, source in
the paper or the released code, and the words that may stand as values. A bare name means the first preset: the system
as released, or as published if nothing was released. `preset=paper` starts from the paper's text, where the two differ.
Every other parameter changes one value. The head of each file in `sim/src/policy/` has the differences from the paper;
[`adding-a-policy.md`](adding-a-policy.md) adds one.

";

/// A policy's text in files: the names that there are, with or without brackets.
pub fn list_schema<K: Registry + ?Sized>(_: &mut SchemaGenerator) -> Schema {
    let names: Vec<&str> = K::all().iter().map(|p| p.about.name).collect();
    let pattern = format!(r"^\s*({})\s*(\[.*\]\s*)?$", names.join("|"));
    let examples: Vec<String> = K::all().iter().map(|p| p.table().name).collect();
    json_schema!({
        "type": "array",
        "items": { "type": "string", "pattern": pattern, "examples": examples },
    })
}

/// The type, with a time's unit.
fn kind(row: &Row) -> String {
    match row.unit {
        "" => row.allowed.kind().to_string(),
        unit => format!("{} in {unit}", row.allowed.kind()),
    }
}

/// The default of a bare name, and of each preset that has another.
fn defaults(table: &Table, row: &Row) -> String {
    let others = table.presets.iter().zip(&row.defaults).filter(|(_, v)| **v != row.defaults[0]);
    let others = others.map(|((preset, _), value)| format!("; {preset}: {value}"));
    row.defaults[0].clone() + &others.collect::<String>()
}

fn range(allowed: &Allowed) -> String {
    match allowed {
        Allowed::Count { least, most, or: None } => format!("{least} to {most}"),
        Allowed::Count { least, most, or: Some(word) } => format!("{word}, {least} to {most}"),
        Allowed::Number { least, most } | Allowed::Time { least, most } => {
            format!("{least} to {most}")
        }
        Allowed::Flag | Allowed::Words(_) => allowed.to_string(),
    }
}

/// The lines below a row: what it is, its source, its words.
fn notes(row: &Row) -> String {
    let source = if row.source.is_empty() { String::new() } else { format!(" [{}]", row.source) };
    let needs = row.needs.map_or(String::new(), |(key, value)| format!("with {key}={value}: "));
    let mut text = format!("    {needs}{}{source}\n", row.help);
    if let Allowed::Words(words) = &row.allowed {
        let width = words.iter().map(|w| w.0.len()).max().unwrap_or(0);
        for (word, means) in words {
            text += &format!("      {word:width$}  {means}\n");
        }
    }
    text
}

/// The policy with one thing changed.
fn example(table: &Table) -> String {
    let name = table.about.name;
    let other = |row: &Row| match &row.allowed {
        Allowed::Count { most, .. } => {
            row.defaults[0].parse().map_or(4, |n: u32| (n / 2).clamp(1, *most)).to_string()
        }
        Allowed::Words(words) => words.last().map_or("", |w| w.0).to_string(),
        Allowed::Flag => "true".to_string(),
        Allowed::Number { least, .. } | Allowed::Time { least, .. } => least.to_string(),
    };
    match (table.presets.get(1), table.rows.first()) {
        (Some((preset, _)), _) => format!("{name}[preset={preset}]"),
        (None, Some(row)) => format!("{name}[{}={}]", row.name, other(row)),
        (None, None) => name.to_string(),
    }
}

/// Columns, two spaces apart, under their heads.
fn padded<const N: usize>(heads: [&str; N], rows: Vec<[String; N]>) -> String {
    let lines: Vec<[String; N]> = std::iter::once(heads.map(str::to_string)).chain(rows).collect();
    let width = |i: usize| lines.iter().map(|l| l[i].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..N).map(width).collect();
    let line = |cells: &[String; N]| {
        let cells = cells.iter().zip(&widths).map(|(cell, &width)| format!("{cell:width$}  "));
        format!("{}\n", cells.collect::<String>().trim_end())
    };
    lines.iter().map(line).collect()
}

/// What the limit of a policy's batches counts, where it has the parameter: items or requests.
pub fn batch_unit(policy: &PolicySpec) -> Option<&'static str> {
    let table = all().find(|t| t.about.name == policy.system())?;
    let row = table.rows.iter().find(|row| row.name == "max_batch")?;
    Some(if row.unit == "items" { "items" } else { "requests" })
}
