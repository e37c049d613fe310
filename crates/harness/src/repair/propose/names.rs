//! `rename_server`, `rename_tool`, `rename_argument`: a name that is not
//! offered becomes the one close name that is; and `quarantine_step`, where
//! there is none.

use crate::repair::case::{FailureCase, server_target, step_target};
use crate::repair::types::{Proposal, RepairId};
use jelly_base::model::PlanIssue;
use jelly_base::text::close_names;
use jelly_plan::{Plan, PlanEdit, Request, Step, Template};
use serde_json::Value;
use std::borrow::Cow;

/// Renames by what preflight found, or by what the server itself listed.
pub(super) fn rename(case: &FailureCase<'_>) -> Option<Proposal> {
    let wrong = wrong_name(case)?;
    let (name, to) = (wrong.name, wrong.only_candidate()?);
    match wrong.of {
        NameOf::Server => rename_server(case.plan, name, to),
        NameOf::Tool(step) => rename_tool(step, name, to),
        NameOf::Argument(step) => rename_argument(step, name, to),
    }
}

/// Takes the steps out that nobody can play, visibly: the last resort.
pub(super) fn quarantine(case: &FailureCase<'_>) -> Option<Proposal> {
    let wrong = wrong_name(case)?;
    if wrong.only_candidate().is_some() {
        return None;
    }
    let name = wrong.name;
    let (target, what, steps): (String, String, Vec<&Step>) = match wrong.of {
        NameOf::Server => (
            server_target(name),
            format!("the plan has no server {name}"),
            steps_of(case.plan, name).collect(),
        ),
        NameOf::Tool(step) => (
            step_target(step),
            format!("the server {} has no tool {name}", step.server),
            vec![step],
        ),
        NameOf::Argument(_) => return None,
    };
    let ids: Vec<String> = steps.iter().map(|step| step.id.clone()).collect();
    let explanation = format!(
        "took {} out, since {what} and no single name is similar",
        ids.join(", ")
    );
    Some(Proposal {
        quarantine: ids,
        ..Proposal::new(RepairId::QuarantineStep, target, explanation)
    })
}

/// A name that is not offered.
struct WrongName<'a> {
    of: NameOf<'a>,
    name: &'a str,
    candidates: Cow<'a, [String]>,
}

/// Whose name it is, with the step that names it.
enum NameOf<'a> {
    Server,
    Tool(&'a Step),
    Argument(&'a Step),
}

impl WrongName<'_> {
    /// The one candidate; of several, nobody knows which was meant.
    fn only_candidate(&self) -> Option<&str> {
        match &*self.candidates {
            [only] => Some(only),
            [] | [_, ..] => None,
        }
    }
}

fn wrong_name<'a>(case: &FailureCase<'a>) -> Option<WrongName<'a>> {
    let (of, name, candidates) = match &case.failure.issue {
        Some(PlanIssue::UnknownServer { name, candidates }) => (NameOf::Server, name, candidates),
        Some(PlanIssue::UnknownTool { name, candidates }) => {
            (NameOf::Tool(case.step()?), name, candidates)
        }
        Some(PlanIssue::UnknownArgument {
            name, candidates, ..
        }) => (NameOf::Argument(case.step()?), name, candidates),
        // Only the server's answer says so: its own list must bear it out.
        None if case.diagnosis.root_cause == "unknown_tool" => return by_listing(case),
        Some(_) | None => return None,
    };
    Some(WrongName {
        of,
        name,
        candidates: Cow::Borrowed(candidates),
    })
}

fn by_listing<'a>(case: &FailureCase<'a>) -> Option<WrongName<'a>> {
    let step = case.step()?;
    let Request::Tool(name) = &step.request else {
        return None;
    };
    let mut tools = case.facts.tools.iter();
    let (_, tools) = tools.find(|(name, _)| *name == step.server)?;
    let offered = tools.iter().map(|tool| tool.name.as_str());
    // Nor is what it has listed in this run and takes back a slip of the plan's.
    let listed = &case.failure.tools_listed;
    if offered.clone().any(|tool| tool == name) || listed.iter().any(|tool| tool == name) {
        return None;
    }
    Some(WrongName {
        of: NameOf::Tool(step),
        name,
        candidates: Cow::Owned(close_names(name, offered)),
    })
}

fn steps_of<'p>(plan: &'p Plan, server: &str) -> impl Iterator<Item = &'p Step> {
    plan.all_steps()
        .filter(move |step| step.server == server && !step.expects_error())
}

fn rename_server(plan: &Plan, name: &str, to: &str) -> Option<Proposal> {
    plan.servers.get(to)?;
    let explanation = format!("used the server {to}, since the plan has no {name}");
    let edit = |step: &Step| PlanEdit::Set {
        path: step.path.key("server"),
        value: Value::String(to.to_owned()),
    };
    Some(Proposal {
        edits: steps_of(plan, name).map(edit).collect(),
        steps_touched: steps_of(plan, name).map(|step| step.id.clone()).collect(),
        contract: true,
        ..Proposal::new(RepairId::RenameServer, server_target(name), explanation)
    })
}

fn rename_tool(step: &Step, name: &str, to: &str) -> Option<Proposal> {
    if !matches!(&step.request, Request::Tool(written) if written == name) {
        return None;
    }
    let target = step_target(step);
    let explanation = format!("called {to}, since {} has no tool {name}", step.server);
    let proposal = Proposal::of_step(RepairId::RenameTool, target, explanation, step);
    Some(proposal.with(PlanEdit::Set {
        path: step.path.key("tool"),
        value: Value::String(Template::literal(to).raw),
    }))
}

fn rename_argument(step: &Step, name: &str, to: &str) -> Option<Proposal> {
    let args = step.args.as_object()?;
    if !args.contains_key(name) || args.contains_key(to) {
        return None;
    }
    let target = format!("{}.args.{name}", step_target(step));
    let explanation = format!("passed {name} as {to}, which is what the tool calls it");
    let proposal = Proposal::of_step(RepairId::RenameArgument, target, explanation, step);
    Some(proposal.with(PlanEdit::RenameKey {
        path: step.path.key("args").key(name),
        to: to.to_owned(),
    }))
}
