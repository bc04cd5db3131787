//! Laws of the world, and a naive one beside it.

mod naive;

use super::audit::Auditor;
use super::law::{Attention, Curve, StepLaw};
use super::log::{Terms, read_log};
use super::metrics::{Life, Metrics, Total};
use super::policy::continuous::{Config, Giving, Order};
use super::policy::{ALL, Configured};
use super::record::{Record, TokenObserver};
use super::request::{Machine, Slo, TokenRequest};
use super::world::{simulate, stream};
use crate::policy::parameters::Settings;
use crate::rng::Stream;
use crate::time::{Span, Time};

struct Dice(Stream);

impl Dice {
    fn of(case: u64) -> Dice {
        Dice(Stream::named(case, "tokens test", 0))
    }

    fn from(&mut self, least: u64, most: u64) -> u64 {
        least + self.0.below(most - least + 1)
    }

    fn small(&mut self, most: u64) -> u32 {
        self.from(1, most) as u32
    }
}

/// A law whose times are whole nanoseconds, times `k`, whatever a step has.
fn law(k: i64) -> StepLaw {
    let curve = |points: [(u32, u64); 3]| {
        let times = points.into_iter().map(|(x, y)| (x, y * 1_000 * k as u64));
        Curve::new(times.collect()).unwrap()
    };
    let all = |c: i64| c * 2_000 * k;
    StepLaw {
        dense: curve([(1, 4_000), (9, 4_800), (41, 14_400)]),
        head: curve([(1, 500), (3, 700), (7, 1_500)]),
        attention: Attention {
            floor: all(450),
            decode: [all(100), all(40), all(3)],
            prompt: [all(120), all(11), all(1)],
            mixed: [all(90), all(45), all(4), all(13), all(1)],
        },
        all_reduce: [all(10), all(2)],
    }
}

fn machine(blocks: u32, block_tokens: u32) -> Machine {
    Machine { law: law(1), blocks, block_tokens }
}

fn request(at_us: u64, tokens_in: u32, tokens_out: u32, slo_us: (u64, u64)) -> TokenRequest {
    let slo = Slo { first: Span::from_us(slo_us.0), each: Span::from_us(slo_us.1) };
    TokenRequest { at: Time::ZERO + Span::from_us(at_us), tokens_in, tokens_out, slo }
}

fn drawn(dice: &mut Dice, count: u64, machine: &Machine) -> Vec<TokenRequest> {
    let gap = dice.from(1, 150);
    let most = u64::from(machine.blocks * machine.block_tokens);
    let mut at = 0;
    let one = |_| {
        at += dice.from(0, gap);
        let tokens_in = dice.small((most - 1).min(60));
        let tokens_out = dice.small((most + 1 - u64::from(tokens_in)).min(25));
        request(at, tokens_in, tokens_out, (dice.from(5, 600), dice.from(3, 60)))
    };
    (0..count).map(one).collect()
}

fn config(dice: &mut Dice) -> Config {
    Config {
        order: [Order::Fcfs, Order::Edf, Order::Orloj][dice.from(0, 2) as usize],
        drop: [Giving::None, Giving::Expired, Giving::Infeasible][dice.from(0, 2) as usize],
        budget: dice.small(50),
        sequences: dice.small(8),
    }
}

/// Runs, audits, and gives the metrics and the records.
fn run(machine: &Machine, requests: &[TokenRequest], config: Config) -> (Metrics, Records) {
    let auditor = Auditor::new(Terms { policy: config.name(), machine: machine.clone() });
    let observer = (Metrics::default(), (auditor, Vec::new()));
    let (metrics, (auditor, records)) =
        simulate(machine, requests, config.build(), observer).observer;
    let report = auditor.finish();
    assert!(report.is_clean(), "{}: {report}", config.name());
    (metrics, records)
}

type Records = Vec<(Time, Record)>;

fn total(machine: &Machine, requests: &[TokenRequest], config: Config) -> Total {
    run(machine, requests, config).0.total()
}

/// By request: its first and last token, and whether it was dropped.
type Fates = Vec<(Option<u64>, Option<u64>, bool)>;

fn fates(metrics: &Metrics) -> Fates {
    let ns = |t: Option<Time>| t.map(Time::ns);
    metrics.lives().iter().map(|l| (ns(l.first), ns(l.last), l.dropped)).collect()
}

#[test]
fn a_naive_world_agrees_in_random_cases() {
    for case in 0..400 {
        let mut dice = Dice::of(case);
        let block_tokens = dice.small(5);
        let machine = machine(dice.small(40) + 3, block_tokens);
        let count = dice.from(1, 30);
        let requests = drawn(&mut dice, count, &machine);
        let config = config(&mut dice);
        let (metrics, _) = run(&machine, &requests, config);
        let plain = naive::run(&machine, &requests, config);
        assert_eq!(fates(&metrics), plain.fates, "case {case}: {}", config.name());
        let total = metrics.total();
        assert_eq!((total.steps, total.evictions), (plain.steps, plain.evictions), "case {case}");
    }
}

/// More requests, so that the law of lengths is learnt and learnt again.
#[test]
fn a_naive_world_agrees_when_lengths_are_learnt() {
    let mut differs = 0;
    for case in 0..30 {
        let mut dice = Dice::of(7_000 + case);
        let machine = machine(30, 4);
        let requests = drawn(&mut dice, 300, &machine);
        let config = Config { order: Order::Orloj, ..config(&mut dice) };
        let (metrics, _) = run(&machine, &requests, config);
        let plain = naive::run(&machine, &requests, config);
        assert_eq!(fates(&metrics), plain.fates, "case {case}: {}", config.name());
        let edf = run(&machine, &requests, Config { order: Order::Edf, ..config }).0;
        differs += u32::from(fates(&metrics) != fates(&edf));
    }
    assert!(differs > 20, "{differs} of 30 are not as edf's");
}

#[test]
fn a_request_alone_takes_the_sum_of_its_steps() {
    let machine = machine(100, 4);
    let config = Config { budget: 16, ..Config::default() };
    let (metrics, _) = run(&machine, &[request(7, 37, 6, (1_000, 100))], config);
    let law = &machine.law;
    let first = law.prompt_alone(37, 16);
    let decode = |before: u32| {
        let mut sums = crate::tokens::law::Sums::default();
        sums.add(1, before, 37);
        law.time(&sums)
    };
    let rest: Span = (37..42).map(decode).sum();
    let life = metrics.lives()[0];
    assert_eq!((life.ttft(), life.latency()), (Some(first), Some(first + rest)));
    assert_eq!(life.tpot(), Some(Span::from_ns(rest.ns() / 5)));
    assert_eq!(metrics.total().steps, 3 + 5);
}

/// An answer of one token has no time for each further one: it is no zero in the mean, and within any SLO.
#[test]
fn an_answer_of_one_token_has_no_time_for_each_further_one() {
    let machine = machine(100, 4);
    let requests = [request(0, 37, 6, (1_000, 100)), request(1_000_000, 37, 1, (1_000, 0))];
    let (metrics, _) = run(&machine, &requests, Config::default());
    let [long, short] = metrics.lives() else { panic!("two requests") };
    assert_eq!((short.tpot(), short.is_in_time()), (None, true));
    let each = metrics.times(super::metrics::Life::tpot);
    assert_eq!((each.count(), Some(each.mean())), (1, long.tpot()));
}

#[test]
fn without_a_limit_of_blocks_nobody_is_evicted_and_each_token_is_computed_once() {
    for case in 0..50 {
        let mut dice = Dice::of(1_000 + case);
        let machine = machine(100_000, 4);
        let requests = drawn(&mut dice, 40, &machine);
        let config = Config { drop: Giving::None, ..config(&mut dice) };
        let total = total(&machine, &requests, config);
        let wants = |r: &TokenRequest| u64::from(r.tokens_in + r.tokens_out - 1);
        assert_eq!((total.evictions, total.dropped), (0, 0));
        assert_eq!(total.computed, requests.iter().map(wants).sum::<u64>());
        assert_eq!(total.out, requests.iter().map(|r| u64::from(r.tokens_out)).sum::<u64>());
    }
}

#[test]
fn when_all_times_double_all_results_do() {
    for case in 0..50 {
        let mut dice = Dice::of(2_000 + case);
        let machine = machine(30, 4);
        let requests = drawn(&mut dice, 30, &machine);
        let config = config(&mut dice);
        let twice = |r: &TokenRequest| TokenRequest {
            at: Time::from_ns(2 * r.at.ns()),
            slo: Slo { first: r.slo.first * 2, each: r.slo.each * 2 },
            ..*r
        };
        let slow = Machine { law: law(2), ..machine.clone() };
        let slow_requests: Vec<TokenRequest> = requests.iter().map(twice).collect();
        let doubled = |(first, last, dropped): (Option<u64>, Option<u64>, bool)| {
            (first.map(|t| 2 * t), last.map(|t| 2 * t), dropped)
        };
        // Where an instant decides, such as the nanosecond after a deadline, the scales differ.
        let drops = config.drop != Giving::None;
        let (a, b) = (run(&machine, &requests, config).0, run(&slow, &slow_requests, config).0);
        let expected: Fates = fates(&a).into_iter().map(doubled).collect();
        assert!(drops || expected == fates(&b), "case {case}: {}", config.name());
        assert_eq!(a.total().finish_rate, b.total().finish_rate, "case {case}");
    }
}

#[test]
fn equal_requests_may_be_exchanged() {
    let machine = machine(20, 4);
    let one = request(0, 13, 9, (300, 20));
    let other = request(0, 5, 20, (300, 20));
    let all = [one, one, one, other, other];
    let config = Config { budget: 16, sequences: 4, ..Config::default() };
    let mut exchanged = all;
    exchanged.swap(0, 2);
    exchanged.swap(3, 4);
    assert_eq!(fates(&run(&machine, &all, config).0), fates(&run(&machine, &exchanged, config).0));
}

#[test]
fn who_is_dropped_as_infeasible_could_not_have_been_in_time() {
    let mut dropped = 0;
    for case in 0..100 {
        let mut dice = Dice::of(3_000 + case);
        let machine = machine(30, 4);
        let requests = drawn(&mut dice, 40, &machine);
        let config = Config { drop: Giving::Infeasible, ..config(&mut dice) };
        let (_, records) = run(&machine, &requests, config);
        for (now, record) in &records {
            let Record::Drop { request } = record else { continue };
            let what = &requests[request.0 as usize];
            let alone = machine.law.prompt_alone(what.tokens_in, config.budget);
            assert!(*now + alone > what.first_by(), "case {case}: {request} at {now}");
            dropped += 1;
        }
    }
    assert!(dropped > 500, "{dropped}");
}

/// Stops at the first record of a time or later.
struct Until(Time, Records);

impl TokenObserver for Until {
    fn record(&mut self, now: Time, record: &Record) {
        self.1.push((now, record.clone()));
    }

    fn stop(&self) -> bool {
        self.1.last().is_some_and(|r| r.0 >= self.0)
    }
}

#[test]
fn requests_that_are_made_as_they_come_run_as_their_list_and_may_go_on_without_end() {
    for case in 0..50 {
        let mut dice = Dice::of(8_000 + case);
        let machine = machine(30, 4);
        let requests = drawn(&mut dice, 40, &machine);
        let config = config(&mut dice);
        let records = run(&machine, &requests, config).1;
        let source = &mut requests.iter().copied();
        let streamed = stream(&machine, source, config.build(), Vec::new());
        assert!(streamed.observer == records, "case {case}: {}", config.name());
        // The same list over and over, each time later: of an endless run the beginning is the list's own.
        let last = requests.last().unwrap().at;
        let after = |k: u64| Span::from_us(k * 1_000_000) + last.since(Time::ZERO) * k;
        let later = |k| requests.iter().map(move |r| TokenRequest { at: r.at + after(k), ..*r });
        let until = Until(last, Vec::new());
        let seen = stream(&machine, &mut (0..).flat_map(later), config.build(), until).observer;
        let before = |r: &&(Time, Record)| r.0 < last;
        let beginning = |r: &Records| r.iter().take_while(before).cloned().collect::<Records>();
        assert!(beginning(&seen.1) == beginning(&records), "case {case}: {}", config.name());
    }
}

#[test]
fn an_answer_in_time_ends_until_its_last_instant_and_none_later_is_in_time() {
    for case in 0..200 {
        let mut dice = Dice::of(9_000 + case);
        let slo = (dice.from(1, 500), dice.from(1, 90));
        let what = request(dice.from(0, 100), 7, dice.small(30), slo);
        let ends = |last: Time| {
            let first = Some(what.first_by());
            Life { what, first, last: Some(last), dropped: false }.is_in_time()
        };
        let nanosecond = Span::from_ns(1);
        assert!(ends(what.last_by()), "case {case}: {what:?}");
        assert!(
            what.tokens_out == 1 || !ends(what.last_by() + nanosecond),
            "case {case}: {what:?}"
        );
    }
    assert_eq!(TokenRequest { tokens_out: 3, ..TokenRequest::default() }.last_by(), Time::NEVER);
    let (tokens_out, slo) =
        (1 << 24, Slo { first: Span::from_ms(1), each: Span::from_secs(86_400) });
    let long = TokenRequest { tokens_out, slo, ..TokenRequest::default() };
    assert!(long.last_by() < Time::NEVER, "who wants its first token soon may be late");
}

#[test]
fn with_one_slo_for_all_edf_is_fcfs() {
    for case in 0..30 {
        let mut dice = Dice::of(4_000 + case);
        let machine = machine(30, 4);
        let mut requests = drawn(&mut dice, 30, &machine);
        requests.iter_mut().for_each(|r| r.slo.first = Span::from_us(200));
        let fcfs = Config { order: Order::Fcfs, ..config(&mut dice) };
        let edf = Config { order: Order::Edf, ..fcfs };
        let (a, b) = (run(&machine, &requests, fcfs), run(&machine, &requests, edf));
        assert_eq!(a.1, b.1, "case {case}");
    }
}

#[test]
fn how_long_an_answer_is_changes_nothing_before_its_end() {
    let machine = machine(30, 4);
    let mut dice = Dice::of(5_000);
    let requests = drawn(&mut dice, 30, &machine);
    for config in [
        Config::default(),
        Config { order: Order::Edf, drop: Giving::Infeasible, budget: 20, sequences: 5 },
    ] {
        let longest = requests.iter().enumerate().max_by_key(|r| r.1.tokens_out).unwrap().0;
        let mut shorter = requests.clone();
        shorter[longest].tokens_out -= 1;
        let (a, b) = (run(&machine, &requests, config).1, run(&machine, &shorter, config).1);
        let is_end = |r: &(Time, Record)| matches!(r.1, Record::Done { request } if request.0 as usize == longest);
        let end = b.iter().position(is_end).expect("it was answered");
        let without_truth = |r: &(Time, Record)| !matches!(r.1, Record::Arrive { request, .. } if request.0 as usize == longest);
        let seen = |r: &Records| {
            r[..end].iter().filter(|r| without_truth(r)).cloned().collect::<Records>()
        };
        assert_eq!(seen(&a), seen(&b));
    }
}

#[test]
fn a_damaged_line_is_named_with_what_is_allowed() {
    let error = |text: &str| read_log(text.as_bytes(), "a.log").unwrap_err().to_string();
    let of = |line: &str| error(&format!("{}\n{line}\n", super::log::HEADER));
    assert!(error("").contains("line 1") && error("orrery-log,4\n").contains("orrery-tokens-log"));
    assert!(of("dance,1,2").starts_with("a.log, line 2: the kind of record is \"dance\""));
    assert!(of("step,1,2,3:").contains("REQUEST:TOKENS"));
    assert!(of("arrive,1,0,0,3,,").contains("1 or more"));
    assert!(of("blocks,3,0").contains("1 or more"));
    assert!(of("dense,3,1\ndense,3,2").contains("more than in the line before"));
    assert!(of("attention,1,2,3").contains("the line ends before it"));
    assert!(of("done,1,2,3").contains("allowed is nothing"));
}

#[test]
fn the_registry_s_names_round_trip() {
    for policy in ALL {
        let config = policy.parse(&[("order", "edf"), ("budget", "512")]).unwrap();
        assert_eq!(config.name(), "continuous[order=edf,drop=none,budget=512,sequences=128]");
        assert_eq!(config.build().name(), config.name());
    }
}
