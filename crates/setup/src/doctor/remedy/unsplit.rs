//! Several words in one argument of an entry, which no shell splits.

use super::launch_mistakes::{ONE_WORD, RUN_LINES, WITH_COMMANDS, WITH_PACKAGES, several_words};
use super::odd_characters::blank_at_an_end;
use super::prescribe::Doctor;
use super::seen::Seen;
use super::steps::Remedy;
use crate::doctor::launcher::{SHELLS, assigned, is_flag};
use jelly_base::text::LazyPattern;
use std::path::Path;

impl Doctor<'_> {
    /// Several words in one argument.
    pub(super) fn unsplit(&self) -> Option<Seen> {
        let program = self.started.program();
        if SHELLS.contains(&program) {
            return self.unsplit_line();
        }
        let is_command = |text: &str, first: &str, rest: &str| {
            let mut args = self.started.args.iter();
            let is_first = args.next().is_some_and(|arg| arg.text == text);
            let is_name = first.starts_with(|c: char| c.is_ascii_lowercase())
                && first
                    .chars()
                    .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-');
            let has_flag = rest.split_whitespace().any(is_flag);
            let of_package = || WITH_PACKAGES.contains(&program) && has_flag;
            let is_file = Path::new(text).extension().is_some() && !has_flag;
            is_first && is_name && !is_file && (WITH_COMMANDS.contains(&program) || of_package())
        };
        let runs_lines = RUN_LINES.has(program);
        let sight = self.context.sight;
        let is_unsplit = |text: &str| {
            let Some((first, rest)) = text.split_once(char::is_whitespace) else {
                return false;
            };
            // Names of files have blanks, too.
            if sight.is_there(&self.whole(text)) {
                return false;
            }
            if is_command(text, first, rest) || runs_lines {
                return is_command(text, first, rest);
            }
            // Code for an interpreter is one word, unless it was quoted for a shell.
            if matches!(first, "-c" | "-e" | "-p" | "--eval") {
                let mut quotes = ['"', '\''].into_iter();
                let code = rest.trim();
                return quotes.any(|quote| {
                    let inner = code.strip_prefix(quote);
                    let inner = inner.and_then(|code| code.strip_suffix(quote));
                    inner.is_some_and(|inner| !inner.contains(quote))
                });
            }
            if text.trim().contains('\n') {
                return false;
            }
            // What `env` takes for one variable with blanks in its value.
            if program == "env" && !assigned(&[first]).is_empty() {
                return sight
                    .on_path(rest.split_whitespace().next().unwrap_or_default())
                    .is_some();
            }
            // A module of Python has no blank in its name, and neither has a package of npm.
            let is_module = || {
                let args = self.started.args.iter().map(|arg| arg.text.as_str());
                let mut before = "";
                let mut args = args.skip_while(|arg| {
                    let is_option = is_flag(arg) || matches!(before, "-X" | "-W");
                    before = arg;
                    is_option && *arg != "-m"
                });
                let is_first = args.next() == Some("-m") && args.next() == Some(text);
                is_first && program.starts_with("python")
            };
            let is_scoped = first.starts_with('@') && first.contains('/');
            if is_scoped && WITH_PACKAGES.contains(&program) || is_module() {
                return true;
            }
            let is_file = || sight.is_there(&self.whole(first));
            // Quotes may hold what is no flag; one alone is an apostrophe.
            let has_flag = || {
                let words = shlex::split(text).filter(|_| !text.contains('{'));
                words.is_some_and(|words| words.iter().skip(1).any(|word| is_flag(word)))
            };
            is_flag(first) || (first.contains(['.', '/', '@']) && (is_file() || has_flag()))
        };
        self.split_args(
            "doctor/words-not-split",
            is_unsplit,
            several_words,
            ONE_WORD,
        )
    }

    /// A blank before or behind an option, or the name of a package.
    pub(super) fn blank_beside_word(&self) -> Option<Seen> {
        let program = self.started.program();
        if SHELLS.contains(&program) || RUN_LINES.has(program) {
            return None;
        }
        let is_wrong = |text: &str| {
            let word = text.trim();
            // npm takes a name with a blank for a version of none.
            let is_name = || {
                let asked = format!("undefined@{word}");
                WITH_PACKAGES.contains(&program) && self.stderr.contains(&asked)
            };
            let is_refused = || is_flag(word) && complains_of(self.stderr, word);
            word != text && !word.contains(char::is_whitespace) && (is_refused() || is_name())
        };
        let what = |text: &str| {
            let (word, blank) = (text.trim(), blank_at_an_end(text));
            format!("The argument `{word}` has {blank} beside its word.")
        };
        let why = "No shell takes it away: the program gets it, too, and knows no such word.";
        self.split_args("doctor/blank-beside-word", is_wrong, what, why)
    }

    /// `-c` and the line behind it in one argument of a shell.
    fn unsplit_line(&self) -> Option<Seen> {
        let started = self.started;
        let is_c = |flag: &str| {
            let letters = flag.strip_prefix('-').unwrap_or_default();
            letters.ends_with('c') && letters.chars().all(|c| c.is_ascii_lowercase())
        };
        let holds_both = |text: &str| text.split_once(' ').is_some_and(|(flag, _)| is_c(flag));
        let index = started.args.iter().position(|arg| holds_both(&arg.text))?;
        // What follows its line are the line's own arguments.
        if started.args[..index].iter().any(|arg| is_c(&arg.text)) {
            return None;
        }
        let text = &started.args[index].text;
        let (flag, line) = text.split_once(' ')?;
        let mut words = started.words();
        words.splice(index..=index, [flag.to_owned(), started.shown(line.trim())]);
        let remedy = Remedy::new()
            .what(several_words(&started.shown(text)))
            .why(ONE_WORD)
            .write("Write", started.args(&words).at(self.at_arg(index)));
        let rule = "doctor/words-not-split";
        Some(Seen::new(rule, "invalid_argument", remedy))
    }
}

/// Whether a line complains of this word; a usage only lists it.
fn complains_of(said: &str, word: &str) -> bool {
    static COMPLAINT: LazyPattern = LazyPattern::ascii(
        r"(?i)\b(?:unknown|un(?:recogni[sz]ed|expected|supported)|invalid|illegal|bad|no such|not (?:recogni[sz]ed|known|defined|found|valid|a valid|an? option)|can(?:not|'?t) (?:find|open|read)|does not exist|refused?|extra|too many)\b",
    );
    static USAGE: LazyPattern = LazyPattern::ascii(r"(?i)^\s*(?:usage\b|[\[<|]|-)");
    let is_of_word = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_');
    let has_it = |line: &str| {
        line.match_indices(word).any(|(at, _)| {
            let after = &line[at + word.len()..];
            !line[..at].ends_with(is_of_word) && !after.starts_with(is_of_word)
        })
    };
    let mut lines = said.lines();
    lines.any(|line| has_it(line) && COMPLAINT.is_match(line) && !USAGE.is_match(line))
}

/// Whether the words of a command are a path and what can only be its arguments.
pub(super) fn is_path_with_flags(words: &[String]) -> bool {
    matches!(words, [path, flag, ..] if path.contains('/') && is_flag(flag))
}

#[cfg(test)]
mod tests {
    use super::complains_of;

    #[test]
    fn a_usage_complains_of_no_word() {
        for said in [
            "s3: error: unrecognized arguments:  --verbose",
            "Error: Cannot find module '/srv/ --verbose'",
            "Unknown option: ' --verbose'",
        ] {
            assert!(complains_of(said, "--verbose"), "{said}");
        }
        for said in [
            "usage: s3 [--verbose] [--root DIR]\nerror: API_KEY is not set",
            "Usage: s3 [--verbose], unknown terms are ignored",
            "  --verbose   say more of unknown files",
            "unknown option --verbose-all",
            "started with --verbose",
        ] {
            assert!(!complains_of(said, "--verbose"), "{said}");
        }
        assert!(!complains_of("the file not-yet is invalid", "-y"));
    }
}
