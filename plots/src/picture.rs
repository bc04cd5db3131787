//! A figure of result rows as whoever made the table names it ([`Picture`]).
//!
//! Nothing is guessed here. [`prepare`] makes rows with numbers along x from the table's rows; the
//! drawing is that of [`crate::curves`] and [`crate::heat`].

use crate::choice::RowFilter;
use crate::error::PlotError;
use crate::gaps::with_gaps;
use crate::spec::{FIGURE, Picture, PictureKind};
use crate::{Figure, curves, flags, heat, sensitivity};
use orrery_results::{Row, UNITLESS, metric};
use std::borrow::Cow;

mod asked;
mod prepare;
mod values;

/// Draws a picture of a table's rows.
///
/// # Errors
/// When the table has no such rows, or too many for one figure.
pub fn picture(rows: &[Row], named: &Picture, choice: &RowFilter) -> Result<Figure, PlotError> {
    let picture = named;
    let metric = picture.metrics.first().map_or(metric::FINISH_RATE, String::as_str);
    if picture.kind == PictureKind::Sensitivity {
        return sensitivity::titled(rows, metric, choice, (&picture.title, &picture.source));
    }
    let rows = with_gaps(rows);
    let chosen = choice.rows(FIGURE, &rows, metric)?;
    let marked: Vec<Row> =
        chosen.iter().map(|r| flags::with_withheld(r, &picture.withheld)).collect();
    let (marked, picture) = &over_paper(marked, picture, choice);
    let chosen: Vec<&Row> = marked.iter().collect();
    let mut prepared = prepare::prepare(&chosen, picture)?;
    if picture.relative_to != named.relative_to {
        prepared.over = choice.paper().to_string();
    }
    prepared.asked = asked::asked(&chosen, picture)?;
    match picture.kind {
        PictureKind::Heat => heat::heat(&prepared, picture),
        _ => curves::pictured(&prepared, picture, choice),
    }
}

/// What stands for the paper's numbers as the x axis, and as what values are divided by.
const PAPER: &str = "paper";

/// The rows along the paper's numbers, and over them, where the picture asks for it: then the others are left out.
fn over_paper<'a>(
    mut rows: Vec<Row>,
    picture: &'a Picture,
    choice: &RowFilter,
) -> (Vec<Row>, Cow<'a, Picture>) {
    if picture.x != PAPER && picture.relative_to != PAPER {
        return (rows, Cow::Borrowed(picture));
    }
    let mut picture = picture.clone();
    rows.retain(|r| r.paper.is_some_and(|p| p > 0.0) && picture.metrics.contains(&r.metric));
    let along = format!("{}_{}", choice.paper(), picture.metrics[0]);
    for row in &mut rows {
        let Some(paper) = row.paper else { continue };
        if picture.x == PAPER {
            values::set(row, &along, &paper.to_string());
        }
        if picture.relative_to == PAPER {
            let numbers = [&mut row.value, &mut row.ci95_low, &mut row.ci95_high];
            numbers.into_iter().for_each(|v| *v = v.map(|v| v / paper));
            (row.unit, row.paper) = (UNITLESS.to_string(), None);
        }
    }
    if picture.x == PAPER {
        picture.x = along;
    }
    if picture.relative_to == PAPER {
        picture.relative_to.clear();
    }
    (rows, Cow::Owned(picture))
}
