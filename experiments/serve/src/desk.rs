//! What is replied to an address: one text, or events.

use super::answers::{Answers, Sharpness};
use super::controls::{Controls, SHOWN};
use super::file::File;
use super::plans::{Plan, Plans, Shown};
use super::question::Question;
use super::report::whole_page;
use orrery_plan::Watcher;
use orrery_results::Row;
use orrery_run::SpecError;
use orrery_scenario::kind;
use orrery_scenario::scenario::Scenario;
use orrery_scenario::scenario::caveats::CAVEATS;
use orrery_sweep::details;
use orrery_sweep::goodput::{FLAGS, Search, flags};
use orrery_sweep::hash::spec_sha256;
use orrery_sweep::notes::notes_of;
use orrery_sweep::scenario_rows::rows_of_scenario;
use orrery_sweep::seeds::Seeds;
use serde_json::{Value, json};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// Between two events of progress.
const BETWEEN_PROGRESS: Duration = Duration::from_millis(200);

/// The pairs of an address.
type Pairs = [(String, String)];

/// Who is told of events: each has a name and data.
pub type Tell = dyn Fn(&str, &Value) + Send + Sync;

/// Where questions are answered. What was answered is kept.
pub struct Desk {
    answers: Answers,
    plans: Plans,
}

/// A reply.
pub enum Reply<'a> {
    /// One text.
    Whole(Whole),
    /// The question can be asked: its answer comes event by event.
    Events(Events<'a>),
}

/// A reply that is one text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Whole {
    /// As in HTTP: 200, 400 for a question that cannot be asked, 404 for what is not there.
    pub status: u16,
    /// The type of the text.
    pub kind: &'static str,
    /// The text.
    pub body: String,
}

impl Whole {
    fn of(kind: &'static str, body: String) -> Whole {
        Whole { status: 200, kind, body }
    }

    /// The error, as the command line says it.
    pub fn refused(error: &SpecError) -> Whole {
        let body = json!({ "error": error.to_string() }).to_string();
        Whole { status: 400, kind: "application/json", body }
    }

    /// What is not there.
    pub fn none(why: &str) -> Whole {
        Whole { status: 404, kind: "text/plain", body: format!("{why}\n") }
    }
}

/// A question whose answer comes event by event.
pub struct Events<'a> {
    desk: &'a Desk,
    asked: Asked,
}

enum Asked {
    Run(Box<Question>),
    Goodput(Box<Question>),
    Plan(Box<Plan>, Option<String>),
}

/// Whether what is asked there is answered by events, if it can be asked at all.
pub fn has_events(path: &str) -> bool {
    ["/api/run", "/api/goodput", "/api/plan"].contains(&path)
}

impl Desk {
    /// A desk whose simulations run side by side on these threads; without any, on the thread that asks.
    pub fn new(pool: Option<rayon::ThreadPool>) -> Desk {
        Desk { answers: Answers::new(pool), plans: Plans::default() }
    }

    /// Whether anything can be asked of a file.
    ///
    /// # Errors
    /// When it is neither a scenario that can be run nor a plan, or wrong.
    pub fn check(&self, file: &File) -> Result<(), SpecError> {
        self.replied(file, "/api/controls", &[]).map(drop)
    }

    /// Replies to one address.
    pub fn reply(&self, file: &File, path: &str, pairs: &Pairs) -> Reply<'_> {
        match self.replied(file, path, pairs) {
            Ok(reply) => reply,
            Err(error) => Reply::Whole(Whole::refused(&error)),
        }
    }

    fn replied(&self, file: &File, path: &str, pairs: &Pairs) -> Result<Reply<'_>, SpecError> {
        let events = |asked| Reply::Events(Events { desk: self, asked });
        if kind::of(&file.text).is_some_and(|kind| kind.name == kind::PLAN.name) {
            let plan = Plan::of(file)?;
            let what_if = || {
                same_text(file, pairs, &plan.sha256())?;
                plan.what_if(pairs)
            };
            let answered = |kind, text: Option<String>| match text {
                Some(text) => Whole::of(kind, text),
                None => Whole::none("this question is not answered yet"),
            };
            return Ok(Reply::Whole(match path {
                "/api/controls" => {
                    Whole::of("application/json", json!(plan.controls()).to_string())
                }
                "/api/plan" => {
                    let what_if = what_if()?;
                    return Ok(events(Asked::Plan(Box::new(plan), what_if)));
                }
                "/api/figure.svg" => {
                    answered("image/svg+xml", self.plans.figure(&plan, what_if()?))
                }
                "/api/report.html" => answered("text/html", self.plans.report(&plan, what_if()?)),
                _ => Whole::none("there is no such page of a plan"),
            }));
        }
        let scenario = Scenario::from_text(&file.path, &file.text)?;
        let question = || {
            same_text(file, pairs, &spec_sha256(&[&scenario.text()]))?;
            Question::of(&scenario, pairs)
        };
        Ok(Reply::Whole(match path {
            "/api/controls" => {
                Whole::of("application/json", json!(Controls::of(&scenario)?).to_string())
            }
            "/api/run" => return Ok(events(Asked::Run(Box::new(question()?)))),
            "/api/goodput" => return Ok(events(Asked::Goodput(Box::new(question()?)))),
            "/api/scenario.toml" => Whole::of("application/toml", question()?.scenario.text()),
            "/api/report.html" => Whole::of("text/html", self.report(&question()?)?),
            "/api/figure.svg" => match figure(&question()?)? {
                Some(svg) => Whole::of("image/svg+xml", svg),
                None => Whole::none("no request was answered"),
            },
            _ => Whole::none("there is no such page"),
        }))
    }

    /// The page of `orrery run --html`, of the same question.
    fn report(&self, question: &Question) -> Result<String, SpecError> {
        let (scenario, policies) = (&question.scenario, &question.policies);
        let seeds = Seeds { first: scenario.seed, count: question.seeds, until_ci: None };
        let run = || rows_of_scenario(scenario, policies, seeds, None, false);
        let rows = self.answers.install(run)?;
        let command = format!("orrery run {}.toml --seeds {}", scenario.name, question.seeds);
        whole_page(scenario, policies, &rows, command)
    }
}

/// The distribution of latencies, of the first seed.
fn figure(question: &Question) -> Result<Option<String>, SpecError> {
    let (scenario, policies) = (&question.scenario, &question.policies);
    let figure = details::latencies(scenario, policies, scenario.seed)?;
    Ok(figure.map(|figure| figure.to_svg()))
}

/// # Errors
/// When the file is not what the page was opened with.
fn same_text(file: &File, pairs: &Pairs, now: &str) -> Result<(), SpecError> {
    let of = pairs.iter().find(|(key, _)| key == "file").map(|(_, hash)| hash.as_str());
    if of.is_none_or(|hash| hash == now) {
        return Ok(());
    }
    let allowed = "the text that the page was opened with";
    let error =
        SpecError::value("file", "another text than before", allowed, "load the page again");
    Err(error.in_file(&file.path))
}

impl Events<'_> {
    /// Answers: the sharper events come later, and the last one is `done`, or `cancelled` when it was told to end, or
    /// `failed`.
    pub fn tell(self, told_to_end: &Arc<AtomicBool>, tell: &Arc<Tell>) {
        let answered = match &self.asked {
            Asked::Run(question) => {
                let sharper = |sharpness: &Sharpness, rows: &[Row]| {
                    tell("policy", &told(named(question, rows), sharpness, rows));
                };
                self.desk.answers.answer(question, told_to_end, sharper)
            }
            Asked::Goodput(question) => {
                let found = |rows: &[Row]| tell("goodput", &answer_of(named(question, rows), rows));
                self.desk.answers.goodput(question, told_to_end, found)
            }
            Asked::Plan(plan, what_if) => self.plan(plan, what_if.as_deref(), told_to_end, tell),
        };
        match answered {
            Ok(true) => tell("done", &json!({})),
            Ok(false) => tell("cancelled", &json!({})),
            Err(error) => tell("failed", &json!({ "error": error.to_string() })),
        }
    }

    /// How far it is, the plan as it is, then the what-if.
    fn plan(
        &self,
        plan: &Plan,
        what_if: Option<&str>,
        told_to_end: &Arc<AtomicBool>,
        tell: &Arc<Tell>,
    ) -> Result<bool, SpecError> {
        let (teller, said) = (tell.clone(), Mutex::new(None::<Instant>));
        let progress = move |done: u64, of: u64| {
            let Ok(mut said) = said.lock() else { return };
            if said.is_none_or(|at| at.elapsed() >= BETWEEN_PROGRESS) {
                *said = Some(Instant::now());
                teller("progress", &json!({ "done": done, "of": of }));
            }
        };
        let watcher = Watcher { told_to_end: told_to_end.clone(), tell: Arc::new(progress) };
        let shown = |shown: &Shown| tell("plan", &json!(shown));
        let Desk { answers, plans } = self.desk;
        match answers.install(|| plans.answer(plan, what_if, &watcher, shown)) {
            Err(_) if told_to_end.load(Ordering::Relaxed) => Ok(false),
            answered => answered.map(|()| true),
        }
    }
}

/// The page calls a policy as it was asked for.
fn named(question: &Question, rows: &[Row]) -> Option<String> {
    let text = rows.first().map(|row| row.policy.as_str());
    let at = question.policies.iter().position(|p| Some(p.text()) == text);
    at.map(|at| question.named[at].clone())
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

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "policies = ['fifo', 'orloj']\n[[model]]\nname = 'm'\nslo_ms = 50.0\n\
        latency = { affine = { alpha_ms = 1.0, beta_ms = 5.0 } }\n[[app]]\nname = 'a'\nmodel = 'm'\n\
        [arrivals]\npoisson = { rate_per_s = 100.0 }\nrequests = 3000\n";

    fn file(text: &str) -> File {
        File { path: "t.toml".to_string(), text: text.to_string() }
    }

    /// The events of an answer, in the order of their text: policies may run side by side.
    fn told(desk: &Desk, is_stopped: bool) -> Vec<String> {
        let seen = Arc::new(Mutex::new(Vec::new()));
        let into = seen.clone();
        let tell: Arc<Tell> = Arc::new(move |event: &str, data: &Value| {
            into.lock().expect("no panic").push(format!("{event} {data}"));
        });
        let pairs = [("load".to_string(), "150".to_string())];
        let Reply::Events(events) = desk.reply(&file(TEXT), "/api/run", &pairs) else {
            panic!("a question that can be asked");
        };
        events.tell(&Arc::new(AtomicBool::new(is_stopped)), &tell);
        let mut seen = seen.lock().expect("no panic").clone();
        seen.sort();
        seen
    }

    #[test]
    fn threads_change_nothing_in_an_answer() {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().expect("threads");
        let (with, without) = (Desk::new(Some(pool)), Desk::new(None));
        let all = told(&with, false);
        // A first look, one seed, five: each of both policies; and the end.
        assert_eq!((all.len(), all[0].as_str()), (7, "done {}"));
        assert_eq!(told(&without, false), all);
        assert_eq!(told(&without, false), all, "what is kept is the same");
        assert_eq!(told(&Desk::new(None), true), ["cancelled {}"]);
    }

    #[test]
    fn what_is_not_there_or_wrong_is_said_by_its_status() {
        let desk = Desk::new(None);
        let whole = |text: &str, path: &str, pair: (&str, &str)| {
            let pairs = [(pair.0.to_string(), pair.1.to_string())];
            match desk.reply(&file(text), path, &pairs) {
                Reply::Whole(whole) => (whole.status, whole.body),
                Reply::Events(_) => panic!("{path}: one text"),
            }
        };
        for (text, path, pair, status, words) in [
            (TEXT, "/api/scenario.toml", ("load", "150"), 200, "rate_per_s = 150.0"),
            (TEXT, "/api/plan", ("load", "150"), 404, "no such page"),
            (TEXT, "/api/run", ("load", "1e9"), 400, "from 10 to 1000"),
            (TEXT, "/api/run", ("file", "0"), 400, "load the page again"),
            ("[jobs]\n", "/api/controls", ("load", "1"), 400, "orrery run t.toml"),
            ("?", "/api/controls", ("load", "1"), 400, "t.toml:1"),
        ] {
            let (found, body) = whole(text, path, pair);
            assert!(found == status && body.contains(words), "{path}: {found} {body}");
        }
        assert!(desk.check(&file(TEXT)).is_ok() && desk.check(&file("?")).is_err());
    }
}
