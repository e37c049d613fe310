//! The marks that stand for secrets, which are jelly's words and nobody's
//! evidence: `bad "[secret TOKEN]"` says nothing of a token.

use jelly_base::model::{Diagnosis, Failure};
use memchr::memmem;
use std::borrow::Cow;
use std::collections::BTreeSet;

/// How [`Redactor`](jelly_base::text::redact::Redactor) begins its marks.
const MARK: &str = "[secret ";
/// What stands for them where rules look.
const NEUTRAL: &str = "[redacted]";
/// Bytes of a mark's name; what is longer is none.
const NAME: usize = 200;

/// The one mark that a failure held, where it held no other.
pub(super) struct Mark(String);

impl Mark {
    /// Says again which secret stood in what is quoted.
    pub(super) fn restore(&self, diagnosis: &mut Diagnosis) {
        let advice = &mut diagnosis.advice;
        let quoted = diagnosis.evidence.iter_mut().map(|quote| &mut quote.text);
        let steps = advice.fix.iter_mut().map(|step| &mut step.text);
        for text in quoted.chain([&mut advice.what]).chain(steps) {
            if text.contains(NEUTRAL) {
                *text = text.replace(NEUTRAL, &self.0);
            }
        }
    }
}

/// The failure without marks, and what was its only one.
pub(super) fn unmarked(failure: &Failure) -> (Cow<'_, Failure>, Option<Mark>) {
    let holds = |text: &str| memmem::find(text.as_bytes(), MARK.as_bytes()).is_some();
    let mut failure = Cow::Borrowed(failure);
    let mut marks = BTreeSet::new();
    // Hardly any has one, so that hardly any is copied.
    if texts(&failure).into_iter().flatten().any(holds) {
        for text in texts_of(failure.to_mut()) {
            if holds(text) {
                *text = without(text, &mut marks);
            }
        }
    }
    let only = marks.pop_first().filter(|_| marks.is_empty());
    (failure, only.map(Mark))
}

/// What of a failure rules look for their patterns in.
pub(super) fn texts(failure: &Failure) -> [Option<&str>; 9] {
    [
        failure.message.as_deref(),
        failure.text.as_deref(),
        failure.stderr.as_deref(),
        failure.stdout.as_deref(),
        failure.system_out.as_deref(),
        failure.system_err.as_deref(),
        failure.protocol_breach.as_deref(),
        failure
            .rpc_error
            .as_ref()
            .map(|error| error.message.as_str()),
        failure
            .tool_result
            .as_ref()
            .map(|result| result.text.as_str()),
    ]
}

/// The same, to be changed.
pub(super) fn texts_of(failure: &mut Failure) -> impl Iterator<Item = &mut String> {
    let answers = [
        failure.rpc_error.as_mut().map(|error| &mut error.message),
        failure.tool_result.as_mut().map(|result| &mut result.text),
    ];
    [
        failure.message.as_mut(),
        failure.text.as_mut(),
        failure.stderr.as_mut(),
        failure.stdout.as_mut(),
        failure.system_out.as_mut(),
        failure.system_err.as_mut(),
        failure.protocol_breach.as_mut(),
    ]
    .into_iter()
    .chain(answers)
    .flatten()
}

/// The text without marks, which go to `marks`.
fn without(text: &str, marks: &mut BTreeSet<String>) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, marked)) = rest.split_once(MARK) {
        out.push_str(before);
        let end = marked.bytes().take(NAME).position(|byte| byte == b']');
        match end {
            Some(end) => {
                out.push_str(NEUTRAL);
                marks.insert(format!("{MARK}{}]", &marked[..end]));
                rest = &marked[end + 1..];
            }
            None => {
                out.push_str(MARK);
                rest = marked;
            }
        }
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::{texts, texts_of, unmarked, without};
    use crate::engine::Engine;
    use jelly_base::model::Failure;
    use serde_json::json;
    use std::borrow::Cow;
    use std::collections::BTreeSet;

    #[test]
    fn marks_go_and_the_rest_stays() {
        let mut marks = BTreeSet::new();
        let mut bare = |text: &str| without(text, &mut marks);
        assert_eq!(bare("bad \"[secret KEY]\"."), "bad \"[redacted]\".");
        assert_eq!(bare("[secret a][secret b]x"), "[redacted][redacted]x");
        let open = format!("[secret {}", "é".repeat(300));
        assert_eq!(bare(&open), open);
        assert_eq!(marks.len(), 3);
    }

    #[test]
    fn what_is_quoted_says_again_which_secret_it_was() {
        let refused = |text: &str| {
            let failure = Failure {
                message: Some(text.to_owned()),
                ..Failure::default()
            };
            Engine::builtin().diagnose(&failure).evidence.unwrap().text
        };
        let one = refused("[secret DB]: connection refused");
        assert_eq!(one, "[secret DB]: connection refused");
        let two = refused("[secret DB] at [secret HOST]: connection refused");
        assert_eq!(two, "[redacted] at [redacted]: connection refused");
    }

    #[test]
    fn both_lists_name_the_same_texts() {
        let mut failure: Failure = serde_json::from_value(json!({
            "message": "", "text": "", "stderr": "", "stdout": "", "system_out": "",
            "system_err": "", "protocol_breach": "", "rpc_error": {"message": ""},
            "tool_result": {},
        }))
        .unwrap();
        assert_eq!(texts(&failure).iter().flatten().count(), 9);
        assert_eq!(texts_of(&mut failure).count(), 9);
    }

    #[test]
    fn a_mark_is_no_evidence() {
        let of = |message: &str| Failure {
            message: Some(message.to_owned()),
            ..Failure::default()
        };
        let plain = of("bad \"orange\"");
        assert!(matches!(unmarked(&plain).0, Cow::Borrowed(_)));
        let marked = Engine::builtin().diagnose(&of("bad \"[secret ROOM]\""));
        let plain = Engine::builtin().diagnose(&plain);
        assert_eq!(marked.rule, plain.rule);
        let password = Engine::builtin().diagnose(&of("wrong password: [secret ROOM]"));
        assert_ne!(password.rule, plain.rule, "its own words still count");
    }
}
