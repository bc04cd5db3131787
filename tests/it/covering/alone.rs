//! Each key alone: off its default it changes what some policy shows, or the table says why not.

use super::world::Choices;
use rayon::prelude::*;

/// What a file shows, or why it does not run.
pub type Shown = Result<String, String>;

/// Tries every row of a table alone.
pub fn check(choices: &Choices, shown: impl Fn(&str) -> Shown + Sync) {
    let of = |value: usize| {
        Some(format!("{}: {}", choices.all[value].name, wrong_row(choices, value, &shown)?))
    };
    let wrong: Vec<String> = (0..choices.values).into_par_iter().filter_map(of).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// What is wrong with a row of the table.
fn wrong_row(choices: &Choices, value: usize, shown: impl Fn(&str) -> Shown) -> Option<String> {
    let row = choices.all[value].key.expect("a value of a key");
    let (mut changes, mut refusal) = (false, None);
    for policy in choices.policies() {
        let with = shown(&choices.text(&[value, policy]));
        let without = shown(&choices.written(&[value, policy], &[policy]));
        match (with, without) {
            (Ok(with), Ok(without)) => changes |= with != without,
            (_, Err(message)) => refusal = Some(format!("its needs are refused: {message}")),
            (Err(message), _) => refusal = Some(format!("it is refused: {message}")),
        }
        if changes {
            break;
        }
    }
    match (row.silent, refusal) {
        (Some(why), _) if changes => Some(format!("changes a result, and the table says: {why}")),
        (None, None) if !changes => Some("changes no policy's result".to_string()),
        (_, Some(message)) if !changes => Some(message),
        _ => None,
    }
}
