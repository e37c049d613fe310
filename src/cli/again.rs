//! What a command that is printed for another run repeats of this call.

use super::args::{FlagRepeat, RUN_FLAGS};
use clap::ArgMatches;
use clap::parser::ValueSource;
use jelly_base::model::Fix;
use jelly_base::text::redact::{blank_for, holds_secret};
use jelly_base::text::{shell_path, shell_word};
use jelly_harness::triage_loop::{CallFlag, CallFlags};
use std::borrow::Cow;
use std::path::Path;

/// By the subcommand, or its group, what it takes of the flags of a run. The
/// unnamed row is of all of them.
const ELSEWHERE: [(&str, &[&str]); 3] = [
    ("check", &["--project-dir", "--rules", "--var"]),
    ("tools", &["--project-dir"]),
    ("", &["--profile"]),
];

/// The profile that is used where nothing chooses one.
const LOCAL: &str = "local";

/// The flag that says which project it is, wherever it is said.
const PROJECT_DIR: &str = "project_dir";

/// The flags that were typed; those of `jelly.yaml` and the environment hold
/// for the next run by themselves.
/// A `profile` and a project folder that the environment chose do not: the command may be run
/// elsewhere, and would be another run there.
pub fn call_flags(matches: &ArgMatches, profile: Option<&str>) -> CallFlags {
    let Some(run) = matches.subcommand_matches("run") else {
        return CallFlags::default();
    };
    // Of `jelly.yaml` or the environment too.
    let is_shard = run.get_raw("shard").is_some();
    let flags_of = |wanted: &[FlagRepeat]| -> Vec<CallFlag> {
        let flags = RUN_FLAGS.iter().filter(|(.., fate)| wanted.contains(fate));
        flags
            .flat_map(|(id, flag, _)| typed(run, id, flag))
            .collect()
    };
    let chosen = profile.filter(|name| *name != LOCAL);
    let chosen = chosen.filter(|_| run.value_source("profile") != Some(ValueSource::CommandLine));
    let mut kept = match is_shard {
        true => flags_of(&[FlagRepeat::Kept]),
        false => flags_of(&[FlagRepeat::Kept, FlagRepeat::NotOfShards]),
    };
    kept.extend(chosen.map(|name| CallFlag::with("--profile", name)));
    let elsewhere = ELSEWHERE.iter().map(|(command, taken)| {
        let taken = kept.iter().filter(|f| taken.contains(&f.name.as_str()));
        ((*command).to_owned(), taken.cloned().collect())
    });
    CallFlags {
        elsewhere: elsewhere.collect(),
        whole: flags_of(&[FlagRepeat::OfTheWhole]),
        kept,
        folder: String::new(),
        plan_copy: None,
    }
}

/// Leaves out of commands that they are to be run in this folder, for who is
/// there.
pub fn run_here(fix: &mut [Fix], folder: &Path) {
    let here = format!("cd {} && ", shell_word(&folder.display().to_string()));
    for step in fix.iter_mut().filter(|step| step.is_command()) {
        if let Some(rest) = step.text.strip_prefix(&here) {
            step.text = rest.to_owned();
        }
    }
}

/// Names the plan where a rule, which does not know it, says `PLAN`. One that came from
/// stdin comes from its `copy` then.
pub fn name_plan(fix: &mut [Fix], plan: &Path, copy: Option<&str>) {
    let word = shell_path(&plan.display().to_string());
    let word = match copy {
        Some(copy) => format!("{word} < {}", shell_word(copy)),
        None => word,
    };
    for step in fix.iter_mut().filter(|step| step.is_command()) {
        if step.text.starts_with("jelly ")
            && let Some(before) = step.text.strip_suffix(" PLAN")
        {
            step.text = format!("{before} {word}");
        }
    }
}

/// A flag with its values, as they may be shown.
fn typed(run: &ArgMatches, id: &str, flag: &str) -> Vec<CallFlag> {
    let source = match run.try_contains_id(id) {
        Ok(_) => run.value_source(id),
        Err(_) => None,
    };
    let is_repeated = match source {
        Some(ValueSource::CommandLine) => true,
        Some(ValueSource::EnvVariable) => id == PROJECT_DIR,
        Some(_) | None => false,
    };
    if !is_repeated {
        return Vec::new();
    }
    if run.try_get_one::<bool>(id).is_ok() {
        return vec![CallFlag::bare(flag)];
    }
    let values = run.get_raw(id).into_iter().flatten();
    values
        .map(|value| value.to_string_lossy())
        .map(|value| match id == "vars" {
            true => without_secret(&value).unwrap_or(value),
            false => value,
        })
        .map(|value| CallFlag::with(flag, &value))
        .collect()
}

/// Of `NAME=VALUE`, the name and a blank to fill in, if the value is a secret: whoever
/// has it can type it again, and nobody else is to read it. Left out, the command would
/// run something else.
fn without_secret(variable: &str) -> Option<Cow<'static, str>> {
    let (name, value) = variable.split_once('=')?;
    holds_secret(name, value).then(|| Cow::Owned(format!("{name}={}", blank_for(name))))
}

#[cfg(test)]
mod tests {
    use super::{ELSEWHERE, call_flags};
    use crate::cli::args::Cli;
    use clap::CommandFactory;
    use jelly_harness::triage_loop::CallFlag;

    #[test]
    fn what_was_typed_is_repeated_as_a_shell_needs_it() {
        let typed = [
            "jelly",
            "run",
            "p.yaml",
            "--only",
            "a",
            "--var",
            "word=a b",
            "--var",
            "n=1",
            "--var",
            "api_token=zzz-1234-zzz",
            "--project-dir",
            "../x",
            "--wire-check",
            "--seed",
            "7",
            "--refine-code",
            r#"["./r.sh"]"#,
            "--profile",
            "ci",
            "--no-confirm",
            "--trust-plan",
            "--no-hooks",
        ];
        assert_eq!(
            words(&typed),
            [
                "--project-dir ../x",
                "--var 'word=a b'",
                "--var n=1",
                "--var 'api_token=<value of api_token>'",
                "--profile ci",
                "--wire-check",
                r#"--refine-code '["./r.sh"]'"#,
                "--no-hooks",
                "--no-confirm",
                "--trust-plan",
                "--only a",
                "--seed 7",
            ]
        );
    }

    fn words(typed: &[&str]) -> Vec<String> {
        words_in(typed, None)
    }

    fn words_in(typed: &[&str], profile: Option<&str>) -> Vec<String> {
        let matches = Cli::command().try_get_matches_from(typed).unwrap();
        call_flags(&matches, profile)
            .kept
            .iter()
            .map(CallFlag::words)
            .collect()
    }

    #[test]
    fn a_profile_that_the_environment_chose_is_repeated() {
        let run = ["jelly", "run", "p.yaml"];
        assert_eq!(words_in(&run, Some("ci")), ["--profile ci"]);
        assert!(words_in(&run, Some("local")).is_empty());
        let typed = [&run[..], &["--profile", "nightly"]].concat();
        assert_eq!(words_in(&typed, Some("nightly")), ["--profile nightly"]);
    }

    #[test]
    fn a_project_folder_that_the_environment_chose_is_repeated() {
        // `HOME` in the place of jelly's own variable, which tests can't set.
        let cli = Cli::command().mut_subcommand("run", |run| {
            run.mut_arg("project_dir", |arg| arg.env("HOME"))
                .mut_arg("reports_dir", |arg| arg.env("HOME"))
        });
        let home = std::env::var("HOME").unwrap();
        let matches = cli
            .try_get_matches_from(["jelly", "run", "p.yaml"])
            .unwrap();
        let kept = call_flags(&matches, None).kept;
        let words: Vec<String> = kept.iter().map(CallFlag::words).collect();
        assert_eq!(words, [CallFlag::with("--project-dir", &home).words()]);
    }

    #[test]
    fn what_selects_steps_and_what_they_may_cost_is_repeated() {
        let typed = [
            "jelly",
            "run",
            "p.yaml",
            "--skip",
            "wipe,tag:x",
            "--retries",
            "0",
            "--deadline",
            "2s",
            "--fail-fast",
            "--record",
            "-j",
            "1",
            "-q",
            "--only=-x",
        ];
        assert_eq!(
            words(&typed),
            [
                "--retries 0",
                "--deadline 2s",
                "--only=-x",
                "--skip wipe",
                "--skip tag:x",
                "--fail-fast",
                "--jobs 1",
                "--record"
            ]
        );
    }

    #[test]
    fn a_check_of_the_plan_is_given_the_variables_too() {
        let run = ["jelly", "run", "p.yaml", "--var", "who=Ann", "--seed", "7"];
        let matches = Cli::command().try_get_matches_from(run).unwrap();
        let mut check = "$ jelly check --live p.yaml".to_owned();
        call_flags(&matches, None).extend(&mut check);
        assert_eq!(check, "$ jelly check --live p.yaml --var who=Ann");
    }

    /// It holds the shard's result until that is merged.
    #[test]
    fn the_folder_of_a_shard_is_not_written_into_again() {
        let typed = [
            "jelly",
            "run",
            "--reports-dir",
            "r",
            "--history",
            "r/h.jsonl",
        ];
        assert_eq!(words(&typed), ["--reports-dir r", "--history r/h.jsonl"]);
        let shard = [&typed[..], &["--shard", "1/2"]].concat();
        assert_eq!(words(&shard), ["--history r/h.jsonl"]);
    }

    #[test]
    fn what_other_commands_take_they_have() {
        let mut cli = Cli::command();
        cli.build();
        for (command, flags) in ELSEWHERE.iter().filter(|(command, _)| !command.is_empty()) {
            let group = cli.find_subcommand(command).unwrap();
            let subs: Vec<&clap::Command> = group
                .get_subcommands()
                .filter(|sub| sub.get_name() != "help")
                .collect();
            let all = if subs.is_empty() { vec![group] } else { subs };
            for (sub, flag) in all
                .iter()
                .flat_map(|sub| flags.iter().map(move |f| (sub, f)))
            {
                let has = sub
                    .get_arguments()
                    .any(|arg| arg.get_long() == flag.strip_prefix("--"));
                assert!(has, "{command} {} {flag}", sub.get_name());
            }
        }
    }
}
