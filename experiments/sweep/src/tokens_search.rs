//! A file of tokens as a cell: its runs, and the search for the highest rate that it carries.

use super::goodput::{Find, Search, Searched, over_in_warm_up};
use super::own::OwnWorld;
use super::replication::Replication;
use super::scenario_cell::{AnswerColumn, Subject};
use orrery_results::metric;
use orrery_run::SpecError;
use orrery_run::search::{self, How, Judge, Load, Probe, on_tokens};
use orrery_scenario::own::{World, WorldFile};
use orrery_scenario::scenario::InputFile;
use orrery_scenario::tokens::{TokenPolicySpec, Tokens, TokensFile};
use orrery_sim::time::Span;
use orrery_traces::token_list::REQUESTS_MAX;
use toml::Value;

impl Searched for TokensFile {
    type Policy = TokenPolicySpec;

    fn for_probes(&self) -> Result<TokensFile, SpecError> {
        Ok(self.clone())
    }

    fn rate(&self) -> Result<f64, SpecError> {
        TokensFile::rate(self)
    }

    fn is_finite(&self) -> bool {
        self.tokens.rate_per_s.is_none()
    }

    fn capacity_per_s(&self, _: &TokenPolicySpec, _: u64) -> Result<Option<f64>, SpecError> {
        Ok(None)
    }

    fn with_rate(&self, rate_per_s: f64) -> Result<TokensFile, SpecError> {
        TokensFile::with_rate(self, rate_per_s)
    }

    fn devices(&self) -> Result<u32, SpecError> {
        let allowed = "`rate`: there is one executor, and no capacity is planned with it";
        Err(SpecError::value("--find", "devices", allowed, "remove `--find devices`"))
    }

    fn with_devices(&self, _: u32) -> Result<TokensFile, SpecError> {
        self.devices().map(|_| self.clone())
    }

    fn probe(
        &self,
        search: &Search,
        policy: &TokenPolicySpec,
        seed: u64,
        how: How,
    ) -> Result<Probe, SpecError> {
        let mut offered = self.offered(seed, policy)?;
        let (rate_per_s, slo) = (TokensFile::rate(self)?, offered.longest);
        let load = match self.is_finite() {
            true => Load::Finite { bad_max: Vec::new() },
            false => Load::Steady { rate_per_s, capacity_per_s: None },
        };
        let own = if self.is_finite() { search.run_warm_up_s() } else { 0.0 };
        let (epoch, can_rise, warm_up) = (None, true, Span::from_secs_f64(own));
        let subject = search::Subject { load, slo, epoch, can_rise, models: 1, warm_up };
        let rule = search.terms().rule(subject, how);
        let warm_up = rule.warm_up;
        let judge = Judge::new(rule, 1);
        let probe = on_tokens(&offered.machine, &mut offered.coming, policy.build(), judge);
        let remedy = "set `rate_per_s`: requests drawn from the list come without end";
        match over_in_warm_up(self, ("requests", remedy), (&probe, how), warm_up)? {
            Some(error) => Err(self.placed(error)),
            None => Ok(probe),
        }
    }

    fn run_at(
        &self,
        search: &Search,
        policy: &TokenPolicySpec,
        seed: u64,
    ) -> Result<Replication, SpecError> {
        let mut limited = self.clone();
        if limited.tokens.rate_per_s.is_some() {
            limited.tokens.count = Some(search.requests_per_model.min(REQUESTS_MAX as u64) as u32);
        }
        limited.one(policy, seed)
    }

    fn model(&self, _: usize) -> Option<String> {
        None
    }
}

impl Subject for TokensFile {
    const KIND: &'static str = Tokens::KEY;
    const AT_ANSWER: (&'static [AnswerColumn], usize) = (
        &[
            ("mean TTFT ms", metric::TTFT_MEAN, 1e-6, 0),
            ("mean TPOT ms", metric::TPOT_MEAN, 1e-6, 1),
        ],
        3,
    );

    fn from_text(name: &str, text: &str) -> Result<TokensFile, SpecError> {
        <TokensFile as WorldFile>::from_text(name, text)
    }

    fn origin(&self) -> (&str, &str) {
        (&self.source.path, &self.source.text)
    }

    fn changed(&self, changes: &[(String, Value)]) -> Result<TokensFile, SpecError> {
        self.with(changes)
    }

    fn name_of(policy: &TokenPolicySpec) -> String {
        policy.name()
    }

    fn policies(&self) -> Result<Vec<TokenPolicySpec>, SpecError> {
        WorldFile::policies(self)
    }

    fn check(
        &self,
        seed: u64,
        policies: &[TokenPolicySpec],
        search: Option<&Search>,
    ) -> Result<(), SpecError> {
        let Some(search) = search else { return self.runs(seed, policies).map(drop) };
        if search.find == Find::Devices {
            self.devices()?;
        }
        TokensFile::rate(self)?;
        policies.iter().try_for_each(|policy| self.offered(seed, policy).map(drop))
    }

    fn has_finish_rate(&self) -> bool {
        !self.tokens.slo.is_empty()
    }

    fn about(&self) -> (&str, u64) {
        (&self.name, self.seed)
    }

    fn canonical(&self) -> String {
        // A table of plain values can always be written.
        toml::to_string(&self.tokens).unwrap_or_default()
    }

    fn inputs(&self) -> Vec<InputFile> {
        TokensFile::inputs(self)
    }

    fn caveats(&self, _: &TokenPolicySpec) -> Vec<&'static str> {
        Vec::new()
    }

    fn without_effect(
        &self,
        policies: &[TokenPolicySpec],
        search: Option<&Search>,
        changes: &[Vec<(String, Value)>],
    ) -> Vec<String> {
        WorldFile::without_effect(self, policies, changes.len(), |file, i| {
            let mut file = file.with(&changes[i])?;
            if search.is_some() && !file.is_finite() {
                file.tokens.count = Some(1);
            }
            Ok(file)
        })
    }

    fn warm_up(&self, search: Option<&Search>) -> String {
        match search {
            Some(search) => {
                format!("{} in probes; the run at the answer counts all", search.warm_up())
            }
            None => "none".to_string(),
        }
    }

    fn requests_expected(&self, search: Option<&Search>) -> Option<u64> {
        search.map(|search| search.requests_per_model).or(self.tokens.count.map(u64::from))
    }

    fn one(&self, policy: &TokenPolicySpec, seed: u64) -> Result<Replication, SpecError> {
        let made = self.runs(seed, std::slice::from_ref(policy))?;
        Ok(Tokens::one(&made, policy, seed))
    }

    fn sought(&self, search: &Search) -> Result<String, SpecError> {
        Ok(format!(
            "the highest offered rate on one executor: all requests together, with {}",
            search.target_in_words()
        ))
    }
}
