//! What a plan names of its servers, held against what they list; nothing is
//! called.
//!
//! Main type: [`ServerLists`].

use super::clean::Cleaner;
use super::issue::describe;
use super::open_server::OpenServer;
use super::tool_schemas::ToolSchemas;
use jelly_base::mcp::ListKind;
use jelly_base::model::{Failure, Inventory, PlanIssue};
use jelly_base::text::redact::Redactor;
use jelly_base::text::{close_names, listed};
use jelly_plan::{
    CompletionOf, DocPath, Plan, PlanFinding, Request, Scope, Step, Template, has_reference,
    resolve_json,
};
use regex::Regex;
use serde_json::{Map, Value};
use std::time::Duration;

/// What one server lists.
#[derive(Debug)]
pub struct ServerLists {
    /// Absent where it does not say that it has tools.
    tools: Option<ToolSchemas>,
    inventory: Inventory,
    cleaner: Cleaner,
}

/// Something that can be named, as the server lists it.
struct Listed<'a> {
    kind: ListKind,
    items: &'a [Value],
    server: &'a str,
    cleaner: &'a Cleaner,
}

impl ServerLists {
    /// Asks a server for all of its lists.
    ///
    /// # Errors
    /// A list that it says it has did not come.
    pub async fn read(
        server: &OpenServer,
        limit: Duration,
        redactor: &Redactor,
    ) -> Result<Self, Box<Failure>> {
        let inventory = server.inventory(limit).await?;
        let session = server.session();
        let tools = session
            .declares_tools()
            .then(|| ToolSchemas::new(session.tools()));
        Ok(Self {
            tools,
            inventory,
            cleaner: Cleaner::of_secrets(redactor.clone()),
        })
    }

    /// What a plan's steps on `server` name that the server does not list. Left
    /// out are steps that expect an error, which are sent as they are, and those
    /// that their `if` leaves out.
    #[must_use]
    pub fn findings(&self, plan: &Plan, server: &str, scope: &Scope) -> Vec<PlanFinding> {
        let steps = plan.all_steps().filter(|step| step.server == server);
        let due = steps.filter(|step| {
            let holds = step.condition.as_ref().is_none_or(|condition| {
                let holds = condition.holds(plan.servers.get(server), std::env::consts::OS, scope);
                holds.unwrap_or(true)
            });
            holds && !step.expects_error()
        });
        due.flat_map(|step| self.of_step(step, scope)).collect()
    }

    fn of_step(&self, step: &Step, scope: &Scope) -> Vec<PlanFinding> {
        match &step.request {
            Request::Tool(name) => self.of_tool(step, name, scope),
            Request::Prompt(name) => self.of_prompt(step, name, scope),
            Request::Read(uri) => {
                let place = step.path.key("read");
                self.of_uri(step, uri, place, scope).into_iter().collect()
            }
            Request::Subscribe(to) => {
                let place = step.path.key("subscribe").key("resources");
                let uris = to.resources.iter().enumerate();
                let findings =
                    uris.filter_map(|(at, uri)| self.of_uri(step, uri, place.index(at), scope));
                findings.collect()
            }
            Request::Complete(completion) => {
                let place = step.path.key("complete");
                match &completion.of {
                    CompletionOf::Prompt(name) => {
                        let place = (place.key("prompt"), place.key("argument"));
                        self.of_prompt_argument(step, name, &completion.argument, place)
                    }
                    CompletionOf::Resource(template) => self
                        .of_template(step, template, place.key("resource"))
                        .into_iter()
                        .collect(),
                }
            }
            // What these are about is in nobody's list.
            Request::List(_)
            | Request::Method(_)
            | Request::Unsubscribe(_)
            | Request::Raw(_)
            | Request::Startup
            | Request::Http(_) => Vec::new(),
        }
    }

    fn of_tool(&self, step: &Step, name: &str, scope: &Scope) -> Vec<PlanFinding> {
        let Some(tools) = &self.tools else {
            let absent = self.listed(ListKind::Tools, &None, step);
            return vec![absent.undeclared(name, step.path.key("tool"))];
        };
        let args = KnownArguments::of(step, scope);
        let issues = tools.issues(name, &args.value, (&args.unknown, args.hides));
        let all = self.listed(ListKind::Tools, &self.inventory.tools, step);
        issues
            .into_iter()
            .filter_map(|issue| self.of_issue(step, issue, &args, &all))
            .collect()
    }

    fn of_issue(
        &self,
        step: &Step,
        issue: PlanIssue,
        args: &KnownArguments,
        tools: &Listed<'_>,
    ) -> Option<PlanFinding> {
        let given = step.path.key("args");
        // Where there are none, the call itself is what lacks one.
        let of_args = match step.args.is_null() {
            true => (step.path.key("tool"), true),
            false => (given.clone(), true),
        };
        let ((path, on_key), hints) = match &issue {
            PlanIssue::UnknownTool { name, .. } => {
                return Some(tools.unknown(name, step.path.key("tool")));
            }
            PlanIssue::UnknownArgument {
                tool,
                name,
                candidates,
            } => {
                let known = self.tools.as_ref()?.arguments(tool);
                (
                    (given.key(name), true),
                    self.meant(candidates, &known, "argument"),
                )
            }
            PlanIssue::MissingArgument { .. } => (of_args, Vec::new()),
            PlanIssue::ArgumentType { pointer, .. }
            | PlanIssue::InvalidArgument { pointer, .. } => match pointer.as_str() {
                "" => (of_args, Vec::new()),
                pointer => ((below(given, &args.value, pointer), false), Vec::new()),
            },
            // All others are known without a list.
            _ => return None,
        };
        let told = match issue {
            PlanIssue::UnknownArgument { tool, name, .. } => PlanIssue::UnknownArgument {
                tool,
                name,
                candidates: Vec::new(),
            },
            PlanIssue::InvalidArgument {
                tool,
                pointer,
                reason,
            } => PlanIssue::InvalidArgument {
                tool,
                pointer,
                reason: self.cleaner.quote(&reason),
            },
            other => other,
        };
        Some(PlanFinding {
            path,
            on_key,
            message: describe(&told),
            hints,
        })
    }

    fn of_prompt(&self, step: &Step, name: &str, scope: &Scope) -> Vec<PlanFinding> {
        let all = self.listed(ListKind::Prompts, &self.inventory.prompts, step);
        let Some(prompt) = all.named(name) else {
            return vec![all.absent(name, step.path.key("prompt"))];
        };
        let known = arguments(prompt);
        let args = KnownArguments::of(step, scope);
        let Value::Object(given) = &args.value else {
            return Vec::new();
        };
        let mut findings = Vec::new();
        let mut meant: Vec<String> = Vec::new();
        for argument in given.keys() {
            if known.iter().any(|(name, _)| name == argument) {
                continue;
            }
            let free = known.iter().map(|(name, _)| *name);
            let free = free.filter(|name| !given.contains_key(*name));
            let candidates = close_names(argument, free);
            let names: Vec<String> = known.iter().map(|(name, _)| (*name).to_owned()).collect();
            findings.push(PlanFinding {
                path: step.path.key("args").key(argument),
                on_key: true,
                message: format!("the prompt `{name}` knows no argument `{argument}`"),
                hints: self.meant(&candidates, &names, "argument"),
            });
            meant.extend(candidates);
        }
        for (argument, is_required) in &known {
            let is_given = given.contains_key(*argument) || meant.iter().any(|m| m == argument);
            if *is_required && !is_given {
                let path = match step.args.is_null() {
                    true => step.path.key("prompt"),
                    false => step.path.key("args"),
                };
                findings.push(PlanFinding {
                    path,
                    on_key: true,
                    message: format!("the prompt `{name}` requires the argument `{argument}`"),
                    hints: Vec::new(),
                });
            }
        }
        findings
    }

    fn of_prompt_argument(
        &self,
        step: &Step,
        name: &str,
        argument: &str,
        (of_prompt, of_argument): (DocPath, DocPath),
    ) -> Vec<PlanFinding> {
        let all = self.listed(ListKind::Prompts, &self.inventory.prompts, step);
        let Some(prompt) = all.named(name) else {
            return vec![all.absent(name, of_prompt)];
        };
        let known: Vec<String> = arguments(prompt)
            .into_iter()
            .map(|(name, _)| name.to_owned())
            .collect();
        if known.iter().any(|name| name == argument) {
            return Vec::new();
        }
        let candidates = close_names(argument, known.iter().map(String::as_str));
        vec![PlanFinding {
            path: of_argument,
            on_key: false,
            message: format!("the prompt `{name}` knows no argument `{argument}`"),
            hints: self.meant(&candidates, &known, "argument"),
        }]
    }

    /// A URI is listed, or fits a template.
    fn of_uri(&self, step: &Step, uri: &str, place: DocPath, scope: &Scope) -> Option<PlanFinding> {
        let template = Template::parse(uri).ok()?;
        let uri = template.resolve_str(scope, &step.server).ok()?;
        let all = self.listed(ListKind::Resources, &self.inventory.resources, step);
        let templates = self.inventory.resource_templates.iter().flatten();
        let mut templates = templates.filter_map(|item| item.get("uriTemplate")?.as_str());
        let is_known = all.named(&uri).is_some() || templates.any(|it| fits_template(&uri, it));
        (!is_known).then(|| all.absent(&uri, place))
    }

    fn of_template(&self, step: &Step, template: &str, place: DocPath) -> Option<PlanFinding> {
        let templates = &self.inventory.resource_templates;
        let all = self.listed(ListKind::ResourceTemplates, templates, step);
        let resources = self.listed(ListKind::Resources, &self.inventory.resources, step);
        let is_known = all.named(template).is_some() || resources.named(template).is_some();
        (!is_known).then(|| all.absent(template, place))
    }

    fn listed<'a>(
        &'a self,
        kind: ListKind,
        items: &'a Option<Vec<Value>>,
        step: &'a Step,
    ) -> Listed<'a> {
        Listed {
            kind,
            items: items.as_deref().unwrap_or_default(),
            server: &step.server,
            cleaner: &self.cleaner,
        }
    }

    fn meant(&self, candidates: &[String], all: &[String], noun: &str) -> Vec<String> {
        vec![meant(&self.cleaner, candidates, all, noun)]
    }
}

impl<'a> Listed<'a> {
    fn names(&self) -> Vec<String> {
        let key = self.kind.name_key();
        let names = self.items.iter().filter_map(|item| item.get(key)?.as_str());
        names.map(str::to_owned).collect()
    }

    fn named(&self, name: &str) -> Option<&'a Value> {
        let key = self.kind.name_key();
        let mut items = self.items.iter();
        items.find(|item| item.get(key).and_then(Value::as_str) == Some(name))
    }

    /// It is not listed, or there is no list.
    fn absent(&self, name: &str, path: DocPath) -> PlanFinding {
        match self.items.is_empty() {
            true => self.undeclared(name, path),
            false => self.unknown(name, path),
        }
    }

    fn undeclared(&self, name: &str, path: DocPath) -> PlanFinding {
        PlanFinding {
            path,
            on_key: false,
            message: format!(
                "the server `{}` has no {}s, and so no `{}`",
                self.server,
                self.kind.item(),
                self.cleaner.quote(name)
            ),
            hints: vec!["`jelly list` shows what a server has".to_owned()],
        }
    }

    fn unknown(&self, name: &str, path: DocPath) -> PlanFinding {
        let names = self.names();
        let candidates = close_names(name, names.iter().map(String::as_str));
        PlanFinding {
            path,
            on_key: false,
            message: format!(
                "the server `{}` lists no {} `{}`",
                self.server,
                self.kind.item(),
                self.cleaner.quote(name)
            ),
            hints: vec![meant(self.cleaner, &candidates, &names, self.kind.item())],
        }
    }
}

/// The name that was meant, or all that there are.
fn meant(cleaner: &Cleaner, candidates: &[String], all: &[String], noun: &str) -> String {
    match candidates {
        [] => {
            let names: Vec<String> = all.iter().map(|name| cleaner.quote(name)).collect();
            let total = names.len() as u64;
            format!("it has {}", listed(&names, total, noun))
        }
        [one] => format!("did you mean `{}`?", cleaner.quote(one)),
        many => {
            let names: Vec<String> = many.iter().map(|name| cleaner.quote(name)).collect();
            format!("did you mean one of `{}`?", names.join("`, `"))
        }
    }
}

/// The arguments of a prompt, and whether each is required.
fn arguments(prompt: &Value) -> Vec<(&str, bool)> {
    let all = prompt.get("arguments").and_then(Value::as_array);
    let argument = |item: &'_ Value| {
        let required = item.get("required").and_then(Value::as_bool);
        required == Some(true)
    };
    all.into_iter()
        .flatten()
        .filter_map(|item| Some((item.get("name")?.as_str()?, argument(item))))
        .collect()
}

/// A step's arguments as far as they are known before anything is answered.
struct KnownArguments {
    value: Value,
    /// JSON pointers to what is not: captures, and variables without a value.
    unknown: Vec<String>,
    /// Something in it is not to be shown.
    hides: bool,
}

impl KnownArguments {
    fn of(step: &Step, scope: &Scope) -> Self {
        let mut unknown = Vec::new();
        let value = match &step.args {
            Value::Null => Value::Object(Map::new()),
            args => known(args, (scope, &step.server), String::new(), &mut unknown),
        };
        Self {
            value,
            unknown,
            hides: scope.files.shown(&step.args).is_some(),
        }
    }
}

fn known(
    value: &Value,
    around: (&Scope, &str),
    pointer: String,
    unknown: &mut Vec<String>,
) -> Value {
    match value {
        Value::String(text) if has_reference(text) => {
            let (scope, server) = around;
            resolve_json(value, scope, server).unwrap_or_else(|_| {
                unknown.push(pointer);
                value.clone()
            })
        }
        Value::Array(items) => {
            let items = items.iter().enumerate();
            items
                .map(|(at, item)| known(item, around, format!("{pointer}/{at}"), unknown))
                .collect()
        }
        Value::Object(members) => {
            let member = |(key, item): (&String, &Value)| {
                let escaped = key.replace('~', "~0").replace('/', "~1");
                let item = known(item, around, format!("{pointer}/{escaped}"), unknown);
                (key.clone(), item)
            };
            Value::Object(members.iter().map(member).collect())
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.clone(),
    }
}

/// The place in the plan of what a JSON pointer leads to.
fn below(mut path: DocPath, value: &Value, pointer: &str) -> DocPath {
    let mut value = Some(value);
    for word in pointer.split('/').skip(1) {
        let key = word.replace("~1", "/").replace("~0", "~");
        match (value, key.parse::<usize>()) {
            (Some(Value::Array(items)), Ok(index)) => {
                path = path.index(index);
                value = items.get(index);
            }
            (Some(Value::Object(members)), _) => {
                value = members.get(&key);
                path = path.key(key);
            }
            _ => break,
        }
    }
    path
}

/// Whether a URI can be made of a template (RFC 6570); in doubt it can.
fn fits_template(uri: &str, template: &str) -> bool {
    let mut pattern = String::from("^");
    let mut rest = template;
    while let Some((before, behind)) = rest.split_once('{') {
        pattern.push_str(&regex::escape(before));
        let Some((expression, after)) = behind.split_once('}') else {
            return true;
        };
        // Only a plain name keeps to one segment of a path.
        let is_plain = expression
            .chars()
            .all(|c| c.is_alphanumeric() || matches!(c, '_' | '.' | '%' | ','));
        pattern.push_str(if is_plain { "[^/?#]*" } else { ".*" });
        rest = after;
    }
    pattern.push_str(&regex::escape(rest));
    pattern.push('$');
    Regex::new(&pattern).is_ok_and(|pattern| pattern.is_match(uri))
}

#[cfg(test)]
mod tests {
    use super::{below, fits_template};
    use jelly_plan::DocPath;
    use serde_json::json;

    #[test]
    fn a_uri_fits_the_templates_that_it_can_be_made_of() {
        for (uri, template, fits) in [
            ("note://7", "note://{id}", true),
            ("note://7/x", "note://{id}", false),
            ("note://a/b", "note://{+path}", true),
            ("note://a.b", "note://{a}.{b}", true),
            ("note://x?q=1", "note://x{?q}", true),
            ("note://x", "note://x{?q}", true),
            ("nota://7", "note://{id}", false),
            ("note://7", "note://{id", true),
        ] {
            assert_eq!(fits_template(uri, template), fits, "{uri} {template}");
        }
    }

    #[test]
    fn a_pointer_leads_to_keys_and_items_as_they_are() {
        let value = json!({"a/b": [{"0": 1}]});
        let path = below(DocPath::default().key("args"), &value, "/a~1b/0/0");
        assert_eq!(path.to_string(), "args.a/b[0].0");
    }
}
