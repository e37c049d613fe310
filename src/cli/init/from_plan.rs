//! A server of a plan: another plan for it, in the same words.

use super::super::invalid::Invalid;
use super::super::named_server::one_of;
use super::super::settings::project_dir;
use super::origin::{Origin, ask_left, check_name, spot, typed_blanks};
use super::shared::Shared;
use crate::cli::refusal::Refusal;
use jelly_base::text::sanitize;
use jelly_plan::{Part, Plan, PlanSource, Template, Transport, load};
use jelly_setup::doctor::{Reached, Spot};
use serde_json::Value;
use std::path::Path;

/// The one that is meant.
pub async fn from_plan(shared: &Shared<'_>, path: &Path) -> Result<Vec<Origin>, Refusal> {
    let (args, world) = (shared.args, shared.world);
    let plan = PlanSource::read(path).map_err(Invalid::from);
    let plan = plan.and_then(|source| Ok(load(source)?));
    let plan = plan.map_err(|invalid| {
        Refusal::invalid(invalid.render(world.colors_stderr(), &shared.redactor))
    })?;
    let shown = path.display().to_string();
    let all: Vec<&str> = plan.servers.keys().map(String::as_str).collect();
    let name = one_of(&shown, args.server.as_deref(), &all)?;
    let unfit = |why: &str| {
        Refusal::with_help(
            format!("{shown}: the server `{}` {why}", sanitize(&name)),
            "name its command behind `--`, or its URL",
        )
    };
    let Some(server) = plan.servers.get(&name) else {
        return Err(unfit("is gone"));
    };
    let written = |template: &Template| written(template, &plan).map_err(&unfit);
    let pairs = |all: &indexmap::IndexMap<String, Template>| {
        all.iter()
            .map(|(name, value)| Ok((name.clone(), written(value)?)))
            .collect::<Result<Vec<_>, Refusal>>()
    };
    let reached = match &server.transport {
        Transport::Stdio(command) => match (&command.command, &command.package) {
            (Some(first), None) => Reached::Command {
                command: written(first)?,
                args: command.args.iter().map(written).collect::<Result<_, _>>()?,
                env: pairs(&command.env)?,
                cwd: command.cwd.as_ref().map(written).transpose()?,
                env_file: None,
            },
            (_, _) => return Err(unfit("is started from a package")),
        },
        Transport::Http {
            url,
            headers,
            auth: None,
            command: None,
        } => Reached::Url {
            url: written(url)?,
            headers: pairs(headers)?,
        },
        Transport::Http { command: None, .. } => return Err(unfit("has an `auth` of its own")),
        Transport::Http { .. } => {
            return Err(unfit("is started by a command and reached by a URL"));
        }
    };
    let folder = project_dir(None, path)
        .map_err(|error| Refusal::with_help(format!("{shown}: {error}"), "name a plan"))?;
    let mut env = world.env.clone();
    ask_left(shared, typed_blanks(&reached), &mut env).await?;
    let name = Some(name).filter(|name| check_name(name).is_ok());
    Ok(vec![Origin {
        folder,
        ..Origin::typed(shared, name, reached, env)
    }])
}

/// A text of the plan, with its variables filled in: another plan does not have
/// them.
fn written(template: &Template, plan: &Plan) -> Result<Spot, &'static str> {
    let mut text = String::new();
    for part in &template.parts {
        match part {
            Part::Text(literal) => text.push_str(&Template::literal(literal).raw),
            Part::Env(_) | Part::Secret(_) | Part::Workspace | Part::Tmp => {
                text.push_str(&part.reference());
            }
            Part::Port(_) => return Err("has a port that the plan chooses"),
            // The loader lets no server have one.
            Part::File(_) | Part::Base64(_) => return Err("is given a file"),
            Part::Name(name) => match plan.vars.get(name) {
                Some(Value::String(value)) if value.contains("${") => {
                    return Err("uses variables that use others");
                }
                Some(Value::String(value)) => text.push_str(&Template::literal(value).raw),
                Some(other @ (Value::Number(_) | Value::Bool(_))) => {
                    text.push_str(&other.to_string());
                }
                Some(_) | None => return Err("uses variables that are no texts"),
            },
        }
    }
    Ok(spot(&text))
}
