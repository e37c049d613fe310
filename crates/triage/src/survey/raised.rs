//! An exception that a line of the product raised, told by tests that failed of it in
//! other words: one that caught it and raised its own, one that asserts that there is none.

use super::lacks::{Subject, SubjectKind};
use super::members::asked_of;
use crate::engine::{failing_line, product_frame, product_function, stumbled};
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

/// What a program asked something of that is not there: the field, the object, the file.
pub(super) fn of_nothing(failure: &Failure, root_cause: &str) -> BTreeSet<Subject> {
    const SIGNS: [fn(&Failure, &str) -> Option<Subject>; 4] =
        [null_field, field_of_class, never_set, null_in_function];
    let found = SIGNS.iter().filter_map(|sign| sign(failure, root_cause));
    found.collect()
}

/// The field that a program of the JVM finds null, with the file that fails of it: two
/// methods that use it fail of one thing, which was never set. In JavaScript, what a function
/// reads of nothing: whoever calls it fails of that.
fn null_field(failure: &Failure, root_cause: &str) -> Option<Subject> {
    static NULL: LazyPattern = LazyPattern::new(r#"because "this\.(\w+)" is null"#);
    static RETURNED: LazyPattern = LazyPattern::new(
        r#"because the return value of "([\w$]+(?:\.[\w$]+){2,}\([\w$.,\[\] ]*\))" is null"#,
    );
    if root_cause != "code_exception" {
        return None;
    }
    let texts = || [&failure.text, &failure.message].into_iter().flatten();
    if let Some(read) = texts().find_map(|text| read_of_nothing(text)) {
        return Some(Subject::new(SubjectKind::NullField, &read));
    }
    let returned = texts().find_map(|text| Some(RETURNED.captures(text)?.get(1)?.as_str()));
    // What a collection of the platform returns is told by who asked it.
    if let Some(method) = returned.filter(|method| !method.starts_with("java")) {
        return Some(Subject::new(SubjectKind::NullField, method));
    }
    static OF_NIL: LazyPattern = LazyPattern::ascii(
        r"\bundefined method ['`](\w{4,})' for nil\b|'NoneType' object has no attribute '(\w{4,})'",
    );
    let of_jvm = |text| Some(NULL.captures(text)?.get(1)?.as_str().to_owned());
    // Of what it is asked, the line of the source tells.
    let of_nil = |text: &str| {
        let found = OF_NIL.captures(text)?;
        let member = (1..found.len()).find_map(|at| found.get(at))?.as_str();
        Some(format!("{}.{member}", asked_of(text, member)?))
    };
    let field = texts().find_map(|text| of_jvm(text).or_else(|| of_nil(text)))?;
    let place = failing_line(failure)?;
    let (file, _) = place.rsplit_once(':')?;
    Some(Subject::new(
        SubjectKind::NullField,
        &format!("{file} {field}"),
    ))
}

/// The field that a program of the JVM finds null, whether its class finds it so or one who asks
/// the class for it: `this.battery`, and what `Drone.getBattery()` returns. It is known with
/// the class that has it.
fn field_of_class(failure: &Failure, root_cause: &str) -> Option<Subject> {
    static NULL: LazyPattern = LazyPattern::new(
        r#"(?x)\bCannot\ \w+\ [^\n]*"\ because\ (?:
                  "this\.(?P<own>\w+)"\ is\ null(?:[^\n]*\n\s*at\ (?:[\w.-]+//?)?(?P<finder>[\w.$]+)\.[\w$<>]+\()?
                | the\ return\ value\ of\ "(?P<asked>[\w$]+(?:\.[\w$]+)*)\.(?:get|is)?(?P<field>\w+)\(\)"\ is\ null)"#,
    );
    if root_cause != "code_exception" {
        return None;
    }
    let found = NULL.captures(failure.text.as_deref()?)?;
    let part = |name| found.name(name).map(|part| part.as_str());
    let field = part("own").or_else(|| part("field"))?.to_lowercase();
    let of_platform = |class: &&str| class.starts_with("java");
    let owner = part("finder").or_else(|| part("asked"));
    let class = owner.filter(|class| !of_platform(class))?;
    Some(Subject::new(
        SubjectKind::NullField,
        &format!("field {class}.{field}"),
    ))
}

/// What was never set, by the source of the line that asks something of it, with the file of
/// the product that does: two methods that ask it other things fail of one.
fn never_set(failure: &Failure, root_cause: &str) -> Option<Subject> {
    static OF_NIL: LazyPattern = LazyPattern::ascii(
        r"\bundefined method ['`](\w+[?!]?|<<|[-+*/%])' for nil\b|'NoneType' object has no attribute '(\w+)'",
    );
    const LETTERS: usize = 4;
    if root_cause != "code_exception" {
        return None;
    }
    let texts = [&failure.text, &failure.message];
    let asked = texts.into_iter().flatten().find_map(|text| {
        let found = OF_NIL.captures(text)?;
        let member = (1..found.len()).find_map(|at| found.get(at))?.as_str();
        asked_of(text, member)
    })?;
    let name = asked.rsplit(['.', '@']).next().unwrap_or_default();
    let is_named = name.len() >= LETTERS && !["self", "this", "result", "data"].contains(&name);
    let place = failing_line(failure).filter(|_| is_named)?;
    let (file, _) = place.rsplit_once(':')?;
    Some(Subject::new(
        SubjectKind::NullField,
        &format!("{file} {asked} is not set"),
    ))
}

/// The function of the product in which a program of JavaScript asks something of null, for tests
/// of one suite: what is null there was never made, whatever is asked of it.
fn null_in_function(failure: &Failure, root_cause: &str) -> Option<Subject> {
    static OF_NULL: LazyPattern = LazyPattern::ascii(
        r"\bCannot read properties of null \(reading |\bCannot destructure property '[^'\n]*' of '[^'\n]*' as it is null|\bCannot set properties of null \(",
    );
    if root_cause != "code_exception" {
        return None;
    }
    let texts = [&failure.text, &failure.message];
    if !texts
        .into_iter()
        .flatten()
        .any(|text| OF_NULL.is_match(text))
    {
        return None;
    }
    let frame = product_function(failure)?;
    // Any function without a name is in the same frame.
    let has_name = Some(&frame) != product_frame(failure).as_ref();
    if !has_name || frame.contains("<anonymous>") || frame.contains("Array.") {
        return None;
    }
    let suite = failure.classname.as_deref().unwrap_or_default();
    Some(Subject::new(SubjectKind::NullField, &format!("null in {frame}")).within(suite))
}

/// The innermost function of a stack of JavaScript that reads a member of nothing, with its file
/// and the member. One that has no name, and one of a library or of the runtime, tells nothing.
fn read_of_nothing(text: &str) -> Option<String> {
    static READ: LazyPattern = LazyPattern::ascii(
        r"Cannot read properties of (?:undefined|null) \(reading '(?P<member>\w+)'\)",
    );
    static FRAME: LazyPattern = LazyPattern::ascii(
        r"\n[ \t]+at (?:async Promise\.\w+ \(index |(?:async |new )?(?:(?P<function>[\w$.]+) \((?P<file>[^()\n]{1,400}?)(?::\d+){1,2}\))?)",
    );
    if !text.contains("Cannot read properties of ") {
        return None;
    }
    let read = READ.captures(text)?;
    let member = read.name("member")?;
    // What Node says of a promise among others is no frame.
    let frame = FRAME
        .captures_iter(&text[member.end()..])
        .find(|frame| !frame[0].ends_with(" (index "))?;
    let (function, file) = (
        frame.name("function")?.as_str(),
        frame.name("file")?.as_str(),
    );
    // By a single word many functions are called.
    let is_own = function.contains('.') || function[1..].contains(char::is_uppercase);
    let is_foreign = file.starts_with("node:") || file.contains("node_modules");
    (is_own && !is_foreign && file.contains(['/', '\\']))
        .then(|| format!("{file} {function} {}", member.as_str()))
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
    use super::{field_of_class, never_set, null_field, raised_in_outputs, raised_within};
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

    #[test]
    fn a_field_that_was_never_set_is_one_in_all_methods() {
        let field = |call: &str, line: u32| {
            let failure = Failure {
                dialect: Some("surefire".into()),
                text: Some(format!(
                    "java.lang.NullPointerException: Cannot invoke \"java.util.List.{call}\" because \"this.paid\" is null\n\tat acme.loans.Loan.pay(Loan.java:{line})\n\tat acme.loans.LoanTest.paying(LoanTest.java:9)\n"
                )),
                ..Failure::default()
            };
            let told = null_field(&failure, "code_exception");
            told.map(|one| one.name.into_string())
        };
        assert!(field("add(Object)", 7).is_some());
        assert_eq!(field("add(Object)", 7), field("stream()", 30));
    }

    #[test]
    fn a_field_is_one_to_its_class_and_to_those_who_ask_for_it() {
        let field = |called: &str, because: &str| {
            let failure = Failure {
                text: Some(format!(
                    "java.lang.NullPointerException: Cannot invoke \"{called}()\" because {because} is null\n\tat acme.Drone.range(Drone.java:7)\n"
                )),
                ..Failure::default()
            };
            let told = field_of_class(&failure, "code_exception");
            told.map(|one| one.name.into_string())
        };
        for called in ["acme.Battery.level", "java.util.List.size"] {
            let own = field(called, "\"this.battery\"");
            assert!(own.is_some());
            let asked =
                |method: &str| field(called, &format!("the return value of \"acme.{method}()\""));
            assert_eq!(own, asked("Drone.getBattery"));
            assert_eq!(own, asked("Drone.battery"));
            assert_ne!(own, asked("Drone.getMotor"));
        }
        let of_other = "the return value of \"acme.Fleet.getBattery()\"";
        let list = "java.util.List.size";
        assert_ne!(field(list, "\"this.battery\""), field(list, of_other));
    }

    #[test]
    fn what_was_never_set_is_one_whatever_is_asked_of_it() {
        let told = |line: &str, member: &str| {
            let failure = Failure {
                dialect: Some("pytest".into()),
                text: Some(format!(
                    "    def title(self):\n>       return {line}\nE       AttributeError: 'NoneType' object has no attribute '{member}'\n\nballoon/mission.py:13: AttributeError"
                )),
                ..Failure::default()
            };
            never_set(&failure, "code_exception").map(|one| one.name.into_string())
        };
        assert!(told("self.station.code", "code").is_some());
        assert_eq!(
            told("self.station.code", "code"),
            told("self.station.lat", "lat")
        );
        assert_ne!(
            told("self.station.code", "code"),
            told("self.pilot.code", "code")
        );
        assert_eq!(told("x.code", "code"), None);
    }

    #[test]
    fn what_a_method_returns_as_null_is_one_whatever_is_asked_of_it() {
        let told = |call: &str, of: &str| {
            let failure = Failure {
                text: Some(format!(
                    "java.lang.NullPointerException: Cannot invoke \"org.inn.Place.{call}()\" because the return value of \"{of}\" is null\n\tat org.inn.Card.print(Card.java:5)\n"
                )),
                ..Failure::default()
            };
            null_field(&failure, "code_exception").map(|one| one.name.into_string())
        };
        let of = "org.inn.Guest.home()";
        assert_eq!(told("street", of).as_deref(), Some(of));
        assert_eq!(told("street", of), told("city", of));
        assert_ne!(told("street", of), told("street", "org.inn.Guest.office()"));
        assert_eq!(told("street", "java.util.Map.get(Object)"), None);
    }

    #[test]
    fn what_a_function_reads_of_nothing_is_one_for_whoever_calls_it() {
        let read = |text: &str| {
            let failure = Failure {
                text: Some(text.into()),
                ..Failure::default()
            };
            null_field(&failure, "code_exception").map(|one| one.name.into_string())
        };
        let stack = "    at formatPrice (webpack://shop/./src/format.ts:12:16)\n    at Context.eval (x.cy.ts:3:1)";
        let plain =
            format!("TypeError: Cannot read properties of undefined (reading 'amount')\n{stack}");
        let told = format!(
            "expected [Function] to not throw an error but 'TypeError: Cannot read properties of undefined (reading 'amount')' was thrown\n{stack}"
        );
        assert!(read(&plain).is_some());
        assert_eq!(read(&plain), read(&told));
        assert_ne!(read(&plain), read(&plain.replace("amount", "tax")));
        assert_ne!(read(&plain), read(&plain.replace("formatPrice", "sumOf")));
        assert_eq!(read(&plain.replace("formatPrice", "render")), None);
    }
}
