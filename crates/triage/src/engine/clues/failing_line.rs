//! The line of the project at which a test failed, for reports whose cases
//! name no file.

use super::frames::place;
use super::origin::own_place;
use jelly_base::model::Failure;
use jelly_base::text::{LazyPattern, lines};

/// Lines in which a message is looked for that names the place by itself.
const LINES: usize = 64;

/// `file:line` of the innermost line of the stack that belongs to no library,
/// or of the place that the message itself names.
///
/// The JVM names no folders: there the file has those of its package.
#[must_use]
pub fn failing_line(f: &Failure) -> Option<String> {
    let texts = [&f.text, &f.message, &f.system_err, &f.system_out];
    let mut texts = texts.into_iter().flatten();
    texts.find_map(|text| {
        let text = super::slice::readable(text);
        own_place(f, &text, located)
            .or_else(|| lines(&text).take(LINES).find_map(|line| said_in(line, f)))
    })
}

/// `file:line` of the product at which a server failed, as the last stack tells
/// that it printed.
#[must_use]
pub fn failing_line_of_server(printed: &str) -> Option<String> {
    let text = super::slice::readable(printed);
    let of_nobody = Failure::default();
    if let Some(stack) = last_stack(&text) {
        return own_place(&of_nobody, stack, located);
    }
    let tail = text.lines().rev().take(LINES);
    tail.filter(|line| line.contains("panicked at"))
        .find_map(|line| said_in(line, &of_nobody))
}

/// The last stack of a text, with what stands behind it.
fn last_stack(text: &str) -> Option<&str> {
    /// So many lines may stand between two that name places: code that is
    /// quoted, names of functions.
    const BETWEEN: usize = 4;
    let mut begin = None;
    let mut between = 0;
    for line in text.lines().rev() {
        match place(line) {
            Some(_) => {
                begin = Some(line.as_ptr().addr() - text.as_ptr().addr());
                between = 0;
            }
            None if begin.is_some() => between += 1,
            None => {}
        }
        // What stands above is a message: that of another exception, maybe.
        let another = begin.is_some() && is_caused_by(line);
        if between > BETWEEN || another {
            break;
        }
    }
    text.get(begin?..)
}

fn is_caused_by(line: &str) -> bool {
    line.trim_start().starts_with("Caused by: ")
}

/// `file:line` of a line of a stack that names `place`.
fn located(line: &str, place: &str) -> Option<String> {
    static JVM: LazyPattern = LazyPattern::new(
        r"^(?:[\w.@-]*/)*(?P<called>[\w.$<>]+) ?\((?P<file>[\w-]+\.(?:java|kt|scala|groovy|clj)):(?P<line>\d{1,9})\)",
    );
    static OTHERS: LazyPattern = LazyPattern::ascii(
        r#"^(?:(?:file|webpack-internal|https?)://[^/]*/?)?(?P<file>[^"\n]*?\.\w{1,8})(?:(?:\?|%3F)\w*)?(?:"?, line |:line |: line |:|\(| )(?P<line>\d{1,9})\b"#,
    );
    let at = place.as_ptr().addr().checked_sub(line.as_ptr().addr())?;
    let rest = line.get(at..)?;
    // Mostly it is none, and this is the cheaper question.
    let is_jvm = [".java:", ".kt:", ".scala:", ".groovy:", ".clj:"]
        .iter()
        .any(|ending| rest.contains(ending));
    if let Some(found) = is_jvm.then(|| JVM.captures(rest)).flatten() {
        let mut folders: Vec<&str> = found["called"].split('.').collect();
        // What is called, and its class.
        folders.truncate(folders.len().saturating_sub(2));
        folders.retain(|part| !part.contains(['$', '<']));
        let file = found.name("file")?.as_str();
        folders.push(file);
        return Some(format!("{}:{}", folders.join("/"), &found["line"]));
    }
    let found = OTHERS.captures(rest)?;
    let scheme = rest.starts_with("file://") && !found["file"].starts_with('/');
    let root = if scheme { "/" } else { "" };
    Some(format!("{root}{}:{}", &found["file"], &found["line"]))
}

/// A file of code as messages name it.
const FILE: &str = r"(?P<file>(?:[A-Za-z]:[\\/])?[\w./\\@+-]*\w\.(?:go|rs|cc|cpp|cxx|c|h|hpp|mm?|swift|py|rb|lua|php|pl|pm|t|bats|exs?|erl|jsx?|tsx?|[cm]js|kt|dart|jl|cs|fs|ps1|sh|hs|nim|zig|cr|d|adb|f90))";

/// `file:line` that a message begins with or ends in, as Go, GoogleTest, Rust
/// and Perl write it: `cart_test.go:12: got 1`, `panicked at src/cart.rs:5:9`,
/// `at t/cart.t line 8.`
fn said_in(line: &str, f: &Failure) -> Option<String> {
    static SAID: LazyPattern = LazyPattern::made(|| {
        [
            r"(?:^\s*(?:Error Trace:\s*|[✗✘×E#]\s+)?|\bat |\bat: |\bin |\bfile |\()",
            FILE,
            r"(?:(?:'|,)? line |:|\()(?P<line>\d{1,9})\b",
        ]
        .concat()
    });
    // Where it stands elsewhere, only what follows tells that it is one: a logger writes the
    // like. Minitest: `test_x(CartTest) [test/cart_test.rb:5]:`; Qt: `Loc: [../cart.cpp(21)]`;
    // Rust before 1.73: `panicked at 'boom', src/cart.rs:5:9`; C:
    // `a.out: src/cart.c:12: main: Assertion`.
    static ENCLOSED: LazyPattern = LazyPattern::made(|| {
        [
            r"(?:\[|', |^\S+: )",
            FILE,
            r"[:(](?P<line>\d{1,9})(?:\)?\]:?\s*$|:\d{1,9}\s*$|: .*\bAssertion\b)",
        ]
        .concat()
    });
    // Mostly there is none, and this is the cheaper question.
    if !line.contains([':', '(']) && !line.contains(" line ") {
        return None;
    }
    if let Some(found) = SAID.captures(line) {
        let file = found.name("file")?.as_str();
        return super::origin::is_own(file, f).then(|| format!("{file}:{}", &found["line"]));
    }
    let found = ENCLOSED.captures(line)?;
    // Named from the folder of what was built.
    let file = found.name("file")?.as_str().trim_start_matches("../");
    super::origin::is_own(file, f).then(|| format!("{file}:{}", &found["line"]))
}

#[cfg(test)]
mod tests {
    use super::{failing_line, failing_line_of_server};
    use jelly_base::model::Failure;

    #[test]
    fn the_line_of_the_project_is_found_in_stacks_of_every_language() {
        for (text, class, wanted) in [
            (
                "java.lang.NullPointerException: x\n\tat java.base/java.util.Objects.requireNonNull(Objects.java:208)\n\tat com.acme.cart.Cart.total(Cart.java:31)\n\tat com.acme.cart.CartTest.totals(CartTest.java:12)",
                "com.acme.cart.CartTest",
                Some("com/acme/cart/Cart.java:31"),
            ),
            (
                "kotlin.KotlinNullPointerException\n\tat com.acme.Cart$Companion.of(Cart.kt:7)\n\tat com.acme.CartTest.x(CartTest.kt:9)\n\tat java.base/java.lang.Thread.run(Thread.java:9)",
                "com.acme.CartTest",
                Some("com/acme/Cart.kt:7"),
            ),
            (
                "TypeError: x\n    at JSON.parse (<anonymous>)\n    at parse (/srv/shop/node_modules/p/i.js:1:2)\n    at Cart.total (/srv/shop/src/cart.js:14:9)\n    at Object.<anonymous> (/srv/shop/test/cart.test.js:9:1)",
                "",
                Some("/srv/shop/src/cart.js:14"),
            ),
            (
                "Error: x\n    at total (file:///srv/shop/src/cart.mjs:14:9)",
                "",
                Some("/srv/shop/src/cart.mjs:14"),
            ),
            (
                "Traceback (most recent call last):\n  File \"/srv/t/test_x.py\", line 3, in test_x\n  File \"/srv/shop/cart.py\", line 21, in total\n  File \"/usr/lib/python3.11/decimal.py\", line 3, in c\nValueError: x",
                "",
                Some("/srv/shop/cart.py:21"),
            ),
            (
                "E  ZeroDivisionError: x\n\napp/shop.py:26: ZeroDivisionError",
                "",
                Some("app/shop.py:26"),
            ),
            (
                "     # ./lib/cart.rb:12:in `total'\n     # ./spec/cart_spec.rb:3:in `block'",
                "",
                Some("./lib/cart.rb:12"),
            ),
            (
                "System.InvalidOperationException : x\n   at System.Linq.ThrowHelper.ThrowNoElements()\n   at Shop.Cart.First() in /src/Cart.cs:line 12",
                "",
                Some("/src/Cart.cs:12"),
            ),
            (
                "Failed asserting that 1 matches expected 2.\n\n/srv/tests/CartTest.php:11",
                "",
                Some("/srv/tests/CartTest.php:11"),
            ),
            (
                "panic: x\n\ngoroutine 7 [running]:\nshop.Total(...)\n\t/src/shop/cart.go:12 +0x1d",
                "",
                Some("/src/shop/cart.go:12"),
            ),
            (
                "panic: test timed out after 2s\n\ngoroutine 1 [chan receive]:\nmain.main()\n\t_testmain.go:47 +0x195\n\ngoroutine 6 [sleep]:\ntime.Sleep(0x2)\n\t/usr/local/go/src/runtime/time.go:195 +0x125\nshop.TestSlow(0xc1)\n\t/src/shop/slow_test.go:9 +0x1c",
                "",
                Some("/src/shop/slow_test.go:9"),
            ),
            (
                "    cart_test.go:31: total = 3, want 4",
                "",
                Some("cart_test.go:31"),
            ),
            (
                "thread 'tests::adds' (77) panicked at src/cart.rs:5:9:\nassertion failed",
                "",
                Some("src/cart.rs:5"),
            ),
            (
                "/src/cart_test.cc:14: Failure\nExpected equality of these values:",
                "",
                Some("/src/cart_test.cc:14"),
            ),
            (
                "not ok 3 - totals\n#   Failed test 'totals'\n#   at t/cart.t line 8.",
                "",
                Some("t/cart.t:8"),
            ),
            (
                "(in test file test/cart.bats, line 9)\n  `[ \"$status\" -eq 0 ]' failed",
                "",
                Some("test/cart.bats:9"),
            ),
            (
                "Failure:\ntest_a(ATest) [test/a_test.rb:5]:\nExpected: 1\n  Actual: 2",
                "ATest",
                Some("test/a_test.rb:5"),
            ),
            (
                "Expected: 1\n  Actual: 2\n\n\n[/srv/shop/test/a_test.rb:5]",
                "ATest",
                Some("/srv/shop/test/a_test.rb:5"),
            ),
            (
                "thread 'tests::a' panicked at 'boom', src/cart.rs:20:9",
                "",
                Some("src/cart.rs:20"),
            ),
            (
                "thread 'tests::a' panicked at 'assertion failed: `(left == right)`\n  left: `1`,\n right: `2`', src/cart.rs:20:9\nnote: run with `RUST_BACKTRACE=1`",
                "",
                Some("src/cart.rs:20"),
            ),
            (
                "a.out: /srv/shop/src/a.c:12: main: Assertion `total == 3' failed.",
                "",
                Some("/srv/shop/src/a.c:12"),
            ),
            (
                "Compared values are not the same\n   Actual   (1): 1\n   Expected (2): 2\n   Loc: [../tests/tst_a.cpp(21)]",
                "",
                Some("tests/tst_a.cpp:21"),
            ),
            (
                "Expected: <2>\n  Actual: <1>\n\npackage:test_api           expect\ntest/a_test.dart 7:5  main.<fn>",
                "",
                Some("test/a_test.dart:7"),
            ),
            (
                "Expected 1\n   at FluentAssertions.Numeric.Be(T expected) in /_/Src/FluentAssertions/Numeric.cs:line 50\n   at Xunit.Assert.Equal() in /_/src/xunit/Asserts.cs:line 44\n   at Shop.Tests.A.x() in /srv/shop/test/A.cs:line 19",
                "Shop.Tests.A",
                Some("/srv/shop/test/A.cs:19"),
            ),
            (
                "Expected 1\n   at Xunit.Assert.Equal() in /_/src/xunit/Asserts.cs:line 44",
                "",
                None,
            ),
            ("[cart.go:12] connected to 'a', b.rs:3 and more", "", None),
            ("expected 1, got 2", "", None),
            (
                "Error: x\n    at f (/srv/shop/node_modules/p/i.js:1:2)",
                "",
                None,
            ),
            ("cannot reach db.example.com:5432 (10.0.0.1)", "", None),
        ] {
            let failure = Failure {
                text: Some(text.into()),
                classname: (!class.is_empty()).then(|| class.into()),
                ..Failure::default()
            };
            assert_eq!(failing_line(&failure).as_deref(), wanted, "{text}");
        }
    }

    #[test]
    fn the_last_stack_that_a_server_printed_tells_where_it_failed() {
        for (printed, wanted) in [
            (
                "Traceback (most recent call last):\n  File \"/srv/shop/old.py\", line 3, in warm\nOSError: cache is cold\nINFO one\nINFO two\nINFO three\nINFO four\nTraceback (most recent call last):\n  File \"/usr/lib/python3.12/runpy.py\", line 1, in run\n  File \"/srv/shop/server.py\", line 16, in <module>\n    serve()\n    ~~~~~^^\n  File \"/srv/shop/cart.py\", line 10, in total\n    return {}[\"price\"]\n           ~~^^^^^^^^^\nKeyError: 'price'\n",
                Some("/srv/shop/cart.py:10"),
            ),
            (
                "  + Exception Group Traceback (most recent call last):\n  |   File \"/usr/lib/python3.12/asyncio/runners.py\", line 195, in run\n  |     return runner.run(main)\n  |            ^^^^^^^^^^^^^^^^\n  | ExceptionGroup: unhandled errors in a TaskGroup (1 sub-exception)\n  +-+---------------- 1 ----------------\n    | Traceback (most recent call last):\n    |   File \"/srv/shop/cart.py\", line 10, in total\n    |     return {}[\"price\"]\n    | KeyError: 'price'\n    +------------------------------------\n",
                Some("/srv/shop/cart.py:10"),
            ),
            (
                "warned: Error: cold\n    at warm (/srv/shop/src/old.js:3:1)\n\nready\nlistening\n\nserving\n/srv/shop/src/cart.js:2\n  return x.price\n           ^\n\nTypeError: Cannot read properties of undefined (reading 'price')\n    at total (/srv/shop/src/cart.js:2:47)\n    at Interface.emit (node:events:524:28)\n\nNode.js v22.3.0\n",
                Some("/srv/shop/src/cart.js:2"),
            ),
            (
                "2026/11/25 10:00:00 serving\npanic: runtime error: index out of range [3] with length 3\n\ngoroutine 7 [running]:\nmain.total(...)\n\t/srv/shop/cart.go:12 +0x1d\nmain.main()\n\t/srv/shop/main.go:30 +0x2b\nexit status 2\n",
                Some("/srv/shop/cart.go:12"),
            ),
            (
                "thread 'main' (77) panicked at src/cart.rs:5:9:\nindex out of bounds\nnote: run with `RUST_BACKTRACE=1` environment variable to display a backtrace\n",
                Some("src/cart.rs:5"),
            ),
            (
                "thread 'main' panicked at src/cart.rs:5:9:\nboom\nstack backtrace:\n   0: rust_begin_unwind\n             at /rustc/9fc6b431/library/std/src/panicking.rs:647:5\n   1: shop::cart::total\n             at ./src/cart.rs:5:9\n   2: shop::main\n             at ./src/main.rs:9:5\n",
                Some("./src/cart.rs:5"),
            ),
            (
                "Exception in thread \"main\" java.lang.IllegalStateException: no cart\n\tat com.acme.shop.Server.serve(Server.java:40)\n\tat com.acme.shop.Server.main(Server.java:12)\nCaused by: java.lang.NullPointerException: price\n\tat java.base/java.util.Objects.requireNonNull(Objects.java:233)\n\tat com.acme.shop.Cart.total(Cart.java:31)\n\t... 2 more\n",
                Some("com/acme/shop/Cart.java:31"),
            ),
            (
                "Unhandled exception. System.InvalidOperationException: Sequence contains no elements\n   at System.Linq.ThrowHelper.ThrowNoElementsException()\n   at Shop.Cart.First() in /srv/shop/Cart.cs:line 12\n   at Shop.Program.Main(String[] args) in /srv/shop/Program.cs:line 4\n",
                Some("/srv/shop/Cart.cs:12"),
            ),
            (
                "Error: x\n    at f (/srv/shop/node_modules/p/i.js:1:2)",
                None,
            ),
            ("INFO src/main.rs:12 serving", None),
            ("", None),
        ] {
            let found = failing_line_of_server(printed);
            assert_eq!(found.as_deref(), wanted, "{printed}");
        }
    }
}
