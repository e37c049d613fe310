//! Which of the packages and remotes of a `server.json` is meant.

use super::super::ask::{Question, ask, may_ask};
use super::shared::Shared;
use crate::cli::args::RegistryChoice;
use crate::cli::refusal::{Refusal, complain};
use jelly_base::text::{one_line, sanitize};
use jelly_package::{Package, Registry, Remote, ServerJson};
use jelly_process::{CommandSpec, check};
use std::path::Path;

/// How a server is come by.
#[derive(Clone, Copy)]
pub enum Way<'a> {
    Package(&'a Package),
    Remote(&'a Remote),
}

impl Way<'_> {
    /// Absent for what nothing starts.
    fn kind(self) -> Option<RegistryChoice> {
        match self {
            Self::Remote(_) => Some(RegistryChoice::Remote),
            Self::Package(package) => match package.registry {
                Registry::Npm => Some(RegistryChoice::Npm),
                Registry::Pypi => Some(RegistryChoice::Pypi),
                Registry::Oci => Some(RegistryChoice::Oci),
                Registry::Nuget => Some(RegistryChoice::Nuget),
                Registry::Other(_) => None,
            },
        }
    }

    /// As people are told of it.
    fn shown(self) -> String {
        let text = match self {
            Self::Remote(remote) => format!("remote {}", remote.url),
            Self::Package(package) => {
                format!("{} {}", package.registry.name(), package.identifier)
            }
        };
        sanitize(&one_line(&text, 120)).into_owned()
    }

    /// Whether it can be started here, as far as a look tells.
    fn is_there(self, shared: &Shared<'_>) -> bool {
        match self {
            Self::Remote(_) => true,
            Self::Package(package) => package.launcher().is_some_and(|launcher| {
                let spec = CommandSpec {
                    argv: vec![launcher.to_owned()],
                    cwd: shared.world.cwd.clone(),
                    env: Vec::new(),
                };
                check(&spec).is_ok()
            }),
        }
    }
}

/// The one that was named, or picked, or the first that can be started here:
/// packages before remotes, since whoever has the package can break it.
pub async fn chosen<'a>(
    shared: &Shared<'_>,
    path: &Path,
    server: &'a ServerJson,
) -> Result<Way<'a>, Refusal> {
    let shown = path.display();
    let packages = server.packages.iter().map(Way::Package);
    let remotes = server.remotes.iter().map(Way::Remote);
    let all: Vec<Way<'_>> = packages
        .chain(remotes)
        .filter(|way| way.kind().is_some())
        .collect();
    if all.is_empty() {
        return Err(Refusal::invalid(format!(
            "error: {shown} has no package that can be fetched and started, and no remote\nhelp: \
             npm, PyPI, OCI and NuGet are known; a command that starts it stands behind `--`, as \
             in `jelly init -- COMMAND`"
        )));
    }
    let labels: Vec<String> = all.iter().map(|way| way.shown()).collect();
    let wanted: Vec<Way<'_>> = match shared.args.registry {
        None => all.clone(),
        Some(kind) => all
            .iter()
            .copied()
            .filter(|way| way.kind() == Some(kind))
            .collect(),
    };
    let here: Vec<Way<'_>> = wanted
        .iter()
        .copied()
        .filter(|way| way.is_there(shared))
        .collect();
    // What is not there fails with the words for it.
    let candidates = if here.is_empty() { &wanted } else { &here };
    let Some(first) = candidates.first().copied() else {
        return Err(Refusal::invalid(format!(
            "error: {shown} has nothing of this registry\nhelp: it has: {}",
            labels.join(", ")
        )));
    };
    if shared.args.registry.is_some() || all.len() == 1 {
        return Ok(first);
    }
    if candidates.len() > 1 && may_ask(shared.world) {
        let options: Vec<String> = candidates.iter().map(|way| way.shown()).collect();
        let question = Question {
            prompt: "Which of them?",
            options: &options,
            default: options.first().map(String::as_str),
            secret: false,
        };
        let picked = ask(&question).await;
        let at = picked.and_then(|picked| options.iter().position(|option| *option == picked));
        if let Some(way) = at.and_then(|at| candidates.get(at)) {
            return Ok(*way);
        }
    }
    complain(&format!(
        "note: {shown} has {}; taken is {}; --registry names another",
        labels.join(", "),
        first.shown()
    ));
    Ok(first)
}
