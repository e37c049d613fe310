//! The retryable failures of an account → tests and commands.

use super::framework::{Target, target};
use super::recipe::Recipe;
use super::shell::is_sayable;
use crate::model::{FailureStatus, FailureView, Failures, ReportSummary, RetryPlan};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// What to run again: every test that failed, still fails, and failed of
/// nothing but causes that may pass by themselves.
#[must_use]
pub fn plan(failures: &Failures, reports: &[ReportSummary]) -> RetryPlan {
    let dialects: HashMap<&str, &str> = reports
        .iter()
        .map(|report| (report.path.as_str(), report.dialect.as_str()))
        .collect();
    let mut tests = BTreeSet::new();
    let mut without = BTreeSet::new();
    let mut notes: Vec<&'static str> = Vec::new();
    let mut commands: BTreeMap<Recipe, BTreeSet<String>> = BTreeMap::new();
    for test in retryable(failures) {
        let dialect = dialects.get(test.report).copied().unwrap_or_default();
        match target(dialect, &test).filter(is_writable) {
            Some(target) => {
                notes.extend(target.note);
                tests.insert(target.id);
                commands
                    .entry(target.recipe)
                    .or_default()
                    .insert(target.name);
            }
            None => {
                let title = listed(&test.title());
                tests.insert(title.clone());
                without.insert(title);
            }
        }
    }
    notes.sort_unstable();
    notes.dedup();
    RetryPlan {
        tests: tests.into_iter().collect(),
        commands: commands
            .iter()
            .flat_map(|(recipe, names)| {
                let names: Vec<String> = names.iter().cloned().collect();
                recipe.lines(&names)
            })
            .collect(),
        without_command: without.into_iter().collect(),
        notes: notes.into_iter().map(str::to_owned).collect(),
    }
}

/// The tests all of whose causes may pass by themselves, one view each.
fn retryable(failures: &Failures) -> Vec<FailureView<'_>> {
    fn identity<'t>(test: &FailureView<'t>) -> [&'t str; 4] {
        [test.report, test.suite, test.classname, test.name]
    }
    let stands = |test: &FailureView<'_>| test.status != FailureStatus::Flaky;
    let hopeless: BTreeSet<[&str; 4]> = failures
        .iter()
        .filter(|test| stands(test) && test.kind.retryable != Some(true))
        .map(|test| identity(&test))
        .collect();
    failures
        .iter()
        .filter(|test| stands(test) && test.kind.retryable == Some(true))
        .filter(|test| hopeless.is_empty() || !hopeless.contains(&identity(test)))
        .collect()
}

fn is_writable(target: &Target) -> bool {
    let words = target.recipe.before.iter().chain(&target.recipe.after);
    words.chain([&target.name]).all(|word| is_sayable(word))
}

/// A name on one line of a list.
fn listed(name: &str) -> String {
    if is_sayable(name) {
        return name.to_owned();
    }
    name.chars()
        .map(|c| match c {
            '\n' => "\\n".to_owned(),
            '\r' => "\\r".to_owned(),
            '\t' => "\\t".to_owned(),
            c if c.is_control() => "\u{fffd}".to_owned(),
            c => c.to_string(),
        })
        .collect()
}
