//! Plans asked in one line: what words mean, and that the file that is written is a plan.

use super::Line;
use crate::input::file::PlanFile;
use crate::input::problem::Problem;

fn line(models: &[&str], kinds: &[&str], prices: &[&str]) -> Line {
    let all = |words: &[&str]| words.iter().map(|w| (*w).to_string()).collect();
    Line {
        models: all(models),
        rate_per_s: 4000.0,
        slo: "100ms".to_string(),
        kinds: all(kinds),
        prices: all(prices),
        ..Line::default()
    }
}

fn problem(line: &Line) -> Problem {
    let text = line.text().unwrap_or_else(|e| panic!("{e}"));
    let (plan, source) =
        PlanFile::from_text("asked.toml", &text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    Problem::new(&plan, &source).unwrap_or_else(|e| panic!("{e}\n{text}"))
}

#[test]
fn the_file_asks_what_the_line_asked() {
    let asked = Line {
        survive: Some("1".to_string()),
        policies: vec!["clockwork".to_string()],
        ..line(&["resnet50", "se-resnext"], &["t4", "v100", "a100"], &["t4=0.526"])
    };
    let p = problem(&asked);
    let kinds: Vec<&str> = p.plan.instance.iter().map(|i| i.kind.as_str()).collect();
    // Those of a word that have both models and a price.
    assert_eq!(kinds, ["T4", "V100-16GB", "A100-40GB"]);
    assert_eq!(p.models(), ["resnet50v1.5-mixed", "se-resnext101-32x4d-mixed"]);
    assert!(p.slos_ms().iter().all(|(_, ms)| *ms == 100.0));
    assert_eq!((p.groups[0].load_per_s, p.plan.is_to_survive()), (4000.0, true));
    assert_eq!(p.cost_of_kind(0, 2).as_usd_per_hour(), 1.052);
    // V100s are sold in packs of eight.
    assert_eq!(p.cost_of_kind(1, 1), p.cost_of_kind(1, 8));
    assert_eq!(p.policies[0].text(), "clockwork");
}

#[test]
fn without_kinds_all_that_have_a_price_compete() {
    let p = problem(&line(&["resnet50"], &[], &[]));
    let kinds: Vec<&str> = p.plan.instance.iter().map(|i| i.kind.as_str()).collect();
    // Those that have the model and a price: no price of a T4 is shipped, and an A10 has other models.
    assert_eq!(kinds, ["A100-40GB", "V100-16GB"]);
}

#[test]
fn what_a_word_was_taken_for_is_in_the_file() {
    let text = line(&["resnet50"], &["a100"], &[]).text().unwrap();
    assert!(
        text.contains("# `resnet50` was taken for resnet50v1.5-mixed; it might also be "),
        "{text}"
    );
    let text = line(&["resnet50v1.5-mixed"], &["a100"], &[]).text().unwrap();
    assert!(!text.contains("was taken for"), "a whole name leaves nothing open: {text}");
}

#[test]
fn what_is_wrong_says_what_to_do() {
    let error = |line: Line| line.text().unwrap_err().to_string();
    let h200 = error(line(&["resnet50"], &["h200"], &[]));
    assert!(h200.contains("no measured latencies are shipped"), "{h200}");
    // A word of one zoo and a word of the other are not mixed.
    let mixed = error(line(&["resnet50"], &["l4", "v100"], &["l4=0.8"]));
    assert!(mixed.contains("`v100`") && mixed.contains("L40S"), "{mixed}");
    let l4 = error(line(&["resnet50"], &["l4"], &[]));
    assert!(l4.contains("no price of L4") && l4.contains("--price l4="), "{l4}");
    let lost = |survive: &str| Line {
        survive: Some(survive.to_string()),
        ..line(&["resnet50"], &["a100", "v100"], &[])
    };
    let text = lost("v100").text().unwrap();
    assert!(text.contains("survive = \"V100-16GB\"\n"), "{text}");
    for word in ["t4", "2", ""] {
        let said = error(lost(word));
        assert!(said.contains("--survive") && said.contains("V100-16GB"), "{word}: {said}");
    }
    let lacking = error(line(&["resnet50"], &["a10", "a100"], &[]));
    assert!(lacking.contains("no latencies of resnet50v1.5-mixed on A10"), "{lacking}");
    assert!(lacking.contains("types that have it: A100-40GB, "), "{lacking}");
    let unpriced = error(line(&["resnet50"], &["t4"], &[]));
    assert!(unpriced.contains("--price t4=USD_PER_HOUR"), "{unpriced}");
    assert!(error(line(&["resnt50"], &["a100"], &[])).contains("--model"));
    assert!(error(line(&["resnet50"], &["a100"], &["a100"])).contains("--price t4=0.526"));
    assert!(
        error(Line { slo: "100".into(), ..line(&["resnet50"], &["a100"], &[]) }).contains("--slo")
    );
    assert!(
        error(Line { rate_per_s: 0.0, ..line(&["resnet50"], &["a100"], &[]) }).contains("--rate")
    );
}

/// A model that the usual zoo lacks is looked for in the others; the answer names where its latencies are from.
#[test]
fn a_model_comes_from_the_first_zoo_that_has_it_on_the_types() {
    for kinds in [&[][..], &["h100"]] {
        let p = problem(&line(&["vit"], kinds, &[]));
        let instance = &p.plan.instance[0];
        assert_eq!(
            (instance.kind.as_str(), instance.zoo.as_deref()),
            ("H100-80GB-HBM3", Some("h100-torch"))
        );
        assert_eq!(p.cost_of_kind(0, 1).as_usd_per_hour(), 4.29, "the list has it");
        assert!(crate::document::asked::types(&p).contains("PyTorch 2.11.0+cu130 of 2026-11-28"));
    }
    let p = problem(&line(&["retinanet"], &["h100"], &[]));
    assert_eq!(p.plan.instance[0].zoo.as_deref(), Some("mlperf"));
}

/// Today's GPUs are in a zoo of their own, whose sources the answer names.
#[test]
fn newer_types_have_the_latencies_of_their_own_zoo() {
    let p = problem(&line(&["resnet50"], &["l4", "l40s", "h100"], &["l4=0.8", "l40s=1.5"]));
    let kinds: Vec<&str> = p.plan.instance.iter().map(|i| i.kind.as_str()).collect();
    assert_eq!(kinds, ["L4", "L40S", "H100-PCIe-80GB"]);
    assert!(p.plan.instance.iter().all(|i| i.zoo.as_deref() == Some("mlperf")));
    assert_eq!(p.cost_of_kind(2, 1).as_usd_per_hour(), 3.29, "the list has it");
    let words = crate::document::asked::types(&p);
    for part in
        ["MLPerf Inference v4.1 Lenovo Lenovo_2xL4_TRT of 2024-08", "not verified by MLCommons"]
    {
        assert!(words.contains(part), "no `{part}` in:\n{words}");
    }
}
