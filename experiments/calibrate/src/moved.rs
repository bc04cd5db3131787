//! A scenario's text for another folder: the files that it names are found from there as well.

use std::path::{Component, Path, PathBuf};
use toml::Value;

/// The text with every `file` that is in the one folder named from the other.
pub fn moved(text: &str, from: &Path, to: &Path) -> String {
    let Ok(mut value) = text.parse::<toml::Table>().map(Value::Table) else {
        return text.to_string();
    };
    let Some(way) = way(from, to) else { return text.to_string() };
    rename(&mut value, from, &way);
    toml::to_string(&value).unwrap_or_else(|_| text.to_string())
}

/// What a file is called from a folder.
pub fn named_from(file: &Path, folder: &Path) -> String {
    let name = file.file_name().map(PathBuf::from).unwrap_or_default();
    let way = way(file.parent().unwrap_or(Path::new("")), folder);
    way.map_or(file.to_path_buf(), |way| way.join(name)).display().to_string()
}

fn rename(value: &mut Value, from: &Path, way: &Path) {
    match value {
        Value::Table(table) => {
            for (key, value) in table.iter_mut() {
                match value {
                    Value::String(name) if key == "file" && from.join(&*name).exists() => {
                        *name = way.join(&*name).display().to_string();
                    }
                    other => rename(other, from, way),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| rename(item, from, way)),
        _ => {}
    }
}

/// The way from a folder to another.
fn way(to: &Path, from: &Path) -> Option<PathBuf> {
    let absolute = |path: &Path| {
        let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
        std::path::absolute(path).ok()
    };
    let (to, from) = (absolute(to)?, absolute(from)?);
    let (to, from): (Vec<Component<'_>>, Vec<Component<'_>>) =
        (to.components().collect(), from.components().collect());
    let same = to.iter().zip(&from).take_while(|(a, b)| a == b).count();
    let up = from[same..].iter().map(|_| Component::ParentDir);
    Some(up.chain(to[same..].iter().copied()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_named_from_the_new_folder_and_shipped_names_stay() {
        let place = tempfile::tempdir().unwrap();
        let (a, b) = (place.path().join("a/deep"), place.path().join("b"));
        std::fs::create_dir_all(&a).unwrap();
        std::fs::write(a.join("p.csv"), "").unwrap();
        let text = "[[model]]\nlatency = { profile = { file = \"p.csv\" } }\n\
                    [arrivals]\nworkload = { file = \"azure2021-head199\" }\n";
        let there = moved(text, &a, &b);
        assert!(there.contains("file = \"../a/deep/p.csv\""), "{there}");
        assert!(there.contains("\"azure2021-head199\""), "{there}");
        assert!(moved(text, &a, &a).contains("file = \"p.csv\""));
    }
}
