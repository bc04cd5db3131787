//! The site's table of contents names every document (`scripts/site` makes the site).

use std::path::Path;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

/// Made by the script: they are no files here.
const MADE: [&str; 2] = ["atlas.md", "try.md"];

fn listed(summary: &str) -> Vec<&str> {
    summary.split("](").skip(1).filter_map(|rest| rest.split(')').next()).collect()
}

#[test]
fn every_document_is_in_the_site_s_contents_and_all_that_they_name_is_there() {
    let root = Path::new(ROOT);
    let summary = std::fs::read_to_string(root.join("docs/site/SUMMARY.md")).expect("contents");
    let listed = listed(&summary);
    for page in listed.iter().filter(|page| !MADE.contains(*page)) {
        assert!(root.join(page).is_file(), "docs/site/SUMMARY.md names {page}, which is not there");
    }
    for entry in std::fs::read_dir(root.join("docs")).expect("docs") {
        let name = entry.expect("a file").file_name().into_string().expect("a name");
        if name.ends_with(".md") {
            let page = format!("docs/{name}");
            assert!(listed.contains(&page.as_str()), "add {page} to docs/site/SUMMARY.md");
        }
    }
}

#[test]
fn every_link_of_the_site_s_pages_leads_to_a_file() {
    let root = Path::new(ROOT);
    let summary = std::fs::read_to_string(root.join("docs/site/SUMMARY.md")).expect("contents");
    let mut wrong = Vec::new();
    for page in listed(&summary).into_iter().filter(|page| !MADE.contains(page)) {
        let text = std::fs::read_to_string(root.join(page)).expect("a page");
        // Every other part is a block, which has commands and code.
        let prose: String = text.split("```").step_by(2).collect();
        let folder = root.join(page).parent().expect("a folder").to_path_buf();
        for link in listed(&prose) {
            let (file, _) = link.split_once('#').unwrap_or((link, ""));
            if !file.is_empty() && !file.contains(':') && !folder.join(file).is_file() {
                wrong.push(format!("{page}: {link} leads nowhere"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
