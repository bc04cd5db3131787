//! The covering array: worlds in which every pair of choices occurs, drawn from a seed.
//!
//! Which pairs are refused is not known before: a world that is refused is shrunk, and what remains never shares a
//! world again.

use super::world::{Choices, World};
use orrery_sim::rng::Stream;

/// How many keys a world has off their defaults, at most. More of them need fewer worlds, but more worlds are
/// refused.
const KEYS: usize = 12;
/// How many choices are compared for each place in a world.
const DRAWS: usize = 64;
/// How often a pair is tried with other company.
const TRIES: u8 = 8;

/// What is known of a pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pair {
    /// It has to occur; tried so often.
    Open(u8),
    /// It has occurred in a run.
    Covered,
    /// Its edits contradict each other: it cannot be written.
    Exclusive,
    /// It is refused, with nothing else off its default.
    Refused,
}

pub struct Array<'a> {
    choices: &'a Choices,
    pairs: Vec<Pair>,
    /// Sets of three and more that are refused together.
    pub refused: Vec<World>,
    order: Vec<(usize, usize)>,
    /// Pairs of worlds that are drawn and not judged yet.
    drawn: Vec<bool>,
    rng: Stream,
}

impl<'a> Array<'a> {
    pub fn new(choices: &'a Choices, seed: u64) -> Array<'a> {
        let n = choices.all.len();
        let mut rng = Stream::named(seed, "covering array", 0);
        let mut pairs = vec![Pair::Exclusive; n * n];
        let mut order = Vec::new();
        for a in 0..choices.values {
            for b in a + 1..n {
                if choices.all[a].agrees(&choices.all[b]) {
                    (pairs[a * n + b], pairs[b * n + a]) = (Pair::Open(0), Pair::Open(0));
                    order.push((a, b));
                }
            }
        }
        for at in (1..order.len()).rev() {
            order.swap(at, rng.below(at as u64 + 1) as usize);
        }
        Array { choices, pairs, refused: Vec::new(), order, drawn: vec![false; n * n], rng }
    }

    pub fn pair(&self, a: usize, b: usize) -> Pair {
        self.pairs[a * self.choices.all.len() + b]
    }

    fn set(&mut self, a: usize, b: usize, pair: Pair) {
        let n = self.choices.all.len();
        (self.pairs[a * n + b], self.pairs[b * n + a]) = (pair, pair);
    }

    /// All pairs that can be written, in the order of the table.
    pub fn all(&self) -> impl Iterator<Item = (usize, usize, Pair)> + '_ {
        let n = self.choices.all.len();
        let pairs = (0..self.choices.values).flat_map(move |a| (a + 1..n).map(move |b| (a, b)));
        pairs.map(|(a, b)| (a, b, self.pair(a, b))).filter(|p| p.2 != Pair::Exclusive)
    }

    /// Pairs that have occurred.
    pub fn covered(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        self.all().filter(|p| p.2 == Pair::Covered).map(|(a, b, _)| (a, b))
    }

    /// Worlds to be judged at once, at most so many: no pair is looked for twice. None when every pair has occurred, is
    /// refused, or was tried often enough.
    pub fn batch(&mut self, most: usize) -> Vec<World> {
        let n = self.choices.all.len();
        self.drawn.fill(false);
        let mut worlds = Vec::new();
        while worlds.len() < most
            && let Some(world) = self.draw()
        {
            for &a in &world {
                world.iter().for_each(|&b| self.drawn[a * n + b] = true);
            }
            worlds.push(world);
        }
        worlds
    }

    /// The next world.
    pub fn draw(&mut self) -> Option<World> {
        let n = self.choices.all.len();
        let mut order = std::mem::take(&mut self.order);
        order.retain(|&(a, b)| matches!(self.pair(a, b), Pair::Open(tries) if tries < TRIES));
        self.order = order;
        let at = self.order.iter().rposition(|&(a, b)| !self.drawn[a * n + b])?;
        let (a, b) = self.order[at];
        let Pair::Open(tries) = self.pair(a, b) else { unreachable!("it is open") };
        self.set(a, b, Pair::Open(tries + 1));
        // Should it not occur now, others are tried before it is tried again.
        let to = self.rng.below(self.order.len() as u64) as usize;
        self.order.swap(at, to);
        let mut world = vec![a, b];
        if !self.choices.policies().contains(&b) {
            let policy = self.best(&world, self.choices.policies(), self.choices.all.len());
            world.push(policy?);
        }
        // A pair that was refused in company gets less of it.
        while world.len() < KEYS + 1 - usize::from(tries) {
            match self.best(&world, 0..self.choices.values, DRAWS) {
                Some(choice) => world.push(choice),
                None => break,
            }
        }
        world.sort_unstable();
        Some(world)
    }

    /// Of some choices drawn, the one that has the most open pairs with those of a world.
    fn best(
        &mut self,
        world: &[usize],
        among: std::ops::Range<usize>,
        draws: usize,
    ) -> Option<usize> {
        let mut best = None;
        for _ in 0..draws {
            let choice = among.start + self.rng.below(among.len() as u64) as usize;
            let is_new = |i: usize| {
                let drawn = self.drawn[i * self.choices.all.len() + choice];
                !drawn && matches!(self.pair(i, choice), Pair::Open(_))
            };
            let gain = world.iter().filter(|&&i| is_new(i)).count();
            if best.is_none_or(|(most, _)| gain > most) && self.may_join(world, choice) {
                best = Some((gain, choice));
            }
        }
        best.map(|(_, choice)| choice)
    }

    fn may_join(&self, world: &[usize], choice: usize) -> bool {
        let with = |&i: &usize| matches!(self.pair(i, choice), Pair::Open(_) | Pair::Covered);
        let completes = |set: &World| {
            set.contains(&choice) && set.iter().all(|i| *i == choice || world.contains(i))
        };
        world.iter().all(with) && !self.refused.iter().any(completes)
    }

    /// A world ran.
    pub fn cover(&mut self, world: &[usize]) {
        for (at, &a) in world.iter().enumerate() {
            world[at + 1..].iter().for_each(|&b| self.set(a, b, Pair::Covered));
        }
    }

    /// The smallest part of a world that is refused, a plain policy left out.
    pub fn refuse(&mut self, part: World) {
        match part[..] {
            [a, b] => self.set(a, b, Pair::Refused),
            _ if self.refused.contains(&part) => {}
            _ => self.refused.push(part),
        }
    }
}
