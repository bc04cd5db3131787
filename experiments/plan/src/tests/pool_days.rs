//! Pools of several types that follow a day.

use super::days::{answered, best, of_minutes, transitions};
use super::{POOLS, all_pools, cost, printed, solved};
use crate::input::problem::Problem;
use crate::search::change_over::change_over;
use crate::search::runs::Runs;
use crate::search::size::Sized;
use crate::search::trial::Bench;
use orrery_solvers::Price;

const DAY: &str =
    "[day]\nscale = \"follow\"\nprofile = [[0, 0.3], [8, 1.0], [20, 0.0]]\n\n[scenario]";

fn follows(start_up_s: u32) -> String {
    let day = DAY.replace("\"follow\"", &format!("\"follow\"\nstart_up_s = {start_up_s}"));
    POOLS.replace("seeds = 3", "seeds = 2").replace("[scenario]", &day)
}

/// The cheapest pool for a level that all seeds are sure of, among all pools that there are.
fn cheapest(p: &Problem, bench: &Bench<'_>, level: usize) -> Price {
    let (step, load) = (bench.at(level), bench.load_at(level));
    let enough = |c: &Vec<u32>| step.check(c, load).unwrap().is_sure(p.plan.target());
    all_pools(p).into_iter().filter(enough).map(|c| p.cost(&c)).min().unwrap()
}

#[test]
fn each_level_has_the_cheapest_pool_that_brute_force_finds() {
    let found = solved(&follows(0));
    let (p, runs) = (&found.problem, Runs::new(None));
    let best = best(&found);
    let bench = Bench::new(p, &p.groups[0], &p.policies[0], &runs);
    assert_eq!(p.day.levels, [1.0, 0.3, 0.0]);
    let costs: Vec<Price> = best.sizes.iter().map(|size| p.cost(&size.counts)).collect();
    let [high, low] = [0, 1].map(|level| cheapest(p, &bench, level));
    assert_eq!(costs, [high, low, Price::ZERO]);
    assert!(high > low && best.sizes[0].counts != best.sizes[1].counts, "{:?}", best.sizes);
    for (level, size) in best.sizes[..2].iter().enumerate() {
        let again = bench.check(&size.counts, bench.load_at(level)).unwrap();
        assert_eq!(again.bad_by_seed, size.check.bad_by_seed);
    }
    // Eight hours of the lower, twelve of the peak's, four of none.
    let [high, low] = [high, low].map(|price| price.as_micro_usd_per_hour());
    let mean = (high * 12 + low * 8).div_ceil(24_000) * 1_000;
    assert_eq!(best.cost, Price::micro_usd_per_hour(mean));
    // Of the base type alone as well.
    let base = found.answers[0].homogeneous.as_ref().unwrap();
    assert!(base.sizes.iter().all(|size| size.counts[1] == 0) && base.cost >= best.cost);
    assert_eq!(base.sizes.len(), 3);
    let said = printed(&found);
    for part in ["over the day: ", " big", " at 8:00", "the mean is 60 %"] {
        assert!(said.contains(part), "no `{part}` in:\n{said}");
    }
    let rows = crate::document::rows::rows(std::slice::from_ref(&found)).unwrap();
    let levels = rows.iter().filter(|r| r.metric == "worst_bad_rate_at_level");
    assert!(levels.clone().count() > 2 && levels.clone().all(|r| !r.axes.ends_with("size=")));
}

/// What starts early is paid early, and never is a day dearer than the peak's pool all day.
#[test]
fn a_start_up_costs_at_most_the_peak_s_pool_for_the_whole_day() {
    let [none, some, all_day] = [0, 7_200, 43_200].map(|s| solved(&follows(s)));
    let peak = solved(&follows(0).replace("\"follow\"\nstart_up_s = 0", "\"peak\""));
    assert!(cost(&none) < cost(&some) && cost(&some) <= cost(&all_day), "{:?}", cost(&some));
    assert!(cost(&all_day) <= cost(&peak));
}

/// Where the pool changes, machines of one type go and those of another come.
#[test]
fn a_change_of_types_is_simulated() {
    let found = solved(&follows(0));
    let (p, runs) = (&found.problem, Runs::new(None));
    let choice = best(&found);
    let bench = Bench::new(p, &p.groups[0], &p.policies[0], &runs);
    assert!(transitions(&choice.tried).count() > 0, "{:?}", choice.sizes);
    let mut sizes = choice.sizes.clone();
    let tried = |sizes: &[Sized]| {
        let all = change_over(&bench, sizes).unwrap();
        // At midnight there is nothing before.
        assert_eq!(transitions(&all).map(|c| c.0 / 3_600_000).collect::<Vec<_>>(), [0, 8]);
        all[1].clone()
    };
    // From machines of both types to more of the base, and to too few.
    sizes[1].counts = vec![1, 4];
    sizes[0].counts = vec![3, 0];
    let enough = tried(&sizes);
    assert_eq!(enough.counts, [3, 0]);
    sizes[0].counts = vec![1, 0];
    let few = tried(&sizes);
    let [few, enough] = [few, enough].map(|tried| tried.check.unwrap());
    assert!(few.bad_rate > 0.2 && few.bad_rate > 2.0 * enough.bad_rate, "{few:?} {enough:?}");
    assert_eq!(few.seen.requests, enough.seen.requests);
}

/// A machine may be lost in every level.
#[test]
fn each_level_s_pool_survives_a_loss() {
    let found =
        solved(&follows(0).replace("seeds = 2", "seeds = 2\nsurvive = 1").replace("90.0", "60.0"));
    let (p, runs) = (&found.problem, Runs::new(None));
    let bench = Bench::new(p, &p.groups[0], &p.policies[0], &runs);
    let best = best(&found);
    for level in 0..2 {
        let size = &best.sizes[level];
        for left in crate::search::after_loss::pools(p, &size.counts) {
            assert_ne!(left, size.counts);
            let check = bench.check(&left, bench.load_at(level)).unwrap();
            assert!(check.is_sure(p.plan.target()), "{left:?} of {:?}", size.counts);
        }
    }
    assert!(best.sizes[0].counts[0] > 1 && best.sizes[1].counts[0] > 1, "{:?}", best.sizes);
}

/// Over a trace each step has its own arrivals, and a step with fewer requests may need more.
#[test]
fn each_step_of_a_trace_has_the_cheapest_pool_that_brute_force_finds() {
    let text = POOLS
        .replace(
            "arrivals = { poisson = { rate_per_s = 90.0 } }",
            "arrivals = { trace = { file = \"NAME.csv\", rate_per_s = 45.0, compress = 60.0 } }",
        )
        .replace("[scenario]", "[day]\nscale = \"follow\"\ntrace_steps = 3\n\n[scenario]")
        .replace("seeds = 3", "seeds = 2")
        .replace("requests_per_model = 1500", "requests_per_model = 1000");
    // The second step has fewer requests, and all of them in a quarter of its minutes.
    let calls = |m: usize| match m {
        0..8 => 60_u32,
        8..16 if m.is_multiple_of(4) => 90,
        8..16 => 0,
        _ => 10,
    };
    let found = answered(&of_minutes("follow-pools", &calls, &text));
    let (p, best, runs) = (&found.problem, best(&found), Runs::new(None));
    let bench = Bench::new(p, &p.groups[0], &p.policies[0], &runs);
    let costs: Vec<Price> = best.sizes.iter().map(|size| p.cost(&size.counts)).collect();
    let brute: Vec<Price> = (0..3).map(|level| cheapest(p, &bench, level)).collect();
    assert_eq!(costs, brute);
    let begins: Vec<String> = (0..3).map(|level| p.day.begins(level)).collect();
    assert_eq!(begins, ["0:00", "8:00", "16:00"]);
    assert!(best.hardest == 1 && costs[1] > costs[0] && costs[0] > costs[2], "{costs:?}");
    assert_eq!(best.counts, best.sizes[1].counts);
    assert!(printed(&found).contains("its worst step is the one from 8:00"), "{}", printed(&found));
}
