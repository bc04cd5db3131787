//! The order of `[[model]]` tables: another order is the same world, but for policies that look at models in it.

use super::run::{Ended, Ran, run};
use super::world::Choices;
use rayon::prelude::*;
use std::collections::BTreeMap;
use toml::{Table, Value};

/// Policies that may do something else: of models that are equal at some time, they take the first.
const BY_ORDER: &[&str] = &[
    "best-yield",
    "nexus-cluster",
    "nexus-cluster[preset=paper]",
    "oracle",
    "shepherd",
    "shepherd[preset=paper]",
    "symphony",
    "symphony[preset=paper]",
];
/// Keys of which the order is a part: a workload's file names models by their numbers.
const OF_ORDER: &[&str] = &[
    "App.time",
    "Arrivals.replay",
    "Arrivals.workload",
    "RateBy.",
    "ReplayArrivals.",
    "WorkloadArrivals.file",
    "WorkloadArrivals.from_row",
    "WorkloadArrivals.from_s",
    "WorkloadArrivals.scenario_slos",
    "WorkloadArrivals.to_row",
    "WorkloadArrivals.to_s",
];

/// The numbers of a run, by scope and metric.
fn numbers(ran: &Ran) -> BTreeMap<(String, String), [Option<f64>; 3]> {
    let of = |row: &orrery_results::Row| {
        let numbers = [row.value, row.ci95_low, row.ci95_high];
        ((row.scope.clone(), row.metric.clone()), numbers)
    };
    ran.rows.iter().map(of).collect()
}

/// Whether a world is the same with its models in the reverse order; `None` where it does not run.
fn is_same(text: &str) -> Option<bool> {
    let Ended::Ran(one) = run(text) else { return None };
    let mut file: Table = text.parse().expect("it has run");
    file.get_mut("model").and_then(Value::as_array_mut).expect("some models").reverse();
    let Ended::Ran(other) = run(&file.to_string()) else { return Some(false) };
    Some(numbers(&one) == numbers(&other))
}

#[test]
fn the_order_of_models_matters_only_where_the_table_says_so() {
    let choices = Choices::new();
    let policies: Vec<usize> = choices.policies().collect();
    let of_policy = |policy: usize| (policy, is_same(&choices.text(&[policy])));
    let found: Vec<_> = policies.par_iter().map(|&policy| of_policy(policy)).collect();
    let is = |name: &str, own: &str| name == own || own.ends_with('.') && name.starts_with(own);
    let listed = |list: &[&str], name: &str| list.iter().any(|own| is(name, own));
    let mut wrong = Vec::new();
    for (policy, same) in found {
        let name = choices.short(policy);
        if same == Some(listed(BY_ORDER, name)) {
            wrong.push(format!("{name}: the same is {same:?}"));
        }
    }
    // It looks at no model: what differs is the world's.
    let of_value = |value: usize| (value, is_same(&choices.text(&[value, choices.plain()])));
    let found: Vec<_> = (0..choices.values).into_par_iter().map(of_value).collect();
    for (value, same) in found {
        if same == Some(listed(OF_ORDER, choices.short(value))) {
            wrong.push(format!("{}: the same is {same:?}", choices.short(value)));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
