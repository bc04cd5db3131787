//! Every shipped experiment is sound, and what is refused is refused with its place.

mod cases;
mod faults;
mod measured;
mod pool;
mod readings;
mod tokens;

use super::experiment::Experiment;
use super::numbers::is_at;
use super::registry::{self, find, from_text};
use super::reproduce::{Asked, How, Outcome, run, with};
use orrery_report::Forms;
use rayon::prelude::*;

/// Sentences are looked for in text that is whole and not folded.
fn forms_of(e: &Experiment) -> Forms {
    orrery_report::width::set_width(usize::MAX);
    let asked = Asked { details: true, ..Asked::default() };
    let Ok(Outcome::Whole(forms)) = run(e, &asked, &How::default()) else {
        panic!("{} runs", e.id)
    };
    *forms
}

/// The forms of a file's text, on so many threads.
fn forms(text: &str, jobs: usize) -> Forms {
    orrery_report::width::set_width(usize::MAX);
    let e = from_text("tiny.toml", text).unwrap_or_else(|e| panic!("{e}"));
    let how = How { jobs, ..How::default() };
    match run(&e, &Asked::default(), &how).unwrap_or_else(|e| panic!("{e}")) {
        Outcome::Whole(forms) => *forms,
        _ => panic!("it is run whole"),
    }
}

/// Its cells can be set up, no value has two numbers of the paper, these and the sentences name some of the cells, and
/// its figure can be drawn. One test: to make all cells is what takes time.
#[test]
fn every_shipped_experiment_is_sound() {
    // All 15,120 cells of a whole grid take half a minute; its sample has the same file but for the list of them.
    let ids: Vec<&str> = registry::ids().filter(|id| *id != "symphony-fig-7").collect();
    ids.par_iter().with_max_len(1).for_each(|id| {
        let e = find(id).unwrap_or_else(|e| panic!("{id}: {e}"));
        assert_eq!(e.id, *id);
        let e = with(&e, &Asked::default()).unwrap_or_else(|e| panic!("{id}: {e}"));
        let runner = e.kind.runner(&e, None).unwrap_or_else(|e| panic!("{id}: {e}"));
        assert!(!runner.parts().is_empty(), "{id}");
        crate::figure::check_of_no_data(&e, &*runner);
        let places = runner.places();
        if places.is_empty() {
            return;
        }
        let at = e.paper.iter().map(|p| &p.at).chain(e.claim.iter().map(|c| &c.at));
        for at in at {
            assert!(places.iter().any(|p| is_at(p, at)), "{id}: {at}");
        }
    });
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
        ("id = \"small\"", "id = \"a/b\"", "names files"),
        ("requests = 300", "request = 300", "request"),
        ("seeds = 1", "seeds = 1\nscenario = \"x\"", "one of `scenario`"),
        ("seeds = 1", "seeds = 1\nparts_of_time = 3", "only with `scenario`"),
        ("seeds = 1", "seeds = 1\nmean_over = [\"case\"]", "mean_over"),
        ("seeds = 1", "seeds = 1\nerrors = { by = [\"cas\"] }", "did you mean `case`"),
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

/// Models, applications and devices have rows where they are asked for, from the same cells.
#[test]
fn details_are_made_where_they_are_asked_for() {
    let text = IN_BINS.replace("bin_s = 2.5\n", "");
    let e = from_text("details.toml", &text).unwrap();
    let out = Some(tempfile::tempdir().unwrap().keep());
    let rows = |details: bool| {
        let (asked, how) =
            (Asked { details, ..Asked::default() }, How { out: out.clone(), ..How::default() });
        let Ok(Outcome::Whole(forms)) = run(&e, &asked, &how) else { panic!("it runs") };
        forms.rows
    };
    let (few, many) = (rows(false), rows(true));
    assert!(few.iter().all(|r| r.scope == "all"));
    assert!(many.iter().any(|r| r.scope.starts_with("model ")));
    let whole: Vec<_> = many.into_iter().filter(|r| r.scope == "all").collect();
    assert_eq!(few, whole);
}

/// Shards of any kind, joined, are the whole; a missing one is told.
#[test]
fn shards_are_joined_to_the_whole() {
    use super::reproduce::merge;
    use orrery_sweep::shard::Shard;
    orrery_report::width::set_width(usize::MAX);
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
    assert_eq!((&joined.table, joined.json()), (&whole.table, whole.json()));
    let other = Asked { seeds: Some(2), ..Asked::default() };
    let shard = Some("1/2".parse::<Shard>().unwrap());
    let refused = run(&e, &other, &How { out, shard, ..How::default() });
    let error = refused.err().map(|e| e.to_string()).unwrap_or_default();
    assert!(error.contains("other options"), "{error}");
}

/// Two groups on a device that holds two of four models.
const IN_BINS: &str = r#"
id = "bins"
title = "bins"
source = "mine"
seeds = 1
show = ["goodput_per_s"]
bin_s = 2.5
scenario = '''
until_s = 10.0
[[model]]
name = "m"
copies = 4
slo_ms = 60.0
pages = 4
load_ms = 8.0
latency = { table = [[1, 3.0], [2, 4.0], [4, 6.0]] }
[[app]]
name = "one"
model = "m"
[[device]]
memory_pages = 9
[arrivals]
poisson = { rate_per_s = 120.0 }
duration_s = 9.9
'''
[[point]]
name = "p"
[point.set]
until_s = 10.0
[[system]]
name = "clockwork"
policy = "clockwork"
"#;

#[test]
fn bins_of_time_add_up_to_the_whole_and_groups_to_their_bin() {
    let grouped = IN_BINS.replace("name = \"one\"", "name = \"one\"\ngroup = \"x\"").replace(
        "[[device]]",
        "[[model]]\nname = \"n\"\nslo_ms = 60.0\npages = 4\nload_ms = 8.0\n\
         latency = { table = [[1, 3.0], [2, 4.0]] }\n\
         [[app]]\nname = \"two\"\nmodel = \"n\"\ngroup = \"y\"\n[[device]]",
    );
    let whole = forms(&grouped, 1);
    let rows = whole.rows;
    let value = |axes: &str, metric: &str| {
        let is = |r: &&orrery_results::Row| {
            r.axes == axes && r.metric == metric && r.scope == "all" && r.versus.is_empty()
        };
        rows.iter().find(is).and_then(|r| r.value).unwrap_or_else(|| panic!("{axes} {metric}"))
    };
    let bins = ["0", "2.5", "5", "7.5"].map(|from| format!("point=p;from_s={from}"));
    for metric in ["goodput_per_s", "offered_per_s", "cold_per_s"] {
        for bin in &bins {
            let groups: f64 =
                ["x", "y"].map(|g| value(&format!("{bin};group={g}"), metric)).iter().sum();
            assert!((groups - value(bin, metric)).abs() < 1e-9, "{bin} {metric}");
        }
    }
    // In a text the groups are columns, a line for each bin.
    let shown: Vec<&str> = whole.table.lines().skip_while(|l| *l != "Results").collect();
    assert_eq!(shown[1].trim(), "goodput, requests/s: clockwork by group");
    assert_eq!(
        shown[2].split_whitespace().collect::<Vec<_>>(),
        ["point", "from_s", "all", "x", "y"]
    );
    let read = |line: &&str| -> Vec<f64> {
        line.split_whitespace().filter_map(|word| word.parse().ok()).collect()
    };
    for (line, bin) in shown[4..8].iter().zip(&bins) {
        let groups = ["x", "y"].map(|g| value(&format!("{bin};group={g}"), "goodput_per_s"));
        let all = [value(bin, "goodput_per_s"), groups[0], groups[1]];
        let told = read(line);
        let is_told = |(told, exact): (&f64, f64)| (told - exact).abs() <= 0.005 * exact;
        assert!(told.len() == 4 && told[1..].iter().zip(all).all(is_told), "{line}: {all:?}");
    }
    // The last bin ends with the run.
    let end_s = value("point=p", "in_time") / value("point=p", "goodput_per_s");
    let spans_s = [2.5, 2.5, 2.5, end_s - 7.5];
    let sum =
        |metric: &str| bins.iter().zip(spans_s).map(|(b, s)| s * value(b, metric)).sum::<f64>();
    assert!((sum("offered_per_s") - value("point=p", "requests")).abs() < 1e-6);
    assert!((sum("goodput_per_s") - value("point=p", "in_time")).abs() < 1e-6);
    assert!((sum("loads_per_s") - value("point=p", "loads")).abs() < 1e-6);
    let mean = sum("load_utilisation") / end_s;
    assert!((mean - value("point=p", "load_utilisation")).abs() < 1e-9);
    assert!(value("point=p", "loads") > 20.0);
    let longest = bins.iter().map(|b| value(b, "latency_max_ns")).fold(0.0, f64::max);
    assert_eq!(value("point=p", "latency_max_ns"), longest);
    // Parts that hold the whole run are not told again.
    let once = forms(&grouped.replace("bin_s = 2.5", "bin_s = 20.0"), 1).rows;
    assert!(once.iter().all(|r| r.axis("from_s").is_none()));
    let is_longest = |r: &&orrery_results::Row| r.metric == "latency_max_ns";
    assert_eq!(once.iter().find(is_longest).and_then(|r| r.value), Some(longest));
}

#[test]
fn a_figure_shows_one_group_and_names_parts_of_the_time() {
    let figure = "\n[figure]\nat = \"group=x\"\nx = \"from_s\"\nnames = { \"2.5\" = \"9.25\" }\n";
    let text = IN_BINS.replace("name = \"one\"", "name = \"one\"\ngroup = \"x\"") + figure;
    let two = text
        .replace("[[device]]", "[[app]]\nname = \"two\"\nmodel = \"m\"\ngroup = \"y\"\n[[device]]");
    let draw = |text: &str| {
        let e = from_text("tiny.toml", text).map_err(|e| e.to_string())?;
        let rows = forms(text, 1).rows;
        super::figure::of(&e, &rows).map(|f| f.to_svg()).map_err(|e| e.to_string())
    };
    let svg = draw(&two).expect("a figure");
    assert!(svg.contains("9.25") && !svg.contains("group y"), "{svg}");
    assert!(draw(&two.replace("at = \"group=x\"\n", "")).expect("a figure").contains("group y"));
    let error = draw(&two.replace("group=x", "group=z")).expect_err("there is no z");
    for part in ["figure.at", "group=z", "allowed", "remedy"] {
        assert!(error.contains(part), "{error}");
    }
    let error = draw(&two.replace("{ \"2.5\"", "{ \"2.4\"")).expect_err("no part begins then");
    assert!(error.contains("figure.names") && error.contains("2.4"), "{error}");
}

#[test]
fn bins_are_refused_where_they_make_no_sense() {
    for (to, says) in [
        ("bin_s = 0.0", "0.001 to"),
        ("bin_s = 2.5\nparts_of_time = 3", "one way to cut the time"),
        ("bin_s = 2.5\n[goodput]\ntarget = 0.5", "one run in each cell"),
    ] {
        let text = match to.split_once("\n[goodput]") {
            Some((bin, search)) => IN_BINS.replace("bin_s = 2.5", bin) + "[goodput]" + search,
            None => IN_BINS.replace("bin_s = 2.5", to),
        };
        let error = from_text("tiny.toml", &text)
            .and_then(|e| run(&e, &Asked::default(), &How::default()).map(|_| String::new()));
        let error = error.err().map(|e| e.to_string()).unwrap_or_default();
        assert!(error.contains(says), "{to}: {error}");
    }
}
