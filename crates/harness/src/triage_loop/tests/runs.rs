//! Whole runs: what the driver does with what was decided.

use super::stage::{Script, ScriptedHooks, Stage, both_hooks, by_message};
use super::support::{server, step};
use crate::triage_loop::{Hook, Outcome};
use jelly_base::model::{
    ActionKind, Assertion, AssertionTarget, Event, ExitCode, Failure, HttpFacts, IterationRecord,
    Phase, PlanIssue, ServerState, Signal, StepReport, StepState, Verdict,
};
use jelly_plan::Plan;
use std::cell::Cell;
use std::time::Duration;

pub(super) const PLAN: &str = r#"version: 1
name: smoke
servers:
  files:
    command: srv
    args: ["/srv/nope/data"]
steps:
  - id: write
    server: files
    tool: write_file
    args: { path: "/srv/nope/data/a.txt", content: hello }   # a comment
  - id: read
    server: files
    tool: read_file
    args: { path: "/srv/nope/data/a.txt" }
    expect:
      text: { contains: hello }
"#;

pub(super) fn failure(step: &str, phase: Phase, message: &str) -> Failure {
    Failure {
        phase: Some(phase),
        server: Some("files".into()),
        step: (!step.is_empty()).then(|| step.to_owned()),
        message: Some(message.into()),
        ..Failure::default()
    }
}

pub(super) fn wrong(step: &str, value: &str) -> Failure {
    Failure {
        assertion: Some(Assertion {
            kind: "contains".into(),
            target: Some(AssertionTarget::Text),
            expected: "hello".into(),
            actual: value.into(),
            ..Assertion::default()
        }),
        ..failure(
            step,
            Phase::Assert,
            &format!("code assertion_mismatch {value}"),
        )
    }
}

/// Every step of the plan passed, but for those that failures name; a failure
/// of the server blocks all.
pub(super) fn record(plan: &Plan, failures: Vec<Failure>) -> IterationRecord {
    let dead = failures.iter().any(|f| f.step.is_none());
    let steps: Vec<StepReport> = plan
        .all_steps()
        .map(|s| {
            let failed = failures.iter().any(|f| f.step.as_ref() == Some(&s.id));
            let state = if dead {
                StepState::Blocked
            } else if failed {
                StepState::Failed
            } else {
                StepState::Passed
            };
            step(&s.id, state)
        })
        .collect();
    let state = if dead {
        ServerState::Failed
    } else {
        ServerState::Ready
    };
    IterationRecord {
        servers: vec![server("files", state)],
        steps,
        failures,
        ..IterationRecord::default()
    }
}

fn no_hooks() -> ScriptedHooks<'static> {
    ScriptedHooks::new(|_, _| panic!("no hook is configured"))
}

pub(super) fn actions(outcome: &Outcome) -> Vec<ActionKind> {
    let iterations = &outcome.report.iterations;
    iterations.iter().map(|i| i.action.kind).collect()
}

/// A folder, and a run in it whose iterations are told by their failures.
pub(super) fn play(
    stage: &mut Stage,
    hooks: &mut ScriptedHooks<'_>,
    mut failures: impl FnMut(u32) -> Vec<Failure>,
) -> Outcome {
    let mut script = Script::new(|plan, context| record(plan, failures(context.index)));
    stage.run(&mut script, hooks, &by_message)
}

pub(super) fn missing_directory() -> Failure {
    Failure {
        stderr: Some("Error accessing directory /srv/nope/data: ENOENT".into()),
        ..failure("", Phase::Handshake, "test missing_directory")
    }
}

#[test]
fn the_founding_case_is_green_after_its_repair_and_the_plan_untouched() {
    let dir = tempfile::tempdir().unwrap();
    let mut stage = Stage::new(dir.path(), PLAN);
    let mut script = Script::new(|plan, _| {
        let fixed = plan
            .source
            .text
            .contains("- \"${workspace}/.mcp/filesystem\"")
            || plan
                .source
                .text
                .contains("[\"${workspace}/.mcp/filesystem\"]");
        record(
            plan,
            if fixed {
                vec![]
            } else {
                vec![missing_directory()]
            },
        )
    });
    let outcome = stage.run(&mut script, &mut no_hooks(), &by_message);
    assert_eq!(
        actions(&outcome),
        [ActionKind::RepairMcpPlan, ActionKind::Stop]
    );
    assert_eq!(outcome.report.verdict, Verdict::PassedAfterRepair);
    assert_eq!(outcome.ending.exit_code, ExitCode::Passed);
    assert!(!outcome.report.needs_user_help);
    assert_eq!(outcome.report.help_summary, None);
    let repair = &outcome.report.iterations[0].action.repairs[0];
    assert_eq!(repair.id, "filesystem_workspace");
    assert_eq!(repair.target, "servers.files");
    assert!(
        repair
            .diff
            .contains("+    args: [\"${workspace}/.mcp/filesystem\"]")
    );
    assert_eq!(
        outcome.report.repair_diff.as_deref(),
        Some(repair.diff.as_str())
    );
    // The steps moved along, the comment stayed, and so did the user's file.
    let repaired = &outcome.final_plan.source.text;
    assert_eq!(
        repaired
            .matches("${workspace}/.mcp/filesystem/a.txt")
            .count(),
        2
    );
    assert!(repaired.contains("# a comment") && !repaired.contains("/srv/nope"));
    assert_eq!(std::fs::read_to_string(stage.plan_path()).unwrap(), PLAN);
    assert!(stage.dir.join(".mcp/filesystem").is_dir());
    assert_eq!(stage.repaired.last().unwrap().as_deref(), Some(&**repaired));
    assert_eq!(
        outcome.report.iterations[0].failures[0]
            .diagnosis
            .repair
            .as_deref(),
        Some("filesystem_workspace")
    );
}

#[test]
fn a_missing_folder_of_the_project_is_created_first() {
    let dir = tempfile::tempdir().unwrap();
    let plan = PLAN.replace("/srv/nope/data", "${workspace}/data");
    let mut stage = Stage::new(dir.path(), &plan);
    let data = stage.dir.join("data");
    let said = format!("Error accessing directory {}: ENOENT", data.display());
    let mut script = Script::new(|plan, _| {
        let missing = Failure {
            stderr: Some(said.clone()),
            ..missing_directory()
        };
        record(plan, if data.is_dir() { vec![] } else { vec![missing] })
    });
    let outcome = stage.run(&mut script, &mut no_hooks(), &by_message);
    assert_eq!(outcome.report.verdict, Verdict::PassedAfterRepair);
    let repair = &outcome.report.iterations[0].action.repairs[0];
    assert_eq!(
        (repair.id.as_str(), repair.diff.as_str()),
        ("create_directory", "")
    );
    assert_eq!(outcome.report.repair_diff, None);
}

#[test]
fn a_repair_that_does_not_help_is_marked_and_the_next_one_tried() {
    let dir = tempfile::tempdir().unwrap();
    let plan = PLAN.replace("/srv/nope/data", "${workspace}/data");
    let mut stage = Stage::new(dir.path(), &plan);
    stage.settings.hooks = both_hooks();
    let data = stage.dir.join("data");
    let said = format!("Error accessing directory {}: EACCES", data.display());
    let mut hooks = ScriptedHooks::new(|hook, _| {
        assert_eq!(hook, Hook::FixTests);
        false
    });
    let outcome = play(&mut stage, &mut hooks, |_| {
        vec![Failure {
            stderr: Some(said.clone()),
            ..missing_directory()
        }]
    });
    assert_eq!(
        actions(&outcome),
        [ActionKind::RepairMcpPlan, ActionKind::FixTests]
    );
    let first = &outcome.report.iterations[0].action.repairs[0];
    assert!(first.ineffective);
    assert_eq!(outcome.ending.exit_code, ExitCode::NeedsUserHelp);
    let help = outcome.report.help_summary.unwrap();
    assert_eq!(help.problems.len(), 1);
    assert!(
        help.problems[0]
            .tried
            .iter()
            .any(|t| t.contains("did not help"))
    );
    assert!(
        help.problems[0]
            .what
            .contains("2 steps could not run because of it")
    );
}

#[test]
fn with_repairs_off_a_start_up_failure_fails_closed_and_no_code_is_refined() {
    let dir = tempfile::tempdir().unwrap();
    let mut stage = Stage::new(dir.path(), PLAN);
    stage.settings.repair = false;
    stage.settings.hooks = both_hooks();
    stage.settings.budgets.max_iterations = 50;
    stage.settings.budgets.test_fixes = 50;
    let mut hooks = ScriptedHooks::new(|_, _| true);
    let outcome = play(&mut stage, &mut hooks, |_| vec![missing_directory()]);
    assert_eq!(outcome.report.iterations.len(), 50);
    assert!(hooks.calls.iter().all(|(hook, _)| *hook == Hook::FixTests));
    assert_eq!(outcome.ending.exit_code, ExitCode::NeedsUserHelp);
    assert!(outcome.report.needs_user_help);
    assert!(outcome.report.help_summary.is_some());
}

#[test]
fn a_wrong_value_twice_is_code_with_both_readings_and_no_refining() {
    let dir = tempfile::tempdir().unwrap();
    let mut stage = Stage::new(dir.path(), PLAN);
    stage.settings.hooks = both_hooks();
    let mut hooks = ScriptedHooks::new(|_, _| panic!("nothing may be changed"));
    let outcome = play(&mut stage, &mut hooks, |_| vec![wrong("read", "bye")]);
    assert_eq!(actions(&outcome), [ActionKind::Confirm, ActionKind::Stop]);
    assert_eq!(outcome.report.verdict, Verdict::CodeFailure);
    assert_eq!(outcome.report.exit_code, 1);
    assert!(!outcome.report.needs_user_help);
    let help = outcome.report.help_summary.unwrap();
    let problem = &help.problems[0];
    assert!(
        problem
            .what
            .contains("either the server is wrong, or the plan expects the wrong value")
    );
    assert!(
        problem
            .evidence
            .contains(r#"expected contains "hello", got "bye""#)
    );
    assert!(problem.evidence.contains("plan.yaml:"));
    assert!(problem.tried[0].contains("fresh servers"));
    // Another step stands before it, which must not be left out.
    let runs = problem
        .next
        .iter()
        .filter(|n| n.starts_with("$ jelly run "));
    assert!(runs.clone().any(|n| n.ends_with("plan.yaml")));
    assert!(!runs.clone().any(|n| n.contains("--only")));
    assert!(problem.next.iter().any(|n| n.ends_with("--trust-plan")));
}

#[test]
fn wrong_then_right_passes_after_retry_and_not_under_strict() {
    for (strict, exit) in [(false, 0), (true, 4)] {
        let dir = tempfile::tempdir().unwrap();
        let mut stage = Stage::new(dir.path(), PLAN);
        stage.settings.strict = strict;
        let outcome = play(&mut stage, &mut no_hooks(), |index| {
            if index == 1 {
                vec![wrong("read", "bye")]
            } else {
                vec![]
            }
        });
        assert_eq!(outcome.report.verdict, Verdict::PassedAfterRetry);
        assert_eq!(outcome.report.exit_code, exit);
        let [first, second] = outcome.report.iterations.as_slice() else {
            panic!("two iterations");
        };
        assert!(first.failures[0].diagnosis.flaky);
        assert!(second.steps.iter().any(|s| s.id == "read" && s.flaky));
        assert!(second.steps.iter().any(|s| s.id == "write" && !s.flaky));
        assert!(second.steps.iter().all(|s| s.attempts == 2));
    }
}

#[test]
fn wrong_differently_is_flaky_and_needs_help() {
    let dir = tempfile::tempdir().unwrap();
    let mut stage = Stage::new(dir.path(), PLAN);
    let outcome = play(&mut stage, &mut no_hooks(), |index| {
        vec![wrong(
            "read",
            &format!("bye {}", ["a", "b"][index as usize % 2]),
        )]
    });
    assert_eq!(outcome.report.exit_code, 3);
    assert!(outcome.report.iterations[1].failures[0].diagnosis.flaky);
}

#[test]
fn a_guessed_rename_is_not_green_without_consent() {
    for (accept, exit) in [(false, 4), (true, 0)] {
        let dir = tempfile::tempdir().unwrap();
        let mut stage = Stage::new(dir.path(), &PLAN.replace("read_file", "read_fil"));
        stage.settings.accept_repairs = accept;
        let mut script = Script::new(|plan, _| {
            let unknown = Failure {
                issue: Some(PlanIssue::UnknownTool {
                    name: "read_fil".into(),
                    candidates: vec!["read_file".into()],
                }),
                ..failure("read", Phase::Config, "test unknown_tool")
            };
            let fixed = plan.source.text.contains("tool: read_file\n");
            record(plan, if fixed { vec![] } else { vec![unknown] })
        });
        let outcome = stage.run(&mut script, &mut no_hooks(), &by_message);
        assert_eq!(outcome.report.verdict, Verdict::PassedAfterRepair);
        assert_eq!(outcome.report.exit_code, exit);
    }
}

#[test]
fn a_step_that_nobody_can_play_is_taken_out_visibly_and_the_run_is_not_green() {
    let dir = tempfile::tempdir().unwrap();
    let mut stage = Stage::new(dir.path(), PLAN);
    stage.settings.hooks.refine_code = Some(vec!["./refine".into()]);
    let mut script = Script::new(|plan, context| {
        let unknown = Failure {
            issue: Some(PlanIssue::UnknownTool {
                name: "read_file".into(),
                candidates: vec![],
            }),
            ..failure("read", Phase::Config, "test unknown_tool")
        };
        if context.quarantined.is_empty() {
            return record(plan, vec![unknown]);
        }
        let mut record = record(plan, vec![]);
        record.steps[1].state = StepState::Quarantined;
        record
    });
    let outcome = stage.run(&mut script, &mut no_hooks(), &by_message);
    assert_eq!(
        actions(&outcome),
        [ActionKind::RepairMcpPlan, ActionKind::Stop]
    );
    assert!(script.executed[1].quarantined.contains("read"));
    assert_eq!(outcome.report.exit_code, 3);
    // It stands, and keeps what it was taken out for.
    let [first, last] = &outcome.report.iterations[..] else {
        panic!("two iterations");
    };
    assert_eq!(last.failures, first.failures);
    assert_eq!(last.steps[1].error_category, first.steps[1].error_category);
    assert_eq!(
        outcome.report.help_summary.as_ref().unwrap().problems.len(),
        1
    );
    let problem = &outcome.report.help_summary.unwrap().problems[0];
    assert_eq!(problem.step.as_deref(), Some("read"));
    assert!(problem.tried[0].contains("quarantine_step"));
}

#[test]
fn another_port_is_asked_for_once() {
    let dir = tempfile::tempdir().unwrap();
    let plan = PLAN.replace("\"/srv/nope/data\"", "\"--port=${port}\"");
    let mut stage = Stage::new(dir.path(), &plan);
    let mut script = Script::new(|plan, context| match context.index {
        1 => record(
            plan,
            vec![failure("", Phase::Handshake, "test port_in_use")],
        ),
        2 => record(plan, vec![failure("read", Phase::Call, "retry x")]),
        _ => record(plan, vec![]),
    });
    let outcome = stage.run(&mut script, &mut no_hooks(), &by_message);
    assert_eq!(outcome.report.exit_code, 0);
    let asked: Vec<usize> = script
        .executed
        .iter()
        .map(|e| e.new_ports_for.len())
        .collect();
    assert_eq!(asked, [0, 1, 0]);
}

#[test]
fn a_signal_while_waiting_ends_the_run_with_its_reports() {
    for (signal, code) in [(Signal::Int, 130), (Signal::Term, 143)] {
        let dir = tempfile::tempdir().unwrap();
        let mut stage = Stage::new(dir.path(), PLAN);
        let mut script = Script::new(|plan, _| {
            record(
                plan,
                vec![failure("read", Phase::Call, "retry connection_refused")],
            )
        });
        script.signal = Some(signal);
        let outcome = stage.run(&mut script, &mut no_hooks(), &by_message);
        assert_eq!(outcome.report.iterations.len(), 1);
        assert_eq!(outcome.report.verdict, Verdict::Interrupted);
        assert_eq!(outcome.report.exit_code, code);
        assert_eq!(stage.reports.last().unwrap().exit_code, code);
        assert!(stage.events.borrow().contains(&Event::Interrupted));
    }
}

/// Thousands of failures take longer to look at than a signal leaves time.
#[test]
fn a_signal_between_the_last_answer_and_the_report_is_heard() {
    const FAILURES: usize = 300;
    for at in [1, 250, FAILURES] {
        let dir = tempfile::tempdir().unwrap();
        let mut stage = Stage::new(dir.path(), PLAN);
        let mut script = Script::new(|plan, _| {
            let one = |_| failure("read", Phase::Call, "retry connection_refused");
            record(plan, (0..FAILURES).map(one).collect())
        });
        let (heard, seen) = (script.at_work.clone(), Cell::new(0));
        let outcome = stage.run(&mut script, &mut no_hooks(), &|failure| {
            seen.set(seen.get() + 1);
            if seen.get() == at {
                heard.set(Some(Signal::Term));
            }
            by_message(failure)
        });
        assert_eq!(outcome.report.verdict, Verdict::Interrupted);
        assert_eq!(outcome.report.exit_code, 143);
        let [iteration] = outcome.report.iterations.as_slice() else {
            panic!("one iteration");
        };
        assert_eq!(iteration.failures.len(), 200, "{at}");
        assert_eq!(seen.get(), at.max(200));
        let told = "a signal left no time for 100 failures";
        let warnings = outcome.report.warnings.join(" ");
        assert!(warnings.contains(told), "{warnings}");
        assert_eq!(stage.reports.last().unwrap().exit_code, 143);
    }
}

#[test]
fn a_signal_in_an_iteration_ends_the_run() {
    let dir = tempfile::tempdir().unwrap();
    let mut stage = Stage::new(dir.path(), PLAN);
    let mut script = Script::new(|plan, _| IterationRecord {
        interrupted: Some(Signal::Int),
        ..record(plan, vec![failure("read", Phase::Call, "retry x")])
    });
    let outcome = stage.run(&mut script, &mut no_hooks(), &by_message);
    assert_eq!(outcome.report.iterations.len(), 1);
    assert_eq!(outcome.report.exit_code, 130);
}

#[test]
fn a_wait_past_the_deadline_is_not_begun_and_the_run_fails_closed() {
    let dir = tempfile::tempdir().unwrap();
    let mut stage = Stage::new(dir.path(), PLAN);
    stage.settings.budgets.deadline = Duration::from_millis(1);
    let outcome = play(&mut stage, &mut no_hooks(), |_| {
        vec![failure("read", Phase::Call, "retry connection_refused")]
    });
    assert_eq!(outcome.report.iterations.len(), 1);
    assert_eq!(outcome.report.exit_code, 3);
    let reason = &outcome.report.iterations[0].action.reason;
    assert!(
        reason.ends_with("then the deadline would have come first"),
        "{reason}"
    );
}

#[test]
fn a_pause_beyond_all_clocks_is_not_begun() {
    let dir = tempfile::tempdir().unwrap();
    let mut stage = Stage::new(dir.path(), PLAN);
    let outcome = play(&mut stage, &mut no_hooks(), |_| {
        let mut failed = failure("read", Phase::Call, "retry connection_refused");
        let seconds = u64::MAX.to_string();
        failed.http = Some(HttpFacts {
            headers: [("retry-after".to_owned(), seconds.into())].into(),
            ..HttpFacts::default()
        });
        vec![failed]
    });
    assert_eq!(outcome.report.iterations.len(), 1);
    assert_eq!(outcome.report.exit_code, 3);
}

#[test]
fn every_iteration_is_reported_before_the_next_one_and_never_as_green() {
    let dir = tempfile::tempdir().unwrap();
    let mut stage = Stage::new(dir.path(), PLAN);
    let outcome = play(&mut stage, &mut no_hooks(), |index| {
        if index < 3 {
            vec![failure("read", Phase::Call, "retry connection_refused")]
        } else {
            vec![]
        }
    });
    let sizes: Vec<usize> = stage.reports.iter().map(|r| r.iterations.len()).collect();
    assert_eq!(sizes, [1, 2, 3]);
    assert!(!outcome.report.in_progress);
    for report in &stage.reports[..2] {
        assert!(report.in_progress);
        assert_eq!(report.verdict, Verdict::NeedsUserHelp);
        assert_eq!(report.exit_code, 3);
        let title = &report.help_summary.as_ref().unwrap().title;
        assert!(title.starts_with("not finished"), "{title}");
    }
    assert_eq!(stage.reports[2], outcome.report);
    assert_eq!(outcome.report.exit_code, 0);
}

#[test]
fn a_report_that_can_not_be_written_makes_no_green_run() {
    let dir = tempfile::tempdir().unwrap();
    let mut stage = Stage::new(dir.path(), PLAN);
    stage.disk_full = true;
    let outcome = play(&mut stage, &mut no_hooks(), |_| vec![]);
    assert_eq!(outcome.report.exit_code, 3);
    assert_eq!(outcome.ending.exit_code, ExitCode::NeedsUserHelp);
    assert!(outcome.report.warnings[0].contains("no space left on device"));
    assert!(
        outcome.report.help_summary.unwrap().problems[0]
            .what
            .contains("could not be written")
    );
}

#[test]
fn a_green_iteration_that_shows_no_steps_is_not_green() {
    let dir = tempfile::tempdir().unwrap();
    let mut stage = Stage::new(dir.path(), PLAN);
    let mut script = Script::new(|_, _| IterationRecord::default());
    let outcome = stage.run(&mut script, &mut no_hooks(), &by_message);
    assert_eq!(outcome.report.exit_code, 3);
    assert!(!outcome.report.help_summary.unwrap().problems.is_empty());
}

#[test]
fn the_same_run_twice_reports_the_same() {
    let dir = tempfile::tempdir().unwrap();
    let reports: Vec<_> = (0..2)
        .map(|_| {
            let mut stage = Stage::new(dir.path(), PLAN);
            let outcome = play(&mut stage, &mut no_hooks(), |index| {
                if index == 1 {
                    vec![
                        failure("write", Phase::Call, "retry x"),
                        wrong("read", "bye"),
                    ]
                } else {
                    vec![wrong("read", "bye")]
                }
            });
            serde_json::to_string(&outcome.report).unwrap()
        })
        .collect();
    assert_eq!(reports[0], reports[1]);
}

#[test]
fn secrets_reach_no_hook_and_no_help() {
    use jelly_base::text::redact::Redactor;
    let dir = tempfile::tempdir().unwrap();
    let mut stage = Stage::new(dir.path(), PLAN);
    stage.settings.redactor = Redactor::new([("TOKEN", "s3cr3t-value")]);
    stage.settings.hooks.fix_tests = Some(vec!["./fix".into()]);
    let mut hooks = ScriptedHooks::new(|_, _| false);
    let outcome = play(&mut stage, &mut hooks, |_| {
        vec![failure(
            "read",
            Phase::Call,
            "test missing_file s3cr3t-value",
        )]
    });
    assert!(!hooks.calls[0].1.to_string().contains("s3cr3t-value"));
    let help = serde_json::to_string(&outcome.report.help_summary).unwrap();
    assert!(!help.contains("s3cr3t-value"), "{help}");
}
