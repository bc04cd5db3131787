//! Requests and replies. A request without the token, or for another host, is refused before anything is read.

use super::Shared;
use super::answers::Sharpness;
use super::controls::Controls;
use super::question::Question;
use crate::commands::run::details;
use orrery_papers::cells::goodput::{FLAGS, Search, flags};
use orrery_papers::cells::hash::spec_sha256;
use orrery_papers::cells::run_report;
use orrery_results::Row;
use orrery_scenario::SpecError;
use serde_json::{Value, json};
use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use tiny_http::{Header, Method, Request, Response};

const PAGE: &str = include_str!("page/index.html");
const SCRIPT: &str = include_str!("page/page.js");
const STYLE: &str = include_str!("page/page.css");

/// Everything comes from here, and nothing is done for other pages.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; \
     connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
/// A picture has its style in itself.
const POLICY_OF_PICTURES: &str = "default-src 'none'; style-src 'unsafe-inline'; font-src data:";

/// The metrics that a page shows, in its order.
const SHOWN: [&str; 6] = [
    "finish_rate",
    "goodput_per_s",
    "latency_p50_ns",
    "latency_p99_ns",
    "mean_batch_size",
    "utilisation",
];

/// Replies to one request.
pub fn reply(request: Request, shared: &Shared) {
    // A reader that went away is no reason to stop.
    let _ = replied(request, shared);
}

fn replied(request: Request, shared: &Shared) -> std::io::Result<()> {
    let host = |request: &Request| {
        let host = request.headers().iter().find(|h| h.field.equiv("Host"));
        host.map_or(String::new(), |h| h.value.to_string())
    };
    let port = shared.port;
    let here = [format!("127.0.0.1:{port}"), format!("localhost:{port}")];
    if !here.contains(&host(&request)) {
        return plain(request, 403, "this page is for the machine that it runs on");
    }
    if *request.method() != Method::Get {
        return plain(request, 405, "only GET");
    }
    let url = request.url().to_string();
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
        "/" => text(request, "text/html", &PAGE.replace("TOKEN", &shared.token)),
        "/page.js" => text(request, "text/javascript", SCRIPT),
        "/page.css" => text(request, "text/css", STYLE),
        "/api/controls" => {
            let controls = shared.scenario().and_then(|s| Controls::of(&s));
            match controls {
                Ok(controls) => text(request, "application/json", &json!(controls).to_string()),
                Err(error) => refuse(request, &error),
            }
        }
        "/api/run" | "/api/goodput" => run(request, shared, &pairs, path == "/api/goodput"),
        "/api/scenario.toml" => match asked(shared, &pairs) {
            Ok(question) => text(request, "application/toml", question.scenario.text()),
            Err(error) => refuse(request, &error),
        },
        "/api/figure.svg" => figure(request, shared, &pairs),
        _ => plain(request, 404, "there is no such page"),
    }
}

/// The scenario as it is now, changed as the address says. A file that was changed since the page was opened is
/// not what the page asks of.
fn asked(shared: &Shared, pairs: &[(String, String)]) -> Result<Question, SpecError> {
    let scenario = shared.scenario()?;
    let of = pairs.iter().find(|(key, _)| key == "file").map(|(_, hash)| hash.clone());
    let now = spec_sha256(&[scenario.text()]);
    if of.is_some_and(|hash| hash != now) {
        let file = shared.file.display().to_string();
        let allowed = "the text that the page was opened with";
        let error =
            SpecError::value("file", "another text than before", allowed, "load the page again");
        return Err(error.in_file(&file));
    }
    Question::of(&scenario, pairs)
}

/// Rows as events, the sharper ones later. A new question of the same page ends the last one.
fn run(
    request: Request,
    shared: &Shared,
    pairs: &[(String, String)],
    is_search: bool,
) -> std::io::Result<()> {
    let client = pairs.iter().find(|(key, _)| key == "client").map_or("", |(_, id)| id.as_str());
    let told_to_end = Arc::new(AtomicBool::new(false));
    if let Ok(mut all) = shared.under_way.lock()
        && let Some(before) = all.insert(client.to_string(), told_to_end.clone())
    {
        before.store(true, Ordering::Relaxed);
    }
    let question = match asked(shared, pairs) {
        Ok(question) => question,
        Err(error) => return refuse(request, &error),
    };
    let mut writer = request.into_writer();
    write!(
        writer,
        "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nCache-Control: no-store\r\n\
         Content-Security-Policy: {POLICY}\r\nConnection: close\r\n\r\n"
    )?;
    writer.flush()?;
    let writer = Mutex::new(writer);
    let send = |event: &str, data: &Value| {
        let Ok(mut writer) = writer.lock() else { return };
        let sent = write!(writer, "event: {event}\ndata: {data}\n\n").and_then(|()| writer.flush());
        if sent.is_err() {
            // Nobody reads on: nothing more is run.
            told_to_end.store(true, Ordering::Relaxed);
        }
    };
    let tell = |sharpness: &Sharpness, rows: &[Row]| send("policy", &told(sharpness, rows));
    let found = |rows: &[Row]| send("goodput", &answer_of(rows));
    let answered = match is_search {
        true => shared.answers.goodput(&question, &told_to_end, found),
        false => shared.answers.answer(&question, &told_to_end, tell),
    };
    match answered {
        Ok(true) => send("done", &json!({})),
        Ok(false) => send("cancelled", &json!({})),
        Err(error) => send("failed", &json!({ "error": error.to_string() })),
    }
    if let Ok(mut all) = shared.under_way.lock()
        && all.get(client).is_some_and(|flag| Arc::ptr_eq(flag, &told_to_end))
    {
        all.remove(client);
    }
    Ok(())
}

/// What a page shows of one policy.
fn told(sharpness: &Sharpness, rows: &[Row]) -> Value {
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
        "policy": first.map(|r| r.policy.clone()),
        "metrics": metrics,
        "notes": run_report::notes_of(rows),
        "is_short": sharpness.is_short,
        "seeds": sharpness.seeds,
        "is_last": sharpness.is_last,
    })
}

/// What a page shows of one policy's search, with what is to be known before it is believed.
fn answer_of(rows: &[Row]) -> Value {
    let metric = Search::default().metric();
    let Some(row) = rows.iter().find(|r| r.metric == metric) else { return json!({}) };
    let flags = flags(row);
    let says = FLAGS.iter().filter(|(flag, _)| flags.contains(flag)).map(|(_, says)| says);
    json!({
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
    let mut response = Response::from_string(text).with_status_code(status);
    for (field, value) in [
        ("Content-Type", kind.as_str()),
        ("Content-Security-Policy", policy),
        ("X-Content-Type-Options", "nosniff"),
        ("Referrer-Policy", "no-referrer"),
        ("Cross-Origin-Resource-Policy", "same-origin"),
        ("Cache-Control", "no-store"),
    ] {
        let header = Header::from_bytes(field, value);
        response.add_header(header.map_err(|()| std::io::Error::other("a header"))?);
    }
    request.respond(response)
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
