//! A plan that is asked in one line: the text of its file, from words, the shipped prices, and the shipped zoo or a
//! profile that somebody measured.
//!
//! A word for a model or a type may be the beginning of a name. What was taken for it is written into the file,
//! with the names that it might have been as well.

use crate::input::prices::{Buy, PriceList, Sale};
use crate::input::what_if::milliseconds;
use orrery_run::SpecError;
use orrery_run::error::hint;
use orrery_run::limits::COUNT_MAX;
use orrery_scenario::zoo::Zoo;
use std::path::Path;

/// The zoos with latencies by GPU, the usual one first, and the price list.
const ZOOS: [&str; 3] = ["nvidia", "mlperf", "h100-torch"];
const PRICES: &str = "lambda";
/// The GPUs of the zoo that the list has under another name, each with that name.
const LISTED: [(&str, &str); 5] = [
    ("V100-16GB", "V100"),
    ("A100-40GB", "A100"),
    ("A100-SXM-80GB", "A100-80GB"),
    ("H100-PCIe-80GB", "H100-PCIe"),
    ("H100-80GB-HBM3", "H100"),
];
/// At most so many of a type.
const MOST: u32 = 128;
/// The schedulers that are compared: what is published with the shortest plan, and one that needs no exact times.
const POLICIES: [&str; 2] = ["symphony", "clockwork"];

/// What is asked.
#[derive(Clone, Debug, Default)]
pub struct Line {
    /// Models, by name or by its beginning; those of a profile by name.
    pub models: Vec<String>,
    /// Measured latencies in place of a zoo's: the file's path from the plan's folder, and whether it tells GPUs apart.
    pub profile: Option<(String, bool)>,
    /// The load of all models together, in requests/s.
    pub rate_per_s: f64,
    /// With its unit: `100ms`.
    pub slo: String,
    /// GPUs, by name or by its beginning; all that have a price without it.
    pub kinds: Vec<String>,
    /// Machines that may be lost: 0, 1, or a GPU.
    pub survive: Option<String>,
    /// Prices in place of the list's, as `KIND=USD`.
    pub prices: Vec<String>,
    /// Schedulers in place of the usual ones.
    pub policies: Vec<String>,
}

/// A type as the plan file has it.
struct Instance {
    name: String,
    /// Where its latencies are, beside its name.
    law: String,
    /// The same as a table of its own.
    laws: String,
    /// Its own price, or else its name in the list.
    price: Result<f64, String>,
}

/// A GPU that is chosen.
struct Kind {
    /// As it was asked for.
    word: String,
    /// As the zoo calls it.
    gpu: &'static str,
    /// As the list calls it, where it has it, and the smallest pack there.
    listed: Option<(String, u32)>,
    /// Its own price.
    usd: Option<f64>,
}

impl Kind {
    /// How well it can be bought: one by one, in packs, or not at all.
    fn ease(&self) -> u32 {
        match (self.usd, &self.listed) {
            (Some(_), _) | (None, Some((_, 1))) => 2,
            (None, Some(_)) => 1,
            (None, None) => 0,
        }
    }

    /// Whether the zoo has a model on it.
    fn has(&self, zoo: &Zoo, name: &str) -> bool {
        zoo.models(Some(self.gpu)).iter().any(|model| model.name == name)
    }
}

impl Line {
    /// The name of the plan.
    pub fn name(&self) -> String {
        let safe = |c: char| if c.is_ascii_alphanumeric() || ".-_".contains(c) { c } else { '-' };
        let models: String = self.names().join("+").chars().map(safe).collect();
        format!("{models}-{}", self.rate_per_s)
    }

    /// The names of the models; a profile's only one has that of its file where none is given.
    fn names(&self) -> Vec<String> {
        let stem = |file: &str| Path::new(file).file_stem().map(|s| s.to_string_lossy().into());
        let of_file = self.profile.as_ref().and_then(|(file, _)| stem(file));
        if self.models.is_empty() { of_file.into_iter().collect() } else { self.models.clone() }
    }

    /// The text of the plan file.
    ///
    /// # Errors
    /// When a word names nothing, or a GPU has no price.
    pub fn text(&self) -> Result<String, SpecError> {
        let slo_ms = milliseconds("--slo", &self.slo)?;
        if !(1e-3..=1e9).contains(&self.rate_per_s) {
            let allowed = "requests/s from 0.001 to 1e9";
            return Err(SpecError::value("--rate", self.rate_per_s, allowed, "correct the rate"));
        }
        let list = PriceList::find(PRICES, Path::new(""))?;
        if let Some((file, has_gpus)) = &self.profile {
            return self.of_profile((file, *has_gpus), slo_ms, &list);
        }
        let zoo = self.zoo()?;
        let words = self.candidates(zoo, &list)?;
        let mut models = Vec::new();
        for word in &self.models {
            models.push(model(zoo, word, &words)?);
        }
        let kinds = words.into_iter().filter_map(|of_word| best(zoo, of_word, &models));
        let kinds = self.with_all_models(zoo, kinds.collect(), &models)?;
        if let Some(kind) = kinds.iter().find(|kind| kind.ease() == 0) {
            let found = format!("no price of {} in {list}", kind.gpu);
            let remedy = format!("give its price: `--price {}=USD_PER_HOUR`", kind.word);
            return Err(SpecError::value("--kinds", found, "types that have a price", remedy));
        }
        let gpus: Vec<&str> = kinds.iter().map(|k| k.gpu).collect();
        let survive = self.lost(&gpus)?;
        Ok(self.written((zoo, slo_ms, survive), &kinds, &models, &list))
    }

    /// What may be lost, as a plan file says it: a number, or the name of one of the types.
    fn lost(&self, names: &[&str]) -> Result<Option<String>, SpecError> {
        let Some(word) = &self.survive else { return Ok(None) };
        if let "0" | "1" = word.as_str() {
            return Ok(Some(word.clone()));
        }
        let meant: Vec<&&str> = names.iter().filter(|gpu| is_word(word, gpu)).collect();
        match meant.as_slice() {
            [gpu] => Ok(Some(format!("{gpu:?}"))),
            _ => {
                let allowed = format!("0, 1, or one of {}", names.join(", "));
                let remedy = "write one of them, or name the type with `--kinds` as well";
                Err(SpecError::value("--survive", format!("`{word}`"), allowed, remedy))
            }
        }
    }

    /// Of the zoos that have the types (as many as any has), the first that has all models on them; else the first.
    fn zoo(&self) -> Result<&'static Zoo, SpecError> {
        let of = |name| {
            let report = || SpecError::value("zoo", name, "a zoo", "report it");
            Zoo::find(name).ok_or_else(report)
        };
        let zoos = ZOOS.into_iter().map(of).collect::<Result<Vec<&Zoo>, _>>()?;
        let is_meant =
            |gpu: &str| self.kinds.is_empty() || self.kinds.iter().any(|w| is_word(w, gpu));
        let types_of = |zoo: &Zoo| {
            let has = |word: &&String| zoo.gpus().iter().any(|gpu| is_word(word, gpu));
            self.kinds.iter().take_while(has).count()
        };
        let has_models = |zoo: &&Zoo| {
            let models = |gpu: &'static str| zoo.models(Some(gpu)).into_iter().map(|m| m.name);
            let gpus = zoo.gpus().into_iter().filter(|gpu| is_meant(gpu));
            let names: Vec<String> = gpus.flat_map(models).collect();
            self.models.iter().all(|word| names.iter().any(|name| begins(word, name)))
        };
        let most = zoos.iter().map(|zoo| types_of(zoo)).max();
        let with_types = || zoos.iter().copied().filter(|zoo| Some(types_of(zoo)) == most);
        let zoo = with_types().find(has_models).or_else(|| with_types().next());
        zoo.ok_or_else(|| SpecError::value("zoo", "none", "a zoo", "report it"))
    }

    /// The types that have all models; one that was asked for and lacks some is an error.
    fn with_all_models(
        &self,
        zoo: &Zoo,
        kinds: Vec<Kind>,
        models: &[Chosen],
    ) -> Result<Vec<Kind>, SpecError> {
        let lacks = |kind: &&Kind| models.iter().find(|m| !kind.has(zoo, &m.name));
        if let Some((kind, model)) = kinds.iter().find_map(|k| Some((k, lacks(&k)?)))
            && !self.kinds.is_empty()
        {
            let found = format!("no latencies of {} on {}", model.name, kind.gpu);
            let has = |gpu: &&&str| zoo.models(Some(gpu)).iter().any(|m| m.name == model.name);
            let gpus = zoo.gpus();
            let allowed: Vec<&str> = gpus.iter().filter(has).copied().collect();
            let allowed = format!("types that have it: {}", allowed.join(", "));
            let remedy = "leave the type out, or name another model with `--model`";
            return Err(SpecError::value("--kinds", found, allowed, remedy));
        }
        let kinds: Vec<Kind> = kinds.into_iter().filter(|k| lacks(&k).is_none()).collect();
        if kinds.is_empty() {
            let allowed = "models that one type with a price has all of";
            let remedy = "name types with `--kinds`, and their prices with `--price`";
            return Err(SpecError::value("--model", self.models.join(", "), allowed, remedy));
        }
        Ok(kinds)
    }

    /// By word, the GPUs that it may mean; without words all that have a price, each alone.
    fn candidates(&self, zoo: &Zoo, list: &PriceList) -> Result<Vec<Vec<Kind>>, SpecError> {
        let own = self.own_prices()?;
        let gpus = zoo.gpus();
        let kind = |word: &str, gpu: &'static str| {
            let usd = own.iter().find(|(k, _)| is_word(k, gpu)).map(|(_, usd)| *usd);
            Kind { word: word.to_string(), gpu, listed: listed(list, gpu), usd }
        };
        for (word, _) in &own {
            known_gpu("--price", word, &gpus)?;
        }
        if self.kinds.is_empty() {
            let all = gpus.iter().map(|gpu| kind(gpu, gpu));
            let priced = all.filter(|kind| kind.ease() > 0);
            return Ok(priced.map(|k| vec![k]).collect());
        }
        let of = |word: &String| {
            known_gpu("--kinds", word, &gpus)?;
            let meant = gpus.iter().filter(|gpu| is_word(word, gpu));
            Ok(meant.map(|gpu| kind(word, gpu)).collect())
        };
        self.kinds.iter().map(of).collect()
    }

    fn own_prices(&self) -> Result<Vec<(String, f64)>, SpecError> {
        let of = |text: &String| {
            let (kind, usd) = text.split_once('=')?;
            let usd: f64 = usd.parse().ok()?;
            (usd > 0.0 && usd <= 1e6).then(|| (kind.to_string(), usd))
        };
        let wrong = |text: &String| {
            let allowed = "KIND=USD, dollars per hour above 0 for one";
            SpecError::value("--price", text, allowed, "write for example `--price t4=0.526`")
        };
        self.prices.iter().map(|text| of(text).ok_or_else(|| wrong(text))).collect()
    }

    fn written(
        &self,
        (zoo, slo_ms, survive): (&Zoo, f64, Option<String>),
        kinds: &[Kind],
        models: &[Chosen],
        list: &PriceList,
    ) -> String {
        let mut notes = String::new();
        for chosen in models.iter().filter(|chosen| !chosen.others.is_empty()) {
            let (word, name, others) = (&chosen.word, &chosen.name, chosen.others.join(", "));
            notes += &format!("# `{word}` was taken for {name}; it might also be {others}.\n");
        }
        let instance = |k: &Kind| Instance {
            name: k.gpu.to_string(),
            law: format!("zoo = {:?}\ngpu = {:?}\n", zoo.name, k.gpu),
            laws: String::new(),
            price: k.usd.ok_or_else(|| k.listed.as_ref().map_or(k.gpu, |l| &l.0).to_string()),
        };
        let kinds: Vec<Instance> = kinds.iter().map(instance).collect();
        // The first GPU that has all of the models says what they are; each type has its own latencies.
        let of = |chosen: &Chosen| {
            format!(
                "\n[[scenario.zoo]]\nname = {:?}\ngpu = {:?}\nmodels = [{:?}]\nslo_ms = {slo_ms:?}\n",
                zoo.name, chosen.gpu, chosen.name
            )
        };
        let models: String = models.iter().map(of).collect();
        self.file((&notes, survive), &kinds, &models, list)
    }

    /// The text where a file has the latencies.
    fn of_profile(
        &self,
        (file, has_gpus): (&str, bool),
        slo_ms: f64,
        list: &PriceList,
    ) -> Result<String, SpecError> {
        if self.kinds.is_empty() {
            let remedy = "name it, with its price: `--kinds t4 --price t4=0.526`";
            let allowed =
                "the machines that were measured; several by their names in the column `gpu`";
            return Err(SpecError::value("--kinds", "nothing", allowed, remedy));
        }
        let own = self.own_prices()?;
        let law = |model: &str, kind: &str| {
            let gpu = if has_gpus { format!(", gpu = {kind:?}") } else { String::new() };
            format!("{{ profile = {{ file = {file:?}, model = {model:?}{gpu} }} }}")
        };
        let instance = |kind: &String| {
            let usd = own.iter().find(|(k, _)| is_word(k, kind)).map(|own| own.1);
            let name = listed(list, kind).map(|listed| listed.0);
            let Some(price) = usd.map(Ok).or_else(|| name.map(Err)) else {
                let found = format!("no price of {kind} in {list}");
                let remedy = format!("give its price: `--price {kind}=USD_PER_HOUR`");
                return Err(SpecError::value("--kinds", found, "types that have a price", remedy));
            };
            let laws = self.names().into_iter().map(|m| format!("{m:?} = {}\n", law(&m, kind)));
            let laws = format!("\n[instance.latency_on]\n{}", laws.collect::<String>());
            Ok(Instance { name: kind.clone(), law: String::new(), laws, price })
        };
        let kinds: Vec<Instance> = self.kinds.iter().map(instance).collect::<Result<_, _>>()?;
        let survive = self.lost(&self.kinds.iter().map(String::as_str).collect::<Vec<_>>())?;
        let model = |name: String| {
            format!(
                "\n[[scenario.model]]\nname = {name:?}\nslo_ms = {slo_ms:?}\nlatency = {}\n\
                 \n[[scenario.app]]\nname = {name:?}\nmodel = {name:?}\n",
                law(&name, &self.kinds[0])
            )
        };
        let models: String = self.names().into_iter().map(model).collect();
        Ok(self.file(("", survive), &kinds, &models, list))
    }

    fn file(
        &self,
        (notes, survive): (&str, Option<String>),
        kinds: &[Instance],
        models: &str,
        list: &PriceList,
    ) -> String {
        let usual = || POLICIES.map(str::to_string).to_vec();
        let policies = if self.policies.is_empty() { usual() } else { self.policies.clone() };
        let policies: Vec<String> = policies.iter().map(|name| format!("{name:?}")).collect();
        let mut text = format!(
            "# Written by `orrery plan` from options. Change what you know better.\n{notes}\
             pools = \"homogeneous\"\ngoal = \"carry-load\"\nbad_rate = 0.01\npolicies = [{}]\n",
            policies.join(", ")
        );
        survive.iter().for_each(|lost| text += &format!("survive = {lost}\n"));
        if kinds.iter().any(|k| k.price.is_err()) {
            text += &format!("prices = {:?} # of {}\n", PRICES, list.date);
        }
        for Instance { name, law, laws, price } in kinds {
            text += &format!("\n[[instance]]\nkind = {name:?}\n{law}");
            match price {
                Ok(usd) => text += &format!("price_usd_per_hour = {usd:?}\n"),
                Err(listed) if listed != name => text += &format!("offers_of = {listed:?}\n"),
                Err(_) => {}
            }
            text += &format!("count_max = {MOST}\n{laws}");
        }
        let rate = self.rate_per_s;
        text + &format!(
            "\n[scenario]\nwarm_up_s = 2.0\n{models}\
             \n[scenario.arrivals]\npoisson = {{ rate_per_s = {rate:?} }}\n"
        )
    }
}

/// A model that a word was taken for.
struct Chosen {
    word: String,
    name: String,
    /// A GPU that has it.
    gpu: &'static str,
    /// What else the word might mean.
    others: Vec<String>,
}

/// Whether a word is a name or its beginning: `a100` is `A100-40GB` and `A100-80GB`, not `A1000`.
fn is_word(word: &str, gpu: &str) -> bool {
    let (word, gpu) = (word.to_ascii_lowercase(), gpu.to_ascii_lowercase());
    gpu.strip_prefix(&word).is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
}

/// Whether a model's name begins with a word.
fn begins(word: &str, name: &str) -> bool {
    name.to_ascii_lowercase().starts_with(&word.to_ascii_lowercase())
}

fn known_gpu(key: &str, word: &str, gpus: &[&'static str]) -> Result<(), SpecError> {
    if gpus.iter().any(|gpu| is_word(word, gpu)) {
        return Ok(());
    }
    let hint = hint(word, gpus.iter().copied());
    let remedy = format!(
        "{hint}no measured latencies are shipped for other types: write a plan file with your own \
         (`latency_on`, docs/plan.md)"
    );
    Err(SpecError::value(key, format!("`{word}`"), gpus.join(", "), remedy))
}

/// What a GPU is called in the price list, and its smallest pack there.
fn listed(list: &PriceList, gpu: &str) -> Option<(String, u32)> {
    let name = LISTED.iter().find(|(of_zoo, _)| *of_zoo == gpu).map_or(gpu, |(_, name)| name);
    let sale = Sale::of_list(list, "kind", name, Buy::OnDemand, COUNT_MAX).ok()?;
    let smallest = sale.tariff.packs().iter().map(|pack| pack.devices).min()?;
    Some((name.to_string(), smallest))
}

/// The model that a word means: of the names that begin with it, the one that most types have, then the one whose
/// types can be bought most easily, then the one that most GPUs of the zoo have, then the shortest.
fn model(zoo: &Zoo, word: &str, kinds: &[Vec<Kind>]) -> Result<Chosen, SpecError> {
    let gpus = || kinds.iter().flatten();
    let names_on = |kind: &Kind| zoo.models(Some(kind.gpu)).into_iter().map(|m| m.name);
    let mut names: Vec<String> = gpus().flat_map(names_on).collect();
    names.sort();
    names.dedup();
    let is_exact = |name: &str| name.eq_ignore_ascii_case(word);
    let of = |name: &str, of_word: &Vec<Kind>| {
        of_word.iter().filter(|kind| kind.has(zoo, name)).map(|kind| 1 + kind.ease()).max()
    };
    let eases = |name: &str| kinds.iter().filter_map(|of_word| of(name, of_word)).sum::<u32>();
    let on = |name: &str| kinds.iter().filter(|of_word| of(name, of_word).is_some()).count();
    let gpus_of_zoo = zoo.gpus();
    let is_on = |gpu: &&&str, name: &str| zoo.models(Some(gpu)).iter().any(|m| m.name == name);
    let everywhere = |name: &str| gpus_of_zoo.iter().filter(|gpu| is_on(gpu, name)).count();
    let rank = |name: &String| {
        let fewest = std::cmp::Reverse(name.len());
        let order = std::cmp::Reverse(name.clone());
        (is_exact(name), on(name), eases(name), everywhere(name), fewest, order)
    };
    let name =
        names.iter().filter(|name| begins(word, name)).max_by_key(|name| rank(name)).cloned();
    let Some(name) = name else {
        let hint = hint(word, names.iter().map(String::as_str));
        let remedy = format!("{hint}`orrery list {}` has all names", zoo.name);
        let allowed = format!("the name of a model of the zoo `{}`, or its beginning", zoo.name);
        return Err(SpecError::value("--model", format!("`{word}`"), allowed, remedy));
    };
    let gpu = gpus().find(|kind| kind.has(zoo, &name)).map_or("", |kind| kind.gpu);
    let others =
        names.iter().filter(|name| begins(word, name)).filter(|n| **n != name && !is_exact(&name));
    Ok(Chosen { word: word.to_string(), gpu, others: others.cloned().collect(), name })
}

/// Of the GPUs that a word may mean, the one that has most of the models, then the one that can be bought most easily.
fn best(zoo: &Zoo, of_word: Vec<Kind>, models: &[Chosen]) -> Option<Kind> {
    let rank =
        |kind: &Kind| (models.iter().filter(|m| kind.has(zoo, &m.name)).count(), kind.ease());
    of_word.into_iter().reduce(|a, b| if rank(&b) > rank(&a) { b } else { a })
}

#[cfg(test)]
mod tests;
