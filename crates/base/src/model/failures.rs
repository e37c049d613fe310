//! Failures by the ten thousand, each text kept once.

use super::diagnosis::{Advice, Diagnosis, Evidence, SharedAdvice, Side};
use super::fix::Fix;
use super::triage::{FailureHistory, FailureStatus, TriagedFailure};
use foldhash::quality::RandomState;
use indexmap::IndexSet;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

/// A list of [`TriagedFailure`]s that serialises as one and takes a fraction
/// of its memory: failures of one report share suites, rules, advice and
/// mostly their evidence, and each text is kept once.
#[derive(Debug, Clone, Default)]
pub struct Failures {
    texts: Set<Box<str>>,
    /// Diagnoses without evidence, fingerprints and advice.
    kinds: Set<Diagnosis>,
    fixes: Set<Box<[u32]>>,
    rows: Vec<Row>,
    pasts: Vec<FailureHistory>,
}

/// Each text of each failure is looked up, so the hash has to be a quick one.
type Set<T> = IndexSet<T, RandomState>;

/// Numbers are places in `texts`, but for `kind`, `fix` and `past`.
#[derive(Debug, Clone, Copy)]
struct Row {
    /// The case in its report.
    ordinal: u64,
    report: u32,
    suite: u32,
    classname: u32,
    name: u32,
    file: Option<u32>,
    line: Option<u64>,
    status: FailureStatus,
    pre_existing: Option<bool>,
    message: Option<u32>,
    kind: u32,
    evidence: Option<(u32, u32)>,
    fingerprint: u32,
    test_fingerprint: u32,
    what: u32,
    why: u32,
    fix: u32,
    past: Option<u32>,
}

/// One failure of [`Failures`], borrowed.
#[derive(Debug, Clone, Copy)]
pub struct FailureView<'a> {
    /// Place of the case among those of its report, from 0; what is not from a
    /// report has 0. Not among what is printed.
    pub ordinal: u64,
    pub report: &'a str,
    pub suite: &'a str,
    pub classname: &'a str,
    pub name: &'a str,
    pub file: Option<&'a str>,
    pub line: Option<u64>,
    pub status: FailureStatus,
    pub message: Option<&'a str>,
    pub pre_existing: Option<bool>,
    pub fingerprint: &'a str,
    pub test_fingerprint: &'a str,
    /// The evidence's field and text.
    pub evidence: Option<(&'a str, &'a str)>,
    pub what: &'a str,
    pub history: Option<&'a FailureHistory>,
    /// Side, category, root cause and rule; its evidence, fingerprints and
    /// advice are blank.
    pub kind: &'a Diagnosis,
}

/// Parts of advice that were asked for already.
#[derive(Debug, Default)]
pub struct KnownAdvice {
    whys: HashMap<u32, Arc<str>>,
    fixes: HashMap<u32, Arc<[Fix]>>,
}

impl KnownAdvice {
    /// Parts that are remembered; rules have fewer, and what tells values of a
    /// failure is told once.
    const MOST: usize = 1024;

    fn shared<T: ?Sized>(
        known: &mut HashMap<u32, Arc<T>>,
        place: u32,
        make: impl FnOnce() -> Arc<T>,
    ) -> Arc<T> {
        if let Some(part) = known.get(&place) {
            return Arc::clone(part);
        }
        let part = make();
        if known.len() < Self::MOST {
            known.insert(place, Arc::clone(&part));
        }
        part
    }
}

impl FailureView<'_> {
    /// The diagnosis with its evidence and fingerprints; of the advice, what
    /// happened.
    #[must_use]
    pub fn diagnosis(&self) -> Diagnosis {
        let evidence = self.evidence.map(|(field, text)| Evidence {
            field: field.to_owned(),
            text: text.to_owned(),
        });
        Diagnosis {
            fingerprint: self.fingerprint.to_owned(),
            test_fingerprint: self.test_fingerprint.to_owned(),
            evidence,
            advice: Advice {
                what: self.what.to_owned(),
                ..Advice::default()
            },
            ..self.kind.clone()
        }
    }

    /// The test as a person names it: the class before the name, unless the
    /// name says it already.
    #[must_use]
    pub fn title(&self) -> String {
        test_title(self.suite, self.classname, self.name)
    }
}

impl TriagedFailure {
    /// The test as a person names it.
    #[must_use]
    pub fn title(&self) -> String {
        test_title(&self.suite, &self.classname, &self.name)
    }
}

/// `class > name`, without a class that the name repeats; of a case without a
/// name, the suite's.
fn test_title(suite: &str, classname: &str, name: &str) -> String {
    let innermost = suite.rsplit(" > ").next().unwrap_or(suite);
    let group = if classname.is_empty() {
        innermost
    } else {
        classname
    };
    match (group.is_empty(), name.is_empty()) {
        (true, true) => "(unnamed)".to_owned(),
        (true, false) => name.to_owned(),
        (false, true) => group.to_owned(),
        // Some writers put the whole title into the name, and its end into the
        // class.
        (false, false) if name.starts_with(group) || name.ends_with(group) => name.to_owned(),
        (false, false) => format!("{group} > {name}"),
    }
}

impl Failures {
    #[must_use]
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// All of them, in order.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = FailureView<'_>> + ExactSizeIterator {
        self.rows.iter().map(|row| self.view_of(row))
    }

    /// The failure at `index`, from 0.
    #[must_use]
    pub fn get(&self, index: usize) -> Option<FailureView<'_>> {
        self.rows.get(index).map(|row| self.view_of(row))
    }

    /// The failure at `index` as a value of its own.
    #[must_use]
    pub fn to_owned(&self, index: usize) -> Option<TriagedFailure> {
        self.rows.get(index).map(|row| self.whole(row))
    }

    /// The advice for the failure at `index`, whose parts may be `known` from
    /// others of this list.
    #[must_use]
    pub fn advice(&self, index: usize, known: &mut KnownAdvice) -> Option<SharedAdvice> {
        let row = self.rows.get(index)?;
        let why = || Arc::from(self.said(row.why));
        let fix = || Arc::from(self.fix_of(row));
        Some(SharedAdvice {
            what: self.said(row.what).to_owned(),
            why: KnownAdvice::shared(&mut known.whys, row.why, why),
            fix: KnownAdvice::shared(&mut known.fixes, row.fix, fix),
        })
    }

    /// All of them as values of their own, in order.
    pub fn to_owned_iter(&self) -> impl Iterator<Item = TriagedFailure> {
        self.rows.iter().map(|row| self.whole(row))
    }

    /// Adds one at the end.
    pub fn push(&mut self, failure: TriagedFailure) {
        self.push_of_case(0, failure);
    }

    /// Adds those of another list at the end.
    pub fn append(&mut self, other: &Self) {
        for (row, failure) in other.rows.iter().zip(other.to_owned_iter()) {
            self.push_of_case(row.ordinal, failure);
        }
    }

    /// Adds one at the end, of the case with this place in its report.
    pub fn push_of_case(&mut self, ordinal: u64, failure: TriagedFailure) {
        let TriagedFailure {
            report,
            suite,
            classname,
            name,
            file,
            line,
            status,
            message,
            pre_existing,
            mut diagnosis,
            history,
        } = failure;
        // Failures of one suite stand together, and looking up what was there
        // before is dear where there are many texts.
        let before = self.rows.last().copied();
        let like = |of: fn(&Row) -> u32| before.as_ref().map(of);
        let advice = std::mem::take(&mut diagnosis.advice);
        let fix = advice.fix.iter();
        let fix: Box<[u32]> = fix.map(|fix| self.text(fix.line().into_owned())).collect();
        let fingerprint = self.text(std::mem::take(&mut diagnosis.fingerprint));
        let test_fingerprint = self.text(std::mem::take(&mut diagnosis.test_fingerprint));
        let evidence = diagnosis
            .evidence
            .take()
            .map(|evidence| (self.text(evidence.field), self.text(evidence.text)));
        let past = history.map(|past| {
            self.pasts.push(past);
            number(self.pasts.len() - 1)
        });
        let row = Row {
            ordinal,
            report: self.text_like(report, like(|row| row.report)),
            suite: self.text_like(suite, like(|row| row.suite)),
            classname: self.text_like(classname, like(|row| row.classname)),
            name: self.text(name),
            file: file.map(|file| self.text_like(file, before.and_then(|row| row.file))),
            line,
            status,
            pre_existing,
            message: message.map(|message| self.text(message)),
            kind: number(self.kinds.insert_full(diagnosis).0),
            evidence,
            fingerprint,
            test_fingerprint,
            what: self.text(advice.what),
            why: self.text(advice.why),
            fix: number(self.fixes.insert_full(fix).0),
            past,
        };
        self.rows.push(row);
    }

    /// Puts failures of one report into the order of its cases.
    pub fn sort_by_case(&mut self) {
        self.rows.sort_by_key(|row| row.ordinal);
    }

    /// Gives back the memory that was taken for more of them.
    pub fn shrink_to_fit(&mut self) {
        self.texts.shrink_to_fit();
        self.rows.shrink_to_fit();
    }

    /// Says of the failure at `index` that its test passed in the end: what
    /// was held against the code is no longer proven.
    pub fn turn_flaky(&mut self, index: usize) {
        let Some(row) = self.rows.get_mut(index) else {
            return;
        };
        row.status = FailureStatus::Flaky;
        let Some(kind) = self.kinds.get_index(row.kind as usize) else {
            return;
        };
        let mut kind = kind.clone();
        kind.flaky = true;
        kind.ambiguous |= kind.side == Side::Code;
        kind.side = Side::Test;
        row.kind = number(self.kinds.insert_full(kind).0);
    }

    /// The failure at `index` failed as a consequence of what is not the code's: what was
    /// held against the code is no longer proven, and it may pass with its cause.
    pub fn excuse(&mut self, index: usize, cause_is_retryable: bool) {
        let Some(row) = self.rows.get_mut(index) else {
            return;
        };
        let Some(kind) = self.kinds.get_index(row.kind as usize) else {
            return;
        };
        if kind.side == Side::Code {
            let mut kind = kind.clone();
            (kind.side, kind.ambiguous) = (Side::Test, true);
            kind.retryable = kind.retryable.map(|own| own || cause_is_retryable);
            row.kind = number(self.kinds.insert_full(kind).0);
        }
    }

    /// Says of the failure at `index` whether it was there before, and since
    /// when.
    pub fn set_past(
        &mut self,
        index: usize,
        pre_existing: Option<bool>,
        history: Option<FailureHistory>,
    ) {
        let Some(row) = self.rows.get_mut(index) else {
            return;
        };
        row.pre_existing = pre_existing;
        row.past = history.map(|past| {
            self.pasts.push(past);
            number(self.pasts.len() - 1)
        });
    }

    /// The place of a text that may be the one at `place`.
    fn text_like(&mut self, text: String, place: Option<u32>) -> u32 {
        match place {
            Some(place) if self.said(place) == text => place,
            Some(_) | None => self.text(text),
        }
    }

    fn text(&mut self, text: String) -> u32 {
        if let Some(place) = self.texts.get_index_of(text.as_str()) {
            return number(place);
        }
        number(self.texts.insert_full(text.into_boxed_str()).0)
    }

    fn said(&self, place: u32) -> &str {
        self.texts.get_index(place as usize).map_or("", |t| t)
    }

    fn view_of(&self, row: &Row) -> FailureView<'_> {
        FailureView {
            ordinal: row.ordinal,
            report: self.said(row.report),
            suite: self.said(row.suite),
            classname: self.said(row.classname),
            name: self.said(row.name),
            file: row.file.map(|file| self.said(file)),
            line: row.line,
            status: row.status,
            message: row.message.map(|message| self.said(message)),
            pre_existing: row.pre_existing,
            fingerprint: self.said(row.fingerprint),
            test_fingerprint: self.said(row.test_fingerprint),
            evidence: row.evidence.map(|(f, t)| (self.said(f), self.said(t))),
            what: self.said(row.what),
            history: row.past.and_then(|past| self.pasts.get(past as usize)),
            kind: self.kinds.get_index(row.kind as usize).unwrap_or(&BLANK),
        }
    }

    fn fix_of(&self, row: &Row) -> Vec<Fix> {
        let fix = self.fixes.get_index(row.fix as usize);
        fix.into_iter()
            .flatten()
            .map(|line| Fix::from(self.said(*line)))
            .collect()
    }

    fn whole(&self, row: &Row) -> TriagedFailure {
        let view = self.view_of(row);
        let mut diagnosis = view.diagnosis();
        self.said(row.why).clone_into(&mut diagnosis.advice.why);
        diagnosis.advice.fix = self.fix_of(row);
        TriagedFailure {
            report: view.report.to_owned(),
            suite: view.suite.to_owned(),
            classname: view.classname.to_owned(),
            name: view.name.to_owned(),
            file: view.file.map(str::to_owned),
            line: view.line,
            status: view.status,
            message: view.message.map(str::to_owned),
            pre_existing: view.pre_existing,
            diagnosis,
            history: view.history.cloned(),
        }
    }
}

/// What stands for a place that is none; `push` makes no such place.
static BLANK: Diagnosis = Diagnosis::BLANK;

/// No list comes near 2³² entries: each is more than a byte of a report whose
/// failures are kept in memory.
fn number(place: usize) -> u32 {
    u32::try_from(place).unwrap_or(u32::MAX)
}

impl PartialEq for Failures {
    fn eq(&self, other: &Self) -> bool {
        self.len() == other.len() && self.to_owned_iter().eq(other.to_owned_iter())
    }
}

/// It is written as the list that it stands for.
impl JsonSchema for Failures {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Failures".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        Vec::<TriagedFailure>::json_schema(generator)
    }
}

impl Serialize for Failures {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.to_owned_iter())
    }
}

impl<'de> Deserialize<'de> for Failures {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut failures = Self::default();
        for failure in Vec::deserialize(deserializer)? {
            failures.push(failure);
        }
        Ok(failures)
    }
}
