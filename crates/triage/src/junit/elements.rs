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

impl Node {
    /// How many names there are.
    pub(super) const NAMES: usize = 18;

    /// A number below [`Self::NAMES`] for each name.
    pub(super) fn index(self) -> usize {
        match self {
            Self::Suites => 0,
            Self::Suite => 1,
            Self::Case => 2,
            Self::Wrong(wrong) => 3 + wrong as usize,
            Self::Stack => 9,
            Self::Skipped => 10,
            Self::Out => 11,
            Self::Err => 12,
            Self::Properties => 13,
            Self::Property => 14,
            Self::Other => 15,
            Self::CaseOfRun => 16,
            Self::Message => 17,
        }
    }

    /// As it is mostly written; nothing for elements that have no meaning.
    pub(super) fn label(self) -> Option<&'static str> {
        Some(match self {
            Self::Suites => "testsuites",
            Self::Suite => "testsuite",
            Self::Case => "testcase",
            Self::Wrong(Wrong::Failure) => "failure",
            Self::Wrong(Wrong::Error) => "error",
            Self::Wrong(Wrong::FlakyFailure) => "flakyFailure",
            Self::Wrong(Wrong::FlakyError) => "flakyError",
            Self::Wrong(Wrong::RerunFailure) => "rerunFailure",
            Self::Wrong(Wrong::RerunError) => "rerunError",
            Self::Stack => "stackTrace",
            Self::Skipped => "skipped",
            Self::Out => "system-out",
            Self::Err => "system-err",
            Self::Properties => "properties",
            Self::Property => "property",
            Self::CaseOfRun | Self::Message | Self::Other => return None,
        })
    }

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_label_is_a_name_that_is_read_back() {
        let names = [
            "testsuites testsuite testcase failure error flakyFailure flakyError rerunFailure",
            "rerunError stackTrace skipped system-out system-err properties property",
        ];
        let mut seen = [false; Node::NAMES];
        for name in names.join(" ").split(' ') {
            let node = Node::named(name);
            assert_eq!(node.label(), Some(name));
            assert!(!std::mem::replace(&mut seen[node.index()], true));
        }
        assert_eq!(Node::named("anything"), Node::Other);
    }
}
