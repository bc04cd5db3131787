//! Styles differ, and the palettes do as readers with other eyes, or a grey printer, see them.

use super::*;
use crate::heat::shade;
use crate::scene::Color;

/// Linear light of a channel.
fn linear(x: u8) -> f64 {
    let s = f64::from(x) / 255.0;
    if s <= 0.04045 { s / 12.92 } else { libm::pow((s + 0.055) / 1.055, 2.4) }
}

/// What remains of linear light, by Machado, Oliveira and Fernandes (2009) at full severity.
const PROTANOPIA: [[f64; 3]; 3] = [
    [0.152286, 1.052583, -0.204868],
    [0.114503, 0.786281, 0.099216],
    [-0.003882, -0.048116, 1.051998],
];
const DEUTERANOPIA: [[f64; 3]; 3] = [
    [0.367322, 0.860646, -0.227968],
    [0.280085, 0.672501, 0.047413],
    [-0.011820, 0.042940, 0.968881],
];
const NORMAL: [[f64; 3]; 3] = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];

/// CIE Lab of a colour as an eye sees it.
fn lab(c: Color, eye: &[[f64; 3]; 3]) -> [f64; 3] {
    let rgb = [linear(c.0), linear(c.1), linear(c.2)];
    let seen: Vec<f64> = eye
        .iter()
        .map(|row| row.iter().zip(rgb).map(|(m, x)| m * x).sum::<f64>().clamp(0.0, 1.0))
        .collect();
    let xyz = [
        (0.4124 * seen[0] + 0.3576 * seen[1] + 0.1805 * seen[2]) / 0.9505,
        0.2126 * seen[0] + 0.7152 * seen[1] + 0.0722 * seen[2],
        (0.0193 * seen[0] + 0.1192 * seen[1] + 0.9505 * seen[2]) / 1.089,
    ];
    let f = |t: f64| if t > 0.008856 { libm::cbrt(t) } else { 7.787 * t + 16.0 / 116.0 };
    let [x, y, z] = xyz.map(f);
    [116.0 * y - 16.0, 500.0 * (x - y), 200.0 * (y - z)]
}

/// How different two colours look; about 2 is just noticed.
fn difference(a: Color, b: Color, eye: &[[f64; 3]; 3]) -> f64 {
    let (a, b) = (lab(a, eye), lab(b, eye));
    libm::sqrt(a.iter().zip(b).map(|(x, y)| (x - y) * (x - y)).sum())
}

/// The least difference of any two of these colours.
fn least(colours: &[Color], eye: &[[f64; 3]; 3]) -> f64 {
    let pairs = (0..colours.len()).flat_map(|i| (0..i).map(move |j| (i, j)));
    pairs.map(|(i, j)| difference(colours[i], colours[j], eye)).fold(f64::INFINITY, f64::min)
}

#[test]
fn lines_and_areas_are_told_apart_by_colour_blind_readers() {
    let lines = COLORS.to_vec();
    let areas: Vec<Color> = (0..8).map(|i| area(i).0).collect();
    for (eye, name) in
        [(&NORMAL, "normal"), (&PROTANOPIA, "protanopia"), (&DEUTERANOPIA, "deuteranopia")]
    {
        let (a, b) = (least(&lines, eye), least(&areas, eye));
        assert!(a > 7.0 && b > 7.0, "{name}: lines {a:.1}, areas {b:.1}");
    }
}

/// Bars differ by lightness alone. Lines do not all: their markers and dashes tell them apart
/// (`systems::tests`).
#[test]
fn areas_are_told_apart_in_grey() {
    let grey = |c: Color| lab(c, &NORMAL)[0];
    let mut areas: Vec<f64> = (0..8).map(|i| grey(area(i).0)).collect();
    areas.sort_by(f64::total_cmp);
    assert!(areas.windows(2).all(|w| w[1] - w[0] > 3.0), "{areas:?}");
}

/// A colour as the dark page shows it: `invert(0.91) hue-rotate(180deg)`.
fn on_dark(c: Color) -> [f64; 3] {
    let [r, g, b] = [c.0, c.1, c.2].map(|x| 0.91 - 0.82 * f64::from(x) / 255.0);
    [
        -0.574 * r + 1.430 * g + 0.144 * b,
        0.426 * r + 0.430 * g + 0.144 * b,
        0.426 * r + 1.430 * g - 0.856 * b,
    ]
}

/// By the Web Content Accessibility Guidelines: 3 for what is no text.
fn contrast(a: [f64; 3], b: [f64; 3]) -> f64 {
    let light = |c: [f64; 3]| {
        let [r, g, b] = c.map(|x| linear((x.clamp(0.0, 1.0) * 255.0 + 0.5) as u8));
        0.2126 * r + 0.7152 * g + 0.0722 * b + 0.05
    };
    let (a, b) = (light(a), light(b));
    a.max(b) / a.min(b)
}

#[test]
fn every_line_is_seen_on_white_and_on_the_dark_page() {
    let plain = |c: Color| [c.0, c.1, c.2].map(|x| f64::from(x) / 255.0);
    for c in COLORS {
        let white = contrast(plain(c), plain(Color::WHITE));
        let dark = contrast(on_dark(c), on_dark(Color::WHITE));
        assert!(white >= 3.0 && dark >= 3.0, "{c:?}: {white:.2} {dark:.2}");
    }
    let orange = Color(0xe6, 0x9f, 0x00);
    assert!(contrast(plain(orange), plain(Color::WHITE)) < 2.3, "what it would not let through");
}

#[test]
fn a_heat_map_grows_darker_for_every_eye() {
    for eye in [&NORMAL, &PROTANOPIA, &DEUTERANOPIA] {
        let light: Vec<f64> = (0..=10).map(|i| lab(shade(f64::from(i) / 10.0), eye)[0]).collect();
        assert!(light.windows(2).all(|w| w[0] - w[1] > 2.0), "{light:?}");
    }
}

#[test]
fn variants_of_a_series_differ_without_colour() {
    let base = crate::systems::Looks::of(&["orloj"]).style("orloj");
    let all = [base.variant(0), base.variant(1), base.variant(2), base.paper()];
    for (i, a) in all.iter().enumerate() {
        assert!(all[..i].iter().all(|b| a.fill != b.fill && a.stroke.width != b.stroke.width));
        assert_eq!((a.color, a.shape), (base.color, base.shape));
    }
    assert_eq!(VARIANTS_MAX, 3);
}

#[test]
fn areas_differ_in_grey() {
    let mut grey: Vec<f64> = (0..AREAS.len()).map(|i| area(i).0.brightness()).collect();
    grey.sort_by(f64::total_cmp);
    assert!(grey.windows(2).all(|w| w[1] - w[0] > 0.05), "{grey:?}");
}

#[test]
fn half_of_a_marker_lies_below_its_middle() {
    let half = below(&corners((0.0, 0.0), Shape::Square, 1.0), 0.0);
    assert_eq!(half, [(0.88, 0.0), (0.88, 0.88), (-0.88, 0.88), (-0.88, 0.0)]);
}
