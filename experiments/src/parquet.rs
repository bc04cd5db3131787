//! Parquet: workloads, tables and schedule logs for whoever reads them with polars, pandas or DuckDB.
//!
//! The only user of polars; behind the feature `parquet`, because polars takes minutes to build.

mod log;

pub use log::log_to_parquet;

use crate::log_file::Unfinished;
use orrery_results::Row;
use orrery_scenario::SpecError;
use orrery_sim::request::{Arrival, Source};
use orrery_sim::time::Span;
use polars::prelude::*;
use std::fs::File;
use std::path::Path;

/// Rows held in memory at a time.
const CHUNK: usize = 1 << 17;

fn error(path: &Path, e: impl ToString) -> SpecError {
    SpecError::value(
        "parquet",
        format!("{}: {}", path.display(), e.to_string()),
        "a file that can be written",
        "choose another path",
    )
}

fn chunk(rows: &[Arrival]) -> PolarsResult<DataFrame> {
    let u64s = |name: &str, f: &dyn Fn(&Arrival) -> u64| {
        Column::new(name.into(), rows.iter().map(f).collect::<Vec<u64>>())
    };
    let u32s = |name: &str, f: &dyn Fn(&Arrival) -> u32| {
        Column::new(name.into(), rows.iter().map(f).collect::<Vec<u32>>())
    };
    let slo: Vec<Option<u64>> =
        rows.iter().map(|a| (a.slo != Span::MAX).then_some(a.slo.ns())).collect();
    let columns = vec![
        u64s("arrival_ns", &|a| a.at.ns()),
        u32s("app", &|a| a.app.0),
        u32s("model", &|a| a.model.0),
        u32s("size", &|a| a.size),
        Column::new("slo_ns".into(), slo),
        u64s("alone_ns", &|a| a.alone.ns()),
    ];
    DataFrame::new(rows.len(), columns)
}

/// Writes a source down, in the columns of the workload CSV. Returns the number of rows.
///
/// # Errors
/// When the file cannot be written or the source fails.
pub fn record(source: &mut dyn Source, path: &Path) -> Result<u64, SpecError> {
    let file = File::create(path).map_err(|e| error(path, e))?;
    let schema = chunk(&[]).map_err(|e| error(path, e))?.schema().clone();
    let mut writer = ParquetWriter::new(file)
        .with_compression(ParquetCompression::Zstd(None))
        .batched(&schema)
        .map_err(|e| error(path, e))?;
    let mut rows = Vec::with_capacity(CHUNK);
    let mut count = 0;
    loop {
        let arrival = source.pop();
        count += u64::from(arrival.is_some());
        rows.extend(arrival);
        if rows.len() == CHUNK || arrival.is_none() {
            let chunk = chunk(&rows).map_err(|e| error(path, e))?;
            writer.write_batch(&chunk).map_err(|e| error(path, e))?;
            rows.clear();
        }
        if arrival.is_none() {
            break;
        }
    }
    writer.finish().map_err(|e| error(path, e))?;
    match source.failure() {
        None => Ok(count),
        Some(why) => Err(error(path, why)),
    }
}

/// Writes a result's CSV as Parquet: columns of numbers as 64-bit floats, empty cells as nulls.
///
/// # Errors
/// When the file cannot be written.
pub fn table_from_csv(text: &str, path: &Path) -> Result<(), SpecError> {
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let names: Vec<String> =
        reader.headers().map_err(|e| error(path, e))?.iter().map(String::from).collect();
    let mut cells: Vec<Vec<String>> = vec![Vec::new(); names.len()];
    for record in reader.records() {
        let record = record.map_err(|e| error(path, e))?;
        for (column, cell) in cells.iter_mut().zip(&record) {
            column.push(cell.to_string());
        }
    }
    let rows = cells.first().map_or(0, Vec::len);
    let column = |(name, cells): (&String, Vec<String>)| {
        let numbers = || cells.iter().all(|c| c.is_empty() || c.parse::<f64>().is_ok());
        if cells.iter().any(|c| !c.is_empty()) && numbers() {
            let values: Vec<Option<f64>> = cells.iter().map(|c| c.parse().ok()).collect();
            Column::new(name.as_str().into(), values)
        } else {
            Column::new(name.as_str().into(), cells)
        }
    };
    let columns = names.iter().zip(cells).map(column).collect();
    let mut frame = DataFrame::new(rows, columns).map_err(|e| error(path, e))?;
    let temporary = path.with_extension("parquet.tmp");
    let file = File::create(&temporary).map_err(|e| error(path, e))?;
    ParquetWriter::new(file)
        .with_compression(ParquetCompression::Zstd(None))
        .finish(&mut frame)
        .map_err(|e| error(path, e))?;
    std::fs::rename(&temporary, path).map_err(|e| error(path, e))
}

/// Writes result rows as Parquet: one typed column for each column of the schema, in its order;
/// empty words and missing numbers are nulls. The same rows give the same bytes.
///
/// # Errors
/// When the file cannot be written.
pub fn table_from_rows(rows: &[Row], path: &Path) -> Result<(), SpecError> {
    let mut frame = rows_frame(rows).map_err(|e| error(path, e))?;
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).map_err(|e| error(path, e))?;
    }
    let unfinished = Unfinished::beside(path);
    let file = File::create(unfinished.path()).map_err(|e| error(path, e))?;
    ParquetWriter::new(file)
        .with_compression(ParquetCompression::Zstd(None))
        .finish(&mut frame)
        .map_err(|e| error(path, e))?;
    unfinished.rename(path).map_err(|e| error(path, e))
}

fn rows_frame(rows: &[Row]) -> PolarsResult<DataFrame> {
    fn filled(word: &str) -> Option<&str> {
        (!word.is_empty()).then_some(word)
    }
    macro_rules! column {
        (word $name:ident) => {
            Column::new(
                stringify!($name).into(),
                rows.iter().map(|r| filled(&r.$name)).collect::<Vec<Option<&str>>>(),
            )
        };
        (number $name:ident) => {
            Column::new(stringify!($name).into(), rows.iter().map(|r| r.$name).collect::<Vec<_>>())
        };
    }
    let columns = vec![
        column!(word experiment),
        column!(word case),
        column!(word axes),
        column!(word system),
        column!(word preset),
        column!(word policy),
        column!(word scope),
        column!(word metric),
        column!(word unit),
        column!(word versus),
        column!(number value),
        column!(number ci95_low),
        column!(number ci95_high),
        column!(word ci_method),
        column!(number samples),
        column!(word flags),
        column!(word seeds),
        column!(word warm_up),
        column!(number paper),
        column!(word paper_source),
        column!(number abs_error),
        column!(word spec_sha256),
        column!(number result_version),
        column!(word inputs_sha256),
    ];
    DataFrame::new(rows.len(), columns)
}

#[cfg(test)]
mod tests {
    use super::*;
    use orrery_sim::request::{AppId, ModelId, VecSource};
    use orrery_sim::time::Time;

    fn read(path: &Path) -> DataFrame {
        ParquetReader::new(File::open(path).unwrap()).finish().unwrap()
    }

    #[test]
    fn a_workload_comes_back_as_it_was_written() {
        let arrivals: Vec<Arrival> = (0..(CHUNK as u64 + 10))
            .map(|i| Arrival {
                at: Time::from_ns(i * 7),
                app: AppId(i as u32 % 3),
                model: ModelId(i as u32 % 2),
                size: 1 + i as u32 % 4,
                slo: if i % 5 == 0 { Span::MAX } else { Span::from_ns(i) },
                alone: Span::from_ns(i * i),
            })
            .collect();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("w.parquet");
        let rows = record(&mut VecSource::new(arrivals.clone()), &path).unwrap();
        assert_eq!(rows, arrivals.len() as u64);
        assert!(read(&path).equals_missing(&chunk(&arrivals).unwrap()));
        let again = folder.path().join("again.parquet");
        record(&mut VecSource::new(arrivals), &again).unwrap();
        assert_eq!(std::fs::read(path).unwrap(), std::fs::read(again).unwrap(), "the same bytes");
    }

    #[test]
    fn a_table_keeps_numbers_words_and_gaps() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.parquet");
        table_from_csv("case,rate,paper\na,0.5,\nb,0.25,0.3\n", &path).unwrap();
        let frame = read(&path);
        assert_eq!(frame.height(), 2);
        assert_eq!(frame.column("case").unwrap().str().unwrap().get(1), Some("b"));
        assert_eq!(frame.column("rate").unwrap().f64().unwrap().get(0), Some(0.5));
        assert_eq!(frame.column("paper").unwrap().f64().unwrap().get(0), None);
    }

    #[test]
    fn rows_have_the_columns_of_the_csv_with_their_types_and_the_same_bytes() {
        let folder = tempfile::tempdir().unwrap();
        let rows = vec![
            Row { case: "a".into(), value: 0.1, samples: 7, paper: Some(0.3), ..Row::default() },
            Row {
                policy: "nexus[drop=none,batch=2]".into(),
                ci95_low: Some(1.0),
                ..Row::default()
            },
        ];
        let path = folder.path().join("new/t.parquet");
        table_from_rows(&rows, &path).unwrap();
        let frame = read(&path);
        let csv = orrery_results::to_csv(&rows);
        assert_eq!(
            frame.get_column_names().iter().map(|n| n.as_str()).collect::<Vec<_>>().join(","),
            csv.lines().next().unwrap()
        );
        assert_eq!(frame.column("value").unwrap().f64().unwrap().get(0), Some(0.1));
        assert_eq!(frame.column("samples").unwrap().u64().unwrap().get(0), Some(7));
        assert_eq!(frame.column("paper").unwrap().f64().unwrap().get(1), None);
        assert_eq!(frame.column("case").unwrap().str().unwrap().get(1), None);
        let again = folder.path().join("again.parquet");
        table_from_rows(&rows, &again).unwrap();
        assert_eq!(std::fs::read(path).unwrap(), std::fs::read(again).unwrap(), "the same bytes");
        table_from_rows(&[], &folder.path().join("empty.parquet")).unwrap();
    }

    #[test]
    fn a_folder_that_cannot_be_written_is_named() {
        let error = record(&mut VecSource::default(), Path::new("/nowhere/w.parquet")).unwrap_err();
        assert!(error.to_string().contains("/nowhere/w.parquet"), "{error}");
    }
}
