//! What the papers' headlines say, asked in the regimes of the suite: their own ones and the others.
//!
//! A headline in a regime is a claim as experiments have them, judged by the same rules.

use crate::league::League;
use crate::rows::place;
use crate::suite::Suite;
use orrery_reproduce::claims::{Checked, Claim, LeftOut, Take, Verdict, asked, cells_of, judged};
use orrery_results::{RESULT_VERSION, Row, difference_of, metric, seed_list, unit};
use orrery_run::{SpecError, policies};
use orrery_scenario::scenario::place::parse_error;
use orrery_sim::stats;
use orrery_sweep::hash::spec_sha256;
use serde::Deserialize;
use serde_json::{Value, json};

/// The headlines of each suite that has any.
const SHIPPED: [(&str, &str); 1] = [("2026.1", include_str!("../claims/2026.1.toml"))];

/// With fewer seeds than these no claim about runs is judged.
pub const SEEDS: u32 = 5;

/// The headlines of a suite, and the regimes in which they are asked.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Headlines {
    /// The suite.
    pub suite: String,
    /// The regimes.
    pub regime: Vec<Regime>,
    /// The headlines.
    pub headline: Vec<Headline>,
}

/// A part of the suite, by its axes.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Regime {
    /// Its name in rows.
    pub name: String,
    /// In words.
    pub words: String,
    /// As in [`Claim::at`].
    pub at: String,
}

/// What a paper says in its abstract.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Headline {
    /// Its name in rows.
    pub id: String,
    /// The paper and the place in it.
    pub source: String,
    /// The regimes that the paper was made for.
    pub own: Vec<String>,
    /// Narrows these, by more axes.
    #[serde(default)]
    pub own_at: String,
    /// Why the suite cannot ask it.
    #[serde(default)]
    pub not_asked: String,
    /// The claim.
    pub claim: Claim,
}

/// A headline in a regime.
#[derive(Clone, Debug)]
pub struct Judged {
    /// The headline.
    pub headline: Headline,
    /// The regime.
    pub regime: Regime,
    /// Whether the paper was made for it.
    pub is_own: bool,
    /// The claim, there.
    pub claim: Claim,
    /// What came of it.
    pub checked: Checked,
}

impl Headlines {
    /// Those of a suite; none for one that the papers are not asked in.
    ///
    /// # Errors
    /// When the file is wrong.
    pub fn of(suite: &str) -> Result<Option<Headlines>, SpecError> {
        let Some((name, text)) = SHIPPED.iter().find(|s| s.0 == suite) else { return Ok(None) };
        let file = format!("claims/{name}.toml");
        let out: Headlines = toml::from_str(text).map_err(|e| parse_error(&file, text, &e))?;
        for headline in &out.headline {
            headline.claim.check().map_err(|e| e.in_file(&file))?;
        }
        Ok(Some(out))
    }

    /// Each headline in each regime, its own ones first.
    fn claims(&self) -> Vec<(&Headline, &Regime, bool, Claim)> {
        let mut out = Vec::new();
        for headline in &self.headline {
            for is_own in [true, false] {
                for regime in
                    self.regime.iter().filter(|r| headline.own.contains(&r.name) == is_own)
                {
                    let more = if is_own { headline.own_at.as_str() } else { "" };
                    let at = [regime.at.as_str(), more];
                    let at: Vec<&str> = at.into_iter().filter(|a| !a.is_empty()).collect();
                    let text =
                        format!("{} ({}): {}", headline.claim.text, headline.source, regime.words);
                    let claim = Claim { at: at.join(";"), text, ..headline.claim.clone() };
                    out.push((headline, regime, is_own, claim));
                }
            }
        }
        out
    }
}

/// Judges each headline in each regime by a league's rows. A suite without headlines has none.
///
/// # Errors
/// When a shipped file is wrong.
pub fn judge(league: &League, rows: &[Row]) -> Result<Vec<Judged>, SpecError> {
    let Some(headlines) = Headlines::of(&league.asked.suite.name)? else {
        return Ok(Vec::new());
    };
    let posed = headlines.claims();
    let rows = spoken_of(league, rows, &headlines);
    let is_part = league.asked.suite.scenarios.len() < league.asked.suite.whole;
    let whole = is_part.then(|| whole(&headlines)).transpose()?;
    let left_out = |claim: &Claim| LeftOut {
        // Searches have seeds of their own.
        seeds: Some((league.asked.seeds, SEEDS))
            .filter(|(run, all)| run < all && claim.metric != metric::PEAK),
        cells: whole
            .as_ref()
            .map(|whole| cells_of(std::slice::from_ref(claim), whole, metric::FINISH_RATE)),
    };
    let one = |(headline, regime, is_own, claim): (&Headline, &Regime, bool, Claim)| {
        let checked = judged(std::slice::from_ref(&claim), &left_out(&claim), &rows).remove(0);
        let checked = excused(league, headline, &claim, checked);
        let (headline, regime) = (headline.clone(), regime.clone());
        Judged { headline, regime, is_own, claim, checked }
    };
    Ok(posed.into_iter().map(one).collect())
}

/// What cannot be asked is not judged, with the reason.
fn excused(league: &League, headline: &Headline, claim: &Claim, checked: Checked) -> Checked {
    let not = |why: &str| Checked {
        verdict: Verdict::NotJudged,
        why: why.to_string(),
        cells: Vec::new(),
        good: 0,
        taken: None,
        unanswered: 0,
        taken_ci95: None,
        cause: None,
    };
    if !headline.not_asked.is_empty() {
        return not(&headline.not_asked);
    }
    match checked.verdict {
        Verdict::NotRun if claim.metric == metric::PEAK && league.rates.is_none() => {
            not("it is of the highest rate, for which `--goodput` searches")
        }
        _ => checked,
    }
}

/// The rows of the shipped policies, as they compete, and their differences where a headline asks for a ratio.
fn spoken_of(league: &League, rows: &[Row], headlines: &Headlines) -> Vec<Row> {
    let is_shipped = |name: &str| policies::all().any(|table| table.about.name == name);
    // One's own setting of a shipped policy is not what its paper speaks of.
    let is_bare = |p: usize| is_shipped(league.name(p));
    let bare: Vec<usize> = (0..league.names.len()).filter(|p| is_bare(*p)).collect();
    let texts: Vec<&str> = bare.iter().map(|p| league.board.names[*p].as_str()).collect();
    let mut out: Vec<Row> =
        rows.iter().filter(|r| texts.contains(&r.policy.as_str())).cloned().collect();
    let system = |name: &str| bare.iter().copied().find(|p| league.name(*p) == name);
    let mut known: Vec<(&str, &str, &str)> = Vec::new();
    for Claim { of, over, metric, .. } in headlines.headline.iter().map(|h| &h.claim) {
        let pair = (of.as_str(), over.as_str(), metric.as_str());
        if let (Some(a), Some(b), false) = (system(of), system(over), known.contains(&pair)) {
            known.push(pair);
            out.extend(differences(league, a, b, metric));
        }
    }
    out
}

/// The paired difference of two policies in each scenario.
fn differences(league: &League, a: usize, b: usize, metric: &str) -> Vec<Row> {
    let searched = league.rates.iter().flat_map(|r| r.scenarios.iter().copied().zip(&r.cells));
    let of = |(s, row): (usize, &Vec<crate::fight::Fought>)| {
        let (own, other) = (row[a].values(metric)?, row[b].values(metric)?);
        let interval = stats::paired(&own, &other)?;
        let seeds: Vec<u64> = row[a].runs.iter().map(|r| r.seed).take(other.len()).collect();
        let mut row = Row {
            scope: "all".into(),
            metric: difference_of(metric),
            versus: row[b].place.system.clone(),
            value: Some(interval.mean),
            seeds: seed_list(&seeds),
            flags: String::new(),
            ..place(league, s, &row[a])
        };
        row.set_interval(interval.low, interval.high, "paired-replications");
        Some(row)
    };
    match metric == metric::PEAK {
        true => searched.filter_map(of).collect(),
        false => league.cells.iter().enumerate().filter_map(of).collect(),
    }
}

/// The places of all scenarios of the suite, for every system that a headline names.
fn whole(headlines: &Headlines) -> Result<Vec<Row>, SpecError> {
    let suite = Suite::find(&headlines.suite)?;
    let claims = || headlines.headline.iter().map(|h| &h.claim);
    let mut systems: Vec<&str> = claims().flat_map(|c| [c.of.as_str(), c.over.as_str()]).collect();
    systems.sort_unstable();
    systems.dedup();
    let row = |asked: &crate::suite::Asked, system: &str, metric: &str| Row {
        case: asked.name.clone(),
        axes: asked.axes.clone(),
        system: system.to_string(),
        scope: "all".into(),
        metric: metric.to_string(),
        value: Some(1.0),
        ..Row::default()
    };
    let metrics = [metric::FINISH_RATE, metric::GOODPUT, metric::PEAK];
    let each = |asked| {
        let of = move |system: &&str| metrics.map(|metric| row(asked, system, metric));
        systems.iter().flat_map(of).collect::<Vec<Row>>()
    };
    Ok(suite.scenarios.iter().flat_map(each).collect())
}

impl Judged {
    /// The value that the verdict is about: what is taken of the cells, or the one nearest to being false.
    pub fn value(&self) -> Option<f64> {
        let cells = self.checked.cells.iter().map(|c| c.value);
        match self.claim.take {
            Take::Each => cells.reduce(f64::min),
            _ => self.checked.taken,
        }
    }
}

/// A row for each headline in each regime.
pub fn rows(league: &League, verdicts: &[Judged]) -> Vec<Row> {
    let suite = &league.asked.suite;
    let row = |j: &Judged| {
        let (regime, own) = (&j.regime.name, if j.is_own { "own" } else { "other" });
        let seeds = league.asked.seeds.to_string();
        let over = match j.claim.over.as_str() {
            "" => String::new(),
            over => format!(";over={over}"),
        };
        let mut row = Row {
            experiment: league.id.clone(),
            case: j.headline.id.clone(),
            axes: format!("regime={regime};regime_is={own}{over}"),
            system: j.claim.of.clone(),
            policy: j.claim.of.clone(),
            scope: "all".into(),
            metric: metric::CLAIMED.into(),
            unit: unit(metric::CLAIMED).into(),
            paper: j.claim.at_least,
            paper_source: j.headline.source.clone(),
            spec_sha256: spec_sha256(&["headline", &j.headline.id, regime, &suite.sha256, &seeds]),
            result_version: RESULT_VERSION,
            inputs_sha256: format!("suite-{}={}", suite.name, suite.sha256),
            ..Row::default()
        };
        match j.value() {
            Some(value) if value.is_finite() => row.value = Some(value),
            Some(_) => row.without_answer("the ratio is infinite: the other finishes nothing"),
            None => row.without_answer(match j.checked.why.as_str() {
                "" => "no scenario of the regime was run by both",
                why => why,
            }),
        }
        // After a value is refused, whose flags would say that.
        row.flag(&j.checked.verdict.words().replace(' ', "-"));
        row
    };
    verdicts.iter().map(row).collect()
}

/// The same for JSON: each claim with what came out, as an experiment's result has it.
pub fn json(verdicts: &[Judged]) -> Value {
    let one = |j: &Judged| {
        json!({
            "headline": j.headline.id, "source": j.headline.source, "regime": j.regime.name, "own": j.is_own,
            "text": j.claim.text, "asked": asked(&j.claim), "value": j.value(), "came_out": j.checked,
        })
    };
    verdicts.iter().map(one).collect()
}
