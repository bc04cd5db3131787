//! What must be known before figures are believed, a sentence each.

use super::goodput::FLAGS;
use super::rows::seeds_of;
use super::scenario_cell::Subject;
use orrery_report::say;
use orrery_results::{Flags, Row, metric};
use orrery_run::PolicySpec;
use orrery_run::policies::batch_unit;
use orrery_scenario::Scenario;
use orrery_scenario::scenario::caveats::CAVEATS;
use orrery_sim::metrics::LEAST_ARRIVALS;

/// What flags of a run say.
const SAYS: [(&str, &str); 8] = [
    (
        Flags::FEW_SAMPLES,
        "?: not enough samples for a reliable quantile (p99 needs 662, MLPerf's early-stopping bound).",
    ),
    (
        Flags::CORRELATED,
        "correlated: neighbouring batches still depend on each other; intervals may be too narrow. Run longer.",
    ),
    (
        Flags::DIVERGING,
        "diverging: the number of requests in the system was still growing when arrivals ended; results depend on the run's length.",
    ),
    (
        Flags::LATE_START,
        "late-start: no request came in the first part of the measured time, more than a tenth of it; goodput and \
         utilisation are averages over that part too. Times count from the start of the run: choose a slice of the \
         list, or subtract its first time.",
    ),
    (
        Flags::DRAIN,
        "drain: no request came in the last part of the measured time, more than a tenth of it; goodput and utilisation are \
         averages over that part too. Run longer, or stop with the arrivals (`until_s`).",
    ),
    (
        Flags::STUCK,
        "stuck: for more than 100 SLOs requests came, every device was idle, and the policy ran nothing. It has locked \
         itself, or cannot run this scenario; `orrery log explain` says why a request was dropped.",
    ),
    (Flags::PENDING, "pending: requests were still in the system when the run stopped."),
    (Flags::WIDE, "wide: the interval was still too wide when the limit of seeds was reached."),
];

/// Says which policies may take hours: better before than after.
pub fn say_slow<'a, S: Subject<Policy: 'a>>(policies: impl IntoIterator<Item = &'a S::Policy>) {
    let slow = policies.into_iter().filter_map(S::why_slow);
    slow.for_each(|why| say(&format!("slow: {why}")));
}

/// How intervals were made, seeds and warm-up, and what each flag of the rows says.
pub fn notes_of(rows: &[Row]) -> Vec<String> {
    let mut out = Vec::new();
    let intervals = rows.iter().filter(|r| !r.ci_method.is_empty() && r.versus.is_empty());
    let methods = distinct(intervals.map(|r| r.ci_method.as_str()));
    if !methods.is_empty() {
        out.push(format!("95 % confidence intervals by {}.", methods.join(" and ")));
    }
    if let Some(row) = rows.iter().find(|row| !row.seeds.is_empty()) {
        let warm_up = match row.warm_up.as_str() {
            "" => String::new(),
            said => format!(" Warm-up: {said}."),
        };
        out.push(format!("Seeds: {}.{warm_up}", seeds_of(rows)));
    }
    out.extend(of_batches(rows));
    out.extend(of_devices(rows));
    out.extend(flags_of(rows));
    out.extend(too_short(rows));
    out
}

/// A cluster flaps where more devices than this were asked for and released an hour, for each that was up.
const FLAPS_PER_H: f64 = 1.0;
/// Fewer changes are no flapping.
const FLAPS_LEAST: f64 = 10.0;
/// Numbers of devices that differ by more are not compared without a word.
const UNEQUAL: f64 = 1.05;

/// What is said of clusters that come and go.
fn of_devices(rows: &[Row]) -> Vec<String> {
    let mut out = Vec::new();
    let (mut flapping, mut up): (Vec<&str>, Vec<(&str, f64)>) = (Vec::new(), Vec::new());
    for cell in rows.chunk_by(|a, b| a.axes == b.axes && a.policy == b.policy) {
        let of = |metric: &str| {
            let is_it = |r: &&Row| r.scope == "all" && r.metric == metric && r.versus.is_empty();
            cell.iter().find(is_it)?.value
        };
        let Some(mean) = of(metric::DEVICES_UP) else { continue };
        up.push((&cell[0].policy, mean));
        let both = [metric::ASKED_DEVICES, metric::RELEASED_DEVICES].map(|m| of(m).unwrap_or(0.0));
        let turns = both[0].min(both[1]);
        let hours = of(metric::REQUESTS).zip(of(metric::GOODPUT)).zip(of(metric::FINISH_RATE));
        let hours = hours.map_or(0.0, |((n, good), rate)| n * rate / good / 3600.0);
        if turns >= FLAPS_LEAST && turns > FLAPS_PER_H * hours * mean {
            flapping.push(&cell[0].policy);
        }
    }
    let flapping = distinct(flapping.into_iter()).join(", ");
    if !flapping.is_empty() {
        out.push(format!(
            "flapping: more devices were asked for and released than were up, each hour: raise `every_s` of \
             `[autoscale]`, or begin with more. ({flapping})"
        ));
    }
    let ends = up.iter().map(|u| (u.1, u.1)).reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)));
    if ends.is_some_and(|(least, most)| most > UNEQUAL * least)
        && rows.iter().all(|r| r.axes == rows[0].axes)
    {
        let each: Vec<String> = up.iter().map(|(p, n)| format!("{p} {n:.1}")).collect();
        out.push(format!(
            "policies are compared at unequal cost; devices up in the mean: {}.",
            each.join(", ")
        ));
    }
    out
}

/// What is said of the batches of a run: their items, where requests have several, and sizes that were not measured.
pub fn of_batches(rows: &[Row]) -> Vec<String> {
    let is_own = |r: &&Row| r.metric == metric::LARGEST_BATCH && r.versus.is_empty();
    let mut largest: Vec<(&str, f64)> = Vec::new();
    for row in rows.iter().filter(is_own) {
        let items = row.value.unwrap_or(0.0);
        match largest.iter_mut().find(|l| l.0 == row.policy) {
            Some(known) => known.1 = known.1.max(items),
            None => largest.push((&row.policy, items)),
        }
    }
    let words = largest.into_iter().map(|(policy, items)| {
        let unit = PolicySpec::parse(policy).ok().and_then(|p| batch_unit(&p));
        let counts = unit.map_or(String::new(), |unit| format!("; `max_batch` counts {unit}"));
        format!("requests have several items: the largest batch has {items:.0}{counts}. ({policy})")
    });
    words.chain(unmeasured(rows)).collect()
}

/// What is said of batches whose size was not measured, of each policy that made some.
fn unmeasured(rows: &[Row]) -> Vec<String> {
    let mut out = Vec::new();
    for metric in metric::UNMEASURED {
        let is_own = |r: &&Row| r.metric == metric && r.versus.is_empty();
        let known = rows.iter().filter(is_own).filter_map(|row| {
            let sizes = row.flags.split(' ').find_map(|flag| flag.strip_prefix("sizes:"))?;
            let (least, most) = sizes.split_once('-')?;
            let sizes: (u32, u32) = (least.parse().ok()?, most.parse().ok()?);
            Some((&*row.policy, (row.value?, row.value?), sizes))
        });
        let known: Vec<_> = known.collect();
        for policy in distinct(known.iter().map(|k| k.0)) {
            let own = known.iter().filter(|k| k.0 == policy).map(|k| (k.1, k.2));
            let both = own.reduce(|(a, c), (b, d)| {
                ((a.0.min(b.0), a.1.max(b.1)), (c.0.min(d.0), c.1.max(d.1)))
            });
            let words = both.map(|(share, sizes)| unmeasured_in_words(metric, share, sizes));
            out.extend(words.map(|words| format!("{words} ({policy})")));
        }
    }
    out
}

/// The same from the least and the largest share, and the least and the largest size.
pub fn unmeasured_in_words(metric: &str, share: (f64, f64), sizes: (u32, u32)) -> String {
    let range = |a: String, b: String| if a == b { a } else { format!("{a} to {b}") };
    let sizes = range(sizes.0.to_string(), sizes.1.to_string());
    let percent = |share: f64| format!("{:.1}", 100.0 * share);
    let share = range(percent(share.0), percent(share.1));
    let are_charged = match metric {
        metric::INTERPOLATED => {
            "were not measured: a line between the measured sizes says what they take (`between = \"linear\"`; \
             `\"next\"` charges each as the next larger one)"
        }
        metric::ROUNDED_UP => {
            "were not measured: each is charged as the next larger measured size (`between = \"next\"`)"
        }
        _ => {
            "are larger than all that were measured: each is charged in proportion to the largest. Measure them, or \
             lower the limit of a batch"
        }
    };
    format!("batches of {sizes}, {share} % of all, {are_charged}.")
}

/// Below this finish rate a reader asks whether a run is overloaded.
const POOR: f64 = 0.9;

/// Policies that missed deadlines in a run too short to say whether its backlog grew.
fn too_short(rows: &[Row]) -> Option<String> {
    let is_of = |r: &&Row, name: &str| r.scope == "all" && r.metric == name && r.versus.is_empty();
    let cells = rows.chunk_by(|a, b| a.axes == b.axes && a.policy == b.policy);
    let short = cells.filter_map(|cell| {
        let value = |name: &str| cell.iter().find(|r| is_of(r, name))?.value;
        let is_poor = value(metric::FINISH_RATE)? < POOR;
        let is_short = value(metric::REQUESTS)? < LEAST_ARRIVALS as f64;
        (is_poor && is_short).then_some(&*cell[0].policy)
    });
    let policies = distinct(short).join(", ");
    (!policies.is_empty()).then(|| {
        format!(
            "fewer than {LEAST_ARRIVALS} requests are too few to say whether the backlog was growing (`diverging`): \
             run longer. ({policies})"
        )
    })
}

/// What is to know of the files that a run's scenario names, and the same of its rows.
pub fn notes_of_run(scenario: &Scenario, rows: &[Row]) -> Vec<String> {
    scenario.notes().into_iter().chain(notes_of(rows)).collect()
}

/// What each flag of the rows says, and of which policies.
pub fn flags_of(rows: &[Row]) -> Vec<String> {
    let searched = FLAGS.into_iter().filter(|f| f.0 != Flags::DIVERGING);
    said_of(rows, SAYS.into_iter().chain(searched).chain(CAVEATS))
}

/// Of these flags, [`CAVEATS`] alone.
pub fn caveats_of(rows: &[Row]) -> Vec<String> {
    said_of(rows, CAVEATS.into_iter())
}

type Saying = (&'static str, &'static str);

fn said_of(rows: &[Row], flags: impl Iterator<Item = Saying>) -> Vec<String> {
    let flagged: Vec<&Row> = rows.iter().filter(|r| !r.flags.is_empty()).collect();
    let says = flags.filter_map(|(flag, says)| {
        let flagged = flagged.iter().filter(|r| r.has_flag(flag));
        let policies = distinct(flagged.map(|r| r.policy.as_str()));
        let is_named = says.starts_with(flag) || says.starts_with('?');
        let named = if is_named { String::new() } else { format!("{flag}: ") };
        (!policies.is_empty()).then(|| format!("{named}{says} ({})", policies.join(", ")))
    });
    says.collect()
}

/// Each word once, in the order in which they come.
pub fn distinct<'a>(words: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    orrery_results::distinct(words.filter(|w| !w.is_empty()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario_cell::Subject;

    #[test]
    fn a_short_run_that_misses_deadlines_says_that_its_backlog_was_not_judged() {
        let row = |metric: &str, value| Row {
            scope: "all".into(),
            policy: "fifo".into(),
            metric: metric.into(),
            value: Some(value),
            ..Row::default()
        };
        let of = |n, rate| too_short(&[row(metric::REQUESTS, n), row(metric::FINISH_RATE, rate)]);
        assert!(of(1999.0, 0.2).is_some_and(|note| note.contains("fewer than 2000 requests")));
        assert_eq!([of(1999.0, 0.95), of(2000.0, 0.2)], [None, None]);
    }

    #[test]
    fn a_cluster_that_comes_and_goes_says_how_large_it_was_and_whether_it_flaps() {
        let text = |every_s: f64| {
            format!(
                "policies = [\"fifo[max_batch=1]\"]\narrivals = {{ poisson = {{ rate_per_s = 50.0 }}, duration_s = 200 }}\n\
                 autoscale = {{ every_s = {every_s}, startup_s = 1.0, most = 50 }}\n\
                 [[model]]\nname = \"m\"\nslo_ms = 150\nlatency = {{ affine = {{ alpha_ms = 0.1, beta_ms = 100.0 }} }}\n\
                 [[app]]\nname = \"a\"\nmodel = \"m\"\n"
            )
        };
        let note = |every_s: f64| {
            let scenario = Scenario::from_text("s.toml", &text(every_s)).unwrap();
            let policy = scenario.policies().unwrap().remove(0);
            let run = Subject::one(&scenario, &policy, 1).unwrap();
            let value = |metric| run.value("all", metric).unwrap();
            let (mean, most) = (value(metric::DEVICES_UP), value(metric::DEVICES_UP_MAX));
            assert!(mean > 1.0 && mean <= most && most <= 50.0, "{mean} {most}");
            // What was asked for and not given back is there at the end, with the one that was there.
            assert!(1.0 + value(metric::ASKED_DEVICES) - value(metric::RELEASED_DEVICES) <= most);
            let seeds = crate::seeds::Seeds { first: 1, count: 1, until_ci: None };
            let place = Row { policy: policy.text().into(), ..Row::default() };
            of_devices(&crate::rows::rows(&place, &seeds, &[run])).join(" ")
        };
        assert!(note(0.5).starts_with("flapping: "));
        assert_eq!(note(100.0), "");
    }

    /// Over all policies with a limit: no batch has more of what its parameter's unit says, and the run says which.
    #[test]
    fn a_limit_of_batches_counts_what_its_parameter_says_and_the_run_says_so() {
        let text = |policy: &str| {
            format!(
                "policies = [\"{policy}\"]\narrivals = {{ poisson = {{ rate_per_s = 600.0 }}, requests = 400 }}\n\
                 [[device]]\ncan_preempt = true\n\
                 [[model]]\nname = \"m\"\nslo_ms = 400\nlatency = {{ affine = {{ alpha_ms = 1.0, beta_ms = 9.0 }} }}\n\
                 [[app]]\nname = \"a\"\nmodel = \"m\"\nsize = 4\n"
            )
        };
        let mut units = Vec::new();
        for table in orrery_run::policies::all() {
            let Ok(policy) = PolicySpec::parse(&format!("{}[max_batch=8]", table.about.name))
            else {
                continue;
            };
            let scenario = Scenario::from_text("s.toml", &text(policy.text())).unwrap();
            let run = Subject::one(&scenario, &policy, 1).unwrap();
            let place = Row { policy: policy.text().into(), ..Row::default() };
            let rows = crate::rows::rows(
                &place,
                &crate::seeds::Seeds { first: 1, count: 1, until_ci: None },
                &[run],
            );
            let unit = batch_unit(&policy).unwrap();
            let most = if unit == "items" { 8.0 } else { 32.0 };
            let largest = rows.iter().find(|r| r.metric == metric::LARGEST_BATCH).unwrap();
            assert!(largest.value.unwrap() <= most, "{}: {largest:?}", policy.text());
            let note = of_batches(&rows).join(" ");
            let says = format!("has {}; `max_batch` counts {unit}", largest.value.unwrap());
            assert!(note.contains(&says), "{note}");
            units.push((table.about.name, unit, largest.value.unwrap()));
        }
        assert!(units.contains(&("timeout", "items", 8.0)), "{units:?}");
        assert!(units.contains(&("fifo", "requests", 32.0)), "{units:?}");
    }
}
