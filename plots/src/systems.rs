//! Which look a system has: its own, in every figure, whatever stands beside it.
//!
//! A variant of a system in the same figure (other parameters) keeps the colour while that tells it apart;
//! what is no system takes a look that no system of the figure has.

use crate::panel::Look;
use crate::scene::{Color, Stroke};
use crate::style::{COLORS, DASHES, Fill, SHAPES, Shape, Style};
use orrery_results::system_of;
use std::collections::BTreeSet;

/// Colours by their place in [`COLORS`].
const BLUE: usize = 0;
const VERMILLION: usize = 1;
const GREEN: usize = 2;
const PURPLE: usize = 3;
const INDIGO: usize = 4;
const BROWN: usize = 5;
const SKY: usize = 6;
const WINE: usize = 7;
const GREY: usize = 8;
const BLACK: usize = 9;
/// Of systems alone.
const VIOLET: usize = 10;
const TEAL: usize = 11;
const LIME: usize = 12;

/// The look of a system.
struct System {
    name: &'static str,
    color: usize,
    shape: Shape,
    /// Its place in [`DASHES`].
    dash: usize,
    /// How much of the colour its areas have: systems of one paper differ in grey.
    tint: f64,
}

const fn row(name: &'static str, color: usize, shape: Shape, dash: usize, tint: f64) -> System {
    System { name, color, shape, dash, tint }
}

/// The table. CLKWRK is Kairos's Clockwork, ORCL its oracle: they look like these.
const SYSTEMS: &[System] = &[
    row("orloj", VERMILLION, Shape::Circle, 0, 0.8),
    row("clockwork", GREEN, Shape::Up, 2, 0.5),
    row("nexus", BLUE, Shape::Square, 1, 1.0),
    row("nexus-cluster", BLUE, Shape::Left, 3, 0.7),
    row("clipper", PURPLE, Shape::Diamond, 3, 0.3),
    row("symphony", INDIGO, Shape::Circle, 0, 1.0),
    row("shepherd", BROWN, Shape::Down, 4, 1.0),
    row("eager", WINE, Shape::Plus, 5, 0.6),
    row("alpaserve", SKY, Shape::Star, 6, 0.6),
    row("infaas", TEAL, Shape::Down, 1, 0.8),
    row("timeout", LIME, Shape::Left, 2, 0.4),
    row("fifo", GREY, Shape::Square, 4, 0.3),
    row("oracle", BLACK, Shape::Star, 2, 0.8),
    row("orcl", BLACK, Shape::Star, 2, 0.8),
    row("kairos", VIOLET, Shape::Up, 0, 0.8),
    row("ribbon", BLUE, Shape::Diamond, 1, 1.0),
    row("drs", PURPLE, Shape::Down, 4, 0.3),
    row("clkwrk", GREEN, Shape::Plus, 2, 0.5),
    // Jobs.
    row("srtf", VERMILLION, Shape::Circle, 0, 0.8),
    row("pack", BLUE, Shape::Up, 1, 1.0),
    row("fair", GREEN, Shape::Diamond, 2, 0.5),
    row("las", WINE, Shape::Plus, 5, 1.0),
    row("dynamic", VERMILLION, Shape::Circle, 0, 0.8),
    row("static", BLUE, Shape::Square, 1, 1.0),
];

/// Variants of one system that keep its colour.
const VARIANTS: usize = 3;

/// The system of a name: `clockwork[ahead_ms=15]`, `clockwork-paper` and `CLOCKWORK, tight` are Clockwork.
fn system(name: &str) -> Option<&'static System> {
    let name = system_of(name).to_lowercase();
    let is_of = |s: &&System| {
        let rest = name.strip_prefix(s.name);
        rest.is_some_and(|r| !r.starts_with(|c: char| c.is_alphanumeric()))
    };
    SYSTEMS.iter().filter(is_of).max_by_key(|s| s.name.len())
}

/// The looks of the series of a figure.
#[derive(Clone, Debug)]
pub(crate) struct Looks(Vec<(String, Style, Look)>);

/// What is taken in a figure.
#[derive(Default)]
struct Taken {
    /// Pairs of shape and dashes: what is read without colour.
    styles: BTreeSet<(usize, usize)>,
    colors: BTreeSet<usize>,
    /// How many of a system have a look.
    variants: Vec<&'static str>,
}

impl Taken {
    /// The first free pair of shape and dashes from a pair on.
    fn pair(&mut self, shape: usize, dash: usize) -> (usize, usize) {
        let all = SHAPES.len() * DASHES.len();
        let next = |i: usize| ((shape + i) % SHAPES.len(), (dash + i + i / all) % DASHES.len());
        let free = (0..all).map(next).find(|p| !self.styles.contains(p));
        let pair = free.unwrap_or((shape, dash));
        self.styles.insert(pair);
        pair
    }
}

impl Looks {
    /// For these names, each once: systems first, then what is left.
    pub(crate) fn of<S: AsRef<str>>(names: &[S]) -> Looks {
        let mut taken = Taken::default();
        let known = |name: &str, taken: &mut Taken| -> Option<(Style, Look)> {
            let s = system(name)?;
            let before = taken.variants.iter().filter(|n| **n == s.name).count();
            if before == VARIANTS {
                return None;
            }
            taken.variants.push(s.name);
            let shape = SHAPES.iter().position(|x| *x == s.shape).unwrap_or(0);
            let pair = taken.pair((shape + before) % SHAPES.len(), s.dash + before);
            taken.colors.insert(s.color);
            let tint = if before == 2 { 0.5 * s.tint } else { s.tint };
            Some((style(s.color, pair), area(s.color, tint, before == 1)))
        };
        let mut looks: Vec<Option<(Style, Look)>> =
            names.iter().map(|n| known(n.as_ref(), &mut taken)).collect();
        for (place, look) in looks.iter_mut().filter(|l| l.is_none()).enumerate() {
            *look = Some(other(place, &mut taken));
        }
        let named = names.iter().zip(looks.into_iter().flatten());
        Looks(named.map(|(n, (s, a))| (n.as_ref().to_string(), s, a)).collect())
    }

    fn find(&self, name: &str) -> Option<&(String, Style, Look)> {
        self.0.iter().find(|l| l.0 == name)
    }

    /// Its line and marker.
    pub(crate) fn style(&self, name: &str) -> Style {
        self.find(name).map_or_else(|| style(BLACK, (0, 0)), |l| l.1)
    }

    /// How its areas are filled and outlined.
    pub(crate) fn area(&self, name: &str) -> Look {
        self.find(name).map_or_else(|| area(GREY, 1.0, false), |l| l.2)
    }
}

/// The look of the `place`-th name that is no system.
fn other(place: usize, taken: &mut Taken) -> (Style, Look) {
    let order = [BLUE, VERMILLION, GREEN, PURPLE, INDIGO, SKY, BROWN, WINE, GREY, BLACK];
    let free: Vec<usize> = order.into_iter().filter(|c| !taken.colors.contains(c)).collect();
    let colors = if free.is_empty() { &order[..] } else { &free };
    let color = colors[(place + place / colors.len()) % colors.len()];
    let pair = taken.pair(place % SHAPES.len(), place % DASHES.len());
    // In grey as different as ten can be.
    let tint = [1.0, 0.8, 0.5, 0.3, 1.0, 0.5, 0.9, 0.75, 0.25, 0.8][color];
    (style(color, pair), area(color, tint, place >= colors.len()))
}

fn style(color: usize, (shape, dash): (usize, usize)) -> Style {
    let color = COLORS[color];
    let stroke = Stroke { color, width: 1.6, dash: DASHES[dash % DASHES.len()] };
    Style { color, shape: SHAPES[shape % SHAPES.len()], fill: Fill::Full, stroke }
}

/// Filled, or hatched: white areas would look like the paper's.
fn area(color: usize, tint: f64, hatched: bool) -> Look {
    let color = COLORS[color];
    let fill = if hatched { color.tint(0.5 * tint) } else { color.tint(tint) };
    Look { fill, outline: Some(Stroke::solid(Color::BLACK, 0.5)), hatched }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Systems that papers compare.
    const TOGETHER: [&[&str]; 6] = [
        &["clipper", "nexus", "clockwork", "orloj"],
        &["symphony", "shepherd", "nexus", "clockwork", "eager"],
        &["kairos", "ribbon", "drs", "clkwrk", "oracle"],
        &["clockwork", "clipper", "infaas"],
        &["FIFO", "SRTF", "PACK", "FAIR", "LAS"],
        &["dynamic", "static"],
    ];

    #[test]
    fn a_system_looks_the_same_beside_any_other() {
        let alone = Looks::of(&["clockwork"]).style("clockwork");
        for others in TOGETHER {
            let mut names: Vec<&str> = others.to_vec();
            names.retain(|n| *n != "clockwork");
            names.push("clockwork");
            assert_eq!(Looks::of(&names).style("clockwork"), alone, "{names:?}");
        }
        let parameters = "clockwork[ahead_ms=15]";
        assert_eq!(Looks::of(&[parameters]).style(parameters), alone);
        assert_eq!(Looks::of(&["clockwork-paper"]).style("clockwork-paper"), alone);
        assert!(system("nexusish").is_none() && system("0.9").is_none());
        assert_eq!(system("nexus-cluster[plan=static]").unwrap().name, "nexus-cluster");
    }

    /// In the arena all meet.
    #[test]
    fn no_two_systems_of_requests_share_a_colour_but_those_of_one_name() {
        let of_requests = SYSTEMS.iter().take_while(|s| s.name != "srtf");
        let mut seen: Vec<(&str, usize)> = Vec::new();
        for s in of_requests {
            // Kairos's Ribbon, DRS, Clockwork and oracle do not fight there.
            if ["ribbon", "drs", "clkwrk", "orcl"].contains(&s.name) {
                continue;
            }
            let other = seen.iter().find(|o| o.1 == s.color && !s.name.starts_with(o.0));
            assert_eq!(other, None, "{}", s.name);
            seen.push((s.name, s.color));
        }
        assert_eq!(seen.len(), 14);
    }

    #[test]
    fn systems_of_one_paper_differ_in_colour_and_in_grey() {
        for names in TOGETHER {
            let looks = Looks::of(names);
            let colors = |n: &&str| looks.style(n).color;
            let mut all: Vec<Color> = names.iter().map(colors).collect();
            let count = all.len();
            all.sort_by_key(|c| (c.0, c.1, c.2));
            all.dedup();
            assert_eq!(all.len(), count, "{names:?}");
            let mut grey: Vec<f64> =
                names.iter().map(|n| looks.area(n).fill.brightness()).collect();
            grey.sort_by(f64::total_cmp);
            assert!(grey.windows(2).all(|w| w[1] - w[0] > 0.05), "{names:?} {grey:?}");
        }
    }

    #[test]
    fn no_two_series_of_a_figure_agree_in_shape_and_dashes() {
        let many: Vec<String> = (0..20).map(|i| format!("symphony[timeout_pct={i}]")).collect();
        let mixed: Vec<&str> =
            SYSTEMS.iter().map(|s| s.name).filter(|n| *n != "orcl").chain(["value"]).collect();
        let mixed: Vec<String> = mixed.iter().map(|n| n.to_string()).collect();
        for names in [many, mixed] {
            let looks = Looks::of(&names);
            for (i, a) in names.iter().enumerate() {
                for b in &names[..i] {
                    let (x, y) = (looks.style(a), looks.style(b));
                    assert!(x.shape != y.shape || x.stroke.dash != y.stroke.dash, "{a} and {b}");
                }
            }
        }
    }

    #[test]
    fn what_is_no_system_has_no_system_s_colour() {
        let looks = Looks::of(&["batch 1", "orloj", "batch 2"]);
        let own = looks.style("orloj").color;
        assert!(["batch 1", "batch 2"].iter().all(|n| looks.style(n).color != own));
    }
}
