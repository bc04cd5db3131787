//! A policy's presets and parameters for readers: the same for every policy.

use super::allowed::Allowed;
use super::row;
use super::settings::{About, Assumption, Rows, Settings, rows};

/// A parameter.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// Its name; a time's ends in its unit.
    pub name: &'static str,
    /// `ms`, `us`, `s`, `items`, or nothing.
    pub unit: &'static str,
    /// Its value in each preset, in the presets' order. Where it needs another's value, its value
    /// with that.
    pub defaults: Vec<String>,
    /// What may be written.
    pub allowed: Allowed,
    /// Another parameter and the value of it that this one needs.
    pub needs: Option<(&'static str, &'static str)>,
    /// Where its default comes from: paper, section, file of the released code. May be empty.
    pub source: &'static str,
    /// What it is, in one line without a full stop.
    pub help: &'static str,
}

/// A policy's presets and parameters.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// Its name, its line in lists, and its paper.
    pub about: About,
    /// What its paper takes for granted.
    pub assumes: &'static [Assumption],
    /// Name and meaning of each preset; the first is what a bare name means.
    pub presets: Vec<(&'static str, &'static str)>,
    /// Its parameters, in the order of its name.
    pub rows: Vec<Row>,
    /// The name of the policy with its defaults, as results have it.
    pub name: String,
}

impl Table {
    /// The table of a configuration.
    pub fn of<C: Settings>() -> Table {
        let base = (C::PRESETS[0].make)();
        Table {
            about: C::ABOUT,
            assumes: C::ASSUMES,
            presets: C::PRESETS.iter().map(|p| (p.name, p.what)).collect(),
            rows: made(C::PRESETS.len(), &|preset| Box::new((C::PRESETS[preset].make)())),
            name: base.name(),
        }
    }
}

/// The rows; `preset` makes the configuration of a preset.
fn made(presets: usize, preset: &dyn Fn(usize) -> Box<dyn Rows>) -> Vec<Row> {
    let mut first = preset(0);
    let all = rows(&*first);
    let default = |number: usize, about: &row::About, mut config: Box<dyn Rows>| {
        if let Some((key, value)) = about.needs {
            let other = all.iter().find(|(_, other)| other.name == key);
            // A bug: a row that needs what there is not.
            let &(other, about) = other.unwrap_or_else(|| panic!("`{key}` is no parameter"));
            config.at(other).write(about, value).unwrap_or_else(|e| panic!("{e}"));
        }
        let value = config.at(number).read();
        value.unwrap_or_else(|| panic!("`{}` has no place", about.name))
    };
    let row = |&(number, about): &(usize, &'static row::About)| Row {
        name: about.name,
        unit: about.unit,
        defaults: (0..presets).map(|p| default(number, about, preset(p))).collect(),
        allowed: first.at(number).allowed(),
        needs: about.needs,
        source: about.source,
        help: about.help,
    };
    all.iter().map(row).collect()
}
