//! Pools of several kinds: what policies are told of each kind, which kind is the base, and what is
//! wrong with a pool.
//!
//! A scenario whose devices have prices is a pool, and must make sense as one. Without prices, kinds are
//! only kinds.

use super::file::ScenarioFile;
use crate::error::SpecError;
use orrery_sim::driver::World;
use orrery_sim::latency::Latency;
use orrery_sim::profile::KindsProfile;
use orrery_sim::rng::Stream;
use orrery_sim::time::Span;
use orrery_traces::query_sizes::SizeLaw;
use orrery_traces::workload::Application;

/// Sizes drawn to see how cost-effective a kind is.
const DRAWS: usize = 2_000;
/// The QoS is one of this percentile (Kairos, Table 3).
const QOS_SHARE: f64 = 0.99;

/// What policies are told of each kind, by model.
pub(super) fn kinds(
    file: &ScenarioFile,
    world: &World,
    apps: &[Application],
    sizes: &[Option<SizeLaw>],
) -> Result<Vec<KindsProfile>, SpecError> {
    let model = |m: usize| {
        let laws: Vec<Latency> = world.latency.iter().map(|kind| kind[m].clone()).collect();
        let of = || apps.iter().zip(sizes).filter(move |(a, _)| a.model.index() == m);
        let sent = of().map(|(a, sizes)| sizes.as_ref().map_or(a.size, SizeLaw::largest)).max();
        let measured = |law: &Latency| match law {
            Latency::Samples(replay) => Some(replay.table.largest()),
            _ => None,
        };
        let known = laws.iter().filter_map(measured).max();
        let profiled = file.profile.sizes.last().copied().unwrap_or(1);
        let largest = sent.into_iter().chain(known).max().unwrap_or(1).max(profiled);
        let slo = Span::from_ms_f64(file.model[m].slo_ms);
        let pool = Pool { file, m, laws: &laws, slo, sent: sent.unwrap_or(1) };
        let mut drawn = Stream::named(0, "base kind", m as u64);
        let typical: Vec<u32> = of()
            .flat_map(|(a, law)| {
                let mut draw = || law.as_ref().map_or(a.size, |law| law.draw(&mut drawn));
                let each = DRAWS / apps.len().clamp(1, DRAWS);
                (0..each.max(1)).map(|_| draw()).collect::<Vec<u32>>()
            })
            .collect();
        let base = pool.base(&typical)?;
        Ok(KindsProfile { base, largest, laws })
    };
    (0..file.model.len()).map(model).collect()
}

/// A model on the kinds of a pool.
struct Pool<'a> {
    file: &'a ScenarioFile,
    m: usize,
    laws: &'a [Latency],
    slo: Span,
    /// The largest request.
    sent: u32,
}

impl Pool<'_> {
    /// The number of the base kind.
    fn base(&self, typical: &[u32]) -> Result<u32, SpecError> {
        let devices = &self.file.device;
        let prices = devices.iter().filter(|d| d.price_usd_per_hour.is_some()).count();
        if prices > 0 {
            self.check(prices)?;
        }
        if let Some(base) = devices.iter().position(|d| d.base) {
            return Ok(base as u32);
        }
        let meets = (0..devices.len()).filter(|&kind| self.meets(kind));
        let cost = |&kind: &usize| {
            let mean: f64 = typical.iter().map(|&k| self.mean(kind, k).ns() as f64).sum();
            mean * devices[kind].price_usd_per_hour.unwrap_or(1.0)
        };
        let base = meets.min_by(|a, b| cost(a).total_cmp(&cost(b)));
        match base {
            Some(base) => Ok(base as u32),
            None if prices == 0 => Ok(0),
            None => Err(self.no_base()),
        }
    }

    fn check(&self, prices: usize) -> Result<(), SpecError> {
        let devices = &self.file.device;
        if let (true, Some(i)) =
            (prices < devices.len(), devices.iter().position(|d| d.price_usd_per_hour.is_none()))
        {
            let allowed = "a price of every kind, or of none";
            let key = format!("device[{i}].price_usd_per_hour");
            let remedy = "add the price of this kind, 0 if it costs nothing";
            return Err(SpecError::value(key, "nothing", allowed, remedy));
        }
        if self.file.allow_hopeless_slo {
            return Ok(());
        }
        for (kind, device) in devices.iter().enumerate() {
            let least = self.mean(kind, 1);
            if least > self.slo {
                let name = &self.file.model[self.m].name;
                let found =
                    format!("`{}`, where a query of 1 item of `{name}` takes {least}", device.kind);
                let allowed =
                    format!("kinds that some query fits: `{name}` has an SLO of {}", self.slo);
                let remedy = "remove the kind, raise slo_ms, or set `allow_hopeless_slo = true`";
                return Err(SpecError::value(
                    format!("device[{kind}].kind"),
                    found,
                    allowed,
                    remedy,
                ));
            }
        }
        Ok(())
    }

    fn mean(&self, kind: usize, size: u32) -> Span {
        self.laws[kind].batch(size, Span::ZERO)
    }

    /// Whether a kind meets the SLO at every size that is sent.
    fn meets(&self, kind: usize) -> bool {
        match &self.laws[kind] {
            Latency::Samples(replay) => {
                let table = &replay.table;
                let sizes = table.sizes().iter().take_while(|s| **s < self.sent);
                let last = [self.sent];
                sizes.chain(&last).all(|&size| {
                    let mut samples = table.samples(size).to_vec();
                    samples.sort_unstable();
                    let rank = (QOS_SHARE * samples.len() as f64).ceil() as usize;
                    samples[rank.clamp(1, samples.len()) - 1] <= self.slo && size <= table.largest()
                })
            }
            law => (1..=self.sent).all(|size| law.batch(size, Span::ZERO) <= self.slo),
        }
    }

    fn no_base(&self) -> SpecError {
        let model = &self.file.model[self.m];
        let longest = |kind: usize| {
            format!("{} takes {}", self.file.device[kind].kind, self.mean(kind, self.sent))
        };
        let all: Vec<String> = (0..self.laws.len()).map(longest).collect();
        let found = format!(
            "no base kind for `{}`: of {} items, {}",
            model.name,
            self.sent,
            all.join(", ")
        );
        let allowed = format!("one kind that meets its SLO of {} at every size", self.slo);
        let remedy =
            "add such a kind, raise slo_ms, send smaller queries, or mark one with `base = true`";
        SpecError::value("device", found, allowed, remedy)
    }
}
