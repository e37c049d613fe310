//! Expectations that could not be asked, and snapshots that a person has to
//! review: what a step's end says of them.

use super::issue::describe;
use super::judge::{BadOperand, Findings, SnapshotProposal};
use super::launch::issue_of;
use super::operators::OperandError;
use super::outcome::mismatched;
use super::shared_state::SharedState;
use super::step_end::{StepEnd, at_step};
use jelly_base::model::{Failure, Phase, PlanIssue};
use jelly_base::text::shell_path;
use jelly_plan::Step;
use serde_json::Value;

/// An expectation that could not be asked.
pub fn misplanned_operand(
    shared: &SharedState,
    step: &Step,
    (error, at): BadOperand,
    proposals: &[SnapshotProposal],
) -> StepEnd {
    let plan = shared.plan.source.path.display().to_string();
    let unjudged = || format!("an expectation can't be held against the answer: {error}");
    let (message, issue) = match &error {
        OperandError::NoSnapshot { name, path } => (
            error.to_string(),
            Some(PlanIssue::SnapshotMissing {
                name: name.clone(),
                path: path.display().to_string(),
                plan,
            }),
        ),
        OperandError::TooComplex { schema, why } => {
            let issue = PlanIssue::SchemaTooComplex {
                schema: schema.clone(),
                pointer: shared.cleaner.quote(&why.pointer),
                reason: why.what.to_owned(),
            };
            (describe(&issue), Some(issue))
        }
        OperandError::Unresolved(unresolved) => (unjudged(), issue_of(unresolved)),
        _ => (unjudged(), None),
    };
    let said = propose(shared, proposals, issue.is_some());
    StepEnd::unfit(
        step,
        Failure {
            issue,
            // Of what the server declares, no line is known.
            file: (at.line > 0).then(|| shared.plan.file(at).path.display().to_string()),
            line: (at.line > 0).then_some(at.line as u64),
            ..at_step(step, Phase::Config, message + &said)
        },
    )
}

/// Keeps the texts that would have to be stored, for a person to review,
/// and says where they are and where they would belong. Where one
/// `is_missing` altogether, the advice tells how to store it.
pub fn propose<'p>(
    shared: &SharedState,
    proposals: impl IntoIterator<Item = &'p SnapshotProposal>,
    is_missing: bool,
) -> String {
    let mut said = String::new();
    for proposal in proposals {
        let name = &proposal.name;
        let plan = &shared.plan.source.path;
        said.push_str(&match (shared.propose)(name, &proposal.text) {
            Ok(shown) if is_missing => {
                format!("; the actual text is in {shown} of the report")
            }
            Ok(shown) => format!(
                "; the actual text is in {shown} of the report: where it is right{}, `jelly \
                     snapshot accept {name} --plan {}` stores it in {}",
                match shared.plan.source.variant {
                    // They share what is stored.
                    Some(_) => " and all combinations of the matrix give it",
                    None => "",
                },
                shell_path(&plan.display().to_string()),
                jelly_plan::snapshot_path(plan, name).display()
            ),
            Err(why) => format!("; the actual text could not be kept: failed to {why}"),
        });
        for path in &proposal.idle {
            said.push_str(&format!("; `redact` finds nothing by `{path}`"));
        }
    }
    said
}

/// The failures of a step by what was found; its end where that could not be asked.
pub fn failed_by(
    shared: &SharedState,
    step: &Step,
    findings: Findings,
    result: &Value,
) -> Result<Vec<Failure>, Box<StepEnd>> {
    let Findings {
        mut mismatches,
        bad,
        proposals,
        adapter: _,
    } = findings;
    if let Some(bad) = bad {
        return Err(Box::new(misplanned_operand(shared, step, bad, &proposals)));
    }
    for mismatch in &mut mismatches {
        let own = proposals.iter().filter(|p| p.belongs_to(mismatch));
        mismatch.message.push_str(&propose(shared, own, false));
    }
    Ok(mismatched(shared, step, result, mismatches))
}
