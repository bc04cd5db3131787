//! The registry of policies: from a name such as `clockwork[estimator=static-mean]` to a policy.
//!
//! A bare name is the system as released (as published, where nothing was released).
//! `preset=paper` starts from what the paper's text says. Every other parameter changes one value.
//! It is the one place that knows all policies; what they do is in `sim/src/policy/`.

mod configs;
mod params;

use self::configs::{
    clipper_config, clkwrk_config, clockwork_config, drs_config, eager_config, fifo_config,
    kairos_config, nexus_cluster_config, nexus_config, orloj_config, shepherd_config,
    symphony_config, timeout_config,
};
use self::params::Params;
use crate::error::{SpecError, nearest};
use orrery_sim::policy::{
    Policy, clipper, clkwrk, clockwork, drs, eager, fifo, kairos, nexus, nexus_cluster, oracle,
    orloj, ribbon, shepherd, symphony, timeout,
};
use orrery_sim::profile::ModelProfile;
use orrery_sim::rng::Stream;
use orrery_sim::time::Span;
use std::fmt;
use std::str::FromStr;

/// A policy and its parameters, ready to be built.
#[derive(Clone, Debug, PartialEq)]
pub struct PolicySpec {
    text: String,
    config: Config,
}

#[derive(Clone, Debug, PartialEq)]
enum Config {
    Fifo(fifo::Config),
    Oracle(oracle::Config),
    Clipper(clipper::Config),
    Nexus(nexus::Config),
    NexusCluster(nexus_cluster::Config),
    Clockwork(clockwork::Config),
    Orloj(orloj::Config),
    Symphony(symphony::Config),
    Shepherd(shepherd::Config),
    Timeout(timeout::Config),
    Eager(eager::Config),
    Kairos(kairos::Config),
    Ribbon,
    Drs(drs::Config),
    Clkwrk(clkwrk::Config),
}

/// The names of all policies.
pub const NAMES: [&str; 15] = [
    "clipper",
    "clkwrk",
    "clockwork",
    "drs",
    "eager",
    "fifo",
    "kairos",
    "nexus",
    "nexus-cluster",
    "oracle",
    "orloj",
    "ribbon",
    "shepherd",
    "symphony",
    "timeout",
];

impl PolicySpec {
    /// Passes when the policy can do on these devices what it is known for: Shepherd stops batches
    /// that run. Where a device cannot, the policy would be another one of the same name.
    ///
    /// # Errors
    /// When it cannot; the message says what to add.
    pub fn check_devices(&self, all_can_preempt: bool) -> Result<(), SpecError> {
        if all_can_preempt || !matches!(self.config, Config::Shepherd(_)) {
            return Ok(());
        }
        Err(SpecError::Policy {
            policy: self.text.clone(),
            message: "it stops running batches, and here is a device that cannot".to_string(),
            remedy:
                "add `can_preempt = true` to every `[[device]]` (an `[[instance]]` in a plan), \
                     or choose another policy: without preemption, `eager` is close"
                    .to_string(),
        })
    }

    /// Reads a policy's name and parameters.
    ///
    /// # Errors
    /// When the name or a parameter is unknown (the nearest one is offered), or a value is wrong.
    pub fn parse(text: &str) -> Result<PolicySpec, SpecError> {
        let mut params = Params::parse(text)?;
        let config = match params.name {
            "fifo" => Config::Fifo(fifo_config(&mut params)?),
            "oracle" => {
                Config::Oracle(oracle::Config { max_batch: params.count("max_batch", 16)? })
            }
            "clipper" => Config::Clipper(clipper_config(&mut params)?),
            "nexus" => Config::Nexus(nexus_config(&mut params)?),
            "nexus-cluster" => Config::NexusCluster(nexus_cluster_config(&mut params)?),
            "clockwork" => Config::Clockwork(clockwork_config(&mut params)?),
            "orloj" => Config::Orloj(orloj_config(&mut params)?),
            "symphony" => Config::Symphony(symphony_config(&mut params)?),
            "shepherd" => Config::Shepherd(shepherd_config(&mut params)?),
            "timeout" => Config::Timeout(timeout_config(&mut params)?),
            "eager" => Config::Eager(eager_config(&mut params)?),
            "kairos" => Config::Kairos(kairos_config(&mut params)?),
            "ribbon" => Config::Ribbon,
            "drs" => Config::Drs(drs_config(&mut params)?),
            "clkwrk" => Config::Clkwrk(clkwrk_config(&mut params)?),
            other => {
                let hint = nearest(other, NAMES)
                    .map_or(String::new(), |n| format!("did you mean `{n}`? "));
                let message = format!("there is no policy `{other}`");
                return Err(params.error(message, format!("{hint}known: {}", NAMES.join(", "))));
            }
        };
        params.finish()?;
        Ok(PolicySpec { text: text.to_string(), config })
    }

    /// The system's name.
    pub fn system(&self) -> &str {
        self.text.split('[').next().unwrap_or(&self.text)
    }

    /// As it was written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The longest time after which the policy plans anew from what it has measured; its first such
    /// plan is no sooner. A run that judges the policy has to be several times as long. `None` for a
    /// policy that decides by request, or plans only once.
    pub fn epoch(&self) -> Option<Span> {
        match &self.config {
            Config::NexusCluster(c) => c.replans_within(),
            _ => None,
        }
    }

    /// The largest batch that it makes, where a parameter says so.
    pub fn batch_max(&self) -> Option<u32> {
        match &self.config {
            Config::Fifo(c) => Some(c.max_batch),
            Config::Oracle(c) => Some(c.max_batch),
            Config::Clipper(c) => Some(c.max_batch),
            Config::Clockwork(c) => Some(c.max_batch),
            Config::Orloj(c) => Some(c.max_batch),
            Config::Symphony(c) => Some(c.max_batch),
            Config::Shepherd(c) => Some(c.max_batch),
            Config::Timeout(c) => Some(c.max_batch),
            Config::Eager(c) => Some(c.max_batch),
            _ => None,
        }
    }

    /// Whether it learns from measurements that only a profiler makes.
    pub fn needs_profiler(&self) -> bool {
        matches!(&self.config, Config::Orloj(c) if c.relearn_every > 0)
    }

    /// That it does, where there is none.
    pub(crate) fn without_profiler(&self) -> SpecError {
        SpecError::Policy {
            policy: self.text.clone(),
            message: "relearn_every needs a profiler, and there is none".into(),
            remedy: "add `[profiler]` to the scenario (`every = 1`, `delay_ms = 0.0`), or leave \
                     relearn_every out"
                .into(),
        }
    }

    /// The policy before its start. `seed` names the streams of policies that draw numbers.
    pub fn build(&self, profiles: &[ModelProfile], seed: u64) -> Box<dyn Policy> {
        match &self.config {
            Config::Fifo(c) => Box::new(fifo::Fifo::new(*c)),
            Config::Oracle(c) => Box::new(oracle::Oracle::new(*c, profiles)),
            Config::Clipper(c) => {
                let draws = Stream::named(seed, "clipper exploration", 0);
                Box::new(clipper::Clipper::new(*c, profiles, draws))
            }
            Config::Nexus(c) => Box::new(nexus::Nexus::new(*c, profiles)),
            Config::NexusCluster(c) => Box::new(nexus_cluster::NexusCluster::new(*c, profiles)),
            Config::Clockwork(c) => Box::new(clockwork::Clockwork::new(*c, profiles)),
            Config::Orloj(c) => Box::new(orloj::Orloj::new(*c, profiles)),
            Config::Symphony(c) => Box::new(symphony::Symphony::new(*c, profiles)),
            Config::Shepherd(c) => Box::new(shepherd::Shepherd::new(*c, profiles)),
            Config::Timeout(c) => Box::new(timeout::Timeout::new(*c)),
            Config::Eager(c) => Box::new(eager::Eager::new(*c, profiles)),
            Config::Kairos(c) => Box::new(kairos::Kairos::new(*c, profiles).with_seed(seed)),
            Config::Ribbon => Box::new(ribbon::Ribbon::new(profiles)),
            Config::Drs(c) => Box::new(drs::Drs::new(*c, profiles)),
            Config::Clkwrk(c) => Box::new(clkwrk::Clkwrk::new(*c, profiles)),
        }
    }
}

impl fmt::Display for PolicySpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl FromStr for PolicySpec {
    type Err = SpecError;
    fn from_str(text: &str) -> Result<Self, SpecError> {
        PolicySpec::parse(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use orrery_sim::latency::Latency;

    fn profile() -> ModelProfile {
        let draw = || (0, Span::from_ms(10));
        let law = Latency::Proportional { c1: 0.1 };
        ModelProfile::measure(&law, Span::from_ms(100), &[1, 2, 4, 8, 16], 2, draw, 4)
    }

    #[test]
    fn a_policy_s_own_name_builds_the_same_policy() {
        let texts = [
            "fifo",
            "fifo[max_batch=4,drop_expired=true]",
            "oracle",
            "clipper",
            "clipper[preset=paper]",
            "clipper[sizing=fixed,size=3,default_reply=false]",
            "nexus",
            "nexus[drop=elapsed,batch=16]",
            "nexus-cluster",
            "nexus-cluster[preset=paper,drop=earliest]",
            "nexus-cluster[plan=static,skew=0.9,frontends=8,deal=random]",
            "nexus-cluster[plan=full,batch=6,poll_us=50.6,epoch_ms=2000,history=5]",
            "clockwork",
            "clockwork[preset=paper]",
            "clockwork[estimator=static-mean,max_batch=16]",
            "clockwork[sizes=all,max_batch=64]",
            "clockwork[probe_s=2.5]",
            "orloj",
            "orloj[estimate=quantile,quantile=0.99,order=ascending,relearn_every=100]",
            "symphony",
            "symphony[preset=paper]",
            "symphony[stale_gpu_timer=true]",
            "symphony[dispatch=timeout,timeout_pct=12.5,gpu=smallest-id]",
            "symphony[gather=fcfs,dispatch=eager,ctrl_ms=0.025,sample_ms=10,max_batch=32]",
            "symphony[preset=paper,dispatch=latest,data_ms=0.075,window=7,margin_ms=0]",
            "shepherd",
            "shepherd[preset=paper]",
            "shepherd[return=on-report,expired_head_bug=false]",
            "shepherd[preset=paper,return=at-once]",
            "shepherd[expired_head_bug=true,factor=2.5,data_ms=0.05,max_batch=32]",
            "timeout",
            "timeout[max_batch=8,max_wait_ms=2.5,drop_expired=true]",
            "eager",
            "eager[max_batch=8,gather=window]",
            "kairos",
            "kairos[preset=paper]",
            "kairos[preset=paper,learn=offline,margin=0.05]",
            "kairos[noise=0.05]",
            "kairos[ties=listed]",
            "kairos[learn=online,rows=all,penalty=ten-qos,hundredths=false,whole_ms=false]",
            "ribbon",
            "drs",
            "drs[threshold=300]",
            "clkwrk",
            "clkwrk[choice=slowest-feasible]",
        ];
        for text in texts {
            let spec = PolicySpec::parse(text).unwrap();
            let name = spec.build(&[profile()], 1).name();
            let again = PolicySpec::parse(&name).unwrap_or_else(|e| panic!("{name}: {e}"));
            assert_eq!(again.config, spec.config, "{text} became {name}");
            assert_eq!(again.build(&[profile()], 1).name(), name);
            assert!(name.starts_with(spec.system()));
        }
    }

    #[test]
    fn an_epoch_is_the_longest_time_until_a_policy_plans_anew() {
        let epoch_s = |text: &str| {
            PolicySpec::parse(text).unwrap().epoch().map(|epoch| epoch.as_ms_f64() / 1e3)
        };
        assert_eq!(epoch_s("nexus-cluster"), Some(30.0));
        assert_eq!(epoch_s("nexus-cluster[preset=paper]"), Some(10.0));
        assert_eq!(epoch_s("nexus-cluster[epoch_ms=45000]"), Some(45.0));
        // The first plan needs the history, whatever the epoch.
        assert_eq!(epoch_s("nexus-cluster[epoch_ms=2000,history=5]"), Some(5.0));
        assert_eq!(epoch_s("nexus-cluster[epoch_ms=2000,history=5,beacon_ms=100]"), Some(2.0));
        assert_eq!(epoch_s("nexus-cluster[plan=static]"), None);
        assert_eq!(epoch_s("nexus-cluster[plan=full]"), None);
        for name in NAMES.iter().filter(|n| **n != "nexus-cluster") {
            assert_eq!(epoch_s(name), None, "{name}");
        }
    }

    #[test]
    fn errors_offer_the_nearest_name_and_the_allowed_values() {
        let error = |text: &str| PolicySpec::parse(text).unwrap_err().to_string();
        assert!(error("clockwrok").contains("did you mean `clockwork`"));
        assert!(error("clockwork[estimater=static-mean]").contains("did you mean `estimator`"));
        assert!(
            error("clockwork[estimator=median]")
                .contains("allowed: p99-of-10, window-mean, static-mean")
        );
        assert!(error("nexus[batch=0]").contains("a whole number from 1 to 4096"));
        assert!(error("nexus[batch=4").contains("not closed"));
        assert!(error("nexus-cluster[plan=never]").contains("allowed: dynamic, static, full"));
        assert!(error("nexus-cluster[beacon_ms=0]").contains("a number from"));
        assert!(error("nexus[batch=4,batch=5]").contains("twice"));
        assert!(error("orloj[b_per_ms=-1]").contains("a number from"));
        assert!(error("symphony[gpu=first]").contains("allowed: earliest-free, smallest-id"));
        assert!(error("symphony[timeout_pct=20]").contains("no parameter `timeout_pct`"));
        assert!(error("").contains("there is no policy"));
    }
}
