//! Which tools may be called twice, by what their server says of them.
//!
//! Main type: [`Repeatable`].

use serde::Deserialize;
use std::collections::HashSet;

/// Tools that are remembered; those beyond are called once.
const TOOLS: usize = 10_000;

/// Tools that only read, or whose second call changes nothing.
#[derive(Debug, Default)]
pub struct Repeatable {
    tools: HashSet<String>,
}

#[derive(Deserialize)]
struct ToolsPage {
    tools: Vec<HintedTool>,
}

#[derive(Deserialize)]
struct HintedTool {
    name: String,
    #[serde(default)]
    annotations: Option<ToolHints>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct ToolHints {
    read_only_hint: bool,
    idempotent_hint: bool,
}

impl Repeatable {
    /// Takes in a page of a list of tools; what can't be read says nothing.
    pub fn learn(&mut self, result: &str) {
        let Ok(page) = serde_json::from_str::<ToolsPage>(result) else {
            return;
        };
        for tool in page.tools {
            let hints = tool.annotations.unwrap_or_default();
            let may = hints.read_only_hint || hints.idempotent_hint;
            match may && self.tools.len() < TOOLS {
                true => drop(self.tools.insert(tool.name)),
                false => drop(self.tools.remove(&tool.name)),
            }
        }
    }

    pub fn has(&self, tool: &str) -> bool {
        self.tools.contains(tool)
    }
}

#[cfg(test)]
mod tests {
    use super::Repeatable;

    #[test]
    fn a_tool_may_be_called_twice_only_where_the_newest_list_says_so() {
        let mut known = Repeatable::default();
        known.learn(
            r#"{"tools":[{"name":"reads","annotations":{"readOnlyHint":true}},
                {"name":"sets","annotations":{"idempotentHint":true,"destructiveHint":true}},
                {"name":"acts","annotations":{"readOnlyHint":false}},{"name":"says nothing"}]}"#,
        );
        assert!(known.has("reads") && known.has("sets"));
        assert!(!known.has("acts") && !known.has("says nothing") && !known.has("unheard of"));
        known.learn(r#"{"tools":[{"name":"reads"}]}"#);
        assert!(!known.has("reads") && known.has("sets"));
        known.learn(r#"{"tools":[{"name":"sets","annotations":{"idempotentHint":"yes"}}]}"#);
        assert!(known.has("sets"), "what can't be read says nothing");
    }
}
