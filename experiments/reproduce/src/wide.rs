//! The wide form of an experiment that is about one metric.

use super::experiment::Experiment;
use orrery_results::{Row, metric};
use orrery_sweep::replication::PEAK;

/// One row for each cell: its axes, the policy, the main metric with its interval and the paper's
/// number, then what else is shown. For goodput studies the columns are
/// `AXES...,policy,preset,goodput_rps,ci95_low,ci95_high,batch_p50,paper_goodput_rps`.
pub fn of_main(e: &Experiment, rows: &[Row]) -> String {
    let main = e.main();
    let all = |r: &&Row| r.scope == "all" && r.versus.is_empty();
    let heads: Vec<&Row> = rows.iter().filter(all).filter(|r| r.metric == main).collect();
    let mut axes: Vec<&str> = Vec::new();
    for (name, _) in heads.iter().flat_map(|r| r.axis_list()) {
        if !axes.contains(&name) {
            axes.push(name);
        }
    }
    let searched = main == PEAK;
    let others: Vec<&String> = if searched { Vec::new() } else { e.show[1..].iter().collect() };
    let mut header: Vec<&str> = axes.clone();
    header.extend(["policy", "preset"]);
    if searched {
        header.extend(["goodput_rps", "ci95_low", "ci95_high", "batch_p50", "paper_goodput_rps"]);
    } else {
        header.extend([main, "ci95_low", "ci95_high", "paper"]);
        header.extend(others.iter().map(|o| o.as_str()));
    }
    let mut writer = csv::Writer::from_writer(Vec::new());
    let mut write = |cells: &[String]| {
        // Memory can always be written.
        let _ = writer.write_record(cells);
    };
    write(&header.iter().map(ToString::to_string).collect::<Vec<_>>());
    // With its point: the type of a column is the same in every table.
    let number = |x: Option<f64>| x.map_or(String::new(), |x| format!("{x:?}"));
    for row in heads {
        let of = |metric: &str| {
            let same =
                |r: &&Row| r.axes == row.axes && r.system == row.system && r.metric == metric;
            rows.iter().filter(all).find(same).and_then(|r| r.value)
        };
        let mut cells: Vec<String> =
            axes.iter().map(|a| row.axis(a).unwrap_or_default().to_string()).collect();
        cells.extend([row.policy.clone(), row.preset.clone(), number(row.value)]);
        cells.extend([number(row.ci95_low), number(row.ci95_high)]);
        if searched {
            cells.push(number(of(metric::BATCH_SIZE_P50)));
        }
        cells.push(number(row.paper));
        cells.extend(others.iter().map(|m| number(of(m))));
        write(&cells);
    }
    let bytes = writer.into_inner().unwrap_or_default();
    String::from_utf8_lossy(&bytes).into_owned()
}
