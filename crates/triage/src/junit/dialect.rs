//! Which program wrote a report.
//!
//! No writer signs its report. What gives it away is, from strong to weak: a
//! name that it always uses, a property that its runner sets, attributes that
//! nobody else writes, the order in which it writes them, words of its
//! failures. The strongest sign counts, and of two the one that comes first;
//! the files of `frameworks/` hold them.

use super::elements::Node;
use crate::frameworks::SIGNS;
use crate::frameworks::spec::{Comparison, SignFact, SignPart};

/// Suites and cases at the beginning that are looked at.
const LOOKED_AT: u32 = 64;
/// Attributes of an element that are looked at, and the longest value.
const ATTRIBUTES: usize = 32;
const VALUE: usize = 4096;

/// Collects what points at the writer.
#[derive(Debug, Default)]
pub(super) struct Dialect {
    best: Option<(&'static str, u8)>,
    suites: u32,
    cases: u32,
    /// The attributes of the current element.
    attributes: Vec<(String, String)>,
    /// Their names.
    shape: String,
}

impl Dialect {
    /// Before anything is read; the name of the file is a hint.
    pub(super) fn of_file(path: &str) -> Self {
        let mut dialect = Self::default();
        let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
        dialect.look(SignPart::File, &[("path", path), ("name", name)]);
        dialect
    }

    /// `junit` where it can't be told.
    pub(super) fn name(&self) -> &'static str {
        self.best.map_or("junit", |(name, _)| name)
    }

    fn look(&mut self, part: SignPart, facts: &[(&str, &str)]) {
        let beyond = self.best.map_or(0, |(_, strength)| strength);
        let stronger = SIGNS.iter().take_while(|sign| sign.strength > beyond);
        let mut of_part = stronger.filter(|sign| sign.part == part);
        let value = |name: &str| Some(facts.iter().rfind(|(known, _)| *known == name)?.1);
        let found = of_part.find(|sign| {
            let mut asked = sign.facts.iter();
            asked.all(|fact| value(fact.name).is_some_and(|value| fact.holds(value)))
        });
        if let Some(sign) = found {
            self.best = Some((sign.writer, sign.strength));
        }
    }

    /// The name of the tool, where a format has a place for it.
    pub(super) fn tool(&mut self, name: &str) {
        self.look(SignPart::Tool, &[("name", &name.to_ascii_lowercase())]);
    }

    /// A comment outside of all cases.
    pub(super) fn comment(&mut self, text: &str) {
        self.look(SignPart::Comment, &[("text", text)]);
    }

    /// Whether the attributes of the next suite are looked at.
    pub(super) fn looks_at_suites(&mut self) -> bool {
        self.suites += 1;
        self.attributes.clear();
        self.shape.clear();
        self.suites <= LOOKED_AT
    }

    /// Only the first cases are looked at.
    pub(super) fn looks_at_cases(&mut self) -> bool {
        self.cases = self.cases.saturating_add(1);
        self.attributes.clear();
        self.shape.clear();
        self.cases <= LOOKED_AT
    }

    pub(super) fn attribute(&mut self, name: &str, value: &str) {
        if self.shape.len() < 120 && name.len() < 40 {
            if !self.shape.is_empty() {
                self.shape.push(',');
            }
            self.shape.push_str(name);
        }
        if self.attributes.len() < ATTRIBUTES && value.len() <= VALUE {
            self.attributes.push((name.to_owned(), value.to_owned()));
        }
    }

    /// All attributes of a suite were seen.
    pub(super) fn suite_seen(&mut self, node: Node) {
        let of_root = node == Node::Suites;
        self.seen(
            if of_root {
                SignPart::Root
            } else {
                SignPart::Suite
            },
            &[],
        );
    }

    /// All attributes of a case were seen.
    pub(super) fn case_seen(&mut self, classname: &str, name: &str) {
        let same = !name.is_empty() && name == classname;
        let told = [("classname", classname), ("same", "yes")];
        self.seen(SignPart::Case, &told[..1 + usize::from(same)]);
    }

    fn seen(&mut self, part: SignPart, more: &[(&str, &str)]) {
        let (attributes, shape) = (
            std::mem::take(&mut self.attributes),
            std::mem::take(&mut self.shape),
        );
        let own = attributes
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_str()));
        let facts: Vec<_> = own
            .chain([("attributes", shape.as_str())])
            .chain(more.iter().copied())
            .collect();
        self.look(part, &facts);
        self.shape = shape;
    }

    pub(super) fn property(&mut self, name: &str, value: &str) {
        if self.suites <= LOOKED_AT {
            self.look(SignPart::Property, &[("name", name), ("value", value)]);
        }
    }

    /// The `message` or `type` of a failure.
    pub(super) fn failure(&mut self, name: &'static str, value: &str) {
        let shape = std::mem::take(&mut self.shape);
        self.look(SignPart::Failure, &[(name, value), ("attributes", &shape)]);
        self.shape = shape;
    }
}

/// Who is known by what a failure says, where a format has nothing else to tell
/// one writer from another.
pub(super) fn writer_by_text(text: &str) -> Option<&'static str> {
    let mut signs = SIGNS.iter().filter(|sign| sign.part == SignPart::Failure);
    let holds = |fact: &SignFact| fact.name == "text" && fact.holds(text);
    let found = signs.find(|sign| sign.facts.iter().all(holds));
    found.map(|sign| sign.writer)
}

impl SignFact {
    fn holds(&self, value: &str) -> bool {
        match self.comparison {
            Comparison::Exists => true,
            Comparison::Equals => value == self.text,
            Comparison::Begins => value.starts_with(self.text),
            Comparison::Contains => value.contains(self.text),
            Comparison::Ends => {
                let start = value.len().checked_sub(self.text.len());
                let end = start.and_then(|start| value.get(start..));
                end.is_some_and(|end| end.eq_ignore_ascii_case(self.text))
            }
            Comparison::Matches => self.pattern.is_match(value),
        }
    }
}
