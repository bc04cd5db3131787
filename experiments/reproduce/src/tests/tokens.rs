//! Answers token by token: the measured runs, and what is said where none was measured.

use super::forms_of;
use crate::registry::{find, numbers};
use crate::reproduce::{Asked, forms_of as forms_asked, rows_of};
use orrery_results::Row;
use orrery_traces::shipped::shipped;
use orrery_traces::table::Table;

const MEANS: [&str; 3] = ["ttft_mean_ns", "tpot_mean_ns", "latency_mean_ns"];
const RUNS: [&str; 3] =
    ["rtx4090-llama-3.1-8b", "rtxpro6000-llama-3.1-8b", "rtxpro6000x2-qwen3-32b"];

fn rows() -> Vec<Row> {
    rows_of(&find("tokens-vllm").unwrap(), &Asked::default()).unwrap()
}

/// The law is fitted to kernels alone, so that nothing here can be moved by a measured run.
#[test]
fn the_means_of_the_three_measured_runs_are_within_8_percent() {
    let rows = rows();
    for run in RUNS {
        for metric in MEANS {
            let is = |r: &&Row| r.axis("run") == Some(run) && r.metric == metric;
            let row = rows.iter().find(is).expect("a row");
            let (ours, measured) = (row.value.unwrap(), row.paper.expect("a measured mean"));
            let error = ours / measured - 1.0;
            assert!(error.abs() < 0.08, "{run}, {metric}: {:+.1} %", 100.0 * error);
        }
    }
}

/// The sentences of the study are bounds on values: they are those of the measured means.
#[test]
fn each_sentence_of_the_measured_runs_is_8_percent_of_a_measured_mean() {
    let e = find("tokens-vllm").unwrap();
    let numbers = numbers("vllm_runs.csv").expect("they are shipped");
    assert_eq!(e.claim.len(), RUNS.len() * MEANS.len());
    for (claim, (run, metric)) in
        e.claim.iter().zip(RUNS.iter().flat_map(|run| MEANS.map(|metric| (run, metric))))
    {
        assert_eq!((&claim.at, claim.metric.as_str()), (&format!("run={run}"), metric));
        let begin = format!("{run},vLLM's rule,{metric},");
        let line = numbers.lines().find_map(|l| l.strip_prefix(&begin)).expect("a number");
        let measured: f64 = line.parse().unwrap();
        let (least, most) = (claim.at_least.unwrap(), claim.at_most.unwrap());
        assert!((least / measured - 0.92).abs() < 1e-7 && (most / measured - 1.08).abs() < 1e-7);
    }
}

#[test]
fn the_run_that_is_withheld_has_a_prediction_and_no_number_until_one_is_given() {
    let of = |r: &&Row| r.axis("run") == Some("rtxpro6000-qwen3-30b-a3b");
    let rows = rows();
    let own: Vec<&Row> = rows.iter().filter(of).collect();
    assert!(own.iter().all(|r| r.paper.is_none() && r.axis("not_counted") == Some("no experts")));
    let folder = tempfile::tempdir().expect("a folder");
    let paper = folder.path().join("fourth.csv");
    let text = "run,system,metric,value\nrtxpro6000-qwen3-30b-a3b,vLLM's rule,tpot_mean_ns,2e7\n";
    std::fs::write(&paper, text).expect("a file");
    let asked = Asked { paper: Some(paper), ..Asked::default() };
    let rows = rows_of(&find("tokens-vllm").unwrap(), &asked).unwrap();
    let given = rows.iter().filter(of).find(|r| r.metric == "tpot_mean_ns").expect("a row");
    assert_eq!(given.paper, Some(2e7));
    assert!(rows.iter().filter(|r| r.paper.is_some()).count() == 1, "no other numbers are left");
    let asked = Asked { details: true, ..asked };
    let text = forms_asked(&find("tokens-vllm").unwrap(), &asked).unwrap().table;
    assert!(text.contains("not counted: rtxpro6000-qwen3-30b-a3b: no experts"), "{text}");
}

/// The numbers beside ours are those of the shipped lists of requests.
#[test]
fn the_measured_means_are_those_of_the_shipped_runs() {
    let numbers = numbers("vllm_runs.csv").expect("they are shipped");
    for run in RUNS {
        let mut table = Table::open(shipped(&format!("vllm-{run}")).unwrap()).unwrap();
        let columns = ["at_s", "first_s", "last_s", "tokens_out"];
        let [at, first, last, out] = columns.map(|c| table.column(c).unwrap());
        let (mut sums, mut n) = ([0.0; 3], 0.0);
        while table.advance().unwrap() {
            let number = |column| table.number(column, 1e9).unwrap();
            let (at, first, last) = (number(at), number(first), number(last));
            let each = (last - first) / (number(out) - 1.0).max(1.0);
            sums.iter_mut().zip([first - at, each, last - at]).for_each(|(sum, x)| *sum += x);
            n += 1.0;
        }
        for (metric, sum) in MEANS.iter().zip(sums) {
            let begin = format!("{run},vLLM's rule,{metric},");
            let line = numbers.lines().find_map(|l| l.strip_prefix(&begin)).expect("a number");
            let shown: f64 = line.parse().unwrap();
            assert!((1e9 * sum / n / shown - 1.0).abs() < 1e-6, "{run} {metric}");
        }
    }
}

/// Dropping is what counts, and order is not: Clockwork's lesson. With fewer requests than the experiment has.
#[test]
fn above_capacity_dropping_pays_and_order_alone_does_not() {
    let mut e = find("tokens-deadlines").unwrap();
    e.seeds = 3;
    e.point.retain(|p| p.name == "chat, 2.1/s");
    e.axis[0].point.retain(|p| p.name == "50 %");
    let rows = rows_of(&e, &Asked::default()).unwrap();
    let rate = |system: &str| {
        let is = |r: &&Row| r.system == system && r.metric == "finish_rate" && r.versus.is_empty();
        rows.iter().find(is).and_then(|r| r.value).expect("a finish rate")
    };
    assert!((rate("edf") - rate("fcfs")).abs() < 0.1, "{} {}", rate("edf"), rate("fcfs"));
    assert!(rate("fcfs+expired") > rate("fcfs") + 0.4);
    assert!(rate("edf+infeasible") > rate("edf+expired") - 0.02);
    assert!(forms_of(&e).table.contains("edf+infeasible"));
}
