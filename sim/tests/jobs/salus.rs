//! Laws of Salus: what it shares out, in which order, within which memory.

use super::*;
use orrery_sim::jobs::job::{MB, WHOLE};

const ONE_LANE: [&str; 4] =
    ["salus[order=fifo]", "salus[order=srtf]", "salus[order=las]", "salus[order=rr]"];
const S: u64 = 1_000_000_000;

fn many(case: u64, unit: bool) -> Vec<Job> {
    let mut dice = Dice::of(case);
    let count = dice.from(1, 12);
    let mut random = || {
        let at = if dice.from(0, 1) == 0 { 0 } else { dice.from(0, 20 * S) };
        job(at, dice.from(1, 30), if unit { S } else { dice.from(1, 3 * S) })
    };
    (0..count).map(|_| random()).collect()
}

#[test]
fn on_one_lane_every_order_ends_at_the_same_instant() {
    for case in 0..100 {
        let jobs = many(case, false);
        let gpu = Cluster::gpu(1);
        let spans = ONE_LANE.map(|policy| total(&gpu, &jobs, policy).makespan);
        assert_eq!(spans, [spans[0]; 4], "case {case}");
    }
}

#[test]
fn srtf_has_the_least_mean_jct_but_for_an_iteration_per_arrival() {
    for case in 0..100 {
        let (mut jobs, gpu) = (many(case, true), Cluster::gpu(1));
        let sum = |jobs: &[Job], policy: &str| total(&gpu, jobs, policy).jct_mean.ns() + 1;
        let late = jobs.iter().filter(|j| j.submitted > Time::ZERO).count() as u64;
        let bound = S * late;
        for other in ONE_LANE {
            assert!(sum(&jobs, ONE_LANE[1]) <= sum(&jobs, other) + bound, "case {case}: {other}");
        }
        jobs.iter_mut().for_each(|j| j.submitted = Time::ZERO);
        for other in ONE_LANE {
            assert!(
                sum(&jobs, ONE_LANE[1]) <= sum(&jobs, other),
                "case {case}: {other}, all there"
            );
        }
    }
}

#[test]
fn fifo_is_lindleys_recursion() {
    for case in 0..100 {
        let mut jobs = many(case, false);
        jobs.sort_by_key(|j| j.submitted);
        let mut free = Time::ZERO;
        let ends_by_hand: Vec<u64> = jobs
            .iter()
            .map(|j| {
                free = free.max(j.submitted) + j.work();
                free.ns()
            })
            .collect();
        assert_eq!(ends(&run(&Cluster::gpu(1), &jobs, ONE_LANE[0])), ends_by_hand);
    }
}

/// What each job has got until each stop.
#[derive(Default)]
struct Served {
    used: Vec<Option<(u64, u64)>>,
    all: Vec<Vec<(JobId, u64, u64)>>,
    work: Vec<Job>,
    /// Who ran when a job last joined: its run counts from then on only.
    ran: Option<JobId>,
    running: Option<JobId>,
    joined: Time,
}

impl JobObserver for Served {
    fn record(&mut self, now: Time, record: &Record) {
        match record {
            Record::Run { job, .. } => self.running = Some(*job),
            Record::Submit { job, what } => {
                let size = self.used.len().max(job.0 as usize + 1);
                self.used.resize(size, None);
                self.work.resize(size, Job::default());
                self.work[job.0 as usize] = *what;
            }
            Record::Place { job, .. } => {
                self.used[job.0 as usize] = Some((0, 0));
                self.used.iter_mut().flatten().for_each(|used| used.1 = 0);
                (self.ran, self.joined) = (self.running, now);
            }
            Record::Stop { job, left } => {
                let what = self.work[job.0 as usize];
                let used = self.used[job.0 as usize].as_mut().expect("it was placed");
                let all = what.work().minus(*left).ns();
                used.1 += match self.ran.take() == Some(*job) {
                    true => u64::from(now > self.joined),
                    false => (all - used.0) / what.iteration.ns(),
                };
                (used.0, self.running) = (all, None);
                let now = self.used.iter().enumerate();
                let now = now.filter_map(|(i, u)| u.map(|u| (JobId(i as u32), u.0, u.1)));
                self.all.push(now.collect());
            }
            Record::Done { job } => self.used[job.0 as usize] = None,
            _ => (),
        }
    }
}

#[test]
fn las_keeps_used_times_within_an_iteration_once_a_newcomer_has_caught_up() {
    for case in 0..50 {
        let jobs = many(case, false);
        let (_, served) = run_with(&Cluster::gpu(1), &jobs, ONE_LANE[2], Served::default());
        let longest = jobs.iter().map(|j| j.iteration.ns()).max().unwrap();
        let mut caught_up = Vec::new();
        for now in served.all {
            let most = now.iter().map(|n| n.1).max().unwrap();
            for (job, used, _) in &now {
                if used + longest >= most && !caught_up.contains(job) {
                    caught_up.push(*job);
                }
            }
            let of_caught = now.iter().filter(|n| caught_up.contains(&n.0)).map(|n| n.1);
            let least = of_caught.min().unwrap();
            assert!(most - least <= longest, "case {case}: {now:?}");
        }
    }
}

#[test]
fn rr_keeps_iterations_since_the_last_join_within_one() {
    for case in 0..50 {
        let jobs = many(case, false);
        let (_, served) = run_with(&Cluster::gpu(1), &jobs, ONE_LANE[3], Served::default());
        for now in served.all.iter().filter(|now| now.len() > 1) {
            let got = || now.iter().map(|n| n.2);
            assert!(got().max().unwrap() - got().min().unwrap() <= 1, "case {case}: {now:?}");
        }
    }
}

#[test]
fn lanes_gain_only_what_an_iteration_leaves_idle() {
    for case in 0..50 {
        let mut jobs = many(case, false);
        jobs.iter_mut().for_each(|j| j.submitted = Time::ZERO);
        let pack = |jobs: &[Job]| {
            let end = run(&Cluster::gpu(1), jobs, "salus[order=pack,lanes=printed]");
            end.total().makespan.ns()
        };
        let work: u64 = jobs.iter().map(|j| j.work().ns()).sum();
        let longest = jobs.iter().map(|j| j.work().ns()).max().unwrap();
        // A nanosecond may be lost whenever a rate changes; here, when a job ends.
        let lost = (jobs.len() * jobs.len()) as u64;
        assert!((work..=work + lost).contains(&pack(&jobs)), "case {case}: busy all along");
        jobs.iter_mut().for_each(|j| j.busy = WHOLE / 2);
        let bound = longest.max(work / 2);
        assert!(pack(&jobs) >= bound, "case {case}: half busy");
        jobs.iter_mut().for_each(|j| j.busy = WHOLE / 12);
        assert_eq!(pack(&jobs), longest, "case {case}: room for all");
    }
}

fn with_memory(case: u64) -> Vec<Job> {
    let mut dice = Dice::of(case);
    let mut jobs = many(case, false);
    for job in &mut jobs {
        job.persistent = dice.from(0, 300) * MB;
        job.ephemeral = dice.from(1, 700) * MB;
        job.busy = dice.from(1, u64::from(WHOLE)) as u32;
    }
    jobs
}

/// The auditor looks at every record; the first admission is the first job's.
#[test]
fn memory_is_safe_at_every_record_and_more_of_it_never_delays_the_first_admission() {
    let orders = ["fifo", "srtf", "las", "rr", "pack"];
    for case in 0..100 {
        let jobs = with_memory(case);
        for order in orders {
            for lanes in ["printed", "released"] {
                let policy = format!("salus[order={order},lanes={lanes}]");
                let first = |mb: u64| {
                    let run = run(&Cluster::gpu(mb), &jobs, &policy);
                    run.jobs().iter().filter_map(|l| l.placed).min()
                };
                assert!(first(1500) <= first(1000), "case {case}: {policy}");
            }
        }
    }
}

/// Algorithm 2.1 as printed takes a lane without asking for room for P, and may shrink one.
#[test]
fn both_holes_of_algorithm_2_1_are_closed() {
    let with = |p: u64, e: u64| Job { persistent: p * MB, ephemeral: e * MB, ..job(0, 5, S) };
    let policy = "salus[order=pack,lanes=printed]";
    // The lane of 500 fits the third job's iteration, but its P does not fit the GPU.
    let jobs = [with(200, 500), with(200, 100), with(200, 400)];
    let metrics = run(&Cluster::gpu(1000), &jobs, policy);
    assert_eq!(
        metrics.jobs()[2].placed,
        Some(Time::from_ns(ends(&metrics)[0].min(ends(&metrics)[1])))
    );
    // With the lane of 600 shrunk to 300, both jobs would fit: P 450 and 300.
    let metrics = run(&Cluster::gpu(1000), &[with(50, 600), with(400, 300)], policy);
    assert_eq!(metrics.jobs()[1].placed, metrics.jobs()[0].end);
}

/// Fig. 2.9: inception3_50, 361.489 ms an iteration, three jobs 15 s apart.
fn fig_2_9() -> [Job; 3] {
    [(0, 145), (15, 75), (30, 35)].map(|(at, n)| job(at * S, n, 361_489_000))
}

#[test]
fn fig_2_9_shares_are_equal_with_rr_and_a_newcomer_s_with_las() {
    let iteration = 361_489_000;
    let share = |policy: &str, from_s: u64, to_s: u64| {
        let (_, records) = run_with(&Cluster::gpu(1), &fig_2_9(), policy, Vec::new());
        let mut done = [0u64; 3];
        let mut running = None;
        for (now, record) in records {
            match record {
                Record::Run { job, .. } => running = Some((job, now)),
                Record::Stop { job, .. } => {
                    let (runs, since) = running.take().expect("it ran");
                    assert_eq!(runs, job);
                    let within = now.ns().min(to_s * S).saturating_sub(since.ns().max(from_s * S));
                    done[job.0 as usize] += within;
                }
                _ => (),
            }
        }
        done
    };
    let near = |found: u64, expected: u64| found.abs_diff(expected) <= iteration;
    let rr = ONE_LANE[3];
    assert_eq!(share(rr, 0, 15), [15 * S, 0, 0]);
    let two = share(rr, 16, 30);
    assert!(near(two[0], 7 * S) && near(two[1], 7 * S), "{two:?}");
    let three = share(rr, 31, 61);
    assert!(three.iter().all(|x| near(*x, 10 * S)), "{three:?}");
    // `las`: the newcomer has the GPU to itself until it has caught up.
    let las = share(ONE_LANE[2], 16, 30);
    assert_eq!(las, [0, 14 * S, 0]);
    let ends_of = |policy: &str| ends(&run(&Cluster::gpu(1), &fig_2_9(), policy));
    let [first, second, third] = ends_of(rr)[..] else { panic!("three jobs") };
    assert!(third < second && second < first, "they end in reverse order of arrival");
    // The prototype: 92.2, 82.1, 67.6 s; with las 92.2, 66.9, 42.7.
    let tenths = |policy: &str| ends_of(policy).iter().map(|e| (e + S / 20) / (S / 10)).collect();
    let (rr, las): (Vec<u64>, Vec<u64>) = (tenths(rr), tenths(ONE_LANE[2]));
    assert_eq!((rr, las), (vec![922, 821, 676], vec![922, 669, 427]));
}

#[test]
fn times_scale_and_labels_do_not_matter() {
    for case in 0..50 {
        let mut jobs = with_memory(case);
        // Distinct arrivals and times: nothing is decided by a number.
        for (i, job) in jobs.iter_mut().enumerate() {
            job.submitted = Time::from_ns(job.submitted.ns() + 17 * i as u64 * 1_000_003);
            job.busy = WHOLE / 12;
            job.iteration = Span::from_ns(job.iteration.ns() + 104_729 * i as u64);
        }
        for order in ["fifo", "srtf", "las", "pack"] {
            let policy = format!("salus[order={order},lanes=printed]");
            let before = ends(&run(&Cluster::gpu(1500), &jobs, &policy));
            let tripled: Vec<Job> = jobs
                .iter()
                .map(|j| Job {
                    submitted: Time::from_ns(3 * j.submitted.ns()),
                    iteration: j.iteration * 3,
                    ..*j
                })
                .collect();
            let after = ends(&run(&Cluster::gpu(1500), &tripled, &policy));
            assert_eq!(after, before.iter().map(|e| 3 * e).collect::<Vec<_>>(), "case {case}");
            if order == "pack" || order == "las" {
                continue; // Turns begin with the lowest number.
            }
            let reversed: Vec<Job> = jobs.iter().rev().copied().collect();
            let mut after = ends(&run(&Cluster::gpu(1500), &reversed, &policy));
            after.reverse();
            assert_eq!(after, before, "case {case}: {order}");
        }
    }
}
