//! What GitHub Actions shows by itself: annotations and the job summary.
//! Pure functions; whoever calls them knows whether this is GitHub.

use super::markdown::{head, help_summary};
use super::quote::{cell, code_cell, cut_document, fence, table};
use super::{view, words};
use jelly_base::model::{FailureReport, HelpProblem, RunReport, deciding, json_word};
use jelly_base::text::{Notation, disarmed, one_line, plural, sanitize, truncate};

/// GitHub shows at most ten errors of a step, and drops the others silently.
pub(super) const MAX_ANNOTATIONS: usize = 10;

/// The most of a job summary. GitHub refuses one of more than 1 MiB, and other
/// commands of the same step may add to it.
pub(super) const MAX_SUMMARY: usize = 200 * 1024;
/// Of each of several plans at least so much is told.
const MIN_SUMMARY: usize = 2 * 1024;

/// Workflow commands, one a line, for the failures of the last iterations, and
/// warnings for plans that were repaired. To be printed on stdout.
///
/// What GitHub shows is shared: each plan is told of as long as there is room
/// for it and one that counts the others.
#[must_use]
pub fn annotations(reports: &[RunReport]) -> String {
    let mut out = String::new();
    let mut room = MAX_ANNOTATIONS;
    let mut untold = 0;
    for (at, report) in reports.iter().enumerate() {
        let others = usize::from(untold > 0 || at + 1 < reports.len());
        let failed = failures(report)
            .len()
            .max(view::plan_problems(report).len())
            .max(usize::from(report.exit_code != 0));
        if failed > 0 && room <= others {
            untold += 1;
            continue;
        }
        let told = of_plan(report, room - others.min(room));
        room -= errors(&told).min(room);
        out.push_str(&told);
    }
    if untold > 0 {
        let text = format!(
            "{} that did not pass are not shown here; the job summary tells them",
            plural(untold, "more plan")
        );
        out.push_str(&command("error", &[("title", "jelly")], &text));
    }
    out
}

fn errors(commands: &str) -> usize {
    let told = commands.lines();
    told.filter(|line| line.starts_with("::error ")).count()
}

/// Of the last iteration, those of one step together.
fn failures(report: &RunReport) -> Vec<&[FailureReport]> {
    let last = report.iterations.last();
    last.map_or_else(Vec::new, |last| last.failures_by_step().collect())
}

/// With at most `room` errors.
fn of_plan(report: &RunReport, room: usize) -> String {
    let mut out = String::new();
    let (told, what): (Vec<String>, _) = match view::plan_problems(report) {
        [] => {
            let failures = failures(report).into_iter();
            let told = failures.filter_map(|failures| annotation(report, failures));
            (told.collect(), "more failure")
        }
        problems => {
            let told = problems
                .iter()
                .map(|problem| problem_annotation(report, problem));
            (told.collect(), "more problem")
        }
    };
    let shown = if told.len() > room {
        room.saturating_sub(1)
    } else {
        told.len()
    };
    out.extend(told[..shown].iter().map(String::as_str));
    if told.len() > shown {
        let text = format!("and {}", plural(told.len() - shown, what));
        out.push_str(&command("error", &[("file", &report.plan.path)], &text));
    }
    if told.is_empty() && report.exit_code != 0 {
        let text = report.help_summary.as_ref().map_or_else(
            || format!("the run ended: {}", words::verdict(report.verdict)),
            |help| help.title.clone(),
        );
        out.push_str(&about_plan("error", report, "jelly:", &text));
    }
    if report.verdict.is_green() && !report.hooks_at_work().is_empty() {
        out.push_str(&about_plan(
            "warning",
            report,
            "jelly:",
            &view::ending(report),
        ));
    }
    if let Some(diff) = &report.repair_diff {
        out.push_str(&about_plan("warning", report, "jelly repaired", diff));
    }
    out
}

/// A command about a plan as a whole.
fn about_plan(level: &str, report: &RunReport, title: &str, text: &str) -> String {
    let title = format!("{title} {}", report.plan.name);
    let properties = [("file", report.plan.path.as_str()), ("title", &title)];
    command(level, &properties, text)
}

fn problem_annotation(report: &RunReport, problem: &HelpProblem) -> String {
    let title = format!("{}: invalid plan", report.plan.name);
    let mut text = problem.what.clone();
    for next in &problem.next {
        text.push_str(&format!("\n{next}"));
    }
    at_place(
        "error",
        problem.at.as_deref().unwrap_or(&report.plan.path),
        &title,
        &text,
    )
}

/// One for all mismatches of a step, at the place of the one that decides:
/// GitHub shows few.
fn annotation(report: &RunReport, failures: &[FailureReport]) -> Option<String> {
    let failure = deciding(failures)?;
    // A failure without a place of its own stands at the top of its plan.
    let at = failure.at.as_deref().unwrap_or(&report.plan.path);
    let title = format!(
        "{}: {}",
        view::subject(failure),
        failure.diagnosis.root_cause
    );
    let mut text = failure.message.clone();
    if let Some(exit) = &failure.exit {
        text.push_str(&format!("\n{}", words::exit(exit)));
    }
    if let Some(telling) = view::telling_line(failure) {
        text.push_str(&format!("\n{telling}"));
    }
    let advice = &failure.diagnosis.advice.what;
    if !advice.is_empty() {
        text.push_str(&format!("\n{advice}"));
    }
    for other in failures.iter().filter(|other| *other != failure) {
        let at = other.at.as_deref().unwrap_or_default();
        text.push_str(&format!("\nalso, at {at}: {}", other.message));
    }
    let level = if failure.diagnosis.flaky {
        "warning"
    } else {
        "error"
    };
    Some(at_place(level, at, &title, &text))
}

/// A command about a place, as `file`, `file:line` or `file:line:column`.
fn at_place(level: &str, at: &str, title: &str, text: &str) -> String {
    let (file, line, column) = place(at);
    let mut properties = vec![("file", file)];
    if let Some(line) = line {
        properties.push(("line", line));
    }
    if let Some(column) = column {
        properties.push(("col", column));
    }
    properties.push(("title", title));
    command(level, &properties, text)
}

/// The parts of `file`, `file:line` or `file:line:column`.
fn place(at: &str) -> (&str, Option<&str>, Option<&str>) {
    let number = |text: &str| text.parse::<u32>().is_ok();
    match at.rsplit_once(':') {
        Some((rest, last)) if number(last) => match rest.rsplit_once(':') {
            Some((file, line)) if number(line) => (file, Some(line), Some(last)),
            Some(_) | None => (rest, Some(last), None),
        },
        Some(_) | None => (at, None, None),
    }
}

/// One workflow command. The escapes are those of `actions/toolkit`:
/// `%`, CR and LF everywhere, `:` and `,` in properties besides.
pub(super) fn command(name: &str, properties: &[(&str, &str)], text: &str) -> String {
    let properties: Vec<String> = properties
        .iter()
        .map(|(key, value)| {
            let value = escape(&one_line(value, 300))
                .replace(':', "%3A")
                .replace(',', "%2C");
            format!("{key}={value}")
        })
        .collect();
    let text = sanitize(text);
    let text = escape(truncate(text.trim_end(), 4000).as_ref());
    format!("::{name} {}::{text}\n", properties.join(","))
}

/// A value of a command; one in it would be for another console.
fn escape(text: &str) -> String {
    let value = text
        .replace('%', "%25")
        .replace('\r', "%0D")
        .replace('\n', "%0A");
    disarmed(&value, Notation::Plain).into_owned()
}

/// The job summary of some runs, to be appended to `$GITHUB_STEP_SUMMARY`.
#[must_use]
pub fn job_summary(reports: &[RunReport]) -> String {
    let max = (MAX_SUMMARY / reports.len().max(1)).max(MIN_SUMMARY);
    let mut out = String::new();
    for (at, report) in reports.iter().enumerate() {
        let summary = summary(report, max);
        if out.len() + summary.len() > 4 * MAX_SUMMARY {
            let left = plural(reports.len() - at, "more plan");
            out.push_str(&format!("\n{left} did not fit in here.\n"));
            break;
        }
        out.push_str(&summary);
    }
    out
}

fn summary(report: &RunReport, max: usize) -> String {
    let mut out = head(report);
    if let Some(last) = report.iterations.last()
        && !last.failures.is_empty()
    {
        let rows: Vec<Vec<String>> = last
            .failures
            .iter()
            .map(|failure| {
                let aside = view::mismatch_aside(failure);
                vec![
                    code_cell(&view::subject(failure)) + &aside,
                    json_word(&failure.diagnosis.side),
                    code_cell(&failure.diagnosis.root_cause),
                    cell(&failure.message),
                    code_cell(&view::telling_line(failure).unwrap_or_default()),
                ]
            })
            .collect();
        let header = ["Where", "Side", "Root cause", "What", "Evidence"];
        out.push_str(&format!("\n{}", table(&header, &rows, &[])));
    }
    if let Some(help) = &report.help_summary {
        out.push_str(&help_summary(help));
    }
    if let Some(diff) = &report.repair_diff {
        out.push_str(&format!(
            "\n## The repaired plan\n\n{}",
            fence(diff, "diff")
        ));
    }
    let mut out = cut_document(out, max, "The rest is in `test_results.md`.");
    out.push('\n');
    out
}

#[cfg(test)]
mod tests {
    use super::{MAX_ANNOTATIONS, annotations, command, job_summary, place};
    use crate::report::samples;

    #[test]
    fn annotations_point_at_the_plan() {
        let one = |report| annotations(std::slice::from_ref(report));
        let all: String = samples::all().iter().map(one).collect();
        insta::assert_snapshot!("github_annotations", all);
    }

    #[test]
    fn the_job_summary_says_what_to_do() {
        insta::assert_snapshot!("github_summary", job_summary(&[samples::dead_server()]));
    }

    #[test]
    fn a_server_can_give_no_workflow_command() {
        let text = command("error", &[("title", "a:b,c%\n")], "x\n::set-env name=A::b");
        assert_eq!(
            text,
            "::error title=a%3Ab%2Cc%25::x%0A::set-env name=A::b\n"
        );
        assert_eq!(text.lines().count(), 1);
    }

    #[test]
    fn what_github_would_drop_is_counted_instead() {
        let mut report = samples::dead_server();
        let failure = report.iterations[0].failures[0].clone();
        report.iterations[0].failures = vec![failure; 25];
        let text = annotations(&[report.clone()]);
        assert_eq!(text.lines().count(), MAX_ANNOTATIONS);
        assert!(text.contains("and 16 more failures"));
        // They share what GitHub shows.
        let text = annotations(&[report.clone(), report.clone(), report]);
        assert_eq!(text.lines().count(), MAX_ANNOTATIONS, "{text}");
        assert!(text.contains("and 17 more failures"), "{text}");
        assert!(text.contains("2 more plans that did not pass"), "{text}");
    }

    #[test]
    fn a_place_has_up_to_three_parts() {
        assert_eq!(place("a.yaml:3:4"), ("a.yaml", Some("3"), Some("4")));
        assert_eq!(place("a.yaml:3"), ("a.yaml", Some("3"), None));
        assert_eq!(place("a.yaml"), ("a.yaml", None, None));
        assert_eq!(place("c:a.yaml:3:4"), ("c:a.yaml", Some("3"), Some("4")));
    }
}
