//! The arrival processes of `[arrivals]`, and which of them need no file.

use super::file::{Arrivals, LlmArrivals, Next, Order, QueryArrivals, WorkloadArrivals};
use orrery_sim::time::Span;
use orrery_traces::arrivals::ArrivalLaw;
use orrery_traces::azure2019::Counted;
use orrery_traces::blocks::Blocks;
use orrery_traces::rate::{NextState, Shape};
use orrery_traces::spread::Spread;
use std::sync::Arc;

/// The process of `[arrivals]`, its files read or known to be readable.
#[derive(Clone)]
pub(super) enum Process {
    /// One process, shared by the applications by weight.
    Law(ArrivalLaw),
    /// A process for each application, at its share of the rate by weight.
    PerApp(ArrivalLaw),
    /// A process for each function of a trace; the functions by rank go round the applications.
    Functions { counted: Arc<Counted>, shape: Shape },
    /// The functions of a trace in blocks, dealt to the applications in this order, or shuffled by this
    /// seed or the run's.
    Dealt { blocks: Arc<Blocks>, shape: Shape, order: Order, seed: Option<u64> },
    /// A rate that ever more of these applications share, beside others.
    Spread { spread: Spread, sharing: Vec<usize>, others: Vec<usize> },
    /// Prompts, all of one application.
    Llm(LlmArrivals),
    /// Arrivals as they were written down.
    Workload(WorkloadArrivals),
    /// Queries as they were recorded, all of one application.
    Queries(QueryArrivals),
}

/// The processes that need no file, with their key.
pub(super) fn steady_law(a: &Arrivals) -> Option<(ArrivalLaw, &'static str)> {
    if let Some(p) = &a.constant {
        return Some((ArrivalLaw::Constant { rate_per_s: p.rate_per_s }, "constant"));
    }
    if let Some(p) = &a.poisson {
        return Some((ArrivalLaw::Poisson { rate_per_s: p.rate_per_s }, "poisson"));
    }
    if let Some(p) = &a.integer_poisson {
        let unit = Span::from_ms_f64(p.unit_ms);
        let law = ArrivalLaw::IntegerPoisson { rate_per_s: p.rate_per_s, unit };
        return Some((law, "integer_poisson"));
    }
    if let Some(p) = &a.gamma {
        let law = ArrivalLaw::Gamma { rate_per_s: p.rate_per_s, shape: p.shape };
        return Some((law, "gamma"));
    }
    let p = a.mmpp.as_ref()?;
    let next = match p.next {
        Next::Cyclic => NextState::Cyclic,
        Next::Uniform => NextState::Uniform,
    };
    let (rates_per_s, mean_sojourns_s) = (p.rates_per_s.clone(), p.mean_sojourns_s.clone());
    Some((ArrivalLaw::Mmpp { rates_per_s, mean_sojourns_s, next }, "mmpp"))
}
