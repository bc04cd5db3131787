//! Which rows of a table a figure is made of.

use crate::error::PlotError;
use orrery_results::{DistributionRow, Row, difference_in, system_of};

/// What is taken of a table. An empty list takes everything, but for the scope: without one, the
/// rows of scope `all` are taken where there are any.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RowFilter {
    /// Cases, by name.
    pub cases: Vec<String>,
    /// Presets. They choose among our results; the paper's figures stand beside what is chosen.
    pub presets: Vec<String>,
    /// Systems or policies: `clockwork` takes `clockwork[estimator=static-mean]` too.
    pub systems: Vec<String>,
    /// Scopes: `all`, `model NAME`, `app NAME`.
    pub scopes: Vec<String>,
    /// Leave the paper's figures out.
    pub without_paper: bool,
    /// What the paper's figures are called in legends; "paper" where it is empty.
    pub beside: String,
    /// In place of the name of the x axis.
    pub x_label: String,
    /// The ends of the y axis of curves.
    pub y_range: Option<(f64, f64)>,
}

impl RowFilter {
    /// What the paper's figures are called.
    pub(crate) fn paper(&self) -> &str {
        if self.beside.is_empty() { "paper" } else { &self.beside }
    }

    /// The chosen rows: values, or where the metric is that of a difference, differences.
    pub(crate) fn rows<'a>(
        &self,
        figure: &'static str,
        rows: &'a [Row],
        metric: &str,
    ) -> Result<Vec<&'a Row>, PlotError> {
        let differences = difference_in(metric).is_some();
        let mut kept: Vec<&Row> =
            rows.iter().filter(|r| r.versus.is_empty() != differences).collect();
        if kept.is_empty() {
            let found = match (rows.is_empty(), differences) {
                (true, _) => "an empty table",
                (_, true) => "no differences",
                _ => "differences only",
            };
            return Err(PlotError::missing(
                figure,
                "a value",
                &[found],
                "give a table with results",
            ));
        }
        keep(figure, "case", &self.cases, &mut kept, |r| vec![&r.case])?;
        keep(figure, "preset", &self.presets, &mut kept, |r| vec![&r.preset])?;
        let names = |r: &'a Row| vec![r.system.as_str(), &r.policy, system_of(&r.policy)];
        keep(figure, "system", &self.systems, &mut kept, names)?;
        self.keep_scope(figure, &mut kept, |r| &r.scope)?;
        Ok(kept)
    }

    /// The chosen points of a quantity's distributions.
    pub(crate) fn distributions<'a>(
        &self,
        figure: &'static str,
        rows: &'a [DistributionRow],
        quantity: &str,
    ) -> Result<Vec<&'a DistributionRow>, PlotError> {
        let mut kept: Vec<&DistributionRow> = rows.iter().collect();
        keep(figure, "quantity", &[quantity.to_string()], &mut kept, |r| vec![&r.quantity])?;
        keep(figure, "case", &self.cases, &mut kept, |r| vec![&r.case])?;
        let names = |r: &'a DistributionRow| vec![r.policy.as_str(), system_of(&r.policy)];
        keep(figure, "system", &self.systems, &mut kept, names)?;
        self.keep_scope(figure, &mut kept, |r| &r.scope)?;
        // Without one of its points a distribution is another one.
        match kept.iter().find(|r| !(r.x.is_finite() && r.share.is_finite())) {
            Some(r) => Err(PlotError::NotFinite { figure, x: r.x, share: r.share }),
            None => Ok(kept),
        }
    }

    fn keep_scope<'a, T>(
        &self,
        figure: &'static str,
        kept: &mut Vec<&'a T>,
        scope: impl Fn(&'a T) -> &'a str,
    ) -> Result<(), PlotError> {
        if self.scopes.is_empty() {
            if kept.iter().any(|r| scope(r) == "all") {
                kept.retain(|r| scope(r) == "all");
            }
            return Ok(());
        }
        keep(figure, "scope", &self.scopes, kept, |r| vec![scope(r)])
    }
}

/// Keeps the rows with a wanted word; every wanted word must be there, so that a typing mistake is
/// not a curve less.
fn keep<'a, T>(
    figure: &'static str,
    what: &str,
    wanted: &[String],
    kept: &mut Vec<&'a T>,
    words: impl Fn(&'a T) -> Vec<&'a str>,
) -> Result<(), PlotError> {
    for word in wanted {
        if !kept.iter().any(|r| words(r).contains(&word.as_str())) {
            let found: Vec<&str> = kept.iter().map(|r| words(r)[0]).collect();
            let remedy = format!("choose a {what} that the table has");
            return Err(PlotError::missing(figure, format!("{what} `{word}`"), &found, remedy));
        }
    }
    if !wanted.is_empty() {
        kept.retain(|r| words(r).iter().any(|w| wanted.iter().any(|x| x == w)));
    }
    Ok(())
}
