//! What remedies may ask of this machine.

use super::super::files::text_within;
use jelly_process as process;
use jelly_setup::doctor::Sight;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Entries of a folder that are looked at, and bytes of a file.
const NAMES: usize = 2000;
const BYTES: u64 = 1 << 20;
/// How long a program may take to say its version.
const ANSWER: Duration = Duration::from_secs(5);

/// This machine, with the PATH that servers get.
pub struct Machine<'a> {
    pub path: &'a str,
}

impl Sight for Machine<'_> {
    fn is_there(&self, path: &Path) -> bool {
        path.exists()
    }

    fn is_folder(&self, path: &Path) -> bool {
        path.is_dir()
    }

    fn names(&self, folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).into_iter().flatten();
        let names = entries
            .take(NAMES)
            .filter_map(|entry| entry.ok()?.file_name().into_string().ok());
        names.collect()
    }

    fn text(&self, file: &Path) -> Option<String> {
        text_within(file, BYTES).ok()
    }

    fn real(&self, path: &Path) -> Option<PathBuf> {
        path.canonicalize().ok()
    }

    fn version(&self, program: &Path) -> Option<String> {
        process::version_of(program, ANSWER)
    }

    fn on_path(&self, command: &str) -> Option<PathBuf> {
        if command.is_empty() || command.contains('/') {
            return None;
        }
        std::env::split_paths(self.path)
            .map(|folder| folder.join(command))
            .find(|path| path.is_file())
    }
}

#[cfg(test)]
mod tests {
    use super::Machine;
    use crate::cli::args::Cli;
    use clap::Parser as _;
    use jelly_base::model::{Diagnosis, Failure, Fix, Phase};
    use jelly_base::text::redact::Redactor;
    use jelly_base::text::{WordList, is_variable_name};
    use jelly_setup::doctor::{REPLACED_STEPS, RemedyContext, prescribe, read};
    use jelly_triage::engine::{Audience, Engine, Example, specimen};
    use std::collections::{BTreeMap, BTreeSet};
    use std::path::Path;

    #[test]
    fn no_advice_of_a_rule_speaks_of_a_plan() {
        let text = r#"{"mcpServers": {"a": {"command": "srv"}}}"#;
        let config = read(Path::new("mcp.json"), text, Path::new("/")).unwrap();
        let (failure, redactor) = (Failure::default(), Redactor::none());
        let context = RemedyContext {
            config: &config,
            entry: &config.entries[0],
            failure: &failure,
            redactor: &redactor,
            home: None,
            sight: &Machine { path: "" },
            proven: None,
            tried: false,
        };
        let engine = Engine::builtin();
        for rule in engine.rules() {
            let mut diagnosis = engine.diagnose(&failure);
            diagnosis.advice = rule.advice.unfilled(Audience::Configuration);
            prescribe(&mut diagnosis, &context);
            let advice = diagnosis.advice;
            let fix: Vec<String> = advice.fix.iter().map(Fix::to_string).collect();
            let said = format!("{} {} {}", advice.what, advice.why, fix.join(" ")).to_lowercase();
            // A database has plans too.
            let said = said.replace("the plan of the statement", "");
            assert!(!said.contains("the plan"), "{}: {said}", rule.id);
            assert!(!said.contains("in the report"), "{}: {said}", rule.id);
        }
    }

    #[test]
    fn rules_have_the_steps_that_remedies_replace_and_one_id_for_one_text() {
        let engine = Engine::builtin();
        let unknown = engine.diagnose(&Failure::default());
        let mut ids: BTreeSet<String> = BTreeSet::new();
        let mut known: BTreeMap<String, Option<String>> = BTreeMap::new();
        let advice = engine
            .rules()
            .map(|rule| rule.advice.unfilled(Audience::Plan))
            .chain([unknown.advice]);
        for fix in advice.flat_map(|advice| advice.fix) {
            let id = fix.id.as_deref().map(str::to_owned);
            let other = known.entry(fix.text.clone()).or_insert_with(|| id.clone());
            assert_eq!(*other, id, "{}", fix.text);
            ids.extend(id);
        }
        let replaced: BTreeSet<String> = REPLACED_STEPS.iter().map(|id| (*id).to_owned()).collect();
        assert_eq!(ids, replaced);
    }

    /// Programs other than jelly that people may be told to run.
    const PROGRAMS: WordList = WordList(
        "./gradlew bundle cargo cd chmod chromedriver command composer ctest curl df \
         dmesg docker dotnet du export getent git go grep grpc_health_probe kubectl ls \
         lsof mkdir mvn node npm npx php pip pytest python python3 sf sort ss tail ulimit \
         uv uvx",
    );

    /// What a failure of an entry is called for the remedies of these.
    const ENTRIES: &str = r#"{"mcpServers": {
        "npx": {"command": "npx", "args": ["-y", "srv@1.0.0"], "env": {"A": "/gone"}},
        "node": {"command": "node", "args": ["/gone/index.js"]},
        "python": {"command": "python3", "args": ["-m", "srv"]},
        "uvx": {"command": "uvx", "args": ["srv"]},
        "url": {"url": "http://localhost:3000/mcp"}
    }}"#;

    #[test]
    fn commands_to_paste_can_be_pasted() {
        let config = read(Path::new("mcp.json"), ENTRIES, Path::new("/")).unwrap();
        let (engine, redactor) = (Engine::builtin(), Redactor::none());
        let mut programs = BTreeSet::new();
        let mut take = |diagnosis: &Diagnosis, failure: &Failure| {
            for fix in diagnosis.advice.fix.iter().filter(|fix| fix.is_command()) {
                let words = shlex::split(&fix.text).unwrap();
                for words in words.split(|word| matches!(&**word, "&&" | "|" | ";" | "{")) {
                    let is_set = |word: &&String| {
                        word.split_once('=')
                            .is_some_and(|(name, _)| is_variable_name(name))
                    };
                    let words: Vec<&String> = words.iter().skip_while(is_set).collect();
                    match words.first().map_or("", |program| program) {
                        "jelly" => {
                            let parsed = Cli::try_parse_from(&words);
                            parsed.unwrap_or_else(|error| panic!("{}: {error}", fix.text));
                        }
                        // The server's own.
                        program if failure.argv.first().is_some_and(|own| own == program) => {}
                        program => {
                            programs.insert(program.to_owned());
                        }
                    }
                }
            }
        };
        for rule in engine.rules() {
            let failures = rule.examples.iter().filter_map(|example| match example {
                Example::Failure(failure) => Some((**failure).clone()),
                Example::Text(text) => Some(specimen(*rule.fields.first()?, text)),
            });
            for mut failure in failures.take(1) {
                take(&engine.diagnose(&failure), &failure);
                failure.phase = Some(Phase::Handshake);
                for entry in &config.entries {
                    let mut diagnosis = engine.diagnose_for(&failure, Audience::Configuration);
                    let context = RemedyContext {
                        config: &config,
                        entry,
                        failure: &failure,
                        redactor: &redactor,
                        home: None,
                        sight: &Machine { path: "" },
                        proven: None,
                        tried: false,
                    };
                    prescribe(&mut diagnosis, &context);
                    take(&diagnosis, &failure);
                }
            }
        }
        let known: BTreeSet<String> = PROGRAMS.words().map(str::to_owned).collect();
        assert_eq!(programs, known);
    }
}
