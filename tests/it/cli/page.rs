//! `--html`: a page from every command, the same bytes each time, and what it does in a browser.

use super::process::{Place, Ran, program};
use super::{POISSON, small_scenario, small_table};
use crate::browser::Browser;
use serde_json::{Value, json};
use std::process::Command;

/// One page of each kind that runs at once.
fn pages() -> Place {
    let place = Place::with("a.toml", small_scenario(POISSON));
    place.write(
        "table.toml",
        small_table("[[claim]]\ntext = \"a <b>claim</b>\"\nof = \"fifo\"\nat_least = 0.0\n"),
    );
    place.run(&["run", "a.toml", "--html", "run.html", "--out", "out"]).ok();
    place.run(&["reproduce", "table.toml", "--html", "table.html", "--out", "tables"]).ok();
    place
}

#[test]
fn a_page_is_the_same_bytes_wherever_it_goes_and_however_many_jobs_made_it() {
    let place = pages();
    place.run(&["run", "a.toml", "--html", "again.html", "--jobs", "1", "-q"]).ok();
    assert_eq!(place.read("run.html"), place.read("again.html"));
    let html = place.read("table.html");
    assert!(html.contains("a &lt;b&gt;claim&lt;/b&gt;") && html.contains("holds</span>"), "{html}");
    assert!(html.contains("orrery reproduce table.toml</div>"), "the command to rerun");
    let run = place.read("run.html");
    assert!(run.contains("fared worst") && run.contains("verdict: "), "stories");
}

/// Each command that makes a page, with options, as someone may type it. `orrery results page` makes no result: its page
/// has no command.
const TYPED: &[&str] = &[
    "--force reproduce table.toml --html g.html --plot t.svg --width-in 3.3 --font-pt 7 --seeds 2",
    "reproduce --all --of salus --under 2s --out all --html g.html",
    "run a.toml --html g.html --policy=fifo --log l.log --why --out o --details --jobs=2",
    "--wide run a.toml --html g.html --policy 'clockwork[estimator=static-mean]' --policy fifo",
    "goodput a.toml --html g.html --seeds 1 --policy fifo --target 0.05 --requests-per-model 1000",
    "sweep s.toml --html g.html --out sw",
    "arena --suite s --alone --policy eager --policy nexus --seeds 2 --html g.html --plot m.svg",
    "sweep merge shards --html g.html",
    "plan p.toml --html g.html --what-if load=1.5",
    "regress b.toml --html g.html --tolerance 1",
    "import perf_analyzer.csv --html g.html --as measured",
    "calibrate server.toml perf_analyzer.csv --html g.html",
];

/// As a reader takes it from the page, into the same folder and the same shell.
#[test]
fn the_command_on_a_page_makes_the_same_page_whichever_command_made_it() {
    let place = pages();
    place.write("s.toml", super::sweep::SWEEP);
    super::arena::write_suite(&place);
    place.write("p.toml", super::plan::SMALL);
    place.write("b.toml", super::regress::BASELINE);
    place.run(&["regress", "b.toml", "--bless"]).ok();
    for name in ["server.toml", "perf_analyzer.csv"] {
        let file = format!("{}/../scenarios/triton/{name}", env!("CARGO_MANIFEST_DIR"));
        std::fs::copy(file, place.path(name)).expect("a file that is there");
    }
    for shard in ["1/2", "2/2"] {
        place.run(&["-q", "sweep", "s.toml", "--shard", shard, "--out", "shards"]).ok();
    }
    let shell = |words: &str| {
        let script = format!("orrery() {{ \"$PROGRAM\" -q \"$@\"; }}; {words}");
        let mut shell = Command::new("sh");
        shell.args(["-c", &script]).env("PROGRAM", program()).current_dir(place.path(""));
        Ran::of(&[words], shell.output().expect("a shell")).ok()
    };
    for words in TYPED {
        shell(&format!("orrery {words}"));
        let html = place.read("g.html");
        let command = html.split('>').find(|text| text.starts_with("orrery ")).expect("a command");
        let command = command.split('<').next().expect("text").replace("&amp;", "&");
        shell(&format!("{command} --html again.html"));
        assert!(place.read("again.html") == html, "`{words}` made a page that says `{command}`");
    }
    let makes_pages = |name: &&str| place.run(&[name, "--help"]).ok().contains("--html");
    let help = place.run(&["--help"]).ok();
    let listed = help.lines().filter_map(|l| l.strip_prefix("  ")?.split("  ").next());
    let commands = listed.filter(|name| !name.is_empty() && name.chars().all(char::is_alphabetic));
    for name in commands.filter(|name| !["help", "page"].contains(name)).filter(makes_pages) {
        assert!(TYPED.iter().any(|t| t.split(' ').any(|word| word == name)), "{name}");
    }
}

#[test]
fn rows_are_the_same_with_and_without_a_page() {
    let place = pages();
    let csv =
        |more: &[&str]| place.run(&[&["run", "a.toml", "--format", "csv"], more].concat()).ok();
    assert_eq!(csv(&[]), csv(&["--html", "x.html"]));
}

#[test]
fn a_folder_of_results_is_one_page() {
    let place = pages();
    let said = place.run(&["results", "page", "out", "tables", "--html", "all.html"]).ok();
    assert_eq!(said, "2 results on all.html\n");
    let html = place.read("all.html");
    assert!(html.contains("href=\"#r1\"") && html.contains("id=\"r1\""));
    let csv = place.run(&["results", "page", "out/small.csv", "--html", "csv.html"]).ok();
    assert_eq!(csv, "1 result on csv.html\n");
    place.write("nothing.json", "{}");
    place
        .run(&["results", "page", "nothing.json", "--html", "x.html"])
        .refused(&["no results in", "remedy"]);
    place.run(&["results", "page", ".", "--html", "x.html"]).refused(&["no results in", "remedy"]);
    place.run(&["results", "page", "nowhere", "--html", "x.html"]).refused(&["nowhere"]);
    assert!(!place.files().contains(&"x.html".to_string()));
}

/// What a reader does: opens it, sorts a table, turns the order round.
const SORTED: &str = "(() => {
  const table = document.querySelector('table');
  const heads = [...table.querySelectorAll('thead th')];
  const at = heads.findIndex(h => h.textContent.startsWith('finish rate'));
  const column = () => [...table.tBodies[0].rows].map(r => Number(r.cells[at].dataset.k ?? r.cells[at].firstChild.textContent));
  const click = () => heads[at].querySelector('button').click();
  const before = column();
  click(); const up = column(), word = heads[at].getAttribute('aria-sort');
  click(); const down = column();
  return JSON.stringify({before, up, word, down});
})()";

/// By how much the page grows when its closed parts are opened.
const GROWS: &str = r#"(() => {
  const closed = [...document.querySelectorAll("details:not([open])")];
  const height = () => document.documentElement.scrollHeight;
  const before = height();
  closed.forEach(d => { d.open = true; });
  const after = height();
  closed.forEach(d => { d.open = false; });
  return after - before;
})()"#;

#[test]
#[cfg_attr(not(has_browser), ignore = "no Chromium was on the path when the tests were compiled")]
fn a_browser_shows_the_page_asks_for_nothing_and_sorts_its_tables() {
    let mut browser = Browser::open_one();
    let place = pages();
    place.run(&["results", "page", "out", "tables", "--html", "all.html"]).ok();
    for name in ["run.html", "table.html", "all.html"] {
        for (width, scheme) in [(360, "light"), (1600, "dark"), (1000, "light")] {
            browser.open(&place.path(name), width, scheme);
            // Wide tables and figures scroll in frames of their own; the page itself does not.
            let over =
                "document.documentElement.scrollWidth - document.documentElement.clientWidth";
            assert_eq!(browser.value(over), json!(0), "{name} at {width}");
        }
        let colours = "getComputedStyle(document.body).backgroundColor";
        browser.open(&place.path(name), 1000, "light");
        let light = browser.value(colours);
        browser.open(&place.path(name), 1000, "dark");
        assert_ne!(browser.value(colours), light, "{name}");
    }
    browser.open(&place.path("run.html"), 1000, "light");
    let found = browser.value(SORTED);
    let found: Value = serde_json::from_str(found.as_str().expect("JSON")).expect("JSON");
    let column = |key: &str| -> Vec<f64> {
        found[key].as_array().expect("a list").iter().filter_map(Value::as_f64).collect()
    };
    let mut sorted = column("before");
    sorted.sort_by(f64::total_cmp);
    assert_eq!(sorted.len(), 3);
    assert_eq!((column("up"), &found["word"]), (sorted.clone(), &json!("ascending")));
    sorted.reverse();
    assert_eq!(column("down"), sorted);
    browser.open(&place.path("run.html"), 1000, "light");
    assert!(browser.value(GROWS).as_f64() > Some(50.0), "no part is closed");
    let printed = "getComputedStyle(document.querySelector('.printed')).display";
    assert_eq!(browser.value(printed), json!("none"));
    browser.print();
    assert_eq!(browser.value(printed), json!("block"));
    let line = browser.value("document.querySelector('.printed').textContent");
    let line = line.as_str().unwrap_or_default().to_string();
    assert!(line.contains("orrery run") && line.contains("(commit "), "{line}");
    assert!(browser.value(GROWS).as_f64() > Some(50.0), "a closed part stays closed on paper");
    let (requests, complaints) = browser.close();
    assert!(requests.iter().all(|url| url.starts_with("file://")), "{requests:?}");
    assert_eq!(complaints, Vec::<String>::new());
}
