//! `orrery results page`: results that were written before, on one page.

use clap::Args;
use orrery_report::Answer;
use orrery_report::page::{self, Page, Part};
use orrery_report::result_files;
use orrery_reproduce::reproduce::{self, Asked};
use orrery_reproduce::{document, registry};
use orrery_results::Row;
use orrery_run::SpecError;
use orrery_sweep::page::of_cells;
use serde_json::Value;
use std::path::{Path, PathBuf};

/// `orrery results page`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  orrery reproduce orloj-table-3 --out results/
  orrery run scenarios/one-gpu-bert.toml --out results/
  orrery results page results/ --html results.html")]
pub struct PageOf {
    /// Folders that `--out` wrote, or single `.json` or `.csv` files from them.
    #[arg(required = true)]
    pub results: Vec<PathBuf>,
    /// The HTML file to write.
    #[arg(long, value_name = "FILE")]
    pub html: PathBuf,
}

/// `orrery results page`.
///
/// # Errors
/// When there are no results, one cannot be read, or the page cannot be written.
pub fn command(args: &PageOf) -> Result<Answer, SpecError> {
    page::check(&args.html)?;
    let mut pages = Vec::new();
    for path in &args.results {
        if path.is_dir() {
            let before = pages.len();
            for file in result_files::in_folder(path)? {
                pages.extend(page_of(&file, false)?);
            }
            if pages.len() == before {
                return Err(result_files::none_in(&path.display().to_string()));
            }
        } else {
            pages.extend(page_of(path, true)?);
        }
    }
    let html = match pages.as_slice() {
        [one] => one.to_html(),
        several => page::several("Results", several),
    };
    page::write(&html, &args.html)?;
    Ok(Answer::of(format!(
        "{} on {}\n",
        page::counted(pages.len() as u64, "result"),
        args.html.display()
    )))
}

/// The page of a file's results.
fn page_of(path: &Path, named: bool) -> Result<Option<Page>, SpecError> {
    let found = result_files::read(path, named)?;
    Ok(found.map(|(rows, json)| made(&rows, &json, path)))
}

/// The page of a result: that of its experiment where that is shipped, and else that of its rows.
fn made(rows: &[Row], value: &Value, path: &Path) -> Page {
    let word = |key: &str| value[key].as_str().unwrap_or_default().to_string();
    let mut made = experiment(rows, &word("experiment"), &word("title")).unwrap_or_else(|| {
        let kind = ["experiment", "sweep", "plan", "scenario"];
        let kind = kind.into_iter().find(|k| value[k].is_string()).unwrap_or("results");
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        let name = Some(word(kind)).filter(|w| !w.is_empty());
        let mut page = of_cells(kind, &name.unwrap_or_else(|| stem.to_string()), rows);
        page.subtitle = word("title");
        page.section("Claims", points(&value["claims"], claim));
        let text = |v: &Value| v.as_str().unwrap_or_default().to_string();
        page.section(
            "Assumptions, where the paper says nothing",
            points(&value["assumptions"], text),
        );
        page
    });
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    made.provenance.push(("file".to_string(), name));
    made.provenance.extend(page::provenance(rows));
    made
}

fn experiment(rows: &[Row], id: &str, title: &str) -> Option<Page> {
    let e = registry::ids().any(|known| known == id).then(|| registry::find(id).ok())??;
    if e.title != title {
        return None;
    }
    let mut cases: Vec<String> = rows.iter().map(|r| r.case.clone()).collect();
    cases.retain(|c| e.cases().contains(c));
    cases.dedup();
    let asked = Asked { cases, ..Asked::default() };
    let e = reproduce::with(&e, &asked).unwrap_or(e);
    Some(document::of(&e, rows))
}

/// A claim of a user's own experiment, in a line.
fn claim(value: &Value) -> String {
    let word = |value: &Value, key| value[key].as_str().unwrap_or_default().to_string();
    let verdict = |out: &Value| word(out, "verdict").replace('-', " ");
    let one = |out: &Value| format!("{} {}", word(out, "at"), verdict(out));
    let verdict = match value["came_out"].as_array() {
        Some(region) => region.iter().map(one).collect::<Vec<_>>().join(", "),
        None => verdict(&value["came_out"]),
    };
    format!("{}: {verdict}", word(value, "text"))
}

fn points(list: &Value, words: impl Fn(&Value) -> String) -> Option<Part> {
    let list: Vec<String> = list.as_array()?.iter().map(words).collect();
    (!list.is_empty()).then_some(Part::List(list))
}
