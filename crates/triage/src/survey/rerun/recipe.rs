//! Names of tests → command lines of bearable length.

use crate::frameworks::FRAMEWORKS;
use jelly_base::text::shell_word;

/// Longer command lines are split: a terminal that reads line by line takes no
/// more than 4095 bytes of a pasted one.
const LONGEST: usize = 4000;

/// How the names of tests stand in a command.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Join {
    /// A word each.
    Words,
    /// A word each, begun by this: `--tests=`.
    Prefixed(String),
    /// One word: begin, between two names, end.
    OneWord(String, String, String),
    /// They are not named: the command runs all of its group.
    Nothing,
}

/// A command without its tests. Equal ones share a command line.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Recipe {
    /// Words before the tests, the program first. Quoted when written, but for
    /// those of `raw`.
    pub(super) before: Vec<String>,
    /// Shell text in front of all, trusted and not quoted.
    pub(super) raw: Option<String>,
    pub(super) join: Join,
    /// Words behind the tests.
    pub(super) after: Vec<String>,
}

impl Recipe {
    /// The same as it begins in a project that `has` some files.
    pub(super) fn in_project(mut self, has: impl Fn(&str) -> bool) -> Self {
        let known = FRAMEWORKS
            .iter()
            .flat_map(|framework| framework.rerun.begins);
        let mut fitting = known.filter(|begin| {
            let words = self.before.iter().map(String::as_str);
            let is_its = begin.from.len() <= self.before.len()
                && words.zip(begin.from).all(|(word, from)| word == *from);
            let is_with = begin.with.is_empty() || begin.with.iter().any(|file| has(file));
            is_its && is_with && !begin.without.iter().any(|file| has(file))
        });
        if let Some(begin) = fitting.next() {
            let to = begin.to.iter().map(|word| (*word).to_owned());
            self.before.splice(..begin.from.len(), to);
        }
        self
    }

    /// The command lines that run all of `names`, none of them longer than a
    /// single name makes necessary with the bytes that stand `around` it.
    pub(super) fn lines(&self, names: &[String], around: usize) -> Vec<String> {
        if self.join == Join::Nothing {
            return vec![self.line(&[])];
        }
        let fixed = self.line(&[]).len() + around;
        let mut lines = Vec::new();
        let mut start = 0;
        let mut length = fixed;
        for (at, name) in names.iter().enumerate() {
            let cost = self.cost(name);
            if at > start && length + cost > LONGEST {
                lines.push(self.line(&names[start..at]));
                start = at;
                length = fixed;
            }
            length += cost;
        }
        if start < names.len() {
            lines.push(self.line(&names[start..]));
        }
        lines
    }

    /// Bytes that a name adds to a line.
    fn cost(&self, name: &str) -> usize {
        match &self.join {
            Join::Words => shell_word(name).len() + 1,
            Join::Prefixed(prefix) => shell_word(&format!("{prefix}{name}")).len() + 1,
            // Quotes within quotes take four bytes.
            Join::OneWord(_, between, _) => {
                name.len() + between.len() + 3 * name.matches('\'').count()
            }
            Join::Nothing => 0,
        }
    }

    fn line(&self, names: &[String]) -> String {
        let raw = self.raw.clone();
        let words = self.words(names);
        let quoted = words.iter().map(|word| shell_word(word));
        raw.into_iter().chain(quoted).collect::<Vec<_>>().join(" ")
    }

    /// What the program is to be given, behind what is `raw`.
    pub(super) fn words(&self, names: &[String]) -> Vec<String> {
        let mut words = self.before.clone();
        match &self.join {
            Join::Words => words.extend(names.iter().cloned()),
            Join::Prefixed(prefix) => {
                words.extend(names.iter().map(|name| format!("{prefix}{name}")));
            }
            Join::OneWord(begin, between, end) => {
                words.push(format!("{begin}{}{end}", names.join(between)));
            }
            Join::Nothing => {}
        }
        words.extend(self.after.iter().cloned());
        words
    }
}

#[cfg(test)]
mod tests {
    use super::{Join, LONGEST, Recipe};

    fn plain(join: Join) -> Recipe {
        let (before, after) = (vec!["run".into()], Vec::new());
        Recipe {
            before,
            raw: None,
            join,
            after,
        }
    }

    #[test]
    fn a_command_that_grows_too_long_is_split_and_loses_no_test() {
        let names: Vec<String> = (0..500).map(|n| format!("test_{n:030}")).collect();
        for join in [
            Join::Words,
            Join::Prefixed("--tests=".into()),
            Join::OneWord("^(".into(), "|".into(), ")$".into()),
        ] {
            let lines = plain(join).lines(&names, 0);
            assert!(lines.len() > 1);
            assert!(lines.iter().all(|line| line.len() <= LONGEST + 8));
            let all = lines.join("\n");
            assert!(names.iter().all(|name| all.contains(name)));
        }
    }

    #[test]
    fn a_name_that_is_too_long_by_itself_has_its_own_command() {
        let names = ["a".repeat(5000), "b".into(), "c".into()];
        let lines = plain(Join::Words).lines(&names, 0);
        assert_eq!(lines.len(), 2);
        assert_eq!(lines[1], "run b c");
    }
}
