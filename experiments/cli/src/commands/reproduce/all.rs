//! `orrery reproduce --all`: every id, one after another, and the atlas of what came out.

use super::args::Reproduce;
use orrery_report::{Answer, Format, Output, leave_page, page, say, whole_page};
use orrery_reproduce::atlas::{self, Chosen, Costs, Plate, Running};
use orrery_reproduce::experiment::Experiment;
use orrery_reproduce::reproduce::{self, Asked, How, Outcome};
use orrery_run::SpecError;
use std::path::Path;

/// Runs what is chosen. What an id has come to is in its files before the next begins.
///
/// # Errors
/// When nothing is chosen, an option does not apply, an id cannot be run, or `--out` cannot be written.
pub fn command(args: &Reproduce) -> Result<Answer, SpecError> {
    check(args)?;
    let chosen = Chosen::of(args.of.as_deref(), args.under)?;
    chosen.all().try_for_each(|e| args.output.check(&e.id))?;
    let how = How {
        jobs: args.jobs.unwrap_or(0).into(),
        out: args.output.out.clone(),
        is_one_of_several: true,
        html: true,
        ..How::default()
    };
    let mut costs = args.output.out.as_deref().map(Costs::at).transpose()?;
    let mut plates = Vec::new();
    let mut left_s: u64 = chosen.all().map(|e| u64::from(e.expected_s)).sum();
    let count = chosen.all().count();
    for (i, e) in chosen.all().enumerate() {
        say(&format!("{} of {count}: {}; about {left_s} s left, by `orrery list`", i + 1, e.id));
        let running = Running::begin();
        match one(e, &how, args)? {
            None => return Ok(stopped(how.out.as_deref())),
            Some(plate) => plates.push(plate),
        }
        costs.as_mut().map_or(Ok(()), |costs| costs.add(&e.id, &running))?;
        left_s -= u64::from(e.expected_s);
    }
    let (page, rows) = atlas::page(&chosen, plates);
    let text = page.to_text();
    leave_page(Some(page), &rows, &args.output)?;
    Ok(Answer::of(text))
}

fn stopped(folder: Option<&Path>) -> Answer {
    folder.iter().for_each(|folder| say(&format!("what has ended is in {}", folder.display())));
    Answer { interrupted: true, ..Answer::default() }
}

/// Runs one id and writes its files; none when it was stopped.
fn one(e: &Experiment, how: &How, args: &Reproduce) -> Result<Option<Plate>, SpecError> {
    let Outcome::Whole(mut forms) = reproduce::run(e, &Asked::default(), how)? else {
        return Ok(None);
    };
    let own = forms.page.take().expect("a page was asked for");
    // Beside the atlas each id has its own page.
    let Output { out, html, .. } = &args.output;
    let beside = html.as_ref().and_then(|html| html.parent());
    let beside = beside.filter(|folder| Some(*folder) == out.as_deref());
    if let Some(folder) = beside {
        let command = format!("orrery reproduce {}", e.id);
        let html = whole_page(own.clone(), &forms.rows, command);
        page::write(&html, &folder.join(format!("{}.html", e.id)))?;
    }
    let plate = Plate::of(e, own, &forms.rows, beside.is_some());
    forms.answer(&e.id, &Output { html: None, ..args.output.clone() })?;
    Ok(Some(plate))
}

/// Options that would be of one id.
fn check(args: &Reproduce) -> Result<(), SpecError> {
    let allowed = "the atlas as text, and as a page with `--html FILE`";
    if args.output.format != Format::Table {
        let remedy = "leave `--format` out: each id's CSV and JSON are in `--out`";
        return Err(SpecError::value("--format", "given beside `--all`", allowed, remedy));
    }
    match args.size.given() {
        Some((option, value)) => {
            let remedy = "draw one id with `--plot`, or leave it out";
            Err(SpecError::value(
                option,
                value,
                "an option of one picture, and `--all` has many",
                remedy,
            ))
        }
        None => Ok(()),
    }
}
