//! Which framework ran a test, and how it selects that test.

use super::target::Target;
use super::{jvm, native, node, others, python};
use jelly_base::model::FailureView;

/// How to run the test again; `None` where its framework is unknown, has no
/// way to select a test, or needs what the report does not tell. `is_group`:
/// other cases of the report stand below this one.
pub(super) fn target(dialect: &str, test: &FailureView<'_>, is_group: bool) -> Option<Target> {
    let dialect = dialect.to_ascii_lowercase();
    let is = |words: &[&str]| words.iter().any(|word| dialect.contains(word));
    // From the particular to the general: `mocha-junit-reporter` writes for
    // Cypress as well, and `junit` is in most names.
    if is(&["pytest"]) {
        python::pytest(test)
    } else if is(&["nose2", "unittest"]) {
        python::unittest(test)
    } else if is(&["robot"]) {
        others::robot(test)
    } else if is(&["playwright"]) {
        node::playwright(test)
    } else if is(&["cypress"]) {
        node::cypress(test)
    } else if is(&["vitest"]) {
        node::vitest(test, is_group)
    } else if is(&["jest"]) {
        node::jest(test)
    } else if is(&["mocha"]) {
        node::mocha(test)
    } else if is(&["jasmine"]) {
        node::jasmine(test)
    } else if is(&["node-test", "node:test", "node_test"]) {
        node::node_test(test)
    } else if dialect == "bun" {
        node::bun(test)
    } else if is(&["ginkgo"]) {
        native::ginkgo(test)
    } else if is(&["gotest", "go-junit", "go-test", "gotestsum"]) || dialect == "go" {
        native::go(test)
    } else if is(&["nextest"]) {
        native::nextest(test)
    } else if is(&["libtest", "cargo"]) {
        native::cargo_test(test)
    } else if is(&["gradle"]) {
        jvm::gradle(test)
    } else if is(&["surefire", "failsafe", "maven"]) {
        jvm::maven(test)
    } else if is(&["phpunit"]) {
        others::phpunit(test)
    } else if is(&["rspec"]) {
        others::rspec(test)
    } else if is(&["minitest"]) {
        others::minitest(test)
    } else if is(&["ctest"]) {
        native::ctest(test)
    } else if is(&["gtest", "googletest"]) {
        native::gtest(test)
    } else if is(&["catch2"]) {
        native::catch2(test)
    } else if is(&["dotnet", "trx", "nunit", "xunitnet", "xunit.net", "mstest"]) {
        others::dotnet(test)
    } else if is(&["bazel"]) {
        native::bazel(test)
    } else if is(&["bats"]) {
        others::bats(test)
    } else {
        None
    }
}
