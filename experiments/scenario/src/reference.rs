//! The reference of a file's keys, made from the types that read it.
//!
//! Names and their order come from serde, everything else from the JSON Schema: the comment on a
//! field is its meaning, the end of its name its unit. What neither can say stands beside the field
//! as `x-unit`, `x-default` and `x-form`. It writes no prose; `docs/scenarios.md` and
//! `docs/sweeps.md` have that around the tables.

pub use crate::key_names::names;
use crate::scenario::file::ScenarioFile;
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema};
use serde::de::DeserializeOwned;
use serde_json::Value;

/// The JSON Schema of a file, for editors.
///
/// ```
/// use orrery_scenario::reference::schema;
/// use orrery_scenario::scenario::file::ScenarioFile;
///
/// let schema = schema::<ScenarioFile>().to_value();
/// assert_eq!(schema["properties"]["seed"]["default"], 1);
/// ```
pub fn schema<T: JsonSchema>() -> Schema {
    SchemaSettings::draft07().into_generator().into_root_schema_for::<T>()
}

/// A table of the reference: its name, and its text in Markdown.
pub type Table = (&'static str, String);

/// The tables of `docs/scenarios.md`.
pub fn scenario() -> Vec<Table> {
    let keys = Reference::of::<ScenarioFile>();
    let law = |path: &[&str], of: &str| keys.laws(path, ["form", of]);
    vec![
        ("file", keys.keys(&[], &["noise"])),
        ("model", keys.keys(&["model"], &[])),
        ("latency models", law(&["model", "latency"], "latency of a batch")),
        ("zoo", keys.keys(&["zoo"], &[])),
        ("device", keys.keys(&["device"], &[])),
        ("autoscale", keys.keys(&["autoscale"], &[])),
        ("app", keys.keys(&["app"], &[])),
        ("slo steps", keys.keys(&["app", "slo_steps"], &[])),
        ("penalties", keys.keys(&["app", "penalties"], &[])),
        ("changes", keys.keys(&["app", "changes"], &[])),
        ("distributions of time", law(&["app", "time"], "execution time in isolation")),
        ("distributions of sizes", law(&["app", "sizes"], "items of a request")),
        ("arrivals", keys.keys(&["arrivals"], &[])),
        ("processes", keys.tables_in(&["arrivals"], ["process", "arrivals"])),
        ("trace", keys.keys(&["arrivals", "trace"], &[])),
        ("workload", keys.keys(&["arrivals", "workload"], &[])),
        ("timestamps", keys.keys(&["arrivals", "workload", "timestamps"], &[])),
        ("replay", keys.keys(&["arrivals", "replay"], &[])),
        ("closed loop", keys.keys(&["closed_loop"], &[])),
        ("distributions of delay", law(&["delays", "dispatch"], "a message's delay")),
        ("noise of a model", keys.keys(&["model", "noise"], &[])),
        ("rest", keys.sections(&["delays", "scheduler", "noise", "stalls", "profile", "profiler"])),
    ]
}

/// The keys of a file.
#[derive(Clone, Debug)]
pub struct Reference {
    root: Value,
    names: fn(&[&str]) -> Vec<&'static str>,
}

/// What stands at a key: its own comments and marks, and the schema of its value.
struct Node<'a> {
    own: &'a Value,
    required: bool,
    value: &'a Value,
}

impl Reference {
    /// The reference of a file that `T` reads.
    pub fn of<T: DeserializeOwned + JsonSchema>() -> Reference {
        Reference { root: schema::<T>().to_value(), names: names::<T> }
    }

    /// A table of keys with default and meaning, the required ones first; those that are tables
    /// themselves and those named by `except` are left out.
    pub fn keys(&self, path: &[&str], except: &[&str]) -> String {
        let mut rows = self.rows(path, "", except);
        rows.sort_by_key(|row| row[1] != "required");
        table(["key", "default", "meaning"], rows)
    }

    /// Several small tables of keys as one, each with its name before its keys.
    pub fn sections(&self, names: &[&str]) -> String {
        let rows = names.iter().flat_map(|name| self.rows(&[name], &format!("{name}."), &[]));
        table(["key", "default", "meaning"], rows.collect())
    }

    /// A table of laws: what is written, and what it means.
    pub fn laws(&self, path: &[&str], heads: [&str; 2]) -> String {
        let row = |name: &&str| {
            let path = [path, &[*name]].concat();
            let node = self.node(&path);
            let written = match is_word(node.own) {
                true => format!("`\"{name}\"`"),
                false => format!("`{{ {name} = {} }}`", self.form(&path)),
            };
            [written, meaning(node.own)]
        };
        table(heads, (self.names)(path).iter().map(row).collect())
    }

    /// A table of the keys that are tables themselves, with theirs.
    pub fn tables_in(&self, path: &[&str], heads: [&str; 2]) -> String {
        let rows = (self.names)(path).into_iter().filter_map(|name| {
            let path = [path, &[name]].concat();
            let node = self.node(&path);
            let row = [format!("`{name} = {}`", self.form(&path)), meaning(node.own)];
            is_table(&node).then_some(row)
        });
        table(heads, rows.collect())
    }

    fn rows(&self, path: &[&str], prefix: &str, except: &[&str]) -> Vec<[String; 3]> {
        let names = (self.names)(path).into_iter().filter(|name| !except.contains(name));
        let row = |name: &str| {
            let node = self.node(&[path, &[name]].concat());
            let unit = mark(node.own, "x-unit").map(|unit| format!(" ({unit})"));
            let key = format!("`{prefix}{name}`{}", unit.unwrap_or_default());
            let row = [key, default(&node), meaning(node.own)];
            (!is_table(&node)).then_some(row)
        };
        names.filter_map(row).collect()
    }

    /// How the value of a key or law is written: `{ a_ms, b = 1, [c] }`, a key with its default, one
    /// that may be left out in brackets.
    fn form(&self, path: &[&str]) -> String {
        let node = self.node(path);
        if let Some(form) = mark(node.own, "x-form") {
            return form.to_string();
        }
        let names = (self.names)(path);
        if names.is_empty() {
            return "X".to_string();
        }
        let key = |name: &&str| {
            let path = [path, &[*name]].concat();
            let node = self.node(&path);
            match node.own.get("default") {
                Some(Value::Number(n)) => format!("{name} = {}", number(n)),
                Some(value) => format!("{name} = {value}"),
                None if node.required => name.to_string(),
                None => format!("[{name}]"),
            }
        };
        format!("{{ {} }}", names.iter().map(key).collect::<Vec<_>>().join(", "))
    }

    /// What stands at a path.
    fn node(&self, path: &[&str]) -> Node<'_> {
        let root = Node { own: &self.root, required: true, value: &self.root };
        path.iter().fold(root, |at, part| {
            self.part(at.value, part).unwrap_or_else(|| {
                // A bug: serde and the schema come from the same type.
                panic!("`{part}` of {path:?} is not in the schema")
            })
        })
    }

    /// The key of a table, or the variant of an enumeration.
    fn part<'a>(&'a self, value: &'a Value, part: &str) -> Option<Node<'a>> {
        let has = |v: &'a Value| v.get("properties").and_then(|p| p.get(part));
        if let Some(own) = has(value) {
            let required = value.get("required").and_then(Value::as_array);
            let required = required.is_some_and(|names| names.iter().any(|n| n == part));
            return Some(Node { own, required, value: self.resolve(own) });
        }
        let variants = value.get("oneOf")?.as_array()?;
        if let Some(own) = variants.iter().find(|v| v.get("const").is_some_and(|c| c == part)) {
            return Some(Node { own, required: true, value: own });
        }
        let own = variants.iter().find(|v| has(v).is_some())?;
        Some(Node { own, required: true, value: self.resolve(has(own)?) })
    }

    /// The schema of a value: what a reference names, of a list its items', and not "null".
    fn resolve<'a>(&'a self, mut value: &'a Value) -> &'a Value {
        loop {
            let first = |key: &str| value.get(key).and_then(|v| v.get(0));
            let named = value
                .get("$ref")
                .and_then(Value::as_str)
                .and_then(|name| self.root.pointer(name.trim_start_matches('#')));
            let next = named.or(first("anyOf")).or(first("allOf")).or(value.get("items"));
            match next {
                Some(next) if next.is_object() => value = next,
                _ => return value,
            }
        }
    }
}

/// Whether a variant is written as its name alone.
fn is_word(own: &Value) -> bool {
    own.get("const").is_some()
}

/// Whether the value of a key is a table with keys of its own.
fn is_table(node: &Node<'_>) -> bool {
    node.value.get("properties").is_some()
}

fn mark<'a>(own: &'a Value, name: &str) -> Option<&'a str> {
    own.get(name).and_then(Value::as_str)
}

/// The comment, in one line.
fn meaning(own: &Value) -> String {
    let text = mark(own, "description").unwrap_or_default().replace('\n', " ");
    text.trim_end_matches('.').replace('|', "\\|")
}

fn default(node: &Node<'_>) -> String {
    match (mark(node.own, "x-default"), node.own.get("default")) {
        (Some("none"), _) => String::new(),
        (Some(words), _) => words.to_string(),
        (_, Some(Value::Number(n))) => number(n),
        (_, Some(Value::Bool(b))) => b.to_string(),
        (_, Some(Value::Null)) => String::new(),
        (_, Some(other)) => format!("`{}`", other.to_string().replace(',', ", ")),
        _ if node.required => "required".to_string(),
        _ => String::new(),
    }
}

/// Without the `.0` of a whole number.
fn number(n: &serde_json::Number) -> String {
    n.to_string().trim_end_matches(".0").to_string()
}

fn table<const N: usize>(heads: [&str; N], rows: Vec<[String; N]>) -> String {
    let line = |cells: &[String]| {
        let cells: Vec<String> = cells
            .iter()
            .map(|c| match c.as_str() {
                "" => "| ".to_string(),
                text => format!("| {text} "),
            })
            .collect();
        format!("{}|\n", cells.concat())
    };
    let heads = heads.map(str::to_string);
    let rule = "|---".repeat(N) + "|\n";
    line(&heads) + &rule + &rows.iter().map(|row| line(row)).collect::<String>()
}
