//! No policy locks itself: whatever happened before, a request that comes to idle devices and would be in time is run.
//!
//! Random worlds with a history that teaches a policy the worst (batches that take several times what they should,
//! requests of many items, late messages, a wrong profile, overload), then a slow time in which most requests come
//! alone. [`LOCKS`] has who does not, and where that is said.

use orrery_run::PolicySpec;
use orrery_scenario::Scenario;
use orrery_sim::observer::{Batch, Observer};
use orrery_sim::policy::ALL;
use orrery_sim::policy::Outcome;
use orrery_sim::request::{End, Request, RequestId};
use orrery_sim::rng::Stream;
use orrery_sim::time::Time;
use std::collections::BTreeMap;

/// Policies whose rule drops such requests, and why: each is in its "Differences from the paper".
const LOCKS: &[(&str, &str)] = &[
    ("clockwork", "an estimate above the SLO is never tried again (The size that is lost)"),
    ("clockwork[preset=paper]", "the same"),
    (
        "shepherd",
        "an expired request at a queue's head keeps it from running, as released; `preset=paper` drops it",
    ),
];

/// Requests that came when no other was in the system.
#[derive(Default)]
struct Fresh {
    in_system: u32,
    alone: Option<RequestId>,
    came: u32,
    /// Those that were dropped though none came after, since one was run, and the most of them.
    dropped: u32,
    most: u32,
}

impl Observer for Fresh {
    fn arrived(&mut self, _: Time, request: &Request) {
        self.alone = (self.in_system == 0).then_some(request.id);
        self.came += u32::from(self.in_system == 0);
        self.in_system += 1;
    }

    fn began(&mut self, _: Time, _: &Batch<'_>) {
        (self.alone, self.dropped) = (None, 0);
    }

    fn ended(&mut self, _: Time, request: &Request, end: End, _: Option<Time>) {
        self.in_system -= u32::from(end != End::Pending);
        if self.alone == Some(request.id) && matches!(end, End::Dropped(_)) {
            self.dropped += 1;
            self.most = self.most.max(self.dropped);
        }
    }

    fn closed(&mut self, _: Time, _: &Batch<'_>, _: Option<Time>, _: Outcome) {}
}

/// One model, so that every policy runs it.
fn world(i: u64) -> String {
    let mut s = Stream::named(i, "no lock", 0);
    let mut pick = |of: &[&str]| of[s.below(of.len() as u64) as usize].to_string();
    let [latency, own] = [
        ["{ affine = { alpha_ms = 2.0, beta_ms = 10.0 } }", ""],
        [
            "{ proportional = { c1 = 0.2 } }",
            "time = { modes = [[0.9, 10.0, 1.0], [0.1, 24.0, 2.0]] }",
        ],
    ][pick(&["0", "1"]).parse::<usize>().unwrap()];
    let noise = pick(&[
        "",
        "noise = { outlier_share = 0.1, outlier_factors = [4.0, 8.0] }",
        "noise = { sigma = 0.3 }",
    ]);
    let believed = if own.is_empty() {
        pick(&["", "", "believed = { affine = { alpha_ms = 1.0, beta_ms = 6.0 } }"])
    } else {
        String::new()
    };
    let items = if own.is_empty() { pick(&["", "", "size = 12"]) } else { String::new() };
    let delays = pick(&[
        "",
        "",
        "[delays]\ndispatch_ms = 3.0\nresult_ms = 3.0",
        "[delays]\ndispatch = { lognormal = { median_ms = 3.0, p9999_ms = 36.0 } }",
    ]);
    let stalls = pick(&["", "", "[stalls]\nlengths_ms = [30.0]\nquiet_per_s = 1.0"]);
    let (count, stop) = (pick(&["1", "3"]), pick(&["true", "false"]));
    format!(
        "policies = [\"fifo\"]\n[[model]]\nname = \"m\"\nslo_ms = 80.0\nlatency = {latency}\n{noise}\n{believed}\n\
         [[device]]\ncount = {count}\ncan_preempt = {stop}\n[[app]]\nname = \"a\"\nmodel = \"m\"\n{items}\n{own}\n\
         [arrivals]\nmmpp = {{ rates_per_s = [400.0, 4.0], mean_sojourns_s = [3.0, 30.0] }}\nduration_s = 150.0\n\
         {delays}\n{stalls}\n"
    )
}

#[test]
fn a_request_that_comes_to_idle_devices_is_run_whatever_came_before() {
    let (mut faults, mut seen) = (BTreeMap::new(), 0);
    for i in 0..24 {
        let text = world(i);
        let scenario =
            Scenario::from_text("world.toml", &text).unwrap_or_else(|e| panic!("{e}\n{text}"));
        let setup = scenario.setup(i).unwrap();
        for policy in ALL.iter().map(|p| p.about.name).chain([
            "clockwork[preset=paper]",
            "shepherd[preset=paper]",
            "symphony[preset=paper]",
        ]) {
            let spec = PolicySpec::parse(policy).unwrap();
            let Ok(run) = setup.run_with(&spec, i, Fresh::default()) else { continue };
            let fresh = run.observer.1;
            seen += 1;
            // Requests come alone by the hundred, unless some of them are never answered.
            if fresh.most >= 10 || fresh.came < 20 || run.observer.0.stuck() {
                faults
                    .entry(policy.to_string())
                    .or_insert_with(Vec::new)
                    .push((i, fresh.most, fresh.came));
            }
        }
    }
    assert!(seen > 200, "{seen}");
    let known: Vec<&str> = LOCKS.iter().map(|l| l.0).collect();
    let found: Vec<&String> = faults.keys().collect();
    assert_eq!(found, known, "{faults:?}");
}

/// One batch in fifty takes several times as long, or requests have several items: it ran nothing any more, or nothing at
/// all, where others finished nine in ten.
#[test]
fn our_own_is_near_orloj_where_it_locked_itself() {
    let world = |model: &str, app: &str, rest: &str| {
        format!(
            "policies = [\"orloj\"]\nseed = 3\nwarm_up_s = 5.0\n[[model]]\nname = \"m\"\n{model}\n[[app]]\nname = \
             \"a\"\nmodel = \"m\"\n{app}\n{rest}"
        )
    };
    let slow = "slo_ms = 80.0\nlatency = { affine = { alpha_ms = 4.0, beta_ms = 12.0 } }\nnoise = { outlier_share = 0.02, \
                outlier_factors = [4.0] }";
    let items = "slo_ms = 120.0\nlatency = { affine = { alpha_ms = 3.0, beta_ms = 10.0 } }";
    let sizes = "sizes = { lognormal = { mu = 1.0, sigma = 1.0, max = 30 } }";
    let device = |n: u32| format!("[[device]]\ncount = {n}\ncan_preempt = true\n");
    let load = |rate: f64, s: f64| {
        format!("[arrivals]\npoisson = {{ rate_per_s = {rate:?} }}\nduration_s = {s:?}\n")
    };
    for text in [
        world(slow, "", &(device(1) + &load(100.0, 300.0))),
        world(slow, "", &(device(3) + &load(450.0, 45.0))),
        world(items, sizes, &(device(2) + &load(88.0, 45.0))),
    ] {
        let setup = Scenario::from_text("world.toml", &text).unwrap().setup(3).unwrap();
        let rate = |policy: &str| {
            let run = setup.run(&PolicySpec::parse(policy).unwrap(), 3).unwrap();
            run.total().finish_rate()
        };
        let (ours, orloj) = (rate("best-yield"), rate("orloj"));
        assert!(orloj > 0.8 && ours > orloj - 0.03, "{ours} and {orloj}:\n{text}");
    }
}
