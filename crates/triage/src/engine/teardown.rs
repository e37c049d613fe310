//! A failure without what its report says of the tear-down behind it: where both
//! failed, the failure is the test's own.

use crate::frameworks::of_writer;
use jelly_base::model::Failure;
use std::borrow::Cow;

/// The failure without the part that tells of a tear-down after it. Where nothing
/// else is told, the tear-down is what failed.
#[must_use]
pub fn without_teardown(failure: &Failure) -> Cow<'_, Failure> {
    let writer = failure.dialect.as_deref().and_then(of_writer);
    let marks = writer.map_or(&[][..], |framework| framework.teardowns);
    if marks.is_empty() {
        return Cow::Borrowed(failure);
    }
    let told = |text: &Option<String>| end_of_own(text.as_deref()?, marks);
    let (message, text) = (told(&failure.message), told(&failure.text));
    if message.is_none() && text.is_none() {
        return Cow::Borrowed(failure);
    }
    let mut own = failure.clone();
    for (kept, end) in [(&mut own.message, message), (&mut own.text, text)] {
        if let (Some(kept), Some(end)) = (kept, end) {
            kept.truncate(end);
        }
    }
    Cow::Owned(own)
}

/// Where the test's own part of a text ends, if a tear-down follows it, by the
/// beginnings and parts of lines that tell of one.
fn end_of_own(text: &str, marks: &[(&str, &str)]) -> Option<usize> {
    let announces = |line: &str| {
        marks
            .iter()
            .any(|(begin, within)| line.starts_with(begin) && line.contains(within))
    };
    let mut end = 0;
    for line in text.split_inclusive('\n') {
        if announces(line) {
            let own = text[..end].trim_end();
            return (!own.is_empty()).then_some(own.len());
        }
        end += line.len();
    }
    None
}

#[cfg(test)]
mod tests {
    use super::without_teardown;
    use crate::engine::Engine;
    use jelly_base::model::{Failure, Side};

    fn robot(message: &str) -> Failure {
        Failure {
            element: Some("failure".into()),
            dialect: Some("robot".into()),
            type_: Some("AssertionError".into()),
            message: Some(message.into()),
            ..Failure::default()
        }
    }

    #[test]
    fn a_teardown_that_failed_too_does_not_hide_what_the_test_found() {
        let refused = "ConnectionRefusedError: [Errno 111] Connection refused: 10.0.0.9:5432";
        let alone = Engine::builtin().diagnose(&robot("1 != 2"));
        assert_eq!((alone.side, alone.ambiguous), (Side::Code, false));
        for also in [
            format!("Also teardown failed:\n{refused}"),
            format!("Also parent suite teardown failed:\n{refused}"),
            format!(
                "Also teardown failed:\n{refused}\n\nAlso parent suite teardown failed:\n{refused}"
            ),
        ] {
            let both = Engine::builtin().diagnose(&robot(&format!("1 != 2\n\n{also}")));
            assert_eq!(both, alone, "{also}");
        }
        for only in ["Teardown failed:", "Parent suite teardown failed:"] {
            let of_teardown = Engine::builtin().diagnose(&robot(&format!("{only}\n{refused}")));
            assert_eq!(of_teardown.root_cause, "connection_refused", "{only}");
        }
    }

    #[test]
    fn nunit_writes_the_teardown_below_the_test_in_message_and_stack() {
        let failure = Failure {
            dialect: Some("nunit".into()),
            message: Some("  Expected: 1\n  But was:  2\n\nTearDown : System.Exception : x".into()),
            text: Some("   at N.G.d() in G.cs:line 9\n--TearDown\n   at N.G.Down()".into()),
            ..Failure::default()
        };
        let own = without_teardown(&failure);
        assert_eq!(own.message.as_deref(), Some("  Expected: 1\n  But was:  2"));
        assert_eq!(own.text.as_deref(), Some("   at N.G.d() in G.cs:line 9"));
        let of_another = Failure {
            dialect: Some("go-test".into()),
            ..failure.clone()
        };
        assert_eq!(*without_teardown(&of_another), of_another);
        let only = Failure {
            dialect: Some("nunit".into()),
            message: Some("TearDown : System.Exception : x".into()),
            text: Some("--TearDown\n   at N.G.Down()".into()),
            ..Failure::default()
        };
        assert_eq!(*without_teardown(&only), only);
    }
}
