//! Pool experiments: what is refused, and a small one to its end.

use super::forms;
use crate::claims::Claim;
use crate::kinds::pool::conditions::Conditions;
use crate::kinds::pool::world::World;
use crate::registry::{find, from_text};
use crate::reproduce::{Asked, How, Outcome, run};
use orrery_results::Row;
use orrery_results::metric::{ALLOWABLE_THROUGHPUT as ALLOWABLE, difference_of};

/// Everything at once, small: two models, systems on one pool and on several, a search.
const TINY: &str = r#"
id = "tiny"
title = "Small"
source = "none"
expected_s = 1
point_axis = "setting"
show = ["allowable_throughput_per_s"]
seeds = 2
relative_to = "homogeneous"
assumption = ["few queries"]

[pool]

[[axis]]
key = "model"
values = ["rm2", "ncf"]

[set]
types = ["g4dn.xlarge", "r5n.large"]
budget_usd_per_hour = 1.2
queries = 300
precision = 0.05
drs_thresholds = [100, 300]

[[point]]
name = "a"

[[point]]
name = "b"
set = { arrivals = "integer-poisson" }

[[system]]
name = "homogeneous"
policy = "ribbon"
pool = "homogeneous-scaled"

[[system]]
name = "pick"
policy = "kairos"
pool = "pick"

[[system]]
name = "best"
policy = "kairos"
pool = "best"
at = ["setting=a"]

[[system]]
name = "oracle"
policy = "orcl"
pool = "best"
at = ["setting=a"]

[[system]]
name = "drs"
policy = "drs-scan"
pool = "top:2"
at = ["setting=a"]

[[system]]
name = "bound"
policy = "upper-bound"
pool = "top:2"
at = ["setting=a"]

[[system]]
name = "kairos+"
policy = "kairos"
search = { algorithm = "kairos-plus", optimum = true, until = "homogeneous", trajectory = 3 }

[[system]]
name = "rand"
policy = "kairos"
search = { algorithm = "random", runs = 3, optimum = true, until = "oracle", until_within = 0.9 }

[[claim]]
text = "the oracle is above the best"
of = "oracle"
over = "best"
at_least = 1.0

[[claim]]
text = "the pick is a thousand times the homogeneous pool"
of = "pick"
over = "homogeneous"
at_least = 1000.0

[[claim]]
text = "DRS is below the bound"
of = "drs"
over = "bound"
at_most = 1.0
"#;

/// The base type of a pool figure is the one that the authors mark. A scenario of the same pool, and so
/// `plan`, finds it without the mark.
#[test]
fn a_scenario_of_the_same_pool_has_the_same_base() {
    let types = orrery_scenario::kairos::instance_types();
    let marked = types.iter().position(|t| t.is_base).unwrap() as u32;
    let devices: String = types
        .iter()
        .map(|t| {
            let (kind, price) = (t.name, t.price_usd_per_hour);
            format!("[[device]]\nkind = \"{kind}\"\nprice_usd_per_hour = {price}\n")
        })
        .collect();
    let laws = ["\"kairos\"", "{ normal = { mean = 250, sd = 100, max = 999 } }"];
    for (model, sizes) in
        orrery_scenario::kairos::model_names().flat_map(|m| laws.map(|sizes| (m, sizes)))
    {
        let text = format!(
            "policies = [\"kairos\"]\n{devices}[[zoo]]\nname = \"kairos\"\nmodels = [\"{model}\"]\n\
             sizes = {sizes}\n[arrivals]\npoisson = {{ rate_per_s = 50 }}\nrequests = 10\n"
        );
        let scenario = orrery_scenario::Scenario::from_text("s.toml", &text).unwrap();
        let setup = scenario.setup(1).unwrap_or_else(|e| panic!("{model}: {e}"));
        assert_eq!(setup.kinds[0].base, marked, "{model}, {sizes}");
        let world = World::new(model, &Conditions::default()).unwrap();
        let pool = world.of(&world.homogeneous()).unwrap().setup(1).unwrap();
        assert_eq!(pool.kinds[0].base, marked, "{model}");
    }
}

/// Fig. 10 counts evaluations until the optimum is reached, Fig. 2 has a red line that may be either of
/// two, and Fig. 8 is of the paper's text as well: so are the sentences.
#[test]
fn sentences_are_judged_by_what_the_paper_says() {
    let claims = |id: &str| find(id).unwrap().frame.claim;
    let of_paper = |c: &&Claim| c.text.contains("(section");
    for claim in claims("kairos-fig-10").iter().filter(of_paper) {
        assert!(claim.metric.starts_with("evaluations_to_"), "{}", claim.text);
    }
    let metrics: Vec<String> = claims("kairos-fig-2").into_iter().map(|c| c.metric).collect();
    assert_eq!(metrics, ["below_unscaled_homogeneous_share", "below_homogeneous_share"]);
    let fig_8 = claims("kairos-fig-8");
    let of = |name: &str| fig_8.iter().filter(|c| c.of == name).count();
    assert_eq!((of("kairos"), of("kairos-paper")), (2, 2));
}

#[test]
fn a_small_figure_runs_to_its_end_and_a_claim_fails() {
    let forms = forms(TINY, 1);
    let text = &forms.table;
    let claims = text.split("The paper's claims\n").nth(1).and_then(|t| t.split("\n\n").next());
    let claims = claims.unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ");
    let line = |says: &str| {
        let end = claims.find(says).unwrap_or_else(|| panic!("no `{says}` in {text}"));
        claims[..end].rsplit(']').next().unwrap_or_default().trim().to_string()
    };
    // Two seeds of 300 queries: what they say is hardly more than chance, but for what is far from true, and for two
    // that are compared seed by seed.
    assert!(line("the oracle is above").starts_with('\u{2713}'), "{text}");
    assert!(line("a thousand times").starts_with('\u{2717}'), "{text}");
    assert!(line("DRS is below").starts_with("undecided (the 95 % intervals of "), "{text}");
    let row = |system: &str, metric: &str| {
        let is_it = |r: &&Row| {
            r.system == system && r.metric == metric && r.axes.starts_with("setting=a;model=rm2")
        };
        forms.rows.iter().find(is_it).unwrap_or_else(|| panic!("{system} {metric}"))
    };
    // Kairos+ prunes by bounds; here it finds what the exhaustive search finds.
    assert!(row("kairos+", "best_over_optimum").value > Some(0.9));
    assert!(row("kairos+", "evaluations").value <= row("rand", "pools").value);
    let found = row("rand", "best_over_optimum").value;
    assert_eq!(found, Some(1.0), "nothing but sub-pools is left out");
    // No pool has the oracle's throughput; a tenth of it is another matter.
    assert_eq!(row("rand", "reached_share").value, Some(1.0));
    // What is found is found before the search is over; where it is the optimum, both counts agree.
    for search in ["kairos+", "rand"] {
        let value = |metric: &str| row(search, metric).value.expect("a value");
        let to_best = value("evaluations_to_best");
        assert!((1.0..=value("evaluations")).contains(&to_best), "{search}: {to_best}");
        assert!((value("evaluations_to_best_share") - to_best / value("pools")).abs() < 1e-12);
        if value("best_over_optimum") == 1.0 {
            assert_eq!(to_best, value("evaluations_to_optimum"), "{search}");
        }
        let (as_it_is, scaled) =
            (value("below_unscaled_homogeneous_share"), value("below_homogeneous_share"));
        assert!(as_it_is <= scaled, "{search}: {as_it_is} {scaled}");
    }
    let (pick, bound) = (row("pick", ALLOWABLE), row("pick", "upper_bound_per_s"));
    assert!(pick.ci95().is_some() && pick.seeds == "1-2" && pick.unit == "1/s");
    assert!(pick.value < bound.value.map(|b| 1.3 * b) && pick.value > Some(0.0));
    assert_eq!(row("drs", ALLOWABLE).axis("pool"), row("bound", ALLOWABLE).axis("pool"));
    assert!([Some(100.0), Some(300.0)].contains(&row("drs", "drs_threshold").value));
    // What a claim compares on two pools is compared seed by seed.
    let base = row("homogeneous", ALLOWABLE);
    let difference = row("pick", &difference_of(ALLOWABLE));
    assert_eq!(difference.versus, format!("homogeneous at {}", base.axes));
    assert_eq!(difference.ci_method, "paired-replications");
    assert_eq!(difference.value, pick.value.zip(base.value).map(|(a, b)| a - b));
    // The second setting has the columns that it names.
    let b = |r: &&Row| r.axes.starts_with("setting=b") && r.metric == ALLOWABLE;
    let names: Vec<&str> = forms.rows.iter().filter(b).map(|r| r.system.as_str()).collect();
    assert!(names.contains(&"pick") && !names.contains(&"oracle"), "{names:?}");
}

#[test]
fn jobs_change_no_byte() {
    let (one, two) = (forms(TINY, 1), forms(TINY, 2));
    assert_eq!(one.table, two.table);
    assert_eq!(orrery_results::to_csv(&one.rows), orrery_results::to_csv(&two.rows));
}

#[test]
fn what_is_kept_is_found_again() {
    let folder = tempfile::tempdir().unwrap();
    let e = from_text("tiny.toml", TINY).unwrap();
    let csv = || {
        let how = How { out: Some(folder.path().to_path_buf()), ..How::default() };
        let Ok(Outcome::Whole(forms)) = run(&e, &Asked::default(), &how) else { panic!("it runs") };
        orrery_results::to_csv(&forms.rows)
    };
    let first = csv();
    let cells = || std::fs::read_dir(folder.path().join("cells")).unwrap().count();
    let kept = cells();
    assert!(kept > 10, "{kept}");
    assert_eq!(csv(), first);
    assert_eq!(cells(), kept);
    assert_eq!(orrery_results::to_csv(&forms(TINY, 2).rows), first);
}

#[test]
fn wrong_files_are_errors_that_name_the_place() {
    for (from, to, says) in [
        ("policy = \"orcl\"", "policy = \"orlc\"", "orlc"),
        ("pool = \"pick\"", "pool = \"pik\"", "homogeneous-scaled"),
        ("values = [\"rm2\", \"ncf\"]", "values = [\"rm3\"]", "did you mean `rm2`"),
        ("values = [\"rm2\", \"ncf\"]", "values = []", "axis[0].values"),
        ("queries = 300", "querys = 300", "did you mean `queries`"),
        ("budget_usd_per_hour = 1.2", "budget_usd_per_hour = \"x\"", "key `budget_usd_per_hour`:"),
        ("of = \"oracle\"", "of = \"oracel\"", "did you mean `oracle`"),
        ("until = \"homogeneous\"", "until = \"homogenous\"", "did you mean"),
        ("until_within = 0.9", "until_within = 1.0", "key `system[7].search.until_within`"),
        ("name = \"rand\"", "name = \"pick\"", "twice"),
        ("at_least = 1000.0", "", "at_least"),
        ("seeds = 2", "seeds = 0", "seeds"),
        ("algorithm = \"random\"", "algorithm = \"radnom\"", "radnom"),
    ] {
        assert!(TINY.contains(from), "{from}");
        let text = TINY.replace(from, to);
        let error = refused(&text).unwrap_or_else(|| panic!("{to} is taken"));
        assert!(error.contains("tiny.toml") && error.contains(says), "{to}: {error}");
    }
    // What only a run finds out.
    for (from, to, says) in [
        ("pool = \"pick\"", "pool = \"1-2-3\"", "2 counts"),
        ("drs_thresholds = [100, 300]", "drs_thresholds = [300, 100]", "drs_thresholds"),
        ("precision = 0.05", "precision = 2.0", "precision"),
        ("trajectory = 3", "prefilter_per_s = 1e6", "prefilter_per_s"),
    ] {
        let error = refused(&TINY.replace(from, to)).unwrap_or_default();
        assert!(error.contains(says), "{to}: {error}");
    }
}

/// Why a file is not taken, or its run fails.
fn refused(text: &str) -> Option<String> {
    let ran =
        from_text("tiny.toml", text).and_then(|e| run(&e, &Asked::default(), &How::default()));
    ran.err().map(|e| e.to_string())
}

#[test]
fn the_table_of_bounds_has_each_pool_of_each_model_and_one_pick() {
    for id in ["kairos-upper-bounds", "kairos-upper-bounds-samples"] {
        let forms = super::forms_of(&find(id).unwrap());
        let is_picked = |row: &&Row| row.metric == "picked" && row.value == Some(1.0);
        let pool = |row: &Row| ["model", "pool"].map(|axis| row.axis(axis).unwrap().to_string());
        let picked: Vec<_> = forms.rows.iter().filter(is_picked).map(pool).collect();
        let expected = [
            ["ncf", "1-0-13-0"],
            ["rm2", "1-0-13-0"],
            ["wnd", "1-0-13-0"],
            ["mtwnd", "2-0-8-1"],
            ["dien", "2-0-9-0"],
        ];
        assert_eq!(picked, expected, "{id}");
        assert_eq!(forms.rows.len(), 3 * 5 * 331);
    }
}
