//! The simulator in a page: `orrery serve`'s answers without a server.
//!
//! ```text
//!  ask.js ── a question ──> worker.js ── stdin ──> ask() ── orrery_serve ──> stdout ── a message a line ──> ask.js
//! ```
//!
//! A question is `{"path", "text", "address", "commit"}`: a file, what the page would ask the server, and the commit that
//! the page is made from, for its reports: compiled in, it would have the module linked anew after every commit. Messages are
//! `{"event", "data"}`, and the last one is `{"whole": {"status", "kind", "body"}}`. The module sees no files, no
//! network and no other thread; who wants it to stop ends the worker.

use orrery_traces::open::read_no_files;
use orrery_serve::{Desk, File, Reply, Tell, Whole, pairs};
use serde::Deserialize;
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::sync::{Arc, LazyLock};

/// A question.
#[derive(Debug, Deserialize)]
struct Question {
    path: String,
    text: String,
    address: String,
    commit: String,
}

/// What was answered is kept from one question to the next.
static DESK: LazyLock<Desk> = LazyLock::new(|| {
    read_no_files(NO_FILES);
    Desk::new(None)
});

/// What is said where a scenario or a plan names a file.
const NO_FILES: &str = "a page reads no files; run this one with `orrery serve FILE`";

/// Reads a question from stdin, and writes its answer to stdout.
// A module's exports go by their names; nothing else has this one.
#[allow(unsafe_code)]
#[unsafe(no_mangle)]
pub extern "C" fn ask() {
    let mut text = String::new();
    let read = std::io::stdin().read_to_string(&mut text).map_err(|e| e.to_string());
    let question = read.and_then(|_| serde_json::from_str(&text).map_err(|e| e.to_string()));
    let whole = match question {
        Ok(question) => answer(question),
        Err(error) => {
            let body = json!({ "error": error }).to_string();
            Whole { status: 400, kind: "application/json", body }
        }
    };
    write(&json!({ "whole": { "status": whole.status, "kind": whole.kind, "body": whole.body } }));
}

fn answer(question: Question) -> Whole {
    orrery_report::page::built_from(&question.commit);
    let (path, query) = question.address.split_once('?').unwrap_or((&question.address, ""));
    let file = File { path: question.path, text: question.text };
    match DESK.reply(&file, path, &pairs(query)) {
        Reply::Whole(whole) => whole,
        Reply::Events(events) => {
            let tell: Arc<Tell> = Arc::new(|event: &str, data: &Value| {
                write(&json!({ "event": event, "data": data }));
            });
            events.tell(&Arc::default(), &tell);
            Whole { status: 200, kind: "text/event-stream", body: String::new() }
        }
    }
}

/// A message, on a line of its own.
fn write(message: &Value) {
    let mut out = std::io::stdout().lock();
    // The page is there as long as its worker.
    let _ = writeln!(out, "{message}");
    let _ = out.flush();
}
