//! Sweep files: a base scenario and what is varied.
//!
//! It checks the file; the scenario's own keys are checked when they are set. The comments on the
//! fields are what readers see, in `docs/sweeps.md` and in the JSON Schema.

use super::goodput::Search;
use super::grid::{self, Axis, Point, Sample};
use super::scenario_cell::Subject;
use super::seeds::Until;
use orrery_run::SpecError;
use orrery_run::limits::{SEEDS_MAX, count};
use orrery_scenario::kind;
use orrery_scenario::read_text;
use orrery_scenario::reference::{Reference, Table};
use orrery_scenario::scenario::Scenario;
use orrery_scenario::scenario::place::{Source, line_of};
use orrery_scenario::scenario::texts;
use schemars::JsonSchema;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use toml::Value;

/// With more values of axes and points it is not looked for keys that change nothing with any, and said.
const VARIED_MAX: usize = 256;

/// Keys with their values.
pub type Changes = Vec<(String, Value)>;

/// A sweep file.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "orrery sweep")]
pub struct SweepFile {
    /// Name in results and of result files: letters, digits, `-`, `_`, `+`, `.`.
    #[serde(default)]
    #[schemars(extend("x-default" = "the file's name"))]
    pub name: String,
    /// The base scenario, or file of tokens, by its path from the sweep's folder.
    #[schemars(with = "String")]
    pub scenario: PathBuf,
    /// Number of replications of each cell; `--seeds` replaces it.
    #[serde(default = "five")]
    pub seeds: u32,
    /// The first seed; the others follow it.
    #[schemars(extend("x-default" = "the scenario's"))]
    pub first_seed: Option<u64>,
    /// Add seeds until the 95 % interval of the finish rate has at most this width.
    pub until_ci: Option<f64>,
    /// Maximum number of seeds with `until_ci`.
    #[schemars(extend("x-default" = "100"))]
    pub max_seeds: Option<u32>,
    /// The policies to run.
    #[serde(default)]
    #[schemars(extend("x-default" = "the scenario's"))]
    pub policies: Vec<String>,
    /// The policy that the others are compared with (paired differences).
    #[schemars(extend("x-default" = "the first"))]
    pub compare_to: Option<String>,
    /// Search each cell's peak goodput, in place of one run.
    pub goodput: Option<Search>,
    /// Scenario keys set in every cell: `{ "DOTTED.KEY" = VALUE }`.
    #[serde(default)]
    #[schemars(with = "BTreeMap<String, serde_json::Value>")]
    #[schemars(extend("x-default" = "none"))]
    pub set: BTreeMap<String, Value>,
    /// What is varied: every combination is run.
    #[serde(default)]
    pub axis: Vec<Axis>,
    /// Points listed one by one; each is combined with all axes.
    #[serde(default)]
    pub point: Vec<Point>,
    /// Run only a random sample of the combinations.
    pub sample: Option<Sample>,
    /// The file's path, for messages and for the scenario's path.
    #[serde(skip)]
    pub path: PathBuf,
    /// The file's text, for the lines of messages.
    #[serde(skip)]
    pub text: String,
}

/// The tables of `docs/sweeps.md`.
pub fn reference() -> Vec<Table> {
    let keys = Reference::of::<SweepFile>();
    let table = |path: &[&str]| keys.keys(path, &[]);
    vec![
        ("file", table(&[])),
        ("axis", table(&["axis"])),
        ("point", table(&["point"])),
        ("goodput", table(&["goodput"])),
        ("sample", table(&["sample"])),
    ]
}

fn five() -> u32 {
    5
}

/// What `max_seeds` is where it is left out.
const MAX_SEEDS: u32 = 100;

impl SweepFile {
    /// Seeds are added until an interval is at most so wide, or there are so many.
    pub fn until(&self) -> Option<(f64, u32)> {
        self.until_ci.map(|width| (width, self.max_seeds.unwrap_or(MAX_SEEDS)))
    }

    /// Reads and checks a file.
    ///
    /// # Errors
    /// When it cannot be read, a key is unknown or missing, or nothing would be run.
    pub fn load(path: &Path) -> Result<SweepFile, SpecError> {
        let name = path.display().to_string();
        let text = read_text(path)?;
        let mut file: SweepFile =
            texts::read(&name, &text).map_err(|e| kind::instead(kind::SWEEP, &name, &text, e))?;
        file.path = path.to_path_buf();
        file.text = text;
        if file.name.is_empty() {
            file.name = path.file_stem().map_or("sweep".into(), |s| s.to_string_lossy().into());
        }
        file.checked()
    }

    /// The base scenario, read from its file.
    ///
    /// # Errors
    /// When it cannot be read or is wrong.
    pub fn base(&self) -> Result<Scenario, SpecError> {
        Scenario::load(self.base_path())
    }

    /// The path of the base scenario, or file of tokens.
    pub fn base_path(&self) -> PathBuf {
        self.path.parent().unwrap_or(Path::new("")).join(&self.scenario)
    }

    /// Keys of the base that change nothing in any cell, nor with `more` changes, each alone. What is wrong with the file
    /// is said elsewhere.
    pub fn without_effect<S: Subject>(&self, base: &S, more: &[Changes]) -> Vec<String> {
        let named = base.clone().with_policies(&self.policies);
        let Ok((base, policies)) = named.and_then(|base| Ok((base.clone(), base.policies()?)))
        else {
            return Vec::new();
        };
        let set: Changes = self.set.clone().into_iter().collect();
        let varied = grid::each_alone(&self.point, &self.axis);
        let varied = varied.iter().chain(more).map(|own| [&set[..], own].concat());
        let varied: Vec<Changes> = varied.collect();
        // Without points the base itself is one more.
        if varied.len() > VARIED_MAX + 1 {
            let name = base.origin().0;
            let why = format!("there are more than {VARIED_MAX} values of axes and points");
            return vec![format!("{name}: keys that change nothing are not looked for: {why}")];
        }
        base.without_effect(&policies, self.goodput.as_ref(), &varied)
    }

    /// Names filled in where they are left out, everything checked.
    ///
    /// # Errors
    /// When the file is no sweep.
    pub fn checked(mut self) -> Result<SweepFile, SpecError> {
        self.axis.iter_mut().for_each(Axis::complete);
        self.check().map_err(|e| self.placed(e))?;
        Ok(self)
    }

    /// An error about this file, at the line of its key. A scenario's key is where it is set.
    pub fn placed(&self, error: SpecError) -> SpecError {
        let source = Source::new(self.path.display().to_string(), self.text.as_str());
        let Some(key) = error.key().filter(|key| line_of(&self.text, key).is_none()) else {
            return source.placed(error);
        };
        let last = |key: &str| key.rsplit('.').next().map(str::to_string);
        let sets = |own: &str| key.split("`, `").any(|k| k == own || last(k) == last(own));
        let of_axis = |a: &Axis| a.keys.iter().any(|k| sets(k));
        let of_point = |p: &Point| p.set.keys().any(|k| sets(k));
        let axis = self.axis.iter().position(of_axis).map(|i| format!("axis[{i}].values"));
        let point = || self.point.iter().position(of_point).map(|i| format!("point[{i}].set"));
        let set = || self.set.keys().any(|k| sets(k)).then(|| "set".to_string());
        let line = axis.or_else(point).or_else(set).and_then(|at| line_of(&self.text, &at));
        match line {
            Some(line) => error.in_file(&format!("{}:{line}", source.path)),
            None => source.placed(error),
        }
    }

    /// What the command line changes.
    ///
    /// # Errors
    /// When the result is no sweep.
    pub fn with(mut self, seeds: Option<u32>, until: Until) -> Result<SweepFile, SpecError> {
        if let Some(seeds) = seeds {
            self.seeds = seeds;
        }
        if let Some(width) = until.until_ci {
            self.until_ci = Some(width);
        }
        if let Some(max) = until.max_seeds {
            if self.until_ci.is_none() {
                let remedy = "add `--until-ci WIDTH`, or use `--seeds` for a fixed number";
                return Err(SpecError::value("--max-seeds", max, "only with `--until-ci`", remedy));
            }
            self.max_seeds = Some(max);
        }
        self.check().map_err(|e| self.placed(e))?;
        Ok(self)
    }

    /// With keys of the scenario set by hand: each is an axis of one value.
    ///
    /// # Errors
    /// When one is an axis already.
    pub fn at(mut self, changes: &[(String, Value)]) -> Result<SweepFile, SpecError> {
        let varied = |key: &String| self.axis.iter().any(|axis| axis.keys.contains(key));
        if let Some((key, _)) = changes.iter().find(|change| varied(&change.0)) {
            let (found, remedy) = ("a key of an axis", "change the axis in the file");
            return Err(SpecError::value(format!("--set {key}"), found, "another key", remedy));
        }
        self.axis.extend(changes.iter().map(|(key, value)| Axis::of(key, value.clone())));
        self.checked()
    }

    fn check(&self) -> Result<(), SpecError> {
        let wrong = |key: String, found: String, allowed: &str, remedy: &str| {
            Err(SpecError::value(key, found, allowed, remedy))
        };
        let plain = |c: char| c.is_ascii_alphanumeric() || "-_+.".contains(c);
        if !self.name.chars().all(plain) || self.name.starts_with('.') || self.name.is_empty() {
            let allowed = "letters, digits, `-`, `_`, `+` and `.`: it names files";
            return wrong("name".into(), self.name.clone(), allowed, "choose another name");
        }
        count("seeds", self.seeds.into(), 1, SEEDS_MAX)?;
        if let Some(most) = self.max_seeds {
            count("max_seeds", most.into(), 1, SEEDS_MAX)?;
            if self.until_ci.is_none() {
                let (allowed, remedy) = ("only with `until_ci`", "add `until_ci`, or set `seeds`");
                return wrong("max_seeds".into(), most.to_string(), allowed, remedy);
            }
        }
        if let Some(width) = self.until_ci.filter(|w| !(*w > 0.0 && *w <= 1.0)) {
            return wrong("until_ci".into(), width.to_string(), "above 0, at most 1", "correct it");
        }
        if let Some(search) = &self.goodput {
            search.check()?;
        }
        if let (Some(_), Some(width)) = (&self.goodput, self.until_ci) {
            let allowed =
                "a fixed number of seeds: the answer of a search (`[goodput]`) has no finish rate";
            let remedy = "remove `until_ci` (or `--until-ci`) and set `seeds`";
            return wrong("until_ci".into(), width.to_string(), allowed, remedy);
        }
        if let Some((_, most)) = self.until().filter(|until| until.1 < self.seeds) {
            let allowed = "at least `seeds`, which are run in any case";
            let remedy = "raise it, or lower `seeds`";
            return wrong("max_seeds".into(), most.to_string(), allowed, remedy);
        }
        if self.axis.is_empty() && self.point.is_empty() {
            let remedy =
                "add `[[axis]]` with `key` and `values`, or `[[point]]` with `name` and `set`";
            return wrong(
                "axis".into(),
                "an empty sweep".into(),
                "at least one axis or point",
                remedy,
            );
        }
        grid::check_apart(&self.point)?;
        grid::check(&self.point, &self.axis)
    }
}
