//! Failures of a run → causes: one count, wherever a run is told.
//!
//! Main functions: [`by_cause`], [`problems_by_cause`], [`reported_by_cause`].

use super::{
    Diagnosis, ErrorCategory, FailureReport, FailureView, HelpProblem, IterationReport, Outage,
    Side, outage,
};
use crate::text::{address, without_numbers};
use std::collections::HashMap;

/// By what failures are taken for those of one cause.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CauseKey {
    /// Absent where the cause is known: it is one at whatever server.
    server: Option<String>,
    label: CauseLabel,
    /// What a server's configuration says may change it after the fingerprint
    /// was made.
    rule: String,
    fingerprint: String,
}

/// What is said of a cause as a whole, and so must hold for each of its failures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct CauseLabel {
    side: Side,
    ambiguous: bool,
    flaky: bool,
    error_category: Option<ErrorCategory>,
    retryable: Option<bool>,
    /// A list of known failures covers it.
    known: bool,
}

impl CauseLabel {
    fn of(diagnosis: &Diagnosis, known: bool) -> Self {
        Self {
            side: diagnosis.side,
            ambiguous: diagnosis.ambiguous,
            flaky: diagnosis.flaky,
            error_category: diagnosis.error_category,
            retryable: diagnosis.retryable,
            known,
        }
    }
}

impl CauseKey {
    /// Of one failure of a run.
    #[must_use]
    pub fn of(failure: &FailureReport) -> Self {
        let diagnosis = &failure.diagnosis;
        let server = failure.server.clone();
        Self {
            server: server.filter(|_| is_unexplained(diagnosis)),
            label: CauseLabel::of(diagnosis, failure.known.is_some()),
            rule: diagnosis.rule.clone(),
            fingerprint: diagnosis.fingerprint.clone(),
        }
    }
}

/// Whether failures of a cause compare two values, which mean something each.
#[must_use]
pub fn compares(root_cause: &str) -> bool {
    matches!(
        root_cause,
        "assertion_mismatch" | "snapshot_mismatch" | "mock_expectation" | "expected_error"
    )
}

/// Whether nothing says why: that it ended, and how, is alike for many causes.
#[must_use]
pub fn is_unexplained(diagnosis: &Diagnosis) -> bool {
    let evidence = diagnosis.evidence.as_ref();
    unexplained(
        diagnosis.ambiguous,
        evidence.map(|evidence| &*evidence.field),
    )
}

fn unexplained(ambiguous: bool, field: Option<&str>) -> bool {
    ambiguous && field.is_none_or(|field| field.starts_with("exit."))
}

/// So many causes that differ in numbers only are one; fewer may be as many.
const ALIKE: usize = 3;

/// Nothing is stored yet for a snapshot: one thing to do, whatever its name.
const MISSING_SNAPSHOT: &str = "missing_snapshot";

/// Failures with the plan of each → places of those of one cause, rising, in the
/// order of their first. None is empty, and each failure is in one.
#[must_use]
pub fn by_cause<'f>(
    failures: impl IntoIterator<Item = (&'f str, &'f FailureReport)>,
) -> Vec<Vec<usize>> {
    let told = failures.into_iter().map(|(plan, failure)| Told {
        plan,
        server: failure.server.as_deref(),
        rule: &failure.diagnosis.rule,
        root_cause: &failure.diagnosis.root_cause,
        message: &failure.message,
        evidence: failure.diagnosis.evidence.as_ref().map(|told| &*told.text),
        key: CauseKey::of(failure),
    });
    causes_of(&told.collect::<Vec<_>>())
}

impl IterationReport {
    /// Places of its failures, by cause: see [`by_cause`].
    #[must_use]
    pub fn causes(&self) -> Vec<Vec<usize>> {
        let plan = "";
        by_cause(self.failures.iter().map(|failure| (plan, failure)))
    }
}

/// By what a problem of a help summary names its failure: server, step and fingerprint.
type Named<'f> = (Option<&'f str>, Option<&'f str>, &'f str);

/// The problems of a run's help summary → places of those of one cause, rising, in the
/// order of their first. None is empty; what no failure says stands alone.
#[must_use]
pub fn problems_by_cause(
    problems: &[HelpProblem],
    iterations: &[IterationReport],
) -> Vec<Vec<usize>> {
    // Of each failure the last iteration that saw it, and which of its causes it has.
    let mut causes: HashMap<Named<'_>, (usize, usize)> = HashMap::new();
    for (index, iteration) in iterations.iter().enumerate() {
        for (cause, places) in iteration.causes().into_iter().enumerate() {
            for failure in places.into_iter().map(|at| &iteration.failures[at]) {
                let server = failure.server.as_deref();
                let named = (
                    server,
                    failure.step.as_deref(),
                    &*failure.diagnosis.fingerprint,
                );
                causes.insert(named, (index, cause));
            }
        }
    }
    let mut found: Vec<Vec<usize>> = Vec::new();
    let mut known: HashMap<(usize, usize), usize> = HashMap::new();
    for (at, problem) in problems.iter().enumerate() {
        let named = problem.fingerprint.as_deref().map(|fingerprint| {
            let server = problem.server.as_deref();
            (server, problem.step.as_deref(), fingerprint)
        });
        let cause = named.and_then(|named| causes.get(&named).copied());
        let home = cause.map_or(found.len(), |cause| {
            *known.entry(cause).or_insert(found.len())
        });
        match found.get_mut(home) {
            Some(together) => together.push(at),
            None => found.push(vec![at]),
        }
    }
    found
}

/// The same of failures of runs that a report tells of, those at these places among the
/// `views`; what is returned are places among the `views`, too.
#[must_use]
pub fn reported_by_cause(views: &[FailureView<'_>], places: &[usize]) -> Vec<Vec<usize>> {
    let told = places.iter().map(|at| {
        let view = &views[*at];
        let diagnosis = view.kind;
        let field = view.evidence.map(|(field, _)| field);
        let is_unexplained = unexplained(diagnosis.ambiguous, field);
        Told {
            plan: "",
            // It names the plan and the server.
            server: Some(view.classname),
            rule: &diagnosis.rule,
            root_cause: &diagnosis.root_cause,
            message: view.message.unwrap_or_default(),
            evidence: view.evidence.map(|(_, text)| text),
            key: CauseKey {
                server: is_unexplained.then(|| view.classname.to_owned()),
                label: CauseLabel::of(diagnosis, false),
                rule: diagnosis.rule.clone(),
                fingerprint: view.fingerprint.to_owned(),
            },
        }
    });
    let causes = causes_of(&told.collect::<Vec<_>>()).into_iter();
    causes
        .map(|cause| cause.into_iter().map(|at| places[at]).collect())
        .collect()
}

/// What is told of a failure, wherever it is.
struct Told<'f> {
    plan: &'f str,
    server: Option<&'f str>,
    rule: &'f str,
    root_cause: &'f str,
    message: &'f str,
    evidence: Option<&'f str>,
    key: CauseKey,
}

impl Told<'_> {
    /// The server that is away or ails, and how, where this is such a failure and
    /// names it.
    fn outage(&self) -> Option<(Outage, String)> {
        let kind = outage(self.root_cause)?;
        let named = self.evidence.and_then(address);
        Some((kind, named.or_else(|| address(self.message))?))
    }
}

fn causes_of(failures: &[Told<'_>]) -> Vec<Vec<usize>> {
    let mut causes: Vec<Vec<usize>> = Vec::new();
    let mut of_key: HashMap<(Option<&str>, &CauseKey), usize> = HashMap::new();
    for (at, failure) in failures.iter().enumerate() {
        // A server's name means something in its plan only.
        let plan = failure.key.server.is_some().then_some(failure.plan);
        let cause = *of_key.entry((plan, &failure.key)).or_insert_with(|| {
            causes.push(Vec::new());
            causes.len() - 1
        });
        causes[cause].push(at);
    }
    join_alike(failures, &mut causes);
    join_outages(failures, &mut causes);
    causes
}

/// Joins those that tell of one server in different words.
fn join_outages(failures: &[Told<'_>], causes: &mut Vec<Vec<usize>>) {
    let mut first: HashMap<(Outage, String, CauseLabel), usize> = HashMap::new();
    for cause in 0..causes.len() {
        let failure = &failures[causes[cause][0]];
        let Some((kind, server)) = failure.outage() else {
            continue;
        };
        let known = *first
            .entry((kind, server, failure.key.label))
            .or_insert(cause);
        if known != cause {
            let mut taken = std::mem::take(&mut causes[cause]);
            causes[known].append(&mut taken);
            causes[known].sort_unstable();
        }
    }
    causes.retain(|places| !places.is_empty());
}

/// Joins those that differ in numbers only.
fn join_alike(failures: &[Told<'_>], causes: &mut Vec<Vec<usize>>) {
    type Alike<'f> = (
        &'f str,
        Option<&'f str>,
        CauseLabel,
        &'f str,
        Option<String>,
    );
    let mut alike: HashMap<Alike<'_>, Vec<usize>> = HashMap::new();
    for (cause, places) in causes.iter().enumerate() {
        let failure = &failures[places[0]];
        let is_missing = failure.root_cause == MISSING_SNAPSHOT;
        let said = (!is_missing).then(|| without_numbers(failure.message));
        // What is only alike may have two causes at two servers.
        let key = (
            failure.plan,
            failure.server,
            failure.key.label,
            failure.rule,
            said,
        );
        alike.entry(key).or_default().push(cause);
    }
    for ((.., said), together) in alike {
        if said.is_none() || together.len() >= ALIKE {
            for other in &together[1..] {
                let mut taken = std::mem::take(&mut causes[*other]);
                causes[together[0]].append(&mut taken);
            }
            causes[together[0]].sort_unstable();
        }
    }
    causes.retain(|places| !places.is_empty());
}

#[cfg(test)]
mod tests {
    use super::{by_cause, problems_by_cause};
    use crate::model::{Evidence, FailureReport, HelpProblem, IterationReport, KnownMark, Side};

    fn failure(server: &str, fingerprint: &str, message: &str) -> FailureReport {
        let mut failure = FailureReport {
            server: Some(server.to_owned()),
            message: message.to_owned(),
            ..FailureReport::default()
        };
        failure.diagnosis.fingerprint = fingerprint.to_owned();
        failure.diagnosis.evidence = Some(Evidence {
            field: "stderr".to_owned(),
            text: message.to_owned(),
        });
        failure
    }

    fn causes(failures: &[FailureReport]) -> Vec<Vec<usize>> {
        by_cause(failures.iter().map(|failure| ("plan.yaml", failure)))
    }

    #[test]
    fn three_that_differ_in_numbers_are_one_and_two_may_be_two() {
        let of = |n: usize| {
            let all = (0..n).map(|n| failure("a", &n.to_string(), &format!("no item{n}")));
            causes(&all.collect::<Vec<_>>())
        };
        assert_eq!(of(2), [[0], [1]]);
        assert_eq!(of(3), [[0, 1, 2]]);
        let at_others: Vec<_> = ["a", "b", "c"]
            .map(|server| failure(server, server, "no item1"))
            .into();
        assert_eq!(causes(&at_others).len(), 3);
    }

    #[test]
    fn problems_are_one_where_their_failures_are() {
        let told = [
            ("a", "x", "got \"left\""),
            ("b", "y", "got \"right\""),
            ("c", "1", "got 1"),
            ("d", "2", "got 2"),
            ("e", "3", "got 3"),
        ];
        let failures = told.map(|(step, fingerprint, message)| FailureReport {
            step: Some(step.to_owned()),
            ..failure("m", fingerprint, message)
        });
        let mut problems: Vec<HelpProblem> = failures
            .iter()
            .map(|failure| HelpProblem {
                server: failure.server.clone(),
                step: failure.step.clone(),
                fingerprint: Some(failure.diagnosis.fingerprint.clone()),
                what: "The answer of `echo` is not what the plan expects".to_owned(),
                ..HelpProblem::default()
            })
            .collect();
        problems.extend([HelpProblem::default(), HelpProblem::default()]);
        let iteration = IterationReport {
            failures: failures.into(),
            ..IterationReport::default()
        };
        let causes = problems_by_cause(&problems, &[iteration]);
        assert_eq!(causes, [vec![0], vec![1], vec![2, 3, 4], vec![5], vec![6]]);
    }

    #[test]
    fn one_fingerprint_is_one_cause_where_all_bear_one_label() {
        let mut all = vec![
            failure("a", "x", "gone"),
            failure("b", "x", "gone"),
            failure("c", "x", "gone"),
        ];
        assert_eq!(causes(&all), [[0, 1, 2]]);
        all[1].diagnosis.side = Side::Code;
        assert_eq!(causes(&all), [vec![0, 2], vec![1]]);
        all[1].diagnosis.side = all[0].diagnosis.side;
        all[1].diagnosis.retryable = Some(true);
        assert_eq!(causes(&all), [vec![0, 2], vec![1]]);
        all[1].diagnosis.retryable = all[0].diagnosis.retryable;
        all[1].known = Some(KnownMark::default());
        assert_eq!(causes(&all), [vec![0, 2], vec![1]]);
    }

    #[test]
    fn one_server_that_is_away_is_one_cause_in_whatever_words() {
        let mut all: Vec<_> = [
            "connect ECONNREFUSED 127.0.0.1:5432",
            "dial tcp [::1]:5432: connect: connection refused",
            "connect ECONNREFUSED 127.0.0.1:6379",
        ]
        .map(|said| failure("a", said, said))
        .into();
        for failure in &mut all {
            failure.diagnosis.root_cause = "connection_refused".to_owned();
        }
        assert_eq!(causes(&all), [vec![0, 1], vec![2]]);
        // What is said of a cause holds for each of its failures.
        all[1].diagnosis.retryable = Some(false);
        assert_eq!(causes(&all).len(), 3);
        // A server that is named by what works is no outage.
        for failure in &mut all {
            failure.diagnosis.root_cause = "invalid_params".to_owned();
        }
        assert_eq!(causes(&all).len(), 3);
    }

    #[test]
    fn what_nothing_explains_is_one_at_one_server_of_one_plan_only() {
        let mut all: Vec<_> = ["a", "a", "b"]
            .map(|server| failure(server, "x", "ended"))
            .into();
        for failure in &mut all {
            failure.diagnosis.ambiguous = true;
            failure.diagnosis.evidence = None;
        }
        assert_eq!(causes(&all), [vec![0, 1], vec![2]]);
        let plans = ["one.yaml", "two.yaml", "one.yaml"];
        let of_plans = by_cause(plans.into_iter().zip(&all));
        assert_eq!(of_plans.len(), 3);
    }
}
