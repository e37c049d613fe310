//! Results of shards → the result of one call, or what is wrong with them.
//!
//! Main function: [`combine`]. It never gives a smaller result: where a shard,
//! or a plan of one, is not there, there is none at all.

use super::assign::list_digest;
use jelly_base::model::{
    ActionKind, ActionReport, ExitCode, FailureReport, HelpProblem, HelpSummary, IterationReport,
    KnownEntry, MatrixReport, MergedShard, RunCause, RunReport, ServerReport, ServerState, Shard,
    ShardPlan, ShardRecord, StepReport, StepState, SupersededAttempt, Unaccepted, Verdict,
};
use std::collections::{BTreeMap, BTreeSet};

/// What one folder holds.
#[derive(Debug, Clone, Default)]
pub struct ShardResult {
    /// Where it was read, as a person named it.
    pub folder: String,
    pub run_id: String,
    /// When its call began, in seconds of Unix time, where that is known.
    pub began: Option<i64>,
    pub exit_code: u8,
    /// Its call did not end.
    pub in_progress: bool,
    pub record: ShardRecord,
    pub plans: Vec<RunReport>,
    pub matrix: Vec<MatrixReport>,
}

/// What all shards come to together.
#[derive(Debug, Clone)]
pub struct Combined {
    /// The paths of plans in the project, by those that the reports have.
    pub places: BTreeMap<String, String>,
    pub run_key: String,
    /// Of the list of known failures that all shards were given.
    pub known: Vec<KnownEntry>,
    pub exit_code: ExitCode,
    pub shards: Vec<MergedShard>,
    /// In the order in which they were named.
    pub plans: Vec<RunReport>,
    pub matrix: Vec<MatrixReport>,
}

/// Why results can't be put together. Each is a sentence that names the shard.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MergeProblem {
    #[error("shard {shard} is missing: none of the folders holds a result of it")]
    Missing { shard: Shard },
    #[error("{folder}: {shard} is of another run: {why}")]
    Foreign {
        folder: String,
        /// As in `shard 3/10`, or what its record says where that can't be.
        shard: String,
        why: String,
    },
    #[error(
        "shard {shard} has two results of attempt {attempt}: {first} and {second}; which one \
         counts nobody can tell"
    )]
    Twice {
        shard: Shard,
        attempt: u64,
        first: String,
        second: String,
    },
    #[error("{folder}: shard {shard}, attempt {attempt}, is truncated: {why}")]
    Cut {
        folder: String,
        shard: Shard,
        attempt: u64,
        why: String,
    },
}

/// Puts the results of all shards together, in any order.
///
/// # Errors
/// All that is wrong with them.
pub fn combine(results: Vec<ShardResult>) -> Result<Combined, Vec<MergeProblem>> {
    let mut problems = Vec::new();
    let run = run_of(&results);
    let latest = results.iter().filter_map(|result| result.began).max();
    let mut shards: BTreeMap<Shard, BTreeMap<u64, ShardResult>> = BTreeMap::new();
    for result in results {
        let fitting = fitting(&result, &run);
        let fitting = fitting.and_then(|shard| match out_of_time(&result, latest) {
            Some(why) => Err(why),
            None => Ok(shard),
        });
        let shard = match fitting {
            Ok(shard) => shard,
            Err(why) => {
                problems.push(MergeProblem::Foreign {
                    folder: result.folder,
                    shard: format!("shard {}/{}", result.record.index, result.record.total),
                    why,
                });
                continue;
            }
        };
        let attempts = shards.entry(shard).or_default();
        let attempt = result.record.attempt;
        if let Some(first) = attempts.get(&attempt) {
            problems.push(MergeProblem::Twice {
                shard,
                attempt,
                first: first.folder.clone(),
                second: result.folder,
            });
        } else {
            attempts.insert(attempt, result);
        }
    }
    let all = (1..=run.total).filter_map(|index| Shard::new(index, run.total));
    problems.extend(
        all.filter(|shard| !shards.contains_key(shard))
            .map(|shard| MergeProblem::Missing { shard }),
    );
    let mut counted: BTreeMap<u32, CountedShard> = BTreeMap::new();
    for (shard, mut attempts) in shards {
        let Some((_, last)) = attempts.pop_last() else {
            continue;
        };
        match CountedShard::new(shard, last, attempts) {
            Ok(one) => {
                counted.insert(shard.index(), one);
            }
            Err(problem) => problems.push(problem),
        }
    }
    if problems.is_empty() {
        Ok(together(&run, counted))
    } else {
        Err(problems)
    }
}

/// What all results have to agree on.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
struct RunIdentity {
    run_key: String,
    total: u32,
    plans_sha256: String,
    times_sha256: Option<String>,
    known_sha256: Option<String>,
    strict: bool,
    flags_sha256: String,
}

impl RunIdentity {
    fn of(record: &ShardRecord) -> Self {
        Self {
            run_key: record.run_key.clone(),
            total: record.total,
            plans_sha256: record.plans_sha256.clone(),
            times_sha256: record.times_sha256.clone(),
            known_sha256: record.known_sha256.clone(),
            strict: record.strict,
            flags_sha256: record.flags_sha256.clone(),
        }
    }
}

/// The run that most of the results are of; of two with as many, that of the
/// first result.
fn run_of(results: &[ShardResult]) -> RunIdentity {
    let mut counts: BTreeMap<RunIdentity, usize> = BTreeMap::new();
    let identities = || results.iter().map(|one| RunIdentity::of(&one.record));
    for identity in identities() {
        *counts.entry(identity).or_default() += 1;
    }
    let most = counts.values().max().copied().unwrap_or_default();
    let mut wanted = identities().filter(|one| counts.get(one) == Some(&most));
    wanted.next().unwrap_or_default()
}

/// Shards that only their plans hold together are of one run for so long: the same
/// plans are run again on another day.
const SAME_RUN_SECONDS: i64 = 12 * 60 * 60;

/// Why a result is of another run than the latest of them, where nobody named the run.
fn out_of_time(result: &ShardResult, latest: Option<i64>) -> Option<String> {
    if result.record.is_named() {
        return None;
    }
    let earlier = latest?.saturating_sub(result.began?);
    (earlier > SAME_RUN_SECONDS).then(|| {
        format!(
            "it began {} hours before the latest of them, and nothing but the plans says that \
             both are of one run; give all shards of a run the same --run-key",
            earlier / 3600
        )
    })
}

/// The shard that a result is of, where it is one of this run.
fn fitting(result: &ShardResult, run: &RunIdentity) -> Result<Shard, String> {
    let record = &result.record;
    let RunIdentity {
        run_key,
        total,
        plans_sha256,
        times_sha256,
        known_sha256,
        strict,
        flags_sha256,
    } = run;
    if record.run_key != *run_key {
        let other = &record.run_key;
        return Err(format!("its run key is {other}, not {run_key}"));
    }
    if record.total != *total {
        let other = record.total;
        return Err(format!("it is of {other} shards, not of {total}"));
    }
    // By other durations, other plans are assigned to it.
    if record.times_sha256 != *times_sha256 {
        return Err("it was given a different file of durations with --shard-times".to_owned());
    }
    if record.plans_sha256 != *plans_sha256 {
        return Err("its list of plans or the contents of a plan differ".to_owned());
    }
    if record.known_sha256 != *known_sha256 {
        return Err("it was given a different list of known failures".to_owned());
    }
    if record.strict != *strict {
        return Err("it was run with a different --strict".to_owned());
    }
    if record.flags_sha256 != *flags_sha256 {
        return Err(
            "it was run with a different --only, --skip, --skip-missing, --var, lock, --coverage, \
             --rules, budget, or another flag that decides what is run or how it is judged"
                .to_owned(),
        );
    }
    if list_digest(&record.plans) != record.plans_sha256 {
        return Err("its list of plans does not have the digest that it says".to_owned());
    }
    if record.plans.is_empty() {
        return Err("its list of plans is empty".to_owned());
    }
    record
        .shard()
        .ok_or_else(|| "no such shard: I must be from 1 to N".to_owned())
}

/// A shard of which all is there.
struct CountedShard {
    shard: Shard,
    result: ShardResult,
    /// By attempt.
    earlier: BTreeMap<u64, ShardResult>,
}

impl CountedShard {
    fn new(
        shard: Shard,
        result: ShardResult,
        earlier: BTreeMap<u64, ShardResult>,
    ) -> Result<Self, MergeProblem> {
        let attempt = result.record.attempt;
        let cut = |why: String| MergeProblem::Cut {
            folder: result.folder.clone(),
            shard,
            attempt,
            why,
        };
        if result.in_progress {
            return Err(cut("its call did not end, and says so".to_owned()));
        }
        if ExitCode::of(result.exit_code).is_none() {
            let code = result.exit_code;
            return Err(cut(format!("jelly run has no exit code {code}")));
        }
        let own: Vec<&ShardPlan> = result.record.plans.iter().collect();
        for plan in &own {
            let reports: Vec<&RunReport> = reports_of(&result, plan).collect();
            let left_out = result.record.left_out.iter();
            let left_out = left_out.filter(|path| **path == plan.path).count();
            let wanted = if plan.shard == shard.index() {
                usize::try_from(plan.runs).unwrap_or(usize::MAX)
            } else {
                0
            };
            let found = reports.len() + left_out;
            if found != wanted {
                let path = &plan.path;
                return Err(cut(format!(
                    "of {path} it holds {found} results where there should be {wanted}"
                )));
            }
            if let Some(open) = reports.iter().find(|report| report.in_progress) {
                let path = &open.plan.path;
                return Err(cut(format!("its run of {path} did not end")));
            }
            if let Some(odd) = reports.iter().find(|r| ExitCode::of(r.exit_code).is_none()) {
                let code = odd.exit_code;
                return Err(cut(format!("jelly run has no exit code {code}")));
            }
        }
        let listed = |report: &&RunReport| own.iter().any(|plan| plan.named == report.plan.path);
        if let Some(stray) = result.plans.iter().find(|report| !listed(report)) {
            let path = &stray.plan.path;
            return Err(cut(format!("it holds {path}, which is not in its list")));
        }
        Ok(Self {
            shard,
            result,
            earlier,
        })
    }

    fn merged(&self) -> MergedShard {
        MergedShard {
            index: self.shard.index(),
            attempt: self.result.record.attempt,
            run_id: self.result.run_id.clone(),
            folder: self.result.folder.clone(),
            exit_code: self.result.exit_code,
            plans: u32::try_from(self.result.plans.len()).unwrap_or(u32::MAX),
            superseded: self
                .earlier
                .iter()
                .map(|(attempt, result)| SupersededAttempt {
                    attempt: *attempt,
                    folder: result.folder.clone(),
                    exit_code: (!result.in_progress).then_some(result.exit_code),
                })
                .collect(),
        }
    }

    /// A plan as it ended, with what earlier attempts saw of it and the last
    /// one did not.
    fn settled(&self, report: &RunReport) -> RunReport {
        let mut report = report.clone();
        let seen: BTreeSet<String> = prints(report.iterations.iter()).collect();
        // What the last attempt did not see pass may fail still.
        let passed_last = |failure: &FailureReport| {
            let Some(last) = report.iterations.last() else {
                return false;
            };
            match &failure.step {
                Some(id) => {
                    let passed = |s: &StepReport| s.id == *id && s.state == StepState::Passed;
                    last.steps.iter().any(passed)
                }
                None => {
                    let ready = |s: &ServerReport| {
                        failure.server.as_ref() == Some(&s.name) && s.state == ServerState::Ready
                    };
                    failure.server.is_none() || last.servers.iter().any(ready)
                }
            }
        };
        let mut earlier: Vec<IterationReport> = Vec::new();
        for (attempt, result) in &self.earlier {
            // Each attempt may have been given the same path in its own way.
            let place = place_of(&self.result, &report).to_owned();
            let same = |other: &&RunReport| {
                place_of(result, other) == place && other.plan.name == report.plan.name
            };
            for iteration in result.plans.iter().filter(same).flat_map(|r| &r.iterations) {
                if prints([iteration]).any(|print| !seen.contains(&print)) {
                    let is_gone = |failure: &FailureReport| {
                        !seen.contains(&failure.diagnosis.test_fingerprint) && passed_last(failure)
                    };
                    earlier.push(gone(iteration, is_gone, self.shard, *attempt));
                }
            }
        }
        if earlier.is_empty() {
            return report;
        }
        if let Some(last) = report.iterations.last_mut() {
            let failed: BTreeSet<&str> = earlier
                .iter()
                .flat_map(|iteration| &iteration.failures)
                .filter_map(|failure| failure.step.as_deref())
                .collect();
            for step in &mut last.steps {
                step.flaky |= step.state == StepState::Passed && failed.contains(&*step.id);
            }
        }
        earlier.append(&mut report.iterations);
        for (index, iteration) in (1..).zip(&mut earlier) {
            iteration.index = index;
        }
        report.iterations = earlier;
        if report.verdict.is_green()
            && let Some(unseen) = not_run_again(&report)
        {
            report.verdict = Verdict::NeedsUserHelp;
            report.exit_code = ExitCode::NeedsUserHelp.code();
            report.needs_user_help = true;
            report.help_summary = Some(unseen);
        }
        if report.verdict == Verdict::Passed {
            report.verdict = Verdict::PassedAfterRetry;
            if self.result.record.strict {
                report.exit_code = ExitCode::UnacceptedChange.code();
                report.unaccepted = Some(Unaccepted::Strict);
            }
        }
        report
    }
}

/// What to say where a step failed in an earlier attempt, and the last one did
/// not run it: that it is well was not seen.
fn not_run_again(report: &RunReport) -> Option<HelpSummary> {
    let (last, before) = report.iterations.split_last()?;
    let failed = before.iter().flat_map(|iteration| &iteration.failures);
    let failed: BTreeSet<&str> = failed.filter_map(|one| one.step.as_deref()).collect();
    let ran = |state| matches!(state, StepState::Passed | StepState::Failed);
    let unseen = |id: &&str| !last.steps.iter().any(|s| s.id == *id && ran(s.state));
    let problems: Vec<HelpProblem> = failed
        .into_iter()
        .filter(unseen)
        .map(|step| HelpProblem {
            server: None,
            step: Some(step.to_owned()),
            at: None,
            root_cause: Some(RunCause::NotRunAgain),
            fingerprint: None,
            what: format!("`{step}` failed in an earlier attempt, and the last one did not run it"),
            evidence: "no run of it since then".to_owned(),
            tried: Vec::new(),
            next: vec!["run the shard again with the flags of its first attempt".to_owned()],
        })
        .collect();
    (!problems.is_empty()).then(|| HelpSummary {
        title: "what failed in an earlier attempt was not run again".to_owned(),
        problems,
    })
}

/// What failed, and where.
fn prints<'i>(
    iterations: impl IntoIterator<Item = &'i IterationReport>,
) -> impl Iterator<Item = String> {
    let failures = iterations.into_iter().flat_map(|one| &one.failures);
    failures.map(|failure| failure.diagnosis.test_fingerprint.clone())
}

/// An iteration of an earlier attempt. What was repaired in it is not part of
/// the plan that passed in the end.
fn gone(
    iteration: &IterationReport,
    is_gone: impl Fn(&FailureReport) -> bool,
    shard: Shard,
    attempt: u64,
) -> IterationReport {
    let mut iteration = iteration.clone();
    for failure in &mut iteration.failures {
        let gone = is_gone(&*failure);
        failure.diagnosis.flaky |= gone;
    }
    iteration.action = ActionReport {
        kind: ActionKind::Retry,
        reason: format!("shard {shard} was run again; this is of its attempt {attempt}"),
        ..ActionReport::default()
    };
    iteration
}

/// The path of a report's plan in the project, however it was named.
fn place_of<'r>(result: &'r ShardResult, report: &'r RunReport) -> &'r str {
    let mut plans = result.record.plans.iter();
    let listed = plans.find(|plan| plan.named == report.plan.path);
    listed.map_or(&report.plan.path, |plan| &plan.path)
}

/// The reports of a plan, one for each combination of its matrix.
fn reports_of<'r>(
    result: &'r ShardResult,
    plan: &'r ShardPlan,
) -> impl Iterator<Item = &'r RunReport> {
    let reports = result.plans.iter();
    reports.filter(move |report| report.plan.path == plan.named)
}

fn together(run: &RunIdentity, counted: BTreeMap<u32, CountedShard>) -> Combined {
    let first = counted.values().next().map(|one| &one.result.record);
    let list = first.map(|record| &record.plans);
    let mut plans = Vec::new();
    let mut matrix = Vec::new();
    for plan in list.into_iter().flatten() {
        let Some(one) = counted.get(&plan.shard) else {
            continue;
        };
        // Runners may write the same path in their own ways.
        let own = one.result.record.plans.iter();
        let Some(own) = own.into_iter().find(|other| other.path == plan.path) else {
            continue;
        };
        plans.extend(reports_of(&one.result, own).map(|report| one.settled(report)));
        let compared = one.result.matrix.iter();
        matrix.extend(compared.filter(|found| found.path == own.named).cloned());
    }
    // A shard's own result weighs at least as much as its plans', as where a
    // report could not be written.
    let of_shards = counted.values().map(|one| one.result.exit_code);
    let of_plans = plans.iter().map(|report| report.exit_code);
    let codes = of_shards.chain(of_plans);
    let exit_code = ExitCode::strongest(codes.filter_map(ExitCode::of));
    let of_all = counted.values().flat_map(|one| &one.result.record.plans);
    Combined {
        places: of_all
            .map(|plan| (plan.named.clone(), plan.path.clone()))
            .collect(),
        run_key: run.run_key.clone(),
        known: first.map_or_else(Vec::new, |record| record.known.clone()),
        exit_code: if plans.is_empty() {
            ExitCode::strongest([exit_code, ExitCode::InvalidInput])
        } else {
            exit_code
        },
        shards: counted.values().map(CountedShard::merged).collect(),
        plans,
        matrix,
    }
}

#[cfg(test)]
mod tests {
    use super::{Combined, MergeProblem, ShardResult, combine};
    use crate::shards::list_digest;
    use jelly_base::model::{
        ExitCode, FailureReport, IterationReport, PlanReport, RunReport, ShardPlan, ShardRecord,
        StepReport, StepState, Verdict,
    };

    /// Three plans in two shards.
    const LIST: [(&str, u32); 3] = [("c.yaml", 1), ("a.yaml", 2), ("b.yaml", 1)];

    fn list() -> Vec<ShardPlan> {
        let plan = |(path, shard): &(&str, u32)| ShardPlan {
            path: (*path).to_owned(),
            named: format!("./{path}"),
            shard: *shard,
            runs: 1,
            sha256: Some("00".to_owned()),
        };
        LIST.iter().map(plan).collect()
    }

    fn plan(path: &str, failing: &[&str]) -> RunReport {
        let failures = failing.iter().map(|step| {
            let mut failure = FailureReport {
                step: Some((*step).to_owned()),
                ..FailureReport::default()
            };
            failure.diagnosis.test_fingerprint = format!("j2:{step}");
            failure
        });
        let steps = ["one", "two"].map(|id| StepReport {
            id: id.to_owned(),
            state: match failing.contains(&id) {
                true => StepState::Failed,
                false => StepState::Passed,
            },
            ..StepReport::default()
        });
        let (verdict, code) = match failing {
            [] => (Verdict::Passed, ExitCode::Passed),
            _ => (Verdict::NeedsUserHelp, ExitCode::NeedsUserHelp),
        };
        RunReport {
            plan: PlanReport {
                path: format!("./{path}"),
                ..PlanReport::default()
            },
            verdict,
            exit_code: code.code(),
            iterations: vec![IterationReport {
                index: 1,
                steps: steps.into(),
                failures: failures.collect(),
                ..IterationReport::default()
            }],
            ..RunReport::default()
        }
    }

    fn shard(index: u32, attempt: u64, failing: &[&str]) -> ShardResult {
        let plans: Vec<RunReport> = LIST
            .iter()
            .filter(|(_, shard)| *shard == index)
            .map(|(path, _)| plan(path, failing))
            .collect();
        ShardResult {
            folder: format!("s{index}-{attempt}"),
            exit_code: plans[0].exit_code,
            record: ShardRecord {
                run_key: "k".to_owned(),
                attempt,
                index,
                total: 2,
                plans_sha256: list_digest(&list()),
                plans: list(),
                ..ShardRecord::default()
            },
            plans,
            ..ShardResult::default()
        }
    }

    #[track_caller]
    fn merged(results: Vec<ShardResult>) -> Combined {
        combine(results).unwrap_or_else(|problems| panic!("{problems:?}"))
    }

    #[track_caller]
    fn refused(results: Vec<ShardResult>) -> Vec<String> {
        let problems: Vec<MergeProblem> = combine(results).unwrap_err();
        problems.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn plans_stand_in_the_order_in_which_they_were_named() {
        let all = merged(vec![shard(2, 1, &[]), shard(1, 1, &[])]);
        let paths: Vec<&str> = all.plans.iter().map(|p| p.plan.path.as_str()).collect();
        assert_eq!(paths, ["./c.yaml", "./a.yaml", "./b.yaml"]);
        assert_eq!(all.exit_code, ExitCode::Passed);
    }

    #[test]
    fn what_is_missing_cut_or_doubled_is_named() {
        assert_eq!(
            refused(vec![shard(2, 1, &[])]),
            ["shard 1/2 is missing: none of the folders holds a result of it"]
        );
        let mut open = shard(1, 1, &[]);
        open.in_progress = true;
        assert_eq!(
            refused(vec![open, shard(2, 1, &[])]),
            ["s1-1: shard 1/2, attempt 1, is truncated: its call did not end, and says so"]
        );
        let mut short = shard(1, 1, &[]);
        short.plans.pop();
        assert_eq!(
            refused(vec![short, shard(2, 1, &[])]),
            [
                "s1-1: shard 1/2, attempt 1, is truncated: of b.yaml it holds 0 results where there \
                 should be 1"
            ]
        );
        let twice = refused(vec![shard(1, 1, &[]), shard(2, 1, &[]), shard(1, 1, &[])]);
        assert!(twice[0].starts_with("shard 1/2 has two results of attempt 1: s1-1 and s1-1"));
    }

    #[test]
    fn a_shard_of_another_run_is_refused_whatever_differs() {
        let change: [fn(&mut ShardRecord); 5] = [
            |record| record.run_key = "other".to_owned(),
            |record| record.total = 3,
            |record| record.times_sha256 = Some("00".to_owned()),
            |record| record.strict = true,
            |record| {
                record.plans[0].sha256 = Some("11".to_owned());
                record.plans_sha256 = list_digest(&record.plans);
            },
        ];
        for change in change {
            let mut foreign = shard(1, 1, &[]);
            change(&mut foreign.record);
            let told = refused(vec![shard(2, 1, &[]), shard(2, 2, &[]), foreign]);
            assert!(told[0].contains("is of another run"), "{told:?}");
            assert!(told[1].contains("shard 1/2 is missing"), "{told:?}");
        }
    }

    #[test]
    fn the_highest_attempt_counts_and_what_went_away_is_flaky() {
        let results = vec![shard(1, 1, &["two"]), shard(2, 7, &[]), shard(1, 3, &[])];
        let all = merged(results.clone());
        assert_eq!(all.exit_code, ExitCode::Passed);
        let first = &all.plans[0];
        assert_eq!(first.verdict, Verdict::PassedAfterRetry);
        assert_eq!(first.iterations.len(), 2);
        assert_eq!(first.iterations[1].index, 2);
        assert!(first.iterations[0].failures[0].diagnosis.flaky);
        let flaky: Vec<bool> = first.iterations[1].steps.iter().map(|s| s.flaky).collect();
        assert_eq!(flaky, [false, true]);
        assert_eq!(all.plans[1].verdict, Verdict::Passed);
        assert_eq!(all.shards[0].attempt, 3);
        assert_eq!(all.shards[0].superseded[0].folder, "s1-1");
        assert_eq!(all.shards[0].superseded[0].exit_code, Some(3));

        let strict = |mut result: ShardResult| {
            result.record.strict = true;
            result
        };
        let all = merged(results.into_iter().map(strict).collect());
        assert_eq!(all.exit_code, ExitCode::UnacceptedChange);
    }

    #[test]
    fn an_attempt_that_named_its_plans_otherwise_is_of_the_same_plans() {
        let mut first = shard(1, 1, &["two"]);
        for plan in &mut first.record.plans {
            plan.named = format!("/ci/{}", plan.path);
        }
        for report in &mut first.plans {
            report.plan.path = report.plan.path.replace("./", "/ci/");
        }
        let all = merged(vec![first, shard(1, 2, &[]), shard(2, 1, &[])]);
        assert_eq!(all.plans[0].verdict, Verdict::PassedAfterRetry);
        assert_eq!(all.plans[0].iterations.len(), 2);
    }

    #[test]
    fn what_only_plans_hold_together_is_no_run_of_several_days() {
        let of = |index: u32, began: Option<i64>, named: bool| {
            let mut result = shard(index, 1, &[]);
            result.began = began;
            if !named {
                result.record.run_key = ShardRecord::key_of_plans(&result.record.plans_sha256);
            }
            result
        };
        let day = 24 * 60 * 60;
        for (began, named) in [
            (Some(day), false),
            (Some(day), true),
            (Some(2 * day - 3600), false),
            (None, false),
        ] {
            let results = vec![of(1, Some(2 * day), named), of(2, began, named)];
            let stale = began == Some(day) && !named;
            assert_eq!(combine(results).is_err(), stale, "{began:?} {named}");
        }
        let told = refused(vec![of(1, Some(2 * day), false), of(2, Some(day), false)]);
        assert!(
            told[0].starts_with("s2-1: shard 2/2 is of another run"),
            "{told:?}"
        );
        assert!(
            told[0].contains("24 hours") && told[0].contains("--run-key"),
            "{told:?}"
        );
        assert!(told[1].contains("shard 2/2 is missing"), "{told:?}");
    }

    #[test]
    fn a_failure_that_the_last_attempt_has_too_is_no_flaky_one() {
        let all = merged(vec![
            shard(1, 1, &["two"]),
            shard(1, 2, &["two"]),
            shard(2, 1, &[]),
        ]);
        assert_eq!(all.plans[0].iterations.len(), 1);
        assert_eq!(all.exit_code, ExitCode::NeedsUserHelp);
    }

    #[test]
    fn a_cut_last_attempt_is_no_reason_to_count_the_one_before_it() {
        let mut open = shard(1, 2, &[]);
        open.in_progress = true;
        let told = refused(vec![shard(1, 1, &[]), open, shard(2, 1, &[])]);
        assert!(
            told[0].contains("shard 1/2, attempt 2, is truncated"),
            "{told:?}"
        );
    }

    #[test]
    fn a_run_of_which_every_plan_was_left_out_is_no_green_one() {
        let mut results = vec![shard(1, 1, &[]), shard(2, 1, &[])];
        for result in &mut results {
            let paths = result.plans.drain(..).map(|report| report.plan.path);
            let paths = paths.map(|path| path.trim_start_matches("./").to_owned());
            result.record.left_out = paths.collect();
        }
        assert_eq!(merged(results).exit_code, ExitCode::InvalidInput);
    }
}
