//! What a hook left otherwise than the run measured it, and how that is taken
//! back: whoever runs the plan again runs what lies in its files.

use super::hooks::Hook;
use jelly_base::text::shell_path;

/// The ending of what a copy took the place of, beside the copy: another run has
/// another.
const REPLACED: &str = "replaced";

/// Files that say something else than what was measured.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct LeftByHook {
    /// Whose work it is; none where nothing is left so.
    pub(super) hook: Option<&'static str>,
    pub(super) files: Vec<LeftFile>,
}

/// One of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct LeftFile {
    /// As commands name it.
    pub(super) path: String,
    /// There is nothing to compare with.
    pub(super) is_gone: bool,
    pub(super) before: TextBefore,
}

/// What it was before the hook.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum TextBefore {
    /// Kept beside the report, under this name.
    Kept(String),
    /// It was not there.
    Absent,
    /// Nobody knows any more.
    Unknown,
}

/// How all of it is taken back.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Undo {
    /// The hook; none where nothing is to be taken back.
    pub(super) hook: Option<&'static str>,
    /// What to do by hand, and commands that show what there is.
    pub(super) lines: Vec<String>,
    /// What a shell does before it runs the plan again; none where some of it
    /// is left to a person.
    restore: Option<String>,
}

impl LeftByHook {
    pub(super) fn of(hook: Hook, files: Vec<LeftFile>) -> Self {
        Self {
            hook: Some(hook.name()),
            files,
        }
    }

    /// `is_whole` says of a kept file whether it holds all that there was;
    /// `report_dir` is where it lies.
    pub(super) fn undo(&self, report_dir: Option<&str>, is_whole: impl Fn(&str) -> bool) -> Undo {
        let mut undo = Undo {
            hook: self.hook,
            ..Undo::default()
        };
        let mut copies = Vec::new();
        for file in &self.files {
            let LeftFile {
                path,
                is_gone,
                before,
            } = file;
            let word = shell_path(path);
            match (before, report_dir) {
                (TextBefore::Kept(name), Some(folder)) => {
                    let copy = format!("{}/{name}", folder.trim_end_matches('/'));
                    let aside = shell_path(&format!("{copy}.{REPLACED}"));
                    let copy = shell_path(&copy);
                    if is_whole(name) {
                        if !is_gone {
                            undo.lines.push(format!("$ diff -u {copy} {word}"));
                        }
                        copies.push(put_back(&copy, &word, &aside, *is_gone));
                    } else {
                        undo.lines.push(format!(
                            "secrets are left out of the copy: take back in {path} what the hook \
                             changed there"
                        ));
                    }
                }
                (TextBefore::Absent, _) => undo.lines.push(format!(
                    "{path} was not there before the hook: delete it unless it is right"
                )),
                (TextBefore::Kept(_) | TextBefore::Unknown, _) => undo
                    .lines
                    .push(format!("take back in {path} what the hook changed there")),
            }
        }
        if !copies.is_empty() && copies.len() == self.files.len() {
            undo.restore = Some(copies.join(" && "));
        } else {
            undo.lines
                .extend(copies.iter().map(|copy| format!("$ {copy}")));
        }
        undo
    }
}

/// Puts a copy in a file's place, once: what is there is kept beside the copy, and what
/// a person has written since is not touched.
fn put_back(copy: &str, word: &str, aside: &str, is_gone: bool) -> String {
    match is_gone {
        true => format!("{{ [ -e {word} ] || cp {copy} {word}; }}"),
        false => format!("{{ [ -e {aside} ] || {{ mv {word} {aside} && cp {copy} {word}; }}; }}"),
    }
}

impl Undo {
    /// A command that runs the plan again, as the plan was; in words where a person
    /// has to come first.
    pub(super) fn before(&self, command: String) -> String {
        let Some(hook) = self.hook else {
            return command;
        };
        match (&self.restore, command.strip_prefix("$ ")) {
            (Some(restore), Some(command)) => format!("$ {restore} && {command}"),
            (_, _) => format!("run it again when what {hook} changed is taken back"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{LeftByHook, LeftFile, TextBefore, Undo};
    use crate::triage_loop::Hook;

    fn left(files: &[(&str, TextBefore)]) -> LeftByHook {
        let files = files.iter().map(|(path, before)| LeftFile {
            path: (*path).to_owned(),
            is_gone: false,
            before: before.clone(),
        });
        LeftByHook::of(Hook::RefineCode, files.collect())
    }

    fn kept(name: &str) -> TextBefore {
        TextBefore::Kept(name.to_owned())
    }

    #[test]
    fn what_is_kept_whole_is_copied_back_before_the_plan_is_run() {
        let left = left(&[("p.yaml", kept("a.yaml")), ("in/-c.yaml", kept("c.yaml"))]);
        let undo = left.undo(Some("my reports/1"), |_| true);
        assert_eq!(undo.lines[0], "$ diff -u 'my reports/1/a.yaml' p.yaml");
        assert_eq!(
            undo.before("$ jelly run p.yaml".to_owned()),
            "$ { [ -e 'my reports/1/a.yaml.replaced' ] || \
             { mv p.yaml 'my reports/1/a.yaml.replaced' && \
             cp 'my reports/1/a.yaml' p.yaml; }; } && \
             { [ -e 'my reports/1/c.yaml.replaced' ] || \
             { mv in/-c.yaml 'my reports/1/c.yaml.replaced' && \
             cp 'my reports/1/c.yaml' in/-c.yaml; }; } && jelly run p.yaml"
        );
    }

    #[test]
    fn nothing_is_run_where_a_person_has_to_come_first() {
        for left in [
            left(&[]),
            left(&[("p.yaml", kept("secret.yaml"))]),
            left(&[("p.yaml", kept("a.yaml")), ("s.snap", TextBefore::Absent)]),
            left(&[("p.yaml", TextBefore::Unknown)]),
        ] {
            let undo = left.undo(Some("r/1"), |name| name != "secret.yaml");
            let line = undo.before("$ jelly run p.yaml".to_owned());
            assert!(!line.contains("jelly run"), "{line}");
        }
        let none = Undo::default();
        assert_eq!(none.before("$ jelly run p".to_owned()), "$ jelly run p");
    }
}
