//! What a command that is printed for another run repeats of this call.

use super::args::{FlagRepeat, RUN_FLAGS};
use clap::ArgMatches;
use clap::parser::ValueSource;
use jelly_base::model::Fix;
use jelly_base::text::redact::holds_secret;
use jelly_base::text::shell_word;
use jelly_harness::triage_loop::CallFlags;
use std::borrow::Cow;
use std::path::Path;

/// The flags that were typed; those of `jelly.yaml` and the environment hold
/// for the next run by themselves.
pub fn call_flags(matches: &ArgMatches) -> CallFlags {
    let Some(run) = matches.subcommand_matches("run") else {
        return CallFlags::default();
    };
    let flags_of = |wanted: FlagRepeat| {
        let flags = RUN_FLAGS.iter().filter(|(_, _, fate)| *fate == wanted);
        flags
            .flat_map(|(id, flag, _)| words(run, id, flag))
            .collect()
    };
    CallFlags {
        kept: flags_of(FlagRepeat::Kept),
        hooks: flags_of(FlagRepeat::OfHooks),
        same: flags_of(FlagRepeat::OfTheSame),
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
    let word = shell_word(&plan.display().to_string());
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

/// A flag with its values, as words of a shell.
fn words(run: &ArgMatches, id: &str, flag: &str) -> Vec<String> {
    let typed =
        run.try_contains_id(id).is_ok() && run.value_source(id) == Some(ValueSource::CommandLine);
    if !typed {
        return Vec::new();
    }
    if run.try_get_one::<bool>(id).is_ok() {
        return vec![flag.to_owned()];
    }
    let values = run.get_raw(id).into_iter().flatten();
    values
        .map(|value| value.to_string_lossy())
        .map(|value| match id == "vars" {
            true => without_secret(&value).unwrap_or(value),
            false => value,
        })
        .map(|value| format!("{flag} {}", shell_word(&value)))
        .collect()
}

/// Of `NAME=VALUE`, the name and a blank to fill in, if the value is a secret: whoever
/// has it can type it again, and nobody else is to read it. Left out, the command would
/// run something else.
fn without_secret(variable: &str) -> Option<Cow<'static, str>> {
    let (name, value) = variable.split_once('=')?;
    holds_secret(name, value).then(|| Cow::Owned(format!("{name}=<value of {name}>")))
}

#[cfg(test)]
mod tests {
    use super::call_flags;
    use crate::cli::args::Cli;
    use clap::CommandFactory;

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
        let matches = Cli::command().try_get_matches_from(typed).unwrap();
        let flags = call_flags(&matches);
        assert_eq!(
            flags.kept,
            [
                "--project-dir ../x",
                "--var 'word=a b'",
                "--var n=1",
                "--var 'api_token=<value of api_token>'",
                "--profile ci",
                "--wire-check",
                "--no-confirm",
                "--seed 7"
            ]
        );
        assert_eq!(
            flags.hooks,
            [
                r#"--refine-code '["./r.sh"]'"#,
                "--no-hooks",
                "--trust-plan"
            ]
        );
    }
}
