//! A configuration's text → its servers.
//!
//! Main function: [`read`]. What can't be a configuration at all is an error;
//! what is wrong with one server is its own flaw.

use super::client_of::{client_by_extension, client_by_shape, client_of};
use super::clients::{Client, ClientFormat, VariableSyntax};
use super::document::{Data, Member, Node, SyntaxProblem, parse, refused, refused_mark};
use super::entry::{Config, Entry, Place, Reached, Spot};
use super::kinds::{kind_problem, skipped_url};
use super::members::{command_holder, input, own_members, present};
use super::misplaced::{Near, misplaced, no_object, of_other_clients, shape, strangers};
use super::opencode::misshapen;
use super::other_files::of_another_kind;
use super::slow_start::own_limit;
use jelly_base::model::{Finding, FindingLevel, Lint};
use jelly_base::text::redact::argv_with_blanks;
use jelly_base::text::{close_names, without_mark};
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// Larger files are no configurations.
pub const MAX_BYTES: usize = 16 << 20;

/// Types of servers that are part of their client.
const BUILT_IN: [&str; 4] = ["builtin", "platform", "frontend", "inline_python"];

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
/// It can't be parsed, or is no object.
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
    let (whole, text) = (text, without_mark(text));
    let named = client_of(path);
    let by_place = named != Client::Unknown;
    let by_path = match named {
        Client::Unknown => client_by_extension(path),
        known => known,
    };
    let root = parse(text, by_path.format().syntax).map_err(|problem| {
        let help = problem.help();
        error(problem.place, problem.what, Some(help))
    })?;
    let Some(root) = root else {
        return Err(error(None, "it is empty".into(), Some(shape(by_path))));
    };
    if !matches!(root.data, Data::Map(_)) {
        let what = format!("it is {}, and a configuration is an object", root.kind());
        return Err(error(Some(root.place), what, Some(shape(by_path))));
    }
    if !by_place && let Some((what, help)) = of_another_kind(&root, path) {
        return Err(error(None, what.to_owned(), Some(&help)));
    }
    // What only its extension tells is told better by what it holds.
    let by_shape = || match by_path {
        Client::Goose => root.member("extensions").is_none(),
        Client::Unknown => true,
        _ => false,
    };
    let client = match by_path {
        known if by_place || !by_shape() => known,
        _ => client_by_shape(&root),
    };
    let reader = Reader {
        path,
        format: client.format(),
        is_certain: by_place,
    };
    let mut config = Config {
        path: path.to_owned(),
        client,
        entries: Vec::new(),
        inputs: Vec::new(),
        has_servers_key: false,
    };
    reader
        .root(&root, project, &mut config)
        .map_err(|(place, what, help)| error(Some(place), what, help.or(Some(shape(client)))))?;
    let mark = refused_mark(whole).filter(|_| reader.format.refuses_mark);
    if let Some((problem, fix)) = mark.or_else(|| refused(text, reader.format.syntax)) {
        let finding = reader.refusal(&problem, fix);
        // It is told whole where it stands; none of the others is read either.
        let place = problem.place.unwrap_or_default();
        let here = config.entries.iter().rposition(|own| own.place <= place);
        if config.entries.is_empty() {
            return Err(error(problem.place, finding.what, Some(&finding.fix)));
        }
        for (index, entry) in config.entries.iter_mut().enumerate() {
            entry.flaws.push(match index == here.unwrap_or(0) {
                true => finding.clone(),
                false => reader.unread(&finding),
            });
        }
    }
    Ok(config)
}

type Refused = (Place, String, Option<&'static str>);

struct Reader<'t> {
    path: &'t Path,
    format: &'static ClientFormat,
    /// Whether the file is this client's by its name; all else is a guess.
    is_certain: bool,
}

impl Reader<'_> {
    fn root(&self, root: &Node, project: &Path, config: &mut Config) -> Result<(), Refused> {
        self.holder(root, config)?;
        // VS Code's settings have more than servers.
        let is_vs_codes = matches!(self.format.client, Client::VsCode | Client::Unknown);
        let mcp = root.member("mcp");
        if let Some(mcp) = mcp.filter(|_| is_vs_codes) {
            self.holder(mcp, config)?;
        }
        if self.format.client == Client::Unknown && !config.has_servers_key {
            for servers in of_other_clients(root) {
                config.has_servers_key = true;
                self.servers(servers, config);
            }
        }
        if matches!(self.format.client, Client::ClaudeCode | Client::Unknown) {
            let projects = root.member("projects").map_or(&[][..], Node::members);
            let own = projects.iter().rfind(|own| Path::new(&own.name) == project);
            if let Some(own) = own {
                self.holder(&own.value, config)?;
            }
        }
        // No other client is known to write TOML.
        let is_only = self.format.client == Client::Codex
            && !config.has_servers_key
            && root.member("mcpServers").is_some();
        if self.is_certain || is_only {
            let own = self.format.servers.first();
            let near = Near {
                has_key: own.is_some_and(|own| root.member(own).is_some()),
                has_servers: !config.entries.is_empty(),
            };
            self.strangers(root, true, near, config);
            if let Some(mcp) = mcp {
                self.strangers(mcp, is_vs_codes, near, config);
            }
        }
        // The map alone, as documentation often shows it.
        let names = &self.format.members;
        let is_server = |member: &Member| {
            let mut telling = names.command.iter().chain(names.url);
            let is_client_object = self.format.servers.contains(&member.name.as_str());
            !is_client_object && telling.any(|name| member.value.member(name).is_some())
        };
        if !config.has_servers_key && root.members().iter().any(is_server) {
            config.has_servers_key = true;
            self.servers(root, config);
            if self.is_certain && !self.format.takes_bare_map {
                let near = Near::default();
                self.say_misplaced(&mut config.entries, None, root.place, near);
            }
        }
        Ok(())
    }

    /// Servers that the client doesn't find in an object.
    fn strangers(&self, object: &Node, is_own: bool, near: Near, config: &mut Config) {
        for member in strangers(self.format, object, is_own) {
            config.has_servers_key = true;
            let first = config.entries.len();
            self.servers(&member.value, config);
            let entries = &mut config.entries[first..];
            self.say_misplaced(entries, Some(&member.name), member.place, near);
        }
    }

    fn say_misplaced(&self, entries: &mut [Entry], key: Option<&str>, at: Place, near: Near) {
        for entry in entries {
            let finding = misplaced(self.format, key, self.at(at), near);
            entry.flaws.push(finding);
        }
    }

    /// An object with one of the members that servers stand under.
    fn holder(&self, object: &Node, config: &mut Config) -> Result<(), Refused> {
        for key in self.format.servers {
            match object.member(key) {
                Some(servers) if matches!(servers.data, Data::Map(_)) => {
                    config.has_servers_key = true;
                    let first = config.entries.len();
                    self.servers(servers, config);
                    if let Some(entry) = config.entries.get_mut(first) {
                        entry.flaws.extend(self.hidden(object, key));
                    }
                }
                Some(other) => return Err(no_object(key, other)),
                None => {}
            }
        }
        let inputs = object.member("inputs").map_or(&[][..], Node::elements);
        config.inputs.extend(inputs.iter().filter_map(input));
        Ok(())
    }

    /// That a key of servers stands there twice, so that the first counts no more.
    fn hidden(&self, object: &Node, key: &str) -> Option<Finding> {
        let mut named = object.members().iter().filter(|it| it.name == key);
        let (first, last) = (named.next()?, named.next_back()?);
        Some(Finding {
            lint: Lint::DuplicateName,
            level: FindingLevel::Warning,
            at: self.at(last.place),
            what: format!(
                "`{key}` stands twice here; no server of the one on line {} is used.",
                first.place.line
            ),
            fix: format!("Move them into this `{key}`, and delete the other."),
        })
    }

    fn servers(&self, servers: &Node, config: &mut Config) {
        let members = servers.members();
        let mut last: HashMap<&str, usize> = HashMap::new();
        for (index, member) in members.iter().enumerate() {
            last.insert(&member.name, index);
        }
        let mut overridden: HashMap<&str, Place> = HashMap::new();
        for (index, member) in members.iter().enumerate() {
            let name = member.name.as_str();
            if last.get(name) != Some(&index) {
                overridden.insert(name, member.place);
                continue;
            }
            let mut entry = self.entry(name, member.place, &member.value);
            if let Some(first) = overridden.get(name) {
                entry.flaws.push(Finding {
                    lint: Lint::DuplicateName,
                    level: FindingLevel::Warning,
                    at: self.at(member.place),
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

    fn entry(&self, name: &str, place: Place, server: &Node) -> Entry {
        let mut entry = Entry {
            name: name.to_owned(),
            place,
            disabled: false,
            is_built_in: false,
            reached: None,
            says_sse: server
                .member("type")
                .filter(|kind| kind.text() == Some("sse"))
                .map(|kind| kind.place),
            own_limit: own_limit(&self.format.startup_limit, server),
            flaws: Vec::new(),
            kept: Vec::new(),
            notes: Vec::new(),
        };
        if !matches!(server.data, Data::Map(_)) {
            let what = format!("The entry is {}, and has to be an object.", server.kind());
            entry.flaws.push(self.flaw(server.place, what));
            return entry;
        }
        let says =
            |key: &str, wanted: bool| server.member(key).is_some_and(|value| value.is(wanted));
        entry.disabled = says("disabled", true) || says("enabled", false);
        let names = self.format.members;
        let (from, command_key) = command_holder(self.format, server);
        let server = own_members(self.format, server);
        let flaws = &mut entry.flaws;
        let mut args = Vec::new();
        let command = match from.member(command_key) {
            // The program and its arguments are one list.
            Some(Node {
                data: Data::List(_),
                ..
            }) if self.format.client == Client::OpenCode => {
                args = self.texts(from, command_key, flaws);
                (!args.is_empty()).then(|| args.remove(0))
            }
            _ => self.text(from, command_key, flaws),
        };
        if let Some(command) = command.as_ref().filter(|c| c.text.trim().is_empty()) {
            flaws.push(self.flaw(command.place, format!("`{command_key}` is empty.")));
        }
        let command = command.filter(|command| !command.text.trim().is_empty());
        let url = names
            .url
            .iter()
            .find_map(|key| self.text(server, key, flaws));
        entry.reached = match (command, url) {
            // What it would be started with is not known.
            (Some(_), None) if self.is_no_list(from, names.args, flaws) => None,
            (Some(command), None) => {
                args.extend(self.texts(from, names.args, flaws));
                Some(Reached::Command {
                    command,
                    args,
                    env: self.pairs(from, names.env, flaws),
                    cwd: self.text(from, names.cwd, flaws),
                    env_file: self.text(from, names.env_file, flaws),
                })
            }
            (None, Some(url)) => Some(Reached::Url {
                url,
                headers: self.headers(server, flaws),
            }),
            (Some(_), Some(_)) => {
                let (command, url) = (command_key, present(server, names.url));
                let what = format!("The entry has both a `{command}` and a `{url}`.");
                flaws.push(self.flaw(server.place, what));
                None
            }
            (None, None) if flaws.is_empty() => {
                let kind = server.member("type").and_then(Node::text);
                if server.member("settings").is_some()
                    || kind.is_some_and(|kind| BUILT_IN.contains(&kind))
                {
                    entry.is_built_in = true;
                    entry
                        .notes
                        .push("an extension of the client starts it, so jelly can't".to_owned());
                } else {
                    flaws.push(self.flaw(server.place, self.neither(server)));
                }
                None
            }
            (None, None) => None,
        };
        let reached = entry.reached.as_ref();
        if self.format.client == Client::OpenCode
            && let Some(reached) = reached
        {
            let flaws = misshapen(self.format, server, reached).into_iter();
            entry.flaws.extend(flaws.map(|(place, what, fix)| Finding {
                fix,
                ..self.flaw(place, what)
            }));
        }
        let problem = match reached {
            Some(Reached::Url { url, .. }) if !self.format.takes_urls => {
                Some(skipped_url(self.format, self.path, name, url.place))
            }
            Some(reached) => kind_problem(self.format, server, reached),
            None => None,
        };
        entry.flaws.extend(problem.map(|it| it.finding(self.path)));
        if let Some(kept) = names.kept_elsewhere.and_then(|key| server.member(key)) {
            let kept: Vec<&str> = kept.elements().iter().filter_map(Node::text).collect();
            if !kept.is_empty() {
                entry.notes.push(format!(
                    "{} keeps the value of `{}`; jelly takes it from the environment",
                    self.format.name,
                    kept.join("`, `")
                ));
                entry.kept = kept.into_iter().map(str::to_owned).collect();
            }
        }
        entry
    }

    /// What is said of an entry without a command and a URL.
    fn neither(&self, server: &Node) -> String {
        let names = self.format.members;
        let wanted = [names.command, names.url].map(|names| names.first().copied().unwrap_or(""));
        let keys = server.members().iter().map(|member| member.name.as_str());
        let misspelt = wanted.iter().find_map(|wanted| {
            let close = close_names(wanted, keys.clone()).into_iter().next()?;
            Some((close, wanted))
        });
        let hint = misspelt.map_or_else(String::new, |(key, wanted)| {
            format!(" (is `{key}` meant to be `{wanted}`?)")
        });
        let [command, url] = wanted;
        format!("The entry has neither a `{command}` nor a `{url}`{hint}.")
    }

    fn flaw(&self, place: Place, what: String) -> Finding {
        Finding {
            lint: Lint::Malformed,
            level: FindingLevel::Error,
            at: self.at(place),
            what,
            fix: self.format.example().to_owned(),
        }
    }

    /// What the client's own parser stops at.
    fn refusal(&self, problem: &SyntaxProblem, fix: &str) -> Finding {
        Finding {
            fix: fix.to_owned(),
            ..self.flaw(
                problem.place.unwrap_or_default(),
                format!(
                    "{} can't read this file: {}.",
                    self.format.name, problem.what
                ),
            )
        }
    }

    /// The same of a server at which it does not stand.
    fn unread(&self, refusal: &Finding) -> Finding {
        let client = self.format.name;
        Finding {
            what: format!("{client} reads no server of this file, for what stands there."),
            ..refusal.clone()
        }
    }

    fn wrong_type(&self, what: &str, wanted: &str, value: &Node, flaws: &mut Vec<Finding>) {
        let what = format!("{what} is {}, and has to be {wanted}.", value.kind());
        flaws.push(self.flaw(value.place, what));
    }

    fn spot(&self, text: &str, place: Place) -> Spot {
        Spot {
            text: self.format.with_common_variables(text),
            place,
            is_literal: self.format.variables == VariableSyntax::None,
        }
    }

    fn text(&self, object: &Node, key: &str, flaws: &mut Vec<Finding>) -> Option<Spot> {
        let value = object.member(key)?;
        match &value.data {
            Data::Null => None,
            Data::Text(text) => Some(self.spot(text, value.place)),
            _ => {
                self.wrong_type(&format!("`{key}`"), "a string", value, flaws);
                None
            }
        }
    }

    /// Whether a list of words is written as something else, with what is meant by one text.
    fn is_no_list(&self, object: &Node, key: &str, flaws: &mut Vec<Finding>) -> bool {
        let Some(value) = object.member(key) else {
            return false;
        };
        if matches!(value.data, Data::List(_) | Data::Null) {
            return false;
        }
        self.wrong_type(&format!("`{key}`"), "an array of strings", value, flaws);
        if let (Some(text), Some(flaw)) = (value.text(), flaws.last_mut()) {
            // A path of Windows has backslashes that quote nothing.
            let words = Some(text).filter(|text| !text.contains('\\'));
            let words = words.and_then(shlex::split);
            let words = words.unwrap_or_else(|| vec![text.to_owned()]);
            let list = serde_json::json!(argv_with_blanks(&words)).to_string();
            flaw.fix = format!("Write `{}`.", self.format.member(key, &list));
        }
        true
    }

    fn texts(&self, object: &Node, key: &str, flaws: &mut Vec<Finding>) -> Vec<Spot> {
        let items = match object.member(key) {
            Some(Node {
                data: Data::List(items),
                ..
            }) => items,
            Some(Node {
                data: Data::Null, ..
            })
            | None => return Vec::new(),
            Some(other) => {
                self.wrong_type(&format!("`{key}`"), "an array of strings", other, flaws);
                return Vec::new();
            }
        };
        let mut texts = Vec::with_capacity(items.len());
        for item in items {
            match item.text() {
                Some(text) => texts.push(self.spot(text, item.place)),
                None => self.wrong_type(&format!("An element of `{key}`"), "a string", item, flaws),
            }
        }
        texts
    }

    fn pairs(&self, object: &Node, key: &str, flaws: &mut Vec<Finding>) -> Vec<(String, Spot)> {
        let members = match object.member(key) {
            Some(Node {
                data: Data::Map(members),
                ..
            }) => members,
            Some(Node {
                data: Data::Null, ..
            })
            | None => return Vec::new(),
            Some(other) => {
                self.wrong_type(&format!("`{key}`"), "an object of strings", other, flaws);
                return Vec::new();
            }
        };
        let mut pairs = Vec::with_capacity(members.len());
        for Member { name, value, .. } in members {
            if self.format.wants_texts && matches!(value.data, Data::Number(_) | Data::Bool(_)) {
                flaws.push(Finding {
                    fix: format!("Put the value of `{name}` into quotes."),
                    ..self.flaw(
                        value.place,
                        format!(
                            "`{key}.{name}` is {}, and {} takes strings only.",
                            value.kind(),
                            self.format.name
                        ),
                    )
                });
            }
            let spot = match &value.data {
                // Other clients take numbers for the text that they are.
                Data::Text(text) | Data::Number(text) => self.spot(text, value.place),
                Data::Bool(boolean) => self.spot(&boolean.to_string(), value.place),
                // VS Code takes the variable away.
                Data::Null => continue,
                Data::Map(_) | Data::List(_) => {
                    self.wrong_type(&format!("`{key}.{name}`"), "a string", value, flaws);
                    continue;
                }
            };
            pairs.push((name.clone(), spot));
        }
        pairs
    }

    /// Headers as they are written, and those whose values are in variables.
    fn headers(&self, server: &Node, flaws: &mut Vec<Finding>) -> Vec<(String, Spot)> {
        let names = self.format.members;
        let variable = |before: &str, spot: Spot| Spot {
            text: format!("{before}${{env:{}}}", spot.text),
            place: spot.place,
            is_literal: false,
        };
        let mut headers = self.pairs(server, names.headers, flaws);
        if let Some(key) = names.header_variables {
            let named = self.pairs(server, key, flaws).into_iter();
            headers.extend(named.map(|(name, spot)| (name, variable("", spot))));
        }
        if let Some(spot) = names
            .bearer_variable
            .and_then(|key| self.text(server, key, flaws))
        {
            headers.push(("Authorization".to_owned(), variable("Bearer ", spot)));
        }
        headers
    }
}

#[cfg(test)]
#[path = "read_tests.rs"]
mod tests;
