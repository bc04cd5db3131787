//! What late answers cost: steps that are wrong are named, and applications have their model's or their own.

use super::base::{NAME, message};
use orrery_scenario::Scenario;
use orrery_sim::penalty::{MILLION, Penalty};

fn text(model: &str, app: &str) -> String {
    format!(
        "policies = [\"fifo\"]\n\
         [[model]]\nname = \"m\"\nslo_ms = 50.0\nlatency = {{ table = [[1, 2.0], [2, 3.0]] }}\n{model}\n\
         [[app]]\nname = \"a\"\nmodel = \"m\"\n{app}\n\
         [[app]]\nname = \"b\"\nmodel = \"m\"\nslo_ms = 40.0\n\
         [arrivals]\npoisson = {{ rate_per_s = 100.0 }}\nduration_s = 4.0\n"
    )
}

fn steps(of: &[(&str, &str)]) -> String {
    let step = |(deadline, cost): &(&str, &str)| {
        format!("{{ deadline_x_slo = {deadline}, cost = {cost} }}")
    };
    format!("penalties = [{}]", of.iter().map(step).collect::<Vec<_>>().join(", "))
}

#[test]
fn penalties_that_fall_and_deadlines_out_of_order_are_named() {
    for (of, key, remedy) in [
        (vec![("1", "0.5"), ("2", "0.4")], "penalties[1].cost", "no penalty falls"),
        (vec![("1", "0.5"), ("2", "0.5")], "penalties[1].cost", "no penalty falls"),
        (vec![("1", "0.5"), ("0.5", "1")], "penalties[1].deadline_x_slo", "sort the steps"),
        (vec![("1", "0.5"), ("1", "1")], "penalties[1].deadline_x_slo", "sort the steps"),
        (vec![("2", "1")], "penalties[0].deadline_x_slo", "set the SLO to the first deadline"),
        (vec![("1", "-1")], "penalties[0].cost", "remedy"),
        (vec![("1", "nan")], "penalties[0].cost", "remedy"),
        (vec![("1", "1e9")], "penalties[0].cost", "remedy"),
        (vec![], "penalties", "remove steps"),
    ] {
        let penalties = steps(&of);
        let of_app = message(&text("", &penalties));
        assert!(of_app.contains(&format!("app[0].{key}")) && of_app.contains(remedy), "{of_app}");
        let of_model = message(&text(&penalties, ""));
        assert!(of_model.contains(&format!("model[0].{key}")), "{of_model}");
    }
    let endless = message(&text("", &format!("slo_ms = inf\n{}", steps(&[("1", "1")]))));
    assert!(endless.contains("app[0].penalties") && endless.contains("inf"), "{endless}");
    let many: Vec<String> = (1..=17).map(|n| n.to_string()).collect();
    let many: Vec<(&str, &str)> = many.iter().map(|n| (n.as_str(), n.as_str())).collect();
    assert!(message(&text("", &steps(&many))).contains("1 to 16 steps"));
}

#[test]
fn an_application_has_its_own_penalties_or_its_models() {
    let setup = |model: &str, app: &str| {
        let scenario = Scenario::from_text(NAME, &text(model, app));
        scenario.and_then(|s| s.setup(1)).unwrap_or_else(|e| panic!("{e}"))
    };
    assert!(setup("", "").penalties.is_empty(), "nothing is counted");
    assert!(setup("", "").terms().penalties.is_empty());
    let (half, two) = (steps(&[("1", "0.5")]), steps(&[("1", "1"), ("1.5", "2")]));
    let costs = |all: &[Penalty]| all.iter().map(Penalty::full).collect::<Vec<u64>>();
    let both = setup(&half, &two);
    assert_eq!(costs(&both.penalties), [2 * MILLION, MILLION / 2]);
    assert_eq!(both.terms().penalties, both.penalties);
    assert_eq!(both.profiles(1)[0].penalties[&0].full(), 2 * MILLION);
    assert_eq!(costs(&setup("", &two).penalties), [2 * MILLION, MILLION]);
}
