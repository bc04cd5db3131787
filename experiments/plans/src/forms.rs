//! Which keys of a plan go together: a day, failures and fleets are for plans that carry their load.

use super::day::Scale;
use super::file::{PlanFile, Pools, number};
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

    /// The machines that may be lost.
    pub fn lost(&self) -> u32 {
        self.survive.unwrap_or(0)
    }
}
