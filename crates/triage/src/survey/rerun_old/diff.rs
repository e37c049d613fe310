use jelly_base::model::{FailureStatus, Failures, TriagedFailure};
use proptest::prelude::*;
fn check(dialect: &str, [report, suite, class, name, file]: [&str; 5], group: bool) {
    let mut failures = Failures::default();
    failures.push(TriagedFailure {
        report: report.into(),
        suite: suite.into(),
        classname: class.into(),
        name: name.into(),
        file: (!file.is_empty()).then(|| file.into()),
        line: None,
        status: FailureStatus::Failure,
        message: None,
        pre_existing: None,
        diagnosis: serde_json::from_value(serde_json::json!({
            "side": "test", "ambiguous": false, "root_cause": "x", "rule": "x/y",
            "fingerprint": "", "test_fingerprint": "",
            "advice": {"what": "", "why": "", "fix": []}
        }))
        .unwrap(),
        history: None,
    });
    let view = failures.get(0).unwrap();
    let old = super::framework::target(dialect, &view, group);
    let new = crate::survey::rerun::framework_target(dialect, &view, group);
    let old = old.map(|t| {
        format!(
            "{:?} {:?} {:?} {:?} {:?}",
            t.id,
            t.recipe,
            t.names.iter().filter(|n| !n.is_empty()).collect::<Vec<_>>(),
            t.note,
            t.also
        )
    });
    let new = new.map(|t| {
        format!(
            "{:?} {:?} {:?} {:?} {:?}",
            t.id,
            t.recipe,
            t.names.iter().collect::<Vec<_>>(),
            t.note,
            t.also
        )
    });
    assert_eq!(
        old,
        new,
        "{dialect} {:?}",
        [report, suite, class, name, file]
    );
}
const DIALECTS: [&str; 30] = [
    "pytest",
    "nose2",
    "robot",
    "playwright",
    "cypress",
    "vitest",
    "jest-junit",
    "mocha-xunit",
    "jasmine",
    "node-test",
    "bun",
    "ginkgo",
    "gotestsum",
    "go",
    "nextest",
    "libtest",
    "gradle",
    "surefire",
    "phpunit",
    "rspec",
    "minitest",
    "ctest",
    "gtest",
    "catch2",
    "trx",
    "bazel",
    "bats",
    "newman",
    "cargo",
    "unittest",
];
const WORDS: [&str; 66] = [
    "a",
    "B",
    "test_x",
    "TestA",
    "shop",
    "CartTest",
    "setUp",
    "setUpClass (",
    ")",
    "(",
    "[1]",
    "[",
    "]",
    "{",
    "}",
    "int",
    ".",
    "..",
    "/",
    "::",
    ":",
    " > ",
    " › ",
    " ",
    "-",
    "#",
    "$",
    "a.test.ts",
    "x.cy.ts",
    ".py",
    "tests/test_a.py",
    "tests.test_a",
    "test.bats",
    "target/surefire-reports/",
    "build/test-results/",
    "api/",
    "./",
    "testlogs/",
    "/test.xml",
    "shard_1",
    "pkg",
    "_spec",
    "spec.cart_spec",
    "\"before all\" hook",
    "IT",
    "ITCase",
    "file://",
    "[It] ",
    "[BeforeSuite]",
    "Suite",
    "crate",
    "command-line-arguments",
    "An error occurred ",
    "(unnamed)",
    "_FailedTest",
    ",",
    "\\",
    "'",
    "é",
    "É",
    "\n",
    "x",
    "SetUpTestSuite",
    "Test suite failed to run",
    "cypress/",
    "beforeAll",
];
fn text() -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(&WORDS[..]), 0..5).prop_map(|w| w.concat())
}
proptest! {
    #![proptest_config(ProptestConfig::with_cases(20000))]
    #[test]
    fn same(dialect in prop::sample::select(&DIALECTS[..]), report in text(), suite in text(), class in text(), name in text(), file in text(), kind in 0..6, group: bool) {
        let (class, name) = match kind { 0 => (class.clone(), class), 1 => (class.clone(), format!("{class} {name}")), 2 => (class.clone(), format!("{name} {class}")), 3 => (class.clone(), format!("{class}.{name}")), 4 => (class.clone(), format!("{class}::{name}")), _ => (class, name) };
        check(dialect, [&report, &suite, &class, &name, &file], group);
    }
}
