//! `required_argument`: what the server's package requires is not given, and
//! the plan or its surroundings say what it is.
//!
//! A declared source is, in this order: the default of the definition; a
//! variable of the argument's name in the server's `env`; a variable of the
//! plan with that name; an environment variable with that name. For
//! `--api-key`, these are `API_KEY`, `api_key` and `API_KEY`.

use super::types::{Facts, Proposal, RepairId};
use jelly_base::model::{Diagnosis, Failure, Phase, PlanIssue};
use jelly_base::text::is_placeholder;
use jelly_base::text::redact::looks_secret;
use jelly_package::{
    self as package, Argument, ArgumentKind, AskedInput, InputKind, Package, Trouble, env_name,
    is_of_the_system, named_key,
};
use jelly_plan::{Command, DocPath, PackageUse, Part, Plan, PlanEdit, Server, Template};
use serde_json::Value;

pub(super) fn propose(
    plan: &Plan,
    failure: &Failure,
    diagnosis: &Diagnosis,
    facts: &Facts<'_>,
) -> Option<Proposal> {
    let server = plan.servers.get(failure.server.as_ref()?)?;
    let command = server.command()?;
    let used = command.package.as_deref()?;
    let search = Search {
        plan,
        server,
        command,
        facts,
    };
    let added = match (&failure.issue, &command.command) {
        (Some(PlanIssue::MissingPackageArgument { .. }), None) => search.given(used)?,
        // Beside a command, the definition says what its `args` lack.
        (None, Some(_))
            if diagnosis.root_cause == "missing_argument"
                && failure.step.is_none()
                && matches!(failure.phase, Some(Phase::Spawn | Phase::Handshake)) =>
        {
            search.words(&used.package)?
        }
        _ => return None,
    };
    let named: Vec<String> = added.iter().map(|a| format!("`{}`", a.key)).collect();
    let sources: Vec<&str> = added.iter().map(|a| a.source.as_str()).collect();
    let mut proposal = Proposal::new(
        RepairId::RequiredArgument,
        format!("servers.{}", server.name),
        format!(
            "gave {} the {} {}, which its package requires: {}",
            server.name,
            if added.len() == 1 {
                "argument"
            } else {
                "arguments"
            },
            named.join(" and "),
            sources.join("; ")
        ),
    );
    proposal.edits = search.edits(used, &added);
    proposal.servers_touched.push(server.name.clone());
    Some(proposal)
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

    fn edits(&self, used: &PackageUse, added: &[Added]) -> Vec<PlanEdit> {
        let set = |path: DocPath, value: Value| PlanEdit::Set { path, value };
        let text = |word: &String| Value::String(word.clone());
        let words = || added.iter().flat_map(|added| &added.words);
        let named = || {
            let pairs = added.iter().zip(words());
            pairs.map(|(added, word)| (added.key.clone(), text(word)))
        };
        match (&self.command.command, self.command.args.len()) {
            (None, _) if used.args.is_empty() => {
                let at = self.server.path.key("package_args");
                vec![set(at, Value::Object(named().collect()))]
            }
            (None, _) => {
                let at = self.server.path.key("package_args");
                named()
                    .map(|(key, value)| set(at.key(key), value))
                    .collect()
            }
            (Some(_), 0) => {
                let at = self.server.path.key("args");
                vec![set(at, words().map(text).collect())]
            }
            (Some(_), count) => {
                let at = self.server.path.key("args");
                let places = words().zip(count..);
                places
                    .map(|(word, at_place)| set(at.index(at_place), text(word)))
                    .collect()
            }
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
    let own = own_words(package, words);
    let mut positional = own.map(|own| positional_words(package, own));
    let mut lacking = Vec::new();
    let mut place = 0;
    for argument in &package.package_arguments {
        match &argument.kind {
            ArgumentKind::Named { flag, .. } => {
                let name = named_key(flag);
                let is_there = words.iter().any(|word| {
                    word.strip_prefix(name)
                        .is_some_and(|rest| rest.is_empty() || rest.starts_with('='))
                });
                if argument.input.is_required && argument.input.value.is_none() && !is_there {
                    lacking.push(argument);
                }
            }
            ArgumentKind::Positional { .. } => {
                // Only the next one can be appended.
                if positional == Some(place)
                    && argument.input.is_required
                    && argument.input.value.is_none()
                {
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

/// The words behind the one that names the package: those of the server.
/// Absent where none does, as when a script is started.
fn own_words<'w>(package: &Package, words: &'w [String]) -> Option<&'w [String]> {
    let at = words.iter().position(|word| package.is_named_by(word))?;
    Some(&words[at + 1..])
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
