use super::fight::{asked, whole, write};
use crate::fight::{Asked, How, Outcome, fight};
use crate::league::League;
use crate::rates::{SEEDS, part, rates, search, searched};
use crate::suite::Suite;
use crate::{document, rows};
use orrery_results::{metric, to_csv};
use orrery_run::PolicySpec;

#[test]
fn a_rate_is_asked_for_where_a_process_of_a_few_models_has_one() {
    let asked = Asked::of(Suite::find("2026.1").expect("the suite"), vec![], 5);
    let (own, _) = searched(&asked);
    let names: Vec<&str> = own.iter().map(|s| asked.suite.scenarios[*s].name.as_str()).collect();
    assert_eq!(names.len(), 52);
    assert!(
        !names.iter().any(|n| n.contains("azure") || n.contains("-on-64") || n.contains("-on-8"))
    );
    assert!(names.contains(&"cluster-5-on-4-zipf-gamma") && names.contains(&"pool-kairos-rm2-low"));
}

#[test]
fn rates_are_those_of_the_one_search_whatever_the_threads_and_shards() {
    let folder = tempfile::tempdir().expect("a folder");
    write(folder.path());
    let names = ["eager", "nexus"];
    let policies = names.iter().map(|n| PolicySpec::parse(n).expect("a policy")).collect();
    let asked = Asked { policies, ..asked(folder.path()) };
    let text = |how: &How| {
        let mut league = League::of(asked.clone(), vec![], whole(&asked, how));
        league.rates = rates(&asked, how).expect("a search");
        let rates = league.rates.clone().expect("rates");
        (document::document(&league, None, &[]).to_text(), to_csv(&rows::of(&league)), rates)
    };
    let (said, csv, found) = text(&How { jobs: 1, ..How::default() });
    let out = Some(folder.path().join("out"));
    for shard in ["1/2", "2/2"] {
        let how = How { out: out.clone(), shard: shard.parse().ok(), ..How::default() };
        assert!(matches!(fight(&asked, &how), Ok(Outcome::Part(_))));
        assert!(part(&asked, &how).expect("a shard").is_some_and(|cells| cells > 1));
    }
    let (said_too, csv_too, _) = text(&How { jobs: 4, out, ..How::default() });
    assert_eq!((&said, &csv), (&said_too, &csv_too));
    // What a direct search finds, in every scenario, with every seed.
    assert_eq!(found.scenarios, [0, 1, 2, 3, 4]);
    for (s, row) in found.scenarios.iter().zip(&found.cells) {
        let scenario = &asked.suite.scenarios[*s].scenario;
        let runs = &row[0].runs;
        assert_eq!(runs.len(), SEEDS as usize);
        let direct = search().run(scenario, &asked.policies[0], runs[1].seed).expect("a search");
        assert_eq!(runs[1].value("all", metric::PEAK), direct.value("all", metric::PEAK));
        assert!(direct.value("all", metric::PEAK) > Some(0.0));
    }
    assert!(said.contains("Rates") && said.contains("best in"), "{said}");
    assert!(csv.contains(",peak_goodput_per_s,") && csv.contains("serves one model"), "{csv}");
    assert!(said.lines().all(|l| l.chars().count() <= 80), "{said}");
}

#[test]
fn only_settings_that_are_slow_are_called_so() {
    let why = |text: &str| PolicySpec::parse(text).expect("a policy").why_slow();
    assert!(why("kairos[rows=all]").is_some_and(|why| why.contains("kairos[rows=all]")));
    assert!(why("kairos[preset=paper]").is_some(), "the paper matches all");
    for fine in ["kairos", "kairos[rows=twice]", "orloj"] {
        assert_eq!(why(fine), None);
    }
}
