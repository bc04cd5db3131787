//! Laws of message delays: how they are read, and that runs meet them.

use super::base::{NAME, VALID, changed, refused_change};
use orrery_scenario::Scenario;
use orrery_sim::delay::DelayLaw;
use orrery_sim::time::Span;

const TCP: &str = "dispatch = { lognormal = { median_ms = 3.0, p9999_ms = 36.0 } }";

fn delays(text: &str, seed: u64) -> orrery_sim::core::Delays {
    let scenario = Scenario::from_text(NAME, text).unwrap_or_else(|e| panic!("{e}"));
    scenario.setup(seed).unwrap().world.core.delays
}

#[test]
fn a_constant_key_is_a_constant_law() {
    let (old, new) =
        (VALID, changed("dispatch_ms = 0.1", "dispatch = { constant = { ms = 0.1 } }"));
    assert_eq!(delays(old, 1), delays(&new, 1));
    assert_eq!(delays(old, 1).dispatch, DelayLaw::Constant(Span::from_us(100)));
}

#[test]
fn a_law_is_drawn_by_the_runs_seed_and_tells_its_quantiles() {
    let drawn = delays(&changed("dispatch_ms = 0.1", TCP), 7);
    assert_eq!((drawn.seed, drawn.dispatch.quantile(0.5)), (7, Span::from_ms(3)));
    let p9999 = drawn.dispatch.quantile(0.9999);
    assert!(p9999.ns().abs_diff(Span::from_ms(36).ns()) < 10, "{p9999}");
}

#[test]
fn a_slow_network_makes_answers_later_and_every_request_still_ends() {
    let run = |text: &str| {
        let scenario = Scenario::from_text(NAME, text).unwrap();
        let setup = scenario.setup(1).unwrap();
        let policies = scenario.policies().unwrap();
        policies.iter().map(|p| setup.run(p, 1).unwrap().total()).collect::<Vec<_>>()
    };
    let slow = format!("{TCP}\nreply = {{ uniform = {{ low_ms = 1.0, high_ms = 2.0 }} }}");
    for (near, far) in run(VALID).iter().zip(&run(&changed("dispatch_ms = 0.1", &slow))) {
        assert_eq!(far.offered, far.ends.iter().sum::<u64>());
        assert!(far.queueing.mean() > near.queueing.mean());
    }
}

#[test]
fn laws_of_delays_have_ranges() {
    let at = "dispatch_ms = 0.1";
    let law = |law: &str| format!("reply = {law}");
    let wrong = |text: &str, words: &[&str]| refused_change(at, &law(text), words);
    wrong("{ constant = { ms = -1 } }", &["delays.reply.constant.ms"]);
    wrong("{ uniform = { low_ms = 2, high_ms = 1 } }", &["delays.reply.uniform.high_ms"]);
    wrong("{ uniform = { low_ms = nan, high_ms = 1 } }", &["delays.reply.uniform.low_ms"]);
    wrong("{ lognormal = { median_ms = 0, p9999_ms = 1 } }", &["lognormal.median_ms"]);
    wrong("{ lognormal = { median_ms = 2, p9999_ms = 1 } }", &["lognormal.p9999_ms", "from 2"]);
    wrong("{ lognorml = { median_ms = 1, p9999_ms = 2 } }", &["did you mean `lognormal`?"]);
    let both = "dispatch_ms = 0.1 # and\ndispatch = { constant = { ms = 1.0 } }";
    refused_change(at, both, &["delays.dispatch_ms", "not both"]);
}
