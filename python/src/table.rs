//! Tables that any reader of Arrow takes without a copy, by the PyCapsule interface.

use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{
    Array, ArrayRef, Float64Array, RecordBatch, RecordBatchIterator, StringArray, UInt64Array,
};
use arrow_schema::{DataType, Field, Schema};
use orrery_results::{BatchRow, ColumnType, DistributionRow, Record, Row, SeriesRow, to_csv};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use serde_json::Value;
use std::path::PathBuf;
use std::sync::Arc;

/// The rows that a notebook shows.
const SHOWN: usize = 20;

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// A column before it is one.
pub enum Column {
    /// Words.
    Text(Vec<String>),
    /// Numbers, or nothing.
    Number(Vec<Option<f64>>),
    /// Whole numbers, or nothing.
    Count(Vec<Option<u64>>),
}

/// A table of columns.
#[pyclass(frozen, module = "orrery")]
pub struct Table {
    batch: RecordBatch,
    /// What it was made of, for its CSV and for figures.
    of: Of,
}

/// The rows of a table of `docs/formats.md`.
pub enum Of {
    /// Results.
    Results(Vec<Row>),
    /// Distributions.
    Distributions(Vec<DistributionRow>),
    /// Time series.
    Series(Vec<SeriesRow>),
    /// Batches and drops.
    Batches(Vec<BatchRow>),
    /// Another table.
    Other,
}

impl Table {
    /// A table of these columns, all of the same length.
    pub fn new(columns: Vec<(&str, Column)>) -> PyResult<Table> {
        let mut fields = Vec::new();
        let mut arrays: Vec<ArrayRef> = Vec::new();
        for (name, column) in columns {
            let (array, kind): (ArrayRef, DataType) = match column {
                Column::Text(words) => {
                    (Arc::new(StringArray::from_iter_values(words)), DataType::Utf8)
                }
                Column::Number(numbers) => {
                    (Arc::new(Float64Array::from(numbers)), DataType::Float64)
                }
                Column::Count(counts) => (Arc::new(UInt64Array::from(counts)), DataType::UInt64),
            };
            fields.push(Field::new(name, kind, true));
            arrays.push(array);
        }
        let batch = RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays);
        let batch = batch.map_err(|e| PyRuntimeError::new_err(e.to_string()))?;
        Ok(Table { batch, of: Of::Other })
    }

    /// Rows with the columns of `docs/formats.md`.
    pub fn of(of: Of) -> PyResult<Table> {
        let table = match &of {
            Of::Results(rows) => Table::of_records(rows),
            Of::Distributions(rows) => Table::of_records(rows),
            Of::Series(rows) => Table::of_records(rows),
            Of::Batches(rows) => Table::of_records(rows),
            Of::Other => Table::new(Vec::new()),
        }?;
        Ok(Table { of, ..table })
    }

    fn of_records<R: Record>(rows: &[R]) -> PyResult<Table> {
        let values: Vec<Value> =
            rows.iter().map(|r| serde_json::to_value(r).unwrap_or_default()).collect();
        let text = |v: &Value| v.as_str().unwrap_or_default().to_string();
        let column = |&(name, kind): &(&'static str, ColumnType)| {
            let of = values.iter().map(|v| &v[name]);
            let column = match kind {
                ColumnType::Text => Column::Text(of.map(text).collect()),
                ColumnType::Number => Column::Number(of.map(Value::as_f64).collect()),
                ColumnType::Count => Column::Count(of.map(Value::as_u64).collect()),
            };
            (name, column)
        };
        Table::new(R::COLUMNS.iter().map(column).collect())
    }

    /// Its rows.
    pub fn rows(&self) -> &Of {
        &self.of
    }
}

#[pymethods]
impl Table {
    /// The columns' names.
    #[getter]
    fn columns(&self) -> Vec<String> {
        self.batch.schema().fields().iter().map(|f| f.name().clone()).collect()
    }

    fn __len__(&self) -> usize {
        self.batch.num_rows()
    }

    fn __repr__(&self) -> String {
        format!("Table({} rows: {})", self.batch.num_rows(), self.columns().join(", "))
    }

    /// The whole as a stream of Arrow, without a copy.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // A request may be ignored; the reader casts.
        let _ = requested_schema;
        let batches = vec![Ok(self.batch.clone())];
        let reader = RecordBatchIterator::new(batches, self.batch.schema());
        let stream = FFI_ArrowArrayStream::new(Box::new(reader));
        PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
    }

    /// A data frame of polars, which must be installed.
    fn to_polars<'py>(slf: Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("polars")?.call_method1("DataFrame", (slf,))
    }

    /// A table of pyarrow, which must be installed.
    fn to_arrow<'py>(slf: Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("pyarrow")?.call_method1("table", (slf,))
    }

    /// A data frame of pandas, which must be installed, with pyarrow.
    fn to_pandas<'py>(slf: Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        Table::to_arrow(slf)?.call_method0("to_pandas")
    }

    /// The first rows, for a notebook; columns without anything in them are left out.
    fn _repr_html_(&self) -> String {
        let n = self.batch.num_rows().min(SHOWN);
        let mut shown: Vec<(String, Vec<String>)> = Vec::new();
        for (field, array) in self.batch.schema().fields().iter().zip(self.batch.columns()) {
            let any = array.as_any();
            let cell = |i: usize| match any.downcast_ref::<StringArray>() {
                _ if array.is_null(i) => String::new(),
                Some(words) => escaped(words.value(i)),
                None => match any.downcast_ref::<Float64Array>() {
                    Some(numbers) => numbers.value(i).to_string(),
                    None => any
                        .downcast_ref::<UInt64Array>()
                        .map_or(String::new(), |c| c.value(i).to_string()),
                },
            };
            let cells: Vec<String> = (0..n).map(cell).collect();
            if cells.iter().any(|c| !c.is_empty()) {
                shown.push((escaped(field.name()), cells));
            }
        }
        let mut out = String::from("<table><thead><tr>");
        shown.iter().for_each(|(name, _)| out += &format!("<th>{name}</th>"));
        out += "</tr></thead><tbody>";
        for i in 0..n {
            out += "<tr>";
            shown.iter().for_each(|(_, cells)| out += &format!("<td>{}</td>", cells[i]));
            out += "</tr>";
        }
        out += "</tbody></table>";
        let left = self.batch.num_rows() - n;
        if left > 0 {
            out += &format!("<p>and {left} more rows</p>");
        }
        out
    }

    /// The text that the command line writes, byte for byte; with a path it is written there.
    #[pyo3(signature = (path=None))]
    fn to_csv(&self, path: Option<PathBuf>) -> PyResult<Option<String>> {
        let text = match &self.of {
            Of::Results(rows) => to_csv(rows),
            Of::Distributions(rows) => to_csv(rows),
            Of::Series(rows) => to_csv(rows),
            Of::Batches(rows) => to_csv(rows),
            Of::Other => {
                let text = "the command line has no such table; use polars or pandas";
                return Err(PyValueError::new_err(text));
            }
        };
        let Some(path) = path else { return Ok(Some(text)) };
        Ok(std::fs::write(path, text).map(|()| None)?)
    }

    /// The columns as lists, by name.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, pyo3::types::PyDict>> {
        let dict = pyo3::types::PyDict::new(py);
        for (field, array) in self.batch.schema().fields().iter().zip(self.batch.columns()) {
            let any = array.as_any();
            if let Some(words) = any.downcast_ref::<StringArray>() {
                dict.set_item(field.name(), words.iter().collect::<Vec<_>>())?;
            } else if let Some(numbers) = any.downcast_ref::<Float64Array>() {
                dict.set_item(field.name(), numbers.iter().collect::<Vec<_>>())?;
            } else if let Some(counts) = any.downcast_ref::<UInt64Array>() {
                dict.set_item(field.name(), counts.iter().collect::<Vec<_>>())?;
            }
        }
        Ok(dict)
    }
}
