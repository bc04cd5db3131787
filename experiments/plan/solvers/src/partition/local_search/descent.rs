//! Descents over exchanges between two sub-clusters: a model given, a model taken, or both.

use super::board::Board;
use crate::partition::ModelLoad;

/// What being beyond a limit weighs against everything else.
const PENALTY: f64 = 1e6;
/// An improvement below this share of the scale is rounding.
const LEAST: f64 = 1e-12;

/// The best exchange of a pair.
#[derive(Clone, Copy)]
struct Exchange {
    a: usize,
    b: usize,
    give: Option<usize>,
    take: Option<usize>,
    /// What it is chosen by: how much it lowers the goal.
    gain: f64,
}

/// What an exchange should lower.
#[derive(Clone, Copy)]
enum Goal {
    /// The sum of squared deviations.
    Squares,
    /// The objective; with the largest deviations of the sub-clusters that are not in the exchange.
    Objective { rate: f64, memory: f64 },
}

impl Goal {
    fn value(self, a: (f64, f64), b: (f64, f64)) -> f64 {
        match self {
            Goal::Squares => a.0 * a.0 + a.1 * a.1 + b.0 * b.0 + b.1 * b.1,
            Goal::Objective { rate, memory } => {
                rate.max(a.0.abs()).max(b.0.abs()) + memory.max(a.1.abs()).max(b.1.abs())
            }
        }
    }
}

/// What the cache knows of a pair.
#[derive(Clone, Copy)]
enum Known {
    Unknown,
    Nothing,
    Best(Exchange),
}

/// A board under search.
pub(super) struct Search<'a> {
    pub board: Board<'a>,
    /// Evaluations that may still be made.
    pub left: u64,
    /// The best exchange by the squares, for a < b at `a * clusters + b`.
    cache: Vec<Known>,
    /// The size of objectives; squared, of squares.
    scale: f64,
}

impl<'a> Search<'a> {
    pub fn new(board: Board<'a>, evaluations: u64) -> Search<'a> {
        let clusters = board.clusters();
        let p = board.problem;
        Search {
            left: evaluations,
            cache: vec![Known::Unknown; clusters * clusters],
            scale: board.mean_rate + p.memory_weight * board.mean_memory,
            board,
        }
    }

    /// Goes on from another board.
    pub fn restore(&mut self, board: &Board<'a>) {
        for j in 0..board.clusters() {
            if self.board.members(j) != board.members(j) {
                self.forget(j);
            }
        }
        self.board = board.clone();
    }

    /// Lowers the sum of squares until no exchange does.
    pub fn smooth(&mut self) {
        let clusters = self.board.clusters();
        loop {
            let mut best: Option<Exchange> = None;
            for a in 0..clusters {
                for b in a + 1..clusters {
                    let at = a * clusters + b;
                    if matches!(self.cache[at], Known::Unknown) {
                        if self.left == 0 {
                            return;
                        }
                        let found = self.best_exchange(a, b, Goal::Squares);
                        self.cache[at] = found.map_or(Known::Nothing, Known::Best);
                    }
                    if let Known::Best(e) = self.cache[at]
                        && best.is_none_or(|b| e.gain > b.gain)
                    {
                        best = Some(e);
                    }
                }
            }
            let Some(e) = best else { return };
            self.exchange(e.a, e.b, e.give, e.take);
        }
    }

    /// Lowers the objective until no exchange with a worst sub-cluster does; no other can.
    pub fn sharp(&mut self) {
        loop {
            let mut best: Option<Exchange> = None;
            let worst = self.board.worst();
            for (n, &a) in worst.iter().enumerate() {
                if worst[..n].contains(&a) {
                    continue;
                }
                for b in (0..self.board.clusters()).filter(|b| *b != a) {
                    if self.left == 0 {
                        return;
                    }
                    let (rate, memory) = self.board.largest_elsewhere(a, b);
                    let found = self.best_exchange(a, b, Goal::Objective { rate, memory });
                    if let Some(e) = found.filter(|e| best.is_none_or(|b| e.gain > b.gain)) {
                        best = Some(e);
                    }
                }
            }
            let Some(e) = best else { return };
            self.exchange(e.a, e.b, e.give, e.take);
        }
    }

    /// Makes an exchange.
    pub fn exchange(&mut self, a: usize, b: usize, give: Option<usize>, take: Option<usize>) {
        self.board.exchange(a, b, give, take);
        self.forget(a);
        self.forget(b);
    }

    fn forget(&mut self, j: usize) {
        let clusters = self.board.clusters();
        for k in 0..clusters {
            self.cache[j.min(k) * clusters + j.max(k)] = Known::Unknown;
        }
    }

    /// The exchange of two sub-clusters that is worth most; none when all make it worse.
    fn best_exchange(&mut self, a: usize, b: usize, goal: Goal) -> Option<Exchange> {
        let board = &self.board;
        let weight = board.problem.memory_weight;
        let unit = if matches!(goal, Goal::Squares) { self.scale * self.scale } else { self.scale };
        let (at_a, at_b) = (board.deviation(a), board.deviation(b));
        let now = goal.value(at_a, at_b);
        let beyond =
            board.problem.violation(board.load(a)) + board.problem.violation(board.load(b));
        let model = |i: Option<usize>| i.map(|i| &board.problem.models[i]);
        let size =
            |m: Option<&ModelLoad>| m.map_or((0.0, 0.0), |m| (m.rate, weight * m.static_mem));
        let with_none = |j| board.members(j).iter().map(|&i| Some(i)).chain([None]);
        let least = LEAST * unit;
        let mut best: Option<Exchange> = None;
        for give in with_none(a) {
            let out = model(give);
            let (r, s) = size(out);
            for take in with_none(b) {
                let into = model(take);
                let (r2, s2) = size(into);
                let (dr, ds) = (r2 - r, s2 - s);
                let after = goal.value((at_a.0 + dr, at_a.1 + ds), (at_b.0 - dr, at_b.1 - ds));
                let mut gain = now - after;
                // Cheap refusals first: almost all exchanges end here.
                if beyond == 0.0 && gain <= least {
                    continue;
                }
                if beyond == 0.0 && best.is_some_and(|e| gain <= e.gain) {
                    continue;
                }
                let relief = beyond - board.violation_after(a, b, out, into);
                if beyond == 0.0 && relief < 0.0 {
                    continue;
                }
                gain += PENALTY * unit * relief;
                if gain > least && best.is_none_or(|e| gain > e.gain) {
                    best = Some(Exchange { a, b, give, take, gain });
                }
            }
        }
        let pairs = (board.members(a).len() + 1) * (board.members(b).len() + 1);
        self.left = self.left.saturating_sub(pairs as u64);
        best
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::partition::{Assignment, Problem};
    use orrery_sim::rng::Stream;

    /// Seven models anywhere on three sub-clusters.
    fn drawn(index: u64) -> (Problem, Assignment) {
        let mut s = Stream::named(1, "descents", index);
        let cluster_of: Vec<usize> = (0..7).map(|_| s.below(3) as usize).collect();
        let model = |_| ModelLoad { rate: s.uniform(), static_mem: s.uniform(), dynamic_mem: 0.0 };
        let problem = Problem {
            models: (0..7).map(model).collect(),
            clusters: 3,
            rate_max: f64::INFINITY,
            memory_max: f64::INFINITY,
            memory_weight: 1.0,
        };
        (problem, Assignment { cluster_of })
    }

    /// Evaluations of one look at all these pairs: no second exchange follows the first.
    fn one_look(board: &Board<'_>, pairs: impl Iterator<Item = (usize, usize)>) -> u64 {
        let models = |j: usize| board.members(j).len() as u64 + 1;
        pairs.map(|(a, b)| models(a) * models(b)).sum()
    }

    /// The most that one exchange lowers what `value` says of a board.
    fn most<'a>(board: &Board<'a>, value: impl Fn(&Board<'a>) -> f64) -> f64 {
        let mut most = 0.0f64;
        for a in 0..board.clusters() {
            for b in (0..board.clusters()).filter(|b| *b != a) {
                let with_none = |j| board.members(j).iter().map(|i| Some(*i)).chain([None]);
                for (give, take) in
                    with_none(a).flat_map(|give| with_none(b).map(move |take| (give, take)))
                {
                    let mut after = board.clone();
                    after.exchange(a, b, give, take);
                    most = most.max(value(board) - value(&after));
                }
            }
        }
        most
    }

    fn squares(board: &Board<'_>) -> f64 {
        (0..board.clusters()).map(|j| board.deviation(j)).map(|(r, m)| r * r + m * m).sum()
    }

    #[test]
    fn the_exchange_that_is_made_is_worth_most() {
        for index in 0..200 {
            let (problem, start) = drawn(index);
            let board = Board::new(&problem, start);
            let near = |made: f64, most: f64| (made - most).abs() <= 1e-6 * most.max(1e-9);

            let pairs = [(0, 1), (0, 2), (1, 2)];
            let mut search = Search::new(board.clone(), one_look(&board, pairs.into_iter()));
            search.smooth();
            let (made, most_of_all) =
                (squares(&board) - squares(&search.board), most(&board, squares));
            assert!(near(made, most_of_all), "{index}: {made} of {most_of_all}");

            let [rate, memory] = board.worst();
            let worst = if rate == memory { vec![rate] } else { vec![rate, memory] };
            let others = |a: usize| (0..3).filter(move |b| *b != a).map(move |b| (a, b));
            let left = one_look(&board, worst.into_iter().flat_map(others));
            let mut search = Search::new(board.clone(), left);
            search.sharp();
            let objective = |board: &Board<'_>| board.rank().1;
            let (made, most_of_all) =
                (objective(&board) - objective(&search.board), most(&board, objective));
            assert!(near(made, most_of_all), "{index}: {made} of {most_of_all}");
        }
    }

    /// However much evener it would be: a hair beyond is beyond.
    #[test]
    fn no_exchange_leads_beyond_a_limit() {
        let model = |rate, static_mem| ModelLoad { rate, static_mem, dynamic_mem: 0.0 };
        let models =
            vec![model(9.0, 0.5), model(9.0, 0.5), model(1.0, 0.4), model(0.0, 0.5 + 1e-8)];
        let (problem, _) = drawn(0);
        let problem =
            Problem { models, clusters: 2, memory_max: 1.0, memory_weight: 0.0, ..problem };
        let board = Board::new(&problem, Assignment { cluster_of: vec![0, 0, 1, 1] });
        assert_eq!(board.rank().0, 0.0);
        let mut search = Search::new(board, 10_000);
        search.smooth();
        search.sharp();
        assert_eq!(search.board.rank().0, 0.0);
    }
}
