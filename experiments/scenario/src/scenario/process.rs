//! The arrival processes of `[arrivals]` that need no file.

use super::file::{Arrivals, Next};
use orrery_sim::time::Span;
use orrery_traces::arrivals::ArrivalLaw;
use orrery_traces::rate::NextState;

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
