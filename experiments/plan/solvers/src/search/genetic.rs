//! GENE: a genetic algorithm over pools (Wortmann and Nannicini, whom Kairos cites in §8.3).
//!
//! ```text
//! a population of random pools
//! each generation: the best few stay; the others are children:
//!     two parents, each the better of two drawn at random
//!     each count is that of either parent
//!     each count is one more or one less with some probability
//! ```
//!
//! # Differences from the paper
//! - Neither paper tells the parameters; all are ours.
//! - A child that is no pool of the space, or was ruled out, is drawn again; after so many times it
//!   is a random pool that is still open.

use super::{Evaluate, Explorer, Found, Look, Rules, SearchError};
use crate::{PlannerError, Pool, Space};
use orrery_sim::rng::Stream;

/// How often a child is drawn before a random pool takes its place.
const DRAWS_MAX: usize = 32;

/// The parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Genetic {
    /// How many pools a generation has; at least 2.
    pub population: usize,
    /// How many of them go over to the next generation; fewer than all.
    pub elite: usize,
    /// The probability that a count changes by one: from 0 to 1.
    pub mutation: f64,
    /// After how many generations it is over.
    pub generations: usize,
}

impl Default for Genetic {
    fn default() -> Genetic {
        Genetic { population: 12, elite: 2, mutation: 0.2, generations: 40 }
    }
}

/// Searches with the stream `planner-genetic` of the seed.
///
/// # Errors
/// When the parameters are wrong or a pool cannot be evaluated.
pub fn genetic<V: Evaluate>(
    space: &Space,
    parameters: &Genetic,
    seed: u64,
    rules: Rules,
    evaluator: &mut V,
) -> Result<Found, SearchError<V::Error>> {
    check(parameters)?;
    let mut explorer = Explorer::new(space, rules, evaluator)?;
    let mut stream = Stream::named(seed, "planner-genetic", 0);
    let mut population: Vec<(f64, usize)> = Vec::new();
    for generation in 0..=parameters.generations {
        let parents = population.clone();
        population.truncate(parameters.elite);
        while population.len() < parameters.population {
            let child = if generation == 0 {
                None
            } else {
                child(&explorer, parameters, &parents, &mut stream)
            };
            let Some(child) = child.or_else(|| any_open(&explorer, &mut stream)) else { break };
            match explorer.look(child)? {
                Look::Value(value) => population.push((value, child)),
                Look::Dropped => (),
                Look::Spent => return Ok(explorer.finish(false)),
            }
        }
        // Stable, and pools of the same value in the order of the space.
        population.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        population.dedup();
        if !explorer.may_go_on() {
            return Ok(explorer.finish(false));
        }
    }
    Ok(explorer.finish(true))
}

/// A child of two parents that is in the space and was not ruled out.
fn child<V: Evaluate>(
    explorer: &Explorer<V>,
    parameters: &Genetic,
    parents: &[(f64, usize)],
    stream: &mut Stream,
) -> Option<usize> {
    let space = explorer.space;
    for _ in 0..DRAWS_MAX {
        let mut parent = || {
            let mut draw = || stream.below(parents.len() as u64) as usize;
            // The parents are sorted, the best first.
            &space.pools()[parents[draw().min(draw())].1]
        };
        let (a, b) = (parent(), parent());
        let mut gene = |(a, b): (&u32, &u32)| {
            let count = if stream.below(2) == 0 { *a } else { *b };
            let (changes, up) = (stream.uniform() < parameters.mutation, stream.below(2) == 0);
            match (changes, up) {
                (true, true) => count + 1,
                (true, false) => count.saturating_sub(1),
                (false, _) => count,
            }
        };
        let counts = a.0.iter().zip(&b.0).map(&mut gene).collect();
        let Some(i) = space.position(&Pool(counts)) else { continue };
        if explorer.is_open(i) || explorer.is_known(i) {
            return Some(i);
        }
    }
    None
}

/// An open pool at random.
fn any_open<V: Evaluate>(explorer: &Explorer<V>, stream: &mut Stream) -> Option<usize> {
    let open: Vec<usize> =
        (0..explorer.space.pools().len()).filter(|i| explorer.is_open(*i)).collect();
    (!open.is_empty()).then(|| open[stream.below(open.len() as u64) as usize])
}

fn check(parameters: &Genetic) -> Result<(), PlannerError> {
    let Genetic { population, elite, mutation, .. } = *parameters;
    let wrong = |what, value, allowed| Err(PlannerError::Number { what, value, allowed });
    if population < 2 {
        return wrong("population", population as f64, "at least 2");
    }
    if elite >= population {
        return wrong("elite", elite as f64, "less than the population");
    }
    if !(0.0..=1.0).contains(&mutation) {
        return wrong("mutation", mutation, "a probability from 0 to 1");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::Rules;
    use crate::{Pool, released};

    #[test]
    fn a_child_has_counts_of_both_parents_and_was_not_ruled_out() {
        let space = Space::within(&released::catalogue(), released::BUDGET).expect("a space");
        let at = |[a, b, c]: [u32; 3]| space.position(&Pool(vec![a, b, c, 0])).expect("a pool");
        let (parents, ruled_out) = ([(2.0, at([1, 2, 1])), (1.0, at([2, 0, 1]))], at([1, 0, 1]));
        let mut carries = |pool: &Pool| -> Result<f64, std::convert::Infallible> {
            Ok(pool.0.iter().sum::<u32>().into())
        };
        let rules = Rules { drop_sub_configurations: true, ..Rules::default() };
        let mut explorer = Explorer::new(&space, rules, &mut carries).expect("rules");
        // It is a part of what has been looked at.
        explorer.look(at([1, 1, 1])).expect("a value");
        let parameters = Genetic { mutation: 0.0, ..Genetic::default() };
        let mut stream = Stream::named(1, "child", 0);
        let children =
            (0..100).filter_map(|_| child(&explorer, &parameters, &parents, &mut stream));
        let mut children: Vec<usize> = children.collect();
        children.sort_unstable();
        children.dedup();
        let mut expected = vec![at([1, 2, 1]), at([2, 0, 1]), at([2, 2, 1])];
        expected.sort_unstable();
        assert!(!explorer.is_open(ruled_out) && !explorer.is_known(ruled_out));
        assert_eq!(children, expected);
    }

    #[test]
    fn a_mutation_changes_a_count_by_one_either_way() {
        let space = Space::within(&released::catalogue(), released::BUDGET).expect("a space");
        let parent = Pool(vec![2, 1, 1, 0]);
        let parents = [(1.0, space.position(&parent).expect("a pool")); 2];
        let mut carries = |_: &Pool| -> Result<f64, std::convert::Infallible> { Ok(1.0) };
        let explorer = Explorer::new(&space, Rules::default(), &mut carries).expect("rules");
        let parameters = Genetic { mutation: 1.0, ..Genetic::default() };
        let mut stream = Stream::named(1, "mutation", 0);
        let children =
            (0..200).filter_map(|_| child(&explorer, &parameters, &parents, &mut stream));
        let mut changes: Vec<[i64; 4]> = children
            .map(|child| {
                let change =
                    |i: usize| i64::from(space.pools()[child].0[i]) - i64::from(parent.0[i]);
                std::array::from_fn(change)
            })
            .collect();
        changes.sort_unstable();
        changes.dedup();
        // None has less than none of the last, which is none or one.
        let of = |i: i64, bit: u32| if i >> bit & 1 == 1 { 1 } else { -1 };
        let mut expected: Vec<[i64; 4]> =
            (0..16).map(|i| [of(i, 0), of(i, 1), of(i, 2), of(i, 3).max(0)]).collect();
        expected.retain(|change| {
            let count =
                |i: usize| u32::try_from(i64::from(parent.0[i]) + change[i]).expect("0 or more");
            space.position(&Pool((0..4).map(count).collect())).is_some()
        });
        expected.sort_unstable();
        assert!(expected.len() > 8, "{expected:?}");
        assert_eq!(changes, expected);
    }
}
