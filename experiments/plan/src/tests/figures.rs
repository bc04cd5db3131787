//! The figure of a plan is of the load that its answer is judged by, whatever kind of plan it is.

use super::{CLUSTERS, POOLS, plan};
use crate::input::file::{PlanFile, Source};
use crate::search::answer::{Answer, Point};
use crate::{Answers, Solved, figure_of, figure_over, solve};
use orrery_results::metric::FRONTIER;
use std::fmt::Write;
use std::path::PathBuf;

/// A day in two steps: in the first 20 requests a second evenly, in the second fewer, which come seven at once.
fn two_steps() -> PathBuf {
    let mut text = "arrival_ms,size\n".to_string();
    (0..1_200).for_each(|i| {
        let _ = writeln!(text, "{},1", 50 * i);
    });
    (0..1_000_u64).for_each(|i| {
        let _ = writeln!(text, "{},1", 60_000 + i / 7 * 420);
    });
    let path = std::env::temp_dir().join(format!("orrery-figure-{}.csv", std::process::id()));
    std::fs::write(&path, text).unwrap();
    path
}

/// A plan over that day.
fn of_day(path: &std::path::Path, pools: &str, scale: &str) -> String {
    let (policy, base) = match pools {
        "heterogeneous" => ("kairos", "base = true\n"),
        _ => ("fifo[max_batch=1]", ""),
    };
    format!(
        "pools = {pools:?}\ngoal = \"carry-load\"\nseeds = 2\nprecision = 0.02\nbad_rate = 0.02\n\
         requests_per_model = 500\npolicies = [{policy:?}]\n\
         [[instance]]\nkind = \"g\"\nprice_usd_per_hour = 1.0\ncount_max = 6\n{base}\
         [day]\ntrace_steps = 2\nscale = {scale:?}\n\
         [scenario]\n[[scenario.model]]\nname = \"m\"\nslo_ms = 35.0\n\
         latency = {{ table = [[1, 10.0]] }}\n[[scenario.app]]\nname = \"a\"\nmodel = \"m\"\n\
         time = {{ constant = {{ ms = 10.0 }} }}\n\
         [scenario.arrivals]\nqueries = {{ file = {:?} }}\nreplay = {{}}\n",
        path.display().to_string()
    )
}

fn drawn((plan, source): &(PlanFile, Source)) -> Solved {
    solve(plan, source, None, true).unwrap_or_else(|e| panic!("{e}"))
}

/// Pools of the frontier that are part of the answer, and are fewer machines.
fn smaller(answer: &Answer) -> Vec<&Point> {
    let Some(best) = answer.best() else { return Vec::new() };
    let is_less = |point: &&Point| {
        let pairs = || point.counts.iter().zip(&best.counts);
        point.policy == best.policy && pairs().all(|(a, b)| a <= b) && point.counts != best.counts
    };
    answer.frontier.iter().filter(is_less).collect()
}

#[test]
fn the_figure_has_the_answer_s_rate_at_the_answer_and_its_load_at_all_others() {
    let path = two_steps();
    let days = ["homogeneous", "fleet", "heterogeneous"]
        .into_iter()
        .flat_map(|pools| [(pools, "peak"), (pools, "follow")]);
    let mut plans: Vec<(String, String)> = days
        .map(|(pools, scale)| (format!("{pools} {scale}"), of_day(&path, pools, scale)))
        .collect();
    plans.extend([("pools".into(), POOLS.into()), ("clusters".into(), CLUSTERS.into())]);
    let budget = |text: &str| text.replace("goal = \"carry-load\"", "budget_usd_per_hour = 2.0");
    plans.push(("budget".into(), budget(POOLS)));
    plans.push(("survive".into(), CLUSTERS.replace("goal =", "survive = 1\ngoal =")));
    let (mut same, mut hard) = (0, 0);
    for (name, text) in &plans {
        let found = drawn(&plan(text));
        assert!(figure_of(&found).is_ok(), "{name}");
        for answer in &found.answers {
            let best = answer.best().unwrap_or_else(|| panic!("{name}: {:?}", answer.unknown));
            hard += usize::from(best.hardest > 0);
            let at_answer = answer.frontier.iter().filter(|p| p.counts == best.counts);
            for point in at_answer.filter(|p| p.policy == best.policy) {
                same += 1;
                assert_eq!(point.rate_per_s, best.edge.rate_per_s, "{name}");
            }
            // Over a day of a list, in which there is no chance, smaller ones than the answer do not carry the load.
            for point in smaller(answer).iter().filter(|_| text.contains("trace_steps")) {
                let rate = point.rate_per_s;
                assert!(
                    rate < 1.05 * answer.load_per_s,
                    "{name}: {point:?}, {}",
                    answer.load_per_s
                );
            }
        }
        // What leaves as rows is what is drawn.
        let rows = Answers::of(found.clone(), Vec::new()).unwrap().rows;
        let drawn: Vec<f64> =
            rows.iter().filter(|r| r.metric == FRONTIER).filter_map(|r| r.value).collect();
        let points = found.answers.iter().flat_map(|a| &a.frontier);
        assert_eq!(drawn, points.map(|p| p.rate_per_s).collect::<Vec<_>>(), "{name}");
    }
    std::fs::remove_file(&path).unwrap();
    assert!(
        same >= 6 && hard >= 4,
        "{same} points at answers, {hard} in a step that is not the peak's"
    );
}

/// What `--over` asks is a figure: what each answer costs over the numbers of the first key, a curve for each value of
/// another. Words, and a key with one number, are none.
#[test]
fn the_cost_over_what_was_asked_is_drawn() {
    let (plan, source) = plan(CLUSTERS);
    let of = |axes: &[&str]| {
        let axes: Vec<String> = axes.iter().map(ToString::to_string).collect();
        let what_ifs = crate::over(&axes).unwrap();
        crate::answers(&plan, &source, &what_ifs, false).unwrap_or_else(|e| panic!("{e}"))
    };
    let answers = of(&["slo=0.04s,60ms,80ms", "load=1,1.5"]);
    let svg = figure_over(&answers).unwrap().to_svg();
    for word in ["slo, ms", "$/h", "load=1", "load=1.5"] {
        assert!(svg.contains(&format!(">{word}<")), "no `{word}` in {svg}");
    }
    let pools =
        answers.what_ifs.iter().map(|s| s.problem.words(&s.answers[0].best().unwrap().counts));
    assert!(pools.filter(|pool| svg.contains(&format!(">{pool}<"))).count() >= 3, "{svg}");
    let page = crate::page_of(&answers, String::new());
    assert!(page.contains("slo, ms") && page.contains("The answer of each what-if over"), "{page}");
    for axes in [&["survive=slow,fast"], &["load=1.5"]] {
        assert!(figure_over(&of(axes)).is_err(), "{axes:?}");
    }
    let label = |texts: &[&str]| crate::label_of(texts.iter().copied());
    assert_eq!(
        label(&["load=2", "slo=90%", "slo=80%", "buy=spot"]).unwrap(),
        "slo, % of what it is"
    );
    assert_eq!(label(&["slo=90%", "slo=80ms", "noise=mlperf"]), None);
}

/// A column is headed by what is in it: of fleets types, of pools of several types models; of one cluster nothing.
#[test]
fn no_column_of_models_has_types() {
    let fleet = CLUSTERS.replace("\"homogeneous\"", "\"fleet\"");
    for (text, head, absent) in [
        (POOLS, "model", "instance type"),
        (&fleet, "instance type", "model"),
        (CLUSTERS, "pool", "model"),
    ] {
        let (plan, source) = plan(text);
        let what_if = ["load=1.5".to_string()];
        let found =
            crate::answers(&plan, &source, &what_if, false).unwrap_or_else(|e| panic!("{e}"));
        let markdown = found.document().to_markdown();
        let heads: Vec<&str> = markdown
            .lines()
            .zip(markdown.lines().skip(1))
            .filter(|(line, next)| next.starts_with("|-") && !line.contains("| metric |"))
            .map(|(line, _)| line)
            .collect();
        assert!(heads.len() >= 2, "{markdown}");
        assert!(heads.iter().any(|line| line.contains(&format!("| {head} |"))), "{heads:?}");
        assert!(heads.iter().all(|line| !line.contains(&format!("| {absent} |"))), "{heads:?}");
    }
}
