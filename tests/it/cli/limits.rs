//! Where numbers end: the sizes of requests and simulated time. Beyond is an error, never a result.

use super::process::Place;
use super::small_scenario;

/// The texts of every kind of file, each read by its command: a `group` of 2,000 letters took a second, and one of
/// 100,000 half an hour.
#[test]
fn a_name_has_a_limit_in_every_kind_of_file() {
    const KINDS: [(&str, &str); 8] = [
        ("one-gpu-bert.toml", "run FILE"),
        ("jobs-on-workers.toml", "run FILE"),
        ("tokens.toml", "run FILE"),
        ("one-gpu-bert.toml", "goodput FILE"),
        ("plans/kairos-five.toml", "plan FILE"),
        ("sweeps/bert-slo.toml", "sweep FILE"),
        ("experiments/my-scheduler.toml", "reproduce FILE"),
        ("", "arena --suite s"),
    ];
    let scenarios = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../scenarios");
    for (file, words) in KINDS {
        let path = scenarios.join(file);
        let text = match file {
            "" => "[[scenario]]\nname = \"a\"\nasks = \"?\"\n".to_string(),
            _ if path.is_dir() => {
                let first = std::fs::read_dir(&path).expect("files").next().expect("a file");
                std::fs::read_to_string(first.expect("a file").path()).expect("text")
            }
            _ => std::fs::read_to_string(&path).expect("text"),
        };
        let place = Place::new();
        std::fs::create_dir(place.path("s")).expect("a folder");
        for (key, letters, allowed) in
            [("group", 100_000, "at most 200"), ("note", 2_001, "at most 2000")]
        {
            let text = format!("{key} = \"{}\"\n{text}", "a".repeat(letters));
            let name = if file.is_empty() { "s/suite.toml" } else { "f.toml" };
            place.write(name, text);
            let words: Vec<&str> =
                words.split(' ').map(|w| if w == "FILE" { name } else { w }).collect();
            let line = format!("{name}:1: key `{key}`: found a");
            place.run(&words).refused(&[
                &line,
                &letters.to_string(),
                allowed,
                "remedy: shorten it",
            ]);
        }
    }
    for (from, to) in [("weight = 2.0", "group = \"a<b\""), ("weight = 2.0", "group = \"a b\"")] {
        let text = small_scenario(super::POISSON).replace(from, to);
        Place::with("a.toml", text)
            .run(&["run", "a.toml"])
            .refused(&["a.toml:", "key `app[1].group`"]);
    }
}
