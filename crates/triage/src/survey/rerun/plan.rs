//! The retryable failures of an account → tests and commands.

use super::framework::target;
use super::recipe::Recipe;
use super::target::Target;
use crate::survey::words;
use jelly_base::model::{FailureStatus, FailureView, Failures, ReportSummary, RetryPlan};
use jelly_base::text::is_sayable;
use jelly_base::text::plural;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// What a command runs besides its tests is told of this many of them.
const TOLD: usize = 5;

/// What a rerun has to know of a case besides what is printed of it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Hint {
    /// The writer, where it is not that of the whole report.
    pub dialect: Option<String>,
    /// Other cases of the report stand below this one, as the tests of a suite
    /// whose hook failed.
    pub is_group: bool,
    /// The file of the test, where only the failure tells it.
    pub file: Option<String>,
    /// What else only the failure tells of the test, by name.
    pub told: Vec<(&'static str, String)>,
}

/// By the path of the report and the ordinal of the case.
pub type Hints = HashMap<(String, u64), Hint>;

/// What to run again: every test that failed, still fails, and failed of
/// nothing but causes that may pass by themselves.
#[must_use]
pub fn plan(failures: &Failures, reports: &[ReportSummary], hints: &Hints) -> RetryPlan {
    let dialects: HashMap<&str, &str> = reports
        .iter()
        .map(|report| (report.path.as_str(), report.dialect.as_str()))
        .collect();
    let hint = |test: &FailureView<'_>| {
        // Looked up where there is one at all: there may be many failures.
        let hints = Some(hints).filter(|hints| !hints.is_empty());
        hints.and_then(|hints| hints.get(&(test.report.to_owned(), test.ordinal)))
    };
    let mut tests = BTreeSet::new();
    let mut without = BTreeSet::new();
    let mut notes: BTreeSet<&'static str> = BTreeSet::new();
    let mut also = BTreeSet::new();
    let mut commands: BTreeMap<Recipe, BTreeSet<String>> = BTreeMap::new();
    let none = Hint::default();
    for test in retryable(failures) {
        let hint = hint(&test);
        let of_report = || dialects.get(test.report).copied();
        let hint = hint.unwrap_or(&none);
        let dialect = hint
            .dialect
            .as_deref()
            .or_else(of_report)
            .unwrap_or_default();
        match target(dialect, &test, hint).filter(is_writable) {
            Some(target) => {
                notes.extend(target.note);
                also.extend(target.also);
                tests.insert(listed(&target.id));
                let names = commands.entry(target.recipe).or_default();
                names.extend(target.names);
            }
            None => {
                let title = listed(&test.title());
                tests.insert(title.clone());
                without.insert(title);
            }
        }
    }
    let besides = besides(&also);
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
        notes: besides
            .into_iter()
            .chain(notes.into_iter().map(str::to_owned))
            .collect(),
    }
}

/// What the commands run besides the tests, in a sentence.
fn besides(also: &BTreeSet<String>) -> Option<String> {
    let mut told: Vec<String> = also.iter().take(TOLD).map(|what| listed(what)).collect();
    let more = also.len() - told.len();
    if more > 0 {
        told.push(plural(more, "more group"));
    }
    let told = words::list(&told);
    (!told.is_empty())
        .then(|| format!("Also runs {told}: the framework, or the report, names nothing smaller."))
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
    words.chain(&target.names).all(|word| is_sayable(word))
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
