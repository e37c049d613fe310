//! What is quoted when a typed fact decides: what was seen, in words.

use super::clues;
use super::facts::{Facts, Promise, breach};
use super::listening;
use super::statement::unwrapped_in_node;
use super::statement_lines::without_test;
use jelly_base::model::{Evidence, Failure, HttpFacts, PlanIssue};
use jelly_base::text::{one_line, shell_command};
use serde_json::{Map, Value};

/// Bytes of the evidence that a diagnosis quotes.
const EVIDENCE: usize = 300;

pub(super) fn evidence(field: &str, text: &str) -> Evidence {
    Evidence {
        field: field.to_owned(),
        text: one_line(text.trim(), EVIDENCE),
    }
}

/// Evidence that is no more than the kind of a failure, in the words of its message.
pub(super) fn in_message(known: Evidence, failure: &Failure) -> Evidence {
    // As Node's test runner types them.
    const KINDS: [&str; 3] = ["cancelledByParent", "hookFailed", "testCodeFailure"];
    let message = failure.message.as_deref().unwrap_or_default().trim();
    match KINDS.contains(&known.text.as_str()) && !message.is_empty() {
        true => evidence("message", message),
        false => known,
    }
}

/// Names of members that hold what went wrong, in words.
const SAYING: [&str; 5] = ["error", "message", "detail", "reason", "error_message"];

/// Evidence as people read it: of a member of JSON, or of an object of it at the
/// end of a line, the words that it holds.
pub(super) fn in_words(text: &str) -> String {
    let member = format!("{{{}}}", text.trim().trim_end_matches(','));
    if let Ok(members) = serde_json::from_str::<Map<String, Value>>(&member)
        && let Some((name, Value::String(words))) = members.iter().next()
        && members.len() == 1
        && SAYING.contains(&&**name)
        && !words.trim().is_empty()
    {
        return one_line(words.trim(), EVIDENCE);
    }
    // One that was cut, or is too long for a line.
    let cut = SAYING.iter().find_map(|name| {
        let rest = text.trim_start().strip_prefix(&format!("\"{name}\":"))?;
        rest.trim_start().strip_prefix('"')
    });
    if let Some(cut) = cut {
        let words = cut.replace("\\n", " ").replace("\\\"", "\"");
        return one_line(&words, EVIDENCE);
    }
    let object = text.find('{').map(|at| text.split_at(at));
    if let Some((before, object)) = object
        && let Ok(members) = serde_json::from_str::<Map<String, Value>>(object)
    {
        let said = SAYING.iter().find_map(|name| members.get(*name)?.as_str());
        if let Some(words) = said.filter(|words| !words.trim().is_empty()) {
            return one_line(&format!("{before}{}", words.trim()), EVIDENCE);
        }
    }
    text.to_owned()
}

/// The evidence of a typed fact: what was seen, in words, with the telling
/// line of stderr where a process ended.
pub(super) fn evidence_of(facts: &Facts<'_>) -> Option<Evidence> {
    let f = facts.failure;
    if let Some(issue) = &f.issue {
        return Some(evidence(
            "issue",
            &issue_text(issue, facts.issue.as_deref()),
        ));
    }
    if let Some((field, what)) = breach(f) {
        return Some(evidence(field, what));
    }
    if let Some((_, says)) = facts
        .error_answer
        .as_ref()
        .filter(|(_, says)| !says.is_empty())
    {
        let line = clues::telling_line(says).unwrap_or_default();
        return Some(evidence("tool_result.text", &line));
    }
    if let (Some(assertion), Some(Promise::Expectation | Promise::OutputSchema)) =
        (&f.assertion, facts.promise)
    {
        if let (true, Some(message)) = (assertion.is_told_in_words(), &f.message) {
            return Some(evidence("assertion", message));
        }
        let place = assertion.place();
        let path = place.map_or(String::new(), |place| format!(" at {place}"));
        // Long texts begin alike, so that a beginning shows nothing.
        if let Some(difference) = &assertion.difference {
            let text = format!("expected {}{path}; {}", assertion.kind, difference.first);
            return Some(evidence("assertion", &text));
        }
        let actual = one_line(&assertion.actual.to_string(), 120);
        let got = match (assertion.absent, assertion.actual.is_null()) {
            (true, true) => "nothing".to_owned(),
            (true, false) => format!("nothing in {actual}"),
            (false, _) => actual,
        };
        return Some(evidence(
            "assertion",
            &format!(
                "expected {}{path} {}, got {got}",
                assertion.kind,
                one_line(&assertion.expected.to_string(), 120),
            ),
        ));
    }
    if let Some(error) = &f.spawn_error {
        let name = error.name.clone().unwrap_or_default();
        let text = error.text.clone().unwrap_or_default();
        return Some(evidence("spawn_error", format!("{name} {text}").trim()));
    }
    if let Some(error) = &f.rpc_error {
        let code = error.code.map_or(String::new(), |code| format!("{code}: "));
        return Some(evidence("rpc_error", &format!("{code}{}", error.message)));
    }
    if facts.kept_waiting()
        && let Some((field, line)) = listening::listening_elsewhere(f)
    {
        return Some(evidence(field, line));
    }
    // What authorization came to, or what the server was waited for, says more
    // than a status; what came of a proxy, more than jelly's sentence around it.
    if let Some(http) = &f.http
        && let Some(text) = &http.text
        && (facts.kept_waiting()
            || http.error.as_deref().is_some_and(is_of_authorization)
            || http.proxy.is_some() && (http.status.is_none() || is_of_tunnel(http)))
    {
        return Some(evidence("http.text", text));
    }
    if let Some(status) = facts.http_status.filter(|status| *status >= 300) {
        let words = f.http.as_ref().and_then(reason_given);
        let words = words.map_or(String::new(), |words| format!(": {words}"));
        return Some(evidence("http.status", &format!("HTTP {status}{words}")));
    }
    if let Some(result) = f.tool_result.as_ref().filter(|r| !r.text.trim().is_empty()) {
        return Some(evidence("tool_result.text", &result.text));
    }
    // Of an answer that holds none, a log of requests tells nothing.
    let is_no_answer = f.http.as_ref().is_some_and(|http| http.status.is_some());
    if is_no_answer
        && !facts.died
        && !facts.timed_out
        && let Some(message) = f.message.as_deref().and_then(clues::telling_line)
    {
        return Some(evidence("message", &message));
    }
    // What stood there before the request was said of something else.
    let own = f.stderr.as_deref().filter(|_| !f.stderr_is_older);
    let line = own.and_then(clues::telling_line);
    if facts.listens
        && let Some((field, line)) = listening::told_to_listen(f)
    {
        return Some(evidence(field, line));
    }
    if facts.http_mode && !f.is_service {
        return Some(evidence("argv", &shell_command(&f.argv)));
    }
    if facts.died {
        let noise = clues::telling_line(&f.stdout_noise.join("\n"));
        if let (None, Some(noise)) = (&line, noise) {
            return Some(evidence("stdout_noise", &noise));
        }
        // What it logged by notifications are its last words as well.
        let logged = clues::telling_line(&f.logs.join("\n"));
        if let (None, Some(logged), false) = (&line, logged, ended_from_outside(f)) {
            return Some(evidence("logs", &logged));
        }
        return Some(match (line, exit_text(f)) {
            // What it said before somebody ended it says nothing of its end.
            (_, Some((field, exit))) if ended_from_outside(f) => evidence(field, &exit),
            (Some(line), _) => evidence("stderr", &line),
            (None, Some((field, exit))) if facts.silent && !f.stderr_is_older => {
                evidence(field, &format!("{exit}, nothing on stderr"))
            }
            (None, Some((field, exit))) => evidence(field, &exit),
            (None, None) => evidence("outcome", "stdout was closed, nothing on stderr"),
        });
    }
    let noise = f.stdout_noise.iter().find(|line| !line.trim().is_empty());
    if facts.timed_out
        && facts.starting
        && line.is_none()
        && let Some(noise) = noise
    {
        return Some(evidence("stdout_noise", noise));
    }
    if facts.timed_out
        && facts.starting
        && line.is_none()
        && let Some(logged) = clues::telling_line(&f.logs.join("\n"))
    {
        return Some(evidence("logs", &logged));
    }
    if facts.timed_out {
        let limit = f
            .timeout_s
            .map_or(String::new(), |s| format!(" within {s} s"));
        return Some(evidence("timeout_s", &format!("no answer{limit}")));
    }
    if let Some(noise) = noise {
        return Some(evidence("stdout_noise", noise));
    }
    let says = |field: &'static str, text: &Option<String>| {
        text.as_deref()
            .filter(|text| !text.trim().is_empty())
            .map(|text| evidence(field, &clues::telling_line(text).unwrap_or_default()))
            .filter(|evidence| !evidence.text.is_empty())
    };
    line.map(|line| evidence("stderr", &line))
        .or_else(|| says("message", &f.message))
        .or_else(|| says("text", &f.text))
        .or_else(|| exit_text(f).map(|(field, exit)| evidence(field, &exit)))
}

/// The words of a refusal's body: a line of text, or what JSON has under a name for it.
/// A page tells by whom it is, and rarely why.
fn reason_given(http: &HttpFacts) -> Option<String> {
    let refuses = http
        .status
        .is_some_and(|status| (400..=500).contains(&status));
    let body = http.body.as_deref().filter(|_| refuses)?.trim();
    let words = in_words(body);
    if words.starts_with(['<', '{', '[', '"']) {
        return None;
    }
    clues::telling_line(&words)
}

/// Whether the status is one by which a proxy makes no tunnel.
fn is_of_tunnel(http: &HttpFacts) -> bool {
    http.error.as_deref() == Some("proxy_refused")
}

/// Kinds of [`jelly_base::model::HttpFacts::error`] that are stages of
/// authorization.
fn is_of_authorization(kind: &str) -> bool {
    kind.starts_with("auth_")
}

/// Of a report's assertion, all that it says: the line that a rule knows often
/// names the comparison only, and the values stand below it.
pub(super) fn with_values(known: Evidence, facts: &Facts<'_>) -> Evidence {
    if let Some(cause) = facts.failure.text.as_deref().and_then(cause_in_node) {
        return Evidence {
            text: one_line(&cause, EVIDENCE),
            ..known
        };
    }
    let whole = one_line(facts.statement().text.trim(), EVIDENCE);
    // Long values were taken out before the rules read.
    let masked = known.text.contains(clues::MASK) && !whole.is_empty();
    if masked || whole.len() > known.text.len() && whole.contains(&known.text) {
        Evidence {
            text: whole,
            ..known
        }
    } else {
        known
    }
}

/// The evidence without the error in which Node's runner wraps it on one line.
pub(super) fn bare_of_runner(said: Evidence) -> Evidence {
    match said.text.starts_with("[Error [ERR_TEST_FAILURE]: ") {
        true => Evidence {
            text: without_test(&said.text).to_owned(),
            ..said
        },
        false => said,
    }
}

/// What a test of Node's failed of, up to its stack.
fn cause_in_node(text: &str) -> Option<String> {
    let cause = unwrapped_in_node(text)?;
    let lines = cause.lines().map(str::trim);
    let head: Vec<&str> = lines.take_while(|line| !line.starts_with("at ")).collect();
    Some(head.join("\n"))
}

/// Whether it was ended by a signal that others send.
fn ended_from_outside(f: &Failure) -> bool {
    let signal = f.exit.as_ref().and_then(|exit| exit.signal.as_deref());
    matches!(signal, Some("SIGKILL" | "SIGTERM" | "SIGHUP" | "SIGINT"))
}

fn exit_text(f: &Failure) -> Option<(&'static str, String)> {
    let exit = f.exit.as_ref()?;
    match (&exit.signal, exit.code) {
        (Some(signal), _) => Some(("exit.signal", format!("killed by {signal}"))),
        (None, Some(code)) => Some(("exit.code", format!("exit code {code}"))),
        (None, None) => None,
    }
}

fn issue_text(issue: &PlanIssue, kind: Option<&str>) -> String {
    let kind = kind.unwrap_or_default().replace('_', " ");
    match issue {
        PlanIssue::CommandNotFound { command: name }
        | PlanIssue::NotExecutable { path: name }
        | PlanIssue::MissingDirectory { path: name }
        | PlanIssue::MissingVariable { name, .. }
        | PlanIssue::MissingPackageArgument { name }
        | PlanIssue::InvalidPackage { reason: name }
        | PlanIssue::SnapshotMissing { name, .. }
        | PlanIssue::SchemaTooComplex { schema: name, .. }
        | PlanIssue::PinNotSpoken { pin: name, .. }
        | PlanIssue::Unanswered { method: name }
        | PlanIssue::ServiceDied { name }
        | PlanIssue::UnknownServer { name, .. }
        | PlanIssue::UnknownTool { name, .. } => format!("{kind}: {name}"),
        // Of each change its own: who knows of one knows nothing of the next.
        PlanIssue::DefinitionChanged {
            item,
            pointer,
            reason,
            ..
        }
        | PlanIssue::PromiseBroken {
            item,
            pointer,
            reason,
            ..
        } => format!("{kind}: {item}{pointer} {reason}"),
        PlanIssue::UnknownArgument { tool, name, .. }
        | PlanIssue::MissingArgument { tool, name } => format!("{kind} of {tool}: {name}"),
        PlanIssue::ArgumentType {
            tool,
            pointer,
            expected,
            actual,
        } => format!(
            "{kind} of {tool}: {pointer} is {actual}, the schema wants {}",
            expected.join(" or ")
        ),
        PlanIssue::InvalidArgument {
            tool,
            pointer,
            reason,
        } => format!("{kind} of {tool}: {pointer} {reason}"),
        PlanIssue::OtherError {
            expected, actual, ..
        } => {
            format!("expected {expected}, got {actual}")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::in_words;

    #[test]
    fn of_json_the_words_are_shown() {
        for (text, words) in [
            (
                r#""error": "Catalog Error: no table \"nope\"\n\nLINE 1: x","#,
                r#"Catalog Error: no table "nope" LINE 1: x"#,
            ),
            (
                r#"Error calling tool 'q': { "success": false, "error": "Parser Error: at \"selec\"" }"#,
                r#"Error calling tool 'q': Parser Error: at "selec""#,
            ),
            (
                r#""error": "IO Error: no extension \"httpfs\"\n\nFor mo…"#,
                r#"IO Error: no extension "httpfs" For mo…"#,
            ),
            ("a: b, {c}", "a: b, {c}"),
            (r#"{ "rows": 3 }"#, r#"{ "rows": 3 }"#),
            (r#""count": 3,"#, r#""count": 3,"#),
            (
                r#""start_date": "is required""#,
                r#""start_date": "is required""#,
            ),
        ] {
            assert_eq!(in_words(text), words);
        }
    }
}
