//! The studies of Salus and Fluid: what holds, and what is known not to. The bounds are the project's
//! acceptance criteria; they stand as claims in the experiments' files.

use crate::golden::{check, forms, unfold};
use orrery_papers::claims;
use orrery_papers::registry::find;
use orrery_papers::reproduce::{Asked, rows_of};

/// The sentences of an experiment that do not hold.
fn false_claims(id: &str) -> Vec<String> {
    let e = find(id).expect("a shipped experiment");
    let rows = rows_of(&e, &Asked::default()).expect("an experiment that runs");
    let checked = e.claim.iter().map(|c| (c, claims::check(c, &rows)));
    let is_false = checked.filter(|(_, found)| found.holds != Some(true));
    is_false.map(|(claim, _)| claim.text.clone()).collect()
}

#[test]
#[cfg_attr(debug_assertions, ignore = "takes minutes in a debug build")]
fn table_2_1_of_salus_comes_out_but_for_one_tail() {
    let expected = ["SRTF, jct_p95_ns: within 20 % of the printed 217.0 min"];
    assert_eq!(false_claims("salus-table-2-1"), expected);
}

#[test]
#[cfg_attr(debug_assertions, ignore = "takes minutes in a debug build")]
fn the_order_of_policies_survives_every_changed_assumption() {
    assert_eq!(false_claims("salus-table-2-1-sensitivity"), [""; 0]);
}

#[test]
fn figures_of_salus_come_out() {
    assert_eq!(false_claims("salus-fig-2-9"), [""; 0]);
    assert_eq!(false_claims("salus-fig-2-10"), [""; 0]);
}

#[test]
#[cfg_attr(debug_assertions, ignore = "takes minutes in a debug build")]
fn one_gpu_for_42_models_costs_less_than_5_ms() {
    assert_eq!(false_claims("salus-fig-2-11"), [""; 0]);
}

#[test]
fn figures_of_fluid_come_out_but_for_two_utilisations_and_theorem_1() {
    assert_eq!(false_claims("fluid-fig-3-5"), [""; 0]);
    let too_busy = [4, 32].map(|n| format!("{n} workers: utilisation within 20 %"));
    for (found, expected) in false_claims("fluid-table-3-2").iter().zip(&too_busy) {
        assert!(found.starts_with(expected), "{found}");
    }
    assert_eq!(false_claims("fluid-table-3-2").len(), too_busy.len());
    let theorem = false_claims("fluid-theorem-1");
    assert!(
        theorem.len() == 2 && theorem.iter().all(|t| t.starts_with("Theorem 1")),
        "{theorem:?}"
    );
}

#[test]
fn the_studies_of_fluid_read_as_they_did() {
    unfold();
    for id in ["fluid-fig-3-5", "fluid-table-3-2", "fluid-theorem-1"] {
        let e = find(id).expect("a shipped experiment");
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
    check("salus-table-2-1-small.csv", &forms(&e, 0).wide);
}
