//! Assignments of models to kinds against every assignment, with clusters whose cost is known only in part.

use orrery_sim::rng::Stream;
use orrery_solvers::Price;
use orrery_solvers::fleet::{Assigned, Clusters, Known, Needs, cheapest, split_bound_usd};

struct Random {
    needs: Vec<Needs>,
    prices: Vec<Price>,
    counts_max: Vec<u32>,
    /// How many machines more than the bound each cluster takes, by kind and set; `None` is not known.
    more: Vec<Vec<Option<u32>>>,
}

impl Random {
    fn new(seed: u64, models: usize, kinds: usize) -> Random {
        let mut stream = Stream::named(seed, "fleets", 0);
        let mut need = || (stream.below(4) > 0).then(|| 0.1 + 3.0 * stream.uniform());
        let needs = (0..models).map(|_| (0..kinds).map(|_| need()).collect()).collect();
        let prices = (0..kinds)
            .map(|_| Price::micro_usd_per_hour(100_000 + stream.below(900_000)))
            .collect();
        let counts_max = (0..kinds).map(|_| 2 + stream.below(8) as u32).collect();
        let mut more = || (stream.below(2) > 0).then(|| stream.below(3) as u32);
        let more = (0..kinds).map(|_| (0..1 << models).map(|_| more()).collect()).collect();
        Random { needs, prices, counts_max, more }
    }

    fn count(&self, kind: usize, models: u64) -> Option<u32> {
        let of = |m: usize| self.needs[m][kind];
        let some = (0..self.needs.len()).filter(|m| models >> m & 1 == 1);
        let need: f64 = some.map(of).sum::<Option<f64>>()?;
        Some(need.ceil() as u32).filter(|n| *n <= self.counts_max[kind])
    }

    fn cost(&self, kind_of: &[usize]) -> Option<Price> {
        let some = Assigned { kind_of: kind_of.to_vec(), cost: Price::ZERO, proven: false };
        let of = |(kind, set): (usize, u64)| match self.known(kind, set) {
            Known::Unknown => self.least(kind, set),
            Known::Costs(cost) => Some(cost),
            Known::Never => None,
        };
        some.clusters(self.prices.len()).into_iter().map(of).sum()
    }

    fn all(&self) -> Vec<Vec<usize>> {
        let (models, kinds) = (self.needs.len(), self.prices.len());
        let of = |i: usize| (0..models).map(|m| i / kinds.pow(m as u32) % kinds).collect();
        (0..kinds.pow(models as u32)).map(of).collect()
    }
}

impl Clusters for Random {
    fn models(&self) -> usize {
        self.needs.len()
    }
    fn kinds(&self) -> usize {
        self.prices.len()
    }
    fn least(&self, kind: usize, models: u64) -> Option<Price> {
        Some(self.prices[kind] * self.count(kind, models)?)
    }
    fn known(&self, kind: usize, models: u64) -> Known {
        let (Some(n), Some(more)) = (self.count(kind, models), self.more[kind][models as usize])
        else {
            return Known::Unknown;
        };
        if n + more > self.counts_max[kind] {
            return Known::Never;
        }
        Known::Costs(self.prices[kind] * (n + more))
    }
    fn share_usd(&self, model: usize, kind: usize) -> Option<f64> {
        Some(self.needs[model][kind]? * self.prices[kind].as_usd_per_hour())
    }
}

#[test]
fn the_cheapest_assignment_is_the_one_that_all_of_them_show() {
    let mut answered = 0;
    for seed in 0..200 {
        let random = Random::new(seed, 2 + seed as usize % 4, 2 + seed as usize % 3);
        let all = random.all();
        let mut costs: Vec<Price> = all.iter().filter_map(|a| random.cost(a)).collect();
        costs.sort();
        let mut left_out = Vec::new();
        for expected in costs.iter().take(3) {
            let found = cheapest(&random, &left_out).expect("an assignment");
            assert!(found.proven);
            assert_eq!(found.cost, *expected, "seed {seed}, {} left out", left_out.len());
            assert_eq!(random.cost(&found.kind_of), Some(found.cost));
            left_out.push(found.kind_of);
            answered += 1;
        }
        if costs.is_empty() {
            assert_eq!(cheapest(&random, &[]), None);
        }
    }
    assert!(answered > 300, "{answered}");
}

#[test]
fn the_split_bound_is_below_every_assignment_and_counts_limits() {
    let (mut tighter, mut seen) = (0, 0);
    for seed in 0..200 {
        let random = Random::new(seed, 2 + seed as usize % 4, 2 + seed as usize % 3);
        let prices: Vec<f64> = random.prices.iter().map(|p| p.as_usd_per_hour()).collect();
        let bound = split_bound_usd(&random.needs, &prices, &random.counts_max);
        let endless = vec![u32::MAX; prices.len()];
        let without = split_bound_usd(&random.needs, &prices, &endless);
        assert!(bound >= without, "{bound} {without}");
        for assigned in random.all() {
            if let Some(cost) = random.cost(&assigned) {
                assert!(cost.as_usd_per_hour() >= bound, "seed {seed}: {cost} {bound}");
                seen += 1;
            }
        }
        tighter += usize::from(bound > without * 1.001);
    }
    assert!(seen > 1000 && tighter > 20, "{seen} {tighter}");
}

/// Two kinds, one of them with a single machine: half a load fits on it.
#[test]
fn the_split_bound_is_the_linear_program_s() {
    let needs = vec![vec![Some(2.0), Some(4.0)]];
    let bound = split_bound_usd(&needs, &[1.0, 1.0], &[1, 10]);
    // One machine of the first carries half, two of the second the rest.
    assert!(bound <= 3.0 && bound > 2.95, "{bound}");
    assert!(split_bound_usd(&[vec![None, None]], &[1.0, 1.0], &[1, 1]).is_infinite());
}

/// Beyond what can be listed nothing is proven, and moves and swaps still find what is cheap.
#[test]
fn many_models_are_assigned_without_a_proof() {
    let mut random = Random::new(3, 4, 4);
    let mut stream = Stream::named(7, "fleets", 0);
    random.needs =
        (0..24).map(|_| (0..4).map(|_| Some(0.2 + stream.uniform())).collect()).collect();
    random.counts_max = vec![40; 4];
    random.more = vec![Vec::new(); 4];
    struct Bounds(Random);
    impl Clusters for Bounds {
        fn models(&self) -> usize {
            self.0.models()
        }
        fn kinds(&self) -> usize {
            self.0.kinds()
        }
        fn least(&self, kind: usize, models: u64) -> Option<Price> {
            self.0.least(kind, models)
        }
        fn known(&self, _: usize, _: u64) -> Known {
            Known::Unknown
        }
        fn share_usd(&self, model: usize, kind: usize) -> Option<f64> {
            self.0.share_usd(model, kind)
        }
    }
    let prices: Vec<f64> = random.prices.iter().map(|p| p.as_usd_per_hour()).collect();
    let bound = split_bound_usd(&random.needs, &prices, &random.counts_max);
    let found = cheapest(&Bounds(random), &[]).expect("an assignment");
    assert!(!found.proven);
    assert!(found.cost.as_usd_per_hour() < 1.15 * bound, "{} {bound}", found.cost);
}
