//! Which experiments an atlas has.

use crate::experiment::Experiment;
use crate::registry;
use orrery_run::SpecError;
use orrery_run::error::hint;

/// The experiments of an atlas, by paper, in the order of `orrery list`.
#[derive(Clone, Debug)]
pub struct Chosen {
    /// Papers, each with what is run of it.
    pub papers: Vec<(&'static str, Vec<Experiment>)>,
    /// What is left out because it takes longer than was allowed.
    pub longer: Vec<Experiment>,
}

impl Chosen {
    /// All that is shipped, or one paper's, that takes at most so many seconds by its file.
    ///
    /// # Errors
    /// When there is no such paper, nothing is left to run, or a shipped file is damaged.
    pub fn of(paper: Option<&str>, most_s: Option<u64>) -> Result<Chosen, SpecError> {
        let known = registry::by_paper();
        if let Some(name) = paper.filter(|name| known.iter().all(|k| k.0 != *name)) {
            let names = || known.iter().map(|k| k.0);
            let hint = hint(name, names());
            let allowed = names().collect::<Vec<_>>().join(", ");
            return Err(SpecError::value(
                "--of",
                format!("`{name}`"),
                allowed,
                format!("{hint}name one of them"),
            ));
        }
        let mut chosen = Chosen { papers: Vec::new(), longer: Vec::new() };
        let mut least_s = u64::MAX;
        for (name, ids) in known.into_iter().filter(|k| paper.is_none_or(|p| p == k.0)) {
            let all = ids.into_iter().map(registry::find).collect::<Result<Vec<_>, _>>()?;
            least_s = all.iter().map(|e| e.expected_s.into()).fold(least_s, u64::min);
            let fits = |e: &Experiment| most_s.is_none_or(|most| u64::from(e.expected_s) <= most);
            let (own, longer): (Vec<_>, Vec<_>) = all.into_iter().partition(fits);
            chosen.longer.extend(longer);
            if !own.is_empty() {
                chosen.papers.push((name, own));
            }
        }
        match chosen.papers.is_empty() {
            true => Err(SpecError::value(
                "--under",
                format!("{} s", most_s.unwrap_or(0)),
                format!("at least {least_s} s, which the shortest takes"),
                "allow more time; `orrery list` has the seconds of each",
            )),
            false => Ok(chosen),
        }
    }

    /// What is run, in its order.
    pub fn all(&self) -> impl Iterator<Item = &Experiment> {
        self.papers.iter().flat_map(|p| &p.1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_is_run_or_named_as_left_out() {
        let ids = |chosen: &Chosen| {
            let mut ids: Vec<String> =
                chosen.all().chain(&chosen.longer).map(|e| e.id.clone()).collect();
            ids.sort();
            ids
        };
        let mut shipped: Vec<String> = registry::ids().map(String::from).collect();
        shipped.sort();
        let whole = Chosen::of(None, None).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!((ids(&whole), whole.longer.len()), (shipped.clone(), 0));
        let short = Chosen::of(None, Some(60)).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(ids(&short), shipped);
        assert!(short.all().all(|e| e.expected_s <= 60));
        assert!(short.longer.iter().all(|e| e.expected_s > 60) && !short.longer.is_empty());
        let salus = Chosen::of(Some("salus"), None).unwrap_or_else(|e| panic!("{e}"));
        assert!(salus.all().all(|e| e.id.starts_with("salus-")));
    }

    #[test]
    fn a_wrong_paper_and_too_little_time_are_refused_with_a_remedy() {
        let said =
            |paper, most| Chosen::of(paper, most).err().map(|e| e.to_string()).unwrap_or_default();
        assert!(
            said(Some("orloi"), None).contains("did you mean `orloj`?"),
            "{}",
            said(Some("orloi"), None)
        );
        assert!(said(Some("symphony"), Some(0)).contains("allow more time"));
    }
}
