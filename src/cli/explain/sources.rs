//! Where a fingerprint is looked for: the reports that were named, those of
//! the last `jelly run`, the history.

use super::known::Known;
use crate::cli::args::ExplainArgs;
use crate::cli::find::find;
use crate::cli::open_history;
use crate::cli::refusal::Refusal;
use crate::cli::results::read_results;
use crate::cli::rules::{Rules, find_rules};
use crate::cli::settings::{World, inherited_secrets};
use jelly_base::model::{Diagnosis, Failure, FailureReport, RunReport, Side, Template, mask_for};
use jelly_base::text::redact::Redactor;
use jelly_triage::engine::fingerprints;
use jelly_triage::history::{Past, PastCause, PastScope, TestLabel, TestName};
use jelly_triage::junit::{self, Case, CaseSink, ReaderLimits};
use jelly_triage::survey::{Input, ReportSource, open};
use std::collections::{BTreeMap, BTreeSet};
use std::io::BufRead;

/// How fingerprints begin: those of today, and those that a history may hold.
const PREFIXES: [&str; 2] = ["j2:", "j1:"];

/// All that is known, by fingerprint of the cause.
pub struct Sources {
    known: BTreeMap<String, Known>,
    /// Fingerprints of tests, each with that of its cause.
    of_tests: BTreeMap<String, String>,
    past: Past,
    looked_in: Vec<String>,
    /// The same that named the fingerprints.
    rules: Rules,
}

/// What was asked for with the versions of the algorithm that it may be of.
fn whole(asked: &str) -> Vec<String> {
    match PREFIXES.iter().any(|prefix| asked.starts_with(prefix)) {
        true => vec![asked.to_owned()],
        false => PREFIXES.map(|prefix| format!("{prefix}{asked}")).to_vec(),
    }
}

impl Sources {
    /// Reads them.
    ///
    /// # Errors
    /// A report that was named, or a history that is there, can't be read.
    pub fn open(args: &ExplainArgs, world: &World) -> Result<Self, Refusal> {
        let rules = find_rules(&args.own_rules.files, &world.cwd)
            .map_err(|error| Refusal::invalid(error.render(false)))?;
        let mut sources = Self {
            known: BTreeMap::new(),
            of_tests: BTreeMap::new(),
            past: Past::default(),
            looked_in: Vec::new(),
            rules,
        };
        let redactor = Redactor::new(inherited_secrets(&world.env));
        let named = find(&args.reports)?;
        let latest = args.of_runs.latest().join("results.json");
        let latest = latest.is_file().then(|| ReportSource {
            name: latest.display().to_string(),
            input: Input::File(latest),
        });
        for source in named.iter().chain(&latest) {
            sources.read(source, &redactor)?;
        }
        if let Some(store) = args.history.known_store(world)? {
            let asked = args.fingerprint.iter().chain(args.diff.iter().flatten());
            let asked: Vec<String> = asked.flat_map(|asked| whole(asked)).collect();
            sources.past = open_history::load(&*store, &PastScope::Fingerprints(&asked))?;
            sources.looked_in.push(store.name());
        }
        Ok(sources)
    }

    fn looked_in(&self) -> String {
        if self.looked_in.is_empty() {
            return "nothing, since there is neither a report nor a history here".to_owned();
        }
        self.looked_in.join(", ")
    }

    /// What is known of the one fingerprint that begins like this.
    ///
    /// # Errors
    /// There is none, or more than one.
    pub fn find(&self, asked: &str) -> Result<Known, Refusal> {
        let prefixes = whole(asked);
        let mut found = prefixes.iter().map(|prefix| self.beginning(prefix));
        let causes = found.find(|causes| !causes.is_empty()).unwrap_or_default();
        if causes.len() > 1 {
            let all: Vec<&str> = causes.into_iter().collect();
            return Err(Refusal::invalid(format!(
                "error: several fingerprints begin with {asked}: {}",
                all.join(", ")
            )));
        }
        let known = causes.first().and_then(|one| self.about(one));
        known.ok_or_else(|| {
            Refusal::invalid(format!(
                "error: no fingerprint {asked} is known; looked in {}\nhelp: runs keep \
                 what they show; on the command line, --in names another report, and --history \
                 a history",
                self.looked_in()
            ))
        })
    }

    /// The causes whose fingerprint, or that of one of their tests, begins so.
    fn beginning(&self, prefix: &str) -> BTreeSet<&str> {
        let of_tests = self
            .of_tests
            .iter()
            .filter(|(print, _)| print.starts_with(prefix))
            .map(|(_, cause)| cause.as_str());
        let known = self.known.keys().map(String::as_str);
        known
            .filter(|print| print.starts_with(prefix))
            .chain(of_tests)
            .chain(self.past.fingerprints(prefix))
            .collect()
    }

    fn about(&self, fingerprint: &str) -> Option<Known> {
        let past = self.past.cause(fingerprint);
        let known = self.known.get(fingerprint).cloned();
        let mut known = known.or_else(|| {
            let cause = past.as_ref()?.cause.clone();
            Some(Known::new(fingerprint.to_owned(), cause))
        })?;
        if let Some(past) = past {
            known.add_past(past, self.past.runs());
        }
        for TestLabel { test, label } in self.past.labels(fingerprint) {
            known.add_label(&test, label);
        }
        known.drop_shared_label();
        Some(known)
    }

    fn read(&mut self, source: &ReportSource, redactor: &Redactor) -> Result<(), Refusal> {
        let shown = source.name.as_str();
        let input = open(&source.input).map_err(|error| error.to_string());
        let result = input.and_then(|input| {
            if shown.ends_with(".json") {
                self.read_results(input, shown)
            } else {
                self.read_junit(input, shown, redactor)
            }
        });
        self.looked_in.push(shown.to_owned());
        result.map_err(|why| {
            Refusal::invalid(format!("error: failed to read the report {shown}: {why}"))
        })
    }

    fn read_results(&mut self, input: impl BufRead, shown: &str) -> Result<(), String> {
        let reports = read_results(input)?;
        let mut seen: Vec<ToldFailure<'_>> = reports.iter().flat_map(told_failures).collect();
        // The first says what is known of a cause.
        seen.sort_by_key(|seen| (!seen.is_latest, seen.failure.diagnosis.side != Side::Code));
        for ToldFailure { plan, failure, .. } in seen {
            let test = TestName::new(
                plan,
                failure.server.as_deref().unwrap_or_default(),
                failure.step.as_deref().unwrap_or("(start)"),
            );
            self.add(&failure.diagnosis, template_of(failure), test, shown);
        }
        Ok(())
    }

    fn read_junit(
        &mut self,
        mut input: impl BufRead,
        shown: &str,
        redactor: &Redactor,
    ) -> Result<(), String> {
        let mut sink = Sink {
            sources: self,
            redactor,
            shown,
        };
        let summary = junit::read(&mut input, shown, &ReaderLimits::default(), &mut sink);
        match summary.problem {
            Some(problem) => Err(problem),
            None => Ok(()),
        }
    }

    fn add(&mut self, diagnosis: &Diagnosis, template: Template, test: TestName, report: &str) {
        let known = self
            .known
            .entry(diagnosis.fingerprint.clone())
            .or_insert_with(|| {
                let cause = PastCause::new(diagnosis, template);
                Known::new(diagnosis.fingerprint.clone(), cause)
            });
        known.advice.get_or_insert_with(|| diagnosis.advice.clone());
        known.add_label(&test, diagnosis.into());
        known.add_test(test);
        known.add_report(report);
        self.of_tests.insert(
            diagnosis.test_fingerprint.clone(),
            diagnosis.fingerprint.clone(),
        );
    }
}

/// A failure of a run.
struct ToldFailure<'r> {
    plan: &'r str,
    failure: &'r FailureReport,
    /// No later iteration has one of its cause: what an earlier one held to be
    /// open was decided by then.
    is_latest: bool,
}

fn told_failures(report: &RunReport) -> Vec<ToldFailure<'_>> {
    let mut later: BTreeSet<&str> = BTreeSet::new();
    let mut seen = Vec::new();
    for iteration in report.iterations.iter().rev() {
        let failures = iteration.failures.iter();
        seen.extend(failures.map(|failure| ToldFailure {
            plan: &report.plan.name,
            failure,
            is_latest: !later.contains(failure.diagnosis.fingerprint.as_str()),
        }));
        let failures = iteration.failures.iter();
        later.extend(failures.map(|failure| failure.diagnosis.fingerprint.as_str()));
    }
    seen
}

/// What the fingerprint of a live failure was made of. A report does not keep
/// it, but mostly all that goes into it: where that gives the same fingerprint
/// again, nothing is missing, and elsewhere nothing is claimed.
fn template_of(failure: &FailureReport) -> Template {
    let diagnosis = &failure.diagnosis;
    let facts = Failure {
        phase: Some(failure.phase),
        server: failure.server.clone(),
        step: failure.step.clone(),
        message: Some(failure.message.clone()),
        assertion: failure.assertion.clone(),
        outcome: failure.outcome,
        exit: failure.exit.clone(),
        ..Failure::default()
    };
    let made = fingerprints(&facts, &diagnosis.root_cause, diagnosis.evidence.as_ref());
    if made.cause == diagnosis.fingerprint {
        made.template
    } else {
        Template::default()
    }
}

struct Sink<'s> {
    sources: &'s mut Sources,
    redactor: &'s Redactor,
    shown: &'s str,
}

impl CaseSink for Sink<'_> {
    fn case(&mut self, case: &Case<'_>) {
        for failure in case.failures {
            let mut failure = failure.clone();
            for text in [
                &mut failure.type_,
                &mut failure.message,
                &mut failure.text,
                &mut failure.system_out,
                &mut failure.system_err,
            ]
            .into_iter()
            .flatten()
            {
                *text = self.redactor.redact(text).into_owned();
            }
            let (mut diagnosis, mut template) = self.sources.rules.diagnose_with_template(&failure);
            diagnosis.mask_quotes();
            template.for_each_text(&mut mask_for(&diagnosis.root_cause));
            let name = |text: &str| self.redactor.redact(text).into_owned();
            let test = TestName {
                suite: name(case.suite),
                classname: name(case.classname),
                name: name(case.name),
            };
            self.sources.add(&diagnosis, template, test, self.shown);
        }
    }

    fn turned_flaky(&mut self, _ordinal: u64) {}
}
