//! A scene as PDF, for papers: lines and areas as vectors, text as text in the bundled font, which is
//! embedded. There is no date and no identifier, so that the same scene gives the same bytes.

use crate::font;
use crate::scene::{Anchor, Color, Item, Point, Scene, Stroke, Text};
use flate2::Compression;
use flate2::write::ZlibEncoder;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Write as _;

/// Points for a pixel of the SVG.
const POINTS: f64 = 0.75;

/// The scene as a PDF file of one page, `scale` times as large.
pub(crate) fn pdf(scene: &Scene, scale: f64) -> Vec<u8> {
    let by = POINTS * scale;
    let (width, height) = (scene.width * by, scene.height * by);
    let mut page = Page::default();
    // From here on a unit is a pixel, and y grows downwards.
    let _ = writeln!(page.out, "{} 0 0 {} 0 {} cm", short(by), short(-by), short(height));
    scene.items.iter().for_each(|item| page.item(item));
    let mut file = File::default();
    file.plain("<< /Type /Catalog /Pages 2 0 R >>");
    file.plain("<< /Type /Pages /Kids [3 0 R] /Count 1 >>");
    file.plain(&format!(
        "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 {} {}] /Contents 4 0 R /Resources << /Font << \
         /F 5 0 R >> >> >>",
        short(width),
        short(height)
    ));
    file.stream("", page.out.as_bytes());
    file.plain(
        "<< /Type /Font /Subtype /Type0 /BaseFont /DejaVuSans /Encoding /Identity-H \
         /DescendantFonts [6 0 R] /ToUnicode 9 0 R >>",
    );
    let mut widths = String::new();
    for (glyph, (_, advance)) in &page.glyphs {
        let _ = write!(widths, "{glyph} [{}] ", short(advance * 1000.0));
    }
    file.plain(&format!(
        "<< /Type /Font /Subtype /CIDFontType2 /BaseFont /DejaVuSans /CIDSystemInfo << /Registry \
         (Adobe) /Ordering (Identity) /Supplement 0 >> /FontDescriptor 7 0 R /CIDToGIDMap /Identity \
         /DW 600 /W [{}] >>",
        widths.trim_end()
    ));
    file.plain(
        "<< /Type /FontDescriptor /FontName /DejaVuSans /Flags 4 /FontBBox [-1021 -463 1793 1232] \
         /ItalicAngle 0 /Ascent 928 /Descent -236 /CapHeight 730 /StemV 80 /FontFile2 8 0 R >>",
    );
    file.stream(&format!("/Length1 {} ", font::BYTES.len()), font::BYTES);
    file.stream("", to_unicode(&page.glyphs).as_bytes());
    file.plain(&format!("<< /Title {} /Producer (orrery) >>", text_string(&scene.title)));
    file.end()
}

/// The glyphs of a page: what each stands for, and its advance in em.
type Glyphs = BTreeMap<u16, (char, f64)>;

/// The drawing of a page.
#[derive(Default)]
struct Page {
    out: String,
    glyphs: Glyphs,
}

impl Page {
    fn item(&mut self, item: &Item) {
        match item {
            Item::Line { points, stroke } => {
                self.stroke(*stroke);
                self.path(points);
                self.out.push_str("S\n");
            }
            Item::Polygon { points, fill, stroke } => {
                if let Some(fill) = fill {
                    let _ = writeln!(self.out, "{} rg", color(*fill));
                }
                if let Some(stroke) = stroke {
                    self.stroke(*stroke);
                }
                self.path(points);
                self.out.push_str(match (fill, stroke) {
                    (Some(_), Some(_)) => "b\n",
                    (Some(_), None) => "h f\n",
                    _ => "s\n",
                });
            }
            Item::Text(text) => self.text(text),
        }
    }

    fn stroke(&mut self, stroke: Stroke) {
        let dash: Vec<String> = stroke.dash.iter().map(|d| short(*d)).collect();
        let (width, dash) = (short(stroke.width), dash.join(" "));
        let _ = writeln!(self.out, "{} RG {width} w 1 j [{dash}] 0 d", color(stroke.color));
    }

    fn path(&mut self, points: &[Point]) {
        for (i, p) in points.iter().enumerate() {
            let word = if i == 0 { 'm' } else { 'l' };
            let _ = writeln!(self.out, "{} {} {word}", short(p.0), short(p.1));
        }
    }

    fn text(&mut self, text: &Text) {
        let width = font::width(&text.text, text.size);
        let before = match text.anchor {
            Anchor::Start => 0.0,
            Anchor::Middle => width / 2.0,
            Anchor::End => width,
        };
        // Letters of the font are text; for one that it has not stands a box.
        let mut along = -before;
        let letters: Vec<char> = text.text.chars().collect();
        for run in letters.chunk_by(|a, b| font::has(*a) && font::has(*b)) {
            match run {
                [c] if !font::has(*c) => self.boxed(text, along),
                _ => self.letters(text, run, along),
            }
            along += run.iter().map(|c| font::glyph(*c).1).sum::<f64>() * text.size;
        }
    }

    /// Letters of the font, from a place along the baseline.
    fn letters(&mut self, text: &Text, letters: &[char], along: f64) {
        let mut codes = String::new();
        for &c in letters {
            let (glyph, advance) = font::glyph(c);
            self.glyphs.entry(glyph).or_insert((c, advance));
            let _ = write!(codes, "{glyph:04X}");
        }
        let size = short(text.size);
        let down = short(-text.size);
        let (x, y) = text.place(along, 0.0);
        let (x, y) = (short(x), short(y));
        // Letters stand upright although y grows downwards.
        let matrix = match text.rotated {
            false => format!("{size} 0 0 {down} {x} {y}"),
            true => format!("0 {down} {down} 0 {x} {y}"),
        };
        let _ =
            writeln!(self.out, "BT {} rg /F 1 Tf {matrix} Tm <{codes}> Tj ET", color(text.color));
    }

    /// The box of a letter that the font has not.
    fn boxed(&mut self, text: &Text, along: f64) {
        let _ = writeln!(self.out, "{} rg", color(text.color));
        for corners in font::BOX {
            let at = |(x, y): (f64, f64)| text.place(along + x * text.size, y * text.size);
            self.path(&corners.map(at));
            self.out.push_str("h\n");
        }
        self.out.push_str("f\n");
    }
}

/// What the glyphs stand for, so that text can be searched and copied.
fn to_unicode(glyphs: &Glyphs) -> String {
    let mut out = String::from(
        "/CIDInit /ProcSet findresource begin\n12 dict begin\nbegincmap\n/CMapName /Words def\n\
         /CMapType 2 def\n1 begincodespacerange\n<0000> <FFFF>\nendcodespacerange\n",
    );
    let all: Vec<(&u16, &(char, f64))> = glyphs.iter().collect();
    for some in all.chunks(100) {
        let _ = writeln!(out, "{} beginbfchar", some.len());
        for (glyph, (c, _)) in some {
            let mut units = [0; 2];
            let hex: String =
                c.encode_utf16(&mut units).iter().map(|u| format!("{u:04X}")).collect();
            let _ = writeln!(out, "<{glyph:04X}> <{hex}>");
        }
        out.push_str("endbfchar\n");
    }
    out.push_str("endcmap\nCMapName currentdict /CMap defineresource pop\nend\nend\n");
    out
}

/// A text outside the page, in UTF-16.
fn text_string(text: &str) -> String {
    let units: String = text.encode_utf16().map(|u| format!("{u:04X}")).collect();
    format!("<FEFF{units}>")
}

/// The objects of a file, numbered from 1.
#[derive(Default)]
struct File {
    bytes: Vec<u8>,
    places: Vec<usize>,
}

impl File {
    fn plain(&mut self, text: &str) {
        self.object(|bytes| bytes.extend(text.as_bytes()));
    }

    fn stream(&mut self, keys: &str, data: &[u8]) {
        let mut encoder = ZlibEncoder::new(Vec::new(), Compression::new(9));
        encoder.write_all(data).expect("memory can be written");
        let packed = encoder.finish().expect("memory can be written");
        self.object(|bytes| {
            let length = packed.len();
            let head = format!("<< {keys}/Length {length} /Filter /FlateDecode >>\nstream\n");
            bytes.extend(head.as_bytes());
            bytes.extend(&packed);
            bytes.extend(b"\nendstream");
        });
    }

    fn object(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
        if self.places.is_empty() {
            // The second line says to file tools that this is not text.
            self.bytes.extend(b"%PDF-1.5\n%\xe2\xe3\xcf\xd3\n");
        }
        self.places.push(self.bytes.len());
        self.bytes.extend(format!("{} 0 obj\n", self.places.len()).as_bytes());
        write(&mut self.bytes);
        self.bytes.extend(b"\nendobj\n");
    }

    /// The file; its last object says what it is.
    fn end(mut self) -> Vec<u8> {
        let (start, count) = (self.bytes.len(), self.places.len() + 1);
        let mut table = format!("xref\n0 {count}\n0000000000 65535 f \n");
        for place in &self.places {
            let _ = writeln!(table, "{place:010} 00000 n ");
        }
        let _ = write!(
            table,
            "trailer\n<< /Size {count} /Root 1 0 R /Info {} 0 R >>\nstartxref\n{start}\n%%EOF\n",
            count - 1
        );
        self.bytes.extend(table.as_bytes());
        self.bytes
    }
}

fn color(c: Color) -> String {
    let share = |x: u8| short(f64::from(x) / 255.0);
    format!("{} {} {}", share(c.0), share(c.1), share(c.2))
}

/// A number in thousandths, without zeros at its end.
fn short(x: f64) -> String {
    let thousandths = (x * 1000.0).round() as i64;
    let sign = if thousandths < 0 { "-" } else { "" };
    let (whole, part) = (thousandths.abs() / 1000, thousandths.abs() % 1000);
    let text = format!("{sign}{whole}.{part:03}");
    text.trim_end_matches('0').trim_end_matches('.').to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_thousandths_without_zeros_at_the_end() {
        let cases =
            [(0.0, "0"), (0.75, "0.75"), (-12.0, "-12"), (1.23456, "1.235"), (100.0, "100")];
        cases.iter().for_each(|(x, text)| assert_eq!(short(*x), *text));
    }

    #[test]
    fn every_object_stands_where_the_table_says() {
        let mut scene = Scene { width: 100.0, height: 50.0, title: "a".into(), ..Scene::default() };
        scene.text((10.0, 20.0), "SLO × P99", 10.0, Anchor::Middle, Color::BLACK);
        scene.rotated((10.0, 20.0), "upwards", 10.0, Color::BLACK);
        scene.line(vec![(0.0, 0.0), (9.0, 9.0)], Stroke::solid(Color::DARK, 1.0));
        let bytes = pdf(&scene, 1.0);
        assert_eq!(bytes, pdf(&scene, 1.0));
        let text = String::from_utf8_lossy(&bytes);
        let raw = |at: usize, word: &str| bytes[at..].starts_with(word.as_bytes());
        let table = text.split("xref\n").nth(1).expect("a table");
        let places: Vec<usize> = table
            .lines()
            .filter(|l| l.ends_with(" n "))
            .map(|l| l[..10].parse().expect("a place"))
            .collect();
        assert_eq!(places.len(), 10);
        for (i, place) in places.iter().enumerate() {
            assert!(raw(*place, &format!("{} 0 obj", i + 1)), "{i} at {place}");
        }
        assert!(text.contains("/MediaBox [0 0 75 37.5]") && text.contains("/FontFile2 8 0 R"));
        let start: usize = text.lines().rev().nth(1).and_then(|l| l.parse().ok()).expect("a place");
        assert!(raw(start, "xref"));
    }
}
