//! What a server offers, by its own word.

use super::RequestFacts;
use super::schema::is_zero;
use crate::mcp::{ListKind, Method};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// So many names of a kind are kept.
const MAX_NAMES: usize = 100;

/// The capabilities that a server declared, and the names in its lists.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Offers {
    /// As in `tools` or `resources.subscribe`, without those that it says no to.
    pub capabilities: Vec<String>,
    /// Absent where it was not asked for the list.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tools: Option<Names>,
    /// Likewise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompts: Option<Names>,
    /// URIs, and likewise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resources: Option<Names>,
}

/// The names of a list.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Names {
    /// The first of them, in the server's order.
    pub names: Vec<String>,
    /// How many more there are.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub more: u64,
}

/// A name that a request gives, and that is not in the server's list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unlisted<'a> {
    /// `tool`, `prompt` or `resource`.
    pub kind: &'static str,
    pub name: &'a str,
    pub listed: &'a Names,
}

impl Names {
    /// How many there are.
    #[must_use]
    pub fn total(&self) -> u64 {
        let kept = u64::try_from(self.names.len()).unwrap_or(u64::MAX);
        self.more.saturating_add(kept)
    }

    #[must_use]
    pub fn of<'n>(names: impl IntoIterator<Item = &'n str>) -> Self {
        let mut names = names.into_iter();
        Self {
            names: names.by_ref().take(MAX_NAMES).map(str::to_owned).collect(),
            more: names.count().try_into().unwrap_or(u64::MAX),
        }
    }
}

impl Offers {
    /// What the answer to the handshake declares; no list was asked for yet.
    #[must_use]
    pub fn declared(capabilities: &Value) -> Self {
        let mut names = Vec::new();
        for (name, what) in capabilities.as_object().into_iter().flatten() {
            if what == &Value::Bool(false) || what.is_null() {
                continue;
            }
            names.push(name.clone());
            let inner = what.as_object().into_iter().flatten();
            let on = inner.filter(|(_, value)| *value == &Value::Bool(true));
            names.extend(on.map(|(inner, _)| format!("{name}.{inner}")));
        }
        names.truncate(MAX_NAMES);
        Self {
            capabilities: names,
            ..Self::default()
        }
    }

    /// Every name, to be cleaned.
    pub fn names_mut(&mut self) -> impl Iterator<Item = &mut String> {
        let Self {
            capabilities,
            tools,
            prompts,
            resources,
        } = self;
        let lists = [tools, prompts, resources].into_iter().flatten();
        capabilities
            .iter_mut()
            .chain(lists.flat_map(|list| &mut list.names))
    }

    /// What the request names, where its list is known and does not hold it.
    #[must_use]
    pub fn unlisted<'a>(&'a self, request: &'a RequestFacts) -> Option<Unlisted<'a>> {
        let kind = Method::find(&request.method)?.subject?;
        let listed = match kind {
            ListKind::Tools => &self.tools,
            ListKind::Prompts => &self.prompts,
            ListKind::Resources => &self.resources,
            ListKind::ResourceTemplates => return None,
        };
        let listed = listed.as_ref()?;
        let name = request.params.as_ref()?.get(kind.name_key())?.as_str()?;
        let is_known = listed.names.iter().any(|listed| listed == name);
        // Of a longer list nobody knows the rest here.
        (!is_known && listed.more == 0).then_some(Unlisted {
            kind: kind.item(),
            name,
            listed,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{Names, Offers};
    use crate::model::RequestFacts;
    use serde_json::json;

    #[test]
    fn capabilities_are_named_with_what_is_switched_on_in_them() {
        let declared = json!({
            "tools": { "listChanged": true }, "resources": { "subscribe": false },
            "prompts": null, "logging": {}
        });
        let offers = Offers::declared(&declared);
        assert_eq!(
            offers.capabilities,
            ["tools", "tools.listChanged", "resources", "logging"]
        );
        assert_eq!(Offers::declared(&json!([1])), Offers::default());
    }

    #[test]
    fn only_what_is_surely_not_in_a_list_is_unlisted() {
        let ask = |method: &str, key: &str, name: &str| RequestFacts {
            method: method.into(),
            params: Some(json!({ key: name })),
            ..RequestFacts::default()
        };
        let mut offers = Offers {
            tools: Some(Names::of(["a", "b"])),
            ..Offers::default()
        };
        let asked = ask("tools/call", "name", "c");
        let unlisted = offers.unlisted(&asked).unwrap();
        assert_eq!((unlisted.kind, unlisted.name), ("tool", "c"));
        assert_eq!(offers.unlisted(&ask("tools/call", "name", "a")), None);
        // Nobody asked for that list.
        assert_eq!(offers.unlisted(&ask("prompts/get", "name", "c")), None);
        let many: Vec<String> = (0..300).map(|n| format!("t{n}")).collect();
        offers.tools = Some(Names::of(many.iter().map(String::as_str)));
        assert_eq!(offers.tools.as_ref().unwrap().more, 200);
        assert_eq!(offers.unlisted(&ask("tools/call", "name", "t299")), None);
    }
}
