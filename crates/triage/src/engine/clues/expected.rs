//! Errors that a test has come on purpose: of a block or a comparison that expects one, or
//! of a double that raises one. No machine is asked, whatever the error tells.

use super::frames::place;
use crate::engine::instead::speaks_of_machines;
use jelly_base::model::Failure;

/// Lines above the failing one in which the block is looked for.
const ABOVE: usize = 20;

const OF_MACHINES: &str = "(raised where an error of machines is expected)";

/// What a rule knows such a failure by.
pub(super) fn of_expectation(f: &Failure) -> Option<&'static str> {
    let text = f.text.as_deref()?;
    if raised_by_double(text) {
        return Some("(raised by a double)");
    }
    if sentinel(text).is_some_and(speaks_of_machines) {
        return Some(OF_MACHINES);
    }
    let wanted = expected_class(text)?;
    let last = wanted.rsplit('.').next().unwrap_or(wanted);
    let told = f.message.as_deref().unwrap_or_default();
    // What came is the expected one, in other words than the test wants.
    let head = told.split([':', '\n']).next().unwrap_or_default();
    if head.rsplit('.').next() == Some(last) || told.starts_with("AssertionError") {
        return None;
    }
    Some(match speaks_of_machines(wanted) {
        true => OF_MACHINES,
        false => "(raised where another error is expected)",
    })
}

/// Whether the innermost line is the one by which `unittest.mock` raises what it was told
/// to raise.
fn raised_by_double(text: &str) -> bool {
    text.contains("raise effect")
        && text
            .lines()
            .rev()
            .find_map(|line| place(line).filter(|place| !place.is_empty()))
            .is_some_and(|place| place.ends_with("mock.py"))
}

/// The error that a test in Go holds another one against.
fn sentinel(text: &str) -> Option<&str> {
    let (_, compared) = ["errors.Is(", "errors.As("]
        .iter()
        .find_map(|call| text.split_once(call))?;
    let (arguments, rest) = compared.split_once(')')?;
    let wanted = arguments.split_once(", ")?.1.trim_start_matches('&');
    rest.trim_start_matches([' ', '=', ':', ','])
        .trim_start_matches("got ")
        .starts_with("false")
        .then_some(wanted)
}

/// The class that the block around the failing line of pytest's first frame expects.
fn expected_class(text: &str) -> Option<&str> {
    if !text.contains("raises(") {
        return None;
    }
    let lines: Vec<&str> = text.lines().collect();
    let failing = lines.iter().position(|line| line.starts_with('>'))?;
    let depth = |line: &str| line.len() - line.trim_start_matches(['>', ' ']).len();
    let inside = depth(lines[failing]);
    let mut above = lines[..failing].iter().rev().take(ABOVE);
    let block = above.find(|line| {
        let code = line.trim_start();
        !code.is_empty() && depth(line) < inside && code.starts_with("with ")
    })?;
    let (_, wanted) = block.split_once("raises(")?;
    let end = wanted.find([',', ')'])?;
    let wanted = wanted[..end].trim();
    (!wanted.is_empty()).then_some(wanted)
}

#[cfg(test)]
mod tests {
    use super::expected_class;
    use crate::engine::test_failure::diagnose;
    use jelly_base::model::Side;

    fn raised(wanted: &str, error: &str) -> String {
        format!(
            "def test_book():\n        with pytest.raises({wanted}):\n>           shop.book(7)\n\ntests/test_book.py:14: \n_ _ _ _\nshop/book.py:16: in book\n    return fetch()\nE       {error}\n\nshop/book.py:16: Error"
        )
    }

    #[test]
    fn an_error_where_another_is_expected_is_told_by_the_expected_one() {
        let refused = "ConnectionRefusedError: [Errno 111] Connection refused";
        for (wanted, error, side, root_cause) in [
            ("shop.GatewayTimeout", refused, Side::Code, "expected_error"),
            ("shop.NotFound", refused, Side::Test, "connection_refused"),
            (
                "shop.NotFound",
                "KeyError: 'seat'",
                Side::Code,
                "expected_error",
            ),
        ] {
            let of = diagnose("", &raised(wanted, error));
            assert_eq!((of.side, &*of.root_cause), (side, root_cause), "{wanted}");
        }
    }

    #[test]
    fn only_the_block_around_the_failing_line_expects() {
        let text = raised("A", "KeyError: 1");
        assert_eq!(expected_class(&text), Some("A"));
        let behind = text.replace(">           shop", ">       shop");
        assert_eq!(expected_class(&behind), None);
    }

    #[test]
    fn what_a_double_was_told_to_raise_is_no_error_of_a_machine() {
        let text = "Traceback (most recent call last):\n  File \"/w/tests/test_parcels.py\", line 19, in test_carrier\n    parcels.book(c)\n  File \"/w/parcels.py\", line 29, in book\n    return carrier.book(label)\n  File \"/usr/lib/python3.11/unittest/mock.py\", line 1124, in __call__\n    return self._mock_call(*args, **kwargs)\n  File \"/usr/lib/python3.11/unittest/mock.py\", line 1183, in _execute_mock_call\n    raise effect\nConnectionResetError: [Errno 104] Connection reset by peer";
        let of = diagnose("ConnectionResetError", text);
        assert_eq!((of.side, &*of.root_cause), (Side::Code, "code_exception"));
    }
}
