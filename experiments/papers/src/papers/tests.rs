//! Every shipped experiment is sound, and what is refused is refused with its place.

mod pool;

use super::experiment::{Experiment, Kind};
use super::numbers::is_at;
use super::registry::{self, find, from_text};
use super::reproduce::{Asked, How, Outcome, run, with};
use super::runners;
use crate::output::Forms;

fn forms_of(e: &Experiment) -> Forms {
    let Ok(Outcome::Whole(forms)) = run(e, &Asked::default(), &How::default()) else {
        panic!("{} runs", e.id)
    };
    *forms
}

/// The forms of a file's text, on so many threads.
fn forms(text: &str, jobs: usize) -> Forms {
    let e = from_text("tiny.toml", text).unwrap_or_else(|e| panic!("{e}"));
    let how = How { jobs, ..How::default() };
    match run(&e, &Asked::default(), &how).unwrap_or_else(|e| panic!("{e}")) {
        Outcome::Whole(forms) => *forms,
        _ => panic!("it is run whole"),
    }
}

/// Its cells can be set up, and the paper's numbers and sentences name some of them.
#[test]
fn every_shipped_experiment_is_sound() {
    for id in registry::ids() {
        let e = find(id).unwrap_or_else(|e| panic!("{id}: {e}"));
        assert_eq!(e.id, id);
        let e = with(&e, &Asked::default()).unwrap_or_else(|e| panic!("{id}: {e}"));
        let runner = runners::of(&e, None).unwrap_or_else(|e| panic!("{id}: {e}"));
        assert!(!runner.parts().is_empty(), "{id}");
        let places = runner.places();
        if places.is_empty() || e.kind() == Kind::Means {
            continue;
        }
        let at = e.paper.iter().map(|p| &p.at).chain(e.claim.iter().map(|c| &c.at));
        for at in at {
            assert!(places.iter().any(|p| is_at(p, at)), "{id}: {at}");
        }
    }
}

#[test]
fn an_unknown_id_gets_the_nearest_of_all() {
    for (id, near) in [
        ("kairos-fig8", "kairos-fig-8"),
        ("symphony-fig16", "symphony-fig-16"),
        ("orloj-tabel-3", "orloj-table-3"),
        ("symphony-fg-15", "symphony-fig-15"),
    ] {
        let error = find(id).unwrap_err().to_string();
        assert!(error.contains(&format!("did you mean `{near}`")), "{error}");
    }
}

#[test]
fn a_file_of_a_former_shape_says_what_has_changed() {
    for (key, now) in [
        ("paper_table = 3", "paper_csv"),
        ("slo_x_p99 = [1.5]", "[[axis]]"),
        ("models = [\"rm2\"]", "[pool]"),
        ("[[vary]]\nname = \"x\"", "[[point]]"),
        ("[[column]]\nname = \"x\"", "[[system]]"),
    ] {
        let text = format!("id = \"x\"\nshow = [\"finish_rate\"]\n{key}\n");
        let error = from_text("old.toml", &text).unwrap_err().to_string();
        assert!(error.contains(now) && error.contains("old.toml:3"), "{error}");
    }
}

/// A table that runs in a moment.
const SMALL: &str = r#"
extends = "orloj-table-3"
id = "small"
seeds = 1
[[axis]]
key = "case"
values = ["one-modal", "six-modal"]
[[axis]]
key = "slo_x_p99"
values = [3]
[applications.load]
requests = 300
"#;

#[test]
fn wrong_files_are_errors_with_their_place() {
    for (from, to, says) in [
        ("seeds = 1", "seeds = 0", "seeds"),
        ("id = \"small\"", "id = \"a/b\"", "names files"),
        ("\"six-modal\"", "\"nine-modal\"", "N-modal"),
        ("values = [3]", "values = [\"x\"]", "slo_x_p99"),
        ("requests = 300", "requests = 0", "load.requests"),
        ("requests = 300", "request = 300", "request"),
        ("extends = \"orloj-table-3\"", "extends = \"orloj-tabel-3\"", "did you mean"),
        ("seeds = 1", "seeds = 1\nscenario = \"x\"", "one of `scenario`"),
        ("seeds = 1", "seeds = 1\nparts_of_time = 3", "only with `scenario`"),
        ("seeds = 1", "seeds = 1\nset = { \"load.ofered\" = 2.0 }", "load.ofered"),
        ("seeds = 1", "seeds = 1\nmean_over = [\"case\"]", "mean_over"),
        ("seeds = 1", "seeds = 1\nerrors = { by = [\"cas\"] }", "did you mean `case`"),
        (
            "seeds = 1",
            "seeds = 1\nshow = [\"latency_p99_ns\"]\nerrors = {}",
            "such as `finish_rate`",
        ),
        ("seeds = 1", "seeds = 1\npaper_csv = { file = \"none.csv\" }", "none.csv"),
        ("seeds = 1", "seeds = 1\ncompare_to = \"orlog\"", "did you mean `orloj`"),
    ] {
        assert!(SMALL.contains(from), "{from}");
        let text = SMALL.replace(from, to);
        let ran = from_text("small.toml", &text)
            .and_then(|e| run(&e, &Asked::default(), &How::default()));
        let error = ran.err().map(|e| e.to_string()).unwrap_or_else(|| panic!("{to} is taken"));
        assert!(error.contains(says), "{to}: {error}");
    }
}

/// Shards of any kind, joined, are the whole; a missing one is told.
#[test]
fn shards_are_joined_to_the_whole() {
    use super::reproduce::merge;
    use crate::cells::shard::Shard;
    let e = from_text("small.toml", SMALL).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let out = Some(folder.path().to_path_buf());
    let part = |k: &str| {
        let shard = Some(k.parse::<Shard>().unwrap());
        run(&e, &Asked::default(), &How { out: out.clone(), shard, ..How::default() })
    };
    assert!(matches!(part("1/2"), Ok(Outcome::Shard(n)) if n > 0));
    let error = merge(folder.path(), false).err().map(|e| e.to_string()).unwrap_or_default();
    assert!(error.contains("not there") && error.contains("--shard"), "{error}");
    part("2/2").unwrap();
    let Ok((_, Outcome::Whole(joined))) = merge(folder.path(), false) else {
        panic!("all is there")
    };
    let whole = forms(SMALL, 2);
    assert_eq!((joined.table, joined.json), (whole.table, whole.json));
    let other = Asked { seeds: Some(2), ..Asked::default() };
    let shard = Some("1/2".parse::<Shard>().unwrap());
    let refused = run(&e, &other, &How { out, shard, ..How::default() });
    let error = refused.err().map(|e| e.to_string()).unwrap_or_default();
    assert!(error.contains("other options"), "{error}");
}
