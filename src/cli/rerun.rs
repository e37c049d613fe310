//! The flags of a call of `jelly run` that a command to paste has to repeat,
//! so that it runs the same.

use super::args::{Argv, BudgetArgs, RunArgs};
use crate::text::redact::looks_secret;
use crate::text::shell_word;
use serde_json::Value;
use std::path::Path;

/// Each with its value, as words of a command line. What only changes how
/// results are shown, or what is only for speed, is left out, and so are
/// variables whose values must not be shown.
pub fn flags(args: &RunArgs) -> Vec<String> {
    let RunArgs {
        plans: _,
        budgets,
        project_dir,
        reports,
        format: _,
        only,
        skip,
        vars,
        no_repair,
        write_repairs: _,
        accept_repairs,
        no_confirm,
        strict,
        trust_plan,
        fail_fast,
        fix_tests,
        refine_code,
        hook_timeout: _,
        own_rules,
        seed: _,
        jobs: _,
        memory,
        ladder,
        wire_check,
        record: _,
        quiet: _,
    } = args;
    let mut flags = Flags(Vec::new());
    flags.path("--project-dir", project_dir.as_deref());
    flags.text("--reports-dir", reports.unusual().as_deref());
    for filter in only {
        flags.text("--only", Some(filter));
    }
    for filter in skip {
        flags.text("--skip", Some(filter));
    }
    for (name, value) in vars.iter().filter(|(name, _)| !looks_secret(name)) {
        let value = match value {
            Value::String(text) if serde_json::from_str::<Value>(text).is_err() => text.clone(),
            other => other.to_string(),
        };
        flags.text("--var", Some(&format!("{name}={value}")));
    }
    flags.switch("--no-repair", *no_repair);
    flags.switch("--accept-repairs", *accept_repairs);
    flags.switch("--no-confirm", *no_confirm);
    flags.switch("--strict", *strict);
    flags.switch("--trust-plan", *trust_plan);
    flags.switch("--fail-fast", *fail_fast);
    flags.argv("--fix-tests", fix_tests.as_ref());
    flags.argv("--refine-code", refine_code.as_ref());
    for file in &own_rules.files {
        flags.path("--rules", Some(file));
    }
    flags.path("--history", memory.history.as_deref());
    flags.switch("--no-history", memory.no_history);
    flags.switch("--no-adapt", ladder.no_adapt);
    flags.path("--schema-store", ladder.schema_store.as_deref());
    flags.number("--generic-threshold", ladder.generic_threshold);
    flags.switch("--wire-check", *wire_check);
    flags.budgets(budgets);
    flags.0
}

struct Flags(Vec<String>);

impl Flags {
    fn text(&mut self, flag: &str, value: Option<&str>) {
        let value = value.map(|value| format!("{flag} {}", shell_word(value)));
        self.0.extend(value);
    }

    fn path(&mut self, flag: &str, value: Option<&Path>) {
        self.text(
            flag,
            value.map(|path| path.display().to_string()).as_deref(),
        );
    }

    fn number(&mut self, flag: &str, value: Option<u32>) {
        self.text(flag, value.map(|number| number.to_string()).as_deref());
    }

    fn switch(&mut self, flag: &str, on: bool) {
        self.0.extend(on.then(|| flag.to_owned()));
    }

    fn argv(&mut self, flag: &str, argv: Option<&Argv>) {
        let word = argv.map(|argv| match argv.0.as_slice() {
            [one] if !one.trim_start().starts_with('[') => one.clone(),
            several => Value::from(several).to_string(),
        });
        self.text(flag, word.as_deref());
    }

    fn budgets(&mut self, budgets: &BudgetArgs) {
        let BudgetArgs {
            max_iterations,
            retries,
            confirms,
            mcp_repairs,
            test_fixes,
            code_refines,
            deadline,
        } = budgets;
        self.number("--max-iterations", *max_iterations);
        self.number("--retries", *retries);
        self.number("--confirms", *confirms);
        self.number("--mcp-repairs", *mcp_repairs);
        self.number("--test-fixes", *test_fixes);
        self.number("--code-refines", *code_refines);
        let millis = deadline.map(|deadline| format!("{}ms", deadline.as_millis().max(1)));
        self.text("--deadline", millis.as_deref());
    }
}

#[cfg(test)]
mod tests {
    use super::flags;
    use crate::cli::args::{Cli, Command};
    use clap::Parser;

    #[test]
    fn what_is_repeated_means_the_same() {
        let typed = "jelly run p.yaml --project-dir a --only x --var n=5 --var t=hi --no-repair \
                     --fix-tests ./fix --refine-code [\"a\",\"b c\"] --retries 0 --deadline 5s \
                     --wire-check --format json --seed 3 --var api_token=zzz";
        let parse = |words: Vec<String>| match Cli::parse_from(words).command {
            Command::Run(args) => args,
            other => panic!("{other:?}"),
        };
        let words = typed.replace("b c", "b~c");
        let words = words.split_whitespace().map(|word| word.replace('~', " "));
        let first = flags(&parse(words.collect()));
        let line = first.join(" ");
        assert!(line.contains("--refine-code '[\"a\",\"b c\"]'"), "{line}");
        assert!(
            line.contains("--deadline 5000ms") && line.contains("--retries 0"),
            "{line}"
        );
        assert!(!line.contains("zzz") && !line.contains("--seed"), "{line}");
        let again: Vec<String> = ["jelly", "run", "p.yaml"]
            .map(str::to_owned)
            .into_iter()
            .chain(first.iter().flat_map(|flag| {
                let (name, value) = flag.split_once(' ').unwrap_or((flag, ""));
                let value = value.trim_matches('\'').to_owned();
                [name.to_owned(), value]
                    .into_iter()
                    .filter(|w| !w.is_empty())
            }))
            .collect();
        assert_eq!(flags(&parse(again)), first);
    }
}
