//! The parameters of Nexus on a cluster.

use crate::policy::early_drop::DropRule;
use crate::policy::parameters::{
    About, Assumption, Parameter, Preset, Settings, count, count_or, ms, number, us, word, words,
};
use crate::time::Span;

words! {
    /// When plans are made.
    pub enum Planning {
        Dynamic = "dynamic": "each epoch, from the measured rates",
        Static = "static": "once, for the largest load in given proportions that fits",
        Full = "full": "once: each GPU runs one model with its full batch",
    }
}

words! {
    /// How a plan is made from rates.
    pub enum Packing {
        /// Released.
        Adjust = "adjust": "by changing the current plan; largest rate first",
        /// Paper.
        Squishy = "squishy": "from scratch; residual loads by decreasing occupancy",
    }
}

words! {
    /// Which frontend a request comes to.
    pub enum Deal {
        RoundRobin = "round-robin": "they take turns by arrival",
        Random = "random": "by a number that depends only on the request's id",
    }
}

words! {
    /// How a frontend takes turns between GPUs.
    pub enum Turns {
        Deficit = "deficit": "a GPU's requests of a round in a row",
        Smooth = "smooth": "as far apart as their numbers allow",
    }
}

/// The parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Config {
    /// When plans are made.
    pub planning: Planning,
    /// How sessions are packed on GPUs.
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
    /// How it takes turns between the GPUs of a model.
    pub turns: Turns,
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
            turns: Turns::Deficit,
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
}

impl Settings for Config {
    const ABOUT: About = About {
        name: "nexus-cluster",
        what: "Nexus on a cluster; squishy bin packing, frontends, epochs",
        paper: "Nexus (Shen et al., SOSP 2019), §6.1 and §6.3; Symphony, §2.2 and §5",
    };
    const ASSUMES: &'static [Assumption] = &[Assumption::KnownTimes, Assumption::OneKind];
    const PRESETS: &'static [Preset<Config>] = &[
        Preset {
            name: "released",
            what: "what the authors' code does with its defaults, but for the idle loop",
            make: Config::released,
        },
        Preset { name: "paper", what: "what the paper's text says", make: Config::paper },
    ];
    const PARAMETERS: &'static [Parameter<Config>] = &[
        word("plan", |c: &mut Self| &mut c.planning, "when plans are made")
            .from("§6.1; static plans: Symphony, §5"),
        word("packing", |c: &mut Self| &mut c.packing, "how a plan is made from rates")
            .from("§6.1; released: scheduler.cpp"),
        number(
            "skew",
            0.0..=10.0,
            |c: &mut Self| Some(&mut c.skew),
            "the rates of plan=static fall as 1/rank^skew; 0 makes them equal",
        ),
        ms("beacon_ms", |c: &mut Self| &mut c.beacon, "interval between reports of the rates")
            .positive()
            .from("released: scheduler.cpp"),
        ms("epoch_ms", |c: &mut Self| &mut c.epoch, "interval between plans")
            .positive()
            .from("§6.1: 10 s; released: scheduler.cpp"),
        ms(
            "early_ms",
            |c: &mut Self| &mut c.early,
            "minimum time between two plans when a rate has changed",
        )
        .positive()
        .from("released: scheduler.cpp"),
        count(
            "history",
            |c: &mut Self| Some(&mut c.history),
            "number of rate reports before the first plan",
        )
        .from("released: scheduler.cpp"),
        ms(
            "margin_ms",
            |c: &mut Self| &mut c.margin,
            "subtracted from the SLO for the network in a full batch",
        )
        .from("released: model_db.h"),
        number(
            "std_factor",
            0.0..=10.0,
            |c: &mut Self| Some(&mut c.std_factor),
            "standard deviations added to a profile's mean",
        )
        .from("released: model_db.cpp"),
        number(
            "profile_factor",
            0.01..=100.0,
            |c: &mut Self| Some(&mut c.profile_factor),
            "factor on the profile; Symphony's Nexus has 1",
        ),
        count_or(
            "batch",
            "plan",
            |c: &mut Self| &mut c.batch,
            "the number of requests in a batch on every GPU; `plan` plans it",
        )
        .from("§6.1"),
        word(
            "drop",
            |c: &mut Self| &mut c.drop,
            "which requests are dropped when a batch is formed",
        )
        .from("§6.3; released: model_exec.cpp"),
        count(
            "frontends",
            |c: &mut Self| Some(&mut c.frontends),
            "number of frontends, each with its own round robin",
        ),
        word("deal", |c: &mut Self| &mut c.deal, "which frontend a request goes to"),
        word("turns", |c: &mut Self| &mut c.turns, "how a frontend takes turns between GPUs"),
        us(
            "poll_us",
            |c: &mut Self| &mut c.poll,
            "interval at which an idle GPU checks its queues; 0: at once",
        )
        .from("released: 50, fake_nexus_backend.cpp"),
    ];

    fn epoch(&self) -> Option<Span> {
        let history = self.beacon * u64::from(self.history);
        (self.planning == Planning::Dynamic).then(|| self.epoch.max(history))
    }
}
