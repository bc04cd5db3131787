//! An experiment's values beside the paper's: a table for each metric that is shown and group of systems.

use super::errors::{self, NOT_COUNTED, is_endless};
use super::experiment::{Experiment, System};
use super::groups::{self, Group};
use super::numbers::{WITHHELD, WITHHELD_MEANS, WITHIN, axes, is_withheld};
use orrery_report::page::{self, Field, Part, Table, Tone};
use orrery_results::{Row, UNITLESS, distinct, metric, pairs, unit};
use std::collections::{BTreeMap, BTreeSet};

/// Where a share is this far off the paper's number, or another value by this much of it, it is marked.
const OFF: f64 = 0.1;
/// Of more systems than this, the paper's numbers stand behind ours in a text.
const BESIDE_MAX: usize = 2;
/// What stands where a line is of no part of the time and of no group.
const ALL: &str = "all";
/// A system alone has a column for each value of its last axis, where these are at most so many.
const ACROSS_MAX: usize = 5;
/// The most lines of the one table of a short text, and the fewest that some values of an axis are shown for.
const LINES_MAX: usize = 10;
const LINES_MIN: usize = 5;

/// The tables, or a kind's own. On a page the paper's number stands below ours; a text has it in a column or behind ours,
/// and without `--details` one table.
pub fn of(e: &Experiment, rows: &[Row], own: Option<Vec<Part>>) -> Vec<Part> {
    let metrics: Vec<&str> = match e.kind.metrics() {
        [] => e.show.iter().map(String::as_str).collect(),
        own => own.to_vec(),
    };
    let groups = groups::of(e);
    let has_errors_only = e.errors.as_ref().is_some_and(|errors| errors.groups_only);
    let shown = metrics.iter().filter(|_| own.is_none() && !has_errors_only);
    let all = shown.flat_map(|m| groups.iter().map(|g| Grid::new(e, m, g, rows)));
    let all: Vec<Grid<'_>> = all.filter(|grid| !grid.rows.is_empty()).collect();
    let page = match own {
        Some(parts) => parts,
        None if all.is_empty() && !has_errors_only => page::cells(rows),
        None => all.iter().filter_map(|grid| grid.below().part()).collect(),
    };
    let tables: Vec<Table> = match e.details {
        true if all.is_empty() => return page,
        true => all.iter().map(|grid| unsaid(grid.beside())).collect(),
        false => short(e, rows, all, &page).into_iter().collect(),
    };
    let is_away = |f: &Field| f.text == WITHHELD || f.text.ends_with("/-");
    let is_some_away = tables.iter().flat_map(|table| &table.rows).flatten().any(is_away);
    let means = is_some_away.then(|| Part::Text(WITHHELD_MEANS.to_string()));
    let text = tables.into_iter().filter_map(Table::part).chain(means).collect();
    vec![Part::Views { page, text }]
}

/// One table: the errors by group, where the file asks for them; else of the first metric and group that the paper has
/// numbers of. Of many lines it has some.
fn short(e: &Experiment, rows: &[Row], mut all: Vec<Grid<'_>>, page: &[Part]) -> Option<Table> {
    let table =
        |part: &Part| if let Part::Table(table) = part { Some(table.clone()) } else { None };
    if let Some(errors) = errors::parts(e, rows).iter().find_map(table) {
        return Some(errors::first(errors, LINES_MAX));
    }
    // With numbers of the paper, or else what the first claim is of, or how far off all is.
    let claimed = e.claim.first().map_or(metric::MEAN_ABS_ERROR, |claim| &claim.metric);
    let has_paper = |grid: &Grid<'_>| grid.rows.iter().any(|r| r.paper.is_some());
    all.sort_by_key(|grid| (!has_paper(grid), grid.metric != claimed));
    let mut all = all.into_iter();
    let Some(mut grid) = all.next() else {
        return page.iter().find_map(table).map(|table| thin(e, table));
    };
    // What has no delay, for being dropped, is in none: the finish rate says how much that is.
    let is_delay = ["latency_", "queueing_"].iter().any(|kind| grid.metric.starts_with(kind));
    let of_rates = |g: &Grid<'_>| g.metric == metric::FINISH_RATE && g.title == grid.title;
    if is_delay && !has_paper(&grid) {
        grid.rates = all.find(of_rates).map(Box::new);
    }
    // The first group is the reproduction.
    grid.title = "";
    let own = grid.rows.iter().filter(|r| r.paper.is_some());
    let beside: BTreeSet<_> = own.map(|r| (&r.case, &r.axes)).collect();
    if grid.places.len() > LINES_MAX && !beside.is_empty() {
        grid.places.retain(|place| beside.contains(&(&place.case, &place.axes)));
    }
    Some(unsaid(thin(e, grid.beside())))
}

/// At most so many lines of a table: with some values of one axis, the last that leaves several lines, and all of the
/// others; of groups, those of all.
fn thin(e: &Experiment, mut table: Table) -> Table {
    let group = table.columns.iter().position(|c| c == "group").filter(|i| *i < table.keys);
    if let Some(group) = group.filter(|_| table.rows.len() > LINES_MAX) {
        table.rows.retain(|row| row[group].text == ALL);
    }
    let lines = table.rows.len();
    if lines <= LINES_MAX {
        return table;
    }
    for key in (0..table.keys).rev() {
        let values = distinct(table.rows.iter().map(|row| row[key].text.as_str()));
        let all = values.len();
        let name = table.columns[key].clone();
        let some = (1..all).rev().map(|n| some_of(e, &name, &values, n)).find_map(|some| {
            let is = |row: &&Vec<Field>| some.contains(&row[key].text);
            let left = table.rows.iter().filter(is).count();
            (LINES_MIN..=LINES_MAX).contains(&left).then_some(some)
        });
        let Some(some) = some else { continue };
        table.rows.retain(|row| some.contains(&row[key].text));
        let what = match &some[..] {
            [one] if table.keys > 1 => {
                table.columns.remove(key);
                for row in &mut table.rows {
                    row.remove(key);
                }
                table.keys -= 1;
                format!("{name}={one}, one of {all} values (all with --details)")
            }
            some => format!("{} of {all} values of {name} (all with --details)", some.len()),
        };
        table.caption += &format!("; {what}");
        return table;
    }
    let every = lines.div_ceil(LINES_MAX);
    table.rows = std::mem::take(&mut table.rows).into_iter().step_by(every).collect();
    table.caption += &format!("; one line in {every} (all with --details)");
    table
}

/// So many values of an axis: those of which claims speak, in their order; the others evenly spread.
fn some_of(e: &Experiment, axis: &str, values: &[&str], n: usize) -> Vec<String> {
    let places = e.claim.iter().flat_map(|claim| [&claim.at, &claim.over_at]);
    let named = places.flat_map(|at| pairs(at)).filter(|(name, _)| *name == axis);
    let named = distinct(named.map(|(_, value)| value).filter(|value| values.contains(value)));
    let others: Vec<&str> = values.iter().copied().filter(|v| !named.contains(v)).collect();
    let more = n.saturating_sub(named.len());
    let spread = (0..more).filter_map(|i| match more {
        1 => others.get(others.len() / 2),
        _ => others.get(i * (others.len() - 1) / (more - 1)),
    });
    named.iter().take(n).chain(spread).map(ToString::to_string).collect()
}

/// The values of a metric: a line for each setting, a column for each system.
struct Grid<'a> {
    e: &'a Experiment,
    metric: &'a str,
    title: &'a str,
    names: Vec<&'a str>,
    systems: Vec<&'a System>,
    rows: Vec<&'a Row>,
    places: Vec<&'a Row>,
    /// The first row of each case, axes, system and preset.
    at: BTreeMap<[&'a str; 4], &'a Row>,
    /// The finish rates that stand behind delays in a text.
    rates: Option<Box<Grid<'a>>>,
}

fn is_of(row: &Row, system: &System) -> bool {
    row.system == system.name && row.preset == system.preset.word()
}

impl<'a> Grid<'a> {
    fn new(e: &'a Experiment, metric: &'a str, group: &'a Group<'a>, rows: &'a [Row]) -> Grid<'a> {
        let of_metric = |r: &&Row| r.metric == metric && r.scope == "all" && r.versus.is_empty();
        let mut own: Vec<&Row> = rows.iter().filter(of_metric).collect();
        let mut systems = group.systems.clone();
        systems.retain(|s| own.iter().any(|r| is_of(r, s)));
        own.retain(|r| systems.iter().any(|s| is_of(r, s)));
        let mut names = distinct(own.iter().flat_map(|r| axes(r)).map(|axis| axis.0));
        let (mut places, mut seen) = (Vec::new(), BTreeSet::new());
        let mut at = BTreeMap::new();
        for row in &own {
            at.entry([&*row.case, &*row.axes, &*row.system, &*row.preset]).or_insert(*row);
            if seen.insert((&row.case, &row.axes)) {
                places.push(*row);
            }
        }
        // What the names of all cases say needs no column, if it does not tell two places of a case apart.
        let is_said = |name: &str| {
            let mut of_case = BTreeMap::new();
            let mut is_in = |place: &'a Row| {
                let said = |value: &&str| place.case.split(' ').any(|word| word == *value);
                let value = place.axis(name).filter(said);
                value.is_some_and(|value| *of_case.entry(&*place.case).or_insert(value) == value)
            };
            places.len() > 1 && places.iter().copied().all(&mut is_in)
        };
        names.retain(|name| !is_said(name));
        Grid { e, metric, title: &group.title, names, systems, rows: own, places, at, rates: None }
    }

    fn row(&self, place: &Row, system: &System) -> Option<&'a Row> {
        self.at.get(&[&*place.case, &*place.axes, &*system.name, system.preset.word()]).copied()
    }

    fn caption(&self, what: &str) -> String {
        let title = if self.title.is_empty() { String::new() } else { format!("{}: ", self.title) };
        format!("{title}{}{}{what}", metric::words(self.metric), in_unit(self.metric))
    }

    /// What a table says of a place in its first columns.
    fn keys(&self, place: &Row) -> Vec<Field> {
        self.names.iter().map(|name| Field::text(self.said_of(place, name))).collect()
    }

    /// What a line says of an axis. Why a case is not counted stands below the errors, where there are any.
    fn said_of<'r>(&self, place: &'r Row, name: &str) -> &'r str {
        let whole = if WITHIN.contains(&name) { ALL } else { "" };
        let value = axes(place).find(|a| a.0 == name).map_or(whole, |a| a.1);
        let is_below = name == NOT_COUNTED && self.e.errors.is_some() && !value.is_empty();
        if is_below { "yes" } else { value }
    }

    /// The paper's number and the error below each value of ours; every line says all of its place.
    fn below(&self) -> Table {
        let has_paper = self.rows.iter().any(|r| r.paper.is_some());
        let what = if has_paper { "; below ours the paper's number and our error" } else { "" };
        let each = || self.systems.iter().map(|s| Column::Both(s)).collect();
        self.across(Column::Both).unwrap_or_else(|| self.table(what, each()))
    }

    /// The same as columns beside each value; where these are too many, `ours/paper`.
    fn beside(&self) -> Table {
        if let Some(rates) = &self.rates {
            let each = self.systems.iter().map(|s| Column::Rated(s, rates)).collect();
            return self.table("/finish rate", each);
        }
        if let Some(table) = self.across(Column::Ours) {
            return table;
        }
        let is_withheld = |r: &Row| is_withheld(r, &self.e.withheld);
        let has = |s: &&System| {
            self.rows.iter().any(|r| is_of(r, s) && (r.paper.is_some() || is_withheld(r)))
        };
        let with: Vec<&System> = self.systems.iter().copied().filter(has).collect();
        // The one that it is about stands first: the last may find no room.
        let of_claim = || self.e.claim.first().map(|claim| &claim.of);
        let about = self.e.compare_to.as_ref().or_else(of_claim).map(|name| name.split('/').next());
        let mut systems = self.systems.clone();
        systems.sort_by_key(|s| Some(Some(&*s.name)) != about);
        if self.is_shared(&with) {
            let each = systems.iter().flat_map(|s| [Column::Ours(s), Column::Error(s)]);
            let columns = [Column::Shared].into_iter().chain(each).collect();
            return self.table("", columns);
        }
        if with.len() <= BESIDE_MAX {
            let each = |s: &&'a System| match has(s) {
                true => vec![Column::Ours(s), Column::Paper(s), Column::Error(s)],
                false => vec![Column::Ours(s)],
            };
            return self.table("", systems.iter().flat_map(each).collect());
        }
        let pair = |s: &&'a System| if has(s) { Column::Pair(s) } else { Column::Ours(s) };
        self.table(&format!(", ours/{}", self.theirs()), systems.iter().map(pair).collect())
    }

    /// The values of one system without numbers of the paper: a line for each setting of all axes but the last, whose
    /// values are the columns.
    fn across(&self, of: fn(&'a System) -> Column<'a>) -> Option<Table> {
        let [system] = *self.systems else { return None };
        let has_paper = |r: &&Row| r.paper.is_some() || is_withheld(r, &self.e.withheld);
        if self.rows.iter().any(has_paper) {
            return None;
        }
        let (last, names) = self.names.split_last().filter(|(_, names)| !names.is_empty())?;
        let (mut values, mut lines) = (Vec::new(), Vec::<(Vec<Field>, Vec<Field>)>::new());
        let mut numbers = BTreeMap::new();
        for place in &self.places {
            let value = self.said_of(place, last);
            let column = values.iter().position(|v| *v == value).unwrap_or_else(|| {
                values.push(value);
                values.len() - 1
            });
            if values.len() > ACROSS_MAX {
                return None;
            }
            let keys: Vec<&str> = names.iter().map(|name| self.said_of(place, name)).collect();
            let line = *numbers.entry(keys).or_insert_with_key(|keys| {
                lines.push((keys.iter().map(|key| Field::text(*key)).collect(), Vec::new()));
                lines.len() - 1
            });
            let fields = &mut lines[line].1;
            fields.resize(fields.len().max(column + 1), Field::none());
            fields[column] = self.cell(place, &of(system));
        }
        if lines.len() == self.places.len() {
            return None;
        }
        let what = format!(": {} by {last}", system.name);
        // The whole cell has no part of the time and no group; of another axis there is no value.
        let whole = if WITHIN.contains(last) { ALL } else { "-" };
        let heads = values.iter().map(|v| if v.is_empty() { whole } else { v });
        let heads: Vec<&str> = names.iter().copied().chain(heads).collect();
        let mut table = Table { keys: names.len(), ..Table::new(self.caption(&what), &heads) };
        for (keys, mut fields) in lines {
            fields.resize(values.len(), Field::none());
            table.rows.push(keys.into_iter().chain(fields).collect());
        }
        Some(table)
    }

    /// Whether all systems predict the same numbers: one column has them.
    fn is_shared(&self, with: &[&System]) -> bool {
        let paper = |place: &Row, s: &System| self.row(place, s).and_then(|r| r.paper);
        let same = |place: &&Row| {
            let all: Vec<Option<f64>> = self.systems.iter().map(|s| paper(place, s)).collect();
            all.windows(2).all(|w| w[0] == w[1])
        };
        with.len() > 1 && self.places.iter().all(same)
    }

    /// Whose numbers stand beside ours.
    fn theirs(&self) -> &str {
        self.e.errors.as_ref().map_or("paper", |errors| &errors.beside)
    }

    fn table(&self, what: &str, columns: Vec<Column<'_>>) -> Table {
        let heads = columns.iter().map(|c| self.head(c));
        let heads: Vec<&str> = self.names.iter().copied().chain(heads).collect();
        let mut table = Table { keys: self.names.len(), ..Table::new(self.caption(what), &heads) };
        for place in &self.places {
            let mut line = self.keys(place);
            line.extend(columns.iter().map(|c| self.cell(place, c)));
            table.rows.push(line);
        }
        table
    }

    fn head(&self, column: &Column<'a>) -> &str {
        match column {
            Column::Ours(s) | Column::Both(s) | Column::Pair(s) | Column::Rated(s, _) => &s.name,
            Column::Paper(_) | Column::Shared => self.theirs(),
            Column::Error(_) if self.is_in_points() => "points",
            Column::Error(_) => "error",
        }
    }

    fn cell(&self, place: &Row, column: &Column<'_>) -> Field {
        let none = Field::none();
        match column {
            Column::Ours(s) => self.row(place, s).map_or(none, |r| ours(self.e, r)),
            Column::Both(s) => self.row(place, s).map_or(Field::default(), |r| both(self.e, r)),
            Column::Paper(s) => self.row(place, s).map_or(none, |r| paper(self.e, r)),
            Column::Pair(s) => self.row(place, s).map_or(none, |r| match paper(self.e, r) {
                theirs if theirs == Field::none() => ours(self.e, r),
                theirs => {
                    let own = ours(self.e, r);
                    let theirs = match theirs.text.as_str() {
                        WITHHELD => "-",
                        x if x.contains('.') => x.trim_end_matches('0').trim_end_matches('.'),
                        x => x,
                    };
                    Field { text: format!("{}/{theirs}", own.text), ..own }
                }
            }),
            Column::Rated(s, rates) => {
                let own = self.row(place, s).map_or(none, |r| ours(self.e, r));
                let rate = rates.row(place, s).and_then(|r| r.value);
                match rate {
                    Some(rate) => Field {
                        text: format!("{}/{rate:.2}", own.text),
                        key: own.key.or(Some(rate)),
                        ..own
                    },
                    None => own,
                }
            }
            Column::Shared => {
                let all = self.systems.iter().filter_map(|s| self.row(place, s));
                let best =
                    all.max_by_key(|r| (r.paper.is_some(), is_withheld(r, &self.e.withheld)));
                best.map_or(none, |r| paper(self.e, r))
            }
            Column::Error(s) => {
                let error = self.row(place, s).and_then(|r| self.error(r));
                error.map_or(none, |(x, text)| Field::number(x, text))
            }
        }
    }

    fn is_in_points(&self) -> bool {
        self.e.errors.is_some() && unit(self.metric) == UNITLESS
    }

    /// The error of a share in its own measure or in percentage points, of all else in per cent.
    fn error(&self, row: &Row) -> Option<(f64, String)> {
        if self.is_in_points() {
            return errors::points(row).map(|x| (x, format!("{x:+.1}")));
        }
        let off = off(row).filter(|_| self.e.errors.is_none() || !is_endless(row))?;
        Some((off, off_words(row, off)))
    }
}

/// The table with lines that do not repeat the keys of the line above; the last key is always said.
fn unsaid(mut table: Table) -> Table {
    for i in (1..table.rows.len()).rev() {
        let (above, below) = table.rows.split_at_mut(i);
        let (above, line) = (&above[i - 1], &mut below[0]);
        let same =
            line.iter().zip(above).take(table.keys.saturating_sub(1)).take_while(|(a, b)| a == b);
        let same = same.count();
        line[..same].fill(Field::default());
    }
    table
}

/// A column of a system, or of all.
enum Column<'a> {
    /// Our values.
    Ours(&'a System),
    /// Our values, each with the number below it.
    Both(&'a System),
    /// The numbers beside them.
    Paper(&'a System),
    /// How far ours are off.
    Error(&'a System),
    /// The numbers beside all systems alike.
    Shared,
    /// Our values, each with the number beside it behind a slash.
    Pair(&'a System),
    /// Our values, each with its finish rate behind a slash.
    Rated(&'a System, &'a Grid<'a>),
}

/// Its unit, after a comma, as values are written.
pub fn in_unit(metric: &str) -> String {
    let reading = metric::reading(metric).unit;
    let said = unit(metric) == UNITLESS || reading == metric::words(metric);
    if said { String::new() } else { format!(", {reading}") }
}

fn value(metric: &str, x: f64) -> Field {
    let text = match unit(metric) {
        UNITLESS if x.abs() <= 1.0 => format!("{x:.3}"),
        _ => page::reading(metric, x),
    };
    Field::number(x, text)
}

/// Our value.
fn ours(e: &Experiment, row: &Row) -> Field {
    match row.value {
        _ if e.errors.is_some() && is_endless(row) => Field::text("no end"),
        Some(x) => value(&row.metric, x),
        None => Field::none(),
    }
}

/// The number beside it.
fn paper(e: &Experiment, row: &Row) -> Field {
    match row.paper {
        Some(x) => value(&row.metric, x),
        None if is_withheld(row, &e.withheld) => Field::text(WITHHELD),
        None => Field::none(),
    }
}

/// How far ours is off: of a share the difference, of all else as a share of the paper's.
fn off(row: &Row) -> Option<f64> {
    let (ours, paper) = row.value.zip(row.paper)?;
    match unit(&row.metric) {
        UNITLESS => Some(ours - paper),
        _ => (paper != 0.0).then(|| ours / paper - 1.0),
    }
}

fn off_words(row: &Row, off: f64) -> String {
    match unit(&row.metric) {
        UNITLESS => format!("{off:+.2}"),
        _ => format!("{:+.1} %", 100.0 * off),
    }
}

/// Our value with the paper's below it.
fn both(e: &Experiment, row: &Row) -> Field {
    if row.value.is_none() {
        return Field::text("no answer").with(&*row.reason);
    }
    let field = ours(e, row);
    if row.paper.is_none() && is_withheld(row, &e.withheld) {
        return field.with("withheld from this project");
    }
    let (Some(_), Some(off)) = (row.paper, off(row)) else { return field };
    let tone = if off.abs() > OFF { Tone::Mixed } else { Tone::Plain };
    field.with(format!("{} ({})", paper(e, row).text, off_words(row, off))).marked(tone)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A table of 35 or 50 cells has all cases at one SLO; that of `orloj-shares` the shares of which its claims are.
    #[test]
    fn a_short_table_has_all_of_one_axis_and_what_claims_speak_of() {
        let of = |id: &str, keys: [&str; 2], values: [&[&str]; 2]| {
            let e = crate::registry::find(id).expect("a shipped experiment");
            let mut table =
                Table { keys: 2, ..Table::new("finish rate", &[keys[0], keys[1], "x"]) };
            for first in values[0] {
                let row = |last: &&str| [*first, *last, "0.5"].map(Field::text).to_vec();
                table.rows.extend(values[1].iter().map(row));
            }
            let table = thin(&e, table);
            let keys = |row: &Vec<Field>| {
                row[..table.keys].iter().map(|f| f.text.clone()).collect::<Vec<_>>().join(" ")
            };
            let rows = table.rows.iter().map(keys).collect::<Vec<_>>().join(", ");
            format!("{}: {rows}", table.caption)
        };
        let slos: &[&str] = &["1.5", "2", "3", "4", "5"];
        let cases: &[&str] = &["one", "two", "three", "four", "five", "seven", "eight"];
        let says = "finish rate; slo_x_p99=1.5, one of 5 values (all with --details): one, two, three, four, five, seven, eight";
        assert_eq!(of("orloj-table-3", ["case", "slo_x_p99"], [cases, slos]), says);
        let says = "finish rate; 2 of 5 values of slo_x_p99 (all with --details): a 1.5, a 5, b 1.5, b 5, c 1.5, c 5, d 1.5, d 5";
        let cases: &[&str] = &["a", "b", "c", "d"];
        assert_eq!(of("orloj-table-2", ["case", "slo_x_p99"], [cases, slos]), says);
        let shares: &[&str] = &["50", "60", "70", "80", "90", "95", "99"];
        let said = of("orloj-shares", ["mostly", "share_pct"], [&["short", "long"], shares]);
        assert!(said.contains("short 95, ") && said.contains("long 95, "), "{said}");
    }

    /// A delay is of the requests that were answered: beside it stands how many were.
    #[test]
    fn delays_without_numbers_of_the_paper_stand_beside_finish_rates() {
        let e = crate::registry::find("symphony-fig-12-sensitivity").expect("a shipped experiment");
        let row = |metric: &str, system: usize, value: Option<f64>| Row {
            axes: "model=ResNet50;load=Symphony's goodput".into(),
            metric: metric.into(),
            scope: "all".into(),
            system: e.system[system].name.clone(),
            preset: e.system[system].preset.word().into(),
            value,
            ..Row::default()
        };
        let rows = [
            row("queueing_mean_ns", 0, Some(2e6)),
            row("queueing_mean_ns", 1, None),
            row("finish_rate", 0, Some(0.99)),
            row("finish_rate", 1, Some(0.0)),
        ];
        let [Part::Views { text, .. }] = &of(&e, &rows, None)[..] else { panic!("one part") };
        let [Part::Table(table)] = &text[..] else { panic!("one table") };
        assert_eq!(table.caption, "queueing mean, ms/finish rate");
        let cells: Vec<&str> = table.rows[0][table.keys..].iter().map(|f| &*f.text).collect();
        assert_eq!(cells, ["2/0.99", "-/0.00"]);
    }

    /// Two settings of a case stay apart where its name has the words of both.
    #[test]
    fn an_axis_that_names_of_cases_say_has_no_column_unless_it_tells_places_of_one_apart() {
        let e = crate::registry::find("orloj-table-3").expect("a shipped experiment");
        let group = &groups::of(&e)[0];
        let system = group.systems[0];
        let names = |places: &[(&str, &str)]| {
            let row = |(case, axes): &(&str, &str)| Row {
                case: case.to_string(),
                axes: axes.to_string(),
                metric: "finish_rate".into(),
                scope: "all".into(),
                system: system.name.clone(),
                preset: system.preset.word().into(),
                ..Row::default()
            };
            let rows: Vec<Row> = places.iter().map(row).collect();
            Grid::new(&e, "finish_rate", group, &rows).names.join(" ")
        };
        assert_eq!(names(&[("low 3", "slo=3"), ("high 4", "slo=4")]), "case");
        assert_eq!(names(&[("low 3", "slo=3"), ("high", "slo=4")]), "case slo");
        assert_eq!(names(&[("low 3 4", "slo=3"), ("low 3 4", "slo=4")]), "case slo");
    }
}
