//! What a solver refuses, in the words of the file that asked.

use super::problem::{Method, Named};
use orrery_scenario::SpecError;
use orrery_solvers::partition::PartitionError;

/// A solver's error in the words of the file.
pub(super) fn in_words(error: PartitionError, named: &Named, method: Method) -> SpecError {
    let key = |i: usize, what: &str| format!("model[{i}].{what}");
    let found = match &error {
        PartitionError::ModelNumber { model, .. }
        | PartitionError::NoSuchCluster { model, .. }
        | PartitionError::ModelTooLarge { model, .. }
        | PartitionError::ModelTooFast { model, .. } => {
            format!("`{}`: {error}", named.names[*model])
        }
        _ => error.to_string(),
    };
    let value = |key: String, allowed: &str, remedy: &str| {
        SpecError::value(key, found.clone(), allowed, remedy)
    };
    match error {
        PartitionError::NoClusters => {
            value("clusters".into(), "1 or more", "set the number of sub-clusters")
        }
        PartitionError::Number { what, allowed, .. } => {
            value(key_of(what).into(), allowed, "correct the number")
        }
        PartitionError::ModelNumber { model, what, .. } => {
            value(key(model, key_of(what)), "a finite number, at least 0", "correct the number")
        }
        PartitionError::NoSuchCluster { model, clusters, .. } => {
            let allowed = format!("from 0 to {}", clusters - 1);
            value(key(model, "current"), &allowed, "correct `current`, or raise `clusters`")
        }
        PartitionError::ModelTooLarge { model, .. } => {
            let remedy = "raise `memory_max_mb`, or remove the model";
            value(key(model, "static_mb"), "at most the memory of a backend", remedy)
        }
        PartitionError::ModelTooFast { model, .. } => {
            let remedy = "raise `rate_max_per_s`, or list the model twice with half its rate";
            value(key(model, "rate_per_s"), "at most the rate that a dispatcher sustains", remedy)
        }
        PartitionError::RateTooHigh { .. } => {
            let remedy = "raise `rate_max_per_s` or `clusters`";
            value("rate_max_per_s".into(), "limits that fit all models", remedy)
        }
        PartitionError::MemoryTooSmall { .. } => {
            let remedy = "raise `memory_max_mb` or `clusters`";
            value("memory_max_mb".into(), "limits that fit all models", remedy)
        }
        PartitionError::CostTooLow { .. } => {
            value("cost_max".into(), "at least the cost of the new models", "raise `cost_max`")
        }
        PartitionError::NotFound { .. } => {
            let remedy = match method {
                Method::Random => "use `method = \"local-search\"`, or loosen a limit",
                _ => "loosen a limit: `rate_max_per_s`, `memory_max_mb`, `cost_max` or `clusters`",
            };
            value("method".into(), "a problem that it can solve", remedy)
        }
        PartitionError::Infeasible => {
            let remedy = "loosen `rate_max_per_s`, `memory_max_mb`, `cost_max` or `clusters`";
            value("clusters".into(), "limits that some assignment can meet", remedy)
        }
    }
}

/// A number of the problem, as files call it.
fn key_of(what: &'static str) -> &'static str {
    match what {
        "rate" => "rate_per_s",
        "static_mem" => "static_mb",
        "dynamic_mem" => "dynamic_mb",
        "rate_max" => "rate_max_per_s",
        "memory_max" => "memory_max_mb",
        "memory_weight" => "weight",
        other => other,
    }
}
