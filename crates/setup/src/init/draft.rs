//! A plan in the making: which steps it has, what they expect, and which of
//! them are left to a person.
//!
//! Main type: [`Draft`].

use super::arguments::arguments;
use super::choice::choose;
use super::names::Ids;
use super::sample::BLANK;
use super::shape::reduced;
use super::tool::{Tool, about};
use super::values::{all_written, item, one_path, written};
use jelly_base::model::Inventory;
use jelly_base::text::{LazyPattern, one_line};
use jelly_plan::takes_anything;
use serde_json::{Map, Value, json};
use std::collections::{HashMap, HashSet};

/// The largest schema that a step holds an output against, in bytes of JSON.
const STEP_SCHEMA: usize = 1500;
/// So many items of a list are held by their names; tools, all of them.
const MAX_LISTED: usize = 50;
/// The longest name that is held; longer ones are nobody's.
const MAX_NAME: usize = 200;
/// How sentences begin that state an error; short, since it stands in plans.
const ERROR: &str = r"^(?i)\W*(\w+ ){0,2}(error\b.*:|failed to )";
/// How much of an answer a comment quotes, in bytes.
const QUOTED: usize = 160;

/// What a plan is made with, besides the server's lists.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    /// The server's name in the plan, and the plan's.
    pub name: String,
    /// Its entry under `servers`, as plans write it.
    pub server: Map<String, Value>,
    /// What a reader should know of it; each a sentence.
    pub notes: Vec<String>,
    /// Where editors find the JSON Schema of plans.
    pub schema: Option<String>,
    /// How the plan is run.
    pub run: String,
    /// What the server can see of the file system.
    pub folder: Option<Folder>,
    /// Call what may destroy something, too.
    pub call_all: bool,
    /// Tools that are called whatever they may do, by name.
    pub called: Vec<String>,
}

/// A folder that the server was given.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Folder {
    /// As the server sees it.
    pub path: String,
    /// As the plan writes it.
    pub written: String,
    /// A readable file in it, by its name.
    pub file: Option<String>,
}

/// What came of one step when the plan was run.
#[derive(Debug, Clone, PartialEq)]
pub struct Called {
    pub id: String,
    pub outcome: Outcome,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// With the answer where it was kept.
    Passed(Option<Value>),
    /// The server's answer was an error: other arguments may do.
    Refused(String),
    /// Why not, whatever it is called with.
    Failed(String),
    /// It was not its turn.
    NotRun,
}

/// See the module.
#[derive(Debug)]
pub struct Draft {
    pub(super) settings: Settings,
    /// What the server calls itself, with its version.
    pub(super) title: String,
    pub(super) steps: Vec<Step>,
    /// What can't be a step, as sentences.
    pub(super) without: Vec<String>,
}

#[derive(Debug)]
pub(super) struct Step {
    pub id: String,
    pub about: String,
    pub what: What,
    /// Arguments to try, one after the other, as the plan writes them.
    pub tries: Vec<Map<String, Value>>,
    /// Which of them it has now.
    pub tried: usize,
    /// Why the ones before were refused.
    refused: Option<String>,
    pub expect: Map<String, Value>,
    /// Why it is left to a person.
    pub left: Option<String>,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum What {
    Tool(Box<Tool>),
    List(&'static str),
    Read(String),
    Prompt(String),
    Request(&'static str),
}

impl What {
    /// The key of a step, and its value.
    pub fn entry(&self) -> (&'static str, Value) {
        match self {
            Self::Tool(tool) => ("tool", written(&tool.name)),
            Self::List(list) => ("list", Value::from(*list)),
            Self::Read(uri) => ("read", written(uri)),
            Self::Prompt(name) => ("prompt", written(name)),
            Self::Request(method) => ("request", Value::from(*method)),
        }
    }
}

/// Whether a name can stand in a step: there is one.
fn can_be_named(name: &str) -> bool {
    !name.is_empty() && name.len() <= MAX_NAME
}

impl Draft {
    /// Of what a server lists.
    #[must_use]
    pub fn new(inventory: &Inventory, settings: Settings) -> Self {
        let mut draft = Self {
            title: title(&inventory.server_info),
            settings,
            steps: Vec::new(),
            without: Vec::new(),
        };
        let mut ids = Ids::default();
        let tools = inventory.tools.as_deref().unwrap_or_default();
        if inventory.tools.is_some() {
            draft.tools(tools, &mut ids);
        }
        draft.resources(inventory, &mut ids);
        let prompts = inventory.prompts.as_deref().unwrap_or_default();
        if !prompts.is_empty() {
            draft.prompts(prompts, &mut ids);
        }
        if draft.steps.is_empty() {
            let method = match inventory.era.as_str() {
                "modern" => "server/discover",
                _ => "ping",
            };
            let id = ids.of("alive");
            draft.add(
                id,
                "It lists nothing, so that all it can do is answer.",
                What::Request(method),
            );
        }
        draft
    }

    fn add(&mut self, id: String, about: &str, what: What) -> &mut Step {
        let index = self.steps.len();
        self.steps.push(Step {
            id,
            about: about.to_owned(),
            what,
            tries: vec![Map::new()],
            tried: 0,
            refused: None,
            expect: Map::new(),
            left: None,
        });
        &mut self.steps[index]
    }

    fn tools(&mut self, items: &[Value], ids: &mut Ids) {
        let about = match items {
            [] => "There are no tools yet; a list of them there is.",
            _ => "What clients rely on: these tools, and what they declare of their output.",
        };
        // What it expects follows from which tools are called.
        self.add(ids.of("tools"), about, What::List("tools"));
        let mut seen = HashSet::new();
        for tool in items.iter().filter_map(Tool::read) {
            if !seen.insert(tool.name.clone()) {
                continue;
            }
            if can_be_named(&tool.name) {
                let id = ids.of(&tool.name);
                self.tool(id, tool);
            } else {
                let name = one_line(&tool.name, 80);
                self.without.push(format!(
                    "The tool `{name}` has a name that no step can have."
                ));
            }
        }
    }

    fn tool(&mut self, id: String, tool: Tool) {
        let is_wanted = self.settings.call_all || self.settings.called.contains(&tool.name);
        let folder = self.settings.folder.clone();
        let chosen = choose(&tool, is_wanted);
        let (tries, open) = arguments(&tool, folder.as_ref());
        let left = match chosen {
            Err(why) => Some(why.to_owned()),
            Ok(()) => open.map(|names| {
                let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
                match names.as_slice() {
                    [] => "no arguments were found that its schema allows".to_owned(),
                    names => format!("nothing says what to call it with: {}", names.join(", ")),
                }
            }),
        };
        let mut expect = Map::new();
        expect.insert("is_error".to_owned(), Value::Bool(false));
        let schema = tool.output.as_ref().and_then(|s| reduced(s, STEP_SCHEMA));
        let schema = schema.map(|schema| all_written(&schema, &[]));
        // One that refuses nothing would test nothing.
        if let Some(schema) = schema.filter(|schema| !takes_anything(schema)) {
            expect.insert("structured".to_owned(), json!({ "schema": schema }));
        }
        let about = tool.about.clone();
        let step = self.add(id, &about, What::Tool(Box::new(tool)));
        (step.tries, step.expect, step.left) = (tries, expect, left);
    }

    fn resources(&mut self, inventory: &Inventory, ids: &mut Ids) {
        if let Some(resources) = &inventory.resources {
            let read = readable(resources);
            let about = match &read {
                Some(_) => "The resources, and one of them.",
                None => "The resources; there are none yet.",
            };
            let step = self.add(ids.of("resources"), about, What::List("resources"));
            if let Some((uri, _)) = &read {
                let listed = item("$.resources", "uri", uri);
                let held = one_path(&listed, "exists", Value::Bool(true));
                step.expect.insert("json".to_owned(), json!([held]));
            }
            if let Some((uri, about)) = read {
                self.add(ids.of("read"), &about, What::Read(uri));
            }
        }
        let templates = inventory.resource_templates.as_deref().unwrap_or_default();
        self.list(
            "resource_templates",
            "$.resourceTemplates",
            "uriTemplate",
            templates,
            ids,
        );
    }

    /// A step that lists, and holds what is listed by a member.
    fn list(
        &mut self,
        list: &'static str,
        path: &str,
        member: &str,
        items: &[Value],
        ids: &mut Ids,
    ) {
        let listed: Vec<Value> = items
            .iter()
            .filter_map(|item| item.get(member)?.as_str())
            .filter(|value| value.len() <= MAX_NAME)
            .take(MAX_LISTED)
            .map(|value| one_path(&item(path, member, value), "exists", Value::Bool(true)))
            .collect();
        if !listed.is_empty() {
            let step = self.add(ids.of(list), "", What::List(list));
            step.expect.insert("json".to_owned(), Value::Array(listed));
        }
    }

    fn prompts(&mut self, items: &[Value], ids: &mut Ids) {
        self.list("prompts", "$.prompts", "name", items, ids);
        let mut seen = HashSet::new();
        for item in items.iter().take(MAX_LISTED) {
            let Some(name) = item.get("name").and_then(Value::as_str) else {
                continue;
            };
            if !seen.insert(name) || !can_be_named(name) {
                continue;
            }
            let required: Vec<&str> = item
                .get("arguments")
                .and_then(Value::as_array)
                .into_iter()
                .flatten()
                .filter(|argument| argument.get("required") == Some(&Value::Bool(true)))
                .filter_map(|argument| argument.get("name")?.as_str())
                .filter(|name| name.len() <= 200)
                .collect();
            let step = self.add(
                ids.of_kind(name, "prompt"),
                &about(item),
                What::Prompt(name.to_owned()),
            );
            if !required.is_empty() {
                step.left = Some("it needs arguments that only you can choose".to_owned());
                let blank = |name: &&str| ((*name).to_owned(), Value::from(BLANK));
                step.tries = vec![required.iter().map(blank).collect()];
            }
        }
    }

    /// Why a tool, though it was to be called, is left to a person.
    #[must_use]
    pub fn left_of(&self, tool: &str) -> Option<&str> {
        let mut steps = self.steps.iter();
        let step = steps.find(|step| matches!(&step.what, What::Tool(it) if it.name == tool))?;
        step.left.as_deref()
    }

    /// Takes over what came of running the plan; whether the plan is another
    /// one now.
    ///
    /// # Errors
    /// A step that can't be left out, and why it failed.
    pub fn learn(&mut self, called: Vec<Called>) -> Result<bool, (String, String)> {
        let before = self.text();
        let ids = self.steps.iter().enumerate();
        let places: HashMap<String, usize> = ids.map(|(at, step)| (step.id.clone(), at)).collect();
        for Called { id, outcome } in called {
            let Some(step) = places.get(&id).and_then(|at| self.steps.get_mut(*at)) else {
                continue;
            };
            match outcome {
                Outcome::Passed(answer) => step.hold(answer.as_ref()),
                Outcome::NotRun => {}
                Outcome::Refused(why) if step.has_more() && step.refused.as_ref() != Some(&why) => {
                    step.tried += 1;
                    step.refused = Some(why);
                }
                Outcome::Refused(why) | Outcome::Failed(why) => match step.what {
                    What::List("tools") | What::Request(_) => return Err((id, why)),
                    What::Tool(_) | What::List(_) | What::Read(_) | What::Prompt(_) => {
                        let why = step.refused.take().unwrap_or(why);
                        let why = one_line(&why, QUOTED);
                        step.tried = 0;
                        step.left = Some(format!(
                            "it was called, and failed: {}",
                            why.trim_end_matches('.')
                        ));
                    }
                },
            }
        }
        match (self.steps(), self.steps.first()) {
            (0, Some(Step { id, left, .. })) => Err((id.clone(), left.clone().unwrap_or_default())),
            (_, _) => Ok(self.text() != before),
        }
    }

    /// How many tools are called, and how many there are.
    #[must_use]
    pub fn tools_called(&self) -> (usize, usize) {
        let tools = || {
            let of = |step: &&Step| matches!(step.what, What::Tool(_));
            self.steps.iter().filter(of)
        };
        let called = tools().filter(|step| step.left.is_none()).count();
        (called, tools().count())
    }

    /// How many steps are run.
    #[must_use]
    pub fn steps(&self) -> usize {
        self.steps.iter().filter(|step| step.left.is_none()).count()
    }

    /// What is left to a person, by the reason.
    #[must_use]
    pub fn left(&self) -> Vec<(&str, &str)> {
        self.steps
            .iter()
            .filter_map(|step| Some((step.id.as_str(), step.left.as_deref()?)))
            .collect()
    }
}

impl Step {
    /// Whether there are other arguments to try. With the same answer to other
    /// ones there is no use in it.
    fn has_more(&self) -> bool {
        self.tried + 1 < self.tries.len()
    }

    /// Holds what an answer shows that stays the same.
    fn hold(&mut self, answer: Option<&Value>) {
        let Some(answer) = answer else { return };
        let (pointer, path) = match &self.what {
            What::Tool(tool) if tool.output.is_none() => ("/content/0/type", "$.content[0].type"),
            What::Read(_) => ("/contents/0/mimeType", "$.contents[0].mimeType"),
            What::Prompt(_) => ("/messages/0/content/type", "$.messages[0].content.type"),
            What::Tool(_) | What::List(_) | What::Request(_) => return,
        };
        let result = answer.get("result").unwrap_or(&Value::Null);
        let found = result.pointer(pointer).and_then(Value::as_str);
        if let Some(found) = found.filter(|found| found.len() <= 100) {
            let held = json!([one_path(path, "equals", written(found))]);
            self.expect.insert("json".to_owned(), held);
            let said = result.pointer("/content/0/text").and_then(Value::as_str);
            // Many servers answer errors as they answer anything else.
            if said.is_some_and(|said| !may_be_error(said)) {
                let refused = json!({ "not_matches": written(ERROR) });
                self.expect.insert("text".to_owned(), refused);
            }
        }
    }
}

/// Whether it begins as sentences do that state an error.
fn may_be_error(text: &str) -> bool {
    static BEGINNING: LazyPattern = LazyPattern::new(ERROR);
    BEGINNING.is_match(text)
}

/// Name and version, as the server says them.
fn title(info: &Value) -> String {
    let of = |key: &str| info.get(key).and_then(Value::as_str).unwrap_or_default();
    let name = match (of("title"), of("name")) {
        ("", name) => name,
        (title, _) => title,
    };
    match (one_line(name, 80), one_line(of("version"), 40)) {
        (name, _) if name.is_empty() => String::new(),
        (name, version) if version.is_empty() => format!("`{name}`"),
        (name, version) => format!("`{name}` {version}"),
    }
}

/// A resource that is worth reading: the first text, else the first.
fn readable(resources: &[Value]) -> Option<(String, String)> {
    let is_text = |item: &&Value| {
        let kind = item.get("mimeType").and_then(Value::as_str);
        kind.is_some_and(|kind| kind.starts_with("text/") || kind.ends_with("json"))
    };
    let good = |item: &&Value| {
        let uri = item.get("uri").and_then(Value::as_str);
        uri.is_some_and(|uri| !uri.is_empty() && uri.len() <= MAX_NAME)
    };
    let item = resources
        .iter()
        .filter(good)
        .find(is_text)
        .or_else(|| resources.iter().find(good))?;
    Some((item.get("uri")?.as_str()?.to_owned(), about(item)))
}
