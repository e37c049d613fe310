//! `known-failures.yaml`, found and read.
//!
//! Main type: [`KnownList`].

use crate::cli::args::KnownFile;
use crate::cli::record::test_of;
use crate::cli::refusal::Refusal;
use crate::cli::rules::project_file;
use crate::cli::settings::{World, inherited_secrets};
use crate::report::reported_test;
use jelly_base::model::{
    Diagnosis, ErrorCategory, KnownEntry, KnownFailure, KnownMark, TriageReport,
};
use jelly_base::text::redact::Redactor;
use jelly_harness::triage_loop::KnownFailures;
use jelly_plan::{Plan, PlanSource, Step, read_known};
use jelly_triage::history::TestName;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// What it is called, beside `jelly.yaml`.
const FILE: &str = "known-failures.yaml";

/// The list of a call.
#[derive(Debug, Clone)]
pub struct KnownList {
    pub entries: Rc<[KnownEntry]>,
    /// Of the file.
    pub sha256: String,
}

/// The list that was named, or the one that lies beside `jelly.yaml`; none
/// where there is none.
///
/// # Errors
/// It was named and can't be read, or it is wrong.
pub fn open_known(args: &KnownFile, world: &World) -> Result<Option<KnownList>, Refusal> {
    let file = known_file(args, world);
    if args.known.is_none() && file.symlink_metadata().is_err() {
        return Ok(None);
    }
    let source = PlanSource::read(&file).map_err(|error| {
        Refusal::with_help(
            format!("the list of known failures: {error}"),
            "name an existing file with --known",
        )
    })?;
    read(source, world).map(Some)
}

/// Where the list is, whether or not it is there yet.
pub fn known_file(args: &KnownFile, world: &World) -> PathBuf {
    let beside = || {
        let settings = project_file(&world.cwd);
        let folder = settings.as_deref().and_then(Path::parent);
        folder.unwrap_or(Path::new("")).join(FILE)
    };
    args.known.clone().unwrap_or_else(beside)
}

/// The entries of a text.
///
/// # Errors
/// What is wrong with it, with its places.
pub(super) fn read(source: PlanSource, world: &World) -> Result<KnownList, Refusal> {
    let sha256 = source.sha256();
    let entries = read_known(source).map_err(|error| {
        let redactor = Redactor::new(inherited_secrets(&world.env));
        let text = error.hiding(redactor).render(world.colors_stderr());
        Refusal::invalid(text.trim_end().to_owned())
    })?;
    Ok(KnownList {
        entries: entries.into(),
        sha256,
    })
}

impl KnownList {
    /// What of it covers failures of a plan, which may be meant by any of these
    /// names.
    pub fn of_plan(&self, plan: Vec<String>, today: &str) -> KnownFailures {
        let (entries, today) = (self.entries.clone(), today.to_owned());
        KnownFailures::new(move |failure, diagnosis| {
            let is_mismatch = failure.is_mismatch();
            plan.iter().find_map(|plan| {
                let test = test_of(plan, failure).to_string();
                let entry = covering(&entries, &test, is_mismatch, diagnosis, &today)?;
                Some(KnownMark {
                    entry: entry.clone(),
                    test,
                })
            })
        })
    }

    /// The steps of a plan that it names, with or without their causes.
    pub fn steps_of(&self, plan: &Plan, names: &[String], today: &str) -> BTreeSet<String> {
        let valid = self.entries.iter().filter(|entry| !entry.is_expired(today));
        let tests: BTreeSet<&str> = valid.filter_map(|entry| entry.test.as_deref()).collect();
        let is_named = |step: &&Step| {
            names.iter().any(|name| {
                let test = TestName::new(name, &step.server, &step.id);
                tests.contains(test.to_string().as_str())
            })
        };
        let named = plan.all_steps().filter(is_named);
        named.map(|step| step.id.clone()).collect()
    }

    /// Which failures of reports it covers. Of a report nobody knows more than
    /// that an assertion failed.
    pub fn of_triage(&self, report: &TriageReport, today: &str) -> Vec<KnownFailure> {
        let known = report.failures.iter().filter_map(|failure| {
            let test = reported_test(&failure);
            let diagnosis = failure.diagnosis();
            let is_mismatch = reads_as_mismatch(&diagnosis);
            let entry = covering(&self.entries, &test, is_mismatch, &diagnosis, today)?;
            Some(KnownFailure {
                entry: entry.clone(),
                test,
                fingerprint: diagnosis.fingerprint.clone(),
                diagnosis,
            })
        });
        known.collect()
    }
}

/// Whether a wrong answer is what was diagnosed, where no more is known of a failure.
pub(super) fn reads_as_mismatch(diagnosis: &Diagnosis) -> bool {
    diagnosis.error_category == Some(ErrorCategory::Assertion)
        && diagnosis.root_cause != "schema_mismatch"
}

/// The first entry that covers a failure.
fn covering<'e>(
    entries: &'e [KnownEntry],
    test: &str,
    is_mismatch: bool,
    diagnosis: &Diagnosis,
    today: &str,
) -> Option<&'e KnownEntry> {
    let covers = |entry: &&KnownEntry| entry.covers(test, is_mismatch, diagnosis, today);
    entries.iter().find(|entry| covers(entry))
}

/// The day of a moment that RFC 3339 writes.
pub fn day_of(moment: &str) -> &str {
    moment.get(..10).unwrap_or(moment)
}
