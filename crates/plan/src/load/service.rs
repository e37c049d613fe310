//! `services`.

use super::path::Path;
use super::reader::{Fields, Reader};
use super::server::is_server_name;
use crate::grammar::{READY, SERVICE};
use crate::syntax::{Data, Entry, Node};
use crate::{Command, Part, Server, Service, ServiceReady, Transport};
use indexmap::IndexMap;
use std::time::Duration;

const STARTUP: Duration = Duration::from_secs(30);
const SHUTDOWN: Duration = Duration::from_secs(2);

impl<'t> Reader<'t> {
    /// Takes note of the services, whose ports servers may name.
    pub(super) fn name_services(&mut self, fields: Fields<'_, 't, '_>) {
        if let Some(Data::Map(named)) = fields.get("services").map(|node| &node.data) {
            let names = named.iter().map(|entry| entry.key.clone().into_owned());
            self.names.services.extend(names);
        }
    }

    pub(super) fn services(&mut self, fields: Fields<'_, 't, '_>) -> IndexMap<String, Service> {
        let mut services = IndexMap::new();
        let Some(node) = fields.get("services") else {
            return services;
        };
        let path = fields.path.key("services");
        for Entry {
            key,
            key_span,
            value,
            ..
        } in self.entries(node, path, "services by name").unwrap_or(&[])
        {
            let path = path.key(key);
            if !is_server_name(key) {
                self.problem(
                    *key_span,
                    path,
                    format!("a service can't be called `{key}`"),
                )
                .hint("no slashes, braces or dots in front");
            }
            if self.names.servers.contains(key.as_ref()) {
                let message = format!("a server is called `{key}` already");
                self.problem(*key_span, path, message)
                    .hint("give the service a name of its own");
            }
            if let Some(fields) = self.fields(value, path, &SERVICE)
                && let Some(service) = self.service(fields, key, *key_span)
            {
                services.insert(key.clone().into_owned(), service);
            }
        }
        services
    }

    fn service(
        &mut self,
        fields: Fields<'_, 't, '_>,
        name: &str,
        key_span: crate::syntax::Span,
    ) -> Option<Service> {
        let path = fields.path;
        let startup_timeout = self.read(fields, "startup_timeout").unwrap_or(STARTUP);
        let shutdown_timeout = self.read(fields, "shutdown_timeout").unwrap_or(SHUTDOWN);
        let ready = self.required(fields, "ready");
        let ready = ready.and_then(|node| self.ready(node, path.key("ready")));
        self.required(fields, "command")?;
        let command = self.command(fields.entries, path)?;
        if let (Some(node), Some(ready)) = (fields.get("ready"), &ready) {
            self.port_that_reaches_nobody(node, path, name, ready, &command);
        }
        let at = self.at(key_span);
        Some(Service {
            server: Server {
                startup_timeout,
                shutdown_timeout,
                ..Server::new(name, Transport::Stdio(command), at, path.to_doc())
            },
            ready: ready?,
        })
    }

    /// A port that jelly chooses for a service must reach its command.
    fn port_that_reaches_nobody(
        &mut self,
        node: &Node<'t>,
        path: Path<'_>,
        name: &str,
        ready: &ServiceReady,
        command: &Command,
    ) {
        let (ServiceReady::Line(sign) | ServiceReady::Port(sign) | ServiceReady::Url(sign)) = ready;
        let is_it = |part: &Part| part.port(Some(name)) == Some(name);
        if !sign.parts.iter().any(is_it) {
            return;
        }
        // What a variable holds may hold it too.
        let may_tell = |part: &Part| is_it(part) || part.name().is_some();
        let mut given = command.templates().flat_map(|template| &template.parts);
        let named = format!("${{port:{name}}}");
        let elsewhere = self.text.matches(&named).count() > sign.raw.matches(&named).count();
        if given.any(may_tell) || elsewhere {
            return;
        }
        let message =
            "`${port}` is a free port that jelly chooses, and the command does not get it";
        self.problem(node.span, path.key("ready"), message)
            .hint("pass it, as in `args: [--port, \"${port}\"]` or `env: { PORT: \"${port}\" }`")
            .hint("or write the port here that the service listens on");
    }

    fn ready(&mut self, node: &Node<'t>, path: Path<'_>) -> Option<ServiceReady> {
        let fields = self.fields(node, path, &READY)?;
        let mut signs = fields.alternatives();
        let (Some(sign), None) = (signs.next(), signs.next()) else {
            self.problem(
                node.span,
                path,
                "`ready` is one of `line`, `port` and `url`",
            )
            .hint("as in `ready: { port: \"${port}\" }`");
            return None;
        };
        let (value, path) = (&sign.value, path.key(&sign.key));
        match sign.key.as_ref() {
            "line" => {
                if self.string(value, path)?.trim().is_empty() {
                    self.problem(value.span, path, "every line contains this");
                    return None;
                }
                self.server_template(value, path).map(ServiceReady::Line)
            }
            "port" => {
                let port = self.server_template(value, path)?;
                if port.is_literal() && port.raw.parse::<u16>().map_or(true, |port| port == 0) {
                    self.problem(value.span, path, "a port must be from 1 to 65535")
                        .hint("as in `port: 5432`, or `port: \"${port}\"` for a free one");
                }
                Some(ServiceReady::Port(port))
            }
            _ => {
                let url = self.string(value, path)?;
                if !url.starts_with("http://") && !url.starts_with("https://") {
                    self.problem(value.span, path, "no URL that a service could have")
                        .hint("it begins with `http://` or `https://`");
                }
                self.server_template(value, path).map(ServiceReady::Url)
            }
        }
    }
}
