//! The cheapest assignment that is made of clusters whose costs are known.

use super::Assigned;
use crate::Price;

/// A cluster that costs so much: its kind and its models, as bits.
pub type Priced = (usize, u64, Price);

/// Of some clusters, those that have every model once and each kind at most once, for the least money; none where there
/// are none, but for the assignments that are left out. Of equals the first by the order of the clusters.
pub fn cheapest_known(
    models: usize,
    clusters: &[Priced],
    left_out: &[Vec<usize>],
) -> Option<Assigned> {
    let all = u64::MAX >> (u64::BITS - models.max(1) as u32);
    // By model: the clusters that have it as their lowest one that is not assigned yet begin with the cheapest.
    let mut order: Vec<&Priced> = clusters.iter().collect();
    order.sort_by_key(|cluster| cluster.2);
    let mut cover = Cover { order, all, left_out, chosen: Vec::new(), best: None };
    cover.from(0, 0, Price::ZERO);
    let (kind_of, cost) = cover.best?;
    Some(Assigned { kind_of, cost, proven: false })
}

struct Cover<'a> {
    order: Vec<&'a Priced>,
    all: u64,
    left_out: &'a [Vec<usize>],
    chosen: Vec<(usize, u64)>,
    best: Option<(Vec<usize>, Price)>,
}

impl Cover<'_> {
    fn from(&mut self, assigned: u64, kinds: u64, cost: Price) {
        if self.best.as_ref().is_some_and(|(_, best)| cost >= *best) {
            return;
        }
        if assigned == self.all {
            let kind = |m: u32| self.chosen.iter().find(|(_, set)| set >> m & 1 == 1).map(|c| c.0);
            let kind_of: Option<Vec<usize>> = (0..self.all.count_ones()).map(kind).collect();
            let new = kind_of.filter(|kind_of| !self.left_out.contains(kind_of));
            self.best = new.map(|kind_of| (kind_of, cost)).or(self.best.take());
            return;
        }
        let lowest = 1_u64 << (!assigned).trailing_zeros();
        for at in 0..self.order.len() {
            let (kind, set, usd) = *self.order[at];
            if set & lowest == 0 || set & assigned != 0 || kinds >> kind & 1 == 1 {
                continue;
            }
            self.chosen.push((kind, set));
            self.from(assigned | set, kinds | 1 << kind, [cost, usd].into_iter().sum());
            self.chosen.pop();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn usd(n: u64) -> Price {
        Price::micro_usd_per_hour(n * 1_000_000)
    }

    #[test]
    fn every_model_is_once_in_a_cluster_and_every_kind_at_most_once() {
        // Two clusters of kind 0 would be cheapest, and do not go together.
        let clusters = [
            (0, 0b011, usd(1)),
            (0, 0b100, usd(1)),
            (1, 0b100, usd(5)),
            (1, 0b111, usd(9)),
            (1, 0b110, usd(2)),
            (2, 0b001, usd(3)),
        ];
        let best = cheapest_known(3, &clusters, &[]).unwrap();
        assert_eq!((best.kind_of.clone(), best.cost), (vec![2, 1, 1], usd(5)));
        let next = cheapest_known(3, &clusters, &[best.kind_of]).unwrap();
        assert_eq!((next.kind_of, next.cost), (vec![0, 0, 1], usd(6)));
        assert_eq!(cheapest_known(3, &clusters[..2], &[]), None);
        assert_eq!(cheapest_known(3, &[], &[]), None);
    }
}
