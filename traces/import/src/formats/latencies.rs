//! A table of latencies by batch size, of one's own or published: what a profile is in orrery.

use crate::File;
use crate::content::{Content, Kind, Profile};
use crate::error::ImportError;
use crate::format::{Format, Options, Reading, Sheet};
use orrery_traces::latencies::COLUMNS;

pub const FORMAT: Format = Format {
    name: "latencies",
    title: "a table of latencies by batch size, such as `orrery-replay`'s `actions.csv`",
    how: "a column `batch` or `batch_size`, and one of a latency with its unit",
    becomes: &[Kind::Profile],
    fields: &COLUMNS,
    options: &["model"],
    direct: Some("profile"),
    is: |head| head.has(&COLUMNS[..2]),
    read,
};

fn read(file: &File<'_>, options: &Options) -> Result<Reading, ImportError> {
    let mut reading = Reading::default();
    let mut sheet = Sheet::open(file, &COLUMNS, &mut reading)?;
    let mut rows = Vec::new();
    while sheet.next()? {
        let size = sheet.size(0)?.ok_or_else(|| sheet.bad(0, "a size of 1 or more"))?;
        let ms = sheet.ms(1)?.filter(|ms| *ms > 0.0);
        let ms = ms.ok_or_else(|| sheet.bad(1, "a time above 0"))?;
        let named = [sheet.text(2), sheet.text(3)].map(str::to_string);
        let named: Vec<String> = named.into_iter().filter(|n| !n.is_empty()).collect();
        let given = options.name();
        let name = if named.is_empty() { given } else { named.join("@") };
        rows.push((name, size, ms));
    }
    if rows.is_empty() {
        return Err(sheet.table.ended("a measurement", "measure again").into());
    }
    reading.contents.push(Content::Profile(Profile { rows }));
    Ok(reading)
}
