//! A budget that is spent is the reason, with what would have been next and
//! the flag that allows it.

use super::runs::{PLAN, failure, play, wrong};
use super::stage::{ScriptedHooks, Stage};
use super::support::{World, broken, crash, hiccup, hooked, mismatch, policy, repair, with};
use crate::repair::RepairId;
use crate::triage_loop::{Action, CallFlag, LoopLimit, Means, Outcome, Policy};
use jelly_base::model::{Budgets, Failure, Phase, Track};

fn with_budgets(change: impl Fn(&mut Budgets)) -> Policy {
    let mut policy = hooked();
    change(&mut policy.budgets);
    policy
}

#[test]
fn each_budget_that_is_spent_is_named_with_what_would_have_been_next() {
    let none = |track: &str| format!("the budget of {track} is 0");
    let cases = [
        (
            with_budgets(|b| (b.retries, b.test_fixes) = (0, 0)),
            hiccup("a"),
            "a retry would have been next",
            none("retries"),
            "`--retries 1` allows it",
        ),
        (
            with_budgets(|b| (b.confirms, b.test_fixes) = (0, 0)),
            mismatch("a", "1"),
            "a second look would have been next",
            none("second looks"),
            "`--confirms 1` allows it",
        ),
        (
            with_budgets(|b| (b.mcp_repairs, b.test_fixes) = (0, 0)),
            with(broken("a"), [repair(RepairId::FreePort, "servers.files")]),
            "a repair would have been next",
            none("repairs"),
            "`--mcp-repairs 1` allows it",
        ),
        (
            with_budgets(|b| b.test_fixes = 0),
            broken("a"),
            "the hook fix_tests would have been next",
            none("runs of fix_tests"),
            "`--test-fixes 1` allows it",
        ),
        (
            with_budgets(|b| b.code_refines = 0),
            crash("a"),
            "the hook refine_code would have been next",
            none("runs of refine_code"),
            "`--code-refines 1` allows it",
        ),
    ];
    for (policy, seen, next, budget, flag) in cases {
        let decision = World::new(policy).sees(&[seen]);
        assert_eq!(decision.action, Action::Stop);
        for part in [next, &budget, flag] {
            assert!(
                decision.reason.contains(part),
                "{part}: {}",
                decision.reason
            );
        }
        assert!(decision.loop_limits[0].is_some());
    }
}

#[test]
fn a_budget_that_was_spent_is_told_by_its_size() {
    let mut world = World::new(with_budgets(|b| b.test_fixes = 0));
    for _ in 0..2 {
        assert_eq!(world.sees(&[hiccup("a")]).action, Action::Retry);
    }
    let decision = world.sees(&[hiccup("a")]);
    assert_eq!(
        decision.reason,
        "test-side: step a (connection_refused); the budget of 2 retries is used up, and a retry \
         would have been next (`--retries 3` allows it)"
    );
}

#[test]
fn what_was_switched_off_is_named_and_not_the_budget_behind_it() {
    let off = |means: Means, change: fn(&mut Budgets)| {
        let mut policy = policy();
        policy.means = means;
        change(&mut policy.budgets);
        policy
    };
    let no_repair = Means {
        no_repair: true,
        mcp_repairs: 3,
        ..Means::default()
    };
    let seen = with(broken("a"), [repair(RepairId::FreePort, "servers.files")]);
    let decision = World::new(off(no_repair, |b| b.mcp_repairs = 0)).sees(&[seen]);
    assert!(
        decision.reason.contains("leave `--no-repair` out"),
        "{}",
        decision.reason
    );
    assert!(
        !decision.reason.contains("--mcp-repairs"),
        "{}",
        decision.reason
    );
    for (confirms, also) in [(1, false), (0, true)] {
        let no_confirm = Means {
            no_confirm: true,
            confirms,
            ..Means::default()
        };
        let policy = off(no_confirm, |b| b.confirms = 0);
        let decision = World::new(policy).sees(&[mismatch("a", "1")]);
        let reason = &decision.reason;
        assert!(reason.contains("leave `--no-confirm` out"), "{reason}");
        assert_eq!(reason.contains("--confirms 1"), also, "{reason}");
    }
}

#[test]
fn where_no_budget_would_help_nothing_is_left_to_try() {
    let mut closed = World::new(hooked());
    closed.state.close(Track::TestFixes);
    for (mut world, seen) in [
        (World::new(policy()), broken("a")),
        (World::new(policy()), crash("a")),
        // A hook that said that nothing changed is not asked again.
        (closed, broken("a")),
    ] {
        let decision = world.sees(&[seen]);
        assert!(
            decision.reason.ends_with("nothing is left to try"),
            "{}",
            decision.reason
        );
        assert_eq!(decision.loop_limits, [None]);
    }
}

#[test]
fn code_is_not_said_to_be_refined_next_while_something_test_side_stands() {
    let policy = with_budgets(|b| (b.code_refines, b.test_fixes) = (0, 0));
    let decision = World::new(policy).sees(&[crash("a"), broken("b")]);
    assert!(decision.reason.contains("fix_tests"), "{}", decision.reason);
    assert!(
        !decision.reason.contains("refine_code"),
        "{}",
        decision.reason
    );
    assert_eq!(decision.loop_limits[0], None);
}

fn help_of(budgets: Budgets, flags: &[&str], failures: Vec<Failure>) -> (Outcome, String) {
    let dir = tempfile::tempdir().unwrap();
    let mut stage = Stage::new(dir.path(), PLAN);
    stage.settings.budgets = budgets;
    stage.settings.call_flags.kept = flags.iter().map(|flag| CallFlag::read(flag)).collect();
    let mut hooks = ScriptedHooks::new(|_, _| panic!("no hook is configured"));
    let outcome = play(&mut stage, &mut hooks, |_| failures.clone());
    let help = outcome.report.help_summary.clone().unwrap();
    let next: Vec<String> = help.problems.into_iter().flat_map(|p| p.next).collect();
    let next = next.join("\n");
    (outcome, next)
}

#[test]
fn the_help_has_the_command_with_the_flags_of_the_run() {
    let budgets = Budgets {
        retries: 1,
        ..Budgets::default()
    };
    let refused = failure("read", Phase::Call, "retry connection_refused");
    let flags = ["--retries 1", "--strict", "--var n=5"];
    let (outcome, next) = help_of(budgets, &flags, vec![refused]);
    assert_eq!(outcome.report.iterations.len(), 2);
    assert!(
        next.contains("plan.yaml --strict --var n=5 --retries 2"),
        "{next}"
    );
    assert!(next.contains("the budget of 1 retry is used up"), "{next}");
}

#[test]
fn the_help_names_iterations_where_they_are_what_is_spent() {
    let budgets = Budgets {
        max_iterations: 1,
        ..Budgets::default()
    };
    let (_, next) = help_of(budgets, &["--max-iterations 1"], vec![wrong("read", "41")]);
    assert!(
        next.contains("a second look would have been next"),
        "{next}"
    );
    assert!(next.contains("plan.yaml --max-iterations 2"), "{next}");
    assert!(!next.contains("--max-iterations 1 "), "{next}");
}

#[test]
fn a_longer_deadline_is_one_that_can_be_typed() {
    for (seconds, flag) in [
        (900, "--deadline 30m"),
        (1, "--deadline 2s"),
        (45, "--deadline 90s"),
    ] {
        let loop_limit = LoopLimit::Deadline(std::time::Duration::from_secs(seconds));
        assert_eq!(loop_limit.flag(), Some(CallFlag::read(flag)));
    }
}
