//! A server of a plan.

use super::super::invalid::Invalid;
use super::super::refusal::Refusal;
use super::super::settings::{World, project_dir};
use super::{NamedServer, PlanTerms, Stands, learn_command, no_server, one_of, world_redactor};
use crate::cli::args::ServerPlace;
use indexmap::IndexMap;
use jelly_base::mcp::Revision;
use jelly_base::model::Failure;
use jelly_base::text::redact::Redactor;
use jelly_base::text::sanitize;
use jelly_harness::exec::{ExecSettings, choose_ports, reach_of};
use jelly_plan::{self as plan, Plan, PlanSource, Scope, Server};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use tempfile::TempDir;
use tokio::sync::watch;

/// A plan that has the server.
pub struct NamedPlan {
    pub plan: Plan,
    shown: String,
    folder: PathBuf,
}

impl NamedPlan {
    pub(super) fn read(
        path: &Path,
        place: &ServerPlace,
        world: &World,
        redactor: &Redactor,
    ) -> Result<Self, Refusal> {
        let source = PlanSource::read(path).map_err(Invalid::from);
        let told = place.project_dir.as_deref().map(|dir| world.cwd.join(dir));
        let plan = source.and_then(|source| {
            let vars = IndexMap::new();
            Ok(plan::load_in(source, &vars, told.as_deref())?)
        });
        let plan = plan.map_err(|invalid| {
            Refusal::invalid(invalid.render(world.colors_stderr(), &world_redactor(world)))
        })?;
        Self::of(plan, told.as_deref(), world, redactor)
    }

    /// One that was read; `told` is its project, where that is not its folder.
    ///
    /// # Errors
    /// There is no such folder.
    pub fn of(
        plan: Plan,
        told: Option<&Path>,
        world: &World,
        redactor: &Redactor,
    ) -> Result<Self, Refusal> {
        let path = &plan.source.path;
        let shown = path.display().to_string();
        let folder = project_dir(told, path).map_err(|error| {
            let folder = told.or(path.parent()).unwrap_or(Path::new("."));
            Refusal::with_help(
                format!("{}: {error}", folder.display()),
                "name a folder that is there, by --project-dir",
            )
        })?;
        redactor.learn(plan.hidden(&world.env));
        redactor.learn(plan.literal_secrets.iter().cloned());
        Ok(Self {
            plan,
            shown,
            folder,
        })
    }

    pub(super) fn one(&self, wanted: Option<&str>) -> Result<String, Refusal> {
        let all: Vec<&str> = self.plan.servers.keys().map(String::as_str).collect();
        one_of(&self.shown, wanted, &all)
    }

    pub(super) fn server(
        &self,
        wanted: &str,
        world: &World,
        redactor: &Redactor,
    ) -> Result<NamedServer, Refusal> {
        let Self { plan, shown, .. } = self;
        let Some(server) = plan.servers.get(wanted) else {
            let all: Vec<&str> = plan.servers.keys().map(String::as_str).collect();
            return Err(no_server(shown, wanted, &all));
        };
        let (tmp, scope) = self.scope(world)?;
        let reached = self.reached(server, (tmp, &scope), world, redactor);
        reached.map_err(|failures| {
            let whys = failures
                .iter()
                .filter_map(|failure| failure.message.as_deref());
            let whys: Vec<&str> = whys.collect();
            Refusal::with_help(
                format!(
                    "{shown}: how `{wanted}` is reached is not known: {}",
                    sanitize(&whys.join("; "))
                ),
                "set the variable in the environment, or put the command behind `--`",
            )
        })
    }

    /// What names stand for, with the folder that is `${tmp}`.
    ///
    /// # Errors
    /// There is no room for a folder.
    pub fn scope(&self, world: &World) -> Result<(TempDir, Scope), Refusal> {
        let tmp = TempDir::with_prefix("jelly-").map_err(|error| {
            Refusal::needs_help(format!("error: no temporary folder could be made: {error}"))
        })?;
        let mut scope = Scope::new(
            self.folder.clone(),
            tmp.path().to_owned(),
            world.env.clone(),
            choose_ports(&self.plan, &BTreeMap::new()),
            &self.plan.vars,
        );
        scope.files = self.plan.files.clone();
        Ok((tmp, scope))
    }

    /// One of its servers, as it is reached; its secrets are learnt.
    ///
    /// # Errors
    /// Everything that has no value.
    pub fn reached(
        &self,
        server: &Server,
        (tmp, scope): (TempDir, &Scope),
        world: &World,
        redactor: &Redactor,
    ) -> Result<NamedServer, Vec<Failure>> {
        // Nothing is waited for.
        let (_, interrupt) = watch::channel(None);
        let settings = ExecSettings {
            jelly: world.jelly.clone(),
            logins: world.logins(),
            ..ExecSettings::apart(
                self.folder.clone(),
                world.env.clone(),
                redactor.clone(),
                interrupt,
            )
        };
        let mut reach = reach_of(server, scope, &settings)?;
        if let Some(command) = reach.command_mut() {
            learn_command(command, redactor);
        }
        let version = server.protocol.as_deref().and_then(Revision::find);
        Ok(NamedServer {
            name: server.name.clone(),
            reach,
            stands: Stands::InPlan(self.plan.at(server.at)),
            terms: PlanTerms {
                era: server.era,
                version,
                startup_timeout: Some(server.startup_timeout),
                request_timeout: Some(server.request_timeout),
                tmp: Some(tmp),
            },
        })
    }
}
