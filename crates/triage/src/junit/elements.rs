//! Which element of a report means what.

/// An element of which something went wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wrong {
    Failure,
    Error,
    /// An earlier attempt of a case that passed in the end.
    FlakyFailure,
    FlakyError,
    /// A further attempt of a case that failed in the end.
    RerunFailure,
    RerunError,
}

impl Wrong {
    /// As `Failure::element` has it.
    pub(super) fn element(self) -> &'static str {
        match self {
            Self::Failure | Self::FlakyFailure | Self::RerunFailure => "failure",
            Self::Error | Self::FlakyError | Self::RerunError => "error",
        }
    }
}

/// An open element.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Node {
    /// `<testsuites>`, or a root of another name that holds suites.
    Suites,
    Suite,
    Case,
    Wrong(Wrong),
    /// Something that stands for the run around it: in other formats only.
    CaseOfRun,
    /// Text of a failure that other formats keep from its stack.
    Message,
    /// `<stackTrace>` of a rerun.
    Stack,
    Skipped,
    Out,
    Err,
    Properties,
    Property,
    Other,
}

/// What the elements of JUnit XML are, those first of which a report has most;
/// of several names for the same, the usual one first.
const NAMES: [(&str, Node); 18] = [
    ("testcase", Node::Case),
    ("failure", Node::Wrong(Wrong::Failure)),
    ("testsuite", Node::Suite),
    ("skipped", Node::Skipped),
    ("ignored", Node::Skipped),
    ("disabled", Node::Skipped),
    ("error", Node::Wrong(Wrong::Error)),
    ("system-out", Node::Out),
    ("system-err", Node::Err),
    ("properties", Node::Properties),
    ("property", Node::Property),
    ("testsuites", Node::Suites),
    ("testrun", Node::Suites),
    ("stackTrace", Node::Stack),
    ("flakyFailure", Node::Wrong(Wrong::FlakyFailure)),
    ("flakyError", Node::Wrong(Wrong::FlakyError)),
    ("rerunFailure", Node::Wrong(Wrong::RerunFailure)),
    ("rerunError", Node::Wrong(Wrong::RerunError)),
];

impl Node {
    /// As it is mostly written; nothing for elements that have no meaning.
    pub(super) fn label(self) -> Option<&'static str> {
        let found = NAMES.iter().find(|(_, node)| *node == self);
        found.map(|(name, _)| *name)
    }

    /// By the name without its prefix.
    pub(super) fn named(name: &str) -> Self {
        let found = NAMES.iter().find(|(known, _)| *known == name);
        found.map_or(Self::Other, |(_, node)| *node)
    }
}
