//! What the failures of a case say, without what says nothing of them.

use crate::frameworks::{heading_of, sums_up};
use jelly_base::model::Failure;

/// Leaves out failures that only count the others, and types that are the name of
/// the test, with a head of the text that is no more: so does minitest-reporters.
pub(super) fn tidy(failures: &mut Vec<Failure>, name: &str, writer: &str) {
    let only_counts = |failure: &Failure| {
        let message = failure.message.as_deref();
        message.is_some_and(|message| sums_up(writer, message))
    };
    if failures.len() > 1 && !failures.iter().all(only_counts) {
        failures.retain(|failure| !only_counts(failure));
    }
    for failure in failures {
        let is_named = failure.type_.take_if(|type_| type_ == name).is_some();
        if let Some(text) = failure.text.as_mut().filter(|_| is_named) {
            text.drain(..heading_of(writer, text));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::read_all;

    fn failures(case: &str) -> Vec<(Option<String>, Option<String>)> {
        let xml = format!(
            "<testsuites name='pytest tests'><testsuite name='pytest'>{case}</testsuite></testsuites>"
        );
        let (_, cases) = read_all(&xml);
        let failures = cases.into_iter().flat_map(|case| case.failures);
        let said = failures.map(|failure| (failure.type_, failure.message));
        said.collect()
    }

    #[test]
    fn what_only_counts_subtests_is_no_failure_beside_them() {
        let counted = "<failure message='contains 1 failed subtest'>contains 1 failed \
                       subtest</failure>";
        let said = failures(&format!(
            "<testcase name='a'><failure message='assert 0 == 1'/>{counted}</testcase>"
        ));
        assert_eq!(said, [(None, Some("assert 0 == 1".to_owned()))]);
        // Alone it is all that is known.
        assert_eq!(
            failures(&format!("<testcase name='a'>{counted}</testcase>")).len(),
            1
        );
    }

    #[test]
    fn the_name_of_a_test_is_no_type() {
        let said = failures("<testcase name='a'><error type='a' message='E: no'/></testcase>");
        assert_eq!(said, [(None, Some("E: no".to_owned()))]);
        let text = |inside: &str| {
            let xml = format!(
                "<testsuite name='Minitest::Result'><testcase name='test_a'><error type='test_a' \
                 message='E: no...'>\n{inside}</error></testcase></testsuite>"
            );
            let (_, mut cases) = read_all(&xml);
            cases.remove(0).failures.remove(0).text.unwrap()
        };
        let head = "Failure:\ntest_a(Cart) [a_test.rb:4]:\n";
        let stack = "RuntimeError: no seed\n    a_test.rb:4:in `block'\n";
        assert_eq!(text(&format!("{head}{stack}")), stack.trim_end());
        // It tells the line of what has no stack.
        let compared = format!("{head}Expected: 1\n  Actual: 2");
        assert_eq!(text(&compared), compared);
    }
}
