//! Figures leave as SVG, PNG or PDF, as the file's name ends.

use super::page::WITHOUT_EFFECT;
use super::voice::say;
use super::whole_file::write_atomically;
use orrery_plots::{Figure, Layout, PlotError, RowFilter};
use orrery_results::{Row, metric};
use orrery_run::SpecError;
use orrery_run::error::nearest;
use std::path::Path;

/// Passes when a picture's name ends in `.svg`, `.png` or `.pdf`.
///
/// # Errors
/// When it ends otherwise.
pub fn check_name(path: &Path) -> Result<(), SpecError> {
    Form::of(path).map(drop)
}

/// Writes a figure as SVG, PNG or PDF, as the file's name ends. Letters that a PNG or PDF cannot show are named on
/// stderr.
///
/// # Errors
/// When it ends otherwise, or the folder cannot be written.
pub fn save(figure: &Figure, path: &Path) -> Result<(), SpecError> {
    write_atomically(path, &bytes(figure, path)?)?;
    let missing = figure.letters_not_in_font();
    if !missing.is_empty() && !matches!(Form::of(path)?, Form::Svg) {
        say(&not_drawn(&missing, path));
    }
    Ok(())
}

/// The most letters that a warning names.
const LETTERS_MAX: usize = 40;

/// The warning about letters that the bundled font has not.
fn not_drawn(letters: &[char], path: &Path) -> String {
    let name = |c: &char| format!("{c} (U+{:04X})", u32::from(*c));
    let named: Vec<String> = letters.iter().take(LETTERS_MAX).map(name).collect();
    let more = match letters.len().saturating_sub(LETTERS_MAX) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!(
        "warning: {}: the bundled font lacks {}{more}: an empty box stands for each; an .svg file keeps the letters",
        path.display(),
        named.join(", ")
    )
}

/// A figure as SVG, PNG or PDF, as the file's name ends.
///
/// # Errors
/// When it ends otherwise.
pub fn bytes(figure: &Figure, path: &Path) -> Result<Vec<u8>, SpecError> {
    Ok(match Form::of(path)? {
        Form::Svg => figure.to_svg().into_bytes(),
        Form::Png => figure.to_png(),
        Form::Pdf => figure.to_pdf(),
    })
}

/// How a picture is laid out.
#[derive(Clone, Copy, Debug, Default, PartialEq, clap::Args)]
pub struct Size {
    /// Width of the figure in inches, for example 3.33 for a column of a paper; by default it depends on
    /// the panels.
    #[arg(long, value_name = "INCHES", value_parser = inches, help_heading = WITHOUT_EFFECT)]
    pub width_in: Option<f64>,
    /// Height of the figure in inches; no panel becomes lower than half an inch.
    #[arg(long, value_name = "INCHES", value_parser = inches, help_heading = WITHOUT_EFFECT)]
    pub height_in: Option<f64>,
    /// Size of the smallest labels in points; by default about 8.
    #[arg(long, value_name = "POINTS", value_parser = points, help_heading = WITHOUT_EFFECT)]
    pub font_pt: Option<f64>,
    /// Maximum number of panels beside each other.
    #[arg(long, value_name = "N", value_parser = columns, help_heading = WITHOUT_EFFECT)]
    pub columns: Option<usize>,
    /// Leave title and source to the paper's caption.
    #[arg(long, help_heading = WITHOUT_EFFECT)]
    pub no_title: bool,
    /// Leave the legend to a figure beside it.
    #[arg(long, help_heading = WITHOUT_EFFECT)]
    pub no_legend: bool,
    /// In shades of grey, as some journals print: markers and dashes tell systems apart.
    #[arg(long, help_heading = WITHOUT_EFFECT)]
    pub grey: bool,
}

impl Size {
    /// The figure in this size.
    #[must_use]
    pub fn of(self, figure: &Figure) -> Figure {
        if self == Size::default() {
            return figure.clone();
        }
        figure.laid_out(&Layout {
            width_in: self.width_in,
            height_in: self.height_in,
            font_pt: self.font_pt,
            columns: self.columns,
            without_title: self.no_title,
            without_legend: self.no_legend,
            grey: self.grey,
        })
    }

    /// Passes when no option was given, or there is a picture that it is about.
    ///
    /// # Errors
    /// When one was given without.
    pub fn check(self, plot: Option<&Path>) -> Result<(), SpecError> {
        match (self.given(), plot) {
            (Some((option, value)), None) => {
                let allowed = "only beside --plot: it is about that picture";
                let remedy = "add `--plot FILE.svg`, or leave it out";
                Err(SpecError::value(option, value, allowed, remedy))
            }
            _ => Ok(()),
        }
    }

    /// The first option that was given, with its value.
    pub fn given(self) -> Option<(&'static str, String)> {
        let number = |x: Option<f64>| x.map(|x| x.to_string());
        let flag = |x: bool| x.then(|| "given".to_string());
        [
            ("--width-in", number(self.width_in)),
            ("--height-in", number(self.height_in)),
            ("--font-pt", number(self.font_pt)),
            ("--columns", self.columns.map(|n| n.to_string())),
            ("--no-title", flag(self.no_title)),
            ("--no-legend", flag(self.no_legend)),
            ("--grey", flag(self.grey)),
        ]
        .into_iter()
        .find_map(|(option, value)| Some((option, value?)))
    }
}

fn columns(text: &str) -> Result<usize, String> {
    let number = text.parse::<usize>().ok().filter(|n| (1..=16).contains(n));
    number.ok_or_else(|| "a number of panels from 1 to 16".to_string())
}

fn inches(text: &str) -> Result<f64, String> {
    between(text, 1.5, 60.0, "inches from 1.5 to 60, such as 3.33")
}

fn points(text: &str) -> Result<f64, String> {
    between(text, 4.0, 40.0, "points from 4 to 40, such as 7.5")
}

fn between(text: &str, low: f64, high: f64, allowed: &str) -> Result<f64, String> {
    let number = text.parse::<f64>().ok().filter(|x| (low..=high).contains(x));
    number.ok_or_else(|| allowed.to_string())
}

#[derive(Clone, Copy)]
enum Form {
    Svg,
    Png,
    Pdf,
}

impl Form {
    fn of(path: &Path) -> Result<Form, SpecError> {
        let ending = path.extension().and_then(|e| e.to_str()).map(str::to_ascii_lowercase);
        match ending.as_deref() {
            Some("svg") => Ok(Form::Svg),
            Some("png") => Ok(Form::Png),
            Some("pdf") => Ok(Form::Pdf),
            _ => Err(SpecError::value(
                "figure",
                path.display(),
                "a name that ends in .svg, .png or .pdf",
                "change the file's ending",
            )),
        }
    }
}

/// An unsuitable table, as an error of the command.
pub fn unsuitable(file: &str, error: &PlotError) -> SpecError {
    let mut parts = error.parts();
    if let PlotError::Missing { needed, found, .. } = error
        && let Some(near) = quoted(needed).next().and_then(|word| nearest(word, quoted(found)))
    {
        parts.remedy = format!("did you mean `{near}`? Otherwise {}", parts.remedy);
    }
    SpecError::value(format!("--kind {}", error.figure()), parts.found, parts.allowed, parts.remedy)
        .in_file(file)
}

/// The words between backticks.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

/// The figure that a table of results most likely wants, with or without the paper's figures.
///
/// # Errors
/// When the table has no rows for it, or too many for one figure.
pub fn figure_of(rows: &[Row], choice: &RowFilter) -> Result<Figure, PlotError> {
    if rows.iter().any(|r| r.axis("changed").is_some()) {
        return orrery_plots::sensitivity(rows, changing(rows), choice);
    }
    orrery_plots::figure_of(rows, &few(rows, choice))
}

/// Of a whole table with calibrated systems, those and the paper's numbers: all its presets in one panel
/// cannot be read. `--preset` chooses others.
fn few(rows: &[Row], choice: &RowFilter) -> RowFilter {
    let calibrated = "calibrated";
    let several = |r: &&Row| {
        r.preset == calibrated
            && rows.iter().any(|o| o.system == r.system && o.preset != calibrated)
    };
    let has = rows.iter().find(several).is_some();
    if !choice.presets.is_empty() || !choice.systems.is_empty() || !has {
        return choice.clone();
    }
    RowFilter { presets: vec![calibrated.to_string()], ..choice.clone() }
}

/// What a sensitivity shows: the error, or where there is no paper to err from, our rate.
pub fn changing(rows: &[Row]) -> &'static str {
    let has_error = rows.iter().any(|r| r.metric == metric::MEAN_ABS_ERROR);
    if has_error { metric::MEAN_ABS_ERROR } else { metric::MEAN_FINISH_RATE }
}
