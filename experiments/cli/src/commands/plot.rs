//! `orrery plot`: figures from result tables.

use orrery_report::Answer;
use orrery_report::figure::{check_name, save};
use orrery_report::view::{Tables, View, figure};
use orrery_report::whole_file::check_place;
use orrery_run::SpecError;
use std::path::PathBuf;

/// `orrery plot`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  orrery reproduce orloj-table-3 --out results/
  orrery plot results/orloj-table-3.csv --preset calibrated --out table-3.svg
  orrery plot results/orloj-table-4.csv --out table-4.pdf --width-in 3.33 --font-pt 7
  orrery plot results/sweep.csv --x load --metric latency_p99_ns --out sweep.png
  orrery plot results/my.distributions.csv --kind batch-size-cdf --out batches.svg
  orrery plot results/my.series.csv --bin 5 --out over-time.svg
  orrery plot batches.csv --from-ms 100 --to-ms 300 --out timeline.svg

Without `--kind`, the columns of the table and their contents decide:
  experiment,case,axes,...,metric,value    finish-rate, metric or sensitivity
  ...,quantity,x,share,samples             histogram, latency-cdf or batch-size-cdf
  ...,from_ns,to_ns,quantity,value         time-series
  ...,device,...,start_ns,end_ns,outcome   timeline")]
pub struct Plot {
    /// Result tables as CSV; several of the same kind are combined.
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// The file to write: `.svg`, `.pdf`, or `.png` at twice the size.
    #[arg(long, value_name = "FILE")]
    pub out: PathBuf,
    // No doc comment: clap would print it.
    #[command(flatten)]
    pub view: View,
}

/// Runs `orrery plot`.
///
/// # Errors
/// When a table cannot be read or has nothing for the figure, or the picture cannot be written.
pub fn command(args: &Plot) -> Result<Answer, SpecError> {
    check_name(&args.out)?;
    check_place("--out", &args.out)?;
    let tables = Tables::read(&args.files)?;
    let figure = figure(&tables, &args.view)?;
    save(&args.view.size.of(&figure), &args.out)?;
    Ok(Answer::of(format!("{}\n", args.out.display())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use orrery_results::{BatchRow, Row, to_csv};
    use std::path::Path;

    fn plot(folder: &Path, tables: &[(&str, String)], out: &str) -> Result<Answer, SpecError> {
        let write = |(name, text): &(&str, String)| {
            let path = folder.join(name);
            std::fs::write(&path, text).expect("a folder that can be written");
            path
        };
        command(&Plot {
            files: tables.iter().map(write).collect(),
            out: folder.join(out),
            view: View::default(),
        })
    }

    fn finish_rates() -> String {
        let row = |slo: &str| Row {
            axes: format!("slo_x_p99={slo}"),
            system: "orloj".into(),
            scope: "all".into(),
            metric: "finish_rate".into(),
            value: Some(0.5),
            ..Row::default()
        };
        to_csv(&[row("2"), row("3")])
    }

    fn batches() -> String {
        to_csv(&[BatchRow {
            device: Some(0),
            model: "bert".into(),
            size: 4,
            end_ns: 1_000_000,
            ..BatchRow::default()
        }])
    }

    #[test]
    fn the_kind_is_guessed_from_the_header_and_the_form_from_the_name() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path();
        let answer = plot(path, &[("a.csv", finish_rates())], "a.svg").expect("a figure");
        assert_eq!(answer.stdout, format!("{}\n", path.join("a.svg").display()));
        let svg = std::fs::read_to_string(path.join("a.svg")).expect("an SVG");
        assert!(svg.starts_with("<?xml") && svg.contains("finish rate"));
        plot(path, &[("b.csv", batches())], "deep/b.png").expect("a figure");
        let png = std::fs::read(path.join("deep/b.png")).expect("a PNG");
        assert!(png.starts_with(b"\x89PNG"));
    }

    #[test]
    fn what_cannot_be_drawn_is_said_with_the_file_and_the_remedy() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let says = |tables: &[(&str, String)], out: &str, words: &[&str]| {
            let error = plot(folder.path(), tables, out).expect_err("no figure").to_string();
            for word in words.iter().chain(&["remedy"]) {
                assert!(error.contains(word), "{word}: {error}");
            }
        };
        says(&[("a.csv", finish_rates())], "a.gif", &["a.gif", ".png or .pdf"]);
        says(&[("a.csv", "x,y\n1,2\n".into())], "a.svg", &["a.csv", "x,y", "`metric`"]);
        says(&[("a.csv", String::new())], "a.svg", &["a.csv", "an empty file"]);
        let mixed = [("a.csv", finish_rates()), ("b.csv", batches())];
        says(&mixed, "a.svg", &["b.csv", "batches after result rows"]);
        let other = finish_rates().replace("slo_x_p99", "load");
        let one = other.replace("load=3", "load=2");
        says(&[("c.csv", one)], "a.svg", &["c.csv", "exactly one axis with several numbers"]);
    }
}
