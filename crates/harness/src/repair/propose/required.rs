//! `required_argument`: what the server's package requires is not given, and
//! the plan or its surroundings say what it is.
//!
//! A declared source is, in this order: the default of the definition; a
//! variable of the argument's name in the server's `env`; a variable of the
//! plan with that name; an environment variable with that name. For
//! `--api-key`, these are `API_KEY`, `api_key` and `API_KEY`.

use crate::repair::case::{FailureCase, server_target};
use crate::repair::types::{Facts, Proposal, RepairId};
use jelly_base::model::{Phase, PlanIssue};
use jelly_base::text::is_placeholder;
use jelly_base::text::redact::looks_secret;
use jelly_package::{
    self as package, Argument, ArgumentKind, AskedInput, InputKind, Package, Trouble, env_name,
    is_of_the_system, named_key,
};
use jelly_plan::{Command, PackageUse, Part, Plan, PlanEdit, Server, Template};
use serde_json::Value;

pub(super) fn give_arguments(case: &FailureCase<'_>) -> Option<Proposal> {
    let (server, failure) = (case.server()?, case.failure);
    let command = server.command()?;
    let used = command.package.as_deref()?;
    let search = Search {
        plan: case.plan,
        server,
        command,
        facts: case.facts,
    };
    let added = match (&failure.issue, &command.command) {
        (Some(PlanIssue::MissingPackageArgument { .. }), None) => search.given(used)?,
        // Beside a command, the definition says what its `args` lack.
        (None, Some(_))
            if case.diagnosis.root_cause == "missing_argument"
                && failure.step.is_none()
                && matches!(failure.phase, Some(Phase::Spawn | Phase::Handshake)) =>
        {
            search.words(&used.package)?
        }
        _ => return None,
    };
    let named: Vec<String> = added.iter().map(|a| format!("`{}`", a.key)).collect();
    let sources: Vec<&str> = added.iter().map(|a| a.source.as_str()).collect();
    let arguments = match added.len() {
        1 => "argument",
        _ => "arguments",
    };
    let explanation = format!(
        "gave {} the {arguments} {}, which its package requires: {}",
        server.name,
        named.join(" and "),
        sources.join("; ")
    );
    let target = server_target(&server.name);
    Some(Proposal {
        edits: search.edits(used, &added),
        servers_touched: vec![server.name.clone()],
        ..Proposal::new(RepairId::RequiredArgument, target, explanation)
    })
}

/// An argument that gets a value.
struct Added {
    key: String,
    /// Where the value is from, for people.
    source: String,
    /// What is written: the value in `package_args`, or words of `args`.
    words: Vec<String>,
}

struct Search<'a> {
    plan: &'a Plan,
    server: &'a Server,
    command: &'a Command,
    facts: &'a Facts<'a>,
}

impl Search<'_> {
    /// Values in `package_args` for all that is missing there. Half of it
    /// would help nobody: the server starts with everything or not at all.
    fn given(&self, used: &PackageUse) -> Option<Vec<Added>> {
        let mut is_known = true;
        let (scope, server) = (self.facts.scope, &self.server.name);
        let given = self.command.given(scope.env.clone(), &mut |template| {
            let value = template.resolve(scope, server).ok();
            is_known &= value.is_some();
            value
        });
        let troubles = package::resolve(&used.package, &given).err()?;
        let asked = used.package.inputs();
        let added = troubles.into_iter().map(|trouble| {
            let Trouble::Missing(lack) = trouble else {
                return None;
            };
            // A value that is there and empty has a source already: to put
            // another in its place is nobody's wish.
            let is_open = !lack.is_blank && !used.args.contains_key(&lack.key);
            let asked = asked
                .iter()
                .filter(|asked| is_open && asked.kind != InputKind::Environment)
                .find(|asked| asked.key == lack.key && asked.kind == lack.kind)?;
            let (value, source) = self.source(asked)?;
            Some(Added {
                key: lack.key,
                source,
                words: vec![value],
            })
        });
        added.collect::<Option<Vec<_>>>().filter(|_| is_known)
    }

    /// One edit for what is written whole, else one for each value.
    fn edits(&self, used: &PackageUse, added: &[Added]) -> Vec<PlanEdit> {
        let set = |path, value| PlanEdit::Set { path, value };
        let words = added.iter().flat_map(|added| &added.words);
        if self.command.command.is_some() {
            let at = self.server.path.key("args");
            let words = words.map(|word| Value::from(word.as_str()));
            return match self.command.args.len() {
                0 => vec![set(at, words.collect())],
                count => words
                    .zip(count..)
                    .map(|(word, place)| set(at.index(place), word))
                    .collect(),
            };
        }
        let at = self.server.path.key("package_args");
        let named = added.iter().zip(words);
        let named = named.map(|(added, word)| (added.key.clone(), Value::from(word.as_str())));
        match used.args.is_empty() {
            true => vec![set(at, Value::Object(named.collect()))],
            false => named.map(|(key, value)| set(at.key(key), value)).collect(),
        }
    }

    /// Words behind `args`, for all that these lack.
    fn words(&self, package: &Package) -> Option<Vec<Added>> {
        let words: Vec<String> = self
            .command
            .args
            .iter()
            .map(|arg| {
                let resolved = arg.resolve_str(self.facts.scope, &self.server.name);
                resolved.unwrap_or_else(|_| arg.raw.clone())
            })
            .collect();
        let mut added = Vec::new();
        let asked = package.inputs();
        for argument in lacking(package, &words) {
            let asked = asked.iter().find(|asked| {
                asked.kind == InputKind::Argument && std::ptr::eq(asked.input, &argument.input)
            })?;
            let (value, source) = self.source(asked)?;
            let new = match &argument.kind {
                ArgumentKind::Named { flag, .. } if flag.ends_with('=') => {
                    vec![format!("{flag}{value}")]
                }
                ArgumentKind::Named { flag, .. } => vec![flag.clone(), value],
                ArgumentKind::Positional { .. } => vec![value],
            };
            added.push(Added {
                key: asked.key.clone(),
                source,
                words: new,
            });
        }
        (!added.is_empty()).then_some(added)
    }

    /// What the value is, as the plan writes it, and where it is from.
    fn source(&self, asked: &AskedInput<'_>) -> Option<(String, String)> {
        let fits = |value: &str| asked.input.allows(value) && !is_placeholder(value);
        if let Some(default) = &asked.input.default {
            let raw = Template::literal(default).raw;
            return Some((raw, "its default".to_owned()));
        }
        let name = env_name(&asked.key);
        if let Some(template) = self.command.env.get(&name)
            && template
                .resolve_str(self.facts.scope, &self.server.name)
                .is_ok_and(|value| fits(&value))
            // A secret that is written down must not be written twice.
            && !(template.is_literal() && (asked.input.is_secret || looks_secret(&name)))
        {
            let source = format!("what `env` says {name} is");
            return Some((template.raw.clone(), source));
        }
        let variable = name.to_ascii_lowercase();
        if let Some(found) = self.facts.scope.vars.get(&variable)
            && self.plan.vars.contains_key(&variable)
            && match found {
                Value::String(text) => fits(text),
                Value::Number(_) | Value::Bool(_) => fits(&found.to_string()),
                Value::Null | Value::Array(_) | Value::Object(_) => false,
            }
        {
            let reference = Part::Name(variable.clone()).reference();
            return Some((reference, format!("the plan's variable `{variable}`")));
        }
        let value = self.facts.scope.env.get(&name)?;
        if !fits(value) || is_of_the_system(&name) {
            return None;
        }
        let source = format!("the environment variable {name}");
        let part = if asked.input.is_secret || looks_secret(&name) {
            Part::Secret(name)
        } else {
            Part::Env(name)
        };
        Some((part.reference(), source))
    }
}

/// The required arguments that are not among the words.
fn lacking<'p>(package: &'p Package, words: &[String]) -> Vec<&'p Argument> {
    // The words behind the one that names the package are the server's. None
    // does where a script is started.
    let named_at = words.iter().position(|word| package.is_named_by(word));
    let mut positional = named_at.map(|at| positional_words(package, &words[at + 1..]));
    let mut lacking = Vec::new();
    let mut place = 0;
    for argument in &package.package_arguments {
        let is_wanted = argument.input.is_required && argument.input.value.is_none();
        match &argument.kind {
            ArgumentKind::Named { flag, .. } => {
                let name = named_key(flag);
                let is_there = words.iter().any(|word| {
                    word.strip_prefix(name)
                        .is_some_and(|rest| rest.is_empty() || rest.starts_with('='))
                });
                if is_wanted && !is_there {
                    lacking.push(argument);
                }
            }
            ArgumentKind::Positional { .. } => {
                // Only the next one can be appended.
                if positional == Some(place) && is_wanted {
                    lacking.push(argument);
                    positional = positional.map(|count| count + 1);
                }
                place += 1;
            }
        }
    }
    // Options first: what has no flag must stay together with its like.
    lacking.sort_by_key(|argument| matches!(argument.kind, ArgumentKind::Positional { .. }));
    lacking
}

/// How many words are neither flags nor values of these.
fn positional_words(package: &Package, words: &[String]) -> usize {
    let takes_value = |word: &str| {
        package.package_arguments.iter().any(|argument| {
            matches!(&argument.kind, ArgumentKind::Named { flag, bare: false, .. } if flag == word)
        })
    };
    let mut count = 0;
    let mut is_value = false;
    for word in words {
        if std::mem::take(&mut is_value) {
            continue;
        }
        if takes_value(word) {
            is_value = true;
        } else if !word.starts_with('-') {
            count += 1;
        }
    }
    count
}
