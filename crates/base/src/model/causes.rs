//! Failures of a run → causes: one count, wherever a run is told.
//!
//! Main function: [`by_cause`].

use super::{Diagnosis, ErrorCategory, FailureReport, Side};
use crate::text::without_numbers;
use std::collections::{HashMap, HashSet};

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
}

impl From<&Diagnosis> for CauseLabel {
    fn from(diagnosis: &Diagnosis) -> Self {
        Self {
            side: diagnosis.side,
            ambiguous: diagnosis.ambiguous,
            flaky: diagnosis.flaky,
            error_category: diagnosis.error_category,
            retryable: diagnosis.retryable,
        }
    }
}

impl CauseKey {
    #[must_use]
    pub fn of(failure: &FailureReport) -> Self {
        let diagnosis = &failure.diagnosis;
        let server = failure.server.clone();
        Self {
            server: server.filter(|_| is_unexplained(diagnosis)),
            label: diagnosis.into(),
            rule: diagnosis.rule.clone(),
            fingerprint: diagnosis.fingerprint.clone(),
        }
    }
}

/// Whether nothing says why: that it ended, and how, is alike for many causes.
#[must_use]
pub fn is_unexplained(diagnosis: &Diagnosis) -> bool {
    let evidence = diagnosis.evidence.as_ref();
    diagnosis.ambiguous && evidence.is_none_or(|evidence| evidence.field.starts_with("exit."))
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
    let failures: Vec<(&str, &FailureReport)> = failures.into_iter().collect();
    let mut causes: Vec<Vec<usize>> = Vec::new();
    let mut of_key: HashMap<(Option<&str>, CauseKey), usize> = HashMap::new();
    for (at, (plan, failure)) in failures.iter().enumerate() {
        let key = CauseKey::of(failure);
        // A server's name means something in its plan only.
        let key = (key.server.is_some().then_some(*plan), key);
        let cause = *of_key.entry(key).or_insert_with(|| {
            causes.push(Vec::new());
            causes.len() - 1
        });
        causes[cause].push(at);
    }
    join_alike(&failures, &mut causes);
    causes
}

/// Joins those that differ in numbers only.
fn join_alike(failures: &[(&str, &FailureReport)], causes: &mut Vec<Vec<usize>>) {
    type Alike<'f> = (
        &'f str,
        Option<&'f str>,
        CauseLabel,
        &'f str,
        Option<String>,
    );
    let mut alike: HashMap<Alike<'_>, Vec<usize>> = HashMap::new();
    for (cause, places) in causes.iter().enumerate() {
        let (plan, failure) = failures[places[0]];
        let diagnosis = &failure.diagnosis;
        let is_missing = diagnosis.root_cause == MISSING_SNAPSHOT;
        let said = (!is_missing).then(|| without_numbers(&failure.message));
        // What is only alike may have two causes at two servers.
        let server = failure.server.as_deref();
        let key = (plan, server, diagnosis.into(), &*diagnosis.rule, said);
        alike.entry(key).or_default().push(cause);
    }
    let mut gone = HashSet::new();
    for ((.., said), together) in alike {
        if said.is_none() || together.len() >= ALIKE {
            for other in &together[1..] {
                let mut taken = std::mem::take(&mut causes[*other]);
                causes[together[0]].append(&mut taken);
                gone.insert(*other);
            }
            causes[together[0]].sort_unstable();
        }
    }
    if !gone.is_empty() {
        causes.retain(|places| !places.is_empty());
    }
}

#[cfg(test)]
mod tests {
    use super::by_cause;
    use crate::model::{Evidence, FailureReport, Side};

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
