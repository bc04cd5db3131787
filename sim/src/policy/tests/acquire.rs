//! `timeout[window=acquire]` by hand, and against a batcher written as one loop over sorted arrivals.
//! A batch of b takes b + 5 us.

use super::cluster::{Batch, Cluster, done, request};
use crate::policy::timeout::acquire::{Acquire, Rule};
use crate::request::Arrival;
use crate::rng::Stream;
use crate::time::{Span, Time};

/// A batcher and its devices.
#[derive(Clone, Copy, Debug)]
struct Harness {
    max_batch: u32,
    max_wait_ns: u64,
    ahead: u32,
    gpus: usize,
    lanes: u8,
}

const ONE: Harness = Harness { max_batch: 3, max_wait_ns: 4_000, ahead: 2, gpus: 1, lanes: 1 };

impl Harness {
    fn play(self, arrivals: Vec<Arrival>) -> Vec<Batch> {
        let mut cluster = Cluster::new(self.gpus, false, &[(1, 5), (2, 10)]);
        cluster.world.core.devices.iter_mut().for_each(|d| d.lanes = self.lanes);
        let max_wait = Span::from_ns(self.max_wait_ns);
        let Harness { max_batch, ahead, .. } = self;
        let rule = Rule { max_batch, max_wait, drop_expired: false, ahead };
        cluster.play(Acquire::new("acquire".to_string(), rule), arrivals).batches
    }

    /// The same for one model, without events.
    fn naive(self, arrivals: &[u64]) -> Vec<Batch> {
        let Harness { max_batch, max_wait_ns, ahead, gpus, lanes } = self;
        // By device: the ends of its batches, when each lane is free, and the next lane.
        let mut devices = vec![(Vec::<u64>::new(), vec![0; usize::from(lanes)], 0); gpus];
        let (mut now, mut turn, mut rest, mut batches) = (0, 0, arrivals, Vec::new());
        while !rest.is_empty() {
            let has = |d: usize| devices[d].0.iter().filter(|end| **end > now).count();
            let in_turn = (0..gpus).map(|i| (turn + i) % gpus);
            let Some(gpu) = in_turn.into_iter().find(|d| has(*d) < ahead as usize) else {
                let ends = devices.iter().flat_map(|d| &d.0);
                now = *ends.filter(|end| **end > now).min().unwrap();
                continue;
            };
            turn = (gpu + 1) % gpus;
            loop {
                let full = rest.get(max_batch as usize - 1).map_or(u64::MAX, |at| now.max(*at));
                now = full.min(now + max_wait_ns);
                if rest[0] <= now {
                    break;
                }
                now = if max_wait_ns == 0 { rest[0] } else { now };
            }
            let size = rest.iter().take(max_batch as usize).filter(|at| **at <= now).count();
            let (ends, free, next) = &mut devices[gpu];
            let start = now.max(free[*next]);
            let end = start + 5_000 + 1_000 * size as u64;
            free[*next] = end;
            *next = (*next + 1) % usize::from(lanes);
            ends.push(end);
            let first = (arrivals.len() - rest.len()) as u64;
            let requests: Vec<u64> = (first..first + size as u64).collect();
            batches.push(done(gpu as u32, 0, start, end, &requests));
            rest = &rest[size..];
        }
        batches.sort();
        batches
    }
}

fn at_us(times: &[u64]) -> Vec<Arrival> {
    times.iter().map(|at| request(*at, 0, 1_000)).collect()
}

#[test]
fn a_window_begins_with_room_not_with_a_request() {
    // Windows are (0, 4], (4, 8]: the first two wait until 4, the third until 8.
    assert_eq!(
        ONE.play(at_us(&[1, 3, 7])),
        [done(0, 0, 4_000, 11_000, &[0, 1]), done(0, 0, 11_000, 17_000, &[2])],
    );
    // Nobody comes in (0, 4] and (4, 8]; 12 is the end of the third.
    assert_eq!(ONE.play(at_us(&[9])), [done(0, 0, 12_000, 18_000, &[0])]);
    assert_eq!(ONE.play(at_us(&[12])), [done(0, 0, 12_000, 18_000, &[0])], "its end is in it");
}

#[test]
fn a_batch_is_committed_to_a_busy_gpu_and_grows_no_more() {
    // 1 goes at 2 with 0 and 2, and the second batch of two is committed at 6, until the first ends at 10.
    // There is no room then: the third batcher begins at 10, and finds three.
    let at = [0, 1, 2, 3, 5, 7, 8, 9, 10];
    assert_eq!(
        ONE.play(at_us(&at)),
        [
            done(0, 0, 2_000, 10_000, &[0, 1, 2]),
            done(0, 0, 10_000, 17_000, &[3, 4]),
            done(0, 0, 17_000, 25_000, &[5, 6, 7]),
            done(0, 0, 25_000, 31_000, &[8]),
        ],
    );
}

#[test]
fn batches_take_turns_at_lanes_and_devices() {
    let harness = Harness { max_batch: 1, gpus: 2, lanes: 2, ahead: 4, ..ONE };
    let batches = harness.play(at_us(&[0, 0, 0, 0, 1]));
    let gpus: Vec<u32> = batches.iter().map(|b| b.gpu).collect();
    assert_eq!(gpus, [0, 1, 0, 1, 0]);
    let starts: Vec<_> = batches.iter().map(|b| b.start.unwrap()).collect();
    assert_eq!(starts, [0, 0, 0, 0, 6_000]);
}

#[test]
fn models_share_the_room_and_an_idle_batcher_holds_none() {
    // Model 1's batcher has nothing to do; with one place, model 0 goes on alone.
    let harness = Harness { ahead: 1, max_batch: 1, ..ONE };
    let mut arrivals = at_us(&[0, 0, 0]);
    arrivals.insert(0, request(0, 1, 1_000));
    let batches = harness.play(arrivals);
    assert_eq!(
        batches,
        [
            done(0, 1, 0, 12_000, &[0]),
            done(0, 0, 12_000, 18_000, &[1]),
            done(0, 0, 18_000, 24_000, &[2]),
            done(0, 0, 24_000, 30_000, &[3]),
        ],
    );
}

#[test]
fn an_event_loop_and_a_plain_loop_agree() {
    let mut draws = Stream::named(1, "acquire", 0);
    for case in 0..400 {
        let mut below = |n: u64| draws.below(n);
        let mut harness = Harness {
            max_batch: 1 + below(6) as u32,
            max_wait_ns: [0, 1_000, 4_000, 30_000][below(4) as usize],
            ahead: 1 + below(4) as u32,
            gpus: 1 + below(3) as usize,
            lanes: 1 + below(3) as u8,
        };
        // On one device, ties at whole microseconds; on several, results of one instant would come by id.
        let (gap, unit) = (1 + below(12_000), if harness.gpus == 1 { 1_000 } else { 1 });
        if harness.gpus > 1 && harness.max_wait_ns > 0 {
            harness.max_wait_ns += 7;
        }
        let mut now = 0;
        let mut arrivals = Vec::new();
        for _ in 0..200 {
            now += below(gap) / unit * unit;
            arrivals.push(now);
        }
        let asked = |at: &u64| Arrival { at: Time::from_ns(*at), ..request(0, 0, 1_000) };
        let mut ours = harness.play(arrivals.iter().map(asked).collect());
        ours.sort();
        assert_eq!(ours, harness.naive(&arrivals), "case {case}: {harness:?}");
    }
}
