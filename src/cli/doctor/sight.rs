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
    use jelly_base::model::{Advice, Failure};
    use jelly_base::text::redact::Redactor;
    use jelly_setup::doctor::{RemedyContext, prescribe, read};
    use jelly_triage::engine::Engine;
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
            diagnosis.advice = Advice {
                what: rule.advice.what.clone(),
                why: rule.advice.why.clone(),
                fix: rule.advice.fix.clone(),
            };
            prescribe(&mut diagnosis, &context);
            let Advice { what, why, fix } = diagnosis.advice;
            let said = format!("{what} {why} {}", fix.join(" ")).to_lowercase();
            assert!(!said.contains("the plan"), "{}: {said}", rule.id);
            assert!(!said.contains("in the report"), "{}: {said}", rule.id);
        }
    }
}
