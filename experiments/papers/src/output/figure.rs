//! Figures leave as SVG or PNG, as the file's name ends.

use super::whole_file::write_atomically;
use orrery_plots::{Choice, Figure, PlotError};
use orrery_results::Row;
use orrery_scenario::SpecError;
use orrery_scenario::error::nearest;
use std::path::Path;

/// Passes when a picture's name ends in `.svg` or `.png`.
///
/// # Errors
/// When it ends otherwise.
pub fn check_name(path: &Path) -> Result<(), SpecError> {
    Form::of(path).map(drop)
}

/// Writes a figure as SVG or PNG, as the file's name ends.
///
/// # Errors
/// When it ends otherwise, or the folder cannot be written.
pub fn save(figure: &Figure, path: &Path) -> Result<(), SpecError> {
    write_figure(figure, Form::of(path)?, path)
}

fn write_figure(figure: &Figure, form: Form, path: &Path) -> Result<(), SpecError> {
    match form {
        Form::Svg => write_atomically(path, figure.to_svg().as_bytes()),
        Form::Png => write_atomically(path, &figure.to_png()),
    }
}

#[derive(Clone, Copy)]
enum Form {
    Svg,
    Png,
}

impl Form {
    fn of(path: &Path) -> Result<Form, SpecError> {
        let ending = path.extension().and_then(|e| e.to_str()).map(str::to_ascii_lowercase);
        match ending.as_deref() {
            Some("svg") => Ok(Form::Svg),
            Some("png") => Ok(Form::Png),
            _ => Err(SpecError::value(
                "picture",
                path.display(),
                "a name that ends in .svg or .png",
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
pub fn figure_of(rows: &[Row], choice: &Choice) -> Result<Figure, PlotError> {
    if rows.iter().any(|r| r.axis("changed").is_some()) {
        return orrery_plots::sensitivity(rows, changing(rows), choice);
    }
    orrery_plots::figure_of(rows, choice)
}

/// What a sensitivity shows: the error, or where there is no paper to err from, our rate.
pub fn changing(rows: &[Row]) -> &'static str {
    let has_error = rows.iter().any(|r| r.metric == "mean_abs_error");
    if has_error { "mean_abs_error" } else { "mean_finish_rate" }
}
