//! Which models run on which kinds, and the machines that each needs there at least.

use crate::input::file::Instance;
use crate::input::problem::{Group, Problem};
use orrery_run::SpecError;
use orrery_scenario::scenario::file::Model;
use orrery_solvers::fleet::{MODELS_MAX, Needs};

/// A kind, and the models on it as bits.
pub type Cluster = (usize, u64);

/// The homes that there are.
pub struct Homes {
    /// By model and kind: the machines that the peak load needs at least, 0 where no bound is known; `None`
    /// where the model does not run.
    pub needs: Vec<Needs>,
    /// Whether every need is a bound.
    pub bounded: bool,
    /// Where models do not run, and why.
    pub not_there: Vec<String>,
}

impl Homes {
    /// Asks for the bound of each model on each kind.
    ///
    /// # Errors
    /// When a model runs nowhere, or there are too many of them.
    pub fn of(problem: &Problem, whole: &Group) -> Result<Homes, SpecError> {
        if whole.models.len() > MODELS_MAX {
            let (found, allowed) = (whole.models.len(), format!("at most {MODELS_MAX}"));
            let remedy = "plan for some of them at a time";
            let error = SpecError::value("pools", format!("{found} models"), allowed, remedy);
            return Err(problem.source.placed(error));
        }
        let mut homes = Homes { needs: Vec::new(), bounded: true, not_there: Vec::new() };
        for (number, name) in whole.models.iter().enumerate() {
            let mut needs = Vec::new();
            for (kind, instance) in problem.plan.instance.iter().enumerate() {
                let why = cannot(whole.model(number), instance, problem.counts_max[kind]);
                let need = match why {
                    Some(why) => Err(why),
                    None => homes.need(problem, whole, (name, kind))?,
                };
                if let Err(why) = &need {
                    homes
                        .not_there
                        .push(format!("{name} does not run on {}: {why}", instance.kind));
                }
                needs.push(need.ok());
            }
            if needs.iter().all(Option::is_none) {
                return Err(nowhere(problem, name, &homes.not_there));
            }
            homes.needs.push(needs);
        }
        Ok(homes)
    }

    /// The machines of a kind that a model needs at least, or why it cannot be there.
    fn need(
        &mut self,
        problem: &Problem,
        whole: &Group,
        (name, kind): (&str, usize),
    ) -> Result<Result<f64, String>, SpecError> {
        let Some(group) = whole.of_some(name, &[name]) else { return Ok(Ok(0.0)) };
        let group = problem.finished(group, kind)?;
        let mut most: Option<f64> = Some(0.0);
        for policy in &problem.policies {
            let one = group.bound_of_one_per_s(problem, kind, policy)?;
            most = most.zip(one).map(|(a, b)| a.max(b));
        }
        let served = group.load_per_s * (1.0 - problem.plan.target());
        // A step of a trace is judged by its own arrivals, to which the bound does not apply strictly.
        let is_strict = problem.day.own.is_none();
        Ok(match most {
            Some(0.0) => Err("no batch of it fits its SLO there".to_string()),
            Some(one) if is_strict => Ok(served / one),
            _ => {
                self.bounded = false;
                Ok(0.0)
            }
        })
    }
}

/// Why a kind is no home of a model by what the file says.
fn cannot(model: &Model, instance: &Instance, count_max: u32) -> Option<String> {
    if instance.lacks(model) {
        return Some("its latencies there are not known".to_string());
    }
    if let Some(pages) = instance.memory_pages.filter(|pages| *pages < model.pages) {
        return Some(format!("it needs {} pages of memory, and there are {pages}", model.pages));
    }
    (count_max == 0).then(|| match instance.count_max {
        Some(0) => "`count_max` is 0".to_string(),
        _ => "the budget pays for none of it".to_string(),
    })
}

fn nowhere(problem: &Problem, name: &str, not_there: &[String]) -> SpecError {
    let about = format!("{name} does not run on ");
    let why: Vec<&str> = not_there.iter().filter_map(|line| line.strip_prefix(&about)).collect();
    let found = format!("no home for `{name}`: {}", why.join("; "));
    let allowed = "at least one kind that each model runs on";
    let remedy = "give its latency on a kind (`zoo`, `latency_on`), or loosen its SLO";
    problem.source.placed(SpecError::value("instance", found, allowed, remedy))
}
