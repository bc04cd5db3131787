//! Every id with every option of `orrery reproduce`: it works, or is refused before anything runs.

use super::process::Place;
use super::small_table;
use orrery_reproduce::options::{CliOption, Refused};
use orrery_reproduce::registry;
use orrery_results::{Row, read_rows};

/// An option with a value.
fn arguments(option: CliOption) -> &'static [&'static str] {
    match option {
        // `symphony-table-2` and others have points, models or solvers of their own: see below.
        CliOption::Case => &["--case", "no such case"],
        CliOption::Paper => &["--paper", "orloj_finish_rates.csv"],
        CliOption::Seeds => &["--seeds", "2"],
        CliOption::UntilCi => &["--until-ci", "0.5"],
        CliOption::MaxSeeds => &["--until-ci", "0.5", "--max-seeds", "100"],
        CliOption::Jobs => &["--jobs", "1"],
        CliOption::Format => &["--format", "csv"],
        CliOption::Out => &["--out", "nowhere/file"],
        CliOption::Shard => &["--shard", "1/2"],
        CliOption::Plot => &["--plot", "a.svg"],
        CliOption::Html => &["--html", "a.html"],
        CliOption::WidthIn => &["--plot", "a.pdf", "--width-in", "3.33"],
        CliOption::HeightIn => &["--plot", "a.pdf", "--height-in", "2.5"],
        CliOption::Columns => &["--plot", "a.svg", "--columns", "2"],
        CliOption::NoTitle => &["--plot", "a.svg", "--no-title"],
        CliOption::NoLegend => &["--plot", "a.svg", "--no-legend"],
        CliOption::Grey => &["--plot", "a.png", "--grey"],
        CliOption::FontPt => &["--plot", "a.png", "--font-pt", "7"],
        CliOption::Set => &["--set", "a.key=1"],
        CliOption::Details => &["--details"],
    }
}

#[test]
fn every_option_of_every_id_works_or_is_refused_before_anything_runs() {
    // A folder that cannot be is found last of what is checked: where it is what is complained of,
    // the option was accepted, and nothing ran.
    let place = Place::with("nowhere", "");
    let mut count = 0;
    // Ids that refuse the same options in the same words are one to the command line.
    let mut seen = Vec::new();
    for id in registry::ids() {
        let e = registry::find(id).unwrap_or_else(|e| panic!("{e}"));
        let refused = CliOption::ALL.map(|option| e.refused(option));
        count += refused.len();
        if seen.contains(&refused) {
            continue;
        }
        for (option, refused) in CliOption::ALL.into_iter().zip(refused) {
            let args = [&["reproduce", id], arguments(option), &["--out", "nowhere/x"]].concat();
            let args = if option == CliOption::Out { &args[..args.len() - 2] } else { &args[..] };
            if let Some(Refused { allowed, .. }) = refused {
                let name = match option {
                    CliOption::MaxSeeds => "--until-ci",
                    option => option.name(),
                };
                let key = format!("key `{name}`");
                place.run(args).refused(&[&key, &format!("`{id}`"), allowed, "remedy: "]);
                continue;
            }
            match option {
                // Whether there is such a case, or such a file, is asked when the cells are made.
                CliOption::Case | CliOption::Paper => {}
                _ => place.run(args).refused(&["key `--out`", "nowhere", "remedy: "]),
            }
        }
        seen.push(refused);
    }
    assert!(count >= 37 * 9, "{count} combinations");
}

const STUDY: &str = r#"
id = "two"
title = "t"
source = "s"
expected_s = 1
seeds = 2
show = ["finish_rate"]
scenario = """
name = "two"
[[model]]
name = "m"
slo_ms = 30.0
latency = { affine = { alpha_ms = 0.0, beta_ms = 10.0 } }
[[app]]
name = "a"
model = "m"
time = { constant = { ms = 10.0 } }
[[device]]
count = 1
[arrivals]
poisson = { rate_per_s = 90.0 }
requests = 300
"""
[[system]]
name = "fifo"
preset = "reference"
policy = "fifo[max_batch=1]"
[[axis]]
name = "slo_ms"
key = "model.m.slo_ms"
values = [25.0, 50.0]
"#;

/// As many seeds as asked for, whatever the kind.
#[test]
fn until_ci_adds_seeds_to_tables_and_to_studies() {
    let place = Place::with("small.toml", small_table(""));
    place.write("two.toml", STUDY);
    for (file, first, last) in [("small.toml", 0, 3), ("two.toml", 1, 4)] {
        let until = ["--until-ci", "0.0000001", "--max-seeds", "4"];
        let args = [&["-q", "reproduce", file, "--format", "csv"], &until[..]].concat();
        let csv = place.run(&args).ok();
        let rows: Vec<Row> = read_rows(file, &csv).expect("a table");
        let rates = || rows.iter().filter(|r| r.metric == "finish_rate");
        // What does not vary is narrow at once.
        let seeds = format!("{first}-{last}");
        assert!(rates().any(|r| r.seeds == seeds && r.has_flag("wide")), "{file}: {csv}");
        assert!(rates().all(|r| r.seeds == seeds || !r.has_flag("wide")), "{file}: {csv}");
        let text = place.run(&[&["-q", "reproduce", file, "--details"], &until[..]].concat()).ok();
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let says = ["2 to 4 seeds, until", "by cell", "Seeds: 1-4"];
        assert!(says.iter().any(|s| text.contains(s)), "{file}: {text}");
    }
}

/// Its own metric, along its own axis.
#[test]
fn a_study_is_drawn() {
    let place = Place::with("two.toml", STUDY);
    place.run(&["-q", "reproduce", "two.toml", "--plot", "a.svg"]).ok();
    assert!(place.read("a.svg").contains("finish rate"));
    let other = STUDY.replace("slo_ms\"\nkey", "x\"\nkey").replace("[25.0, 50.0]", "[25.0]");
    place.write("one.toml", other);
    // Without an axis of several numbers the systems stand beside each other.
    place.run(&["-q", "reproduce", "one.toml", "--plot", "b.svg"]).ok();
    assert!(place.read("b.svg").contains("finish rate"));
    // A figure that cannot be is found before anything runs.
    place.write("none.toml", format!("{STUDY}\n[figure]\nx = \"colour\"\n"));
    let args = ["reproduce", "none.toml", "--seeds", "1000000", "--plot", "c.svg"];
    place.run(&args).refused(&["--plot", "`two`", "`colour`", "correct `[figure]`"]);
}
