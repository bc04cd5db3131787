use super::*;

fn read(path: &Path) -> DataFrame {
    ParquetReader::new(File::open(path).unwrap()).finish().unwrap()
}

fn write(rows: &[Row], path: &Path) -> Result<(), SpecError> {
    let mut file = Growing::begin(path)?;
    file.add(rows)?;
    file.finish()
}

#[test]
fn rows_have_the_columns_of_the_csv_with_their_types_and_the_same_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let rows = vec![
        Row { case: "a".into(), value: Some(0.1), samples: 7, paper: Some(0.3), ..Row::default() },
        Row {
            policy: "nexus[drop=none,batch=2]".into(),
            ci95_low: Some(1.0),
            reason: "none".into(),
            ..Row::default()
        },
    ];
    let path = folder.path().join("t.parquet");
    write(&rows, &path).unwrap();
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
    write(&rows, &again).unwrap();
    assert_eq!(std::fs::read(path).unwrap(), std::fs::read(&again).unwrap(), "the same bytes");
}

/// Whoever filters on the metric and averages by policy gets the value, not half of it.
#[test]
fn a_naive_mean_by_policy_is_of_values_only() {
    let folder = tempfile::tempdir().unwrap();
    let row = |policy: &str, metric: &str, versus: &str, value: f64| Row {
        policy: policy.into(),
        metric: metric.into(),
        versus: versus.into(),
        value: Some(value),
        ..Row::default()
    };
    let difference = orrery_results::difference_of("finish_rate");
    let rows = [
        row("orloj", "finish_rate", "", 0.96),
        row("fifo", "finish_rate", "", 0.829),
        row("fifo", &difference, "orloj", -0.131),
    ];
    let path = folder.path().join("t.parquet");
    write(&rows, &path).unwrap();
    let frame = read(&path);
    let is = |column: &str, word: &str| {
        let column = frame.column(column).unwrap().str().unwrap().clone();
        column.iter().map(|cell| cell == Some(word)).collect::<BooleanChunked>()
    };
    let chosen = frame.filter(&(is("metric", "finish_rate") & is("policy", "fifo"))).unwrap();
    assert_eq!(chosen.column("value").unwrap().f64().unwrap().mean(), Some(0.829));
}

#[test]
fn the_types_of_columns_do_not_depend_on_what_is_in_them() {
    let folder = tempfile::tempdir().unwrap();
    let mut none = Row::default();
    none.without_answer("not even 4096 devices are enough");
    let full = Row { value: Some(1.0), paper: Some(2.0), seeds: "1-1".into(), ..Row::default() };
    let types = |rows: &[Row]| {
        let path = folder.path().join("t.parquet");
        write(rows, &path).unwrap();
        read(&path).dtypes()
    };
    let expected: Vec<DataType> = orrery_results::COLUMNS
        .iter()
        .map(|(name, kind)| match kind {
            orrery_results::ColumnType::Text => DataType::String,
            orrery_results::ColumnType::Number => DataType::Float64,
            orrery_results::ColumnType::Count if *name == "samples" => DataType::UInt64,
            orrery_results::ColumnType::Count => DataType::UInt32,
        })
        .collect();
    for rows in [vec![none.clone()], vec![full.clone()], vec![none, full], Vec::new()] {
        assert_eq!(types(&rows), expected);
    }
}

#[test]
fn a_folder_that_cannot_be_written_is_named() {
    let error = write(&[], Path::new("/nowhere/w.parquet")).unwrap_err();
    assert!(error.to_string().contains("/nowhere/w.parquet"), "{error}");
}
