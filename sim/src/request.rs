//! Requests, their ids, and where they come from.
//!
//! A [`Request`] is what a policy may know. Its execution time alone is the truth; that travels in
//! the [`Arrival`] and stays with the core.

use crate::time::{Span, Time};
use std::fmt;

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident($inner:ty) = $prefix:literal;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub $inner);
        impl $name {
            /// As an index.
            #[inline]
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }
        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!($prefix, "{}"), self.0)
            }
        }
    )*};
}

ids! {
    /// A request: numbered from 0 in the order of arrival, so it is the same for every policy.
    RequestId(u64) = "r";
    /// An action of a policy: numbered from 0 in the order of issue.
    ActionId(u64) = "a";
    /// A device (one GPU).
    DeviceId(u32) = "d";
    /// A model.
    ModelId(u32) = "m";
    /// An application: who sends requests; each has its own distribution of execution times.
    AppId(u32) = "app";
    /// A source of arrivals.
    SourceId(u32) = "s";
}

/// The largest size of a request, for every reader and every law of sizes. A batch has at most 4096
/// requests, so that its units are far from the end of their type.
pub const SIZE_MAX: u32 = 4096;

/// A request as a policy sees it. There is no truth in it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Request {
    /// Its number in the order of arrival.
    pub id: RequestId,
    /// The application that sent it.
    pub app: AppId,
    /// The model it asks for.
    pub model: ModelId,
    /// How many items it carries: 1, or a query's own batch size; at most [`SIZE_MAX`] from any file.
    pub size: u32,
    /// The source it came from.
    pub source: SourceId,
    /// When it arrived.
    pub arrival: Time,
    /// When it must be answered: arrival + SLO; [`Time::NEVER`] for a client without one.
    pub deadline: Time,
}

impl Request {
    /// Arrival to deadline; [`Span::MAX`] without a deadline. Zero where the deadline is before the arrival, as
    /// only a damaged log has it.
    pub fn slo(&self) -> Span {
        if self.deadline == Time::NEVER { Span::MAX } else { self.deadline.since(self.arrival) }
    }
}

/// A request on its way into the system, with the truth about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// When it arrives.
    pub at: Time,
    /// The application that sends it.
    pub app: AppId,
    /// The model it asks for.
    pub model: ModelId,
    /// How many items it carries.
    pub size: u32,
    /// Time allowed from arrival to reply; [`Span::MAX`] for none.
    pub slo: Span,
    /// The truth: its execution time alone on a reference device.
    pub alone: Span,
}

/// How a request ended. Every request ends exactly once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum End {
    /// Answered at or before its deadline.
    InTime,
    /// Answered after its deadline.
    Late,
    /// Not answered by a model, for the reason given.
    Dropped(Drop),
    /// Still in the system when the run ended.
    Pending,
}

/// Why a request was dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Drop {
    /// Its deadline passed while it waited.
    Expired,
    /// It could no longer be finished by its deadline, as the policy estimated.
    Infeasible,
    /// The device refused its batch, whose window had passed.
    Refused,
    /// A default reply went out at the deadline while its batch was still running.
    DefaultReply,
    /// The policy would not take it at all.
    Shed,
}

impl Drop {
    /// Every reason, in the order of columns.
    pub const ALL: [Drop; 5] =
        [Drop::Expired, Drop::Infeasible, Drop::Refused, Drop::DefaultReply, Drop::Shed];
}

impl End {
    /// Every way to end, in the order of columns.
    pub const ALL: [End; 8] = [
        End::InTime,
        End::Late,
        End::Dropped(Drop::Expired),
        End::Dropped(Drop::Infeasible),
        End::Dropped(Drop::Refused),
        End::Dropped(Drop::DefaultReply),
        End::Dropped(Drop::Shed),
        End::Pending,
    ];

    /// Its word in logs and tables.
    pub fn word(self) -> &'static str {
        match self {
            End::InTime => "in_time",
            End::Late => "late",
            End::Dropped(Drop::Expired) => "dropped_expired",
            End::Dropped(Drop::Infeasible) => "dropped_infeasible",
            End::Dropped(Drop::Refused) => "dropped_refused",
            End::Dropped(Drop::DefaultReply) => "dropped_default_reply",
            End::Dropped(Drop::Shed) => "dropped_shed",
            End::Pending => "pending",
        }
    }

    /// Its place in [`End::ALL`].
    pub fn index(self) -> usize {
        match self {
            End::InTime => 0,
            End::Late => 1,
            End::Dropped(drop) => 2 + drop as usize,
            End::Pending => 7,
        }
    }
}

/// A stream of arrivals in order of time, read one at a time.
///
/// An open-loop source ignores replies. A closed-loop source answers a reply with a later arrival,
/// so what [`Source::peek`] says may change after [`Source::on_reply`], but never to an instant
/// before the reply.
///
/// ```
/// use orrery_sim::request::{AppId, Arrival, ModelId, Source};
/// use orrery_sim::time::{Span, Time};
///
/// /// A request each millisecond, and no end.
/// struct Metronome(Time);
///
/// impl Source for Metronome {
///     fn peek(&mut self) -> Option<Time> {
///         Some(self.0)
///     }
///
///     fn pop(&mut self) -> Option<Arrival> {
///         let at = self.0;
///         self.0 += Span::from_ms(1);
///         let (slo, alone) = (Span::from_ms(20), Span::from_ms(3));
///         Some(Arrival { at, app: AppId(0), model: ModelId(0), size: 1, slo, alone })
///     }
/// }
///
/// let mut source = Metronome(Time::ZERO);
/// source.pop();
/// assert_eq!(source.peek(), Some(Time::ZERO + Span::from_ms(1)));
/// ```
pub trait Source {
    /// When the next arrival is due; `None` when there is none now (a closed loop may have one
    /// again after a reply). [`Time::NEVER`] is an arrival after the end of time: the run fails
    /// there, if it is not stopped before.
    fn peek(&mut self) -> Option<Time>;

    /// Takes the next arrival. Its `at` equals what `peek` said.
    fn pop(&mut self) -> Option<Arrival>;

    /// A request of this source was answered or dropped at `now`.
    fn on_reply(&mut self, request: &Request, now: Time, end: End) {
        let _ = (request, now, end);
    }

    /// Whether the source reacts to replies.
    fn is_closed_loop(&self) -> bool {
        false
    }

    /// Why the stream stopped early: a damaged line of a file, say. Asked once, at the end of a run.
    fn failure(&mut self) -> Option<String> {
        None
    }
}

impl<S: Source + ?Sized> Source for Box<S> {
    fn peek(&mut self) -> Option<Time> {
        (**self).peek()
    }
    fn pop(&mut self) -> Option<Arrival> {
        (**self).pop()
    }
    fn on_reply(&mut self, request: &Request, now: Time, end: End) {
        (**self).on_reply(request, now, end);
    }
    fn is_closed_loop(&self) -> bool {
        (**self).is_closed_loop()
    }
    fn failure(&mut self) -> Option<String> {
        (**self).failure()
    }
}

/// A source from arrivals in memory: for tests and small cases.
#[derive(Clone, Debug, Default)]
pub struct VecSource {
    arrivals: std::collections::VecDeque<Arrival>,
}

impl VecSource {
    /// # Panics
    /// When the arrivals are not in order of time.
    pub fn new(arrivals: Vec<Arrival>) -> VecSource {
        assert!(arrivals.is_sorted_by_key(|a| a.at), "arrivals must be in order of time");
        VecSource { arrivals: arrivals.into() }
    }
}

impl Source for VecSource {
    fn peek(&mut self) -> Option<Time> {
        self.arrivals.front().map(|a| a.at)
    }
    fn pop(&mut self) -> Option<Arrival> {
        self.arrivals.pop_front()
    }
}
