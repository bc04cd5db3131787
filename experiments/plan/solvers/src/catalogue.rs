//! Prices, and the catalogue of instance types that can be rented.
//!
//! A price is whole millionths of a dollar per hour, so that costs add up exactly and a budget is
//! neither missed nor exceeded by rounding.

use crate::PlannerError;
use std::fmt;
use std::iter::Sum;
use std::ops::{Add, Mul};

const MICRO: u64 = 1_000_000;
/// The largest price that is read: a million dollars per hour.
const USD_PER_HOUR_MAX: f64 = 1e6;

/// Money per hour, in whole millionths of a dollar.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Price(u64);

impl Price {
    /// What costs nothing.
    pub const ZERO: Price = Price(0);

    /// Millionths of a dollar per hour.
    pub const fn micro_usd_per_hour(micro: u64) -> Price {
        Price(micro)
    }

    /// Dollars per hour, rounded to the nearest millionth. `what` names the price in an error.
    ///
    /// # Errors
    /// When it is negative, above a million, or no number.
    pub fn usd_per_hour(what: &str, value: f64) -> Result<Price, PlannerError> {
        if !(0.0..=USD_PER_HOUR_MAX).contains(&value) {
            let (what, most) = (what.to_owned(), USD_PER_HOUR_MAX);
            return Err(PlannerError::Price { what, value, most });
        }
        Ok(Price((value * MICRO as f64).round() as u64))
    }

    /// Millionths of a dollar per hour.
    pub const fn as_micro_usd_per_hour(self) -> u64 {
        self.0
    }

    /// Dollars per hour, for ratios.
    pub fn as_usd_per_hour(self) -> f64 {
        self.0 as f64 / MICRO as f64
    }

    /// Dollars for a million queries at a rate; none when nothing is served.
    pub fn usd_per_million(self, rate_per_s: f64) -> Option<f64> {
        (rate_per_s > 0.0).then(|| self.as_usd_per_hour() / (rate_per_s * 3600.0) * 1e6)
    }
}

/// Exact, without trailing zeros: `2.463`.
impl fmt::Display for Price {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = format!("{}.{:06}", self.0 / MICRO, self.0 % MICRO);
        f.pad(digits.trim_end_matches('0').trim_end_matches('.'))
    }
}

impl Add for Price {
    type Output = Price;
    fn add(self, other: Price) -> Price {
        Price(self.0.saturating_add(other.0))
    }
}

impl Mul<u32> for Price {
    type Output = Price;
    fn mul(self, count: u32) -> Price {
        Price(self.0.saturating_mul(u64::from(count)))
    }
}

impl Sum for Price {
    fn sum<I: Iterator<Item = Price>>(prices: I) -> Price {
        prices.fold(Price::ZERO, Add::add)
    }
}

/// What an instance type is to a pool (paper §4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Meets the QoS target at every query size; each pool has at least one.
    Base,
    /// Cheaper, and meets the target for small queries only.
    Auxiliary,
}

/// A type of instance that can be rented.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InstanceType {
    /// Such as `g4dn.xlarge`.
    pub name: String,
    /// Of one instance.
    pub price: Price,
    /// The most of them that a pool may have.
    pub max_count: u32,
    /// Base or auxiliary.
    pub role: Role,
}

/// Instance types in a fixed order, one of which is the base.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Catalogue {
    types: Vec<InstanceType>,
    base: usize,
}

impl Catalogue {
    /// The catalogue of these types; pools count them in this order.
    ///
    /// # Errors
    /// When it is empty, a name comes twice, there is not exactly one base type, or no base
    /// instance is allowed.
    pub fn new(types: Vec<InstanceType>) -> Result<Catalogue, PlannerError> {
        if types.is_empty() {
            return Err(PlannerError::EmptyCatalogue);
        }
        for (i, t) in types.iter().enumerate() {
            if types[..i].iter().any(|other| other.name == t.name) {
                return Err(PlannerError::TwiceInCatalogue { name: t.name.clone() });
            }
        }
        let mut bases = (0..types.len()).filter(|i| types[*i].role == Role::Base);
        let Some(base) = bases.next() else {
            let names = types.iter().map(|t| t.name.as_str()).collect::<Vec<_>>().join(", ");
            return Err(PlannerError::NoBase { names });
        };
        if let Some(second) = bases.next() {
            let (first, second) = (types[base].name.clone(), types[second].name.clone());
            return Err(PlannerError::TwoBases { first, second });
        }
        if types[base].max_count == 0 {
            return Err(PlannerError::NoBaseAllowed { name: types[base].name.clone() });
        }
        Ok(Catalogue { types, base })
    }

    /// The types, in order.
    pub fn types(&self) -> &[InstanceType] {
        &self.types
    }

    /// The number of the base type.
    pub fn base(&self) -> usize {
        self.base
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(name: &str, role: Role) -> InstanceType {
        InstanceType { name: name.into(), price: Price(1), max_count: 1, role }
    }

    #[test]
    fn prices_add_up_exactly_and_print_without_trailing_zeros() {
        let price = |usd| Price::usd_per_hour("price", usd).unwrap();
        let cost = price(0.526) + price(0.149) * 13;
        assert_eq!(cost, Price::micro_usd_per_hour(2_463_000));
        assert_eq!(cost.to_string(), "2.463");
        assert_eq!(price(0.1664).to_string(), "0.1664");
        assert_eq!(price(2.0).to_string(), "2");
        // 0.0157 * 1e6 is a hair below 15,700 in floats.
        assert_eq!(price(0.0157).as_micro_usd_per_hour(), 15_700);
        assert_eq!(Price::ZERO.to_string(), "0");
        assert_eq!(format!("{:>6}", price(0.5)), "   0.5");
    }

    #[test]
    fn a_million_queries_at_one_per_second_cost_as_many_seconds() {
        let price = Price::usd_per_hour("price", 3.6).unwrap();
        assert_eq!(price.usd_per_million(1.0), Some(1000.0));
        assert_eq!(price.usd_per_million(0.0), None);
    }

    #[test]
    fn wrong_prices_are_errors() {
        for value in [-0.4, f64::NAN, f64::INFINITY, 1e7] {
            let error = Price::usd_per_hour("price:g4dn.xlarge", value).unwrap_err();
            assert!(error.to_string().contains("`price:g4dn.xlarge`"), "{error}");
        }
    }

    #[test]
    fn wrong_catalogues_are_errors() {
        let new = |types| Catalogue::new(types).unwrap_err();
        assert_eq!(new(vec![]), PlannerError::EmptyCatalogue);
        let no_base = new(vec![one("a", Role::Auxiliary), one("b", Role::Auxiliary)]);
        assert_eq!(no_base, PlannerError::NoBase { names: "a, b".into() });
        let two = new(vec![one("a", Role::Base), one("b", Role::Base)]);
        assert_eq!(two, PlannerError::TwoBases { first: "a".into(), second: "b".into() });
        let twice = new(vec![one("a", Role::Base), one("a", Role::Auxiliary)]);
        assert_eq!(twice, PlannerError::TwiceInCatalogue { name: "a".into() });
        let none = InstanceType { max_count: 0, ..one("a", Role::Base) };
        assert_eq!(new(vec![none]), PlannerError::NoBaseAllowed { name: "a".into() });
    }
}
