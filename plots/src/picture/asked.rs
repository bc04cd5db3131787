//! What the paper's sentences ask of the values that are drawn: the ends of their ranges go the way of the values, so
//! that they are divided, renamed and placed as these are.

use super::prepare::prepare;
use crate::error::PlotError;
use crate::spec::{AskedRange, Picture, PictureKind, is_same_value};
use orrery_results::Row;

/// The flag of a row that carries an end of a range in place of its value.
const FLAG: &str = "asked";

/// The ranges of the rows, in their places of the figure.
pub(super) fn asked(rows: &[&Row], p: &Picture) -> Result<Vec<AskedRange>, PlotError> {
    let of = |r: &Row| {
        let first =
            p.asked.iter().find(|(row, ..)| r.versus.is_empty() && is_same_value(row, r))?;
        Some((first.1, first.2))
    };
    let is_drawn = matches!(p.kind, PictureKind::Curves | PictureKind::Bars);
    if !is_drawn || !rows.iter().any(|r| of(r).is_some()) {
        return Ok(Vec::new());
    }
    let ends = |end: fn((f64, f64)) -> f64| -> Result<Vec<Row>, PlotError> {
        let with = |r: &&Row| match of(r) {
            Some(range) => {
                let (value, flags) = (Some(end(range)), FLAG.to_string());
                Row { value, ci95_low: None, ci95_high: None, flags, ..(*r).clone() }
            }
            None => Row { flags: String::new(), ..(*r).clone() },
        };
        let all: Vec<Row> = rows.iter().map(with).collect();
        let mut prepared = prepare(&all.iter().collect::<Vec<_>>(), p)?.rows;
        prepared.retain(|r| r.flags == FLAG && (p.star.is_empty() || r.system != p.star));
        Ok(prepared)
    };
    let high = ends(|range| range.1)?;
    let range = |row: Row| {
        let same = high.iter().find(|h| is_same_value(h, &row))?;
        Some(AskedRange { low: row.value?, high: same.value?, row })
    };
    Ok(ends(|range| range.0)?.into_iter().filter_map(range).collect())
}
