//! The requests that share a point: mostly one. Requests of one application with equal deadlines and costs share
//! it always, others by accident.

use super::agenda::Slot;
use crate::policy::orloj::entry::EntryCost;
use crate::request::RequestId;
use crate::time::Time;
use std::collections::BTreeSet;

/// A request: those with the same first three have the same score, and the lower id comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Member {
    pub deadline: Time,
    pub app: usize,
    pub cost: EntryCost,
    pub id: RequestId,
    pub slot: Slot,
}

/// The requests of a point.
#[derive(Default)]
pub(super) enum Members {
    #[default]
    None,
    One(Member),
    Many(BTreeSet<Member>),
}

impl Members {
    /// Adds a request.
    pub fn insert(&mut self, member: Member) {
        match self {
            Members::None => *self = Members::One(member),
            Members::One(first) => *self = Members::Many([*first, member].into()),
            Members::Many(all) => {
                all.insert(member);
            }
        }
    }

    /// Takes a request out; whether there is none left.
    pub fn remove(&mut self, member: &Member) -> bool {
        match self {
            Members::Many(all) => {
                all.remove(member);
                all.is_empty()
            }
            Members::None | Members::One(_) => {
                *self = Members::None;
                true
            }
        }
    }

    /// All, in order.
    pub fn iter(&self) -> impl Iterator<Item = &Member> {
        let (one, many) = match self {
            Members::None => (None, None),
            Members::One(member) => (Some(member), None),
            Members::Many(all) => (None, Some(all)),
        };
        one.into_iter().chain(many.into_iter().flatten())
    }

    /// Those that can be among the best `k`: of each deadline, application and cost the first `k`.
    pub fn best(&self, k: usize) -> impl Iterator<Item = &Member> {
        let mut run = (0, None);
        self.iter().filter(move |m| {
            let kind = Some((m.deadline, m.app, m.cost));
            run = if run.1 == kind { (run.0 + 1, kind) } else { (1, kind) };
            run.0 <= k
        })
    }
}
