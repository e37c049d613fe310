//! Whole runs whose hooks are called: what they may change, and what comes of
//! it.

use super::runs::{PLAN, actions, failure, missing_directory, play, record};
use super::stage::{Script, ScriptedHooks, Stage, by_message};
use jelly_base::model::{ActionKind, Failure, Phase, PlanIssue, StepState, Verdict};
use std::collections::BTreeMap;

#[test]
fn after_fix_tests_the_file_is_the_truth() {
    let dir = tempfile::tempdir().unwrap();
    let mut stage = Stage::new(dir.path(), PLAN);
    stage.settings.hooks.fix_tests = Some(vec!["./fix".into()]);
    let path = stage.plan_path();
    let new = PLAN.replace("content: hello", "content: hello again");
    let mut hooks = ScriptedHooks::new(|_, _| {
        std::fs::write(&path, &new).unwrap();
        true
    });
    let mut script = Script::new(|plan, context| match context.index {
        1 => record(plan, vec![missing_directory()]),
        2 => record(
            plan,
            vec![failure("write", Phase::Call, "test missing_file")],
        ),
        _ => record(plan, vec![]),
    });
    let outcome = stage.run(&mut script, &mut hooks, &by_message);
    assert_eq!(
        actions(&outcome),
        [
            ActionKind::RepairMcpPlan,
            ActionKind::FixTests,
            ActionKind::Stop
        ]
    );
    assert_eq!(&*outcome.final_plan.source.text, new);
    assert_eq!(&*script.executed[2].plan.source.text, new);
    assert_eq!(outcome.report.repair_diff, None);
    assert_eq!(outcome.report.verdict, Verdict::PassedAfterRepair);
    assert!(outcome.report.warnings[0].contains("repairs made in memory were dropped"));
    let bundle = &hooks.calls[0].1;
    assert_eq!(bundle["hook"], "fix_tests");
    assert_eq!(bundle["failures"][0]["step"], "write");
    assert_eq!(
        bundle["failures"][0]["diagnosis"]["root_cause"],
        "missing_file"
    );
    assert_eq!(bundle["budgets"]["after"]["test_fixes"], 1);
    assert_eq!(bundle["iteration"]["index"], 2);
    assert!(bundle["plan"].as_str().unwrap().ends_with("plan.yaml"));
}

#[test]
fn a_plan_that_fix_tests_broke_stops_the_run() {
    let dir = tempfile::tempdir().unwrap();
    let mut stage = Stage::new(dir.path(), PLAN);
    stage.settings.hooks.fix_tests = Some(vec!["./fix".into()]);
    let path = stage.plan_path();
    let mut hooks = ScriptedHooks::new(|_, _| {
        std::fs::write(&path, "version: 1\nstepz: []\n").unwrap();
        true
    });
    let outcome = play(&mut stage, &mut hooks, |_| {
        vec![failure("write", Phase::Call, "test missing_file")]
    });
    assert_eq!(outcome.report.iterations.len(), 1);
    assert_eq!(outcome.report.exit_code, 3);
    assert!(outcome.report.warnings[0].contains("after fix_tests the plan can't be used"));
}

#[test]
fn refine_code_is_run_for_proven_code_and_its_rerun_can_be_green() {
    let dir = tempfile::tempdir().unwrap();
    let mut stage = Stage::new(dir.path(), PLAN);
    stage.settings.hooks.refine_code = Some(vec!["./refine".into()]);
    let mut hooks = ScriptedHooks::new(|_, _| true);
    let outcome = play(&mut stage, &mut hooks, |index| {
        if index == 1 {
            vec![failure("read", Phase::Call, "code crashed_during_call")]
        } else {
            vec![]
        }
    });
    assert_eq!(
        actions(&outcome),
        [ActionKind::RefineCode, ActionKind::Stop]
    );
    assert_eq!(outcome.report.exit_code, 0);
    assert_eq!(outcome.report.verdict, Verdict::PassedAfterRepair);
    assert!(outcome.report.iterations[0].action.hook.is_some());
    assert!(!outcome.report.iterations[1].steps[1].flaky);
}

#[test]
fn a_refine_code_that_fails_ends_its_track_and_the_run() {
    let dir = tempfile::tempdir().unwrap();
    let mut stage = Stage::new(dir.path(), PLAN);
    stage.settings.hooks.refine_code = Some(vec!["./refine".into()]);
    let mut hooks = ScriptedHooks::new(|_, _| false);
    let outcome = play(&mut stage, &mut hooks, |_| {
        vec![failure("read", Phase::Call, "code crashed_during_call")]
    });
    assert_eq!(hooks.calls.len(), 1);
    assert_eq!(actions(&outcome), [ActionKind::RefineCode]);
    assert_eq!(outcome.report.exit_code, 1);
    let reason = &outcome.report.iterations[0].action.reason;
    assert!(
        reason.ends_with("the hook ended with exit code 1"),
        "{reason}"
    );
}

#[test]
fn a_refine_code_that_touches_the_plan_stops_the_run_with_exit_3() {
    let dir = tempfile::tempdir().unwrap();
    let mut stage = Stage::new(dir.path(), PLAN);
    stage.settings.hooks.refine_code = Some(vec!["./refine".into()]);
    let path = stage.plan_path();
    let mut hooks = ScriptedHooks::new(|_, _| {
        std::fs::write(&path, format!("{PLAN}# weaker\n")).unwrap();
        true
    });
    let outcome = play(&mut stage, &mut hooks, |_| {
        vec![failure("read", Phase::Call, "code crashed_during_call")]
    });
    assert_eq!(outcome.report.iterations.len(), 1);
    assert_eq!(outcome.report.exit_code, 3);
    assert!(
        outcome.report.help_summary.unwrap().problems[0]
            .what
            .contains("refine_code")
    );
}

const SNAPSHOT: &str = "version: 1
servers: { files: { command: x } }
steps: [{ id: read, tool: t, expect: { text: { snapshot: said } } }]
";

#[test]
fn a_refine_code_that_rewrites_a_snapshot_stops_the_run_with_exit_3() {
    for stored in [Some("old"), None] {
        let dir = tempfile::tempdir().unwrap();
        let mut stage = Stage::new(dir.path(), SNAPSHOT);
        stage.settings.hooks.refine_code = Some(vec!["./refine".into()]);
        let folder = stage.dir.join("snapshots");
        std::fs::create_dir(&folder).unwrap();
        stored
            .into_iter()
            .for_each(|text| std::fs::write(folder.join("said"), text).unwrap());
        let mut hooks = ScriptedHooks::new(|_, _| {
            std::fs::write(folder.join("said"), "new").unwrap();
            true
        });
        let mut script = Script::new(|plan, context| {
            let crash = failure("read", Phase::Call, "code crashed_during_call");
            record(
                plan,
                if context.index == 1 {
                    vec![crash]
                } else {
                    vec![]
                },
            )
        });
        let outcome = stage.run(&mut script, &mut hooks, &by_message);
        assert_eq!(outcome.report.iterations.len(), 1);
        assert_eq!(outcome.report.exit_code, 3, "{stored:?}");
        let warning = &outcome.report.warnings[0];
        assert!(
            warning.contains("refine_code changed the snapshot `said`"),
            "{warning}"
        );
    }
}

#[test]
fn a_secret_that_fix_tests_brings_is_known_before_anything_is_shown() {
    let dir = tempfile::tempdir().unwrap();
    let mut stage = Stage::new(dir.path(), PLAN);
    stage.settings.hooks.fix_tests = Some(vec!["./fix".into()]);
    // A variable that is passed on is part of the contract.
    stage.settings.accept_repairs = true;
    stage.settings.env = BTreeMap::from([("DBPW".to_owned(), "hunter2hunter2".to_owned())]);
    let path = stage.plan_path();
    let mut hooks = ScriptedHooks::new(|_, _| {
        let told = "command: srv\n    env: { P: \"${secret:DBPW}\" }";
        std::fs::write(&path, PLAN.replace("command: srv", told)).unwrap();
        true
    });
    let outcome = play(&mut stage, &mut hooks, |index| {
        if index == 1 {
            vec![failure("read", Phase::Call, "test missing_file")]
        } else {
            vec![]
        }
    });
    assert_eq!(outcome.report.exit_code, 0);
    let shown = stage.settings.redactor.redact("it says hunter2hunter2");
    assert_eq!(shown, "it says [secret DBPW]");
}

#[test]
fn what_fix_tests_takes_away_is_said() {
    let dir = tempfile::tempdir().unwrap();
    let mut stage = Stage::new(dir.path(), SNAPSHOT);
    stage.settings.hooks.fix_tests = Some(vec!["./fix".into()]);
    let path = stage.plan_path();
    let mut hooks = ScriptedHooks::new(|_, _| {
        let less = SNAPSHOT.replace(", expect: { text: { snapshot: said } }", "");
        std::fs::write(&path, less).unwrap();
        true
    });
    let mut script = Script::new(|plan, context| {
        let failed = failure("read", Phase::Call, "test missing_file");
        record(
            plan,
            if context.index == 1 {
                vec![failed]
            } else {
                vec![]
            },
        )
    });
    let outcome = stage.run(&mut script, &mut hooks, &by_message);
    assert_eq!(outcome.report.exit_code, 3);
    let warning = &outcome.report.warnings[0];
    assert!(
        warning.contains("the step `read` no longer expects `text` `snapshot`"),
        "{warning}"
    );
}

#[test]
fn a_failing_fix_tests_leaves_the_last_resort() {
    let dir = tempfile::tempdir().unwrap();
    let mut stage = Stage::new(dir.path(), PLAN);
    stage.settings.hooks.fix_tests = Some(vec!["./fix".into()]);
    let mut hooks = ScriptedHooks::new(|_, _| false);
    let mut script = Script::new(|plan, context| {
        let unknown = Failure {
            issue: Some(PlanIssue::UnknownTool {
                name: "read_file".into(),
                candidates: vec![],
            }),
            ..failure("read", Phase::Config, "test unknown_tool")
        };
        let out = context.quarantined.contains("read");
        let mut record = record(plan, if out { vec![] } else { vec![unknown] });
        if out {
            record.steps[1].state = StepState::Quarantined;
        }
        record
    });
    let outcome = stage.run(&mut script, &mut hooks, &by_message);
    assert_eq!(hooks.calls.len(), 1);
    let first = &outcome.report.iterations[0];
    assert_eq!(first.action.kind, ActionKind::RepairMcpPlan);
    assert_eq!(first.action.repairs[0].id, "quarantine_step");
    assert!(first.action.hook.is_some());
    assert_eq!(
        first.budgets.before.test_fixes - first.budgets.after.test_fixes,
        1
    );
    assert_eq!(
        first.budgets.before.mcp_repairs - first.budgets.after.mcp_repairs,
        1
    );
    assert_eq!(outcome.report.exit_code, 3);
}
