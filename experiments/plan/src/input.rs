//! What is asked: the plan file, the scenario, prices and loads that it names, checked and made into a `Problem`.
//!
//! Nothing is simulated here.

pub(crate) mod day;
pub(crate) mod devices;
pub(crate) mod file;
pub(crate) mod forms;
pub(crate) mod growth;
pub(crate) mod loss;
pub(crate) mod model_parts;
pub(crate) mod one_line;
pub(crate) mod origin;
pub(crate) mod perturbation;
pub(crate) mod prices;
pub(crate) mod problem;
pub(crate) mod repeated;
pub(crate) mod request_list;
pub(crate) mod simulation_cache;
pub(crate) mod trace_day;
pub(crate) mod trace_step;
pub(crate) mod watcher;
pub(crate) mod what_if;
