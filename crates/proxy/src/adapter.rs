//! Outputs of tools as structured content, where a server sends them as text.
//!
//! Main type: [`Adapter`]. It knows the output schemas that pass by in lists of
//! tools, and those that a schema store sets in their place; what an output
//! is read by is the harness's ladder.

use indexmap::IndexMap;
use jelly_base::model::{OutputSeen, Rung};
use jelly_harness::exec::{Declared, LadderInput, Overrides, climb};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use std::collections::HashMap;

/// Tools of which the schema is kept.
const TOOLS: usize = 10_000;

/// Members of an object, each as it is written.
pub type Members = IndexMap<String, Box<RawValue>>;

/// What a schema store says of one server's tools.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct StoreSchemas {
    /// What a person set.
    pub set: Overrides,
    /// All that stands there.
    pub shown: Overrides,
}

/// See the module.
#[derive(Debug, Default)]
pub struct Adapter {
    server: String,
    /// What the server declares, by tool; none of a tool that it lists without.
    declared: HashMap<String, Option<Declared>>,
    /// What a person set in the store, by tool: outputs are read by it.
    set: HashMap<String, Declared>,
    /// What stands in the store, be it learnt: clients are shown it.
    shown: HashMap<String, Declared>,
    learns: bool,
    learnt: Vec<OutputSeen>,
    /// How the last output was read that the client gets.
    last_rung: Option<Rung>,
}

/// What tells at a glance whether a result is to be adapted.
#[derive(Default, Deserialize)]
struct Glance<'a> {
    #[serde(borrow, default, rename = "structuredContent")]
    structured: Option<&'a RawValue>,
    #[serde(default, rename = "isError")]
    is_error: bool,
}

/// A tool, as it is listed.
#[derive(Deserialize)]
struct Listed {
    name: String,
    #[serde(default, rename = "outputSchema")]
    output_schema: Option<Value>,
}

#[derive(Deserialize)]
struct List {
    tools: Vec<Listed>,
}

impl Adapter {
    /// For the server of this name.
    #[must_use]
    pub fn new(server: impl Into<String>) -> Self {
        Self {
            server: server.into(),
            ..Self::default()
        }
    }

    /// There is a store, and this stands in it now. Whether tools that were listed
    /// are to be listed with another schema.
    pub fn set(&mut self, schemas: &StoreSchemas) -> bool {
        let usable = |set: &Overrides| {
            set.iter()
                .map(|(tool, schema)| (tool.clone(), Declared::new(schema.clone())))
                .filter(|(_, schema)| schema.compiled().is_ok())
                .collect()
        };
        self.set = usable(&schemas.set);
        let before = std::mem::replace(&mut self.shown, usable(&schemas.shown));
        self.learns = true;
        self.declared.iter().any(|(tool, declared)| {
            let listed = |shown: &HashMap<String, Declared>| {
                let shown = shown.get(tool).or(declared.as_ref());
                shown.map(|shown| shown.schema.clone())
            };
            listed(&before) != listed(&self.shown)
        })
    }

    /// What was seen since it was last asked.
    pub fn take_learnt(&mut self) -> Vec<OutputSeen> {
        std::mem::take(&mut self.learnt)
    }

    /// How the output was read that was looked at last.
    pub fn take_rung(&mut self) -> Option<Rung> {
        self.last_rung.take()
    }

    /// A list of tools passes by: what is to be shown in its place, if that is
    /// another one.
    pub fn listed(&mut self, result: &str) -> Option<String> {
        let list: List = serde_json::from_str(result).ok()?;
        let mut is_set = false;
        for tool in list.tools {
            is_set |= self.shown.contains_key(&tool.name);
            if self.declared.len() < TOOLS || self.declared.contains_key(&tool.name) {
                let declared = tool.output_schema.map(Declared::new);
                self.declared.insert(tool.name, declared);
            }
        }
        is_set.then(|| self.merged(result)).flatten()
    }

    /// The list with what the store sets.
    fn merged(&self, result: &str) -> Option<String> {
        let mut result: Members = serde_json::from_str(result).ok()?;
        let mut tools: Vec<Members> = serde_json::from_str(result.get("tools")?.get()).ok()?;
        for tool in &mut tools {
            let name = tool.get("name").map(|name| name.get());
            let name: Option<String> = name.and_then(|name| serde_json::from_str(name).ok());
            if let Some(schema) = name.and_then(|name| self.shown.get(&name)) {
                tool.insert("outputSchema".to_owned(), raw(&schema.schema)?);
            }
        }
        result.insert("tools".to_owned(), raw(&tools)?);
        serde_json::to_string(&result).ok()
    }

    /// The result of a call of this tool passes by: what is to be sent in its
    /// place, if that is another one.
    pub fn adapted(&mut self, tool: &str, result: &str) -> Option<String> {
        self.last_rung = None;
        let listed = self.declared.get(tool);
        let declared = listed.and_then(Option::as_ref);
        let schema = self.set.get(tool).or(declared);
        // What a tool declares that nobody has listed here is not known.
        let learns = self.learns && listed.is_some();
        if schema.is_none() && !learns && !self.shown.contains_key(tool) {
            return None;
        }
        let glance: Glance<'_> = serde_json::from_str(result).ok()?;
        if glance.is_error {
            return None;
        }
        let (output, rung) = match glance.structured {
            Some(own) if own.get() != "null" => (None, Rung::Structured),
            Some(_) | None => {
                let whole: Value = serde_json::from_str(result).ok()?;
                let input = LadderInput {
                    adapts: true,
                    is_tool: true,
                    schema,
                    declared,
                    store_unread: false,
                };
                let (output, rung) = climb(&whole, input)?;
                (Some(output.into_owned()), rung)
            }
        };
        let is_wanted = match rung {
            Rung::Structured => false,
            Rung::JsonText | Rung::Declared => schema.is_some(),
            // What was declared is no promise that this keeps.
            Rung::Generic => self.shown.get(tool).is_some_and(|shown| {
                let output = output.as_ref();
                output.is_some_and(|output| shown.is_valid(output) == Ok(true))
            }),
        };
        if learns {
            self.learnt.push(OutputSeen {
                server: self.server.clone(),
                tool: tool.to_owned(),
                rung,
                declared: declared.map(|declared| declared.schema.clone()),
            });
        }
        self.last_rung = (is_wanted || rung == Rung::Structured).then_some(rung);
        let output = output.filter(|_| is_wanted)?;
        let mut result: Members = serde_json::from_str(result).ok()?;
        result.insert("structuredContent".to_owned(), raw(&output)?);
        serde_json::to_string(&result).ok()
    }
}

/// A value as it is written.
pub fn raw(value: &impl serde::Serialize) -> Option<Box<RawValue>> {
    serde_json::value::to_raw_value(value).ok()
}

#[cfg(test)]
mod tests {
    use super::{Adapter, StoreSchemas};
    use jelly_base::model::Rung;
    use jelly_harness::exec::Overrides;
    use serde_json::{Value, json};

    const LIST: &str = r#"{"tools":[{"name":"report","x":1e400,"outputSchema":{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}},{"name":"plain"}],"nextCursor":"a"}"#;

    fn text(text: &str) -> String {
        json!({ "content": [{ "type": "text", "text": text }] }).to_string()
    }

    fn structured(adapted: Option<String>) -> Option<Value> {
        let adapted: Value = serde_json::from_str(&adapted?).unwrap();
        adapted.get("structuredContent").cloned()
    }

    #[test]
    fn without_a_store_only_what_is_declared_and_fits_is_adapted() {
        let mut adapter = Adapter::new("s");
        assert_eq!(adapter.listed(LIST), None);
        let n = Some(json!({ "n": 1 }));
        assert_eq!(
            structured(adapter.adapted("report", &text("{\"n\": 1}"))),
            n
        );
        let own = json!({ "content": [], "structuredContent": { "n": "own" } }).to_string();
        let error =
            json!({ "content": [{ "type": "text", "text": "{\"n\": 1}" }], "isError": true });
        for (tool, result) in [
            ("report", text("{\"n\": \"no\"}")),
            ("report", text("words")),
            ("report", own),
            ("report", error.to_string()),
            ("plain", text("{\"n\": 1}")),
            ("unknown", text("{\"n\": 1}")),
        ] {
            assert_eq!(adapter.adapted(tool, &result), None, "{tool} {result}");
        }
        assert!(adapter.take_learnt().is_empty());
    }

    #[test]
    fn what_a_store_sets_is_listed_and_lets_text_be_wrapped() {
        let generic = json!({
            "type": "object", "properties": { "result": { "type": "string" } },
            "required": ["result"],
        });
        let shown = Overrides::from([("plain".to_owned(), generic)]);
        let mut adapter = Adapter::new("s");
        adapter.set(&StoreSchemas {
            set: Overrides::new(),
            shown: shown.clone(),
        });
        // Nobody has listed it, so that it may declare something.
        assert_eq!(adapter.adapted("report", &text("words")), None);
        assert!(adapter.take_learnt().is_empty());
        let list = adapter.listed(LIST).unwrap();
        assert!(
            list.contains("\"x\":1e400") && list.contains("nextCursor"),
            "{list}"
        );
        let tail = &list[list.find("\"plain\"").unwrap()..];
        assert!(
            tail.contains("\"outputSchema\":{\"type\":\"object\""),
            "{list}"
        );
        let words = Some(json!({ "result": "words" }));
        assert_eq!(structured(adapter.adapted("plain", &text("words"))), words);
        // Where nothing is set, it is only noted.
        assert_eq!(adapter.adapted("report", &text("words")), None);
        let seen = adapter.take_learnt();
        let seen: Vec<(&str, Rung)> = seen.iter().map(|s| (s.tool.as_str(), s.rung)).collect();
        assert_eq!(seen, [("plain", Rung::Generic), ("report", Rung::Generic)]);

        // That what is declared stands in the store now changes no list.
        let mut with_declared = shown.clone();
        let n = json!({"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]});
        with_declared.insert("report".to_owned(), n);
        let store = |shown: &Overrides| StoreSchemas {
            set: Overrides::new(),
            shown: shown.clone(),
        };
        assert!(!adapter.set(&store(&with_declared)));
        assert!(adapter.set(&store(&Overrides::new())));
        assert!(!adapter.set(&store(&Overrides::new())));
        assert!(adapter.set(&store(&shown)));

        // The one required text is the form that a person's schema asks for.
        let set = shown.clone();
        adapter.set(&StoreSchemas { set, shown });
        assert_eq!(structured(adapter.adapted("plain", &text("words"))), words);
        assert_eq!(adapter.take_learnt()[0].rung, Rung::Declared);
    }
}
