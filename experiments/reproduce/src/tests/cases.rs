//! Cases of applications follow the rules of their names.

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
