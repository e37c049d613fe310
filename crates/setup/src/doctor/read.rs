//! A configuration's text → its servers. JSON with comments and trailing
//! commas, since clients take both.
//!
//! Main function: [`read`]. What can't be a configuration at all is an error;
//! what is wrong with one server is its own flaw.

use super::entry::{Config, Entry, Input, Place, Reached, Spot};
use super::places::{Client, client_of};
use jelly_base::model::{Finding, FindingLevel, Lint};
use jelly_base::text::{Lines, close_names, parse_jsonc, without_mark};
use jsonc_parser::ast::{Object, ObjectProp, Value};
use jsonc_parser::common::Ranged;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// Larger files are no configurations.
pub const MAX_BYTES: usize = 16 << 20;

/// The keys that servers stand under.
const KEYS: [&str; 3] = ["mcpServers", "servers", "context_servers"];

/// A file that is no configuration.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("read {}: {what}", .path.display())]
pub struct ConfigError {
    pub path: PathBuf,
    pub place: Option<Place>,
    pub what: String,
    pub help: Option<String>,
}

impl ConfigError {
    /// `file`, or `file:line:column`.
    #[must_use]
    pub fn at(&self) -> String {
        match self.place {
            Some(place) => format!("{}:{place}", self.path.display()),
            None => self.path.display().to_string(),
        }
    }
}

/// Reads a configuration. Of a file that keeps servers by project (Claude
/// Code's own), those of `project` are taken too.
///
/// # Errors
/// It is no JSON, or no object.
pub fn read(path: &Path, text: &str, project: &Path) -> Result<Config, ConfigError> {
    let error = |place: Option<Place>, what: String, help: Option<&str>| ConfigError {
        path: path.to_owned(),
        place,
        what,
        help: help.map(str::to_owned),
    };
    if text.len() > MAX_BYTES {
        return Err(error(
            None,
            "it is larger than 16 MiB, which no configuration is".into(),
            None,
        ));
    }
    let text = without_mark(text);
    let reader = Reader {
        path,
        lines: Lines::of(text),
    };
    let parsed = parse_jsonc(text).map_err(|problem| {
        error(
            Some(reader.place(problem.offset)),
            problem.what,
            Some(
                "look at this line and the one before it: a comma, a quote or a bracket is \
                 missing, or stands there too often",
            ),
        )
    })?;
    let root = match &parsed {
        Some(Value::Object(root)) => root,
        Some(other) => {
            let place = reader.place(other.range().start);
            let what = format!("it is {}, and a configuration is an object", kind(other));
            return Err(error(Some(place), what, Some(SHAPE)));
        }
        None => return Err(error(None, "it is empty".into(), Some(SHAPE))),
    };
    let mut config = Config {
        path: path.to_owned(),
        client: client_of(path),
        entries: Vec::new(),
        inputs: Vec::new(),
        has_servers_key: false,
    };
    reader
        .root(root, project, &mut config)
        .map_err(|(place, what)| error(Some(place), what, Some(SHAPE)))?;
    if config.client == Client::Unknown {
        config.client = client_by_shape(root);
    }
    Ok(config)
}

const SHAPE: &str = "servers stand in an object under `mcpServers` (VS Code: `servers`, Zed: \
                     `context_servers`), by their names";

fn client_by_shape(root: &Object<'_>) -> Client {
    let has = |key: &str| member(root, key).is_some();
    if has("context_servers") {
        Client::Zed
    } else if has("servers") || has("mcp") {
        Client::VsCode
    } else {
        Client::Unknown
    }
}

/// The last member of this name, as every parser of JSON takes it.
fn member<'v, 't>(object: &'v Object<'t>, key: &str) -> Option<&'v Value<'t>> {
    object
        .properties
        .iter()
        .rfind(|member| member.name.as_str() == key)
        .map(|member| &member.value)
}

fn kind(value: &Value<'_>) -> &'static str {
    match value {
        Value::StringLit(_) => "a string",
        Value::NumberLit(_) => "a number",
        Value::BooleanLit(_) => "a boolean",
        Value::Object(_) => "an object",
        Value::Array(_) => "an array",
        Value::NullKeyword(_) => "null",
    }
}

type Refused = (Place, String);

struct Reader<'t> {
    path: &'t Path,
    lines: Lines<'t>,
}

impl Reader<'_> {
    fn place(&self, offset: usize) -> Place {
        let (line, column) = self.lines.place(offset);
        Place { line, column }
    }

    fn place_of(&self, value: &impl Ranged) -> Place {
        self.place(value.range().start)
    }

    fn root(&self, root: &Object<'_>, project: &Path, config: &mut Config) -> Result<(), Refused> {
        self.holder(root, config)?;
        if let Some(Value::Object(mcp)) = member(root, "mcp") {
            self.holder(mcp, config)?;
        }
        if let Some(Value::Object(projects)) = member(root, "projects") {
            let own = projects
                .properties
                .iter()
                .rfind(|member| Path::new(member.name.as_str()) == project);
            if let Some(Value::Object(own)) = own.map(|member| &member.value) {
                self.holder(own, config)?;
            }
        }
        // The map alone, as documentation often shows it.
        let is_server = |member: &ObjectProp<'_>| match &member.value {
            Value::Object(server) => ["command", "url", "serverUrl"]
                .iter()
                .any(|key| self::member(server, key).is_some()),
            _ => false,
        };
        if !config.has_servers_key && root.properties.iter().any(is_server) {
            config.has_servers_key = true;
            self.servers(root, config);
        }
        Ok(())
    }

    /// An object with one of the keys.
    fn holder(&self, object: &Object<'_>, config: &mut Config) -> Result<(), Refused> {
        for key in KEYS {
            match member(object, key) {
                Some(Value::Object(servers)) => {
                    config.has_servers_key = true;
                    self.servers(servers, config);
                }
                Some(other) => {
                    let what = format!("`{key}` is {}, and has to be an object", kind(other));
                    return Err((self.place_of(other), what));
                }
                None => {}
            }
        }
        if let Some(Value::Array(inputs)) = member(object, "inputs") {
            config
                .inputs
                .extend(inputs.elements.iter().filter_map(input));
        }
        Ok(())
    }

    fn servers(&self, servers: &Object<'_>, config: &mut Config) {
        let mut last: HashMap<&str, usize> = HashMap::new();
        for (index, member) in servers.properties.iter().enumerate() {
            last.insert(member.name.as_str(), index);
        }
        let mut overridden: HashMap<&str, Place> = HashMap::new();
        for (index, member) in servers.properties.iter().enumerate() {
            let name = member.name.as_str();
            let place = self.place(member.range.start);
            if last.get(name) != Some(&index) {
                overridden.insert(name, place);
                continue;
            }
            let mut entry = self.entry(name, place, &member.value);
            if let Some(first) = overridden.get(name) {
                entry.flaws.push(Finding {
                    lint: Lint::DuplicateName,
                    level: FindingLevel::Warning,
                    at: self.at(place),
                    what: format!(
                        "`{name}` is defined twice here; the one on line {} is never used.",
                        first.line
                    ),
                    fix: "Give one of them another name, or delete it.".to_owned(),
                });
            }
            config.entries.push(entry);
        }
    }

    fn at(&self, place: Place) -> String {
        format!("{}:{place}", self.path.display())
    }

    fn entry(&self, name: &str, place: Place, value: &Value<'_>) -> Entry {
        let mut entry = Entry {
            name: name.to_owned(),
            place,
            disabled: false,
            reached: None,
            flaws: Vec::new(),
            notes: Vec::new(),
        };
        let Value::Object(server) = value else {
            let what = format!("The entry is {}, and has to be an object.", kind(value));
            entry.flaws.push(self.flaw(value, what));
            return entry;
        };
        let says = |key: &str, wanted: bool| matches!(member(server, key), Some(Value::BooleanLit(b)) if b.value == wanted);
        entry.disabled = says("disabled", true) || says("enabled", false);
        // Zed once had all of the command in one object.
        let inner = match member(server, "command") {
            Some(Value::Object(inner)) => Some(inner),
            _ => None,
        };
        let from = inner.unwrap_or(server);
        let command_key = if inner.is_some() { "path" } else { "command" };
        let flaws = &mut entry.flaws;
        let command = self.text(from, command_key, flaws);
        if let Some(command) = command.as_ref().filter(|c| c.text.trim().is_empty()) {
            let mut finding = self.flaw(value, "`command` is empty.".to_owned());
            finding.at = self.at(command.place);
            flaws.push(finding);
        }
        let command = command.filter(|command| !command.text.trim().is_empty());
        let url = ["url", "serverUrl", "httpUrl"]
            .iter()
            .find_map(|key| self.text(server, key, flaws));
        entry.reached = match (command, url) {
            (Some(command), None) => Some(Reached::Command {
                command,
                args: self.texts(from, "args", flaws),
                env: self.pairs(from, "env", flaws),
                cwd: self.text(from, "cwd", flaws),
                env_file: self.text(from, "envFile", flaws),
            }),
            (None, Some(url)) => Some(Reached::Url {
                url,
                headers: self.pairs(server, "headers", flaws),
            }),
            (Some(_), Some(_)) => {
                let what = "The entry has both a `command` and a `url`.".to_owned();
                flaws.push(self.flaw(value, what));
                None
            }
            (None, None) if flaws.is_empty() => {
                if member(server, "settings").is_some() {
                    entry.disabled = true;
                    entry
                        .notes
                        .push("an extension of the client starts it, so jelly can't".to_owned());
                } else {
                    let keys = server.properties.iter().map(|member| member.name.as_str());
                    let misspelt = ["command", "url"].iter().find_map(|wanted| {
                        let close = close_names(wanted, keys.clone()).into_iter().next()?;
                        Some((close, wanted))
                    });
                    let hint = misspelt.map_or_else(String::new, |(key, wanted)| {
                        format!(" (is `{key}` meant to be `{wanted}`?)")
                    });
                    let what = format!("The entry has neither a `command` nor a `url`{hint}.");
                    flaws.push(self.flaw(value, what));
                }
                None
            }
            (None, None) => None,
        };
        entry
    }

    fn flaw(&self, value: &impl Ranged, what: String) -> Finding {
        Finding {
            lint: Lint::Malformed,
            level: FindingLevel::Error,
            at: self.at(self.place_of(value)),
            what,
            fix: "A server is `{ \"command\": \"…\", \"args\": [\"…\"], \"env\": { \"NAME\": \
                  \"…\" } }`, or `{ \"url\": \"https://…\" }`."
                .to_owned(),
        }
    }

    fn wrong_type(&self, what: &str, wanted: &str, value: &Value<'_>, flaws: &mut Vec<Finding>) {
        let what = format!("{what} is {}, and has to be {wanted}.", kind(value));
        flaws.push(self.flaw(value, what));
    }

    fn text(&self, object: &Object<'_>, key: &str, flaws: &mut Vec<Finding>) -> Option<Spot> {
        match member(object, key)? {
            Value::NullKeyword(_) => None,
            Value::StringLit(text) => Some(Spot {
                text: text.value.to_string(),
                place: self.place(text.range.start),
            }),
            other => {
                self.wrong_type(&format!("`{key}`"), "a string", other, flaws);
                None
            }
        }
    }

    fn texts(&self, object: &Object<'_>, key: &str, flaws: &mut Vec<Finding>) -> Vec<Spot> {
        let items = match member(object, key) {
            Some(Value::Array(items)) => &items.elements,
            Some(Value::NullKeyword(_)) | None => return Vec::new(),
            Some(other) => {
                self.wrong_type(&format!("`{key}`"), "an array of strings", other, flaws);
                return Vec::new();
            }
        };
        let mut texts = Vec::with_capacity(items.len());
        for item in items {
            match item {
                Value::StringLit(text) => texts.push(Spot {
                    text: text.value.to_string(),
                    place: self.place(text.range.start),
                }),
                other => {
                    self.wrong_type(&format!("An element of `{key}`"), "a string", other, flaws);
                }
            }
        }
        texts
    }

    fn pairs(
        &self,
        object: &Object<'_>,
        key: &str,
        flaws: &mut Vec<Finding>,
    ) -> Vec<(String, Spot)> {
        let members = match member(object, key) {
            Some(Value::Object(members)) => &members.properties,
            Some(Value::NullKeyword(_)) | None => return Vec::new(),
            Some(other) => {
                self.wrong_type(&format!("`{key}`"), "an object of strings", other, flaws);
                return Vec::new();
            }
        };
        let mut pairs = Vec::with_capacity(members.len());
        for member in members {
            let name = member.name.as_str();
            let text = match &member.value {
                Value::StringLit(text) => text.value.to_string(),
                // Most clients take them for the text that they are.
                Value::NumberLit(number) => number.value.to_owned(),
                Value::BooleanLit(boolean) => boolean.value.to_string(),
                // VS Code takes the variable away.
                Value::NullKeyword(_) => continue,
                other @ (Value::Object(_) | Value::Array(_)) => {
                    self.wrong_type(&format!("`{key}.{name}`"), "a string", other, flaws);
                    continue;
                }
            };
            let place = self.place_of(&member.value);
            pairs.push((name.to_owned(), Spot { text, place }));
        }
        pairs
    }
}

fn input(value: &Value<'_>) -> Option<Input> {
    let Value::Object(object) = value else {
        return None;
    };
    let text = |key: &str| match member(object, key) {
        Some(Value::StringLit(text)) => Some(text.value.to_string()),
        _ => None,
    };
    let options = match member(object, "options") {
        Some(Value::Array(options)) => options
            .elements
            .iter()
            .filter_map(|option| match option {
                Value::StringLit(text) => Some(text.value.to_string()),
                Value::Object(option) => match member(option, "value") {
                    Some(Value::StringLit(text)) => Some(text.value.to_string()),
                    _ => None,
                },
                _ => None,
            })
            .collect(),
        _ => Vec::new(),
    };
    Some(Input {
        id: text("id")?,
        description: text("description"),
        default: text("default"),
        password: matches!(member(object, "password"), Some(Value::BooleanLit(b)) if b.value),
        options,
    })
}

#[cfg(test)]
#[path = "read_tests.rs"]
mod tests;
