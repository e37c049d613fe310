//! What a CI system shows beside a file, of a run as of a triage: picked within
//! a limit, the rest counted.
//!
//! Main type: [`Notice`].

use super::super::findings::Spot;
use super::super::json::Results;
use super::super::{view, words};
use jelly_base::model::{
    Cluster, ExitCode, FailureReport, HelpProblem, IterationReport, MatrixReport, MatrixStep,
    ReportLabels, RunReport, Side, StepState, TriageReport, all_known, deciding,
};
use jelly_base::text::{Notation, disarmed, first_names, one_line, plural};

/// Victims that are named of one cause.
const NAMES: usize = 5;

/// Lines that are told of what differs.
const HUNK_LINES: usize = 20;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoticeLevel {
    Error,
    Warning,
}

impl NoticeLevel {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
        }
    }
}

/// One thing to be shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notice {
    pub level: NoticeLevel,
    pub file: Option<String>,
    /// From 1.
    pub line: Option<u32>,
    /// From 1.
    pub column: Option<u32>,
    pub title: Option<String>,
    pub text: String,
    /// What it is known by from run to run; empty where it has none.
    pub id: String,
}

/// How notices are to be picked and placed.
#[derive(Clone, Copy)]
pub struct NoticeTerms<'t> {
    /// So many errors, and so many warnings.
    pub max: usize,
    /// Files below this folder are named from there.
    pub workspace: Option<&'t str>,
    /// Where relative ones are, from there.
    pub folder: Option<&'t str>,
    /// `file:line` of the project at which the server itself failed, for
    /// failures that the plan is not to blame for.
    pub in_stack: &'t dyn Fn(&FailureReport) -> Option<String>,
    /// Where a file lies that a report names, if not where the call is: a framework names files
    /// from the folder that it ran in.
    pub of_report: &'t dyn Fn(&str, &str) -> Option<String>,
}

impl NoticeTerms<'_> {
    /// Nothing is known of the project.
    #[must_use]
    pub fn plain(max: usize) -> Self {
        Self {
            max,
            workspace: None,
            folder: None,
            in_stack: &|_| None,
            of_report: &|_, _| None,
        }
    }

    /// As the system wants files named.
    fn named(&self, file: &str) -> String {
        let below = self.workspace.and_then(|folder| {
            let rest = file.strip_prefix(folder)?;
            rest.strip_prefix('/')
        });
        let file = below.unwrap_or(file);
        let file = file.strip_prefix("./").unwrap_or(file);
        match self.folder {
            Some(folder) if below.is_none() && !file.starts_with('/') => format!("{folder}/{file}"),
            Some(_) | None => file.to_owned(),
        }
    }
}

impl Notice {
    fn at(level: NoticeLevel, spot: Spot<'_>, title: String, text: String) -> Self {
        Self {
            level,
            file: Some(spot.file.to_owned()),
            line: spot.line,
            column: spot.column,
            title: Some(title),
            text,
            id: String::new(),
        }
    }

    fn bare(level: NoticeLevel, title: &str, text: String) -> Self {
        Self {
            level,
            file: None,
            line: None,
            column: None,
            title: Some(title.to_owned()),
            text,
            id: String::new(),
        }
    }

    /// File, line and column, for the properties of a command.
    pub(super) fn position(&self) -> [Option<String>; 3] {
        let number = |number: Option<u32>| number.map(|number| number.to_string());
        [self.file.clone(), number(self.line), number(self.column)]
    }

    fn is_error(&self) -> bool {
        self.level == NoticeLevel::Error
    }
}

/// A value of a command; one in it would be for another console.
pub(super) fn escape(text: &str, percent: &str) -> String {
    let value = text
        .replace('%', percent)
        .replace('\r', "%0D")
        .replace('\n', "%0A");
    disarmed(&value, Notation::Plain).into_owned()
}

/// For the failures of the last iterations, and warnings for those that are known, for
/// plans that were repaired and for steps that differ between the combinations of a
/// matrix.
///
/// What a system shows is shared: each plan is told of as long as there is room
/// for it and one that counts the others.
#[must_use]
pub fn of_run(results: &Results<'_>, terms: NoticeTerms<'_>) -> Vec<Notice> {
    let reports = results.plans;
    let mut all: Vec<Notice> = Vec::new();
    let mut room = terms.max;
    let mut untold = 0;
    for (at, report) in reports.iter().enumerate() {
        let others = usize::from(untold > 0 || at + 1 < reports.len());
        let failed = failures(report)
            .standing
            .len()
            .max(view::plan_problems(report).len())
            .max(usize::from(report.exit_code != 0));
        if failed > 0 && room <= others {
            untold += 1;
            continue;
        }
        let told = of_plan(report, room - others.min(room), terms);
        room -= told.iter().filter(|n| n.is_error()).count().min(room);
        all.extend(told);
    }
    if untold > 0 {
        let text = format!(
            "{} that did not pass are not shown here; the job summary tells them",
            plural(untold, "more plan")
        );
        all.push(Notice::bare(NoticeLevel::Error, "jelly", text));
    }
    // Of green plans, a difference is what a strict call ends so by; other ends, such as a
    // coverage that is too low, have causes of their own.
    let is_unaccepted = results.exit_code == ExitCode::UnacceptedChange.code();
    let failed = is_unaccepted && reports.iter().all(|report| report.exit_code == 0);
    let level = match failed {
        true => NoticeLevel::Error,
        false => NoticeLevel::Warning,
    };
    for matrix in results.matrix {
        let steps = matrix.steps.iter().filter(|step| tells_of_itself(step));
        all.extend(steps.map(|step| of_difference(level, matrix, step, terms)));
    }
    within(&mut all, NoticeLevel::Error, terms.max);
    within(&mut all, NoticeLevel::Warning, terms.max);
    all
}

/// Keeps at most `max` of one level, the last of which counts the others.
fn within(all: &mut Vec<Notice>, level: NoticeLevel, max: usize) {
    let count = all.iter().filter(|notice| notice.level == level).count();
    if count <= max {
        return;
    }
    let mut kept = 0;
    all.retain(|notice| {
        kept += usize::from(notice.level == level);
        notice.level != level || kept < max
    });
    let more = plural(count - max + 1, &format!("more {}", level.name()));
    let text = format!("and {more}; the job summary tells them");
    all.push(Notice::bare(level, "jelly", text));
}

/// Whether a step differs between the combinations of a matrix without having failed
/// in one of them, which its failure tells.
fn tells_of_itself(step: &MatrixStep) -> bool {
    let mut ran = step.cells.iter().flatten();
    step.differs && ran.all(|cell| matches!(cell.state, StepState::Passed | StepState::Skipped))
}

fn of_difference(
    level: NoticeLevel,
    matrix: &MatrixReport,
    step: &MatrixStep,
    terms: NoticeTerms<'_>,
) -> Notice {
    let own = matrix.differences.iter().filter(|it| it.step == step.id);
    let told: Vec<String> = own
        .map(|difference| {
            let [one, other] = &difference.between;
            let mut text = format!("{one} and {other}: {}", difference.text);
            if let Some(diff) = &difference.diff {
                let lines = view::first_lines(diff, HUNK_LINES);
                text.push_str(&format!("\n{lines}"));
            }
            text
        })
        .collect();
    let title = format!("{}: differs in the matrix of {}", step.id, matrix.plan);
    let at = step.at.as_deref().unwrap_or(&matrix.path);
    placed(level, at, title, told.join("\n"), terms)
}

/// The failures of a run's last iteration, those of one step together.
struct NoticeFailures<'r> {
    standing: Vec<&'r [FailureReport]>,
    /// Those that a list covers: nothing of the step stands.
    known: Vec<&'r [FailureReport]>,
}

fn failures(report: &RunReport) -> NoticeFailures<'_> {
    let last = report.iterations.last().into_iter();
    let all = last.flat_map(|last| last.failures_by_step());
    let (known, standing) = all.partition(|of_step| all_known(*of_step));
    NoticeFailures { standing, known }
}

/// With at most `room` errors.
fn of_plan(report: &RunReport, room: usize, terms: NoticeTerms<'_>) -> Vec<Notice> {
    let last = report.iterations.last();
    let of_step = |failures| notice(report, last?, failures, terms);
    let NoticeFailures { standing, known } = failures(report);
    let (mut told, what): (Vec<Notice>, _) = match view::plan_problems(report) {
        [] => {
            let mut failures = standing;
            if failures.len() > room {
                // Those that decide how the run ends are among the few.
                let is_of_code = |failure: &FailureReport| failure.diagnosis.side == Side::Code;
                failures.sort_by_key(|of_step| !of_step.iter().any(is_of_code));
            }
            let told = failures.into_iter().filter_map(&of_step);
            (told.collect(), "more failure")
        }
        problems => {
            let told = problems.iter().map(|one| of_problem(report, one, terms));
            (told.collect(), "more problem")
        }
    };
    let none = told.is_empty();
    if told.len() > room {
        let more = told.split_off(room.saturating_sub(1)).len();
        told.push(Notice {
            title: None,
            ..about_plan(
                NoticeLevel::Error,
                report,
                "",
                format!("and {}", plural(more, what)),
                terms,
            )
        });
    }
    if none && report.exit_code != 0 {
        let ended = || format!("the run ended: {}", words::verdict(report.verdict));
        let text = match (&report.help_summary, view::unaccepted(report)) {
            (Some(help), _) => help.title.clone(),
            (None, Some(why)) => format!("{}, exit code {}: {why}", ended(), report.exit_code),
            (None, None) => ended(),
        };
        told.push(about_plan(
            NoticeLevel::Error,
            report,
            "jelly:",
            text,
            terms,
        ));
    }
    told.extend(known.into_iter().filter_map(&of_step));
    let warning = |title, text| about_plan(NoticeLevel::Warning, report, title, text, terms);
    if report.verdict.is_green() && !report.hooks_at_work().is_empty() {
        told.push(warning("jelly:", view::ending(report)));
    }
    if let Some(diff) = &report.repair_diff {
        told.push(warning("jelly repaired", diff.clone()));
    }
    told
}

/// About a plan as a whole.
fn about_plan(
    level: NoticeLevel,
    report: &RunReport,
    title: &str,
    text: String,
    terms: NoticeTerms<'_>,
) -> Notice {
    let title = format!("{title} {}", report.plan.name);
    let file = terms.named(&report.plan.path);
    Notice {
        file: Some(file),
        ..Notice::bare(level, &title, text)
    }
}

fn of_problem(report: &RunReport, problem: &HelpProblem, terms: NoticeTerms<'_>) -> Notice {
    let title = format!("{}: invalid plan", report.plan.name);
    let mut text = problem.what.clone();
    for next in &problem.next {
        text.push_str(&format!("\n{next}"));
    }
    let at = problem.at.as_deref().unwrap_or(&report.plan.path);
    placed(NoticeLevel::Error, at, title, text, terms)
}

/// At a place, as `file`, `file:line` or `file:line:column`.
fn placed(
    level: NoticeLevel,
    at: &str,
    title: String,
    text: String,
    terms: NoticeTerms<'_>,
) -> Notice {
    let spot = Spot::read(at);
    let file = terms.named(spot.file);
    Notice::at(
        level,
        Spot {
            file: &file,
            ..spot
        },
        title,
        text,
    )
}

/// One for all mismatches of a step, at the place of the one that decides:
/// systems show few.
fn notice(
    report: &RunReport,
    iteration: &IterationReport,
    failures: &[FailureReport],
    terms: NoticeTerms<'_>,
) -> Option<Notice> {
    let failure = deciding(failures)?;
    let title = format!(
        "{}: {}{}",
        view::subject(failure),
        failure.diagnosis.root_cause,
        known_mark(failure)
    );
    let mut text = failure.message.clone();
    if let Some(exit) = &failure.exit {
        text.push_str(&format!("\n{}", words::exit(exit)));
    }
    match view::difference(failure) {
        // The message says where the first of it is.
        Some(difference) => {
            let hunks = view::first_lines(&difference.hunks, HUNK_LINES);
            text.push_str(&format!("\n{hunks}"));
        }
        None => text.extend(view::telling_line(failure).map(|line| format!("\n{line}"))),
    }
    let advice = &failure.diagnosis.advice.what;
    if !advice.is_empty() {
        text.push_str(&format!("\n{advice}"));
    }
    for other in failures.iter().filter(|other| *other != failure) {
        let at = other.at.as_deref().unwrap_or_default();
        let known = known_mark(other);
        text.push_str(&format!("\nalso, at {at}: {}{known}", other.message));
    }
    if let Some(mark) = &failure.known {
        text.push_str(&format!("\nknown failure: {}", mark.entry.reason));
    }
    let level = if failure.diagnosis.flaky || failure.known.is_some() {
        NoticeLevel::Warning
    } else {
        NoticeLevel::Error
    };
    let in_plan = view::place_of(report, iteration, failure);
    let in_stack = (terms.in_stack)(failure);
    if in_stack.is_some() {
        text.push_str(&format!("\nin the plan: {in_plan}"));
    }
    let at = in_stack.as_deref().unwrap_or(in_plan);
    Some(Notice {
        id: failure.diagnosis.fingerprint.clone(),
        ..placed(level, at, title, text, terms)
    })
}

fn known_mark(failure: &FailureReport) -> &'static str {
    match failure.known {
        Some(_) => " (known)",
        None => "",
    }
}

/// The causes of a triage by number of victims, at most `max` together.
#[must_use]
pub fn of_triage(report: &TriageReport, terms: NoticeTerms<'_>) -> Vec<Notice> {
    let mut all: Vec<Notice> = Vec::new();
    let broken = report.reports.iter().filter(|r| r.problem.is_some());
    let mut left = terms.max.saturating_sub(1);
    for summary in broken.take(left) {
        let problem = summary.problem.as_deref().unwrap_or_default();
        let text = format!("{}: {problem}", summary.path);
        let title = "jelly: a report can't be relied on";
        all.push(Notice::bare(NoticeLevel::Error, title, text));
        left -= 1;
    }
    let labels = ReportLabels::of_all(report);
    let shown = report.clusters.iter().take(left);
    all.extend(shown.map(|cluster| of_cluster((report, &labels), cluster, terms)));
    if report.clusters.len() > left {
        let more = plural(report.clusters.len() - left, "more cause");
        let text = format!("and {more}; the job summary tells them");
        all.push(Notice::bare(NoticeLevel::Warning, "jelly", text));
    }
    if all.is_empty() && report.exit_code != 0 {
        let text = report.health.summary.clone();
        all.push(Notice::bare(NoticeLevel::Error, "jelly triage", text));
    }
    all
}

fn of_cluster(
    (report, labels): (&TriageReport, &ReportLabels<'_>),
    cluster: &Cluster,
    terms: NoticeTerms<'_>,
) -> Notice {
    let title = match cluster.count {
        1 => {
            let name = report
                .victims(cluster)
                .next()
                .map(|failure| labels.title(&failure));
            let name = name.unwrap_or_else(|| cluster.example.clone());
            format!("{name}: {}", cluster.root_cause)
        }
        n => format!("{}: {}", plural(n, "test"), cluster.root_cause),
    };
    let mut text = cluster.title.clone();
    if let Some(evidence) = &cluster.evidence
        && !text.contains(&evidence.text)
    {
        text.push_str(&format!("\n{}", one_line(&evidence.text, 500)));
    }
    if cluster.count > 1 {
        let names = report
            .victims(cluster)
            .map(|failure| labels.title(&failure));
        let names = first_names(names, cluster.victims.len(), NAMES);
        text.push_str(&format!("\nin {names}"));
    }
    for step in cluster.advice.fix.iter().take(2) {
        text.push_str(&format!("\n{step}"));
    }
    let level = if cluster.flaky == cluster.count {
        NoticeLevel::Warning
    } else {
        NoticeLevel::Error
    };
    let spot = place(report, cluster);
    let named = |spot: Spot<'_>| {
        let of = report.victims(cluster).next().map(|failure| failure.report);
        let found = of.and_then(|of| (terms.of_report)(of, spot.file));
        terms.named(found.as_deref().unwrap_or(spot.file))
    };
    Notice {
        file: spot.map(named),
        line: spot.and_then(|spot| spot.line),
        id: cluster.fingerprint.clone(),
        ..Notice::bare(level, &title, text)
    }
}

/// The file of the first victim that tells one, with its line; what its report
/// does not tell is taken out of the stack.
fn place<'r>(report: &'r TriageReport, cluster: &'r Cluster) -> Option<Spot<'r>> {
    let mut victims = report.victims(cluster);
    let told = victims.find_map(|failure| {
        Some(Spot {
            file: failure.file?,
            line: failure.line.and_then(|line| u32::try_from(line).ok()),
            column: None,
        })
    });
    let in_stack = cluster.at.as_deref().map(Spot::read);
    match (told, in_stack) {
        (Some(told), Some(stack)) => Some(told.or_line_of(stack)),
        (told, in_stack) => told.or(in_stack),
    }
}
