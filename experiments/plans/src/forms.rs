//! Which keys of a plan go together: a day, failures and fleets are for plans that carry their load, prices and GPUs
//! of types that have a list or a zoo.

use super::day::Scale;
use super::file::{Instance, PlanFile, Pools, number};
use super::prices::Buy;
use orrery_scenario::SpecError;

impl PlanFile {
    /// Keys that only some forms of a plan know.
    pub(super) fn check_forms(&self) -> Result<(), SpecError> {
        let carries = self.goal.is_some();
        let only = |key: &str, found: &str| {
            let remedy = "write `goal = \"carry-load\"` in place of the budget";
            let allowed = "a plan that carries its load (`goal`)";
            Err(SpecError::value(key, found, allowed, remedy))
        };
        if self.pools == Pools::Fleet && !carries {
            return only("budget_usd_per_hour", "a budget of a fleet");
        }
        number(
            "survive",
            self.survive.unwrap_or(0).into(),
            0.0,
            1.0,
            "0 or 1 machine of each type",
        )?;
        if self.survive == Some(1) && !carries {
            return only("survive", "a plan under a budget");
        }
        self.check_searched()?;
        let Some(day) = &self.day else { return Ok(()) };
        day.check()?;
        if !carries {
            return only("day", "a plan under a budget");
        }
        if day.scale == Scale::Follow && self.pools == Pools::Heterogeneous {
            let allowed = "`\"follow\"` for clusters and fleets (`pools`)";
            let remedy = "size these pools for the peak (`scale = \"peak\"`)";
            return Err(SpecError::value("day.scale", "\"follow\"", allowed, remedy));
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
    pub(super) fn check_offers(&self, i: usize) -> Result<(), SpecError> {
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

    /// The machines that may be lost.
    pub fn lost(&self) -> u32 {
        self.survive.unwrap_or(0)
    }
}
