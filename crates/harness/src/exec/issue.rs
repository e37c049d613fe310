//! What the plan says that can't be meant, in sentences.

use super::step_end::{StepEnd, at_step};
use jelly_base::model::{Phase, PlanIssue};
use jelly_base::text::listed;
use jelly_plan::Step;

/// What can't be meant, in a sentence.
pub fn describe(issue: &PlanIssue) -> String {
    let did_you_mean = |candidates: &[String]| match candidates {
        [] => String::new(),
        [one] => format!("; did you mean `{one}`?"),
        many => format!("; did you mean one of `{}`?", many.join("`, `")),
    };
    match issue {
        PlanIssue::UnknownTool { name, candidates } => {
            format!(
                "the server lists no tool `{name}`{}",
                did_you_mean(candidates)
            )
        }
        PlanIssue::UnknownArgument {
            tool,
            name,
            candidates,
        } => format!(
            "the tool `{tool}` knows no argument `{name}`{}",
            did_you_mean(candidates)
        ),
        PlanIssue::MissingArgument { tool, name } => {
            format!("the tool `{tool}` requires the argument `{name}`")
        }
        PlanIssue::ArgumentType {
            tool,
            pointer,
            expected,
            actual,
        } => format!(
            "the tool `{tool}` takes {} at {pointer}, and the plan gives {actual}",
            expected.join(" or ")
        ),
        PlanIssue::InvalidArgument {
            tool,
            pointer,
            reason,
        } => {
            let place = if pointer.is_empty() {
                String::new()
            } else {
                format!(" at {pointer}")
            };
            format!("the tool `{tool}` refuses these arguments{place}: {reason}")
        }
        PlanIssue::UnknownServer { name, candidates } => format!(
            "the plan defines no server `{name}`{}",
            did_you_mean(candidates)
        ),
        PlanIssue::CommandNotFound { command } => format!("the command `{command}` was not found"),
        PlanIssue::NotExecutable { path } => format!("`{path}` can't be executed"),
        PlanIssue::MissingDirectory { path } => format!("the folder `{path}` does not exist"),
        PlanIssue::MissingVariable { name, .. } => format!("`{name}` is not set"),
        PlanIssue::MissingPackageArgument { name } => {
            format!("the package's argument `{name}` has no value")
        }
        PlanIssue::InvalidPackage { reason } => reason.clone(),
        PlanIssue::DefinitionChanged {
            item, reason, lock, ..
        }
        | PlanIssue::PromiseBroken {
            item, reason, lock, ..
        } => {
            format!("`{item}` is not what {lock} holds: {reason}")
        }
        PlanIssue::PinNotSpoken { pin, .. } => {
            format!("the plan holds it to `{pin}`, which it does not speak")
        }
        PlanIssue::Unanswered { method } => {
            format!("the server asked for `{method}`, to which the plan has no answer")
        }
        PlanIssue::ServiceDied { name } => format!("the service `{name}` died"),
        PlanIssue::OtherError {
            expected, actual, ..
        } => {
            format!("the step expects `{expected}`, and what came is `{actual}`")
        }
        PlanIssue::SnapshotMissing { name, path, .. } => {
            format!("nothing is stored yet for the snapshot `{name}` in {path}")
        }
        PlanIssue::SchemaTooComplex {
            schema,
            pointer,
            reason,
        } => format!("{schema} takes more {reason} than jelly gives one, at `#{pointer}`"),
    }
}

/// A step of a server that the plan does not define.
pub fn unknown_server(step: &Step, servers: impl Iterator<Item = String>) -> StepEnd {
    let names: Vec<String> = servers.collect();
    let issue = PlanIssue::UnknownServer {
        name: step.server.clone(),
        candidates: jelly_base::text::close_names(&step.server, names.iter().map(String::as_str)),
    };
    let mut message = describe(&issue);
    if !message.ends_with('?') {
        let total = names.len() as u64;
        message.push_str(&format!("; it defines {}", listed(&names, total, "server")));
    }
    let mut failure = at_step(step, Phase::Config, message);
    failure.issue = Some(issue);
    StepEnd::unfit(step, failure)
}
