//! What is wrong with a key of an experiment's file is said with file, line and remedy, in a file of its own
//! and in one that extends another.

use crate::registry::from_text;

/// A whole file.
const ALONE: &str = r#"id = "a"
title = "a"
source = "mine"
seeds = 1
show = ["finish_rate"]
scenario = "s.toml"
[[axis]]
key = "until_s"
values = [1.0]
[[system]]
name = "x"
policy = "fifo"
[[paper]]
system = "x"
value = 0.5
source = "Fig. 1"
[goodput]
target = 0.5
"#;

/// A file that extends one.
const EXTENDS: &str = r#"extends = "symphony-fig-10"
id = "b"
[[axis]]
key = "until_s"
values = [1.0]
[[system]]
name = "x"
policy = "fifo"
[[paper]]
system = "x"
value = 0.5
source = "Fig. 1"
[goodput]
target = 0.5
"#;

/// The error of a file with one thing changed, and the line on which the change stands.
fn fault(text: &str, from: &str, to: &str) -> (String, usize) {
    assert_eq!(text.matches(from).count(), 1, "{from}");
    let line = 1 + text[..text.find(from).unwrap_or(0)].lines().count();
    let error = from_text("f.toml", &text.replace(from, to)).err();
    (error.unwrap_or_else(|| panic!("{to} is taken")).to_string(), line)
}

#[test]
fn the_files_without_a_fault_are_taken() {
    for text in [ALONE, EXTENDS] {
        from_text("f.toml", text).unwrap_or_else(|e| panic!("{e}"));
    }
}

/// Each fault: what stands there, what is written in its place, on which line after it, and what is said.
#[test]
fn a_fault_has_file_line_and_remedy() {
    let faults: [(&str, &str, usize, &[&str]); 11] = [
        // A misspelt table or key at the top; one that nothing is near to.
        ("[[axis]]\n", "[[axes]]\n", 0, &["key `axes`", "did you mean `axis`?"]),
        ("[goodput]\n", "[godput]\n", 0, &["key `godput`", "did you mean `goodput`?"]),
        ("[goodput]\n", "[[zzzzzzzzzz]]\n", 0, &["key `zzzzzzzzzz`", "remedy: "]),
        // A misspelt key in a table, and one that is unknown.
        ("key = \"until_s\"", "kye = \"until_s\"", 0, &["`kye`", "did you mean `key`?"]),
        ("target = 0.5", "taget = 0.5", 0, &["`taget`", "did you mean `target`?"]),
        ("policy = \"fifo\"", "policy = \"fifo\"\ncolour = 1", 1, &["`colour`", "expected"]),
        // A missing key: the line is that of its table.
        ("[[paper]]\nsystem", "[[paper]]\n# system", 0, &["missing field `system`"]),
        // A wrong type, at the top and in a table of the frame and of the kind.
        ("id = ", "expected_s = \"many\"\nid = ", 0, &["invalid type: string \"many\""]),
        ("value = 0.5", "value = \"half\"", 0, &["`half`, no finite number and not \"withheld\""]),
        ("target = 0.5", "target = []", 0, &["invalid type: sequence"]),
        // A key of another kind.
        (
            "[goodput]\n",
            "[laws]\nbins = 1\n[goodput]\n",
            0,
            &["key `laws`", "only with `applications`; here is `scenario`"],
        ),
    ];
    for text in [ALONE, EXTENDS] {
        for (from, to, after, says) in faults {
            let (error, line) = fault(text, from, to);
            let place = format!("f.toml:{}: ", line + after);
            assert!(error.starts_with(&place), "{to} is at {place}{error}");
            assert!(says.iter().all(|s| error.contains(s)), "{to}: {error}");
        }
    }
}

#[test]
fn what_is_missing_or_inherited_has_the_nearest_line_there_is() {
    let (error, _) = fault(ALONE, "title = \"a\"\n", "");
    assert!(error.starts_with("f.toml:1: ") && error.contains("missing field `title`"), "{error}");
    let (error, _) = fault(ALONE, "scenario = \"s.toml\"\n", "");
    assert!(error.starts_with("f.toml: key `scenario`: found none of them"), "{error}");
    let (error, _) = fault(ALONE, "policy = \"fifo\"", "policy = \"fifo\"\npool = \"best\"");
    assert!(error.starts_with("f.toml:13: key `system[0].pool`"), "{error}");
    assert!(error.contains("only with `pool`; here is `scenario`"), "{error}");
    // What the other file has is where this one names it.
    for (own, says) in [
        ("scenario = \"s.toml\"", "found `scenario`, `applications`; allowed: one of"),
        ("[applications]\nload = 3", "invalid type: integer `3`"),
        ("[applications.load]\nof = \"men\"", "did you mean `mean`?"),
    ] {
        let text = format!("id = \"c\"\nextends = \"orloj-table-3\"\n{own}\n");
        let error = from_text("f.toml", &text).unwrap_err().to_string();
        let line = if own.starts_with("scenario") { 2 } else { 4 };
        assert!(error.starts_with(&format!("f.toml:{line}: ")), "{error}");
        assert!(error.contains(says), "{error}");
    }
}

/// What would select all cells, another system or a cell twice was taken.
#[test]
fn places_systems_and_bounds_are_what_they_say() {
    let text = ALONE.replace("[goodput]\ntarget = 0.5\n", "");
    let of = |more: &str| format!("[[paper]]\nsystem = \"x\"\nvalue = 1\nsource = \"\"\n{more}\n");
    let claim =
        |more: &str| format!("[[claim]]\ntext = \"c\"\nof = \"x\"\nat_least = 1.0\n{more}\n");
    let two = "[[system]]\nname = \"x\"\npreset = \"paper\"\npolicy = \"fifo\"\n";
    for (more, says) in [
        (of("at = \"until_s:1\""), "`paper[1].at`: found `until_s:1`"),
        (of("").replace("\"x\"", "\"x/paper\""), "found `x/paper`; allowed: one of x"),
        (claim("at = \"until_s = 1\""), "`claim[0].at`"),
        (claim("at_most = nan"), "`claim[0].at_most`: found nan"),
        (format!("{two}{}", claim("over = \"x\"")), "the name of 2 systems"),
        ("[[axis]]\nkey = \"a\"\nvalues = [1.0, 1]".into(), "`axis[1].values[1]`: found 1"),
        ("[[point]]\nname = \"p\"\nset = { until_s = 2.0 }".into(), "`point[0].set`"),
    ] {
        let error = from_text("f.toml", &format!("{text}{more}")).unwrap_err().to_string();
        assert!(error.contains(says), "{more}: {error}");
    }
}

/// The paper's numbers in a file and in `[[paper]]`: two for one value were an answer that depended on their order.
#[test]
fn two_numbers_of_the_paper_for_one_value_are_an_error() {
    use crate::reproduce::{Asked, with};
    let folder = tempfile::tempdir().expect("a folder");
    let csv = folder.path().join("p.csv");
    let text = ALONE.replace("seeds = 1", &format!("seeds = 1\npaper_csv = {{ file = {csv:?} }}"));
    for (line, other, says) in [
        ("x,1.0,0.5", "", ""),
        ("x,2.0,0.7", "at = \"until_s=1.0\"\n", ""),
        (
            "x,1.0,0.7",
            "",
            "f.toml:14: key `paper[0]`: found 0.5 of x and 0.7 of x at `until_s=1.0`",
        ),
        ("x,1.0,0.7\nx,1.0,0.8", "at = \"until_s=3.0\"\n", "key `paper_csv`: found 0.7 of x at"),
    ] {
        std::fs::write(&csv, format!("system,until_s,value\n{line}\n")).expect("a file");
        let text = text.replace("[[paper]]\n", &format!("[[paper]]\n{other}"));
        let e = from_text("f.toml", &text).unwrap_or_else(|e| panic!("{e}"));
        let found = with(&e, &Asked::default()).err().map_or(String::new(), |e| e.to_string());
        assert!(found.contains(says) && found.is_empty() == says.is_empty(), "{line}: {found}");
        assert!(found.is_empty() || found.contains("remedy: remove the one"), "{found}");
    }
}
