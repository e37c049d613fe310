//! Secrets that a plan spells out, where `${secret:NAME}` would have hidden
//! them.

use super::template::{Part, Template};
use super::{Hooks, Plan, Server, Transport};
use jelly_base::text::redact::{Found, secrets_in_argv, secrets_in_header, secrets_in_text};
use jelly_base::text::redact::{looks_secret, secrets_in_variable};
use serde_json::Value;

/// A shorter value stands in words that are nobody's secret.
const MIN_VALUE: usize = 6;
/// From so many bytes on, small letters alone are no word of a language.
const NO_WORD: usize = 12;

impl Plan {
    /// Names and values of what looks secret in the arguments, variables,
    /// headers and URLs of the servers, and in the arguments of the hooks: a
    /// server may say it again where nobody
    /// would look for it.
    #[must_use]
    pub fn literal_secrets(&self) -> Vec<(String, String)> {
        let mut secrets = Vec::new();
        for server in self.servers.values() {
            of_server(server, &mut secrets);
        }
        let Hooks {
            refine_code,
            fix_tests,
        } = &self.hooks;
        for argv in [refine_code, fix_tests].into_iter().flatten() {
            keep_telling(secrets_in_argv(argv), &mut secrets);
        }
        secrets
    }
}

fn keep_telling(found: Vec<Found<'_>>, secrets: &mut Vec<(String, String)>) {
    let telling = found.into_iter().filter(is_telling);
    secrets.extend(telling.map(|found| (found.name.to_owned(), found.value.to_owned())));
}

fn of_server(server: &Server, secrets: &mut Vec<(String, String)>) {
    let mut keep = |found: Vec<Found<'_>>| keep_telling(found, secrets);
    if let Transport::Http { url, headers, .. } = &server.transport {
        keep(secrets_in_text(&plain(url)));
        for (name, value) in headers {
            keep(secrets_in_header(name, &plain(value)));
        }
    }
    let Some(command) = server.command() else {
        return;
    };
    let words: Vec<String> = command.args.iter().map(plain).collect();
    keep(secrets_in_argv(&words));
    for (name, value) in &command.env {
        keep(secrets_in_variable(name, &plain(value)));
    }
    let Some(used) = &command.package else {
        return;
    };
    for (name, value) in &used.args {
        if let (true, Value::String(raw)) = (looks_secret(name), value)
            && let Ok(template) = Template::parse(raw)
        {
            keep(secrets_in_variable(name, &plain(&template)));
        }
    }
}

/// A template's text, with its variables as they are written.
fn plain(template: &Template) -> String {
    let written = |part: &Part| match part {
        Part::Text(text) => text.clone(),
        other => other.reference(),
    };
    template.parts.iter().map(written).collect()
}

/// Whether the value can be masked in every text without hiding words that
/// mean something else.
fn is_telling(found: &Found<'_>) -> bool {
    let value = found.value;
    let is_word = value.len() < NO_WORD && value.bytes().all(|b| b.is_ascii_lowercase());
    found.is_telling(MIN_VALUE) && !value.contains("${") && !is_word
}

#[cfg(test)]
mod tests {
    use crate::{PlanSource, load};

    #[test]
    fn what_is_spelled_out_is_known_wherever_it_stands() {
        let text = r#"
version: 1
hooks: { fix_tests: [./fix, --token, hunter2-g] }
servers:
  a:
    command: x
    args: [--token, hunter2-a, "--api-key=hunter2-b", --key, users, "--token=${secret:T}"]
    env: { API_KEY: hunter2-c, PASSWORD: postgres, MODE: development, SECRET: "${env:S}x" }
  b:
    url: "https://me:hunter2-d@host.example/mcp?api_key=hunter2-e"
    headers: { Authorization: Bearer hunter2-f, X-Trace: on }
steps: [{ server: a, tool: t }, { server: b, tool: t }]
"#;
        let source = PlanSource {
            path: "p.yaml".into(),
            text: text.into(),
            variant: None,
        };
        let mut found: Vec<String> = load(source)
            .unwrap()
            .literal_secrets()
            .into_iter()
            .map(|(_, value)| value)
            .collect();
        found.sort();
        let wanted = ["a", "b", "c", "d", "e", "f", "g"].map(|end| format!("hunter2-{end}"));
        assert_eq!(found, wanted);
    }
}
