//! `orrery self man`: a page for every command. The archive that `scripts/release` makes of two programs.

use super::process::{Place, program, run};
use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, Output};

/// The commands that a help text lists.
fn commands(of: &[&str]) -> Vec<String> {
    let help = run(&[of, &["--help"]].concat()).ok();
    let list = help.split("\nOptions:\n").next().unwrap_or_default();
    // Long descriptions go on in lines that are indented further.
    let own = list.lines().filter(|l| l.starts_with("  ") && !l.starts_with("   "));
    let names = own.filter_map(|l| l.split_whitespace().next());
    let is_name = |n: &&str| *n != "help" && n.chars().all(|c| c.is_ascii_lowercase());
    names.filter(is_name).map(str::to_string).collect()
}

/// The names of the pages that there have to be.
fn expected() -> BTreeSet<String> {
    let mut all = BTreeSet::from(["orrery.1".to_string()]);
    for command in commands(&[]).into_iter().chain(["self".to_string()]) {
        all.insert(format!("orrery-{command}.1"));
        all.extend(commands(&[&command]).iter().map(|sub| format!("orrery-{command}-{sub}.1")));
    }
    all
}

#[test]
fn every_command_has_a_page_with_its_options_and_its_examples_line_by_line() {
    let place = Place::new();
    let said = place.run(&["self", "man", "--out", "pages"]).ok();
    let listed: BTreeSet<String> = said.lines().map(|l| l.replace("pages/", "")).collect();
    let expected = expected();
    assert!(expected.len() > 20 && expected.contains("orrery-trace-record.1"), "{expected:?}");
    assert_eq!(listed, expected);
    for name in &expected {
        let page = place.read(&format!("pages/{name}"));
        assert!(page.contains("\n.TH orrery") && page.contains("\n.SH SYNOPSIS"), "{name}");
    }
    let page = place.read("pages/orrery-run.1");
    assert!(page.contains("\\-\\-policy") && page.contains(".SH EXAMPLES\n.nf\n"), "{page}");
    assert!(page.contains("\n  orrery run scenarios/one\\-gpu\\-bert.toml"), "{page}");
    place.run(&["self", "man", "--out", "pages"]).ok();
    place.write("pages/orrery-run.1", "my own notes");
    place.run(&["self", "man", "--out", "pages"]).refused(&["pages/orrery-run.1", "--force"]);
    assert_eq!(place.read("pages/orrery-run.1"), "my own notes");
}

/// Runs `scripts/release` on the programs in `bin`.
pub(super) fn pack(place: &Place, out: &str) -> Output {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../scripts/release");
    let mut command = Command::new(script);
    command.args(["--pack", "bin", "--target", "x86_64-unknown-linux-musl", "--out", out]);
    command.env("SOURCE_DATE_EPOCH", "1700000000").current_dir(place.path("."));
    command.output().expect("bash")
}

/// Programs that stand in for the two, small for the packing: they ask the one that is built.
#[cfg(target_os = "linux")]
pub(super) fn stand_ins(place: &Place) {
    use std::os::unix::fs::PermissionsExt;
    let own = program().display();
    std::fs::create_dir(place.path("bin")).expect("a folder");
    for name in ["orrery", "orrery-replay"] {
        let file = format!("bin/{name}");
        // The other program has these commands at the top.
        let below = match name {
            "orrery" => "",
            _ => {
                "case \"$1 $2\" in \"--quiet man\") shift; set -- --quiet self \"$@\";; completions*) set -- self \
                 \"$@\";; esac\n"
            }
        };
        let script = format!(
            "#!/bin/sh\n{below}said=$(\"{own}\" \"$@\")\nstatus=$?\n\
             printf '%s\\n' \"$said\" | sed 's/^orrery /{name} /'\nexit $status\n"
        );
        place.write(&file, script);
        let rights = std::fs::Permissions::from_mode(0o700);
        std::fs::set_permissions(place.path(&file), rights).expect("rights");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn the_archive_has_everything_and_is_the_same_bytes_on_every_run() {
    let place = Place::new();
    stand_ins(&place);
    let name = format!("orrery-{}-x86_64-unknown-linux-musl", env!("CARGO_PKG_VERSION"));
    let output = pack(&place, "first");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let archive = |folder: &str| place.path(&format!("{folder}/{name}.tar.gz"));
    assert!(String::from_utf8_lossy(&output.stdout).ends_with(&format!("first/{name}.tar.gz\n")));
    pack(&place, "second");
    let read = |folder: &str| std::fs::read(archive(folder)).expect("an archive");
    assert!(read("first") == read("second"), "the archives differ");
    let mut list = Command::new("tar");
    list.args(["--list", "--verbose", "--numeric-owner", "--utc", "--full-time", "--file"]);
    let list = list.arg(archive("first")).output().expect("tar");
    let list = String::from_utf8(list.stdout).expect("text");
    assert!(list.lines().all(|l| l.contains(" 0/0 ") && l.contains("2023-11-14")), "{list}");
    for file in [
        "orrery",
        "orrery-replay",
        "README.md",
        "LICENSE-MIT",
        "LICENSE-APACHE",
        "licenses/plots-fonts.md",
        "licenses/crates.txt",
        "man/orrery.1",
        "man/orrery-trace-record.1",
        "completions/orrery.bash",
        "completions/_orrery-replay",
    ] {
        assert!(list.contains(&format!(" {name}/{file}\n")), "no {file} in\n{list}");
    }
    place.write("bin/orrery-replay", "#!/bin/sh\necho orrery-replay 0.0.1\n");
    let output = pack(&place, "third");
    assert!(!output.status.success() && !place.path("third").exists());
    assert!(String::from_utf8_lossy(&output.stderr).contains("not of the same version"));
}
