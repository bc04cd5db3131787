//! Pools of several kinds: what a file says is what runs, and what is wrong with a pool is named.

use super::base::{NAME, refused};
use orrery_scenario::Scenario;
use orrery_scenario::scenario::InputFile;

const G4: &str = "[[device]]\nkind = \"g4dn.xlarge\"\ncount = 2\nprice_usd_per_hour = 0.526\n";
const R5: &str = "[[device]]\nkind = \"r5n.large\"\ncount = 9\nprice_usd_per_hour = 0.149\n";
const ZOO: &str = "[[zoo]]\nname = \"kairos\"\nmodels = [\"rm2\"]\n";
const LOAD: &str = "[arrivals]\npoisson = { rate_per_s = 60 }\nrequests = 500\n";

fn text(parts: &[&str]) -> String {
    format!("policies = [\"kairos\", \"ribbon\", \"drs\", \"clkwrk\"]\n{}", parts.concat())
}

fn scenario(parts: &[&str]) -> Scenario {
    Scenario::from_text(NAME, &text(parts)).unwrap_or_else(|e| panic!("{e}"))
}

/// Refused when the file is read.
fn wrong(parts: &[&str], piece: &str, words: &[&str]) {
    let text = text(parts);
    refused(&text, super::base::line(&text, piece), words);
}

/// Refused when the run is set up.
fn no_setup(parts: &[&str], words: &[&str]) {
    let error = scenario(parts).setup(1).err().expect("it is refused").to_string();
    words.iter().for_each(|word| assert!(error.contains(word), "{word}: {error}"));
}

#[test]
fn a_pool_of_measured_kinds_runs_under_every_policy_for_pools() {
    let scenario = scenario(&[ZOO, G4, R5, LOAD]);
    assert_eq!(scenario.file.model[0].latency_on.len(), 2, "only the kinds that are there");
    let setup = scenario.setup(1).unwrap();
    assert_eq!((setup.kinds[0].base, setup.kinds[0].largest), (0, 1_000));
    for policy in scenario.policies().unwrap() {
        let total = setup.run(&policy, 1).unwrap().total();
        assert_eq!((total.offered, total.ends.iter().sum::<u64>()), (500, 500), "{policy}");
        assert_eq!(total.ends[0] + total.ends[1], 500, "{policy} drops nothing");
    }
}

#[test]
fn the_base_kind_is_the_most_cost_effective_that_meets_the_slo() {
    let kind = |name: &str, price: f64, extra: &str| {
        format!("[[device]]\nkind = \"{name}\"\nprice_usd_per_hour = {price}\n{extra}")
    };
    let model = "[[model]]\nname = \"m\"\nslo_ms = 100\nlatency = { affine = { alpha_ms = 1, beta_ms = 0 } }\n\
                 latency_on = { fast = { affine = { alpha_ms = 0.5, beta_ms = 0 } }, slow = { affine = { alpha_ms = 4, beta_ms = 0 } } }\n\
                 [[app]]\nname = \"a\"\nmodel = \"m\"\nsizes = { normal = { mean = 40, sd = 10, max = 90 } }\ntime = { constant = { ms = 1 } }\n";
    let base = |prices: [f64; 3], mark: &str| {
        let kinds = kind("slow", prices[0], mark)
            + &kind("plain", prices[1], "")
            + &kind("fast", prices[2], "");
        scenario(&[model, &kinds, LOAD]).setup(1).unwrap().kinds[0].base
    };
    assert_eq!(base([0.1, 1.0, 3.0], ""), 1, "the slow one misses the SLO at 90 items");
    assert_eq!(base([0.1, 1.0, 1.9], ""), 2, "twice as fast for less than twice the price");
    assert_eq!(base([0.1, 1.0, 1.9], "base = true\n"), 0, "as the file says");
}

#[test]
fn what_is_wrong_with_a_pool_is_named() {
    wrong(&[ZOO, &G4.replace("0.526", "-0.5"), LOAD], "price_usd", &["-0.5", "from 0 to"]);
    wrong(
        &[ZOO, &G4.replace("g4dn.xlarge", "p3"), LOAD],
        "[[zoo]]",
        &["g4dn.xlarge", "p3", "hole"],
    );
    let both = [&format!("{G4}base = true\n"), &format!("{R5}base = true\n")];
    wrong(&[ZOO, both[0], both[1], LOAD], "base = true\n[arr", &["one base kind"]);
    no_setup(&[ZOO, R5, LOAD], &["no base kind", "rm2", "350", "999 items", "r5n.large takes"]);
    no_setup(&[ZOO, G4, "[[device]]\nkind = \"r5n.large\"\n", LOAD], &["price of every kind"]);
    let (short, t3) = (format!("{ZOO}slo_ms = 10\n"), R5.replace("r5n.large", "t3.xlarge"));
    no_setup(&[&short, G4, &t3, LOAD], &["t3.xlarge", "a query of 1 item", "some query fits"]);
    let sizes = |law: &str| format!("{ZOO}sizes = {law}\n");
    wrong(&[&sizes("{ normal = { mean = 0, sd = 1 } }"), G4, LOAD], "[[zoo]]", &["mean"]);
    let unit = LOAD
        .replace("poisson = { rate_per_s = 60", "integer_poisson = { rate_per_s = 60, unit_ms = 0");
    wrong(&[ZOO, G4, &unit], "integer_poisson", &["unit"]);
    let samples = "[[model]]\nname = \"m\"\nslo_ms = 9\nlatency = { samples = \"rm2@g4dn.xlage\" }\n\
                   [[app]]\nname = \"a\"\nmodel = \"m\"\ntime = { constant = { ms = 1 } }\n";
    wrong(&[samples, G4, LOAD], "samples =", &["did you mean `rm2@g4dn.xlarge`"]);
}

/// Two kinds: `cheap` is in time for up to 40 items, `dear` for all 100.
const TWO: &str = "policies = [\"ribbon\"]\n\
    [[model]]\nname = \"m\"\nslo_ms = 50\nlatency = { affine = { alpha_ms = 1, beta_ms = 10 } }\n\
    latency_on = { dear = { affine = { alpha_ms = 0.1, beta_ms = 10 } } }\n\
    [[device]]\nkind = \"cheap\"\nprice_usd_per_hour = 0.1\n\
    [[device]]\nkind = \"dear\"\nprice_usd_per_hour = 0.5\n";
const APP: &str = "[[app]]\nname = \"a\"\nmodel = \"m\"\n";

/// A scenario in a folder of its own, beside a list.
fn with_list(name: &str, list: &str, text: &str) -> Scenario {
    let own = format!("orrery-{name}-{}", std::process::id());
    let folder = std::env::temp_dir().join(own);
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("list.csv"), list).unwrap();
    Scenario::from_text(&folder.join("s.toml").display().to_string(), text)
        .unwrap_or_else(|e| panic!("{e}"))
}

/// The base kind, and the largest size that policies are told latencies of.
fn base_and_largest(scenario: &Scenario) -> (u32, u32) {
    let setup = scenario.setup(1).unwrap_or_else(|e| panic!("{e}"));
    (setup.kinds[0].base, setup.kinds[0].largest)
}

#[test]
fn the_sizes_of_a_recorded_list_choose_the_base_kind() {
    let queries = |sizes: [u32; 3], more: &str| {
        let rows: String = sizes.iter().map(|size| format!("0,{size}\n")).collect();
        let text = format!(
            "{TWO}{APP}{more}time = {{ constant = {{ ms = 1 }} }}\n\
             [arrivals]\nqueries = {{ file = \"list.csv\" }}\n"
        );
        base_and_largest(&with_list("queries", &format!("arrival_ms,size\n{rows}"), &text))
    };
    assert_eq!(queries([1, 5, 3], ""), (0, 16), "small queries: the cheap kind");
    assert_eq!(queries([1, 90, 3], ""), (1, 90), "one query is too large for the cheap kind");
    assert_eq!(queries([1, 90, 3], "size = 2\n"), (1, 90), "the list's sizes, not the key's");
    let law = "sizes = { normal = { mean = 2, sd = 1, max = 3 } }\n";
    assert_eq!(queries([1, 90, 3], law), (1, 90), "the list's sizes, not a law's");
    let workload = |more: &str| {
        let header = "arrival_ns,app,model,size,slo_ns,alone_ns\n";
        let rows = "0,0,0,4,50000000,1000000\n9,0,0,80,50000000,1000000\n";
        let text = format!("{TWO}{APP}{more}[arrivals]\nworkload = {{ file = \"list.csv\" }}\n");
        base_and_largest(&with_list("workload", &format!("{header}{rows}"), &text))
    };
    assert_eq!(workload(""), (1, 80));
    assert_eq!(workload(law), (0, 16), "a law takes the place of a workload's sizes");
    // Of one kind there is nothing to choose, and a list is not read: latencies are told for any size.
    let one = "policies = [\"kairos\"]\n[[model]]\nname = \"m\"\nslo_ms = 50\n\
               latency = { affine = { alpha_ms = 1, beta_ms = 10 } }\n";
    let text = format!(
        "{one}{APP}time = {{ constant = {{ ms = 1 }} }}\n\
         [arrivals]\nqueries = {{ file = \"list.csv\" }}\n"
    );
    let scenario = with_list("queries", "arrival_ms,size\n0,90\n", &text);
    assert_eq!(base_and_largest(&scenario), (0, 4_096));
    for name in ["queries", "workload"] {
        let own = format!("orrery-{name}-{}", std::process::id());
        std::fs::remove_dir_all(std::env::temp_dir().join(own)).unwrap();
    }
}

#[test]
fn applications_weigh_in_the_choice_of_the_base_kind_as_they_send() {
    // ms times $/h: of 1 item `cheap` costs 1.1 and `dear` 2.5; of 40 items, 5.0 and 2.6.
    let text = |small: f64, large: f64, apps: &str| {
        let app = |name: &str, size: u32, weight: f64| {
            format!(
                "[[app]]\nname = \"{name}\"\nmodel = \"m\"\nsize = {size}\nweight = {weight}\n\
                 time = {{ constant = {{ ms = 1 }} }}\n"
            )
        };
        let two = TWO.replace("= 0.5", "= 0.25").replace("alpha_ms = 0.1", "alpha_ms = 0.01");
        format!("{two}{}{}{LOAD}{apps}", app("small", 1, small), app("large", 40, large))
    };
    let base = |text: &str| base_and_largest(&Scenario::from_text(NAME, text).unwrap()).0;
    assert_eq!(base(&text(97.0, 3.0, "")), 0, "nearly all are small");
    assert_eq!(base(&text(3.0, 97.0, "")), 1, "nearly all are large");
    assert_eq!(base(&text(1.0, 1.0, "apps = [\"small\"]\n")), 0, "only the small ones come");
}

#[test]
fn a_pool_whose_model_gets_no_request_asks_for_its_base_kind() {
    let other = "[[model]]\nname = \"idle\"\nslo_ms = 50\nlatency = { affine = { alpha_ms = 0.1, beta_ms = 9 } }\n\
                 latency_on = { dear = { affine = { alpha_ms = 0.1, beta_ms = 9 } } }\n";
    let time = "time = { constant = { ms = 1 } }\n";
    let text = |mark: &str| {
        let two = TWO.replace("= 0.1\n", &format!("= 0.1\n{mark}"));
        format!("{two}{other}{APP}{time}{LOAD}")
    };
    let error = Scenario::from_text(NAME, &text("")).unwrap().setup(1).err().unwrap().to_string();
    assert!(error.contains("no request of `idle`") && error.contains("`base = true`"), "{error}");
    assert!(Scenario::from_text(NAME, &text("base = true\n")).unwrap().setup(1).is_ok());
}

/// A recorded list with service times, replayed on one instance: each query takes what was recorded.
#[test]
fn a_recorded_list_of_queries_is_replayed_query_by_query() {
    let folder = std::env::temp_dir().join(format!("orrery-query-list-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("q.csv"), "arrival_ms,size,service_ms\n0,10,5\n1,20,3\n20,5,4\n")
        .unwrap();
    let text = "policies = [\"ribbon\"]\n[[model]]\nname = \"m\"\nslo_ms = 7\nlatency = { proportional = { c1 = 0 } }\n\
                [[app]]\nname = \"a\"\nmodel = \"m\"\n[arrivals]\nqueries = { file = \"q.csv\" }\n";
    let name = folder.join("s.toml").display().to_string();
    let scenario = Scenario::from_text(&name, text).unwrap();
    // What the list holds is part of what the results depend on.
    let list = InputFile::Path("q.csv".to_string(), folder.join("q.csv"));
    assert_eq!(scenario.inputs(), [list]);
    let run = scenario.setup(1).unwrap().run(&scenario.policies().unwrap()[0], 1).unwrap();
    // 0 to 5, 5 to 8 (7 ms after its arrival: in time), 20 to 24.
    assert_eq!(run.total().ends[..2], [3, 0]);
    std::fs::remove_dir_all(folder).unwrap();
}
