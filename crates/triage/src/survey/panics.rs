//! A panic ends the package of a Go test, and takes along the tests that were running;
//! and the place of one of Rust is all that tells it from others.

use super::group::{CAUSES, Group, OF_EACH};
use super::lacks::SubjectKind;
use super::mentions::Mentions;
use jelly_base::model::FailureView;
use std::collections::HashMap;

/// What tells the package of a test: report, suite and class.
type GoPackage<'v> = (&'v str, &'v str, &'v str);

/// The groups of panics by the package that they ended. Of two, nobody knows which did.
#[derive(Debug, Default)]
pub(super) struct EndedPackages<'v>(HashMap<GoPackage<'v>, Option<usize>>);

impl<'v> EndedPackages<'v> {
    pub(super) fn of(views: &[FailureView<'v>], groups: &[Group]) -> Self {
        let mut ended = Self::default();
        for (at, group) in groups.iter().enumerate().take(CAUSES) {
            for view in group.victims.iter().take(OF_EACH).map(|at| &views[*at]) {
                let told = view.evidence.map_or("", |(_, text)| text.trim_start());
                if told.starts_with("panic: ") || told.starts_with("fatal error: ") {
                    let known = ended.0.entry(package(view)).or_insert(Some(at));
                    if *known != Some(at) {
                        *known = None;
                    }
                }
            }
        }
        ended
    }

    /// The panic that ended a test, if nothing else did.
    pub(super) fn meant(&self, view: &FailureView<'v>, mentions: &Mentions) -> Option<usize> {
        if self.0.is_empty() {
            return None;
        }
        let mut told = mentions.of(view);
        let is_unfinished = told.any(|subject| subject.kind == SubjectKind::Unfinished);
        let panic = self.0.get(&package(view)).copied().flatten();
        panic.filter(|_| is_unfinished)
    }
}

fn package<'v>(view: &FailureView<'v>) -> GoPackage<'v> {
    (view.report, view.suite, view.classname)
}

/// The file in which a program in Rust did what panics in any: of two files these are two
/// faults, and the words are the same.
pub(super) fn file_of_panic<'v>(view: &FailureView<'v>) -> Option<&'v str> {
    if view.kind.rule != "rust/panic-of-runtime" {
        return None;
    }
    let told = [view.evidence.map(|(_, text)| text), view.message];
    let (_, place) = told
        .into_iter()
        .flatten()
        .find_map(|text| text.split_once(" panicked at "))?;
    let end = place.find(".rs:")?;
    Some(&place[..end])
}
