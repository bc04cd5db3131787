//! Applications that change during a run: who sends what, what policies are told, and what is refused.

use super::base::{NAME, line, refused};
use orrery_run::PolicySpec;
use orrery_scenario::Scenario;
use orrery_sim::log::{MemoryLog, Record};
use orrery_sim::time::{Span, Time};

/// Nine requests of 1 ms to one of 10 ms.
fn text(changes: &str, arrivals: &str, more: &str) -> String {
    format!(
        "policies = [\"fifo\"]\n\
         [[model]]\nname = \"m\"\nslo_ms = 500.0\nlatency = {{ proportional = {{ c1 = 0.1 }} }}\n\
         [[app]]\nname = \"short\"\nmodel = \"m\"\nweight = 9.0\ntime = {{ constant = {{ ms = 1.0 }} }}\n\
         [[app]]\nname = \"long\"\nmodel = \"m\"\ntime = {{ constant = {{ ms = 10.0 }} }}\n{changes}\n\
         [arrivals]\n{arrivals}\n{more}"
    )
}

const POISSON: &str = "poisson = { rate_per_s = 200.0 }\nduration_s = 60.0";
const CHANGES: &str =
    "changes = [{ at_s = 20.0, weight_factor = 9.0 }, { at_s = 40.0, time_factor = 1.5 }]";

#[test]
fn an_application_changes_when_its_changes_say_and_keeps_what_they_do_not() {
    let text = text(CHANGES, POISSON, "");
    let setup =
        Scenario::from_text(NAME, &text).unwrap_or_else(|e| panic!("{e}")).setup(1).unwrap();
    let mut of_long = [(0, 0); 3];
    for mut source in setup.sources(1).unwrap() {
        while let Some(a) = source.pop() {
            let part = (a.at.ns() / 20_000_000_000) as usize;
            of_long[part].0 += 1;
            if a.app.0 == 1 {
                of_long[part].1 += 1;
                let ms = if part == 2 { 15 } else { 10 };
                assert_eq!(a.alone, Span::from_ms(ms), "at {}", a.at);
            }
        }
    }
    for ((all, long), share) in of_long.into_iter().zip([0.1, 0.5, 0.5]) {
        let found = f64::from(long) / f64::from(all);
        assert!((found - share).abs() < 0.03, "{found} of {share}");
    }
}

#[test]
fn policies_are_told_the_applications_of_the_profile_s_time() {
    let told = |at_s: &str| {
        let text = text(CHANGES, POISSON, at_s);
        let setup =
            Scenario::from_text(NAME, &text).unwrap_or_else(|e| panic!("{e}")).setup(1).unwrap();
        let apps = setup.profiles(1).remove(0).apps;
        let total: f64 = apps.iter().map(|a| a.weight).sum();
        (apps[1].weight / total, (apps[1].law.mean_ns() / 1e6).round())
    };
    let near = |(share, ms): (f64, f64), of: f64| ((share - of).abs() < 0.02, ms);
    assert_eq!(near(told(""), 0.1), (true, 10.0), "as they are at the start");
    assert_eq!(near(told("[profile]\nat_s = 20.0"), 0.5), (true, 10.0));
    assert_eq!(near(told("[profile]\nat_s = 1000.0"), 0.5), (true, 15.0));
}

/// The relearning of Orloj finds out what nobody has told it.
#[test]
fn what_changes_is_in_the_log_and_the_run_ends() {
    let text = text(CHANGES, POISSON, "[profiler]\nevery = 1\n");
    let setup =
        Scenario::from_text(NAME, &text).unwrap_or_else(|e| panic!("{e}")).setup(1).unwrap();
    let policy = PolicySpec::parse("orloj[relearn_every=100,memory=reset]").unwrap();
    let records = setup.run_with(&policy, 1, MemoryLog::default()).unwrap().observer.1.records;
    let late = |r: &&Record| matches!(r, Record::Arrive { request, .. } if request.app.0 == 1 && request.arrival > Time::ZERO + Span::from_secs(20));
    assert!(records.iter().filter(late).count() > 3_000);
}

#[test]
fn changes_that_mean_nothing_are_refused_with_the_remedy() {
    let wrong = |changes: &str, words: &[&str]| {
        let text = text(changes, POISSON, "");
        refused(&text, line(&text, "changes"), words);
    };
    let one = |inner: &str| format!("changes = [{{ {inner} }}]");
    wrong(&one("at_s = 10.0"), &["app[1].changes[0]", "nothing that changes", "add one"]);
    wrong(&one("at_s = 0.0, time_factor = 2.0"), &["changes[0].at_s", "more than 0"]);
    wrong(&one("at_s = -1.0, time_factor = 2.0"), &["changes[0].at_s"]);
    wrong(
        &one("at_s = 60.0, time_factor = 2.0"),
        &["changes[0].at_s", "less than 60", "duration_s"],
    );
    wrong(&one("at_s = 1.0, time_factor = 0.0"), &["changes[0].time_factor", "0.001"]);
    wrong(&one("at_s = 1.0, weight_factor = nan"), &["changes[0].weight_factor"]);
    wrong(&one("at_s = 1.0, weigth_factor = 2.0"), &["weigth_factor", "weight_factor"]);
    let twice = "changes = [{ at_s = 2.0, time_factor = 2.0 }, { at_s = 2.0, time_factor = 3.0 }]";
    wrong(twice, &["changes[1].at_s", "more than 2", "sort"]);
    let plain = text(&one("at_s = 1.0, time_factor = 2.0"), POISSON, "");
    let at = plain.find("latency = ").unwrap();
    let end = at + plain[at..].find('\n').unwrap();
    let plain = plain.replace(&plain[at..end], "latency = { table = [[1, 5.0]] }");
    refused(&plain, line(&plain, "changes"), &["changes[0].time_factor", "batch's size alone"]);
    // An SLO that the longest times cannot meet is none from the start.
    let text = text(&one("at_s = 1.0, time_factor = 60.0"), POISSON, "");
    let error =
        Scenario::from_text(NAME, &text).and_then(|s| s.setup(1)).err().map(|e| e.to_string());
    assert!(error.is_some_and(|e| e.contains("500.000000ms for `long`") && e.contains("600")));
}

#[test]
fn changes_need_one_process_that_draws_the_applications() {
    let wrong = |arrivals: &str, more: &str, words: &[&str]| {
        let text = text(CHANGES, arrivals, more);
        refused(&text, line(&text, "changes"), words);
    };
    let shared = ["app[1].changes", "one process that the applications share"];
    let each = format!("{POISSON}\nper_app = true");
    wrong(&each, "", &[shared[0], shared[1], "`per_app`"]);
    let trace = "trace = { file = \"azure2019-f500\", per_function = true, compress = 60.0 }";
    wrong(trace, "", &shared);
    let clients = "[closed_loop]\nclients = 2\nthink = { constant_ms = 5.0 }\nduration_s = 30.0\n";
    wrong(POISSON, clients, &[shared[0], shared[1], "closed_loop"]);
    let others = format!("{POISSON}\napps = [\"short\"]");
    wrong(&others, "", &[shared[0], "`long`, which sends nothing", "arrivals.apps"]);
    // One process of a trace is shared as well.
    let minutes = "trace = { file = \"azure2019-f500\", minutes = 2, rate_per_s = 100.0 }";
    let fine = text(CHANGES, minutes, "");
    assert!(Scenario::from_text(NAME, &fine).and_then(|s| s.setup(1)).is_ok());
    let steady = text("", POISSON, "[profile]\nat_s = 20.0");
    refused(&steady, line(&steady, "at_s"), &["profile.at_s", "0 where no application changes"]);
}
