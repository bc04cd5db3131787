//! The files of result rows that come bit by bit: CSV, the wide form, JSON, Parquet.
//!
//! Their bytes are those of [`super::Forms`], however the rows are cut.

use super::whole_file::{Growing, check_folder, check_place};
use orrery_results::{COLUMNS, JsonRows, Row, Wide, csv_lines};
use orrery_run::SpecError;
use rayon::prelude::*;
use std::path::{Path, PathBuf};

/// How many lines a thread writes at a time.
const LINES: usize = 512;

/// Files that grow, and have their names at the end only.
pub struct RowFiles {
    csv: Growing,
    wide: Growing,
    json: Option<(Growing, JsonRows)>,
    #[cfg(feature = "polars")]
    parquet: super::parquet::Growing,
    columns: Wide,
}

/// The path of a form of a result.
pub fn path_of(folder: &Path, id: &str, ending: &str) -> PathBuf {
    folder.join(format!("{id}.{ending}"))
}

/// Passes when a folder can be written and has no file of the user's by the name of a result. Tables for people and
/// JSON begin with anything: they are ours where the CSV, which is written first, is.
///
/// # Errors
/// Names the folder or the file.
pub fn check(folder: &Path, id: &str) -> Result<(), SpecError> {
    check_folder(folder)?;
    let csv = path_of(folder, id, "csv");
    check_place("--out", &csv)?;
    let others = if csv.exists() { &[][..] } else { &["wide.csv", "json", "parquet", "txt"] };
    others.iter().try_for_each(|ending| check_place("--out", &path_of(folder, id, ending)))
}

impl RowFiles {
    /// Begins the files of a result in a folder. `columns` has seen all rows; JSON is written where there
    /// is something to write around the rows.
    ///
    /// # Errors
    /// When the folder cannot be written.
    pub fn begin(
        folder: &Path,
        id: &str,
        columns: Wide,
        json: Option<JsonRows>,
    ) -> Result<RowFiles, SpecError> {
        let begin = |ending: &str| Growing::begin(&path_of(folder, id, ending));
        let (mut csv, mut wide) = (begin("csv")?, begin("wide.csv")?);
        csv.add((COLUMNS.map(|column| column.0).join(",") + "\n").as_bytes())?;
        wide.add(columns.header().as_bytes())?;
        #[cfg(feature = "polars")]
        let parquet = super::parquet::Growing::begin(&path_of(folder, id, "parquet"))?;
        let json = json.map(|json| -> Result<_, SpecError> {
            let mut file = begin("json")?;
            file.add(json.before.as_bytes())?;
            Ok((file, json))
        });
        Ok(RowFiles {
            csv,
            wide,
            json: json.transpose()?,
            #[cfg(feature = "polars")]
            parquet,
            columns,
        })
    }

    /// The next rows.
    ///
    /// # Errors
    /// When there is no room.
    pub fn add(&mut self, rows: &[Row]) -> Result<(), SpecError> {
        let lines: Vec<String> = rows.par_chunks(LINES).map(csv_lines).collect();
        lines.iter().try_for_each(|lines| self.csv.add(lines.as_bytes()))?;
        self.wide.add(self.columns.lines(rows).as_bytes())?;
        if let Some((file, json)) = &mut self.json {
            let mut text = String::new();
            json.add(rows, &mut text);
            file.add(text.as_bytes())?;
        }
        #[cfg(feature = "polars")]
        self.parquet.add(rows)?;
        Ok(())
    }

    /// Gives the files their names.
    ///
    /// # Errors
    /// When there is no room.
    pub fn finish(mut self) -> Result<(), SpecError> {
        self.wide.add(self.columns.rest().as_bytes())?;
        self.csv.finish()?;
        self.wide.finish()?;
        if let Some((mut file, json)) = self.json {
            file.add(json.end().as_bytes())?;
            file.finish()?;
        }
        #[cfg(feature = "polars")]
        self.parquet.finish()?;
        Ok(())
    }
}
