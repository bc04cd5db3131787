//! What a plan was asked, in words: its load, models, types and assumptions.

use crate::input::problem::Problem;
use crate::input::request_list::OfList;
use crate::search::answer::{money, percent, significant};
use crate::search::robust::USUAL;
use crate::search::solved::Solved;
use orrery_scenario::scenario::file::{Noise, RateBy};
use orrery_scenario::zoo::Zoo;

/// The load of each group, and what it was multiplied with.
pub fn load(solved: &Solved) -> String {
    let p = &solved.problem;
    let of = |(name, per_s): (&str, f64)| match solved.answers.len() {
        1 => format!("{} requests/s", significant(per_s)),
        _ => format!("{name} {}/s", significant(per_s)),
    };
    let mut lines: Vec<String> =
        solved.answers.iter().map(|a| of((a.group.as_str(), a.load_per_s))).collect();
    let growth = p.plan.growth.factor();
    if growth != 1.0 {
        let grown = p.list.map_or("", |list| list.grown());
        lines.push(format!("{growth} times what the scenario has{grown}"));
    }
    lines.extend(p.list.iter().map(of_list));
    if p.plan.day.is_some() {
        let how = match p.day.follows() {
            true => "machines are up when their step begins".to_string(),
            false => format!("one allocation for the whole {}", p.day.name()),
        };
        let (mean, day) = (percent(p.day.mean), p.day.name());
        lines.push(format!("that of the {day}'s peak, the mean is {mean} % of it; {how}"));
    }
    if p.plan.is_to_survive() {
        let kind = p.plan.may_lose_only();
        let what = kind.map(|kind| format!("one {}, and of no other machine", p.kind(kind)));
        let what = what.unwrap_or_else(|| "any one machine of each type".to_string());
        let kinds = (0..p.sales.len()).filter(|kind| p.counts_max[*kind] > 0 && p.lost(*kind) > 1);
        let whole: Vec<String> = kinds.map(|kind| p.machine(kind, p.lost(kind)).1).collect();
        let whole = match whole.as_slice() {
            [] => String::new(),
            some => format!("; a machine is {}, and all of it is lost", some.join(" or ")),
        };
        lines.push(format!("tolerates the loss of {what}{whole}"));
    }
    lines.join("\n")
}

/// How a list is replayed.
fn of_list(list: &OfList) -> String {
    let copies = match list.copies {
        1.0 => "the list itself".to_string(),
        copies => format!(
            "{} copies of the list, each shifted by the seed within {} s",
            significant(copies),
            significant(list.window_s)
        ),
    };
    match list.by {
        RateBy::Copies => format!("the load is {copies}; other loads are more or fewer copies"),
        RateBy::Speed => format!(
            "the load is {copies}, {} times as fast; other loads are as much faster",
            significant(list.speed)
        ),
    }
}

/// The models with their SLOs; the many that share one are counted.
pub fn models(p: &Problem) -> String {
    let mut by_slo: Vec<(f64, Vec<String>)> = Vec::new();
    for (name, ms) in p.slos_ms() {
        match by_slo.iter_mut().find(|(slo, _)| *slo == ms) {
            Some((_, names)) => names.push(name),
            None => by_slo.push((ms, vec![name])),
        }
    }
    let line = |(ms, names): &(f64, Vec<String>)| match names.len() {
        n if n > MANY => format!("{n} models from {} to {} within {ms} ms", names[0], names[n - 1]),
        _ => format!("{} within {ms} ms", names.join(" and ")),
    };
    by_slo.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// More names than these are counted in place of named.
const MANY: usize = 8;

/// Each type: how many there may be, what they cost, and where its latencies are from.
pub fn types(p: &Problem) -> String {
    let of = |kind: usize| {
        let packs = p.sales[kind].tariff.packs();
        let price = packs.iter().map(|pack| match pack.devices {
            1 => format!("{} $/h", money(pack.price)),
            n => format!("{n} for {} $/h", money(pack.price)),
        });
        let price: Vec<String> = price.collect();
        let (most, price) = (p.counts_max[kind], price.join(" or "));
        format!("at most {most} {} at {price} with {}", p.kind(kind), latencies(p, kind))
    };
    (0..p.sales.len()).map(of).collect::<Vec<_>>().join("\n")
}

/// Where the latencies of a type are from.
fn latencies(p: &Problem, kind: usize) -> String {
    let t = &p.plan.instance[kind];
    if let Some(zoo) = t.zoo.as_deref() {
        let what = Zoo::find(zoo).map_or("", |zoo| zoo.what);
        let what = what.split(';').next().unwrap_or_default();
        let gpu = t.gpu.as_deref();
        let sources = gpu.and_then(|gpu| Some(Zoo::find(zoo)?.sources(gpu)));
        let sources = sources.filter(|all| !all.is_empty());
        let sources = sources.map_or(String::new(), |all| format!(": {}", all.join(", ")));
        return format!("{what}{}", gpu.map_or(String::new(), |gpu| format!(" ({gpu}{sources})")));
    }
    if !t.latency_on.is_empty() {
        return "latencies of the plan's `latency_on`".to_string();
    }
    match t.speed {
        1.0 => "the scenario's latencies".to_string(),
        speed => format!("the scenario's latencies divided by {speed}"),
    }
}

/// The noise of the scenario itself.
pub fn noise(p: &Problem) -> String {
    let of_all = of_all(p);
    match p.groups.iter().any(|group| group.has_measured_noise()) {
        true => format!("by the `noise` of their models, which schedulers do not know\n{of_all}"),
        false => of_all,
    }
}

/// The noise of all models together.
fn of_all(p: &Problem) -> String {
    match p.groups.first().and_then(|group| group.noise()) {
        Some(Noise::Lognormal(sigma)) => {
            format!("by {} %, which schedulers do not know", percent(sigma))
        }
        Some(_) => "by the scenario's distribution, which schedulers do not know".to_string(),
        None if p.groups.iter().any(|group| group.is_sampled()) => {
            "as they were measured: each batch takes what one of its samples did".to_string()
        }
        None if p.groups.iter().any(|group| group.has_measured_noise()) => {
            "otherwise each batch takes what its profile says".to_string()
        }
        None => "not at all: each batch takes exactly what its profile says".to_string(),
    }
}

/// The changes under which the answer is tried.
pub fn robust(p: &Problem) -> String {
    let usual = || USUAL.map(|(text, _)| text.to_string()).to_vec();
    let texts = p.plan.robust.clone().unwrap_or_else(usual);
    let words = |text: &String| {
        let usual = USUAL.iter().find(|(own, _)| own == text);
        usual.map_or(text.clone(), |(_, words)| (*words).to_string())
    };
    match texts.as_slice() {
        [] => "nothing: the answer is for exactly these assumptions".to_string(),
        some => some.iter().map(words).collect::<Vec<_>>().join("\n"),
    }
}
