//! Which keys of a plan go together: a day, failures and fleets are for plans that carry their load, prices and GPUs
//! of types that have a list or a zoo.

use crate::input::file::{Instance, PlanFile, Pools};
use crate::input::loss::Survive;
use crate::input::prices::Buy;
use orrery_run::SpecError;
use orrery_run::error::hint;

impl PlanFile {
    /// Keys that only some forms of a plan know.
    pub(crate) fn check_forms(&self) -> Result<(), SpecError> {
        let carries = self.goal.is_some();
        let only = |key: &str, found: &str| {
            let remedy = "write `goal = \"carry-load\"` in place of the budget";
            let allowed = "a plan for a given load (`goal`)";
            Err(SpecError::value(key, found, allowed, remedy))
        };
        if self.pools == Pools::Fleet && !carries {
            return only("pools", "a fleet under a budget");
        }
        self.check_survive()?;
        if self.is_to_survive() && !carries {
            return only("survive", "a plan under a budget");
        }
        self.check_searched()?;
        let Some(day) = &self.day else { return Ok(()) };
        day.check()?;
        if !carries {
            return only("day", "a plan under a budget");
        }
        Ok(())
    }

    /// Keys of a search that this plan does not make.
    fn check_searched(&self) -> Result<(), SpecError> {
        let only = |key: &str, found: String, allowed: &str| {
            Err(SpecError::value(key, found, allowed, format!("remove `{key}`")))
        };
        let mixed = "plans of pools of several types only (`pools = \"heterogeneous\"`)";
        if self.pools == Pools::Heterogeneous {
            return Ok(());
        }
        if let Some(slack) = self.bound_slack {
            return only("bound_slack", slack.to_string(), mixed);
        }
        if let Some(base) = self.instance.iter().position(|t| t.base) {
            return only(&format!("instance[{base}].base"), "true".to_string(), mixed);
        }
        match self.evaluations_max.filter(|_| self.pools == Pools::Homogeneous) {
            Some(most) => {
                let allowed = "plans of pools of several types and of fleets only (`pools`)";
                only("evaluations_max", most.to_string(), allowed)
            }
            None => Ok(()),
        }
    }

    /// What is said of a price list or a zoo has one.
    pub(crate) fn check_offers(&self, i: usize) -> Result<(), SpecError> {
        let t = &self.instance[i];
        let (own, list) = (t.price_usd_per_hour.is_some(), self.list.is_some());
        let unlisted = if own { "a price of its own" } else { "no price list" };
        let term = |buy: Buy| format!("`{}`, and {unlisted}", buy.name());
        let of_list = "of a type whose price is the list's (`prices`)";
        let (key, found, allowed) = match t {
            Instance { offers_of: Some(name), .. } if own || !list => {
                ("offers_of", format!("`{name}`, and {unlisted}"), of_list)
            }
            Instance { buy: Some(buy), .. } if own || !list => ("buy", term(*buy), of_list),
            Instance { gpu: Some(gpu), zoo: None, .. } => {
                ("gpu", format!("`{gpu}`, and no zoo"), "of a type with a `zoo`")
            }
            _ if !list && self.buy != Buy::OnDemand => {
                let found = format!("`{}`, and no price list", self.buy.name());
                let remedy = "name a price list (`prices`), or remove `buy`";
                return Err(SpecError::value("buy", found, "of a plan with `prices`", remedy));
            }
            _ => return Ok(()),
        };
        let remedy = format!("remove `{key}`, or what it contradicts");
        Err(SpecError::value(format!("instance[{i}].{key}"), found, allowed, remedy))
    }
}

impl PlanFile {
    /// Whether some machine may be lost.
    pub fn is_to_survive(&self) -> bool {
        !matches!(self.survive, None | Some(Survive::Any(0)))
    }

    /// Whether a machine of a type may be lost.
    pub fn may_lose(&self, kind: usize) -> bool {
        match &self.survive {
            None => false,
            Some(Survive::Any(n)) => *n > 0,
            Some(Survive::Kind(name)) => self.instance.get(kind).is_some_and(|t| t.kind == *name),
        }
    }

    /// The type that `survive` names, where it names one.
    pub fn may_lose_only(&self) -> Option<usize> {
        let Some(Survive::Kind(name)) = &self.survive else { return None };
        self.instance.iter().position(|t| t.kind == *name)
    }

    /// Whether one of these machines may be lost; of a pool of several types, or what is left of it.
    pub fn may_lose_of(&self, counts: &[u32]) -> bool {
        match self.pools {
            Pools::Heterogeneous => self.is_to_survive(),
            _ => (0..counts.len()).any(|kind| counts[kind] > 0 && self.may_lose(kind)),
        }
    }

    /// # Errors
    /// When it is more than one machine, or a type that the plan does not have.
    pub(crate) fn check_survive(&self) -> Result<(), SpecError> {
        let kinds: Vec<&str> = self.instance.iter().map(|t| t.kind.as_str()).collect();
        let allowed =
            || format!("0, 1 (any one machine of each type), or one of {}", kinds.join(", "));
        match &self.survive {
            Some(Survive::Any(n)) if *n > 1 => {
                Err(SpecError::value("survive", n, allowed(), "correct or remove it"))
            }
            Some(Survive::Kind(name)) => {
                match self.may_lose_only().map(|kind| &self.instance[kind]) {
                    None => {
                        let hint = hint(name, kinds.iter().copied());
                        let remedy = format!("{hint}name a `kind` of an `[[instance]]`");
                        Err(SpecError::value("survive", format!("`{name}`"), allowed(), remedy))
                    }
                    Some(t) if t.count_max == Some(0) => {
                        let found = format!("`{name}`, of which `count_max = 0` allows none");
                        let remedy = "raise its `count_max`, or name another type";
                        Err(SpecError::value("survive", found, "a type that may be bought", remedy))
                    }
                    Some(_) => Ok(()),
                }
            }
            _ => Ok(()),
        }
    }
}
