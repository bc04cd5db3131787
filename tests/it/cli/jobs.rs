//! Files of jobs: `orrery run`, logs and their audit, and what is said of wrong ones.

use super::process::Place;

const LANES: &str = r#"
name = "lanes"
policies = ["salus[order=srtf]", "salus"]
[jobs]
memory_mb = 15584
[jobs.generate]
count = 30
work_min = 20
sigma = 1.4
gap_mean_s = 10
busy = 0.9
"#;

/// A file with one job, and these keys of it or of `[jobs]`.
fn one(policy: &str, of_all: &str, of_job: &str) -> String {
    format!("policies = [\"{policy}\"]\n[jobs]\n{of_all}\n[[jobs.job]]\n{of_job}\n")
}

#[test]
fn jobs_are_the_same_bytes_on_any_number_of_threads_and_seeds_have_intervals() {
    let place = Place::with("lanes.toml", LANES);
    let run = |jobs: &str| {
        let csv = ["-q", "run", "lanes.toml", "--seeds", "4", "--format", "csv", "--jobs", jobs];
        place.run(&csv).ok()
    };
    let csv = run("1");
    assert_eq!(run("2"), csv);
    assert!(csv.contains("jct_mean_ns,ns") && csv.contains("replications"), "{csv}");
    let text = place.run(&["-q", "--wide", "run", "lanes.toml"]).ok();
    assert!(text.contains("mean JCT s") && text.contains("salus[order=srtf,lanes=released]"));
}

#[test]
fn a_log_of_jobs_is_audited_and_a_damaged_one_is_found_out() {
    let place = Place::with("lanes.toml", LANES);
    let log = ["-q", "run", "lanes.toml", "--policy", "salus", "--log", "a.log"];
    place.run(&log).ok();
    let report = place.run(&["log", "audit", "a.log"]).ok();
    assert!(report.starts_with("audit: clean") && report.contains("30 jobs, 30 done"), "{report}");
    let text = place.read("a.log");
    let done = text.lines().find(|l| l.starts_with("done,")).expect("a job that ends");
    place.write("b.log", text.replacen(&format!("{done}\n"), "", 1));
    let report = place.run(&["log", "audit", "b.log"]).failed_a_check();
    assert!(report.contains("LeftWithoutEnd: job"), "{report}");
    place.write("c.log", text.replacen("done,", "gone,", 1));
    place
        .run(&["log", "audit", "c.log"])
        .refused(&["c.log, line", "the kind of record is \"gone\""]);
    let both = ["run", "lanes.toml", "--log", "d.log"];
    place.run(&both).refused(&["--log", "found 2 policies"]);
}

/// Fluid's own `c` and `d` are within what Eq. 3.2 allows; given ones are noted where they are not.
#[test]
fn c_and_d_beyond_eq_3_2_are_noted() {
    let job = "count = 3\niterations = 2\niteration_ms = 1.0";
    for (policy, costs, says) in [
        ("fluid[c=4]", "alpha = 1.5", "below c/(c-1) = 1.333 with c = 4, and `alpha` is 1.5"),
        (
            "fluid[d=2]",
            "alpha = 1.0\nbeta = 1.5",
            "below 1 + 1/d = 1.500 with d = 2, and `beta` is 1.5",
        ),
        ("fluid[c=2,d=1]", "alpha = 1.9\nbeta = 3.0", ""),
        ("fluid[rule=one,c=4]", "alpha = 10.0", ""),
        ("fluid[as=released,c=4]", "alpha = 1.5", ""),
        ("fluid", "alpha = 10.0\nbeta = 3.0", ""),
        ("fluid[c=4]", "", ""),
    ] {
        let place = Place::with("jobs.toml", one(policy, &format!("workers = 8\n{costs}"), job));
        let ran = place.run(&["run", "jobs.toml"]);
        let out = if says.is_empty() { ran.ok() } else { ran.ok_but(&["Eq. 3.2 is for", says]) };
        assert!(!out.contains("Eq. 3.2"), "a note is no result: {out}");
    }
}

#[test]
fn a_policy_of_jobs_in_a_scenario_says_what_it_works_on() {
    let scenario = "policies = [\"salus\"]\n[[model]]\nname = \"m\"\nslo_ms = 5.0\n\
                    latency = { affine = { alpha_ms = 1.0, beta_ms = 1.0 } }\n[[app]]\nname = \"a\"\n\
                    model = \"m\"\ntime = { constant = { ms = 1.0 } }\n[arrivals]\n\
                    constant = { rate_per_s = 4.0 }\nrequests = 10\n";
    let place = Place::with("a.toml", scenario);
    place.run(&["run", "a.toml"]).refused(&["`salus` works on jobs", "docs/jobs.md"]);
    let list = place.run(&["list", "policies"]).ok();
    assert!(list.contains("of jobs") && list.contains("fluid"), "{list}");
}
