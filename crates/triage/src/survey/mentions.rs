//! What failures mention of a cause that others may have, too: the server that was away
//! while they failed, the variable that was not set.
//!
//! The main type is [`Mentions`]: of one report, what is kept of texts that are not kept
//! themselves. Most failures say what they are about where everybody sees it, or mention
//! nothing, and nothing is kept of those.

use super::asked::is_answer;
use super::came::{came, came_lines, labelled, tells_of_error};
use super::clients::{client_called, library_asked, server_asked};
use super::elements::missing_element;
use super::error_lines::LineKind;
use super::fields::missing_field;
use super::lacks::{Subject, SubjectKind, lacking};
use super::mention_reader::{MentionReader, named_servers};
use super::names::names;
use super::nothing::of_nothing;
use super::quoted::{logged, sentences};
use super::raised::{raised_in_outputs, raised_within};
use super::shifted::{compared, is_state};
use super::signs::signs;
use super::unfinished::is_unfinished;
use super::unreached::note_service;
use super::wanted::{COMPARES, wanted_in, without_wanted};
use aho_corasick::AhoCorasick;
use foldhash::quality::RandomState;
use indexmap::IndexSet;
use jelly_base::model::{Failure, FailureView, TriagedFailure};
use jelly_base::model::{Outage, outage};
use jelly_base::text::{address, holds_whole};
use regex::Regex;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::LazyLock;

/// Subjects that are kept of one failure: one that mentions more is about none of them.
const OF_ONE: usize = 24;
/// Failures of a report of which any are kept. Others like these tell the same.
const FAILURES: usize = 100_000;
/// Suites of a report whose tests are counted.
const SUITES: usize = 20_000;
/// Subjects of a report.
const SUBJECTS: usize = 20_000;
/// Signs among them. Values are as many as failures, and must not take all room.
const SIGNS: usize = 4000;

/// What the failures of a report mention, by case and fingerprint.
#[derive(Debug, Default)]
pub struct Mentions {
    subjects: IndexSet<Subject, RandomState>,
    /// Places in `subjects`.
    lists: IndexSet<Box<[u32]>, RandomState>,
    /// Places in `lists`.
    of: HashMap<(u64, u64), u32, RandomState>,
    /// How many of the subjects were signs.
    signs: usize,
    /// How many tests a suite has, by the hash of its name.
    tests: HashMap<u64, u32, RandomState>,
    /// Those of which jelly told the cause when it ran them.
    labelled: HashSet<(u64, u64), RandomState>,
}

impl Mentions {
    /// Keeps what a failure mentions besides what is kept of it anyway.
    pub(super) fn note(
        &mut self,
        ordinal: u64,
        failure: &Failure,
        triaged: &TriagedFailure,
    ) -> bool {
        if self.of.len().max(self.labelled.len()) >= FAILURES || self.subjects.len() >= SUBJECTS {
            return false;
        }
        if failure.label.is_some() {
            let case = key(ordinal, &triaged.diagnosis.fingerprint);
            self.labelled.insert(case);
            return false;
        }
        let mut mentioned = mentioned(failure, triaged);
        if self.signs < SIGNS {
            let signs = signs(failure, triaged);
            let room = OF_ONE.saturating_sub(mentioned.len());
            self.signs += signs.len().min(room);
            mentioned.extend(signs.into_iter().take(room));
        }
        if mentioned.len() < OF_ONE {
            mentioned.extend(came(failure, triaged));
        }
        if mentioned.len() < OF_ONE {
            mentioned.extend(client_called(failure, &triaged.diagnosis.root_cause));
            mentioned.extend(library_asked(failure, &triaged.diagnosis.root_cause));
            mentioned.extend(server_asked(failure, &triaged.diagnosis.root_cause));
        }
        let room = OF_ONE.saturating_sub(mentioned.len());
        if !is_established(triaged) {
            mentioned.extend(names(failure, triaged).into_iter().take(room));
        }
        if mentioned.is_empty() || mentioned.len() > OF_ONE {
            return false;
        }
        let places: Option<Box<[u32]>> = mentioned
            .into_iter()
            .map(|subject| u32::try_from(self.subjects.insert_full(subject).0).ok())
            .collect();
        if let Some(places) = places
            && let Ok(list) = u32::try_from(self.lists.insert_full(places).0)
        {
            let case = key(ordinal, &triaged.diagnosis.fingerprint);
            self.of.entry(case).or_insert(list);
            return true;
        }
        false
    }

    /// Counts a test of the report that was run, of its class or, where it has none, its suite.
    pub(super) fn count(&mut self, suite: &str) {
        let suite = hash_of(suite);
        if self.tests.len() < SUITES || self.tests.contains_key(&suite) {
            let tests = self.tests.entry(suite).or_default();
            *tests = tests.saturating_add(1);
        }
    }

    /// How many tests a suite has; 0 where it is not known.
    pub(super) fn tests_of(&self, suite: &str) -> usize {
        let tests = self.tests.get(&hash_of(suite));
        tests.map_or(0, |tests| usize::try_from(*tests).unwrap_or(usize::MAX))
    }

    pub(super) fn is_empty(&self) -> bool {
        self.of.is_empty()
    }

    /// Whether jelly ran this, and its report tells the cause: nothing else is looked for.
    pub(super) fn is_labelled(&self, failure: &FailureView<'_>) -> bool {
        let case = || key(failure.ordinal, failure.fingerprint);
        !self.labelled.is_empty() && self.labelled.contains(&case())
    }

    /// The element or the field that a failure of the report misses.
    pub(super) fn missing(&self, failure: &FailureView<'_>) -> Option<&Subject> {
        self.of(failure)
            .find(|one| matches!(one.kind, SubjectKind::Element | SubjectKind::Field))
    }

    /// What a failure of the report mentions.
    pub(super) fn of(&self, failure: &FailureView<'_>) -> impl Iterator<Item = &Subject> {
        let list = match self.of.is_empty() {
            true => None,
            false => self.of.get(&key(failure.ordinal, failure.fingerprint)),
        };
        let places = list.and_then(|list| self.lists.get_index(*list as usize));
        let places = places.into_iter().flat_map(|places| places.iter());
        places.filter_map(move |place| self.subjects.get_index(*place as usize))
    }
}

/// A case has each fingerprint once.
fn key(ordinal: u64, fingerprint: &str) -> (u64, u64) {
    (ordinal, hash_of(fingerprint))
}

fn hash_of(text: &str) -> u64 {
    let mut hash = DefaultHasher::new();
    text.hash(&mut hash);
    hash.finish()
}

/// Root causes of failures that are mostly the symptom of something: they establish no
/// cause, whatever their words name.
const SYMPTOMS: [&str; 16] = [
    "assertion_mismatch",
    "expected_error",
    "fixture_error",
    "internal_error",
    "locator_ambiguous",
    "locator_not_found",
    "locator_stale",
    "mock_expectation",
    "rate_limited",
    "schema_mismatch",
    "snapshot_mismatch",
    "test_timeout",
    "tool_definition_changed",
    "unknown",
    "upstream_error",
    "wait_timeout",
];

/// What a failure says for itself is lacking, where that is its cause: no symptom of
/// something else, and no outage, which is about an address.
pub(super) fn established(
    root_cause: &str,
    evidence: Option<&str>,
    message: Option<&str>,
) -> BTreeSet<Subject> {
    let mut found = BTreeSet::new();
    if SYMPTOMS.contains(&root_cause) {
        return found;
    }
    for text in [evidence, message].into_iter().flatten() {
        lacking(text, &mut found);
        // A key that the product lacks need be no variable.
        if root_cause == "code_exception" && text.contains("KeyError") {
            found.retain(|one| one.kind != SubjectKind::Variable);
        }
    }
    found
}

/// Whether a failure says for itself what is its cause.
fn is_established(triaged: &TriagedFailure) -> bool {
    let diagnosis = &triaged.diagnosis;
    let evidence = diagnosis.evidence.as_ref();
    let evidence = evidence.map(|evidence| evidence.text.as_str());
    let message = triaged.message.as_deref();
    outage(&diagnosis.root_cause) == Some(Outage::Away)
        || !established(&diagnosis.root_cause, evidence, message).is_empty()
}

/// The subjects that the failure's texts name in lines that tell of an error; nothing
/// where its diagnosis has the subject already.
fn mentioned(failure: &Failure, triaged: &TriagedFailure) -> BTreeSet<Subject> {
    let root_cause = triaged.diagnosis.root_cause.as_str();
    let evidence = triaged.diagnosis.evidence.as_ref();
    let evidence = evidence.map(|evidence| evidence.text.as_str());
    let message = triaged.message.as_deref();
    let is_away = outage(root_cause) == Some(Outage::Away);
    let mut named = [evidence, message].into_iter().flatten();
    let has_address = is_away && named.any(|text| address(text).is_some());
    let lacks = established(root_cause, evidence, message);
    // Who waits for a broker in vain says that it knows none of its topics.
    let is_of_broker = is_away && lacks.iter().all(|one| one.kind == SubjectKind::Topic);
    let tells = !lacks.is_empty() && !is_of_broker;
    if has_address || tells {
        return BTreeSet::new();
    }
    let mut found: BTreeSet<Subject> = raised_within(failure, root_cause).into_iter().collect();
    if !is_away {
        found.extend(misses(failure, triaged));
        found.extend(quoted(failure, root_cause));
    }
    let outputs = [&failure.system_out, &failure.system_err];
    let outputs = outputs.into_iter().flatten();
    let stumbled = || outputs.clone().any(|output| tells_of_a_mistake(output));
    let answers = is_answer(failure, triaged);
    // What is not as it should be may wait for what an error of the same test tells.
    let waits = !answers && root_cause == "assertion_mismatch" && says_state(failure, triaged);
    let logs = is_away || (answers || waits) && !stumbled();
    if !is_away && answers {
        found.extend(logged(failure));
        found.extend(raised_in_outputs(failure));
    }
    found.extend(of_nothing(failure, root_cause));
    if root_cause == "code_exception" {
        found.extend(of_model(failure));
    }
    let reader = MentionReader {
        is_away,
        logs,
        errors_only: waits,
    };
    let text = failure.text.as_deref();
    // What else stands in the text of a wrong value is said by the way, and so is what
    // pytest captured.
    let text = text.filter(|_| logs || !COMPARES.contains(&root_cause));
    let text = text.map(|text| match text.find("- Captured ") {
        Some(at) if !logs => &text[..at],
        Some(_) | None => text,
    });
    let own = [failure.message.as_deref(), evidence, text];
    for text in own.into_iter().flatten() {
        reader.read(text, &mut found);
    }
    if COMPARES.contains(&root_cause) {
        let came = failure.text.as_deref().map(came_lines).unwrap_or_default();
        reader.read(&came, &mut found);
        let chain = failure.text.as_deref().into_iter().flat_map(causes_of);
        for cause in chain {
            reader.read(cause, &mut found);
        }
        for line in failure.text.as_deref().into_iter().flat_map(told_in_go) {
            reader.read(line, &mut found);
        }
        found.extend(servers_that_came(failure));
        let names_server = found.iter().any(|one| one.kind == SubjectKind::Server);
        let told = message.map(without_wanted);
        let told = [told.as_deref().unwrap_or_default(), &came];
        if !names_server && told.into_iter().any(is_unreached) {
            found.insert(Subject::new(SubjectKind::Unreached, ""));
        }
    }
    for text in outputs.filter(|_| logs) {
        reader.read(text, &mut found);
    }
    if COMPARES.contains(&root_cause) {
        // What is kept of a message is one line, on which nobody sees where the wanted value
        // ends, and so is the evidence.
        let whole = failure.message.as_deref().filter(|said| !said.is_empty());
        let whole = whole.or(failure.text.as_deref());
        let lines = whole.filter(|said| said.contains('\n'));
        let message = lines.or(message);
        let has_lines = message.is_some_and(|message| message.contains('\n'));
        let evidence = evidence.filter(|_| !has_lines);
        let wanted = wanted_by([message, evidence].into_iter().flatten());
        found.retain(|subject| !wanted.contains(subject));
    }
    let text = failure.text.as_deref().unwrap_or_default();
    if is_away && found.iter().all(|one| one.kind != SubjectKind::Server) {
        let asked = asked_in_frame(text).map(|asked| named_servers(&asked));
        let asked = asked.into_iter().flatten();
        found.extend(asked.map(|server| Subject::new(SubjectKind::Server, &server)));
    }
    if root_cause == "unknown" && is_unfinished(text) {
        found.insert(Subject::new(SubjectKind::Unfinished, ""));
    }
    found
}

/// The address that a frame of Python's libraries was to reach, as pytest shows its variables.
fn asked_in_frame(text: &str) -> Option<String> {
    static ADDRESS: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(r"(?m)^(?:address|addr|sa|server_address) = \('([\w.:-]+)', (\d{1,5})[,)]").ok()
    });
    if !text.contains(" = ('") {
        return None;
    }
    let found = ADDRESS.as_ref()?.captures(text)?;
    Some(format!("{}:{}", &found[1], &found[2]))
}

/// The lines in which a test in Go tells an error, besides those that compare.
fn told_in_go(text: &str) -> impl Iterator<Item = &str> {
    const COMPARES: [&str; 5] = ["want", "wanted", "expected", "got", "have"];
    // What it only logs may be what it plays, or what is got over.
    const ERRORS: [&str; 6] = [
        "unexpected err",
        "error:",
        "err:",
        "failed",
        "could not",
        "cannot",
    ];
    let lines = text.lines().filter(|line| line.contains("_test.go:"));
    let lines = lines.filter(|line| ERRORS.iter().any(|word| line.contains(word)));
    lines.filter(|line| !COMPARES.iter().any(|word| holds_whole(line, word)))
}

/// The servers that a value names which tells of an error, in place of the wanted one.
fn servers_that_came(failure: &Failure) -> Vec<Subject> {
    let texts = [&failure.message, &failure.text].into_iter().flatten();
    let value = |text: &String| labelled(text).or_else(|| Some(compared(text)?.1));
    let came = texts.filter_map(value).next();
    let came = came.filter(|came| tells_of_error(came)).unwrap_or_default();
    let servers = named_servers(&came).into_iter();
    servers
        .map(|server| Subject::new(SubjectKind::Server, &server))
        .collect()
}

/// The causes of the exception that came, as the JVM and Python tell them below it.
fn causes_of(text: &str) -> impl Iterator<Item = &str> {
    const CAUSES: usize = 16;
    let lines = text.lines().map(str::trim_start);
    let causes = lines.filter_map(|line| line.strip_prefix("Caused by: "));
    causes.take(CAUSES)
}

/// Whether a value that came is the error of a client that reached nobody, whom it does
/// not name.
fn is_unreached(came: &str) -> bool {
    static ERROR: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(
            r"<urlopen error \[Errno -?\d+\]|\[Errno 111\] Connection refused|\bconnect ECONNREFUSED\b|\bConnectionRefusedError\b|\bfetch failed\b",
        )
        .ok()
    });
    ERROR.as_ref().is_some_and(|error| error.is_match(came))
}

/// Whether a failed assertion compares states, or got nothing.
fn says_state(failure: &Failure, triaged: &TriagedFailure) -> bool {
    let message = triaged.message.as_deref().filter(|said| !said.is_empty());
    let told = [
        message.or(failure.text.as_deref()),
        failure.message.as_deref(),
    ];
    told.into_iter().flatten().any(is_state)
}

/// The column that a model has no method for, as Ruby tells it.
fn of_model(failure: &Failure) -> Option<Subject> {
    static METHOD: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(r"\bundefined method ['`](\w+)=?' for (?:an instance of |#<)[A-Z]").ok()
    });
    let texts = [&failure.message, &failure.text].into_iter().flatten();
    let mut found = texts.filter_map(|text| METHOD.as_ref()?.captures(text));
    Some(Subject::new(SubjectKind::Column, &found.next()?[1]))
}

/// The subjects that a test wants to hear of: a text that was to name one may lack it for
/// any reason.
fn wanted_by<'t>(texts: impl Iterator<Item = &'t str>) -> BTreeSet<Subject> {
    let mut found = BTreeSet::new();
    for text in texts {
        for part in wanted_in(text).find_iter(text) {
            let servers = named_servers(part.as_str()).into_iter();
            found.extend(servers.map(|server| Subject::new(SubjectKind::Server, &server)));
            note_service(LineKind::Away, part.as_str(), &mut found);
            lacking(part.as_str(), &mut found);
        }
    }
    found
}

/// Whether an output tells of a mistake in a program: who answers with an error for it
/// fails of it, whoever is away besides.
fn tells_of_a_mistake(output: &str) -> bool {
    static MISTAKES: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| {
        AhoCorasick::new([
            "AttributeError",
            "ClassCastException",
            "IndexError",
            "IndexOutOfBounds",
            "IndexOutOfRange",
            "NameError",
            "NoMethodError",
            "NullPointerException",
            "NullReferenceException",
            "RecursionError",
            "TypeError: Cannot read",
            "UnboundLocalError",
            "Undefined array key",
            "ZeroDivisionError",
            "index out of bounds",
            "is not a function",
            "panic: runtime error",
            "undefined method",
        ])
        .ok()
    });
    MISTAKES
        .as_ref()
        .is_some_and(|known| known.is_match(output))
}

/// What a failure that is no outage itself quotes of clients that reached nobody.
fn quoted(failure: &Failure, root_cause: &str) -> Vec<Subject> {
    // Whoever raises an error of its own may quote any.
    if !SYMPTOMS.contains(&root_cause) {
        return Vec::new();
    }
    let texts = [&failure.message, &failure.text].into_iter().flatten();
    texts
        .flat_map(|text| sentences(text))
        .map(|said| Subject::new(SubjectKind::Sentence, said))
        .collect()
}

/// The element or the field that a failure did not find by its name.
fn misses(failure: &Failure, triaged: &TriagedFailure) -> Option<Subject> {
    let mut texts = [&failure.text, &failure.message].into_iter().flatten();
    if let Some(element) = texts.find_map(|text| missing_element(text)) {
        return Some(Subject::new(SubjectKind::Element, &element));
    }
    let diagnosis = &triaged.diagnosis;
    let evidence = diagnosis.evidence.as_ref();
    let evidence = evidence.map(|evidence| evidence.text.as_str());
    let told = [triaged.message.as_deref(), evidence];
    let compares = diagnosis.root_cause == "assertion_mismatch";
    let compared = failure.text.as_deref().filter(|_| compares);
    let field = missing_field(told.into_iter().flatten(), compared)?;
    if field.is_own {
        return Some(Subject::new(SubjectKind::Field, &field.folded));
    }
    // A word is one field in the tests of one class.
    let suite = failure.suite.as_deref().unwrap_or_default();
    let class = failure.classname.as_deref().unwrap_or_default();
    let name = failure.name.as_ref();
    let is_of_test = name.is_some_and(|name| class.contains(name));
    let class = if is_of_test { "" } else { class };
    let is_known = !suite.is_empty() || !class.is_empty();
    let name = format!("{} in {suite} {class}", field.folded);
    is_known.then(|| Subject::new(SubjectKind::Field, &name))
}

#[cfg(test)]
mod tests {
    use super::{Mentions, SubjectKind};
    use crate::engine::Engine;
    use jelly_base::model::{Failure, Failures, TriagedFailure};

    /// What is kept of a failure with this message, text and output.
    fn kept(message: &str, text: &str, output: &str) -> Vec<(SubjectKind, String)> {
        let failure = Failure {
            dialect: Some("pytest".into()),
            element: Some("failure".into()),
            message: Some(message.into()),
            text: Some(text.into()),
            system_out: Some(output.into()),
            ..Failure::default()
        };
        let triaged = TriagedFailure {
            message: failure.message.clone(),
            diagnosis: Engine::builtin().diagnose(&failure),
            ..TriagedFailure::default()
        };
        let mut mentions = Mentions::default();
        mentions.note(7, &failure, &triaged);
        let mut failures = Failures::default();
        failures.push_of_case(7, triaged);
        let view = failures.get(0).unwrap();
        let told = mentions.of(&view);
        let signs = [
            SubjectKind::WrongValue,
            SubjectKind::Tested,
            SubjectKind::Came,
        ];
        let told = told.filter(|one| !signs.contains(&one.kind));
        told.map(|one| (one.kind, one.name.to_string())).collect()
    }

    #[test]
    fn an_answer_that_failed_mentions_who_is_away() {
        let log = "WARN pool: connect to db.acme.test:5432: Connection refused\nINFO cache.acme.test:6379 timeout is 3 s";
        let server = vec![(SubjectKind::Server, "db.acme.test:5432".to_owned())];
        assert_eq!(
            kept("assert 503 == 200", "E  assert 503 == 200", log),
            server
        );
        assert!(kept("assert 1.01 == 1.02", "E  assert 1.01 == 1.02", log).is_empty());
        let told = "assert 'db.acme.test:5432: connection refused' == 'ok'";
        assert_eq!(kept(told, told, ""), server);
    }

    #[test]
    fn a_test_in_go_mentions_who_is_away_before_its_value() {
        let text = "=== RUN   TestMove\n    plan_test.go:24: Move: unexpected error: plan 21 not saved: dial tcp db.acme.test:5499: connect: connection refused\n    plan_test.go:27: Move: week = 20, want 21\n";
        let server = vec![(SubjectKind::Server, "db.acme.test:5499".to_owned())];
        assert_eq!(kept("Failed", text, ""), server);
        let came =
            "expected: <UP> but was: <DOWN (cannot open 'health' on shelf://db.acme.test:5488)>";
        let server = vec![(SubjectKind::Server, "db.acme.test:5488".to_owned())];
        assert_eq!(kept(came, came, ""), server);
    }

    #[test]
    fn a_package_of_the_program_is_no_host() {
        for refused in [
            "java.net.ConnectException: Connection refused",
            "reactor.net.Refused: Connection refused",
            "threading.local(): Connection refused",
        ] {
            assert!(kept(refused, refused, "").is_empty(), "{refused}");
        }
        let resolved = "cannot connect to mx.acme.net[10.1.2.3] - Connection refused";
        let server = vec![(SubjectKind::Server, "mx.acme.net".to_owned())];
        assert_eq!(kept(resolved, resolved, ""), server);
        let told = "Refused: db.acme.net: Connection refused";
        let server = vec![(SubjectKind::Server, "db.acme.net".to_owned())];
        assert_eq!(kept(told, told, ""), server);
    }

    #[test]
    fn who_is_back_is_not_mentioned() {
        let log = "ERROR queue.acme.test:5672 refused\nINFO connected to queue.acme.test:5672";
        assert!(kept("assert 500 == 200", "E  assert 500 == 200", log).is_empty());
    }

    #[test]
    fn what_the_diagnosis_names_is_not_kept_again() {
        let told = "ConnectionError: db.acme.test:5432: Connection refused";
        assert!(kept(told, told, told).is_empty());
        let told = "ConfigError: MAIL_TOKEN is not set";
        assert!(kept(told, told, told).is_empty());
    }

    #[test]
    fn a_client_that_names_nobody_is_about_whom_its_output_says_it_asked() {
        let told = "ConnectionRefusedError: [Errno 111] Connection refused";
        let log = "TRACE bootstrap queue.acme.test:9092";
        let server = vec![(SubjectKind::Server, "queue.acme.test:9092".to_owned())];
        assert_eq!(kept(told, told, log), server);
    }
}
