//! The frontends: each sends its requests to the GPUs of their model by a deficit round robin of its
//! own, blind to queues and to the other frontends.
//!
//! It does not know what the GPUs do with them.

use super::{Config, Deal, Turns};
use crate::rng::{fnv1a, keyed_uniform};

/// All frontends.
#[derive(Debug)]
pub(super) struct Frontends {
    deal: Deal,
    turns: Turns,
    /// By frontend, then by model.
    routes: Vec<Vec<Route>>,
    next: usize,
}

/// One frontend's way to the GPUs of one model.
#[derive(Debug, Default)]
struct Route {
    stops: Vec<Stop>,
    at: usize,
}

#[derive(Debug)]
struct Stop {
    gpu: usize,
    /// Requests in a round; at least 1.
    quantum: f64,
    /// Requests that are left of this round.
    deficit: f64,
}

impl Frontends {
    pub fn new(config: &Config, models: usize) -> Frontends {
        let routes = |_| (0..models).map(|_| Route::default()).collect();
        let routes = (0..config.frontends).map(routes).collect();
        Frontends { deal: config.deal, turns: config.turns, routes, next: 0 }
    }

    /// Which frontend the request comes to, and the GPU that it sends it to, if the model has any.
    pub fn route(&mut self, request: u64, model: usize) -> (usize, Option<usize>) {
        let n = self.routes.len();
        let frontend = match self.deal {
            Deal::RoundRobin => {
                self.next = if self.next + 1 < n { self.next + 1 } else { 0 };
                if self.next == 0 { n - 1 } else { self.next - 1 }
            }
            Deal::Random => {
                const PURPOSE: u64 = fnv1a("frontend");
                ((keyed_uniform(0, PURPOSE, request) * n as f64) as usize).min(n - 1)
            }
        };
        (frontend, self.routes[frontend][model].next(self.turns))
    }

    /// The model's GPUs and what each is to carry, by GPU.
    pub fn set(&mut self, model: usize, gpus: &[(usize, f64)]) {
        for routes in &mut self.routes {
            routes[model].set(gpus);
        }
    }
}

impl Route {
    fn next(&mut self, turns: Turns) -> Option<usize> {
        let last = self.stops.len().checked_sub(1)?;
        if turns == Turns::Smooth {
            self.stops.iter_mut().for_each(|s| s.deficit += s.quantum);
            let all: f64 = self.stops.iter().map(|s| s.quantum).sum();
            let most = |a: &&mut Stop, b: &&mut Stop| a.deficit.total_cmp(&b.deficit);
            let stop = self.stops.iter_mut().rev().max_by(most)?;
            stop.deficit -= all;
            return Some(stop.gpu);
        }
        // Whoever is passed gets its next round, of at least one request: two steps are the rule.
        while self.stops[self.at].deficit < 1.0 {
            self.stops[self.at].deficit += self.stops[self.at].quantum;
            self.at = if self.at == last { 0 } else { self.at + 1 };
        }
        let stop = &mut self.stops[self.at];
        stop.deficit -= 1.0;
        Some(stop.gpu)
    }

    /// GPUs that stay keep what is left of their round.
    fn set(&mut self, gpus: &[(usize, f64)]) {
        let least = gpus.iter().map(|g| g.1).fold(f64::INFINITY, f64::min);
        let stop = |&(gpu, rate): &(usize, f64)| {
            let quantum = rate / least;
            let before = self.stops.iter().find(|s| s.gpu == gpu);
            Stop { gpu, quantum, deficit: before.map_or(quantum, |s| s.deficit) }
        };
        self.stops = gpus.iter().map(stop).collect();
        if self.at >= self.stops.len() {
            self.at = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frontends(deal: Deal, frontends: u32) -> Frontends {
        Frontends::new(&Config { deal, frontends, ..Config::released() }, 1)
    }

    fn turns(frontends: &mut Frontends, n: u64) -> Vec<usize> {
        (0..n).filter_map(|id| frontends.route(id, 0).1).collect()
    }

    #[test]
    fn equal_gpus_take_turns() {
        let mut f = frontends(Deal::RoundRobin, 1);
        assert_eq!(f.route(0, 0), (0, None), "no GPU has the model yet");
        f.set(0, &[(4, 10.0), (5, 10.0), (7, 10.0)]);
        assert_eq!(turns(&mut f, 7), [4, 5, 7, 4, 5, 7, 4]);
    }

    #[test]
    fn a_gpu_that_carries_more_gets_a_run_of_requests() {
        let mut f = frontends(Deal::RoundRobin, 1);
        f.set(0, &[(0, 25.0), (1, 10.0)]);
        // 2.5 for each 1: what is left over counts in the next round.
        assert_eq!(turns(&mut f, 14), [0, 0, 1, 0, 0, 0, 1, 0, 0, 1, 0, 0, 0, 1]);
    }

    #[test]
    fn smooth_turns_are_apart() {
        let config = Config { turns: Turns::Smooth, ..Config::released() };
        let mut f = Frontends::new(&config, 1);
        f.set(0, &[(0, 4.0), (1, 2.0), (2, 1.0)]);
        assert_eq!(turns(&mut f, 7), [0, 1, 0, 0, 2, 0, 1], "0, 0, 0, 0, 1, 1, 2 by deficit");
    }

    #[test]
    fn each_frontend_has_a_round_of_its_own() {
        let mut f = frontends(Deal::RoundRobin, 2);
        f.set(0, &[(0, 1.0), (1, 1.0)]);
        assert_eq!(turns(&mut f, 8), [0, 0, 1, 1, 0, 0, 1, 1]);
    }

    #[test]
    fn requests_are_dealt_to_frontends_evenly() {
        for deal in [Deal::RoundRobin, Deal::Random] {
            let mut f = frontends(deal, 4);
            let mut dealt = [0; 4];
            (0..4_000).for_each(|id| dealt[f.route(id, 0).0] += 1);
            assert!(dealt.iter().all(|n| (900..1_100).contains(n)), "{deal:?}: {dealt:?}");
        }
    }

    #[test]
    fn a_new_plan_keeps_the_round_of_the_gpus_that_stay() {
        let mut f = frontends(Deal::RoundRobin, 1);
        f.set(0, &[(0, 3.0), (1, 1.0)]);
        assert_eq!(turns(&mut f, 1), [0]);
        f.set(0, &[(0, 3.0), (2, 1.0)]);
        assert_eq!(turns(&mut f, 4), [0, 0, 2, 0]);
        f.set(0, &[]);
        assert_eq!(f.route(9, 0).1, None);
    }
}
