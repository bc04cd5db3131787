//! Figures of result tables: what of a table is drawn, and how.
//!
//! What a picture looks like is the business of `orrery_plots`.

mod tables;

use crate::figure::{Size, changing, figure_of, unsuitable};
use clap::ValueEnum;
use orrery_plots::{Figure, PlotError, RowFilter, SeriesView, Window};
use orrery_results::{DistributionRow, Row, metric};
use orrery_run::SpecError;
pub use tables::Tables;

/// What of a table is drawn, and how.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct View {
    /// The kind of figure.
    #[arg(long, value_enum)]
    pub kind: Option<Kind>,
    /// The axis to show on x; by default `slo_x_p99`, or the only axis with several numbers.
    #[arg(long, value_name = "AXIS")]
    pub x: Option<String>,
    /// The metric to show on y, or the quantity of `latency-cdf` (`latency_ns`, `queueing_ns`) or of
    /// `time-series` (`in_system`, `advice_devices`, ...).
    #[arg(long, value_name = "METRIC")]
    pub metric: Option<String>,
    /// Draw only this case; may be repeated.
    #[arg(long = "case", value_name = "NAME")]
    pub cases: Vec<String>,
    /// Draw only our results with this preset; may be repeated. For a paper's table, `calibrated` by
    /// default.
    #[arg(long = "preset", value_name = "NAME")]
    pub presets: Vec<String>,
    /// Draw only this system or policy; may be repeated.
    #[arg(long = "system", value_name = "NAME")]
    pub systems: Vec<String>,
    /// Draw only this scope; may be repeated. By default `all`, if the table has it.
    #[arg(long = "scope", value_name = "NAME")]
    pub scopes: Vec<String>,
    /// Omit the paper's numbers.
    #[arg(long)]
    pub without_paper: bool,
    // No doc comment: clap would print it.
    #[allow(missing_docs)]
    #[command(flatten)]
    pub size: Size,
    /// Width of the bins of a time series in seconds; by default one that leaves at most 64 bins.
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub bin: Option<u64>,
    /// Start of a timeline.
    #[arg(long, value_name = "MS", value_parser = milliseconds)]
    pub from_ms: Option<u64>,
    /// End of a timeline.
    #[arg(long, value_name = "MS", value_parser = milliseconds)]
    pub to_ms: Option<u64>,
}

/// The figures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Kind {
    /// Finish rate over an axis, by default the SLO; one panel for each case.
    FinishRate,
    /// Any metric over any numeric axis.
    Metric,
    /// Execution times alone.
    Histogram,
    /// Cumulative distribution of latencies, with the tail stretched.
    LatencyCdf,
    /// Cumulative distribution of batch sizes.
    BatchSizeCdf,
    /// Offered load, goodput, utilisation and requests in the system.
    TimeSeries,
    /// Batches on devices.
    Timeline,
    /// Errors with one assumption changed at a time.
    Sensitivity,
}

/// Milliseconds as nanoseconds.
fn milliseconds(text: &str) -> Result<u64, String> {
    match text.parse::<f64>() {
        Ok(ms) if (0.0..=1e12).contains(&ms) => Ok((ms * 1e6).round() as u64),
        _ => Err("milliseconds from 0 to 1e12, such as 12.5".to_string()),
    }
}

/// Seconds as nanoseconds, at least one.
fn seconds(text: &str) -> Result<u64, String> {
    match text.parse::<f64>() {
        Ok(s) if (1e-9..=1e9).contains(&s) => Ok((s * 1e9).round() as u64),
        _ => Err("seconds from 1e-9 to 1e9, such as 0.5".to_string()),
    }
}

/// The figure of a table.
///
/// # Errors
/// When the table has nothing for it.
pub fn figure(tables: &Tables, args: &View) -> Result<Figure, SpecError> {
    let choice = RowFilter {
        cases: args.cases.clone(),
        presets: args.presets.clone(),
        systems: args.systems.clone(),
        scopes: args.scopes.clone(),
        without_paper: args.without_paper,
        ..RowFilter::default()
    };
    let other = |kind: Kind, allowed: &str| {
        let remedy = format!("leave `--kind` out, or choose among {allowed}");
        let kind = kind.to_possible_value().map_or(String::new(), |v| v.get_name().to_string());
        let found = format!("`{kind}` for {}", tables.what());
        Err(SpecError::value("--kind", found, allowed, remedy).in_file(tables.file()))
    };
    let drawn = match (tables, args.kind) {
        (
            Tables::Results(_, rows),
            None | Some(Kind::FinishRate | Kind::Metric | Kind::Sensitivity),
        ) => of_results(rows, args, &choice),
        (
            Tables::Distributions(_, rows),
            None | Some(Kind::Histogram | Kind::LatencyCdf | Kind::BatchSizeCdf),
        ) => of_distributions(rows, args, &choice),
        (Tables::Series(_, rows), None | Some(Kind::TimeSeries)) => {
            let view = SeriesView { bin_ns: args.bin, quantity: args.metric.clone() };
            orrery_plots::time_series(rows, &choice, &view)
        }
        (Tables::Batches(_, rows), None | Some(Kind::Timeline)) => {
            let window = Window { from_ns: args.from_ms.unwrap_or(0), to_ns: args.to_ms };
            orrery_plots::device_timeline(rows, window)
        }
        (Tables::Results(..), Some(kind)) => {
            return other(kind, "`finish-rate`, `metric` and `sensitivity`");
        }
        (Tables::Distributions(..), Some(kind)) => {
            return other(kind, "`histogram`, `latency-cdf` and `batch-size-cdf`");
        }
        (Tables::Series(..), Some(kind)) => return other(kind, "`time-series`"),
        (Tables::Batches(..), Some(kind)) => return other(kind, "`timeline`"),
    };
    drawn.map_err(|e| unsuitable(tables.file(), &e))
}

fn of_results(rows: &[Row], args: &View, choice: &RowFilter) -> Result<Figure, PlotError> {
    let asked = args.kind.is_some() || args.x.is_some() || args.metric.is_some();
    if !asked {
        return figure_of(rows, choice);
    }
    let metric = args.metric.as_deref();
    if args.kind == Some(Kind::Sensitivity) {
        return orrery_plots::sensitivity(rows, metric.unwrap_or(changing(rows)), choice);
    }
    let x = match &args.x {
        Some(x) => x.clone(),
        None => orrery_plots::axis_of(rows)?,
    };
    match (args.kind, metric) {
        (Some(Kind::FinishRate), _) => orrery_plots::finish_rate_by(rows, &x, choice),
        (_, metric) => {
            orrery_plots::metric_by_axis(rows, &x, metric.unwrap_or(metric::FINISH_RATE), choice)
        }
    }
}

/// Without a kind: what stands in the table, latencies before batch sizes before execution times.
fn of_distributions(
    rows: &[DistributionRow],
    args: &View,
    choice: &RowFilter,
) -> Result<Figure, PlotError> {
    let has = |quantity: &str| rows.iter().any(|r| r.quantity == quantity);
    let guessed = match args.metric.as_deref() {
        None if has("latency_ns") => Kind::LatencyCdf,
        None if has("batch_size") => Kind::BatchSizeCdf,
        None | Some("alone_ns") => Kind::Histogram,
        Some("batch_size") => Kind::BatchSizeCdf,
        Some(_) => Kind::LatencyCdf,
    };
    match args.kind.unwrap_or(guessed) {
        Kind::Histogram => orrery_plots::execution_time_histogram(rows, choice),
        Kind::BatchSizeCdf => orrery_plots::batch_size_cdf(rows, choice),
        _ => {
            let quantity = args.metric.as_deref().unwrap_or("latency_ns");
            orrery_plots::latency_cdf(rows, quantity, choice)
        }
    }
}
