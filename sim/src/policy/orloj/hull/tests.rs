//! The hull against brute force, its invariants, and its cost in visited nodes.

use super::*;
use crate::distribution::Histogram;
use crate::policy::score::ScoreTable;
use crate::rng::Stream;
use crate::time::Span;

impl Hull {
    /// What must hold of every node. The points of the subtree, in order.
    fn check(&self, node: Node, parent: u32, out: &mut Vec<(Leaf, Point)>) -> u8 {
        let from = out.len();
        match node.kind() {
            Kind::Leaf(leaf) => {
                let End { point, parent: above } = self.ends[leaf];
                assert_eq!(above, parent);
                out.push((Leaf(leaf as u32), point));
                0
            }
            Kind::Inner(v) => {
                let inner = &self.inners[v];
                assert_eq!(inner.parent, parent);
                let left = self.check(inner.left, v as u32, out);
                let middle = out.len();
                let right = self.check(inner.right, v as u32, out);
                assert_eq!(inner.height, 1 + left.max(right));
                assert!(left.abs_diff(right) <= 1, "balanced");
                assert_eq!(inner.split, out[middle].0);
                let Bridge { p, q, p_leaf, q_leaf } = inner.bridge;
                assert!(out[from..middle].contains(&(p_leaf, p)), "p is in the left child");
                assert!(out[middle..].contains(&(q_leaf, q)), "q is in the right child");
                let under = out[from..].iter().all(|(_, z)| !exact::above(*z, p, q));
                assert!(under, "nothing is above a bridge");
                inner.height
            }
        }
    }

    /// All points in order, after the invariants were checked.
    fn checked(&self) -> Vec<(Leaf, Point)> {
        let mut points = Vec::new();
        if let Some(root) = self.root {
            self.check(root, NONE, &mut points);
        }
        assert!(points.windows(2).all(|w| w[0].1.order(&w[1].1) == Ordering::Less), "in order");
        assert_eq!(points.len(), self.len());
        assert_eq!(self.inners.len() - self.free_inners.len(), points.len().saturating_sub(1));
        points
    }
}

fn unit(draws: &mut Stream) -> f64 {
    draws.below(1 << 53) as f64 / (1u64 << 53) as f64
}

/// Kinds of points: what a hull may meet.
const KINDS: [&str; 10] = [
    "anywhere",
    "grid",
    "line",
    "flat",
    "column",
    "parabola",
    "valley",
    "below zero",
    "clusters",
    "requests",
];

fn point(kind: &str, draws: &mut Stream) -> Point {
    if kind == "requests" {
        return request(draws);
    }
    let (x, y) = (unit(draws), unit(draws));
    let (alpha, beta) = match kind {
        "anywhere" => (x - 0.5, y - 0.5),
        // Many equal and collinear points.
        "grid" => ((x * 6.0).floor(), (y * 6.0).floor()),
        "line" => (x, 0.1 * x + 0.3),
        "flat" => (x, 0.0),
        "column" => ((x * 2.0).floor(), y),
        "parabola" => (x, 1.0 - x * x),
        "valley" => (x, x * x),
        "below zero" => (-x, y),
        _ => ((x * 4.0).floor() + 1e-13 * y, (y * 4.0).floor() + 1e-13 * x),
    };
    Point { alpha, beta }
}

/// The point of a request of one of two laws, with a slack inside or beyond the law.
fn request(draws: &mut Stream) -> Point {
    let longest = 40 + 25 * draws.below(2);
    let edges = (0..=64).map(|i| 1e6 * (10.0 + (longest * i) as f64 / 64.0)).collect();
    let law = Histogram::from_masses(edges, (0..64).map(|i| f64::from(1 + i % 7)));
    let slack = Span::from_us(11_000 + 1_000 * draws.below(100) + draws.below(2));
    let since_base = Span::from_secs(3);
    let line = ScoreTable::new(&law, 1e-4).line(slack, slack + since_base, 100.0);
    let line = line.expect("more slack than the least latency");
    Point { alpha: line.alpha, beta: line.beta + line.doubt }
}

/// The highest of all, by looking at each.
fn highest(points: &[Point], u: f64) -> Point {
    let mut all = points.iter().copied();
    let first = all.next().expect("not asked of none");
    all.fold(first, |best, p| match exact::values(p, best, u) {
        Ordering::Greater => p,
        _ => best,
    })
}

#[test]
fn ten_thousand_random_changes_of_each_kind_agree_with_brute_force() {
    for kind in KINDS {
        let draws = &mut Stream::named(7, kind, 0);
        let mut hull = Hull::default();
        let mut there: Vec<(Leaf, Point)> = Vec::new();
        for step in 0..10_000 {
            // Grows to some 60 points, then falls, again and again.
            let grows = step / 100 % 2 == 0;
            if there.is_empty() || (draws.below(10) < 7) == grows {
                let point = point(kind, draws);
                let leaf = hull.insert(point);
                match there.iter().find(|(_, other)| *other == point) {
                    Some((old, _)) => assert_eq!(*old, leaf, "equal points share a leaf"),
                    None => there.push((leaf, point)),
                }
            } else {
                let (leaf, _) = there.swap_remove(draws.below(there.len() as u64) as usize);
                hull.remove(leaf);
            }
            if step % 3 != 0 {
                continue;
            }
            let mut points = hull.checked();
            if step % 97 == 0 {
                let inside: Vec<Point> = points.iter().map(|p| p.1).collect();
                hull.build(&inside);
                there = hull.checked();
                points.clone_from(&there);
                assert_eq!(inside, points.iter().map(|p| p.1).collect::<Vec<_>>());
            }
            there.sort_by(|a, b| a.1.order(&b.1));
            assert_eq!(there, points, "{kind}, step {step}");
            let points: Vec<Point> = points.into_iter().map(|p| p.1).collect();
            for u in [1e-9, 0.1, 1.0, 1.5 + unit(draws), 1e9] {
                let top = hull.top(u).map(|leaf| hull.point(leaf));
                let Some(top) = top else { break };
                let best = highest(&points, u);
                assert_eq!(exact::values(top, best, u), Ordering::Equal, "{kind}, step {step}");
            }
        }
    }
}

#[test]
fn equal_points_are_built_with_one_leaf() {
    let (a, b) = (Point { alpha: 0.0, beta: 1.0 }, Point { alpha: 1.0, beta: 1.0 });
    let mut hull = Hull::default();
    let leaves = hull.build(&[a, a, b, b, b]);
    assert_eq!(leaves, [0, 0, 1, 1, 1].map(Leaf));
    assert_eq!(hull.len(), 2);
    assert_eq!(hull.build(&[]), []);
    assert_eq!((hull.top(1.0), hull.is_empty()), (None, true));
}

/// Mean visits of an insertion, of a removal of what was inserted, and of the removal of what a query
/// found, with n points inside.
fn visits(n: u64, kind: &str) -> [f64; 3] {
    let draws = &mut Stream::named(3, kind, n);
    let mut hull = Hull::default();
    let mut points: Vec<Point> = (0..n).map(|_| point(kind, draws)).collect();
    points.sort_by(Point::order);
    hull.build(&points);
    let mut sums = [0; 3];
    for _ in 0..100 {
        let start = hull.visits.get();
        let leaf = hull.insert(point(kind, draws));
        let inserted = hull.visits.get();
        hull.remove(leaf);
        let removed = hull.visits.get();
        let top = hull.top(0.5 + unit(draws)).expect("there are points");
        let point = hull.point(top);
        let found = hull.visits.get();
        hull.remove(top);
        sums[0] += inserted - start;
        sums[1] += removed - inserted;
        sums[2] += hull.visits.get() - found;
        hull.insert(point);
    }
    sums.map(|sum| sum as f64 / 100.0)
}

/// The costs fit a + c log^2 n with the same small a and c from ten points to a hundred thousand. On a
/// parabola every point is on the hull, so that every insertion changes bridges.
#[test]
fn insertions_and_removals_visit_at_most_order_of_log_squared_nodes() {
    for kind in ["anywhere", "parabola", "valley", "flat", "requests"] {
        for n in [10, 100, 1_000, 10_000, 100_000] {
            let log = libm::log2(n as f64);
            let (found, bound) = (visits(n, kind), 15.0 + 0.8 * log * log);
            eprintln!("{kind} {n}: {found:.1?} {bound:.0}");
            assert!(found.iter().all(|v| *v <= bound), "{kind} {n}: {found:?} {bound}");
        }
    }
}

#[test]
fn a_query_visits_the_height_of_the_tree_and_sorted_insertions_keep_it_low() {
    for kind in ["parabola", "valley"] {
        let mut hull = Hull::default();
        for i in 0..100_000 {
            let x = f64::from(i) / 1e5;
            let beta = if kind == "valley" { x * x } else { 1.0 - x * x };
            hull.insert(Point { alpha: x, beta });
        }
        let before = hull.visits.get();
        hull.top(1.3);
        // An AVL tree of 100,000 leaves is at most 1.44 log2(n) high.
        assert!(hull.visits.get() - before <= 25);
        assert_eq!(hull.checked().len(), 100_000);
    }
}
