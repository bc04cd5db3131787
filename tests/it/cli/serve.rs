//! `orrery serve`: who is answered, with what, and the page in a browser.

use super::process::{Place, program};
use crate::browser::Browser;
use orrery_results::{Row, read_csv};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const SCENARIO: &str = "
policies = ['fifo', 'orloj']
[[model]]
name = 'm'
slo_ms = 50.0
latency = { affine = { alpha_ms = 1.0, beta_ms = 5.0 } }
[[app]]
name = 'a'
model = 'm'
[arrivals]
gamma = { rate_per_s = 300.0, shape = 0.25 }
requests = 8000
";

/// Two types of GPUs.
const PLAN: &str = "
pools = 'homogeneous'
goal = 'carry-load'
seeds = 3
requests_per_model = 2000
policies = ['symphony']

[[instance]]
kind = 'slow'
price_usd_per_hour = 0.5
count_max = 24

[[instance]]
kind = 'fast'
price_usd_per_hour = 0.9
count_max = 24
speed = 2.0

[scenario]
arrivals = { poisson = { rate_per_s = 700.0 } }

[[scenario.model]]
name = 'm'
slo_ms = 40.0
latency = { affine = { alpha_ms = 2.0, beta_ms = 5.0 } }

[[scenario.app]]
name = 'a'
model = 'm'
time = { constant = { ms = 7.0 } }
";

/// A server, ended with the test.
pub struct Server {
    process: Child,
    place: Place,
    port: u16,
    token: String,
}

impl Server {
    fn start() -> Server {
        Server::of(SCENARIO)
    }

    fn of(scenario: &str) -> Server {
        Server::at(Place::with("s.toml", scenario), "s.toml")
    }

    /// Of a file in a place.
    pub fn at(place: Place, file: &str) -> Server {
        let mut process = place
            .command(&["serve", file, "--quiet"])
            .stdout(Stdio::piped())
            .spawn()
            .expect("the program can be started");
        let mut line = String::new();
        let stdout = process.stdout.take().expect("a pipe");
        BufReader::new(stdout).read_line(&mut line).expect("an address");
        let rest = line.trim().strip_prefix("http://127.0.0.1:").expect("the loopback");
        let (port, token) = rest.split_once("/?token=").expect("a token");
        let (port, token) = (port.parse().expect("a port"), token.to_string());
        Server { process, place, port, token }
    }

    /// Status and body of a request as it is written.
    fn raw(&self, head: &str) -> (u16, String) {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).expect("a server");
        write!(stream, "{head}\r\nConnection: close\r\n\r\n").expect("a server that listens");
        let mut text = String::new();
        stream.read_to_string(&mut text).expect("text");
        let status = text.split(' ').nth(1).and_then(|s| s.parse().ok()).expect("a status");
        let body = text.split_once("\r\n\r\n").map_or("", |(_, body)| body).to_string();
        (status, body)
    }

    pub fn get(&self, path: &str) -> (u16, String) {
        let sign = if path.contains('?') { '&' } else { '?' };
        let (port, token) = (self.port, &self.token);
        // Of this version a body comes in one piece.
        self.raw(&format!("GET {path}{sign}token={token} HTTP/1.0\r\nHost: 127.0.0.1:{port}"))
    }

    /// The events of an answer: their names and data.
    pub fn events(&self, query: &str) -> Vec<(String, Value)> {
        self.events_of("run", query)
    }

    fn events_of(&self, what: &str, query: &str) -> Vec<(String, Value)> {
        let (status, body) = self.get(&format!("/api/{what}?{query}"));
        assert_eq!(status, 200, "{body}");
        let event = |block: &str| {
            let (name, data) = block.strip_prefix("event: ")?.split_once("\ndata: ")?;
            Some((name.to_string(), serde_json::from_str(data).expect("JSON")))
        };
        body.split("\n\n").filter_map(event).collect()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[test]
fn only_this_machine_with_the_token_is_answered() {
    let server = Server::start();
    let (port, token) = (server.port, server.token.clone());
    assert_eq!(server.get("/").0, 200);
    let host = format!("Host: 127.0.0.1:{port}");
    for (head, status) in [
        (format!("GET /?token={token} HTTP/1.1\r\nHost: evil.example"), 403),
        (format!("GET /?token={token} HTTP/1.1\r\nHost: evil.example:{port}"), 403),
        (format!("GET / HTTP/1.1\r\n{host}"), 403),
        (format!("GET /?token=00 HTTP/1.1\r\n{host}"), 403),
        (format!("GET /api/controls HTTP/1.1\r\n{host}"), 403),
        (format!("POST /?token={token} HTTP/1.1\r\n{host}\r\nContent-Length: 0"), 405),
        (format!("GET /etc/passwd?token={token} HTTP/1.1\r\n{host}"), 404),
        (format!("GET /?token={token} HTTP/1.1\r\nHost: localhost:{port}"), 200),
    ] {
        assert_eq!(server.raw(&head).0, status, "{head}");
    }
    let head = format!("GET /?token={token} HTTP/1.1\r\n{host}");
    let mut stream = TcpStream::connect(("127.0.0.1", port)).expect("a server");
    write!(stream, "{head}\r\nConnection: close\r\n\r\n").expect("a server that listens");
    let mut text = String::new();
    stream.read_to_string(&mut text).expect("text");
    for header in ["default-src 'none'", "frame-ancestors 'none'", "nosniff", "no-referrer"] {
        assert!(text.contains(header), "{text}");
    }
}

/// Whoever can reach the port can say anything, before any token is looked at.
#[test]
fn what_has_no_end_is_refused_and_the_page_still_answers() {
    let server = Server::start();
    let port = server.port;
    let start = format!("GET / HTTP/1.1\r\nHost: 127.0.0.1:{port}");
    for length in ["99999999999", "18446744073709551615", "-1", "5"] {
        let (status, _) = server.raw(&format!("{start}\r\nContent-Length: {length}"));
        assert_eq!(status, 413, "{length}");
    }
    assert_eq!(server.raw(&format!("{start}\r\nTransfer-Encoding: chunked")).0, 413);
    assert_eq!(server.raw(&format!("{start}\r\nHost: elsewhere")).0, 400);
    assert_eq!(server.raw("\u{1}\u{2}\u{3}").0, 400);
    let endless_line = [format!("{start}\r\nX: "), "a".repeat(4096)];
    let endless_headers = [format!("{start}\r\n"), "X: y\r\n".repeat(100)];
    let endless_address = ["GET /".to_string(), "a".repeat(4096)];
    for [first, then] in [endless_line, endless_headers, endless_address] {
        let mut stream = TcpStream::connect(("127.0.0.1", port)).expect("a server");
        stream.write_all(first.as_bytes()).expect("a server that listens");
        // Until it listens no more.
        let sent = (0..100_000).take_while(|_| stream.write_all(then.as_bytes()).is_ok()).count();
        assert!(sent < 10_000, "{first}: {sent}");
        assert_eq!(server.get("/").0, 200, "{first}");
    }
}

#[test]
fn a_request_that_trickles_in_is_not_waited_for() {
    let server = Server::start();
    let mut stream = TcpStream::connect(("127.0.0.1", server.port)).expect("a server");
    stream.set_read_timeout(Some(Duration::from_millis(50))).expect("a socket");
    stream.write_all(b"GET / HTTP/1.1\r\nX: ").expect("a server that listens");
    let (began, mut reply) = (Instant::now(), [0; 16]);
    while !stream.read(&mut reply).is_ok_and(|read| read > 12) {
        assert!(began.elapsed() < Duration::from_secs(30), "it is waited for still");
        let _ = stream.write_all(b"a");
    }
    assert!(reply.starts_with(b"HTTP/1.1 408"), "{reply:?}");
    assert_eq!(server.get("/").0, 200);
}

#[test]
fn of_too_many_connections_the_last_are_refused() {
    let server = Server::start();
    let connect = |_| TcpStream::connect(("127.0.0.1", server.port)).expect("a server");
    let mut all: Vec<TcpStream> = (0..200).map(connect).collect();
    let mut last = String::new();
    all[199].read_to_string(&mut last).expect("a reply");
    assert!(last.starts_with("HTTP/1.1 503"), "{last}");
    drop(all);
    let (began, mut reply) = (Instant::now(), Vec::new());
    let (port, token) = (server.port, &server.token);
    let get = format!("GET /?token={token} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n");
    while !reply.starts_with(b"HTTP/1.1 200") {
        assert!(began.elapsed() < Duration::from_secs(30), "their places are not given back");
        reply.clear();
        let mut stream = connect(0);
        // One that is refused may be cut off.
        let _ = stream.write_all(get.as_bytes()).and_then(|()| stream.read_to_end(&mut reply));
    }
}

#[test]
fn the_figures_are_those_of_the_command_that_is_offered() {
    let server = Server::start();
    let query = "load=350&model.m.slo_ms=40&device%5B0%5D.count=2&policy=fifo&policy=clockwork%5Bmax_batch%3D4%5D";
    let events = server.events(query);
    assert_eq!(events.last().map(|e| e.0.as_str()), Some("done"));
    let (_, file) = server.get(&format!("/api/scenario.toml?{query}"));
    server.place.write("page.toml", file);
    let csv = server.place.run(&["run", "page.toml", "--seeds", "5", "--format", "csv", "-q"]).ok();
    let rows: Vec<Row> = read_csv("page.csv", &csv).expect("rows");
    let mut sharpest = 0;
    for (_, told) in
        events.iter().filter(|(name, told)| name == "policy" && told["is_last"] == true)
    {
        sharpest += 1;
        for metric in ["finish_rate", "goodput_per_s", "latency_p99_ns", "mean_batch_size"] {
            let row = rows.iter().find(|r| {
                r.policy == told["policy"]
                    && r.metric == metric
                    && r.scope == "all"
                    && r.versus.is_empty()
            });
            let row = row.expect("the command has it too");
            let same = json!([row.value, row.ci95_low, row.ci95_high]);
            let own = &told["metrics"][metric];
            assert_eq!(json!([own["value"], own["low"], own["high"]]), same, "{metric}");
        }
    }
    assert_eq!(sharpest, 2);
    // First a look at 2,000 requests, then all with one seed, then five.
    let of_fifo = events.iter().filter(|(_, told)| told["policy"] == "fifo");
    let steps: Vec<Value> = of_fifo.map(|(_, t)| json!([t["is_short"], t["seeds"]])).collect();
    assert_eq!(steps, [json!([true, 1]), json!([false, 1]), json!([false, 5])]);
    // Policies run side by side: which is told first is not said.
    let sorted = |events: Vec<(String, Value)>| {
        let mut all: Vec<String> = events.into_iter().map(|e| format!("{e:?}")).collect();
        all.sort();
        all
    };
    assert_eq!(sorted(server.events(query)), sorted(events), "asked again it is the same");
}

#[test]
fn the_report_page_is_the_command_s() {
    let server = Server::start();
    let query = "load=500&max_batch=4&policy=fifo";
    let (status, page) = server.get(&format!("/api/report.html?{query}"));
    assert_eq!(status, 200, "{page}");
    let (_, file) = server.get(&format!("/api/scenario.toml?{query}"));
    assert!(file.contains("fifo[max_batch=4]"), "{file}");
    let place = Place::with("s.toml", &file);
    place.run(&["run", "s.toml", "--seeds", "5", "--html", "s.html"]).ok_but(&[]);
    let again = std::fs::read_to_string(place.path("s.html")).expect("a page");
    assert!(page.contains("fifo[max_batch=4]"));
    let differ = page.lines().zip(again.lines()).find(|(a, b)| a != b);
    assert!(page == again, "{} {}: {differ:?}", page.len(), again.len());
}

#[test]
fn a_search_is_that_of_the_command() {
    let server = Server::start();
    let (status, body) = server.get("/api/goodput?policy=fifo&load=200");
    assert!(status == 200 && body.contains("event: done"), "{body}");
    let data = body.split("event: goodput\ndata: ").nth(1).and_then(|rest| rest.lines().next());
    let found: Value = serde_json::from_str(data.expect("an answer")).expect("JSON");
    server.place.write("g.toml", server.get("/api/scenario.toml?policy=fifo&load=200").1);
    let csv =
        server.place.run(&["goodput", "g.toml", "--seeds", "1", "--format", "csv", "-q"]).ok();
    let rows: Vec<Row> = read_csv("g.csv", &csv).expect("rows");
    let row = rows.iter().find(|r| r.metric == "peak_goodput_per_s").expect("an answer");
    assert_eq!(found["value"], json!(row.value));
    assert!(row.value > Some(0.0));
}

#[test]
fn wrong_questions_are_refused_with_what_is_allowed() {
    let server = Server::start();
    for (query, words) in [
        ("load=1e9", "from 30 to 3000"),
        ("arrivals.trace.file=x", "`load`"),
        ("policy=orlj", "did you mean `orloj`"),
        ("file=0000", "load the page again"),
    ] {
        let (status, body) = server.get(&format!("/api/run?{query}"));
        assert!(
            status == 400 && body.contains(words) && body.contains("remedy"),
            "{query}: {body}"
        );
    }
    // The file changes under the page.
    let (_, controls) = server.get("/api/controls");
    let controls: Value = serde_json::from_str(&controls).expect("JSON");
    let query = format!("file={}", controls["file_sha256"].as_str().expect("a hash"));
    assert_eq!(server.get(&format!("/api/scenario.toml?{query}")).0, 200);
    server.place.write("s.toml", SCENARIO.replace("300.0", "200.0"));
    let (status, body) = server.get(&format!("/api/scenario.toml?{query}"));
    assert!(status == 400 && body.contains("load the page again"), "{body}");
    server.place.write("s.toml", "nonsense");
    assert_eq!(server.get("/api/controls").0, 400);
}

#[test]
fn a_port_in_use_is_an_error() {
    let server = Server::start();
    let port = server.port.to_string();
    server.place.run(&["serve", "s.toml", "--port", &port]).refused(&["--port", &port, "remedy"]);
    server.place.run(&["serve", "none.toml"]).refused(&["none.toml"]);
}

#[test]
fn a_new_question_ends_the_one_before() {
    let server = Server::start();
    let long = "run?client=c&arrivals.requests=200000&seeds=20";
    ends_the_last(&server, (long, "event: policy"), ("run", "client=c"));
    let server = Server::of(PLAN);
    let other = ("plan", "client=c&load=0.5");
    ends_the_last(&server, ("plan?client=c&load=3", "event: progress"), other);
}

/// A question that is under way, once its first event has come, is ended by the next of the same page.
fn ends_the_last(server: &Server, (long, first): (&str, &str), (what, next): (&str, &str)) {
    let (port, token) = (server.port, &server.token);
    let head = format!(
        "GET /api/{long}&token={token} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\n\r\n"
    );
    let mut stream = TcpStream::connect(("127.0.0.1", port)).expect("a server");
    stream.write_all(head.as_bytes()).expect("a server that listens");
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    while !line.starts_with(first) {
        line.clear();
        reader.read_line(&mut line).expect("events");
    }
    let events = server.events_of(what, next);
    assert_eq!(events.last().map(|e| e.0.as_str()), Some("done"), "{events:?}");
    let mut rest = String::new();
    reader.read_to_string(&mut rest).expect("events");
    assert!(rest.contains("event: cancelled") && !rest.contains("event: done"), "{rest}");
}

#[test]
fn a_plan_s_answer_is_that_of_the_command_that_is_offered() {
    let server = Server::of(PLAN);
    let (_, controls) = server.get("/api/controls");
    let controls: Value = serde_json::from_str(&controls).expect("JSON");
    let numbers = controls["numbers"].as_array().expect("numbers");
    let keys: Vec<&str> = numbers.iter().filter_map(|n| n["key"].as_str()).collect();
    let expected = [
        "load",
        "slo",
        "latency",
        "noise",
        "delay",
        "slo:m",
        "bad_rate",
        "price:slow",
        "price:fast",
        "limit:slow",
        "limit:fast",
    ];
    assert_eq!(keys, expected);
    // Not asked yet, there is nothing to draw.
    assert_eq!(server.get("/api/figure.svg").0, 404);
    for query in ["", "load=1.5&price%3Aslow=0.8"] {
        let events = server.events_of("plan", query);
        assert_eq!(events.last().map(|e| e.0.as_str()), Some("done"));
        let last = &events.iter().rfind(|(name, _)| name == "plan").expect("an answer").1;
        assert_eq!(last["is_whole"], true);
        let command = last["command"].as_str().expect("a command");
        let words: Vec<&str> = command.split_whitespace().skip(1).collect();
        let words: Vec<String> = words.iter().map(|w| w.replace('"', "")).collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let printed = server.place.run(&[&["-q"], &words[..]].concat()).ok();
        assert_eq!(last["text"].as_str().expect("text"), printed, "{command}");
        let (status, page) = server.get(&format!("/api/report.html?{query}"));
        assert!(status == 200 && page.contains("What breaks first"), "{page}");
    }
    let (status, svg) = server.get("/api/figure.svg");
    assert!(status == 200 && svg.contains("<svg"), "{svg}");
    for (query, words) in [
        ("load=11", "from 0.1 to 10"),
        ("prices=/etc/passwd", "`price:slow`"),
        ("limit%3Aslow=0&limit%3Afast=0", "0 of all"),
        ("file=00", "load the page again"),
    ] {
        let (status, body) = server.get(&format!("/api/plan?{query}"));
        // What only the planner can know comes as an event.
        assert!(status == 400 || body.contains("event: failed"), "{query}: {body}");
        assert!(body.contains(words), "{query}: {body}");
    }
    assert_eq!(server.get("/api/run").0, 404);
}

#[test]
#[cfg_attr(not(has_browser), ignore = "no Chromium was on the path when the tests were compiled")]
fn the_page_of_a_plan_in_a_browser() {
    let mut browser = Browser::open_one();
    let mut server = Server::of(PLAN);
    let url = format!("http://127.0.0.1:{}/?token={}", server.port, server.token);
    let over = "document.documentElement.scrollWidth - document.documentElement.clientWidth";
    for (width, scheme) in [(360, "dark"), (800, "light"), (1600, "light")] {
        browser.go(&url, width, scheme);
        wait_for(&mut browser, DONE, &json!(true));
        assert_eq!(browser.value(over), json!(0), "{width}");
    }
    wait_for(
        &mut browser,
        "document.getElementById('plan-figure').parentElement.hidden",
        &json!(false),
    );
    let pools = "Array.from(document.querySelectorAll('#plan-rows tr'), \
                 (row) => row.children[2].textContent).join()";
    let now = browser.value(pools);
    let now = now.as_str().expect("a pool").to_string();
    browser.value("document.getElementById('n0').focus()");
    (0..3).for_each(|_| browser.press("ArrowRight"));
    wait_for(&mut browser, "location.search.includes('load=')", &json!(true));
    wait_for(&mut browser, DONE, &json!(true));
    let both = browser.value(pools);
    assert!(both.as_str().expect("pools").starts_with(&format!("{now},")), "{both}");
    let changed = "document.getElementById('changed-figure').parentElement.hidden";
    wait_for(&mut browser, changed, &json!(false));
    browser.print();
    assert_eq!(browser.value(over), json!(0), "on paper");
    assert_eq!(
        browser.value("getComputedStyle(document.getElementById('controls')).display"),
        json!("none")
    );
    server.process.kill().expect("a process");
    server.process.wait().expect("a process");
    browser.value("ask()");
    wait_for(&mut browser, &format!("{STATE}.includes('has ended')"), &json!(true));
    let (requests, complaints) = browser.close();
    let own = format!("http://127.0.0.1:{}/", server.port);
    let is_own = |url: &String| url.starts_with(&own) || url.starts_with("data:");
    assert!(requests.iter().all(is_own), "{requests:?}");
    let is_fault = |text: &&String| !text.contains("ERR_CONNECTION") && !text.contains("ERR_EMPTY");
    assert_eq!(complaints.iter().filter(is_fault).collect::<Vec<_>>(), Vec::<&String>::new());
}

/// Run with the path of `axe.min.js` in `ORRERY_AXE`: it is not part of this repository.
#[test]
#[ignore = "needs axe.min.js and Chromium: ORRERY_AXE=FILE scripts/slow-tests axe"]
fn axe_finds_nothing_serious() {
    let axe = std::env::var_os("ORRERY_AXE").expect("ORRERY_AXE names axe.min.js");
    let axe = std::fs::read_to_string(axe).expect("axe.min.js");
    let mut browser = Browser::open_one();
    for text in [SCENARIO, PLAN] {
        let server = Server::of(text);
        let url = format!("http://127.0.0.1:{}/?token={}", server.port, server.token);
        for scheme in ["light", "dark"] {
            browser.go(&url, 1600, scheme);
            wait_for(&mut browser, DONE, &json!(true));
            browser.value(&axe);
            browser.value("axe.run().then((found) => { window.found = found; }); 0");
            wait_for(&mut browser, "Boolean(window.found)", &json!(true));
            let faults = "JSON.stringify(window.found.violations.map((v) => \
                          [v.impact, v.id, v.nodes.map((n) => n.html.slice(0, 80))]))";
            let faults = browser.value(faults);
            let faults = faults.as_str().expect("a list").to_string();
            assert!(
                !faults.contains("\"serious\"") && !faults.contains("\"critical\""),
                "{scheme}: {faults}"
            );
            if faults != "[]" {
                eprintln!("{scheme}: {faults}");
            }
        }
    }
}

/// The page's state once it is as it should be.
pub fn wait_for(browser: &mut Browser, expression: &str, expected: &Value) {
    let began = Instant::now();
    loop {
        let found = browser.value(expression);
        if found == *expected {
            return;
        }
        assert!(began.elapsed() < Duration::from_secs(60), "{expression}: {found}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

pub const STATE: &str = "document.getElementById('state').textContent";
/// The answer is whole: `Done: 5 seeds of 20,000 requests.`
pub const DONE: &str = "document.getElementById('state').textContent.startsWith('Done: ')";

#[test]
#[cfg_attr(not(has_browser), ignore = "no Chromium was on the path when the tests were compiled")]
fn the_page_in_a_browser() {
    let mut browser = Browser::open_one();
    let mut server = Server::start();
    let url = format!("http://127.0.0.1:{}/?token={}", server.port, server.token);
    for (width, scheme) in [(360, "light"), (800, "dark"), (1600, "light")] {
        browser.go(&url, width, scheme);
        wait_for(&mut browser, DONE, &json!(true));
        let over = "document.documentElement.scrollWidth - document.documentElement.clientWidth";
        assert_eq!(browser.value(over), json!(0), "{width}");
    }
    wait_for(&mut browser, "document.getElementById('figure').hidden", &json!(false));
    // A slider by mouse's event; then one by keyboard; the address carries the question.
    let slide = "(() => { const s = document.getElementById('n0'); s.value = 700; \
                 s.dispatchEvent(new Event('input')); return s.value; })()";
    browser.value(slide);
    wait_for(&mut browser, STATE, &json!("Running."));
    wait_for(&mut browser, DONE, &json!(true));
    let load = browser.value("new URLSearchParams(location.search).get('load')");
    let load: f64 = load.as_str().and_then(|x| x.parse().ok()).expect("a load");
    assert!((load - 754.0).abs() < 2.0, "{load}");
    let changed = browser.value("document.getElementById('changes').textContent");
    let expected = format!("Changed: offered load {load} requests/s (file: 300).");
    assert_eq!(changed, json!(expected));
    browser.value("document.getElementById('n1').focus()");
    browser.press("ArrowRight");
    wait_for(&mut browser, "location.search.includes('model.m.slo_ms')", &json!(true));
    wait_for(&mut browser, DONE, &json!(true));
    let shown = browser.value("document.querySelector('#rows tr td').textContent");
    let query = browser.value("location.search.slice(1)");
    let query = query.as_str().expect("a query").to_string();
    let events = server.events(&query);
    let last = events.iter().rfind(|(_, t)| t["policy"] == "fifo").expect("an answer");
    let rate = last.1["metrics"]["finish_rate"]["value"].as_f64().expect("a rate");
    assert_eq!(shown, json!(format!("{rate:.4}")));
    // The same address opened anew asks the same.
    browser.go(&format!("http://127.0.0.1:{}/?{query}", server.port), 1600, "light");
    wait_for(&mut browser, DONE, &json!(true));
    assert_eq!(browser.value("document.querySelector('#rows tr td').textContent"), shown);
    browser.value("document.getElementById('search').click()");
    wait_for(&mut browser, STATE, &json!("Searched."));
    let found = "document.querySelectorAll('#peaks-rows tr').length";
    assert_eq!(browser.value(found), json!(2));
    // By hand beyond its bound: the page says what is allowed, and goes back.
    let by_hand = "(() => { const t = document.getElementById('t0'); t.value = 1e9; \
                   t.dispatchEvent(new Event('change')); return 0; })()";
    browser.value(by_hand);
    wait_for(&mut browser, &format!("{STATE}.includes('from 30 to 3000')"), &json!(true));
    browser.value("document.getElementById('back').click()");
    wait_for(&mut browser, DONE, &json!(true));
    // A field that is emptied waits for a number.
    let emptied = "(() => { const t = document.getElementById('t0'); t.value = ''; \
                   t.dispatchEvent(new Event('change')); return location.search; })()";
    assert_eq!(browser.value(emptied), browser.value("location.search"));
    assert_eq!(browser.value(DONE), json!(true));
    // A policy that is none is said, taken back, and the next question is answered.
    let add = "(() => { document.getElementById('added').value = 'orlj'; \
               document.getElementById('add').click(); return 0; })()";
    browser.value(add);
    wait_for(&mut browser, &format!("{STATE}.includes('did you mean `orloj`')"), &json!(true));
    assert_eq!(browser.value("location.search.includes('orlj')"), json!(false));
    browser.value("document.getElementById('back').click()");
    wait_for(&mut browser, DONE, &json!(true));
    let said = browser.value(STATE);
    let said = said.as_str().expect("text");
    assert!(said.starts_with("Done: 5 seeds of ") && said.ends_with(" requests."), "{said}");
    assert_eq!(
        browser.value("document.getElementById('changes').textContent"),
        json!("Nothing changed.")
    );
    // A long one is stopped, and the next one is answered.
    let long = "(() => { values.set('arrivals.requests', 200000); ask(); return 0; })()";
    browser.value(long);
    wait_for(&mut browser, "document.getElementById('stop').hidden", &json!(false));
    browser.value("document.getElementById('stop').click()");
    wait_for(&mut browser, &format!("{STATE}.startsWith('Stopped.')"), &json!(true));
    assert_eq!(browser.value("document.getElementById('stop').hidden"), json!(true));
    browser.value("document.getElementById('back').click()");
    wait_for(&mut browser, DONE, &json!(true));
    // The server is gone.
    server.process.kill().expect("a process");
    server.process.wait().expect("a process");
    browser.value(slide);
    wait_for(&mut browser, &format!("{STATE}.includes('has ended')"), &json!(true));
    let (requests, _) = browser.close();
    let own = format!("http://127.0.0.1:{}/", server.port);
    let is_own = |url: &String| url.starts_with(&own) || url.starts_with("data:");
    assert!(requests.iter().all(is_own), "{requests:?}");
}

/// Moves the load's slider, and keeps when the first row and all rows have an answer to it.
pub const MEASURE: &str = "(() => {
    window.firstMs = 0; window.allMs = 0;
    const rows = document.getElementById('rows');
    const begun = performance.now();
    let isAsked = false;
    new MutationObserver(() => {
        const [all, fresh] = ['tr', 'tr:not(.old)'].map((s) => rows.querySelectorAll(s).length);
        // Until the question is asked, the rows are those of the last one.
        isAsked ||= fresh < all;
        if (!isAsked) return;
        const ms = Math.round(performance.now() - begun);
        if (fresh > 0 && !window.firstMs) window.firstMs = ms;
        if (fresh === all && !window.allMs) window.allMs = ms;
    }).observe(rows, { subtree: true, childList: true, attributes: true });
    const slider = document.getElementById('n0');
    slider.value = Number(slider.value) + 30;
    slider.dispatchEvent(new Event('input'));
    return 0;
})()";

/// The page's times that docs/serve.md tells: `--nocapture` shows them. Nothing is asserted of them.
#[test]
#[cfg_attr(not(has_browser), ignore = "no Chromium was on the path when the tests were compiled")]
fn all_policies_answer_a_slider() {
    let mut browser = Browser::open_one();
    let server = Server::of(include_str!("../../../scenarios/one-gpu-bert.toml"));
    let began = Instant::now();
    browser.go(&format!("http://127.0.0.1:{}/?token={}", server.port, server.token), 1600, "light");
    wait_for(&mut browser, DONE, &json!(true));
    let whole_ms = began.elapsed().as_millis();
    browser.value(MEASURE);
    wait_for(&mut browser, "window.allMs > 0", &json!(true));
    let [first, all] = ["firstMs", "allMs"].map(|name| browser.value(&format!("window.{name}")));
    assert_eq!(browser.value("document.querySelectorAll('#rows tr').length"), json!(6));
    eprintln!(
        "page whole after {whole_ms} ms; slider to first bar {first} ms, to all six {all} ms"
    );
}

/// The whole page, offline, is small.
#[test]
fn the_page_is_small() {
    let server = Server::start();
    let parts = ["/", "/page.js", "/page.css", "/api/controls"];
    let bytes: usize = parts.iter().map(|path| server.get(path).1.len()).sum();
    assert!(bytes < 200_000, "{bytes}");
    let help = Command::new(program()).args(["serve", "--help"]).output().expect("help");
    assert!(String::from_utf8_lossy(&help.stdout).contains("--port"));
}

/// The message is about the file as it is, whose lines are others than those of the text that is made of it.
#[test]
fn a_key_that_is_set_wrongly_is_refused_as_in_a_run() {
    let place = Place::with("s.toml", format!("# A head.\n\n{SCENARIO}"));
    for set in ["grwth=2", "arrivals.gamma.shape=-1.0", "model.m.slo_ms=-5.0"] {
        let said = |command: &str| {
            let ran = place.run(&[command, "s.toml", "--set", set]);
            let said = ran.stderr.clone();
            ran.refused(&["remedy"]);
            said
        };
        assert_eq!(said("serve"), said("run"));
    }
}
