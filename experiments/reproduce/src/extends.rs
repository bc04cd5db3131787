//! `extends`: a file's keys over those of a shipped one. Tables are merged key by key, all else is replaced.
//! A file that lists other systems takes over none of the keys that name systems.

use super::shipped;
use orrery_run::SpecError;
use orrery_scenario::scenario::place::{Source, parse_error};
use orrery_scenario::scenario::texts;
use std::ops::Range;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Keys that name systems.
const NAMING: [&str; 4] = ["compare_to", "relative_to", "claim", "paper"];
/// Files that extend one another, at most.
const DEPTH_MAX: u32 = 8;

/// The keys of a file, and the file that the scenario's text stands in. Every key has its place in the text;
/// one of the file that it extends has that of `extends`.
///
/// # Errors
/// When the text is no TOML, or there is no such file to extend.
pub fn keys<'a>(
    source: &Source,
    text: &'a str,
    depth: u32,
) -> Result<(Spanned<DeTable<'a>>, Source), SpecError> {
    texts::check(&source.path, text)?;
    let parsed = DeTable::parse(text).map_err(|e| parse_error(&source.path, text, &e))?;
    let (span, mut own) = (parsed.span(), parsed.into_inner());
    let Some(extends) = own.remove("extends") else {
        return Ok((Spanned::new(span, own), source.clone()));
    };
    let at = extends.span();
    let id = match extends.get_ref() {
        DeValue::String(id) => id.as_ref(),
        _ => &text[at.clone()],
    };
    let file = shipped::text(id).filter(|_| depth < DEPTH_MAX);
    let file = file.ok_or_else(|| source.placed(shipped::unknown("extends", id, "name one of")))?;
    let base = Source::new(format!("{id}.toml"), file);
    let (base, mut scenario_in) = keys(&base, file, depth + 1)?;
    let mut base = moved(base.into_inner(), &at);
    base.remove("order");
    if own.contains_key("scenario") {
        scenario_in = source.clone();
    }
    if own.contains_key("system") {
        NAMING.iter().for_each(|key| _ = base.remove(*key));
    }
    Ok((Spanned::new(span, over(base, own)), scenario_in))
}

/// Keys at another place.
fn moved<'a>(table: DeTable<'a>, at: &Range<usize>) -> DeTable<'a> {
    fn value<'a>(old: Spanned<DeValue<'a>>, at: &Range<usize>) -> Spanned<DeValue<'a>> {
        let new = match old.into_inner() {
            DeValue::Table(table) => DeValue::Table(moved(table, at)),
            DeValue::Array(items) => {
                DeValue::Array(items.into_iter().map(|item| value(item, at)).collect())
            }
            plain => plain,
        };
        Spanned::new(at.clone(), new)
    }
    let entries = table.into_iter();
    entries.map(|(k, v)| (Spanned::new(at.clone(), k.into_inner()), value(v, at))).collect()
}

/// One table's keys over another's.
fn over<'a>(mut base: DeTable<'a>, own: DeTable<'a>) -> DeTable<'a> {
    for (key, new) in own {
        let span = new.span();
        let old = base.remove(key.get_ref().as_ref()).map(Spanned::into_inner);
        let new = match (old, new.into_inner()) {
            (Some(DeValue::Table(old)), DeValue::Table(new)) => DeValue::Table(over(old, new)),
            (_, new) => new,
        };
        base.insert(key, Spanned::new(span, new));
    }
    base
}
