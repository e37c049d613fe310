//! `jelly check --live`: what a plan names, held against the lists of its servers.
//! They are started, and nothing of them is called.

use super::super::again::{name_plan, run_here};
use super::super::busy::Busy;
use super::super::named_server::{NamedPlan, NamedServer, trouble_in_plan, world_redactor};
use super::super::out;
use super::super::plan_files::{plans, read_source};
use super::super::refusal::Refusal;
use super::super::runtime::{unless_interrupted, with_runtime};
use super::super::settings::World;
use super::{Examined, Good, PlanRefusal, Told, distinct, examine, refuse_stray_variable, report};
use crate::cli::args::{CheckArgs, Format};
use indexmap::IndexMap;
use jelly_base::model::{Checkup, ExitCode, Failure};
use jelly_base::text::redact::Redactor;
use jelly_harness::exec::{OpenServer, ServerLists};
use jelly_plan::{Plan, PlanError, PlanFinding, PlanSource, Scope, load_in};
use jelly_triage::engine::Engine;
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

/// Servers that start at the same time.
const STARTS: usize = 4;
/// How long a server may take to stop.
const GRACE: Duration = Duration::from_secs(2);

/// What all plans of a call share.
struct LiveCheck<'a> {
    engine: &'a Engine,
    world: &'a World,
    redactor: &'a Redactor,
    project: Option<&'a Path>,
    vars: IndexMap<String, Value>,
}

/// What a plan came to beside its servers.
#[derive(Default)]
struct HeldPlan {
    findings: Vec<PlanFinding>,
    not_started: Vec<Checkup>,
    /// Those that were asked for their lists.
    servers: Vec<String>,
}

/// Validates plans, alone and beside their servers. Exit code 2 for any problem
/// and for no plan at all, else 3 for a server that can't be started.
pub fn check_live(args: &CheckArgs, world: &World) -> Result<ExitCode, Refusal> {
    let json = args.format == Format::Json;
    let paths = match plans(&args.plans, "check") {
        Ok(paths) => paths,
        Err(_) if json => Vec::new(),
        Err(refusal) => return Err(refusal),
    };
    let told = Told {
        color: world.colors_stderr(),
        json,
        project: args.project_dir.as_deref(),
        vars: &args.vars,
    };
    refuse_stray_variable(&paths, told, &world_redactor(world))?;
    with_runtime(&args.own_rules, world, async |context| {
        let redactor = world_redactor(world);
        let live = LiveCheck {
            engine: &context.rules,
            world,
            redactor: &redactor,
            project: told.project,
            vars: told.given(),
        };
        let work = live.all(&paths);
        let examined = unless_interrupted(&context.interrupt, work).await??;
        let mut out = out::stdout(args.format.notation());
        let mut err = out::stderr();
        Ok(report(
            examined,
            (told, Some(world)),
            &redactor,
            &mut out,
            &mut err,
        ))
    })
}

impl LiveCheck<'_> {
    async fn all<'p>(&self, paths: &'p [PathBuf]) -> Result<Vec<Examined<'p>>, Refusal> {
        let mut examined = Vec::new();
        for path in distinct(paths) {
            examined.push(
                match examine(path, (&self.vars, self.project), self.redactor) {
                    Ok(plan) => self.plan(path, plan).await?,
                    Err(refusal) => Examined::of(path, Err(refusal)),
                },
            );
        }
        Ok(examined)
    }

    /// A plan that is good by itself, in all of its combinations.
    async fn plan<'p>(&self, path: &'p Path, plan: Plan) -> Result<Examined<'p>, Refusal> {
        let mut good = Good::of(&plan);
        let variants = plan.matrix.as_ref().map(|matrix| matrix.variants());
        let named = match variants {
            None => vec![plan],
            Some(variants) => {
                let read = variants.into_iter().map(|variant| {
                    let source = read_source(path).map_err(PlanRefusal::Unreadable)?;
                    let source = PlanSource {
                        variant: Some(Arc::new(variant)),
                        ..source
                    };
                    load_in(source, &self.vars, self.project).map_err(|error| self.wrong(error))
                });
                match read.collect::<Result<Vec<Plan>, PlanRefusal>>() {
                    Ok(plans) => plans,
                    Err(refusal) => return Ok(Examined::of(path, Err(refusal))),
                }
            }
        };
        let mut not_started: Vec<Checkup> = Vec::new();
        let mut refused = None;
        for plan in named {
            let named = NamedPlan::of(plan, self.project, self.world, self.redactor)?;
            let held = self.hold(&named).await?;
            for checkup in held.not_started {
                // Of several combinations, each may find the same.
                let is_told =
                    |told: &Checkup| told.name == checkup.name && told.message == checkup.message;
                if !not_started.iter().any(is_told) {
                    not_started.push(checkup);
                }
            }
            for server in held.servers {
                if !good.held_against.contains(&server) {
                    good.held_against.push(server);
                }
            }
            let error = PlanError::of_findings(&named.plan, held.findings);
            refused = refused.or(error.map(|error| self.wrong(error)));
        }
        Ok(Examined {
            not_started,
            ..Examined::of(path, refused.map_or(Ok(good), Err))
        })
    }

    fn wrong(&self, error: PlanError) -> PlanRefusal {
        PlanRefusal::Wrong(Box::new(error.hiding(self.redactor.clone())))
    }

    /// Starts the servers that steps use, and holds the steps against their
    /// lists.
    async fn hold(&self, named: &NamedPlan) -> Result<HeldPlan, Refusal> {
        let plan = &named.plan;
        let used: BTreeSet<&str> = plan.all_steps().map(|step| step.server.as_str()).collect();
        let mut held = HeldPlan::default();
        let mut lists = JoinSet::new();
        let busy = Busy::waiting(self.world);
        let starts = Arc::new(Semaphore::new(STARTS));
        let servers = plan.servers.values();
        // One that is not to start has no lists.
        let servers = servers
            .filter(|server| used.contains(server.name.as_str()) && !plan.refuses(&server.name));
        let mut scopes = Vec::new();
        for (at, server) in servers.enumerate() {
            let (tmp, scope) = named.scope(self.world)?;
            let reached = named.reached(server, (tmp, &scope), self.world, self.redactor);
            scopes.push((server, scope));
            match reached {
                Ok(server) => {
                    let (starts, redactor) = (starts.clone(), self.redactor.clone());
                    busy.begin_server(&server.name, "reading its lists", &redactor);
                    lists.spawn_local(async move {
                        // Never closed, so there is always a permit in the end.
                        let _permit = starts.acquire().await;
                        (at, read(&server, &redactor).await)
                    });
                }
                Err(failures) => {
                    let failures = failures.iter();
                    let tmp = scopes
                        .last()
                        .map(|(_, scope): &(_, Scope)| scope.tmp.as_path());
                    let checkups =
                        failures.map(|failure| self.trouble(plan, (server, tmp), failure));
                    held.not_started.extend(checkups);
                }
            }
        }
        let mut ends = Vec::new();
        while let Some(end) = lists.join_next().await {
            let end = end.map_err(|error| Refusal::fault(&error.to_string()))?;
            if let Some((server, _)) = scopes.get(end.0) {
                busy.end_server(&server.name, self.redactor);
            }
            ends.push(end);
        }
        ends.sort_by_key(|(at, _)| *at);
        for (at, end) in ends {
            let Some((server, scope)) = scopes.get(at) else {
                continue;
            };
            match end {
                Ok(lists) => {
                    let findings = lists.findings(plan, &server.name, scope);
                    held.findings.extend(findings);
                    held.servers.push(server.name.clone());
                }
                Err(failure) => {
                    let tmp = Some(scope.tmp.as_path());
                    held.not_started
                        .push(self.trouble(plan, (server, tmp), &failure));
                }
            }
        }
        Ok(held)
    }

    fn trouble(
        &self,
        plan: &Plan,
        (server, tmp): (&jelly_plan::Server, Option<&Path>),
        failure: &Failure,
    ) -> Checkup {
        let at = plan.at(server.at);
        let mut checkup = trouble_in_plan((&server.name, &at, tmp), failure, self.engine);
        if let Some(diagnosis) = &mut checkup.diagnosis {
            name_plan(&mut diagnosis.advice.fix, &plan.source.path, None);
            run_here(&mut diagnosis.advice.fix, &self.world.cwd);
        }
        checkup
    }
}

async fn read(server: &NamedServer, redactor: &Redactor) -> Result<ServerLists, Box<Failure>> {
    let launch = server.launch(Duration::ZERO, redactor);
    let open = OpenServer::start(&launch).await?;
    let lists = ServerLists::read(&open, launch.request_timeout, redactor).await;
    open.stop(GRACE).await;
    lists
}
