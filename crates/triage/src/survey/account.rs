//! The parts of several reports → one account of the run.

use super::advise;
use super::cluster::clusters;
use super::exit::{FailOn, exit};
use super::health::health;
use super::memory::Before;
use super::mentions::Mentions;
use super::rerun::{self, Hint, Hints};
use crate::frameworks::is_odd;
use crate::frameworks::spec::Oddity;
use crate::history::TestName;
use crate::junit::{NO_CASE, digest_of_all};
use jelly_base::model::{
    ExitCode, FailureTexts, Failures, Health, RanAt, ReportSummary, RetryPlan, SCHEMA_VERSION,
    Template, TriageReport, Verdict,
};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;

/// What was read of one report.
#[derive(Debug, Default)]
pub struct ReportPart {
    pub summary: ReportSummary,
    pub failures: Failures,
    /// Tests that passed, and of which earlier runs know otherwise.
    pub passed: Vec<TestName>,
    /// What the fingerprints were made of, where this run is remembered.
    pub templates: HashMap<String, Template>,
    /// How long its tests took in milliseconds, of those that are remembered.
    pub took: HashMap<TestName, u64>,
    /// Test fingerprints by an earlier algorithm, by those of today, where an
    /// earlier run remembers such.
    pub first_prints: HashMap<String, String>,
    /// What reruns have to know of its cases, by their ordinals.
    pub hints: HashMap<u64, Hint>,
    /// By fingerprint, `file:line` where its first failure happened.
    pub failed_at: HashMap<String, String>,
    /// What its failures mention of causes that others have, too.
    pub mentions: Mentions,
}

/// How the account is drawn up.
#[derive(Debug, Clone, Copy, Default)]
pub struct Terms {
    pub fail_on: FailOn,
    /// A flaky test counts as a failure.
    pub strict: bool,
    /// Whether a path is a file where jelly runs. Without it, nothing is known
    /// of the folders of tests.
    pub is_file: Option<fn(&Path) -> bool>,
}

/// An account with what the history wants to keep of the run.
#[derive(Debug)]
pub struct Account {
    pub report: TriageReport,
    /// Tests that passed, and of which earlier runs know otherwise.
    pub passed: Vec<TestName>,
    /// What the fingerprints were made of.
    pub templates: HashMap<String, Template>,
    /// How long the tests took in milliseconds, of those that are remembered.
    pub took: HashMap<TestName, u64>,
}

/// The first report of a run.
#[derive(Debug, Default)]
struct FirstReport {
    path: String,
    dialect: String,
    ran_at: RanAt,
    said: FailureTexts,
}

impl FirstReport {
    /// Whether a report with the same cases is of the same run: the legs of a
    /// matrix may tell the same, and are runs of their own.
    fn tells(&self, other: &ReportSummary) -> bool {
        let of_one_writer = self.dialect == other.dialect;
        !other.ran_at.is_apart_from(&self.ran_at, of_one_writer)
            && !other.said.is_apart_from(&self.said)
    }
}

/// One account of all reports: the same for any order of `parts`.
#[must_use]
pub fn account(mut parts: Vec<ReportPart>, mut before: Before, terms: Terms) -> Account {
    parts.sort_by(|a, b| a.summary.path.cmp(&b.summary.path));
    excuse_empty_parts(&mut parts);
    let mut first_of = told_in_parts(&parts);
    let mut reports = Vec::with_capacity(parts.len());
    let mut failures = Failures::default();
    let (mut passed, mut templates) = (Vec::new(), HashMap::new());
    let mut took = HashMap::new();
    let mut hints = Hints::new();
    let mut first_prints = HashMap::new();
    let mut failed_at: HashMap<String, String> = HashMap::new();
    // A test may have failed elsewhere in another leg.
    let mut failed_in: HashMap<String, HashMap<String, String>> = HashMap::new();
    let mut mentions: HashMap<String, Mentions> = HashMap::new();
    for part in parts {
        let mut summary = part.summary;
        let run = summary.identity.clone();
        let told = run.as_ref().and_then(|run| first_of.get(run));
        let told = told.and_then(|firsts| firsts.iter().find(|first| first.tells(&summary)));
        if let Some(first) = told {
            summary.same_as = Some(first.path.clone());
        } else {
            if let Some(run) = run {
                first_of.entry(run).or_default().push(FirstReport {
                    path: summary.path.clone(),
                    dialect: summary.dialect.clone(),
                    ran_at: summary.ran_at.clone(),
                    said: summary.said,
                });
            }
            passed.extend(part.passed);
            templates.extend(part.templates);
            took.extend(part.took);
            first_prints.extend(part.first_prints);
            for (cause, place) in &part.failed_at {
                let known = failed_at.entry(cause.clone());
                known.or_insert_with(|| place.clone());
            }
            failed_in.insert(summary.path.clone(), part.failed_at);
            mentions.insert(summary.path.clone(), part.mentions);
            let of_report = part.hints.into_iter();
            hints.extend(of_report.map(|(at, hint)| ((summary.path.clone(), at), hint)));
            if failures.is_empty() {
                failures = part.failures;
            } else {
                failures.append(&part.failures);
            }
        }
        reports.push(summary);
    }
    before.end_before(&reports);
    before.date(&mut failures, &first_prints);
    let fixed = before.fixed(&passed, &failures);
    let (mut clusters, consequences) = clusters(&failures, &failed_at, &mentions);
    for cluster in &mut clusters {
        cluster.at = failed_at.get(&cluster.fingerprint).cloned();
    }
    let places = failures.iter().enumerate().filter_map(|(at, failure)| {
        let place = failed_in
            .get(failure.report)?
            .get(failure.test_fingerprint)?;
        Some((at, place.clone()))
    });
    let places = places.collect();
    for consequence in consequences {
        failures.excuse(consequence.failure, consequence.is_retryable);
    }
    let health = health(&reports, &clusters);
    let retry = rerun::plan(&failures, &reports, &hints, terms.is_file);
    let (exit_code, verdict) = exit(&reports, &failures, &health, terms.fail_on, terms.strict);
    let report = TriageReport {
        schema_version: SCHEMA_VERSION,
        exit_code: exit_code.code(),
        verdict,
        infrastructure_issues: advise::infrastructure_issues(&clusters),
        recommendations: advise::recommendations(&health, &reports, (&failures, &clusters), &retry),
        health,
        reports,
        failures,
        clusters,
        places,
        fixed,
        retry,
        known: Vec::new(),
    };
    Account {
        report,
        passed,
        templates,
        took,
    }
}

/// Reports without a test whose writer writes one for each engine of a run, where one of
/// the same folder has tests: nothing is wrong with them.
fn excuse_empty_parts(parts: &mut [ReportPart]) {
    // By its own names: a report of another name is one of another run.
    let is_part = |part: &ReportPart| {
        let path = &part.summary.path;
        let name = &path[folder_of(path).len()..];
        let name = name.trim_start_matches(['/', '\\']);
        is_odd(&part.summary.dialect, Oddity::ReportPerEngine) && name.starts_with("TEST-junit-")
    };
    let tested: BTreeSet<(String, String)> = parts
        .iter()
        .filter(|part| part.summary.tests > 0 && is_part(part))
        .map(|part| run_of(&part.summary))
        .collect();
    for part in parts.iter_mut().filter(|part| is_part(part)) {
        let summary = &mut part.summary;
        if summary.tests > 0 || summary.problem.is_some() {
        } else if tested.contains(&run_of(summary)) {
            summary.may_be_empty = true;
        } else {
            summary.warnings.push(NO_CASE.to_owned());
        }
    }
}

/// The folder and the writer of a report.
fn run_of(summary: &ReportSummary) -> (String, String) {
    (folder_of(&summary.path).to_owned(), summary.dialect.clone())
}

fn folder_of(path: &str) -> &str {
    path.rfind(['/', '\\']).map_or("", |at| &path[..at])
}

/// Runs that the reports of one folder tell in parts, as those of classes
/// beside one of all of them, with the first of these reports.
fn told_in_parts(parts: &[ReportPart]) -> HashMap<String, Vec<FirstReport>> {
    type Parts<'p> = BTreeMap<&'p str, (&'p str, FailureTexts)>;
    let mut folders: BTreeMap<&str, Parts<'_>> = BTreeMap::new();
    for part in parts {
        let path = part.summary.path.as_str();
        let folder = folder_of(path);
        if let Some(digest) = part.summary.identity.as_deref() {
            // What is told twice counts once.
            let folder = folders.entry(folder).or_default();
            folder.entry(digest).or_insert((path, part.summary.said));
        }
    }
    let mut found = HashMap::new();
    let mut note = |digests: &Parts<'_>, whole: Option<&str>| {
        let of_parts = || digests.keys().copied().filter(|one| Some(*one) != whole);
        let known = || of_parts().filter_map(|one| digests.get(one));
        let first = known().map(|(path, _)| *path).min();
        let sum = digest_of_all(of_parts());
        if let (Some(sum), Some(first)) = (sum, first)
            && of_parts().count() > 1
            && whole.is_none_or(|whole| whole == sum)
        {
            let first = FirstReport {
                path: first.to_owned(),
                said: FailureTexts::of_all(known().map(|(_, said)| *said)),
                ..FirstReport::default()
            };
            found.insert(sum, vec![first]);
        }
    };
    for digests in folders.values() {
        note(digests, None);
        // The largest one may be the sum of the others.
        let cases = |digest: &&str| {
            let count = digest.split('-').next().unwrap_or_default();
            u64::from_str_radix(count, 16).unwrap_or(0)
        };
        note(digests, digests.keys().copied().max_by_key(cases));
    }
    found
}

/// What was read of a run, and nothing made of it.
pub(super) fn bare(reports: Vec<ReportSummary>, failures: Failures) -> TriageReport {
    TriageReport {
        schema_version: SCHEMA_VERSION,
        exit_code: ExitCode::Passed.code(),
        verdict: Verdict::Passed,
        health: Health::default(),
        reports,
        failures,
        clusters: Vec::new(),
        places: HashMap::new(),
        fixed: Vec::new(),
        retry: RetryPlan::default(),
        known: Vec::new(),
        infrastructure_issues: Vec::new(),
        recommendations: Vec::new(),
    }
}
