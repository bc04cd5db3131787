//! Axes and points: the combinations of a sweep or an experiment, in one fixed order: points, then axes,
//! the first changing slowest.

use orrery_run::SpecError;
use orrery_sim::rng::Stream;
use schemars::JsonSchema;
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use toml::Value;

/// The most combinations.
const CELLS_MAX: usize = 1_000_000;

/// The columns of results that are no axes; a case may be an axis, by its key.
const COLUMNS: [&str; 6] = ["experiment", "case", "system", "preset", "policy", "scope"];

/// `sample`: which combinations are run.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub struct Sample {
    /// Number of combinations to draw.
    pub count: usize,
    /// The seed of the draw.
    pub seed: u64,
}

/// `[[axis]]`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Axis {
    /// Its name in results.
    #[serde(default)]
    #[schemars(extend("x-default" = "the last part of its key"))]
    pub name: String,
    /// The dotted key of the scenario that it sets.
    #[serde(default)]
    #[schemars(extend("x-default" = "required, or `keys`"))]
    pub key: String,
    /// Several dotted keys, all set to the same value.
    #[serde(default)]
    #[schemars(extend("x-default" = "none"))]
    pub keys: Vec<String>,
    /// Its values, each valid for the key.
    #[serde(default)]
    #[schemars(with = "Vec<serde_json::Value>")]
    #[schemars(extend("x-default" = "required, or `point`"))]
    pub values: Vec<Value>,
    /// In place of values: points, each with a name and the keys that it sets.
    #[serde(default)]
    #[schemars(extend("x-default" = "none"))]
    pub point: Vec<Point>,
}

/// `[[point]]`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Point {
    /// Its name in results, under the axis `point`.
    pub name: String,
    /// Its axes in results, as `name=value;name=value`, in place of `point=NAME`.
    #[serde(default)]
    pub axes: String,
    /// The scenario keys that it sets.
    #[serde(default)]
    #[schemars(extend("x-default" = "none"))]
    #[schemars(with = "BTreeMap<String, serde_json::Value>")]
    pub set: BTreeMap<String, Value>,
}

/// A combination: its axes as in results, and the keys that it sets.
pub struct Combination {
    /// As `name=value`.
    pub axes: Vec<String>,
    /// The keys that it sets, with their values.
    pub changes: Vec<(String, Value)>,
}

impl Axis {
    /// One value of a key.
    pub fn of(key: &str, value: Value) -> Axis {
        let (name, keys, point) = (String::new(), Vec::new(), Vec::new());
        Axis { name, key: key.to_string(), keys, values: vec![value], point }
    }

    /// Fills in what is left out: the list of keys, the name.
    pub fn complete(&mut self) {
        if self.keys.is_empty() && !self.key.is_empty() {
            self.keys = vec![self.key.clone()];
        }
        if self.values.is_empty() {
            self.values = self.point.iter().map(|p| Value::String(p.name.clone())).collect();
        }
        if self.name.is_empty() {
            let last = self.keys.first().and_then(|k| k.rsplit('.').next());
            self.name = last.unwrap_or_default().to_string();
        }
    }
}

/// Passes when axes and points have keys, values, and names of their own.
///
/// # Errors
/// Names the key, what was found and what is allowed.
pub fn check(points: &[Point], axes: &[Axis]) -> Result<(), SpecError> {
    let wrong = |key: String, found: String, allowed: &str, remedy: &str| {
        Err(SpecError::value(key, found, allowed, remedy))
    };
    let count = axes.iter().fold(points.len().max(1), |n, a| n.saturating_mul(a.values.len()));
    // Each cell has the same seeds: that is what pairs them.
    let own = |k: &&String| k.as_str() == "seed";
    let of_axis =
        |a: &Axis| a.keys.iter().chain(a.point.iter().flat_map(|p| p.set.keys())).any(|k| own(&k));
    let in_axis = axes.iter().position(of_axis);
    let in_point = points.iter().position(|p| p.set.keys().any(|k| own(&k)));
    let key = in_axis.map(|i| format!("axis[{i}].key"));
    if let Some(key) = key.or_else(|| in_point.map(|i| format!("point[{i}].set"))) {
        let allowed = "any key but `seed`: all cells have the same seeds";
        let remedy =
            "set `seeds` (or `--seeds`), the number of seeds, which start at the scenario's `seed`";
        return wrong(key, "`seed`".into(), allowed, remedy);
    }
    for (i, axis) in axes.iter().enumerate() {
        check_axis(axis, &axes[..i]).map_err(|e| e.in_table(&format!("axis[{i}]")))?;
    }
    for (i, point) in points.iter().enumerate() {
        let varied = |key: &&String| axes.iter().any(|a| a.keys.contains(key));
        if let Some(varied) = point.set.keys().find(varied) {
            let key = format!("point[{i}].set");
            let allowed = "keys that no axis varies: the axis's value would be used";
            return wrong(key, format!("`{varied}`"), allowed, "remove it, or the axis");
        }
        let again = points[..i].iter().any(|p| p.name == point.name);
        if again || point.name.contains([';', '\n']) || point.axes.contains('\n') {
            let key = format!("point[{i}].name");
            let allowed = "a unique name, without `;`";
            return wrong(key, point.name.clone(), allowed, "choose another name");
        }
    }
    if count > CELLS_MAX {
        let found = format!("{} cells", count);
        return wrong("axis".into(), found, "at most 1000000 cells", "use fewer values");
    }
    Ok(())
}

fn check_axis(axis: &Axis, before: &[Axis]) -> Result<(), SpecError> {
    let wrong = |key: &str, found: &str, allowed: &str, remedy: &str| {
        Err(SpecError::value(key, found, allowed, remedy))
    };
    let of_points = || axis.point.iter().map(|p| Some(p.name.as_str()));
    if !axis.point.is_empty()
        && (!axis.keys.is_empty() || !axis.values.iter().map(Value::as_str).eq(of_points()))
    {
        let allowed = "points, or `key` and `values`";
        return wrong("point", "points with `key` or `values`", allowed, "remove one of the two");
    }
    if axis.keys.is_empty() && axis.point.is_empty() {
        return wrong("key", "nothing", "a key of a scenario", "add `key`");
    }
    if !axis.key.is_empty() && axis.keys != [axis.key.as_str()] {
        let found = format!("`keys` beside `key = \"{}\"`", axis.key);
        return wrong("keys", &found, "one of `key` and `keys`", "write all of them in `keys`");
    }
    if axis.values.is_empty() {
        let remedy = "add values: an empty axis makes an empty sweep";
        return wrong("values", "nothing", "at least one value", remedy);
    }
    let is_twice = before.iter().any(|b| b.name == axis.name);
    let is_column = COLUMNS.contains(&axis.name.as_str()) && axis.key != axis.name;
    if axis.name.contains([';', '=', '\n']) || is_twice || is_column {
        let allowed = "a unique name, without `;` and `=`, that is no column of results";
        return wrong("name", &axis.name, allowed, "choose another name");
    }
    let mut words = BTreeSet::new();
    if let Some(k) = axis.values.iter().position(|value| !words.insert(word(value))) {
        let (key, found) = (format!("values[{k}]"), word(&axis.values[k]));
        return wrong(&key, &found, "each value once", "remove one of the two");
    }
    Ok(())
}

/// Passes when the results of any two points are told apart by their axes.
///
/// # Errors
/// Names the second of two that are not.
pub fn check_apart(points: &[Point]) -> Result<(), SpecError> {
    let mut seen = BTreeSet::new();
    let mut axes = points.iter().map(|p| &p.axes);
    let again = axes.position(|axes| !axes.is_empty() && !seen.insert(axes));
    let Some(i) = again else { return Ok(()) };
    let (key, allowed) = (format!("point[{i}].axes"), "other axes than those of any point before");
    Err(SpecError::value(key, &points[i].axes, allowed, "add an axis that tells the two apart"))
}

/// The changes of each point and of each value of an axis, alone; none where nothing is varied.
pub fn each_alone(points: &[Point], axes: &[Axis]) -> Vec<Vec<(String, Value)>> {
    let of_axes = axes.iter().flat_map(|axis| combinations(&[], std::slice::from_ref(axis), None));
    combinations(points, &[], None).chain(of_axes).map(|c| c.changes).collect()
}

/// The combinations; with `sample`, so many of them, in their order. They are made one by one: a million
/// would fill the memory.
pub fn combinations<'a>(
    points: &'a [Point],
    axes: &'a [Axis],
    sample: Option<Sample>,
) -> impl Iterator<Item = Combination> + 'a {
    let all = axes.iter().fold(points.len().max(1), |n, a| n * a.values.len());
    let drawn = sample.map(|s| Drawn::new(s, all));
    let taken =
        (0..all).scan(drawn, |drawn, i| Some(drawn.as_mut().map_or(Some(i), |d| d.take(i))));
    taken.flatten().map(|i| combination(points, axes, i))
}

/// Selection sampling: each of those left is taken with the probability wanted / left.
struct Drawn {
    stream: Stream,
    left: usize,
    wanted: usize,
}

impl Drawn {
    fn new(Sample { count, seed }: Sample, all: usize) -> Drawn {
        let stream = Stream::named(seed, "sample of a sweep", 0);
        Drawn { stream, left: all, wanted: count.min(all) }
    }

    fn take(&mut self, i: usize) -> Option<usize> {
        let taken = self.stream.uniform() * (self.left as f64) < self.wanted as f64;
        self.left -= 1;
        self.wanted -= usize::from(taken);
        taken.then_some(i)
    }
}

/// The combination of a number: points change slowest, then the first axis.
fn combination(points: &[Point], axes: &[Axis], number: usize) -> Combination {
    let mut rest = number;
    let mut at: Vec<usize> = vec![0; axes.len()];
    for (place, axis) in at.iter_mut().zip(axes).rev() {
        (*place, rest) = (rest % axis.values.len(), rest / axis.values.len());
    }
    let mut out = Combination { axes: Vec::new(), changes: Vec::new() };
    if let Some(p) = points.get(rest) {
        let named = || format!("point={}", p.name);
        out.axes.push(if p.axes.is_empty() { named() } else { p.axes.clone() });
        out.changes.extend(p.set.iter().map(|(k, v)| (k.clone(), v.clone())));
    }
    for (axis, i) in axes.iter().zip(at) {
        let value = &axis.values[i];
        out.axes.push(format!("{}={}", axis.name, word(value)));
        out.changes.extend(axis.keys.iter().map(|k| (k.clone(), value.clone())));
        let set = axis.point.get(i).into_iter().flat_map(|p| &p.set);
        out.changes.extend(set.map(|(k, v)| (k.clone(), v.clone())));
    }
    out
}

/// A value as it stands in results.
pub fn word(value: &Value) -> String {
    match value {
        Value::String(s) => s.replace(';', ","),
        Value::Float(x) => x.to_string(),
        other => other.to_string().replace(';', ","),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn axis(text: &str) -> Axis {
        let mut axis: Axis = toml::from_str(text).unwrap();
        axis.complete();
        axis
    }

    #[test]
    fn an_axis_of_points_is_combined_with_points_and_sets_the_keys_of_each() {
        let changed =
            "name = \"changed\"\npoint = [{ name = \"no\" }, { name = \"yes\", set = { b = 2 } }]";
        let axes = [axis(changed), axis("key = \"c\"\nvalues = [3]")];
        let point = "name = \"p\"\nset = { a = 1, b = 1 }";
        let points: [Point; 1] = [toml::from_str(point).unwrap()];
        assert!(check(&points, &axes).is_ok());
        let all: Vec<Combination> = combinations(&points, &axes, None).collect();
        let names: Vec<String> = all.iter().map(|c| c.axes.join(";")).collect();
        assert_eq!(names, ["point=p;changed=no;c=3", "point=p;changed=yes;c=3"]);
        let set =
            |c: &Combination| c.changes.iter().map(|(k, v)| format!("{k}={v}")).collect::<Vec<_>>();
        assert_eq!(set(&all[0]), ["a=1", "b=1", "c=3"]);
        // The later one counts.
        assert_eq!(set(&all[1]), ["a=1", "b=1", "b=2", "c=3"]);
    }

    /// Its column would be there twice.
    #[test]
    fn an_axis_is_not_called_as_a_column_of_results() {
        for name in COLUMNS {
            let text = format!("name = \"{name}\"\nkey = \"a\"\nvalues = [1]");
            let error = check(&[], &[axis(&text)]).unwrap_err().to_string();
            assert!(error.contains("axis[0].name") && error.contains(name), "{error}");
        }
        assert!(check(&[], &[axis("key = \"case\"\nvalues = [1]")]).is_ok());
    }

    #[test]
    fn an_axis_has_points_or_values() {
        let error = |text: &str| check(&[], &[axis(text)]).unwrap_err().to_string();
        let points = "point = [{ name = \"x\" }]";
        let says = ["axis[0].point", "points with `key` or `values`", "remove one of the two"];
        let given = ["key = \"a\"", "values = [1, 2]", "values = [1]"];
        for text in given.map(|given| format!("{points}\n{given}")) {
            assert!(says.iter().all(|s| error(&text).contains(s)), "{}", error(&text));
        }
        assert!(error("key = \"a\"").contains("axis[0].values"));
        let both = "key = \"a\"\nkeys = [\"b\"]\nvalues = [1]";
        assert!(error(both).contains("allowed: one of `key` and `keys`"), "{}", error(both));
        let seed = "name = \"n\"\npoint = [{ name = \"x\", set = { seed = 2 } }]";
        assert!(error(seed).contains("any key but `seed`"));
    }
}
