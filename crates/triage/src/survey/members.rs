//! The member that is not there, by its name: a method, an attribute or a function that was
//! renamed or taken away. Whoever asks for it fails of that, from whatever line.
//!
//! Main function: [`missing_member`].

use super::lacks::{Subject, SubjectKind};
use super::replaced::messages;
use super::subject_forms::SUBJECT_FORMS;
use super::wanted::{COMPARES, without_wanted};
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
        FORMS
            .iter()
            .find_map(|form| named(form, &came, failure.text.as_deref()))
    })?;
    Some(Subject::new(SubjectKind::Member, &told))
}

/// The name of the member, with what it is of: where the words do not tell, the line of the
/// source does, which stands in `stack`.
fn named(form: &Regex, text: &str, stack: Option<&str>) -> Option<String> {
    let members = &SUBJECT_FORMS.members;
    let found = form.captures(text)?;
    let name = found.name("name")?.as_str();
    if let Some(call) = found.name("call") {
        // A test has functions of its own, and some names are those of many functions.
        let call = call.as_str();
        let own = call.rsplit(['.', '\\', ':']).next().unwrap_or(call);
        let is_of_many = own == call && (own.starts_with("__") || members.of_many.contains(own));
        return (!own.starts_with("test_") && !is_of_many).then(|| format!("{call}({name})"));
    }
    let owner = found.name("owner").map(|owner| owner.as_str());
    let is_constant = owner.is_none() && !name.contains(|c: char| c.is_lowercase());
    let owner = match is_constant {
        true => Some(owner_of(name, stack?)?),
        false => owner,
    };
    if members.of_anything.contains(name)
        || owner.is_some_and(|owner| members.owners_of_anything.contains(owner))
    {
        return None;
    }
    let is_sign = |c: char| c.is_uppercase() || c == '_';
    let is_rare = name.len() > 4 && name.chars().skip(1).any(is_sign);
    match owner {
        // Transpiled `this`
        Some(owner) if owner.starts_with("_this") || owner.starts_with("_self") => None,
        // What bundlers call a module.
        Some(owner) if owner.starts_with('_') => is_rare.then(|| name.to_owned()),
        Some(owner) => Some(format!("{owner}.{name}")),
        None => is_rare.then(|| name.to_owned()),
    }
}

/// What a constant is asked of: `State` in `State.NOT_FOUND`.
fn owner_of<'s>(name: &str, stack: &'s str) -> Option<&'s str> {
    let is_of_word = |c: char| c.is_alphanumeric() || c == '_';
    let dotted = format!(".{name}");
    let mut found = stack.match_indices(&dotted);
    let (at, _) = found.find(|(at, _)| !stack[at + dotted.len()..].starts_with(is_of_word))?;
    let before = &stack[..at];
    let owner = &before[before.trim_end_matches(is_of_word).len()..];
    (!owner.is_empty()).then_some(owner)
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
