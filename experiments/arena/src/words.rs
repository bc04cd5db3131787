//! A sentence for each policy, made from the numbers.

use crate::league::League;
use crate::map::in_order;
use orrery_sim::stats::mean;

/// A value of an axis speaks for a policy where it has at least so many scenarios.
const SCENARIOS_LEAST: usize = 3;

/// `0.052`: a score or a difference.
pub fn short(x: f64) -> String {
    // A small loss is no -0.000.
    format!("{:.3}", if x.abs() < 5e-4 { 0.0 } else { x })
}

/// The mean distance of a policy at each value of each axis, with how many scenarios.
fn by_value(league: &League, policy: usize) -> Vec<(String, f64)> {
    let (behind, suite) = (league.behind(policy), &league.asked.suite);
    let mut out = Vec::new();
    for axis in &suite.axes {
        let values = in_order(suite.scenarios.iter().filter_map(|a| a.at(&axis.name)));
        for value in &values {
            let here = behind.iter().filter(|b| suite.scenarios[b.0].at(&axis.name) == Some(value));
            let own: Vec<f64> = here.map(|b| b.1).collect();
            if values.len() > 1 && own.len() >= SCENARIOS_LEAST {
                let name = format!("{} {value}", axis.name.replace('_', " "));
                out.extend(mean(&own).map(|mean| (name, mean)));
            }
        }
    }
    out
}

/// Where a policy is nearest to the best and where it is furthest.
pub fn sentence(league: &League, policy: usize) -> Option<String> {
    let line = league.lines.iter().find(|l| l.policy == policy)?;
    let all = by_value(league, policy);
    let name = league.name(policy);
    let near = all.iter().min_by(|a, b| a.1.total_cmp(&b.1));
    let far = all.iter().max_by(|a, b| a.1.total_cmp(&b.1));
    let (near, far) = near.zip(far)?;
    let beside = league.board.beside[policy];
    let begins = match (beside, line.leads, line.tied) {
        (true, ..) => "knows every execution time, and does not compete".to_string(),
        (_, 0, 0) => "leads nowhere".to_string(),
        (_, 0, tied) => format!("shares the lead in {tied} of {}", line.ran),
        (_, leads, 0) => format!("leads in {leads} of {}", line.ran),
        (_, leads, tied) => {
            format!("leads in {leads} of {} and shares the lead in {tied}", line.ran)
        }
    };
    Some(format!(
        "{name} {begins}; smallest regret at {} ({}), largest at {} ({}).",
        near.0,
        short(near.1),
        far.0,
        short(far.1)
    ))
}
