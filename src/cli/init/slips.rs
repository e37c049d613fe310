//! What was typed and can't be meant.

use super::super::doctor::find;
use super::from_package;
use super::origin::typed;
use super::shared::Shared;
use crate::cli::args::InitArgs;
use crate::cli::refusal::Refusal;
use crate::cli::settings::inherited_secrets;
use jelly_base::text::redact::{Redactor, looks_secret};
use jelly_base::text::{did_you_mean, one_line, sanitize, shell_command, shell_path};
use jelly_plan::Part;
use std::collections::BTreeSet;
use std::path::Path;

pub fn is_json(path: &str) -> bool {
    path.ends_with(".json")
}

/// Whether it can be read as a client's configuration.
pub fn is_config(shared: &Shared<'_>, path: &Path) -> bool {
    find::find(&[path.to_path_buf()], shared.world)
        .is_ok_and(|found| found.configs.iter().any(|config| config.has_servers_key))
}

/// Whether it can be read as a `server.json`.
pub fn is_server_json(shared: &Shared<'_>, path: &Path) -> bool {
    from_package::text_of(&shared.world.cwd.join(path))
        .is_ok_and(|text| jelly_package::read(&text).is_ok())
}

/// A file stands where a command, or a `server.json`, is wanted.
pub fn no_command(shared: &Shared<'_>, file: &str) -> String {
    let shown = sanitize(&shell_path(file)).into_owned();
    match is_config(shared, Path::new(file)) {
        true => {
            format!("error: {shown} is a client's configuration\nhelp: jelly init --config {shown}")
        }
        false => format!(
            "error: {shown} is a file, and no command\nhelp: of the registry's server.json: jelly \
             init {shown}; of a client's configuration: jelly init --config {shown}"
        ),
    }
}

/// Words stand where a URL is wanted.
pub fn no_url(shared: &Shared<'_>, args: &InitArgs, first: &str) -> String {
    // A command line that was quoted whole is one word.
    let words: Vec<String> = match args.names.as_slice() {
        [one] => shlex::split(one).unwrap_or_else(|| vec![one.clone()]),
        names => names.to_vec(),
    };
    let command = sanitize(&shell_command(&words)).into_owned();
    let redactor = Redactor::new(inherited_secrets(&shared.world.env));
    let flags = match args.retyped.flags_but(&[], &redactor) {
        flags if flags.is_empty() => flags,
        flags => format!("{flags} "),
    };
    let first = one_line(first, 80);
    format!(
        "error: `{first}` is not a URL, and no server.json\nhelp: a command stands behind `--`: jelly \
         init {flags}-- {command}; names of servers go with --config CONFIG"
    )
}

/// Flags that nothing would look at: most likely slips.
pub fn refuse_misplaced(args: &InitArgs) -> Result<(), Refusal> {
    let is_command = !args.command.is_empty();
    let is_package = args.config.is_none() && args.names.iter().any(|name| is_json(name));
    let is_file = args.config.is_some() || args.plan.is_some();
    let is_url = !is_command && !is_package && !is_file;
    let misplaced = [
        (
            "--header",
            !args.header.is_empty() && !is_url && !is_package,
            "a header is for a server that is reached by a URL; a command gets a variable with --env",
        ),
        (
            "--env",
            !args.env.is_empty() && !is_command,
            if is_url {
                "a variable is for a server that is started by a command; a URL gets --header"
            } else {
                "what a file leaves open is given with --arg NAME=VALUE, or in the environment"
            },
        ),
        (
            "--login",
            args.login && !is_url && !is_package,
            "a login is for a server that is reached by a URL",
        ),
        (
            "--registry",
            args.registry.is_some() && !is_package,
            "it chooses from the packages of a server.json",
        ),
    ];
    match misplaced.into_iter().find(|(_, is_there, _)| *is_there) {
        Some((flag, _, why)) => Err(Refusal::invalid(format!(
            "error: {flag} does not fit the server that is named\nhelp: {why}"
        ))),
        None => Ok(()),
    }
}

/// A value that was given with `--arg`.
#[derive(Debug, Clone)]
pub struct GivenValue {
    /// As the server gets it.
    pub text: String,
    /// As a plan writes it, where it names variables of the environment.
    pub reference: Option<String>,
    /// Those of these variables that hold a secret, with their values.
    pub variables: Vec<(String, String)>,
}

/// The values that were given, by the names under which they are asked for.
/// One that nothing asks for is most likely a slip.
pub fn given_values(
    shared: &Shared<'_>,
    known: &BTreeSet<String>,
) -> Result<Vec<(String, GivenValue)>, Refusal> {
    let given = shared.args.args.iter();
    given
        .map(|(name, value)| match meant(name, known) {
            Some(known) => Ok((known.to_owned(), given_value(shared, name, value)?)),
            None => Err(stranger(name, known)),
        })
        .collect()
}

/// `${secret:NAME}` and `${env:NAME}` stand for what the environment has, as in a plan.
fn given_value(shared: &Shared<'_>, name: &str, value: &str) -> Result<GivenValue, Refusal> {
    let (mut text, mut variables) = (String::new(), Vec::new());
    let mut is_reference = false;
    for part in typed(value) {
        let (variable, is_secret) = match part {
            Part::Env(variable) => {
                let is_secret = looks_secret(&variable);
                (variable, is_secret)
            }
            Part::Secret(variable) => (variable, true),
            other => {
                text.push_str(&match other {
                    Part::Text(text) => text,
                    other => other.reference(),
                });
                continue;
            }
        };
        let held = shared
            .world
            .env
            .get(&variable)
            .filter(|held| !held.is_empty());
        let Some(held) = held else {
            let variable = sanitize(&variable);
            return Err(Refusal::invalid(format!(
                "error: --arg {}: `{variable}` is not set\nhelp: set {variable} in the environment",
                sanitize(name)
            )));
        };
        text.push_str(held);
        is_reference = true;
        if is_secret {
            variables.push((variable, held.clone()));
        }
    }
    Ok(GivenValue {
        text,
        reference: is_reference.then(|| value.to_owned()),
        variables,
    })
}

/// The name that is meant: as it is, or but for the dashes of a flag and the
/// way in which its words are joined.
fn meant<'k>(name: &str, known: &'k BTreeSet<String>) -> Option<&'k str> {
    if let Some(known) = known.get(name) {
        return Some(known);
    }
    let bare = |name: &str| {
        let name = name.trim_start_matches('-').to_ascii_lowercase();
        name.replace('_', "-")
    };
    let mut alike = known.iter().filter(|known| bare(known) == bare(name));
    alike
        .next()
        .filter(|_| alike.next().is_none())
        .map(String::as_str)
}

fn stranger(name: &str, known: &BTreeSet<String>) -> Refusal {
    let all: Vec<&str> = known.iter().map(String::as_str).collect();
    let help = did_you_mean(name, all.iter().copied()).unwrap_or_else(|| match all.as_slice() {
        [] => "there is nothing to fill in".to_owned(),
        all => format!("there are: {}", all.join(", ")),
    });
    Refusal::invalid(format!(
        "error: --arg {name}: nothing has this name\nhelp: {help}"
    ))
}

#[cfg(test)]
mod tests {
    use super::meant;
    use std::collections::BTreeSet;

    #[test]
    fn a_name_is_known_however_its_words_are_joined() {
        let known = ["--local-timezone", "API_KEY", "a-b", "a_b"];
        let known: BTreeSet<String> = known.map(str::to_owned).into();
        for (name, wanted) in [
            ("local-timezone", Some("--local-timezone")),
            ("local_timezone", Some("--local-timezone")),
            ("--local-timezone", Some("--local-timezone")),
            ("api-key", Some("API_KEY")),
            ("a-b", Some("a-b")),
            ("A-B", None),
            ("timezone", None),
        ] {
            assert_eq!(meant(name, &known), wanted, "{name}");
        }
    }
}
