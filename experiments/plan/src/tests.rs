//! Plans against brute force, against themselves with something changed, and against what is wrong.

mod answers;
mod days;
mod figures;
mod goodput;
mod growth;
mod lists;
pub(crate) mod losses;
mod pool_days;
mod rerun;
mod robust;
mod too_few;
mod trace_pools;

use crate::document::rows;
use crate::input::file::{PlanFile, Source};
use crate::input::problem::Problem;
use crate::input::what_if;
use crate::search::runs::Runs;
use crate::search::trial::Bench;
use crate::{Solved, solve};
use orrery_results::metric;
use orrery_scenario::Scenario;
use orrery_solvers::Price;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock};

/// Two types, one of which is cheap and in time for small queries only.
const POOLS: &str = r#"
pools = "heterogeneous"
goal = "carry-load"
seeds = 3
requests_per_model = 1500
policies = ["kairos"]
runners_up = 1

[[instance]]
kind = "big"
price_usd_per_hour = 1.0
count_max = 3

[[instance]]
kind = "small"
price_usd_per_hour = 0.3
count_max = 4

[scenario]
arrivals = { poisson = { rate_per_s = 90.0 } }

[[scenario.model]]
name = "m"
slo_ms = 60.0
latency = { affine = { alpha_ms = 1.0, beta_ms = 2.0 } }
latency_on = { small = { affine = { alpha_ms = 4.0, beta_ms = 4.0 } } }

[[scenario.app]]
name = "a"
model = "m"
time = { constant = { ms = 1.0 } }
sizes = { normal = { mean = 12.0, sd = 8.0, max = 40 } }
"#;

/// Two types of GPUs under Symphony.
const CLUSTERS: &str = r#"
pools = "homogeneous"
goal = "carry-load"
seeds = 3
requests_per_model = 2000
policies = ["symphony", "clockwork"]
runners_up = 3

[[instance]]
kind = "slow"
price_usd_per_hour = 0.5
count_max = 6

[[instance]]
kind = "fast"
price_usd_per_hour = 0.9
count_max = 6
speed = 2.0

[scenario]
arrivals = { poisson = { rate_per_s = 700.0 } }

[[scenario.model]]
name = "m"
slo_ms = 40.0
latency = { affine = { alpha_ms = 2.0, beta_ms = 5.0 } }

[[scenario.app]]
name = "a"
model = "m"
time = { constant = { ms = 7.0 } }
"#;

fn plan(text: &str) -> (PlanFile, Source) {
    PlanFile::from_text("plan.toml", text).unwrap_or_else(|e| panic!("{e}"))
}

/// Each text is solved once: many tests look at the same answer.
pub(crate) fn solved(text: &str) -> Solved {
    static KNOWN: Mutex<BTreeMap<String, Arc<OnceLock<Solved>>>> = Mutex::new(BTreeMap::new());
    let known = KNOWN.lock().unwrap().entry(text.to_string()).or_default().clone();
    known.get_or_init(|| solved_afresh(text)).clone()
}

/// In a worker of rayon, which must not wait for another thread's answer, and where threads are what is asked about.
pub(crate) fn solved_afresh(text: &str) -> Solved {
    let (plan, source) = plan(text);
    solve(&plan, &source, None, false).unwrap_or_else(|e| panic!("{e}"))
}

pub(crate) fn what_if(text: &str, change: &str) -> Solved {
    let (plan, source) = plan(text);
    let models = Problem::new(&plan, &source).unwrap().models();
    let changed = what_if::changed(&plan, change, &models).unwrap_or_else(|e| panic!("{e}"));
    solve(&changed, &source, Some(change), false).unwrap_or_else(|e| panic!("{e}"))
}

fn cost(solved: &Solved) -> Option<Price> {
    solved.answers[0].best().map(|b| b.cost)
}

/// Every pool with at least one of the first type.
fn all_pools(p: &Problem) -> Vec<Vec<u32>> {
    let (a, b) = (p.counts_max[0], p.counts_max[1]);
    let pools = (1..=a).flat_map(|i| (0..=b).map(move |j| vec![i, j]));
    pools.filter(|c| p.budget.is_none_or(|most| p.cost(c) <= most)).collect()
}

#[test]
fn the_cheapest_pool_is_the_one_that_brute_force_finds() {
    for load in ["60.0", "90.0", "150.0"] {
        let text = POOLS.replace("90.0", load);
        let found = solved(&text);
        let (p, runs) = (&found.problem, Runs::new(None));
        let bench = Bench::new(p, &p.groups[0], &p.policies[0], &runs);
        let load = p.groups[0].load_per_s;
        let enough = |c: &Vec<u32>| bench.check(c, load).unwrap().is_sure(p.plan.target());
        let cheapest = all_pools(p).into_iter().filter(enough).map(|c| p.cost(&c)).min();
        assert!(cheapest.is_some(), "{load} is carried by some pool");
        assert_eq!(cost(&found), cheapest, "{load}");
        let answer = &found.answers[0];
        assert!(answer.searched.simulated <= answer.searched.pools);
        assert!(answer.choices.iter().all(|c| c.headroom(load) > Some(-0.05)), "{answer:?}");
    }
}

/// A policy is told the laws of the type that its cluster is of: with a type of its own laws or speed it does as
/// well as where these laws are the models' own.
#[test]
fn a_cluster_s_policy_is_told_the_laws_of_its_type() {
    let law = |alpha: f64, beta: f64| {
        format!("{{ affine = {{ alpha_ms = {alpha:?}, beta_ms = {beta:?} }} }}")
    };
    let own = |kind: &str, latency: &str| {
        let (head, tail) = CLUSTERS.split_once("[[instance]]").unwrap();
        let (_, scenario) = tail.split_once("[scenario]").unwrap();
        let of = format!(
            "[[instance]]\nkind = \"one\"\nprice_usd_per_hour = 1.0\ncount_max = 9\n{kind}\n"
        );
        let old = scenario.lines().find(|line| line.starts_with("latency = ")).unwrap();
        let scenario = scenario.replace(old, &format!("latency = {latency}"));
        let found = solved(&format!("{head}{of}[scenario]{scenario}"));
        found.answers[0].best().map(|b| (b.counts.clone(), b.edge.by_seed_per_s.clone()))
    };
    let told = own("", &law(2.0, 4.0));
    assert!(told.is_some());
    // A tenth of the law, and a law far below its own.
    assert_eq!(own("speed = 0.1", &law(0.2, 0.4)), told);
    let on = format!("latency_on = {{ m = {} }}", law(2.0, 4.0));
    assert_eq!(own(&on, &law(0.2, 0.4)), told);
}

/// A policy that waits for 60 ms where the SLO is 40 ms carries nothing on any number of instances: said
/// with how much of them was used.
#[test]
fn a_cluster_that_its_policy_leaves_idle_is_said_to_be() {
    let text = CLUSTERS
        .replace("\"symphony\", \"clockwork\"", "\"timeout[max_batch=499,max_wait_ms=60]\"");
    let answer = &solved(&text).answers[0];
    assert!(answer.best().is_none());
    let all = answer.unknown.join("\n");
    for kind in ["slow", "fast"] {
        let says = format!("not even 6 {kind}, its `count_max`, sustain the load with timeout");
        let line = answer.unknown.iter().find(|u| u.starts_with(&says)).expect(&all);
        assert!(line.contains(" % SLO violations, ") && line.contains(" % busy"), "{all}");
        assert!(line.ends_with("of them never computed anything"), "{all}");
    }
}

/// Pools that a search did not look at; those and all others are told.
fn left(found: &Solved) -> usize {
    let s = &found.answers[0].searched;
    assert_eq!(s.pools, s.simulated + s.skipped_by_bound + s.left, "{s:?}");
    s.left
}

#[test]
fn the_best_pool_under_a_budget_is_the_one_that_brute_force_finds() {
    let mut near = 0;
    for budget in ["1.5", "2.4"] {
        let text =
            POOLS.replace("goal = \"carry-load\"", &format!("budget_usd_per_hour = {budget}"));
        let found = solved(&text);
        let (p, runs) = (&found.problem, Runs::new(None));
        let bench = Bench::new(p, &p.groups[0], &p.policies[0], &runs);
        let edge = |c: &Vec<u32>| bench.edge(c).unwrap().rate_per_s;
        let most = all_pools(p).iter().map(edge).fold(0.0, f64::max);
        let best = found.answers[0].best().unwrap();
        assert!(best.edge.rate_per_s > most / 1.02, "{} {most}", best.edge.rate_per_s);
        assert!(best.cost <= p.budget.unwrap());
        assert_eq!(left(&found), 0);
        let few = text.replace("seeds = 3", "seeds = 2\nevaluations_max = 1");
        assert!(left(&solved(&few)) > 0);
        // What is said of the load is what a simulation says, or nothing.
        let load = p.groups[0].load_per_s;
        let rows = rows::rows(std::slice::from_ref(&found)).unwrap();
        let at_load = rows.iter().find(|r| r.metric == metric::BAD_AT_LOAD).unwrap();
        let is_near = load <= best.edge.rate_per_s * 2.0;
        let bad = bench.check(&best.counts, load).unwrap().bad_rate;
        assert_eq!(at_load.value, is_near.then_some(bad), "{at_load:?}");
        assert!(is_near || at_load.reason.contains("not simulated"));
        near += u32::from(is_near);
    }
    assert_eq!(near, 1, "one budget pays for more than half of the load");
}

#[test]
fn the_cheapest_cluster_is_the_one_that_brute_force_finds() {
    let found = solved(CLUSTERS);
    let (p, runs) = (&found.problem, Runs::new(None));
    let mut cheapest = None;
    for policy in &p.policies {
        let bench = Bench::new(p, &p.groups[0], policy, &runs);
        for counts in
            (0..2).flat_map(|k| (1..=6).map(move |n| if k == 0 { [n, 0] } else { [0, n] }))
        {
            if bench.check(&counts, 700.0).unwrap().is_sure(0.01) {
                let cost = p.cost(&counts);
                cheapest = Some(cheapest.map_or(cost, |c: Price| c.min(cost)));
            }
        }
    }
    assert!(cheapest.is_some());
    assert_eq!(cost(&found), cheapest);
    assert!(left(&found) > 0, "larger clusters than needed");
}

#[test]
fn the_chosen_pool_carries_the_load_as_a_scenario_of_its_own() {
    for text in [POOLS, CLUSTERS] {
        let found = solved(text);
        let (p, best) = (&found.problem, found.answers[0].best().unwrap());
        let text = p.groups[0]
            .scenario_text(p, &best.counts, &best.policy, best.at_load.seen.requests)
            .unwrap();
        assert!(!text.contains("believed"), "`run` tells policies the same without it");
        let scenario = Scenario::from_text("chosen.toml", &text).unwrap();
        let policy = &scenario.policies().unwrap()[0];
        let metrics = scenario.setup(1).unwrap().run(policy, 1).unwrap();
        let total = metrics.total();
        let bad = 1.0 - total.ends[0] as f64 / total.offered as f64;
        assert!(bad <= p.plan.target(), "{bad}");
        // The same arrivals; a probe stops when it has seen enough of them, and a file's run at its end.
        let verified = best.at_load.bad_by_seed[0];
        assert!((bad - verified).abs() < 0.003, "{bad} and {verified}");
        assert_eq!(
            scenario.file.device.iter().map(|d| d.count).sum::<u32>(),
            best.counts.iter().sum::<u32>()
        );
    }
}

#[test]
fn what_ifs_change_what_they_should() {
    for text in [POOLS, CLUSTERS] {
        let now = solved(text);
        let more = what_if(text, "load=1.5");
        assert_eq!(more.answers[0].load_per_s, now.answers[0].load_per_s * 1.5);
        assert!(cost(&more) >= cost(&now), "more load is never cheaper");
        let kind = &now.problem.plan.instance[0];
        let half = kind.price_usd_per_hour.unwrap() / 2.0;
        let cheaper = what_if(text, &format!("price:{}={half}", kind.kind));
        assert!(cost(&cheaper) <= cost(&now), "a lower price is never dearer");
        let looser = what_if(text, "slo:m=0.2s");
        assert!(cost(&looser) <= cost(&now), "a looser SLO is never dearer");
        let none = what_if(text, "load=1000");
        assert_eq!(cost(&none), None);
        assert!(!none.is_answered());
        let unknown = none.answers[0].unknown.join("\n");
        assert!(unknown.contains("outside what was simulated"), "{unknown}");
    }
    let one = what_if(POOLS, "limit:small=0,load=0.2");
    assert_eq!(one.answers[0].best().unwrap().counts, [1, 0]);
}

#[test]
fn a_search_that_is_cut_off_says_so() {
    let text = POOLS.replace("runners_up = 1", "runners_up = 1\nevaluations_max = 1");
    let found = solved(&text);
    let unknown = found.answers[0].unknown.join("\n");
    assert!(unknown.contains("did not converge"), "{unknown}");
}

#[test]
fn a_model_that_would_gain_from_batches_is_told_where_none_are_made() {
    let sizes = "sizes = { normal = { mean = 12.0, sd = 8.0, max = 40 } }\n";
    let with = |text: &str| solved(text).answers[0].unknown.join("\n");
    let told = with(&POOLS.replace(sizes, ""));
    let says = "what m would cost with batches: kairos ran every request alone, and on small two together \
                take 1.50 times as long as one";
    assert!(told.contains(says), "{told}");
    // 1.75 times as long, and queries that are batches themselves: nothing to tell.
    let steep = POOLS
        .replace(sizes, "")
        .replace("alpha_ms = 4.0, beta_ms = 4.0", "alpha_ms = 6.0, beta_ms = 2.0");
    let none =
        with(&steep.replace("alpha_ms = 1.0, beta_ms = 2.0", "alpha_ms = 6.0, beta_ms = 2.0"));
    assert!(!none.contains("with batches"), "{none}");
    assert!(!with(POOLS).contains("with batches"));
}

/// Of pools of several types, too: whoever pays more carries more, and what is paid most carries what the best pool does.
#[test]
fn more_money_carries_more_along_the_frontier() {
    let (plan, source) = plan(&POOLS.replace("goal = \"carry-load\"", "budget_usd_per_hour = 2.4"));
    let found = solve(&plan, &source, None, true).unwrap();
    let answer = &found.answers[0];
    let points = &answer.frontier;
    assert!(points.len() > 1);
    for pair in points.windows(2) {
        assert!(
            pair[0].cost < pair[1].cost && pair[0].rate_per_s < pair[1].rate_per_s,
            "{points:?}"
        );
    }
    // By the first seed, and within its precision.
    let (most, best) = (points.last().unwrap().rate_per_s, answer.best().unwrap());
    let best = best.edge.by_seed_per_s[0];
    assert!((most / best - 1.0).abs() < 0.05, "{most} and {best}");
}

/// The figure names the chosen pool, draws the load, and says how many pools lie too far away.
#[test]
fn a_plan_s_figure_names_its_pools_and_draws_the_load() {
    let (plan, source) = plan(&CLUSTERS.replace("rate_per_s = 700.0", "rate_per_s = 150.0"));
    let found = solve(&plan, &source, None, true).unwrap();
    let svg = crate::document::figure::of(&found).unwrap().to_svg();
    let best = found.answers[0].best().unwrap();
    let machines: u32 = best.counts.iter().sum();
    assert!(svg.contains(&format!(">{machines}</text>")), "{machines}: {svg}");
    assert!(svg.contains(">the load</text>") && svg.contains("beside a point: its machines"));
    let costs =
        found.answers[0].frontier.iter().map(|p| p.cost.to_string().parse::<f64>().unwrap());
    let far = costs.filter(|c| *c > 3.0 * best.cost.to_string().parse::<f64>().unwrap()).count();
    assert!(far > 0 && svg.contains(&format!("{far} pools above 3 times")), "{far}: {svg}");
}

#[test]
fn an_extrapolated_profile_is_told() {
    let law = "latency = { affine = { alpha_ms = 2.0, beta_ms = 5.0 } }";
    let table = "latency = { table = [[1, 7.0], [2, 9.0]] }";
    let found =
        solved(&CLUSTERS.replace(law, table).replace("\"clockwork\"", "\"fifo[max_batch=8]\""));
    let unknown = found.answers[0].unknown.join("\n");
    let policy = &found.answers[0].best().unwrap().policy;
    assert!(unknown.contains("extrapolated"), "{policy}: {unknown}");
}

#[test]
fn an_answer_does_not_depend_on_the_number_of_threads() {
    for text in [POOLS, CLUSTERS] {
        let with = |jobs: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(jobs).build().unwrap();
            let found = pool.install(|| solved_afresh(text));
            let shown = printed(&found);
            (orrery_results::to_csv(&rows::rows(&[found]).unwrap()), shown)
        };
        assert_eq!(with(1), with(3));
    }
}

/// What is printed, without folds.
pub fn printed(found: &Solved) -> String {
    orrery_report::width::set_width(usize::MAX);
    super::Answers::of(found.clone(), Vec::new()).unwrap().document().to_text()
}

fn error(text: &str) -> String {
    let read = PlanFile::from_text("plan.toml", text);
    let message = read.and_then(|(plan, source)| solve(&plan, &source, None, false));
    message.map(|_| ()).expect_err(text).to_string()
}

#[test]
fn bad_plans_name_line_key_and_remedy() {
    for (from, to, says) in [
        (
            "count_max = 3",
            "count_max = 3\nprize = 1",
            vec!["plan.toml:13", "prize", "docs/plan.md"],
        ),
        (
            "price_usd_per_hour = 0.3",
            "price_usd_per_hour = -0.3",
            vec!["plan.toml:16", "`instance[1].price_usd_per_hour`", "-0.3", "from 0"],
        ),
        (
            "goal = \"carry-load\"",
            "budget_usd_per_hour = 0",
            vec!["plan.toml:3", "budget_usd_per_hour", "above 0", "remedy"],
        ),
        (
            "goal = \"carry-load\"",
            "budget_usd_per_hour = 0.5",
            vec!["plan.toml:3", "base type", "raise"],
        ),
        (
            "goal = \"carry-load\"",
            "budget_usd_per_hour = 0.2",
            vec!["plan.toml:3", "0.3", "cheapest"],
        ),
        ("goal = \"carry-load\"", "", vec!["neither a budget nor a goal", "one of the two"]),
        (
            "seeds = 3",
            "budget_usd_per_hour = 3.0\nseeds = 3",
            vec!["plan.toml:3", "a budget and a goal"],
        ),
        ("\"heterogeneous\"", "\"mixed\"", vec!["plan.toml:2", "out of scope", "homogeneous"]),
        ("\"kairos\"", "\"symphony\"", vec!["plan.toml:6", "one kind", "out of scope"]),
        ("\"kairos\"", "\"kairo\"", vec!["kairo", "kairos"]),
        ("slo_ms = 60.0", "slo_ms = 30.0", vec!["base", "`m`", "slo_ms"]),
        (
            "alpha_ms = 4.0, beta_ms = 4.0",
            "alpha_ms = 4.0, beta_ms = 90.0",
            vec!["plan.toml:15", "instance[1].kind", "`small`", "remove the kind"],
        ),
        (
            "slo_ms = 60.0",
            "slo_ms = 60.0\nslo_steps = { first_ms = 9.0, factor = 2.0, every_s = 1.0, count = 3 }",
            vec!["slo_steps", "stays the same"],
        ),
        ("rate_per_s = 90.0", "rate_per_s = -1.0", vec!["plan.toml:20", "scenario.arrivals", "-1"]),
        ("kind = \"small\"", "kind = \"big\"", vec!["plan.toml:15", "again", "each type once"]),
        (
            "count_max = 4",
            "zoo = \"kairo\"\ncount_max = 4",
            vec!["plan.toml:17", "did you mean `kairos`"],
        ),
        ("count_max = 4", "", vec!["instance[1].count_max", "add `count_max`"]),
    ] {
        assert!(POOLS.contains(from), "{from}");
        let message = error(&POOLS.replacen(from, to, 1));
        for part in says {
            assert!(message.contains(part), "no `{part}` for `{to}` in:\n{message}");
        }
    }
}

#[test]
fn a_profile_with_a_hole_is_an_error() {
    let text = POOLS
        .replace(
            "latency = { affine = { alpha_ms = 1.0, beta_ms = 2.0 } }",
            "latency = { table = [[10, 12.0], [20, 22.0], [40, 42.0]] }\nbetween = \"next\"",
        )
        .replace(
            "{ affine = { alpha_ms = 4.0, beta_ms = 4.0 } }",
            "{ table = [[10, 44.0], [40, 164.0]] }",
        );
    let message = error(&text);
    for part in ["instance[1].kind", "a hole: size 20", "measure it", "plan.toml:15"] {
        assert!(message.contains(part), "{message}");
    }
}

#[test]
fn bad_what_ifs_name_the_option() {
    let (plan, _) = plan(POOLS);
    let models = vec!["m".to_string()];
    for (text, says) in [
        ("loat=2", "did you mean `load`"),
        ("load", "KEY=VALUE"),
        ("load=x", "a number"),
        ("load=2,load=3", "each key once"),
        ("slo=50", "with its unit"),
        ("slo:n=50ms", "`n`"),
        ("price:bigg=1", "did you mean `big`"),
        ("price:big=-1", "from 0"),
        ("limit:big=1.5", "whole number"),
        ("budget=2", "a budget and a goal"),
    ] {
        let message = what_if::changed(&plan, text, &models).unwrap_err().to_string();
        assert!(message.contains(says) && message.contains("--what-if"), "{text}: {message}");
    }
}

#[test]
fn queries_beyond_the_profile_are_an_error() {
    let kairos = "[[scenario.zoo]]\nname = \"kairos\"\nmodels = [\"rm2\"]\n\
                  sizes = { lognormal = { mu = 5.0, sigma = 1.5, max = 2000 } }\n";
    let (head, _) = POOLS.split_once("[[scenario.model]]").unwrap();
    let text =
        head.replace("\"big\"", "\"g4dn.xlarge\"").replace("\"small\"", "\"t3.xlarge\"") + kairos;
    let message =
        error(&text.replace("price_usd_per_hour = 1.0", "price_usd_per_hour = 1.0\nbase = true"));
    assert!(message.contains("beyond the profile, which ends at 1000"), "{message}");
}

#[test]
fn every_example_is_a_plan_that_says_how_to_run_it() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/plans");
    let mut files = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        let (plan, source) = PlanFile::load(&path).unwrap_or_else(|e| panic!("{e}"));
        let problem = Problem::new(&plan, &source).unwrap_or_else(|e| panic!("{e}"));
        assert!(!problem.groups.is_empty() && problem.groups.iter().all(|g| g.load_per_s > 0.0));
        let command = format!("cargo run --release -- plan scenarios/plans/{name}");
        assert!(source.text.contains(&command), "{name}");
        files += 1;
    }
    assert_eq!(files, 6);
}

#[test]
fn a_type_without_a_model_s_latencies_is_not_known_and_not_guessed() {
    let two = CLUSTERS.replace(
        "[[scenario.app]]",
        "[[scenario.model]]\nname = \"n\"\nslo_ms = 40.0\nlatency = { affine = { alpha_ms = 2.0, beta_ms = 5.0 } }\n\
         [[scenario.app]]\nname = \"b\"\nmodel = \"n\"\ntime = { constant = { ms = 7.0 } }\n[[scenario.app]]",
    );
    let own = "speed = 2.0\nlatency_on = { m = { table = [[1, 3.0], [8, 12.0]] } }";
    let answer = solved(&two.replace("speed = 2.0", own));
    assert!(answer.answers[0].choices.iter().all(|c| c.counts[1] == 0));
    let unknown = answer.answers[0].unknown.join("\n");
    assert!(unknown.contains("fast") && unknown.contains("of n on it"), "{unknown}");
    let pools = POOLS
        .replace("count_max = 4", "count_max = 4\nlatency_on = { m = { table = [[1, 3.0]] } }")
        .replace(
            "[[scenario.app]]",
            "[[scenario.model]]\nname = \"n\"\nslo_ms = 60.0\nlatency = { table = [[1, 3.0]] }\n\
             [[scenario.app]]\nname = \"b\"\nmodel = \"n\"\ntime = { constant = { ms = 1.0 } }\n[[scenario.app]]",
        );
    let (plan, source) = plan(&pools);
    let error = Problem::new(&plan, &source).unwrap_err().to_string();
    assert!(error.contains("no latency of `n` on `small`"), "{error}");
    assert!(error.contains("instance[1].latency_on"), "{error}");
}

#[test]
fn packs_are_bought_whole_and_all_of_them_compute() {
    let one = solved(CLUSTERS);
    let best = |s: &Solved| s.answers[0].best().unwrap().clone();
    let n: u32 = best(&one).counts.iter().sum();
    let packs = CLUSTERS.replace("count_max = 6", "count_max = 6\nsold_in = [3]");
    let packs = solved(&packs);
    for choice in &packs.answers[0].choices {
        let devices: u32 = choice.counts.iter().sum();
        assert_eq!(devices % 3, 0, "{:?}", choice.counts);
        let kind = choice.counts.iter().position(|n| *n > 0).unwrap();
        let each = [0.5, 0.9][kind];
        let cost = choice.cost.as_usd_per_hour();
        assert!((cost - each * f64::from(devices)).abs() < 1e-9, "{cost}");
    }
    assert!(cost(&packs) >= cost(&one), "packs are never cheaper than one by one");
    // One by one and in packs at the same price: nothing is lost.
    let both = solved(&CLUSTERS.replace("count_max = 6", "count_max = 6\nsold_in = [1, 3]"));
    assert_eq!((best(&both).counts.iter().sum::<u32>(), cost(&both)), (n, cost(&one)));
}

#[test]
fn at_the_price_that_is_named_the_answer_changes() {
    let now = solved(CLUSTERS);
    let turns = now.answers[0].turns.clone();
    assert_eq!(turns.iter().filter(|t| t.is_answer).count(), 1, "{turns:?}");
    assert_eq!(turns.len(), 2);
    let kind = |s: &Solved| s.answers[0].best().unwrap().counts.iter().position(|n| *n > 0);
    for turn in turns {
        let name = now.problem.kind(turn.kind).to_string();
        let at = |usd: f64| what_if(CLUSTERS, &format!("price:{name}={usd:.6}"));
        let (below, above) = (at(turn.at_usd_per_hour * 0.99), at(turn.at_usd_per_hour * 1.01));
        assert_eq!(kind(&below), Some(turn.kind), "{turn:?}");
        assert_ne!(kind(&above), Some(turn.kind), "{turn:?}");
    }
}

#[test]
fn a_price_list_gives_prices_and_spot_devices_are_not_known_to_stay() {
    let folder = std::env::temp_dir().join(format!("orrery-prices-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let list = "orrery_prices = 1\nname = \"mine\"\ndate = \"2026-11-23\"\nsource = \"invented\"\n\
                [[offer]]\nname = \"s1\"\nkind = \"slow\"\non_demand_usd_per_hour = 0.5\n\
                spot_usd_per_hour = 0.2\n\
                [[offer]]\nname = \"f1\"\nkind = \"quick\"\non_demand_usd_per_hour = 0.9\n\
                reserved_usd_per_hour = 0.6\n";
    std::fs::write(folder.join("list.toml"), list).unwrap();
    let path = folder.join("plan.toml").display().to_string();
    let text = CLUSTERS
        .replace("price_usd_per_hour = 0.5\n", "")
        .replace("price_usd_per_hour = 0.9\n", "offers_of = \"quick\"\n")
        .replace("pools = ", "prices = \"list.toml\"\npools = ");
    let of = |text: &str, what_if: Option<&str>| {
        let (mut plan, source) = PlanFile::from_text(&path, text).unwrap_or_else(|e| panic!("{e}"));
        if let Some(change) = what_if {
            plan = what_if::changed(&plan, change, &["m".to_string()])?;
        }
        solve(&plan, &source, what_if, false)
    };
    let listed = of(&text, None).unwrap();
    assert_eq!(cost(&listed), cost(&solved(CLUSTERS)), "the list has the plan's own prices");
    let words = crate::document::money::source(&listed).unwrap();
    assert!(words.contains("mine of 2026-11-23, on-demand; invented"), "{words}");
    let spot = of(&text, Some("buy:slow=spot")).unwrap();
    let unknown = spot.answers[0].unknown.join("\n");
    assert!(unknown.contains("slow is taken back"), "{unknown}");
    assert!(cost(&spot) < cost(&listed));
    let error = of(&text, Some("buy=spot")).unwrap_err().to_string();
    assert!(error.contains("no spot price of `quick`"), "{error}");
    let error = of(&text, Some("buy=weekly")).unwrap_err().to_string();
    assert!(error.contains("on-demand, reserved, spot"), "{error}");
    let none = text.replace("prices = \"list.toml\"\n", "");
    let error = PlanFile::from_text(&path, &none).unwrap_err().to_string();
    assert!(error.contains("instance[0].price_usd_per_hour"), "{error}");
    assert!(error.contains("name a price list"), "{error}");
}

/// A fast GPU's batch of k takes `k + 2.5` ms, so n of them carry at most `n k / (k + 2.5)` requests/ms.
#[test]
fn no_edge_exceeds_the_capacity_however_long_the_slo() {
    for (slo_ms, largest, n) in [("200.0", 4, 1), ("5000.0", 16, 2), ("60000.0", 16, 1)] {
        let policies = format!("[\"fifo[max_batch={largest}]\", \"timeout[max_batch={largest}]\"]");
        let text = CLUSTERS
            .replace("[\"symphony\", \"clockwork\"]", &policies)
            .replace("slo_ms = 40.0", &format!("slo_ms = {slo_ms}"));
        let (plan, source) = plan(&text);
        let p = Problem::new(&plan, &source).unwrap();
        let runs = Runs::new(None);
        let capacity = f64::from(n * largest) / (f64::from(largest) + 2.5) * 1e3;
        for policy in &p.policies {
            let bench = Bench::new(&p, &p.groups[0], policy, &runs);
            let edge = bench.edge(&[0, n]).unwrap();
            let most = edge.by_seed_per_s.iter().copied().fold(0.0, f64::max);
            assert!(most <= capacity / 0.99, "{policy}, {slo_ms} ms: {most} of {capacity}");
            assert!(most > 0.8 * capacity, "{policy}, {slo_ms} ms: {most} of {capacity}");
        }
    }
}

/// Nexus makes its first plan after 30 s, of what it has measured: with one that is shorter 3 of 64 devices
/// work, and "not even 64" carried the load.
#[test]
fn a_policy_that_plans_in_epochs_is_judged_by_its_plans() {
    let text = CLUSTERS
        .replace("[\"symphony\", \"clockwork\"]", "[\"nexus-cluster\"]")
        .replace("count_max = 6\nspeed", "count_max = 64\nspeed")
        .replace(
            "kind = \"slow\"\nprice_usd_per_hour = 0.5\ncount_max = 6",
            "kind = \"slow\"\nprice_usd_per_hour = 0.5\ncount_max = 1",
        )
        .replace("rate_per_s = 700.0", "rate_per_s = 1500.0")
        // Told the slower law, it plans with room for chance.
        .replace(
            "[[scenario.app]]",
            "believed = { affine = { alpha_ms = 2.0, beta_ms = 5.0 } }\n\n[[scenario.app]]",
        );
    let found = solved(&text);
    let best = found.answers[0].best().expect("an answer");
    // Batches of 6 in 8.5 ms at most, of twice which the SLO of 40 ms has room: at least 3 devices.
    assert!((3..=12).contains(&best.counts[1]), "{:?}", best.counts);
    assert_eq!(best.at_load.seen.idle, [0, 0], "every device works");
}

/// Symphony serves 499 requests at once under an SLO of seconds: arrivals were counted in portions of 512, so that a few
/// seemed to stay of each, and "not even 128" devices that were idle carried the load.
#[test]
fn a_device_that_idles_carries_its_load_under_a_long_slo() {
    for slo_ms in [1_000, 10_000, 60_000] {
        let scenario = CLUSTERS.find("[scenario]").unwrap();
        let head = CLUSTERS[..scenario].replace(", \"clockwork\"", "").replace("2000", "10000");
        let text = format!(
            "{}\n[[instance]]\nkind = \"A100\"\nzoo = \"nvidia\"\ngpu = \"A100-40GB\"\nprice_usd_per_hour = 2.0\n\
             count_max = 2\n\n[scenario]\nwarm_up_s = 2.0\narrivals = {{ poisson = {{ rate_per_s = 500.0 }} }}\n\n\
             [[scenario.zoo]]\nname = \"nvidia\"\ngpu = \"A100-40GB\"\nmodels = [\"resnet50v1.5-mixed\"]\n\
             slo_ms = {slo_ms}.0\n",
            &head[..head.find("[[instance]]").unwrap()]
        );
        let (plan, source) = plan(&text);
        let p = Problem::new(&plan, &source).unwrap();
        let runs = Runs::new(None);
        let bench = Bench::new(&p, &p.groups[0], &p.policies[0], &runs);
        let probe = bench.probe(&[1], 500.0).unwrap();
        assert!(probe.good && !probe.diverging, "{slo_ms} ms: {probe:?}");
    }
}
