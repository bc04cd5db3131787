//! Pages: escaping, and what may not be on them.

use super::*;
use clap::{Arg, ArgAction, Command};
use orrery_results::Row;

fn hostile() -> Page {
    let evil = "<script>alert(1)</script> & \"quotes\" '";
    let mut page = Page::new("run", evil);
    page.subtitle = evil.to_string();
    page.ask(evil, evil);
    page.say(Tone::Bad, evil);
    let mut table = Table::new(evil, &[evil]);
    table.rows.push(vec![Field::text(evil).with(evil).marked(Tone::Good)]);
    page.section(
        evil,
        [
            Part::Text(evil.into()),
            Part::List(vec![evil.into()]),
            Part::Plain(evil.into()),
            Part::Folded(evil.into(), vec![Part::Table(table)]),
            Part::Figure(["<?xml?>\n<svg></svg>\n".into(), String::new()], evil.into()),
        ],
    );
    page.provenance.push((evil.into(), evil.into()));
    page
}

#[test]
fn every_text_is_escaped() {
    for html in [hostile().to_html(), several("<script>x", &[hostile(), hostile()])] {
        // Its own is the only script.
        assert_eq!(html.matches("<script").count(), 1, "{html}");
        assert_eq!(html.matches("</script").count(), 1);
        assert!(!html.contains("<?xml"));
        assert!(html.contains("&lt;script&gt;alert(1)&lt;/script&gt; &amp; &quot;quotes&quot;"));
    }
}

/// What a file may give as a name, a source or a reason.
const EVIL: [&str; 9] = [
    "<b>bold</b> & &lt;",
    "a | b",
    "a `b` `<i>` c",
    "odd ` tick",
    "two\nlines\n\n# and a heading",
    "- a point",
    "# heading",
    "12. numbered",
    "[link](javascript:alert) ![x](y) **b** ~~c~~ \\`",
];

/// The text that a reader sees: marks that are escaped stand for themselves, those that are not are an error.
fn read(line: &str) -> String {
    let mut out = String::new();
    let mut letters = line.chars();
    let mut in_code = false;
    while let Some(c) = letters.next() {
        match c {
            '\\' if !in_code => out.extend(letters.next()),
            '`' => in_code = !in_code,
            '<' | '>' => panic!("{line}"),
            '*' | '|' | '~' if !in_code => panic!("{line}"),
            c => out.push(c),
        }
    }
    assert!(!in_code, "{line}");
    out.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
}

#[test]
fn markdown_shows_every_text_of_a_file_as_it_is() {
    for evil in EVIL {
        let mut page = Page::new("plan", evil);
        page.subtitle = evil.to_string();
        page.ask(evil, evil);
        page.say(Tone::Bad, evil);
        let mut table = Table::new(evil, &[evil, "x"]);
        table.rows.push(vec![Field::text(evil).with(evil), Field::text(evil)]);
        let parts = [Part::Text(evil.into()), Part::List(vec![evil.into()]), Part::Table(table)];
        page.section(evil, parts.into_iter().chain([Part::Plain("a\n```\n<b>".to_string())]));
        let text = page.to_markdown();
        let (text, fenced) = text.split_once("\n````\n").expect("a fence that is longer");
        assert_eq!(fenced, "a\n```\n<b>\n````\n");
        let lines: Vec<&str> = text.lines().filter(|line| !line.is_empty()).collect();
        let shown = evil.split_whitespace().collect::<Vec<_>>().join(" ");
        let plain = shown.replace('`', "");
        let is = |line: &str, expected: &str| {
            let found = read(line).replace('`', "");
            assert_eq!(found, expected.replace('`', ""), "{line} of {evil:?}");
        };
        assert_eq!(lines[0], "<!-- orrery -->");
        is(lines[1].strip_prefix("# Plan: ").expect("a title"), &plain);
        is(lines[2], &plain);
        let bold = lines[3].strip_prefix("**").and_then(|line| line.strip_suffix("**"));
        is(bold.expect("a verdict"), &plain);
        let asked = evil
            .lines()
            .collect::<Vec<_>>()
            .join("; ")
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ");
        is(lines[5].strip_prefix("- ").expect("what was asked"), &format!("{plain}: {asked}"));
        is(lines[6].strip_prefix("## ").expect("a section"), &plain);
        is(lines[7], &plain);
        is(lines[8].strip_prefix("- ").expect("a point"), &plain);
        is(lines[9], &plain);
        let cells = |line: &str| {
            let line = line.replace("\\|", "\u{1}");
            let cells: Vec<String> =
                line.split('|').map(|cell| cell.trim().replace('\u{1}', "\\|")).collect();
            assert_eq!(cells.len(), 4, "{line}");
            cells
        };
        is(&cells(lines[10])[1], &plain);
        is(&cells(lines[12])[1], &format!("{plain} ({plain})"));
        assert_eq!(lines.len(), 13, "{text}");
        // Nothing begins a block.
        for line in [lines[2], lines[7], lines[9], &lines[8][2..], &lines[5][2..]] {
            let digits = line.trim_start_matches(|c: char| c.is_ascii_digit());
            assert!(!line.starts_with(['#', '-', '>', '|']) && !digits.starts_with(". "), "{line}");
        }
    }
}

#[test]
fn a_page_names_no_other_place() {
    let html = hostile().to_html();
    for word in ["http://", "https://", "src=", "url(", "@import"] {
        assert!(!html.contains(word), "{word}");
    }
}

#[test]
fn the_command_has_only_what_changes_numbers() {
    let option = |name: &'static str| Arg::new(name).long(name);
    let mut program = Command::new("orrery")
        .arg(
            option("quiet")
                .short('q')
                .action(ArgAction::SetTrue)
                .global(true)
                .help_heading(WITHOUT_EFFECT),
        )
        .subcommand(Command::new("run").args([
            Arg::new("file").num_args(1..),
            option("html").help_heading(WITHOUT_EFFECT),
            option("jobs").help_heading(WITHOUT_EFFECT),
            option("seeds"),
            option("grey").action(ArgAction::SetTrue),
            option("policy").action(ArgAction::Append),
        ]));
    let mut found = |words: &[&str]| {
        let words = std::iter::once("orrery").chain(words.iter().copied());
        let matches = program.try_get_matches_from_mut(words).expect("arguments");
        again(&program, &matches)
    };
    let all = ["run", "a.toml", "--html", "x.html", "--jobs=2", "--seeds", "3", "-q", "--grey"];
    assert_eq!(found(&all), "orrery run a.toml --seeds 3 --grey");
    let spaces = ["-q", "run", "a b.toml", "it's", "--policy", "t[max_batch=8]", "--policy=-x"];
    assert_eq!(
        found(&spaces),
        "orrery run 'a b.toml' 'it'\\''s' --policy 't[max_batch=8]' --policy=-x"
    );
    assert_eq!(found(&["run", "--", "-a.toml"]), "orrery run -- -a.toml");
}

#[test]
fn a_cell_has_a_line_and_each_metric_a_column() {
    let row = |axes: &str, metric: &str, value: f64| Row {
        axes: axes.into(),
        policy: "fifo".into(),
        scope: "all".into(),
        metric: metric.into(),
        value: Some(value),
        ..Row::default()
    };
    let rows = [
        row("slo_ms=60", "finish_rate", 0.5),
        row("slo_ms=60", "latency_p99_ns", 2.5e6),
        row("slo_ms=120", "finish_rate", 0.75),
    ];
    let Some(Part::Table(table)) = cells(&rows).into_iter().next() else { panic!("a table") };
    assert_eq!(table.columns, ["slo_ms", "policy", "finish rate", "p99, ms"]);
    let texts = |line: &[Field]| line.iter().map(|f| f.text.clone()).collect::<Vec<_>>();
    assert_eq!(texts(&table.rows[0]), ["60", "fifo", "0.5000", "2.500"]);
    assert_eq!(texts(&table.rows[1]), ["120", "fifo", "0.7500", ""]);
}

#[test]
fn a_place_that_cannot_be_written_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    assert!(check(&folder.path().join("a/page.html")).is_ok());
    assert!(check(&folder.path().join("page.pdf")).is_err());
    let inside = folder.path().join("x.html");
    std::fs::create_dir(&inside).expect("a folder");
    assert!(check(&inside).is_err());
}

#[test]
fn the_answer_comes_first_with_its_number_large_and_all_but_one_table_is_closed() {
    let mut page = Page::new("run", "a run");
    page.ask("policies", "fifo");
    page.say(Tone::Plain, "ResNet50 on 2-0 carries .95 (up to .97), by fifo.");
    page.section("Results", [Part::Text("the table".into())]);
    page.section("Devices", [Part::Text("more".into())]);
    page.section(TO_KNOW, [Part::Text("beware".into())]);
    page.section_first(
        "Figure",
        [Part::Figure(["<svg></svg>".into(), String::new()], String::new())],
    );
    let html = page.to_html();
    let at = |text: &str| html.find(text).unwrap_or_else(|| panic!("{text} in {html}"));
    assert!(html.contains("ResNet50 on 2-0 carries <b class=\"number\">.95</b> (up"), "{html}");
    let order = ["class=\"number\"", "<svg>", "the table", "beware", "What was asked", "more"];
    assert!(order.windows(2).all(|w| at(w[0]) < at(w[1])), "{html}");
    assert_eq!(html.matches("<details class=\"section\">").count(), 1);
}

/// What is too wide has shorter cells and fewer numbers, and is never cut into several tables.
#[test]
fn a_table_that_is_too_wide_stays_one() {
    let numbers: Vec<String> = (0..12).map(|i| format!("number {i}")).collect();
    let head = ["policy", "n", "rate"].into_iter().chain(numbers.iter().map(String::as_str));
    let mut table = Table::new("", &head.collect::<Vec<_>>());
    for (i, policy) in ["one", "two"].into_iter().enumerate() {
        let first = [Field::text(policy), Field::number(7.0, "7".to_string())];
        let [rate, low, high] = [0.5, 0.4, 0.6001].map(|x: f64| x + 0.1 * i as f64);
        let rate = Field::number(rate, format!("{rate:.4}")).with(format!("{low:.4} to {high:.4}"));
        let others = (0..12).map(|k| Field::number((k + i) as f64, format!("12345.{k}{i}")));
        table.rows.push(first.into_iter().chain([rate]).chain(others).collect());
    }
    let mut page = Page::new("run", "wide");
    page.section("Results", table.part());
    let text = page.to_text();
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    assert!(text.contains("0.5000 ±0.1001") && text.contains("\n  n: 7\n"), "{text}");
    assert_eq!(text.matches("policy").count(), 1, "{text}");
    assert_eq!(with_interval(0.5, Some((0.4, 0.6)), 2), "0.50 ±0.10");
    assert_eq!(with_interval(0.926, Some((0.0747, 1.0)), 3), "0.926 (0.075 to 1.000)", "cut at 1");
    let cut = text.split("with --wide: ").nth(1).expect("what is cut");
    let cut = cut.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(cut.ends_with("number 10, number 11"), "{cut}");
}

/// The note of too few samples is there where a value with its sign is shown, and nowhere else.
#[test]
fn a_note_explains_only_a_sign_that_is_printed() {
    let of = |value: &str| {
        let mut page = Page::new("run", "");
        let mut table = Table::new("", &["p99"]);
        table.rows.push(vec![Field::text(value)]);
        page.section("Results", table.part());
        let notes = ["?: not enough samples.".to_string(), "Seeds: 1.".to_string()];
        page.section(TO_KNOW, Part::list(notes.to_vec()));
        [page.to_text(), page.to_markdown()]
    };
    assert!(of("?25.59").iter().all(|text| text.contains("not enough samples")));
    let without = of("25.59");
    assert!(without.iter().all(|text| !text.contains('?') && text.contains("Seeds: 1.")));
}
