//! What is replied to a request. One without the token, or for another host, is refused before anything is read.

use super::door::{Connection, Request};
use super::shared::{Shared, file_now};
use orrery_serve::page::PARTS;
use orrery_serve::{Events, Reply, Tell, Whole, has_events, pairs};
use serde_json::Value;
use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

/// Everything comes from here, and nothing is done for other pages.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; \
     connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
/// A picture has its style in itself.
const POLICY_OF_PICTURES: &str = "default-src 'none'; style-src 'unsafe-inline'; font-src data:";

/// A report is whole in itself, and cannot act for this page.
const POLICY_OF_REPORTS: &str = "default-src 'none'; style-src 'unsafe-inline'; \
     script-src 'unsafe-inline'; img-src data:; sandbox allow-scripts allow-downloads";

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
    if let Some(part) = PARTS.iter().find(|part| part.path == path) {
        let text = part.text.replace("TOKEN", &shared.token);
        return reply_with(request, 200, part.kind, POLICY, &text);
    }
    // Even one that cannot be asked ends the last one of the same page.
    let told_to_end = if has_events(path) { newest(shared, &pairs) } else { Arc::default() };
    let file = match file_now(&shared.file, &shared.set) {
        Ok(file) => file,
        Err(error) => return whole(request, &Whole::refused(&error)),
    };
    let replied = match shared.desk.reply(&file, path, &pairs) {
        Reply::Whole(reply) => whole(request, &reply),
        Reply::Events(events) => stream(request, events, &told_to_end),
    };
    forget(shared, &pairs, &told_to_end);
    replied
}

/// Sends an answer while it is made.
fn stream(
    request: Request,
    events: Events<'_>,
    told_to_end: &Arc<AtomicBool>,
) -> std::io::Result<()> {
    let writer = Mutex::new(request.stream(&[
        ("Content-Type", "text/event-stream"),
        ("Cache-Control", "no-store"),
        ("Content-Security-Policy", POLICY),
    ])?);
    let left = told_to_end.clone();
    let tell: Arc<Tell> = Arc::new(move |event: &str, data: &Value| {
        if send(&writer, event, data).is_err() {
            // Nobody reads on: nothing more is run.
            left.store(true, Ordering::Relaxed);
        }
    });
    events.tell(told_to_end, &tell);
    Ok(())
}

fn send(writer: &Mutex<Connection>, event: &str, data: &Value) -> std::io::Result<()> {
    let Ok(mut writer) = writer.lock() else { return Ok(()) };
    writer.write_all(format!("event: {event}\ndata: {data}\n\n").as_bytes())
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

fn whole(request: Request, reply: &Whole) -> std::io::Result<()> {
    let policy = match (reply.status, reply.kind) {
        (200, "image/svg+xml") => POLICY_OF_PICTURES,
        (200, "text/html") => POLICY_OF_REPORTS,
        _ => POLICY,
    };
    reply_with(request, reply.status, reply.kind, policy, &reply.body)
}

fn plain(request: Request, status: u16, text: &str) -> std::io::Result<()> {
    reply_with(request, status, "text/plain", POLICY, &format!("{text}\n"))
}

fn reply_with(
    request: Request,
    status: u16,
    kind: &str,
    policy: &str,
    text: &str,
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
    request.respond(status, &headers, text)
}
