//! What an experiment is, in words: `orrery list` and `orrery list ID`.

use super::experiment::Experiment;
use super::groups::Group;
use super::numbers::Number;
use super::options::CliOption;
use orrery_report::tables::Text;
use orrery_results::unit;
use orrery_sweep::grid::word;
use orrery_sweep::notes::distinct;
use std::fmt::Write;

/// Values of an axis that are listed one by one.
const LISTED_MAX: usize = 12;

/// All that is shipped, by paper: a line for each with its seconds, cases and points, then its title and source. Made
/// by a test, because the points of some files take long to count.
pub fn all() -> &'static str {
    include_str!("../data/list.txt")
}

/// Combinations of axes and points.
pub fn points(e: &Experiment) -> usize {
    let all = e.axis.iter().map(|a| a.values.len());
    let all = all.fold(e.point.len().max(1), usize::saturating_mul);
    e.sample.map_or(all, |s| s.count.min(all))
}

/// One experiment: its cases, axes, systems, measures, claims, assumptions and files.
pub fn one(e: &Experiment) -> String {
    let mut out = format!("{}: {}\nsource: {}\n", e.id, e.title, e.source);
    let _ = writeln!(out, "runs: {}", e.kind.in_words(e.seeds));
    if e.expected_s > 0 {
        let _ = writeln!(out, "takes: about {} s on 2 cores", e.expected_s);
    }
    let cases = e.cases();
    if !cases.is_empty() {
        let _ = writeln!(out, "\ncases (`--case`):");
        cases.iter().for_each(|c| _ = writeln!(out, "  {c}"));
    }
    if !e.axis.is_empty() || !e.point.is_empty() {
        let _ = writeln!(out, "\naxes: {} combinations", points(e));
        for axis in &e.axis {
            let values: Vec<String> = axis.values.iter().take(LISTED_MAX).map(word).collect();
            let more = axis.values.len().saturating_sub(LISTED_MAX);
            let more = if more > 0 { format!(", and {more} more") } else { String::new() };
            let keys = match axis.keys.join(", ") {
                keys if keys == axis.name || keys.is_empty() => String::new(),
                keys => format!(" ({keys})"),
            };
            let _ = writeln!(out, "  {}{keys}: {}{more}", axis.name, values.join(", "));
        }
        if !e.point.is_empty() {
            let names: Vec<&str> =
                e.point.iter().take(LISTED_MAX).map(|p| p.name.as_str()).collect();
            let more = e.point.len().saturating_sub(LISTED_MAX);
            let more = if more > 0 { format!(", and {more} more") } else { String::new() };
            let _ = writeln!(out, "  {}: {}{more}", e.point_axis, names.join(", "));
        }
    }
    systems(e, &mut out);
    let _ = writeln!(out, "\nmeasures:");
    for metric in &e.show {
        let _ = writeln!(out, "  {metric}, in {}", unit(metric));
    }
    let numbers = e.paper.len();
    match &e.paper_csv {
        Some(file) => _ = writeln!(out, "\nthe paper's numbers: {} {}", file.file, file.only),
        None if numbers > 0 => _ = writeln!(out, "\nthe paper's numbers: {numbers}"),
        None => {}
    }
    withheld(e, &mut out);
    let with = match e.region.is_empty() {
        true => String::new(),
        false => format!(" with every value of {}", e.region.join(" and ")),
    };
    for (own, whose) in [(false, "the paper's"), (true, "our own")] {
        let claims: Vec<&str> = e.claim.iter().filter(|c| c.own == own).map(|c| &*c.text).collect();
        if !claims.is_empty() {
            let _ = writeln!(out, "\n{whose} claims, checked{with}:");
            claims.iter().for_each(|text| _ = writeln!(out, "  - {text}"));
        }
    }
    if !e.assumption.is_empty() {
        let _ = writeln!(out, "\nassumptions, where the paper says nothing:");
        e.assumption.iter().for_each(|a| _ = writeln!(out, "  - {a}"));
    }
    let not: Vec<&str> = CliOption::ALL
        .into_iter()
        .filter(|o| e.refused(*o).is_some() && *o != CliOption::MaxSeeds)
        .map(CliOption::name)
        .collect();
    if !not.is_empty() {
        let _ = writeln!(out, "\noptions that do not apply: {}", not.join(", "));
    }
    out
}

/// The places of which numbers were kept from this project, each once.
fn withheld(e: &Experiment, out: &mut String) {
    let at = |n: &Number| match &*n.at {
        "" => format!("{}, {}", n.system, n.metric),
        at => at.split(';').next().unwrap_or_default().replace('=', " "),
    };
    let places: Vec<String> = e.withheld.iter().map(at).collect();
    let places = distinct(places.iter().map(String::as_str));
    if places.is_empty() {
        return;
    }
    let numbers = e.withheld.len();
    let _ = writeln!(out, "\nno paper value, withheld from this project: {numbers} numbers of");
    let named = places.iter().take(LISTED_MAX);
    named.for_each(|place| _ = writeln!(out, "  {place}"));
    match places.len().saturating_sub(LISTED_MAX) {
        0 => {}
        more => _ = writeln!(out, "  and {more} more"),
    }
}

fn systems(e: &Experiment, out: &mut String) {
    let group = Group { title: String::new(), systems: e.system.iter().collect() };
    if group.systems.is_empty() {
        return;
    }
    let _ = writeln!(out, "\nsystems:");
    let mut table = Text::new(&["  name", "preset", "policy", "pools, or more"]);
    for s in group.systems {
        let mut more: Vec<String> = Vec::new();
        more.extend(s.pool.clone());
        more.extend(s.search.as_ref().map(|s| format!("search: {:?}", s.algorithm).to_lowercase()));
        if s.host_ms_per_request != 0.0 {
            more.push(format!("host {} ms a request", s.host_ms_per_request));
        }
        if s.message_ms != 0.0 {
            more.push(format!("messages of {} ms", s.message_ms));
        }
        more.extend(s.c1_of.iter().map(|(model, c1)| format!("c1 of {model} {c1}")));
        if !s.at.is_empty() {
            more.push(format!("at {}", s.at.join(" or ")));
        }
        let cells = [format!("  {}", s.name), s.preset.word().to_string(), s.policy.clone()];
        table.line(cells.into_iter().chain([more.join("; ")]).collect());
    }
    let text = table.left(&["  name", "preset", "policy", "pools, or more"]).text();
    out.push_str(&text);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry;
    use crate::reproduce::{Asked, forms_of, with};

    #[test]
    fn a_number_that_was_kept_away_is_said_wherever_it_is_missed() {
        let e = registry::find("fluid-table-3-2").expect("a shipped experiment");
        let said = one(&e);
        assert!(said.contains("withheld from this project: 2 numbers of\n  workers 8\n"), "{said}");
        let forms = forms_of(&e, &Asked::default()).expect("it runs");
        assert_eq!(forms.table.matches(crate::numbers::WITHHELD_MEANS).count(), 1);
        let page = crate::document::of(&e, &forms.rows).to_html();
        assert!(page.contains("<small>withheld from this project</small>"));
        let svg = crate::figure::of(&e, &forms.rows).expect("a figure").to_svg();
        assert!(svg.contains("No paper value, withheld from this project"));
        // A file of numbers may hold them.
        let e = registry::find("orloj-table-5").expect("a shipped experiment");
        let e = with(&e, &Asked::default()).expect("all cases");
        assert_eq!((e.withheld.len(), e.paper.len()), (40, 160));
        assert!(one(&e).contains("case gpt-convAI\n  case mbart-wmt\n"));
    }

    /// What `orrery list` prints.
    fn list() -> String {
        let mut out = String::new();
        for (paper, ids) in registry::by_paper() {
            let all: Vec<Experiment> =
                ids.into_iter().map(registry::find).collect::<Result<_, _>>().unwrap();
            let mut table = Text::new(&[paper, "seconds", "cases", "points"]);
            for e in &all {
                let numbers = [e.expected_s as usize, e.cases().len(), points(e)];
                let numbers = numbers.map(|n| n.to_string());
                table.line([vec![format!("  {}", e.id)], numbers.to_vec()].concat());
            }
            let table = table.left(&[paper]).in_width(usize::MAX);
            let mut lines = table.lines();
            let _ = writeln!(out, "{}", lines.next().unwrap_or_default());
            for (line, e) in lines.zip(&all) {
                let _ = writeln!(out, "{line}\n    {}\n    {}", e.title, e.source);
            }
            out.push('\n');
        }
        out.push_str(
            "seconds: about, on 2 cores (docs/performance.md); points: combinations of axes\n",
        );
        out.push_str("`orrery list ID` describes one\n");
        out
    }

    #[test]
    fn the_list_is_of_what_is_shipped() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/data/list.txt");
        if std::env::var_os("ORRERY_UPDATE").is_some() {
            std::fs::write(path, list()).expect("it can be written");
        }
        let kept = std::fs::read_to_string(path).expect("it is there");
        let command = "ORRERY_UPDATE=1 cargo test -p orrery-reproduce the_list";
        assert_eq!(kept, list(), "an experiment changed: {command}");
    }
}
