//! Arrows between modules run one way: siblings never use one another in a circle, and no floor of the
//! command line uses a floor above it. A child may use what its parent defines.
//!
//! This reads text, not Rust: it finds every path such as `crate::a::{b, c::D}`, `super::x` or
//! `child::y` outside comments and inline test modules, and follows `pub use`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Floors of a package, the highest first: each with its modules at the top level.
type Floors = &'static [(&'static str, &'static [&'static str])];

/// The floors of the command line; below it each floor is a package, and the compiler holds the line.
const FLOORS: &[(&str, Floors)] =
    &[("experiments/cli", &[("dispatch", &["cli"]), ("commands", &["commands"])])];

/// How many parents may call a child that uses them; each is one thing in two files. It only falls.
const PARENTS_MAX: usize = 5;

/// A module by its names below the crate; the root has none.
type Module = Vec<String>;

/// The modules of a crate and, for each, the modules that it uses, with the path that says so.
struct Graph {
    uses: BTreeMap<Module, BTreeMap<Module, String>>,
    /// The same without what a module only gives another name, with `pub use`.
    calls: BTreeMap<Module, BTreeMap<Module, String>>,
}

/// A path in the text, and whether `pub use` is in front of it.
struct Mention {
    path: Vec<String>,
    is_exported: bool,
}

/// The code before the first inline test module, without comments.
fn code(text: &str) -> String {
    let lines = text.lines().map(|l| l.split("//").next().unwrap_or_default());
    let code = lines.collect::<Vec<_>>().join("\n");
    let inline_tests = code.match_indices("#[cfg(test)]").find(|(at, _)| {
        let item = code[*at..].lines().nth(1).unwrap_or_default();
        item.contains("mod ") && item.ends_with('{')
    });
    inline_tests.map_or(code.clone(), |(at, _)| code[..at].to_string())
}

/// Words, `::`, and every other sign that is not a space.
fn tokens(code: &str) -> Vec<&str> {
    let mut tokens = Vec::new();
    let mut rest = code.trim_start();
    while let Some(first) = rest.chars().next() {
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        let length = match first {
            c if is_word(c) => rest.find(|c| !is_word(c)).unwrap_or(rest.len()),
            ':' if rest.starts_with("::") => 2,
            c => c.len_utf8(),
        };
        tokens.push(&rest[..length]);
        rest = rest[length..].trim_start();
    }
    tokens
}

/// The paths of the tree that begins at `at`, each behind `before`; where the tree ends.
fn tree(tokens: &[&str], mut at: usize, before: &[String], out: &mut Vec<Vec<String>>) -> usize {
    let mut path = before.to_vec();
    loop {
        match tokens.get(at) {
            Some(&"{") => {
                at += 1;
                while tokens.get(at).is_some_and(|t| *t != "}") {
                    at = tree(tokens, at, &path, out).max(at + 1);
                    while tokens.get(at).is_some_and(|t| !matches!(*t, "," | "}")) {
                        at += 1;
                    }
                    at += usize::from(tokens.get(at) == Some(&","));
                }
                return at + 1;
            }
            Some(name) if *name != "self" || path.is_empty() => path.push(name.to_string()),
            _ => (),
        }
        if tokens.get(at + 1) != Some(&"::") {
            out.push(path);
            return at + 1;
        }
        at += 2;
    }
}

/// Every path of more than one name.
fn mentions(code: &str) -> Vec<Mention> {
    let (tokens, mut found, mut at) = (tokens(code), Vec::new(), 0);
    while at + 1 < tokens.len() {
        let is_start = tokens[at].starts_with(|c: char| c.is_alphabetic() || c == '_');
        if !is_start || tokens[at + 1] != "::" {
            at += 1;
            continue;
        }
        // `pub use` or `pub(crate) use`.
        let is_exported =
            at >= 2 && tokens[at - 1] == "use" && matches!(tokens[at - 2], "pub" | ")");
        let mut paths = Vec::new();
        at = tree(&tokens, at, &[], &mut paths);
        found.extend(paths.into_iter().map(|path| Mention { path, is_exported }));
    }
    found
}

impl Graph {
    /// The graph of a crate given as modules and their text.
    fn of(texts: &BTreeMap<Module, String>) -> Graph {
        let mut uses: Vec<(&Module, Module, bool)> = Vec::new();
        let mut exports: BTreeMap<Module, Module> = BTreeMap::new();
        for (module, text) in texts {
            for mention in mentions(&code(text)) {
                let Some(target) = absolute(module, &mention.path, texts) else { continue };
                if mention.is_exported {
                    let name = target.last().cloned().into_iter();
                    exports.insert(module.iter().cloned().chain(name).collect(), target.clone());
                }
                uses.push((module, target, mention.is_exported));
            }
        }
        let empty = || texts.keys().map(|m| (m.clone(), BTreeMap::new())).collect();
        let mut graph = Graph { uses: empty(), calls: empty() };
        for (module, target, is_exported) in uses {
            let says = target.join("::");
            let home = home(target, texts, &exports);
            let all = [Some(&mut graph.uses), (!is_exported).then_some(&mut graph.calls)];
            for of in all.into_iter().flatten() {
                let of = of.entry(module.clone()).or_default();
                of.entry(home.clone()).or_insert_with(|| says.clone());
            }
        }
        graph
    }

    /// The arrows between the children of a module, each with an example.
    fn among_children(&self, parent: &[String]) -> BTreeMap<&str, BTreeMap<&str, String>> {
        let child = |m: &'_ Module| m.starts_with(parent) && m.len() > parent.len();
        let mut arrows: BTreeMap<&str, BTreeMap<&str, String>> = BTreeMap::new();
        for (from, targets) in self.uses.iter().filter(|(m, _)| child(m)) {
            for (to, path) in targets.iter().filter(|(m, _)| child(m)) {
                let (a, b) = (&from[parent.len()], &to[parent.len()]);
                if a != b {
                    let example = || format!("{} uses {path}", from.join("::"));
                    arrows.entry(a).or_default().entry(b).or_insert_with(example);
                }
            }
        }
        arrows
    }

    /// A circle of siblings for each that can be reached from itself.
    fn circles(&self) -> Vec<String> {
        let mut circles = Vec::new();
        for parent in self.uses.keys() {
            let arrows = self.among_children(parent);
            for (from, next) in &arrows {
                for (to, example) in next.iter().filter(|(to, _)| reaches(&arrows, to, from)) {
                    circles.push(format!("{}: {from} -> {to}: {example}", parent.join("::")));
                }
            }
        }
        circles
    }

    /// Parents that call a child which uses what the parent itself defines.
    fn parents_in_circles(&self) -> Vec<String> {
        let mut circles = Vec::new();
        for (parent, calls) in self.calls.iter().filter(|(parent, _)| !parent.is_empty()) {
            let below = |m: &Module| m.starts_with(parent) && m.len() > parent.len();
            let children: BTreeMap<&str, &String> = calls
                .iter()
                .filter(|(to, _)| below(to))
                .map(|(to, says)| (to[parent.len()].as_str(), says))
                .collect();
            for (child, down) in children {
                let own = |m: &Module| below(m) && m[parent.len()] == child;
                let mut back = self.calls.iter().filter(|(m, _)| own(m));
                if let Some((_, up)) = back.find_map(|(_, to)| to.get_key_value(parent)) {
                    let parent = parent.join("::");
                    circles.push(format!("{parent} uses {down}, and {child} uses {up}"));
                }
            }
        }
        circles
    }

    /// The arrows from a floor to one above it, and the modules that are on none.
    fn upward(&self, floors: &[(&str, &[&str])]) -> Vec<String> {
        let floor = |module: &str| floors.iter().position(|(_, all)| all.contains(&module));
        let mut wrong = Vec::new();
        for (from, targets) in &self.among_children(&[]) {
            match floor(from) {
                None => wrong.push(format!("{from} is on no floor: add it to FLOORS")),
                Some(own) => wrong.extend(
                    targets
                        .iter()
                        .filter(|(to, _)| floor(to).is_some_and(|other| other < own))
                        .map(|(to, example)| format!("{from} -> {to} runs up: {example}")),
                ),
            }
        }
        wrong
    }
}

/// A path from the crate's root; none where it is of another crate or of a name in scope.
fn absolute(module: &Module, path: &[String], texts: &BTreeMap<Module, String>) -> Option<Module> {
    let supers = path.iter().take_while(|name| *name == "super").count();
    let own = match path[0].as_str() {
        "crate" => return Some(path[1..].to_vec()),
        "self" => return Some([module, &path[1..]].concat()),
        _ => &module[..module.len().checked_sub(supers)?],
    };
    let target = [own, &path[supers..]].concat();
    (supers > 0 || texts.contains_key(&target[..=own.len()])).then_some(target)
}

/// The module in which a path ends, `pub use` followed.
fn home(
    mut target: Module,
    texts: &BTreeMap<Module, String>,
    exports: &BTreeMap<Module, Module>,
) -> Module {
    // A re-export of a re-export is followed too, though not for ever.
    for _ in 0..8 {
        let renamed = (1..=target.len()).find_map(|n| Some((n, exports.get(&target[..n])?)));
        match renamed {
            Some((n, to)) if !texts.contains_key(&target[..n]) => {
                target = [to.as_slice(), &target[n..]].concat();
            }
            _ => break,
        }
    }
    while !texts.contains_key(&target) {
        target.pop();
    }
    target
}

fn reaches(arrows: &BTreeMap<&str, BTreeMap<&str, String>>, from: &str, to: &str) -> bool {
    let (mut seen, mut next) = (BTreeSet::new(), vec![from]);
    while let Some(at) = next.pop() {
        if at == to {
            return true;
        }
        if seen.insert(at) {
            next.extend(arrows.get(at).into_iter().flat_map(|of| of.keys()));
        }
    }
    false
}

/// The modules below a folder of sources; files of tests alone are left out.
fn modules(folder: &Path, names: &[String], out: &mut BTreeMap<Module, String>) {
    for entry in std::fs::read_dir(folder).expect("a folder of sources") {
        let path: PathBuf = entry.expect("an entry").path();
        let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let mut module = names.to_vec();
        if !matches!(stem.as_str(), "lib" | "mod") {
            module.push(stem.clone());
        }
        if stem == "tests" || stem == "main" {
            continue;
        }
        if path.is_dir() {
            modules(&path, &module, out);
        } else if path.extension().is_some_and(|e| e == "rs") {
            out.insert(module, std::fs::read_to_string(&path).expect("a source file"));
        }
    }
}

/// The graph of a package of the workspace.
fn package(name: &str) -> Graph {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(name).join("src");
    let mut texts = BTreeMap::from([(Module::new(), String::new())]);
    modules(&src, &[], &mut texts);
    Graph::of(&texts)
}

fn packages() -> Vec<String> {
    let manifest = include_str!("../../../Cargo.toml");
    let members = manifest.lines().find(|l| l.starts_with("members")).expect("a list of members");
    members.split('"').skip(1).step_by(2).map(str::to_string).collect()
}

#[test]
fn siblings_never_use_one_another_in_a_circle() {
    let mut circles = Vec::new();
    for name in &packages() {
        circles.extend(package(name).circles().into_iter().map(|c| format!("{name}/src {c}")));
    }
    assert!(circles.is_empty(), "{} arrows in circles:\n{}", circles.len(), circles.join("\n"));
}

#[test]
fn a_parent_seldom_calls_a_child_that_uses_it() {
    let mut circles = Vec::new();
    for name in &packages() {
        let own = package(name).parents_in_circles();
        circles.extend(own.into_iter().map(|c| format!("{name}/src {c}")));
    }
    assert!(circles.len() <= PARENTS_MAX, "{} circles:\n{}", circles.len(), circles.join("\n"));
}

#[test]
fn no_floor_uses_a_floor_above_it() {
    let mut wrong = Vec::new();
    for (name, floors) in FLOORS {
        wrong.extend(package(name).upward(floors));
    }
    assert!(wrong.is_empty(), "{} arrows that run up:\n{}", wrong.len(), wrong.join("\n"));
}

fn graph(texts: &[(&str, &str)]) -> Graph {
    let module =
        |name: &str| name.split("::").filter(|n| !n.is_empty()).map(str::to_string).collect();
    Graph::of(&texts.iter().map(|(name, text)| (module(name), text.to_string())).collect())
}

#[test]
fn a_circle_is_found_through_groups_children_and_re_exports() {
    let clean = graph(&[
        ("", "mod a; mod b; pub use a::A;"),
        ("a", "use std::fmt; pub struct A;"),
        ("b", "use crate::{A, a::{self, A as Other}};"),
    ]);
    assert_eq!(clean.circles(), Vec::<String>::new());
    // `a` uses `b` in a child of its own, and `b` uses `a` by the root's name for it.
    let circle = graph(&[
        ("", "mod a; mod b; pub(crate) use a::A;"),
        ("a", "mod deep;"),
        ("a::deep", "fn f() { crate::b::g(); }"),
        ("b", "use crate::{A};"),
    ]);
    let expected = ["a -> b: a::deep uses b::g", "b -> a: b uses A"].map(|c| format!(": {c}"));
    assert_eq!(circle.circles(), expected);
    let of_three = graph(&[
        ("", ""),
        ("p", "mod a; mod b; mod c;"),
        ("p::a", "use super::b::B;"),
        ("p::b", "use super::{c::{C}};"),
        ("p::c", "fn f() { super::a::g() }"),
    ]);
    assert_eq!(of_three.circles().len(), 3);
}

#[test]
fn a_parent_comments_and_tests_make_no_circle() {
    let clean = graph(&[
        ("", "mod a;"),
        ("a", "mod one; mod two; struct Own; fn f() { one::f(); two::g(); }"),
        (
            "a::one",
            "use super::Own; // super::two::g\n#[cfg(test)]\nmod tests {\n use super::super::two; }",
        ),
        ("a::two", "use super::one::f;"),
    ]);
    assert_eq!(clean.circles(), Vec::<String>::new());
}

#[test]
fn an_arrow_that_runs_up_is_found() {
    let floors: &[(&str, &[&str])] = &[("top", &["cli"]), ("ground", &["cell", "grid"])];
    let house = graph(&[
        ("", ""),
        ("cli", "use crate::cell;"),
        ("cell", "use crate::grid::G;"),
        ("grid", "fn f() { crate::cli::main() }"),
        ("shed", "use crate::cell::C;"),
    ]);
    let wrong = house.upward(floors);
    assert_eq!(wrong.len(), 2, "{wrong:?}");
    assert!(wrong[0].starts_with("grid -> cli runs up") && wrong[1].starts_with("shed is on no"));
}
