//! Conditions of C++ over which the same was thrown: no stack tells where, but both call one
//! function.

use super::group::{CAUSES, Group};
use crate::engine::skeleton;
use jelly_base::model::FailureView;
use jelly_base::text::{LazyPattern, WordList};

/// What is called on any value, or is the framework's.
const OF_ANY: WordList = WordList(
    "abs at back begin c_str ceil count data dynamic_cast empty end fabs find first floor front get \
     length max min move number pow round second size sqrt static_cast std str string to_string \
     value what",
);

/// Pairs of groups of one cause.
pub(super) fn thrown_alike(views: &[FailureView<'_>], groups: &[Group]) -> Vec<(usize, usize)> {
    let mut known: Vec<Thrown<'_>> = Vec::new();
    let mut found = Vec::new();
    for (at, group) in groups.iter().enumerate().take(CAUSES) {
        let first = group.victims.first().map(|first| &views[*first]);
        let Some(thrown) = first.and_then(|view| Thrown::of(at, view)) else {
            continue;
        };
        if let Some(other) = known.iter().find(|other| other.is_alike(&thrown)) {
            found.push((other.group, at));
        }
        known.push(thrown);
    }
    found
}

struct Thrown<'v> {
    group: usize,
    report: &'v str,
    said: String,
    /// The first function of the project that the condition calls.
    called: &'v str,
}

impl<'v> Thrown<'v> {
    fn of(group: usize, view: &FailureView<'v>) -> Option<Self> {
        static CALL: LazyPattern = LazyPattern::ascii(r"\b([A-Za-z_]\w+)\(");
        let is_native = view.kind.rule.starts_with("native/");
        if !is_native || view.kind.root_cause != "code_exception" {
            return None;
        }
        let (_, evidence) = view.evidence?;
        let condition = view.message?;
        let calls = CALL.captures_iter(condition);
        let mut calls = calls.filter_map(|call| Some(call.get(1)?.as_str()));
        // What begins with a capital letter is made, or the framework's.
        let is_own = |name: &&str| !OF_ANY.has(name) && !name.starts_with(char::is_uppercase);
        let called = calls.find(is_own)?;
        let said = skeleton(evidence);
        // Where the condition is what is quoted, nothing tells what was thrown.
        (!evidence.contains(condition)).then_some(Self {
            group,
            report: view.report,
            said,
            called,
        })
    }

    fn is_alike(&self, other: &Self) -> bool {
        self.report == other.report && self.said == other.said && self.called == other.called
    }
}
