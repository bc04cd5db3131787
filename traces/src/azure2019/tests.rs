//! Tests of the reader of Azure 2019 invocations.
//! Not here: random damage, which `tests/it/readers.rs` does for every reader.

use super::*;
use crate::open::tests::gz;

const FILE: &str = "HashOwner,HashApp,HashFunction,Trigger,480,481,482\n\
    o1,a1,f1,http,1,0,5\no1,a1,f2,timer,2,2,2\no2,a2,f3,queue,0,0,9\no2,a2,f4,http,0,0,0\n";

fn input(text: &str) -> Input {
    Input::from_bytes("inv.csv", text.as_bytes().to_vec()).unwrap()
}

fn read(text: &str) -> Result<Invocations, TraceError> {
    Invocations::read(input(text), None)
}

fn names(selection: Selection) -> Vec<String> {
    let kept = read(FILE).unwrap().select(&selection).unwrap();
    kept.functions.into_iter().map(|f| f.function).collect()
}

fn message(text: &str) -> String {
    read(text).unwrap_err().to_string()
}

#[test]
fn rows_have_keys_trigger_total_and_counts_in_header_order() {
    let all = read(FILE).unwrap();
    assert_eq!((all.first_label, all.functions.len()), (480, 4));
    let first = &all.functions[0];
    assert_eq!((first.key().as_str(), first.trigger.as_str()), ("o1/a1/f1", "http"));
    assert_eq!((first.total, &first.counts[..]), (6, &[1, 0, 5][..]));
    assert_eq!(all.summed().unwrap(), [3, 2, 16]);
}

#[test]
fn a_full_day_as_published_parses_plain_and_gzipped() {
    let labels: Vec<String> = (1..=1440).map(|k| k.to_string()).collect();
    let counts: Vec<String> = (1..=1440).map(|k| (k % 7).to_string()).collect();
    let head = format!("HashOwner,HashApp,HashFunction,Trigger,{}", labels.join(","));
    let text = format!("{head}\no,a,f,http,{}\n", counts.join(","));
    let plain = read(&text).unwrap();
    let zipped = Input::from_bytes("inv.csv", gz(text.as_bytes())).unwrap();
    assert_eq!(plain, Invocations::read(zipped, None).unwrap());
    assert_eq!((plain.first_label, plain.functions[0].counts.len()), (1, 1440));
}

#[test]
fn columns_are_found_by_name_and_owner_and_app_may_be_absent() {
    let moved = read("Trigger,7,8,HashFunction,note\nhttp,3,4,f,x\n").unwrap();
    let f = &moved.functions[0];
    assert_eq!((f.owner.as_str(), f.function.as_str(), &f.counts[..]), ("", "f", &[3, 4][..]));
    assert_eq!(moved.first_label, 7);
}

#[test]
fn minutes_can_be_chosen_by_label() {
    let range = MinuteRange { first_label: 481, last_label: 482 };
    let part = Invocations::read(input(FILE), Some(range)).unwrap();
    assert_eq!((part.first_label, part.functions[0].total), (481, 5));
    for (first_label, last_label) in [(479, 481), (481, 483), (482, 481)] {
        let range = Some(MinuteRange { first_label, last_label });
        let text = Invocations::read(input(FILE), range).unwrap_err().to_string();
        assert!(text.contains("inv.csv") && text.contains("480 to 482"), "{text}");
    }
}

#[test]
fn functions_are_selected_by_rank_trigger_or_name_and_ties_go_by_name() {
    assert_eq!(names(Selection::All), ["f1", "f2", "f3", "f4"]);
    assert_eq!(names(Selection::WithoutTop(1)), ["f1", "f2", "f4"]);
    assert_eq!(names(Selection::WithoutTop(2)), ["f2", "f4"]); // f1 and f2 both have 6
    assert_eq!(names(Selection::Ranks { first: 1, last: 2 }), ["f1", "f3"]);
    assert_eq!(names(Selection::Trigger("http".into())), ["f1", "f4"]);
    assert_eq!(names(Selection::Named(vec!["f4".into(), "f2".into()])), ["f2", "f4"]);
}

#[test]
fn a_selection_of_nothing_is_an_error_that_says_what_there_is() {
    let fail = |s: Selection| read(FILE).unwrap().select(&s).unwrap_err().to_string();
    assert!(fail(Selection::WithoutTop(4)).contains("ranks from 1 to 4"));
    assert!(fail(Selection::Ranks { first: 0, last: 2 }).contains("ranks from 1 to 4"));
    assert!(fail(Selection::Ranks { first: 2, last: 5 }).contains("inv.csv"));
    assert!(fail(Selection::Trigger("event".into())).contains("http, queue, timer"));
    assert!(fail(Selection::Named(vec!["f9".into()])).contains("f9"));
}

#[test]
fn a_function_given_twice_has_the_calls_of_both_lines() {
    let all = read("HashFunction,Trigger,1,2\nf,http,1,2\ng,http,1,1\nf,timer,2,3.0\n").unwrap();
    assert_eq!(all.functions.len(), 2);
    assert_eq!((all.functions[0].total, &all.functions[0].counts[..]), (8, &[3, 5][..]));
    let notes = all.met.notes();
    assert!(notes[1].starts_with("functions given twice: 1, first `f` on line 4"), "{notes:?}");
    let text = message("HashFunction,Trigger,1\nf,http,4294967295\nf,http,1\n");
    assert!(text.contains("line 3") && text.contains("4294967295 calls"), "{text}");
}

#[test]
fn damaged_counts_name_line_column_and_finding() {
    for bad in ["-1", "1.5", "", "NaN", "x", "4294967296", "+1", "1e3"] {
        let text = message(&format!("HashFunction,Trigger,480,481\ng,http,1,1\nf,http,1,{bad}\n"));
        let start = format!("inv.csv: line 3: column `481`: found `{bad}`");
        assert!(text.starts_with(&start), "{text}");
    }
}

#[test]
fn headers_without_key_trigger_or_ordered_minutes_are_errors() {
    assert!(message("HashApp,Trigger,1\n").contains("`HashFunction` is missing"));
    assert!(message("HashFunction,1\nf,1\n").contains("`Trigger` is missing"));
    assert!(message("HashFunction,Trigger\nf,http\n").contains("no column named by a number"));
    assert!(message("HashFunction,Trigger,1,3\n").contains("label 3 after 1"));
    assert!(message("HashFunction,Trigger,2,1\n").contains("label 1 after 2"));
    assert!(message("HashFunction,Trigger,1,1\n").contains("columns 3 and 4"));
    assert!(message("HashFunction,Trigger,99999999999\n").contains("99999999999"));
    assert!(message("HashFunction,Trigger,1\n").contains("line 2: the file ends here"));
    assert!(message("HashFunction,Trigger,1\n,http,1\n").contains("a name"));
}

#[test]
fn a_functions_stream_does_not_depend_on_the_others() {
    let all = read(FILE).unwrap();
    let some = all.clone().select(&Selection::Named(vec!["f3".into()])).unwrap();
    assert_eq!(some.functions[0].stream_index(), all.functions[2].stream_index());
    assert_ne!(all.functions[0].stream_index(), all.functions[1].stream_index());
}
