//! `speed` and `latency_on`: a device that is twice as fast is one with laws of half the time, for the truth and for
//! every policy.

use super::base::NAME;
use orrery_run::{PolicySpec, Setup, policies};
use orrery_scenario::Scenario;
use orrery_sim::log::{MemoryLog, Record};
use orrery_sim::time::Span;

fn scenario(text: &str) -> Scenario {
    Scenario::from_text(NAME, text).unwrap_or_else(|e| panic!("{e}\n{text}"))
}

/// Laws divided by a speed, written by hand.
const LAWS: [fn(f64) -> String; 5] = [
    |s| format!("affine = {{ alpha_ms = {:?}, beta_ms = {:?} }}", 1.0 / s, 2.0 / s),
    |s| format!("table = [[1, {:?}], [4, {:?}], [16, {:?}]]", 3.0 / s, 7.3 / s, 19.9 / s),
    |s| format!("eq3 = {{ c0_ms = {:?}, c1 = {:?} }}", 1.5 / s, 0.3 / s),
    |s| {
        format!(
            "poly = {{ c0_ms = {:?}, c1 = {:?}, c2_per_ms = {:?} }}",
            1.0 / s,
            0.2 / s,
            0.01 / s
        )
    },
    |s| {
        let (a, b, c, d) = (2.0 / s, 5.0 / s, 6.1 / s, 11.7 / s);
        format!(
            "grid = {{ lengths_ms = [2.0, 6.0], rows = [[1, [{a:?}, {b:?}]], [8, [{c:?}, {d:?}]]] }}"
        )
    },
];

/// A model of that law on four devices.
fn text(law: &str, time: &str, device: &str, more: &str) -> String {
    format!(
        "[[model]]\nname = \"m\"\nslo_ms = 40.0\npages = 3\nload_ms = 2.0\nlatency = {{ {law} }}\n\
         [[app]]\nname = \"a\"\nmodel = \"m\"\n{time}\n[[device]]\ncount = 4\ncan_preempt = true\n{device}\n\
         [arrivals]\npoisson = {{ rate_per_s = 700.0 }}\nrequests = 1500\n{more}\n"
    )
}

fn setup(text: &str) -> Setup {
    scenario(text).setup(3).unwrap_or_else(|e| panic!("{e}\n{text}"))
}

fn log(setup: &Setup, policy: &str) -> Vec<Record> {
    let policy = PolicySpec::parse(policy).unwrap();
    let run = setup.run_with(&policy, 3, MemoryLog::default());
    run.unwrap_or_else(|e| panic!("{e}")).observer.1.records
}

/// Every policy does the same in both worlds.
fn same_for_all(one: &str, other: &str, case: &str) {
    let (one, other) = (setup(one), setup(other));
    assert_eq!(one.world.latency, other.world.latency, "{case}");
    assert_eq!(one.profiles(3), other.profiles(3), "{case}");
    for table in policies::all() {
        let name = table.about.name;
        assert!(log(&one, name) == log(&other, name), "{case}: {name}");
    }
}

#[test]
fn a_device_of_another_speed_is_one_of_other_laws_for_every_policy() {
    for (i, law) in LAWS.iter().enumerate() {
        for speed in [0.5, 2.0, 3.0] {
            // Without a time, a request alone takes what a batch of one takes.
            let times = ["", "time = { lognormal = { mean_ms = 3.0, sd_ms = 1.0 } }"];
            for time in &times[usize::from(i > 1)..] {
                let fast = text(&law(1.0), time, &format!("speed = {speed:?}"), "");
                let plain = text(&law(speed), time, "", "");
                same_for_all(&fast, &plain, &format!("law {i} at speed {speed}"));
            }
        }
    }
}

#[test]
fn so_it_is_beside_an_autoscaler_memory_noise_and_stalls() {
    for (device, more) in [
        ("", "[autoscale]\nevery_s = 0.2\nstartup_s = 0.1"),
        ("memory_pages = 8", ""),
        ("", "[noise]\nlognormal = 0.2\n[delays]\nreply_ms = 0.5\nfetch_per_request_ms = 0.1"),
        ("", "[stalls]\nlengths_ms = [3.0]\nquiet_per_s = 20.0\nshared = 0.5"),
        ("stages = 2", ""),
    ] {
        let fast = text(&LAWS[0](1.0), "", &format!("speed = 0.5\n{device}"), more);
        let plain = text(&LAWS[0](0.5), "", device, more);
        same_for_all(&fast, &plain, &format!("{device}{more}"));
    }
}

/// The laws of two kinds as their speeds make them, and as they are given.
#[test]
fn kinds_of_several_speeds_are_kinds_of_several_laws() {
    let second = "[[device]]\nkind = \"other\"\ncount = 2\ncan_preempt = true\n";
    let kinds = |of_first: &str, of_second: &str| format!("{of_first}\n{second}{of_second}");
    for base in ["", "base = true"] {
        let speeds =
            text(&LAWS[0](1.0), "", &kinds("speed = 0.5", &format!("speed = 2.0\n{base}")), "");
        let told = text(&LAWS[0](0.5), "", &kinds("", base), "").replace(
            "pages = 3",
            &format!("latency_on = {{ other = {{ {} }} }}\npages = 3", LAWS[0](2.0)),
        );
        let time = "time = { constant = { ms = 1.0 } }";
        let timed =
            |text: &str| text.replace("model = \"m\"\n", &format!("model = \"m\"\n{time}\n"));
        same_for_all(&timed(&speeds), &timed(&told), base);
        // A quarter of the speed of the other, of a law of a quarter of the time.
        let relative =
            text(&LAWS[0](2.0), "", &kinds("speed = 0.25", &format!("speed = 1.0\n{base}")), "");
        same_for_all(&speeds, &relative, base);
    }
}

/// A policy that knows one kind is told the base kind's latencies; one that knows several those of each.
#[test]
fn of_several_kinds_policies_are_told_the_base_kind_s_latencies_or_those_of_each() {
    let alpha = |setup: &Setup| {
        let profile = setup.profiles(1).remove(0);
        let laws = profile.kinds.unwrap().laws;
        let one = |law: &orrery_sim::latency::Latency| law.batch(1, Span::ZERO).as_ms_f64();
        (one(&profile.law), laws.iter().map(one).collect::<Vec<_>>())
    };
    let second = "\n[[device]]\nkind = \"other\"\nspeed = 2.0\ncan_preempt = true\n";
    let two = text(&LAWS[0](1.0), "", &format!("speed = 0.5{second}"), "");
    assert_eq!(alpha(&setup(&two)), (1.5, vec![6.0, 1.5]), "the fastest, without prices");
    let marked = two.replace("speed = 0.5", "speed = 0.5\nbase = true");
    assert_eq!(alpha(&setup(&marked)), (6.0, vec![6.0, 1.5]));
    let believed = two.replace(
        "pages = 3",
        "believed = { affine = { alpha_ms = 4.0, beta_ms = 1.0 } }\npages = 3",
    );
    assert_eq!(
        alpha(&setup(&believed)),
        (5.0, vec![5.0, 5.0]),
        "what is believed is told as it is"
    );
    let on = text(&LAWS[0](1.0), "", "", "").replace(
        "pages = 3",
        "latency_on = { gpu = { affine = { alpha_ms = 7.0, beta_ms = 2.0 } } }\npages = 3",
    );
    assert_eq!(alpha(&setup(&on)), (9.0, vec![9.0]), "one kind with a law of its own");

    let caveats = |text: &str, policy: &str| {
        let scenario: Scenario = scenario(text);
        scenario.caveats(&PolicySpec::parse(policy).unwrap())
    };
    assert_eq!(caveats(&two, "symphony"), ["assumes-one-kind"]);
    for (text, policy) in
        [(&two, "alpaserve"), (&two, "fifo"), (&believed, "symphony"), (&on, "symphony")]
    {
        assert!(caveats(text, policy).is_empty(), "{policy}");
    }
}

/// Lanes that no policy fills would change nothing.
#[test]
fn lanes_are_refused_where_the_policy_runs_one_batch_at_a_time() {
    let lanes = text(&LAWS[0](1.0), "", "lanes = 4", "");
    for table in policies::all() {
        let policy = PolicySpec::parse(table.about.name).unwrap();
        if ["fifo", "timeout"].contains(&table.about.name) {
            setup(&lanes).run(&policy, 1).unwrap();
            continue;
        }
        let error = setup(&lanes).run(&policy, 1).expect_err("it is refused").to_string();
        for part in ["device[0].lanes", "found 4", "one batch at a time", "remove `lanes`"] {
            assert!(error.contains(part), "{part}: {error}");
        }
    }
    let alone = text(&LAWS[0](1.0), "", "sharing = \"processor\"", "");
    let notes = |text: &str| scenario(text).notes().join("\n");
    assert!(notes(&alone).contains("`device.sharing` changes nothing"));
    assert!(!notes(&alone.replace("sharing", "lanes = 2\nsharing")).contains("sharing"));
    let stages = text(&LAWS[0](1.0), "", "stages = 4", "");
    let caveats = |policy: &str| scenario(&stages).caveats(&PolicySpec::parse(policy).unwrap());
    assert_eq!(caveats("fifo"), ["one-stage"]);
    assert!(caveats("alpaserve").is_empty());
    setup(&stages).run(&PolicySpec::parse("fifo").unwrap(), 1).unwrap();
}
