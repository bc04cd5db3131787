//! What is said of every sentence of the papers, kept in a file: a verdict that changes is a diff to review.
//!
//! Experiments that take up to 2 s are run again here, in release builds; `ORRERY_VERDICTS_S` says another limit, and
//! `ORRERY_VERDICTS_OF` the experiments, whatever they take.
//!
//! ```text
//! ORRERY_UPDATE=1 ORRERY_VERDICTS_S=60 cargo test --release -p orrery-tests --test it -- verdicts
//! ORRERY_UPDATE=1 ORRERY_VERDICTS_OF=kairos-fig-8,kairos-fig-14 cargo test --release -p orrery-tests --test it -- verdicts
//! ```
//!
//! Cells that `orrery reproduce ID --out DIR` has run are not run again with `ORRERY_VERDICTS_IN=DIR`.

use crate::{csv_lines, forms, golden, readings, regions};
use orrery_reproduce::claims::{self, LeftOut};
use orrery_reproduce::experiment::{Experiment, Preset};
use orrery_reproduce::registry;
use orrery_reproduce::reproduce::{self, Asked, How, Outcome};
use orrery_results::Row;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::path::PathBuf;

/// A line of the file.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Line {
    /// The experiment.
    pub id: String,
    /// The sentence's number in its file, from 1.
    pub sentence: usize,
    /// `not run` where nobody has run it with this version of the results.
    pub verdict: String,
    ours: String,
    text: String,
}

const FILE: &str = "verdicts.csv";

/// The lines of the file.
pub fn kept() -> Vec<Line> {
    csv_lines::kept(FILE)
}

/// Which claims are no sentence of a paper, by id and number.
pub fn own() -> BTreeSet<(String, usize)> {
    let all = shipped().into_iter().flat_map(|e| {
        let claims = e.claim.iter().zip(1..).filter(|(claim, _)| claim.own);
        claims.map(|(_, n)| (e.id.clone(), n)).collect::<Vec<_>>()
    });
    all.collect()
}

/// To which claims something was fitted, by id and number: those that say so.
pub fn fitted() -> BTreeSet<(String, usize)> {
    let all = shipped().into_iter().flat_map(|e| {
        let claims = e.claim.iter().zip(1..).filter(|(claim, _)| claim.fitted);
        claims.map(|(_, n)| (e.id.clone(), n)).collect::<Vec<_>>()
    });
    all.collect()
}

/// A claim to which something was fitted says so, in its text and by its key.
#[test]
fn the_claims_that_are_counted_apart_are_those_that_say_what_was_fitted() {
    let lines = kept();
    let say = lines.iter().filter(|l| l.text.contains("fitted"));
    let say: BTreeSet<_> = say.map(|l| (l.id.clone(), l.sentence)).collect();
    assert_eq!(fitted(), say);
}

/// The c1 of Clipper and Nexus is fitted to Orloj's tables: claims that turn with one c1 for all systems test nothing.
#[test]
#[cfg_attr(debug_assertions, ignore = "takes a minute in a debug build")]
fn claims_that_turn_with_one_marginal_cost_are_counted_apart() {
    let mut e = registry::find("orloj-one-cost").expect("a shipped experiment");
    let is_real = |case: &String| !case.contains("-modal") && !case.starts_with("std-");
    let cases: Vec<String> = e.cases().into_iter().filter(|case| !is_real(case)).collect();
    e.keep_cases(&cases).expect("cases of the experiment");
    e.system.retain(|s| s.preset == Preset::Calibrated);
    e.seeds = 1;
    let rows = golden::forms(&e, 0).rows;
    let kept = kept();
    for id in ["orloj-table-2", "orloj-table-3"] {
        let e = registry::find(id).expect("a shipped experiment");
        let own: Vec<Row> = rows.iter().filter(|r| e.cases().contains(&r.case)).cloned().collect();
        let judged = claims::judged(&e.claim, &LeftOut::default(), &own);
        for ((claim, c), n) in e.claim.iter().zip(judged).zip(1..) {
            let line = kept.iter().find(|l| l.id == id && l.sentence == n).expect("a line");
            // With one seed more is undecided.
            let is_decided = c.verdict != claims::Verdict::Undecided;
            let turns = is_decided && line.verdict != c.verdict.words();
            assert_eq!(turns, claim.fitted, "{id} {n}: {} and {}", line.verdict, c.verdict.words());
        }
    }
}

/// README's and `causes.md`'s counts of the papers' claims, with those apart to which something was fitted.
#[test]
fn the_claims_in_the_readme_are_those_of_the_file() {
    let (own, fitted) = (own(), fitted());
    let count = |is_fitted: bool, verdict: &str| {
        let is = |l: &&Line| {
            let key = (l.id.clone(), l.sentence);
            !own.contains(&key) && fitted.contains(&key) == is_fitted && l.verdict.contains(verdict)
        };
        lines_of_papers(is)
    };
    let [hold, not] = ["holds", "does not hold"].map(|v| count(false, v));
    let [undecided, none] = ["undecided", "no answer"].map(|v| count(false, v));
    let says = format!(
        "of the papers' {}, {hold} hold, {not} do not, {undecided} are undecided, {none} have no answer; \
         {} more are counted apart, because something was fitted to them ({} hold)",
        count(false, ""),
        count(true, ""),
        count(true, "holds"),
    );
    let readme = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../README.md"))
        .expect("README.md");
    let flat = readme.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(flat.contains(&says), "README.md does not say: {says}");
}

fn lines_of_papers(is: impl Fn(&&Line) -> bool) -> usize {
    kept().iter().filter(is).count()
}

/// A verdict that changes asks for its cause.
#[test]
fn what_does_not_hold_or_is_fitted_has_one_cause() {
    let fitted = fitted();
    let of_lines = |l: &Line| {
        let is_fitted = fitted.contains(&(l.id.clone(), l.sentence));
        l.verdict == "does not hold" || l.verdict == "holds" && is_fitted
    };
    let lines = kept();
    let asked = lines.iter().filter(|l| of_lines(l)).map(|l| (l.id.clone(), l.sentence));
    let all = registry::causes().expect("causes");
    let given = all.iter().flat_map(|c| c.numbers().into_iter().map(|n| (c.id.clone(), n)));
    let mut given: Vec<_> = given.collect();
    given.sort();
    assert_eq!(
        given,
        asked.collect::<Vec<_>>(),
        "experiments/reproduce/causes.csv, against tests/verdicts.csv"
    );
}

fn shipped() -> Vec<Experiment> {
    let all = registry::ids().map(|id| registry::find(id).expect("a shipped experiment"));
    all.filter(|e| !e.claim.is_empty()).collect()
}

/// The lines of an experiment that is not run.
fn not_run(e: &Experiment) -> Vec<Line> {
    let line = |(i, claim): (usize, &claims::Claim)| Line {
        id: e.id.clone(),
        sentence: i + 1,
        verdict: "not run".to_string(),
        ours: String::new(),
        text: claim.text.clone(),
    };
    e.claim.iter().enumerate().map(line).collect()
}

/// The rows of an experiment, run or kept, whose forms agree.
fn rows_of(e: &Experiment) -> Vec<Row> {
    let forms = match std::env::var_os("ORRERY_VERDICTS_IN").map(PathBuf::from) {
        Some(out) => {
            let how = How { out: Some(out), ..How::default() };
            let run = reproduce::run(e, &Asked::default(), &how).expect("an experiment that runs");
            let Outcome::Whole(forms) = run else { panic!("{}: not whole", e.id) };
            (*forms).into()
        }
        None => golden::whole(&e.id),
    };
    // Of all 7,560 workloads of Symphony's Fig. 7 that would take hours.
    if forms.rows.len() < 100_000 {
        forms::of_experiment(e, &forms);
    }
    forms.rows.clone()
}

/// Its lines, and its rows.
fn run(e: &Experiment) -> (Vec<Line>, Vec<Row>) {
    let rows = rows_of(e);
    let judged = claims::judged(&e.claim, &LeftOut::default(), &rows);
    let line = |(line, (claim, c)): (Line, (&claims::Claim, claims::Checked))| Line {
        verdict: c.verdict.words().to_string(),
        ours: claims::came_out(claim, &c, |c, x| format!("{} {x}", c.cell)),
        ..line
    };
    (not_run(e).into_iter().zip(e.claim.iter().zip(judged)).map(line).collect(), rows)
}

fn limit_s() -> f64 {
    std::env::var("ORRERY_VERDICTS_S").map_or(2.0, |s| s.parse().expect("seconds"))
}

/// The experiments that are run again, of those with sentences.
fn asked_for(all: &[Experiment]) -> BTreeSet<String> {
    let quick = |e: &&Experiment| f64::from(e.expected_s) <= limit_s();
    let Ok(ids) = std::env::var("ORRERY_VERDICTS_OF") else {
        let quick: BTreeSet<_> = all.iter().filter(quick).map(|e| e.id.clone()).collect();
        assert!(quick.len() > 5, "{} experiments", quick.len());
        return quick;
    };
    let ids: BTreeSet<_> = ids.split(',').map(str::to_string).collect();
    let without = |id: &&String| all.iter().all(|e| e.id != **id);
    assert_eq!(ids.iter().find(without), None, "an experiment without sentences");
    ids
}

#[test]
fn every_sentence_has_a_verdict_and_every_verdict_a_sentence() {
    if std::env::var_os("ORRERY_UPDATE").is_some() {
        return;
    }
    let name = |l: &Line| (l.id.clone(), l.sentence, l.text.clone());
    let of_file: BTreeSet<_> = kept().iter().map(name).collect();
    let all = shipped();
    let counted = all.iter().filter(|e| e.region.is_empty());
    let of_claims: BTreeSet<_> = counted.flat_map(not_run).map(|l| name(&l)).collect();
    let difference: Vec<_> = of_file.symmetric_difference(&of_claims).collect();
    assert!(
        difference.is_empty(),
        "without a line or a sentence: {difference:#?}\nORRERY_UPDATE=1 \
         ORRERY_VERDICTS_OF=ID cargo test --release -p orrery-tests --test it -- verdicts"
    );
    assert!(kept().windows(2).all(|w| (&w[0].id, w[0].sentence) < (&w[1].id, w[1].sentence)));
    assert_eq!(kept().iter().find(|l| l.verdict == "not run"), None);
}

#[test]
#[cfg_attr(debug_assertions, ignore = "takes minutes in a debug build")]
fn verdicts_of_quick_experiments_are_those_of_the_file() {
    let updates = std::env::var_os("ORRERY_UPDATE").is_some();
    let kept = if csv_lines::path(FILE).exists() || !updates { kept() } else { Vec::new() };
    let (all, mut lines) = (shipped(), Vec::new());
    let asked_for = asked_for(&all);
    let mut read = readings::kept();
    let (mut maps, of_kept) = (Vec::new(), regions::kept());
    golden::unfold();
    for e in all {
        if !e.region.is_empty() {
            match asked_for.contains(&e.id) {
                true => maps.extend(regions::of(&e, &rows_of(&e))),
                false => maps.extend(of_kept.iter().filter(|r| r.id == e.id).cloned()),
            }
            continue;
        }
        let known = not_run(&e).into_iter().map(|line| {
            let is =
                |k: &&Line| (&k.id, k.sentence, &k.text) == (&line.id, line.sentence, &line.text);
            let known = kept.iter().find(is);
            Line { sentence: line.sentence, ..known.cloned().unwrap_or(line) }
        });
        if asked_for.contains(&e.id) {
            let (judged, rows) = run(&e);
            lines.extend(judged);
            readings::judge(&mut read, &e, &rows);
        } else {
            lines.extend(known);
        }
    }
    lines.sort_by(|a, b| (&a.id, a.sentence).cmp(&(&b.id, b.sentence)));
    if updates {
        csv_lines::write(FILE, &lines);
        regions::write(&maps);
        return readings::write(&read);
    }
    assert_eq!(maps, of_kept, "ORRERY_UPDATE=1 writes the regions anew");
    assert_eq!(read, readings::kept(), "ORRERY_UPDATE=1 writes the readings anew");
    let differ = lines.iter().zip(&kept).filter(|(a, b)| a != b);
    let differ: Vec<String> = differ.map(|(a, b)| format!("- {b:?}\n+ {a:?}")).collect();
    assert!(differ.is_empty(), "{}\nORRERY_UPDATE=1 writes them anew", differ.join("\n"));
}
