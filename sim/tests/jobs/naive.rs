//! Both systems once more, as plainly as possible: time in steps of fixed length, lists that are searched
//! from end to end. Work is counted in 840ths of a step, so that up to 8 lanes share it exactly.

use orrery_sim::jobs::job::Job;

const FINE: u64 = 840;

#[derive(Clone, Debug)]
struct One {
    at: u64,
    iterations: u64,
    iteration: u64,
    p: u64,
    e: u64,
    u: u64,
    done: u64,
    got: u64,
    part: u64,
    lane: Option<usize>,
    end: Option<u64>,
}

fn all(jobs: &[Job], step: u64) -> Vec<One> {
    let one = |j: &Job| One {
        at: j.submitted.ns() / step,
        iterations: j.iterations,
        iteration: j.iteration.ns() / step,
        p: j.persistent,
        e: j.ephemeral,
        u: u64::from(j.busy),
        done: 0,
        got: 0,
        part: 0,
        lane: None,
        end: None,
    };
    jobs.iter().map(one).collect()
}

/// The ends of all jobs under Salus, in steps.
pub fn salus(jobs: &[Job], order: &str, printed: bool, memory: u64, step: u64) -> Vec<u64> {
    let mut all = all(jobs, step);
    let mut sizes: Vec<u64> = Vec::new();
    let mut runs: Vec<Option<usize>> = Vec::new();
    let mut now = 0;
    while all.iter().any(|j| j.end.is_none()) {
        for run in runs.iter_mut() {
            let Some(id) = *run else { continue };
            let job = &mut all[id];
            if job.part >= job.iteration * FINE {
                (job.part, job.done, job.got) = (0, job.done + 1, job.got + 1);
                *run = None;
                if job.done == job.iterations {
                    job.end = Some(now);
                }
            }
        }
        for (lane, size) in sizes.iter_mut().enumerate() {
            let inside = all.iter().filter(|j| j.lane == Some(lane) && j.end.is_none());
            *size = inside.map(|j| j.e).max().unwrap_or(0);
        }
        let mut waiting: Vec<usize> = (0..all.len()).collect();
        waiting.retain(|&i| all[i].at <= now && all[i].lane.is_none());
        waiting.sort_by_key(|&i| (all[i].at, i));
        for id in waiting {
            if let Some(lane) = place(&all, &mut sizes, id, order, printed, memory) {
                runs.resize(sizes.len(), None);
                all[id].lane = Some(lane);
                let inside = all.iter_mut().filter(|j| j.lane == Some(lane));
                inside.for_each(|j| j.got = 0);
            }
        }
        for (lane, run) in runs.iter_mut().enumerate() {
            if run.is_some() {
                continue;
            }
            let inside = (0..all.len()).filter(|&i| all[i].lane == Some(lane));
            let alive = inside.filter(|&i| all[i].end.is_none());
            *run = alive.min_by_key(|&i| {
                let j = &all[i];
                let key = match order {
                    "srtf" => (j.iterations - j.done) * j.iteration,
                    "las" => j.done * j.iteration,
                    "fifo" => 0,
                    _ => j.got,
                };
                (key, i)
            });
        }
        let running: Vec<usize> = runs.iter().flatten().copied().collect();
        let busy: u64 = running.iter().map(|&i| all[i].u).sum();
        for id in running {
            // The sum is a whole number of GPUs here, or below one.
            all[id].part += FINE * 1_000_000 / busy.max(1_000_000);
        }
        now += 1;
    }
    all.iter().map(|j| j.end.unwrap()).collect()
}

fn place(
    all: &[One],
    sizes: &mut Vec<u64>,
    id: usize,
    order: &str,
    printed: bool,
    memory: u64,
) -> Option<usize> {
    let here = |j: &&One| j.lane.is_some() && j.end.is_none();
    let p = all[id].p + all.iter().filter(here).map(|j| j.p).sum::<u64>();
    let (e, sum) = (all[id].e, sizes.iter().sum::<u64>());
    let in_lane = |lane: usize| all.iter().filter(here).any(|j| j.lane == Some(lane));
    let open: Vec<usize> = (0..sizes.len()).filter(|&l| in_lane(l)).collect();
    if order == "fifo" && !open.is_empty() {
        return None;
    }
    if open.is_empty() || (printed && order != "fifo" && p + sum + e <= memory) {
        sizes.push(e);
        return Some(sizes.len() - 1);
    }
    let mut by_size = open.clone();
    by_size.sort_by_key(|&l| (sizes[l], l));
    let fits = by_size.iter().find(|&&l| printed && sizes[l] >= e && p + sum <= memory);
    let grows = by_size.iter().find(|&&l| p + sum - sizes[l] + sizes[l].max(e) <= memory);
    let lane = *fits.or(grows)?;
    sizes[lane] = sizes[lane].max(e);
    Some(lane)
}

/// The ends of all trials under Fluid when all are there at the start and work is conserved, in steps.
pub fn fluid(jobs: &[Job], rule: &str, workers: u64, c: u64, d: u64, step: u64) -> Vec<u64> {
    let mut all = all(jobs, step);
    let h = |j: &One| (j.iterations - j.done) * j.iteration * FINE - j.part;
    // In c-ths of a worker: 1 is a part, a multiple of c is whole workers.
    let widths = |of: &[usize], all: &[One]| -> Vec<u64> {
        let sum: u64 = of.iter().map(|&i| h(&all[i])).sum();
        let width = |&i: &usize| match h(&all[i]) * workers / sum {
            0 => 1,
            w => w.min(d) * c,
        };
        of.iter().map(width).collect()
    };
    let ids: Vec<usize> = (0..all.len()).collect();
    let mut want = match rule {
        "one" => vec![c; all.len()],
        _ => widths(&ids, &all),
    };
    let work = ids.iter().map(|&i| h(&all[i])).collect::<Vec<_>>();
    let mut queue = ids.clone();
    if rule != "one" {
        queue.sort_by_key(|&i| (u64::MAX - want[i], u64::MAX - work[i], i));
    }
    // Who has how much of each worker.
    let mut has: Vec<Vec<(usize, u64)>> = vec![Vec::new(); workers as usize];
    let mut width = vec![0; all.len()];
    let mut now = 0;
    loop {
        let mut ended = false;
        for (i, job) in all.iter_mut().enumerate().filter(|j| j.1.end.is_none()) {
            if job.part >= job.iteration * FINE {
                (job.part, job.done) = (0, job.done + 1);
            }
            if job.done == job.iterations {
                job.end = Some(now);
                has.iter_mut().for_each(|w| w.retain(|u| u.0 != i));
                ended = true;
            }
        }
        if all.iter().all(|j| j.end.is_some()) {
            return all.iter().map(|j| j.end.unwrap()).collect();
        }
        let free =
            |has: &[Vec<(usize, u64)>], w: usize| c - has[w].iter().map(|u| u.1).sum::<u64>();
        let take = |has: &mut Vec<Vec<(usize, u64)>>, i: usize, want: u64| {
            if want < c {
                let best = (0..has.len()).max_by_key(|&w| (free(has, w), usize::MAX - w)).unwrap();
                let fits = free(has, best) >= want;
                if fits {
                    has[best].push((i, want));
                }
                return fits;
            }
            let idle: Vec<usize> = (0..has.len()).filter(|&w| has[w].is_empty()).collect();
            let fits = idle.len() as u64 >= want / c;
            if fits {
                idle[..(want / c) as usize].iter().for_each(|&w| has[w].push((i, c)));
            }
            fits
        };
        queue.retain(|&i| {
            let fits = take(&mut has, i, want[i]);
            if fits {
                width[i] = want[i];
            }
            !fits
        });
        if rule == "dynamic" && ended && queue.is_empty() {
            let mut alive: Vec<usize> =
                ids.iter().copied().filter(|&i| all[i].end.is_none()).collect();
            alive.sort_by_key(|&i| (u64::MAX - h(&all[i]), i));
            let new = widths(&alive, &all);
            for (&i, new) in alive.iter().zip(new) {
                // Work is conserved: wider is sooner, and narrower saves nothing.
                want[i] = if new > width[i] { new } else { width[i] };
            }
        }
        if rule == "dynamic" {
            let at_step = |j: &One| j.part == 0 && j.end.is_none();
            let mut ready: Vec<usize> = ids.iter().copied().filter(|&i| at_step(&all[i])).collect();
            ready.retain(|&i| width[i] > 0 && want[i] != width[i]);
            ready.sort_by_key(|&i| (u64::MAX - h(&all[i]), i));
            for i in ready {
                let before = has.clone();
                has.iter_mut().for_each(|w| w.retain(|u| u.0 != i));
                if take(&mut has, i, want[i]) {
                    width[i] = want[i];
                } else {
                    has = before;
                }
            }
        }
        for (i, job) in all.iter_mut().enumerate().filter(|j| j.1.end.is_none()) {
            job.part += FINE * width[i] / c;
        }
        now += 1;
    }
}
