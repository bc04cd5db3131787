//! The studies of Salus and Fluid: their tables. What holds of their sentences stands in `verdicts`.

use crate::golden::{check, forms, unfold};
use orrery_reproduce::registry::find;

#[test]
fn the_studies_of_fluid_read_as_they_did() {
    unfold();
    for id in ["fluid-fig-3-5", "fluid-table-3-2", "fluid-theorem-1"] {
        let mut e = find(id).expect("a shipped experiment");
        e.details = true;
        let one = forms(&e, 1).table;
        assert_eq!(forms(&e, 2).table, one);
        check(&format!("{id}.txt"), &one);
    }
}

/// Three traces under every system: a change of any draw or decision changes a digit.
#[test]
fn table_2_1_of_salus_made_small_reads_as_it_did() {
    let mut e = find("salus-table-2-1").expect("a shipped experiment");
    e.seeds = 3;
    check("salus-table-2-1-small.csv", &forms(&e, 0).wide());
}
