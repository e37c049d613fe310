//! What is green, and how a run ends. Nothing is green by absence.

use super::support::{
    World, broken, crash, hiccup, hooked, mismatch, policy, server, skipped, step,
};
use crate::triage_loop::{
    Action, Course, Ending, KnownFailures, Policy, Standings, Taint, conclude,
};
use jelly_base::model::{
    Because, ExitCode, IterationRecord, KnownMark, Section, ServerState, Signal, StepReport,
    StepState, Verdict,
};

fn standings_of(record: IterationRecord) -> Standings {
    World::new(policy()).sees_record(record, &[]).standings
}

fn steps(steps: Vec<StepReport>) -> IterationRecord {
    IterationRecord {
        steps,
        ..IterationRecord::default()
    }
}

#[test]
fn all_selected_steps_passed_is_green() {
    let left_out = skipped("b", Because::NotSelected);
    let record = steps(vec![step("a", StepState::Passed), left_out]);
    assert_eq!(
        standings_of(record),
        Standings {
            green: true,
            known: false,
            skipped: false,
            test_side: false,
            code: false
        }
    );
}

#[test]
fn nothing_else_is_green_even_without_a_failure() {
    let mut setup = step("a", StepState::Passed);
    setup.section = Section::Setup;
    let passed = || step("a", StepState::Passed);
    let cases = [
        steps(vec![]),
        steps(vec![setup]),
        steps(vec![skipped("a", Because::NotSelected)]),
        steps(vec![passed(), step("b", StepState::Failed)]),
        steps(vec![passed(), step("b", StepState::Blocked)]),
        steps(vec![passed(), step("b", StepState::Quarantined)]),
        steps(vec![passed(), step("b", StepState::Skipped)]),
        steps(vec![passed(), skipped("b", Because::FailFast)]),
        steps(vec![passed(), skipped("b", Because::Deadline)]),
        steps(vec![passed(), skipped("b", Because::Interrupted)]),
        steps(vec![passed(), skipped("b", Because::Step("a".into()))]),
        IterationRecord {
            deadline_reached: true,
            ..steps(vec![passed()])
        },
        IterationRecord {
            servers: vec![server("files", ServerState::Failed)],
            ..steps(vec![passed()])
        },
        IterationRecord {
            servers: vec![server("files", ServerState::Died)],
            ..steps(vec![passed()])
        },
    ];
    for record in cases {
        let standings = standings_of(record.clone());
        assert_eq!(
            standings,
            Standings {
                green: false,
                known: false,
                skipped: false,
                test_side: true,
                code: false
            },
            "{record:?}"
        );
    }
    for state in [ServerState::Ready, ServerState::NotStarted] {
        let record = IterationRecord {
            servers: vec![server("files", state)],
            ..steps(vec![passed()])
        };
        assert!(standings_of(record).green);
    }
}

#[test]
fn a_failure_is_red_though_every_step_passed() {
    // As a server's that would not stop, or a teardown's.
    let mut teardown = broken("a");
    teardown.failure.step = None;
    let decision = World::new(policy()).sees_steps(vec![step("a", StepState::Passed)], &[teardown]);
    assert!(!decision.standings.green && decision.standings.test_side);
}

#[test]
fn a_failed_step_is_explained_by_its_own_failure_or_its_servers() {
    let failed = || vec![step("a", StepState::Failed)];
    let mut of_server = crash("a");
    of_server.failure.step = None;
    let mut of_another = of_server.clone();
    of_another.failure.server = Some("other".into());
    let cases = [
        (crash("a"), false),
        (of_server, false),
        (crash("b"), true),
        (of_another, true),
    ];
    for (failure, unexplained) in cases {
        let decision = World::new(policy()).sees_steps(failed(), &[failure]);
        assert_eq!(decision.standings.test_side, unexplained);
    }
}

#[test]
fn a_lost_server_is_explained_by_a_failure_of_its_own() {
    let mut of_another = crash("a");
    of_another.failure.server = Some("other".into());
    for (failure, unexplained) in [(crash("a"), false), (of_another, true)] {
        let record = IterationRecord {
            servers: vec![server("files", ServerState::Died)],
            ..steps(vec![step("a", StepState::Failed)])
        };
        let decision = World::new(policy()).sees_record(record, &[failure]);
        assert_eq!(decision.standings.test_side, unexplained);
    }
}

#[test]
fn an_interrupted_iteration_stops_the_loop_and_is_not_green() {
    let record = IterationRecord {
        interrupted: Some(Signal::Term),
        ..steps(vec![step("a", StepState::Passed)])
    };
    let decision = World::new(policy()).sees_record(record.clone(), &[]);
    assert!(!decision.standings.green);
    assert_eq!(decision.reason, "a signal ended the run");
    let decision = World::new(policy()).sees_record(record, &[hiccup("a")]);
    assert_eq!(decision.action, Action::Stop);
    assert_eq!(decision.reason, "a signal ended the run");
}

#[test]
fn an_iteration_cut_by_the_deadline_stops_the_loop() {
    let record = IterationRecord {
        deadline_reached: true,
        ..steps(vec![step("a", StepState::Failed)])
    };
    let decision = World::new(policy()).sees_record(record.clone(), &[hiccup("a")]);
    assert_eq!(decision.action, Action::Stop);
    assert_eq!(decision.reason, "the deadline of 15 min was reached");
    let decision = World::new(policy()).sees_record(record, &[crash("a")]);
    assert!(decision.standings.test_side && decision.standings.code);
    assert_eq!(decision.reason, "the deadline of 15 min was reached");
}

/// What lacks its requirements is skipped by name, and only where nothing else
/// was to run; what `if` leaves out of everything is not.
#[test]
fn a_run_of_nothing_but_what_lacks_its_requirements_is_skipped() {
    let lacks = || skipped("a", Because::Requires("secret:X".into()));
    let left_out = || skipped("b", Because::If);
    for (record, is_skipped, green) in [
        (vec![lacks()], true, false),
        (vec![lacks(), left_out()], false, false),
        (vec![left_out()], false, false),
        (vec![lacks(), step("c", StepState::Passed)], false, true),
        (vec![left_out(), step("c", StepState::Passed)], false, true),
        (vec![lacks(), step("c", StepState::Blocked)], false, false),
    ] {
        let standings = standings_of(steps(record));
        assert_eq!((standings.skipped, standings.green), (is_skipped, green));
        assert_eq!(standings.test_side, !is_skipped && !green);
    }
    let skipped = Standings {
        skipped: true,
        ..Standings::default()
    };
    let end = conclude(skipped, &Course::default());
    assert_eq!(end, ending(Verdict::Skipped, ExitCode::Passed, false));
    let code = Standings {
        code: true,
        ..skipped
    };
    assert_eq!(
        conclude(code, &Course::default()).verdict,
        Verdict::CodeFailure
    );
}

const GREEN: Standings = Standings {
    green: true,
    known: false,
    skipped: false,
    test_side: false,
    code: false,
};
const TEST: Standings = Standings {
    green: false,
    known: false,
    skipped: false,
    test_side: true,
    code: false,
};
const CODE: Standings = Standings {
    green: false,
    known: false,
    skipped: false,
    test_side: false,
    code: true,
};
const BOTH: Standings = Standings {
    green: false,
    known: false,
    skipped: false,
    test_side: true,
    code: true,
};

fn ending(verdict: Verdict, exit_code: ExitCode, needs_user_help: bool) -> Ending {
    Ending {
        verdict,
        exit_code,
        needs_user_help,
    }
}

fn once() -> Course {
    Course {
        iterations: 1,
        ..Course::default()
    }
}

#[test]
fn a_run_ends_by_what_its_last_iteration_left() {
    let course = once();
    let help = ending(Verdict::NeedsUserHelp, ExitCode::NeedsUserHelp, true);
    assert_eq!(
        conclude(GREEN, &course),
        ending(Verdict::Passed, ExitCode::Passed, false)
    );
    assert_eq!(conclude(TEST, &course), help);
    assert_eq!(
        conclude(CODE, &course),
        ending(Verdict::CodeFailure, ExitCode::CodeFailure, false)
    );
    assert_eq!(
        conclude(BOTH, &course),
        ending(Verdict::CodeFailure, ExitCode::CodeFailure, true)
    );
}

#[test]
fn green_says_what_it_took() {
    let retried = Course {
        iterations: 2,
        ..once()
    };
    let repaired = Course {
        repaired: true,
        ..retried
    };
    assert_eq!(conclude(GREEN, &once()).verdict, Verdict::Passed);
    assert_eq!(conclude(GREEN, &retried).verdict, Verdict::PassedAfterRetry);
    assert_eq!(
        conclude(GREEN, &repaired).verdict,
        Verdict::PassedAfterRepair
    );
    for course in [once(), retried, repaired] {
        let strict = Course {
            strict: true,
            ..course
        };
        assert_eq!(conclude(GREEN, &course).exit_code, ExitCode::Passed);
        let expected = if course == once() {
            ExitCode::Passed
        } else {
            ExitCode::UnacceptedChange
        };
        assert_eq!(conclude(GREEN, &strict).exit_code, expected);
        assert!(!conclude(GREEN, &strict).needs_user_help);
        // Strictness and acceptance say nothing of a red run.
        assert_eq!(conclude(TEST, &strict).exit_code, ExitCode::NeedsUserHelp);
        assert_eq!(conclude(CODE, &strict).exit_code, ExitCode::CodeFailure);
    }
}

#[test]
fn a_change_of_the_contract_needs_consent() {
    let changed = Course {
        iterations: 2,
        repaired: true,
        contract_changed: true,
        ..Course::default()
    };
    let accepted = Course {
        accept_repairs: true,
        ..changed
    };
    let strict = Course {
        strict: true,
        ..accepted
    };
    assert_eq!(
        conclude(GREEN, &changed),
        ending(
            Verdict::PassedAfterRepair,
            ExitCode::UnacceptedChange,
            false
        )
    );
    assert_eq!(conclude(GREEN, &accepted).exit_code, ExitCode::Passed);
    assert_eq!(
        conclude(GREEN, &strict).exit_code,
        ExitCode::UnacceptedChange
    );
    assert_eq!(conclude(CODE, &changed).exit_code, ExitCode::CodeFailure);
}

#[test]
fn an_interruption_outranks_every_finding() {
    for (signal, code) in [(Signal::Int, 130), (Signal::Term, 143)] {
        let course = Course {
            interrupted: Some(signal),
            tainted: Some(Taint::PlanTampered),
            ..once()
        };
        for standings in [GREEN, TEST, CODE, BOTH] {
            let ending = conclude(standings, &course);
            assert_eq!(ending.verdict, Verdict::Interrupted);
            assert_eq!(ending.exit_code.code(), code);
            assert!(!ending.needs_user_help);
        }
    }
}

#[test]
fn a_tampered_plan_voids_every_finding() {
    let course = Course {
        tainted: Some(Taint::PlanTampered),
        ..once()
    };
    for standings in [GREEN, TEST, CODE, BOTH] {
        assert_eq!(
            conclude(standings, &course),
            ending(Verdict::NeedsUserHelp, ExitCode::NeedsUserHelp, true)
        );
    }
}

#[test]
fn an_unwritable_report_is_never_green_and_acquits_nobody() {
    let course = Course {
        tainted: Some(Taint::ReportUnwritable),
        ..once()
    };
    for standings in [GREEN, TEST] {
        assert_eq!(
            conclude(standings, &course),
            ending(Verdict::NeedsUserHelp, ExitCode::NeedsUserHelp, true)
        );
    }
    assert_eq!(
        conclude(CODE, &course),
        ending(Verdict::CodeFailure, ExitCode::CodeFailure, true)
    );
}

/// Step a is known to be wrong.
fn knows_a() -> Policy {
    Policy {
        known: KnownFailures::new(|failure, _| {
            let is_a = failure.step.as_deref() == Some("a");
            is_a.then(KnownMark::default)
        }),
        ..hooked()
    }
}

#[test]
fn a_known_failure_asks_for_nothing_and_is_held_against_nobody() {
    for known in [crash("a"), mismatch("a", "1"), hiccup("a")] {
        let decision = World::new(knows_a()).sees(std::slice::from_ref(&known));
        assert_eq!(decision.action, Action::Stop, "{known:?}");
        let standings = decision.standings;
        let wanted = Standings {
            known: true,
            ..Standings::default()
        };
        assert_eq!(standings, wanted, "{known:?}");
        let strict = Course {
            strict: true,
            ..once()
        };
        for (course, code) in [
            (once(), ExitCode::Passed),
            (strict, ExitCode::UnacceptedChange),
        ] {
            let ending = conclude(standings, &course);
            assert_eq!(ending.verdict, Verdict::PassedWithKnown);
            assert_eq!(ending.exit_code, code);
        }
    }
}

#[test]
fn what_stands_beside_a_known_failure_decides() {
    let both = [crash("a"), mismatch("b", "1")];
    let decision = World::new(knows_a()).sees(&both);
    assert_eq!(decision.action, Action::Confirm);
    assert!(!decision.standings.known && !decision.standings.code);
    let both = [mismatch("a", "1"), crash("b")];
    let standings = World::new(knows_a()).sees(&both).standings;
    assert!(standings.code && !standings.known);
    // What could not run is not known.
    for state in [
        StepState::Blocked,
        StepState::Quarantined,
        StepState::Skipped,
    ] {
        let steps = vec![step("a", StepState::Failed), step("b", state)];
        let standings = World::new(knows_a())
            .sees_steps(steps, &[crash("a")])
            .standings;
        assert!(!standings.known && !standings.green, "{state:?}");
    }
}
