//! A figure of result rows as whoever made the table names it ([`Picture`]).
//!
//! Nothing is guessed here. [`prepare`] makes rows with numbers along x from the table's rows; the
//! drawing is that of [`crate::curves`] and [`crate::heat`].

use crate::choice::RowFilter;
use crate::error::PlotError;
use crate::gaps::with_gaps;
use crate::spec::{FIGURE, Picture, PictureKind};
use crate::{Figure, curves, flags, heat, sensitivity};
use orrery_results::{Row, metric};

mod asked;
mod prepare;
mod values;

/// Draws a picture of a table's rows.
///
/// # Errors
/// When the table has no such rows, or too many for one figure.
pub fn picture(rows: &[Row], picture: &Picture, choice: &RowFilter) -> Result<Figure, PlotError> {
    let metric = picture.metrics.first().map_or(metric::FINISH_RATE, String::as_str);
    if picture.kind == PictureKind::Sensitivity {
        return sensitivity::titled(rows, metric, choice, (&picture.title, &picture.source));
    }
    let rows = with_gaps(rows);
    let chosen = choice.rows(FIGURE, &rows, metric)?;
    let marked: Vec<Row> =
        chosen.iter().map(|r| flags::with_withheld(r, &picture.withheld)).collect();
    let chosen: Vec<&Row> = marked.iter().collect();
    let mut prepared = prepare::prepare(&chosen, picture)?;
    prepared.asked = asked::asked(&chosen, picture)?;
    match picture.kind {
        PictureKind::Heat => heat::heat(&prepared, picture),
        _ => curves::pictured(&prepared, picture, choice),
    }
}
