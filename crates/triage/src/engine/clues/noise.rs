//! What of a report is no statement about the failure: stacks, quoted source
//! code, what the program printed meanwhile, the names of tests.

use super::{frames, heads};
use crate::frameworks::{ENDS, PROGRESS};
use jelly_base::model::Failure;
use jelly_base::text::{LazyBytePattern, lines as lines_of};
use memchr::memmem::Finder;
use std::borrow::Cow;
use std::sync::LazyLock;

/// Shorter names are words of the language too.
const NAME: usize = 6;
/// Lines below a warning that may belong to it.
const MESSAGE: usize = 2;

/// The lines of `text` that say something.
///
/// Names of tests are never evidence: a test called `connection refused` may
/// fail for any reason.
pub(super) fn statements(text: &str, f: &Failure) -> String {
    if let Some(said) = pytest_says(text) {
        return said;
    }
    let mut kept = String::with_capacity(text.len().min(512));
    let mut in_traceback = false;
    let parts = members(text);
    let names = TestNames::of(text, f);
    let mut lines = lines_of(text).enumerate().peekable();
    while let Some((index, raw)) = lines.next() {
        let line = raw.trim_end();
        let bare = line.trim_start();
        if starts_appendix(bare) {
            break;
        }
        // Nearly all lines of most failures are these.
        if !in_traceback && bare.starts_with("at ") && frames::place(bare).is_some() {
            continue;
        }
        if bare.starts_with("Traceback (most recent call last)") {
            in_traceback = true;
            continue;
        }
        if in_traceback {
            // Places and source are indented, the exception is not.
            if raw.starts_with([' ', '\t']) || bare.is_empty() {
                continue;
            }
            in_traceback = false;
        }
        // tsc quotes the line with its number, and marks what is wrong below.
        let mut is_marked = || {
            lines.peek().is_some_and(|(_, next)| {
                next.contains('~') && next.bytes().all(|b| matches!(b, b'~' | b' '))
            })
        };
        if is_source(bare)
            || (bare.starts_with(|c: char| c.is_ascii_digit()) && is_marked())
            || is_progress(bare)
            || frames::place(line).is_some()
            || (index == 0 && is_title(bare, f))
            || (parts > 1 && bare.starts_with(['|', '+']))
        {
            continue;
        }
        if let Some(rest) = bare.strip_prefix("not ok ") {
            // TAP puts the test's name behind the number.
            let number: String = rest.chars().take_while(char::is_ascii_digit).collect();
            kept.push_str(&format!("not ok {number}\n"));
            continue;
        }
        // Perl says it once more below.
        let named = bare
            .trim_start_matches(['#', ' '])
            .strip_prefix("Failed test '");
        if let Some(named) = named.and_then(|rest| rest.strip_suffix('\''))
            && f.name.as_deref().is_some_and(|name| name.contains(named))
        {
            kept.push_str("# Failed test '…'\n");
            continue;
        }
        // RSpec quotes the line that failed.
        if bare
            .strip_prefix("Failure/Error:")
            .is_some_and(|code| !code.trim().is_empty())
        {
            continue;
        }
        // SoapUI puts the name of the failed step into a heading.
        let line = match bare.strip_prefix("<h3><b>") {
            Some(heading) => heading.split_once("</h3>").map_or(line, |(_, rest)| rest),
            None => line,
        };
        let line = names.without(without_number(line), index);
        kept.push_str(without_command(&line).as_ref());
        kept.push('\n');
    }
    kept.truncate(kept.trim_end().len());
    dedented(kept)
}

/// Without the indentation that all lines share, as Playwright gives to the
/// whole of what it says.
fn dedented(said: String) -> String {
    // Most of what is said begins at the margin.
    if !said.starts_with(char::is_whitespace) {
        return said;
    }
    let blank = |line: &str| line.trim().is_empty();
    let shared = lines_of(&said)
        .filter(|line| !blank(line))
        .map(|line| line.bytes().take_while(|&b| b == b' ').count())
        .min()
        .unwrap_or_default();
    if shared == 0 {
        return said;
    }
    said.lines()
        .map(|line| line.get(shared..).unwrap_or_default())
        .collect::<Vec<_>>()
        .join("\n")
}

/// What a server wrote, without warnings of something that it copes with: `WARNING metrics:
/// connection refused, metrics disabled`. One that names a variable may tell what a call lacks.
pub(in crate::engine) fn without_coped_with(text: &str) -> Cow<'_, str> {
    static COPES: LazyBytePattern = LazyBytePattern::new(
        r"(?i)\bwarn(?:ing)?\b.*\b(?:disabl(?:ed|ing)|falling back|continuing|going on|in-memory)\b|\b(?:falling|fell) back (?:to|on)\b|\bcontinuing without\b|\bport \d+ is (?:already )?in use\b[^\n.;]{0,40}[,;.]+ (?:trying|using) (?:another|the next|an? available|available|port|\d)",
    );
    // What takes the place of a variable is told.
    static HAS_VALUE: LazyBytePattern = LazyBytePattern::new(
        r"(?i)\bwarn(?:ing)?\b.*\b(?:not set|unset|missing)(?:[,;:.]| ?(?:[(-]|–|—))+ ?(?:so )?(?:using|defaulting to|assuming|falling back to) \S",
    );
    static VARIABLE: LazyBytePattern = LazyBytePattern::new(r"\b[A-Z][A-Z0-9]*_[A-Z0-9_]+\b");
    // `Using the tool without it is impossible` names nothing that takes its place.
    static ASKS: LazyBytePattern = LazyBytePattern::new(
        r"(?i)\b(?:using|assuming|defaulting to)\b.*\b(?:requires?|required|needs?|needed|fails?|without|impossible|cannot|can't|won't|not|must|please|until|unless)\b",
    );
    // What it fell back to may have failed, too: that is no more coped with.
    static ENDS: LazyBytePattern = LazyBytePattern::new(
        r"(?i)^\W*(?:\[?\d\S* ){0,2}\[?(?:error|fatal|critical)\b(?:[^a-z]|$)|\b(?:falling|fell) back\b.*\b(?:fail(?:ed|s|ure)?|refused|error)\b",
    );
    let is_coped = |line: &str| {
        let copes = COPES.is_match(line) && !VARIABLE.is_match(line);
        (copes || HAS_VALUE.is_match(line)) && !ENDS.is_match(line) && !ASKS.is_match(line)
    };
    if !["WARN", "Warn", "warn", " back ", "ontinuing", "in use"]
        .iter()
        .any(|word| text.contains(word))
        || !text.lines().any(is_coped)
    {
        return text.into();
    }
    let kept = text.split_inclusive('\n').filter(|line| !is_coped(line));
    kept.collect::<String>().into()
}

/// What a server wrote, without the warnings of Python about its libraries:
/// `path.py:10: DeprecationWarning: …`, and below it the line of source. They
/// are there whether it fails or not.
pub(super) fn without_warnings(text: &str) -> Cow<'_, str> {
    if !text.contains("Warning: ") {
        return text.into();
    }
    let mut kept = String::with_capacity(text.len());
    let mut lines = text.split_inclusive('\n').peekable();
    let mut more = 0;
    while let Some(line) = lines.next() {
        if is_warning(line) {
            more = MESSAGE;
            continue;
        }
        if more > 0 {
            more -= 1;
            if line.starts_with("  ") {
                more = 0;
                continue;
            }
            // A message may go on in sentences before the source comes.
            if !line.contains(':') && lines.peek().is_some_and(|next| next.starts_with("  ")) {
                continue;
            }
            more = 0;
        }
        kept.push_str(line);
    }
    kept.into()
}

fn is_warning(line: &str) -> bool {
    let mut parts = line.splitn(4, ':');
    let (Some(path), Some(number), Some(class), Some(_)) =
        (parts.next(), parts.next(), parts.next(), parts.next())
    else {
        return false;
    };
    path.ends_with(".py")
        && !number.is_empty()
        && number.bytes().all(|b| b.is_ascii_digit())
        && class.trim().ends_with("Warning")
        && !class.trim().contains(' ')
}

/// What pytest itself says in its report of a failure: the lines marked with
/// `E`. The others quote source code, of libraries too, which is full of words
/// that mean something elsewhere.
fn pytest_says(text: &str) -> Option<String> {
    static MARK: LazyLock<Finder<'_>> = LazyLock::new(|| Finder::new("\nE  "));
    if !text.starts_with("E  ") && MARK.find(text.as_bytes()).is_none() {
        return None;
    }
    let mut said = String::new();
    let mut apart = false;
    for line in lines_of(text) {
        if let Some(line) = line.strip_prefix("E  ") {
            // Exceptions that led to others stand in blocks of their own.
            if apart && !said.is_empty() {
                said.push('\n');
            }
            apart = false;
            said.push_str(line.trim());
            said.push('\n');
        } else {
            apart = true;
            if starts_appendix(line) {
                break;
            }
        }
    }
    (!said.is_empty()).then(|| said.trim_end().to_owned())
}

/// What was printed, and dumps of pages, stand at the end.
fn starts_appendix(line: &str) -> bool {
    ENDS.iter()
        .any(|(begin, within)| begins(line, begin) && line.contains(within))
}

/// Nearly every line is told by its first letter.
fn begins(line: &str, word: &str) -> bool {
    line.as_bytes().first() == word.as_bytes().first() && line.starts_with(word)
}

/// A line of source that the report quotes, or the mark below it.
fn is_source(line: &str) -> bool {
    let rest = line.strip_prefix('>').unwrap_or(line).trim_start();
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    if digits > 0 && rest[digits..].trim_start().starts_with(['|', '│']) {
        return true;
    }
    !line.is_empty()
        && line
            .bytes()
            .all(|b| matches!(b, b'^' | b'~' | b' ' | b'|' | b'-'))
        && line.contains(['^', '~'])
}

/// Lines that only say which test runs.
fn is_progress(line: &str) -> bool {
    PROGRESS.iter().any(|word| begins(line, word))
}

/// How many exceptions a group of Python holds.
fn members(text: &str) -> usize {
    static MARK: LazyLock<Finder<'_>> = LazyLock::new(|| Finder::new("Exception Group Traceback"));
    if MARK.find(text.as_bytes()).is_none() {
        return 0;
    }
    text.lines()
        .filter(|line| line.contains("+---------------- ") || line.contains("+-+---------------- "))
        .count()
}

/// A first line that only says which test it was.
fn is_title(line: &str, f: &Failure) -> bool {
    let named = |name: &Option<String>| {
        name.as_deref()
            .is_some_and(|name| !name.is_empty() && line.contains(name))
    };
    line.contains(" › ")
        // A sentence that quotes the name is none.
        || line.contains(" > ") && !line.contains('`') && named(&f.name)
        || {
        // `ShopTest::testTotal`, `testProv with data set #0`
        let first = line.split(' ').next().unwrap_or_default();
        first.contains("::")
            && !first.ends_with(':')
            && (line.contains(" with data set ") || named(&f.name))
            && !line.contains(": ")
    }
}

/// The names of a test, which reports put into what they say of it.
struct TestNames<'f> {
    failure: &'f Failure,
    /// Some line of the text tells of a panic, or of a test of bats.
    panicked: bool,
    of_bats: bool,
}

impl<'f> TestNames<'f> {
    fn of(text: &str, failure: &'f Failure) -> Self {
        static MARKS: LazyLock<[Finder<'_>; 2]> =
            LazyLock::new(|| ["panicked at", "@test"].map(Finder::new));
        let [panicked, of_bats] = MARKS
            .each_ref()
            .map(|mark| mark.find(text.as_bytes()).is_some());
        Self {
            failure,
            panicked,
            of_bats,
        }
    }

    /// The line without the name of the test where reports put it.
    fn without<'l>(&self, line: &'l str, index: usize) -> Cow<'l, str> {
        let tells =
            self.panicked && line.contains("panicked at") || self.of_bats && line.contains("@test");
        if index > 2 && !tells {
            return Cow::Borrowed(line);
        }
        let mut line = Cow::Borrowed(line);
        for name in [&self.failure.name, &self.failure.classname]
            .into_iter()
            .flatten()
        {
            if is_name(name) && line.trim() != name && line.contains(name.as_str()) {
                line = Cow::Owned(line.replace(name.as_str(), "…"));
            }
        }
        // `thread 'NAME' (123) panicked at src/lib.rs:1:2:`
        if self.panicked
            && let Some((head, rest)) = line.split_once(" panicked at ")
            && head.trim_start().starts_with("thread ")
        {
            line = Cow::Owned(format!("thread '…' panicked at {rest}"));
        }
        line
    }
}

/// What can't be a word or a sentence of the failure itself.
fn is_name(name: &str) -> bool {
    name.len() >= NAME
        && (name.contains(['_', ':', '(', '/', '[', '#', '.'])
            || name.bytes().skip(1).any(|b| b.is_ascii_uppercase()))
        && !name.ends_with("Exception")
        && !name.ends_with("Error")
}

/// `1) AssertionError: …` as the runners of browsers number what failed.
fn without_number(line: &str) -> &str {
    let bare = line.trim_start();
    let rest = bare.trim_start_matches(|c: char| c.is_ascii_digit());
    match rest.strip_prefix(") ") {
        Some(rest) if rest.len() + 2 < bare.len() && heads::class(rest).is_some() => rest,
        Some(_) | None => line,
    }
}

/// bats quotes the command that failed.
fn without_command(line: &str) -> Cow<'_, str> {
    let bare = line.trim_start();
    match bare
        .strip_prefix('`')
        .and_then(|rest| rest.rsplit_once("' failed"))
    {
        Some((_, end)) => format!("`…' failed{end}").into(),
        None => line.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::{statements, without_coped_with, without_warnings};
    use jelly_base::model::Failure;

    fn said(text: &str) -> String {
        statements(text, &Failure::default())
    }

    #[test]
    fn source_code_in_a_pytest_report_is_not_read() {
        let text =
            ">       if err != ECONNREFUSED:\nE       ValueError: no b\n\nx.py:1: ValueError";
        assert_eq!(said(text), "ValueError: no b");
        assert_eq!(said("Error: plain"), "Error: plain");
    }

    #[test]
    fn stacks_snippets_and_captured_output_are_dropped() {
        assert_eq!(
            said(
                "Error: boom\n\n  11 | await page.click('x') // timeout\n> 12 | refused()\n     | ^^^^\n    at a (/b.js:1:2)\n"
            ),
            "Error: boom"
        );
        assert_eq!(
            said(
                "Traceback (most recent call last):\n  File \"a.py\", line 1, in b\n    connect('refused')\nKeyError: 'a'\n"
            ),
            "KeyError: 'a'"
        );
        assert_eq!(
            said("it broke\n----- Captured stdout call -----\nconnection refused"),
            "it broke"
        );
        assert_eq!(
            said("(in test file a.bats, line 2)\n  `[ \"$out\" = \"timed out\" ]' failed"),
            "(in test file a.bats, line 2)\n`…' failed"
        );
    }

    #[test]
    fn the_name_of_the_test_is_not_read() {
        let f = Failure {
            name: Some("tests::connection_refused".into()),
            ..Failure::default()
        };
        assert_eq!(
            statements(
                "thread 'tests::connection_refused' (7) panicked at src/lib.rs:1:2:\nboom",
                &f
            ),
            "thread '…' panicked at src/lib.rs:1:2:\nboom"
        );
    }

    #[test]
    fn warnings_of_python_are_no_story_of_the_failure() {
        assert_eq!(
            without_warnings(
                "/a/jwt.py:10: JoseDeprecationWarning: use jose2.\nGone in 2.0.\n  import jose\nshop: set SHOP_URL\n"
            ),
            "shop: set SHOP_URL\n"
        );
        assert_eq!(
            without_warnings("/a.py:1: UserWarning: x\nError: boom\n  at a\n"),
            "Error: boom\n  at a\n"
        );
        assert_eq!(without_warnings("Warning: no disk\n"), "Warning: no disk\n");
        let refused = "WARNING shelf: metrics: connection refused, metrics disabled\nlost\n";
        assert_eq!(without_coped_with(refused), "lost\n");
        for coped in [
            "WARNING: SHELF_REGION not set, using eu-west-1\n",
            "WARNING: SHELF_KEY is missing - falling back to demo\n",
            "WARNING: SHELF_KEY not set (using default)\n",
            " ⚠ Port 3000 is in use by process 4711, using available port 3001 instead.\n",
            "Port 3000 is in use. Trying 3001...\n",
            "Port 3000 is in use, trying another one...\n",
        ] {
            assert_eq!(without_coped_with(&format!("{coped}lost\n")), "lost\n");
        }
        for kept in [
            "Port 3000 is in use\n",
            "Port 3000 is already in use. Try using a different port.\n",
            "Warning: SHELF_KEY is not set. Please set it before using this server.\n",
            "WARNING shelf: connection refused\n",
            "WARNING: SHELF_KEY is not set, search disabled\n",
            "connection refused, search disabled\n",
            "Error: falling back to replica db2 failed: connect ECONNREFUSED 10.0.0.9:5432\n",
            "replica: falling back to db2 failed\n",
        ] {
            assert_eq!(without_coped_with(kept), kept);
        }
    }
}
