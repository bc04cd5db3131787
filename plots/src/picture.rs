//! A figure of result rows as whoever made the table names it ([`Picture`]).
//!
//! Nothing is guessed here. [`prepare`] makes rows with numbers along x from the table's rows; the
//! drawing is that of [`crate::curves`] and [`crate::heat`].

use crate::choice::RowFilter;
use crate::error::PlotError;
use crate::figure::Figure;
use crate::gaps::with_gaps;
use crate::spec::{FIGURE, Picture, PictureKind};
use crate::{curves, flags, heat, sensitivity};
use orrery_results::{Row, UNITLESS, metric};

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
    let mut marked: Vec<Row> =
        chosen.iter().map(|r| flags::with_withheld(r, &picture.withheld)).collect();
    let (is_over_paper, mut picture) = (picture.x == PAPER, picture.clone());
    if is_over_paper {
        over_paper(&mut marked, &mut picture, choice);
    }
    let picture = &picture;
    let chosen: Vec<&Row> = marked.iter().collect();
    let mut prepared = prepare::prepare(&chosen, picture)?;
    if is_over_paper {
        prepared.over = choice.paper().to_string();
    }
    prepared.asked = asked::asked(&chosen, picture)?;
    match picture.kind {
        PictureKind::Heat => heat::heat(&prepared, picture),
        _ => curves::pictured(&prepared, picture, choice),
    }
}

/// What stands for the paper's numbers as the x axis.
const PAPER: &str = "paper";

/// The rows along the paper's numbers and divided by them; the others are left out.
fn over_paper(rows: &mut Vec<Row>, picture: &mut Picture, choice: &RowFilter) {
    rows.retain(|r| r.paper.is_some_and(|p| p > 0.0) && picture.metrics.contains(&r.metric));
    picture.x = format!("{}_{}", choice.paper(), picture.metrics[0]);
    for row in rows {
        let paper = row.paper.take().unwrap_or(1.0);
        values::set(row, &picture.x, &paper.to_string());
        let numbers = [&mut row.value, &mut row.ci95_low, &mut row.ci95_high];
        numbers.into_iter().for_each(|v| *v = v.map(|v| v / paper));
        row.unit = UNITLESS.to_string();
    }
}
