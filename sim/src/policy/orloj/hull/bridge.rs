//! The search for a bridge: the line that lies on two hulls beside one another and above both.

use super::exact::{above, slopes};
use super::{Bridge, Hull, Kind, Leaf, Node, Point};
use std::cmp::Ordering;

/// What a step of the search knows now: in which half of a hull the end of the bridge is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Half {
    /// Before or at the first end of the edge looked at.
    First,
    /// At or after its second end.
    Second,
}

/// An edge of a hull.
type Edge = (Point, Point);

impl Hull {
    /// The bridge between two subtrees, all points of the first before those of the second, which begins
    /// with `split`.
    ///
    /// The double binary search: one edge of each hull is looked at, (a, b) of the left and (c, d) of the
    /// right one. Let m be the slope of the bridge (p, q). Slopes fall along a hull, so p is not before b if
    /// (a, b) is steeper than m, and not after a if it is flatter; the same for q with (c, d). Each step goes
    /// down in one tree or in both.
    pub(super) fn bridge(&self, left: Node, right: Node, split: Leaf) -> Bridge {
        let (mut x, mut y) = (left, right);
        loop {
            self.visit();
            let (in_x, in_y) = match (x.kind(), y.kind()) {
                (Kind::Leaf(p), Kind::Leaf(q)) => {
                    let (p_leaf, q_leaf) = (Leaf(p as u32), Leaf(q as u32));
                    let (p, q) = (self.point(p_leaf), self.point(q_leaf));
                    return Bridge { p, q, p_leaf, q_leaf };
                }
                (Kind::Inner(v), Kind::Leaf(q)) => {
                    (Some(before_it(self.edge(v), self.ends[q].point)), None)
                }
                (Kind::Leaf(p), Kind::Inner(w)) => {
                    (None, Some(after_it(self.edge(w), self.ends[p].point)))
                }
                (Kind::Inner(v), Kind::Inner(w)) => {
                    self.halves(self.edge(v), self.edge(w), y, split)
                }
            };
            x = self.child(x, in_x);
            y = self.child(y, in_y);
        }
    }

    /// The end of a bridge in the hull of `right` whose other end is the point `p` before it.
    pub(super) fn touch_right(&self, p: Point, right: Node) -> Leaf {
        let mut y = right;
        loop {
            self.visit();
            match y.kind() {
                Kind::Leaf(q) => return Leaf(q as u32),
                Kind::Inner(w) => y = self.child(y, Some(after_it(self.edge(w), p))),
            }
        }
    }

    /// The end of a bridge in the hull of `left` whose other end is the point `q` after it.
    pub(super) fn touch_left(&self, left: Node, q: Point) -> Leaf {
        let mut x = left;
        loop {
            self.visit();
            match x.kind() {
                Kind::Leaf(p) => return Leaf(p as u32),
                Kind::Inner(v) => x = self.child(x, Some(before_it(self.edge(v), q))),
            }
        }
    }

    /// One step of the double search. At least one half is known.
    fn halves(
        &self,
        (a, b): Edge,
        (c, d): Edge,
        y: Node,
        split: Leaf,
    ) -> (Option<Half>, Option<Half>) {
        use Half::{First, Second};
        if slopes(a, b, c, d) != Ordering::Greater {
            // The lines part to the left and to the right. If d is above the left line, m is steeper; if a
            // is above the right one, m is flatter. If neither is, both are one line, and that is the bridge's.
            return match (above(d, a, b), above(a, c, d)) {
                (true, false) => (Some(First), None),
                (false, true) => (None, Some(Second)),
                _ => (Some(First), Some(Second)),
            };
        }
        // The left edge is steeper. A point of the other side above a line decides for both.
        if above(c, a, b) {
            return (Some(First), Some(First));
        }
        if above(b, c, d) {
            return (Some(Second), Some(Second));
        }
        // The lines meet between b and c: on the left of the border, all of the right hull is below the left
        // line; on its right, all of the left hull is below the right line.
        match lines_at(self.point(split).alpha, (a, b), (c, d)) {
            Some(Ordering::Less) => (None, Some(First)),
            Some(_) => (Some(Second), None),
            None => (Some(self.before_all((a, b), y)), None),
        }
    }

    /// Where the bridge's end is from an edge of the left hull, asked of all of the right hull: without
    /// the border, which floats cannot always decide.
    fn before_all(&self, edge: Edge, right: Node) -> Half {
        let mut y = right;
        loop {
            self.visit();
            match y.kind() {
                Kind::Leaf(z) => return before_it(edge, self.ends[z].point),
                Kind::Inner(w) => {
                    let (c, d) = self.edge(w);
                    let rises = slopes(c, d, edge.0, edge.1) == Ordering::Greater;
                    y = self.child(y, Some(if rises { Half::Second } else { Half::First }));
                }
            }
        }
    }

    fn edge(&self, inner: usize) -> Edge {
        let bridge = &self.inners[inner].bridge;
        (bridge.p, bridge.q)
    }

    fn child(&self, node: Node, half: Option<Half>) -> Node {
        match (node.kind(), half) {
            (Kind::Inner(v), Some(Half::First)) => self.inners[v].left,
            (Kind::Inner(v), Some(Half::Second)) => self.inners[v].right,
            _ => node,
        }
    }
}

/// Where the bridge to the point `q` touches a hull before it, seen from an edge of that hull.
fn before_it((a, b): Edge, q: Point) -> Half {
    if above(q, a, b) { Half::First } else { Half::Second }
}

/// Where the bridge from the point `p` touches a hull after it, seen from an edge of that hull.
fn after_it((c, d): Edge, p: Point) -> Half {
    if above(p, c, d) { Half::Second } else { Half::First }
}

/// How the line through (a, b) compares with the line through (c, d) at this alpha: below, or above. None
/// where floats do not decide.
fn lines_at(alpha: f64, (a, b): Edge, (c, d): Edge) -> Option<Ordering> {
    let (ab, cd) = (b.alpha - a.alpha, d.alpha - c.alpha);
    let start = (a.beta - c.beta) * ab * cd;
    let left = (b.beta - a.beta) * (alpha - a.alpha) * cd;
    let right = (d.beta - c.beta) * (alpha - c.alpha) * ab;
    let difference = start + left - right;
    // Each product has five roundings, the sums two more. Products of three may underflow.
    let unsure = 8.0 * f64::EPSILON * (start.abs() + left.abs() + right.abs()) + 1e-290;
    (difference.abs() > unsure).then(|| difference.total_cmp(&0.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Stream;

    /// Two lines that meet at the border or a unit beside it, against integers. The coordinates need up to
    /// 52 bits and their products 64, so that floats cannot always say which line is above.
    #[test]
    fn where_floats_do_not_decide_nothing_is_said() {
        let draws = &mut Stream::named(1, "lines", 0);
        let (mut unsure, mut wrong) = (0, 0);
        for _ in 0..100_000 {
            let mut below = |n: u64| draws.below(n) as i128;
            let (x, y) = (below(1 << 9), below(1 << 51));
            let mut line = |sign: i128| {
                let (dx, dy) = (1 + below(20), below(1 << 46));
                let (near, far) = (1 + below(3), 4 + below(3));
                let at = |n: i128, off: i128| (x + sign * n * dx, y + sign * n * dy + off);
                (at(near, below(3) - 1), at(far, 0))
            };
            let ((b, a), (c, d)) = (line(-1), line(1));
            let (ab, cd) = (b.0 - a.0, d.0 - c.0);
            let exact =
                (a.1 - c.1) * ab * cd + (b.1 - a.1) * (x - a.0) * cd - (d.1 - c.1) * (x - c.0) * ab;
            let float = |p: (i128, i128)| Point { alpha: p.0 as f64, beta: p.1 as f64 };
            let (ab, cd) = ((float(a), float(b)), (float(c), float(d)));
            match lines_at(x as f64, ab, cd) {
                Some(said) => assert_eq!(said, exact.cmp(&0), "{ab:?} {cd:?} {x}"),
                None => {
                    unsure += 1;
                    wrong += u32::from(exact != 0);
                }
            }
        }
        assert!(unsure > 1_000 && unsure < 50_000 && wrong > 100, "{unsure} {wrong}");
    }
}
