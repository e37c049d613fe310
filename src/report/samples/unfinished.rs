//! Runs that did not come to their end.

use super::{action, held, iteration, repaired, run, server, step};
use jelly_base::model::{ActionKind, Because, RunReport, ServerState, StepState, Verdict};

pub(in crate::report) fn interrupted() -> RunReport {
    run(
        Verdict::Interrupted,
        130,
        vec![iteration(
            1,
            vec![server("files", ServerState::Ready)],
            vec![
                step("files", "write", StepState::Passed),
                held(
                    step("files", "read", StepState::Skipped),
                    Because::Interrupted,
                ),
            ],
            Vec::new(),
            action(ActionKind::Stop, "SIGINT arrived"),
        )],
    )
}

pub(in crate::report) fn in_progress() -> RunReport {
    let mut report = repaired();
    report.iterations.truncate(1);
    report.verdict = Verdict::NeedsUserHelp;
    report.exit_code = 3;
    report.in_progress = true;
    report
}
