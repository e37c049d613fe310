//! The texts of a failure in a test report.

use super::answered_badly::words_beside;
use super::compared::without_compared;
use super::expected::of_expectation;
use super::heads::{self, ErrorHead, Heads, is_programming_error};
use super::masked::quoted;
use super::noise::statements;
use super::nothing::says_nothing;
use super::origin::{Origin, origin};
use super::own_message::{tells_of_no_answer, tells_of_system};
use super::roots::root_lines;
use super::slice::{List, readable};
use super::wrapped::{
    ended_by_mistake, instead_of_none, is_assertion, tells_of_program, unwrapped,
};
use crate::engine::field::Field;
use crate::engine::system_names::names_system;
use crate::frameworks::spec::Oddity;
use crate::frameworks::{HOOKS, is_odd};
use jelly_base::model::Failure;
use jelly_base::text::LazyBytePattern;
use memchr::memrchr3;
use std::borrow::Cow;

/// From the most telling: the innermost cause, the message, the whole text,
/// what was printed.
pub(super) fn report<'a>(list: &mut List<'a>, f: &'a Failure) {
    let says = |text: &String| statements(&without_compared(&readable(text)), f);
    // pytest cuts a long one off, and says that the text has all of what the program wrote.
    let is_whole = |message: &&String| {
        let is_cut = message.trim_end().ends_with("full report in element text]");
        !is_cut || f.text.is_none() || !tells_of_program(message)
    };
    let message = f.message.as_ref().filter(is_whole).map(says);
    let text = f.text.as_ref().map(says);
    // Where it came from tells something, too.
    let is_nothing = |said: &str| {
        is_bare_class(said)
            || says_nothing(said) && matches!(origin(f), Origin::Unknown | Origin::Trimmed)
    };
    let mut compares_nothing = false;
    let mut empty = true;
    // Mostly the text is the message with a stack. Then it says nothing that
    // was not said.
    let text = text.filter(|text| message.as_ref() != Some(text));
    for (name, said, raw, rank) in [
        ("message", message, &f.message, 1),
        ("text", text, &f.text, 2),
    ] {
        let says = |said: &String| !said.trim().is_empty() && !is_nothing(said.trim());
        let Some(said) = said.filter(says) else {
            continue;
        };
        // What the message tells as another tool's error, the text says with its stack.
        let message = f.message.as_deref().map(str::trim).unwrap_or_default();
        let is_again = || !message.is_empty() && said.contains(message) || asserts_in_fixture(f);
        if compares_nothing && name == "text" && is_again() {
            continue;
        }
        if never_answered(&said, f) || never_came_up(&said, f) {
            compares_nothing = true;
            continue;
        }
        empty &= exits_only(&said, f);
        let typed = f.type_.as_deref().is_some_and(is_assertion_class) || of_minitest(f);
        let of_none = || instead_of_none(&readable(raw.as_deref()?), f).map(Cow::Owned);
        let beside = || {
            let words = words_beside(&readable(raw.as_deref()?), |text| statements(text, f));
            words.map(Cow::Owned)
        };
        // What a program complained of before it went on is not why it ended.
        let mistaken = raw.as_deref().is_some_and(ended_by_mistake);
        let begins_with_mistake =
            |said: &str| heads::class(said.trim_start()).is_some_and(is_programming_error);
        let told = unwrapped(&said, typed).or_else(of_none).or_else(beside);
        if name == "message" && told.is_some() && has_chain_of(f, &said) {
            continue;
        }
        match told.filter(|inner| !mistaken || begins_with_mistake(inner)) {
            Some(inner) => {
                compares_nothing = true;
                if wanted_no_error(&said) && !names_system(&inner) {
                    list.mark(name, "(wanted no error)", first_said(f));
                }
                statement(list, name, &inner, rank);
            }
            None => {
                let class = heads::first_class(&said);
                let of_type = || f.type_.as_deref().and_then(heads::first_class);
                let is_error = |class: Option<&str>| class.is_some_and(is_programming_error);
                // What a programming error quotes is what the program stumbled
                // over, as a parser does over a page that says `502`.
                if is_error(class) || is_error(of_type()) {
                    // A single word is a name, as of a variable that is not set.
                    // `getpwuid(): uid not found: 1001` is what a call says itself.
                    let text = |value: &str| value.contains([' ', '<']) && !begins_with_call(value);
                    statement(list, name, &quoted(&said, text), rank);
                } else {
                    let heads = heads::heads_of(&said, class.is_some());
                    with_heads(list, name, heads, &said, rank);
                }
            }
        }
    }
    let typed = |type_: &&str| {
        tells(type_, f)
            && !(compares_nothing && is_assertion_class(type_))
            && !(empty && is_bare_class(type_))
    };
    if let Some(type_) = f.type_.as_deref().filter(typed) {
        list.whole(Field::Report, "type", Cow::Borrowed(type_), 0);
        let class = heads::class(type_).or_else(|| thrown_by_name(type_, f).then_some(type_));
        if let Some(class) = class {
            let line = match f.message.as_deref().and_then(|m| m.trim().lines().next()) {
                Some(line) if !line.contains(class) => format!("{class}: {line}"),
                Some(line) => line.to_owned(),
                None => class.to_owned(),
            };
            list.class("type", class.to_owned(), line, 1);
        }
    }
    if let Some(name) = &f.name {
        list.whole(Field::Title, "name", Cow::Borrowed(name), 2);
    }
    if asserts_in_fixture(f) && !compares_nothing {
        list.mark("message", "(asserted in a fixture)", first_said(f));
    }
    if let Some(told) = of_expectation(f) {
        list.mark("text", told, first_said(f));
    }
    if in_hook(f) {
        list.mark("text", "(hook)", first_said(f));
    }
    if answered_by_own(f) {
        list.mark(
            "text",
            "(the program under test answered 500)",
            first_said(f),
        );
    }
    if ended_by_timer(f) {
        list.mark("text", "(ended by the runner's timer)", first_said(f));
    }
    if waited_for_network(f) {
        list.mark("text", "(timed out within a client)", first_said(f));
    }
    if parses_own_file(f) {
        list.mark("text", "(parses a file of the test)", first_said(f));
    }
    if let Some(wanted) = wanted_by_condition(f) {
        list.mark("text", wanted, first_said(f));
    }
    // Writers that put nothing into the element put all into the output.
    let start = list.texts.len();
    for (name, printed, rank) in [
        ("system_err", &f.system_err, 3),
        ("system_out", &f.system_out, 4),
    ] {
        let Some(printed) = printed else { continue };
        if empty {
            statement(list, name, &says(printed), rank);
        }
        list.with_roots(Field::Log, name, printed, rank);
    }
    for text in &mut list.texts[start..] {
        text.reserve = text.field == Field::Log;
    }
}

/// Whether the text repeats what the message says, and tells below of what that came.
fn has_chain_of(f: &Failure, said: &str) -> bool {
    let text = f.text.as_deref().unwrap_or_default();
    let repeated = text.find(said.trim());
    repeated.is_some_and(|at| text[at..].contains("\nCaused by: "))
}

/// Whether a type is a class of the product's, whatever it is called, by its namespace or by
/// the frames right below it, and the text tells that it was thrown.
fn thrown_by_name(type_: &str, f: &Failure) -> bool {
    let is_name = |c: char| c.is_alphanumeric() || "._:\\".contains(c);
    let is_qualified = type_.contains(['\\', '.', ':']);
    // Two words in one are no word of a writer's.
    let is_two = || type_.matches(char::is_uppercase).count() > 1;
    let is_class = (is_qualified || is_two())
        && type_.chars().all(is_name)
        && type_.rsplit(['\\', '.', ':']).next().is_some_and(|last| {
            last.starts_with(char::is_uppercase) && last.contains(char::is_lowercase)
        });
    let text = f.text.as_deref().unwrap_or_default();
    let mut lines = text.lines().map(str::trim_start).peekable();
    while let Some(line) = lines.next() {
        let is_told = line
            .strip_prefix(type_)
            .is_some_and(|rest| rest.starts_with(": "));
        let is_frame = |next: &&str| next.starts_with("at ") || next.starts_with("❯ ");
        if is_class && is_told && (is_qualified || lines.peek().is_some_and(is_frame)) {
            return true;
        }
    }
    false
}

/// Whether Minitest says that an assertion failed: its type is the test's own name.
fn of_minitest(f: &Failure) -> bool {
    let text = f.text.as_deref().unwrap_or_default();
    text.trim_start().starts_with("Failure:\n") && f.name == f.type_
}

/// The first line of what a failure says, but for a word that only tells that it failed.
fn first_said(f: &Failure) -> String {
    let said = [&f.message, &f.text].into_iter().flatten();
    let said = said.map(|text| statements(&readable(text), f).trim().to_owned());
    let mut lines = said.filter_map(|said| said.lines().next().map(str::to_owned));
    lines.find(|line| line.contains(' ')).unwrap_or_default()
}

/// Whether an assertion of Go's libraries wanted no error at all.
fn wanted_no_error(said: &str) -> bool {
    said.contains("Received unexpected error:")
        || said.contains("Unexpected error:")
        || said.contains("_test.go:") && said.contains(" unexpected error: ")
}

/// Whether the status of an answer that never came is compared, where the log
/// tells why, as Newman has it.
fn never_answered(said: &str, f: &Failure) -> bool {
    static STATUS: LazyBytePattern = LazyBytePattern::new(
        r#"(?i)\bstatus\b[^\n]{0,60}\b(?:got|was|received|found) ['"]?undefined\b"#,
    );
    // What it asks of the body of an answer that never came is as little compared.
    let tests_answers = || {
        f.dialect
            .as_deref()
            .is_some_and(|writer| is_odd(writer, Oddity::TestScripts))
    };
    let log = f.system_err.as_deref().unwrap_or_default();
    let of_body = tells_of_no_answer(said, log) && tests_answers();
    let tells = |printed: &String| tells_of_system(printed) || printed.contains("certificate");
    [&f.system_err, &f.system_out]
        .into_iter()
        .flatten()
        .any(tells)
        && (of_body || STATUS.is_match(said))
}

/// Whether a test says in its own words that something did not come up, and its output
/// which error of the system kept it: no value is compared.
fn never_came_up(said: &str, f: &Failure) -> bool {
    static WAITED: LazyBytePattern = LazyBytePattern::new(
        r"(?i)\A\s*(?:(?:[\w.]*AssertionError|Failed|Error): )?[^\n:=]{1,60}\b(?:did not|didn't|never|has not|was not|is not|failed to) (?:come up|came up|start(?:ed)?(?: up)?|(?:become|became|get|got) (?:ready|available|healthy)|ready|healthy|running|reachable|up)\b[^\n=]{0,40}\s*\z",
    );
    let printed = [&f.system_err, &f.system_out];
    WAITED.is_match(said)
        && printed
            .into_iter()
            .flatten()
            .any(|log| tells_of_system(log))
}

/// Whether all that is said is how the program ended, as Bazel and Perl's TAP
/// do of a test whose story is the log.
fn exits_only(said: &str, f: &Failure) -> bool {
    let died = said.trim_end().ends_with("The test died prematurely.");
    // Perl's harness tells the status alone.
    if died
        || said.trim_start().starts_with("Dubious, test returned ") && !said.trim().contains('\n')
    {
        return true;
    }
    let can_be = || {
        f.dialect
            .as_deref()
            .is_some_and(|writer| is_odd(writer, Oddity::ExitCodeOnly))
    };
    said.trim()
        .strip_prefix("exited with error code ")
        .is_some_and(|code| code.bytes().all(|byte| byte.is_ascii_digit()))
        && can_be()
}

/// Robot Framework types everything `AssertionError`, and some writers put
/// the test's own name there.
fn tells(type_: &str, f: &Failure) -> bool {
    let of_one_type = f
        .dialect
        .as_deref()
        .is_some_and(|writer| is_odd(writer, Oddity::OneType));
    // Its reports are known by little, and have no text behind the message.
    let says = |text: &Option<String>| text.as_deref().is_some_and(|text| !text.trim().is_empty());
    let like_robot = type_ == "AssertionError" && says(&f.message) && !says(&f.text);
    !of_one_type && !like_robot && f.name.as_deref() != Some(type_)
}

fn is_assertion_class(type_: &str) -> bool {
    type_.contains("Assert")
        || type_.contains("Expectation")
        || type_.starts_with("expect.")
        || heads::class(type_).is_some_and(is_assertion)
}

/// Whether a hook round the tests failed: the stack leads through the runner's
/// call of one, or the case stands for its whole class.
fn in_hook(f: &Failure) -> bool {
    static ANY: LazyBytePattern = LazyBytePattern::made(|| {
        let calls = HOOKS.iter().map(|hook| regex::escape(hook));
        calls.collect::<Vec<_>>().join("|")
    });
    let text = f.text.as_deref().unwrap_or_default();
    // The JVM's runners report what failed for a class under its name; CTest
    // and others write the name of the test into both.
    let of_jvm = || {
        let class = f.type_.as_deref().unwrap_or_default();
        class.starts_with(|c: char| c.is_ascii_lowercase()) && class.contains('.')
            || text.contains(".java:")
    };
    let class = f.classname.as_deref().unwrap_or_default();
    let of_class = f
        .name
        .as_deref()
        .is_some_and(|name| name == class || name.is_empty());
    let whole = of_class && class.contains('.') && of_jvm();
    whole || ANY.is_match(text)
}

/// Whether the program under test answered 500, asked within the test's own process by a
/// client that frameworks have for that, its log shows the stack of what it raised, and
/// nothing tells of a system that it did not reach.
fn answered_by_own(f: &Failure) -> bool {
    static ANSWERED: LazyBytePattern = LazyBytePattern::new(
        r#"\bassert 500 == [2-4]\d\d\b|\bexpected [2-4]\d\d "[^"\n]*", got 500 "|\b500 != [2-4]\d\d\b"#,
    );
    const CLIENTS: [&str; 2] = ["<WrapperTestResponse ", "/supertest/lib/test.js:"];
    let told = [&f.text, &f.message, &f.system_out, &f.system_err];
    let told = || told.into_iter().flatten();
    let is_of_client = |text: &String| CLIENTS.iter().any(|client| text.contains(client));
    let is_answer = |text: &String| ANSWERED.is_match(text);
    let shows_stack = |log: &String| {
        log.contains("Traceback (most recent call last)") || log.contains("\n    at ")
    };
    let mut logs = [&f.system_out, &f.system_err].into_iter().flatten();
    told().any(is_of_client)
        && told().any(is_answer)
        && logs.any(shows_stack)
        && !told().any(|text| tells_of_system(text))
}

/// Whether the timer of a runner ended the test: nothing else is called from there.
fn ended_by_timer(f: &Failure) -> bool {
    static TIMER: LazyBytePattern = LazyBytePattern::new(
        r"\bTimeout\.(?:_onTimeout|<anonymous>) \([^)\n]*node_modules/(?:@hapi/)?(?:ava|lab|tape)/lib/",
    );
    let told = [&f.text, &f.message];
    let is_of_timer = |text: &String| text.contains("Timeout.") && TIMER.is_match(text);
    told.into_iter().flatten().any(is_of_timer)
}

/// Whether a bare time-out of Python ended what a client of the network did: its package
/// is in the stack.
fn waited_for_network(f: &Failure) -> bool {
    static CLIENT: LazyBytePattern = LazyBytePattern::new(
        r"[/\\](?:site|dist)-packages[/\\](?:aio_pika|aiohttp|aiokafka|aiomysql|asyncpg|botocore|elastic_transport|grpc|httpcore|httpx|kafka|nats|pika|psycopg|pymongo|pymysql|redis|requests|urllib3|websockets)[/\\]",
    );
    let text = f.text.as_deref().unwrap_or_default();
    let is_bare = |line: &str| {
        let line = line.trim_start_matches(['E', ' ']).trim_end();
        matches!(line, "TimeoutError" | "asyncio.exceptions.TimeoutError")
    };
    text.contains("TimeoutError") && text.lines().any(is_bare) && CLIENT.is_match(text)
}

/// Whether a line of the test itself reads a file and gives it to a parser of Python or
/// JavaScript, which refuses it; or names a file, as pytest shows it, that is read so.
fn parses_own_file(f: &Failure) -> bool {
    static PARSES: LazyBytePattern = LazyBytePattern::new(
        r"\b(?:json\.loads?|yaml\.(?:safe_)?load|tomllib\.loads?|JSON\.parse|parse)\((?:[^\n]*[^.\w\n])?(?:open\(|[^\n]*(?:\.read_text\(|\breadFileSync\())",
    );
    static NAMES: LazyBytePattern = LazyBytePattern::new(
        r#"(?m)^>[^\n]*["'][\w./-]+\.(?:json|ya?ml|toml)["'][^\n]*\n(?s:.*)\b(?:json|yaml|tomllib)\.(?:safe_)?load\("#,
    );
    const REFUSALS: [&str; 4] = [
        "JSONDecodeError",
        "YAMLError",
        "TOMLDecodeError",
        " in JSON at ",
    ];
    let text = f.text.as_deref().unwrap_or_default();
    REFUSALS.iter().any(|refusal| text.contains(refusal))
        && (origin(f) == Origin::Test && PARSES.is_match(text) || NAMES.is_match(text))
}

/// What the condition that failed, as bats shows it, asks for and nothing else: a variable
/// of the environment (`[ -n "$TOKEN" ]`), or a program (`command -v jq`).
fn wanted_by_condition(f: &Failure) -> Option<&'static str> {
    static VARIABLE: LazyBytePattern = LazyBytePattern::new(
        r#"(?m)^\s*`\[\[? (?:-n )?"?\$\{?[A-Z][A-Z0-9_]{2,}(?::-)?\}?"? \]\]?(?: (?:\|\|) [^\n]*)?' failed\s*$"#,
    );
    static PROGRAM: LazyBytePattern = LazyBytePattern::new(
        r#"(?m)^\s*`(?:@test "[^"\n]*" \{ )?(?:command -v|which|type -P|hash) [\w.+-]+(?:[ ;&|>][^\n]*)?' failed(?: with status 1)?\s*$"#,
    );
    let text = f.text.as_deref().unwrap_or_default();
    if !text.contains("' failed") {
        return None;
    }
    if VARIABLE.is_match(text) {
        return Some("(wants a variable)");
    }
    PROGRAM.is_match(text).then_some("(wants a program)")
}

/// Whether a fixture of pytest asserted something, which is its own condition
/// and no expectation of the test.
fn asserts_in_fixture(f: &Failure) -> bool {
    let Some((when, what)) = f
        .message
        .as_deref()
        .and_then(|said| said.split_once(" with \""))
    else {
        return false;
    };
    matches!(when, "failed on setup" | "failed on teardown")
        && (what.starts_with("AssertionError") || what.starts_with("assert "))
}

/// A class that says nothing without a message.
fn is_bare_class(type_: &str) -> bool {
    let begin = memrchr3(b'.', b':', b'\\', type_.as_bytes()).map_or(0, |at| at + 1);
    matches!(
        &type_[begin..],
        "Exception"
            | "RuntimeException"
            | "Error"
            | "RuntimeError"
            | "StandardError"
            | "Throwable"
            | "TestFailure"
            | "TestFailed"
            | "TestError"
    )
}

/// What one field says: its heads, the lines that name a cause, all of it.
fn statement(list: &mut List<'_>, name: &'static str, said: &str, rank: u8) {
    with_heads(list, name, heads::heads(said), said, rank);
}

/// The same, where the heads are known.
fn with_heads(list: &mut List<'_>, name: &'static str, heads: Heads, said: &str, rank: u8) {
    let inner = usize::from(heads.inner.is_some());
    for (at, head) in [heads.inner, heads.outer].into_iter().enumerate() {
        let Some(ErrorHead { class, line }) = head else {
            continue;
        };
        let deep = u8::from(at == 1 && inner == 1);
        if let Some(class) = class {
            list.class(name, class, line.clone(), deep);
        }
        list.whole(Field::Report, name, Cow::Owned(line), deep);
    }
    for root in root_lines(said) {
        list.whole(Field::Report, name, Cow::Owned(root), u8::from(inner == 1));
    }
    list.whole(Field::Report, name, Cow::Owned(said.to_owned()), rank);
}

/// Whether a value begins as the message of a call does: `name(): `.
fn begins_with_call(value: &str) -> bool {
    value.split_once("(): ").is_some_and(|(name, _)| {
        !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
    })
}
