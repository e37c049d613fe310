//! The member that is not there, by its name: a method, an attribute or a function that was
//! renamed or taken away. Whoever asks for it fails of that, from whatever line.
//!
//! Main function: [`missing_member`].

use super::lacks::{Subject, SubjectKind};
use super::replaced::messages;
use super::subject_forms::SUBJECT_FORMS;
use super::wanted::{COMPARES, without_wanted};
use crate::engine::product_frame;
use jelly_base::model::{Failure, TriagedFailure};
use regex::Regex;
use std::borrow::Cow;
use std::sync::LazyLock;

static FORMS: LazyLock<Vec<Regex>> = LazyLock::new(|| {
    let forms = SUBJECT_FORMS.members.forms.iter();
    forms.filter_map(|form| Regex::new(form).ok()).collect()
});

/// Bytes of a text that are read.
const READ: usize = 4 << 10;

/// Root causes of failures that may be about a member. What else is said of one stands in a log.
const OF_MEMBERS: [&str; 5] = [
    "code_exception",
    "dependency_version_mismatch",
    "expected_error",
    "internal_error",
    "missing_module",
];

/// The member that a failure says is not there, by the line that tells of it.
pub(super) fn missing_member(failure: &Failure, triaged: &TriagedFailure) -> Option<Subject> {
    let diagnosis = &triaged.diagnosis;
    if !OF_MEMBERS.contains(&diagnosis.root_cause.as_str()) {
        return None;
    }
    let evidence = diagnosis.evidence.as_ref().map(|said| said.text.as_str());
    // What came in place of the wanted error is shown below.
    let text = failure.text.as_deref();
    let came = text.filter(|_| diagnosis.root_cause == "expected_error");
    let came = came.and_then(messages).map(|(_, came)| came);
    let said = [
        came.as_deref(),
        evidence,
        triaged.message.as_deref(),
        failure.message.as_deref(),
    ];
    let told = said.into_iter().flatten().find_map(|text| {
        let text = &text[..text.floor_char_boundary(READ.min(text.len()))];
        let known = &SUBJECT_FORMS.members.words;
        if !known.iter().any(|words| text.contains(words.as_str())) {
            return None;
        }
        let came = match COMPARES.contains(&diagnosis.root_cause.as_str()) {
            true => without_wanted(text),
            false => Cow::Borrowed(text),
        };
        FORMS.iter().find_map(|form| named(form, &came, failure))
    })?;
    Some(Subject::new(SubjectKind::Member, &told))
}

/// The name of the member, with what it is of: where the words do not tell, the line of the
/// source does, which stands in the failure's stack, or the file of the product.
fn named(form: &Regex, text: &str, failure: &Failure) -> Option<String> {
    let members = &SUBJECT_FORMS.members;
    let found = form.captures(text)?;
    let name = found.name("name")?.as_str();
    if let Some(call) = found.name("call") {
        // A test has functions of its own, and some names are those of many functions.
        let call = call.as_str();
        let own = call.rsplit(['.', '\\', ':']).next().unwrap_or(call);
        // What a decorator returns stands in the place of many functions.
        let within = call.split_once(".<locals>").map(|(within, _)| within);
        let is_local = within.is_some_and(|within| !within.contains('.'));
        let is_of_many = (own == call || is_local) && members.of_many.contains(own)
            || own == call && own.starts_with("__");
        if own.starts_with("test_") || is_of_many {
            return None;
        }
        let called = format!("{call}({name})");
        // How many it takes is of one function, which several classes may have.
        let is_count = name.bytes().all(|b| b.is_ascii_digit()) && !name.is_empty();
        // Methods are called by their bare names, too.
        let is_of_any = own == call && !is_rare(own);
        return match is_of_any || is_count {
            true => of_file(&called, failure),
            false => Some(called),
        };
    }
    let owner = found.name("owner").map(|owner| owner.as_str());
    let is_constant = owner.is_none() && !name.contains(|c: char| c.is_lowercase());
    let owner = match is_constant {
        true => {
            let asked = asked_of(failure.text.as_deref()?, name)?;
            asked.rsplit('.').next().filter(|owner| !owner.is_empty())
        }
        false => owner,
    };
    // A class of the project's own lacks what any value may have for one reason.
    let is_of_class = owner.is_some_and(|owner| owner.starts_with(char::is_uppercase));
    if !is_of_class && members.of_anything.contains(name)
        || owner.is_some_and(|owner| members.owners_of_anything.contains(owner))
    {
        return None;
    }
    match owner {
        // Transpiled `this`
        Some(owner) if owner.starts_with("_this") || owner.starts_with("_self") => None,
        // What bundlers and compilers call a module.
        Some(owner) if owner.starts_with('_') || is_numbered(owner) => {
            is_rare(name).then(|| name.to_owned())
        }
        // Many variables are called `client`.
        Some(owner) if owner.starts_with(char::is_lowercase) && !is_rare(name) => {
            of_file(&format!("{owner}.{name}"), failure)
        }
        Some(owner) => Some(format!("{owner}.{name}")),
        None if is_rare(name) => Some(name.to_owned()),
        None => of_file(name, failure),
    }
}

/// Whether a name is of several words, so that few things are called so.
fn is_rare(name: &str) -> bool {
    let is_sign = |c: char| c.is_uppercase() || c == '_';
    name.len() > 4 && name.chars().skip(1).any(is_sign)
}

/// `index_1`, as TypeScript calls what it imports.
fn is_numbered(owner: &str) -> bool {
    let number = owner.rsplit_once('_').map(|(_, number)| number);
    number.is_some_and(|it| !it.is_empty() && it.bytes().all(|b| b.is_ascii_digit()))
}

/// In one file of the product, one thing is called so.
fn of_file(name: &str, failure: &Failure) -> Option<String> {
    Some(format!("{name} in {}", product_frame(failure)?))
}

/// What a member is asked of, with what that is of in turn: `State` in `State.NOT_FOUND`,
/// `cart.total` in `cart.total.net`. The line of the source tells that failed: the last one that
/// pytest marks or that stands above the marks of Ruby and Python, else all lines that ask.
pub(super) fn asked_of<'t>(text: &'t str, member: &str) -> Option<&'t str> {
    const LINES: usize = 400;
    let is_of_word = |c: char| c.is_alphanumeric() || c == '_';
    let is_of_name = |c: char| is_of_word(c) || matches!(c, '.' | '@');
    let is_operator = !member.starts_with(is_of_word);
    let dotted = format!(".{member}");
    let before_operator = |line: &'t str| {
        let at = line.rfind(&format!(" {member} "))?;
        let owner = &line[line[..at].trim_end_matches(is_of_name).len()..at];
        (!owner.is_empty() && !owner.starts_with('.')).then_some(owner)
    };
    let asked = |line: &'t str| {
        if is_operator {
            return before_operator(line);
        }
        let mut found = line.rmatch_indices(&dotted);
        let (at, _) = found.find(|(at, _)| !line[at + dotted.len()..].starts_with(is_of_word))?;
        let owner = &line[line[..at].trim_end_matches(is_of_name).len()..at];
        // The name of what a call gave is not told.
        (!owner.is_empty() && !owner.starts_with('.')).then_some(owner)
    };
    let lines: Vec<&str> = text.lines().take(LINES).collect();
    let is_mark = |line: &str| {
        let line = line.trim();
        line.contains('^') && line.bytes().all(|b| matches!(b, b'^' | b'~' | b' '))
    };
    let marked = lines.windows(2).rev().find(|pair| is_mark(pair[1]));
    let failed = lines.iter().rfind(|line| line.starts_with('>'));
    let shown = lines
        .iter()
        .find(|line| line.trim_start().starts_with("Failure/Error: "));
    if let Some(line) = failed.or(marked.map(|pair| &pair[0])).or(shown) {
        return asked(line);
    }
    let mut all = lines.iter().filter_map(|line| asked(line));
    let first = all.next()?;
    all.all(|other| other == first).then_some(first)
}

#[cfg(test)]
mod tests {
    use super::{FORMS, SUBJECT_FORMS, missing_member};
    use crate::engine::Engine;
    use jelly_base::model::{Failure, TriagedFailure};

    fn member(kind: &str, message: &str, text: &str) -> Option<String> {
        let failure = Failure {
            element: Some("failure".into()),
            type_: Some(kind.into()),
            message: Some(message.into()),
            text: Some(text.into()),
            ..Failure::default()
        };
        let triaged = TriagedFailure {
            message: failure.message.clone(),
            diagnosis: Engine::builtin().diagnose(&failure),
            ..TriagedFailure::default()
        };
        missing_member(&failure, &triaged).map(|one| one.name.into_string())
    }

    #[test]
    fn the_member_is_told_with_what_lacks_it() {
        for (kind, message, told) in [
            (
                "AttributeError",
                "'Schema' object has no attribute 'names'",
                Some("Schema.names"),
            ),
            (
                "TypeError",
                "this.client.getJson is not a function",
                Some("client.getJson"),
            ),
            (
                "TypeError",
                "(0 , _dates.parseIso) is not a function",
                Some("parseIso"),
            ),
            ("TypeError", "parseIso is not a function", Some("parseIso")),
            (
                "NoMethodError",
                "undefined method `clear' for #<Imaging::Log:0x000055d1 @l=[]>",
                Some("Imaging::Log.clear"),
            ),
            (
                "TypeError",
                "Frame.__init__() missing 1 required positional argument: 'retain'",
                Some("Frame.__init__(retain)"),
            ),
            (
                "TypeError",
                "Depot.open.<locals>.wrapper() missing 1 required positional argument: 'retain'",
                Some("Depot.open.<locals>.wrapper(retain)"),
            ),
            // By these names many are called.
            (
                "TypeError",
                "__init__() missing 1 required positional argument: 'name'",
                None,
            ),
            ("TypeError", "this.refresh is not a function", None),
            ("TypeError", "_this.refreshAll is not a function", None),
            // Names may have any letters.
            (
                "AttributeError",
                "'Schema' object has no attribute '\u{fc}bertrag_net'",
                Some("Schema.\u{fc}bertrag_net"),
            ),
            // What any value may lack, and what a log says.
            ("TypeError", "rows.map is not a function", None),
            (
                "AttributeError",
                "'NoneType' object has no attribute 'total_sum'",
                None,
            ),
        ] {
            assert_eq!(member(kind, message, message).as_deref(), told, "{message}");
        }
    }

    #[test]
    fn a_constant_is_told_by_the_line_that_asks_for_it() {
        for (source, told) in [
            (
                ">       raise Gone(State.NOT_FOUND)",
                Some("State.NOT_FOUND"),
            ),
            (">       raise Gone(Role.NOT_FOUND)", Some("Role.NOT_FOUND")),
            (">       raise Gone(State.NOT_FOUNDED)", None),
            (">       raise Gone(name)", None),
        ] {
            let text = format!("{source}\nE       AttributeError: NOT_FOUND");
            let message = "AttributeError: NOT_FOUND";
            assert_eq!(member("AttributeError", message, &text).as_deref(), told);
        }
    }

    #[test]
    fn every_form_of_the_table_is_read() {
        assert_eq!(FORMS.len(), SUBJECT_FORMS.members.forms.len());
    }

    #[test]
    fn what_a_log_says_beside_another_failure_is_no_member_of_it() {
        let log = "\n----- Captured stderr call -----\nWARNING otel: 'Span' object has no attribute 'record_link'";
        for (kind, message) in [
            ("AssertionError", "assert 3 == 4"),
            ("OSError", "[Errno 28] No space left on device"),
            ("ConnectionRefusedError", "[Errno 111] Connection refused"),
        ] {
            let text = format!("E   {kind}: {message}{log}");
            assert_eq!(member(kind, message, &text), None, "{message}");
        }
    }
}
