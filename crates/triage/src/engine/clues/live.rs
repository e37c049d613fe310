//! The texts of a failure that a client of the server saw.

use super::slice::{List, readable};
use super::{noise, quoted, talk, usage};
use crate::engine::answered;
use crate::engine::facts::{Ending, Facts, Promise, blank};
use crate::engine::field::Field;
use jelly_base::model::Phase;
use serde_json::Value;
use std::borrow::Cow;

pub(super) fn live<'a>(list: &mut List<'a>, facts: &Facts<'a>) {
    let f = facts.failure;
    if facts.promise == Some(Promise::Expectation) {
        // What an assertion compares is no evidence.
        return;
    }
    if let Some(text) = f.spawn_error.as_ref().and_then(|e| e.text.as_deref()) {
        list.whole(Field::Spawn, "spawn_error.text", Cow::Borrowed(text), 1);
    }
    if let Some(error) = &f.rpc_error {
        list.with_roots(Field::Answer, "rpc_error.message", &error.message, 1);
        if let Some(data) = &error.data {
            let whole = match data.as_str() {
                Some(text) => text.to_owned(),
                None => data.to_string(),
            };
            list.whole(Field::Answer, "rpc_error.data", Cow::Owned(whole), 2);
            // Why, behind a message that may only announce it; our own proxy has labelled
            // the failure by it already.
            if f.label.is_none()
                && let Some(whole) = answered::statement(&error.message, data)
            {
                list.whole(Field::Answer, "rpc_error.data", Cow::Owned(whole), 0);
            }
            // Sentences in it, as they were meant to be read.
            let said = answered::sentences(data).join("\n");
            list.with_roots(Field::Answer, "rpc_error.data", said, 1);
        }
    }
    if let Some(result) = &f.tool_result {
        list.with_roots(Field::Answer, "tool_result.text", &result.text, 1);
    }
    if let Some(said) = f.stdout.as_deref().and_then(answer_printed) {
        list.with_roots(Field::Answer, "stdout", said, 1);
    }
    if let Some(http) = f.http.as_ref().filter(|_| !facts.kept_waiting()) {
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
    // In a call whose time ran out, all is talk but what is said again and again.
    let logs = match facts.logged_again {
        Some(line) => line.to_owned(),
        None => noise::without_coped_with(&f.logs.join("\n")).into_owned(),
    };
    if !logs.is_empty() {
        list.with_roots(Field::Stderr, "logs", logs, 1);
    }
    let start = list.texts.len();
    let stderr = match (facts.said_again, facts.logged_again) {
        (Some(line), _) => Some(line),
        (None, Some(_)) => None,
        (None, None) => f.stderr.as_deref(),
    };
    if let Some(stderr) = stderr {
        let stderr = match noise::without_coped_with(stderr) {
            Cow::Borrowed(stderr) => noise::without_warnings(stderr),
            Cow::Owned(stderr) => Cow::Owned(noise::without_warnings(&stderr).into_owned()),
        };
        let stderr = quoted::without_raising_source(quoted::without_source(stderr));
        let stderr = quoted::without_literals(stderr);
        let stderr = usage::without_help(talk::without_talk(stderr));
        list.with_roots(Field::Stderr, "stderr", stderr, 2);
    }
    if let Some(stdout) = &f.stdout {
        let stdout = usage::without_help(Cow::Borrowed(stdout));
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
        // What ends before it is ready says why wherever it writes.
        let failed = !matches!(facts.ended, Some(Ending::Zero));
        if facts.died && failed && facts.starting && blank(&f.stderr) {
            list.with_roots(Field::Stderr, "stdout_noise", noise.clone(), 2);
        }
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

/// The error that a client program printed as its result: the answer of a tool
/// as JSON, alone on stdout.
fn answer_printed(stdout: &str) -> Option<String> {
    let stdout = stdout.trim();
    if !stdout.starts_with('{') || !stdout.contains("isError") {
        return None;
    }
    let answer: Value = serde_json::from_str(stdout).ok()?;
    if answer.get("isError") != Some(&Value::Bool(true)) {
        return None;
    }
    let texts = answer.get("content")?.as_array()?.iter();
    let said: Vec<&str> = texts
        .filter_map(|part| part.get("text")?.as_str())
        .collect();
    Some(said.join("\n"))
}
