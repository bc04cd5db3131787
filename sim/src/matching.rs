//! Min-cost matching: the dense rectangular linear assignment problem, by shortest augmenting paths.
//!
//! Each row takes at most one column and each column at most one row; `min(rows, columns)` pairs are
//! made, and their costs add up to the least possible. The algorithm is Jonker and Volgenant's
//! (Computing 38, 1987): row reduction, augmenting row reduction, then a shortest augmenting path for
//! each row that is left. It knows nothing of queries and instances.
//!
//! # Ties
//! Kairos's costs are additive (a weight times the sum of what the instance has left and what the
//! query takes), so equal sums are the rule and not the exception. The answer is therefore a function
//! of the matrix alone and not of the algorithm: **of all matchings of least cost, the one in which
//! row 0 takes the smallest column that it has in any of them, then row 1 the smallest that it has in
//! any of those, and so on; no column at all comes after every column.** `ties.rs` sees to it.
//!
//! # Costs
//! Whole numbers (`i64`), because only those make a tie a tie: a float's sum depends on its order.
//! They may be negative; each must be within ±[`COST_MAX`], so that no sum of an augmenting path
//! overflows.

mod ties;

pub use ties::NONE;
use ties::Ties;

/// The largest cost.
pub const COST_MAX: i64 = 1 << 49;
/// The most rows, or columns: prices are sums of at most so many costs.
pub const SIDE_MAX: usize = 1 << 12;

/// A solver with its memory, which it keeps: a second problem of the same size allocates nothing.
#[derive(Debug, Default)]
pub struct Matcher {
    /// The costs with the short side as rows, where the caller's matrix has more rows than columns.
    turned: Vec<i64>,
    /// By agent (the short side): its object (the long side).
    object_of: Vec<u32>,
    /// By object: its agent.
    agent_of: Vec<u32>,
    /// By object: its price, at most 0; 0 for all that no agent has.
    price: Vec<i64>,
    free: Vec<u32>,
    waiting: Vec<u32>,
    /// The search's distances and ways back, by object.
    distance: Vec<i64>,
    from: Vec<u32>,
    /// Objects: those that are done, those at the least distance, the others.
    order: Vec<u32>,
    ties: Ties,
    answer: Vec<u32>,
}

impl Matcher {
    /// The column of each row, or [`NONE`], after the tie rule of the module's text. `costs` is by
    /// rows: row `r` is `costs[r * columns..][..columns]`.
    ///
    /// # Panics
    /// When the matrix has not `rows * columns` costs or a side is too long; in debug builds, when a
    /// cost is beyond [`COST_MAX`].
    pub fn solve(&mut self, rows: usize, columns: usize, costs: &[i64]) -> &[u32] {
        assert_eq!(costs.len(), rows * columns, "a matrix of {rows} rows and {columns} columns");
        assert!(rows <= SIDE_MAX && columns <= SIDE_MAX, "{rows} rows, {columns} columns");
        debug_assert!(costs.iter().all(|c| (-COST_MAX..=COST_MAX).contains(c)), "a cost too large");
        self.answer.clear();
        self.answer.resize(rows, NONE);
        match (rows, columns) {
            (0, _) | (_, 0) => {}
            (1, _) => self.answer[0] = first_least(costs),
            (_, 1) => self.answer[first_least(costs) as usize] = 0,
            _ if rows <= columns => {
                self.match_agents(rows, columns, costs);
                self.ties.settle_rows(columns, costs, &self.price, &mut self.object_of);
                self.answer.copy_from_slice(&self.object_of);
            }
            _ => {
                let mut turned = std::mem::take(&mut self.turned);
                turned.clear();
                turned.extend(
                    (0..columns)
                        .flat_map(|c| (0..rows).map(move |r| r * columns + c))
                        .map(|at| costs[at]),
                );
                self.match_agents(columns, rows, &turned);
                self.ties.settle_columns(
                    columns,
                    &turned,
                    &self.price,
                    &self.object_of,
                    &mut self.answer,
                );
                self.turned = turned;
            }
        }
        &self.answer
    }

    /// A matching of least cost with its prices. There are no more agents than objects.
    fn match_agents(&mut self, agents: usize, objects: usize, costs: &[i64]) {
        self.object_of.clear();
        self.object_of.resize(agents, NONE);
        self.agent_of.clear();
        self.agent_of.resize(objects, NONE);
        self.price.clear();
        self.price.resize(objects, 0);
        self.distance.resize(objects, 0);
        self.from.resize(objects, 0);
        self.reduce_rows(costs, objects);
        self.reduce_augmenting(costs, objects);
        let free = std::mem::take(&mut self.free);
        for &agent in &free {
            self.augment(agent, costs, objects);
        }
        self.free = free;
    }

    /// Each agent asks for its cheapest object; the first to ask has it.
    fn reduce_rows(&mut self, costs: &[i64], objects: usize) {
        self.free.clear();
        for (agent, row) in costs.chunks_exact(objects).enumerate() {
            let least = first_least(row) as usize;
            if self.agent_of[least] == NONE {
                self.give(agent as u32, least);
            } else {
                self.free.push(agent as u32);
            }
        }
    }

    fn give(&mut self, agent: u32, object: usize) {
        self.agent_of[object] = agent;
        self.object_of[agent as usize] = object as u32;
    }

    /// Augmenting row reduction: a free agent takes its best object at a price at which the second
    /// best is as good; whoever had it is free. An object once taken is never free again, so prices of
    /// free objects stay 0.
    fn reduce_augmenting(&mut self, costs: &[i64], objects: usize) {
        let mut steps = 4 * self.object_of.len() + 16;
        std::mem::swap(&mut self.free, &mut self.waiting);
        self.free.clear();
        let mut at = 0;
        while at < self.waiting.len() {
            let agent = self.waiting[at];
            at += 1;
            if steps == 0 {
                self.free.push(agent);
                continue;
            }
            steps -= 1;
            let row = &costs[agent as usize * objects..][..objects];
            let (least, next, mut best, second) = self.two_least(row);
            if least < next {
                self.price[best] -= next - least;
            } else if self.agent_of[best] != NONE {
                best = second;
            }
            let had = self.agent_of[best];
            self.give(agent, best);
            if had != NONE {
                if least < next {
                    at -= 1;
                    self.waiting[at] = had;
                } else {
                    self.free.push(had);
                }
            }
        }
    }

    /// The least and second least reduced cost of a row, and their objects.
    fn two_least(&self, row: &[i64]) -> (i64, i64, usize, usize) {
        let (mut least, mut next) = (i64::MAX, i64::MAX);
        let (mut best, mut second) = (0, 0);
        for (object, (cost, price)) in row.iter().zip(&self.price).enumerate() {
            let reduced = cost - price;
            if reduced < next {
                if reduced < least {
                    (next, second) = (least, best);
                    (least, best) = (reduced, object);
                } else {
                    (next, second) = (reduced, object);
                }
            }
        }
        (least, next, best, second)
    }

    /// A shortest path from a free agent to a free object: Dijkstra over reduced costs, all objects of
    /// one distance at a time.
    fn augment(&mut self, start: u32, costs: &[i64], objects: usize) {
        let row = &costs[start as usize * objects..][..objects];
        for (object, cost) in row.iter().enumerate() {
            self.distance[object] = cost - self.price[object];
            self.from[object] = start;
        }
        self.order.clear();
        self.order.extend(0..objects as u32);
        // order[..low] is done, order[low..up] is at distance `least`.
        let (mut low, mut up, mut done, mut least) = (0, 0, 0, 0);
        let end = 'search: loop {
            if low == up {
                done = low;
                least = i64::MAX;
                for at in low..objects {
                    let object = self.order[at];
                    let distance = self.distance[object as usize];
                    if distance <= least {
                        if distance < least {
                            (up, least) = (low, distance);
                        }
                        self.order[at] = self.order[up];
                        self.order[up] = object;
                        up += 1;
                    }
                }
                let free = |o: &&u32| self.agent_of[**o as usize] == NONE;
                if let Some(&object) = self.order[low..up].iter().find(free) {
                    break object;
                }
            }
            let object = self.order[low] as usize;
            low += 1;
            let agent = self.agent_of[object];
            let row = &costs[agent as usize * objects..][..objects];
            let base = row[object] - self.price[object] - least;
            let others = up..objects;
            for at in others {
                let object = self.order[at] as usize;
                let distance = row[object] - self.price[object] - base;
                if distance < self.distance[object] {
                    self.distance[object] = distance;
                    self.from[object] = agent;
                    if distance == least {
                        if self.agent_of[object] == NONE {
                            break 'search object as u32;
                        }
                        self.order[at] = self.order[up];
                        self.order[up] = object as u32;
                        up += 1;
                    }
                }
            }
        };
        for &object in &self.order[..done] {
            self.price[object as usize] += self.distance[object as usize] - least;
        }
        let mut object = end;
        loop {
            let agent = self.from[object as usize];
            self.agent_of[object as usize] = agent;
            object = std::mem::replace(&mut self.object_of[agent as usize], object);
            if agent == start {
                break;
            }
        }
    }
}

/// Where the first of the least costs is.
fn first_least(costs: &[i64]) -> u32 {
    let mut best = 0;
    for (at, cost) in costs.iter().enumerate() {
        if *cost < costs[best] {
            best = at;
        }
    }
    best as u32
}

#[cfg(test)]
mod tests;
