//! What tools answer with before it is cut: the contracts for machines, with
//! the label of each failure at hand and alike failures together.
//!
//! Main type: [`Document`].

use super::page::ListRule;
use serde_json::{Map, Value, json};
use std::collections::HashMap;

/// An answer, with the lists of it that are dealt out over pages.
#[derive(Debug, Clone)]
pub struct Document {
    pub value: Value,
    pub lists: &'static [ListRule],
}

const fn list(path: &'static str) -> ListRule {
    ListRule {
        path,
        last_first: false,
        with_next: false,
    }
}

/// Its entries that are not well stand with those of the next list.
const fn with_next(path: &'static str) -> ListRule {
    ListRule {
        with_next: true,
        ..list(path)
    }
}

const fn last_first(path: &'static str) -> ListRule {
    ListRule {
        last_first: true,
        ..list(path)
    }
}

const RUN: [ListRule; 9] = [
    last_first("iterations"),
    with_next("iterations.steps"),
    list("iterations.failures"),
    list("iterations.servers"),
    list("plans"),
    last_first("plans.iterations"),
    with_next("plans.iterations.steps"),
    list("plans.iterations.failures"),
    list("plans.iterations.servers"),
];

const TRIAGE: [ListRule; 9] = [
    list("failures"),
    list("infrastructure_issues"),
    list("recommendations"),
    list("clusters"),
    list("reports"),
    list("retry.commands"),
    list("retry.tests"),
    list("paths"),
    list("warnings"),
];

const CHECK: [ListRule; 2] = [list("plans"), list("plans.problems")];
const DOCTOR: [ListRule; 2] = [list("servers"), list("files")];
const LIST: [ListRule; 1] = [list("runs")];
const EXPLAIN: [ListRule; 3] = [
    list("failures"),
    list("fingerprint.tests"),
    list("fingerprint.reports"),
];

/// So many names of alike failures are listed.
const MOST_NAMES: usize = 10;

impl Document {
    /// A run that is over, from its report.
    pub fn of_run(mut report: Value) -> Self {
        let plans = report.get_mut("plans").and_then(Value::as_array_mut);
        plans.into_iter().flatten().for_each(prepare_run);
        prepare_run(&mut report);
        report["state"] = "finished".into();
        Self {
            value: report,
            lists: &RUN,
        }
    }

    /// A run that goes on.
    pub fn of_going(value: Value) -> Self {
        Self { value, lists: &RUN }
    }

    pub fn of_triage(mut report: Value) -> Self {
        if let Some(failures) = report.get_mut("failures").and_then(Value::as_array_mut) {
            gather(failures, &["name"]);
        }
        Self {
            value: report,
            lists: &TRIAGE,
        }
    }

    pub fn of_check(value: Value) -> Self {
        Self {
            value,
            lists: &CHECK,
        }
    }

    pub fn of_doctor(value: Value) -> Self {
        Self {
            value,
            lists: &DOCTOR,
        }
    }

    pub fn of_classified(mut value: Value) -> Self {
        label(&mut value);
        Self { value, lists: &[] }
    }

    pub fn of_runs(value: Value) -> Self {
        Self {
            value,
            lists: &LIST,
        }
    }

    pub fn of_explained(value: Value) -> Self {
        Self {
            value,
            lists: &EXPLAIN,
        }
    }

    /// Why a run ended as it did.
    pub fn of_run_explained(report: &Value) -> Self {
        let mut failures = Vec::new();
        let plans = report["plans"].as_array();
        let of_plans = plans.into_iter().flatten();
        for plan in of_plans.chain([report]) {
            let last = plan["iterations"].as_array().and_then(|all| all.last());
            let of_last = last.and_then(|last| last["failures"].as_array());
            failures.extend(of_last.into_iter().flatten().cloned());
        }
        gather(&mut failures, &["step", "server"]);
        let mut run = Map::new();
        for key in [
            "run_id",
            "verdict",
            "exit_code",
            "needs_user_help",
            "help_summary",
        ] {
            run.extend(report.get(key).map(|value| (key.to_owned(), value.clone())));
        }
        Self::of_explained(json!({"run": run, "failures": failures}))
    }
}

/// Of one plan's report: labels, and alike failures together.
fn prepare_run(report: &mut Value) {
    let iterations = report.get_mut("iterations").and_then(Value::as_array_mut);
    for iteration in iterations.into_iter().flatten() {
        if let Some(failures) = iteration.get_mut("failures").and_then(Value::as_array_mut) {
            gather(failures, &["step", "server"]);
        }
    }
}

/// Puts failures of one fingerprint together: the first of them stays, and
/// counts the others.
fn gather(failures: &mut Vec<Value>, names: &[&str]) {
    let mut first_of: HashMap<String, usize> = HashMap::new();
    let mut kept: Vec<(Value, usize, Vec<Value>)> = Vec::new();
    for mut failure in std::mem::take(failures) {
        label(&mut failure);
        let fingerprint = failure["diagnosis"]["fingerprint"]
            .as_str()
            .map(str::to_owned);
        let first = fingerprint
            .as_ref()
            .and_then(|print| first_of.get(print).copied());
        let first = first.and_then(|at| kept.get_mut(at));
        match first {
            Some((_, count, alike)) => {
                *count += 1;
                let name = names
                    .iter()
                    .map(|name| &failure[*name])
                    .find(|name| name.is_string());
                if alike.len() < MOST_NAMES {
                    alike.extend(name.cloned());
                }
            }
            None => {
                first_of.extend(fingerprint.map(|print| (print, kept.len())));
                kept.push((failure, 0, Vec::new()));
            }
        }
    }
    failures.extend(kept.into_iter().map(|(mut failure, count, names)| {
        if count > 0 {
            failure["alike"] = json!({"count": count, "names": names});
        }
        failure
    }));
}

/// Has a failure carry the label of its diagnosis where a step carries its own.
fn label(failure: &mut Value) {
    for key in ["error_category", "retryable"] {
        let of_diagnosis = failure["diagnosis"].get(key).cloned();
        if let (Some(value), Value::Object(failure)) = (of_diagnosis, &mut *failure) {
            failure.insert(key.to_owned(), value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Document;
    use serde_json::json;

    #[test]
    fn alike_failures_are_one_that_counts_the_others() {
        let failure = |name: &str, print: &str| {
            json!({"name": name, "diagnosis": {
                "fingerprint": print, "error_category": "TIMEOUT", "retryable": true,
            }})
        };
        let unknown = json!({"name": "d", "diagnosis": {"fingerprint": "y"}});
        let report =
            json!({"failures": [failure("a", "x"), failure("b", "x"), unknown, failure("c", "x")]});
        let document = Document::of_triage(report).value;
        let failures = document["failures"].as_array().unwrap();
        assert_eq!(failures.len(), 2);
        assert_eq!(
            failures[0]["alike"],
            json!({"count": 2, "names": ["b", "c"]})
        );
        assert_eq!(failures[0]["error_category"], "TIMEOUT");
        assert_eq!(failures[0]["retryable"], true);
        assert!(failures[1].get("error_category").is_none());
        assert!(failures[1].get("retryable").is_none());
    }
}
