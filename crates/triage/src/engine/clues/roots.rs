//! The lines of a text that name a root cause: the innermost of a chain, the
//! end of a traceback, a panic.

use super::slice::readable;
use jelly_base::text::lines as lines_of;
use memchr::memmem::Finder;
use std::sync::LazyLock;

/// What kind of line names a cause; the order is how much it says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Root {
    /// Innermost cause of a chain.
    Cause,
    /// The end of a traceback, a panic, an error above a stack.
    Trace,
    /// A line that calls itself an error.
    Error,
}

/// The lines of `text` that name a root cause, most telling first, at most
/// four of them.
pub(in crate::engine) fn root_lines(text: &str) -> Vec<String> {
    let mut roots = find_roots(text);
    roots.sort_by_key(|(kind, _)| *kind);
    let mut lines: Vec<String> = Vec::new();
    for (_, line) in roots {
        if !lines.contains(&line) && lines.len() < 4 {
            lines.push(line);
        }
    }
    lines
}

/// The line in which a program in any language says that it crashed by its
/// own doing: a panic, or the last line of a traceback.
pub(in crate::engine) fn trace_line(text: &str) -> Option<String> {
    let text = readable(text);
    find_roots(&text)
        .into_iter()
        .filter(|(kind, _)| *kind == Root::Trace)
        .map(|(_, line)| line)
        .next_back()
}

/// The line of a server's last words that says most.
pub(in crate::engine) fn telling_line(text: &str) -> Option<String> {
    let text = readable(text);
    root_lines(&text).into_iter().next().or_else(|| {
        text.lines()
            .map(str::trim)
            .rfind(|line| line.chars().any(char::is_alphanumeric) && !is_of_launcher(line))
            .map(str::to_owned)
    })
}

/// What a launcher says by the way, whatever becomes of the server.
fn is_of_launcher(line: &str) -> bool {
    ["npm warn ", "npm WARN ", "npm notice "]
        .iter()
        .any(|start| line.starts_with(start))
}

fn find_roots(text: &str) -> Vec<(Root, String)> {
    let mut lines = lines_of(text).map(|raw| (raw, raw.trim())).peekable();
    let mut roots: Vec<(Root, String)> = Vec::new();
    let mut error_lines = 0;
    let mut in_traceback = false;
    while let Some((raw, line)) = lines.next() {
        let next = lines.peek().map_or("", |(_, next)| *next);
        if let Some(cause) = line
            .strip_prefix("Caused by: ")
            .or_else(|| line.strip_prefix("[cause]: "))
        {
            // The last one is the innermost.
            roots.retain(|(kind, _)| *kind != Root::Cause);
            roots.push((Root::Cause, cause.trim_end_matches(" {").to_owned()));
        } else if line.starts_with("Traceback (most recent call last)") {
            in_traceback = true;
        } else if in_traceback && !line.is_empty() && !raw.starts_with([' ', '\t', '|']) {
            in_traceback = false;
            roots.retain(|(kind, _)| *kind != Root::Trace);
            roots.push((Root::Trace, line.to_owned()));
        } else if let Some(panic) = rust_panic(line) {
            roots.push((Root::Trace, join(panic, next)));
        } else if line.starts_with("panic: ")
            || line.starts_with("fatal error: ")
            || line.starts_with("fatal runtime error: ")
            || line.starts_with("FATAL ERROR: ")
        {
            roots.push((Root::Trace, line.to_owned()));
        } else if is_frame(next) && names_error(line) {
            roots.push((Root::Trace, line.trim_end_matches(" {").to_owned()));
        } else if calls_itself_error(line) && error_lines < 3 {
            error_lines += 1;
            roots.push((Root::Error, line.to_owned()));
        }
    }
    roots
}

/// `thread 'main' (123) panicked at src/main.rs:1:2:`, the number being the
/// thread's id since Rust 1.92; older ones carry the message in the line.
fn rust_panic(line: &str) -> Option<&str> {
    (line.starts_with("thread '") && line.contains(" panicked at ")).then_some(line)
}

fn join(head: &str, next: &str) -> String {
    if head.ends_with(':') && !next.is_empty() {
        format!("{head} {next}")
    } else {
        head.to_owned()
    }
}

/// A frame of a Node or Java stack.
fn is_frame(line: &str) -> bool {
    line.starts_with("at ") || line.starts_with("... ")
}

/// `TypeError: …`, `java.lang.IllegalStateException: …`, `Error [CODE]: …`.
fn names_error(line: &str) -> bool {
    line.contains('E') && names_any_error(line)
}

fn names_any_error(line: &str) -> bool {
    line.match_indices("Error")
        .chain(line.match_indices("Exception"))
        .any(|(at, word)| {
            let rest = &line[at + word.len()..];
            rest.is_empty() || rest.starts_with(": ") || rest.starts_with(" [") || rest == ":"
        })
}

fn calls_itself_error(line: &str) -> bool {
    let line = line.trim_start_matches(|c: char| !c.is_ascii_alphabetic());
    let bytes = line.as_bytes();
    let starts = |word: &str| {
        bytes
            .get(..word.len())
            .is_some_and(|head| head.eq_ignore_ascii_case(word.as_bytes()))
    };
    const WORDS: [&str; 9] = [
        "error:",
        "error ",
        "error[",
        "fatal",
        "failed",
        "failure:",
        "npm error",
        "npm err!",
        "critical",
    ];
    static INSIDE: LazyLock<Finder<'_>> = LazyLock::new(|| Finder::new(": error: "));
    // Most lines are told by their first letter.
    let first = bytes.first().map(u8::to_ascii_lowercase);
    matches!(first, Some(b'e' | b'f' | b'n' | b'c')) && WORDS.into_iter().any(starts)
        || INSIDE.find(bytes).is_some()
        || names_error(line)
}

#[cfg(test)]
mod tests {
    use super::{root_lines, telling_line, trace_line};

    #[test]
    fn the_innermost_cause_comes_first() {
        let text = "java.lang.RuntimeException: outer\n\tat a.B.c(B.java:1)\nCaused by: java.io.IOException: middle\n\tat x\nCaused by: java.net.ConnectException: Connection refused\n\tat y";
        assert_eq!(
            root_lines(text)[0],
            "java.net.ConnectException: Connection refused"
        );
    }

    #[test]
    fn a_traceback_is_told_by_its_last_line() {
        let text = "Traceback (most recent call last):\n  File \"a.py\", line 1, in <module>\n    x()\nKeyError: 'a'\n\nDuring handling of the above exception, another exception occurred:\n\nTraceback (most recent call last):\n  File \"b.py\", line 2, in y\nValueError: no b\nbye";
        assert_eq!(trace_line(text).as_deref(), Some("ValueError: no b"));
    }

    #[test]
    fn a_rust_panic_is_told_with_its_message() {
        let text =
            "log\nthread 'main' (7) panicked at src/main.rs:6:93:\nindex out of bounds\nnote: run";
        assert_eq!(
            telling_line(text).as_deref(),
            Some("thread 'main' (7) panicked at src/main.rs:6:93: index out of bounds")
        );
    }

    #[test]
    fn node_names_its_error_above_the_stack_and_its_cause_below() {
        let text = "/a/b.js:2\nconst x = y.z;\n            ^\n\nTypeError: Cannot read properties of undefined\n    at Object.<anonymous> (/a/b.js:2:25)\n";
        assert_eq!(
            telling_line(text).as_deref(),
            Some("TypeError: Cannot read properties of undefined")
        );
        let chained = format!("{text}  [cause]: Error: connect ECONNREFUSED 127.0.0.1:1\n");
        assert_eq!(
            telling_line(&chained).as_deref(),
            Some("Error: connect ECONNREFUSED 127.0.0.1:1")
        );
    }

    #[test]
    fn plain_last_words_are_told_by_their_last_line() {
        assert_eq!(
            telling_line("starting\nlost the backing store\n---\n").as_deref(),
            Some("lost the backing store")
        );
        assert_eq!(telling_line(" \n"), None);
    }
}
