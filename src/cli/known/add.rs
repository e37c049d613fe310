//! `jelly known add`: a failure that was seen becomes an entry.

use super::list::{day_of, known_file, read, reads_as_mismatch};
use crate::cli::args::KnownAddArgs;
use crate::cli::open_history;
use crate::cli::out::say;
use crate::cli::record::reported_test;
use crate::cli::refusal::Refusal;
use crate::cli::results::{RESULTS, open_results, read_bytes};
use crate::cli::settings::World;
use jelly_base::model::{Diagnosis, ExitCode, KnownEntry, TriageReport};
use jelly_base::text::{one_line, plural, sanitize, shell_flag, shell_word};
use jelly_plan::{PlanSource, yaml_flow};
use jelly_triage::history::PastScope;
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::path::Path;
use tempfile::NamedTempFile;

/// Other failures that are told; the rest is counted.
const OTHERS: usize = 10;
/// How much of what went wrong is told, in bytes.
const MESSAGE: usize = 300;

/// A failure as a report or the history tells it.
#[derive(Debug, Clone)]
struct SeenFailure {
    test: String,
    fingerprint: String,
    /// Not known where the history alone remembers it.
    test_fingerprint: Option<String>,
    /// What went wrong; empty likewise.
    message: String,
    is_mismatch: bool,
    /// The list covered it when the report was made.
    is_known: bool,
}

impl SeenFailure {
    fn new(test: String, diagnosis: &Diagnosis, message: &str, is_known: bool) -> Self {
        Self {
            test,
            fingerprint: diagnosis.fingerprint.clone(),
            test_fingerprint: Some(diagnosis.test_fingerprint.clone()),
            message: one_line(message, MESSAGE),
            is_mismatch: reads_as_mismatch(diagnosis),
            is_known,
        }
    }

    fn is_covered(&self, entries: &[KnownEntry], today: &str) -> bool {
        let diagnosis = Diagnosis {
            fingerprint: self.fingerprint.clone(),
            test_fingerprint: self.test_fingerprint.clone().unwrap_or_default(),
            ..Diagnosis::BLANK
        };
        let covers =
            |entry: &KnownEntry| entry.covers(&self.test, self.is_mismatch, &diagnosis, today);
        entries.iter().any(covers)
    }
}

/// Writes the entries.
///
/// # Errors
/// This is a CI, nothing that is known has the fingerprint, or the list can't
/// be written.
pub fn add(args: &KnownAddArgs, world: &World) -> Result<ExitCode, Refusal> {
    if world.in_ci() {
        return Err(Refusal::with_help(
            "this is a CI: what is accepted is not for a pipeline to decide",
            "run it where a person reviews the list, and commit the list",
        ));
    }
    let now = jiff::Timestamp::now().to_string();
    if let Some(last) = args.expires.as_deref().filter(|last| *last < day_of(&now)) {
        return Err(Refusal::with_help(
            format!("--expires {last}: that day is over, so that the entry would cover nothing"),
            "name a day to come",
        ));
    }
    let seen = seen(args, world)?;
    let entries = entries(args, &seen)?;
    let path = known_file(&args.file, world);
    let (before, old) = match path.symlink_metadata() {
        Ok(_) => {
            let source = PlanSource::read(&path).map_err(|error| {
                Refusal::invalid(format!("error: the list of known failures: {error}"))
            })?;
            let text = source.text.to_string();
            (text, read(source, world)?.entries.to_vec())
        }
        Err(_) => (String::new(), Vec::new()),
    };
    let same = |one: &KnownEntry, other: &KnownEntry| {
        (&one.test, &one.test_fingerprint, &one.fingerprint)
            == (&other.test, &other.test_fingerprint, &other.fingerprint)
    };
    if let Some(there) = old
        .iter()
        .find(|there| entries.iter().any(|entry| same(entry, there)))
    {
        return Err(Refusal::invalid(format!(
            "error: {}: the list has this entry already",
            sanitize(&there.at)
        )));
    }
    let added: String = entries.iter().map(written).collect();
    // What was typed is told as what it is.
    let alone = with_entries("", &added);
    read(
        PlanSource {
            path: path.clone(),
            text: alone.as_str().into(),
            variant: None,
        },
        world,
    )?;
    let text = with_entries(&before, &added);
    let by_hand = || {
        Refusal::with_help(
            format!(
                "the list {} is written in a way that jelly can't add to",
                path.display()
            ),
            format!("add this under `known`:\n{added}"),
        )
    };
    let source = PlanSource {
        path: path.clone(),
        text: text.as_str().into(),
        variant: None,
    };
    // What a person wrote stays as it is, or nothing is written.
    let read_back = read(source, world).map_err(|_| by_hand())?;
    let whole = read_back.entries.len() == old.len() + entries.len();
    let kept = read_back.entries.iter().zip(&old).all(|(a, b)| same(a, b));
    if !whole || !kept {
        return Err(by_hand());
    }
    replace(&path, &text).map_err(|error| {
        Refusal::needs_help(format!(
            "error: failed to write {}: {error}",
            path.display()
        ))
    })?;
    let mut told = format!(
        "{}: {} added\n{added}",
        path.display(),
        plural(entries.len() as u64, "entry")
    );
    let list = (&*entries, &*read_back.entries);
    told.push_str(&uncovered(args, &seen, list, day_of(&now)));
    say(sanitize(&told).as_bytes(), ExitCode::Passed)
}

/// What the tests that now have an entry failed of besides, which nothing in the list
/// covers: such a test is not known yet.
fn uncovered(
    args: &KnownAddArgs,
    seen: &[SeenFailure],
    (added, all): (&[KnownEntry], &[KnownEntry]),
    today: &str,
) -> String {
    let new = seen.iter().filter(|one| one.is_covered(added, today));
    let tests: BTreeSet<&str> = new.map(|one| one.test.as_str()).collect();
    let mut told = BTreeSet::new();
    let others: Vec<&SeenFailure> = seen
        .iter()
        .filter(|one| tests.contains(one.test.as_str()))
        .filter(|one| !one.is_known && !one.is_covered(all, today))
        .filter(|one| told.insert((&one.test, &one.fingerprint, &one.test_fingerprint)))
        .collect();
    let mut text = String::new();
    for other in others.iter().take(OTHERS) {
        text.push_str(&format!(
            "note: {} has another failure, which the list does not cover: {}\n",
            other.test, other.message
        ));
        let print = other.test_fingerprint.as_ref();
        let again = again(args, print.unwrap_or(&other.fingerprint));
        text.push_str(&format!("  to add it too: {again}\n"));
    }
    if others.len() > OTHERS {
        let more = plural(others.len() - OTHERS, "more failure");
        text.push_str(&format!("note: the list does not cover {more} either\n"));
    }
    text
}

/// The same call for another failure of the same tests.
fn again(args: &KnownAddArgs, print: &str) -> String {
    let KnownAddArgs {
        fingerprint: _,
        reason,
        // What one cause is in every test, another need not be.
        any_test: _,
        owner,
        expires,
        file,
        reports,
        of_runs,
        history,
    } = args;
    let shown = |path: &Path| path.display().to_string();
    let mut words = vec!["jelly known add".to_owned(), shell_word(print)];
    words.push(shell_flag("--reason", reason));
    words.extend(owner.iter().map(|name| shell_flag("--owner", name)));
    words.extend(expires.iter().map(|day| shell_flag("--expires", day)));
    let known = file.known.iter();
    words.extend(known.map(|file| shell_flag("--known", &shown(file))));
    words.extend(reports.iter().map(|one| shell_flag("--in", &shown(one))));
    let folder = of_runs.unusual();
    words.extend(folder.iter().map(|dir| shell_flag("--reports-dir", dir)));
    let store = history.history.iter();
    words.extend(store.map(|store| shell_flag("--history", &shown(store))));
    words.extend(history.no_history.then(|| "--no-history".to_owned()));
    words.join(" ")
}

/// What to write for the fingerprint that was asked for.
fn entries(args: &KnownAddArgs, seen: &[SeenFailure]) -> Result<Vec<KnownEntry>, Refusal> {
    let asked = &args.fingerprint;
    let begins = |print: &str| {
        print.starts_with(asked.as_str())
            || print
                .split_once(':')
                .is_some_and(|(_, rest)| rest.starts_with(asked.as_str()))
    };
    let of_test = |one: &&SeenFailure| one.test_fingerprint.as_deref().is_some_and(begins);
    let mut found: Vec<&SeenFailure> = seen.iter().filter(of_test).collect();
    if found.is_empty() || args.any_test {
        found.extend(seen.iter().filter(|one| begins(&one.fingerprint)));
    }
    let causes: BTreeSet<&str> = found.iter().map(|one| one.fingerprint.as_str()).collect();
    let Some(cause) = causes.first() else {
        return Err(Refusal::with_help(
            format!("no failure with the fingerprint {asked} is known"),
            "name the report that shows it with --in, or run the plan first",
        ));
    };
    if causes.len() > 1 {
        let all: Vec<&str> = causes.iter().copied().collect();
        return Err(Refusal::invalid(format!(
            "error: several causes begin with {asked}: {}",
            all.join(", ")
        )));
    }
    let entry = KnownEntry {
        reason: args.reason.clone(),
        owner: args.owner.clone(),
        expires: args.expires.clone(),
        ..KnownEntry::default()
    };
    if args.any_test {
        return Ok(vec![KnownEntry {
            fingerprint: Some((*cause).to_owned()),
            any_test: true,
            ..entry
        }]);
    }
    let tests: BTreeSet<(&String, &String, &Option<String>)> = found
        .into_iter()
        .map(|one| (&one.test, &one.fingerprint, &one.test_fingerprint))
        .collect();
    let entries = tests.into_iter().map(|(test, cause, print)| KnownEntry {
        test: Some(test.clone()),
        test_fingerprint: print.clone(),
        fingerprint: match print {
            Some(_) => None,
            None => Some(cause.clone()),
        },
        ..entry.clone()
    });
    Ok(entries.collect())
}

/// All failures of the reports that were named, or of the last run; else those
/// that the history remembers.
fn seen(args: &KnownAddArgs, world: &World) -> Result<Vec<SeenFailure>, Refusal> {
    let mut seen = Vec::new();
    let latest = args.of_runs.latest();
    let latest = latest.join(RESULTS).is_file().then_some(latest);
    let reports = match args.reports.as_slice() {
        [] => latest.as_slice(),
        named => named,
    };
    for report in reports {
        match triaged(report) {
            Some(triage) => seen.extend(of_triage(&triage)),
            None => seen.extend(of_runs(report)?),
        }
    }
    if !seen.is_empty() || !args.reports.is_empty() {
        return Ok(seen);
    }
    if let Some(store) = args.history.known_store(world)? {
        let scope = PastScope::Fingerprints(std::slice::from_ref(&args.fingerprint));
        let past = open_history::load(&*store, &scope)?;
        for cause in past.fingerprints(&args.fingerprint) {
            let tests = past.cause(cause).map(|cause| cause.tests);
            seen.extend(tests.into_iter().flatten().map(|test| SeenFailure {
                test: test.to_string(),
                fingerprint: cause.to_owned(),
                test_fingerprint: None,
                message: String::new(),
                is_mismatch: false,
                is_known: false,
            }));
        }
    }
    Ok(seen)
}

fn of_runs(report: &Path) -> Result<Vec<SeenFailure>, Refusal> {
    let (_, runs) = open_results(report)?;
    let mut seen = Vec::new();
    for run in &runs {
        for failure in run.iterations.last().iter().flat_map(|last| &last.failures) {
            seen.push(SeenFailure::new(
                reported_test(&run.plan.name, failure).to_string(),
                &failure.diagnosis,
                &failure.message,
                failure.known.is_some(),
            ));
        }
    }
    Ok(seen)
}

/// The output of a triage, where this is one.
fn triaged(report: &Path) -> Option<TriageReport> {
    if !report.is_file() {
        return None;
    }
    let text = read_bytes(fs::File::open(report).ok()?).ok()?;
    serde_json::from_slice(&text).ok()
}

fn of_triage(report: &TriageReport) -> Vec<SeenFailure> {
    let failures = report.failures.iter();
    failures
        .map(|failure| {
            let parts = [failure.suite, failure.classname, failure.name];
            let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
            let test = parts.join(" > ");
            let message = failure.message.unwrap_or_default();
            SeenFailure::new(test, &failure.diagnosis(), message, false)
        })
        .collect()
}

/// An entry as an item of the list.
fn written(entry: &KnownEntry) -> String {
    let KnownEntry {
        at: _,
        test,
        test_fingerprint,
        fingerprint,
        any_test,
        reason,
        owner,
        expires,
        flaky: _,
    } = entry;
    let mut keys: Vec<(&str, Value)> = Vec::new();
    let mut text = |key: &'static str, value: &Option<String>| {
        keys.extend(value.iter().map(|value| (key, Value::from(value.as_str()))));
    };
    text("test", test);
    text("test_fingerprint", test_fingerprint);
    text("fingerprint", fingerprint);
    if *any_test {
        keys.push(("any_test", Value::from(true)));
    }
    keys.push(("reason", Value::from(reason.as_str())));
    keys.extend(
        owner
            .iter()
            .map(|owner| ("owner", Value::from(owner.as_str()))),
    );
    keys.extend(
        expires
            .iter()
            .map(|day| ("expires", Value::from(day.as_str()))),
    );
    let lines = keys.iter().enumerate().map(|(at, (key, value))| {
        let lead = if at == 0 { "  - " } else { "    " };
        format!("{lead}{key}: {}\n", yaml_flow(value))
    });
    lines.collect()
}

/// The text of a list with more behind its end.
fn with_entries(before: &str, added: &str) -> String {
    if before.trim().is_empty() {
        return format!(
            "# Failures that are known, and why they are accepted for now.\nversion: 1\nknown:\n{added}"
        );
    }
    // As deep as what is there.
    let items = before
        .lines()
        .skip_while(|line| line.trim_end() != "known:")
        .find(|line| line.trim_start().starts_with("- "));
    let deep = items.map_or(2, |item| item.len() - item.trim_start().len());
    let added: String = added
        .lines()
        .map(|line| format!("{:deep$}{}\n", "", line.strip_prefix("  ").unwrap_or(line)))
        .collect();
    let mut text = before.trim_end().to_owned();
    if let Some(empty) = text.strip_suffix("known: []") {
        text = format!("{empty}known:");
    } else if !text.lines().any(|line| line.trim_end() == "known:") {
        text.push_str("\nknown:");
    }
    format!("{text}\n{added}")
}

/// Replaces the file as a whole.
fn replace(path: &Path, text: &str) -> std::io::Result<()> {
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    let mut file = NamedTempFile::new_in(folder.unwrap_or(Path::new(".")))?;
    file.write_all(text.as_bytes())?;
    // As any other file that a person writes.
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = fs::metadata(path).map_or(0o644, |meta| meta.permissions().mode());
        file.as_file()
            .set_permissions(fs::Permissions::from_mode(mode))?;
    }
    file.persist(path).map_err(|error| error.error)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::with_entries;

    #[test]
    fn entries_stand_behind_what_is_there() {
        let entry = "  - test: a\n";
        let begun = with_entries("", entry);
        assert!(
            begun.ends_with("version: 1\nknown:\n  - test: a\n"),
            "{begun}"
        );
        assert_eq!(
            with_entries("version: 1\nknown: []\n", entry),
            "version: 1\nknown:\n  - test: a\n"
        );
        assert_eq!(
            with_entries("version: 1 # x\n", entry),
            "version: 1 # x\nknown:\n  - test: a\n"
        );
        assert_eq!(
            with_entries("version: 1\nknown:\n  - test: b # why\n", entry),
            "version: 1\nknown:\n  - test: b # why\n  - test: a\n"
        );
        assert_eq!(
            with_entries(
                "version: 1\nknown:\n- test: b\n  reason: x\n",
                "  - test: a\n    reason: y\n"
            ),
            "version: 1\nknown:\n- test: b\n  reason: x\n- test: a\n  reason: y\n"
        );
    }
}
