//! Cluster scenarios from the command line: zoos are listed and run, and bad ones are refused.

use super::process::{Place, run};

/// A scenario of eight GPUs and this, under load.
fn cluster(models: &str) -> String {
    format!(
        "name = \"cluster\"\npolicies = [\"fifo\"]\n[[device]]\ncount = 8\n{models}\n\
         [arrivals]\ngamma = {{ rate_per_s = 300.0, shape = 0.2 }}\nper_app = true\nrequests = 600\n"
    )
}

const ZOO: &str = "[[zoo]]\nname = \"symphony-1080ti\"\nselect = \"strong\"";

#[test]
fn zoos_and_their_models_are_listed() {
    let listed = run(&["list"]).ok();
    for zoo in ["symphony-1080ti", "symphony-a100", "clockwork-v100", "nvidia"] {
        assert!(listed.lines().any(|l| l.starts_with(&format!("{zoo} "))), "{zoo} in:\n{listed}");
        let models = run(&["list", zoo]).ok();
        assert!(models.starts_with(&format!("{zoo}: ")), "{models}");
    }
    let models = run(&["list", "symphony-1080ti"]).ok();
    let resnet = models.lines().find(|l| l.starts_with("ResNet50 ")).expect("a line");
    assert!(resnet.contains(" 27 ") && resnet.ends_with("2.050 k + 5.378"), "{resnet}");
    assert!(run(&["list", "nvidia"]).ok().contains("gpu = \"T4\""));
    run(&["list", "symphony"]).refused(&["symphony", "symphony-a100", "remedy"]);
}

#[test]
fn a_zoo_runs_and_each_of_its_applications_has_a_row() {
    let place = Place::with("a.toml", cluster(ZOO));
    let csv = place.run(&["run", "a.toml", "--format", "wide", "--log", "a.log"]).ok();
    assert!(csv.contains("app ResNet50,") && !csv.contains("app BERT,"), "{csv}");
    assert!(place.run(&["log", "audit", "a.log"]).ok().starts_with("audit: clean; "));
    place.write("b.toml", cluster(&format!("{ZOO}\ncopies = 2")));
    let csv = place.run(&["run", "b.toml", "--format", "wide"]).ok();
    assert!(csv.contains("app ResNet50#2,"), "{csv}");
}
