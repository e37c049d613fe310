//! The sentences of `tables/subjects.yaml`, compiled: of bytes, which takes a fraction of
//! the time.

use super::lacks::SubjectKind;
use crate::engine::tables::{built, bytes_pattern, table};
use regex::bytes::{Captures, Regex, RegexSet, RegexSetBuilder};
use serde::Deserialize;
use std::collections::{BTreeMap, HashSet};
use std::sync::LazyLock;

/// The table, which says what each is.
#[derive(Deserialize)]
pub(super) struct SubjectForms {
    names: BTreeMap<String, String>,
    pub(super) lacks: BTreeMap<SubjectKind, Vec<String>>,
    pub(super) fields: Vec<String>,
    pub(super) members: MemberForms,
    key: String,
    pub(super) of_documents: HashSet<String>,
    pub(super) elements: Vec<ElementSentence>,
    pub(super) descriptions: Vec<String>,
    pub(super) first: String,
    pub(super) part: String,
    pub(super) of_pages: Vec<String>,
}

/// `members` of `tables/subjects.yaml`, which says what each is.
#[derive(Deserialize)]
pub(super) struct MemberForms {
    pub(super) words: Vec<String>,
    pub(super) forms: Vec<String>,
    pub(super) of_anything: HashSet<String>,
    pub(super) owners_of_anything: HashSet<String>,
    pub(super) of_many: HashSet<String>,
}

#[derive(Deserialize)]
pub(super) struct ElementSentence {
    /// What gives it away.
    pub(super) words: String,
    pub(super) forms: Vec<String>,
}

pub(super) static SUBJECT_FORMS: LazyLock<SubjectForms> =
    LazyLock::new(|| table(built!("subjects")));

/// How a document writes a key.
pub(super) static KEY: LazyLock<Regex> =
    LazyLock::new(|| bytes_pattern(&SUBJECT_FORMS.named(&SUBJECT_FORMS.key)));

impl SubjectForms {
    /// A pattern with what stands in it for names.
    fn named(&self, form: &str) -> String {
        let mut form = form.to_owned();
        for (name, pattern) in &self.names {
            form = form.replace(&format!("<{name}>"), pattern);
        }
        form
    }
}

/// Patterns, and a set of them that tells which a text has.
pub(super) struct Sentences<K> {
    set: RegexSet,
    forms: Vec<(K, Regex)>,
}

impl<K: Copy> Sentences<K> {
    pub(super) fn new<'f>(forms: impl IntoIterator<Item = (K, &'f String)>) -> Self {
        let forms = forms.into_iter();
        let forms: Vec<(K, String)> = forms
            .map(|(kind, form)| (kind, SUBJECT_FORMS.named(form)))
            .collect();
        let mut set = RegexSetBuilder::new(forms.iter().map(|(_, form)| form));
        #[expect(clippy::expect_used, reason = "each of them compiles alone")]
        let set = set.unicode(false).build().expect("the patterns compile");
        let compiled = |(kind, form): &(K, String)| (*kind, bytes_pattern(form));
        let forms = forms.iter().map(compiled).collect();
        Self { set, forms }
    }

    /// All that a text holds of them.
    pub(super) fn in_text<'t>(
        &'static self,
        text: &'t [u8],
    ) -> impl Iterator<Item = (K, Captures<'t>)> {
        let held = self.set.matches(text).into_iter();
        let held = held.filter_map(|at| self.forms.get(at));
        held.flat_map(move |(kind, form)| form.captures_iter(text).map(move |found| (*kind, found)))
    }
}
