//! `orrery plot`, `orrery reproduce --plot` and the tables behind figures.

use super::process::{Place, Ran};
use super::{POISSON, small_scenario, small_table};
use orrery_results::{DistributionRow, Row, read_csv, read_rows};

/// A sweep's and a run's tables, in `r/`.
fn place() -> Place {
    let place = Place::with("a.toml", small_scenario(POISSON));
    let sweep = "scenario = \"a.toml\"\nseeds = 2\npolicies = [\"fifo\", \"nexus\"]\n\
                 [[axis]]\nkey = \"model.bert.slo_ms\"\nvalues = [60.0, 200.0]\n";
    place.write("s.toml", sweep);
    place.run(&["-q", "sweep", "s.toml", "--out", "r"]).ok();
    place.run(&["run", "a.toml", "--policy", "fifo", "--details", "--out", "r"]).ok();
    place
}

fn bytes(place: &Place, name: &str) -> Vec<u8> {
    std::fs::read(place.path(name)).expect("a picture")
}

#[track_caller]
fn is_a_picture(bytes: &[u8], name: &str) {
    let head: &[u8] = if name.ends_with("png") { b"\x89PNG" } else { b"<?xml" };
    assert!(bytes.starts_with(head) && bytes.len() > 1000, "{name}: {} bytes", bytes.len());
}

#[test]
fn every_table_becomes_a_figure_of_the_same_bytes_each_time() {
    let place = place();
    let log = ["run", "a.toml", "--policy", "fifo", "--log", "a.log"];
    place.run(&log).ok();
    place.run(&["log", "timeline", "a.log", "--format", "csv", "--out", "r/batches.csv"]).ok();
    for table in ["s.csv", "small.distributions.csv", "small.series.csv", "batches.csv"] {
        let table = format!("r/{table}");
        let window: &[&str] =
            if table.contains("batches") { &["--from-ms", "0", "--to-ms", "100"] } else { &[] };
        // Painting takes a debug build a while.
        let outs: &[&str] = if table == "r/s.csv" { &["1.svg", "1.png"] } else { &["1.svg"] };
        for &out in outs {
            let again = out.replace('1', "2");
            for name in [out, &again] {
                let said = place.run(&[&["plot", &table, "--out", name], window].concat()).ok();
                assert_eq!(said, format!("{name}\n"));
            }
            is_a_picture(&bytes(&place, out), out);
            assert!(bytes(&place, out) == bytes(&place, &again), "{table} {out}");
        }
        let svg = place.read("1.svg");
        assert!(svg.trim_end().ends_with("</svg>"), "{svg}");
    }
}

#[test]
fn what_is_drawn_can_be_chosen() {
    let place = place();
    let svg = |more: &[&str]| {
        place.run(&[&["plot", "r/s.csv", "--out", "a.svg"], more].concat()).ok();
        place.read("a.svg")
    };
    let both = svg(&[]);
    assert!(both.contains("nexus") && both.contains("fifo") && both.contains("finish rate"));
    assert!(!svg(&["--system", "fifo"]).contains("nexus"));
    assert!(svg(&["--metric", "latency_p99_ns", "--x", "slo_ms"]) != both);
    let folder = ["plot", "r/s.csv", "--out", "new/folder/a.svg"];
    place.run(&folder).ok();
    is_a_picture(&bytes(&place, "new/folder/a.svg"), "a.svg");
}

#[test]
fn a_word_that_the_table_does_not_have_is_told_the_nearest_one() {
    let place = place();
    for (option, word, near) in [
        ("--metric", "finsh_rate", "finish_rate"),
        ("--metric", "latency_p98_ns", "latency_p9"),
        ("--x", "slo_m", "slo_ms"),
        ("--system", "nexsu", "nexus"),
        ("--scope", "app chit", "app chat"),
    ] {
        let asked = ["plot", "r/s.csv", "--out", "a.svg", option, word];
        let near = format!("did you mean `{near}");
        place.run(&asked).refused(&["r/s.csv", &format!("`{word}`"), &near, "remedy:"]);
    }
    let asked = ["plot", "r/s.csv", "--out", "a.svg", "--metric", "colour"];
    place.run(&asked).refused(&["`colour`", "`finish_rate`", "choose a metric that the table has"]);
    let asked = ["plot", "r/small.distributions.csv", "--out", "a.svg", "--metric", "latncy_ns"];
    place.run(&asked).refused(&["`latncy_ns`", "did you mean `latency_ns`?"]);
    assert!(!place.path("a.svg").exists());
}

#[test]
fn what_is_no_table_or_no_picture_is_refused() {
    let place = place();
    let plot = |args: &[&str]| place.run(&[&["plot"], args].concat());
    plot(&["r/nowhere.csv", "--out", "a.svg"]).refused(&["r/nowhere.csv", "remedy: give the path"]);
    plot(&["a.toml", "--out", "a.svg"]).refused(&["a.toml", "found a scenario", "result table"]);
    place.write("other.csv", "x,y\n1,2\n");
    plot(&["other.csv", "--out", "a.svg"]).refused(&["other.csv", "`metric`", "docs/formats.md"]);
    plot(&["r/s.csv"]).refused(&["--out <FILE>"]);
    plot(&["r/s.csv", "--out", "a.gif"]).refused(&["a.gif", ".svg, .png or .pdf"]);
    plot(&["r/s.csv", "--out", "a.toml/a.svg"]).refused(&["--out", "a.toml/a.svg", "remedy:"]);
    plot(&["r/s.csv", "--out", "a.svg", "--kind", "histogram"])
        .refused(&["`histogram`", "`finish-rate`"]);
    plot(&["r/s.csv", "r/small.series.csv", "--out", "a.svg"])
        .refused(&["r/small.series.csv", "one kind"]);
    let text = place.read("r/s.csv");
    place.write(
        "damaged.csv",
        text.replacen(",all,finish_rate,unitless,,", ",all,finish_rate,unitless,,x", 1),
    );
    assert_ne!(place.read("damaged.csv"), text);
    plot(&["damaged.csv", "--out", "a.svg"]).refused(&["damaged.csv", "remedy:"]);
}

#[test]
fn reproduce_draws_its_table_and_prints_it() {
    let place = Place::with("small.toml", small_table("").replace("= 300", "= 100"));
    let printed = place.run(&["reproduce", "small.toml"]).ok();
    for name in ["new/a.svg", "new/a.png"] {
        assert_eq!(place.run(&["reproduce", "small.toml", "--plot", name]).ok(), printed);
        is_a_picture(&bytes(&place, name), name);
    }
    // A table has no title: its figure is named by experiment, metric and axis.
    place.run(&["reproduce", "small.toml", "--out", "r"]).ok();
    place.run(&["plot", "r/small.csv", "--out", "b.svg"]).ok();
    assert!(place.read("b.svg").contains("small: finish rate by SLO"));
    // As wide as asked for, twice the same, and a PDF with its font.
    let size = ["--width-in", "3.33", "--font-pt", "7"];
    let sized = |name: &str| {
        place.run(&[&["reproduce", "small.toml", "--plot", name], &size[..]].concat()).ok();
        bytes(&place, name)
    };
    let pdf = sized("a.pdf");
    assert!(pdf == sized("b.pdf") && pdf.starts_with(b"%PDF-1.5"));
    let text = String::from_utf8_lossy(&pdf).into_owned();
    assert!(text.contains("/FontFile2") && text.contains("/MediaBox [0 0 239.7"), "{text:.400}");
    place.run(&["plot", "r/small.csv", "--out", "c.pdf", "--width-in", "0.1"]).refused(&["inches"]);
    // For a caption: without title and legend, of a height, with one panel in a row.
    let drawn = |options: &[&str]| {
        let args =
            [&["plot", "r/small.csv", "--out", "d.svg", "--width-in", "5"], options].concat();
        place.run(&args).ok();
        place.read("d.svg")
    };
    let (whole, bare) = (drawn(&[]), drawn(&["--no-title", "--no-legend", "--height-in", "2"]));
    let title = "small: finish rate by SLO";
    assert!(whole.contains(title) && !bare.contains(&format!(">{title}")));
    assert!(whole.contains(">clipper<") && !bare.contains(">clipper<"));
    assert!(bare.contains("height=\"192\"") && !whole.contains("height=\"192\""), "{bare:.300}");
    // For print in black: the same shapes, and no hue.
    let grey = drawn(&["--grey"]);
    let hues = |svg: &str| {
        let colors = svg.split('#').skip(1).filter_map(|rest| rest.get(..6));
        colors.filter(|c| c[..2] != c[2..4] || c[2..4] != c[4..]).count()
    };
    assert!(hues(&whole) > 0 && hues(&grey) == 0, "{grey:.900}");
    let shapes = |svg: &str| svg.matches("<poly").count();
    assert_eq!(shapes(&grey), shapes(&whole));
}

/// Hours of runs are not lost to a picture that does not fit.
#[test]
#[cfg(target_os = "linux")]
fn a_result_leaves_before_its_picture_is_drawn() {
    let place = Place::with("small.toml", small_table("").replace("= 300", "= 100"));
    std::os::unix::fs::symlink("/dev/full", place.path("a.svg")).expect("a link");
    let printed = place.run(&["reproduce", "small.toml", "--format", "csv"]).ok();
    let args = ["reproduce", "small.toml", "--format", "csv", "--out", "r", "--plot", "a.svg"];
    assert_eq!(place.run(&args).answered_but(&["a.svg", "No space left"]), printed);
    assert!(place.read("r/small.csv") == printed);
}

#[test]
fn a_picture_s_name_that_is_wrong_is_found_before_anything_runs() {
    let place = Place::new();
    // A table that would run for minutes: a message at once is one from before.
    let size = ["reproduce", "orloj-table-3", "--width-in", "3"];
    place.run(&size).refused(&["--width-in", "--plot", "remedy"]);
    let args = ["reproduce", "orloj-table-3", "--seeds", "1000000", "--plot", "a.gif"];
    place.run(&args).refused(&["a.gif", ".svg, .png or .pdf", "remedy:"]);
    assert!(place.files().is_empty());
}

#[test]
fn details_are_tables_of_one_run_and_change_nothing_else() {
    let place = Place::with("a.toml", small_scenario(POISSON));
    let args = ["run", "a.toml", "--policy", "fifo", "--format", "csv"];
    let plain = place.run(&args).ok();
    place.run(&[&args[..], &["--details"]].concat()).refused(&["`--details`", "`--out`"]);
    let set = ["--details", "--out", "r", "--set", "arrivals.requests=20"];
    place.run(&[&args[..], &set].concat()).refused(&["`--details`", "no column for what is set"]);
    let printed =
        ["run", "a.toml", "--policy", "fifo", "--set", "arrivals.requests=20", "--details"];
    assert!(place.run(&printed).ok().contains("\nModels and applications\n"));
    let details = place.run(&[&args[..], &["--details", "--out", "r"]].concat()).ok();
    assert_eq!(details, plain);
    let distributions = place.read("r/small.distributions.csv");
    let head = "experiment,case,axes,policy,scope,quantity,x,share,samples,requests\n";
    assert!(distributions.starts_with(head), "{distributions}");
    for quantity in ["latency_ns", "queueing_ns", "batch_size", "alone_ns", "slo_ns"] {
        assert!(distributions.contains(&format!(",{quantity},")), "{quantity}");
    }
    let series = place.read("r/small.series.csv");
    assert!(series.starts_with("experiment,policy,from_ns,to_ns,quantity,value\n"), "{series}");
    let before = (distributions, series);
    place.run(&[&args[..], &["--details", "--out", "r"]].concat()).ok();
    let after = (place.read("r/small.distributions.csv"), place.read("r/small.series.csv"));
    assert!(before == after, "the same bytes");
}

#[test]
fn without_the_paper_s_figures_every_command_has_ours() {
    let vary = "mean_over = [\"case\", \"slo_x_p99\"]\npoint_axis = \"changed\"\n\
                show = [\"mean_abs_error\", \"mean_finish_rate\"]\npresets = [\"calibrated\"]\n\
                [[point]]\nname = \"as it is\"\n\
                [[point]]\nname = \"less load\"\nset = { \"load.offered\" = 1.0 }\n";
    let place = Place::with("small.toml", small_table("").replace("= 300", "= 100"));
    place.write("vary.toml", small_table(vary).replace("= 300", "= 100"));
    place.write("b.toml", "[rerun]\nreproduce = \"small.toml\"\n");
    place.run(&["regress", "b.toml", "--bless"]).ok();
    let without = |args: &[&str]| {
        let output = place.command(args).env("ORRERY_WITHOUT_PAPER", "1").output();
        Ran::of(args, output.expect("a process")).ok()
    };
    // A baseline that was written with the paper's figures holds without them.
    assert!(without(&["regress", "b.toml"]).contains("Passed: "));
    for table in ["small.toml", "vary.toml"] {
        let text = without(&["reproduce", table, "--out", "r", "--plot", "a.svg"]);
        assert!(text.contains("orloj"), "{text}");
        for ending in ["csv", "wide.csv", "json"] {
            let out = place.read(&format!("r/small.{ending}"));
            assert!(out.contains("orloj") && out.contains("finish_rate"), "{ending}:\n{out}");
        }
        is_a_picture(&bytes(&place, "a.svg"), "a.svg");
    }
    assert!(without(&["list"]).contains("orloj-table-3"));
    // A table without them is drawn like one whose figures are left out.
    let csv = without(&["reproduce", "small.toml", "--format", "csv"]);
    assert!(!csv.contains("Table 3"), "{csv}");
    place.write("without.csv", csv);
    place.run(&["reproduce", "small.toml", "--out", "r"]).ok();
    assert!(place.read("r/small.csv").contains("Table 3"));
    place.run(&["plot", "without.csv", "--out", "a.svg"]).ok();
    place.run(&["plot", "r/small.csv", "--out", "b.svg"]).ok();
    place.run(&["plot", "r/small.csv", "--without-paper", "--out", "c.svg"]).ok();
    assert!(place.read("a.svg") != place.read("b.svg"), "the paper's figures are in one of them");
    assert!(place.read("a.svg") == place.read("c.svg"));
}

/// A policy that drops what would be late answers few requests, all of them soon. Its curve ends where its
/// answers do; the other's goes on to the late ones.
#[test]
fn a_latency_cdf_is_of_all_requests_and_shows_the_slo() {
    let scenario = small_scenario("poisson = { rate_per_s = 400.0 }\nrequests = 2000")
        .replace(r#"["orloj", "clockwork", "fifo"]"#, r#"["nexus", "nexus[drop=none]"]"#);
    let place = Place::with("a.toml", scenario);
    let csv =
        place.run(&["-q", "run", "a.toml", "--details", "--out", "o", "--format", "csv"]).ok();
    let rows: Vec<Row> = read_rows("a.csv", &csv).expect("a table");
    let count = |policy: &str, metric: &str| {
        let is_it = |r: &&Row| r.policy == policy && r.metric == metric && r.scope == "all";
        rows.iter().find(is_it).and_then(|r| r.value).expect("a count")
    };
    let table = place.read("o/small.distributions.csv");
    let points: Vec<DistributionRow> = read_csv("d.csv", &table).expect("a table");
    for policy in ["nexus", "nexus[drop=none]"] {
        let (all, in_time, late) =
            (count(policy, "requests"), count(policy, "in_time"), count(policy, "late"));
        for quantity in ["latency_ns", "queueing_ns"] {
            let own = points.iter().filter(|p| p.policy == policy && p.quantity == quantity);
            let own: Vec<&DistributionRow> = own.collect();
            let end = own.iter().map(|p| p.share).fold(0.0, f64::max);
            assert!((end - (in_time + late) / all).abs() < 1e-12, "{policy} {quantity}: {end}");
            assert!(
                own.iter().all(|p| p.requests as f64 == all && p.samples as f64 == in_time + late)
            );
        }
    }
    assert!(count("nexus", "in_time") < 0.9 * count("nexus", "requests"), "it drops");
    // Two applications, with SLOs of 60 and 100 ms.
    let slos: Vec<f64> = points.iter().filter(|p| p.quantity == "slo_ns").map(|p| p.x).collect();
    assert_eq!(slos, [60e6, 100e6]);
    let shares: Vec<f64> =
        points.iter().filter(|p| p.quantity == "slo_ns").map(|p| p.share).collect();
    assert!((0.6..0.75).contains(&shares[0]) && shares[1] == 1.0, "{shares:?}");
    place.run(&["plot", "o/small.distributions.csv", "--out", "a.svg"]).ok();
    let svg = place.read("a.svg");
    for says in ["share of all requests", "SLO (60, 100 ms)", "end at the share of requests"] {
        assert!(svg.contains(says), "{says}: {svg}");
    }
    // Without the number of requests the shares have no meaning.
    let old: String =
        table.lines().map(|l| format!("{}\n", l.rsplit_once(',').expect("columns").0)).collect();
    place.write("old.csv", old);
    place.run(&["plot", "old.csv", "--out", "a.svg"]).refused(&["old.csv", "`requests`", "remedy"]);
}
