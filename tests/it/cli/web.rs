//! The page with the simulator in it (`scripts/web-page`): the answers are the server's, byte for byte, and the page in a
//! browser.
//!
//! Each test is ignored, because it needs what `scripts/web-page` makes: `scripts/web-page --check` runs them, with the
//! folder's name in `ORRERY_WEB_PAGE`.

use super::process::{Place, program};
use super::serve::{DONE, MEASURE, STATE, Server, wait_for};
use crate::browser::Browser;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

fn folder() -> PathBuf {
    std::env::var_os("ORRERY_WEB_PAGE").expect("scripts/web-page --check names the folder").into()
}

/// The files that the page offers, by name.
fn shipped(folder: &Path) -> BTreeMap<String, String> {
    let text = std::fs::read_to_string(folder.join("shipped.json")).expect("shipped files");
    let page: Value = serde_json::from_str(&text).expect("JSON");
    serde_json::from_value(page["files"].clone()).expect("files")
}

/// The module under node: the messages of each question, as they were written.
fn asked(folder: &Path, questions: &[Value]) -> Vec<Vec<String>> {
    let mut node = Command::new("node")
        .arg(Path::new(ROOT).join("experiments/serve/web/run.mjs"))
        .arg(folder.join("orrery.wasm.gz"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("node");
    let lines: String = questions.iter().map(|question| format!("{question}\n")).collect();
    let mut stdin = node.stdin.take().expect("a pipe");
    let writer = std::thread::spawn(move || stdin.write_all(lines.as_bytes()));
    let output = node.wait_with_output().expect("node ends");
    writer.join().expect("no panic").expect("node reads");
    assert!(output.status.success(), "node: {}", output.status);
    let text = String::from_utf8(output.stdout).expect("text");
    let answers = text.split("\n\n").filter(|answer| !answer.is_empty());
    let answers: Vec<Vec<String>> =
        answers.map(|answer| answer.lines().map(str::to_string).collect()).collect();
    assert_eq!(answers.len(), questions.len());
    answers
}

fn question(path: &str, text: &str, address: &str) -> Value {
    json!({ "path": path, "text": text, "address": address, "commit": commit() })
}

/// What the server's reports are made from.
fn commit() -> String {
    let version = Command::new(program()).arg("--version").output().expect("a version").stdout;
    let version = String::from_utf8(version).expect("text");
    let commit = version.split("commit ").nth(1).and_then(|rest| rest.split(',').next());
    commit.expect("a commit").to_string()
}

/// Status and body of an answer of one text.
fn whole(answer: &[String]) -> (u16, String) {
    let last: Value = serde_json::from_str(answer.last().expect("an answer")).expect("JSON");
    let status = last["whole"]["status"].as_u64().expect("a status");
    let body = last["whole"]["body"].as_str().expect("a body");
    (status as u16, body.to_string())
}

/// What the server sends of the same answer: events in their order among themselves, those of policies side by side.
fn as_sent(answer: &[String], is_of_events: bool) -> String {
    if !is_of_events {
        return whole(answer).1;
    }
    let event = |line: &String| {
        let message: Value = serde_json::from_str(line).expect("JSON");
        Some(format!("event: {}\ndata: {}", message["event"].as_str()?, message["data"]))
    };
    answer.iter().filter_map(event).collect::<Vec<_>>().join("\n\n")
}

/// Events without those of progress, which say when they were sent, in the order of their text.
fn sorted(sent: &str) -> Vec<String> {
    let blocks = sent.split("\n\n").filter(|b| !b.is_empty() && !b.starts_with("event: progress"));
    let mut blocks: Vec<String> = blocks.map(str::to_string).collect();
    blocks.sort();
    blocks
}

#[test]
#[ignore = "needs the page with the simulator in it: scripts/web-page --check"]
fn the_module_in_the_page_answers_as_the_server_byte_for_byte() {
    let folder = folder();
    let addresses = [
        "/api/controls",
        "/api/run?",
        "/api/run?seeds=2&load=LOAD",
        "/api/scenario.toml?load=LOAD",
        "/api/figure.svg?load=LOAD",
        "/api/report.html?seeds=1&load=LOAD",
        "/api/run?load=1e300",
        "/api/goodput?policy=fifo",
        "/api/nowhere",
    ];
    let of_plans = ["/api/controls", "/api/plan?", "/api/figure.svg?", "/api/report.html?"];
    let (mut count, mut bytes) = (0, 0);
    for (name, text) in shipped(&folder) {
        let path = format!("{name}.toml");
        let server = Server::at(Place::with(&path, &text), &path);
        let controls: Value = serde_json::from_str(&server.get("/api/controls").1).expect("JSON");
        let is_plan = controls["is_plan"] == true;
        // A closed loop has no rate: asked all the same, it is refused here and there.
        let load = controls["numbers"][0]["value"].as_f64().unwrap_or(1.0) * 1.5;
        let addresses = if is_plan { &of_plans[..] } else { &addresses[..] };
        let addresses: Vec<String> =
            addresses.iter().map(|a| a.replace("LOAD", &load.to_string())).collect();
        let questions: Vec<Value> =
            addresses.iter().map(|address| question(&path, &text, address)).collect();
        let began = Instant::now();
        let answers = asked(&folder, &questions);
        eprintln!("{name}: {} ms under node", began.elapsed().as_millis());
        for (address, answer) in addresses.iter().zip(&answers) {
            let (status, sent) = server.get(address);
            let is_of_events = sent.starts_with("event: ");
            let own = as_sent(answer, is_of_events);
            assert_eq!(whole(answer).0, status, "{name} {address}: {own} {sent}");
            let same = if is_of_events { sorted(&own) == sorted(&sent) } else { own == sent };
            let differ = own.lines().zip(sent.lines()).find(|(a, b)| a != b);
            assert!(same, "{name} {address}: {} {}: {differ:?}", own.len(), sent.len());
            count += 1;
            bytes += sent.len();
        }
    }
    eprintln!("{count} answers, {bytes} bytes: the same");
}

/// More than a minute on one thread.
const TOO_SLOW: [&str; 1] = ["kairos-five"];

/// Every scenario and plan that the server answers is offered by the page, but those that name other files.
#[test]
#[ignore = "needs the page with the simulator in it: scripts/web-page --check"]
fn the_page_offers_every_file_that_it_can_answer() {
    let folder = folder();
    let shipped = shipped(&folder);
    let files = |name: &str| std::fs::read_dir(Path::new(ROOT).join(name)).expect("a folder");
    let entries = files("scenarios").chain(files("scenarios/plans"));
    let paths: Vec<PathBuf> = entries.map(|entry| entry.expect("a file").path()).collect();
    let toml = paths.iter().filter(|path| path.extension().is_some_and(|e| e == "toml"));
    let (mut names, mut questions) = (Vec::new(), Vec::new());
    for path in toml {
        let text = std::fs::read_to_string(path).expect("a scenario");
        names.push(path.file_stem().expect("a name").to_string_lossy().into_owned());
        questions.push(question("s.toml", &text, "/api/controls"));
    }
    let answers = asked(&folder, &questions);
    for (name, answer) in names.iter().zip(&answers) {
        let (status, body) = whole(answer);
        let is_offered = shipped.contains_key(name) || TOO_SLOW.contains(&name.as_str());
        assert_eq!(status == 200, is_offered, "{name}: {body}");
        assert!(status == 200 || body.contains("remedy"), "{name}: {body}");
    }
}

#[test]
#[ignore = "needs the page with the simulator in it: scripts/web-page --check"]
fn what_cannot_be_asked_in_a_page_is_said_with_the_remedy() {
    const NO_FILES: &str = "a page reads no files; run this one with `orrery serve FILE`";
    let folder = folder();
    let with_file = Path::new(ROOT).join("scenarios/plans/growth-of-a-trace.toml");
    let with_file = std::fs::read_to_string(with_file).expect("a plan");
    let text = "policies = ['fifo']\n[[model]]\nname = 'm'\nslo_ms = 50.0\nlatency = { affine = \
                { alpha_ms = 1.0, beta_ms = 5.0 } }\n[[app]]\nname = 'a'\nmodel = 'm'\n[arrivals]\n";
    let poisson = "poisson = { rate_per_s = 100.0 }\nrequests = 2000\n";
    for (text, address, words) in [
        ("nonsense", "/api/controls", "s.toml:1"),
        ("", "/api/controls", "remedy"),
        ("[jobs]\n", "/api/controls", "orrery run s.toml"),
        (&format!("sed = 3\n{text}{poisson}"), "/api/controls", "did you mean"),
        (&format!("{text}workload = {{ file = 'w.csv' }}\n"), "/api/run?", NO_FILES),
        (&format!("{text}trace = {{ file = 'days' }}\n"), "/api/run?", NO_FILES),
        (&with_file, "/api/controls", NO_FILES),
        (&format!("{text}{poisson}"), "/api/run?policy=orlj", "did you mean `orloj`"),
        (&format!("{text}{poisson}"), "/api/run?file=00", "load the page again"),
    ] {
        let answers = asked(&folder, &[question("s.toml", text, address)]);
        let (status, body) = whole(&answers[0]);
        assert_eq!(status, 400, "{text}: {body}");
        assert!(body.contains(words) && body.contains("remedy"), "{text}: {body}");
        assert!(!body.contains("os error"), "{text}: {body}");
    }
}

/// A server of files, as any is that a site is put on; it ends with the tests.
fn served(folder: PathBuf) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = format!("http://{}/", listener.local_addr().expect("an address"));
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let folder = folder.clone();
            std::thread::spawn(move || send_file(&folder, stream));
        }
    });
    address
}

fn send_file(folder: &Path, mut stream: TcpStream) {
    let mut line = String::new();
    let mut reader = BufReader::new(stream.try_clone().expect("a socket"));
    if reader.read_line(&mut line).is_err() {
        return;
    }
    let mut header = String::from("-");
    while !header.trim().is_empty() {
        header.clear();
        if reader.read_line(&mut header).unwrap_or(0) == 0 {
            break;
        }
    }
    let name = line.split(' ').nth(1).unwrap_or("/").trim_start_matches('/').to_string();
    let name = if name.is_empty() { "index.html".to_string() } else { name };
    let kind = match name.rsplit('.').next() {
        Some("html") => "text/html",
        Some("css") => "text/css",
        Some("js" | "mjs") => "text/javascript",
        Some("json") => "application/json",
        _ => "application/octet-stream",
    };
    let (status, body) = match std::fs::read(folder.join(&name)) {
        Ok(body) => ("200 OK", body),
        Err(_) => ("404 Not Found", Vec::new()),
    };
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    );
    // A browser that has enough goes away.
    let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(&body));
}

/// Opens the page anew: behind another `#` alone it would stay.
fn open(browser: &mut Browser, address: &str, width: u32, scheme: &str) {
    browser.go("about:blank", width, scheme);
    browser.go(address, width, scheme);
}

/// Percent-encodes a text for an address.
fn encoded(text: &str) -> String {
    text.bytes().map(|b| format!("%{b:02X}")).collect()
}

#[test]
#[ignore = "needs the page with the simulator in it: scripts/web-page --check"]
fn the_page_with_the_simulator_in_it_in_a_browser() {
    let folder = folder();
    let mut browser = Browser::open_one();
    let address = served(folder);
    let over = "document.documentElement.scrollWidth - document.documentElement.clientWidth";
    for (width, scheme) in [(360, "light"), (360, "dark"), (1600, "light"), (1600, "dark")] {
        open(&mut browser, &address, width, scheme);
        wait_for(&mut browser, DONE, &json!(true));
        browser.value("document.getElementById('source').open = true");
        assert_eq!(browser.value(over), json!(0), "{width}");
    }
    wait_for(&mut browser, "document.getElementById('figure').hidden", &json!(false));
    // A slider; the address behind the # carries the question, and opened anew it asks the same.
    let slide = "(() => { const s = document.getElementById('n0'); s.value = 700; \
                 s.dispatchEvent(new Event('input')); return 0; })()";
    browser.value(slide);
    wait_for(&mut browser, STATE, &json!("Running."));
    wait_for(&mut browser, DONE, &json!(true));
    let cell = "document.querySelector('#rows tr td').textContent";
    let shown = browser.value(cell);
    let link = browser.value("location.href");
    let link = link.as_str().expect("an address").to_string();
    assert!(link.contains("#of=one-gpu-bert&load="), "{link}");
    open(&mut browser, &link, 1600, "light");
    wait_for(&mut browser, DONE, &json!(true));
    assert_eq!(browser.value(cell), shown);
    // A text of one's own, in the address; then edited in the page.
    let text = "policies = ['fifo']\n[[model]]\nname = 'm'\nslo_ms = 50.0\nlatency = { affine = \
                { alpha_ms = 1.0, beta_ms = 5.0 } }\n[[app]]\nname = 'a'\nmodel = 'm'\n[arrivals]\n\
                poisson = { rate_per_s = 100.0 }\nrequests = 3000\n";
    let own = format!("{address}#name=mine.toml&text={}", encoded(text));
    open(&mut browser, &own, 1600, "light");
    wait_for(&mut browser, DONE, &json!(true));
    assert_eq!(browser.value("document.getElementById('name').textContent"), json!("mine"));
    let edit = "(() => { const t = document.getElementById('text'); \
                t.value = t.value.replace(\"'fifo'\", \"'fifo', 'orloj'\"); \
                document.getElementById('use').click(); return 0; })()";
    browser.value(edit);
    let rows = "document.querySelectorAll('#rows tr').length";
    wait_for(&mut browser, rows, &json!(2));
    wait_for(&mut browser, DONE, &json!(true));
    assert_eq!(browser.value("location.hash.includes('orloj')"), json!(true));
    // What cannot be asked is said as the command line says it.
    for (behind, words) in [
        (format!("text={}", encoded(&text.replace("slo_ms", "slo_m"))), "slo_m"),
        ("of=nothing".to_string(), "allowed: one-gpu-bert"),
        (format!("text={}", "a".repeat(1_100_000)), "at most 1,048,576"),
        ("of=one-gpu-bert&load=1e9".to_string(), "a number from"),
    ] {
        open(&mut browser, &format!("{address}#{behind}"), 1600, "light");
        wait_for(&mut browser, &format!("{STATE}.includes({})", json!(words)), &json!(true));
        assert!(browser.value(STATE).as_str().is_some_and(|said| said.contains("remedy")));
    }
    // One without end is stopped, and the next one is answered.
    let endless = text.replace("requests = 3000", "duration_s = 1e9");
    open(&mut browser, &format!("{address}#text={}", encoded(&endless)), 1600, "light");
    wait_for(&mut browser, STATE, &json!("Running."));
    std::thread::sleep(std::time::Duration::from_millis(500));
    assert_eq!(browser.value("document.getElementById('stop').hidden"), json!(false));
    browser.value("document.getElementById('stop').click()");
    wait_for(&mut browser, &format!("{STATE}.startsWith('Stopped.')"), &json!(true));
    let choose = "(() => { const s = document.getElementById('shipped'); s.value = 'md1'; \
                  s.dispatchEvent(new Event('change')); return 0; })()";
    browser.value(choose);
    wait_for(&mut browser, DONE, &json!(true));
    assert_eq!(browser.value("document.getElementById('name').textContent"), json!("md1"));
    let (requests, complaints) = browser.close();
    let is_own = |url: &String| {
        ["about:blank", "data:", "blob:"].iter().any(|own| url.starts_with(own))
            || url.starts_with(&address)
    };
    assert!(requests.iter().all(is_own), "{requests:?}");
    assert_eq!(complaints, Vec::<String>::new());
}

/// Times that docs/serve.md tells: `--nocapture` shows them. Nothing is asserted of them.
#[test]
#[ignore = "needs the page with the simulator in it: scripts/web-page --check"]
fn every_shipped_scenario_answers_a_slider_in_the_page() {
    let folder = folder();
    let mut browser = Browser::open_one();
    let address = served(folder.clone());
    let is_plan = |text: &String| text.contains("[[instance]]");
    for (name, _) in shipped(&folder).iter().filter(|(_, text)| !is_plan(text)) {
        let began = Instant::now();
        open(&mut browser, &format!("{address}#of={name}"), 1600, "light");
        wait_for(&mut browser, DONE, &json!(true));
        let whole_ms = began.elapsed().as_millis();
        browser.value(MEASURE);
        wait_for(&mut browser, "window.allMs > 0", &json!(true));
        let [first, all] =
            ["firstMs", "allMs"].map(|name| browser.value(&format!("window.{name}")));
        eprintln!(
            "{name}: whole after {whole_ms} ms; slider to first bar {first} ms, to all {all} ms"
        );
    }
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    eprintln!("load {}; {}", load.trim(), program().display());
}
