//! Pools of several kinds: which kind is the base, and what is wrong with a pool.
//!
//! A scenario whose devices have prices is a pool, and must make sense as one. Without prices, kinds are
//! only kinds.

use super::file::ScenarioFile;
use super::load::sent::Sent;
use super::on_kinds::told;
use orrery_run::SpecError;
use orrery_sim::driver::World;
use orrery_sim::latency::Latency;
use orrery_sim::profile::KindsProfile;
use orrery_sim::time::Span;
use std::collections::BTreeSet;

/// The QoS is one of this percentile (Kairos, Table 3).
const QOS_SHARE: f64 = 0.99;

/// What policies are told of each kind, by model. `sent` are the sizes of each model's requests.
pub(super) fn kinds(
    file: &ScenarioFile,
    world: &World,
    sent: &[Sent],
) -> Result<Vec<KindsProfile>, SpecError> {
    let model = |(m, sent): (usize, &Sent)| {
        let laws: Vec<Latency> = world.latency.iter().map(|kind| kind[m].clone()).collect();
        let measured = |law: &Latency| match law {
            Latency::Samples(replay) => Some(replay.table.largest()),
            _ => None,
        };
        let known = laws.iter().filter_map(measured).max();
        let profiled = file.profile.sizes.last().copied().unwrap_or(1);
        let largest = sent.largest().into_iter().chain(known).max().unwrap_or(1).max(profiled);
        let slo = Span::from_ms_f64(file.model[m].slo_ms);
        let base = Pool { file, m, laws: &laws, slo, sent }.base()?;
        Ok(KindsProfile { base, largest, laws: told(file, m, &laws)? })
    };
    sent.iter().enumerate().map(model).collect()
}

/// A model on the kinds of a pool.
struct Pool<'a> {
    file: &'a ScenarioFile,
    m: usize,
    laws: &'a [Latency],
    slo: Span,
    sent: &'a Sent,
}

impl Pool<'_> {
    /// The number of the base kind: the one that is marked, else the most cost-effective one that is in
    /// time at every size that is sent.
    fn base(&self) -> Result<u32, SpecError> {
        let devices = &self.file.device;
        let prices = devices.iter().filter(|d| d.price_usd_per_hour.is_some()).count();
        if prices > 0 {
            self.check(prices)?;
        }
        if let Some(base) = devices.iter().position(|d| d.base) {
            return Ok(base as u32);
        }
        if prices > 0 && devices.len() > 1 && self.sent.largest().is_none() {
            return Err(self.nothing_sent());
        }
        let sizes = self.sent.distinct();
        let meets = (0..devices.len()).filter(|&kind| self.meets(kind, &sizes));
        let cost = |&kind: &usize| {
            let typical = self.sent.mean(self.m, |k| self.mean(kind, k).ns() as f64);
            typical * devices[kind].price_usd_per_hour.unwrap_or(1.0)
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
    fn meets(&self, kind: usize, sizes: &BTreeSet<u32>) -> bool {
        let Latency::Samples(replay) = &self.laws[kind] else {
            return sizes.iter().all(|&size| self.mean(kind, size) <= self.slo);
        };
        let table = &replay.table;
        // Sizes between two rows are served as the larger one.
        let row = |size: &u32| table.sizes().iter().copied().find(|row| row >= size);
        let rows: Option<BTreeSet<u32>> = sizes.iter().map(row).collect();
        rows.is_some_and(|rows| {
            rows.iter().all(|&row| {
                let mut samples = table.samples(row).to_vec();
                samples.sort_unstable();
                let rank = (QOS_SHARE * samples.len() as f64).ceil() as usize;
                samples[rank.clamp(1, samples.len()) - 1] <= self.slo
            })
        })
    }

    fn nothing_sent(&self) -> SpecError {
        let name = &self.file.model[self.m].name;
        let found =
            format!("no request of `{name}`, so that no kind is its most cost-effective one");
        let remedy = "remove the model, send it requests, or mark a kind with `base = true`";
        SpecError::value("device", found, "a base kind for each model", remedy)
    }

    fn no_base(&self) -> SpecError {
        let model = &self.file.model[self.m];
        let largest = self.sent.largest().unwrap_or(1);
        let longest = |kind: usize| {
            format!("{} takes {}", self.file.device[kind].kind, self.mean(kind, largest))
        };
        let all: Vec<String> = (0..self.laws.len()).map(longest).collect();
        let found =
            format!("no base kind for `{}`: of {largest} items, {}", model.name, all.join(", "));
        let allowed = format!("one kind that meets its SLO of {} at every size", self.slo);
        let remedy =
            "add such a kind, raise slo_ms, send smaller queries, or mark one with `base = true`";
        SpecError::value("device", found, allowed, remedy)
    }
}
