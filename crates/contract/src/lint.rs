//! One server's lists: what clients and models will stumble over.
//!
//! Main function: [`lint`].

use super::canonical::same;
use jelly_base::model::Inventory;
use jelly_base::text::{WordList, one_line, plural};
use jelly_plan::{BoundedSchema, SchemaError};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};
use std::collections::HashMap;

/// Bytes of JSON that are taken for one token. An estimate: tokenizers differ, and
/// of JSON with English in it most come to between three and a half and four and a
/// half.
pub const TOKEN_BYTES: usize = 4;

/// Bytes that the names of tools may have with the strictest of the large model
/// APIs.
const SHORT_NAME: usize = 64;
/// Bytes that they may have by MCP.
const NAME: usize = 128;
/// Tools that are alike are told of at most so often.
const ALIKE: usize = 50;

/// First words of names of tools that do not only read.
const WRITING: WordList = WordList(
    "add append clear create delete destroy drop edit erase insert kill modify move overwrite \
     patch purge put remove rename reset revoke save send set truncate update upload wipe write",
);

/// How bad a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LintLevel {
    /// Some client refuses it, or it contradicts the specification.
    Error,
    /// Models do worse with it.
    Warning,
    /// What was seen is not what is declared; it may have other reasons.
    Notice,
}

/// One finding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct LintFinding {
    /// As it was named.
    pub server: String,
    /// As in `tools/echo`; `tools` for the list as a whole.
    pub item: String,
    /// Which rule says so, as in `description-missing`.
    pub rule: String,
    /// How bad it is.
    pub level: LintLevel,
    /// JSON pointer into the item's definition; empty for all of it.
    pub pointer: String,
    /// What is wrong, and for whom.
    pub why: String,
}

/// How much a model reads before the first question.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct LintTotals {
    /// Of the lists of tools, as compact JSON.
    pub bytes: usize,
    /// An estimate: a token for every four bytes.
    pub tokens: usize,
}

/// What `jelly tools lint --format json` prints.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct LintReport {
    /// Raised when a field changes its meaning.
    pub schema_version: u32,
    /// By server, in the order of its lists.
    pub findings: Vec<LintFinding>,
    /// Of all servers.
    pub totals: LintTotals,
}

/// Looks at what a server lists. Adds up the totals of its tools.
#[must_use]
pub fn lint(server: &str, inventory: &Inventory) -> (Vec<LintFinding>, LintTotals) {
    let mut linter = Linter {
        server,
        findings: Vec::new(),
    };
    let tools = inventory.tools.as_deref().unwrap_or_default();
    for tool in tools {
        linter.tool(tool);
    }
    linter.twice("tools", "name", tools);
    linter.alike(tools);
    for (list, key, items) in [
        ("prompts", "name", &inventory.prompts),
        ("resources", "uri", &inventory.resources),
        (
            "resource_templates",
            "uriTemplate",
            &inventory.resource_templates,
        ),
    ] {
        let items = items.as_deref().unwrap_or_default();
        for item in items {
            let name = format!("{list}/{}", word(item, key));
            if word(item, "description").trim().is_empty() {
                let why = "it has no description: nobody can tell what it is for";
                linter.find("description-missing", LintLevel::Warning, &name, "", why);
            }
        }
        linter.twice(list, key, items);
    }
    let bytes = match tools {
        [] => 0,
        tools => json!(tools).to_string().len(),
    };
    let totals = LintTotals {
        bytes,
        tokens: bytes.div_ceil(TOKEN_BYTES),
    };
    (linter.findings, totals)
}

fn word<'v>(item: &'v Value, key: &str) -> &'v str {
    item.get(key).and_then(Value::as_str).unwrap_or_default()
}

struct Linter<'s> {
    server: &'s str,
    findings: Vec<LintFinding>,
}

impl Linter<'_> {
    fn find(
        &mut self,
        rule: &str,
        level: LintLevel,
        item: &str,
        pointer: &str,
        why: impl Into<String>,
    ) {
        self.findings.push(LintFinding {
            server: self.server.to_owned(),
            item: item.to_owned(),
            rule: rule.to_owned(),
            level,
            pointer: pointer.to_owned(),
            why: why.into(),
        });
    }

    fn tool(&mut self, tool: &Value) {
        let name = word(tool, "name");
        let item = format!("tools/{name}");
        self.name(name, &item);
        if word(tool, "description").trim().is_empty() {
            let why = "it has no description: a model can't tell when to call it";
            self.find("description-missing", LintLevel::Warning, &item, "", why);
        }
        self.input(tool, &item);
        if let Some(schema) = tool.get("outputSchema") {
            self.schema(schema, "/outputSchema", &item);
            self.object(schema, "/outputSchema", &item);
        }
        self.annotations(tool, name, &item);
    }

    /// Sources: MCP 2025-11-25, server/tools, "Tool Names"; the model APIs of
    /// Anthropic and OpenAI take letters, digits, `_` and `-`.
    fn name(&mut self, name: &str, item: &str) {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
        let by_mcp = |c: char| is_plain(c) || c == '.';
        if name.is_empty() || name.len() > NAME || !name.chars().all(by_mcp) {
            let why = format!(
                "MCP has names of 1 to {NAME} letters, digits, `_`, `-` and `.`, and clients \
                 refuse others"
            );
            self.find("name-refused", LintLevel::Error, item, "/name", why);
        } else if name.len() > SHORT_NAME || !name.chars().all(is_plain) {
            let why = format!(
                "some model APIs take only names of at most {SHORT_NAME} letters, digits, `_` \
                 and `-`, and clients often put the server's name before it"
            );
            self.find("name-refused", LintLevel::Warning, item, "/name", why);
        }
    }

    fn input(&mut self, tool: &Value, item: &str) {
        let Some(schema) = tool.get("inputSchema") else {
            let why = "it has no inputSchema, which MCP requires of every tool";
            self.find("schema-missing", LintLevel::Error, item, "", why);
            return;
        };
        self.schema(schema, "/inputSchema", item);
        self.object(schema, "/inputSchema", item);
        let properties = schema.get("properties").and_then(Value::as_object);
        for (name, property) in properties.into_iter().flatten() {
            if !described(schema, property) {
                let pointer = format!(
                    "/inputSchema/properties/{}",
                    name.replace('~', "~0").replace('/', "~1")
                );
                let why = "the argument has no description: a model can only guess what it takes";
                let rule = "argument-description-missing";
                self.find(rule, LintLevel::Warning, item, &pointer, why);
            }
        }
        let required = schema.get("required").and_then(Value::as_array);
        for name in required.into_iter().flatten().filter_map(Value::as_str) {
            let is_known = properties.is_some_and(|all| all.contains_key(name));
            if !is_known {
                let why = format!(
                    "`{}` is required, and nothing says what it is",
                    one_line(name, 64)
                );
                let pointer = "/inputSchema/required";
                self.find("required-undefined", LintLevel::Warning, item, pointer, why);
            }
        }
    }

    /// A schema that is none.
    fn schema(&mut self, schema: &Value, pointer: &str, item: &str) {
        let (what, at) = match BoundedSchema::compile(schema) {
            Ok(_) => return,
            Err(SchemaError::Wrong { what, pointer }) => (what, pointer),
            Err(SchemaError::Elsewhere(uri)) => {
                let why = format!(
                    "it refers to `{}`, which clients must not fetch unasked",
                    one_line(&uri, 100)
                );
                self.find("schema-elsewhere", LintLevel::Warning, item, pointer, why);
                return;
            }
            Err(SchemaError::TooComplex(_)) => {
                let why = "it is too large or too deep for jelly, and for most clients";
                self.find("schema-too-complex", LintLevel::Warning, item, pointer, why);
                return;
            }
        };
        let why = format!("it is no JSON Schema: {}", one_line(&what, 160));
        let at = format!("{pointer}{at}");
        self.find("schema-invalid", LintLevel::Error, item, &at, why);
    }

    fn object(&mut self, schema: &Value, pointer: &str, item: &str) {
        if schema.get("type").and_then(Value::as_str) != Some("object") {
            let why = "its `type` is not `object`, as MCP requires and SDKs check";
            let at = format!("{pointer}/type");
            self.find("schema-not-object", LintLevel::Error, item, &at, why);
        }
    }

    fn annotations(&mut self, tool: &Value, name: &str, item: &str) {
        let Some(annotations) = tool.get("annotations") else {
            return;
        };
        let hint = |key: &str| annotations.get(key).and_then(Value::as_bool);
        let rule = "annotation-contradicted";
        if hint("readOnlyHint") != Some(true) {
            return;
        }
        if hint("destructiveHint") == Some(true) {
            let why = "it says that it only reads, and that it may destroy something";
            self.find(rule, LintLevel::Error, item, "/annotations", why);
        }
        let mut words = name.split(|c: char| !c.is_ascii_alphanumeric());
        let first = words.next().unwrap_or_default();
        let end = first
            .char_indices()
            .skip(1)
            .find(|(_, c)| c.is_ascii_uppercase())
            .map_or(first.len(), |(at, _)| at);
        let verb = first[..end].to_ascii_lowercase();
        if WRITING.has(&verb) {
            let why = format!(
                "it says that it only reads, and its name that it does more (`{verb}`): clients \
                 let it run unasked"
            );
            let at = "/annotations/readOnlyHint";
            self.find(rule, LintLevel::Warning, item, at, why);
        }
    }

    fn twice(&mut self, list: &str, key: &str, items: &[Value]) {
        let mut seen: HashMap<&str, usize> = HashMap::new();
        for item in items {
            let count = seen.entry(word(item, key)).or_default();
            *count += 1;
            if *count == 2 {
                let name = word(item, key);
                let why = "it is listed twice: which of them is meant nobody can say";
                let item = format!("{list}/{name}");
                self.find("listed-twice", LintLevel::Error, &item, "", why);
            }
        }
    }

    /// Tools that a model can't tell apart.
    fn alike(&mut self, tools: &[Value]) {
        let mut by_text: HashMap<String, Vec<&Value>> = HashMap::new();
        let mut told = 0;
        for tool in tools {
            let about = word(tool, "description").to_lowercase();
            let about: Vec<&str> = about.split_whitespace().collect();
            if about.is_empty() {
                continue;
            }
            let others = by_text.entry(about.join(" ")).or_default();
            let arguments = |tool: &Value| {
                let schema = tool.get("inputSchema").cloned().unwrap_or_default();
                schema.get("properties").cloned().unwrap_or_default()
            };
            if let Some(other) = others.first()
                && told < ALIKE
                && word(other, "name") != word(tool, "name")
            {
                told += 1;
                let same_arguments = same(&arguments(other), &arguments(tool));
                let and = match same_arguments {
                    true => " and takes the same arguments",
                    false => "",
                };
                let why = format!(
                    "it is described in the same words as `{}`{and}: a model can't tell which to \
                     call",
                    one_line(word(other, "name"), 64)
                );
                let item = format!("tools/{}", word(tool, "name"));
                let at = "/description";
                self.find("tools-alike", LintLevel::Warning, &item, at, why);
            }
            others.push(tool);
        }
    }
}

/// Whether it says what it is, there or where it refers to.
fn described(root: &Value, property: &Value) -> bool {
    let says = |schema: &Value| !word(schema, "description").trim().is_empty();
    let target = property.get("$ref").and_then(Value::as_str);
    let target = target.and_then(|to| root.pointer(to.strip_prefix('#')?));
    says(property) || target.is_some_and(says)
}

impl LintReport {
    /// Of all servers; over the ceiling is a finding of its own.
    #[must_use]
    pub fn of(all: Vec<(Vec<LintFinding>, LintTotals)>, max_tokens: Option<usize>) -> Self {
        let mut totals = LintTotals::default();
        let mut findings = Vec::new();
        for (found, own) in all {
            totals.bytes += own.bytes;
            totals.tokens += own.tokens;
            findings.extend(found);
        }
        if let Some(most) = max_tokens.filter(|most| totals.tokens > *most) {
            findings.push(LintFinding {
                server: String::new(),
                item: "tools".to_owned(),
                rule: "too-many-tokens".to_owned(),
                level: LintLevel::Error,
                pointer: String::new(),
                why: format!(
                    "the list of tools takes about {} of a model's context, and {most} are allowed",
                    plural(totals.tokens, "token")
                ),
            });
        }
        Self {
            schema_version: jelly_base::model::SCHEMA_VERSION,
            findings,
            totals,
        }
    }

    /// Whether there is one that fails a pipeline.
    #[must_use]
    pub fn has_errors(&self) -> bool {
        let mut findings = self.findings.iter();
        findings.any(|finding| finding.level == LintLevel::Error)
    }
}

#[cfg(test)]
mod tests {
    use super::{LintLevel, LintReport, lint};
    use jelly_base::model::Inventory;
    use serde_json::{Value, json};

    fn rules(tools: Value) -> Vec<(String, String, bool)> {
        let inventory = Inventory {
            tools: tools.as_array().cloned(),
            ..Inventory::default()
        };
        let (findings, _) = lint("s", &inventory);
        findings
            .into_iter()
            .map(|it| (it.item, it.rule, it.level == LintLevel::Error))
            .collect()
    }

    #[test]
    fn each_rule_finds_what_it_is_for_and_a_good_tool_is_left_alone() {
        let good = json!({"name": "get_it", "description": "Gets it", "inputSchema": {
            "type": "object", "required": ["a"],
            "properties": {"a": {"type": "string", "description": "Which"}}},
            "annotations": {"readOnlyHint": true}});
        assert_eq!(rules(json!([good])), []);
        let with = |key: &str, value: Value| {
            let mut tool = good.clone();
            tool[key] = value;
            tool
        };
        for (tool, rule, is_error) in [
            (with("name", json!("a b")), "name-refused", true),
            (with("name", json!("a.b")), "name-refused", false),
            (
                with("description", json!(" ")),
                "description-missing",
                false,
            ),
            (
                with("inputSchema", json!({"type": "array"})),
                "schema-not-object",
                true,
            ),
            (
                with(
                    "inputSchema",
                    json!({"type": "object", "properties": {"a": {"type": "text", "description": "x"}}}),
                ),
                "schema-invalid",
                true,
            ),
            (
                with(
                    "inputSchema",
                    json!({"type": "object", "properties": {"a": {}}}),
                ),
                "argument-description-missing",
                false,
            ),
            (
                with("inputSchema", json!({"type": "object", "required": ["b"]})),
                "required-undefined",
                false,
            ),
            (
                with("outputSchema", json!({"type": "string"})),
                "schema-not-object",
                true,
            ),
            (
                with(
                    "annotations",
                    json!({"readOnlyHint": true, "destructiveHint": true}),
                ),
                "annotation-contradicted",
                true,
            ),
            (
                with("name", json!("deleteAll")),
                "annotation-contradicted",
                false,
            ),
        ] {
            let found = rules(json!([tool]));
            let found: Vec<(&str, bool)> = found.iter().map(|it| (it.1.as_str(), it.2)).collect();
            assert_eq!(found, [(rule, is_error)], "{tool}");
        }
        let alike = rules(json!([good, with("name", json!("get_other"))]));
        assert_eq!(alike[0].1, "tools-alike");
        assert_eq!(rules(json!([good, good]))[0].1, "listed-twice");
    }

    #[test]
    fn more_tokens_than_are_allowed_are_an_error() {
        let inventory = Inventory {
            tools: Some(vec![
                json!({"name": "a", "inputSchema": {"type": "object"}}),
            ]),
            ..Inventory::default()
        };
        let all = || vec![lint("s", &inventory)];
        let report = LintReport::of(all(), Some(5));
        assert!(report.has_errors());
        assert!(
            report.totals.bytes > 4 * 5 && report.totals.tokens == report.totals.bytes.div_ceil(4)
        );
        assert!(!LintReport::of(all(), Some(5000)).has_errors());
    }
}
