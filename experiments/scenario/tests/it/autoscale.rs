//! `[autoscale]` through a scenario: devices come and go, and no request is lost by it.

use super::base::NAME;
use orrery_run::PolicySpec;
use orrery_run::policies;
use orrery_scenario::Scenario;
use orrery_sim::audit::audit;
use orrery_sim::cluster::Change;
use orrery_sim::log::{Closed, MemoryLog, Record};
use orrery_sim::policy::Refusal;
use orrery_sim::request::{Drop, End};
use orrery_sim::time::{Span, Time};

/// Two models whose load jumps between six devices' and one's.
fn text(autoscale: &str) -> String {
    format!(
        r#"
policies = ["fifo"]

[[model]]
name = "a"
slo_ms = 100.0
latency = {{ affine = {{ alpha_ms = 1.0, beta_ms = 4.0 }} }}

[[model]]
name = "b"
slo_ms = 60.0
latency = {{ affine = {{ alpha_ms = 2.0, beta_ms = 3.0 }} }}

[[app]]
name = "a"
model = "a"
time = {{ constant = {{ ms = 5.0 }} }}

[[app]]
name = "b"
model = "b"
time = {{ constant = {{ ms = 5.0 }} }}

[[device]]
count = 3
can_preempt = true

[arrivals]
mmpp = {{ rates_per_s = [2500.0, 100.0], mean_sojourns_s = [2.0, 2.0] }}
duration_s = 16.0

[delays]
dispatch_ms = 0.7
result_ms = 0.4
reply_ms = 0.2

[autoscale]
{autoscale}
"#
    )
}

fn records(text: &str, policy: &str) -> Vec<Record> {
    let scenario = Scenario::from_text(NAME, text).unwrap_or_else(|e| panic!("{e}"));
    let policy = PolicySpec::parse(policy).unwrap();
    let setup = scenario.setup(1).unwrap();
    let run = setup.run_with(&policy, 1, MemoryLog::default()).unwrap();
    run.observer.1.records
}

/// The instants at which devices come, and the numbers that there are after each change.
fn devices(records: &[Record]) -> (Vec<Time>, Vec<i64>) {
    let (mut came, mut numbers, mut n) = (Vec::new(), Vec::new(), 0);
    for record in records {
        let Record::Device { time, change, .. } = *record else { continue };
        match change {
            Change::Up => n += 1,
            Change::Draining => {}
            Change::Down => n -= 1,
        }
        if time > Time::ZERO {
            numbers.push(n);
            if change == Change::Up {
                came.push(time);
            }
        }
    }
    (came, numbers)
}

#[test]
fn devices_come_after_their_start_up_and_stay_within_the_bounds() {
    let text = text("every_s = 0.25\nstartup_s = 0.3\nleast = 2\nmost = 5\n");
    let records = records(&text, "fifo");
    let (came, numbers) = devices(&records);
    assert!(numbers.contains(&5) && numbers.contains(&2), "{numbers:?}");
    assert!(numbers.iter().all(|n| (2..=5).contains(n)), "{numbers:?}");
    for time in came {
        let asked = time.since(Time::ZERO + Span::from_ms(300));
        assert_eq!(asked.ns() % 250_000_000, 0, "asked for at a look: {time}");
    }
}

#[test]
fn no_policy_sends_work_to_a_device_that_goes_and_no_request_is_lost_by_it() {
    let text = text("every_s = 0.1\nstartup_s = 0.05\nleast = 1\nmost = 8\n");
    let presets = [
        "symphony[preset=paper]",
        "clockwork[preset=paper]",
        "nexus-cluster[plan=static]",
        "shepherd[expired_head_bug=false]",
        "shepherd[preset=paper]",
    ];
    for policy in policies::all().map(|t| t.about.name).chain(presets) {
        let records = records(&text, policy);
        let gone = |r: &&Record| matches!(r, Record::Device { change: Change::Down, .. });
        let gone = records.iter().filter(gone).count();
        assert!(gone >= 3, "{policy}: {gone} went");
        for record in &records {
            let lost = match record {
                // Clockwork's devices refuse what comes after its window: that is not the drain's doing.
                Record::End { end, .. } => {
                    // As released, Shepherd keeps what waits behind an expired request.
                    (*end == End::Pending && policy != "shepherd")
                        || (*end == End::Dropped(Drop::Refused) && !policy.contains("clockwork"))
                }
                Record::Close { outcome, .. } => *outcome == Closed::Rejected(Refusal::DeviceDown),
                _ => false,
            };
            assert!(!lost, "{policy}: {record}");
        }
        let report = audit(records);
        assert!(report.is_clean(), "{policy}: {report}");
    }
}
