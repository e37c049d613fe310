//! Where a server is from: what was typed, or a client's configuration, as an
//! entry of a configuration; and that entry as plans write it.

use super::super::ask::{Question, ask, may_ask};
use super::super::named_server::alone;
pub use super::super::named_server::spot;
use super::shared::Shared;
use crate::cli::refusal::Refusal;
use jelly_base::text::redact::looks_secret;
use jelly_base::text::{one_line, sanitize};
use jelly_plan::{Part, Template};
use jelly_setup::doctor::{Config, Entry, Reached, Spot, variable_of};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// One server before it is started.
pub struct Origin {
    /// Absent where only the server itself can say.
    pub name: Option<String>,
    /// With this entry alone.
    pub config: Config,
    /// Where its client would start it; what lies below is named from the plan.
    pub folder: PathBuf,
    pub home: Option<PathBuf>,
    /// Answers to the configuration's inputs.
    pub answers: BTreeMap<String, String>,
    /// By the names of what was left open, what was typed for it, where that names variables.
    pub references: BTreeMap<String, String>,
    /// The environment as it is.
    pub known: BTreeMap<String, String>,
    /// The same with what was asked or told besides.
    pub env: BTreeMap<String, String>,
    /// What is secret besides what looks so: names and values.
    pub secrets: Vec<(String, String)>,
    /// The package that is launched, as plans write it: `package`,
    /// `package_args` and `env`.
    pub package: Option<Map<String, Value>>,
    pub words: Words,
}

/// Whose blanks stand in an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Words {
    /// Those of plans: it was typed for one.
    Plan,
    Client,
    /// There are none.
    Literal,
}

pub(super) fn check_name(name: &str) -> Result<(), Refusal> {
    let bad = name.is_empty()
        || name.starts_with('.')
        || name.trim() != name
        || name.contains(|c: char| c.is_control() || matches!(c, '/' | '\\' | '{' | '}' | '$'));
    if bad {
        return Err(Refusal::invalid(format!(
            "error: a server can't be called `{}`\nhelp: its name becomes a file's: no slashes, \
             braces or dots in front",
            one_line(name, 80)
        )));
    }
    Ok(())
}

pub(super) fn canonical(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

impl Origin {
    /// In the words of plans, with the environment that has what they name.
    pub fn typed(
        shared: &Shared<'_>,
        name: Option<String>,
        reached: Reached,
        env: BTreeMap<String, String>,
    ) -> Self {
        Self {
            config: alone(name.as_deref().unwrap_or("server"), reached),
            name,
            folder: canonical(&shared.world.cwd),
            home: None,
            answers: BTreeMap::new(),
            references: BTreeMap::new(),
            known: shared.world.env.clone(),
            env,
            secrets: Vec::new(),
            package: None,
            words: Words::Plan,
        }
    }

    /// Of a package that is launched so; secrets are apart.
    pub fn launched(
        shared: &Shared<'_>,
        name: Option<String>,
        reached: Reached,
        (secrets, env): (Vec<(String, String)>, BTreeMap<String, String>),
        package: Map<String, Value>,
    ) -> Self {
        Self {
            secrets,
            package: Some(package),
            words: Words::Literal,
            ..Self::typed(shared, name, reached, env)
        }
    }
}

/// `NAME=VALUE`, or `NAME` for what the environment has.
pub(super) fn variables(given: &[String]) -> Result<Vec<(String, Spot)>, Refusal> {
    given
        .iter()
        .map(|pair| match pair.split_once('=') {
            Some(("", _)) => Err(Refusal::invalid(format!(
                "error: --env {pair}: a variable has a name\nhelp: write NAME=VALUE, or NAME"
            ))),
            Some((name, value)) => Ok((name.to_owned(), spot(value))),
            None => {
                let kind = if looks_secret(pair) { "secret" } else { "env" };
                Ok((pair.clone(), spot(&format!("${{{kind}:{pair}}}"))))
            }
        })
        .collect()
}

pub(super) fn reached_by_url(shared: &Shared<'_>, url: &str) -> Result<Reached, Refusal> {
    Ok(Reached::Url {
        url: spot(url),
        headers: headers(shared)?,
    })
}

/// Those that were given.
pub(super) fn headers(shared: &Shared<'_>) -> Result<Vec<(String, Spot)>, Refusal> {
    let header = |header: &String| match header.split_once(':') {
        Some((name, value)) if !name.trim().is_empty() => {
            Ok((name.trim().to_owned(), spot(value.trim())))
        }
        Some(_) | None => Err(Refusal::invalid(
            "error: a header is written `NAME: VALUE`\nhelp: --header 'Authorization: Bearer \
             ${secret:TOKEN}' takes its value from the environment",
        )),
    };
    shared.args.header.iter().map(header).collect()
}

/// The name that stands in a blank, and the variable that has its value.
pub(super) fn name_in(blank: &str) -> Option<(String, String)> {
    let inside = blank.strip_prefix("${")?.strip_suffix('}')?;
    if let Some(id) = inside.strip_prefix("input:") {
        return Some((id.to_owned(), variable_of(id)));
    }
    let name = inside.strip_prefix("env:").unwrap_or(inside);
    Some((name.to_owned(), name.to_owned()))
}

/// The variables that a command line asks for, in the words of plans.
pub(super) fn typed_blanks(reached: &Reached) -> BTreeMap<String, String> {
    let config = alone("", reached.clone());
    let parts = config
        .entries
        .iter()
        .flat_map(Entry::spots)
        .flat_map(|spot| typed(&spot.text));
    parts
        .filter_map(|part| {
            let name = part.variable()?.to_owned();
            Some((name.clone(), name))
        })
        .collect()
}

/// Asks for what the environment does not have, or says all of it. What is
/// wanted has its name for people, and its variable.
pub(super) async fn ask_left(
    shared: &Shared<'_>,
    wanted: BTreeMap<String, String>,
    env: &mut BTreeMap<String, String>,
) -> Result<(), Refusal> {
    let mut missing = Vec::new();
    for (name, variable) in wanted {
        if env.get(&variable).is_some_and(|value| !value.is_empty()) {
            continue;
        }
        let question = Question {
            prompt: &name,
            options: &[],
            default: None,
            secret: looks_secret(&name),
        };
        match may_ask(shared.world) {
            true => match ask(&question).await {
                Some(value) => {
                    env.insert(variable, value);
                }
                None => missing.push(name),
            },
            false => missing.push(name),
        }
    }
    if missing.is_empty() {
        return Ok(());
    }
    let mut text = String::new();
    for name in &missing {
        text.push_str(&format!(
            "error: nothing says what `{}` is\n",
            sanitize(name)
        ));
    }
    let flags: Vec<String> = missing
        .iter()
        .map(|name| match shared.args.config {
            Some(_) => format!("--arg {}=VALUE", sanitize(name)),
            None => format!("{}=VALUE in the environment", sanitize(name)),
        })
        .collect();
    text.push_str(&format!("help: give {}", flags.join(", ")));
    if shared.args.config.is_some() {
        text.push_str(
            "; what is secret is better set in the environment, where no list of processes shows it",
        );
    }
    Err(Refusal::invalid(text))
}

/// A text in the words of plans, where it is one.
pub(super) fn typed(text: &str) -> Vec<Part> {
    let whole = || vec![Part::Text(text.to_owned())];
    match Template::parse(text) {
        Ok(template) => {
            let meant = |part: &Part| {
                matches!(
                    part,
                    Part::Text(_) | Part::Env(_) | Part::Secret(_) | Part::Workspace | Part::Tmp
                )
            };
            if template.parts.iter().all(meant) {
                template.parts
            } else {
                whole()
            }
        }
        Err(_) => whole(),
    }
}

impl Origin {
    pub fn entry(&self) -> &Entry {
        // There is one, always.
        &self.config.entries[0]
    }

    /// Whether it is from the command line, and so stands in no file.
    pub fn is_typed(&self) -> bool {
        self.words != Words::Client
    }
}

/// A name that is not taken yet: `base`, or with a number.
pub(super) fn free_name(base: String, is_taken: impl Fn(&String) -> bool) -> String {
    let numbered = (2..).map(|count| format!("{base}_{count}"));
    let mut names = std::iter::once(base.clone()).chain(numbered);
    names.find(|name| !is_taken(name)).unwrap_or(base)
}

/// A time as plans write it.
pub fn written_time(time: Duration) -> String {
    if time.subsec_nanos() == 0 {
        format!("{}s", time.as_secs())
    } else {
        format!("{}ms", time.as_millis())
    }
}
