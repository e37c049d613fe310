//! A draft as text.

use super::draft::{Draft, Step, What};
use super::shape::outline;
use super::text::Text;
use super::values::{all_written, item, one, one_path};
use jelly_base::text::plural;
use serde_json::{Map, Value, json};

/// The largest schema of a tool that is not called that the list of tools
/// holds, in bytes of JSON.
const LISTED_SCHEMA: usize = 500;

impl Draft {
    /// The plan as it is tried, with a limit for each call, as plans write it.
    #[must_use]
    pub fn text_within(&self, limit: &str) -> String {
        self.write(Some(limit))
    }

    /// The plan.
    #[must_use]
    pub fn text(&self) -> String {
        self.write(None)
    }

    fn write(&self, limit: Option<&str>) -> String {
        let mut text = Text::default();
        self.head(&mut text);
        text.line(0, "version: 1");
        text.map(
            0,
            &one("name", Value::from(self.settings.name.as_str())),
            "",
        );
        text.line(0, "servers:");
        for note in &self.settings.notes {
            text.comment(2, note);
        }
        let name = &self.settings.name;
        let mut server = self.settings.server.clone();
        if let Some(limit) = limit {
            server.insert("request_timeout".to_owned(), Value::from(limit));
        }
        text.map(2, &one(name, Value::Object(server)), "");
        text.line(0, "steps:");
        let called: Vec<&Step> = self.steps.iter().filter(|s| s.left.is_none()).collect();
        for (index, step) in called.iter().enumerate() {
            if index > 0 {
                text.blank();
            }
            text.comment(2, &step.about);
            self.step(&mut text, step);
        }
        let left: Vec<&Step> = self.steps.iter().filter(|s| s.left.is_some()).collect();
        if !left.is_empty() || !self.without.is_empty() {
            text.blank();
            text.comment(
                2,
                "TODO: what follows was not called, or did not pass. Decide what it may do, give \
                 it its arguments, and take the `#` away.",
            );
        }
        for step in left {
            text.blank();
            text.comment(2, &step.about);
            text.comment(
                2,
                &format!("Left out: {}.", step.left.as_deref().unwrap_or_default()),
            );
            text.commented = Some(2);
            self.step(&mut text, step);
            text.commented = None;
        }
        for sentence in &self.without {
            text.blank();
            text.comment(2, sentence);
        }
        text.into_string()
    }

    fn head(&self, text: &mut Text) {
        if let Some(schema) = &self.settings.schema {
            text.line(0, &format!("# yaml-language-server: $schema={schema}"));
        }
        let whose = match self.title.as_str() {
            "" => "an MCP server".to_owned(),
            title => format!("the MCP server {title}"),
        };
        text.comment(
            0,
            &format!(
                "A plan for {whose}, made by `jelly init` of the server's own lists and schemas. \
                 It is yours now: change what you like."
            ),
        );
        text.comment(0, &format!("Run it: {}", self.settings.run));
        let (called, all) = self.tools_called();
        if called > 0 {
            text.comment(
                0,
                "TODO: the steps hold the form of answers. What the answers have to say only you \
                 know: add it to `expect`, as in `text: { contains: … }`.",
            );
        }
        let left = all - called;
        if left > 0 {
            let are = if left == 1 { "is" } else { "are" };
            let tools = plural(all, "tool");
            text.comment(
                0,
                &format!("TODO: of {tools}, {left} {are} not called; see the end for the reasons."),
            );
        }
    }

    fn step(&self, text: &mut Text, step: &Step) {
        let mut map = Map::new();
        map.insert("id".to_owned(), Value::from(step.id.as_str()));
        let (key, value) = step.what.entry();
        map.insert(key.to_owned(), value);
        if let Some(args) = step.tries.get(step.tried).filter(|args| !args.is_empty()) {
            map.insert("args".to_owned(), Value::Object(args.clone()));
        }
        let mut expect = step.expect.clone();
        if step.left.is_some() {
            // The list of tools holds what it declares.
            expect.retain(|key, _| key == "is_error");
        }
        if step.what == What::List("tools") {
            let listed = self.listed();
            if !listed.is_empty() {
                expect.insert("json".to_owned(), Value::Array(listed));
            }
        }
        if !expect.is_empty() {
            map.insert("expect".to_owned(), Value::Object(expect));
        }
        text.map(4, &map, "- ");
    }

    /// What the list of tools has to hold: all names, and what their output
    /// schemas say. An answer shows little of a schema that allows it to be
    /// empty.
    fn listed(&self) -> Vec<Value> {
        let tools = self.steps.iter().filter_map(|step| match &step.what {
            What::Tool(tool) => Some(tool),
            What::List(_) | What::Read(_) | What::Prompt(_) | What::Request(_) => None,
        });
        tools
            .map(|tool| {
                let item = item("$.tools", "name", &tool.name);
                let Some(schema) = &tool.output else {
                    return one_path(&item, "exists", Value::Bool(true));
                };
                let outline = match (outline(schema, LISTED_SCHEMA), schema.get("type")) {
                    (Value::Object(none), Some(kind)) if none.is_empty() => {
                        json!({ "type": kind })
                    }
                    (outline, _) => outline,
                };
                let path = format!("{item}.outputSchema");
                one_path(&path, "contains", all_written(&outline, &[]))
            })
            .collect()
    }
}
