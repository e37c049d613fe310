//! The invariants of the loop, each held over thousands of random histories.

use super::tales::{Happened, STEPS, Told, tell, told};
use crate::triage_loop::Hook;
use jelly_base::model::{
    ActionKind, AssertionTarget, Because, BudgetsReport, Failure, FailureReport, IterationReport,
    Phase, Section, Side, Standing, StepReport, StepState, Verdict,
};
use jelly_base::testing::all_cases;
use std::collections::BTreeSet;

fn each(check: impl Fn(&Told)) {
    for told in told() {
        let checked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| check(told)));
        assert!(checked.is_ok(), "broken by {:?}", told.tale);
    }
}

fn iterations(told: &Told) -> impl Iterator<Item = (&IterationReport, &Happened)> {
    told.report.iterations.iter().zip(&told.iterations)
}

fn last(told: &Told) -> (&IterationReport, &Happened) {
    iterations(told).last().unwrap()
}

/// The number of times that the code was refined before this iteration.
fn code_revision(told: &Told, index: u32) -> usize {
    told.hooks
        .iter()
        .filter(|(after, hook, changed)| *after < index && *hook == Hook::RefineCode && *changed)
        .count()
}

/// The failures that an iteration saw, each as it is told and as it was recorded.
/// What a step was taken out for by then is told besides.
fn seen<'t>(
    report: &'t IterationReport,
    happened: &'t Happened,
) -> impl Iterator<Item = (&'t FailureReport, &'t Failure)> {
    let recorded = &happened.record.failures;
    let is_seen = |told: &&FailureReport| {
        told.step.is_none() || recorded.iter().any(|raw| raw.step == told.step)
    };
    report.failures.iter().filter(is_seen).zip(recorded)
}

/// The failures of one step, or one of a server.
fn is_code(failures: &[FailureReport]) -> bool {
    failures.iter().any(|f| f.diagnosis.side == Side::Code)
}

/// Mismatches that were held against the code, with the iterations before.
fn blamed(told: &Told) -> Vec<(&FailureReport, &IterationReport, &Happened)> {
    let mut blamed = Vec::new();
    for (report, happened) in iterations(told) {
        for (failure, raw) in seen(report, happened) {
            if raw.is_mismatch() && failure.diagnosis.side == Side::Code {
                blamed.push((failure, report, happened));
            }
        }
    }
    blamed
}

#[test]
fn refine_code_is_unreachable_while_any_test_side_failure_stands() {
    each(|told| {
        for (report, happened) in iterations(told) {
            let called = told
                .hooks
                .iter()
                .any(|(after, hook, _)| *after == report.index && *hook == Hook::RefineCode);
            if !called && report.action.kind != ActionKind::RefineCode {
                continue;
            }
            assert!(!report.failures.is_empty());
            assert!(report.failures_by_step().all(is_code));
            assert!(report.failures.iter().all(|f| f.phase != Phase::Handshake));
            assert_eq!(report.totals.blocked, 0);
            assert_eq!(report.totals.quarantined, 0);
            for step in &happened.record.steps {
                let explained = report
                    .failures
                    .iter()
                    .any(|f| f.step.as_ref() == Some(&step.id));
                assert!(step.state != StepState::Failed || explained);
            }
        }
    });
}

#[test]
fn refine_code_needs_a_plan_that_was_seen_to_hold_or_is_trusted() {
    each(|told| {
        for (report, _) in iterations(told) {
            if report.action.kind == ActionKind::RefineCode && !told.tale.trust_plan {
                let doubtful =
                    |f: &FailureReport| f.diagnosis.standing == Some(Standing::NeverPassed);
                assert!(!report.failures.iter().any(doubtful));
            }
        }
    });
}

fn tracks(budgets: &BudgetsReport) -> [u32; 5] {
    [
        budgets.retries,
        budgets.confirms,
        budgets.mcp_repairs,
        budgets.test_fixes,
        budgets.code_refines,
    ]
}

#[test]
fn no_budget_of_one_track_is_ever_spent_by_another() {
    each(|told| {
        let mut before = None;
        for (report, _) in iterations(told) {
            let now = tracks(&report.budgets.before);
            let after = tracks(&report.budgets.after);
            assert_eq!(*before.get_or_insert(now), now);
            before = Some(after);
            let spent: Vec<u32> = now.iter().zip(after).map(|(b, a)| b - a).collect();
            assert!(spent.iter().all(|s| *s <= 1));
            let hook_failed = report
                .action
                .hook
                .as_ref()
                .is_some_and(|h| h.error.is_some());
            let allowed: [bool; 5] = match report.action.kind {
                ActionKind::RepairMcpPlan => [true, true, true, hook_failed, false],
                ActionKind::Retry => [true, true, false, false, false],
                ActionKind::Confirm => [false, true, false, false, false],
                ActionKind::FixTests => [false, false, false, true, false],
                ActionKind::RefineCode => [false, false, false, false, true],
                ActionKind::Stop => [false; 5],
            };
            for (spent, allowed) in spent.iter().zip(allowed) {
                assert!(*spent == 0 || allowed, "{:?}", report.action);
            }
            // What acts is charged, but for confirming: that is counted by
            // failure, and the figure is that of the most confirmed one.
            let own = match report.action.kind {
                ActionKind::RepairMcpPlan => Some(2),
                ActionKind::Retry => Some(0),
                ActionKind::FixTests => Some(3),
                ActionKind::RefineCode => Some(4),
                ActionKind::Confirm | ActionKind::Stop => None,
            };
            if let Some(own) = own {
                assert_eq!(spent[own], 1, "{:?}", report.action);
            }
        }
    });
}

#[test]
fn each_failure_is_confirmed_no_more_often_than_its_budget_allows() {
    each(|told| {
        let mut asked: std::collections::BTreeMap<&str, u32> = Default::default();
        for (report, _) in iterations(told) {
            if report.action.kind == ActionKind::Confirm {
                let open = report
                    .failures
                    .iter()
                    .filter(|f| f.diagnosis.excused.is_some() && f.diagnosis.repeated.is_none())
                    .map(|f| f.diagnosis.test_fingerprint.as_str())
                    .collect::<BTreeSet<_>>();
                assert!(!open.is_empty());
                for fingerprint in open {
                    *asked.entry(fingerprint).or_default() += 1;
                }
            }
        }
        assert!(asked.values().all(|n| *n <= told.tale.budgets.confirms));
    });
}

#[test]
fn totals_always_add_up() {
    each(|told| {
        for (report, _) in iterations(told) {
            let t = report.totals;
            assert_eq!(t.total as usize, STEPS.len());
            assert_eq!(
                t.passed + t.failed + t.blocked + t.quarantined + t.skipped,
                t.total
            );
        }
    });
}

#[test]
fn every_run_ends_within_its_iterations() {
    each(|told| {
        let executed = told.iterations.len();
        assert!(executed >= 1);
        assert!(executed <= told.tale.budgets.max_iterations as usize);
        assert_eq!(executed, told.report.iterations.len());
    });
}

#[test]
fn nothing_turns_green_by_absence() {
    each(|told| {
        if !told.report.verdict.is_green() {
            return;
        }
        let (report, happened) = last(told);
        let record = &happened.record;
        assert!(report.failures.is_empty() && record.failures.is_empty());
        assert!(record.interrupted.is_none() && !record.deadline_reached);
        let passed = |s: &&jelly_base::model::StepReport| {
            s.section == Section::Steps && s.state == StepState::Passed
        };
        assert!(record.steps.iter().filter(passed).count() > 0);
        for step in &record.steps {
            let fine = step.state == StepState::Passed
                || (step.state == StepState::Skipped && step.because == Some(Because::NotSelected));
            assert!(fine, "{step:?}");
        }
    });
}

#[test]
fn a_proof_of_one_sighting_stands_until_the_code_is_refined() {
    each(|told| {
        let revision = code_revision(told, u32::MAX);
        let proven = iterations(told).any(|(report, _)| {
            code_revision(told, report.index) == revision
                && report.failures.iter().any(|f| {
                    f.diagnosis.side == Side::Code
                        && f.diagnosis.standing.is_none()
                        && f.diagnosis.retryable != Some(true)
                })
        });
        assert!(!proven || !told.report.verdict.is_green());
    });
}

#[test]
fn the_code_is_blamed_for_a_mismatch_only_when_it_came_twice_the_same() {
    each(|told| {
        assert!(told.tale.budgets.confirms > 0 || blamed(told).is_empty());
        for (failure, report, happened) in blamed(told) {
            let step = failure.step.as_ref().unwrap();
            let now = code_revision(told, report.index);
            // By the code it was seen on: this one, or one before a refinement.
            let (here, before): (Vec<usize>, Vec<usize>) = iterations(told)
                .filter(|(r, h)| r.index < report.index && h.facts[step] == happened.facts[step])
                .filter(|(r, h)| {
                    seen(r, h).any(|(f, raw)| {
                        f.diagnosis.test_fingerprint == failure.diagnosis.test_fingerprint
                            && !raw.after_restart
                    })
                })
                .map(|(r, _)| code_revision(told, r.index))
                .partition(|code| *code == now);
            let proven_before = before
                .iter()
                .any(|code| before.iter().filter(|other| *other == code).count() >= 2);
            assert!(!here.is_empty() || proven_before);
        }
    });
}

/// The test fingerprints of what a step got wrong in the iterations before
/// this one, on the same plan and code and on a healthy server.
fn wrong_before(told: &Told, step: &str, index: u32) -> Vec<BTreeSet<String>> {
    let facts = &told.iterations[index as usize - 1].facts[step];
    let comparable = iterations(told).filter(|(r, h)| {
        r.index < index
            && code_revision(told, r.index) == code_revision(told, index)
            && h.facts[step] == *facts
    });
    let wrong = comparable.map(|(r, h)| {
        // An answer that the environment gave says nothing of the next one.
        let environment = |f: &&FailureReport| {
            f.step.as_deref() == Some(step) && f.diagnosis.root_cause == "connection_refused"
        };
        if r.failures.iter().any(|f| environment(&f)) {
            return BTreeSet::new();
        }
        let both = seen(r, h);
        both.filter(|(f, raw)| {
            f.step.as_deref() == Some(step) && raw.is_mismatch() && !raw.after_restart
        })
        .map(|(f, _)| f.diagnosis.test_fingerprint.clone())
        .collect::<BTreeSet<_>>()
    });
    wrong.filter(|wrong| !wrong.is_empty()).collect()
}

#[test]
fn a_mismatch_that_was_ever_missing_among_the_wrong_is_not_code() {
    each(|told| {
        for (failure, report, _) in blamed(told) {
            let step = failure.step.as_deref().unwrap();
            for wrong in wrong_before(told, step, report.index) {
                assert!(wrong.contains(&failure.diagnosis.test_fingerprint));
            }
        }
    });
}

#[test]
fn a_value_that_varies_hides_no_value_that_is_always_wrong() {
    each(|told| {
        if told.tale.budgets.confirms == 0 {
            return;
        }
        for (report, happened) in iterations(told) {
            let repaired =
                told.report.iterations.iter().any(|earlier| {
                    earlier.index < report.index && !earlier.action.repairs.is_empty()
                });
            let raw = |f: &FailureReport| {
                let found = seen(report, happened).find(|(other, _)| *other == f);
                found.unwrap().1
            };
            for failures in report.failures_by_step().filter(|_| !repaired) {
                let Some(step) = failures[0].step.as_deref() else {
                    continue;
                };
                let passed = iterations(told).any(|(r, h)| {
                    r.index < report.index
                        && h.facts[step] == happened.facts[step]
                        && code_revision(told, r.index) == code_revision(told, report.index)
                        && h.record
                            .steps
                            .iter()
                            .any(|s| s.id == step && s.state == StepState::Passed)
                });
                let by_environment =
                    |f: &FailureReport| f.diagnosis.root_cause == "connection_refused";
                let stood_on_nothing = iterations(told).any(|(r, _)| {
                    r.index <= report.index
                        && r.failures.iter().any(|f| {
                            f.step.as_deref() == Some(step)
                                && matches!(
                                    f.diagnosis.excused.as_deref(),
                                    Some("earlier_step_not_done" | "earlier_step_failed")
                                )
                        })
                });
                if passed || stood_on_nothing || failures.iter().any(by_environment) {
                    continue;
                }
                let before = wrong_before(told, step, report.index);
                let repeats = failures.iter().any(|f| {
                    let target = raw(f).assertion.as_ref().and_then(|a| a.target);
                    raw(f).is_mismatch()
                        && !raw(f).after_restart
                        && target != Some(AssertionTarget::Duration)
                        && !before.is_empty()
                        && before
                            .iter()
                            .all(|w| w.contains(&f.diagnosis.test_fingerprint))
                });
                assert!(!repeats || is_code(failures));
            }
        }
    });
}

#[test]
fn no_mismatch_is_code_behind_a_step_that_was_not_done() {
    each(|told| {
        for (failure, report, happened) in blamed(told) {
            let Some(step) = failure.step.as_deref() else {
                continue;
            };
            if failure.diagnosis.standing != Some(Standing::NeverPassed) {
                continue;
            }
            let sources = &happened.facts[step].steps;
            let own = report.steps.iter().position(|s| s.id == step).unwrap();
            let builds_on = |earlier: &&StepReport| {
                earlier.server == report.steps[own].server || sources.contains(&earlier.id)
            };
            for earlier in report.steps[..own].iter().filter(builds_on) {
                let is_answer = |f: &&FailureReport| {
                    f.step.as_ref() == Some(&earlier.id)
                        && (f.assertion.is_some() || f.diagnosis.side == Side::Code)
                        && f.diagnosis.root_cause != "connection_refused"
                };
                let done = earlier.state == StepState::Passed
                    || earlier.state == StepState::Failed
                        && report.failures.iter().any(|f| is_answer(&f));
                assert!(done, "{} stands on {}", step, earlier.id);
            }
        }
    });
}

#[test]
fn no_mismatch_is_code_beside_one_that_the_environment_explains() {
    each(|told| {
        for (failure, report, _) in blamed(told) {
            let own = report.failures.iter().filter(|f| f.step == failure.step);
            for other in own {
                assert_ne!(other.diagnosis.root_cause, "connection_refused");
            }
        }
    });
}

#[test]
fn a_step_that_is_code_asks_for_nothing_test_side() {
    each(|told| {
        for (report, _) in iterations(told) {
            if !report.failures.is_empty()
                && report.failures_by_step().all(is_code)
                && report.totals.blocked + report.totals.quarantined == 0
            {
                let kind = report.action.kind;
                assert!(
                    matches!(
                        kind,
                        ActionKind::Retry | ActionKind::RefineCode | ActionKind::Stop
                    ),
                    "{kind:?}"
                );
            }
        }
    });
}

#[test]
fn a_mismatch_is_not_code_when_the_step_passed_on_the_same_plan_and_code() {
    each(|told| {
        for (failure, report, happened) in blamed(told) {
            let step = failure.step.as_ref().unwrap();
            let passed = iterations(told).any(|(r, h)| {
                r.index < report.index
                    && code_revision(told, r.index) == code_revision(told, report.index)
                    && h.facts[step] == happened.facts[step]
                    && h.record
                        .steps
                        .iter()
                        .any(|s| s.id == *step && s.state == StepState::Passed)
            });
            assert!(!passed);
        }
    });
}

#[test]
fn a_mismatch_is_not_code_when_a_repair_edited_the_step_or_its_server() {
    each(|told| {
        let original = &told.iterations[0].facts;
        for (failure, _, happened) in blamed(told) {
            let step = failure.step.as_ref().unwrap();
            assert_eq!(original[step], happened.facts[step]);
            let server = failure.server.as_ref().unwrap();
            assert!(!happened.edited_servers.contains(server));
        }
    });
}

#[test]
fn a_mismatch_is_not_code_after_a_restart_nor_about_time_nor_when_the_answer_is_infrastructure() {
    each(|told| {
        for (report, happened) in iterations(told) {
            for (failure, raw) in seen(report, happened) {
                let target = raw.assertion.as_ref().and_then(|a| a.target);
                let excused = raw.after_restart
                    || target == Some(AssertionTarget::Duration)
                    || failure.diagnosis.root_cause == "connection_refused";
                assert!(!excused || failure.diagnosis.side == Side::Test);
            }
        }
    });
}

#[test]
fn what_triage_calls_test_side_is_never_code_however_often_it_repeats() {
    each(|told| {
        for (report, happened) in iterations(told) {
            for (failure, raw) in seen(report, happened) {
                let said = raw.message.as_deref().unwrap_or_default();
                assert!(said.starts_with("code") || failure.diagnosis.side == Side::Test);
                assert!(
                    failure.phase == Phase::Call
                        || failure.phase == Phase::Assert
                        || failure.diagnosis.side == Side::Test
                );
            }
        }
    });
}

#[test]
fn a_repair_whose_failure_came_back_is_marked_and_not_tried_again() {
    each(|told| {
        let all: Vec<_> = iterations(told).map(|(report, _)| report).collect();
        for (at, report) in all.iter().enumerate() {
            for repair in &report.action.repairs {
                let replaced = told.hooks.iter().any(|(after, hook, changed)| {
                    *after >= report.index && *hook == Hook::FixTests && *changed
                });
                let again = all[at + 1..].iter().any(|later| {
                    later
                        .action
                        .repairs
                        .iter()
                        .any(|r| r.id == repair.id && r.target == repair.target)
                });
                assert!(!(repair.ineffective && again) || replaced, "{repair:?}");
            }
        }
    });
}

#[test]
fn a_red_run_fails_closed_and_says_what_to_do() {
    each(|told| {
        let report = &told.report;
        match report.verdict {
            Verdict::NeedsUserHelp => {
                assert_eq!(report.exit_code, 3);
                assert!(report.needs_user_help);
            }
            Verdict::CodeFailure => assert_eq!(report.exit_code, 1),
            Verdict::Interrupted => {
                assert_eq!(report.exit_code, 130);
                return;
            }
            Verdict::Passed
            | Verdict::PassedAfterRetry
            | Verdict::PassedAfterRepair
            | Verdict::Skipped => {
                assert!(!report.needs_user_help);
                assert_eq!(report.help_summary, None);
                return;
            }
            Verdict::InvalidInput | Verdict::PassedWithKnown | Verdict::NothingAssigned => {
                panic!("the loop has no such verdict")
            }
        }
        let help = report.help_summary.as_ref().unwrap();
        assert!(!help.title.is_empty() && !help.problems.is_empty());
        for problem in &help.problems {
            assert!(!problem.what.is_empty() && !problem.evidence.is_empty());
            assert!(problem.next.iter().any(|line| line.starts_with("$ ")));
        }
    });
}

#[test]
fn a_code_failure_needs_help_besides_exactly_when_something_test_side_stands() {
    each(|told| {
        let report = &told.report;
        if report.verdict != Verdict::CodeFailure {
            return;
        }
        let (last, _) = last(told);
        let failing = !last.failures_by_step().all(is_code);
        let unable = last.totals.blocked + last.totals.quarantined > 0;
        assert!(!(failing || unable) || report.needs_user_help);
    });
}

#[test]
fn exit_4_is_green_by_what_nobody_allowed() {
    each(|told| {
        let report = &told.report;
        if !report.verdict.is_green() {
            assert_ne!(report.exit_code, 4);
            return;
        }
        let replaced_after = told
            .hooks
            .iter()
            .filter(|(_, hook, changed)| *hook == Hook::FixTests && *changed)
            .map(|(after, _, _)| *after)
            .max()
            .unwrap_or(0);
        let contract = report
            .iterations
            .iter()
            .filter(|i| i.index > replaced_after)
            .flat_map(|i| &i.action.repairs)
            .any(|r| {
                r.id == "rename_tool"
                    || (r.id == "raise_timeout" && r.explanation.contains("answer"))
            });
        let strict = told.tale.strict && report.verdict != Verdict::Passed;
        let refused = strict || (contract && !told.tale.accept_repairs);
        assert_eq!(report.exit_code, if refused { 4 } else { 0 });
        if report.verdict == Verdict::Passed {
            assert_eq!(report.iterations.len(), 1);
        }
    });
}

#[test]
fn repairs_never_touch_the_users_file() {
    each(|told| assert!(told.plan_untouched));
}

#[test]
fn every_iteration_is_reported_and_none_but_the_last_can_be_green() {
    each(|told| {
        let (end, before) = told.reports.split_last().unwrap();
        assert_eq!(*end, told.report);
        for (report, _) in iterations(told) {
            let seen =
                |r: &jelly_base::model::RunReport| r.iterations.len() == report.index as usize;
            assert!(told.reports.iter().any(seen));
        }
        for report in before {
            assert!(!report.verdict.is_green() && report.exit_code != 0);
        }
    });
}

#[test]
fn the_diagnosis_is_consistent_with_itself() {
    each(|told| {
        for (report, _) in iterations(told) {
            for failure in &report.failures {
                let d = &failure.diagnosis;
                assert_eq!(d.retryable.is_some(), d.error_category.is_some());
                assert!(!d.ambiguous || d.side == Side::Test);
                assert!(d.standing.is_none() || d.side == Side::Code);
                assert!(d.excused.is_none() || d.side == Side::Test);
                if let Some(repeated) = &d.repeated {
                    assert!(repeated.count >= 2 && repeated.first_iteration < report.index);
                }
            }
        }
    });
}

#[test]
fn attempts_only_grow_and_count_executions() {
    each(|told| {
        for id in STEPS {
            let mut executions = 0;
            for (report, happened) in iterations(told) {
                let find = |steps: &[jelly_base::model::StepReport]| {
                    steps.iter().find(|s| s.id == id).unwrap().attempts
                };
                executions += find(&happened.record.steps);
                assert_eq!(find(&report.steps), executions);
            }
        }
    });
}

#[test]
fn the_same_inputs_give_the_same_outputs() {
    for told in told().iter().take(200) {
        let again = tell(told.tale.clone());
        // Only the folder is another one.
        let text = |told: &Told| {
            let dir = told.final_plan.parent().unwrap();
            serde_json::to_string(&told.report)
                .unwrap()
                .replace(&dir.display().to_string(), "DIR")
        };
        assert_eq!(text(told), text(&again));
    }
}

#[test]
fn every_action_verdict_and_step_state_occurs_often_enough() {
    let all = told();
    let share = |what: &str, occurs: &dyn Fn(&Told) -> bool| {
        let count = all.iter().filter(|told| occurs(told)).count();
        // One in a hundred of all, and of a slice as many as chance leaves of it.
        let one_in = if all_cases() { 100 } else { 200 };
        assert!(
            count * one_in >= all.len(),
            "{what}: {count} of {}",
            all.len()
        );
    };
    for kind in [
        ActionKind::RepairMcpPlan,
        ActionKind::Retry,
        ActionKind::Confirm,
        ActionKind::FixTests,
        ActionKind::RefineCode,
        ActionKind::Stop,
    ] {
        share(&format!("{kind:?}"), &|told| {
            iterations(told).any(|(report, _)| report.action.kind == kind)
        });
    }
    for verdict in [
        Verdict::Passed,
        Verdict::PassedAfterRetry,
        Verdict::PassedAfterRepair,
        Verdict::CodeFailure,
        Verdict::NeedsUserHelp,
        Verdict::Interrupted,
    ] {
        share(&format!("{verdict:?}"), &|told| {
            told.report.verdict == verdict
        });
    }
    for state in [
        StepState::Passed,
        StepState::Failed,
        StepState::Blocked,
        StepState::Quarantined,
        StepState::Skipped,
    ] {
        share(&format!("{state:?}"), &|told| {
            iterations(told).any(|(report, _)| report.steps.iter().any(|s| s.state == state))
        });
    }
    for code in [0, 1, 3, 4, 130] {
        share(&format!("exit {code}"), &|told| {
            told.report.exit_code == code
        });
    }
    let some = |told: &Told, holds: &dyn Fn(&FailureReport) -> bool| {
        iterations(told).any(|(report, _)| report.failures.iter().any(holds))
    };
    for excuse in [
        "unconfirmed",
        "not_repeatable",
        "repair_ineffective",
        "after_restart",
        "duration",
        "environment",
    ] {
        share(excuse, &|told| {
            some(told, &|f| f.diagnosis.excused.as_deref() == Some(excuse))
        });
    }
    for standing in [Standing::NeverPassed, Standing::PassedBefore] {
        share(&format!("{standing:?}"), &|told| {
            some(told, &|f| f.diagnosis.standing == Some(standing))
        });
    }
    share("flaky", &|told| some(told, &|f| f.diagnosis.flaky));
    share("flaky beside code", &|told| {
        iterations(told).any(|(report, _)| {
            let mut steps = report.failures_by_step();
            steps.any(|step| is_code(step) && step.iter().any(|f| f.diagnosis.flaky))
        })
    });
}
