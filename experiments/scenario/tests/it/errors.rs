//! Each thing that can be wrong with models, devices, applications and the rest, as a claim.

use super::base::{NAME, VALID, changed, line, message, refused, refused_change};
use orrery_scenario::{PolicySpec, Scenario, SpecError};

#[test]
fn the_base_is_valid_and_balances() {
    let scenario = Scenario::from_text(NAME, VALID).unwrap();
    assert_eq!(scenario.model_names(), ["bert", "resnet"]);
    assert_eq!(scenario.app_names(), ["chat", "photos"]);
    assert_eq!(scenario.device_names(), ["v100", "v100", "t4"]);
    let setup = scenario.setup(1).unwrap();
    for policy in scenario.policies().unwrap() {
        let total = setup.run(&policy, 1).unwrap().total();
        assert_eq!(total.offered, total.ends.iter().sum::<u64>());
        assert!(total.offered > 0);
    }
}

#[test]
fn a_missing_file_is_named() {
    let error = Scenario::load("no/such/scenario.toml").unwrap_err();
    assert!(matches!(error, SpecError::Read { .. }));
    assert!(error.to_string().contains("no/such/scenario.toml"), "{error}");
}

#[test]
fn an_unknown_key_is_named_with_the_allowed_ones_and_the_nearest() {
    let words = ["unknown field `wieght`", "`weight`", "line 30", "did you mean `weight`?"];
    refused_change("weight = 2.0", "wieght = 2.0", &words);
    refused_change("[delays]", "[delys]", &["did you mean `delays`?"]);
    let workload = "[workload]\nfile = \"a.csv\"\n[delays]";
    refused_change("[delays]", workload, &["it is a key of `arrivals`"]);
    refused_change(
        "c0_ms = 1.0, c1",
        "c0_s = 1.0, c1",
        &["expected one of c0_ms, c1", "mean `c0_ms`?"],
    );
    refused_change("uniform = 0.05", "unifrom = 0.05", &["did you mean `uniform`?"]);
    refused_change("{ normal = {", "{ norml = {", &["unknown variant `norml`", "two_group"]);
}

#[test]
fn a_law_has_one_form() {
    let one = "{ affine = { alpha_ms = 1.0, beta_ms = 4.0 } }";
    let two = "{ affine = { alpha_ms = 1.0, beta_ms = 4.0 }, proportional = { c1 = 1.0 } }";
    refused_change(one, two, &["line 8"]);
    refused_change(one, "{}", &["line 8"]);
}

#[test]
fn a_wrong_type_or_a_missing_key_is_named() {
    refused_change("count = 2", "count = \"two\"", &["invalid type", "line 20"]);
    refused_change("count = 2", "count = -2", &["invalid value"]);
    assert!(message(&changed("slo_ms = 100.0\n", "")).contains("missing field `slo_ms`"));
    assert!(message("policies = [").contains("TOML parse error at line 1"));
}

#[test]
fn a_policy_that_does_not_exist_is_named_with_the_nearest() {
    refused_change("\"fifo\"", "\"fifoo\"", &["policies[0]", "did you mean `fifo`"]);
    refused_change("estimator=", "estimater=", &["policies[1]", "did you mean `estimator`"]);
    let text = changed("\"fifo\", \"clockwork[estimator=static-mean]\"", "\"fifo\", \"fifo\"");
    refused(&text, 2, &["policies[1]", "each policy once"]);
    let text = changed("\"fifo\", \"clockwork[estimator=static-mean]\"", "");
    // Who names others needs none in the file.
    let error = Scenario::from_text(NAME, &text).expect("a scenario").policies().expect_err("none");
    assert!(error.to_string().contains("at least one policy"), "{error}");
}

#[test]
fn relearning_without_a_profiler_is_refused() {
    let learns = changed("\"fifo\"", "\"orloj[relearn_every=500]\"");
    assert!(Scenario::from_text(NAME, &learns).is_ok(), "the base has a profiler");
    let (without, _) = learns.split_once("[profiler]").unwrap();
    let words = ["policies[0]", "relearn_every needs a profiler", "add `[profiler]`"];
    refused(without, 2, &words);
    // A policy that the file does not name is refused when it is to run.
    let (quiet, _) = VALID.split_once("[profiler]").unwrap();
    let setup = Scenario::from_text(NAME, quiet).unwrap().setup(1).unwrap();
    let policy = PolicySpec::parse("orloj[relearn_every=500]").unwrap();
    let error = setup.run(&policy, 1).err().map(|e| e.to_string());
    assert!(error.is_some_and(|e| e.contains("relearn_every needs a profiler")));
    let by_time = changed("\"fifo\"", "\"orloj[relearn_every_s=60]\"");
    let (without, _) = by_time.split_once("[profiler]").unwrap();
    refused(without, 2, &["relearn_every_s needs a profiler", "remove `relearn_every_s`"]);
}

#[test]
fn more_bins_than_are_profiled_are_refused() {
    let setup = Scenario::from_text(NAME, VALID).unwrap().setup(1).unwrap();
    let run = |policy: &str| {
        let policy = PolicySpec::parse(policy).unwrap();
        setup.run(&policy, 1).err().map(|e| e.to_string())
    };
    assert_eq!(run("orloj[bins=64]"), None);
    let error = run("orloj[bins=65]").unwrap_or_default();
    for words in ["wants 65 bins", "profiled with 64", "set `profile.bins` to 65"] {
        assert!(error.contains(words), "{error}");
    }
}

#[test]
fn no_model_no_app_and_no_device_are_errors() {
    let (head, rest) = VALID.split_once("[[model]]").unwrap();
    let after_models = rest.split_once("[[device]]").unwrap().1;
    let text = format!("{head}[[device]]{after_models}");
    assert!(message(&text).contains("key `model`: found none"));
    let (head, rest) = VALID.split_once("[[app]]").unwrap();
    let text = format!("{head}[arrivals]{}", rest.split_once("[arrivals]").unwrap().1);
    assert!(message(&text).contains("key `app`: found none"));
    let (head, rest) = VALID.split_once("[[device]]").unwrap();
    let rest = rest.split_once("[[app]]").unwrap().1;
    refused(&format!("device = []\n{head}[[app]]{rest}"), 1, &["the default is one GPU"]);
}

#[test]
fn duplicate_names_are_errors() {
    refused_change("name = \"resnet\"", "name = \"bert\" ", &["model[1].name", "`model[0].name`"]);
    refused_change("kind = \"t4\"", "kind = \"v100\" ", &["device[1].kind", "each name once"]);
    refused_change("name = \"photos\"", "name = \"chat\" ", &["app[1].name", "rename"]);
}

#[test]
fn a_name_is_a_word() {
    refused_change("name = \"base\"", "name = \"../base\"", &["key `name`", "a-z"]);
    refused_change("name = \"chat\"", "name = \"\"", &["app[0].name", "found \"\""]);
}

#[test]
fn an_app_of_an_unknown_model_offers_the_nearest() {
    refused_change("model = \"bert\"", "model = \"brt\"", &["app[0].model", "did you mean `bert`"]);
    refused_change("model = \"bert\"", "model = \"gpt\"", &["allowed: one of bert, resnet"]);
}

#[test]
fn weights_sizes_and_slos_must_be_positive_numbers() {
    for wrong in ["0.0", "-1.0", "nan", "inf"] {
        refused_change("weight = 2.0", &format!("weight = {wrong}"), &["app[0].weight"]);
        refused_change("slo_ms = 100.0", &format!("slo_ms = {wrong}"), &["model[0].slo_ms"]);
    }
    refused_change("weight = 2.0", "size = 0", &["app[0].size", "from 1 to 4096"]);
    refused_change("slo_ms = 60.0", "slo_ms = -60.0", &["app[1].slo_ms"]);
}

#[test]
fn devices_need_a_count_lanes_and_speed() {
    refused_change("count = 2", "count = 100001", &["device[0].count", "from 0 to 100000"]);
    refused_change("count = 2", "lanes = 0", &["device[0].lanes"]);
    refused_change("count = 2", "memory_pages = 0", &["device[0].memory_pages"]);
    for wrong in ["0.0", "-0.5", "nan", "inf"] {
        refused_change("speed = 0.5", &format!("speed = {wrong}"), &["device[1].speed"]);
    }
}

#[test]
fn models_are_placed_on_devices_that_there_are() {
    let with = |lines: &str, words: &[&str]| {
        refused_change("count = 2", &format!("{lines}\ncount = 2"), words);
    };
    let (at, known) =
        ("device[0].holds", "found `brt`; did you mean `bert`? allowed: one of bert, resnet");
    with(
        "holds = [[\"bert\"], [\"brt\"]]",
        &["device[0].holds[1][0]", known, "did you mean `bert`"],
    );
    with("holds = [[\"bert\", \"bert\"], []]", &["device[0].holds[0][1]", "`bert` again"]);
    let lists = ["2, one for each device of `v100`", "add or remove lists"];
    with("holds = [[\"bert\"], [], []]", &[at, "3 lists", lists[0], lists[1]]);
    with("holds = [[\"bert\"]]", &[at, "1 lists", lists[0]]);
    with("holds = [[], []]\nmemory_pages = 9", &[at, "with `memory_pages`", "remove"]);
    let key = ("device.v10.holds".to_string(), toml::Value::Array(Vec::new()));
    let error = Scenario::from_text(NAME, VALID).unwrap().with(&[key]).unwrap_err().to_string();
    for word in ["`device.v10.holds`", "found `v10`", "one of v100, t4", "did you mean `v100`"] {
        assert!(error.contains(word), "{word}: {error}");
    }
}

#[test]
fn a_pipeline_has_stages_in_place_of_lanes() {
    let allowed = "allowed: a number from 1 to 64";
    refused_change("count = 2", "stages = 0\ncount = 2", &["device[0].stages", "found 0", allowed]);
    refused_change("count = 2", "stages = 65", &["device[0].stages", allowed]);
    let both = ["device[0].stages", "4, with 2 lanes", "`stages` or `lanes`", "remove `lanes`"];
    refused_change("count = 2", "stages = 4\nlanes = 2", &both);
    let shared = "sharing = \"processor\"\nstages = 4";
    refused_change("count = 2", shared, &["device[0].sharing", "`stages` or `sharing`", "remove"]);
    refused_change("count = 2", "sharing = \"gpu\"", &["sharing", "processor"]);
}

#[test]
fn the_scale_of_an_slo_is_a_positive_number() {
    for wrong in ["0.0", "-1.0", "nan", "inf"] {
        let to = format!("slo_scale = {wrong}\nslo_ms = 100.0");
        refused_change("slo_ms = 100.0", &to, &["model[0].slo_scale", "a number from"]);
    }
    let to = "slo_ms = 100.0\nslo_scale = 1000000.0";
    refused_change("slo_ms = 100.0", to, &["model[0].slo_ms", "found 100000000"]);
}

#[test]
fn a_model_must_fit_the_memory_of_every_kind() {
    let text = changed("count = 2", "memory_pages = 2");
    refused(&text, line(&text, "pages = 3"), &["at most the 2 pages of `v100`"]);
}

#[test]
fn latencies_must_be_positive_and_tables_grow() {
    let at = "model[0].latency.affine";
    refused_change("alpha_ms = 1.0", "alpha_ms = -1.0", &[at, "alpha_ms"]);
    refused_change("alpha_ms = 1.0", "alpha_ms = nan", &[at, "alpha_ms"]);
    refused_change("alpha_ms = 1.0, beta_ms = 4.0", "alpha_ms = 0, beta_ms = 0", &[at]);
    refused_change("c1 = 0.5", "c1 = 0.0", &["model[1].believed.eq3.c1"]);
    let table = "[[1, 3.0], [2, 4.0], [8, 9.0]]";
    refused_change(table, "[[2, 3.0], [1, 4.0]]", &["table[1]", "sizes that grow"]);
    refused_change(table, "[[1, 3.0], [1, 4.0]]", &["table[1]", "batch size 1"]);
    refused_change(table, "[[0, 3.0]]", &["table[0]", "batch size 0"]);
    refused_change(table, "[[1, -3.0]]", &["table[0]", "found -3"]);
    refused_change(table, "[]", &["no row"]);
}

#[test]
fn a_proportional_law_needs_a_law_of_its_own_on_a_faster_kind() {
    let law = "latency = { affine = { alpha_ms = 1.0, beta_ms = 4.0 } }";
    let proportional = "latency = { proportional = { c1 = 0.5 } }";
    refused_change(law, proportional, &["`t4`", "speed is 0.5", "latency_on"]);
    let own =
        format!("{proportional}\nlatency_on = {{ t4 = {{ proportional = {{ c1 = 0.6 }} }} }}");
    Scenario::from_text(NAME, &changed(law, &own)).unwrap();
    let wrong = own.replace("t4", "t5");
    refused(&changed(law, &wrong), 9, &["model[0].latency_on.t5", "did you mean `t4`"]);
}

#[test]
fn laws_of_time_are_checked_at_their_key() {
    refused_change("sd_ms = 1.0", "sd_ms = -1.0", &["app[0].time.normal.sd_ms"]);
    refused_change("mean_ms = 5.0", "mean_ms = nan", &["app[0].time.normal.mean_ms"]);
    refused_change("[[1.0, 2.0, 0.1], [3.0, 4.0, 0.2]]", "[]", &["app[1].time.modes", "none"]);
    refused_change("[1.0, 2.0, 0.1]", "[0.0, 2.0, 0.1]", &["app[1].time.modes.weight"]);
    let law = "{ normal = { mean_ms = 5.0, sd_ms = 1.0 } }";
    let two = "{ two_group = { mean_ms = 5.0, p99_ms = 4.0 } }";
    refused_change(law, two, &["app[0].time.two_group.p99_ms"]);
}

#[test]
fn an_app_without_a_law_of_time_is_an_error_unless_the_arrivals_carry_it() {
    let text = changed("time = { normal = { mean_ms = 5.0, sd_ms = 1.0 } }\n", "")
        .replace("affine = { alpha_ms = 1.0, beta_ms = 4.0 }", "eq3 = { c0_ms = 1.0, c1 = 0.5 }");
    refused(&text, line(&text, "[[app]]"), &["app[0].time", "constant = { ms = 5.0 }", "llm"]);
}

/// A law that does not look at the time alone needs none; it is a batch of one's then.
#[test]
fn an_app_of_an_affine_model_needs_no_time() {
    let text = |time: &str| {
        format!(
            "policies = [\"fifo\"]\n[[model]]\nname = \"m\"\nslo_ms = 50.0\n\
             latency = {{ affine = {{ alpha_ms = 2.0, beta_ms = 5.0 }} }}\n[[app]]\nname = \"a\"\n\
             model = \"m\"\n{time}[arrivals]\npoisson = {{ rate_per_s = 50.0 }}\nrequests = 100\n"
        )
    };
    let scenario = |time: &str| Scenario::from_text("s.toml", &text(time)).expect("a scenario");
    let with = scenario("time = { constant = { ms = 7.0 } }\n");
    assert_eq!(scenario("").canonical(), with.canonical());
}

#[test]
fn batch_sizes_must_grow() {
    let sizes = "sizes = [1, 2, 4, 8]";
    refused_change(sizes, "sizes = [1, 4, 2]", &["profile.sizes[2]", "found 2", "5 to 4096"]);
    refused_change(sizes, "sizes = [0, 1]", &["profile.sizes[0]"]);
    refused_change(sizes, "sizes = []", &["0 sizes"]);
    refused_change("batches = 20", "batches = 0", &["profile.batches"]);
    refused_change("batches = 20", "bins = 0", &["profile.bins"]);
}

#[test]
fn an_slo_below_the_fastest_batch_is_hopeless() {
    // The fastest: 5 ms on the V100, 5 % of noise off, and 0.1 ms of dispatch.
    let words = ["model[0].slo_ms", "at least 4.850000ms", "raise slo_ms", "allow_hopeless_slo"];
    refused_change("slo_ms = 100.0", "slo_ms = 4.8", &words);
    let allowed =
        format!("allow_hopeless_slo = true\n{}", changed("slo_ms = 100.0", "slo_ms = 4.8"));
    Scenario::from_text(NAME, &allowed).unwrap().setup(1).unwrap();
    let possible = changed("slo_ms = 100.0", "slo_ms = 4.86");
    Scenario::from_text(NAME, &possible).unwrap().setup(1).unwrap();
    refused_change("slo_ms = 60.0", "slo_ms = 2.0", &["app[1].slo_ms", "`photos`"]);
}

#[test]
fn an_app_may_have_no_slo() {
    let text = changed("slo_ms = 60.0", "slo_ms = inf");
    let setup = Scenario::from_text(NAME, &text).unwrap().setup(1).unwrap();
    assert_eq!(setup.apps[1].slo, orrery_sim::time::Span::MAX);
}

#[test]
fn delays_noise_and_profiler_have_ranges() {
    refused_change("dispatch_ms = 0.1", "dispatch_ms = -0.1", &["delays.dispatch_ms"]);
    refused_change("dispatch_ms = 0.1", "reply_ms = inf", &["delays.reply_ms"]);
    refused_change("uniform = 0.05", "uniform = 1.0", &["noise.uniform", "to 0.999"]);
    refused_change("uniform = 0.05", "lognormal = nan", &["noise.lognormal"]);
    refused_change("every = 10", "every = 0", &["profiler.every"]);
}

#[test]
fn a_warm_up_must_end_before_the_run() {
    refused_change("warm_up_s = 0.5", "warm_up_s = 60.0", &["arrivals.duration_s"]);
    refused_change("warm_up_s = 0.5", "warm_up_s = -1.0", &["warm_up_s"]);
    let text = changed("warm_up_s = 0.5", "until_s = 1.0\nwarm_up_s = 1.0");
    refused(&text, 4, &["less than until_s"]);
    refused_change("warm_up_s = 0.5", "until_s = 0.0", &["until_s"]);
}
