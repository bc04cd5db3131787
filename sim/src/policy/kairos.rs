//! Kairos (Li et al., HPDC 2023), §5.1 "Kairos Query Distribution Mechanism".
//!
//! Queries of different sizes share a pool of instances of several kinds. Kairos hands them out so
//! that as little of the pool's time as possible is used, a second of a weaker kind counting less, and
//! so that queries end within their QoS: a min-cost matching of the queries that wait with all
//! instances, busy ones included. Those matched with a busy instance wait on, so that no query takes a
//! bad instance while a good one is about to be free.
//!
//! ```text
//! on arrival, on completion, when a query comes too late for a kind of instance:
//!     if a query waits and an instance is idle:
//!         for each query i that waits, each instance j:
//!             L_ij    <- what j still has to do + latency of i on j          (Table 2)
//!             cost_ij <- C_j L_ij        if W_i + L_ij <= xi T_qos           (Eq. 4, 5)
//!                        C_j 10 T_qos    else                                (Eq. 8)
//!         P <- the matching of min(m, n) pairs with the least sum of costs   (Eq. 2, 6, 7)
//!         for each pair of P whose instance is idle: dispatch
//! ```
//!
//! # Written rules
//! - Ties: queries are rows by age; instances are columns, the idle ones by the list's order (base kind
//!   first), then the busy ones by the instant at which they are to be free. `matching` says which of
//!   the cheapest matchings is meant: the oldest query has the first instance that it has in any.
//!   With `ties=listed` the columns are in the list's order, busy or not.
//! - Costs are whole: C_j in ten-thousandths, times in ns; one beyond `matching::COST_MAX` is that.
//! - At most [`SIDE_MAX`] queries are matched, the oldest.
//! - A query without a deadline violates nothing; T_qos is its own deadline's.
//!
//! # Differences from the paper (`preset=paper`)
//! - What makes Kairos match again is not told. Ours does when a query arrives or ends, and at the
//!   instants at which W_i + latency_i passes xi T_qos on some kind; costs also change as busy
//!   instances come nearer to their end, and that alone is no reason.
//! - Before the first query of a kind has ended, its latency is taken to be zero and C_j to be 1; the
//!   paper says only that a linear model comes first.
//! - An instance that takes longer than estimated counts as free at once, and gets no query.
//! - The paper injects noise "with 5% variance" into predictions (Fig. 16b) and does not say relative
//!   to what; `noise` is a standard deviation, as a share of each prediction.
//!
//! # Differences from the released code (`preset=released`)
//! - The released code polls; it decides at other instants too, which by the same reasons changes
//!   little.
//! - Its ties are those of scipy's solver on columns in the list's order. Inside one kind every pairing
//!   of the same queries costs the same, so that a younger query may get the idle instance while the
//!   oldest is matched with a busy one, and waits. Ours serves the oldest; with `ties=listed` it has
//!   the authors' columns, and meets more of their decisions, but not all: of equal sums scipy's
//!   algorithm takes the one that it comes to.

mod columns;
mod config;
mod costs;

pub use self::config::{Config, Penalty, Rows, Ties};

use self::columns::Columns;
use self::costs::Row;
use super::parameters::{Build, Settings};
use super::pool::{Estimates, Learn, Pool, PoolChange, Query, State};
use super::{Actions, Event, Known, Policy, TimerKey};
use crate::matching::{Matcher, NONE, SIDE_MAX};
use crate::profile::ModelProfile;
use crate::time::{Span, Time};
use std::collections::VecDeque;

/// Its only timer: the next query comes too late for some kind.
const CLASS_CHANGES: TimerKey = TimerKey(0);

/// A query that waits.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    query: Query,
    arrival: Time,
    /// T_qos; [`Span::MAX`] for none.
    qos: Span,
}

/// The policy. See the module's text.
pub struct Kairos {
    config: Config,
    /// Of the errors of its predictions.
    seed: u64,
    pool: Pool,
    estimates: Estimates,
    /// C_j by model, then kind, in ten-thousandths.
    weights: Vec<i64>,
    waiting: VecDeque<Waiting>,
    columns: Columns,
    wake_at: Time,
    /// How many columns of a kind are looked at; see [`Kairos::few_columns`].
    few: bool,
    // Kept between matchings, to allocate once.
    matcher: Matcher,
    chosen: Vec<u32>,
    rows: Vec<Row>,
    latency: Vec<Span>,
    /// By chosen column: its kind, and what it has left in ns.
    heads: Vec<(usize, i64)>,
    matrix: Vec<i64>,
    gone: Vec<usize>,
}

impl Kairos {
    /// Kairos by the profiles of each kind, or with nothing but their number.
    pub fn new(config: Config, profiles: &[ModelProfile]) -> Kairos {
        let estimates = Estimates::new(profiles, config.learn, |mean| config.rounded(mean));
        let weights = vec![0; profiles.len() * estimates.kinds()];
        let mut kairos = Kairos {
            config,
            seed: 0,
            pool: Pool::new(profiles),
            estimates,
            weights,
            waiting: VecDeque::new(),
            columns: Columns::default(),
            wake_at: Time::NEVER,
            few: true,
            matcher: Matcher::default(),
            chosen: Vec::new(),
            rows: Vec::new(),
            latency: Vec::new(),
            heads: Vec::new(),
            matrix: Vec::new(),
            gone: Vec::new(),
        };
        (0..profiles.len()).for_each(|model| kairos.weigh(model));
        kairos
    }

    /// The errors of its predictions, where the configuration has any, are those of this seed.
    pub fn with_seed(self, seed: u64) -> Kairos {
        Kairos { seed, ..self }
    }

    /// How long a query takes on a kind, as predicted.
    #[inline]
    fn predicted(&self, query: &Query, kind: usize) -> Span {
        let latency = self.estimates.of(query.model.index(), kind, query.size);
        self.config.disturbed(latency, self.seed, query.id, kind)
    }

    /// All columns are looked at, and no matching is spared: the plain way, for comparison.
    #[cfg(test)]
    pub(crate) fn plain(self) -> Kairos {
        Kairos { few: false, ..self }
    }

    /// C_j of a model's kinds, as now believed.
    fn weigh(&mut self, model: usize) {
        let kinds = self.estimates.kinds();
        for kind in 0..kinds {
            let exact = self.estimates.coefficient(model, kind);
            self.weights[model * kinds + kind] = self.config.weight(exact);
        }
    }

    /// Matches what waits with the pool, and dispatches.
    fn distribute(&mut self, now: Time, out: &mut Actions) {
        if self.waiting.is_empty() || self.columns.idle() == 0 {
            return self.wake(Time::NEVER, out);
        }
        let rows = match self.config.rows {
            Rows::All => SIDE_MAX,
            Rows::TwiceInstances => 2 * self.columns.len(),
        };
        let rows = self.waiting.len().min(rows).min(SIDE_MAX);
        self.look_up(rows);
        self.choose_columns(rows);
        self.fill(now);
        let columns = self.chosen.len();
        let of = self.matcher.solve(rows, columns, &self.matrix);
        self.gone.clear();
        for (row, &column) in of.iter().enumerate() {
            if column == NONE || self.columns.is_busy(self.chosen[column as usize]) {
                continue;
            }
            let instance = self.chosen[column as usize] as usize;
            let (kind, w) = (self.pool.instances()[instance].kind, self.waiting[row]);
            let kinds = self.estimates.kinds();
            let takes = self.latency[row * kinds + kind.min(kinds - 1)];
            out.why(w.query.id, || {
                let (waited, qos) = (now - w.arrival, w.qos);
                format!(
                    "the cheapest matching of {rows} queries with {columns} instances gives it \
                     device {instance}: waited {waited}, takes {takes}, QoS {qos}"
                )
            });
            self.pool.dispatch(instance, w.query, out);
            self.columns.dispatched(instance as u32, now + takes);
            self.gone.push(row);
        }
        self.remove_gone();
        let left = rows - self.gone.len();
        let at = if left == 0 || self.columns.idle() == 0 {
            Time::NEVER
        } else {
            self.next_change(now, left)
        };
        self.wake(at, out);
    }

    /// The rows of the matrix: what their costs are made of.
    fn look_up(&mut self, rows: usize) {
        let kinds = self.estimates.kinds();
        self.rows.clear();
        self.latency.clear();
        for w in self.waiting.iter().take(rows) {
            let model = w.query.model.index();
            self.latency.extend((0..kinds).map(|kind| {
                let latency = self.estimates.of(model, kind, w.query.size);
                self.config.disturbed(latency, self.seed, w.query.id, kind)
            }));
            self.rows.push(Row { arrival: w.arrival, qos: w.qos, model });
        }
    }

    /// The columns of the matrix. Of a kind, no more than there are rows are looked at where an
    /// instance that is free later is never cheaper: the matching is the same, by the exchange of a
    /// later instance for an earlier one that nobody has.
    fn choose_columns(&mut self, rows: usize) {
        if self.config.ties == Ties::Listed {
            return self.columns.listed(&mut self.chosen);
        }
        let most = if self.few
            && self.rows.iter().all(|r| self.config.grows_with_time(r, &self.weights))
        {
            rows
        } else {
            usize::MAX
        };
        self.columns.first_of_each_kind(most, self.pool.instances(), &mut self.chosen);
    }

    fn fill(&mut self, now: Time) {
        let kinds = self.estimates.kinds();
        self.heads.clear();
        for &column in &self.chosen {
            let kind = self.pool.instances()[column as usize].kind.min(kinds - 1);
            self.heads.push((kind, self.columns.left_ns(column, now)));
        }
        self.matrix.clear();
        for (row, latency) in self.rows.iter().zip(self.latency.chunks_exact(kinds)) {
            let weights = &self.weights[row.model * kinds..][..kinds];
            let terms = self.config.terms(row, now);
            let cost = |&(kind, left_ns): &(usize, i64)| {
                terms.cost(weights[kind], left_ns + latency[kind].ns() as i64)
            };
            self.matrix.extend(self.heads.iter().map(cost));
        }
    }

    fn remove_gone(&mut self) {
        for &row in self.gone.iter().rev() {
            self.waiting.remove(row);
        }
    }

    /// When a query of the matrix that still waits next changes its class on some kind.
    fn next_change(&self, now: Time, left: usize) -> Time {
        let kinds = self.estimates.kinds();
        let mut next = Time::NEVER;
        for w in self.waiting.iter().take(left).filter(|w| w.qos != Span::MAX) {
            for kind in 0..kinds {
                let takes = self.predicted(&w.query, kind);
                next = next.min(self.config.next_change(now, w.arrival, w.qos, takes));
            }
        }
        next
    }

    fn wake(&mut self, at: Time, out: &mut Actions) {
        if at != self.wake_at {
            self.wake_at = at;
            out.set_timer(CLASS_CHANGES, at);
        }
    }
}

impl Build for Config {
    fn build(self, profiles: &[ModelProfile], seed: u64) -> Box<dyn Policy> {
        Box::new(Kairos::new(self, profiles).with_seed(seed))
    }
}

impl Policy for Kairos {
    fn name(&self) -> String {
        self.config.name()
    }

    fn on(&mut self, now: Time, event: Event<'_>, known: &Known<'_>, out: &mut Actions) {
        match event {
            Event::Arrive(r) => {
                let qos =
                    if r.deadline == Time::NEVER { Span::MAX } else { r.deadline - r.arrival };
                let query = Query { id: r.id, model: r.model, size: r.size };
                self.waiting.push_back(Waiting { query, arrival: r.arrival, qos });
            }
            Event::Timer(_) => self.wake_at = Time::NEVER,
            _ => match self.pool.follow(&event, known, out) {
                PoolChange::Start => {
                    for instance in self.pool.idle() {
                        self.columns.add(instance as u32, self.pool.instances()[instance].rank);
                    }
                }
                PoolChange::Idle(instance, served) => {
                    let i = self.pool.instances()[instance];
                    self.columns.add(instance as u32, i.rank);
                    if let Some((query, took)) = served
                        && self.config.learn == Learn::Online
                    {
                        self.estimates.learn(query.model.index(), i.kind, query.size, took);
                        self.weigh(query.model.index());
                    }
                }
                PoolChange::Gone(instance) => self.columns.remove(instance as u32),
                PoolChange::None => return,
            },
        }
        debug_assert!(
            self.columns.idle()
                <= self.pool.instances().iter().filter(|i| i.state == State::Idle).count()
        );
        self.distribute(now, out);
    }
}
