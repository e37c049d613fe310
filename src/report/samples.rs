//! Reports built by hand, one for each way a run can end: what the snapshots
//! and the properties of the writers are shown on.

mod several;

use jelly_base::model::{
    ActionKind, ActionReport, Advice, Assertion, AssertionTarget, Because, BeforeAfter,
    BudgetsReport, Diagnosis, ErrorCategory, Evidence, Exit, FailureReport, HelpProblem,
    HelpSummary, HookReport, IterationReport, Outcome, Phase, PlanReport, RepairReport, Repeated,
    RequestFacts, RunReport, SCHEMA_VERSION, ServerReport, ServerState, Side, Standing, StepReport,
    StepState, Suspect, Totals, Verdict,
};
use serde_json::json;
pub(super) use several::several_mismatches;

const BUDGETS: BudgetsReport = BudgetsReport {
    iterations: 5,
    retries: 2,
    confirms: 1,
    mcp_repairs: 3,
    test_fixes: 2,
    code_refines: 0,
};

pub(super) fn all() -> Vec<RunReport> {
    vec![
        passed(),
        repaired(),
        dead_server(),
        code_failure(),
        several_mismatches(),
        flaky(),
        crash_in_call(),
        quarantined(),
        interrupted(),
        in_progress(),
        invalid(),
    ]
}

pub(super) fn server(name: &str, state: ServerState) -> ServerReport {
    let ready = state != ServerState::Failed && state != ServerState::NotStarted;
    ServerReport {
        name: name.into(),
        state,
        era: ready.then(|| "legacy".into()),
        protocol_version: ready.then(|| "2025-06-18".into()),
        startup_ms: ready.then_some(840),
        ..ServerReport::default()
    }
}

pub(super) fn step(server: &str, id: &str, state: StepState) -> StepReport {
    let ran = matches!(state, StepState::Passed | StepState::Failed);
    StepReport {
        id: id.into(),
        name: id.into(),
        server: server.into(),
        state,
        attempts: u32::from(ran),
        duration_ms: ran.then_some(12.4),
        adapter: (state == StepState::Passed).then(|| "structured".into()),
        ..StepReport::default()
    }
}

fn held(mut step: StepReport, because: Because) -> StepReport {
    step.because = Some(because);
    step
}

/// Of the server `files`, in order.
fn steps(of_files: &[(&str, StepState)]) -> Vec<StepReport> {
    let step = |(id, state): &(&str, StepState)| step("files", id, *state);
    of_files.iter().map(step).collect()
}

/// One that was executed once, on the server `files`.
fn one(
    (verdict, exit_code): (Verdict, u8),
    server: ServerReport,
    steps: Vec<StepReport>,
    failures: Vec<FailureReport>,
    action: ActionReport,
) -> RunReport {
    let only = iteration(1, vec![server], steps, failures, action);
    run(verdict, exit_code, vec![only])
}

fn exit_code(code: i32) -> Option<Exit> {
    Some(Exit {
        code: Some(code),
        signal: None,
    })
}

pub(super) fn diagnosis(side: Side, root_cause: &str) -> Diagnosis {
    Diagnosis {
        side,
        ambiguous: false,
        error_category: Some(ErrorCategory::Infrastructure),
        root_cause: root_cause.into(),
        retryable: Some(false),
        rule: format!("process/{}", root_cause.replace('_', "-")),
        fingerprint: "f1a2b3c4d5e6".into(),
        test_fingerprint: "0a1b2c3d4e5f".into(),
        ..Diagnosis::BLANK
    }
}

pub(super) fn failure(
    server: &str,
    step: Option<&str>,
    phase: Phase,
    message: &str,
    diagnosis: Diagnosis,
) -> FailureReport {
    FailureReport {
        server: Some(server.into()),
        step: step.map(str::to_owned),
        phase,
        message: message.into(),
        argv: vec!["npx".into(), "-y".into(), "a server".into()],
        diagnosis,
        ..FailureReport::default()
    }
}

pub(super) fn action(kind: ActionKind, reason: &str) -> ActionReport {
    ActionReport {
        kind,
        reason: reason.into(),
        ..ActionReport::default()
    }
}

pub(super) fn iteration(
    index: u32,
    servers: Vec<ServerReport>,
    steps: Vec<StepReport>,
    failures: Vec<FailureReport>,
    action: ActionReport,
) -> IterationReport {
    let mut after = BUDGETS;
    after.iterations -= index;
    let mut before = after;
    before.iterations += 1;
    match action.kind {
        ActionKind::RepairMcpPlan => after.mcp_repairs -= 1,
        ActionKind::Retry => after.retries -= 1,
        ActionKind::Confirm => after.confirms -= 1,
        ActionKind::FixTests => after.test_fixes -= 1,
        ActionKind::RefineCode | ActionKind::Stop => {}
    }
    IterationReport {
        index,
        totals: Totals::of(&steps),
        servers,
        steps,
        failures,
        action,
        budgets: BeforeAfter { before, after },
        duration_ms: 1_200,
    }
}

pub(super) fn run(verdict: Verdict, exit_code: u8, iterations: Vec<IterationReport>) -> RunReport {
    RunReport {
        schema_version: SCHEMA_VERSION,
        run_id: "20261122-015825-a1b2".into(),
        plan: PlanReport {
            name: "filesystem smoke".into(),
            path: "plans/filesystem.yaml".into(),
            ..PlanReport::default()
        },
        verdict,
        exit_code,
        needs_user_help: verdict == Verdict::NeedsUserHelp,
        seed: 42,
        started_at: "2026-11-22T01:58:25Z".into(),
        duration_ms: 2_345,
        report_dir: Some("reports/20261122-015825-a1b2".into()),
        iterations,
        ..RunReport::default()
    }
}

pub(super) fn passed() -> RunReport {
    let mut all = steps(&[("write", StepState::Passed), ("read", StepState::Passed)]);
    let slow = step("files", "slow", StepState::Skipped);
    all.push(held(slow, Because::NotSelected));
    one(
        (Verdict::Passed, 0),
        server("files", ServerState::Ready),
        all,
        Vec::new(),
        action(ActionKind::Stop, "every selected step passed"),
    )
}

fn missing_directory() -> FailureReport {
    let mut diagnosis = diagnosis(Side::Test, "missing_directory");
    diagnosis.evidence = Some(Evidence {
        field: "stderr".into(),
        text: "Error: ENOENT: no such file or directory, stat '/srv/data'".into(),
    });
    diagnosis.repair = Some("filesystem_workspace".into());
    diagnosis.advice = Advice {
        what: "The server was given a directory that does not exist.".into(),
        why: "It checks its allowed directories before it answers.".into(),
        fix: vec![
            "Create the directory:".into(),
            "$ mkdir -p /srv/data".into(),
            "or name one that exists in servers.files.args.".into(),
        ],
    };
    FailureReport {
        exit: exit_code(1),
        stderr_tail: "Starting filesystem server\nError: ENOENT: no such file or directory, stat '/srv/data'\n```\n    at async Object.stat\n".into(),
        outcome: Some(Outcome::Eof),
        ..failure(
            "files",
            None,
            Phase::Handshake,
            "the server exited with code 1 before it answered",
            diagnosis,
        )
    }
}

const DIFF: &str = "--- plans/filesystem.yaml\n+++ plans/filesystem.yaml (repaired)\n@@ -3,3 +3,3 @@\n   files:\n     command: npx\n-    args: [\"-y\", \"server-filesystem\", \"/srv/data\"]\n+    args: [\"-y\", \"server-filesystem\", \"${workspace}/.mcp/filesystem\"]\n";

fn dead_iteration(index: u32, action: ActionReport) -> IterationReport {
    let mut dead = server("files", ServerState::Failed);
    dead.exit = exit_code(1);
    let blocked = |id| {
        held(
            step("files", id, StepState::Blocked),
            Because::Server("files".into()),
        )
    };
    iteration(
        index,
        vec![dead, server("memory", ServerState::Ready)],
        vec![
            blocked("write"),
            blocked("read"),
            step("memory", "remember", StepState::Passed),
        ],
        vec![missing_directory()],
        action,
    )
}

pub(super) fn repaired() -> RunReport {
    let mut repair = action(
        ActionKind::RepairMcpPlan,
        "missing_directory is test-side and a repair applies",
    );
    repair.repairs.push(RepairReport {
        id: "filesystem_workspace".into(),
        target: "servers.files".into(),
        explanation: "points the server and its steps at .mcp/filesystem".into(),
        diff: DIFF.into(),
        ..RepairReport::default()
    });
    let mut report = run(
        Verdict::PassedAfterRepair,
        0,
        vec![
            dead_iteration(1, repair),
            iteration(
                2,
                ["files", "memory"]
                    .map(|name| server(name, ServerState::Ready))
                    .into(),
                vec![
                    step("files", "write", StepState::Passed),
                    step("files", "read", StepState::Passed),
                    step("memory", "remember", StepState::Passed),
                ],
                Vec::new(),
                action(ActionKind::Stop, "every selected step passed"),
            ),
        ],
    );
    report.repair_diff = Some(DIFF.into());
    report
}

pub(super) fn dead_server() -> RunReport {
    let mut report = run(
        Verdict::NeedsUserHelp,
        3,
        vec![dead_iteration(
            1,
            action(ActionKind::Stop, "repairs are switched off"),
        )],
    );
    report.help_summary = Some(HelpSummary {
        title: "the server files could not be started".into(),
        problems: vec![HelpProblem {
            server: Some("files".into()),
            what: "The directory /srv/data does not exist, so the server files exited before it answered anything; 2 steps could not run.".into(),
            evidence: "exit code 1; stderr: Error: ENOENT: no such file or directory, stat '/srv/data'".into(),
            tried: vec!["nothing: repairs are switched off by --no-repair".into()],
            next: vec![
                "Create the directory, then run again:".into(),
                "$ mkdir -p /srv/data".into(),
                "$ jelly run plans/filesystem.yaml".into(),
            ],
            ..HelpProblem::default()
        }],
    });
    report
}

fn mismatch(actual: &str) -> FailureReport {
    let mut diagnosis = diagnosis(Side::Test, "assertion_mismatch");
    diagnosis.rule = "mcp/assertion-mismatch".into();
    diagnosis.error_category = Some(ErrorCategory::Assertion);
    diagnosis.ambiguous = true;
    diagnosis.excused = Some("unconfirmed".into());
    FailureReport {
        at: Some("plans/filesystem.yaml:21:15".into()),
        request: Some(RequestFacts {
            method: "tools/call".into(),
            params: Some(json!({"name": "read_text_file", "arguments": {"path": "a|b.txt"}})),
            ..RequestFacts::default()
        }),
        assertion: Some(Assertion {
            kind: "equals".into(),
            target: Some(AssertionTarget::Json),
            path: Some("$.content[0].text".into()),
            expected: json!("hello"),
            actual: json!(actual),
            at: Some("plans/filesystem.yaml:21:15".into()),
            ..Assertion::default()
        }),
        outcome: Some(Outcome::Result),
        ..failure(
            "files",
            Some("read"),
            Phase::Assert,
            &format!("$.content[0].text: expected \"hello\", got \"{actual}\""),
            diagnosis,
        )
    }
}

fn wrong(index: u32, failure: FailureReport, action: ActionReport) -> IterationReport {
    let mut failed = step("files", "read", StepState::Failed);
    failed.attempts = index;
    failed.error_category = Some(ErrorCategory::Assertion);
    failed.retryable = Some(false);
    iteration(
        index,
        vec![server("files", ServerState::Ready)],
        vec![step("files", "write", StepState::Passed), failed],
        vec![failure],
        action,
    )
}

pub(super) fn code_failure() -> RunReport {
    let mut confirmed = mismatch("HELLO");
    confirmed.diagnosis.side = Side::Code;
    confirmed.diagnosis.ambiguous = false;
    confirmed.diagnosis.excused = None;
    confirmed.diagnosis.standing = Some(Standing::NeverPassed);
    confirmed.diagnosis.repeated = Some(Repeated {
        first_iteration: 1,
        count: 2,
    });
    let mut report = run(
        Verdict::CodeFailure,
        1,
        vec![
            wrong(
                1,
                mismatch("HELLO"),
                action(ActionKind::Confirm, "a mismatch seen once proves nothing"),
            ),
            wrong(
                2,
                confirmed,
                action(
                    ActionKind::Stop,
                    "the same mismatch came twice, on fresh servers",
                ),
            ),
        ],
    );
    report.help_summary = Some(HelpSummary {
        title: "files/read gives another answer than the plan expects".into(),
        problems: vec![HelpProblem {
            server: Some("files".into()),
            step: Some("read".into()),
            at: Some("plans/filesystem.yaml:21:15".into()),
            root_cause: None,
            fingerprint: None,
            what: "$.content[0].text is \"HELLO\", and the plan expects \"hello\". The step never passed, so either the server is wrong, or the plan is.".into(),
            evidence: "the same answer twice, on fresh servers".into(),
            tried: vec!["confirmed in iteration 2".into()],
            next: vec![
                "If the plan is wrong, fix plans/filesystem.yaml:21:15.".into(),
                "If the server is wrong, fix it and run the step again:".into(),
                "$ jelly run plans/filesystem.yaml --only read".into(),
            ],
        }],
    });
    report
}

pub(super) fn flaky() -> RunReport {
    let mut first = mismatch("HELLO");
    first.diagnosis.flaky = true;
    let mut read = step("files", "read", StepState::Passed);
    read.attempts = 2;
    read.flaky = true;
    run(
        Verdict::PassedAfterRetry,
        0,
        vec![
            wrong(
                1,
                first,
                action(ActionKind::Confirm, "a mismatch seen once proves nothing"),
            ),
            iteration(
                2,
                vec![server("files", ServerState::Ready)],
                vec![step("files", "write", StepState::Passed), read],
                Vec::new(),
                action(ActionKind::Stop, "every selected step passed"),
            ),
        ],
    )
}

pub(super) fn crash_in_call() -> RunReport {
    let mut code = diagnosis(Side::Code, "crashed_during_call");
    code.error_category = Some(ErrorCategory::Other);
    code.suspect = Some(Suspect::Code);
    code.evidence = Some(Evidence {
        field: "stderr".into(),
        text: "thread 'main' panicked at src/tools.rs:12:5: index out of bounds".into(),
    });
    let exit = Some(Exit {
        code: None,
        signal: Some("SIGABRT".into()),
    });
    let crash = FailureReport {
        exit: exit.clone(),
        stderr_tail: "\u{1b}[31mthread 'main' panicked at src/tools.rs:12:5: index out of bounds\u{1b}[0m\nnote: run with `RUST_BACKTRACE=1` ]]> \u{0}\n".into(),
        outcome: Some(Outcome::Eof),
        ..failure(
            "files",
            Some("read"),
            Phase::Call,
            "the server was killed by SIGABRT while it worked on tools/call",
            code,
        )
    };
    let mut died = server("files", ServerState::Died);
    died.exit = exit;
    died.restarts = 1;
    died.stdout_noise = 3;
    died.stdout_noise_sample = vec!["Server listening | ready".into()];
    died.notes = vec!["restarted for the steps after read".into()];
    let mut hook = action(ActionKind::Stop, "the refine_code hook changed nothing");
    hook.hook = Some(HookReport {
        hook: "refine_code".into(),
        argv: vec!["./refine.sh".into()],
        exit: exit_code(1),
        error: Some("exit code 1".into()),
        stderr: "no idea\n".into(),
        elapsed_ms: 310,
        ..HookReport::default()
    });
    let mut all = steps(&[
        ("write", StepState::Passed),
        ("read", StepState::Failed),
        ("list", StepState::Passed),
    ]);
    all[1].error_category = Some(ErrorCategory::Other);
    one((Verdict::CodeFailure, 1), died, all, vec![crash], hook)
}

pub(super) fn quarantined() -> RunReport {
    let mut unknown = diagnosis(Side::Test, "unknown_tool");
    unknown.error_category = Some(ErrorCategory::Locator);
    let lost = failure(
        "files",
        Some("lost"),
        Phase::Config,
        "the server files offers no tool wriite_everything",
        unknown,
    );
    let nowhere = failure(
        "nope",
        Some("away"),
        Phase::Config,
        "the plan defines no server nope",
        diagnosis(Side::Test, "server_not_configured"),
    );
    let held_back = |server, id, reason: &str| {
        let step = step(server, id, StepState::Quarantined);
        held(step, Because::Plan(reason.into()))
    };
    let mut report = one(
        (Verdict::NeedsUserHelp, 3),
        server("files", ServerState::Ready),
        vec![
            step("files", "write", StepState::Passed),
            held_back("files", "lost", "no tool is called wriite_everything"),
            held_back("nope", "away", "no server is called nope"),
        ],
        vec![lost, nowhere],
        action(ActionKind::Stop, "nothing is left to try"),
    );
    report.help_summary = Some(HelpSummary {
        title: "2 steps name what does not exist".into(),
        problems: Vec::new(),
    });
    report.warnings = vec!["the recording could not be written: disk full".into()];
    report
}

pub(super) fn interrupted() -> RunReport {
    let mut all = steps(&[("write", StepState::Passed), ("read", StepState::Skipped)]);
    all[1].because = Some(Because::Interrupted);
    one(
        (Verdict::Interrupted, 130),
        server("files", ServerState::Ready),
        all,
        Vec::new(),
        action(ActionKind::Stop, "SIGINT arrived"),
    )
}

pub(super) fn in_progress() -> RunReport {
    let mut report = repaired();
    report.iterations.truncate(1);
    report.verdict = Verdict::NeedsUserHelp;
    report.exit_code = 3;
    report.in_progress = true;
    report
}

/// A plan that can't be run.
pub(super) fn invalid() -> RunReport {
    let problem = |line: u32, what: &str, next: &[&str]| {
        let at = format!("plans/filesystem.yaml:{line}:8");
        HelpProblem {
            what: what.into(),
            evidence: at.clone(),
            at: Some(at),
            next: next.iter().map(|line| (*line).to_owned()).collect(),
            ..HelpProblem::default()
        }
    };
    let mut report = run(Verdict::InvalidInput, 2, Vec::new());
    report.help_summary = Some(HelpSummary {
        title: "The plan can't be run as it is written".into(),
        problems: vec![
            problem(4, "unknown key `comand`", &["did you mean `command`?"]),
            problem(9, "`b` is the id of two steps", &[]),
        ],
    });
    report
}
