//! Which figures are kept apart: of each model and application, or of groups of applications.

use crate::request::{AppId, ModelId, Request};

/// Which figures are kept apart, besides their total. Memory grows with their number.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Scopes {
    /// Those of every pair of a model and an application that has requests: some hundred kilobytes each.
    #[default]
    Each,
    /// Those of groups: the group of every application, by its number.
    Groups(Vec<u32>),
}

const NO_PART: u32 = u32::MAX;

/// Requests that are counted together have one part, a small number.
#[derive(Clone, Debug, Default)]
pub(super) struct Parts {
    scopes: Scopes,
    /// By application: its first model, and that pair's part.
    firsts: Vec<(ModelId, u32)>,
    /// Further models of applications, which are rare: sorted.
    others: Vec<((AppId, ModelId), u32)>,
    /// The pair of each part.
    pairs: Vec<(AppId, ModelId)>,
}

impl Parts {
    pub fn new(scopes: Scopes) -> Parts {
        Parts { scopes, ..Parts::default() }
    }

    /// The part of a request.
    #[inline]
    pub fn of(&mut self, request: &Request) -> usize {
        let (app, model) = (request.app, request.model);
        if let Scopes::Groups(groups) = &self.scopes {
            return groups.get(app.index()).map_or(0, |group| *group as usize);
        }
        match self.firsts.get(app.index()) {
            Some(&(first, part)) if first == model && part != NO_PART => part as usize,
            _ => self.further(app, model),
        }
    }

    #[cold]
    fn further(&mut self, app: AppId, model: ModelId) -> usize {
        let part = self.pairs.len() as u32;
        if self.firsts.len() <= app.index() {
            self.firsts.resize(app.index() + 1, (ModelId(0), NO_PART));
        }
        let first = &mut self.firsts[app.index()];
        if first.1 == NO_PART {
            *first = (model, part);
        } else {
            match self.others.binary_search_by_key(&(app, model), |o| o.0) {
                Ok(at) => return self.others[at].1 as usize,
                Err(at) => self.others.insert(at, ((app, model), part)),
            }
        }
        self.pairs.push((app, model));
        part as usize
    }

    /// The parts of each model, by its number; none where groups are kept.
    pub fn by_model(&self) -> Vec<Vec<usize>> {
        self.lists(|pair| pair.1.index())
    }

    /// The parts of each application, by its number; none where groups are kept.
    pub fn by_app(&self) -> Vec<Vec<usize>> {
        self.lists(|pair| pair.0.index())
    }

    fn lists(&self, number: impl Fn(&(AppId, ModelId)) -> usize) -> Vec<Vec<usize>> {
        let mut lists: Vec<Vec<usize>> = Vec::new();
        for (part, pair) in self.pairs.iter().enumerate() {
            let number = number(pair);
            if lists.len() <= number {
                lists.resize_with(number + 1, Vec::new);
            }
            lists[number].push(part);
        }
        lists
    }

    /// Whether groups are kept.
    pub fn are_groups(&self) -> bool {
        matches!(self.scopes, Scopes::Groups(_))
    }
}
