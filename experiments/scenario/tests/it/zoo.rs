//! Zoos, copies and popularity: what they write out, and what can be wrong with them.

use super::base::{NAME, refused};
use orrery_scenario::Scenario;
use orrery_scenario::scenario::file::{Between, LatencyLaw, Model};
use orrery_scenario::scenario::zoo::Zoo;

/// A scenario of that text and no more, under load.
fn text(models: &str) -> String {
    format!(
        "policies = [\"fifo\"]\n{models}\n[arrivals]\npoisson = {{ rate_per_s = 100 }}\nrequests = 300\n"
    )
}

fn scenario(models: &str) -> Scenario {
    Scenario::from_text(NAME, &text(models)).unwrap_or_else(|e| panic!("{e}"))
}

fn wrong(models: &str, piece: &str, words: &[&str]) {
    let text = text(models);
    refused(&text, super::base::line(&text, piece), words);
}

#[test]
fn a_zoo_is_a_model_and_an_application_each() {
    let scenario = scenario("[[zoo]]\nname = \"symphony-1080ti\"");
    assert_eq!(scenario.model_names().len(), 35);
    assert_eq!(scenario.model_names(), scenario.app_names());
    let setup = scenario.setup(1).unwrap();
    let at = scenario.model_names().iter().position(|n| n == "ResNet50").unwrap();
    assert_eq!(setup.slo[at].as_ms_f64(), 27.0);
    assert_eq!(setup.apps[at].model.index(), at);
    let total = setup.run(&scenario.policies().unwrap()[0], 1).unwrap().total();
    assert_eq!((total.offered, total.ends.iter().sum::<u64>()), (300, 300));
}

/// The zoo `mlperf` is what the submissions say, worked out again from the file that the study of MLPerf has, and no
/// batch of it is faster than the Offline rate.
#[test]
fn the_mlperf_zoo_is_derived_from_the_submissions() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let text =
        std::fs::read_to_string(folder.join("../reproduce/data/mlperf_third_point.csv")).unwrap();
    let head: Vec<&str> = text.lines().next().unwrap().split(',').collect();
    let at = |name: &str| head.iter().position(|h| *h == name).unwrap();
    let zoo = Zoo::find("mlperf").unwrap();
    let mut seen = 0;
    for gpu in zoo.gpus() {
        for model in zoo.models(Some(gpu)) {
            let is_it = |row: &&Vec<&str>| {
                let source = ["round", "submitter", "system"].map(|name| row[at(name)]);
                let source = format!("MLPerf Inference {}", source.join(" "));
                row[at("model")] == model.name
                    && row[at("accelerator")] == format!("NVIDIA {gpu}")
                    && zoo.sources(gpu).iter().any(|s| s.starts_with(&format!("{source} of ")))
            };
            let rows: Vec<Vec<&str>> = text.lines().map(|l| l.split(',').collect()).collect();
            let row = rows.iter().find(is_it).unwrap_or_else(|| panic!("{gpu} {}", model.name));
            let number = |name: &str| row[at(name)].parse::<f64>().unwrap();
            let each = number("offline_per_s") / number("accelerators") / 1e3;
            let eight = number("multistream_p50_ms");
            let near = |k: u32, ms: f64| (model.latency.ms(k) / ms - 1.0).abs() < 1e-4;
            assert!(near(1, number("singlestream_p50_ms")) && near(8, eight), "{gpu} {model:?}");
            assert!(near(64, eight + 56.0 / each), "{gpu} {model:?}");
            let faster = |k: u32| f64::from(k) / model.latency.ms(k) > each;
            assert!(![1, 8, 64, 512].into_iter().any(faster), "{gpu}");
            seen += 1;
        }
    }
    assert_eq!(seen, 13);
}

#[test]
fn models_of_a_zoo_are_chosen_copied_and_come_after_the_files_own() {
    let scenario = scenario(
        "[[model]]\nname = \"mine\"\nslo_ms = 50\nlatency = { affine = { alpha_ms = 1, beta_ms = 5 } }\n\
         [[zoo]]\nname = \"symphony-a100\"\nmodels = [\"VGG16\", \"BERT\"]\ncopies = 2\nslo_ms = 100\n\
         [[app]]\nname = \"a\"\nmodel = \"mine\"\ntime = { constant = { ms = 6 } }",
    );
    assert_eq!(scenario.model_names(), ["mine", "VGG16#1", "VGG16#2", "BERT#1", "BERT#2"]);
    assert_eq!(scenario.app_names()[..2], ["a", "VGG16#1"]);
    let slos: Vec<f64> = scenario.file.model.iter().map(|m| m.slo_ms).collect();
    assert_eq!(slos, [50.0, 100.0, 100.0, 100.0, 100.0]);
}

#[test]
fn strong_and_weak_models_are_told_apart_by_beta_over_alpha() {
    let count = |zoo: &str, select: &str| {
        let models = format!("[[zoo]]\nname = \"{zoo}\"\nselect = \"{select}\"");
        scenario(&models).model_names().len()
    };
    assert_eq!((count("symphony-1080ti", "strong"), count("symphony-1080ti", "weak")), (23, 12));
    assert_eq!(count("symphony-a100", "strong") + count("symphony-a100", "weak"), 37);
}

#[test]
fn a_model_with_copies_gives_its_application_as_many() {
    let scenario = scenario(
        "[[model]]\nname = \"m\"\ncopies = 3\nslo_ms = 26\n\
         latency = { affine = { alpha_ms = 1, beta_ms = 5 } }\n\
         [[app]]\nname = \"a\"\nmodel = \"m\"\nweight = 2.0\ntime = { constant = { ms = 6 } }\n\
         [[app]]\nname = \"b\"\nmodel = \"m#2\"\ntime = { constant = { ms = 6 } }",
    );
    assert_eq!(scenario.model_names(), ["m#1", "m#2", "m#3"]);
    assert_eq!(scenario.app_names(), ["a#1", "a#2", "a#3", "b"]);
    let setup = scenario.setup(1).unwrap();
    let apps: Vec<(usize, f64)> = setup.apps.iter().map(|a| (a.model.index(), a.weight)).collect();
    assert_eq!(apps, [(0, 2.0), (1, 2.0), (2, 2.0), (1, 1.0)]);
}

#[test]
fn zipf_divides_the_weights_by_the_rank_and_a_seed_shuffles_the_ranks() {
    let weights = |popularity: &str| -> Vec<f64> {
        let models = format!("{popularity}\n[[zoo]]\nname = \"clockwork-v100\"");
        scenario(&models).file.app.iter().map(|a| a.weight).collect()
    };
    assert_eq!(weights("popularity = \"equal\""), [1.0; 6]);
    let unread = "popularity_seed = 7\n[[zoo]]\nname = \"clockwork-v100\"";
    let unread = Scenario::from_text("s.toml", unread).unwrap_err().to_string();
    assert!(unread.contains("`popularity_seed`") && unread.contains("zipf = 1.0"), "{unread}");
    let zipf = weights("popularity = { zipf = 0.9 }");
    for (i, w) in zipf.iter().enumerate() {
        assert!((w - libm::pow((i + 1) as f64, -0.9)).abs() < 1e-12);
    }
    let shuffled = weights("popularity = { zipf = 0.9 }\npopularity_seed = 7");
    assert_ne!(shuffled, zipf);
    assert_eq!(shuffled, weights("popularity = { zipf = 0.9 }\npopularity_seed = 7"));
    let mut sorted = shuffled;
    sorted.sort_by(|a, b| b.total_cmp(a));
    assert_eq!(sorted, zipf);
}

#[test]
fn an_unknown_zoo_model_or_gpu_offers_the_nearest() {
    let zoo = "[[zoo]]\nname = \"symphony-1080it\"";
    wrong(zoo, "name = \"symphony", &["zoo[0].name", "did you mean `symphony-1080ti`"]);
    let zoo = "[[zoo]]\nname = \"symphony-a100\"\nmodels = [\"BERT\", \"ResNet5\"]";
    wrong(zoo, "models", &["zoo[0].models[1]", "did you mean `ResNet50`"]);
    wrong("[[zoo]]\nname = \"nvidia\"", "[[zoo]]", &["zoo[0].gpu", "T4", "add `gpu = "]);
    let zoo = "[[zoo]]\nname = \"nvidia\"\ngpu = \"T5\"";
    wrong(zoo, "gpu", &["zoo[0].gpu", "did you mean `T4`"]);
    let zoo = "[[zoo]]\nname = \"symphony-a100\"\ngpu = \"A100\"";
    wrong(zoo, "gpu", &["zoo[0].gpu", "remove it"]);
}

#[test]
fn an_empty_selection_is_an_error() {
    let zoo = "[[zoo]]\nname = \"symphony-a100\"\nmodels = []";
    wrong(zoo, "models", &["zoo[0].models", "no model at all"]);
    let zoo = "[[zoo]]\nname = \"symphony-a100\"\nmodels = [\"BERT\"]\nselect = \"strong\"";
    wrong(zoo, "models", &["at least one model"]);
    let zoo = "[[zoo]]\nname = \"clockwork-v100\"\nselect = \"strong\"";
    wrong(zoo, "select", &["zoo[0].select", "zoos of affine latency models"]);
}

#[test]
fn copies_and_collisions_are_bounded() {
    let zoo = "[[zoo]]\nname = \"symphony-a100\"\ncopies = 0";
    wrong(zoo, "copies", &["zoo[0].copies", "from 1 to 16384"]);
    let zoo = "[[zoo]]\nname = \"symphony-a100\"\ncopies = 16384";
    wrong(zoo, "[[zoo]]", &["zoo[0]", "at most 16384 models", "fewer copies"]);
    let zoo = "[[zoo]]\nname = \"symphony-a100\"\n[[zoo]] # again\nname = \"symphony-1080ti\"";
    wrong(zoo, "[[zoo]] # again", &["zoo[1]", "`zoo[0]` has as well", "each name once"]);
    wrong(
        "popularity = { zipf = -1.0 }\n[[zoo]]\nname = \"symphony-a100\"",
        "popularity",
        &["zipf"],
    );
}

/// What is written out has numbers that the file does not know; messages use the file's.
#[test]
fn an_error_of_a_written_out_model_names_the_key_of_the_file() {
    let zoo = "[[zoo]]\nname = \"symphony-1080ti\"\nslo_ms = 15.0";
    wrong(zoo, "[[zoo]]", &["key `zoo[0]`", "slo_ms of `", "raise slo_ms"]);
    let models = "[[model]]\nname = \"a\"\ncopies = 5\nslo_ms = 9\n\
                  latency = { affine = { alpha_ms = 1, beta_ms = 5 } }\n\
                  [[model]] # second\nname = \"b\"\nslo_ms = 5.5\n\
                  latency = { affine = { alpha_ms = 1, beta_ms = 5 } }\n\
                  [[app]]\nname = \"x\"\nmodel = \"a\"\ntime = { constant = { ms = 6 } }\n\
                  [[app]]\nname = \"y\"\nmodel = \"b\"\ntime = { constant = { ms = 6 } }";
    wrong(models, "slo_ms = 5.5", &["key `model[1].slo_ms`", "`y`"]);
}

#[test]
fn a_model_that_no_gpu_can_hold_is_an_error() {
    let zoo = "[[device]]\nmemory_pages = 10\n[[zoo]]\nname = \"clockwork-v100\"";
    wrong(zoo, "[[zoo]]", &["key `zoo[0]`", "`resnet152`", "at most the 10 pages", "memory_pages"]);
}

/// Nothing is drawn for models whose requests all cost the same: 512 profiles are made at once.
#[test]
fn profiles_of_a_zoo_are_made_without_draws() {
    let scenario =
        scenario("[[zoo]]\nname = \"symphony-a100\"\nmodels = [\"VGG16\"]\ncopies = 512");
    let setup = scenario.setup(1).unwrap();
    let profiles = setup.profiles(1);
    assert_eq!(profiles.len(), 512);
    assert_eq!(profiles, setup.profiles(2), "no seed matters");
    assert_eq!(profiles[511].size(4).mean, orrery_sim::time::Span::from_us(4_892));
    assert_eq!(profiles[511].apps.len(), 1);
}

/// The sizes that `h100-torch` has between two, left out: what is said of them is nearer to what was measured on a line
/// than at the next larger size, so a line is what is assumed where nobody says otherwise.
#[test]
fn a_line_is_nearer_to_what_was_measured_between_two_sizes_than_the_next_size() {
    let models = Zoo::find("h100-torch").unwrap().models(Some("H100-80GB-HBM3"));
    for (low, high) in [(1, 8), (1, 16), (4, 16), (8, 64), (1, 64)] {
        let mut errors = [Vec::new(), Vec::new()];
        for model in &models {
            let LatencyLaw::Table(rows) = &model.latency else { panic!("{model:?}") };
            let kept = rows.iter().filter(|r| r.0 == low || r.0 == high).copied().collect();
            let kept = LatencyLaw::Table(kept);
            let said = [Between::Linear, Between::Next]
                .map(|b| Model { between: Some(b), ..model.clone() }.filled(&kept));
            for (size, ms) in rows.iter().filter(|r| (low + 1..high).contains(&r.0)) {
                for (errors, law) in errors.iter_mut().zip(&said) {
                    errors.push((law.ms(*size) / ms - 1.0).abs());
                }
            }
        }
        let [line, next] = errors.map(|mut all| {
            all.sort_by(f64::total_cmp);
            all[all.len() / 2]
        });
        assert!(line < 0.05 && next > 0.2, "{low} to {high}: {line} {next}");
    }
    assert_eq!(Between::default(), Between::Linear);
}

/// A law that is affine, measured at two sizes in any form, is that law again.
#[test]
fn every_form_of_a_measured_law_has_what_lies_between_its_sizes() {
    let run = |law: &str, more: &str| {
        let text = format!(
            "policies = [\"fifo[max_batch=8]\"]\narrivals = {{ poisson = {{ rate_per_s = 300.0 }}, requests = 500 }}\n\
             [[model]]\nname = \"m\"\nslo_ms = 60\nlatency = {law}\n{more}[[app]]\nname = \"a\"\nmodel = \"m\"\n\
             time = {{ constant = {{ ms = 1.0 }} }}\n"
        );
        let s = Scenario::from_text("s.toml", &text).unwrap_or_else(|e| panic!("{e}"));
        let policy = s.policies().unwrap().remove(0);
        s.setup(1).unwrap().run(&policy, 1).unwrap().total().latency.sum_ns()
    };
    let affine = run("{ affine = { alpha_ms = 1.0, beta_ms = 9.0 } }", "");
    for law in [
        "{ table = [[1, 10.0], [8, 17.0]] }",
        "{ measured = [[1, [10.0]], [8, [17.0]]] }",
        "{ grid = { lengths_ms = [1.0, 2.0], rows = [[1, [10.0, 11.0]], [8, [17.0, 20.0]]] } }",
    ] {
        assert_eq!(run(law, ""), affine, "{law}");
        assert_eq!(run(law, "between = \"linear\"\n"), affine, "{law}");
        let next = run(law, "between = \"next\"\n");
        assert!(next as f64 > 1.05 * affine as f64, "{law}: {next} {affine}");
        // Told, too: a policy plans with what its batches take.
        let believed = format!("believed = {law}\n");
        run("{ affine = { alpha_ms = 1.0, beta_ms = 9.0 } }", &believed);
    }
}
