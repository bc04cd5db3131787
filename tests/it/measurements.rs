//! Measurements that stand in two places say the same.

use orrery_scenario::kairos;
use orrery_sim::time::Span;
use std::fs;
use std::path::Path;

/// The planner is tested with sums and medians of Kairos's samples, scenarios replay the samples.
#[test]
fn the_planner_s_sums_are_those_of_the_samples() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../experiments/plan/solvers/tests/data/kairos_latency_sums_us.csv");
    let text = fs::read_to_string(&file).expect("the planner's fixture");
    let numbers = |list: &str| -> Vec<u64> {
        list.split(' ').map(|n| n.parse().expect("whole microseconds")).collect()
    };
    let mut rows = 0;
    for line in text.lines().skip(1) {
        let fields: Vec<&str> = line.split(',').collect();
        let name = format!("{}@{}", fields[0], fields[1]);
        let table = kairos::samples(&name).unwrap_or_else(|| panic!("samples of {name}"));
        let (sums, medians) = (numbers(fields[2]), numbers(fields[3]));
        assert_eq!(sums.len(), table.sizes().len(), "{name}");
        for ((size, sum), median) in table.sizes().iter().zip(sums).zip(medians) {
            let mut samples = table.samples(*size).to_vec();
            samples.sort();
            let all: Span = samples.iter().fold(Span::ZERO, |a, s| a + *s);
            assert_eq!(all, Span::from_us(sum), "{name}, {size} items");
            assert_eq!(samples[samples.len() / 2], Span::from_us(median), "{name}, {size} items");
        }
        rows += 1;
    }
    assert_eq!(rows, 20, "five models on four types");
}
