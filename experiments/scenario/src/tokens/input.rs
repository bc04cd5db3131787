//! What a key names: something shipped, or a file beside the one that it stands in.

use super::table::Tokens;
use crate::listed::Timestamps;
use crate::listed::slice;
use orrery_import::{Content, File, Kind, Options, read_as, recognise};
use orrery_run::SpecError;
use orrery_sim::time::Time;
use orrery_sim::tokens::request::TokenRequest;
use orrery_traces::azure_llm::LlmRecord;
use orrery_traces::inspect::{Format, format_of};
use orrery_traces::part::Slice;
use orrery_traces::shipped::{shipped, shipped_names};
use orrery_traces::{Input, TraceError, token_list};
use std::path::Path;

/// Opens it.
pub(super) fn input(name: &str, folder: &Path) -> Result<Input, TraceError> {
    if shipped_names().any(|s| s == name) {
        return shipped(name);
    }
    Input::open(folder.join(name))
}

/// A list's requests, and what a reader of the results should know of it.
type Listed = (Vec<TokenRequest>, Vec<String>);

/// The requests of a list of ours, or of the prompts that another tool wrote.
pub(super) fn requests(tokens: &Tokens, folder: &Path) -> Result<Listed, SpecError> {
    let slice = slice("", tokens.from_s, tokens.to_s)?;
    let (mut list, said) = whole(&tokens.requests, tokens.timestamps.as_ref(), folder)?;
    if slice != Slice::All {
        let (n, last) = (list.len() as u64, list.iter().map(|r| r.at).max());
        list.retain(|r| slice.has(0, r.at));
        let first = list.iter().map(|r| r.at).min();
        let none = || {
            let last = last.unwrap_or(Time::ZERO);
            let allowed = format!("a part that has some of its {n} requests, the last at {last}");
            let remedy = "choose another part, or remove `from_s` and `to_s`";
            SpecError::value("from_s", format!("no request {slice}"), allowed, remedy)
        };
        let first = first.ok_or_else(none)?;
        let origin = slice.origin(first);
        list.iter_mut().for_each(|r| r.at = Time::ZERO + r.at.since(origin));
    }
    Ok((list, said))
}

fn whole(name: &str, timestamps: Option<&Timestamps>, folder: &Path) -> Result<Listed, SpecError> {
    let open = || input(name, folder);
    let file = File::new(name, &open);
    // A list of our own is read as it is: its first request need not arrive at 0.
    let is_own = matches!(format_of(open()?), Ok(Format::Tokens));
    let Some(format) = recognise(&file)?.filter(|_| !is_own) else {
        Timestamps::only_foreign(timestamps, "timestamps")?;
        return Ok((token_list::read(open()?)?, Vec::new()));
    };
    if !format.becomes.contains(&Kind::Prompts) {
        let found = format!("`{name}`, of the format {}", format.title);
        let allowed =
            "a list with `at_s`, `tokens_in` and `tokens_out`, or the prompts of another tool";
        let remedy = match format.direct {
            Some(other) => format!("`{other}` of a scenario reads it"),
            None => "`orrery import` says what it becomes".to_string(),
        };
        return Err(SpecError::value("requests", found, allowed, remedy));
    }
    let options = timestamps.map_or_else(Options::default, |t| t.options(Options::default()));
    let reading = read_as(&file, format, &options)?;
    let Content::Prompts(prompts) = reading.content(Some(Kind::Prompts))? else {
        unreachable!("prompts were asked for")
    };
    let record = |&(at, context_tokens, generated_tokens): &_| LlmRecord {
        at,
        context_tokens,
        generated_tokens,
    };
    let said = reading.assumed.iter().map(|line| format!("{name}: {line}")).collect();
    Ok((token_list::of_prompts(prompts.rows.iter().map(record)), said))
}
