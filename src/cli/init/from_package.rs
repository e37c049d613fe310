//! The MCP registry's `server.json` → a server, with values for what its
//! package leaves open.

use super::super::ask::{Question, ask, may_ask};
use super::super::files::text_within;
use super::origin::{Origin, free_name, spot};
use super::remote;
use super::remote::{Blanks, names_in};
use super::shared::Shared;
use super::slips::{GivenValue, given_values};
use super::way::{self, Way};
use crate::cli::refusal::{Refusal, complain};
use jelly_base::text::sanitize;
use jelly_package::{Given, InputKind, Package, Trouble, Values, env_name, read, resolve};
use jelly_plan::Template;
use jelly_setup::doctor::Reached;
use jelly_setup::init::server_name;
use serde_json::{Map, Value};
use std::collections::BTreeSet;
use std::io;
use std::path::Path;

/// More than a `server.json` may have.
const MAX_BYTES: u64 = 5 << 20;

/// The server of a file, in one of the ways that it offers.
pub async fn from_server_json(shared: &Shared<'_>, path: &Path) -> Result<Vec<Origin>, Refusal> {
    let shown = path.display();
    let text = text_of(&shared.world.cwd.join(path))
        .map_err(|error| Refusal::invalid(format!("error: {shown} can't be read: {error}")))?;
    let server = read(&text).map_err(|error| {
        let lines: Vec<String> = error
            .problems
            .iter()
            .map(|problem| format!("error: {shown}:{}", sanitize(&problem.to_string())))
            .collect();
        Refusal::invalid(lines.join("\n"))
    })?;
    for warning in &server.warnings {
        complain(&format!(
            "warning: {shown}:{}",
            sanitize(&warning.to_string())
        ));
    }
    let package = match way::chosen(shared, path, &server).await? {
        Way::Remote(remote) => return remote::from_remote(shared, &server, remote).await,
        Way::Package(package) => package,
    };
    from_package(shared, &server.name, package).await
}

/// The text of a file that may be one.
pub fn text_of(path: &Path) -> io::Result<String> {
    text_within(path, MAX_BYTES)
}

/// The server that a package is.
async fn from_package(
    shared: &Shared<'_>,
    server: &str,
    package: &Package,
) -> Result<Vec<Origin>, Refusal> {
    let mut known = names_in(&package.transport.headers);
    known.extend(package.inputs().into_iter().map(|input| input.key));
    let given = given_values(shared, &known)?;
    let (values, mut written, told) = values(shared, package, &given).await?;
    let mut blanks = Blanks::new(shared, given);
    let headers = match &package.transport.url {
        Some(_) => blanks.headers(&package.transport.headers).await?,
        None if shared.args.header.is_empty() => Vec::new(),
        None => {
            return Err(Refusal::invalid(
                "error: --header does not fit the server that is named\nhelp: its package is \
                 started, and talked to by pipes",
            ));
        }
    };
    let launch = match resolve(package, &values) {
        Ok(resolved) => {
            for warning in &resolved.warnings {
                complain(&format!("warning: {}", sanitize(&warning.0)));
            }
            resolved.launch
        }
        Err(troubles) => return Err(refused(&troubles).and(blanks.refuse_missing())),
    };
    let reached = Reached::Command {
        command: spot(&launch.command),
        args: launch.args.iter().map(|piece| spot(&piece.text)).collect(),
        env: launch
            .env
            .iter()
            .map(|(name, piece)| (name.clone(), spot(&piece.text)))
            .collect(),
        cwd: None,
        env_file: None,
    };
    blanks.refuse_missing()?;
    if let Some(url) = &launch.url {
        written.insert("url".to_owned(), Value::from(Template::literal(url).raw));
        let headers = headers.into_iter();
        let headers: Map<String, Value> = headers
            .map(|(name, spot)| (name, Value::from(spot.text)))
            .collect();
        if !headers.is_empty() {
            written.insert("headers".to_owned(), Value::Object(headers));
        }
    }
    let name = server_name(server).or_else(|| server_name(&package.identifier));
    written.shift_insert(0, "package".to_owned(), package.to_plan());
    let mut secrets = launch.secrets;
    secrets.extend(told);
    Ok(vec![Origin::launched(
        shared,
        name,
        reached,
        (secrets, blanks.env),
        written,
    )])
}

/// What was told, and what is asked for besides: for the launch, and as
/// `package_args` and `env` of a plan, secrets by the names of variables, which
/// come with their values.
async fn values(
    shared: &Shared<'_>,
    package: &Package,
    given: &[(String, GivenValue)],
) -> Result<(Values, Map<String, Value>, Vec<(String, String)>), Refusal> {
    let (mut package_args, mut env) = (Map::new(), Map::new());
    let mut secrets = Secrets::new(package);
    let mut values = Values {
        inherited: shared.world.env.clone(),
        ..Values::default()
    };
    let inputs = package.inputs();
    for asked in inputs {
        let told: Vec<Given> = given
            .iter()
            .filter(|(name, _)| *name == asked.key)
            .map(|(_, value)| Given::Text(value.text.clone()))
            .collect();
        let by_reference = |text: &str| {
            let mut given = given.iter().map(|(_, value)| value);
            given.find(|value| value.reference.is_some() && value.text == text)
        };
        let of_environment = asked.kind == InputKind::Environment;
        let is_there = of_environment && values.inherited.contains_key(&asked.key);
        let given = match told.as_slice() {
            [] if asked.input.is_required && !is_there && may_ask(shared.world) => {
                let secret = asked.input.is_secret;
                let question = Question::of_input(&asked.key, asked.input, secret);
                ask(&question).await.map(Given::Text)
            }
            // It is there already; the plan says that it needs it, and what is
            // secret is known as such.
            [] if is_there => {
                let kind = if asked.input.is_secret {
                    "secret"
                } else {
                    "env"
                };
                env.insert(
                    asked.key.clone(),
                    Value::from(format!("${{{kind}:{}}}", asked.key)),
                );
                None
            }
            [] => None,
            [one] => Some(one.clone()),
            several => Some(Given::List(several.to_vec())),
        };
        let Some(given) = given else { continue };
        let mut write = |value: &Given| match value {
            Given::Text(text) if by_reference(text).is_some() => {
                let given = by_reference(text);
                let variables = given.iter().flat_map(|given| &given.variables);
                secrets.told.extend(variables.cloned());
                Value::from(given.and_then(|given| given.reference.clone()))
            }
            Given::Text(text) if asked.input.is_secret => {
                let name = secrets.name(&asked.key, of_environment, text);
                Value::from(format!("${{secret:{name}}}"))
            }
            Given::Text(text) => Value::from(Template::literal(text).raw),
            _ => Value::Null,
        };
        let written = match &given {
            Given::List(several) => several.iter().map(&mut write).collect(),
            one => write(one),
        };
        if of_environment {
            env.insert(asked.key.clone(), written);
            values.environment.insert(asked.key, given);
        } else {
            package_args.insert(asked.key.clone(), written);
            values.arguments.insert(asked.key, given);
        }
    }
    let mut map = Map::new();
    for (key, part) in [("package_args", package_args), ("env", env)] {
        if !part.is_empty() {
            map.insert(key.to_owned(), Value::Object(part));
        }
    }
    Ok((values, map, secrets.told))
}

/// Secrets that were told or asked for, each with a variable of its own.
struct Secrets {
    /// By the variables that the plan names.
    told: Vec<(String, String)>,
    /// Variables of the package itself have their names already.
    taken: BTreeSet<String>,
}

impl Secrets {
    fn new(package: &Package) -> Self {
        let own = package.environment_variables.iter();
        Self {
            told: Vec::new(),
            taken: own.map(|variable| variable.name.clone()).collect(),
        }
    }

    fn name(&mut self, key: &str, of_environment: bool, value: &str) -> String {
        let name = match of_environment {
            true => key.to_owned(),
            false => free_name(env_name(key), |name| self.taken.contains(name)),
        };
        self.taken.insert(name.clone());
        self.told.push((name.clone(), value.to_owned()));
        name
    }
}

/// All that is in the way, with the flags that help.
fn refused(troubles: &[Trouble]) -> Refusal {
    let mut text = String::new();
    let mut flags = Vec::new();
    for trouble in troubles {
        text.push_str(&format!("error: {}\n", sanitize(&trouble.to_string())));
        if let Trouble::Missing(lack) = trouble {
            flags.push(match lack.kind {
                InputKind::Environment => format!("{}=VALUE in the environment", lack.key),
                InputKind::Argument | InputKind::RuntimeArgument | InputKind::Variable { .. } => {
                    format!("--arg {}=VALUE", lack.key)
                }
            });
        }
    }
    if !flags.is_empty() {
        text.push_str(&format!("help: give {}", sanitize(&flags.join(", "))));
    }
    Refusal::invalid(text.trim_end().to_owned())
}
