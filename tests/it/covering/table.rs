//! The table of keys: for each key of a scenario, values off its default.
//!
//! **A new key needs a row here**: without one, `every_key_of_the_schema_is_drawn_or_excused` fails. A row is
//!
//! ```text
//! key("Device.speed", &["device[0].speed = 0.5", "device[0].speed = 2.0"])
//!     .needs("...")    what has to be in the world for the key to mean anything; without it, the base world is enough
//!     .silent("...")   why it changes no result; a key without this changes one, for some policy
//! ```
//!
//! Each value is edits of the base world ([`super::edit`]), separated by `; `. What the base has and a key needs is
//! written in `needs` as well, so that two keys whose needs contradict each other never share a world.

pub mod cluster;
mod laws;
mod load;
mod run;

/// A row of the table.
#[derive(Clone, Copy, Debug)]
pub struct Key {
    /// As in [`super::schema`].
    pub name: &'static str,
    /// Edits that give it a meaning.
    pub needs: &'static str,
    /// Its values: each is edits.
    pub off: &'static [&'static str],
    /// Why it changes no result.
    pub silent: Option<&'static str>,
}

pub const fn key(name: &'static str, off: &'static [&'static str]) -> Key {
    Key { name, needs: "", off, silent: None }
}

impl Key {
    /// See [`Key::needs`].
    pub const fn needs(self, needs: &'static str) -> Key {
        Key { needs, ..self }
    }
    /// See [`Key::silent`].
    pub const fn silent(self, why: &'static str) -> Key {
        Key { silent: Some(why), ..self }
    }
}

/// All rows.
pub fn all() -> Vec<Key> {
    [run::KEYS, cluster::KEYS, laws::KEYS, load::KEYS].concat()
}

/// Keys that are not drawn, with the reason. A name that ends in `.` means everything below it.
pub const EXCUSED: &[(&str, &str)] = &[
    ("policies", "every world has one: it is drawn beside the keys"),
    ("model", "every world has some"),
    ("app", "every world has some"),
    ("device", "every world has some"),
    ("App.model", "every application has one"),
    ("App.name", "the law on names changes it"),
    ("Model.latency", "every model has one: drawn as LatencyLaw"),
    ("TimeLaw.constant", "in the base world"),
    ("TimeLaw.normal", "in the base world"),
    ("LatencyLaw.affine", "in the base world"),
    ("LatencyLaw.eq3", "in the base world"),
    ("Arrivals.poisson", "in the base world"),
    ("Popularity.equal", "the default"),
    ("Scopes.each", "the default"),
    ("Unit.ms", "the default"),
    ("Next.cyclic", "the default"),
    ("Inside.poisson", "the default"),
    ("TraceArrivals.rule", "46,000 functions: too large for a world of milliseconds"),
    ("TraceArrivals.sigma", "of `rule` only"),
    ("Rule.", "of `rule` only"),
];

/// The world that every other is made from: two models, three applications, two devices, a little too much load; and
/// a profile of few batches, because the default's 500 of each size take longer than all else.
pub const BASE: &str = r#"
seed = 7

[[model]]
name = "m0"
slo_ms = 40.0
latency = { affine = { alpha_ms = 1.0, beta_ms = 4.0 } }

[[model]]
name = "m1"
slo_ms = 60.0
latency = { eq3 = { c0_ms = 2.0, c1 = 0.5 } }

[[app]]
name = "a0"
model = "m0"
time = { constant = { ms = 5.0 } }

[[app]]
name = "a1"
model = "m1"
time = { normal = { mean_ms = 8.0, sd_ms = 2.0 } }

[[app]]
name = "a2"
model = "m1"
time = { constant = { ms = 6.0 } }

[[device]]
count = 2

[arrivals]
poisson = { rate_per_s = 450.0 }
requests = 150

[profile]
batches = 60
"#;
