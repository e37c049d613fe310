//! What `fix_tests` may not take away, by the driver: the plan, its snapshots
//! and all that it reads.

use super::runs::{PLAN, actions, failure, record};
use super::stage::{Script, ScriptedHooks, Stage, by_message};
use crate::triage_loop::{Outcome, PlanReads};
use jelly_base::model::{ActionKind, Phase, PlanChangeKind, Verdict};

/// A run whose first iteration fails test-side, and whose hook does this to
/// the text of the plan.
fn after(dir: &std::path::Path, text: &str, went_well: bool, accept: bool) -> (Outcome, Stage) {
    let mut stage = Stage::new(dir, PLAN);
    stage.settings.hooks.fix_tests = Some(vec!["./fix".into()]);
    stage.settings.accept_repairs = accept;
    let path = stage.plan_path();
    let mut hooks = ScriptedHooks::new(|_, _| {
        std::fs::write(&path, text).unwrap();
        went_well
    });
    let mut script = Script::new(|plan, context| {
        let failures = match context.index {
            1 => vec![failure("write", Phase::Call, "test missing_file")],
            _ => vec![],
        };
        record(plan, failures)
    });
    let outcome = stage.run(&mut script, &mut hooks, &by_message);
    (outcome, stage)
}

/// Every text that is the plan without one of its lines, or with one of its
/// values made empty.
fn weaker() -> Vec<String> {
    let lines: Vec<&str> = PLAN.lines().collect();
    let mut all: Vec<String> = Vec::new();
    for at in 0..lines.len() {
        for to in at + 1..=lines.len() {
            let mut left = lines.clone();
            left.drain(at..to);
            all.push(left.join("\n") + "\n");
        }
    }
    for (from, to) in [
        ("contains: hello }", "matches: \".*\" }"),
        ("text: { contains: hello }", "is_error: true"),
        ("command: srv", "command: true"),
        ("id: read", "id: reads"),
        ("steps:\n  - id: write", "setup:\n  - id: write"),
    ] {
        all.push(PLAN.replace(from, to));
    }
    all
}

#[test]
fn no_plan_that_lost_a_step_or_an_expectation_ends_green() {
    let mut green = Vec::new();
    for text in weaker() {
        let dir = tempfile::tempdir().unwrap();
        let (outcome, _) = after(dir.path(), &text, true, true);
        if outcome.report.exit_code == 0 {
            green.push(text);
        }
    }
    for text in green {
        // All that was asked is asked still.
        for part in ["id: write", "id: read\n", "command: srv", "contains: hello"] {
            assert!(text.contains(part), "{text}");
        }
    }
}

#[test]
fn a_plan_that_lost_something_is_kept_in_all_its_forms() {
    let dir = tempfile::tempdir().unwrap();
    let text = PLAN.split("  - id: read").next().unwrap();
    let (outcome, stage) = after(dir.path(), text, true, true);
    assert_eq!(outcome.report.verdict, Verdict::NeedsUserHelp);
    assert_eq!(actions(&outcome), [ActionKind::FixTests]);
    let hook = outcome.report.iterations[0].action.hook.as_ref().unwrap();
    assert_eq!(hook.changes[0].kind, PlanChangeKind::Gone);
    assert_eq!(hook.changes[0].step.as_deref(), Some("read"));
    assert!(hook.diff.as_ref().unwrap().contains("-  - id: read"));
    let names: Vec<&str> = stage.kept.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(
        names,
        [
            "plan-after-fix_tests-1.yaml",
            "plan-before-fix_tests-1.yaml"
        ]
    );
    assert_eq!(stage.kept[1].1, PLAN);
    let help = outcome.report.help_summary.unwrap();
    assert!(
        help.problems[0]
            .evidence
            .contains("the step `read` is gone")
    );
}

#[test]
fn a_changed_contract_is_exit_4_and_an_accepted_one_0() {
    for (accept, code) in [(false, 4), (true, 0)] {
        for (from, to) in [
            ("contains: hello", "contains: hullo"),
            ("content: hello", "content: hello world"),
            ("tool: read_file", "tool: read_text_file"),
            ("command: srv", "command: srv\n    request_timeout: 90s"),
        ] {
            let dir = tempfile::tempdir().unwrap();
            let text = PLAN.replace(from, to);
            let (outcome, _) = after(dir.path(), &text, true, accept);
            assert_eq!(outcome.report.exit_code, code, "{to}");
            assert_eq!(outcome.report.verdict, Verdict::PassedAfterRepair);
        }
    }
}

#[test]
fn a_code_failure_that_stands_is_not_hidden_by_the_fence() {
    let dir = tempfile::tempdir().unwrap();
    let mut stage = Stage::new(dir.path(), PLAN);
    stage.settings.hooks.fix_tests = Some(vec!["./fix".into()]);
    let path = stage.plan_path();
    let mut hooks = ScriptedHooks::new(|_, _| {
        let text = PLAN.split("  - id: read").next().unwrap();
        std::fs::write(&path, text).unwrap();
        true
    });
    let mut script = Script::new(|plan, _| {
        let crash = failure("read", Phase::Call, "code crashed_during_call");
        record(
            plan,
            vec![failure("write", Phase::Call, "test missing_file"), crash],
        )
    });
    let outcome = stage.run(&mut script, &mut hooks, &by_message);
    assert_eq!(outcome.report.exit_code, 1);
    assert!(outcome.report.needs_user_help);
    let help = outcome.report.help_summary.unwrap();
    assert!(help.problems[0].what.contains("reduced what is tested"));
}

#[test]
fn a_hook_that_fails_and_changed_the_plan_is_told_of_and_not_followed() {
    let dir = tempfile::tempdir().unwrap();
    let text = PLAN.split("  - id: read").next().unwrap();
    let (outcome, stage) = after(dir.path(), text, false, false);
    assert_eq!(outcome.report.exit_code, 3, "the failure stands");
    let warnings = outcome.report.warnings.join(" ");
    assert!(
        warnings.contains("left another plan in the file"),
        "{warnings}"
    );
    assert_eq!(&*outcome.final_plan.source.text, PLAN);
    assert_eq!(stage.kept.len(), 2);
    let hook = outcome.report.iterations[0].action.hook.as_ref().unwrap();
    assert!(hook.changes[0].kind.weakens());
}

#[test]
fn a_repair_in_memory_that_the_hook_writes_down_is_still_to_be_accepted() {
    // What jelly has renamed stays another contract, whoever writes it.
    let dir = tempfile::tempdir().unwrap();
    let mut stage = Stage::new(dir.path(), PLAN);
    stage.settings.hooks.fix_tests = Some(vec!["./fix".into()]);
    let path = stage.plan_path();
    let mut calls = 0;
    let mut hooks = ScriptedHooks::new(|_, _| {
        calls += 1;
        // The first call renames, the second changes nothing more.
        let text = PLAN.replace("tool: read_file", "tool: read_text_file");
        std::fs::write(&path, text).unwrap();
        true
    });
    let mut script = Script::new(|plan, context| {
        let failures = match context.index {
            1 | 2 => vec![failure("write", Phase::Call, "test missing_file")],
            _ => vec![],
        };
        record(plan, failures)
    });
    let outcome = stage.run(&mut script, &mut hooks, &by_message);
    drop(hooks);
    assert_eq!(calls, 2);
    assert_eq!(outcome.report.exit_code, 4);
}

fn read_after(before: &PlanReads, now: &PlanReads) -> Vec<(PlanChangeKind, String)> {
    let source = jelly_plan::PlanSource {
        path: "plan.yaml".into(),
        text: PLAN.into(),
        variant: None,
    };
    let plan = jelly_plan::load_with(source, &indexmap::IndexMap::new()).unwrap();
    let changes = before.changes(now, &plan);
    changes
        .into_iter()
        .map(|change| (change.kind, change.what))
        .collect()
}

#[test]
fn what_the_plan_reads_besides_is_compared_too() {
    use PlanChangeKind::{Contract, FewerConditions, Gone, HoldsOfAnything, Operand};
    let reads = |change: &dyn Fn(&mut PlanReads)| {
        let mut reads = PlanReads {
            snapshots: [
                ("said".to_owned(), Some("1".to_owned())),
                ("new".to_owned(), None),
            ]
            .into(),
            schemas: [("s/t".to_owned(), serde_json::json!({"type": "object"}))].into(),
            settings: [
                ("run.wire_check".to_owned(), "true".to_owned()),
                ("run.strict".to_owned(), "true".to_owned()),
            ]
            .into(),
            selected: ["read".to_owned(), "write".to_owned()].into(),
            ..PlanReads::default()
        };
        change(&mut reads);
        reads
    };
    let before = reads(&|_| {});
    assert_eq!(read_after(&before, &before), []);
    type Change<'c> = &'c dyn Fn(&mut PlanReads);
    let cases: [(Change<'_>, Option<PlanChangeKind>); 14] = [
        (
            &|r| drop(r.snapshots.insert("said".into(), None)),
            Some(Gone),
        ),
        (
            &|r| drop(r.snapshots.insert("said".into(), Some("2".into()))),
            Some(Operand),
        ),
        (
            &|r| drop(r.snapshots.insert("new".into(), Some("2".into()))),
            Some(Operand),
        ),
        // The plan names it no more, which the plan's own change says.
        (&|r| drop(r.snapshots.remove("said")), None),
        (&|r| r.schemas.clear(), Some(Gone)),
        (
            &|r| drop(r.schemas.insert("s/t".into(), true.into())),
            Some(HoldsOfAnything),
        ),
        (
            &|r| drop(r.schemas.insert("s/t".into(), false.into())),
            Some(Operand),
        ),
        (
            &|r| drop(r.schemas.insert("s/u".into(), false.into())),
            Some(Contract),
        ),
        (
            &|r| drop(r.schemas.insert("s/u".into(), true.into())),
            Some(HoldsOfAnything),
        ),
        (&|r| drop(r.settings.remove("run.wire_check")), Some(Gone)),
        (
            &|r| drop(r.settings.insert("run.wire_check".into(), "false".into())),
            Some(Gone),
        ),
        (&|r| drop(r.settings.remove("run.strict")), Some(Contract)),
        (
            &|r| r.selected.retain(|id| id != "read"),
            Some(FewerConditions),
        ),
        (
            &|r| drop(r.unusable.insert("jelly.yaml".into(), "broken".into())),
            Some(Gone),
        ),
    ];
    for (at, (change, kind)) in cases.into_iter().enumerate() {
        let told = read_after(&before, &reads(change));
        let kinds: Vec<PlanChangeKind> = told.iter().map(|(kind, _)| *kind).collect();
        assert_eq!(
            kinds,
            kind.into_iter().collect::<Vec<_>>(),
            "{at}: {told:?}"
        );
    }
    // More is checked, or is let through: no loss.
    let unchecked = reads(&|r| drop(r.settings.remove("run.wire_check")));
    assert_eq!(read_after(&unchecked, &before), []);
}
