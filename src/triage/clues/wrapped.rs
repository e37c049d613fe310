//! Assertions that compare nothing: their whole message is the error of
//! another tool. `expected no error, got: connection refused` says that the
//! connection was refused.

use super::heads::class;
use memchr::memmem::Finder;
use regex::Regex;
use std::borrow::Cow;
use std::sync::LazyLock;

/// The error that is all that an assertion says.
///
/// Only the beginning of the statement is looked at: what stands further on
/// may be a value that is compared.
/// `typed` says that the writer names the class of an assertion elsewhere.
pub(super) fn unwrapped(said: &str, typed: bool) -> Option<Cow<'_, str>> {
    said_by_command(said)
        .map(Cow::Owned)
        .or_else(|| inner(said, typed).map(Cow::Borrowed))
}

/// What a command printed before testify refused its exit status, which says
/// no more than that it failed.
fn said_by_command(said: &str) -> Option<String> {
    static REFUSED: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(
            r"(?m)^\s*Error Trace:[^\n]*\n(?:\s+/?\S+\.go:\d+\n)*\s*Error:\s+Received unexpected error:\n(?P<inner>[^\n]*)",
        )
        .ok()
    });
    if said.len() >= WHOLE || !said.contains("Received unexpected error:") {
        return None;
    }
    let found = REFUSED.as_ref()?.captures(said)?;
    let before = said.get(..found.get(0)?.start())?;
    let inner = found.name("inner")?.as_str();
    (before.trim().lines().count() > 1 && inner.contains("exit status"))
        .then(|| format!("{}\n{}", before.trim_end(), inner.trim()))
}

/// What an assertion begins with whose whole message is another error, but for
/// [`CAUGHT`].
const WRAPPERS_BEFORE: &str = r"(?x)\A(?:
              (?:\s*\S+_test\.go:\d+:\s*)?
              (?:\s*Error\ Trace:[^\n]*\n(?:\s+/?\S+\.go:\d+\n)*)?
              (?:\s*Error:\s+)?
              (?: Received\ unexpected\ error:
                | Unexpected\ error:
                | Expected\ success,\ but\ got\ an\ error:
                | (?i:unexpected\ err(?:or)?(?:\ \w+ing(?:\ \w+)?)?(?:\ from\ \S+)?:)
                | (?i:(?:expected|want(?:ed)?|wanting)\ (?:no|nil)\ err(?:or)?,?\ (?:but\ )?(?:got|received)(?:\ (?:one|error|an\ error))?:?)
                | (?i:should\ not\ (?:have\ )?(?:return(?:ed)?|error(?:ed)?|fail(?:ed)?)(?:\ an)?(?:\ error)?[:,])
                | (?i:err(?:or)?\ should\ be\ nil[:,]?\ (?:but\ )?(?:got|was):?)
              )
            | Unexpected\ exception\ thrown:
            | Uncaught\ exception,\ not\ in\ assertion\.\s*expected:\ \S+\s*actual:
            | (?:---\s*)?name:\ AssertionError\s+details:\ \{\x22(?:Error\ thrown\ in\ test|Rejected\ promise\ returned\ by\ test)[^\x22]*\x22:\x22
            | Uncaught\ exception\ in\ test\ body:
            | Expecting\ code\ not\ to\ raise\ a\ throwable\ but\ caught\s+[\x22<]?
            | No\ exception\ expected,\ but\ a[n]?\ (?P<kotest>\S+)\ was\ thrown
            | (?:\s*Expected:\ No\ Exception\ to\ be\ thrown\s+But\ was:\s+<?)
            | expected\ no\ (?:Exception|error),\ got\ \#<
            | XCTAssertNoThrow\ failed:\ threw\ error";
const WRAPPERS_BEHIND: &str = r"
            | \(?expect\(received\)\.not\.toThrow\(\)\s+(?:Error\ name:[^\n]*\s+)?(?:Error\ message|Thrown\ value):
            | expected\ \[Function[^\]]*\]\ to\ not\ throw\ an\ error\ but\ .
            )\s*(?P<inner>(?s:.+))\z";
/// Whatever may stand before it makes it dear to look for, so that is done
/// where its words are.
const CAUGHT: &str = r"
            | (?:[^\n]{0,160}\ :\ )?failed:?\ -?\ ?caught\ error:";

fn inner(said: &str, typed: bool) -> Option<&str> {
    fn wrappers(caught: &str) -> Option<Regex> {
        Regex::new(&format!("{WRAPPERS_BEFORE}{caught}{WRAPPERS_BEHIND}")).ok()
    }
    static WRAPPERS: LazyLock<Option<Regex>> = LazyLock::new(|| wrappers(""));
    static WITH_CAUGHT: LazyLock<Option<Regex>> = LazyLock::new(|| wrappers(CAUGHT));
    static MARK: LazyLock<Finder<'_>> = LazyLock::new(|| Finder::new("caught error:"));
    let whole = said;
    let said = without_assertion_class(said.trim_start());
    let wrappers = match MARK.find(said.as_bytes()) {
        Some(_) => &WITH_CAUGHT,
        None => &WRAPPERS,
    };
    if let Some(found) = wrappers.as_ref()?.captures(said) {
        return found
            .name("kotest")
            .map(|_| said)
            .or_else(|| found.name("inner").map(|inner| inner.as_str()));
    }
    // Selenium's waits, and anything else that begins as an exception does.
    let waits = said.starts_with("Expected condition failed: waiting for");
    let typed = typed || said.len() < whole.len();
    let inner = class(said).filter(|class| {
        typed && {
            said.starts_with(class) && !is_assertion(class) && said[class.len()..].starts_with(": ")
        }
    });
    if said.len() >= WHOLE {
        return None;
    }
    (waits || (inner.is_some() && said_differs(said))).then_some(said)
}

/// Longer statements are looked at as they are.
const WHOLE: usize = 64 * 1024;

/// `ValueError: 'a' != 'b'` compares all the same.
fn said_differs(said: &str) -> bool {
    let line = said.lines().next().unwrap_or_default();
    !line.contains(" != ") && !line.contains(" == ") && !line.contains(" not raised")
}

fn is_assertion(class: &str) -> bool {
    let last = class.rsplit([':', '.', '\\', '$']).next().unwrap_or(class);
    last.contains("Assert")
        || last.contains("Expectation")
        || matches!(
            last,
            "ComparisonFailure" | "MultipleFailuresError" | "Failed" | "Failure" | "Error"
        )
}

/// The message of an assertion, or all of it when no class is written.
fn without_assertion_class(said: &str) -> &str {
    match class(said).filter(|class| is_assertion(class) && said.starts_with(class)) {
        Some(class) => {
            let rest = &said[class.len()..];
            let rest = rest
                .strip_prefix(" [ERR_ASSERTION]")
                .unwrap_or(rest)
                .trim_start_matches([' ', ':']);
            if rest.is_empty() { said } else { rest }
        }
        None => said,
    }
}

#[cfg(test)]
mod tests {
    use super::unwrapped;

    #[test]
    fn an_assertion_that_is_another_error_is_unwrapped() {
        for said in [
            "shop_test.go:12: \n\tError Trace:\t/src/shop_test.go:12\n\tError:      \tReceived unexpected error:\n\t            \tdial tcp: refused",
            "Unexpected error:\n    dial tcp: refused",
            "    shop_test.go:9: unexpected error: dial tcp: refused",
            "expected no error, got: dial tcp: refused",
            "org.opentest4j.AssertionFailedError: Unexpected exception thrown: dial tcp: refused",
            "Expected: No Exception to be thrown\n  But was:  <dial tcp: refused",
        ] {
            let inner = unwrapped(said, false).unwrap_or_else(|| panic!("{said}"));
            assert!(inner.starts_with("dial tcp"), "{inner}");
        }
        assert!(
            unwrapped(
                "AssertionError: requests.exceptions.ConnectionError: no route",
                false
            )
            .is_some()
        );
        assert!(
            unwrapped(
                "AssertionError: Expected condition failed: waiting for x",
                false
            )
            .is_some()
        );
    }

    #[test]
    fn an_assertion_that_compares_is_left_alone() {
        for said in [
            "AssertionError: assert 'a' == 'Unexpected error: dial tcp: refused'",
            "java.lang.Exception: Unexpected exception, expected<a.TimeoutException> but was<b.X>",
            "org.opentest4j.AssertionFailedError: Unexpected exception type thrown, expected: <a> but was: <b>",
            "AssertionError: TimeoutError not raised",
            "Expected: \"Unexpected error: refused\"\nReceived: \"\"",
            "java.lang.AssertionError: Expected exception: java.lang.IllegalStateException",
        ] {
            assert_eq!(unwrapped(said, false), None, "{said}");
        }
    }
}
