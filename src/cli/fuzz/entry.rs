//! The server as the plan of findings names it.

use super::super::named_server::NamedServer;
use jelly_base::text::redact::{Redactor, looks_secret, show_argv};
use jelly_fuzzing::ServerEntry;
use jelly_plan::Template;
use jelly_wire::Reach;
use serde_json::{Map, Value};
use std::path::{Component, Path};
use std::time::Duration;

/// Its entry in a plan that lies in `folder`.
pub fn entry(
    named: &NamedServer,
    folder: &Path,
    jelly: Option<&str>,
    limit: Duration,
    redactor: &Redactor,
) -> ServerEntry {
    let literal = |text: &str| Value::from(Template::literal(text).raw);
    let clean = |text: &str| literal(&redactor.redact(text));
    let mut members = Map::new();
    if let Reach::Http(endpoint) = &named.reach {
        members.insert("url".to_owned(), clean(&endpoint.url));
        let headers = endpoint.headers.iter().map(|(name, _)| {
            // Whatever it is, it is nobody's to read in a file.
            let variable = variable(name);
            (name.clone(), Value::from(format!("${{secret:{variable}}}")))
        });
        let headers: Map<String, Value> = headers.collect();
        if !headers.is_empty() {
            members.insert("headers".to_owned(), Value::Object(headers));
        }
    }
    if let Some(command) = named.reach.command() {
        let mut words = show_argv(&command.argv).into_iter();
        let program = words.next().unwrap_or_default();
        let program = match Some(program.as_str()) == jelly {
            true => "jelly".to_owned(),
            false => program,
        };
        members.insert("command".to_owned(), clean(&program));
        let words: Vec<Value> = words.map(|word| clean(&word)).collect();
        if !words.is_empty() {
            members.insert("args".to_owned(), Value::from(words));
        }
        let env = command.env.iter().map(|(name, value)| {
            let is_secret = looks_secret(name) || redactor.redact(value) != value.as_str();
            let written = match is_secret {
                true => Value::from(format!("${{secret:{name}}}")),
                false => literal(value),
            };
            (name.clone(), written)
        });
        let env: Map<String, Value> = env.collect();
        if !env.is_empty() {
            members.insert("env".to_owned(), Value::Object(env));
        }
        if command.cwd != folder {
            members.insert("cwd".to_owned(), literal(&from(folder, &command.cwd)));
        }
    }
    ServerEntry {
        name: plan_name(&named.name),
        members,
        request_timeout: format!("{}ms", limit.as_millis()),
    }
}

/// `X_API_KEY` for `X-Api-Key`.
fn variable(header: &str) -> String {
    let letters = header.chars().map(|c| match c.is_ascii_alphanumeric() {
        true => c.to_ascii_uppercase(),
        false => '_',
    });
    letters.collect()
}

fn plan_name(name: &str) -> String {
    let name: String = name
        .chars()
        .map(|c| {
            if c.is_ascii_alphanumeric() || matches!(c, '-' | '_') {
                c
            } else {
                '-'
            }
        })
        .collect();
    match name.trim_matches('-') {
        "" => "server".to_owned(),
        name => name.to_owned(),
    }
}

/// A folder as it is named from another one.
fn from(folder: &Path, to: &Path) -> String {
    let (own, other): (Vec<Component<'_>>, Vec<Component<'_>>) =
        (folder.components().collect(), to.components().collect());
    let shared = own.iter().zip(&other).take_while(|(a, b)| a == b).count();
    // Nothing but the root in common: better the whole path.
    if shared < 2 {
        return to.display().to_string();
    }
    let up = own[shared..].iter().map(|_| "..".to_owned());
    let down = other[shared..]
        .iter()
        .map(|part| part.as_os_str().to_string_lossy().into_owned());
    let path: Vec<String> = up.chain(down).collect();
    match path.is_empty() {
        true => ".".to_owned(),
        false => path.join("/"),
    }
}

#[cfg(test)]
mod tests {
    use super::{from, plan_name};
    use std::path::Path;

    #[test]
    fn folders_are_named_from_the_plan() {
        for (folder, to, named) in [
            ("/a/b/reports/fuzz", "/a/b", "../.."),
            ("/a/b", "/a/b", "."),
            ("/a/b", "/a/b/c", "c"),
            ("/tmp/x", "/srv/y", "/srv/y"),
        ] {
            assert_eq!(from(Path::new(folder), Path::new(to)), named);
        }
        assert_eq!(plan_name("example.com:80"), "example-com-80");
        assert_eq!(plan_name("..."), "server");
    }
}
