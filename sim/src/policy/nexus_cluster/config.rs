//! The parameters of Nexus on a cluster.

use crate::policy::early_drop::DropRule;
use crate::time::Span;

/// When plans are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Planning {
    /// Each epoch, from the measured rates.
    Dynamic,
    /// Once, for the largest load in given proportions that fits.
    Static,
    /// Once: each GPU runs one model with its full batch.
    Full,
}

/// How a plan is made from rates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Packing {
    /// From the plan that is there; largest rate first (released).
    Adjust,
    /// Anew; residual loads by falling occupancy (paper).
    Squishy,
}

/// Which frontend a request comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Deal {
    /// They take turns by arrival.
    RoundRobin,
    /// By a number that depends on the request's id alone.
    Random,
}

/// The parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Config {
    /// When plans are made.
    pub planning: Planning,
    /// How.
    pub packing: Packing,
    /// A static plan's rates fall as `1/rank^skew`; 0 makes them equal.
    pub skew: f64,
    /// How often rates are reported. Released: 1 s.
    pub beacon: Span,
    /// How often a plan is made. Released: 30 s; paper: 10 s.
    pub epoch: Span,
    /// How soon after a plan the next may follow when a rate has moved. Released: 10 s.
    pub early: Span,
    /// Beacons before the first plan. Released: 30.
    pub history: u32,
    /// Taken off the SLO for the network in a full batch. Released: 2 ms; the paper has none.
    pub margin: Span,
    /// Standard deviations added to a profile's mean. Released: 1.
    pub std_factor: f64,
    /// Factor on the profile. 1 in Symphony's Nexus.
    pub profile_factor: f64,
    /// The batch size on every GPU; `None` plans it.
    pub batch: Option<u32>,
    /// What is dropped.
    pub drop: DropRule,
    /// Frontends, each with a round robin of its own.
    pub frontends: u32,
    /// Which one a request comes to.
    pub deal: Deal,
    /// How often an idle GPU looks at its queues; 0 is at once. Released: 50 us.
    pub poll: Span,
}

impl Config {
    /// What the authors' code does with its defaults, but for the idle loop.
    pub fn released() -> Config {
        Config {
            planning: Planning::Dynamic,
            packing: Packing::Adjust,
            skew: 0.0,
            beacon: Span::from_secs(1),
            epoch: Span::from_secs(30),
            early: Span::from_secs(10),
            history: 30,
            margin: Span::from_ms(2),
            std_factor: 1.0,
            profile_factor: 1.0,
            batch: None,
            drop: DropRule::SlidingWindow,
            frontends: 1,
            deal: Deal::RoundRobin,
            poll: Span::ZERO,
        }
    }

    /// What the paper's text says.
    pub fn paper() -> Config {
        let ten = Span::from_secs(10);
        Config {
            packing: Packing::Squishy,
            epoch: ten,
            early: ten,
            history: 10,
            margin: Span::ZERO,
            ..Config::released()
        }
    }

    /// The longest time until a plan is made from measured rates; `None` when none ever is.
    pub fn replans_within(&self) -> Option<Span> {
        let history = self.beacon * u64::from(self.history);
        (self.planning == Planning::Dynamic).then(|| self.epoch.max(history))
    }

    /// The policy's name with all its parameters.
    pub(super) fn name(&self) -> String {
        let c = *self;
        let planning = match c.planning {
            Planning::Dynamic => "dynamic",
            Planning::Static => "static",
            Planning::Full => "full",
        };
        let packing = match c.packing {
            Packing::Adjust => "adjust",
            Packing::Squishy => "squishy",
        };
        let deal = match c.deal {
            Deal::RoundRobin => "round-robin",
            Deal::Random => "random",
        };
        let batch = c.batch.map_or("plan".to_string(), |b| b.to_string());
        format!(
            "nexus-cluster[plan={planning},packing={packing},skew={},beacon_ms={},epoch_ms={},\
             early_ms={},history={},margin_ms={},std_factor={},profile_factor={},batch={batch},\
             drop={},frontends={},deal={deal},poll_us={}]",
            c.skew,
            c.beacon.as_ms_f64(),
            c.epoch.as_ms_f64(),
            c.early.as_ms_f64(),
            c.history,
            c.margin.as_ms_f64(),
            c.std_factor,
            c.profile_factor,
            c.drop.word(),
            c.frontends,
            c.poll.ns() as f64 / 1e3,
        )
    }
}
