//! The way from a changed leaf up to the root: bridges, heights and rotations (an AVL tree).

use super::exact::above;
use super::{Bridge, Hull, Kind, Leaf, NONE, Node};
use std::cmp::Ordering;

impl Hull {
    #[inline]
    pub(super) fn height(&self, node: Node) -> u8 {
        match node.kind() {
            Kind::Leaf(_) => 0,
            Kind::Inner(v) => self.inners[v].height,
        }
    }

    /// After the leaf `new` was added below the inner node `from`.
    pub(super) fn rise(&mut self, from: u32, new: Leaf) {
        let n = self.point(new);
        // Whether the new point may be on the hull of the node before.
        let mut on_hull = true;
        let mut at = from;
        while at != NONE {
            self.visit();
            let v = self.inners[at as usize];
            if on_hull {
                let Bridge { p, q, .. } = v.bridge;
                let first = self.is_left(&v, n);
                if above(n, p, q) {
                    self.inners[at as usize].bridge = if first {
                        let q_leaf = self.touch_right(n, v.right);
                        Bridge { p: n, q: self.point(q_leaf), p_leaf: new, q_leaf }
                    } else {
                        let p_leaf = self.touch_left(v.left, n);
                        Bridge { p: self.point(p_leaf), q: n, p_leaf, q_leaf: new }
                    };
                } else {
                    // Under the bridge: no hull further up has it either.
                    on_hull = n.order(if first { &p } else { &q })
                        == if first { Ordering::Less } else { Ordering::Greater };
                }
            }
            let top = self.balance(at);
            let same_height = self.inners[top as usize].height == v.height;
            if same_height && !on_hull {
                return;
            }
            at = self.inners[top as usize].parent;
        }
    }

    /// After the leaf `old` was taken out below the inner node `from`. `next` is the leaf after it, if it was the
    /// first of some subtree.
    pub(super) fn settle(&mut self, from: u32, old: Leaf, next: Option<Leaf>) {
        let mut at = from;
        while at != NONE {
            self.visit();
            let v = &mut self.inners[at as usize];
            if v.split == old {
                v.split = next.expect("a split is the first leaf of a subtree");
            }
            let (left, right, split) = (v.left, v.right, v.split);
            if v.bridge.p_leaf == old || v.bridge.q_leaf == old {
                self.inners[at as usize].bridge = self.bridge(left, right, split);
            }
            let top = self.balance(at);
            at = self.inners[top as usize].parent;
        }
    }

    /// Makes the height of an inner node right, and rotates where one child is higher than the other by
    /// two; the node that is there now.
    fn balance(&mut self, at: u32) -> u32 {
        let v = self.inners[at as usize];
        let (left, right) = (self.height(v.left), self.height(v.right));
        if left > right + 1 {
            let w = index(v.left);
            if self.height(self.inners[w].left) < self.height(self.inners[w].right) {
                self.rotate_left(w);
            }
            return self.rotate_right(at as usize);
        }
        if right > left + 1 {
            let w = index(v.right);
            if self.height(self.inners[w].right) < self.height(self.inners[w].left) {
                self.rotate_right(w);
            }
            return self.rotate_left(at as usize);
        }
        self.inners[at as usize].height = 1 + left.max(right);
        at
    }

    /// The left child of `v` comes in its place.
    fn rotate_right(&mut self, v: usize) -> u32 {
        let w = index(self.inners[v].left);
        let middle = self.inners[w].right;
        self.hang(self.inners[v].parent, Node::inner(v), Node::inner(w));
        self.inners[v].left = middle;
        self.set_parent(middle, v as u32);
        self.inners[w].right = Node::inner(v);
        self.inners[v].parent = w as u32;
        self.renew(v);
        self.renew(w);
        w as u32
    }

    /// The right child of `v` comes in its place.
    fn rotate_left(&mut self, v: usize) -> u32 {
        let w = index(self.inners[v].right);
        let middle = self.inners[w].left;
        self.hang(self.inners[v].parent, Node::inner(v), Node::inner(w));
        self.inners[v].right = middle;
        self.set_parent(middle, v as u32);
        self.inners[w].left = Node::inner(v);
        self.inners[v].parent = w as u32;
        self.renew(v);
        self.renew(w);
        w as u32
    }

    /// The height and the bridge of a node whose children have changed. Its split is the same: a rotation
    /// does not change the order of nodes and leaves.
    fn renew(&mut self, v: usize) {
        let (left, right, split) =
            (self.inners[v].left, self.inners[v].right, self.inners[v].split);
        self.inners[v].height = 1 + self.height(left).max(self.height(right));
        self.inners[v].bridge = self.bridge(left, right, split);
    }
}

/// Of a node that is higher than another: it is no leaf.
fn index(node: Node) -> usize {
    match node.kind() {
        Kind::Inner(v) => v,
        Kind::Leaf(_) => unreachable!("a leaf has no height"),
    }
}
