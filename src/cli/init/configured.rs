//! Servers of a client's configuration, with values for what it leaves open.

use super::super::doctor::{ask as inputs, find};
use super::super::settings::World;
use super::origin::{Origin, Words, ask_left, canonical, check_name, name_in};
use super::shared::Shared;
use super::slips::{GivenValue, given_values, is_server_json};
use crate::cli::refusal::{Refusal, complain};
use jelly_base::text::{did_you_mean, is_placeholder, sanitize, shell_path, shell_word};
use jelly_setup::doctor::{Config, Entry, Piece, Reached, Surroundings, pieces, variable_of};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Those that are meant.
pub async fn from_config(shared: &Shared<'_>, path: &Path) -> Result<Vec<Origin>, Refusal> {
    let (args, world) = (shared.args, shared.world);
    let found = find::find(&[path.to_path_buf()], world)?;
    let unread = found.summaries.iter().find_map(|file| file.error.as_ref());
    if let Some(problem) = unread {
        let help = match is_server_json(shared, path) {
            true => Some(format!(
                "the registry's server.json is given without --config: jelly init {}",
                shell_path(&path.display().to_string())
            )),
            false => problem.help.clone(),
        };
        let help = help.map(|help| format!("\nhelp: {help}"));
        return Err(Refusal::invalid(format!(
            "error: {}: {}{}",
            problem.at,
            problem.what,
            help.unwrap_or_default()
        )));
    }
    let mut origins = Vec::new();
    for (config, folder) in found.configs.iter().zip(&found.folders) {
        let names: Vec<String> = args.names.iter().chain(&args.server).cloned().collect();
        let entries = selected(config, &names)?;
        if entries.len() > 1 && (args.output.is_some() || args.name.is_some()) {
            let names: Vec<&str> = entries.iter().map(|entry| entry.name.as_str()).collect();
            return Err(Refusal::invalid(format!(
                "error: {} has several servers, and -o and --name are for one\nhelp: name the one \
                 that is meant: {}",
                config.path.display(),
                sanitize(&names.join(", "))
            )));
        }
        let config = Config {
            entries,
            ..config.clone()
        };
        origins.extend(filled(shared, &config, folder, found.home.as_deref()).await?);
    }
    Ok(origins)
}

/// The entries that are meant.
fn selected(config: &Config, names: &[String]) -> Result<Vec<Entry>, Refusal> {
    for name in names {
        if !config.entries.iter().any(|entry| &entry.name == name) {
            let all: Vec<&str> = config.entries.iter().map(|e| e.name.as_str()).collect();
            let help = did_you_mean(name, all.iter().copied());
            let help = help.unwrap_or_else(|| format!("there are: {}", all.join(", ")));
            return Err(Refusal::invalid(format!(
                "error: {} has no server `{name}`\nhelp: {}",
                config.path.display(),
                sanitize(&help)
            )));
        }
    }
    let entries: Vec<Entry> = config
        .entries
        .iter()
        .filter(|entry| match names {
            [] => !entry.disabled && !entry.is_built_in,
            names => names.contains(&entry.name),
        })
        .cloned()
        .map(|entry| Entry {
            disabled: false,
            ..entry
        })
        .collect();
    let shown = config.path.display();
    let left_out = |is: fn(&Entry) -> bool| -> Vec<&str> {
        let left_out = config.entries.iter().filter(|entry| is(entry));
        let left_out = left_out.filter(|_| names.is_empty());
        left_out.map(|entry| entry.name.as_str()).collect()
    };
    let off = left_out(|entry| entry.disabled && !entry.is_built_in);
    let own = left_out(|entry| entry.is_built_in);
    if entries.is_empty() {
        return Err(Refusal::invalid(match off.first() {
            None if !own.is_empty() => {
                format!("error: {shown} has no servers but those that its client starts itself")
            }
            None => format!("error: {shown} has no servers"),
            Some(first) => format!(
                "error: {shown} has no server that is not disabled\nhelp: named, a disabled one is \
                 taken too: jelly init --config {} {}",
                shell_path(&shown.to_string()),
                sanitize(&shell_word(first))
            ),
        }));
    }
    if !off.is_empty() {
        complain(&format!(
            "note: disabled in {shown}, and left out unless they are named: {}",
            sanitize(&off.join(", "))
        ));
    }
    if !own.is_empty() {
        complain(&format!(
            "note: left out of {shown}, since its client starts them itself: {}",
            sanitize(&own.join(", "))
        ));
    }
    for entry in &entries {
        if entry.is_built_in {
            return Err(Refusal::invalid(format!(
                "error: {}: `{}` is a part of its client, which starts it itself\nhelp: name a \
                 server that has a command or a URL",
                config.at(entry.place),
                sanitize(&entry.name)
            )));
        }
        if entry.reached.is_none() {
            let flaw = entry.flaws.first();
            return Err(Refusal::invalid(format!(
                "error: {}: {}\nhelp: {}",
                flaw.map_or_else(|| config.at(entry.place), |flaw| flaw.at.clone()),
                flaw.map_or("this is no server that can be started", |flaw| &flaw.what),
                flaw.map_or("`jelly doctor` says more", |flaw| &flaw.fix),
            )));
        }
    }
    Ok(entries)
}

/// The entries with values for all of their blanks.
async fn filled(
    shared: &Shared<'_>,
    config: &Config,
    folder: &Path,
    home: Option<&Path>,
) -> Result<Vec<Origin>, Refusal> {
    let mut world = World::clone(shared.world);
    let mut config = config.clone();
    for entry in &mut config.entries {
        blanks_for_placeholders(entry);
    }
    let used = inputs::used_inputs(&config);
    let mut known: BTreeSet<String> = used.map(|input| input.id.clone()).collect();
    let nothing = BTreeMap::new();
    let bare = Surroundings {
        env: &nothing,
        inputs: &nothing,
        project: folder,
        home,
    };
    let names = |around: &Surroundings<'_>| -> BTreeMap<String, String> {
        let spots = config.entries.iter().flat_map(Entry::spots);
        spots
            .flat_map(|spot| pieces(&spot.text, around))
            .filter_map(|piece| match piece {
                Piece::Left(blank) => name_in(&blank),
                Piece::Text(_) | Piece::Variable { .. } | Piece::Answer { .. } => None,
            })
            .collect()
    };
    let variables = names(&bare);
    known.extend(variables.keys().cloned());
    let given = given_values(shared, &known)?;
    let is_input = |name: &String| config.inputs.iter().any(|input| &input.id == name);
    for (name, value) in given.iter().filter(|(name, _)| is_input(name)) {
        world.env.insert(variable_of(name), value.text.clone());
    }
    let answers = inputs::answers_of(&config, false, &world, &shared.redactor).await;
    let around = Surroundings {
        env: &world.env,
        inputs: &answers,
        ..bare
    };
    let missing = names(&around);
    let mut env = world.env.clone();
    let of_variables = |(name, value): &(String, GivenValue)| {
        Some((variables.get(name)?.clone(), value.text.clone()))
    };
    env.extend(given.iter().filter_map(of_variables));
    env.extend(
        answers
            .iter()
            .map(|(id, value)| (variable_of(id), value.clone())),
    );
    ask_left(shared, missing, &mut env).await?;
    // What was given as a variable stands in the plan as one.
    let named: Vec<(String, String)> = given
        .iter()
        .flat_map(|(_, value)| value.variables.iter().cloned())
        .collect();
    let references = given.iter().filter_map(|(name, value)| {
        let reference = value.reference.clone()?;
        Some((name.clone(), reference))
    });
    let references: BTreeMap<String, String> = references.collect();
    Ok(config
        .entries
        .iter()
        .map(|entry| Origin {
            name: Some(entry.name.clone()).filter(|name| check_name(name).is_ok()),
            config: Config {
                entries: vec![entry.clone()],
                ..config.clone()
            },
            folder: canonical(folder),
            home: home.map(Path::to_path_buf),
            answers: answers.clone(),
            references: references.clone(),
            known: world.env.clone(),
            env: env.clone(),
            secrets: named.clone(),
            package: None,
            words: Words::Client,
        })
        .collect())
}

/// `<YOUR_KEY>` where a variable's value belongs is a blank of its name.
fn blanks_for_placeholders(entry: &mut Entry) {
    if let Some(Reached::Command { env, .. }) = &mut entry.reached {
        for (name, spot) in env {
            if is_placeholder(&spot.text) {
                spot.text = format!("${{env:{name}}}");
            }
        }
    }
}
