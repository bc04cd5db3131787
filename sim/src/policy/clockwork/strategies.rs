//! Clockwork's strategy queues, one for each device, kept as one.
//!
//! A device's queue holds the strategies of all models but those that it has tried in vain. It need
//! not be kept: a device tries strategies in order of rank until one is valid, so what it has tried is
//! all that existed at that moment and ranks before that one. A device therefore remembers, of each
//! search, when it was and how far it got; a later search that got further makes an earlier one
//! superfluous, which leaves one or two. The strategies themselves are kept once, and to make a
//! model's anew is to make them anew for every device.
//!
//! It knows neither requests nor durations.

use super::sorted::Sorted;
use crate::time::Time;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Where a strategy stands among those of all models: by `latest`, then by model. Those of one model
/// with equal `latest` need no order, because a model tries all its valid ones at once.
pub(super) type Rank = (Time, usize);

/// After every strategy: a search that found none.
pub(super) const LAST: Rank = (Time::NEVER, usize::MAX);

/// The models that a search has met: the rank of their next strategy, and once a model was looked at,
/// the size that it can fill.
pub(super) type Met = BinaryHeap<Reverse<(Rank, Option<usize>)>>;

/// To run a batch of one size of a model.
#[derive(Clone, Copy)]
struct Strategy {
    /// The head's deadline less the size's estimate, as they were when the strategy was made.
    latest: Time,
    /// When it was made, as a count of makings.
    made: u64,
}

/// The strategies of one model, by batch size.
pub(super) struct Strategies {
    by_size: Vec<Option<Strategy>>,
    /// The smallest `latest`, and when the oldest was made.
    first: Option<Time>,
    oldest: u64,
}

/// What a device has tried: the searches that got further than all later ones, oldest first.
#[derive(Default)]
pub(super) struct Tried {
    /// The count of makings at the search, and the rank that it reached.
    searches: Vec<(u64, Rank)>,
}

impl Strategies {
    /// None yet.
    pub fn new(sizes: usize) -> Strategies {
        Strategies { by_size: vec![None; sizes], first: None, oldest: u64::MAX }
    }

    /// The smallest `latest` of all.
    pub fn first(&self) -> Option<Time> {
        self.first
    }

    /// Forgets them.
    pub fn clear(&mut self) {
        if self.first.is_some() {
            self.by_size.fill(None);
            (self.first, self.oldest) = (None, u64::MAX);
        }
    }

    /// Makes all anew, by size; a size without a `latest` gets none.
    pub fn make_all(&mut self, latest: impl Iterator<Item = Option<Time>>, made: u64) {
        (self.first, self.oldest) = (None, made);
        for (strategy, latest) in self.by_size.iter_mut().zip(latest) {
            *strategy = latest.map(|latest| Strategy { latest, made });
            if let Some(latest) = latest {
                self.first = Some(self.first.map_or(latest, |first| first.min(latest)));
            }
        }
    }

    /// Makes one; [`Strategies::settle`] follows.
    pub fn make(&mut self, size: usize, latest: Time, made: u64) {
        self.by_size[size] = Some(Strategy { latest, made });
    }

    /// After single strategies were made.
    pub fn settle(&mut self) {
        let all = || self.by_size.iter().flatten();
        self.first = all().map(|s| s.latest).min();
        self.oldest = all().map(|s| s.made).min().unwrap_or(u64::MAX);
    }

    /// The smallest `latest` among the first `sizes` sizes of what a device has not tried. It tried
    /// nothing before `since`, when it got the model.
    pub fn untried(&self, sizes: usize, model: usize, tried: &Tried, since: u64) -> Option<Time> {
        let reached = tried.reached(self.oldest.max(since));
        if self.first.is_none_or(|first| reached > (first, model)) {
            let left = |s: &&Strategy| tried.reached(s.made.max(since)) <= (s.latest, model);
            return self.by_size[..sizes].iter().flatten().filter(left).map(|s| s.latest).min();
        }
        if sizes == self.by_size.len() {
            return self.first;
        }
        self.by_size[..sizes].iter().flatten().map(|s| s.latest).min()
    }
}

impl Tried {
    /// A search got as far as `reached`.
    pub fn note(&mut self, makings: u64, reached: Rank) {
        while self.searches.last().is_some_and(|s| s.1 <= reached) {
            self.searches.pop();
        }
        self.searches.push((makings, reached));
    }

    /// Up to which rank strategies made then have been tried.
    fn reached(&self, made: u64) -> Rank {
        // Mostly there are one or two, and they fall in rank as they become younger.
        let first = self.searches.iter().find(|s| s.0 >= made);
        first.map_or((Time::ZERO, 0), |s| s.1)
    }
}

/// Models' first strategies in order of rank.
#[derive(Default)]
pub(super) struct Order {
    /// Of all models; where devices have different ones, of those that every device has. A model that is
    /// asked for much is soon everywhere, and its strategies change the most.
    common: Sorted,
    /// By device: of the other models that it has; `None` for one that takes no work.
    lists: Vec<Option<Sorted>>,
    by_device: bool,
    /// By model, where devices have different ones: whether it is in `common`.
    everywhere: Vec<bool>,
    /// How many models have strategies.
    models: usize,
    /// How often strategies were made.
    pub makings: u64,
}

impl Order {
    /// Whether no model has a strategy.
    pub fn is_empty(&self) -> bool {
        self.models == 0
    }

    /// The first of a device's models after `rank`, or of all.
    pub fn after(&self, device: usize, rank: Option<Rank>) -> Option<Rank> {
        let after = |list: &Sorted| rank.map_or(list.first(), |rank| list.after(rank));
        let own = self.lists.get(device).and_then(Option::as_ref).and_then(after);
        match (after(&self.common), own) {
            (Some(common), Some(own)) => Some(common.min(own)),
            (common, own) => common.or(own),
        }
    }

    /// From now on devices have different models; a device begins with these first strategies.
    pub fn device(&mut self, device: usize, first: impl Iterator<Item = Rank>) {
        if std::mem::replace(&mut self.by_device, true) {
            while let Some(rank) = self.common.pop_first() {
                self.lists.iter_mut().flatten().for_each(|list| list.insert(rank));
            }
            self.everywhere.fill(false);
        } else {
            self.common.clear();
        }
        if self.lists.len() <= device {
            self.lists.resize_with(device + 1, || None);
        }
        let list = self.lists[device].insert(Sorted::default());
        first.for_each(|rank| list.insert(rank));
    }

    /// A device takes no more work.
    pub fn left(&mut self, device: usize) {
        self.lists[device] = None;
    }

    /// Whether a model is in the list of all devices.
    pub fn is_common(&self, model: usize) -> bool {
        !self.by_device || self.everywhere.get(model).is_some_and(|everywhere| *everywhere)
    }

    /// A device has a model from now on whose first strategy is this; and now every device may have it.
    pub fn gains(&mut self, device: usize, model: usize, first: Option<Time>, is_everywhere: bool) {
        let rank = first.map(|latest| (latest, model));
        if !is_everywhere {
            if let (Some(rank), Some(list)) = (rank, &mut self.lists[device]) {
                list.insert(rank);
            }
            return;
        }
        if self.everywhere.len() <= model {
            self.everywhere.resize(model + 1, false);
        }
        self.everywhere[model] = true;
        if let Some(rank) = rank {
            self.others(device).for_each(|list| list.remove(rank));
            self.common.insert(rank);
        }
    }

    /// A device has a model no more whose first strategy is this.
    pub fn loses(&mut self, device: usize, model: usize, first: Option<Time>) {
        let rank = first.map(|latest| (latest, model));
        if self.is_common(model) {
            self.everywhere[model] = false;
            if let Some(rank) = rank {
                self.common.remove(rank);
                self.others(device).for_each(|list| list.insert(rank));
            }
        } else if let (Some(rank), Some(list)) = (rank, &mut self.lists[device]) {
            list.remove(rank);
        }
    }

    /// The lists of the other devices.
    fn others(&mut self, device: usize) -> impl Iterator<Item = &mut Sorted> {
        let lists = self.lists.iter_mut().enumerate();
        lists.filter(move |(d, _)| *d != device).filter_map(|(_, list)| list.as_mut())
    }

    /// A model's first strategy was `before` and is `after`: how many models have any.
    pub fn counts(&mut self, before: Option<Time>, after: Option<Time>) {
        self.models += usize::from(after.is_some());
        self.models -= usize::from(before.is_some());
    }

    /// The same, in the list of a device that has the model; `None` where it is common.
    pub fn moved(
        &mut self,
        device: Option<usize>,
        model: usize,
        before: Option<Time>,
        after: Option<Time>,
    ) {
        let own = device.map(|device| self.lists[device].as_mut());
        let Some(list) = own.unwrap_or(Some(&mut self.common)) else { return };
        match (before, after) {
            (Some(before), Some(after)) => list.change((before, model), (after, model)),
            (Some(before), None) => list.remove((before, model)),
            (None, Some(after)) => list.insert((after, model)),
            (None, None) => {}
        }
    }
}
