//! Arguments that are wrong: exit code 2, no result, and a message that says what to do.

use super::process::{Place, run};
use super::small_table;

#[test]
fn an_id_that_is_unknown_is_told_the_nearest_one() {
    run(&["reproduce", "orloj-tabel-3"]).refused(&[
        "orloj-tabel-3",
        "did you mean `orloj-table-3`?",
        "orrery list",
    ]);
    run(&["reproduce", "nothing-like-it"]).refused(&["nothing-like-it", "orloj-table-2", "list"]);
}

#[test]
fn a_base_that_is_no_table_is_no_id() {
    run(&["reproduce", "orloj"]).refused(&["found `orloj`;", "orloj-table-3", "orrery list"]);
}

#[test]
fn a_case_that_is_unknown_is_told_what_cases_there_are() {
    for (table, case, allowed) in [
        ("orloj-table-2", "std-x", "std-A or std-A/B"),
        ("orloj-table-2", "std--1", "std-A or std-A/B"),
        ("orloj-table-3", "nine-modal", "seven, eight"),
        ("orloj-table-4", "vgg-imagenet", "inception-DATASET"),
        ("orloj-table-5", "gpt-imagenet", "gpt-cornell"),
    ] {
        let ran = run(&["reproduce", table, "--case", case]);
        ran.refused(&["key `case`", case, allowed, "remedy: correct the name of the case"]);
    }
}

#[test]
fn numbers_out_of_range_are_told_the_range() {
    let help = "try '--help'";
    for (option, value, says) in [
        ("--seeds", "0", "0 is not in 1..="),
        ("--seeds", "-1", "'-1'"),
        ("--seeds", "many", "invalid digit"),
        ("--seeds", "99999999999", "is not in"),
        ("--jobs", "0", "0 is not in 1..="),
        ("--jobs", "1.5", "invalid digit"),
        ("--jobs", "100000", "is not in"),
    ] {
        let argument = format!("{option}={value}");
        run(&["reproduce", "orloj-table-3", &argument]).refused(&[option, says, help]);
    }
}

#[test]
fn a_format_that_is_unknown_is_told_the_formats_there_are() {
    run(&["reproduce", "orloj-table-3", "--format", "xml"]).refused(&[
        "'xml'",
        "--format",
        "table, csv, wide, json",
    ]);
}

#[test]
fn a_command_that_is_unknown_is_told_the_nearest_one() {
    run(&["reprodce", "orloj-table-3"]).refused(&["'reprodce'", "'reproduce'", "--help"]);
    run(&["reproduce", "orloj-table-3", "--seed", "1"]).refused(&["'--seed'", "'--seeds'"]);
    run(&["reproduce"]).refused(&["<ID>", "--help"]);
}

#[test]
fn a_file_that_is_missing_is_named() {
    let missing = "No such file";
    run(&["reproduce", "nowhere.toml"]).refused(&[
        "nowhere.toml",
        missing,
        "remedy: give the path",
    ]);
    run(&["run", "nowhere.toml"]).refused(&["nowhere.toml", missing, "remedy: give the path"]);
    run(&["audit", "nowhere.log"]).refused(&["nowhere.log", missing, "remedy: give the path"]);
    run(&["trace", "record", "nowhere.toml", "--out", "x.csv"]).refused(&["nowhere.toml", missing]);
}

#[test]
fn a_folder_is_no_file() {
    let place = Place::new();
    std::fs::create_dir(place.path("folder.toml")).expect("a folder");
    for args in [
        &["reproduce", "folder.toml"][..],
        &["run", "folder.toml"],
        &["audit", "folder.toml"],
        &["trace", "inspect", "folder.toml"],
    ] {
        place.run(args).refused(&["folder.toml"]);
    }
}

#[test]
fn an_out_that_cannot_be_written_is_named() {
    let place = Place::with("small.toml", small_table(""));
    for out in ["small.toml", "small.toml/folder"] {
        let args = ["reproduce", "small.toml", "--seeds", "1", "--out", out];
        place.run(&args).refused(&["key `--out`", out, "a folder that can be written", "remedy:"]);
    }
    assert_eq!(place.files(), ["small.toml"], "nothing is left behind");
}
