//! Each policy's parameters: their names, defaults and bounds.

use super::params::Params;
use crate::error::SpecError;
use orrery_sim::policy::pool::Learn;
use orrery_sim::policy::{
    clipper, clkwrk, clockwork, drs, eager, fifo, kairos, nexus, nexus_cluster, orloj, shepherd,
    symphony, timeout,
};
use orrery_sim::time::Span;

pub(super) fn fifo_config(p: &mut Params) -> Result<fifo::Config, SpecError> {
    Ok(fifo::Config {
        max_batch: p.count("max_batch", 16)?,
        drop_expired: p.flag("drop_expired", false)?,
    })
}

pub(super) fn clipper_config(p: &mut Params) -> Result<clipper::Config, SpecError> {
    let default = p.preset("adaptive", "aimd")?;
    let sizing = match p.word("sizing", default, &["adaptive", "aimd", "fixed"])? {
        "adaptive" => clipper::Sizing::Adaptive,
        "aimd" => clipper::Sizing::Aimd {
            step: p.count("step", 1)?,
            backoff: p.number("backoff", 0.9, 0.01..=0.99)?,
        },
        _ => clipper::Sizing::Fixed(p.count("size", 16)?),
    };
    let default_reply = p.flag("default_reply", true)?;
    Ok(clipper::Config { sizing, default_reply, max_batch: p.count("max_batch", 64)? })
}

fn drop_rule(p: &mut Params) -> Result<nexus::DropRule, SpecError> {
    let rules = ["sliding-window", "earliest", "elapsed", "none"];
    Ok(match p.word("drop", "sliding-window", &rules)? {
        "sliding-window" => nexus::DropRule::SlidingWindow,
        "earliest" => nexus::DropRule::Earliest,
        "elapsed" => nexus::DropRule::Elapsed,
        _ => nexus::DropRule::None,
    })
}

fn planned_batch(p: &mut Params) -> Result<Option<u32>, SpecError> {
    match p.take("batch") {
        None | Some("plan") => Ok(None),
        Some(text) => p.parse_count("batch", text).map(Some),
    }
}

pub(super) fn nexus_config(p: &mut Params) -> Result<nexus::Config, SpecError> {
    let (drop, batch) = (drop_rule(p)?, planned_batch(p)?);
    Ok(nexus::Config {
        drop,
        std_factor: p.number("std_factor", 1.0, 0.0..=10.0)?,
        profile_factor: p.number("profile_factor", 1.15, 0.01..=100.0)?,
        margin: p.span_ms("margin_ms", Span::from_ms(2))?,
        batch,
    })
}

pub(super) fn nexus_cluster_config(p: &mut Params) -> Result<nexus_cluster::Config, SpecError> {
    use nexus_cluster::{Config, Deal, Packing, Planning};
    let (base, packing) = match p.preset("adjust", "squishy")? {
        "adjust" => (Config::released(), "adjust"),
        _ => (Config::paper(), "squishy"),
    };
    let planning = match p.word("plan", "dynamic", &["dynamic", "static", "full"])? {
        "dynamic" => Planning::Dynamic,
        "static" => Planning::Static,
        _ => Planning::Full,
    };
    let packing = match p.word("packing", packing, &["adjust", "squishy"])? {
        "adjust" => Packing::Adjust,
        _ => Packing::Squishy,
    };
    let deal = match p.word("deal", "round-robin", &["round-robin", "random"])? {
        "round-robin" => Deal::RoundRobin,
        _ => Deal::Random,
    };
    Ok(Config {
        planning,
        packing,
        skew: p.number("skew", base.skew, 0.0..=10.0)?,
        beacon: positive_span_ms(p, "beacon_ms", base.beacon)?,
        epoch: positive_span_ms(p, "epoch_ms", base.epoch)?,
        early: positive_span_ms(p, "early_ms", base.early)?,
        history: p.count("history", base.history)?,
        margin: p.span_ms("margin_ms", base.margin)?,
        std_factor: p.number("std_factor", base.std_factor, 0.0..=10.0)?,
        profile_factor: p.number("profile_factor", base.profile_factor, 0.01..=100.0)?,
        batch: planned_batch(p)?,
        drop: drop_rule(p)?,
        frontends: p.count("frontends", base.frontends)?,
        deal,
        poll: Span::from_ns_f64(1e3 * p.number("poll_us", 0.0, 0.0..=1e6)?),
    })
}

/// A time of at least a microsecond.
fn positive_span_ms(p: &mut Params, key: &'static str, span: Span) -> Result<Span, SpecError> {
    Ok(Span::from_ms_f64(p.number(key, span.as_ms_f64(), 1e-3..=86_400e3)?))
}

pub(super) fn clockwork_config(p: &mut Params) -> Result<clockwork::Config, SpecError> {
    let mut config = clockwork::Config::released();
    if p.preset("released", "paper")? == "paper" {
        config.ahead = Span::from_ms(5);
        config.max_batch = 16;
    }
    config.estimator =
        match p.word("estimator", "p99-of-10", &["p99-of-10", "window-mean", "static-mean"])? {
            "p99-of-10" => clockwork::Estimator::P99Of10,
            "window-mean" => clockwork::Estimator::WindowMean,
            _ => clockwork::Estimator::StaticMean,
        };
    config.sizes = match p.word("sizes", "profile", &["profile", "all"])? {
        "profile" => clockwork::Sizes::Profile,
        _ => clockwork::Sizes::All,
    };
    Ok(clockwork::Config {
        estimator: config.estimator,
        sizes: config.sizes,
        ahead: p.span_ms("ahead_ms", config.ahead)?,
        width: p.span_ms("width_ms", config.width)?,
        buffer: p.span_ms("buffer_ms", config.buffer)?,
        lead: p.span_ms("lead_ms", config.lead)?,
        lag: p.span_ms("lag_ms", config.lag)?,
        max_batch: p.count("max_batch", config.max_batch)?,
        max_exec: p.span_ms("max_exec_ms", config.max_exec)?,
        probe: Span::from_ms_f64(1e3 * p.number("probe_s", 0.0, 0.0..=86_400.0)?),
    })
}

pub(super) fn orloj_config(p: &mut Params) -> Result<orloj::Config, SpecError> {
    let estimate = match p.word("estimate", "mean", &["mean", "quantile"])? {
        "mean" => orloj::Estimate::Mean,
        _ => orloj::Estimate::Quantile(p.number("quantile", 0.999, 0.0..=1.0)?),
    };
    let order = match p.word("order", "descending", &["descending", "ascending"])? {
        "descending" => orloj::SizeOrder::Descending,
        _ => orloj::SizeOrder::Ascending,
    };
    Ok(orloj::Config {
        estimate,
        order,
        b_per_ms: p.number("b_per_ms", 1e-4, 1e-12..=1e3)?,
        max_batch: p.count("max_batch", 16)?,
        max_exec: p.span_ms("max_exec_ms", Span::ZERO)?,
        relearn_every: p.parse_or("relearn_every", 0)?,
    })
}

pub(super) fn symphony_config(p: &mut Params) -> Result<symphony::Config, SpecError> {
    use symphony::{Choice, Dispatch, Gather};
    let paper = p.preset("released", "paper")? == "paper";
    let config = if paper { symphony::Config::paper() } else { symphony::Config::released() };
    let default = if paper { "head" } else { "window-drop" };
    let gather = match p.word("gather", default, &["window-drop", "head", "fcfs"])? {
        "window-drop" => Gather::WindowDrop,
        "head" => Gather::Head,
        _ => Gather::Fcfs,
    };
    let dispatches = ["frontrun", "eager", "latest", "timeout"];
    let dispatch = match p.word("dispatch", "frontrun", &dispatches)? {
        "frontrun" => Dispatch::Frontrun,
        "eager" => Dispatch::Eager,
        "latest" => Dispatch::Latest,
        _ => Dispatch::Timeout(p.number("timeout_pct", 0.0, 0.0..=100.0)?),
    };
    let default = if paper { "smallest-id" } else { "earliest-free" };
    let gpu = match p.word("gpu", default, &["earliest-free", "smallest-id"])? {
        "earliest-free" => Choice::EarliestFree,
        _ => Choice::SmallestId,
    };
    let sample_ms = p.number("sample_ms", config.sample.as_ms_f64(), 1e-3..=86_400e3)?;
    Ok(symphony::Config {
        gather,
        dispatch,
        gpu,
        ctrl: p.span_ms("ctrl_ms", config.ctrl)?,
        data: p.span_ms("data_ms", config.data)?,
        resp: p.span_ms("resp_ms", config.resp)?,
        jitter: p.span_ms("jitter_ms", config.jitter)?,
        margin: p.span_ms("margin_ms", config.margin)?,
        sample: Span::from_ms_f64(sample_ms),
        window: p.count("window", config.window)?,
        max_batch: p.count("max_batch", config.max_batch)?,
        stale_gpu_timer: p.flag("stale_gpu_timer", config.stale_gpu_timer)?,
    })
}

pub(super) fn shepherd_config(p: &mut Params) -> Result<shepherd::Config, SpecError> {
    let config = match p.preset("released", "paper")? {
        "paper" => shepherd::Config::paper(),
        _ => shepherd::Config::released(),
    };
    let default = match config.follow_up {
        shepherd::FollowUp::New => "new",
        shepherd::FollowUp::Preempted => "preempted",
    };
    let follow_up = match p.word("follow_up", default, &["new", "preempted"])? {
        "new" => shepherd::FollowUp::New,
        _ => shepherd::FollowUp::Preempted,
    };
    let default = match config.returns {
        shepherd::Return::AtOnce => "at-once",
        shepherd::Return::OnReport => "on-report",
    };
    let returns = match p.word("return", default, &["at-once", "on-report"])? {
        "at-once" => shepherd::Return::AtOnce,
        _ => shepherd::Return::OnReport,
    };
    Ok(shepherd::Config {
        // A batch that is stopped for one of its own size could be stopped for ever.
        factor: p.number("factor", config.factor, 1.01..=1e6)?,
        ctrl: p.span_ms("ctrl_ms", config.ctrl)?,
        data: p.span_ms("data_ms", config.data)?,
        follow_up,
        returns,
        expired_head_bug: p.flag("expired_head_bug", config.expired_head_bug)?,
        max_batch: p.count("max_batch", config.max_batch)?,
    })
}

pub(super) fn timeout_config(p: &mut Params) -> Result<timeout::Config, SpecError> {
    Ok(timeout::Config {
        max_batch: p.count("max_batch", 16)?,
        max_wait: p.span_ms("max_wait_ms", Span::from_ms(2))?,
        drop_expired: p.flag("drop_expired", false)?,
    })
}

pub(super) fn eager_config(p: &mut Params) -> Result<eager::Config, SpecError> {
    let gather = match p.word("gather", "head", &["head", "window"])? {
        "head" => eager::Gather::Head,
        _ => eager::Gather::Window,
    };
    Ok(eager::Config { max_batch: p.count("max_batch", 499)?, gather })
}

pub(super) fn kairos_config(p: &mut Params) -> Result<kairos::Config, SpecError> {
    let default = match p.preset("released", "paper")? {
        "paper" => kairos::Config::paper(),
        _ => kairos::Config::released(),
    };
    let learn = if default.learn == Learn::Online { "online" } else { "offline" };
    let rows = if default.rows == kairos::Rows::All { "all" } else { "twice" };
    let penalty = if default.penalty == kairos::Penalty::TenQos { "ten-qos" } else { "constants" };
    Ok(kairos::Config {
        learn: match p.word("learn", learn, &["offline", "online"])? {
            "offline" => Learn::Offline,
            _ => Learn::Online,
        },
        rows: match p.word("rows", rows, &["all", "twice"])? {
            "all" => kairos::Rows::All,
            _ => kairos::Rows::TwiceInstances,
        },
        penalty: match p.word("penalty", penalty, &["ten-qos", "constants"])? {
            "ten-qos" => kairos::Penalty::TenQos,
            _ => kairos::Penalty::Constants,
        },
        ties: match p.word("ties", "idle-first", &["idle-first", "listed"])? {
            "listed" => kairos::Ties::Listed,
            _ => kairos::Ties::IdleFirst,
        },
        hundredths: p.flag("hundredths", default.hundredths)?,
        whole_ms: p.flag("whole_ms", default.whole_ms)?,
        margin: p.number("margin", default.margin, 0.0..=0.9)?,
        noise: p.number("noise", default.noise, 0.0..=1.0)?,
    })
}

pub(super) fn drs_config(p: &mut Params) -> Result<drs::Config, SpecError> {
    Ok(drs::Config { threshold: p.count("threshold", 256)? })
}

pub(super) fn clkwrk_config(p: &mut Params) -> Result<clkwrk::Config, SpecError> {
    let choices = ["earliest-finish", "slowest-feasible"];
    let choice = match p.word("choice", "earliest-finish", &choices)? {
        "earliest-finish" => clkwrk::Choice::EarliestFinish,
        _ => clkwrk::Choice::SlowestFeasible,
    };
    Ok(clkwrk::Config { choice })
}
