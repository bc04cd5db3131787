//! The executor that a file says, and whether requests and policies fit it.

use super::input::input;
use super::load::Offered;
use super::policy::TokenPolicySpec;
use super::table::{AllReduce, MadeTokens, Tokens};
use crate::own::World;
use crate::range::within;
use orrery_run::SpecError;
use orrery_sim::time::Span;
use orrery_sim::tokens::policy::Configured;
use orrery_sim::tokens::request::{Machine, TokenRequest};
use orrery_traces::step_profile::StepProfile;
use std::path::Path;

/// The most tokens that a block holds, and the most blocks.
const BLOCK_TOKENS_MAX: u32 = 1 << 16;
const BLOCKS_MAX: u32 = 1 << 28;

/// With a longer time in which an answer is in time, a probe of a search would take hours.
const IN_TIME_MAX: Span = Span::from_secs(7_200);

fn between(key: &str, found: u32, most: u32) -> Result<(), SpecError> {
    if (1..=most).contains(&found) {
        return Ok(());
    }
    let allowed = format!("a whole number from 1 to {most}");
    Err(SpecError::value(key, found, allowed, format!("correct `{key}`")))
}

impl World for Tokens {
    const KEY: &'static str = "tokens";
    type Policy = dyn Configured;
    type Made = MadeTokens;

    fn make(&self, seed: u64, folder: &Path) -> Result<MadeTokens, SpecError> {
        let machine = self.machine(folder)?;
        let requests = self.load(seed, folder)?;
        self.check_fit(&machine, &requests)?;
        Ok(MadeTokens { machine, requests, has_slo: !self.slo.is_empty() })
    }

    fn check_for(&self, policy: &TokenPolicySpec, made: &MadeTokens) -> Result<(), SpecError> {
        self.check_profile(policy, &made.machine)
    }
}

impl Tokens {
    /// The same for a search: requests are made as they come.
    ///
    /// # Errors
    /// As [`Tokens::make`], and when no request is ever late, or only after so long that no probe would end.
    pub fn offered(&self, seed: u64, folder: &Path) -> Result<Offered, SpecError> {
        let remedy = "add `[[tokens.slo]]` with `ttft_ms` and `tpot_ms`";
        if self.slo.is_empty() {
            let allowed = "at least one SLO: without it no request is late, and every rate is good";
            return Err(SpecError::value("slo", "none", allowed, remedy));
        }
        let machine = self.machine(folder)?;
        let coming = self.coming(seed, folder)?;
        self.check_fit(&machine, coming.list())?;
        let longest = coming.longest();
        if longest > IN_TIME_MAX {
            let found = format!("{} s until an answer is late", longest.as_secs_f64());
            let allowed = format!("at most {} s", IN_TIME_MAX.as_secs_f64());
            let remedy = "lower `tpot_ms` or `ttft_ms`: a probe lasts many times as long";
            return Err(SpecError::value("slo", found, allowed, remedy));
        }
        Ok(Offered { machine, coming, longest })
    }

    fn check_fit(&self, machine: &Machine, requests: &[TokenRequest]) -> Result<(), SpecError> {
        let Some(i) = requests.iter().position(|r| !machine.fits(r)) else { return Ok(()) };
        let TokenRequest { tokens_in, tokens_out, .. } = requests[i];
        let found = format!(
            "{} blocks, and request {i} has {tokens_in} tokens in and {tokens_out} out",
            self.kv_blocks
        );
        let allowed = "room for each request alone";
        let remedy = "raise `kv_blocks`, or remove the request: vLLM would refuse it";
        Err(SpecError::value("kv_blocks", found, allowed, remedy))
    }

    fn machine(&self, folder: &Path) -> Result<Machine, SpecError> {
        between("kv_blocks", self.kv_blocks, BLOCKS_MAX)?;
        between("block_tokens", self.block_tokens, BLOCK_TOKENS_MAX)?;
        let profile = StepProfile::read(input(&self.profile, folder)?)?;
        let Some(fitted) = profile.fit() else {
            let found = format!(
                "`{}`, whose rows do not determine the latency model of a step",
                self.profile
            );
            let allowed =
                "rows of attention with only decodes, only prompts, and both, of several sizes";
            return Err(SpecError::value("profile", found, allowed, "measure more of them"));
        };
        let mut law = fitted.law;
        if let Some(reduce) = self.all_reduce {
            law.all_reduce = reduce.law()?;
        }
        Ok(Machine { law, blocks: self.kv_blocks, block_tokens: self.block_tokens })
    }

    /// Whether the executor's profile reaches as far as a policy goes.
    ///
    /// # Errors
    /// When it does not.
    pub(super) fn check_profile(
        &self,
        policy: &TokenPolicySpec,
        machine: &Machine,
    ) -> Result<(), SpecError> {
        let (tokens, sequences) = policy.most();
        let law = &machine.law;
        for (what, most, measured) in
            [("tokens", tokens, law.dense.last()), ("sequences", sequences, law.head.last())]
        {
            // A law of one point says nothing of sizes.
            if most > measured && measured > 1 {
                let found = format!("`{}`, with up to {most} {what} in a step", policy.text());
                let allowed = format!("at most {measured}: `{}` ends there", self.profile);
                let remedy = "lower `budget` or `sequences`, or measure a larger profile";
                return Err(SpecError::value("policies", found, allowed, remedy));
            }
        }
        Ok(())
    }
}

impl AllReduce {
    /// Once, and for each token, in picoseconds.
    fn law(&self) -> Result<[i64; 2], SpecError> {
        between("all_reduce.times", self.times, 100_000)?;
        between("all_reduce.token_bytes", self.token_bytes, 1 << 30)?;
        within("all_reduce.us", self.us, 0.0, 1e6, " us")?;
        within("all_reduce.bandwidth", self.bandwidth, 1e-3, 1e6, "")?;
        let times = f64::from(self.times);
        let token_ps = times * f64::from(self.token_bytes) * 1e3 / self.bandwidth;
        Ok([(times * self.us * 1e6 + 0.5) as i64, (token_ps + 0.5) as i64])
    }
}
