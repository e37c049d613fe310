//! Which framework a command of an advice belongs to.
//!
//! A rule knows a message, and the same words come from many frameworks; a
//! command of one of them helps nobody who uses another.

/// The beginning of a command, and the writers of reports, by words in their
/// names, in whose projects it works.
const RUNNERS: &[(&str, &[&str])] = &[
    ("pytest ", &["pytest"]),
    (
        "python -m pip",
        &["pytest", "unittest", "nose", "robot", "behave", "xmlrunner"],
    ),
    ("bundle exec rspec", &["rspec"]),
    ("bundle ", &["rspec", "minitest", "cucumber"]),
    ("go ", &["go", "ginkgo", "testify"]),
    ("cargo ", &["nextest", "libtest", "cargo"]),
    ("RUST_BACKTRACE=1 cargo ", &["nextest", "libtest", "cargo"]),
    ("ctest ", &["ctest"]),
    ("mvn ", &["surefire", "failsafe", "maven", "testng"]),
    ("./gradlew ", &["gradle", "spock", "kotest"]),
    (
        "dotnet ",
        &["dotnet", "trx", "nunit", "xunitnet", "xunit.net", "mstest"],
    ),
    ("vendor/bin/phpunit", &["phpunit"]),
    (
        "composer ",
        &["phpunit", "pest", "codeception", "behat", "tester"],
    ),
    (
        "php ",
        &["phpunit", "pest", "codeception", "behat", "tester"],
    ),
    ("bats ", &["bats"]),
];

/// Writers that serve any framework, so that nothing is known of the project.
const ANY: &[&str] = &["", "junit", "generic", "tap", "ctrf"];

/// Whether `command` is one of a framework that did not write the report.
pub(super) fn is_foreign(command: &str, dialect: &str) -> bool {
    let dialect = dialect.to_ascii_lowercase();
    !ANY.contains(&dialect.as_str())
        && RUNNERS
            .iter()
            .find(|(start, _)| command.starts_with(start))
            .is_some_and(|(_, writers)| !writers.iter().any(|writer| dialect.contains(writer)))
}

#[cfg(test)]
mod tests {
    use super::is_foreign;

    #[test]
    fn a_command_of_another_framework_is_foreign() {
        assert!(is_foreign("bundle exec rspec --only-failures", "newman"));
        assert!(is_foreign("pytest --last-failed", "robot"));
        assert!(is_foreign("go test ./...", "gtest"));
        assert!(!is_foreign("pytest --last-failed", "pytest"));
        assert!(!is_foreign("go test ./...", "gotestsum"));
        assert!(!is_foreign("mvn dependency:tree", "surefire-rerun"));
    }

    #[test]
    fn nothing_is_foreign_to_a_writer_for_any_framework() {
        assert!(!is_foreign("go test ./...", ""));
        assert!(!is_foreign("go test ./...", "junit"));
        assert!(!is_foreign("df -h", "pytest"));
    }
}
