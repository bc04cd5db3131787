//! A plate of the atlas is what came of one id; the page has all of them.

use super::chosen::Chosen;
use crate::claims::{self, Claim, Verdict};
use crate::document::{ASSUMPTIONS, CLAIMS, OWN_CLAIMS, Off, REGION, against};
use crate::experiment::Experiment;
use crate::registry;
use orrery_report::page::{Field, Page, Part, Section, Table, Tone, capital};
use orrery_results::Row;

/// What came of an id.
#[derive(Clone, Debug)]
pub struct Plate {
    id: String,
    card: Section,
    /// How many of the paper's claims, of our own, and of those to which something was fitted, hold, do not, are undecided,
    /// and have no verdict.
    claims: [[usize; 4]; 3],
    /// How far it is off the paper's numbers, in words; empty without any.
    off: String,
    /// What its provenance is made of.
    first: Option<Row>,
}

const VERDICTS: [(&str, &[Verdict]); 4] = [
    ("hold", &[Verdict::Holds]),
    ("do not", &[Verdict::DoesNotHold]),
    ("undecided", &[Verdict::Undecided]),
    ("no verdict", &[Verdict::NotJudged, Verdict::NotRun, Verdict::NoAnswer]),
];

/// Which claims are counted together.
const GROUPS: [&str; 3] = [
    "of the papers' claims",
    "of our own claims",
    "claims to which something was fitted, counted apart,",
];

impl Plate {
    /// That of an experiment, from its page, which may stand beside the atlas, and rows.
    pub fn of(e: &Experiment, own: Page, rows: &[Row], is_beside: bool) -> Plate {
        let judged = if e.region.is_empty() { &e.claim[..] } else { &[] };
        let checked = claims::judged(judged, &e.left_out, rows);
        let count = |group: usize, of: &[Verdict]| {
            let is = |claim: &Claim| if claim.fitted { 2 } else { usize::from(claim.own) };
            let of_group = judged.iter().zip(&checked).filter(|(claim, _)| is(claim) == group);
            of_group.filter(|(_, c)| of.contains(&c.verdict)).count()
        };
        let off = against(e, rows).first().map_or(String::new(), |a| match a.off {
            Off::Mean(mean) => format!("{mean:.3} in the mean"),
            Off::Relative { median, most } => format!("{median:.1} %, at most {most:.1} %"),
        });
        let mut parts: Vec<Part> = Vec::new();
        let mut folded: Vec<(String, Vec<Part>)> = Vec::new();
        for section in own.sections {
            match section.title.as_str() {
                "Figure" => parts.extend(section.parts),
                CLAIMS | OWN_CLAIMS | REGION | ASSUMPTIONS => {
                    folded.push((section.title, section.parts));
                }
                _ => {}
            }
        }
        parts.push(Part::Text(e.source.clone()));
        parts.extend(own.verdict.into_iter().map(|v| Part::Text(v.text)));
        parts.extend(folded.into_iter().map(|(title, inner)| Part::Folded(title, inner)));
        Plate {
            id: e.id.clone(),
            card: Section {
                id: e.id.clone(),
                link: if is_beside { format!("{}.html", e.id) } else { String::new() },
                title: e.title.clone(),
                parts,
                open: false,
            },
            claims: [0, 1, 2].map(|group| VERDICTS.map(|v| count(group, v.1))),
            off,
            first: rows.first().cloned(),
        }
    }
}

/// The page of all plates, which stand in the order in which they were run; and rows for its provenance.
pub fn page(chosen: &Chosen, plates: Vec<Plate>) -> (Page, Vec<Row>) {
    let mut page = Page::new("atlas", "what is reproduced, and what is not");
    let ids = plates.len();
    page.subtitle =
        format!("{ids} tables, figures and studies, each run with the seeds of its file");
    for (group, whose) in GROUPS.into_iter().enumerate() {
        let sum = |i: usize| plates.iter().map(|p| p.claims[group][i]).sum::<usize>();
        let [hold, not, undecided, none] = [0, 1, 2, 3].map(sum);
        let of = hold + not + undecided + none;
        if of == 0 {
            continue;
        }
        let none = if none > 0 { format!(", {none} have no verdict") } else { String::new() };
        let tone = match group {
            // That what was fitted holds shows nothing.
            2 => Tone::Plain,
            _ if hold == of => Tone::Good,
            _ => Tone::Mixed,
        };
        page.say(
            tone,
            format!("Of {of} {whose} {hold} hold, {not} do not, {undecided} are undecided{none}."),
        );
    }
    if !chosen.longer.is_empty() {
        let n = chosen.longer.len();
        page.say(Tone::Plain, format!("{n} more take longer than was allowed, and were not run."));
    }
    page.section("What came out", summary(&plates).part());
    page.section("Not run", longer(chosen).part());
    page.section("Not attempted", absent(chosen).part());
    let rows: Vec<Row> = plates.iter().filter_map(|p| p.first.clone()).collect();
    let mut plates = plates.into_iter();
    for (paper, own) in &chosen.papers {
        let cards: Vec<Section> = plates.by_ref().take(own.len()).map(|p| p.card).collect();
        page.section_open(&capital(paper), [Part::Cards(cards)]);
    }
    (page, rows)
}

fn summary(plates: &[Plate]) -> Table {
    let columns: Vec<&str> = ["id"]
        .into_iter()
        .chain(VERDICTS.map(|v| v.0))
        .chain(["fitted, hold", "off the paper's numbers"])
        .collect();
    let mut table = Table::new(
        "the papers' claims and our own by verdict; the error of each id's first metric",
        &columns,
    );
    for plate in plates {
        let tones = [Tone::Plain, Tone::Bad, Tone::Mixed, Tone::Mixed];
        let count = |(n, tone): (&usize, Tone)| match *n {
            0 => Field::none(),
            n => Field::number(n as f64, n.to_string()).marked(tone),
        };
        let counts: [usize; 4] = std::array::from_fn(|i| plate.claims[0][i] + plate.claims[1][i]);
        let counts = counts.iter().zip(tones).map(count);
        let counts = counts.chain([count((&plate.claims[2][0], Tone::Plain))]);
        let off = if plate.off.is_empty() { Field::none() } else { Field::text(&*plate.off) };
        table.rows.push(
            [Field::text(&*plate.id).linked(format!("#{}", plate.id))]
                .into_iter()
                .chain(counts)
                .chain([off])
                .collect(),
        );
    }
    table.keys = 1;
    table
}

/// What was not run for its time.
fn longer(chosen: &Chosen) -> Table {
    let mut table = Table::new("", &["id", "seconds", "title"]);
    for e in &chosen.longer {
        let s = f64::from(e.expected_s);
        let id = Field::text(&*e.id);
        table.rows.push(vec![
            id,
            Field::number(s, e.expected_s.to_string()),
            Field::text(&*e.title),
        ]);
    }
    table
}

/// What no experiment is about.
fn absent(chosen: &Chosen) -> Table {
    let mut table = Table::new("", &["paper", "place", "why"]);
    for (paper, _) in &chosen.papers {
        for (place, why) in registry::absent(paper) {
            let why = Field { key: None, ..Field::text(why) };
            table.rows.push(vec![Field::text(capital(paper)), Field::text(place), why]);
        }
    }
    table
}
