//! An exception that a line of the product raised, told by tests that failed of it in
//! other words: one that caught it and raised its own, one that asserts that there is none.

use super::lacks::{Subject, SubjectKind};
use crate::engine::{failing_line, stumbled};
use jelly_base::model::{Failure, FailureView};
use jelly_base::text::LazyPattern;
use std::collections::{BTreeSet, HashMap};

/// Bytes of a stack that are read for the line of the product.
const STACK: usize = 16 << 10;
/// How the JVM begins the cause of an exception.
const CAUSED_BY: &str = "Caused by: ";

/// Root causes of failures in which another's exception may be told.
const TELLERS: [&str; 5] = [
    "assertion_mismatch",
    "code_exception",
    "expected_error",
    "internal_error",
    "unknown",
];

/// The exception that a failure tells as the cause of its own, or in place of a value.
pub(super) fn raised_within(failure: &Failure, root_cause: &str) -> Option<Subject> {
    if !TELLERS.contains(&root_cause) {
        return None;
    }
    let texts = [&failure.text, &failure.message];
    let mut texts = texts.into_iter().flatten();
    texts.find_map(|text| {
        let chain = || inner(failure.message.as_deref().unwrap_or_default(), text);
        let (said, stack) = innermost(text).or_else(|| shown(text)).or_else(chain)?;
        of_stack(failure, said, stack)
    })
}

/// The exceptions that the outputs of a test tell with their stacks, as a server logs or
/// answers them; of a test that was answered with an error.
pub(super) fn raised_in_outputs(failure: &Failure) -> BTreeSet<Subject> {
    static RAISED: LazyPattern =
        LazyPattern::new(r#"(?m)(?:^|[\s"(])([A-Za-z_][\w.$]*(?:Exception|Error)) ?: ?[^\n]*"#);
    let outputs = [&failure.system_out, &failure.system_err];
    let mut found = BTreeSet::new();
    for output in outputs.into_iter().flatten() {
        let end = output.floor_char_boundary(LOG.min(output.len()));
        // The document of an answer has its stack on one line.
        let output = output[..end].replace("\\n", "\n").replace("\\t", "\t");
        let told = RAISED.find_iter(&output);
        for said in told.take(RAISED_IN_ONE) {
            let stack = &output[said.start()..];
            found.extend(of_stack(failure, said.as_str().trim_start(), stack));
        }
        let told = tracebacks(&output).take(RAISED_IN_ONE);
        found.extend(told.filter_map(|(said, stack)| of_stack(failure, said, stack)));
    }
    found
}

/// The tracebacks of Python, which tell the exception behind its stack.
fn tracebacks(output: &str) -> impl Iterator<Item = (&str, &str)> {
    const HEAD: &str = "Traceback (most recent call last):";
    output.match_indices(HEAD).filter_map(|(at, _)| {
        let told = &output[at..];
        let mut end = HEAD.len();
        let mut lines = told[HEAD.len()..].split_inclusive('\n');
        let said = lines.find(|line| {
            end += line.len();
            !line.trim().is_empty() && !line.starts_with(' ')
        })?;
        Some((said.trim_end(), &told[..end]))
    })
}

/// Bytes of an output that are read for exceptions, and exceptions of it.
const LOG: usize = 32 << 10;
const RAISED_IN_ONE: usize = 4;

fn of_stack(failure: &Failure, said: &str, stack: &str) -> Option<Subject> {
    let end = stack.floor_char_boundary(STACK.min(stack.len()));
    let of_stack = Failure {
        dialect: failure.dialect.clone(),
        classname: failure.classname.clone(),
        text: Some(stack[..end].to_owned()),
        ..Failure::default()
    };
    subject(&failing_line(&of_stack)?, said)
}

/// The class that could not be initialized: the first that asks for it is told why, and all others
/// that it is so.
pub(super) fn initializer(text: &str) -> Option<Subject> {
    static NAMED: LazyPattern = LazyPattern::new(r"\bCould not initialize class ([\w.$]+)");
    static STACK: LazyPattern = LazyPattern::new(r"(?m)^\s*at (?:\S+//?)?([\w.$]+)\.<clinit>\(");
    let named = NAMED.captures(text);
    let failed = || {
        let is_first = text.contains("ExceptionInInitializerError");
        STACK.captures(text).filter(|_| is_first)
    };
    let class = named.or_else(failed)?;
    Some(Subject::new(SubjectKind::Initializer, &class[1]))
}

/// The exception that a failure has itself, at the line at which it failed.
pub(super) fn raised_by(
    view: &FailureView<'_>,
    failed_at: &HashMap<String, String>,
) -> Option<Subject> {
    // What came in place of an error that a test wants was raised by the same line.
    if !["code_exception", "expected_error"].contains(&view.kind.root_cause.as_str()) {
        return None;
    }
    let place = failed_at.get(view.fingerprint)?;
    let said = view.evidence.map(|(_, text)| text).or(view.message)?;
    subject(place, said)
}

fn subject(place: &str, said: &str) -> Option<Subject> {
    let stumble = stumbled(ending(place), said)?;
    Some(Subject::new(SubjectKind::Raised, &stumble.key()?))
}

/// A path with one folder: a log has whole paths, and a report those of its project.
fn ending(place: &str) -> &str {
    let is_slash = |c: char| matches!(c, '/' | '\\');
    let mut slashes = place.rmatch_indices(is_slash);
    match (slashes.next(), slashes.next()) {
        (Some(_), Some((at, _))) => &place[at + 1..],
        _ => place,
    }
}

/// The innermost cause of a chain, and the stack from there.
fn innermost(text: &str) -> Option<(&str, &str)> {
    let at = text.rfind(CAUSED_BY)?;
    let stack = text.get(at + CAUSED_BY.len()..)?;
    Some((stack.lines().next()?, stack))
}

/// The innermost exception of .NET, which tells all of a chain first and their stacks behind.
fn inner<'t>(message: &'t str, text: &'t str) -> Option<(&'t str, &'t str)> {
    const STACK: &str = "----- Inner Stack Trace -----";
    let at = text.rfind(STACK)?;
    let said = message
        .lines()
        .rev()
        .find_map(|line| line.strip_prefix("---- "))?;
    Some((said, text[at + STACK.len()..].trim_start()))
}

/// The exception that an assertion shows as what came, and the stack behind it.
fn shown(text: &str) -> Option<(&str, &str)> {
    static SHOWN: LazyPattern = LazyPattern::new(
        r"(?:\bActual: +|\bgot:? #?<?|\bbut was:? <?|\bthrown: |\bthrew |\braised )([A-Za-z_][\w.:$]*(?:Exception|Error)\b[^\n]*)",
    );
    let said = SHOWN.captures(text)?.get(1)?;
    let stack = text.get(said.start()..)?;
    let said = said.as_str();
    let end = said.find("> with backtrace").unwrap_or(said.len());
    Some((&said[..end], stack))
}

#[cfg(test)]
mod tests {
    use super::{raised_in_outputs, raised_within};
    use jelly_base::model::Failure;

    fn within(text: &str, root_cause: &str) -> Option<String> {
        let failure = Failure {
            text: Some(text.into()),
            ..Failure::default()
        };
        let subject = raised_within(&failure, root_cause);
        subject.map(|subject| subject.name.into_string())
    }

    #[test]
    fn the_innermost_cause_is_told_with_its_line() {
        let chain = "com.acme.RenderException: page 7 could not be rendered\n\
                     \tat com.acme.Renderer.render(Renderer.java:9)\n\
                     Caused by: java.lang.NullPointerException: x is null\n\
                     \tat com.acme.Prices.gross(Prices.java:8)\n\
                     \tat com.acme.Renderer.render(Renderer.java:6)\n\t... 9 more";
        let wanted = "acme/Prices.java:8 java.lang.NullPointerException";
        assert_eq!(within(chain, "code_exception").as_deref(), Some(wanted));
        assert_eq!(within(chain, "connection_refused"), None);
    }

    #[test]
    fn an_assertion_shows_what_came_in_place_of_nothing() {
        let shown = "expected no Exception, got #<RangeError: 9 is beyond the week> with backtrace:\n  # ./app/week.rb:5:in `day'\n  # ./spec/week_spec.rb:3:in `block'";
        let told = within(shown, "unknown").unwrap();
        assert!(told.starts_with("app/week.rb:5 RangeError"), "{told}");
        // A line of a test is no line of the product.
        let own = "expected no Exception, got #<RangeError: 9> with backtrace:\n  # ./spec/week_spec.rb:3:in `block'";
        assert_eq!(within(own, "unknown"), None);
    }

    #[test]
    fn a_log_tells_where_the_server_raised_what_it_answered_with() {
        let log = "ERROR GET /due\nTraceback (most recent call last):\n  File \"/tmp/ci-88213/shop/app/api.py\", line 17, in get\n    return call()\n  File \"/tmp/ci-88213/shop/app/dates.py\", line 5, in parse_day\n    day, month, year = text.split(\".\")\nValueError: not enough values to unpack (expected 3, got 1)\nINFO done\n";
        let failure = Failure {
            dialect: Some("pytest".into()),
            system_out: Some(log.into()),
            ..Failure::default()
        };
        let told: Vec<_> = raised_in_outputs(&failure).into_iter().collect();
        let names: Vec<&str> = told.iter().map(|one| &*one.name).collect();
        assert_eq!(names.len(), 1, "{names:?}");
        assert!(
            names[0].starts_with("app/dates.py:5 ValueError"),
            "{names:?}"
        );
    }
}
