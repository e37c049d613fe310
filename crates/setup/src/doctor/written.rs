//! Members of an entry as a client's file has them, for advice.

use super::blanks::with_braces;
use super::clients::{Client, ClientFormat, Syntax, VariableSyntax, WithoutKind};

impl ClientFormat {
    /// What to write instead of a secret.
    pub(super) fn instead_of_secret(&self) -> String {
        let variable = match self.variables {
            VariableSyntax::Braces | VariableSyntax::Shell => "${NAME}",
            VariableSyntax::Env => "${env:NAME}",
            VariableSyntax::BareEnv => "{env:NAME}",
            VariableSyntax::None | VariableSyntax::Unknown => "",
        };
        match (self.instead_of_secret, variable) {
            (Some(own), _) => own.to_owned(),
            (None, "") => "Keep the file out of repositories and readable by you alone (`chmod \
                           600`), or start the server by a script that fetches the value."
                .to_owned(),
            (None, variable) => {
                format!("Write `{variable}`, and set NAME where the client is started.")
            }
        }
    }

    /// A text with its variables as the others write them, `${…}`.
    pub(super) fn with_common_variables(&self, text: &str) -> String {
        match self.variables {
            VariableSyntax::BareEnv => text.replace("{env:", "${env:"),
            VariableSyntax::Shell => with_braces(text),
            VariableSyntax::Braces
            | VariableSyntax::Env
            | VariableSyntax::None
            | VariableSyntax::Unknown => text.to_owned(),
        }
    }

    /// A variable that was read, `${…}`, as the file has it.
    pub(super) fn as_written(&self, blank: &str) -> String {
        let name = blank
            .strip_prefix("${env:")
            .and_then(|rest| rest.strip_suffix('}'));
        match (name, self.variables, self.members.bearer_variable) {
            (Some(name), VariableSyntax::BareEnv, _) => format!("{{env:{name}}}"),
            (Some(name), VariableSyntax::None, Some(_)) => name.to_owned(),
            _ => blank.to_owned(),
        }
    }

    /// A server as it is to be written, for advice.
    pub(super) fn example(&self) -> &'static str {
        match self.client {
            Client::Codex => {
                "A server is a table `[mcp_servers.NAME]` with `command = \"…\"`, `args = \
                 [\"…\"]` and `env = { NAME = \"…\" }`, or with `url = \"https://…\"`."
            }
            Client::OpenCode => {
                "A server is `{ \"type\": \"local\", \"command\": [\"…\", \"…\"], \
                 \"environment\": { \"NAME\": \"…\" } }`, or `{ \"type\": \"remote\", \"url\": \
                 \"https://…\" }`."
            }
            Client::Goose => {
                "A server is `{ type: stdio, cmd: \"…\", args: [\"…\"], envs: { NAME: \"…\" } }`, \
                 or `{ type: streamable_http, uri: \"https://…\" }`."
            }
            Client::ClaudeDesktop => {
                "A server is `{ \"command\": \"…\", \"args\": [\"…\"], \"env\": { \"NAME\": \
                 \"…\" } }`."
            }
            Client::GeminiCli => {
                "A server is `{ \"command\": \"…\", \"args\": [\"…\"], \"env\": { \"NAME\": \
                 \"…\" } }`, or `{ \"httpUrl\": \"https://…\" }`."
            }
            Client::ClaudeCode => {
                "A server is `{ \"command\": \"…\", \"args\": [\"…\"], \"env\": { \"NAME\": \
                 \"…\" } }`, or `{ \"type\": \"http\", \"url\": \"https://…\" }`."
            }
            _ => {
                "A server is `{ \"command\": \"…\", \"args\": [\"…\"], \"env\": { \"NAME\": \
                 \"…\" } }`, or `{ \"url\": \"https://…\" }`."
            }
        }
    }

    /// A member with one text, or several, as it is to be pasted.
    pub(super) fn member(&self, name: &str, value: &str) -> String {
        match self.syntax {
            Syntax::StrictJson | Syntax::JsonWithComments | Syntax::Jsonc => {
                format!("\"{name}\": {value}")
            }
            Syntax::Toml => format!("{name} = {value}"),
            Syntax::Yaml => format!("{name}: {value}"),
        }
    }

    /// What the member is called that names the program.
    pub(super) fn command_name(&self) -> &'static str {
        self.members.command.first().copied().unwrap_or("command")
    }

    /// Whether one list holds the program and its arguments.
    pub(super) fn keeps_words_together(&self) -> bool {
        self.client == Client::OpenCode
    }

    /// Names with their values, as one value of a member.
    pub(super) fn table<'n>(&self, entries: impl Iterator<Item = (&'n str, String)>) -> String {
        let entries: Vec<String> = entries
            .map(|(name, value)| {
                let between = if self.syntax == Syntax::Toml {
                    " ="
                } else {
                    ":"
                };
                format!("{}{between} {}", quoted(name), quoted(&value))
            })
            .collect();
        match entries.is_empty() {
            true => "{}".to_owned(),
            false => format!("{{ {} }}", entries.join(", ")),
        }
    }

    /// The address of a server, as it is to be pasted.
    pub(super) fn url(&self, url: &str, is_sse: bool) -> String {
        let own = self.members.sse_url.filter(|_| is_sse);
        let name = own.or_else(|| self.members.url.first().copied());
        self.member(name.unwrap_or("url"), &quoted(url))
    }

    /// The same with all that an entry needs to have such a server, which speaks SSE
    /// or Streamable HTTP.
    pub(super) fn reached_at(&self, url: &str, is_sse: bool) -> String {
        let kinds = &self.members.kinds;
        let own = kinds.reached.first().copied();
        let (kind, is_spoken) = match is_sse {
            true => (kinds.sse, kinds.sse.is_some()),
            false => (own.filter(|_| kinds.without != WithoutKind::Inferred), true),
        };
        match kind {
            _ if !self.takes_urls || !is_spoken => self.bridged(url),
            Some(kind) => self.joined(&[self.member("type", &quoted(kind)), self.url(url, is_sse)]),
            None => self.url(url, is_sse),
        }
    }

    /// A server behind a command that speaks what its client does not.
    fn bridged(&self, url: &str) -> String {
        let kinds = &self.members.kinds;
        let kind = kinds.started.first().copied();
        let kind = kind.filter(|_| kinds.without == WithoutKind::None);
        let mut members: Vec<String> = kind
            .map(|kind| self.member("type", &quoted(kind)))
            .into_iter()
            .collect();
        let words = format!("\"proxy\", \"--url\", {}", quoted(url));
        let name = self.command_name();
        match self.keeps_words_together() {
            true => members.push(self.member(name, &format!("[\"jelly\", {words}]"))),
            false => members.extend([
                self.member(name, "\"jelly\""),
                self.member(self.members.args, &format!("[{words}]")),
            ]),
        }
        self.joined(&members)
    }

    /// Several members: those of TOML and YAML stand in lines of their own.
    pub(super) fn joined(&self, members: &[String]) -> String {
        match self.syntax {
            Syntax::StrictJson | Syntax::JsonWithComments | Syntax::Jsonc => members.join(", "),
            Syntax::Toml | Syntax::Yaml => members.join("\n"),
        }
    }

    /// A program with its first arguments, as it is to be pasted.
    pub(super) fn command(&self, program: &str, args: &str) -> String {
        let name = self.members.command.first().copied().unwrap_or("command");
        let (quoted, dots) = (
            format!("\"{program}\""),
            if args.is_empty() { "" } else { ", " },
        );
        if self.client == Client::OpenCode {
            return self.member(name, &format!("[{quoted}{dots}{args}]"));
        }
        let command = self.member(name, &quoted);
        match args.is_empty() {
            true => command,
            false => format!(
                "{command}, {}",
                self.member(self.members.args, &format!("[{args}]"))
            ),
        }
    }

    /// That none of the members is there that servers stand under.
    #[must_use]
    pub fn no_servers(&self) -> String {
        let keys: Vec<String> = self.servers.iter().map(|key| format!("`{key}`")).collect();
        match keys.as_slice() {
            [key] => format!("there is no {key}"),
            keys => format!("neither {}", keys.join(", nor ")),
        }
    }
}

/// In quotes, as JSON, TOML and YAML alike have it.
pub(super) fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use super::super::clients::CLIENTS;

    #[test]
    fn the_entry_that_is_advised_for_a_url_is_taken_by_its_client() {
        for format in CLIENTS {
            for is_sse in [false, true] {
                let written = format.reached_at("http://h/mcp", is_sse);
                assert!(
                    format.takes_urls || written.contains("proxy"),
                    "{}: {written}",
                    format.name
                );
            }
        }
        let of = |name: &str, is_sse| {
            let mut all = CLIENTS.iter();
            let format = all.find(|format| format.name == name).unwrap();
            format.reached_at("http://h/mcp", is_sse)
        };
        assert_eq!(
            of("Claude Code", false),
            "\"type\": \"http\", \"url\": \"http://h/mcp\""
        );
        assert_eq!(
            of("opencode", true),
            "\"type\": \"remote\", \"url\": \"http://h/mcp\""
        );
        let bridge = "command = \"jelly\"\nargs = [\"proxy\", \"--url\", \"http://h/mcp\"]";
        assert_eq!(of("Codex", true), bridge);
        assert_eq!(of("Cursor", false), "\"url\": \"http://h/mcp\"");
        let gemini = |is_sse| of("Gemini CLI", is_sse);
        assert_eq!(gemini(false), "\"httpUrl\": \"http://h/mcp\"");
        assert_eq!(gemini(true), "\"type\": \"sse\", \"url\": \"http://h/mcp\"");
    }
}
