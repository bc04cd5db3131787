//! Laws that any queue must obey, on the simulator alone: closed forms within four sigma, and
//! equalities to the nanosecond.
//!
//! A closed form is compared with ten million requests (200 thousand in a debug build). Sigma is the
//! error of a mean over *correlated* requests, from the means of 64 blocks of the run; that of
//! independent requests would be many times too small. The unit of time is the mean service time,
//! 1 ms. Seeds are fixed, so a law that holds once holds always.
//!
//! What each law has to say is printed by `cargo test --release -p orrery-sim --test laws --
//! --nocapture`.

#[path = "laws/exact.rs"]
mod exact;
#[path = "laws/harness.rs"]
mod harness;
#[path = "laws/metamorphic.rs"]
mod metamorphic;
#[path = "laws/windows.rs"]
mod windows;

use harness::*;
use libm::{exp, pow};
use orrery_sim::cluster::Sharing;
use orrery_sim::driver::World;
use orrery_sim::latency::Latency;
use orrery_sim::metrics::Metrics;
use orrery_sim::policy::fifo::{Config, Fifo};
use orrery_sim::request::{Drop, End};
use orrery_sim::time::Span;

const REFUSED: End = End::Dropped(Drop::Shed);
const GAVE_UP: End = End::Dropped(Drop::Expired);

#[test]
fn mm1_wait_sojourn_and_number_in_system() {
    let rho = 0.7;
    let figures = PerRequest::new(|r| {
        let wait = r.wait_ms.unwrap();
        [wait, r.sojourn_ms, share(wait > 0.0), share(wait > 3.0), share(r.sojourn_ms > 3.0)]
    });
    let source = Renewal::poisson("M/M/1", rho, Law::Exponential);
    let (figures, number) = run(&servers(1), source, fifo(), (figures, InSystem::new(rho)));
    let [wait, sojourn, waits, waits_3, stays_3] = figures.estimates();
    let number = number.estimate();

    wait.agrees_with(rho / (1.0 - rho), "M/M/1 mean wait");
    sojourn.agrees_with(1.0 / (1.0 - rho), "M/M/1 mean sojourn");
    waits.agrees_with(rho, "M/M/1 P(W > 0)");
    waits_3.agrees_with(rho * exp(-3.0 * (1.0 - rho)), "M/M/1 P(W > 3)");
    stays_3.agrees_with(exp(-3.0 * (1.0 - rho)), "M/M/1 P(T > 3)");
    number.agrees_with(rho / (1.0 - rho), "M/M/1 mean number in system");

    // The errors themselves have closed forms: Daley (1968) for waits, Whitt (1989) for numbers.
    let n = REQUESTS as f64;
    let idle_4 = pow(1.0 - rho, 4.0);
    let daley = rho * (2.0 + 5.0 * rho - 4.0 * rho * rho + rho * rho * rho) / idle_4;
    let whitt = 2.0 * rho * (1.0 + rho) / idle_4;
    for (estimate, law, what) in [
        (wait, (daley / n).sqrt(), "M/M/1 mean wait, sigma of the law"),
        (number, (whitt * rho / n).sqrt(), "M/M/1 mean number, sigma of the law"),
    ] {
        let ratio = estimate.sigma / law;
        assert!((0.6..1.6).contains(&ratio), "{what}: blocks say {ratio} of it");
        Estimate { sigma: law, ..estimate }.agrees_with(rho / (1.0 - rho), what);
    }
}

/// Pollaczek and Khinchine: the mean wait depends on the first two moments of the service alone.
fn pollaczek_khinchine(
    world: &World,
    alone: Law,
    rho: f64,
    second_moment: f64,
    what: &'static str,
) {
    let figures = PerRequest::new(|r| [r.wait_ms.unwrap(), share(r.waited_longer_than(0.0))]);
    let figures = run(world, Renewal::poisson(what, rho, alone), fifo(), figures);
    let [wait, waits] = figures.estimates();
    wait.agrees_with(rho * second_moment / (2.0 * (1.0 - rho)), &format!("{what} mean wait"));
    waits.agrees_with(rho, &format!("{what} P(W > 0)"));
}

#[test]
fn md1_mean_wait_is_half_of_mm1s() {
    let affine = Latency::Affine { alpha: Span::from_us(400), beta: Span::from_us(600) };
    // The truth about requests does not matter to a device whose batches cost the same.
    pollaczek_khinchine(&World::single(affine), Law::Hyperexponential, 0.8, 1.0, "M/D/1");
}

#[test]
fn mg1_mean_wait_follows_the_second_moment_of_the_service() {
    let of = |law: Law, rho, what| {
        pollaczek_khinchine(&servers(1), law, rho, law.second_moment(), what);
    };
    of(Law::Hyperexponential, 0.5, "M/H2/1");
    of(Law::Lognormal(0.8), 0.6, "M/LN/1");
    of(Law::Gamma(2.5), 0.7, "M/Gamma/1");
}

#[test]
fn mg1_with_a_constant_and_an_exponential_part() {
    // Orloj's Eq. 3: 0.4 ms + 0.6 ms · Exp; its variance is 0.36.
    let eq3 = World::single(Latency::Eq3 { c0: Span::from_us(400), c1: 0.6 });
    pollaczek_khinchine(&eq3, Law::Exponential, 0.7, 1.36, "M/(D+M)/1");
}

#[test]
fn mmc_waits_as_erlang_c_says() {
    let (c, load) = (4, 3.0);
    let figures = PerRequest::new(|r| [share(r.waited_longer_than(0.0)), r.wait_ms.unwrap()]);
    let source = Renewal::poisson("M/M/4", load, Law::Exponential);
    let observer = (figures, InSystem::new(load));
    let (figures, number) = run(&servers(c as usize), source, fifo(), observer);
    let [waits, wait] = figures.estimates();
    let law = erlang_c(c, load);
    let mean = law / (f64::from(c) - load);
    waits.agrees_with(law, "M/M/4 P(W > 0), Erlang C");
    wait.agrees_with(mean, "M/M/4 mean wait");
    number.estimate().agrees_with(load * (mean + 1.0), "M/M/4 mean number in system");
}

#[test]
fn erlang_b_does_not_depend_on_the_service_law() {
    let (c, load) = (5, 4.0);
    let laws = [
        ("M/M/5/5", Law::Exponential),
        ("M/D/5/5", Law::Constant),
        ("M/H2/5/5", Law::Hyperexponential),
    ];
    for (what, law) in laws {
        let figures = PerRequest::new(|r| [share(r.end == End::InTime)]);
        let observer = (figures, Metrics::default());
        let source = Renewal::poisson(what, load, law);
        let (figures, metrics) = run(&servers(c as usize), source, Loss::default(), observer);
        let [finish_rate] = figures.estimates();
        finish_rate.agrees_with(1.0 - erlang_b(c, load), &format!("{what} finish rate"));

        let total = metrics.total();
        assert!((total.finish_rate() - finish_rate.mean).abs() < 1e-12);
        assert_eq!(total.ended(End::InTime) + total.ended(REFUSED), REQUESTS);
        assert_eq!(total.queueing.sum_ns(), 0, "who is served is served at once");
    }
}

/// Batches of one that share a device: with more lanes than there ever are batches (a 65th comes once in 10^10
/// requests at a load of 0.7), M/G/1 by processor sharing.
fn shared_device() -> World {
    let mut world = servers(1);
    let device = &mut world.core.devices[0];
    (device.lanes, device.sharing) = (64, Sharing::Processor);
    world
}

#[test]
fn processor_sharing_does_not_depend_on_the_service_law() {
    let load = 0.7;
    let laws = [
        ("M/M/1-PS", Law::Exponential),
        ("M/D/1-PS", Law::Constant),
        ("M/H2/1-PS", Law::Hyperexponential),
    ];
    for (what, law) in laws {
        let figures = PerRequest::new(|r| [r.sojourn_ms]);
        let observer = (figures, InSystem::new(load));
        let source = Renewal::poisson(what, load, law);
        let (figures, number) = run(&shared_device(), source, fifo(), observer);
        let [sojourn] = figures.estimates();
        sojourn.agrees_with(1.0 / (1.0 - load), &format!("{what} mean sojourn"));
        number.estimate().agrees_with(load / (1.0 - load), &format!("{what} mean number"));
    }
}

#[test]
fn a_shared_device_is_busy_for_the_work_that_it_does() {
    let source = || Renewal::poisson("PS utilisation", 0.6, Law::Exponential);
    let busy = |world: &World| {
        let metrics = run(world, source(), fifo(), Metrics::default());
        (metrics.devices()[0].busy, metrics.end())
    };
    let (alone, shared) = (busy(&servers(1)), busy(&shared_device()));
    // Each of the batches may be rounded up to a nanosecond.
    let off = alone.0.ns().abs_diff(shared.0.ns());
    assert!(off <= REQUESTS, "{alone:?} {shared:?}");
}

/// M/M/1+M as a birth–death chain: (P(give up), P(W > 0 or gave up), mean number in system).
fn impatient_chain(load: f64, gives_up_per_ms: f64) -> (f64, f64, f64) {
    let (mut p, mut mass, mut number, mut waiting) = (1.0, 1.0, 0.0, 0.0);
    for n in 1..1_000 {
        p *= load / (1.0 + f64::from(n - 1) * gives_up_per_ms);
        mass += p;
        number += f64::from(n) * p;
        waiting += f64::from(n - 1) * p;
    }
    (gives_up_per_ms * waiting / mass / load, 1.0 - 1.0 / mass, number / mass)
}

#[test]
fn mm1_with_exponential_patience_loses_as_the_birth_death_chain() {
    let (load, patience_ms) = (1.1, 4.0);
    let figures = PerRequest::new(|r| {
        let gave_up = r.end == GAVE_UP;
        [share(gave_up), share(gave_up || r.waited_longer_than(0.0))]
    });
    let source = Renewal::poisson("M/M/1+M", load, Law::Exponential)
        .with_patience(Law::Exponential, patience_ms);
    let observer = (figures, InSystem::new(load));
    let (figures, number) = run(&servers(1), source, Impatient::default(), observer);
    let [gave_up, finds_it_busy] = figures.estimates();
    let (law_gave_up, law_busy, law_number) = impatient_chain(load, 1.0 / patience_ms);
    gave_up.agrees_with(law_gave_up, "M/M/1+M P(give up)");
    finds_it_busy.agrees_with(law_busy, "M/M/1+M P(wait)");
    number.estimate().agrees_with(law_number, "M/M/1+M mean number in system");
}

/// M/M/1+D by level crossings of the work that is ahead: (P(give up), P(in time)).
///
/// The work ahead of an arrival is 0 with probability p0 and has the density `l p0 e^-(1-l)x` below
/// the patience d; above it, nobody joins, and the density falls as `e^-x`.
fn fixed_patience(load: f64, d: f64) -> (f64, f64) {
    let slack = 1.0 - load;
    let below = load * (1.0 - exp(-slack * d)) / slack;
    let above = load * exp(-slack * d);
    let p0 = 1.0 / (1.0 + below + above);
    let served_late = exp(-d) * (exp(load * d) - 1.0);
    (p0 * above, p0 * (1.0 - exp(-d) + below - served_late))
}

#[test]
fn mm1_with_fixed_patience_finishes_as_the_level_crossings_say() {
    let (load, slo_ms) = (1.2, 3.0);
    let fifo = Fifo::new(Config { max_batch: 1, drop_expired: true });
    let figures = PerRequest::new(|r| [share(r.end == GAVE_UP), share(r.end == End::InTime)]);
    let source =
        Renewal::poisson("M/M/1+D", load, Law::Exponential).with_patience(Law::Constant, slo_ms);
    let (figures, metrics) = run(&servers(1), source, fifo, (figures, Metrics::default()));
    let [gave_up, in_time] = figures.estimates();
    let (law_gave_up, law_in_time) = fixed_patience(load, slo_ms);
    gave_up.agrees_with(law_gave_up, "M/M/1+D P(give up)");
    in_time.agrees_with(law_in_time, "M/M/1+D finish rate");
    assert!((metrics.total().finish_rate() - in_time.mean).abs() < 1e-12);
}
