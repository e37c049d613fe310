//! Other XML than JUnit's that tells of tests: which of its elements and
//! attributes mean the same.

use super::case::CaseOutcome;
use super::elements::{Node, Wrong};

/// What an attribute of a case says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Says {
    Name,
    /// Class and name in one; the name of the case, if there is no other.
    FullName,
    Class,
    Outcome,
    /// The outcome more precisely, as in `Error` for one that failed.
    Label,
    Seconds,
    Milliseconds,
    /// `00:00:01.5`
    Clock,
    /// Not a test: what prepares or cleans up.
    Configuration,
}

/// The words of one format.
#[derive(Debug)]
pub(super) struct Form {
    pub(super) dialect: &'static str,
    roots: &'static [&'static str],
    nodes: &'static [(&'static str, Node)],
    attributes: &'static [(&'static str, Says)],
    /// Attribute of a failure with its type.
    pub(super) type_: &'static str,
}

const FAILURE: Node = Node::Wrong(Wrong::Failure);

const FORMS: [Form; 4] = [
    // Visual Studio and `dotnet test --logger trx`
    Form {
        dialect: "trx",
        roots: &["TestRun"],
        nodes: &[
            ("TestRun", Node::Suites),
            ("UnitTestResult", Node::Case),
            ("TestResult", Node::Case),
            ("ManualTestResult", Node::Case),
            ("WebTestResult", Node::Case),
            ("RunInfo", Node::CaseOfRun),
            ("ErrorInfo", FAILURE),
            ("Text", FAILURE),
            ("Message", Node::Message),
            ("StackTrace", Node::Stack),
            ("StdOut", Node::Out),
            ("StdErr", Node::Err),
        ],
        attributes: &[
            ("testName", Says::FullName),
            ("outcome", Says::Outcome),
            ("duration", Says::Clock),
        ],
        type_: "",
    },
    // NUnit 2 and 3
    Form {
        dialect: "nunit",
        roots: &["test-run", "test-results", "test-suite"],
        nodes: &[
            ("test-run", Node::Suites),
            ("test-results", Node::Suites),
            ("test-suite", Node::Suite),
            ("test-case", Node::Case),
            ("failure", FAILURE),
            ("message", Node::Message),
            ("stack-trace", Node::Stack),
            ("output", Node::Out),
        ],
        attributes: &[
            ("name", Says::Name),
            ("fullname", Says::FullName),
            ("classname", Says::Class),
            ("result", Says::Outcome),
            ("label", Says::Label),
            ("duration", Says::Seconds),
            ("time", Says::Seconds),
        ],
        type_: "",
    },
    // xUnit.net 2 and 3
    Form {
        dialect: "xunitnet",
        roots: &["assemblies", "assembly"],
        nodes: &[
            ("assemblies", Node::Suites),
            ("assembly", Node::Suite),
            ("test", Node::Case),
            ("error", Node::CaseOfRun),
            ("failure", FAILURE),
            ("message", Node::Message),
            ("stack-trace", Node::Stack),
            ("output", Node::Out),
        ],
        attributes: &[
            ("name", Says::FullName),
            ("type", Says::Class),
            ("result", Says::Outcome),
            ("time", Says::Seconds),
        ],
        type_: "exception-type",
    },
    // TestNG's own
    Form {
        dialect: "testng",
        roots: &["testng-results"],
        nodes: &[
            ("testng-results", Node::Suites),
            ("suite", Node::Suite),
            ("test", Node::Suite),
            ("class", Node::Suite),
            ("test-method", Node::Case),
            ("exception", FAILURE),
            ("message", Node::Message),
            ("full-stacktrace", Node::Stack),
        ],
        attributes: &[
            ("name", Says::Name),
            ("status", Says::Outcome),
            ("duration-ms", Says::Milliseconds),
            ("is-config", Says::Configuration),
        ],
        type_: "class",
    },
];

impl Form {
    /// By the name of the root element.
    pub(super) fn of_root(name: &str) -> Option<&'static Self> {
        FORMS.iter().find(|form| form.roots.contains(&name))
    }

    pub(super) fn node(&self, name: &str) -> Node {
        let found = self.nodes.iter().find(|(known, _)| *known == name);
        found.map_or(Node::Other, |(_, node)| *node)
    }

    pub(super) fn attribute(&self, name: &str) -> Option<Says> {
        let found = self.attributes.iter().find(|(known, _)| *known == name);
        found.map(|(_, says)| *says)
    }
}

/// The words of all formats for how a test ended.
pub(super) fn outcome(word: &str) -> Option<CaseOutcome> {
    let word = word.to_ascii_lowercase();
    Some(match word.as_str() {
        "passed" | "pass" | "success" | "ok" | "warning" | "passedbutrunaborted" | "completed" => {
            CaseOutcome::Passed
        }
        "failed" | "fail" | "failure" => CaseOutcome::Failed,
        "error" | "timeout" | "aborted" | "invalid" | "cancelled" | "notrunnable"
        | "inprogress" => CaseOutcome::Error,
        "skipped" | "skip" | "ignored" | "inconclusive" | "notexecuted" | "notrun" | "pending"
        | "disconnected" | "other" | "todo" => CaseOutcome::Skipped,
        _ => return None,
    })
}

/// What a word for how a test ended says of one that did not end.
pub(super) fn cut_off(word: &str) -> Option<&'static str> {
    match word.to_ascii_lowercase().as_str() {
        "timeout" => Some("the test timed out"),
        "aborted" => Some("aborted: the test process died, or was ended"),
        "inprogress" => Some("in progress: the run ended before the test did"),
        // GoogleTest, of a test within which its program ended.
        "interrupted" => Some("interrupted: the test process died, or was ended"),
        _ => None,
    }
}

/// What a test ended with of which a format tells nothing, or nothing that is known.
pub(super) const NO_OUTCOME: &str = "the report does not say how it ended";

/// What the `status` of a case of JUnit XML says of one that did not pass, where no element
/// does.
pub(super) fn failed_by_status(word: &str) -> Option<&'static str> {
    match word.to_ascii_lowercase().as_str() {
        "failed" | "failure" | "fail" | "broken" => {
            Some("its `status` says that it failed, and nothing says why")
        }
        "error" | "errored" => Some("its `status` says that it ended with an error"),
        "timeout" | "timedout" | "timed out" => Some("its `status` says that it timed out"),
        "aborted" | "cancelled" | "canceled" | "crashed" => {
            Some("its `status` says that it was cut off")
        }
        "running" | "inprogress" | "in progress" | "in_progress" | "incomplete" | "started" => {
            Some("its `status` says that it did not end")
        }
        _ => None,
    }
}

/// Seconds of `1.02:03:04.5`: days, hours, minutes, seconds.
pub(super) fn clock(value: &str) -> Option<f64> {
    let (days, rest) = match value.split_once('.') {
        Some((days, rest)) if rest.contains(':') => (days.parse().ok()?, rest),
        _ => (0.0, value),
    };
    let mut seconds: f64 = days * 24.0;
    let mut parts = 0;
    for part in rest.split(':') {
        seconds = if parts == 0 { seconds } else { seconds * 60.0 };
        seconds += part.parse::<f64>().ok()?;
        parts += 1;
    }
    (parts == 3 && seconds.is_finite() && seconds >= 0.0).then_some(seconds)
}

/// Class and name of `A.B.name(args)`.
pub(super) fn split(full: &str) -> (&str, &str) {
    let end = full.find(['(', '<', '[', ' ']).unwrap_or(full.len());
    match full[..end].rfind('.') {
        Some(at) => (&full[..at], &full[at + 1..]),
        None => ("", full),
    }
}

/// What a file is that is XML or text, and no test report, with what to do.
pub(super) fn other(root: &str) -> Option<(&'static str, &'static str)> {
    const OWN: &str = "have the test runner write JUnit XML beside it";
    const NO_TESTS: &str = "leave it out: it holds no tests";
    Some(match root.to_ascii_lowercase().as_str() {
        "html" => ("a page for a browser", OWN),
        "coverage" => ("a coverage report (Cobertura, Clover)", NO_TESTS),
        "report" => ("a coverage report (JaCoCo)", NO_TESTS),
        "checkstyle" => ("a report of a linter (Checkstyle)", NO_TESTS),
        "pmd" | "bugcollection" | "pmd-cpd" | "results" | "issues" => {
            ("a report of a linter", NO_TESTS)
        }
        "robot" => (
            "the output of Robot Framework",
            "write JUnit XML with `rebot --xunit junit.xml output.xml`",
        ),
        "testng" | "project" | "phpunit" => ("a configuration", NO_TESTS),
        "plist" => (
            "a property list of Xcode",
            "write JUnit XML with `xcbeautify --report junit` or fastlane",
        ),
        "catch2testrun" | "catch" => (
            "a report of Catch2 of its own kind",
            "run the tests with `--reporter junit`",
        ),
        "site" => (
            "a report of CTest of its own kind",
            "run `ctest --output-junit junit.xml`",
        ),
        "testresult" | "testlog" => (
            "a report of Boost.Test of its own kind",
            "run the tests with `--log_format=JUNIT`",
        ),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_and_names_are_taken_apart() {
        assert_eq!(clock("00:00:01.5000000"), Some(1.5));
        assert_eq!(clock("1.02:00:00"), Some(26.0 * 3600.0));
        assert_eq!(clock("12"), None);
        assert_eq!(
            split("A.B.name(x.y, \"a.b\")"),
            ("A.B", "name(x.y, \"a.b\")")
        );
        assert_eq!(split("name"), ("", "name"));
        assert_eq!(split("says a.b"), ("", "says a.b"));
    }
}
