//! What a tool says of itself, beside what its calls did.
//!
//! Main function: [`lint_seen`]. Nothing is called here: requests and answers come from a
//! recording. What is told was seen, and what was not seen is told nowhere.

use super::canonical::same;
use super::lint::{LintFinding, LintLevel};
use jelly_base::model::Inventory;
use jelly_base::text::{Volatile, one_line, without_volatile};
use jelly_plan::BoundedSchema;
use serde_json::Value;

/// The first revision whose tools have structured output.
const STRUCTURED: &str = "2025-06-18";
/// What differs from answer to answer, whatever happens.
const KINDS: [Volatile; 4] = [
    Volatile::Timestamp,
    Volatile::Uuid,
    Volatile::Duration,
    Volatile::Hash,
];
/// Requests whose answers show the state of a server.
const READS: [&str; 5] = [
    "tools/list",
    "prompts/list",
    "resources/list",
    "resources/templates/list",
    "resources/read",
];
/// Notifications by which a server says that its state is another one.
const CHANGES: [&str; 4] = [
    "notifications/tools/list_changed",
    "notifications/prompts/list_changed",
    "notifications/resources/list_changed",
    "notifications/resources/updated",
];

/// A request of a session, with what came of it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SeenRequest {
    pub method: String,
    pub params: Value,
    /// Where it was answered so.
    pub result: Option<Value>,
    /// Whether it was answered with a JSON-RPC error.
    pub is_refused: bool,
    /// Methods of the notifications that came until the next request.
    pub notified: Vec<String>,
}

impl SeenRequest {
    fn tool(&self) -> Option<&str> {
        (self.method == "tools/call").then(|| self.params.get("name")?.as_str())?
    }

    fn arguments(&self) -> Option<&Value> {
        self.params.get("arguments")
    }

    /// The result, where the call did what it was for.
    fn good(&self) -> Option<&Value> {
        let result = self.result.as_ref()?;
        let is_error = result.get("isError").and_then(Value::as_bool) == Some(true);
        (!is_error).then_some(result)
    }

    /// Whether it asks the same as another one.
    fn is_like(&self, other: &Self) -> bool {
        self.method == other.method
            && self.tool() == other.tool()
            && match (self.tool(), self.arguments(), other.arguments()) {
                (Some(_), Some(one), Some(two)) => same(one, two),
                (Some(_), one, two) => one == two,
                (None, ..) => {
                    let page = |it: &Self| it.params.get("cursor").cloned();
                    let uri = |it: &Self| it.params.get("uri").cloned();
                    page(self) == page(other) && uri(self) == uri(other)
                }
            }
    }

    /// The answer without what differs from run to run.
    fn answer(&self) -> String {
        let text = match (&self.result, self.is_refused) {
            (Some(result), _) => {
                let mut kept = result.clone();
                if let Some(members) = kept.as_object_mut() {
                    members.shift_remove("_meta");
                }
                kept.to_string()
            }
            (None, refused) => format!("refused: {refused}"),
        };
        without_volatile(&text, &KINDS).into_owned()
    }
}

/// Holds what a server's tools declare against the requests of one session, in order.
#[must_use]
pub fn lint_seen(
    server: &str,
    inventory: &Inventory,
    requests: &[SeenRequest],
) -> Vec<LintFinding> {
    let mut seen = Seen {
        server,
        inventory,
        requests,
        findings: Vec::new(),
    };
    for tool in inventory.tools.iter().flatten() {
        let Some(name) = tool.get("name").and_then(Value::as_str) else {
            continue;
        };
        seen.read_only(tool, name);
        seen.idempotent(tool, name);
        seen.structured(tool, name);
    }
    seen.findings
}

struct Seen<'s> {
    server: &'s str,
    inventory: &'s Inventory,
    requests: &'s [SeenRequest],
    findings: Vec<LintFinding>,
}

impl Seen<'_> {
    fn find(&mut self, name: &str, rule: &str, level: LintLevel, pointer: &str, why: String) {
        self.findings.push(LintFinding {
            server: self.server.to_owned(),
            item: format!("tools/{name}"),
            rule: rule.to_owned(),
            level,
            pointer: pointer.to_owned(),
            why,
        });
    }

    fn hints(&self, name: &str, hint: &str) -> bool {
        let mut tools = self.inventory.tools.iter().flatten();
        let tool = tools.find(|tool| tool.get("name").and_then(Value::as_str) == Some(name));
        tool.is_some_and(|tool| hinted(tool, hint))
    }

    /// Whether nobody expects the request to change anything.
    fn only_reads(&self, request: &SeenRequest) -> bool {
        match request.tool() {
            Some(name) => self.hints(name, "readOnlyHint"),
            None => READS.contains(&request.method.as_str()),
        }
    }

    /// Something that is asked before and after a call of a tool that only reads, and is
    /// answered otherwise, though nothing that writes was called in between.
    fn read_only(&mut self, tool: &Value, name: &str) {
        if !hinted(tool, "readOnlyHint") {
            return;
        }
        let calls: Vec<usize> = self.calls(name).collect();
        let told = calls.iter().find_map(|at| {
            let notified = &self.requests[*at].notified;
            let method = notified.iter().find(|it| CHANGES.contains(&it.as_str()))?;
            Some(format!(
                "it says that it only reads, and its call was followed by `{method}`"
            ))
        });
        let why = told.or_else(|| calls.iter().find_map(|at| self.changed_by(*at)));
        if let Some(why) = why {
            let at = "/annotations/readOnlyHint";
            self.find(name, "read-only-changed", LintLevel::Notice, at, why);
        }
    }

    fn calls(&self, name: &str) -> impl Iterator<Item = usize> {
        let all = self.requests.iter().enumerate();
        all.filter(move |(_, request)| request.tool() == Some(name))
            .map(|(at, _)| at)
    }

    /// What is answered otherwise since the call at a place, where no other tool was
    /// called between the two answers.
    fn changed_by(&self, at: usize) -> Option<String> {
        self.requests[at].good()?;
        let is_list = |it: &SeenRequest| READS.contains(&it.method.as_str());
        let later = self.requests.iter().enumerate().skip(at + 1);
        for (place, after) in later.take_while(|(_, it)| self.only_reads(it)) {
            let earlier = self.requests[..at].iter().enumerate().rev();
            let mut earlier = earlier.filter(|(_, it)| it.is_like(after));
            let Some((first, before)) = earlier.next() else {
                continue;
            };
            let mut between = (first + 1..place).filter(|it| *it != at);
            let is_alone = between.all(|it| is_list(&self.requests[it]));
            let both = before.result.is_some() && after.result.is_some();
            if is_alone && both && before.answer() != after.answer() {
                let what = after.tool().unwrap_or(&after.method);
                return Some(format!(
                    "it says that it only reads, and `{}` answered otherwise after its call than \
                     before, with no other tool called in between",
                    one_line(what, 64)
                ));
            }
        }
        None
    }

    /// Two calls with the same arguments, one right after the other but for what reads.
    fn idempotent(&mut self, tool: &Value, name: &str) {
        if !hinted(tool, "idempotentHint") || hinted(tool, "readOnlyHint") {
            return;
        }
        let calls: Vec<usize> = self.calls(name).collect();
        let why = calls.windows(2).find_map(|pair| {
            let (first, second) = (&self.requests[pair[0]], &self.requests[pair[1]]);
            let between = &self.requests[pair[0] + 1..pair[1]];
            let is_pair = first.is_like(second) && between.iter().all(|it| self.only_reads(it));
            let good = first.good().filter(|_| is_pair)?;
            let what = match (second.good(), &second.result) {
                (Some(result), _) if result == good => return None,
                (Some(_), _) if first.answer() == second.answer() => return None,
                (Some(_), _) => "was answered otherwise",
                (None, None) if !second.is_refused => return None,
                (None, _) => "was refused",
            };
            Some(format!(
                "it says that a second call changes nothing more, and a second call with the same \
                 arguments {what}"
            ))
        });
        if let Some(why) = why {
            let at = "/annotations/idempotentHint";
            self.find(name, "idempotent-differs", LintLevel::Notice, at, why);
        }
    }

    /// Source: MCP 2025-06-18, server/tools, "Output Schema".
    fn structured(&mut self, tool: &Value, name: &str) {
        let version = self.inventory.protocol_version.as_str();
        let Some(schema) = tool.get("outputSchema").filter(|_| version >= STRUCTURED) else {
            return;
        };
        let good: Vec<&Value> = self
            .calls(name)
            .filter_map(|at| self.requests[at].good())
            .collect();
        let without = good
            .iter()
            .filter(|result| result.get("structuredContent").is_none_or(Value::is_null));
        let without = without.count();
        let at = "/outputSchema";
        if without > 0 {
            let why = format!(
                "it declares the form of its output, and {without} of {} answers had no \
                 structuredContent, which clients of the official SDKs refuse",
                good.len()
            );
            self.find(name, "output-not-structured", LintLevel::Error, at, why);
        }
        let Ok(validator) = BoundedSchema::compile(schema) else {
            return;
        };
        let mut structured = good
            .iter()
            .filter_map(|result| result.get("structuredContent").filter(|it| !it.is_null()));
        if structured.any(|output| validator.is_valid(output) == Ok(false)) {
            let why = "an answer had structuredContent that is not of the form that it declares";
            self.find(name, "output-misfits", LintLevel::Error, at, why.to_owned());
        }
    }
}

fn hinted(tool: &Value, hint: &str) -> bool {
    let hint = tool.get("annotations").and_then(|all| all.get(hint));
    hint.and_then(Value::as_bool) == Some(true)
}

#[cfg(test)]
mod tests {
    use super::{SeenRequest, lint_seen};
    use jelly_base::model::Inventory;
    use serde_json::{Value, json};

    fn call(tool: &str, arguments: Value, text: &str) -> SeenRequest {
        SeenRequest {
            method: "tools/call".to_owned(),
            params: json!({"name": tool, "arguments": arguments}),
            result: Some(json!({
                "content": [{"type": "text", "text": text}],
                "isError": text.starts_with("error"),
            })),
            ..SeenRequest::default()
        }
    }

    fn list(names: &[&str]) -> SeenRequest {
        SeenRequest {
            method: "resources/list".to_owned(),
            result: Some(json!({"resources": names})),
            ..SeenRequest::default()
        }
    }

    fn rules(requests: &[SeenRequest]) -> Vec<String> {
        let tools = json!([
            {"name": "peek", "annotations": {"readOnlyHint": true}},
            {"name": "look", "annotations": {"readOnlyHint": true}},
            {"name": "set", "annotations": {"idempotentHint": true}},
            {"name": "write"},
            {"name": "area", "outputSchema": {"type": "object", "required": ["n"]}},
        ]);
        let inventory = Inventory {
            protocol_version: "2025-06-18".to_owned(),
            tools: tools.as_array().cloned(),
            ..Inventory::default()
        };
        let found = lint_seen("s", &inventory, requests);
        found
            .into_iter()
            .map(|it| format!("{} {}", it.rule, it.item))
            .collect()
    }

    #[test]
    fn a_tool_that_only_reads_and_changes_something_is_told() {
        let no = json!({});
        let peek = || call("peek", no.clone(), "x");
        for (title, requests, found) in [
            (
                "a list",
                vec![list(&["a"]), peek(), list(&["a", "b"])],
                true,
            ),
            (
                "the same list",
                vec![list(&["a"]), peek(), list(&["a"])],
                false,
            ),
            (
                "something else may have done it",
                vec![
                    list(&["a"]),
                    call("write", no.clone(), "x"),
                    peek(),
                    list(&["a", "b"]),
                ],
                false,
            ),
            (
                "what another tool reads",
                vec![
                    call("look", no.clone(), "1"),
                    peek(),
                    call("look", no.clone(), "2"),
                ],
                true,
            ),
            (
                "a time",
                vec![
                    call("look", no.clone(), "2026-01-01T00:00:00Z"),
                    peek(),
                    call("look", no.clone(), "2026-01-01T00:00:09Z"),
                ],
                false,
            ),
            (
                "a notification",
                vec![SeenRequest {
                    notified: vec!["notifications/resources/list_changed".to_owned()],
                    ..peek()
                }],
                true,
            ),
        ] {
            let told = rules(&requests);
            let told = told.iter().any(|it| it == "read-only-changed tools/peek");
            assert_eq!(told, found, "{title}");
        }
    }

    #[test]
    fn a_second_call_that_is_answered_otherwise_is_told() {
        let set = |text: &str| call("set", json!({"a": 1}), text);
        for (requests, found) in [
            (vec![set("done"), set("done")], false),
            (vec![set("done"), set("error: exists")], true),
            (
                vec![set("done"), call("look", json!({}), "x"), set("2")],
                true,
            ),
            (
                vec![set("done"), call("write", json!({}), "x"), set("2")],
                false,
            ),
            (vec![set("done"), call("set", json!({"a": 2}), "2")], false),
        ] {
            let told = rules(&requests) == ["idempotent-differs tools/set"];
            assert_eq!(told, found, "{requests:?}");
        }
    }

    #[test]
    fn output_that_is_not_as_declared_is_told() {
        let with = |structured: Value| SeenRequest {
            result: Some(json!({"content": [], "structuredContent": structured})),
            ..call("area", json!({}), "")
        };
        assert_eq!(rules(&[with(json!({"n": 1}))]), [""; 0]);
        assert_eq!(rules(&[with(json!({}))]), ["output-misfits tools/area"]);
        assert_eq!(rules(&[call("area", json!({}), "error: no")]), [""; 0]);
        let told = rules(&[with(json!({"n": 1})), call("area", json!({}), "1")]);
        assert_eq!(told, ["output-not-structured tools/area"]);
    }
}
