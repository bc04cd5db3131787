//! A list of requests that are answered token by token: columns `at_s`, `tokens_in` and `tokens_out`, other
//! columns are left alone. Prompts of other tools become such requests in `of_prompts`.
//!
//! Lines need not be in the order of arrival. An SLO is not in it: who reads the list has one.

use crate::azure_llm::LlmRecord;
use crate::error::TraceError;
use crate::open::Input;
use crate::table::Table;
use orrery_sim::time::{Span, Time};
use orrery_sim::tokens::request::{Slo, TokenRequest};

/// The latest arrival, in seconds: a year and a day.
pub const AT_S_MAX: f64 = 366.0 * 86_400.0;
/// The most tokens in, or out.
pub const TOKENS_MAX: u64 = 1 << 24;
/// The most requests.
pub const REQUESTS_MAX: usize = 10_000_000;

/// Reads a list to its end.
///
/// # Errors
/// When a column is missing, a field is not what its column allows, or there is no request.
pub fn read(input: Input) -> Result<Vec<TokenRequest>, TraceError> {
    let mut table = Table::open(input)?.alone();
    let [at, tokens_in, tokens_out] =
        ["at_s", "tokens_in", "tokens_out"].map(|name| table.column(name));
    let (at, tokens_in, tokens_out) = (at?, tokens_in?, tokens_out?);
    let mut all = Vec::new();
    while table.advance()? {
        let tokens = |column| match table.whole(column, TOKENS_MAX) {
            Ok(n @ 1..) => Ok(n as u32),
            _ => Err(table.bad_field(column, format!("a whole number from 1 to {TOKENS_MAX}"))),
        };
        let (tokens_in, tokens_out) = (tokens(tokens_in)?, tokens(tokens_out)?);
        let at = Time::ZERO + Span::from_secs_f64(table.number(at, AT_S_MAX)?);
        all.push(TokenRequest { at, tokens_in, tokens_out, slo: Slo::default() });
        if all.len() > REQUESTS_MAX {
            let found = format!("more than {REQUESTS_MAX} requests");
            return Err(table.bad_row(found, "fewer".to_string(), "split the list"));
        }
    }
    if all.is_empty() {
        return Err(table.ended("a request", "write the list again"));
    }
    Ok(all)
}

/// Prompts as requests. One without a token in or out counts as one with a token: Azure's traces have some.
pub fn of_prompts(prompts: impl IntoIterator<Item = LlmRecord>) -> Vec<TokenRequest> {
    let tokens = |n: u32| n.clamp(1, TOKENS_MAX as u32);
    let request = |p: LlmRecord| {
        let (tokens_in, tokens_out) = (tokens(p.context_tokens), tokens(p.generated_tokens));
        TokenRequest { at: p.at, tokens_in, tokens_out, slo: Slo::default() }
    };
    prompts.into_iter().map(request).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Result<Vec<TokenRequest>, TraceError> {
        read(Input::from_bytes("r.csv", text.as_bytes().to_vec())?)
    }

    #[test]
    fn a_list_and_prompts_are_read() {
        let all = of("tokens_out,at_s,tokens_in,note\n3,1.5,20,x\n1,0,7,y\n").unwrap();
        assert_eq!((all[0].at.ns(), all[0].tokens_in, all[0].tokens_out), (1_500_000_000, 20, 3));
        assert_eq!(all.len(), 2);
        let prompt = LlmRecord { at: Time::ZERO, context_tokens: 0, generated_tokens: 7 };
        let all = of_prompts([prompt]);
        assert_eq!((all[0].tokens_in, all[0].tokens_out), (1, 7));
    }

    #[test]
    fn what_is_wrong_is_named() {
        let error = |text: &str| of(text).unwrap_err().to_string();
        assert!(error("at_s,tokens_in\n").contains("tokens_out"));
        assert!(error("at_s,tokens_in,tokens_out\n1,0,3\n").contains("from 1 to"));
        assert!(error("at_s,tokens_in,tokens_out\n").contains("a request"));
    }
}
