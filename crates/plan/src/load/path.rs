//! Where in a document a reader is.

use crate::{DocPath, Segment};

/// Where a reader is, as a chain up to the root: a [`DocPath`] is only built
/// where one is needed.
#[derive(Clone, Copy)]
pub(super) struct Path<'p> {
    parent: Option<&'p Path<'p>>,
    step: Down<'p>,
}

#[derive(Clone, Copy)]
enum Down<'p> {
    Root,
    Key(&'p str),
    Index(usize),
}

impl<'p> Path<'p> {
    pub(super) const ROOT: Path<'static> = Path {
        parent: None,
        step: Down::Root,
    };

    pub(super) fn key(&'p self, key: &'p str) -> Self {
        Self {
            parent: Some(self),
            step: Down::Key(key),
        }
    }

    pub(super) fn index(&'p self, index: usize) -> Self {
        Self {
            parent: Some(self),
            step: Down::Index(index),
        }
    }

    pub(super) fn to_doc(self) -> DocPath {
        let mut segments = Vec::new();
        let mut next = Some(&self);
        while let Some(path) = next {
            match path.step {
                Down::Root => {}
                Down::Key(key) => segments.push(Segment::Key(key.to_owned())),
                Down::Index(index) => segments.push(Segment::Index(index)),
            }
            next = path.parent;
        }
        segments.reverse();
        segments.shrink_to_fit();
        DocPath(segments)
    }
}
