//! The engine against the naive one, on a thousand random cases.

use super::{Dice, Job, ends, job, naive, run};
use orrery_sim::jobs::job::{Cluster, MB};

const STEP: u64 = 1_000_000;
const ORDERS: [&str; 5] = ["fifo", "srtf", "las", "rr", "pack"];

fn in_ns(steps: Vec<u64>) -> Vec<u64> {
    steps.into_iter().map(|s| s * STEP).collect()
}

/// One lane, or lanes that never slow each other down: all ends are on the grid of the steps.
#[test]
fn salus_agrees_exactly_where_every_end_is_on_the_grid() {
    for case in 0..600 {
        let mut dice = Dice::of(case);
        let printed = case % 2 == 1;
        let order = ORDERS[dice.from(0, if printed { 4 } else { 3 }) as usize];
        let random = |dice: &mut Dice| Job {
            persistent: dice.from(10, 100) * MB,
            ephemeral: [300, 500, 500, 900][dice.from(0, 3) as usize] * MB,
            busy: 100_000,
            ..job(dice.from(0, 80) * STEP, dice.from(1, 20), dice.from(1, 9) * STEP)
        };
        let count = dice.from(1, 10);
        let jobs: Vec<Job> = (0..count).map(|_| random(&mut dice)).collect();
        let lanes = if printed { "printed" } else { "released" };
        let policy = format!("salus[order={order},lanes={lanes}]");
        let gpu = Cluster::gpu(2000);
        let theirs = naive::salus(&jobs, order, printed, 2000 * MB, STEP);
        assert_eq!(ends(&run(&gpu, &jobs, &policy)), in_ns(theirs), "case {case}: {policy}");
    }
}

/// A lane for each job, each of which could fill the GPU: rates change with every arrival and end. The
/// naive engine sees an end up to a step late, and the others lose less than a step by that in all.
#[test]
fn lanes_that_slow_each_other_down_agree_within_a_step() {
    for case in 0..200 {
        let mut dice = Dice::of(10_000 + case);
        let count = dice.from(2, 8);
        let mut random = || job(dice.from(0, 30) * STEP, dice.from(1, 12), dice.from(2, 9) * STEP);
        let jobs: Vec<Job> = (0..count).map(|_| random()).collect();
        let ours = ends(&run(&Cluster::gpu(1000), &jobs, "salus[order=pack,lanes=printed]"));
        // Iterations are seen to end on the grid only, so each job has one of all its work.
        let whole = |j: &Job| Job { iterations: 1, iteration: j.work(), ..*j };
        let whole: Vec<Job> = jobs.iter().map(whole).collect();
        let half = STEP / 2;
        let theirs = naive::salus(&whole, "pack", true, 1000 * MB, half);
        for (job, (ours, theirs)) in ours.iter().zip(theirs).enumerate() {
            let apart = ours.abs_diff(theirs * half);
            assert!(apart <= STEP, "case {case}, job {job}: {ours} and {}", theirs * half);
        }
    }
}

#[test]
fn fluid_agrees_exactly_where_every_end_is_on_the_grid() {
    for case in 0..200 {
        let mut dice = Dice::of(20_000 + case);
        let workers = dice.from(1, 6);
        let (count, c, d) = (dice.from(1, 9), dice.from(1, 3), dice.from(1, workers));
        // Up to 6 workers and 3 parts: every width's iteration is a whole number of steps.
        let mut random = || job(0, dice.from(1, 9), 60 * dice.from(1, 3) * STEP);
        let jobs: Vec<Job> = (0..count).map(|_| random()).collect();
        for rule in ["one", "static", "dynamic"] {
            let policy = format!("fluid[rule={rule},c={c},d={d}]");
            let theirs = naive::fluid(&jobs, rule, workers, c, d, STEP);
            let ours = ends(&run(&Cluster::workers(workers as u32), &jobs, &policy));
            assert_eq!(ours, in_ns(theirs), "case {case}: {policy}, {workers} workers");
        }
    }
}
