//! What a row says about a name: an axis, its case, its system, or a parameter of its policy.

use orrery_results::{PolicyText, Row, joined};

/// Pseudo-axes that are columns of a row.
pub(super) const CASE: &str = "case";
pub(super) const SYSTEM: &str = "system";
pub(super) const METRIC: &str = "metric";

/// The value at a name.
pub(super) fn value<'a>(row: &'a Row, name: &str) -> Option<&'a str> {
    match name {
        CASE if row.axis(CASE).is_none() => (!row.case.is_empty()).then_some(row.case.as_str()),
        SYSTEM => Some(&row.system),
        METRIC => Some(&row.metric),
        _ => row.axis(name),
    }
}

/// A parameter of the row's policy: of `timeout[max_batch=8]`, `max_batch` is `8`.
pub(super) fn parameter<'a>(row: &'a Row, name: &str) -> Option<&'a str> {
    PolicyText::new(&row.policy).parameter(name)
}

/// Sets an axis of a row.
pub(super) fn set(row: &mut Row, name: &str, value: &str) {
    row.axes = joined(row.axis_list().filter(|a| a.0 != name).chain([(name, value)]));
}

/// Leaves only some axes of a row.
pub(super) fn keep(row: &mut Row, wanted: impl Fn(&str) -> bool) {
    row.axes = joined(row.axis_list().filter(|a| wanted(a.0)));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_parameter_is_found_and_taken_out_by_its_whole_name() {
        let policy = "symphony[dispatch=timeout,timeout_pct=10]".to_string();
        let row = Row { policy, ..Row::default() };
        assert_eq!(parameter(&row, "timeout_pct"), Some("10"));
        assert_eq!((parameter(&row, "timeout"), parameter(&row, "pct")), (None, None));
        let text = PolicyText::new(&row.policy);
        assert_eq!(text.without("timeout_pct"), "symphony[dispatch=timeout]");
    }

    #[test]
    fn an_axis_is_set_once() {
        let mut row = Row { axes: "a=1;b=2".into(), ..Row::default() };
        set(&mut row, "a", "3");
        assert_eq!(row.axes, "b=2;a=3");
        keep(&mut row, |n| n == "a");
        assert_eq!(row.axes, "a=3");
    }
}
