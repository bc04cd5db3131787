//! What is promised of words beside points, read from the shapes that are drawn.

use super::*;
use crate::scene::Item;
use crate::style::SERIES_MAX;
use crate::systems::Looks;
use proptest::prelude::*;

const WORDS: [&str; 6] =
    ["1", "4,0,2", "12 g4dn.xlarge", "pppgggyyy", "ÄÖÜ|", "2 × V100, 17 × T4 and more"];

/// x, y, whether it is crossed, and its word.
type Dot = (f64, f64, bool, usize);

/// A cloud of points with words, by series with its style and radius, and lines across the panel.
#[derive(Clone, Debug)]
struct Cloud {
    series: Vec<(usize, f64, Vec<Dot>)>,
    lines: Vec<f64>,
    size: (f64, f64),
}

fn clouds() -> impl Strategy<Value = Cloud> {
    let point = (0.0..=1.0f64, 0.0..=1.0f64, any::<bool>(), 0..WORDS.len());
    let radius = prop::sample::select(vec![2.0, 3.2, 3.6, 5.0, 5.5]);
    let series = (0..SERIES_MAX, radius, prop::collection::vec(point, 1..12));
    let lines = prop::collection::vec(0.0..=1.0f64, 0..3);
    (prop::collection::vec(series, 1..5), lines, (120.0..600.0f64, 80.0..300.0f64))
        .prop_map(|(series, lines, size)| Cloud { series, lines, size })
}

impl Cloud {
    fn place(&self) -> Place {
        let (width, height) = self.size;
        Place { left: 40.0, top: 20.0, width, height, x_labels: false, y_labels: false }
    }

    /// What is drawn of it.
    fn scene(&self) -> Scene {
        let axis = || Axis {
            label: String::new(),
            scale: Scale::Linear { low: 0.0, high: 1.0 },
            ticks: Vec::new(),
        };
        let stroke = Stroke::solid(Color::BLACK, 1.0);
        let mut marks: Vec<Mark> =
            self.lines.iter().map(|y| Mark::Horizontal { y: *y, stroke }).collect();
        let mut words = Vec::new();
        let names: Vec<String> = (0..SERIES_MAX).map(|i| i.to_string()).collect();
        let looks = Looks::of(&names);
        for (style, radius, points) in &self.series {
            let own = looks.style(&style.to_string());
            let style = if *radius == 5.0 { own.star() } else { own };
            let at = points.iter().map(|(x, y, crossed, _)| ((*x, *y), *crossed)).collect();
            marks.push(Mark::Markers { points: at, style, radius: *radius });
            let at =
                points.iter().filter(|p| p.2).map(|(x, y, ..)| (*x, y - 0.1, y + 0.2)).collect();
            marks.push(Mark::Intervals { at, color: Color::BLACK });
            words.extend(points.iter().map(|(x, y, _, w)| ((*x, *y), WORDS[*w].to_string())));
        }
        marks.push(Mark::Words(words));
        let mut scene = Scene::default();
        let panel = Panel { title: String::new(), x: axis(), y: axis(), marks };
        panel.draw(self.place(), &mut scene);
        scene
    }
}

/// The smallest rectangle around points.
fn around(points: impl Iterator<Item = Point>) -> Room {
    let mut room = Room {
        left: f64::INFINITY,
        right: f64::NEG_INFINITY,
        top: f64::INFINITY,
        bottom: f64::NEG_INFINITY,
    };
    for (x, y) in points {
        room.left = room.left.min(x);
        room.right = room.right.max(x);
        room.top = room.top.min(y);
        room.bottom = room.bottom.max(y);
    }
    room
}

/// The ink of every word.
fn words(scene: &Scene) -> Vec<(String, Room)> {
    let ink = |item: &Item| {
        let Item::Text(text) = item else { return None };
        let mut pixels = Vec::new();
        font::outline(&text.text, text.size, |x, y, coverage| {
            if coverage > 0.0 {
                let corner = (text.at.0 + x, text.at.1 + y);
                // Half of a pixel at its edge may be empty.
                pixels.extend([(0.5, 0.5)].map(|(dx, dy)| (corner.0 + dx, corner.1 + dy)));
            }
        });
        Some((text.text.clone(), around(pixels.into_iter())))
    };
    scene.items.iter().filter_map(ink).collect()
}

/// Markers with their crosses, and lines across the panel.
fn others(scene: &Scene, width: f64) -> Vec<Room> {
    let of = |item: &Item| match item {
        Item::Polygon { points, .. } => Some(around(points.iter().copied())),
        Item::Line { points, .. } => {
            let room = around(points.iter().copied());
            // Not the axes: one line with a corner.
            let crossing = room.right - room.left > width - 1.0 && points.len() == 2;
            (crossing || room.right - room.left < 20.0).then_some(room)
        }
        Item::Text(_) => None,
    };
    scene.items.iter().filter_map(of).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(400) })]

    #[test]
    fn words_cover_neither_each_other_nor_markers_nor_lines_and_stay_inside(cloud in clouds()) {
        let (scene, place) = (cloud.scene(), cloud.place());
        let whole = Room {
            left: place.left,
            right: place.right(),
            top: place.top,
            bottom: place.bottom(),
        };
        let (words, others) = (words(&scene), others(&scene, place.width));
        let markers: usize = cloud.series.iter().map(|s| s.2.len()).sum();
        prop_assert!(others.len() >= markers + cloud.lines.len(), "all are seen");
        for (i, (word, room)) in words.iter().enumerate() {
            prop_assert!(room.is_inside(&whole), "{word} leaves the panel: {room:?}");
            for (other, own) in &words[i + 1..] {
                prop_assert!(!room.meets(own), "{word} and {other}: {room:?} {own:?}");
            }
            for own in &others {
                prop_assert!(!room.meets(own), "{word} and a mark: {room:?} {own:?}");
            }
        }
    }

    /// No law of the others' is kept by drawing nothing.
    #[test]
    fn a_word_with_room_is_drawn(x in 0.0..=1.0f64, y in 0.0..=1.0f64, word in 0..WORDS.len()) {
        let series = vec![(0, 3.6, vec![(x, y, true, word)])];
        let cloud = Cloud { series, lines: Vec::new(), size: (600.0, 300.0) };
        prop_assert_eq!(words(&cloud.scene()).len(), 1);
    }
}
