//! A model under the conditions of a figure: its pools, their upper bounds, and what is simulated.

use super::conditions::{Arrivals, Conditions, From, Sizes};
use orrery_run::SpecError;
use orrery_run::error::known;
use orrery_run::search::REQUESTS_ENDLESS;
use orrery_scenario::{Scenario, kairos};
use orrery_sim::rng::Stream;
use orrery_sim::time::Span;
use orrery_solvers::{
    Catalogue, Ingredients, InstanceType, Latency, Pool, Price, Profile, Ranking, Space, released,
    upper_bound_per_s,
};
use orrery_traces::query_sizes::{KAIROS_MAX, SizeLaw};

/// How many queries the planner has seen (the paper: "e.g., 10000"; more, so that little is left to
/// chance).
const OBSERVED: u64 = 100_000;

/// A model under conditions.
pub struct World {
    /// The model's name.
    pub model: String,
    /// The conditions.
    pub conditions: Conditions,
    /// The QoS target.
    pub qos: Span,
    /// The pools under the budget.
    pub space: Space,
    /// Their order by upper bound.
    pub ranking: Ranking,
    ingredients: Ingredients,
    /// One instance of each type, at one query/s.
    scenario: Scenario,
}

impl World {
    /// A model of [`kairos::model_names`] under conditions.
    ///
    /// # Errors
    /// When a condition is out of range or does not fit the model.
    pub fn new(model: &str, c: &Conditions) -> Result<World, SpecError> {
        let measured = kairos::measured(model).ok_or_else(|| {
            let allowed = kairos::model_names().collect::<Vec<_>>().join(", ");
            SpecError::value("models", format!("`{model}`"), allowed, "correct the name")
        })?;
        if !(c.qos_factor > 0.0 && c.qos_factor <= 100.0) {
            let allowed = "above 0, at most 100";
            return Err(SpecError::value("qos_factor", c.qos_factor, allowed, "choose another"));
        }
        if !(100..=10_000_000).contains(&c.queries) {
            let allowed = "100 to 10000000";
            return Err(SpecError::value("queries", c.queries, allowed, "choose another"));
        }
        if !(1e-6..=0.5).contains(&c.precision) {
            let allowed = "a share from 0.000001 to 0.5";
            return Err(SpecError::value("precision", c.precision, allowed, "choose another"));
        }
        let at = types(c)?;
        let qos = measured.qos.scale(c.qos_factor);
        let sizes = size_law(&c.sizes)?;
        let catalogue = catalogue(c, &at)?;
        let budget = Price::usd_per_hour("budget_usd_per_hour", c.budget_usd_per_hour);
        let budget = budget.map_err(|e| planner("budget_usd_per_hour", &e))?;
        let space = Space::within(&catalogue, budget);
        let space = space.map_err(|e| planner("budget_usd_per_hour", &e))?;
        let ingredients = match c.ingredients {
            From::Released => released_ingredients(model, c)?,
            From::Samples => {
                let profiles = profiles(measured, &at)?;
                let mut stream = Stream::named(0, "sizes that the planner has seen", 0);
                let seen = (0..OBSERVED).map(|_| sizes.draw(&mut stream));
                let seen =
                    orrery_solvers::Sizes::observed(seen).map_err(|e| planner("sizes", &e))?;
                Ingredients::measured(&catalogue, &profiles, &seen, qos, c.region)
                    .map_err(|e| planner("conditions", &e))?
            }
        };
        let ranking = Ranking::new(&space, &ingredients).map_err(|e| planner("conditions", &e))?;
        Ok(World {
            model: model.to_string(),
            conditions: c.clone(),
            qos,
            space,
            ranking,
            ingredients,
            scenario: scenario(model, c, qos)?,
        })
    }

    /// A pool as a scenario, at one query/s.
    ///
    /// # Errors
    /// When it has another number of types, or no instance of the base type.
    pub fn of(&self, pool: &Pool) -> Result<Scenario, SpecError> {
        let types = &self.conditions.types;
        if pool.0.len() != types.len() {
            let allowed = format!("{} counts: {}", types.len(), types.join(", "));
            return Err(SpecError::value("pool", pool, allowed, "give one for each type"));
        }
        let base = types.iter().position(|name| is_base(name));
        if base.and_then(|i| pool.0.get(i)).is_none_or(|n| *n == 0) {
            let remedy = "add one: what no other type serves in time would never be served";
            return Err(SpecError::value("pool", pool, "an instance of the base type", remedy));
        }
        let count = |(i, n): (usize, &u32)| (format!("device[{i}].count"), (*n).into());
        self.scenario.with(&pool.0.iter().enumerate().map(count).collect::<Vec<_>>())
    }

    /// The upper bound of any pool, within the budget or not.
    pub fn bound_per_s(&self, pool: &Pool) -> f64 {
        upper_bound_per_s(&self.ingredients, pool).unwrap_or(0.0)
    }

    /// The place of a pool in the order by upper bound, from 1; none beyond the budget.
    pub fn rank(&self, pool: &Pool) -> Option<usize> {
        let i = self.space.position(pool)?;
        self.ranking.order().iter().position(|o| *o == i).map(|at| at + 1)
    }

    /// A pool of so many base instances alone: the most that the budget pays for.
    pub fn homogeneous(&self) -> Pool {
        let at = self.space.homogeneous().expect("a space has a pool of base instances alone");
        self.space.pools()[at].clone()
    }
}

/// A planner's error, as this program's.
pub(super) fn planner(key: &str, error: &orrery_solvers::PlannerError) -> SpecError {
    SpecError::value(key, error, "conditions that the planner supports", "change the conditions")
}

/// The numbers of the conditions' types.
fn types(c: &Conditions) -> Result<Vec<usize>, SpecError> {
    let all = kairos::instance_types();
    let names: Vec<&str> = all.iter().map(|t| t.name).collect();
    let mut at = Vec::new();
    for name in &c.types {
        let i = known("types", name, &names)?;
        if at.contains(&i) {
            let found = format!("`{name}` twice");
            return Err(SpecError::value("types", found, "each type once", "remove one"));
        }
        at.push(i);
    }
    Ok(at)
}

/// The types with their prices. As many of each are allowed as the budget pays for; the counts at most
/// 5, 6, 17 and 15 of the released code rule out nothing more at its 2.5 $/h.
fn catalogue(c: &Conditions, at: &[usize]) -> Result<Catalogue, SpecError> {
    let released = released::catalogue();
    let of = |&i: &usize| {
        let t = &released.types()[i];
        let most = (c.budget_usd_per_hour / t.price.as_usd_per_hour()).clamp(0.0, 1e6);
        InstanceType { max_count: (most as u32 + 1).max(1), ..t.clone() }
    };
    Catalogue::new(at.iter().map(of).collect()).map_err(|e| planner("types", &e))
}

fn profiles(measured: &kairos::Measured, at: &[usize]) -> Result<Vec<Profile>, SpecError> {
    let names = kairos::instance_types();
    let of = |&i: &usize| {
        let table = &measured.samples[i];
        let sizes = table
            .sizes()
            .iter()
            .map(|&s| (s, Latency::of_samples(table.samples(s))))
            .collect::<Vec<_>>();
        Profile::new(names[i].name, sizes).map_err(|e| planner("models", &e))
    };
    at.iter().map(of).collect()
}

fn released_ingredients(model: &str, c: &Conditions) -> Result<Ingredients, SpecError> {
    let default = Conditions::default();
    if c.qos_factor != 1.0 || c.sizes != default.sizes || c.types != default.types {
        let found = "`released` with other sizes, types or QoS than the paper's";
        let remedy = "use `ingredients = \"samples\"`";
        return Err(SpecError::value("ingredients", found, "`samples`", remedy));
    }
    Ok(released::ingredients(model).expect("the released table has the paper's models"))
}

fn size_law(sizes: &Sizes) -> Result<SizeLaw, SpecError> {
    Ok(match *sizes {
        Sizes::Kairos => SizeLaw::Kairos,
        Sizes::Lognormal { mu, sigma } => SizeLaw::log_normal(mu, sigma, KAIROS_MAX)?,
        Sizes::Normal { mean, sd } => SizeLaw::normal(mean, sd, KAIROS_MAX)?,
    })
}

fn is_base(name: &str) -> bool {
    kairos::instance_types().iter().any(|t| t.name == name && t.is_base)
}

/// Its profile is the least that a scenario may have: only latencies by type and size are known.
fn scenario(model: &str, c: &Conditions, qos: Span) -> Result<Scenario, SpecError> {
    let max = KAIROS_MAX;
    let sizes = match &c.sizes {
        Sizes::Kairos => "\"kairos\"".to_string(),
        Sizes::Lognormal { mu, sigma } => {
            format!("{{ lognormal = {{ mu = {mu:?}, sigma = {sigma:?}, max = {max} }} }}")
        }
        Sizes::Normal { mean, sd } => {
            format!("{{ normal = {{ mean = {mean:?}, sd = {sd:?}, max = {max} }} }}")
        }
    };
    let arrivals = match c.arrivals {
        Arrivals::Poisson => "poisson",
        Arrivals::IntegerPoisson => "integer_poisson",
    };
    let device =
        |kind: &String| format!("[[device]]\nkind = \"{kind}\"\nbase = {}\n", is_base(kind));
    let devices: String = c.types.iter().map(device).collect();
    let text = format!(
        "policies = [\"kairos\"]\nallow_hopeless_slo = true\nprofile = {{ sizes = [1], batches = 1, bins = 1 }}\n\
         [[zoo]]\nname = \"kairos\"\nmodels = [\"{model}\"]\nslo_ms = {:?}\nsizes = {sizes}\n{devices}\
         [arrivals]\n{arrivals} = {{ rate_per_s = 1.0 }}\nrequests = {REQUESTS_ENDLESS}\n",
        qos.as_ms_f64()
    );
    Scenario::from_text("pool.toml", &text)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// §8: the authors' space has 331 pools.
    #[test]
    fn the_default_space_is_that_of_the_authors() {
        let world = World::new("rm2", &Conditions::default()).unwrap();
        assert_eq!(world.space.pools().len(), 331);
        let authors = Space::within(&released::catalogue(), released::BUDGET).unwrap();
        assert_eq!(world.space.pools(), authors.pools());
        assert_eq!(world.homogeneous(), Pool(vec![4, 0, 0, 0]));
        let best = &world.space.pools()[world.ranking.order()[0]];
        assert_eq!(world.rank(best), Some(1));
        assert_eq!(world.rank(&Pool(vec![9, 9, 9, 9])), None);
    }

    #[test]
    fn a_pool_of_three_types_has_three_counts() {
        let types = ["g4dn.xlarge", "c5n.2xlarge", "r5n.large"].map(String::from).to_vec();
        let c = Conditions { types, ..Conditions::default() };
        let world = World::new("rm2", &c).unwrap();
        assert_eq!(world.space.pools()[0].0.len(), 3);
        assert!(world.of(&Pool(vec![1, 4, 2])).is_ok());
        for (counts, says) in
            [(vec![1, 4, 2, 1], "3 counts"), (vec![1, 4], "3 counts"), (vec![0, 4, 2], "base type")]
        {
            let error = world.of(&Pool(counts)).err().unwrap().to_string();
            assert!(error.contains(says), "{error}");
        }
        // Beyond the budget: 2.552 $/h.
        assert_eq!(world.rank(&Pool(vec![1, 4, 2])), None);
        assert!(world.bound_per_s(&Pool(vec![1, 4, 2])) > 0.0);
    }

    #[test]
    fn wrong_conditions_are_errors() {
        let d = Conditions::default;
        for (c, says) in [
            (Conditions { budget_usd_per_hour: 0.0, ..d() }, "budget"),
            (Conditions { budget_usd_per_hour: -1.0, ..d() }, "budget"),
            (Conditions { qos_factor: 0.01, ..d() }, "g4dn.xlarge"),
            (Conditions { types: vec!["p3".into()], ..d() }, "types"),
            (Conditions { types: vec!["t3.xlarge".into()], ..d() }, "base"),
            (Conditions { queries: 3, ..d() }, "queries"),
            (Conditions { precision: 2.0, ..d() }, "precision"),
            (Conditions { qos_factor: 1.2, ingredients: From::Released, ..d() }, "ingredients"),
        ] {
            let error = World::new("rm2", &c).err().unwrap().to_string();
            assert!(error.contains(says), "{says}: {error}");
        }
    }
}
