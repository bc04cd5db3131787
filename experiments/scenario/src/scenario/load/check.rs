//! What must hold of `[arrivals]` and `[closed_loop]` before any file that they name is opened.
//!
//! The ranges of an arrival process are the library's own: its errors get their key here.

use crate::listed::slice;
use crate::scenario::file::{
    Arrivals, ClosedLoop, Inside, RateBy, ReplayArrivals, ScenarioFile, SpreadArrivals, Think,
    TraceArrivals, WorkloadArrivals,
};
use crate::scenario::process::steady_law;
use crate::scenario::value::{
    MS_MAX, S_MAX, at_key, duration_s, requests, span_ms, time_s, within, without_copy,
};
use orrery_run::error::{SpecError, known};
use orrery_sim::time::{Span, Time};
use orrery_traces::azure2019::Selection;
use orrery_traces::replayed::COPIES_MAX;
use orrery_traces::spread::Spread;

/// The most clients of a closed loop.
const CLIENTS_MAX: u64 = 1_000_000;
/// The words that choose a process.
const PROCESSES: &str = "constant, poisson, integer_poisson, gamma, mmpp, spread, trace, \
                         llm, workload or queries";

/// Checks the load of a file.
pub(crate) fn check(file: &ScenarioFile) -> Result<(), SpecError> {
    if file.arrivals.is_none() && file.closed_loop.is_none() {
        let allowed = "`[arrivals]`, `[closed_loop]` or both";
        let remedy =
            "add `[arrivals]` with `poisson = { rate_per_s = 100 }` and `requests = 10000`";
        return Err(SpecError::value("arrivals", "no load at all", allowed, remedy));
    }
    if let Some(arrivals) = &file.arrivals {
        open(file, arrivals)?;
    }
    if let Some(clients) = &file.closed_loop {
        closed(file, clients)?;
    }
    app_times(file)?;
    steps_within(file)
}

fn open(file: &ScenarioFile, arrivals: &Arrivals) -> Result<(), SpecError> {
    process(arrivals)?;
    requests("arrivals.requests", arrivals.requests)?;
    let until = duration_s("arrivals.duration_s", arrivals.duration_s)?;
    warm_up_before(file, "arrivals.duration_s", until)?;
    chosen(file, "arrivals.apps", arrivals.apps.as_deref())?;
    if let Some((law, name)) = steady_law(arrivals) {
        let start = law.start(0, 0);
        start.map_err(|e| at_key(&format!("arrivals.{name}"), e))?;
        let unbounded = arrivals.requests.is_none() && arrivals.duration_s.is_none();
        if unbounded && file.until_s.is_none() {
            return Err(endless("arrivals"));
        }
    } else if arrivals.per_app {
        let allowed = "`per_app` with constant, poisson, gamma or mmpp";
        let remedy = "remove it; a trace has `per_function`, and other files say who sends what";
        return Err(SpecError::value("arrivals.per_app", "true", allowed, remedy));
    }
    if let Some(shared) = &arrivals.spread {
        spread(file, arrivals, shared)?;
        let unbounded = arrivals.requests.is_none() && arrivals.duration_s.is_none();
        if unbounded && file.until_s.is_none() {
            return Err(endless("arrivals"));
        }
    }
    if let Some(trace) = &arrivals.trace {
        check_trace(trace)?;
    }
    if let Some(llm) = &arrivals.llm {
        span_ms("arrivals.llm.base_ms", llm.base_ms)?;
        span_ms("arrivals.llm.per_context_ms", llm.per_context_ms)?;
        span_ms("arrivals.llm.per_generated_ms", llm.per_generated_ms)?;
        slice("arrivals.llm.", llm.from_s, llm.to_s)?;
    }
    if let Some(queries) = &arrivals.queries {
        slice("arrivals.queries.", queries.from_s, queries.to_s)?;
    }
    if let Some(replay) = &arrivals.replay {
        check_replay(arrivals, replay)?;
    }
    arrivals.workload.as_ref().map_or(Ok(()), check_workload)
}

/// Who shares a rate and from when: its law, then the applications that share it and those beside them, by
/// number.
pub(crate) fn spread(
    file: &ScenarioFile,
    arrivals: &Arrivals,
    s: &SpreadArrivals,
) -> Result<(Spread, Vec<usize>, Vec<usize>), SpecError> {
    let key = "arrivals.spread";
    let every_s = within(&format!("{key}.every_s"), s.every_s, 1e-6, S_MAX)?;
    let spread = Spread {
        rate_per_s: s.rate_per_s,
        from: time_s(&format!("{key}.from_s"), s.from_s)?,
        every: Span::from_secs_f64(every_s),
        others_per_s: s.others_per_s,
    };
    let all = chosen(file, "arrivals.apps", arrivals.apps.as_deref())?;
    let others = match s.others.as_slice() {
        [] => Vec::new(),
        names => chosen(file, &format!("{key}.others"), Some(names))?,
    };
    let mut is_other = vec![false; file.app.len()];
    others.iter().for_each(|&i| is_other[i] = true);
    let sharing: Vec<usize> = all.into_iter().filter(|&i| !is_other[i]).collect();
    spread.check(sharing.len(), others.len()).map_err(|e| at_key(key, e))?;
    Ok((spread, sharing, others))
}

/// Exactly one process.
fn process(a: &Arrivals) -> Result<(), SpecError> {
    let given = [
        ("constant", a.constant.is_some()),
        ("poisson", a.poisson.is_some()),
        ("integer_poisson", a.integer_poisson.is_some()),
        ("gamma", a.gamma.is_some()),
        ("mmpp", a.mmpp.is_some()),
        ("spread", a.spread.is_some()),
        ("trace", a.trace.is_some()),
        ("llm", a.llm.is_some()),
        ("workload", a.workload.is_some()),
        ("queries", a.queries.is_some()),
    ];
    let given: Vec<&str> = given.iter().filter(|g| g.1).map(|g| g.0).collect();
    let allowed = || format!("exactly one of {PROCESSES}");
    match given.as_slice() {
        [_] => Ok(()),
        [] => {
            let remedy = "add one, such as `poisson = { rate_per_s = 100 }`";
            Err(SpecError::value("arrivals", "no process", allowed(), remedy))
        }
        several => {
            let remedy = "keep one; a closed loop beside it goes into `[closed_loop]`";
            Err(SpecError::value("arrivals", several.join(", "), allowed(), remedy))
        }
    }
}

fn endless(key: &str) -> SpecError {
    let allowed = "a limit, since this load never ends by itself";
    let remedy = format!(
        "add `requests = 10000` or `duration_s = 60` to `[{key}]`, or `until_s` at the top"
    );
    SpecError::value(key, "neither requests nor duration_s", allowed, remedy)
}

fn warm_up_before(file: &ScenarioFile, key: &str, until: Time) -> Result<(), SpecError> {
    if time_s("warm_up_s", file.warm_up_s)? < until {
        return Ok(());
    }
    let allowed = format!("less than `{key}`, which is {until}");
    let remedy = "lower warm_up_s or lengthen the run: no request would count";
    Err(SpecError::value("warm_up_s", file.warm_up_s, allowed, remedy))
}

/// The numbers of the applications of a name: one, or all copies.
fn named(file: &ScenarioFile, key: &str, name: &str) -> Result<Vec<usize>, SpecError> {
    let all: Vec<&str> = file.app.iter().map(|a| a.name.as_str()).collect();
    if let Some(one) = all.iter().position(|n| *n == name) {
        return Ok(vec![one]);
    }
    let copies: Vec<usize> = (0..all.len()).filter(|&i| without_copy(all[i]) == name).collect();
    if !copies.is_empty() {
        return Ok(copies);
    }
    // Copies are offered by the name of all of them.
    let mut names: Vec<&str> = all.iter().map(|n| without_copy(n)).collect();
    names.dedup();
    known(key, name, &names).map(|_| Vec::new())
}

/// The numbers of the applications that a list names; all without a list. The name of an application with
/// copies names all of them.
pub(crate) fn chosen(
    file: &ScenarioFile,
    key: &str,
    list: Option<&[String]>,
) -> Result<Vec<usize>, SpecError> {
    let Some(list) = list else { return Ok((0..file.app.len()).collect()) };
    let mut numbers = Vec::new();
    let mut seen = vec![false; file.app.len()];
    for (i, name) in list.iter().enumerate() {
        let key = format!("{key}[{i}]");
        for number in named(file, &key, name)? {
            if std::mem::replace(&mut seen[number], true) {
                let found = format!("`{name}` again");
                return Err(SpecError::value(key, found, "each application once", "remove one"));
            }
            numbers.push(number);
        }
    }
    if numbers.is_empty() {
        let remedy = "name applications, or remove `apps` to use all";
        return Err(SpecError::value(key, "none", "at least one application", remedy));
    }
    Ok(numbers)
}

fn check_trace(t: &TraceArrivals) -> Result<(), SpecError> {
    let key = |part: &str| format!("arrivals.trace.{part}");
    selection(&key("functions"), &t.functions)?;
    within(&key("compress"), t.compress, 1e-6, 1e6)?;
    if let Some(minutes) = t.minutes {
        within(&key("minutes"), f64::from(minutes), 1.0, 1e6)?;
    }
    if let Some(rate) = t.rate_per_s {
        within(&key("rate_per_s"), rate, 1e-9, 1e9)?;
    }
    if let Some(factor) = t.rate_factor {
        within(&key("rate_factor"), factor, 1e-9, 1e9)?;
        if t.rate_per_s.is_some() {
            let allowed = "rate_per_s or rate_factor, not both";
            return Err(SpecError::value(key("rate_factor"), factor, allowed, "remove one"));
        }
    }
    within(&key("sigma"), t.sigma, 0.0, 5.0)?;
    if t.sigma != 1.0 && t.rule.is_none() {
        let remedy = "add `rule = \"azure-46000\"`, or remove `sigma`";
        return Err(SpecError::value(key("sigma"), t.sigma, "`sigma` with a `rule`", remedy));
    }
    let dealt = t.order.is_some() || t.rule.is_some();
    if dealt && t.per_function {
        let (allowed, remedy) = ("`per_function`, or `order` and `rule`", "remove per_function");
        return Err(SpecError::value(key("per_function"), "true", allowed, remedy));
    }
    if dealt && t.inside == Inside::Even {
        let allowed = "`poisson` where functions are dealt out in blocks";
        return Err(SpecError::value(key("inside"), "`even`", allowed, "remove inside"));
    }
    Ok(())
}

/// The functions of a trace, from `all`, `without-top:N`, `ranks:A-B` or `trigger:NAME`.
///
/// # Errors
/// When the text is none of these.
pub fn selection(key: &str, text: &str) -> Result<Selection, SpecError> {
    let wrong = || {
        let allowed = "all, without-top:N, ranks:A-B or trigger:NAME";
        SpecError::value(key, format!("`{text}`"), allowed, "correct the selection")
    };
    let number = |t: &str| t.parse::<usize>().map_err(|_| wrong());
    let (kind, rest) = text.split_once(':').unwrap_or((text, ""));
    Ok(match kind {
        "all" if rest.is_empty() => Selection::All,
        "without-top" => Selection::WithoutTop(number(rest)?),
        "ranks" => {
            let (first, last) = rest.split_once('-').ok_or_else(wrong)?;
            Selection::Ranks { first: number(first)?, last: number(last)? }
        }
        "trigger" if !rest.is_empty() => Selection::Trigger(rest.to_string()),
        _ => return Err(wrong()),
    })
}

fn check_workload(w: &WorkloadArrivals) -> Result<(), SpecError> {
    let key = |part: &str| format!("arrivals.workload.{part}");
    let rows = w.from_row.is_some() || w.to_row.is_some();
    if rows && (w.from_s.is_some() || w.to_s.is_some()) {
        let allowed = "a part by rows or by time, not both";
        let remedy = "remove from_row and to_row, or from_s and to_s";
        return Err(SpecError::value(key("from_row"), "rows and times", allowed, remedy));
    }
    slice("arrivals.workload.", w.from_s, w.to_s)?;
    let from_row = w.from_row.unwrap_or(0);
    if let Some(to_row) = w.to_row.filter(|to| *to <= from_row) {
        let allowed = format!("more than from_row, which is {from_row}");
        return Err(SpecError::value(key("to_row"), to_row, allowed, "raise to_row"));
    }
    Ok(())
}

fn check_replay(a: &Arrivals, replay: &ReplayArrivals) -> Result<(), SpecError> {
    let key = |part: &str| format!("arrivals.replay.{part}");
    if a.workload.is_none() && a.queries.is_none() && a.llm.is_none() {
        let allowed = "`replay` beside a list: workload, queries or llm";
        let remedy = "remove it; other processes have a rate of their own";
        return Err(SpecError::value("arrivals.replay", "arrivals from no list", allowed, remedy));
    }
    let (varied, given) = match replay.rate_by {
        RateBy::Copies => ("copies", replay.copies),
        RateBy::Speed => ("speed", replay.speed),
    };
    if given.is_some() && replay.rate_per_s.is_some() {
        let allowed = format!("{varied} or rate_per_s, not both: the rate says how much it is");
        return Err(SpecError::value(key(varied), "both", allowed, "remove one"));
    }
    within(&key("copies"), replay.copies.unwrap_or(1.0), 1e-6, COPIES_MAX)?;
    within(&key("speed"), replay.speed.unwrap_or(1.0), 1e-6, 1e6)?;
    within(&key("shift_s"), replay.shift_s(), 1e-6, S_MAX)?;
    within(&key("rate_per_s"), replay.rate_per_s.unwrap_or(1.0), 1e-9, 1e9)?;
    within(&key("times"), replay.times as f64, 1.0, 1e6)?;
    within(&key("block_s"), replay.block_s.unwrap_or(1.0), 1e-6, S_MAX)?;
    Ok(())
}

fn closed(file: &ScenarioFile, c: &ClosedLoop) -> Result<(), SpecError> {
    within("closed_loop.clients", f64::from(c.clients), 1.0, 1e6)?;
    requests("closed_loop.requests", c.requests)?;
    let until = duration_s("closed_loop.duration_s", c.duration_s)?;
    if file.arrivals.is_none() {
        warm_up_before(file, "closed_loop.duration_s", until)?;
    }
    span_ms("closed_loop.ramp_ms", c.ramp_ms)?;
    clients_of(file, c, &chosen(file, "closed_loop.apps", c.apps.as_deref())?)?;
    let (key, ms) = match c.think {
        Think::ConstantMs(ms) => ("closed_loop.think.constant_ms", ms),
        Think::ExponentialMs(ms) => ("closed_loop.think.exponential_ms", ms),
    };
    within(key, ms, 0.0, MS_MAX)?;
    // Without a pause, a client without think time would send for ever in the instant in which its requests
    // are refused.
    within("closed_loop.pause_ms", c.pause_ms, 1e-6, MS_MAX)?;
    if c.requests.is_none() && c.duration_s.is_none() && file.until_s.is_none() {
        return Err(endless("closed_loop"));
    }
    Ok(())
}

/// The clients of each application among those that are chosen.
pub(crate) fn clients_of(
    file: &ScenarioFile,
    c: &ClosedLoop,
    chosen: &[usize],
) -> Result<Vec<u32>, SpecError> {
    if let (false, Some(name)) = (c.per_app, c.clients_of.keys().next()) {
        let key = format!("closed_loop.clients_of.{name}");
        let allowed = "clients of an application with `per_app = true`";
        let remedy = "add `per_app = true` to `[closed_loop]`, or remove `clients_of`";
        return Err(SpecError::value(key, c.clients_of[name], allowed, remedy));
    }
    let mut counts = vec![c.clients; chosen.len()];
    let mut own = vec![false; chosen.len()];
    for (name, &n) in &c.clients_of {
        let key = format!("closed_loop.clients_of.{name}");
        within(&key, f64::from(n), 1.0, 1e6)?;
        for number in named(file, &key, name)? {
            let Some(at) = chosen.iter().position(|i| *i == number) else {
                let app = &file.app[number].name;
                let found = format!("{n} clients of `{app}`, which sends nothing in the loop");
                let allowed = "applications that `closed_loop.apps` names";
                let remedy = format!("add `{name}` to `closed_loop.apps`, or remove it here");
                return Err(SpecError::value(key, found, allowed, remedy));
            };
            // A copy's own number goes before that of all copies.
            let exact = file.app[number].name == *name;
            if exact || !own[at] {
                counts[at] = n;
            }
            own[at] |= exact;
        }
    }
    let all: u64 = counts.iter().map(|&n| u64::from(n)).sum();
    if c.per_app && all > CLIENTS_MAX {
        let found = format!("{all} clients of {} applications", chosen.len());
        let allowed = format!("at most {CLIENTS_MAX} clients");
        let remedy = "lower `clients`, or name fewer `apps`";
        return Err(SpecError::value("closed_loop.clients", found, allowed, remedy));
    }
    Ok(counts)
}

/// The last step of each `slo_steps` begins before the load ends.
fn steps_within(file: &ScenarioFile) -> Result<(), SpecError> {
    let open = file.arrivals.as_ref().map(|a| a.duration_s);
    let closed = file.closed_loop.as_ref().map(|c| c.duration_s);
    let loads = open.into_iter().chain(closed);
    let load = loads.map(|s| s.unwrap_or(f64::INFINITY)).fold(0.0, f64::max);
    let end_s = load.min(file.until_s.unwrap_or(f64::INFINITY));
    let models = file.model.iter().enumerate().map(|(i, m)| ("model", i, m.slo_steps));
    let apps = file.app.iter().enumerate().map(|(i, a)| ("app", i, a.slo_steps));
    for (list, i, steps) in models.chain(apps) {
        let Some(steps) = steps else { continue };
        let key = format!("{list}[{i}].slo_steps");
        let begins = steps.steps(&key)?.last_begins();
        if end_s.is_finite() && begins >= time_s(&key, end_s)? {
            let found = format!("{} steps of {} s", steps.count, steps.every_s);
            let allowed = format!("steps that begin before the load ends, at {end_s} s");
            let remedy =
                "lower `count` or `every_s`, or lengthen the load (`duration_s`, `until_s`)";
            return Err(SpecError::value(format!("{key}.count"), found, allowed, remedy));
        }
    }
    let carried = file.arrivals.as_ref().and_then(|a| a.workload.as_ref());
    let stepped = |m: &str| file.model.iter().any(|o| o.name == m && o.slo_steps.is_some());
    if carried.is_some_and(|w| !w.scenario_slos)
        && let Some(i) = (0..file.app.len()).find(|&i| {
            let app = &file.app[i];
            app.slo_steps.is_some() || (app.slo_ms.is_none() && stepped(&app.model))
        })
    {
        let found = format!("steps for `{}`, whose requests bring SLOs", file.app[i].name);
        let remedy = "add `scenario_slos = true` to `arrivals.workload`, or remove the steps";
        let allowed = "`slo_steps` where the scenario sets the SLOs";
        return Err(SpecError::value(format!("app[{i}].slo_steps"), found, allowed, remedy));
    }
    Ok(())
}

/// Execution times may be missing only where the arrivals carry them.
fn app_times(file: &ScenarioFile) -> Result<(), SpecError> {
    let carried = file.arrivals.as_ref().map_or(Vec::new(), |a| carried(file, a));
    for (i, app) in file.app.iter().enumerate() {
        if app.time.is_none() && !carried.contains(&i) {
            let allowed =
                "a distribution of execution times, such as `{ constant = { ms = 5.0 } }`";
            let remedy =
                "add `time`; only arrivals from `llm`, `workload` or `queries` bring their own";
            return Err(SpecError::value(format!("app[{i}].time"), "nothing", allowed, remedy));
        }
    }
    Ok(())
}

/// The applications whose execution times come with the arrivals.
pub(crate) fn carried(file: &ScenarioFile, arrivals: &Arrivals) -> Vec<usize> {
    let all = || chosen(file, "arrivals.apps", arrivals.apps.as_deref()).unwrap_or_default();
    match (&arrivals.llm, &arrivals.workload) {
        _ if arrivals.queries.is_some() => all().into_iter().take(1).collect(),
        (Some(_), _) => all().into_iter().take(1).collect(),
        (_, Some(_)) => (0..file.app.len()).collect(),
        _ => Vec::new(),
    }
}
