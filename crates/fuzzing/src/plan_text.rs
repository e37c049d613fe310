//! Findings as a plan that shows them again.
//!
//! Main function: [`plan_text`].

use super::report::{FindingKind, FindingStatus, FuzzFinding};
use jelly_base::text::{Notation, disarmed, one_line, sanitize};
use jelly_plan::{Template, yaml_flow};
use serde_json::{Map, Value, json};
use std::fmt::Write as _;

/// How their names begin.
const NAME: &str = "what jelly fuzz --seed ";

/// The server as it stands in a plan.
#[derive(Debug, Clone, PartialEq)]
pub struct ServerEntry {
    pub name: String,
    /// `command`, `args`, `env`, `cwd`, or `url` and `headers`, as a plan has them.
    pub members: Map<String, Value>,
    /// Timeout of each request, as `5s`.
    pub request_timeout: String,
}

/// The plan of all confirmed findings that steps can show, each of which fails while
/// the server is as it was. Gives the steps their ids; none where there is none.
#[must_use]
pub fn plan_text(server: &ServerEntry, seed: u64, findings: &mut [FuzzFinding]) -> Option<String> {
    let (mut steps, mut servers) = (String::new(), String::new());
    for (index, finding) in findings.iter_mut().enumerate() {
        let is_written = finding.status == FindingStatus::Confirmed
            && finding.calls.iter().all(|call| !call.at_once)
            && !finding.calls.is_empty();
        if !is_written {
            continue;
        }
        let id = format!("{}-{}", finding.kind.name().replace('_', "-"), index + 1);
        let what = sanitize(&one_line(&finding.what, 200)).into_owned();
        let what = disarmed(&what, Notation::Plain);
        let _ = writeln!(steps, "  # The server {what}.");
        // Each has a server of its own, as fresh as the one that confirmed it.
        let _ = writeln!(servers, "  {id}:");
        for (key, value) in &server.members {
            let _ = writeln!(servers, "    {key}: {}", yaml_flow(value));
        }
        let _ = writeln!(servers, "    request_timeout: {}", server.request_timeout);
        if matches!(
            finding.kind,
            FindingKind::AnsweredTwice | FindingKind::Protocol
        ) {
            servers.push_str("    wire: strict\n");
        }
        write_steps(&mut steps, &id, finding);
        finding.step = Some(id);
    }
    if steps.is_empty() {
        return None;
    }
    let mut text = String::from("version: 1\n");
    let name = format!("{NAME}{seed} found in {}", server.name);
    let _ = writeln!(text, "name: {}", yaml_flow(&json!(name)));
    let _ = write!(text, "servers:\n{servers}steps:\n{steps}");
    Some(text)
}

/// Whether a plan is one of these, as far as nobody gave it another name.
#[must_use]
pub fn is_own_plan(text: &str) -> bool {
    let name = text.strip_prefix("version: 1\nname: ").unwrap_or_default();
    name.trim_start_matches(['"', '\'']).starts_with(NAME)
}

fn write_steps(text: &mut String, id: &str, finding: &FuzzFinding) {
    let probe = finding.probe.as_ref().map(|probe| {
        let expect = match &probe.text {
            Some(text) => json!({"is_error": false, "text": {"equals": literal(&json!(text))}}),
            None => json!({"is_error": false}),
        };
        (&probe.tool, &probe.arguments, expect)
    });
    if let Some((tool, arguments, expect)) = &probe {
        step(
            text,
            (&format!("{id}-before"), id),
            tool,
            arguments,
            Some(expect),
        );
    }
    let last = finding.calls.len().saturating_sub(1);
    for (index, call) in finding.calls.iter().enumerate() {
        let is_last = index == last;
        let own = match (is_last, &probe) {
            (true, None) => id.to_owned(),
            (true, Some(_)) => format!("{id}-call"),
            (false, _) => format!("{id}-{}", index + 1),
        };
        let expect = match (is_last && probe.is_none(), call.is_refused) {
            (true, _) => expected(finding),
            (false, true) => Some(json!({"error": {}})),
            (false, false) => None,
        };
        step(
            text,
            (&own, id),
            &call.tool,
            &call.arguments,
            expect.as_ref(),
        );
    }
    if let Some((tool, arguments, expect)) = &probe {
        step(text, (id, id), tool, arguments, Some(expect));
    }
}

/// What a sound server would do, in the words of a plan.
fn expected(finding: &FuzzFinding) -> Option<Value> {
    match (finding.kind, finding.valid_input) {
        (FindingKind::AcceptedInvalid, _) | (FindingKind::Died | FindingKind::Hung, false) => {
            Some(json!({"error": {}}))
        }
        (FindingKind::InternalError, false) => {
            Some(json!({"error": {"code": {"not_equals": -32603}}}))
        }
        // Whatever else it says.
        (FindingKind::Traceback, false) => Some(json!({
            "error": {"message": {"not_contains": "Traceback"}},
        })),
        (_, _) => None,
    }
}

fn step(
    text: &mut String,
    (id, server): (&str, &str),
    tool: &str,
    arguments: &Value,
    expect: Option<&Value>,
) {
    let _ = writeln!(text, "  - id: {id}\n    server: {server}");
    let _ = writeln!(text, "    tool: {}", yaml_flow(&literal(&json!(tool))));
    if *arguments != json!({}) {
        let _ = writeln!(text, "    args: {}", yaml_flow(&literal(arguments)));
    }
    // What is invalid on purpose is sent as it is only where an error is expected.
    if let Some(expect) = expect {
        let _ = writeln!(text, "    expect: {}", yaml_flow(expect));
    }
}

/// The value as a plan means it: nothing in it is a variable.
fn literal(value: &Value) -> Value {
    match value {
        Value::String(text) => Value::from(Template::literal(text).raw),
        Value::Array(items) => items.iter().map(literal).collect(),
        Value::Object(members) => {
            let members = members.iter().map(|(key, it)| (key.clone(), literal(it)));
            Value::Object(members.collect())
        }
        other => other.clone(),
    }
}
