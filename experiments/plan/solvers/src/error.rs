//! What can be wrong with a catalogue, a profile or a request to plan.

use thiserror::Error;

/// Why there is no plan. Each says what was found, what is allowed and what helps.
#[derive(Clone, Debug, Error, PartialEq)]
#[allow(missing_docs)]
pub enum PlannerError {
    #[error("the catalogue is empty; name at least one instance type")]
    EmptyCatalogue,

    #[error("instance type `{name}` is in the catalogue twice; give each type one entry")]
    TwiceInCatalogue { name: String },

    #[error(
        "no base type in the catalogue ({names}); exactly one type must be the base, one that \
         meets the QoS target at every query size"
    )]
    NoBase { names: String },

    #[error(
        "`{first}` and `{second}` are both base types; exactly one must be, the others are \
         auxiliary"
    )]
    TwoBases { first: String, second: String },

    #[error("`{what}` is {value}; it must be a number of dollars per hour from 0 to {most}")]
    Price { what: String, value: f64, most: f64 },

    #[error("nothing of `{name}` is for sale; name at least one pack, of one device or more")]
    NoPack { name: String },

    #[error("the budget is 0; it must be above 0 dollars per hour")]
    ZeroBudget,

    #[error(
        "the budget of {budget} $/h pays for no base instance: `{name}` costs {price} $/h; raise \
         the budget or choose a cheaper base type"
    )]
    BudgetBelowBase { budget: String, name: String, price: String },

    #[error("`max_count` of the base type `{name}` is 0; it must be at least 1")]
    NoBaseAllowed { name: String },

    #[error(
        "more than {most} pools are within the budget; lower the budget or the types' `max_count`"
    )]
    TooManyPools { most: usize },

    #[error("no pool is left to choose from; loosen the filter")]
    NoPools,

    #[error("pool {pool} is not among the pools searched")]
    NotInSpace { pool: String },

    #[error("`{what}` is {value}; it must be {allowed}")]
    Number { what: &'static str, value: f64, allowed: &'static str },

    #[error("{found} {what} for {expected} {of}; one is needed for each")]
    Length { what: &'static str, found: usize, expected: usize, of: &'static str },

    #[error(
        "`{name}` is {}; an auxiliary type has ingredients of its own, the base type has none",
        if *.is_base { "the base type and has ingredients" } else { "an auxiliary type and has none" }
    )]
    Auxiliary { name: String, is_base: bool },

    #[error("there are no query sizes; give at least one size with a weight above 0")]
    NoSizes,

    #[error("query size {size} has the weight {weight}; weights are finite numbers, at least 0")]
    Weight { size: u32, weight: f64 },

    #[error("a query size of 0; sizes are whole numbers, at least 1")]
    ZeroSize,

    #[error("the profile of `{name}` has no sizes; measure its latency at each query size")]
    EmptyProfile { name: String },

    #[error(
        "the profile of `{name}` has size {size} {times}; measure each size once, with at least \
         one sample above 0 ns"
    )]
    ProfileSize { name: String, size: u32, times: &'static str },

    #[error(
        "the profile of `{name}` has a hole: size {size} is measured for `{other}` but not for \
         `{name}`; measure it"
    )]
    ProfileHole { name: String, size: u32, other: String },

    #[error(
        "queries of size {size} are beyond the profile, which ends at {largest}; measure larger sizes or limit the query sizes; nothing is extrapolated"
    )]
    BeyondProfile { size: u32, largest: u32 },

    #[error(
        "no query fits `{name}`: the smallest, of size {size}, takes {median_ms} ms in the median, \
         above the QoS target of {qos_ms} ms; take the type out of the catalogue"
    )]
    FitsNoQuery { name: String, size: u32, median_ms: f64, qos_ms: f64 },

    #[error(
        "the base type `{name}` misses the QoS target: size {size} takes {median_ms} ms in the \
         median, above {qos_ms} ms; choose another base type or raise the target"
    )]
    BaseMissesQos { name: String, size: u32, median_ms: f64, qos_ms: f64 },

    #[error("`{what}` of `{name}` is {value}; it must be {allowed}")]
    Ingredient { name: String, what: &'static str, value: f64, allowed: &'static str },

    #[error(
        "`{name}` has no throughput at the size limit {limit} of `{other}`; measure its queries/s \
         over the sizes up to {limit}"
    )]
    NoThroughputAt { name: String, limit: u32, other: String },

    #[error("{file}, line {line}: `{key}` is `{found}`; it must be {allowed}")]
    Cell { file: String, line: u64, key: String, found: String, allowed: String },

    #[error("{file}: {found}; it must have {allowed}")]
    Table { file: String, found: String, allowed: String },
}
