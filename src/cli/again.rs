//! What a command that is printed for another run repeats of this call.

use clap::ArgMatches;
use clap::parser::ValueSource;
use jelly_base::text::redact::holds_secret;
use jelly_base::text::shell_word;
use jelly_harness::triage_loop::CallFlags;

/// What becomes of a flag of `jelly run` in a command that is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fate {
    /// Without it, another thing would be run, or elsewhere.
    Kept,
    /// Kept only where the command is about what the hooks may do.
    OfHooks,
    /// Kept only where the very same run is meant.
    OfTheSame,
    /// It says how this run was to be shown, cut short or repeated.
    Dropped,
}

/// Every argument of `jelly run`: its id, its flag, its fate.
const FLAGS: &[(&str, &str, Fate)] = &[
    ("project_dir", "--project-dir", Fate::Kept),
    ("reports_dir", "--reports-dir", Fate::Kept),
    ("vars", "--var", Fate::Kept),
    ("profile", "--profile", Fate::Kept),
    ("history", "--history", Fate::Kept),
    ("no_history", "--no-history", Fate::Kept),
    ("files", "--rules", Fate::Kept),
    ("no_adapt", "--no-adapt", Fate::Kept),
    ("schema_store", "--schema-store", Fate::Kept),
    ("generic_threshold", "--generic-threshold", Fate::Kept),
    ("wire_check", "--wire-check", Fate::Kept),
    ("no_repair", "--no-repair", Fate::Kept),
    ("accept_repairs", "--accept-repairs", Fate::Kept),
    ("strict", "--strict", Fate::Kept),
    ("fix_tests", "--fix-tests", Fate::OfHooks),
    ("refine_code", "--refine-code", Fate::OfHooks),
    ("hook_timeout", "--hook-timeout", Fate::OfHooks),
    ("plans", "", Fate::Dropped),
    ("max_iterations", "--max-iterations", Fate::OfTheSame),
    ("retries", "--retries", Fate::OfTheSame),
    ("confirms", "--confirms", Fate::OfTheSame),
    ("mcp_repairs", "--mcp-repairs", Fate::OfTheSame),
    ("test_fixes", "--test-fixes", Fate::OfTheSame),
    ("code_refines", "--code-refines", Fate::OfTheSame),
    ("deadline", "--deadline", Fate::OfTheSame),
    ("no_confirm", "--no-confirm", Fate::OfTheSame),
    ("trust_plan", "--trust-plan", Fate::OfTheSame),
    ("write_repairs", "--write-repairs", Fate::Dropped),
    ("only", "--only", Fate::OfTheSame),
    ("skip", "--skip", Fate::OfTheSame),
    ("fail_fast", "--fail-fast", Fate::OfTheSame),
    ("seed", "--seed", Fate::Dropped),
    ("jobs", "--jobs", Fate::Dropped),
    ("record", "--record", Fate::Dropped),
    ("format", "--format", Fate::Dropped),
    ("quiet", "--quiet", Fate::Dropped),
    ("color", "--color", Fate::Dropped),
];

/// The flags that were typed; those of `jelly.yaml` and the environment hold
/// for the next run by themselves.
pub fn call_flags(matches: &ArgMatches) -> CallFlags {
    let Some(run) = matches.subcommand_matches("run") else {
        return CallFlags::default();
    };
    let of = |wanted: Fate| {
        let flags = FLAGS.iter().filter(|(_, _, fate)| *fate == wanted);
        flags
            .flat_map(|(id, flag, _)| words(run, id, flag))
            .collect()
    };
    CallFlags {
        kept: of(Fate::Kept),
        hooks: of(Fate::OfHooks),
        same: of(Fate::OfTheSame),
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
        // Whoever has the secret can type it again; nobody else is to read it.
        .filter(|value| id != "vars" || !gives_secret(value))
        .map(|value| format!("{flag} {}", shell_word(&value)))
        .collect()
}

/// Of `NAME=VALUE`.
fn gives_secret(variable: &str) -> bool {
    let pair = variable.split_once('=');
    pair.is_some_and(|(name, value)| holds_secret(name, value))
}

#[cfg(test)]
mod tests {
    use super::{FLAGS, call_flags};
    use crate::cli::args::Cli;
    use clap::CommandFactory;

    #[test]
    fn every_argument_of_a_run_is_kept_or_dropped() {
        let mut cli = Cli::command();
        cli.build();
        let run = cli.find_subcommand("run").unwrap();
        let ids = run.get_arguments().map(|arg| arg.get_id().as_str());
        let mut ids: Vec<&str> = ids.filter(|id| !["help", "version"].contains(id)).collect();
        let mut known: Vec<&str> = FLAGS.iter().map(|(id, _, _)| *id).collect();
        ids.sort_unstable();
        known.sort_unstable();
        assert_eq!(known, ids);
        for (id, flag, _) in FLAGS.iter().filter(|(_, flag, _)| !flag.is_empty()) {
            let arg = run.get_arguments().find(|arg| arg.get_id() == id).unwrap();
            let long = arg.get_long().unwrap();
            assert_eq!(format!("--{long}"), *flag);
        }
    }

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
        ];
        let matches = Cli::command().try_get_matches_from(typed).unwrap();
        let flags = call_flags(&matches);
        assert_eq!(
            flags.kept,
            [
                "--project-dir ../x",
                "--var 'word=a b'",
                "--var n=1",
                "--profile ci",
                "--wire-check"
            ]
        );
        assert_eq!(flags.hooks, [r#"--refine-code '["./r.sh"]'"#]);
    }
}
