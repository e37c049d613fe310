//! What GitHub Actions shows by itself: an annotation a cause, and the job
//! summary.

use super::markdown::markdown;
use crate::report::github::{MAX_ANNOTATIONS, MAX_SUMMARY, command};
use crate::report::quote::cut_document;
use jelly_base::model::{Cluster, ReportLabels, TriageReport};
use jelly_base::text::{first_names, one_line, plural};

/// Victims that are named of one cause.
const NAMES: usize = 5;

/// Workflow commands, one a line: the causes by number of victims, as many as
/// GitHub shows. Files below `workspace` are told as it wants them.
#[must_use]
pub fn github(report: &TriageReport, workspace: Option<&str>) -> String {
    let mut out = String::new();
    let broken = report.reports.iter().filter(|r| r.problem.is_some());
    let mut left = MAX_ANNOTATIONS - 1;
    for summary in broken.take(left) {
        let problem = summary.problem.as_deref().unwrap_or_default();
        let properties = [("title", "jelly: a report can't be relied on")];
        let text = format!("{}: {problem}", summary.path);
        out.push_str(&command("error", &properties, &text));
        left -= 1;
    }
    let labels = ReportLabels::of_all(report);
    let shown = report.clusters.iter().take(left);
    out.extend(shown.map(|cluster| annotation((report, &labels), cluster, workspace)));
    if report.clusters.len() > left {
        let more = plural(report.clusters.len() - left, "more cause");
        let text = format!("and {more}; the job summary tells them");
        out.push_str(&command("warning", &[("title", "jelly")], &text));
    }
    if out.is_empty() && report.exit_code != 0 {
        let properties = [("title", "jelly triage")];
        out.push_str(&command("error", &properties, &report.health.summary));
    }
    out
}

fn annotation(
    (report, labels): (&TriageReport, &ReportLabels<'_>),
    cluster: &Cluster,
    workspace: Option<&str>,
) -> String {
    let (file, number) = place(report, cluster).unzip();
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
    let mut properties = Vec::new();
    if let Some(file) = file {
        let below = workspace.and_then(|folder| file.strip_prefix(folder));
        properties.push((
            "file",
            below.map_or(file, |file| file.trim_start_matches('/')),
        ));
    }
    if let Some(number) = number.as_ref().and_then(Option::as_ref) {
        properties.push(("line", number));
    }
    properties.push(("title", &title));
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
        "warning"
    } else {
        "error"
    };
    command(level, &properties, &text)
}

/// The file of the first victim that tells one, with its line; what its report
/// does not tell is taken out of the stack.
fn place<'r>(report: &'r TriageReport, cluster: &'r Cluster) -> Option<(&'r str, Option<String>)> {
    let mut victims = report.victims(cluster);
    let told = victims.find_map(|failure| Some((failure.file?, failure.line)));
    let in_stack = cluster.at.as_deref().and_then(|at| at.rsplit_once(':'));
    match (told, in_stack) {
        (Some((file, Some(line))), _) => Some((file, Some(line.to_string()))),
        (Some((file, None)), Some((other, line))) if file.ends_with(other) => {
            Some((file, Some(line.to_owned())))
        }
        (Some((file, None)), _) => Some((file, None)),
        (None, in_stack) => in_stack.map(|(file, line)| (file, Some(line.to_owned()))),
    }
}

/// The job summary, to be appended to `$GITHUB_STEP_SUMMARY`.
#[must_use]
pub fn summary(report: &TriageReport) -> String {
    let rest = "The rest did not fit in here.";
    let mut out = cut_document(markdown(report), MAX_SUMMARY, rest);
    out.push('\n');
    out
}
