//! What failures ask for, which ask is heard, and what it costs.

use super::support::{
    World, a_passed_before, broken, crash, dead_server, hang, hiccup, hooked, mismatch, policy,
    repair, skipped, step, with,
};
use crate::repair::{Proposal, RepairId};
use crate::triage_loop::Action;
use jelly_base::model::{ActionKind, Because, BudgetsReport, Side, StepState, Track};
use std::time::Duration;

fn mend() -> Proposal {
    repair(RepairId::FreePort, "servers.files")
}

fn quarantine() -> Proposal {
    let mut proposal = Proposal::new(RepairId::QuarantineStep, "steps.a", "took it out");
    proposal.quarantine.push("a".into());
    proposal
}

fn left(world: &World) -> BudgetsReport {
    world.state.budgets()
}

#[test]
fn what_may_pass_by_itself_is_retried_as_long_as_the_budget_lasts() {
    let mut world = World::new(policy());
    for retries_left in [1, 0] {
        let decision = world.sees(&[hiccup("a")]);
        assert_eq!(decision.action, Action::Retry);
        assert_eq!(decision.charged, [Track::Retries]);
        assert!(
            decision
                .backoff
                .is_some_and(|b| b <= Duration::from_millis(400))
        );
        assert_eq!(decision.budgets.before.retries, retries_left + 1);
        assert_eq!(decision.budgets.after.retries, retries_left);
        assert_eq!(left(&world).retries, retries_left);
    }
    let third = world.sees(&[hiccup("a")]);
    assert_eq!(third.action, Action::Stop);
    assert_eq!(third.backoff, None);
    assert!(third.charged.is_empty());
    assert_eq!(third.budgets.before, third.budgets.after);
}

#[test]
fn each_retry_waits_by_its_own_number() {
    let mut world = World::new(policy());
    let waits: Vec<_> = (0..2).map(|_| world.sees(&[hiccup("a")]).backoff).collect();
    assert_ne!(waits[0], waits[1]);
    let mut again = World::new(policy());
    assert_eq!(again.sees(&[hiccup("a")]).backoff, waits[0]);
    assert_eq!(again.sees(&[hiccup("a")]).backoff, waits[1]);
}

#[test]
fn a_retry_comes_before_a_repair_of_the_same_failure() {
    let mut world = World::new(policy());
    let decision = world.sees(&[with(hiccup("a"), [mend()])]);
    assert_eq!(decision.action, Action::Retry);
    // What could mend it is said all the same.
    assert_eq!(
        decision.judged[0].diagnosis.repair.as_deref(),
        Some("free_port")
    );
    assert_eq!(left(&world).mcp_repairs, 3);
}

#[test]
fn without_retries_left_the_repair_is_asked_for() {
    let mut policy = policy();
    policy.budgets.retries = 0;
    let mut world = World::new(policy);
    let decision = world.sees(&[with(hiccup("a"), [mend()])]);
    assert_eq!(decision.action, Action::RepairMcpPlan(vec![mend()]));
}

#[test]
fn a_second_timeout_in_a_row_asks_for_its_repair_first() {
    let raise = || repair(RepairId::RaiseTimeout, "servers.files");
    let mut world = World::new(policy());
    assert_eq!(
        world.sees(&[with(hang("a"), [raise()])]).action,
        Action::Retry
    );
    let second = world.sees(&[with(hang("a"), [raise()])]);
    assert_eq!(second.action, Action::RepairMcpPlan(vec![raise()]));
    assert_eq!(second.charged, [Track::McpRepairs]);
    assert_eq!(second.backoff, None);

    // Somebody else's.
    let mut world = World::new(policy());
    world.sees(&[hang("b")]);
    assert_eq!(
        world.sees(&[with(hang("a"), [raise()])]).action,
        Action::Retry
    );

    // No timeout.
    let mut world = World::new(policy());
    world.sees(&[hang("a")]);
    assert_eq!(
        world.sees(&[with(hiccup("a"), [raise()])]).action,
        Action::Retry
    );

    // Without a repair, it is retried again.
    let mut world = World::new(policy());
    world.sees(&[hang("a")]);
    assert_eq!(world.sees(&[hang("a")]).action, Action::Retry);
}

#[test]
fn a_timeout_two_iterations_ago_is_not_in_a_row() {
    let raise = || repair(RepairId::RaiseTimeout, "servers.files");
    let mut policy = policy();
    policy.budgets.retries = 3;
    let mut world = World::new(policy);
    world.sees(&[hang("a")]);
    world.sees(&[hiccup("b")]);
    assert_eq!(
        world.sees(&[with(hang("a"), [raise()])]).action,
        Action::Retry
    );
}

#[test]
fn a_timeout_is_known_by_its_outcome_or_by_its_category() {
    let raise = || repair(RepairId::RaiseTimeout, "servers.files");
    type Change = fn(&mut crate::triage_loop::Seen);
    let changes: [Change; 2] = [
        |seen| seen.failure.outcome = None,
        |seen| seen.diagnosis.error_category = None,
    ];
    for change in changes {
        let mut world = World::new(policy());
        let mut slow = with(hang("a"), [raise()]);
        change(&mut slow);
        world.sees(&[slow.clone()]);
        assert_eq!(
            world.sees(&[slow]).action,
            Action::RepairMcpPlan(vec![raise()])
        );
    }
}

#[test]
fn a_code_side_failure_is_never_repaired() {
    let mut world = World::new(policy());
    let decision = world.sees(&[with(crash("a"), [mend(), quarantine()])]);
    assert_eq!(decision.action, Action::Stop);
    assert_eq!(decision.judged[0].diagnosis.repair, None);
}

#[test]
fn a_repair_whose_failure_came_back_is_ineffective_and_the_next_one_is_tried() {
    let first = || repair(RepairId::CreateDirectory, "servers.files");
    let second = || repair(RepairId::FilesystemWorkspace, "servers.files");
    let failure = || with(dead_server(), [first(), second()]);
    let steps = || vec![step("a", StepState::Blocked)];
    let mut world = World::new(policy());
    let decisions: Vec<Action> = (0..3)
        .map(|_| world.sees_steps(steps(), &[failure()]).action)
        .collect();
    assert_eq!(
        decisions,
        [
            Action::RepairMcpPlan(vec![first()]),
            Action::RepairMcpPlan(vec![second()]),
            Action::Stop
        ]
    );
    assert!(world.state.tried().iter().all(|tried| tried.ineffective));
    assert_eq!(left(&world).mcp_repairs, 1);
}

#[test]
fn a_repair_that_helped_may_be_used_again_for_something_else() {
    let mut world = World::new(policy());
    world.sees(&[with(broken("a"), [mend()])]);
    let decision = world.sees(&[with(broken("b"), [mend()])]);
    assert_eq!(decision.action, Action::RepairMcpPlan(vec![mend()]));
    assert!(!world.state.tried()[0].ineffective);
}

#[test]
fn an_ineffective_repair_of_one_target_says_nothing_of_another_nor_of_another_kind() {
    let mut world = World::new(policy());
    world.sees(&[with(broken("a"), [mend()])]);
    let elsewhere = repair(RepairId::FreePort, "servers.other");
    let other = repair(RepairId::RaiseTimeout, "servers.files");
    let failures = [
        with(broken("a"), [mend(), elsewhere.clone()]),
        with(broken("b"), [other.clone()]),
    ];
    assert_eq!(
        world.sees(&failures).action,
        Action::RepairMcpPlan(vec![elsewhere, other])
    );
}

#[test]
fn a_repair_that_changes_nothing_is_passed_over_uncharged() {
    let mut world = World::new(policy());
    let idle = Proposal::new(RepairId::CreateDirectory, "servers.files", "nothing");
    assert_eq!(
        world.sees(&[with(broken("a"), [idle.clone()])]).action,
        Action::Stop
    );
    assert_eq!(left(&world).mcp_repairs, 3);
    let mut world = World::new(policy());
    assert_eq!(
        world.sees(&[with(broken("a"), [idle, mend()])]).action,
        Action::RepairMcpPlan(vec![mend()])
    );
}

#[test]
fn without_repairs_left_none_is_asked_for() {
    let mut policy = policy();
    policy.budgets.mcp_repairs = 0;
    let mut world = World::new(policy);
    let decision = world.sees(&[with(broken("a"), [mend(), quarantine()])]);
    assert_eq!(decision.action, Action::Stop);
    assert_eq!(decision.judged[0].diagnosis.repair, None);
}

#[test]
fn one_repair_serves_all_failures_that_ask_for_it_and_is_charged_once() {
    let mut world = World::new(policy());
    let other = || repair(RepairId::RaiseTimeout, "servers.files");
    let decision = world.sees(&[
        with(broken("a"), [mend()]),
        with(broken("b"), [mend()]),
        with(broken("c"), [other()]),
    ]);
    assert_eq!(
        decision.action,
        Action::RepairMcpPlan(vec![mend(), other()])
    );
    assert_eq!(decision.charged, [Track::McpRepairs]);
    assert_eq!(left(&world).mcp_repairs, 2);
    // Either failure shows that it did not help.
    world.sees(&[with(broken("b"), [mend()])]);
    let ineffective: Vec<bool> = world.state.tried().iter().map(|t| t.ineffective).collect();
    assert_eq!(ineffective, [true, false]);
}

#[test]
fn a_repair_serves_those_who_ask_for_a_retry_or_a_second_look_and_charges_them() {
    let mut world = World::new(policy());
    let decision = world.sees(&[with(broken("a"), [mend()]), hiccup("b"), mismatch("c", "x")]);
    assert_eq!(decision.action, Action::RepairMcpPlan(vec![mend()]));
    assert_eq!(
        decision.charged,
        [Track::Retries, Track::Confirms, Track::McpRepairs]
    );
    assert!(decision.backoff.is_some());
    let left = left(&world);
    assert_eq!((left.retries, left.confirms, left.mcp_repairs), (1, 0, 2));
    assert_eq!((left.test_fixes, left.code_refines), (0, 0));
}

#[test]
fn a_retry_serves_a_second_look_but_no_repair() {
    let mut world = World::new(policy());
    let decision = world.sees(&[hiccup("a"), mismatch("b", "x")]);
    assert_eq!(decision.action, Action::Retry);
    assert_eq!(decision.charged, [Track::Retries, Track::Confirms]);
    let spent = world.state.spent();
    assert_eq!((spent.iterations, spent.retries, spent.confirms), (1, 1, 1));
    assert_eq!(
        (spent.mcp_repairs, spent.test_fixes, spent.code_refines),
        (0, 0, 0)
    );
}

#[test]
fn a_second_look_is_counted_per_failure() {
    let mut world = World::new(policy());
    assert_eq!(world.sees(&[mismatch("a", "x")]).charged, [Track::Confirms]);
    // Another failure has a second look of its own.
    let second = world.sees(&[mismatch("b", "x")]);
    assert_eq!(second.action, Action::Confirm);
    // What was looked at twice is not looked at again.
    assert_eq!(world.sees(&[mismatch("b", "x")]).action, Action::Stop);
    assert_eq!(world.state.spent().confirms, 2);
    assert_eq!(left(&world).confirms, 0);
}

#[test]
fn a_second_look_that_saw_nothing_is_not_repeated_beyond_the_budget() {
    let unlucky = |world: &mut World| {
        let steps = vec![step("a", StepState::Blocked), step("b", StepState::Blocked)];
        world.sees_steps(steps, &[hiccup("")])
    };
    for (confirms, last) in [(1, ActionKind::Stop), (2, ActionKind::Stop)] {
        let mut policy = policy();
        policy.budgets.confirms = confirms;
        let mut world = World::new(policy);
        let first = world.sees(&[mismatch("a", "x"), mismatch("a", "x")]);
        assert_eq!(first.action, Action::Confirm);
        assert_eq!(left(&world).confirms, confirms - 1);
        unlucky(&mut world);
        let third = world.sees(&[mismatch("a", "x")]);
        assert_eq!(third.judged[0].diagnosis.side, Side::Code);
        assert_eq!(third.action.kind(), last);
    }
}

#[test]
fn a_mismatch_is_looked_at_twice_before_anybody_changes_the_tests() {
    let mut world = World::new(hooked());
    assert_eq!(world.sees(&[mismatch("a", "x")]).action, Action::Confirm);
    let flaky = world.sees(&[mismatch("a", "y")]);
    assert_eq!(flaky.action, Action::FixTests);
}

#[test]
fn fix_tests_is_asked_for_what_is_test_side_and_can_not_be_repaired() {
    let mut world = World::new(hooked());
    for fixes_left in [1, 0] {
        let decision = world.sees(&[broken("a"), crash("b")]);
        assert_eq!(decision.action, Action::FixTests);
        assert_eq!(decision.charged, [Track::TestFixes]);
        assert_eq!(left(&world).test_fixes, fixes_left);
    }
    assert_eq!(world.sees(&[broken("a")]).action, Action::Stop);
    assert_eq!(left(&world).code_refines, 2);
}

#[test]
fn weaker_asks_wait_for_stronger_ones_uncharged() {
    let mut world = World::new(hooked());
    let decision = world.sees(&[broken("a"), hiccup("b"), crash("c")]);
    assert_eq!(decision.action, Action::Retry);
    assert_eq!(decision.charged, [Track::Retries]);
}

#[test]
fn quarantine_is_the_last_resort_after_fix_tests() {
    let mut world = World::new(hooked());
    let unknown = || with(broken("a"), [quarantine()]);
    assert_eq!(world.sees(&[unknown()]).action, Action::FixTests);
    assert_eq!(world.sees(&[unknown()]).action, Action::FixTests);
    let third = world.sees(&[unknown(), crash("b")]);
    assert_eq!(third.action, Action::RepairMcpPlan(vec![quarantine()]));
    assert_eq!(third.charged, [Track::McpRepairs]);
    assert_eq!(
        third.judged[0].diagnosis.repair.as_deref(),
        Some("quarantine_step")
    );
    assert_eq!(left(&world).mcp_repairs, 2);
}

#[test]
fn quarantine_waits_while_anybody_asks_for_something_else() {
    let mut world = World::new(policy());
    let unknown = || with(broken("a"), [quarantine()]);
    let decision = world.sees(&[unknown(), with(broken("b"), [mend()])]);
    assert_eq!(decision.action, Action::RepairMcpPlan(vec![mend()]));
    assert_eq!(world.sees(&[unknown(), hiccup("b")]).action, Action::Retry);
    assert_eq!(
        world.sees(&[unknown(), mismatch("c", "x")]).action,
        Action::Confirm
    );
    assert_eq!(
        world.sees(&[unknown()]).action,
        Action::RepairMcpPlan(vec![quarantine()])
    );
}

#[test]
fn the_code_is_refined_when_nothing_test_side_is_left() {
    let mut world = World::new(hooked());
    let decision = world.sees(&[crash("a"), crash("b")]);
    assert_eq!(decision.action, Action::RefineCode);
    assert_eq!(decision.charged, [Track::CodeRefines]);
    assert_eq!(left(&world).code_refines, 1);
    assert_eq!(left(&world).test_fixes, 2);
}

#[test]
fn the_code_is_not_refined_while_anything_test_side_stands() {
    let mut policy = hooked();
    policy.budgets.test_fixes = 0;
    let standing = [
        step("b", StepState::Blocked),
        step("b", StepState::Quarantined),
        step("b", StepState::Failed),
        skipped("b", Because::Server("files".into())),
        skipped("b", Because::Setup("s".into())),
        skipped("b", Because::Plan("no".into())),
        step("b", StepState::Skipped),
    ];
    for other in standing {
        let mut world = World::new(policy.clone());
        let steps = vec![step("a", StepState::Failed), other.clone()];
        let decision = world.sees_steps(steps, &[crash("a")]);
        assert_eq!(decision.action, Action::Stop, "{other:?}");
        assert!(decision.standings.test_side && decision.standings.code);
        assert_eq!(left(&world).code_refines, 2);
    }
    let mut world = World::new(policy.clone());
    assert_eq!(world.sees(&[crash("a"), broken("b")]).action, Action::Stop);
    for because in [
        Because::NotSelected,
        Because::FailFast,
        Because::Step("a".into()),
    ] {
        let mut world = World::new(policy.clone());
        let steps = vec![step("a", StepState::Failed), skipped("b", because)];
        let decision = world.sees_steps(steps, &[crash("a")]);
        assert_eq!(decision.action, Action::RefineCode);
    }
}

#[test]
fn an_expectation_that_never_held_refines_no_code_unless_the_plan_is_trusted() {
    let mut world = World::new(hooked());
    world.sees(&[mismatch("a", "x")]);
    let decision = world.sees(&[mismatch("a", "x")]);
    assert_eq!(decision.action, Action::Stop);
    assert!(
        decision.reason.contains("no history says"),
        "{}",
        decision.reason
    );
    assert!(decision.standings.code);

    let mut world = World::new(hooked());
    world.sees(&[mismatch("a", "x"), crash("b")]);
    assert_eq!(
        world.sees(&[mismatch("a", "x"), crash("b")]).action,
        Action::Stop
    );

    let mut trusting = hooked();
    trusting.trust_plan = true;
    let mut world = World::new(trusting);
    world.sees(&[mismatch("a", "x")]);
    assert_eq!(world.sees(&[mismatch("a", "x")]).action, Action::RefineCode);

    let mut known = hooked();
    known.passed_before = a_passed_before();
    let mut world = World::new(known);
    world.sees(&[mismatch("a", "x")]);
    assert_eq!(world.sees(&[mismatch("a", "x")]).action, Action::RefineCode);
}

#[test]
fn a_closed_track_is_asked_for_no_more() {
    let mut world = World::new(hooked());
    world.state.close(Track::TestFixes);
    assert_eq!(world.sees(&[broken("a")]).action, Action::Stop);
    assert_eq!(left(&world).test_fixes, 2);
    world.state.charge(Track::TestFixes);
    assert_eq!(left(&world).test_fixes, 1);
}

#[test]
fn the_iterations_end_when_their_budget_does() {
    let mut policy = policy();
    policy.budgets.max_iterations = 2;
    policy.budgets.retries = 9;
    let mut world = World::new(policy);
    let first = world.sees(&[hiccup("a")]);
    assert_eq!(first.action, Action::Retry);
    assert_eq!(first.budgets.before.iterations, 1);
    let second = world.sees(&[hiccup("a")]);
    assert_eq!(second.action, Action::Stop);
    assert_eq!(
        second.reason,
        "the budget of 2 iterations is used up; a retry would have been next (`--max-iterations 3` \
         allows it)"
    );
    assert_eq!(second.budgets.after.iterations, 0);
    assert_eq!(second.budgets.after.retries, 8);
}

#[test]
fn nothing_is_begun_after_the_deadline() {
    let mut world = World::new(hooked());
    world.time_left = false;
    for failures in [vec![hiccup("a")], vec![broken("a")], vec![crash("a")]] {
        let decision = world.sees(&failures);
        assert_eq!(decision.action, Action::Stop);
        assert_eq!(decision.reason, "the deadline of 15 min was reached");
    }
    // What is green in the end is green.
    let mut world = World::new(policy());
    world.time_left = false;
    assert!(world.sees(&[]).standings.green);
}

#[test]
fn reasons_name_who_and_why() {
    let cases = [
        (
            vec![with(dead_server(), [mend()])],
            "server files (missing_directory) is test-side, and free_port applies",
        ),
        (
            vec![hiccup("a"), hiccup("b")],
            "step a, step b (connection_refused) may pass on a rerun",
        ),
        (
            vec![mismatch("a", "x"), mismatch("a", "x")],
            "step a (assertion_mismatch) was wrong in this way once: only the same mismatch on fresh servers is proof",
        ),
        (
            vec![broken("a")],
            "step a (missing_file) is test-side, and no repair applies",
        ),
        (
            vec![broken("a"), broken("b")],
            "step a, step b (missing_file) are test-side, and no repair applies",
        ),
    ];
    for (failures, reason) in cases {
        assert_eq!(World::new(hooked()).sees(&failures).reason, reason);
    }
    let mut world = World::new(hooked());
    assert_eq!(
        world.sees(&[crash("a")]).reason,
        "step a (crashed_during_call) is code-side, and nothing test-side is left"
    );
    let mut world = World::new(policy());
    assert_eq!(
        world.sees(&[crash("a")]).reason,
        "code-side failures are confirmed, and nothing is left to try"
    );
    assert_eq!(
        world.sees(&[crash("a"), broken("b")]).reason,
        "code-side failures are confirmed and test-side ones stand, and nothing is left to try"
    );
    assert_eq!(
        World::new(policy()).sees(&[broken("a")]).reason,
        "test-side: step a (missing_file); nothing is left to try"
    );
    assert_eq!(
        World::new(policy())
            .sees_steps(vec![step("a", StepState::Failed)], &[])
            .reason,
        "not every step ran and passed, and no failure explains it"
    );
}
