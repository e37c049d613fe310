//! What the references of steps and servers stand for.

use super::Ground;
use super::definition::add_value;
use super::hash::StableHash;
use jelly_base::text::redact::{looks_secret, may_be_secret};
use jelly_plan::{Part, Plan, Server, Step, each_reference};
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::Path;

/// The names that something refers to, by the plan's variables too.
#[derive(Debug, Default)]
pub(super) struct References {
    vars: BTreeSet<String>,
    env: BTreeSet<String>,
    files: BTreeSet<String>,
    /// Servers whose ports are named.
    pub servers: BTreeSet<String>,
}

impl References {
    pub fn of_step(step: &Step, plan: &Plan) -> Self {
        let mut all = Self::default();
        step.each_reference(&mut |part| all.note(part));
        all.follow(plan);
        all
    }

    pub fn of_server(server: &Server, plan: &Plan) -> Self {
        let mut all = Self::default();
        for template in server.templates() {
            template.parts.iter().for_each(|part| all.note(part));
        }
        for answer in &server.answers {
            answer.each_reference(&mut |part| all.note(part));
        }
        all.follow(plan);
        // What a package declares, its process takes from the environment.
        let used = server.command().and_then(|command| {
            let used = command.package.as_ref()?;
            Some((&command.env, &used.package.environment_variables))
        });
        if let Some((set, declared)) = used {
            let inherited = declared.iter().map(|variable| &variable.name);
            let inherited = inherited.filter(|name| !set.contains_key(*name));
            all.env.extend(inherited.cloned());
        }
        all
    }

    fn note(&mut self, part: &Part) {
        match part {
            Part::Name(name) => {
                self.vars.insert(name.clone());
            }
            Part::Env(name) => {
                self.env.insert(name.clone());
            }
            Part::File(path) | Part::Base64(path) => {
                self.files.insert(path.clone());
            }
            Part::Port(Some(server)) => {
                self.servers.insert(server.clone());
            }
            // The text stands in the plan; the rest is another one in each
            // iteration or in each checkout, or a secret, of which the name
            // stands in the plan.
            Part::Text(_) | Part::Workspace | Part::Tmp | Part::Secret(_) | Part::Port(None) => {}
        }
    }

    /// Adds what the variables refer to themselves. The loader lets them refer
    /// only to those before them.
    fn follow(&mut self, plan: &Plan) {
        for (name, value) in plan.vars.iter().rev() {
            if self.vars.contains(name) {
                each_reference(value, &mut |part| self.note(part));
            }
        }
    }

    /// What they stand for.
    pub fn add_values(&self, ground: &Ground<'_>, hash: &mut StableHash<'_>) {
        let Ground { plan, beside, .. } = ground;
        for name in &self.vars {
            // What is no variable is a capture, whose step is known.
            let Some(value) = plan.vars.get(name) else {
                continue;
            };
            hash.text("var").text(name);
            match value {
                Value::String(text) if looks_secret(name) && may_be_secret(name, text) => {}
                _ if beside.given.contains(name) => {
                    add_value(&portable(value, beside.workspace), hash);
                }
                _ => add_value(value, hash),
            }
        }
        for path in &self.files {
            let digest = plan.files.digest(path).unwrap_or_default();
            hash.text("file").text(path).text(digest);
        }
        for name in &self.env {
            hash.text("env").text(name);
            if looks_secret(name) || ground.secrets.contains(name) {
                continue;
            }
            hash.maybe(beside.env.get(name), |hash, value| {
                hash.text(&portable_text(value, beside.workspace));
            });
        }
    }
}

/// With the folder of the project named, not spelled out.
fn portable(value: &Value, workspace: &Path) -> Value {
    match value {
        Value::String(text) => Value::String(portable_text(text, workspace)),
        Value::Array(items) => Value::Array(items.iter().map(|v| portable(v, workspace)).collect()),
        Value::Object(entries) => Value::Object(
            entries
                .iter()
                .map(|(key, v)| (key.clone(), portable(v, workspace)))
                .collect(),
        ),
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    }
}

/// The project folder and those above it, as many as have a name that tells
/// one checkout from another: `/` and `/home` do not.
fn portable_text(text: &str, workspace: &Path) -> String {
    let mut text = text.to_owned();
    let mut up = "${workspace}".to_owned();
    for folder in workspace.ancestors() {
        if folder.components().count() < 3 {
            break;
        }
        let folder = folder.to_string_lossy();
        text = replace_folder(&text, &folder, &up);
        up.push_str("/..");
    }
    text
}

/// Replaces a folder where its whole name stands.
fn replace_folder(text: &str, folder: &str, by: &str) -> String {
    let mut replaced = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(folder) {
        let after = &rest[at + folder.len()..];
        let is_whole = !after.starts_with(|c: char| c.is_alphanumeric() || "-_.".contains(c));
        replaced.push_str(&rest[..at]);
        replaced.push_str(if is_whole { by } else { folder });
        rest = after;
    }
    replaced.push_str(rest);
    replaced
}

#[cfg(test)]
mod tests {
    use super::portable_text;
    use std::path::Path;

    #[test]
    fn a_checkout_is_named_wherever_its_folder_stands() {
        let portable = |text: &str| portable_text(text, Path::new("/home/ci/build-7/plans"));
        assert_eq!(portable("/home/ci/build-7/plans/a"), "${workspace}/a");
        assert_eq!(portable("x:/home/ci/build-7:y"), "x:${workspace}/..:y");
        assert_eq!(portable("/home/ci/.cache"), "${workspace}/../../.cache");
        assert_eq!(
            portable("/home/ci/build-77/a"),
            "${workspace}/../../build-77/a"
        );
        assert_eq!(portable("/home/other"), "/home/other");
    }
}
