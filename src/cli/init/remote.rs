//! A remote of a `server.json`: a URL and headers, with values for what they
//! leave open.

use super::super::ask::{Question, ask, may_ask};
use super::origin::{Origin, spot};
use super::shared::Shared;
use super::slips::{GivenValue, given_values};
use crate::cli::refusal::Refusal;
use indexmap::IndexMap;
use jelly_base::text::redact::looks_secret;
use jelly_base::text::sanitize;
use jelly_package::{EnvironmentVariable, Input, Remote, ServerJson, Variable, is_of_the_system};
use jelly_plan::Template;
use jelly_setup::doctor::{Reached, Spot, variable_of};
use jelly_setup::init::server_name;
use std::collections::{BTreeMap, BTreeSet};

/// The server behind the URL.
pub async fn from_remote(
    shared: &Shared<'_>,
    server: &ServerJson,
    remote: &Remote,
) -> Result<Vec<Origin>, Refusal> {
    let mut known = names_in(&remote.headers);
    known.extend(open(&remote.variables));
    let mut blanks = Blanks::new(shared, given_values(shared, &known)?);
    let url = blanks.filled(&remote.url, &remote.variables).await;
    let headers = blanks.headers(&remote.headers).await?;
    blanks.refuse_missing()?;
    let reached = Reached::Url {
        url: spot(&url),
        headers,
    };
    Ok(vec![Origin::typed(
        shared,
        server_name(&server.name),
        reached,
        blanks.env,
    )])
}

/// The names by which the parts of headers are asked for.
pub fn names_in(headers: &[EnvironmentVariable]) -> BTreeSet<String> {
    let whole = headers.iter().filter(|header| header.input.value.is_none());
    let whole = whole.map(|header| header.name.clone());
    whole
        .chain(headers.iter().flat_map(|header| open(&header.variables)))
        .collect()
}

fn open(variables: &IndexMap<String, Variable>) -> impl Iterator<Item = String> + '_ {
    let open = variables.iter().filter(|(_, input)| input.value.is_none());
    open.map(|(name, _)| name.clone())
}

/// What a remote, or the transport of a package, leaves open.
pub struct Blanks<'a> {
    shared: &'a Shared<'a>,
    /// By the names under which they are asked for.
    told: Vec<(String, GivenValue)>,
    /// With the values that were asked for or told.
    pub env: BTreeMap<String, String>,
    /// What people know of those that have no value.
    missing: BTreeMap<String, String>,
}

impl<'a> Blanks<'a> {
    pub fn new(shared: &'a Shared<'a>, told: Vec<(String, GivenValue)>) -> Self {
        Self {
            shared,
            told,
            env: shared.world.env.clone(),
            missing: BTreeMap::new(),
        }
    }

    /// Those that were typed, and those that are declared besides.
    pub async fn headers(
        &mut self,
        declared: &[EnvironmentVariable],
    ) -> Result<Vec<(String, Spot)>, Refusal> {
        let mut headers = super::origin::headers(self.shared)?;
        for header in declared {
            let given = headers
                .iter()
                .any(|(name, _)| name.eq_ignore_ascii_case(&header.name));
            if given {
                continue;
            }
            let value = match &header.input.value {
                Some(value) => Some(self.filled(value, &header.variables).await),
                None => self.value(&header.name, &header.input).await,
            };
            headers.extend(value.map(|value| (header.name.clone(), spot(&value))));
        }
        Ok(headers)
    }

    /// A text in the words of plans; `{name}` stands for a variable.
    async fn filled(&mut self, text: &str, variables: &IndexMap<String, Variable>) -> String {
        let mut written = String::new();
        let mut rest = text;
        while let Some(open) = rest.find('{') {
            let Some(length) = rest[open..].find('}') else {
                break;
            };
            let name = &rest[open + 1..open + length];
            written.push_str(&Template::literal(&rest[..open]).raw);
            match variables.get(name) {
                Some(input) => {
                    let value = match &input.value {
                        Some(value) => Some(Template::literal(value).raw),
                        None => self.value(name, input).await,
                    };
                    written.push_str(&value.unwrap_or_default());
                }
                None => written.push_str(&rest[open..=open + length]),
            }
            rest = &rest[open + length + 1..];
        }
        written.push_str(&Template::literal(rest).raw);
        written
    }

    /// A value in the words of plans: told, in the environment, asked for, or
    /// the default. What is secret stands in a variable.
    async fn value(&mut self, name: &str, input: &Input) -> Option<String> {
        let variable = variable_of(name);
        let secret = input.is_secret || looks_secret(name);
        let told = self.told.iter().find(|(given, _)| given == name);
        // What every shell sets is meant for nobody, least of all for another
        // machine.
        let is_there = !is_of_the_system(&variable)
            && self
                .env
                .get(&variable)
                .is_some_and(|value| !value.is_empty());
        let value = match told {
            Some((_, given)) => match &given.reference {
                Some(reference) => return Some(reference.clone()),
                None => given.text.clone(),
            },
            None if is_there => {
                let kind = if secret { "secret" } else { "env" };
                return Some(format!("${{{kind}:{variable}}}"));
            }
            None if input.is_required && may_ask(self.shared.world) => {
                match ask(&Question::of_input(name, input, secret)).await {
                    Some(value) => value,
                    None => return self.lacks(name, input),
                }
            }
            None => match &input.default {
                Some(value) => value.clone(),
                None if input.is_required => return self.lacks(name, input),
                None => return None,
            },
        };
        if !secret {
            return Some(Template::literal(&value).raw);
        }
        self.env.insert(variable.clone(), value);
        Some(format!("${{secret:{variable}}}"))
    }

    fn lacks(&mut self, name: &str, input: &Input) -> Option<String> {
        let about = input.description.clone().unwrap_or_default();
        self.missing.insert(name.to_owned(), about);
        None
    }

    /// All that has no value.
    pub fn refuse_missing(&self) -> Result<(), Refusal> {
        if self.missing.is_empty() {
            return Ok(());
        }
        let mut text = String::new();
        for (name, about) in &self.missing {
            let about = match about.as_str() {
                "" => String::new(),
                about => format!(" ({about})"),
            };
            text.push_str(&format!("error: nothing says what `{name}` is{about}\n"));
        }
        let ways: Vec<String> = self
            .missing
            .keys()
            .map(|name| {
                format!(
                    "--arg {name}=VALUE, or {}=VALUE in the environment",
                    variable_of(name)
                )
            })
            .collect();
        text.push_str(&format!("help: give {}", ways.join("; ")));
        Err(Refusal::invalid(sanitize(&text).into_owned()))
    }
}
