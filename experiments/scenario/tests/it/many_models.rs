//! Thousands of models: what is kept of each, and what is not.

use super::base::NAME;
use orrery_run::PolicySpec;
use orrery_scenario::Scenario;
use orrery_sim::metrics::View;

const MODELS: usize = 2_000;

fn scenario() -> Scenario {
    let text = format!(
        "policies = [\"clockwork\"]\n[[model]]\nname = \"m\"\ncopies = {MODELS}\nslo_ms = 100.0\n\
         latency = {{ affine = {{ alpha_ms = 0.5, beta_ms = 0.5 }} }}\n\
         [[app]]\nname = \"a\"\nmodel = \"m\"\n[[device]]\ncount = 4\n\
         [arrivals]\npoisson = {{ rate_per_s = 2000.0 }}\nrequests = 5000\n"
    );
    Scenario::from_text(NAME, &text).unwrap_or_else(|e| panic!("{e}"))
}

#[test]
fn a_run_of_many_models_keeps_the_figures_of_its_groups_alone() {
    let setup = scenario().setup(1).unwrap();
    let metrics = setup.run(&PolicySpec::parse("clockwork").unwrap(), 1).unwrap();
    assert_eq!((metrics.figures(View::Groups).len(), metrics.total().offered), (1, 5_000));
    assert!(metrics.models().is_empty() && metrics.apps().is_empty());
}

#[test]
fn no_table_has_a_place_for_each_pair_of_a_model_and_an_application() {
    let setup = scenario().setup(1).unwrap();
    let profiles = setup.profiles(1);
    assert_eq!(profiles.len(), MODELS);
    for (m, profile) in profiles.iter().enumerate() {
        assert_eq!(profile.apps.iter().map(|a| a.app).collect::<Vec<_>>(), [m]);
        assert!(profile.apps.capacity() < 8, "{}", profile.apps.capacity());
    }
}
