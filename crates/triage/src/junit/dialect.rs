//! Which program wrote a report.
//!
//! No writer signs its report. What gives it away is, from strong to weak: a
//! name that it always uses, a property that its runner sets, attributes that
//! nobody else writes, the order in which it writes them, words of its
//! failures. Each is a vote, and the strongest one counts.

use super::elements::Node;
use jelly_base::model::RUN_REPORT;

/// Nobody else writes this.
const SURE: u8 = 9;
/// Others could, and hardly do.
const STRONG: u8 = 7;
/// The order of attributes, which forks and converters copy.
const SHAPE: u8 = 5;
/// Of the family, at least.
const WEAK: u8 = 3;

/// Suites and cases at the beginning that are looked at.
const LOOKED_AT: u32 = 64;

/// Names of the root, in its attribute `name`.
const ROOT_NAMES: [(&str, &str); 7] = [
    (RUN_REPORT, "jelly"),
    ("jest tests", "jest-junit"),
    ("vitest tests", "vitest"),
    ("Mocha Tests", "mocha-junit-reporter"),
    ("bun test", "bun"),
    ("nextest-run", "nextest"),
    ("pytest tests", "pytest"),
];

/// Names of suites.
const SUITE_NAMES: [(&str, &str); 13] = [
    ("pytest", "pytest"),
    ("nosetests", "nose"),
    ("nose2-junit", "nose2"),
    ("mypy", "mypy"),
    ("JUnit Jupiter", "junit5-console"),
    ("JUnit Vintage", "junit5-console"),
    ("JUnit Platform Suite", "junit5-console"),
    ("Mocha Tests", "mocha-xunit"),
    ("Run 1 of 1", "busted"),
    ("Tap-Junit-Suite", "tap"),
    ("Minitest::Result", "minitest"),
    ("rspec", "rspec"),
    ("Cucumber", "cucumber"),
];

/// Properties of suites, by the beginning of their name.
const PROPERTIES: [(&str, &str, u8); 10] = [
    ("surefire.", "surefire", SURE),
    ("browser.fullName", "karma", SURE),
    ("specId", "wdio", STRONG),
    ("SuiteSucceeded", "ginkgo", SURE),
    ("SuiteHasProgrammaticFocus", "ginkgo", SURE),
    ("ant.version", "ant", STRONG),
    ("random-seed", "catch2", STRONG),
    ("filters", "catch2", SHAPE),
    ("go.version", "go-junit-report", STRONG),
    ("java.", "surefire", WEAK),
];

/// Words in the command by which a Java machine was started.
const JAVA_COMMANDS: [(&str, &str); 7] = [
    ("org.scalatest.", "scalatest"),
    ("surefire", "surefire"),
    ("GradleWorkerMain", "gradle"),
    ("gradle", "gradle"),
    ("ConsoleLauncher", "junit5-console"),
    ("junit-platform-console", "junit5-console"),
    ("sbt", "scalatest"),
];

/// Attributes of roots, suites and cases in the order they are written.
const SHAPES: [(&str, &str, u8); 32] = [
    (
        "testsuite id,name,hostname,tests,failures,errors,skipped,time",
        "playwright",
        WEAK,
    ),
    (
        "testsuites id,name,tests,failures,skipped,errors,time",
        "playwright",
        STRONG,
    ),
    (
        "testsuite name,timestamp,hostname,tests,failures,skipped,time,errors",
        "playwright",
        STRONG,
    ),
    (
        "testsuite name,timestamp,hostname,tests,failures,errors,skipped,time",
        "vitest",
        STRONG,
    ),
    ("testcase classname,name,status,result,time", "catch2", WEAK),
    (
        "testsuite name,errors,failures,skipped,timestamp,time,tests",
        "jest-junit",
        STRONG,
    ),
    (
        "testsuites skip,tests,errors,time,failures",
        "busted",
        STRONG,
    ),
    (
        "testsuite name,timestamp,hostname,time,errors,tests,skipped,disabled,failures",
        "jasmine",
        STRONG,
    ),
    (
        "testsuite tests,failures,time,name,timestamp",
        "gotestsum",
        SURE,
    ),
    (
        "testsuite tests,failures,time,name",
        "go-junit-report",
        WEAK,
    ),
    (
        "testsuite name,tests,failures,errors,id,hostname,time,timestamp",
        "go-junit-report",
        STRONG,
    ),
    (
        "testsuite name,tests,failures,errors,id,hostname,skipped,time,timestamp",
        "go-junit-report",
        STRONG,
    ),
    (
        "testsuite name,package,id,errors,failures,tests,skipped",
        "libtest",
        SURE,
    ),
    (
        "testsuite name,tests,skipped,failures,errors,timestamp,hostname,time",
        "gradle",
        STRONG,
    ),
    (
        "testsuite name,tests,skipped,failures,errors,time,hostname,timestamp",
        "junit5-console",
        STRONG,
    ),
    (
        "testsuite name,time,tests,errors,skipped,failures",
        "surefire",
        SHAPE,
    ),
    (
        "testsuite version,name,time,tests,errors,skipped,failures",
        "surefire",
        SHAPE,
    ),
    (
        "testsuite name,version,time,tests,errors,skipped,failures",
        "surefire",
        SHAPE,
    ),
    (
        "testsuite failures,time,errors,skipped,tests,name",
        "surefire",
        SHAPE,
    ),
    (
        "testsuite tests,failures,name,time,errors,skipped",
        "surefire",
        SHAPE,
    ),
    (
        "testsuite name,tests,errors,failures,skipped,time,timestamp",
        "robot",
        SHAPE,
    ),
    (
        "testsuite name,skipped,failures,errors,tests,assertions,time",
        "minitest",
        STRONG,
    ),
    (
        "testsuite name,filepath,skipped,failures,errors,tests,assertions,time",
        "minitest",
        STRONG,
    ),
    (
        "testcase name,lineno,classname,assertions,time,file",
        "minitest",
        STRONG,
    ),
    ("testcase classname,name,file,time", "mocha-xunit", WEAK),
    (
        "testsuite name,time,disabled,errors,tests,failures,skipped,hostname",
        "node-test",
        STRONG,
    ),
    ("testcase name,status,duration,time", "bazel", STRONG),
    ("testsuites id,name,tests,failures,time", "cunit", SHAPE),
    (
        "testsuite errors,skipped,tests,time,timestamp",
        "nette-tester",
        SHAPE,
    ),
    (
        "testsuite id,hostname,package,name,tests,failures,errors,timestamp,time",
        "newman",
        STRONG,
    ),
    (
        "testsuite name,tests,disabled,errors,failures",
        "nextest",
        SHAPE,
    ),
    (
        "testcase name,file,line,status,result,time,timestamp,classname",
        "gtest",
        STRONG,
    ),
];

/// Types of failures that only one writer has.
const TYPES: [(&str, &str); 16] = [
    ("testCodeFailure", "node-test"),
    ("testTimeoutFailure", "node-test"),
    ("subtestsFailed", "node-test"),
    ("hookFailed", "node-test"),
    ("cancelledByParent", "node-test"),
    ("test failure with exit code", "nextest"),
    ("test timeout", "nextest"),
    ("test abort", "nextest"),
    ("AssertionFailure", "newman"),
    ("TestFailed", "perl-tap"),
    ("TestDied", "perl-tap"),
    ("TestsFailed", "perl-tap"),
    ("toHaveBeenCalled", "jasmine"),
    ("toEqual", "jasmine"),
    ("REQUIRE", "catch2"),
    ("RSpec::Expectations::ExpectationNotMetError", "rspec"),
];

/// Collects what points at the writer.
#[derive(Debug, Default)]
pub(super) struct Dialect {
    best: Option<(&'static str, u8)>,
    suites: u32,
    cases: u32,
    /// Names of the attributes of the current element.
    shape: String,
    /// The current case has an attribute `class`.
    class: bool,
}

impl Dialect {
    /// Before anything is read; the name of the file is a hint.
    pub(super) fn of_file(path: &str) -> Self {
        let mut dialect = Self::default();
        let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
        if path.contains("surefire-reports") || path.contains("failsafe-reports") {
            dialect.vote("surefire", STRONG);
        } else if path.contains("build/test-results") {
            dialect.vote("gradle", STRONG);
        } else if path.contains("target/nextest") {
            dialect.vote("nextest", SURE);
        } else if name.contains("playwright") || name.contains("cypress") {
            let cypress = name.contains("cypress");
            dialect.vote(if cypress { "cypress" } else { "playwright" }, WEAK);
        }
        dialect
    }

    /// `junit` where it can't be told.
    pub(super) fn name(&self) -> &'static str {
        self.best.map_or("junit", |(name, _)| name)
    }

    fn vote(&mut self, name: &'static str, weight: u8) {
        if self.best.is_none_or(|(_, best)| weight > best) {
            self.best = Some((name, weight));
        }
    }

    /// The name of the tool, where a format has a place for it.
    pub(super) fn tool(&mut self, name: &str) {
        const TOOLS: [&str; 14] = [
            "jest",
            "vitest",
            "playwright",
            "cypress",
            "mocha",
            "pytest",
            "phpunit",
            "robot",
            "go-test",
            "bun",
            "jasmine",
            "testcafe",
            "nextest",
            "cucumber",
        ];
        let name = name.to_ascii_lowercase();
        if let Some(tool) = TOOLS.iter().find(|tool| name.contains(*tool)) {
            self.vote(tool, SURE);
        }
    }

    /// A comment outside of all cases.
    pub(super) fn comment(&mut self, text: &str) {
        if text.contains("org.testng.reporters") {
            self.vote("testng", SURE);
        }
    }

    /// Whether the attributes of the next suite are looked at.
    pub(super) fn looks_at_suites(&mut self) -> bool {
        self.suites += 1;
        self.shape.clear();
        self.suites <= LOOKED_AT
    }

    pub(super) fn suite_attribute(&mut self, node: Node, name: &str, value: &str) {
        self.add_to_shape(name);
        if name == "name" {
            self.suite_name(node, value);
        }
        match name {
            "doctest_version" => self.vote("doctest", SURE),
            "noNamespaceSchemaLocation" if value.contains("surefire") => {
                self.vote("surefire", SURE);
            }
            "package" if value == "org.eslint" => self.vote("eslint", SURE),
            "file" if is_cypress(value) => self.vote("cypress", SURE),
            "file" if extension_is(value, "php") => self.vote("phpunit", STRONG),
            "hostname" if value == "tbd" => self.vote("catch2", SHAPE),
            "hostname" if value.starts_with("http") => self.vote("newman", STRONG),
            "uuid" => self.vote("nextest", SHAPE),
            _ => {}
        }
    }

    fn suite_name(&mut self, node: Node, value: &str) {
        let names: &[_] = if node == Node::Suites {
            &ROOT_NAMES
        } else {
            &SUITE_NAMES
        };
        if let Some((_, dialect)) = names.iter().find(|(name, _)| *name == value) {
            self.vote(dialect, SURE - 1);
        }
        if node == Node::Suites {
            if value.starts_with("xcresult:") {
                self.vote("swift", SURE);
            } else if value == "AllTests" {
                self.vote("gtest", SHAPE);
            } else if extension_is(value, "xctest") {
                self.vote("fastlane-xcpretty", SURE);
            }
            return;
        }
        if extension_is(value, "bats") {
            self.vote("bats", SURE);
        } else if extension_is(value, "dll") || extension_is(value, "exe") {
            self.vote("dotnet-junitlogger", SURE);
        } else if extension_is(value, "xctest") {
            self.vote("fastlane-xcpretty", SURE);
        } else if value.starts_with("TestCafe Tests") {
            self.vote("testcafe", SURE);
        } else if value.starts_with("cargo test #") {
            self.vote("libtest", SURE);
        } else if value.starts_with("Elixir.") {
            self.vote("exunit", SURE);
        } else if value.starts_with("Chrome_puppeteer_") {
            self.vote("web-test-runner", STRONG);
        } else if value == "TestResults" {
            self.vote("swift", SHAPE);
        } else if value.starts_with("@setup-script:") {
            self.vote("nextest", SURE);
        } else if value.starts_with("rspec") {
            self.vote("rspec", STRONG);
        } else if value == "(empty)" {
            self.vote("ctest", SHAPE);
        } else if value == "common" {
            self.vote("marathon", WEAK);
        } else if is_cypress(value) {
            self.vote("cypress", STRONG);
        } else if value.len() > 15
            && value
                .rsplit_once('-')
                .is_some_and(|(_, date)| date.len() == 14 && is_number(date))
        {
            self.vote("unittest", STRONG);
        }
    }

    /// All attributes of a suite were seen.
    pub(super) fn suite_seen(&mut self, node: Node) {
        let element = if node == Node::Suites {
            "testsuites"
        } else {
            "testsuite"
        };
        self.match_shape(element);
    }

    pub(super) fn property(&mut self, name: &str, value: &str) {
        if self.suites > LOOKED_AT {
            return;
        }
        if name == "sun.java.command" {
            let found = JAVA_COMMANDS.iter().find(|(word, _)| value.contains(word));
            if let Some((_, dialect)) = found {
                self.vote(dialect, SURE);
            }
        }
        if let Some((_, dialect, weight)) = PROPERTIES
            .iter()
            .find(|(beginning, _, _)| name.starts_with(beginning))
        {
            self.vote(dialect, *weight);
        }
    }

    /// Only the first cases are looked at.
    pub(super) fn looks_at_cases(&mut self) -> bool {
        self.cases = self.cases.saturating_add(1);
        self.shape.clear();
        self.class = false;
        self.cases <= LOOKED_AT
    }

    pub(super) fn case_attribute(&mut self, name: &str, value: &str) {
        self.add_to_shape(name);
        match name {
            "class" => self.class = true,
            "feature" => self.vote("codeception", STRONG),
            "value_param" => self.vote("gtest", STRONG),
            "status" if value == "fail" => self.vote("ctest", SHAPE),
            "status" if value == "untested" => self.vote("behave", STRONG),
            "file" if self.class && extension_is(value, "php") => self.vote("phpunit", STRONG),
            "file" if is_cypress(value) => self.vote("cypress", STRONG),
            "file" if value.ends_with("_spec.rb") => self.vote("rspec", STRONG),
            "file" if value.ends_with("_test.rb") => self.vote("minitest", SHAPE),
            "file" if extension_is(value, "php") => self.vote("phpunit", SHAPE),
            _ => {}
        }
    }

    /// All attributes of a case were seen.
    pub(super) fn case_seen(&mut self, classname: &str, name: &str) {
        self.match_shape("testcase");
        if classname.contains(".phpt") {
            self.vote("nette-tester", STRONG);
        } else if name.contains(" › ") {
            self.vote("playwright", SHAPE);
        } else if classname.ends_with(".global") {
            self.vote("catch2", SHAPE);
        } else if name.starts_with("[It] ") || name.starts_with("[sig-") {
            self.vote("ginkgo", STRONG);
        } else if classname == "Kubernetes e2e suite" {
            self.vote("ginkgo", SHAPE);
        } else if classname.starts_with("Minitest::") {
            self.vote("minitest", STRONG);
        } else if !name.is_empty() && name == classname && self.shape.contains("status") {
            self.vote("ctest", SHAPE);
        }
    }

    pub(super) fn message(&mut self, value: &str) {
        if value.starts_with("not ok ") {
            self.vote("perl-tap", WEAK);
        } else if value.starts_with("exited with error code ") {
            self.vote("bazel", STRONG);
        } else if value == "Failed" && self.shape == "name,classname,time" {
            self.vote("go-junit-report", WEAK);
        }
    }

    pub(super) fn type_(&mut self, value: &str) {
        let found = TYPES
            .iter()
            .find(|(beginning, _)| value.starts_with(beginning));
        if let Some((_, dialect)) = found {
            self.vote(dialect, SHAPE);
        }
    }

    fn add_to_shape(&mut self, name: &str) {
        if self.shape.len() < 120 && name.len() < 40 {
            if !self.shape.is_empty() {
                self.shape.push(',');
            }
            self.shape.push_str(name);
        }
    }

    fn match_shape(&mut self, element: &str) {
        let found = SHAPES.iter().find(|(shape, _, _)| {
            shape
                .strip_prefix(element)
                .and_then(|rest| rest.strip_prefix(' '))
                == Some(&self.shape)
        });
        if let Some((_, dialect, weight)) = found {
            self.vote(dialect, *weight);
        }
    }
}

fn is_number(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit())
}

fn extension_is(path: &str, extension: &str) -> bool {
    path.rsplit_once('.')
        .is_some_and(|(_, found)| found.eq_ignore_ascii_case(extension))
}

/// Where specifications of Cypress lie.
fn is_cypress(path: &str) -> bool {
    path.starts_with("cypress/") || path.contains("/cypress/") || path.contains(".cy.")
}
