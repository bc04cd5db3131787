//! `[delays]`: from a scenario's keys to the core's message delays.

use super::file::{self, DelayLaw};
use super::value::{MS_MAX, span_ms, within};
use orrery_run::SpecError;
use orrery_sim::core::Delays;
use orrery_sim::delay;
use orrery_sim::time::Span;

/// The delays of a run; drawn ones depend on its seed.
pub(super) fn delays(d: &file::Delays, seed: u64) -> Result<Delays, SpecError> {
    Ok(Delays {
        dispatch: message("dispatch", d.dispatch_ms, d.dispatch.as_ref())?,
        fetch_per_request: span_ms("delays.fetch_per_request_ms", d.fetch_per_request_ms)?,
        result: message("result", d.result_ms, d.result.as_ref())?,
        reply: message("reply", d.reply_ms, d.reply.as_ref())?,
        seed,
    })
}

/// A message's delay: a constant, or a law in place of it.
fn message(name: &str, ms: f64, law: Option<&DelayLaw>) -> Result<delay::DelayLaw, SpecError> {
    let constant = span_ms(&format!("delays.{name}_ms"), ms)?;
    let Some(law) = law else { return Ok(constant.into()) };
    if ms != 0.0 {
        let (key, found) = (format!("delays.{name}_ms"), format!("{ms}, beside a distribution"));
        let allowed = format!("`{name}_ms` or `{name}`, not both");
        return Err(SpecError::value(key, found, allowed, "remove one"));
    }
    let key = |part: &str| format!("delays.{name}.{part}");
    match *law {
        DelayLaw::Constant { ms } => Ok(span_ms(&key("constant.ms"), ms)?.into()),
        DelayLaw::Uniform { low_ms, high_ms } => {
            let low = span_ms(&key("uniform.low_ms"), low_ms)?;
            let high = within(&key("uniform.high_ms"), high_ms, low_ms, MS_MAX)?;
            Ok(delay::DelayLaw::Uniform { low, high: Span::from_ms_f64(high) })
        }
        DelayLaw::Lognormal { median_ms, p9999_ms } => {
            let median = within(&key("lognormal.median_ms"), median_ms, 1e-6, MS_MAX)?;
            let p9999 = within(&key("lognormal.p9999_ms"), p9999_ms, median_ms, MS_MAX)?;
            let (median, p9999) = (Span::from_ms_f64(median), Span::from_ms_f64(p9999));
            Ok(delay::DelayLaw::lognormal(median, p9999))
        }
    }
}
