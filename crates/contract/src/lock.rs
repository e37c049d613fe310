//! What servers promise, as it is kept in a file.
//!
//! Main type: [`Lock`]. Its text is canonical: the same servers give the same
//! bytes.

use super::canonical::{canonical, digest};
use jelly_base::model::Inventory;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Raised when a field changes its meaning.
pub const LOCK_VERSION: u32 = 1;

/// The tools, prompts or resources of a server, by what they are called by.
pub type Items = BTreeMap<String, LockedItem>;

/// `jelly.lock`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Lock {
    /// Raised when a field changes its meaning.
    pub schema_version: u32,
    /// By their names in the plan, or as they were named.
    pub servers: BTreeMap<String, ServerLock>,
}

/// One server.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ServerLock {
    /// What it calls itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The version that it gives itself; no part of what it promises.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// What it promises in each era of the protocol that it speaks: `legacy`,
    /// `modern`.
    pub eras: BTreeMap<String, EraLock>,
}

/// What a server promises in one era.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EraLock {
    /// The revision that was agreed on.
    pub protocol_version: String,
    /// Of all that follows.
    pub digest: String,
    /// As the server declares them.
    pub capabilities: Value,
    /// What the server tells models to do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instructions: Option<String>,
    /// The era whose lists these are too, where they are the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lists_of: Option<String>,
    /// Absent where the server has none. So are the others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tools: Option<Items>,
    /// By their names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompts: Option<Items>,
    /// By their URIs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resources: Option<Items>,
    /// By their URI templates.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resource_templates: Option<Items>,
}

/// One tool, prompt or resource.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LockedItem {
    /// Of the definition.
    pub digest: String,
    /// As the server lists it, without what changes with its contents.
    pub definition: Value,
}

/// Why a text is no lock.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LockError {
    #[error("{line}:{column}: {what}")]
    Malformed {
        line: usize,
        column: usize,
        what: String,
    },
    #[error("it is of version {0}, and this jelly reads version {LOCK_VERSION}")]
    Version(u32),
    #[error("it was edited by hand: the digest of {0} differs")]
    Edited(String),
    #[error("the lists of the server `{0}` are said to be those of an era that it does not have")]
    NoEra(String),
}

impl Lock {
    /// Without servers.
    #[must_use]
    pub fn new() -> Self {
        Self {
            schema_version: LOCK_VERSION,
            servers: BTreeMap::new(),
        }
    }

    /// The lock that a text is.
    ///
    /// # Errors
    /// It is none, of another version, or was changed by hand.
    pub fn parse(text: &str) -> Result<Self, LockError> {
        let lock: Self = serde_json::from_str(text).map_err(|error| {
            let what = error.to_string();
            let (what, _) = what.rsplit_once(" at line ").unwrap_or((&what, ""));
            LockError::Malformed {
                line: error.line(),
                column: error.column(),
                what: what.to_owned(),
            }
        })?;
        if lock.schema_version != LOCK_VERSION {
            return Err(LockError::Version(lock.schema_version));
        }
        for (name, server) in &lock.servers {
            for (era, contents) in &server.eras {
                let other = contents.lists_of.as_ref();
                if other.is_some_and(|other| {
                    let other = server.eras.get(other);
                    other.is_none_or(|other| other.lists_of.is_some())
                }) {
                    return Err(LockError::NoEra(name.clone()));
                }
                let items = contents.lists().into_iter().flatten().flatten();
                for (item, locked) in items {
                    if digest(&locked.definition) != locked.digest {
                        return Err(LockError::Edited(format!("`{item}` of `{name}`")));
                    }
                }
                if contents.own_digest() != contents.digest {
                    return Err(LockError::Edited(format!("`{name}` ({era})")));
                }
            }
        }
        Ok(lock)
    }

    /// As it is kept: canonical, indented, with a line feed at its end.
    #[must_use]
    pub fn text(&self) -> String {
        let value = serde_json::to_value(self).unwrap_or_default();
        // Of plain data; it can't fail.
        let text = serde_json::to_string_pretty(&canonical(&value)).unwrap_or_default();
        text + "\n"
    }

    /// Adds what a session showed of a server.
    pub fn add(&mut self, server: &str, inventory: &Inventory) {
        let entry = self.servers.entry(server.to_owned()).or_default();
        let word = |key: &str| {
            let word = inventory.server_info.get(key).and_then(Value::as_str);
            word.map(str::to_owned)
        };
        entry.name = entry.name.take().or_else(|| word("name"));
        entry.version = entry.version.take().or_else(|| word("version"));
        let mut contents = EraLock::of(inventory);
        let twin = entry.eras.iter().find(|(era, other)| {
            **era != inventory.era && other.lists_of.is_none() && other.lists() == contents.lists()
        });
        if let Some((era, _)) = twin {
            contents.lists_of = Some(era.clone());
            contents.tools = None;
            contents.prompts = None;
            contents.resources = None;
            contents.resource_templates = None;
        }
        contents.digest = contents.own_digest();
        entry.eras.insert(inventory.era.clone(), contents);
    }
}

impl ServerLock {
    /// What it promises in an era, with the lists that are another era's too.
    #[must_use]
    pub fn era(&self, era: &str) -> Option<EraLock> {
        let mut contents = self.eras.get(era)?.clone();
        if let Some(other) = contents.lists_of.take() {
            let other = self.eras.get(&other)?;
            contents.tools.clone_from(&other.tools);
            contents.prompts.clone_from(&other.prompts);
            contents.resources.clone_from(&other.resources);
            contents
                .resource_templates
                .clone_from(&other.resource_templates);
        }
        Some(contents)
    }
}

impl EraLock {
    fn of(inventory: &Inventory) -> Self {
        let list = |items: &Option<Vec<Value>>, key: &str| {
            let items = items.as_ref()?;
            let mut named = Items::new();
            for item in items {
                let definition = settled(item);
                let name = item.get(key).and_then(Value::as_str).unwrap_or("");
                let mut free = name.to_owned();
                for count in 2.. {
                    if !named.contains_key(&free) {
                        break;
                    }
                    free = format!("{name}#{count}");
                }
                let digest = digest(&definition);
                named.insert(free, LockedItem { digest, definition });
            }
            Some(named)
        };
        Self {
            protocol_version: inventory.protocol_version.clone(),
            digest: String::new(),
            capabilities: canonical(&inventory.capabilities),
            instructions: inventory.instructions.clone(),
            lists_of: None,
            tools: list(&inventory.tools, "name"),
            prompts: list(&inventory.prompts, "name"),
            resources: list(&inventory.resources, "uri"),
            resource_templates: list(&inventory.resource_templates, "uriTemplate"),
        }
    }

    fn lists(&self) -> [&Option<Items>; 4] {
        [
            &self.tools,
            &self.prompts,
            &self.resources,
            &self.resource_templates,
        ]
    }

    fn own_digest(&self) -> String {
        let digests = |items: &Option<Items>| {
            let items = items.as_ref()?;
            let all = items
                .iter()
                .map(|(name, item)| (name.clone(), Value::from(item.digest.clone())));
            Some(Value::Object(all.collect()))
        };
        let lists = self.lists().map(digests);
        digest(&json!([
            self.capabilities,
            self.instructions,
            self.lists_of,
            lists
        ]))
    }
}

/// Without what changes with the contents of a resource.
fn settled(item: &Value) -> Value {
    let mut item = canonical(item);
    if let Value::Object(members) = &mut item
        && (members.contains_key("uri") || members.contains_key("uriTemplate"))
    {
        members.shift_remove("size");
        if let Some(Value::Object(annotations)) = members.get_mut("annotations") {
            annotations.shift_remove("lastModified");
        }
    }
    item
}

#[cfg(test)]
mod tests {
    use super::{Lock, LockError};
    use jelly_base::model::Inventory;
    use serde_json::json;

    fn inventory(era: &str, tool: &str) -> Inventory {
        Inventory {
            server_info: json!({"name": "s", "version": "1"}),
            era: era.to_owned(),
            protocol_version: "x".to_owned(),
            capabilities: json!({"tools": {}}),
            tools: Some(vec![
                json!({"name": tool, "inputSchema": {"type": "object"}}),
            ]),
            ..Inventory::default()
        }
    }

    #[test]
    fn a_lock_is_the_same_text_again_and_tells_who_changed_it() {
        let mut lock = Lock::new();
        lock.add("s", &inventory("legacy", "a"));
        lock.add("s", &inventory("modern", "a"));
        let text = lock.text();
        assert_eq!(text.matches("inputSchema").count(), 1, "{text}");
        let read = Lock::parse(&text).unwrap();
        assert_eq!(read.text(), text);
        let modern = read.servers["s"].era("modern").unwrap();
        assert!(modern.tools.unwrap().contains_key("a"));
        let edited = Lock::parse(&text.replace("\"object\"", "\"array\""));
        assert!(matches!(edited, Err(LockError::Edited(_))), "{edited:?}");
        let newer = Lock::parse(&text.replace("\"schema_version\": 1", "\"schema_version\": 9"));
        assert_eq!(newer, Err(LockError::Version(9)));
        let cut = Lock::parse(&text[..40]);
        assert!(matches!(cut, Err(LockError::Malformed { .. })), "{cut:?}");
    }

    #[test]
    fn eras_with_other_lists_keep_their_own() {
        let mut lock = Lock::new();
        lock.add("s", &inventory("legacy", "a"));
        lock.add("s", &inventory("modern", "b"));
        let read = Lock::parse(&lock.text()).unwrap();
        let tools = |era: &str| {
            let contents = read.servers["s"].era(era).unwrap();
            contents.tools.unwrap().into_keys().collect::<Vec<_>>()
        };
        assert_eq!(
            (tools("legacy"), tools("modern")),
            (vec!["a".into()], vec!["b".into()])
        );
    }
}
