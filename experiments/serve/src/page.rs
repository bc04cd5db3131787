//! The page: one file of HTML, its style and its scripts. `ask.js` is how a question reaches the simulator, and the only
//! part that is another one in the site: there `../web/page/ask.js` stands in its place.

/// A file of the page.
#[derive(Clone, Copy, Debug)]
pub struct Part {
    /// Its address.
    pub path: &'static str,
    /// Its type.
    pub kind: &'static str,
    /// Its text, with `TOKEN` where an address needs the server's.
    pub text: &'static str,
}

const fn part(path: &'static str, kind: &'static str, text: &'static str) -> Part {
    Part { path, kind, text }
}

/// All of them.
pub const PARTS: [Part; 5] = [
    part("/", "text/html", include_str!("page/index.html")),
    part("/ask.js", "text/javascript", include_str!("page/ask.js")),
    part("/page.js", "text/javascript", include_str!("page/page.js")),
    part("/plan.js", "text/javascript", include_str!("page/plan.js")),
    part("/page.css", "text/css", include_str!("page/page.css")),
];
