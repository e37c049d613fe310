//! The same look for a server of a plan: what doctor sees of a server that did
//! not start, `jelly run` says too.

use super::entries::Started;
use super::npm::{install_by, package_manager};
use super::prescribe::{Doctor, RemedyContext};
use super::sight::Sight;
use crate::doctor::clients::Client;
use crate::doctor::entry::{Config, Entry, Place, Reached, Spot};
use jelly_base::model::{Diagnosis, Failure, FixKind, Phase};
use jelly_base::text::redact::Redactor;
use std::path::{Path, PathBuf};

/// Where a plan defines a server, and what can be seen there.
#[derive(Clone, Copy)]
pub struct PlanServer<'a> {
    pub plan: &'a Path,
    /// The plan is JSON: what is to be pasted into it is so too.
    pub is_json: bool,
    pub place: Place,
    pub redactor: &'a Redactor,
    pub home: Option<&'a Path>,
    pub sight: &'a dyn Sight,
}

/// Makes the diagnosis of a server that did not start more precise by what a
/// look at the machine shows; whatever else it says stays.
pub fn look(diagnosis: &mut Diagnosis, failure: &Failure, server: &PlanServer<'_>) {
    let [command, args @ ..] = failure.argv.as_slice() else {
        return;
    };
    let spot = |text: &str| Spot {
        text: text.to_owned(),
        place: server.place,
        is_literal: false,
    };
    let env = failure.env_delta.iter();
    let entry = Entry {
        name: failure.server.clone().unwrap_or_default(),
        place: server.place,
        disabled: false,
        is_built_in: false,
        reached: Some(Reached::Command {
            command: spot(command),
            args: args.iter().map(|arg| spot(arg)).collect(),
            env: env
                .filter_map(|(name, value)| Some((name.clone(), spot(value.as_str()?))))
                .collect(),
            cwd: failure.cwd.as_deref().map(spot),
            env_file: None,
        }),
        says_sse: None,
        own_limit: None,
        flaws: Vec::new(),
        kept: Vec::new(),
        notes: Vec::new(),
    };
    let config = Config {
        path: server.plan.to_owned(),
        client: match server.is_json {
            true => Client::JsonPlan,
            false => Client::Plan,
        },
        entries: Vec::new(),
        inputs: Vec::new(),
        has_servers_key: true,
    };
    let context = RemedyContext {
        config: &config,
        entry: &entry,
        failure,
        redactor: server.redactor,
        home: server.home,
        sight: server.sight,
        proven: None,
        tried: false,
    };
    let format = config.client.format();
    if let Some(started) = Started::new(&entry, format, server.redactor)
        && let Some(seen) = Doctor::new(diagnosis, &context, started).seen(&diagnosis.root_cause)
    {
        seen.into(diagnosis, &config, server.redactor);
    } else if let Some(started) = Started::new(&entry, format, server.redactor) {
        let doctor = Doctor::new(diagnosis, &context, started);
        let cause = &*diagnosis.root_cause;
        let remedy = match cause {
            "invalid_argument" => Some(doctor.lacking_flag()),
            "missing_module" => Some(doctor.remedy(cause)),
            "command_not_found" if is_own_command(failure) => doctor.known_command(),
            "missing_file" if starts_here(failure) => Some(doctor.remedy(cause)),
            _ => None,
        };
        if let Some(remedy) = remedy {
            remedy.apply(&mut diagnosis.advice, &config, server.redactor);
        }
    }
    let fixes = diagnosis.advice.fix.iter_mut();
    let mut members = fixes.filter(|fix| fix.kind == FixKind::Member).peekable();
    // The plan is not read for the many failures that have none.
    if members.peek().is_some() && stands_in_braces(server) {
        members.for_each(|fix| fix.text = fix.text.replace('\n', ", "));
    }
    // What no look at the machine made better.
    if let Some(manager) = package_manager(&folder_of(failure, server), server.sight) {
        install_by(manager, &mut diagnosis.advice.fix);
    }
}

/// Whether the server's own command was not to be had; one that it starts is another's.
fn is_own_command(failure: &Failure) -> bool {
    let is_unstarted = matches!(failure.phase, Some(Phase::Config | Phase::Spawn));
    is_unstarted
        && !failure
            .argv
            .iter()
            .chain(&failure.cwd)
            .any(|text| text.contains("${"))
}

/// Whether its start failed, and its paths can be looked at: a folder that only
/// this run had is gone.
fn starts_here(failure: &Failure) -> bool {
    let mut texts = failure.argv.iter().chain(&failure.cwd);
    failure.phase == Some(Phase::Handshake) && !texts.any(|text| text.contains("${"))
}

/// Whether the plan has the server on one line, between braces.
fn stands_in_braces(server: &PlanServer<'_>) -> bool {
    let line = server.place.line.checked_sub(1);
    let text = server.sight.text(server.plan);
    let line = line.and_then(|line| text.as_deref()?.lines().nth(line).map(str::to_owned));
    line.is_some_and(|line| line.contains('{'))
}

/// Where the code of the server lies, as far as its command tells.
fn folder_of(failure: &Failure, server: &PlanServer<'_>) -> PathBuf {
    let plan = server.plan.parent().unwrap_or(Path::new(""));
    let cwd = plan.join(failure.cwd.as_deref().unwrap_or_default());
    let mut files = failure.argv.iter().skip(1).map(|arg| cwd.join(arg));
    let script = files.find(|file| server.sight.is_there(file) && !server.sight.is_folder(file));
    let folder = script.and_then(|file| file.parent().map(Path::to_owned));
    folder.unwrap_or(cwd)
}
