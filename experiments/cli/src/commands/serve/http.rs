//! What is replied to a request. One without the token, or for another host, is refused before anything is read.

use super::answers::Sharpness;
use super::controls::Controls;
use super::door::{Connection, Request};
use super::plans::{Plan, Shown};
use super::question::Question;
use super::shared::Shared;
use crate::commands::run::whole_page;
use orrery_cells::details;
use orrery_cells::goodput::{FLAGS, Search, flags};
use orrery_cells::hash::spec_sha256;
use orrery_cells::notes::notes_of;
use orrery_cells::seeds::Seeds;
use orrery_plans::Watcher;
use orrery_results::{Row, metric};
use orrery_scenario::SpecError;
use orrery_scenario::scenario::caveats::CAVEATS;
use serde_json::{Value, json};
use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

const PAGE: &str = include_str!("page/index.html");
const SCRIPT: &str = include_str!("page/page.js");
const PLAN_SCRIPT: &str = include_str!("page/plan.js");
const STYLE: &str = include_str!("page/page.css");

/// Everything comes from here, and nothing is done for other pages.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; \
     connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
/// A picture has its style in itself.
const POLICY_OF_PICTURES: &str = "default-src 'none'; style-src 'unsafe-inline'; font-src data:";

/// A report is whole in itself, and cannot act for this page.
const POLICY_OF_REPORTS: &str = "default-src 'none'; style-src 'unsafe-inline'; \
     script-src 'unsafe-inline'; img-src data:; sandbox allow-scripts allow-downloads";

/// Between two events of progress.
const BETWEEN_PROGRESS: Duration = Duration::from_millis(200);

/// The metrics that a page shows, in its order; the first has its interval and a bar beside it.
const SHOWN: [&str; 6] = [
    metric::FINISH_RATE,
    metric::GOODPUT,
    metric::LATENCY_P50,
    metric::LATENCY_P99,
    metric::MEAN_BATCH_SIZE,
    metric::UTILISATION,
];

/// The page, with the headings of its metrics.
fn page(token: &str) -> String {
    let heading = |name: &&str| {
        let metric = metric::find(name)?;
        let (heading, divisor) = (metric.page?, metric.reading.divisor);
        Some(format!(
            "<th scope=\"col\" data-metric=\"{name}\" data-divisor=\"{divisor}\">{heading}</th>"
        ))
    };
    let headings: String = SHOWN[1..].iter().filter_map(heading).collect();
    PAGE.replace("METRICS", &headings).replace("TOKEN", token)
}

/// Replies to one request.
pub fn reply(request: Request, shared: &Shared) {
    // A reader that went away is no reason to stop.
    let _ = replied(request, shared);
}

fn replied(request: Request, shared: &Shared) -> std::io::Result<()> {
    let port = shared.port;
    let here = [format!("127.0.0.1:{port}"), format!("localhost:{port}")];
    if !here.contains(&request.host) {
        return plain(request, 403, "this page is for the machine that it runs on");
    }
    if request.method != "GET" {
        return plain(request, 405, "only GET");
    }
    let url = request.target.clone();
    let (path, query) = url.split_once('?').unwrap_or((&url, ""));
    if path == "/favicon.ico" {
        return plain(request, 404, "none");
    }
    let pairs = pairs(query);
    let given = pairs.iter().find(|(key, _)| key == "token").map(|(_, token)| token.as_str());
    if given != Some(shared.token.as_str()) {
        let text = "the address has no token, or that of another run: open the one that orrery serve printed";
        return plain(request, 403, text);
    }
    match path {
        "/" => text(request, "text/html", &page(&shared.token)),
        "/page.js" => text(request, "text/javascript", SCRIPT),
        "/plan.js" => text(request, "text/javascript", PLAN_SCRIPT),
        "/page.css" => text(request, "text/css", STYLE),
        "/api/controls" => {
            let controls = match shared.is_plan {
                true => shared.plan().map(|plan| json!(plan.controls())),
                false => shared.scenario().and_then(|s| Ok(json!(Controls::of(&s)?))),
            };
            match controls {
                Ok(controls) => text(request, "application/json", &controls.to_string()),
                Err(error) => refuse(request, &error),
            }
        }
        "/api/plan" if shared.is_plan => plan(request, shared, &pairs),
        "/api/figure.svg" if shared.is_plan => match asked_plan(shared, &pairs) {
            Ok((plan, what_if)) => match shared.plans.figure(&plan, what_if) {
                Some(svg) => reply_with(request, 200, "image/svg+xml", POLICY_OF_PICTURES, svg),
                None => plain(request, 404, "this question is not answered yet"),
            },
            Err(error) => refuse(request, &error),
        },
        "/api/report.html" if shared.is_plan => match asked_plan(shared, &pairs) {
            Ok((plan, what_if)) => match shared.plans.report(&plan, what_if) {
                Some(html) => reply_with(request, 200, "text/html", POLICY_OF_REPORTS, html),
                None => plain(request, 404, "this question is not answered yet"),
            },
            Err(error) => refuse(request, &error),
        },
        _ if shared.is_plan => plain(request, 404, "there is no such page of a plan"),
        "/api/run" | "/api/goodput" => run(request, shared, &pairs, path == "/api/goodput"),
        "/api/scenario.toml" => match asked(shared, &pairs) {
            Ok(question) => text(request, "application/toml", question.scenario.text()),
            Err(error) => refuse(request, &error),
        },
        "/api/report.html" => report(request, shared, &pairs),
        "/api/figure.svg" => figure(request, shared, &pairs),
        _ => plain(request, 404, "there is no such page"),
    }
}

/// The scenario as it is now, changed as the address says. A file that was changed since the page was opened is
/// not what the page asks of.
fn asked(shared: &Shared, pairs: &[(String, String)]) -> Result<Question, SpecError> {
    let scenario = shared.scenario()?;
    same_text(shared, pairs, &spec_sha256(&[scenario.text()]))?;
    Question::of(&scenario, pairs)
}

/// The plan as it is now, and the what-if that the address asks.
fn asked_plan(
    shared: &Shared,
    pairs: &[(String, String)],
) -> Result<(Plan, Option<String>), SpecError> {
    let plan = shared.plan()?;
    same_text(shared, pairs, &plan.sha256())?;
    let what_if = plan.what_if(pairs)?;
    Ok((plan, what_if))
}

/// # Errors
/// When the file is not what the page was opened with.
fn same_text(shared: &Shared, pairs: &[(String, String)], now: &str) -> Result<(), SpecError> {
    let of = pairs.iter().find(|(key, _)| key == "file").map(|(_, hash)| hash.as_str());
    if of.is_none_or(|hash| hash == now) {
        return Ok(());
    }
    let file = shared.file.display().to_string();
    let allowed = "the text that the page was opened with";
    let error =
        SpecError::value("file", "another text than before", allowed, "load the page again");
    Err(error.in_file(&file))
}

/// Rows as events, the sharper ones later. A new question of the same page ends the last one.
fn run(
    request: Request,
    shared: &Shared,
    pairs: &[(String, String)],
    is_search: bool,
) -> std::io::Result<()> {
    let told_to_end = newest(shared, pairs);
    let question = match asked(shared, pairs) {
        Ok(question) => question,
        Err(error) => return refuse(request, &error),
    };
    let events = Events::begin(request, told_to_end.clone())?;
    // The page calls a policy as it was asked for.
    let named = |rows: &[Row]| {
        let text = rows.first().map(|row| row.policy.as_str());
        let at = question.policies.iter().position(|p| Some(p.text()) == text);
        at.map(|at| question.named[at].clone())
    };
    let tell = |sharpness: &Sharpness, rows: &[Row]| {
        events.send("policy", &told(named(rows), sharpness, rows));
    };
    let found = |rows: &[Row]| events.send("goodput", &answer_of(named(rows), rows));
    let answered = match is_search {
        true => shared.answers.goodput(&question, &told_to_end, found),
        false => shared.answers.answer(&question, &told_to_end, tell),
    };
    events.end(answered);
    forget(shared, pairs, &told_to_end);
    Ok(())
}

/// A plan's answer as events: how far it is, the plan as it is, then the what-if.
fn plan(request: Request, shared: &Shared, pairs: &[(String, String)]) -> std::io::Result<()> {
    let told_to_end = newest(shared, pairs);
    let (plan, what_if) = match asked_plan(shared, pairs) {
        Ok(asked) => asked,
        Err(error) => return refuse(request, &error),
    };
    let events = Arc::new(Events::begin(request, told_to_end.clone())?);
    let (teller, said) = (events.clone(), Mutex::new(None::<Instant>));
    let progress = move |done: u64, of: u64| {
        let Ok(mut said) = said.lock() else { return };
        if said.is_none_or(|at| at.elapsed() >= BETWEEN_PROGRESS) {
            *said = Some(Instant::now());
            teller.send("progress", &json!({ "done": done, "of": of }));
        }
    };
    let watcher = Watcher { told_to_end: told_to_end.clone(), tell: Arc::new(progress) };
    let tell = |shown: &Shown| events.send("plan", &json!(shown));
    let answered =
        shared.answers.install(|| shared.plans.answer(&plan, what_if.as_deref(), &watcher, tell));
    events.end(match answered {
        Err(_) if told_to_end.load(Ordering::Relaxed) => Ok(false),
        answered => answered.map(|()| true),
    });
    forget(shared, pairs, &told_to_end);
    Ok(())
}

/// The flag of a new question, and an end to the last one of the same page.
fn newest(shared: &Shared, pairs: &[(String, String)]) -> Arc<AtomicBool> {
    let told_to_end = Arc::new(AtomicBool::new(false));
    if let Ok(mut all) = shared.under_way.lock()
        && let Some(before) = all.insert(client(pairs), told_to_end.clone())
    {
        before.store(true, Ordering::Relaxed);
    }
    told_to_end
}

fn forget(shared: &Shared, pairs: &[(String, String)], told_to_end: &Arc<AtomicBool>) {
    let client = client(pairs);
    if let Ok(mut all) = shared.under_way.lock()
        && all.get(&client).is_some_and(|flag| Arc::ptr_eq(flag, told_to_end))
    {
        all.remove(&client);
    }
}

/// Which page asks.
fn client(pairs: &[(String, String)]) -> String {
    pairs.iter().find(|(key, _)| key == "client").map_or(String::new(), |(_, id)| id.clone())
}

/// A stream of events to one page.
struct Events {
    writer: Mutex<Connection>,
    told_to_end: Arc<AtomicBool>,
}

impl Events {
    fn begin(request: Request, told_to_end: Arc<AtomicBool>) -> std::io::Result<Events> {
        let writer = request.stream(&[
            ("Content-Type", "text/event-stream"),
            ("Cache-Control", "no-store"),
            ("Content-Security-Policy", POLICY),
        ])?;
        Ok(Events { writer: Mutex::new(writer), told_to_end })
    }

    fn send(&self, event: &str, data: &Value) {
        let Ok(mut writer) = self.writer.lock() else { return };
        let text = format!("event: {event}\ndata: {data}\n\n");
        if writer.write_all(text.as_bytes()).is_err() {
            // Nobody reads on: nothing more is run.
            self.told_to_end.store(true, Ordering::Relaxed);
        }
    }

    /// The last event: whether the answer is whole.
    fn end(&self, answered: Result<bool, SpecError>) {
        match answered {
            Ok(true) => self.send("done", &json!({})),
            Ok(false) => self.send("cancelled", &json!({})),
            Err(error) => self.send("failed", &json!({ "error": error.to_string() })),
        }
    }
}

/// What a page shows of one policy.
fn told(asked: Option<String>, sharpness: &Sharpness, rows: &[Row]) -> Value {
    let of = |metric: &str| {
        let row = rows.iter().find(|r| r.scope == "all" && r.metric == metric)?;
        Some(json!({
            "value": row.value, "low": row.ci95_low, "high": row.ci95_high,
            "unit": row.unit, "reason": row.reason,
        }))
    };
    let metrics: serde_json::Map<String, Value> =
        SHOWN.iter().filter_map(|m| Some((m.to_string(), of(m)?))).collect();
    let first = rows.first();
    json!({
        "asked": asked,
        "policy": first.map(|r| r.policy.clone()),
        "metrics": metrics,
        "notes": notes_of(rows),
        "is_short": sharpness.is_short,
        "seeds": sharpness.seeds,
        "is_last": sharpness.is_last,
    })
}

/// What a page shows of one policy's search, with what is to be known before it is believed.
fn answer_of(asked: Option<String>, rows: &[Row]) -> Value {
    let metric = Search::default().metric();
    let Some(row) = rows.iter().find(|r| r.metric == metric) else { return json!({}) };
    let flags = flags(row);
    let all = FLAGS.into_iter().chain(CAVEATS);
    let says = all.filter(|(flag, _)| row.has_flag(flag)).map(|(_, says)| says);
    json!({
        "asked": asked,
        "policy": row.policy,
        "value": row.value,
        "reason": row.reason,
        "flags": flags,
        "notes": says.collect::<Vec<_>>(),
    })
}

/// The distribution of latencies, of the first seed.
fn figure(request: Request, shared: &Shared, pairs: &[(String, String)]) -> std::io::Result<()> {
    let drawn = asked(shared, pairs).and_then(|question| {
        details::latencies(&question.scenario, &question.policies, question.scenario.seed)
    });
    match drawn {
        Ok(Some(figure)) => {
            reply_with(request, 200, "image/svg+xml", POLICY_OF_PICTURES, figure.to_svg())
        }
        Ok(None) => plain(request, 404, "no request was answered"),
        Err(error) => refuse(request, &error),
    }
}

/// The page of `orrery run --html`, of the same question.
fn report(request: Request, shared: &Shared, pairs: &[(String, String)]) -> std::io::Result<()> {
    let made = asked(shared, pairs).and_then(|question| {
        let (scenario, policies) = (&question.scenario, &question.policies);
        let seeds = Seeds { first: scenario.seed, count: question.seeds, until_ci: None };
        let rows = shared.answers.rows(scenario, policies, seeds)?;
        let name = &scenario.name;
        let seeds = question.seeds;
        let command = format!("orrery run {name}.toml --seeds {seeds}");
        whole_page(scenario, policies, &rows, command)
    });
    match made {
        Ok(page) => reply_with(request, 200, "text/html", POLICY_OF_REPORTS, page),
        Err(error) => refuse(request, &error),
    }
}

fn text(request: Request, kind: &str, text: &str) -> std::io::Result<()> {
    reply_with(request, 200, kind, POLICY, text.to_string())
}

/// The error, as the command line says it.
fn refuse(request: Request, error: &SpecError) -> std::io::Result<()> {
    let text = json!({ "error": error.to_string() }).to_string();
    reply_with(request, 400, "application/json", POLICY, text)
}

fn plain(request: Request, status: u16, text: &str) -> std::io::Result<()> {
    reply_with(request, status, "text/plain", POLICY, format!("{text}\n"))
}

fn reply_with(
    request: Request,
    status: u16,
    kind: &str,
    policy: &str,
    text: String,
) -> std::io::Result<()> {
    let kind = format!("{kind}; charset=utf-8");
    let headers = [
        ("Content-Type", kind.as_str()),
        ("Content-Security-Policy", policy),
        ("X-Content-Type-Options", "nosniff"),
        ("Referrer-Policy", "no-referrer"),
        ("Cross-Origin-Resource-Policy", "same-origin"),
        ("Cache-Control", "no-store"),
    ];
    request.respond(status, &headers, &text)
}

/// The pairs of a query, decoded.
fn pairs(query: &str) -> Vec<(String, String)> {
    let pair = |part: &str| {
        let (key, value) = part.split_once('=').unwrap_or((part, ""));
        (decoded(key), decoded(value))
    };
    query.split('&').filter(|part| !part.is_empty()).map(pair).collect()
}

/// `%41` is `A`, `+` a space; what is no such code stays.
fn decoded(text: &str) -> String {
    let (mut bytes, mut rest) = (Vec::new(), text.as_bytes());
    while let Some((&first, after)) = rest.split_first() {
        let code = (first == b'%').then(|| after.get(..2)).flatten();
        let code = code.and_then(|c| u8::from_str_radix(std::str::from_utf8(c).ok()?, 16).ok());
        match code {
            Some(byte) => {
                bytes.push(byte);
                rest = &after[2..];
            }
            None => {
                bytes.push(if first == b'+' { b' ' } else { first });
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_decoded_and_what_is_no_code_stays() {
        let found = pairs("policy=clockwork%5Bmax_batch%3D4%5D&a+b=%zz&&c&d=%E4%B8%96");
        let expected =
            [("policy", "clockwork[max_batch=4]"), ("a b", "%zz"), ("c", ""), ("d", "世")];
        let expected: Vec<(String, String)> =
            expected.iter().map(|(k, v)| (k.to_string(), v.to_string())).collect();
        assert_eq!(found, expected);
        assert_eq!(decoded("%"), "%");
        assert_eq!(decoded("%4"), "%4");
    }
}
