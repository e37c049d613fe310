//! What a fleet asks, answered from runs that are all at hand, as those of a
//! file are.
//!
//! Main type: [`Runs`].

use super::fleet::{
    BranchSighting, CauseAccount, CauseCount, CommitSighting, ExportedResult, FlakyTest,
    FleetScope, MOST_LISTED, NewCause, ResultOutcome, SeenSpan, SlowTest, TestSighting,
};
use super::past::{count, rate};
use super::record::{PastCause, PastFailure, PastLabel, PastRun, TestName};
use indexmap::IndexMap;
use jelly_base::model::FailureStatus;
use jelly_base::text::stable_name;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

/// Runs, oldest first, each report once.
#[derive(Debug, Default)]
pub struct Runs {
    runs: Vec<PastRun>,
    digests: BTreeSet<(Option<String>, String)>,
}

/// A test in its project, by the name that it has in every run.
type TestKey<'r> = (Option<&'r str>, String, String, &'r str);

fn test_key<'r>(run: &'r PastRun, test: &'r TestName) -> TestKey<'r> {
    (
        run.origin.project.as_deref(),
        stable_name(&test.suite).into_owned(),
        stable_name(&test.classname).into_owned(),
        &test.name,
    )
}

/// How the runs of a test on a branch ended.
struct Ends<'r> {
    run: &'r PastRun,
    test: &'r TestName,
    /// By run, in order: whether it failed, and whether it was flaky.
    states: Vec<(usize, bool, bool)>,
    last_seen: Option<&'r str>,
    causes: IndexMap<&'r str, u32>,
}

impl Runs {
    /// Adds a run that came after all others.
    pub fn add(&mut self, mut run: PastRun) {
        let project = &run.origin.project;
        let known = |digest: &String| self.digests.contains(&(project.clone(), digest.clone()));
        let digests = run.reports.iter().map(|report| &report.digest);
        let known: BTreeSet<String> = digests.filter(|d| known(d)).cloned().collect();
        let had_reports = !run.reports.is_empty();
        run.without(&known);
        if had_reports && run.reports.is_empty() {
            return;
        }
        for report in run.reports.iter().filter(|r| !r.digest.is_empty()) {
            let key = (run.origin.project.clone(), report.digest.clone());
            self.digests.insert(key);
        }
        self.runs.push(run);
    }

    fn within<'r>(&'r self, scope: &'r FleetScope) -> impl Iterator<Item = (usize, &'r PastRun)> {
        self.runs.iter().enumerate().filter(move |(_, run)| {
            let origin = &run.origin;
            let project = scope.project.is_none() || scope.project == origin.project;
            let branch = scope.branch.is_none() || scope.branch == origin.branch;
            let since = scope.since.as_ref();
            let since = since.is_none_or(|since| run.at.as_ref().is_some_and(|at| at >= since));
            project && branch && since
        })
    }

    /// The tests that come and go most, by project and branch.
    #[must_use]
    pub fn flaky(&self, scope: &FleetScope) -> Vec<FlakyTest> {
        let mut tests: IndexMap<(TestKey<'_>, Option<&str>), Ends<'_>> = IndexMap::new();
        for (at, run) in self.within(scope) {
            for (test, outcome, failure) in results_of(run) {
                let key = (test_key(run, test), run.origin.branch.as_deref());
                let ends = tests.entry(key).or_insert_with(|| Ends {
                    run,
                    test,
                    states: Vec::new(),
                    last_seen: None,
                    causes: IndexMap::new(),
                });
                let failed = matches!(outcome, ResultOutcome::Failure | ResultOutcome::Error);
                let flaky = outcome == ResultOutcome::Flaky;
                match ends.states.last_mut().filter(|(last, ..)| *last == at) {
                    Some((_, has_failed, was_flaky)) => {
                        *has_failed |= failed;
                        *was_flaky = !*has_failed && (*was_flaky || flaky);
                    }
                    None => ends.states.push((at, failed, flaky)),
                }
                if let Some(failure) = failure {
                    ends.last_seen = run.at.as_deref().or(ends.last_seen);
                    *ends.causes.entry(&failure.fingerprint).or_default() += 1;
                }
            }
        }
        let causes = self.causes();
        let mut flaky: Vec<FlakyTest> = tests
            .into_iter()
            .filter_map(|((_, branch), ends)| {
                let flaky = ends.states.iter().filter(|(_, _, flaky)| *flaky).count();
                let pairs = ends.states.windows(2);
                let changes = pairs
                    .filter(|pair| !pair[1].2 && pair[0].1 != pair[1].1)
                    .count();
                if flaky + changes == 0 {
                    return None;
                }
                let project = ends.run.origin.project.clone();
                let mut counts: Vec<CauseCount> = ends
                    .causes
                    .iter()
                    .map(|(fingerprint, failures)| CauseCount {
                        fingerprint: (*fingerprint).to_owned(),
                        root_cause: causes
                            .get(&(project.as_deref(), *fingerprint))
                            .map_or_else(String::new, |cause| cause.root_cause.clone()),
                        failures: *failures,
                    })
                    .collect();
                counts.sort_by(|a, b| {
                    (b.failures, &a.fingerprint).cmp(&(a.failures, &b.fingerprint))
                });
                counts.truncate(3);
                Some(FlakyTest {
                    branch: branch.map(str::to_owned),
                    project,
                    test: ends.test.clone(),
                    runs: count(ends.states.len()),
                    failed: count(ends.states.iter().filter(|(_, failed, _)| *failed).count()),
                    flaky: count(flaky),
                    changes: count(changes),
                    flaky_rate: rate(flaky + changes, ends.states.len()),
                    last_seen: ends.last_seen.map(str::to_owned),
                    causes: counts,
                })
            })
            .collect();
        flaky.sort_by(|a, b| {
            let times = |test: &FlakyTest| test.flaky + test.changes;
            let by_times = times(b).cmp(&times(a));
            let by_rate = || b.flaky_rate.total_cmp(&a.flaky_rate);
            let by_name =
                || (&a.test, &a.branch, &a.project).cmp(&(&b.test, &b.branch, &b.project));
            by_times.then_with(by_rate).then_with(by_name)
        });
        limit(flaky, scope.limit)
    }

    /// The causes that no run of their project had before `scope.since`, on whatever
    /// branch; the latest first.
    #[must_use]
    pub fn new_causes(&self, scope: &FleetScope) -> Vec<NewCause> {
        let whole = FleetScope {
            since: None,
            limit: 0,
            ..scope.clone()
        };
        let every_branch = FleetScope {
            branch: None,
            ..whole.clone()
        };
        let since = scope.since.as_deref().unwrap_or_default();
        let anywhere = self.sightings(&every_branch, "");
        let mut new: Vec<NewCause> = Vec::new();
        for (which, sightings) in self.sightings(&whole, "") {
            let of_all = anywhere.get(&which).into_iter().flatten();
            let mut moments = of_all.filter_map(|(run, _)| run.at.as_deref());
            if moments.any(|at| at < since) {
                continue;
            }
            let dated = sightings.iter().filter(|(run, _)| run.at.is_some());
            let first = dated.clone().map(|(run, _)| run).min_by_key(|run| &run.at);
            let last = dated.map(|(run, _)| run).max_by_key(|run| &run.at);
            let (Some(first), Some(last), Some((_, failure))) = (first, last, sightings.last())
            else {
                continue;
            };
            let (Some(first_seen), Some(last_seen)) = (&first.at, &last.at) else {
                continue;
            };
            let Some(cause) = self.cause_of(first.origin.project.as_deref(), failure) else {
                continue;
            };
            let tests: BTreeSet<TestKey<'_>> = sightings
                .iter()
                .map(|(run, failure)| test_key(run, &failure.test))
                .collect();
            new.push(NewCause {
                project: first.origin.project.clone(),
                fingerprint: failure.fingerprint.clone(),
                root_cause: cause.root_cause.clone(),
                side: cause.side,
                first_seen: first_seen.clone(),
                first_branch: first.origin.branch.clone(),
                first_commit: first.origin.commit.clone(),
                last_seen: last_seen.clone(),
                runs: count(runs_of(&sightings)),
                failures: count(sightings.len()),
                tests: count(tests.len()),
                evidence: evidence(cause),
            });
        }
        new.sort_by(|a, b| (&b.first_seen, &a.fingerprint).cmp(&(&a.first_seen, &b.fingerprint)));
        limit(new, scope.limit)
    }

    /// What is known of the causes whose fingerprint begins so.
    #[must_use]
    pub fn accounts(&self, scope: &FleetScope, prefix: &str) -> Vec<CauseAccount> {
        let mut accounts = Vec::new();
        for ((project, fingerprint), sightings) in self.sightings(scope, prefix) {
            let Some((_, failure)) = sightings.last() else {
                continue;
            };
            let Some(cause) = self.cause_of(project, failure) else {
                continue;
            };
            accounts.push(CauseAccount {
                project: project.map(str::to_owned),
                fingerprint: fingerprint.to_owned(),
                root_cause: cause.root_cause.clone(),
                side: cause.side,
                evidence: evidence(cause),
                seen: span_of(&sightings),
                runs: count(runs_of(&sightings)),
                failures: count(sightings.len()),
                branches: branches_of(&sightings),
                tests: tests_of(&sightings),
                commits: commits_of(&sightings),
            });
        }
        accounts.sort_by(|a, b| (&a.project, &a.fingerprint).cmp(&(&b.project, &b.fingerprint)));
        limit(accounts, scope.limit)
    }

    /// The tests that take longest.
    #[must_use]
    pub fn slow(&self, scope: &FleetScope) -> Vec<SlowTest> {
        let mut tests: IndexMap<TestKey<'_>, (&TestName, Vec<u64>)> = IndexMap::new();
        for (_, run) in self.within(scope) {
            let failed = run.failures.iter().map(|f| (&f.test, f.duration_ms));
            let passed = run.passed.iter().map(|p| (&p.test, p.duration_ms));
            for (test, took) in failed.chain(passed) {
                if let Some(took) = took {
                    let entry = tests.entry(test_key(run, test));
                    entry.or_insert_with(|| (test, Vec::new())).1.push(took);
                }
            }
        }
        let mut slow: Vec<SlowTest> = tests
            .into_iter()
            .map(|((project, ..), (test, mut took))| {
                took.sort_unstable();
                SlowTest {
                    project: project.map(str::to_owned),
                    test: test.clone(),
                    results: count(took.len()),
                    median_ms: percentile(&took, 50),
                    p95_ms: percentile(&took, 95),
                    max_ms: took.last().copied().unwrap_or_default(),
                }
            })
            .collect();
        slow.sort_by(|a, b| {
            (b.median_ms, &a.test, &a.project).cmp(&(a.median_ms, &b.test, &b.project))
        });
        limit(slow, scope.limit)
    }

    /// Each result, run by run.
    pub fn results(&self, scope: &FleetScope) -> Vec<ExportedResult> {
        let mut results = Vec::new();
        for (_, run) in self.within(scope) {
            let of_run = results_of(run).map(|(test, outcome, failure)| {
                let fingerprint = failure.map(|failure| failure.fingerprint.clone());
                let cause = failure.and_then(|f| run.causes.get(&f.fingerprint));
                ExportedResult {
                    at: run.at.clone(),
                    origin: run.origin.clone(),
                    test: test.clone(),
                    outcome,
                    duration_ms: failure.and_then(|failure| failure.duration_ms),
                    fingerprint,
                    test_fingerprint: failure.map(|f| f.test_fingerprint.clone()),
                    root_cause: cause.map(|cause| cause.root_cause.clone()),
                }
            });
            let passed = run.passed.iter().map(|pass| pass.duration_ms);
            let failed = run.failures.iter().map(|failure| failure.duration_ms);
            let timed = of_run.zip(failed.chain(passed));
            results.extend(timed.map(|(mut result, took)| {
                result.duration_ms = took;
                result
            }));
        }
        limit(results, scope.limit)
    }

    /// When a commit was first seen that begins so.
    #[must_use]
    pub fn commit_seen(&self, scope: &FleetScope, commit: &str) -> Option<String> {
        let of_commit = self.within(scope).filter(|(_, run)| {
            let known = run.origin.commit.as_deref();
            known.is_some_and(|known| known.starts_with(commit))
        });
        of_commit.filter_map(|(_, run)| run.at.clone()).min()
    }

    /// Failures by cause, those of one cause in the order of their runs.
    fn sightings<'r>(&'r self, scope: &'r FleetScope, prefix: &str) -> SightingsByCause<'r> {
        let mut causes = SightingsByCause::new();
        for (_, run) in self.within(scope) {
            for failure in &run.failures {
                let fingerprint = failure.fingerprint.as_str();
                if fingerprint.starts_with(prefix) {
                    let key = (run.origin.project.as_deref(), fingerprint);
                    causes.entry(key).or_default().push((run, failure));
                }
            }
        }
        causes
    }

    /// The causes as they were diagnosed last.
    fn causes(&self) -> BTreeMap<(Option<&str>, &str), &PastCause> {
        let mut causes = BTreeMap::new();
        for run in &self.runs {
            let project = run.origin.project.as_deref();
            let of_run = run.causes.iter();
            causes.extend(of_run.map(|(print, cause)| ((project, print.as_str()), cause)));
        }
        causes
    }

    fn cause_of(&self, project: Option<&str>, failure: &PastFailure) -> Option<&PastCause> {
        let of_project = self
            .runs
            .iter()
            .rev()
            .filter(|run| run.origin.project.as_deref() == project);
        of_project
            .filter_map(|run| run.causes.get(&failure.fingerprint))
            .next()
    }
}

fn results_of(
    run: &PastRun,
) -> impl Iterator<Item = (&TestName, ResultOutcome, Option<&PastFailure>)> {
    let failed = run.failures.iter().map(|failure| {
        let outcome = match failure.status {
            FailureStatus::Failure => ResultOutcome::Failure,
            FailureStatus::Error => ResultOutcome::Error,
            FailureStatus::Flaky => ResultOutcome::Flaky,
        };
        (&failure.test, outcome, Some(failure))
    });
    let passed = run.passed.iter();
    failed.chain(passed.map(|pass| (&pass.test, ResultOutcome::Passed, None)))
}

/// By project and fingerprint.
type SightingsByCause<'r> =
    BTreeMap<(Option<&'r str>, &'r str), Vec<(&'r PastRun, &'r PastFailure)>>;

type Sightings<'r> = [(&'r PastRun, &'r PastFailure)];

fn runs_of(sightings: &Sightings<'_>) -> usize {
    let runs: BTreeSet<*const PastRun> = sightings
        .iter()
        .map(|(run, _)| std::ptr::from_ref(*run))
        .collect();
    runs.len()
}

fn first_of(sightings: &Sightings<'_>) -> Option<String> {
    let dated = sightings.iter().filter_map(|(run, _)| run.at.as_ref());
    dated.min().cloned()
}

fn last_of(sightings: &Sightings<'_>) -> Option<String> {
    let dated = sightings.iter().filter_map(|(run, _)| run.at.as_ref());
    dated.max().cloned()
}

fn span_of(sightings: &Sightings<'_>) -> SeenSpan {
    SeenSpan {
        first_seen: first_of(sightings),
        last_seen: last_of(sightings),
    }
}

fn evidence(cause: &PastCause) -> Option<String> {
    cause
        .evidence
        .as_ref()
        .map(|evidence| evidence.text.clone())
}

/// As it was diagnosed last.
fn label_of(sightings: &Sightings<'_>) -> Option<PastLabel> {
    let mut latest = sightings.iter().rev();
    latest.find_map(|(run, failure)| run.label_of(failure))
}

fn branches_of(sightings: &Sightings<'_>) -> Vec<BranchSighting> {
    let mut by_branch: BTreeMap<Option<&str>, Vec<_>> = BTreeMap::new();
    for (run, failure) in sightings {
        let branch = run.origin.branch.as_deref();
        by_branch.entry(branch).or_default().push((*run, *failure));
    }
    let mut branches: Vec<BranchSighting> = by_branch
        .into_iter()
        .map(|(branch, sightings)| BranchSighting {
            branch: branch.map(str::to_owned),
            runs: count(runs_of(&sightings)),
            failures: count(sightings.len()),
            seen: span_of(&sightings),
        })
        .collect();
    branches.sort_by_key(|branch| Reverse(branch.seen.last_seen.clone()));
    limit(branches, MOST_LISTED)
}

fn tests_of(sightings: &Sightings<'_>) -> Vec<TestSighting> {
    let mut by_test: BTreeMap<TestKey<'_>, Vec<_>> = BTreeMap::new();
    for (run, failure) in sightings {
        let key = test_key(run, &failure.test);
        by_test.entry(key).or_default().push((*run, *failure));
    }
    let mut tests: Vec<TestSighting> = by_test
        .into_values()
        .filter_map(|sightings| {
            let (_, failure) = sightings.first()?;
            Some(TestSighting {
                test: failure.test.clone(),
                failures: count(sightings.len()),
                label: label_of(&sightings)?,
                last_seen: last_of(&sightings),
            })
        })
        .collect();
    tests.sort_by(|a, b| (b.failures, &a.test).cmp(&(a.failures, &b.test)));
    limit(tests, MOST_LISTED)
}

fn commits_of(sightings: &Sightings<'_>) -> Vec<CommitSighting> {
    let mut by_commit: BTreeMap<&str, Vec<_>> = BTreeMap::new();
    for (run, failure) in sightings {
        if let Some(commit) = &run.origin.commit {
            by_commit.entry(commit).or_default().push((*run, *failure));
        }
    }
    let mut commits: Vec<CommitSighting> = by_commit
        .into_iter()
        .map(|(commit, sightings)| CommitSighting {
            commit: commit.to_owned(),
            failures: count(sightings.len()),
            first_seen: first_of(&sightings),
        })
        .collect();
    commits.sort_by(|a, b| (&b.first_seen, &a.commit).cmp(&(&a.first_seen, &b.commit)));
    limit(commits, MOST_LISTED)
}

/// The smallest of the sorted values that so many in a hundred do not exceed.
fn percentile(sorted: &[u64], hundredth: usize) -> u64 {
    let place = (sorted.len() * hundredth).div_ceil(100).saturating_sub(1);
    sorted.get(place).copied().unwrap_or_default()
}

fn limit<T>(mut all: Vec<T>, most: usize) -> Vec<T> {
    if most > 0 {
        all.truncate(most);
    }
    all
}
