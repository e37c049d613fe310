//! What a program asked something of that is not there: the field, the object, the file. Whoever
//! asks it fails of one thing, which was never set.

use super::lacks::{Subject, SubjectKind};
use super::members::asked_of;
use crate::engine::{failing_line, product_frame, product_function};
use jelly_base::model::Failure;
use jelly_base::text::LazyPattern;
use std::collections::BTreeSet;

/// How long a name is that tells things apart.
const LETTERS: usize = 4;

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
    let of_jvm = |text| Some(NULL.captures(text)?.get(1)?.as_str().to_owned());
    // Of what it is asked, the line of the source tells.
    let of_nil = |text: &str| {
        let (asked, member) = asked_of_nil(text)?;
        let is_name = member.len() >= LETTERS && !member.ends_with(['?', '!']);
        is_name.then(|| format!("{asked}.{member}"))
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

/// What Ruby or Python finds nil, by the line of the source that asks something of it, and what
/// that asks.
fn asked_of_nil(text: &str) -> Option<(&str, &str)> {
    static OF_NIL: LazyPattern = LazyPattern::ascii(
        r"\bundefined method ['`](\w+[?!]?|<<|[-+*/%])' for nil\b|'NoneType' object has no attribute '(\w+)'",
    );
    let found = OF_NIL.captures(text)?;
    let member = (1..found.len()).find_map(|at| found.get(at))?.as_str();
    Some((asked_of(text, member)?, member))
}

/// What was never set, by the source of the line that asks something of it, with the file of
/// the product that does: two methods that ask it other things fail of one.
fn never_set(failure: &Failure, root_cause: &str) -> Option<Subject> {
    if root_cause != "code_exception" {
        return None;
    }
    let texts = [&failure.text, &failure.message];
    let mut texts = texts.into_iter().flatten();
    let (asked, _) = texts.find_map(|text| asked_of_nil(text))?;
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

#[cfg(test)]
mod tests {
    use super::{field_of_class, never_set, null_field};
    use jelly_base::model::Failure;

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
