//! What writers of reports put around what a failure says, and take from it: the class by
//! which testtools hands on what it only has as text, with the files beside it; documents of
//! TAP; one type for all; characters that were escaped twice.

use crate::frameworks::is_odd;
use crate::frameworks::spec::Oddity;
use jelly_base::model::Failure;
use jelly_base::text::LazyPattern;
use std::borrow::Cow;

/// How a traceback begins that testtools was handed as a text.
const AS_TEXT: &str = "testtools.testresult.real._StringException: ";

/// The failure without what its writer put around it.
pub(super) fn without_writer(failure: &Failure) -> Cow<'_, Failure> {
    if let Some(text) = failure.text.as_deref()
        && let Some(told) = text.trim_start().strip_prefix(AS_TEXT)
    {
        return Cow::Owned(of_testtools(failure, told));
    }
    if says_in_output(failure) {
        let mut said = failure.clone();
        said.text = said
            .system_out
            .take()
            .map(|output| without_warnings(&output).to_owned());
        return Cow::Owned(said);
    }
    if let Some(text) = failure.message.as_deref().and_then(of_tape) {
        return Cow::Owned(Failure {
            message: None,
            text: Some(text),
            ..failure.clone()
        });
    }
    let document = failure.text.as_deref().and_then(|text| {
        let of_tape = || thrown_in_tape(text);
        of_node_tap(text).or_else(|| of_ava(text)).or_else(of_tape)
    });
    if let Some(text) = document {
        return Cow::Owned(Failure {
            text: Some(text),
            ..failure.clone()
        });
    }
    let is_error = failure.element.as_deref() == Some("error");
    if let Some(text) = failure
        .text
        .as_deref()
        .filter(|_| is_error)
        .and_then(thrown_in_catch2)
    {
        return Cow::Owned(Failure {
            message: None,
            text: Some(text),
            ..failure.clone()
        });
    }
    if let Some(text) = failure.text.as_deref().and_then(without_wanted_of_node) {
        return Cow::Owned(Failure {
            text: Some(text),
            ..failure.clone()
        });
    }
    if let Some(class) = failure.text.as_deref().and_then(class_of_newman) {
        return Cow::Owned(Failure {
            type_: Some(class.to_owned()),
            ..failure.clone()
        });
    }
    if let Some(text) = escaped_twice(failure) {
        return Cow::Owned(Failure {
            text: Some(text),
            ..failure.clone()
        });
    }
    Cow::Borrowed(failure)
}

/// The text of an error of Catch2 2, which puts what was thrown below the condition and does not
/// call it so, in the words of Catch2 3.
fn thrown_in_catch2(text: &str) -> Option<String> {
    static THROWN: LazyPattern = LazyPattern::new(
        r"(?s)\A\s*FAILED:\n(  (?:CHECK|REQUIRE)\w*\( .+? \))\n(.+?)\n(at \S+:\d+)\s*\z",
    );
    const READ: usize = 8 << 10;
    let found = THROWN.captures(Some(text).filter(|text| text.len() <= READ)?)?;
    let (condition, said, place) = (&found[1], &found[2], &found[3]);
    let is_told = ["with expansion:", "due to ", "with message"].iter();
    let mut is_told = is_told.map(|words| said.trim_start().starts_with(words));
    (!is_told.any(|is| is)).then(|| {
        format!(
            "FAILED:\n{condition}\ndue to unexpected exception with message:\n  {said}\n{place}"
        )
    })
}

/// The text of an assertion of Node without the value that was wanted, as Node shows it among
/// the members of its error: an object, a pattern or an error, over as many lines as it has.
fn without_wanted_of_node(text: &str) -> Option<String> {
    static PLAIN: LazyPattern =
        LazyPattern::new(r#"\A(?:-?[\d.]+n?|true|false|null|undefined|'[^'\n]*'|"[^"\n]*"),?\z"#);
    if !text.contains("code: 'ERR_ASSERTION'") {
        return None;
    }
    let indent = |line: &str| line.len() - line.trim_start().len();
    let wanted = |line: &str| {
        let value = line.trim().strip_prefix("expected: ")?;
        (!PLAIN.is_match(value)).then(|| indent(line))
    };
    let mut kept = String::with_capacity(text.len());
    let mut within = None;
    for line in text.split_inclusive('\n') {
        let bare = line.trim();
        // The next member stands as far in, and what is behind them all less.
        let is_next = |within: usize| {
            let is_member = bare.split_once(": ").is_some_and(|(name, _)| {
                !name.is_empty() && name.chars().all(char::is_alphanumeric)
            });
            indent(line) < within || indent(line) == within && is_member
        };
        if within.is_some_and(is_next) {
            within = None;
        }
        if within.is_none() {
            within = wanted(line);
        }
        if within.is_none() {
            kept.push_str(line);
        }
    }
    (kept.len() < text.len()).then_some(kept)
}

/// Whether the output is all that tells of what failed, as CTest writes it.
fn says_in_output(failure: &Failure) -> bool {
    let writer = failure.dialect.as_ref();
    let message = failure.message.as_deref().unwrap_or_default();
    let is_silent = failure.text.is_none() && !message.trim().contains(char::is_whitespace);
    is_silent
        && failure.system_out.is_some()
        && writer.is_some_and(|writer| is_odd(writer, Oddity::SaysInOutput))
}

/// An output without the paragraphs of a compiler's warnings that it begins with.
fn without_warnings(output: &str) -> &str {
    let mut rest = output;
    while rest.starts_with("warning:")
        && let Some((_, after)) = rest.split_once("\n\n")
    {
        rest = after;
    }
    rest
}

/// Its details are files by name, and what failed is told behind them.
fn of_testtools(failure: &Failure, told: &str) -> Failure {
    static DETAIL: LazyPattern = LazyPattern::new(r"(?s)\A\s*([^\n{}]+?): \{\{\{(.*?)\}\}\}\n");
    let mut printed = failure.system_out.clone().unwrap_or_default();
    let mut rest = told;
    while let Some(detail) = DETAIL.captures(rest) {
        if !printed.is_empty() {
            printed.push('\n');
        }
        printed.push_str(detail[2].trim_matches('\n'));
        rest = &rest[detail[0].len()..];
    }
    let is_class = |class: &String| class.ends_with("_StringException");
    Failure {
        type_: failure.type_.clone().filter(|class| !is_class(class)),
        text: Some(rest.trim_start().to_owned()),
        system_out: Some(printed).filter(|printed| !printed.is_empty()),
        ..failure.clone()
    }
}

/// The document of node-tap without the source that it shows, which speaks of all that the
/// program may raise, and with the cause as others tell it.
fn of_node_tap(text: &str) -> Option<String> {
    const KEYS: [&str; 10] = [
        "actual:",
        "at:",
        "cause:",
        "code:",
        "compare:",
        "diff:",
        "expected:",
        "message:",
        "stack:",
        "type:",
    ];
    if !text.trim_start().starts_with("---") || !text.contains("source: ") {
        return None;
    }
    let mut told = String::new();
    let mut in_source = false;
    for line in text.lines() {
        let bare = line.trim_start();
        in_source = bare.starts_with("source: ")
            || in_source && bare != "..." && !KEYS.iter().any(|key| bare.starts_with(key));
        if in_source {
            continue;
        }
        match bare.strip_prefix("cause: ").and_then(cause_of_node_tap) {
            Some(cause) => told.push_str(&cause),
            None => told.push_str(line),
        }
        told.push('\n');
    }
    Some(told)
}

fn cause_of_node_tap(document: &str) -> Option<String> {
    let cause: serde_json::Value = serde_json::from_str(document).ok()?;
    let said = cause["message"].as_str()?;
    let class = cause["name"].as_str().unwrap_or("Error");
    let mut told = format!("Caused by: {class}: {said}");
    for frame in cause["stack"].as_str().unwrap_or_default().lines() {
        told.push_str("\n    at ");
        told.push_str(frame.trim());
    }
    Some(told)
}

/// The document of tape that a writer put on one line, as it was before.
fn of_tape(message: &str) -> Option<String> {
    const KEYS: [&str; 4] = [" expected: ", " actual: ", " at: ", " stack: "];
    if !message.starts_with("operator: ") || message.contains('\n') || !message.contains("stack: ")
    {
        return None;
    }
    let mut told = message.to_owned();
    for key in KEYS {
        told = told.replacen(key, &format!("\n{}", key.trim_start()), 1);
    }
    // A line of a stack is indented.
    let told = told.replace("     at ", "\n    at ");
    Some(thrown_in_tape(&told).unwrap_or(told))
}

/// The error that tape tells where it wanted none.
fn thrown_in_tape(text: &str) -> Option<String> {
    let wants_none = ["operator: error\n", "operator: ifError\n"];
    if !wants_none.iter().any(|operator| text.contains(operator)) {
        return None;
    }
    let (_, stack) = text.split_once("stack: ")?;
    Some(stack.trim_start_matches(['|', '-', ' ', '\n']).to_owned())
}

/// The error that ava tells as the value of a test that threw it, as others tell theirs.
fn of_ava(text: &str) -> Option<String> {
    static DETAILS: LazyPattern = LazyPattern::new(
        r#"(?m)^\s*details: (\{"(?:Error thrown in test|Rejected promise returned by test\. Reason):":[^\n]*\})\s*$"#,
    );
    static ERROR: LazyPattern =
        LazyPattern::new(r"(?s)\A(\w+) \{(.*?)\n  message: [`'](.*?)[`'],\n");
    if !text.contains("details: {\"") {
        return None;
    }
    let details = DETAILS.captures(text)?;
    let details: serde_json::Value = serde_json::from_str(&details[1]).ok()?;
    let value = details.as_object()?.values().next()?.as_str()?;
    let error = ERROR.captures(value)?;
    let said = error[3].replace("\\'", "'").replace('␊', "");
    // What a client keeps of the answer tells more than what it made of it.
    let status = error[2].split_once("httpStatusCode: ");
    let status = status.and_then(|(_, rest)| rest.split([',', '\n']).next());
    let mut told = match status {
        Some(status) => format!("{}: status {status}: {said}", &error[1]),
        None => format!("{}: {said}", &error[1]),
    };
    let place = text
        .lines()
        .find_map(|line| line.trim_start().strip_prefix("at: "));
    if let Some(place) = place.filter(|place| place.contains(':')) {
        told.push_str("\n    at ");
        told.push_str(place.trim());
    }
    Some(told)
}

/// The class of what a script of Newman's threw, where that is no assertion: its type is
/// the same for all.
fn class_of_newman(text: &str) -> Option<&str> {
    if !text.contains("Collection JSON ID: ") {
        return None;
    }
    let (_, stack) = text.split_once("Stacktrace: ")?;
    let (class, _) = stack.split_once(": ")?;
    let is_class = class.ends_with("Error") && class.bytes().all(|b| b.is_ascii_alphabetic());
    (is_class && class != "AssertionError").then_some(class)
}

/// The text as it was before it was escaped a second time: it holds the message then.
fn escaped_twice(failure: &Failure) -> Option<String> {
    let (message, text) = (failure.message.as_deref()?, failure.text.as_deref()?);
    let message = message.lines().next()?.trim();
    if message.is_empty() || !text.contains("&") || text.contains(message) {
        return None;
    }
    let mut plain = text.to_owned();
    for (escaped, character) in [
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&quot;", "\""),
        ("&#x27;", "'"),
        ("&#39;", "'"),
        ("&apos;", "'"),
        ("&amp;", "&"),
    ] {
        plain = plain.replace(escaped, character);
    }
    plain.contains(message).then_some(plain)
}

#[cfg(test)]
mod tests {
    use super::without_writer;
    use jelly_base::model::Failure;

    #[test]
    fn what_node_shows_of_the_wanted_object_is_no_word_of_the_failure() {
        let failure = Failure {
            text: Some("AssertionError [ERR_ASSERTION]: x\n  code: 'ERR_ASSERTION',\n  actual: { code: 'ERR_INVALID_URL' },\n  expected: { code: 'ECONNREFUSED' },\n  operator: 'rejects'\n".into()),
            ..Failure::default()
        };
        let read = without_writer(&failure);
        let text = "AssertionError [ERR_ASSERTION]: x\n  code: 'ERR_ASSERTION',\n  actual: { code: 'ERR_INVALID_URL' },\n  operator: 'rejects'\n";
        assert_eq!(read.text.as_deref(), Some(text));
    }

    #[test]
    fn what_catch2_puts_below_a_condition_is_what_was_thrown() {
        let error = |text: &str| Failure {
            element: Some("error".into()),
            message: Some("midi(\"Bb3\") == 58".into()),
            text: Some(text.into()),
            ..Failure::default()
        };
        let thrown =
            error("\nFAILED:\n  CHECK( midi(\"Bb3\") == 58 )\nstoi\nat tests/note_test.cpp:9\n");
        let told = "FAILED:\n  CHECK( midi(\"Bb3\") == 58 )\ndue to unexpected exception with message:\n  stoi\nat tests/note_test.cpp:9";
        let read = without_writer(&thrown);
        assert_eq!(
            (read.message.as_deref(), read.text.as_deref()),
            (None, Some(told))
        );
        for text in [
            told,
            "FAILED:\n  CHECK( a == 58 )\nwith expansion:\n  57 == 58\nat tests/note_test.cpp:9",
        ] {
            assert_eq!(without_writer(&error(text)).text.as_deref(), Some(text));
        }
    }

    #[test]
    fn a_traceback_that_was_handed_on_as_text_is_read_as_one() {
        let failure = Failure {
            type_: Some("testtools.testresult.real._StringException".into()),
            text: Some(
                "testtools.testresult.real._StringException: bridge.log: {{{retry 3\nfailed}}}\n\n\
                 Traceback (most recent call last):\nValueError: no"
                    .into(),
            ),
            ..Failure::default()
        };
        let read = without_writer(&failure);
        assert_eq!(read.type_, None);
        let text = "Traceback (most recent call last):\nValueError: no";
        assert_eq!(read.text.as_deref(), Some(text));
        assert_eq!(read.system_out.as_deref(), Some("retry 3\nfailed"));
    }

    #[test]
    fn the_source_that_node_tap_shows_says_nothing() {
        let text = "---\n  type: PayError\n  source: const a = 'EACCES';\n--^\n// EACCES\n\n  \
                    cause: {\"stack\":\"pay (lib/pay.js:9:5)\\n\",\"source\":\"EACCES\",\
                    \"message\":\"key is used\"}\n  ...";
        let failure = Failure {
            text: Some(text.into()),
            ..Failure::default()
        };
        let read = without_writer(&failure);
        let wanted = "---\n  type: PayError\nCaused by: Error: key is used\n    \
                      at pay (lib/pay.js:9:5)\n  ...\n";
        assert_eq!(read.text.as_deref(), Some(wanted));
    }

    #[test]
    fn tape_is_read_as_it_was_before_it_was_put_on_one_line() {
        let of = |message: &str| Failure {
            message: Some(message.into()),
            ..Failure::default()
        };
        let failure = of(
            "operator: error at: Test.<anonymous> (/a.js:6:9) stack: Error: Command \
                          failed: pdf a /bin/sh: 1: pdf: not found      at f (node:x:1:1)     \
                          at Test.<anonymous> (/a.js:6:9)",
        );
        let read = without_writer(&failure);
        let wanted = "Error: Command failed: pdf a /bin/sh: 1: pdf: not found \n    \
                      at f (node:x:1:1)\n    at Test.<anonymous> (/a.js:6:9)";
        assert_eq!(read.text.as_deref(), Some(wanted));
        assert_eq!(read.message, None);
    }

    #[test]
    fn what_ava_was_thrown_is_read_as_thrown() {
        let text = "---\n  name: AssertionError\n  details: {\"Error thrown in test:\":\"TypeError \
                    {\\n  message: 'no \\\\'a\\\\'',\\n}\"}\n  message: Error thrown in test\n  \
                    at: parse (/srv/src/a.js:3:59)\n  ...";
        let failure = Failure {
            text: Some(text.into()),
            ..Failure::default()
        };
        let read = without_writer(&failure);
        let wanted = "TypeError: no 'a'\n    at parse (/srv/src/a.js:3:59)";
        assert_eq!(read.text.as_deref(), Some(wanted));
    }

    #[test]
    fn what_was_escaped_twice_is_read_once_more() {
        let of = |message: &str, text: &str| Failure {
            message: Some(message.into()),
            text: Some(text.into()),
            ..Failure::default()
        };
        let failure = of(
            "reading 'a'",
            "TypeError: reading &#x27;a&#x27;\n at &lt;x&gt;",
        );
        let read = without_writer(&failure);
        assert_eq!(
            read.text.as_deref(),
            Some("TypeError: reading 'a'\n at <x>")
        );
        // A page that is compared keeps its own.
        let page = of("expected a", "expected a, got &lt;p&gt;");
        assert_eq!(without_writer(&page).text, page.text);
    }
}
