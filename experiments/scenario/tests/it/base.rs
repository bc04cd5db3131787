//! A scenario that is valid, and ways to spoil it.

use orrery_run::SpecError;
use orrery_scenario::Scenario;

/// A valid scenario that uses most tables.
pub const VALID: &str = r#"name = "base"
policies = ["fifo", "clockwork[estimator=static-mean]"]
warm_up_s = 0.5

[[model]]
name = "bert"
slo_ms = 100.0
latency = { affine = { alpha_ms = 1.0, beta_ms = 4.0 } }

[[model]]
name = "resnet"
slo_ms = 50.0
pages = 3
load_ms = 8.0
latency = { table = [[1, 3.0], [2, 4.0], [8, 9.0]] }
believed = { eq3 = { c0_ms = 1.0, c1 = 0.5 } }

[[device]]
kind = "v100"
count = 2

[[device]]
kind = "t4"
speed = 0.5
can_preempt = true

[[app]]
name = "chat"
model = "bert"
weight = 2.0
time = { normal = { mean_ms = 5.0, sd_ms = 1.0 } }

[[app]]
name = "photos"
model = "resnet"
slo_ms = 60.0
time = { modes = [[1.0, 2.0, 0.1], [3.0, 4.0, 0.2]] }

[arrivals]
poisson = { rate_per_s = 200.0 }
requests = 400
duration_s = 60.0

[closed_loop]
clients = 3
requests = 50
think = { exponential_ms = 20.0 }

[delays]
dispatch_ms = 0.1

[noise]
uniform = 0.05

[profile]
sizes = [1, 2, 4, 8]
batches = 20

[profiler]
every = 10
delay_ms = 1.0
"#;

/// The name that messages must begin with.
pub const NAME: &str = "folder/base.toml";

/// The base with one piece of text replaced by another.
pub fn changed(from: &str, to: &str) -> String {
    assert_eq!(VALID.matches(from).count(), 1, "`{from}` must be in the base once");
    VALID.replace(from, to)
}

/// The base without its closed loop, and with other arrivals.
pub fn with_arrivals(arrivals: &str) -> String {
    let (before, _) = VALID.split_once("[arrivals]").unwrap();
    let (_, after) = VALID.split_once("[delays]").unwrap();
    format!("{before}[arrivals]\n{arrivals}\n[delays]{after}")
}

/// The message of a text that must be wrong, on loading or on setting up.
pub fn message(text: &str) -> String {
    let result = Scenario::from_text(NAME, text).and_then(|s| s.setup(1).map(|_| ()));
    let error: SpecError = result.expect_err("the text is wrong");
    let message = error.to_string();
    assert!(message.starts_with(NAME), "{message}");
    message
}

/// Checks that a text is refused at a line, with all of these words in its message.
pub fn refused(text: &str, line: usize, words: &[&str]) {
    let message = message(text);
    assert!(message.starts_with(&format!("{NAME}:{line}: ")), "line {line}: {message}");
    for word in words {
        assert!(message.contains(word), "`{word}` is not in: {message}");
    }
    assert!(message.contains("remedy: "), "{message}");
}

/// The line, counted from 1, on which a piece of text first stands.
pub fn line(text: &str, piece: &str) -> usize {
    let at = text.find(piece).expect("the piece is there");
    1 + text[..at].matches('\n').count()
}

/// Checks that the base with one change is refused where the change was made.
pub fn refused_change(from: &str, to: &str, words: &[&str]) {
    let text = changed(from, to);
    refused(&text, line(&text, to), words);
}
