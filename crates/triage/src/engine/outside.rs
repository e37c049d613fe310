//! What speaks for something outside of the code where an answer is held against it: the
//! server's own words beside a bare "internal error", and an exception that an old runtime,
//! another version of a library or a missing variable explains.

use super::clues::without_coped_with;
use super::diagnose::Engine;
use super::facts::{Facts, FailureSource};
use super::fingerprint::Algorithm;
use super::rule::{Audience, Rule};
use super::tables::{any_of, built, table};
use jelly_base::model::{Diagnosis, Exit, Failure, Fix, Outcome, Phase, Side, ToolResult};
use jelly_base::text::LazyPattern;
use regex::Regex;
use serde::Deserialize;
use serde_json::Value;
use std::sync::LazyLock;

/// The rule for a line that reads a variable which is not there.
const READ_IN_VAIN: &str = "config/variable-read-in-vain";
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

/// `tables/foreign.yaml`, which says what it is.
#[derive(Deserialize)]
struct ForeignWords {
    others: Vec<String>,
    arguments: Vec<String>,
    code: Vec<String>,
    sometimes: Vec<String>,
    surely: Vec<String>,
}

struct ForeignSigns {
    /// Whose failure it is.
    others: Regex,
    /// Arguments that hold code, and how it looks there.
    code: [(Vec<String>, Regex); 2],
}

static FOREIGN: LazyLock<ForeignSigns> = LazyLock::new(|| {
    let words: ForeignWords = table(built!("foreign"));
    ForeignSigns {
        others: any_of("im", &words.others),
        code: [
            (words.arguments, any_of("", &words.code)),
            (words.sometimes, any_of("", &words.surely)),
        ],
    }
});

/// Bytes before an exception that say whose it is.
const SAID_BEFORE: usize = 300;
/// What stands before the words of an exception of the server's own.
const OF_OWN_TOOL: [&str; 3] = [
    "Error executing tool ",
    "Error calling tool ",
    "Internal error",
];

/// Why an answer need not be the code's fault.
pub(super) enum Doubt {
    /// The server says more than its error does.
    MoreIsSaid,
    /// What failed may be what the tool calls or runs.
    Foreign,
    /// It would be this at the start of a program, or in a test.
    Explained(Box<Diagnosis>),
    /// The line that failed reads a variable, and got nothing.
    ReadInVain(Box<Diagnosis>),
}

impl Doubt {
    /// What to do about it first, if that can be said.
    pub(super) fn fix(self) -> Option<Fix> {
        match self {
            Self::MoreIsSaid => None,
            Self::Foreign => Some(Fix::text(
                "The exception may be of what the tool calls, or of the code that the call gives it, \
                 and not of the server: look there first.",
            )),
            Self::Explained(said) => {
                Some(second_fix("It names", "which may be behind it", &said).0)
            }
            Self::ReadInVain(said) => Some(
                second_fix(
                    "The line that failed reads",
                    "which may be behind it",
                    &said,
                )
                .0,
            ),
        }
    }
}

/// Root causes for which no service gave what it was asked for over the network.
const NO_ANSWER: [&str; 6] = [
    "connection_refused",
    "connection_reset",
    "network_dns",
    "network_timeout",
    "rate_limited",
    "upstream_error",
];

/// What is named outside of the code, as something to do; and whether nothing was reached there.
pub(super) fn second_fix(words: &str, what_of_it: &str, said: &Diagnosis) -> (Fix, bool) {
    let fix = Fix::text(format!(
        "{words} something outside of its code, {what_of_it}: {}",
        said.advice.what
    ));
    (fix, NO_ANSWER.contains(&&*said.root_cause))
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
            || self.is_asked_first(&rule.id)
        {
            return None;
        }
        let is_error = is_answer && rule.root_cause == "internal_error";
        if (is_error || rule.root_cause == "crashed_during_call")
            && let Some(said) = self.read_in_vain(facts, audience)
        {
            return Some(Doubt::ReadInVain(Box::new(said)));
        }
        if !is_error {
            return None;
        }
        if is_foreign(failure) {
            return Some(Doubt::Foreign);
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

    /// What the server wrote of an exception, if the line that raised it reads a variable of the
    /// environment that is not there.
    fn read_in_vain(&self, facts: &Facts<'_>, audience: Audience) -> Option<Diagnosis> {
        let failure = facts.failure;
        let fresh = failure
            .stderr
            .as_ref()
            .filter(|_| !failure.stderr_is_older)?;
        let ended = ended_with(failure, fresh.clone());
        let said = self
            .diagnose_facts(&Facts::new(&ended), audience, Algorithm::Second)
            .0;
        (said.rule == READ_IN_VAIN).then_some(said)
    }

    /// What the words of an answer would be if a program ended with them, or a test of it
    /// failed.
    fn explained(&self, failure: &Failure, audience: Audience) -> Option<Diagnosis> {
        let words = words(failure)?;
        let ended = ended_with(failure, words.clone());
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
        told.find_map(|text| {
            let text = without_coped_with(text);
            let text = Some(&*text).filter(|text| !text.trim().is_empty())?;
            self.environment(facts, text, audience, true)
        })
    }
}

/// The same server as if it had ended with these words before it could speak.
fn ended_with(failure: &Failure, words: String) -> Failure {
    Failure {
        phase: Some(Phase::Handshake),
        outcome: Some(Outcome::Eof),
        exit: Some(Exit {
            code: Some(1),
            signal: None,
        }),
        stderr: Some(words),
        server: failure.server.clone(),
        argv: failure.argv.clone(),
        env_delta: failure.env_delta.clone(),
        cwd: failure.cwd.clone(),
        ..Failure::default()
    }
}

/// Whether the exception in an answer is passed on of somebody else, or came of code that the
/// call gave.
fn is_foreign(failure: &Failure) -> bool {
    let ForeignSigns { others, code } = &*FOREIGN;
    let said = match (&failure.tool_result, &failure.rpc_error) {
        (Some(result), _) => &result.text,
        (None, Some(error)) => &error.message,
        (None, None) => return false,
    };
    let begin = &said[..said.floor_char_boundary(SAID_BEFORE.min(said.len()))];
    let is_own = OF_OWN_TOOL.iter().any(|words| begin.starts_with(words));
    let params = failure
        .request
        .as_ref()
        .and_then(|request| request.params.as_ref());
    let given = params.and_then(|params| params.get("arguments")?.as_object());
    let gives_code = given.is_some_and(|given| {
        let is_code = |(name, value): (&String, &Value)| {
            let name = name.to_ascii_lowercase();
            let Some(text) = value.as_str() else {
                return false;
            };
            // An address is no code, whatever its parameters are.
            let is_address = ["http://", "https://"]
                .iter()
                .any(|it| text.starts_with(it))
                && !text.contains(char::is_whitespace);
            let mut kinds = code.iter().filter(|(names, _)| names.contains(&name));
            !is_address && kinds.any(|(_, code)| code.is_match(text))
        };
        given.iter().any(is_code)
    });
    // Where somebody else's answer was raised again proves nothing.
    !is_own && others.is_match(begin) || gives_code && !names_own_file(failure, said)
}

/// Whether the innermost line of a stack, in the answer or on stderr, is in what the server was
/// started from: a script by its path, or a module of Python.
fn names_own_file(failure: &Failure, said: &str) -> bool {
    static FRAME: LazyPattern =
        LazyPattern::ascii(r#"(?m)^\s*(?:File "([^"\n]+)"|at (?:[^\n(]*\()?([^\n()]+?):\d+)"#);
    let unix = |path: &str| path.replace('\\', "/");
    let modules = failure.argv.windows(2).filter(|words| words[0] == "-m");
    let modules: Vec<String> = modules.map(|words| words[1].replace('.', "/")).collect();
    let scripts = failure.argv.iter().filter(|word| {
        let name = word.rsplit(['/', '\\']).next().unwrap_or(word);
        name.contains('.') && !word.starts_with('-')
    });
    let scripts: Vec<String> = scripts.map(|word| unix(word)).collect();
    let cwd = failure.cwd.as_deref().map(unix).unwrap_or_default();
    // What the call names is the call's.
    let given = (failure.request.as_ref()).and_then(|request| request.params.as_ref());
    let given = given.map_or_else(String::new, Value::to_string);
    let is_source = |script: &str| {
        let endings = ["cjs", "js", "mjs", "php", "pl", "py", "rb", "ts"];
        let ending = script.rsplit_once('.').map(|(_, ending)| ending);
        ending.is_some_and(|ending| endings.contains(&ending))
    };
    let is_script = |at: &str, script: &String| {
        let script = script.trim_start_matches("./");
        // What lies beside a file of source is its own, too.
        let folder = script.rsplit_once('/').map(|(folder, _)| folder);
        let (beside, name) = at.rsplit_once('/').unwrap_or_default();
        let is_deep = folder.is_some_and(|folder| folder.matches('/').count() > 1);
        // A file that is made of what a call gives has a name that is made, too.
        let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
        let has_digit = |text: &str| text.contains(|c: char| c.is_ascii_digit());
        let last = stem.rsplit_once(['_', '-']).map_or("", |(_, last)| last);
        let is_version = last.starts_with('v') && last[1..].bytes().all(|b| b.is_ascii_digit());
        let made = [
            "cell", "code", "eval", "exec", "job", "script", "snippet", "temp", "tmp",
        ];
        let begins = made.iter().any(|begin| stem.starts_with(begin));
        let is_made = has_digit(last) && !is_version || begins && has_digit(stem);
        let is_given = || {
            let goes_on = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
            let mut places = given.match_indices(name);
            places.any(|(at, _)| !given[..at].ends_with(goes_on))
        };
        if is_deep && folder == Some(beside) && is_source(script) && !is_made && !is_given() {
            return true;
        }
        match cwd.is_empty() || script.starts_with('/') {
            true => at == script || !script.starts_with('/') && at.ends_with(&format!("/{script}")),
            false => at == script || at == format!("{}/{script}", cwd.trim_end_matches('/')),
        }
    };
    let is_module = |at: &str, module: &String| {
        at.ends_with(&format!("/{module}.py")) || at.contains(&format!("/{module}/"))
    };
    let fresh = failure
        .stderr
        .as_deref()
        .filter(|_| !failure.stderr_is_older);
    [Some(said), fresh].into_iter().flatten().any(|text| {
        let frames: Vec<&str> = FRAME
            .captures_iter(text)
            .filter_map(|frame| Some(frame.get(1).or(frame.get(2))?.as_str()))
            .collect();
        // Python tells the innermost last.
        let innermost = match text.contains("File \"") {
            true => frames.last(),
            false => frames.first(),
        };
        innermost.is_some_and(|at| {
            let at = unix(at.trim_start_matches("file://"));
            scripts.iter().any(|script| is_script(&at, script))
                || modules.iter().any(|module| is_module(&at, module))
        })
    })
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

    fn answer(text: &str, arguments: Value) -> (Side, bool) {
        let said = of(json!({
            "outcome": "result",
            "request": {"method": "tools/call", "params": {"name": "t", "arguments": arguments}},
            "tool_result": {"isError": true, "text": text},
        }));
        (said.side, said.ambiguous)
    }

    #[test]
    fn an_exception_of_somebody_else_is_not_held_against_the_server() {
        for (text, arguments) in [
            (
                "Upstream returned 500: {\"error\":\"java.lang.NullPointerException\"}",
                json!({}),
            ),
            (
                "Jenkins build #12 failed: java.lang.NullPointerException at com.acme.FooTest.test(FooTest.java:3)",
                json!({"job": "x"}),
            ),
            (
                "Salesforce error: System.NullPointerException: Attempt to de-reference a null object",
                json!({}),
            ),
            (
                "Lambda invocation failed: {\"errorType\":\"TypeError\",\"errorMessage\":\"x is not a function\"}",
                json!({}),
            ),
            (
                "Backend error (HTTP 500): Traceback (most recent call last):\n  File \"/srv/api/app.py\", line 3, in <module>\nKeyError: 'x'",
                json!({}),
            ),
            (
                "GraphQL error: Cannot read properties of undefined (reading 'id')",
                json!({}),
            ),
            (
                "Cell 3 failed: NameError: name 'pd' is not defined",
                json!({}),
            ),
            (
                "page.evaluate: ReferenceError: foo is not defined",
                json!({"text": "x"}),
            ),
            (
                "Error: Command failed: node bad.js\nTypeError: Cannot read properties of undefined (reading 'name')",
                json!({}),
            ),
            (
                "Error executing tool t: unsupported operand type(s) for +: 'int' and 'str'",
                json!({"expression": "1 + 'a'"}),
            ),
            (
                "Traceback (most recent call last):\n  File \"/w/job.py\", line 2, in <module>\nKeyError: 'x'",
                json!({"command": "python3 job.py"}),
            ),
        ] {
            assert_eq!(answer(text, arguments), (Side::Test, true), "{text}");
        }
        for (text, arguments) in [
            (
                "Search failed: 'NoneType' object has no attribute 'get'",
                json!({"query": "x"}),
            ),
            (
                "Error executing tool t: unsupported operand type(s) for +: 'int' and 'str'",
                json!({"count": 1}),
            ),
            (
                "Error executing tool t: unsupported operand type(s) for +: 'int' and 'str'",
                json!({"code": "DE"}),
            ),
            (
                "TypeError: Cannot read properties of undefined (reading 'name')\n    at list (/srv/server.js:4:5)",
                json!({"city": "Graz"}),
            ),
            (
                "Error executing tool t: unsupported operand type(s) for +: 'int' and 'str'",
                json!({"command": "list all", "script": "Latin (extended)", "formula": "H2 O"}),
            ),
            (
                "Node 7 failed: Cannot read properties of undefined (reading 'name')",
                json!({}),
            ),
        ] {
            assert_eq!(answer(text, arguments), (Side::Code, false), "{text}");
        }
    }

    #[test]
    fn code_that_the_call_gave_does_not_excuse_the_server_s_own_line() {
        let failed = |at: &str| {
            let said = of(json!({
                "outcome": "result", "argv": ["python3", "/srv/server.py"],
                "request": {"method": "tools/call", "params": {"name": "t", "arguments": {"code": "f(1)"}}},
                "stderr": format!("Traceback (most recent call last):\n  File \"/lib/sdk.py\", line 3, in call\n  File \"{at}\", line 9, in t\nKeyError: 'a'\n"),
                "tool_result": {"isError": true, "text": "Error executing tool t: 'a'\nKeyError: 'a'"},
            }));
            (said.side, said.ambiguous)
        };
        assert_eq!(failed("/srv/server.py"), (Side::Code, false));
        assert_eq!(failed("/opt/shop/server.py"), (Side::Test, true));
        assert_eq!(failed("/tmp/job.py"), (Side::Test, true));
    }

    #[test]
    fn what_a_server_goes_on_without_is_not_why_it_fails() {
        let logged = |text: &str| {
            of(json!({
                "outcome": "error", "logs": [text],
                "rpc_error": {"code": -32603, "message": "Internal error"},
            }))
        };
        let said = logged("cache: connect ECONNREFUSED 127.0.0.1:6379, continuing without cache");
        assert_eq!(said.root_cause, "internal_error", "{}", said.rule);
        let said = logged("cache: connect ECONNREFUSED 127.0.0.1:6379");
        assert_eq!(said.root_cause, "connection_refused", "{}", said.rule);
    }

    #[test]
    fn a_line_that_reads_a_variable_in_vain_is_not_held_against_the_server() {
        let stderr = "Traceback (most recent call last):\n  File \"/srv/s.py\", line 11, in t\n    return str(int(os.environ.get(\"MAX_ROWS\")))\n               ^^^^^^^^^^^^^^^\nTypeError: int() argument must be a string, a bytes-like object or a real number, not 'NoneType'\n";
        let said = of(json!({
            "outcome": "result", "stderr": stderr,
            "tool_result": {"isError": true, "text": "Error executing tool t: int() argument must be a string, a bytes-like object or a real number, not 'NoneType'"},
        }));
        assert_eq!(
            (said.side, said.ambiguous),
            (Side::Test, true),
            "{}",
            said.rule
        );
        assert!(
            said.advice
                .fix
                .iter()
                .any(|fix| fix.text.contains("MAX_ROWS")),
            "{:?}",
            said.advice
        );
        let died = of(json!({"outcome": "eof", "exit": {"code": 1}, "stderr": stderr}));
        assert_eq!(
            (died.side, died.ambiguous),
            (Side::Test, true),
            "{}",
            died.rule
        );
    }

    #[test]
    fn an_error_without_words_is_not_the_code_s_where_more_is_said() {
        for data in [
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
