//! DRS's thresholds, and headroom.

use super::common::pool;
use orrery_solvers::search::SearchError;
use orrery_solvers::search::threshold::{Split, hill_climbing, scan};
use orrery_solvers::{PlannerError, headroom};

fn at(values: &[f64], thresholds: &[u32], climb: bool) -> Split {
    let mut i = 0;
    let mut next = |_| {
        i += 1;
        Ok::<_, PlannerError>(values[i - 1])
    };
    if climb { hill_climbing(thresholds, &mut next) } else { scan(thresholds, &mut next) }.unwrap()
}

#[test]
fn hill_climbing_stops_at_the_first_worse_threshold_and_the_scan_does_not() {
    let thresholds = [96, 128, 192, 256, 384];
    let values = [10.0, 12.0, 12.0, 11.0, 20.0];
    let climbed = at(&values, &thresholds, true);
    assert_eq!((climbed.threshold, climbed.allowable_per_s), (128, 12.0));
    assert_eq!(climbed.trials, [(96, 10.0), (128, 12.0), (192, 12.0), (256, 11.0)]);
    let scanned = at(&values, &thresholds, false);
    assert_eq!((scanned.threshold, scanned.trials.len()), (384, 5));
    assert_eq!(at(&[0.0, 0.0], &[1, 2], true).threshold, 1);
}

#[test]
fn wrong_thresholds_are_errors() {
    let wrong = |thresholds: &[u32], value| {
        hill_climbing(thresholds, |_| Ok::<_, PlannerError>(value)).unwrap_err().to_string()
    };
    assert!(wrong(&[], 1.0).contains("number of thresholds"));
    assert!(wrong(&[2, 2], 1.0).contains("above the one before it"));
    assert!(wrong(&[1], f64::NAN).contains("throughput at a threshold"));
    let own = hill_climbing(&[1], |_| {
        Err::<f64, SearchError<&str>>(SearchError::Evaluation { pool: pool([1]), error: "x" })
    });
    assert!(own.is_err());
}

#[test]
fn headroom_by_hand() {
    assert_eq!(headroom(12.5, 10.0), Some(0.25));
    assert_eq!(headroom(9.0, 10.0).map(|h| h < 0.0), Some(true));
    assert_eq!(headroom(9.0, 0.0), None);
}
