//! HTML as it is written: every text is escaped, but for what is said to be HTML.

/// HTML so far.
#[derive(Default)]
pub(super) struct Markup(String);

/// Elements without an end.
const VOID: [&str; 3] = ["link", "meta", "wbr"];

impl Markup {
    /// The whole of it.
    pub fn into_string(self) -> String {
        self.0
    }

    /// Adds a text.
    pub fn text(&mut self, text: &str) {
        for c in text.chars() {
            match c {
                '&' => self.0.push_str("&amp;"),
                '<' => self.0.push_str("&lt;"),
                '>' => self.0.push_str("&gt;"),
                '"' => self.0.push_str("&quot;"),
                _ => self.0.push(c),
            }
        }
    }

    /// Adds what is HTML already.
    pub fn html(&mut self, html: &str) {
        self.0.push_str(html);
    }

    /// Adds an element with attributes, and in it what `inner` adds.
    pub fn element(
        &mut self,
        name: &'static str,
        attributes: &[(&'static str, &str)],
        inner: impl FnOnce(&mut Markup),
    ) {
        self.html("<");
        self.html(name);
        for (key, value) in attributes {
            self.html(" ");
            self.html(key);
            self.html("=\"");
            self.text(value);
            self.html("\"");
        }
        self.html(">");
        inner(self);
        if !VOID.contains(&name) {
            self.html("</");
            self.html(name);
            self.html(">");
        }
    }

    /// Adds an element without attributes.
    pub fn plain(&mut self, name: &'static str, inner: impl FnOnce(&mut Markup)) {
        self.element(name, &[], inner);
    }

    /// Adds an element of a class.
    pub fn of_class(&mut self, name: &'static str, class: &str, inner: impl FnOnce(&mut Markup)) {
        self.element(name, &[("class", class)], inner);
    }

    /// Adds an element that is a text.
    pub fn of_text(&mut self, name: &'static str, text: &str) {
        self.plain(name, |m| m.text(text));
    }

    /// Adds an element with nothing in it.
    pub fn empty(&mut self, name: &'static str, attributes: &[(&'static str, &str)]) {
        self.element(name, attributes, |_| ());
    }
}
