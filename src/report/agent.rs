//! A run for programs that decide what to do next: compact, alike failures
//! together, never more than so many bytes.
//!
//! Main function: [`agent_json`].

use super::shorten::{KeptSize, LeftOut};
use super::whole::{self, RunTrouble};
use jelly_base::model::{
    FailureReport, HelpProblem, IterationReport, Phase, RunCause, RunReport, SCHEMA_VERSION, Side,
    Totals, Verdict,
};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use std::borrow::Cow;
use std::cmp::Reverse;

/// So many bytes are printed unless another number is asked for.
pub const AGENT_BYTES: usize = 8192;
/// Less than this says nothing.
pub const MIN_AGENT_BYTES: usize = 1024;

/// One call of `jelly run`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct AgentReport<'r> {
    /// Raised when a field changes its meaning.
    pub schema_version: u32,
    /// Of the call; volatile.
    pub run_id: &'r str,
    /// What jelly exits with.
    pub exit_code: u8,
    /// In the order in which they were named.
    pub plans: Vec<AgentPlan<'r>>,
    /// What was left out to keep it short; absent where nothing was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub left_out: Option<AgentLeftOut>,
}

/// How much was left out.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct AgentLeftOut {
    /// Plans.
    pub plans: usize,
    /// Kinds of failures.
    pub failures: usize,
    /// Names of steps, and commands.
    pub entries: usize,
    /// Bytes of texts.
    pub text_bytes: usize,
}

/// One plan's run.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct AgentPlan<'r> {
    /// Its file.
    pub plan: &'r str,
    pub verdict: Verdict,
    /// What jelly exits with, where this is the only plan.
    pub exit_code: u8,
    /// A person has to look at it.
    pub needs_user_help: bool,
    /// Passes of the loop.
    pub iterations: usize,
    /// Of the last one.
    pub totals: Totals,
    /// What stands at the end, alike ones as one: those of the code side first, then
    /// the most frequent, then those that are known.
    pub failures: Vec<AgentFailure<'r>>,
    /// What is wrong with the run as a whole, or why nothing was run; absent where
    /// failures say it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<AgentProblem<'r>>,
    /// Commands to go on with.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub next: Vec<String>,
    /// Where the whole report lies.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub report_dir: Option<&'r str>,
}

/// What is wrong with a run, and with no server or step of it.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct AgentProblem<'r> {
    /// As in a diagnosis.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub root_cause: Option<RunCause>,
    /// What is wrong.
    pub what: Cow<'r, str>,
    /// `file:line:column`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<&'r str>,
    /// What to do.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub next: Vec<String>,
}

/// Failures of one cause.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct AgentFailure<'r> {
    /// How many there are.
    pub count: usize,
    /// The servers and steps, as `SERVER` or `SERVER/STEP`.
    pub places: Vec<String>,
    pub phase: Phase,
    pub side: Side,
    /// Whether the side is a guess.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub ambiguous: bool,
    /// Absent when no known pattern matches.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error_category: Option<jelly_base::model::ErrorCategory>,
    /// Absent exactly when the category is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retryable: Option<bool>,
    /// As in a diagnosis.
    pub root_cause: &'r str,
    /// Of the first.
    pub fingerprint: &'r str,
    /// Of the first.
    pub message: String,
    /// What it was told by.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub evidence: Option<String>,
    /// Steps in order; a line that starts with `$ ` is a command.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub fix: Vec<String>,
    /// `file:line:column` in the plan.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<&'r str>,
    /// Why it is accepted for now, where a list of known failures covers it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub known: Option<&'r str>,
}

/// The runs of a call in at most `max_bytes`, on one line with its line feed.
///
/// # Errors
/// Only what serde_json says.
pub fn agent_json(
    run_id: &str,
    exit_code: u8,
    runs: &[RunReport],
    max_bytes: usize,
) -> Result<Vec<u8>, serde_json::Error> {
    let report = AgentReport {
        schema_version: SCHEMA_VERSION,
        run_id,
        exit_code,
        plans: runs.iter().map(plan).collect(),
        left_out: None,
    };
    let most = max_bytes.saturating_sub(1);
    let mut bytes = Vec::new();
    for (kept, items) in steps() {
        bytes = serde_json::to_vec(&cut(&report, kept, items)?)?;
        if bytes.len() <= most {
            break;
        }
    }
    bytes.push(b'\n');
    Ok(bytes)
}

/// From much to little, with how many plans and failures are kept. Texts and
/// names go before whole entries do.
fn steps() -> impl Iterator<Item = (KeptSize, usize)> {
    let sizes = [(4000, 100), (1000, 20), (400, 10), (200, 5), (100, 3)];
    let sizes = sizes.map(|(texts, lists)| KeptSize { texts, lists });
    let smallest = sizes[sizes.len() - 1];
    let items = [512, 256, 128, 64, 32, 16, 8, 6, 5, 4, 3, 2, 1];
    let all = sizes.into_iter().map(|kept| (kept, usize::MAX));
    let fewer = items.map(|items| (smallest, items));
    // One stands however small it is.
    let last = [(60, 1), (30, 1), (16, 1)];
    let last = last.map(|(texts, lists)| (KeptSize { texts, lists }, 1));
    all.chain(fewer).chain(last).chain([(smallest, 0)])
}

fn plan(run: &RunReport) -> AgentPlan<'_> {
    let last = run.iterations.last();
    let told = || run.help_summary.iter().flat_map(|help| &help.problems);
    let mut problems: Vec<AgentProblem<'_>> = told()
        .filter(|problem| last.is_none() || problem.root_cause.is_some())
        .map(problem)
        .collect();
    // As that it is green, and was not accepted.
    if problems.is_empty() {
        let troubles = whole::troubles(run, whole::is_told(run)).into_iter();
        problems.extend(troubles.map(of_whole));
    }
    let mut next: Vec<String> = Vec::new();
    let steps = told().flat_map(|problem| &problem.next);
    for step in steps.chain(problems.iter().flat_map(|problem| &problem.next)) {
        if step.starts_with("$ ") && !next.contains(step) {
            next.push(step.clone());
        }
    }
    AgentPlan {
        plan: &run.plan.path,
        verdict: run.verdict,
        exit_code: run.exit_code,
        needs_user_help: run.needs_user_help,
        iterations: run.iterations.len(),
        totals: last.map(|last| last.totals).unwrap_or_default(),
        failures: last.map(causes).unwrap_or_default(),
        problems,
        next,
        report_dir: run.report_dir.as_deref(),
    }
}

fn problem(problem: &HelpProblem) -> AgentProblem<'_> {
    AgentProblem {
        root_cause: problem.root_cause,
        what: Cow::Borrowed(&problem.what),
        at: problem.at.as_deref(),
        next: problem.next.clone(),
    }
}

fn of_whole(trouble: RunTrouble<'_>) -> AgentProblem<'_> {
    let fix = trouble.diagnosis.advice.fix.iter();
    AgentProblem {
        root_cause: Some(trouble.cause),
        next: fix.map(|step| step.line().into_owned()).collect(),
        what: trouble.message,
        at: trouble.at,
    }
}

/// The causes: those that decide how the run ends are the last to be cut off, then the
/// most frequent.
fn causes(iteration: &IterationReport) -> Vec<AgentFailure<'_>> {
    let failures = &iteration.failures;
    let of_cause = |all: Vec<usize>| {
        let mut places: Vec<String> = Vec::new();
        for at in &all {
            let place = place(&failures[*at]);
            if !places.contains(&place) {
                places.push(place);
            }
        }
        AgentFailure {
            count: all.len(),
            places,
            ..first(&failures[all[0]])
        }
    };
    let causes = iteration.causes().into_iter();
    let mut found: Vec<AgentFailure<'_>> = causes.map(of_cause).collect();
    found.sort_by_key(|cause| {
        let is_known = cause.known.is_some();
        (is_known, cause.side != Side::Code, Reverse(cause.count))
    });
    found
}

fn place(failure: &FailureReport) -> String {
    let server = failure.server.as_deref().unwrap_or("?");
    match &failure.step {
        Some(step) => format!("{server}/{step}"),
        None => server.to_owned(),
    }
}

fn first(failure: &FailureReport) -> AgentFailure<'_> {
    let diagnosis = &failure.diagnosis;
    let fix = diagnosis
        .advice
        .fix
        .iter()
        .map(|step| step.line().into_owned());
    AgentFailure {
        count: 0,
        places: Vec::new(),
        phase: failure.phase,
        side: diagnosis.side,
        ambiguous: diagnosis.ambiguous,
        error_category: diagnosis.error_category,
        retryable: diagnosis.retryable,
        root_cause: &diagnosis.root_cause,
        fingerprint: &diagnosis.fingerprint,
        message: failure.message.clone(),
        evidence: diagnosis
            .evidence
            .as_ref()
            .map(|evidence| evidence.text.clone()),
        fix: fix.collect(),
        at: failure.at.as_deref(),
        known: failure.known.as_ref().map(|mark| &*mark.entry.reason),
    }
}

/// The report with so much of it, and with what was left out counted.
fn cut(report: &AgentReport<'_>, kept: KeptSize, items: usize) -> Result<Value, serde_json::Error> {
    let mut counted = AgentLeftOut::default();
    let mut report = report.clone();
    // A plan without its failures still has its verdict.
    let plans = items.saturating_mul(4).max(1);
    counted.plans = report.plans.len().saturating_sub(plans);
    // Those that failed are wanted first.
    if counted.plans > 0 {
        report.plans.sort_by_key(|plan| plan.exit_code == 0);
    }
    report.plans.truncate(plans);
    for plan in &mut report.plans {
        counted.failures += plan.failures.len().saturating_sub(items);
        plan.failures.truncate(items);
    }
    let mut value = serde_json::to_value(&report)?;
    let mut left = LeftOut::default();
    kept.apply(&mut value, &["plans", "failures"], &mut left);
    counted.entries = left.entries.values().sum();
    counted.text_bytes = left.text_bytes;
    if counted != AgentLeftOut::default() {
        value["left_out"] = serde_json::to_value(counted)?;
    }
    Ok(value)
}

#[cfg(test)]
mod tests {
    use super::{AGENT_BYTES, MIN_AGENT_BYTES, agent_json};
    use crate::report::samples;
    use jelly_base::model::RunReport;
    use serde_json::Value;

    fn read(runs: &[RunReport], max: usize) -> Value {
        let bytes = agent_json("r", 1, runs, max).unwrap();
        assert!(bytes.len() <= max, "{} > {max}", bytes.len());
        assert_eq!(bytes.iter().filter(|byte| **byte == b'\n').count(), 1);
        serde_json::from_slice(&bytes).unwrap()
    }

    #[test]
    fn every_run_is_told_within_its_size() {
        for run in samples::all() {
            for max in [MIN_AGENT_BYTES, 2000, AGENT_BYTES] {
                let told = read(std::slice::from_ref(&run), max);
                let plan = &told["plans"][0];
                assert_eq!(plan["exit_code"], run.exit_code);
                let last = run.iterations.last();
                let failures = last.map_or(0, |last| last.failures.len());
                let shown = plan["failures"].as_array().unwrap();
                let counted: u64 = shown.iter().map(|f| f["count"].as_u64().unwrap()).sum();
                let left = told["left_out"]["failures"].as_u64().unwrap_or(0);
                assert!(counted as usize == failures || left > 0, "{told}");
                for failure in shown {
                    let has = |key: &str| failure.get(key).is_some();
                    assert_eq!(has("error_category"), has("retryable"), "{failure}");
                }
            }
        }
    }

    #[test]
    fn alike_failures_are_one_and_what_is_left_out_is_counted() {
        let mut run = samples::all()
            .into_iter()
            .find(|run| {
                run.iterations
                    .last()
                    .is_some_and(|last| !last.failures.is_empty())
            })
            .unwrap();
        let last = run.iterations.last_mut().unwrap();
        let one = last.failures[0].clone();
        last.failures.clear();
        for at in 0..300 {
            let mut failure = one.clone();
            failure.step = Some(format!("s{at}"));
            failure.message = "m".repeat(5000);
            last.failures.push(failure);
        }
        let alike = read(std::slice::from_ref(&run), AGENT_BYTES);
        let failures = alike["plans"][0]["failures"].as_array().unwrap();
        assert_eq!((failures.len(), &failures[0]["count"]), (1, &300.into()));
        assert!(alike["left_out"]["text_bytes"].as_u64().unwrap() > 0);
        let least = read(std::slice::from_ref(&run), MIN_AGENT_BYTES);
        assert_eq!(least["plans"][0]["failures"][0]["count"], 300, "{least}");
        let last = run.iterations.last_mut().unwrap();
        for (at, failure) in last.failures.iter_mut().enumerate() {
            failure.diagnosis.fingerprint = format!("j2:{at:016x}");
            failure.message = "n".repeat(at + 1);
        }
        let different = read(&[run], AGENT_BYTES);
        let shown = different["plans"][0]["failures"].as_array().unwrap().len();
        assert!(shown > 5, "{different}");
        assert_eq!(different["left_out"]["failures"], 300 - shown);
    }

    #[test]
    fn of_many_plans_those_that_failed_stay() {
        let good = samples::all()
            .into_iter()
            .find(|run| run.exit_code == 0)
            .unwrap();
        let bad = samples::all()
            .into_iter()
            .find(|run| run.exit_code == 3)
            .unwrap();
        let mut runs = vec![good; 200];
        runs.push(bad);
        let told = read(&runs, 2000);
        assert_eq!(told["plans"][0]["exit_code"], 3, "{told}");
        assert!(told["left_out"]["plans"].as_u64().unwrap() > 100);
    }
}
