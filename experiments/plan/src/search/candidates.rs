//! The pools of several types that there are for a model, and their upper bounds (Kairos, Eq. 9 to 15).
//!
//! What the bounds are made of is taken from the simulation's own laws and queries.

use crate::input::file::Instance;
use crate::input::problem::{Group, Problem};
use orrery_run::SpecError;
use orrery_sim::latency::Latency;
use orrery_sim::time::Span;
use orrery_solvers::{
    Catalogue, Ingredients, InstanceType, Latency as Measured, PlannerError, Price, Profile,
    Ranking, Region, Role, Sizes, Space,
};
use std::collections::BTreeSet;

/// Query sizes observed for the bound.
const SIZES: usize = 20_000;

/// The pools of a group.
pub struct Candidates {
    /// Every pool within budget and limits.
    pub space: Space,
    /// Their upper bounds.
    pub ranking: Ranking,
}

impl Candidates {
    /// Lists the pools and their bounds.
    ///
    /// # Errors
    /// When a profile has holes or ends too early, a type is of no use, or there are too many pools.
    pub fn new(problem: &Problem, group: &Group) -> Result<Candidates, SpecError> {
        let base = group.base.unwrap_or(0);
        let of = |(i, t): (usize, &Instance)| InstanceType {
            name: t.kind.clone(),
            price: problem.cost_of_kind(i, 1),
            max_count: problem.counts_max[i],
            role: if i == base { Role::Base } else { Role::Auxiliary },
        };
        let types = problem.plan.instance.iter().enumerate().map(of).collect();
        let wrong = |e: PlannerError| error(problem, group, &e);
        let catalogue = Catalogue::new(types).map_err(wrong)?;
        let all = problem.cost(&problem.counts_max);
        // Types that cost nothing leave a budget of nothing.
        let least = Price::micro_usd_per_hour(1);
        let budget = problem.budget.unwrap_or(all.max(least));
        let space = Space::within(&catalogue, budget).map_err(wrong)?;
        let ingredients = ingredients(problem, group, &catalogue)?;
        let ranking = Ranking::new(&space, &ingredients).map_err(wrong)?;
        Ok(Candidates { space, ranking })
    }

    /// How many of each type.
    pub fn counts(&self, i: usize) -> &[u32] {
        &self.space.pools()[i].0
    }

    /// The upper bound, in requests/s.
    pub fn bound(&self, i: usize) -> f64 {
        self.ranking.bounds_per_s()[i]
    }
}

/// What the bound is made of, from the laws of the simulation and the sizes of its queries.
fn ingredients(
    problem: &Problem,
    group: &Group,
    catalogue: &Catalogue,
) -> Result<Ingredients, SpecError> {
    let all: Vec<u32> = vec![1; problem.plan.instance.len()];
    let scenario = group.scenario(problem, &all, group.load_per_s)?;
    let setup = scenario.setup(problem.plan.seed)?;
    let wrong = |e: PlannerError| error(problem, group, &e);
    let mut observed = Vec::new();
    for mut source in setup.sources(problem.plan.seed)? {
        while source.peek().is_some() && observed.len() < SIZES {
            let Some(arrival) = source.pop() else { break };
            observed.push(arrival.size);
        }
    }
    let distinct: BTreeSet<u32> = observed.iter().copied().collect();
    let laws: Vec<&Latency> = setup.world.latency.iter().map(|kind| &kind[0]).collect();
    let sampled = laws.iter().find_map(|law| match law {
        Latency::Samples(replay) => Some(replay.table.sizes().to_vec()),
        Latency::Table(rows) => Some(rows.iter().map(|r| r.0).collect()),
        _ => None,
    });
    let grid = sampled.unwrap_or_else(|| distinct.into_iter().collect());
    let profile = |(law, t): (&&Latency, &InstanceType)| {
        let of = |span: Span| Measured::of_samples(&[span]);
        let rows: Vec<(u32, Option<Measured>)> = match law {
            Latency::Samples(replay) => {
                let table = &replay.table;
                let row = |size: &u32| (*size, Measured::of_samples(table.samples(*size)));
                table.sizes().iter().map(row).collect()
            }
            Latency::Table(rows) => rows.iter().map(|(size, span)| (*size, of(*span))).collect(),
            law => grid.iter().map(|size| (*size, of(law.batch(*size, Span::ZERO)))).collect(),
        };
        Profile::new(&t.name, rows).map_err(wrong)
    };
    let profiles: Vec<Profile> =
        laws.iter().zip(catalogue.types()).map(profile).collect::<Result<_, _>>()?;
    let sizes = Sizes::observed(observed).map_err(wrong)?;
    let qos = setup.slo[0];
    Ingredients::measured(catalogue, &profiles, &sizes, qos, Region::default()).map_err(wrong)
}

/// A planner's error at the key that it is about.
fn error(problem: &Problem, group: &Group, e: &PlannerError) -> SpecError {
    let named = |name: &str| problem.plan.instance.iter().position(|t| t.kind == name);
    let of = match e {
        PlannerError::ProfileHole { name, .. }
        | PlannerError::ProfileSize { name, .. }
        | PlannerError::EmptyProfile { name }
        | PlannerError::FitsNoQuery { name, .. }
        | PlannerError::BaseMissesQos { name, .. } => named(name),
        _ => None,
    };
    // A budget below the base type is refused before (`Problem::finished`).
    let key = of.map_or_else(|| "instance".to_string(), |i| format!("instance[{i}].kind"));
    let found = format!("for `{}`: {e}", group.name);
    let allowed = "exactly one base type that meets the SLO at every query size, other types that do \
                   at some, and latencies of each size on each type";
    let remedy = "do what the message says; docs/plan.md lists the rules";
    problem.source.placed(SpecError::value(key, found, allowed, remedy))
}
