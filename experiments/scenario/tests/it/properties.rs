//! Whatever is written in a scenario's file, it is read or refused; it never panics.

use super::base::{NAME, VALID, with_arrivals};
use orrery_scenario::Scenario;
use orrery_scenario::scenario::file::ScenarioFile;
use proptest::prelude::*;

/// Valid texts to be spoiled.
pub fn texts() -> Vec<String> {
    let arrivals = [
        "mmpp = { rates_per_s = [300, 900], mean_sojourns_s = [2, 0.5], \
         next = \"uniform\" }\nrequests = 99",
        "gamma = { rate_per_s = 40, shape = 0.5 }\nduration_s = 5",
        "llm = { file = \"azure-llm2023-code\", base_ms = 1, per_context_ms = 0.1, \
         per_generated_ms = 1 }\nrequests = 50",
        "trace = { file = \"azure2019-f500\", first_minute = 500, minutes = 2, rate_factor = 0.5, \
         functions = \"ranks:1-3\", compress = 60, per_function = true }",
        "workload = { file = \"w.csv\", from_row = 3, to_row = 8 }",
    ];
    let mut texts: Vec<String> = arrivals.iter().map(|a| with_arrivals(a)).collect();
    texts.push(VALID.to_string());
    texts.push(cluster());
    texts
}

/// The base with zoos, copies, popularity and laws of delays.
fn cluster() -> String {
    let zoos = "[[zoo]]\nname = \"symphony-1080ti\"\nselect = \"strong\"\ncopies = 2\n\
                [[zoo]]\nname = \"nvidia\"\ngpu = \"T4\"\nmodels = [\"SSD-fp16\"]\nslo_ms = 400\n";
    let popularity = "popularity = { zipf = 0.9 }\npopularity_seed = 4\n";
    let text =
        with_arrivals("gamma = { rate_per_s = 900, shape = 0.1 }\nper_app = true\nrequests = 9");
    let text = text.replace("slo_ms = 100.0", "slo_ms = 100.0\ncopies = 3");
    let laws = "dispatch = { lognormal = { median_ms = 0.5, p9999_ms = 6.0 } }\n\
                result = { constant = { ms = 0.1 } }\n\
                reply = { uniform = { low_ms = 0.1, high_ms = 0.3 } }";
    let text = text.replace("dispatch_ms = 0.1", laws);
    format!(
        "{popularity}{}",
        text.replace("[[device]]\nkind = \"v100\"", &format!("{zoos}[[device]]\nkind = \"v100\""))
    )
}

#[test]
fn the_texts_are_valid() {
    for text in texts().iter().filter(|t| !t.contains("w.csv")) {
        let scenario = Scenario::from_text(NAME, text).unwrap_or_else(|e| panic!("{e}"));
        scenario.setup(1).unwrap_or_else(|e| panic!("{e}"));
    }
}

/// What a number is replaced by.
const NUMBERS: [&str; 14] = [
    "0",
    "-1",
    "1",
    "nan",
    "inf",
    "-inf",
    "1e300",
    "-1e-300",
    "1e-12",
    "4294967295",
    "9223372036854775807",
    "true",
    "\"x\"",
    "[]",
];

/// What a word is replaced by.
const WORDS: [&str; 10] =
    ["", "nothing", "\u{0}", "é", "fifo", "slo_ms", "table", "proportional", "inf", "../../.."];

#[derive(Clone, Debug)]
enum Change {
    Number(prop::sample::Index, &'static str),
    Word(prop::sample::Index, &'static str),
    DropLine(prop::sample::Index),
    RepeatLine(prop::sample::Index, prop::sample::Index),
    Insert(prop::sample::Index, String),
    Cut(prop::sample::Index),
}

fn change() -> impl Strategy<Value = Change> {
    use prop::sample::{Index, select};
    prop_oneof![
        6 => (any::<Index>(), select(&NUMBERS[..])).prop_map(|(i, n)| Change::Number(i, n)),
        3 => (any::<Index>(), select(&WORDS[..])).prop_map(|(i, w)| Change::Word(i, w)),
        2 => any::<Index>().prop_map(Change::DropLine),
        2 => (any::<Index>(), any::<Index>()).prop_map(|(i, j)| Change::RepeatLine(i, j)),
        1 => (any::<Index>(), "\\PC{0,4}").prop_map(|(i, s)| Change::Insert(i, s)),
        1 => any::<Index>().prop_map(Change::Cut),
    ]
}

/// The places of maximal runs of characters that satisfy `of`, and begin with `first`.
fn runs(text: &str, first: fn(char) -> bool, of: fn(char) -> bool) -> Vec<(usize, usize)> {
    let (mut runs, mut from, mut before) = (Vec::new(), None, ' ');
    for (at, c) in text.char_indices() {
        match from {
            None if first(c) && !of(before) => from = Some(at),
            Some(start) if !of(c) => {
                runs.push((start, at));
                from = None;
            }
            _ => {}
        }
        before = c;
    }
    runs
}

fn apply(text: String, change: &Change) -> String {
    if text.is_empty() {
        return text;
    }
    let lines: Vec<&str> = text.lines().collect();
    let wordy = |c: char| c.is_ascii_alphanumeric() || "_-.".contains(c);
    match change {
        Change::Number(i, new) | Change::Word(i, new) => {
            let number = matches!(change, Change::Number(..));
            let first = if number {
                |c: char| c.is_ascii_digit()
            } else {
                |c: char| c.is_ascii_alphabetic()
            };
            let places = runs(&text, first, wordy);
            if places.is_empty() {
                return text;
            }
            let (from, to) = places[i.index(places.len())];
            format!("{}{new}{}", &text[..from], &text[to..])
        }
        Change::DropLine(i) if !lines.is_empty() => {
            let dropped = i.index(lines.len());
            let kept = lines.iter().enumerate().filter(|(n, _)| *n != dropped);
            kept.map(|(_, l)| format!("{l}\n")).collect()
        }
        Change::RepeatLine(i, j) if !lines.is_empty() => {
            let mut all = lines.clone();
            all.insert(j.index(lines.len()), lines[i.index(lines.len())]);
            all.iter().map(|l| format!("{l}\n")).collect()
        }
        Change::Insert(i, s) => {
            let places: Vec<usize> = text.char_indices().map(|c| c.0).collect();
            let at = places[i.index(places.len())];
            format!("{}{s}{}", &text[..at], &text[at..])
        }
        Change::Cut(i) => text.chars().take(i.index(text.chars().count())).collect(),
        _ => text,
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 600, failure_persistence: None, ..ProptestConfig::default()
    })]

    #[test]
    fn a_spoilt_file_is_read_or_refused_by_name(
        which in any::<prop::sample::Index>(),
        changes in prop::collection::vec(change(), 1..5),
    ) {
        let texts = texts();
        let text = changes.iter().fold(texts[which.index(texts.len())].clone(), apply);
        let result = Scenario::from_text(NAME, &text).and_then(|s| {
            s.policies()?;
            s.setup(1).map(|_| ())
        });
        if let Err(error) = result {
            let message = error.to_string();
            prop_assert!(message.starts_with(NAME), "{}", message);
            prop_assert!(message.contains("\n  remedy: "), "{}", message);
        }
    }

    #[test]
    fn a_file_that_is_read_is_the_same_when_it_is_written_and_read_again(
        which in any::<prop::sample::Index>(),
        changes in prop::collection::vec(change(), 0..2),
    ) {
        let texts = texts();
        let text = changes.iter().fold(texts[which.index(texts.len())].clone(), apply);
        if let Ok(file) = toml::from_str::<ScenarioFile>(&text) {
            let written = toml::to_string(&file).unwrap();
            let again: ScenarioFile = toml::from_str(&written).unwrap();
            // As text: NaN is not equal to itself.
            prop_assert_eq!(format!("{again:?}"), format!("{file:?}"), "{}", written);
        }
    }
}

#[test]
fn the_defaults_are_what_the_reference_says() {
    let text = "policies = [\"fifo\"]\n[[model]]\nname = \"m\"\nslo_ms = 9\n\
                latency = { proportional = { c1 = 1 } }\n[[app]]\nname = \"a\"\nmodel = \"m\"\n\
                time = { constant = { ms = 1 } }\n[arrivals]\nconstant = { rate_per_s = 1 }\n\
                requests = 3\n";
    let scenario = Scenario::from_text("x/my run.toml", text).unwrap();
    assert_eq!((scenario.name.as_str(), scenario.seed), ("my-run", 1));
    let setup = scenario.setup(1).unwrap();
    assert_eq!(setup.world.core.devices, [Default::default()]);
    assert_eq!((setup.profile.batches, setup.profile.bins), (500, 64));
    assert_eq!(setup.profile.sizes, [1, 2, 4, 8, 16]);
    assert_eq!(setup.apps[0].slo, orrery_sim::time::Span::from_ms(9));
    let written = toml::to_string(&scenario.file).unwrap();
    let again: ScenarioFile = toml::from_str(&written).unwrap();
    assert_eq!(again, scenario.file);
}
