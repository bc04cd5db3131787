//! The upper hull of points that come and go: Overmars and van Leeuwen, "Maintenance of configurations in
//! the plane" (1981), which Orloj's §4.4 takes for its priority queue.
//!
//! It knows points only, neither requests nor time.
//!
//! A request with the score alpha u + beta is the point (alpha, beta). For any u > 0 the highest score is
//! a corner of the upper hull. The points are the leaves of a balanced tree, in the order of alpha, then
//! beta. An inner node stands for the upper hull of its leaves and stores one edge of it: the *bridge*,
//! which joins the hull of its left child to that of its right child.
//!
//! ```text
//!             p ______ q            bridge (p, q)
//!           /            \
//!        hull of       hull of      the hull of both: the left one up to p, the bridge,
//!       the left      the right     the right one from q on
//! ```
//!
//! - *query*: at each node the slope of its bridge says in which child the answer is; O(log n).
//! - *insert*: a new point that is not above a node's bridge leaves the bridge as it is; one above it is an
//!   end of the new bridge, and a search in the other child finds the other end.
//! - *remove*: a bridge changes only if the point was an end of it. The new one is found by the double
//!   binary search of the paper, in `bridge`; O(log n) for each node on the path, O(log^2 n) together.
//!
//! # Differences from the paper
//! Overmars and van Leeuwen keep at each node the part of its hull that is not on its parent's hull, as a
//! concatenable queue, and split and join these on the way. They search in such a queue; but the tree
//! itself is a search tree over the same edges, because the bridges of a node's descendants are the edges
//! of its hull and others that the search passes without harm. So only bridges are stored, and nothing is
//! split or joined. The bounds are the same, but for one step of a search: where floats cannot say whether two
//! lines meet left or right of the border, it asks the whole other hull, O(log n), instead of computing
//! a determinant of the third degree exactly.

mod balance;
mod bridge;
mod exact;
mod point;
#[cfg(test)]
mod tests;

pub use point::Point;

use std::cmp::Ordering;

/// A leaf of the tree: where a point is, for as long as it is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Leaf(u32);

impl Leaf {
    /// A number below that of all leaves there ever were at once.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A leaf or an inner node: the lowest bit says which.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Node(u32);

/// In place of the parent of the root.
const NONE: u32 = u32::MAX;

enum Kind {
    Leaf(usize),
    Inner(usize),
}

impl Node {
    fn leaf(leaf: Leaf) -> Node {
        Node(leaf.0 << 1)
    }

    fn inner(index: usize) -> Node {
        Node((index as u32) << 1 | 1)
    }

    #[inline]
    fn kind(self) -> Kind {
        match self.0 & 1 {
            0 => Kind::Leaf((self.0 >> 1) as usize),
            _ => Kind::Inner((self.0 >> 1) as usize),
        }
    }
}

#[derive(Clone, Copy, Debug)]
struct End {
    point: Point,
    /// The inner node above it.
    parent: u32,
}

/// The edge that joins the hulls of a node's children.
#[derive(Clone, Copy, Debug)]
struct Bridge {
    p: Point,
    q: Point,
    p_leaf: Leaf,
    q_leaf: Leaf,
}

#[derive(Clone, Copy, Debug)]
struct Inner {
    bridge: Bridge,
    left: Node,
    right: Node,
    /// The inner node above it.
    parent: u32,
    /// The first leaf of the right child: what comes before it is in the left.
    split: Leaf,
    /// Of a leaf: 0.
    height: u8,
}

/// The points and their upper hull.
///
/// ```
/// use orrery_sim::policy::orloj::hull::{Hull, Point};
///
/// let mut hull = Hull::default();
/// let flat = hull.insert(Point { alpha: 0.0, beta: 2.0 });
/// let steep = hull.insert(Point { alpha: 1.0, beta: 0.0 });
/// assert_eq!(hull.top(1.0), Some(flat));
/// assert_eq!(hull.top(3.0), Some(steep));
/// hull.remove(steep);
/// assert_eq!(hull.top(3.0), Some(flat));
/// ```
#[derive(Clone, Debug, Default)]
pub struct Hull {
    root: Option<Node>,
    ends: Vec<End>,
    inners: Vec<Inner>,
    free_ends: Vec<u32>,
    free_inners: Vec<u32>,
    /// Nodes that searches have visited, for the tests of their cost.
    #[cfg(test)]
    visits: std::cell::Cell<u64>,
}

impl Hull {
    /// How many points there are; equal ones count once.
    pub fn len(&self) -> usize {
        self.ends.len() - self.free_ends.len()
    }

    /// Whether there is no point.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The point of a leaf.
    #[inline]
    pub fn point(&self, leaf: Leaf) -> Point {
        self.ends[leaf.index()].point
    }

    /// The leaf with the highest value of alpha u + beta, for u > 0. Of several, any.
    pub fn top(&self, u: f64) -> Option<Leaf> {
        let mut at = self.root?;
        loop {
            self.visit();
            match at.kind() {
                Kind::Leaf(leaf) => return Some(Leaf(leaf as u32)),
                Kind::Inner(v) => {
                    let v = &self.inners[v];
                    let ahead = exact::values(v.bridge.q, v.bridge.p, u) == Ordering::Greater;
                    at = if ahead { v.right } else { v.left };
                }
            }
        }
    }

    /// Adds a point, unless it is there; the leaf that has it.
    pub fn insert(&mut self, point: Point) -> Leaf {
        let Some(root) = self.root else {
            let leaf = self.new_end(point);
            self.root = Some(Node::leaf(leaf));
            return leaf;
        };
        let mut at = root;
        let beside = loop {
            self.visit();
            match at.kind() {
                Kind::Leaf(leaf) => break leaf,
                Kind::Inner(v) => {
                    let v = &self.inners[v];
                    at = if self.is_left(v, point) { v.left } else { v.right };
                }
            }
        };
        let old = Leaf(beside as u32);
        let End { point: there, parent } = self.ends[beside];
        if there == point {
            return old;
        }
        let new = self.new_end(point);
        let (first, second) =
            if point.order(&there) == Ordering::Less { (new, old) } else { (old, new) };
        let pair = self.new_inner(Node::leaf(first), Node::leaf(second), second);
        self.hang(parent, at, pair);
        self.rise(parent, new);
        new
    }

    /// Whether a point belongs in the left child. The bridge mostly says so, which is at hand.
    #[inline]
    fn is_left(&self, v: &Inner, point: Point) -> bool {
        point.order(&v.bridge.p) != Ordering::Greater
            || (point.order(&v.bridge.q) == Ordering::Less
                && point.order(&self.point(v.split)) == Ordering::Less)
    }

    /// Takes a point out.
    pub fn remove(&mut self, leaf: Leaf) {
        let parent = self.ends[leaf.index()].parent;
        self.free_ends.push(leaf.0);
        if parent == NONE {
            self.root = None;
            return;
        }
        let Inner { left, right, parent: above, split, .. } = self.inners[parent as usize];
        self.free_inners.push(parent);
        let first = left == Node::leaf(leaf);
        self.hang(above, Node::inner(parent as usize), if first { right } else { left });
        let next = first.then_some(split);
        self.settle(above, leaf, next);
    }

    /// Has these points and no others. They are in order; equal ones share a leaf. One leaf for each.
    pub fn build(&mut self, points: &[Point]) -> Vec<Leaf> {
        self.ends.clear();
        self.inners.clear();
        self.free_ends.clear();
        self.free_inners.clear();
        let mut leaves: Vec<Leaf> = Vec::with_capacity(points.len());
        for (i, &point) in points.iter().enumerate() {
            let again = i.checked_sub(1).filter(|&before| points[before] == point);
            leaves.push(again.map_or_else(|| self.new_end(point), |before| leaves[before]));
        }
        let ends = self.ends.len();
        self.root = (ends > 0).then(|| self.balanced(0, ends));
        leaves
    }

    /// A tree over the leaves from `from` to before `to`.
    fn balanced(&mut self, from: usize, to: usize) -> Node {
        if to - from == 1 {
            return Node::leaf(Leaf(from as u32));
        }
        let middle = from + (to - from) / 2;
        let (left, right) = (self.balanced(from, middle), self.balanced(middle, to));
        self.new_inner(left, right, Leaf(middle as u32))
    }

    fn new_end(&mut self, point: Point) -> Leaf {
        debug_assert!(point.alpha.is_finite() && point.beta.is_finite(), "{point:?}");
        let end = End { point, parent: NONE };
        match self.free_ends.pop() {
            Some(free) => {
                self.ends[free as usize] = end;
                Leaf(free)
            }
            None => {
                self.ends.push(end);
                Leaf(self.ends.len() as u32 - 1)
            }
        }
    }

    /// A node above two others, without a parent.
    fn new_inner(&mut self, left: Node, right: Node, split: Leaf) -> Node {
        let inner = Inner {
            bridge: self.bridge(left, right, split),
            left,
            right,
            parent: NONE,
            split,
            height: 1 + self.height(left).max(self.height(right)),
        };
        let index = match self.free_inners.pop() {
            Some(free) => {
                self.inners[free as usize] = inner;
                free as usize
            }
            None => {
                self.inners.push(inner);
                self.inners.len() - 1
            }
        };
        self.set_parent(left, index as u32);
        self.set_parent(right, index as u32);
        Node::inner(index)
    }

    fn set_parent(&mut self, node: Node, parent: u32) {
        match node.kind() {
            Kind::Leaf(leaf) => self.ends[leaf].parent = parent,
            Kind::Inner(v) => self.inners[v].parent = parent,
        }
    }

    /// Puts `new` where `old` is under `parent`, or makes it the root.
    fn hang(&mut self, parent: u32, old: Node, new: Node) {
        self.set_parent(new, parent);
        match self.inners.get_mut(parent as usize) {
            None => self.root = Some(new),
            Some(above) if above.left == old => above.left = new,
            Some(above) => above.right = new,
        }
    }

    #[inline]
    fn visit(&self) {
        #[cfg(test)]
        self.visits.set(self.visits.get() + 1);
    }
}
