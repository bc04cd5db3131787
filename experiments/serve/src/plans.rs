//! A plan behind the page: what can be changed is what `orrery plan --what-if` changes, and an answer is a job.
//!
//! The plan as it is written is answered once for each text of its file, each what-if once.

use super::controls::{Control, Menu, REACH, SLIDERS_MAX, around, count};
use super::file::File;
use orrery_plan::{Answers, PlanFile, Problem, Solved, Source, Survive, Watcher, changed};
use orrery_plan::{figure_of, page_of, solve};
use orrery_report::page::Field;
use orrery_run::SpecError;
use orrery_run::limits::COUNT_MAX;
use orrery_sweep::hash::spec_sha256;
use serde::Serialize;
use std::collections::BTreeMap;
use std::sync::Mutex;

/// Answers that are kept; with more the oldest questions are asked anew.
const KEPT: usize = 100;
/// The key of how devices are paid for.
const BUY: &str = "buy";

/// All that the page of a plan offers.
#[derive(Clone, Debug, Serialize)]
pub struct PlanControls {
    /// The plan's name.
    pub name: String,
    /// What is asked, in a sentence.
    pub asked: String,
    /// Its text's hash: a question of another text is refused.
    pub file_sha256: String,
    /// Numbers.
    pub numbers: Vec<Control>,
    /// Choices.
    pub choices: Vec<Menu>,
    /// Seeds of each verification.
    pub seeds: u32,
    /// For the script: which page it is.
    pub is_plan: bool,
}

/// A plan's file as it is now.
pub struct Plan {
    file: PlanFile,
    source: Source,
    problem: Problem,
}

impl Plan {
    /// Checks its text.
    ///
    /// # Errors
    /// As `orrery plan`.
    pub fn of(file: &File) -> Result<Plan, SpecError> {
        let (mut file, source) = PlanFile::from_text(&file.path, &file.text)?;
        // Answers come soon: what they stand on is another question, as the command beside them says.
        file.robust = Some(Vec::new());
        let problem = Problem::new(&file, &source)?;
        Ok(Plan { file, source, problem })
    }

    /// Its text's hash.
    pub fn sha256(&self) -> String {
        spec_sha256(&[&self.source.text])
    }

    /// What can be changed.
    pub fn controls(&self) -> PlanControls {
        let plan = &self.file;
        let mut numbers = self.assumptions();
        for (model, slo_ms) in self.problem.slos_ms().into_iter().take(SLIDERS_MAX) {
            if is_plain(&model) {
                let key = format!("slo:{model}");
                numbers.push(around(&key, &format!("SLO of {model}"), "ms", slo_ms));
            }
        }
        let bad = around("bad_rate", "SLO violations allowed, share", "", plan.target());
        numbers.push(Control { min: 1e-4, max: 0.5, ..bad });
        if let Some(budget) = plan.budget_usd_per_hour {
            numbers.push(around("budget", "budget", "$/h", budget));
        }
        let kinds = plan.instance.iter().enumerate().take(SLIDERS_MAX);
        let kinds = kinds.filter(|(_, t)| is_plain(&t.kind));
        for (i, t) in kinds.clone() {
            // Of one of its largest pack: a what-if gives one price to all.
            let pack = self.problem.sales[i].tariff.packs().iter().map(|p| p.devices).max();
            let pack = pack.unwrap_or(1);
            let usd = self.problem.cost_of_kind(i, pack).as_usd_per_hour() / f64::from(pack);
            let usd = (usd * 1e6).round() / 1e6;
            if usd > 0.0 {
                let (key, label) = (format!("price:{}", t.kind), format!("price of {}", t.kind));
                numbers.push(around(&key, &label, "$/h", usd));
            }
        }
        for (i, t) in kinds {
            let now = f64::from(t.count_max.unwrap_or(self.problem.counts_max[i]));
            let most = (now * REACH).clamp(1.0, f64::from(COUNT_MAX));
            let (key, label) = (format!("limit:{}", t.kind), format!("most of {}", t.kind));
            numbers.push(Control { zero: "none", ..count(&key, &label, (now, 0.0, most)) });
        }
        PlanControls {
            name: plan.name().to_string(),
            asked: self.problem.question(),
            file_sha256: self.sha256(),
            numbers,
            choices: self.choices(),
            seeds: plan.seeds,
            is_plan: true,
        }
    }

    /// What is assumed of all models together.
    fn assumptions(&self) -> Vec<Control> {
        let around = |key, label| around(key, label, "", 1.0);
        let from_none = |key, label, unit, max| {
            let none = count(key, label, (0.0, 0.0, max));
            Control { unit, whole: false, zero: "as in the plan", ..none }
        };
        vec![
            around("load", "load, times the plan's"),
            around("slo", "all SLOs, times the plan's"),
            around("latency", "execution times, times the plan's"),
            from_none("noise", "execution times vary by, as a share", "", 0.5),
            from_none("delay", "messages take longer, each way", "ms", 100.0),
        ]
    }

    fn choices(&self) -> Vec<Menu> {
        let plan = &self.file;
        let mut choices = Vec::new();
        if plan.goal.is_some() {
            let (key, label) =
                ("survive".to_string(), "machines whose loss is tolerated".to_string());
            let kinds =
                plan.instance.iter().filter(|t| is_plain(&t.kind) && t.count_max != Some(0));
            let kinds = kinds.take(SLIDERS_MAX).map(|t| t.kind.clone());
            let mut values: Vec<String> =
                ["0", "1"].map(str::to_string).into_iter().chain(kinds).collect();
            let value = match &plan.survive {
                None => "0".to_string(),
                Some(Survive::Any(n)) => n.to_string(),
                Some(Survive::Kind(kind)) => kind.clone(),
            };
            // Without it the page would show another than the file's.
            if !values.contains(&value) {
                values.push(value.clone());
            }
            choices.push(Menu { key, label, value, values });
        }
        let Some(list) = &plan.list else { return choices };
        let menu = |key: String, label: String, now: &str| {
            let values = ["on-demand", "reserved", "spot"].map(str::to_string).to_vec();
            Menu { key, label, value: now.to_string(), values }
        };
        let label = format!("devices are paid for ({list})");
        choices.push(menu(BUY.to_string(), label, plan.buy.name()));
        for t in plan.instance.iter().take(SLIDERS_MAX).filter(|t| is_plain(&t.kind)) {
            if t.price_usd_per_hour.is_none() {
                let (key, label) = (format!("buy:{}", t.kind), format!("{} is paid for", t.kind));
                choices.push(menu(key, label, t.buy.unwrap_or(plan.buy).name()));
            }
        }
        choices
    }

    /// The what-if that the pairs of an address ask; none where they ask for the plan as it is.
    ///
    /// # Errors
    /// When a key is not on the page, or a number is beyond its bounds.
    pub fn what_if(&self, pairs: &[(String, String)]) -> Result<Option<String>, SpecError> {
        let controls = self.controls();
        let back = "use the page's sliders, or go back to the file's values";
        let mut parts = Vec::new();
        for (key, text) in pairs {
            if ["token", "client", "file", "figure"].contains(&key.as_str()) {
                continue;
            }
            if let Some(choice) = controls.choices.iter().find(|c| c.key == *key) {
                if !choice.values.contains(text) {
                    let allowed = choice.values.join(", ");
                    return Err(SpecError::value(key, format!("`{text}`"), allowed, back));
                }
                // The file's own is no question.
                parts.extend((*text != choice.value).then(|| format!("{key}={text}")));
                continue;
            }
            let Some(control) = controls.numbers.iter().find(|c| c.key == *key) else {
                let keys: Vec<&str> = (controls.choices.iter().map(|c| c.key.as_str()))
                    .chain(controls.numbers.iter().map(|c| c.key.as_str()))
                    .collect();
                let allowed = format!("`{}`", keys.join("`, `"));
                return Err(SpecError::value("question", format!("`{key}`"), allowed, back));
            };
            let x = control.number(text, back)?;
            match key.as_str() {
                // None is what the plan has.
                "noise" | "delay" if x == 0.0 => {}
                "slo" => parts.push(format!("slo={}%", (x * 1e4).round() / 1e2)),
                "delay" => parts.push(format!("delay={x}ms")),
                _ if key.starts_with("slo:") => parts.push(format!("{key}={x}ms")),
                _ => parts.push(format!("{key}={x}")),
            }
        }
        Ok((!parts.is_empty()).then(|| parts.join(",")))
    }
}

/// Names that a what-if can name.
fn is_plain(name: &str) -> bool {
    !name.contains([',', '=', ':'])
}

/// Answers that were given.
#[derive(Default)]
pub struct Plans {
    known: Mutex<BTreeMap<(String, Option<String>), Solved>>,
}

/// What a page shows of an answer.
#[derive(Clone, Debug, Serialize)]
pub struct Shown {
    /// The names of the columns.
    pub head: Vec<String>,
    /// The plan as it is, and changed.
    pub rows: Vec<Vec<String>>,
    /// The report: the bytes that the command prints.
    pub text: String,
    /// The command.
    pub command: String,
    /// Whether a what-if is still being answered.
    pub is_whole: bool,
}

impl Plans {
    /// Answers the plan as it is, then what is asked of it. `tell` is given what there is, twice if something is
    /// changed. False when it was told to end.
    ///
    /// # Errors
    /// As `orrery plan`.
    pub fn answer(
        &self,
        plan: &Plan,
        what_if: Option<&str>,
        watcher: &Watcher,
        tell: impl Fn(&Shown),
    ) -> Result<(), SpecError> {
        let first = self.solved(plan, None, watcher)?;
        let Some(text) = what_if else {
            tell(&shown(plan, first, None, true)?);
            return Ok(());
        };
        tell(&shown(plan, first.clone(), None, false)?);
        let changed = self.solved(plan, Some(text), watcher)?;
        tell(&shown(plan, first, Some(changed), true)?);
        Ok(())
    }

    /// The figure of the plan as it is or changed; none before that is answered.
    pub fn figure(&self, plan: &Plan, what_if: Option<String>) -> Option<String> {
        let known = self.known.lock().ok()?;
        figure_of(known.get(&(plan.sha256(), what_if))?).ok().map(|figure| figure.to_svg())
    }

    /// The page of `orrery plan --html`; none before the question is answered.
    pub fn report(&self, plan: &Plan, what_if: Option<String>) -> Option<String> {
        let known = self.known.lock().ok()?;
        let of = |what_if: Option<String>| known.get(&(plan.sha256(), what_if)).cloned();
        let first = of(None)?;
        let changed = match what_if {
            Some(text) => vec![of(Some(text))?],
            None => Vec::new(),
        };
        let option = what_if_option(changed.first());
        let command = format!("orrery plan {}{option} --exact", plan.source.path);
        Some(page_of(&Answers::of(first, changed).ok()?, command))
    }

    fn solved(
        &self,
        plan: &Plan,
        what_if: Option<&str>,
        watcher: &Watcher,
    ) -> Result<Solved, SpecError> {
        let key = (plan.sha256(), what_if.map(str::to_string));
        let known = || self.known.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if let Some(solved) = known().get(&key) {
            return Ok(solved.clone());
        }
        let mut file = match what_if {
            Some(text) => changed(&plan.file, text, &plan.problem.models())?,
            None => plan.file.clone(),
        };
        file.watcher = Some(watcher.clone());
        let mut solved = solve(&file, &plan.source, what_if, true)?;
        // Who waited goes: the stream of an answer ends with its last owner.
        solved.problem.plan.watcher = None;
        let mut known = known();
        if known.len() >= KEPT {
            known.clear();
        }
        known.insert(key, solved.clone());
        Ok(solved)
    }
}

/// The option that asks for a what-if.
fn what_if_option(changed: Option<&Solved>) -> String {
    let text = changed.and_then(|s| s.what_if.as_deref());
    text.map_or(String::new(), |text| format!(" --what-if \"{text}\""))
}

fn shown(
    plan: &Plan,
    first: Solved,
    changed: Option<Solved>,
    is_whole: bool,
) -> Result<Shown, SpecError> {
    let option = what_if_option(changed.as_ref());
    let path = &plan.source.path;
    let answers = Answers::of(first, changed.into_iter().collect())?;
    let table = answers.table();
    let words = |row: Vec<Field>| row.into_iter().map(|field| field.text).collect();
    Ok(Shown {
        head: table.columns,
        rows: table.rows.into_iter().map(words).collect(),
        text: answers.document().to_text(),
        command: format!("orrery plan {path}{option} --exact --plot {}.svg", plan.file.name()),
        is_whole,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan() -> Plan {
        let path =
            concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenarios/plans/gpus-for-symphony.toml");
        let text = std::fs::read_to_string(path).unwrap();
        Plan::of(&File { path: path.to_string(), text }).unwrap()
    }

    fn ask(pairs: &[(&str, &str)]) -> Result<Option<String>, SpecError> {
        let pairs: Vec<(String, String)> =
            pairs.iter().map(|(k, v)| (k.to_string(), v.to_string())).collect();
        plan().what_if(&pairs)
    }

    #[test]
    fn an_address_is_a_what_if_that_the_command_takes() {
        let all =
            [("load", "1.5"), ("slo:ResNet50", "30"), ("price:a100", "0.5"), ("limit:1080ti", "8")];
        let text = ask(&all).unwrap().unwrap();
        assert_eq!(text, "load=1.5,slo:ResNet50=30ms,price:a100=0.5,limit:1080ti=8");
        let plan = plan();
        assert!(changed(&plan.file, &text, &plan.problem.models()).is_ok());
        assert_eq!(ask(&[("token", "x")]).unwrap(), None);
        // What the page offers at its least and its most, the command takes too.
        for control in plan.controls().numbers {
            for x in [control.min, control.value, control.max] {
                let text = plan.what_if(&[(control.key.clone(), x.to_string())]).unwrap();
                // No noise and no delay are what the plan has.
                let Some(text) = text else {
                    assert!(["noise", "delay"].contains(&control.key.as_str()) && x == 0.0);
                    continue;
                };
                let made = changed(&plan.file, &text, &plan.problem.models());
                assert!(made.is_ok(), "{text}: {made:?}");
            }
        }
    }

    /// A plan that says which type may lose a machine: the page begins with it, and every other choice is answered.
    #[test]
    fn a_type_that_may_lose_a_machine_is_on_the_page() {
        let usual = plan();
        let (kinds, models) = (usual.file.instance.clone(), usual.problem.models());
        for survive in ["1080ti", "a100"] {
            let text =
                usual.source.text.replace("goal =", &format!("survive = {survive:?}\ngoal ="));
            let (file, source) = PlanFile::from_text(&usual.source.path, &text).unwrap();
            let problem = Problem::new(&file, &source).unwrap_or_else(|e| panic!("{e}"));
            let plan = Plan { file, source, problem };
            let menu = plan.controls().choices.into_iter().find(|c| c.key == "survive").unwrap();
            assert_eq!((menu.value.as_str(), kinds.len()), (survive, 2));
            assert!(menu.values.contains(&menu.value), "{menu:?}");
            for value in &menu.values {
                let asked = plan.what_if(&[("survive".to_string(), value.clone())]).unwrap();
                let Some(asked) = asked else {
                    assert_eq!(*value, menu.value, "only the file's own changes nothing");
                    continue;
                };
                let made = changed(&plan.file, &asked, &models).unwrap();
                let problem = Problem::new(&made, &plan.source).unwrap_or_else(|e| panic!("{e}"));
                assert_eq!(problem.plan.is_to_survive(), value != "0", "{asked}");
            }
        }
        let error = ask(&[("survive", "h100")]).unwrap_err().to_string();
        assert!(error.contains("0, 1, 1080ti, a100"), "{error}");
        let error = ask(&[("survives", "1")]).unwrap_err().to_string();
        assert!(error.contains("`survive`"), "{error}");
    }

    #[test]
    fn what_is_not_on_the_page_is_refused() {
        for (pair, words) in [
            (("load", "11"), "from 0.1 to 10"),
            (("price:h100", "1"), "`price:a100`"),
            (("limit:a100", "1.5"), "a whole number"),
            (("buy", "spot"), "`load`"),
        ] {
            let error = ask(&[pair]).unwrap_err().to_string();
            assert!(error.contains(words) && error.contains("remedy"), "{pair:?}: {error}");
        }
    }
}
