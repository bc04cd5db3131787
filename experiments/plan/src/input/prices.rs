//! Price lists: what devices cost by the hour, in which packs, where that was read and when.
//!
//! A list is a file of its own, so that several plans share it and it is renewed in one place. Some travel in
//! the program, under their names; another is named by its path from the plan's folder.

use orrery_run::SpecError;
use orrery_run::error::hint;
use orrery_run::limits::COUNT_MAX;
use orrery_scenario::defaults::one;
use orrery_scenario::scenario::place::Source;
use orrery_scenario::scenario::texts;
use orrery_solvers::{Pack, Price, Tariff};
use schemars::JsonSchema;
use serde::Deserialize;
use std::fmt;
use std::path::Path;

/// The version of price lists that is read.
const VERSION: u32 = 1;

/// The lists that travel in the program.
const SHIPPED: [(&str, &str); 2] = [
    ("lambda", include_str!("../../data/prices/lambda.toml")),
    ("ec2-of-kairos", include_str!("../../data/prices/ec2-of-kairos.toml")),
];

/// How devices are paid for.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum Buy {
    /// By the hour, for as long as they are wanted.
    #[default]
    OnDemand,
    /// For a term that is agreed.
    Reserved,
    /// By the hour, until the seller takes them back.
    Spot,
}

impl Buy {
    /// All of them.
    pub const ALL: [Buy; 3] = [Buy::OnDemand, Buy::Reserved, Buy::Spot];

    /// As it is written in a file.
    pub fn name(self) -> &'static str {
        match self {
            Buy::OnDemand => "on-demand",
            Buy::Reserved => "reserved",
            Buy::Spot => "spot",
        }
    }
}

/// A price list.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PriceList {
    orrery_prices: u32,
    /// Its name in answers.
    pub name: String,
    /// When the prices were asked for, as YEAR-MONTH-DAY.
    pub date: String,
    /// Where they were read.
    pub source: String,
    #[serde(default)]
    offer: Vec<Offer>,
}

/// `[[offer]]`: devices that are sold together.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Offer {
    name: String,
    kind: String,
    #[serde(default = "one::<u32>")]
    devices: u32,
    on_demand_usd_per_hour: Option<f64>,
    reserved_usd_per_hour: Option<f64>,
    spot_usd_per_hour: Option<f64>,
}

impl Offer {
    fn usd_per_hour(&self, buy: Buy) -> Option<f64> {
        match buy {
            Buy::OnDemand => self.on_demand_usd_per_hour,
            Buy::Reserved => self.reserved_usd_per_hour,
            Buy::Spot => self.spot_usd_per_hour,
        }
    }
}

/// `lambda of 2026-11-23`.
impl fmt::Display for PriceList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {}", self.name, self.date)
    }
}

/// What a type is sold as.
#[derive(Clone, Debug)]
pub struct Sale {
    /// What each number of devices costs.
    pub tariff: Tariff,
    /// The names of its packs.
    pub names: Vec<String>,
    /// How it is paid for; none where the plan itself gives a price.
    pub buy: Option<Buy>,
}

impl Sale {
    /// The packs of a list, of a kind of which there may be `most`.
    pub fn of_list(
        list: &PriceList,
        key: &str,
        kind: &str,
        buy: Buy,
        most: u32,
    ) -> Result<Sale, SpecError> {
        let of_kind: Vec<&Offer> = list.offer.iter().filter(|o| o.kind == kind).collect();
        if of_kind.is_empty() {
            let mut kinds: Vec<&str> = list.offer.iter().map(|o| o.kind.as_str()).collect();
            kinds.dedup();
            let hint = hint(kind, kinds.iter().copied());
            let found = format!("no price of `{kind}` in {list}");
            let allowed = format!("one of {}", kinds.join(", "));
            let remedy = format!(
                "{hint}say what it is there with `offers_of`, or give `price_usd_per_hour`"
            );
            return Err(SpecError::value(key, found, allowed, remedy));
        }
        let (mut packs, mut names) = (Vec::new(), Vec::new());
        for offer in &of_kind {
            let Some(usd) = offer.usd_per_hour(buy) else { continue };
            packs.push(Pack { devices: offer.devices, price: usd_per_hour(key, usd, false)? });
            names.push(offer.name.clone());
        }
        if packs.is_empty() {
            let asked = |b: &&Buy| of_kind.iter().any(|o| o.usd_per_hour(**b).is_some());
            let given: Vec<&str> = Buy::ALL.iter().filter(asked).map(|b| b.name()).collect();
            let found = format!("no {} price of `{kind}` in {list}", buy.name());
            let remedy = "choose another `buy`, or give `price_usd_per_hour`";
            return Err(SpecError::value(key, found, given.join(", "), remedy));
        }
        let tariff = tariff(key, kind, packs, most)?;
        Ok(Sale { tariff, names, buy: Some(buy) })
    }

    /// Packs of `sizes` devices, each device at one price; without sizes they are sold one by one.
    pub fn of_price(
        key: &str,
        kind: &str,
        each: Price,
        sizes: &[u32],
        most: u32,
    ) -> Result<Sale, SpecError> {
        if sizes.is_empty() {
            let tariff = Tariff::single(each, most);
            return Ok(Sale { tariff, names: vec![kind.to_string()], buy: None });
        }
        let pack = |n: &u32| Pack { devices: *n, price: each * *n };
        let tariff = tariff(key, kind, sizes.iter().map(pack).collect(), most)?;
        let names = sizes.iter().map(|n| format!("{n}x{kind}")).collect();
        Ok(Sale { tariff, names, buy: None })
    }

    /// The same, sold in its smallest packs only: where a machine may be lost, that takes least away.
    ///
    /// # Errors
    /// When the smallest pack is larger than what may be bought.
    pub fn smallest(self, key: &str, kind: &str, most: u32) -> Result<Sale, SpecError> {
        let packs = self.tariff.packs();
        let smallest = packs.iter().map(|p| p.devices).min().unwrap_or(1);
        let cheapest = (0..packs.len()).filter(|i| packs[*i].devices == smallest);
        let Some(at) = cheapest.min_by_key(|i| packs[*i].price) else { return Ok(self) };
        let tariff = tariff(key, kind, vec![packs[at].clone()], most)?;
        Ok(Sale { tariff, names: vec![self.names[at].clone()], ..self })
    }

    /// The largest machine of those that are bought for `devices` devices: how many devices it has, and its name
    /// where it has several.
    pub fn largest(&self, devices: u32) -> (u32, Option<&str>) {
        let Some(bought) = self.tariff.at_least(devices) else { return (1, None) };
        let packs = self.tariff.packs().iter().zip(&self.names).zip(&bought.packs);
        let packs = packs.filter(|(_, n)| **n > 0).map(|(pack, _)| pack);
        let largest = packs.max_by_key(|(pack, _)| pack.devices);
        let name = |pack: &Pack, name| (pack.devices > 1).then_some(name);
        largest.map_or((1, None), |(pack, of)| (pack.devices, name(pack, of.as_str())))
    }

    /// What is bought for `devices` devices, in words: `2 gpu_8x_a100 + 1 gpu_1x_a100`; none where devices
    /// are bought one by one.
    pub fn words(&self, devices: u32) -> Option<String> {
        let packs = self.tariff.at_least(devices).filter(|_| !self.tariff.is_single())?.packs;
        let some = packs.iter().zip(&self.names).rev().filter(|(n, _)| **n > 0);
        let words: Vec<String> = some.map(|(n, name)| format!("{n} {name}")).collect();
        (!words.is_empty()).then(|| words.join(" + "))
    }
}

fn tariff(key: &str, kind: &str, packs: Vec<Pack>, most: u32) -> Result<Tariff, SpecError> {
    let smallest = packs.iter().map(|p| p.devices).min().unwrap_or(1);
    if most > 0 && smallest > most {
        let found = format!("packs of {smallest} devices or more, for at most {most}");
        let allowed = "a pack that is not larger than `count_max` or what the budget pays for";
        let remedy = "raise `count_max`, or set it to 0 to leave the type out";
        return Err(SpecError::value(key, found, allowed, remedy));
    }
    Tariff::new(kind, packs, most)
        .map_err(|e| SpecError::value(key, e, "packs of one device or more", "correct the packs"))
}

/// Dollars per hour at a key.
///
/// # Errors
/// When it is no price.
pub fn usd_per_hour(key: &str, usd: f64, above_zero: bool) -> Result<Price, SpecError> {
    let allowed = if above_zero {
        "dollars per hour above 0, at most 1000000"
    } else {
        "dollars per hour from 0 to 1000000"
    };
    let wrong = || SpecError::value(key, usd, allowed, "correct the amount");
    match Price::usd_per_hour(key, usd) {
        Ok(price) if !above_zero || price > Price::ZERO => Ok(price),
        _ => Err(wrong()),
    }
}

impl PriceList {
    /// The list of a name, or in a file whose path is given from `folder`.
    ///
    /// # Errors
    /// When there is none, or what it says is wrong.
    pub fn find(name: &str, folder: &Path) -> Result<PriceList, SpecError> {
        let key = "prices";
        if let Some((_, text)) = SHIPPED.iter().find(|s| s.0 == name) {
            return PriceList::read(name, text);
        }
        if !name.ends_with(".toml") {
            let names: Vec<&str> = SHIPPED.iter().map(|s| s.0).collect();
            let hint = hint(name, names.iter().copied());
            let allowed = format!("{}, or the path of a list that ends in .toml", names.join(", "));
            let remedy = format!("{hint}correct the name");
            return Err(SpecError::value(key, format!("`{name}`"), allowed, remedy));
        }
        let path = folder.join(name);
        let text = orrery_scenario::whole::read(&path).map_err(|e| {
            let found = format!("`{name}` ({}: {e})", path.display());
            let allowed = "a price list, by its path from the plan's folder";
            SpecError::value(key, found, allowed, "correct the path")
        })?;
        PriceList::read(&path.display().to_string(), &text)
    }

    fn read(path: &str, text: &str) -> Result<PriceList, SpecError> {
        let list: PriceList = texts::read(path, text)?;
        let source = Source::new(path, text);
        list.check().map_err(|e| source.placed(e))?;
        Ok(list)
    }

    fn check(&self) -> Result<(), SpecError> {
        if self.orrery_prices != VERSION {
            let found = format!("version {} of price lists", self.orrery_prices);
            let allowed = VERSION.to_string();
            return Err(SpecError::value("orrery_prices", found, allowed, "write it anew"));
        }
        if !is_date(&self.date) {
            let (found, allowed) = (format!("`{}`", self.date), "a date, such as 2026-11-23");
            let remedy = "say when the prices were asked for: they change";
            return Err(SpecError::value("date", found, allowed, remedy));
        }
        if self.source.trim().is_empty() {
            let remedy = "say where the prices were read, or that they are invented";
            return Err(SpecError::value("source", "nothing", "where the prices are from", remedy));
        }
        for (i, offer) in self.offer.iter().enumerate() {
            let key = |part: &str| format!("offer[{i}].{part}");
            if self.offer[..i].iter().any(|other| other.name == offer.name) {
                let found = format!("`{}` again", offer.name);
                return Err(SpecError::value(key("name"), found, "each offer once", "remove one"));
            }
            if offer.devices == 0 || offer.devices > COUNT_MAX {
                let allowed = format!("1 to {COUNT_MAX}");
                let remedy = "say how many devices are sold together";
                return Err(SpecError::value(key("devices"), offer.devices, allowed, remedy));
            }
            let mut given = 0;
            for (buy, part) in [
                (Buy::OnDemand, "on_demand_usd_per_hour"),
                (Buy::Reserved, "reserved_usd_per_hour"),
                (Buy::Spot, "spot_usd_per_hour"),
            ] {
                if let Some(usd) = offer.usd_per_hour(buy) {
                    usd_per_hour(&key(part), usd, true)?;
                    given += 1;
                }
            }
            if given == 0 {
                let allowed = "on_demand_usd_per_hour, reserved_usd_per_hour or spot_usd_per_hour";
                return Err(SpecError::value(key("name"), "no price", allowed, "add one"));
            }
        }
        Ok(())
    }
}

/// Whether it is written as YEAR-MONTH-DAY.
fn is_date(text: &str) -> bool {
    let parts: Vec<&str> = text.split('-').collect();
    let number = |i: usize, digits: usize| {
        let part = parts.get(i).filter(|p| p.len() == digits)?;
        part.parse::<u32>().ok().filter(|_| part.bytes().all(|b| b.is_ascii_digit()))
    };
    parts.len() == 3
        && number(0, 4).is_some()
        && number(1, 2).is_some_and(|m| (1..=12).contains(&m))
        && number(2, 2).is_some_and(|d| (1..=31).contains(&d))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shipped_lists_are_whole() {
        for (name, _) in SHIPPED {
            let list = PriceList::find(name, Path::new("")).unwrap();
            assert_eq!(list.name, name);
            for offer in &list.offer {
                let sale = Sale::of_list(&list, "k", &offer.kind, Buy::OnDemand, 64).unwrap();
                assert!(sale.tariff.at_least(1).is_some(), "{name} {}", offer.name);
            }
        }
        let list = PriceList::find("lambda", Path::new("")).unwrap();
        let v100 = Sale::of_list(&list, "k", "V100", Buy::OnDemand, 20).unwrap();
        assert_eq!(v100.words(3).unwrap(), "1 gpu_8x_v100_n");
        let one = Sale::of_list(&list, "k", "V100", Buy::OnDemand, 1).unwrap_err().to_string();
        assert!(one.contains("packs of 8 devices or more, for at most 1"), "{one}");
        let h100 = Sale::of_list(&list, "k", "H100", Buy::OnDemand, 20).unwrap();
        // Seven by one, two and four are 29.03 $/h; eight are 31.92.
        assert_eq!(
            h100.words(7).unwrap(),
            "1 gpu_4x_h100_sxm5 + 1 gpu_2x_h100_sxm5 + 1 gpu_1x_h100_sxm5"
        );
        let error = Sale::of_list(&list, "k", "H100", Buy::Spot, 20).unwrap_err().to_string();
        assert!(
            error.contains("no spot price of `H100`") && error.contains("on-demand"),
            "{error}"
        );
        let error = Sale::of_list(&list, "k", "H1000", Buy::Spot, 20).unwrap_err().to_string();
        assert!(error.contains("did you mean `H100`?"), "{error}");
    }

    #[test]
    fn a_wrong_list_is_an_error_at_its_line() {
        let good = "orrery_prices = 1\nname = \"n\"\ndate = \"2026-01-31\"\nsource = \"invented\"\n\
                    [[offer]]\nname = \"a\"\nkind = \"a\"\nspot_usd_per_hour = 1.0\n";
        assert!(PriceList::read("p.toml", good).is_ok());
        for (from, to, parts) in [
            ("= 1\nname", "= 2\nname", ["p.toml:1", "version 2"]),
            ("2026-01-31", "31.1.2026", ["p.toml:3", "a date"]),
            ("2026-01-31", "2026-13-01", ["p.toml:3", "a date"]),
            ("invented", " ", ["p.toml:4", "where the prices"]),
            ("spot_usd_per_hour = 1.0", "spot_usd_per_hour = -1.0", ["p.toml:8", "above 0"]),
            ("spot_usd_per_hour = 1.0", "", ["p.toml:6", "no price"]),
            ("spot_usd_per_hour", "spot", ["p.toml:8", "spot"]),
            ("kind = \"a\"", "kind = \"a\"\ndevices = 0", ["p.toml:8", "1 to"]),
        ] {
            let error = PriceList::read("p.toml", &good.replace(from, to)).unwrap_err().to_string();
            assert!(parts.iter().all(|part| error.contains(part)), "{to}: {error}");
        }
        let twice =
            format!("{good}[[offer]]\nname = \"a\"\nkind = \"b\"\nspot_usd_per_hour = 1.0\n");
        assert!(PriceList::read("p.toml", &twice).unwrap_err().to_string().contains("again"));
        let error = PriceList::find("lamda", Path::new("")).unwrap_err().to_string();
        assert!(error.contains("did you mean `lambda`?"), "{error}");
        let error = PriceList::find("none.toml", Path::new("nowhere")).unwrap_err().to_string();
        assert!(error.contains("`none.toml`"), "{error}");
    }
}
