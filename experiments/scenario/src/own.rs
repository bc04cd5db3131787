//! Policies of the small worlds beside that of requests: from a name such as `salus[order=srtf]` to a policy.

use crate::kind::{self, Kind};
use crate::scenario::place::Source;
use crate::scenario::{effect, texts};
use crate::whole::read_text;
use orrery_run::SpecError;
use orrery_run::policy_spec::{Registry, Spec};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fmt::Debug;
use std::path::Path;
use toml::{Table, Value};

/// What is run in a world of its own: the table of a file that says so.
pub trait World: Clone + Debug + Serialize + DeserializeOwned + Send + Sync + 'static {
    /// The key of the table.
    const KEY: &'static str;
    /// A policy of the world.
    type Policy: Registry + ?Sized;
    /// What a seed makes of the table.
    type Made: Clone + PartialEq + Send + Sync;

    /// What a seed makes of it; `folder` is where its files are looked for.
    ///
    /// # Errors
    /// When a value is wrong, or a file cannot be read.
    fn make(&self, seed: u64, folder: &Path) -> Result<Self::Made, SpecError>;

    /// Whether a policy can run it at all.
    ///
    /// # Errors
    /// When it cannot.
    fn check_for(&self, policy: &Spec<Self::Policy>, made: &Self::Made) -> Result<(), SpecError>;

    /// Leaves out what none of these policies looks at.
    fn unseen(_policies: &[Spec<Self::Policy>], _made: &mut Self::Made) {}

    /// The error, at a key of the table.
    fn in_table(error: SpecError) -> SpecError {
        match error.key() {
            Some(key) if !key.starts_with(&format!("{}.", Self::KEY)) && key != "policies" => {
                error.in_table(Self::KEY)
            }
            _ => error,
        }
    }
}

/// What a seed makes of a file.
pub type MadeOf<F> = <<F as WorldFile>::World as World>::Made;
/// A policy of a file.
pub type SpecOf<F> = Spec<<<F as WorldFile>::World as World>::Policy>;

/// A file for `orrery run` with such a table.
pub trait WorldFile: Clone + DeserializeOwned + Send + Sync {
    /// The world of its table.
    type World: World;
    /// What the file is.
    const KIND: Kind;
    /// A policy that it could name.
    const EXAMPLE: &'static str;

    /// The table.
    fn world(&self) -> &Self::World;

    /// The texts of its policies, the seed of what is drawn, and its text.
    fn head(&self) -> (&[String], u64, &Source);

    /// Its name in results, and its text.
    fn read_as(&mut self) -> (&mut String, &mut Source);

    /// Its name in results.
    fn name(&self) -> &str;

    /// Reads a file and checks it with its policies.
    ///
    /// # Errors
    /// When it cannot be read, or a key is unknown, missing or wrong.
    fn load(path: &Path) -> Result<Self, SpecError> {
        let mut file = Self::from_text(&path.display().to_string(), &read_text(path)?)?;
        let name = file.read_as().0;
        if name.is_empty() {
            *name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        }
        Ok(file)
    }

    /// A file from its text; `name` is its path, for messages and for the files that it names.
    ///
    /// # Errors
    /// As [`WorldFile::load`].
    fn from_text(name: &str, text: &str) -> Result<Self, SpecError> {
        let read = texts::read(name, text);
        let mut file: Self = read.map_err(|e| kind::instead(Self::KIND, name, text, e))?;
        *file.read_as().1 = Source::new(name, text);
        let (policies, seed, source) = file.head();
        if policies.is_empty() {
            let remedy = format!("name one, such as `{}`", Self::EXAMPLE);
            let none = SpecError::value("policies", "none", "at least one policy", remedy);
            return Err(source.placed(none));
        }
        file.runs(seed, &file.policies()?)?;
        Ok(file)
    }

    /// Its policies.
    ///
    /// # Errors
    /// When one is unknown or has a wrong parameter.
    fn policies(&self) -> Result<Vec<SpecOf<Self>>, SpecError> {
        let (texts, _, source) = self.head();
        let parse = |(i, text): (usize, &String)| {
            Spec::parse_at(format!("policies[{i}]"), text).map_err(|e| source.placed(e))
        };
        texts.iter().enumerate().map(parse).collect()
    }

    /// What a seed makes of it, fit for these policies.
    ///
    /// # Errors
    /// When a value is wrong, with its line.
    fn runs(&self, seed: u64, policies: &[SpecOf<Self>]) -> Result<MadeOf<Self>, SpecError> {
        let made = self.world().make(seed, self.folder()).and_then(|made| {
            policies.iter().try_for_each(|p| self.world().check_for(p, &made))?;
            Ok(made)
        });
        made.map_err(|e| self.placed(e))
    }

    /// What a reader of the results of these policies should know of the file and of those that it names.
    ///
    /// # Errors
    /// When one cannot be read.
    fn notes(&self, policies: &[SpecOf<Self>]) -> Result<Vec<String>, SpecError>;

    /// The keys of the file that change nothing, in a sentence. `run` says what a command makes of a file for the first,
    /// second ... of its `runs`.
    fn without_effect(
        &self,
        policies: &[SpecOf<Self>],
        runs: usize,
        run: impl Fn(Self, usize) -> Result<Self, SpecError>,
    ) -> Vec<String> {
        let (_, seed, source) = self.head();
        let Ok(table) = source.text.parse::<Table>().map(Value::Table) else { return Vec::new() };
        let made = |file: &Self, i: usize| -> Option<MadeOf<Self>> {
            let mut made = run(file.clone(), i).ok()?.runs(seed, policies).ok()?;
            Self::World::unseen(policies, &mut made);
            Some(made)
        };
        let read = |text: &str| {
            let mut file: Self = texts::read(&source.path, text).ok()?;
            *file.read_as().1 = Source::new(&source.path, text);
            file.runs(seed, policies).is_ok().then_some(file)
        };
        let said = |file: &Self| toml::to_string(file.world()).unwrap_or_default();
        let with: Vec<_> = (0..runs).map(|i| made(self, i)).collect();
        effect::sentences(&source.path, &table, |path| {
            let less = effect::instead(&table, path, read)?;
            if said(&less) == said(self) {
                return Some(None);
            }
            let is_same = |(i, with): (usize, &Option<_>)| made(&less, i) == *with;
            let is_unseen = with.iter().enumerate().all(is_same);
            is_unseen.then_some(Some("the runs are the same without it"))
        })
    }

    /// Where the files that it names are looked for.
    fn folder(&self) -> &Path {
        Path::new(&self.head().2.path).parent().unwrap_or(Path::new(""))
    }

    /// An error about a key of its table, with the file's name and the line.
    fn placed(&self, error: SpecError) -> SpecError {
        self.head().2.placed(Self::World::in_table(error))
    }
}
