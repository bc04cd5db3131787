//! What a cluster could serve at best: the closed forms of Symphony (§3.3, §5.3, Table 2).
//!
//! N GPUs serve one model whose batches of b take `alpha · b + beta`; requests come at a constant
//! gap and must end within the SLO. No simulation, and no policy reaches these under random
//! arrivals.
//!
//! ```text
//! no coordination: a request waits for a whole batch, then runs in one:    2 · l(b) <= SLO
//! staggered: the GPUs start one after the other:           (1 + 1/N) · l(b) <= SLO    (Eq. 1)
//! throughput:                                                      N · b / l(b)       (Eq. 2)
//! ```

use crate::time::{NS_PER_S, Span};

/// A model and its SLO.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// Cost of one more item; not zero.
    pub alpha: Span,
    /// Cost of a batch.
    pub beta: Span,
    /// Time allowed from arrival to reply.
    pub slo: Span,
}

/// The largest batches that are in time, and what they carry.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plan {
    /// How many GPUs.
    pub gpus: u64,
    /// The batch size; 0 when not even a batch of one is in time.
    pub batch: u64,
    /// Requests that end in a second.
    pub rate_per_s: f64,
}

impl Bounds {
    /// GPUs that know nothing of each other (what Nexus plans for).
    pub fn no_coordination(&self, gpus: u64) -> Plan {
        self.plan(gpus, 1, 2)
    }

    /// GPUs that start in turn, `l(b) / N` apart.
    pub fn staggered(&self, gpus: u64) -> Plan {
        self.plan(gpus, gpus, gpus + 1)
    }

    /// The fewest staggered GPUs that carry a rate; `None` when no number does, because a batch of
    /// one leaves nothing of the SLO.
    pub fn gpus_for(&self, rate_per_s: f64) -> Option<Plan> {
        let enough = |gpus: u64| {
            let plan = self.staggered(gpus);
            plan.batch > 0 && plan.rate_per_s >= rate_per_s
        };
        if self.latency(1) >= self.slo || !rate_per_s.is_finite() {
            return None;
        }
        // Both the batch and the throughput grow with the number of GPUs.
        let mut high = 1;
        while !enough(high) {
            high *= 2;
        }
        let mut low = high / 2;
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            if enough(middle) { high = middle } else { low = middle }
        }
        Some(self.staggered(high))
    }

    /// `(SLO · share / whole - beta) / alpha`, rounded down, in whole numbers throughout.
    fn plan(&self, gpus: u64, share: u64, whole: u64) -> Plan {
        let wide = |span: Span| u128::from(span.ns());
        let (share, whole) = (u128::from(share), u128::from(whole));
        let left = (wide(self.slo) * share).saturating_sub(wide(self.beta) * whole);
        let batch = (left / (wide(self.alpha) * whole)) as u64;
        let latency_ns = self.latency(batch).ns().max(1) as f64;
        let rate_per_s = gpus as f64 * batch as f64 * NS_PER_S as f64 / latency_ns;
        Plan { gpus, batch, rate_per_s }
    }

    fn latency(&self, batch: u64) -> Span {
        self.alpha * batch + self.beta
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bounds(alpha_us: u64, beta_us: u64, slo_ms: u64) -> Bounds {
        let (alpha, beta) = (Span::from_us(alpha_us), Span::from_us(beta_us));
        Bounds { alpha, beta, slo: Span::from_ms(slo_ms) }
    }

    fn rounded(plan: Plan) -> (u64, f64) {
        (plan.batch, plan.rate_per_s.round())
    }

    #[test]
    fn table_2_of_symphony() {
        let resnet50 = bounds(1_053, 5_072, 25);
        assert_eq!(rounded(resnet50.no_coordination(8)), (7, 4_501.0));
        assert_eq!(rounded(resnet50.staggered(8)), (16, 5_839.0));
        let inception_resnet_v2 = bounds(5_090, 18_368, 70);
        assert_eq!(rounded(inception_resnet_v2.no_coordination(8)), (3, 713.0));
        assert_eq!(rounded(inception_resnet_v2.staggered(8)), (8, 1_083.0));
    }

    #[test]
    fn the_example_of_symphony_s_section_3_3() {
        // l(b) = b + 5, an SLO of 12, three GPUs, a request every 0.75: batches of four, each as
        // long as three GPUs take to start, so they are never idle.
        let example = bounds(1_000, 5_000, 12);
        let plan = example.gpus_for(1_000.0 / 0.75).unwrap();
        assert_eq!((plan.gpus, plan.batch), (3, 4));
        assert!((plan.rate_per_s - 1_000.0 / 0.75).abs() < 1e-9);
    }

    #[test]
    fn the_fewest_gpus_are_enough_and_one_less_is_not() {
        let resnet50 = bounds(1_053, 5_072, 25);
        for rate in [1.0, 90.0, 500.0, 5_264.0, 5_839.0, 5_840.0, 15_000.0, 1e6] {
            let plan = resnet50.gpus_for(rate).unwrap();
            assert!(plan.rate_per_s >= rate, "{rate}: {plan:?}");
            let less = plan.gpus > 1 && resnet50.staggered(plan.gpus - 1).rate_per_s >= rate;
            assert!(!less, "{rate}: {plan:?}");
        }
        assert_eq!(resnet50.gpus_for(15_000.0).unwrap().gpus, 21);
    }

    #[test]
    fn an_slo_that_a_batch_of_one_fills_has_no_answer() {
        assert_eq!(bounds(1_000, 5_000, 6).gpus_for(1.0), None);
        assert_eq!(bounds(1_000, 5_000, 6).staggered(8).batch, 0);
        assert_eq!(bounds(1_000, 5_000, 6).staggered(8).rate_per_s, 0.0);
        assert_eq!(bounds(1_000, 5_000, 7).gpus_for(1.0).unwrap().gpus, 6);
        assert_eq!(bounds(1_000, 5_000, 7).gpus_for(f64::INFINITY), None);
    }
}
