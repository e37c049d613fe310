//! What is alike in a run, or in the runs of several plans, told once with its
//! number: the first stands for the others, and the report has them all.
//!
//! Main types: [`RepairKind`] and [`HelpKind`]; [`RunEnd`], by which runs are
//! compared.

use jelly_base::model::{
    ActionKind, CauseKey, FailureReport, HelpProblem, HelpSummary, RepairReport, RunReport,
    is_unexplained, problems_by_cause,
};
use jelly_base::text::without_numbers;
use std::collections::BTreeSet;

/// So many repairs of one id that differ in more than numbers are told one by
/// one.
const OF_AN_ID: usize = 3;

/// Repairs of one kind.
pub(super) struct RepairKind<'r, F> {
    pub(super) first: &'r RepairReport,
    /// What became of all of them.
    pub(super) fate: F,
    pub(super) count: usize,
}

impl<F> RepairKind<'_, F> {
    /// What they edit: the target of the first, and how many there are beside
    /// it; names as `said`.
    pub(super) fn targets(&self, said: fn(&str) -> String) -> String {
        let first = said(&self.first.target);
        match self.count {
            0 | 1 => first,
            all => format!("{first} and {} more", all - 1),
        }
    }
}

/// The repairs by kind, in the order of their first.
pub(super) fn repair_kinds<'r, F: Copy + PartialEq>(
    repairs: impl Iterator<Item = (&'r RepairReport, F)>,
) -> Vec<RepairKind<'r, F>> {
    let mut kinds: Vec<RepairKind<'r, F>> = Vec::new();
    for (repair, fate) in repairs {
        let why = without_numbers(&repair.explanation);
        let is_of_id = |kind: &RepairKind<'r, F>| kind.first.id == repair.id && kind.fate == fate;
        let same = kinds
            .iter()
            .position(|kind| is_of_id(kind) && without_numbers(&kind.first.explanation) == why);
        let at = same.or_else(|| {
            let of_id = kinds.iter().filter(|kind| is_of_id(kind)).count();
            let last = kinds.iter().rposition(is_of_id);
            last.filter(|_| of_id >= OF_AN_ID)
        });
        match at {
            Some(at) => kinds[at].count += 1,
            None => kinds.push(RepairKind {
                first: repair,
                fate,
                count: 1,
            }),
        }
    }
    kinds
}

/// Problems of one cause: what helps with the first helps with each.
pub(super) struct HelpKind<'r> {
    pub(super) first: &'r HelpProblem,
    pub(super) also: Vec<&'r HelpProblem>,
}

/// The problems of a run's summary, those of one cause together.
pub(super) fn help_kinds<'r>(report: &RunReport, help: &'r HelpSummary) -> Vec<HelpKind<'r>> {
    let causes = problems_by_cause(&help.problems, &report.iterations).into_iter();
    let kinds = causes.filter_map(|places| {
        let mut problems = places.into_iter().map(|at| &help.problems[at]);
        let first = problems.next()?;
        let also = problems.collect();
        Some(HelpKind { first, also })
    });
    kinds.collect()
}

/// By what the runs of several plans are compared: what failed in each
/// iteration, what was done about it, and what a person is told of it.
#[derive(Debug, PartialEq, Eq)]
pub struct RunEnd {
    exit_code: u8,
    iterations: Vec<(ActionKind, BTreeSet<Sighted>)>,
    /// Server and words: what one run says stands for another only where it says
    /// the same.
    problems: BTreeSet<(Option<String>, String)>,
}

/// A cause, and where nothing says why, the shape of the command that failed:
/// servers of one name may be different programs.
type Sighted = (CauseKey, Option<String>);

fn sighted(failure: &FailureReport) -> Sighted {
    let unexplained = is_unexplained(&failure.diagnosis);
    let command = unexplained.then(|| without_numbers(&failure.argv.join(" ")));
    (CauseKey::of(failure), command)
}

impl RunEnd {
    /// Of a run that has something to tell; none where nothing failed, or where
    /// more is to be told than failures.
    #[must_use]
    pub fn of(report: &RunReport) -> Option<Self> {
        let last = report.iterations.last()?;
        if report.exit_code == 0 || last.failures.is_empty() {
            return None;
        }
        let mut actions = report.iterations.iter().map(|iteration| &iteration.action);
        let edited = actions.any(|action| !action.repairs.is_empty() || action.hook.is_some());
        if edited || !report.warnings.is_empty() || !report.known.is_empty() {
            return None;
        }
        let iterations = report.iterations.iter().map(|iteration| {
            let causes = iteration.failures.iter().map(sighted).collect();
            (iteration.action.kind, causes)
        });
        let help = report.help_summary.iter();
        let problems = help.flat_map(|help| &help.problems);
        let problems = problems.map(|problem| (problem.server.clone(), problem.what.clone()));
        Some(Self {
            exit_code: report.exit_code,
            iterations: iterations.collect(),
            problems: problems.collect(),
        })
    }
}

/// Runs that ended alike.
pub(super) struct AlikeRuns<'r> {
    pub(super) first: &'r RunReport,
    pub(super) also: Vec<&'r RunReport>,
}

/// The runs, those that ended alike together.
pub(super) fn run_kinds<'r>(reports: impl Iterator<Item = &'r RunReport>) -> Vec<AlikeRuns<'r>> {
    let mut kinds: Vec<(Option<RunEnd>, AlikeRuns<'r>)> = Vec::new();
    for report in reports {
        let end = RunEnd::of(report);
        let same =
            |(known, _): &&mut (Option<RunEnd>, AlikeRuns<'r>)| end.is_some() && *known == end;
        match kinds.iter_mut().find(same) {
            Some((_, kind)) => kind.also.push(report),
            None => {
                let also = Vec::new();
                let first = report;
                kinds.push((end, AlikeRuns { first, also }));
            }
        }
    }
    kinds.into_iter().map(|(_, kind)| kind).collect()
}

#[cfg(test)]
mod tests {
    use super::{RunEnd, repair_kinds, run_kinds};
    use crate::report::{samples, view};
    use jelly_base::model::{
        ActionKind, Diagnosis, Evidence, FailureReport, HookReport, KnownEntry, KnownFailure,
        Phase, RepairReport, RunReport, Side,
    };

    fn repair(id: &str, step: &str, why: &str) -> RepairReport {
        RepairReport {
            id: id.to_owned(),
            target: format!("steps.{step}"),
            explanation: why.to_owned(),
            ..RepairReport::default()
        }
    }

    #[test]
    fn repairs_of_one_kind_are_one_and_few_that_differ_are_told() {
        let mut all: Vec<RepairReport> = (0..300)
            .map(|n| repair("coerce_argument", &format!("c{n}"), &format!("passed {n}")))
            .collect();
        all.push(repair("rename_tool", "x", "called ping"));
        for name in ["add", "list", "tail", "title", "users"] {
            all.push(repair("rename_tool", name, &format!("called {name}")));
        }
        let kinds = repair_kinds(all.iter().map(|repair| (repair, ())));
        let told: Vec<(String, usize)> = kinds
            .iter()
            .map(|kind| (kind.targets(str::to_owned), kind.count))
            .collect();
        assert_eq!(
            told,
            [
                ("steps.c0 and 299 more".to_owned(), 300),
                ("steps.x".to_owned(), 1),
                ("steps.add".to_owned(), 1),
                ("steps.list and 3 more".to_owned(), 4),
            ]
        );
    }

    #[test]
    fn runs_are_alike_by_what_failed_and_only_where_something_did() {
        let reports = [
            samples::passed(),
            samples::dead_server(),
            samples::passed(),
            samples::code_failure(),
            samples::dead_server(),
        ];
        let kinds = run_kinds(reports.iter());
        let also: Vec<usize> = kinds.iter().map(|kind| kind.also.len()).collect();
        assert_eq!(also, [0, 1, 0, 0]);
        assert_eq!(RunEnd::of(&reports[0]), None);
    }

    /// The end of a server that died, in which something is otherwise.
    fn end(change: impl FnOnce(&mut RunReport)) -> Option<RunEnd> {
        let mut report = samples::dead_server();
        change(&mut report);
        RunEnd::of(&report)
    }

    #[test]
    fn runs_of_which_something_else_is_to_be_told_are_not_alike() {
        let first = end(|_| ());
        assert!(first.is_some());
        let others = [
            end(|run| {
                let failure = &mut run.iterations[0].failures[0];
                failure.diagnosis.rule = "doctor/shell-line".into();
            }),
            end(|run| {
                let help = run.help_summary.as_mut().unwrap();
                help.problems[0].server = Some("other".into());
            }),
            end(|run| {
                let help = run.help_summary.as_mut().unwrap();
                help.problems[0].what = "The answer of `refund` is another".into();
            }),
        ];
        for other in others {
            assert!(other.is_some());
            assert_ne!(other, first);
        }
        let told_in_full = [
            end(|run| {
                run.known.push(KnownFailure {
                    entry: KnownEntry::default(),
                    test: "p > s > a".into(),
                    fingerprint: "f1a2b3c4d5e6".into(),
                    diagnosis: Diagnosis::BLANK,
                });
            }),
            end(|run| run.warnings.push("disk full".into())),
            end(|run| {
                let repair = repair("coerce_argument", "refund", "passed 1");
                run.iterations[0].action.repairs.push(repair);
            }),
            end(|run| run.iterations[0].action.hook = Some(HookReport::default())),
        ];
        assert!(told_in_full.iter().all(Option::is_none));
    }

    /// A server that ended without a word.
    fn silent(server: &str, argv: &[&str]) -> FailureReport {
        let mut diagnosis = samples::diagnosis(Side::Test, "crashed_during_startup");
        diagnosis.ambiguous = true;
        diagnosis.evidence = Some(Evidence {
            field: "exit.code".into(),
            text: "exit code 1, nothing on stderr".into(),
        });
        FailureReport {
            argv: argv.iter().map(|word| (*word).to_owned()).collect(),
            ..samples::failure(server, None, Phase::Handshake, "exited", diagnosis)
        }
    }

    #[test]
    fn what_nothing_explains_is_one_at_one_server_only() {
        let stop = samples::action(ActionKind::Stop, "nothing is left to try");
        let mut known = silent("c", &["python3"]);
        known.diagnosis.evidence = Some(Evidence {
            field: "stderr".into(),
            text: "boom".into(),
        });
        let also_known = FailureReport {
            server: Some("d".into()),
            ..known.clone()
        };
        let failures = vec![
            silent("a", &["python3"]),
            silent("b", &["sh"]),
            known,
            also_known,
        ];
        let iteration = samples::iteration(1, Vec::new(), Vec::new(), failures, stop);
        let clusters = view::failure_clusters(&iteration);
        let sizes: Vec<usize> = clusters.iter().map(|c| c.failures.len()).collect();
        assert_eq!(sizes, [1, 1, 2]);
        let of = |argv: &[&str]| end(|run| run.iterations[0].failures = vec![silent("a", argv)]);
        assert_eq!(of(&["python3", "/data/1"]), of(&["python3", "/data/2"]));
        assert_ne!(of(&["python3", "/data/1"]), of(&["sh", "-c", "exit 1"]));
    }

    #[test]
    fn one_fingerprint_under_two_rules_is_two_causes() {
        let of_rule = |server: &str, rule: &str| {
            let mut diagnosis = samples::diagnosis(Side::Test, "invalid_argument");
            diagnosis.rule = rule.into();
            samples::failure(server, None, Phase::Handshake, "exited", diagnosis)
        };
        let failures = vec![
            of_rule("a", "doctor/quotes-in-argument"),
            of_rule("b", "doctor/shell-line"),
            of_rule("c", "doctor/quotes-in-argument"),
        ];
        let stop = samples::action(ActionKind::Stop, "nothing is left to try");
        let iteration = samples::iteration(1, Vec::new(), Vec::new(), failures, stop);
        let clusters = view::failure_clusters(&iteration);
        let sizes: Vec<usize> = clusters.iter().map(|c| c.failures.len()).collect();
        assert_eq!(sizes, [2, 1]);
    }
}
