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
    /// `<stackTrace>` of a rerun.
    Stack,
    Skipped,
    Out,
    Err,
    Properties,
    Property,
    Other,
}

impl Node {
    /// By the name without its prefix.
    pub(super) fn named(name: &str) -> Self {
        match name {
            "testcase" => Self::Case,
            "failure" => Self::Wrong(Wrong::Failure),
            "testsuite" => Self::Suite,
            "skipped" | "ignored" | "disabled" => Self::Skipped,
            "error" => Self::Wrong(Wrong::Error),
            "system-out" => Self::Out,
            "system-err" => Self::Err,
            "properties" => Self::Properties,
            "property" => Self::Property,
            "testsuites" | "testrun" => Self::Suites,
            "stackTrace" => Self::Stack,
            "flakyFailure" => Self::Wrong(Wrong::FlakyFailure),
            "flakyError" => Self::Wrong(Wrong::FlakyError),
            "rerunFailure" => Self::Wrong(Wrong::RerunFailure),
            "rerunError" => Self::Wrong(Wrong::RerunError),
            _ => Self::Other,
        }
    }
}
