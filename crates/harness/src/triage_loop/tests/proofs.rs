//! What was held against the code stands until its step has passed on the code
//! as it was refined.

use super::runs::{PLAN, failure, play, record, wrong};
use super::stage::{Script, ScriptedHooks, Stage, both_hooks, by_message};
use super::support::{World, broken, crash, dead_server, hiccup, mismatch, policy, step};
use crate::triage_loop::Outcome;
use jelly_base::model::{Failure, Phase, StepState, Verdict};

/// A trusted plan whose first mismatch is confirmed and refined; then this is
/// what each iteration shows.
fn refined(mut after: impl FnMut(u32) -> Vec<Failure>) -> Outcome {
    let dir = tempfile::tempdir().unwrap();
    let mut stage = Stage::new(dir.path(), PLAN);
    stage.settings.hooks.refine_code = both_hooks().refine_code;
    stage.settings.trust_plan = true;
    stage.settings.budgets.max_iterations = 8;
    let mut hooks = ScriptedHooks::new(|_, _| true);
    play(&mut stage, &mut hooks, |index| match index {
        1 | 2 => vec![wrong("read", "41")],
        index => after(index),
    })
}

#[test]
fn whatever_a_refinement_breaks_the_proof_stands() {
    let broken: [Vec<Failure>; 5] = [
        // The server no longer starts, hangs, lacks the tool, or refuses.
        vec![failure("", Phase::Handshake, "test exited_during_startup")],
        vec![failure("", Phase::Handshake, "test startup_timeout")],
        vec![failure("read", Phase::Config, "test unknown_tool")],
        vec![failure("read", Phase::Call, "retry call_timeout")],
        vec![failure("read", Phase::Call, "test missing_file")],
    ];
    for failures in broken {
        let outcome = refined(|_| failures.clone());
        let report = &outcome.report;
        assert_eq!(report.verdict, Verdict::CodeFailure, "{failures:?}");
        assert_eq!(report.exit_code, 1);
        assert!(report.needs_user_help);
        let help = report.help_summary.as_ref().unwrap();
        let of_code = help
            .problems
            .iter()
            .find(|p| p.what.contains("iteration 2 found it"));
        let of_code = of_code.unwrap_or_else(|| panic!("{:#?}", help.problems));
        assert_eq!(of_code.step.as_deref(), Some("read"));
        assert!(of_code.what.contains("nothing passed there since"));
        assert_eq!(help.problems.len(), 2, "{:#?}", help.problems);
        // The exit code is its, so it is told first.
        assert_eq!(help.problems[0], *of_code, "{:#?}", help.problems);
    }
}

#[test]
fn a_step_that_passes_on_the_refined_code_is_acquitted() {
    let outcome = refined(|_| vec![]);
    assert_eq!(outcome.report.verdict, Verdict::PassedAfterRepair);
    // Another step's trouble is its own.
    let outcome = refined(|_| vec![failure("write", Phase::Call, "test missing_file")]);
    assert_eq!(outcome.report.exit_code, 3);
    let help = outcome.report.help_summary.unwrap();
    assert_eq!(help.problems.len(), 1, "{:#?}", help.problems);
}

#[test]
fn a_crash_that_was_refined_away_is_no_proof_any_more_and_one_that_was_not_is() {
    for (after, code) in [
        (vec![], 0),
        (
            vec![failure("", Phase::Handshake, "test exited_during_startup")],
            1,
        ),
        (
            vec![failure("read", Phase::Call, "code crashed_during_call")],
            1,
        ),
    ] {
        let dir = tempfile::tempdir().unwrap();
        let mut stage = Stage::new(dir.path(), PLAN);
        stage.settings.hooks.refine_code = both_hooks().refine_code;
        let mut hooks = ScriptedHooks::new(|_, _| true);
        let outcome = play(&mut stage, &mut hooks, |index| match index {
            1 => vec![failure("read", Phase::Call, "code crashed_during_call")],
            _ => after.clone(),
        });
        assert_eq!(outcome.report.exit_code, code, "{after:?}");
    }
}

#[test]
fn a_server_that_failed_by_its_code_is_acquitted_when_it_is_ready_and_passes() {
    let breach = |plan: &jelly_plan::Plan| {
        let mut record = record(plan, vec![]);
        record.failures = vec![failure("", Phase::Teardown, "code protocol_violation")];
        record
    };
    for (passes, code) in [(true, 0), (false, 1)] {
        let dir = tempfile::tempdir().unwrap();
        let mut stage = Stage::new(dir.path(), PLAN);
        stage.settings.hooks.refine_code = both_hooks().refine_code;
        let mut hooks = ScriptedHooks::new(|_, _| true);
        let mut script = Script::new(|plan, context| match context.index {
            1 => breach(plan),
            _ if passes => record(plan, vec![]),
            _ => record(
                plan,
                vec![failure("", Phase::Handshake, "test startup_timeout")],
            ),
        });
        let outcome = stage.run(&mut script, &mut hooks, &by_message);
        assert_eq!(outcome.report.exit_code, code, "{passes}");
    }
}

#[test]
fn a_confirmed_mismatch_outlives_a_server_that_is_not_there_the_next_time() {
    let mut world = World::new(policy());
    let wrong = mismatch("a", "1");
    world.sees(&[wrong.clone(), hiccup("b")]);
    let confirmed = world.sees(&[wrong.clone(), hiccup("b")]);
    assert!(confirmed.standings.code);
    let blocked = vec![step("a", StepState::Blocked), step("b", StepState::Blocked)];
    let decision = world.sees_steps(blocked, &[dead_server()]);
    assert!(decision.standings.code && decision.standings.test_side);
    // It passes on the same code: it was flaky.
    assert!(!world.sees(&[broken("b")]).standings.code);
}

#[test]
fn on_the_same_code_a_mismatch_that_turns_out_flaky_is_taken_back_and_a_crash_is_not() {
    let mut world = World::new(policy());
    world.sees(&[mismatch("a", "1")]);
    assert!(
        world
            .sees(&[mismatch("a", "1"), hiccup("b")])
            .standings
            .code
    );
    assert!(!world.sees(&[mismatch("a", "2")]).standings.code);
    let mut world = World::new(policy());
    world.sees(&[crash("a"), hiccup("b")]);
    assert!(world.sees(&[]).standings.code);
}
