//! The texts of a failure that a client of the server saw.

use super::text::{List, readable};
use crate::model::{Failure, Phase};
use crate::triage::answer;
use crate::triage::facts::{Facts, Promise};
use crate::triage::rule::Field;
use std::borrow::Cow;

pub(super) fn live<'a>(list: &mut List<'a>, facts: &Facts<'a>) {
    let f = facts.failure;
    if facts.promise == Some(Promise::Expectation) {
        // What an assertion compares is no evidence, but a tool whose whole
        // answer is an error of its surroundings has not been tested at all.
        if let Some(statement) = answer::infrastructure_statement(f) {
            list.whole(
                Field::Answer,
                "tool_result.text",
                Cow::Borrowed(statement),
                0,
            );
        }
        return;
    }
    if let Some(text) = f.spawn_error.as_ref().and_then(|e| e.text.as_deref()) {
        list.whole(Field::Spawn, "spawn_error.text", Cow::Borrowed(text), 1);
    }
    if let Some(error) = &f.rpc_error {
        list.with_roots(Field::Answer, "rpc_error.message", &error.message, 1);
        if let Some(data) = &error.data {
            let data = match data.as_str() {
                Some(text) => text.to_owned(),
                None => data.to_string(),
            };
            list.whole(Field::Answer, "rpc_error.data", Cow::Owned(data), 2);
        }
    }
    if let Some(result) = &f.tool_result {
        list.with_roots(Field::Answer, "tool_result.text", &result.text, 1);
    }
    if let Some(http) = &f.http {
        if let Some(text) = &http.text {
            list.whole(Field::Answer, "http.text", Cow::Borrowed(text), 1);
        }
        if let Some(error) = &http.error {
            list.whole(Field::Answer, "http.error", Cow::Borrowed(error), 1);
        }
        if let Some(body) = &http.body {
            list.whole(Field::Answer, "http.body", readable(body), 1);
        }
    }
    if let Some(line) = traced(f) {
        list.whole(Field::Answer, "stderr", Cow::Owned(line), 0);
    }
    let start = list.texts.len();
    if let Some(stderr) = &f.stderr {
        list.with_roots(Field::Stderr, "stderr", stderr, 2);
    }
    if let Some(stdout) = &f.stdout {
        list.with_roots(Field::Stdout, "stdout", stdout, 3);
    }
    // After an answer, stderr is the story of other requests too.
    if facts.answered && !matches!(f.phase, Some(Phase::Handshake)) {
        for text in &mut list.texts[start..] {
            text.reserve = true;
        }
    }
    if !f.stdout_noise.is_empty() {
        let noise = f.stdout_noise.join("\n");
        list.whole(
            Field::Stdout,
            "stdout_noise",
            Cow::Owned(readable(&noise).into_owned()),
            3,
        );
    }
    if let Some(breach) = &f.protocol_breach {
        list.whole(Field::Message, "protocol_breach", Cow::Borrowed(breach), 3);
    }
    if let Some(message) = &f.message {
        list.whole(Field::Message, "message", readable(message), 4);
    }
}

/// Lines of stderr that are looked through for the exception behind an error.
const TRACED: usize = 200;

/// The exception on stderr whose message ends the error that was answered. An
/// SDK answers with the message alone and logs the class.
fn traced(f: &Failure) -> Option<String> {
    let said = match (&f.rpc_error, &f.tool_result) {
        (Some(error), _) => error.message.trim_end(),
        (None, Some(result)) if result.is_error => result.text.trim_end(),
        (None, Some(_) | None) => return None,
    };
    let stderr = readable(f.stderr.as_deref()?);
    stderr
        .lines()
        .rev()
        .take(TRACED)
        .map(|line| line.trim_matches(|c: char| c.is_whitespace() || c == '│'))
        .find(|line| {
            line.split_once(": ").is_some_and(|(class, message)| {
                (class.ends_with("Error") || class.ends_with("Exception"))
                    && !class.contains(' ')
                    && !message.is_empty()
                    && said != message
                    && said.ends_with(message)
            })
        })
        .map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::traced;
    use crate::model::{Failure, ToolResult};

    #[test]
    fn the_class_behind_an_answered_error_is_found_on_stderr() {
        let failure = |text: &str| Failure {
            stderr: Some("│ trace │\nNotImplementedError: payment backend   \nbye".into()),
            tool_result: Some(ToolResult {
                is_error: true,
                text: text.into(),
                ..ToolResult::default()
            }),
            ..Failure::default()
        };
        assert_eq!(
            traced(&failure("Error calling tool 'checkout': payment backend")).as_deref(),
            Some("NotImplementedError: payment backend")
        );
        assert_eq!(
            traced(&failure("Error calling tool 'checkout': no card")),
            None
        );
    }
}
