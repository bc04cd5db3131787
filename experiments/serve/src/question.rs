//! A question: what an address asks of the scenario.

use super::controls::{
    BATCH_MAX, Controls, LOAD, POPULARITY, REQUESTS, SEEDS, SEEDS_MAX, has_batch_max,
};
use orrery_results::PolicyText;
use orrery_run::{PolicySpec, SpecError};
use orrery_scenario::scenario::Scenario;
use toml::Value;

/// More policies than that are no comparison.
const POLICIES_MAX: usize = 12;

/// A scenario, changed, and what to run on it.
pub struct Question {
    /// The scenario, with its policies: what the page offers as a file.
    pub scenario: Scenario,
    /// The policies.
    pub policies: Vec<PolicySpec>,
    /// What the page calls them: without the largest batch that it sets for all.
    pub named: Vec<String>,
    /// Seeds of the sharpest answer.
    pub seeds: u32,
    /// Requests of the whole run, where they are counted.
    pub requests: Option<u64>,
}

/// As the file's key has it.
fn popularity(zipf: f64) -> Value {
    if zipf == 0.0 {
        return Value::String("equal".to_string());
    }
    Value::Table([("zipf".to_string(), Value::Float(zipf))].into_iter().collect())
}

/// A policy with that largest batch, if it has one at all.
fn limited(text: &str, batch_max: Option<u32>) -> String {
    let Some(n) = batch_max.filter(|_| has_batch_max(text)) else { return text.to_string() };
    PolicyText::new(text).with(BATCH_MAX, &n.to_string())
}

fn decimal(x: f64, whole: bool) -> Value {
    if whole { Value::Integer(x as i64) } else { Value::Float(x) }
}

/// A key that is not on the page.
fn unknown(controls: &Controls, key: &str, back: &str) -> SpecError {
    let keys: Vec<&str> = controls.numbers.iter().map(|c| c.key.as_str()).collect();
    let allowed = format!("`{}`, `policy`, `seeds`", keys.join("`, `"));
    SpecError::value("question", format!("`{key}`"), allowed, back)
}

impl Question {
    /// From the pairs of an address: keys of the scenario with numbers, `policy` any number of times, `seeds`.
    ///
    /// # Errors
    /// When a key is not on the page, a number is beyond its bounds, or the scenario cannot be so.
    pub fn of(scenario: &Scenario, pairs: &[(String, String)]) -> Result<Question, SpecError> {
        let controls = Controls::of(scenario)?;
        let (mut load, mut set, mut named, mut seeds) = (None, Vec::new(), Vec::new(), SEEDS);
        let mut batch_max = None;
        let back = "use the page's sliders, or go back to the file's values";
        for (key, text) in pairs {
            match key.as_str() {
                // Who asks, and of which text.
                "token" | "client" | "file" | "figure" => {}
                "policy" => named.push(text.clone()),
                "seeds" => {
                    let number = text.parse().ok().filter(|n| (1..=SEEDS_MAX).contains(n));
                    let allowed = format!("1 to {SEEDS_MAX}");
                    seeds = number.ok_or_else(|| {
                        SpecError::value("seeds", format!("`{text}`"), allowed, back)
                    })?;
                }
                key => {
                    let control = controls.numbers.iter().find(|c| c.key == key);
                    let control = control.ok_or_else(|| unknown(&controls, key, back))?;
                    let x = control.number(text, back)?;
                    if key == LOAD {
                        load = Some(x);
                    } else if key == BATCH_MAX {
                        batch_max = Some(x as u32).filter(|n| *n > 0);
                    } else if key == POPULARITY {
                        set.push(("popularity".to_string(), popularity(x)));
                    } else {
                        set.push((key.to_string(), decimal(x, control.whole)));
                    }
                }
            }
        }
        let usual = controls.numbers.iter().find(|c| c.key == REQUESTS);
        if let Some(usual) = usual
            && !set.iter().any(|(key, _)| key == REQUESTS)
        {
            set.push((REQUESTS.to_string(), decimal(usual.value, true)));
        }
        if named.is_empty() {
            named.clone_from(&controls.policies);
        }
        if named.is_empty() || named.len() > POLICIES_MAX {
            let allowed = format!("1 to {POLICIES_MAX} policies");
            return Err(SpecError::value("policy", named.len(), allowed, "choose some of them"));
        }
        let texts: Vec<String> = named.iter().map(|name| limited(name, batch_max)).collect();
        if let Some(i) = (0..texts.len()).find(|i| texts[..*i].contains(&texts[*i])) {
            let found = format!("`{}` twice", texts[i]);
            let remedy = "leave one of them out, or set the largest batch to 0";
            return Err(SpecError::value("policy", found, "each policy once", remedy));
        }
        let list = texts.into_iter().map(Value::String).collect();
        set.push(("policies".to_string(), Value::Array(list)));
        let mut changed = scenario.with(&set)?;
        if let Some(load) = load {
            changed = changed.with_rate(load)?;
        }
        let requests = changed.file.arrivals.as_ref().and_then(|a| a.requests);
        let policies = changed.policies()?;
        Ok(Question { scenario: changed, policies, named, seeds, requests })
    }

    /// The same with no more than so many requests.
    ///
    /// # Errors
    /// When the scenario cannot be so.
    pub fn short(&self, requests: u64) -> Result<Scenario, SpecError> {
        self.scenario.with(&[(REQUESTS.to_string(), Value::Integer(requests as i64))])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "
        policies = ['fifo', 'orloj']
        [[model]]
        name = 'm'
        slo_ms = 50.0
        latency = { affine = { alpha_ms = 1.0, beta_ms = 5.0 } }
        [[app]]
        name = 'a'
        model = 'm'
        [arrivals]
        gamma = { rate_per_s = 100.0, shape = 0.25 }
        requests = 100000
    ";

    fn ask(pairs: &[(&str, &str)]) -> Result<Question, SpecError> {
        let scenario = Scenario::from_text("t.toml", TEXT).expect("a scenario");
        let pairs: Vec<(String, String)> =
            pairs.iter().map(|(k, v)| (k.to_string(), v.to_string())).collect();
        Question::of(&scenario, &pairs)
    }

    #[test]
    fn an_address_changes_the_scenario_as_a_sweep_does() {
        let q = ask(&[("load", "250"), ("model.m.slo_ms", "80"), ("device[0].count", "3")])
            .expect("a question");
        assert_eq!(q.scenario.rate().expect("a rate"), 250.0);
        assert_eq!((q.scenario.file.model[0].slo_ms, q.scenario.file.device[0].count), (80.0, 3));
        assert_eq!((q.requests, q.seeds, q.policies.len()), (Some(20_000), 5, 2));
        let q = ask(&[("policy", "clockwork[max_batch=4]"), ("seeds", "1")]).expect("a question");
        assert_eq!((q.policies[0].text(), q.seeds), ("clockwork[max_batch=4]", 1));
        assert_eq!(q.scenario.file.policies, ["clockwork[max_batch=4]"]);
    }

    #[test]
    fn one_largest_batch_is_that_of_all_policies_that_have_one() {
        let q = ask(&[("max_batch", "4"), ("policy", "fifo"), ("policy", "timeout[max_batch=9]")])
            .expect("a question");
        let texts: Vec<&str> = q.policies.iter().map(|p| p.text()).collect();
        assert_eq!(texts, ["fifo[max_batch=4]", "timeout[max_batch=4]"]);
        assert_eq!(q.named, ["fifo", "timeout[max_batch=9]"]);
        let own = ask(&[("max_batch", "0"), ("policy", "timeout[max_batch=9]")]).expect("one");
        assert_eq!(own.policies[0].text(), "timeout[max_batch=9]");
        let twice = ask(&[("max_batch", "4"), ("policy", "fifo"), ("policy", "fifo[max_batch=2]")]);
        let error = twice.err().expect("refused").to_string();
        assert!(error.contains("`fifo[max_batch=4]` twice"), "{error}");
    }

    #[test]
    fn popularity_is_the_file_s_until_it_is_moved() {
        let two = TEXT.replace("[arrivals]", "[[app]]\nname = 'b'\nmodel = 'm'\n[arrivals]");
        let weights = |text: &str, pairs: &[(String, String)]| -> Vec<f64> {
            let scenario = Scenario::from_text("t.toml", text).expect("a scenario");
            let q = Question::of(&scenario, pairs).expect("a question");
            q.scenario.file.app.iter().map(|a| a.weight).collect()
        };
        let zipf = |x: &str| [("popularity.zipf".to_string(), x.to_string())];
        assert_eq!(weights(&two, &zipf("1")), [1.0, 0.5]);
        let steep = two.replace("policies", "popularity = { zipf = 2.0 }\n        policies");
        assert_eq!(weights(&steep, &[]), [1.0, 0.25]);
        assert_eq!(weights(&steep, &zipf("0")), [1.0, 1.0]);
    }

    #[test]
    fn what_is_not_on_the_page_is_refused_with_what_is() {
        for (pair, words) in [
            (("load", "1e9"), "from 10 to 1000"),
            (("load", "nan"), "a number from"),
            (("device[0].count", "1.5"), "a whole number from 1 to 10"),
            (("arrivals.requests", "100000000"), "to 200000"),
            (("model.m.latency", "1"), "`model.m.slo_ms`"),
            (("arrivals.trace.file", "/etc/passwd"), "`load`"),
            (("policy", "orlj"), "did you mean `orloj`"),
            (("seeds", "0"), "1 to 20"),
        ] {
            let error = ask(&[pair]).err().expect("refused").to_string();
            assert!(error.contains(words) && error.contains("remedy"), "{pair:?}: {error}");
        }
    }
}
