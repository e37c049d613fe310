//! Blame needs proof.

use super::support::{
    World, a_passed_before, broken, crash, hiccup, hooked, mismatch, policy, repair, seen, skipped,
    step, with,
};
use crate::code_identity::{CodeIdentity, ServerCode};
use crate::repair::RepairId;
use crate::triage_loop::{
    Action, Decision, Foundations, PassedBefore, Seen, definitions, earlier_steps, proven_code,
};
use jelly_base::model::{
    AssertionTarget, Because, Diagnosis, ErrorCategory, IterationRecord, Outcome, Phase, Repeated,
    Side, Standing, StepReport, StepState,
};

/// Step a is another one from now on.
fn another_plan(world: &mut World) {
    let facts = world.facts.get_mut("a").unwrap();
    facts.revision = 2;
    facts.own = 2;
}

fn only(decision: &Decision) -> &Diagnosis {
    assert_eq!(decision.judged.len(), 1);
    &decision.judged[0].diagnosis
}

fn pending(diagnosis: &Diagnosis, excuse: &str) {
    assert_eq!(diagnosis.side, Side::Test);
    assert!(diagnosis.ambiguous);
    assert_eq!(diagnosis.excused.as_deref(), Some(excuse));
    assert_eq!(diagnosis.standing, None);
    assert!(!diagnosis.flaky);
}

fn guilty(diagnosis: &Diagnosis, standing: Standing) {
    assert_eq!(diagnosis.side, Side::Code);
    assert!(!diagnosis.ambiguous);
    assert_eq!(diagnosis.excused, None);
    assert_eq!(diagnosis.standing, Some(standing));
    assert!(!diagnosis.flaky);
}

fn flaky(diagnosis: &Diagnosis) {
    assert_eq!(diagnosis.side, Side::Test);
    assert!(diagnosis.ambiguous);
    assert!(diagnosis.flaky);
    assert_eq!(diagnosis.standing, None);
}

#[test]
fn a_mismatch_seen_once_is_pending_and_asks_to_be_confirmed() {
    let mut world = World::new(policy());
    let first = world.sees(&[mismatch("a", "x")]);
    pending(only(&first), "unconfirmed");
    assert_eq!(only(&first).repeated, None);
    assert_eq!(first.action, Action::Confirm);
    assert!(first.standings.test_side && !first.standings.code && !first.standings.green);
}

#[test]
fn the_same_mismatch_twice_is_code() {
    let mut world = World::new(policy());
    world.sees(&[mismatch("a", "x")]);
    let second = world.sees(&[mismatch("a", "x")]);
    guilty(only(&second), Standing::NeverPassed);
    assert_eq!(
        only(&second).repeated,
        Some(Repeated {
            first_iteration: 1,
            count: 2
        })
    );
    assert_eq!(second.action, Action::Stop);
    assert!(second.standings.code && !second.standings.test_side);
}

#[test]
fn a_mismatch_that_triage_calls_ambiguous_needs_the_same_proof() {
    for category in [
        Some(ErrorCategory::Assertion),
        Some(ErrorCategory::Locator),
        Some(ErrorCategory::Other),
        None,
    ] {
        let mut world = World::new(policy());
        let mut odd = mismatch("a", "x");
        odd.diagnosis.side = Side::Test;
        odd.diagnosis.ambiguous = true;
        odd.diagnosis.root_cause = "unknown".into();
        odd.diagnosis.error_category = category;
        pending(only(&world.sees(&[odd.clone()])), "unconfirmed");
        guilty(only(&world.sees(&[odd])), Standing::NeverPassed);
    }
}

#[test]
fn a_mismatch_that_triage_calls_test_side_by_name_alone_needs_the_same_proof() {
    let mut world = World::new(policy());
    let mut odd = mismatch("a", "x");
    odd.diagnosis.side = Side::Test;
    pending(only(&world.sees(&[odd.clone()])), "unconfirmed");
    guilty(only(&world.sees(&[odd])), Standing::NeverPassed);
}

#[test]
fn an_answer_that_shows_a_broken_environment_is_never_code() {
    // `isError: false` with "Connection refused" where a value was expected.
    let answers: [(&str, bool, ErrorCategory); 3] = [
        ("connection_refused", false, ErrorCategory::Other),
        ("unknown", true, ErrorCategory::Infrastructure),
        ("unknown", true, ErrorCategory::Timeout),
    ];
    for (cause, ambiguous, category) in answers {
        let mut world = World::new(policy());
        let mut refused = mismatch("a", "x");
        refused.diagnosis.side = Side::Test;
        refused.diagnosis.ambiguous = ambiguous;
        refused.diagnosis.root_cause = cause.into();
        refused.diagnosis.error_category = Some(category);
        for _ in 0..3 {
            let decision = world.sees(&[refused.clone()]);
            assert_eq!(only(&decision).side, Side::Test);
            assert_eq!(only(&decision).ambiguous, ambiguous);
            assert_eq!(only(&decision).excused, None);
            assert_eq!(decision.action, Action::Stop);
        }
    }
}

#[test]
fn a_mismatch_that_differs_each_time_is_flaky() {
    let mut world = World::new(policy());
    world.sees(&[mismatch("a", "x")]);
    let second = world.sees(&[mismatch("a", "y")]);
    flaky(only(&second));
    assert_eq!(only(&second).excused, None);
    assert_eq!(second.action, Action::Stop);
    // Once unstable, a repetition proves nothing any more.
    flaky(only(&world.sees(&[mismatch("a", "y")])));
}

#[test]
fn a_mismatch_that_passes_afterwards_is_flaky_and_the_run_green() {
    let mut world = World::new(policy());
    world.sees(&[mismatch("a", "x")]);
    let second = world.sees(&[]);
    assert_eq!(second.flaky_steps.len(), 1);
    assert_eq!(second.flaky_steps[0].step, "a");
    assert_eq!(second.flaky_steps[0].mended, 0);
    assert!(second.standings.green);
    assert_eq!(second.action, Action::Stop);
    assert_eq!(second.reason, "every step passed");
}

#[test]
fn several_mismatches_of_one_step_are_held_against_each_other_as_a_set() {
    let mut world = World::new(policy());
    world.sees(&[mismatch("a", "x"), mismatch("a", "y")]);
    let second = world.sees(&[mismatch("a", "y"), mismatch("a", "x")]);
    for judged in &second.judged {
        guilty(&judged.diagnosis, Standing::NeverPassed);
        assert_eq!(judged.diagnosis.repeated.as_ref().map(|r| r.count), Some(2));
    }
}

#[test]
fn the_same_failure_twice_in_one_iteration_is_one_sighting() {
    let mut world = World::new(policy());
    let first = world.sees(&[mismatch("a", "x"), mismatch("a", "x")]);
    for judged in &first.judged {
        pending(&judged.diagnosis, "unconfirmed");
    }
    let second = world.sees(&[mismatch("a", "x")]);
    assert_eq!(only(&second).repeated.as_ref().map(|r| r.count), Some(2));
}

#[test]
fn a_step_that_passed_before_on_the_same_plan_and_code_is_not_repeatable() {
    let mut world = World::new(policy());
    world.sees(&[hiccup("b")]);
    for _ in 0..3 {
        pending(only(&world.sees(&[mismatch("a", "x")])), "not_repeatable");
    }
}

#[test]
fn a_pass_on_another_plan_does_not_excuse() {
    let mut world = World::new(policy());
    world.sees(&[hiccup("b")]);
    another_plan(&mut world);
    pending(only(&world.sees(&[mismatch("a", "x")])), "unconfirmed");
    guilty(
        only(&world.sees(&[mismatch("a", "x")])),
        Standing::NeverPassed,
    );
}

#[test]
fn a_pass_on_other_code_does_not_excuse_and_shows_that_the_plan_is_right() {
    let mut world = World::new(hooked());
    world.sees(&[crash("b")]);
    world.state.code_refined();
    pending(only(&world.sees(&[mismatch("a", "x")])), "unconfirmed");
    guilty(
        only(&world.sees(&[mismatch("a", "x")])),
        Standing::PassedBefore,
    );
}

#[test]
fn sightings_on_two_revisions_are_no_proof() {
    let mut world = World::new(hooked());
    world.sees(&[mismatch("a", "x")]);
    another_plan(&mut world);
    pending(only(&world.sees(&[mismatch("a", "x")])), "unconfirmed");

    let mut world = World::new(hooked());
    world.sees(&[mismatch("a", "x")]);
    world.state.code_refined();
    pending(only(&world.sees(&[mismatch("a", "x")])), "unconfirmed");
}

/// Its confirmation was spent before the code was refined: without this, the
/// run ended with "seen once", and a second refinement was never tried.
#[test]
fn a_proven_mismatch_that_outlives_a_refinement_is_still_proven() {
    let mut world = World::new(hooked());
    world.sees(&[mismatch("a", "x")]);
    guilty(
        only(&world.sees(&[mismatch("a", "x")])),
        Standing::NeverPassed,
    );
    world.state.code_refined();
    guilty(
        only(&world.sees(&[mismatch("a", "x")])),
        Standing::NeverPassed,
    );
    world.state.code_refined();
    pending(only(&world.sees(&[mismatch("a", "y")])), "unconfirmed");
}

#[test]
fn a_mismatch_in_a_repaired_step_is_never_code_and_the_repair_ineffective() {
    type Touch = fn(&mut crate::repair::Proposal);
    let touches: [Touch; 2] = [
        |p| p.steps_touched.push("a".into()),
        |p| p.servers_touched.push("files".into()),
    ];
    for touch in touches {
        let mut world = World::new(policy());
        let mut rename = repair(RepairId::RenameTool, "steps.a");
        touch(&mut rename);
        let first = world.sees(&[with(broken("a"), [rename.clone()])]);
        assert_eq!(first.action, Action::RepairMcpPlan(vec![rename]));
        for _ in 0..3 {
            pending(
                only(&world.sees(&[mismatch("a", "x")])),
                "repair_ineffective",
            );
        }
        assert!(!world.state.tried()[0].ineffective);
    }
}

#[test]
fn a_repair_of_what_the_step_does_not_rest_on_excuses_nothing() {
    let mut world = World::new(policy());
    let mut rename = repair(RepairId::RenameTool, "steps.b");
    rename.steps_touched.push("b".into());
    rename.servers_touched.push("other".into());
    world.sees(&[mismatch("a", "x"), with(broken("b"), [rename])]);
    guilty(
        only(&world.sees(&[mismatch("a", "x")])),
        Standing::NeverPassed,
    );
}

#[test]
fn a_step_that_captures_from_a_repaired_one_is_never_code() {
    let mut world = World::new(policy());
    world.facts.get_mut("a").unwrap().steps.insert("b".into());
    let mut rename = repair(RepairId::RenameTool, "steps.b");
    rename.steps_touched.push("b".into());
    world.sees(&[with(broken("b"), [rename])]);
    for _ in 0..2 {
        pending(
            only(&world.sees(&[mismatch("a", "x")])),
            "repair_ineffective",
        );
    }
}

#[test]
fn a_mismatch_after_a_restart_is_never_code_nor_a_sighting() {
    let mut world = World::new(policy());
    let mut restarted = mismatch("a", "x");
    restarted.failure.after_restart = true;
    for _ in 0..2 {
        pending(only(&world.sees(&[restarted.clone()])), "after_restart");
    }
    pending(only(&world.sees(&[mismatch("a", "x")])), "unconfirmed");
    guilty(
        only(&world.sees(&[mismatch("a", "x")])),
        Standing::NeverPassed,
    );
}

/// Each look shows another number.
#[test]
fn what_is_excused_is_looked_at_once_more_however_it_differs() {
    for restarts in [true, false] {
        let mut world = World::new(policy());
        let mut actions = Vec::new();
        for number in ["1", "2", "3"] {
            let mut wrong = mismatch("a", number);
            wrong.failure.after_restart = restarts;
            if let Some(assertion) = wrong.failure.assertion.as_mut().filter(|_| !restarts) {
                assertion.target = Some(AssertionTarget::Duration);
            }
            actions.push(world.sees(&[wrong]).action);
        }
        assert_eq!(actions, [Action::Confirm, Action::Stop, Action::Stop]);
    }
}

#[test]
fn a_mismatch_about_time_is_never_code() {
    let mut world = World::new(policy());
    let mut slow = mismatch("a", "x");
    if let Some(assertion) = &mut slow.failure.assertion {
        assertion.target = Some(AssertionTarget::Duration);
    }
    for _ in 0..3 {
        pending(only(&world.sees(&[slow.clone()])), "duration");
    }
}

#[test]
fn without_confirming_a_mismatch_stays_ambiguous_however_often_it_comes() {
    let mut policy = policy();
    policy.budgets.confirms = 0;
    let mut world = World::new(policy);
    for _ in 0..3 {
        let decision = world.sees(&[mismatch("a", "x")]);
        pending(only(&decision), "unconfirmed");
        assert_eq!(decision.action, Action::Stop);
    }
}

#[test]
fn a_mismatch_of_a_step_that_the_plan_does_not_have_is_never_code() {
    let mut world = World::new(policy());
    for _ in 0..3 {
        pending(only(&world.sees(&[mismatch("zz", "x")])), "unconfirmed");
    }
}

#[test]
fn what_jelly_left_out_proves_nothing_however_often() {
    let mut untold = mismatch("a", "x");
    let assertion = untold.failure.assertion.as_mut().unwrap();
    assertion.own_limit = Some(jelly_base::model::OwnLimit::Stderr);
    let mut unread = crash("b");
    unread.failure.own_limit = Some(jelly_base::model::OwnLimit::MessageSize);
    for seen in [untold, unread] {
        let mut world = World::new(policy());
        for _ in 0..3 {
            let decision = world.sees(std::slice::from_ref(&seen));
            pending(only(&decision), "own_limit");
        }
    }
}

#[test]
fn history_gives_a_confirmed_mismatch_its_standing() {
    let mut policy = policy();
    policy.passed_before = a_passed_before();
    let mut world = World::new(policy.clone());
    let all = [mismatch("a", "x"), mismatch("b", "x")];
    world.sees(&all);
    let second = world.sees(&all);
    guilty(&second.judged[0].diagnosis, Standing::PassedBefore);
    guilty(&second.judged[1].diagnosis, Standing::NeverPassed);

    // It passed when it expected something else.
    let mut world = World::new(policy);
    world.facts.get_mut("a").unwrap().own = 7;
    world.sees(&all);
    let second = world.sees(&all);
    guilty(&second.judged[0].diagnosis, Standing::NeverPassed);
}

/// Whatever changed since, the code did not.
#[test]
fn a_confirmed_mismatch_of_the_code_that_passed_is_held_against_nobody() {
    let commit = |name: &str| CodeIdentity::Commit(name.to_owned());
    let server = |name: &str| ServerCode::from([("files".to_owned(), commit(name))]);
    let facts = World::new(policy()).facts;
    let record = IterationRecord {
        steps: vec![step("a", StepState::Failed)],
        ..IterationRecord::default()
    };
    let earlier = earlier_steps(&record, &[mismatch("a", "x")]);
    let foundations = Foundations::new(move || facts);
    let definition = definitions(&foundations, &earlier)["a"];
    let key = proven_code(&foundations, &earlier, &server("1"))["a"].key();
    let mut policy = hooked();
    policy.passed_before = PassedBefore::new(move |asked, code| {
        asked == definition && code.is_none_or(|code| code == key)
    });
    for (now, same) in [
        (server("1"), true),
        (server("2"), false),
        (ServerCode::new(), false),
    ] {
        let mut world = World::new(policy.clone());
        world.code = now;
        let first = world.sees(&[mismatch("a", "x")]);
        pending(only(&first), "unconfirmed");
        let second = world.sees(&[mismatch("a", "x")]);
        if same {
            pending(only(&second), "same_code");
            assert_eq!(only(&second).same_code, ["commit 1"]);
            assert_eq!(second.action, Action::FixTests);
            assert!(!second.standings.code);
        } else {
            guilty(only(&second), Standing::PassedBefore);
            assert!(only(&second).same_code.is_empty());
        }
    }
}

#[test]
fn a_mismatch_behind_a_step_that_did_not_run_or_failed_test_side_proves_nothing() {
    const NOT_DONE: &str = "earlier_step_not_done";
    let undone: [(StepReport, &[Seen], &str); 4] = [
        (skipped("a", Because::NotSelected), &[], NOT_DONE),
        (step("a", StepState::Quarantined), &[], NOT_DONE),
        (step("a", StepState::Blocked), &[], NOT_DONE),
        // It was answered: it ran, whatever it left.
        (
            step("a", StepState::Failed),
            &[broken("a")],
            "earlier_step_failed",
        ),
    ];
    for (first, failures, excuse) in undone {
        let mut world = World::new(policy());
        let mut all = failures.to_vec();
        all.push(mismatch("b", "x"));
        for _ in 0..3 {
            let steps = vec![first.clone(), step("b", StepState::Failed)];
            let decision = world.sees_steps(steps, &all);
            let judged = decision.judged.last().unwrap();
            pending(&judged.diagnosis, excuse);
            assert_eq!(judged.diagnosis.excused_by.as_deref(), Some("a"));
        }
    }
}

#[test]
fn a_snapshot_that_is_not_stored_yet_excuses_nothing() {
    let new = seen("a", Phase::Assert, Side::Test, "missing_snapshot");
    let mut world = World::new(policy());
    let all = [new, mismatch("b", "y")];
    world.sees(&all);
    let second = world.sees(&all);
    guilty(&second.judged[1].diagnosis, Standing::NeverPassed);
}

/// Two bugs in one server are two bugs, and one may be that it dies.
#[test]
fn an_earlier_fault_of_the_server_excuses_nothing() {
    let mut died = crash("a");
    died.failure.outcome = Some(Outcome::Eof);
    for first in [mismatch("a", "x"), crash("a"), died] {
        let mut world = World::new(policy());
        let all = [first, mismatch("b", "y")];
        world.sees(&all);
        let second = world.sees(&all);
        guilty(&second.judged[1].diagnosis, Standing::NeverPassed);
    }
}

#[test]
fn what_passed_with_the_same_steps_left_out_is_held_to_it() {
    let left_out = || {
        vec![
            skipped("a", Because::NotSelected),
            step("b", StepState::Failed),
        ]
    };
    let facts = World::new(policy()).facts;
    let known = definitions(
        &Foundations::new(move || facts),
        &earlier_steps(
            &IterationRecord {
                steps: left_out(),
                ..IterationRecord::default()
            },
            &[mismatch("b", "x")],
        ),
    )["b"];
    let mut policy = policy();
    policy.passed_before = PassedBefore::new(move |definition, _| definition == known);
    let mut world = World::new(policy.clone());
    world.sees_steps(left_out(), &[mismatch("b", "x")]);
    let second = world.sees_steps(left_out(), &[mismatch("b", "x")]);
    guilty(only(&second), Standing::PassedBefore);

    // With the other steps it is another matter.
    let mut world = World::new(policy);
    world.sees(&[mismatch("b", "x")]);
    let second = world.sees(&[mismatch("b", "x")]);
    guilty(only(&second), Standing::NeverPassed);
}

#[test]
fn a_value_that_jelly_made_is_never_held_against_the_code() {
    let mut made = mismatch("a", "x");
    made.failure.assertion.as_mut().unwrap().made_by_jelly = true;
    let mut world = World::new(policy());
    for _ in 0..3 {
        pending(
            only(&world.sees(std::slice::from_ref(&made))),
            "made_by_jelly",
        );
    }
}

#[test]
fn a_crash_and_a_broken_contract_are_code_at_one_sighting() {
    let mut breach = seen("a", Phase::Assert, Side::Code, "schema_mismatch");
    breach.failure.assertion = Some(jelly_base::model::Assertion {
        kind: "output_schema".into(),
        target: Some(AssertionTarget::OutputSchema),
        ..Default::default()
    });
    for proof in [crash("a"), breach] {
        let mut world = World::new(policy());
        let first = world.sees(&[proof]);
        assert_eq!(only(&first).side, Side::Code);
        assert_eq!(only(&first).standing, None);
        assert!(first.standings.code && !first.standings.test_side);
    }
}

#[test]
fn a_crash_stays_proven_when_the_rerun_passes_until_the_code_is_refined() {
    let mut world = World::new(policy());
    world.sees(&[crash("a"), hiccup("b")]);
    let second = world.sees(&[]);
    assert!(second.standings.code && !second.standings.green && !second.standings.test_side);
    world.state.code_refined();
    let third = world.sees(&[]);
    assert!(third.standings.green && !third.standings.code);
}

#[test]
fn what_may_pass_by_itself_is_no_lasting_proof() {
    let mut world = World::new(policy());
    let mut wobbly = crash("a");
    wobbly.diagnosis.retryable = Some(true);
    let first = world.sees(&[wobbly]);
    assert!(first.standings.code);
    assert_eq!(first.action, Action::Retry);
    assert!(world.sees(&[]).standings.green);
}

#[test]
fn a_confirmed_mismatch_that_passes_later_is_no_lasting_proof() {
    let mut world = World::new(policy());
    world.sees(&[mismatch("a", "x")]);
    let second = world.sees(&[mismatch("a", "x"), hiccup("b")]);
    assert!(second.standings.code);
    let third = world.sees(&[]);
    assert!(third.standings.green && !third.standings.code);
}

#[test]
fn triage_alone_decides_on_what_is_no_mismatch() {
    let mut world = World::new(policy());
    for count in 1..4_u32 {
        let decision = world.sees(&[broken("a")]);
        let diagnosis: &Diagnosis = only(&decision);
        assert_eq!((diagnosis.side, diagnosis.ambiguous), (Side::Test, false));
        assert_eq!(diagnosis.repeated.as_ref().map_or(1, |r| r.count), count);
        assert_eq!(diagnosis.excused, None);
    }
}

#[test]
fn a_step_mended_by_a_repair_was_not_flaky() {
    let mut world = World::new(policy());
    let mut mend = repair(RepairId::FreePort, "servers.files");
    mend.servers_touched.push("files".into());
    world.sees(&[with(broken("a"), [mend])]);
    assert!(world.sees(&[]).flaky_steps.is_empty());
    // Nor one that had to fail, for what comes before it had failed.
    let mut world = World::new(policy());
    let mut mend = repair(RepairId::RenameArgument, "steps.a.args.x");
    mend.steps_touched.push("a".into());
    world.sees(&[with(broken("a"), [mend]), broken("b")]);
    assert!(world.sees(&[]).flaky_steps.is_empty());
}

#[test]
fn a_step_that_failed_again_after_the_repair_and_then_passes_was_flaky() {
    let mut world = World::new(policy());
    let mut mend = repair(RepairId::FreePort, "servers.files");
    mend.servers_touched.push("files".into());
    world.sees(&[with(broken("a"), [mend])]);
    world.sees(&[hiccup("a")]);
    let third = world.sees(&[]);
    assert_eq!(third.flaky_steps.len(), 1);
    assert_eq!(third.flaky_steps[0].mended, 1);
}

#[test]
fn a_step_mended_by_a_change_of_the_tests_was_not_flaky() {
    let mut world = World::new(hooked());
    world.sees(&[broken("a")]);
    world.state.plan_replaced(1);
    assert!(world.sees(&[]).flaky_steps.is_empty());
}

#[test]
fn a_step_that_was_refined_was_not_flaky() {
    let mut world = World::new(hooked());
    world.sees(&[crash("a")]);
    world.state.code_refined();
    assert!(world.sees(&[]).flaky_steps.is_empty());
}

#[test]
fn a_step_that_never_ran_was_not_flaky() {
    let mut world = World::new(policy());
    let steps = vec![
        step("a", StepState::Blocked),
        skipped("b", Because::Step("a".into())),
    ];
    world.sees_steps(steps, &[super::support::dead_server()]);
    assert!(world.sees(&[]).flaky_steps.is_empty());
    // Nor is a step that fails now.
    let mut world = World::new(policy());
    world.sees(&[broken("a")]);
    assert!(world.sees(&[broken("a")]).flaky_steps.is_empty());
}

#[test]
fn failures_are_judged_in_their_order() {
    let mut world = World::new(policy());
    let failures: Vec<Seen> = vec![crash("b"), mismatch("a", "x"), broken("c")];
    let decision = world.sees(&failures);
    for (seen, judged) in failures.iter().zip(&decision.judged) {
        assert_eq!(seen.failure, judged.failure);
        assert_eq!(
            seen.diagnosis.test_fingerprint,
            judged.diagnosis.test_fingerprint
        );
    }
}

#[test]
fn an_answer_of_the_environment_makes_no_bug_behind_it_flaky() {
    let mut refused = mismatch("a", "refused");
    refused.diagnosis.side = Side::Test;
    refused.diagnosis.root_cause = "connection_refused".into();
    refused.diagnosis.error_category = Some(ErrorCategory::Infrastructure);
    refused.diagnosis.retryable = Some(true);
    let mut world = World::new(policy());
    assert_eq!(world.sees(&[refused]).action, Action::Retry);
    pending(only(&world.sees(&[mismatch("a", "x")])), "unconfirmed");
    guilty(
        only(&world.sees(&[mismatch("a", "x")])),
        Standing::NeverPassed,
    );
}
