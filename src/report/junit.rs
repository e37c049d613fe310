//! `junit.xml`: the last iteration as JUnit XML, in the dialect of Surefire,
//! which is the one that knows of flaky tests and reruns.
//!
//! One suite for each server. A dead server is an `<error>` of a case of its
//! own, and steps that could not run are `<skipped>` beside it, so that a
//! broken environment is one error and not many; a quarantined step stands,
//! and fails itself. The rule that holds it together: a run that does not
//! exit 0 has at least one failure or error in this file, and so has every suite
//! with a blocked or quarantined step.

mod shown;
mod trouble;
mod xml;

use super::view::FailuresByStep;
use super::whole::{self, RunTrouble};
use super::{view, words};
use jelly_base::model::{
    Because, Diagnosis, FailureReport, IterationReport, Label, RunReport, Section, ServerReport,
    ServerState, StepReport, StepState, deciding, json_word,
};
pub use shown::{junit_xml, show_run};
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use trouble::Trouble;
pub use xml::JunitWriter;
use xml::attribute;

struct Suite<'r> {
    /// Fit for an attribute, and the class name of its cases.
    name: String,
    timestamp: String,
    properties: Vec<(&'static str, String)>,
    cases: Vec<Case<'r>>,
}

impl<'r> Suite<'r> {
    fn new(
        report: &RunReport,
        server: Option<&ServerReport>,
        name: String,
        cases: Vec<Case<'r>>,
    ) -> Self {
        Self {
            name,
            timestamp: report.started_at.clone(),
            properties: suite_properties(report, server),
            cases,
        }
    }
}

fn suite_properties(
    report: &RunReport,
    server: Option<&ServerReport>,
) -> Vec<(&'static str, String)> {
    let mut properties = vec![
        ("jelly.run_id", report.run_id.clone()),
        ("jelly.plan", report.plan.path.clone()),
        ("jelly.verdict", json_word(&report.verdict)),
        ("jelly.exit_code", report.exit_code.to_string()),
        ("jelly.seed", report.seed.to_string()),
        ("jelly.iterations", report.iterations.len().to_string()),
    ];
    if let Some(server) = server {
        let state = words::spaced(&server.state);
        properties.push(("jelly.server_state", state));
        if let Some(era) = &server.era {
            properties.push(("jelly.era", era.clone()));
        }
        if let Some(version) = &server.protocol_version {
            properties.push(("jelly.protocol_version", version.clone()));
        }
        if let Some(exit) = &server.exit {
            properties.push(("jelly.server_exit", words::exit(exit)));
        }
    }
    properties
}

struct Case<'r> {
    name: String,
    seconds: f64,
    /// File and line of the plan.
    at: Option<(String, String)>,
    properties: Vec<(&'static str, String)>,
    /// What triage says of the failure; where the case passed in the end, of its
    /// last failed attempt.
    diagnosis: Option<Cow<'r, Diagnosis>>,
    outcome: CaseOutcome,
    /// Failed attempts of earlier iterations.
    earlier: Vec<Trouble>,
    system_err: String,
}

enum CaseOutcome {
    Passed,
    Failed(Trouble),
    Skipped(String),
}

/// The suites of one plan: one for each server that a case belongs to.
fn suites_of(report: &RunReport) -> Vec<Suite<'_>> {
    let mut suites = Vec::new();
    if let Some((last, earlier)) = report.iterations.split_last() {
        let seen = StepFailures {
            last: FailuresByStep::of(last),
            earlier: earlier.iter().map(FailuresByStep::of).collect(),
            steps: last.steps.iter().map(|step| step.id.as_str()).collect(),
        };
        let of_servers: Vec<(String, Option<&ServerReport>, Vec<Case<'_>>)> = server_names(last)
            .into_iter()
            .map(|name| {
                let server = last.servers.iter().find(|server| server.name == name);
                let cases = cases_of(&name, server, last, &seen);
                (name, server, cases)
            })
            .collect();
        let red: HashSet<String> = of_servers
            .iter()
            .filter(|(_, _, cases)| cases.iter().any(Case::is_red))
            .map(|(name, _, _)| name.clone())
            .collect();
        for (name, server, mut cases) in of_servers {
            if !red.contains(&name)
                && let Some(because) = held_back(&name, last)
                && let Some(case) = because_case(&name, because, last, &red)
            {
                cases.insert(0, case);
            }
            number_namesakes(&mut cases);
            if !cases.is_empty() {
                let name = format!("{}.{}", attribute(&report.plan.name), attribute(&name));
                suites.push(Suite::new(report, server, name, cases));
            }
        }
    }
    let red = suites
        .iter()
        .flat_map(|suite| &suite.cases)
        .any(|case| case.is_red());
    suites.extend(suite_of_whole(report, red && whole::is_told(report)));
    suites
}

/// What is wrong with the run and with no server or step of it: an error each.
fn suite_of_whole(report: &RunReport, is_told: bool) -> Option<Suite<'_>> {
    let last = report.iterations.last().into_iter();
    let failures = last.flat_map(|last| &last.failures);
    let homeless: Vec<&FailureReport> = failures
        .filter(|failure| failure.server.is_none() && failure.step.is_none())
        .collect();
    let told = deciding(homeless.iter().copied()).zip(Trouble::of(&homeless));
    let mut cases: Vec<Case<'_>> = told
        .map(|(failure, trouble)| Case::of_failure(whole::subject(report), failure, trouble))
        .into_iter()
        .collect();
    let is_told = is_told || !cases.is_empty();
    let troubles = whole::troubles(report, is_told).into_iter();
    cases.extend(troubles.map(|trouble| Case::of_whole(report, trouble)));
    if cases.is_empty() {
        return None;
    }
    number_namesakes(&mut cases);
    let name = attribute(&report.plan.name);
    Some(Suite::new(report, None, name, cases))
}

/// Servers in the plan's order, then those that only a step or a failure
/// names.
fn server_names(iteration: &IterationReport) -> Vec<String> {
    let named = iteration.servers.iter().map(|server| server.name.as_str());
    let by_steps = iteration.steps.iter().map(|step| step.server.as_str());
    let by_failures = iteration
        .failures
        .iter()
        .filter_map(|f| f.server.as_deref());
    let mut names: Vec<String> = Vec::new();
    for name in named.chain(by_steps).chain(by_failures) {
        if !names.iter().any(|known| known == name) {
            names.push(name.to_owned());
        }
    }
    names
}

/// What the cases of steps are made of.
struct StepFailures<'r> {
    last: FailuresByStep<'r>,
    /// One for each iteration before the last.
    earlier: Vec<FailuresByStep<'r>>,
    /// Of the last.
    steps: HashSet<&'r str>,
}

impl<'r> StepFailures<'r> {
    /// Of a step that passed after it had failed on the same plan: its last failure.
    fn flaked(&self, step: &StepReport) -> Option<&'r FailureReport> {
        let passed = step.flaky && step.state == StepState::Passed;
        let mut earlier = self.earlier.iter().rev().filter(|_| passed);
        earlier.find_map(|failures| deciding(failures.get(&step.id).iter().copied()))
    }
}

fn cases_of<'r>(
    name: &str,
    server: Option<&ServerReport>,
    last: &'r IterationReport,
    seen: &StepFailures<'r>,
) -> Vec<Case<'r>> {
    let of_server = |failure: &&FailureReport| failure.server.as_deref() == Some(name);
    let known_step = |failure: &FailureReport| {
        let step = failure.step.as_deref();
        step.is_some_and(|step| seen.steps.contains(step))
    };
    let mut cases = Vec::new();
    for failure in last.failures.iter().filter(of_server) {
        // A failure of a step that the report does not list is told all the same.
        if !known_step(failure)
            && let Some(trouble) = Trouble::of(&[failure])
        {
            let title = view::server_case(name, failure);
            let mut case = Case::of_failure(title, failure, trouble);
            if view::is_wire_check(failure) {
                case.tell_all(server);
            }
            cases.push(case);
        }
    }
    // A check that found nothing is a result too.
    if let Some(check) = server.and_then(|server| server.wire_check.as_ref())
        && check.failing().next().is_none()
    {
        cases.push(Case::passed(view::wire_case(name)));
    }
    let mut told = last.failures.iter().any(|f| of_server(&f));
    for step in last.steps.iter().filter(|step| step.server == name) {
        let (case, extra) = case_of(step, last, seen);
        told |= case.is_red();
        cases.extend(extra);
        cases.push(case);
    }
    // A server that did not do well and about which no failure says so.
    if let Some(server) = server
        && !told
    {
        match server.state {
            ServerState::Failed => cases.insert(0, server_trouble(server, "start")),
            ServerState::Died => cases.insert(0, server_trouble(server, "server")),
            ServerState::Ready | ServerState::NotStarted | ServerState::Refused => {}
        }
    }
    cases
}

fn server_trouble(server: &ServerReport, what: &str) -> Case<'static> {
    let exit = server
        .exit
        .as_ref()
        .map_or_else(|| "no exit status".to_owned(), words::exit);
    let state = words::spaced(&server.state);
    let noun = if server.is_service {
        "service"
    } else {
        "server"
    };
    let mut trouble = Trouble::of_jelly("unknown", format!("the {noun} {state}: {exit}"));
    trouble.stderr.clone_from(&server.stderr_tail);
    Case::failed(format!("({what} {})", server.name), trouble)
}

/// Why the first blocked or quarantined step of a server could not run.
fn held_back<'r>(server: &str, last: &'r IterationReport) -> Option<Option<&'r Because>> {
    last.steps
        .iter()
        .filter(|step| step.server == server)
        .find(|step| match step.state {
            StepState::Blocked | StepState::Quarantined => true,
            StepState::Passed | StepState::Failed | StepState::Skipped => false,
        })
        .map(|step| step.because.as_ref())
}

/// The error that a suite needs whose steps are held back by something that no
/// other suite tells: one cause is one error. `red` holds the servers whose suites
/// have one.
fn because_case<'r>(
    server: &str,
    because: Option<&Because>,
    last: &'r IterationReport,
    red: &HashSet<String>,
) -> Option<Case<'r>> {
    let (name, cause) = match because {
        Some(because @ (Because::Server(other) | Because::ServerDown(other))) => {
            let cause = last
                .failures
                .iter()
                .find(|f| f.server.as_deref() == Some(other.as_str()) && f.step.is_none());
            let what = match because {
                Because::ServerDown(_) => "server",
                _ => "start",
            };
            (format!("({what} {other})"), cause)
        }
        Some(Because::Setup(step)) => (format!("(setup {step})"), last.deciding_failure_of(step)),
        Some(Because::Step(step)) => (format!("(step {step})"), last.deciding_failure_of(step)),
        // Some causes concern no step and no server alone.
        Some(Because::Plan(reason)) => {
            let cause = last.failures.iter().find(|f| is_of_all(f, reason));
            (format!("(server {server})"), cause)
        }
        Some(
            Because::NotSelected
            | Because::If
            | Because::Requires(_)
            | Because::FailFast
            | Because::Deadline
            | Because::Interrupted,
        )
        | None => (format!("(server {server})"), None),
    };
    let is_told = cause.is_some_and(|failure| match (&failure.server, &failure.step) {
        _ if failure.known.is_some() => false,
        (Some(home), _) => red.contains(home),
        // That of the run as a whole.
        (None, None) => true,
        (None, Some(_)) => false,
    });
    if is_told {
        return None;
    }
    let why = because.map_or_else(|| "its steps could not run".to_owned(), words::because);
    let trouble = cause
        .and_then(|failure| Trouble::of(&[failure]))
        .unwrap_or_else(|| Trouble::of_jelly("blocked", why));
    Some(match cause {
        Some(failure) => Case::of_failure(name, failure, trouble),
        None => Case::failed(name, trouble),
    })
}

/// The case of a step, and the error that stands beside it.
fn case_of<'r>(
    step: &StepReport,
    last: &'r IterationReport,
    seen: &StepFailures<'r>,
) -> (Case<'r>, Option<Case<'r>>) {
    let now = seen.last.get(&step.id);
    let known = known_reason(now);
    let outcome = match (step.state, &known) {
        (StepState::Failed, Some(reason)) => CaseOutcome::Skipped(reason.clone()),
        _ => outcome_of(step, last, now),
    };
    let extra = beside(step, now);
    let speaks = deciding(now.iter().copied());
    let failed = matches!(outcome, CaseOutcome::Failed(_));
    let earlier: Vec<Trouble> = seen
        .earlier
        .iter()
        .filter(|_| failed || step.flaky)
        .filter_map(|failures| Trouble::earlier(failures.get(&step.id), speaks))
        .collect();
    let mut properties = vec![("jelly.attempts", step.attempts.to_string())];
    if step.name != step.id {
        properties.push(("jelly.name", step.name.clone()));
    }
    if step.section != Section::Steps {
        properties.push(("jelly.section", json_word(&step.section)));
    }
    let flaked = seen.flaked(step).map(|failure| Diagnosis {
        flaky: true,
        ..failure.diagnosis.clone()
    });
    if let Some(failure) = speaks.filter(|_| known.is_some() || failed) {
        properties.extend(diagnosis_properties(failure));
    } else if let Some(diagnosis) = &flaked {
        properties.extend(Label::properties(diagnosis));
    }
    let marks = now.iter().filter_map(|failure| failure.known.as_ref());
    properties.extend(marks.map(|mark| ("jelly.known", mark.entry.at.clone())));
    let system_err = match &outcome {
        CaseOutcome::Failed(trouble) => trouble.stderr.clone(),
        CaseOutcome::Passed | CaseOutcome::Skipped(_) => String::new(),
    };
    let said = speaks.map(|failure| Cow::Borrowed(&failure.diagnosis));
    let case = Case {
        name: step.id.clone(),
        seconds: step.duration_ms.map_or(0.0, |ms| ms / 1000.0),
        at: speaks.and_then(place),
        properties,
        diagnosis: said.or(flaked.map(Cow::Owned)),
        outcome,
        earlier,
        system_err,
    };
    (case, extra)
}

fn outcome_of(step: &StepReport, last: &IterationReport, now: &[&FailureReport]) -> CaseOutcome {
    let because = step.because.as_ref().map(words::because);
    let unknown =
        |type_: &str, text: &str| CaseOutcome::Failed(Trouble::of_jelly(type_, text.to_owned()));
    match step.state {
        StepState::Passed => CaseOutcome::Passed,
        StepState::Failed => match Trouble::of(now) {
            Some(trouble) => CaseOutcome::Failed(trouble),
            None => unknown("unknown", "the step failed; no failure was recorded"),
        },
        StepState::Skipped => CaseOutcome::Skipped(because.unwrap_or_else(|| "skipped".to_owned())),
        StepState::Blocked => CaseOutcome::Skipped(format!(
            "blocked: {}",
            because.unwrap_or_else(|| "its server was not ready".to_owned())
        )),
        // It stands, and nothing else of the suite says it.
        StepState::Quarantined => {
            let because = because.unwrap_or_else(|| "the plan can't be run as written".to_owned());
            match Trouble::of(now) {
                Some(mut trouble) => {
                    trouble.tell_quarantine(&because);
                    CaseOutcome::Failed(trouble)
                }
                None if last.failures.iter().any(|f| is_of_all(f, &because)) => {
                    CaseOutcome::Skipped(format!("quarantined: {because}"))
                }
                None => unknown("invalid_plan", &because),
            }
        }
    }
}

/// A failure that concerns no step and no server alone, by the reason that steps
/// give for what came of it.
fn is_of_all(failure: &FailureReport, reason: &str) -> bool {
    failure.step.is_none() && failure.server.is_none() && failure.message == reason
}

/// Why a step that failed is passed over: each of its failures is known.
fn known_reason(now: &[&FailureReport]) -> Option<String> {
    let marks: Option<Vec<_>> = now.iter().map(|failure| failure.known.as_ref()).collect();
    let first = marks?.first().copied()?;
    Some(format!("known failure: {}", first.entry.reason))
}

/// The error beside the case of a step that did not run: JUnit knows no case
/// that is both skipped and wrong.
fn beside<'r>(step: &StepReport, now: &[&'r FailureReport]) -> Option<Case<'r>> {
    match step.state {
        StepState::Failed | StepState::Quarantined => None,
        StepState::Passed | StepState::Blocked | StepState::Skipped => {
            let failure = deciding(now.iter().copied())?;
            let title = format!("(step {})", step.path());
            Some(Case::of_failure(title, failure, Trouble::of(now)?))
        }
    }
}

fn diagnosis_properties(failure: &FailureReport) -> Vec<(&'static str, String)> {
    let mut properties = Label::properties(&failure.diagnosis);
    let mismatches = failure.mismatch.map_or(1, |mismatch| mismatch.of);
    if mismatches > 1 {
        properties.push(("jelly.mismatches", mismatches.to_string()));
    }
    properties
}

fn place(failure: &FailureReport) -> Option<(String, String)> {
    line_of(failure.at.as_deref()?)
}

/// File and line of `file:line:column`.
fn line_of(at: &str) -> Option<(String, String)> {
    let (rest, _column) = at.rsplit_once(':')?;
    let (file, line) = rest.rsplit_once(':')?;
    line.parse::<u32>().ok()?;
    Some((file.to_owned(), line.to_owned()))
}

/// Readers tell cases of one suite apart by their names.
fn number_namesakes(cases: &mut [Case<'_>]) {
    let mut seen: HashMap<&str, usize> = HashMap::with_capacity(cases.len());
    let mut numbers = Vec::new();
    for (index, case) in cases.iter().enumerate() {
        let count = seen.entry(&case.name).or_default();
        *count += 1;
        if *count > 1 {
            numbers.push((index, *count));
        }
    }
    for (index, number) in numbers {
        cases[index].name.push_str(&format!(" #{number}"));
    }
}

impl<'r> Case<'r> {
    fn passed(name: String) -> Self {
        Self {
            name,
            seconds: 0.0,
            at: None,
            properties: Vec::new(),
            diagnosis: None,
            outcome: CaseOutcome::Passed,
            earlier: Vec::new(),
            system_err: String::new(),
        }
    }

    /// Adds every breach of the wire check; the failure names the first only.
    fn tell_all(&mut self, server: Option<&ServerReport>) {
        let check = server.and_then(|server| server.wire_check.as_ref());
        if let (Some(check), CaseOutcome::Failed(trouble)) = (check, &mut self.outcome) {
            trouble.tell_breaches(check);
        }
    }

    fn failed(name: String, trouble: Trouble) -> Self {
        Self {
            system_err: trouble.stderr.clone(),
            outcome: CaseOutcome::Failed(trouble),
            ..Self::passed(name)
        }
    }

    fn of_failure(name: String, failure: &'r FailureReport, trouble: Trouble) -> Self {
        Self {
            diagnosis: Some(Cow::Borrowed(&failure.diagnosis)),
            at: place(failure),
            properties: diagnosis_properties(failure),
            ..Self::failed(name, trouble)
        }
    }

    fn of_whole(report: &RunReport, trouble: RunTrouble<'r>) -> Self {
        let told = Trouble::of_whole(report, &trouble);
        Self {
            at: trouble.at.and_then(line_of),
            properties: Label::properties(&trouble.diagnosis),
            diagnosis: Some(trouble.diagnosis),
            ..Self::failed(trouble.subject, told)
        }
    }

    fn is_red(&self) -> bool {
        match self.outcome {
            CaseOutcome::Failed(_) => true,
            CaseOutcome::Passed | CaseOutcome::Skipped(_) => false,
        }
    }
}

#[cfg(test)]
mod tests;
