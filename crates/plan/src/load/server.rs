//! `servers`.

use super::features::Of;
use super::hints::in_flow;
use super::path::Path;
use super::reader::{Fields, Reader, entry, get, meaning};
use super::references::{Needs, TemplatePlace};
use crate::grammar::SERVER;
use crate::syntax::{Entry, Node};
use crate::template::{Part, Template};
use crate::{Command, Server, Transport};
use indexmap::IndexMap;
use jelly_base::mcp::{Era, Revision};
use jelly_base::text::close_names;
use jelly_base::text::launchers::{
    INTERPRETERS, NODES, OTHER_LAUNCHERS, PROJECT_RUNNERS, PYTHON_LAUNCHERS, SCRIPT_RUNNERS,
};
use serde_json::Value;
use std::time::Duration;

const DEFAULT_TIMEOUT: Duration = Duration::from_secs(30);
const DEFAULT_SHUTDOWN: Duration = Duration::from_secs(2);

/// Commands that fetch a package from a registry and run it.
const LAUNCHERS: [&str; 8] = ["npx", "npm", "pnpm", "yarn", "bunx", "uvx", "uv", "pipx"];

/// What clients declare, up to 2026-07-28.
const CAPABILITIES: [&str; 6] = [
    "roots",
    "sampling",
    "elicitation",
    "experimental",
    "tasks",
    "extensions",
];

impl<'t> Reader<'t> {
    pub(super) fn servers(&mut self, node: &Node<'t>, path: Path<'_>) -> IndexMap<String, Server> {
        let mut servers = IndexMap::new();
        for Entry {
            key,
            key_span,
            value,
            ..
        } in self.entries(node, path, "servers by name").unwrap_or(&[])
        {
            let path = path.key(key);
            if !is_server_name(key) {
                self.problem(*key_span, path, format!("a server can't be called `{key}`"))
                    .hint("its name becomes part of a file's: no slashes, braces or dots in front");
            }
            if let Some(fields) = self.fields(value, path, &SERVER)
                && let Some(transport) = self.transport(fields, *key_span)
            {
                let at = self.at(*key_span);
                let server = self.server(fields, key, transport, at);
                servers.insert(key.clone().into_owned(), server);
            }
        }
        servers
    }

    /// A server that jelly starts must be told the port that jelly chose for it. Of
    /// several files each may name it; `is_all` says that there is but one.
    pub(super) fn ports_that_reach_nobody(
        &mut self,
        node: &Node<'t>,
        servers: &IndexMap<String, Server>,
        vars: &IndexMap<String, Value>,
        is_all: bool,
    ) {
        for (name, server) in servers {
            let Transport::Http { url, command, .. } = &server.transport else {
                continue;
            };
            let names_it = |part: &Part, own: bool| {
                let name = Some(name.as_str());
                // What a variable holds may hold it too.
                let held = part.name().and_then(|variable| vars.get(variable));
                part.port(name.filter(|_| own)) == name
                    || held.is_some_and(|value| value.to_string().contains("${"))
            };
            let in_url = url
                .parts
                .iter()
                .any(|part| matches!(part, Part::Port(_)) && names_it(part, true));
            let told =
                |template: &Template, own| template.parts.iter().any(|part| names_it(part, own));
            if !in_url {
                if let Some(command) = command
                    && let Some(port) = port_beside(url, command)
                {
                    self.port_beside_the_url(node, name, port);
                }
                continue;
            }
            let others = servers.values().filter(|other| other.name != *name);
            let is_told = match command {
                Some(command) => command.templates().any(|template| told(template, true)),
                // A service of the plan may get it.
                None => {
                    let named = format!("${{port:{name}}}");
                    let in_url = url.raw.matches(&named).count();
                    !is_all || self.text.matches(&named).count() > in_url
                }
            };
            if is_told
                || others
                    .flat_map(Server::templates)
                    .any(|template| told(template, false))
            {
                continue;
            }
            let (who, hint) = match command {
                Some(_) => (
                    "the command does not get it",
                    "pass it, as in `args: [--port, \"${port}\"]` or `env: { PORT: \"${port}\" }`",
                ),
                None => (
                    "nothing is started that gets it",
                    "have jelly start the server: write its `command` beside the `url`",
                ),
            };
            let url = node
                .entry(name)
                .and_then(|server| server.value.entry("url"));
            let Some(url) = url.map(|entry| &entry.value) else {
                continue;
            };
            let span = self.within(url, "${port");
            let all = Path::ROOT.key("servers");
            let path = all.key(name);
            let span = span.start..(span.start + "${port}".len()).min(url.span.end as usize);
            let message = format!("`${{port}}` is a free port that jelly chooses, and {who}");
            self.problem_at(span, path.key("url"), message)
                .hint(hint)
                .hint("or write the port that the server listens on into the URL");
        }
    }

    /// The command listens on one port, and the URL names another.
    fn port_beside_the_url(&mut self, node: &Node<'t>, name: &str, port: &str) {
        let url = node
            .entry(name)
            .and_then(|server| server.value.entry("url"));
        let Some(url) = url.map(|entry| &entry.value) else {
            return;
        };
        let span = self.within(url, port);
        let span = span.start..(span.start + port.len()).min(url.span.end as usize);
        let all = Path::ROOT.key("servers");
        let path = all.key(name);
        let message = format!(
            "the command gets `${{port}}`, a free port that jelly chooses, and the URL names {port}"
        );
        self.problem_at(span, path.key("url"), message)
            .hint("write `${port}` into the URL, too")
            .hint("or give the command the port that the URL names");
    }

    fn server(
        &mut self,
        fields: Fields<'_, 't, '_>,
        name: &str,
        transport: Transport,
        at: crate::Location,
    ) -> Server {
        let path = fields.path;
        let startup_timeout = self.read(fields, "startup_timeout");
        let request_timeout = self.read(fields, "request_timeout");
        let shutdown_timeout = self.read(fields, "shutdown_timeout");
        let eras = [("modern", Era::Modern), ("legacy", Era::Legacy)];
        let era = self
            .read(fields, "era")
            .and_then(|name| meaning(name, &eras));
        let own: Option<&str> = self.read(fields, "protocol");
        if let (Some(own), Some(era), Some(node)) = (own, era, fields.get("era"))
            && Revision::find(own).is_some_and(|own| own.era != era)
        {
            let message = format!("the revision {own} is not of the {era} era");
            self.problem(node.span, path.key("era"), message)
                .hint("`protocol` says the era too: leave `era` out");
        }
        // What a combination of a matrix pins, its other plans may ask for.
        let held_to = match (own.and_then(Revision::find), era) {
            (Some(own), _) => Some((format!("protocol: {}", own.name), vec![own])),
            (None, Some(era)) => Some((format!("era: {era}"), Revision::all(era).collect())),
            (None, None) => None,
        };
        if let Some(held_to) = held_to {
            self.names.pins.insert(name.to_owned(), held_to);
        }
        let of_all = || self.variant.as_ref()?.protocol.as_deref();
        let protocol = match (own, era) {
            (Some(own), _) => Some(own),
            (None, Some(_)) => None,
            (None, None) => of_all(),
        };
        let protocol = protocol.map(str::to_owned);
        let pin = fields.entry("protocol").or_else(|| fields.entry("era"));
        let pinned_at = pin.map(|entry| self.at(entry.key_span));
        let requires = self.requirements(fields);
        self.names
            .requires
            .insert(name.to_owned(), requires.clone());
        let wire_check: Option<&str> = self.read(fields, "wire");
        let adapt = self.read(fields, "adapt").unwrap_or(true);
        let capabilities = fields
            .get("capabilities")
            .and_then(|node| self.capabilities(node, path.key("capabilities")));
        let answers = match fields.get("answers") {
            Some(node) => {
                let of = (Of::Server, Some(name));
                self.answers(node, path.key("answers"), of, &mut Needs::new())
            }
            None => Vec::new(),
        };
        let request_timeout = request_timeout
            .or(self.defaults.request_timeout)
            .unwrap_or(DEFAULT_TIMEOUT);
        let wait_for_package = self.read(fields, "wait_for_package");
        self.fetches_a_package(fields, &transport);
        let patience = self.patience_of_server(fields, name, request_timeout);
        Server {
            name: name.to_owned(),
            transport,
            wire_check: wire_check.map(|wire| wire == "strict"),
            adapt,
            era,
            protocol,
            pinned_at,
            capabilities,
            answers,
            requires,
            startup_timeout: startup_timeout
                .or(self.defaults.startup_timeout)
                .unwrap_or(DEFAULT_TIMEOUT),
            wait_for_package,
            request_timeout,
            progress_extends: patience.extends,
            total_timeout: patience.total,
            shutdown_timeout: shutdown_timeout
                .or(self.defaults.shutdown_timeout)
                .unwrap_or(DEFAULT_SHUTDOWN),
            at,
            path: path.to_doc(),
        }
    }

    /// Only what a launcher fetches may not be there yet.
    fn fetches_a_package(&mut self, fields: Fields<'_, 't, '_>, transport: &Transport) {
        let Some(entry) = fields.entry("wait_for_package") else {
            return;
        };
        let command = match transport {
            Transport::Stdio(command) => Some(command),
            Transport::Http { command, .. } => command.as_ref(),
        };
        let named = command.map(|command| command.command.as_ref());
        let fetches = match named {
            // A package alone, or a command that a variable says.
            Some(None) => true,
            Some(Some(word)) if !word.is_literal() => true,
            Some(Some(word)) => {
                let name = word.raw.rsplit('/').next().unwrap_or_default();
                LAUNCHERS.contains(&name)
            }
            None => false,
        };
        if !fetches {
            let message = "`wait_for_package` is only for servers that a launcher fetches";
            self.problem(entry.key_span, fields.path, message)
                .hint(format!("the launchers are `{}`", LAUNCHERS.join("`, `")));
        }
    }

    /// What the client declares, as it is.
    fn capabilities(&mut self, node: &Node<'t>, path: Path<'_>) -> Option<Value> {
        let entries = self.entries(node, path, "capabilities by name")?;
        for entry in entries {
            let key = entry.key.as_ref();
            self.entries(&entry.value, path.key(key), "a capability");
            // Others may come; a slip is no such.
            if !CAPABILITIES.contains(&key)
                && let Some(close) = close_names(key, CAPABILITIES).first()
            {
                let message = format!("no client has the capability `{key}`");
                self.problem(entry.key_span, path, message)
                    .hint(format!("did you mean `{close}`?"));
            }
        }
        Some(node.to_value())
    }

    fn transport(
        &mut self,
        fields: Fields<'_, 't, '_>,
        key_span: crate::syntax::Span,
    ) -> Option<Transport> {
        let Fields { entries, path, .. } = fields;
        let started = entry(entries, "command").or_else(|| entry(entries, "package"));
        match (started, entry(entries, "url")) {
            (None, None) => {
                self.problem(
                    key_span,
                    path,
                    "a server needs a `command`, a `package` or a `url`",
                );
                self.package(entries, path);
                None
            }
            (Some(_), None) => {
                self.refuse(
                    entries,
                    &["headers", "auth"],
                    "a server without a `url`",
                    path,
                );
                self.command(entries, path).map(Transport::Stdio)
            }
            (None, Some(url)) => {
                let keys = ["args", "env", "cwd", "package_args"];
                self.refuse(entries, &keys, "a server without a `command`", path);
                self.http(entries, &url.value, None, path)
            }
            (Some(_), Some(url)) => {
                let command = self.command(entries, path);
                self.http(entries, &url.value, command, path)
            }
        }
    }

    fn refuse(&mut self, entries: &[Entry<'t>], keys: &[&str], what: &str, path: Path<'_>) {
        for entry in entries.iter().filter(|e| keys.contains(&e.key.as_ref())) {
            let message = format!("{what} has no `{}`", entry.key);
            self.problem(entry.key_span, path, message);
        }
    }

    pub(super) fn command(&mut self, entries: &[Entry<'t>], path: Path<'_>) -> Option<Command> {
        let before = self.problems_so_far();
        let package = self.package(entries, path);
        let path_to = path.key("command");
        let command = get(entries, "command").map(|command| match &command.data {
            crate::syntax::Data::List(_) => {
                self.problem(command.span, path_to, "expected a string, found a list")
                    .hint("the first word goes into `command`, the others into `args`");
                None
            }
            _ => match self.string(command, path_to) {
                Some("") => {
                    self.problem(command.span, path_to, "a command can't be empty");
                    None
                }
                Some(text) => {
                    self.refuse_command_line(command, text, path_to);
                    self.server_template(command, path_to)
                }
                None => None,
            },
        });
        let path_to = path.key("args");
        let args = match get(entries, "args") {
            Some(node) => {
                let items = self.list(node, path_to, "arguments").unwrap_or(&[]);
                items
                    .iter()
                    .enumerate()
                    .filter_map(|(index, item)| self.server_template(item, path_to.index(index)))
                    .collect()
            }
            None => Vec::new(),
        };
        let env = self.templates_by_name(get(entries, "env"), path.key("env"), |name| {
            !name.is_empty() && !name.contains(['=', '\0'])
        });
        let cwd = get(entries, "cwd").and_then(|node| self.server_template(node, path.key("cwd")));
        let command = match command {
            Some(command) => Some(command?),
            None => {
                package.as_ref()?;
                None
            }
        };
        let command = Command {
            command,
            args,
            env,
            cwd,
            package: package.map(Box::new),
        };
        if self.strict && self.problems_so_far() == before {
            self.launchable(entries, &command, path);
        }
        Some(command)
    }

    /// All words of a command line where the name of the program belongs. Names have blanks
    /// too, but seldom begin as a launcher's does, and lie somewhere.
    fn refuse_command_line(&mut self, node: &Node<'t>, text: &str, path: Path<'_>) {
        let mut words = text.split_whitespace();
        let first = words.next().unwrap_or_default();
        let is_path = first.contains(['/', '\\']);
        let is_whole_line = words.next().is_some() && !is_path && starts_others(first);
        if self.strict
            && is_whole_line
            && !first.contains("${")
            && !self.names.argument_files.has_file(text)
        {
            let message = "`command` holds a whole command line, and is to be one program's name";
            self.problem(node.span, path, message).hint(format!(
                "write `command: {}`, and each of the other words as an item of `args`",
                in_flow(first)
            ));
        }
    }

    fn http(
        &mut self,
        entries: &[Entry<'t>],
        url: &Node<'t>,
        command: Option<Command>,
        path: Path<'_>,
    ) -> Option<Transport> {
        let path_to = path.key("url");
        let template = match self.string(url, path_to) {
            Some(_) => self.server_template(url, path_to),
            None => None,
        };
        if let Some(template) = &template
            && template.is_literal()
            && !["http://", "https://"]
                .iter()
                .any(|scheme| template.raw.to_ascii_lowercase().starts_with(scheme))
        {
            self.problem(url.span, path_to, "no URL that a server could have")
                .hint("it begins with `http://` or `https://`");
        }
        let headers = self.templates_by_name(get(entries, "headers"), path.key("headers"), |n| {
            !n.is_empty()
                && n.bytes()
                    .all(|b| b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&b))
        });
        let auth = get(entries, "auth").and_then(|node| {
            let path_to = path.key("auth");
            if headers
                .keys()
                .any(|n| n.eq_ignore_ascii_case("authorization"))
            {
                self.problem(
                    node.span,
                    path_to,
                    "the header `Authorization` would hide its tokens",
                )
                .hint("leave one of both out");
            }
            self.auth(node, path_to)
        });
        Some(Transport::Http {
            url: template?,
            headers,
            auth: auth.map(Box::new),
            command,
        })
    }

    fn templates_by_name(
        &mut self,
        node: Option<&Node<'t>>,
        path: Path<'_>,
        is_name: fn(&str) -> bool,
    ) -> IndexMap<String, Template> {
        let mut templates = IndexMap::new();
        let Some(node) = node else {
            return templates;
        };
        for entry in self.entries(node, path, "names with values").unwrap_or(&[]) {
            if !is_name(&entry.key) {
                let message = format!("`{}` can't be a name here", entry.key);
                self.problem(entry.key_span, path, message);
            }
            if let Some(template) = self.server_template(&entry.value, path.key(&entry.key)) {
                templates.insert(entry.key.clone().into_owned(), template);
            }
        }
        templates
    }

    pub(super) fn server_template(&mut self, node: &Node<'t>, path: Path<'_>) -> Option<Template> {
        let word = self.word(node, path)?;
        self.template(node, &word, path, TemplatePlace::Server, &mut Needs::new())
    }
}

/// A server's name becomes part of the name of its log file, and of
/// `${port:NAME}`.
pub(super) fn is_server_name(name: &str) -> bool {
    !name.is_empty()
        && !name.starts_with('.')
        && name.trim() == name
        && !name.contains(|c: char| c.is_control() || matches!(c, '/' | '\\' | '{' | '}'))
}

/// Whether it is the name of a program that starts what its arguments name.
fn starts_others(program: &str) -> bool {
    let name = program.rsplit(['/', '\\']).next().unwrap_or(program);
    [
        NODES,
        SCRIPT_RUNNERS,
        PROJECT_RUNNERS,
        INTERPRETERS,
        PYTHON_LAUNCHERS,
        OTHER_LAUNCHERS,
    ]
    .iter()
    .any(|names| names.has(name))
}

/// The port that a URL names and its command does not get, where that gets another.
fn port_beside<'u>(url: &'u Template, command: &Command) -> Option<&'u str> {
    let port = fixed_port(url)?;
    let parts = || command.templates().flat_map(|template| &template.parts);
    let gets_another = parts().any(|part| matches!(part, Part::Port(None)));
    let is_told = parts().any(|part| matches!(part, Part::Text(text) if text.contains(port)));
    (gets_another && !is_told).then_some(port)
}

/// The port that a URL of this machine names, written out.
fn fixed_port(url: &Template) -> Option<&str> {
    let [Part::Text(url)] = &url.parts[..] else {
        return None;
    };
    let rest = url.strip_prefix("http://")?;
    let hosts = ["127.0.0.1:", "localhost:", "[::1]:"];
    let rest = hosts.into_iter().find_map(|host| rest.strip_prefix(host))?;
    let port = &rest[..rest.find('/').unwrap_or(rest.len())];
    (!port.is_empty() && port.bytes().all(|b| b.is_ascii_digit())).then_some(port)
}
