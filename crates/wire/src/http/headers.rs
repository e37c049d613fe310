//! A message and a version → the headers that go with it.
//!
//! Main types: [`Outline`], what a message says of itself, and
//! [`ParamHeaders`], the arguments of tools that travel as headers too. Pure.
//! The rules are those of 2026-07-28, Streamable HTTP, "Request Metadata".

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use jelly_base::mcp::{Era, Method, Revision, meta};
use jelly_base::model::ToolInfo;
use jelly_base::text::roughly;
use serde::Deserialize;
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

pub(super) const PROTOCOL_VERSION: &str = "mcp-protocol-version";
pub(super) const SESSION_ID: &str = "mcp-session-id";

/// The whole numbers that JavaScript can tell apart.
const SAFE_INTEGER: u64 = (1 << 53) - 1;

/// What a property of a tool's arguments is annotated by.
const ANNOTATION: &str = "x-mcp-header";

/// Tools that are remembered.
const TOOLS: usize = 10_000;

/// What a message says of itself.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Outline {
    #[serde(default)]
    pub id: Option<Value>,
    #[serde(default)]
    pub method: Option<String>,
    #[serde(default)]
    params: Option<Value>,
}

impl Outline {
    /// Of a message of ours, which can be read.
    pub(super) fn of(body: &[u8]) -> Self {
        serde_json::from_slice(body).unwrap_or_default()
    }

    /// The id, if this is a request that waits for an answer.
    pub(super) fn request_id(&self) -> Option<u64> {
        self.method.as_ref()?;
        self.id.as_ref()?.as_u64()
    }

    pub fn param(&self, key: &str) -> Option<&Value> {
        self.params.as_ref()?.get(key)
    }

    /// The version that the message is dressed for, as a modern one says.
    pub fn own_version(&self) -> Option<&str> {
        self.param("_meta")?.get(meta::PROTOCOL_VERSION)?.as_str()
    }

    /// The headers that repeat what the message says; `settled` is what both
    /// sides have agreed on, if they have.
    pub(super) fn headers(
        &self,
        settled: Option<&str>,
        params: &ParamHeaders,
    ) -> Vec<(String, String)> {
        let mut headers = Vec::new();
        let version = match (self.own_version(), settled) {
            (Some(own), _) => own,
            (None, Some(settled)) => settled,
            (None, None) => return headers,
        };
        // `initialize` itself is what settles a legacy version.
        if self.method.as_deref() != Some("initialize") {
            headers.push((PROTOCOL_VERSION.to_owned(), encode(version).into_owned()));
        }
        let legacy = Revision::find(version).is_some_and(|v| v.era == Era::Legacy);
        let Some(method) = self.method.as_deref().filter(|_| !legacy) else {
            return headers;
        };
        headers.push(("mcp-method".to_owned(), encode(method).into_owned()));
        let subject = Method::find(method).and_then(|method| method.subject);
        let name = subject.and_then(|subject| self.param(subject.name_key()));
        if let Some(name) = name.and_then(Value::as_str) {
            headers.push(("mcp-name".to_owned(), encode(name).into_owned()));
            if let (true, Some(arguments)) = (method == "tools/call", self.param("arguments")) {
                headers.extend(params.mirrored(name, arguments));
            }
        }
        headers
    }
}

/// A text as a header can carry it: as it is, or in the Base64 form.
pub(super) fn encode(text: &str) -> Cow<'_, str> {
    let visible = |byte: u8| (0x20..=0x7E).contains(&byte) || byte == b'\t';
    let padded = text.trim_matches([' ', '\t']).len() != text.len();
    let sentinel = text.starts_with("=?base64?") && text.ends_with("?=");
    if text.bytes().all(visible) && !padded && !sentinel {
        return Cow::Borrowed(text);
    }
    Cow::Owned(format!("=?base64?{}?=", STANDARD.encode(text)))
}

/// The text that a header carries; none where its Base64 is none.
#[must_use]
pub fn header_text(sent: &str) -> Option<Cow<'_, str>> {
    let inner = sent.strip_prefix("=?base64?");
    let Some(inner) = inner.and_then(|inner| inner.strip_suffix("?=")) else {
        return Some(Cow::Borrowed(sent));
    };
    let text = String::from_utf8(STANDARD.decode(inner).ok()?);
    text.ok().map(Cow::Owned)
}

/// What a page of a list of tools says of their arguments.
#[derive(Default, Deserialize)]
struct ToolsPage {
    tools: Vec<ToolOfPage>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ToolOfPage {
    name: String,
    #[serde(default)]
    input_schema: Option<Value>,
}

/// Where in the arguments of a tool a value stands that travels as a header.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Mirrored {
    header: String,
    path: Vec<String>,
}

impl Mirrored {
    /// The value as a text, where there is one.
    fn value_in(&self, arguments: &Value) -> Option<String> {
        let mut path = self.path.iter();
        match path.try_fold(arguments, |value, key| value.get(key))? {
            Value::String(text) => Some(text.clone()),
            Value::Bool(yes) => Some(yes.to_string()),
            Value::Number(number) => Some(number.to_string()),
            Value::Null | Value::Array(_) | Value::Object(_) => None,
        }
    }
}

/// Whether a header says this value; `42.0` is 42.
fn says_the_same(sent: &str, value: &str) -> bool {
    let number = |text: &str| text.parse::<f64>().ok().filter(|number| number.is_finite());
    sent == value
        || value.parse::<i64>().is_ok()
            && sent.parse::<i64>().is_err()
            && number(sent).is_some_and(|sent| number(value) == Some(sent))
}

/// By tool, the arguments that travel as headers; and the tools that can't be
/// called, since what their schemas say about that is against the rules.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ParamHeaders {
    mirrored: BTreeMap<String, Vec<Mirrored>>,
    refused: BTreeSet<String>,
}

impl ParamHeaders {
    /// Of all tools of a server, and of those whose annotations break the
    /// rules what is wrong, as fragments that complete "the server …". Such a
    /// tool gets no headers.
    pub fn of(tools: &[ToolInfo]) -> (Self, Vec<String>) {
        let mut known = Self::default();
        let mut flaws = Vec::new();
        for tool in tools {
            let Some(schema) = &tool.input_schema else {
                continue;
            };
            match annotated(schema) {
                // Of one without, an earlier list may have said something else.
                Ok(mirrored) => {
                    known.mirrored.insert(tool.name.clone(), mirrored);
                }
                Err(why) => {
                    known.refused.insert(tool.name.clone());
                    flaws.push(format!(
                        "lists the tool `{}` with an x-mcp-header {why}, for which clients must \
                         refuse it",
                        tool.name
                    ));
                }
            }
        }
        (known, flaws)
    }

    /// Whether clients must leave this tool alone.
    pub fn refuses(&self, tool: &str) -> bool {
        self.refused.contains(tool)
    }

    /// Adds what another page of the list says; the newest word of a tool holds.
    pub fn extend(&mut self, other: Self) {
        for (tool, mirrored) in other.mirrored {
            self.refused.remove(&tool);
            let has_room = self.mirrored.len() < TOOLS || self.mirrored.contains_key(&tool);
            match !mirrored.is_empty() && has_room {
                true => drop(self.mirrored.insert(tool, mirrored)),
                false => drop(self.mirrored.remove(&tool)),
            }
        }
        for tool in other.refused {
            self.mirrored.remove(&tool);
            if self.refused.len() < TOOLS {
                self.refused.insert(tool);
            }
        }
    }

    /// Takes in the result of `tools/list`; what can't be read says nothing.
    pub fn learn(&mut self, result: &str) {
        let says_nothing = !result.contains(ANNOTATION);
        if says_nothing && self.mirrored.is_empty() && self.refused.is_empty() {
            return;
        }
        let page: ToolsPage = serde_json::from_str(result).unwrap_or_default();
        let tools = page.tools.into_iter().map(|tool| ToolInfo {
            name: tool.name,
            input_schema: tool.input_schema,
            output_schema: None,
            repeatable: false,
        });
        self.extend(Self::of(&tools.collect::<Vec<_>>()).0);
    }

    /// Whether arguments of this tool travel as headers.
    #[must_use]
    pub fn has(&self, tool: &str) -> bool {
        self.mirrored.get(tool).is_some_and(|m| !m.is_empty())
    }

    /// Whether the headers of a call say what its arguments say, as a server
    /// must find out (2026-07-28, Streamable HTTP, "Server Behavior for Custom
    /// Headers").
    ///
    /// # Errors
    /// What does not fit.
    pub fn check(
        &self,
        tool: &str,
        arguments: &Value,
        header: impl Fn(&str) -> Option<String>,
    ) -> Result<(), String> {
        for mirrored in self.mirrored.get(tool).map_or(&[][..], Vec::as_slice) {
            let name = format!("Mcp-Param-{}", mirrored.header);
            let sent = header(&name);
            let sent = sent.as_deref().map(header_text);
            match (mirrored.value_in(arguments), sent) {
                (None, None) => {}
                (Some(value), Some(Some(sent))) if says_the_same(&sent, &value) => {}
                (Some(_), None) => return Err(format!("Header mismatch: {name} is missing")),
                (_, Some(_)) => {
                    return Err(format!(
                        "Header mismatch: {name} does not say what the arguments say"
                    ));
                }
            }
        }
        Ok(())
    }

    fn mirrored(&self, tool: &str, arguments: &Value) -> Vec<(String, String)> {
        let mut headers = Vec::new();
        for mirrored in self.mirrored.get(tool).map_or(&[][..], Vec::as_slice) {
            let Some(text) = mirrored.value_in(arguments) else {
                continue;
            };
            let name = format!("mcp-param-{}", mirrored.header.to_ascii_lowercase());
            headers.push((name, encode(&text).into_owned()));
        }
        headers
    }
}

/// The annotated properties of a schema, or what is wrong with one.
fn annotated(schema: &Value) -> Result<Vec<Mirrored>, String> {
    let mut found = Vec::new();
    let mut names = BTreeSet::new();
    // Schemas, with the path to them where they can be reached by nothing but
    // `properties`. Not by recursion: how deep it goes is the server's choice.
    let mut open: Vec<(&Value, Option<Vec<String>>)> = vec![(schema, Some(Vec::new()))];
    while let Some((schema, path)) = open.pop() {
        let map = match schema {
            Value::Object(map) => map,
            Value::Array(items) => {
                open.extend(items.iter().map(|item| (item, None)));
                continue;
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => continue,
        };
        if let Some(header) = map.get(ANNOTATION) {
            let header = usable(header, map)?;
            let Some(path) = path.clone().filter(|path| !path.is_empty()) else {
                return Err("where only `properties` lead to is allowed".to_owned());
            };
            if !names.insert(header.to_ascii_lowercase()) {
                return Err(format!("`{header}` that stands there twice"));
            }
            found.push(Mirrored { header, path });
        }
        for (key, value) in map {
            match (key.as_str(), value, &path) {
                ("properties", Value::Object(properties), path) => {
                    for (name, property) in properties {
                        let path = path.clone().map(|mut path| {
                            path.push(name.clone());
                            path
                        });
                        open.push((property, path));
                    }
                }
                // Values, not schemas.
                ("const" | "default" | "enum" | "examples", ..) => {}
                (_, value, _) => open.push((value, None)),
            }
        }
    }
    found.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(found)
}

fn usable(header: &Value, property: &Map<String, Value>) -> Result<String, String> {
    let Some(header) = header.as_str() else {
        return Err("that is no string".to_owned());
    };
    let token = |b: u8| b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&b);
    if header.is_empty() || !header.bytes().all(token) {
        return Err("that can't be part of a header's name".to_owned());
    }
    match property.get("type").and_then(Value::as_str) {
        Some("string" | "boolean") => Ok(header.to_owned()),
        Some("integer") => {
            let beyond = |key: &str| {
                let bound = property.get(key).and_then(roughly);
                #[expect(clippy::cast_precision_loss, reason = "that number is exact")]
                bound.is_some_and(|bound| bound.abs() > SAFE_INTEGER as f64)
            };
            if beyond("minimum") || beyond("maximum") {
                return Err(format!("`{header}` on whole numbers beyond 2^53"));
            }
            Ok(header.to_owned())
        }
        Some(_) | None => Err(format!(
            "`{header}` on what is no string, integer or boolean"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::{Outline, ParamHeaders, encode, header_text};
    use jelly_base::mcp::{Era, Revision};
    use jelly_base::model::ToolInfo;
    use serde_json::{Value, json};

    fn tool(schema: Value) -> ToolInfo {
        ToolInfo {
            name: "t".into(),
            input_schema: Some(schema),
            output_schema: None,
            repeatable: false,
        }
    }

    fn headers(message: &Value, settled: Option<Era>, tools: &[ToolInfo]) -> Vec<String> {
        let outline = Outline::of(message.to_string().as_bytes());
        outline
            .headers(
                settled.map(|era| Revision::newest(era).name),
                &ParamHeaders::of(tools).0,
            )
            .into_iter()
            .map(|(name, value)| format!("{name}: {value}"))
            .collect()
    }

    #[test]
    fn a_header_may_be_in_base64() {
        assert_eq!(header_text("plain").as_deref(), Some("plain"));
        assert_eq!(header_text("=?base64?w6Q=?=").as_deref(), Some("ä"));
        assert_eq!(header_text("=?base64?!?="), None);
    }

    #[test]
    fn headers_are_held_against_the_arguments() {
        let mut known = ParamHeaders::default();
        let list = |properties: Value| {
            let schema = json!({"type": "object", "properties": properties});
            json!({"tools": [{"name": "t", "inputSchema": schema}]}).to_string()
        };
        known.learn(&list(json!({
            "r": {"type": "string", "x-mcp-header": "Region"},
            "o": {"type": "object", "properties": {"n": {"type": "integer", "x-mcp-header": "N"}}},
        })));
        assert!(known.has("t") && !known.has("u"));
        let check = |arguments: Value, headers: &[(&str, &str)]| {
            known.check("t", &arguments, |name| {
                let found = headers.iter().find(|(known, _)| *known == name);
                found.map(|(_, value)| (*value).to_owned())
            })
        };
        for (arguments, headers) in [
            (json!({}), &[][..]),
            (json!({"r": null, "o": {"n": [1]}}), &[]),
            (json!({"r": "eu"}), &[("Mcp-Param-Region", "eu")]),
            (
                json!({"r": "ä"}),
                &[("Mcp-Param-Region", "=?base64?w6Q=?=")],
            ),
            (json!({"o": {"n": 42}}), &[("Mcp-Param-N", "42.0")]),
        ] {
            assert_eq!(check(arguments.clone(), headers), Ok(()), "{arguments}");
        }
        for (arguments, headers, said) in [
            (json!({"r": "eu"}), &[][..], "Mcp-Param-Region is missing"),
            (json!({"r": "eu"}), &[("Mcp-Param-Region", "EU")], "not say"),
            (json!({}), &[("Mcp-Param-Region", "eu")], "not say"),
            (
                json!({"r": "ä"}),
                &[("Mcp-Param-Region", "=?base64?!?=")],
                "not say",
            ),
            (json!({"r": "1"}), &[("Mcp-Param-Region", "one")], "not say"),
            (json!({"o": {"n": 42}}), &[("Mcp-Param-N", "43")], "not say"),
            (
                json!({"o": {"n": 9_007_199_254_740_993_u64}}),
                &[("Mcp-Param-N", "9007199254740992")],
                "not say",
            ),
        ] {
            let refused = check(arguments.clone(), headers).unwrap_err();
            assert!(refused.contains(said), "{arguments}: {refused}");
        }
        // The newest list holds.
        known.learn(&list(json!({"r": {"type": "string"}})));
        assert!(!known.has("t"));
    }

    #[test]
    fn what_a_header_cannot_carry_travels_in_base64() {
        for (text, header) in [
            ("us-west1", "us-west1"),
            ("a b", "a b"),
            ("", ""),
            ("Hello, 世界", "=?base64?SGVsbG8sIOS4lueVjA==?="),
            (" padded ", "=?base64?IHBhZGRlZCA=?="),
            ("line1\nline2", "=?base64?bGluZTEKbGluZTI=?="),
            ("=?base64?literal?=", "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?="),
        ] {
            assert_eq!(encode(text), header);
        }
    }

    #[test]
    fn a_legacy_message_carries_the_settled_version_and_initialize_none() {
        let list = json!({"id": 1, "method": "tools/list"});
        assert_eq!(
            headers(&list, Some(Era::Legacy), &[]),
            ["mcp-protocol-version: 2025-11-25"]
        );
        let init =
            json!({"id": 1, "method": "initialize", "params": {"protocolVersion": "2025-11-25"}});
        assert_eq!(headers(&init, None, &[]), [""; 0]);
        let answer = json!({"id": 7, "result": {}});
        assert_eq!(
            headers(&answer, Some(Era::Legacy), &[]),
            ["mcp-protocol-version: 2025-11-25"]
        );
    }

    #[test]
    fn a_modern_message_repeats_its_version_method_and_name() {
        let meta = json!({"io.modelcontextprotocol/protocolVersion": "2026-07-28"});
        let read = json!({"id": 1, "method": "resources/read",
                          "params": {"uri": "file:///ä", "_meta": meta}});
        assert_eq!(
            headers(&read, None, &[]),
            [
                "mcp-protocol-version: 2026-07-28",
                "mcp-method: resources/read",
                "mcp-name: =?base64?ZmlsZTovLy/DpA==?="
            ]
        );
        let list = json!({"id": 1, "method": "tools/list", "params": {"_meta": meta, "name": "x"}});
        assert_eq!(headers(&list, None, &[]).len(), 2);
    }

    #[test]
    fn annotated_arguments_travel_as_headers_where_they_have_a_value() {
        let tools = [tool(json!({"type": "object", "properties": {
            "region": {"type": "string", "x-mcp-header": "Region"},
            "dry": {"type": "boolean", "x-mcp-header": "Dry"},
            "absent": {"type": "string", "x-mcp-header": "Absent"},
            "deep": {"type": "object", "properties": {"n": {"type": "integer", "x-mcp-header": "N"}}},
        }}))];
        let meta = json!({"io.modelcontextprotocol/protocolVersion": "2026-07-28"});
        let call = json!({"id": 1, "method": "tools/call", "params": {"name": "t", "_meta": meta,
            "arguments": {"region": "eu", "dry": false, "absent": null, "deep": {"n": -7}}}});
        let mut mirrored = headers(&call, None, &tools).split_off(3);
        mirrored.sort();
        assert_eq!(
            mirrored,
            [
                "mcp-param-dry: false",
                "mcp-param-n: -7",
                "mcp-param-region: eu"
            ]
        );
    }

    #[test]
    fn annotations_against_the_rules_are_said_and_give_no_headers() {
        let text = json!({"type": "string", "x-mcp-header": "A"});
        for (schema, word) in [
            (
                json!({"properties": {"a": {"type": "string", "x-mcp-header": ""}}}),
                "name",
            ),
            (
                json!({"properties": {"a": {"type": "string", "x-mcp-header": "a b"}}}),
                "name",
            ),
            (
                json!({"properties": {"a": {"type": "string", "x-mcp-header": 1}}}),
                "no string",
            ),
            (
                json!({"properties": {"a": {"type": "number", "x-mcp-header": "A"}}}),
                "integer",
            ),
            (
                json!({"properties": {"a": {"x-mcp-header": "A"}}}),
                "integer",
            ),
            (
                json!({"properties": {"a": {"type": "array", "items": text}}}),
                "properties",
            ),
            (
                json!({"properties": {"a": {"anyOf": [text]}}}),
                "properties",
            ),
            (json!({"$defs": {"a": text}}), "properties"),
            (
                json!({"properties": {"a": text, "b": {"type": "string", "x-mcp-header": "a"}}}),
                "twice",
            ),
            (
                json!({"properties": {"a": {"type": "integer", "x-mcp-header": "A", "maximum": 1e300}}}),
                "2^53",
            ),
        ] {
            let (known, flaws) = ParamHeaders::of(&[tool(schema.clone())]);
            assert!(known.refuses("t") && known.mirrored.is_empty(), "{schema}");
            assert!(flaws[0].contains(word), "{schema}: {flaws:?}");
        }
        let fine = json!({"properties": {"a": {"type": "string", "default": {"x-mcp-header": 1}}}});
        let (known, flaws) = ParamHeaders::of(&[tool(fine)]);
        assert!(flaws.is_empty() && !known.refuses("t"));
    }
}
