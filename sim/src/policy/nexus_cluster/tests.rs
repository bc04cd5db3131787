//! The planner worked by hand, and what must hold of any plan; `runs` are small runs of it all.

mod runs;

use super::node::{Model, Node, Share};
use super::plan::Plan;
use super::*;
use crate::latency::Latency;
use proptest::prelude::*;

fn affine(alpha_us: u64, beta_us: u64, slo: Span) -> ModelProfile {
    let law = Latency::Affine { alpha: Span::from_us(alpha_us), beta: Span::from_us(beta_us) };
    ModelProfile::measure(&law, slo, &[1], 1, || (0, Span::ZERO), 1)
}

fn model(alpha_us: u64, beta_us: u64, slo_ms: u64) -> Model {
    Model::new(&affine(alpha_us, beta_us, Span::from_ms(slo_ms)), &Config::released())
}

fn resnet50() -> Model {
    model(1053, 5072, 25)
}

/// Three models that share well or badly: full batches of 16, 12 and 16.
fn three() -> Vec<Model> {
    vec![model(1_000, 4_000, 42), model(2_000, 6_000, 62), model(1_000, 14_000, 62)]
}

fn ms(ns: f64) -> f64 {
    ns / 1e6
}

fn plan(models: &[Model], gpus: usize) -> Plan {
    let mut plan = Plan::new(models.len());
    (0..gpus).for_each(|g| plan.add(g));
    plan
}

/// By GPU: models with their rates, rounded.
fn rates(plan: &Plan) -> Vec<Vec<(usize, u32)>> {
    let node = |n: &Node| n.shares.iter().map(|s| (s.model, s.rate.round() as u32)).collect();
    plan.nodes.iter().map(node).collect()
}

fn batches(node: &Node) -> Vec<usize> {
    node.shares.iter().map(|s| s.batch).collect()
}

#[test]
fn full_batches_of_symphony_s_two_models() {
    let resnet50 = resnet50();
    assert_eq!(resnet50.full, 6, "11.390 of 11.5 ms");
    assert_eq!((8.0 * resnet50.full_rate()).round(), 4214.0);
    let inception = model(5090, 18_368, 70);
    assert_eq!(inception.full, 3, "33.638 of 34 ms");
    assert_eq!((8.0 * inception.full_rate()).floor(), 713.0);
    let paper = Model::new(&affine(1053, 5072, Span::from_ms(25)), &Config::paper());
    assert_eq!(paper.full, 7, "without the 2 ms: twice 12.443 ms");
}

#[test]
fn a_model_that_cannot_be_in_time_is_planned_with_batches_of_one() {
    let hopeless = model(1_000, 50_000, 25);
    assert_eq!(hopeless.full, 1);
    let share = hopeless.share(0, 1.0);
    assert_eq!((share.batch, ms(share.max_duty_ns)), (1, 51.0));
    assert_eq!(Node::new(&[hopeless], vec![share]).occupancy, 1.0);
}

#[test]
fn a_residual_load_gathers_as_much_as_it_can_wait_for() {
    // (4-1) 10 + 8 = 38 ms of 42 ms, a fifth would need 49 ms; 42 - 8 = 34 ms is less than 4 x 10 ms.
    let models = three();
    let share = models[0].share(0, 100.0);
    assert_eq!((share.batch, ms(share.max_duty_ns)), (4, 34.0));
    let node = Node::new(&models, vec![share]);
    assert_eq!((batches(&node), node.occupancy), (vec![4], 8.0 / 34.0));
    // A rate that fills the GPU: the full batch, back to back.
    let full = models[0].share(0, 900.0);
    assert_eq!((full.batch, ms(full.max_duty_ns), full.rate), (16, 20.0, 800.0));
}

#[test]
fn two_residual_loads_share_the_shorter_cycle() {
    let models = three();
    let other = models[1].share(1, 50.0);
    assert_eq!((other.batch, ms(other.max_duty_ns)), (3, 50.0), "40 + 12 of 62 ms");
    let node = Node::new(&models, vec![models[0].share(0, 100.0)]);
    let both = node.with(&models, &other).expect("8 + 10 of 34 ms");
    assert_eq!((ms(both.duty_ns), batches(&both)), (34.0, vec![4, 2]));
    assert!((both.occupancy - 18.0 / 34.0).abs() < 1e-12);
    assert_eq!(both.without(&models, 1), node);
}

#[test]
fn two_loads_whose_batches_do_not_fit_into_the_cycle_do_not_share() {
    // 300/s: 9 in 29 ms take 13 ms. 400/s: 14 in 34 ms, 12 in 29 ms, which take 26 ms.
    let models = three();
    let (a, b) = (models[0].share(0, 300.0), models[2].share(2, 400.0));
    assert_eq!((a.batch, ms(a.max_duty_ns)), (9, 29.0));
    assert_eq!((b.batch, ms(b.max_duty_ns)), (14, 34.0));
    assert_eq!(Node::new(&models, vec![a.clone()]).with(&models, &b), None);
    let over = Node::new(&models, vec![a, b]);
    assert_eq!((batches(&over), (over.occupancy * 29.0).round()), (vec![9, 12], 39.0));
}

#[test]
fn one_model_gets_full_gpus_and_one_for_the_rest() {
    let models = [resnet50()];
    let mut plan = plan(&models, 8);
    plan.first(&models);
    assert_eq!(rates(&plan)[0], [(0, 527)]);
    plan.adjust(&models, &[2000.0]);
    let four = |last: u32| vec![vec![(0, 527)], vec![(0, 527)], vec![(0, 527)], vec![(0, last)]];
    assert_eq!(rates(&plan)[..4], four(420));
    plan.adjust(&models, &[1990.0]);
    assert_eq!(rates(&plan)[..4], four(420), "it does not shrink by less than 3 %");
    plan.adjust(&models, &[2040.0]);
    assert_eq!(rates(&plan)[..4], four(460), "it grows where it is");
    plan.adjust(&models, &[1000.0]);
    assert_eq!(rates(&plan)[..4], [vec![(0, 527)], vec![(0, 473)], vec![], vec![]]);
    plan.adjust(&models, &[9999.0]);
    assert_eq!((plan.assigned(0) / 8.0).round(), 527.0, "what is too much is left out");
}

#[test]
fn an_overloaded_gpu_keeps_its_longest_batches_and_gives_the_rest_away() {
    let models = three();
    let mut plan = plan(&models, 3);
    plan.adjust(&models, &[100.0, 50.0, 0.0]);
    assert_eq!(rates(&plan)[0], [(0, 100), (1, 50), (2, 0)], "all fit together");
    plan.adjust(&models, &[700.0, 50.0, 0.0]);
    let on = |m: usize| plan.shares_of(m).map(|(g, _)| g).collect::<Vec<_>>();
    assert_eq!((on(0), on(1), on(2)), (vec![0], vec![1], vec![1]));
}

#[test]
fn a_gpu_that_goes_takes_no_rate_with_it() {
    let models = three();
    let mut plan = plan(&models, 2);
    plan.adjust(&models, &[100.0, 50.0, 0.0]);
    let lost = plan.remove(0);
    plan.replace(&models, &lost);
    assert_eq!(rates(&plan), [vec![], vec![(0, 100), (1, 50), (2, 0)]]);
    let lost = plan.remove(1);
    plan.replace(&models, &lost);
    plan.adjust(&models, &[100.0, 50.0, 0.0]);
    assert_eq!(rates(&plan), [vec![], vec![]], "there is no GPU at all");
    plan.add(1);
    plan.house(&models);
    assert_eq!(rates(&plan)[1].len(), 3);
}

#[test]
fn the_paper_merges_residual_loads_by_falling_occupancy() {
    let models = three();
    let mut plan = plan(&models, 4);
    plan.repack(&models, &[900.0, 50.0, 400.0], Packing::Squishy);
    // 800 of the 900 fill a GPU. Occupancies of the rests: 8 of 34, 12 of 50 and 28 of 34 ms.
    let expected = [vec![(0, 800)], vec![(2, 400)], vec![(1, 50), (0, 100)], vec![]];
    assert_eq!(rates(&plan), expected);
    // More than fits: all alike are lowered.
    plan.repack(&models, &[9000.0, 500.0, 4000.0], Packing::Squishy);
    let part = [9000.0, 500.0, 4000.0].iter().enumerate().map(|(m, r)| plan.assigned(m) / r);
    let part: Vec<f64> = part.collect();
    assert!(part.iter().all(|p| (p - part[0]).abs() < 1e-6 && *p < 0.25), "{part:?}");
}

#[test]
fn a_static_plan_of_one_model_is_its_full_batch_everywhere() {
    let models = [resnet50()];
    for packing in [Packing::Adjust, Packing::Squishy] {
        let mut plan = plan(&models, 8);
        plan.scaled(&models, &[1.0], packing);
        assert!(plan.nodes.iter().all(|n| batches(n) == [6]), "{packing:?}");
        assert_eq!(plan.assigned(0).round(), 4214.0);
    }
}

#[test]
fn more_models_than_gpus_share_from_the_start() {
    let models = three();
    let mut plan = plan(&models, 2);
    plan.first(&models);
    let who = |p: &Plan| -> Vec<Vec<usize>> {
        p.nodes.iter().map(|n| n.shares.iter().map(|s| s.model).collect()).collect()
    };
    assert_eq!(who(&plan), [vec![0, 2], vec![1]]);
    plan.full(&models);
    assert_eq!(who(&plan), [vec![0, 2], vec![1]]);
    assert_eq!(batches(&plan.nodes[0]), [16, 16]);
    let mut none = Plan::new(3);
    none.first(&models);
    none.full(&models);
    none.scaled(&models, &[1.0; 3], Packing::Adjust);
    none.repack(&models, &[1.0; 3], Packing::Squishy);
    assert!(none.nodes.is_empty());
}

#[test]
fn rates_are_averaged_from_zero() {
    let mut rates = Rates::new(1, Span::from_secs(1));
    for _ in 0..30 {
        (0..100).for_each(|_| rates.arrived(0));
        rates.beacon();
    }
    assert!((rates.estimates[0] - 100.0 * (1.0 - libm::exp(-3.0))).abs() < 1e-9);
}

/// A model's worst latency on a GPU: it just misses a batch and is in the next.
fn worst_ns(models: &[Model], node: &Node, share: &Share) -> f64 {
    node.duty_ns + models[share.model].latency_ns(share.batch)
}

/// What holds of every GPU that is not overloaded.
fn sound(models: &[Model], node: &Node) {
    let work: f64 = node.shares.iter().map(|s| models[s.model].latency_ns(s.batch)).sum();
    assert!(work <= node.duty_ns * (1.0 + 1e-9), "{work} ns in {} ns", node.duty_ns);
    for share in &node.shares {
        let model = &models[share.model];
        assert!((1..=model.full).contains(&share.batch));
        let hopeless = 2.0 * model.latency_ns(1) > model.slo_ns;
        let worst = worst_ns(models, node, share);
        assert!(hopeless || worst <= model.slo_ns * (1.0 + 1e-9), "{worst} of {}", model.slo_ns);
        // It keeps up, but for the slack of a thousandth of a request.
        let carried = share.batch as f64 + 1e-3;
        assert!(carried >= share.rate * node.duty_ns / 1e9, "{share:?} in {}", node.duty_ns);
    }
}

fn some_models() -> impl Strategy<Value = Vec<(Model, f64)>> {
    let one = (50u64..3_000, 0u64..20_000, 10u64..200, 0.0f64..1_500.0);
    prop::collection::vec(one.prop_map(|(a, b, slo, rate)| (model(a, b, slo), rate)), 1..7)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(300) })]

    #[test]
    fn a_packing_is_in_time_and_carries_everything(
        models in some_models(),
        gpus in 1usize..12,
        squishy in any::<bool>(),
    ) {
        let (models, wanted): (Vec<Model>, Vec<f64>) = models.into_iter().unzip();
        let packing = if squishy { Packing::Squishy } else { Packing::Adjust };
        let mut plan = plan(&models, gpus);
        plan.repack(&models, &wanted, packing);
        if models.len() <= gpus {
            plan.nodes.iter().for_each(|n| sound(&models, n));
        }
        let idle = plan.nodes.iter().any(|n| n.shares.is_empty());
        for (m, rate) in wanted.iter().enumerate() {
            let assigned = plan.assigned(m);
            prop_assert!(assigned > 0.0, "model {} has no GPU", m);
            prop_assert!(!idle || (assigned - rate.max(0.1)).abs() < 1e-3, "{} of {}", assigned, rate);
        }
        if models.len() <= gpus {
            let weights = vec![1.0; models.len()];
            plan.scaled(&models, &weights, packing);
            plan.nodes.iter().for_each(|n| sound(&models, n));
            let (first, rest) = (plan.assigned(0), (1..models.len()).map(|m| plan.assigned(m)));
            rest.for_each(|r| assert!((r / first - 1.0).abs() < 1e-6));
        }
    }

    #[test]
    fn an_adjusted_plan_carries_everything_or_uses_all_gpus(
        models in some_models(),
        gpus in 1usize..12,
        steps in prop::collection::vec(prop::collection::vec(0.0f64..2.0, 6), 1..6),
    ) {
        let (models, base): (Vec<Model>, Vec<f64>) = models.into_iter().unzip();
        let mut plan = plan(&models, gpus);
        plan.first(&models);
        for factors in steps {
            let wanted: Vec<f64> = base.iter().zip(factors).map(|(r, f)| r * f).collect();
            plan.adjust(&models, &wanted);
            let idle = plan.nodes.iter().any(|n| n.shares.is_empty());
            for (m, rate) in wanted.iter().enumerate() {
                let (rate, assigned) = (rate.max(0.1), plan.assigned(m));
                prop_assert!(assigned > 0.0, "model {} has no GPU", m);
                prop_assert!(!idle || assigned >= rate - 1e-3, "{} of {}", assigned, rate);
                prop_assert!(assigned <= rate / 0.97 + 1e-3, "{} of {}", assigned, rate);
            }
            for node in &plan.nodes {
                if node.occupancy <= 1.0 {
                    sound(&models, node);
                }
                prop_assert!(!idle || node.occupancy <= 1.05, "{}", node.occupancy);
            }
        }
    }
}

/// An autoscaler sends hundreds of GPUs away in one instant: a plan for each of them took a minute.
#[test]
fn a_static_plan_is_made_once_for_all_gpus_that_come_in_an_instant() {
    let profiles = vec![affine(1_000, 4_000, Span::from_ms(42)); 2];
    let config = Config { planning: Planning::Static, ..Config::released() };
    let mut policy = NexusCluster::new(config, &profiles);
    (0..6).for_each(|gpu| policy.came_up(Time::ZERO, DeviceId(gpu)));
    let is_idle = |n: &Node| n.shares.is_empty();
    assert!(policy.stale && policy.plan.nodes.iter().all(is_idle), "nobody has asked for a plan");
    policy.renew();
    assert!(!policy.stale && !policy.plan.nodes.iter().any(is_idle));
    let mut anew = plan(&policy.models, 6);
    anew.scaled(&policy.models, &[1.0; 2], config.packing);
    assert_eq!(policy.plan.nodes, anew.nodes);
}
