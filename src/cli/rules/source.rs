//! Where the rules of a call come from: the program itself, `--rules FILE` and
//! the project's `jelly.yaml`.
//!
//! The main function is [`find_rules`].

use crate::cli::args::RuleFiles;
use crate::cli::refusal::Refusal;
use crate::cli::settings::World;
use jelly_base::files::read_up_to;
use jelly_triage::engine::{
    Engine, Rule, RuleError, RuleFile, RuleFileError, RuleFileKind, RuleOrFile, RuleText,
    parse_rule_file,
};
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::io;
use std::ops::Deref;
use std::path::{Path, PathBuf};

/// The name of the project's file.
const PROJECT_FILE: &str = "jelly.yaml";
/// The longest file of rules that is read, in bytes.
const MAX_BYTES: u64 = 4 * 1024 * 1024;

/// The engine of a call.
pub enum Rules {
    /// With the rules inside the binary alone.
    Builtin,
    /// With rules of the user's besides.
    Own {
        engine: Box<Engine>,
        /// Of the texts of those rules, in their order.
        digest: String,
    },
}

impl Rules {
    /// Stands for the rules of the user's; none where there are none.
    pub fn digest(&self) -> Option<&str> {
        match self {
            Self::Builtin => None,
            Self::Own { digest, .. } => Some(digest),
        }
    }
}

impl Deref for Rules {
    type Target = Engine;

    fn deref(&self) -> &Engine {
        match self {
            Self::Builtin => Engine::builtin(),
            Self::Own { engine, .. } => engine,
        }
    }
}

/// Why rules can't be used.
#[derive(Debug)]
pub enum RulesRefusal {
    /// A file can't be had.
    Unreadable(String),
    /// A file is wrong.
    Wrong(Box<RuleFileError>),
    /// Rules that are each good can't stand together.
    Together(RuleError),
}

impl RulesRefusal {
    pub fn refuse(&self, world: &World) -> Refusal {
        Refusal::invalid(self.render(world.colors_stderr()))
    }

    /// As it is printed.
    pub fn render(&self, color: bool) -> String {
        match self {
            Self::Unreadable(what) => format!("error: {what}"),
            Self::Wrong(error) => error.render(color).trim_end().to_owned(),
            Self::Together(error) => format!("error: {error}"),
        }
    }
}

/// The rules of a call: those of `files`, those of the `jelly.yaml` that the
/// folder `cwd` belongs to, and the built-in ones between them.
///
/// # Errors
/// A file can't be read or is wrong.
pub fn find_rules(files: &[PathBuf], cwd: &Path) -> Result<Rules, RulesRefusal> {
    let mut found = FoundRules::default();
    for path in files {
        found.file(path, RuleFileKind::Rules)?;
    }
    if let Some(path) = project_file(cwd) {
        found.file(&path, RuleFileKind::Project)?;
    }
    found.engine()
}

/// [`find_rules`] for a command.
///
/// # Errors
/// As those of [`find_rules`], in colour where that is wanted.
pub fn open_rules(files: &RuleFiles, world: &World) -> Result<Rules, Refusal> {
    find_rules(&files.files, &world.cwd).map_err(|error| error.refuse(world))
}

/// Only the rules of `files`, beside the built-in ones.
///
/// # Errors
/// As [`find_rules`]; a file of the name `jelly.yaml` is read as such.
pub fn rules_in(files: &[PathBuf]) -> Result<Rules, RulesRefusal> {
    let mut found = FoundRules::default();
    for path in files {
        let kind = if path.file_name().is_some_and(|name| name == PROJECT_FILE) {
            RuleFileKind::Project
        } else {
            RuleFileKind::Rules
        };
        found.file(path, kind)?;
    }
    found.engine()
}

/// `jelly.yaml` of `cwd`, or of the nearest folder above it within the same
/// repository.
pub fn project_file(cwd: &Path) -> Option<PathBuf> {
    let own = Path::new(PROJECT_FILE);
    // A folder of this name is told, and not passed over.
    let is_there = |path: &Path| path.symlink_metadata().is_ok();
    if is_there(&cwd.join(own)) {
        return Some(own.to_owned());
    }
    let repository = cwd
        .ancestors()
        .find(|folder| folder.join(".git").exists())?;
    cwd.ancestors()
        .take_while(|folder| folder.starts_with(repository))
        .map(|folder| folder.join(own))
        .find(|path| is_there(path))
}

/// What was read so far.
#[derive(Default)]
struct FoundRules {
    before: Vec<Rule>,
    after: Vec<Rule>,
    /// Which file a rule is from.
    origins: HashMap<String, String>,
    digest: Sha256,
}

impl FoundRules {
    fn file(&mut self, path: &Path, kind: RuleFileKind) -> Result<(), RulesRefusal> {
        let file = read(path, kind)?;
        let folder = path.parent().unwrap_or(Path::new(""));
        self.list(&file, true, folder)?;
        self.list(&file, false, folder)
    }

    fn list(&mut self, file: &RuleFile, before: bool, folder: &Path) -> Result<(), RulesRefusal> {
        let entries = if before { &file.before } else { &file.after };
        for entry in entries {
            match &entry.what {
                RuleOrFile::Rule(rule) => {
                    if let Some(other) = self.known(&rule.id) {
                        return Err(RulesRefusal::Wrong(Box::new(file.problem(
                            entry,
                            format!("{other} has a rule with this id"),
                            "every rule needs an id of its own",
                        ))));
                    }
                    self.origins
                        .insert(rule.id.clone(), file.source.path.clone());
                    self.keep(before, (**rule).clone());
                    let text = file.source.text.get(entry.span.clone());
                    self.digest.update([u8::from(before)]);
                    self.digest.update(text.unwrap_or_default());
                    self.digest.update([0]);
                }
                RuleOrFile::File(path) => {
                    let path = folder.join(path);
                    if !path.is_file() {
                        return Err(RulesRefusal::Wrong(Box::new(file.problem(
                            entry,
                            "there is no such file",
                            "a path is taken from the folder of `jelly.yaml`",
                        ))));
                    }
                    let named = read(&path, RuleFileKind::Rules)?;
                    // A list without `before` and `after` goes where its name
                    // stands; a file that says more is taken at its word.
                    let plain = named.after.is_empty() && !before;
                    if plain {
                        let moved = RuleFile {
                            after: named.before,
                            before: Vec::new(),
                            source: named.source,
                        };
                        self.list(&moved, false, Path::new(""))?;
                    } else {
                        self.list(&named, true, Path::new(""))?;
                        self.list(&named, false, Path::new(""))?;
                    }
                }
            }
        }
        Ok(())
    }

    fn keep(&mut self, before: bool, rule: Rule) {
        if before {
            self.before.push(rule);
        } else {
            self.after.push(rule);
        }
    }

    /// Who has a rule of this id already.
    fn known(&self, id: &str) -> Option<String> {
        match self.origins.get(id) {
            Some(path) => Some(path.clone()),
            None => Engine::builtin()
                .rules()
                .any(|rule| rule.id == id)
                .then(|| "jelly itself".to_owned()),
        }
    }

    fn engine(self) -> Result<Rules, RulesRefusal> {
        if self.before.is_empty() && self.after.is_empty() {
            return Ok(Rules::Builtin);
        }
        let digest = self.digest.finalize();
        Engine::with_rules(self.before, self.after)
            .map(|engine| Rules::Own {
                engine: Box::new(engine),
                digest: digest.iter().map(|byte| format!("{byte:02x}")).collect(),
            })
            .map_err(RulesRefusal::Together)
    }
}

fn read(path: &Path, kind: RuleFileKind) -> Result<RuleFile, RulesRefusal> {
    let shown = path.display().to_string();
    let text = text_of(path, "a file of rules")
        .map_err(|why| RulesRefusal::Unreadable(format!("{shown}: {why}")))?;
    let source = RuleText {
        path: shown,
        text: text.into(),
    };
    parse_rule_file(kind, source).map_err(|error| RulesRefusal::Wrong(Box::new(error)))
}

/// The text of a file, or a fragment that says why there is none.
pub fn text_of(path: &Path, what: &str) -> Result<String, String> {
    let why = |error: &io::Error| match error.kind() {
        io::ErrorKind::NotFound => match path.read_link() {
            Ok(target) => format!(
                "it is a link to {}, where there is no file",
                target.display()
            ),
            Err(_) => "there is no such file".to_owned(),
        },
        io::ErrorKind::IsADirectory => format!("this is a folder, not {what}"),
        _ => format!("can't be read: {error}"),
    };
    let bytes = read_up_to(path, MAX_BYTES).map_err(|error| why(&error))?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(format!(
            "longer than {} MiB, too long for {what}",
            MAX_BYTES / 1024 / 1024
        ));
    }
    String::from_utf8(bytes).map_err(|_| "not UTF-8 text; save it as UTF-8".to_owned())
}

#[cfg(test)]
mod tests {
    use super::{find_rules, project_file};
    use std::fs;

    fn rule(id: &str) -> String {
        format!(
            "{{id: {id}, root_cause: data_setup, side: test, strength: hint, \
             patterns: [frob], advice: {{what: w, why: y, fix: [f]}}, \
             examples: [frob, frobbed], lookalikes: [a, b]}}"
        )
    }

    #[test]
    fn the_project_file_is_looked_for_up_to_the_repository() {
        let folder = tempfile::tempdir().unwrap();
        let repository = folder.path().join("repository");
        let inner = repository.join("a/b");
        fs::create_dir_all(&inner).unwrap();
        fs::write(folder.path().join("jelly.yaml"), "").unwrap();
        assert_eq!(project_file(&inner), None);
        fs::create_dir(repository.join(".git")).unwrap();
        assert_eq!(project_file(&inner), None);
        fs::write(repository.join("jelly.yaml"), "").unwrap();
        assert_eq!(project_file(&inner), Some(repository.join("jelly.yaml")));
    }

    #[test]
    fn rules_are_asked_in_the_order_in_which_they_are_named() {
        let folder = tempfile::tempdir().unwrap();
        let flag = folder.path().join("flag.yaml");
        fs::write(&flag, format!("[{}]", rule("own/flag"))).unwrap();
        fs::write(
            folder.path().join("late.yaml"),
            format!("[{}]", rule("own/late")),
        )
        .unwrap();
        // Files that jelly.yaml names lie beside it; the test can't change its
        // folder, so it stands in a repository above.
        fs::create_dir(folder.path().join(".git")).unwrap();
        let inner = folder.path().join("inner");
        fs::create_dir(&inner).unwrap();
        fs::write(
            folder.path().join("jelly.yaml"),
            format!(
                "rules:\n  before: [{}]\n  after: [late.yaml]\n",
                rule("own/project")
            ),
        )
        .unwrap();
        let Ok(rules) = find_rules(&[flag], &inner) else {
            panic!("the files are good");
        };
        let ids: Vec<&str> = rules.rules().map(|rule| rule.id.as_str()).collect();
        assert_eq!(&ids[..2], ["own/flag", "own/project"]);
        assert_eq!(ids.last(), Some(&"own/late"));
    }

    #[test]
    fn two_rules_of_one_id_are_told_with_their_files() {
        let folder = tempfile::tempdir().unwrap();
        let one = folder.path().join("one.yaml");
        let two = folder.path().join("two.yaml");
        fs::write(&one, format!("[{}]", rule("own/x"))).unwrap();
        fs::write(&two, format!("[{}]", rule("own/x"))).unwrap();
        let refusal = find_rules(&[one, two], folder.path()).err().unwrap();
        let told = refusal.render(false);
        assert!(
            told.contains("one.yaml has a rule with this id") && told.contains("two.yaml:1:"),
            "{told}"
        );
        let taken = folder.path().join("taken.yaml");
        fs::write(&taken, format!("[{}]", rule("network/refused"))).unwrap();
        let told = find_rules(&[taken], folder.path())
            .err()
            .unwrap()
            .render(false);
        assert!(told.contains("jelly itself has a rule"), "{told}");
    }
}
