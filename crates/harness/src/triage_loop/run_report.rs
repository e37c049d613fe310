//! The part of the driver that hands out reports, the final one included.

use super::alike::{kinds, more_alike};
use super::assemble;
use super::executor::Executor;
use super::help::{self, HelpContext};
use super::hooks::HookRunner;
use super::run::PassedOver;
use super::run::{Outcome, Pass, Run, WITH_A_SIGNAL, millis};
use super::settings::PlanTexts;
use super::standing::Standings;
use super::verdict::{Ending, Taint, conclude};
use jelly_base::model::{
    ExitCode, HelpSummary, IterationRecord, IterationReport, KnownFailure, KnownMark, PlanReport,
    RunReport, SCHEMA_VERSION, Unaccepted,
};
use jelly_base::text::plural;
use jelly_plan::{shown_diff, shown_plan};
use tokio::time::Instant;

impl<E: Executor, H: HookRunner> Run<'_, E, H> {
    pub(super) fn publish_progress(&mut self) {
        let unfinished = Standings {
            green: false,
            known: false,
            ..self.last
        };
        let ending = conclude(unfinished, &self.course);
        let help = help::unfinished(&self.iterations, &self.help_context());
        let report = RunReport {
            in_progress: true,
            ..self.report(&ending, Some(help), self.iterations.clone())
        };
        self.publish(&report);
    }

    /// Hands out what is known of an iteration that a signal ended, for whoever
    /// does not leave it the time to come to its end. Its whole record is
    /// judged anew.
    pub(super) fn publish_unfinished(&mut self, record: IterationRecord, began: Instant) {
        let before = self.state.clone();
        let mut pass = Pass {
            seen: self.look(&record),
            before: before.clone(),
            record,
        };
        self.left_out = pass.cut_to_what_was_seen();
        let (decision, _) = self.decide(&mut pass);
        let mut iteration = assemble::iteration(
            self.course.iterations,
            &pass.record,
            &decision,
            &self.plan,
            &mut self.attempts.clone(),
            millis(began.elapsed()),
        );
        assemble::keep_taken_out(&mut iteration, &self.quarantined, &self.iterations);
        let ending = conclude(decision.standings, &self.course);
        let mut iterations = self.iterations.clone();
        iterations.push(iteration);
        let report = self.report(&ending, None, iterations);
        self.publish(&report);
        self.state = before;
    }

    fn publish(&mut self, report: &RunReport) {
        let now = &self.plan.source;
        let repaired =
            (now.text != self.original.text).then(|| shown_plan(now, &self.settings.redactor));
        let texts = PlanTexts {
            repaired: repaired.as_deref(),
            kept: &self.reference_plans.kept(&self.settings.redactor),
        };
        if let Err(error) = (self.around.on_iteration)(report, texts) {
            // Of two taints the graver is kept.
            self.course.tainted = self.course.tainted.or(Some(Taint::ReportUnwritable));
            self.warn(&format!("a report could not be written: {error}"));
        }
    }

    fn help_context(&self) -> HelpContext<'_> {
        HelpContext {
            plan: &self.plan,
            course: &self.course,
            passed_over: &self.passed_over,
            proofs: self.state.proofs(),
            loop_limits: &self.loop_limits,
            reports_dir: self.settings.reports_dir.as_deref(),
            call_flags: &self.settings.call_flags,
            undo: self
                .left_by_hook
                .undo(self.settings.report_dir.as_deref(), |name| {
                    self.reference_plans.is_whole(name, &self.settings.redactor)
                }),
            redactor: &self.settings.redactor,
        }
    }

    fn report(
        &self,
        ending: &Ending,
        help_summary: Option<HelpSummary>,
        iterations: Vec<IterationReport>,
    ) -> RunReport {
        let tried = |told: &String| {
            let problems = help_summary.iter().flat_map(|help| &help.problems);
            let mut tried = problems.flat_map(|problem| &problem.tried);
            let is_end =
                |rest: &str| (1..=self.passed_over.len()).any(|count| rest == more_alike(count));
            tried.any(|tried| tried.strip_prefix(told.as_str()).is_some_and(is_end))
        };
        let mut warnings = self.around.warnings.all();
        let firsts = kinds(self.passed_over.iter(), PassedOver::is_like);
        let sentences = firsts.iter().map(|(passed, _)| passed.sentence());
        let passed_over = sentences.map(|told| self.settings.redactor.redact(&told).into_owned());
        warnings.extend(passed_over.filter(|told| !tried(told)));
        if self.left_out > 0 {
            warnings.push(format!(
                "a signal left no time for {}: their steps failed, and no cause is told",
                plural(self.left_out, "failure")
            ));
        }
        let last = iterations.last().into_iter();
        let known = last.flat_map(|last| &last.failures).filter_map(|failure| {
            let KnownMark { entry, test } = failure.known.clone()?;
            Some(KnownFailure {
                entry,
                test,
                fingerprint: failure.diagnosis.fingerprint.clone(),
                diagnosis: failure.diagnosis.clone(),
            })
        });
        let known = known.collect();
        let repair_diff = shown_diff(&self.original, &self.plan.source, &self.settings.redactor);
        RunReport {
            schema_version: SCHEMA_VERSION,
            run_id: self.settings.run_id.clone(),
            plan: PlanReport {
                name: self.plan.name.clone(),
                path: self.original.path.display().to_string(),
                sha256: Some(self.original.sha256()),
                repaired_sha256: (self.plan.source.text != self.original.text)
                    .then(|| self.plan.source.sha256()),
            },
            verdict: ending.verdict,
            exit_code: ending.exit_code.code(),
            unaccepted: (ending.exit_code == ExitCode::UnacceptedChange).then_some(
                if self.course.contract_changed && !self.course.accept_repairs {
                    Unaccepted::Contract
                } else {
                    Unaccepted::Strict
                },
            ),
            in_progress: false,
            needs_user_help: ending.needs_user_help,
            help_summary,
            seed: self.settings.seed,
            started_at: self.settings.started_at.clone(),
            duration_ms: millis(self.started.elapsed()),
            report_dir: self.settings.report_dir.clone(),
            iterations,
            repair_diff: (!repair_diff.is_empty()).then_some(repair_diff),
            repairs_written: false,
            known,
            // Judged when all plans of the call have run.
            known_stale: Vec::new(),
            coverage: None,
            warnings,
        }
    }

    /// The verdict. When the last report can't be written, that changes it, so
    /// it is reached once more.
    pub(super) fn finish(mut self) -> Outcome {
        if let Some(signal) = self.heard() {
            self.interrupt(signal);
        }
        if self.course.interrupted.is_some() {
            self.shorten();
        }
        let mut ending = conclude(self.last, &self.course);
        let mut report = self.conclusion(&ending);
        if let Some(signal) = self.heard() {
            // While it was put into words.
            self.iterations = report.iterations;
            self.interrupt(signal);
            self.shorten();
            ending = conclude(self.last, &self.course);
            report = self.conclusion(&ending);
        }
        let warned = self.around.warnings.all().len();
        self.publish(&report);
        let heard = self.heard();
        if let Some(signal) = heard {
            self.interrupt(signal);
        }
        let reconsidered = conclude(self.last, &self.course);
        if reconsidered != ending || warned != self.around.warnings.all().len() {
            ending = reconsidered;
            self.iterations = report.iterations;
            if heard.is_some() {
                self.shorten();
            }
            report = self.conclusion(&ending);
            if heard.is_some() {
                // What lies there says how the run would have ended.
                self.publish(&report);
            }
        }
        Outcome {
            report,
            original: self.original,
            final_plan: self.plan,
            ending,
            steps: self.steps,
            ran: self.ran,
            code: self.code,
        }
    }

    /// Leaves of all failures of an iteration so many that they are written in time.
    fn shorten(&mut self) {
        for iteration in &mut self.iterations {
            self.left_out += iteration.failures.len().saturating_sub(WITH_A_SIGNAL);
            iteration.failures.truncate(WITH_A_SIGNAL);
        }
    }

    /// The last report, which the iterations go into.
    fn conclusion(&mut self, ending: &Ending) -> RunReport {
        let help = (!ending.verdict.is_green() && self.course.interrupted.is_none())
            .then(|| help::summary(&self.iterations, &self.help_context()));
        let iterations = std::mem::take(&mut self.iterations);
        self.report(ending, help, iterations)
    }
}
