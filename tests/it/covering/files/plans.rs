//! Plans: every key alone, and laws about two plans, on a problem of some milliseconds.
//!
//! The answer is the same whatever models are called and wherever types and models are in the file; prices k times
//! as high make a plan k times as dear and change nothing else; a type that is dearer and slower than another changes
//! nothing.

mod table;

use crate::covering::edit::Edits;
use crate::covering::run::folder;
use crate::covering::world::Choices;
use crate::covering::{alone, schema};
use orrery_plan::{Answers, PlanFile, answers};
use orrery_results::Row;
use orrery_scenario::reference;
use orrery_scenario::scenario::file::ScenarioFile;
use toml::{Table, Value};

fn answered(text: &str) -> Result<Answers, String> {
    let path = format!("{}plan.toml", folder());
    let (plan, source) = PlanFile::from_text(&path, text).map_err(|e| e.to_string())?;
    answers(&plan, &source, &[], false).map_err(|e| e.to_string())
}

fn shown(text: &str) -> alone::Shown {
    let answers = answered(text)?;
    let plain = |row| Row { spec_sha256: String::new(), inputs_sha256: String::new(), ..row };
    let text = answers.document().to_text();
    Ok(format!("{:?}\n{text}", answers.rows.into_iter().map(plain).collect::<Vec<_>>()))
}

#[test]
fn every_key_of_plans_is_drawn_or_excused() {
    let mut keys = schema::keys(reference::schema::<PlanFile>().as_value());
    let of_scenarios = schema::keys(reference::schema::<ScenarioFile>().as_value());
    // Those of the scenario in a plan are in the table of scenarios.
    let own = |key: &String| !key.contains('.') || !of_scenarios.contains(key);
    keys.retain(|key| own(key) && !key.starts_with("ScenarioFile."));
    schema::all_drawn_or_excused(&keys, table::KEYS, table::EXCUSED);
}

#[test]
fn a_key_of_plans_off_its_default_changes_the_answer() {
    let policies = ["symphony", "kairos"].map(|name| (name.to_string(), format!("{name:?}")));
    alone::check(&Choices::in_file(table::BASE, table::KEYS.to_vec(), policies), shown);
}

/// The base plan with some edits.
fn plan(edits: &str) -> String {
    let mut all = Edits::read("policies = [\"symphony\"]");
    all.add(&Edits::read(edits));
    all.apply(table::BASE)
}

#[test]
fn a_key_that_means_nothing_in_a_plan_is_refused() {
    let without = [
        "bound_slack = 0.2",
        "evaluations_max = 5",
        "instance[0].base = true",
        "instance[0].gpu = \"T4\"",
        "instance[0].offers_of = \"slow\"",
        "instance[0].buy = \"spot\"",
        "buy = \"spot\"",
        "rates_per_s = { m = 100.0 }",
        "pools = \"fleet\"; bound_slack = 0.2",
        "pools = \"fleet\"; instance[0].base = true",
    ];
    let refused = |edits: &&str| shown(&plan(edits)).is_err_and(|e| e.contains("remedy: "));
    let run: Vec<&str> = without.into_iter().filter(|edits| !refused(edits)).collect();
    assert!(run.is_empty(), "{run:?}");
}

/// The forms of a plan, as edits of the base.
const FORMS: [&str; 3] = ["", "pools = \"fleet\"", table::MIXED_WITH_KAIROS];

/// What is answered: place, pool and metric, with its numbers.
type Number = (String, String, [Option<f64>; 3]);

/// The numbers of a plan's answer, types and models of a pool in the order of their names.
fn numbers(text: &str) -> Vec<Number> {
    let of = |row: Row| {
        let (axes, pool) = row.axes.split_once("pool=").unwrap_or((&row.axes, ""));
        let (pool, behind) = pool.split_once(';').unwrap_or((pool, ""));
        let pool = pool.replace(":other", ":m");
        let mut names: Vec<&str> = pool.split(['+', ':']).collect();
        names.sort_unstable();
        let axes = format!("{axes}pool={};{behind}", names.join("+"));
        let name = format!("{} {}", row.scope, row.metric);
        (axes, name, [row.value, row.ci95_low, row.ci95_high])
    };
    let answers = answered(text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let mut all: Vec<Number> = answers.rows.into_iter().map(of).collect();
    all.sort_by(|a, b| (&a.0, &a.1).cmp(&(&b.0, &b.1)));
    assert!(all.len() > 5, "{text}");
    all
}

/// Other names, types in another order, and a type that is dearer and slower change nothing; prices four times as high make
/// the plan four times as dear.
#[test]
fn names_order_worse_types_and_the_unit_of_prices_do_not_matter() {
    let renamed = "scenario.model[0].name = \"other\"; scenario.app[0].name = \"b\"; \
                   scenario.app[0].model = \"other\"";
    let mut swapped: Table = table::BASE.parse().expect("a plan");
    swapped["instance"].as_array_mut().expect("a list").reverse();
    let worse =
        "instance[2] = { kind = \"worse\", price_usd_per_hour = 1.0, count_max = 2, speed = 0.9 }";
    let dearer = "instance[0].price_usd_per_hour = 2.0; instance[1].price_usd_per_hour = 3.6";
    // Who would be the answer at which price is another question.
    let best = |mut all: Vec<Number>| {
        all.retain(|n| n.0.contains("place=1;") && !n.1.contains("price_turn"));
        all
    };
    for form in FORMS {
        let one = numbers(&plan(form));
        let with = |edits: &str| numbers(&plan(&format!("{form}; {edits}")));
        assert_eq!(with(renamed), one, "{form}");
        let mut edits = Edits::read("policies = [\"symphony\"]");
        let turned =
            form.replace("instance[0]", "instance[9]").replace("instance[1]", "instance[0]");
        edits.add(&Edits::read(&turned.replace("instance[9]", "instance[1]")));
        assert_eq!(numbers(&edits.apply(&swapped.to_string())), one, "{form}");
        let other = with(dearer);
        assert_eq!(one.len(), other.len(), "{form}");
        for (one, other) in one.iter().zip(&other) {
            let k = if one.1.contains("usd") { 4.0 } else { 1.0 };
            let near = |(a, b): (&Option<f64>, &Option<f64>)| match (a, b) {
                (Some(a), Some(b)) => (a * k - b).abs() <= 1e-9 * b.abs(),
                (a, b) => a == b,
            };
            let same = (&one.0, &one.1) == (&other.0, &other.1);
            assert!(same && one.2.iter().zip(&other.2).all(near), "{one:?}, {other:?}");
        }
        assert_eq!(best(with(worse)), best(one), "{form}");
    }
}

/// A second model, which is smaller and has more time.
const SECOND: &str = "scenario.model[1] = { name = \"n\", slo_ms = 70.0, latency = { affine = { alpha_ms = 1.0, \
                      beta_ms = 3.0 } } }; scenario.app[1] = { name = \"b\", model = \"n\", weight = 0.5, \
                      time = { constant = { ms = 4.0 } }, sizes = { normal = { mean = 4.0, sd = 3.0, max = 10 } } }";

/// The forms of a plan, under policies that take no model before an equal one (`covering/order.rs`).
const FORMS_OF_TWO: [&str; 3] = [
    "policies = [\"clockwork\"]",
    "policies = [\"clockwork\"]; pools = \"fleet\"",
    table::MIXED_WITH_KAIROS,
];

#[test]
fn the_order_of_models_does_not_matter() {
    for form in FORMS_OF_TWO {
        let text = plan(&format!("{SECOND}; {form}"));
        let mut reversed: Table = text.parse().expect("a plan");
        let models = reversed["scenario"].get_mut("model").and_then(Value::as_array_mut);
        models.expect("two models").reverse();
        assert_eq!(numbers(&reversed.to_string()), numbers(&text), "{form}");
    }
}
