//! Cases of applications follow the rules of their names.

use super::forms_of;
use crate::kinds::applications::cases::Case;
use crate::kinds::applications::table::{Applications, Cases};
use crate::registry;

/// The rules of Orloj's tables.
fn rules() -> Cases {
    let e = registry::find("orloj-table-2").expect("it is shipped");
    let table = e.resolved["applications"].clone();
    table.try_into::<Applications>().expect("it is of that kind").cases
}

#[test]
fn cases_with_the_same_modes_have_the_same_mean_of_modes_whatever_the_shares() {
    let cases = rules();
    let of = |name: &str| Case::make(&cases, name).unwrap();
    let (equal, unequal) = (of("std-1"), of("std-2/0.5"));
    assert_eq!(equal.modes_mean_ms, 75.0);
    assert!((equal.mean_ms() - 75.0).abs() < 1e-6);
    assert_eq!(unequal.modes_mean_ms, 75.0);
    assert!((unequal.mean_ms() - 75.0).abs() > 10.0, "most requests are in one peak");
    let task = of("gpt-cornell");
    assert!((task.modes_mean_ms - task.mean_ms()).abs() < 1e-9, "of other cases the mean");
}

/// At one SLO a system's mean finish rate under a setting is what leads are made of.
#[test]
fn a_lead_and_a_column_s_error_are_those_of_the_best_setting() {
    let mut e = registry::find("orloj-needed").expect("it is shipped");
    e.frame.set.insert("load.requests".to_string(), 300.into());
    for axis in &mut e.frame.axis {
        let kept = match axis.name.as_str() {
            "slo_x_p99" => 1,
            "setting" => usize::MAX,
            _ => 2,
        };
        axis.values.truncate(kept);
    }
    let forms = forms_of(&e);
    let of = |metric: &str, axes: &str, system: &str| -> Vec<f64> {
        let is = |r: &&orrery_results::Row| {
            r.metric == metric && r.axes.starts_with(axes) && r.system == system
        };
        forms.rows.iter().filter(is).filter_map(|r| r.value).collect()
    };
    let best = |metric, axes: &str, system, pick: fn(f64, f64) -> f64| {
        of(metric, axes, system).into_iter().reduce(pick).expect("a value")
    };
    let places = ["load=1.6;c1=0.03", "load=1.6;c1=0.075", "load=2.05;c1=0.03"];
    for axes in places {
        let rate = |system| best("mean_finish_rate", axes, system, f64::max);
        let rivals = ["clipper", "nexus", "clockwork", "fifo"].map(rate);
        let lead = rate("orloj") - rivals.into_iter().reduce(f64::max).expect("four");
        assert!((of("lead", axes, "orloj")[0] - lead).abs() < 1e-12, "{axes}: {lead}");
        assert!(rate("oracle") > 0.0, "it is run, and is no rival");
        let error = |system| best("mean_abs_error", axes, system, f64::min);
        let columns = ["clipper", "nexus", "clockwork", "orloj"].map(error);
        let own = ["clipper", "nexus", "clockwork", "orloj"];
        assert_eq!(own.map(|s| of("column_abs_error", axes, s)[0]), columns, "{axes}");
        let worst = |n: usize| columns[..n].iter().copied().fold(0.0, f64::max);
        assert_eq!(of("worst_abs_error", axes, "orloj"), [worst(4), worst(3)], "{axes}");
    }
    assert!(forms.table.contains("than the best other system"), "{}", forms.table);
}
