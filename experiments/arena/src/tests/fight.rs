use crate::against::Against;
use crate::fight::{Asked, Fought, How, Outcome, fight};
use crate::league::League;
use crate::suite::{INDEX, Suite};
use crate::ties::break_ties;
use crate::{document, rows};
use orrery_results::{Row, metric};
use orrery_scenario::PolicySpec;
use std::path::Path;

const SCENARIO: &str = "
policies = [\"fifo\"]

[[model]]
name = \"m\"
slo_ms = 40.0
latency = { affine = { alpha_ms = 1.0, beta_ms = 5.0 } }

[[app]]
name = \"a\"
model = \"m\"
time = { constant = { ms = 6.0 } }

[arrivals]
poisson = { rate_per_s = 300.0 }
requests = 600
";

pub(super) fn write(folder: &Path) {
    let index = "maps = [[\"load\", \"slo\"]]\n\n[[axis]]\nname = \"load\"\nmeans = \"load\"\n";
    let mut index = index.to_string();
    for (load, rate) in [("low", "100.0"), ("high", "900.0")] {
        for slo in ["20.0", "40.0"] {
            let name = format!("{load}-{slo}");
            index += &format!(
                "\n[[scenario]]\nname = \"{name}\"\naxes = \"load={load};slo={slo}\"\nasks = \"?\"\n"
            );
            let text = SCENARIO.replace("300.0", rate).replace("40.0", slo);
            std::fs::write(folder.join(format!("{name}.toml")), text).expect("a scenario");
        }
    }
    let two = SCENARIO.replacen("name = \"m\"", "name = \"m\"\ncopies = 2", 1);
    std::fs::write(folder.join("two.toml"), two).expect("a scenario");
    index += "\n[[scenario]]\nname = \"two\"\naxes = \"models=2\"\nasks = \"?\"\n";
    std::fs::write(folder.join(INDEX), index).expect("an index");
}

pub(super) fn asked(folder: &Path) -> Asked {
    let names = ["fifo", "nexus", "eager", "shepherd", "oracle"];
    let policies = names.iter().map(|n| PolicySpec::parse(n).expect("a policy")).collect();
    let suite = Suite::find(&folder.display().to_string()).expect("a suite");
    Asked::of(suite, policies, 3)
}

pub(super) fn whole(asked: &Asked, how: &How) -> Vec<Vec<Fought>> {
    match fight(asked, how).expect("a fight") {
        Outcome::Whole(cells) => cells,
        _ => panic!("not whole"),
    }
}

fn league(asked: &Asked, how: &How) -> (String, String, String) {
    let cells = break_ties(asked, how, whole(asked, how)).expect("a fight").expect("not stopped");
    let league = League::of(asked.clone(), vec![0], cells);
    let rows = rows::of(&league);
    let json =
        orrery_results::to_json(&rows, &[("arena", rows::json(&league, None, Default::default()))]);
    (
        document::document(&league, None, None, &Default::default(), &[]).to_text(),
        orrery_results::to_csv(&rows),
        json,
    )
}

#[test]
fn threads_shards_and_cells_that_are_kept_change_no_byte() {
    let folder = tempfile::tempdir().expect("a folder");
    write(folder.path());
    let asked = asked(folder.path());
    let alone = league(&asked, &How { jobs: 1, ..How::default() });
    assert_eq!(league(&asked, &How { jobs: 4, ..How::default() }), alone);
    let out = Some(folder.path().join("out"));
    for shard in ["1/2", "2/2"] {
        let how = How { out: out.clone(), shard: shard.parse().ok(), ..How::default() };
        let Outcome::Part(cells) = fight(&asked, &how).expect("a shard") else { panic!("a part") };
        assert!(cells > 5);
    }
    assert_eq!(league(&asked, &How { out: out.clone(), ..How::default() }), alone);
    // More seeds go on from there.
    let more = Asked { seeds: 4, ..asked };
    let fresh = league(&more, &How::default());
    assert_eq!(league(&more, &How { out, ..How::default() }), fresh);
    assert_ne!(fresh, alone);
}

#[test]
fn who_cannot_run_a_scenario_has_an_empty_cell_with_the_reason() {
    let folder = tempfile::tempdir().expect("a folder");
    write(folder.path());
    let cells = whole(&asked(folder.path()), &How::default());
    let reason = |s: usize, p: usize| (cells[s][p].runs.len(), cells[s][p].reason.as_str());
    assert_eq!(reason(0, 1), (3, ""));
    let (runs, why) = reason(4, 1);
    assert!(runs == 0 && why.contains("serves one model"), "{why}");
    let (runs, why) = reason(0, 3);
    assert!(runs == 0 && why.contains("stops running batches"), "{why}");
    let (text, csv, _) = league(&asked(folder.path()), &How::default());
    assert!(
        text.contains("shepherd, 5 scenarios: policy `shepherd`: it stops running batches"),
        "{text}"
    );
    let refused = csv.lines().find(|l| l.contains("two,") && l.contains(",nexus,")).expect("a row");
    assert!(refused.contains("arena_score") && refused.contains("serves one model"), "{refused}");
}

#[test]
fn every_row_names_the_suite_by_its_hash_and_text_fits_a_terminal() {
    let folder = tempfile::tempdir().expect("a folder");
    write(folder.path());
    let asked = asked(folder.path());
    let (text, csv, json) = league(&asked, &How::default());
    assert!(csv.lines().skip(1).all(|l| l.contains(&asked.suite.sha256)));
    assert!(text.contains(&asked.suite.sha256) && json.contains(&asked.suite.sha256));
    assert!(text.lines().all(|l| l.chars().count() <= 80), "{text}");
    let read = orrery_results::read_rows("a", &csv).expect("rows");
    assert!(read.iter().all(|r| orrery_results::is_metric(&r.metric)));
}

#[test]
fn a_result_is_compared_with_another_one_cell_by_cell() {
    let folder = tempfile::tempdir().expect("a folder");
    write(folder.path());
    let asked = asked(folder.path());
    let of =
        |asked: &Asked| rows::of(&League::of(asked.clone(), vec![], whole(asked, &How::default())));
    let now = of(&asked);
    let same = Against::of("a.csv", &now, &now).expect("a comparison");
    assert!(!same.has_moved() && same.same == 25, "{same:?}");
    // A cell that moved is named; one that is refused now as well.
    let mut before = now.clone();
    let is_score = |r: &&mut Row| r.metric == metric::ARENA_SCORE && r.value.is_some();
    let first = before.iter_mut().find(is_score).expect("a score");
    first.value = first.value.map(|v| v + 0.01);
    let moved = Against::of("a.csv", &now, &before).expect("a comparison");
    assert!(moved.has_moved() && moved.moved.len() == 1 && moved.same == 24, "{moved:?}");
    assert_eq!(moved.moved[0].policy, "fifo");
    // Another policy is no change.
    let others: Vec<Row> = now.iter().filter(|r| r.policy != "eager").cloned().collect();
    let more = Against::of("a.csv", &now, &others).expect("a comparison");
    assert!(!more.has_moved() && more.only_here == ["eager"] && more.same == 20, "{more:?}");
    // Another suite, other seeds: refused.
    let more = Asked { seeds: 2, ..asked };
    let error = Against::of("a.csv", &of(&more), &now).expect_err("other seeds").to_string();
    assert!(error.contains("a.csv") && error.contains("--seeds 3"), "{error}");
    let mut other = now.clone();
    other.iter_mut().for_each(|r| r.inputs_sha256 = "suite-x=0".into());
    let error = Against::of("a.csv", &now, &other).expect_err("another suite").to_string();
    assert!(error.contains("suite-x=0") && error.contains("remedy"), "{error}");
}

/// Policies that differ little.
fn nearly_equal(folder: &Path) -> Asked {
    let names = ["timeout[drop_expired=true,max_wait_ms=3]", "nexus"];
    let policies = names.iter().map(|n| PolicySpec::parse(n).expect("a policy")).collect();
    Asked { policies, ..asked(folder) }
}

#[test]
fn ties_are_looked_at_again_with_more_seeds_of_all_policies_and_the_bytes_are_the_same() {
    let folder = tempfile::tempdir().expect("a folder");
    write(folder.path());
    let few = nearly_equal(folder.path());
    let asked = Asked { tie_seeds: Some(24), ..few.clone() };
    let before = whole(&few, &How::default());
    let after = break_ties(&asked, &How::default(), before.clone()).expect("a fight").expect("all");
    let league = League::of(asked.clone(), vec![], after.clone());
    let more: Vec<usize> = (0..after.len()).filter(|s| league.seeds(*s) == 24).collect();
    assert!(!more.is_empty() && more.len() < after.len(), "{more:?}");
    let runs =
        |cells: &[Vec<Fought>], s: usize| -> Vec<Vec<orrery_sweep::replication::Replication>> {
            cells[s].iter().map(|c| c.runs.clone()).collect()
        };
    for s in 0..after.len() {
        let (before, after) = (runs(&before, s), runs(&after, s));
        for (before, after) in before.iter().zip(&after) {
            let asked = if before.is_empty() {
                0
            } else if more.contains(&s) {
                24
            } else {
                3
            };
            assert_eq!(after.len(), asked, "{s}");
            assert_eq!(after[..before.len()], before[..], "the seeds that were there are the same");
        }
    }
    let alone = self::league(&asked, &How { jobs: 1, ..How::default() });
    assert_eq!(self::league(&asked, &How { jobs: 4, ..How::default() }), alone);
    let out = Some(folder.path().join("out"));
    for shard in ["1/2", "2/2"] {
        let how = How { out: out.clone(), shard: shard.parse().ok(), ..How::default() };
        assert!(matches!(fight(&asked, &how), Ok(Outcome::Part(_))));
    }
    assert_eq!(self::league(&asked, &How { out: out.clone(), ..How::default() }), alone);
    assert_eq!(self::league(&asked, &How { out, ..How::default() }), alone, "all kept");
    let (text, csv, json) = alone;
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains(&format!("24 in {} that were tied", more.len())), "{text}");
    assert!(text.contains("More seeds where tied") && json.contains("\"seeds\": 24"), "{json}");
    assert!(csv.contains(",1-24,") && csv.contains(",1-3,"), "{csv}");
    assert!(text.lines().all(|l| l.chars().count() <= 80), "{text}");
}
