//! What to do about it, in the order in which to do it.

use super::words::list;
use jelly_base::model::{
    Cluster, ErrorCategory, Failures, Health, HealthState, ReportSummary, RetryPlan, Side,
};
use jelly_base::text::{capitalised, plural};
use std::collections::BTreeSet;

/// A longer list is not read.
const MOST: usize = 10;
/// Causes of one kind that are told one by one.
const TOLD: usize = 3;

/// What is wrong around the tests: one sentence a cause.
#[must_use]
pub(super) fn infrastructure_issues(clusters: &[Cluster]) -> Vec<String> {
    clusters
        .iter()
        .filter(|cluster| cluster.error_category == Some(ErrorCategory::Infrastructure))
        .map(|cluster| {
            format!(
                "{} ({}, {}).",
                capitalised(&cluster.title),
                cluster.root_cause,
                plural(cluster.count, "test")
            )
        })
        .collect()
}

/// Sentences that a person can act on, most urgent first.
#[must_use]
pub(super) fn recommendations(
    health: &Health,
    reports: &[ReportSummary],
    (failures, clusters): (&Failures, &[Cluster]),
    retry: &RetryPlan,
) -> Vec<String> {
    let mut said = Vec::new();
    let are_several = reports.iter().filter(|one| one.same_as.is_none()).count() > 1;
    let whose = |cluster: &Cluster| match are_several {
        true => in_reports(failures, cluster),
        false => String::new(),
    };
    broken_reports(reports, &mut said);
    match health.state {
        HealthState::NothingExecuted if health.tests > 0 => said.push(
            "Find out why every test was skipped: a filter, a missing service or a condition \
             that never holds. A run that tests nothing proves nothing."
                .to_owned(),
        ),
        HealthState::OneCause => {
            if let Some(first) = clusters.first() {
                said.push(format!(
                    "Fix this first, since it hides what the tests would show: {}{}",
                    first.title,
                    fix(first)
                ));
            }
        }
        HealthState::Sound | HealthState::NothingExecuted | HealthState::Unreadable => {}
    }
    let rest = match health.state {
        HealthState::OneCause => clusters.get(1..).unwrap_or_default(),
        HealthState::Sound | HealthState::NothingExecuted | HealthState::Unreadable => clusters,
    };
    let standing: Vec<&Cluster> = rest.iter().filter(|c| c.count > c.flaky).collect();
    let code: Vec<&Cluster> = pick(&standing, |c| c.side == Side::Code);
    let test: Vec<&Cluster> = pick(&standing, |c| c.side == Side::Test && !c.ambiguous);
    let unclear: Vec<&Cluster> = pick(&standing, |c| c.side == Side::Test && c.ambiguous);
    point(&code, "Report to the author of the code", &whose, &mut said);
    // What may pass on a rerun needs no fix before it was rerun.
    let lasting: Vec<&Cluster> = pick(&test, |c| c.retryable != Some(true));
    point(
        &lasting,
        "Fix the tests or their environment",
        &whose,
        &mut said,
    );
    point(&unclear, "Review by hand", &whose, &mut said);
    let tests = retry.tests.len();
    if tests > 0 {
        said.push(format!(
            "Rerun {}: {} may pass unchanged.",
            plural(tests, "test"),
            if tests == 1 { "it" } else { "they" }
        ));
    }
    if health.flaky > 0 {
        said.push(format!(
            "Keep an eye on {} that passed only on a rerun.",
            plural(health.flaky, "test")
        ));
    }
    if said.len() > MOST {
        let more = said.len() - (MOST - 1);
        said.truncate(MOST - 1);
        said.push(format!(
            "And {}, less important.",
            plural(more, "more point")
        ));
    }
    said
}

fn broken_reports(reports: &[ReportSummary], said: &mut Vec<String>) {
    let (others, broken): (Vec<&ReportSummary>, Vec<&ReportSummary>) = reports
        .iter()
        .filter(|report| report.problem.is_some())
        .partition(|report| is_no_test_report(report));
    if let Some(first) = others.first() {
        let more = match others.len() - 1 {
            0 => String::new(),
            n => format!(" and {}", plural(n, "other file")),
        };
        said.push(format!(
            "Leave out {}{more}: it is not a test report.",
            first.path
        ));
    }
    if let Some(first) = broken.first() {
        let others = match broken.len() - 1 {
            0 => String::new(),
            n => format!(" and {}", plural(n, "other report")),
        };
        said.push(format!(
            "Find out why {}{others} is incomplete: most likely a test process died, or a step \
             never ran. What is missing from it is not counted here.",
            first.path
        ));
    }
}

/// Whether the reader knows the file for something else that is whole, as a
/// coverage report; its words say then what to do.
fn is_no_test_report(report: &ReportSummary) -> bool {
    let problem = report.problem.as_deref().unwrap_or_default();
    problem.contains("leave it out")
}

fn pick<'c>(clusters: &[&'c Cluster], wanted: impl Fn(&Cluster) -> bool) -> Vec<&'c Cluster> {
    let wanted = |cluster: &&&'c Cluster| wanted(cluster);
    clusters.iter().filter(wanted).copied().collect()
}

/// A few causes are told one by one, many at once by the first of them.
fn point(
    clusters: &[&Cluster],
    what: &str,
    whose: &dyn Fn(&Cluster) -> String,
    said: &mut Vec<String>,
) {
    if clusters.len() <= TOLD {
        for cluster in clusters {
            let (victims, title) = (victims(cluster), &cluster.title);
            let whose = whose(cluster);
            said.push(format!("{what}: {victims}{whose}: {title}{}", fix(cluster)));
        }
        return;
    }
    let tests: u64 = clusters.iter().map(|c| c.count - c.flaky).sum();
    let names: Vec<String> = clusters
        .iter()
        .take(TOLD)
        .map(|c| c.example.clone() + &whose(c))
        .collect();
    said.push(format!(
        "{what}: {} for {}, first {}.",
        plural(tests, "failure"),
        plural(clusters.len(), "reason"),
        list(&names)
    ));
}

/// In which of several reports the failures of a cause are.
fn in_reports(failures: &Failures, cluster: &Cluster) -> String {
    /// More of them are counted.
    const NAMED: usize = 3;
    let reports = cluster.victims.iter().filter_map(|at| failures.get(*at));
    let reports: BTreeSet<&str> = reports.map(|failure| failure.report).collect();
    match reports.len() {
        0 => String::new(),
        1..=NAMED => {
            let names: Vec<String> = reports.into_iter().map(str::to_owned).collect();
            format!(" (in {})", list(&names))
        }
        many => format!(" (in {})", plural(many, "report")),
    }
}

fn victims(cluster: &Cluster) -> String {
    match cluster.count {
        1 => cluster.example.clone(),
        n => format!("{n} tests, as {}", cluster.example),
    }
}

/// The first step of the advice, after a full stop.
fn fix(cluster: &Cluster) -> String {
    let mut steps = cluster.advice.fix.iter();
    match steps
        .find(|step| !step.is_command())
        .map(|step| &*step.text)
    {
        Some(step) if step.ends_with(['.', '!', '?']) => format!(". {}", capitalised(step)),
        Some(step) => format!(". {}.", capitalised(step)),
        None => ".".to_owned(),
    }
}
