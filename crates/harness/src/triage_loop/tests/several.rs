//! Steps of which several expectations do not hold: one step, one side.

use super::support::{World, hiccup, hooked, mismatch, policy, seen};
use crate::triage_loop::{Action, Decision, Seen};
use jelly_base::model::{AssertionTarget, Budgets, ErrorCategory, Phase, Side, Standing, Track};

fn slow(step: &str) -> Seen {
    let mut slow = mismatch(step, "slow");
    let assertion = slow.failure.assertion.as_mut();
    assertion.unwrap().target = Some(AssertionTarget::Duration);
    slow
}

/// The answer as a whole is an error of the environment.
fn refused(step: &str) -> Seen {
    let mut refused = mismatch(step, "refused");
    refused.diagnosis.side = Side::Test;
    refused.diagnosis.root_cause = "connection_refused".into();
    refused.diagnosis.error_category = Some(ErrorCategory::Infrastructure);
    refused
}

/// The tool broke its own contract: code at one sighting.
fn breach(step: &str) -> Seen {
    let mut breach = seen(step, Phase::Assert, Side::Code, "schema_mismatch");
    let assertion = mismatch(step, "x").failure.assertion;
    breach.failure.assertion = assertion;
    breach.failure.assertion.as_mut().unwrap().target = Some(AssertionTarget::OutputSchema);
    breach
}

fn sides(decision: &Decision) -> Vec<Side> {
    decision.judged.iter().map(|j| j.diagnosis.side).collect()
}

fn excuses(decision: &Decision) -> Vec<Option<&str>> {
    let judged = decision.judged.iter();
    judged.map(|j| j.diagnosis.excused.as_deref()).collect()
}

#[test]
fn the_mismatch_that_repeats_makes_its_step_code_and_the_other_stays_flaky() {
    let mut world = World::new(policy());
    let first = world.sees(&[mismatch("a", "x1"), mismatch("a", "same")]);
    assert_eq!(first.action, Action::Confirm);
    assert_eq!(first.charged, [Track::Confirms], "one rerun for both");
    let second = world.sees(&[mismatch("a", "x2"), mismatch("a", "same")]);
    assert_eq!(sides(&second), [Side::Test, Side::Code]);
    assert!(second.judged[0].diagnosis.flaky && second.judged[0].diagnosis.ambiguous);
    let standing = second.judged[1].diagnosis.standing;
    assert_eq!(standing, Some(Standing::NeverPassed));
    assert!(second.standings.code && !second.standings.test_side);
    assert_eq!(second.action, Action::Stop);
}

#[test]
fn the_code_is_refined_though_a_flaky_mismatch_stands_beside_the_proven_one() {
    let mut trusting = hooked();
    trusting.trust_plan = true;
    let mut world = World::new(trusting);
    world.sees(&[mismatch("a", "x1"), mismatch("a", "same")]);
    let second = world.sees(&[mismatch("a", "x2"), mismatch("a", "same")]);
    assert_eq!(second.action, Action::RefineCode, "{}", second.reason);
    // What stands test-side at another step still forbids it.
    let mut world = World::new(hooked());
    world.sees(&[mismatch("a", "same"), mismatch("b", "y1")]);
    let second = world.sees(&[mismatch("a", "same"), mismatch("b", "y2")]);
    assert!(second.standings.test_side);
    assert_eq!(second.action, Action::FixTests);
}

#[test]
fn mismatches_that_all_vary_are_flaky_and_none_is_code() {
    let mut world = World::new(policy());
    world.sees(&[mismatch("a", "x1"), mismatch("a", "y1")]);
    let second = world.sees(&[mismatch("a", "x2"), mismatch("a", "y2")]);
    assert_eq!(sides(&second), [Side::Test, Side::Test]);
    assert!(second.judged.iter().all(|j| j.diagnosis.flaky));
    assert!(!second.standings.code && second.standings.test_side);
    assert_eq!(second.action, Action::Stop);
}

#[test]
fn a_mismatch_that_came_and_went_proves_nothing_by_coming_back() {
    let mut world = World::new(policy());
    world.sees(&[mismatch("a", "x"), mismatch("a", "y")]);
    let second = world.sees(&[mismatch("a", "x"), hiccup("b")]);
    assert_eq!(sides(&second), [Side::Code, Side::Test]);
    let third = world.sees(&[mismatch("a", "x"), mismatch("a", "y")]);
    assert_eq!(sides(&third), [Side::Code, Side::Test]);
    assert!(third.judged[1].diagnosis.flaky);
}

#[test]
fn time_makes_no_step_code_and_saves_none() {
    let mut world = World::new(policy());
    world.sees(&[mismatch("a", "x"), slow("a")]);
    let second = world.sees(&[mismatch("a", "x"), slow("a")]);
    assert_eq!(sides(&second), [Side::Code, Side::Test]);
    assert_eq!(excuses(&second), [None, Some("duration")]);
    assert!(!second.standings.test_side);
    let mut world = World::new(policy());
    world.sees(&[mismatch("a", "x1"), slow("a")]);
    let second = world.sees(&[mismatch("a", "x2"), slow("a")]);
    assert_eq!(sides(&second), [Side::Test, Side::Test]);
    assert!(!second.standings.code);
}

#[test]
fn an_answer_that_the_environment_explains_excuses_all_of_its_mismatches() {
    let mut world = World::new(policy());
    for _ in 0..3 {
        let decision = world.sees(&[mismatch("a", "x"), refused("a")]);
        assert_eq!(sides(&decision), [Side::Test, Side::Test]);
        assert_eq!(excuses(&decision), [Some("environment"), None]);
        // A second look could not tell more.
        assert_eq!(decision.action, Action::Stop, "{}", decision.reason);
        assert!(!decision.standings.code && decision.standings.test_side);
    }
}

#[test]
fn a_broken_contract_decides_at_once_for_what_stands_beside_it() {
    let mut world = World::new(policy());
    let first = world.sees(&[breach("a"), mismatch("a", "x")]);
    assert_eq!(sides(&first), [Side::Code, Side::Test]);
    assert!(first.standings.code && !first.standings.test_side);
    assert_eq!(first.action, Action::Stop, "{}", first.reason);
}

#[test]
fn each_mismatch_of_a_step_is_confirmed_by_its_own_budget() {
    let mut many = policy();
    many.budgets = Budgets {
        confirms: 2,
        ..many.budgets
    };
    let mut world = World::new(many);
    let first = world.sees(&[mismatch("a", "x"), mismatch("a", "y"), mismatch("b", "z")]);
    assert_eq!(first.charged, [Track::Confirms]);
    assert_eq!(first.budgets.before.confirms, 2);
    assert_eq!(first.budgets.after.confirms, 1, "of the most confirmed one");
}
