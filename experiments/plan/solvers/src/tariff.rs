//! What devices of one type cost when they are sold in packs of several.

use crate::{PlannerError, Price};

/// Devices that are sold together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pack {
    /// How many devices it has.
    pub devices: u32,
    /// Of the whole pack.
    pub price: Price,
}

/// What is bought.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Purchase {
    /// How many of each pack, in the tariff's order.
    pub packs: Vec<u32>,
    /// How many devices they have together.
    pub devices: u32,
    /// What they cost together.
    pub price: Price,
}

/// The packs of a type, and what each number of devices costs at least.
///
/// ```
/// use orrery_solvers::{Pack, Price, Tariff};
///
/// let usd = |x| Price::usd_per_hour("price", x).unwrap();
/// // One for 2 $/h, or eight for 10 $/h.
/// let packs = vec![Pack { devices: 1, price: usd(2.0) }, Pack { devices: 8, price: usd(10.0) }];
/// let tariff = Tariff::new("a100", packs, 20).unwrap();
/// let six = tariff.at_least(6).unwrap();
/// assert_eq!((six.devices, six.price, six.packs), (8, usd(10.0), vec![0, 1]));
/// assert_eq!(tariff.at_least(9).unwrap().price, usd(12.0));
/// assert_eq!(tariff.at_least(21), None);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tariff {
    packs: Vec<Pack>,
    /// By number of devices, from 0: the cheapest way to exactly so many, and the pack that comes last in it.
    exact: Vec<Option<(Price, usize)>>,
    /// By number of devices: the number that is bought, which is the cheapest of those that are enough.
    bought: Vec<Option<u32>>,
}

impl Tariff {
    /// The packs of `kind`, of which there may be `most` devices at most.
    ///
    /// # Errors
    /// When there is no pack, or a pack has no devices.
    pub fn new(kind: &str, packs: Vec<Pack>, most: u32) -> Result<Tariff, PlannerError> {
        if packs.is_empty() || packs.iter().any(|p| p.devices == 0) {
            return Err(PlannerError::NoPack { name: kind.to_string() });
        }
        Ok(Tariff::of(packs, most))
    }

    fn of(packs: Vec<Pack>, most: u32) -> Tariff {
        let most = most as usize;
        let mut exact: Vec<Option<(Price, usize)>> = vec![None; most + 1];
        exact[0] = Some((Price::ZERO, 0));
        for n in 1..=most {
            let with = |(i, pack): (usize, &Pack)| {
                let (before, _) = exact[n.checked_sub(pack.devices as usize)?]?;
                Some((before + pack.price, i))
            };
            // Equal prices: the larger pack, then the first.
            let larger = |i: usize| std::cmp::Reverse(packs[i].devices);
            let ways = packs.iter().enumerate().filter_map(with);
            exact[n] = ways.min_by_key(|(price, i)| (*price, larger(*i), *i));
        }
        let mut bought = vec![None; most + 1];
        let mut cheapest: Option<(Price, u32)> = None;
        for n in (0..=most).rev() {
            if let Some((price, _)) = exact[n]
                && cheapest.is_none_or(|(least, _)| price < least || price == Price::ZERO)
            {
                cheapest = Some((price, n as u32));
            }
            bought[n] = cheapest.map(|(_, n)| n);
        }
        Tariff { packs, exact, bought }
    }

    /// One at a time.
    pub fn single(price: Price, most: u32) -> Tariff {
        Tariff::of(vec![Pack { devices: 1, price }], most)
    }

    /// The packs, in their order.
    pub fn packs(&self) -> &[Pack] {
        &self.packs
    }

    /// The cheapest packs with `count` devices or more, and of those the ones with most devices (the fewest
    /// where they cost nothing); none where there may not be so many.
    pub fn at_least(&self, count: u32) -> Option<Purchase> {
        let devices = (*self.bought.get(count as usize)?)?;
        let mut packs = vec![0; self.packs.len()];
        let (price, mut left) = (self.exact[devices as usize]?.0, devices);
        while left > 0 {
            let (_, last) = self.exact[left as usize]?;
            packs[last] += 1;
            left -= self.packs[last].devices;
        }
        Some(Purchase { packs, devices, price })
    }

    /// The most devices that a budget pays for.
    pub fn within(&self, budget: Price) -> u32 {
        let pays = |n: &usize| self.exact[*n].is_some_and(|(price, _)| price <= budget);
        (0..self.exact.len()).rev().find(pays).map_or(0, |n| n as u32)
    }

    /// Whether devices are sold one at a time, at one price.
    pub fn is_single(&self) -> bool {
        matches!(self.packs.as_slice(), [Pack { devices: 1, .. }])
    }

    /// The least that one device can cost: no number of them is cheaper than so much each.
    pub fn least_of_one(&self) -> Price {
        let each = |p: &Pack| p.price.as_micro_usd_per_hour() / u64::from(p.devices);
        Price::micro_usd_per_hour(self.packs.iter().map(each).min().unwrap_or(0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn pack(devices: u32, micro: u64) -> Pack {
        Pack { devices, price: Price::micro_usd_per_hour(micro) }
    }

    /// Every multiset of packs, by counting.
    fn by_hand(packs: &[Pack], most: u32, count: u32) -> Option<(Price, u32)> {
        fn all(packs: &[Pack], most: u32, at: (Price, u32), out: &mut Vec<(Price, u32)>) {
            let Some((first, rest)) = packs.split_first() else { return out.push(at) };
            for n in 0..=most.saturating_sub(at.1) / first.devices {
                all(rest, most, (at.0 + first.price * n, at.1 + first.devices * n), out);
            }
        }
        let mut out = Vec::new();
        all(packs, most, (Price::ZERO, 0), &mut out);
        let enough = out.into_iter().filter(|(_, devices)| (count..=most).contains(devices));
        enough.min_by_key(|(price, devices)| (*price, std::cmp::Reverse(*devices)))
    }

    proptest! {
        #[test]
        fn the_cheapest_purchase_is_that_of_every_multiset(
            sizes in prop::collection::vec((1u32..9, 1u64..40), 1..4),
            most in 0u32..24,
            count in 0u32..26,
        ) {
            let packs: Vec<Pack> = sizes.iter().map(|(n, micro)| pack(*n, *micro)).collect();
            let tariff = Tariff::new("k", packs.clone(), most).unwrap();
            let found = tariff.at_least(count);
            prop_assert_eq!(found.as_ref().map(|p| (p.price, p.devices)), by_hand(&packs, most, count));
            if let Some(found) = found {
                let sum: Price = found.packs.iter().zip(&packs).map(|(n, p)| p.price * *n).sum();
                prop_assert_eq!(sum, found.price);
                let devices: u32 = found.packs.iter().zip(&packs).map(|(n, p)| p.devices * n).sum();
                prop_assert_eq!(devices, found.devices);
                prop_assert!(found.price >= tariff.least_of_one() * found.devices);
                prop_assert!(tariff.within(found.price) >= found.devices);
            }
        }
    }

    #[test]
    fn one_at_a_time_costs_what_it_costs_each() {
        let tariff = Tariff::single(Price::micro_usd_per_hour(7), 5);
        assert!(tariff.is_single());
        assert_eq!(
            tariff.at_least(3).unwrap(),
            Purchase { packs: vec![3], devices: 3, price: Price::micro_usd_per_hour(21) }
        );
        assert_eq!(tariff.within(Price::micro_usd_per_hour(20)), 2);
        assert_eq!(tariff.at_least(6), None);
        let free = Tariff::single(Price::ZERO, 5);
        assert_eq!(free.at_least(3).unwrap().devices, 3, "no more than are needed");
    }

    #[test]
    fn packs_of_nothing_are_errors() {
        for packs in [vec![], vec![pack(0, 1)]] {
            let error = Tariff::new("a100", packs, 4).unwrap_err();
            assert!(error.to_string().contains("`a100`"), "{error}");
        }
    }
}
