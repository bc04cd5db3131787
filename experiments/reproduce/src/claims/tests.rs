//! Which claims hold, and which have no verdict.

use super::*;
use orrery_report::page::Page;
use orrery_results::Row;
use orrery_results::metric::difference_of;

fn row(system: &str, axes: &str, value: f64) -> Row {
    Row {
        system: system.into(),
        axes: axes.into(),
        scope: "all".into(),
        metric: "rate".into(),
        value: Some(value),
        ..Row::default()
    }
}

fn claim(text: &str) -> Claim {
    let mut claim: Claim = toml::from_str(&format!("text = \"t\"\n{text}")).unwrap();
    if claim.metric.is_empty() {
        claim.metric = "rate".to_string();
    }
    claim
}

/// All claims as text.
fn told(claims: &[Claim], left_out: &LeftOut, rows: &[Row]) -> String {
    let mut page = Page::new("claims", "");
    page.section("Claims", part(claims, &judged(claims, left_out, rows), false, false));
    page.to_text().split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn a_ratio_is_of_the_same_model_setting_and_pool() {
    let rows = [
        row("a", "setting=x;model=m;pool=1-0", 10.0),
        row("a", "setting=x;model=m;pool=0-1", 30.0),
        row("a", "setting=y;model=m;pool=1-0", 70.0),
        row("b", "setting=x;model=m;pool=1-0", 5.0),
        row("b", "setting=x;model=m;pool=0-1", 10.0),
        row("c", "setting=x;model=m;pool=2-2", 2.0),
        row("c", "setting=y;model=m;pool=2-2", 7.0),
    ];
    let values =
        |text: &str| check(&claim(text), &rows).cells.iter().map(|c| c.value).collect::<Vec<f64>>();
    assert_eq!(values("of = \"a\"\nover = \"b\"\nat_least = 1.0"), [2.0, 3.0]);
    assert_eq!(values("of = \"a\"\nover = \"c\"\nat_least = 1.0"), [5.0, 15.0, 10.0]);
    assert_eq!(values("of = \"a\"\nat = \"pool=0-1\"\nat_least = 1.0"), [30.0]);
    let across = "of = \"a\"\nover = \"a\"\nat = \"setting=y;pool=1-0\"\nover_at = \"setting=x;pool=1-0\"\n\
                  relative_to = \"c\"\nat_most = 2.0";
    assert_eq!(values(across), [2.0], "70 / 7 over 10 / 2");
}

#[test]
fn parts_of_the_time_and_groups_count_only_where_they_are_named() {
    let rows = [
        row("a", "n=1", 5.0),
        row("a", "n=1;from_s=0", 1.0),
        row("a", "n=1;from_s=60", 2.0),
        row("a", "n=1;from_s=120", 3.0),
        row("a", "n=1;from_s=0;group=x", 4.0),
        row("a", "n=1;from_s=120;group=x", 6.0),
    ];
    let values =
        |text: &str| check(&claim(text), &rows).cells.iter().map(|c| c.value).collect::<Vec<f64>>();
    assert_eq!(values("of = \"a\"\nat_least = 1.0"), [5.0]);
    assert_eq!(values("of = \"a\"\nat = \"from_s=60\"\nat_least = 1.0"), [2.0]);
    assert_eq!(values("of = \"a\"\nafter_s = 60.0\nat_least = 1.0"), [2.0, 3.0]);
    assert_eq!(values("of = \"a\"\nbefore_s = 60.0\nat_least = 1.0"), [1.0]);
    let both = "of = \"a\"\nat = \"group=x\"\nafter_s = 1.0\nbefore_s = 500.0\nat_least = 1.0";
    assert_eq!(values(both), [6.0]);
    let alone = [row("a", "n=0;from_s=0;group=x", 8.0), row("a", "n=0;from_s=120;group=x", 2.0)];
    let all: Vec<Row> = rows.into_iter().chain(alone).collect();
    let ratio = "of = \"a\"\nover = \"a\"\nat = \"n=1;group=x;from_s=*\"\n\
                 over_at = \"n=0;group=x;from_s=*\"\nat_least = 1.0";
    let got: Vec<f64> = check(&claim(ratio), &all).cells.iter().map(|c| c.value).collect();
    assert_eq!(got, [0.5, 3.0], "each part over the same part");
}

#[test]
fn a_search_that_never_got_there_fails() {
    let of = |model: &str, metric: &str, value: f64| Row {
        metric: metric.to_string(),
        ..row("s", &format!("model={model}"), value)
    };
    let rows = [
        of("m", "evaluations", 20.0),
        of("n", "evaluations", 20.0),
        of("n", "evaluations_until_reached", 9.0),
    ];
    let text = "of = \"s\"\nmetric = \"evaluations_until_reached\"\nat_most = 12.0";
    let until = claim(text);
    let c = check(&until, &rows);
    assert_eq!((c.verdict, c.good, c.cells.len()), (Verdict::DoesNotHold, 1, 2));
    let text = told(&[until], &LeftOut::default(), &rows);
    assert!(text.contains("never at model=m, 9.000 at model=n"), "{text}");
}

#[test]
fn a_claim_holds_in_each_cell_or_for_what_is_taken() {
    let rows = [row("a", "model=m", 1.0), row("a", "model=n", 3.0)];
    let verdict = |text: &str| check(&claim(&format!("of = \"a\"\n{text}")), &rows).verdict;
    assert_eq!(verdict("at_least = 1.0"), Verdict::Holds);
    assert_eq!(verdict("at_least = 1.1"), Verdict::DoesNotHold);
    assert_eq!(verdict("take = \"largest\"\nat_least = 2.9\nat_most = 3.1"), Verdict::Holds);
    assert_eq!(verdict("take = \"smallest\"\nat_least = 2.9"), Verdict::DoesNotHold);
    assert_eq!(verdict("take = \"mean\"\nat_least = 2.0\nat_most = 2.0"), Verdict::Holds);
    assert_eq!(verdict("at = \"model=n\"\nat_most = 2.0"), Verdict::DoesNotHold);
    assert_eq!(verdict("at = \"model=none\"\nat_most = 2.0"), Verdict::NotRun);
    let text = told(&[claim("of = \"a\"\nat_least = 2.0")], &LeftOut::default(), &rows);
    assert!(text.contains("does not hold (1 of 2 do): t"), "{text}");
    assert!(text.contains("worst of 2 cells 1.000 at model=m; 1.000 at model=m, 3.000 at model=n; claimed at least 2"), "{text}");
}

/// A value of 0.99999966 stood as 1.000 beside "at least 0.9999997" and was undecided.
#[test]
fn a_value_reads_as_on_its_side_of_the_bound() {
    let of = |value: f64, bounds: &str| {
        let text = told(
            &[claim(&format!("of = \"a\"\n{bounds}"))],
            &LeftOut::default(),
            &[row("a", "model=m", value)],
        );
        let ours = text.split("rate of a: ").nth(1).expect("a value");
        ours.split(';').next().unwrap_or_default().to_string()
    };
    assert_eq!(of(0.99996, "at_least = 0.9999997"), "0.99996");
    assert_eq!(of(0.99999985, "at_least = 0.9999997"), "1.000");
    assert_eq!(of(0.9796, "at_least = 0.98"), "0.9796");
    assert_eq!(of(0.98 + 1e-13, "at_least = 0.98\nat_most = 0.98"), "0.980");
    assert_eq!(of(65_665.74, "at_most = 44000"), "65666");
    assert_eq!(of(2_507.467, "at_least = 1"), "2507.5");
    assert_eq!(of(100.04, "at_most = 100"), "100.04");
}

#[test]
fn what_was_searched_and_not_found_is_no_answer() {
    let rows = [Row { value: None, reason: "none".into(), ..row("a", "model=m", 0.0) }];
    let none = claim("of = \"a\"\nat_least = 1.0");
    assert_eq!(check(&none, &rows).verdict, Verdict::NoAnswer);
    let text = told(&[none], &LeftOut::default(), &rows);
    assert!(
        text.contains("no answer: t [rate of a: no answer in 1; claimed at least 1]"),
        "{text}"
    );
}

#[test]
fn what_is_divided_by_nothing_is_infinite_and_what_has_no_answer_leaves_a_claim_undecided() {
    let at = |load: f64, a: f64, b: f64| {
        let axes = format!("load={load}");
        [row("a", &axes, a), row("b", &axes, b)]
    };
    let rows = [at(1.0, 1.0, 1.0), at(2.0, 0.4, 0.0)].concat();
    let of = |bound: &str, rows: &[Row]| {
        let claim = claim(&format!("of = \"a\"\nover = \"b\"\n{bound}"));
        (check(&claim, rows).verdict, told(&[claim], &LeftOut::default(), rows))
    };
    let (verdict, text) = of("at_most = 1.5", &rows);
    assert_eq!(verdict, Verdict::DoesNotHold);
    assert!(text.contains("1.000 at load=1, infinite at load=2"), "{text}");
    assert_eq!(of("at_least = 1.0", &rows).0, Verdict::Holds);
    let takes = ["take = \"largest\"", "take = \"mean\"", "share_at_least = 0.9"];
    for take in takes {
        assert_eq!(of(&format!("{take}\nat_most = 1.5"), &rows).0, Verdict::DoesNotHold, "{take}");
    }
    let rows = [at(1.0, 1.0, 1.0), at(2.0, 0.0, 0.0)].concat();
    let (verdict, text) = of("at_most = 1.5", &rows);
    assert_eq!(verdict, Verdict::Undecided);
    assert!(text.contains("no answer in 1 of 2 cells"), "{text}");
}

#[test]
fn our_own_claims_stand_apart() {
    let rows = [row("a", "model=m", 1.0)];
    let own = claim("of = \"a\"\nown = true\nat_least = 2.0");
    let claims = [claim("of = \"a\"\nat_least = 1.0"), own];
    let checked = judged(&claims, &LeftOut::default(), &rows);
    let texts = [false, true].map(|own| {
        let mut page = Page::new("claims", "");
        page.section("Claims", part(&claims, &checked, own, true));
        page.to_text()
    });
    assert!(texts[0].contains("\u{2713} t [1.000]") && !texts[0].contains('\u{2717}'), "{texts:?}");
    assert!(texts[1].contains("\u{2717} t [") && !texts[1].contains('\u{2713}'), "{texts:?}");
}

#[test]
fn a_claim_of_which_cells_or_seeds_are_left_out_has_no_verdict() {
    let rows = [row("a", "model=m", 1.0), row("a", "model=n", 3.0)];
    let claims = [
        claim("of = \"a\"\nat_least = 1.0"),
        claim("of = \"a\"\nat = \"model=n\"\nat_least = 1.0"),
    ];
    let all = cells_of(&claims, &rows, "rate");
    assert_eq!(all, [2, 1]);
    let left_out = LeftOut { cells: Some(all), ..LeftOut::default() };
    let verdicts = |left_out: &LeftOut, rows: &[Row]| -> Vec<Verdict> {
        judged(&claims, left_out, rows).iter().map(|c| c.verdict).collect()
    };
    assert_eq!(verdicts(&left_out, &rows), [Verdict::Holds; 2]);
    assert_eq!(verdicts(&left_out, &rows[..1]), [Verdict::NotJudged, Verdict::NotRun]);
    assert_eq!(
        verdicts(&left_out, &rows[1..]),
        [Verdict::NotJudged, Verdict::Holds],
        "the second speaks of one cell"
    );
    let text = told(&claims, &left_out, &rows[1..]);
    assert!(text.contains("not judged (1 of its 2 cells were run): t"), "{text}");
    let few = LeftOut { seeds: Some((1, 5)), ..LeftOut::default() };
    assert_eq!(verdicts(&few, &rows), [Verdict::NotJudged; 2]);
    assert!(told(&claims, &few, &rows).contains("not judged (1 of 5 seeds"));
}

fn with_interval(row: Row, low: f64, high: f64) -> Row {
    Row { ci95_low: Some(low), ci95_high: Some(high), ..row }
}

#[test]
fn an_interval_that_crosses_the_bound_leaves_a_claim_undecided() {
    let rows = [
        with_interval(row("a", "model=m", 1.0), 0.8, 1.2),
        with_interval(row("a", "model=n", 3.0), 2.9, 3.1),
    ];
    let verdict = |text: &str| check(&claim(&format!("of = \"a\"\n{text}")), &rows).verdict;
    assert_eq!(verdict("at_least = 0.7"), Verdict::Holds);
    assert_eq!(verdict("at_least = 0.9"), Verdict::Undecided);
    assert_eq!(verdict("at_least = 1.1"), Verdict::Undecided);
    assert_eq!(verdict("at_least = 1.3"), Verdict::DoesNotHold);
    assert_eq!(verdict("at_least = 0.9\nat_most = 2.0"), Verdict::DoesNotHold, "n surely is not");
    assert_eq!(verdict("take = \"largest\"\nat_least = 2.5"), Verdict::Holds);
    assert_eq!(verdict("take = \"mean\"\nat_least = 2.0"), Verdict::Undecided);
    let text = told(&[claim("of = \"a\"\nat_least = 0.9")], &LeftOut::default(), &rows);
    assert!(
        text.contains(
            "undecided: t [rate of a: worst of 2 cells 1.000 (0.800 to 1.200) at model=m;"
        ),
        "{text}"
    );
}

#[test]
fn two_that_were_compared_seed_by_seed_are_as_sure_as_their_difference() {
    let own = [("a", 0.90), ("b", 0.88)];
    let mut rows: Vec<Row> = own
        .map(|(name, x)| with_interval(row(name, "n=1", x), x - 0.1, x + 0.1))
        .into_iter()
        .collect();
    let verdict = |of: &str, over: &str, bound: &str, rows: &[Row]| {
        check(&claim(&format!("of = \"{of}\"\nover = \"{over}\"\n{bound}")), rows).verdict
    };
    assert_eq!(verdict("a", "b", "at_least = 1.0", &rows), Verdict::Undecided);
    let difference = Row {
        metric: difference_of("rate"),
        versus: "b".to_string(),
        ..with_interval(row("a", "n=1", 0.02), 0.01, 0.03)
    };
    rows.push(difference);
    assert_eq!(verdict("a", "b", "at_least = 1.0", &rows), Verdict::Holds);
    assert_eq!(verdict("b", "a", "at_most = 1.0", &rows), Verdict::Holds);
    assert_eq!(verdict("b", "a", "at_least = 1.0", &rows), Verdict::DoesNotHold);
}

#[test]
fn one_system_at_two_places_is_compared_seed_by_seed_too() {
    let at = |n: u32, x: f64| with_interval(row("a", &format!("n={n}"), x), x - 0.1, x + 0.1);
    let mut rows = vec![at(1, 0.90), at(2, 0.88)];
    let claim = claim("of = \"a\"\nover = \"a\"\nat = \"n=1\"\nover_at = \"n=2\"\nat_least = 1.0");
    assert_eq!(check(&claim, &rows).verdict, Verdict::Undecided);
    let pairs = compared(&claim, &rows);
    let [(a, b)] = &pairs[..] else { panic!("{pairs:?}") };
    assert_eq!(versus(a, b), "a at n=2");
    let difference = |versus: &str| Row {
        metric: difference_of("rate"),
        versus: versus.to_string(),
        ..with_interval(row("a", "n=1", 0.02), 0.01, 0.03)
    };
    rows.push(difference("a at n=3"));
    assert_eq!(check(&claim, &rows).verdict, Verdict::Undecided, "another pair");
    rows.push(difference("a at n=2"));
    assert_eq!(check(&claim, &rows).verdict, Verdict::Holds);
}

#[test]
fn a_claim_of_so_many_cases_counts_cells() {
    let cell = |n: u32, x: f64, low: f64, high: f64| {
        with_interval(row("a", &format!("n={n}"), x), low, high)
    };
    let rows = [
        cell(1, 3.0, 2.9, 3.1),
        cell(2, 2.0, 1.9, 2.1),
        cell(3, 1.05, 0.9, 1.2),
        cell(4, 0.5, 0.4, 0.6),
    ];
    let of = |text: &str| claim(&format!("of = \"a\"\nat_least = 1.0\n{text}"));
    let verdict = |text: &str| check(&of(text), &rows).verdict;
    assert_eq!(verdict("share_at_least = 0.5"), Verdict::Holds);
    assert_eq!(verdict("share_at_least = 0.75"), Verdict::Undecided, "two surely, a third perhaps");
    assert_eq!(verdict("share_at_least = 0.8"), Verdict::DoesNotHold);
    assert_eq!(verdict("share_at_least = 0.1\nshare_at_most = 0.4"), Verdict::DoesNotHold);
    let text = told(&[of("share_at_least = 0.75")], &LeftOut::default(), &rows);
    assert!(text.contains("undecided (surely so in 50 % of the cells, 75 % by value"), "{text}");
    assert!(
        text.contains("3 of 4 cells, surely in 50 %; so in 75 % (3 of 4): 3.000 at n=1, "),
        "{text}"
    );
    for wrong in [
        "share_at_least = 16",
        "share_at_least = 0.5\ntake = \"mean\"",
        "share_at_least = 0.5\nshare_at_most = 0.4",
    ] {
        assert!(of(wrong).check().is_err(), "{wrong}");
    }
}

#[test]
fn what_one_draw_measured_is_judged_by_how_draws_vary() {
    let row = Row { seeds: "1-20".to_string(), ..with_interval(row("a", "n=1", 10.0), 9.5, 10.5) };
    let verdict = |text: &str| {
        check(&claim(&format!("of = \"a\"\n{text}")), std::slice::from_ref(&row)).verdict
    };
    // Half the interval is .5 for the mean of 20, and sqrt(21) times that for the next one.
    assert_eq!(verdict("at_least = 9.0"), Verdict::Holds);
    assert_eq!(verdict("at_least = 9.0\none_draw = true"), Verdict::Undecided);
    assert_eq!(verdict("at_least = 7.7\none_draw = true"), Verdict::Holds);
    assert_eq!(verdict("at_least = 7.8\none_draw = true"), Verdict::Undecided);
}

#[test]
fn a_ratio_of_two_metrics_is_of_one_place() {
    let other = |axes: &str, x: f64| Row { metric: "other".to_string(), ..row("a", axes, x) };
    let rows = [row("a", "n=1", 8.0), other("n=1", 2.0), row("a", "n=2", 9.0), other("n=2", 3.0)];
    let c =
        check(&claim("of = \"a\"\nover = \"a\"\nover_metric = \"other\"\nat_least = 3.0"), &rows);
    assert_eq!(c.cells.iter().map(|c| c.value).collect::<Vec<_>>(), [4.0, 3.0]);
    let alone = claim("of = \"a\"\nover_metric = \"other\"\nat_least = 3.0");
    assert!(alone.check().unwrap_err().to_string().contains("only with `over`"));
}

#[test]
fn a_sentence_about_a_number_asks_it_of_a_value() {
    let rows = [row("a", "setting=x", 30.0), row("b", "setting=x", 10.0)];
    let asked = |text: &str| super::ranges(&[claim(text)], &rows);
    let [(row, low, high)] = &asked("of = 'a'\nover = 'b'\nat_least = 2.0\nat_most = 2.5")[..]
    else {
        panic!("one range")
    };
    assert_eq!((row.system.as_str(), *low, *high), ("a", 20.0, 25.0));
    let own = asked("of = 'b'\nat_least = 2.0\nat_most = 2.5");
    assert_eq!((own[0].0.system.as_str(), own[0].1, own[0].2), ("b", 2.0, 2.5));
    // Which of two is above, and what is said of several cells at once, is no number of a value.
    assert!(asked("of = 'a'\nover = 'b'\nat_least = 1.0").is_empty());
    assert!(asked("of = 'a'\nover = 'b'\nat_least = 2.0\nat_most = 2.5\ntake = 'mean'").is_empty());
}

#[test]
fn a_sentence_with_one_bound_asks_it_where_it_is_decided() {
    const NONE: f64 = f64::INFINITY;
    let rows =
        [row("a", "setting=x", 30.0), row("b", "setting=x", 10.0), row("a", "setting=y", 50.0)];
    let asked = |texts: &[&str]| {
        let claims: Vec<_> = texts.iter().map(|t| claim(t)).collect();
        let found = super::ranges(&claims, &rows);
        let short = found.into_iter().map(|(row, low, high)| (row.system, row.axes, low, high));
        short.collect::<Vec<_>>()
    };
    let at =
        |system: &str, axes: &str, low: f64, high: f64| (system.into(), axes.into(), low, high);
    let ratio = "of = 'a'\nover = 'b'\nat_least = 2.0";
    assert_eq!(asked(&[ratio]), [at("a", "setting=x", 20.0, NONE)]);
    let each = asked(&["of = 'a'\nat_most = 40.0"]);
    assert_eq!(each, [at("a", "setting=x", -NONE, 40.0), at("a", "setting=y", -NONE, 40.0)]);
    // "Up to": of the largest.
    let largest = asked(&["of = 'a'\ntake = 'largest'\nat_least = 60.0"]);
    assert_eq!(largest, [at("a", "setting=y", 60.0, NONE)]);
    let smallest = asked(&["of = 'a'\ntake = 'smallest'\nat_least = 1.0\nat_most = 2.0"]);
    assert_eq!(smallest, [at("a", "setting=x", 1.0, 2.0)]);
    // Several about one value: what would make all of them true, else the first.
    let own = "of = 'a'\nat = 'setting=x'\nat_most = 35.0";
    assert_eq!(asked(&[ratio, own]), [at("a", "setting=x", 20.0, 35.0)]);
    let other = "of = 'a'\nat = 'setting=x'\nat_most = 15.0";
    assert_eq!(asked(&[ratio, other]), [at("a", "setting=x", 20.0, NONE)]);
    // Which of two is above, with a margin, is seen without a mark.
    assert!(asked(&["of = 'a'\nover = 'b'\nat_least = 1.02"]).is_empty());
    assert!(asked(&["of = 'a'\nat_least = 1.0\nshare_at_least = 0.5"]).is_empty());
    // Along a curve of many points, the one that decides.
    let many: Vec<_> =
        (0..20).map(|i| row("a", &format!("t={i}"), 1.0 + (f64::from(i) - 7.0).abs())).collect();
    let found = super::ranges(&[claim("of = 'a'\nat_least = 2.0")], &many);
    assert_eq!((found.len(), found[0].0.axes.as_str()), (1, "t=7"));
}

#[test]
fn a_region_has_a_verdict_for_each_value_of_what_is_not_given() {
    let rows: Vec<Row> = [("1", "x", 3.0), ("1", "y", 2.0), ("2", "x", 0.5)]
        .iter()
        .flat_map(|(mean, sd, value)| {
            let axes = format!("mean={mean};sd={sd};model=m");
            [row("a", &axes, *value), row("b", &axes, 1.0)]
        })
        .collect();
    let claims =
        [claim("of = \"a\"\nover = \"b\"\nat_least = 2.5"), claim("of = \"b\"\nat_least = 1.0")];
    let axes = ["mean".to_string(), "sd".to_string()];
    let regions = within(&claims, &axes, &LeftOut::default(), &rows);
    let verdicts = [Verdict::Holds, Verdict::DoesNotHold, Verdict::Undecided];
    let told = |region: &[Within]| verdicts.map(|v| values_with(region, v));
    assert_eq!(told(&regions[0]), ["1, x", "1, y; 2, x", ""]);
    assert_eq!(told(&regions[1]), ["1, x; 1, y; 2, x", "", ""]);
    let words = region_in_words(&axes, &regions);
    assert!(words.contains("1 hold with every value of mean and sd, 1 with some, 0"), "{words}");
    let mut page = Page::new("claims", "");
    page.section("Claims", region_part(&claims, &axes, &regions));
    let text = page.to_text().split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("claim sd 1 2 1 x holds no 1 y no - 2 x holds holds"), "{text}");
    // A search without an answer, and 0 over 0.
    let none = Row { value: None, ..row("a", "mean=2;sd=y;model=m", 0.0) };
    let (zero, over_zero) = ("mean=3;sd=x;model=m", row("b", "mean=3;sd=x;model=m", 0.0));
    let more = [none, row("b", "mean=2;sd=y;model=m", 1.0), row("a", zero, 0.0), over_zero];
    let without = within(&claims, &axes, &LeftOut::default(), &[&rows[..], &more].concat());
    assert_eq!(values_with(&without[0], Verdict::NoAnswer), "2, y; 3, x");
    let words = region_in_words(&axes, &without);
    assert!(words.contains("0 hold with every value"), "{words}");
    // What was not all run has no verdict anywhere.
    let left_out = LeftOut { seeds: Some((1, 5)), cells: None };
    let regions = within(&claims, &axes, &left_out, &rows);
    assert!(regions.iter().flatten().all(|w| w.checked.why == "1 of 5 seeds"), "{regions:?}");
}
