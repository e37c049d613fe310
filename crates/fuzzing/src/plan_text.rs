//! Findings as a plan that shows them again.
//!
//! Main function: [`plan_text`].

use super::report::{FindingKind, FindingStatus, FuzzCall, FuzzFinding};
use jelly_base::text::{Notation, disarmed, one_line, sanitize};
use jelly_plan::{Template, yaml_flow};
use serde_json::{Map, Value, json};
use std::fmt::Write as _;

/// How the names of such plans begin.
const NAME: &str = "what jelly fuzz";

/// Whether a plan is one that [`plan_text`] wrote, and nobody named it otherwise.
#[must_use]
pub fn is_written_by_fuzz(text: &str) -> bool {
    let name = text.lines().find_map(|line| line.strip_prefix("name: "));
    name.is_some_and(|name| name.trim_start_matches(['"', '\'']).starts_with(NAME))
}

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
        if finding.status != FindingStatus::Confirmed || finding.calls.is_empty() {
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
    let name = format!("{NAME} --seed {seed} found in {}", server.name);
    let _ = writeln!(text, "name: {}", yaml_flow(&json!(name)));
    let _ = write!(text, "servers:\n{servers}steps:\n{steps}");
    Some(text)
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
        let call = (tool.as_str(), &literal(arguments));
        step(text, (&format!("{id}-before"), id), call, Some(expect));
    }
    let crossed = finding.kind == FindingKind::CrossedAnswers;
    let groups = groups(&finding.calls);
    let last = groups.len().saturating_sub(1);
    for (index, group) in groups.iter().enumerate() {
        let is_last = index == last;
        let own = match (is_last, &probe) {
            (true, None) => id.to_owned(),
            (true, Some(_)) => format!("{id}-call"),
            (false, _) => format!("{id}-{}", index + 1),
        };
        let expect = match (is_last && probe.is_none(), group.call.is_refused) {
            // What it gave by itself.
            (true, _) if crossed => Some(json!({
                "json": [{"path": "$.content", "equals": format!("${{{}}}", variable(id, 0, 0))}],
            })),
            // Of two at once, each may be refused by itself.
            (true, true) if !group.others.is_empty() => Some(json!({"error": {}})),
            (true, _) => expected(finding),
            (false, true) => Some(json!({"error": {}})),
            (false, false) => None,
        };
        let mut capture = Map::new();
        if crossed && index == 0 {
            capture.insert(variable(id, 0, 0), json!("$.content"));
        }
        let mut arguments = literal(&group.call.arguments);
        for (number, taken) in group.call.taken.iter().enumerate() {
            let name = variable(id, group.index, number);
            arguments[taken.argument.as_str()] = json!(format!("${{{name}}}"));
        }
        for later in &groups {
            for (number, taken) in later.call.taken.iter().enumerate() {
                if taken.call == group.index {
                    let name = variable(id, later.index, number);
                    capture.insert(name, json!(path_of(&taken.pointer)));
                }
            }
        }
        step(
            text,
            (&own, id),
            (&group.call.tool, &arguments),
            expect.as_ref(),
        );
        for (key, value) in [("capture", capture.into()), ("at_once", group.at_once())] {
            if value != json!({}) && value != json!([]) {
                let _ = writeln!(text, "    {key}: {}", yaml_flow(&value));
            }
        }
    }
    if let Some((tool, arguments, expect)) = &probe {
        let call = (tool.as_str(), &literal(arguments));
        step(text, (id, id), call, Some(expect));
    }
}

/// A call, with those that are made at the same time.
struct Group<'c> {
    /// Among the calls.
    index: usize,
    call: &'c FuzzCall,
    others: Vec<&'c FuzzCall>,
}

fn groups(calls: &[FuzzCall]) -> Vec<Group<'_>> {
    let mut groups: Vec<Group<'_>> = Vec::new();
    for (index, call) in calls.iter().enumerate() {
        match groups.last_mut().filter(|_| call.at_once) {
            Some(group) => group.others.push(call),
            None => groups.push(Group {
                index,
                call,
                others: Vec::new(),
            }),
        }
    }
    groups
}

impl Group<'_> {
    /// As `at_once` of a step.
    fn at_once(&self) -> Value {
        let others = self.others.iter().map(|call| {
            let tool = literal(&json!(call.tool));
            match call.arguments == json!({}) {
                true => json!({ "tool": tool }),
                false => json!({ "tool": tool, "args": literal(&call.arguments) }),
            }
        });
        others.collect()
    }
}

/// The name of what is kept of an answer for the call at `index`.
fn variable(id: &str, index: usize, number: usize) -> String {
    format!("{}_{}_{number}", id.replace('-', "_"), index + 1)
}

/// The path of a place in the structured output.
fn path_of(pointer: &str) -> String {
    let mut path = String::from("$.structuredContent");
    for part in pointer.split('/').skip(1) {
        let name = part.replace("~1", "/").replace("~0", "~");
        let _ = match name.parse::<usize>() {
            Ok(index) => write!(path, "[{index}]"),
            Err(_) => {
                let name = name.replace('\\', "\\\\").replace('\'', "\\'");
                write!(path, "['{name}']")
            }
        };
    }
    path
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
    (tool, arguments): (&str, &Value),
    expect: Option<&Value>,
) {
    let _ = writeln!(text, "  - id: {id}\n    server: {server}");
    let _ = writeln!(text, "    tool: {}", yaml_flow(&literal(&json!(tool))));
    if *arguments != json!({}) {
        let _ = writeln!(text, "    args: {}", yaml_flow(arguments));
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
