//! Branch and bound on Eq. 3 to 10, from the local search's answer.
//!
//! The relaxation says little: all models spread evenly over all sub-clusters have no deviation at
//! all, so the bound stays near 0 until most models are fixed. Optimality is proven for about ten
//! models; beyond that this is a second search, and none of the larger cases tried was improved.
//! Measured on one core: 400 models on 4 sub-clusters take 1 ms a node; 800 on 20 (16,000 binaries)
//! 0.9 s for the first relaxation and 25 ms a node, and from nothing, without the local search's
//! answer, 1000 nodes of it find no assignment at all.

use super::{Answer, Assignment, PartitionError, Problem, local_search};
use microlp::{
    ComparisonOp, Error, OptimizationDirection, Problem as Program, SolutionStatus, SolveOptions,
    SolveOutcome, Variable,
};

/// The best assignment within `nodes` nodes of branch and bound; never worse than that of the local
/// search with the same `seed` and `evaluations`.
///
/// # Errors
/// When the problem is wrong, has no feasible assignment, or none was found.
pub fn milp(
    problem: &Problem,
    seed: u64,
    evaluations: u64,
    nodes: u64,
) -> Result<Answer, PartitionError> {
    let start = match local_search(problem, seed, evaluations) {
        Ok(answer) => Some(answer.assignment),
        Err(PartitionError::NotFound { .. }) => None,
        Err(other) => return Err(other),
    };
    let program = Formulation::new(problem, start.as_ref());
    let mut options = SolveOptions::default();
    options.node_limit = Some(nodes);
    options.warm_start = start.as_ref().map(|a| program.values(problem, a));
    let (found, proven) = match program.program.solve_with(options) {
        Ok(SolveOutcome::Solution(s)) => {
            let proven = s.status() == SolutionStatus::Optimal;
            (Some(program.assignment(|v| s.var_value(v))), proven)
        }
        Err(Error::Infeasible) if start.is_none() => return Err(PartitionError::Infeasible),
        // A limit, or a failure of its numbers: what the local search found stands.
        Ok(SolveOutcome::Interrupted(_)) | Err(_) => (None, false),
    };
    // The program holds limits within a tolerance of its own; ours is narrower.
    let found = found.filter(|a| problem.is_feasible(a));
    match (found, start) {
        (Some(a), Some(b)) if problem.objective(&b) <= problem.objective(&a) => {
            Ok(Answer { assignment: b, proven })
        }
        (Some(assignment), _) => Ok(Answer { assignment, proven }),
        (None, Some(assignment)) => Ok(Answer { assignment, proven: false }),
        (None, None) => Err(PartitionError::NotFound { count: nodes, unit: "nodes" }),
    }
}

/// The linear program, its numbers relative to the means.
struct Formulation {
    program: Program,
    /// By model and sub-cluster; none where the assignment is ruled out.
    x: Vec<Vec<Option<Variable>>>,
    /// Whether sub-clusters are numbered by their first model, since any numbering does.
    ordered: bool,
}

impl Formulation {
    fn new(problem: &Problem, start: Option<&Assignment>) -> Formulation {
        let mut program = Program::new(OptimizationDirection::Minimize);
        let (rate, memory) = problem.means();
        let (rate, memory) = (positive(rate), positive(memory));
        let weight = problem.memory_weight * memory / rate;
        let dr = program.add_var(1.0, (0.0, f64::INFINITY));
        let ds = program.add_var(weight, (0.0, f64::INFINITY));
        let ordered = problem.models.iter().all(|m| m.current.is_none());
        let may = |i: usize, j: usize| !ordered || j <= i;
        let x: Vec<Vec<Option<Variable>>> = (0..problem.models.len())
            .map(|i| {
                let variable = |j| may(i, j).then(|| program.add_binary_var(0.0));
                (0..problem.clusters).map(variable).collect()
            })
            .collect();
        for row in &x {
            let once: Vec<_> = row.iter().flatten().map(|v| (*v, 1.0)).collect();
            program.add_constraint(once, ComparisonOp::Eq, 1.0);
        }
        let mut formulation = Formulation { program, x, ordered };
        for j in 0..problem.clusters {
            formulation.balance(problem, j, (dr, rate), (ds, memory));
        }
        formulation.limits(problem, start);
        formulation
    }

    /// The terms of a sub-cluster: a number of each of its models.
    fn terms(&self, j: usize, value: impl Fn(usize) -> f64) -> Vec<(Variable, f64)> {
        let of = |(i, row): (usize, &Vec<Option<Variable>>)| row[j].map(|v| (v, value(i)));
        self.x.iter().enumerate().filter_map(of).collect()
    }

    /// Eq. 6 and 7.
    fn balance(&mut self, p: &Problem, j: usize, dr: (Variable, f64), ds: (Variable, f64)) {
        let rates = self.terms(j, |i| p.models[i].rate / dr.1);
        let sizes = self.terms(j, |i| p.models[i].static_mem / ds.1);
        let even = |total: f64| if total > 0.0 { 1.0 } else { 0.0 };
        let (rate, memory) = p.means();
        for (mut terms, slack, mean) in [(rates, dr.0, even(rate)), (sizes, ds.0, even(memory))] {
            terms.push((slack, -1.0));
            self.program.add_constraint(terms.clone(), ComparisonOp::Le, mean);
            *terms.last_mut().expect("the slack") = (slack, 1.0);
            self.program.add_constraint(terms, ComparisonOp::Ge, mean);
        }
    }

    /// Eq. 4, 5 and 10; those left out that a better assignment than `start` keeps in any case.
    fn limits(&mut self, p: &Problem, start: Option<&Assignment>) {
        let (rate, memory) = p.means();
        let most = start.map_or(f64::INFINITY, |a| p.objective(a));
        let most_memory =
            if p.memory_weight > 0.0 { most / p.memory_weight } else { f64::INFINITY };
        let largest = p.models.iter().map(|m| m.dynamic_mem).fold(0.0, f64::max);
        for j in 0..p.clusters {
            if p.rate_max.is_finite() && rate + most > p.rate_max {
                let terms = self.terms(j, |i| p.models[i].rate / positive(p.rate_max));
                self.program.add_constraint(terms, ComparisonOp::Le, within(p.rate_max));
            }
            if p.memory_max.is_finite() && memory + most_memory + largest > p.memory_max {
                self.memory_limit(p, j);
            }
        }
        if p.cost_max.is_finite() {
            let unit = positive(p.cost_max);
            let cost = |j: usize| self.terms(j, |i| p.models[i].cost_in(j) / unit);
            let terms: Vec<_> = (0..p.clusters).flat_map(cost).collect();
            self.program.add_constraint(terms, ComparisonOp::Le, within(p.cost_max));
        }
    }

    /// Eq. 5, its maximum as a variable that is at least each term.
    fn memory_limit(&mut self, p: &Problem, j: usize) {
        let unit = positive(p.memory_max);
        let top = self.program.add_var(0.0, (0.0, 1.0));
        for (i, row) in self.x.iter().enumerate() {
            if let Some(v) = row[j] {
                let terms = [(top, 1.0), (v, -p.models[i].dynamic_mem / unit)];
                self.program.add_constraint(terms, ComparisonOp::Ge, 0.0);
            }
        }
        let mut terms = self.terms(j, |i| p.models[i].static_mem / unit);
        terms.push((top, 1.0));
        self.program.add_constraint(terms, ComparisonOp::Le, within(p.memory_max));
    }

    /// An assignment as values of the binaries; the solver finds the others.
    fn values(&self, p: &Problem, a: &Assignment) -> Vec<(Variable, f64)> {
        let mut number: Vec<Option<usize>> = vec![None; p.clusters];
        let mut next = 0;
        let mut values = Vec::new();
        for (row, &j) in self.x.iter().zip(&a.cluster_of) {
            let j = if self.ordered {
                *number[j].get_or_insert_with(|| {
                    next += 1;
                    next - 1
                })
            } else {
                j
            };
            let of = |(k, v): (usize, &Option<Variable>)| Some(((*v)?, f64::from(k == j)));
            values.extend(row.iter().enumerate().filter_map(of));
        }
        values
    }

    fn assignment(&self, value: impl Fn(Variable) -> f64) -> Assignment {
        let of = |row: &Vec<Option<Variable>>| {
            let value = |j: usize| row[j].map_or(-1.0, &value);
            (0..row.len()).max_by(|&a, &b| value(a).total_cmp(&value(b))).unwrap_or(0)
        };
        Assignment { cluster_of: self.x.iter().map(of).collect() }
    }
}

/// A divisor: 1 in place of 0.
fn positive(x: f64) -> f64 {
    if x > 0.0 { x } else { 1.0 }
}

/// A limit in units of itself.
fn within(limit: f64) -> f64 {
    if limit > 0.0 { 1.0 } else { 0.0 }
}
