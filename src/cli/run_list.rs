//! `jelly run --list`: the steps that would run, and nothing is started.

use super::args::{RunArgs, RunFormat};
use super::invalid::{Invalid, read};
use super::matrix::jobs;
use super::plan_files::plans;
use super::refusal::Refusal;
use super::settings::{World, inherited_secrets};
use super::shard::ShardCall;
use indexmap::IndexMap;
use jelly_base::model::{ExitCode, ShardRecord};
use jelly_base::text::redact::Redactor;
use jelly_base::text::{Notation, disarmed, plural};
use jelly_harness::exec::Selection;
use jelly_plan::{Plan, Request, Step};
use serde_json::Value;
use std::collections::BTreeSet;
use std::io::{self, Write};
use std::path::Path;

/// Prints them, plan by plan, in the order in which they stand.
///
/// # Errors
/// A plan can't be read, or nothing would run.
pub fn list(args: &RunArgs, world: &World) -> Result<ExitCode, Refusal> {
    if args.format != RunFormat::Human {
        let what = "--list prints lines for people, and has no other format";
        return Err(Refusal::with_help(what, "leave --format out"));
    }
    let redactor = Redactor::new(inherited_secrets(&world.env));
    let refuse =
        |invalid: Invalid| Refusal::invalid(invalid.render(world.colors_stderr(), &redactor));
    let vars: IndexMap<String, Value> = args.vars.iter().cloned().collect();
    let selection = Selection::new(args.only.clone(), args.skip.clone());
    let paths = plans(&args.plans, "run")?;
    let project = args.project_dir.as_deref();
    let mut jobs = jobs(&paths, &vars, project);
    let mut text = String::new();
    let runs: Vec<&Path> = jobs.iter().map(|job| job.path.as_path()).collect();
    let shard = ShardCall::open(args, world, (&paths, &runs), None, None)?;
    if let Some(shard) = &shard {
        jobs.retain(|job| shard.has(&job.path));
        if jobs.is_empty() {
            let ShardRecord { index, total, .. } = shard.record;
            text.push_str(&format!("no plan is assigned to shard {index}/{total}\n"));
        }
    }
    let is_empty_shard = shard.is_some() && jobs.is_empty();
    let mut listed = 0;
    for job in &jobs {
        let plan = read(&job.path, job.variant.clone(), &vars, project).map_err(refuse)?;
        if let ([_], Some(slip)) = (jobs.as_slice(), selection.unmatched(&plan).first()) {
            return Err(refuse(Invalid::filter(&plan, slip)));
        }
        let selected = selection.select(&plan);
        listed += selected.len();
        text.push_str(&told(&plan, &selected));
    }
    if listed == 0 && !is_empty_shard {
        let what = "--only and --skip leave no step to run";
        return Err(Refusal::invalid(format!("error: {what}")));
    }
    let text = redactor.redact(&text);
    match io::stdout().lock().write_all(text.as_bytes()) {
        Ok(()) => Ok(ExitCode::Passed),
        Err(error) => Err(Refusal::needs_help(format!(
            "error: the list can't be written: {error}"
        ))),
    }
}

fn told(plan: &Plan, selected: &BTreeSet<String>) -> String {
    let path = plan.source.path.display();
    let steps = plural(selected.len(), "step");
    let mut text = format!(
        "{path}: {} ({steps})\n",
        disarmed(&plan.name, Notation::Plain)
    );
    let chosen = plan.all_steps().filter(|step| selected.contains(&step.id));
    for step in chosen {
        let mut line = format!("  {}  {}  {}", step.id, step.server, request(step));
        if !step.tags.is_empty() {
            line.push_str(&format!("  [{}]", step.tags.join(", ")));
        }
        text.push_str(&disarmed(&line, Notation::Plain));
        text.push('\n');
    }
    text
}

/// What it sends, as a plan writes it.
fn request(step: &Step) -> String {
    let kind = step.request.kind();
    match &step.request {
        Request::Tool(name) | Request::Prompt(name) | Request::Method(name) => {
            format!("{kind} {name}")
        }
        Request::List(list) => format!("{kind} {}", list.plan_key()),
        Request::Read(uri) => format!("{kind} {uri}"),
        Request::Unsubscribe(id) => format!("{kind} {id}"),
        Request::Complete(completion) => format!("{kind} {}", completion.argument),
        Request::Http(call) => format!("{kind} {} {}", call.method, call.path),
        Request::Startup if step.expects_refusal() => format!("{kind} refuses"),
        Request::Subscribe(_) | Request::Raw(_) | Request::Startup => kind.to_owned(),
    }
}
