//! What a server was doing when the system told it that something is not
//! there: starting a program, or opening a file to write to it. Systems say
//! the same of all three, "no such file"; what was wanted stands in the words
//! before it and in the stack around it.
//!
//! Main functions: [`spawned`] and [`opened_to_write`].

use super::live::{DoingPatterns, FACT_WORDS, tail};
use super::tables::any_of;
use jelly_base::model::Failure;
use regex::Regex;
use std::sync::LazyLock;

/// Lines before the statement whose words may tell what was wanted: a chain
/// of causes names its outermost first.
const BEFORE: usize = 4;

/// Lines after it, of the stack.
const AFTER: usize = 24;

/// What is done, by the stack around the statement and by the words that lead
/// to it.
struct Doing {
    stack: Regex,
    words: Regex,
}

impl Doing {
    fn new(known_by: &DoingPatterns) -> Self {
        Self {
            stack: any_of("", &known_by.stack),
            words: any_of("im", &known_by.words),
        }
    }
}

static ABSENT: LazyLock<Regex> = LazyLock::new(|| any_of("i", &FACT_WORDS.absent));
static SPAWNING: LazyLock<Doing> = LazyLock::new(|| Doing::new(&FACT_WORDS.spawning));
static WRITING: LazyLock<Doing> = LazyLock::new(|| Doing::new(&FACT_WORDS.writing));

/// Whether what failed was starting a program.
pub(super) fn spawned(failure: &Failure) -> bool {
    was_doing(failure, &SPAWNING)
}

/// Whether what failed was opening a file to write to it.
pub(super) fn opened_to_write(failure: &Failure) -> bool {
    was_doing(failure, &WRITING)
}

fn was_doing(failure: &Failure, doing: &LazyLock<Doing>) -> bool {
    // The patterns take long to compile, and a report's case has no stderr.
    let Some(stderr) = &failure.stderr else {
        return false;
    };
    around(tail(stderr), &ABSENT).is_some_and(|(leading, all)| {
        doing.words.is_match(&leading.join("\n")) || doing.stack.is_match(&all.join("\n"))
    })
}

/// The last statement that something is not there: the lines that lead to it,
/// its own the last of them, and the same with the stack that follows.
fn around<'t>(text: &'t str, absent: &Regex) -> Option<(Vec<&'t str>, Vec<&'t str>)> {
    let lines: Vec<&str> = text
        .lines()
        .filter(|line| !line.trim().is_empty())
        .collect();
    let last = lines.iter().rposition(|line| absent.is_match(line))?;
    // What a runtime repeats below its message, as Node does with the code,
    // belongs to the first of these lines.
    let first = (last.saturating_sub(AFTER)..last)
        .find(|at| absent.is_match(lines[*at]))
        .unwrap_or(last);
    let begin = first.saturating_sub(BEFORE);
    let end = lines.len().min(last + 1 + AFTER);
    Some((lines[begin..=first].to_vec(), lines[begin..end].to_vec()))
}

#[cfg(test)]
mod tests {
    use super::{opened_to_write, spawned};
    use jelly_base::model::Failure;

    fn said(stderr: &str) -> Failure {
        Failure {
            stderr: Some(stderr.to_owned()),
            ..Failure::default()
        }
    }

    #[test]
    fn a_program_that_could_not_be_started_is_known_by_stack_and_words() {
        for told in [
            "/usr/lib/ruby/3.1.0/open3.rb:222:in `spawn': No such file or directory - up (Errno::ENOENT)",
            "Error: failed to spawn `up`\n\nCaused by:\n    No such file or directory (os error 2)",
            "panic: fork/exec /opt/up: no such file or directory",
            "** (ErlangError) Erlang error: :enoent\n    (elixir 1.14.0) lib/system.ex:1053: System.cmd(\"up\", [], [])",
            "Error: Could not run `up`: No such file or directory (os error 2)",
            "starting the upstream server failed: no such file or directory",
        ] {
            assert!(spawned(&said(told)), "{told}");
            assert!(!opened_to_write(&said(told)), "{told}");
        }
    }

    #[test]
    fn a_file_that_could_not_be_written_is_known_by_stack_and_words() {
        for told in [
            "panic: open sink \"/v/a\": open /v/a: no such file or directory",
            "java.io.FileNotFoundException: /v/a (No such file or directory)\n\tat java.base/java.io.FileOutputStream.open0(Native Method)",
            "/srv/run.sh: line 2: /v/none/app.log: No such file or directory",
            "cannot open /v/none/a for append: ENOENT",
        ] {
            assert!(opened_to_write(&said(told)), "{told}");
            assert!(!spawned(&said(told)), "{told}");
        }
    }

    #[test]
    fn a_file_that_is_read_is_neither() {
        for told in [
            "Error: ENOENT: no such file or directory, open '/srv/conf.yaml'\n    at Object.readFileSync (node:fs:453:35)",
            "failed to start server: open /srv/conf.yaml: no such file or directory",
            "spawned worker 1\nlistening\na\nb\nc\nopen /srv/conf.yaml: no such file or directory",
            "Traceback (most recent call last):\n  File \"/srv/s.py\", line 3, in <module>\n    open(name)\nFileNotFoundError: [Errno 2] No such file or directory: 'data'",
        ] {
            assert!(!spawned(&said(told)), "{told}");
            assert!(!opened_to_write(&said(told)), "{told}");
        }
    }
}
