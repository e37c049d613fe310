//! `jelly.yaml`: settings by sections, and profiles of them.
//!
//! The main function is [`read_project`]. Which settings there are is the
//! caller's to know.

use super::path::Path;
use super::problem::PlanError;
use super::reader::Reader;
use crate::syntax::{self, Data, Entry, Node};
use crate::{Location, PlanSource};
use indexmap::IndexMap;
use jelly_base::text::close_names;

/// What a setting's value must be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SettingKind {
    /// A whole number of at least so much.
    Count(u32),
    /// `true` or `false`.
    Flag,
    /// A time with its unit.
    Time,
    /// A path, taken from the file's folder.
    Path,
    /// One of a few words.
    Word(&'static [&'static str]),
    /// A command and its arguments.
    Argv,
    /// By each of a few words a path, taken from the file's folder.
    PathsByWord(&'static [&'static str]),
}

/// A setting that a file may hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SettingKey {
    /// Empty for one at the top.
    pub section: &'static str,
    pub key: &'static str,
    pub kind: SettingKind,
}

/// What a file sets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProjectSetting {
    pub key: SettingKey,
    /// As a flag would be given; an argv as JSON, paths by words as lines of
    /// `WORD=PATH`.
    pub value: String,
    pub at: Location,
}

/// A file that was read and found good.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Project {
    pub settings: Vec<ProjectSetting>,
    pub profiles: IndexMap<String, Vec<ProjectSetting>>,
}

/// Reads the settings of `jelly.yaml`. What stands under `rules` is left to
/// those who read rules.
///
/// # Errors
/// All that is wrong with it, in the order of the file.
pub fn read_project(source: PlanSource, keys: &[SettingKey]) -> Result<Project, PlanError> {
    let (root, troubles) = syntax::parse(&source);
    let mut reader = Reader::new(&source.text, troubles);
    let mut project = Project::default();
    match &root {
        Some(root) if !matches!(root.data, Data::Null) => {
            reader.project(root, keys, &mut project);
        }
        // A file of comments sets nothing.
        Some(_) | None => {}
    }
    let problems = reader.into_problems();
    if problems.is_empty() {
        Ok(project)
    } else {
        Err(PlanError::new(source, Vec::new(), problems))
    }
}

impl<'t> Reader<'t> {
    fn project(&mut self, root: &Node<'t>, keys: &[SettingKey], project: &mut Project) {
        let path = Path::ROOT;
        project.settings = self.settings(root, path, keys, &["rules", "profiles"]);
        if let Some(rules) = root.entry("rules").map(|entry| &entry.value)
            && rules.is_scalar()
            && !matches!(rules.data, Data::Null)
        {
            let message = format!(
                "expected a list of rules, or a map with `before` and `after`, found {}",
                rules.kind()
            );
            self.problem(rules.span, path.key("rules"), message);
        }
        let Some(profiles) = root.entry("profiles") else {
            return;
        };
        let path = path.key("profiles");
        for entry in self
            .entries(&profiles.value, path, "profiles by name")
            .unwrap_or(&[])
        {
            let settings = self.settings(&entry.value, path.key(&entry.key), keys, &[]);
            project
                .profiles
                .insert(entry.key.clone().into_owned(), settings);
        }
    }

    /// The settings of a map and of its sections; `besides` are keys that
    /// others read.
    fn settings(
        &mut self,
        node: &Node<'t>,
        path: Path<'_>,
        keys: &[SettingKey],
        besides: &[&'static str],
    ) -> Vec<ProjectSetting> {
        let mut found = Vec::new();
        for entry in self.entries(node, path, "settings by name").unwrap_or(&[]) {
            let key = entry.key.as_ref();
            let to = path.key(key);
            let of_section = |setting: &&SettingKey| setting.section == key;
            if let Some(setting) = keys.iter().find(|s| s.section.is_empty() && s.key == key) {
                found.extend(self.setting(entry, to, *setting));
            } else if keys.iter().any(|setting| of_section(&setting)) {
                for entry in self.entries(&entry.value, to, "settings").unwrap_or(&[]) {
                    let of_key = |s: &&SettingKey| of_section(s) && s.key == entry.key;
                    match keys.iter().find(of_key) {
                        Some(setting) => {
                            found.extend(self.setting(entry, to.key(&entry.key), *setting));
                        }
                        None => {
                            let known = keys.iter().filter(of_section).map(|s| s.key);
                            self.unknown_setting(entry, to, known.collect());
                        }
                    }
                }
            } else if !besides.contains(&key) {
                let mut known: Vec<&str> = besides.to_vec();
                for setting in keys {
                    let name = match setting.section {
                        "" => setting.key,
                        section => section,
                    };
                    if !known.contains(&name) {
                        known.push(name);
                    }
                }
                self.unknown_setting(entry, path, known);
            }
        }
        found
    }

    fn unknown_setting(&mut self, entry: &Entry<'t>, path: Path<'_>, known: Vec<&str>) {
        let key = entry.key.as_ref();
        let close = close_names(key, known.iter().copied());
        let problem = self.problem(entry.key_span, path, format!("unknown setting `{key}`"));
        match close.first() {
            Some(close) => problem.hint(format!("did you mean `{close}`?")),
            None => problem.hint(format!("there are `{}`", known.join("`, `"))),
        };
    }

    fn setting(
        &mut self,
        entry: &Entry<'t>,
        path: Path<'_>,
        key: SettingKey,
    ) -> Option<ProjectSetting> {
        let node = &entry.value;
        let value = match key.kind {
            SettingKind::Count(least) => self.count(node, path, least)?.to_string(),
            SettingKind::Flag => self.boolean(node, path)?.to_string(),
            SettingKind::Time => {
                self.duration(node, path)?;
                node.as_str()?.to_owned()
            }
            SettingKind::Path => self.fixed_string(node, path, "a path")?.to_owned(),
            SettingKind::Word(words) => {
                let words: Vec<(&'static str, &'static str)> =
                    words.iter().map(|word| (*word, *word)).collect();
                self.one_of(node, path, "word", &words)?.to_owned()
            }
            SettingKind::Argv => {
                let argv = self.argv(node, path)?;
                serde_json::Value::from(argv).to_string()
            }
            SettingKind::PathsByWord(words) => self.paths_by_word(node, path, words)?,
        };
        Some(ProjectSetting {
            key,
            value,
            at: self.at(entry.key_span),
        })
    }
}

impl<'t> Reader<'t> {
    fn paths_by_word(
        &mut self,
        node: &Node<'t>,
        path: Path<'_>,
        words: &[&'static str],
    ) -> Option<String> {
        let mut lines = Vec::new();
        for entry in self.entries(node, path, "files by format")? {
            let word = entry.key.as_ref();
            if !words.contains(&word) {
                self.unknown_setting(entry, path, words.to_vec());
                continue;
            }
            let file = self.fixed_string(&entry.value, path.key(word), "a path");
            lines.extend(file.map(|file| format!("{word}={file}")));
        }
        Some(lines.join("\n"))
    }
}

#[cfg(test)]
mod tests {
    use super::{Project, SettingKey, SettingKind, read_project};
    use crate::{PlanError, PlanSource};

    const KEYS: [SettingKey; 7] = [
        key("", "jobs", SettingKind::Count(1)),
        key("", "color", SettingKind::Word(&["auto", "never"])),
        key("budgets", "deadline", SettingKind::Time),
        key("run", "strict", SettingKind::Flag),
        key("run", "fix_tests", SettingKind::Argv),
        key("run", "history", SettingKind::Path),
        key(
            "run",
            "report",
            SettingKind::PathsByWord(&["junit", "html"]),
        ),
    ];

    const fn key(section: &'static str, key: &'static str, kind: SettingKind) -> SettingKey {
        SettingKey { section, key, kind }
    }

    fn read(text: &str) -> Result<Project, PlanError> {
        let source = PlanSource {
            path: "jelly.yaml".into(),
            text: text.into(),
            variant: None,
        };
        read_project(source, &KEYS)
    }

    #[test]
    fn settings_are_read_with_their_places() {
        let project = read(
            "rules: [x.yaml]\njobs: 3\nbudgets: { deadline: 5m }\nprofiles:\n  ci:\n    run:\n      \
             strict: true\n      fix_tests: [a, \"b c\"]\n      report: { junit: a.xml, html: b.html }\n",
        )
        .unwrap();
        let told: Vec<(&str, &str, usize)> = project
            .settings
            .iter()
            .chain(&project.profiles["ci"])
            .map(|s| (s.key.key, s.value.as_str(), s.at.line))
            .collect();
        assert_eq!(
            told,
            [
                ("jobs", "3", 2),
                ("deadline", "5m", 3),
                ("strict", "true", 7),
                ("fix_tests", "[\"a\",\"b c\"]", 8),
                ("report", "junit=a.xml\nhtml=b.html", 9)
            ]
        );
        assert_eq!(read("# nothing\n").unwrap(), Project::default());
    }

    #[test]
    fn what_is_wrong_is_said_with_its_place_and_what_would_help() {
        for (text, place, help) in [
            ("jbs: 3", "jelly.yaml:1:1", "did you mean `jobs`?"),
            ("zzz: 3", "jelly.yaml:1:1", "there are `rules`, `profiles`"),
            ("jobs: 0", "jelly.yaml:1:7", "at least 1"),
            ("jobs: many", "jelly.yaml:1:7", "a whole number"),
            ("color: blue", "jelly.yaml:1:8", "`auto`, `never`"),
            ("run: { strikt: true }", "jelly.yaml:1:8", "`strict`"),
            ("run: { strict: 1 }", "jelly.yaml:1:16", "`true` or `false`"),
            ("budgets: { deadline: 5 }", "jelly.yaml:1:22", "`5s`"),
            ("run:", "jelly.yaml:1:", "a map"),
            (
                "run: { report: { yunit: a } }",
                "jelly.yaml:1:18",
                "`junit`",
            ),
            ("run: { report: junit=a }", "jelly.yaml:1:16", "a map"),
            (
                "profiles: { ci: { profiles: {} } }",
                "jelly.yaml:1:19",
                "unknown",
            ),
            ("[1]", "jelly.yaml:1:1", "a map"),
            ("jobs: 1\njobs: 2", "jelly.yaml:2:1", "twice"),
            ("a: &a [*a]", "jelly.yaml:1:", "a"),
        ] {
            let error = read(text).unwrap_err().render(false);
            assert!(
                error.contains(place) && error.contains(help),
                "{text}: {error}"
            );
        }
    }

    #[test]
    fn aliases_that_multiply_end_soon() {
        let mut bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
        for level in 1..12 {
            let below = format!("*a{}, ", level - 1).repeat(10);
            bomb += &format!("a{level}: &a{level} [{below}]\n");
        }
        assert!(read(&bomb).is_err());
    }
}
