//! One problem of the help summary, from the failures that share its cause.

use super::alike::{kinds, more_alike};
use super::call_flags::CallFlag;
use super::help::HelpContext;
use super::help_cases::Lookup;
use super::help_compared::compared;
use super::help_excuse::excused;
use super::judge::EARLIER_STEP_FAILED;
use super::reason::NAMED;
use super::run::PassedOver;
use super::seen::NEW_SNAPSHOT;
use jelly_base::model::{
    ActionKind, Assertion, Diagnosis, Exit, FailureReport, HelpProblem, IterationReport, Phase,
    RepairReport, Side, Standing, Unlisted,
};
use jelly_base::text::{
    close_names, first_names, listed, one_line, plural, shell_flag, start_by_hand,
};
use jelly_plan::{Operator, Plan, Step};

/// So many mismatches are told beside the one that decides.
const OTHERS: usize = 10;
/// How much of a value or a line is quoted, in bytes.
const QUOTE: usize = 200;

/// Failures of one cause at one server.
pub(super) struct Case<'a> {
    /// The first of them, in the order of the iteration; of several mismatches
    /// of its step the one that decides.
    pub failure: &'a FailureReport,
    /// What else does not hold at these steps, each mismatch once.
    pub others: Vec<&'a FailureReport>,
    pub iteration: &'a IterationReport,
    /// Ids of the steps that failed so; none where the server itself did.
    pub steps: Vec<&'a str>,
}

impl<'a> Case<'a> {
    pub(super) fn failures(&self) -> impl Iterator<Item = &'a FailureReport> {
        std::iter::once(self.failure).chain(self.others.iter().copied())
    }

    /// Several steps wait for what they answered to be stored.
    fn has_new_snapshots(&self) -> bool {
        self.failure.diagnosis.root_cause == NEW_SNAPSHOT && self.steps.len() > 1
    }
}

/// How often a failure was seen in this run, this time included.
pub(super) fn sightings(diagnosis: &Diagnosis) -> u32 {
    diagnosis.repeated.as_ref().map_or(1, |r| r.count)
}

pub(super) fn problem(
    case: &Case<'_>,
    lookup: &Lookup<'_>,
    context: &HelpContext<'_>,
) -> HelpProblem {
    let what = what(case, lookup);
    HelpProblem {
        server: case.failure.server.clone(),
        step: case.failure.step.clone(),
        at: case.failure.at.clone(),
        root_cause: None,
        fingerprint: Some(case.failure.diagnosis.fingerprint.clone()),
        evidence: evidence(case, &what, context),
        what,
        tried: tried(case, lookup, context),
        next: next(case, lookup, context),
    }
}

fn what(case: &Case<'_>, lookup: &Lookup<'_>) -> String {
    let iterations = lookup.iterations;
    let failure = case.failure;
    let diagnosis = &failure.diagnosis;
    let mut what = if diagnosis.advice.what.is_empty() {
        failure.message.clone()
    } else {
        diagnosis.advice.what.clone()
    };
    if case.has_new_snapshots() {
        let count = plural(case.steps.len(), "step");
        let names = first_names(&case.steps, case.steps.len(), NAMED);
        return format!("Nothing is stored yet for the snapshots of {count}: {names}");
    }
    let mut add = |clause: String| {
        what = format!("{}; {clause}", what.trim_end_matches(['.', ';']));
    };
    if let [_, others @ ..] = case.steps.as_slice()
        && !others.is_empty()
    {
        let others = first_names(others, others.len(), NAMED);
        add(format!("the same in {others}"));
    }
    let last = iterations.last();
    let is_earlier = last.is_some_and(|last| last.index > case.iteration.index);
    if is_earlier && diagnosis.side == Side::Code {
        let passed = |step: &String| lookup.passed_last(step);
        add(if failure.step.as_ref().is_some_and(passed) {
            format!("iteration {} found it", case.iteration.index)
        } else {
            format!(
                "iteration {} found it, and nothing passed there since",
                case.iteration.index
            )
        });
    }
    let blocked = lookup.blocked_by(case);
    if blocked > 0 {
        add(format!(
            "{} could not run because of it",
            plural(blocked, "step")
        ));
    }
    match (diagnosis.flaky, diagnosis.side) {
        (true, Side::Test) => add(
            "it does not fail the same way each time, so it proves nothing against the code"
                .to_owned(),
        ),
        (true, Side::Code) => add("it passed when it was run again".to_owned()),
        (false, _) => {}
    }
    if let Some(word) = &diagnosis.excused {
        let seen = sightings(diagnosis);
        add(excused(word, diagnosis, seen, unconfirmable(iterations)));
    }
    let of_snapshot = failure
        .assertion
        .as_ref()
        .is_some_and(|assertion| assertion.kind == "snapshot");
    if diagnosis.standing == Some(Standing::NeverPassed) && of_snapshot {
        // A person has looked at it.
        add("either the server changed, or the snapshot was accepted of another answer: no run is remembered in which it held as the plan is now".to_owned());
    } else if diagnosis.standing == Some(Standing::NeverPassed) {
        add("either the server is wrong, or the plan expects the wrong value: no history says that this expectation ever held as the plan is now".to_owned());
    }
    what
}

/// Whether no mismatch of this run was to be confirmed.
fn unconfirmable(iterations: &[IterationReport]) -> bool {
    let first = iterations.first().map(|i| i.budgets.before.confirms);
    first == Some(0)
}

/// Exit status, the telling line, and where the plan speaks of it; nothing
/// that `what` says already. Then what else does not hold.
fn evidence(case: &Case<'_>, what: &str, context: &HelpContext<'_>) -> String {
    let failure = case.failure;
    let mut parts = Vec::new();
    let is_told = |status: &String| {
        let evidence = failure.diagnosis.evidence.as_ref();
        evidence.is_some_and(|evidence| evidence.text.starts_with(status.as_str()))
    };
    let status = failure.exit.as_ref().and_then(exit_status);
    parts.extend(status.filter(|status| !is_told(status)));
    parts.extend(mismatch(failure));
    match &failure.diagnosis.evidence {
        // What was compared has been said.
        Some(evidence) if evidence.field == "assertion" && failure.assertion.is_some() => {}
        Some(evidence) if evidence.field == "message" && what.contains(evidence.text.trim()) => {}
        Some(evidence) if !evidence.text.trim().is_empty() => parts.push(format!(
            "{}: {}",
            evidence.field,
            one_line(&evidence.text, QUOTE)
        )),
        Some(_) | None => {}
    }
    if parts.is_empty() && (failure.at.is_none() || !what.contains(&failure.message)) {
        parts.push(format!(
            "none beyond the message: {}",
            one_line(&failure.message, QUOTE)
        ));
    }
    parts.extend(offered(case, context.plan));
    if let Some(at) = &failure.at {
        parts.push(format!("the plan at {at}"));
    }
    // Of many new snapshots, one shows where they would lie.
    let others: Vec<&FailureReport> = case
        .others
        .iter()
        .copied()
        .filter(|other| !case.has_new_snapshots() || other.diagnosis.root_cause != NEW_SNAPSHOT)
        .collect();
    for other in others.iter().take(OTHERS) {
        parts.push(also(other));
    }
    let untold = others.len().saturating_sub(OTHERS) + left_out(case);
    if untold > 0 {
        parts.push(format!("and {}", plural(untold as u64, "more mismatch")));
    }
    parts.join("; ")
}

/// How many mismatches of the step are no failures of their own.
fn left_out(case: &Case<'_>) -> usize {
    if case
        .failure
        .mismatch
        .is_none_or(|mismatch| mismatch.of <= 1)
    {
        return 0;
    }
    let failures = &case.iteration.failures;
    let of_step = |other: &&FailureReport| other.step == case.failure.step;
    let kept = failures.iter().filter(of_step).count();
    let of = case.failure.mismatch.map_or(0, |mismatch| mismatch.of);
    usize::try_from(of)
        .unwrap_or(usize::MAX)
        .saturating_sub(kept)
}

/// What was compared, where something was. A breach of the protocol says all
/// of it by itself.
fn mismatch(failure: &FailureReport) -> Option<String> {
    let assertion = failure.assertion.as_ref().filter(|a| !a.is_wire())?;
    Some(if assertion.is_told_in_words() {
        one_line(&failure.message, QUOTE)
    } else {
        compared(assertion)
    })
}

/// Another mismatch, with its place and why it does not decide.
fn also(other: &FailureReport) -> String {
    // The message names what it is about; where a path finds nothing, it is
    // long, and its end matters.
    let nearest = other.assertion.as_ref().filter(|a| a.nearest.is_some());
    let told = nearest.map_or_else(|| one_line(&other.message, QUOTE), compared);
    let mut asides = Vec::new();
    asides.extend(other.at.as_ref().map(|at| format!("the plan at {at}")));
    if other.diagnosis.flaky {
        asides.push("another value each time".to_owned());
    }
    let word = other.diagnosis.excused.as_deref();
    asides.extend(
        word.map(|word| excused(word, &other.diagnosis, sightings(&other.diagnosis), false)),
    );
    match asides.as_slice() {
        [] => format!("also {told}"),
        asides => format!("also {told} ({})", asides.join("; ")),
    }
}

/// For a name or a method that is not known: what is.
fn offered(case: &Case<'_>, plan: &Plan) -> Option<String> {
    let failure = case.failure;
    let name = failure.server.as_deref()?;
    let close_or_all = |name: &str, names: &[String], total: u64, noun: &str, whose: &str| {
        let close = close_names(name, names.iter().map(String::as_str));
        if close.is_empty() {
            format!("{whose} {}", listed(names, total, noun))
        } else {
            format!("close to it: {}", close.join(", "))
        }
    };
    if failure.diagnosis.root_cause == "server_not_configured" && !plan.servers.contains_key(name) {
        let names: Vec<String> = plan.servers.keys().cloned().collect();
        let total = names.len() as u64;
        return Some(close_or_all(
            name,
            &names,
            total,
            "server",
            "the plan defines",
        ));
    }
    let server = case.iteration.servers.iter().find(|s| s.name == name)?;
    let offers = server.offers.as_ref()?;
    if failure.diagnosis.root_cause == "method_not_found" {
        let declared = &offers.capabilities;
        let total = declared.len() as u64;
        return Some(format!(
            "the server declares {}",
            listed(declared, total, "capability")
        ));
    }
    let Unlisted { kind, name, listed } = offers.unlisted(failure.request.as_ref()?)?;
    let total = listed.total();
    Some(close_or_all(
        name,
        &listed.names,
        total,
        kind,
        "the server lists",
    ))
}

fn exit_status(exit: &Exit) -> Option<String> {
    match (&exit.code, &exit.signal) {
        (Some(code), _) => Some(format!("exit code {code}")),
        (None, Some(signal)) => Some(format!("ended by {signal}")),
        (None, None) => None,
    }
}

/// What the loop did about it, iteration by iteration.
fn tried(case: &Case<'_>, lookup: &Lookup<'_>, context: &HelpContext<'_>) -> Vec<String> {
    let mut tried = Vec::new();
    for (iteration, concerned) in lookup.iterations.iter().zip(&lookup.again) {
        let action = &iteration.action;
        let repairs = action.repairs.iter();
        let repairs = repairs.filter(|repair| is_about(&repair.target, case));
        let is_like = |one: &RepairReport, other: &RepairReport| {
            (&one.id, one.ineffective) == (&other.id, other.ineffective)
        };
        for (repair, count) in kinds(repairs, is_like) {
            let end = match repair.ineffective {
                true => "; it did not help",
                false => "",
            };
            let (id, why, more) = (&repair.id, &repair.explanation, more_alike(count));
            tried.push(format!("repair {id}: {why}{more}{end}"));
        }
        if let Some(hook) = &action.hook {
            let end = match (&hook.error, &hook.exit) {
                (Some(error), _) => error.clone(),
                (None, Some(_)) => "said that something changed".to_owned(),
                (None, None) => "was interrupted".to_owned(),
            };
            tried.push(format!("the hook {} {end}", hook.hook));
        }
        let again = match action.kind {
            ActionKind::Retry if concerned.is_about(case) => "reran the plan",
            ActionKind::Confirm if concerned.is_about(case) => {
                "reran the plan on fresh servers to confirm"
            }
            _ => continue,
        };
        if iteration.index < case.iteration.index {
            tried.push(format!("{again} (iteration {})", iteration.index + 1));
        }
    }
    let passed = context.passed_over.iter();
    let passed = passed.filter(|passed| is_about(&passed.target, case));
    let passed = kinds(passed, PassedOver::is_like);
    tried.extend(passed.iter().map(|(passed, count)| {
        let more = more_alike(*count);
        format!("{}{more}", passed.sentence())
    }));
    tried
}

/// A repair is about this problem if its target is the server or a step of it.
fn is_about(target: &str, case: &Case<'_>) -> bool {
    let names = |section: &str, name: &str| {
        target
            .strip_prefix(section)
            .and_then(|rest| rest.strip_prefix(name))
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    let server = case.failure.server.as_deref();
    server.is_some_and(|server| names("servers.", server))
        || case.steps.iter().any(|step| {
            ["setup.", "steps.", "teardown."]
                .iter()
                .any(|section| names(section, step))
        })
}

/// Advice first, then commands to paste.
fn next(case: &Case<'_>, lookup: &Lookup<'_>, context: &HelpContext<'_>) -> Vec<String> {
    let failure = case.failure;
    let diagnosis = &failure.diagnosis;
    let mut next = Vec::new();
    let mut snapshots = snapshots(case, lookup, context);
    let doubtful = diagnosis.standing == Some(Standing::NeverPassed);
    if doubtful {
        let at = doubtful_places(case);
        next.push(if snapshots.is_empty() {
            format!("if the server is right, correct the expectation at {at}")
        } else {
            format!("if the server is right, store what it answered for the expectation at {at}:")
        });
        next.append(&mut snapshots);
        next.push("if the plan is right, fix the server".to_owned());
    }
    if diagnosis.excused.as_deref() == Some(EARLIER_STEP_FAILED)
        && let Some(earlier) = &diagnosis.excused_by
    {
        next.push(format!(
            "make {earlier} pass first, or move this step before it if it needs nothing of it: \
             then a repeated mismatch is proof"
        ));
    }
    if diagnosis.excused.as_deref() == Some("unanswered") {
        next.push(
            "say by `answers`, of the step or of its server, what the server gets when it asks; \
             where it has to live with a refusal, this shows what it makes of one:"
                .to_owned(),
        );
    }
    let outlives = diagnosis.excused.as_deref() == Some("not_repeatable");
    if outlives {
        next.push(
            "give the server a state of its own in each iteration, as a path below ${tmp}"
                .to_owned(),
        );
    }
    let same_code = diagnosis.excused.as_deref() == Some("same_code");
    if same_code {
        next.push(
            "find what else differs from the run in which it passed: data, installed \
             dependencies, services that the server uses, the machine, the time"
                .to_owned(),
        );
    }
    // To mend the server is no advice for what is not its fault, and of two
    // readings enough is said above.
    let readings_said = doubtful || outlives || same_code;
    let many_new = case.has_new_snapshots();
    let advice = diagnosis.advice.fix.iter();
    let advice = advice.filter(|fix| match fix.is_command() {
        // The commands of the advice are about one of them.
        true => !many_new,
        false => !readings_said,
    });
    // What is to be pasted may have several lines.
    let lines = advice.flat_map(|fix| fix.line().lines().map(str::to_owned).collect::<Vec<_>>());
    next.extend(lines);
    if many_new {
        let plan = context.plan_word();
        next.push(format!("$ jelly snapshot review --plan {plan}"));
        next.push(format!("$ jelly snapshot accept --plan {plan}"));
    }
    if !snapshots.is_empty() && diagnosis.flaky {
        // The next answer would be another one again.
        next.push(
            "no stored answer holds where each is another one: replace what changes with \
             `redact` beside `snapshot`, or expect a part of it (`contains`, `matches`)"
                .to_owned(),
        );
    } else if !snapshots.is_empty() {
        next.push("where the new answer is right, store it:".to_owned());
        next.append(&mut snapshots);
    }
    let stores = next
        .iter()
        .any(|line| line.starts_with("$ jelly snapshot accept"));
    if stores && context.plan.source.variant.is_some() {
        next.insert(
            0,
            "the combinations of the matrix share this snapshot: it can be stored only where all \
             of them give the same answer"
                .to_owned(),
        );
    }
    for line in next.iter_mut().filter(|l| l.starts_with("$ jelly ")) {
        let folder = context
            .reports_dir
            .filter(|_| line.starts_with("$ jelly snapshot "));
        line.extend(folder.map(|folder| format!(" {}", shell_flag("--reports-dir", folder))));
        context.call_flags.extend(line);
    }
    let is_of_start = matches!(failure.phase, Phase::Spawn | Phase::Handshake | Phase::List);
    if is_of_start && !failure.argv.is_empty() {
        let here = &context.call_flags.folder;
        let folder = failure.cwd.as_deref().filter(|folder| folder != here);
        let variables = failure.variables.iter();
        let variables: Vec<_> = variables.map(|(name, value)| (&**name, &**value)).collect();
        let line = start_by_hand(folder, &variables, &failure.argv);
        push_new(&mut next, format!("$ {line}"));
    }
    if let Some(hook) = context.undo.hook {
        next.push(format!(
            "lines of files are told as they were before {hook} changed them"
        ));
        if context.course.tainted.is_none() {
            // Nothing else says what is left.
            next.extend(context.undo.lines.iter().cloned());
        }
    }
    if let Some(step) = case.steps.first().filter(|_| !many_new) {
        // One of several would leave out the others.
        let is_alone = case.steps.len() == 1;
        let more = is_alone.then(|| only_step(step, context.plan));
        push_new(&mut next, context.run_again(&more.unwrap_or_default()));
    } else if let Some(server) = failure.server.as_ref().filter(|_| !many_new) {
        let mut more = only_server(server, context.plan);
        let check = CallFlag::bare("--wire-check");
        let is_wire = failure.assertion.as_ref().is_some_and(Assertion::is_wire);
        // Without it, the next run would look no more.
        if is_wire && !context.call_flags.has(&check.name) {
            more.push(check);
        }
        push_new(&mut next, context.run_again(&more));
    } else {
        push_new(&mut next, context.run_again(&[]));
    }
    if let Some(loop_limit) = context.loop_limits.get(&diagnosis.test_fingerprint) {
        next.push(format!("{}: {}", loop_limit.reason(), loop_limit.remedy()));
        push_new(&mut next, context.rerun(loop_limit));
    }
    // Trust matters only to a hook that is there to refine the code.
    let trust = CallFlag::bare("--trust-plan");
    let is_trusted = context.call_flags.has(&trust.name);
    if doubtful && !is_trusted && case.iteration.budgets.before.code_refines > 0 {
        push_new(&mut next, context.run_again(&[trust]));
    }
    next
}

/// Where the expectations stand that were never seen to hold.
fn doubtful_places(case: &Case<'_>) -> String {
    let doubtful = case
        .failures()
        .filter(|f| f.diagnosis.standing == Some(Standing::NeverPassed));
    let places: Vec<&str> = doubtful
        .filter_map(|failure| failure.at.as_deref())
        .take(OTHERS)
        .collect();
    if places.is_empty() {
        "the plan".to_owned()
    } else {
        places.join(", ")
    }
}

/// Words that run nothing but this step, where no earlier one is left out by
/// them: what a step shows may rest on all that ran before it.
fn only_step(step: &str, plan: &Plan) -> Vec<CallFlag> {
    let first = plan.steps.first().is_some_and(|first| first.id == step);
    only(step, first)
}

/// The same of a server's steps.
fn only_server(server: &str, plan: &Plan) -> Vec<CallFlag> {
    let own = |step: &&Step| step.server == server;
    let leading = plan.steps.iter().take_while(own).count();
    let all = plan.steps.iter().filter(own).count();
    only(server, all > 0 && leading == all)
}

fn only(name: &str, leaves_nothing_out: bool) -> Vec<CallFlag> {
    match leaves_nothing_out {
        true => vec![CallFlag::only(name)],
        false => Vec::new(),
    }
}

/// The commands that review and store what was answered instead of snapshots.
fn snapshots(case: &Case<'_>, lookup: &Lookup<'_>, context: &HelpContext<'_>) -> Vec<String> {
    let mut names: Vec<&str> = Vec::new();
    for failure in case.failures() {
        let name = snapshot_of(failure, lookup, context.plan);
        names.extend(name.filter(|name| !names.contains(name)));
    }
    if names.is_empty() {
        return Vec::new();
    }
    let plan = context.plan_word();
    let accept = names
        .iter()
        .map(|name| format!("$ jelly snapshot accept {name} --plan {plan}"));
    std::iter::once(format!("$ jelly snapshot review --plan {plan}"))
        .chain(accept)
        .collect()
}

/// The snapshot that an answer was held against in vain.
fn snapshot_of<'a>(failure: &FailureReport, lookup: &Lookup<'a>, plan: &Plan) -> Option<&'a str> {
    let assertion = failure.assertion.as_ref()?;
    let is_of = |operator: &Operator| operator.name() == assertion.kind;
    let of_other = Operator::ALL.iter().find(|operator| is_of(operator));
    if of_other.is_some_and(|operator| *operator != Operator::Snapshot) {
        return None;
    }
    let at = assertion.at.as_ref()?;
    let step = lookup.steps.get(failure.step.as_deref()?)?;
    let mut predicates = step.predicates();
    let predicate =
        predicates.find(|p| p.operator == Operator::Snapshot && plan.at(p.at) == *at)?;
    predicate.operand.as_str()
}

/// Advice may name the same command already.
fn push_new(next: &mut Vec<String>, line: String) {
    if !next.contains(&line) {
        next.push(line);
    }
}
