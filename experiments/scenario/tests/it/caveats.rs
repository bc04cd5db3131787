//! What a reader must know of a world beside a policy: the assumptions of its paper that the scenario breaks.

use orrery_run::PolicySpec;
use orrery_scenario::Scenario;

/// A world as the papers have it: latencies that follow from the size, one model.
const PLAIN: &str = r#"
[[model]]
name = "m"
slo_ms = 50.0
latency = { affine = { alpha_ms = 1.0, beta_ms = 5.0 } }

[[app]]
name = "a"
model = "m"
time = { normal = { mean_ms = 5.0, sd_ms = 1.0 } }

[arrivals]
poisson = { rate_per_s = 100.0 }
requests = 100
"#;

const LATENCY: &str = "{ affine = { alpha_ms = 1.0, beta_ms = 5.0 } }";
const TIMES: &str = "assumes-known-times";

fn caveats(text: &str, policy: &str) -> Vec<&'static str> {
    let scenario = Scenario::from_text("a.toml", text).unwrap_or_else(|e| panic!("{e}"));
    scenario.caveats(&PolicySpec::parse(policy).unwrap())
}

#[test]
fn a_policy_says_which_assumption_of_its_paper_does_not_hold() {
    assert!(caveats(PLAIN, "symphony").is_empty(), "its latency does not depend on the requests");
    let of_request = PLAIN.replace(LATENCY, "{ proportional = { c1 = 0.4 } }");
    assert_eq!(caveats(&of_request, "symphony"), [TIMES]);
    assert_eq!(caveats(&of_request, "nexus[batch=4]"), [TIMES]);
    for free in ["orloj", "fifo", "clipper", "timeout", "oracle"] {
        assert!(caveats(&of_request, free).is_empty(), "{free}");
    }
    let other = "[[model]]\nname = \"n\"\nslo_ms = 50.0\nlatency = { affine = { alpha_ms = 1.0, beta_ms = 5.0 } }\n";
    let two = format!("{other}[[app]]\nname = \"b\"\nmodel = \"n\"\n{PLAIN}");
    assert_eq!(caveats(&two, "nexus"), ["assumes-one-model"]);
    assert!(caveats(&two, "nexus-cluster").is_empty());
}

#[test]
fn what_changes_nothing_is_said() {
    let small = PLAIN.replace(LATENCY, &format!("{LATENCY}\npages = 2\nload_ms = 1.0"));
    let memory = format!("{small}[[device]]\nmemory_pages = 4\n");
    assert_eq!(caveats(&memory, "fifo"), ["loads-nothing"]);
    assert!(!caveats(&memory, "clockwork").contains(&"loads-nothing"));
    let notes = |text: &str| Scenario::from_text("a.toml", text).unwrap().notes();
    assert_eq!(notes(&memory), [""; 0]);
    let why = "no device has `memory_pages`";
    let both = format!("a.toml: `model.load_ms`, `model.pages` change nothing: {why}");
    assert_eq!(notes(&small), [both]);
    let measured =
        |policy: &str| format!("policies = [\"{policy}\"]\n{PLAIN}[profiler]\nevery = 10\n");
    assert!(notes(&measured("fifo"))[0].contains("`profiler` changes nothing"));
    assert_eq!(notes(&measured("orloj[relearn_every=500]")), [""; 0]);
}

/// Whatever the distribution: where the mean of its draws is not the one that the file asks for, it is said.
#[test]
fn a_distribution_that_is_cut_off_says_so_wherever_its_mean_is_not_as_asked() {
    let of_request = PLAIN.replace(LATENCY, "{ proportional = { c1 = 0.4 } }");
    let (mut cut, mut whole) = (0, 0);
    for mean_ms in [0.001, 0.01, 1.0, 20.0] {
        for sd_ms in [0.0, 0.0002, 0.1, 0.3, 1.0, 10.0] {
            for law in ["normal", "lognormal", "modes"] {
                let time = match law {
                    "modes" => format!("{{ modes = [[1.0, {mean_ms:?}, {sd_ms:?}]] }}"),
                    law => format!("{{ {law} = {{ mean_ms = {mean_ms:?}, sd_ms = {sd_ms:?} }} }}"),
                };
                let own = "{ normal = { mean_ms = 5.0, sd_ms = 1.0 } }";
                let text = of_request.replace(own, &time);
                let scenario = Scenario::from_text("a.toml", &text).unwrap();
                let mean_ns = scenario.setup(1).unwrap().apps[0].law.mean_ns();
                let is_as_asked = (mean_ns / (mean_ms * 1e6) - 1.0).abs() < 0.01;
                let says = caveats(&text, "fifo").contains(&"clamped-times");
                assert!(says || is_as_asked, "{time}: {mean_ns} ns, and nothing is said");
                (cut, whole) = (cut + u32::from(says), whole + u32::from(!says));
            }
        }
    }
    assert!(cut > 10 && whole > 10, "{cut} {whole}");
    let of_size = of_request.replace("{ proportional = { c1 = 0.4 } }", LATENCY);
    let unused = of_size.replace("sd_ms = 1.0", "sd_ms = 90.0");
    assert!(caveats(&unused, "fifo").is_empty(), "no latency depends on it");
}

#[test]
fn times_vary_by_noise_stalls_samples_and_by_what_requests_ask_for() {
    let with = |more: &str| format!("{PLAIN}{more}");
    let latency = |law: &str| PLAIN.replace(LATENCY, law);
    let alone = |law: &str| {
        let time = "{ normal = { mean_ms = 5.0, sd_ms = 1.0 } }";
        latency("{ proportional = { c1 = 0.4 } }").replace(time, law)
    };
    for (text, vary) in [
        (with("[noise]\nuniform = 0.05\n"), true),
        (with("[stalls]\nlengths_ms = [5.0]\nquiet_per_s = 1.0\nquiet_s = 10.0\n"), true),
        (PLAIN.replace(LATENCY, &format!("{LATENCY}\nnoise = {{ sigma = 0.1 }}")), true),
        (PLAIN.replace(LATENCY, &format!("{LATENCY}\nnoise = {{ sigma = 0.0 }}")), false),
        (latency("{ table = [[1, 5.0], [2, 6.0]] }"), false),
        (latency("{ measured = [[1, [5.0, 6.0]], [2, [6.0, 7.0]]] }"), true),
        (latency("{ measured = [[1, [5.0]], [2, [6.0]]] }"), false),
        (alone("{ constant = { ms = 5.0 } }"), false),
        (alone("{ two_group = { mean_ms = 5.0, p99_ms = 20.0 } }"), true),
        (alone("{ constant = { ms = 5.0 } }\nchanges = [{ at_s = 1.0, time_factor = 2.0 }]"), true),
        (
            format!(
                "[[app]]\nname = \"b\"\nmodel = \"m\"\ntime = {{ constant = {{ ms = 9.0 }} }}\n{}",
                alone("{ constant = { ms = 5.0 } }")
            ),
            true,
        ),
    ] {
        let expected = if vary { vec![TIMES] } else { vec![] };
        assert_eq!(caveats(&text, "symphony"), expected, "{text}");
    }
}

#[test]
fn prompts_say_that_they_run_as_padded_batches() {
    let law = "poisson = { rate_per_s = 100.0 }";
    let llm = "llm = { file = \"azure-llm2023-code\", base_ms = 1.0, per_context_ms = 0.1, per_generated_ms = 1.0 }";
    let prompts = PLAIN.replace(law, llm).replace(LATENCY, "{ proportional = { c1 = 0.1 } }");
    assert_eq!(caveats(&prompts, "fifo"), ["padded-batches"]);
    assert_eq!(caveats(&prompts, "symphony"), ["padded-batches", TIMES]);
}

/// A plan for equal rates beside a load by Zipf sustained a fifth of what the right plan does, and nothing said so.
#[test]
fn a_plan_for_other_shares_of_the_load_says_so() {
    let copies = PLAIN.replace("name = \"m\"\nslo", "name = \"m\"\ncopies = 20\nslo");
    let zipf = format!("popularity = {{ zipf = 0.9 }}\n{copies}");
    let says = |text: &str, policy: &str| caveats(text, policy) == ["planned-for-other-shares"];
    for (skew, by_equal, by_zipf) in [(0.0, false, true), (0.9, true, false)] {
        let policy = format!("nexus-cluster[plan=static,skew={skew}]");
        assert_eq!([says(&copies, &policy), says(&zipf, &policy)], [by_equal, by_zipf], "{policy}");
    }
    assert!(caveats(&zipf, "nexus-cluster").is_empty(), "it plans from measured rates");
}
