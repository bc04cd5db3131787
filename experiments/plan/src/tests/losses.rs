//! Machines that may be lost.

use super::{CLUSTERS, POOLS, all_pools, cost, error, printed, solved, what_if};
use crate::input::problem::Problem;
use crate::search::runs::Runs;
use crate::search::trial::Bench;
use crate::{Choice, Tried, Variant};

/// The verdict, in one line.
pub(super) fn first_sentence(text: &str) -> String {
    let lines = text.lines().skip(1).take_while(|line| !line.is_empty());
    lines.map(str::trim).collect::<Vec<_>>().join(" ")
}

/// Without one machine of each type: the type, what came of it, and what the others carry.
pub fn losses(choice: &Choice) -> Vec<(usize, &Tried, f64)> {
    let of = |tried| match tried {
        &Tried { variant: Variant::Loss { kind, carries_per_s, .. }, .. } => {
            Some((kind, tried, carries_per_s))
        }
        _ => None,
    };
    choice.tried.iter().filter_map(of).collect()
}

/// What one machine less does is in the first sentence, with what one more costs, unless the answer tolerates it; under
/// a budget the load need not be sustained.
#[test]
fn a_loss_that_breaks_the_answer_is_in_its_first_sentence() {
    let now = solved(CLUSTERS);
    let best = now.answers[0].best().unwrap();
    let (kind, less, _) = losses(best)[0];
    assert!(less.bad_rate(0.01).is_some(), "{less:?}");
    let mut more = best.counts.clone();
    more[kind] += 1;
    let (p, cost) = (&now.problem, crate::search::answer::money(now.problem.cost(&more)));
    let said = first_sentence(&printed(&now));
    assert!(said.contains(&format!("without one {}, SLO violations are ", p.kind(kind))), "{said}");
    let (more, policy) = (p.words(&more), &best.policy);
    let takes = format!("then it takes {more} under {policy} for {cost} $/h.");
    assert!(said.contains(&takes), "{takes}: {said}");
    let tolerant = solved(&CLUSTERS.replace("seeds = 3", "seeds = 3\nsurvive = 1"));
    assert!(!first_sentence(&printed(&tolerant)).contains("without one"));
    let budget = CLUSTERS.replace("goal = \"carry-load\"", "budget_usd_per_hour = 2.0");
    assert!(!first_sentence(&printed(&solved(&budget))).contains("without one"));
}

/// A what-if whose condition is met for want of the type says so: that nothing changes, or to which machines the answer
/// moves, and what they cost.
#[test]
fn a_what_if_that_holds_for_want_of_a_type_says_whether_the_answer_moved() {
    let (plan, source) = super::plan(CLUSTERS);
    let what_ifs = ["slow", "fast"].map(|kind| format!("survive={kind}"));
    let answers = crate::answers(&plan, &source, &what_ifs, false).unwrap();
    let text = answers.document().to_text().replace("\n    ", " ");
    let best = |solved: &crate::Solved| solved.answers[0].best().unwrap().clone();
    let (p, now) = (&answers.plan.problem, best(&answers.plan));
    let [moved, same] = [0, 1].map(|i| best(&answers.what_ifs[i]));
    assert_eq!((moved.counts[0], &same.counts), (0, &now.counts));
    let [from, to] = [&now.counts, &moved.counts].map(|counts| p.words(counts));
    let cost = crate::search::answer::money(moved.cost);
    for says in [
        format!(
            "survive=slow: the answer moves from {from} to {to} for {cost} $/h, with no slow to lose."
        ),
        "survive=fast: `survive` changes nothing here: the answer has no fast to lose.".to_string(),
    ] {
        assert!(text.contains(&format!("What if {says}")), "{says}: {text}");
    }
}

/// A machine may be lost: one more of a cluster, and of a pool of several types what brute force finds.
#[test]
fn a_pool_survives_the_loss_of_any_one_machine_at_the_least_cost() {
    let lost = |text: &str| solved(&text.replace("seeds = 3", "seeds = 3\nsurvive = 1"));
    let (now, one) = (solved(CLUSTERS), lost(CLUSTERS));
    let best = one.answers[0].best().unwrap();
    assert!(losses(best)[0].1.bad_rate(0.01).is_none() && cost(&one) > cost(&now));
    let small = POOLS.replace("90.0", "60.0");
    let found = lost(&small);
    let (p, runs) = (&found.problem, Runs::new(None));
    let bench = Bench::new(p, &p.groups[0], &p.policies[0], &runs);
    let sure = |c: &[u32]| c[0] > 0 && bench.check(c, 60.0).unwrap().is_sure(p.plan.target());
    let survives =
        |c: &Vec<u32>| sure(c) && sure(&[c[0] - 1, c[1]]) && (c[1] == 0 || sure(&[c[0], c[1] - 1]));
    let cheapest = all_pools(p).into_iter().filter(survives).map(|c| p.cost(&c)).min();
    assert!(cheapest.is_some());
    assert_eq!(cost(&found), cheapest);
    let budget = POOLS.replace("goal = \"carry-load\"", "budget_usd_per_hour = 2.0\nsurvive = 1");
    assert!(error(&budget).contains("survive"), "{}", error(&budget));
}

/// A cluster that a machine is lost from in mid-run comes back where those left carry the load, under every policy,
/// and does not where they are too few.
#[test]
fn a_loss_in_mid_run_is_survived_where_those_left_carry_the_load() {
    let mut wrong = Vec::new();
    for policy in orrery_run::policies::all().map(|table| table.about.name) {
        let text = CLUSTERS.replace("\"symphony\", \"clockwork\"", &format!("{policy:?}"));
        let text = text.replace("count_max = 6", "count_max = 6\ncan_preempt = true");
        let (plan, source) = super::plan(&text);
        let p = Problem::new(&plan, &source).unwrap_or_else(|e| panic!("{e}"));
        let (load, runs) = (p.groups[0].load_per_s, Runs::new(None));
        let bench = Bench::new(&p, &p.groups[0], &p.policies[0], &runs);
        let left = bench.probe(&[0, 2], load).unwrap();
        if left.good && left.is_sure() && bench.is_lost(&[0, 3], 1, load).unwrap() {
            wrong.push(format!("{policy}: two carry the load, and not when a third is lost"));
        }
        // More than one of them computes in all its time.
        if !bench.is_lost(&[0, 2], 1, 1_500.0).unwrap() {
            wrong.push(format!("{policy}: one that is left carries more than it can"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:?}");
}

/// In mid-run, too: of three devices one may be lost, and a pack of three may not.
#[test]
fn a_pack_is_lost_whole_in_mid_run() {
    let is_lost = |sold_in: &str| {
        let text = CLUSTERS.replace("\"symphony\", \"clockwork\"", "\"symphony\"");
        let text = text.replace("count_max = 6", &format!("count_max = 6\nsold_in = {sold_in}"));
        let (plan, source) = super::plan(&text);
        let p = Problem::new(&plan, &source).unwrap_or_else(|e| panic!("{e}"));
        let (load, runs) = (p.groups[0].load_per_s, Runs::new(None));
        let bench = Bench::new(&p, &p.groups[0], &p.policies[0], &runs);
        bench.is_lost(&[0, 3], 1, load).unwrap_or_else(|e| panic!("{e}"))
    };
    assert_eq!(["[1]", "[3]"].map(is_lost), [false, true]);
}

/// What is bought together is lost together: of packs of three a whole pack, of packs of one and three only one is
/// bought at a time.
#[test]
fn a_machine_that_is_lost_takes_all_of_its_devices() {
    let packs = |sold_in: &str, survive: &str| {
        let text = CLUSTERS.replace("seeds = 3", &format!("seeds = 3\n{survive}"));
        let text = text.replace("count_max = 6", &format!("count_max = 24\nsold_in = {sold_in}"));
        solved(&text.replace("rate_per_s = 700.0", "rate_per_s = 1400.0"))
    };
    let n = |s: &crate::Solved| s.answers[0].best().unwrap().counts.iter().sum::<u32>();
    let (now, lost) = (packs("[3]", ""), packs("[3]", "survive = 1"));
    let singles = packs("[1]", "survive = 1");
    assert_eq!(n(&lost) % 3, 0);
    let best = lost.answers[0].best().unwrap();
    let left: Vec<u32> = best.counts.iter().map(|n| n.saturating_sub(3)).collect();
    let (p, runs) = (&lost.problem, Runs::new(None));
    let policy = p.policies.iter().find(|policy| policy.text() == best.policy).unwrap();
    let bench = Bench::new(p, &p.groups[0], policy, &runs);
    assert!(bench.check(&left, 1400.0).unwrap().is_sure(p.plan.target()));
    assert!(cost(&lost) >= cost(&singles) && cost(&lost) > cost(&now));
    let said = printed(&lost);
    assert!(said.contains("without one 3x") && said.contains("all of it is lost"), "{said}");
    // The largest machine of those that are bought, where none has to be survived.
    assert!(printed(&now).contains("without one 3x"), "{}", printed(&now));
    assert_eq!(cost(&packs("[1, 3]", "survive = 1")), cost(&singles));
}

/// One machine of a type that is named: a cluster of it is as where any may be lost, a cluster of another as where
/// none may.
#[test]
fn a_cluster_survives_the_loss_of_a_type_that_is_named() {
    let of = |survive: &str, change: &str| {
        let text = CLUSTERS.replace("seeds = 3", &format!("seeds = 3\n{survive}"));
        if change.is_empty() { solved(&text) } else { what_if(&text, change) }
    };
    let alone = |survive: &str, other: &str| cost(&of(survive, &format!("limit:{other}=0")));
    for (kind, other) in [("slow", "fast"), ("fast", "slow")] {
        let named = of(&format!("survive = {kind:?}"), "");
        let lost = alone("survive = 1", other);
        assert!(lost > alone("", other), "{kind}: a loss costs something");
        let cheapest = [lost, alone("", kind)].into_iter().flatten().min();
        assert_eq!(cost(&named), cheapest, "{kind}");
        assert_eq!(cost(&of("", &format!("survive={kind}"))), cheapest, "{kind} as a what-if");
        let text = printed(&named);
        assert!(text.contains(&format!("the loss of one {kind}")), "{text}");
        let best = named.answers[0].best().unwrap();
        let has = best.counts[usize::from(kind == "fast")] > 0;
        // What the loss of the other does is said first, where it breaks the answer.
        let breaks = losses(best)[0].1.bad_rate(0.01).is_some();
        assert!(!(has && breaks), "{text}");
        let said = format!("without one {other}, SLO violations are ");
        assert_eq!(breaks, first_sentence(&text).contains(&said), "{text}");
        assert_eq!(!has, text.contains(&format!("there is no {kind} to lose")), "{text}");
    }
    // Of packs the named type's whole pack, and the other type's packs stay what they are.
    let packs = |survive: &str| {
        let text = CLUSTERS.replace("seeds = 3", &format!("seeds = 3\n{survive}"));
        let text = text.replace("count_max = 6", "count_max = 24\nsold_in = [2, 3]");
        Problem::new(&super::plan(&text).0, &super::plan(&text).1).unwrap()
    };
    let p = packs("survive = \"fast\"");
    assert_eq!([p.lost(0), p.lost(1)], [0, 2]);
    assert_eq!([p.bought(0, 3), p.bought(1, 3)], [3, 4], "the smallest packs of what may be lost");
}

/// Of a pool of several types, what brute force finds for each type that may be lost.
#[test]
fn a_pool_of_several_types_survives_the_loss_of_the_type_that_is_named() {
    let small = POOLS.replace("90.0", "60.0");
    for (kind, name) in ["big", "small"].into_iter().enumerate() {
        let found = solved(&small.replace("seeds = 3", &format!("seeds = 3\nsurvive = {name:?}")));
        let (p, runs) = (&found.problem, Runs::new(None));
        let bench = Bench::new(p, &p.groups[0], &p.policies[0], &runs);
        let sure = |c: &[u32]| c[0] > 0 && bench.check(c, 60.0).unwrap().is_sure(p.plan.target());
        let left = |c: &[u32]| {
            let mut left = c.to_vec();
            left[kind] -= 1;
            left
        };
        let survives = |c: &Vec<u32>| sure(c) && (c[kind] == 0 || sure(&left(c)));
        let cheapest = all_pools(p).into_iter().filter(survives).map(|c| p.cost(&c)).min();
        assert!(cheapest.is_some());
        assert_eq!(cost(&found), cheapest, "{name}");
        let best = found.answers[0].best().unwrap();
        let less: Vec<usize> = losses(best).iter().map(|less| less.0).collect();
        let has = best.counts[kind] > 0;
        // Without the type that is named, the loss of another is looked at.
        assert_eq!(less, if has { vec![kind] } else { vec![1 - kind] }, "{best:?}");
        let hold = losses(best).iter().all(|less| less.1.bad_rate(p.plan.target()).is_none());
        assert!(!has || hold, "{best:?}");
        // What is listed as not sure is not sure.
        let close = &found.answers[0].close;
        assert!(close.iter().all(|(_, _, c)| c.meets(0.01) && !c.is_sure(0.01)), "{close:?}");
    }
}

#[test]
fn a_type_that_cannot_be_lost_is_refused_with_the_remedy() {
    let with = |survive: &str| CLUSTERS.replace("seeds = 3", &format!("seeds = 3\n{survive}"));
    for (survive, says) in [
        ("survive = \"fats\"", ["plan.toml:5", "survive", "did you mean `fast`?", "slow, fast"]),
        ("survive = \"gone\"", ["plan.toml:5", "`gone`", "`[[instance]]`", "slow, fast"]),
        ("survive = 2", ["plan.toml:5", "survive", "0, 1", "slow, fast"]),
        ("survive = -1", ["plan.toml", "survive", "0, 1", "the name of a type"]),
        ("survive = 0.5", ["plan.toml", "survive", "0, 1", "the name of a type"]),
    ] {
        let error = error(&with(survive));
        says.iter().for_each(|part| assert!(error.contains(part), "no `{part}` in:\n{error}"));
    }
    let none = with("survive = \"fast\"").replace(
        "price_usd_per_hour = 0.9\ncount_max = 6",
        "price_usd_per_hour = 0.9\ncount_max = 0",
    );
    assert!(error(&none).contains("`count_max = 0` allows none"), "{}", error(&none));
    let budget =
        with("survive = \"fast\"").replace("goal = \"carry-load\"", "budget_usd_per_hour = 2.0");
    assert!(error(&budget).contains("survive") && error(&budget).contains("carry-load"));
}
