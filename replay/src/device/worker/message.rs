//! What a worker answers.

use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;

/// The version of the protocol.
pub const VERSION: u64 = 1;

/// What was wrong with an answer, and what to do about it.
type Fault = (String, &'static str);

/// The longest piece of a worker's words that a message repeats, in characters.
const SHOWN_MAX: usize = 200;

/// What a worker said, cut at a readable length, with its control characters as such.
fn readable(text: &str) -> String {
    let each = text.chars().take(SHOWN_MAX);
    let shown = each.map(|c| match c.is_control() {
        true => c.escape_default().to_string(),
        false => c.to_string(),
    });
    let more = if text.chars().nth(SHOWN_MAX).is_some() { "..." } else { "" };
    shown.collect::<String>() + more
}

/// Reads a line that is the answer to question `id`.
pub fn answer(line: &str, id: u64) -> Result<Value, Fault> {
    let parsed: Option<Value> = serde_json::from_str(line).ok();
    let Some(answer) = parsed.filter(Value::is_object) else {
        let shown = readable(line);
        let remedy = "print it to stderr; for what a library prints, see \"What goes wrong\" in docs/worker.md";
        return Err((format!("it printed `{shown}` to stdout, which is for answers"), remedy));
    };
    let again = match answer.get("id").and_then(Value::as_u64) {
        Some(found) if found == id => None,
        Some(found) if found < id => Some(format!("it answered question {found} again")),
        Some(found) => Some(format!("it answered question {found}")),
        None => Some("its answer has no `id`".to_string()),
    };
    if let Some(said) = again {
        let remedy = "answer each question once, in order, with its `id`";
        return Err((format!("{said}; {id} was asked"), remedy));
    }
    match answer.get("error") {
        Some(said) => {
            let said = said.as_str().map_or_else(|| said.to_string(), str::to_string);
            Err((readable(&said), "it is what the worker itself says"))
        }
        None => Ok(answer),
    }
}

/// An answer to hello.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Hello {
    #[serde(rename = "id")]
    _id: u64,
    #[serde(rename = "orrery_worker")]
    _version: u64,
    /// What it calls itself: a profile is of a device of this name.
    pub name: String,
    /// The GPU that it runs on, if it does.
    #[serde(default)]
    pub gpu: Option<String>,
    /// For the record: versions, clocks.
    #[serde(default, deserialize_with = "facts")]
    pub facts: BTreeMap<String, String>,
    /// It takes `load`.
    #[serde(default)]
    pub can_load: bool,
}

fn facts<'de, D: serde::Deserializer<'de>>(from: D) -> Result<BTreeMap<String, String>, D::Error> {
    let all = BTreeMap::<String, Value>::deserialize(from)?;
    let text = |value: Value| match value {
        Value::String(text) => text,
        other => other.to_string(),
    };
    Ok(all.into_iter().map(|(fact, value)| (fact, text(value))).collect())
}

/// An answer to a batch or a load.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Done {
    #[serde(rename = "id")]
    _id: u64,
    /// When it began, on CLOCK_MONOTONIC.
    pub start_ns: u64,
    /// When it ended.
    pub end_ns: u64,
    /// Time on the device, by its own clock; from start to end if left out.
    #[serde(default)]
    pub device_ns: Option<u64>,
    /// Of the time from start to end, what the host took away.
    #[serde(default)]
    pub away_ns: u64,
}

/// How far apart a worker's two clocks may be.
const CLOCKS_NS: u64 = 1_000_000;

const OF_JOB: &str =
    "answer with `id`, `start_ns`, `end_ns` and, if known, `device_ns` and `away_ns`";

impl Hello {
    pub fn of(answer: Value) -> Result<Hello, Fault> {
        let version = answer.get("orrery_worker").cloned().unwrap_or_default();
        if version.as_u64() != Some(VERSION) {
            let said = match version {
                Value::Null => "its answer has no `orrery_worker`".to_string(),
                other => {
                    format!("it speaks version {other} of the protocol, and this is {VERSION}")
                }
            };
            return Err((said, "answer with `\"orrery_worker\": 1`, as docs/worker.md says"));
        }
        let remedy = "answer with `name` and, if you like, `facts` and `can_load`";
        serde_json::from_value(answer).map_err(|e| (format!("its answer has a fault: {e}"), remedy))
    }
}

impl Done {
    /// Reads an answer to what was asked at `asked_ns`, and came at `came_ns`.
    pub fn of(answer: Value, asked_ns: u64, came_ns: u64) -> Result<Done, Fault> {
        let done: Done = serde_json::from_value(answer)
            .map_err(|e| (format!("its answer has a fault: {e}"), OF_JOB))?;
        let Done { start_ns, end_ns, device_ns, away_ns, .. } = done;
        let fault = if end_ns < start_ns {
            format!("it ended {} ns before it started", start_ns - end_ns)
        } else if start_ns < asked_ns {
            format!("it started {} ns before it was asked", asked_ns - start_ns)
        } else if end_ns > came_ns {
            format!("it ended {} ns after its answer came", end_ns - came_ns)
        } else {
            let (span, said) = (end_ns - start_ns, device_ns.unwrap_or(0).saturating_add(away_ns));
            if said <= span.saturating_add(CLOCKS_NS) {
                return Ok(done);
            }
            format!("`device_ns` and `away_ns` are {said} ns of {span} from start to end")
        };
        Err((fault, "read all times from CLOCK_MONOTONIC in ns: `time.monotonic_ns()` in Python"))
    }

    /// The same of a batch, which takes some time.
    pub fn of_batch(answer: Value, asked_ns: u64, came_ns: u64) -> Result<Done, Fault> {
        let done = Done::of(answer, asked_ns, came_ns)?;
        let remedy = "read the time before and after the batch: on a GPU, when it has ended there";
        match done.device_ns() {
            0 => Err(("the batch took 0 ns".to_string(), remedy)),
            _ => Ok(done),
        }
    }

    /// Time on the device.
    pub fn device_ns(&self) -> u64 {
        self.device_ns.unwrap_or(self.end_ns - self.start_ns)
    }
}
