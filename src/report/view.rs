//! One view of a run for all of its reports: what there is to tell, picked and
//! put into words once, in the order in which it is told. A format chooses of
//! it, escapes it and lays it out.
//!
//! Nothing is kept: what is said of a step or of a failure is made when it is
//! asked for, since a run has thousands and its report is written after every
//! iteration.

use super::words::{self, exit};
use jelly_base::model::{
    Advice, Assertion, BeforeAfter, Diagnosis, FailureReport, HelpProblem, HookReport, HttpFacts,
    IterationReport, MismatchPlace, Offers, Outcome, Phase, RepairReport, RunReport, Rung,
    ServerReport, Side, StepReport, StepState, TextDifference, Unaccepted, Unlisted, Verdict,
    WireCheck, json_word,
};
use jelly_base::text::{self, close_names, one_line, plural, shell_path, untold};
use std::collections::HashMap;
use std::ffi::OsStr;
use std::path::Path;

/// How a run ended, with the hooks that a green one owes to.
pub(super) fn ending(report: &RunReport) -> String {
    let verdict = words::verdict(report.verdict);
    let hooks = by_hooks(report).filter(|_| report.verdict == Verdict::PassedAfterRepair);
    let Some(hooks) = hooks else {
        return verdict;
    };
    let repairs = report.lasting_repairs();
    let also = match repairs.iter().any(|repair| !repair.ineffective) {
        true => ", also",
        false => "",
    };
    format!("{verdict}{also} {hooks}")
}

/// `by the hook fix_tests`; none where no hook changed anything.
pub(super) fn by_hooks(report: &RunReport) -> Option<String> {
    let hooks = report.hooks_at_work();
    let noun = if hooks.len() == 1 { "hook" } else { "hooks" };
    (!hooks.is_empty()).then(|| format!("by the {noun} {}", hooks.join(" and ")))
}

/// What is wrong with a plan that can't be run: it has no failures.
pub(super) fn plan_problems(report: &RunReport) -> &[HelpProblem] {
    match (&report.help_summary, report.verdict) {
        (Some(help), Verdict::InvalidInput) => &help.problems,
        (Some(_) | None, _) => &[],
    }
}

/// Where a failure belongs: the expectation or the step; of a server's own, the
/// server in its plan.
pub(super) fn place_of<'r>(
    report: &'r RunReport,
    iteration: &'r IterationReport,
    failure: &'r FailureReport,
) -> &'r str {
    let server = || {
        let name = failure.server.as_deref()?;
        let server = iteration
            .servers
            .iter()
            .find(|server| server.name == name)?;
        server.at.as_deref()
    };
    let at = failure.at.as_deref().or_else(server);
    at.unwrap_or(&report.plan.path)
}

/// Why a green run does not exit 0.
pub(super) fn unaccepted(report: &RunReport) -> Option<&'static str> {
    let why = report.unaccepted?;
    Some(match (why, report.verdict) {
        (Unaccepted::Contract, _) if report.repairs_written => {
            "green by a change of the contract between plan and server; it stands in the plan now, \
             and with --accept-repairs the exit code would have been 0"
        }
        (Unaccepted::Contract, _) => {
            "green, but by a change of the contract between plan and server, which \
             --accept-repairs allows"
        }
        (Unaccepted::Strict, Verdict::PassedAfterRetry) => {
            "green, but not in the first iteration, as --strict wants it"
        }
        (Unaccepted::Strict, Verdict::PassedWithKnown) => {
            "green but for known failures, which --strict does not accept"
        }
        (Unaccepted::Strict, _) => "green, but not as the plan was written, as --strict wants it",
    })
}

/// The steps that passed in the end after they had failed on the same plan, each
/// by its last failure and the iteration of it.
pub(super) fn passed_on_rerun(
    report: &RunReport,
) -> impl Iterator<Item = (&IterationReport, &FailureReport)> {
    let (last, before) = match report.iterations.split_last() {
        Some((last, before)) => (Some(last), before),
        None => (None, &[][..]),
    };
    let steps = last.into_iter().flat_map(|last| &last.steps);
    let flaky = steps.filter(|step| step.flaky && step.state == StepState::Passed);
    flaky.filter_map(move |step| {
        let mut before = before.iter().rev();
        before.find_map(|one| Some((one, one.deciding_failure_of(&step.id)?)))
    })
}

/// How the path of a plan that came from stdin is shown.
const STDIN: &str = "-";

/// What is said of the repairs where no command can take them over.
pub(super) const NO_FILE: &str = "the plan came from stdin, so there is no file to take the \
                                  repairs over into: make the change in whatever writes the plan, \
                                  or save the plan in a file and run that";

/// Whether a run is green with repairs of jelly's own that its plan's file does not have.
pub(super) fn has_repairs_to_apply(report: &RunReport) -> bool {
    report.verdict == Verdict::PassedAfterRepair
        && report.repair_diff.is_some()
        && !report.repairs_written
}

/// The command that takes the repairs of a run over into the plan's file; none where
/// the plan has no file.
pub(super) fn apply_command(report: &RunReport) -> Option<String> {
    if report.plan.path == STDIN {
        return None;
    }
    let Some(dir) = &report.report_dir else {
        return Some("jelly apply".to_owned());
    };
    let dir = Path::new(dir);
    // Of several plans, the call's results stand above them; it is they that
    // tell what the runs of one file came to together.
    let is_of_call = |dir: &&Path| dir.file_name() == Some(OsStr::new(&report.run_id));
    let dir = dir.ancestors().find(is_of_call).unwrap_or(dir);
    Some(format!(
        "jelly apply {}",
        shell_path(&dir.display().to_string())
    ))
}

/// The failures of a step, or the one of a server.
pub(super) struct FailureGroup<'r> {
    pub(super) failures: &'r [FailureReport],
    /// Those that were too many to be kept.
    pub(super) left_out: Option<String>,
}

/// The failures of an iteration in their order, those of one step together.
pub(super) fn failure_groups(
    iteration: &IterationReport,
) -> impl Iterator<Item = FailureGroup<'_>> {
    iteration.failures_by_step().map(|failures| FailureGroup {
        failures,
        left_out: left_out(&failures[0], failures.len()),
    })
}

/// Failures of one cause in an iteration.
pub(super) struct FailureCluster<'r> {
    /// At least one.
    pub(super) failures: Vec<&'r FailureReport>,
    /// The mismatches of its steps that were too many to be kept.
    pub(super) left_out: Vec<String>,
}

/// The failures of an iteration by cause, in the order of their first.
pub(super) fn failure_clusters(iteration: &IterationReport) -> Vec<FailureCluster<'_>> {
    let failures = &iteration.failures;
    let causes = iteration.causes();
    let mut home = vec![0; failures.len()];
    for (cause, places) in causes.iter().enumerate() {
        for place in places {
            home[*place] = cause;
        }
    }
    let of_cause = |places: Vec<usize>| FailureCluster {
        failures: places.into_iter().map(|at| &failures[at]).collect(),
        left_out: Vec::new(),
    };
    let mut clusters: Vec<FailureCluster<'_>> = causes.into_iter().map(of_cause).collect();
    let mut end = 0;
    for group in failure_groups(iteration) {
        end += group.failures.len();
        clusters[home[end - 1]].left_out.extend(group.left_out);
    }
    clusters
}

impl FailureCluster<'_> {
    /// What is known comes last.
    fn rank(&self) -> (bool, bool) {
        let failure = self.failures[0];
        (
            failure.known.is_some(),
            failure.diagnosis.side != Side::Code,
        )
    }
}

/// Puts those of the code side first where only so many are told: it is they that
/// decide how the run ends.
pub(super) fn put_code_first(clusters: &mut [FailureCluster<'_>], told: usize) {
    if clusters.len() > told {
        clusters.sort_by_key(FailureCluster::rank);
    }
}

/// What became of a repair.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RepairFate {
    /// Its failure came back.
    InVain,
    /// By a later `fix_tests`, after which the file was the truth.
    Dropped,
    /// It mends nothing, and holds a step back.
    TakenOut,
    Repaired,
}

/// The repair that mends nothing.
const QUARANTINE: &str = "quarantine_step";

/// All repairs of a run, in order.
pub(super) fn repairs(report: &RunReport) -> impl Iterator<Item = (&RepairReport, RepairFate)> {
    let lasting = report.lasting_repairs();
    let all = report.iterations.iter().flat_map(|i| &i.action.repairs);
    all.map(move |repair| {
        let lasts = lasting.iter().any(|kept| std::ptr::eq(*kept, repair));
        let fate = match (repair.ineffective, lasts) {
            (true, _) => RepairFate::InVain,
            (false, false) => RepairFate::Dropped,
            (false, true) if repair.id == QUARANTINE => RepairFate::TakenOut,
            (false, true) => RepairFate::Repaired,
        };
        (repair, fate)
    })
}

/// What a reader should know of a server beside its row.
pub(super) fn server_notes(server: &ServerReport) -> String {
    let mut notes = server.notes.clone();
    if server.restarts > 0 {
        notes.push(plural(server.restarts, "restart"));
    }
    if server.stdout_noise > 0 {
        let lines = plural(server.stdout_noise, "line");
        let sample = server.stdout_noise_sample.first();
        let sample = sample.map(|line| format!(", as in \"{line}\""));
        notes.push(format!(
            "{lines} on stdout that are not messages{}",
            sample.unwrap_or_default()
        ));
    }
    notes.join("; ")
}

/// What a server offers: its capabilities and the lists that it was asked for.
pub(super) fn offers(offers: &Offers) -> Vec<String> {
    let Offers {
        capabilities,
        tools,
        prompts,
        resources,
    } = offers;
    let mut told = vec![if capabilities.is_empty() {
        "no capability".to_owned()
    } else {
        format!("capabilities: {}", capabilities.join(", "))
    }];
    for (list, noun) in [
        (tools, "tool"),
        (prompts, "prompt"),
        (resources, "resource"),
    ] {
        told.extend(
            list.as_ref()
                .map(|list| text::listed(&list.names, list.total(), noun)),
        );
    }
    told
}

/// The servers of which a step wanted something that failed, with what they
/// offer.
pub(super) fn offers_wanted(iteration: &IterationReport) -> impl Iterator<Item = (&str, String)> {
    let wanted = |server: &ServerReport| {
        let mut failures = iteration.failures.iter();
        failures.any(|f| f.step.is_some() && f.server.as_ref() == Some(&server.name))
    };
    let servers = iteration.servers.iter();
    servers.filter_map(move |server| {
        let offers = server.offers.as_ref().filter(|_| wanted(server))?;
        Some((server.name.as_str(), self::offers(offers).join("; ")))
    })
}

/// What a reader should know of a step beside its row.
pub(super) fn step_notes(step: &StepReport) -> String {
    let mut notes = Vec::new();
    if step.name != step.id {
        notes.push(step.name.clone());
    }
    if let Some(because) = &step.because {
        notes.push(words::because(because));
    }
    if step.flaky {
        notes.push("flaky: failed earlier on the same plan".to_owned());
    }
    if let Some(category) = step.error_category {
        notes.push(json_word(&category));
    }
    if step.retryable == Some(true) {
        notes.push("retryable".to_owned());
    }
    notes.extend(adapter(step));
    notes.join("; ")
}

/// By which rung of the schema ladder a step's output was read, where it was
/// not the server's own.
pub(super) fn adapter(step: &StepReport) -> Option<String> {
    let own = Rung::Structured.name();
    let adapter = step.adapter.as_deref().filter(|name| *name != own)?;
    Some(format!("output read as {adapter}"))
}

/// Which step or server a problem is about, each name as `said`.
pub(super) fn problem_place(problem: &HelpProblem, said: fn(&str) -> String) -> Option<String> {
    let names = [&problem.server, &problem.step].into_iter().flatten();
    let names: Vec<String> = names.map(|name| said(name)).collect();
    (!names.is_empty()).then(|| names.join("/"))
}

/// How the program of a hook ended; `said` makes jelly's own words fit.
pub(super) fn hook_end(hook: &HookReport, said: fn(&str) -> String) -> String {
    match (&hook.error, &hook.exit) {
        (Some(error), _) => said(error),
        (None, Some(status)) => exit(status),
        (None, None) => "did not end".to_owned(),
    }
}

/// Which step or server a failure concerns: `files/write`, or `(start files)`
/// for a server that failed without a step.
pub(super) fn subject(failure: &FailureReport) -> String {
    match (failure.server.as_deref(), failure.step.as_deref()) {
        (Some(server), Some(step)) => format!("{server}/{step}"),
        (None, Some(step)) => step.to_owned(),
        (Some(server), None) => server_case(server, failure),
        (None, None) => "(plan)".to_owned(),
    }
}

/// Where a step has several mismatches, which of them a failure is: `mismatch
/// 2 of 3`.
pub(super) fn which_mismatch(failure: &FailureReport) -> Option<String> {
    let MismatchPlace { index, of } = failure.mismatch?;
    (of > 1).then(|| format!("mismatch {index} of {of}"))
}

/// The same behind what it is about.
pub(super) fn mismatch_aside(failure: &FailureReport) -> String {
    which_mismatch(failure).map_or_else(String::new, |which| format!(" ({which})"))
}

/// Of the mismatches of a step, of which one is given and so many are kept,
/// those that were too many.
pub(super) fn left_out(one: &FailureReport, kept: usize) -> Option<String> {
    let kept = u32::try_from(kept).unwrap_or(u32::MAX);
    let more = one
        .mismatch?
        .of
        .checked_sub(kept)
        .filter(|more| *more > 0)?;
    let mismatches = plural(more, "more mismatch");
    Some(format!("{mismatches} of this step, which are not kept"))
}

/// Whom a failure concerns, and of what category it is: `test-side, ambiguous,
/// ASSERTION`.
pub(super) fn blame(diagnosis: &Diagnosis, flaky: bool) -> String {
    let mut said = vec![format!("{}-side", json_word(&diagnosis.side))];
    said.extend(diagnosis.ambiguous.then(|| "ambiguous".to_owned()));
    said.extend(diagnosis.error_category.as_ref().map(json_word));
    said.extend(flaky.then(|| "flaky".to_owned()));
    said.join(", ")
}

/// The same of a failure of a run, with whether a list names it as known.
pub(super) fn blame_of(failure: &FailureReport) -> String {
    let blame = blame(&failure.diagnosis, failure.diagnosis.flaky);
    match failure.known {
        Some(_) => format!("{blame}, known"),
        None => blame,
    }
}

/// What an advice says before its steps: what happened and why; nothing where
/// nothing is advised.
pub(super) fn advice(advice: &Advice) -> Option<String> {
    if advice.what.is_empty() && advice.fix.is_empty() {
        return None;
    }
    let mut said = advice.what.trim().to_owned();
    if !advice.why.is_empty() {
        // It may end with the words of a server.
        if !said.is_empty() && !said.ends_with(['.', '!', '?', ':', '…']) {
            said.push('.');
        }
        said = format!("{said} {}", advice.why).trim_start().to_owned();
    }
    Some(said)
}

/// The budgets by name, before an action and after it.
pub(super) fn budgets(budgets: &BeforeAfter) -> [(&'static str, u32, u32); 6] {
    let BeforeAfter { before, after } = budgets;
    [
        ("iterations", before.iterations, after.iterations),
        ("retries", before.retries, after.retries),
        ("confirms", before.confirms, after.confirms),
        ("mcp_repairs", before.mcp_repairs, after.mcp_repairs),
        ("test_fixes", before.test_fixes, after.test_fixes),
        ("code_refines", before.code_refines, after.code_refines),
    ]
}

/// For a failure over a name that the server does not list: what it lists
/// instead.
pub(super) fn instead(failure: &FailureReport, iteration: &IterationReport) -> Option<String> {
    let server = failure.server.as_deref()?;
    let server = iteration.servers.iter().find(|s| s.name == server)?;
    let unlisted = server
        .offers
        .as_ref()?
        .unlisted(failure.request.as_ref()?)?;
    let Unlisted { kind, name, listed } = unlisted;
    let close = close_names(name, listed.names.iter().map(String::as_str));
    Some(match close.as_slice() {
        [] => format!(
            "the server lists {}",
            text::listed(&listed.names, listed.total(), kind)
        ),
        close => format!(
            "the server lists no {kind} {name}; close to it: {}",
            close.join(", ")
        ),
    })
}

/// What differs, where long texts were compared.
pub(super) fn difference(failure: &FailureReport) -> Option<&TextDifference> {
    failure.assertion.as_ref()?.difference.as_ref()
}

/// The first lines of a diff, and how many changed or stand around them besides, whoever left
/// them out.
pub(super) fn first_lines(hunks: &str, most: usize) -> String {
    let left_out = untold(hunks);
    let all = hunks.lines().count() - usize::from(left_out > 0);
    let mut lines = hunks.lines().take(all);
    let mut told: Vec<&str> = lines.by_ref().take(most).collect();
    let more = lines.filter(|line| !line.starts_with("@@")).count() as u64 + left_out;
    let rest = plural(more, "more line");
    if more > 0 {
        told.push(&rest);
    }
    told.join("\n")
}

/// The line of evidence that says most: what the rule matched, else the last
/// line of stderr, else nothing. A server that answered wrongly may have
/// printed anything, so there the rule alone has a say.
pub(super) fn telling_line(failure: &FailureReport) -> Option<String> {
    const MAX: usize = 300;
    // Of long texts, where they begin to differ.
    if let Some(difference) = difference(failure) {
        return Some(one_line(&difference.first, MAX));
    }
    let matched = failure.diagnosis.evidence.as_ref().map(|e| e.text.as_str());
    let last = || {
        let mut lines = failure.stderr_tail.lines().rev();
        lines
            .find(|line| !line.trim().is_empty())
            .filter(|_| !is_wrong_answer(failure))
    };
    matched
        .filter(|text| !text.trim().is_empty())
        .or_else(last)
        .map(|text| one_line(text, MAX))
}

/// The server answered, and the answer is not what was wanted: a mismatch, a
/// breach of its schema, or an `isError` result. Everything else is an error
/// on the way to an answer.
pub(super) fn is_wrong_answer(failure: &FailureReport) -> bool {
    match failure.phase {
        Phase::Assert => true,
        Phase::Call | Phase::Teardown => {
            failure.exit.is_none()
                && (failure.assertion.is_some() || failure.outcome == Some(Outcome::Result))
        }
        Phase::Config | Phase::Spawn | Phase::Handshake | Phase::List => false,
    }
}

/// What an exchange over HTTP came to, in a line: the status and the headers
/// that tell something, or why there is none.
pub(super) fn http(facts: &HttpFacts) -> Option<String> {
    let mut parts = Vec::new();
    parts.extend(facts.status.map(|status| status.to_string()));
    parts.extend(facts.text.clone().or_else(|| facts.error.clone()));
    for (name, told) in &facts.headers {
        parts.push(format!("{name}: {}", words::value(told)));
    }
    (!parts.is_empty()).then(|| parts.join(", "))
}

/// The failures of each step of an iteration, looked up once: there may be thousands.
pub(super) struct FailuresByStep<'r>(HashMap<&'r str, Vec<&'r FailureReport>>);

impl<'r> FailuresByStep<'r> {
    pub(super) fn of(iteration: &'r IterationReport) -> Self {
        let mut all: HashMap<&str, Vec<&FailureReport>> = HashMap::new();
        for failure in &iteration.failures {
            if let Some(step) = &failure.step {
                all.entry(step).or_default().push(failure);
            }
        }
        Self(all)
    }

    pub(super) fn get(&self, step: &str) -> &[&'r FailureReport] {
        self.0.get(step).map_or(&[], Vec::as_slice)
    }
}

/// The name under which a server's own failure is reported.
pub(super) fn server_case(server: &str, failure: &FailureReport) -> String {
    if is_wire_check(failure) {
        return wire_case(server);
    }
    // It has started, and lists what it did not promise.
    if failure.diagnosis.root_cause == "tool_definition_changed" {
        return format!("(contract {server})");
    }
    match failure.phase {
        Phase::Config | Phase::Spawn | Phase::Handshake | Phase::List => {
            format!("(start {server})")
        }
        Phase::Call | Phase::Assert => format!("(server {server})"),
        Phase::Teardown => format!("(stop {server})"),
    }
}

/// The name under which the check of a server's messages is reported.
pub(super) fn wire_case(server: &str) -> String {
    format!("(wire {server})")
}

/// What the check of a server's messages found.
pub(super) fn is_wire_check(failure: &FailureReport) -> bool {
    failure.assertion.as_ref().is_some_and(Assertion::is_wire)
}

/// `14 messages checked: 2 breaches, 1 note`.
pub(super) fn wire_check(check: &WireCheck) -> String {
    let failing = check.failing().count();
    let notes = check.breaches.len() - failing;
    let counts = [(failing, "breach"), (notes, "note")];
    let counts = counts.into_iter().filter(|(count, _)| *count > 0);
    let mut parts: Vec<String> = counts.map(|(count, what)| plural(count, what)).collect();
    if parts.is_empty() {
        parts.push("no breach".to_owned());
    }
    format!(
        "{} checked: {}",
        plural(check.messages, "message"),
        parts.join(", ")
    )
}
