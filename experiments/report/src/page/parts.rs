//! What a document is made of.

use orrery_plots::{Figure, Layout};

/// The section of what must be known before anything is believed.
pub const TO_KNOW: &str = "What to know first";

/// One result on a page.
#[derive(Clone, Debug, Default)]
pub struct Page {
    /// What it is: `run`, `experiment`, `plan`.
    pub kind: &'static str,
    /// The text of its heading.
    pub title: String,
    /// A line below the name.
    pub subtitle: String,
    /// What was asked: a word, and what it is.
    pub asked: Vec<(String, String)>,
    /// Whether a text leaves that out.
    pub asked_on_page_alone: bool,
    /// What came of it, a sentence each; the first is the verdict.
    pub verdict: Vec<Verdict>,
    /// The rest, in the order of reading.
    pub sections: Vec<Section>,
    /// Where it is from: a word, and what it is.
    pub provenance: Vec<(String, String)>,
}

/// A sentence on what came out.
#[derive(Clone, Debug)]
pub struct Verdict {
    /// How it is marked.
    pub tone: Tone,
    /// The sentence.
    pub text: String,
    /// The words with which it begins that are large: who it is. Else its first number is.
    pub who: String,
}

/// How something is marked: by colour and by a sign, so that it can be read without colours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tone {
    /// Not at all.
    #[default]
    Plain,
    /// As it should be.
    Good,
    /// In part.
    Mixed,
    /// Not as it should be.
    Bad,
}

/// A part of a page with a heading.
#[derive(Clone, Debug, Default)]
pub struct Section {
    /// Its heading.
    pub title: String,
    /// What is in it.
    pub parts: Vec<Part>,
    /// Whether a page shows it open at first, and prints it.
    pub open: bool,
    /// A card's name, which links lead to.
    pub id: String,
    /// Where a card's name leads.
    pub link: String,
}

/// What sections are made of.
#[derive(Clone, Debug)]
pub enum Part {
    /// A paragraph.
    Text(String),
    /// Points.
    List(Vec<String>),
    /// Text in columns, as it stands on stdout.
    Plain(String),
    /// A figure as SVG, as `orrery-plots` writes it, for a page and for a narrow one, and what to see in it.
    Figure([String; 2], String),
    /// A table whose rows can be sorted.
    Table(Table),
    /// Something long that is closed at first: its title and what is in it.
    Folded(String, Vec<Part>),
    /// Small sections beside one another, each as a card.
    Cards(Vec<Section>),
    /// The same facts twice: as a page has room for them, and as text and Markdown have.
    Views {
        /// Of a page.
        page: Vec<Part>,
        /// Of text and Markdown.
        text: Vec<Part>,
    },
}

/// A figure of a page is at least so wide, in pixels before it is fitted to the window.
const WIDE: f64 = 800.0;
/// One of a narrow page is so wide.
const NARROW: f64 = 350.0;
/// One row of panels is at most so high then.
const HIGH: f64 = 400.0;

impl Part {
    /// A figure over the whole width, and what to see in it.
    pub fn figure(figure: &Figure, caption: impl Into<String>) -> Part {
        const INCH: f64 = 96.0;
        let (width, height) = figure.size();
        let width_in = (width < WIDE).then_some(WIDE / INCH);
        let height_in = (width < WIDE && height < 1.3 * HIGH).then_some(HIGH / INCH);
        let wide = figure.laid_out(&Layout { width_in, height_in, ..Layout::default() });
        let width_in = Some(NARROW / INCH);
        let narrow = figure.laid_out(&Layout { width_in, ..Layout::default() });
        Part::Figure([wide, narrow].map(|f| f.to_svg()), caption.into())
    }

    /// Points, unless there are none.
    pub fn list(points: Vec<String>) -> Option<Part> {
        (!points.is_empty()).then_some(Part::List(points))
    }
}

/// How a number is written that there is not.
const NONE: &str = "-";

/// A table.
#[derive(Clone, Debug, Default)]
pub struct Table {
    /// What is in it.
    pub caption: String,
    /// Its columns.
    pub columns: Vec<String>,
    /// Its rows, each with a cell for each column.
    pub rows: Vec<Vec<Field>>,
    /// How many of the first columns say what a row is of, also where they are numbers.
    pub keys: usize,
}

/// A cell of a table.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Field {
    /// What it says.
    pub text: String,
    /// A second line in small print.
    pub below: String,
    /// What it is sorted by, where that is a number.
    pub key: Option<f64>,
    /// How it is marked.
    pub tone: Tone,
    /// Where its text leads on a page, if anywhere.
    pub link: String,
}

impl Field {
    /// Words. What is a number is sorted as one.
    pub fn text(text: impl Into<String>) -> Field {
        let text = text.into();
        let key = text.parse().ok().filter(|x: &f64| x.is_finite());
        Field { text, key, ..Field::default() }
    }

    /// A number that there is not.
    pub fn none() -> Field {
        Field { text: NONE.to_string(), ..Field::default() }
    }

    /// A number, and how it is written.
    pub fn number(value: f64, text: impl Into<String>) -> Field {
        Field { text: text.into(), key: Some(value), ..Field::default() }
    }

    /// The same with a second line.
    #[must_use]
    pub fn with(self, below: impl Into<String>) -> Field {
        Field { below: below.into(), ..self }
    }

    /// The same, leading somewhere.
    #[must_use]
    pub fn linked(self, link: impl Into<String>) -> Field {
        Field { link: link.into(), ..self }
    }

    /// The same, marked.
    #[must_use]
    pub fn marked(self, tone: Tone) -> Field {
        Field { tone, ..self }
    }
}

impl Table {
    /// A table without rows.
    pub fn new(caption: impl Into<String>, columns: &[&str]) -> Table {
        let columns = columns.iter().map(|c| (*c).to_string()).collect();
        Table { caption: caption.into(), columns, ..Table::default() }
    }

    /// Whether a column has nothing but numbers.
    pub(super) fn is_number(&self, column: usize) -> bool {
        let is_number = |row: &Vec<Field>| {
            row[column].key.is_some() || ["", NONE].contains(&row[column].text.as_str())
        };
        self.rows.iter().all(is_number)
    }

    /// The table without columns that say nothing.
    #[must_use]
    pub fn said(mut self) -> Table {
        let said = |i: &usize| self.rows.iter().any(|r| !r[*i].text.is_empty());
        let kept: Vec<usize> = (0..self.columns.len()).filter(said).collect();
        self.keys = kept.iter().filter(|i| **i < self.keys).count();
        self.columns = kept.iter().map(|i| self.columns[*i].clone()).collect();
        for row in &mut self.rows {
            *row = kept.iter().map(|i| row[*i].clone()).collect();
        }
        self
    }

    /// The same as a part, or nothing when it has no rows.
    pub fn part(self) -> Option<Part> {
        let table = self.said();
        (!table.rows.is_empty()).then_some(Part::Table(table))
    }
}

impl Page {
    /// A page of a kind, by its name.
    pub fn new(kind: &'static str, title: impl Into<String>) -> Page {
        Page { kind, title: title.into(), ..Page::default() }
    }

    /// Adds what was asked, unless there is nothing to say.
    pub fn ask(&mut self, what: &str, is: impl Into<String>) {
        let is = is.into();
        if !is.is_empty() {
            self.asked.push((what.to_string(), is));
        }
    }

    /// Adds a sentence on what came out.
    pub fn say(&mut self, tone: Tone, text: impl Into<String>) {
        self.say_of("", tone, text);
    }

    /// Adds a sentence that begins with whom it is about.
    pub fn say_of(&mut self, who: &str, tone: Tone, rest: impl Into<String>) {
        let (who, text) = (who.to_string(), format!("{who}{}", rest.into()));
        self.verdict.push(Verdict { tone, text, who });
    }

    /// Adds a section, unless it is empty.
    pub fn section(&mut self, title: &str, parts: impl IntoIterator<Item = Part>) {
        let parts: Vec<Part> = parts.into_iter().collect();
        if !parts.is_empty() {
            self.sections.push(Section { title: title.to_string(), parts, ..Section::default() });
        }
    }

    /// Adds a section that is open at first and printed, unless it is empty.
    pub fn section_open(&mut self, title: &str, parts: impl IntoIterator<Item = Part>) {
        let before = self.sections.len();
        self.section(title, parts);
        self.sections[before..].iter_mut().for_each(|section| section.open = true);
    }

    /// Puts a section in front of all others.
    pub fn section_first(&mut self, title: &str, parts: impl IntoIterator<Item = Part>) {
        let before = std::mem::take(&mut self.sections);
        self.section(title, parts);
        self.sections.extend(before);
    }
}
