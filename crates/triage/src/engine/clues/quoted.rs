//! What of a server's words is code that its runtime printed, or a note of a
//! debugger: neither says what is wrong.

use jelly_base::text::LazyPattern;
use regex::Captures;
use std::borrow::Cow;

/// A line of source, and what it may go on in before its mark.
const SOURCE: usize = 4;
/// Longer lines of source are cut to what is marked.
const LINE: usize = 160;
/// Characters beside a mark that are kept of a line that can't be read.
const BESIDE: usize = 12;

/// Without the lines of source that Node prints above an error, and without
/// what debuggers say of themselves.
pub(super) fn without_source(text: Cow<'_, str>) -> Cow<'_, str> {
    // Behind a very long line old Nodes cut the mark off.
    let is_marked = |line: &str| is_mark(line) && (line.contains('^') || line.len() > LINE);
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    if !lines.iter().any(|line| is_marked(line) || is_talk(line)) {
        return text;
    }
    let mut kept = String::with_capacity(text.len());
    let mut at = 0;
    while let Some(line) = lines.get(at) {
        at += 1;
        if is_talk(line) {
            continue;
        }
        kept.push_str(line);
        if !is_place(line) {
            continue;
        }
        let quoted = lines.iter().skip(at).take(SOURCE);
        let Some(length) = quoted.clone().position(|line| is_marked(line)) else {
            continue;
        };
        let mark = lines[at + length];
        let rest = lines.iter().skip(at + length + 1).map(|line| line.trim());
        // What can't be read is the cause itself.
        let is_unread = rest
            .filter(|line| !line.is_empty())
            .take(1)
            .any(|line| line.contains("SyntaxError"));
        match (
            is_unread,
            length.checked_sub(1).map(|last| lines[at + last]),
        ) {
            (true, Some(source)) if source.chars().count() > LINE => {
                kept.push_str(&marked_part(source, mark));
            }
            (true, _) => kept.extend(lines[at..=at + length].iter().copied()),
            // Which variable was read tells what is missing.
            (false, Some(source)) => kept.push_str(&read_variable(source)),
            (false, None) => {}
        }
        at += length + 1;
    }
    kept.into()
}

/// Without what Python shows of source that raises or handles an exception, below a place of a
/// trace or in the box that rich draws of one: what that would say was not said, or is said below.
pub(super) fn without_raising_source(text: Cow<'_, str>) -> Cow<'_, str> {
    const TRACE: &str = "Traceback (most recent call last)";
    // What can't be read has no trace, and is shown all the same.
    let shows = text.contains(TRACE) || text.contains("SyntaxError: ");
    if !shows || !text.contains("raise ") && !text.contains("except ") {
        return text;
    }
    let mut kept = String::with_capacity(text.len());
    let mut place = None;
    let mut in_box = false;
    for line in text.split_inclusive('\n') {
        let bare = line.trim_start();
        if bare.starts_with('╭') {
            in_box = line.contains(TRACE);
        } else if bare.starts_with('╰') {
            in_box = false;
        }
        let unmarked = line.trim_start_matches([' ', '|', '+']);
        let depth = line.len() - unmarked.len();
        if unmarked.starts_with("File \"") && unmarked.contains("\", line ") {
            place = Some(depth);
        } else if place.is_some_and(|place| depth <= place) {
            place = None;
        }
        match in_box || place.is_some() {
            true => kept.push_str(&without_raising(line)),
            false => kept.push_str(line),
        }
    }
    kept.into()
}

/// A line of source up to where it raises something, or names what it handles.
fn without_raising(line: &str) -> Cow<'_, str> {
    let begins = |at: &usize| {
        line[..*at]
            .chars()
            .next_back()
            .is_none_or(|c| !c.is_alphanumeric())
    };
    let at = ["raise ", "except "]
        .iter()
        .filter_map(|word| line.find(word).filter(begins))
        .min();
    match at {
        Some(at) => Cow::Owned(format!("{}\n", &line[..at])),
        None => Cow::Borrowed(line),
    }
}

/// Without the sentences that stand as texts in lines of source which a runtime or a compiler
/// shows: below a place of Python, above a mark, and behind a place of Go's compiler. Nobody said
/// them.
pub(super) fn without_literals(text: Cow<'_, str>) -> Cow<'_, str> {
    static OF_COMPILER: LazyPattern = LazyPattern::ascii(r"\A\S+\.go:\d+:\d+: ");
    let may_show = text.contains("File \"") || text.contains('^') || text.contains(".go:");
    if !may_show {
        return text;
    }
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let mut kept = String::with_capacity(text.len());
    let mut place = None;
    for (at, line) in lines.iter().enumerate() {
        let unmarked = line.trim_start_matches([' ', '|', '+']);
        let depth = line.len() - unmarked.len();
        if unmarked.starts_with("File \"") && unmarked.contains("\", line ") {
            place = Some(depth);
            kept.push_str(line);
            continue;
        }
        if place.is_some_and(|place| depth <= place) {
            place = None;
        }
        let is_marked = lines
            .get(at + 1)
            .is_some_and(|next| is_mark(next) && next.contains('^'));
        match place.is_some() || is_marked || OF_COMPILER.is_match(line) {
            true => kept.push_str(&masked_literals(line)),
            false => kept.push_str(line),
        }
    }
    kept.into()
}

/// A line of source with a mark for each of its texts that is a sentence.
fn masked_literals(line: &str) -> Cow<'_, str> {
    static LITERAL: LazyPattern =
        LazyPattern::new(r#""[^"\n]*(?:"|$)|'[^'\n]*(?:'|$)|`[^`\n]*(?:`|$)"#);
    LITERAL.replace_all(line, |found: &Captures<'_>| {
        let literal = &found[0];
        let words = literal.split_whitespace().count();
        match words > 2 {
            true => format!("{0}…{0}", &literal[..1]),
            false => literal.to_owned(),
        }
    })
}

/// The variable of the environment that a line of source reads, and what it does with one
/// that is not set, where that is plain.
fn read_variable(source: &str) -> String {
    let Some((before, rest)) = source.split_once("process.env") else {
        return String::new();
    };
    let in_name = |b: &u8| b.is_ascii_alphanumeric() || b"_.['\"".contains(b);
    let (name, behind) = rest.split_at(rest.bytes().take_while(in_name).count());
    let throws = behind
        .trim_start_matches(']')
        .trim_start()
        .strip_prefix(')')
        .is_some_and(|then| then.trim_start_matches([' ', '{']).starts_with("throw"));
    let asks: String = before.split_whitespace().collect();
    if throws && asks.ends_with("if(!") {
        format!("if (!process.env{name}) throw\n")
    } else if asks.ends_with("newURL(") {
        format!("new URL(process.env{name}\n")
    } else {
        format!("process.env{name}\n")
    }
}

/// `/srv/x.js:3`, `file:///srv/x.js:3`.
fn is_place(line: &str) -> bool {
    let line = line.trim_end();
    let is_path = line.starts_with('/')
        || line.starts_with("file://")
        || line.starts_with("node:")
        || line.get(1..3) == Some(":\\");
    let number = line.rsplit(':').next().unwrap_or_default();
    is_path && !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit())
}

fn is_mark(line: &str) -> bool {
    let line = line.trim_end_matches(['\r', '\n']);
    !line.is_empty()
        && line
            .bytes()
            .all(|b| matches!(b, b'^' | b'~' | b' ' | b'\t'))
}

/// The marked part of a long line, with its mark below.
fn marked_part(source: &str, mark: &str) -> String {
    let first = mark.chars().take_while(|c| c.is_whitespace()).count();
    let length = mark.trim().chars().count();
    let from = first.saturating_sub(BESIDE);
    let kept = first - from + length + BESIDE;
    let part: String = source.trim_end().chars().skip(from).take(kept).collect();
    let length = length.min(kept);
    format!(
        "{part}\n{}{}\n",
        " ".repeat(first - from),
        "^".repeat(length)
    )
}

/// What a debugger says of itself, and how a note is switched off.
fn is_talk(line: &str) -> bool {
    let line = line.trim();
    let switches_off = ["disable", "silence", "suppress", "hide", "turn off"];
    line.starts_with("Debugger listening on ")
        || line.starts_with("For help, see: https://nodejs.org/")
        || line.starts_with("0.00s - ")
        || line
            .to_ascii_lowercase()
            .split_once("set ")
            .and_then(|(_, rest)| rest.split_once(" to "))
            .is_some_and(|(name, what)| {
                name.contains('=')
                    && !name.contains(' ')
                    && switches_off.iter().any(|word| what.starts_with(word))
            })
}

#[cfg(test)]
mod tests {
    #[test]
    fn source_that_raises_says_nothing() {
        let trace = "Traceback (most recent call last):\n  File \"s.py\", line 9, in pay\n    if not key: raise RuntimeError(\"connection refused by \" + key)\nRuntimeError: no key\nraise the flag\n";
        let read = "Traceback (most recent call last):\n  File \"s.py\", line 9, in pay\n    if not key: \nRuntimeError: no key\nraise the flag\n";
        assert_eq!(super::without_raising_source(trace.into()), read);
        let boxed = "╭─ Traceback (most recent call last) ─╮\n│ ❱ 21 │   raise ConnectionError(f\"in use\") │\n╰─╯\nConnectionError: in use\n";
        let read =
            "╭─ Traceback (most recent call last) ─╮\n│ ❱ 21 │   \n╰─╯\nConnectionError: in use\n";
        assert_eq!(super::without_raising_source(boxed.into()), read);
    }

    #[test]
    fn sentences_of_shown_source_are_said_by_nobody() {
        for (text, said) in [
            (
                "  File \"a.py\", line 4, in f\n    print(\"redis: connection refused\", cfg[\"retries\"])\n          ~~^^\nKeyError: 'no retries are set'\n",
                "  File \"a.py\", line 4, in f\n    print(\"…\", cfg[\"retries\"])\n          ~~^^\nKeyError: 'no retries are set'\n",
            ),
            (
                "/srv/f.js:1\nthrow new Error('Cannot find module yaml' }\n     ^\nSyntaxError: missing )\n",
                "/srv/f.js:1\nthrow new Error('…' }\n     ^\nSyntaxError: missing )\n",
            ),
            (
                "./h.go:3:37: cannot convert \"connection refused to db\" to type int\n",
                "./h.go:3:37: cannot convert \"…\" to type int\n",
            ),
            (
                "Error: \"a b c\" is not there\n",
                "Error: \"a b c\" is not there\n",
            ),
        ] {
            assert_eq!(super::without_literals(text.into()), said);
        }
    }

    use super::without_source;

    #[test]
    fn printed_source_is_no_words() {
        let text = "file:///srv/x.js:3\n  if (status === 429) throw new Error('rate limit');\n  ^\n\nError: no\n    at a (/srv/x.js:3:4)\n";
        let said = "file:///srv/x.js:3\n\nError: no\n    at a (/srv/x.js:3:4)\n";
        assert_eq!(without_source(text.into()), said);
        let short = "/srv/x.js:1\nusing a = b();\n      ^\n\nSyntaxError: Unexpected identifier\n";
        assert_eq!(without_source(short.into()), short);
        let long = format!("{}a ??= b;{}", "x".repeat(500), "usage: y ".repeat(90));
        let cut = format!(
            "/srv/x.js:1\n{long}\n{}\n\nSyntaxError: Unexpected\n",
            " ".repeat(500)
        );
        assert!(!without_source(cut.into()).contains("usage:"));
        let text = format!(
            "/srv/x.js:1\n{long}\n{}^^^\n\nSyntaxError: Unexpected\n",
            " ".repeat(502)
        );
        let said = without_source(text.as_str().into());
        assert!(
            said.contains("??=") && !said.contains("usage: y usage"),
            "{said}"
        );
        for (source, said) in [
            (
                "if(!process.env.A_KEY) throw new Error('rate limit');",
                "if (!process.env.A_KEY) throw",
            ),
            (
                "if (! process.env['A_KEY']) { throw no; }",
                "if (!process.env['A_KEY') throw",
            ),
            (
                "const u = new URL(process.env.A_URL, base);",
                "new URL(process.env.A_URL",
            ),
            ("if (process.env.A_KEY) throw no;", "process.env.A_KEY"),
        ] {
            let text = format!("/srv/x.js:1\n{source}\n    ^\n\nError: no\n");
            let said = format!("/srv/x.js:1\n{said}\n\nError: no\n");
            assert_eq!(without_source(text.into()), said);
        }
        let plain = "Error: no\n  ^\nset A=1 to begin";
        assert_eq!(without_source(plain.into()), plain);
    }

    #[test]
    fn a_debuggers_talk_is_left_out() {
        let text = "0.00s - Note: x\nDebugger listening on ws://127.0.0.1:9229/a\nno key\nSet PYDEVD_X=1 to disable this.\n";
        assert_eq!(without_source(text.into()), "no key\n");
    }
}
