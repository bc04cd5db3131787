//! The figures of a campaign, which its report shows: finish rates of both sides, and the error of the
//! law by size and length.

use super::Standing;
use super::campaign::Campaign;
use super::outcome::PointResult;
use crate::profile::{ModelRow, ProfileFile};
use orrery_plots::{Figure, Picture, PictureKind, RowFilter, Spacing, picture};
use orrery_results::{Row, metric};

/// The figures, each with the name of its file and what it shows. One without data is left out.
pub fn figures(campaign: &Campaign, standing: &Standing) -> Vec<(String, String, Figure)> {
    let mut all = Vec::new();
    let says = "Finish rate against load: predicted, with the middle 95 % of the draws, and measured, \
                with the least and the largest valid run.";
    if let Some(figure) = finish_rates(campaign, standing) {
        all.push(("finish-rate.svg".to_string(), says.to_string(), figure));
    }
    for (name, profile) in &standing.profiles {
        for model in &profile.model {
            let says = format!(
                "Error of the latency model of `{}` in percent of the measured median, by batch size and length; \
                 it saw only a part of these points.",
                model.name
            );
            if let Some(figure) = law_errors(campaign, profile, model) {
                let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
                let model: String = model.name.chars().map(plain).collect();
                let file = format!("law-{}-{model}.svg", name.trim_start_matches("profile-"));
                all.push((file, says, figure));
            }
        }
    }
    all
}

fn finish_rates(campaign: &Campaign, standing: &Standing) -> Option<Figure> {
    let rows: Vec<Row> = standing
        .points
        .iter()
        .filter_map(|(_, result)| result.as_ref())
        .flat_map(|r| sides(campaign, r))
        .collect();
    let measured = rows.iter().any(|r| r.system == "measured");
    let exec = rows.iter().any(|r| r.axes.contains("exec_ms="));
    let mut panels = vec!["SLO".to_string(), "policy".to_string()];
    panels.splice(0..0, exec.then(|| "exec_ms".to_string()));
    let picture_of = Picture {
        kind: PictureKind::Curves,
        title: format!("{}: finish rate, predicted and measured", campaign.title()),
        source: format!(
            "device {}; bars: the middle 95 % of the draws, and the least and largest valid run{}",
            campaign.device.target,
            if measured { "" } else { "; no run is valid, so nothing measured is shown" }
        ),
        metrics: vec![metric::FINISH_RATE.to_string()],
        x: "load".to_string(),
        interval: Some(("low".to_string(), "high".to_string())),
        panels: Some(panels),
        x_scale: Some(Spacing::Linear),
        y_range: Some((0.0, 1.0)),
        ..Picture::default()
    };
    picture(&rows, &picture_of, &RowFilter::default()).ok()
}

fn sides(campaign: &Campaign, r: &PointResult) -> Vec<Row> {
    let exec = r.exec_ms.map_or(String::new(), |ms| format!(";exec_ms={ms}"));
    let slo = format!("{:.0} ms", r.slo_ms);
    let row = |system: &str, metric: &str, value, samples: usize| Row {
        experiment: campaign.file.name.clone(),
        axes: format!("load={};SLO={slo};policy={}{exec}", r.load, r.policy),
        system: system.to_string(),
        policy: system.to_string(),
        scope: "all".to_string(),
        metric: metric.to_string(),
        unit: "unitless".to_string(),
        value: Some(value),
        samples: samples as u64,
        ..Row::default()
    };
    let all = |system: &str, mean: f64, (low, high): (f64, f64), samples| {
        [(metric::FINISH_RATE, mean), ("low", low), ("high", high)]
            .map(|(metric, value)| row(system, metric, value, samples))
    };
    let (low, high) = r.middle_percent();
    let ends = (low / 100.0, high / 100.0);
    let mut rows = all("predicted", r.predicted_percent() / 100.0, ends, r.draws.len()).to_vec();
    let rates: Vec<f64> = r.valid().map(|v| v.measured.finish_rate).collect();
    if !rates.is_empty() {
        let mean = rates.iter().sum::<f64>() / rates.len() as f64;
        let least = rates.iter().copied().fold(f64::INFINITY, f64::min);
        let most = rates.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        rows.extend(all("measured", mean, (least, most), rates.len()));
    }
    rows
}

fn law_errors(campaign: &Campaign, profile: &ProfileFile, model: &ModelRow) -> Option<Figure> {
    let lengths: Vec<f64> = model.point.iter().map(|p| p.longest_us).collect();
    if lengths.iter().all(|l| *l == lengths[0]) {
        return None;
    }
    let row = |p: &crate::profile::PointRow| Row {
        experiment: campaign.file.name.clone(),
        axes: format!("batch={};length={:.1}", p.batch, p.longest_us),
        system: "latency model".to_string(),
        policy: "latency model".to_string(),
        scope: "all".to_string(),
        metric: "error_percent".to_string(),
        unit: "unitless".to_string(),
        value: Some(p.error_percent.abs()),
        samples: p.runs,
        ..Row::default()
    };
    let rows: Vec<Row> = model.point.iter().map(row).collect();
    let picture_of = Picture {
        kind: PictureKind::Heat,
        title: format!("Absolute error of the latency model of {}, percent", model.name),
        source: format!("{}, {}", profile.device.device, profile.date),
        metrics: vec!["error_percent".to_string()],
        x: "length".to_string(),
        y: "batch".to_string(),
        panels: Some(Vec::new()),
        x_label: "longest request of the batch, alone (us)".to_string(),
        y_label: "error, percent".to_string(),
        y_scale: Some(Spacing::Linear),
        y_range: Some((0.0, 10.0)),
        ..Picture::default()
    };
    picture(&rows, &picture_of, &RowFilter::default()).ok()
}
