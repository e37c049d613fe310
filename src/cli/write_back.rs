//! `--write-repairs`: repairs that land in the user's own file.
//!
//! The combinations of a matrix are runs of one file. What one of them needed
//! is written when all have ended, and only where all came to the same text.

use super::call::{PlanEnd, RunCall};
use super::invalid::chain;
use super::refusal::complain;
use crate::report::{Extras, ReportDir};
use jelly_base::model::{ExitCode, HelpProblem, RunCause, RunReport, Verdict};
use jelly_base::text::redact::Redactor;
use jelly_base::text::sanitize;
use jelly_plan::{PlanSource, shown_plan};
use std::rc::Rc;

/// What to do where runs of one file were repaired differently.
pub const CONFLICT_HELP: &str = "matrix.md of the report names each run's repairs: write into the \
    plan what is right for all, or make two plans of it";

/// What a run would write, and into which reports it says so.
pub struct WriteBack {
    pub original: PlanSource,
    pub repaired: PlanSource,
    pub report_dir: Rc<ReportDir>,
    pub redactor: Redactor,
}

impl WriteBack {
    /// Puts the repairs of a run that they made green into the file, where
    /// nothing `forbids` it, and says in the reports what became of them.
    /// Returns the exit code and what is to be said besides.
    pub fn settle(
        &self,
        report: &mut RunReport,
        code: ExitCode,
        forbids: Option<&str>,
    ) -> (ExitCode, Vec<String>) {
        let changes = self.changes();
        let mut code = code;
        let mut said = Vec::new();
        if !report.verdict.is_green() {
            // Of what was not repaired there is nothing to write.
            if changes {
                said.push(
                    "no repair was written: that is done only where the run is green with it; \
                     repair.patch of the report holds what was tried"
                        .to_owned(),
                );
            }
        } else if !changes || report.verdict != Verdict::PassedAfterRepair {
            return (code, said);
        } else if let Err(why) = self.write(forbids) {
            // What was asked for is left undone: that is no success.
            said.push(format!("the repairs were not written: {why}"));
            let title = format!("{} is repaired, and its file is not", report.plan.name);
            let problem = HelpProblem {
                root_cause: Some(RunCause::RepairsNotWritten),
                what: format!("The repairs were not written: {why}"),
                evidence: "repair.patch and repaired-plan.yaml of the report hold them".to_owned(),
                next: vec![
                    "make the changes in the plan yourself, or correct what kept them from being \
                     written"
                        .to_owned(),
                ],
                ..HelpProblem::default()
            };
            report.fail_closed(&title, [problem]);
            code = ExitCode::of(report.exit_code).unwrap_or(ExitCode::Internal);
        } else {
            report.repairs_written = true;
        }
        report.warnings.extend(said.iter().cloned());
        if let Err(why) = self.report(report) {
            code = ExitCode::strongest([code, ExitCode::NeedsUserHelp]);
            said.push(why);
        }
        (code, said)
    }

    /// Whether the run ended with another text than it began with.
    fn changes(&self) -> bool {
        self.repaired.text != self.original.text
    }

    fn write(&self, forbids: Option<&str>) -> Result<(), String> {
        match forbids {
            Some(why) => Err(why.to_owned()),
            None => {
                let written = self.repaired.replace(&self.original);
                written.map_err(|error| error.to_string())
            }
        }
    }

    /// Writes the reports again, as they stand now.
    pub fn report(&self, report: &RunReport) -> Result<(), String> {
        let text = self
            .changes()
            .then(|| shown_plan(&self.repaired, &self.redactor));
        let extras = Extras {
            repaired_plan: text.as_deref(),
            // They lie there already.
            plans: &[],
        };
        let written = self.report_dir.write(report, extras);
        written.map_err(|error| format!("failed to {}", chain(&error)))
    }
}

impl RunCall {
    /// Writes the repairs of the combinations of one matrix, when all have run.
    pub fn write_together(&self, ends: &mut [&mut PlanEnd]) {
        let mut texts = ends
            .iter()
            .filter_map(|end| Some(&end.write_back.as_ref()?.repaired.text));
        let first = texts.next();
        let alike = texts.all(|text| Some(text) == first);
        let why = (!alike).then(|| {
            let writing = ends.iter().filter(|end| end.write_back.is_some());
            conflict(writing.map(|end| &end.report))
        });
        for end in ends.iter_mut() {
            let Some(write_back) = end.write_back.take() else {
                continue;
            };
            let (code, said) = write_back.settle(&mut end.report, end.code, why.as_deref());
            end.code = code;
            for warning in said {
                let path = &end.report.plan.path;
                complain(&sanitize(&format!("warning: {path}: {warning}")));
            }
        }
    }
}

/// Why nothing is written for runs of one file that were repaired differently:
/// each run by its plan's name, with its repairs.
pub fn conflict<'r>(runs: impl Iterator<Item = &'r RunReport>) -> String {
    let told: Vec<String> = runs
        .map(|run| {
            let repairs = run.lasting_repairs().into_iter();
            let repairs: Vec<String> = repairs
                .map(|repair| format!("{} on {}", repair.id, repair.target))
                .collect();
            let repairs = match repairs.as_slice() {
                [] => "none".to_owned(),
                repairs => repairs.join(", "),
            };
            format!("{}: {repairs}", run.plan.name)
        })
        .collect();
    format!(
        "its runs did not come to the same plan, so nothing is written ({})",
        told.join("; ")
    )
}
