//! What speaks for something outside of the code where an answer is held against it: the
//! server's own words beside a bare "internal error", and an exception that an old runtime,
//! another version of a library or a missing variable explains.

use super::diagnose::Engine;
use super::facts::{Facts, FailureSource};
use super::fingerprint::Algorithm;
use super::rule::{Audience, Rule};
use super::tables::{any_of, built, table};
use jelly_base::model::{Diagnosis, Exit, Failure, Outcome, Phase, Side, ToolResult};
use regex::Regex;
use serde::Deserialize;
use serde_json::Value;
use std::sync::LazyLock;

/// The rule for an error that has no words of its own.
const WORDLESS: &str = "mcp/internal-error-said";
/// Members of an error's `data` that tell what was asked, and nothing of why it failed.
const OF_REQUEST: [&str; 12] = [
    "id",
    "method",
    "name",
    "params",
    "path",
    "requestid",
    "request_id",
    "timestamp",
    "tool",
    "traceid",
    "trace_id",
    "url",
];
/// Root causes that explain an exception of the code from outside.
pub(super) const EXPLAIN: [&str; 14] = [
    "config_missing",
    "connection_refused",
    "connection_reset",
    "dependency_unavailable",
    "dependency_version_mismatch",
    "invalid_config",
    "missing_env_var",
    "missing_module",
    "network_dns",
    "network_timeout",
    "package_not_found",
    "runtime_version_mismatch",
    "tls_error",
    "transport_mismatch",
];

/// `tables/versions.yaml`, which says what it is.
#[derive(Deserialize)]
struct VersionWords {
    exceptions: Vec<String>,
}

static OF_VERSIONS: LazyLock<Regex> = LazyLock::new(|| {
    let words: VersionWords = table(built!("versions"));
    any_of("", &words.exceptions)
});

/// Why an answer need not be the code's fault.
pub(super) enum Doubt {
    /// The server says more than its error does.
    MoreIsSaid,
    /// It would be this at the start of a program, or in a test.
    Explained(Box<Diagnosis>),
}

impl Engine {
    /// What speaks against holding an answer against the code.
    pub(super) fn doubt(
        &self,
        rule: &Rule,
        facts: &Facts<'_>,
        audience: Audience,
    ) -> Option<Doubt> {
        let failure = facts.failure;
        let is_answer = matches!(failure.outcome, Some(Outcome::Result | Outcome::Error))
            || failure.outcome.is_none()
                && (failure.tool_result.is_some() || failure.rpc_error.is_some());
        if facts.source != FailureSource::Live
            || facts.starting
            || failure.phase == Some(Phase::List)
            || !is_answer
            || rule.root_cause != "internal_error"
            || self.is_asked_first(&rule.id)
        {
            return None;
        }
        let explained = || self.explained(failure, audience);
        let is_of_version = || words(failure).is_some_and(|said| OF_VERSIONS.is_match(&said));
        if rule.id != WORDLESS && is_of_version() {
            return Some(Doubt::MoreIsSaid);
        }
        if rule.id != WORDLESS {
            return explained().map(|said| Doubt::Explained(Box::new(said)));
        }
        let data = failure
            .rpc_error
            .as_ref()
            .and_then(|error| error.data.as_ref());
        if let Some(said) = explained().or_else(|| self.told_beside(facts, audience)) {
            return Some(Doubt::Explained(Box::new(said)));
        }
        data.is_some_and(says_why).then_some(Doubt::MoreIsSaid)
    }

    /// What the words of an answer would be if a program ended with them, or a test of it
    /// failed.
    fn explained(&self, failure: &Failure, audience: Audience) -> Option<Diagnosis> {
        let words = words(failure)?;
        let ended = Failure {
            phase: Some(Phase::Handshake),
            outcome: Some(Outcome::Eof),
            exit: Some(Exit {
                code: Some(1),
                signal: None,
            }),
            stderr: Some(words.clone()),
            server: failure.server.clone(),
            argv: failure.argv.clone(),
            env_delta: failure.env_delta.clone(),
            cwd: failure.cwd.clone(),
            ..Failure::default()
        };
        let tested = Failure {
            element: Some("error".to_owned()),
            message: words.lines().next().map(str::to_owned),
            text: Some(words.clone()),
            ..Failure::default()
        };
        let answered = Failure {
            phase: Some(Phase::Call),
            outcome: Some(Outcome::Result),
            request: failure.request.clone(),
            tool_result: Some(ToolResult {
                is_error: true,
                text: words,
                ..ToolResult::default()
            }),
            ..Failure::default()
        };
        // What it says already was read as an answer.
        let own = failure.tool_result.as_ref();
        let is_read = own.is_some_and(|result| answered.tool_result.as_ref() == Some(result));
        let answered = Some(answered).filter(|_| !is_read);
        answered.iter().chain([&ended, &tested]).find_map(|read| {
            let said = self
                .diagnose_facts(&Facts::new(read), audience, Algorithm::Second)
                .0;
            let is_sure = said.side == Side::Test && !said.ambiguous;
            (is_sure && EXPLAIN.contains(&&*said.root_cause)).then_some(said)
        })
    }

    /// What the server wrote during the call, read as an answer, where that is the
    /// environment's: an error without words says nothing else.
    fn told_beside(&self, facts: &Facts<'_>, audience: Audience) -> Option<Diagnosis> {
        let failure = facts.failure;
        let fresh = failure.stderr.as_ref().filter(|_| !failure.stderr_is_older);
        let logs = failure.logs.join("\n");
        let told = [Some(&logs), fresh];
        let mut told = told
            .into_iter()
            .flatten()
            .filter(|text| !text.trim().is_empty());
        told.find_map(|text| self.environment(facts, text, audience, true))
    }
}

/// What an answer says, without what an SDK puts before it.
fn words(failure: &Failure) -> Option<String> {
    let said = match (&failure.rpc_error, &failure.tool_result) {
        (Some(error), _) => {
            let data = error.data.as_ref().map(super::answered::sentences);
            match data.filter(|said| !said.is_empty()) {
                Some(said) => said.join("\n"),
                None => error.message.clone(),
            }
        }
        (None, Some(result)) => result.text.clone(),
        (None, None) => return None,
    };
    let bare = [
        "Error executing tool ",
        "Error calling tool ",
        "An error occurred invoking ",
    ]
    .iter()
    .find_map(|words| said.strip_prefix(words)?.split_once(": "))
    .map(|(_, rest)| rest.to_owned());
    Some(bare.unwrap_or(said)).filter(|said| !said.trim().is_empty())
}

/// Whether the `data` of an error tells anything of why it came.
fn says_why(data: &Value) -> bool {
    match data {
        Value::Null | Value::Bool(_) => false,
        Value::Number(_) => true,
        Value::String(text) => !text.trim().is_empty(),
        Value::Array(items) => items.iter().any(says_why),
        Value::Object(members) => members.iter().any(|(name, value)| {
            !OF_REQUEST.contains(&&*name.to_ascii_lowercase()) && says_why(value)
        }),
    }
}

#[cfg(test)]
mod tests {
    use crate::engine::Engine;
    use jelly_base::model::{Diagnosis, Failure, Side};
    use serde_json::{Value, json};

    fn of(answer: Value) -> Diagnosis {
        let mut failure = json!({"phase": "call", "request": {"method": "tools/call", "params": {"name": "t", "arguments": {}}}});
        for (name, value) in answer.as_object().unwrap() {
            failure[name] = value.clone();
        }
        let failure: Failure = serde_json::from_value(failure).unwrap();
        Engine::builtin().diagnose(&failure)
    }

    fn internal(data: Value) -> Diagnosis {
        of(
            json!({"outcome": "error", "rpc_error": {"code": -32603, "message": "Internal error", "data": data}}),
        )
    }

    #[test]
    fn an_error_without_words_is_not_the_code_s_where_more_is_said() {
        for data in [
            json!({"upstream": {"status": 502}}),
            json!({"reason": "quota", "retryAfter": 30}),
            json!({"error": "The caller does not have permission"}),
            json!("Host key verification failed."),
        ] {
            let said = internal(data.clone());
            assert_eq!(
                (said.side, said.ambiguous),
                (Side::Test, true),
                "{data}: {}",
                said.rule
            );
        }
        for data in [
            json!(null),
            json!({}),
            json!({"requestId": "7a", "tool": "t"}),
        ] {
            assert_eq!(internal(data.clone()).side, Side::Code, "{data}");
        }
        let own = json!({"stack": "TypeError: x.map is not a function\n    at f (/srv/a.js:3:1)"});
        assert_eq!(internal(own).side, Side::Code);
        let logged = of(
            json!({"outcome": "error", "stderr": "ERROR: OPENAI_API_KEY not set\n", "rpc_error": {"code": -32603, "message": "Internal error"}}),
        );
        assert!(logged.ambiguous, "{}", logged.rule);
    }

    #[test]
    fn an_exception_that_a_version_explains_proves_nothing_against_the_code() {
        for text in [
            "TypeError: Promise.withResolvers is not a function",
            "Error executing tool t: Object.groupBy is not a function",
            "AttributeError: module 'numpy' has no attribute 'float'.",
            "AttributeError: 'str' object has no attribute 'removeprefix'",
            "Error executing tool t: Cannot read properties of undefined (reading '_zod')",
            "Error executing tool t: thread 'main' panicked at src/db.rs:9:5:\ncalled `Result::unwrap()` on an `Err` value: Os { code: 111, kind: ConnectionRefused, message: \"Connection refused\" }",
        ] {
            let said =
                of(json!({"outcome": "result", "tool_result": {"isError": true, "text": text}}));
            assert_eq!(said.side, Side::Test, "{text}: {}", said.rule);
        }
        for text in [
            "TypeError: Cannot read properties of undefined (reading 'id')",
            "Error executing tool t: 'NoneType' object is not subscriptable",
            "KeyError: 'price'",
        ] {
            let said =
                of(json!({"outcome": "result", "tool_result": {"isError": true, "text": text}}));
            assert_eq!(said.side, Side::Code, "{text}: {}", said.rule);
        }
    }
}
