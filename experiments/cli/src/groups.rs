//! The help of the program: its commands by what they are for.

use clap::Command;
use std::fmt::Write;

/// Every command but `self`, in the order of help.
const GROUPS: &[(&str, &[&str])] = &[
    ("Simulate", &["run", "goodput", "sweep", "arena", "serve"]),
    ("Plan", &["plan"]),
    ("Reproduce and check", &["reproduce", "list", "regress"]),
    ("Inspect", &["log", "results", "plot"]),
    ("Files of other tools", &["import", "calibrate", "trace"]),
];

/// The program, whose own help has its commands in groups.
pub fn grouped(program: Command) -> Command {
    let styles = program.get_styles().clone();
    let (head, word) = (styles.get_header(), styles.get_literal());
    let mut commands = String::new();
    for (group, names) in GROUPS {
        let _ = writeln!(commands, "\n{head}{group}:{head:#}");
        for name in *names {
            let about = program.find_subcommand(name).and_then(Command::get_about);
            let about = about.map(ToString::to_string).unwrap_or_default();
            let _ = writeln!(commands, "  {word}{name:<12}{word:#} {about}");
        }
    }
    let template = format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n{commands}\n{{all-args}}{{after-help}}"
    );
    let hidden = program.get_subcommands().map(|c| c.get_name().to_string()).collect::<Vec<_>>();
    let hide = |program: Command, name: String| program.mut_subcommand(name, |c| c.hide(true));
    let program = program.override_usage("orrery [OPTIONS] <COMMAND>");
    hidden.into_iter().fold(program, hide).help_template(template)
}

#[cfg(test)]
mod tests {
    use super::GROUPS;
    use crate::cli::Cli;
    use clap::CommandFactory;
    use std::collections::BTreeSet;

    #[test]
    fn every_command_is_in_one_group() {
        let listed: Vec<&str> = GROUPS.iter().flat_map(|g| g.1.iter().copied()).collect();
        let program = Cli::command();
        let all: BTreeSet<&str> = program.get_subcommands().map(|c| c.get_name()).collect();
        assert!(listed.len() <= 15 && listed.len() + 1 == all.len(), "{}", all.len());
        assert_eq!(listed.into_iter().chain(["self"]).collect::<BTreeSet<_>>(), all);
    }
}
