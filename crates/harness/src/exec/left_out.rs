//! Which steps the plan itself leaves out of a run: before anything starts, and
//! by what no server says.

use super::launch::issue_of;
use super::settings::ExecSettings;
use jelly_base::model::{Because, Event, PlanIssue, Section};
use jelly_base::text::plural;
use jelly_plan::{Plan, Requirement, Scope, Step, Unresolved};
use jelly_process::CommandSpec;
use std::collections::{BTreeMap, BTreeSet};

/// The selected steps whose `if` does not hold, or which lack what they require
/// where that may be; and those that need one of them. One whose `if` can't be
/// asked runs into that itself.
pub fn left_out(
    plan: &Plan,
    selected: &BTreeSet<String>,
    scope: &Scope,
    settings: &ExecSettings,
) -> BTreeMap<String, Because> {
    let mut left_out: BTreeMap<String, Because> = BTreeMap::new();
    for step in plan.all_steps().filter(|step| selected.contains(&step.id)) {
        let because = own_reason(plan, step, scope, settings)
            .or_else(|| step.needs.iter().find_map(|id| left_out.get(id)).cloned());
        left_out.extend(because.map(|because| (step.id.clone(), because)));
    }
    // Set-up and teardown alone are no test.
    let steps = plan.steps.iter().filter(|step| selected.contains(&step.id));
    let reasons: Option<Vec<&Because>> = steps.map(|step| left_out.get(&step.id)).collect();
    let first = reasons.and_then(|reasons| {
        let missing = reasons.iter().find(|b| matches!(b, Because::Requires(_)));
        missing.or(reasons.first()).copied().cloned()
    });
    if let Some(because) = first {
        let others = plan
            .all_steps()
            .filter(|step| step.section != Section::Steps);
        for step in others.filter(|step| selected.contains(&step.id)) {
            let because = because.clone();
            left_out.entry(step.id.clone()).or_insert(because);
        }
    }
    left_out
}

fn own_reason(plan: &Plan, step: &Step, scope: &Scope, settings: &ExecSettings) -> Option<Because> {
    let server = plan.servers.get(&step.server);
    let holds = step.condition.as_ref().is_none_or(|condition| {
        let holds = condition.holds(server, std::env::consts::OS, scope);
        holds.unwrap_or(true)
    });
    if !holds {
        return Some(Because::If);
    }
    let missing = missing(step, settings).filter(|_| settings.skip_missing)?;
    Some(Because::Requires(missing.to_string()))
}

/// The first that a step requires and that is not there.
fn missing<'s>(step: &'s Step, settings: &ExecSettings) -> Option<&'s Requirement> {
    let mut required = step.requires.iter();
    required.find(|requirement| match requirement {
        Requirement::Secret(name) => settings.env.get(name).is_none_or(String::is_empty),
        Requirement::Env(name) => !settings.env.contains_key(name),
        Requirement::Command(name) => {
            let path = settings.env.get("PATH");
            let own = name == "jelly" && settings.jelly.is_some();
            let spec = CommandSpec {
                argv: vec![name.clone()],
                cwd: settings.project_dir.clone(),
                env: path
                    .map(|path| ("PATH".to_owned(), path.clone()))
                    .into_iter()
                    .collect(),
            };
            !own && jelly_process::check(&spec).is_err()
        }
    })
}

/// What a step lacks, in a sentence, where it can't be run without.
pub fn lack(step: &Step, settings: &ExecSettings) -> Option<(String, Option<PlanIssue>)> {
    let missing = missing(step, settings)?;
    let unresolved = |error: Unresolved| (error.to_string(), issue_of(&error));
    let (why, issue) = match missing {
        Requirement::Secret(name) => unresolved(Unresolved::Secret(name.clone())),
        Requirement::Env(name) => unresolved(Unresolved::Env(name.clone())),
        Requirement::Command(name) => {
            let command = name.clone();
            let issue = Some(PlanIssue::CommandNotFound { command });
            (format!("there is no command `{name}` on the PATH"), issue)
        }
    };
    Some((format!("the step requires {missing}: {why}"), issue))
}

/// Says what was left out because something is not there.
pub fn tell_missing(left_out: &BTreeMap<String, Because>, settings: &ExecSettings) {
    let mut by_what: BTreeMap<&str, usize> = BTreeMap::new();
    for because in left_out.values() {
        if let Because::Requires(what) = because {
            *by_what.entry(what).or_default() += 1;
        }
    }
    for (what, count) in by_what {
        (settings.events)(Event::Warning {
            message: format!(
                "{} skipped, since {what} is not there (--skip-missing)",
                plural(count, "step")
            ),
        });
    }
}
