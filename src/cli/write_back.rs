//! `--write-repairs`: repairs that land in the user's own file.
//!
//! The combinations of a matrix are runs of one file. What one of them needed
//! is written when all have ended, and only where all came to the same text.

use super::call::{Call, PlanEnd};
use super::invalid::chain;
use super::run::complain;
use crate::model::{ExitCode, RepairReport, RunReport, Verdict};
use crate::plan::PlanSource;
use crate::report::{Extras, ReportDir};
use crate::text::redact::Redactor;
use crate::text::sanitize;
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
    /// Whether the run ended with another text than it began with.
    pub fn changes(&self) -> bool {
        self.repaired.text != self.original.text
    }

    /// Puts the repairs into the file, and says so in the report; the reason
    /// where the file can't take them.
    pub fn write(&self, report: &mut RunReport) -> Result<(), String> {
        let written = self.repaired.replace(&self.original);
        written.map_err(|error| error.to_string())?;
        report.repairs_written = true;
        Ok(())
    }

    /// What was asked for is left undone: that is no success.
    pub fn refused(report: &mut RunReport, why: &str) -> String {
        let warning = format!("the repairs were not written: {why}");
        report.warnings.push(warning.clone());
        report.verdict = Verdict::NeedsUserHelp;
        report.needs_user_help = true;
        report.exit_code = ExitCode::NeedsUserHelp.code();
        warning
    }

    /// Writes the reports again, as they stand now.
    pub fn report(&self, report: &RunReport) -> Result<(), String> {
        let text = self.redactor.redact(&self.repaired.text);
        let extras = Extras {
            repaired_plan: self.changes().then_some(text.as_ref()),
        };
        let written = self.report_dir.write(report, extras);
        written.map_err(|error| format!("failed to {}", chain(&error)))
    }
}

impl Call {
    /// Writes the repairs of the combinations of one matrix, when all have run.
    pub fn write_together(&self, ends: &mut [&mut PlanEnd]) {
        let mut texts = ends
            .iter()
            .filter_map(|end| Some(&end.write_back.as_ref()?.repaired.text));
        let first = texts.next();
        let alike = texts.all(|text| Some(text) == first);
        let why = (!alike).then(|| {
            let told: Vec<(&str, Vec<&RepairReport>)> = ends
                .iter()
                .filter(|end| end.write_back.is_some())
                .map(|end| (end.report.plan.name.as_str(), end.report.lasting_repairs()))
                .collect();
            conflict(&told)
        });
        for end in ends.iter_mut() {
            let Some(write_back) = end.write_back.take() else {
                continue;
            };
            if end.report.verdict != Verdict::PassedAfterRepair || !write_back.changes() {
                continue;
            }
            let written = match &why {
                Some(why) => Err(why.clone()),
                None => write_back.write(&mut end.report),
            };
            let mut said = Vec::new();
            if let Err(why) = written {
                end.code = ExitCode::NeedsUserHelp;
                let path = end.report.plan.path.clone();
                said.push(format!(
                    "{path}: {}",
                    WriteBack::refused(&mut end.report, &why)
                ));
            }
            if let Err(why) = write_back.report(&end.report) {
                end.code = ExitCode::NeedsUserHelp;
                said.push(why);
            }
            for warning in said {
                complain(&format!("warning: {}", sanitize(&warning)));
            }
        }
    }
}

/// Why nothing is written for runs of one file that were repaired differently:
/// each run by its plan's name, with its repairs.
pub fn conflict(runs: &[(&str, Vec<&RepairReport>)]) -> String {
    let told: Vec<String> = runs
        .iter()
        .map(|(name, repairs)| {
            let repairs: Vec<String> = repairs
                .iter()
                .map(|repair| format!("{} on {}", repair.id, repair.target))
                .collect();
            let repairs = if repairs.is_empty() {
                "none".to_owned()
            } else {
                repairs.join(", ")
            };
            format!("{name}: {repairs}")
        })
        .collect();
    format!(
        "its runs did not come to the same plan, so nothing is written ({})",
        told.join("; ")
    )
}
