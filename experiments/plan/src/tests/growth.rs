//! A list of requests that grows: more users of the same kind, or the same users, each faster.

use super::solved_afresh;
use crate::document::rows;
use crate::input::file::PlanFile;
use crate::input::problem::Problem;
use crate::{Answers, Solved, answers};
use std::fmt::Write;
use std::path::PathBuf;

/// What is asked of the list; `GROWTH` is replaced.
const PLAN: &str = r#"
pools = "homogeneous"
goal = "carry-load"
bad_rate = 0.02
seeds = 2
precision = 0.05
runners_up = 0
robust = ["load=1.1"]
policies = ["fifo[max_batch=1]"]
growth = GROWTH

[[instance]]
kind = "g"
price_usd_per_hour = 1.0
count_max = 60

[scenario]
[[scenario.model]]
name = "m"
slo_ms = 60.0
latency = { table = [[1, 10.0]] }

[[scenario.app]]
name = "a"
model = "m"
time = { constant = { ms = 10.0 } }

[scenario.arrivals]
queries = { file = "FILE" }
replay = {}
"#;

/// Ten minutes with a request every 2 s, and six times 120 in 3 s: 1.7 requests a second.
fn list(name: &str) -> PathBuf {
    let mut at: Vec<u64> = (0..300).map(|i| 2_000 * i).collect();
    let burst = |i: u64| (0..120).map(move |k| 7_000 + 90_000 * i + i * i * 613 + 25 * k);
    at.extend((0..6).flat_map(burst));
    at.sort_unstable();
    let mut text = "arrival_ms,size\n".to_string();
    at.iter().for_each(|ms| {
        let _ = writeln!(text, "{ms},1");
    });
    let path =
        std::env::temp_dir().join(format!("orrery-growth-{name}-{}.csv", std::process::id()));
    std::fs::write(&path, text).unwrap();
    path
}

fn text(path: &std::path::Path, growth: &str) -> String {
    PLAN.replace("GROWTH", growth).replace("FILE", &path.display().to_string())
}

fn answered(text: &str) -> Answers {
    let (plan, source) = PlanFile::from_text("plan.toml", text).unwrap_or_else(|e| panic!("{e}"));
    answers(&plan, &source, &[], false).unwrap_or_else(|e| panic!("{e}"))
}

fn machines(found: &Solved) -> u32 {
    found.answers[0].best().map_or(u32::MAX, |best| best.counts[0])
}

fn refused(text: &str) -> String {
    let found = PlanFile::from_text("plan.toml", text)
        .and_then(|(plan, source)| Problem::new(&plan, &source).map(|_| ()));
    found.unwrap_err().to_string()
}

#[test]
fn more_users_are_copies_of_a_list_and_a_faster_list_says_what_it_does_to_bursts() {
    let path = list("bursts");
    let [plain, copies, speed] =
        ["20", "{ copies = 20 }", "{ speed = 20.0 }"].map(|growth| answered(&text(&path, growth)));
    let words = |found: &Answers| {
        found.document().to_text().split_whitespace().collect::<Vec<_>>().join(" ")
    };
    assert_eq!(
        (machines(&plain.plan), &plain.rows),
        (machines(&copies.plan), &copies.rows),
        "copies without a word"
    );
    let (many, fast) = (machines(&plain.plan), machines(&speed.plan));
    assert!(many + 2 <= fast, "{many} for more users, {fast} for faster ones");
    let (slow, fast) = (words(&plain), words(&speed));
    assert!(slow.contains("20 times what the scenario has, in copies of its list"), "{slow}");
    assert!(
        slow.contains("the load is 20.0 copies of the list")
            && slow.contains("shifted by the seed")
    );
    assert!(!slow.contains("times as dense"), "{slow}");
    assert!(fast.contains("bursts of the list are 20.0 times as dense"), "{fast}");
    assert!(fast.contains("`growth = { copies = 20 }`"), "{fast}");
    assert!(!words(&answered(&text(&path, "{ speed = 1.5 }"))).contains("times as dense"));
    // A what-if changes what the plan's growth does.
    let what_if = |text: &str| {
        let (plan, source) = PlanFile::from_text("plan.toml", text).unwrap();
        let changed = crate::changed(&plan, "load=4", &["m".to_string()]).unwrap();
        crate::solve(&changed, &source, None, false).unwrap_or_else(|e| panic!("{e}"))
    };
    assert_eq!(machines(&what_if(&text(&path, "5"))), many);
    assert_eq!(machines(&what_if(&text(&path, "{ speed = 5.0 }"))), machines(&speed.plan));
    std::fs::remove_file(&path).unwrap();
}

/// What a file of the answer says is the same load: the same answer, from one thread and from several.
#[test]
fn a_grown_list_does_not_depend_on_threads_and_its_file_is_the_same_load() {
    let path = list("threads");
    let of = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| solved_afresh(&text(&path, "7.5")))
    };
    let [one, four] = [1, 4].map(of);
    assert_eq!(rows::rows(std::slice::from_ref(&one)).unwrap(), rows::rows(&[four]).unwrap());
    let (group, best) = (&one.problem.groups[0], one.answers[0].best().unwrap());
    let file = group
        .scenario_text(&one.problem, &best.counts, &best.policy, best.at_load.seen.requests)
        .unwrap();
    let scenario = orrery_scenario::Scenario::from_text("chosen.toml", &file).unwrap();
    let pace = scenario.pace().unwrap().unwrap();
    assert!((pace.copies - 7.5).abs() < 1e-9 && pace.speed == 1.0, "{pace:?}");
    let policy = &scenario.policies().unwrap()[0];
    let total = scenario.setup(1).unwrap().run(policy, 1).unwrap().total().clone();
    let bad = 1.0 - total.ends[0] as f64 / total.offered as f64;
    assert!((bad - best.at_load.bad_by_seed[0]).abs() < 1e-12, "{bad}");
    std::fs::remove_file(&path).unwrap();
}

#[test]
fn copies_and_a_speed_are_of_lists_and_a_wrong_growth_names_its_key() {
    let path = list("wrong");
    for (growth, words) in [
        ("{ copies = 0.0 }", vec!["plan.toml:10", "growth.copies", "0.000001"]),
        ("{ speed = 2e6 }", vec!["plan.toml:10", "growth.speed", "1000000"]),
        ("{ copies = 2, speed = 2 }", vec!["plan.toml:10", "{ copies = 20 }", "{ speed = 2.0 }"]),
        ("\"much\"", vec!["plan.toml:10", "a factor such as 1.5"]),
    ] {
        let error = refused(&text(&path, growth));
        words.iter().for_each(|word| assert!(error.contains(word), "{word}: {error}"));
    }
    let poisson = |growth: &str| {
        let text = text(&path, growth);
        let from = text.find("queries").unwrap();
        format!("{}poisson = {{ rate_per_s = 9.0 }}\n", &text[..from])
    };
    for (growth, factor) in [("{ copies = 3 }", "growth = 3"), ("{ speed = 2.5 }", "growth = 2.5")]
    {
        let error = refused(&poisson(growth));
        for word in ["plan.toml:10", "only a list", factor] {
            assert!(error.contains(word), "{word}: {error}");
        }
    }
    assert!(PlanFile::from_text("plan.toml", &poisson("3")).is_ok());
    std::fs::remove_file(&path).unwrap();
}
