//! What every figure promises: the same bytes, no label cut off or covered, no file read.

mod errors;
mod gaps;
mod letters;
mod samples;

use crate::*;
use orrery_results::Row;
use sha2::{Digest, Sha256};

/// Every kind of figure.
fn figures() -> Vec<(&'static str, Figure)> {
    figures_of(&samples::Tables::default())
}

/// Every kind of figure, of these tables.
fn figures_of(t: &samples::Tables) -> Vec<(&'static str, Figure)> {
    let all = RowFilter::default();
    let window = Window { from_ns: 10_000_000, to_ns: Some(90_000_000) };
    let drawn = [
        ("finish rate, one panel", finish_rate_by_slo(&t.finish_rates_1, &all)),
        ("finish rate, seven panels", finish_rate_by_slo(&t.finish_rates_7, &all)),
        ("sweep", metric_by_axis(&t.sweep, "rate_per_s", "latency_p99_ns", &all)),
        ("histogram", execution_time_histogram(&t.distributions, &all)),
        ("latency", latency_cdf(&t.distributions, "latency_ns", &all)),
        ("latency, dropped", latency_cdf(&t.drops_most, "latency_ns", &all)),
        ("batch size", batch_size_cdf(&t.distributions, &all)),
        ("time series", time_series(&t.series, &all, &SeriesView::default())),
        ("timeline", device_timeline(&t.batches, window)),
        ("sensitivity", sensitivity(&t.variations, "mean_abs_error", &all)),
        ("bars", picture(&t.grid, &t.titled(bars()), &all)),
        ("heat map", picture(&t.grid, &t.titled(heat_map()), &all)),
        ("shares", picture(&t.quantiles, &t.titled(shares()), &all)),
        ("winners", winners("Who leads where", "60 scenarios", &t.leads)),
    ];
    drawn.into_iter().map(|(name, f)| (name, f.unwrap_or_else(|e| panic!("{name}: {e}")))).collect()
}

/// A picture with a title and a source, as experiments have them.
fn named(kind: PictureKind, metrics: &[&str]) -> Picture {
    Picture {
        kind,
        source: "An example, Fig. 1".into(),
        metrics: metrics.iter().map(ToString::to_string).collect(),
        ..Picture::default()
    }
}

fn bars() -> Picture {
    let (x, relative_to) = ("shape".to_string(), "base".to_string());
    let panels = Some(vec!["slo_ms".to_string()]);
    Picture { x, relative_to, panels, ..named(PictureKind::Bars, &["goodput_per_s"]) }
}

fn heat_map() -> Picture {
    let (x, y) = ("slo_ms".to_string(), "shape".to_string());
    let ratios = vec![("a".to_string(), "base".to_string())];
    Picture { x, y, ratios, ..named(PictureKind::Heat, &["goodput_per_s"]) }
}

fn shares() -> Picture {
    named(PictureKind::Shares, &["latency_p50_ns", "latency_p90_ns", "latency_p99_ns"])
}

/// Changed on purpose only, after a look at the figures.
const GOLDEN: [(&str, &str); 14] = [
    ("finish rate, one panel", "35d59f42099c55a4"),
    ("finish rate, seven panels", "5ca248d2b8091909"),
    ("sweep", "c9f37dec58ddc2c8"),
    ("histogram", "4d70aae618f001d9"),
    ("latency", "d6dbcb21d71c87f3"),
    ("latency, dropped", "79c1b09b6d66df6a"),
    ("batch size", "10771f6748e5221f"),
    ("time series", "a6acd107f8a8df61"),
    ("timeline", "c0d8e77debc38f91"),
    ("sensitivity", "93573f5742a4c466"),
    ("bars", "165737126239cbca"),
    ("heat map", "f2193f8267ef8a75"),
    ("shares", "1eebd6e537ddf574"),
    ("winners", "cb2aec514017d0ae"),
];

#[test]
fn what_all_policies_were_offered_is_drawn_once_though_their_runs_end_apart() {
    let mut rows = samples::series();
    for row in rows.iter_mut().filter(|r| r.policy == "orloj" && r.from_ns == 39_000_000_000) {
        (row.to_ns, row.value) = (row.to_ns + 5, row.value * 0.9);
    }
    let svg = |rows: &[_]| {
        time_series(rows, &RowFilter::default(), &SeriesView::default()).expect("a figure").to_svg()
    };
    assert!(!svg(&rows).contains("in its policy"));
    rows[0].value += 1.0;
    assert!(svg(&rows).contains("in its policy"), "another load");
}

#[test]
fn the_same_rows_give_the_same_bytes() {
    for ((name, a), (_, b)) in figures().iter().zip(&figures()) {
        assert!(a.to_svg() == b.to_svg(), "{name}");
    }
}

#[test]
fn the_bytes_are_those_that_were_looked_at() {
    let found: Vec<(&str, String)> = figures()
        .iter()
        .map(|(name, f)| {
            let digest = Sha256::digest(f.to_svg().as_bytes());
            (*name, digest.iter().take(8).map(|b| format!("{b:02x}")).collect())
        })
        .collect();
    let golden: Vec<(&str, String)> = GOLDEN.map(|(name, hex)| (name, hex.to_string())).to_vec();
    assert_eq!(found, golden);
}

/// A label as the SVG places it.
#[derive(Debug)]
struct Label {
    /// For the message of a failed claim.
    #[allow(dead_code)]
    text: String,
    /// left, top, right, bottom
    bounds: [f64; 4],
}

/// The labels of an SVG, read from its text.
fn labels(svg: &str) -> Vec<Label> {
    let attribute = |line: &str, name: &str| -> Option<String> {
        let from = line.find(&format!(" {name}=\""))? + name.len() + 3;
        Some(line[from..].split('"').next()?.to_string())
    };
    let number = |line: &str, name: &str| -> f64 {
        attribute(line, name).and_then(|v| v.parse().ok()).expect(name)
    };
    let label = |line: &str| {
        let inner = line.split_once('>').and_then(|p| p.1.split_once("</text>")).expect("text").0;
        let text = [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&amp;", "&")]
            .iter()
            .fold(inner.to_string(), |t, (from, to)| t.replace(from, to));
        let (x, y, size) = (number(line, "x"), number(line, "y"), number(line, "font-size"));
        let width = font::width(&text, size);
        let before = match attribute(line, "text-anchor").as_deref() {
            Some("middle") => width / 2.0,
            Some("end") => width,
            _ => 0.0,
        };
        let (up, down) = (0.76 * size, 0.24 * size);
        let bounds = match attribute(line, "transform") {
            Some(_) => [x - up, y - width + before, x + down, y + before],
            None => [x - before, y - up, x - before + width, y + down],
        };
        Label { text, bounds }
    };
    svg.lines().filter(|l| l.starts_with("<text ")).map(label).collect()
}

#[test]
fn no_label_is_cut_off() {
    // What a reader's own font may be wider than ours.
    const SLACK: f64 = 4.0;
    for (name, figure) in figures() {
        let (width, height) = figure.size();
        let labels = labels(&figure.to_svg());
        assert!(labels.len() > 10, "{name}");
        for label in labels {
            let [left, top, right, bottom] = label.bounds;
            let inside = left >= SLACK && right <= width - SLACK && top >= 0.0 && bottom <= height;
            assert!(inside, "{name}: {label:?} on {width} x {height}");
        }
    }
}

#[test]
fn no_label_covers_another() {
    for (name, figure) in figures() {
        let labels = labels(&figure.to_svg());
        for (i, a) in labels.iter().enumerate() {
            for b in &labels[..i] {
                let apart = a.bounds[0] >= b.bounds[2]
                    || b.bounds[0] >= a.bounds[2]
                    || a.bounds[1] >= b.bounds[3] - 1.0
                    || b.bounds[1] >= a.bounds[3] - 1.0;
                assert!(apart, "{name}: {a:?} and {b:?}");
            }
        }
    }
}

#[test]
fn text_stays_text_and_names_its_font_with_others_to_fall_back_on() {
    let svg = figures()[0].1.to_svg();
    assert!(svg.contains("font-family=\"DejaVu Sans, Verdana, Arial, sans-serif\""));
    for word in ["finish rate", "SLO (× P99)", "clockwork", "calibrated", ">paper<"] {
        assert!(svg.contains(word), "{word}");
    }
}

#[test]
fn the_paper_can_be_left_out() {
    let choice = RowFilter { without_paper: true, ..RowFilter::default() };
    let svg = finish_rate_by_slo(&samples::finish_rates(1), &choice).unwrap().to_svg();
    assert!(!svg.contains(">paper<"));
}

#[test]
fn a_yardstick_is_a_thin_line() {
    let thin = |preset: &str| {
        let mut rows = samples::finish_rates(1);
        rows.retain(|r| r.system != "fifo" && (r.system != "kairos" || r.preset == "released"));
        for row in rows.iter_mut().filter(|r| r.system == "kairos") {
            (row.system, row.policy) = ("fifo".into(), "fifo".into());
            row.preset = preset.into();
        }
        let svg = finish_rate_by_slo(&rows, &RowFilter::default()).unwrap().to_svg();
        svg.contains("stroke-width=\"0.7\"")
    };
    assert!(thin("reference") && !thin("calibrated"));
}

#[test]
fn flagged_rows_are_crossed_and_explained() {
    let svg = figures()[0].1.to_svg();
    assert!(svg.contains("too few samples behind the value (few-samples): 1 of 70 points"));
    assert!(svg.contains("still diverging at its end (diverging): 1 of 70 points"));
    let mut plain = samples::finish_rates(1);
    plain.iter_mut().for_each(|r| r.flags.clear());
    let plain = finish_rate_by_slo(&plain, &RowFilter::default()).unwrap().to_svg();
    // A cross is two lines with a white rim each.
    let lines = |svg: &str| svg.matches("<polyline").count();
    assert_eq!(lines(&svg), lines(&plain) + 8);
}

#[test]
fn a_scope_of_its_own_gets_a_panel() {
    let choice = RowFilter { scopes: vec!["app gpt2".into()], ..RowFilter::default() };
    let svg = execution_time_histogram(&samples::distributions(), &choice).unwrap().to_svg();
    assert_eq!(svg.matches(">density (1/ms)<").count(), 1);
    assert!(svg.contains("app gpt2") && !svg.contains("app bert"));
}

#[test]
fn a_model_keeps_its_colour_in_every_window() {
    let mut batches = samples::batches();
    batches.truncate(2);
    for (i, batch) in batches.iter_mut().enumerate() {
        batch.model = ["bert", "yolo"][i].into();
        batch.outcome = "done".into();
        (batch.start_ns, batch.end_ns) = (i as u64 * 1_000_000, (i as u64 + 1) * 1_000_000);
    }
    let drawn = |window| device_timeline(&batches, window).unwrap().to_svg();
    let both = drawn(Window::default());
    let second = drawn(Window { from_ns: 1_000_000, to_ns: None });
    let fill = |i| {
        let c = style::area(i).0;
        format!("fill=\"#{:02x}{:02x}{:02x}\"", c.0, c.1, c.2)
    };
    assert!(both.contains(&fill(0)) && both.contains(&fill(1)));
    assert!(!second.contains(&fill(0)) && second.contains(&fill(1)));
}

#[test]
fn a_png_has_twice_the_size_and_letters_without_any_system_font() {
    let figure = figures().swap_remove(5).1;
    let bytes = figure.to_png();
    let mut reader = png::Decoder::new(std::io::Cursor::new(&bytes)).read_info().unwrap();
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut pixels).unwrap();
    let (width, height) = figure.size();
    assert_eq!(f64::from(info.width), (2.0 * width).ceil());
    assert_eq!(f64::from(info.height), (2.0 * height).ceil());
    // The title's line: some of it is dark, most of it white.
    let line = &pixels[..(40 * info.width * 3) as usize];
    let dark = line.iter().filter(|p| **p < 100).count();
    assert!(dark > 1_000 && dark < line.len() / 10, "{dark} of {}", line.len());
    assert_eq!(bytes, figure.to_png());
}

#[test]
fn a_point_without_an_answer_is_a_gap_and_is_counted() {
    let mut rows: Vec<Row> = ["1", "2", "3", "4", "5"]
        .iter()
        .map(|x| samples::row("", &format!("rate={x}"), "a", "", 3.0))
        .collect();
    let whole = metric_by_axis(&rows, "rate", "finish_rate", &RowFilter::default());
    rows[2].without_answer("not even 4096");
    let gap = metric_by_axis(&rows, "rate", "finish_rate", &RowFilter::default());
    let (whole, gap) = (whole.expect("a figure").to_svg(), gap.expect("a figure").to_svg());
    let lines = |svg: &str| svg.matches("<path").count() + svg.matches("<polyline").count();
    assert_eq!(lines(&gap), lines(&whole) + 1, "two pieces");
    assert!(gap.contains("(no-answer): 1 of 5 points"), "{gap}");
    rows.iter_mut().for_each(|r| r.without_answer("not even 4096"));
    let error = metric_by_axis(&rows, "rate", "finish_rate", &RowFilter::default()).unwrap_err();
    assert!(error.to_string().contains("not even 4096"), "{error}");
}

/// Batches that are thinner than a line are a share of busy time.
#[test]
fn too_many_batches_to_outline_are_summed_up() {
    let batch = |i: u64| orrery_results::BatchRow {
        device: Some(0),
        model: "bert".into(),
        size: 4,
        start_ns: i * 1_000,
        end_ns: i * 1_000 + 500,
        ..Default::default()
    };
    let batches: Vec<_> = (0..6_000).map(batch).collect();
    let svg = device_timeline(&batches, Window::default()).expect("a figure").to_svg();
    assert!(svg.contains("6000 batches") && svg.contains("--from-ms 0 --to-ms"), "{svg:.600}");
    // Some 160 parts of the time in place of 6,000 boxes.
    assert!((160..200).contains(&svg.matches("<polygon").count()));
}

/// Deadlines and drops are marks where there are few of them, and a number where there are many.
#[test]
fn few_batches_show_their_deadlines_and_the_requests_that_were_dropped() {
    let batch = |i: u64| orrery_results::BatchRow {
        device: Some(0),
        size: 4,
        start_ns: i * 1_000,
        end_ns: i * 1_000 + 500,
        deadline_ns: Some(i * 1_000 + if i.is_multiple_of(2) { 400 } else { 700 }),
        ..Default::default()
    };
    let drop = |i: u64| orrery_results::BatchRow {
        end_ns: i * 1_000,
        outcome: "dropped_expired".into(),
        ..Default::default()
    };
    let svg = |batches: u64, drops: u64| {
        let rows: Vec<_> = (0..batches).map(batch).chain((0..drops).map(drop)).collect();
        device_timeline(&rows, Window::default()).expect("a figure").to_svg()
    };
    let lines = |svg: &str| svg.matches("<path").count() + svg.matches("<polyline").count();
    let few = svg(20, 5);
    for words in ["earliest deadline of a batch", "deadline missed", ">dropped<", "request dropped"]
    {
        assert!(few.contains(words), "{words}");
    }
    assert!(lines(&few) >= lines(&svg(20, 0)) + 4 * 5, "two lines, twice, for a cross");
    let many = svg(450, 500);
    assert!(!many.contains("deadline") && !many.contains(">dropped<"));
    assert!(many.contains("450 requests were dropped"), "those in the window");
}

/// A policy that drops seven of ten requests and answers the others soon is not the best one.
#[test]
fn a_latency_curve_ends_at_the_share_answered_and_the_slo_is_a_line() {
    let rows = samples::drops_most();
    let svg = |rows: &[_]| latency_cdf(rows, "latency_ns", &RowFilter::default()).unwrap().to_svg();
    let found = svg(&rows);
    assert!(found.contains("share of all requests (%)"), "{found}");
    assert!(
        found.contains("× 1 of 2 curves end at the share") && found.contains("drops, at 30.0 %")
    );
    assert!(found.contains("SLO (50 ms)"), "{found}");
    let dashed = |svg: &str| svg.matches("stroke-dasharray=\"4 2.5\"").count();
    let without: Vec<_> = rows.iter().filter(|r| r.quantity != "slo_ns").cloned().collect();
    assert!(dashed(&found) >= dashed(&svg(&without)) + 2, "a line and its key");
    // Times in the queue have no SLO.
    let queueing: Vec<_> = rows
        .iter()
        .cloned()
        .map(|mut r| {
            r.quantity = r.quantity.replace("latency", "queueing");
            r
        })
        .collect();
    let figure = latency_cdf(&queueing, "queueing_ns", &RowFilter::default()).unwrap().to_svg();
    assert!(!figure.contains("SLO (") && figure.contains("drops, at 30.0 %"));
}

/// A figure of two systems and two loads, each system with a panel of its own.
#[test]
fn systems_may_be_panels_of_curves_by_an_axis() {
    let row = |system: &str, load: u32, slo: u32| orrery_results::Row {
        system: system.into(),
        policy: system.into(),
        axes: format!("load={load};slo_ms={slo}"),
        scope: "all".into(),
        metric: "finish_rate".into(),
        value: Some(f64::from(load * slo) / 100.0),
        ..Default::default()
    };
    let mut rows = Vec::new();
    for (load, slo) in [(1, 10), (1, 20), (2, 10), (2, 20)] {
        rows.extend(["orloj", "fifo"].map(|s| row(s, load, slo)));
    }
    let picture = Picture {
        x: "slo_ms".into(),
        series: "load".into(),
        panels: Some(vec!["system".into()]),
        ..named(PictureKind::Curves, &["finish_rate"])
    };
    let figure = crate::picture(&rows, &picture, &RowFilter::default());
    let svg = figure.unwrap_or_else(|e| panic!("{e}")).to_svg();
    for word in ["orloj", "fifo", "load 1", "load 2"] {
        assert!(svg.contains(word), "{word}");
    }
}

/// Stars are of a system's own points, and two systems may have one at the same x.
#[test]
fn stars_are_of_their_own_system() {
    let row = |system: &str, metric: &str, x: u32, value: f64| orrery_results::Row {
        system: system.into(),
        axes: format!("at_ms={x}"),
        scope: "all".into(),
        metric: metric.into(),
        value: Some(value),
        ..Default::default()
    };
    let mut rows = Vec::new();
    for x in 0..4 {
        rows.push(row("r1", "score", x, f64::from(x)));
        rows.push(row("r2", "score", x, f64::from(10 - x)));
    }
    rows.extend([row("r1", "edge", 1, 1.0), row("r2", "edge", 1, 1.0), row("r2", "edge", 2, 1.0)]);
    let picture = Picture {
        x: "at_ms".into(),
        star: "edge".into(),
        ..named(PictureKind::Curves, &["score"])
    };
    let figure = crate::picture(&rows, &picture, &RowFilter::default());
    let svg = figure.unwrap_or_else(|e| panic!("{e}")).to_svg();
    let without = Picture { star: String::new(), ..picture };
    let plain = crate::picture(&rows, &without, &RowFilter::default()).expect("a figure").to_svg();
    let marks = |svg: &str| svg.matches("<polygon").count();
    // Three stars, and one in the legend.
    assert_eq!(marks(&svg) - marks(&plain), 4);
}

/// Ranks: nothing lies between two of them.
#[test]
fn only_the_named_series_are_joined() {
    let row = |system: &str, rank: u32, value: f64| orrery_results::Row {
        system: system.into(),
        axes: format!("rank={rank}"),
        scope: "all".into(),
        metric: "goodput_per_s".into(),
        unit: "1/s".into(),
        value: Some(value),
        ..Default::default()
    };
    let mut rows = Vec::new();
    for rank in 1..6 {
        rows.push(row("bound", rank, 100.0 - f64::from(rank)));
        rows.push(row("ours", rank, f64::from(40 + 7 * (rank % 3))));
    }
    let picture = Picture { x: "rank".into(), ..named(PictureKind::Curves, &["goodput_per_s"]) };
    let lines = |joined: Option<Vec<String>>| {
        let picture = Picture { joined, ..picture.clone() };
        let figure = crate::picture(&rows, &picture, &RowFilter::default()).expect("a figure");
        figure.to_svg().matches("<polyline").count()
    };
    let (all, one, none) = (lines(None), lines(Some(vec!["bound".into()])), lines(Some(vec![])));
    // The line itself, and the one in the legend.
    assert_eq!((all - one, one - none), (2, 2));
}

#[test]
fn a_bar_too_low_to_be_seen_says_its_value() {
    let row = |x: &str, value: f64| orrery_results::Row {
        system: "ours".into(),
        axes: format!("point={x}"),
        scope: "all".into(),
        metric: "mean_abs_error".into(),
        value: Some(value),
        ..Default::default()
    };
    let rows = [row("a", 0.5), row("b", 0.001234), row("c", 0.0), row("d", 0.02)];
    let picture = Picture { x: "point".into(), ..named(PictureKind::Bars, &["mean_abs_error"]) };
    let figure = crate::picture(&rows, &picture, &RowFilter::default()).expect("a figure");
    let svg = figure.to_svg();
    for (word, count) in [(">0.0012<", 1), (">0<", 1), (">0.02<", 0)] {
        assert_eq!(svg.matches(word).count(), count, "{word}");
    }
}

/// What a sentence asks stands beside the value that it is of, divided and placed as the value is.
#[test]
fn a_bracket_shows_what_is_asked_of_a_value() {
    let rows = samples::grid();
    let of = rows.iter().find(|r| r.system == "b").expect("a system without the paper's numbers");
    let value = of.value.expect("a value");
    let drawn = |picture: Picture, asked: Vec<(Row, f64, f64)>| {
        let picture = Picture { asked, ..picture };
        crate::picture(&rows, &picture, &RowFilter::default()).expect("a figure").to_svg()
    };
    let words = "range claimed in the paper";
    let near = vec![(of.clone(), 0.9 * value, 1.1 * value)];
    let with = drawn(bars(), near.clone());
    assert!(with.contains(words) && !with.contains("beyond"));
    assert!(!drawn(bars(), Vec::new()).contains(words));
    // Where the paper prints a number, that stands there.
    let printed = rows.iter().find(|r| r.system == "a").expect("a system with the paper's numbers");
    assert!(!drawn(bars(), vec![(printed.clone(), 0.0, 1e3)]).contains(words));
    // Far away it does not flatten the others, and is told.
    let far = drawn(bars(), vec![(of.clone(), 1e3 * value, 2e3 * value)]);
    assert!(far.contains("Claimed values beyond the y axis: 1."), "{far:.2000}");
    // Of another place there is nothing to show.
    let elsewhere = Row { system: "nobody".into(), ..of.clone() };
    assert!(!drawn(bars(), vec![(elsewhere, 0.9 * value, 1.1 * value)]).contains(words));
    // In curves, too; a heat map has no room for it.
    let curves = Picture { x: "slo_ms".into(), ..named(PictureKind::Curves, &["goodput_per_s"]) };
    assert!(drawn(curves, near.clone()).contains(words));
    assert!(!drawn(heat_map(), near).contains(words));
}

/// A sentence with one bound is an arrow from it to where the value may lie.
#[test]
fn an_arrow_shows_where_a_value_with_one_bound_may_lie() {
    let rows = samples::grid();
    let of: Vec<&Row> = rows.iter().filter(|r| r.system == "b").collect();
    let value = of[0].value.expect("a value");
    let drawn = |asked: Vec<(Row, f64, f64)>| {
        let picture = Picture { asked, ..bars() };
        crate::picture(&rows, &picture, &RowFilter::default()).expect("a figure").to_svg()
    };
    let least = drawn(vec![(of[0].clone(), 0.9 * value, f64::INFINITY)]);
    assert!(least.contains("lower bound claimed in the paper<"), "{least:.3000}");
    let both = [(of[0], 0.9 * value, 1.1 * value), (of[1], f64::NEG_INFINITY, value)];
    let both = drawn(both.map(|(row, low, high)| (row.clone(), low, high)).to_vec());
    for words in [">range claimed in the paper<", ">upper bound<"] {
        assert!(both.contains(words), "{words}");
    }
    // A bound that nothing on the axis could miss is not drawn; one that nothing meets is told.
    let met = drawn(vec![(of[0].clone(), f64::NEG_INFINITY, 1e3 * value)]);
    assert!(!met.contains("laimed"), "{met:.3000}");
    let missed = drawn(vec![(of[0].clone(), 1e3 * value, f64::INFINITY)]);
    assert!(
        missed.contains("Claimed values beyond the y axis: 1.") && !missed.contains("lower bound")
    );
}

#[test]
fn a_map_as_wide_as_a_paper_s_column_cuts_no_system_of_the_table() {
    let figure = winners("Who leads where", "60 scenarios", &samples::leads()).expect("a map");
    let layout = Layout { width_in: Some(3.33), ..Layout::default() };
    let svg = figure.laid_out(&layout).to_svg();
    for cut in ["orl…", "clo…", "sym…", "nex…"] {
        assert!(!svg.contains(cut), "{cut}");
    }
    assert!(svg.contains(">nexus-<") && svg.contains(">cluster<"), "in two lines");
}

#[test]
fn a_figure_says_where_the_paper_s_number_was_kept_away() {
    let mut rows = samples::grid();
    let drawn = |rows: &[Row], withheld: Vec<Row>| {
        let picture = Picture { withheld, ..bars() };
        crate::picture(rows, &picture, &RowFilter::default()).expect("a figure").to_svg()
    };
    let of = rows.iter().find(|r| r.system == "b").expect("a row without a number").clone();
    let note = "?: the paper value is withheld from this project: 1 of 12 points.";
    assert!(drawn(&rows, vec![of.clone()]).contains(note));
    assert!(!drawn(&rows, Vec::new()).contains("withheld"));
    // A panel in which no number is left says so in its title.
    rows.iter_mut().filter(|r| r.axis("slo_ms") == Some("20")).for_each(|r| r.paper = None);
    assert!(drawn(&rows, vec![of]).contains(">SLO 20 ms (paper: withheld)<"));
}

#[test]
fn a_figure_calls_systems_as_its_file_does() {
    let rows = samples::grid();
    let names = vec![("a".to_string(), "the first".to_string())];
    let legend = Picture { names: names.clone(), ..bars() };
    let along = Picture {
        names,
        x: "system".into(),
        panels: Some(vec!["shape".into(), "slo_ms".into()]),
        ..bars()
    };
    for picture in [legend, along] {
        let svg =
            crate::picture(&rows, &picture, &RowFilter::default()).expect("a figure").to_svg();
        assert!(svg.contains("first<") && !svg.contains(">a<"), "{svg:.2000}");
    }
}

/// Two predictions of one measured number, at each of some places.
fn predictions() -> Vec<Row> {
    let row = |i: u32, system: &str, off: f64| Row {
        paper: Some(f64::from(i)),
        ..samples::row("", &format!("at={i}"), system, "", f64::from(i) * off)
    };
    (1..=50).flat_map(|i| [row(i, "ours", 1.1), row(i, "bound", 0.9)]).collect()
}

#[test]
fn what_was_measured_is_drawn_once_and_what_is_relative_to_it_has_a_line_at_one() {
    let choice = RowFilter { beside: "measured".into(), ..RowFilter::default() };
    let of = Picture { x: "at".into(), ..named(PictureKind::Curves, &["finish_rate"]) };
    let drawn = |of: &Picture, choice: &RowFilter| {
        picture(&predictions(), of, choice).expect("a figure").to_svg()
    };
    let once = drawn(&of, &choice);
    assert_eq!(once.matches(">measured<").count(), 1);
    assert!(!once.contains(">simulated<"), "no table of systems");
    assert!(drawn(&of, &RowFilter::default()).contains(">simulated<"), "a paper's are of systems");
    let over =
        Picture { x: "paper".into(), joined: Some(Vec::new()), panels: Some(Vec::new()), ..of };
    let over = drawn(&over, &choice);
    assert!(over.contains(">measured = 1<") && over.contains(">measured finish rate<"), "{over}");
    assert!(over.matches("<polygon").count() >= 100, "nothing joins them: each has a marker");
}

#[test]
fn a_curve_of_many_points_has_no_markers_and_one_of_levels_no_slopes() {
    let svg = |value: &dyn Fn(u32) -> f64, n: u32| {
        let row = |i: u32| samples::row("", &format!("rate={i}"), "a", "", value(i));
        let rows: Vec<Row> = (0..n).map(row).collect();
        metric_by_axis(&rows, "rate", "finish_rate", &RowFilter::default()).expect("one").to_svg()
    };
    let markers = |svg: &str| svg.matches("<polygon").count();
    let sine = |i: u32| 0.5 + 0.4 * libm::sin(f64::from(i));
    assert_eq!((markers(&svg(&sine, 40)) >= 40, markers(&svg(&sine, 41))), (true, 0));
    // A level of 30 points and one of 31: with the corner four ends of straight parts.
    let line = svg(&|i| if i < 30 { 0.2 } else { 0.8 }, 61);
    let levels = svg(&|i| if i < 30 { 0.2 } else { 0.8 + 1e-13 * f64::from(i) }, 61);
    assert_eq!(line.len(), levels.len(), "rounding makes no slope");
}

#[test]
fn a_bar_without_a_value_says_so_where_its_system_was_run() {
    let mut rows = samples::grid();
    let at = rows.iter().position(|r| r.system == "b").expect("a row");
    rows[at].metric = "requests".into();
    rows[at].flag("diverging");
    let svg = crate::picture(&rows, &bars(), &RowFilter::default()).expect("a figure").to_svg();
    assert_eq!(svg.matches(">no value<").count(), 1);
    assert!(svg.contains("(diverging): 1 of"), "and why");
}

#[test]
fn a_policy_that_falls_behind_leaves_room_for_the_others() {
    let mut rows = samples::drops_most();
    for row in rows.iter_mut().filter(|r| r.policy == "keeps") {
        row.x *= 1000.0;
    }
    let svg = latency_cdf(&rows, "latency_ns", &RowFilter::default()).expect("a figure").to_svg();
    assert!(svg.contains("1 of 2 curves go on right of the axis, up to 80 s."), "{svg}");
}
