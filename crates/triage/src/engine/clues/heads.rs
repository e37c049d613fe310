//! The head of an exception: its class and the line that goes with it, for
//! the outermost and for the innermost of a chain.

use jelly_base::text::lines as lines_of;
use jelly_base::text::{LazyPattern, WordList};
use memchr::memmem::Finder;
use std::sync::LazyLock;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ErrorHead {
    /// As written, with its package or module.
    pub(super) class: Option<String>,
    /// Class and message, one line.
    pub(super) line: String,
}

#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Heads {
    pub(super) outer: Option<ErrorHead>,
    /// Absent when there is no other than the outermost.
    pub(super) inner: Option<ErrorHead>,
}

/// The heads in what a report says (without its stacks).
pub(super) fn heads(said: &str) -> Heads {
    heads_of(said, true)
}

/// The same of what may have a [`first_class`], or has none.
pub(super) fn heads_of(said: &str, has_class: bool) -> Heads {
    let mut heads = Heads::default();
    let lines: Vec<&str> = lines_of(said).map(str::trim).collect();
    for (index, line) in lines.iter().enumerate() {
        let next = lines.get(index + 1).copied().unwrap_or_default();
        if let Some(cause) = cause(&lines, index) {
            heads.inner = Some(head(cause, next));
        } else if heads.outer.is_none()
            && let Some(head) = class_behind(line)
        {
            heads.outer = Some(head);
        } else if has_class && heads.outer.is_none() && class(line).is_some() {
            heads.outer = Some(head(line, next));
        }
    }
    // `outer; nested exception is inner`, and .NET's arrow, in one line.
    if heads.inner.is_none()
        && let Some(outer) = &heads.outer
    {
        const NESTED: [&str; 2] = ["nested exception is ", " ---> "];
        static FINDERS: LazyLock<[Finder<'_>; 2]> = LazyLock::new(|| NESTED.map(Finder::new));
        heads.inner = NESTED
            .iter()
            .zip(FINDERS.iter())
            .filter(|(_, finder)| finder.find(outer.line.as_bytes()).is_some())
            .find_map(|(mark, _)| outer.line.rsplit_once(mark))
            .map(|(_, inner)| head(inner, ""));
    }
    heads
}

/// The head that a line is, with the next one where the message stands there,
/// as RSpec writes it.
fn head(line: &str, next: &str) -> ErrorHead {
    let line = bare(line);
    let class = class(line);
    let whole = match class {
        Some(class)
            if line.trim_end_matches([':', ' ']).len() == class.len() && !next.is_empty() =>
        {
            format!("{class}: {next}")
        }
        // pytest tells below of what a bare condition was made.
        _ if line.ends_with("assert False") && next.starts_with("+ ") => format!("{line} {next}"),
        _ => line.to_owned(),
    };
    ErrorHead {
        class: class.map(str::to_owned),
        line: whole,
    }
}

/// Cucumber writes the class behind the message: `execution expired
/// (Timeout::Error)`.
fn class_behind(line: &str) -> Option<ErrorHead> {
    let (message, name) = line.strip_suffix(')')?.rsplit_once(" (")?;
    let whole = class(name).is_some_and(|class| class.len() == name.len());
    (whole && !message.is_empty()).then(|| ErrorHead {
        class: Some(name.to_owned()),
        line: format!("{name}: {message}"),
    })
}

/// The class in the first line that begins with one.
pub(super) fn first_class(said: &str) -> Option<&str> {
    lines_of(said).find_map(|line| class(line.trim()))
}

/// Whether a class is that of an exception that parsers, conversions and
/// look-ups raise.
pub(super) fn is_programming_error(class: &str) -> bool {
    const WORDS: WordList = WordList(
        "Parse Parser Syntax Decode JSONDecode NumberFormat Format ClassCast InvalidCast Match \
         Key Index Type NullPointer NullReference Range Attribute Name NoMethod Reference \
         JsonReader Json JsonParse InputMismatch Value Argument IllegalArgument FunctionClause \
         DateTimeParse",
    );
    let last = class.rsplit([':', '.', '\\', '$']).next().unwrap_or(class);
    last.strip_suffix("Error")
        .or_else(|| last.strip_suffix("Exception"))
        .is_some_and(|word| WORDS.has(word))
}

/// What a line says of an inner cause. Later ones are further in.
fn cause<'a>(lines: &[&'a str], index: usize) -> Option<&'a str> {
    const MARKS: [&str; 8] = [
        "Caused by: ",
        "caused by: ",
        "[cause]: ",
        "cause: ",
        "Cause: ",
        "---> ",
        "---- ",
        "Nested exception: ",
    ];
    let line = lines[index];
    let first = line.as_bytes().first();
    for mark in MARKS {
        if first == mark.as_bytes().first()
            && let Some(cause) = line.strip_prefix(mark)
        {
            let cause = cause.trim_end_matches(" {");
            // `cause:` is a key of anything, too.
            return (mark.starts_with(['C', '[']) && mark != "Cause: " || class(cause).is_some())
                .then_some(cause);
        }
    }
    // PHPUnit and anyhow put the cause on the next line.
    let above = index.checked_sub(1).map(|at| lines[at])?;
    if above == "Caused by" || above == "Caused by:" {
        let numbered = line.trim_start_matches(|c: char| c.is_ascii_digit());
        return Some(numbered.strip_prefix(": ").unwrap_or(line));
    }
    None
}

/// The line without words that only say that an exception follows.
fn bare(line: &str) -> &str {
    const OPENINGS: [&str; 16] = [
        "Uncaught (in promise) ",
        "Uncaught exception: ",
        "Uncaught ",
        "Unhandled rejection ",
        "Unhandled exception: ",
        "Unhandled exception. ",
        "PHP Fatal error:  ",
        "Fatal error: ",
        "Error [ERR_TEST_FAILURE]: ",
        "[Error [ERR_TEST_FAILURE]: ",
        "Minitest::UnexpectedError: ",
        "Test method threw exception: ",
        "An exception occurred: ",
        "An error was thrown: ",
        "Exception: ",
        // Clojure's report of what came instead of a value
        "actual: ",
    ];
    let mut line = line.trim();
    // Two of them may stand one after the other.
    for _ in 0..2 {
        let before = line.len();
        if !line.starts_with(['U', 'P', 'F', 'E', '[', 'M', 'T', 'A', 'a']) {
            break;
        }
        for opening in OPENINGS {
            // Most lines are told by their first letter.
            if line.as_bytes().first() != opening.as_bytes().first() {
                continue;
            }
            if let Some(rest) = line.strip_prefix(opening)
                && (!matches!(opening, "Exception: " | "actual: ") || class(rest).is_some())
            {
                line = rest;
            }
        }
        if line.len() == before {
            break;
        }
    }
    line = match memchr::memchr(b'"', line.as_bytes()) {
        Some(_) => quoted(line),
        None => line,
    };
    line.strip_prefix("** (").unwrap_or(line)
}

/// What stands within quotes, or behind them, where that is the exception.
fn quoted(mut line: &str) -> &str {
    if let Some((_, rest)) = line.split_once(" failed on setup with \"") {
        line = rest;
    }
    for opening in ["failed on setup with \"", "failed on teardown with \""] {
        if let Some(rest) = line.strip_prefix(opening) {
            line = rest.strip_suffix('"').unwrap_or(rest);
        }
    }
    if let Some(rest) = line.strip_prefix("Exception in thread \"")
        && let Some((_, rest)) = rest.split_once("\" ")
    {
        line = rest;
    }
    line
}

/// Whether a text begins with the class of such an exception.
pub(crate) fn is_mistake(text: &str) -> bool {
    class(text).is_some_and(is_programming_error)
}

/// The class that a line begins with: `Name: …`, `a.b.Name: …`, `A\B`,
/// `Errno::EPERM`, `System.X : …`, `** (Name) …`.
pub(in crate::engine) fn class(line: &str) -> Option<&str> {
    let line = bare(line);
    let class = named(line)?;
    let last = class
        .rsplit([':', '.', '\\', '/', '$'])
        .next()
        .unwrap_or(class);
    let qualified = last.len() < class.len();
    const ENDINGS: [&str; 17] = [
        "Group",
        "Error",
        "Exception",
        "Failure",
        "Failed",
        "Timeout",
        "Expired",
        "Refused",
        "Warning",
        "Fault",
        "Interrupt",
        "Exit",
        "Violation",
        "Err",
        "Panic",
        "Condition",
        "Throwable",
    ];
    const LOWER: [&str; 6] = [
        "timeout",
        "gaierror",
        "herror",
        "error",
        "system_error",
        "out_of_range",
    ];
    let named = ENDINGS.iter().any(|ending| last.ends_with(ending))
        && last.starts_with(|c: char| c.is_ascii_uppercase() || c == '_');
    // The class may stand in a bracket.
    let rest = line.strip_prefix('[').unwrap_or(line);
    let rest = rest.get(class.len()..).unwrap_or_default();
    // `module.Class: …` in Python may be called anything.
    let in_module = qualified
        && class.starts_with(|c: char| c.is_ascii_lowercase())
        && !class.contains(['/', '*', '&'])
        && last.starts_with(|c: char| c.is_ascii_uppercase())
        && last.contains(|c: char| c.is_ascii_lowercase())
        && rest.starts_with(": ");
    // So may one of Ruby's: `Shop::Gate::Denied`.
    let is_constant = |part: &str| {
        part.starts_with(|c: char| c.is_ascii_uppercase())
            && part.contains(|c: char| c.is_ascii_lowercase())
    };
    let in_ruby = class.contains("::")
        && class.split("::").all(is_constant)
        && (rest.is_empty() || rest == ":" || rest.starts_with(": "));
    // And one of Elixir's: `** (Shop.Gate.Denied) the badge is of no use`.
    let in_elixir = qualified && class.split('.').all(is_constant) && rest.starts_with(") ");
    let known = in_module
        || in_ruby
        || in_elixir
        || qualified
            && (LOWER.contains(&last)
                || class.starts_with("Errno::")
                || class.ends_with("queue.Empty")
                || class.ends_with("queue.Full"));
    // `Error:` alone and `Failure:` are headings.
    let heading = !qualified
        && matches!(last, "Failure" | "Failed" | "Error" | "Exit")
        && rest.trim_matches([':', ' ']).is_empty();
    ((named || known) && !heading).then_some(class)
}

/// Any name at the beginning of a line that is marked off as a class is.
fn named(line: &str) -> Option<&str> {
    static CLASS: LazyPattern = LazyPattern::new(CLASS_AT_HEAD);
    match plainly_named(line) {
        Ok(named) => named,
        Err(BeyondAscii) => Some(CLASS.captures(line)?.name("class")?.as_str()),
    }
}

const CLASS_AT_HEAD: &str = r"^(?:\[)?(?P<class>[*&]?(?:[A-Za-z_$][\w$]*(?:::|[.\\/$]))*[A-Za-z_$][\w$]*)(?: ?\[\w[^\]\n]*\])?(?: ?: |:?\s*$|\) |\]|\(| \{)";

/// Letters beyond ASCII decide, which the expression knows better.
#[derive(Debug, PartialEq, Eq)]
struct BeyondAscii;

/// What [`CLASS_AT_HEAD`] finds, by hand: it is asked of every line of every
/// failure, and of hardly any with success.
fn plainly_named(line: &str) -> Result<Option<&str>, BeyondAscii> {
    let bytes = line.as_bytes();
    // Past the end, as good as any byte that no rule here knows.
    let byte = |at: usize| bytes.get(at).copied().unwrap_or(0);
    let begins = |at: usize| byte(at).is_ascii_alphabetic() || matches!(byte(at), b'_' | b'$');
    let start = usize::from(byte(0) == b'[');
    let mut end = start + usize::from(matches!(byte(start), b'*' | b'&'));
    if !begins(end) {
        return Ok(None);
    }
    loop {
        while byte(end).is_ascii_alphanumeric() || matches!(byte(end), b'_' | b'$') {
            end += 1;
        }
        let between = match byte(end) {
            b':' if byte(end + 1) == b':' => 2,
            b'.' | b'\\' | b'/' => 1,
            beyond if !beyond.is_ascii() => return Err(BeyondAscii),
            _ => break,
        };
        if !begins(end + between) {
            break;
        }
        end += between;
    }
    let mut after = end;
    // `[ERR_ASSERTION]`
    let open = after + usize::from(byte(after) == b' ');
    if byte(open) == b'[' {
        let first = byte(open + 1);
        if !first.is_ascii() {
            return Err(BeyondAscii);
        }
        let inside = bytes.get(open + 2..).unwrap_or_default();
        if (first.is_ascii_alphanumeric() || first == b'_')
            && let Some(close) = memchr::memchr2(b']', b'\n', inside)
            && inside[close] == b']'
        {
            after = open + 2 + close + 1;
        }
    }
    let marked = match (byte(after), byte(after + 1), byte(after + 2)) {
        (b':', b' ', _) | (b' ', b':', b' ') | (b')', b' ', _) | (b']' | b'(', _, _) => true,
        (b' ', b'{', _) => true,
        _ => {
            let rest = &bytes[after + usize::from(byte(after) == b':')..];
            match rest.iter().find(|byte| !is_space(**byte)) {
                Some(beyond) if !beyond.is_ascii() => return Err(BeyondAscii),
                Some(_) => false,
                None => true,
            }
        }
    };
    Ok(marked.then(|| &line[start..end]))
}

/// As expressions have it.
fn is_space(byte: u8) -> bool {
    matches!(byte, b'\t'..=b'\r' | b' ')
}

#[cfg(test)]
mod tests {
    use super::{BeyondAscii, CLASS_AT_HEAD, class, heads, plainly_named};
    use proptest::prelude::*;
    use regex::Regex;
    use std::sync::LazyLock;

    static CLASS: LazyLock<Regex> = LazyLock::new(|| Regex::new(CLASS_AT_HEAD).unwrap());

    proptest! {
        #[test]
        fn by_hand_the_same_names_are_found_as_by_the_expression(
            line in r"[\[]?[*&]?([A-Za-z_$é1]{0,3}(::|[.\\/$: ])){0,3}[A-Za-z_$0-9é]{0,3}( ?\[[\w é\n]{0,3}\]?)?( ?: |:?[ \n\t\x0b]{0,2}|\) |\]|\(| \{|:)[a-zé \n]{0,3}"
        ) {
            let expected = CLASS
                .captures(&line)
                .map(|found| found.name("class").unwrap().as_str());
            match plainly_named(&line) {
                Ok(found) => prop_assert_eq!(found, expected),
                Err(BeyondAscii) => prop_assert!(!line.is_ascii()),
            }
            // Whatever the letters are.
            let _ = class(&line);
        }
    }

    #[test]
    fn a_class_in_a_bracket_is_one_whatever_its_letters_are() {
        assert_eq!(class("[shop.Menü] closed"), None);
        assert_eq!(class("[a.Bb: x"), class("a.Bb: x"));
        assert_eq!(class("[Error: "), None);
    }

    #[test]
    fn classes_of_every_language_are_found() {
        for (line, name) in [
            (
                "java.net.ConnectException: Connection refused",
                "java.net.ConnectException",
            ),
            (
                "System.Net.Http.HttpRequestException : No such host",
                "System.Net.Http.HttpRequestException",
            ),
            (
                "Errno::ECONNREFUSED: Connection refused",
                "Errno::ECONNREFUSED",
            ),
            (
                "PHPUnit\\Framework\\ExpectationFailedException",
                "PHPUnit\\Framework\\ExpectationFailedException",
            ),
            ("socket.timeout: timed out", "socket.timeout"),
            ("_queue.Empty", "_queue.Empty"),
            (
                "** (DBConnection.ConnectionError) tcp connect",
                "DBConnection.ConnectionError",
            ),
            ("AssertionError [ERR_ASSERTION]: 1 == 2", "AssertionError"),
            ("Uncaught TypeError: x is not a function", "TypeError"),
            (
                "failed on setup with \"RuntimeError: no seed\"",
                "RuntimeError",
            ),
            ("MemoryError", "MemoryError"),
            (
                "** (Shop.Gate.Denied) the badge is of no use",
                "Shop.Gate.Denied",
            ),
            (
                "com.acme.Stock$NoSpaceLeft: shelf 7",
                "com.acme.Stock$NoSpaceLeft",
            ),
        ] {
            assert_eq!(class(line), Some(name), "{line}");
        }
        for line in [
            "Expected: 3",
            "shop_test.go:12: got 1",
            "Error:",
            "Failure:",
            "Error Trace:",
            "the Error: is here",
            "dial tcp: refused",
        ] {
            assert_eq!(class(line), None, "{line}");
        }
    }

    #[test]
    fn the_innermost_cause_is_found_however_it_is_written() {
        for said in [
            "a.OuterException: x\nCaused by: a.MiddleException: y\nCaused by: InnerException: z",
            "System.AggregateException : x\n---- System.MiddleException : y\n-------- no\n---- InnerException: z",
            "OuterError: x\n  [cause]: InnerException: z {",
            "a.OuterException: x; nested exception is InnerException: z",
            "System.OuterException: x ---> InnerException: z",
            "OuterException: x\n\nCaused by\nInnerException: z",
        ] {
            let inner = heads(said).inner.map(|head| head.line);
            assert_eq!(inner.as_deref(), Some("InnerException: z"), "{said}");
        }
        assert_eq!(heads("Error: x").inner, None);
    }
}
