//! Kairos's parameters. What they do is in the policy and in `costs`.

use crate::policy::parameters::{
    About, Assumption, Parameter, Preset, Settings, flag, number, word, words,
};
use crate::policy::pool::Learn;

words! {
    /// Which queries are matched.
    pub enum Rows {
        /// Paper.
        All = "all": "all that wait",
        /// Released code.
        TwiceInstances = "twice": "the oldest, twice as many as there are instances",
    }
}

words! {
    /// What a pair costs that violates the QoS.
    pub enum Penalty {
        TenQos = "ten-qos": "C_j 10 T_qos, for a query that is late already too (Eq. 8)",
        /// Released code.
        Constants = "constants": "1000 ms, or 500 ms if only the margin is broken; none if late already",
    }
}

words! {
    /// The order of the columns, by which ties are broken.
    pub enum Ties {
        /// Busy ones follow by the instant at which they are to be free.
        IdleFirst = "idle-first": "idle instances first: of equal sums the oldest query is served at once",
        /// So the released code has its columns.
        Listed = "listed": "the list's order for all",
    }
}

/// Kairos's parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Config {
    /// Where latencies are known from.
    pub learn: Learn,
    /// Which queries are matched.
    pub rows: Rows,
    /// What a pair costs that violates the QoS.
    pub penalty: Penalty,
    /// The order of the columns.
    pub ties: Ties,
    /// Whether C_j is rounded to hundredths, rather than ten-thousandths.
    pub hundredths: bool,
    /// Whether the profile's latencies are rounded to whole ms.
    pub whole_ms: bool,
    /// 1 - xi: the share of the QoS that is kept as a margin (§5.1 "Remarks").
    pub margin: f64,
    /// Standard deviation of the error of each prediction, as a share of it (paper, Fig. 16b); 0 for
    /// none.
    pub noise: f64,
}

impl Config {
    /// As the paper's text has it.
    pub fn paper() -> Config {
        Config {
            learn: Learn::Online,
            rows: Rows::All,
            penalty: Penalty::TenQos,
            ties: Ties::IdleFirst,
            hundredths: false,
            whole_ms: false,
            margin: 0.02,
            noise: 0.0,
        }
    }

    /// As the released code has it: `kairos_query_distributor.py`.
    pub fn released() -> Config {
        Config {
            learn: Learn::Offline,
            rows: Rows::TwiceInstances,
            penalty: Penalty::Constants,
            ties: Ties::IdleFirst,
            hundredths: true,
            whole_ms: true,
            margin: 0.02,
            noise: 0.0,
        }
    }
}

impl Settings for Config {
    const ABOUT: About = About {
        name: "kairos",
        what: "min-cost matching of queries to instances of several kinds",
        paper: "Kairos (Li et al., HPDC 2023), §5.1",
    };
    const ASSUMES: &'static [Assumption] = &[Assumption::KnownTimes, Assumption::OneModel];
    const PRESETS: &'static [Preset<Config>] = &[
        Preset {
            name: "released",
            what: "what kairos_query_distributor.py does",
            make: Config::released,
        },
        Preset { name: "paper", what: "what the paper's text says", make: Config::paper },
    ];
    const PARAMETERS: &'static [Parameter<Config>] = &[
        word("learn", |c: &mut Self| &mut c.learn, "how latencies are known")
            .from("§5.1: online; released: a table made before"),
        word("rows", |c: &mut Self| &mut c.rows, "which waiting queries are matched")
            .from("Eq. 2: all; released: twice"),
        word("penalty", |c: &mut Self| &mut c.penalty, "cost of a pair that violates the QoS")
            .from("Eq. 8: ten-qos; released: constants"),
        word("ties", |c: &mut Self| &mut c.ties, "the order of the columns, which breaks ties")
            .from("ours; released: listed, by scipy's solver"),
        flag(
            "hundredths",
            |c: &mut Self| &mut c.hundredths,
            "whether C_j is rounded to hundredths, rather than ten-thousandths",
        )
        .from("released: true"),
        flag(
            "whole_ms",
            |c: &mut Self| &mut c.whole_ms,
            "whether the profile's latencies are rounded to whole ms",
        )
        .from("released: true"),
        number(
            "margin",
            0.0..=0.9,
            |c: &mut Self| Some(&mut c.margin),
            "1 - xi: the share of the QoS kept as a margin",
        )
        .from("§5.1, Remarks"),
        number(
            "noise",
            0.0..=1.0,
            |c: &mut Self| Some(&mut c.noise),
            "standard deviation of the error of each prediction, as a share of it; 0: none",
        )
        .from("Fig. 16b"),
    ];

    fn why_slow(&self) -> Option<&'static str> {
        (self.rows == Rows::All).then_some(
            "every query that waits is matched anew at each decision. Where a scenario overloads it (one model on 4 \
             GPUs), tens of thousands wait, and a run takes minutes to hours; `rows=twice` matches the oldest only",
        )
    }
}
